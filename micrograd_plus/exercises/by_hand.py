"""Hints for a mistake without a name: one wrong entry of a call on few numbers, worked out by hand.

The numbers are those of the example in the prompt, never those of a try. The last hint has two digits of what is due.
"""

from __future__ import annotations

from typing import Any

from ..backends import devices
from ..checks.samples import Sample
from .compare import Expected, Wrong, close_entries, compare, constant_ratio, received_by_input
from .edit_hints import ask_for_quotient
from .from_functions import example_case
from .mistakes import LAST_HINT
from .prompts import example_inputs, example_sample, write_value
from .rule_answers import ENGINE
from .rule_cases import RuleCases
from .sandboxed import carry_out
from .sandboxed.drivers import EXAMPLE_FORMULAS
from .spec import ORDINARY, Case, Exercise, Mistake

np = devices.device("cpu").library

MOVE = 0.01
"""How far a hint moves an entry of an input."""
MOST_ENTRIES = 24


def hints_by_hand(exercise: Exercise, wrong: Wrong | None, answer: Any) -> Mistake:
    """Return a mistake without a name, whose hints work out one entry of a small call."""
    try:
        with np.errstate(all="ignore"):
            case = small_case(exercise)
            hints = None if case is None else hints_of_case(exercise, case, answer)
    except Exception:  # noqa: BLE001 - a student's code may raise anything; then the hints are general
        hints = None
    hints = hints or general_hints(exercise, wrong)
    return Mistake("unnamed", "no known mistake", hints if exercise.shows_right else (*hints[:2], LAST_HINT))


def small_case(exercise: Exercise) -> Case | None:
    """Return the call of the prompt's example; None if there is none."""
    if isinstance(exercise.draw, RuleCases):
        draw = exercise.draw
        sample = example_sample(exercise.op, draw.samples, draw.whole)
        inputs = example_inputs(exercise.op, sample)[: len(sample.inputs)]
        return draw.small_case(Sample(sample.op, inputs, sample.params, sample.excused))
    case = example_case(exercise) if exercise.kind in ("rule", "engine", "gaps", "lines") else None
    return case if case is not None and case.request["driver"] in ("call", "with_function") else None


def hints_of_case(exercise: Exercise, case: Case, answer: Any) -> tuple[str, str, str] | None:
    """Return hints about a wrong entry of a small call; None if the call is right.

    Among the wrong entries that move the fewest entries of the output, it is the one that should be largest. Two digits
    show that it is wrong, if they show that of any.
    """
    expected, outcome = Expected(exercise, case), carry_out(answer, case.request)
    wrong = compare(exercise, case, expected, outcome)
    sizes = [getattr(value, "size", 0) for value in case.request["arguments"].values()]
    if wrong is None or exercise.judge is not None or max(sizes) > MOST_ENTRIES:
        return None
    call = "; ".join(f"{name} = {text}" for name, text in shown_arguments(exercise, case))
    if outcome["values"] is None or wrong.kind == "shape":
        return (f"Try few numbers: {call}. There, {wrong.sentence}.", SHAPE_BY_SHAPE, LAST_HINT)
    name = wrong.answer or next(iter(expected.right))
    received, right = received_by_input(case, name, outcome["values"][name]), expected.right[name]
    is_wrong = ~close_entries(received, right, expected.slack[name])
    is_seen = is_wrong & np.vectorize(lambda *each: two_digits(each[0]) != two_digits(each[1]))(received, right)
    is_wrong = is_seen if np.any(is_seen) else is_wrong
    moved_by = np.where(is_wrong, count_moved_outputs(exercise, case, name, right.shape), np.inf)
    largest = np.argmax(np.where(is_wrong & (moved_by == np.min(moved_by)), np.abs(right), -1.0))
    place = tuple(int(each) for each in np.unravel_index(largest, right.shape))
    entry = f"{name}[{', '.join(map(str, place))}]" if place else name
    yours, due = two_digits(received[place]), two_digits(right[place])
    sent = write_value(np.round(received, 3))
    first = f"Try few numbers: {call}. Your answer sends {sent}; {entry} is wrong."
    moved = case.request["arguments"].get(name)
    if exercise.op is None or not hasattr(moved, "shape") or moved.shape != right.shape:
        return (first, f"Work out {entry} by hand, step by step. Where does your code first have another number?",
                f"It should be about {due}; you have {yours}.")  # fmt: skip
    start = float(moved[place])
    return (
        first,
        (f"Move {entry} from {start:g} to {start + MOVE:g}, and compute the output again. Which of its entries change, "
         f"and by how much? Multiply each change by its entry of upstream, and add."),
        (f"If {entry} moves by {MOVE:g}, the output times upstream changes by about {due} times {MOVE:g} in sum. So "
         f"{entry} should receive about {due}; you send {yours}. Which part of your rule is missing, or too much?"),
    )  # fmt: skip


