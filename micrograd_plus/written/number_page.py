"""Steps of micrograd's `Value`s, written out as programs of plain numbers.

While such a step is traced, the numbers that its Values hold note all computations. So the engine itself runs:
operations, rules and `backward()`. The program computes with Python's floats, or with arrays for a batch.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import RLock, local
from typing import Any

from .. import engine
from ..backends import floats
from ..core.apply import Op
from ..core.variable import clock
from ..engine import Value
from ..tracing.sites import USER, kind_of
from .ink import SIGNS, open_page
from .notes import place_of, refusal
from .shared_block import SharedBlock

_here, _lock = local(), RLock()
DATA: Any = vars(Value)["_data"]
GRAD: Any = vars(Value)["_grad"]
CONSTANTS = frozenset((int, float, bool))


def open_numbers() -> Numbers | None:
    """Return the page of numbers that this thread writes on, if any."""
    return getattr(_here, "page", None)


class Number:
    """A number that notes all computations with it.

    `form` is "input", "binop", "unop" or "call", and `source` says where an input comes from. The rest is for the text:
    `uses` counts the readings, `same` is read instead, `is_positive` means that it is never -0.0, `hides_sign`
    that no result shows whether it is 0.0 or -0.0, `varies` that it is an array if the arguments are.
    """

    __slots__ = (
        "args", "form", "function", "hides_sign", "hint", "is_positive", "level", "number", "said", "same", "source",
        "uses", "varies",
    )  # fmt: skip
    ndim = 0

    def __init__(self, form: str, function: str, args: tuple[Any, ...], number: Any):
        self.form, self.function, self.args, self.number = form, function, args, number
        self.hint, self.uses, self.is_positive, self.hides_sign = "", 0, False, True

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if sys._getframe(1).f_code is Value._order.__code__:
            return True  # a gradient of 0 may be added as well
        return self._refuse("asks whether a number of a Value is true")

    def _refuse(self, what: str = "asks for the number of a Value") -> Any:
        if open_numbers() is None:
            return self.number
        raise TypeError(refusal(what, "Use relu(), or return the Value and look at it after the step"))

    def __float__(self) -> float:
        return float(self._refuse())

    def __int__(self) -> int:
        return int(self._refuse())

    def __index__(self) -> int:
        return operator.index(self._refuse())

    def __repr__(self) -> str:
        return repr(self._refuse())


def is_zero(x: Any) -> bool:
    """Return True for the whole number 0, which is no -0.0."""
    return type(x) is int and x == 0


def real(x: Any) -> Any:
    """Return the number itself."""
    return x.number if type(x) is Number else x


def record(form: str, function: str, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Compute a number and note it, once for equal computations."""
    page = open_numbers()
    number = call(*[x.number if type(x) is Number else x for x in args])
    if page is None:
        return number
    return page.note(form, function, args, number)


def record_binop(sign: str, call: Callable[..., Any], a: Any, b: Any) -> Any:
    """Compute an operator of two numbers and note it. The factor 1 changes nothing."""
    page = open_numbers()
    number = call(a.number if type(a) is Number else a, b.number if type(b) is Number else b)
    if page is None:
        return number
    if sign == "*" and type(number) is float:
        if type(b) is int and b == 1:
            return a
        if type(a) is int and a == 1:
            return b
    return page.note("binop", sign, (a, b), number)


def _add_operators() -> None:
    """Give numbers Python's operators."""
    for name, sign in SIGNS.items():
        if sign == "@":
            continue
        function = getattr(operator, name)

        def forward(a: Any, b: Any, f: Any = function, s: str = sign) -> Any:
            if type(b) is Number or type(b) in CONSTANTS:
                return record_binop(s, f, a, b)
            return NotImplemented

        def reverse(a: Any, b: Any, f: Any = function, s: str = sign) -> Any:
            return record_binop(s, f, b, a) if type(b) in CONSTANTS else NotImplemented

        setattr(Number, f"__{name.strip('_')}__", forward)
        if sign not in ("<", "<=", ">", ">=", "==", "!="):
            setattr(Number, f"__r{name.strip('_')}__", reverse)
    for name, sign in {"neg": "-", "pos": "+", "invert": "~"}.items():
        function = getattr(operator, name)
        setattr(Number, f"__{name}__", lambda x, f=function, s=sign: record("unop", s, f, (x,)))
    setattr(Number, "__abs__", lambda x: record("call", "absolute", abs, (x,)))  # noqa: B010 - it has no such method yet


_add_operators()


def _word(name: str) -> Any:
    """Return a function of `floats` that notes its call."""
    function = getattr(floats, name)
    if not callable(function):
        return function
    return lambda *args: record("call", name, function, args) if Number in map(type, args) else function(*args)


