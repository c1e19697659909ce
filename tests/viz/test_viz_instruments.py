"""Two walks beside each other, and a program with sliders."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz import pairs
from micrograd_plus_viz.packing import unpack


def square():
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        y = x * x
        y.backward()
    return trace


@pytest.mark.browser
def test_compared_walks_of_one_program_share_a_graph(page, tmp_path):
    right = square()
    both = viz.compare(right, mg.tracing.replay(right, "replace"))
    assert not both.same
    assert "The first step is the same" in both.summary
    page.goto(viz.save(both, tmp_path / "one.html").as_uri())
    expect(page.locator(".player")).to_have_count(1)
    expect(page.locator(".counter")).to_have_text("2 / 2")
    x = page.locator(".node.leaf")
    expect(x).to_contain_text("grad 6 | 3")
    page.keyboard.press("ArrowLeft")
    expect(x).to_contain_text("grad 3")
    expect(x).not_to_contain_text("|")


@pytest.mark.browser
def test_what_if_shows_both_programs_in_one_film(page, tmp_path):
    w = mg.tensor(2.0, requires_grad=True)
    optimizer = mg.optim.SGD([w], lr=0.25)
    with mg.record() as trace:
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).backward()
            optimizer.step()
    page.set_viewport_size({"width": 1280, "height": 720})
    both = viz.compare(trace, mg.tracing.what_if(trace, without="zero_grad"))
    page.goto(viz.save(both, tmp_path / "film.html").as_uri())
    node = page.locator(".node.leaf")
    # by hand: 2 -> 1 -> 0.5 -> 0.25 with zero_grad; without it the gradients 4, 2 + 4 and -1 + 6 add up
    for k, word, text in [(1, "step", "w1"), (2, "zero_grad", "grad \u2013 | 4"), (2, "step", "0.5 | \u22120.5"),
                          (3, "step", "0.25 | \u22121.75")]:  # fmt: skip
        page.get_by_label(re.compile(f"^Round {k}")).first.click()
        page.get_by_label(f"Round {k}: {word}", exact=True).click()
        expect(node).to_contain_text(text)
    expect(page.locator(".curve")).to_have_count(3)
    box = node.bounding_box()
    assert box["y"] + box["height"] < 720


@pytest.mark.browser
def test_walks_of_different_programs_are_below_each_other(page, tmp_path):
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as longer:
        (x * x * x).backward()
    page.goto(viz.save(viz.compare(square(), longer), tmp_path / "two.html").as_uri())
    counters = page.locator(".counter")
    expect(counters).to_have_count(2)
    page.locator(".player").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(counters.first).to_have_text("1 / 2")


def test_a_comparison_of_equal_walks_says_so(tmp_path):
    both = viz.compare(square(), square())
    assert both.same
    bundle = both._repr_mimebundle_()
    assert bundle["text/plain"] == "Both walks are the same, step by step: 2."
    assert "\n" not in bundle["text/html"]
    with pytest.raises(ValueError, match=r"a comparison of two walks can only be saved as \.html"):
        viz.save(both, tmp_path / "two.gif")


def inside(walk):
    return json.loads(unpack(walk.payload))


def test_a_slider_records_the_program_anew_and_the_step_stays():
    box = viz.explore(lambda a, b: a * b + mg.sin(a), a=(-2.0, 2.0), b=3.0)
    box.walk.index = 2
    box.sliders["a"].value = 1.0
    data = inside(box.walk)
    gradient = next(g["value"] for g in data["gradients"] if data["names"][g["node"]] == "a")
    assert data["values"][gradient]["data"][0] == pytest.approx(3.0 + np.cos(1.0))
    box.sliders["b"].value = 5.0
    data = inside(box.walk)
    gradient = next(g["value"] for g in data["gradients"] if data["names"][g["node"]] == "a")
    assert data["values"][gradient]["data"][0] == pytest.approx(5.0 + np.cos(1.0))
    assert box.walk.index == 2


def test_a_failing_slider_value_shows_the_error_and_recovers():
    def program(a):
        if a.item() > 1:
            raise ValueError("a is too large")
        return a * a

    box = viz.explore(program, a=(-2.0, 2.0))
    box.sliders["a"].value = 1.5
    assert inside(box.walk)["error"]["text"] == "a is too large"
    box.sliders["a"].value = 0.5
    assert inside(box.walk)["error"] is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'b'"):
        viz.explore(program, b=1.0)


@pytest.mark.browser
def test_a_player_whose_walk_is_replaced_stays_at_its_step(page):
    from micrograd_plus_viz.player import player_source

    box = viz.explore(lambda a, b: a * b + mg.sin(a), a=(-2.0, 2.0), b=3.0)
    first = box.walk.payload
    box.sliders["a"].value = 1.5
    code = player_source().replace("export default", "window.shows =").replace("export ", "")
    page.set_content("<div id=place></div>")
    page.evaluate(f"() => {{ {code} }}")
    page.evaluate("""async ([first]) => {
        const heard = {}, values = { payload: first, index: 0, synced: false };
        window.model = { get: (name) => values[name], on: (name, f) => { heard[name] = f; }, off() {},
            set(name, value) { values[name] = value; return heard[`change:${name}`]?.(); } };
        await window.shows.render({ model: window.model, el: document.querySelector("#place") });
    }""", [first])
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#n0 .value")).to_have_text("0")
    page.evaluate("(payload) => window.model.set('payload', payload)", box.walk.payload)
    expect(page.locator("#n0 .value")).to_have_text("1.5")
    expect(page.locator(".counter")).to_contain_text("2 / ")


def test_a_comparison_shows_the_lines_of_both_programs_where_they_differ(page, tmp_path):
    w = mg.tensor(2.0, requires_grad=True)
    optimizer = mg.optim.SGD([w], lr=0.01)
    with mg.record() as trace:
        for _ in range(3):
            optimizer.zero_grad()
            loss = w * w
            loss.backward()
            optimizer.step()
    both = viz.compare(trace, mg.tracing.what_if(trace, without="zero_grad"))
    page.goto(viz.save(both, tmp_path / "both.html").as_uri())
    other = page.locator(".program-other")
    expect(other).to_have_text("not in the other program")
    assert "zero_grad" in other.evaluate("(row) => row.previousElementSibling.textContent")


def test_lines_of_two_programs_correspond_by_their_text():
    mine = [{"file": "a.py", "lines": [[1, "x = f(2)"], [2, "y = x * x"], [3, "y.backward()"]]}]
    theirs = [{"file": "b.py", "lines": [[5, "x = f(2)"], [6, "y = x ** 2"], [7, "y = 1 * y"], [8, "y.backward()"]]}]
    assert pairs.join_programs(mine, mine) == mine
    (joined,) = pairs.join_programs(mine, theirs)
    assert joined["lines"] == [[1, "x = f(2)"], [2, "y = x * x", ["y = x ** 2", "y = 1 * y"]], [3, "y.backward()"]]
    (joined,) = pairs.join_programs(theirs, mine)
    assert joined["lines"][1:3] == [[6, "y = x ** 2", ["y = x * x"]], [7, "y = 1 * y", []]]
    (added,) = pairs.join_programs(mine, [{"file": "c.py", "lines": [*mine[0]["lines"], [4, "step()"]]}])
    assert added["lines"][-1] == [3, "y.backward()", ["y.backward()", "step()"]]
