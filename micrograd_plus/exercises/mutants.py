"""Wrong answers to exercises of rules: the museum's exhibits, and those mistakes of the catalogue that it does not
show.

    @mutant("M34", "mse.prediction")
    def _(upstream, ...): ...            a wrong rule, in the form of a right one

Who hands in the same numbers as one of these has made its mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..backends import devices
from ..checks import museum
from ..core.apply import Op
from .rows import LAST, ROWS
from .rule_answers import adapted, adapted_whole, may_be_undone
from .sandboxed.dual import still
from .spec import Mistake

np = devices.device("cpu").library

ROWS_OF_EXHIBITS = {
    "subtract: minus forgotten": "M9", "divide: minus of a quotient forgotten": "M10",
    "divide: square forgotten": "M11",
    "power: exponent not lowered": "M12", "power: factor forgotten": "M13", "multiply: own factor": "M14",
    "exp: input for output": "M15", "log: multiplied for divided": "M16", "log: output for input": "M17",
    "sqrt: root not taken": "M18", "sigmoid: rule on the input of a probability": "M19",
    "tanh: rule on the input": "M20", "leaky_relu: slope on the wrong side": "M22",
    "leaky_relu: nothing on the negative side": "M22", "clip: passes outside the range": "M23",
    "where: both branches receive": "M24", "gelu_erf: slope of the other form": "M25",
    "maximum: ties of a pair counted twice": "M26", "max: ties counted twice": "M26",
    "broadcast_to: averaged for added": "M28", "sum: axis not put back": "M31",
    "mean: axis of a mean not put back": "M31", "mean: count forgotten": "M32", "mean: all entries counted": "M33",
    "mean: upstream forgotten": "M6", "linear_layer: averaged over the batch": "M34", "var: the other variance": "M35",
    "max: every entry receives": "M37", "prod: divided by the factor": "M38",
    "cumprod: running products divided": "M38", "cumsum: sums from the same end": "M39",
    "logsumexp: not normalised": "M40", "matmul: transpose forgotten": "M41",
    "solve: solved without the transpose": "M41", "matmul: order swapped": "M42",
    "matmul: all axes turned round": "M43",
    "transpose: the same order again": "M46", "transpose: reshaped for transposed": "M47",
    "take: last use wins": "M48", "getitem: in the shape of the slice": "M49", "concatenate: equal shares": "M50",
    "pad: border kept": "M51", "pad: border cut off at the end": "M52",
    "take_along_axis: last use of a place wins": "M53", "softmax: entry by entry": "M54",
    "softmax: average over the wrong axis": "M55", "mean_class_cross_entropy: rows not counted": "M57",
    "softmax_cross_entropy: sign turned": "M58", "softmax_cross_entropy: only the right class": "M59",
    "softmax_cross_entropy: softmax taken twice": "M60", "mse: half": "M61",
    "mse: prediction and target swapped": "M62", "binary_cross_entropy_with_logits: wrong yes for free": "M63",
    "absolute: slope of x itself": "M65", "layer_norm: plain scaling": "M66",
    "layer_norm: mean taken for a constant": "M67", "layer_norm: variance taken for a constant": "M68",
    "layer_norm: summed over its own axis": "M69", "batch_norm: batch taken for constants": "M70",
    "dropout: scale forgotten": "M71", "dropout: another coin": "M72", "unfold: overlaps overwritten": "M73",
    "conv2d: kernel flipped": "M74", "conv2d: weights reversed": "M75", "conv2d: stride ignored": "M76",
    "max_pool2d: one place further": "M77", "avg_pool2d: count of a window forgotten": "M78",
    "max_pool2d: last window wins": "M79", "scaled_dot_product_attention: scale of attention forgotten": "M80",
    "recurrence: no way back through time": "M82", "rnn: state taken for what it is made of": "M83",
}  # fmt: skip
"""Which row of the catalogue an exhibit shows; those that engines shipped and students did not have none."""

Functions = list[tuple[tuple[str, ...], Any]]
_written: list[tuple[str, str, tuple[str, ...], Any]] = []


def mutant(row: str, name: str) -> Callable[[Any], Any]:
    """A decorator that lists a wrong rule under a row of the catalogue and the name of a rule."""

    def listed(function: Any) -> Any:
        operation, _, inputs = name.partition(".")
        _written.append((row, operation, tuple(inputs.split("+")), function))
        return function

    return listed


def mistakes_of(op: Op, served: tuple[str, ...], rules: Sequence[Any], whole: bool = False) -> list[Mistake]:
    """Every mistake known of these rules."""
    right: Functions = [(rule.inputs, rule.function) for rule in rules]
    reason = about(rules)
    found = []
    for exhibit in museum.exhibits:
        taken = {name for inputs in exhibit.rules for name in inputs}
        if exhibit.op is op and taken & set(served) and exhibit.promise == museum.DIFFERENCES:
            row = ROWS_OF_EXHIBITS.get(exhibit.title, "museum")
            thing = put_in(op, served, right, exhibit.rules.items(), whole)
            found.append(Mistake(row, exhibit.name, hints(row, reason, exhibit.story), thing))
    for row, operation, inputs, function in _written:
        if operation == op.name and set(inputs) & set(served):
            thing = put_in(op, served, right, [(inputs, function)], whole)
            found.append(Mistake(row, ROWS[row][0], hints(row, reason), thing))
    if whole or op.kind != "elementwise":
        found.append(Mistake("M6", ROWS["M6"][0], hints("M6", reason), without_upstream(op, served, right, whole)))
    return [*found, *(of_broadcasting(op, served, right) if whole else [])]


CUT_OFF = Mistake("second", "the numbers are right, and their past is cut off", (
    "What your rule sends depends on its inputs. When they move a little, does it know?",
    "Something on its way was turned into plain numbers: from there on nothing of its past is known.",
    "Look for float, item, tolist, math's functions and arrays of zeros that are filled in: compute without them.",
))  # fmt: skip


def wrong_twice(op: Op, served: tuple[str, ...], rules: Sequence[Any], right: Any) -> list[Mistake]:
    """The mistakes that show only when a rule is read on numbers that move."""
    exhibits = [each for each in museum.exhibits
                if each.op is op and each.promise == museum.SECOND and served in each.rules]  # fmt: skip
    found = [Mistake("museum", each.name, hints("museum", about(rules), each.story),
                     adapted(op, served, [(served, each.rules[served])])) for each in exhibits]  # fmt: skip

    def frozen(named: dict[str, Any], xp: Any) -> Any:
        return right({name: still(value) for name, value in named.items()}, xp)

    frozen.takes_everything = True
    if found and op.kind == "elementwise":  # the same numbers: such a rule reads one thing that moves
        return found
    return [*found, Mistake(CUT_OFF.id, CUT_OFF.title, CUT_OFF.hints, frozen)]


def wrong_rules(op: Op, inputs: tuple[str, ...]) -> list[tuple[Mistake, Any]]:
    """The mistakes known of one rule, each with the wrong rule itself, as a walk is made again with it."""
    reason = about([rule for rule in op.rules if set(rule.inputs) & set(inputs)])
    found = []
    for exhibit in museum.exhibits:
        if exhibit.op is op and inputs in exhibit.rules and exhibit.promise == museum.DIFFERENCES:
            row = ROWS_OF_EXHIBITS.get(exhibit.title, "museum")
            found.append((Mistake(row, exhibit.name, hints(row, reason, exhibit.story)), exhibit.rules[inputs]))
    for row, operation, served, function in _written:
        if operation == op.name and served == inputs:
            found.append((Mistake(row, ROWS[row][0], hints(row, reason)), function))
    return found


def put_in(op: Op, served: tuple[str, ...], right: Functions, wrong: Iterable[Any], whole: bool) -> Any:
    """The wrong rules in the place of the right ones, as one answer."""
    taken = {name for inputs, _ in wrong for name in inputs}
    functions = [*((inputs, f) for inputs, f in right if not taken & set(inputs)), *wrong]
    return (adapted_whole if whole else adapted)(op, served, functions)


def without_upstream(op: Op, served: tuple[str, ...], right: Functions, whole: bool) -> Any:
    """The right rule, as if upstream were 1 everywhere."""
    answer = (adapted_whole if whole else adapted)(op, served, right)

    def ones(upstream: Any) -> Any:
        return tuple(map(ones, upstream)) if isinstance(upstream, tuple) else np.ones_like(upstream)

    def forgetful(named: dict[str, Any], xp: Any) -> Any:
        return answer({**named, "upstream": ones(named["upstream"])}, xp)

    forgetful.takes_everything = True
    return forgetful


def hints(row: str, reason: str, story: str = "") -> tuple[str, str, str]:
    """Three hints: the question, what is wrong, and what is said of the right rule. An exhibit's story is told where
    the catalogue has no row of it; for who made the mistake, some stories tell too much."""
    if row not in ROWS:
        return "Which of the numbers that it may read does your rule leave aside?", story, reason or SMALLEST
    return ROWS[row][1], ROWS[row][2], reason or LAST.get(row, SMALLEST)


SMALLEST = "Work it out by hand for the smallest call there is, with one entry, and compare; then with two."


def about(rules: Sequence[Any]) -> str:
    """What is said of right rules: the reason they give, or what they read."""
    reasons = [" ".join(rule.reason.split()) for rule in rules if rule.reason]
    if reasons:
        return f"The right rule says of itself: {reasons[0]}"
    reads = list(dict.fromkeys(name for rule in rules for name in rule.reads if name != "xp"))
    return f"The right rule reads {' and '.join(reads) if reads else 'nothing: it is the same everywhere'}."


# Broadcasting, where it is for the student to undo ----


def of_broadcasting(op: Op, served: tuple[str, ...], right: Functions) -> list[Mistake]:
    """The ways in which an input that was broadcast is sent the wrong thing."""

    def when_broadcast(how: Callable[[Any, tuple[int, ...]], Any]) -> Any:
        return adapted_whole(
            op, served, right, undo=lambda x, shape: how(x, shape) if may_be_undone(x.shape, shape) else x
        )

    def summed_axes(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
        lead = x.ndim - len(shape)
        return (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1))

    def averaged(x: Any, shape: tuple[int, ...]) -> Any:
        return np.mean(x, axis=summed_axes(x, shape)).reshape(shape)

    def dropped(x: Any, shape: tuple[int, ...]) -> Any:
        return np.sum(x, axis=summed_axes(x, shape))

    def along_another(x: Any, shape: tuple[int, ...]) -> Any:
        axes = summed_axes(x, shape)
        others = tuple(i for i in range(x.ndim) if i not in axes)[: len(axes)]
        return np.sum(x, axis=others) if axes else x

    not_summed = "M44" if op.kind == "multilinear" else "M27"
    ways = {not_summed: lambda x, shape: x, "M28": averaged, "M29": dropped, "M30": along_another}
    return [Mistake(row, ROWS[row][0], hints(row, ""), when_broadcast(how)) for row, how in ways.items()]


# Wrong rules that the museum does not show ----


@mutant("M34", "mse.prediction")
def _(xp: Any, upstream: Any, prediction: Any, target: Any) -> Any:
    return upstream * 2 / xp.size(prediction) ** 2 * (prediction - target)


@mutant("M64", "mean_square.x")
def _(xp: Any, upstream: Any, x: Any, x_shape: Any, axis: Any, keepdims: Any) -> Any:
    return 2 * xp.unreduce(upstream * 2 / xp.count_along(x_shape, axis), x_shape, axis, keepdims) * x


@mutant("M48", "embedding.weight")
def _(upstream: Any, indices: Any, weight_shape: Any) -> Any:
    out = np.zeros(weight_shape)
    out[indices] = upstream
    return out


@mutant("M53", "getitem.x")
def _(upstream: Any, x_shape: Any, index: Any) -> Any:
    out = np.zeros(x_shape)
    out[index] = upstream
    return out


@mutant("M12", "square.x")
def _(x: Any) -> Any:
    return 2 * x * x


@mutant("M13", "square.x")
def _(x: Any) -> Any:
    return x


@mutant("M18", "rsqrt.x")
def _(x: Any, out: Any) -> Any:
    return -0.5 * out / x / x


@mutant("M9", "negative.x")
def _() -> Any:
    return 1.0


@mutant("M10", "reciprocal.x")
def _(out: Any) -> Any:
    return out * out


@mutant("M9", "cos.x")
def _(xp: Any, x: Any) -> Any:
    return xp.sin(x)


@mutant("M85", "logsumexp.x")
def _(xp: Any, upstream: Any, x: Any, x_shape: Any, axis: Any, keepdims: Any) -> Any:
    e = xp.exp(x)
    return xp.unreduce(upstream, x_shape, axis, keepdims) * e / xp.sum(e, axis=axis, keepdims=True)


@mutant("M85", "softplus.x")
def _(xp: Any, x: Any) -> Any:
    return xp.exp(x) / (1 + xp.exp(x))


@mutant("M26", "min.x")
def _(xp: Any, upstream: Any, x: Any, out: Any, x_shape: Any, axis: Any, keepdims: Any) -> Any:
    return xp.equal(x, xp.unreduce(out, x_shape, axis, keepdims)) * xp.unreduce(upstream, x_shape, axis, keepdims)


@mutant("M37", "min.x")
def _(xp: Any, upstream: Any, x_shape: Any, axis: Any, keepdims: Any) -> Any:
    return xp.unreduce(upstream, x_shape, axis, keepdims)


@mutant("M81", "masked_softmax.x")
def _(xp: Any, upstream: Any, out: Any, axis: Any) -> Any:
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True)) + 0.1 * upstream * (out == 0)


@mutant("M6", "log_softmax.x")
def _(xp: Any, upstream: Any, out: Any) -> Any:
    return upstream - xp.exp(out)


@mutant("M6", "softmax_cross_entropy.logits")
def _(xp: Any, target: Any, log_weights: Any) -> Any:
    return xp.exp(log_weights) - target


@mutant("M54", "softmax.x")
def _(upstream: Any, out: Any) -> Any:
    return upstream * out


@mutant("M55", "softmax.x")
def _(xp: Any, upstream: Any, out: Any) -> Any:
    return out * (upstream - xp.sum(upstream * out))


@mutant("M54", "masked_softmax.x")
def _(upstream: Any, out: Any) -> Any:
    return upstream * out * (1 - out)


@mutant("M43", "matmul.b")
def _(xp: Any, upstream: Any, a: Any) -> Any:
    return xp.matmul(xp.transpose(a), upstream)


@mutant("M41", "matmul.b")
def _(xp: Any, upstream: Any, a: Any) -> Any:
    return xp.matmul(a, upstream)


@mutant("M41", "linear_layer.x")
def _(xp: Any, upstream: Any, weight: Any) -> Any:
    return xp.matmul(upstream, xp.mT(weight))


@mutant("M42", "linear_layer.weight")
def _(xp: Any, upstream: Any, x: Any) -> Any:
    return xp.matmul(xp.mT(xp.rows(x)), xp.rows(upstream))


@mutant("M6", "linear_layer.weight")
def _(xp: Any, upstream: Any, x: Any) -> Any:
    return xp.matmul(xp.mT(xp.rows(0 * upstream + 1)), xp.rows(x))


@mutant("M46", "moveaxis.x")
def _(xp: Any, upstream: Any, source: Any, destination: Any) -> Any:
    return xp.moveaxis(upstream, source, destination)


@mutant("M47", "swapaxes.x")
def _(xp: Any, upstream: Any, x_shape: Any) -> Any:
    return xp.reshape(upstream, x_shape)


@mutant("M39", "flip.x")
def _(upstream: Any) -> Any:
    return upstream


@mutant("M50", "stack.parts")
def _(xp: Any, upstream: Any, parts_shape: Any, axis: Any) -> Any:
    return list(np.array_split(upstream, len(parts_shape), axis))


@mutant("M67", "var.x")
def _(xp: Any, upstream: Any, x: Any, x_shape: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    return xp.unreduce(upstream * 2 / (xp.count_along(x_shape, axis) - ddof), x_shape, axis, keepdims) * x


@mutant("M35", "std.x")
def _(xp: Any, upstream: Any, x: Any, out: Any, x_shape: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    far = x - xp.mean(x, axis=axis, keepdims=True)
    count = xp.count_along(x_shape, axis)
    other = count if ddof else count - 1
    return xp.unreduce(upstream / out / other, x_shape, axis, keepdims) * far


@mutant("M21", "relu.x")
def _(upstream: Any) -> Any:
    return 1.0 * (upstream > 0)


@mutant("M58", "mean_class_cross_entropy.logits")
def _(xp: Any, upstream: Any, classes: Any, weights: Any, logits_shape: Any) -> Any:
    return -upstream * (weights - xp.one_hot(classes, num_classes=logits_shape[-1])) / logits_shape[0]


@mutant("M59", "mean_class_cross_entropy.logits")
def _(xp: Any, upstream: Any, classes: Any, weights: Any, logits_shape: Any) -> Any:
    right = xp.one_hot(classes, num_classes=logits_shape[-1])
    return upstream * (weights - 1) * right / logits_shape[0]


@mutant("M60", "mean_class_cross_entropy.logits")
def _(xp: Any, upstream: Any, classes: Any, weights: Any, logits_shape: Any) -> Any:
    again = xp.softmax(weights, axis=-1)
    return upstream * (again - xp.one_hot(classes, num_classes=logits_shape[-1])) / logits_shape[0]


@mutant("M58", "binary_cross_entropy_with_logits.logits")
def _(xp: Any, upstream: Any, logits: Any, target: Any) -> Any:
    return upstream * (target - xp.sigmoid(logits))


@mutant("M70", "layer_norm.x")
def _(upstream: Any, weight: Any, scale: Any, unit: Any) -> Any:
    return scale * (upstream if weight is None else upstream * weight) * (1 - unit * unit / unit.shape[-1])
