"""A training loop as a film: one graph, a time line, and the engine's numbers at every moment of every round."""

import numpy as np
import pytest
from playwright.sync_api import expect
from test_viz_files import inside_html

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from benchmarks import lecture_programs
from browser import settle
from micrograd_plus import nn
from micrograd_plus.engine import Value
from micrograd_plus_viz import cells, deltas, formula_lines, products, timeline, trace_input, words
from micrograd_plus_viz.digits import number
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.static_files import text

MOMENTS = ["zero_grad", "forward", "backward", "step"]


def train(rounds, program=None):
    """Record a loop with one parameter. Return the trace, and what `w` had after each moment of each round."""
    w = mg.tensor(2.0, requires_grad=True)
    w.grad = 0.5
    x = mg.tensor(3.0)
    optimizer = mg.optim.SGD([w], lr=0.01)
    seen = []

    def note():
        seen.append((w.item(), None if w.grad is None else w.grad.item()))

    with mg.record() as trace:
        for _ in range(rounds):
            optimizer.zero_grad()
            note()
            loss = (w * x - 1.0) ** 2
            note()
            loss.backward()
            note()
            optimizer.step()
            note()
    return trace, seen


def network(rounds, rows=4, width=3, seed=1):
    """Record a loop with a network of 2 inputs."""
    random = np.random.default_rng(1)
    mg.random.seed(seed)
    x, y = mg.tensor(random.normal(size=(rows, 2))), mg.tensor(random.normal(size=(rows, 1)))
    net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = mg.optim.SGD(net.parameters(), lr=0.05)
    with mg.record() as trace:
        for _ in range(rounds):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
    return trace


def go_to(page, number, word):
    """Press a moment in the bar, after the number of its round if that is another."""
    if (other := page.get_by_label(f"Round {number}", exact=True)).count():
        other.click()
    page.get_by_label(f"Round {number}: {word}", exact=True).click()


@pytest.mark.browser
def test_each_moment_of_each_round_shows_the_engines_numbers(page, tmp_path):
    trace, seen = train(4)
    film = timeline.load_film(trace)
    w = next(node["id"] for node in film["nodes"] if node["title"] == "w")
    page.goto(viz.save(trace, tmp_path / "film.html").as_uri())
    page.set_viewport_size({"width": 1280, "height": 720})
    for round_number in range(4):
        for place, word in enumerate(MOMENTS):
            go_to(page, round_number + 1, word)
            if word == "backward":
                page.keyboard.press("ArrowLeft")  # the page itself has the focus
                page.get_by_label(f"Round {round_number + 1}: {word}", exact=True).click()
                for _ in range(3):
                    page.keyboard.press("ArrowRight")
            if word == "forward":
                continue
            value, gradient = seen[4 * round_number + place]
            expect(page.locator(".key.parameter")).to_have_text(f"w {number(float(f'{value:.4g}'))}")
            shown = page.locator(f"#n{w}")
            expect(shown).to_contain_text(number(value))
            if gradient is None:
                expect(shown).not_to_contain_text("grad")
            else:
                expect(shown).to_contain_text(f"grad {number(gradient)}")


@pytest.mark.browser
def test_arrows_lead_through_a_round_and_into_the_next(page, tmp_path):
    trace, _ = train(3)
    page.goto(viz.save(trace, tmp_path / "film.html").as_uri())
    sentence, readout = page.locator(".sentence"), page.locator(".readout")
    go_to(page, 2, "backward")
    expect(sentence).to_contain_text("This walk has not begun.")
    go_to(page, 1, "step")
    expect(sentence).to_have_text("SGD(lr=0.01) updated w, from 2 to 1.7.")
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text("zero_grad cleared the gradient of w")
    expect(readout).to_contain_text("Round 2 of 3")
    page.keyboard.press("]")
    expect(readout).to_contain_text("Round 3 of 3")
    expect(sentence).to_contain_text("zero_grad cleared the gradient of w")
    page.keyboard.press("[")
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_have_text("SGD(lr=0.01) updated w, from 2 to 1.7.")
    expect(page.locator(".slider")).to_have_js_property("value", "3")
    page.keyboard.press("End")
    expect(readout).to_contain_text("Round 3 of 3")
    assert page.locator(".slider").evaluate("(slider) => [slider.value, slider.max]") == ["9", "9"]
    slider = page.get_by_role("slider", name="Round")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuenow", "1")
    expect(slider).to_be_focused()


