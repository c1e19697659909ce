"""The player in a real browser: the page of its own, a notebook's output, and a page made by nbconvert."""

import json
from pathlib import Path

import nbformat
import pytest
import sample_traces
from playwright.sync_api import expect

import micrograd_plus_viz as viz
from browser import watched
from micrograd_plus_viz import digits, words

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(page, tmp_path):
    """A function that opens a trace's page and gives the player's shadow root as locators see it."""

    def open_trace(trace, **options):
        path = viz.save(trace, tmp_path / "walk.html", **options)
        page.goto(path.as_uri())
        expect(page.locator(".player")).to_be_visible()
        page.locator(".player").focus()
        return page

    return open_trace


def state(page):
    """Everything that a step changes and a reader can see, without what is only on its way."""
    return page.evaluate("""() => {
        const root = document.querySelector("#walk").shadowRoot;
        const marks = [...root.querySelectorAll(".node, .edge")].map(
            (g) => [g.id, [...g.classList].filter((c) => c !== "selected").sort().join(" "),
                    g.querySelector(".gradient")?.textContent ?? null]);
        const said = root.querySelector(".said").textContent;
        return JSON.stringify([marks, said, root.querySelector(".counter").textContent,
            root.querySelector(".panel").textContent, root.querySelector(".slider").value,
            root.querySelector(".badge").classList.contains("shown")]);
    }""")


def card(page, word, group=0):
    """What stands in the card with that word, in the given row of cards."""
    found = (
        page.locator(".numbers .cards")
        .nth(group)
        .locator(".card")
        .filter(has=page.locator("figcaption b", has_text=word))
    )
    return found.first


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_state_is_the_same_from_either_side_and_by_a_jump(opened, make):
    trace = make()
    page, count = opened(trace), len(trace["steps"])
    forwards = [state(page)]
    for _ in range(count):
        page.keyboard.press("ArrowRight")
        forwards.append(state(page))
    backwards = [state(page)]
    for _ in range(count):
        page.keyboard.press("ArrowLeft")
        backwards.append(state(page))
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == count + 1
    for key, k in (("End", count), ("Home", 0)):
        page.keyboard.press(key)
        assert state(page) == forwards[k]
    for k in (count // 2, count, 1, count - 1):
        page.locator(".slider").fill(str(k))
        assert state(page) == forwards[k]


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_the_panel_shows_the_numbers_of_the_trace(opened, make):
    trace = make()
    page, sentences = opened(trace), words.sentences(trace)
    for i, step in enumerate(trace["steps"]):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".said")).to_have_text(sentences[i])
        expect(page.locator(".counter")).to_have_text(f"{i + 1} / {len(trace['steps'])}")
        sent = "raw" if step["summed_axes"] else "contribution"
        shown = [(0, "upstream"), (0, sent), (1, "contribution"), (1, "after")]
        shown += [(0, "local")] if step["local"] is not None else []
        shown += [(1, "before")] if step["accumulates"] else []
        for group, word in shown:
            check_card(page, card(page, word, group), trace, step[word])
        for name, place in step["reads"].items():
            check_card(page, card(page, name, 2), trace, place)


def check_card(page, found, trace, place):
    """A card shows a value: its number, its entries, or the heat map of what is kept of it."""
    value = None if place is None else trace["values"][place]
    if value is None:
        expect(found.locator(".missing")).to_have_text("not recorded")
    elif value["data"] is not None and len(value["data"]) == 1:
        expect(found.locator(".scalar")).to_have_text(digits.number(value["data"][0]))
    elif value["data"] == []:
        expect(found.locator(".missing")).to_have_text("empty")
    else:
        kept = value["data"] or value["thumbnail"]["data"]
        cells = found.locator("td, .heat span")
        titles = cells.evaluate_all("cells => cells.map(c => c.title.replaceAll('\\u2212', '-'))")
        assert [float(title) for title in titles if "i" not in title.replace("inf", "")] == pytest.approx(
            [float(x) for x in kept if not isinstance(x, list)], rel=0, abs=0, nan_ok=True
        )
        assert found.locator("figcaption span").text_content() == words.shape(value)


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


def test_the_nodes_tell_what_has_arrived_so_far(opened):
    trace = sample_traces.diamond()
    page = opened(trace)
    expect(page.locator("#n6 .gradient")).to_have_text("grad 1")
    expect(page.locator("#n0 .gradient")).to_have_text("")
    page.keyboard.press("End")
    expect(page.locator("#n0 .gradient")).to_have_text("grad 25")
    expect(page.locator("#n1 .gradient")).to_have_text("grad 19")


