"""The program that `mg.compile` has written, beside the player: which of its lines belong to each step."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

from .trace_input import Trace

TITLE = "The step as a program"
MOST_LINES = 1000
"""How many lines the page shows; nothing is shown of a longer program's rest."""
COMMENT = re.compile(r"\s*# back through ([\w.]+)(?::.*)?  (\S+):(\d+)$")
LOOP = re.compile(r"(\s*)for \w+ in (?:reversed\()?range\((?:(\d+), )?(\d+)\)\)?:$")


class Block(NamedTuple):
    """Lines of a program below the comment with a rule and a source line. `count` says how often they run."""

    first: int
    last: int
    key: tuple[str, str, int]
    count: int


def written_lines(trace: Trace) -> list[dict[str, Any]]:
    """Return the program of a trace as a file with all its lines, and the first and last line for each step."""
    source = trace.get("written")
    if not source:
        return []
    lines = source.rstrip().split("\n")[:MOST_LINES]
    return [{"file": TITLE, "lines": [[i + 1, text] for i, text in enumerate(lines)], "steps": match(trace, lines)}]


def match(trace: Trace, lines: list[str]) -> list[list[int] | None]:
    """Return the first and last line for each step: blocks and steps of one rule and source line, in order."""
    blocks: dict[Any, list[list[int]]] = defaultdict(list)
    for block in reversed(find_blocks(lines)):
        blocks[block.key] += [[block.first, block.last]] * block.count
    found: list[list[int] | None] = []
    for step in trace["steps"]:
        site = trace["nodes"][step["node"]]["site"]
        rest = blocks[step["rule"], site["file"], site["line"]] if site else []
        found.append(rest.pop() if rest else None)
    return found


def find_blocks(lines: list[str]) -> list[Block]:
    """Return the blocks of a program that go back through a rule, with the rounds of the loops around them."""
    blocks: list[Block] = []
    rounds, indent = 1, ""
    for i, line in enumerate(lines):
        if line and rounds > 1 and not line.startswith(f"{indent} "):
            rounds = 1
        if loop := LOOP.match(line):
            rounds, indent = int(loop[3]) - int(loop[2] or 0), loop[1]
        if comment := COMMENT.match(line):
            last = i + 1
            while last < len(lines) and lines[last].strip() and not lines[last].lstrip().startswith("#"):
                last += 1
            blocks.append(Block(i + 1, last, (comment[1], comment[2], int(comment[3])), rounds))
    return blocks
