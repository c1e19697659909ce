"""Functions of this engine's namespaces in the words of mathematics, or of libraries that every reader knows.

Rules call what moves, repeats, cuts and places entries by names of their own. Each has its layout here: a sum over what
was repeated, a case for each place, an index t − 1, an identity, the transpose of a known function. What only lays
entries out anew is not written at all.
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
"""What the arguments are called of functions that are read here, in their order."""

USUAL = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "mode": "constant", "k": 0}
"""Parameters that go without saying where they are this."""

LAID_OUT_ANEW = (
    "group_columns", "ungroup_columns", "group_images", "kernel_rows", "ungroup_images", "check_independent",
    "as_channels",
)  # fmt: skip
"""Functions whose result has the entries of their first argument, in another order or checked."""

CALLED = {"undiag": "diag", "inverse_order": "argsort", "unreduce": "broadcast"}
"""Functions that NumPy has by another name."""

TRANSPOSES = {"unpad": "pad", "unresample": "resample"}
"""Functions that are the transposes of others, as linear maps."""


def layout(writer: Writer, value: Any) -> Piece:
    """A symbol, an expression or a constant: in the words of mathematics where there are any."""
    if isinstance(value, Expression) and value.function in TEXTBOOK:
        return TEXTBOOK[value.function](writer, value)
    return plain(writer, value)


def given(expression: Expression) -> dict[str, Any]:
    """The arguments of a function by their names."""
    names = PARAMETERS.get(expression.function, "").split()
    return {**dict(zip(names, expression.args, strict=False)), **expression.params}


def is_call(value: Any, *functions: str) -> bool:
    """Whether something is one of these functions, applied."""
    return isinstance(value, Expression) and value.function in functions


def called(writer: Writer, name: str, *args: Any, **params: Any) -> Piece:
    """A function with arguments, without the parameters that are what they usually are."""
    told = {name: value for name, value in params.items() if value is not None and not _is_usual(name, value)}
    return function(writer, Expression(name, args, told))


def _is_usual(name: str, value: Any) -> bool:
    return not isinstance(value, Symbolic) and name in USUAL and USUAL[name] == value


def laid_out_anew(writer: Writer, expression: Expression) -> Piece:
    """The entries, however they lie."""
    return writer.piece(expression.args[0])


def renamed(writer: Writer, expression: Expression) -> Piece:
    """A function by the name that NumPy has for it."""
    told = given(expression)
    if expression.function == "undiag":
        return called(writer, "diag", told["x"], k=told.get("k", 0))
    return called(writer, CALLED[expression.function], *expression.args, **expression.params)


def broadcast(writer: Writer, expression: Expression) -> Piece:
    """What a reduction sends back: repeated along the axes that it took away."""
    x, _, axis, *_ = (*expression.args, None, None)
    return function(writer, Expression("broadcast", (x,), {"axis": expression.params.get("axis", axis)}))


def transpose_of(writer: Writer, expression: Expression) -> Piece:
    """The transpose of a linear function, applied."""
    told = given(expression)
    x = told.pop("x")
    told.pop("shape", None)
    axis, marks = told.pop("axis", None), writer.marks
    rest = [value for name, value in told.items() if value is not None and not _is_usual(name, value)]
    name = marks.transposed(marks.upright(TRANSPOSES[expression.function]))
    return Piece(marks.called(name, along(writer, axis), writer.listed((x, *rest))))


def placed_sum(words: str) -> Callable[[Writer, Expression], Piece]:
    """A sum whose lower end says what is added up."""

    def summed(writer: Writer, expression: Expression) -> Piece:
        told, marks = given(expression), writer.marks
        axis = along(writer, told.get("axis"))
        below = marks.row(marks.remark(f"{words}, "), axis) if axis else marks.remark(words)
        return Piece(marks.called(marks.upright("Σ"), below, writer.piece(told["x"]).code), POWER)

    return summed


def product_of_others(writer: Writer, expression: Expression) -> Piece:
    """For each entry the product of all the others."""
    x, axis, *_ = (*expression.args, None)
    marks = writer.marks
    where = along(writer, expression.params.get("axis", axis))
    below = marks.row(marks.remark("all others, "), where) if where else marks.remark("all others")
    return Piece(marks.called(marks.upright("Π"), below, writer.piece(x).code), POWER)


def shift_by_one(writer: Writer, expression: Expression) -> Piece:
    """An array one place on in time: at t what it was at t − 1, or with `reverse` what it is at t + 1."""
    told, marks = given(expression), writer.marks
    x = told["x"].args[0] if is_call(told["x"], "broadcast_to") else told["x"]
    place = marks.row(marks.upright("t"), marks.sign("+" if told.get("reverse") else "−"), marks.number("1"))
    return Piece(marks.indexed(writer.fenced(writer.piece(x), POWER), place))


def in_places(writer: Writer, here: str, where: str, elsewhere: str) -> Piece:
    """One thing in some places, another in all others."""
    code = writer.marks.cases([(here, where), (elsewhere, "")], ("", "elsewhere"))
    return Piece(code, ATOM if writer.marks.flat else CHOICE)


def _at(writer: Writer, index: Any, axis: Any = None) -> str:
    marks = writer.marks
    inside = cast("tuple[Any, ...]", index if type(index) is tuple else (index,))
    said = marks.row(marks.remark("at "), marks.fence("[", writer.listed(inside), "]"))
    where = along(writer, axis)
    return marks.row(said, marks.remark(" along "), where) if where else said


def setitem(writer: Writer, expression: Expression) -> Piece:
    """An array with other entries in some places."""
    told = given(expression)
    here, elsewhere = (writer.piece(told[name]).code for name in ("values", "x"))
    return in_places(writer, here, _at(writer, told["index"]), elsewhere)


def zero_at(writer: Writer, expression: Expression) -> Piece:
    """An array with zeros in some places."""
    told, zero = given(expression), writer.marks.number("0")
    return in_places(writer, zero, _at(writer, told["index"], told.get("axis")), writer.piece(told["x"]).code)


def put_diagonal(writer: Writer, expression: Expression) -> Piece:
    """Entries on a diagonal, and zeros beside it."""
    told, marks = given(expression), writer.marks
    axes = writer.listed((told.get("axis1", 0), told.get("axis2", 1)))
    number = writer.piece(told.get("offset", 0)).code
    where = marks.row(marks.remark("on diagonal "), number, marks.remark(" of axes "), axes)
    return in_places(writer, writer.piece(told["x"]).code, where, marks.number("0"))


def count_mirrored(writer: Writer, expression: Expression) -> Piece:
    """Frequencies counted as often as the spectrum of real numbers has them."""
    x, marks = given(expression)["x"], writer.marks
    ends = marks.remark("at frequencies 0 and n/2")
    return in_places(writer, writer.piece(x).code, ends, writer.piece(2 * x).code)


def fold(writer: Writer, expression: Expression) -> Piece:
    """Columns of windows laid back, overlaps added; of what a kernel sends back it is the transposed convolution."""
    told = given(expression)
    if "kernel_size" not in told:
        return function(writer, expression)
    x = told["x"].args[0] if is_call(told["x"], "ungroup_columns") else told["x"]
    how = {name: told.get(name) for name in ("stride", "padding", "dilation")}
    if is_call(x, "matmul") and is_call(x.args[0], "mT") and is_call(x.args[0].args[0], "kernel_rows"):
        rows, images = x.args[0].args[0], x.args[1]
        weight = given(rows)["x"]
        sent = images.args[0] if is_call(images, "group_images") else images
        return called(writer, "conv_transpose2d", sent, weight, **how, groups=given(rows).get("groups"))
    return called(writer, "fold", x, told["output_size"], told["kernel_size"], **how)


def correlate2d(writer: Writer, expression: Expression) -> Piece:
    """Write the product of a convolution as `conv2d`."""
    values = given(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return called(writer, "conv2d", values["x"], values["weight"], **settings)


def conv2d_input(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's images as the transposed convolution."""
    values = given(expression)
    settings = {name: values.get(name) for name in ("stride", "padding", "dilation", "groups")}
    return called(writer, "conv_transpose2d", values["sent"], values["weight"], **settings)


