"""A written program beside the player: each step lights the lines that compute it."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus.nn import functional
from micrograd_plus.written.loop_text import say_steps
from micrograd_plus_viz.trace_input import normalize, trace_data
from micrograd_plus_viz.written_lines import read_steps, written_lines


def recurrent_step(count):
    """Return a step of a small recurrent network."""
    rng = np.random.default_rng(0)
    x = mg.tensor(rng.normal(size=(count, 2, 3)))
    w, u = (mg.tensor(rng.normal(size=(3, 3)), requires_grad=True) for _ in range(2))

    def step():
        state = mg.zeros((2, 3))
        for drive in functional.linear(x, w).unstack():
            state = mg.tanh(functional.linear(state, u, drive))
        (state * state).sum().backward()

    return step


def record_and_write(step):
    """Return the trace of a step, and its program."""
    with mg.record() as trace:
        step()
    return trace, mg.written_out(step)


def test_each_step_has_the_lines_of_its_rule():
    trace, program = record_and_write(recurrent_step(8))
    data = normalize(trace_data(trace))
    (written,) = written_lines(data | {"written": str(program)})
    lines = [text for _, text in written["lines"]]
    unknown = []
    for i, (step, found) in enumerate(zip(data["steps"], written["steps"], strict=True)):
        comment = lines[found[0] - 1] if found is not None else ""
        operation = step["rule"].partition(".")[0]
        assert found is None or f": back through {operation}" in comment
        if not re.search(rf"\b{i + 1}\b|\.\.\.", comment):
            unknown.append(step["rule"])
    assert "for i in reversed(range(" in program.source
    in_loop = [tuple(found) for found in written["steps"] if found and lines[found[0] - 1].startswith("        #")]
    assert len(in_loop) > 2 * len(set(in_loop))  # a step for each round
    assert set(unknown) <= {"multiply.b", "linear_layer.bias", "unstack.x"}  # of a block of their node, or of no lines


def test_steps_of_another_program_have_no_lines():
    trace, _ = record_and_write(recurrent_step(8))
    other = mg.written_out(lambda: (mg.tensor([1.0], requires_grad=True) * 2.0).sum().backward())
    data = normalize(trace_data(trace))
    (written,) = written_lines(data | {"written": str(other)})
    assert len([found for found in written["steps"] if found]) <= 1  # the first step is a sum in both


@pytest.mark.parametrize("text", ["7", "4, 9, 11", "4, 9 ... 24", "24, 19 ... 4"])
def test_numbers_of_steps_are_read_as_they_are_written(text):
    assert say_steps(read_steps(text)) == f"step{'s' * (',' in text)} {text}"


@pytest.mark.browser
def test_a_step_lights_its_lines_of_the_written_program(page):
    trace, program = record_and_write(recurrent_step(8))
    page.set_viewport_size({"width": 1280, "height": 760})
    page.emulate_media(reduced_motion="reduce")
    page.set_content(viz.show(trace, program=program)._repr_mimebundle_()["text/html"])
    player = page.locator(".player")
    expect(player).to_be_visible()
    player.focus()
    lists = page.locator(".program-lines")
    expect(lists).to_have_count(2)
    expect(lists.nth(1)).to_contain_text("states.append(state)")
    stage = page.locator(".stage").bounding_box()
    assert stage["width"] * stage["height"] >= 0.6 * 1280 * 720
    lists.nth(1).hover()
    assert lists.nth(1).bounding_box()["width"] > 400, "as wide as its lines while it is read"
    assert page.locator(".stage").bounding_box() == stage
    lit = lists.nth(1).locator(".program-line.current")
    seen = set()
    for _ in trace.steps:
        page.keyboard.press("ArrowRight")
        seen.add(lit.first.text_content() if lit.count() else "")
    assert any(": back through tanh.x" in text for text in seen)
    assert any(": back through linear_layer.weight" in text for text in seen)
    page.keyboard.press("Home")
    line = lists.nth(1).locator(".program-line:enabled").first
    line.click()
    expect(page.locator(".counter")).not_to_have_text(f"0 / {len(trace.steps)}")
    expect(line).to_have_class("program-line current")
