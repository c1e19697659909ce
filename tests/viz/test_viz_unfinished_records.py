"""Tests of incomplete records: a forward pass without a walk, a walk alone, an empty record."""

import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz


def show_trace(trace):
    bundle = trace._repr_mimebundle_()
    assert "\n" not in bundle["text/html"]
    return bundle["text/plain"]


def test_a_forward_pass_without_a_walk_has_a_picture(tmp_path):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        (x * x).sum()
    assert show_trace(trace).startswith("Program without a walk: 3 nodes")
    viz.save(trace, tmp_path / "forward.svg")
    assert "x * x" in (tmp_path / "forward.svg").read_text(encoding="utf-8")


def test_a_walk_without_its_forward_shows_the_known_values():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with mg.record() as trace:
        y.backward()
    assert "3 steps, sum (y) = 5" in show_trace(trace)
    assert [node.value is None for node in trace.nodes] == [False, True, False]  # no rule reads the squares
    assert len(trace.steps) == 3


def test_an_empty_record_is_shown_as_one():
    with mg.record() as trace:
        pass
    assert show_trace(trace).startswith("Program without a walk: 0 nodes")


def test_a_failed_walk_is_shown_up_to_the_error():
    @mg.op
    def cube_with_a_mistake(xp, x):
        """The third power."""
        return x * x * x

    @cube_with_a_mistake.rule("x")
    def _(upstream, x):
        raise ValueError("a mistake in a rule")

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace, pytest.raises(ValueError, match="a mistake in a rule"):
        (cube_with_a_mistake(mg.tanh(x)) * 2).sum().backward()
    assert [step.rule for step in trace.steps] == ["sum.x", "multiply.a"]


def test_a_variable_names_the_last_operation_of_a_call():
    a, b = mg.tensor([1.0], requires_grad=True), mg.tensor([2.0], requires_grad=True)

    def model(a, b):
        return a * b + a

    with mg.record() as trace:
        score = model(a, b)
        score.sum().backward()
    assert show_trace(trace).count("(score)") == 0  # the call is on another line than its operations
    assert [node.op for node in trace.nodes if node.op] == ["multiply", "add", "sum"]