def conv2d_weight(writer: Writer, expression: Expression) -> Piece:
    """Write the gradient of a convolution's weight as a sum of products over the images."""
    values, marks = given(expression), writer.marks
    settings = {name: values[name] for name in ("stride", "padding", "dilation") if name in values}
    columns = Expression("unfold", (values["x"], values["kernel_size"], *settings.values()))
    product = Operation("matmul", (values["sent"], Expression("mT", (columns,))))
    below = marks.remark("images, each group apart" if values.get("groups", 1) != 1 else "images")
    return Piece(marks.called(marks.upright("Σ"), below, writer.piece(product).code), POWER)


def unfold(writer: Writer, expression: Expression) -> Piece:
    """Every window as a column."""
    told = given(expression)
    if "kernel_size" not in told:
        return function(writer, expression)
    how = {name: told.get(name) for name in ("stride", "padding", "dilation")}
    return called(writer, "unfold", told["x"], told["kernel_size"], **how)


def reshape(writer: Writer, expression: Expression) -> Piece:
    """Another shape; of products of windows it is the sum over all images."""
    told = given(expression)
    x = told["x"]
    if is_call(x, "matmul") and is_call(x.args[1], "mT") and is_call(x.args[1].args[0], "group_columns"):
        marks = writer.marks
        sent, windows = x.args[0], x.args[1].args[0]
        apart = given(windows).get("groups", 1) != 1
        product = Operation("matmul", (sent, Expression("mT", (windows.args[0],))))
        below = marks.remark("images, each group apart" if apart else "images")
        return Piece(marks.called(marks.upright("Σ"), below, writer.piece(product).code), POWER)
    return function(writer, expression)


