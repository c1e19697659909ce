"""Patients: trainings that fail. The student names the test that shows it, and cures the training in three lines."""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backends import devices
from ..compare import Wrong
from ..mistakes import run_source
from ..spec import GROUPS, Case, Exercise, Mistake, Part

np = devices.device("cpu").library
GROUP = GROUPS[5]

TESTS = (
    "the error has the shape of `y`",
    "at the first step, the gradient of each weight has an entry that is not 0",
    "at the second step, the gradient is the same as one computed afresh at these weights",
    "after one step with a hundredth of the rate, the loss is smaller",
    "after 30 steps, the loss is finite and smaller than at the start",
)
"""The tests from which students choose. A patient passes all those before the one that shows its illness."""
PARTS = (
    Part("the test", 1, "it is the first test that fails"),
    Part("the cure", 9, "the cured training learns, and at most three lines have changed"),
)
MOST_CHANGED = 3
LEARNED = 0.15
"""The fraction of the targets' variance that may remain as error after the cure."""


def target(x: Any) -> Any:
    """Return what the network should learn."""
    return np.sin(2 * x[:, 0]) + x[:, 1]


def plane(x: Any) -> Any:
    """Return what a linear model should learn."""
    return 2 * x[:, 0] - x[:, 1] + 0.5


NETWORK = """\
rng = np.random.default_rng(0)
w1, b1 = rng.normal(size=(2, 8)), np.zeros(8)
w2, b2 = rng.normal(size=(8, 1)) / 3, np.zeros(1)
for _ in range(steps):
    h = np.tanh(x @ w1 + b1)
    error = (h @ w2 + b2)[:, 0] - y
    up = 2 / len(y) * error[:, None]
    back = up @ w2.T * (1 - h * h)
    w2, b2 = w2 - rate * h.T @ up, b2 - rate * up.sum(axis=0)
    w1, b1 = w1 - rate * x.T @ back, b1 - rate * back.sum(axis=0)
return test, lambda points: (np.tanh(points @ w1 + b1) @ w2 + b2)[:, 0]"""
LINEAR = """\
w, b = np.zeros((2, 1)), np.zeros(1)
for _ in range(steps):
    error = (x @ w + b)[:, 0] - y
    up = 2 / len(y) * error.reshape(len(y), -1).mean(axis=1, keepdims=True)
    w, b = w - rate * x.T @ up, b - rate * up.sum(axis=0)
return test, lambda points: (points @ w + b)[:, 0]"""
SUMS = """\
w, b = np.zeros(2), 0.0
for _ in range(steps):
    w_grad, b_grad = np.zeros(2), 0.0
    error = x @ w + b - y
    w_grad += 2 / len(y) * x.T @ error
    b_grad += 2 / len(y) * error.sum()
    w, b = w - rate * w_grad, b - rate * b_grad
return test, lambda points: points @ w + b"""


