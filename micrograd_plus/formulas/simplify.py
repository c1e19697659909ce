"""Simplification of formulas: numbers are computed, and parts without effect are dropped."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, cast

from .symbols import OPERATORS, Expression, Operation, Symbol, Symbolic, in_order, replace, same

NUMBERS = (bool, int, float)


def both(a: Any, b: Any) -> bool:
    """Return whether both are true."""
    return bool(a and b)


def either(a: Any, b: Any) -> bool:
    """Return whether at least one is true."""
    return bool(a or b)


def square(x: Any) -> Any:
    """Return x²."""
    return x * x


def reciprocal(x: Any) -> Any:
    """Return 1 / x."""
    return 1 / x


def sign(x: Any) -> int:
    """Return 1, 0 or -1."""
    return (x > 0) - (x < 0)


KNOWN: dict[str, Callable[..., Any]] = {
    **{each: getattr(operator, name) for each, name in OPERATORS.items() if name != "getitem"},
    "invert": operator.not_,
    "logical_not": operator.not_, "logical_and": both, "logical_or": either,
    "square": square, "reciprocal": reciprocal, "sqrt": math.sqrt, "abs": abs, "log": math.log,
    "real": operator.pos, "conj": operator.pos, "conjugate": operator.pos, "sign": sign,
}  # fmt: skip
"""Functions that are computed if all their arguments are numbers."""


def simplify(expression: Any, *, matrices: bool = False, real: bool = False) -> Any:
    """Return the expression with numbers computed, and without sums with 0, products with 1 and first powers.

    If all its values have at most two axes (`matrices`), functions of their rows become functions of the matrices. If
    they are `real`, conjugates are dropped.
    """
    values: dict[int, Any] = {}

    def value_of(part: Symbolic) -> Any:
        return values[id(part)]

    for whole in in_order(expression):
        if not isinstance(whole, Expression):
            values[id(whole)] = whole
            continue
        args = replace(whole.args, value_of)
        params = {name: replace(param, value_of) for name, param in whole.params.items()}
        if real and (plain := _of_reals(whole, args, params)) is not None:
            values[id(whole)] = plain
        elif matrices and whole.function == "sum_outer":
            values[id(whole)] = Operation("matmul", (Expression("mT", args[:1]), args[1]))
        elif matrices and whole.function == "rows" and len(args) == 1:
            values[id(whole)] = args[0]
        elif matrices and whole.function == "transpose" and _is_reversal(args):
            values[id(whole)] = Expression("mT", args[:1])
        else:
            values[id(whole)] = _fold(whole, args, params)
    return replace(expression, value_of)


REAL: dict[str, Callable[[Any], tuple[Expression, tuple[Any, ...]]]] = {
    **dict.fromkeys(("conj", "conjugate"), lambda x: _call("positive", x)),
    "mH": lambda x: _call("mT", x),
    "hermitian_part": lambda x: _call("divide", Operation("add", (x, Expression("mT", (x,)))), 2),
}  # fmt: skip
"""Functions of complex numbers, simplified for real numbers."""


class Cancelled(int):
    """The 0 of a difference of equal parts: a product with it is 0 as well."""


def _of_reals(whole: Expression, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return an expression simplified for real numbers; None if it stays the same."""
    if whole.function in REAL:
        return _fold(*REAL[whole.function](args[0]), params)
    if whole.function == "subtract" and same(*args):
        return Cancelled(0)
    gone = args if whole.function == "multiply" else args[:1] if whole.function == "divide" else ()
    return next((each for each in gone if isinstance(each, Cancelled)), None)


def _call(function: str, *args: Any) -> tuple[Expression, tuple[Any, ...]]:
    kind = Operation if function in OPERATORS else Expression
    return kind(function, args), args


