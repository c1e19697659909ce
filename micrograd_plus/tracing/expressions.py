"""Expressions of the user's program: the source text of a value that has no name, and of an argument of a call."""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Mapping
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, NamedTuple, TypeGuard

from ..core.variable import Variable
from .sites import site_at

LONGEST_EXPRESSION = 32
"""The longest expression that serves as a name."""
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare)
"""Expressions that need parentheses inside another one."""
OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply", ast.Pow: "power"}
"""The operation of each operator on micrograd's values."""
VALUES = (*OPERATIONS, ast.Call, ast.Subscript, ast.Attribute)
"""Expressions that can be the value of an operation. A name or a list never is."""
TAKES_PARTS = ("FOR_ITER", "GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND", "CALL_FUNCTION_EX")
"""Instructions that take the entries of a value: the source text there is that of the whole value."""

COLLECTORS = ("list", "tuple", "set", "sorted")
"""Functions of Python's whose value is no tensor, though they may call the engine for each entry: `list(map(f, x))`."""
FOLDS = {"sum": "add", "prod": "multiply", "math.prod": "multiply"}
"""Functions of Python's that make one value of several, each with the operation that does it."""
OBJECT = "__object__"
"""Stands for the object of a method that is called on a later line, which is not part of the call's location."""


class Expression(NamedTuple):
    """The text of an expression, with `…` for parts if it is long, and whether it needs parentheses."""

    text: str
    is_operation: bool

    @property
    def in_formula(self) -> str:
        """The text as a factor of a formula."""
        return f"({self.text})" if self.is_operation else self.text


def expression_at(code: CodeType, names: dict[str, Any], instruction: int) -> Expression | None:
    """Return the expression that an instruction computes; None if it computes no value, or its text is unknown."""
    if instruction < 0 or dis.opname[code.co_code[instruction]] in TAKES_PARTS:
        return None
    return _expression(_source_text(code, names, instruction))


def can_be_value(code: CodeType, names: dict[str, Any], instruction: int, op: str) -> bool:
    """Return whether an operation can be the value of an instruction. It is not where Python calls the engine once for
    each entry, as in `s, t = map(mg.tanh, pair)`, or for the terms of a sum."""
    if instruction < 0 or dis.opname[code.co_code[instruction]] in TAKES_PARTS:
        return False
    tree = _parse(_source_text(code, names, instruction)) if "CALL" in dis.opname[code.co_code[instruction]] else None
    if not isinstance(tree, ast.Call):
        return True
    called = ast.unparse(tree.func)
    if called in ("reduce", "functools.reduce") and tree.args:
        return ast.unparse(tree.args[0]).rpartition(".")[2] == op
    return called == op or (called not in COLLECTORS and FOLDS.get(called, op) == op)


class Source(NamedTuple):
    """An expression of the program: its text, and its tree."""

    text: str
    tree: ast.expr

    @property
    def is_product(self) -> bool:
        """Whether it is `a @ b`, `mg.matmul(a, b)` or `a.matmul(b)`."""
        if isinstance(self.tree, ast.Call):
            return isinstance(self.tree.func, ast.Attribute) and self.tree.func.attr == "matmul"
        return isinstance(self.tree, ast.BinOp) and isinstance(self.tree.op, ast.MatMult)

    @property
    def function_path(self) -> str | None:
        """The function of a call, if it is a name or a member: `model.fc` in `model.fc(x)`."""
        function = self.tree.func if isinstance(self.tree, ast.Call) else None
        parts = [] if function is None else [*ast.walk(function)]
        is_path = all(isinstance(part, (ast.Name, ast.Attribute, ast.expr_context)) for part in parts)
        return ast.unparse(function) if function is not None and is_path and OBJECT not in self.text else None

    def argument(self, index: int, name: str, variables: Mapping[str, Any] | None) -> str | None:
        """Return the text of an argument of a call or an operator, by its index or its name.

        Names, calls, operations, subscripts, attributes and lists have one: `mask`, `mg.tensor(target[:8])`, `1 - y`,
        `batch["mask"]`, `[1.0, 2.0]`. A number needs none. The first argument of a method is its object; without
        `variables`, the call is no method.
        """
        call = self.tree
        arguments, by_name = _operands(call), {}
        if isinstance(call, ast.Call):
            arguments, by_name = call.args, {each.arg: each.value for each in call.keywords}
            if variables is not None and _is_method(call.func, variables):
                arguments = [call.func.value, *arguments]
        found = by_name.get(name) or (arguments[index] if index < len(arguments) else None)
        is_named = isinstance(found, (ast.Name, *VALUES, ast.List, ast.Tuple))
        return ast.get_source_segment(f"({self.text})", found) if is_named and OBJECT not in ast.dump(found) else None


    def number(self, op: str, variables: Mapping[str, Any]) -> str | None:
        """Return the variable, of two operands, that is a number, if an operation of this name is what the operator
        does: `x` of `w * x`, and `-y` of `score - y`, if that is an addition. None if both are numbers, or neither."""
        if not isinstance(self.tree, ast.BinOp):
            return None
        sides = [self.tree.left, self.tree.right]
        numbers = [
            side.id if isinstance(side, ast.Name) and isinstance(variables.get(side.id), (int, float)) else None
            for side in sides
        ]
        left, right = numbers
        if OPERATORS.get(type(self.tree.op)) == op:
            return None if left and right else left or right
        is_negative = op == "add" and isinstance(self.tree.op, ast.Sub)
        return f"-{right}" if is_negative and right and not left else None


