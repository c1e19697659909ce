"""All controls of the player by mouse and keyboard, linked highlights, and accessibility."""

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from browser import settle

pytestmark = pytest.mark.browser


def product():
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        c = a * b
        y = c * a
        y.backward()
    return trace


def composite_program():
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


def failing_program():
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError), mg.record() as trace:
        (a * 2).backward()
    return trace


def test_the_start_panel_explains_buttons_and_colours(open_player):
    page = open_player(product())
    expect(page.locator(".start")).to_contain_text("Each step sends one gradient back")
    expect(page.locator(".colours li")).to_have_count(4)
    page.locator(".begin").click()
    expect(page.locator(".counter")).to_have_text("1 / 4")
    expect(page.locator(".sentence .sends")).to_have_text("multiply (y)")
    expect(page.locator(".sentence .gets")).to_have_text("multiply (c)")
    page.keyboard.press("Home")
    page.locator(".start .inside").click()
    expect(page.locator(".counter")).to_have_text("value 0 of 2")
    page.locator(".icon.next").click()
    expect(page.locator(".node.computing")).to_contain_text("multiply (c)")
    expect(page.locator(".panel .card")).to_have_text(["a2", "b3", "multiply (c)6"])


def test_a_symbol_its_card_and_its_node_light_up_jointly(open_player):
    page = open_player(product())
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


def test_an_inside_that_ends_stands_beside_its_outside(open_player):
    page = open_player(composite_program())
    page.keyboard.press("End")
    page.locator(".player:visible .source-row .inside").click()
    inner = page.locator(".nested .player")
    page.keyboard.press("End")
    equation = inner.locator(".inside-out")
    expect(equation).to_contain_text("inside: gradient for x")
    assert equation.locator(".sign").text_content() in "=≈"
    assert [card.locator(".line span").count() for card in equation.locator(".card").all()] == [3, 3]
    inner.locator(".crumb").click()
    expect(page.locator(".player:visible")).to_have_count(1)
    expect(page.locator(".nested .player")).to_have_count(0)


def test_an_inside_that_differs_from_its_outside_is_said_to(open_player):
    trace = composite_program().to_dict()
    step = next(s for s in trace["steps"] if trace["nodes"][s["node"]]["op"] == "softmax")
    trace["values"].append(trace["values"][step["contribution"]] | {"data": [9.0, 9.0, 9.0]})
    step["contribution"] = len(trace["values"]) - 1
    page = open_player(trace)
    page.keyboard.press("End")
    page.locator(".player:visible .source-row .inside").click()
    page.keyboard.press("End")
    expect(page.locator(".inside-out .sign")).to_have_text("≠")


def test_size_hiding_and_full_screen_work_by_key_and_mouse(open_player):
    page = open_player(product())
    page.keyboard.press("ArrowRight")

    def by(key, button, hand):
        if hand == "key":
            page.keyboard.press(key)
        else:
            page.keyboard.press("m")
            page.locator(f".icon.{button}").click()
            page.keyboard.press("m")

    for hand in ("key", "mouse"):
        for key, button, larger in (("+", "text-larger", True), ("-", "text-smaller", False)):
            before = page.locator(".sentence").bounding_box()["height"]
            by(key, button, hand)
            assert (page.locator(".sentence").bounding_box()["height"] > before) == larger
        by("h", "hush", hand)
        expect(page.locator(".panel")).to_be_hidden()
        expect(page.locator(".icon.hush")).to_have_attribute("aria-pressed", "true")
        by("h", "hush", hand)
        expect(page.locator(".panel")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".player:fullscreen")).to_have_count(1)
    page.keyboard.press("m")
    page.locator(".icon.full").click()
    page.keyboard.press("m")
    expect(page.locator(".player:fullscreen")).to_have_count(0)
    page.locator(".node", has_text="multiply (c)").first.click()
    page.keyboard.press("n")
    expect(page.locator(".counter")).to_have_text("3 / 4")
    page.locator(".visits button").first.click()
    expect(page.locator(".counter")).to_have_text("1 / 4")


