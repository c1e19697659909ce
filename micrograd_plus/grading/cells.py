"""Cells of a submission, their static analysis, and the choice of cells to run for an exercise."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .reasons import UnreadableError, reason

ANSWER_CALL = re.compile(r"(?:answer|check)\(\s*[\"']([^\"']{1,80})[\"']")
DEFINITION = re.compile(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", re.MULTILINE)


@dataclass
class Analysis:
    """Static analysis of the source of a cell."""

    binds: set[str] = field(default_factory=set)
    """The names that it assigns or defines."""
    reads: set[str] = field(default_factory=set)
    exercises: set[str] = field(default_factory=set)
    """The IDs of exercises that it answers with `answer` or `check`."""
    problem: str | None = None
    """Why it is not valid Python."""
    tree: ast.Module | None = None


@dataclass(frozen=True)
class Cell:
    """One piece of a submission that runs as a unit."""

    where: str
    """Its name in reasons: `cell 3`, `line 12`."""
    source: str
    line: int = 0
    """The number of lines before it in its file."""
    is_test: bool = False
    """Whether it is a test cell of a school system. Test cells do not run."""

    @cached_property
    def analysis(self) -> Analysis:
        """The static analysis of its source."""
        return analyse(self.source)

    def split(self) -> list[Cell]:
        """Return one cell for each statement."""
        return [Cell(self.where, source, self.line + before) for before, source in statements(self.source)]


def parse(source: str) -> ast.Module:
    """Return the syntax tree of some code; raise SyntaxError if there is none for whatever reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (MemoryError, RecursionError) as error:
        raise SyntaxError("it is nested too deeply") from error
    except ValueError as error:
        raise SyntaxError("it contains an invalid character") from error


def syntax_problem(error: SyntaxError) -> str:
    """Return the reason for a syntax error."""
    return reason("syntax", line=error.lineno or 1, what=str(error.msg)[:120])


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a program, each with the number of lines before it; one line is never split."""
    try:
        tree = parse(text)
    except SyntaxError as error:
        raise UnreadableError(syntax_problem(error)) from error
    lines = text.split("\n")
    starts, end = [], 0
    for each in tree.body:
        start = min([each.lineno, *(decorator.lineno for decorator in getattr(each, "decorator_list", []))])
        if start > end:
            starts.append(start - 1)
        end = max(end, each.end_lineno or each.lineno)
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=False):
        yield start, "\n".join(lines[start:stop])


def analyse(source: str) -> Analysis:
    """Analyse the source of a cell. If it is not valid Python, search its text instead."""
    analysis = Analysis()
    try:
        analysis.tree = parse(source)
    except SyntaxError as error:
        analysis.problem = syntax_problem(error)
        analysis.exercises = set(ANSWER_CALL.findall(source))
        analysis.binds = {first or second for first, second in DEFINITION.findall(source)}
        return analysis
    for node in ast.walk(analysis.tree):
        if isinstance(node, ast.Name):
            (analysis.reads if isinstance(node.ctx, ast.Load) else analysis.binds).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            analysis.binds.add(node.name)
        elif isinstance(node, ast.alias):
            analysis.binds.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Call):
            analysis.exercises |= answered_exercise(node)
    return analysis


def answered_exercise(node: ast.Call) -> set[str]:
    """Return the ID in a call such as `exercises.answer("tanh.x")` or `check("tanh.x", f)`; empty for other calls."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("answer", "check") and node.args and isinstance(node.args[0], ast.Constant):
        return {str(node.args[0].value)}
    return set()


# Which cells an exercise needs ----------------------------------------------------------------------------------------


def split_answers(cell: Cell, functions: set[str]) -> list[Cell]:
    """Return the statements of a cell that answers an exercise, as cells; other cells as they are.

    So imports and helpers beside one answer also run for the other exercises.
    """
    analysis = cell.analysis
    if analysis.tree is None or len(analysis.tree.body) < 2 or not (analysis.exercises or analysis.binds & functions):
        return [cell]
    return cell.split()


def exercises_of(cells: Sequence[Cell], functions: dict[str, str]) -> list[set[str]]:
    """Return for each cell the exercises that it answers. `functions` has the function's name for each exercise."""
    by_function = {name: exercise for exercise, name in functions.items()}
    return [cell.analysis.exercises | {by_function[name] for name in cell.analysis.binds & by_function.keys()}
            for cell in cells]  # fmt: skip


def cells_to_run(owners: Sequence[set[str]], exercise: str, deadly: set[int]) -> list[int]:
    """Return the cells to run for an exercise: its own, and cells of no exercise, except deadly ones.

    `owners` has the exercises of each cell (see `exercises_of`).
    """
    return [place for place, own in enumerate(owners) if place not in deadly and (not own or exercise in own)]


def required_cells(cells: Sequence[Cell], owners: Sequence[set[str]], exercise: str) -> set[int]:
    """Return the cells of an answer, the cells that bind the names they read, and so on."""
    required = {place for place, own in enumerate(owners) if exercise in own}
    new = set(required)
    while new:
        reads = {name for place in new for name in cells[place].analysis.reads}
        new = {place for place, cell in enumerate(cells) if place not in required and cell.analysis.binds & reads
               and (not owners[place] or exercise in owners[place])}  # fmt: skip
        required |= new
    return required


def is_starter(source: str, starter: str) -> bool:
    """Return whether an answer is the unchanged starter, apart from comments and spaces."""
    try:
        answer, original = parse(source), parse(starter)
    except SyntaxError:
        return source.strip() == starter.strip()
    statements_of_answer = {ast.dump(each) for each in answer.body}
    return bool(original.body) and all(
        ast.dump(each) in statements_of_answer for each in original.body if not is_import_or_text(each)
    )


def is_import_or_text(node: Any) -> bool:
    """Return whether a statement is an import or only a string."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
