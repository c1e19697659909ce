"""The stage: one drawing with tiles, the rule as an event, the program beside it, and calm controls."""

import re

import numpy as np
import pytest
import sample_traces
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from benchmarks import lecture_programs, player_programs as programs
from browser import settle

pytestmark = pytest.mark.browser


def broadcast_sum():
    rng = np.random.default_rng(1)
    a, b = (mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((3, 1), (8,)))
    with mg.record() as trace:
        c = a * b
        y = (c * c).sum()
        y.backward()
    return trace


def training_loop():
    w = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        for _ in range(3):
            w.grad = None
            loss = w * w
            loss.backward()
            with mg.no_grad():
                w -= 0.1 * w.grad
    return trace


def makemore():
    """Return a walk of 30 nodes: two layers with batch normalisation by hand."""
    rng = np.random.default_rng(5)
    x = mg.tensor(rng.normal(size=(8, 6)))
    w1, b1, gain, bias, w2 = (
        mg.tensor(rng.normal(size=shape) / 3, requires_grad=True) for shape in ((6, 5), (5,), (1, 5), (1, 5), (5, 4))
    )
    with mg.record() as trace:
        pre = x @ w1 + b1
        mean = pre.mean(0, keepdims=True)
        centred = pre - mean
        variance = (centred * centred).mean(0, keepdims=True)
        h = mg.tanh(gain * (centred * (variance + 1e-5) ** -0.5) + bias)
        loss = ((h @ w2) ** 2).mean()
        loss.backward()
    return trace


SHARE = """() => {
    const stage = document.querySelector("#walk").shadowRoot.querySelector(".stage");
    const { width, height } = stage.getBoundingClientRect();
    return width * height / (innerWidth * innerHeight);
}"""
ALL_IN_VIEW = """() => {
    const root = document.querySelector("#walk").shadowRoot;
    const stage = root.querySelector(".stage").getBoundingClientRect();
    const boxes = [...root.querySelectorAll(".drawing .node .body")].map((body) => body.getBoundingClientRect());
    return [boxes.length, boxes.every((box) => box.x >= stage.x && box.right <= stage.right && box.y >= stage.y
        && box.bottom <= stage.bottom)];
}"""
SHARE_OF_NODES = """() => {
    const root = document.querySelector("#walk").shadowRoot;
    const { width, height } = root.querySelector(".stage").getBoundingClientRect();
    const boxes = [...root.querySelectorAll(".drawing .node .body")].map((body) => body.getBoundingClientRect());
    const [wide, high] = [Math.max(...boxes.map((box) => box.right)) - Math.min(...boxes.map((box) => box.x)),
        Math.max(...boxes.map((box) => box.bottom)) - Math.min(...boxes.map((box) => box.y))];
    return Math.max(wide / width, high / height);
}"""


@pytest.mark.parametrize("program", [
    programs.neuron, broadcast_sum, makemore, programs.attention, programs.gpt, lecture_programs.regression,
])  # fmt: skip
def test_the_drawing_fills_the_screen_and_begins_whole(page, tmp_path, program):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(viz.save(program(), tmp_path / "walk.html").as_uri())
    expect(page.locator(".counter")).to_contain_text("0 / ")
    assert page.evaluate(SHARE) >= 0.6
    nodes, seen = page.evaluate(ALL_IN_VIEW)
    assert seen, "all nodes"
    assert nodes <= 40
    assert page.evaluate(SHARE_OF_NODES) >= 0.6, "as large as there is room"
    assert page.evaluate("document.documentElement.scrollHeight") <= 720


APART = """() => {
    const root = document.querySelector("#walk").shadowRoot, slider = root.querySelector(".slider");
    const stage = root.querySelector(".stage").getBoundingClientRect(), all = (css) => [...root.querySelectorAll(css)];
    const isInside = (node) => { const box = node.querySelector(".body").getBoundingClientRect();
        return box.x >= stage.x - 1 && box.right <= stage.right + 1 && box.y >= stage.y - 1
            && box.bottom <= stage.bottom + 1; };
    let apart = 0;
    const every = Math.ceil(slider.max / 24);
    let count = 0;
    for (let k = 1; k <= Number(slider.max); k += every, count += 1) {
        slider.value = String(k);
        slider.dispatchEvent(new Event("input"));
        const senders = all(".drawing .node.active").filter(isInside);
        apart += senders.length > 0 && all(".drawing .node:is(.receives, .accumulates)").some((node) => isInside(node)
            && !senders.includes(node));
    }
    return apart / count;
}"""


