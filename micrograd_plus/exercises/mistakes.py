"""The catalogue of mistakes, read from `mistakes.toml` when it is first needed.

    >>> mistake("M20").title
    'the rule of tanh on its input'

A mistake has texts for the student, and wrong answers by which it is recognized. Those are Python code, or edits of a
right answer's source.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..backends import devices
from ..core.apply import Op
from .edit_hints import LAST_HINT, STEPS, where_to_look
from .sandboxed.values import parameter_names
from .spec import Mistake

np = devices.device("cpu").library

MUSEUM = "museum"
"""The id of mistakes that the museum shows and the catalogue does not list: engines made them, not students."""


class Row(NamedTuple):
    """One table of the file."""

    id: str
    title: str
    hints: list[str]
    wrong: list[dict[str, str]]


@cache
def catalogue() -> dict[str, Row]:
    """Return every row by the name of its table."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: Row(table.get("id", name), table["title"], table["hints"], table.get("wrong", []))
            for name, table in tables.items()}  # fmt: skip


def mistake(
    name: str, wrong_answer: Any = None, *, title: str = "", reason: str = "", recognizes: Any = None
) -> Mistake:
    """Return the mistake of a row, for one exercise.

    `reason` is a sentence about the right rule and becomes the last hint; without one, the row's own last hint is used.
    """
    row = catalogue()[name]
    question, explanation, *last = row.hints
    hints = (question, explanation, reason or (last[0] if last else LAST_HINT))
    return Mistake(row.id, title or row.title, hints, wrong_answer, recognizes)


# Wrong answers --------------


@cache
def rows_of_exhibits() -> dict[str, str]:
    """Return the row of each exhibit of the museum that shows a catalogued mistake."""
    return {wrong["exhibit"]: name for name, wrong in all_wrong() if "exhibit" in wrong}


def exhibit_mistake(exhibit: Any, wrong_answer: Any = None, reason: str = "") -> Mistake:
    """Return the mistake that an exhibit of the museum shows. Its story is a hint only if the catalogue has none."""
    name = rows_of_exhibits().get(exhibit.title)
    if name is not None:
        return mistake(name, wrong_answer, title=exhibit.name, reason=reason)
    question = where_to_look(f"{exhibit.name} {exhibit.story}") or STEPS
    return Mistake(MUSEUM, exhibit.name, (question, exhibit.story, reason or LAST_HINT), wrong_answer)


def wrong_rules(op: Op) -> Iterator[tuple[str, tuple[str, ...], Callable[..., Any]]]:
    """Yield the row, the inputs and the function of each wrong rule of an operation."""
    for name, wrong in all_wrong():
        operation, _, inputs = wrong.get("rule", "").partition(".")
        if operation == op.name:
            readable = dict.fromkeys(["xp", "upstream", "out", *op.inputs, *op.params, *op.residuals, *op.outputs,
                                      *(f"{each}_shape" for each in op.inputs)])  # fmt: skip
            label = f"{name}: {wrong['rule']}"
            yield name, tuple(inputs.split("+")), compile_code(wrong["code"], readable, {"np": np}, label)


def wrong_answers(exercise: str, right: Any, readable: Iterable[str] | None = None) -> list[tuple[str, Any]]:
    """Return the row and the wrong answer for each mistake of an exercise whose right answer is `right`."""
    answers = []
    for name, wrong in all_wrong():
        if wrong.get("exercise") == exercise:
            label = f"{name}: {exercise}"
            if "replace" in wrong:
                answers.append((name, edit_source(right, wrong["replace"], wrong["by"], label)))
            else:
                names = parameter_names(right) if readable is None else readable
                answers.append((name, compile_code(wrong["code"], names, vars(sys.modules[right.__module__]), label)))
    return answers


def all_wrong() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of the row and the declaration of every wrong answer."""
    return ((name, wrong) for name, row in catalogue().items() for wrong in row.wrong)


# Code -----------------------


def compile_code(code: str, readable: Iterable[str], namespace: dict[str, Any], label: str) -> Callable[..., Any]:
    """Make a function of an expression or a body with `return`. Its parameters are the readable names in the code."""
    body = code if "return" in code else f"return {code}"
    names = {node.id for node in ast.walk(ast.parse(wrap(body, []))) if isinstance(node, ast.Name)}
    parameters = [name for name in readable if name in names]
    return run_source(wrap(body, parameters), "answer", namespace, label)


def wrap(body: str, parameters: list[str]) -> str:
    """Return the source of a function with this body."""
    return f"def answer({', '.join(parameters)}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


@cache
def source_of(right: Any) -> str:
    """Return the source of a right answer, which Python reads from its file only once."""
    return textwrap.dedent(inspect.getsource(right))


def edit_source(right: Any, old: str, new: str, label: str) -> Any:
    """Run the source of a right answer with the one occurrence of `old` replaced, and return the result."""
    source = source_of(right)
    if source.count(old) != 1:
        raise ValueError(f"mistake {label}: {old!r} must occur exactly once in the right answer")
    return run_source(source.replace(old, new), right.__name__, vars(sys.modules[right.__module__]), label)


def run_source(source: str, name: str, namespace: dict[str, Any], label: str) -> Any:
    """Run source text and return what it defines under `name`. Tracebacks show its lines."""
    file = f"<mistake {label}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    definitions = dict(namespace)
    exec(compile(source, file, "exec", dont_inherit=True), definitions)  # noqa: S102 - our own text
    return definitions[name]
