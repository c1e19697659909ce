"""Tests of the player in a real browser: every step in both directions, and all numbers."""

import json
import re

import numpy as np
import pytest
import sample_traces
from playwright.sync_api import expect

from micrograd_plus_viz import digits, words
from micrograd_plus_viz.trace_input import normalize

pytestmark = pytest.mark.browser

A_MINUTE = 60_000
"""The time, in milliseconds from when the page was opened, at which a test stops the page's clock."""


STATE = """(root) => {
    const marks = [...root.querySelectorAll(".node, .edge")].map(
        (g) => [g.id, [...g.classList].filter((c) => c !== "selected").sort().join(" "),
                g.querySelector(".gradient")?.textContent ?? null]);
    const said = root.querySelector(".sentence").textContent;
    return JSON.stringify([marks, said, root.querySelector(".counter").textContent,
        root.querySelector(".panel").textContent, root.querySelector(".slider").value,
        root.querySelector(".badge") !== null]);
}"""
"""Everything visible that a step changes, except moving markers."""

CARDS = """(root) => ({
    said: root.querySelector(".sentence").textContent,
    counter: root.querySelector(".counter").textContent,
    panel: root.querySelector(".panel").textContent,
    cards: [...root.querySelectorAll(".panel .card")].map((card) => ({
        words: [...card.querySelectorAll("figcaption *")].map((part) => part.textContent.trim()),
        shape: card.querySelector("figcaption span")?.textContent,
        missing: card.querySelector(".missing")?.textContent,
        scalar: card.querySelector(".scalar")?.textContent,
        entries: [...card.querySelectorAll("td, .line span")].map((entry) => entry.title.split(" = ")[1]),
        signs: [...card.querySelectorAll(".picture path")].map((path) => [path.getAttribute("class"),
            (path.getAttribute("d").match(/M/g) ?? []).length]),
        has_picture: card.querySelector(".picture") !== null,
    })),
})"""
"""Return the text of the panel."""


