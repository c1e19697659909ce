"""Transforms of functions: gradients, Jacobian products and whole Jacobians, also nested."""

import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import micrograd_plus as mg
from micrograd_plus.checks import promises as check
from micrograd_plus.checks.samples import samples
from micrograd_plus.transforms.gradcheck import GradientError


def close(tensor, expected, **tolerances):
    np.testing.assert_allclose(tensor.numpy(), expected, **{"rtol": 1e-10, "atol": 1e-12, **tolerances})


MATRIX = np.array([[2.0, -1.0, 0.5], [0.3, 1.7, -0.4]])
SQUARE = np.array([[2.0, -1.0, 0.5], [0.3, 1.7, -0.4], [1.1, 0.2, -0.9]])
POINT = np.array([0.7, -1.3, 2.1])

# Gradients --------------------------------------------------------------------------------------------------


def test_grad_of_a_quadratic_form_has_the_closed_form():
    close(mg.grad(lambda x: x @ (mg.tensor(SQUARE) @ x))(POINT), (SQUARE + SQUARE.T) @ POINT)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_grad_nests_to_any_order(order):
    derivative = lambda x: mg.sin(2 * x)
    for _ in range(order):
        derivative = mg.grad(derivative)
    cycle = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]
    assert derivative(0.3).item() == pytest.approx(2**order * cycle[order % 4](0.6), rel=1e-12)


def test_an_inner_gradient_may_use_the_outer_variable():
    # d/dx [ x * d/dy (x y^2) at y = x ] = d/dx (2 x^3) = 6 x^2
    assert mg.grad(lambda x: x * mg.grad(lambda y: x * y * y)(x))(3.0).item() == 54.0


def test_confusing_inner_and_outer_variables_is_impossible():
    # d/dx [ x * d/dy (x + y) at y = 1 ] = 1
    assert mg.grad(lambda x: x * mg.grad(lambda y: x + y)(1.0))(1.0).item() == 1.0


def test_argnums_chooses_the_arguments():
    f = lambda a, b, c: (a * b + c).sum()
    a, b, c = (np.array(v) for v in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]))
    close(mg.grad(f)(a, b, c), b)
    close(mg.grad(f, argnums=1)(a, b, c), a)
    by_b, by_c = mg.grad(f, argnums=(1, 2))(a, b, c)
    close(by_b, a)
    close(by_c, [1.0, 1.0])
    close(mg.grad(f, argnums=-1)(a, b, c), [1.0, 1.0])


def test_value_and_grad_gives_both_and_keywords_pass_through():
    value, gradient = mg.value_and_grad(lambda x, power: (x**power).sum())(np.array([1.0, 2.0]), power=3)
    assert value.item() == 9.0
    close(gradient, [3.0, 12.0])


def test_has_aux_hands_anything_else_through():
    f = lambda x: ((x * x).sum(), {"norm": x.abs().sum(), "note": "seen"})
    (value, aux), gradient = mg.value_and_grad(f, has_aux=True)(POINT)
    assert value.item() == pytest.approx((POINT**2).sum())
    assert aux["note"] == "seen"
    assert aux["norm"].item() == pytest.approx(np.abs(POINT).sum())
    close(gradient, 2 * POINT)
    gradient, aux = mg.grad(f, has_aux=True)(POINT)
    assert aux["note"] == "seen"
    close(gradient, 2 * POINT)


class Layer(NamedTuple):
    weight: object
    bias: object


def test_arguments_may_be_structures_and_gradients_have_the_same():
    parameters = {"first": Layer(np.ones((3, 2)), np.zeros(2)), "rest": [2.0, (np.ones(2),)]}

    def loss(parameters, x):
        hidden = mg.tanh(x @ parameters["first"].weight + parameters["first"].bias)
        return (hidden * parameters["rest"][0] * parameters["rest"][1][0]).sum()

    gradient = mg.grad(loss)(parameters, POINT)
    assert isinstance(gradient["first"], Layer)
    assert gradient["first"].weight.shape == (3, 2)
    assert isinstance(gradient["rest"], list)
    assert isinstance(gradient["rest"][1], tuple)
    hidden = np.tanh(POINT @ np.ones((3, 2)))
    close(gradient["rest"][0], hidden.sum())
    close(gradient["first"].weight, np.outer(POINT, 2 * (1 - hidden**2)))