def windows(writer: Writer, expression: Expression) -> Piece:
    """A number for each window, repeated at all its places."""
    marks, x = writer.marks, writer.piece(expression.args[0])
    return Piece(marks.called(marks.upright("broadcast"), marks.remark("window"), x.code))


def window_counts(writer: Writer, _: Expression) -> Piece:
    """How many entries each window has."""
    marks = writer.marks
    return Piece(marks.indexed(marks.upright("count"), marks.remark("window")))


def attention_scale(writer: Writer, expression: Expression) -> Piece:
    """What scores are multiplied by: unless told, 1 / √d, where d is the length of a query."""
    scale = given(expression).get("scale")
    return writer.piece(1 / Name("sqrt")(Name("d")) if scale is None else scale)


def hermitian_part(writer: Writer, expression: Expression) -> Piece:
    """The mean of a matrix and its adjoint."""
    (x,) = expression.args
    return writer.piece((x + Name("mH")(x)) / 2)


def block_triangle(writer: Writer, expression: Expression) -> Piece:
    """A matrix of four: a and b above, 0 and a below."""
    told, marks = given(expression), writer.marks
    a, b = (writer.piece(told[name]).code for name in ("a", "b"))
    inside = marks.row(a, marks.comma, b, marks.mark("; "), marks.number("0"), marks.comma, a)
    return Piece(marks.fence("[", inside, "]"))


def known_ratio(writer: Writer, expression: Expression) -> Piece:
    """A quotient, where what is divided by is not too small to be known."""
    told = given(expression)
    return divide(writer, Operation("divide", (told["x"], told["y"])))


def is_unclipped(writer: Writer, expression: Expression) -> Piece:
    """1 where a rounded number lies within the whole numbers that there are, else 0."""
    told, marks = given(expression), writer.marks
    rounded = told["x"] / told["scale"]
    if not (isinstance(told["zero_point"], int) and told["zero_point"] == 0):
        rounded = rounded + told["zero_point"]
    low, nearest, high = (writer.piece(each).code for each in (told["low"], Name("round")(rounded), told["high"]))
    return Piece(marks.fence("[", marks.row(low, marks.sign("≤"), nearest, marks.sign("≤"), high), "]"))


def said(words: str) -> Callable[[Writer, Expression], Piece]:
    """A function of shapes alone, in words."""

    def remark(writer: Writer, expression: Expression) -> Piece:
        of = expression.args[0]
        whose = of.name if isinstance(of, Shape) else ""
        return Piece(writer.marks.remark(words.format(of=whose, count=of)))

    return remark


def cuts(writer: Writer, _: Expression) -> Piece:
    """Where parts that were joined end."""
    return Piece(writer.marks.remark("where each part ends"))


def opposite(writer: Writer, expression: Expression) -> Piece:
    """A shift the other way."""
    (by,) = expression.args
    return Piece(writer.marks.row(writer.marks.mark("−"), writer.piece(by).code))


def other_norm(writer: Writer, expression: Expression) -> Piece:
    """What the transpose of a Fourier transform is scaled by: the other of two, or the same."""
    (norm,) = expression.args
    return writer.piece({"backward": "forward", "forward": "backward", None: "forward"}.get(norm, norm))


def last_axes(writer: Writer, expression: Expression) -> Piece:
    """So many axes from the end."""
    (count,) = expression.args
    return Piece(writer.marks.remark("last axis" if count == 1 else f"last {count} axes"))


def number(digits: str) -> Callable[[Writer, Expression], Piece]:
    """An array of which every entry is the same."""
    return lambda writer, _: Piece(writer.marks.number(digits))


def identity(writer: Writer, _: Expression) -> Piece:
    """The identity matrix."""
    return Piece(writer.marks.upright("I"))


def adjoint(writer: Writer, expression: Expression) -> Piece:
    """The adjoint of a matrix; that of a conjugate is the transpose."""
    (x,) = expression.args
    if is_call(x, "conj", "conjugate"):
        return writer.piece(Name("mT")(x.args[0]))
    return plain(writer, expression)


def part(writer: Writer, expression: Expression) -> Piece:
    """A part of an array; the corner that another array would fill is said in words."""
    array, index = expression.args
    if is_call(index, "corner"):
        marks = writer.marks
        whose = index.args[0].name if isinstance(index.args[0], Shape) else "index"
        return Piece(marks.indexed(writer.fenced(writer.piece(array), POWER), marks.remark(f"as far as {whose} goes")))
    return getitem(writer, expression)


TEXTBOOK: dict[str, Callable[[Writer, Expression], Piece]] = {
    **dict.fromkeys(LAID_OUT_ANEW, laid_out_anew),
    **dict.fromkeys(("undiag", "inverse_order"), renamed),
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
    "all_but_channels": said("all axes but the channels’"),
    "channel_shape": said("one for each channel"), "image_size": said("height and width of {of}"),
    "new_zeros": number("0"), "new_ones": number("1"), "new_eye": identity,
    "getitem": part,
}  # fmt: skip
"""How each is written; those of more than one word are said where they stand."""
