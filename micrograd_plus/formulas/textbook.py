"""Layouts for functions that only this engine has, in terms of mathematics or of well-known libraries.

Rules move, repeat, cut and place entries with functions that have no textbook name. Each has a layout here: a sum over
repeated entries, a case for each position, an index t − 1, an identity matrix, the transpose of a known function.
Functions that only rearrange entries are not written at all.
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
    "count_mirror_images": "x n axis", "is_unclipped": "x scale zero_point low high", "new_eye": "x n",
    "fold": "x output_size kernel_size stride padding dilation", "group_columns": "x groups",
    "group_images": "x groups",
    "image_size": "shape", "kernel_rows": "x groups", "known_ratio": "x y floor",
    "put_diagonal": "x shape offset axis1 axis2", "reshape": "x shape", "resample": "x length axis mode step",
    "setitem": "x values index", "shift_by_one": "x axis reverse",
    "sum_repeats": "x shape repeats axis", "sum_tiles": "x shape reps", "sum_to_shape": "x shape",
    "undiag": "x shape k", "unfold": "x kernel_size stride padding dilation", "ungroup_columns": "x images",
    "unpad": "x shape pad_width mode", "unresample": "x shape axis mode step",
}  # fmt: skip
"""Names of the arguments of some functions, in order."""

USUAL = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "mode": "constant", "k": 0}
"""Default values: parameters with these values are not written."""

LAID_OUT_ANEW = (
    "group_columns", "ungroup_columns", "group_images", "kernel_rows", "ungroup_images", "check_independent",
    "as_channels",
)  # fmt: skip
"""Functions that return the entries of their first argument in another order, or check them."""

CALLED = {"undiag": "diag", "inverse_order": "argsort", "unreduce": "broadcast"}
"""NumPy's names of some functions."""

TRANSPOSES = {"unpad": "pad", "unresample": "resample"}
"""Functions that are the transposes of others, as linear maps."""


def layout(writer: Writer, value: Any) -> Piece:
    """Return the piece of a symbol, an expression or a constant, in textbook notation if there is one."""
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


def short_call(writer: Writer, name: str, *args: Any, **params: Any) -> Piece:
    """Write a function with its arguments, except parameters with default values."""
    values = {name: value for name, value in params.items() if value is not None and not _is_usual(name, value)}
    return function(writer, Expression(name, args, values))


def _is_usual(name: str, value: Any) -> bool:
    return not isinstance(value, Symbolic) and name in USUAL and USUAL[name] == value


def entries_only(writer: Writer, expression: Expression) -> Piece:
    """Write only the entries."""
    return writer.piece(expression.args[0])


def rename(writer: Writer, expression: Expression) -> Piece:
    """Write a function under NumPy's name."""
    values = arguments_of(expression)
    if expression.function == "undiag":
        return short_call(writer, "diag", values["x"], k=values.get("k", 0))
    return short_call(writer, CALLED[expression.function], *expression.args, **expression.params)