def look_at_steps(page, look, keys):
    """Return the results of `look` before the first key and after each key."""
    return page.evaluate(
        f"""(keys) => {{
            const root = document.querySelector("#walk").shadowRoot, look = {look};
            return [look(root), ...keys.map((key) => {{
                root.querySelector(".player").dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
                return look(root);
            }})];
        }}""",
        keys,
    )


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_state_is_the_same_from_either_side_and_by_a_jump(open_player, make):
    trace = make()
    page, count = open_player(trace), len(trace["steps"])
    forwards = look_at_steps(page, STATE, ["ArrowRight"] * count)
    backwards = look_at_steps(page, STATE, ["ArrowLeft"] * count)
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == count + 1
    assert look_at_steps(page, STATE, ["End", "Home"])[1:] == [forwards[count], forwards[0]]
    for k in (count // 2, count, 1, count - 1):
        page.locator(".slider").fill(str(k))
        assert look_at_steps(page, STATE, []) == [forwards[k]]


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_the_panel_shows_the_numbers_of_the_trace(open_player, make):
    trace = make()
    page, sentences = open_player(trace), words.sentences(normalize(trace))
    _, *seen = look_at_steps(page, CARDS, ["ArrowRight"] * len(trace["steps"]))
    for i, (step, found) in enumerate(zip(trace["steps"], seen, strict=True)):
        assert " ".join(found["said"].split()) == " ".join(sentences[i].split())
        assert found["counter"] == f"{i + 1} / {len(trace['steps'])}"
        shown = {"contribution": step["contribution"]} | words.upstreams(step)
        raw, arrived = (None if place is None else trace["values"][place]["data"]
                        for place in (step["raw"], step["upstream"]))  # fmt: skip
        shows_raw = step["summed_axes"] and (step["local"] is not None or raw != arrived)
        shown |= {"raw": step["raw"]} if shows_raw else {}
        shown |= {"local": step["local"]} if step["local"] is not None else {}
        shown |= {word: step[word] for word in ("before", "after") if step["accumulates"]}
        for word, place in shown.items():
            card = [each for each in found["cards"] if {word, f"{word}ᵀ"} & {*each["words"]}][-1]
            value = None if place is None else trace["values"][place]
            check_card(card, transpose(value) if f"{word}ᵀ" in card["words"] else value)
        if not step["accumulates"]:
            assert "nothing yet" in found["panel"]


def transpose(value):
    """Return a recorded matrix as its transpose, which a product of matrices shows."""
    data = np.array(value["data"], object).reshape(value["shape"]).T
    return value | {"shape": [*data.shape], "data": data.ravel().tolist()}


def check_card(card, value):
    """Check a value's card: its number, its entries, or a picture with a cell for every entry."""
    if value is None:
        assert card["missing"] == "not recorded"
        return
    data = value["data"]
    if data is not None and len(data) == 1:
        assert card["scalar"] == digits.number(data[0])
    elif data == []:
        assert card["missing"] == "empty"
    elif card["has_picture"]:
        kept = data or value["thumbnail"]["data"]
        assert signs(card) == (
            sum(size(x) < 0 for x in kept), sum(size(x) == 0 for x in kept), sum(size(x) > 0 for x in kept)
        )  # fmt: skip
    else:
        titles = [title.replace("\u2212", "-") for title in card["entries"]]
        assert [float(title) for title in titles if "i" not in title.replace("inf", "")] == pytest.approx(
            [float(x) for x in data if not isinstance(x, list)], rel=0, abs=0, nan_ok=True
        )
        assert card["shape"] == words.shape(value)


def size(entry):
    """Return the number whose sign a cell shows; nan if the entry is not finite."""
    if isinstance(entry, list):
        return abs(complex(*map(float, entry)))
    return float(entry) if not isinstance(entry, str) else float("nan")


def signs(card):
    """Return the counts of negative, blank and positive cells. Each negative cell has a minus."""
    negative, blank, positive, minus = (
        sum(count for kind, count in card["signs"] if re.search(pattern, kind or ""))
        for pattern in ("^n", "^h0$", "^p", "^minus$")
    )
    assert negative == minus
    return negative, blank, positive


def drawn_signs(picture):
    """Return the counts of negative, blank and positive cells of a picture on the page."""
    drawn = "(paths) => paths.map((path) => ['class', 'd'].map((name) => path.getAttribute(name)))"
    return signs({"signs": [(kind, line.count("M")) for kind, line in picture.locator("path").evaluate_all(drawn)]})


def test_numbers_read_the_same_in_the_panel_as_in_a_sentence(page):
    from micrograd_plus_viz.player import player_source

    numbers = [
        0.0,
        -0.0,
        1.0625,
        -1.0625,
        2.5,
        1e5,
        99999.5,
        1e6,
        123456.7,
        1e-4,
        9.9996e-5,
        -3.14159e-9,
        1e300,
        5e-324,
        7,
        -12,
        1234567,
        True,
        "nan",
        "inf",
        "-inf",
        [1.5, -2.0],
        [0.0, "nan"],
        0.1 + 0.2,
        65504.0,
        1 / 3,
    ]
    code = player_source().replace("export default", "const unused =").replace("export ", "")
    shown = page.evaluate(
        f"(numbers) => {{ {code}; return numbers.map(number); }}", json.loads(json.dumps(numbers))
    )
    assert shown == [digits.number(x) for x in json.loads(json.dumps(numbers))]


def test_the_nodes_tell_what_has_arrived_so_far(open_player):
    trace = sample_traces.diamond()
    page = open_player(trace)
    expect(page.locator("#n6 .gradient")).to_have_text("grad 1")
    expect(page.locator("#n0 .gradient")).to_have_text("")
    expect(page.locator("#n0")).to_have_attribute("aria-label", "a, leaf, 2")
    page.keyboard.press("End")
    expect(page.locator("#n0")).to_have_attribute("aria-label", "a, leaf, 2, grad 25")
    expect(page.locator("#n0 .gradient")).to_have_text("grad 25")
    expect(page.locator("#n1 .gradient")).to_have_text("grad 19")


@pytest.mark.parametrize(
    "make",
    [
        sample_traces.growing_gradient,
        sample_traces.broad,
        sample_traces.engine_recording,
        sample_traces.several_outputs,
        lambda: sample_traces.random_graph(320),
    ],
)
def test_no_line_of_a_node_ever_leaves_its_shape(open_player, make):
    """Gradients change during the walk, and an intermediate one may be longer than the final one."""
    trace = make()
    page = open_player(trace)
    places = list(range(0, len(trace["steps"]) + 1, max(1, len(trace["steps"]) // 12)))
    outside = page.locator(".slider").evaluate(
        """(slider, places) => places.flatMap((k) => {
            slider.value = k;
            slider.dispatchEvent(new Event("input"));
            return [...slider.getRootNode().querySelectorAll(".node")].filter((node) => {
                const shape = node.querySelector(".body");
                const inside = [...node.querySelectorAll(":scope > text:not(.outside)")];
                return inside.filter((text) => text.textContent).some((text) => {
                    const { x, y, width, height } = text.getBBox();
                    return [x - 1, x + width + 1].some((side) => [y + 2, y + height - 2].some(
                        (level) => !shape.isPointInFill(new DOMPoint(side, level))));
                });
            }).map((node) => `at ${k}: ${node.textContent}`);
        })""",
        places,
    )
    assert outside == []


def test_a_step_highlights_nodes_and_edge_and_marks_accumulation(open_player):
    page = open_player(sample_traces.diamond())
    page.locator(".slider").fill("10")
    expect(page.locator(".node.active")).to_have_id("n2")
    expect(page.locator(".node.accumulates")).to_have_id("n1")
    expect(page.locator(".edge.active")).to_have_id("e1")
    expect(page.locator(".badge")).to_have_text("+=")
    expect(page.locator(".badge")).to_be_visible()
    page.locator(".slider").fill("1")
    expect(page.locator(".badge")).to_have_count(0)
    expect(page.locator(".node.receives")).to_have_id("n4")


def test_gradients_of_outputs_pass_to_their_application_first(open_player):
    trace = normalize(sample_traces.several_outputs())
    page, called = open_player(sample_traces.several_outputs(), clock=0), words.names(trace)
    applied = [i for i, step in enumerate(trace["steps"]) if called[step["node"]].startswith("lstm_cell")]
    assert len(applied) == 2
    outputs = [n["id"] for n in trace["nodes"] if n["kind"] == "output"]
    passed = {f"e{j}" for j, (_, end, _) in enumerate(words.edges(trace)) if end in outputs}
    assert len(passed) == 2

    def lit():
        return set(page.locator(".edge.active").evaluate_all("edges => edges.map((edge) => edge.id)"))

    page.locator(".slider").fill(str(applied[0]))
    assert not passed & lit()
    assert not any("done" in page.locator(f"#n{i}").get_attribute("class") for i in outputs)
    page.locator(".player").focus()
    page.clock.pause_at(A_MINUTE)
    page.keyboard.press("ArrowRight")
    assert passed < lit()
    assert page.locator(".lit").count() == 3
    expect(page.locator(".sentence")).to_contain_text(
        "lstm_cell (cell), where the gradients of hidden and kept arrived, sends"
    )
    for i in outputs:
        expect(page.locator(f"#n{i}")).to_have_class(re.compile("done"))
    page.keyboard.press("ArrowRight")
    assert not passed & lit()
    taken = {words.edges(trace)[edge][:2] for edge, *_ in words.step_edges(trace)[: applied[1] + 1]}
    expect(page.locator(".edge.done")).to_have_count(len(taken) + len(passed))


def test_applications_with_several_outputs_refer_to_them(open_player):
    page = open_player(sample_traces.several_outputs())
    page.locator(".node", has_text=re.compile("^lstm_cell")).click()
    expect(page.locator(".node-details")).to_contain_text(
        "It has several outputs. Its values and gradients are shown at hidden, kept."
    )
    expect(page.locator(".node-details .card")).to_have_count(0)


def test_the_graph_shows_gradients_that_are_not_finite(open_player):
    page = open_player(sample_traces.strange())
    leaf = page.locator("#n0 .gradient")
    page.locator("#n0").click()
    expect(page.locator(".node-details .statistics")).to_have_text(re.compile("^finite entries: min −1, max "))
    page.keyboard.press("Escape")
    expect(page.locator("#n0 .value")).to_have_text(re.compile(r"^\(5,\)( float64, has nan| 1 nan, 1 inf of 5)$"))
    expect(leaf).not_to_have_class(re.compile("odd"))
    page.keyboard.press("End")
    expect(leaf).to_have_text(re.compile("^grad (1 nan, 1 inf( of 5)?|nan)$"))
    expect(leaf).to_have_class(re.compile("odd"))
    page.keyboard.press("Home")
    expect(leaf).not_to_have_class(re.compile("odd"))


def test_the_mark_of_a_node_that_opens_lies_clear_of_its_name(open_player):
    page = open_player(sample_traces.perceptron())
    mark, name = (page.locator(f"#n12 {part}").bounding_box() for part in (".opens", ".name"))
    assert mark["y"] + mark["height"] <= name["y"] + 2.5, "the box of a line is higher than its letters"
    page.keyboard.press("m")
    assert page.locator(".legend .opens").count() == 1


def test_buttons_match_keys_and_stop_at_the_ends(open_player):
    page = open_player(sample_traces.diamond())
    expect(page.locator(".icon.back")).to_be_disabled()
    page.locator(".icon.next").click()
    expect(page.locator(".counter")).to_have_text("1 / 10")
    page.locator(".icon.menu").click()
    page.locator(".icon.last").click()
    expect(page.locator(".icon.next")).to_be_disabled()
    page.locator(".icon.back").click()
    expect(page.locator(".counter")).to_have_text("9 / 10")
    page.locator(".icon.first").click()
    expect(page.locator(".sentence")).to_contain_text("The walk has not begun.")


def test_keys_work_after_the_focused_element_disappears(open_player, page):
    page.set_viewport_size({"width": 300, "height": 700})
    open_player(sample_traces.perceptron())
    page.locator(".slider").fill("19")
    page.locator("#n2").focus()
    page.keyboard.press("Enter")
    page.locator(".node-details .scroller").first.focus()
    assert "scroller" in page.evaluate("document.querySelector('#walk').shadowRoot.activeElement.className")
    page.keyboard.press("End")
    expect(page.locator(".counter")).to_have_text("20 / 20")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".counter")).to_have_text("19 / 20")
    page.locator(".icon.next").click()
    expect(page.locator(".icon.next")).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".counter")).to_have_text("19 / 20")