@pytest.mark.parametrize("program", [programs.gpt, programs.rnn, programs.mlp, programs.transformer_layer, makemore])
def test_sender_and_receiver_are_two_places_in_view(page, tmp_path, program):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(viz.save(program(), tmp_path / "walk.html").as_uri())
    page.locator(".player").wait_for()
    assert page.evaluate(APART) >= 0.95


def test_tiles_have_the_shape_of_their_arrays_and_a_scale(open_player):
    page = open_player(broadcast_sum(), details=False)
    page.keyboard.press("End")
    nodes = {name: page.locator(".drawing .node", has=page.locator(f".name:text-is('{name}')")) for name in ("a", "b")}
    for name, shape in (("a", (3, 1)), ("b", (1, 8))):
        for kind in ("value", "gradient"):
            tile = nodes[name].locator(f".tile.of-{kind}")
            width, height = tile.evaluate("(tile) => { const b = tile.getBBox(); return [b.width, b.height]; }")
            assert (height > width / 2) == (shape[0] > shape[1]), "(3, 1) is high, (8,) one line"
    assert nodes["a"].locator(".tile.digits text").count() == 6
    captions = nodes["b"].locator(":scope > text").all_text_contents()
    assert captions[0] == "b"
    assert re.fullmatch(r"\(8,\) ±[\d.e−]+", captions[1])
    assert re.fullmatch(r"grad ±[\d.e−]+", captions[2])


OUTSIDE = """() => {
    const root = document.querySelector("#walk").shadowRoot, slider = root.querySelector(".slider");
    const found = [];
    for (let k = 0; k <= Number(slider.max); k += 1) {
        slider.value = String(k);
        slider.dispatchEvent(new Event("input"));
        for (const tile of root.querySelectorAll(".drawing .node .tile")) {
            const box = tile.getBoundingClientRect();
            const body = tile.closest(".node").querySelector(".body").getBoundingClientRect();
            if (box.x < body.x - 1 || box.right > body.right + 1) found.push([k, tile.getAttribute("class")]);
        }
    }
    return found;
}"""


def test_tiles_stay_inside_their_nodes(open_player, page):
    s = mg.tensor([2.0, 1.0, 0.0], requires_grad=True)
    with mg.record() as trace:
        e = mg.exp(s)
        p = e / mg.sum(e)
        loss = -mg.log(p[1])
        loss.backward()
    open_player(trace)
    assert page.evaluate(OUTSIDE) == []


def test_the_event_shows_the_rule_with_its_factors_and_its_sum(open_player):
    trace = broadcast_sum()
    page = open_player(trace, details=False)
    summed = next(step.index for step in trace.steps if step.summed_axes) + 1
    page.locator(".slider").fill(str(summed))
    words = page.locator(".event .word").all_text_contents()
    assert words[0] == "upstream"
    assert words[-2:] == ["raw, before the sum", "contribution"]
    assert page.locator(".event .sign").all_text_contents() == ["·", "≈", "∑ ≈"]
    assert page.locator(".event .note").text_content() == "axis 1"
    expect(page.locator(".edge-formula")).to_contain_text("contribution")
    adding = next(step.index for step in trace.steps if step.accumulates) + 1
    page.locator(".slider").fill(str(adding))
    assert page.locator(".event .word").all_text_contents()[-3:] == ["before", "contribution", "after"]


def test_a_product_of_matrices_shows_the_sign_and_the_transpose(open_player):
    page = open_player(sample_traces.perceptron(), details=False)
    page.keyboard.press("End")
    assert page.locator(".event .word").all_text_contents()[:2] == ["Xᵀ", "upstream"]
    assert page.locator(".event .sign").all_text_contents()[:2] == ["@", "="]
    assert page.locator(".event .about").first.text_content().startswith("(4, 5)"), "X is (5, 4)"


def test_factors_that_are_no_plain_product_have_commas_between_them(open_player):
    scores = mg.tensor([[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]], requires_grad=True)
    with mg.record() as trace:
        mg.nn.functional.cross_entropy(scores, mg.tensor([0, 2])).backward()
    page = open_player(trace, details=False)
    page.keyboard.press("ArrowRight")
    assert page.locator(".event .sign").all_text_contents() == [",", ",", "→"]


