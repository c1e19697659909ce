"""Right answers are marked right in all their forms."""

import os

import numpy as np
import pytest

from micrograd_plus import exercises
from micrograd_plus.exercises.sandboxed import carry_out
from right_forms import load_forms

DRAWS = int(os.environ.get("MICROGRAD_PLUS_FORM_DRAWS", "1"))
"""The number of draws on which each right form is tried."""
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


@pytest.mark.parametrize("seed", [4, 24, 42])
def test_an_answer_without_cancellation_is_not_called_numerical(seed):
    exercise = exercises.get_exercise("neuron.predict")
    result = mark_answer(exercise, lambda w, x, b: x / np.cosh(w * x + b) ** 2, seed)
    assert result.flags == []
    assert result.right
