"""One-edit variants of a source: a factor, a term, a call, a sign, an axis, a reduction, a name or a constant.

Each edit says what it does in words, so that it can be shown to a student:

    >>> [title for title, _ in edit_tree(ast.parse("1 - out * out"), ())][:3]
    ['`out * out` is left out', '`1` is left out', '`1` minus is left out']
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from typing import Any

Edit = tuple[str, ast.AST]
"""What an edit does, and the expression or statement that replaces another."""

LONGEST_QUOTE = 48
REDUCTIONS = {"sum": "mean", "mean": "sum", "max": "min", "min": "max", "all": "any", "any": "all"}
CURVES = ("exp", "log", "tanh", "sigmoid", "sqrt", "cosh", "abs", "sign", "softmax")
"""Functions of one array that can be forgotten, or applied twice."""
TRANSPOSES = ("mT", "transpose", "swapaxes")
AXES = {"-1": -1, "-2": -2, "0": 0, "None": None}


def edit_tree(tree: ast.AST, names: Sequence[str]) -> Iterator[tuple[str, ast.AST]]:
    """Yield every variant of a tree that one edit makes, with the words for it. `names` can replace each other."""
    for parent in ast.walk(tree):
        for field, child in ast.iter_fields(parent):
            children = child if isinstance(child, list) else [child]
            for place, node in enumerate(children):
                if not isinstance(node, ast.AST) or isinstance(node, (ast.expr_context, ast.operator, ast.arguments)):
                    continue
                if isinstance(node, ast.Constant) and isinstance(parent, (ast.keyword, ast.UnaryOp, ast.Subscript)):
                    continue  # an axis or an index
                for title, other in edit_node(node, names):
                    new = [*children[:place], other, *children[place + 1 :]] if isinstance(child, list) else other
                    yield title, replace_field(tree, parent, field, new)
            if field == "body" and isinstance(child, list):
                for title, body in edit_lines(child, is_loop=isinstance(parent, ast.For)):
                    yield title, replace_field(tree, parent, field, body)


def replace_field(tree: ast.AST, parent: ast.AST, field: str, value: Any) -> ast.AST:
    """Return a copy of a tree with one field of a node replaced."""
    replaced = copy.copy(parent)
    setattr(replaced, field, value)
    return replace_node(tree, parent, replaced)


def replace_node(tree: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """Return a copy of a tree with one node replaced. Everything off the path to that node is shared."""
    if tree is old:
        return new
    for field, child in ast.iter_fields(tree):
        children = child if isinstance(child, list) else [child]
        for place, node in enumerate(children):
            if isinstance(node, ast.AST) and any(each is old for each in ast.walk(node)):
                changed = copy.copy(tree)
                inner = replace_node(node, old, new)
                both = [*children[:place], inner, *children[place + 1 :]]
                setattr(changed, field, both if isinstance(child, list) else inner)
                return changed
    return tree


def quote(node: ast.AST) -> str:
    """Return the text of an expression as a student writes it, in backquotes."""
    text = ast.unparse(node).replace("xp.", "").replace("np.", "")
    return f"`{text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + '…'}`"


def edit_node(node: Any, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of one expression or statement."""
    editor = EDITORS.get(type(node))
    if editor is not None:
        yield from editor(node, names)


# Expressions ----------------


