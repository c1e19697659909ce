"""A quiz about a recorded walk: the questions of `ask`, one after the other, with a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .question import Guess, Question, candidates
from .texts import Text


class Quiz:
    """Questions about the steps of a walk. It shows the current question; `answer` checks a number and goes on."""

    def __init__(self, trace: Any, steps: Sequence[int]):
        self.trace, self.steps = trace, list(steps)
        asked = [Question(trace, number).step for number in steps]
        self.questions = [Question(trace, (step.index + 1, word_of(step))) for step in asked]
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

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        count = len(self.questions)
        if self.is_over:
            return f"The quiz is over: {self.right_at_once} of {count} right at the first try."
        return f"Question {self.place + 1} of {count}. {self.questions[self.place].card}"


def quiz(trace: Any, steps: Sequence[int] | int | None = None, *, questions: int = 5) -> Quiz:
    """Return a quiz about a walk. It asks for the numbers of instructive steps, one after the other.

    Args:
        trace: the record of a walk.
        steps: the numbers of the steps, counted from 1, or one number; by default up to `questions` steps are chosen:
            a gradient that arrives where one has arrived before, and each rule for the first time.
        questions: the number of questions, if `steps` is omitted.
    Returns: a quiz, which shows its current question. `answer` takes a number, `hint` explains a wrong one.
    Raises: IndexError if the walk has no such step, ValueError if no step has numbers to ask for.
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

    See: `ask`, which checks one answer; the quizzes of the player, `micrograd_plus_viz.quiz`.
    """
    if steps is None:
        chosen = sorted(list(instructive_steps(trace))[:questions])
    else:
        chosen = [steps] if isinstance(steps, int) else list(steps)
    if not chosen:
        raise ValueError("this walk has no step with numbers to ask for")
    return Quiz(trace, chosen)


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
