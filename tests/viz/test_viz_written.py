"""A written program beside the player: each step lights the lines that compute it."""

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus.nn import functional
from micrograd_plus_viz.trace_input import normalize, trace_data
from micrograd_plus_viz.written_lines import written_lines


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
    known = 0
    for step, found in zip(data["steps"], written["steps"], strict=True):
        if found is not None:
            assert f"# back through {step['rule']}" in lines[found[0] - 1]
            known += 1
    assert "for i in reversed(range(" in program.source
    in_loop = [tuple(found) for found in written["steps"] if found and lines[found[0] - 1].startswith("        #")]
    assert len(in_loop) > 2 * len(set(in_loop))  # a step for each round
    assert known > 0.7 * len(data["steps"])


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
    lit = lists.nth(1).locator(".program-line.current")
    seen = set()
    for _ in trace.steps:
        page.keyboard.press("ArrowRight")
        seen.add(lit.first.text_content() if lit.count() else "")
    assert any("# back through tanh.x" in text for text in seen)
    assert any("# back through linear_layer.weight" in text for text in seen)
    page.keyboard.press("Home")
    line = lists.nth(1).locator(".program-line:enabled").first
    line.click()
    expect(page.locator(".counter")).not_to_have_text(f"0 / {len(trace.steps)}")
    expect(line).to_have_class("program-line current")
