"""Lines of the student's program that a trace knows, in the order of the file."""

from __future__ import annotations

from typing import Any

from .trace_input import Trace

MOST_LINES = 400
"""How many lines the page lists; longer programs show those of their first nodes."""


def program_lines(trace: Trace) -> list[dict[str, Any]]:
    """Return the files of a program, each with its known lines as `[number, text]`.

    These are the lines that created nodes, called them, or changed something between walks. Lines that did neither,
    such as comments, are not recorded.
    """
    files: dict[str, dict[int, str]] = {}
    sites = [site for node in trace["nodes"] for site in node["lines"]]
    sites += [trace["sites"][place] for entry in trace["journal"] for place in entry["lines"]]
    sites += [trace["sites"][place] for walk in trace["walks"] for place in walk.get("lines", ())]
    sites += [group["site"] for group in trace["groups"] if group.get("site")]
    for site in {id(site): site for site in sites}.values():
        lines = files.setdefault(site["file"], {})
        if site["text"] and len(lines) < MOST_LINES:
            lines.setdefault(site["line"], site["text"].rstrip())
    return [
        {"file": file, "lines": [[number, text] for number, text in sorted(lines.items())]}
        for file, lines in files.items()
        if lines
    ]
