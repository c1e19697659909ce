"""Rules: right answers pass in every form and convention, also twice; edge cases catch what ordinary inputs miss."""

# ruff: noqa: A006, PLC3002, PLW0108 - rules are written as students write them

import math

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.core.define import operations
from micrograd_plus.exercises import authoring
from micrograd_plus.exercises.edge_cases import EDGE_CASES
from micrograd_plus.exercises.from_rules import rule_exercise
from micrograd_plus.exercises.mark import COSTS
from micrograd_plus.exercises.rule_answers import combine

ALL = exercises.list_exercises()


def mark_answer(exercise, thing, seed):
    """Return the result of an answer."""
    return authoring.try_answer(exercise, thing, seed)[1]


# The second order -----------------------------------------------------------------------------------------------------


def test_check_with_twice_adds_the_second_order_part():
    right = exercises.check("tanh.x", lambda out: 1 - out * out, twice=True)
    assert right
    assert right.result.parts[-1]["name"] == "second order"
    frozen = exercises.check("tanh.x", lambda out: 1 - np.array(out) ** 2, twice=True)
    assert not frozen
    assert [part["points"] for part in frozen.result.parts] == [1, 5, 2, 0]
    assert "the result does not change with the inputs as it should" in " ".join(frozen.text.split())
    assert frozen.result.mistake.title == "slope cut off from its output"


SECOND_ORDER_FORMS = {
    "tanh.x": [
        lambda out: 1 - out**2, lambda x: np.cosh(x) ** -2.0, lambda xp, x: 1 / xp.square(xp.cosh(x)),
        lambda out: (1 - out) * (out + 1), lambda out: -(out.__pow__(2) - 1), lambda x: 1 - np.tanh(x) * np.tanh(x),
        lambda out: np.multiply(1 - out, np.add(1, out)), lambda out: np.where(out > 0, 1 - out * out, 1 - out * out),
        lambda out: np.stack([1 - row**2 for row in out]) if out.ndim else 1 - out**2,
        lambda out: np.asarray([1.0]) - out**2, lambda xp, out: xp.asarray(1 - out**2),
        lambda out: np.einsum("...,...->...", 1 - out, 1 + out), lambda out: (1 - out**2).reshape(out.shape).copy(),
        lambda x: 4 / (np.exp(x) + np.exp(-x)) ** 2, lambda out: np.abs(1 - out**2),
    ],
    "softmax.x": [
        lambda xp, upstream, out, axis: out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True)),
        lambda upstream, out, axis: out * (upstream - (upstream * out).sum(axis, keepdims=True)),
        lambda upstream, x, axis: (lambda e: (lambda p: p * (upstream - (p * upstream).sum(axis=axis, keepdims=True)))(
            e / e.sum(axis=axis, keepdims=True)))(np.exp(x - np.max(x, axis=axis, keepdims=True))),
        lambda xp, upstream, out, axis: upstream * out - out * xp.expand_dims(xp.sum(upstream * out, axis=axis), axis),
        lambda xp, upstream, out, axis: xp.moveaxis((lambda u, p: p * (
            u - xp.einsum("...i,...i->...", u, p)[..., None]))(
                xp.moveaxis(upstream, axis, -1), xp.moveaxis(out, axis, -1)), -1, axis),
    ],
    "matmul.a": [
        lambda xp, upstream, b: upstream @ xp.mT(b), lambda upstream, b: np.matmul(upstream, b.swapaxes(-1, -2)),
        lambda upstream, b: np.einsum("...ij,...kj->...ik", upstream, b),
        lambda upstream, b: upstream.dot(b.T) if b.ndim == 2 else upstream @ b.mT,
    ],
}  # fmt: skip
CUT_OFF = [
    lambda out: 1 - np.array(out) ** 2, lambda x: 1 - np.vectorize(math.tanh)(np.array(x)) ** 2,
    lambda out: np.array([1 - float(each) ** 2 for each in out.reshape(-1)]).reshape(out.shape),
    lambda out: 1 - np.reshape(out.tolist(), out.shape) ** 2, lambda out: 1 - out * np.asarray(out),
    lambda out: fill(np.zeros(out.shape), 1 - out**2),
]  # fmt: skip


