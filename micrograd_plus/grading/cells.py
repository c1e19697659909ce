"""Cells of a submission, their static analysis, and the choice of cells to run for an exercise."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
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
    file: str = ""
    """The file that it comes from."""

    @cached_property
    def analysis(self) -> Analysis:
        """The static analysis of its source."""
        return analyse(self.source)

    def split(self) -> list[Cell]:
        """Return one cell for each statement; the cell itself if it is not valid Python."""
        if self.analysis.tree is None or len(self.analysis.tree.body) < 2:
            return [self]
        return [replace(self, source=source, line=self.line + before) for before, source in statements(self.source)]


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


def exercises_of(cells: Sequence[Cell], functions: dict[str, str]) -> list[set[str]]:
    """Return for each cell the exercises that it answers. `functions` has the function's name for each exercise."""
    by_function = {name: exercise for exercise, name in functions.items()}
    return [cell.analysis.exercises | {by_function[name] for name in cell.analysis.binds & by_function.keys()}
            for cell in cells]  # fmt: skip


def answers_to_run(cells: Sequence[Cell], owners: Sequence[set[str]], starters: dict[str, str]) -> list[set[str]]:
    """Return the owners of each cell without those whose starter it contains unchanged beside another answer.

    `starters` has the starter of each exercise. A student may keep it and answer above or below it.
    """
    kept = [set(own) for own in owners]
    for exercise, starter in starters.items():
        places = [place for place, own in enumerate(owners) if exercise in own]
        if len(places) > 1:
            unchanged = [place for place in places if is_starter(cells[place].source, starter)]
            for place in unchanged if len(unchanged) < len(places) else ():
                kept[place] = {f"starter of {exercise}"}
    return kept


def cells_to_run(owners: Sequence[set[str]], exercise: str, deadly: set[int]) -> list[int]:
    """Return the cells to run for an exercise: its own, and cells of no exercise, except deadly ones.

    `owners` has the exercises of each cell (see `exercises_of`).
    """
    return [place for place, own in enumerate(owners) if place not in deadly and (not own or exercise in own)]


def required_cells(cells: Sequence[Cell], owners: Sequence[set[str]], exercise: str) -> set[int]:
    """Return the cells of an answer, the cells that bind the names they read, and so on."""
    binding: dict[str, list[int]] = {}
    for place, (cell, own) in enumerate(zip(cells, owners, strict=True)):
        for name in cell.analysis.binds if not own or exercise in own else ():
            binding.setdefault(name, []).append(place)
    waiting = [place for place, own in enumerate(owners) if exercise in own]
    required = set(waiting)
    while waiting:
        for name in cells[waiting.pop()].analysis.reads:
            new = [place for place in binding.pop(name, ()) if place not in required]
            required.update(new)
            waiting += new
    return required


def is_starter(source: str, starter: str) -> bool:
    """Return whether code contains nothing but statements of the starter, apart from comments, spaces and imports."""
    try:
        tokens, originals = (statements_as_tokens(text) for text in (source, starter))
    except (SyntaxError, UnreadableError, tokenize.TokenError):
        return source.strip() == starter.strip()
    return bool(tokens) and all(each in originals for each in tokens)


def statements_as_tokens(source: str) -> list[list[str]]:
    """Return the tokens of each statement, without imports and loose strings."""
    return [statement_tokens(text) for _, text in statements(source)
            if not all(map(is_import_or_text, parse(text).body))]  # fmt: skip


def statement_tokens(text: str) -> list[str]:
    """Return the words and signs of a statement, without comments and spaces; blocks begin and end with a sign."""
    layout = {tokenize.COMMENT: None, tokenize.NL: None, tokenize.NEWLINE: None, tokenize.ENDMARKER: None,
              tokenize.INDENT: ">", tokenize.DEDENT: "<"}  # fmt: skip
    words = (layout.get(each.type, each.string) for each in tokenize.generate_tokens(io.StringIO(text).readline))
    return [each for each in words if each is not None]


def is_import_or_text(node: Any) -> bool:
    """Return whether a statement is an import or only a string."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
