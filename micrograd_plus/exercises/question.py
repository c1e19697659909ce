"""Questions about a step of a walk, and the mistake behind a wrong answer.

The walk is repeated with each mistake that fits. A wrong answer that equals one of the results has made that mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..backends import devices
from ..core.define import operations
from ..tracing import replay
from .mistakes import mistake
from .reply import next_hint
from .rule_mistakes import wrong_rules_of
from .spec import Mistake
from .texts import Text

np = devices.device("cpu").library

WORDS = ("contribution", "after", "before", "upstream", "local", "raw")
"""The values of a step that a question can be about."""
REPLAYS = {"replace": "M1", "no order": "M3", "upstream": "M6", "axes": "M27"}
"""The mistakes with which any walk can be repeated, and their rows in the catalogue."""


class Question:
    """A question about one value of a step, or about the gradient of a leaf."""

    def __init__(self, trace: Any, what: Any):
        self.trace, self.word = trace, "contribution"
        self.step: Any = None
        self.leaf: Any = None
        if isinstance(what, tuple) and len(what) == 2:
            what, self.word = what
        if self.word not in WORDS:
            raise ValueError(f"the value of a step must be one of {', '.join(WORDS)}; got {self.word!r}")
        if isinstance(what, str):
            self.leaf = self._find_leaf(what)
        elif isinstance(what, int):
            if not 1 <= what <= len(trace.steps):
                raise IndexError(f"the walk has steps 1 to {len(trace.steps)}, as the player numbers them; got {what}")
            self.step = trace.steps[what - 1]
        else:
            self.step = what

    def _find_leaf(self, label: str) -> int:
        for node in self.trace.nodes:
            if node.label == label and node.id in self.trace.gradients:
                return node.id
        known = sorted(node.label for node in self.trace.nodes if node.id in self.trace.gradients and node.label)
        raise KeyError(f"no leaf {label!r} received a gradient in this walk; choose from {', '.join(known)}")

    @property
    def name(self) -> str:
        """The value that the question is about, in words."""
        if self.step is None:
            return f"the gradient of {self.trace.nodes[self.leaf].label}"
        return f"the {self.word} of step {self.step.index + 1}, {self.step.rule}"

    @property
    def right(self) -> Any:
        """The right answer."""
        if self.step is None:
            return to_array(self.trace.gradients[self.leaf])
        value = getattr(self.step, self.word)
        if value is None:
            raise ValueError(f"step {self.step.index + 1} has no {self.word}")
        return to_array(value)

    def candidates(self) -> Iterator[tuple[Mistake, Any]]:
        """Yield every mistake that fits, with the answer that it gives (or None)."""
        step = self.step
        if step is not None and step.before is not None and self.word in ("after", "contribution"):
            yield mistake("M1"), to_array(step.contribution if self.word == "after" else step.after)
        for name, row in REPLAYS.items():
            if step is None or name != "no order":  # a walk in another order has other steps
                yield mistake(row), self._answer_with(name)
        if step is not None and step.local is not None and self.word in ("contribution", "raw"):
            yield mistake("M6"), to_array(step.local)
        for each in self.trace.steps if step is None else [step]:
            for known, function in mistakes_at(self.trace, each):
                yield known, self._answer_with({each.rule: function})
        if step is None:
            yield from self._sums_of_paths()
        else:
            yield mistake("passed on"), to_array(step.upstream)

    def _sums_of_paths(self) -> Iterator[tuple[Mistake, Any]]:
        """Yield what a leaf receives if one of its paths is forgotten, or if they are averaged."""
        sent = [to_array(step.contribution) for step in self.trace.steps
                if step.target == self.leaf and step.contribution is not None]  # fmt: skip
        if len(sent) > 1:
            for each in sent:
                yield mistake("path"), self.right - each
            yield mistake("path average"), self.right / len(sent)

    def _answer_with(self, wrong: Any) -> Any:
        """Return the answer of a walk with a mistake; None if the walk cannot be repeated with it."""
        try:
            repeated = replay(self.trace, wrong)
            if self.step is None:
                return None if self.leaf not in repeated.gradients else to_array(repeated.gradients[self.leaf])
            value = getattr(repeated.steps[self.step.index], self.word)
        except Exception:  # noqa: BLE001 - a wrong rule may raise anything, and a trace from a file may lack values
            return None
        return None if value is None else to_array(value)


class Guess:
    """The reply to an answer about a walk. It is true if the answer is right."""

    def __init__(self, question: Question, answer: Any):
        self.question, self.answer, self.hints_given = question, check_number(answer), 0
        self.shape = np.asarray(answer).shape
        self.right = agrees(answer, question.right)
        self.mistake = None if self.right else self._find_mistake()

    def _find_mistake(self) -> Mistake | None:
        for known, value in self.question.candidates():
            if value is not None and agrees(self.answer, value) and not agrees(value, self.question.right):
                return known
        return None

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        name = self.question.name
        if self.right:
            return f"Right: that is {name}."
        want = self.question.right.shape
        if self.shape != want:
            return f"Not right: {name} has shape {want}, and your answer has shape {self.shape}."
        if self.mistake is None:
            return f"Not right: that is not {name}. No known mistake gives this."
        return f"Not right: that is not {name}. A known mistake gives this: {self.mistake.title}."

    def hint(self) -> str:
        """Return the next of three hints."""
        if self.mistake is None:
            reason = "your answer is right" if self.right else "no known mistake gives this"
            return Text(f"There is no hint: {reason}.")
        self.hints_given, hint = next_hint(self.mistake, self.hints_given)
        return hint


def check_number(answer: Any) -> Any:
    """Return an answer that is a finite real number or an array of them; raise ValueError for anything else."""
    try:
        array = np.asarray(answer)
    except ValueError:
        array = np.asarray("")
    if array.dtype.kind not in "biuf":
        kind = "a complex number" if array.dtype.kind == "c" else repr(answer)
        raise ValueError(f"the answer must be a real number or an array of them, got {kind}")
    if not np.all(np.isfinite(array)):
        raise ValueError("the answer must be finite, got nan or infinity: compute it from the numbers of the walk")
    return answer


def to_array(value: Any) -> Any:
    """Return a recorded value as an array."""
    if hasattr(value, "data") and not hasattr(value, "__array__"):  # a value from a file
        return np.asarray(value.data, dtype=float).reshape(value.shape)
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def agrees(answer: Any, right: Any) -> bool:
    """Return whether an answer is right to the number of digits in which it is written, and to at least two."""
    answer, right = np.asarray(answer, dtype=float), np.asarray(right, dtype=float)
    if answer.shape != right.shape:
        return False
    pairs = zip(answer.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True)
    return all(abs(a - b) <= max(min(last_digit(a), 0.05 * abs(b)), 1e-9 * abs(b)) or a == b for a, b in pairs)


def last_digit(number: float) -> float:
    """Return one unit of the last written digit of a number, so that rounded and truncated answers are right."""
    mantissa, _, exponent = repr(number).partition("e")
    digits = len(mantissa.partition(".")[2].rstrip("0"))
    return 1.0000001 * 10.0 ** (int(exponent or 0) - digits)


def mistakes_at(trace: Any, step: Any) -> list[tuple[Mistake, Any]]:
    """Return the known mistakes of the rule of a step, each with the wrong rule."""
    op = operations.get(trace.nodes[step.node].op)
    return [] if op is None else wrong_rules_of(op, tuple(step.rule.partition(".")[2].split("+")))


def candidates(trace: Any, step: int, word: str = "after") -> list[dict[str, Any]]:
    """Return the wrong answers that known mistakes give to a question about a step, each with a hint.

    Args:
        trace: the record of a walk.
        step: the number of a step as printed, counted from 1.
        word: the value that the question is about; by default the receiver's gradient `after` the step.
    Returns: a list of dictionaries with `step`, `answer` (a number or nested lists) and `hint`, as `viz.quiz` takes
        them.
    Raises: IndexError if the walk has no such step, ValueError if the step has no such value.
    Example:
        >>> from micrograd_plus import exercises
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> exercises.candidates(trace, 2)[0]["answer"]
        3.0

    See: `exercises.ask`, which checks one answer.
    """
    if not 1 <= step <= len(trace.steps):
        raise IndexError(f"step must be between 1 and {len(trace.steps)}, got {step}")
    question = Question(trace, (step, word))
    right, answers = question.right, []
    for known, value in question.candidates():
        if value is not None and not agrees(value, right) and not any(agrees(value, other) for other, _ in answers):
            answers.append((value, known.hints[0]))
    return [{"step": step, "answer": value.tolist(), "hint": hint} for value, hint in answers]


__all__ = ["Guess", "Question", "agrees", "candidates", "to_array"]