@pytest.mark.browser
def test_the_camera_the_panel_and_the_focus_stay_from_moment_to_moment(page, tmp_path):
    trace, _ = train(3)
    page.goto(viz.save(trace, tmp_path / "film.html").as_uri())
    page.locator(".player").evaluate("(player) => { player.dataset.first = 'yes'; }")
    page.keyboard.press("d")
    page.locator(".icon.menu").click()
    page.locator(".icon.larger").click()
    page.keyboard.press("Escape")
    world = page.locator(".drawing > g").first
    scale = world.get_attribute("transform").partition(" scale")[2]
    assert scale != "(1)"
    page.get_by_label("Round 2", exact=True).click()
    for word in ("zero_grad", "forward", "backward", "step"):
        button = page.get_by_label(f"Round 2: {word}", exact=True)
        button.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label(f"Round 2: {word}", exact=True)).to_be_focused()
        expect(page.locator(".player[data-first=yes] .panel")).to_be_visible()
        assert world.get_attribute("transform").endswith(scale)
    page.locator(".program-line:enabled").first.click()
    expect(page.get_by_label("Round 2: backward", exact=True)).to_have_attribute("aria-current", "step")


@pytest.mark.browser
def test_dragging_over_the_curves_goes_to_a_round(page, tmp_path):
    page.goto(viz.save(network(9), tmp_path / "film.html").as_uri())
    curves = page.locator(".curves")
    box = curves.bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + 10)
    page.mouse.down()
    for share in (0.3, 0.5, 0.75):
        page.mouse.move(box["x"] + 4 + share * (box["width"] - 8), box["y"] + 10)
    page.mouse.up()
    expect(page.locator(".readout")).to_contain_text("Round 7 of 9")
    expect(page.locator(".curve")).to_have_count(2)


