"""Places that a step may read: a variable, an attribute, an entry, a list; what each holds, and whether it changed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ..nn.module import Module

MISSING = object()
NUMBERS = (bool, int, float, complex, str, bytes, type(None))


class Place(NamedTuple):
    """A place that a step may read; `name` is how the user writes it.

    `kind` is "cell", "key", "attribute", "list", "set", "dict", "mapping", "length", "context" (a context variable),
    "truth" (of a setting), "type", "cache" (how many results it keeps), "entries" (of an array) or "module" (all its
    attributes, its class and its hooks).
    """

    kind: str
    holder: Any
    key: Any
    value: Any
    name: str

    def read(self) -> Any:
        """Return what the place holds now."""
        if self.kind == "cell":
            try:
                return self.holder.cell_contents
            except ValueError:
                return MISSING
        if self.kind == "key":
            return self.holder.get(self.key, MISSING)
        if self.kind == "truth":
            return bool(self.holder.get(self.key))
        if self.kind == "attribute":
            return getattr(self.holder, self.key, MISSING)
        if self.kind == "context":
            return self.holder.get(MISSING)
        return READERS[self.kind](self.holder)

    def holds(self) -> bool:
        """Return True if the place holds what it held."""
        now = self.read()
        if self.kind == "module":
            return now.keys() == self.value.keys() and all(is_equal(x, self.value[key]) for key, x in now.items())
        if self.kind in ("list", "dict", "mapping"):
            return is_same_list(now, self.value)
        return now == self.value if self.kind == "set" else is_equal(now, self.value)

    def has_other_mode(self) -> bool:
        """Return True for a module of which the mode alone has changed."""
        if self.kind != "module":
            return False
        return self._replace(value={**self.value, "training": self.holder.training}).holds()

    def narrow(self) -> Place:
        """Return the entry or attribute that has changed; the place itself if it has no parts, or another number."""
        now, before, parts = self.read(), self.value, self.holder
        if self.kind == "module":
            parts = vars(self.holder)
        elif self.kind == "list" and len(now) == len(before):
            now, before = dict(enumerate(now)), dict(enumerate(before))
            parts = now
        elif self.kind in ("dict", "mapping") and len(now) == len(before):
            now, before = (dict(zip(both, both[len(both) // 2 :], strict=False)) for both in (now, before))
        else:
            return self
        key = next(key for key in before | now if not is_equal(now.get(key, MISSING), before.get(key, MISSING)))
        name = f"{self.name}.{key}" if self.kind == "module" else f"{self.name}[{key!r}]"
        return Place("key", parts, key, before.get(key, MISSING), name)

    def describe_change(self) -> str:
        """Return what the place held and what it holds now, for an error message."""
        now = self.read()
        if self.kind in ("list", "length", "dict", "mapping"):
            counts = (len(x) if self.kind != "length" else x for x in (self.value, now))
            what = "its length from {} to {}".format(*counts)
        elif self.kind == "entries":
            what = "its entries"
        elif isinstance(now, NUMBERS) and isinstance(self.value, NUMBERS):
            what = f"{self.value!r} to {now!r}"
        else:
            what = "it is another tensor or object afterwards"
        return f"{self.name}: {what}"


def entries_of(x: Any) -> bytes:
    """Return the entries of an array as bytes."""
    return x.tobytes() if hasattr(x, "tobytes") else bytes(x)


def is_equal(a: Any, b: Any) -> bool:
    """Return True for one object, and for equal numbers, texts, and tuples of them."""
    if a is b or type(a) is not type(b):
        return a is b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(is_equal, a, b))
    return isinstance(a, NUMBERS) and repr(a) == repr(b)


def is_same_list(a: Any, b: Any) -> bool:
    """Return True for two lists of the same objects, or of equal numbers."""
    return len(a) == len(b) and (all(map(operator.is_, a, b)) or all(map(is_equal, a, b)))


def attributes_of(module: Any) -> dict[str, Any]:
    """Return the attributes of a module, without what every module has for itself."""
    return {name: x for name, x in vars(module).items() if name not in OF_EVERY_MODULE}


def describe_module(module: Any) -> dict[str, Any]:
    """Return the attributes, the class and the hooks of a module."""
    hooks = tuple(module._before.items()), tuple(module._after.items())
    return {**attributes_of(module), "__class__": type(module), "hooks": hooks}


OF_EVERY_MODULE = vars(Module()).keys() - {"training"}


READERS: dict[str, Callable[[Any], Any]] = {
    "length": len, "set": frozenset, "list": list, "cache": lambda x: x.cache_info().currsize,
    "dict": lambda x: [*x, *x.values()], "mapping": lambda x: [*x, *x.values()],
    "entries": entries_of, "module": describe_module, "type": type,
}  # fmt: skip
"""What a place of each kind without a key holds."""
