"""Layouts: how each function of a rule is written in a formula, in every notation.

A layout takes the `Writer`, which knows the pieces of the parts, and the expression, and makes its `Piece`.
A function that has none is its name, upright, with its arguments. To give one a look of its own, add a line
to a table below.
"""

from __future__ import annotations

import math
from numbers import Complex, Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .symbols import Expression, Name, Operation, Shape, Symbol, Symbolic, in_order, replace, same
from .writing import AND, ATOM, CHOICE, COMPARE, OR, POWER, PRODUCT, SUM, Piece, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Infix(NamedTuple):
    """Infix operator, and the operators of its level that each side may have without parentheses."""

    sign: str
    level: int
    left: str = ""
    right: str = ""


SLASH = Infix("/", PRODUCT, "·/−")

INFIX = {
    "add": Infix("+", SUM, "+−", "+−"),
    "subtract": Infix("−", SUM, "+−"),
    "multiply": Infix("·", PRODUCT, "·/−", "·/"),
    "matmul": Infix("@", PRODUCT, "@−"),
    "equal": Infix("=", COMPARE),
    "not_equal": Infix("≠", COMPARE),
    "less": Infix("<", COMPARE),
    "less_equal": Infix("≤", COMPARE),
    "greater": Infix(">", COMPARE),
    "greater_equal": Infix("≥", COMPARE),
    "bitwise_and": Infix("∧", AND, "∧", "∧"),
    "bitwise_or": Infix("∨", OR, "∨", "∨"),
    "bitwise_xor": Infix("⊻", OR, "⊻", "⊻"),
}

INFIX["logical_and"] = INFIX["bitwise_and"]
INFIX["logical_or"] = INFIX["bitwise_or"]
INFIX["logical_xor"] = INFIX["bitwise_xor"]

REWRITTEN: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "exp2": lambda x: 2**x,
    "linalg.inv": lambda x: x**-1,
    "positive": lambda x: x,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / Name("sqrt")(x),
    "square": lambda x: x**2,
}
"""Functions that are written with other functions."""

RENAMED = {
    "sum": "Σ", "prod": "Π", "maximum": "max", "minimum": "min", "remainder": "mod",
    "real": "Re", "imag": "Im",
}  # fmt: skip
"""Mathematical names of functions that NumPy calls differently."""

CONSTANTS = {"pi": "π", "inf": "∞", "newaxis": "None"}

KNOWN: dict[float, Any] = {
    math.pi: Name("pi"),
    2 * math.pi: 2 * Name("pi"),
    math.sqrt(2): Name("sqrt")(2),
    math.sqrt(0.5): 1 / Name("sqrt")(2),
    math.sqrt(math.pi): Name("sqrt")(Name("pi")),
    2 / math.sqrt(math.pi): 2 / Name("sqrt")(Name("pi")),
    math.sqrt(2 * math.pi): Name("sqrt")(2 * Name("pi")),
    math.sqrt(2 / math.pi): Name("sqrt")(2 / Name("pi")),
    math.log(2): Name("log")(2),
    math.log(10): Name("log")(10),
    1 / 3: Operation("divide", (1, 3)),
    2 / 3: Operation("divide", (2, 3)),
    1 / 6: Operation("divide", (1, 6)),
}
"""Well-known forms of numbers in rules."""

FENCES = {"absolute": "||", "floor": "⌊⌋", "ceil": "⌈⌉", "linalg.norm": "‖‖"}

MOST_ENTRIES = 8
"""An array of at most this many entries is written out."""

BIG = ("sum", "prod")
"""Functions that seem to apply to everything after them, so a power of them needs parentheses."""

COUNTING = ("sum", "prod", "mean", "cumsum")
"""Functions that count how often a condition is true."""

