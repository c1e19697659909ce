"""Right answers are marked right in all their forms, and forged answers earn at most the point for the shape."""

import os

import numpy as np
import pytest

from micrograd_plus import exercises
from micrograd_plus.exercises.mark import mark
from micrograd_plus.exercises.sandboxed import carry_out
from right_forms import load_forms

DRAWS = int(os.environ.get("MICROGRAD_PLUS_FORM_DRAWS", "1"))
"""The number of draws on which each right form is tried."""
STRIDE = 1 if os.environ.get("MICROGRAD_PLUS_ALL_MISTAKES") else 32
FORMS = load_forms()


def mark_answer(exercise, answer, seed):
    cases = exercise.cases(seed)
    return exercise.mark(cases, [carry_out(answer, case.request) for case in cases])


def test_right_answers_are_right_in_every_form(capsys):
    wrong = []
    for name, answer, code in FORMS:
        for seed in range(DRAWS):
            result = mark_answer(exercises.get_exercise(name), answer, seed)
            if not result.right:
                wrong.append((name, code, seed, result.points, result.flags, result.first_wrong))
    with capsys.disabled():
        print(f"\n{len(FORMS) * DRAWS - len(wrong)} of {len(FORMS) * DRAWS} right")  # noqa: T201 - N of N
    assert len(FORMS) >= 150
    assert not wrong


# Forged answers -------------


FILLS = (np.nan, np.inf, -np.inf, 0.5, -0.25, 7.0, 1e-300, 1e300, 3.0, -2.0)


def forge_answers(case):
    """Yield answers that know nothing: constants, what was passed in, and noise, in several precisions."""
    arguments, expects = case.request["arguments"], case.expects
    shapes = expects.get("shapes", {})

    def send(make):
        return lambda: {name: make(shape) for name, shape in shapes.items()}

    for precision in ("f8", "f4", "f2"):
        for fill in FILLS:
            yield send(lambda shape, fill=fill, precision=precision: np.full(shape, fill).astype(precision))
    rng = np.random.default_rng(0)
    yield send(rng.standard_normal)
    yield send(lambda shape: rng.standard_normal(shape).astype("f4"))
    yield send(lambda shape: np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1.0)
    yield send(lambda shape: np.where(rng.random(shape) < 0.5, np.nan, 1.0))
    for value in [value for name, value in arguments.items() if name != "upstream"][:6]:
        yield lambda value=value: value if isinstance(value, np.ndarray) else float("nan")


def is_worth(exercise, cases, forgeries):
    """Return the points of one forged answer for each case."""
    outcomes = [carry_out(forge, case.request) for forge, case in zip(forgeries, cases, strict=True)]
    return mark(exercise, cases, outcomes, diagnose=False)


RULES = [each for each in exercises.list_exercises() if each.kind == "rule" and "." in each.id]


@pytest.mark.parametrize("exercise", RULES[::STRIDE], ids=lambda exercise: exercise.id)
def test_forged_answers_earn_at_most_the_shape(exercise):
    cases = exercise.cases(1)
    with np.errstate(all="ignore"):
        for forgeries in zip(*map(list, map(forge_answers, cases)), strict=False):
            result = is_worth(exercise, cases, forgeries)
            assert result.points <= 1.5 or result.right, (result.points, result.flags)
