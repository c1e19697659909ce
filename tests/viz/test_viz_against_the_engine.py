"""Comparison of the page with the engine's numbers, and proof that the tests detect a wrong page."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz import digits, page as pages, player

pytestmark = pytest.mark.browser
MINUS = digits.MINUS


def diamond():
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        c = a + b
        d = a * b
        y = c * d + mg.sin(c)
        y.backward()
    return trace, {"a": a, "b": b}


def accumulated_gradients():
    a = mg.tensor(2.0, requires_grad=True)
    (a * 4).backward()
    with mg.record() as trace:
        z = a * 3
        z.backward()
        y = a * a
        y.backward()
    return trace, {"a": a}


def broadcast_program():
    rng = np.random.default_rng(4)
    a, b = (mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((4, 1, 6), (5, 1)))
    with mg.record() as trace:
        y = ((a * b) ** 2).sum()
        y.backward()
    return trace, {"a": a, "b": b}


def classes():
    rng = np.random.default_rng(0)
    scores = mg.tensor(rng.normal(size=(32, 10)), requires_grad=True)
    with mg.record() as trace:
        loss = mg.nn.functional.cross_entropy(scores, mg.tensor(rng.integers(0, 10, 32)))
        loss.backward()
    return trace, {"scores": scores}


def layer():
    rng = np.random.default_rng(2)
    x = mg.tensor(rng.normal(size=(6, 8)), requires_grad=True)
    with mg.record() as trace:
        out = mg.nn.functional.layer_norm(x, (8,))
        loss = (out * out * out).mean()
        loss.backward()
    return trace, {"x": x}


def both_ways():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = x * x
        y.backward()
        mg.jvp(lambda z: mg.sin(z) * z, (x,), (mg.tensor(1.5),))
        w = x * 0.25
        w.backward()
    return trace, {"x": x}


PROGRAMS = [diamond, accumulated_gradients, broadcast_program, classes, layer, both_ways]


def read(text):
    """Return a number as printed on the page."""
    return float(text.removeprefix("±").replace(MINUS, "-"))


SEEN = """() => {
    const root = document.querySelector("#walk").shadowRoot;
    const all = (within, css) => [...within.querySelectorAll(css)], text = (each) => each.textContent;
    const [x, y] = all(root, ".lit-head").at(-1).getAttribute("d").slice(1).split(/[,L]/).map(Number);
    const far = (node) => { const b = node.querySelector(".body").getBBox();
        return Math.hypot(Math.max(b.x - x, 0, x - b.x - b.width), Math.max(b.y - y, 0, y - b.y - b.height)); };
    const nodes = all(root, ".drawing .node").map((node) => [node, Number(node.id.slice(1))]);
    return {
        said: text(root.querySelector(".sentence")),
        held: nodes.map(([node, i]) => [i, node.querySelector(".gradient")?.textContent]).filter(([, told]) => told),
        far: nodes.map(([node, i]) => [i, far(node)]),
        signs: all(root, ".numbers .sign").map(text),
        summed: all(root, ".summed").map(text),
        equations: all(root, ".numbers > .cards").map((row) => [all(row, ".scalar").map(text), all(row,
            ".sign").map(text)]),
        pictures: all(root, ".card").flatMap((card) => all(card, ".picture").map((picture) => [
            all(card, "figcaption *").map((word) => text(word).trim()),
            all(picture, "path").flatMap((p) => [...p.getAttribute("d").matchAll(/M([^,]+),([^hv]+)h/g)].map((m) => [
                p.getAttribute("class")[0], Number(m[1]), Number(m[2])])),
        ])),
    };
}"""
"""Return the visible parts of a step."""


def check(shown, trace, leaves):
    """Check every sentence, equation and picture of a walk on the page against the engine's numbers."""
    held, labels = {}, {}
    for k, step in enumerate(trace.steps):
        shown.keyboard.press("ArrowRight")
        seen = shown.evaluate(SEEN)
        if k == 0 or step.walk != trace.steps[k - 1].walk:
            labels = check_nodes_at_start(trace, step.walk, labels)
        back = trace.walks[step.walk].direction == "backward"
        check_sentence(seen["said"], trace, step, "gradient" if back else "tangent")
        labels[step.target] = gradient_text(step.after, "grad" if back else "tangent")
        check_graph(seen, labels, step)
        check_sum(seen, step)
        for numbers, signs in seen["equations"]:
            check_equation(numbers, signs)
        for words, cells in seen["pictures"]:
            for word in {"upstream", "contribution", "after", "before"}.intersection(words):
                check_cells(cells, np.asarray(getattr(step, word)))
        if back:
            held[trace.nodes[step.target].name] = step.after
    check_leaves(shown, trace, leaves, held)