def fill(array, values):
    """Write values into an array, and return it."""
    array[...] = values
    return array


def test_right_rules_in_many_forms_pass_the_second_order():
    for name, answers in SECOND_ORDER_FORMS.items():
        exercise = exercises.get_exercise(f"{name}.twice")
        for place, answer in enumerate(answers):
            for seed in range(4):
                reply = exercises.check(exercise, answer, seed=seed)
                assert reply, (name, place, seed, reply.text)


@pytest.mark.parametrize("answer", CUT_OFF)
def test_a_cut_off_rule_loses_only_the_second_order(answer):
    result = exercises.check("tanh.x.twice", answer).result
    assert [part["points"] for part in result.parts] == [1, 5, 2, 0]
    assert result.mistake is not None


@pytest.mark.parametrize("name", ["tanh.x", "log.x", "power.exponent", "sin.x"])
def test_the_tangent_of_a_right_rule_is_its_second_derivative(name):
    exercise, (_, asked) = exercises.get_exercise(f"{name}.twice"), name.split(".")
    op = operations[name.partition(".")[0]]
    case = next(each for each in exercise.cases(5) if each.part == "second order")
    inputs = case.expects["sample"].inputs
    place = op.inputs.index(asked)

    def local(*values):
        return mg.grad(lambda *v: op.call(*v).sum(), place)(*values)

    ways = [case.request["arguments"]["tangents"][each] for each in op.inputs]
    after, before = (local(*[mg.tensor(v + step * way) for v, way in zip(inputs, ways, strict=True)]).numpy()
                     for step in (1e-5, -1e-5))  # fmt: skip
    exact = (after - before) / 2e-5
    assert np.allclose(case.right_outcome["values"][asked], exact, rtol=1e-5, atol=1e-6 * np.max(np.abs(exact)))


def test_a_constant_gradient_has_no_second_order_exercise():
    with pytest.raises(ValueError, match="relu has no second-order exercise"):
        exercises.check("relu.x", lambda x: 1.0 * (x > 0), twice=True)


