"""Cuts, the branches behind them, and the student's own expressions, as pictures and the player show them."""

import re

import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz import payload, timeline
from micrograd_plus_viz.trace_input import normalize, trace_data
from micrograd_plus_viz.window import window
from micrograd_plus_viz.words import factor


def leaf(values):
    return mg.tensor(values, requires_grad=True)


def cut_program():
    """Return a trace with every kind of cut, and a branch behind one of them."""
    x, w = leaf(3.0), leaf([1.0, -2.0])
    with mg.record() as trace:
        y = x * 2.0
        d = y.detach()
        with mg.no_grad():
            k = w * w
            k = k + 1.0
        m = w > 0
        (mg.where(m, w, 0.0) * d * k).sum().backward()
    return trace


def dead_names(data):
    return {node["title"] for node in data["nodes"] if node["dead"]}


def test_what_leads_only_to_a_cut_is_dead_and_constants_are_not():
    data = normalize(trace_data(cut_program()))
    assert dead_names(data) == {"x", "multiply (y)", "detach (d)", "multiply (k)", "add (k)", "greater (m)"}


def test_a_part_has_the_dead_nodes_and_a_failed_walk_has_none():
    trace = cut_program()
    part = normalize(trace_data(trace, 0, 2))
    assert part["part"]
    assert {"x", "multiply (y)"} & {node["title"] for node in part["nodes"]} <= dead_names(part)
    assert dead_names(part) <= dead_names(normalize(trace_data(trace)))
    titles = {node["id"]: node["title"] for node in part["nodes"]}
    edges = {(titles[e["node"]], node["title"]) for node in part["nodes"] for e in node["inputs"]}
    assert {("w", "multiply (k)"), ("multiply (k)", "add (k)")} <= edges

    def fail(_):
        raise ValueError("no")

    x = leaf(2.0)
    with mg.record() as failing:
        y = x * 2.0
        z = y * 3.0
        z.register_hook(fail)
        with pytest.raises(ValueError, match="no"):
            (z * 1.0).backward()
    assert not dead_names(normalize(trace_data(failing)))


def test_a_branch_behind_a_cut_is_dead_in_a_part():
    w, u = leaf(2.0), leaf(1.5)
    with mg.record() as trace:
        h = w * 1.0
        side = mg.sin(u) * 2.0
        d = side.detach()
        for _ in range(60):
            h = h * 0.9 + d * 0.1
        (h + u * h.detach()).backward()
    part = normalize(trace_data(trace, 60, 50))
    names = {node["title"] for node in part["nodes"]}
    assert {"mg.sin(u)", "multiply (side)", "detach (d)", "u"} <= names
    dead = {"mg.sin(u)", "multiply (side)", "detach (d)"}
    assert {name for name in dead_names(part) if not name.startswith("d * 0.1")} == dead
    from_whole, _ = window(normalize(trace_data(trace)), 60, 50)
    assert dead_names(from_whole) & names == dead_names(part)
    assert {part["nodes"][node]["title"] for node in part["part"]["unreached"]} == dead - {"detach (d)"}


def test_the_branch_behind_a_cut_is_drawn_in_every_part_that_uses_the_cut(open_player):
    whole = normalize(trace_data(cut_program()))
    at = next(i for i, step in enumerate(whole["steps"]) if "detach (d)" in {
        whole["nodes"][each["node"]]["title"] for each in whole["nodes"][step["node"]]["inputs"]})
    part, _ = window(whole, at, 1)
    assert {"x", "multiply (y)", "detach (d)"} <= dead_names(part)
    page = open_player(part, details=False)
    assert page.locator(".drawing .cut-mark").count() >= 1
    assert "multiply (y)" in page.locator(".drawing text.name").all_text_contents()


