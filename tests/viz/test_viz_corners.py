"""Tests of unusual cases: no walk, complex numbers, a cell run again, a hidden place, keys of other widgets."""

import numpy as np
import pytest
import sample_traces
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from browser import settle
from lesson_matrix import CONTRAST

pytestmark = pytest.mark.browser

A_MINUTE = 60_000
"""The time, in milliseconds from when the page was opened, at which a test stops the page's clock."""


def record_data(program):
    """Return the recording of a program as data."""
    with mg.record() as trace:
        program()
    return trace.to_dict()


def leaf(values):
    return mg.tensor(values, requires_grad=True)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (lambda: None, "Program without a walk: 0 nodes. No walk was recorded: call backward() inside"),
        (lambda: leaf(2.0) * 3, "Program without a walk: 3 nodes. No walk was recorded"),
        (lambda: leaf(2.0).backward(), "Backward walk: 1 node, 0 steps, leaf = 2. No rule is applied."),
    ],
)
def test_a_trace_without_steps_explains_why_it_cannot_play(open_player, program, sentence):
    page = open_player(record_data(program))
    expect(page.locator(".sentence")).to_contain_text(sentence)
    expect(page.locator(".bar .icon:enabled:not(.menu)")).to_have_count(0)
    for key in ("ArrowRight", "ArrowLeft", "Home", "End", "Space", "ArrowDown", "Enter", "Escape"):
        page.keyboard.press(key)
    expect(page.locator(".counter")).to_have_text("0 / 0")


def test_complex_products_show_the_conjugate(open_player):
    z, w = leaf([1 + 2j, -3j]), leaf([2 - 1j, 0.5j])
    page = open_player(record_data(lambda: (z * w).real.sum().backward()))
    page.keyboard.press("End")
    upstream, local, sent = (
        complex(page.locator(".numbers .card").nth(k).locator(".line span").first.get_attribute("title")
                .partition(" = ")[2].replace("−", "-").replace(" ", "").replace("i", "j"))
        for k in range(3)
    )  # fmt: skip
    expect(page.locator(".numbers .sign").first).to_have_text("· conj")
    assert sent == upstream * local.conjugate() != upstream * local
    expect(page.locator(".formula .overlined").first).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".numbers .sign").first).not_to_have_text("· conj")


def test_running_a_cell_again_frees_its_old_player(page):
    page.set_content(viz.show(sample_traces.perceptron())._repr_mimebundle_()["text/html"])
    page.locator(".icon.play").click()
    page.locator("#n3").click()
    page.evaluate("""() => {
        const host = document.querySelector("[data-mgp]");
        window.gone = [new WeakRef(host), new WeakRef(host.shadowRoot.querySelector(".player"))];
        host.remove();
    }""")
    session, tries = page.context.new_cdp_session(page), 0
    session.send("HeapProfiler.enable")
    while not page.evaluate("window.gone.every((ref) => ref.deref() === undefined)"):  # while a timer of playing waits
        assert (tries := tries + 1) < 100
        page.wait_for_timeout(100)
        session.send("HeapProfiler.collectGarbage")
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")


def test_a_hidden_player_shows_its_active_node_when_it_appears(open_player, page):
    page.set_viewport_size({"width": 500, "height": 800})
    open_player(sample_traces.perceptron())
    host = page.locator("#walk")
    page.locator(".slider").fill("20")
    host.evaluate("host => { host.style.display = 'none'; }")
    settle(page)
    page.locator(".slider").evaluate(
        "slider => { slider.value = '1'; slider.dispatchEvent(new Event('input')); }"
    )
    host.evaluate("host => { host.style.display = ''; }")
    expect(page.locator(".node.active")).to_be_in_viewport(ratio=0.9)


def test_unused_keys_are_left_to_the_page(open_player, page):
    page.set_viewport_size({"width": 900, "height": 300})
    open_player(sample_traces.perceptron())
    page.evaluate("window.heard = []; document.addEventListener('keydown', (e) => window.heard.push(e.key))")
    page.keyboard.press("Control+s")
    assert "s" in page.evaluate("window.heard")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.scrollingElement.scrollTop > 0")
    page.locator("#n3").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.querySelector('#walk').shadowRoot.activeElement.id") == "n4"


def test_a_node_leads_to_the_steps_in_which_it_receives_and_sends(open_player):
    trace = sample_traces.diamond()
    page = open_player(trace)
    page.locator("#n3").click()
    received = [i + 1 for i, step in enumerate(trace["steps"]) if step["target"] == 3]
    sent = [i + 1 for i, step in enumerate(trace["steps"]) if step["node"] == 3]
    assert (len(received), len(sent)) == (2, 2)
    expect(page.locator(".visit")).to_have_text([str(k) for k in received + sent])
    expect(page.locator(".visits")).to_contain_text("Receives in steps")
    page.locator(".visit").nth(2).click()
    expect(page.locator(".counter")).to_have_text(f"{sent[0]} / 10")
    expect(page.locator(".node.active")).to_have_id("n3")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".counter")).to_have_text(f"{sent[0] - 1} / 10")


def test_a_value_with_a_thousand_uses_lists_few_steps(open_player):
    x = leaf(0.5)

    def program():
        y = x
        for _ in range(100):
            y = y * x
        y.backward()

    page = open_player(record_data(program))
    page.locator("#n0").click()
    expect(page.locator(".visit")).to_have_count(24)
    expect(page.locator(".visits")).to_contain_text("…")


