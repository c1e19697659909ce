"""Forward walks: the tangent, contribution and accumulator of each step."""

import json
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, run
from micrograd_plus.checks.samples import samples

SCHEMA = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
OPS = [name for name in samples if samples[name][0].op.rules and differentiable_inputs(samples[name][0])]


def check_round_trip(trace):
    """Return a trace after checking that it fits the schema and survives a round trip."""
    VALIDATOR.validate(trace.to_dict())
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()
    return trace


def record_push(f, primals, tangents):
    """Return the record of a forward walk, and its final tangent."""
    with mg.record() as trace:
        _, tangent = mg.jvp(f, primals, tangents)
    return check_round_trip(trace), tangent


def edge_of(trace, step):
    """Return the names of a step's start and end."""
    sender = next(at for name, at in trace.nodes[step.node].inputs if name == step.input)
    return trace.nodes[sender].name, trace.nodes[step.target].name


def test_each_step_has_upstream_contribution_and_accumulator():
    def f(x, w):
        h = x * w
        return h + x

    trace, tangent = record_push(f, (3.0, 5.0), (1.0, 10.0))
    (walk,) = trace.walks
    assert (walk.direction, walk.first, walk.steps, walk.seed) == ("forward", 0, 4, None)
    assert trace.nodes[walk.root].op == "add"
    assert [(trace.nodes[leaf.node].name, leaf.value, leaf.received) for leaf in walk.leaves] == [
        ("x", 3.0, 1.0), ("w", 5.0, 10.0)
    ]  # fmt: skip
    assert all(leaf.before is None and leaf.after is None for leaf in walk.leaves)
    found = [(*edge_of(trace, step), step.upstream, step.local, step.contribution, step.after) for step in trace.steps]
    assert found == [
        ("x", "multiply (h)", 1.0, 5.0, 5.0, 5.0),
        ("w", "multiply (h)", 10.0, 3.0, 30.0, 35.0),
        ("multiply (h)", "add", 35.0, 1, 35.0, 35.0),
        ("x", "add", 1.0, 1, 1.0, 36.0),
    ]
    assert [step.accumulates for step in trace.steps] == [False, True, False, True]
    assert [str(step.formula) for step in trace.steps] == [
        "contribution = upstream · w", "contribution = upstream · x", "contribution = upstream",
        "contribution = upstream",
    ]  # fmt: skip
    assert tangent.item() == 36.0
    assert trace.gradients == {}
    assert "2. w adds 30 to multiply (h) (b)" in repr(trace)


def test_a_result_without_tangents_has_no_forward_step():
    trace, _ = record_push(lambda x: mg.tensor(2.0) * 3.0, (1.0,), (1.0,))
    assert [(walk.direction, walk.steps) for walk in trace.walks] == [("forward", 0)]
    assert "nothing that moves was used" in repr(trace)


def test_a_tangent_is_broadcast_like_its_input():
    trace, _ = record_push(lambda b: b * np.ones((2, 3)), (np.array([1.0, 2.0, 3.0]),), (np.array([1.0, 0.0, -1.0]),))
    (step,) = trace.steps
    assert (step.upstream.shape, step.contribution.shape, step.summed_axes) == ((3,), (2, 3), ())


def test_several_results_receive_a_tangent_each():
    def f(a):
        values, vectors = mg.linalg.eigh(a)
        return values.sum() + vectors.sum()

    trace, _ = record_push(f, (np.array([[2.0, 1.0], [1.0, 5.0]]),), (np.eye(2) + 0.3,))
    (application,) = [node for node in trace.nodes if node.op == "eigh"]
    first, second = trace.steps[:2]
    assert first.node == second.node == application.id
    assert [trace.nodes[step.target].kind for step in (first, second)] == ["output", "output"]
    assert [step.contribution.shape for step in (first, second)] == [(2,), (2, 2)]