words = types.SimpleNamespace(**{name: _word(name) for name in floats.__all__})


class Numbers:
    """A page of numbers: the computations, inputs and updates of a step of Values."""

    def __init__(self, named: dict[int, str], is_batch: bool = False):
        self.start, self.named, self.is_batch = clock(), named, is_batch
        self.conditions: list[tuple[Callable[[], Any], Any, str]] = []
        self.numbers: list[Number] = []
        self.known: dict[Any, Number] = {}
        self.inputs: list[Number] = []
        self.data: dict[int, tuple[Value, Any]] = {}
        self.grads: dict[int, tuple[Value, Any]] = {}
        self.made: list[Value] = []
        self.places: dict[int, Any] = {}
        self.lines: dict[tuple[int, int], tuple[str, str]] = {}
        self.arguments: dict[int, int] = {}
        self.blocks: list[tuple[int, tuple[str, str]]] = [(0, ("", ""))]
        self.results: list[Any] = []
        self.updates: list[tuple[str, Any, Any]] = []

    def add_input(self, number: Any, source: tuple[Any, ...], hint: str) -> Number:
        """Return a number that each call reads anew."""
        made = Number("input", "", (), number)
        made.hint, made.source = hint, source
        self.inputs.append(made)
        return made

    def note(self, form: str, function: str, args: tuple[Any, ...], number: Any) -> Number:
        """Return a new number, or the one that an equal computation has made."""
        key = (function, *[x if type(x) is Number else (type(x), x or repr(x)) for x in args])  # -0.0 == 0.0
        made = self.known.get(key)
        if made is None:
            made = self.known[key] = Number(form, function, args, number)
            if function == "+" and form == "binop":
                a, b = args
                made.is_positive = (a.is_positive if type(a) is Number else is_zero(a)) or (
                    b.is_positive if type(b) is Number else is_zero(b)
                )
            self.numbers.append(made)
        return made

    def name_of(self, value: Value) -> str:
        """Return a name for a Value that was there before the step."""
        return value.label or self.named.get(id(value), "") or "value"

    def is_older(self, value: Value) -> bool:
        """Return True for a Value that was there before the step."""
        created = getattr(value, "created", None)
        return id(value) in self.data or (created is not None and created <= self.start)

    def begin_block(self, note: tuple[str, str]) -> None:
        """Note where the numbers that follow come from."""
        if self.blocks[-1][1] != note:
            self.blocks.append((len(self.numbers), note))

    def note_line(self) -> tuple[str, str]:
        """Note that the last number is of the user's line that runs now. Return its location and text."""
        frame = sys._getframe(3)
        while frame is not None and kind_of(frame.f_code) != USER:
            frame = frame.f_back
        key = (id(frame and frame.f_code), frame.f_lineno if frame else 0)
        if key not in self.lines:
            self.lines[key] = place_of(frame)
        site, line = self.lines[key]
        start = len(self.numbers) - 1
        if self.blocks[-1][1] != (line, site) and start >= self.blocks[-1][0]:
            self.blocks.append((start, (line, site)))
        return site, line

    # Reading and writing Values -------------

    def read_data(self, value: Value) -> Any:
        """Return the number of a Value; one that was there before the step is an input."""
        x = DATA.__get__(value)
        if type(x) is not Number and id(value) not in self.data and self.is_older(value):
            source = ("argument", self.arguments[id(value)]) if id(value) in self.arguments else ("data", value)
            x = self.add_input(x, source, self.name_of(value))
            self.data[id(value)] = value, x
            DATA.__set__(value, x)
        return x

    def write_data(self, value: Value, x: Any) -> None:
        """Set the number of a Value."""
        if self.is_batch and self.is_older(value):
            raise TypeError(CHANGES_IN_A_BATCH)
        if id(value) not in self.data:
            if self.is_older(value):
                self.data[id(value)] = value, None
            else:
                self.places[id(value)] = self.note_line()
                self.made.append(value)
        if type(x) is Number and id(value) in self.data:
            self.note_line()
            x.hint = x.hint or f"new_{self.name_of(value)}"
        DATA.__set__(value, x)

    def read_grad(self, value: Value) -> Any:
        """Return the gradient of a Value; one that was there before the step is an input."""
        x = GRAD.__get__(value)
        if type(x) is Number or id(value) in self.grads or not self.is_older(value):
            return x
        if self.is_batch:  # a call adds to the gradient
            self.grads[id(value)] = value, x
            x = 0
        else:
            x = self.add_input(x, ("grad", self.target(value)), f"gradient_of_{self.name_of(value)}")
            self.grads[id(value)] = value, x
        GRAD.__set__(value, x)
        return x

    def write_grad(self, value: Value, x: Any) -> None:
        """Set the gradient of a Value."""
        if self.is_batch and self.is_older(value) and not _is_of_a_walk(sys._getframe(2).f_code):
            raise TypeError(CHANGES_IN_A_BATCH)
        if id(value) not in self.grads and self.is_older(value):
            self.grads[id(value)] = value, GRAD.__get__(value) if self.is_batch else None
        if type(x) is Number and not x.hint and id(value) in self.grads:
            x.hint = f"to_{self.name_of(value)}"
        GRAD.__set__(value, x)

    def target(self, value: Value) -> Any:
        """Return a Value as a program refers to it: an argument by its place."""
        return self.arguments.get(id(value), value)

    def close(self) -> None:
        """Note the changes of the step, and give all Values plain numbers."""
        for kind, slot, touched in (("data", DATA, self.data), ("grad", GRAD, self.grads)):
            for value, initial in touched.values():
                now = slot.__get__(value)
                if now is not initial:
                    self.updates.append((kind, self.target(value), now))
        for value in [*self.made, *(value for value, _ in (*self.data.values(), *self.grads.values()))]:
            DATA.__set__(value, real(DATA.__get__(value)))
            GRAD.__set__(value, real(GRAD.__get__(value)))
        for value, before in self.grads.values() if self.is_batch else ():
            GRAD.__set__(value, before)


