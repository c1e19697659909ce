"""A notebook of walks and a lesson in a real JupyterLab: run, stepped and answered by mouse and keyboard, reopened.

The servers keep all that they remember in temporary folders, and the browser resolves no name: what asks for
anything outside this machine fails, and is written down.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import nbformat
import psutil
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from browser import chromium  # noqa: F401 - a fixture
from staged import staged_notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("JupyterLab")]

CELLS = [
    """import matplotlib.pyplot as plt
import micrograd_plus as mg
import micrograd_plus_viz as viz""",
    """a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
with mg.record() as trace:
    y = (a + b) * (a * b)
    y.backward()
trace""",
    """x = mg.tensor([2.0, 1.0, 0.0], requires_grad=True)
with mg.record() as trace:
    weights = mg.softmax(x)
    loss = -mg.log(weights[0])
    loss.backward()
trace""",
    """x = y = mg.tensor(0.5, requires_grad=True)
with mg.record() as trace:
    for _ in range(25):
        y = mg.tanh(y) + x
    y.backward()
trace""",
    """figure, place = plt.subplots()
place.plot([1, 2, 3])
viz.describe(figure, "A line that rises from 1 to 3.")""",
]
"""A notebook of walks: small, with a composite, large, and a picture of numbers."""
WALKS, DRAWN = 3, 2
"""How many walks it shows, and how many are small enough for a picture where no script may run."""
NAME, LESSON = "walks.ipynb", "01_first_walk.ipynb"
PATIENCE = 90_000
"""Milliseconds that a notebook may take to open on a machine that does other things besides."""

PLACES = {
    "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython",
}  # fmt: skip

READY = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    await app.shell.currentWidget.context.ready;
    await app.shell.currentWidget.sessionContext.ready;
}"""
COMMAND = "([name, values]) => window.jupyterapp.commands.execute(name, values).then((done) => done ?? null)"
CELLS_COUNT = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
STATE = """(player) => JSON.stringify([
    [...player.querySelectorAll(".node, .edge")].map(
        (mark) => [mark.id, mark.getAttribute("class").replace(" pointed", ""),
            mark.querySelector(".gradient")?.textContent]),
    player.querySelector(".sentence").textContent, player.querySelector(".panel").textContent,
    player.querySelector(".slider").value])"""


# JupyterLab, and a page in it -------------------------------------------------------------------------------


class Lab(NamedTuple):
    """A running JupyterLab: its address, its token, and its folder."""

    address: str
    token: str
    folder: Path

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"{self.address}/{path}?token={self.token}"


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[Lab]:
    """Run a JupyterLab on a folder, with its settings in `home`; stop it when the block ends."""
    lab = Lab(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), folder)
    command = [
        sys.executable, "-m", "micrograd_plus", "lab", "--no-browser", "--ip=127.0.0.1",
        f"--port={urlsplit(lab.address).port}", "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={lab.token}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    environment = os.environ | {"TMPDIR": str(home)} | {name: str(home / place) for name, place in PLACES.items()}
    with (home / "log.txt").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, cwd=folder.parent, env=environment, stdout=log, stderr=log)
        try:
            wait_for(lab, server, home / "log.txt")
            yield lab
        finally:
            if server.poll() is None:  # the command waits for the server that it started
                started = psutil.Process(server.pid).children(recursive=True)
                for each in started:
                    each.terminate()
                for each in psutil.wait_procs(started, timeout=20)[1]:
                    each.kill()
            server.wait()


def free_port() -> int:
    """Return a port that no other process uses."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def wait_for(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait up to five minutes for the server; if it does not answer, fail with its output."""
    for _ in range(1500):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(lab.url("api/status"), timeout=5).close()  # noqa: S310 - of this machine
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


class Opened(NamedTuple):
    """A notebook that is open in a browser."""

    page: Page
    lab: Lab
    file: Path

    def command(self, name: str, **values: Any) -> Any:
        """Run one of JupyterLab's own commands, as its menus do."""
        return self.page.evaluate(COMMAND, [name, values])

    def players(self) -> Locator:
        """Return the players, in the order of the notebook."""
        return self.page.locator(".jp-OutputArea .player")

    def errors(self) -> list[str]:
        """Return the errors that ended cells."""
        return self.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").all_text_contents()

    def pictures(self) -> Locator:
        """Return the pictures shown where scripts are forbidden."""
        return self.page.locator(".jp-OutputArea img[src^='data:image/svg+xml']")