def source_at(code: CodeType, names: dict[str, Any], instruction: int) -> Source | None:
    """Return the expression that an instruction computes; None if its text is unknown."""
    text = _source_text(code, names, instruction)
    tree = _parse(text)
    return None if tree is None else Source(text, tree)


def has_text(code: CodeType, names: dict[str, Any]) -> bool:
    """Return whether the text that some code was compiled from is known: not that of a text given to `exec`."""
    return bool(linecache.getlines(code.co_filename, names))


def is_operation(text: str) -> bool:
    """Return whether the text of an expression needs parentheses inside another one. The text of a number does not."""
    tree = _parse(text.replace("…", OBJECT))
    return isinstance(tree, OPERATIONS) and not isinstance(getattr(tree, "operand", None), ast.Constant)


def shorten(text: str) -> str | None:
    """Return the text of an expression with `…` for parts of it; None if that is too long as well."""
    short = _expression(text)
    return None if short is None else short.text


def _operands(tree: ast.expr) -> list[ast.expr]:
    """Return the operands of an operator, and the value that a part or an attribute is taken of."""
    if isinstance(tree, ast.BinOp):
        return [tree.left, tree.right]
    if isinstance(tree, ast.Compare):
        return [tree.left, *tree.comparators[:1]]
    if isinstance(tree, ast.UnaryOp):
        return [tree.operand]
    return [tree.value] if isinstance(tree, (ast.Subscript, ast.Attribute)) else []


def _is_method(function: ast.expr, variables: Mapping[str, Any]) -> TypeGuard[ast.Attribute]:
    """Return whether a function is a method of a tensor, and not a function of a module as `mg.where`."""
    if not isinstance(function, ast.Attribute) or not hasattr(Variable.public, function.attr):
        return False
    root = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return not (isinstance(root, ast.Name) and isinstance(variables.get(root.id), (ModuleType, type)))


def _source_text(code: CodeType, names: dict[str, Any], instruction: int) -> str:
    """Return the source text of an instruction on one line; empty if it is unknown."""
    site = site_at(code, names, instruction)
    if site.text is None or site.column is None or site.end_line is None:
        return ""
    rows = range(site.line, site.end_line + 1)
    lines = [linecache.getline(code.co_filename, row, names).rstrip("\n") for row in rows]
    lines[-1] = lines[-1][: site.end_column]
    before, lines[0] = lines[0][: site.column], lines[0][site.column :]
    text = " ".join(map(str.strip, lines))
    return f"{OBJECT}.{text}" if before.endswith(".") else text


@lru_cache(maxsize=4096)
def _expression(text: str) -> Expression | None:
    tree = _parse(text)
    if not isinstance(tree, VALUES):
        return None
    text = text.replace(OBJECT, "…", 1)
    short = text if len(text) <= LONGEST_EXPRESSION else _shorten(tree, _written_constants(tree, text))
    return None if short is None else Expression(short, isinstance(tree, OPERATIONS))


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr | None:
    """Return the tree of an expression; None for any other text, such as an assignment `x += y`."""
    try:
        return ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return None


def _written_constants(tree: ast.expr, text: str) -> dict[str, str]:
    """Return the texts in an expression as the program writes them, by how Python prints them: `'k'` is `"k"`."""
    in_f_strings = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
                    if part is not node}  # fmt: skip
    texts = [
        node for node in ast.walk(tree)
        if id(node) not in in_f_strings
        and (isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)))
    ]  # fmt: skip
    segments = [(ast.unparse(node), ast.get_source_segment(f"({text})", node)) for node in texts]
    return {printed: own for printed, own in segments if own}


def _shorten(tree: ast.expr, written: dict[str, str]) -> str | None:
    """Return the text of an expression with `…` for its innermost parts, as many as it takes to be short.

    The arguments of calls are left out before whole calls: `x.sum(…) / y.sum(…)`.
    """
    for depth in range(_depth(tree), -1, -1):
        for keeps_names in (True, False):
            abbreviator = _Abbreviator(depth, keeps_names=keeps_names)
            short = abbreviator.visit(ast.parse(ast.unparse(tree), mode="eval"))
            text = ast.unparse(short).replace(OBJECT, "…")
            for each in ast.walk(short):
                if isinstance(each, ast.GeneratorExp):  # which Python prints in parentheses of its own
                    text = text.replace(f"({ast.unparse(each)})", ast.unparse(each))
            for printed, own in written.items():
                text = text.replace(printed, own)
            if len(text) <= LONGEST_EXPRESSION:
                return None if text == "…" else text
    return None


def _depth(tree: ast.AST) -> int:
    """Return how deeply the operations, calls and subscripts of an expression are nested."""
    inner = max(map(_depth, ast.iter_child_nodes(tree)), default=0)
    return inner + (isinstance(tree, VALUES) and not isinstance(tree, ast.Attribute))


class _Abbreviator(ast.NodeTransformer):
    """Replaces the operations, calls and subscripts below a depth by `…`. With `keeps_names`, a call of a name keeps
    it: `x.sum(…)`."""

    def __init__(self, depth: int, *, keeps_names: bool):
        self.depth, self.keeps_names, self.level = depth, keeps_names, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        counts = isinstance(node, VALUES) and not isinstance(node, ast.Attribute)
        if counts and self.level == self.depth:
            rest = ast.Name("…", ast.Load())
            if self.keeps_names and isinstance(node, ast.Call) and (node.args or node.keywords):
                return ast.Call(node.func, [rest], []) if _depth(node.func) == 0 else rest
            return rest
        self.level += counts
        super().generic_visit(node)
        self.level -= counts
        return node
