"""The text of a loop over blocks of rows, and of the function that it calls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .blocks import Blocks, Rows
from .page import find


def say_blocks(loop: Blocks, text: Any) -> list[str]:
    """Return the lines of a loop. The function that it calls is added to the functions of the text."""
    start, rows = text.find_free("start"), text.find_free("rows")
    lines, targets, additions = [""], [], []
    for value, factor in zip(loop.outs(), loop.factors, strict=True):
        name = text.name(value, value.hint or ("total" if factor is None else "array"))
        if factor is not None:
            lines.append(f"{name} = np.empty({text.say(value.shape)}, {text.say(value.dtype)})")
            targets.append(_say_rows(name, factor, loop, start, rows))
            continue
        lines.append(f"{name} = np.zeros({text.say(value.shape)}, {text.say(value.dtype)})" if value.is_array
                     else f"{name} = {text.say(value.dtype.type(0))}")  # fmt: skip
        targets.append(text.find_free(f"{name}_part"))
        additions.append(f"{name} += {targets[-1]}")
    function = _write_function(loop, text)
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


def _write_function(loop: Blocks, text: Any) -> str:
    """Add the function of a loop to the text, and return its name."""
    name = text.find_free("compute_rows")
    for outer, inner in zip(loop.args, loop.body.inputs, strict=True):
        said = text.say(outer)
        inner.hint = said if said.isidentifier() else outer.hint
    body = type(text)(loop.body, name, reserved=("count",))
    head = f"def {name}({', '.join(body.parameters)}):"
    lines = [f'    """Return some rows, and their part of sums over all rows. {loop.step} rows stay in the cache."""']
    if any(find((s.args, tuple(s.kwargs.values())), Rows) for s in loop.body.each_statement()):
        rows = next(x for x, is_split in zip(body.parameters, loop.is_split, strict=True) if is_split)
        lines.append(f"    count = len({rows})")
    text.functions += [*body.functions, [head, *lines, *(f"    {line}" if line else "" for line in body.lines)]]
    text.objects.update(body.objects)
    return name


def _say_rows(name: str, factor: Fraction, loop: Blocks, start: str, rows: str) -> str:
    """Return the text of the rows of an array that belong to a block."""
    if factor == 1:
        return f"{name}[{rows}]"
    return f"{name}[{scale(start, factor)} : {scale(f'({start} + {loop.step})', factor)}]"


def scale(name: str, factor: Fraction) -> str:
    """Return the text of a number of rows for each row of a loop."""
    said = f"{name} * {factor.numerator}" if factor.numerator != 1 else name
    return f"{said} // {factor.denominator}" if factor.denominator != 1 else said