CHANGES_IN_A_BATCH = (
    "mg.compile: with batch=True the step is one example, which adds to gradients; it sets a number or a gradient of a "
    "Value from outside. Set gradients to 0 before the call, and update numbers after it"
)


def _is_of_a_walk(code: types.CodeType) -> bool:
    """Return True for code of `backward()`."""
    return code in (Value._order.__code__, Value.backward.__code__) or code.co_name.startswith("vjp_")


# Watching the engine --------------------------------------

_originals: list[tuple[Any, Any, Any]] = []


def _get(slot: Any, read: Callable[[Numbers, Value], Any]) -> Callable[[Any], Any]:
    def get(value: Any) -> Any:
        page = open_numbers()
        if page is not None:
            return read(page, value)
        if open_page() is not None:
            raise TypeError(MIXED)
        return slot.__get__(value)

    return get


def _set(slot: Any, write: Callable[[Numbers, Value, Any], None]) -> Callable[[Any, Any], None]:
    def put(value: Any, x: Any) -> None:
        page = open_numbers()
        if page is not None:
            write(page, value, x)
        elif open_page() is not None:
            raise TypeError(MIXED)
        else:
            slot.__set__(value, x)

    return put


MIXED = (
    "mg.compile: the step computes with Values, but neither takes one nor names one, or `Value`, or a network of them, "
    "in its own text; pass the network as an argument, or use its name in the step"
)


def _noting_vjp(made: Any, vjp: Callable[[Value], None]) -> Callable[[Value], None]:
    def noted_vjp(value: Value) -> None:
        page = open_numbers()
        if page is not None:
            site, line = page.places.get(id(value), ("", ""))
            page.begin_block((f"back through {made.op.name}{': ' * bool(line)}{line}", site))
        vjp(value)

    return noted_vjp


def _watch_values() -> None:
    _exchange(Value, "_data", property(_get(DATA, Numbers.read_data), _set(DATA, Numbers.write_data)))
    _exchange(Value, "_grad", property(_get(GRAD, Numbers.read_grad), _set(GRAD, Numbers.write_grad)))
    _exchange(engine, "floats", words)
    _exchange(engine, "_number", lambda data: data if type(data) is Number else _number(data))
    for made in [each.__self__ for each in Op.on_rules_changed if isinstance(_owner(each), engine.Made)]:
        made.vjp.__globals__["_floats"] = words
        _exchange(made, "vjp", _noting_vjp(made, made.vjp))


def _leave_values() -> None:
    for holder, name, original in reversed(_originals):
        setattr(holder, name, original)
        if isinstance(holder, engine.Made):
            original.__globals__["_floats"] = floats
    _originals.clear()


watch_values = SharedBlock(_lock, _watch_values, _leave_values)
"""Watch all Values in a block."""


_number = engine._number


def _owner(function: Any) -> Any:
    return getattr(function, "__self__", None)


def _exchange(holder: Any, name: str, replacement: Any) -> None:
    _originals.append((holder, name, vars(holder)[name]))
    setattr(holder, name, replacement)


@contextmanager
def write_numbers(page: Numbers) -> Generator[None]:
    """Note what this thread does to Values on a page. At the end the page is closed."""
    if open_numbers() is not None or open_page() is not None:
        raise RuntimeError("mg.compile: a step that is written out cannot call another that is traced")
    with watch_values():
        _here.page = page
        try:
            yield
        finally:
            _here.page = None
            page.close()