def question_of_quotient(exercise: Exercise, wrong: Wrong | None, answer: Any) -> str:
    """Return a question for the factor by which the numbers of a small call are wrong, if the call shows that factor.

    It must be one of the call's lengths, or a value that the answer can read. For others, return an empty text.
    """
    try:
        with np.errstate(all="ignore"):
            case = small_case(exercise) if exercise.op is not None else None
            outcome = None if case is None else carry_out(answer, case.request)
            if case is None or outcome is None or outcome["values"] is None:
                return ""
            expected = Expected(exercise, case)
            found = compare(exercise, case, expected, outcome)
            name = next(iter(expected.right)) if found is None or found.answer is None else found.answer
            received, right = received_by_input(case, name, outcome["values"][name]), expected.right[name]
            if isinstance(received, Wrong) or received.shape != right.shape or not right.size:
                return ""
            quotient = constant_ratio(right, received)
            if quotient is None:
                kind = value_of_quotients(exercise, case, received, right)
                return ask_for_quotient(1.0, kind) if kind else ""
            elsewhere = None if wrong is None else wrong.ratio
            if abs(quotient) in CONSTANTS and (elsewhere is None or abs(elsewhere - quotient) < 1e-6):
                return ""
            kind = kind_of_quotient(exercise, case, quotient)
            return ask_for_quotient(quotient, kind, elsewhere=elsewhere) if kind else ""
    except Exception:  # noqa: BLE001 - a student's code may raise anything; then there is no such question
        return ""


CONSTANTS = (0.5, 1.0, 2.0)
"""Factors that may be numbers of a formula, even if a length of the call is the same number."""


def kind_of_quotient(exercise: Exercise, case: Case, quotient: float) -> str:
    """Return whether a factor is a length of the call's arrays, or a number of the call; an empty text if neither."""
    arrays = {name: value for name, value in readable_values(exercise, case) if hasattr(value, "shape")}
    lengths = {each for array in arrays.values() for each in (*np.shape(array), np.size(array))} - {0, 1}
    large = max(quotient, 1 / quotient, key=abs)
    if any(abs(large - each) < 1e-6 for each in lengths):
        return "length or count"
    numbers = [float(value) for _, value in readable_values(exercise, case) if np.ndim(value) == 0]
    return "number" if any(abs(large - each) < 1e-6 or abs(1 / large - each) < 1e-6 for each in numbers) else ""


def value_of_quotients(exercise: Exercise, case: Case, received: Any, right: Any) -> str:
    """Return "value" if the student's numbers are the right ones times an array of the call; else an empty text."""
    for _, value in readable_values(exercise, case):
        if np.ndim(value) and np.broadcast_shapes(np.shape(value), right.shape) == right.shape and np.allclose(
            received, right * value, rtol=1e-6
        ):
            return "value"
    return ""


