"""The catalogue of exercises: each passes its own checks, and every known mistake is caught and named."""

import os

import numpy as np
import pytest

import language
from micrograd_plus import exercises
from micrograd_plus.checks import museum
from micrograd_plus.core.define import operations
from micrograd_plus.exercises import authoring
from micrograd_plus.exercises.mistakes import catalogue, compile_code, edit_source
from micrograd_plus.exercises.rule_answers import combine
from micrograd_plus.exercises.spec import GROUPS, KINDS
from work_counts import count_calls

DRAWS = int(os.environ.get("MICROGRAD_PLUS_DRAWS", "5"))
ALL = exercises.list_exercises()
EACH = [pytest.param(each, id=each.id) for each in ALL]


def exercise_of(exhibit):
    """Return the exercise to which an exhibit is a wrong answer."""
    served = [name for inputs in exhibit.rules for name in inputs if exhibit.op.has_rule_for(name)]
    return exercises.get_exercise(f"{exhibit.op.name}.{'+'.join(served)}")


RIGHT_FOR_PROBABILITIES = "targets taken to add up to one"
"""An exhibit that no exercise shows, since the targets of its exercise are probabilities."""
EXHIBITS = [each for each in museum.exhibits if each.promise == museum.DIFFERENCES and each.op.name in operations
            and each.name != RIGHT_FOR_PROBABILITIES]  # fmt: skip
RULES = [f"{op.name}.{'+'.join(rule.inputs)}" for op in operations.values() for rule in op.rules]


def mark_answer(exercise, thing, seed):
    """Return the result of an answer."""
    return authoring.try_answer(exercise, thing, seed)[1]


# The catalogue --------------------------------------------------------------------------------------------------------


def test_the_catalogue_has_every_kind_in_six_groups():
    assert len(ALL) >= 48
    assert {each.group for each in ALL} == set(GROUPS)
    assert {each.kind for each in ALL} == set(KINDS)
    assert len({each.function_name for each in ALL}) == len(ALL)


UNLISTED = {each.id: each for each in map(exercise_of, EXHIBITS) if each.id not in {listed.id for listed in ALL}}
"""Exercises that are made for an exhibit, and that the catalogue does not list."""


@pytest.mark.parametrize("exercise", [*EACH, *(pytest.param(each, id=name) for name, each in UNLISTED.items())])
def test_an_exercise_passes_its_own_checks(exercise):
    """Its right answer is right on every draw, and each known mistake is caught and named, and reveals no answer."""
    authoring.prove(exercise, DRAWS)
    assert exercise.prompt
    assert exercise.title
    assert exercise.points == pytest.approx(10, abs=0.05)


@pytest.mark.parametrize("exercise", EACH)
def test_a_check_calls_fewer_than_three_million_functions(exercise):
    answer = exercise.right if exercise.namespace is None else None
    assert count_calls(lambda: exercises.check(exercise, answer)) < 3_000_000


def test_any_rule_of_the_engine_is_an_exercise():
    left_out, wrong = [], []
    for name in RULES:
        try:
            exercise = exercises.get_exercise(name)
        except ValueError:
            left_out.append(name)
            continue
        wrong += [name for seed in range(2) if not mark_answer(exercise, exercise.right, seed).right]
    assert not wrong
    assert set(left_out) <= {"astype.x", "irfft.x"}  # they have no sample of plain real numbers


def test_the_batch_of_a_network_is_not_always_two():
    """Else an average over the batch is named as a factor of one half."""
    for exercise in ALL:
        cases = [case.request["arguments"] for case in exercise.cases(0) if case.part == "plain values"]
        batches = {np.shape(each["upstream"])[0] for each in cases if np.ndim(each.get("upstream")) > 1}
        if exercise.kind == "rule" and exercise.group in GROUPS[2:5]:
            assert batches != {2}, exercise.id


def test_an_unknown_id_raises_with_similar_ids():
    with pytest.raises(KeyError, match=r"no exercise 'engine\.ordr'.*did you mean 'engine\.order'"):
        exercises.get_exercise("engine.ordr")
    with pytest.raises(KeyError, match=r"solve has one rule for a, b: the exercise is solve\.a\+b"):
        exercises.get_exercise("solve.a")
    with pytest.raises(KeyError, match=r"tanh has no rule for 'y'; it has tanh\.x"):
        exercises.get_exercise("tanh.y")


