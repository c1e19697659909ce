"""Everything that a step finds besides its arguments: variables, attributes of objects, entries, random states.

A program reads tensors and settings of optimisers at each call. Everything else that a step finds is written into the
program. So a program holds for as long as all those places hold the same objects, and a step that changes one of them
has no program.
"""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..core.variable import Variable
from ..engine import Value
from ..nn.module import Module
from ..optim.optimizer import Optimizer
from ..tensor.tensor import Tensor
from ..tracing.sites import USER, kind_of

MISSING = object()
MOST_ENTRIES, MOST_COMPARED = 256, 4096
"""Lists and dictionaries of more entries are compared by their length, and longer arrays by some of their entries."""
NUMBERS = (bool, int, float, complex, str, bytes, type(None))
CALLED_BY_SYNTAX = frozenset(
    ("__call__", "__getitem__", "__iter__", "__len__", "__next__", "__enter__", "__exit__", "__contains__")
)


class Place(NamedTuple):
    """A place that a step may read. `kind` is "cell", "key", "attribute", "list", "set", "length", "cache" (how many
    results it keeps) or "entries" (of an array); `name` is how the user writes it."""

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
        if self.kind == "attribute":
            return getattr(self.holder, self.key, MISSING)
        if self.kind == "length":
            return len(self.holder)
        if self.kind == "cache":
            return self.holder.cache_info().currsize
        if self.kind == "set":
            return frozenset(self.holder)
        return entries_of(self.holder) if self.kind == "entries" else list(self.holder)

    def holds(self) -> bool:
        """Return True if the place holds what it held."""
        now = self.read()
        if self.kind == "list":
            return len(now) == len(self.value) and all(map(is_equal, now, self.value))
        if self.kind == "set":
            return now == self.value
        return is_equal(now, self.value)

    def describe_change(self) -> str:
        """Return what the place held and what it holds now, for an error message."""
        now = self.read()
        if self.kind in ("list", "length"):
            count, new = (len(x) if self.kind == "list" else x for x in (self.value, now))
            if count == new:
                i = next(i for i, (a, b) in enumerate(zip(now, self.value, strict=True)) if not is_equal(a, b))
                return Place("key", dict(enumerate(now)), i, self.value[i], f"{self.name}[{i}]").describe_change()
            what = f"its length from {count} to {new}"
        elif isinstance(now, NUMBERS) and isinstance(self.value, NUMBERS):
            what = f"{self.value!r} to {now!r}"
        else:
            what = "its entries" if self.kind == "entries" else "it is another tensor or object afterwards"
        return f"{self.name}: {what}"


