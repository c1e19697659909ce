"""Wrong rules, planted one at a time in the place of the right one: the checks must catch each, and name it.

The mistakes are those that students make. A check that could not tell them apart would prove nothing about
the rules that pass it.
"""

import math

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.check import promises
from micrograd_plus.op import operations
from micrograd_plus.samples import samples


def by_overwriting(xp, upstream, indices, x_shape, axis):
    out = np.zeros(x_shape, upstream.dtype)
    if axis is None:
        out.reshape(-1)[indices] = upstream
    else:
        out[(slice(None),) * axis + (indices,)] = upstream
    return out


def fold_by_overwriting(xp, upstream, x_shape, kernel_size, stride, padding, dilation):
    out = np.zeros((*x_shape[:2], *(n + 2 * p for n, p in zip(x_shape[2:], padding, strict=True))))
    high, wide = xp.windows_along(x_shape, kernel_size, stride, padding, dilation)
    columns = upstream.reshape(*x_shape[:2], *kernel_size, high, wide)
    for i, j in np.ndindex(*kernel_size):
        top, left = i * dilation[0], j * dilation[1]
        down = slice(top, top + stride[0] * high, stride[0])
        across = slice(left, left + stride[1] * wide, stride[1])
        out[:, :, down, across] = columns[:, :, i, j]
    return out[:, :, padding[0] : padding[0] + x_shape[2], padding[1] : padding[1] + x_shape[3]]


def layer_norm_without(*terms):
    """The rule of layer norm for x, with some of its two corrections missing."""

    def rule(xp, upstream, weight, unit, scale, axes):
        over = xp.last_axes(axes)
        arrived = upstream if weight is None else upstream * weight
        along_mean = 0 if "mean" in terms else xp.mean(arrived, axis=over, keepdims=True)
        along_unit = 0 if "variance" in terms else unit * xp.mean(arrived * unit, axis=over, keepdims=True)
        return scale * (arrived - along_mean - along_unit)

    return rule


def attention_without_scale(xp, upstream, query, key, value, weights):
    to_weights = xp.matmul(upstream, xp.mT(value))
    to_scores = weights * (to_weights - xp.sum(to_weights * weights, axis=-1, keepdims=True))
    to_value = xp.matmul(xp.mT(weights), upstream)
    return xp.matmul(to_scores, key), xp.matmul(xp.mT(to_scores), query), to_value, to_scores


def attention_entry_by_entry(xp, upstream, query, key, value, weights, scale):
    to_scores = xp.matmul(upstream, xp.mT(value)) * weights * (1 - weights)
    scaled = to_scores * xp.attention_scale(query, scale)
    to_value = xp.matmul(xp.mT(weights), upstream)
    return xp.matmul(scaled, key), xp.matmul(xp.mT(scaled), query), to_value, to_scores


def largest_one_place_further(xp, upstream, places, x_shape):
    each = xp.axes_to_last(upstream, axis=(-2, -1))
    further = (places + 1) % math.prod(x_shape[-2:])
    return xp.reshape(xp.put_along_axis_add(each, further, shape=xp.joined_last(x_shape), axis=-1), x_shape)


def conv_weight_reversed(xp, upstream, x, weight_shape, stride, padding, dilation, groups):
    columns = xp.grouped(xp.unfold(x, xp.image_size(weight_shape), stride, padding, dilation), groups=groups)
    each = xp.matmul(xp.grouped_images(upstream, groups=groups), xp.mT(columns))
    return xp.reshape(xp.sum(each, axis=0), weight_shape)[..., ::-1, ::-1]


def conv_without_stride(xp, upstream, weight, x_shape, weight_shape, padding, dilation, groups):
    rows, images = xp.kernel_rows(weight, groups=groups), xp.grouped_images(upstream, groups=groups)
    columns = xp.matmul(xp.mT(rows), images)
    size, kernel = xp.image_size(x_shape), xp.image_size(weight_shape)
    return xp.fold(xp.ungrouped(columns), size, kernel, (1, 1), padding, dilation)


