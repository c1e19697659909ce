"""Every lesson of docs/lessons: its form, its run, its secrets, and each answer to each of its questions.

A lesson is found by its files: docs/lessons/NN_name.md, notebooks/NN_name.ipynb, and tests/lessons/NN_name.py with the
right contents of the cells that a reader completes. Each notebook runs once as it is and once completed, each time in a
fresh kernel and an empty folder.
"""

from __future__ import annotations

import ast
import copy
import json
import math
import re
import runpy
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, cached_property
from html import unescape
from pathlib import Path
from typing import Any

import matplotlib.font_manager  # noqa: F401 - what a machine's first import says is no notebook's
import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

import lesson_pages as pages
from browser import chromium, page  # noqa: F401 - fixtures
from lesson_matrix import COLOURS, SIZES, find_faults
from lesson_pages import Hosted, has_answer, question_salt, read_host, texts_of_output
from notebook_runs import (
    NOT_TEXT,
    figures,
    figures_in_text,
    html_of,
    output_text,
    outputs_of,
    run_notebook,
    sections_of,
)  # fmt: skip
from staged import staged_notebooks

ROOT = Path(__file__).resolve().parents[1]
TEXTS, NOTEBOOKS, ANSWERS = ROOT / "docs" / "lessons", ROOT / "notebooks", ROOT / "tests" / "lessons"
WATCH = (ROOT / "tests" / "lesson_watch.py").read_text("utf-8")
make_lessons = runpy.run_path(str(ROOT / "docs" / "make_lessons.py"))

MOST_WORDS, MOST_CELLS, MOST_LINES = 900, 50, 15
MOST_WORDS_BETWEEN, MOST_CELLS_BETWEEN, FIRST_WITHIN = 120, 4, 90
LEAST_ASKS, LEAST_KINDS, LEAST_RECALLS, LEAST_AT_END = 10, 5, 3, 3
MOST_NEW_TERMS = 2
MOST_BYTES, MOST_MEGABYTES = 1_200_000, 500
CURVES = ("03", "07", "08")
"""Lessons that draw curves with matplotlib."""
DOING = {"ask", "write", "exercise"}
COMPLETED = {"write", "exercise"}
TYPED = ("number", "whole", "numbers", "shape")
NONSENSE = ("word", "nan", "...", "(1, 2, 3, 4, 5, 6)", "")
FORMULA = re.compile(r"\$\$?[^$]+\$\$?")
LESSON_NUMBER = re.compile(r"\b0\d\b")
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
RECALL = re.compile(r"Recall\b|From (lesson \d\d|school)")
TERM = re.compile(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])")


class Lesson:
    """A lesson with its text, its notebook and what its runs showed. Everything is computed once."""

    def __init__(self, text: Path, answers: Path = ANSWERS) -> None:
        self.name, self.text, self.answers = text.stem, text, answers
        self.number = self.name[:2]
        self.book = make_lessons["read_lesson"](text.read_text("utf-8"))
        self.failure: CellExecutionError | None = None
        self.kept = tempfile.TemporaryDirectory(prefix=self.name)      # removed with the lesson
        self.folder = Path(self.kept.name)

    @cached_property
    def cells(self) -> list[Any]:
        """Return the cells of the notebook as it is, after its run."""
        return self.starter_run[0]

    @cached_property
    def notes(self) -> dict[str, Any]:
        """Return what the kernel noted in that run."""
        return self.starter_run[1]

    @cached_property
    def starter_run(self) -> tuple[list[Any], dict[str, Any]]:
        """Run all cells as a reader gets them."""
        return self.run(self.book)

    @cached_property
    def solution_run(self) -> tuple[list[Any], dict[str, Any]]:
        """Run all cells with what a student writes."""
        book = nbformat.from_dict(json.loads(json.dumps(self.book)))
        for cell in book.cells:
            if COMPLETED & tags_of(cell):
                cell.source = self.right_cell(cell)
        return self.run(book)

    def right_cell(self, cell: Any) -> str:
        """Return the right contents of a cell that the reader completes: by its first line, or its exercise."""
        right = self.right_cells
        keys = [cell.source.splitlines()[0], *re.findall(r"""exercises\.answer\(["']([^"']+)""", cell.source)]
        found = [right[key] for key in keys if key in right]
        assert found, f"tests/lessons/{self.name}.py: CELLS needs the right contents of the cell {keys[-1]!r}"
        return found[0].strip("\n")

    @cached_property
    def right_cells(self) -> dict[str, str]:
        """Return CELLS of tests/lessons/NN_name.py; a lesson without such cells needs no file."""
        file = self.answers / f"{self.name}.py"
        return runpy.run_path(str(file))["CELLS"] if file.exists() else {}

    def run(self, book: Any) -> tuple[list[Any], dict[str, Any]]:
        """Run a notebook in an empty folder, and return its cells and what its kernel noted."""
        run = Path(tempfile.mkdtemp(dir=self.folder))
        (run / "empty").mkdir()
        watched = nbformat.from_dict(json.loads(json.dumps(book)))
        first, last = nbformat.v4.new_code_cell(WATCH), nbformat.v4.new_code_cell(f"tell({str(run / 'told')!r})")
        watched.cells = [first, *watched.cells, last]
        if self.failure:
            raise self.failure
        try:
            cells = run_notebook(watched, run / "empty").cells[1:-1]
        except CellExecutionError as failure:
            self.failure = failure                # so that each test need not run the notebook again to fail
            raise
        return cells, json.loads((run / "told").read_text("utf-8"))

    @property
    def headings(self) -> list[int]:
        """Return the indices of the cells that begin a section."""
        cells = self.book.cells
        return [i for i, cell in enumerate(cells) if cell.cell_type == "markdown" and cell.source.startswith("#")]

    @cached_property
    def cards(self) -> list[tuple[int, Hosted, list[dict[str, Any]]]]:
        """Return the cards of the page in order: the index of the cell, the card, and its questions."""
        noted, found = self.notes["questions"], []
        order = [each["salt"] for each in noted]
        for index, cell in enumerate(self.cells):
            for each in filter(None, map(read_host, html_of(cell))):
                salt = question_salt(each)
                if salt is not None:
                    start, count = order.index(salt), each.data.get("quiz", {}).get("count", 1)
                    found.append((index, each, noted[start : start + count]))
        return found

    @cached_property
    def questions(self) -> list[dict[str, Any]]:
        """Return the questions that are shown, in order."""
        return [question for _, _, questions in self.cards for question in questions]

    @cached_property
    def page(self) -> Path:
        """Export the notebook after its run as a page, which asks no other host for anything."""
        book = nbformat.v4.new_notebook(cells=self.cells, metadata=self.book.metadata)
        body, _ = html_exporter().from_notebook_node(book)
        path = self.folder / f"{self.name}.html"
        path.write_text(body, encoding="utf-8")
        return path


