"""Patients: trainings that fail. The student names the test that shows it, and cures the training in three lines."""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from ...backends import devices
from ..compare import Wrong
from ..mistakes import run_source
from ..spec import GROUPS, Case, Exercise, Mistake, Part
from .builders import all_of_kind

np = devices.device("cpu").library
GROUP = GROUPS[5]

TESTS = (
    "the error has the shape of `y`",
    "at the first step, each entry of each gradient is finite",
    "at the first step, the gradient of each weight has an entry that is not 0",
    "at the first step, the norm of no weight's gradient is more than 1,000 times that of another's",
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
w1, b1 = rng.normal(size=(2, 16)), np.zeros(16)
w2, b2 = rng.normal(size=(16, 1)) / 4, np.zeros(1)
for _ in range(steps):
    z = x @ w1 + b1
    h = bend(z)
    up = 2 / len(y) * ((h @ w2 + b2)[:, 0] - y)[:, None]
    back = up @ w2.T * slope(z, h)
    gradients = [x.T @ back, back.sum(axis=0), h.T @ up, up.sum(axis=0)]
    for weight, gradient in zip([w1, b1, w2, b2], gradients):
        weight -= rate * gradient
return test, lambda points: (bend(points @ w1 + b1) @ w2 + b2)[:, 0]"""
DEEP = """\
rng = np.random.default_rng(0)
sizes = [2] + [16] * 10 + [1]
weights = [rng.normal(size=size) / np.sqrt(size[0]) for size in zip(sizes, sizes[1:])]
for _ in range(steps):
    layers, sums = [x], [x]
    for w in weights[:-1]:
        sums.append(layers[-1] @ w)
        layers.append(bend(sums[-1]))
    back = 2 / len(y) * ((layers[-1] @ weights[-1])[:, 0] - y)[:, None]
    for k in reversed(range(len(weights))):
        gradient = layers[k].T @ back
        back = back @ weights[k].T * slope(sums[k], layers[k])
        weights[k] -= rate * gradient

def trained(points):
    for w in weights[:-1]:
        points = bend(points @ w)
    return (points @ weights[-1])[:, 0]

return test, trained"""
GATES = """\
def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

rng = np.random.default_rng(0)
w1, b1 = 2 * rng.normal(size=(2, 16)), np.full(16, 1000.0)
w2 = rng.normal(size=(16, 1))
for _ in range(steps):
    share = softmax(x @ w1 + b1)
    up = 2 / len(y) * ((share @ w2)[:, 0] - y)[:, None]
    back = up @ w2.T
    back = share * (back - np.sum(share * back, axis=1, keepdims=True))
    w2 = w2 - rate * share.T @ up
    w1, b1 = w1 - rate * x.T @ back, b1 - rate * back.sum(axis=0)
return test, lambda points: (softmax(points @ w1 + b1) @ w2)[:, 0]"""
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


TANH = ("np.tanh(z)", "1 - h * h")
RELU = ("np.maximum(z, 0)", "z > 0")
ROOT = ("np.sqrt(np.maximum(z, 0))", "np.where(z > 0, 0.5 / np.sqrt(np.where(z > 0, z, 1)), 0)")
"""Hidden functions, each with its slope."""


def define_bend(training: str, function: tuple[str, str]) -> str:
    """Return a training whose hidden units use a function."""
    bend, slope = function
    return f"def bend(z):\n    return {bend}\n\ndef slope(z, h):\n    return {slope}\n\n{training}"


STILL_ILL = "the failing test would still fail: the changed lines are not its cause"


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
        text = f"def {name}(x, y, rate, steps):\n    test = {number}\n" + textwrap.indent(f"{body}\n", "    ")
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
                + textwrap.indent(f"{ill}\n", "    "),
        mistakes=[Mistake("patient", STILL_ILL, hints, make(ill, test), all_of_kind("ill")),
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
        "zeros.patient", "a network that does not start", define_bend(NETWORK, TANH),
        [("rng.normal(size=(2, 16))", "np.zeros((2, 16))"), ("rng.normal(size=(16, 1)) / 4", "np.zeros((16, 1))")],
        test=3, truth=target, rate=0.3, steps=1500,
        hints=("What is the gradient of w1 if w2 is 0?", "With zeros in both layers, only the last bias can move.",
               "Start from random numbers, which differ from unit to unit."),
    ),
    patient_exercise(
        "sums.patient", "a training that swings", SUMS,
        [("w, b = np.zeros(2), 0.0\nfor", "w, b, w_grad, b_grad = np.zeros(2), 0.0, np.zeros(2), 0.0\nfor"),
         ("    w_grad, b_grad = np.zeros(2), 0.0\n    error", "    error")],
        test=5, truth=plane, rate=0.3, steps=200,
        hints=("What is in w_grad when the second step begins?", "Each step uses the sum of all earlier gradients.",
               "Clear the gradients at the beginning of each step."),
    ),
    patient_exercise(
        "uphill.patient", "a loss that grows", SUMS, [("w - rate * w_grad, b - rate", "w + rate * w_grad, b + rate")],
        test=6, truth=plane, rate=0.1, steps=200,
        hints=("Which way does the loss fall?", "The gradient points to where the loss grows.",
               "Subtract the rate times the gradient."),
    ),
    patient_exercise(
        "hot.patient", "a loss that explodes", SUMS, [("2 / len(y) * x.T @ error", "2 * x.T @ error")],
        test=7, truth=plane, rate=0.3, steps=200,
        hints=("How does the step grow with the number of points?", "A sum over 40 points is 40 times their mean.",
               "Divide the gradient of w by the number of points, too."),
    ),
    patient_exercise(
        "overflow.patient", "a loss that is not a number", GATES,
        [("np.exp(z - z.max(axis=1, keepdims=True))", "np.exp(z)")], test=2, truth=target, rate=0.5, steps=500,
        hints=("How large is exp(1000) in a computer?", "Infinity divided by infinity is no number.",
               "Subtract the largest entry of each row before exp: no share changes."),
    ),
    patient_exercise(
        "branch.patient", "a number from the branch that was not taken", define_bend(NETWORK, ROOT),
        [(ROOT[1], "(z > 0) * 0.5 / np.sqrt(np.maximum(z, 0))")], test=2, truth=target, rate=0.1, steps=500,
        hints=("What is the slope of a unit whose sum is below 0, as the line computes it?",
               "0 divided by 0 is no number, and no factor makes it one again.",
               "Replace the sums that are not above 0 before you divide, and choose afterwards."),
    ),
    patient_exercise(
        "dead.patient", "units that never wake up", define_bend(NETWORK, RELU), [("np.zeros(16)", "np.full(16, -9.0)")],
        test=3, truth=target, rate=0.1, steps=500,
        hints=("For how many points is the sum of a hidden unit above 0?",
               "If z is below 0 for each point, the slope is 0.",
               "Start where some units are awake for some points."),
    ),
    patient_exercise(
        "sigmoids.patient", "ten layers, and the first hardly moves", define_bend(DEEP, TANH),
        [(TANH[0], "1 / (1 + np.exp(-z))"), (TANH[1], "h * (1 - h)")], test=4, truth=target, rate=0.1, steps=500,
        hints=("How large can the slope of the sigmoid function be?", "Ten slopes of at most 1/4 are multiplied.",
               "Take a function whose slope is 1 at 0, and its slope."),
    ),
    patient_exercise(
        "frozen.patient", "weights that stay as they are", define_bend(NETWORK, TANH),
        [("weight -= rate * gradient", "weight = weight - rate * gradient")], test=6, truth=target, rate=0.3, steps=500,
        hints=("Which weights differ after a step?", "The new array gets the name `weight`. Who else sees it?",
               "Change the array itself, in place."),
    ),
    patient_exercise(
        "gain.patient", "a loss of millions",
        define_bend(DEEP, RELU).replace("/ np.sqrt(size[0])", "* np.sqrt(2 / size[0])"),
        [("* np.sqrt(2 / size[0])", "* 3 / np.sqrt(size[0])")], test=6, truth=target, rate=0.05, steps=500,
        hints=("How does the size of the sums change from layer to layer?", "Ten layers multiply it ten times.",
               "Choose the size of the first weights so that the size of the sums stays."),
    ),
]  # fmt: skip
