"""Gaps of a starter: in which line a student filled one wrongly."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from .spec import Case, Exercise

INSTEAD = re.compile(r"^`(\w+)` instead of `(\w+)`")


def wrong_gap(exercise: Exercise, answer: Any, title: str, cases: Sequence[Case]) -> str:
    """Return the line of a student's code in which a gap has one value instead of another, as the title says.

    A line is found if the other value in it makes the answer right. Return an empty text if there is no such line.
    """
    names = INSTEAD.match(title)
    if exercise.kind != "gaps" or names is None or not cases:
        return ""
    try:
        source = textwrap.dedent(inspect.getsource(answer))
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError, ValueError):
        return ""
    for number, changed in with_other_name(tree, *names.groups()):
        definitions = dict(answer.__globals__)
        exec(compile(changed, "<a gap filled otherwise>", "exec"), definitions)  # noqa: S102 - code that ran before
        filled = definitions[answer.__name__]
        if exercise.mark(cases, [exercise.run(filled, case.request) for case in cases]).right:
            return source.splitlines()[number - 1].strip()
    return ""


def with_other_name(tree: ast.Module, name: str, other: str) -> Iterator[tuple[int, ast.Module]]:
    """Yield the number of each line that reads a name, and the definition with the other name read there."""
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            changed = copy.deepcopy(tree)
            copied: Any = next(each for i, each in enumerate(ast.walk(changed)) if i == number)
            copied.id = other
            for each in changed.body:
                if isinstance(each, ast.FunctionDef):
                    each.decorator_list = []
            yield node.lineno, changed


__all__ = ["wrong_gap"]