def test_an_input_that_is_not_used_receives_zeros():
    gradient = mg.grad(lambda p: (p["used"] ** 2).sum())({"used": 3.0, "unused": np.ones((2, 2))})
    close(gradient["used"], 6.0)
    close(gradient["unused"], np.zeros((2, 2)))


def test_nothing_is_left_in_anybodys_grad():
    outside = mg.tensor([3.0, 4.0], requires_grad=True)
    inside = mg.tensor([1.0, 2.0], requires_grad=True)
    gradient = mg.grad(lambda x: (x * outside).sum())(inside)
    close(gradient, [3.0, 4.0])
    assert outside.grad is None
    assert inside.grad is None


def test_a_gradient_is_differentiable_by_captured_tensors():
    weight = mg.tensor([3.0, 4.0], requires_grad=True)
    mg.grad(lambda x: (x * x * weight).sum())(mg.tensor([1.0, 2.0], requires_grad=True)).sum().backward()
    close(weight.grad, [2.0, 4.0])


def test_no_grad_around_a_transform_does_not_stop_it():
    with mg.no_grad():
        assert mg.grad(lambda x: x * x)(3.0).item() == 6.0


def test_whole_numbers_count_as_floats_and_a_list_is_a_structure():
    assert mg.grad(lambda x: x * x)(3).item() == 6.0
    first, second = mg.grad(lambda pair: pair[0] * pair[1])([2, 5])
    assert (first.item(), second.item()) == (5.0, 2.0)
    for whole in (np.array([1, 2]), mg.tensor([1, 2])):
        with pytest.raises(TypeError, match=r"argument 0 of <lambda> is of int64; a gradient needs floats"):
            mg.grad(lambda x: x.sum())(whole)


def test_single_precision_stays_single_precision():
    x = mg.tensor([1.0, 2.0], dtype="float32")
    assert mg.grad(lambda x: (x**3).sum())(x).dtype == np.float32
    assert mg.jvp(lambda x: x**3, (x,), (np.array([1.0, 0.0]),))[1].dtype == np.float32


# Jacobian products ------------------------------------------------------------------------------------------


def test_vjp_takes_an_upstream_back_to_every_argument():
    out, pull = mg.vjp(lambda a, b: a @ b, MATRIX, POINT)
    close(out, MATRIX @ POINT)
    upstream = np.array([1.0, -2.0])
    to_a, to_b = pull(upstream)
    close(to_a, np.outer(upstream, POINT))
    close(to_b, upstream @ MATRIX)
    close(pull(2 * upstream)[1], 2 * upstream @ MATRIX)


def test_vjp_results_have_a_graph_if_an_input_has_one():
    out, pull = mg.vjp(lambda x: x * x, mg.tensor(3.0))
    assert not pull(None)[0].requires_grad
    upstream = mg.tensor(5.0, requires_grad=True)
    pull(upstream)[0].backward()
    assert upstream.grad.item() == 6.0
    x = mg.tensor(3.0, requires_grad=True)
    _, pull = mg.vjp(lambda x: x * x * x, x)
    pull(out.detach() / 9)[0].backward()
    assert x.grad.item() == 18.0
    assert mg.grad(lambda w: mg.vjp(lambda y: y * y * w, 3.0)[1](None)[0])(2.0).item() == 6.0


def test_vjp_of_a_structure_takes_a_structure_of_upstreams():
    _, pull = mg.vjp(lambda x: {"square": x * x, "sum": x.sum()}, np.array([1.0, 2.0]))
    close(pull({"square": np.array([1.0, 10.0]), "sum": 100.0})[0], [102.0, 140.0])
    close(pull({"sum": 100.0, "square": np.array([1.0, 10.0])})[0], [102.0, 140.0])
    with pytest.raises(ValueError, match="must be a dictionary with the keys 'square', 'sum', got float"):
        pull(1.0)
    with pytest.raises(ValueError, match="got the keys 'square', 'total'"):
        pull({"square": np.array([1.0, 10.0]), "total": 100.0})


