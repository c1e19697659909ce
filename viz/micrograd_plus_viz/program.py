"""Lines of the student's program that a trace knows, in the order of the file."""

from __future__ import annotations

from typing import Any

from .trace_input import Trace

MOST_LINES = 400
"""How many lines the page lists; longer programs show those of their first nodes."""


def program_lines(trace: Trace) -> list[dict[str, Any]]:
    """Return the files of a program, each with its known lines as `[number, text]`, and its indents.

    These are the lines that created nodes, called them, or changed something between walks. Lines that did neither,
    such as comments, are not recorded.
    """
    files: dict[str, dict[int, str]] = {}
    functions: dict[tuple[str, str], set[int]] = {}
    sites = [site for node in trace["nodes"] for site in node["lines"]]
    sites += [trace["sites"][place] for entry in trace["journal"] for place in entry["lines"]]
    sites += [trace["sites"][place] for walk in trace["walks"] for place in walk.get("lines", ())]
    sites += [group["site"] for group in trace["groups"] if group.get("site")]
    for site in {id(site): site for site in sites}.values():
        lines = files.setdefault(site["file"], {})
        if site["text"] and len(lines) < MOST_LINES:
            lines.setdefault(site["line"], site["text"].rstrip())
            functions.setdefault((site["file"], site["function"]), set()).add(site["line"])
    return [
        {"file": file, "lines": [[number, text] for number, text in sorted(lines.items())],
         "indents": find_indents(lines, [seen for (name, _), seen in functions.items() if name == file])}
        for file, lines in files.items()
        if lines
    ]  # fmt: skip


def find_indents(lines: dict[int, str], functions: list[set[int]]) -> list[list[int]]:
    """Return the first line of each block and the indent that its lines share.

    A block is a function with the functions inside it, so that each is shown from the left edge.

    >>> find_indents({3: "    y = f(x)", 7: "y = g(x)", 9: "z = f(y)"}, [{3}, {7, 9}])
    [[3, 4], [7, 0]]
    """
    blocks: list[list[int]] = []
    for first, last in sorted((min(seen), max(seen)) for seen in functions):
        if blocks and first <= blocks[-1][1]:
            blocks[-1][1] = max(last, blocks[-1][1])
        else:
            blocks.append([first, last])
    return [[first, min(_indent_of(text) for number, text in lines.items() if first <= number <= last)]
            for first, last in blocks]  # fmt: skip


def _indent_of(text: str) -> int:
    return len(text) - len(text.lstrip())
