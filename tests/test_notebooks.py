"""Notebooks: stored without outputs, run from first cell to last, and every figure in their text is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib.font_manager  # noqa: F401 - what a machine's first import says is no notebook's
import nbformat
import pytest
from nbclient import NotebookClient

from staged import git_output, staged_notebooks

pytestmark = pytest.mark.xdist_group("notebooks")   # one worker runs each of them once

NOTEBOOKS = staged_notebooks()
NAMES = ["01_first_walk.ipynb", "02_train_a_network.ipynb", "gallery.ipynb"]
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
NOT_TEXT = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
"""Code, and where a link leads."""
PROGRESS = re.compile(r"\r[^\r\n]*")


class Run:
    """A notebook that was run in an empty folder."""

    def __init__(self, name: str, folder: Path):
        self.folder, self.book = folder, nbformat.reads(NOTEBOOKS[name], as_version=4)
        NotebookClient(self.book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()

    def outputs(self) -> list[Any]:
        """Return the outputs of all cells, in order."""
        return [output for cell in self.book.cells for output in outputs_of(cell)]

    def sections(self) -> list[list[Any]]:
        """Return the cells from each heading to the next."""
        parts: list[list[Any]] = []
        for cell in self.book.cells:
            if not parts or (cell.cell_type == "markdown" and cell.source.startswith("#")):
                parts.append([])
            parts[-1].append(cell)
        return parts


def outputs_of(cell: Any) -> list[Any]:
    """Return the outputs of a cell; text cells have none."""
    return cell.get("outputs", [])


def html_of(cell: Any) -> list[str]:
    """Return the HTML outputs of a cell."""
    return [output.data["text/html"] for output in outputs_of(cell) if "text/html" in output.get("data", {})]


def output_text(cells: list[Any]) -> str:
    """Return the text output of some cells. Parts of one stream are joined unchanged."""
    shown = [output for cell in cells for output in outputs_of(cell)]
    return "".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "") + "\n"
        for output in shown
    )


def figures(text: str) -> list[float]:
    """Return the numbers written in digits, except in progress bars, which show the time."""
    return [float(number) for number in NUMBER.findall(PROGRESS.sub(" ", text))]


def figures_in_text(cells: list[Any]) -> list[float]:
    """Return the numbers written in digits in text cells, without their code."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return figures(NOT_TEXT.sub(" ", text))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(NAMES[0], tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(NAMES[1], tmp_path_factory.mktemp("second"))


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(NAMES[2], tmp_path_factory.mktemp("gallery"))


@pytest.fixture(params=["first", "second"])
def run(request: pytest.FixtureRequest) -> Run:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_as_if_it_had_never_been_run(name):
    stored = json.loads(NOTEBOOKS[name])
    nbformat.validate(nbformat.from_dict(stored))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    assert set(stored["metadata"]) <= {"kernelspec", "language_info"}
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    for cell in stored["cells"]:
        assert cell["metadata"] == {}
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_a_notebook_are_short(name):
    for cell in nbformat.reads(NOTEBOOKS[name], as_version=4).cells:
        assert len(cell.source.splitlines()) <= 22, cell.source


def test_every_notebook_has_a_test():
    assert sorted(NOTEBOOKS) == NAMES


def test_notebooks_are_tested_as_staged_in_git(tmp_path):
    (tmp_path / "lesson.ipynb").write_text("{}", encoding="utf-8")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}
    git_output(tmp_path, "init")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}
    git_output(tmp_path, "add", "lesson.ipynb")
    (tmp_path / "lesson.ipynb").write_text("an answer", encoding="utf-8")
    (tmp_path / "my own.ipynb").write_text("notes", encoding="utf-8")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}


def test_a_notebook_runs_to_its_last_cell_without_a_warning(run):
    assert all(cell.execution_count for cell in run.book.cells if cell.cell_type == "code")
    assert [output.text for output in run.outputs() if output.get("name") == "stderr"] == []


def test_a_cell_of_the_section_prints_every_number_in_the_text(run):
    for cells in run.sections():
        missing = set(figures_in_text(cells)) - set(figures(output_text(cells)))
        assert not missing, f"{cells[0].source.splitlines()[0]}: no cell prints {sorted(missing)}"


