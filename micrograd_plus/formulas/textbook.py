"""Layouts of functions that only this engine has, in mathematical notation or in terms of well-known libraries.

Rules use internal functions that move, repeat, cut and place entries. Each has its layout here: a sum over repeated
entries, a case for each position, an index t − 1, an identity, the transpose of a known function. A function that only
changes the memory layout is not written at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .layouts import along, divide, function, getitem, layout as plain
from .symbols import Expression, Name, Operation, Shape, Symbolic
from .writing import ATOM, CHOICE, POWER, Piece, Writer

PARAMETERS = {
    "conv2d_input": "weight sent", "conv2d_weight": "x sent", "correlate2d": "x weight",
    "ungroup_images": "x size images", "attention_scale": "query scale", "block_triangle": "a b",
    "zero_at": "x index axis",
    "count_mirrored": "x n axis", "is_unclipped": "x scale zero_point low high", "new_eye": "x n",
    "fold": "x output_size kernel_size stride padding dilation", "group_columns": "x groups",
    "group_images": "x groups",
    "image_size": "shape", "kernel_rows": "x groups", "known_ratio": "x y floor",
    "put_diagonal": "x shape offset axis1 axis2", "reshape": "x shape", "resample": "x length axis mode step",
    "setitem": "x values index", "shift_by_one": "x axis reverse",
    "sum_repeats": "x shape repeats axis", "sum_tiles": "x shape reps", "sum_to_shape": "x shape",
    "undiag": "x shape k", "unfold": "x kernel_size stride padding dilation", "ungroup_columns": "x images",
    "unpad": "x shape pad_width mode", "unresample": "x shape axis mode step",
}  # fmt: skip
"""Names of the arguments of these functions, in order."""

USUAL = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "mode": "constant", "k": 0}
"""Default values of parameters that are not written."""

LAID_OUT_ANEW = (
    "group_columns", "ungroup_columns", "group_images", "kernel_rows", "ungroup_images", "check_independent",
    "as_channels",
)  # fmt: skip
"""Functions whose result has the entries of the first argument, possibly reordered or checked."""

CALLED = {"undiag": "diag", "inverse_order": "argsort", "unreduce": "broadcast"}
"""Functions with another name in NumPy."""

TRANSPOSES = {"unpad": "pad", "unresample": "resample"}
"""Functions that are transposes of other linear maps."""


def layout(writer: Writer, value: Any) -> Piece:
    """Lay out a symbol, an expression or a constant, in mathematical notation if there is one."""
    if isinstance(value, Expression) and value.function in TEXTBOOK:
        return TEXTBOOK[value.function](writer, value)
    return plain(writer, value)


def arguments_of(expression: Expression) -> dict[str, Any]:
    """Return the arguments of a function by name."""
    names = PARAMETERS.get(expression.function, "").split()
    return {**dict(zip(names, expression.args, strict=False)), **expression.params}


def is_call(value: Any, *functions: str) -> bool:
    """Return whether a value is a call of one of these functions."""
    return isinstance(value, Expression) and value.function in functions


def call(writer: Writer, name: str, *args: Any, **params: Any) -> Piece:
    """Lay out a function with its arguments, without default parameters."""
    named = {name: value for name, value in params.items() if value is not None and not _is_usual(name, value)}
    return function(writer, Expression(name, args, named))


def _is_usual(name: str, value: Any) -> bool:
    return not isinstance(value, Symbolic) and name in USUAL and USUAL[name] == value


def same_entries(writer: Writer, expression: Expression) -> Piece:
    """Lay out only the argument of a function that changes the memory layout."""
    return writer.piece(expression.args[0])


def rename(writer: Writer, expression: Expression) -> Piece:
    """Lay out a function under its NumPy name."""
    named = arguments_of(expression)
    if expression.function == "undiag":
        return call(writer, "diag", named["x"], k=named.get("k", 0))
    return call(writer, CALLED[expression.function], *expression.args, **expression.params)


def broadcast(writer: Writer, expression: Expression) -> Piece:
    """Lay out the gradient of a reduction, repeated along the reduced axes."""
    x, _, axis, *_ = (*expression.args, None, None)
    return function(writer, Expression("broadcast", (x,), {"axis": expression.params.get("axis", axis)}))


def transpose_of(writer: Writer, expression: Expression) -> Piece:
    """Lay out the transpose of a linear function."""
    named = arguments_of(expression)
    x = named.pop("x")
    named.pop("shape", None)
    axis, marks = named.pop("axis", None), writer.marks
    rest = [value for name, value in named.items() if value is not None and not _is_usual(name, value)]
    name = marks.transpose(marks.upright(TRANSPOSES[expression.function]))
    return Piece(marks.call(name, along(writer, axis), writer.comma_list((x, *rest))))


def placed_sum(words: str) -> Callable[[Writer, Expression], Piece]:
    """Lay out a sum with its condition below the sign."""

    def sum_over(writer: Writer, expression: Expression) -> Piece:
        named, marks = arguments_of(expression), writer.marks
        axis = along(writer, named.get("axis"))
        below = marks.row(marks.remark(f"{words}, "), axis) if axis else marks.remark(words)
        return Piece(marks.call(marks.upright("Σ"), below, writer.piece(named["x"]).code), POWER)

    return sum_over


def product_of_others(writer: Writer, expression: Expression) -> Piece:
    """Lay out, for each entry, the product of all other entries."""
    x, axis, *_ = (*expression.args, None)
    marks = writer.marks
    where = along(writer, expression.params.get("axis", axis))
    below = marks.row(marks.remark("all others, "), where) if where else marks.remark("all others")
    return Piece(marks.call(marks.upright("Π"), below, writer.piece(x).code), POWER)


def shift_by_one(writer: Writer, expression: Expression) -> Piece:
    """Lay out an array shifted by one step in time: the value at t − 1, or with `reverse` at t + 1."""
    named, marks = arguments_of(expression), writer.marks
    x = named["x"].args[0] if is_call(named["x"], "broadcast_to") else named["x"]
    place = marks.row(marks.upright("t"), marks.sign("+" if named.get("reverse") else "−"), marks.number("1"))
    return Piece(marks.index(writer.wrap(writer.piece(x), POWER), place))


def in_places(writer: Writer, here: str, where: str, elsewhere: str) -> Piece:
    """Lay out one value at some positions, and another at all others."""
    code = writer.marks.cases([(here, where), (elsewhere, "")], ("", "elsewhere"))
    return Piece(code, ATOM if writer.marks.flat else CHOICE)


def _at(writer: Writer, index: Any, axis: Any = None) -> str:
    marks = writer.marks
    inside = cast("tuple[Any, ...]", index if type(index) is tuple else (index,))
    label = marks.row(marks.remark("at "), marks.fence("[", writer.comma_list(inside), "]"))
    where = along(writer, axis)
    return marks.row(label, marks.remark(" along "), where) if where else label


def setitem(writer: Writer, expression: Expression) -> Piece:
    """Lay out an array with new entries at some positions."""
    named = arguments_of(expression)
    here, elsewhere = (writer.piece(named[name]).code for name in ("values", "x"))
    return in_places(writer, here, _at(writer, named["index"]), elsewhere)


def zero_at(writer: Writer, expression: Expression) -> Piece:
    """Lay out an array with zeros at some positions."""
    named, zero = arguments_of(expression), writer.marks.number("0")
    return in_places(writer, zero, _at(writer, named["index"], named.get("axis")), writer.piece(named["x"]).code)


def put_diagonal(writer: Writer, expression: Expression) -> Piece:
    """Lay out entries on a diagonal, and zeros elsewhere."""
    named, marks = arguments_of(expression), writer.marks
    axes = writer.comma_list((named.get("axis1", 0), named.get("axis2", 1)))
    number = writer.piece(named.get("offset", 0)).code
    where = marks.row(marks.remark("on diagonal "), number, marks.remark(" of axes "), axes)
    return in_places(writer, writer.piece(named["x"]).code, where, marks.number("0"))


def count_mirrored(writer: Writer, expression: Expression) -> Piece:
    """Lay out frequencies with their multiplicity in the spectrum of a real signal."""
    x, marks = arguments_of(expression)["x"], writer.marks
    ends = marks.remark("at frequencies 0 and n/2")
    return in_places(writer, writer.piece(x).code, ends, writer.piece(2 * x).code)


def fold(writer: Writer, expression: Expression) -> Piece:
    """Lay out windows folded back and added; with a kernel it is the transposed convolution."""
    named = arguments_of(expression)
    if "kernel_size" not in named:
        return function(writer, expression)
    x = named["x"].args[0] if is_call(named["x"], "ungroup_columns") else named["x"]
    how = {name: named.get(name) for name in ("stride", "padding", "dilation")}
    if is_call(x, "matmul") and is_call(x.args[0], "mT") and is_call(x.args[0].args[0], "kernel_rows"):
        rows, images = x.args[0].args[0], x.args[1]
        weight = arguments_of(rows)["x"]
        sent = images.args[0] if is_call(images, "group_images") else images
        return call(writer, "conv_transpose2d", sent, weight, **how, groups=arguments_of(rows).get("groups"))
    return call(writer, "fold", x, named["output_size"], named["kernel_size"], **how)


def correlate2d(writer: Writer, expression: Expression) -> Piece:
    """Write the product of a convolution as `conv2d`."""
    values = arguments_of(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return call(writer, "conv2d", values["x"], values["weight"], **settings)


def conv2d_input(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's images as the transposed convolution."""
    values = arguments_of(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return call(writer, "conv_transpose2d", values["sent"], values["weight"], **settings)


def conv2d_weight(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's weight as a sum of products over the images."""
    values, marks = arguments_of(expression), writer.marks
    settings = {name: values[name] for name in ("stride", "padding", "dilation") if name in values}
    columns = Expression("unfold", (values["x"], values["kernel_size"], *settings.values()))
    product = Operation("matmul", (values["sent"], Expression("mT", (columns,))))
    below = marks.remark("images, each group apart" if values.get("groups", 1) != 1 else "images")
    return Piece(marks.call(marks.upright("Σ"), below, writer.piece(product).code), POWER)


def unfold(writer: Writer, expression: Expression) -> Piece:
    """Lay out every window as a column."""
    named = arguments_of(expression)
    if "kernel_size" not in named:
        return function(writer, expression)
    how = {name: named.get(name) for name in ("stride", "padding", "dilation")}
    return call(writer, "unfold", named["x"], named["kernel_size"], **how)


def reshape(writer: Writer, expression: Expression) -> Piece:
    """Lay out a reshape; for products of windows it is the sum over all images."""
    named = arguments_of(expression)
    x = named["x"]
    if is_call(x, "matmul") and is_call(x.args[1], "mT") and is_call(x.args[1].args[0], "group_columns"):
        marks = writer.marks
        sent, windows = x.args[0], x.args[1].args[0]
        apart = arguments_of(windows).get("groups", 1) != 1
        product = Operation("matmul", (sent, Expression("mT", (windows.args[0],))))
        below = marks.remark("images, each group apart" if apart else "images")
        return Piece(marks.call(marks.upright("Σ"), below, writer.piece(product).code), POWER)
    return function(writer, expression)


def windows(writer: Writer, expression: Expression) -> Piece:
    """Lay out a number for each window, repeated at all its positions."""
    marks, x = writer.marks, writer.piece(expression.args[0])
    return Piece(marks.call(marks.upright("broadcast"), marks.remark("window"), x.code))


def window_counts(writer: Writer, _: Expression) -> Piece:
    """Lay out the number of entries of each window."""
    marks = writer.marks
    return Piece(marks.index(marks.upright("count"), marks.remark("window")))


def attention_scale(writer: Writer, expression: Expression) -> Piece:
    """Lay out the scale of attention scores: 1 / √d by default, where d is the length of a query."""
    scale = arguments_of(expression).get("scale")
    return writer.piece(1 / Name("sqrt")(Name("d")) if scale is None else scale)


def hermitian_part(writer: Writer, expression: Expression) -> Piece:
    """Lay out the mean of a matrix and its adjoint."""
    (x,) = expression.args
    return writer.piece((x + Name("mH")(x)) / 2)


def block_triangle(writer: Writer, expression: Expression) -> Piece:
    """Lay out a block matrix: a and b above, 0 and a below."""
    named, marks = arguments_of(expression), writer.marks
    a, b = (writer.piece(named[name]).code for name in ("a", "b"))
    inside = marks.row(a, marks.comma, b, marks.mark("; "), marks.number("0"), marks.comma, a)
    return Piece(marks.fence("[", inside, "]"))


def known_ratio(writer: Writer, expression: Expression) -> Piece:
    """Lay out a quotient whose divisor is not too small."""
    named = arguments_of(expression)
    return divide(writer, Operation("divide", (named["x"], named["y"])))


def is_unclipped(writer: Writer, expression: Expression) -> Piece:
    """Lay out 1 if a rounded number is inside the integer range, else 0."""
    named, marks = arguments_of(expression), writer.marks
    rounded = named["x"] / named["scale"]
    if not (isinstance(named["zero_point"], int) and named["zero_point"] == 0):
        rounded = rounded + named["zero_point"]
    low, nearest, high = (writer.piece(each).code for each in (named["low"], Name("round")(rounded), named["high"]))
    return Piece(marks.fence("[", marks.row(low, marks.sign("≤"), nearest, marks.sign("≤"), high), "]"))


def in_words(words: str) -> Callable[[Writer, Expression], Piece]:
    """Lay out a function of shapes in words."""

    def remark(writer: Writer, expression: Expression) -> Piece:
        of = expression.args[0]
        whose = of.name if isinstance(of, Shape) else ""
        return Piece(writer.marks.remark(words.format(of=whose, count=of)))

    return remark


def cuts(writer: Writer, _: Expression) -> Piece:
    """Lay out the positions where joined parts end."""
    return Piece(writer.marks.remark("where each part ends"))


def opposite(writer: Writer, expression: Expression) -> Piece:
    """Lay out a shift in the opposite direction."""
    (by,) = expression.args
    return Piece(writer.marks.row(writer.marks.mark("−"), writer.piece(by).code))


def other_norm(writer: Writer, expression: Expression) -> Piece:
    """Lay out the normalisation of the transpose of a Fourier transform."""
    (norm,) = expression.args
    return writer.piece({"backward": "forward", "forward": "backward", None: "forward"}.get(norm, norm))


def last_axes(writer: Writer, expression: Expression) -> Piece:
    """Lay out the last axes."""
    (count,) = expression.args
    return Piece(writer.marks.remark("last axis" if count == 1 else f"last {count} axes"))


def number(digits: str) -> Callable[[Writer, Expression], Piece]:
    """Lay out a constant array."""
    return lambda writer, _: Piece(writer.marks.number(digits))


def identity(writer: Writer, _: Expression) -> Piece:
    """Lay out the identity matrix."""
    return Piece(writer.marks.upright("I"))


def adjoint(writer: Writer, expression: Expression) -> Piece:
    """Lay out the adjoint of a matrix; the adjoint of a conjugate is the transpose."""
    (x,) = expression.args
    if is_call(x, "conj", "conjugate"):
        return writer.piece(Name("mT")(x.args[0]))
    return plain(writer, expression)


def part(writer: Writer, expression: Expression) -> Piece:
    """Lay out an index; the shape of another array is written in words."""
    array, index = expression.args
    if is_call(index, "corner"):
        marks = writer.marks
        whose = index.args[0].name if isinstance(index.args[0], Shape) else "index"
        return Piece(marks.index(writer.wrap(writer.piece(array), POWER), marks.remark(f"as far as {whose} goes")))
    return getitem(writer, expression)


TEXTBOOK: dict[str, Callable[[Writer, Expression], Piece]] = {
    **dict.fromkeys(LAID_OUT_ANEW, same_entries),
    **dict.fromkeys(("undiag", "inverse_order"), rename),
    **dict.fromkeys(TRANSPOSES, transpose_of),
    "unreduce": broadcast,
    "sum_to_shape": placed_sum("repeated axes"), "sum_repeats": placed_sum("repeats"), "sum_tiles": placed_sum("tiles"),
    "product_of_others": product_of_others,
    "shift_by_one": shift_by_one,
    "setitem": setitem, "zero_at": zero_at, "put_diagonal": put_diagonal, "count_mirrored": count_mirrored,
    "conv2d_input": conv2d_input, "conv2d_weight": conv2d_weight, "correlate2d": correlate2d,
    "fold": fold, "unfold": unfold, "reshape": reshape, "window_columns": windows, "window_counts": window_counts,
    "attention_scale": attention_scale,
    "hermitian_part": hermitian_part, "block_triangle": block_triangle, "known_ratio": known_ratio, "mH": adjoint,
    "is_unclipped": is_unclipped,
    "cuts": cuts, "opposite": opposite, "other_norm": other_norm, "last_axes": last_axes,
    "all_but_channels": in_words("all axes but the channels’"),
    "channel_shape": in_words("one for each channel"), "image_size": in_words("height and width of {of}"),
    "new_zeros": number("0"), "new_ones": number("1"), "new_eye": identity,
    "getitem": part,
}  # fmt: skip
"""Layouts by function."""