def test_upstreams_and_tangents_are_matched_by_key():
    out, moved = mg.jvp(lambda p: p["a"] * 2 + p["b"], ({"a": 1.0, "b": 1.0},), ({"b": 10.0, "a": 1.0},))
    assert (out.item(), moved.item()) == (3.0, 12.0)
    with pytest.raises(ValueError, match="jvp: tangents must be a list or tuple of 2, got 1"):
        mg.jvp(lambda p: p[0] * p[1], ([1.0, 1.0],), ([1.0],))


def test_jvp_moves_the_results_along_the_tangents():
    out, moved = mg.jvp(lambda x: mg.sin(x) * x, (POINT,), (np.array([1.0, 0.0, -2.0]),))
    close(out, np.sin(POINT) * POINT)
    close(moved, (np.cos(POINT) * POINT + np.sin(POINT)) * [1.0, 0.0, -2.0])


def test_jvp_keeps_the_structure_of_arguments_and_results():
    out, (moved, parts) = mg.jvp(
        lambda x, p: (x * p["w"], [x.sum(), p["w"]]),
        (np.array([1.0, 2.0]), {"w": 3.0}),
        (np.array([1.0, 0.0]), {"w": 10.0}),
    )
    close(out[0], [3.0, 6.0])
    close(moved, [13.0, 20.0])
    close(parts[0], 1.0)
    close(parts[1], 10.0)


def test_what_does_not_depend_on_the_arguments_does_not_move():
    constant = mg.tensor([1.0, 2.0])
    close(mg.jvp(lambda x: constant * 2, (1.0,), (1.0,))[1], [0.0, 0.0])


def test_independent_values_have_zero_gradient_beside_infinity():
    unused = np.array([np.inf, np.nan, 1.0])
    close(mg.grad(lambda x, unused: (x * x).sum(), 1)(mg.tensor(POINT), unused), [0.0, 0.0, 0.0])
    close(mg.grad(lambda x: mg.sum(mg.grad(lambda x: mg.floor(x).sum())(x)))(unused), [0.0, 0.0, 0.0])
    close(mg.jvp(lambda x: mg.tensor(unused) * 2, (1.0,), (1.0,))[1], [0.0, 0.0, 0.0])


def test_a_number_in_a_linear_operation_has_zero_tangent():
    x = np.array([1.0, -2.0])
    _, moved = mg.jvp(lambda x: mg.where(x > 0, x, 1.0), (x,), (np.array([3.0, 5.0]),))
    assert moved.tolist() == [3.0, 0.0]


def test_a_tangent_has_the_shape_and_the_precision_of_its_result():
    moved = mg.jvp(lambda x: x + np.array([1.0, 2.0]), (3.0,), (7.0,))[1]
    assert moved.tolist() == [7.0, 7.0]
    narrow = mg.tensor([1.0, -2.0], dtype="float32")
    assert mg.jvp(mg.relu, (narrow,), (mg.tensor([1.0, 1.0]),))[1].dtype == np.float32
    assert mg.jacobian(mg.relu)(narrow).dtype == np.float32
    assert mg.jvp(mg.absolute, (np.array([3 + 4j]),), (np.array([1j]),))[1].tolist() == [0.8]


def test_a_result_whose_rule_reads_no_upstream_does_not_move(own_operations):
    @mg.op
    def still(xp, x):
        """Return a constant that depends on its input in form only."""
        return x * 1

    @still.rule("x")
    def _(xp, x):
        return xp.where(x > 0, 0.0, 0.0)

    assert mg.jvp(still, (POINT,), (POINT,))[1].tolist() == [0.0, 0.0, 0.0]


