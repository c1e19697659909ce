"""The calls of a student's notebook: `check`, `answer`, `score`, `hint` and `ask`.

Everything runs in the notebook's own process. Each try draws new inputs.
"""

# pyright: reportPrivateUsage=false
# Whether a notebook can show traces is a private attribute of Trace.

from __future__ import annotations

import contextlib
import io
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..files import write_file
from ..tracing import Trace
from .compare import Wrong
from .question import Card, Guess, Question
from .registry import get_exercise, list_exercises
from .reply import MarkedLater, Reply
from .sandboxed import carry_out
from .spec import GROUPS, Case, Exercise, can_plug
from .student_key import SHARED_WALK, own_walk_number
from .texts import Text

_last: dict[str, Reply | Guess | Card] = {}
_replies: dict[str, Reply] = {}
_right: set[str] = set()
"""The exercises that were answered right in this notebook."""
_kept_in: list[Path] = []
"""The file that keeps them beyond this session, if there is one."""
MOST_PRINTED = 3
"""The number of calls whose printed text is shown."""


def check(exercise: str | Exercise, answer: Any, *, seed: int | None = None, twice: bool = False) -> Reply:
    """Check an answer on newly drawn inputs, and reply whether it is right and, if not, where and how it is wrong.

    Ordinary inputs and every edge case are drawn. Shapes are compared before values. The reply reveals no right number.

    Args:
        exercise: the id, or the exercise itself.
        answer: the function, the class or the value that the exercise requires.
        seed: the seed of an earlier try, to repeat its inputs; the number of a walk, if the exercise shows one. In an
            assignment, a student's own walk is marked by the grader only: practise on others, such as walk 7.
        twice: also check the gradient of a rule's gradient, as the exercise NAME.twice does.
    Returns: a reply, which is true if everything is right.
    Raises: KeyError if there is no exercise with that id.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.check("tanh.x", lambda out: 1 - out * out).right
        True

    See: nbgrader's autograded cells, which compare with stored answers.
    """
    if isinstance(exercise, str):
        exercise = get_exercise(f"{exercise}.twice" if twice else exercise)
    if exercise.has_own_walk:
        own = own_walk_number(exercise.id)
        if own != SHARED_WALK and seed in (None, own):
            return remember(MarkedLater(exercise, answer))
        seed = own if seed is None else seed
    elif seed is None:
        seed = secrets.randbits(63)
    cases = exercise.cases(seed)
    outcomes, printed = [], []
    for case in cases:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            outcomes.append(carry_out(answer, case.request))
        if said.getvalue():
            printed.append((case, said.getvalue()))
    result = exercise.mark(cases, outcomes)
    print_calls(printed, result.first_wrong)
    if result.right:
        _right.add(exercise.id)
        write_progress()
    return remember(
        Reply(exercise, result, answer, cases, printed, describe_progress(exercise) if result.right else "")
    )


def remember(reply: Reply) -> Reply:
    """Keep a reply as the last one, of its exercise and of all."""
    name = reply.exercise.id
    _last[""] = _last[name] = _replies[""] = _replies[name] = reply
    return reply


def describe_progress(exercise: Exercise) -> str:
    """Return how many exercises of a group are right in this notebook, and which one is next."""
    everything = list_exercises()
    members = [each.id for each in everything if each.group == exercise.group]
    if exercise.id not in members:
        return ""
    following = [*members[members.index(exercise.id) :], *members, *(each.id for each in everything)]
    next_one = next((each for each in following if each not in _right), None)
    done = f'{len(_right.intersection(members))} of {len(members)} exercises of "{exercise.group}" are right.'
    if next_one is None:
        return f"{done} You have done every exercise."
    return f'{done} Next: exercises.get_exercise("{next_one}"), about {get_exercise(next_one).minutes} minutes.'


def progress(place: Any = None) -> str:
    """Return how many exercises of each group are right, and the next one of each.

    Args:
        place: a file, or a folder for a file `progress.json`, that keeps the right exercises for the next session. From
            here on, each right answer is added to it. By default nothing is kept when the notebook ends.
    Returns: a line for each of the six groups.
    Raises: ValueError if the file is not one that `progress` wrote, OSError if it cannot be read or written.
    Example:
        >>> from micrograd_plus import exercises
        >>> len(exercises.progress().splitlines())
        6

    See: `list_exercises`; `Exercise.needs` has the exercises that help.
    """
    if place is not None:
        keep_progress(Path(place))
    lines = []
    for group in GROUPS:
        members = list_exercises(group)
        todo = [each for each in members if each.id not in _right]
        next_one = f" Next: {todo[0].id}, about {todo[0].minutes} minutes." if todo else ""
        lines.append(f"{group}: {len(members) - len(todo)} of {len(members)} are right.{next_one}")
    return Text("\n".join(lines))