@cache
def html_exporter() -> Any:
    """Return nbconvert's exporter, whose pages ask no other host for anything. It compiles its templates once."""
    import nbconvert

    share = Path(nbconvert.__file__).parents[4] / "share" / "jupyter"   # its templates, from any environment
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(share))
        return nbconvert.HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="", jquery_url="")


@cache
def lesson_of(name: str) -> Lesson:
    """Return a lesson. Tests of this process share its runs."""
    return Lesson(TEXTS / f"{name}.md")


LESSONS = [path.stem for path in make_lessons["lesson_files"]()]


def in_one_worker(names: Iterable[str]) -> list[Any]:
    """Return the names as parameters whose tests share one run of the lesson."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"lesson {name[:2]}")) for name in names]


@pytest.fixture(params=in_one_worker(LESSONS))
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lesson_of(request.param)


# What a text says ----------------------------------------------------------------------------------------------------


def tags_of(cell: Any) -> set[str]:
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


def prose_of(cells: list[Any]) -> str:
    """Return the text of text cells without code and formulas."""
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.sub(r"<[^>]+>", " ", FORMULA.sub(" ", NOT_TEXT.sub(" ", text)))


def words_in(cells: list[Any]) -> int:
    """Return the number of words in text cells."""
    return len(re.findall(r"[A-Za-z][\w'-]*", prose_of(cells)))


def counts_as_doing(cell: Any) -> bool:
    """Return whether a reader does something in a cell: answers, writes, or moves a slider."""
    return bool(DOING & tags_of(cell)) or "viz.explore" in cell.source


# The form of a lesson ------------------------------------------------------------------------------------------------


def test_the_notebook_is_what_the_text_makes(lesson):
    staged = staged_notebooks().get(f"{lesson.name}.ipynb")
    stored = staged or (NOTEBOOKS / f"{lesson.name}.ipynb").read_text("utf-8")
    assert stored == nbformat.writes(lesson.book, indent=1) + "\n", "run make lessons, then git add the notebook"
    assert not [cell for cell in lesson.book.cells if outputs_of(cell) or cell.get("execution_count")]


def test_the_cells_have_known_tags_and_few_words(lesson):
    cells = lesson.book.cells
    assert set().union(*map(tags_of, cells)) <= set(make_lessons["TAGS"])
    assert "plants" in set().union(*map(tags_of, cells)), "a lesson plants one mistake that the reader sees"
    assert len(cells) <= MOST_CELLS
    assert words_in(cells) <= MOST_WORDS
    for cell in make_lessons["jupytext"].reads(lesson.text.read_text("utf-8"), fmt="md:myst").cells:
        assert len(cell.source.splitlines()) <= MOST_LINES, cell.source
    titles = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert re.match(r"# [^\n]+\n\n\*[^\n]+\?\*", titles[0]), "the title's next line is the lesson's question in italics"
    assert any("You can now" in each for each in titles)
    assert any("<details>" in each for each in titles), "our sentence follows the reader's own, in <details>"


FORMS = ("worked", "gaps", "lines", "alone", "sentence")
"""How a lesson leads to a rule: worked out, with gaps, in shuffled lines, written alone; then in the reader's words."""


