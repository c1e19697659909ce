"""A quiz about a recorded walk: the questions of `ask`, one after the other, with a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .question import Guess, Question, Shown, candidates
from .texts import Text


class Quiz(Shown):
    """Questions about the steps of a walk. It shows the current question; `answer` checks a number and goes on."""

    def __init__(self, trace: Any, steps: Sequence[int], say: str = "", why: str = "", entry: Any = None):
        self.trace, self.steps = trace, list(steps)
        self.words = {"say": say, "why": why, "entry": entry}
        asked = [Question(trace, number).step for number in steps]
        self.questions = [Question(trace, (step.index + 1, word_of(step)), **self.words) for step in asked]
        self.place, self.tries = 0, [0] * len(steps)
        self.right_at_once = 0
        self.last: Guess | None = None

    @property
    def is_over(self) -> bool:
        """Whether every question is answered."""
        return self.place >= len(self.questions)

    def answer(self, number: Any) -> Guess:
        """Check an answer to the current question, and go on to the next one if it is right.

        Args:
            number: a number or an array, compared to the number of digits in which it is written.
        Returns: a reply, which is true if the answer is right.
        Raises: ValueError if the answer is no finite number, LookupError if the quiz is over.
        """
        if self.is_over:
            raise LookupError("the quiz is over: every question is answered")
        guess = Guess(self.questions[self.place], number)
        self.tries[self.place] += 1
        self.last = guess
        if guess:
            self.right_at_once += self.tries[self.place] == 1
            self.place += 1
        return guess

    def skip(self) -> Quiz:
        """Go on to the next question without an answer to this one."""
        self.place = min(self.place + 1, len(self.questions))
        return self

    def hint(self) -> str:
        """Return the next hint about the last wrong answer."""
        if self.last is None:
            return Text("There is no hint yet: answer first.")
        return self.last.hint()

    def candidates(self) -> list[dict[str, Any]]:
        """Return the wrong answers of known mistakes to all questions, as `viz.quiz` takes them."""
        return [each for question in self.questions
                for each in candidates(self.trace, question.step.index + 1, question.word)]  # fmt: skip

    def make_card(self, viz: Any) -> Any:
        """Return all questions as one card with the walk."""
        return viz.quiz(self.trace, self.steps, "gradient", candidates=self.candidates(), **self.words)

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        count = len(self.questions)
        if self.is_over:
            return f"The quiz is over: {self.right_at_once} of {count} right at the first try."
        return f"Question {self.place + 1} of {count}. {self.questions[self.place].card}"


def quiz(
    trace: Any, step: int | str | tuple[str, str] | Sequence[Any] | None = None, *, questions: int = 5, say: str = "",
    why: str = "", entry: int | tuple[int, ...] | None = None,
) -> Quiz:  # fmt: skip
    """Return a quiz about a walk. It asks for the gradients after instructive steps, one after the other.

    The quiz is a card in a notebook that has imported `micrograd_plus_viz`, with the hints of known mistakes. Elsewhere
    it is text, and `answer` takes a number.

    Args:
        trace: the record of a walk.
        step: the number of a step, counted from 1, or several; `"w"` for the last step that reaches `w`, and
            `("multiply", "w")` for the last one from a product. By default up to `questions` steps are chosen: a
            gradient that arrives where one has arrived before, and each rule for the first time.
        questions: the number of questions, if `step` is omitted.
        say: the question in your own words, if there is one.
        why: what is said after its right answer.
        entry: the index of the entry that is asked for. By default the text asks for the whole array, and the card
            chooses an entry.
    Returns: a quiz, which shows its current question. `answer` takes a number, `hint` explains a wrong one.
    Raises: IndexError if the walk has no such step or entry, KeyError if no step reaches the name, ValueError if no
        step has numbers to ask for, or if there are words for several questions.
    Example:
        >>> from micrograd_plus import exercises
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> quiz = exercises.quiz(trace)
        >>> quiz
        Question 1 of 2. Step 1: multiply.a sends to x. upstream = 1; b = 3. What is the contribution?
        >>> quiz.answer(3)
        Right: that is the contribution of step 1, multiply.a.
        >>> quiz.answer(3).mistake.title
        'the gradient is overwritten'

    See: `ask`, which checks one answer; `micrograd_plus_viz.quiz`, for other kinds of question.
    """
    if step is None:
        chosen = sorted(list(instructive_steps(trace))[:questions])
    else:
        wanted = [step] if isinstance(step, (int, str)) or is_pair_of_names(step) else list(step)
        chosen = [number_of_step(trace, each) for each in wanted]
    if not chosen:
        raise ValueError("this walk has no step with numbers to ask for")
    if len(chosen) > 1 and (say or why or entry is not None):
        raise ValueError("say, why and entry are about one question, so they need the step that it asks about")
    return Quiz(trace, chosen, say, why, entry)


def is_pair_of_names(step: Any) -> bool:
    """Return whether a step is named by an operation and what it sends to."""
    return isinstance(step, tuple) and list(map(type, step)) == [str, str]


def number_of_step(trace: Any, step: Any) -> int:
    """Return the number of a step that is given by its number, or by the value that it reaches."""
    if isinstance(step, int):
        return step
    operation, name = (None, step) if isinstance(step, str) else step
    for each in reversed(trace.steps):
        if trace.nodes[each.target].label == name and operation in (None, each.rule.partition(".")[0]):
            return each.index + 1
    through = f" through {operation!r}" if operation else ""
    raise KeyError(f"no step of this walk reaches {name!r}{through}")


def word_of(step: Any) -> str:
    """Return the value that a quiz asks for: what has arrived so far, or the contribution if nothing had."""
    return "contribution" if step.before is None else "after"


def instructive_steps(trace: Any) -> Iterator[int]:
    """Yield the numbers of steps worth a question: first those that add to a gradient, then each rule once."""
    steps = [step for step in trace.steps if step.contribution is not None]
    adding = [step.index + 1 for step in steps if step.before is not None]
    first_of_rule = {step.rule: step.index + 1 for step in reversed(steps)}
    rules = sorted(set(first_of_rule.values()) - set(adding))
    yield from adding[:2]
    yield from rules
    yield from adding[2:]


__all__ = ["Quiz", "quiz"]