MISTAKES = [
    ("6 upstream forgotten", "mean", "x", lambda xp, upstream, x_shape, axis, keepdims: xp.spread(
        upstream * 0 + 1 / xp.count_along(x_shape, axis), x_shape, axis, keepdims)),
    ("9 minus missing", "subtract", "b", lambda: 1),
    ("10 minus missing", "divide", "b", lambda out, b: out / b),
    ("11 square missing", "divide", "b", lambda a, b: -a / b),
    ("12 exponent not lowered", "power", "base", lambda base, exponent: exponent * base**exponent),
    ("13 factor missing", "power", "base", lambda base, exponent: base ** (exponent - 1)),
    ("14 own value for the other's", "multiply", "a", lambda a: a),
    ("15 input for output", "exp", "x", lambda x: x),
    ("16 multiplied for divided", "log", "x", lambda x: x),
    ("17 output for input", "log", "x", lambda out: 1 / out),
    ("18 input for output", "sqrt", "x", lambda x: 1 / (2 * x)),
    ("19 rule on the input", "sigmoid", "x", lambda x: x * (1 - x)),
    ("20 rule on the input", "tanh", "x", lambda x: 1 - x * x),
    ("22 slope on the wrong side", "leaky_relu", "x", lambda xp, x, slope: xp.where(x > 0, slope, 1.0)),
    ("22 nothing on the negative side", "leaky_relu", "x", lambda xp, x: xp.where(x > 0, 1.0, 0.0)),
    ("23 passes outside the range", "clip", "x", lambda: 1),
    ("24 both branches receive", "where", "a", lambda upstream: upstream),
    ("25 the other form's derivative", "gelu_erf", "x", operations["gelu_tanh"].rules[0].function),
    ("28 mean for sum", "broadcast_to", "x", lambda xp, upstream, x_shape: xp.unbroadcast(upstream, x_shape)
     * xp.count_along(x_shape, None) / upstream.size),
    ("31 reduced axis not put back", "sum", "x", lambda xp, upstream, x_shape: xp.broadcast_to(
        upstream, x_shape)),
    ("32 count missing", "mean", "x", lambda xp, upstream, x_shape, axis, keepdims: xp.spread(
        upstream, x_shape, axis, keepdims)),
    ("33 all entries for the axis", "mean", "x", lambda xp, upstream, x_shape, axis, keepdims: xp.spread(
        upstream / xp.count_along(x_shape, None), x_shape, axis, keepdims)),
    ("35 the other variance", "var", "x", lambda xp, upstream, x, x_shape, axis, keepdims: xp.spread(
        upstream * 2 / xp.count_along(x_shape, axis), x_shape, axis, keepdims)
     * (x - xp.mean(x, axis=axis, keepdims=True))),
    ("37 all entries receive", "max", "x", lambda xp, upstream, x_shape, axis, keepdims: xp.spread(
        upstream, x_shape, axis, keepdims)),
    ("38 divided by the factor", "prod", "x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.spread(
        upstream * out, x_shape, axis, keepdims) / x),
    ("39 sums from the same end", "cumsum", "x", lambda xp, upstream, x_shape, axis, exclusive, reverse:
     xp.reshape(xp.cumsum(upstream, axis=axis, exclusive=exclusive, reverse=reverse), x_shape)),
    ("40 not normalised", "logsumexp", "x", lambda xp, upstream, x, x_shape, axis, keepdims: xp.spread(
        upstream, x_shape, axis, keepdims) * xp.exp(x)),
    ("41 transpose missing", "matmul", "a", lambda xp, upstream, b: xp.matmul(upstream, b)),
    ("42 order swapped", "matmul", "b", lambda xp, upstream, a: xp.matmul(xp.mT(upstream), a)),
    ("43 all axes turned round", "matmul", "a", lambda xp, upstream, b: xp.matmul(upstream, xp.transpose(b))),
    ("46 the same permutation", "transpose", "x", lambda xp, upstream, axes: xp.transpose(upstream, axes)),
    ("47 reshape for it", "transpose", "x", lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape)),
    ("48 duplicates lost", "take", "x", by_overwriting),
    ("49 a slice's shape", "getitem", "x", lambda upstream: upstream),
    ("50 equal shares", "concatenate", "parts", lambda xp, upstream, parts_shape, axis: np.array_split(
        upstream, len(parts_shape), axis)),
    ("51 border kept", "pad", "x", lambda upstream: upstream),
    ("52 cut off by one", "pad", "x", lambda upstream, x_shape: upstream[tuple(slice(n) for n in x_shape)]),
    ("54 Jacobian entry by entry", "softmax", "x", lambda upstream, out: upstream * out * (1 - out)),
    ("55 sum over the wrong axis", "softmax", "x", lambda xp, upstream, out: out * (
        upstream - xp.sum(upstream * out, axis=0, keepdims=True))),
    ("57 count missing", "mean_class_cross_entropy", "logits", lambda xp, upstream, classes, weights:
     upstream * (weights - xp.one_hot(classes, num_classes=weights.shape[-1]))),
    ("58 sign", "softmax_cross_entropy", "logits", lambda xp, upstream, target, log_weights:
     xp.expand_dims(upstream, -1) * (target - xp.exp(log_weights) * xp.sum(target, axis=-1, keepdims=True))),
    ("59 only the right class", "softmax_cross_entropy", "logits", lambda xp, upstream, target, log_weights:
     xp.expand_dims(upstream, -1) * (xp.exp(log_weights) - 1) * target),
    ("60 softmax taken twice", "softmax_cross_entropy", "logits", lambda xp, upstream, target, log_weights:
     xp.expand_dims(upstream, -1) * (xp.softmax(xp.exp(log_weights)) - target)),
    ("61 half", "mse", "prediction", lambda xp, upstream, prediction, target: upstream / xp.size(prediction)
     * (prediction - target)),
    ("62 prediction and target swapped", "mse", "prediction", lambda xp, upstream, prediction, target:
     upstream * 2 / xp.size(prediction) * (target - prediction)),
    ("63 one half missing", "binary_cross_entropy_with_logits", "logits", lambda xp, upstream, logits, target:
     -upstream * target * xp.exp(-xp.logaddexp(0.0, logits))),
    ("65 slope of x itself", "absolute", "x", lambda x: x),
    ("66 plain scaling", "layer_norm", "x", layer_norm_without("mean", "variance")),
    ("67 mean term missing", "layer_norm", "x", layer_norm_without("mean")),
    ("68 variance term missing", "layer_norm", "x", layer_norm_without("variance")),
    ("69 summed over the wrong axes", "layer_norm", "weight", lambda xp, upstream, unit: xp.sum(
        upstream * unit, axis=-1, keepdims=True)),
    ("71 scale missing", "dropout", "x", lambda mask: 1.0 * (mask > 0)),
    ("72 another coin", "dropout", "x", lambda mask: mask[..., ::-1]),
    ("73 overlaps overwritten", "unfold", "x", fold_by_overwriting),
    ("75 weight gradient reversed", "conv2d", "weight", conv_weight_reversed),
    ("76 stride ignored", "conv2d", "x", conv_without_stride),
    ("77 one place further", "max_pool2d", "x", largest_one_place_further),
    ("78 count missing", "avg_pool2d", "x", lambda xp, upstream, x_shape, kernel_size, stride, padding:
     xp.fold(xp.window_columns(upstream, kernel_size), xp.image_size(x_shape), kernel_size, stride, padding)),
    ("80 scale missing", "scaled_dot_product_attention", "query+key+value+bias", attention_without_scale),
    ("54 in attention", "scaled_dot_product_attention", "query+key+value+bias", attention_entry_by_entry),
]  # fmt: skip