def check_sentence(said, trace, step, word):
    """Check the receiver, whether it is the first arrival, and the new value."""
    assert f" to {trace.nodes[step.target].title}" in said
    first = f"the first {word} to arrive there" in said
    assert first == (step.before is None), said
    if np.size(step.after) == 1 and not first:
        assert said.endswith(f"now holds {digits.number(float(np.asarray(step.after)))}."), said


def check_nodes_at_start(trace, number, labels):
    """Check the nodes at the start of a walk: inner nodes are empty, leaves keep their gradients."""
    walk = trace.walks[number]
    kept = {node: text for node, text in labels.items()
            if trace.nodes[node].kind == "leaf" and text.startswith("grad")}  # fmt: skip
    if walk.direction == "forward":
        return kept | {leaf.node: gradient_text(leaf.received, "tangent") for leaf in walk.leaves}
    before = {leaf.node: gradient_text(leaf.before, "grad") for leaf in walk.leaves if leaf.before is not None}
    return kept | before | {walk.root: gradient_text(walk.seed, "grad")}


def check_leaves(shown, trace, leaves, held):
    """Check that leaves show their `.grad` at the end, in the graph and in full."""
    for name, leaf in leaves.items():
        gradient = np.asarray(leaf.grad.numpy())
        assert np.allclose(np.asarray(held[name]), gradient)
        place = next(node.id for node in trace.nodes if node.name == name)
        label = shown.locator(f"#n{place} .gradient").text_content()
        if gradient.size == 1:
            assert label == f"grad {digits.number(float(gradient))}"
        shown.locator(f"#n{place}").click()
        cells = shown.locator(".node-details .card").nth(1).locator("td[title], .line span")
        if cells.count() == gradient.size:
            assert [read(text) for text in cells.all_text_contents()] == pytest.approx(gradient.ravel(), rel=1e-3)
        shown.keyboard.press("Escape")


def gradient_text(value, word):
    """Return the caption of a node's gradient or tangent: its number, or the scale of its picture."""
    array = np.asarray(value)
    if array.size == 1:
        return f"{word} {digits.number(float(array.ravel()[0]))}"
    return f"{word} ±{digits.number(float(f'{abs(array).max():.3g}'))}"


def check_graph(seen, labels, step):
    """Check the value of every node, and that the arrow points at the receiver."""
    held = {node: text.rsplit(" ", 1) for node, text in seen["held"]}
    expected = {node: text.rsplit(" ", 1) for node, text in labels.items()}
    assert {node: word for node, (word, _) in held.items()} == {node: word for node, (word, _) in expected.items()}
    for node, (_, number) in held.items():
        assert read(number) == pytest.approx(read(expected[node][1]), rel=6e-4), (node, number)
    far = dict(seen["far"])
    assert far[step.target] == min(far.values())


def check_equation(numbers, signs):
    """Check printed equations: `=` must hold as printed, `≈` to three digits."""
    if len(numbers) != 3 or signs not in (["·", "="], ["·", "≈"], ["+", "="], ["+", "≈"]):
        return
    a, b, result = map(read, (text.replace("True", "1").replace("False", "0") for text in numbers))
    value = a * b if signs[0] == "·" else a + b
    assert value == pytest.approx(result, rel=1e-12 if signs[1] == "=" else 2e-3), (numbers, signs)


def check_cells(cells, array):
    """Check that each entry has a cell at its position: blue if positive, red if negative, blank if zero."""
    minus = sum(kind == "m" for kind, *_ in cells)
    cells = sorted((y, x, kind) for kind, x, y in cells if kind != "m")
    assert len(cells) == array.size
    assert minus == (array < 0).sum() == sum(kind == "n" for *_, kind in cells)
    if array.ndim == 2:
        kinds = "".join(kind for *_, kind in cells)
        assert kinds == "".join("n" if x < 0 else "p" if x > 0 else "h" for x in array.ravel())


def check_sum(seen, step):
    """Check that the page names exactly the axes that broadcasting repeated, or those that the rule itself sums."""
    named = [sign for sign in seen["signs"] if "∑" in sign]
    axes = [tuple(map(int, re.findall(r"\d+", sign))) for sign in named]
    repeated = [tuple(step.summed_axes)] if step.summed_axes else []
    assert [tuple(map(int, re.findall(r"\d+", text.partition(", so")[0]))) for text in seen["summed"]] == repeated
    if axes and not repeated:
        np.testing.assert_allclose(np.sum(step.upstream, axis=axes[0]), step.contribution, rtol=1e-6, atol=1e-9)
    else:
        assert axes == repeated, named


