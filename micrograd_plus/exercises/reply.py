"""The reply that a student reads about one try: text first, fit for a screen reader, and independent of color."""

# pyright: reportPrivateUsage=false
# Whether a notebook can show traces is a private attribute of Trace.

from __future__ import annotations

import html
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ..core.apply import Op
from ..tensor import Tensor, tensor
from ..tracing import Trace, record
from .compare import Wrong
from .mark import Result
from .spec import Exercise, Mistake
from .texts import Text, escape, format_points, wrap_line

NOT_WRITTEN = "it stopped with NotImplementedError"
"""The start of the difference for a starter that runs unchanged."""


class Reply:
    """The result of one try in words: right or wrong, each part with its reason, and hints on request.

    `walk()` opens the walk at the first wrong step, `result` has everything as data. A reply is true if all is right.
    """

    def __init__(self, exercise: Exercise, result: Result, answer: Any):
        self.exercise, self.result, self.answer = exercise, result, answer
        self.hints_given = 0
        self.shown_walk = self._walk_to_show()  # here, so that the walk names a line of the student's code

    def _walk_to_show(self) -> Any:
        return self.walk() if Trace._mimebundle is not None and not self.right else None

    @property
    def right(self) -> bool:
        """Whether everything is right."""
        return self.result.right

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Show the text in a notebook and, if walks can be played there, the walk at the first wrong step."""
        trace = self.shown_walk or self._walk_to_show()
        if trace is None or Trace._mimebundle is None:
            return {"text/plain": self.text}
        player = trace._repr_mimebundle_()
        page = f"<pre style=\"white-space: pre-wrap\">{html.escape(self.text)}</pre>{player.get('text/html', '')}"
        return {**player, "text/plain": self.text, "text/html": page}

    @property
    def text(self) -> str:
        """The reply in words."""
        result = self.result
        if self.right:
            return f"{self.exercise.id}: right. {format_points(result.of)} of {format_points(result.of)} points."
        if result.first_wrong is not None and result.first_wrong.sentence.startswith(NOT_WRITTEN):
            return "\n".join(wrap_line(f"{self.exercise.id}: nothing is written yet. Replace `raise "
                                       f"NotImplementedError` by your answer, and run the cell again."))  # fmt: skip
        score = f"{format_points(result.points)} of {format_points(result.of)} points"
        lines = [f"{self.exercise.id}: not right yet. {score}."]
        width = max(len(part["name"]) for part in result.parts)
        for part in result.parts:
            score = f"{format_points(part['points'])} of {format_points(part['of'])}"
            lines += wrap_line(f"  {part['name']:<{width}}  {score}: {escape(part['reason'])}", width + 4)
        if result.first_wrong is not None:
            is_repeated = any(result.first_wrong.sentence in part["reason"] for part in result.parts)
            step = f"when {result.first_wrong.case.about}." if is_repeated else self.step
            lines += wrap_line(f"First wrong step: {escape(step)}", 2)
        if result.mistake is not None:
            lines += wrap_line(f"This looks like a known mistake: {result.mistake.title}. For a hint, call "
                               f"exercises.hint()")  # fmt: skip
        else:
            lines.append("This does not look like any known mistake.")
        return "\n".join(lines)

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
        if self.result.mistake is None:
            return Text("There is no hint: this does not look like any known mistake. Compute the first wrong step by "
                        "hand, with numbers as small as you can find.")  # fmt: skip
        self.hints_given, hint = next_hint(self.result.mistake, self.hints_given)
        return hint

    def walk(self) -> Any:
        """Return the walk through the first wrong call, with your rule instead of the engine's, for the player.

        It is None if the exercise has no walk, or if the walk's numbers would be the answer.
        """
        wrong = self.result.first_wrong
        return None if wrong is None else walk_with_answer(self.exercise, wrong, self.answer)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return self.result.to_dict()


def next_hint(mistake: Mistake, hints_given: int) -> tuple[int, Text]:
    """Return the number of the next hint of a mistake, and the hint. The last one repeats."""
    number = min(hints_given + 1, len(mistake.hints))
    return number, Text(f"Hint {number} of {len(mistake.hints)}: {mistake.hints[number - 1]}")


def opening_step(trace: Any, served: Sequence[str]) -> int:
    """Return the number of steps after which the player opens: the first rule for one of these inputs has just run."""
    first = (step.index for step in trace.steps if set(step.rule.partition(".")[2].split("+")) & set(served))
    return next(first, -1) + 1


def walk_with_answer(exercise: Exercise, wrong: Wrong, answer: Any) -> Any:
    """Return the trace of a wrong call with the student's rule in a copy of the operation, or None."""
    sample = wrong.case.expects.get("sample")
    if sample is None or not isinstance(answer, FunctionType) or wrong.kind == "refused":
        return None
    op = sample.op
    served = [name for name in wrong.case.request["answers"] if name in op.inputs]
    if not served or (op.kind == "elementwise" and len(served) > 1) or type(op) is not Op:
        return None
    copy = Op(op.forward, op.kind, outputs=op.outputs, residuals=op.residuals, constants=tuple(op.constants))
    try:
        for rule in op.rules:
            if not set(rule.inputs) & set(served):
                copy.add_rule(rule.inputs, rule.function)
        copy.add_rule(tuple(served), answer)
        upstream = wrong.case.expects.get("upstream", wrong.case.request["arguments"].get("upstream"))
        names = dict(zip(op.inputs, sample.inputs, strict=False))
        with record() as trace:
            leaves = {name: tensor(value, requires_grad=name in served) if hasattr(value, "dtype") else value
                      for name, value in names.items()}  # fmt: skip
            for name, leaf in leaves.items():
                if isinstance(leaf, Tensor):
                    leaf.label = name
            result = copy.apply(*leaves.values(), **sample.params)
            result.label = "out"
            result.backward(upstream)
        trace.opens_at = opening_step(trace, served)
        return trace if trace.steps else None
    except (Exception, SystemExit):  # noqa: BLE001 - a student's rule may raise anything; then there is no walk
        return None