UNLISTED_MISTAKES = [
    ("an entry is 0", "absolute.x", lambda xp, x: xp.where(x == 0, 5.0, xp.sign(x))),
    ("an entry of the last input is 1", "power.base", lambda xp, base, exponent: (
        exponent * xp.power(base, exponent - (exponent != 1)))),
    ("three entries are 0", "prod.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.where(
        x == 0, 0.0, xp.unreduce(upstream * out, x_shape, axis, keepdims) / xp.where(x == 0, 1.0, x))),
    ("three entries tie", "max.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: (
        lambda tie: tie * xp.unreduce(upstream, x_shape, axis, keepdims)
        / xp.minimum(xp.sum(tie, axis=axis, keepdims=True), 2))(
            1.0 * (x == xp.unreduce(out, x_shape, axis, keepdims)))),
    ("three entries tie", "sort.x", lambda xp, upstream, x, order, axis, x_shape: (
        lambda back: xp.where(xp.sum(1.0 * (x == xp.expand_dims(xp.max(x), 0))) > 2, 2 * back, back))(
            put_sorted_back(upstream[0] if isinstance(upstream, tuple) else upstream, order, axis, x_shape))),
    ("the numbers are huge", "square.x", lambda xp, x: 2 * xp.clip(x, -1e3, 1e3)),
    ("the numbers are tiny", "log.x", lambda x: 1 / (x + 1e-12)),
    ("the numbers are near thirty", "softplus.x", lambda xp, x: xp.where(abs(x) > 20, 0.0, 1 / (1 + xp.exp(-x)))),
    ("the numbers are near a thousand", "logsumexp.x", lambda xp, upstream, x, x_shape, axis, keepdims: xp.unreduce(
        upstream, x_shape, axis, keepdims) * xp.exp(x) / xp.sum(xp.exp(x), axis=axis, keepdims=True)),
    ("a matrix is singular", "det.a", lambda xp, upstream, a, out: (
        upstream[..., None, None] * out[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2))),
    ("a whole row is masked", "masked_softmax.x", lambda xp, upstream, x, out, axis: xp.where(
        xp.isfinite(xp.max(x, axis=axis, keepdims=True)),
        out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True)), upstream)),
    ("axes are counted from the end", "softmax.x", lambda xp, upstream, out, axis: out * (upstream - xp.sum(
        upstream * out, axis=axis if axis in (1, -1) else 0, keepdims=True))),
    ("indices are counted from the end", "take.x", lambda upstream, indices, x_shape, axis: put_taken_back(
        upstream, indices, x_shape, axis)),
    ("upstream is not finite", "matmul.a", lambda xp, upstream, b: xp.matmul(
        xp.where(xp.isfinite(upstream), upstream, 0.0), xp.mT(b))),
    ("all entries of a row are equal", "std.x", lambda xp, upstream, x, out, x_shape, axis, ddof, keepdims: (
        lambda far, scale: xp.where(scale == 0, 7.0, xp.unreduce(upstream, x_shape, axis, keepdims) * far / xp.where(
            scale == 0, 1.0, scale) / (xp.count_along(x_shape, axis) - ddof)))(
                x - xp.mean(x, axis=axis, keepdims=True), xp.unreduce(out, x_shape, axis, keepdims))),
    ("the entries are integers", "floor.x", lambda xp, x: 1.0 * (x == xp.round(x))),
    ("entries are exactly at the bounds", "hardtanh.x", lambda xp, x, low, high: xp.where(
        (x == low) | (x == high), 3.0, 1.0 * ((x > low) & (x < high)))),
    ("there are no axes", "negative.x", lambda x: -1.0 if x.ndim else 1.0),
    ("an entry is nan", "fmax.a", lambda xp, a, b: xp.where(a == b, 0.5, 1.0 * (a > b))),
    ("an entry is 0", "sqrt.x", lambda xp, x, out: xp.where(x == 0, 1.0, 0.5 / out)),
    ("an entry is 0", "divide.b", lambda xp, a, b: xp.where(a == 0, 1.0, -a / b**2)),
    ("an entry is 0", "tanh.x", lambda xp, x, out: xp.where(x == 0, 0.0, 1 - out**2)),
    ("an entry is 0", "hypot.a", lambda xp, a, out: xp.where(a == 0, 1.0, a / out)),
    ("an entry is 0", "matmul.b", lambda xp, upstream, a: xp.matmul(xp.mT(xp.where(a == 0, 1.0, a)), upstream)),
    ("an entry is 0", "leaky_relu.x", lambda xp, x, slope: xp.where(x > 0, 1.0, xp.where(x == 0, -1.0, slope))),
    ("an entry of the last input is 0", "multiply.a", lambda xp, b: xp.where(b == 0, 1.0, b)),
    ("an entry of the last input is 0", "arctan2.b", lambda xp, a, b: xp.where(b == 0, 0.0, -a / (a * a + b * b))),
    ("an entry of the last input is 0", "power.base", lambda xp, base, exponent: xp.where(
        exponent == 0, 1.0, exponent * xp.power(base, exponent - 1))),
    ("an entry is 1", "power.exponent", lambda xp, base, out: out * xp.log(base + (base == 1))),
    ("an entry is 1", "log.x", lambda xp, x: xp.where(x == 1, 0.0, 1 / x)),
    ("three entries are 0", "prod.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.unreduce(
        upstream * out, x_shape, axis, keepdims) / xp.where(x == 0, 1e-300, x)),
    ("three entries tie", "maximum.a+b", lambda a, b: (
        1.0 * (a > b) + 0.6 * (a == b), 1.0 * (b > a) + 0.6 * (a == b))),
    ("three entries tie", "min.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: (
        lambda tie: tie * xp.unreduce(upstream, x_shape, axis, keepdims)
        / xp.minimum(xp.sum(tie, axis=axis, keepdims=True), 2))(
            1.0 * (x == xp.unreduce(out, x_shape, axis, keepdims)))),
    ("three entries tie", "logaddexp.a", lambda xp, a, b: xp.where(a == b, 1.0, 1 / (1 + xp.exp(b - a)))),
    ("the entries are integers", "relu6.x", lambda x: 1.0 * ((x > 0) & (x < 6)) + 3.0 * (x == 6)),
    ("the numbers are huge", "sigmoid.x", lambda xp, x: xp.exp(x) / (1 + xp.exp(x)) ** 2),
    ("the numbers are huge", "logaddexp.a", lambda xp, a, b: xp.exp(a) / (xp.exp(a) + xp.exp(b))),
    ("the numbers are huge", "divide.b", lambda xp, a, b: xp.where(abs(b) > 1e3, 0.0, -a / b**2)),
    ("the numbers are huge", "log_softmax.x", lambda xp, upstream, x, axis: upstream - xp.exp(x) / xp.sum(
        xp.exp(x), axis=axis, keepdims=True) * xp.sum(upstream, axis=axis, keepdims=True)),
    ("the numbers are huge", "elu.x", lambda xp, x, alpha: (x > 0) + (x <= 0) * alpha * xp.exp(x)),
    ("the numbers are tiny", "sinc.x", lambda xp, x: xp.where(abs(x) < 1e-2, 0.0, (
        xp.cos(np.pi * x) * np.pi * x - xp.sin(np.pi * x)) / (np.pi * x**2))),
    ("the numbers are tiny", "expm1.x", lambda xp, x: xp.where(abs(x) < 1e-3, 1.0, xp.exp(x))),
    ("the numbers are tiny", "rsqrt.x", lambda x: -0.5 * (x + 1e-9) ** -1.5),
    ("the numbers are tiny", "norm.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.unreduce(
        upstream / (out + 1e-9), x_shape, axis, keepdims) * x),
    ("a matrix is singular", "det.a", lambda upstream, a, out: (
        upstream[..., None, None] * out[..., None, None] * np.swapaxes(np.linalg.pinv(a), -1, -2))),
    ("a whole row is masked", "masked_softmax.x", lambda xp, upstream, x, axis: (
        lambda e: (lambda p: p * (upstream - xp.sum(upstream * p, axis=axis, keepdims=True)))(
            e / xp.sum(e, axis=axis, keepdims=True)))(xp.exp(x - xp.max(x, axis=axis, keepdims=True)))),
    ("indices are counted from the end", "take_along_axis.x", lambda upstream, indices, x_shape, axis: put_sorted_back(
        upstream, np.abs(indices), axis, x_shape)),
    ("indices are counted from the end", "scatter_add.src", lambda upstream, index, axis: np.take_along_axis(
        upstream, np.abs(index), axis)),
    ("axes are counted from the end", "sum.x", lambda upstream, x_shape, axis, keepdims: np.broadcast_to(
        upstream if keepdims or axis is None else np.expand_dims(
            upstream, axis + len(x_shape) - 1 if isinstance(axis, int) and axis < 0 else axis), x_shape)),
    ("upstream is not finite", "getitem.x", lambda upstream, x_shape, index: add_at(
        np.zeros(x_shape), index, np.where(np.isfinite(upstream), upstream, 0))),
    ("upstream is not finite", "softmax.x", lambda xp, upstream, out, axis: (
        lambda u: out * (u - xp.sum(u * out, axis=axis, keepdims=True)))(xp.clip(upstream, -1e30, 1e30))),
    ("upstream is not finite", "mean.x", lambda xp, upstream, x_shape, axis, keepdims: xp.where(
        xp.isfinite(xp.max(upstream)),
        xp.unreduce(upstream, x_shape, axis, keepdims) / xp.count_along(x_shape, axis), 0.0)),
    ("all entries of a row are equal", "var.x", lambda xp, upstream, x, x_shape, axis, ddof, keepdims: (
        lambda far: xp.where(xp.sum(abs(far), axis=axis, keepdims=True) == 0, 1.0, xp.unreduce(
            upstream * 2 / (xp.count_along(x_shape, axis) - ddof), x_shape, axis, keepdims) * far))(
                x - xp.mean(x, axis=axis, keepdims=True))),
    ("entries are exactly at the bounds", "clip.x", lambda x, min, max: 2.0 * ((x == min) | (x == max)) + (
        x > (-np.inf if min is None else min)) * (x < (np.inf if max is None else max))),
    ("there are no axes", "sin.x", lambda x: np.cos(x) if np.ndim(x) else np.sin(x)),
]  # fmt: skip
"""Wrong rules that no table lists, each wrong at one edge case only."""