@pytest.mark.parametrize(
    "make", [sample_traces.growing, sample_traces.recorded, lambda: sample_traces.random_graph(320)]
)
def test_no_line_of_a_node_is_ever_wider_than_the_node(opened, make):
    """Gradients change while the walk goes on, and one on its way may be longer than the one at the end."""
    trace = make()
    page = opened(trace)
    for k in range(0, len(trace["steps"]) + 1, max(1, len(trace["steps"]) // 12)):
        page.locator(".slider").fill(str(k))
        wider = page.locator(".node").evaluate_all("""nodes => nodes.filter((node) => {
            const room = node.querySelector(".body").getBBox().width - 4;
            return [...node.querySelectorAll("text")].some((text) => text.getBBox().width > room);
        }).map((node) => node.textContent)""")
        assert wider == []


def test_a_step_lights_the_node_its_target_and_the_edge_and_marks_accumulation_in_text(opened):
    page = opened(sample_traces.diamond())
    page.locator(".slider").fill("10")
    expect(page.locator(".node.active")).to_have_id("n2")
    expect(page.locator(".node.accumulates")).to_have_id("n1")
    expect(page.locator(".edge.active")).to_have_id("e1")
    expect(page.locator(".badge")).to_have_text("+=")
    expect(page.locator(".badge")).to_be_visible()
    page.locator(".slider").fill("1")
    expect(page.locator(".badge")).to_be_hidden()
    expect(page.locator(".node.receives")).to_have_id("n4")


def test_the_buttons_do_what_the_keys_do_and_know_where_the_walk_ends(opened):
    page = opened(sample_traces.diamond())
    expect(page.locator(".icon.back")).to_be_disabled()
    page.locator(".icon.next").click()
    expect(page.locator(".counter")).to_have_text("1 / 10")
    page.locator(".icon.last").click()
    expect(page.locator(".icon.next")).to_be_disabled()
    page.locator(".icon.back").click()
    expect(page.locator(".counter")).to_have_text("9 / 10")
    page.locator(".icon.first").click()
    expect(page.locator(".said")).to_contain_text("The walk has not begun.")


def test_space_plays_to_the_end_and_stops_there(opened):
    page = opened(sample_traces.diamond())
    page.locator(".speed").select_option("8")
    page.locator(".player").focus()
    page.keyboard.press("Space")
    expect(page.locator(".icon.play")).to_have_attribute("aria-label", "Pause (space)")
    expect(page.locator(".counter")).to_have_text("10 / 10")
    expect(page.locator(".icon.play")).to_have_attribute("aria-label", "Play (space)")


def test_beads_travel_while_the_walk_goes_on_and_leave_nothing_behind(opened):
    page = opened(sample_traces.diamond())
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bead")).to_have_count(3)
    expect(page.locator(".bead")).to_have_count(0)


def test_less_motion_means_no_beads_and_no_transitions(chromium, tmp_path):
    path = viz.save(sample_traces.diamond(), tmp_path / "walk.html")
    with chromium.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".player").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".counter")).to_have_text("1 / 10")
        assert page.locator(".bead").count() == 0
        assert page.evaluate("document.getAnimations().length") == 0