def test_jvp_goes_through_joins_several_outputs_and_products():
    def f(x):
        first, second = mg.split(x, 2)
        values, _ = mg.topk(mg.concatenate([first * second, second]), 3)
        return mg.einsum("i,j->ij", values, first) @ second

    x, direction = np.array([0.5, -1.5, 2.0, 0.7]), np.array([1.0, -0.3, 0.2, 0.9])
    step = 1e-6
    ahead, behind = f(mg.tensor(x + step * direction)), f(mg.tensor(x - step * direction))
    close(mg.jvp(f, (x,), (direction,))[1], (ahead - behind).numpy() / (2 * step), rtol=1e-7, atol=1e-8)


JOINS_OF_A_USER = {
    "a sum whose rule reads its parts": (lambda upstream, parts: [upstream for _ in parts],
                                         lambda xp, parts: sum(parts)),
    "a sum and a constant": (lambda upstream, parts_shape: [upstream for _ in parts_shape],
                             lambda xp, parts: sum(parts) + 1.0),
    "a sum of squares": (lambda upstream, parts: [2 * upstream * part for part in parts],
                         lambda xp, parts: sum(part * part for part in parts)),
    "an exponential": (lambda upstream, parts_shape, out: [upstream * out for _ in parts_shape],
                       lambda xp, parts: xp.exp(sum(parts))),
}  # fmt: skip
"""Rules and forwards of operations on lists of parts that are not linear, or do not look as if they were."""


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", JOINS_OF_A_USER)
def test_jvp_goes_through_any_variadic_operation_of_a_user(name, recorded):
    rule, forward = JOINS_OF_A_USER[name]
    forward.__name__ = "own_join"
    own_join = mg.variadic(parts=rule)(forward)
    primals, tangents = np.array([0.5, -0.2, 0.3]), np.array([1.0, 3.0, -2.0])
    values = lambda shift: own_join([mg.tensor(x) for x in primals + shift * tangents]).item()
    with mg.record() as trace:
        _, moved = mg.jvp(lambda *parts: own_join(list(parts)), tuple(primals), tuple(tangents))
    found = trace.steps[-1].after if recorded else moved.item()
    assert found == pytest.approx((values(1e-6) - values(-1e-6)) / 2e-6, rel=1e-8)


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("decorate", [mg.elementwise, mg.multilinear, "general"])
def test_an_input_without_a_rule_is_a_constant_in_both_modes(decorate):
    def product(xp, x, y):
        return x * y

    if decorate == "general":
        call = mg.op(product)
        call.rule("x")(lambda upstream, y: upstream * y)
    else:
        call = decorate(x=(lambda y: y) if decorate is mg.elementwise else lambda upstream, y: upstream * y)(product)
    x = mg.tensor(2.0, requires_grad=True)
    assert mg.grad(lambda y: call(x, y))(3.0).item() == 0
    with mg.record() as trace:
        value, moved = mg.jvp(lambda y: call(x, y), (3.0,), (1.0,))
    assert (value.item(), moved.item(), list(trace.steps)) == (6.0, 0.0, [])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.lists(st.floats(-2, 2), min_size=2, max_size=2))
def test_forward_mode_is_the_transpose_of_reverse_mode(direction, upstream):
    f = lambda x: mg.tanh(mg.tensor(MATRIX) @ x) * x[:2]
    moved = mg.jvp(f, (POINT,), (np.array(direction),))[1]
    (received,) = mg.vjp(f, POINT)[1](np.array(upstream))
    assert np.dot(moved.numpy(), upstream) == pytest.approx(np.dot(received.numpy(), direction), abs=1e-12)


def test_modes_mix_in_every_order():
    f = lambda x: (x**4).sum()
    x, v = np.array([1.0, 2.0]), np.array([1.0, -3.0])
    second = 12 * x**2 * v
    close(mg.jvp(mg.grad(f), (x,), (v,))[1], second)
    close(mg.grad(lambda x: mg.jvp(f, (x,), (v,))[1])(x), second)
    close(mg.grad(lambda x: (mg.grad(f)(x) * mg.tensor(v)).sum())(x), second)
    close(mg.jvp(lambda x: mg.jvp(f, (x,), (v,))[1], (x,), (v,))[1], second @ v)
    close(mg.hvp(f, x, v), second)