def check_first_odd(shown, trace, _):
    """Check that the button for the first nan names its entry and goes to the first step that sends it."""
    odd = [~np.isfinite(np.asarray(step.contribution)) for step in trace.steps]
    first = next(k for k, each in enumerate(odd) if each.any())
    button = shown.locator(".first-odd")
    assert button.text_content() == f"First nan or inf: step {first + 1}"
    entry = [int(at) for at in np.argwhere(odd[first])[0]]
    tip = button.get_attribute("data-tip").partition("Step ")[2]
    assert tip.startswith(f"{first + 1} sends ")
    assert tip.endswith(f"to {trace.nodes[trace.steps[first].target].title}, first at {entry}.")
    for go in (button.click, lambda: shown.keyboard.press("!")):
        shown.keyboard.press("Home")
        go()
        assert shown.locator(".counter").text_content().startswith(f"{first + 1} / ")


def check_groups(shown, trace, _):
    """Check that closed groups and the other nodes contain every node of the program once."""
    closed = shown.locator(".node.group").evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")
    counts = [int(re.search(r"closed group of (\d+) nodes", label)[1]) for label in closed]
    beside = shown.locator(".drawing .node:not(.group):not(.stub)").count()
    assert len(counts) > 2
    assert sum(counts) + beside == len(trace.nodes)


def divided_by_zero():
    x = mg.tensor([1.0, 0.0, 4.0], requires_grad=True)
    with np.errstate(all="ignore"), mg.record() as trace:
        (mg.log(x) * x / mg.sqrt(x)).sum().backward()
    return trace, {"x": x}


def rounds():
    rng = np.random.default_rng(3)
    wx, wh = (mg.tensor(rng.normal(size=shape) / 3, requires_grad=True) for shape in ((4, 8), (8, 8)))
    h, steps = mg.tensor(np.zeros((1, 8))), [mg.tensor(rng.normal(size=(1, 4))) for _ in range(30)]
    with mg.record() as trace:
        for x in steps:
            h = mg.tanh(x @ wx + h @ wh)
        loss = (h * h).sum()
        loss.backward()
    return trace, {}


READINGS = dict.fromkeys(PROGRAMS, check) | {divided_by_zero: check_first_odd, rounds: check_groups}
"""How the page of each program is read beside the engine."""


@pytest.mark.parametrize("program", READINGS)
def test_the_page_shows_the_engines_numbers(open_player, program):
    trace, leaves = program()
    READINGS[program](open_player(trace), trace, leaves)


def larger(data):
    """Make an accumulator 25 % too large."""
    value = data["values"][data["steps"][-1]["after"]]
    value["data"] = [1.25 * entry for entry in value["data"]]


def reverse_step(data):
    """Reverse a step."""
    data["steps"][1]["back"] = not data["steps"][1]["back"]


def redirect_step(data):
    """Let a step reach another node than its sentence says."""
    data["steps"][1]["to"] = data["steps"][1]["from"]


def keep_inner_gradient(data):
    """Keep the first walk's gradient of an inner node in the second walk."""
    step = data["steps"][0]
    data["walks"][1]["starts"][str(step["from"])] = step["contribution"]


def forget_axis(data):
    """Omit a summed axis."""
    step = next(step for step in data["steps"] if len(step["summed_axes"]) > 1)
    step["summed_axes"] = step["summed_axes"][:1]


def move_first_nan(data):
    """Move the first nan to another step."""
    data["odd"] = data["odd"].replace("Step 2", "Step 3")


def miscount_group(data):
    """Add one to the node count of every group."""
    counts = data["groups"]["counts"]
    data["groups"]["counts"] = [count + 1 for count in counts]