@contextmanager
def open_notebook(context: BrowserContext, lab: Lab, name: str) -> Iterator[Opened]:
    """Open a notebook on a fresh page, and check at the end that the page had no errors."""
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(f"error: {error.stack}"))
    page.on("console", lambda said: said.type == "error" and troubles.append(f"console: {said.text}"))
    page.on("requestfailed", lambda request: troubles.append(f"request failed: {request.url[:200]}"))
    for kind in ("request", "websocket"):
        page.on(kind, lambda sent: outside(sent.url) and troubles.append(f"left the machine: {sent.url}"))
    page.goto(lab.url(f"lab/workspaces/{Path(name).stem}/tree/{name}"))
    expect(page.locator(".jp-Notebook")).to_be_visible(timeout=PATIENCE)
    page.evaluate(READY)
    yield Opened(page, lab, lab.folder / name)
    assert not troubles, troubles
    page.close()


def outside(url: str) -> bool:
    """Return whether a request goes to another machine."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1"


@pytest.fixture(scope="module")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return one JupyterLab for all notebooks, because it takes longer to start than they take to run."""
    folder = tmp_path_factory.mktemp("course") / "notebooks"
    folder.mkdir()
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS], metadata=kernel)
    (folder / NAME).write_text(nbformat.writes(made), encoding="utf-8")
    (folder / LESSON).write_text(staged_notebooks()[LESSON], encoding="utf-8")
    with jupyterlab(folder, tmp_path_factory.mktemp("home")) as lab:
        yield lab


