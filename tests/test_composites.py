"""Composites: one application with one rule outside, many operations inside, and the same gradient."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import arrays, tensors
from micrograd_plus.checks.promises import check
from micrograd_plus.core.composite import Composite
from micrograd_plus.core.define import operations

COMPOSITES = [name for name, op in operations.items() if isinstance(op, Composite)]


def draw(*shape, seed=0, **options):
    return mg.tensor(np.random.default_rng(seed).normal(size=shape), **options)


def test_a_composite_is_one_application_with_a_step_per_input():
    x, past = draw(2, 3, requires_grad=True), draw(2, 3, seed=1, requires_grad=True)
    with mg.record() as trace:
        mg.residual_layer_norm(x, past).sum().backward()
    assert [node.op for node in trace.nodes if node.op] == ["residual_layer_norm", "sum"]
    assert [step.rule for step in trace] == ["sum.x", "residual_layer_norm.x", "residual_layer_norm.residual"]
    rule = trace.rules["residual_layer_norm.x"]
    assert rule.text == "contribution = Σ[entries of residual_layer_norm](upstream · ∂residual_layer_norm/∂x)"
    assert rule.reason.startswith("No rule of its own: by the chain rule, a walk goes back")
    assert "return xp.layer_norm(x + residual" in rule.source


def test_a_composite_runs_on_arrays_if_no_gradient_is_needed(own_operations):
    namespaces = []

    @mg.composite
    def double(xp, x):
        namespaces.append(xp)
        return x + x

    x = draw(2, requires_grad=True)
    double(x)
    double(x.detach())
    with mg.no_grad():
        double(x)
    assert namespaces == [tensors, arrays, arrays]


def test_the_steps_inside_add_up_to_the_composites_contribution():
    x, weight = draw(2, 4, 3, requires_grad=True), draw(4, seed=1, requires_grad=True)
    with mg.record() as trace:
        (mg.group_norm(x, weight, num_groups=2) ** 2).sum().backward()
    place = next(step.index for step in trace if step.rule == "group_norm.x")
    within = trace.inside(place)
    assert {"reshape", "layer_norm", "scaled_channels"} <= {node.op for node in within.nodes}
    arrived = {within.nodes[node].label: gradient for node, gradient in within.gradients.items()}
    for name in ("x", "weight"):
        whole = next(step.contribution for step in trace if step.rule == f"group_norm.{name}")
        np.testing.assert_allclose(arrived[name], whole, rtol=1e-12)


def test_a_composite_inside_a_composite_can_be_opened():
    rng = np.random.default_rng(0)
    shapes = [(1, 3, 4), (12, 4), (12,), (4, 4), (4,), (5, 4), (5,), (4, 5), (4,), (4,), (4,), (4,), (4,)]
    given = [mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]
    with mg.record() as trace:
        mg.transformer_layer(*given, heads=2).sum().backward()
    assert [node.op for node in trace.nodes if node.op] == ["transformer_layer", "sum"]
    layer = trace.inside(1)
    block = layer.inside(next(step for step in layer if step.rule == "attention_block.x"))
    attention = block.inside(next(step for step in block if step.rule == "attention.query"))
    assert "scaled_dot_product_attention.query" in attention.rules


def test_a_tensor_passed_twice_receives_two_contributions():
    x = draw(2, 3, requires_grad=True)
    with mg.record() as trace:
        (mg.lerp(mg.residual_layer_norm(x, x), 0.0, 0.5) ** 2).sum().backward()
    first, second = (step for step in trace if step.rule.startswith("residual_layer_norm"))
    np.testing.assert_allclose(first.contribution, second.contribution)
    np.testing.assert_allclose(second.after, first.contribution + second.contribution)


@pytest.mark.parametrize("name", COMPOSITES)
def test_an_unfused_composite_is_not_an_application(name):
    sample = mg.samples.samples[name][0]
    inputs = [mg.tensor(x, requires_grad=True) if getattr(x, "dtype", "") == "float64" else x for x in sample.inputs]
    with mg.unfuse(), mg.record() as trace:
        sample.op.call_with(inputs, sample.params).sum().backward()
    assert name not in {node.op for node in trace.nodes}
    assert len(trace.steps) > 1


@pytest.mark.parametrize("call", [
    lambda x: mg.affine(x, 2.0, x), lambda x: mg.lerp(x, 1.0, x),
    lambda x: mg.addcmul(x, x, x), lambda x: mg.swiglu(x, x),
])  # fmt: skip
def test_an_elementwise_chain_is_one_step_or_its_primitives(call):
    fused, apart = draw(3, requires_grad=True), draw(3, requires_grad=True)
    with mg.record() as one:
        call(fused).sum().backward()
    with mg.unfuse(), mg.record() as several:
        call(apart).sum().backward()
    np.testing.assert_allclose(fused.grad.numpy(), apart.grad.numpy(), rtol=1e-14)
    assert len([node for node in one.nodes if node.op]) == 2 < len([node for node in several.nodes if node.op])


def test_a_gradient_through_a_composite_has_a_gradient():
    x = draw(2, 4, 3)
    weight = draw(4, seed=1)
    assert mg.gradcheck(mg.grad(lambda x, w: (mg.group_norm(x, w, num_groups=2) ** 3).sum()), (x, weight))


def test_an_input_without_influence_receives_zeros():
    @mg.composite
    def first_input(xp, a, b):
        return xp.tanh(a) + 0 * xp.stop_gradient(b)

    a, b = draw(3, requires_grad=True), draw(3, requires_grad=True)
    first_input(a, b).sum().backward()
    assert b.grad.tolist() == [0, 0, 0]
    del operations["first_input"]


def test_retain_graph_false_frees_saved_values_of_a_composite():
    x = draw(2, 3, requires_grad=True)
    y = mg.residual_rms_norm(x, x)
    y.backward(mg.tensor(np.ones((2, 3))), retain_graph=False)
    with pytest.raises(RuntimeError, match="backward through residual_rms_norm a second time"):
        y.backward(mg.tensor(np.ones((2, 3))))


def test_an_error_names_the_composite():
    with pytest.raises(ValueError, match=r"group_norm\(x: \(2, 5\) float64"):
        mg.group_norm(draw(2, 5, requires_grad=True), num_groups=2)


def test_adding_a_rule_to_a_composite_is_an_error():
    with pytest.raises(TypeError, match=r"attention is a composite, .* define it with @mg.op"):
        mg.attention.rule("query")(lambda upstream: upstream)


@pytest.mark.usefixtures("own_operations")
def test_a_user_composite_keeps_every_promise():
    @mg.composite
    def log_distance(xp, a, b, *, shift=1.0):
        """Return the logarithm of a squared distance, shifted."""
        return xp.log(shift + xp.sum(xp.square(a - b), axis=-1))

    rng = np.random.default_rng(5)
    mg.samples.sample(log_distance, rng.normal(size=(2, 3)), rng.normal(size=(1, 3)))
    assert set(check(log_distance).values()) == {1}


@pytest.mark.parametrize("last", [lambda h, c: h.sum() + (2 * c).sum(), lambda h, c: (h * h).sum()])
def test_stepping_inside_starts_at_the_outputs_with_a_gradient(last):
    gates, cell = draw(2, 12, requires_grad=True), draw(2, 3, seed=1, requires_grad=True)
    with mg.record() as trace:
        last(*mg.lstm_cell(gates, cell)).backward()
    place = next(step.index for step in trace if step.rule == "lstm_cell.gates")
    within = trace.inside(place)
    assert {"split", "sigmoid", "tanh", "multiply"} <= {node.op for node in within.nodes}
    arrived = {within.nodes[node].label: gradient for node, gradient in within.gradients.items()}
    np.testing.assert_allclose(arrived["gates"], gates.grad.numpy(), rtol=1e-12)
    np.testing.assert_allclose(arrived["cell"], cell.grad.numpy(), rtol=1e-12)


@pytest.mark.usefixtures("own_operations")
def test_a_composite_of_one_tensor_twice_adds_both_gradients():
    @mg.composite
    def weighted_squares(xp, a, b):
        return xp.sum(a * b * b)

    x = mg.tensor([2.0, 3.0], requires_grad=True)
    weighted_squares(x, x).backward()
    assert x.grad.tolist() == [12, 27]
