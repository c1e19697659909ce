"""The text of a loop over blocks of rows, and of the function that it calls."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

from .blocks import Blocks, Rows
from .entries import DECORATOR, has_numba, say_by_entries
from .page import find


def say_blocks(loop: Blocks, text: Any) -> list[str]:
    """Return the lines of a loop. The function that it calls is added to the functions of the text.

    Where numba is installed, one call of a function that goes through all entries takes the place of the loop.
    """
    outs = [text.name(value, value.hint or ("total" if factor is None else "array"))
            for value, factor in zip(loop.outs(), loop.factors, strict=True)]  # fmt: skip
    body, name = _begin_function(loop, text)
    if has_numba() and (lines := say_by_entries(loop, body, text.page)) is not None:
        _add_function(text, name, body, lines, "Return what the step computes from each entry.", DECORATOR)
        text.modules["numba"] = import_module("numba")
        call = f"{name}({', '.join(text.say(x) for x in loop.args)})"
        numbers = [f"{name} = np.{value.dtype.name}({name})"  # numba returns Python's floats
                   for name, value in zip(outs, loop.outs(), strict=True) if value.shape == ()]  # fmt: skip
        return ["", f"{', '.join(outs)}{',' * (len(outs) == 1)} = {call}" if outs else call, *numbers, ""]
    body, _ = _begin_function(loop, text, name)
    lines = list(body.lines)
    if any(find((s.args, tuple(s.kwargs.values())), Rows) for s in loop.body.each_statement()):
        rows = next(x for x, is_split in zip(body.parameters, loop.is_split, strict=True) if is_split)
        lines.insert(0, f"count = len({rows})")
    about = f"Return some rows, and their part of sums over all rows. {loop.step} rows stay in the cache."
    _add_function(text, name, body, lines, about)
    text.functions[:-1] += body.functions
    return _say_loop(loop, text, name, outs)


def _say_loop(loop: Blocks, text: Any, function: str, outs: list[str]) -> list[str]:
    """Return the lines that call a function for one block after the other."""
    start, rows = text.find_free("start"), text.find_free("rows")
    lines, targets, additions = [""], [], []
    for name, value, factor in zip(outs, loop.outs(), loop.factors, strict=True):
        if factor is not None:
            lines.append(f"{name} = np.empty({text.say(value.shape)}, {text.say(value.dtype)})")
            targets.append(_say_rows(name, factor, loop, start, rows))
            continue
        lines.append(f"{name} = np.zeros({text.say(value.shape)}, {text.say(value.dtype)})" if value.is_array
                     else f"{name} = {text.say(value.dtype.type(0))}")  # fmt: skip
        targets.append(text.find_free(f"{name}_part"))
        additions.append(f"{name} += {targets[-1]}")
    said = [
        _say_rows(text.say(x), Fraction(1), loop, start, rows) if is_split else text.say(x)
        for x, is_split in zip(loop.args, loop.is_split, strict=True)
    ]
    call = f"{function}({', '.join(said)})"
    assignment = f"{', '.join(targets)}{',' * (len(targets) == 1)} = {call}" if targets else call
    return [
        *lines,
        f"for {start} in range(0, {loop.count}, {loop.step}):",
        f"    {rows} = slice({start}, {start} + {loop.step})",
        f"    {assignment}",
        *(f"    {line}" for line in additions),
        "",
    ]


def _begin_function(loop: Blocks, text: Any, name: str = "") -> tuple[Any, str]:
    """Return the text of the body of a loop, and the name of its function."""
    name = name or text.find_free("compute_rows")
    for statement in loop.body.each_statement():
        for value in statement.outs():
            value.name = ""
    for outer, inner in zip(loop.args, loop.body.inputs, strict=True):
        said = text.say(outer)
        inner.hint, inner.name = said if said.isidentifier() else outer.hint, ""
    return type(text)(loop.body, name, reserved=("count", "i", "j")), name


def _add_function(text: Any, name: str, body: Any, lines: list[str], about: str, decorator: str = "") -> None:
    """Add a function to the text."""
    head = [*[decorator] * bool(decorator), f"def {name}({', '.join(body.parameters)}):", f'    """{about}"""']
    text.functions.append([*head, *(f"    {line}" if line else "" for line in lines)])
    text.objects.update(body.objects)


def _say_rows(name: str, factor: Fraction, loop: Blocks, start: str, rows: str) -> str:
    """Return the text of the rows of an array that belong to a block."""
    if factor == 1:
        return f"{name}[{rows}]"
    return f"{name}[{scale(start, factor)} : {scale(f'({start} + {loop.step})', factor)}]"


def scale(name: str, factor: Fraction) -> str:
    """Return the text of a number of rows for each row of a loop."""
    said = f"{name} * {factor.numerator}" if factor.numerator != 1 else name
    return f"{said} // {factor.denominator}" if factor.denominator != 1 else said