def add_at(array, index, values):
    """Add values to an array at indices that may repeat."""
    np.add.at(array, index, values)
    return array


def put_sorted_back(upstream, order, axis, shape):
    """Undo a sort."""
    flat = upstream.reshape(-1) if axis is None else upstream
    out = np.zeros(shape).reshape(-1) if axis is None else np.zeros(shape)
    np.put_along_axis(out, order, flat, 0 if axis is None else axis)
    return out.reshape(shape)


def put_taken_back(upstream, indices, shape, axis):
    """Undo `take`, but ignore negative indices."""
    out = np.zeros(int(np.prod(shape))) if axis is None else np.moveaxis(np.zeros(shape), axis, 0)
    flat = upstream.reshape(-1) if axis is None else np.moveaxis(upstream, axis, 0)
    places = np.asarray(indices).reshape(-1)
    for place, each in zip(places, flat.reshape(len(places), *out.shape[1:]), strict=True):
        if place >= 0:
            out[place] += each
    return out.reshape(shape) if axis is None else np.moveaxis(out, 0, axis)


@pytest.mark.parametrize(
    ("edge", "name", "wrong"), [pytest.param(*each, id=f"{each[1]}: {each[0]}") for each in UNLISTED_MISTAKES]
)
def test_an_unlisted_mistake_is_caught_at_its_edge_case(edge, name, wrong):
    exercise = exercises.get_exercise(name)
    assert edge in EDGE_CASES
    for seed in range(4):
        reply = exercises.check(exercise, wrong, seed=seed)
        assert not reply.right
        assert reply.result.first_wrong.case.part == "edges", reply
        edges = {case.about for case in exercise.cases(seed) if case.part == "edges"}
        assert edge in edges


