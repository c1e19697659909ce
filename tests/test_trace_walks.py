"""Walks of a trace: all of its block, the gradients before each, and the errors that ended them."""

import gc
import json
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.engine import Value

SCHEMA = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
pytestmark = pytest.mark.usefixtures("own_operations")


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def check_round_trip(trace):
    """Return a trace after checking that it fits the schema and survives a round trip."""
    VALIDATOR.validate(trace.to_dict())
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()
    return trace


def record_error(program, kind):
    """Return the record of a program that ends with an error of this type."""
    kept = []

    def run():
        with mg.record() as trace:
            kept.append(trace)
            program()

    with pytest.raises(kind):
        run()
    return check_round_trip(kept[0])


def name_of(trace, place):
    return None if place is None else trace.nodes[place].name


# Several walks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [leaf, Value], ids=["tensors", "numbers"])
def test_each_walk_has_its_steps_and_starts_from_earlier_gradients(make):
    x = make(3.0)
    with mg.record() as trace:
        (x * 2.0).backward()
        (x * x).backward()
    check_round_trip(trace)
    assert next((walk.first, walk.steps) for walk in trace.walks) == (0, trace.walks[0].steps)
    assert sum(walk.steps for walk in trace.walks) == len(trace.steps)
    to_x = [step for step in trace.steps if trace.nodes[step.target].label == "x"]
    arrivals = [(step.walk, step.before, float(step.contribution), float(step.after), step.earlier) for step in to_x]
    assert arrivals == [(0, None, 2.0, 2.0, False), (1, 2.0, 3.0, 5.0, True), (1, 5.0, 3.0, 8.0, True)]
    place = to_x[0].target
    held = [next(each for each in walk.leaves if each.node == place) for walk in trace.walks]
    additions = [(each.before, float(each.received), float(each.after)) for each in held]
    assert additions == [(None, 2.0, 2.0), (2.0, 6.0, 8.0)]
    assert float(trace.gradients[place]) == float(x.grad if make is Value else x.grad.item()) == 8.0


@pytest.mark.parametrize("make", [leaf, Value], ids=["tensors", "numbers"])
def test_an_accumulator_starts_with_the_leafs_earlier_gradient(make):
    a = make(2.0)
    (a * 4.0).backward()
    with mg.record() as trace:
        (a * 3.0).backward()
    step = next(step for step in check_round_trip(trace).steps if trace.nodes[step.target].label == "a")
    fields = float(step.before), float(step.contribution), float(step.after), step.accumulates, step.earlier
    assert fields == (4.0, 3.0, 7.0, True, True)
    assert "adds 3 to a (a), whose .grad was 4 before this walk" in repr(trace)


def test_a_cleared_gradient_is_not_in_before():
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        for _ in range(2):
            x.grad = None
            (x * x).sum().backward()
    assert [leaf.before for walk in trace.walks for leaf in walk.leaves] == [None, None]
    assert x.grad.tolist() == trace.gradients[0].tolist()


def test_later_changes_of_gradients_do_not_change_before():
    x = leaf([1.0, 2.0])
    x.sum().backward()
    with mg.record() as trace:
        x.sum().backward()
    x.grad.data[:] = 100.0
    assert trace.steps[0].before.tolist() == [1.0, 1.0]


def test_in_training_each_walk_has_the_leafs_current_value():
    w = leaf(2.0)
    with mg.record() as trace:
        for _ in range(3):
            w.grad = None
            (w * w).backward()
            with mg.no_grad():
                w -= 0.25 * w.grad
    check_round_trip(trace)
    assert [float(walk.leaves[0].value) for walk in trace.walks] == [2.0, 1.0, 0.5]
    assert [float(step.local) for step in trace.steps] == [2.0, 2.0, 1.0, 1.0, 0.5, 0.5]
    assert len([node for node in trace.nodes if node.label == "w"]) == 1


def test_a_constant_is_another_node_after_an_in_place_write():
    x, scale = leaf(3.0), mg.tensor(2.0)
    with mg.record() as trace:
        first = x * scale
        scale += 5.0
        second = x * scale
        (first + second).backward()
    check_round_trip(trace)
    products = [node for node in trace.nodes if node.op == "multiply"]
    factors = [float(np.asarray(trace.nodes[node.inputs[1][1]].value)) for node in products]
    assert factors == [2.0, 7.0]


