"""Asking what a step will send, and telling from a wrong number which mistake it comes from: the walk is made again
with each mistake that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..backends import devices
from ..core.define import operations
from ..tracing import replay
from .mutants import hints, wrong_rules
from .rows import ROWS
from .spec import Mistake

np = devices.device("cpu").library

WORDS = ("contribution", "after", "before", "upstream", "local", "raw")
"""What can be asked of a step."""


class Question:
    """What is asked of a walk: a word of one step, or what a leaf receives in all."""

    def __init__(self, trace: Any, what: Any):
        self.trace, self.word = trace, "contribution"
        self.step: Any = None
        self.leaf: Any = None
        if isinstance(what, tuple) and len(what) == 2:
            what, self.word = what
        if self.word not in WORDS:
            raise ValueError(f"a word of a step must be one of {', '.join(WORDS)}; got {self.word!r}")
        if isinstance(what, str):
            self.leaf = self._leaf(what)
        elif isinstance(what, int):
            if not -len(trace.steps) <= what < len(trace.steps):
                raise IndexError(f"the walk has {len(trace.steps)} steps, 0 to {len(trace.steps) - 1}; got {what}")
            self.step = trace.steps[what]
        else:
            self.step = what

    def _leaf(self, label: str) -> int:
        for node in self.trace.nodes:
            if node.label == label and node.id in self.trace.gradients:
                return node.id
        known = sorted(node.label for node in self.trace.nodes if node.id in self.trace.gradients and node.label)
        raise KeyError(f"no leaf {label!r} received a gradient in this walk; there are {', '.join(known)}")

    @property
    def name(self) -> str:
        """What is asked, in words."""
        if self.step is None:
            return f"what {self.trace.nodes[self.leaf].label} receives in all"
        return f"the {self.word} of step {self.step.index + 1}, {self.step.rule}"

    @property
    def right(self) -> Any:
        """The right answer."""
        if self.step is None:
            return array(self.trace.gradients[self.leaf])
        value = getattr(self.step, self.word)
        if value is None:
            raise ValueError(f"step {self.step.index + 1} has no {self.word}")
        return array(value)

    def candidates(self) -> Iterator[tuple[Mistake, Any]]:
        """Every mistake that fits, with the number it would give."""
        step = self.step
        if step is not None and step.before is not None and self.word in ("after", "contribution"):
            yield plain_row("M1"), array(step.contribution if self.word == "after" else step.after)
        for name, row in ROWS_OF_WALKS.items():
            if step is None or name != "no order":  # which has steps of its own
                yield plain_row(row), self.given_by(name)
        if step is not None and step.local is not None and self.word in ("contribution", "raw"):
            yield plain_row("M6"), array(step.local)
        for wrong in self.trace.steps if step is None else [step]:
            for mistake, function in mistakes_at(self.trace, wrong):
                yield mistake, self.given_by({wrong.rule: function})
        if step is not None:
            yield PASSED_ON, array(step.upstream)

    def given_by(self, mistake: Any) -> Any:
        """What would be answered by a walk with a mistake in it; None where that cannot be made."""
        try:
            again = replay(self.trace, mistake)
            if self.step is None:
                return None if self.leaf not in again.gradients else array(again.gradients[self.leaf])
            value = getattr(again.steps[self.step.index], self.word)
        except Exception:  # noqa: BLE001 - a wrong rule may raise anything, and a file may not tell enough
            return None
        return None if value is None else array(value)


ROWS_OF_WALKS = {"replace": "M1", "no order": "M3", "upstream": "M6", "axes": "M27"}
"""The mistakes with which any walk can be made again, and their rows in the catalogue."""

PASSED_ON = Mistake("passed on", "upstream is passed on as it is", (
    "Does the output of this step move exactly as much as its input does?",
    "What arrived was handed on unchanged: the local derivative is left out.",
    "Multiply upstream by how fast the output moves with this input.",
))  # fmt: skip


def plain_row(row: str) -> Mistake:
    """A row of the catalogue without a wrong answer of its own."""
    return Mistake(row, ROWS[row][0], hints(row, ""))


def array(value: Any) -> Any:
    """A recorded value as an array."""
    if hasattr(value, "data") and not hasattr(value, "__array__"):  # one that was stored, whole
        return np.asarray(value.data, dtype=float).reshape(value.shape)
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def shape_of(answer: Any) -> tuple[int, ...]:
    """The shape of what was answered."""
    return np.asarray(answer).shape


def agrees(answer: Any, right: Any) -> bool:
    """Whether an answer is right to as many digits as were written, and to two at least."""
    answer, right = np.asarray(answer, dtype=float), np.asarray(right, dtype=float)
    if answer.shape != right.shape:
        return False
    both = zip(answer.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True)
    return all(abs(a - b) <= max(min(unit(a), 0.05 * abs(b)), 1e-9 * abs(b)) or a == b for a, b in both)


def unit(number: float) -> float:
    """A unit of the last digit that a number is written with: rounded or cut off, it is right."""
    mantissa, _, exponent = repr(number).partition("e")
    digits = len(mantissa.partition(".")[2].rstrip("0"))
    return 1.0000001 * 10.0 ** (int(exponent or 0) - digits)


def mistakes_at(trace: Any, step: Any) -> list[tuple[Mistake, Any]]:
    """The mistakes known of the rule of a step, each with the wrong rule."""
    op = operations.get(trace.nodes[step.node].op)
    return [] if op is None else wrong_rules(op, tuple(step.rule.partition(".")[2].split("+")))


def candidates(trace: Any, step: int, word: str = "after") -> list[dict[str, Any]]:
    """The wrong answers that known mistakes give to a question about a step, each with the first hint of its mistake.

    Args:
        trace: a record of a walk.
        step: the number of a step as it is printed, counted from 1.
        word: what is asked of it; what the receiver holds `after` it, unless told otherwise.
    Returns: a list of dictionaries with `step`, `answer` (a number, or nested lists) and `hint`, as `viz.quiz` takes
        them.
    Raises: IndexError where the walk has no such step, ValueError where it has no such word.
    Example:
        >>> from micrograd_plus import exercises
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> exercises.candidates(trace, 2)[0]["answer"]
        3.0

    See: `exercises.ask`, which answers at once.
    """
    if not 1 <= step <= len(trace.steps):
        raise IndexError(f"the walk has {len(trace.steps)} steps, which are called 1 to {len(trace.steps)}; got {step}")
    question = Question(trace, (step - 1, word))
    right, found = question.right, []
    for mistake, value in question.candidates():
        if value is not None and not agrees(value, right) and not any(agrees(value, known) for known, _ in found):
            found.append((value, mistake.hints[0]))
    return [{"step": step, "answer": value.tolist(), "hint": hint} for value, hint in found]


__all__ = ["Question", "agrees", "array", "candidates", "shape_of"]