AXIS_SECOND = (
    "sum", "prod", "mean", "max", "min", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "cumprod",
    "logsumexp", "median", "sort", "argsort", "concatenate", "stack", "flip", "expand_dims", "squeeze",
)  # fmt: skip
"""Functions whose second argument is an axis, by position or by name."""


def layout(writer: Writer, value: Any) -> Piece:
    """Return the piece of a symbol, a function, an expression or a constant, made from the pieces of its parts."""
    if isinstance(value, Symbol):
        return Piece(writer.marks.symbol(value.name, value.shown))
    if isinstance(value, Name):
        return Piece(writer.marks.upright(CONSTANTS.get(value.name, value.name)))
    if isinstance(value, Expression):
        return LAYOUTS.get(value.function, function)(writer, value)
    return constant(writer, value)


def infix(writer: Writer, expression: Expression) -> Piece:
    """Write two sides and their operator; a product of a part with itself is its square."""
    if writer.is_square(expression):
        return power(writer, Expression("power", (expression.args[0], 2)))
    return two_sides(writer, expression, INFIX[expression.function])


def two_sides(writer: Writer, expression: Expression, between: Infix) -> Piece:
    """Write two sides and the operator between them, with the parentheses that it needs."""
    left, right = (writer.piece(side) for side in expression.args)
    arithmetic = between.level >= SUM
    left_code = writer.parenthesize(left, between.level, between.left)
    right_code = writer.parenthesize(right, between.level, between.right, after_sign=arithmetic)
    code = writer.marks.row(left_code, writer.marks.sign(between.sign), right_code)
    return Piece(code, between.level, between.sign, arithmetic and left.minus and left_code == left.code)


def divide(writer: Writer, expression: Expression) -> Piece:
    """Write a fraction; on one line, with a slash."""
    if writer.marks.flat:
        return two_sides(writer, expression, SLASH)
    top, bottom = (writer.piece(side).code for side in expression.args)
    return Piece(writer.marks.fraction(top, bottom), POWER)


def through(writer: Writer, expression: Expression) -> Piece:
    """Write the chain rule's sum: what all entries of a named result send to a named input."""
    marks, (upstream, result, given) = writer.marks, expression.args
    top, bottom = (marks.row(marks.mark("∂"), marks.upright(name)) for name in (result, given))
    local = marks.row(top, "/", bottom) if marks.flat else marks.fraction(top, bottom)
    sent = marks.row(writer.parenthesize(writer.piece(upstream), PRODUCT), marks.sign("·"), local)
    return Piece(marks.call(marks.upright("Σ"), marks.remark(f"entries of {result}"), sent), POWER)


def negative(writer: Writer, expression: Expression) -> Piece:
    """Write a minus sign before a product, or before a tighter operator."""
    of = writer.piece(expression.args[0])
    code = writer.marks.row(writer.marks.mark("−"), writer.parenthesize(of, PRODUCT, "·/@", after_sign=True))
    return Piece(code, PRODUCT, of.sign if of.level == PRODUCT else "−", minus=True)


def invert(writer: Writer, expression: Expression) -> Piece:
    """Write the negation of a condition."""
    of = writer.piece(expression.args[0])
    code = of.code if of.level >= POWER else writer.marks.fence("(", of.code, ")")
    return Piece(writer.marks.row(writer.marks.mark("¬"), code), POWER)


def power(writer: Writer, expression: Expression) -> Piece:
    """Write a power."""
    base, exponent = (writer.piece(side) for side in expression.args)
    code = exponent.code if writer.marks.fits_above(exponent.code) else writer.parenthesize(exponent, POWER)
    return Piece(writer.marks.superscript(writer.parenthesize(base, POWER), code), POWER)


def exp(writer: Writer, expression: Expression) -> Piece:
    """Write a power of e if the exponent is short enough; otherwise a function."""
    number = writer.structure.get(id(expression))
    if number is not None and writer.anatomy.weights[number] > 7:
        return function(writer, expression)
    return power(writer, Expression("power", (Name("e"), expression.args[0])))