def test_a_part_has_the_numbers_of_the_complete_trace():
    x = leaf(1.5)
    with mg.record() as trace:
        for _ in range(3):
            h = x
            for _ in range(20):
                h = h * 0.9 + 0.1
            h.backward()
    whole = trace.to_dict()
    part = trace.to_dict(50, 10)
    VALIDATOR.validate(part)
    assert [step["index"] for step in part["steps"]] == list(range(50, 60))
    names = {node["id"]: node["name"] for node in whole["nodes"]}
    assert all(names[node["id"]] == node["name"] for node in part["nodes"])
    assert {step[end] for step in part["steps"] for end in ("node", "target")} <= {node["id"] for node in part["nodes"]}
    assert (part["part"]["of_steps"], part["part"]["of_nodes"]) == (len(whole["steps"]), len(whole["nodes"]))
    assert part["steps"][0]["walk"] == whole["steps"][50]["walk"] == 1
    with pytest.raises(mg.tracing.TraceError, match="a part of a record"):
        mg.load_trace(part)
    with pytest.raises(ValueError, match="numbered 0 to"):
        trace.to_dict(len(trace.steps), 10)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_backward_from_an_array_is_a_walk_that_could_not_begin():
    x = leaf([1.0, 2.0])

    def program():
        y = x * 2
        y.backward()

    trace = record_error(program, RuntimeError)
    (walk,) = trace.walks
    assert (walk.steps, name_of(trace, walk.root)) == (0, "multiply (y)")
    assert walk.error.kind == "RuntimeError"
    assert "a loss is one number" in walk.error.text
    assert walk.error.lines[0].text.strip() == "y.backward()"
    assert "the walk ends here at multiply (y)" in repr(trace)


def test_backward_from_a_changed_value_is_a_walk_without_steps():
    v = Value(2.0)

    def program():
        y = v * v
        v.data = 5.0
        y.backward()

    trace = record_error(program, RuntimeError)
    assert "was changed" in trace.walks[0].error.text
    assert name_of(trace, trace.walks[0].root) == "multiply (y)"
    assert trace.walks[0].steps == 0


def test_a_second_walk_that_cannot_begin_changes_no_other():
    v = Value(2.0)

    def program():
        y = v * v
        y.backward()
        v.data = 5.0
        y.backward()

    trace = record_error(program, RuntimeError)
    assert [(walk.steps, walk.error is None) for walk in trace.walks] == [(2, True), (0, False)]


def test_a_forward_that_fails_has_its_application_inputs_and_line():
    c = leaf(np.ones((2, 3)))

    def program():
        h = c * 2.0
        out = c @ h
        out.sum().backward()

    trace = record_error(program, ValueError)
    failed = trace.nodes[trace.error.node]
    assert (failed.op, failed.failed, failed.value, failed.label) == ("matmul", True, None, "out")
    assert [name_of(trace, place) for _, place in failed.inputs] == ["c", "multiply (h)"]
    assert trace.error.lines[0].text.strip() == "out = c @ h"
    assert failed.lines[0].text.strip() == "out = c @ h"
    assert "(2, 3)" in trace.error.text
    assert trace.walks == []
    assert sum(node.failed for node in trace.nodes) == 1


def test_a_list_that_cannot_be_joined_is_shown_part_by_part():
    a, b = leaf(np.ones((2, 3))), leaf(np.ones((1, 2)))
    trace = record_error(lambda: mg.concatenate([a, b]), ValueError)
    failed = trace.nodes[trace.error.node]
    assert (failed.op, failed.failed) == ("concatenate", True)
    assert [name_of(trace, place) for _, place in failed.inputs] == ["a", "b"]


def test_a_rule_that_raises_ends_the_walk_at_its_application():
    @mg.elementwise(x=lambda xp, x: xp.matmul(x, x))
    def odd_at_walking(xp, x):
        return x * x

    x = leaf(np.ones((2, 3)))

    def program():
        y = odd_at_walking(mg.tanh(x))
        loss = y.sum()
        loss.backward()

    trace = record_error(program, ValueError)
    (walk,) = trace.walks
    assert walk.steps == len(trace.steps) == 1
    assert trace.nodes[walk.error.node].op == "odd_at_walking"
    assert walk.error.text.startswith("backward through odd_at_walking")
    assert trace.error is None


