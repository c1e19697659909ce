"""Marking: right answers are right, flaws explain only their own cases, and nothing is earned by forged answers."""

import numpy as np
import pytest

from micrograd_plus import exercises
from micrograd_plus.exercises.mark import NUMERICAL
from micrograd_plus.exercises.sandboxed import carry_out
from student_mistakes import longer


def mark_answer(name, answer, seed=1):
    exercise = exercises.get_exercise(name)
    cases = exercise.cases(seed)
    return exercise.mark(cases, [carry_out(answer, case.request) for case in cases])


# Forged answers -------------


@pytest.mark.parametrize("name", ["tanh.x", "softmax.x", "floor.x", "sign.x"])
@pytest.mark.parametrize("fill", [np.nan, np.inf, 0.0, 1.0])
def test_a_constant_in_single_precision_earns_the_shape_only(name, fill):
    result = mark_answer(name, lambda out: np.full(out.shape, fill, "f4"))
    allowed = 1 if fill != 0.0 or name in ("tanh.x", "softmax.x") else 10
    assert result.points <= allowed
    assert not result.flags


def test_nan_where_the_answer_is_hard_is_not_single_precision():
    def nan_where_hard(out):
        right = (1 - out * out).astype("f4")
        return np.where(np.abs(out) > 0.5, np.nan, right).astype("f4")

    assert mark_answer("tanh.x", nan_where_hard).points <= 1


def test_single_precision_explains_only_the_cases_that_agree():
    def half_single(out):
        right = (1 - out * out).astype("f4")
        return right if out.ndim else right * 2

    result = mark_answer("tanh.x", half_single)
    assert result.flags == ["single precision"]
    assert result.first_wrong.case.about == "there are no axes"


# Small numbers that are added


EPSILONS = {
    "log.x": lambda x: 1 / (x + 1e-8),
    "divide.b": lambda a, b: -a / (b * b + 1e-8),
    "sigmoid.x": lambda out: out * (1 - out) + 1e-8,
    "sqrt.x": lambda out: 0.5 / (out + 1e-7),
    "tanh.x": lambda out: 1 - out * out + 1e-9,
    "softmax.x": lambda upstream, out, axis: out * (upstream - (upstream * out).sum(axis, keepdims=True)) + 1e-8,
    "binary_cross_entropy_with_logits.logits": lambda upstream, logits, target: (
        upstream * ((p := 1 / (1 + np.exp(-logits))) - target) / (p * (1 - p) + 1e-8) * p * (1 - p)
    ),
}


@pytest.mark.parametrize("name", EPSILONS)
def test_an_added_epsilon_costs_little_and_is_called_so(name):
    result = mark_answer(name, EPSILONS[name])
    assert result.points >= 8.5
    assert not result.right
    assert result.mistake.id == "a small number is added"


def test_an_epsilon_below_rounding_costs_nothing():
    assert mark_answer("tanh.x", lambda out: 1 - out * out + 1e-15).right


# Numerical derivatives ------


def stencil(f, weights):
    def slope(x, h):
        return sum(w * (f(x + k * h) - f(x - k * h)) for k, w in enumerate(weights, 1)) / h

    return slope


STENCILS = {2: [1 / 2], 4: [2 / 3, -1 / 12], 6: [3 / 4, -3 / 20, 1 / 60], 8: [4 / 5, -1 / 5, 4 / 105, -1 / 280]}
CURVES = {"tanh.x": np.tanh, "exp.x": np.exp, "log.x": np.log, "sqrt.x": np.sqrt}


@pytest.mark.parametrize("points", STENCILS)
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("h", [1e-6, 1e-4, 1e-3])
def test_stencils_of_up_to_eight_points_are_flagged(name, points, h):
    slope = stencil(CURVES[name], STENCILS[points])
    result = mark_answer(name, lambda x: slope(x, h))
    assert result.flags == [NUMERICAL]
    assert result.points <= 2.5


EXACT = {
    "a complex step": lambda x: np.tanh(x + 1e-200j).imag / 1e-200,
    "another formula": lambda x: 1 / np.cosh(np.clip(x, -700, 700)) ** 2,
}


@pytest.mark.parametrize("how", EXACT)
def test_a_derivative_without_an_error_is_not_flagged(how):
    assert not mark_answer("tanh.x", EXACT[how]).flags


# Right answers --------------


@pytest.mark.parametrize("seed", range(3))
def test_softmax_minus_target_is_right(seed):
    def textbook(upstream, logits, target):
        e = np.exp(logits - logits.max(-1, keepdims=True))
        return upstream[..., None] * (e / e.sum(-1, keepdims=True) - target)

    assert mark_answer("softmax_cross_entropy.logits", textbook, seed).right


def test_a_product_must_also_sum_over_leading_axes_of_length_1():
    def sum_surplus_axes(xp, upstream, a, b_shape):
        sent = xp.mT(a) @ upstream
        return sent.sum(axis=tuple(range(sent.ndim - len(b_shape))))

    result = mark_answer("matmul.b.whole", sum_surplus_axes)
    assert not result.right
    assert result.first_wrong.case.about == "leading axes have length 1 and are repeated"


def attention(upstream, query, key, value, bias, scale, weights):
    def t(x):
        return np.swapaxes(x, -1, -2)

    scale = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    received = upstream @ t(value)
    scores = weights * (received - (received * weights).sum(-1, keepdims=True))
    summed = None
    if bias is not None:
        summed = scores.sum(tuple(range(scores.ndim - bias.ndim)))
        axes = tuple(i for i, n in enumerate(bias.shape) if n == 1 and summed.shape[i] != 1)
        summed = summed.sum(axes, keepdims=True)
    return scores @ key * scale, t(scores) @ query * scale, t(weights) @ upstream, summed


@pytest.mark.parametrize("seed", range(3))
def test_attention_is_right_with_none_for_an_absent_bias(seed):
    assert mark_answer("scaled_dot_product_attention.query+key+value+bias", attention, seed).right


def test_a_tail_of_the_smallest_numbers_is_as_good_as_zero():
    def clip_first(x):
        x = np.clip(x, -700, 700)
        return 1 / (2 + np.exp(x) + np.exp(-x))

    assert all(mark_answer("sigmoid.x", clip_first, seed).right for seed in range(3))


def test_a_recursive_sort_loses_only_the_deep_chain():
    def recursive(parents, root):
        order, seen = [], set()

        def build(node):
            if node not in seen:
                seen.add(node)
                for parent in parents[node]:
                    build(parent)
                order.append(node)

        build(root)
        return order[::-1]

    result = mark_answer("engine.order", recursive)
    assert [part["points"] for part in result.parts] == [1, 6, 2]
    assert "3,000" in exercises.get_exercise("engine.order").prompt


# Orders of a class ----------


@pytest.mark.parametrize("order", ["breadth", "preorder", "recursion"])
def test_a_value_that_walks_in_a_wrong_order_is_wrong(order):
    assert mark_answer("engine.value", longer.make_value(order=order)).points <= 2


def test_a_value_that_remembers_nodes_by_their_number_is_wrong():
    assert mark_answer("engine.value", longer.make_value()).right
    assert mark_answer("engine.value", longer.make_value(key=lambda node: node.data)).points <= 2