@pytest.mark.parametrize("name", OPS)
def test_forward_steps_of_every_operation_add_up_to_its_tangent(name):
    sample = samples[name][0]
    places = differentiable_inputs(sample)
    rng = np.random.default_rng(3)
    primals = tuple(np.asarray(sample.inputs[i]) for i in places)
    tangents = tuple(rng.normal(size=x.shape).astype(x.dtype) for x in primals)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mg.record() as trace:
            out, moved = mg.jvp(lambda *leaves: run(sample, replace_inputs(sample, places, leaves)), primals, tangents)
        assert mg.load_trace(trace.to_dict()).steps
    held = {step.target: step.after for step in trace.steps}
    for part, tangent in zip(*(each if isinstance(out, tuple) else (each,) for each in (out, moved)), strict=True):
        if part.dtype.kind in "fc" and np.any(tangent.numpy()):
            ends = [value for value in held.values() if np.shape(value) == tangent.shape]
            assert any(np.allclose(value, tangent.numpy(), rtol=1e-6, equal_nan=True) for value in ends)


def test_the_formula_of_a_forward_step_is_its_contribution():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))

    def f(x, w):
        h = mg.tanh(x @ w)
        return mg.concatenate([h, h * 2.0], axis=1).mean(axis=0)

    trace, _ = record_push(f, (x, w), (x + 1.0, w * w))
    assert [str(step.formula) for step in trace.steps] == [
        "contribution = upstream @ w", "contribution = x @ upstream", "contribution = upstream · (1 − h²)",
        "contribution = upstream · 2", "contribution = concatenate[axis 1]([upstream, 0])",
        "contribution = concatenate[axis 1]([0, upstream])", "contribution = mean[axis 0](upstream)",
    ]  # fmt: skip
    first = trace.steps[0]
    np.testing.assert_allclose(first.contribution, first.upstream @ first.reads["b"])


def test_a_transposed_rule_says_so_and_has_no_formula():
    trace, _ = record_push(mg.softmax, (np.ones(3),), (np.eye(3)[0],))
    rule = trace.rules["softmax.x (forward)"]
    assert (rule.text, rule.reason) == (None, "The transpose of the way back, which this rule says.")
    assert len(trace.steps) == 1


def test_complex_tangents_are_pushed_without_conjugates():
    z, v = np.array([1.0 + 2.0j]), np.array([0.5 - 1.0j])
    trace, tangent = record_push(lambda z: mg.abs(z * z), (z,), (v,))
    np.testing.assert_allclose(trace.steps[0].contribution, v * z)
    last = trace.steps[-1]
    assert last.contribution.dtype == np.float64
    np.testing.assert_allclose(last.after, tangent.numpy())


def test_a_custom_jvp_is_the_rule_of_its_step():
    @mg.custom_jvp
    def product(x, y):
        return x * y

    @product.tangent
    def _(x, y, x_tangent, y_tangent):
        """As it is taught."""
        return x_tangent * y + x * y_tangent

    trace, _ = record_push(product, (2.0, 3.0), (10.0, 1.0))
    found = [(step.input, step.contribution, step.after) for step in trace.steps]
    assert found == [("x", 30.0, 30.0), ("y", 2.0, 32.0)]
    rule = trace.rules["product.x (forward)"]
    assert "x_tangent * y + x * y_tangent" in rule.source
    assert rule.reason == "As it is taught."


# Nested walks ---------------------------------------------------------------------------------------------------------