@pytest.mark.parametrize("name", samples)
def test_the_gradient_of_every_operation_can_be_pushed_forward(name):
    rng = np.random.default_rng(1)
    for sample in samples[name]:
        slope, points = check.gradient_sum(sample), [sample.inputs[i] for i in check.differentiable_inputs(sample)]
        if not points or "the gradient has a gradient" in sample.excused:
            continue
        tangents = [rng.normal(size=x.shape) * (1 + 2j if x.dtype.kind == "c" else 1) for x in points]
        with np.errstate(all="ignore"):
            moved = mg.jvp(slope, points, tangents)[1]
            received = mg.grad(slope, tuple(range(len(points))))(*points)
        expected = sum(np.vdot(each.numpy(), along).real for each, along in zip(received, tangents, strict=True))
        assert moved.item() == pytest.approx(expected, rel=1e-6, abs=1e-9), str(sample)


def test_a_leaf_made_inside_a_function_has_zero_tangent():
    def f(x):
        shift = mg.stop_gradient(x).requires_grad_()
        return x * shift

    assert mg.jvp(f, (3.0,), (1.0,))[1].item() == 3.0


# Jacobians and Hessians -------------------------------------------------------------------------------------


def test_the_jacobian_of_a_linear_map_is_its_matrix():
    close(mg.jacobian(lambda x: mg.tensor(MATRIX) @ x)(POINT), MATRIX)


def test_jacobian_shape_is_result_shape_then_argument_shape():
    jacobian = mg.jacobian(lambda x: mg.sum(x, axis=0) ** 2)(MATRIX)
    assert jacobian.shape == (3, 2, 3)
    expected = np.zeros((3, 2, 3))
    for column in range(3):
        expected[column, :, column] = 2 * MATRIX.sum(0)[column]
    close(jacobian, expected)
    close(mg.jacobian(lambda a, b: a * b, argnums=1)(np.array([1.0, 2.0]), np.ones(2)), np.diag([1.0, 2.0]))


@pytest.mark.parametrize("turned", [lambda x: x.T, lambda x: mg.exp(x.T), lambda x: mg.mT(x) @ np.eye(2)])
def test_jacobian_does_not_depend_on_memory_layout(turned):
    in_order = lambda x: mg.ascontiguousarray(turned(x))
    close(mg.jacobian(turned)(MATRIX), mg.jacobian(in_order)(MATRIX).numpy())
    assert abs(mg.jacobian(turned)(MATRIX).numpy()).sum() > 1


def test_hessian_does_not_depend_on_memory_layout():
    hessian = mg.hessian(lambda x: (x.T**3).sum())(MATRIX).numpy().reshape(6, 6)
    np.testing.assert_allclose(hessian, np.diag(6 * MATRIX.ravel()), rtol=1e-12)


def test_jacobian_rows_are_right_beside_an_infinite_result():
    close(mg.jacobian(lambda x: -x)(np.array([np.inf, 2.0])), [[-1.0, 0.0], [0.0, -1.0]])


def test_the_jacobian_of_one_number_is_the_gradient():
    f = lambda x: (x**3).sum()
    close(mg.jacobian(f)(POINT), 3 * POINT**2)
    assert mg.jacobian(f)(2.0).item() == 12.0
    close(mg.jacobian(mg.jacobian(f))(POINT), np.diag(6 * POINT))


def test_the_jacobian_of_an_empty_result_is_empty():
    jacobian = mg.jacobian(lambda x: x[:0])(mg.tensor(POINT, dtype="float32"))
    assert (jacobian.shape, jacobian.dtype) == ((0, 3), np.float32)


def test_the_jacobian_of_one_number_is_its_gradient():
    assert mg.jacobian(lambda x: x * x)(3.0).item() == 6.0
    close(mg.jacobian(lambda x: (x * x).sum())(POINT), 2 * POINT)