@pytest.mark.parametrize("width", [1600, 400])
def test_only_scrolling_boxes_are_tab_stops(open_player, page, width):
    page.set_viewport_size({"width": width, "height": 700})
    open_player(sample_traces.perceptron())
    page.keyboard.press("End")
    seen = set()
    for i in range(len(sample_traces.perceptron()["nodes"])):
        page.locator(f"#n{i}").focus()
        page.keyboard.press("Enter")
        boxes = page.locator(".scroller").evaluate_all(
            "boxes => boxes.map((box) => [box.scrollWidth > box.clientWidth + 1"
            " || box.scrollHeight > box.clientHeight + 1, box.tabIndex === 0, box.className])"
        )
        assert [name for scrolls, stops, name in boxes if scrolls != stops] == []
        seen |= {scrolls for scrolls, _, _ in boxes}
    assert seen == {True, False}


def test_long_formulas_wrap_on_narrow_screens(open_player, page):
    page.set_viewport_size({"width": 400, "height": 700})
    open_player(sample_traces.several_outputs())
    page.locator(".slider").fill("7")
    expect(page.locator(".title").first).to_contain_text("sample_traces.py")
    formula = page.locator(".formula").first
    assert formula.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert formula.bounding_box()["height"] > 100
    assert formula.evaluate("box => [...box.querySelectorAll('p')].length") == 2, "the formula, and what it names"