def form_of(cell: Any) -> str | None:
    """Return the form of a rule that a cell has; None if it has none."""
    if "worked" in tags_of(cell):
        return "worked"
    if not COMPLETED & tags_of(cell):
        return None
    if "# Take the # away" in cell.source:
        return "lines"
    nodes = list(ast.walk(ast.parse(cell.source)))
    if any(isinstance(node, ast.Assign) and ast.unparse(node) == "sentence = '...'" for node in nodes):
        return "sentence"
    whole = [node.value for node in nodes if isinstance(node, (ast.Return, ast.Assign, ast.Expr))]
    dots = [node for node in nodes if isinstance(node, ast.Constant) and node.value is ...]
    return "gaps" if [each for each in dots if each not in whole] else "alone"


def test_a_rule_is_worked_out_then_with_gaps_then_in_lines_then_written_alone(lesson):
    cells = lesson.cells
    forms = [form_of(cell) for cell in cells]
    assert [form for form in FORMS if form not in forms] == []
    assert "<details>" in cells[forms.index("sentence") + 1].source, "our sentence comes after the reader's"
    for cell in [cell for cell, form in zip(cells, forms, strict=True) if form == "worked"]:
        named = re.findall(r"""exercises\.answer\(["']([^"']+)""", cell.source)
        assert not COMPLETED & tags_of(cell)
        assert all(lesson.notes["replies"][name] for name in named), f"{named} is worked out, and wrong"
        assert named or "return" in cell.source or output_text([cell]), "a worked rule returns or shows something"


def test_a_planted_mistake_is_seen_and_asked_about(lesson):
    section_at = [sum(heading <= index for heading in lesson.headings) for index in range(len(lesson.cells))]
    seen = {at for at, cell in zip(section_at, lesson.cells, strict=True)
            if "plants" in tags_of(cell) and outputs_of(cell)}  # fmt: skip
    assert seen & {section_at[index] for index, _, _ in lesson.cards}


def test_there_is_something_to_do_every_few_words(lesson):
    cells = lesson.book.cells
    doing = [i for i, cell in enumerate(cells) if counts_as_doing(cell)]
    assert words_in(cells[: doing[0]]) <= FIRST_WITHIN, "the first question comes too late"
    for here, following in zip([-1, *doing], [*doing, len(cells)], strict=True):
        between = cells[here + 1 : following]
        about = between[0].source[:80] if between else ""
        assert words_in(between) <= MOST_WORDS_BETWEEN, f"{words_in(between)} words between two questions: {about}"
        assert len(between) <= MOST_CELLS_BETWEEN or following == len(cells), f"{len(between)} cells: {about}"


def test_new_terms_are_few_and_defined_where_they_first_appear(lesson):
    before = ""
    for cells in sections_of(lesson.book.cells):
        prose = prose_of(cells)
        new = [" ".join(term.split()) for term in TERM.findall(prose) if not term.endswith("?")]
        assert len(new) <= MOST_NEW_TERMS, new
        for term in new:
            earlier = " ".join(HEADING.sub("", before + prose.partition(f"*{term}*")[0]).lower().split())
            assert not pages.says(earlier, term.lower()), f"{term!r} is used before it is defined"
        before += prose + "\n"


def test_the_lesson_asks_often_in_many_kinds_and_recalls(lesson):
    kinds = [each["kind"] for each in lesson.questions] + list(lesson.solution_run[1]["kinds"].values())
    assert len(kinds) >= LEAST_ASKS, kinds
    assert len(set(kinds)) >= LEAST_KINDS, kinds
    recalls = [each["say"] for each in lesson.questions if RECALL.match(each["say"])]
    assert len(recalls) >= LEAST_RECALLS, "a recalled question begins with Recall, From lesson 01 or From school"
    at_end = sum(index > lesson.headings[-1] for index, _, _ in lesson.cards)
    assert at_end >= LEAST_AT_END, "the last section has three exit questions"
    progress = [each for cell in lesson.cells for each in map(read_host, html_of(cell)) if each]
    assert [each.mount for each in progress].count("mountProgress") == 1


# What a run shows ----------------------------------------------------------------------------------------------------


def test_all_cells_run_quietly_offline_and_with_few_packages(lesson):
    for cells, told in (lesson.starter_run, lesson.solution_run):
        assert all(cell.execution_count for cell in cells if cell.cell_type == "code")
        assert [output.text for cell in cells for output in outputs_of(cell) if output.get("name") == "stderr"] == []
        assert not {"sklearn", "scipy", "torch", "pandas"} & set(told["packages"])
        assert ("matplotlib" in told["packages"]) <= (lesson.number in CURVES)
        assert told["megabytes"] <= MOST_MEGABYTES
        assert len(json.dumps([outputs_of(cell) for cell in cells])) <= MOST_BYTES


