"""The program that `mg.compile` has written, beside the player: which of its lines belong to each step."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .trace_input import Trace

TITLE = "The step as a program"
MOST_LINES = 1000
"""How many lines the page shows; nothing is shown of a longer program's rest."""
COMMENT = re.compile(r"\s*# steps? ([\d, .]+): back through ([\w.]+)(?::.*)?(?:  \S+:\d+)?$")


class Block(NamedTuple):
    """Lines of a program that take steps of a walk, counted from 1, by a rule or by all rules of an operation."""

    first: int
    last: int
    steps: list[int]
    name: str


def written_lines(trace: Trace) -> list[dict[str, Any]]:
    """Return the program of a trace as a file with all its lines, and the first and last line for each step."""
    source = trace.get("written")
    if not source:
        return []
    lines = source.rstrip().split("\n")[:MOST_LINES]
    return [{"file": TITLE, "lines": [[i + 1, text] for i, text in enumerate(lines)], "steps": match(trace, lines)}]


def match(trace: Trace, lines: list[str]) -> list[list[int] | None]:
    """Return the first and last line for each step: those of the block with its number, if that has its rule.

    A step without a block of its own, such as that of a bias, belongs to the block of its node's step before.
    """
    blocks = {step: block for block in find_blocks(lines) for step in block.steps}
    found: list[list[int] | None] = []
    for i, step in enumerate(trace["steps"]):
        block = blocks.get(trace["first"] + i + 1)
        if block is not None:
            fits = step["rule"] == block.name or step["rule"].startswith(f"{block.name}.")
            found.append([block.first, block.last] if fits else None)
        else:
            is_same_node = i > 0 and trace["steps"][i - 1]["node"] == step["node"]
            found.append(found[-1] if is_same_node else None)
    return found


def find_blocks(lines: list[str]) -> list[Block]:
    """Return the blocks of a program that go back through a rule."""
    blocks: list[Block] = []
    for i, line in enumerate(lines):
        if comment := COMMENT.match(line):
            last = i + 1
            while last < len(lines) and lines[last].strip() and not lines[last].lstrip().startswith("#"):
                last += 1
            blocks.append(Block(i + 1, last, read_steps(comment[1]), comment[2]))
    return blocks


def read_steps(text: str) -> list[int]:
    """Return the numbers in a text such as `4, 9 ... 99`, which goes on in equal distances."""
    *known, last = map(int, re.findall(r"\d+", text))
    if "..." not in text:
        return [*known, last]
    first, second = known
    return list(range(first, last + (1 if second > first else -1), second - first))