def test_space_plays_to_the_end_and_stops_there(open_player):
    page = open_player(sample_traces.diamond(), clock=0)
    page.locator(".icon.menu").click()
    page.locator(".speed").select_option("8")
    page.locator(".player").focus()
    page.clock.pause_at(A_MINUTE)
    page.keyboard.press("Space")
    expect(page.locator(".icon.play")).to_have_attribute("aria-label", "Pause (space)")
    page.clock.run_for(10_000)
    expect(page.locator(".counter")).to_have_text("10 / 10")
    expect(page.locator(".icon.play")).to_have_attribute("aria-label", "Play (space)")


FLYING = """() => {
    const root = document.querySelector("#walk").shadowRoot, middle = (element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
    };
    const [from, to, upstream, flying] = [".node.active", ".node.receives", ".event .upstream", ".event .flying"].map(
        (css) => root.querySelector(css));
    const far = (a, b) => Math.hypot(...middle(a).map((at, k) => at - middle(b)[k]));
    return { upstream: far(upstream, from), sent: far(flying, to), seen: Number(flying.style.opacity),
        held: to.querySelector(".gradient").textContent };
}"""


def test_the_upstream_leaves_its_node_and_the_contribution_arrives(open_player):
    page = open_player(sample_traces.diamond(), clock=0)
    page.clock.pause_at(A_MINUTE)
    page.keyboard.press("ArrowRight")
    at_start = page.evaluate(FLYING)
    page.clock.run_for(1_200)
    leaving = page.evaluate(FLYING)
    assert at_start["upstream"] < 5 < leaving["upstream"]
    assert (at_start["held"], at_start["seen"]) == ("", 0)
    page.clock.run_for(90)
    arriving = page.evaluate(FLYING)
    assert arriving["seen"] == leaving["seen"] == 1
    assert arriving["sent"] < leaving["sent"]
    assert arriving["held"] == "", "it has not come yet"
    page.clock.run_for(5_000)
    at_end = page.evaluate(FLYING)
    assert (at_end["held"], at_end["seen"]) == ("grad 1", 0)