def test_forward_over_reverse_is_a_backward_then_a_forward_walk():
    with mg.record() as trace:
        product = mg.hvp(lambda x: (x**3).sum(), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    check_round_trip(trace)
    assert [walk.direction for walk in trace.walks] == ["backward", "forward"]
    last = trace.steps[-1]
    assert last.target == trace.root
    np.testing.assert_allclose(last.after, product.numpy())
    assert "steps backward and forward in 2 walks" in repr(trace)


def test_reverse_over_forward_is_a_forward_then_a_backward_walk():
    with mg.record() as trace:
        slope = mg.grad(lambda x: mg.jvp(lambda z: z * z * z, (x,), (1.0,))[1])(2.0)
    check_round_trip(trace)
    assert [walk.direction for walk in trace.walks] == ["forward", "backward"]
    to_x = [step.contribution for step in trace.steps if trace.nodes[step.target].name == "x"]
    assert sum(to_x) == slope.item() == 12.0


def test_forward_over_forward_is_two_forward_walks():
    with mg.record() as trace:
        _, second = mg.jvp(lambda x: mg.jvp(lambda z: z * z * z, (x,), (1.0,))[1], (2.0,), (1.0,))
    check_round_trip(trace)
    assert [walk.direction for walk in trace.walks] == ["forward", "forward"]
    assert trace.steps[-1].after == second.item() == 12.0


def test_the_engines_own_computations_are_not_in_the_trace():
    with mg.record() as trace:
        mg.jvp(mg.linalg.inv, (np.eye(2) + 0.1,), (np.ones((2, 2)),))
    assert [node.op for node in trace.nodes] == [None, "inv"]
    assert len(trace.walks) == 1


def test_recording_changes_no_tangent():
    f = lambda x: (mg.softmax(mg.tanh(x) @ x) * x).sum()
    x, v = np.random.default_rng(1).normal(size=(2, 3, 3))
    plain = mg.jvp(f, (x,), (v,))[1]
    with mg.record():
        recorded = mg.jvp(f, (x,), (v,))[1]
    assert plain.item() == recorded.item()


def test_an_error_in_a_forward_walk_ends_it_at_its_application():
    @mg.custom_jvp
    def odd(x):
        return x * x

    @odd.tangent
    def _(x, x_tangent):
        return mg.reshape(x_tangent, (7,))

    with mg.record() as trace:
        with pytest.raises(ValueError, match="reshape"):
            mg.jvp(lambda x: odd(mg.tanh(x)) + 1.0, (np.ones(2),), (np.ones(2),))
        mg.jvp(lambda x: x * 2.0, (1.0,), (1.0,))
    check_round_trip(trace)
    first, second = trace.walks
    assert trace.nodes[first.error.node].op == "odd"
    assert (first.steps, first.error.kind, second.error) == (1, "ValueError", None)
    assert "mg.reshape(x_tangent" in first.error.lines[0].text
    assert "mg.jvp" in first.error.lines[-1].text
    assert "the walk ends here at odd" in repr(trace)
    assert trace.error is None


@pytest.mark.parametrize("transform", [
    lambda f, x: mg.jvp(f, (x,), (x,)), lambda f, x: mg.hvp(f, x, x), lambda f, x: mg.grad(f)(x),
    lambda f, x: mg.hessian(f)(x),
], ids=["jvp", "hvp", "grad", "hessian"])  # fmt: skip
def test_a_transform_in_a_loop_runs_once_a_round(transform):
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with mg.record() as trace:
        for _ in range(3):
            transform(lambda x: (mg.tanh(x) ** 3).sum(), x)
    assert {group.rounds for group in trace.groups if group.kind == "round"} == {3}


def test_a_walk_that_creates_a_graph_runs_once_a_round():
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with mg.record() as trace:
        for _ in range(3):
            loss = (mg.tanh(x) ** 3).sum()
            loss.backward(create_graph=True)
            (x.grad * x.grad).sum().backward()
            x.grad = None
    assert {group.rounds for group in trace.groups} == {3}


# Together with backward walks -----------------------------------------------------------------------------------------


def test_a_comparison_distinguishes_the_directions_of_walks():
    with mg.record() as forward:
        mg.jvp(lambda x: x * x, (3.0,), (1.0,))
    with mg.record() as back:
        mg.grad(lambda x: x * x)(3.0)
    found = mg.tracing.compare(forward, back)
    assert (found.same, found.difference.word) == (False, "direction")
    assert mg.tracing.compare(forward, forward.to_dict()).same


def test_a_mistake_in_a_replay_changes_no_forward_walk():
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        (x * x).backward()
        mg.jvp(lambda y: y * y, (3.0,), (1.0,))
    wrong = check_round_trip(mg.tracing.replay(trace, "upstream"))
    assert [step.after for step in wrong.steps[2:]] == [3.0, 6.0]
    assert wrong.walks[1].direction == "forward"


def test_a_file_with_a_step_in_the_wrong_direction_is_an_error():
    with mg.record() as trace:
        mg.jvp(lambda x: x * 2.0, (3.0,), (1.0,))
    data = trace.to_dict()
    data["walks"][0]["direction"] = "backward"
    with pytest.raises(mg.tracing.TraceError, match="walk 0 goes backward, and step 0 does not"):
        mg.load_trace(data)


def test_a_part_of_a_long_forward_walk_has_its_nodes():
    def f(x):
        for _ in range(20):
            x = mg.tanh(x)
        return x

    with mg.record() as trace:
        mg.jvp(f, (0.3,), (1.0,))
    part = trace.to_dict(5, 3)
    VALIDATOR.validate(part)
    assert [step["index"] for step in part["steps"]] == [5, 6, 7]