def test_no_key_reaches_the_notebook_around_the_player(opened):
    page = opened(sample_traces.diamond())
    page.evaluate("window.heard = []; document.addEventListener('keydown', (e) => window.heard.push(e.key))")
    for key in ("b", "d", "ArrowRight", "Home", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate("window.heard") == []
    assert page.locator("#walk").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_a_live_region_speaks_whole_sentences_and_is_silent_while_playing_fast(opened):
    page = opened(sample_traces.perceptron())
    page.keyboard.press("ArrowRight")
    expect(page.locator("[aria-live]")).to_have_count(1)
    expect(page.locator("[aria-live=polite]")).to_have_text(
        "Step 1 of 20. add (loss) sends 1 to softmax_cross_entropy (error), "
        "the first gradient to arrive there."
    )
    page.locator(".speed").select_option("4")
    page.locator(".icon.play").click()
    expect(page.locator("[aria-live=off]")).to_have_count(1)
    page.locator(".icon.play").click()
    expect(page.locator("[aria-live=polite]")).to_have_count(1)


def test_a_node_reached_by_keyboard_tells_all_its_numbers_in_a_table(opened):
    trace = sample_traces.perceptron()
    page = opened(trace)
    page.keyboard.press("End")
    page.locator("#n19").focus()
    for _ in range(17):
        page.keyboard.press("ArrowUp")
    expect(page.locator(".node-told .title")).to_contain_text("W1")
    tables = page.locator(".node-told table")
    final = next(g["value"] for g in trace["gradients"] if g["node"] == 2)
    for table, place in ((0, trace["nodes"][2]["value"]), (1, final)):
        assert tables.nth(table).locator("td[title]").all_text_contents() == [
            digits.number(x) for x in trace["values"][place]["data"]
        ]
        assert tables.nth(table).locator("th").count() == 4 + 6
    page.keyboard.press("Escape")
    expect(page.locator(".node-told")).to_have_count(0)


def test_one_tab_stop_leads_into_the_graph(opened):
    page = opened(sample_traces.perceptron())
    assert page.locator(".node[tabindex='0']").count() == 1
    page.locator("#n3").click()
    assert page.locator(".node[tabindex='0']").get_attribute("id") == "n3"


def test_an_application_is_stepped_into_and_left_again(opened):
    trace = sample_traces.perceptron()
    page = opened(trace)
    page.keyboard.press("ArrowRight")
    page.locator("#n12").first.focus()
    page.keyboard.press("Enter")
    inner = page.locator(".nested .player")
    expect(inner).to_be_visible()
    expect(page.locator(".trail")).to_contain_text("Backward walk › softmax_cross_entropy (error)")
    inside = trace["nodes"][12]["inside"]
    page.keyboard.press("End")
    expect(inner.locator(".said")).to_have_text(words.sentences(inside)[-1])
    page.keyboard.press("Escape")
    expect(inner).to_have_count(0)
    expect(page.locator(".said").first).to_contain_text("Step 1 of 20.")
    page.locator("#n12").dblclick()
    page.locator(".trail button").click()
    expect(page.locator(".nested .player")).to_have_count(0)


def test_the_users_expression_is_marked_in_its_line_and_the_rules_line_is_shown(opened):
    trace = sample_traces.perceptron()
    page = opened(trace)
    page.keyboard.press("End")
    expect(page.locator(".source mark")).to_have_text("X @ W1")
    expect(page.locator(".source").first).to_have_text("hidden = mg.tanh(X @ W1 + b1)")
    expect(page.locator(".quoted .title").first).to_contain_text("walk.py, line 2, in train")
    expect(page.locator(".source").nth(1)).to_have_text(trace["rules"]["matmul.b"]["source"])


def test_columns_count_characters_also_behind_one_that_takes_two_units(opened):
    p = sample_traces.Program()
    x = p.leaf("x", 2.0)
    page = opened(p.walk(p.apply("tanh", x, text="y = f('🙂🙂', «tanh(x)», '∂')")))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".source mark")).to_have_text("tanh(x)")


def test_summed_axes_are_told_in_the_panel(opened):
    trace = sample_traces.broadcast()
    page = opened(trace)
    for i, step in enumerate(trace["steps"]):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".counter")).to_have_text(f"{i + 1} / {len(trace['steps'])}")
        told = page.locator("p.summed")
        if step["summed_axes"]:
            expect(told).to_have_text(words.summed(trace, step))
        else:
            expect(told).to_have_count(0)


def test_a_heat_map_tells_signs_in_text_too(opened):
    trace = sample_traces.perceptron()
    page = opened(trace)
    page.keyboard.press("End")
    shown = card(page, "upstream").locator(".heat span")
    upstream = trace["values"][trace["steps"][-1]["upstream"]]["data"]
    assert shown.all_text_contents() == ["−" if x < 0 else "" for x in upstream]


@pytest.mark.parametrize("make", [sample_traces.hostile, sample_traces.strange])
def test_hostile_and_strange_values_are_shown_as_text(opened, make):
    page = opened(make())
    for _ in make()["steps"]:
        page.keyboard.press("ArrowRight")
    for i in range(len(make()["nodes"])):
        page.locator(f"#n{i}").focus()
    assert page.evaluate("window.bitten") is None
    allowed = page.evaluate("""() => [...document.querySelector("#walk").shadowRoot.querySelectorAll("*")]
        .filter((e) => ["SCRIPT", "IMG", "IFRAME", "A", "B"].includes(e.tagName.toUpperCase())
            && !e.closest("figcaption")).length""")
    assert allowed == 0


def test_the_page_asks_the_network_for_nothing(chromium, tmp_path):
    path = viz.save(sample_traces.perceptron(), tmp_path / "walk.html")
    with chromium.new_context() as context:
        page, requests = context.new_page(), []
        troubles = watched(page)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.locator(".player").focus()
        page.keyboard.press("End")
        page.locator("#n2").click()
        page.wait_for_timeout(200)
        assert requests == [path.as_uri()]
        assert troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("make", [sample_traces.perceptron, sample_traces.strange, sample_traces.unrecorded])
def test_axe_finds_nothing_to_mend(chromium, tmp_path, scheme, make):
    from axe_playwright_python.sync_playwright import Axe

    path = viz.save(make(), tmp_path / "walk.html")
    with chromium.new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": 700, "height": 800}
    ) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".player").focus()
        for keys in (["Home"], ["ArrowRight"], ["End"]):
            for key in keys:
                page.keyboard.press(key)
            page.locator("#n0").focus()
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [430, 1600])
def test_a_page_never_grows_wider_than_its_window_and_the_active_node_is_in_sight(opened, page, width):
    page.set_viewport_size({"width": width, "height": 900})
    opened(sample_traces.perceptron())
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator(".node.active")).to_be_in_viewport()


