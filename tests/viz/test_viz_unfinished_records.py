"""Tests of incomplete records: a forward pass without a walk, a walk alone, an empty record."""

import contextlib

import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.trace_input import normalize, trace_data
from micrograd_plus_viz.window import load_window


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


def record_caught_errors():
    """Record a walk that cannot begin, one that a hook ends, and one that goes through."""
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def refuse(gradient):
        raise KeyError("no")

    with mg.record() as trace:
        y = w * 3
        with contextlib.suppress(RuntimeError):
            y.backward()
        hook = y.register_hook(refuse)
        with contextlib.suppress(KeyError):
            (y * y).sum().backward()
        hook.remove()
        y.sum().backward()
    return trace


def test_a_page_says_which_walks_failed_before_the_program_went_on():
    said = [step["say"] for step in payload(normalize(trace_data(record_caught_errors())))["steps"]]
    assert "Before this walk, another could not begin at multiply (y): RuntimeError: backward() from" in said[0]
    assert ["The walk ends here at multiply (y): KeyError: " in each for each in said] == [0, 0, 1, 0, 0]
    part, _ = load_window(record_caught_errors(), 2, 2)
    assert "The walk ends here" in payload(part)["steps"][0]["say"]
    assert not [step for step in payload(part)["steps"] if "another could not begin" in step["say"]]


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