def edit_operation(node: ast.BinOp, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of an operation on two operands."""
    left, right = node.left, node.right
    if isinstance(node.op, ast.Mult) and ast.dump(left) == ast.dump(right):
        yield f"the square is left out: {quote(left)} instead of {quote(node)}", left
        yield f"twice {quote(left)} instead of its square", ast.BinOp(left, ast.Add(), right)
    elif type(node.op) in OPERATIONS:
        yield from OPERATIONS[type(node.op)](node, left, right)


def edit_power(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of a power."""
    yield f"the power is left out: {quote(left)} instead of {quote(node)}", left
    yield f"{quote(left)} times {quote(right)} instead of a power", ast.BinOp(left, ast.Mult(), right)
    for word, op in {"large": ast.Add(), "small": ast.Sub()}.items():
        exponent = ast.BinOp(right, op, ast.Constant(1))
        if isinstance(right, ast.Constant) and isinstance(right.value, (int, float)):
            exponent = ast.Constant(right.value + (1 if word == "large" else -1))
        other = ast.BinOp(left, ast.Pow(), exponent)
        yield f"{quote(other)} instead of {quote(node)}: the exponent is one too {word}", other


def edit_sum(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of a sum."""
    yield f"{quote(right)} is left out", left
    yield f"{quote(left)} is left out", right
    yield f"a sign is wrong: `-` instead of `+`, before {quote(right)}", ast.BinOp(left, ast.Sub(), right)
    yield (f"{quote(left)} and {quote(right)} are multiplied instead of added",
           ast.BinOp(left, ast.Mult(), right))  # fmt: skip


def edit_difference(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of a difference."""
    yield f"{quote(right)} is left out", left
    yield f"{quote(left)} is left out", ast.UnaryOp(ast.USub(), right)
    if isinstance(left, ast.Constant):
        yield f"{quote(left)} minus is left out", right
    yield f"a sign is wrong: `+` instead of `-`, before {quote(right)}", ast.BinOp(left, ast.Add(), right)
    yield "the difference is the wrong way round: a minus is missing", ast.BinOp(right, ast.Sub(), left)


def edit_product(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of a product."""
    yield f"{quote(right)} is left out", left
    yield f"{quote(left)} is left out", right
    yield f"divided by {quote(right)} instead of multiplied", ast.BinOp(left, ast.Div(), right)
    yield f"{quote(left)} and {quote(right)} are added instead of multiplied", ast.BinOp(left, ast.Add(), right)
    for factor, other in ((left, right), (right, left)):
        if not isinstance(factor, ast.Constant):
            yield f"the factor {quote(factor)} is there twice", ast.BinOp(node, ast.Mult(), factor)
        if name_of_call(other) in REDUCTIONS and other.args:
            inside = ast.BinOp(other.args[0], ast.Mult(), factor)
            yield (f"{quote(factor)} is multiplied inside of `{name_of_call(other)}`, not after it",
                   ast.Call(other.func, [inside, *other.args[1:]], other.keywords))  # fmt: skip


def edit_quotient(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of a quotient."""
    yield f"the division by {quote(right)} is left out", left
    yield f"multiplied by {quote(right)} instead of divided", ast.BinOp(left, ast.Mult(), right)
    yield f"the quotient is upside down: {quote(right)} over {quote(left)}", ast.BinOp(right, ast.Div(), left)


def edit_matrix_product(node: ast.BinOp, left: Any, right: Any) -> Iterator[Edit]:
    """Yield the edits of `@`."""
    yield f"{quote(right)} is left out", left
    yield f"{quote(left)} is left out", right
    entries = ast.BinOp(left, ast.Mult(), right)
    yield from edit_matrices(left, right, entries, lambda a, b: ast.BinOp(a, ast.MatMult(), b))


OPERATIONS: dict[Any, Any] = {
    ast.Pow: edit_power, ast.Add: edit_sum, ast.Sub: edit_difference, ast.Mult: edit_product, ast.Div: edit_quotient,
    ast.MatMult: edit_matrix_product,
}  # fmt: skip
"""The editor of each operation on two operands."""


def edit_matrices(left: Any, right: Any, entries: Any, make: Any) -> Iterator[Edit]:
    """Yield the edits of a product of matrices."""
    yield "the matrices are multiplied in the wrong order", make(right, left)
    yield "the factors are multiplied entry by entry, not as matrices", entries


def edit_sign(node: ast.UnaryOp, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edit of a sign."""
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield f"the minus before {quote(node.operand)} is left out: the sign is wrong", node.operand


def edit_call(node: ast.Call, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of a call: left out, applied twice, another reduction, another axis."""
    name = name_of_call(node)
    if node.args:
        for known, editor in CALLS:
            if name in known:
                yield from editor(node, name)
    yield from edit_keywords(node)


def name_of_call(node: Any) -> str:
    """Return the name of the function or method that is called; an empty text for other nodes."""
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def edit_reduction(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of a reduction: another one, or none."""
    if isinstance(node.func, ast.Attribute):
        other = copy.copy(node.func)
        other.attr = REDUCTIONS[name]
        yield f"`{REDUCTIONS[name]}` instead of `{name}`", ast.Call(other, node.args, node.keywords)
    yield f"`{name}` is left out: only the entry itself counts", node.args[0]
    if isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Mult):
        for inside, outside in permutations((node.args[0].left, node.args[0].right)):
            reduced = ast.Call(node.func, [inside, *node.args[1:]], node.keywords)
            yield (f"{quote(outside)} is multiplied after `{name}`, not inside of it",
                   ast.BinOp(reduced, ast.Mult(), outside))  # fmt: skip


def edit_curve(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of a function of one array: it is left out, or applied twice."""
    yield f"`{name}` is left out", node.args[0]
    yield f"`{name}` is applied twice", ast.Call(node.func, [node, *node.args[1:]], node.keywords)


def edit_transpose(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edit of a transpose: it is left out."""
    yield f"a transpose is missing: {quote(node.args[0])} instead of {quote(node)}", node.args[0]


def edit_unreduce(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of `unreduce`: another axis."""
    for word, value in AXES.items() if len(node.args) > 2 else ():
        changed = [*node.args[:2], ast.Constant(value), *node.args[3:]]
        yield f"`axis` is fixed to {word}", ast.Call(node.func, changed, node.keywords)


def edit_range(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of `range`: a round too few at either end, or one too many."""
    *start, stop = node.args[:2]
    fewer, more = ast.BinOp(stop, ast.Sub(), ast.Constant(1)), ast.BinOp(stop, ast.Add(), ast.Constant(1))
    yield "the last round is left out: off by one", ast.Call(node.func, [*start, fewer], [])
    yield "one round too many: off by one", ast.Call(node.func, [*start, more], [])
    if not start:
        yield "the first round is left out: off by one", ast.Call(node.func, [ast.Constant(1), stop], [])


def edit_pairs(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of `zip`: the first or the last pair is left out."""
    for words, bounds in {"first": (ast.Constant(1), None), "last": (None, ast.Constant(-1))}.items():
        parts: list[ast.expr] = [ast.Subscript(each, ast.Slice(*bounds), ast.Load()) for each in node.args]
        yield f"the {words} pair is left out", ast.Call(node.func, parts, [])


def edit_reversal(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edit of `reversed`."""
    yield "the order is not reversed", node.args[0]


def edit_matmul(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of `matmul`."""
    if len(node.args) == 2:
        left, right = node.args
        entries = ast.BinOp(left, ast.Mult(), right)
        yield from edit_matrices(left, right, entries, lambda a, b: ast.Call(node.func, [a, b], []))
        yield f"{quote(right)} is left out", left
        yield f"{quote(left)} is left out", right


def edit_where(node: ast.Call, name: str) -> Iterator[Edit]:
    """Yield the edits of `where`."""
    if len(node.args) == 3:
        condition, yes, no = node.args
        yield "the two sides are exchanged", ast.Call(node.func, [condition, no, yes], [])
        yield f"{quote(yes)} everywhere, without the condition", yes
        yield f"{quote(no)} everywhere, without the condition", no


CALLS: tuple[tuple[Any, Any], ...] = (
    (REDUCTIONS, edit_reduction), (CURVES, edit_curve), (TRANSPOSES, edit_transpose), (("unreduce",), edit_unreduce),
    (("reversed",), edit_reversal), (("range",), edit_range), (("zip",), edit_pairs), (("matmul",), edit_matmul),
    (("where",), edit_where),
)  # fmt: skip
"""The editors of calls, with the names of the functions that they know."""


def edit_keywords(node: ast.Call) -> Iterator[Edit]:
    """Yield the edits of a call's keywords."""
    for place, keyword in enumerate(node.keywords):
        if keyword.arg == "axis":
            for word, value in AXES.items():
                changed = ast.keyword("axis", ast.Constant(value))
                keywords = [*node.keywords[:place], changed, *node.keywords[place + 1 :]]
                yield f"`axis` is fixed to {word}", ast.Call(node.func, node.args, keywords)


def edit_attribute(node: ast.Attribute, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of `.T`, and of an attribute that is one of the names, such as `other.data`."""
    if node.attr == "T":
        yield f"a transpose is missing: {quote(node.value)} instead of {quote(node)}", node.value
    text = ast.unparse(node)
    if isinstance(node.ctx, ast.Load) and text in names:
        for other in names:
            if other != text:
                yield f"`{other}` instead of `{text}`", ast.parse(other, mode="eval").body


def edit_subscript(node: ast.Subscript, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edit of `[::-1]`."""
    if isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        yield f"the order is not reversed: {quote(node.value)}", node.value


def edit_comparison(node: ast.Compare, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of a comparison."""
    opposite = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Eq: ast.NotEq}
    both = {ast.Gt: ast.GtE, ast.Lt: ast.LtE}
    kind = type(node.ops[0])
    if kind in opposite:
        yield (f"the comparison is the wrong way round: {quote(node)}",
               ast.Compare(node.left, [opposite[kind]()], node.comparators))  # fmt: skip
    if kind in both:
        yield f"equal entries count too: {quote(node)}", ast.Compare(node.left, [both[kind]()], node.comparators)


def edit_constant(node: ast.Constant, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of a number."""
    if type(node.value) in (int, float):
        for other in (0, 1, 2):
            if node.value not in {0, other} and (other or node.value == 1):
                words = "is left out" if other == 1 else f"is replaced by `{other}`"
                yield f"the number `{node.value}` {words}", ast.Constant(other)


def edit_name(node: ast.Name, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of a name: another name that can be read."""
    if isinstance(node.ctx, ast.Load) and node.id in names:
        for other in names:
            if other != node.id:
                yield f"`{other}` instead of `{node.id}`", ast.parse(other, mode="eval").body


def edit_choice(node: ast.IfExp, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of a conditional expression."""
    yield f"{quote(node.body)} always: {quote(node.orelse)} is left out", node.body
    yield f"{quote(node.orelse)} always", node.orelse


# Statements -----------------


def edit_addition(node: ast.AugAssign, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits of `+=` and of its kind."""
    signs: dict[type, ast.operator] = {ast.Add: ast.Sub(), ast.Sub: ast.Add()}
    if type(node.op) in signs:
        other = ast.AugAssign(node.target, signs[type(node.op)], node.value)
        yield f"a sign is wrong: {quote(other)} instead of {quote(node)}", other
    yield f"the gradient is overwritten: {quote(node.target)} is assigned, not added to", ast.Assign(
        [node.target], node.value, lineno=1
    )
    yield f"a line is left out: {quote(node)}", ast.Pass()


def edit_assignment(node: ast.Assign, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edit of an assignment to a part of something: it is left out."""
    if not isinstance(node.targets[0], ast.Name):
        yield f"a line is left out: {quote(node)}", ast.Pass()


def edit_lines(body: list[Any], *, is_loop: bool) -> Iterator[tuple[str, list[Any]]]:
    """Yield the edits of a block's lines: two of a loop are exchanged, or one is moved into a loop or out of it."""
    for i, (line, following) in enumerate(pairwise(body)):
        before, after = body[:i], body[i + 2 :]
        if is_loop and isinstance(line, SIMPLE) and isinstance(following, SIMPLE):
            yield f"two lines are exchanged: {quote(following)} runs before {quote(line)}", [
                *before, following, line, *after
            ]  # fmt: skip
        if isinstance(line, SIMPLE) and isinstance(following, ast.For):
            yield f"{quote(line)} runs again in each round, not once before the loop", [
                *before, line, with_body(following, [line, *following.body]), *after
            ]  # fmt: skip
        if isinstance(line, ast.For) and isinstance(following, ast.Return):
            yield "the loop ends after its first round, since `return` is inside of it", [
                *before, with_body(line, [*line.body, following]), following, *after
            ]  # fmt: skip
    for i, line in enumerate(body):
        if isinstance(line, ast.For) and isinstance(line.body[0], SIMPLE) and len(line.body) > 1:
            first, *others = line.body
            yield f"{quote(first)} runs once before the loop, not in each round", [
                *body[:i], first, with_body(line, others), *body[i + 1 :]
            ]  # fmt: skip
        if isinstance(line, ast.For) and isinstance(line.body[-1], SIMPLE) and len(line.body) > 1:
            *others, last = line.body
            yield f"{quote(last)} runs once after the loop, not in each round", [
                *body[:i], with_body(line, others), last, *body[i + 1 :]
            ]  # fmt: skip


SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
"""Statements of one line."""


def with_body(loop: ast.For, body: list[Any]) -> ast.For:
    """Return a loop with another body."""
    return ast.For(loop.target, loop.iter, body, loop.orelse, lineno=1)


EDITORS: dict[Any, Any] = {
    ast.BinOp: edit_operation, ast.UnaryOp: edit_sign, ast.Call: edit_call, ast.Attribute: edit_attribute,
    ast.Subscript: edit_subscript, ast.Compare: edit_comparison, ast.Constant: edit_constant, ast.Name: edit_name,
    ast.IfExp: edit_choice, ast.AugAssign: edit_addition, ast.Assign: edit_assignment,
}  # fmt: skip
"""The editor of each type of node."""
