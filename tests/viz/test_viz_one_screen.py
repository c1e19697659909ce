"""Tests that every step fits on one 1280 by 720 screen: graph, sentence, formula and numbers."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from benchmarks import player_programs as programs
from browser import settle
from micrograd_plus import nn

pytestmark = pytest.mark.browser

TOO_LARGE = """(all) => {
    const root = document.querySelector("#walk").shadowRoot;
    const slider = root.querySelector(".slider");
    const player = root.querySelector(".player");
    const found = [];
    const height = player.offsetHeight;
    for (let i = 0; i <= Number(slider.max); i += all ? 1 : Math.ceil(slider.max / 24)) {
      slider.value = String(i);
      slider.dispatchEvent(new Event("input"));
      for (const part of root.querySelectorAll(".column, .sentence")) {
        const over = part.scrollHeight - part.clientHeight;
        if (over > 1) found.push(`step ${i}: ${part.className} is ${over} too high`);
      }
      if (player.offsetHeight !== height) found.push(`step ${i}: ${player.offsetHeight} high, not ${height}`);
      if (document.documentElement.scrollHeight > 720) found.push(`step ${i}: the page scrolls`);
    }
    return found;
}"""


def layer_norm():
    """Return a walk through a layer norm, which has the longest formula."""
    rng = np.random.default_rng(0)
    x, gain, shift = (mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((4, 6), (6,), (6,)))
    with mg.record() as trace:
        out = nn.functional.layer_norm(x, (6,), gain, shift)
        (out**3).mean().backward()
    return trace


def awkward():
    """Return a walk with awkward arrays: high ones, columns, slices, numbers with powers of ten, and long names."""
    rng = np.random.default_rng(1)
    tall, many, small = (
        mg.tensor(rng.normal(size=shape) * size, requires_grad=True)
        for shape, size in (((200, 3), 1.0), ((32, 4, 2, 2), 1.0), ((1, 12), 1e-10))
    )
    with mg.record() as trace:
        loss = (tall * tall).sum() + (many * many).sum() + (small * small + small).sum()
        loss.backward()
    return trace


def full_panels():
    """Return a walk whose panels are full: columns that are added, many slices, and a long formula with numbers."""
    rng = np.random.default_rng(2)
    state, weight, images, hidden_state_of_the_decoder = (
        mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((1, 8), (8, 8), (2, 8, 8, 8), (6, 4))
    )
    with mg.record() as trace:
        for _ in range(2):
            state = mg.tanh(state @ weight)
        normalised_hidden_state = hidden_state_of_the_decoder / mg.sqrt(
            (hidden_state_of_the_decoder**2).mean(axis=-1, keepdims=True) + 1e-6
        )
        loss = state.sum() + (normalised_hidden_state**2).sum() + mg.relu(images * 2).sum()
        loss.backward()
    return trace


@pytest.mark.parametrize(
    ("program", "all_steps"),
    [(layer_norm, True), (awkward, True), (full_panels, True), (programs.attention, True), (programs.neuron, True),
     (programs.transformer_layer, False), (lambda: programs.rnn(20), False), (programs.mlp, False)],
    ids=["layer norm", "awkward arrays", "full panels", "attention", "neuron", "transformer layer", "recurrent network",
         "MLP"],
)  # fmt: skip
def test_every_step_is_on_one_screen(page, tmp_path, program, all_steps):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(viz.save(program(), tmp_path / "walk.html").as_uri())
    page.locator(".player").wait_for()
    assert page.evaluate(TOO_LARGE, all_steps) == []
    page.keyboard.press("d")
    assert page.evaluate(TOO_LARGE, all_steps) == [], "with all numbers"


TITLES = """() => [...document.querySelector("#walk").shadowRoot.querySelectorAll(".drawing .node.group")].map((part) =>
    [part.getAttribute("aria-label").split(", ")[0], part.querySelector(".name").textContent])"""


def says(name, title):
    """Return whether a title is a full name, the end of a dotted name, or rounds without their total."""
    end = title.startswith("…") and not title[1].isdigit() and name.endswith("." + title[1:])
    return title == name or end or (name.startswith("rounds") and name.partition(" of ")[0] == title)


@pytest.mark.parametrize(
    "program", [programs.transformer_layer, programs.rnn, programs.mlp, programs.gpt],
    ids=["transformer layer", "recurrent network", "MLP", "GPT"],
)  # fmt: skip
def test_closed_groups_have_readable_names_on_screens_and_phones(page, tmp_path, program):
    page.goto(viz.save(program(), tmp_path / "walk.html").as_uri())
    page.locator(".drawing .node.group").first.wait_for()
    for width, height in ((1280, 720), (420, 800)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        titles = page.evaluate(TITLES)
        assert len(titles) >= 3
        assert [(name, title) for name, title in titles if not says(name, title)] == []


def test_pictures_of_high_arrays_continue_in_columns(page, tmp_path):
    tall = mg.tensor(np.random.default_rng(1).normal(size=(200, 3)), requires_grad=True)
    with mg.record() as trace:
        (tall**2).sum().backward()
    page.goto(viz.save(trace, tmp_path / "walk.html").as_uri() + "#step=2")
    page.locator(".player").focus()
    page.keyboard.press("d")
    picture = page.locator(".card", has=page.locator("figcaption :text-is('contribution')")).locator(".picture").first
    assert picture.bounding_box()["height"] < 110
    wrong = picture.evaluate("""(svg) => {
        const said = [];
        svg.addEventListener("tip", ({ detail }) => said.push(detail?.text));
        const box = svg.getBoundingClientRect();
        const wrong = [];
        svg.dispatchEvent(new FocusEvent("focus"));
        const cursor = svg.querySelector(".cursor");
        svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
        for (let k = 0; k < 600; k += 1) {
          const byKey = said.at(-1);
          const [x, y, side] = ["x", "y", "width"].map((name) => Number(cursor.getAttribute(name)));
          svg.dispatchEvent(new MouseEvent("mousemove", { clientX: box.x + x + side / 2 + 0.5,
            clientY: box.y + y + side / 2 + 0.5 }));
          if (said.at(-1) !== byKey || !byKey) wrong.push([k, byKey, said.at(-1)]);
          svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
        }
        return wrong.slice(0, 3).concat(new Set(said).size < 600 ? [[new Set(said).size]] : []);
    }""")
    assert wrong == []


IN_A_NOTEBOOK = """<!DOCTYPE html><body style="margin: 0"><div style="height: 120px">menus</div>
<div class="jp-WindowedPanel-outer" style="height: 590px; width: {width}px; overflow: auto">{cell}</div></body>"""
"""A notebook in JupyterLab at 1280 by 720: its menus and bars leave 590 pixels."""
CONTROLS = "button:visible:not(.program-line, .choice, .gloss), input:visible, select:visible"


@pytest.mark.parametrize("kind", ["gradient", "formula", "order", "shape", "picture", "sign"])
def test_a_question_in_jupyterlab_is_on_one_screen(page, tmp_path, kind):
    rng = np.random.default_rng(0)
    x, w = mg.tensor(rng.normal(size=(4, 3))), mg.tensor(rng.normal(size=3), requires_grad=True)
    with mg.record() as trace:
        (mg.tanh(x * w).sum(axis=1) ** 2).mean().backward()
    cell = viz.quiz(trace, 4 if kind == "picture" else 5, kind)._repr_mimebundle_()["text/html"]
    (tmp_path / "cell.html").write_text(IN_A_NOTEBOOK.format(width=1130, cell=cell), encoding="utf-8")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((tmp_path / "cell.html").as_uri())
    player = page.locator(".player")
    expect(player).to_have_attribute("style", re.compile("--view: 590px"))
    settle(page)
    boxes = {part: page.locator(part).first.bounding_box() for part in (".quiz", ".stage", ".sentence", ".panel")}
    assert player.bounding_box()["height"] <= 590
    assert boxes[".stage"]["height"] >= 150
    assert boxes[".panel"]["y"] + boxes[".panel"]["height"] <= 120 + 590
    assert page.locator(CONTROLS).count() <= 6
    assert page.locator(".quiz-panel").evaluate("panel => panel.scrollHeight <= panel.clientHeight + 1")


def open_in_a_notebook(page, tmp_path, cell, width):
    """Show the output of a cell as JupyterLab does, and return its player."""
    (tmp_path / "cell.html").write_text(IN_A_NOTEBOOK.format(width=width, cell=cell), encoding="utf-8")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((tmp_path / "cell.html").as_uri())
    expect(page.locator(".player")).to_have_attribute("style", re.compile("--view: 590px"))
    settle(page)
    return page.locator(".player")


NAMES = """() => [...document.querySelector("[data-mgp]").shadowRoot.querySelectorAll(".node .name")].map(
    (name) => name.textContent)"""
HIDDEN = """(part) => part.scrollHeight > part.clientHeight + 1"""


def test_a_film_in_a_cell_of_jupyterlab_has_a_high_stage_and_steady_names(page, tmp_path):
    rng = np.random.default_rng(0)
    x, y = mg.tensor(rng.normal(size=(8, 2))), mg.tensor(rng.normal(size=(8, 1)))
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = mg.optim.SGD(net.parameters(), lr=0.05)
    with mg.record() as trace:
        for _ in range(3):
            optimizer.zero_grad()
            score = net(x)
            error = score - y
            square = error**2
            total = square.sum()
            mean = total / 8
            half = mean / 2
            doubled = half * 4
            loss = doubled / 2
            loss.backward()
            optimizer.step()
    player = open_in_a_notebook(page, tmp_path, viz.show(trace)._repr_mimebundle_()["text/html"], 850)
    player.focus()
    page.keyboard.press("ArrowRight")
    assert player.bounding_box()["height"] <= 590
    assert page.locator(".stage").bounding_box()["height"] >= 250
    expect(page.locator(".variables .rest")).to_have_text(re.compile(r"…\d+ more"))
    assert not page.locator(".variables").evaluate(HIDDEN)
    names, around = page.evaluate(NAMES), page.locator(".jp-WindowedPanel-outer")
    for width in ("500px", "850px"):
        around.evaluate("(part, width) => { part.style.width = width; }", width)
        expect(page.locator(".stage")).to_have_css("width", re.compile("^8" if width == "850px" else "^4"))
    expect(page.locator(".node .name")).to_have_text(names)


def test_a_recorded_slider_in_a_cell_of_jupyterlab_is_on_one_screen(page, tmp_path):
    walks = viz.explore(lambda a, b: mg.tanh(a * b) + a, places=3, a=(-2.0, 2.0), b=3.0)
    for width in (850, 1130):
        player = open_in_a_notebook(page, tmp_path, walks._repr_mimebundle_()["text/html"], width)
        page.evaluate("document.body.addEventListener('keydown', (event) => event.preventDefault())")  # as JupyterLab
        page.get_by_role("slider", name="a", exact=False).first.press("ArrowRight")
        expect(page.locator("output")).to_have_text("2")
        settle(page)
        box, slider = player.bounding_box(), page.locator("output").bounding_box()
        assert box["y"] + box["height"] - slider["y"] <= 590
        assert page.locator(".stage").bounding_box()["height"] >= 250
        assert not page.locator("figure.companion").evaluate(HIDDEN)


def test_in_a_narrow_column_the_sentence_is_above_the_fold(page, tmp_path):
    page.set_viewport_size({"width": 800, "height": 720})
    page.goto(viz.save(programs.attention(), tmp_path / "walk.html").as_uri())
    page.locator(".player").press("ArrowRight")
    sentence, stage, program = (page.locator(part).bounding_box() for part in (".sentence", ".stage", ".program"))
    assert stage["height"] >= 300
    assert sentence["y"] + sentence["height"] <= 720
    assert program["y"] > sentence["y"], "the program is below the sentence"


def test_a_film_on_a_phone_shows_its_sentence_without_scrolling(page, tmp_path):
    w, x = mg.tensor(2.0, requires_grad=True), mg.tensor([1.0, 2.0, 3.0])
    optimizer = mg.optim.SGD([w], lr=0.01)
    with mg.record() as trace:
        for _ in range(5):
            optimizer.zero_grad()
            ((w * x - 1.0) ** 2).mean().backward()
            optimizer.step()
    page.set_viewport_size({"width": 420, "height": 860})
    page.goto(viz.save(trace, tmp_path / "film.html").as_uri())
    page.locator(".player").press("ArrowRight")
    sentence, line = (page.locator(part).bounding_box() for part in (".sentence", ".timeline"))
    assert line["y"] + line["height"] <= 860
    assert sentence["y"] + sentence["height"] <= 860