def test_nodes_of_a_step_have_their_names_in_any_case(open_player, page):
    page.set_viewport_size({"width": 420, "height": 860})
    open_player(lecture_programs.lstm(), details=False)
    page.locator(".slider").fill("3")
    named = page.locator(".drawing .node:is(.active, .accumulates) .name")
    assert sorted(named.all_text_contents()) == ["h #12", "h * h"]
    assert page.locator(".drawing .name.outside").all_text_contents() == ["h * h"], "it would be cut inside"


def test_the_program_stands_beside_the_stage_and_leads_to_steps(open_player, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    trace = training_loop()
    open_player(trace, details=False)
    lines = page.locator(".program-line")
    stage, program = page.locator(".stage").bounding_box(), page.locator(".program").bounding_box()
    assert program["x"] + program["width"] <= stage["x"]
    page.keyboard.press("ArrowRight")
    current = page.locator(".program-line.current")
    expect(current).to_contain_text("loss = w * w")
    expect(current).to_have_attribute("aria-current", "step")
    expect(current.locator("mark")).to_have_text("w * w")
    page.keyboard.press("Home")
    lines.filter(has_text="loss = w * w").click()
    expect(page.locator(".counter")).to_have_text(f"1 / {len(trace.steps)}")
    page.locator(".node.application").first.click()
    expect(page.locator(".program-line.chosen")).to_contain_text("loss = w * w")
    page.keyboard.press("Escape")
    expect(page.locator(".program-line.chosen")).to_have_count(0)
    page.locator(".node.leaf").first.click()
    expect(page.locator(".program-line.chosen")).to_contain_text("loss = w * w")
    page.set_viewport_size({"width": 420, "height": 860})
    page.keyboard.press("Escape")
    settle(page)
    assert page.locator(".program").bounding_box()["y"] > page.locator(".stage").bounding_box()["y"]


def test_a_failed_walk_lights_the_line_that_failed(open_player):
    page = open_player(programs.failing_walk(), details=False)
    page.keyboard.press("End")
    expect(page.locator(".program-line.current")).to_contain_text("y.backward()")


def test_variables_show_their_values_of_the_round(open_player):
    page = open_player(training_loop(), details=False)
    variables, seen = page.locator(".variables"), []
    for step in (1, 3, 5):
        page.evaluate(f"location.hash = '#step={step}'")
        expect(page.locator(".counter")).to_have_text(f"{step} / 6")
        seen.append(variables.locator("div").filter(has_text="loss").locator("dd").text_content())
    assert seen == ["4", "2.56", "1.6384"]
    moments = [("backward", "before the walk:", {"w": "1.6", "loss": "2.56"}), ("-=", "now:", {"w": "1.28", "loss":
               "2.56"}), ("w.grad = None", "now:", {"w": "1.6"})]  # fmt: skip
    page.evaluate("location.hash = '#step=3'")  # round 2, whose moments then have buttons
    for word, when, values in moments:
        page.get_by_label(f"Round 2: {word}", exact=True).click()
        expect(variables).to_have_attribute("data-when", when)
        expect(page.locator(".program-line.current")).to_contain_text([word] if when == "now:" else [])
        parts = (variables.locator(part).all_text_contents() for part in ("dt", "dd"))
        assert dict(zip(*parts, strict=True)) == values
    page.get_by_label("Round 2: backward", exact=True).click()
    page.keyboard.press("ArrowRight")
    expect(variables).to_have_attribute("data-when", "in this walk:")


def test_a_name_with_several_values_shows_the_latest(open_player):
    x, w = (mg.tensor(value, requires_grad=True) for value in (2.0, [-2.0, 1.0]))
    with mg.record() as trace:
        y, z = x, w
        for _ in range(3):
            y = y * x
            z = z * w
        (y * z.sum()).backward()
    page = open_player(trace, details=False)
    page.keyboard.press("v")
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        seen.append([page.locator(".variables div").filter(has_text=name).locator("dd").text_content()
                     for name in ("y", "z")])  # fmt: skip
    assert seen == [["4", "(2,) ±4"], ["8", "(2,) ±8"], ["16", "(2,) ±16"]]


def test_variables_are_parts_of_tuples_and_whole_sums(open_player):
    x = mg.tensor([3.0, 1.0], requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            parts = mg.unstack(x)
            total = sum(part * part for part in parts)
            total.backward()
    page = open_player(trace, details=False)
    page.keyboard.press("v")
    seen = []
    while not seen or seen[-1].get("total") != "10":
        page.keyboard.press("ArrowRight")
        rows = (page.locator(f".variables {part}").all_text_contents() for part in ("dt", "dd"))
        seen.append(dict(zip(*rows, strict=True)))
    assert {"x": "(2,) ±3", "parts[0]": "3", "parts[1]": "1"} in seen
    assert all(values.keys() <= {"x", "parts[0]", "parts[1]", "total"} for values in seen)
    assert [values["total"] for values in seen if "total" in values] == ["10"]


def test_only_playing_is_in_sight_and_the_rest_behind_one_button(open_player, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    open_player(broadcast_sum(), details=False)
    assert page.locator(".bar > :visible").count() == 6, "play, back, step, time line, counter, more"
    expect(page.locator(".panel")).to_be_hidden()
    page.locator(".icon.menu").click()
    expect(page.locator(".icon.menu")).to_have_attribute("aria-expanded", "true")
    before = page.locator(".player").bounding_box()["height"]
    page.locator(".tool.details").click()
    expect(page.locator(".panel")).to_be_visible()
    assert page.locator(".player").bounding_box()["height"] == pytest.approx(before, abs=1)
    box = page.locator(".stage").bounding_box()
    assert box["y"] + box["height"] < 720
    assert box["height"] > 200


def test_tab_moves_the_focus_and_the_step_stays(open_player):
    page = open_player(sample_traces.perceptron())
    page.keyboard.press("ArrowRight")
    panel = page.locator(".panel").text_content()
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.locator(".panel").text_content() == panel
    expect(page.locator(".counter")).to_have_text("1 / 20")


def test_the_address_follows_and_keys_work_wherever_the_focus_is(page, tmp_path):
    page.goto(viz.save(sample_traces.diamond(), tmp_path / "walk.html").as_uri())
    page.locator(".player").wait_for()
    page.evaluate("document.querySelector('#walk').shadowRoot.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".counter")).to_have_text("2 / 10")
    expect(page).to_have_url(re.compile("#step=2$"))
    page.keyboard.press("v")
    expect(page).to_have_url(re.compile("#value=0$"))
    asked = page.url.replace("#value=0", "#step=7")
    page.evaluate("(newURL) => dispatchEvent(new HashChangeEvent('hashchange', { newURL }))", asked)
    expect(page.locator(".counter")).to_have_text("7 / 10")  # the address itself may have followed an earlier step
    page.evaluate("location.hash = '#step=99'")
    expect(page.locator(".counter")).to_have_text("10 / 10")
    expect(page).to_have_url(re.compile("#step=10$"))


def test_no_line_of_the_program_is_cut(open_player):
    with mg.record() as trace:
        for x in (1.0, 2.0):
            first_weight, second_weight = (mg.tensor(x, requires_grad=True) for _ in range(2))
            (mg.tanh(first_weight*second_weight+first_weight*second_weight) + second_weight).backward()
    page = open_player(trace, details=False)
    page.set_viewport_size({"width": 1000, "height": 720})
    settle(page)
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "End"):
        page.keyboard.press(key)
        cut = page.locator(".program-line code").evaluate_all(
            "(lines) => lines.filter((line) => line.scrollWidth > line.clientWidth).map((line) => line.textContent)"
        )
        assert not cut


def test_long_names_leave_room_for_their_numbers(open_player):
    weights_of_the_first_layer_before_the_nonlinearity_is_applied = mg.tensor(2.0, requires_grad=True)
    optimizer = mg.optim.SGD([weights_of_the_first_layer_before_the_nonlinearity_is_applied], lr=0.1)
    with mg.record() as trace:
        for _ in range(3):
            optimizer.zero_grad()
            loss = weights_of_the_first_layer_before_the_nonlinearity_is_applied**2
            loss.backward()
            optimizer.step()
    page = open_player(trace, details=False)
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 720})
        settle(page)
        for box in (".variables", ".readout"):
            assert page.locator(box).evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0, (width, box)
        for row in page.locator(".variables div, .key:visible").all():
            assert row.bounding_box()["height"] < 25, "one line"


def test_an_index_set_right_after_display_is_kept(page):
    widget = viz.widget(sample_traces.diamond())
    page.set_content("<div id=place></div>")
    page.evaluate("""async ([code, payload]) => {
        const heard = {}, state = { payload, index: 0, synced: true };
        window.model = { get: (name) => state[name], on: (event, f) => { heard[event] = f; }, off() {},
            save_changes: () => { window.saved = state.index; },
            set(name, value) { state[name] = value; heard[`change:${name}`]?.(); } };
        const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        const done = module.default.render({ model: window.model, el: document.querySelector("#place") });
        window.model.set("index", 3);
        await done;
    }""", [str(widget._esm), widget.payload])  # fmt: skip
    expect(page.locator(".counter")).to_have_text("3 / 10")
    assert page.evaluate("window.model.get('index')") == 3
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.saved") == 4, "stepping sets the index"


def test_rounding_noise_does_not_decide_the_width_of_lines(open_player):
    x = mg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    shift = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        moved = x + shift
        ((moved - moved.mean()) ** 3).sum().backward()
    noise = abs(float(trace.steps[-1].contribution.sum()))
    assert noise < 1e-12
    page = open_player(trace, details=False)
    page.keyboard.press("End")
    widths = page.locator(".edge.done path:not(.head)").evaluate_all(
        "all => all.map((path) => parseFloat(path.style.strokeWidth))"
    )
    assert max(widths) / min(width for width in widths if width > 0.8) > 1.3


def test_complex_entries_are_neither_positive_nor_negative(open_player):
    z = mg.tensor([1 + 2j, -3j, -1 + 0.5j], requires_grad=True)
    with mg.record() as trace:
        (z * z).real.sum().backward()
    page = open_player(trace)
    page.keyboard.press("End")
    kinds = page.locator(".card .line span").evaluate_all("all => all.map((entry) => entry.className)")
    assert {kind for kind in kinds if kind} >= {"c4"}
    assert page.locator(".card", has_text="after").locator(".p4, .n4").count() == 0


def test_keys_step_after_a_click_on_a_node_in_a_notebook(page):
    a, b = (mg.tensor(x, requires_grad=True) for x in (2.0, 3.0))
    with mg.record() as trace:
        y = (a + b) * (a * b)
        y.backward()
    page.emulate_media(reduced_motion="reduce")
    page.set_content(f"<!doctype html><body>{viz.show(trace)._repr_mimebundle_()['text/html']}</body>")
    for number in (2, 4):
        page.locator(".node").nth(number).click()
        step = int(page.locator(".counter").inner_text().split()[0])
        page.keyboard.press("ArrowRight")
        expect(page.locator(".counter")).to_have_text(f"{step + 1} / 6")


RISE = """all => all.map((each) => {
    const [base, script] = [...each.children].map((part) => part.getBoundingClientRect());
    return (base.top - script.top) / parseFloat(getComputedStyle(each).fontSize); })"""


def test_a_superscript_is_not_far_above_its_letter(open_player):
    x, weight = (mg.tensor(np.ones((2, 2)), requires_grad=True) for _ in range(2))
    with mg.record() as trace:
        (x @ weight).sum().backward()
    page = open_player(trace, details=False)
    page.locator(".slider").fill("2")
    expect(page.locator(".edge-formula msup")).to_have_text("weight⊤")
    settle(page)
    (rise,) = page.locator(".edge-formula msup").evaluate_all(RISE)
    assert 0.1 < rise < 0.45, "an exponent of KaTeX begins 0.4 of its letter's size above it"


def test_a_formula_with_a_long_name_is_whole_on_a_phone(open_player, page):
    page.set_viewport_size({"width": 360, "height": 740})
    x, weights_of_the_hidden_layer_of_all = (mg.tensor(np.ones((2, 2)), requires_grad=True) for _ in range(2))
    with mg.record() as trace:
        (x @ weights_of_the_hidden_layer_of_all).sum().backward()
    open_player(trace, details=False)
    page.locator(".slider").fill("2")
    formula = page.locator(".edge-formula .formula")
    expect(formula).to_contain_text("weights_of_the_hidden")
    settle(page)
    assert formula.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 1
