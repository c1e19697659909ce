"""What a student calls in a notebook: `check`, `answer`, `hint` and `ask`. Nothing leaves the machine, no second
process is started, and each try is made on fresh inputs.
"""

# pyright: reportPrivateUsage=false
# How a trace is shown is asked for here too.

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from typing import Any

from ..tracing import Trace
from .question import Question, agrees, shape_of
from .registry import get_exercise
from .reply import Reply, Said
from .sandboxed import carry_out
from .spec import Exercise
from .student_key import own_walk_number

_last: dict[str, Reply | Guess] = {}


def check(exercise: str | Exercise, answer: Any, *, seed: int | None = None, twice: bool = False) -> Reply:
    """The reply to one try: right or not, and if not, where and how it is wrong.

    Plain inputs and every edge are drawn afresh. Shapes come before values; no right number is told.

    Args:
        exercise: its id, or the exercise itself.
        answer: the function, the class or the value that was asked for.
        seed: draw the inputs of an earlier try again; of a walk to be looked at, its number.
        twice: of a rule, see also that the gradient of its gradient is right, as the exercise NAME.twice does.
    Returns: a reply, which is true where all of it is right; its text says the rest.
    Raises: KeyError where there is no exercise of that id.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.check("tanh.x", lambda out: 1 - out * out)
        tanh.x: right. 10 of 10 points.

    See: nbgrader's autograded cells, which compare with stored answers.
    """
    chosen = get_exercise(f"{exercise}.twice" if twice else exercise) if isinstance(exercise, str) else exercise
    fresh = own_walk_number(chosen.id) if chosen.has_own_walk else secrets.randbits(63)
    drawn = fresh if seed is None else seed
    cases = chosen.cases(drawn)
    result = chosen.mark(cases, [carry_out(answer, case.request) for case in cases])
    reply = Reply(chosen, result, answer)
    _last[""] = _last[chosen.id] = reply
    return reply


def answer(exercise: str) -> Callable[[Any], Any]:
    """A decorator above the answer to an exercise: it is checked as soon as it is defined, and stays what it is.

    A teacher's own exercise is not known where it is answered; that is said, and the answer stays what it is.

    Args:
        exercise: its id.
    Returns: the decorator.
    Example:
        >>> from micrograd_plus import exercises
        >>> @exercises.answer("multiply.a")
        ... def multiply_a(b):
        ...     return b
        multiply.a: right. 10 of 10 points.

    See: `check`, which gives the reply to keep.
    """

    def checked(thing: Any) -> Any:
        display(not_here(exercise) or check(exercise, thing))
        return thing

    return checked


def display(what: Any) -> None:
    """Show a reply as the last line of a cell would be shown: with its walk, where a notebook plays walks."""
    if "IPython" in sys.modules and Trace._mimebundle is not None and not isinstance(what, str):
        notebook: Any = sys.modules["IPython"]
        if notebook.get_ipython() is not None:
            notebook.display.display(what)
            return
    print(what)  # noqa: T201 - the cell of a notebook shows it


def not_here(exercise: str) -> str | None:
    """What is said of an exercise that is not known where it is answered, as one of a teacher's own."""
    try:
        get_exercise(exercise)
    except (KeyError, ValueError) as error:
        why = f"{error.args[0][:1].upper()}{error.args[0][1:]}"
        stop = "" if why.endswith("?") else "."
        return (f"{exercise}: not checked here. {why}{stop} If it is your teacher's own, hand it in as it is: it is "
                f"marked there.")  # fmt: skip
    return None


def score(exercise: str, answer: Any, *, of: float | None = None) -> float:
    """The points of an answer as a plain number, which is never negative, and never an error.

    It is what a school system's scoring cell ends in. It runs in the student's own kernel, so it is feedback; marks are
    given by `micrograd-plus grade`. Of a teacher's own exercise, which is not known there, it is 0.

    Args:
        exercise: its id.
        answer: the function, the class or the value; None where there is none.
        of: what full points are worth; the exercise's own points, if that is not said.
    Returns: a float between 0 and `of`.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.score("tanh.x", lambda out: 1 - out * out, of=4)
        4.0

    See: `check`.
    """
    missing = not_here(exercise)
    if missing or answer is None:
        print(missing or f"{exercise}: there is no answer yet.")  # noqa: T201 - the cell of a notebook shows it
        return 0.0
    whole = get_exercise(exercise).points if of is None else of
    result = check(exercise, answer).result
    return float(max(0.0, round(whole * result.points / result.of, 6)))


def hint(exercise: str = "") -> str:
    """The next of three hints about the last try.

    Args:
        exercise: the id of the exercise; the last one that was tried, if none is given.
    Returns: the hint.
    Raises: LookupError where nothing was tried yet.
    Example:
        >>> from micrograd_plus import exercises
        >>> reply = exercises.check("tanh.x", lambda x: 1 - x * x)
        >>> exercises.hint()
        Hint 1 of 3: Your slope is negative somewhere. Is tanh ever falling?

    See: `check`.
    """
    if exercise not in _last:
        raise LookupError(f"nothing was tried yet{f' of {exercise}' if exercise else ''}: call exercises.check first")
    return _last[exercise].hint()


def ask(trace: Any, what: Any, answer: Any) -> Guess:
    """What a step of a walk sends, guessed before it is looked at.

    A wrong number is told by making the walk again with each mistake that fits.

    Args:
        trace: a record of a walk.
        what: the number of a step (its contribution is asked), a pair of it and a word such as "after", or the label of
            a leaf, whose gradient is asked.
        answer: the number, or an array; as many digits count as are written.
    Returns: a reply, which is true where the answer is right.
    Raises: IndexError or KeyError where the walk has no such step or leaf.
    Example:
        >>> from micrograd_plus import exercises
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     y = x * x
        ...     y.backward()
        >>> exercises.ask(trace, "x", 3.0)
        Not right: that is not what x receives in all. A known mistake gives this: the gradient is overwritten.

    See: the question mode of the player.
    """
    guess = Guess(Question(trace, what), answer)
    _last[""] = guess
    return guess


class Guess:
    """The reply to a guess about a walk."""

    def __init__(self, question: Question, answer: Any):
        self.question, self.answer, self.stage = question, answer, 0
        self.shape = shape_of(answer)
        self.right = agrees(answer, question.right)
        self.mistake = None if self.right else self._mistake()

    def _mistake(self) -> Any:
        for mistake, value in self.question.candidates():
            if value is not None and agrees(self.answer, value) and not agrees(value, self.question.right):
                return mistake
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
        """The next of three hints."""
        if self.mistake is None:
            return Said("There is no hint: " + ("it is right." if self.right else "no known mistake gives this."))
        self.stage = min(self.stage + 1, len(self.mistake.hints))
        return Said(f"Hint {self.stage} of {len(self.mistake.hints)}: {self.mistake.hints[self.stage - 1]}")


__all__ = ["Guess", "answer", "ask", "check", "hint", "score"]