def test_an_error_that_the_program_catches_is_recorded_too():
    @mg.elementwise(x=lambda xp, x: xp.matmul(x, x))
    def odd_inside_try(xp, x):
        return x * x

    with mg.record() as trace:
        w = odd_inside_try(leaf(np.ones((2, 3)))).sum()
        with pytest.raises(ValueError, match="backward through odd_inside_try"):
            w.backward()
        (leaf(2.0) * 3.0).backward()
    check_round_trip(trace)
    assert [walk.error is None for walk in trace.walks] == [False, True]


def expect_error(kind, program):
    with pytest.raises(kind):
        program()


def fails_in_a_rule():
    @mg.elementwise(x=lambda xp, x: xp.matmul(x, x))
    def odd_between(xp, x):
        return x * x

    bad = odd_between(leaf(np.ones((2, 3))))
    expect_error(ValueError, bad.sum().backward)


def fails_in_a_hook():
    h = leaf(np.ones(3)) * 2.0
    h.register_hook(lambda gradient: gradient.reshape(7))
    expect_error(ValueError, (h * 3.0).sum().backward)


def fails_in_the_hook_of_a_leaf():
    a = leaf(np.ones(3))
    a.register_hook(lambda gradient: gradient.reshape(7))
    expect_error(ValueError, (a * 3.0).sum().backward)


def fails_in_a_rule_of_ones_own():
    @mg.custom_vjp
    def own(x):
        return x * x

    @own.rule("x")
    def _(upstream):
        return mg.reshape(upstream, 7)

    expect_error(ValueError, own(leaf(np.ones(3))).sum().backward)


def fails_in_a_freed_graph():
    a = leaf(np.ones(3))
    total = (a * a).sum()
    total.backward(retain_graph=False)
    expect_error(RuntimeError, total.backward)


def fails_as_no_loss_is_one_number():
    y = leaf(np.ones(3)) * 4.0
    expect_error(RuntimeError, y.backward)


def fails_as_a_number_was_written_to():
    v = Value(2.0)
    y = v * v
    v.data = 5.0
    expect_error(RuntimeError, y.backward)


def fails_under_grad():
    expect_error(ValueError, lambda: mg.grad(lambda x: x * 2.0)(np.ones(3)))


@pytest.mark.parametrize(("fails", "steps", "at", "line"), [
    (fails_in_a_rule, 1, "odd_between", "xp.matmul(x, x)"),
    (fails_in_a_hook, 2, "multiply", "gradient.reshape(7)"),
    (fails_in_the_hook_of_a_leaf, 2, None, "gradient.reshape(7)"),
    (fails_in_a_rule_of_ones_own, 1, "own", "mg.reshape(upstream, 7)"),
    (fails_in_a_freed_graph, 0, "sum", "program()"),
    (fails_as_no_loss_is_one_number, 0, "multiply", "program()"),
    (fails_as_a_number_was_written_to, 0, "multiply", "program()"),
    (fails_under_grad, 0, "multiply", "mg.grad(lambda"),
], ids=lambda each: getattr(each, "__name__", ""))  # fmt: skip
def test_a_walk_that_fails_between_two_others_ends_at_its_node(fails, steps, at, line):
    x = leaf(np.ones((2, 3)))
    with mg.record() as trace:
        (x * 2.0).sum().backward()
        fails()
        (x * 3.0).sum().backward()
    check_round_trip(trace)
    (wrong,) = [walk for walk in trace.walks if walk.error is not None]
    assert (wrong.steps, trace.nodes[wrong.error.node].op) == (steps, at)
    assert line in wrong.error.lines[0].text
    assert trace.walks[0].error is trace.walks[-1].error is trace.error is None
    assert trace.walks[-1].steps == 2
    assert "the walk ends here at" in repr(trace)


def test_an_error_of_the_program_itself_has_a_line_and_no_node():
    x = leaf(2.0)

    def program():
        y = x * 3.0
        y.backward()
        1 / 0  # noqa: B018 - the error is what is tried

    trace = record_error(program, ZeroDivisionError)
    assert (trace.error.kind, trace.error.node) == ("ZeroDivisionError", None)
    assert trace.error.lines[0].text.strip().startswith("1 / 0")
    assert len(trace.steps) == 1


