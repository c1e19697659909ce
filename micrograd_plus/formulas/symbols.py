"""Namespace of symbols: a rule called with symbols returns its own formula.

A gradient rule such as `lambda xp, upstream, b: upstream @ xp.mT(b)` is ordinary Python, written in operators
and in functions of a namespace (`xp.mT`). Called with this module as `xp` and with symbols as arguments, it
computes nothing; it returns the tree of what it would have computed:

    from micrograd_plus.formulas import symbols
    rule(symbols, symbols.Symbol("upstream"), symbols.Symbol("b"))    # matmul(upstream, mT(…))

Every name that this module does not define is a `Name`, so `symbols.exp` and `symbols.linalg.solve` need no entry
anywhere. `evaluate` computes a tree in another namespace; `notation` writes it as text, LaTeX and MathML.
"""

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

OPERATORS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "matmul": "matmul",
    "negative": "neg",
    "positive": "pos",
    "absolute": "abs",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "invert": "invert",
    "getitem": "getitem",
}
"""Functions that are written as operators, and their names in Python's `operator`."""


class Symbolic:
    """Immutable placeholder of a value in a formula: a `Symbol`, a `Name` or an `Expression`.

    Operators build expressions. Since `==` is one of them, `same` compares structure; as dictionary keys, objects are
    compared by identity. Conversion to a number, a truth value, a length or a loop raises TypeError: a formula is valid
    for all values, so a rule must not branch or loop on them.
    """

    __slots__ = ()
    __array_ufunc__ = None  # then `array * symbol` calls `__rmul__` instead of a loop over the array

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a formula never changes: .{name} of {self!r} cannot be set")

    def __array__(self, *_: Any, **options: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is not an array: a rule must call functions of xp, which can be written as a formula"
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self!r} has no .{name}: for a shape, a rule takes a parameter such as x_shape; "
            "for anything else it calls a function of xp"
        )

    def __add__(self, other: Any) -> Operation:
        return Operation("add", (self, other))

    def __radd__(self, other: Any) -> Operation:
        return Operation("add", (other, self))

    def __sub__(self, other: Any) -> Operation:
        return Operation("subtract", (self, other))

    def __rsub__(self, other: Any) -> Operation:
        return Operation("subtract", (other, self))

    def __mul__(self, other: Any) -> Operation:
        return Operation("multiply", (self, other))

    def __rmul__(self, other: Any) -> Operation:
        return Operation("multiply", (other, self))

    def __truediv__(self, other: Any) -> Operation:
        return Operation("divide", (self, other))

    def __rtruediv__(self, other: Any) -> Operation:
        return Operation("divide", (other, self))

    def __floordiv__(self, other: Any) -> Operation:
        return Operation("floor_divide", (self, other))

    def __rfloordiv__(self, other: Any) -> Operation:
        return Operation("floor_divide", (other, self))

    def __mod__(self, other: Any) -> Operation:
        return Operation("remainder", (self, other))

    def __rmod__(self, other: Any) -> Operation:
        return Operation("remainder", (other, self))

    def __pow__(self, other: Any) -> Operation:
        return Operation("power", (self, other))

    def __rpow__(self, other: Any) -> Operation:
        return Operation("power", (other, self))

    def __matmul__(self, other: Any) -> Operation:
        return Operation("matmul", (self, other))

    def __rmatmul__(self, other: Any) -> Operation:
        return Operation("matmul", (other, self))

    def __neg__(self) -> Operation:
        return Operation("negative", (self,))

    def __pos__(self) -> Operation:
        return Operation("positive", (self,))

    def __abs__(self) -> Operation:
        return Operation("absolute", (self,))

    def __eq__(self, other: object) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride] - spelled
        return Operation("equal", (self, other))

    def __ne__(self, other: object) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride] - spelled
        return Operation("not_equal", (self, other))

    def __lt__(self, other: Any) -> Operation:
        return Operation("less", (self, other))

    def __le__(self, other: Any) -> Operation:
        return Operation("less_equal", (self, other))

    def __gt__(self, other: Any) -> Operation:
        return Operation("greater", (self, other))

    def __ge__(self, other: Any) -> Operation:
        return Operation("greater_equal", (self, other))

    def __and__(self, other: Any) -> Operation:
        return Operation("bitwise_and", (self, other))

    def __rand__(self, other: Any) -> Operation:
        return Operation("bitwise_and", (other, self))

    def __or__(self, other: Any) -> Operation:
        return Operation("bitwise_or", (self, other))

    def __ror__(self, other: Any) -> Operation:
        return Operation("bitwise_or", (other, self))

    def __xor__(self, other: Any) -> Operation:
        return Operation("bitwise_xor", (self, other))

    def __rxor__(self, other: Any) -> Operation:
        return Operation("bitwise_xor", (other, self))

    def __invert__(self) -> Operation:
        return Operation("invert", (self,))

    def __getitem__(self, index: Any) -> Operation:
        return Operation("getitem", (self, index))

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a rule must not branch on {self!r}, which can have any value; use xp.where")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"a rule must not loop over {self!r}, which can have any shape; use a function of xp")

    def __contains__(self, member: Any) -> NoReturn:
        raise TypeError(f"a rule must not search {self!r}, which can have any value; use a function of xp")

    def __len__(self) -> NoReturn:
        raise TypeError(f"a rule must not use the length of {self!r}, which can have any shape")

    def __float__(self) -> NoReturn:
        raise TypeError(f"{self!r} can have any value: a rule must not convert it to a number")

    __int__ = __index__ = __complex__ = __float__