def _fold(whole: Expression, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return one expression, simplified. Its parts are simplified already."""
    if whole.function in KNOWN and not params and all(isinstance(arg, NUMBERS) for arg in args):
        known = _compute(whole.function, args)
        return type(whole)(whole.function, args, params) if known is None else known
    if (simpler := _rewrite(whole, args, params)) is not None:
        return simpler
    if len(args) == 2 and whole.function in NEUTRAL:
        other = NEUTRAL[whole.function](*args)
        if other is not None:
            return other
    if whole.function == "multiply":
        args = _number_first(args)
    return type(whole)(whole.function, args, params)


def _rewrite(whole: Expression, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return an expression rewritten with fewer or better known functions; None if it stays the same."""
    if whole.function == "where" and len(args) == 3 and isinstance(args[0], NUMBERS):
        return args[1] if args[0] else args[2]
    if whole.function in ("stop_gradient", "positive") and len(args) == 1:
        return args[0]
    if whole.function == "getitem":
        return _part(whole, args)
    if _is_undone(whole.function, args):
        return args[0].args[0]
    if whole.function == "one_hot":  # its row length shows in the values next to it
        return Expression(whole.function, args[:1])
    if whole.function == "unreduce":  # readers know NumPy's name
        return Expression("broadcast", args[:1], {"axis": args[2] if len(args) > 2 else params.get("axis")})
    if whole.function == "transpose" and args[1:] == (None,):
        return Expression(whole.function, args[:1])
    return None


TWICE_IS_NOTHING = ("conj", "conjugate", "negative", "mT", "mH")
"""Functions that undo themselves."""


def _is_undone(function: str, args: tuple[Any, ...]) -> bool:
    """Return whether a function that undoes itself is applied twice."""
    return function in TWICE_IS_NOTHING and isinstance(args[0], Expression) and args[0].function == function


def _part(whole: Expression, args: tuple[Any, ...]) -> Any:
    """Return a part of an array; a part of a split array becomes a part of the original."""
    of, place = args
    axis = of.params.get("axis") if isinstance(of, Expression) else None
    if isinstance(axis, int) and isinstance(place, int) and isinstance(of, Expression):
        before: tuple[Any, ...] = (slice(None),) * axis if axis >= 0 else (Ellipsis,)
        behind: tuple[Any, ...] = (slice(None),) * (-axis - 1) if axis < 0 else ()
        x, *rest = of.args
        if of.function == "split" and rest and isinstance(rest[0], tuple):
            ends = cast("tuple[int, ...]", rest[0])
            bounds = slice(ends[place - 1] if place else None, ends[place] if place < len(ends) else None)
            return Operation("getitem", (x, (*before, bounds, *behind)))
        if of.function == "unstack":
            return Operation("getitem", (x, (*before, place, *behind)))
    return type(whole)(whole.function, args, {})


def _compute(name: str, args: tuple[Any, ...]) -> Any:
    """Return the value of a function; None if it has none, and for a quotient that is not a whole number."""
    try:
        number = KNOWN[name](*args)
    except (ArithmeticError, ValueError):
        return None
    if name not in ("divide", "reciprocal"):
        return number
    return int(number) if number == int(number) else None


def _is_reversal(args: tuple[Any, ...]) -> bool:
    """Return whether the axes are reversed."""
    order = args[1] if len(args) == 2 else None
    if not isinstance(order, Expression):
        return order is None
    return order.function == "inverse_order" and order.args == (None,)


def _is(value: Any, number: float) -> bool:
    return isinstance(value, NUMBERS) and value == number


def _sum(a: Any, b: Any) -> Any:
    return b if _is(a, 0) else a if _is(b, 0) else None


def _product(a: Any, b: Any) -> Any:
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    if _is(b, -1) and isinstance(a, Symbolic):
        return Operation("negative", (a,))
    if isinstance(b, Expression) and b.function == "divide" and _is(b.args[0], 1):
        return Operation("divide", (a, b.args[1]))
    return None


def _power(base: Any, exponent: Any) -> Any:
    return base if _is(exponent, 1) else 1 if _is(exponent, 0) else None


NEUTRAL: dict[str, Callable[[Any, Any], Any]] = {
    "add": _sum,
    "subtract": lambda a, b: a if _is(b, 0) else None,
    "multiply": _product,
    "divide": lambda a, b: a if _is(b, 1) else None,
    "power": _power,
}
"""Operators that some number leaves without effect."""


def _number_first(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sides of a product, a number first; upstream stays before everything."""
    a, b = args
    arrives = isinstance(a, Symbol) and a.name.startswith("upstream")
    swap = isinstance(b, NUMBERS) and not isinstance(a, NUMBERS) and not isinstance(b, bool) and not arrives
    return (b, a) if swap else args
