"""Tests of the player on pages, in notebooks and widgets; narrow, dark, without motion, with hostile names."""

import re
from functools import cache
from html import escape
from pathlib import Path

import nbformat
import pytest
import sample_traces
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from browser import settle, watch_page
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, scalar
from micrograd_plus_viz import formula
from micrograd_plus_viz.trace_input import normalize

pytestmark = pytest.mark.browser


def test_less_motion_means_no_beads_and_no_transitions(chromium, tmp_path):
    path = viz.save(sample_traces.diamond(), tmp_path / "walk.html")
    with chromium.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".player").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".counter")).to_have_text("1 / 10")
        assert page.locator(".marker").count() == 0
        assert page.evaluate("document.getAnimations().length") == 0


def test_printed_walks_are_dark_on_white_without_controls(chromium, tmp_path):
    path = viz.save(sample_traces.engine_recording(), tmp_path / "walk.html")
    with chromium.new_context(color_scheme="dark", viewport={"width": 700, "height": 800}) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        page.locator(".player").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".bar")).to_be_visible()
        page.emulate_media(media="print")
        expect(page.locator(".bar")).to_be_hidden()
        expect(page.locator(".hint")).to_be_hidden()
        expect(page.locator(".player")).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(page.locator(".sentence")).to_have_css("color", "rgb(27, 31, 36)")
        cut = "boxes => boxes.filter((box) => box.scrollHeight > box.clientHeight + 1).length"
        assert page.locator(".source").evaluate_all(cut) == 0


def test_no_key_reaches_the_notebook_around_the_player(open_player):
    page = open_player(sample_traces.diamond())
    page.evaluate("window.heard = []; document.addEventListener('keydown', (e) => window.heard.push(e.key))")
    for key in ("b", "d", "ArrowRight", "Home", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate("window.heard") == []
    assert page.locator("#walk").get_attribute("data-lm-suppress-shortcuts") == "true"


@pytest.mark.parametrize("make", [sample_traces.hostile, sample_traces.strange])
def test_hostile_and_strange_values_are_shown_as_text(open_player, make):
    page = open_player(make())
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
        troubles = watch_page(page)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.locator(".player").focus()
        page.keyboard.press("End")
        page.locator("#n2").click()
        page.wait_for_timeout(200)
        assert requests == [path.as_uri()]
        assert troubles == []


def test_a_page_takes_the_focus_unless_it_is_in_a_frame(page, tmp_path):
    path = viz.save(sample_traces.perceptron(), tmp_path / "walk.html")
    page.goto(path.as_uri())
    page.locator(".player").wait_for()
    page.keyboard.press("End")
    expect(page.locator(".counter")).to_have_text("20 / 20")
    page.set_content(f'<input autofocus><iframe srcdoc="{escape(path.read_text(encoding="utf-8"))}"></iframe>')
    page.frame_locator("iframe").locator(".player").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "INPUT"


@pytest.mark.parametrize(
    "make",
    [sample_traces.perceptron, sample_traces.several_outputs, sample_traces.strange, sample_traces.backward_only],
)
def test_axe_finds_nothing_to_mend(chromium, tmp_path, make):
    path = viz.save(make(), tmp_path / "walk.html")
    with chromium.new_context(bypass_csp=True, viewport={"width": 700, "height": 800}) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".player").focus()
        for key in ("Home", "ArrowRight", "End"):
            page.keyboard.press(key)
            for scheme, node in (("light", 0), ("dark", len(make()["nodes"]) - 2)):
                page.emulate_media(color_scheme=scheme)
                page.locator(f"#n{node}").focus()
                settle(page)
                assert find_violations(page) == []


@pytest.mark.parametrize("width", [430, 1600])
def test_a_page_fits_its_window_and_shows_the_active_node(open_player, page, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_player(sample_traces.perceptron())
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator(".node.active")).to_be_in_viewport()


def record_sample(sample):
    """Record a backward walk through a sample."""
    leaves = [mg.tensor(sample.inputs[i], requires_grad=True) for i in differentiable_inputs(sample)]
    with mg.record() as trace:
        scalar(sample, replace_inputs(sample, differentiable_inputs(sample), leaves)).backward()
    return trace


