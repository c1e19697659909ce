"""The reply that a student reads about one try: text first, fit for a screen reader, and independent of color."""

# pyright: reportPrivateUsage=false
# Whether a notebook can show traces is a private attribute of Trace.

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..checks import reference
from ..tracing import Trace
from ..tracing.sites import rule_source
from .answer_walks import walk_of_case, walk_with_answer
from .by_hand import computed_values, hints_by_hand, question_of_quotient
from .compare import Wrong
from .diagnose import is_about_shapes
from .edit_hints import LAST_HINT, OUTCOMES, SHAPES, is_description, lead_to_change, where_to_look
from .gaps import wrong_gap
from .mark import Result
from .prompts import explain_words, join_names
from .sandboxed.drivers import example_function
from .sandboxed.values import copy_data
from .spec import ORDINARY, Case, Exercise, Mistake
from .texts import Text, escape, format_points, wrap_line
from .variants import VARIANT

NOT_WRITTEN = "it stopped with NotImplementedError"
"""The start of the difference for a starter that runs unchanged."""
DOTS_LEFT = "there are still dots"
"""The start of the difference for code with gaps that are not filled."""


class Reply:
    """The result of one try in words: right or wrong, each part with its reason, and hints on request.

    `walk()` opens the walk at the first wrong step, `inputs()` has the inputs of that call, `result` everything as
    data, and `printed` what the answer printed. A reply is true if all is right.
    """

    def __init__(
        self, exercise: Exercise, result: Result, answer: Any, cases: Sequence[Case] = (),
        printed: Sequence[tuple[Case, str]] = (), progress: str = "",
    ):  # fmt: skip
        self.exercise, self.result, self.answer, self.cases = exercise, result, answer, cases
        self.printed = [(case.about, text) for case, text in printed]
        self.progress = progress
        self.hints_given = 0

    @cached_property
    def shown_walk(self) -> Any:
        """The walk through the first wrong call, or through the first call of a right answer; None if there is none."""
        wrong = self.result.first_wrong
        if wrong is not None:
            return walk_with_answer(self.exercise, wrong, self.answer)
        return walk_of_case(self.exercise, self.cases[0], self.answer) if self.cases else None

    @property
    def right(self) -> bool:
        """Whether everything is right."""
        return self.result.right

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Show the text in a notebook and, if walks can be played there, the walk at the first wrong step.

        An unfinished answer has no walk.
        """
        if self.right or self.next_to_do or Trace._mimebundle is None or self.shown_walk is None:
            return {"text/plain": self.text}
        trace = self.shown_walk
        player = trace._repr_mimebundle_()
        page = f'<pre style="white-space: pre-wrap">{html.escape(self.text)}</pre>{player.get("text/html", "")}'
        return {**player, "text/plain": self.text, "text/html": page}

    @property
    def text(self) -> str:
        """The reply in words."""
        result = self.result
        if self.right:
            first = f"{self.exercise.id}: right. {format_points(result.of)} of {format_points(result.of)} points."
            return "\n".join([first, *describe_solution(self.exercise), *wrap_line(self.progress)]).rstrip()
        if self.next_to_do:
            return "\n".join(wrap_line(f"{self.exercise.id}: {self.next_to_do}"))
        score = f"{format_points(result.points)} of {format_points(result.of)} points"
        lines = [f"{self.exercise.id}: not right yet. {score}."]
        width = max(len(part["name"]) for part in result.parts)
        for part in result.parts:
            score = f"{format_points(part['points'])} of {format_points(part['of'])}"
            lines += wrap_line(f"  {part['name']:<{width}}  {score}: {escape(part['reason'])}", width + 4)
        if result.first_wrong is not None:
            is_repeated = any(result.first_wrong.sentence in part["reason"] for part in result.parts)
            step = f"when {result.first_wrong.case.about}." if is_repeated else self.step
            gradient = result.first_wrong.answer if self.exercise.kind == "gradients" else None
            if gradient or step != f"when {ORDINARY}.":
                first = f"gradient: {gradient}." if gradient else f"step: {escape(step)}"
                lines += wrap_line(f"First wrong {first}", 2)
        if result.mistake is not None:
            title = result.mistake.title
            said = "What it does instead" if is_description(title) else "This looks like a known mistake"
            lines += wrap_line(f"{said}: {title}. For a hint, call exercises.hint()")
        else:
            lines += wrap_line("This does not look like any known mistake. For one entry worked out by hand, call "
                               "exercises.hint()")  # fmt: skip
        lines.append("exercises.walk() shows the first wrong call step by step, exercises.inputs() returns its inputs.")
        return "\n".join(lines)

    @property
    def next_to_do(self) -> str:
        """What to do first if the starter is unchanged or has gaps left, as a sentence; otherwise an empty text."""
        sentence = "" if self.result.first_wrong is None else self.result.first_wrong.sentence
        if sentence.startswith(NOT_WRITTEN):
            return "nothing is written yet. Replace `raise NotImplementedError` by your answer, and run the cell again."
        if sentence.startswith(DOTS_LEFT):
            return f"{sentence.rstrip('.')}. Replace them by code, and run the cell again."
        return ""

    @property
    def step(self) -> str:
        """The first wrong step as a sentence."""
        wrong = self.result.first_wrong
        if wrong is None:
            return "there is none"
        return f"when {wrong.case.about}, {wrong.sentence.rstrip('.')}."

    def hint(self) -> str:
        """Return the next of three hints."""
        if self.right:
            return Text("There is no hint: your answer is right.")
        if self.next_to_do:
            return Text(f"{self.next_to_do[0].upper()}{self.next_to_do[1:]}")
        self.hints_given, hint = next_hint(self.mistake_with_hints, self.hints_given)
        return hint

    @cached_property
    def mistake_with_hints(self) -> Mistake:
        """The mistake with the hints that are shown.

        A mistake of the catalogue has its own. Without a last one, or without a name, one entry of a small call is
        worked out by hand. If the right answer with one change gives these numbers, the first hint says what to look
        at, and the last names the change.
        """
        known = self.result.mistake
        if known is not None and known.id != VARIANT and known.hints[-1] != LAST_HINT:
            return known
        by_hand = hints_by_hand(self.exercise, self.result.first_wrong, self.answer)
        if known is not None and known.id != VARIANT:
            first, second, third = by_hand.hints
            by_hand.hints = (*known.hints[:-1], f"{first} {second if third == LAST_HINT else third}")
        elif known is not None:
            wrong = self.result.first_wrong
            by_hand.hints = lead_to_change(
                known.title, by_hand.hints, self._where_to_look(known.title),
                quotient=question_of_quotient(self.exercise, wrong, self.answer),
                outcome=wrong.kind if wrong is not None and wrong.kind in OUTCOMES else "numbers",
                line=wrong_gap(self.exercise, self.answer, known.title, self.cases),
            )  # fmt: skip
        return by_hand

    def _where_to_look(self, title: str) -> str:
        """Return the question of a first hint; an answer of the wrong shape has its own."""
        exercise, wrong = self.exercise, self.result.first_wrong
        if wrong is not None and (
            wrong.kind == "shape" or (wrong.kind == "raised" and is_about_shapes(wrong.sentence))
        ):
            return SHAPES
        given = [] if wrong is None else wrong.case.request["arguments"]
        free = {name for name in given if not name.endswith("_shape")} - {"upstream", *computed_values(exercise)}
        return where_to_look(title, is_rule=exercise.op is not None, free=free)

    def walk(self) -> Any:
        """Return the walk of a small program with your answer in it, opened at the first wrong step.

        The player marks the wrong entries. Without a walk, return a sentence that says why there is none.
        """
        return self.shown_walk or Text(explain_no_walk(self.exercise, self.result.first_wrong))

    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the first wrong call by name, or of the first call if all is right."""
        wrong = self.result.first_wrong
        case = wrong.case if wrong is not None else self.cases[0] if self.cases else None
        arguments = {} if case is None else copy_data(case.request["arguments"])
        if case is not None and case.request["driver"] == "with_function":
            arguments["f"] = example_function(arguments["f"])
        return {name: value for name, value in arguments.items() if name != "tangents"}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return self.result.to_dict()