class Symbol(Symbolic):
    """Named value: `upstream`, `out`, an input, a parameter. `shown` is how it is written, if not as its name."""

    __slots__ = ("name", "shown")
    name: str
    shown: str

    def __init__(self, name: str, shown: str | None = None) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "shown", name if shown is None else shown)

    def __repr__(self) -> str:
        return self.name


class Name(Symbolic):
    """Name of the namespace itself, such as `xp.exp`, `xp.linalg.solve`, `xp.pi` or `xp.float32`.

    Calling it makes an expression. Otherwise it is the constant or the dtype of that name.
    """

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __call__(self, *args: Any, **params: Any) -> Expression:
        """Return the function of that name, applied to these arguments."""
        return Expression(self.name, args, params)

    def __getattr__(self, name: str) -> Name:
        if name.startswith("_"):
            raise AttributeError(name)
        return Name(f"{self.name}.{name}")

    def __repr__(self) -> str:
        return f"xp.{self.name}"


class Expression(Symbolic):
    """Function of the namespace with its arguments: `args` by position, `params` by name.

    Both hold symbolic values, constants (numbers, None, strings, dtypes), and tuples, lists and slices of them.
    """

    __slots__ = ("args", "function", "params")
    function: str
    args: tuple[Any, ...]
    params: Mapping[str, Any]

    def __init__(self, function: str, args: Iterable[Any], params: Mapping[str, Any] | None = None) -> None:
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "args", tuple(args))
        object.__setattr__(self, "params", MappingProxyType(dict(params or {})))

    def __repr__(self) -> str:
        """Return one level of the tree, so that a deep one can be printed."""
        args = [_outline(arg) for arg in self.args]
        params = [f"{name}={_outline(param)}" for name, param in self.params.items()]
        return f"{self.function}({', '.join(args + params)})"


class Operation(Expression):
    """Expression written with a Python operator; `function` is NumPy's name for it."""

    __slots__ = ()


def _outline(value: Any) -> str:
    return f"{value.function}(…)" if isinstance(value, Expression) else repr(value)


class Shape(tuple[int, ...]):  # noqa: SLOT001 - its name needs an attribute
    """Shape of the input called `name`: integers for the rule, "shape of x" for the reader.

    Its entries and slices are ordinary integers and tuples, and are written as numbers.
    """

    name: str

    def __new__(cls, shape: Iterable[int], name: str) -> Shape:
        """Return the shape of the input called `name`."""
        self = super().__new__(cls, shape)
        self.name = name
        return self

    def __repr__(self) -> str:
        return f"Shape({tuple(self)}, {self.name!r})"


class Shapes(list[Shape]):
    """Shapes of the parts of the list called `name`. It is not searched for symbols, since there may be thousands."""

    def __init__(self, shapes: Iterable[Iterable[int]], name: str) -> None:
        super().__init__(Shape(shape, f"{name}[{i}]") for i, shape in enumerate(shapes))
        self.name = name

    def __repr__(self) -> str:
        return f"Shapes({self.name!r})"


class Lengths(tuple[Any, ...]):
    """What a function of shapes returns for known shapes: a constant that is not searched for symbols."""

    __slots__ = ()