def test_every_round_of_a_film_has_the_branch_behind_a_cut():
    w, v = leaf(1.0), leaf(2.0)
    with mg.record() as trace:
        for _ in range(3):
            target = (v * v).detach()
            ((w - target) ** 2).backward()
            with mg.no_grad():
                w -= 0.1 * w.grad
    data = payload.payload(timeline.load_film(trace))
    names = data["names"]
    assert {"v", "v * v", "w"} <= set(names)
    assert {names[i] for i, node in enumerate(data["nodes"]) if node.get("dead")} == {"v", "v * v", "detach (target)"}


def test_a_state_that_the_round_before_computed_still_makes_a_film():
    w, h = leaf(0.5), leaf(1.0)
    with mg.record() as trace:
        for _ in range(4):
            h = mg.tanh(w * h.detach())
            (h * h).backward()
    assert timeline.load_film(trace) is not None


def test_the_page_draws_cuts_with_their_reasons(open_player):
    page = open_player(cut_program(), details=False)
    assert page.locator(".drawing .cut-mark").count() == 3
    said = page.locator(".drawing .node.is-cut text.gradient").all_text_contents()
    assert sorted(said) == ["detached here", "has no gradient", "under no_grad"]
    label = page.locator(".drawing .node.is-cut").first.get_attribute("aria-label")
    assert "no gradient flows back" in label
    assert page.locator(".drawing .node.dead").count() == 6
    page.locator(".drawing .node.is-cut").first.click()
    assert "no gradient flows back" in page.locator(".panel").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert "cut: no gradient flows back" in page.locator(".legend").inner_text()


MARKS = """() => [...document.querySelector("#walk").shadowRoot.querySelectorAll(".drawing .cut-mark")].map((mark) => {
  const { x, y, width, height } = mark.getBoundingClientRect();
  return [x, y, x + width, y + height];
})"""


def test_cut_lines_that_end_at_one_arrow_share_a_mark(open_player):
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with mg.record() as trace:
        a, b, c = x * w, x + w, x - w
        with mg.no_grad():
            target = mg.stack([a, b, c]).sum(axis=0) * (a * b)
        ((a - target) * (b.detach() - a.detach())).sum().backward()
    page = open_player(trace, details=False)
    marks = page.evaluate(MARKS)
    assert len(marks) == page.locator(".drawing .node.is-cut").count() == 4
    for k, (left, top, right, bottom) in enumerate(marks):
        for other in marks[:k]:
            assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


def test_sentences_and_formulas_have_the_students_expressions(open_player):
    h, w = leaf([[1.0, 2.0]]), leaf([[1.0], [3.0]])
    with mg.record() as trace:
        ((h @ w) * mg.sin(w)).sum().backward()
    page = open_player(trace, details=False, index=2)
    assert "(h @ w) * mg.sin(w) sends" in page.locator(".sentence").inner_text()
    assert "mg.sin(w)" in page.locator(".edge-formula").inner_text()
    assert "h @ w" in page.locator(".drawing text.name").all_text_contents()
    page.keyboard.press("ArrowRight")
    assert "(h @ w)" in page.locator(".edge-formula").inner_text()


def test_pictures_and_solutions_have_cuts_and_expressions(tmp_path):
    trace = cut_program()
    svg = viz.save(trace, tmp_path / "walk.svg").read_text(encoding="utf-8")
    assert len(re.findall(r'class="cut-mark" d=', svg)) == 3
    assert "detached here" in svg
    solution = viz.save(trace, tmp_path / "walk.md").read_text(encoding="utf-8")
    assert "mg.where(m, w, 0.0) * d" in solution


def test_operations_have_parentheses_as_factors():
    factors = {"x @ w": "(x @ w)", "-x": "(-x)", "mg.sin(x * y)": "mg.sin(x * y)", "x[1:, -2]": "x[1:, -2]",
               "x.T": "x.T", "(a + b).sum()": "(a + b).sum()", "a > b": "(a > b)"}  # fmt: skip
    assert {text: factor(text) for text in factors} == factors