def test_an_error_has_every_line_that_led_to_it():
    def layer(x):
        return x @ x

    def network(x):
        return layer(x) + 1.0

    x = leaf(np.ones((2, 3)))
    trace = record_error(lambda: network(x), ValueError)
    assert [line.function for line in trace.error.lines][:2] == ["layer", "network"]


# Silence --------------------------------------------------------------------------------------------------------------


def test_looking_at_a_trace_gives_no_warnings():
    x = leaf([1.0, 0.0, -4.0])
    with np.errstate(all="ignore"), mg.record() as trace:
        (mg.log(x) * x / mg.sqrt(x)).sum().backward()
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        assert "nan" in trace.to_json()
        repr(trace)
        trace.inside(0)
    value = next(node for node in trace.to_dict()["nodes"] if node["op"] == "log")["value"]
    stored = trace.to_dict()["values"][value]
    assert (stored["nan"], stored["inf"]) == (1, 1)


# Long records ---------------------------------------------------------------------------------------------------------


def test_a_part_makes_only_its_own_steps_and_nodes(monkeypatch):
    x = Value(0.5)
    with mg.record() as trace:
        h = x
        for _ in range(2000):
            h = h * 0.999 + 0.001
        h.backward()
    made = []
    original = trace._source.step_maker.step
    monkeypatch.setattr(trace._source.step_maker, "step", lambda index: made.append(index) or original(index))
    part = trace.to_dict(3000, 100)
    assert made == list(range(3000, 3100))
    assert len(part["nodes"]) < 400
    assert len(trace.steps) == part["part"]["of_steps"] > 7000
    assert len(part["groups"]) <= 400
    listed = {group["id"] for group in part["groups"]}
    assert {group for link in part["part"]["links"] for group in link[:2]} <= listed


def test_steps_share_values_and_formulas():
    x = leaf(np.ones((3, 3)))
    with mg.record() as trace:
        h = x
        for _ in range(50):
            h = mg.tanh(h)
        h.sum().backward()
    assert len({id(step.formula) for step in trace.steps if step.rule == "tanh.x"}) <= 2
    data = trace.to_dict()
    assert len(data["formulas"]) < 10
    assert len(data["sites"]) == 4, "tanh, sum, backward and the loop"


def test_recording_in_a_loop_leaves_no_garbage():
    x, net = leaf([1.0, 2.0]), mg.nn.Sequential(mg.nn.Linear(2, 2), mg.nn.Tanh())

    def step():
        with mg.record() as trace, mg.scope("step"):
            (net(x) * x).sum().backward()
        return trace.__class__

    for _ in range(3):
        step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_part_makes_only_its_own_leaves():
    h, factors = Value(0.5), [Value(0.5 + 0.01 * k) for k in range(50)]
    with mg.record() as trace:
        for factor in factors:
            h = h * factor
        h.backward()
    part, (walk,) = trace.to_dict(4, 3), trace.walks
    leaves = part["walks"][0]["leaves"]
    assert len(walk.leaves) == 51
    assert len(walk.leaves._entries) == len(leaves) < 5
    whole = {leaf["node"]: leaf for leaf in trace.to_dict()["walks"][0]["leaves"]}
    assert list(whole) == walk.leaves.nodes
    assert walk.leaves[0].received == factors[-1].grad
    for leaf in leaves:
        assert part["values"][leaf["received"]]["data"] == [trace.gradients[leaf["node"]]]


def test_the_final_gradient_of_a_leaf_is_written_once():
    x = leaf([1.0, 2.0])
    (x * 3.0).sum().backward()
    with mg.record() as trace:
        (x * 5.0).sum().backward()
    (held,) = [each for each in trace.walks[0].leaves if each.before is not None]
    assert held.after is trace.gradients[held.node]
    data = trace.to_dict()
    written = data["walks"][0]["leaves"][0]
    assert data["gradients"] == [{"node": held.node, "value": written["after"]}]
    assert data["values"][written["after"]]["data"] == [8.0, 8.0]