class MarkedLater(Reply):
    """The reply to an answer about a student's own walk, which only the grader checks."""

    def __init__(self, exercise: Exercise, answer: Any):
        parts = [{"name": part.name, "points": 0.0, "of": part.points, "reason": "marked later"}
                 for part in exercise.parts]  # fmt: skip
        super().__init__(exercise, Result(exercise, parts, Wrong("later", "it is marked later"), []), answer)

    @property
    def text(self) -> str:
        """The reply in words."""
        name = self.exercise.id
        noted = "there is no answer yet" if self.answer is None else f"your answer is {self.answer!r}"
        return "\n".join(wrap_line(
            f"{name}: {noted}. This walk is your own. It is checked when your work is marked, not here. "
            f"To practise, take another walk: exercises.get_exercise({name!r}).show(7), then "
            f"exercises.check({name!r}, step, seed=7)."
        ))  # fmt: skip

    @cached_property
    def shown_walk(self) -> Any:
        """The student's own walk."""
        return self.exercise.show()

    def hint(self) -> str:
        """Return a sentence that says where hints are."""
        return Text("There is no hint about the walk that is marked. Practise on another walk, and ask there.")


def describe_solution(exercise: Exercise) -> list[str]:
    """Return the engine's own rules with their formulas and reasons, as lines; nothing for other exercises."""
    if exercise.op is None:
        return []
    rules = [rule for rule in exercise.op.rules if set(rule.inputs) & set(exercise.serves)]
    formulas = {each.input: each.text for each in reference.rules(exercise.op)}
    lines: list[str] = []
    for rule in rules:
        of = f" for {join_names(rule.inputs)}" if len(rules) > 1 else ""
        source = rule_source(rule.function).text or ""
        lines += [f"The engine's own rule{of}:", *textwrap.indent(source, "  ").splitlines()] if source else []
        lines += [line for word in explain_words(source).split("\n") for line in wrap_line(word, 2) if word]
        lines += wrap_line(" ".join(rule.reason.split())) if rule.reason and '"""' not in source else []
        texts = dict.fromkeys(formulas[each] for each in rule.inputs if formulas.get(each))
        lines += [f"As a formula: {text}" for text in texts]
    if exercise.is_whole and exercise.op.kind == "elementwise":
        lines += wrap_line("The engine multiplies its rule by upstream, and undoes broadcasting by itself.")
    return lines


def explain_no_walk(exercise: Exercise, wrong: Wrong | None) -> str:
    """Return a sentence that says why there is no walk."""
    if wrong is not None and wrong.kind == "refused":
        return f"There is no walk yet: {wrong.sentence.rstrip('.')}."
    return (f"There is no walk: an answer to {exercise.id} is no gradient of a program. "
            f"exercises.inputs() returns the inputs of the first wrong call.")  # fmt: skip


def next_hint(mistake: Mistake, hints_given: int) -> tuple[int, Text]:
    """Return the number of the next hint of a mistake, and the hint. The last one repeats."""
    number = min(hints_given + 1, len(mistake.hints))
    return number, Text(f"Hint {number} of {len(mistake.hints)}: {mistake.hints[number - 1]}")