OUTSIDE = """() => {
    const root = document.querySelector("#walk").shadowRoot;
    return [...root.querySelectorAll(".drawing > .world .tile")].filter((tile) => {
      const [box, node] = [tile, tile.closest(".node").querySelector(".body")].map((e) => e.getBoundingClientRect());
      return box.x < node.x - 1 || box.right > node.right + 1 || box.y < node.y - 1 || box.bottom > node.bottom + 1;
    }).map((tile) => tile.closest(".node").getAttribute("aria-label"));
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [420, 1280])
def test_the_tiles_of_every_round_are_inside_their_nodes(page, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(viz.save(lecture_programs.regression(), tmp_path / "film.html").as_uri())
    for k in range(10):
        page.locator(".slider").fill(str(5 * k + 3))
        assert page.evaluate(OUTSIDE) == [], f"round {k + 1}"


@pytest.mark.browser
def test_rounds_curves_and_parameter_are_on_one_screen_with_the_stage(page, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(viz.save(network(9), tmp_path / "film.html").as_uri())
    page.locator(".player").press("ArrowRight")
    other = page.locator(".curve-choice option").nth(1).inner_text()
    page.locator(".curve-choice").select_option(other)
    expect(page.locator(".key.parameter")).to_contain_text(other)
    stage = page.locator(".stage").bounding_box()
    for part in (".curves", ".curve-choice", ".program-line.current", ".moment[aria-current]", ".round-on"):
        box = page.locator(part).bounding_box()
        assert box["x"] + box["width"] <= stage["x"] or box["y"] + box["height"] <= stage["y"], part
        assert box["y"] + box["height"] <= 720


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 420, 620, 768, 890, 1280])
def test_no_number_of_a_round_is_cut(page, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(viz.save(network(9), tmp_path / "film.html").as_uri())
    page.get_by_label("round ›").click()
    cut = page.evaluate("""() => {
      const readout = document.querySelector("#walk").shadowRoot.querySelector(".readout");
      const edge = readout.getBoundingClientRect().right;
      return [...readout.querySelectorAll(".key")].filter((key) => {
        const range = new Range();
        range.selectNodeContents(key.lastChild);
        return range.getBoundingClientRect().right > edge + 1;
      }).map((key) => key.textContent);
    }""")
    assert cut == []


def test_two_hundred_rounds_fit_a_megabyte_and_the_page_says_what_is_missing(tmp_path):
    film = timeline.load_film(network(200, rows=32, width=16))
    rounds = film["film"]
    full = timeline.rounds_with_numbers(rounds)
    assert all(number in full for number, each in enumerate(rounds) if each.entries <= 2000)
    assert len(full) < len(rounds) == 200
    page = viz.save(film, tmp_path / "film.html")
    assert page.stat().st_size < 1_000_000
    data = inside_html(page.read_text(encoding="utf-8"))
    first = min(set(range(200)) - full)
    assert f"From round {first + 1} on" in data["film"]["note"]
    for at in full - {0}:
        for path, column in data["film"]["columns"]:
            if path[-1] == "contribution":
                assert "dropped" not in data["values"][column[at]]


@pytest.mark.browser
def test_an_array_without_its_entries_has_a_range_and_is_not_called_empty(page, tmp_path, monkeypatch):
    monkeypatch.setattr(timeline, "FULL_ENTRIES", 0)
    monkeypatch.setattr(timeline, "FULL_CELLS", 1)
    trace = network(5)
    page.goto(viz.save(trace, tmp_path / "film.html").as_uri())
    page.evaluate(f"location.hash = '#step={2 * len(trace.steps) // 5 + 1}'")
    weight = next(node.id for node in trace.nodes if node.title == "net.0.weight")
    written = [entry.before for entry in trace.journal if entry.kind == "update" and entry.node == weight][2]
    place = next(node["id"] for node in timeline.load_film(trace)["nodes"] if node["title"] == "net.0.weight")
    shown = page.locator(f"#n{place}")
    expect(shown).to_contain_text(f"±{number(float(f'{abs(written).max():.3g}'))}")
    expect(page.locator(".drawing")).not_to_contain_text("empty")


@pytest.mark.browser
def test_the_page_decodes_differences_to_the_same_numbers(page):
    random = np.random.default_rng(0)
    first = [*map(float, random.normal(size=300) * 10.0 ** random.integers(-9, 9, 300)), 0.0, -0.0, 1.0]
    values = []
    for _ in range(4):
        rounded = [float(f"{x:.3g}") for x in first]
        values.append({"shape": [303], "dtype": "float64", "data": rounded})
        first = [x * (1 + 1e-3 * random.normal()) for x in first[::-1]][::-1]
    coded = deltas.delta_code(values, [[0, 1, 2, 3]])
    assert all("delta" in value for value in coded[1:])
    decoded = page.evaluate(f"(values) => {{ {text('deltas.js')}; return decodeValues(values); }}", coded)
    assert [each["data"] for each in decoded] == [value["data"] for value in values]


def test_rounds_share_the_factors_of_their_steps(monkeypatch):
    asked, product_of = [], products.product_of

    def note(trace, step):
        asked.append(step["rule"])
        return product_of(trace, step)

    monkeypatch.setattr(products, "product_of", note)
    payload(timeline.load_film(network(5)))
    in_five_rounds, asked = asked, []
    payload(timeline.load_film(network(2)))
    assert len(asked) > 5
    assert in_five_rounds == asked


def test_formulas_call_nodes_as_the_round_does():
    page = payload(timeline.load_film(network(3)))
    written = "".join(page["formulas"])
    assert "tanh (net.1)" in written
    assert "#" not in written
    assert not [path for path, _ in page["film"]["columns"] if path[0] == "formulas" or path[-1] == "formula"]


def test_matrices_with_other_numbers_share_the_layout_of_their_formulas():
    payload(timeline.load_film(network(30)))
    known = formula_lines._layout.cache_info().misses
    payload(timeline.load_film(network(31, seed=2)))
    assert formula_lines._layout.cache_info().misses - known < 60, "of some 270 formulas with numbers"


def test_walks_over_one_graph_and_rounds_that_differ_make_no_film():
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as twice:
        y = x * x
        y.backward()
        y.backward()
    with mg.record() as growing:
        for count in range(1, 4):
            y = x
            for _ in range(count):
                y = y * x
            y.backward()
    assert timeline.load_film(twice) is timeline.load_film(growing) is None


def test_a_node_has_its_name_in_every_round_or_that_of_each():
    random = np.random.default_rng(0)
    images = [mg.tensor(random.normal(size=2)) for _ in range(3)]
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def score(x, row):
        return (w * x * row).sum()

    with mg.record() as trace:
        for k in range(3):
            batch = mg.tensor(random.normal(size=2))
            loss = score(batch, images[k])
            w.grad = None
            loss.backward()
    rounds = timeline.load_film(trace)["film"]
    titles = [[node["title"] for node in each.part["nodes"]] for each in rounds]
    assert all("batch" in names and "x" not in names for names in titles)
    assert [f"images[{k}]" in names for k, names in enumerate(titles)] == [True] * 3
    assert [sum("images[" in name for name in names) for names in titles] == [1] * 3


def test_a_state_that_rounds_detach_is_a_leaf_in_each():
    w, state = mg.tensor([0.5, -1.0], requires_grad=True), mg.tensor([0.1, 0.2])
    read = []
    with mg.record() as trace:
        for _ in range(3):
            state = state.detach()
            read.append(state.tolist())
            state = mg.tanh(state * w + 1.0)
            state.sum().backward()
    film = timeline.load_film(trace)
    of_rounds = [[node for node in each.part["nodes"] if "detach" in node["title"]] for each in film["film"]]
    assert [[(node["kind"], film["values"][node["value"]]["data"]) for node in nodes] for nodes in of_rounds] == [
        [("leaf", each)] for each in read
    ]


def test_rounds_that_swap_their_parameters_make_no_film():
    one, other, third = (mg.tensor(x, requires_grad=True) for x in (2.0, 3.0, 4.0))
    traces = []
    for pairs in ([(one, other)] * 3, [(one, other), (other, one)] * 2, [(one, other), (one, third), (one, third)]):
        with mg.record() as trace:
            for pair in pairs:
                (mg.sin(pair[0]) * pair[1]).backward()
        traces.append(trace)
    assert [timeline.load_film(trace) is None for trace in traces] == [False, True, True]


def test_every_round_of_the_payload_equals_its_own_part():
    film = timeline.load_film(network(5))
    data = payload(film)
    names = {node["title"]: node["id"] for node in film["nodes"]}
    assert "mse_loss (loss)" in names
    assert not any("#2" in name for name in names)
    for at_round, each in enumerate(film["film"]):
        at = {tuple(path): column[at_round] for path, column in data["film"]["columns"]}
        for node in each.part["nodes"]:
            place = at.get(("nodes", node["id"], "value"), data["nodes"][node["id"]]["value"])
            shown = data["values"][place]
            truth = film["values"][node["value"]]
            assert shown["shape"] == truth["shape"]
            if "delta" not in shown:
                assert shown["data"] == pytest.approx(truth["data"], rel=1e-3)


@pytest.mark.browser
def test_a_widget_of_a_loop_is_the_same_film(page):
    trace, _ = train(3)
    widget = viz.widget(trace, index=4)
    page.set_content("<div id=place></div>")
    page.evaluate("""async ([code, state]) => {
        window.model = { get: (name) => state[name], set: (name, value) => { state[name] = value; },
            save_changes: () => { window.saved = state.index; }, off: () => {},
            on: (event, heard) => { window[event] = heard; } };
        window.move = (i) => { state.index = i; window["change:index"](); };
        const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        await module.default.render({ model: window.model, el: document.querySelector("#place") });
    }""", [str(widget._esm), {"payload": widget.payload, "index": 4, "synced": True}])  # fmt: skip
    length = len(trace.steps) // 3
    expect(page.locator(".readout")).to_contain_text(f"Round {(4 - 1) // length + 1} of 3")
    page.evaluate(f"window.move({2 * length + 1})")
    expect(page.locator(".readout")).to_contain_text("Round 3 of 3")
    page.evaluate(f"window.move({2 * length})")
    expect(page.locator(".readout")).to_contain_text("Round 2 of 3")
    go_to(page, 2, "backward")
    assert page.evaluate("window.saved") == length


@pytest.mark.browser
def test_axe_finds_nothing_to_mend_in_a_film(chromium, tmp_path):
    trace, _ = train(4)
    worse = mg.tracing.what_if(trace, without="zero_grad")
    for path in (viz.save(trace, tmp_path / "film.html"), viz.save(viz.compare(trace, worse), tmp_path / "two.html")):
        with chromium.new_context(bypass_csp=True, viewport={"width": 1000, "height": 800}) as context:
            page = context.new_page()
            page.goto(path.as_uri())
            page.locator(".player").focus()
            for word, scheme in (("step", "light"), ("zero_grad", "dark"), ("backward", "light")):
                page.emulate_media(color_scheme=scheme)
                go_to(page, 2, word)
                page.keyboard.press("d")
                settle(page)
                assert find_violations(page) == []


def moments_of(trace, number=1):
    """Return the words and the sentences of a round's changes."""
    each = payload(timeline.load_film(trace))["film"]["moments"][number]
    return [(moment["word"], moment["say"]) for moment in each["before"] + each["after"]]