def test_steps_nodes_and_values_are_found_by_key_and_by_mouse(open_player):
    trace = deep()
    page, count = open_player(trace), len(trace.steps)

    def tool(css):
        """Click a tool in the menu."""
        if page.locator(".more").is_hidden():
            page.keyboard.press("m")
        page.locator(css).click()

    counter, title = page.locator(".counter"), page.locator(".node-details .title").first
    for go in (lambda: page.keyboard.press("v"), lambda: tool(".tool.values")):
        go()
        expect(counter).to_contain_text("value 0 of ")
        go()
        expect(counter).to_have_text(f"0 / {count}")
    for reach, number in ((lambda: page.keyboard.press("g"), 7), (lambda: tool(".field.go"), 9)):
        reach()
        page.keyboard.type(f"{number}\n")
        expect(counter).to_have_text(f"{number} / {count}")
        expect(page.locator(".more")).to_be_hidden()
        page.keyboard.press("ArrowRight")
        expect(counter).to_have_text(f"{number + 1} / {count}")
    adding = [step.index + 1 for step in trace.steps if step.accumulates and step.index >= 10]
    for go, number in zip((lambda: page.keyboard.press("a"), lambda: tool(".tool.adds")), adding, strict=False):
        go()
        expect(counter).to_have_text(f"{number} / {count}")
    for reach in (lambda: page.keyboard.press("/"), lambda: tool(".field.search")):
        reach()
        page.keyboard.type("sum\n")
        expect(title).to_contain_text("sum")
        page.locator(".field.search").fill("")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(title).to_have_count(0)


def test_panning_zooming_and_group_opening_work_by_key_and_mouse(open_player):
    page = open_player(deep())
    drawn, along = page.locator(".drawing"), page.locator(".tool.along")
    page.keyboard.press("m")

    def view():
        """Return the position and the size of the drawing."""
        return page.evaluate("""() => {
            const { e, f, a } = document.querySelector("#walk").shadowRoot.querySelector(".drawing > g")
                .transform.baseVal.consolidate().matrix;
            return [e, f, a];
        }""")

    for press, pressed in ((lambda: page.keyboard.press("o"), "false"), (along.click, "true")):
        press()
        expect(along).to_have_attribute("aria-pressed", pressed)
    page.keyboard.press("0")
    whole = view()
    page.locator(".icon.larger").click()
    assert view()[2] == pytest.approx(1.3 * whole[2])
    for _ in range(3):
        page.locator(".icon.larger").click()
    expect(page.locator(".overview.shown")).to_have_count(1)
    large, box = view(), drawn.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 60, middle[1] - 4, steps=3)
    page.mouse.up()
    moved = view()
    assert moved[0] < large[0] - 30
    page.locator(".overview").click(position={"x": 3, "y": 3})
    assert view()[0] > moved[0]
    page.keyboard.press("0")
    assert view() == pytest.approx(whole)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function("(small) => document.querySelector('#walk').shadowRoot.querySelector('.drawing > g')"
                           ".transform.baseVal.consolidate().matrix.a > small", arg=whole[2])  # fmt: skip
    page.locator(".icon.smaller").click()
    page.locator(".icon.whole").click()
    assert view() == pytest.approx(whole)


COLOURS = (
    {"color_scheme": "light", "forced_colors": "none"}, {"color_scheme": "dark", "forced_colors": "none"},
    {"color_scheme": "dark", "forced_colors": "active"},
)  # fmt: skip


def looks():
    yield "compared", viz.compare(product(), mg.tracing.replay(product(), "replace")), ["ArrowRight"]
    yield "grouped", deep(), ["ArrowRight", "End"]
    yield "failed", failing_program(), ["Home", "End"]
    yield "at first", product(), ["Home", "v"]


@pytest.mark.parametrize("look", [*looks()], ids=lambda look: look[0])
def test_axe_reports_no_problems_in_any_colour_scheme(chromium, tmp_path, look):
    name, shown, keys = look
    with chromium.new_context(bypass_csp=True, viewport={"width": 1000, "height": 800}) as context:
        page = context.new_page()
        page.goto(viz.save(shown, tmp_path / "walk.html").as_uri())
        page.locator(".player").first.focus()
        for key in keys:
            page.keyboard.press(key)
            for colours in COLOURS:
                page.emulate_media(**colours)
                settle(page)
                assert find_violations(page) == [], (name, colours)