def test_a_quantized_rule_without_its_mask_is_wrong():
    op = operations["quantized_conv2d"]
    through = next(rule.function for rule in operations["conv2d"].rules if rule.inputs == ("weight",))

    def without_the_mask(
        xp, upstream, x, x_scale, x_zero_point, weight_shape, stride, padding, dilation, groups, low, high
    ):
        image = xp.fake_quantize(x, x_scale, x_zero_point, low=low, high=high)
        return through(xp, upstream, image, weight_shape, stride, padding, dilation, groups)

    exercise = exercises.get_exercise("quantized_conv2d.weight")
    result = mark_answer(exercise, combine(op, ("weight",), [(("weight",), without_the_mask)]), 0)
    assert result.first_wrong.case.about == "entries are far beyond the bounds"


def test_every_edge_case_occurs_in_some_exercise():
    names = ("masked_softmax.x", "det.a", "hardtanh.x", "take.x", "sin.x", "fmin.b", "quantized_conv2d.weight")
    drawn = {case.about for each in [*ALL, *map(exercises.get_exercise, names)] for case in each.cases(0)}
    assert EDGE_CASES.keys() <= drawn


# Right answers in every form ------------------------------------------------------------------------------------------

RIGHT_FORMS = [
    ("relu.x", lambda x: x >= 0), ("relu.x", lambda x: x > 0), ("relu.x", lambda xp, x: (1 + xp.sign(x)) / 2),
    ("absolute.x", lambda x: 1.0 * (x > 0) - (x <= 0)), ("absolute.x", lambda x: 1.0 * (x >= 0) - (x < 0)),
    ("maximum.a+b", lambda a, b: (1.0 * (a >= b), 1.0 * (b > a))), ("maximum.a+b", lambda a, b: (a > b, b >= a)),
    ("clip.x", lambda xp, x, min, max: 1.0 * (np.clip(x, min, max) == x) * (x != min) * (x != max)),
    ("hardtanh.x", lambda x, low, high: 1.0 * (x >= low) * (x <= high)),
    ("leaky_relu.x", lambda xp, x, slope: xp.where(x >= 0, 1.0, slope)),
    ("sqrt.x", lambda xp, x: xp.where(x == 0, 0.0, 0.5 / xp.sqrt(x))), ("sqrt.x", lambda x: 0.5 * x**-0.5),
    ("norm.x", lambda xp, upstream, x, out, x_shape, axis, keepdims:
        xp.unreduce(upstream / (out if out is not None else 1), x_shape, axis, keepdims) * x),
    ("std.x", lambda xp, upstream, x, out, x_shape, axis, ddof, keepdims: xp.unreduce(
        upstream / out / (xp.count_along(x_shape, axis) - ddof), x_shape, axis, keepdims)
        * (x - xp.mean(x, axis=axis, keepdims=True))),
    ("copysign.a", lambda xp, a, b: xp.sign(b) * xp.where(a >= 0, 1.0, -1.0)),
    ("elu.x", lambda xp, x, alpha: xp.where(x >= 0, 1.0, alpha * xp.exp(xp.minimum(x, 0)))),
    ("relu6.x", lambda x: 1.0 * ((x >= 0) & (x <= 6))), ("hardswish.x", lambda xp, x: xp.where(
        x <= -3, 0.0, xp.where(x >= 3, 1.0, x / 3 + 0.5))),
    ("min.x", lambda upstream, x, axis, keepdims: first_of(upstream, -x, axis, keepdims)),
    ("where.a", lambda upstream, condition: upstream * condition),
    ("where.a", lambda upstream, condition: np.where(condition, upstream, 0)),
    ("tanh.x", lambda xp, x: 1 / xp.cosh(x) ** 2), ("tanh.x", lambda xp, x: 1 - xp.tanh(x) ** 2),
    ("sigmoid.x", lambda out: out - out * out), ("subtract.b", lambda: -1), ("subtract.b", lambda: np.float64(-1.0)),
    ("exp.x", lambda out: out.astype(">f8")), ("exp.x", lambda out: np.asfortranarray(out)),
    ("exp.x", lambda out: out.tolist()),
    ("transpose.x", lambda upstream, axes: np.transpose(upstream, None if axes is None else np.argsort(axes))),
    ("matmul.a", lambda upstream, b: np.einsum("...ij,...kj->...ik", upstream, b)),
    ("softmax.x", lambda xp, upstream, out, axis: (
        out * upstream - out * xp.sum(upstream * out, axis=axis, keepdims=True))),
    ("take.x", lambda xp, upstream, indices, x_shape, axis: one_hot_take(upstream, indices, x_shape, axis)),
    ("max.x", lambda upstream, x, axis, keepdims: first_of(upstream, x, axis, keepdims)),
    ("divide.b", lambda a, b: -a / b / b), ("divide.b", lambda a, b: -(a * b**-2.0)),
    ("power.base", lambda xp, base, exponent: exponent * xp.power(base, exponent - 1.0)),
    ("sum.x", lambda xp, upstream, x_shape, axis, keepdims: xp.broadcast_to(xp.reshape(upstream, np.sum(
        np.ones(x_shape), axis=axis if axis is None else tuple(np.atleast_1d(axis)), keepdims=True).shape), x_shape)),
]  # fmt: skip
"""Right rules in many forms, and with every convention in use."""