def broadcast(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a reduction: repeated along the reduced axes."""
    x, _, axis, *_ = (*expression.args, None, None)
    return function(writer, Expression("broadcast", (x,), {"axis": expression.params.get("axis", axis)}))


def transpose_of(writer: Writer, expression: Expression) -> Piece:
    """Write the transpose of a linear function and its arguments."""
    values = arguments_of(expression)
    x = values.pop("x")
    values.pop("shape", None)
    axis, marks = values.pop("axis", None), writer.marks
    rest = [value for name, value in values.items() if value is not None and not _is_usual(name, value)]
    name = marks.transpose(marks.upright(TRANSPOSES[expression.function]))
    return Piece(marks.call(name, along(writer, axis), writer.comma_list((x, *rest))))


def sum_with_limits(words: str) -> Callable[[Writer, Expression], Piece]:
    """Return a layout for a sum with words below its Σ."""

    def write_sum(writer: Writer, expression: Expression) -> Piece:
        values, marks = arguments_of(expression), writer.marks
        axis = along(writer, values.get("axis"))
        below = marks.row(marks.remark(f"{words}, "), axis) if axis else marks.remark(words)
        return Piece(marks.call(marks.upright("Σ"), below, writer.piece(values["x"]).code), POWER)

    return write_sum


def product_of_others(writer: Writer, expression: Expression) -> Piece:
    """Write, for each entry, the product of all others."""
    x, axis, *_ = (*expression.args, None)
    marks = writer.marks
    where = along(writer, expression.params.get("axis", axis))
    below = marks.row(marks.remark("all others, "), where) if where else marks.remark("all others")
    return Piece(marks.call(marks.upright("Π"), below, writer.piece(x).code), POWER)


def shift_by_one(writer: Writer, expression: Expression) -> Piece:
    """Write an array shifted by one in time: its value at t − 1, or at t + 1 with `reverse`."""
    values, marks = arguments_of(expression), writer.marks
    x = values["x"].args[0] if is_call(values["x"], "broadcast_to") else values["x"]
    place = marks.row(marks.upright("t"), marks.sign("+" if values.get("reverse") else "−"), marks.number("1"))
    return Piece(marks.subscript(writer.parenthesize(writer.piece(x), POWER), place))


def in_places(writer: Writer, here: str, where: str, elsewhere: str) -> Piece:
    """Write one value for some positions and another value elsewhere."""
    code = writer.marks.cases([(here, where), (elsewhere, "")], ("", "elsewhere"))
    return Piece(code, ATOM if writer.marks.flat else CHOICE)


def _at(writer: Writer, index: Any, axis: Any = None) -> str:
    marks = writer.marks
    inside = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
    code = marks.row(marks.remark("at "), marks.fence("[", writer.comma_list(inside), "]"))
    where = along(writer, axis)
    return marks.row(code, marks.remark(" along "), where) if where else code


def setitem(writer: Writer, expression: Expression) -> Piece:
    """Write an array with new entries at some positions."""
    values = arguments_of(expression)
    here, elsewhere = (writer.piece(values[name]).code for name in ("values", "x"))
    return in_places(writer, here, _at(writer, values["index"]), elsewhere)


def zero_at(writer: Writer, expression: Expression) -> Piece:
    """Write an array with zeros at some positions."""
    values, zero = arguments_of(expression), writer.marks.number("0")
    return in_places(writer, zero, _at(writer, values["index"], values.get("axis")), writer.piece(values["x"]).code)


def put_diagonal(writer: Writer, expression: Expression) -> Piece:
    """Write entries on a diagonal, and zeros elsewhere."""
    values, marks = arguments_of(expression), writer.marks
    axes = writer.comma_list((values.get("axis1", 0), values.get("axis2", 1)))
    number = writer.piece(values.get("offset", 0)).code
    where = marks.row(marks.remark("on diagonal "), number, marks.remark(" of axes "), axes)
    return in_places(writer, writer.piece(values["x"]).code, where, marks.number("0"))


def mirrored_counts(writer: Writer, expression: Expression) -> Piece:
    """Write frequencies counted twice, except the two that a real spectrum has once."""
    x, marks = arguments_of(expression)["x"], writer.marks
    ends = marks.remark("at frequencies 0 and n/2")
    return in_places(writer, writer.piece(x).code, ends, writer.piece(2 * x).code)


def fold(writer: Writer, expression: Expression) -> Piece:
    """Write `fold`; of a product with a kernel it is the transposed convolution."""
    values = arguments_of(expression)
    if "kernel_size" not in values:
        return function(writer, expression)
    x = values["x"].args[0] if is_call(values["x"], "ungroup_columns") else values["x"]
    how = {name: values.get(name) for name in ("stride", "padding", "dilation")}
    if is_call(x, "matmul") and is_call(x.args[0], "mT") and is_call(x.args[0].args[0], "kernel_rows"):
        rows, images = x.args[0].args[0], x.args[1]
        weight = arguments_of(rows)["x"]
        sent = images.args[0] if is_call(images, "group_images") else images
        return short_call(writer, "conv_transpose2d", sent, weight, **how, groups=arguments_of(rows).get("groups"))
    return short_call(writer, "fold", x, values["output_size"], values["kernel_size"], **how)


def correlate2d(writer: Writer, expression: Expression) -> Piece:
    """Write the product of a convolution as `conv2d`."""
    values = arguments_of(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return short_call(writer, "conv2d", values["x"], values["weight"], **settings)


def conv2d_input(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's images as the transposed convolution."""
    values = arguments_of(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return short_call(writer, "conv_transpose2d", values["sent"], values["weight"], **settings)


def conv2d_weight(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's weight as a sum of products over the images."""
    values, marks = arguments_of(expression), writer.marks
    settings = {name: values[name] for name in ("stride", "padding", "dilation") if name in values}
    columns = Expression("unfold", (values["x"], values["kernel_size"], *settings.values()))
    product = Operation("matmul", (values["sent"], Expression("mT", (columns,))))
    below = marks.remark("images, each group apart" if values.get("groups", 1) != 1 else "images")
    return Piece(marks.call(marks.upright("Σ"), below, writer.piece(product).code), POWER)


def unfold(writer: Writer, expression: Expression) -> Piece:
    """Write every window as a column."""
    values = arguments_of(expression)
    if "kernel_size" not in values:
        return function(writer, expression)
    how = {name: values.get(name) for name in ("stride", "padding", "dilation")}
    return short_call(writer, "unfold", values["x"], values["kernel_size"], **how)


def reshape(writer: Writer, expression: Expression) -> Piece:
    """Write a new shape; a product of windows becomes a sum over images."""
    values = arguments_of(expression)
    x = values["x"]
    if is_call(x, "matmul") and is_call(x.args[1], "mT") and is_call(x.args[1].args[0], "group_columns"):
        marks = writer.marks
        sent, windows = x.args[0], x.args[1].args[0]
        apart = arguments_of(windows).get("groups", 1) != 1
        product = Operation("matmul", (sent, Expression("mT", (windows.args[0],))))
        below = marks.remark("images, each group apart" if apart else "images")
        return Piece(marks.call(marks.upright("Σ"), below, writer.piece(product).code), POWER)
    return function(writer, expression)


def windows(writer: Writer, expression: Expression) -> Piece:
    """Write a number for each window, repeated for all its entries."""
    marks, x = writer.marks, writer.piece(expression.args[0])
    return Piece(marks.call(marks.upright("broadcast"), marks.remark("window"), x.code))


def window_counts(writer: Writer, _: Expression) -> Piece:
    """Write the number of entries of each window."""
    marks = writer.marks
    return Piece(marks.subscript(marks.upright("count"), marks.remark("window")))


def attention_scale(writer: Writer, expression: Expression) -> Piece:
    """Write the factor of attention scores: by default 1 / √d, with d the length of a query."""
    scale = arguments_of(expression).get("scale")
    return writer.piece(1 / Name("sqrt")(Name("d")) if scale is None else scale)


def hermitian_part(writer: Writer, expression: Expression) -> Piece:
    """Write the mean of a matrix and its adjoint."""
    (x,) = expression.args
    return writer.piece((x + Name("mH")(x)) / 2)


def block_triangle(writer: Writer, expression: Expression) -> Piece:
    """Write the block matrix [a, b; 0, a]."""
    values, marks = arguments_of(expression), writer.marks
    a, b = (writer.piece(values[name]).code for name in ("a", "b"))
    inside = marks.row(a, marks.comma, b, marks.mark("; "), marks.number("0"), marks.comma, a)
    return Piece(marks.fence("[", inside, "]"))


def known_ratio(writer: Writer, expression: Expression) -> Piece:
    """Write a quotient; its check for small divisors is not written."""
    values = arguments_of(expression)
    return divide(writer, Operation("divide", (values["x"], values["y"])))


def is_unclipped(writer: Writer, expression: Expression) -> Piece:
    """Write the condition that a rounded number is within the range of the integers."""
    values, marks = arguments_of(expression), writer.marks
    rounded = values["x"] / values["scale"]
    if not (isinstance(values["zero_point"], int) and values["zero_point"] == 0):
        rounded = rounded + values["zero_point"]
    low, nearest, high = (writer.piece(each).code for each in (values["low"], Name("round")(rounded), values["high"]))
    return Piece(marks.fence("[", marks.row(low, marks.sign("≤"), nearest, marks.sign("≤"), high), "]"))


def words(text: str) -> Callable[[Writer, Expression], Piece]:
    """Return a layout that writes a function of shapes in words."""

    def remark(writer: Writer, expression: Expression) -> Piece:
        of = expression.args[0]
        whose = of.name if isinstance(of, Shape) else ""
        return Piece(writer.marks.remark(text.format(of=whose, count=of)))

    return remark


def cuts(writer: Writer, _: Expression) -> Piece:
    """Write where the joined parts end."""
    return Piece(writer.marks.remark("where each part ends"))


def opposite(writer: Writer, expression: Expression) -> Piece:
    """Write a shift in the other direction."""
    (by,) = expression.args
    return Piece(writer.marks.row(writer.marks.mark("−"), writer.piece(by).code))


def other_norm(writer: Writer, expression: Expression) -> Piece:
    """Write the normalisation of the transpose of a Fourier transform."""
    (norm,) = expression.args
    return writer.piece({"backward": "forward", "forward": "backward", None: "forward"}.get(norm, norm))


def last_axes(writer: Writer, expression: Expression) -> Piece:
    """Write the number of last axes."""
    (count,) = expression.args
    return Piece(writer.marks.remark("last axis" if count == 1 else f"last {count} axes"))


def number(digits: str) -> Callable[[Writer, Expression], Piece]:
    """Return a layout for an array whose entries are all the same."""
    return lambda writer, _: Piece(writer.marks.number(digits))


def identity(writer: Writer, _: Expression) -> Piece:
    """Write the identity matrix."""
    return Piece(writer.marks.upright("I"))


def adjoint(writer: Writer, expression: Expression) -> Piece:
    """Write the adjoint of a matrix; the adjoint of a conjugate is the transpose."""
    (x,) = expression.args
    if is_call(x, "conj", "conjugate"):
        return writer.piece(Name("mT")(x.args[0]))
    return plain(writer, expression)


def part(writer: Writer, expression: Expression) -> Piece:
    """Write a part of an array; a corner with the size of another array is described in words."""
    array, index = expression.args
    if is_call(index, "corner"):
        marks = writer.marks
        whose = index.args[0].name if isinstance(index.args[0], Shape) else "index"
        return Piece(
            marks.subscript(writer.parenthesize(writer.piece(array), POWER), marks.remark(f"as far as {whose} goes"))
        )
    return getitem(writer, expression)


TEXTBOOK: dict[str, Callable[[Writer, Expression], Piece]] = {
    **dict.fromkeys(LAID_OUT_ANEW, entries_only),
    **dict.fromkeys(("undiag", "inverse_order"), rename),
    **dict.fromkeys(TRANSPOSES, transpose_of),
    "unreduce": broadcast,
    "sum_to_shape": sum_with_limits("repeated axes"),
    "sum_repeats": sum_with_limits("repeats"), "sum_tiles": sum_with_limits("tiles"),
    "product_of_others": product_of_others,
    "shift_by_one": shift_by_one,
    "setitem": setitem, "zero_at": zero_at, "put_diagonal": put_diagonal, "count_mirror_images": mirrored_counts,
    "conv2d_input": conv2d_input, "conv2d_weight": conv2d_weight, "correlate2d": correlate2d,
    "fold": fold, "unfold": unfold, "reshape": reshape, "window_columns": windows, "window_counts": window_counts,
    "attention_scale": attention_scale,
    "hermitian_part": hermitian_part, "block_triangle": block_triangle, "known_ratio": known_ratio, "mH": adjoint,
    "is_unclipped": is_unclipped,
    "cuts": cuts, "opposite": opposite, "other_norm": other_norm, "last_axes": last_axes,
    "all_but_channels": words("all axes but the channels’"),
    "channel_shape": words("one for each channel"), "image_size": words("height and width of {of}"),
    "new_zeros": number("0"), "new_ones": number("1"), "new_eye": identity,
    "getitem": part,
}  # fmt: skip
"""The layout of each function."""