def test_space_stops_an_event_midway_and_continues_it(open_player):
    page = open_player(sample_traces.diamond(), clock=0)
    page.clock.pause_at(A_MINUTE)
    page.keyboard.press("Space")
    page.clock.run_for(600)
    page.keyboard.press("Space")
    stopped = page.evaluate(FLYING)
    page.clock.run_for(10_000)
    assert page.evaluate(FLYING) == stopped
    expect(page.locator(".counter")).to_have_text("1 / 10")
    page.keyboard.press("Space")
    page.clock.run_for(900)
    assert page.evaluate(FLYING) != stopped
    expect(page.locator(".counter")).to_have_text("1 / 10")
    page.clock.run_for(800)
    expect(page.locator(".counter")).to_have_text("2 / 10")


def test_the_live_region_is_silent_while_playing_fast(open_player):
    page = open_player(sample_traces.perceptron())
    page.keyboard.press("ArrowRight")
    expect(page.locator("[aria-live]")).to_have_count(1)
    expect(page.locator("[aria-live=polite]")).to_have_text(
        "Step 1 of 20. add (loss) sends 1 to softmax_cross_entropy (error), the first gradient to arrive there."
        "contribution = upstream: 1 upstream = 1 contribution"
    )
    page.locator(".icon.menu").click()
    page.locator(".speed").select_option("4")
    page.locator(".icon.play").click()
    expect(page.locator("[aria-live=off]")).to_have_count(1)
    page.locator(".icon.play").click()
    expect(page.locator("[aria-live=polite]")).to_have_count(1)