def entries_of(array: Any) -> bytes:
    """Return the entries of an array as bytes; of a long one, some of them."""
    return array.tobytes() if array.size <= MOST_COMPARED else array.flat[:: array.size // MOST_COMPARED].tobytes()


def is_equal(a: Any, b: Any) -> bool:
    """Return True for one object, and for equal numbers and texts."""
    return a is b or (type(a) is type(b) and isinstance(a, NUMBERS) and repr(a) == repr(b))


class Surroundings:
    """The places around a step, the names of tensors in them, and the arrays, modules and generators that they hold."""

    def __init__(self, function: Any, arguments: Any = ()):
        self.names = frozenset[str]()
        found = frozenset(CALLED_BY_SYNTAX)
        while found != self.names:  # the names in code say which attributes matter, and these lead to more code
            self.names = found
            self.places: list[Place] = []
            self.named: dict[int, str] = {}
            self.tensors: list[Any] = []
            self.arrays: dict[int, tuple[Any, str]] = {}
            self.modules: dict[int, tuple[Any, str]] = {}
            self.optimisers: list[tuple[Any, str]] = []
            self.generators: list[tuple[Any, str]] = []
            self.iterators: list[str] = []
            self._seen: dict[int, Any] = {}
            self._found = set(found)
            self._visit(function, "")
            for i, x in enumerate(arguments):
                self._visit(x, f"argument {i + 1}")
            for optimiser, name in list(self.optimisers):
                for i, group in enumerate(optimiser.param_groups):
                    self._visit(group["params"], f"{name}.param_groups[{i}]['params']")
            found = frozenset(self._found)

    # What is reached ------------------------

    def _visit(self, x: Any, name: str) -> None:
        """Note the places in an object, and go on with what they hold."""
        if isinstance(x, NUMBERS) or id(x) in self._seen or isinstance(x, Value):
            return
        self._seen[id(x)] = x
        for kinds, visit in self._visits.items():
            if isinstance(x, kinds):
                visit(x, name)
                return
        if hasattr(x, "cache_info"):
            self.places.append(Place("cache", x, None, x.cache_info().currsize, f"the results that {name} keeps"))
            self._visit(x.__wrapped__, name)
        elif hasattr(x, "__next__") and type(x).__module__ in ("builtins", "itertools"):
            self.iterators.append(name)
        else:
            self._visit_object(x, name)

    @functools.cached_property
    def _visits(self) -> dict[Any, Callable[[Any, str], None]]:
        return {
            Tensor: self._visit_tensor,
            np.ndarray: lambda x, name: self.arrays.update({id(x): (x, name)}),
            (np.random.Generator, random.Random): lambda x, name: self.generators.append((x, name)),
            (list, tuple, deque): self._visit_list,
            (dict, MappingProxyType): self._visit_dict,
            (set, frozenset): lambda x, name: self.places.append(Place("set", x, None, frozenset(x), name)),
            Module: self._visit_module,
            Optimizer: self._visit_optimiser,
            MethodType: lambda x, name: self._visit_parts((x.__self__, "self"), (x.__func__, name)),
            functools.partial: lambda x, name: self._visit_parts((x.args, name), (x.keywords, name), (x.func, name)),
            BuiltinMethodType: self._visit_builtin_method,
            FunctionType: self._visit_function,
            (ModuleType, type): self._visit_object,
        }

    def _visit_parts(self, *parts: tuple[Any, str]) -> None:
        for x, name in parts:
            self._visit(x, name)

    def _visit_tensor(self, x: Any, name: str) -> None:
        self.named.setdefault(id(x), name.removeprefix("self."))
        self.tensors.append(x)

    def _visit_builtin_method(self, x: Any, name: str) -> None:
        owner = x.__self__
        self._visit(None if isinstance(owner, ModuleType) else owner, f"the {type(owner).__name__} of {name}")

    def _add(self, kind: str, holder: Any, key: Any, value: Any, name: str) -> None:
        is_librarys = isinstance(value, FunctionType) and not is_users(value)
        if not is_librarys and not isinstance(value, (ModuleType, type)):  # these stay what they are
            self.places.append(Place(kind, holder, key, value, name))
        self._visit(value, name)

    def _visit_list(self, x: Any, name: str) -> None:
        if len(x) > MOST_ENTRIES:
            self.places.append(Place("length", x, None, len(x), name))
            return
        if not isinstance(x, tuple):
            self.places.append(Place("list", x, None, list(x), name))
        for i, part in enumerate(list(x)):
            self._visit(part, f"{name}[{i}]")

    def _visit_dict(self, x: Any, name: str) -> None:
        self.places.append(Place("length", x, None, len(x), name))
        for key, part in list(x.items())[: MOST_ENTRIES if len(x) <= MOST_ENTRIES else 0]:
            self._add("key", x, key, part, f"{name}[{key!r}]")

    def _visit_module(self, module: Any, name: str) -> None:
        self.modules[id(module)] = module, name
        for key, x in [*module.named_parameters(), *module.named_buffers()]:
            self.named.setdefault(id(x), f"{name}.{key}".removeprefix("self.") if key[:1].isdigit() else key)
            self.tensors.append(x)
        for key, part in list(vars(module).items()):
            if not key.startswith("_"):
                self._visit(part, f"{name}.{key}")
        self._visit([*module._before.values(), *module._after.values()], f"the hooks of {name}")
        self._visit_methods(type(module))

    def _visit_optimiser(self, x: Any, name: str) -> None:
        self.optimisers.append((x, name))
        self.places.append(Place("list", x.param_groups, None, list(x.param_groups), f"{name}.param_groups"))

    def _visit_function(self, function: FunctionType, name: str = "") -> None:
        """Note the variables that a user's function names, and its attributes."""
        if not is_users(function):
            return
        self._visit_attributes(function, name or function.__name__)
        codes = list(codes_of(function.__code__))
        names = {name for code in codes for name in code.co_names}
        self._found |= names
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found = [Place("cell", cell, None, MISSING, name) for name, cell in cells]
        space = function.__globals__
        found += [Place("key", space, name, MISSING, name) for name in sorted(names & space.keys()) if name[:2] != "__"]
        found = [place._replace(value=place.read()) for place in found]
        for place in sorted(found, key=lambda place: not isinstance(place.value, Tensor)):  # these have the best names
            self._add(*place)
        named = list(inspect.signature(function).parameters)
        defaults = function.__defaults__ or ()
        first = function.__code__.co_argcount - len(defaults)
        parts = [*zip(defaults, named[first:], strict=False)]
        self._visit_parts(*parts, *((x, key) for key, x in (function.__kwdefaults__ or {}).items()))
        if hasattr(function, "__wrapped__"):
            self._visit(function.__wrapped__, "")

    def _visit_methods(self, kind: type) -> None:
        """Note the variables that the methods of a user's class name."""
        for each in kind.__mro__:
            if has_users_code(each):
                for name, x in list(vars(each).items()):
                    x = getattr(x, "__func__", getattr(x, "fget", x))
                    if (name in self.names or name == "forward") and isinstance(x, FunctionType):
                        self._visit_function(x)

    def _visit_attributes(self, x: Any, name: str) -> None:
        """Note the attributes that code names."""
        attributes: Any = getattr(x, "__dict__", {})
        for key in sorted(self.names & attributes.keys()):
            is_direct = key.isidentifier() and getattr(x, key, MISSING) is attributes[key]
            kind, holder = ("attribute", x) if is_direct else ("key", attributes)
            self._add(kind, holder, key, attributes[key], f"{name}.{key}")

    def _visit_object(self, x: Any, name: str) -> None:
        """Note the attributes of a user's object, class or module that code names."""
        kind = x if isinstance(x, (type, ModuleType)) else type(x)
        if type(x).__module__.startswith(__package__ or "") and hasattr(x, "function"):
            self._visit(x.function, name)  # of a compiled step
        if not has_users_code(kind):
            return
        self._visit_attributes(x, name)
        for key in sorted(self.names & set(slots_of(kind))):
            if hasattr(x, key):
                self._add("attribute", x, key, getattr(x, key), f"{name}.{key}")
        if isinstance(kind, type):
            self._visit_methods(kind)
            for each in kind.__mro__[: 0 if x is kind else None]:
                if has_users_code(each):
                    self._visit(each, each.__name__)

    # What a step has changed ----------------

    def watch(self) -> None:
        """Remember what places and random generators hold now."""
        self._attributes = module_attributes([module for module, _ in self.modules.values()])
        self._settings = [self._numbers_of(each) for each, _ in self.optimisers]
        self._states = [state_of(rng) for rng, _ in self._all_generators()]

    def _all_generators(self) -> list[tuple[Any, str]]:
        return [*self.generators, (random, "Python's random numbers"), (np.random, "NumPy's random numbers")]

    @staticmethod
    def _numbers_of(optimiser: Any) -> list[Any]:
        return [{k: x for k, x in group.items() if k != "params"} for group in optimiser.param_groups]

    def first_change(self, page: Any) -> str:
        """Return an error message if a step that was written on a page has changed a place since `watch`."""
        place = next((each for each in self.places if not each.holds()), None)
        if place is not None:
            return refuse_change(f"changes {place.describe_change()}", place.name, isinstance(place.value, Variable))
        for holder, key, value in self._attributes:
            if not is_equal(holder.get(key, MISSING), value):
                name = next(name for module, name in self.modules.values() if vars(module) is holder)
                return refuse_change(f"changes {name}.{key}", f"{name}.{key}", isinstance(value, Variable))
        for (optimiser, name), before in zip(self.optimisers, self._settings, strict=True):
            if not getattr(page, "hosts", ()) and not all(map(_same_settings, before, self._numbers_of(optimiser))):
                return refuse_change(f"changes a setting of {name}", name, False)
        for (rng, name), before in zip(self._all_generators(), self._states, strict=True):
            if id(rng) not in getattr(page, "generators", ()) and state_of(rng) != before:
                return (
                    f"mg.compile: the step draws from {name}, which its program would not do. Use mg.random, whose "
                    f"draws become part of the program, or draw before the call and pass the numbers as an argument"
                )
        return ""


def refuse_change(what: str, name: str, is_tensor: bool) -> str:
    """Return the message of an error for a step that changes something that its program would leave as it is."""
    cure = f"Write {name}.assign(...) into the tensor that is there, or return" if is_tensor else "Return"
    return (
        f"mg.compile: the step {what}. Its program repeats what happens to tensors, and nothing else. {cure} the new "
        f"value and store it after the call"
    )


def _same_settings(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(is_equal(x, b[k]) or repr(x) == repr(b[k]) for k, x in a.items())


def state_of(rng: Any) -> Any:
    """Return the state of a random generator, as something that can be compared."""
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    return repr(rng.getstate()) if hasattr(rng, "getstate") else repr(rng.get_state(legacy=False)["state"]["pos"])


def module_attributes(modules: list[Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Return the attributes of modules that a program depends on."""
    return [
        (vars(module), name, x)
        for module in modules
        for name, x in vars(module).items()
        if isinstance(x, (Tensor, Module, *NUMBERS))
    ]


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions and comprehensions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_of(each)


def is_users(function: FunctionType) -> bool:
    """Return True for a function that the user has written."""
    return kind_of(function.__code__) == USER


def has_users_code(kind: Any) -> bool:
    """Return True for a class or module that the user has written."""
    if kind is SimpleNamespace or "__dataclass_fields__" in vars(kind):
        return True
    name = kind.__name__ if isinstance(kind, ModuleType) else kind.__module__
    top = name.partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", "") or ""
    is_installed = "site-packages" in file or "dist-packages" in file
    return top not in sys.stdlib_module_names and top != __name__.partition(".")[0] and not is_installed


def slots_of(kind: Any) -> list[str]:
    """Return the names of the slots of a class."""
    found: list[str] = []
    for each in getattr(kind, "__mro__", ()):
        slots = vars(each).get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
    return found