def keep_progress(place: Path) -> None:
    """Add the right exercises of a file to those of this notebook, and keep them there from now on."""
    file = place / "progress.json" if place.is_dir() else place
    if file.exists():
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(kept, list) or not all(isinstance(each, str) for each in kept):
                raise TypeError
        except (ValueError, TypeError):
            raise ValueError(f"{file} is not a file of progress: it must be a list of the ids of exercises") from None
        _right.update(kept)
    _kept_in[:] = [file]
    write_progress()


def write_progress() -> None:
    """Write the right exercises to the file that keeps them, if there is one."""
    for file in _kept_in:
        write_file(file, json.dumps(sorted(_right), indent=1) + "\n")


def print_calls(printed: Sequence[tuple[Case, str]], wrong: Wrong | None) -> None:
    """Print what an answer printed, with the call in front: the first wrong call first, and few others."""
    ordered = sorted(printed, key=lambda each: wrong is None or each[0] is not wrong.case)
    for case, text in ordered[:MOST_PRINTED]:
        print(f"[when {case.about}]\n{text.rstrip()}")  # noqa: T201 - the student's own text
    more = len(printed) - MOST_PRINTED
    if more > 0:
        print(f"[{more} more calls printed something; see the reply's `printed`]")  # noqa: T201 - a count


def answer(exercise: str) -> Callable[[Any], Any]:
    """Decorator for the answer to an exercise: checks it at once, shows the reply, and returns the answer unchanged.

    An exercise of a teacher's own may be unknown here. Then a sentence says that it is not checked.

    Args:
        exercise: the id.
    Returns: the decorator.
    Example:
        >>> from micrograd_plus import exercises
        >>> @exercises.answer("multiply.a")
        ... def multiply_a(b):
        ...     raise NotImplementedError
        multiply.a: nothing is written yet. Replace `raise NotImplementedError` by your answer, and run
        the cell again.

    See: `check`, which returns the reply.
    """

    def check_definition(definition: Any) -> Any:
        display(explain_unknown(exercise) or check(exercise, definition))
        return definition

    return check_definition


def display(reply: Any) -> None:
    """Show a reply as a notebook shows the last line of a cell: with its walk, if it can play walks."""
    if "IPython" in sys.modules and Trace._mimebundle is not None and not isinstance(reply, str):
        ipython: Any = sys.modules["IPython"]
        if ipython.get_ipython() is not None:
            ipython.display.display(reply)
            return
    print(reply)  # noqa: T201 - the notebook shows it


def explain_unknown(exercise: str) -> str | None:
    """Return a sentence if an exercise is unknown here, as a teacher's own exercises are; else None."""
    try:
        get_exercise(exercise)
    except (KeyError, ValueError) as error:
        why = f"{error.args[0][:1].upper()}{error.args[0][1:]}"
        stop = "" if why.endswith("?") else "."
        return (f"{exercise}: not checked here. {why}{stop} If it is your teacher's own exercise, submit your answer "
                f"as it is: it will be marked there.")  # fmt: skip
    return None


def score(exercise: str, answer: Any, *, of: float | None = None) -> float:
    """Return the points of an answer as a plain number, for the scoring cell of a school system.

    It is never negative and never raises. It runs in the student's own kernel, so it is feedback: `micrograd-plus
    grade` gives the marks. If the exercise is a teacher's own and unknown here, it is 0.

    Args:
        exercise: the id.
        answer: the function, the class or the value; None if there is none.
        of: the number of full points; the exercise's own points, if omitted.
    Returns: a float between 0 and `of`.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.score("tanh.x", lambda out: 1 - out * out, of=4)
        4.0

    See: `check`.
    """
    problem = explain_unknown(exercise)
    if problem or answer is None:
        print(problem or f"{exercise}: there is no answer yet.")  # noqa: T201 - the notebook shows it
        return 0.0
    full = get_exercise(exercise).points if of is None else of
    reply = check(exercise, answer)
    if isinstance(reply, MarkedLater):
        print(reply)  # noqa: T201 - the notebook shows why there are no points yet
    return float(max(0.0, round(full * reply.result.points / reply.result.of, 6)))