@cache
def formulas_of_every_sample():
    """Return the formulas of backward walks through all samples of all operations."""
    shown = {}
    for sample in (each for several in mg.samples.samples.values() for each in several):
        data = normalize(record_sample(sample).to_dict())
        for step in data["steps"]:
            shown |= {
                formula.step_with_symbols(data, step): repr(sample),
                formula.with_numbers(data, step): repr(sample),
            }
    return {written: sample for written, sample in shown.items() if written}


@pytest.mark.xdist_group("formulas")   # one worker writes them all, once
@pytest.mark.parametrize("width", [400, 780, 880, 1280])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_formula_of_any_operation_is_wider_than_the_page(open_player, page, width):
    page.set_viewport_size({"width": width, "height": 700})
    open_player(sample_traces.diamond())
    page.keyboard.press("ArrowRight")
    wider = page.locator(".formula").first.evaluate(
        """(box, shown) => shown.filter(([formula]) => {
            box.innerHTML = formula;
            return box.scrollWidth > box.clientWidth + 1 || box.clientHeight < 10;
        }).map(([, sample]) => sample)""",
        list(formulas_of_every_sample().items()),
    )
    assert wider == []


def test_narrow_screens_show_sender_and_receiver_in_full(open_player, page):
    page.set_viewport_size({"width": 400, "height": 700})
    trace = sample_traces.random_graph(40)
    open_player(trace)
    for _ in trace["steps"]:
        page.keyboard.press("ArrowRight")
        active, receiver, around = (
            page.locator(part).bounding_box()
            for part in (".node.active .body", ".node:is(.receives, .accumulates) .body", ".graph")
        )
        for start, size in (("x", "width"), ("y", "height")):
            for part in (active, receiver):
                assert around[start] - 2 <= part[start]
                assert part[start] + part[size] <= around[start] + around[size] + 2


def test_long_names_and_code_wrap_within_the_page(open_player, page):
    page.set_viewport_size({"width": 400, "height": 700})
    p = sample_traces.Program()
    name = "a_name_that_goes_on_and_on_without_any_place_at_which_a_line_could_end_of_its_own_accord"
    trace = p.walk(p.apply("tanh", p.leaf(name, 2.0), text=f"y = «tanh({name}, {name})»"))
    trace["rules"]["tanh.x"]["source"] = f"def _(out):\n    return 1 - out * out  # {name} {name}"
    open_player(trace)
    for key in ("Home", "End"):
        page.keyboard.press(key)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        cut = "boxes => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.className)"
        assert page.locator(".sentence, .title, .card, .source, .source code").evaluate_all(cut) == []
    page.locator("#n0").focus()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.keyboard.press("Escape")
    first, second = (page.locator(".source").nth(1).locator("code").nth(i) for i in (0, 1))
    assert first.text_content() + second.text_content() == trace["rules"]["tanh.x"]["source"]
    assert second.evaluate("line => parseFloat(getComputedStyle(line).paddingLeft)") > first.evaluate(
        "line => parseFloat(getComputedStyle(line).paddingLeft)"
    )


def test_a_small_graph_is_readable_on_a_narrow_screen(open_player, page):
    page.set_viewport_size({"width": 430, "height": 900})
    open_player(sample_traces.perceptron())
    assert page.locator("#n0 .name").evaluate("e => e.getBoundingClientRect().height") > 8


def test_a_large_graph_steps_and_follows_the_walk(open_player):
    trace = sample_traces.random_graph(1200)
    page = open_player(trace)
    for key in ("ArrowRight", "End", "ArrowLeft", "Home", "ArrowRight"):
        page.keyboard.press(key)
        expect(page.locator(".counter")).not_to_be_empty()
    expect(page.locator(".node.active")).to_be_in_viewport()
    expect(page.locator(".counter")).to_have_text(f"1 / {len(trace['steps'])}")


def test_a_part_of_a_long_walk_says_that_it_is_one(open_player):
    page = open_player(sample_traces.chain(300), start=100, length=50)
    expect(page.locator(".note")).to_have_text(
        "This page has steps 101 to 150 of 300, and the 52 nodes that they use; "
        "viz.show(trace, start=150) has the next ones."
    )
    page.keyboard.press("ArrowRight")
    expect(page.locator(".counter")).to_have_text("101 / 300")


def test_the_theme_of_the_notebook_is_followed_while_it_changes(open_player):
    page = open_player(sample_traces.diamond())
    for light, scheme in (("false", "dark"), ("true", "light")):
        page.evaluate(f"document.body.dataset.jpThemeLight = '{light}'")
        expect(page.locator("#walk")).to_have_css("color-scheme", scheme)