def test_the_curve_of_a_loss_has_its_name_in_the_program():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            error = x**4 - x
            (slope,) = mg.autograd.grad(error, x, create_graph=True)
            (curvature,) = mg.autograd.grad(slope, x)
            x.data -= slope.item() / curvature.item()
    films = [payload(timeline.load_film(each))["film"] for each in (trace, train(2)[0])]
    assert [film["lossName"] for film in films] == ["error", "loss"]


def test_sentences_of_steps_leave_to_moments_what_happened_after_them():
    film = timeline.load_film(train(2)[0])
    says = [words.sentences(each.part)[-1] for each in film["film"]]
    assert all(say.endswith("the first gradient to arrive there.") for say in says), says
    assert [moment.word for each in film["film"] for moment in each.after] == ["step", "step"]


def test_a_moment_says_of_which_other_round_a_node_is():
    w, kept = mg.tensor([1.0, 2.0], requires_grad=True), []
    with mg.record() as trace:
        for _ in range(2):
            y = w * 3.0
            kept.append(y.retain_grad())
            y.sum().backward()
            for each in reversed(kept):
                each.grad = np.ones(2)
    ((_, say),) = moments_of(trace)
    assert say == "The program set the gradient of multiply (y), multiply (y) of round 1."


def test_changes_by_hand_have_their_lines_or_a_short_word():
    w, b = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            loss = ((w * 2).sum() + b) ** 2
            loss.backward()
            with mg.no_grad():
                b -= 0.01
            w.grad.zero_()
            b.grad = None
            w.grad = None if loss is not None else w.grad
    assert moments_of(trace) == [
        ("-=", "The program wrote into b by -=, from 0.49 to 0.48."),
        ("zero_", "zero_ cleared the gradient of w."), ("b.grad = None", "The program cleared the gradient of b, w."),
    ]  # fmt: skip
    with mg.record() as trace:
        for _ in range(2):
            (w * b).sum().backward()
            w.grad, b.grad = None, None
    assert moments_of(trace) == [("cleared", "The program cleared the gradient of w, b.")]
    variables = {"mg": mg, "w": w}
    program = "with mg.record() as trace:\n for _ in range(2):\n  w.grad = None\n  (w * w).sum().backward()"
    exec(program, variables)  # noqa: S102 - its text is unknown, as that of `python -c`
    assert moments_of(variables["trace"]) == [("cleared", "The program cleared the gradient of w.")]


