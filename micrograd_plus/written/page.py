"""The page: a program while it is written, as statements over values, and the tensors that the step touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

IN_PLACE_CALLS = frozenset(f"np.{name}" for name in (
    "tanh", "exp", "sqrt", "maximum", "minimum", "log", "sin", "cos", "square", "negative", "abs", "add", "subtract",
    "multiply", "divide", "log1p", "expm1",
))  # fmt: skip
IN_PLACE_SIGNS = frozenset("+-*/")


_array_types: list[Any] = [np.ndarray]


def is_array(x: Any) -> bool:
    """Return True for an array of NumPy's, or of a device on which a step was written out."""
    return isinstance(x, tuple(_array_types))


def add_array_type(kind: type) -> None:
    """Note the type of a device's arrays."""
    if kind not in _array_types:
        _array_types.append(kind)


@dataclass(frozen=True)
class Note:
    """Comment above a block of statements: the user's line, its location, the rule that is at work, and the number of
    its step in a recorded walk. Statements of one block in two rounds of a loop differ in the step alone."""

    line: str
    site: str
    rule: str
    step: int = field(default=0, compare=False)

    def begins_after(self, note: Note | None) -> bool:
        """Return True if a statement with this note begins a block after one with another note."""
        return self != note or (note is not None and self.step != note.step)


class Buffer:
    """Memory that an array and all its views share. `kind` is "input", "constant" or "temporary". `is_fixed` says that
    its entries are the same at every call, `nbytes` how long it is if it belongs to one array alone."""

    __slots__ = ("is_fixed", "kind", "nbytes", "writes")

    def __init__(self, kind: str):
        self.kind, self.writes, self.nbytes = kind, 0, -1
        self.is_fixed: bool | None = None if kind == "temporary" else kind == "constant"


class Value:
    """A value of the program: an input, a constant, or the result of a statement. The shape of a dynamic one depends on
    numbers, so it may change from call to call. `place` says which values of a loop it belongs to, and its round."""

    __slots__ = (
        "buffer",
        "constant",
        "dtype",
        "hint",
        "is_array",
        "is_dynamic",
        "is_number",
        "is_tensor",
        "is_whole",
        "is_writable",
        "kind_of_number",
        "name",
        "place",
        "shape",
        "source",
        "strides",
    )  # fmt: skip

    def __init__(self, kind: str, x: Any, buffer: Buffer | None = None, source: Any = None, hint: str = ""):
        self.buffer, self.is_whole = buffer or Buffer(kind), buffer is None
        self.is_array, self.is_number = is_array(x), type(x) in (bool, int, float, complex)
        self.shape: Any = getattr(x, "shape", ())
        self.dtype: Any = getattr(x, "dtype", None)
        self.strides, self.kind_of_number = getattr(x, "strides", ()), type(x)
        self.source, self.hint, self.name = source, hint, ""
        self.constant = x if kind == "constant" else None
        self.is_dynamic = self.is_tensor = self.is_writable = False
        self.place: Any = None

    @property
    def kind(self) -> str:
        """The kind of its memory."""
        return self.buffer.kind

    @property
    def nbytes(self) -> int:
        """The number of bytes of its entries."""
        count = self.dtype.itemsize if self.dtype is not None else 8
        for length in self.shape:
            count *= length
        return count


class Statement:
    """One statement. `form` says how it is spelled, `function` names what it calls, `writes` lists the values it writes
    into. `into` is the value whose memory its result takes over or is made in. `has_effect` keeps it even if nothing
    reads it."""

    __slots__ = ("args", "form", "function", "has_effect", "into", "kwargs", "note", "out", "writes")

    def __init__(
        self, form: str, function: str, args: tuple[Any, ...], kwargs: dict[str, Any], writes: list[Value], note: Note,
        has_effect: bool = False,
    ):  # fmt: skip
        self.form, self.function, self.args, self.kwargs = form, function, args, kwargs
        self.out: Any = None
        self.writes, self.note, self.has_effect = writes, note, has_effect
        self.into: Value | None = None

    def reads(self) -> list[Value]:
        """Return the values that it reads."""
        found: list[Value] = []
        for part in (*self.args, *self.kwargs.values(), self.into):  # asked for by every pass, so without `find`
            if isinstance(part, Value):
                found.append(part)
            elif isinstance(part, (tuple, list, slice)):
                found += find(part, Value)
        return found

    def outs(self) -> list[Value]:
        """Return the values that it makes."""
        return [self.out] if isinstance(self.out, Value) else find(self.out, Value)

    def substitute(self, others: dict[Value, Value]) -> None:
        """Have it read, and write into, other values in place of some."""

        def other(x: Any) -> Any:
            return others.get(x, x) if isinstance(x, Value) else x

        self.args, self.kwargs = map_parts(self.args, other), map_values(self.kwargs, other)
        self.writes = [other(value) for value in self.writes]

    @property
    def is_elementwise(self) -> bool:
        """True for a statement that can write its result into given memory."""
        signs = self.form == "binop" and self.function in IN_PLACE_SIGNS
        calls = self.form == "call" and self.function in IN_PLACE_CALLS
        return (signs or calls) and isinstance(self.out, Value) and self.out.is_array and not self.kwargs


