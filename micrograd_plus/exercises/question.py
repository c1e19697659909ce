"""Questions about a step of a walk, and the mistake behind a wrong answer.

The walk is repeated with each mistake that fits. A wrong answer that equals one of the results has made that mistake.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..backends import devices
from ..core.define import operations
from ..tracing import replay
from .mistakes import mistake
from .reply import next_hint
from .rule_mistakes import wrong_rules_everywhere, wrong_rules_of
from .spec import Mistake
from .texts import Text

np = devices.device("cpu").library

WORDS = ("contribution", "after", "before", "upstream", "local", "raw")
"""The values of a step that a question can be about."""
NODE_WORDS = ("gradient", "value")
"""The values of a node that a question can be about."""
MOST_SHOWN = 12
"""The largest array whose entries a question shows."""
MOST_RULES, MOST_MISTAKES, MOST_VISITS = 12, 4, 5000
"""How many rules a search for a mistake replaces, by how many wrong ones each, and how many visits a recursion has."""
REPLAYS = {"replace": "M1", "no order": "M3", "upstream": "M6", "axes": "M27"}
"""The mistakes with which any walk can be repeated, and their rows in the catalogue."""


class Question:
    """A question about one value of a step, or about a value or the gradient of a node; or about one entry of it.

    `say` words the question, `why` is said after the right answer.
    """

    def __init__(self, trace: Any, what: Any, say: str = "", why: str = "", entry: Any = None):
        self.trace, self.word, self.say, self.why = trace, "", say, why
        self.entry = (entry,) if isinstance(entry, int) else entry
        self.step: Any = None
        self.node: Any = None
        if isinstance(what, tuple) and len(what) == 2:
            what, self.word = what
        if isinstance(what, str):
            self.word = self.word or "gradient"
            self.node = self._find_node(what)
        elif isinstance(what, int):
            if not 1 <= what <= len(trace.steps):
                raise IndexError(f"the walk has steps 1 to {len(trace.steps)}, as the player numbers them; got {what}")
            self.step = trace.steps[what - 1]
        else:
            self.step = what
        self.word = self.word or "contribution"
        words = WORDS if self.node is None else NODE_WORDS
        if self.word in words and self.entry is not None:
            self._check_entry()
        if self.word not in words:
            of = "a step" if self.node is None else "a node"
            raise ValueError(f"the value of {of} must be one of {', '.join(words)}; got {self.word!r}")

    def _check_entry(self) -> None:
        """Raise IndexError if the value has no such entry."""
        shape = self.array.shape
        if len(self.entry) != len(shape) or not all(0 <= at < size for at, size in zip(self.entry, shape, strict=True)):
            raise IndexError(f"{self.name} has shape {shape}, so entry {list(self.entry)} does not exist")

    def _find_node(self, label: str) -> Any:
        """Return the node with a label; a leaf before others, and the last of several."""
        found = [node for node in self.trace.nodes if node.label == label]
        if self.word == "gradient":
            found = [node for node in found if self._gradient_of(node.id) is not None]
        if found:
            return next((node for node in found if node.id in self.trace.gradients), found[-1])
        known = {node.label for node in self.trace.nodes
                 if node.label and (self.word == "value" or self._gradient_of(node.id) is not None)}  # fmt: skip
        got = "received a gradient in this walk" if self.word == "gradient" else "is in this record"
        raise KeyError(f"no value {label!r} {got}; choose from {', '.join(sorted(known))}")

    @cached_property
    def _last_steps(self) -> dict[int, Any]:
        """The last step that sends to each node."""
        return {step.target: step for step in self.trace.steps}

    def _gradient_of(self, node: int) -> Any:
        """Return what a node has received in the end; None if it received nothing."""
        if node in self.trace.gradients:
            return self.trace.gradients[node]
        if node in self._last_steps:
            return self._last_steps[node].after
        return next((step.upstream for step in self.trace.steps if step.node == node), None)  # where the walk begins

    @property
    def name(self) -> str:
        """The value that the question is about, in words."""
        if self.step is None:
            return f"the {self.word} of {self.node.label}"
        return f"the {self.word} of step {self.step.index + 1}, {self.step.rule}"

    def entry_of(self, value: Any) -> Any:
        """Return the entry of a value that the question is about; the value itself if it is about no entry."""
        return value if self.entry is None or value is None else np.asarray(value[self.entry])

    @property
    def right(self) -> Any:
        """The right answer."""
        return self.entry_of(self.array)

    @property
    def array(self) -> Any:
        """The value that the question is about, with all its entries."""
        if self.step is None:
            return to_array(self.node.value if self.word == "value" else self._gradient_of(self.node.id))
        value = getattr(self.step, self.word)
        if value is None:
            raise ValueError(f"step {self.step.index + 1} has no {self.word}")
        return to_array(value)

    @property
    def card(self) -> str:
        """The question as a student reads it, with the numbers from which the answer follows."""
        shape = f", an array of shape {self.right.shape}" if self.right.shape else ""
        entry = "" if self.entry is None else f" at entry {list(self.entry)}"
        if self.step is None:
            return self.say or f"What is {self.name}{entry}{shape}?"
        step = self.step
        known = {"upstream": step.upstream, **step.reads}
        if self.word != "contribution":
            known |= {"contribution": step.contribution}
        if self.word == "after" and step.before is not None:
            known |= {"before": step.before}
        known.pop(self.word, None)
        numbers = [f"{name} = {write_value(to_array(value))}" for name, value in known.items()
                   if value is not None and to_array(value).size <= MOST_SHOWN]  # fmt: skip
        target = self.trace.nodes[step.target]
        sends = f"Step {step.index + 1}: {step.rule} sends to {target.label or target.name}."
        given = f" {'; '.join(numbers)}." if numbers else ""
        asked = f"What has arrived {'there ' if step.before is not None else ''}after it" if self.word == "after" else (
            f"What is the {self.word}")  # fmt: skip
        return f"{sends}{given} {self.say or f'{asked}{entry}{shape}?'}"

    @property
    def step_of_card(self) -> int | None:
        """The number of the step after which a player can ask the same; None if no step gives the value."""
        if self.step is not None:
            return self.step.index + 1 if self.word == "after" else None
        last = self._last_steps.get(self.node.id) if self.word == "gradient" else None
        return None if last is None else last.index + 1

    def candidates(self) -> Iterator[tuple[Mistake, Any]]:
        """Yield the mistakes that fit, with the answer that each gives (or None). Their number is limited."""
        if self.word == "value":
            return
        found = self._candidates_of_step() if self.step is not None else self._candidates_of_gradient()
        shape = self.array.shape
        for known, value in found:
            has_entry = value is not None and value.shape == shape
            yield known, self.entry_of(value) if self.entry is None or has_entry else None

    def _candidates_of_step(self) -> Iterator[tuple[Mistake, Any]]:
        step = self.step
        if step.before is not None and self.word in ("after", "contribution"):
            yield mistake("M1"), to_array(step.contribution if self.word == "after" else step.after)
        if step.raw is not None and self.word == "contribution":
            yield from averaged_instead(step)
        for name, row in REPLAYS.items():
            if name != "no order":  # a walk in another order has other steps
                yield mistake(row), self._answer_with(name)
        if step.local is not None and self.word in ("contribution", "raw"):
            yield mistake("M6"), to_array(step.local)
        for known, functions in mistakes_at(self.trace, step):
            yield known, self._answer_with(functions)
        yield mistake("passed on"), to_array(step.upstream)

    def _candidates_of_gradient(self) -> Iterator[tuple[Mistake, Any]]:
        for name, row in REPLAYS.items():
            yield mistake(row), self._answer_with(name)
        yield mistake("M3"), recursion_without_order(self.trace).get(self.node.id)
        yield from self._sums_of_paths()
        rules = {step.rule: step for step in self.trace.steps}
        for step in list(rules.values())[:MOST_RULES]:
            for known, functions in mistakes_at(self.trace, step)[:MOST_MISTAKES]:
                yield known, self._answer_with(functions)

    def _sums_of_paths(self) -> Iterator[tuple[Mistake, Any]]:
        """Yield what a node receives if one of its paths is forgotten, or if they are averaged."""
        steps = [step for step in self.trace.steps if step.target == self.node.id and step.contribution is not None]
        sent = [to_array(step.contribution) for step in steps]
        for step in steps:
            for known, value in averaged_instead(step):
                yield known, self.array - to_array(step.contribution) + value
        if len(sent) > 1:
            for each in sent:
                yield mistake("path"), self.array - each
            yield mistake("path average"), self.array / len(sent)

    def _answer_with(self, wrong: Any) -> Any:
        """Return the answer of a walk with a mistake; None if the walk cannot be repeated with it."""
        try:
            repeated = replay(self.trace, wrong)
            if self.step is None:
                value = Question(repeated, self.node.label)._gradient_of(self.node.id)
            else:
                value = getattr(repeated.steps[self.step.index], self.word)
        except Exception:  # noqa: BLE001 - a wrong rule may raise anything, and a trace from a file may lack values
            return None
        return None if value is None else to_array(value)


def averaged_instead(step: Any) -> Iterator[tuple[Mistake, Any]]:
    """Yield the contribution of a step if the repeated axes are averaged, not summed."""
    if step.raw is None or step.contribution is None:
        return
    many, few = to_array(step.raw).size, to_array(step.contribution).size
    if many > few > 0:
        yield mistake("M28"), to_array(step.contribution) * (few / many)


def recursion_without_order(trace: Any) -> dict[int, Any]:
    """Return what each node receives if every node sends at once, along each path, all that it has so far.

    Only walks of single numbers are tried, and nothing is returned if there are too many paths.
    """
    steps = list(trace.steps)
    if not steps or any(to_array(step.contribution).shape != () for step in steps if step.contribution is not None):
        return {}
    sends: dict[int, list[tuple[int, float]]] = {}
    for step in steps:
        upstream = float(to_array(step.upstream))
        slope = float(to_array(step.contribution)) / upstream if upstream else 0.0
        sends.setdefault(step.node, []).append((step.target, slope))
    root = steps[0].node
    received: dict[int, float] = {root: float(to_array(steps[0].upstream))}
    todo, visits = [root], 0
    while todo and visits < MOST_VISITS:
        node, visits = todo.pop(), visits + 1
        for target, slope in sends.get(node, ()):
            received[target] = received.get(target, 0.0) + slope * received[node]
        todo += reversed([target for target, _ in sends.get(node, ())])
    return {} if todo else {node: np.asarray(value) for node, value in received.items()}


def write_value(array: Any) -> str:
    """Return an array of few numbers as text."""
    if array.shape == ():
        return f"{array.item():.6g}"
    return np.array2string(array, precision=4, separator=", ").replace("\n", "")


class Shown:
    """A question that a notebook shows as a card as soon as `micrograd_plus_viz` is imported. Elsewhere it is text."""

    def make_card(self, viz: Any) -> Any:
        """Return the card, made by a function of `viz`."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        viz = sys.modules.get("micrograd_plus_viz")
        page = {} if viz is None else self.make_card(viz)._repr_mimebundle_()
        return {**page, "text/plain": repr(self)}

    def _mime_(self) -> tuple[str, str]:
        viz = sys.modules.get("micrograd_plus_viz")
        return ("text/plain", repr(self)) if viz is None else self.make_card(viz)._mime_()