def test_a_loop_over_parameters_by_hand_is_one_moment():
    w, b = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        for _ in range(3):
            ((w * 2).sum() + b).backward()
            for p in (w, b):
                p.data -= 0.1 * p.grad; p.grad = None  # noqa: E702 - as people write it
    assert moments_of(trace) == [
        (".data", "The program wrote into w, b by .data; the program cleared the gradient of w, b.")
    ]
    moment = payload(timeline.load_film(trace))["film"]["moments"][1]["after"][0]
    assert [*moment["gradients"].values()] == [None, None]
    assert "0.3" in {line for _, line in moment["values"].values()}


def test_a_moment_tells_which_gradients_clipping_left_alone():
    w, v = mg.tensor([3.0, 4.0], requires_grad=True), mg.tensor([0.5], requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            w.grad = v.grad = None
            ((w * w).sum() + (v * v).sum()).backward()
            nn.utils.clip_grad_value_([w, v], 2.0)
    (_, (word, say)) = moments_of(trace, 1)
    assert word == "clip_grad_value_"
    clipped, kept = say.split("; ")
    assert clipped.startswith("clip_grad_value_ clipped the gradient of w, from a (2,) array of norm 10 to ")
    assert kept == "clip_grad_value_ did not change the gradient of v."


def test_a_value_made_under_no_grad_keeps_its_gradient():
    a, b = Value(2.0), Value(3.0)
    with mg.record() as trace:
        with mg.no_grad():
            c = a * 2.0
        (c * b).backward()
        (b * b).backward()
        (c + b).backward()
    page = payload(trace_input.normalize(trace_input.trace_data(trace)))
    node = next(node.id for node in trace.nodes if node.cut)
    assert [page["values"][walk["starts"][node]]["data"] for walk in page["walks"][1:]] == [[3.0], [3.0]]


def test_arrays_are_rounded_and_coded_as_single_numbers_are():
    random = np.random.default_rng(0)
    x = random.normal(size=500) * 10.0 ** random.integers(-30, 30, size=500)
    ties = np.round(random.normal(size=500) * 100, 2)
    for entries in (x.tolist(), ties.tolist(), [0.0, 0.125, 1e300, 5e-324, 999.99999999, 1000.0]):
        for digits in (cells.DIGITS, cells.DIGITS_OF_MANY):
            rounded = [cells.round_to(y, digits) for y in entries]
            assert [*map(repr, cells.round_floats(entries, digits))] == [*map(repr, rounded)]
            assert deltas.number_codes(rounded, digits) == [deltas.number_code(y, digits) for y in rounded]