def test_figures_are_found_in_text_but_not_in_code_names_or_links():
    cells = [nbformat.v4.new_markdown_cell("Of 1797, `x[3]` and W1 [two](02_x.ipynb), **97.5** % are 4 × 4.")]
    assert figures_in_text(cells) == [1797, 97.5, 4, 4]


def test_every_walk_at_the_end_of_a_cell_is_a_player(run):
    walks = [cell for cell in run.book.cells
             if cell.cell_type == "code" and cell.source.splitlines()[-1] in ("trace", "inside")]  # fmt: skip
    assert len(walks) >= 2
    for cell in walks:
        data = cell.outputs[-1].data
        assert set(data) == {"text/plain", "text/html"}
        assert data["text/plain"].startswith("Backward walk: ")
        assert data["text/html"].startswith('<div data-mgp="')
        assert "\n" not in data["text/html"]
        assert '<script type="module">' in data["text/html"]


def test_questions_come_before_their_walk_and_answers_after_it(run):
    cells = [cell.source for cell in run.book.cells]
    asked = [i for i, source in enumerate(cells) if source == 'my_answer = "?"']
    assert asked
    for i in asked:
        assert "**Before you press play" in cells[i - 1]
        shown = cells.index("trace", i)
        assert shown - i <= 2
        assert '"you said", my_answer' in cells[shown + 1]


def test_the_first_notebook_finds_the_gradients_that_a_hand_finds(first):
    text = output_text(first.book.cells)
    assert "the walk found 28.0" in text                      # of (2x + 1)² at 3: 2 · 7 · 2
    assert "at a: 25.0\nat b: 19.0" in text                   # y = a + b + ab + (a + b)ab at 2, 3
    assert "24.7041\n138.8338\n645.5773" in text              # micrograd's README


def test_the_first_notebook_shows_the_error_messages_of_the_engine(first):
    text = output_text(first.book.cells)
    for words in (
        "would turn a leaf that requires a gradient into a result",
        "a result cannot be assigned to",
        "np.linalg.norm would lose the graph of a tensor",
        "the data of a Value was changed (to 10.0) after multiply had used it",
    ):
        assert words in text


def test_the_first_notebook_steps_through_the_lines_of_softmax(first):
    text = output_text(first.book.cells)
    assert re.search(r"exp +micrograd_plus/ops/neural\.py:\d+: e = xp\.exp", text)


def test_the_networks_read_95_percent_and_separate_the_moons(second):
    text = output_text(second.book.cells)
    reached = [float(share) for share in re.findall(r"test accuracy: +([\d.]+)%", text)]
    assert reached[0] < 25
    assert reached[-1] >= 95
    assert float(re.search(r"parted rightly: ([\d.]+)%", text)[1]) >= 95


def test_both_trainings_show_a_full_progress_bar_and_a_loss_curve(second):
    cells = second.book.cells
    bars = [cell for cell in cells if "tqdm(range" in cell.source]
    plots = [cell for cell in cells if 'title="The loss falls"' in cell.source]
    assert len(bars) == len(plots) == 2
    assert all("training: 100%|" in output_text([cell]) for cell in bars)
    for cell in plots:
        assert re.fullmatch(r'<img alt="Two plots\. [^"]+" .*src="data:image/png;base64,[^"]+">', html_of(cell)[0])


def test_every_picture_has_alternative_text(run):
    assert [output.data for output in run.outputs() if "image/png" in output.get("data", {})] == []
    words = [re.search(r'alt="([^"]*)"', html)[1]
             for cell in run.book.cells for html in html_of(cell) if html.startswith("<img")]  # fmt: skip
    assert all(len(alt) > 20 for alt in words)
    assert len(set(words)) == len(words) == ("plt.subplots" in str(run.book)) * 7


def test_the_recorded_training_step_lowers_the_loss(second):
    text = output_text(second.book.cells)
    before, after = map(float, re.findall(r"loss (?:before|after) the step: +([\d.]+)", text))
    assert after < before
    page = (second.folder / "walk.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page


def test_the_parameters_of_both_networks_have_names(second):
    text = output_text(second.book.cells)
    for name in ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias", "model.layers.0.neurons.0.w[0]"):
        assert f"  {name}: gradient" in text


def test_every_cell_of_the_gallery_runs_and_shows_its_walks(gallery):
    assert sum("data-mgp" in html for cell in gallery.book.cells for html in html_of(cell)) >= 8