def test_two_processes_show_the_same_numbers(lesson):
    changed: set[str] = set()
    for once, again in zip(lesson.cells, lesson.solution_run[0], strict=True):
        written, read = names_in(again.source) if again.cell_type == "code" else (set(), set())
        if COMPLETED & tags_of(once) or read & changed:
            changed |= written
            continue
        assert list(visible_outputs(once)) == list(visible_outputs(again))


def names_in(source: str) -> tuple[set[str], set[str]]:
    """Return the names that code writes, and those that it reads. Exercises keep what was answered, so reading their
    module reads it."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    written |= {node.value.id for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)}  # fmt: skip
    written |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return written | {"exercises"}, {node.id for node in names if isinstance(node.ctx, ast.Load)}


def visible_outputs(cell: Any) -> Iterator[Any]:
    """Yield what a cell shows: all that it prints, then its other outputs, without the number of the run."""
    yield "".join(output.text for output in outputs_of(cell) if output.output_type == "stream")
    yield from (output.data for output in outputs_of(cell) if output.output_type != "stream")


def test_every_number_in_the_text_is_printed_in_its_section(lesson):
    for cells in sections_of(lesson.cells):
        text = nbformat.v4.new_markdown_cell(LESSON_NUMBER.sub(" ", prose_of(cells)))
        missing = set(figures_in_text([text])) - set(figures(output_text(cells)))
        assert not missing, f"{cells[0].source.splitlines()[0]}: no cell prints {sorted(missing)}"


def test_claims_about_a_mistake_follow_a_cell_that_plants_it(lesson):
    for cells in sections_of(lesson.cells):
        shown: set[float] = set()
        for cell in cells:
            shown |= set(figures(output_text([cell]))) if "plants" in tags_of(cell) else set()
            claims = [each for each in re.split(r"(?<=[.!?])\s", prose_of([cell])) if re.search(r"\bwould\b", each)]
            for claim in claims:
                assert set(figures(claim)) <= shown, f"no cell tagged plants shows the numbers before: {claim}"


def test_exercises_are_open_at_first_and_right_when_completed(lesson):
    starters = " ".join(cell.source for cell in lesson.book.cells if COMPLETED & tags_of(cell))
    assert not [name for name, right in lesson.notes["replies"].items() if right and f'"{name}"' in starters]
    answered = lesson.solution_run[1]["replies"]
    assert all(answered.values()), answered
    asked = re.findall(r"""@exercises\.answer\(["']([^"']+)""", " ".join(cell.source for cell in lesson.book.cells))
    assert sorted(answered) == sorted(set(asked)), "each exercise is in the catalogue, and is answered"


@pytest.mark.xdist_group("lesson 08")
def test_the_clinic_lets_its_reader_cure_all_eight_patients():
    clinic = lesson_of("08_the_clinic")
    shown = [output_text(cells) for cells in (clinic.cells, clinic.solution_run[0])]
    found = [re.findall(r"(\d), your cure .*; (.+)", text) for text in shown]
    assert found == [[(str(number), state) for number in range(1, 9)] for state in ("not well yet", "well")]


# What a lesson keeps to itself ---------------------------------------------------------------------------------------


def test_running_all_cells_gives_no_answer_away(lesson):
    assert list(leaks_of(lesson, [list(map(str, texts_of(cell))) for cell in lesson.cells])) == []


def texts_of(cell: Any) -> list[str]:
    """Return every text that the outputs of a cell hold."""
    return [text for output in outputs_of(cell) for text in texts_of_output(output)]


def leaks_of(lesson: Lesson, shown: list[list[str]]) -> Iterator[str]:
    """Yield the questions whose answer is shown in their section before the next card: by another output, or by text
    and code after the card.

    Numbers and shapes in text and code before the card, in its question, and in the part of its walk that it shows are
    given. If the answer is one of them, it is no secret.
    """
    sources = [pages.FOLDED.sub("", cell.source) for cell in lesson.cells]
    stops = [*lesson.headings, *(index for index, _, _ in lesson.cards), len(lesson.cells)]
    for index, card, questions in lesson.cards:
        first = max(i for i in [0, *lesson.headings] if i <= index)
        last = min(i for i in stops if i > index)
        given = [*sources[first : index + 1], *pages.values_in(card.data)]
        for question in questions:
            found = [text for texts in shown[first:last] for text in texts] + sources[index + 1 : last]
            if question["form"] in pages.CHOICES:
                found += sources[first:index]
            elif any(has_answer(question, text) for text in [*given, question["say"]]):
                continue
            leak = next((text for text in found if has_answer(question, text)), None)
            if leak is not None:
                yield f"{question['say']!r}: its answer is in {leak[:300]!r}"


def test_no_page_holds_a_reason_or_a_hint_in_plain_text(lesson):
    held = " ".join(unescape(lesson.page.read_text("utf-8")).split())
    notebook = " ".join(nbformat.writes(lesson.book).split())
    for question in lesson.questions:
        secret = [question["why"], *(hint for _, _, hint in question["wrong"] if question["form"] in pages.CARD_FORMS)]
        assert not question.get("rule") or question["rule"] not in held + notebook, "a hunt names its wrong rule"
        for sentence in [each for text in secret for each in re.split(r"(?<=[.!?])\s+", text)]:
            if len(sentence.split()) > pages.SHORT and sentence not in question["say"]:
                assert sentence not in held, question["say"]
                assert json.dumps(sentence, ensure_ascii=False)[1:-1] not in notebook, question["say"]


def test_no_solution_is_in_the_notebook(lesson):
    sources = [cell.source for cell in lesson.book.cells]
    printed = output_text(lesson.cells)
    for cell in lesson.book.cells:
        if COMPLETED & tags_of(cell):
            kept = set(map(str.strip, cell.source.splitlines()))
            written = [line.strip() for line in lesson.right_cell(cell).splitlines() if line.strip() not in kept]
            assert written, f"CELLS has the starter as it is: {cell.source[:60]}"
            for text in [*sources, printed]:
                lines = [line.strip() for line in text.splitlines()]
                assert not set(written) <= set(lines), f"the solution of {cell.source[:60]!r} is in the notebook"


# Every answer to every question --------------------------------------------------------------------------------------


@pytest.mark.browser
def test_cards_accept_right_answers_and_name_wrong_ones(lesson, page):  # noqa: F811 - pytest hands the fixture in
    page.goto(lesson.page.as_uri())
    plans, expected = [], []
    for _, card, questions in lesson.cards:
        tries = [each for question in questions for each in [*wrong_tries(question), right_tries(question)[0]]]
        plans.append(tries)
        expected.append((card, questions))
        others = right_tries(questions[0])[1:]
        plans += [[each] for each in others]
        expected += [(card, questions)] * len(others)
    sent = [{"id": card.id, "mount": card.mount, "tries": [action for action, _ in tries]}
            for tries, (card, _) in zip(plans, expected, strict=True)]  # fmt: skip
    replies = page.evaluate((ROOT / "tests" / "lesson_cards.js").read_text("utf-8").partition("\n")[2], sent)
    for tries, said, (_, questions) in zip(plans, replies, expected, strict=True):
        for (action, wanted), reply in zip(tries, said, strict=True):
            assert wanted in reply, f"{questions[0]['say']!r}: {action} got the reply {reply!r}"
            assert ("✓" in wanted) == ("✓" in reply), f"{questions[0]['say']!r}: {action} got the reply {reply!r}"


def wrong_tries(question: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield wrong answers with a part of what the card must say: named mistakes, and for a text box also nonsense."""
    for texts, typed, hint in question["wrong"]:
        listed = [text for text in texts if question["form"] != "node" or int(text) in question["nodes"]]
        if listed:                        # other nodes are answers in the graph
            yield action_of(question, typed if typed in listed else listed[0]), hint.replace("`", "")
    if question["form"] in TYPED:
        yield from (({"type": text}, " ") for text in NONSENSE)


def right_tries(question: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return the right answer in each of its spellings."""
    form, exact, right = question["form"], question["exact"], question["right"]
    actions = [action_of(question, right[len(right) // 2])]
    if form == "number" and exact is not None and math.isfinite(exact):
        fraction = Fraction(exact).limit_denominator(1000)
        texts = [repr(exact), f"{exact:.5g}", f"{exact:.4f}0".replace(".", ",") if abs(exact) > 1 else repr(exact)]
        texts += [f"{fraction.numerator}/{fraction.denominator}"] if abs(fraction - exact) <= 1e-3 * abs(exact) else []
        actions += [{"type": text} for text in texts]
    if form == "numbers":
        actions += [{"type": str(exact)}, {"type": " ".join(map(str, exact))}]
    if form == "shape" and right[0]:
        actions += [{"type": right[0].replace(",", by)} for by in (" × ", "x", ", ")] + [{"type": f"[{right[0]}]"}]
    return [(action, "✓") for action in actions]


def action_of(question: dict[str, Any], answer: str) -> dict[str, Any]:
    """Return what a reader does to give an answer, which is the text that the page looks up."""
    form = question["form"]
    if form in ("one", "choice"):
        return {"press": int(answer)}
    if form == "node":
        return {"press": question["nodes"].index(int(answer))}
    if form == "several":
        return {"toggle": [int(each) for each in answer.split(",") if each]}
    if form == "step":
        return {"mark": int(answer)}
    if form in ("cell", "cells"):
        indices = [list(map(int, each.split(","))) for each in answer.split(";")]
        places = [at[0] * question["shape"][1] + at[1] if len(at) > 1 else at[0] for at in indices]
        return {"cell": places[0]} if form == "cell" else {"cells": places}
    if form == "shape":
        return {"type": f"({answer}{',' * (',' not in answer and bool(answer))})"}
    if form == "numbers":
        return {"type": answer.replace(" ", ", ")}
    if form == "number" and answer[0] in "+-" and "inf" not in answer:
        return {"type": f"{answer[0]}{math.exp((int(answer[1:]) + 0.5) * question['width'])!r}"}
    return {"type": answer}


# The page without a kernel -------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_the_page_is_accessible_and_answered_by_keyboard_alone(lesson, page):  # noqa: F811 - as above
    turn = int(lesson.number)
    view = (SIZES[turn % len(SIZES)], list(COLOURS)[turn % len(COLOURS)])     # tests/lesson_matrix.py looks at all
    page.emulate_media(reduced_motion="reduce")
    page.goto(lesson.page.as_uri())
    cells = page.locator("main .jp-Cell").all()
    assert len(cells) == len(lesson.cells)
    cards = {index for index, _, _ in lesson.cards}
    spoken = [[cells[i].aria_snapshot()] if outputs_of(cell) and i not in cards else []
              for i, cell in enumerate(lesson.cells)]  # fmt: skip
    assert list(leaks_of(lesson, spoken)) == []
    assert list(find_faults(page, [view])) == []
    for _, card, questions in lesson.cards:
        answer_by_keyboard(page, page.locator(f'[data-mgp="{card.id}"]').first, questions)
    count = len(lesson.cards)
    progress = page.get_by_text("questions answered").last
    assert progress.text_content() == f"{count} of {count} questions answered: {count} right at once."
    page.emulate_media(color_scheme="light", forced_colors="none", reduced_motion="no-preference")


def answer_by_keyboard(page: Any, host: Any, questions: list[dict[str, Any]]) -> None:  # noqa: F811 - as above
    """Answer the questions of a card with keys, beginning at the first place that Tab reaches in it."""
    from playwright.sync_api import expect

    for question in questions:
        action = right_tries(question)[0][0]
        starts = {"type": ".answer", "cell": "[role=gridcell]", "cells": "[role=gridcell]", "mark": ".player"}
        first = starts.get(next(iter(action)), ".choice")
        host.locator(first).first.focus()
        assert page.evaluate(FOCUSED) >= 0, f"Tab does not reach {first} of {question['say']!r}"
        if "type" in action:
            page.keyboard.type(action["type"])
        for key in keys_of(action, question):
            page.keyboard.press(key)
        feedback = host.locator(".card-feedback, .quiz-feedback")
        expect(feedback, question["say"]).to_contain_text("✓" if question is questions[-1] else " ")
        if question is not questions[-1]:
            page.keyboard.press("q")


def keys_of(action: dict[str, Any], question: dict[str, Any]) -> Iterator[str]:
    """Yield the keys that give an answer, after what is typed."""
    if "type" in action:
        yield "Enter"
    elif "press" in action:
        yield str(action["press"] + 1)
    elif "toggle" in action:
        yield from (str(k + 1) for k in action["toggle"])
        yield from ["Tab"] * (len(question["choices"]) - max(action["toggle"], default=0))
        yield "Enter"
    elif "mark" in action:
        yield from ["Home", *["ArrowRight"] * action["mark"], "m"]
    elif "cell" in action:
        yield from keys_over_cells([action["cell"]], question["shape"][-1])
    else:
        yield from [*keys_over_cells(action["cells"], question["shape"][-1]), "Tab", "Enter"]


def keys_over_cells(places: list[int], columns: int) -> Iterator[str]:
    """Yield the keys that go from the first entry of a picture to each of some places, and press it."""
    row = column = 0
    for place in places:
        down, right = place // columns - row, place % columns - column
        yield from ["ArrowDown" if down > 0 else "ArrowUp"] * abs(down)
        yield from ["ArrowRight" if right > 0 else "ArrowLeft"] * abs(right)
        yield "Enter"
        row, column = divmod(place, columns)


FOCUSED = """() => {
    let at = document.activeElement;
    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at.tabIndex;
}"""


def test_the_lecturers_notes_are_those_of_the_lessons():
    assert make_lessons["NOTES"].read_text("utf-8") == make_lessons["lecturers_notes"](), "run make lessons"


def test_the_page_on_exercises_counts_those_of_each_kind(tmp_path, monkeypatch):
    page_of_exercises = make_lessons["page_of_exercises"]
    written = make_lessons["EXERCISES"].read_text("utf-8")
    assert written == page_of_exercises(), "run make lessons"
    other = tmp_path / "exercises.md"
    other.write_text(written.replace("| patient |", "| patients |"), encoding="utf-8")
    monkeypatch.setitem(page_of_exercises.__globals__, "EXERCISES", other)
    with pytest.raises(ValueError, match="needs one row for 'patient'"):
        page_of_exercises()


# What readers answered ------------------------------------------------------------------------------------------------


TRIALS = tomllib.loads((ANSWERS / "trials.toml").read_text("utf-8"))["answers"]
"""First answers of readers who had a lesson's text without its answers: to its last questions, and to recalled ones."""
LEAST_RIGHT = {"end": 0.85, "recall": 0.7}


@pytest.mark.parametrize("name", in_one_worker(sorted({each["lesson"] for each in TRIALS})))
def test_first_answers_of_readers_are_judged_as_in_the_trial(name):
    lesson = lesson_of(name)
    asked = {
        "end": [each for index, _, questions in lesson.cards if index > lesson.headings[-1] for each in questions],
        "recall": [each for each in lesson.questions if RECALL.match(each["say"])],
    }
    for trial in [each for each in TRIALS if each["lesson"] == name]:
        question = asked[trial["part"]][trial["number"] - 1]
        assert accepts(question, trial["answer"]) == trial["right"], trial


@pytest.mark.parametrize("part", LEAST_RIGHT)
def test_readers_answer_most_questions_at_the_first_try(part):
    first = [each["right"] for each in TRIALS if each["part"] == part]
    assert sum(first) >= LEAST_RIGHT[part] * len(first)


def accepts(question: dict[str, Any], answer: str) -> bool:
    """Return whether a card takes an answer that a reader wrote down."""
    if question["form"] in pages.CHOICES:
        parts = [answer] if question["form"] != "several" else answer.split(" and ")
        chosen = [question["choices"].index(each) for each in parts]
        return ",".join(map(str, sorted(chosen))) in question["right"]
    return has_answer(question, answer)


# A lesson that nobody has written yet, and what the tests say to a wrong one ------------------------------------------


TINY = (ROOT / "tests" / "data" / "tiny_lesson.md").read_text("utf-8")
TINY_ANSWERS = '''CELLS = {
    "tanh.x.gaps": """@exercises.answer("tanh.x.gaps")
def tanh_x_gaps(xp, x, out):
    return 1 - out * out
""",
    "neuron.predict.lines": """@exercises.answer("neuron.predict.lines")
def neuron_predict_lines(w, x, b):
    s = w * x + b
    y = np.tanh(s)
    at_s = 1 - y * y
    return at_s * x
""",
    "multiply.a": """@exercises.answer("multiply.a")
def multiply_a(a, b):
    return b
""",
    "# What does a half do to a gradient?": 'sentence = "It halves it."',
}
'''


def tiny_lesson(folder: Path, text: str = TINY) -> Lesson:
    """Write a thirteenth lesson as docs/teaching.md says: one text, and the answers to its cells."""
    (folder / "13_halves.md").write_text(text, encoding="utf-8")
    (folder / "13_halves.py").write_text(TINY_ANSWERS, encoding="utf-8")
    return Lesson(folder / "13_halves.md", folder)


@pytest.fixture(scope="module")
def thirteenth(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    return tiny_lesson(tmp_path_factory.mktemp("thirteenth"))


CHECKS = {name: each for name, each in globals().items()
          if name.startswith("test_") and each.__code__.co_varnames[: each.__code__.co_argcount] == ("lesson",)
          and name != "test_the_notebook_is_what_the_text_makes"}  # fmt: skip


@pytest.mark.xdist_group("lesson 13")
@pytest.mark.parametrize("check", CHECKS)
def test_a_thirteenth_lesson_needs_one_text_alone(thirteenth, check):
    CHECKS[check](thirteenth)


@pytest.mark.browser
@pytest.mark.xdist_group("lesson 13")
def test_the_thirteenth_lesson_is_answered_in_a_browser(thirteenth, page):  # noqa: F811 - as above
    test_cards_accept_right_answers_and_name_wrong_ones(thirteenth, page)
    test_the_page_is_accessible_and_answered_by_keyboard_alone(thirteenth, page)


FAULTS = [
    ("known_tags", "Here is a number", "Many words. " * 500 + "Here is a number"),
    ("known_tags", "tags: [plants]", "tags: [setup]"),
    ("known_tags", "*What does a half do to a gradient?*", "What does a half do to a gradient?"),
    ("known_tags", "## You can now", "```{code-cell}\n1 + 1\n```\n\n" * MOST_CELLS + "## You can now"),
    ("known_tags", "viz.progress()", "1 + 1\n" * MOST_LINES + "viz.progress()"),
    ("something_to_do", "Here is a number", "So many words. " * 30 + "Here is a number"),
    ("something_to_do", "Without the half", "So many words. " * 41 + "Without the half"),
    ("new_terms", "Here is a number", "A rate, a number"),
    ("new_terms", "A *rate* says", "A *rate*, a *pace* and a *speed* say"),
]
"""Faults of the form, which are found without a run: the check, and what is written instead of what."""
FAULTS_OF_A_RUN = [
    ("every_number", "Here is a number", "Here are 97 numbers"),
    ("claims", "would receive 8", "would receive 2"),
    ("gives_no_answer", 'print("x receives", wrong.gradients[0])', 'print("x receives 8.0", 1 / 2, 1 / 4)'),
    ("gives_no_answer", "A *rate* says", "The number one starts it: the number one. A *rate* says"),
    ("plain_text", "A *rate* says", "It sends one half of that. A *rate* says"),
    ("no_solution", "## You can now", "```{code-cell}\ndef other(a, b):\n    return b\n```\n\n## You can now"),
]


FAULTS_OF_NUMBERS = {
    "memory": ("quietly", "501 <= 500", lambda lesson: {
        "starter_run": (lesson.cells, lesson.notes | {"megabytes": MOST_MEGABYTES + 1})}),
    "outputs": ("quietly", "<= 1200000", lambda lesson: {
        "starter_run": ([*lesson.cells, shown_cell("0" * MOST_BYTES)], lesson.notes)}),
    "questions": ("asks_often", ">= 10", lambda lesson: {"questions": lesson.questions[:2]}),
    "kinds": ("asks_often", ">= 5", lambda lesson: {
        "questions": [each | {"kind": "number"} for each in lesson.questions],
        "solution_run": (lesson.cells, lesson.notes | {"kinds": {}})}),
    "recalls": ("asks_often", "a recalled question begins", lambda lesson: {
        "questions": [each | {"say": f"So: {each['say']}"} for each in lesson.questions]}),
    "last questions": ("asks_often", "three exit questions", lambda lesson: {
        "cards": [each for each in lesson.cards if each[0] < lesson.headings[-1]]}),
    "a hunt that names its rule": ("plain_text", "a hunt names its wrong rule", lambda lesson: {
        "questions": [*lesson.questions, lesson.questions[0] | {"rule": "x receives"}]}),
    "no rule worked out": ("worked_out", "worked", lambda lesson: {
        "cells": [cell for cell in lesson.cells if form_of(cell) != "worked"]}),
    "a rule worked out wrongly": ("worked_out", "is worked out, and wrong", lambda lesson: {
        "starter_run": (lesson.cells, lesson.notes | {"replies": lesson.notes["replies"] | {"subtract.b": False}}),
        "notes": lesson.notes | {"replies": lesson.notes["replies"] | {"subtract.b": False}}}),
    "no planted mistake": ("planted_mistake", "assert", lambda lesson: {
        "cells": [nbformat.from_dict(cell | {"outputs": []}) for cell in lesson.cells]}),
}  # fmt: skip
"""Faults of what a run shows: the check, what it says, and what of the lesson is another."""


def shown_cell(text: str) -> Any:
    """Return a cell that has run and printed a text."""
    printed = nbformat.v4.new_output("stream", name="stdout", text=text)
    return nbformat.v4.new_code_cell("print()", outputs=[printed], execution_count=1)


@pytest.mark.xdist_group("lesson 13")
@pytest.mark.parametrize("fault", FAULTS_OF_NUMBERS)
def test_a_fault_of_what_a_run_shows_is_found(thirteenth, fault):
    part, said, change = FAULTS_OF_NUMBERS[fault]
    check_named(part)(thirteenth)
    twin = copy.copy(thirteenth)
    vars(twin).update(change(thirteenth))            # what a lesson computes once is kept there
    with pytest.raises(AssertionError, match=re.escape(said)):
        check_named(part)(twin)


@pytest.mark.browser
@pytest.mark.xdist_group("lesson 13")
def test_a_card_that_no_key_reaches_is_found(thirteenth, page):  # noqa: F811 - as above
    page.goto(thirteenth.page.as_uri())
    index = next(k for k, (_, _, asked) in enumerate(thirteenth.cards) if asked[0]["form"] in TYPED)
    _, card, questions = thirteenth.cards[index]
    host = page.locator(f'[data-mgp="{card.id}"]').first
    host.locator(".answer").first.evaluate("(box) => { box.disabled = true; }")
    with pytest.raises(AssertionError, match="Tab does not reach"):
        answer_by_keyboard(page, host, questions)


def check_named(part: str) -> Any:
    """Return the check whose name has a part."""
    (found,) = [each for name, each in CHECKS.items() if part in name]
    return found


@pytest.mark.parametrize(("part", "right", "wrong"), FAULTS)
def test_a_fault_of_the_form_is_found(tmp_path, part, right, wrong):
    assert right in TINY
    with pytest.raises(AssertionError):
        check_named(part)(tiny_lesson(tmp_path, TINY.replace(right, wrong, 1)))


@pytest.mark.xdist_group("lesson 13")
def test_faults_of_a_run_are_found(tmp_path):
    text = TINY
    for _, right, wrong in FAULTS_OF_A_RUN:
        assert right in text
        text = text.replace(right, wrong, 1)
    faulty = tiny_lesson(tmp_path, text)
    for part in {part for part, _, _ in FAULTS_OF_A_RUN}:
        with pytest.raises(AssertionError):
            check_named(part)(faulty)
    assert len(list(leaks_of(faulty, [texts_of(cell) for cell in faulty.cells]))) == LEAKS


LEAKS = 2
"""Of the faults above, those that give an answer away."""