def test_the_live_region_has_every_number_of_an_event(open_player):
    import micrograd_plus as mg

    a, b = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), mg.tensor([[0.5], [-4.0]], requires_grad=True)
    with mg.record() as trace:
        ((a * b).sum() * a.sum()).backward()
    page, data = open_player(trace), normalize(trace.to_dict())
    for step in data["steps"]:
        page.keyboard.press("ArrowRight")
        heard = page.locator("[aria-live=polite] > .heard").text_content()
        assert heard.startswith(f"{data['rules'][step['rule']]['text']}: "), heard
        parts = ["upstream", *["raw"] * bool(step["summed_axes"]), "contribution",
                 *["before", "after"] * step["accumulates"]]  # fmt: skip
        for part in parts:
            value = data["values"][step[part]]
            numbers = " ".join(map(digits.number, value["data"]))
            shape = f" {words.shape(value)}" if value["shape"] else ""
            assert re.search(rf"(^| ){re.escape(numbers)} {part}[^()]*{re.escape(shape)}", heard), (part, heard)
        assert all(f"axis {axis}" in heard for axis in step["summed_axes"][:1])


def test_nodes_reached_by_keyboard_show_all_numbers(open_player):
    trace = sample_traces.perceptron()
    page = open_player(trace)
    page.keyboard.press("End")
    page.locator("#n19").focus()
    for _ in range(17):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".node-details .title")).to_contain_text("W1")
    tables = page.locator(".node-details table")
    final = next(g["value"] for g in trace["gradients"] if g["node"] == 2)
    for table, place in ((0, trace["nodes"][2]["value"]), (1, final)):
        assert tables.nth(table).locator("td[title]").all_text_contents() == [
            digits.number(x) for x in trace["values"][place]["data"]
        ]
        assert tables.nth(table).locator("th").count() == 4 + 6
    page.keyboard.press("Escape")
    expect(page.locator(".node-details")).to_have_count(0)


def test_one_tab_stop_leads_into_the_graph(open_player):
    page = open_player(sample_traces.perceptron())
    assert page.locator(".node[tabindex='0']").count() == 1
    page.locator("#n3").click()
    assert page.locator(".node[tabindex='0']").get_attribute("id") == "n3"


def test_an_application_is_stepped_into_and_left_again(open_player):
    trace = sample_traces.perceptron()
    page = open_player(trace)
    page.keyboard.press("ArrowRight")
    page.locator("#n12").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    inner = page.locator(".nested .player")
    expect(inner).to_be_visible()
    expect(page.locator(".trail")).to_contain_text("Backward walk›softmax_cross_entropy (error)")
    inside = trace["nodes"][12]["inside"]
    page.keyboard.press("End")
    expect(inner.locator(".sentence")).to_have_text(words.sentences(normalize(inside))[-1])
    expect(inner.locator(".quoted .title").first).to_contain_text("The line of this operation")
    page.keyboard.press("Escape")
    expect(inner).to_have_count(0)
    expect(page.locator(".sentence").first).to_contain_text("Step 1 of 20.")
    page.locator("#n12").dblclick()
    page.locator(".trail .crumb").click()
    expect(page.locator(".nested .player")).to_have_count(0)


def test_the_users_expression_and_the_rules_line_are_visible(open_player):
    trace = sample_traces.perceptron()
    page = open_player(trace)
    page.keyboard.press("End")
    expect(page.locator(".source mark")).to_have_text("X @ W1")
    expect(page.locator(".source").first).to_have_text("hidden = mg.tanh(X @ W1 + b1)")
    expect(page.locator(".quoted .title").first).to_contain_text("walk.py, line 2, in train")
    expect(page.locator(".source").nth(1)).to_have_text(trace["rules"]["matmul.b"]["source"])


def test_columns_count_characters_not_utf16_units(open_player):
    p = sample_traces.Program()
    x = p.leaf("x", 2.0)
    page = open_player(p.walk(p.apply("tanh", x, text="y = f('🙂🙂', «tanh(x)», '∂')")))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".source mark")).to_have_text("tanh(x)")


def test_summed_axes_are_told_in_the_panel(open_player):
    trace = sample_traces.broadcast()
    page = open_player(trace)
    for i, step in enumerate(trace["steps"]):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".counter")).to_have_text(f"{i + 1} / {len(trace['steps'])}")
        note = page.locator("p.summed")
        if step["summed_axes"]:
            expect(note).to_have_text(words.summed_sentence(trace, step))
        else:
            expect(note).to_have_count(0)