def readable_values(exercise: Exercise, case: Case) -> list[tuple[str, Any]]:
    """Return the numbers and arrays of numbers that an answer can read on a call, by name, with the upstream."""
    arguments = {"upstream": case.expects.get("upstream"), **case.request["arguments"]}
    return [(name, value) for name, value in arguments.items()
            if isinstance(value, (int, float, np.ndarray)) and not isinstance(value, bool)]  # fmt: skip


def count_moved_outputs(exercise: Exercise, case: Case, name: str, shape: tuple[int, ...]) -> Any:
    """Return how many entries of the output change if each entry of an input moves; 1 for all if that is unknown."""
    op, arguments = exercise.op, case.request["arguments"]
    counts = np.ones(shape)
    if op is None or op.kind == "variadic" or np.shape(arguments.get(name)) != shape:
        return counts
    params = {key: arguments.get(key, value) for key, value in op.params.items()}

    def output(values: dict[str, Any]) -> Any:
        out, _ = op.compute(ENGINE, [values.get(each) for each in op.inputs], params)
        return np.concatenate([np.ravel(each) for each in (out if isinstance(out, tuple) else (out,))])

    before = output(arguments)
    for place in np.ndindex(shape):
        moved = np.array(arguments[name], float)
        moved[place] += MOVE
        counts[place] = np.sum(output({**arguments, name: moved}) != before) or np.inf
    return counts


def computed_values(exercise: Exercise) -> tuple[str, ...]:
    """Return the names of the values that the forward pass computes. Nobody can change them by themselves."""
    return () if exercise.op is None else ("out", *exercise.op.residuals)


def shown_arguments(exercise: Exercise, case: Case) -> list[tuple[str, str]]:
    """Return the arguments of a small call that a student sets, as code, with the upstream of a local derivative."""
    arguments = {**case.request["arguments"]}
    if case.expects.get("upstream") is not None:
        arguments["upstream"] = case.expects["upstream"]
    hidden = {*computed_values(exercise), *(f"{name}_shape" for name in arguments)}
    shown = [(name, write_value(value)) for name, value in arguments.items()
             if name not in hidden and not (value is None or value is False)
             and getattr(value, "size", 0) <= MOST_ENTRIES]  # fmt: skip
    if case.request["driver"] != "with_function":
        return shown
    return [(name, f"lambda x: {EXAMPLE_FORMULAS[arguments['f']]}" if name == "f" else text) for name, text in shown]


def two_digits(number: Any) -> str:
    """Return a number with two digits, which is no right answer yet."""
    return f"{float(np.real(number)) + 0.0:.2g}"


SHAPE_BY_SHAPE = "Print the shape of each value on that call. Which line has the first shape that you did not expect?"


def general_hints(exercise: Exercise, wrong: Wrong | None) -> tuple[str, str, str]:
    """Return hints about the call that failed, if the small call is right or there is none."""
    is_special = wrong is not None and wrong.case.about != ORDINARY
    if exercise.kind == "engine" and "For example:" in exercise.prompt:
        return ("Call your answer with the prompt's example, then with exercises.inputs(). Which number is wrong?",
                "Work that number out by hand, and print each value on the way. Which line has the first other number?",
                LAST_HINT)  # fmt: skip
    look = f"Look at what happens when {wrong.case.about}" if wrong is not None and is_special else (
        "Look at the first wrong call")  # fmt: skip
    question = "What is special about them?" if is_special else "What should come out, by hand?"
    if exercise.walk_program is not None and wrong is not None and wrong.answer and exercise.kind == "gradients":
        return (f"Call exercises.walk(): which steps send to {wrong.answer}, and how much does each send?",
                f"{wrong.answer} receives the sum of upstream times local slope, over all steps that send to it.",
                LAST_HINT)  # fmt: skip
    return (f"{look}: exercises.inputs() returns its inputs. {question}",
            "Call your answer on these inputs with a print in each line. Which line has the first wrong number?",
            LAST_HINT)  # fmt: skip


__all__ = ["computed_values", "hints_by_hand", "question_of_quotient", "small_case"]
