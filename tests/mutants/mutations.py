"""Small changes of a source text, each of which a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

SWAPS: dict[type[ast.AST], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+", ast.MatMult: "*",
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.And: "or", ast.Or: "and", ast.BitAnd: "|",
    ast.BitOr: "&",
}  # fmt: skip
"""Replacements of operators."""

ANNOTATIONS = ("annotation", "returns", "decorator_list")


class Mutant(NamedTuple):
    """One change: where it is, what it says, and the whole changed text."""

    function: str
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.function}:{self.line} {self.before!r} -> {self.after!r}"


def mutants_of(source: str) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    offsets = [0]
    for line in source.encode().split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    found = []
    for function, node in _nodes_in_functions(tree):
        for start, end, after in _changes(node):
            first, last = (offsets[line - 1] + column for line, column in (start, end))
            text = source.encode()
            before = text[first:last].decode()
            changed = (text[:first] + after.encode() + text[last:]).decode()
            if before != after and _is_valid(changed):
                found.append(Mutant(function, start[0], before, after, changed))
    return sorted(dict.fromkeys(found), key=lambda mutant: (mutant.line, mutant.before, mutant.after))


def _is_valid(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _nodes_in_functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield each node inside a function, with the function's name; without annotations, messages and docstrings."""

    def visit(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or name in ANNOTATIONS:
                    continue
                if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr):
                    continue
                inside = function
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inside = f"{function}.{child.name}".lstrip(".")
                elif function:
                    yield function, child
                yield from visit(child, inside)

    yield from visit(tree, "")


Place = tuple[int, int]


def _span(node: ast.AST) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined] - expressions and statements have places


def _changes(node: ast.AST) -> Iterator[tuple[Place, Place, str]]:
    """Yield the changes at one node: where the new text begins and ends, and the text."""
    if isinstance(node, ast.BinOp):
        yield from _swap(node.left, node.op, node.right, node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _swap(node.left, node.ops[0], node.comparators[0], node)
    elif isinstance(node, ast.BoolOp):
        yield from _swap(node.values[0], node.op, node.values[1], node)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield *_span(node.test), "False"
        if not isinstance(node, ast.While):
            yield *_span(node.test), "True"
    elif (text := _replacement(node)) is not None:
        yield *_span(node), text


def _replacement(node: ast.AST) -> str | None:
    """Return the replacement of a whole node; None for nodes that stay."""
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return f"({ast.unparse(node.operand)})"
        case ast.Constant(value=bool()):
            return str(not node.value)
        case ast.Constant(value=int()):
            return str(node.value + 1)
        case ast.Return(value=ast.Call(args=[first, *_])):
            return f"return {ast.unparse(first)}"
        case ast.AugAssign() | ast.Delete() | ast.Expr(value=ast.Call()):
            return "pass"
        case ast.Assign() if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            return "pass"  # a value that is written, and not only named
    return None


def _swap(left: ast.AST, op: ast.AST, right: ast.AST, whole: ast.AST) -> Iterator[tuple[Place, Place, str]]:
    after = SWAPS.get(type(op))
    if after is not None:
        text = f"({ast.unparse(left)}) {after} ({ast.unparse(right)})"
        if isinstance(whole, ast.BoolOp) and len(whole.values) > 2:
            rest = f" {'and' if isinstance(op, ast.And) else 'or'} ".join(ast.unparse(v) for v in whole.values[2:])
            text = f"({text}) {'and' if isinstance(op, ast.And) else 'or'} {rest}"
        yield *_span(whole), text