def test_one_scale_stands_beside_the_pictures_of_a_panel(open_player):
    """All gradients of a panel use one colour scale, so equal arrays have equal colours."""
    trace = sample_traces.perceptron()
    page = open_player(trace)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")  # the last step also shows the final gradients, on another scale
    step = trace["steps"][-2]
    gradients = [trace["values"][step[word]]["data"] for word in ("upstream", "before", "contribution", "after")
                 if step[word] is not None]
    largest = max(abs(x) for data in gradients for x in data)
    expect(page.locator(".panel .scale").first).to_contain_text(digits.number(float(f"{largest:.3g}")))
    drawn = page.locator(".card", has=page.locator("figcaption :text-is('contribution')")).locator(".picture")
    paths = drawn.evaluate_all(
        "all => all.map((svg) => [...svg.querySelectorAll('path')].map((p) => p.className.baseVal))"
    )
    assert all(each == paths[0] for each in paths)


def test_a_cell_is_an_entry_and_says_its_place_and_its_number(open_player):
    """The gradient of a cross-entropy has one negative number in each row, which its picture shows."""
    import micrograd_plus as mg

    rng = np.random.default_rng(0)
    scores = mg.tensor(rng.normal(size=(32, 10)), requires_grad=True)
    with mg.record() as trace:
        loss = mg.nn.functional.cross_entropy(scores, mg.tensor(rng.integers(0, 10, 32)))
        loss.backward()
    page, gradient = open_player(trace), np.asarray(scores.grad.numpy())
    page.keyboard.press("ArrowRight")
    drawn = page.locator(".card", has=page.locator("figcaption :text-is('contribution')")).locator(".picture").first
    assert drawn_signs(drawn) == ((gradient < 0).sum(), (gradient == 0).sum(), (gradient > 0).sum()) == (32, 0, 288)
    rows = drawn.evaluate("""svg => [...svg.querySelector(".minus").getAttribute("d").matchAll(/M[^,]+,([^h]+)h/g)]
        .map((m) => m[1])""")
    assert len(rows) == len(set(rows)) == 32, "one negative in each row"
    drawn.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_have_text(f"[2, 1] ≈ {digits.number(float(f'{gradient[2, 1]:.3g}'))}")
    box = drawn.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    expect(page.locator(".tip")).to_contain_text("[0, 0] ≈ ")


def test_rows_of_plus_and_minus_one_are_not_blank(open_player):
    import micrograd_plus as mg

    x = mg.tensor(np.tile([[1.0], [-1.0]], (16, 8)), requires_grad=True)
    with mg.record() as trace:
        (x * x).sum().backward()
    page = open_player(trace)
    page.locator(".node", has_text="x").first.click()
    assert drawn_signs(page.locator(".node-details .picture").first) == (128, 0, 128)


def test_cells_of_large_arrays_show_the_largest_entry(open_player):
    import micrograd_plus as mg

    data = np.zeros((64, 64))
    data[9, 41], data[10, 41] = -3.0, 1.0
    x = mg.tensor(data, requires_grad=True)
    with mg.record() as trace:
        (x * 2.0).sum().backward()
    page = open_player(trace)
    page.locator(".node", has_text="x").first.click()
    drawn = page.locator(".node-details .picture").first
    assert drawn_signs(drawn)[0] == 1
    expect(page.locator(".node-details")).to_contain_text("a cell: the largest of 4")
    assert drawn.evaluate("""svg => {
        const [x, y] = svg.querySelector(".minus").getAttribute("d").slice(1).split("h")[0].split(",").map(Number);
        const box = svg.getBoundingClientRect();
        svg.dispatchEvent(new MouseEvent("mousemove", { clientX: box.x + x, clientY: box.y + y }));
        return svg.getRootNode().querySelector(".tip").textContent;
    }""") == "largest in [8–9, 40–41]: −3"