def test_jacobian_of_a_transposed_result_is_the_same():
    close(mg.jacobian(lambda x: x.T)(MATRIX), np.eye(6).reshape(2, 3, 2, 3).transpose(1, 0, 2, 3))
    image, weight = np.arange(8.0).reshape(1, 2, 2, 2), np.array([[1.0, 2.0], [3.0, 4.0]])
    jacobian = mg.jacobian(lambda x: mg.nn.functional.conv2d(x, mg.tensor(weight.reshape(2, 2, 1, 1))))(image)
    close(jacobian[0, :, :, :, 0], np.einsum("oc,hi,wj->ohwcij", weight, np.eye(2), np.eye(2)))
    close(mg.hessian(lambda x: (x.T**3).sum())(MATRIX), np.diag(6 * MATRIX.ravel()).reshape(2, 3, 2, 3))


def test_infinite_values_leave_zero_gradients_of_others_at_0():
    far = mg.tensor([np.inf, 0.0])
    close(mg.jacobian(lambda x: x + far)(np.array([1.0, 2.0])), np.eye(2))
    close(mg.grad(lambda a, b: a * a, argnums=(0, 1))(2.0, np.inf)[1], 0.0)
    close(mg.jvp(lambda x: (x, mg.tensor(np.inf)), (1.0,), (1.0,))[1][1], 0.0)


def test_the_jacobian_can_itself_be_differentiated():
    gradient = mg.grad(lambda x: (mg.jacobian(lambda x: x**3)(x) ** 2).sum())(POINT)
    close(gradient, 36 * POINT**3)


def test_hessian_of_a_quadratic_form_has_the_closed_form():
    close(mg.hessian(lambda x: x @ (mg.tensor(SQUARE) @ x))(POINT), SQUARE + SQUARE.T)


def test_the_hessian_of_rosenbrocks_valley_is_the_known_one():
    def valley(p):
        x, y = p
        return (1 - x) ** 2 + 100 * (y - x * x) ** 2

    x, y = 0.5, -0.3
    known = [[2 - 400 * (y - 3 * x * x), -400 * x], [-400 * x, 200.0]]
    close(mg.hessian(valley)(np.array([x, y])), known)


def test_hvp_is_the_hessian_times_the_vector():
    f = lambda x: mg.logsumexp(mg.tensor(SQUARE) @ x)
    v = np.array([1.0, 0.2, -0.7])
    close(mg.hvp(f, POINT, v), mg.hessian(f)(POINT).numpy() @ v)


# gradcheck --------------------------------------------------------------------------------------------------


def test_gradcheck_accepts_right_real_and_complex_gradients():
    assert mg.gradcheck(lambda x, y: mg.exp(x) @ y, (MATRIX, POINT)) is True
    assert mg.gradcheck(lambda z: mg.absolute(z * z) + z.real, (np.array([1 + 2j, -0.5 + 0.3j]),)) is True


@pytest.fixture
def mix(own_operations):
    """Return a product whose gradient is wrong for one entry of its second input."""

    @mg.op
    def hidden_fault(xp, a, b):
        return a * b

    @hidden_fault.rule("a")
    def _(upstream, b):
        return upstream * b

    @hidden_fault.rule("b")
    def _(upstream, a):
        wrong = np.ones_like(a)
        wrong[1, 0] = 1.25
        return upstream * a * wrong

    def mix(a, b):
        return hidden_fault(a, b)

    return mix


def test_gradcheck_names_input_entry_and_difference(mix):
    with pytest.raises(GradientError) as raised:
        mg.gradcheck(mix, (np.full((2, 2), 3.0), np.full((2, 2), 5.0)))
    message = str(raised.value)
    assert "the gradient of mix is wrong for input 1 at (1, 0)" in message
    got, expected = re.search(r"got (\S+), central differences say (\S+) \(off by", message).groups()
    assert float(got) / float(expected) == pytest.approx(1.25, rel=1e-5)