def patient_exercise(
    id: str, title: str, healthy: str, edits: Sequence[tuple[str, str]], *, test: int, truth: Any, rate: float,
    steps: int, hints: tuple[str, str, str],
) -> Exercise:  # fmt: skip
    """Return the exercise of a patient: a healthy training with edits that make it ill.

    `test` is the number of the test that shows the illness, `hints` lead to the cure.
    """
    ill = healthy
    for old, new in edits:
        if ill.count(old) != 1:
            raise ValueError(f"{id}: {old!r} must occur exactly once")
        ill = ill.replace(old, new)
    name = id.replace(".", "_")

    def draw(rng: Any) -> list[Case]:
        x, points = rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, (30, 2))
        request = {"driver": "patient", "functions": [], "answers": ["test", "predictions"],
                   "arguments": {"x": x, "y": truth(x), "rate": rate, "steps": steps, "points": points,
                                 "lines": ill.splitlines(), "most": MOST_CHANGED}}  # fmt: skip
        shapes = {"test": (), "predictions": (30,)}
        return [Case(part.name, "the training is run", dict(request), shapes=shapes) for part in PARTS]

    def judge(case: Any, right: dict[str, Any], values: dict[str, Any]) -> Wrong | None:
        if case.part == PARTS[0].name:
            right_test = values["test"].shape == () and values["test"] == test
            return None if right_test else Wrong("test", "another test fails first", "test")
        if values["predictions"].shape != (30,):
            return Wrong("shape", f"the predictions have shape {values['predictions'].shape}, not (30,)", "predictions")
        aim = truth(case.request["arguments"]["points"])
        with np.errstate(all="ignore"):
            error = float(np.mean((values["predictions"] - aim) ** 2))
        if error <= LEARNED * np.var(aim):
            return None
        return Wrong("ill", "the training still does not learn", "predictions")

    def make(body: str, number: int) -> Any:
        text = f"def {name}(x, y, rate, steps):\n    test = {number}\n" + "".join(
            f"    {line}\n" for line in body.splitlines())  # fmt: skip
        return run_source(text, name, {"np": np}, f"{id}, {number}, {len(body)}")

    lines = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(TESTS, start=1))
    question = ("Which of the tests looks at exactly that?", "Do the tests one by one, from the first, by hand.",
                "Print the shapes, the gradients and the loss of the first two steps.")  # fmt: skip
    return Exercise(
        id, kind="patient", group=GROUP, title=title, parts=PARTS, draw=draw, right=make(healthy, test),
        judge=judge, reads=("x", "y", "rate", "steps"),
        prompt=f"This training fails. Which of these tests is the first that it does not pass?\n\n{lines}\n\nWrite the "
               f"number of the test, and cure the training: change at most {MOST_CHANGED} lines. Predictions for new "
               f"points are then compared with the truth.",
        starter="import numpy as np\n\n\n"
                f'@exercises.answer("{id}")\ndef {name}(x, y, rate, steps):\n    """Train, and return the number of '
                'the test and the trained function."""\n    test = None  # YOUR ANSWER instead of None\n'
                + "".join(f"    {line}\n" for line in ill.splitlines()),
        mistakes=[Mistake("patient", "the illness is still there", hints, make(ill, test)),
                  Mistake("patient", "another test shows it", question, make(healthy, test % len(TESTS) + 1))],
    )  # fmt: skip


EXERCISES = [
    patient_exercise(
        "columns.patient", "a loss that settles too high", LINEAR, [("(x @ w + b)[:, 0] - y", "x @ w + b - y")],
        test=1, truth=plane, rate=0.3, steps=200,
        hints=("How many errors should there be for 40 points?", "A column minus a row is a whole matrix.",
               "Make the prediction an array of one axis before y is subtracted."),
    ),
    patient_exercise(
        "zeros.patient", "a network that does not start", NETWORK,
        [("rng.normal(size=(2, 8))", "np.zeros((2, 8))"), ("rng.normal(size=(8, 1)) / 3", "np.zeros((8, 1))")],
        test=2, truth=target, rate=0.3, steps=1500,
        hints=("What is the gradient of w1 if w2 is 0?", "With zeros in both layers, only the last bias can move.",
               "Start from random numbers, which differ from unit to unit."),
    ),
    patient_exercise(
        "sums.patient", "a training that swings", SUMS,
        [("w, b = np.zeros(2), 0.0\nfor", "w, b, w_grad, b_grad = np.zeros(2), 0.0, np.zeros(2), 0.0\nfor"),
         ("    w_grad, b_grad = np.zeros(2), 0.0\n    error", "    error")],
        test=3, truth=plane, rate=0.3, steps=200,
        hints=("What is in w_grad when the second step begins?", "Each step uses the sum of all earlier gradients.",
               "Clear the gradients at the beginning of each step."),
    ),
    patient_exercise(
        "uphill.patient", "a loss that grows", SUMS, [("w - rate * w_grad, b - rate", "w + rate * w_grad, b + rate")],
        test=4, truth=plane, rate=0.1, steps=200,
        hints=("Which way does the loss fall?", "The gradient points to where the loss grows.",
               "Subtract the rate times the gradient."),
    ),
    patient_exercise(
        "hot.patient", "a loss that explodes", SUMS, [("2 / len(y) * x.T @ error", "2 * x.T @ error")],
        test=5, truth=plane, rate=0.3, steps=200,
        hints=("How does the step grow with the number of points?", "A sum over 40 points is 40 times their mean.",
               "Divide the gradient of w by the number of points, too."),
    ),
]  # fmt: skip
