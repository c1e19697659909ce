"""A lesson that nobody has written yet, and what the tests of lessons say to a wrong one."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import test_lesson_cards as cards_tests
import test_lessons as tests
from browser import chromium, page  # noqa: F401 - fixtures
from lesson_answers import TYPED
from lesson_runs import ROOT, Lesson, in_one_worker, make_lessons
from micrograd_plus_viz.quizzes.cards import PLAIN
from micrograd_plus_viz.quizzes.folded_texts import fold, unfold
from test_lessons import MOST_BYTES, MOST_CELLS, MOST_LINES, MOST_MEGABYTES, form_of, leaks_of, texts_of

pytestmark = in_one_worker

TINY = (ROOT / "tests" / "data" / "tiny_lesson.md").read_text("utf-8")


def tiny_lesson(folder: Path, text: str = TINY) -> Lesson:
    """Write a thirteenth lesson as docs/teaching.md says: one text."""
    (folder / "13_halves.md").write_text(text, encoding="utf-8")
    return Lesson(folder / "13_halves.md")


@pytest.fixture(scope="module")
def thirteenth(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    return tiny_lesson(tmp_path_factory.mktemp("thirteenth"))


CHECKS = {name: each for name, each in vars(tests).items()
          if name.startswith("test_") and each.__code__.co_varnames[: each.__code__.co_argcount] == ("lesson",)
          and name != "test_the_notebook_is_what_the_text_makes"}  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
def test_a_thirteenth_lesson_needs_one_text_alone(thirteenth, check):
    CHECKS[check](thirteenth)


@pytest.mark.browser
def test_the_thirteenth_lesson_is_answered_in_a_browser(thirteenth, page):  # noqa: F811 - as above
    cards_tests.test_the_page_answers_each_question_and_is_used_by_keyboard_alone(thirteenth, page)


FAULTS = [
    ("known_tags", "Here is a number", "Many words. " * 500 + "Here is a number"),
    ("known_tags", "tags: [plants]", "tags: [setup]"),
    ("known_tags", "*What does a half do to a gradient?*", "What does a half do to a gradient?"),
    ("known_tags", "## You can now", "```{code-cell}\n1 + 1\n```\n\n" * MOST_CELLS + "## You can now"),
    ("known_tags", "viz.progress()", "1 + 1\n" * MOST_LINES + "viz.progress()"),
    ("has_a_name", ":name: a-half\n", ""),
    ("has_a_name", ":name: gradient-of-x", ":name: a-half"),
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
    "a hint for all": ("any_wrong_answer", "write wrong={None", lambda lesson: {
        "questions": [each | {"plain": PLAIN["number"]} for each in lesson.questions]}),
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


@pytest.mark.parametrize("fault", FAULTS_OF_NUMBERS)
def test_a_fault_of_what_a_run_shows_is_found(thirteenth, fault):
    part, said, change = FAULTS_OF_NUMBERS[fault]
    check_named(part)(thirteenth)
    twin = copy.copy(thirteenth)
    vars(twin).update(change(thirteenth))            # what a lesson computes once is kept there
    with pytest.raises(AssertionError, match=re.escape(said)):
        check_named(part)(twin)


@pytest.mark.browser
def test_a_card_that_no_key_reaches_is_found(thirteenth, page):  # noqa: F811 - as above
    page.goto(thirteenth.page.as_uri())
    index = next(k for k, (_, _, asked) in enumerate(thirteenth.cards) if asked[0]["form"] in TYPED)
    _, card, questions = thirteenth.cards[index]
    host = page.locator(f'[data-mgp="{card.id}"]').first
    host.locator(".answer").first.evaluate("(box) => { box.disabled = true; }")
    with pytest.raises(AssertionError, match="Tab does not reach"):
        cards_tests.answer_by_keyboard(page, host, questions)


def check_named(part: str) -> Any:
    """Return the check whose name has a part."""
    (found,) = [each for name, each in CHECKS.items() if part in name]
    return found


@pytest.mark.parametrize(("part", "right", "wrong"), FAULTS)
def test_a_fault_of_the_form_is_found(tmp_path, part, right, wrong):
    assert right in TINY
    with pytest.raises(AssertionError):
        check_named(part)(tiny_lesson(tmp_path, TINY.replace(right, wrong, 1)))


SOLUTION = """```{code-cell}
:tags: [notes]

@exercises.answer("multiply.a")
def multiply_a(a, b):
    return b
```
"""


@pytest.mark.parametrize(("right", "wrong", "said"), [
    (SOLUTION, f"{SOLUTION}\n{SOLUTION}", "is the solution of the cell before"),
    (SOLUTION, "", "a cell to complete needs its solution in the next cell"),
    ("tags: [plants]", "tags: [plant]", "unknown tag 'plant'"),
])  # fmt: skip
def test_a_fault_of_tags_is_named(right, wrong, said):
    assert TINY.count(right) == 1
    with pytest.raises(ValueError, match=re.escape(said)):
        make_lessons["read_lesson"](TINY.replace(right, wrong))


def test_a_set_is_folded_alike_in_every_process():
    assert list({0, 8}) != list({8, 0})
    assert fold({"right": {0, 8}, "wrong": {(1,): "no"}}) == fold({"right": {8, 0}, "wrong": {(1,): "no"}})
    assert unfold(fold([{8, 0}, (1,), {"a": None}])) == [{0, 8}, (1,), {"a": None}]


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