class Card(Shown):
    """A question that waits for an answer. It is shown in place of a reply if the answer is `...`."""

    def __init__(self, question: Question):
        self.question, self.text = question, question.card

    def make_card(self, viz: Any) -> Any:
        """Return a question of the player if a step gives the value, otherwise a card without a walk."""
        question = self.question
        step = question.step_of_card
        if step is not None:
            wrong = candidates(question.trace, step)
            return viz.quiz(question.trace, step, "gradient", candidates=wrong, say=question.say, why=question.why,
                            entry=question.entry)  # fmt: skip
        right = question.right
        hints = {as_answer(value): known.hints[0] for known, value in reversed(list(question.candidates()))
                 if value is not None and value.shape == right.shape and not agrees(value, right)}  # fmt: skip
        return viz.ask(self.text, right.tolist(), wrong=hints, why=question.why)

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self.text

    def hint(self) -> str:
        """Return a sentence that asks for an answer first."""
        return Text("Answer first: write a number instead of the dots. Hints are about wrong answers.")


class Guess:
    """The reply to an answer about a walk. It is true if the answer is right."""

    def __init__(self, question: Question, answer: Any):
        self.question, self.answer, self.hints_given = question, check_number(answer), 0
        self.shape = np.asarray(answer).shape
        self.right = agrees(answer, question.right)
        self.mistake = None if self.right else self._find_mistake()

    def _find_mistake(self) -> Mistake | None:
        right = self.question.right
        for known, value in self.question.candidates():
            if value is not None and agrees(self.answer, value) and not agrees(value, right):
                return known
        return None

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        name = self.question.name
        if self.right:
            return f"Right: that is {name}. {self.question.why}".strip()
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


def as_answer(value: Any) -> Any:
    """Return an array as a number, or as a tuple of its numbers."""
    return value.item() if value.shape == () else tuple(value.reshape(-1).tolist())


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
    """Return the known mistakes of the rule of a step, each with the wrong rules by name.

    A mistake that an operation's other operand can have, too, is made at both.
    """
    op = operations.get(trace.nodes[step.node].op)
    if op is None:
        return []
    alone = [(known, {step.rule: function})
             for known, function in wrong_rules_of(op, tuple(step.rule.partition(".")[2].split("+")))]  # fmt: skip
    everywhere = []
    for known, functions in wrong_rules_everywhere(op):
        applied = {name: function for name, function in functions.items() if name in trace.rules}
        if len(applied) > 1 and step.rule in applied:
            everywhere.append((known, applied))
    return [*alone, *everywhere]


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