class Setting(NamedTuple):
    """Reader of a setting of an optimiser, or of whether it is true."""

    holder: dict[str, Any]
    key: str
    is_truth: bool = False

    def __call__(self) -> Any:
        """Return the setting."""
        return bool(self.holder[self.key]) if self.is_truth else self.holder[self.key]


class NoGradient:
    """Reader of whether a leaf has no gradient."""

    def __init__(self, leaf: Any):
        self.leaf = ref(leaf)

    def __call__(self) -> bool:
        """Return True if there is no gradient."""
        return getattr(self.leaf(), "grad", None) is None


class Update(NamedTuple):
    """Something outside that the step gives a new value: `kind` is "tensor", "gradient", "state", "mode" (of a
    module) or "host"."""

    kind: str
    target: Any
    key: Any
    value: Any


class Page:
    """A program while it is written: inputs, statements, results, updates, and the conditions under which it holds.

    `bodies` are the pages of functions that it calls.
    """

    def __init__(self, named: dict[int, str] | None = None):
        self.inputs: list[Value] = []
        self.preamble: list[Statement] = []
        self.bodies: list[Page] = []
        self.statements: list[Statement] = []
        self.results: list[Value] = []
        self.updates: list[Update] = []
        self.conditions: list[tuple[Callable[[], Any], Any, str]] = []
        self.nodes: dict[int, tuple[Any, Any]] = {}
        self.named = named or {}
        self.paper: Any = None
        self.arrays: dict[int, tuple[Value, Any]] = {}
        self.made: dict[Any, Any] = {}
        self.upstreams: dict[int, Any] = {}
        self.walks: dict[int, tuple[Any, dict[Any, int]]] = {}
        self.step_count = 0

    def add_input(self, x: Any, source: Any, hint: str) -> Value:
        """Add an input and return its value. `source` says where a call reads it from."""
        value = Value("input", x, source=source, hint=hint)
        self.inputs.append(value)
        return value

    def constant(self, x: Any) -> Value:
        """Return the value of an array from outside. It is copied now, since the step may write into it."""
        if is_array(x):
            if id(x) not in self.arrays:
                self.arrays[id(x)] = Value("constant", x.copy(order="K") if x.size and 0 not in x.strides else x), x
            return self.arrays[id(x)][0]
        return Value("constant", x)

    def add_condition(self, read: Callable[[], Any], value: Any, what: str) -> None:
        """Note a fact that the program depends on: a call that finds another value is traced again."""
        if not any(what == known for _, _, known in self.conditions):
            self.conditions.append((read, value, what))

    def substitute(self, same: dict[Value, Value]) -> None:
        """Replace values among the results and the updates."""
        self.results = [same.get(value, value) for value in self.results]
        self.updates = [
            update._replace(value=same.get(update.value, update.value)) if isinstance(update.value, Value) else update
            for update in self.updates
        ]

    def each_statement(self) -> Iterator[Statement]:
        """Yield all statements in the order in which they run, with the statements of loops."""
        for item in self.statements:
            yield from getattr(item, "statements", (item,))

    def live(self) -> list[Value]:
        """Return the values that outlive the call."""
        return [*self.results, *(update.value for update in self.updates if isinstance(update.value, Value))]


def find(x: Any, kind: Any) -> list[Any]:
    """Return the parts of a kind in nested tuples, lists and slices."""
    found: list[Any] = []
    rest = [x]
    while rest:
        part = rest.pop()
        if isinstance(part, kind):
            found.append(part)
        elif isinstance(part, (tuple, list)):
            rest += part[::-1]
        elif type(part) is slice:
            rest += (part.step, part.stop, part.start)
    return found


def map_parts(x: Any, function: Callable[[Any], Any]) -> Any:
    """Return the same structure with a function applied to each part; named tuples stay named tuples."""
    if isinstance(x, (tuple, list)):
        parts = [map_parts(part, function) for part in x]
        return type(x)(*parts) if hasattr(type(x), "_fields") else tuple(parts) if isinstance(x, tuple) else parts
    if type(x) is slice:
        return slice(*(map_parts(part, function) for part in (x.start, x.stop, x.step)))
    return function(x)


def map_values(named: dict[str, Any], function: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a dictionary with a function applied to each part of its values."""
    return {name: map_parts(value, function) for name, value in named.items()}
