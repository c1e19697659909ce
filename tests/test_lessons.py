"""Every lesson of docs/lessons: its form, its run, and its secrets."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import nbformat
import numpy as np
import pytest

import lesson_pages as pages
from lesson_pages import has_answer, read_host, texts_of_output
from lesson_runs import (
    COMPLETED,
    LESSONS,
    NOTEBOOKS,
    RECALL,
    SOLUTIONS,
    STARTERS,
    Lesson,
    in_one_worker,
    lesson_of,
    make_lessons,
    tags_of,
)  # fmt: skip
from micrograd_plus_viz.quizzes.cards import PLAIN
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

pytestmark = in_one_worker

MOST_WORDS, MOST_CELLS, MOST_LINES = 900, 50, 15
MOST_WORDS_BETWEEN, MOST_CELLS_BETWEEN, FIRST_WITHIN = 120, 4, 90
LEAST_ASKS, LEAST_KINDS, LEAST_RECALLS, LEAST_AT_END = 10, 5, 3, 3
MOST_NEW_TERMS = 2
MOST_BYTES, MOST_MEGABYTES = 1_200_000, 500
CURVES = ("03", "07", "08")
"""Lessons that draw curves with matplotlib."""
DOING = {"ask", "write", "exercise"}
FORMULA = re.compile(r"\$\$?[^$]+\$\$?")
LESSON_NUMBER = re.compile(r"\b0\d\b|(?<=\blesson )\d\d\b")
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
TERM = re.compile(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])")


@pytest.fixture(params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lesson_of(request.param)


# What a text says ----------------------------------------------------------------------------------------------------


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
        assert "notes" in tags_of(cell) or len(cell.source.splitlines()) <= MOST_LINES, cell.source
    titles = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert re.match(r"# [^\n]+\n\n\*[^\n]+\?\*", titles[0]), "the title's next line is the lesson's question in italics"
    assert any("You can now" in each for each in titles)
    assert any("<details>" in each for each in titles), "our sentence follows the reader's own, in <details>"


def test_each_question_has_a_name_that_stays_when_it_is_reworded(lesson):
    asking = [cell for cell in lesson.book.cells if "ask" in tags_of(cell)]
    names = [cell.metadata.get("name") for cell in asking]
    unnamed = [cell.source[:60] for cell in asking if not cell.metadata.get("name")]
    assert unnamed == [], "write :name: into each cell that asks"
    assert len(set(names)) == len(names), names


def test_a_card_says_something_of_its_own_to_any_wrong_answer(lesson):
    for question in lesson.questions:
        if question["form"] in pages.CARD_FORMS:
            known = {text for texts, _, _ in question["wrong"] for text in texts} | set(question["right"])
            is_listed = question["form"] == "one" and known >= set(map(str, range(len(question["choices"]))))
            assert is_listed or question["plain"] not in PLAIN.values(), (
                f"{question['say']!r}: write wrong={{None: '...'}}, what the card says to any other answer")


COUNTED = re.compile(r"\b(one|two|three|four|five|\d)\b (?:is|are|more)\b (missing|too many)?", re.IGNORECASE)


def test_a_hint_to_several_choices_counts_what_is_missing_or_too_many(lesson):
    for question in [each for each in lesson.questions if each["form"] == "several"]:
        right = set(question["right"][0].split(","))
        for texts, typed, hint in question["wrong"]:
            chosen = set(filter(None, typed.split(",")))
            missing, extra = len(right - chosen), len(chosen - right)
            due = [f"{missing} missing"] if not extra else [f"{extra} too many"] if not missing else []
            counted = [f"{count} {what}".lower().replace("one", "1") for count, what in COUNTED.findall(hint)]
            assert counted == due * bool(chosen), (
                f"{question['say']!r} says {hint!r} to {texts}: the card counts, an author does not")


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
    for cells, run in (lesson.starter_run, lesson.solution_run):
        assert all(cell.execution_count for cell in cells if cell.cell_type == "code")
        assert [output.text for cell in cells for output in outputs_of(cell) if output.get("name") == "stderr"] == []
        assert not {"sklearn", "scipy", "torch", "pandas"} & set(run["packages"])
        assert ("matplotlib" in run["packages"]) <= (lesson.number in CURVES)
        assert run["megabytes"] <= MOST_MEGABYTES
        assert len(json.dumps([outputs_of(cell) for cell in cells])) <= MOST_BYTES


LEAVE_TRACES = """import os
import micrograd_plus as mg
print("traces" in globals() or "TRACES" in os.environ or hasattr(mg, "traces"), os.listdir())
traces = mg.traces = os.environ["TRACES"] = "here"
open(traces, "w").close()"""
SHOW_SEED = "print(hash('a'))"


def test_kernels_share_nothing_and_those_of_two_runs_have_two_hash_seeds(tmp_path):
    shown = []
    for number, kernels in enumerate((STARTERS, STARTERS, SOLUTIONS)):
        (tmp_path / str(number)).mkdir()
        book = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, (LEAVE_TRACES, SHOW_SEED))))
        shown.append([output_text([cell]) for cell in run_notebook(book, tmp_path / str(number), kernels).cells])
    assert [found for found, _ in shown] == ["False []\n"] * 3
    assert shown[0][1] != shown[2][1]


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


def test_the_clinic_lets_its_reader_cure_all_eight_patients():
    clinic = lesson_of("08_the_clinic")
    shown = [output_text(cells) for cells in (clinic.cells, clinic.solution_run[0])]
    found = [re.findall(r"(\d), your cure .*; (.+)", text) for text in shown]
    assert found == [[(str(number), state) for number in range(1, 9)] for state in ("not well yet", "well")]
    clues = [re.findall(r"clue: (.+)", text) for text in shown]
    assert [len(each) for each in clues] == [8, 0], "a wrong cure gets a clue"
    assert len(set(clues[0])) == 6, "patients 3, 4 and 5 share one: some of their weights receive 0"


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


def test_no_cell_says_how_to_work_an_answer_out(lesson):
    for cell in [each for each in lesson.book.cells if each.cell_type == "code"]:
        for call in filter(make_lessons["is_question"], ast.walk(ast.parse(cell.source))):
            for shown in [each for each in call.keywords if each.arg in make_lessons["FOLDED"]]:
                code = compile(ast.Expression(shown.value), "<an answer>", "eval")
                with pytest.raises(NameError):         # it needs something from the notebook
                    eval(code, {"np": np, "math": math})  # noqa: S307 - an answer of this course


def test_no_page_holds_a_reason_or_a_hint_in_plain_text(lesson):
    held = " ".join(unescape(lesson.page.read_text("utf-8")).split())
    notebook = " ".join(nbformat.writes(lesson.book).split())
    for question in lesson.questions:
        secret = [question["why"], *(hint for _, _, hint in question["wrong"] if question["form"] in pages.CARD_FORMS)]
        names_rule = "rule" in question and bool(question["rule"]) and question["rule"] in held + notebook
        assert not names_rule, "a hunt names its wrong rule"
        for sentence in [each for text in secret for each in re.split(r"(?<=[.!?])\s+", text)]:
            if len(sentence.split()) > pages.SHORT and sentence not in question["say"]:
                # A failing `not in` would compare the texts line by line, for half a minute.
                is_readable = sentence in held or json.dumps(sentence, ensure_ascii=False)[1:-1] in notebook
                assert not is_readable, question["say"]


def test_no_solution_is_in_the_notebook(lesson):
    sources = [cell.source for cell in lesson.book.cells]
    printed = output_text(lesson.cells)
    for cell in lesson.book.cells:
        if COMPLETED & tags_of(cell):
            kept = set(map(str.strip, cell.source.splitlines()))
            written = [line.strip() for line in lesson.solution_of(cell).splitlines() if line.strip() not in kept]
            assert written, f"the solution is the starter as it is: {cell.source[:60]}"
            for text in [*sources, printed]:
                lines = [line.strip() for line in text.splitlines()]
                assert not set(written) <= set(lines), f"the solution of {cell.source[:60]!r} is in the notebook"


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