def root(writer: Writer, expression: Expression) -> Piece:
    """Write a square or cube root; on one line with parentheses instead of the bar."""
    of = writer.piece(expression.args[0])
    code = writer.parenthesize(of, POWER) if writer.marks.flat else of.code
    return Piece(writer.marks.root(code, {"sqrt": 2, "cbrt": 3}[expression.function]), POWER)


def transpose(writer: Writer, expression: Expression) -> Piece:
    """Write the transpose of a matrix or its adjoint; any other order of axes is a function."""
    if expression.params or len(expression.args) != 1:
        return function(writer, expression)
    matrix = writer.parenthesize(writer.piece(expression.args[0]), POWER)
    write = writer.marks.adjoint if expression.function == "mH" else writer.marks.transpose
    return Piece(write(matrix), POWER)


def conjugate(writer: Writer, expression: Expression) -> Piece:
    """Write the conjugate of a complex value."""
    return Piece(writer.marks.overline(writer.piece(expression.args[0]).code))


def between_bars(writer: Writer, expression: Expression) -> Piece:
    """Write bars around a single argument without bars inside."""
    opening, closing = FENCES[expression.function]
    code = writer.comma_list(expression.args)
    if expression.params or len(expression.args) > 1 or opening in code:
        return function(writer, expression)
    return Piece(writer.marks.fence(opening, code, closing))


def getitem(writer: Writer, expression: Expression) -> Piece:
    """Write a part of an array with its index: one place as a subscript, several as a program writes them."""
    array, index = expression.args
    code = writer.comma_list(cast("tuple[Any, ...]", index)) if isinstance(index, tuple) else writer.piece(index).code
    whole = writer.parenthesize(writer.piece(array), POWER)
    if isinstance(index, int | Symbolic):
        return Piece(writer.marks.subscript(whole, code))
    return Piece(writer.marks.row(whole, writer.marks.fence("[", code, "]")))


def where(writer: Writer, expression: Expression) -> Piece:
    """Write values by cases; if the last value is a choice itself, its cases follow."""
    if len(expression.args) != 3:
        return function(writer, expression)
    condition, value, other = expression.args
    other = where_not(condition, other)
    rows = [(writer.piece(value).code, writer.piece(condition).code)]
    while isinstance(other, Expression) and other.function == "where" and not writer.has_name(other):
        condition, value, other = other.args
        rows.append((writer.piece(value).code, writer.piece(condition).code))
    rows.append((writer.piece(other).code, ""))
    return Piece(writer.marks.cases(rows), ATOM if writer.marks.flat else CHOICE)


def where_not(condition: Any, other: Any) -> Any:
    """Return the value for a false condition, with inner choices by the same condition resolved."""
    made: dict[int, Any] = {}
    for whole in in_order(other):
        made[id(whole)] = whole
        if isinstance(whole, Expression):
            args = replace(whole.args, lambda each: made[id(each)])
            params = {name: replace(param, lambda each: made[id(each)]) for name, param in whole.params.items()}
            if whole.function == "where" and len(args) == 3 and same(args[0], condition):
                made[id(whole)] = args[2]
            elif any(each is not old for each, old in zip(args, whole.args, strict=True)):
                made[id(whole)] = type(whole)(whole.function, args, params)
    return replace(other, lambda each: made[id(each)])


def rewrite(writer: Writer, expression: Expression) -> Piece:
    """Write a function with other functions."""
    return writer.piece(REWRITTEN[expression.function](expression.args[0]))


def sum_outer(writer: Writer, expression: Expression) -> Piece:
    """Write a sum of outer products of rows as a matrix product aᵀ @ b."""
    a, b = (Name("rows")(part) for part in expression.args)
    return writer.piece(Name("mT")(a) @ b)