LIES = {
    "an accumulator shows its old value": (
        diamond, "place: data.steps[found].after", "place: data.steps[found].before"),
    "signs are lost": (classes, 'size < 0 ? "n" : "p"', 'size < 0 ? "p" : "p"'),
    "neighbours swap places": (classes, "const [left, top] = at(k);", "const [left, top] = at(k ^ 1);"),
    "digits are cut and the sign stays": (diamond, "x.toPrecision(6)), x) ? 6 : 4", "x.toPrecision(6)), x) ? 2 : 2"),
    "every entry shows the first": (broadcast_program, "make(tag, heat(x, largest), number(x))",
                                    "make(tag, heat(x, largest), number(0))"),
    "a sentence is another step's": (diamond, "step ? step.say", "step ? data.steps[0].say"),
    "all arrows are turned": (diamond, "litParts(link, step.back)", "litParts(link, !step.back)"),
    "tangents are called gradients": (both_ways, 'tangent: "tangent" }', 'tangent: "grad" }'),
    "inner nodes keep gradients of an earlier walk": (
        both_ways, '.kind === "leaf" && !data.walks[at].back ? at - 1 : -1', " ? at - 1 : -1"),
    "leaves lose gradients of an earlier walk": (
        both_ways, '.kind === "leaf" && !data.walks[at].back ? at - 1 : -1', " ? -1 : -1"),
    "the first nan is found one step late": (divided_by_zero, "act.go(odd + 1)", "act.go(odd + 2)"),
    "a number is changed": (diamond, larger, None),
    "one arrow is turned": (diamond, reverse_step, None),
    "a step reaches another node": (diamond, redirect_step, None),
    "a walk begins with what another has left": (both_ways, keep_inner_gradient, None),
    "a summed axis is left out": (broadcast_program, forget_axis, None),
    "the first nan is another step's": (divided_by_zero, move_first_nan, None),
    "a group has a node too many": (rounds, miscount_group, None),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_the_checks_find_wrong_numbers_in_a_player(open_player, lie, monkeypatch):
    program, lied, false = LIES[lie]
    if false is None:
        original = pages.payload

        def payload(*args, **options):
            data = original(*args, **options)
            lied(data)
            return data

        monkeypatch.setattr(pages, "payload", payload)
    else:
        source = player.player_source()
        assert lied in source
        monkeypatch.setattr(pages, "player_source", lambda: source.replace(lied, false))
    trace, leaves = program()
    shown = open_player(trace)
    with pytest.raises(AssertionError):
        READINGS[program](shown, trace, leaves)


def test_a_failing_walk_ends_at_the_failing_node(open_player):
    a, b = mg.tensor([[1.0, 2.0]], requires_grad=True), mg.tensor(np.ones((3, 4)))
    with pytest.raises(ValueError, match="matmul"), mg.record() as trace:
        (a * 2) @ b
    shown = open_player(trace)
    shown.keyboard.press("End")
    assert "failed" in shown.locator(".sentence").get_attribute("class")
    assert "The program ends here at (a * 2) @ b" in shown.locator(".sentence").text_content()
    assert shown.locator(".node.failed").count() == 1
    assert shown.locator(".source-row mark").text_content() == "(a * 2) @ b"


def test_the_player_shows_an_error_inside_a_nested_walk(open_player):
    loss = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError), mg.record() as trace:
        (loss * 2).backward()
    shown = open_player(trace)
    assert "No walk was recorded" not in shown.locator(".sentence").text_content()
    shown.keyboard.press("ArrowRight")
    assert "a loss is one number" in shown.locator(".sentence").text_content()


def test_groups_open_and_close_by_mouse_and_key(open_player):
    shown = open_player(rounds()[0])
    closed, headings = shown.locator(".node.group"), shown.locator(".group-heading")
    before = closed.count()
    assert 3 <= shown.locator(".drawing .node").count() <= 40
    closed.last.click()
    assert headings.count() == 1
    assert closed.count() > before, "the rounds in it"
    headings.focus()
    shown.keyboard.press("Enter")
    assert headings.count() == 0
    assert closed.count() == before
    closed.first.focus()
    shown.keyboard.press("Enter")
    assert headings.count() == 1
    opened = headings.get_attribute("aria-label")
    for _ in range(12):
        shown.keyboard.press("ArrowRight")
    assert opened in headings.evaluate_all("all => all.map((each) => each.getAttribute('aria-label'))"), "stays open"
    assert shown.locator(".node.active").count() == 1


def test_edges_of_closed_groups_show_gradient_norms(open_player):
    shown = open_player(rounds()[0])
    shown.keyboard.press("End")
    shown.keyboard.press("m")
    shown.locator(".icon.larger").click()
    norms = [text for text in shown.locator(".drawing .norm").all_text_contents() if text]
    assert norms
    assert all(re.fullmatch(r"\|grad\| [\d.e−]+", text) for text in norms)


APART = """() => {
    const root = document.querySelector("#walk").shadowRoot, all = (css) => [...root.querySelectorAll(css)];
    const stage = root.querySelector(".stage").getBoundingClientRect();
    const isInside = (node) => { const box = node.querySelector(".body").getBoundingClientRect();
        return box.x >= stage.x - 1 && box.right <= stage.right + 1 && box.y >= stage.y - 1
            && box.bottom <= stage.bottom + 1; };
    const senders = all(".drawing .node.active").filter(isInside);
    return senders.length > 0 && all(".drawing .node:is(.receives, .accumulates)").some(
        (node) => isInside(node) && !senders.includes(node));
}"""
"""Return whether sender and receiver of a step are two places in view."""


