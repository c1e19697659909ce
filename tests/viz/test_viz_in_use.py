"""Every instrument of the player by mouse and by keyboard, and what is lit together; axe-core in light, in dark and in
forced colours."""

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz

pytestmark = pytest.mark.browser


def product():
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        c = a * b
        y = c * a
        y.backward()
    return trace


def composed():
    x = mg.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    with mg.record() as trace:
        weights = mg.softmax(x)
        loss = (weights * weights).sum()
        loss.backward()
    return trace


def deep():
    w = mg.tensor(np.eye(3) / 2, requires_grad=True)
    h = mg.tensor(np.ones((1, 3)))
    with mg.record() as trace:
        for _ in range(20):
            h = mg.tanh(h @ w)
        h.sum().backward()
    return trace


def broken():
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError), mg.record() as trace:
        (a * 2).backward()
    return trace


def test_who_comes_first_finds_what_to_press_and_what_the_colours_mean(opened):
    page = opened(product())
    expect(page.locator(".start")).to_contain_text("Each step sends one gradient back")
    expect(page.locator(".colours li")).to_have_count(4)
    page.locator(".begin").click()
    expect(page.locator(".counter")).to_have_text("1 / 4")
    expect(page.locator(".said .sends")).to_have_text("multiply (y)")
    expect(page.locator(".said .gets")).to_have_text("multiply (c)")
    page.locator(".icon.first").click()
    page.locator(".start .inside").click()
    expect(page.locator(".counter")).to_have_text("value 0 of 2")
    page.locator(".icon.next").click()
    expect(page.locator(".node.computing")).to_contain_text("multiply (c)")
    expect(page.locator(".panel .card")).to_have_text(["a2", "b3", "multiply (c)6"])


def test_a_symbol_its_card_and_its_node_light_together(opened):
    page = opened(product())
    page.keyboard.press("ArrowRight")
    symbol = page.locator(".formula:not(.filled) [data-name='upstream']").first
    card = page.locator(".card[data-of='upstream']")
    for reach in (symbol.hover, symbol.focus, card.hover):
        reach()
        for lit in (symbol, card):
            assert "linked" in lit.get_attribute("class")
        expect(page.locator(".node.pointed")).to_contain_text("multiply (y)")
        page.locator(".player").focus()
        page.mouse.move(0, 0)
        expect(page.locator(".linked, .pointed")).to_have_count(0)
    page.locator(".node", has_text="multiply (c)").hover()
    expect(page.locator(".card.linked", has_text="contribution").first).to_be_visible()


def test_an_inside_that_ends_stands_beside_its_outside(opened):
    page = opened(composed())
    page.keyboard.press("End")
    page.locator(".player:visible .line-told .inside").click()
    inner = page.locator(".nested .player")
    page.keyboard.press("End")
    told = inner.locator(".inside-out")
    expect(told).to_contain_text("inside: gradient for x")
    assert told.locator(".sign").text_content() in "=≈"
    assert [card.locator(".line span").count() for card in told.locator(".card").all()] == [3, 3]
    inner.locator(".crumb").click()
    expect(page.locator(".player:visible")).to_have_count(1)
    expect(page.locator(".nested .player")).to_have_count(0)


def test_an_inside_that_differs_from_its_outside_is_said_to(opened):
    trace = composed().to_dict()
    step = next(s for s in trace["steps"] if trace["nodes"][s["node"]]["op"] == "softmax")
    trace["values"].append(trace["values"][step["contribution"]] | {"data": [9.0, 9.0, 9.0]})
    step["contribution"] = len(trace["values"]) - 1
    page = opened(trace)
    page.keyboard.press("End")
    page.locator(".player:visible .line-told .inside").click()
    page.keyboard.press("End")
    expect(page.locator(".inside-out .sign")).to_have_text("≠")


def test_the_keys_of_who_speaks_before_others(opened):
    page = opened(product())
    page.keyboard.press("ArrowRight")
    for key, larger in (("+", True), ("-", False)):
        before = page.locator(".said").bounding_box()["height"]
        page.keyboard.press(key)
        assert (page.locator(".said").bounding_box()["height"] > before) == larger
    page.keyboard.press("h")
    expect(page.locator(".panel")).to_be_hidden()
    page.keyboard.press("h")
    expect(page.locator(".panel")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".player:fullscreen")).to_have_count(1)
    page.locator(".icon.full").click()
    expect(page.locator(".player:fullscreen")).to_have_count(0)
    page.locator(".node", has_text="multiply (c)").first.click()
    page.keyboard.press("n")
    expect(page.locator(".counter")).to_have_text("3 / 4")


def looks():
    yield "compared", viz.compare(product(), mg.tracing.replay(product(), "replace")), ["ArrowRight"]
    yield "grouped", deep(), ["ArrowRight", "End"]
    yield "failed", broken(), ["Home", "End"]
    yield "at first", product(), ["Home", "v"]


@pytest.mark.parametrize("colours", [
    {"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "dark", "forced_colors": "active"},
], ids=["light", "dark", "forced"])  # fmt: skip
def test_axe_finds_nothing_in_what_is_compared_grouped_or_failed(chromium, tmp_path, colours):
    from axe_playwright_python.sync_playwright import Axe

    with chromium.new_context(bypass_csp=True, viewport={"width": 1000, "height": 800}, **colours) as context:
        page = context.new_page()
        for name, shown, keys in looks():
            page.goto(viz.save(shown, tmp_path / "walk.html").as_uri())
            page.locator(".player").first.focus()
            for key in keys:
                page.keyboard.press(key)
                page.wait_for_timeout(250)
                found = Axe().run(page)
                assert found.violations_count == 0, (name, found.response["violations"])