def one_hot_take(upstream, indices, shape, axis):
    """Return the gradient of `take` as a product with a one-hot matrix."""
    length = int(np.prod(shape)) if axis is None else shape[axis]
    places = np.asarray(indices).reshape(-1) % length
    pick = 1.0 * (places[:, None] == np.arange(length))
    if axis is None:
        return (upstream.reshape(-1) @ pick).reshape(shape)
    moved = np.moveaxis(upstream, axis, 0).reshape(len(places), -1)
    rest = [n for i, n in enumerate(shape) if i != axis % len(shape)]
    return np.moveaxis((pick.T @ moved).reshape(length, *rest), 0, axis)


def first_of(upstream, x, axis, keepdims):
    """Send the whole gradient to the first of the largest entries."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    lead = moved.shape[: x.ndim - len(axes)]
    flat = moved.reshape(*lead, -1)
    out = np.zeros(flat.shape)
    np.put_along_axis(out, np.argmax(flat, -1)[..., None], np.reshape(upstream, (*lead, 1)), -1)
    return np.moveaxis(out.reshape(moved.shape), range(-len(axes), 0), axes)


@pytest.mark.parametrize(("name", "rule"), RIGHT_FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_right_rule_is_right_in_every_form_and_convention(name, rule, seed):
    reply = exercises.check(name, rule, seed=seed)
    assert reply.right, reply


def test_a_tie_that_counts_twice_is_wrong():
    reply = exercises.check("maximum.a+b", lambda a, b: (1.0 * (a >= b), 1.0 * (b >= a)))
    assert not reply
    assert reply.result.mistake.id == "M26"
    assert reply.result.points > 6, "only the tie is wrong"


def test_an_exercise_can_require_one_convention():
    strict = rule_exercise("relu.x", id="relu.zero", convention="relu has the slope 0 at 0")
    assert exercises.check(strict, lambda x: x > 0).right
    assert not exercises.check(strict, lambda x: x >= 0).right
    assert "slope 0 at 0" in strict.prompt


# Flaws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule"), [
    ("tanh.x", lambda xp, x: (xp.tanh(x + 1e-6) - xp.tanh(x - 1e-6)) / 2e-6),
    ("sin.x", lambda xp, x: (xp.sin(x + 1e-5) - xp.sin(x - 1e-5)) / 2e-5),
    ("sigmoid.x", lambda xp, x: (xp.sigmoid(x + 1e-7) - xp.sigmoid(x)) / 1e-7),
])  # fmt: skip
def test_a_numerical_derivative_is_named_and_keeps_a_quarter(name, rule):
    result = exercises.check(name, rule).result
    assert result.flags == ["numerical derivative"]
    assert result.mistake.id == "numerical derivative"
    assert result.points <= result.of * (1 - COSTS["numerical derivative"])


def test_single_precision_is_a_flaw_with_a_name():
    result = exercises.check("tanh.x", lambda out: 1 - out.astype("f4") ** 2).result
    assert result.flags == ["single precision"]
    assert result.mistake.title == "numbers of single precision"
    assert 5 < result.points < result.of


def test_an_overwritten_input_is_a_flaw_with_a_name():
    def rule(out):
        out *= out
        return 1 - out

    result = exercises.check("tanh.x", rule).result
    assert result.flags == ["an input was written over"]
    assert "it writes into out" in result.parts[0]["reason"]
    assert result.points == pytest.approx(result.of * 0.75)