def hint(exercise: str = "") -> str:
    """Return the next of three hints about the last try.

    Args:
        exercise: the id of the exercise; the one that was tried last, if omitted.
    Returns: the hint.
    Raises: LookupError if there was no try yet.
    Example:
        >>> from micrograd_plus import exercises
        >>> reply = exercises.check("tanh.x", lambda x: 1 - x * x)
        >>> exercises.hint()
        Hint 1 of 3: Your slope is negative somewhere. Is tanh ever falling?

    See: `check`.
    """
    if exercise not in _last:
        raise LookupError(f"there was no try{f' of {exercise}' if exercise else ''} yet: call exercises.check first")
    return _last[exercise].hint()


def last_reply(exercise: str = "") -> Reply:
    """Return the reply to the last try; raise LookupError if there is none."""
    if exercise not in _replies:
        raise LookupError(f"there was no try{f' of {exercise}' if exercise else ''} yet: call exercises.check first")
    return _replies[exercise]


def right_rules() -> dict[str, Any]:
    """Return the last answers to exercises on rules of the engine, if they are right, by the exercise's id."""
    return {name: reply.answer for name, reply in _replies.items()
            if name and reply.right and can_plug(reply.exercise)}  # fmt: skip


def walk(exercise: str = "") -> Any:
    """Return the walk through the first wrong call of the last try, with your answer in a small program.

    The walk opens at the first wrong step. A player outlines the wrong entries there, and shows the right ones beside
    them. After a right answer, it is the walk of the first call.

    Args:
        exercise: the id of the exercise; the one that was tried last, if omitted.
    Returns: a trace, or a sentence if the exercise has no walk.
    Raises: LookupError if there was no try yet.
    Example:
        >>> from micrograd_plus import exercises
        >>> reply = exercises.check("exp.x", lambda x: x)
        >>> [step.rule for step in exercises.walk()]
        ['sum.x', 'multiply.a', 'exp.x', 'add.a', 'add.b']

    See: `inputs`; `Trace`, which it returns.
    """
    return last_reply(exercise).walk()


def inputs(exercise: str = "") -> dict[str, Any]:
    """Return the inputs of the first wrong call of the last try.

    `answer(**exercises.inputs())` repeats the call, if the answer names all of them.

    Args:
        exercise: the id of the exercise; the one that was tried last, if omitted.
    Returns: a dictionary of copies, with the names that an answer can read.
    Raises: LookupError if there was no try yet.
    Example:
        >>> from micrograd_plus import exercises
        >>> reply = exercises.check("softmax.x", lambda upstream, out: upstream * out)
        >>> sorted(exercises.inputs())
        ['axis', 'out', 'upstream', 'x', 'x_shape']

    See: `walk`.
    """
    return last_reply(exercise).inputs()


def ask(
    trace: Any, what: Any, answer: Any = ..., *, say: str = "", why: str = "",
    entry: int | tuple[int, ...] | None = None,
) -> Guess | Card:  # fmt: skip
    """Check a guess about a walk: what a step sends, or what a value receives. Without a guess, show the question.

    If the guess is wrong, the walk is repeated with each mistake that fits, to find the mistake behind it. The question
    is a card in a notebook that has imported `micrograd_plus_viz`, and text elsewhere.

    Args:
        trace: the record of a walk.
        what: the number of a step, counted from 1 (for its contribution), a pair of the number and a value such as
            "after", the label of a value (for its gradient), or a pair such as ("y", "value").
        answer: a number or an array, compared to the number of digits in which it is written. With dots, or without
            an answer, the question itself is shown.
        say: the question in your own words.
        why: what is said after the right answer.
        entry: the index of the entry that is asked for; None (default) for the whole value.
    Returns: a reply, which is true if the answer is right.
    Raises: IndexError or KeyError if the walk has no such step, value or entry; ValueError if the answer is no finite
        number.
    Example:
        >>> from micrograd_plus import exercises
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     y = x * x
        ...     y.backward()
        >>> exercises.ask(trace, "x", 3.0)
        Not right: that is not the gradient of x. A known mistake gives this: the gradient is overwritten.

    See: `quiz`, for several questions; `micrograd_plus_viz.quiz`, for other kinds of question.
    """
    question = Question(trace, what, say, why, entry)
    reply = Card(question) if answer is ... else Guess(question, answer)
    _last[""] = reply
    return reply


__all__ = ["answer", "ask", "check", "hint", "inputs", "progress", "score", "walk"]
