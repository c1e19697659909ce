"""Every question of every lesson: each answer to it on the exported page, and what readers answered."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from browser import chromium, page  # noqa: F401 - fixtures
from lesson_answers import reply_to, right_tries, wrong_tries
from lesson_hints import MOST_TRIES, is_right
from lesson_matrix import COLOURS, SIZES, find_faults
from lesson_runs import ANSWERS, LESSONS, RECALL, ROOT, Lesson, in_one_worker, lesson_of
from micrograd_plus_viz.packing import unpacker
from notebook_runs import outputs_of
from test_lessons import leaks_of

pytestmark = in_one_worker


@pytest.fixture(params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lesson_of(request.param)


@pytest.mark.browser
def test_the_page_answers_each_question_and_is_used_by_keyboard_alone(lesson, page):  # noqa: F811 - a fixture
    page.emulate_media(reduced_motion="reduce")
    page.goto(lesson.page.as_uri())
    check_replies(lesson, page)
    check_access(lesson, page)


def check_replies(lesson: Lesson, page: Any) -> None:  # noqa: F811 - as above
    """Check what the cards of an open page say to right, wrong and unusable answers. The page stays as it was."""
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
    script = (ROOT / "tests" / "lesson_cards.js").read_text("utf-8").partition("\n")[2]
    replies = page.evaluate(script.replace("UNPACKER", unpacker()), sent)
    for tries, said, (_, questions) in zip(plans, replies, expected, strict=True):
        for (action, wanted), reply in zip(tries, said, strict=True):
            assert wanted in reply, f"{questions[0]['say']!r}: {action} got the reply {reply!r}"
            assert ("✓" in wanted) == ("✓" in reply), f"{questions[0]['say']!r}: {action} got the reply {reply!r}"


# The page without a kernel -------------------------------------------------------------------------------------------


def check_access(lesson: Lesson, page: Any) -> None:  # noqa: F811 - as above
    """Check what a screen reader says and what axe finds on an open page, and answer all cards with keys."""
    turn = int(lesson.number)
    view = (SIZES[turn % len(SIZES)], list(COLOURS)[turn % len(COLOURS)])     # tests/lesson_matrix.py looks at all
    cells = page.locator("main .jp-Cell").all()
    assert len(cells) == len(lesson.cells)
    cards = {index for index, _, _ in lesson.cards}
    spoken = [[PROMPT.sub("", cells[i].aria_snapshot())] if outputs_of(cell) and i not in cards else []
              for i, cell in enumerate(lesson.cells)]  # fmt: skip
    assert list(leaks_of(lesson, spoken)) == []
    assert list(find_faults(page, [view])) == []
    for _, card, questions in lesson.cards:
        answer_by_keyboard(page, page.locator(f'[data-mgp="{card.id}"]').first, questions)
    count = len(lesson.cards)
    progress = page.get_by_text("questions answered").last
    assert progress.text_content() == f"{count} of {count} questions answered: {count} right at once."
    page.emulate_media(color_scheme="light", forced_colors="none", reduced_motion="no-preference")


PROMPT = re.compile(r"\b(In|Out) ?\[\d+\]:")
"""The number of a cell, which is nobody's answer."""


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


# What readers answered ------------------------------------------------------------------------------------------------


TRIALS = tomllib.loads((ANSWERS / "trials.toml").read_text("utf-8"))["answers"]
"""First answers of readers who had a lesson's text without its answers: to its last questions, and to recalled ones."""
LEAST_RIGHT = {"end": 0.85, "recall": 0.7}
HINTS = tomllib.loads((ANSWERS / "hints.toml").read_text("utf-8")).get("trials", [])
"""What readers answered after a wrong answer and its hint, and after the hints to their own; tests/lesson_hints.py."""
LEAST_FROM_HINTS = 0.95


def find_question(lesson: Lesson, name: str) -> dict[str, Any]:
    """Return a question of a lesson by its name."""
    return next(each for each in lesson.questions if each["name"] == name)


@pytest.mark.parametrize("name", sorted({each["lesson"] for each in TRIALS}))
def test_first_answers_of_readers_are_judged_as_in_the_trial(name):
    lesson = lesson_of(name)
    at_end = {each["name"] for index, _, asked in lesson.cards if index > lesson.headings[-1] for each in asked}
    for trial in [each for each in TRIALS if each["lesson"] == name]:
        question = find_question(lesson, trial["question"])
        assert question["name"] in at_end if trial["part"] == "end" else RECALL.match(question["say"])
        assert (not reply_to(question, trial["answer"])) == trial["right"], trial


@pytest.mark.parametrize("part", LEAST_RIGHT)
def test_readers_answer_most_questions_at_the_first_try(part):
    first = [each["right"] for each in TRIALS if each["part"] == part]
    assert sum(first) >= LEAST_RIGHT[part] * len(first)


@pytest.mark.parametrize("name", LESSONS)
def test_hints_of_cards_lead_readers_to_the_right_answer(name):
    lesson = lesson_of(name)
    trials = [each for each in HINTS if each["lesson"] == name and "question" in each]
    missed = []
    for trial in trials:
        question = find_question(lesson, trial["question"])
        assert reply_to(question, trial["wrong"]), trial
        missed += [trial] * all(reply_to(question, each) for each in trial["tries"][:MOST_TRIES])
    assert len(missed) <= (1 - LEAST_FROM_HINTS) * len(trials), missed


@pytest.mark.parametrize("name", LESSONS)
def test_hints_of_exercises_lead_readers_to_the_right_rule(name):
    trials = [each for each in HINTS if each["lesson"] == name and "exercise" in each]
    missed = []
    for trial in trials:
        assert not is_right(trial["exercise"], trial["wrong"]), trial
        missed += [trial] * (not any(is_right(trial["exercise"], each) for each in trial["tries"][:MOST_TRIES]))
    assert len(missed) <= (1 - LEAST_FROM_HINTS) * len(trials), missed