def test_gradcheck_in_fast_mode_sees_one_wrong_entry_in_few_calls(mix):
    calls = []
    count = lambda a, b: calls.append(1) or mg.tanh(a) * b
    assert mg.gradcheck(count, (np.ones((30, 40)), np.ones((30, 40)) * (1 + 2j)), fast_mode=True)
    assert len(calls) == 2 + 2 * 3 * 2
    with pytest.raises(GradientError, match="the gradient of mix is wrong for input 1 along a random direction"):
        mg.gradcheck(mix, (np.full((2, 2), 3.0), np.full((2, 2), 5.0)), fast_mode=True)


@pytest.mark.parametrize(
    ("scale", "tolerances"),
    [(scale, {"rtol": 1e-3, "atol": 0}) for scale in (1e6, -1e6)]
    + [(scale, {"rtol": 0, "atol": 1e-3}) for scale in (1.0, -1.0)],
)
def test_gradcheck_applies_both_tolerances(scale, tolerances):
    def check(off):
        @mg.custom_vjp
        def scaled_input(x):
            return x * scale

        scaled_input.rule("x")(lambda upstream: upstream * scale * (1 + off))
        return mg.gradcheck(scaled_input, (0.5,), **tolerances)

    for off in (5e-4, -5e-4):
        assert check(off)
    for off in (2e-3, -2e-3):
        with pytest.raises(GradientError):
            check(off)


def test_gradcheck_is_not_blind_to_rules_that_a_plain_sum_hides():
    # With an upstream of ones the softmax has gradient 0, and so has a rule that returns nothing at all.
    cut = lambda x: mg.softmax(mg.stop_gradient(x) + 0 * x)
    with pytest.raises(GradientError):
        mg.gradcheck(cut, (POINT,))


def test_gradcheck_sees_a_gradient_that_is_not_a_number():
    with pytest.raises(GradientError, match="nan"), np.errstate(all="ignore"):
        mg.gradcheck(lambda x: mg.where(x > 0, x, 0.0) + 0 * mg.sqrt(x - x), (POINT,))


def test_gradcheck_takes_single_precision_in_double():
    assert mg.gradcheck(mg.tanh, (mg.tensor([0.3, -0.7], dtype="float32"),))


SLOPES = {
    "grad": lambda f, t: mg.grad(lambda t: f(t).sum())(t),
    "value_and_grad": lambda f, t: mg.value_and_grad(lambda t: f(t).sum())(t)[1],
    "vjp": lambda f, t: mg.vjp(f, t)[1](mg.ones(2))[0],
    "jacobian": lambda f, t: mg.diagonal(mg.jacobian(f)(t)),
    "jvp": lambda f, t: mg.jvp(f, (t,), (mg.ones(2),))[1],
}


@pytest.mark.parametrize("name", SLOPES)
def test_a_derivative_can_be_trained_by_captured_weights(name):
    t, values = np.array([0.2, 0.9]), np.array([0.5, -0.3])
    w = mg.tensor(values, requires_grad=True)
    slope = SLOPES[name](lambda t: mg.tanh(t * w), t)
    np.testing.assert_allclose(slope.numpy(), values * (1 - np.tanh(t * values) ** 2))
    (slope**2).sum().backward()
    assert w.grad is not None
    assert mg.gradcheck(lambda w: (SLOPES[name](lambda t: mg.tanh(t * w), t) ** 2).sum(), [values])
    one = mg.grad(lambda w: (SLOPES[name](lambda t: mg.tanh(t * w), t) ** 2).sum())(values)
    np.testing.assert_allclose(w.grad.numpy(), one.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "vjp", "jacobian"])
def test_a_gradient_has_no_graph_unless_one_is_needed(name):
    w = mg.tensor([0.5, -0.3], requires_grad=True)
    assert not SLOPES[name](mg.tanh, np.array([0.2, 0.9])).requires_grad
    assert not SLOPES[name](lambda t: mg.tanh(t * mg.stop_gradient(w)), np.array([0.2, 0.9])).requires_grad
    with mg.no_grad():
        assert not SLOPES[name](lambda t: mg.tanh(t * w), np.array([0.2, 0.9])).requires_grad