def test_players_of_several_cells_have_names_of_their_own(page):
    outputs = [viz.show(trace)._repr_mimebundle_()["text/html"] for trace in (wide(1.0), wide(2.0))]
    page.set_content("".join(outputs))
    expect(page.locator(".player")).to_have_count(2)
    labels = page.locator(".player").evaluate_all("players => players.map(p => p.getAttribute('aria-label'))")
    assert len(set(labels)) == 2


def wide(x):
    """Return two programs with similar summaries."""
    p = sample_traces.Program()
    return p.walk(p.apply("sum", p.apply("tanh", p.leaf("x", np.array([x, -x])))))


def test_heat_maps_and_legend_keep_colours_in_forced_colours_mode(chromium, tmp_path):
    path = viz.save(sample_traces.perceptron(), tmp_path / "walk.html")
    with chromium.new_context(forced_colors="active") as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".player").focus()
        page.keyboard.press("End")
        page.keyboard.press("d")
        page.keyboard.press("m")
        ground = "backgroundColor"
        for cells, colour in ((".picture path", "fill"), (".strip i", ground), (".legend i", ground)):
            seen = page.locator(cells).evaluate_all(
                f"cells => cells.map((cell) => getComputedStyle(cell).{colour})"
            )
            assert len(set(seen)) > 3
        edge = "lines => lines.map((line) => getComputedStyle(line).borderLeftColor)"
        current, others = (page.locator(f".program-line{kind}").evaluate_all(edge)
                           for kind in (".current", ":not(.current)"))  # fmt: skip
        assert not {*current} & {*others}


def test_forced_colours_win_over_the_theme_of_a_notebook(chromium, tmp_path):
    # x: one leaf that is added to, next to an infinite gradient
    x = mg.tensor([0.0, 4.0], requires_grad=True)
    with mg.record() as trace, np.errstate(divide="ignore"):
        (mg.sqrt(x) + x).sum().backward()
    path = viz.save(trace, tmp_path / "walk.html")
    with chromium.new_context(forced_colors="active", color_scheme="dark", bypass_csp=True) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate("document.body.dataset.jpThemeLight = 'true'")
        page.add_style_tag(content="body { --jp-layout-color0: white; }")
        for _ in trace.steps:
            page.keyboard.press("ArrowRight")
            assert page.evaluate(CONTRAST) == []
        page.keyboard.press("d")
        page.keyboard.press("m")
        pressed, other = (page.locator(f".tool[aria-pressed={on}]").first.evaluate(
            "button => getComputedStyle(button).backgroundColor") for on in ("true", "false"))  # fmt: skip
        assert pressed != other


@pytest.mark.parametrize(
    ("shape", "caption", "rows"),
    [
        ((1080,), "its first entries", []),
        ((39, 39), "its first rows and columns", ["0", "1", "2", "3"]),
        ((13, 15, 6), "the first entries along its last two axes", ["0", "1", "2", "3"]),
        ((2, 2, 3), None, ["0, 0", "0, 1", "1, 0", "1, 1"]),
        ((5,), None, []),
    ],
)
def test_a_table_of_numbers_says_which_entries_it_shows(open_player, shape, caption, rows):
    p = sample_traces.Program()
    page = open_player(p.walk(p.apply("sum", p.leaf("x", np.arange(float(np.prod(shape))).reshape(shape)))))
    page.locator("#n0").click()
    table = page.locator(".node-details table").first
    assert table.locator("caption").all_text_contents() == ([caption] if caption else [])
    assert table.locator("th[scope=row]").all_text_contents() == rows


def test_hovering_over_a_boolean_shows_its_printed_text(open_player):
    page = open_player(sample_traces.strange())
    mask = next(i for i, node in enumerate(sample_traces.strange()["nodes"]) if node["label"] == "mask")
    page.locator(f"#n{mask}").focus()
    cells = page.locator(".node-details [title]")
    assert [f"[{k}] = {text}" for k, text in enumerate(cells.all_text_contents())] == cells.evaluate_all(
        "cells => cells.map((cell) => cell.title)"
    )


@pytest.mark.parametrize("way", ["button", "key", "slider"])
def test_whoever_steps_by_hand_ends_the_playing(open_player, way):
    page = open_player(sample_traces.diamond(), clock=0)
    page.clock.pause_at(A_MINUTE)
    page.keyboard.press("Space")
    expect(page.locator(".counter")).to_have_text("1 / 10")
    if way == "button":
        page.locator(".icon.back").click()
    elif way == "key":
        page.keyboard.press("ArrowLeft")
    else:
        page.locator(".slider").fill("0")
    expect(page.locator(".icon.play")).to_have_attribute("aria-label", "Play (space)")
    page.clock.run_for(10_000)
    expect(page.locator(".counter")).to_have_text("0 / 10")


def test_styles_of_the_page_do_not_affect_the_player(open_player):
    page = open_player(sample_traces.perceptron())
    page.keyboard.press("End")
    places = """() => [...document.querySelector("#walk").shadowRoot.querySelectorAll("p, .card, .node, math, code")]
        .flatMap((e) => { const { x, width, height } = e.getBoundingClientRect(); return [x, width, height]; })
    """
    before = page.evaluate(places)
    page.locator("#walk").evaluate("""host => Object.assign(host.parentElement.style, {
        direction: "rtl", textAlign: "center", whiteSpace: "pre", textTransform: "uppercase", letterSpacing: "3px",
        fontStyle: "italic", lineHeight: "3", textIndent: "40px", wordSpacing: "9px" })""")
    assert page.evaluate(places) == pytest.approx(before, abs=0.2)
