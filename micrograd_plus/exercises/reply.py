"""Reply: what a student is told about one try. Text first: it fits a screen reader, and nothing is said by colour."""

# pyright: reportPrivateUsage=false
# How a trace is shown is asked for here too.

from __future__ import annotations

import html
import textwrap
import unicodedata
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ..core.apply import Op
from ..tensor import Tensor, tensor
from ..tracing import Trace, record
from .compare import Wrong
from .mark import Result
from .spec import Exercise

NOT_WRITTEN = "it stopped with NotImplementedError"
"""How it is told that a starter was run as it stands."""
WIDEST = 96
"""How many letters a line of a reply may have."""


class Reply:
    """Right or not, each part with its reason, and hints for the asking. `walk()` opens the walk at the first wrong
    step; `result` has everything as data."""

    def __init__(self, exercise: Exercise, result: Result, thing: Any):
        self.exercise, self.result, self.wrong_answer = exercise, result, thing
        self.stage = 0
        self.to_be_shown = self._walk_to_show()  # made here, where the line that made it is the student's own

    def _walk_to_show(self) -> Any:
        return self.walk() if Trace._mimebundle is not None and not self.right else None

    @property
    def right(self) -> bool:
        """Whether all of it is right."""
        return self.result.right

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """In a notebook: the text, and under it the walk at the first wrong step, where something plays walks."""
        trace = self.to_be_shown or self._walk_to_show()
        if trace is None or Trace._mimebundle is None:
            return {"text/plain": self.text}
        played = trace._repr_mimebundle_()
        page = f"<pre style=\"white-space: pre-wrap\">{html.escape(self.text)}</pre>{played.get('text/html', '')}"
        return {**played, "text/plain": self.text, "text/html": page}

    @property
    def text(self) -> str:
        """The reply in words."""
        result = self.result
        if self.right:
            return f"{self.exercise.id}: right. {number(result.of)} of {number(result.of)} points."
        if result.first_wrong is not None and result.first_wrong.sentence.startswith(NOT_WRITTEN):
            return "\n".join(wrapped(f"{self.exercise.id}: nothing is written yet. Put your answer in the place of "
                                     f"`raise NotImplementedError`, and run the cell again."))  # fmt: skip
        lines = [f"{self.exercise.id}: not right yet. {number(result.points)} of {number(result.of)} points."]
        width = max(len(part["name"]) for part in result.parts)
        for part in result.parts:
            score = f"{number(part['points'])} of {number(part['of'])}"
            lines += wrapped(f"  {part['name']:<{width}}  {score}: {shown(part['reason'])}", width + 4)
        if result.first_wrong is not None:
            told = any(result.first_wrong.sentence in part["reason"] for part in result.parts)
            step = f"where {result.first_wrong.case.about}." if told else self.step
            lines += wrapped(f"First wrong step: {shown(step)}", 2)
        if result.mistake is not None:
            lines += wrapped(f"A known mistake looks like this: {result.mistake.title}. Ask for a hint: "
                             f"exercises.hint()")  # fmt: skip
        else:
            lines.append("No known mistake looks like this.")
        return "\n".join(lines)

    @property
    def step(self) -> str:
        """The first wrong step, as a sentence."""
        wrong = self.result.first_wrong
        if wrong is None:
            return "there is none"
        return f"where {wrong.case.about}, {wrong.sentence.rstrip('.')}."

    def hint(self) -> str:
        """The next of three hints."""
        mistake = self.result.mistake
        if self.right:
            return Said("There is no hint: it is right.")
        if mistake is None:
            return Said("There is no hint: no known mistake looks like this. Take the first wrong step by hand, on "
                        "numbers as small as you can find.")  # fmt: skip
        self.stage = min(self.stage + 1, len(mistake.hints))
        return Said(f"Hint {self.stage} of {len(mistake.hints)}: {mistake.hints[self.stage - 1]}")

    def walk(self) -> Any:
        """The walk through the first wrong call with your rule in the place of the engine's, to be stepped through in
        the player; None where the exercise has no walk, or its numbers are the answer."""
        wrong = self.result.first_wrong
        return None if wrong is None else walk_with_answer(self.exercise, wrong, self.wrong_answer)

    def to_dict(self) -> dict[str, Any]:
        """The result, as plain data."""
        return self.result.to_dict()


class Said(str):
    """A sentence that is shown as it is read, without quotation marks, in lines that end between words."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(wrapped(str(self)))


def wrapped(line: str, hanging: int = 0) -> list[str]:
    """A line as lines that end between words: a notebook would cut them anywhere."""
    return textwrap.wrap(line, WIDEST, subsequent_indent=" " * hanging, break_long_words=False, drop_whitespace=True,
                         replace_whitespace=False, break_on_hyphens=False) or [line]  # fmt: skip


def number(value: float) -> str:
    """A number of points."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shown(text: str) -> str:
    """A student's text among ours: control characters, and those that turn the direction of writing, as escapes."""
    hidden = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in hidden else c for c in text)


def opening_step(trace: Any, served: Sequence[str]) -> int:
    """After how many steps a walk is opened: that of the first rule for one of these inputs has then been taken."""
    first = (step.index for step in trace.steps if set(step.rule.partition(".")[2].split("+")) & set(served))
    return next(first, -1) + 1


def walk_with_answer(exercise: Exercise, wrong: Wrong, thing: Any) -> Any:
    """The record of a call with a student's rule planted in a copy of its operation."""
    sample = wrong.case.expects.get("sample")
    if sample is None or not isinstance(thing, FunctionType) or wrong.kind == "refused":
        return None
    served = [name for name in wrong.case.request["answers"] if name in sample.op.inputs]
    op = sample.op
    if not served or (op.kind == "elementwise" and len(served) > 1) or type(op) is not Op:
        return None
    copy = Op(op.forward, op.kind, outputs=op.outputs, residuals=op.residuals, constants=tuple(op.constants))
    try:
        for rule in op.rules:
            if not set(rule.inputs) & set(served):
                copy.add_rule(rule.inputs, rule.function)
        copy.add_rule(tuple(served), thing)
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
    except (Exception, SystemExit):  # noqa: BLE001 - a student's rule may raise anything, and then there is no walk
        return None
