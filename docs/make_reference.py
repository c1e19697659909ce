"""Writes docs/reference/ from the code: every operation with its rules, their formulas, and a call with its
numbers.

    make reference           or           python docs/make_reference.py

The pages are committed, and a test compares them with what this writes.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from micrograd_plus import reference
from micrograd_plus.rule import KINDS

FOLDER = Path(__file__).resolve().parent / "reference"
INTRODUCTION = """\
# Reference

Every operation, by subject. All of it is written from the code by `make reference`: the formula of a rule is
what the rule itself computes when it is called with symbols, and every example has been run.

`upstream` is the gradient that arrives at the output, `contribution` what the input receives. Names of
inputs, of parameters and of the output (`out`) stand for their values. Where broadcasting repeated an input,
the engine adds the contribution up again; where the numbers are complex, it conjugates: see [how it
works](../how-it-works.md). What happens at kinks and ties is gathered in [conventions](../conventions.md).

The examples begin with

```python
import numpy as np
import micrograd_plus as mg
np.set_printoptions(precision=4, suppress=True, linewidth=100)
```

and their upstream is 1, -2, 3, -1, 2, -3 and so on, because an upstream of ones hides much: of ones, a
softmax sends 0.

| kind | its promise |
|---|---|
"""


def pages() -> dict[str, str]:
    """Every page of the reference, by file name."""
    written = {"index.md": index()}
    for heading, operations in reference.by_subject().items():
        parts = [f"# {heading}\n", *(entry(op) for op in operations)]
        parts += [phrase(function) for function in reference.phrases(heading)]
        written[file_of(heading)] = "\n".join(parts)
    return written


def file_of(heading: str) -> str:
    """The page of a subject."""
    return f"{heading.lower().replace(' ', '-')}.md"


def index() -> str:
    """What the kinds promise, and a table of all operations."""
    lines = [INTRODUCTION + "\n".join(f"| {kind} | {promise} |" for kind, promise in KINDS.items()), ""]
    for heading, operations in reference.by_subject().items():
        page = file_of(heading)
        lines += [f"## [{heading}]({page})", "", "| operation | what it is | kind |", "|---|---|---|"]
        lines += [row(page, op.name, op.forward, op.kind) for op in operations]
        lines += [row(page, f.__name__, f, "made of operations") for f in reference.phrases(heading)]
        lines.append("")
    return "\n".join(lines)


def row(page: str, name: str, function: Any, kind: str) -> str:
    """A line of the table."""
    return f"| [{name}]({page}#{anchor(name)}) | {cell(reference.headline(function))} | {kind} |"


def anchor(name: str) -> str:
    """The part of an address that leads to an entry."""
    return name.lower()


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return text.replace("|", "\\|")


def entry(op: Any) -> str:
    """All about one operation."""
    parts = [
        f"## {op.name}",
        fenced("python", reference.signature(op)),
        reference.summary(op),
        reference.details(op),
    ]
    parts.append(f"*{op.kind}*: {KINDS[op.kind]}.")
    parts += [rule(each) for each in reference.shared_rules(op)]
    if not op.rules and op.kind != "constant":
        parts.append("It has no rule of its own: its forward is made of operations, and their rules run.")
    example = reference.example(op)
    if example is not None:
        parts.append(fenced("pycon", example))
    return "\n\n".join(part for part in parts if part) + "\n"


def rule(served: list[Any]) -> str:
    """One rule: what it reads, its reason, the formula of each input that it serves, twice, and its source."""
    described = served[0]
    reads = ", ".join(f"`{name}`" for name in described.reads) or "nothing"
    parts = [f"**The rule for {', '.join(f'`{each.input}`' for each in served)}** reads {reads}."]
    if described.reason:
        parts.append(" ".join(described.reason.split()))
    for each in served:
        if len(served) > 1:
            parts.append(f"to `{each.input}`:")
        if each.text is None:
            parts.append("It cannot be read on symbols, so it has no formula.")
        else:
            parts += [fenced("text", each.text), fenced("math", each.latex)]
    parts.append(fenced("python", textwrap.dedent(described.source or "")))
    parts.append(f"in `{described.file}`")
    return "\n\n".join(parts)


def phrase(function: Any) -> str:
    """A function that is made of operations."""
    call = f"{reference.room(function)[0]}.{function.__name__}{reference.bare_signature(function)}"
    parts = [f"## {function.__name__}", fenced("python", call), *reference.paragraphs(function)]
    return "\n\n".join([*parts, "*Made of operations*, whose rules run."]) + "\n"


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def main() -> None:
    """Write every page, and remove those of subjects that are gone."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"Wrote {len(wanted)} pages to {FOLDER.name}.\n")


if __name__ == "__main__":
    main()