# Known mistakes -------------------------------------------------------------------------------------------------------


def test_every_catalogued_mistake_belongs_to_an_exercise():
    numbered = {name for name in catalogue() if name.startswith("M")}
    known = {mistake.id for exercise in ALL for mistake in exercise.mistakes}
    known |= {mistake.id for exhibit in EXHIBITS for mistake in exercise_of(exhibit).mistakes}
    assert len(numbered) == 92
    assert numbered <= known, sorted(numbered - known)


def test_every_wrong_answer_names_something_that_exists():
    titles, ids = {exhibit.title for exhibit in museum.exhibits}, {each.id for each in ALL}
    for name, row in catalogue().items():
        assert row.title
        assert 2 <= len(row.hints) <= 3, name
        for wrong in row.wrong:
            assert wrong.keys() in ({"exhibit"}, {"rule", "code"}, {"exercise", "code"}, {"exercise", "replace", "by"})
            assert wrong.get("exhibit") in titles | {None}, name
            assert wrong.get("rule") in {*RULES, None}, name
            assert wrong.get("exercise") in ids | {None}, name


def test_hints_and_prompts_are_written_in_plain_english():
    """tests/test_language.py reads only files; these texts are built from tables."""
    texts = [text for row in catalogue().values() for text in (row.title, *row.hints)]
    texts += [text for exercise in ALL for text in (exercise.title, exercise.prompt)]
    sentences = [sentence for text in texts for _, sentence in language.split_sentences(text)]
    marked = [sentence for sentence in sentences if language.markers_in(sentence)]
    assert len(marked) <= 0.04 * len(sentences), "\n".join(marked)


def test_an_edit_must_occur_once_in_the_right_answer():
    right = exercises.get_exercise("engine.accumulate").right
    assert edit_source(right, "+=", "=", "M1").__name__ == "backward"
    with pytest.raises(ValueError, match="'parents' must occur exactly once"):
        edit_source(right, "parents", "children", "M1")


def test_code_becomes_a_function_of_the_readable_names_in_it():
    wrong = compile_code("2 * x + np.sin(y)", ["x", "y", "z"], {"np": np}, "example")
    assert wrong.__code__.co_varnames == ("x", "y")
    assert wrong(1.0, 0.0) == 2
    body = compile_code("total = x\nreturn total + 1", ["x", "y"], {}, "example")
    assert body(1) == 2


def test_every_exhibit_is_a_mistake_of_some_exercise():
    titles = {mistake.title for exercise in [*ALL, *map(exercise_of, EXHIBITS)] for mistake in exercise.mistakes}
    left = [each for each in museum.exhibits if each.name not in titles and each.promise != museum.SECOND]
    assert [each.name for each in left] == [RIGHT_FOR_PROBABILITIES]


@pytest.mark.parametrize("exhibit", [pytest.param(each, id=each.title) for each in EXHIBITS])
def test_a_submitted_exhibit_gets_its_own_name(exhibit):
    exercise = exercise_of(exhibit)
    mistake = next(each for each in exercise.mistakes if each.title == exhibit.name)
    result = mark_answer(exercise, mistake.wrong_answer, 3)
    assert not result.right
    assert result.mistake.title == exhibit.name


@pytest.mark.parametrize("exhibit", [
    pytest.param(each, id=each.title) for each in museum.exhibits if each.promise == museum.SECOND
])  # fmt: skip
def test_a_wrong_second_order_rule_gets_its_own_name(exhibit):
    ((inputs, wrong),) = exhibit.rules.items()
    op = exhibit.op
    exercise = exercises.get_exercise(f"{op.name}.{'+'.join(inputs)}.twice")
    result = mark_answer(exercise, combine(op, inputs, [(inputs, wrong)]), 3)
    assert [part["points"] == part["of"] for part in result.parts] == [True, True, True, False]
    assert result.mistake.title == exhibit.name
    assert mark_answer(exercise, exercise.right, 3).right