@pytest.fixture
def plant():
    """A function that puts a rule in the place of another until the test is over."""
    changed = []

    def put(name, inputs, rule):
        op = operations[name]
        changed.append((op, [(right.inputs, right.function) for right in op.rules]))
        op.add_rule(tuple(inputs.split("+")), rule)
        return op

    yield put
    for op, rules in changed:
        for inputs, function in rules:
            op.add_rule(inputs, function)


def broken_promises(op):
    """What the checks say of an operation: each promise that a sample breaks, with its error."""
    told = {}
    for sentence, keep in promises.items():
        for sample in samples[op.name]:
            if sentence in sample.excused or sentence in told:
                continue
            try:
                keep(sample)
            except Exception as error:  # noqa: BLE001 - a wrong rule may raise anything
                told[sentence] = str(error)
    return told


@pytest.mark.parametrize(("name", "inputs", "rule"), [
    pytest.param(*planted, id=f"M{mistake}") for mistake, *planted in MISTAKES
])  # fmt: skip
def test_the_checks_catch_the_mistake_and_name_the_operation(plant, name, inputs, rule):
    told = broken_promises(plant(name, inputs, rule))
    assert "the gradient equals differences" in told
    assert name in told["the gradient equals differences"]


def test_a_planted_rule_is_gone_once_its_test_is_over(plant):
    for name in ("tanh", "matmul", "scaled_dot_product_attention"):
        assert broken_promises(operations[name]) == {}


