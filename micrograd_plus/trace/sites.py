"""Where things are written: the user's expression that applied an operation, and the source of a gradient rule."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


class Site:
    """A place in the user's program: file, line and columns of the expression, the line's text, the function's name.

    Lines count from 1, columns from 0 in characters. `file` is the path from here, or `cell 3` in a notebook.
    """

    __slots__ = ("column", "end_column", "end_line", "file", "function", "line", "text")

    def __init__(self, **fields: Any):
        for name in self.__slots__:
            setattr(self, name, fields.get(name))

    def to_dict(self) -> dict[str, Any]:
        """The fields, as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}: {(self.text or '').strip()}"


def user_frame() -> FrameType | None:
    """The innermost frame that is not the engine's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def frame_of(code: CodeType) -> FrameType | None:
    """The innermost frame that runs this code: within a composite, where its own forward stands."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def site_of(frame: FrameType | None) -> Site | None:
    """Where a frame is just now."""
    if frame is None:
        return None
    code = frame.f_code
    line, end_line, column, end_column = _position(code, frame.f_lasti)
    line = line or frame.f_lineno
    text = linecache.getline(code.co_filename, line, frame.f_globals).rstrip("\n")
    end_text = text if end_line in (None, line) else linecache.getline(code.co_filename, end_line, frame.f_globals)
    return Site(
        file=(file_name_of_rule if _is_ours(frame) else file_name)(code.co_filename),
        line=line,
        end_line=end_line,
        column=_characters(text, column),
        end_column=_characters(end_text, end_column),
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


def _characters(text: str, column: int | None) -> int | None:
    """A column counted in characters."""
    if column is None or not text:
        return None
    return len(text.encode()[:column].decode(errors="ignore"))


def file_name(path: str) -> str:
    """A file as a reader knows it: the notebook's cell, the path from here, or its last part."""
    cell = _notebook_cells().get(path)
    if cell is not None:
        return f"cell {cell}"
    if path.startswith("<"):
        return path
    from_here = os.path.relpath(path) if os.path.splitdrive(path)[0] == os.path.splitdrive(os.getcwd())[0] else path
    return os.path.basename(path) if from_here.startswith("..") else from_here.replace(os.sep, "/")


def _notebook_cells() -> dict[str, int]:
    """Which cell each of IPython's temporary files stands for."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {})


def name_in(frame: FrameType | None, value: Any) -> str | None:
    """The variable in which the user's program holds a value."""
    for name, held in _variables(frame):
        if held is value and not name.startswith("_"):
            return name
    return None


def path_in(frame: FrameType | None, value: Any) -> str | None:
    """The path of a parameter from the variable that holds its model, as in `net.0.weight`."""
    for name, held in _variables(frame):
        if hasattr(type(held), "named_parameters"):
            for path, parameter in held.named_parameters():
                if parameter is value:
                    return f"{name}.{path}" if name != "self" else path
    return None


def _variables(frame: FrameType | None) -> list[tuple[str, Any]]:
    """The variables that a frame sees, its own first."""
    return [] if frame is None else [*frame.f_locals.items(), *frame.f_globals.items()]


# The source of a rule -----------------------------------------------------------------------------------------------------


def rule_source(function: FunctionType) -> tuple[str | None, str, int]:
    """A rule's own source, with the file and line where it begins."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    tree = _parsed(code.co_filename, "".join(lines))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.Lambda, ast.FunctionDef)) and _is_code_of(node, code):
            return _segment(lines, node), file_name_of_rule(code.co_filename), node.lineno
    return None, file_name_of_rule(code.co_filename), code.co_firstlineno


def _is_code_of(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return node.name == code.co_name and code.co_firstlineno == first
    if code.co_name != "<lambda>" or node.lineno != code.co_firstlineno:
        return False
    starts = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column]
    inside = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return all(inside[0] <= start <= inside[1] for start in starts)


def _segment(lines: list[str], node: Any) -> str:
    """The lines of a definition, without the indentation and decoration around it."""
    if isinstance(node, ast.Lambda):
        text = ast.get_source_segment("".join(lines), node) or ""
        return " ".join(text.split())
    return "".join(lines[node.lineno - 1 : node.end_lineno]).rstrip("\n")


@lru_cache(maxsize=64)
def _parsed(filename: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:  # a notebook cell with magics, or a file that has changed since
        return None


def file_name_of_rule(path: str) -> str:
    """The file of a rule: the engine's own by their path within it."""
    marker = f"{os.sep}{_PACKAGE}{os.sep}"
    return path[path.rindex(marker) + 1 :].replace(os.sep, "/") if marker in path else file_name(path)