def test_the_groups_of_each_step_open_and_close_behind_it(open_player):
    shown, opened = open_player(rounds()[0]), set()
    for _ in range(80):
        shown.keyboard.press("ArrowRight")
        assert shown.evaluate(APART)
        opened |= set(shown.locator(".group-heading").evaluate_all("all => all.map((each) => each.textContent)"))
        assert shown.locator(".group-heading").count() <= 6
    assert len(opened) > 6
    shown.keyboard.press("o")
    before = shown.locator(".group-heading").count()
    for _ in range(40):
        shown.keyboard.press("ArrowRight")
    assert shown.locator(".group-heading").count() == before


def test_a_node_is_found_by_its_name_and_its_numbers_stand_there(open_player):
    shown = open_player(rounds()[0])
    shown.keyboard.press("/")
    shown.keyboard.type("tanh")
    shown.keyboard.press("Enter")
    assert "tanh" in shown.locator(".node-details .title").first.text_content()
    box = shown.locator(".node-details").bounding_box()
    assert box["y"] < 720


def test_a_step_has_an_address_a_box_and_keys(open_player, page, tmp_path):
    trace, _ = diamond()
    shown = open_player(trace)
    page.evaluate("location.hash = '#step=3'")
    expect(shown.locator(".counter")).to_have_text(re.compile("^3 / "))
    shown.keyboard.press("g")
    shown.keyboard.type("5")
    shown.keyboard.press("Enter")
    assert shown.locator(".counter").text_content().startswith("5 / ")
    shown.locator(".player").focus()
    shown.keyboard.press("Home")
    shown.keyboard.press("a")
    assert shown.locator(".node.accumulates").count() == 1
    path = viz.save(trace, tmp_path / "there.html", index=4)
    page.goto(path.as_uri())
    assert page.locator(".counter").text_content().startswith("4 / ")
    page.goto(path.as_uri() + "#value=1")
    expect(page.locator(".counter")).to_have_text(re.compile("^value 1 of "))


def test_values_first_plays_the_forward_pass(open_player):
    trace, _ = diamond()
    shown = open_player(trace)
    shown.keyboard.press("v")
    results = shown.locator(".node.application").count()
    assert shown.locator(".node.unborn").count() == results
    shown.keyboard.press("ArrowRight")
    assert shown.locator(".node.unborn").count() == results - 1
    assert "is computed: 5." in shown.locator(".sentence").text_content()
    for _ in range(results):
        shown.keyboard.press("ArrowRight")
    assert shown.locator(".sentence").text_content().startswith("Step 1 of ")


def test_the_first_nan_is_one_press_away(open_player):
    x = mg.tensor([1.0, 0.0, 4.0], requires_grad=True)
    with np.errstate(all="ignore"), mg.record() as trace:
        (mg.log(x) * x / mg.sqrt(x)).sum().backward()
    shown = open_player(trace)
    first = next(k for k, step in enumerate(trace.steps) if not np.isfinite(np.asarray(step.contribution)).all())
    assert shown.locator(".first-odd").get_attribute("data-tip") == (
        "First result that is not finite: mg.log(x) (1 inf, first at [1]). "
        "Step 2 sends 1 inf to mg.log(x) * x, first at [1].")
    shown.locator(".first-odd").click()
    assert shown.locator(".counter").text_content().startswith(f"{first + 1} / ")
    assert shown.locator(".edge.odd").count() >= 1


def test_text_in_a_small_drawing_is_left_out_and_never_shrunk(open_player):
    shown = open_player(rounds()[0])
    shown.keyboard.press("m")
    for _ in range(6):
        shown.locator(".icon.smaller").click()
        sizes = shown.evaluate("""() => {
            const root = document.querySelector("#walk").shadowRoot;
            const scale = root.querySelector(".drawing > g").getCTM().a;
            return [...root.querySelectorAll(".drawing text")].filter((t) => t.textContent && t.getClientRects().length)
                .map((t) => parseFloat(getComputedStyle(t).fontSize) * scale);
        }""")
        assert all(size >= 11 for size in sizes)


def test_the_start_panel_lists_caught_errors(open_player):
    a, b = mg.tensor([[1.0, 2.0]], requires_grad=True), mg.tensor(np.ones((3, 4)))
    with mg.record() as trace:
        try:
            y = a @ b
        except ValueError:
            y = a * 2
        y.sum().backward()
    messages = open_player(trace).locator(".start .error-text").all_text_contents()
    assert len(messages) == 1
    assert "ValueError: matmul(a: (1, 2) float64, b: (3, 4) float64)" in messages[0]