def parts(value: Any) -> Iterator[Symbolic]:
    """Yield the direct symbolic parts of `value`, from left to right, with repetitions."""
    if isinstance(value, Expression):
        yield from _symbolic_in(value.args)
        yield from _symbolic_in(tuple(value.params.values()))


def _symbolic_in(value: Any) -> Iterator[Symbolic]:
    if isinstance(value, Symbolic):
        yield value
    for member in _members(value):
        yield from _symbolic_in(member)


def _members(value: Any) -> tuple[Any, ...]:
    """Return the members of a tuple, a list or a slice; nothing for anything else, including constants such as a
    `Shape`."""
    if isinstance(value, slice):
        ends = cast("slice[Any, Any, Any]", value)
        return ends.start, ends.stop, ends.step
    return tuple(value) if type(value) in (tuple, list) else ()


def replace(value: Any, value_of: Callable[[Symbolic], Any]) -> Any:
    """Return `value` with `value_of(part)` in place of each symbolic part, also inside tuples, lists and slices."""
    if isinstance(value, Symbolic):
        return value_of(value)
    members = [replace(member, value_of) for member in _members(value)]
    if isinstance(value, slice):
        return slice(*members)
    return type(value)(members) if members else value


def in_order(value: Any) -> list[Symbolic]:
    """Return every symbolic part of `value` once, parts before the expressions that contain them.

    It does not recurse, so a tree can be as deep as memory allows.
    """
    ordered: dict[int, Symbolic] = {}
    waiting = list(_symbolic_in(value))[::-1]
    while waiting:
        whole = waiting[-1]
        missing = [part for part in parts(whole) if id(part) not in ordered]
        waiting.extend(reversed(missing))
        if not missing:
            ordered.setdefault(id(whole), whole)
            waiting.pop()
    return list(ordered.values())


def structure(ordered: Iterable[Symbolic]) -> dict[int, int]:
    """Return a number for each symbolic value, by id. Values with equal structure have equal numbers.

    Constants are equal if their types and their `repr` are, so 1 and 1.0 differ, and nan equals nan.
    """
    numbers: dict[int, int] = {}
    met: dict[Any, int] = {}

    def key(part: Any) -> Any:
        if isinstance(part, Symbolic):
            return numbers[id(part)]
        members = _members(part)
        return (type(part), *map(key, members)) if members else (type(part), repr(part))

    for whole in ordered:
        if isinstance(whole, Expression):
            params = [(name, key(param)) for name, param in sorted(whole.params.items())]
            built = (whole.function, *map(key, whole.args), *params)
        else:
            built = (type(whole), repr(whole))
        numbers[id(whole)] = met.setdefault(built, len(met))
    return numbers


def same(a: Any, b: Any) -> bool:
    """Return whether two expressions, symbols or constants have the same structure."""
    a, b = Expression("left", (a,)), Expression("left", (b,))
    numbers = structure(in_order((a, b)))
    return numbers[id(a)] == numbers[id(b)]


def evaluate(expression: Any, xp: Any, names: Mapping[str, Any]) -> Any:
    """Return the value of `expression` in the namespace `xp`; `names` has the values of its symbols.

    Operators are computed as operators, as in the rule: `2 * x` keeps a float32 `x` in float32, but
    `multiply(2.0, 3.0)` would return float64. A part used twice is computed once. Constants stay as they are, and a
    tuple of expressions becomes a tuple. Raises KeyError if `names` lacks a symbol.
    """
    values: dict[int, Any] = {}

    def value_of(part: Symbolic) -> Any:
        return values[id(part)]

    for whole in in_order(expression):
        if isinstance(whole, Symbol):
            values[id(whole)] = _look_up(whole.name, names)
        elif isinstance(whole, Name):
            values[id(whole)] = operator.attrgetter(whole.name)(xp)
        elif isinstance(whole, Expression):
            args = replace(whole.args, value_of)
            params = {name: replace(param, value_of) for name, param in whole.params.items()}
            values[id(whole)] = _function(whole, xp)(*args, **params)
    return replace(expression, value_of)


def _look_up(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise KeyError(f"the formula reads {name}, but there are only values for: {', '.join(names)}")
    return names[name]


def _function(expression: Expression, xp: Any) -> Callable[..., Any]:
    if isinstance(expression, Operation):
        return getattr(operator, OPERATORS[expression.function])
    return operator.attrgetter(expression.function)(xp)


def __getattr__(name: str) -> Name:
    """Return the `Name` for any name without a leading underscore."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Name(name)
