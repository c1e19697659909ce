"""Writes docs/museum.md from `checks.museum`: every wrong rule next to the right one, and the test that detects it.

    make reference           or           python docs/make_museum.py

The page is committed, and a test compares it with the output of this program.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from micrograd_plus.checks import museum
from micrograd_plus.checks.museum.evidence import number
from micrograd_plus.files import write_file

PAGE = Path(__file__).resolve().parent / "museum.md"
MOST_NUMBERS = 6
"""The largest number of entries of a gradient that a page shows."""

INTRODUCTION = """\
# A museum of wrong rules

Engines shipped these mistakes, and students made them. Each is wrong in one way, but looks right in a test with a lazy
input: a square matrix, an upstream of ones, numbers without ties. Each can be run:

```python
from micrograd_plus.checks import museum, promises as check

exhibit = museum.find_exhibit("tanh: rule on the input")
with museum.replaced_rules(exhibit) as tanh:
    print(check.broken_promises(tanh))
```

`make reference` generates this page from the code, and its formulas from the rules. The tests plant every exhibit. They
check that it breaks the promise named here, that it looks right on the call named here, and that removing it restores
the right rule. Two mistakes are impossible in an elementwise operation, because its rule is a local derivative and does
not receive `upstream`: forgetting `upstream`, and taking the gate of a relu from the gradient.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for heading, wing in museum.WINGS.items():
        shown = [exhibit for exhibit in museum.exhibits if exhibit.wing == wing.__name__]
        parts += [f"## {heading}\n", *map(entry, shown)]
    return "\n".join(parts)


def entry(exhibit: Any) -> str:
    """One exhibit."""
    rules = exhibit.rules.items()
    parts = [
        f"### {exhibit.title}",
        exhibit.story,
        code_block("text", formulas(exhibit)),
        *(code_block("python", source(function, exhibit.op.kind, inputs)) for inputs, function in rules),
        numbers(museum.evidence(exhibit), exhibit.promise),
        f"Caught by: *{exhibit.promise}*. {looks_right(exhibit)}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def formulas(exhibit: Any) -> str:
    """The right formula over the wrong one, for each input that they serve."""
    lines = []
    for name, (right, wrong) in museum.formulas(exhibit).items():
        lines.append(f"{name}, right:  {spell(right, exhibit, name)}")
        lines.append(f"{name}, wrong:  {spell(wrong, exhibit, name)}")
    return "\n".join(lines)


def spell(formula: dict[str, Any], exhibit: Any, name: str) -> str:
    """A formula, or why there is none."""
    if formula["text"] is not None:
        return formula["text"].removeprefix("contribution = ")
    has_rule = any(name in rule.inputs for rule in exhibit.right_rules())
    return "as in the code, which speaks of arrays" if has_rule else "nothing is sent"


def source(function: FunctionType, kind: str, inputs: tuple[str, ...]) -> str:
    """The code of a wrong rule, under a line that says what it stands for."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    (tree,) = ast.parse("\n".join(lines)).body
    assert isinstance(tree, ast.FunctionDef)
    first = tree.body[1] if ast.get_docstring(tree) is not None else tree.body[0]
    signature = lines[tree.lineno - 1 : tree.body[0].lineno - 1]
    what = "the local derivative" if kind == "elementwise" else "what is sent"
    return "\n".join([f"# {what}, for {' and '.join(inputs)}", *signature, *lines[first.lineno - 1 :]])


def numbers(found: Any, promise: str) -> str:
    """Return the gradients of an input on a sample, by the right rule and by the wrong one."""
    if found.wrong is None:
        return f"On `{found.sample}`: {found.sentence}."
    what = "from a gradient of the gradient" if promise == museum.SECOND else "receives"
    rows = [f"| `{found.input}` {what} | on `{found.sample}` |", "|---|---|"]
    apart = np.flatnonzero(~np.isclose(found.right, found.wrong)) if found.right.shape == found.wrong.shape else []
    start = max(0, min(int(apart[0]), found.right.size - MOST_NUMBERS)) if len(apart) else 0
    rows += [f"| {name} | {some(values, start)} |" for name, values in (("right", found.right), ("wrong", found.wrong))]
    return "\n".join(rows) + f"\n\n{found.sentence[0].upper()}{found.sentence[1:]}."


def some(values: Any, start: int) -> str:
    """A few entries, from the first that differs on."""
    flat = np.ravel(values)[start : start + MOST_NUMBERS]
    before = "…, " if start > 0 else ""
    return before + ", ".join(map(number, flat)) + (", …" if start + MOST_NUMBERS < np.size(values) else "")


def looks_right(exhibit: Any) -> str:
    """On which call the rule looks right."""
    if exhibit.lazy is None:
        return "No natural input hides it."
    return f"Looks right where {exhibit.lazy.sentence}."


def code_block(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```" if text else ""


def main() -> None:
    """Write the page."""
    write_file(PAGE, page())
    sys.stdout.write(f"Wrote {PAGE.name}: {len(museum.exhibits)} exhibits.\n")


if __name__ == "__main__":
    main()
