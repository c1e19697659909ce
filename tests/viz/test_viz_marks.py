"""Marks at steps: the wrong entries of a student's answer are outlined, with the right numbers beside them."""

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus_viz as viz
from micrograd_plus import exercises


def wrong_softmax():
    """Return the walk of a rule that is wrong in the first row."""
    def rule(upstream, out, axis):
        sent = upstream * out
        sent = sent - out * np.sum(sent, axis=axis, keepdims=True)
        sent[0] = 2 * sent[0]
        return sent

    return exercises.check("softmax.x", rule, seed=1).walk()


@pytest.mark.browser
def test_wrong_entries_are_outlined_beside_the_right_ones(open_player):
    trace = wrong_softmax()
    page = open_player(trace, index=trace.opens_at)
    expect(page.locator(".mark.bad")).to_have_text(trace.marks[2]["say"])
    outlined = page.locator(".card[data-of=contribution] path.outlined")
    assert outlined.first.get_attribute("d").count("M") == len(trace.marks[2]["wrong"])
    expect(page.locator(".card[data-of=right]")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".mark")).to_have_count(0)
    expect(page.locator(".outlined")).to_have_count(0)


@pytest.mark.browser
def test_a_wrong_number_is_outlined_at_its_step(open_player):
    trace = exercises.check("diamond.gradients", lambda a, b, s, p: {"p": s, "s": p, "a": b * s, "b": p + a * s}).walk()
    page = open_player(trace, index=trace.opens_at)
    expect(page.locator(".mark.bad")).to_have_text("Your gradient of a is wrong.")
    expect(page.locator(".card[data-of=after] .outlined")).to_have_count(1)
    expect(page.locator(".card[data-of=right]")).to_have_count(1)


def test_a_large_right_array_is_left_out():
    trace = wrong_softmax()
    trace.marks = {2: {**trace.marks[2], "right": np.zeros(viz.trace_input.MOST_MARKED + 1)}}
    assert viz.trace_input.trace_data(trace)["marks"][2]["right"] is None