def linear_layer(writer: Writer, expression: Expression) -> Piece:
    """Write rows times the transpose of the weights, plus a bias if there is one."""
    x, weight, *bias = expression.args
    product = x @ Name("mT")(weight) if isinstance(x, Symbolic) else Name("matmul")(x, Name("mT")(weight))
    return writer.piece(product + bias[0] if bias and bias[0] is not None else product)


def scatter(writer: Writer, expression: Expression) -> Piece:
    """Write entries added to zeros at an index."""
    x, index = expression.args[0], expression.params.get("index", expression.args[1:2])
    inside = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
    once = all(part is None or part is Ellipsis or isinstance(part, int | slice) for part in inside)
    said = writer.marks.remark("at " if once else "added at ")
    where = writer.marks.row(said, writer.marks.fence("[", writer.comma_list(inside), "]"))
    axis = along(writer, expression.params.get("axis"))
    if axis:
        where = writer.marks.row(where, writer.marks.remark(" along "), axis)
    rows = [(writer.piece(x).code, where), (writer.marks.number("0"), "")]
    return Piece(writer.marks.cases(rows, ("", "elsewhere")), ATOM if writer.marks.flat else CHOICE)


def contract_rows(writer: Writer, expression: Expression) -> Piece:
    """Write the product aᵀ @ b."""
    a, b, _ = expression.args
    return writer.piece(Name("matmul")(Name("mT")(a), b))


def count_along(writer: Writer, expression: Expression) -> Piece:
    """Write the number of entries that a reduction combines."""
    marks, (shape, axis) = writer.marks, expression.args
    whose = marks.upright(shape.name) if isinstance(shape, Shape) else writer.piece(shape).code
    return Piece(marks.call(marks.upright("count"), along_all(writer, axis), whose))


def along_all(writer: Writer, axis: Any) -> str:
    """Return the code of a reduction's axes; None means all."""
    return writer.marks.remark("all axes") if axis is None else along(writer, axis)


def reduction(writer: Writer, expression: Expression) -> Piece:
    """Write a function whose second argument can be its axis."""
    if len(expression.args) == 2:
        array, axis = expression.args
        expression = Expression(expression.function, (array,), {"axis": axis, **expression.params})
    return function(writer, expression)


def function(writer: Writer, expression: Expression) -> Piece:
    """Write an upright name, its axis, and its arguments."""
    marks = writer.marks
    params = {name: value for name, value in expression.params.items() if name != "keepdims" and value is not False}
    axis = along(writer, params.pop("axis", None))
    level = COMPARE if expression.function in COUNTING else CHOICE - 1
    arguments = [writer.parenthesize(writer.piece(arg), level) for arg in expression.args]
    for param, value in params.items():
        arguments.append(marks.row(marks.upright(param), marks.sign("="), writer.piece(value).code))
    name = marks.upright(RENAMED.get(expression.function, expression.function.rpartition(".")[2]))
    code = marks.call(name, axis, writer.with_commas(arguments))
    return Piece(code, POWER if expression.function in BIG else ATOM)


def along(writer: Writer, axis: Any) -> str:
    """Return the code of an axis: a symbol as it is, a number as "axis 1"."""
    if axis is None:
        return ""
    if isinstance(axis, Symbolic):
        return writer.piece(axis).code
    if isinstance(axis, tuple | list) and len(cast("tuple[Any, ...]", axis)) == 1:
        return along(writer, axis[0])
    if isinstance(axis, tuple | list):
        return writer.marks.row(writer.marks.remark("axes "), writer.comma_list(cast("Iterable[Any]", axis)))
    return writer.marks.row(writer.marks.remark("axis "), writer.piece(axis).code)


