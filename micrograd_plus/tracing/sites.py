"""Where things are written: the user's expression that applied an operation, and the source of a gradient rule."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from ..core.runtime.blocks import module_calls
from .values import Fields, np

_PACKAGE = __name__.partition(".")[0]


class Site(Fields):
    """A place in the user's program: file, line and columns of the expression, the line's text, the function's name.

    Lines count from 1, columns from 0 in characters. `file` is the path from here, or `cell 3` in a notebook.
    """

    __slots__ = ("column", "end_column", "end_line", "file", "function", "line", "text")

    file: str
    line: int
    end_line: int | None
    column: int | None
    end_column: int | None
    text: str | None
    function: str | None

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}: {(self.text or '').strip()}"


_HERE = f"{Path(__file__).absolute().parent.parent}{os.sep}"
_LIBRARY = f"{Path(os.__file__).absolute().parent}{os.sep}"
_ARRAYS = f"{Path(np.__file__).absolute().parent}{os.sep}"
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_OF_FUNCTIONS = tuple(f"{_HERE}{folder}{os.sep}" for folder in ("checks", "exercises", "grading", "transforms"))
ENGINE, ENTERS, USER = "engine", "module", "function"
"""Whose code is: the engine's own (and Python's, on the way), that by which a module is called, and the user's."""
kinds: dict[int, tuple[str, CodeType]] = {}
"""What `kind_of` has said before, by the code's place in memory: code is slow to hash, and kept so that the place stays
its own."""
of_engine: set[int] = set()
of_users: set[int] = set()
"""The places in memory of the code that has been found to be the engine's, and of other code."""


def kind_of(code: CodeType) -> str:
    """Whose code it is; NumPy's counts as the engine's. The engine's examples stand for a user's."""
    known = kinds.get(id(code))
    if known is not None:
        return known[0]
    path = code.co_filename
    ours = path.startswith(_HERE) and not path.startswith(f"{_HERE}examples{os.sep}")
    of_python = path.startswith(_LIBRARY) and not any(part in path for part in _INSTALLED)
    if code in module_calls:
        kind = ENTERS
    elif ours or of_python or path.startswith((_ARRAYS, "<compiled:", "<frozen")):
        kind = ENGINE
    else:
        kind = USER
    kinds[id(code)] = kind, code
    (of_engine if kind == ENGINE else of_users).add(id(code))
    return kind


def calls_others(code: CodeType) -> bool:
    """Whether code runs other programs, to transform or to judge them: its name is no name of an operation."""
    return code.co_filename.startswith(_OF_FUNCTIONS)


def is_ours(code: CodeType) -> bool:
    """Whether code is the engine's own."""
    path = code.co_filename
    return path.startswith((_HERE, "<compiled:")) and not path.startswith(f"{_HERE}examples{os.sep}")


def site_at(code: CodeType, names: dict[str, Any], instruction: int) -> Site:
    """Where an instruction of some code stands; `names` are its module's."""
    line, end_line, column, end_column = _position(code, instruction)
    line = line or code.co_firstlineno
    text = linecache.getline(code.co_filename, line, names).rstrip("\n")
    end_text = text if end_line in (None, line) else linecache.getline(code.co_filename, end_line, names)
    shift = _shift(code)
    return Site(
        file=(file_name_of_rule if is_ours(code) else file_name)(code.co_filename),
        line=line,
        end_line=end_line,
        column=_characters(text, column, shift),
        end_column=_characters(end_text, end_column, shift),
        text=text or None,
        function=None if code.co_name == "<module>" else code.co_name,
    )


@lru_cache(maxsize=4096)
def _position(code: CodeType, instruction: int) -> tuple[int | None, int | None, int | None, int | None]:
    """The line and columns of an instruction; Python counts columns in bytes of UTF-8."""
    for place, position in enumerate(code.co_positions()):
        if place * 2 == instruction:
            return position[0], position[1], position[2], position[3]
    return None, None, None, None


@lru_cache(maxsize=4096)
def _shift(code: CodeType) -> int:
    """How much further in a program stands than what was compiled of it, as marimo's cells do in their file. Nothing
    begins left of its line's indentation."""
    begun = [(linecache.getline(code.co_filename, line or 0), at) for line, _, at, end in code.co_positions() if end]
    return max([0, *(len(text) - len(text.lstrip()) - (at or 0) for text, at in begun)])


def _characters(text: str, column: int | None, shift: int) -> int | None:
    """A column counted in characters."""
    if column is None or not text:
        return None
    return len(text.encode()[: column + shift].decode(errors="ignore"))


def file_name(path: str) -> str:
    """A file as a reader knows it: the notebook's cell, the path from here, or its last part."""
    cell = _notebook_cells().get(path)
    if cell is not None:
        return f"cell {cell}"
    return path if path.startswith("<") else _from(path, str(Path.cwd()))


@lru_cache(maxsize=1024)
def _from(path: str, here: str) -> str:
    """A file's path from a folder, or its last part where it lies elsewhere."""
    from_here = os.path.relpath(path, here) if Path(path).drive == Path(here).drive else path
    return Path(path).name if from_here.startswith("..") else from_here.replace(os.sep, "/")


def _notebook_cells() -> dict[str, int]:
    """Which cell each of IPython's temporary files stands for."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {})


# The source of a rule -------


def rule_source(function: FunctionType) -> tuple[str | None, str, int]:
    """A rule's own source, with the file and line where it begins."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    for node in _definitions("".join(lines)):
        if _is_code_of(node, code):
            return _segment(lines, node), file_name_of_rule(code.co_filename), node.lineno
    return None, file_name_of_rule(code.co_filename), code.co_firstlineno


def _is_code_of(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return node.name == code.co_name and code.co_firstlineno == first
    if code.co_name != "<lambda>" or node.lineno != code.co_firstlineno:
        return False
    starts = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column]
    if not starts:  # Python 3.12 does not say where a constant stands
        (again, *_) = compile(ast.Expression(node), "", "eval").co_consts
        return repr(again.co_consts) == repr(code.co_consts)
    inside = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return all(inside[0] <= start <= inside[1] for start in starts)


def _segment(lines: list[str], node: Any) -> str:
    """The lines of a definition, without the indentation and decoration around it."""
    written = lines[node.lineno - 1 : node.end_lineno]
    if isinstance(node, ast.FunctionDef):
        return "".join(written).rstrip("\n")
    written[-1] = written[-1].encode()[: node.end_col_offset].decode()  # Python counts columns in bytes
    written[0] = written[0].encode()[node.col_offset :].decode()
    return " ".join("".join(written).split())


@lru_cache(maxsize=64)
def _definitions(text: str) -> list[ast.Lambda | ast.FunctionDef]:
    """The functions that a file defines, with and without a name."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a notebook cell with magics, or a file that has changed since
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Lambda, ast.FunctionDef))]


def file_name_of_rule(path: str) -> str:
    """The file of a rule: the engine's own by their path within it."""
    marker = f"{os.sep}{_PACKAGE}{os.sep}"
    return path[path.rindex(marker) + 1 :].replace(os.sep, "/") if marker in path else file_name(path)