def notebook_page(tmp_path, outputs):
    """Return the HTML page that nbconvert makes of outputs, without network access."""
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


def test_players_in_an_exported_notebook_work_offline(page, tmp_path):
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
    """The page loads the module as anywidget does, with a stub of anywidget's model."""
    widget = viz.widget(sample_traces.diamond(), index=3)
    page.set_content("<div id=place></div>")
    page.evaluate(
        """async ([code, state]) => {
        const listeners = {};
        window.model = { get: (name) => state[name], set: (name, value) => { state[name] = value; },
            save_changes: () => { window.saved = state.index; },
            on: (event, heard) => { listeners[event] = heard; }, off: (event) => { delete listeners[event]; },
            move: (i) => { state.index = i; listeners["change:index"](); }, listeners,
            show: (payload) => { state.payload = payload; listeners["change:payload"](); } };
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
    page.evaluate("""async (later) => {
        const { json } = Response.prototype;
        const waits = [Promise.resolve()];
        // The first walk is unpacked after the second.
        Response.prototype.json = async function () {
            const isFirst = waits.length === 1;
            const own = Promise.withResolvers();
            waits.push(own.promise);
            const data = await json.call(this);
            while (isFirst && waits.length < 3) await new Promise((soon) => setTimeout(soon));
            await (isFirst ? waits[2] : null);
            own.resolve();
            return data;
        };
        for (const each of later) window.model.show(each);
        while (waits.length < 3) await new Promise((soon) => setTimeout(soon));
        await Promise.all(waits);
        Response.prototype.json = json;
        await new Promise((soon) => setTimeout(soon));
    }""", [viz.widget(walk).payload for walk in (sample_traces.chain(20), sample_traces.chain(9))])  # fmt: skip
    expect(page.locator(".counter")).to_have_text("7 / 9")
    page.evaluate("window.destroy()")
    expect(page.locator(".player")).to_have_count(0)
    assert page.evaluate("Object.keys(window.model.listeners)") == []


def test_a_frame_is_as_tall_as_the_walk_in_it_at_each_step(page):
    _, text = viz.show(sample_traces.perceptron())._mime_()
    page.set_content(text)
    frame, inside = page.locator("iframe"), page.frame_locator("iframe")
    inside.locator(".player").focus()
    heights = []
    for key in ("ArrowRight", "Home"):
        inside.locator(".player").press(key)
        page.wait_for_function(
            "() => { const frame = document.querySelector('iframe');"
            " return frame.clientHeight === frame.contentDocument.body.offsetHeight; }"
        )
        heights.append(frame.bounding_box()["height"])
    assert heights[0] == heights[1], "the height stays where one steps"


POLICY = '<meta http-equiv="Content-Security-Policy" content="script-src {scripts}; img-src data:">'


@pytest.mark.parametrize("scripts", ["'unsafe-inline'", "'nonce-abc'"])
def test_players_and_cards_need_inline_scripts_but_no_eval(page, tmp_path, scripts):
    outputs = [viz.show(sample_traces.diamond()), viz.quiz(sample_traces.diamond()), viz.ask("Two?", right=2)]
    cells = "".join(each._repr_mimebundle_()["text/html"] for each in outputs)
    if "nonce" in scripts:
        cells = cells.replace("<script", '<script nonce="abc"')
    text = f"<!DOCTYPE html><meta charset=utf-8>{POLICY.format(scripts=scripts)}{cells}"
    (tmp_path / "host.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "host.html").as_uri())
    expect(page.locator(".player")).to_have_count(3)


@pytest.mark.parametrize("host", ["a policy without scripts", "scripts taken out"])
def test_hosts_without_scripts_show_picture_and_sentence(chromium, tmp_path, host):
    shown = viz.show(sample_traces.diamond())._repr_mimebundle_()["text/html"]
    policy = POLICY.format(scripts="'none'")
    if host == "scripts taken out":
        policy, shown = "", re.sub(r"<script.*?</script>", "", shown)
    (tmp_path / "host.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{policy}{shown}", encoding="utf-8")
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto((tmp_path / "host.html").as_uri())
        page.wait_for_function("document.querySelector('img').naturalWidth > 300")
        assert page.locator(".player").count() == 0
        assert page.locator("img").get_attribute("alt").startswith("Graph of a program")
        assert "A still picture, because scripts are disabled here." in page.locator("small").inner_text()
