"""Which cells an exercise needs: its own and those of nobody, and where one of those is deadly, those that it reads
from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .reasons import Unreadable, say

MARKED = re.compile(r"(?:answer|check)\(\s*[\"']([^\"']{1,80})[\"']")
DEFINED = re.compile(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", re.MULTILINE)


@dataclass
class Unit:
    """What can be told of a cell without running it."""

    gives: set[str] = field(default_factory=set)
    """The names that it binds."""
    reads: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    """The ids of exercises that it hands something in for, by `answer` or `check`."""
    problem: str | None = None
    line: int | None = None
    tree: ast.Module | None = None


def parsed(source: str) -> ast.Module:
    """The tree of some code; every way in which there is none is a `SyntaxError`."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (MemoryError, RecursionError) as error:
        raise SyntaxError("it is nested too deeply") from error
    except ValueError as error:
        raise SyntaxError("it holds a character that is none") from error


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a program with the number of lines before each; those that share a line stay together."""
    try:
        tree = parsed(text)
    except SyntaxError as error:
        raise Unreadable(say("syntax", line=error.lineno or 1, what=str(error.msg)[:120])) from error
    lines = text.split("\n")
    starts, ends = [], 0
    for each in tree.body:
        start = min([each.lineno, *(deco.lineno for deco in getattr(each, "decorator_list", []))])
        if start > ends:
            starts.append(start - 1)
        ends = max(ends, each.end_lineno or each.lineno)
    for place, start in enumerate(starts):
        stop = starts[place + 1] if place + 1 < len(starts) else len(lines)
        yield start, "\n".join(lines[start:stop])


def unit(source: str) -> Unit:
    """What a cell binds, reads and hands in; of one that cannot be read as Python, what its text says."""
    made = Unit()
    try:
        made.tree = parsed(source)
    except SyntaxError as error:
        made.problem, made.line = say("syntax", line=error.lineno or 1, what=str(error.msg)[:120]), error.lineno
        made.marks = set(MARKED.findall(source))
        made.gives = {first or second for first, second in DEFINED.findall(source)}
        return made
    for node in ast.walk(made.tree):
        if isinstance(node, ast.Name):
            (made.reads if isinstance(node.ctx, ast.Load) else made.gives).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.gives.add(node.name)
        elif isinstance(node, ast.alias):
            made.gives.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Call):
            made.marks |= handed_in(node)
    return made


def handed_in(node: ast.Call) -> set[str]:
    """The id in `exercises.answer("…")`, `answer("…")` and the same with `check`."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("answer", "check") and node.args and isinstance(node.args[0], ast.Constant):
        return {str(node.args[0].value)}
    return set()


def owners(units: Sequence[Unit], wanted: dict[str, str]) -> list[set[str]]:
    """For each cell the exercises it answers. `wanted` gives for each exercise the name of its function."""
    by_name = {name: exercise for exercise, name in wanted.items()}
    return [each.marks | {by_name[name] for name in each.gives & by_name.keys()} for each in units]


def chosen(units: Sequence[Unit], owned: Sequence[set[str]], exercise: str, avoided: set[int]) -> list[int]:
    """The cells that are run for an exercise: all but the answers to others, and none of those to be avoided."""
    return [place for place in range(len(units))
            if place not in avoided and (not owned[place] or exercise in owned[place])]  # fmt: skip


def needed(units: Sequence[Unit], owned: Sequence[set[str]], exercise: str) -> set[int]:
    """The cells of an answer, and those that bind what they read, and so on."""
    found = {place for place in range(len(units)) if exercise in owned[place]}
    fresh = set(found)
    while fresh:
        reads = {name for place in fresh for name in units[place].reads}
        fresh = {place for place in range(len(units)) if place not in found and units[place].gives & reads
                 and (not owned[place] or exercise in owned[place])}  # fmt: skip
        found |= fresh
    return found


def same_as_starter(source: str, starter: str) -> bool:
    """Whether an answer is the starter, but for comments and spaces."""
    try:
        given, begun = parsed(source), parsed(starter)
    except SyntaxError:
        return source.strip() == starter.strip()
    first = {ast.dump(each) for each in given.body}
    return {ast.dump(each) for each in begun.body if not is_import(each)} <= first and bool(begun.body)


def is_import(node: Any) -> bool:
    """Whether a statement only imports, or is a text by itself."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