@pytest.mark.parametrize(("name", "inputs", "rule", "reads"), [
    ("relu", "x", lambda upstream: upstream > 0, "upstream"),  # M21: the mask taken from the gradient
    ("sum", "x", lambda upstream, x: upstream * x, "x"),
    ("matmul", "a", lambda upstream, a: upstream * a, "a"),
    ("concatenate", "parts", lambda upstream, axes: upstream, "axes"),
])  # fmt: skip
def test_some_mistakes_cannot_even_be_written_down(plant, name, inputs, rule, reads):
    with pytest.raises(TypeError, match=rf"the rule {name}\.{inputs} .*'{reads}'"):
        plant(name, inputs, rule)


@pytest.mark.usefixtures("own_operations")
def test_a_closed_form_that_differs_from_its_own_steps_is_caught():
    @mg.op
    def normalized(xp, x):
        return x / xp.sum(x, axis=-1, keepdims=True)

    @normalized.rule("x")
    def _(xp, upstream, x):
        return upstream / xp.sum(x, axis=-1, keepdims=True)

    mg.samples.sample(normalized, mg.samples.positive(2, 3))
    told = broken_promises(normalized.op)
    assert {"the gradient equals differences", "stepping inside changes nothing"} <= told.keys()


def test_a_gradient_that_is_right_but_cut_off_from_its_inputs_is_caught(plant):
    told = broken_promises(plant("tanh", "x", lambda xp, out: 1 - xp.stop_gradient(out) ** 2))
    assert told.keys() == {"the gradient has a gradient"}


@pytest.mark.usefixtures("own_operations")
def test_a_forward_that_leaves_single_precision_is_caught():
    @mg.elementwise(x=lambda x: 2 * x)
    def squared(xp, x):
        return x * x + np.zeros(1)

    mg.samples.sample(squared, mg.samples.real(3))
    assert "float32 in, float64 out" in broken_promises(squared.op)["single precision stays single precision"]


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_looks_at_memory_instead_of_axes_is_caught():
    @mg.op
    def copied(xp, x):
        return +x

    @copied.rule("x")
    def _(xp, upstream, x):
        return upstream if x.flags.c_contiguous else -upstream

    mg.samples.sample(copied, mg.samples.real(3, 4))
    assert "the order of entries in memory does not matter" in broken_promises(copied.op)


@pytest.mark.usefixtures("own_operations")
def test_numbers_that_disagree_with_arrays_are_caught():
    @mg.elementwise(x=lambda xp, x: xp.cos(x) if isinstance(x, float) else 1.0 * xp.exp(x))
    def confused(xp, x):
        return xp.exp(x)

    mg.samples.sample(confused, mg.samples.real(3))
    assert "numbers and arrays agree" in broken_promises(confused.op)