@pytest.fixture(scope="module")
def context(chromium: Any) -> Iterator[BrowserContext]:  # noqa: F811 - pytest hands the fixture in by its name
    """Return one browser context, which keeps JupyterLab's scripts from page to page."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce") as context:
        yield context


@pytest.fixture(scope="module")
def ran(lab_server: Lab, context: BrowserContext) -> Iterator[Opened]:
    """Return the notebook of walks, run to its last cell, saved, and still open."""
    with open_notebook(context, lab_server, NAME) as notebook:
        assert notebook.command("notebook:run-all-cells"), notebook.errors()
        expect(notebook.players()).to_have_count(WALKS, timeout=PATIENCE)
        notebook.command("docmanager:save")
        yield notebook


def each(found: Locator) -> list[Locator]:
    """Yield the players, or the pictures, one by one."""
    return [found.nth(k) for k in range(found.count())]


# Actions of a reader ----------------------------------------------------------------------------------------


def test_every_player_steps_forward_and_back_by_mouse(ran):
    for player in each(ran.players()):
        states = [player.evaluate(STATE)]
        for _ in range(3):
            player.locator(".icon.next").click()
            states.append(player.evaluate(STATE))
        assert len(set(states)) == 4
        for k in (2, 1, 0):
            player.locator(".icon.back").click()
            assert player.evaluate(STATE) == states[k]
        expect(player.locator(".icon.back")).to_be_disabled()


def test_every_player_steps_forward_and_back_by_keyboard(ran):
    for player in each(ran.players()):
        player.focus()
        states = [player.evaluate(STATE)]
        for _ in range(3):
            player.press("ArrowRight")
            states.append(player.evaluate(STATE))
        assert len(set(states)) == 4
        for k in (2, 1, 0):
            player.press("ArrowLeft")
            assert player.evaluate(STATE) == states[k]
        player.press("End")
        expect(player.locator(".icon.next")).to_be_disabled()
        player.press("Home")
        assert player.evaluate(STATE) == states[0]


def test_letters_typed_into_a_player_do_not_reach_the_notebook(ran):
    before = ran.page.evaluate(CELLS_COUNT)
    ran.players().first.focus()
    for key in ("b", "a", "d", "d", "x", "m"):
        ran.page.keyboard.press(key)
    assert ran.page.evaluate(CELLS_COUNT) == before


def test_player_follows_the_theme_and_figures_stay_light(ran):
    host, plots = ran.page.locator("[data-mgp]").first, ran.page.locator(".jp-OutputArea img[src^='data:image/png']")
    expect(plots).to_have_count(1)
    for theme, scheme in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        ran.command("apputils:change-theme", theme=theme)
        expect(host).to_have_css("color-scheme", scheme)
        for plot in each(plots):
            expect(plot).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(ran.page.locator("#jupyterlab-splash")).to_have_count(0)


def test_every_plot_has_alternative_text(ran):
    plots = ran.page.locator(".jp-OutputArea img[src^='data:image/png']")
    expect(plots).to_have_count(1)
    for plot in each(plots):
        expect(plot).to_have_attribute("alt", re.compile(r"\w+ \w+"))


def test_a_composite_is_opened_stepped_and_left(ran):
    composite = ran.page.locator(".node", has_text=re.compile("softmax|cross_entropy|^loss")).first
    player = ran.players().filter(has=composite).first
    composite.click()
    player.get_by_role("button", name="Step inside").click()
    expect(player).to_be_hidden()
    inner = ran.page.locator(".nested .player")
    inner.press("ArrowRight")
    expect(inner.locator(".sentence")).to_contain_text("Step 1 of")
    inner.press("Escape")
    expect(inner).to_have_count(0)
    expect(player).to_be_focused()


def test_untrusted_notebooks_show_pictures_trusted_ones_players(ran, context):
    name = ran.file.name
    from_elsewhere = json.loads(ran.file.read_text(encoding="utf-8"))
    from_elsewhere["metadata"]["written_by"] = "somebody else"  # so that the signature is not one that was made here
    (ran.lab.folder / f"other_{name}").write_text(json.dumps(from_elsewhere), encoding="utf-8")
    with open_notebook(context, ran.lab, f"other_{name}") as again:
        expect(again.pictures()).to_have_count(DRAWN, timeout=PATIENCE)
        for picture in each(again.pictures()):
            assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
        expect(again.players()).to_have_count(0)
        again.page.evaluate("() => void window.jupyterapp.commands.execute('notebook:trust')")
        again.page.get_by_role("dialog").get_by_role("button", name="Trust").click()
        expect(again.players()).to_have_count(WALKS, timeout=PATIENCE)
        for player in each(again.players()):
            player.focus()
            player.press("ArrowRight")
            expect(player.locator(".sentence")).to_contain_text("Step 1 of")


def test_a_lesson_hides_its_answers_and_is_answered(lab_server, context):
    with open_notebook(context, lab_server, LESSON) as lesson:
        page = lesson.page
        hidden = page.locator(".jp-Placeholder")
        expect(hidden.first).to_be_visible(timeout=PATIENCE)
        lesson.command("notebook:run-all-cells")
        expect(page.get_by_text("questions answered")).to_contain_text(re.compile("^0 of"), timeout=PATIENCE)
        assert lesson.errors() == []
        cells = page.evaluate(CELLS_COUNT)
        first = page.locator("[data-mgp]").first
        first.get_by_role("gridcell").first.click()
        expect(first.locator(".card-feedback")).to_contain_text("Not right")
        box = page.locator("[data-mgp] .answer").first
        box.click()
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(page.get_by_text("questions answered")).to_contain_text("1 right at once")
        assert page.evaluate(CELLS_COUNT) == cells


def test_no_jupyter_news_covers_the_cells(ran):
    expect(ran.page.get_by_text("Jupyter news")).to_have_count(0)


def test_keys_with_a_modifier_belong_to_the_notebook(ran):
    """This test must be the last one, because it runs cells a second time."""
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    for player in (ran.players().last, ran.players().first):
        player.click(position={"x": 5, "y": 5})
        before = ran.page.evaluate(active)
        ran.page.keyboard.press("Shift+Enter")
        ran.page.wait_for_function(f"() => {active} === {before + 1}")
        expect(ran.page.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(0, timeout=PATIENCE)
    test_letters_typed_into_a_player_do_not_reach_the_notebook(ran)


EXPLORED = """import micrograd_plus as mg
import micrograd_plus_viz as viz
viz.explore(lambda a, b: mg.tanh(a * b) + a, a=(-2.0, 2.0), b=3.0)"""
WRITE = """(source) => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(source)"""


def test_a_slider_of_explore_moves_the_walk_by_mouse_and_by_key(ran):
    ran.command("notebook:insert-cell-below")
    ran.page.evaluate(WRITE, EXPLORED)
    ran.command("notebook:run-cell")
    box = ran.page.locator(".jp-OutputArea-output", has=ran.page.locator(".widget-slider")).last
    slider, drawn = box.locator(".noUi-handle"), box.locator(".player .drawing")
    expect(drawn).to_contain_text("tanh", timeout=PATIENCE)
    track = box.locator(".noUi-base")
    for move in (lambda: slider.press("ArrowRight"), lambda: track.click(position={"x": 9, "y": 2})):
        before = drawn.text_content()
        move()
        expect(drawn).not_to_have_text(before, timeout=PATIENCE)