def test_a_small_graph_is_readable_on_a_narrow_screen(opened, page):
    page.set_viewport_size({"width": 430, "height": 900})
    opened(sample_traces.perceptron())
    assert page.locator("#n0 .name").evaluate("e => e.getBoundingClientRect().height") > 8


def test_a_large_graph_steps_and_follows_the_walk(opened):
    trace = sample_traces.random_graph(1200)
    page = opened(trace)
    for key in ("ArrowRight", "End", "ArrowLeft", "Home", "ArrowRight"):
        page.keyboard.press(key)
        expect(page.locator(".counter")).not_to_be_empty()
    expect(page.locator(".node.active")).to_be_in_viewport()
    expect(page.locator(".counter")).to_have_text(f"1 / {len(trace['steps'])}")


def test_a_part_of_a_long_walk_says_that_it_is_one(opened):
    page = opened(sample_traces.chain(300), start=100, length=50)
    expect(page.locator(".note")).to_have_text(
        "This shows steps 101 to 150 of 300; start=150 would show the next ones."
    )
    page.keyboard.press("ArrowRight")
    expect(page.locator(".counter")).to_have_text("1 / 50")


def test_the_theme_of_the_notebook_is_followed_while_it_changes(opened):
    page = opened(sample_traces.diamond())
    for light, scheme in (("false", "dark"), ("true", "light")):
        page.evaluate(f"document.body.dataset.jpThemeLight = '{light}'")
        page.wait_for_timeout(50)
        assert page.locator("#walk").evaluate("e => getComputedStyle(e).colorScheme") == scheme


def notebook_page(tmp_path, outputs):
    """The HTML page nbconvert makes of outputs, asking no network for anything."""
    from nbconvert import HTMLExporter

    cells = [
        nbformat.v4.new_code_cell("trace", outputs=[nbformat.v4.new_output("display_data", data=data)])
        for data in outputs
    ]
    exporter = HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="")
    body, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    path = Path(tmp_path / "notebook.html")
    path.write_text(body, encoding="utf-8")
    return path


def test_a_notebook_made_into_a_page_plays_offline_each_player_by_itself(page, tmp_path):
    bundles = [
        viz.show(trace)._repr_mimebundle_() for trace in (sample_traces.diamond(), sample_traces.perceptron())
    ]
    page.goto(notebook_page(tmp_path, [*bundles, bundles[0]]).as_uri())
    expect(page.locator(".player")).to_have_count(3)
    page.locator(".player").nth(1).focus()
    page.keyboard.press("End")
    expect(page.locator(".counter")).to_have_text(["0 / 10", "20 / 20", "0 / 10"])
    labels = page.locator(".player").evaluate_all("players => players.map(p => p.getAttribute('aria-label'))")
    assert len(set(labels)) == 3


def test_where_scripts_do_not_run_the_moving_picture_stays(chromium, tmp_path):
    text = viz.show(sample_traces.diamond())._repr_mimebundle_()["text/html"]
    path = tmp_path / "untrusted.html"
    path.write_text(f"<!DOCTYPE html><title>untrusted</title>{text}", encoding="utf-8")
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        expect(page.locator("img")).to_be_visible()
        assert page.locator("img").bounding_box()["width"] > 200


def test_the_live_widget_moves_the_player_and_hears_from_it(page):
    """The same module as anywidget loads it, with a stand-in for anywidget's model."""
    widget = viz.widget(sample_traces.diamond(), index=3, synced=True)
    page.set_content("<div id=place></div>")
    page.evaluate(
        """async ([code, state]) => {
        const listeners = {};
        window.model = { get: (name) => state[name], set: (name, value) => { state[name] = value; },
            save_changes: () => { window.saved = state.index; },
            on: (event, heard) => { listeners[event] = heard; }, off: (event) => { delete listeners[event]; },
            move: (i) => { state.index = i; listeners["change:index"](); }, listeners };
        const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        const el = document.querySelector("#place");
        window.destroy = await module.default.render({ model: window.model, el });
    }""",
        [str(widget._esm), {"payload": widget.payload, "index": 3, "synced": True}],
    )
    expect(page.locator(".counter")).to_have_text("3 / 10")
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.saved") == 4
    page.evaluate("window.model.move(7)")
    expect(page.locator(".counter")).to_have_text("7 / 10")
    page.evaluate("window.destroy()")
    expect(page.locator(".player")).to_have_count(0)
    assert page.evaluate("Object.keys(window.model.listeners)") == []