def constant(writer: Writer, value: Any) -> Piece:
    """Write a constant: a number, a name, or several of them."""
    marks = writer.marks
    if isinstance(value, Shape):
        return Piece(marks.remark(f"shape of {value.name}"))
    if isinstance(value, tuple):
        return Piece(marks.fence("(", writer.comma_list(cast("tuple[Any, ...]", value)), ")"))
    if isinstance(value, list):
        return Piece(marks.fence("[", writer.comma_list(cast("list[Any]", value)), "]"))
    if isinstance(value, slice):
        return slice_bounds(writer, cast("slice[Any, Any, Any]", value))
    if isinstance(value, str):
        return Piece(marks.remark(f"“{value}”"))
    if value is Ellipsis:
        return Piece(marks.mark("…"))
    if isinstance(value, Complex) and value is not True and value is not False:
        return real(writer, value) if isinstance(value, Real) else with_imaginary_part(writer, value)
    if not isinstance(value, type) and getattr(value, "ndim", 0) and hasattr(value, "tolist"):
        return array_of(writer, value)
    return Piece(marks.upright(str(getattr(value, "name", getattr(value, "__name__", value)))))


def array_of(writer: Writer, value: Any) -> Piece:
    """Write an array, such as an index: its entries if they are few, otherwise its shape."""
    if value.ndim == 1 and value.size <= MOST_ENTRIES:
        return writer.piece(value.tolist())
    kind = "a mask" if value.dtype.kind == "b" else "an array"
    return Piece(writer.marks.remark(f"{kind} of shape {tuple(value.shape)}"))


def slice_bounds(writer: Writer, value: slice[Any, Any, Any]) -> Piece:
    """Write a slice with colons."""
    colon = writer.marks.mark(":")
    ends = (value.start, value.stop, value.step)
    start, stop, step = ("" if end is None else writer.piece(end).code for end in ends)
    return Piece(writer.marks.row(start, colon, stop, *([colon, step] if step else [])))


def real(writer: Writer, value: Any) -> Piece:
    """Write a real number: six digits, dots if it has more, a power of ten if it is large or small."""
    if value < 0:
        return negative(writer, Expression("negative", (-value,)))
    if isinstance(value, Integral):
        return Piece(writer.marks.number(str(value)))
    if value in KNOWN:
        return writer.piece(KNOWN[value])
    if not math.isfinite(value):
        return Piece(writer.marks.mark("∞") if value > 0 else writer.marks.upright("nan"))
    digits, _, exponent = f"{abs(float(value)):.6g}".partition("e")
    if exponent:
        ten = Expression("power", (10, int(exponent)))
        return writer.piece(ten if digits == "1" else float(digits) * ten)
    exact = type(value)(digits) == value
    return Piece(writer.marks.number(digits if exact else f"{digits}…"))


def with_imaginary_part(writer: Writer, value: Any) -> Piece:
    """Write a complex number as a sum."""
    size = abs(value.imag)
    imaginary = Name("i") if size == 1 else size * Name("i")
    if value.imag < 0:
        return writer.piece(value.real - imaginary if value.real else -imaginary)
    return writer.piece(value.real + imaginary if value.real else imaginary)


LAYOUTS: dict[str, Callable[[Writer, Expression], Piece]] = {
    **dict.fromkeys(INFIX, infix),
    **dict.fromkeys(FENCES, between_bars),
    **dict.fromkeys(REWRITTEN, rewrite),
    **dict.fromkeys(AXIS_SECOND, reduction),
    "sum_outer": sum_outer,
    "contract_rows": contract_rows,
    "linear_layer": linear_layer,
    **dict.fromkeys(("put_add", "put_take", "put_along_axis_add"), scatter),
    "count_along": count_along,
    **dict.fromkeys(("mT", "mH", "matrix_transpose", "transpose"), transpose),
    **dict.fromkeys(("conj", "conjugate"), conjugate),
    **dict.fromkeys(("sqrt", "cbrt"), root),
    "through": through,
    "divide": divide,
    "exp": exp,
    "getitem": getitem,
    "invert": invert,
    "logical_not": invert,
    "negative": negative,
    "power": power,
    "where": where,
}
"""Functions that are not written as a name with arguments."""
