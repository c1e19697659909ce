"""Docstrings split into their parts: summary, body and sections.

>>> from micrograd_plus.checks.docstrings import parts_of
>>> parts = parts_of(mg.tanh)
>>> parts.summary, parts.arguments, parts.shapes
('Compute the hyperbolic tangent, a smooth step from -1 to 1.', [('x', 'real or complex numbers.')], 'any -> the same.')
>>> parts_of(mg.layer_norm).body[0]
Block(text='out = (x - mean) / √(variance + eps) * weight + bias', is_verbatim=True)
"""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

SECTIONS = ("Shapes", "Args", "Returns", "Raises", "Example", "See")
"""The headings of a docstring, in their order."""

_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):(.*)$")
_ARGUMENT = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): ?(.*)$")


class Block(NamedTuple):
    """A paragraph on one line, or verbatim lines: formulas and small tables."""

    text: str
    is_verbatim: bool


@dataclass
class Docstring:
    """The parts of a docstring; missing ones are empty."""

    summary: str = ""
    body: list[Block] = field(default_factory=list[Block])
    shapes: str = ""
    arguments: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    returns: str = ""
    raises: str = ""
    example: str = ""
    see: str = ""


def parts_of(documented: Any) -> Docstring:
    """Return the parts of the docstring of a function, a class or a module."""
    text = inspect.cleandoc(documented.__doc__ or "")
    before, found = _sections(text)
    summary, _, rest = before.partition("\n\n")
    return Docstring(
        summary=_on_one_line(summary),
        body=_blocks(rest),
        shapes=_on_one_line(found.get("Shapes", "")),
        arguments=_arguments(found.get("Args", "")),
        returns=_on_one_line(found.get("Returns", "")),
        raises=_on_one_line(found.get("Raises", "")),
        example=textwrap.dedent(found.get("Example", "")).strip("\n"),
        see=_on_one_line(found.get("See", "")),
    )


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return the text before the first heading, and the text under each heading."""
    before: list[str] = []
    found: dict[str, list[str]] = {}
    here = before
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            here = found[heading[1]] = [heading[2].strip()]
        else:
            here.append(line)
    return "\n".join(before), {name: "\n".join(lines) for name, lines in found.items()}


def _blocks(text: str) -> list[Block]:
    """Split a text into paragraphs and indented blocks, which keep their form."""
    found: list[Block] = []
    for part in text.split("\n\n"):
        lines = [line for line in part.splitlines() if line.strip()]
        is_session = part.startswith(">>> ")
        for set_in, together in groupby(lines, key=lambda line, all_of_it=is_session: all_of_it or line[:4].isspace()):
            block = "\n".join(together)
            found.append(Block(textwrap.dedent(block) if set_in else _on_one_line(block), set_in))
    return found


def _arguments(text: str) -> list[tuple[str, str]]:
    """Return the names of arguments, several if they share a description, and the descriptions."""
    found: list[tuple[str, str]] = []
    for line in textwrap.dedent(text.strip("\n")).splitlines():
        begins = _ARGUMENT.match(line)
        if begins:
            found.append((begins[1], begins[2]))
        elif found:
            names, said = found[-1]
            found[-1] = (names, f"{said} {line.strip()}".strip())
    return found


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


# In a terminal --------------


def wrap_docstring(parts: Docstring, width: int) -> str:
    """Return a docstring as text with lines of at most `width` characters; formulas and examples are not wrapped."""
    text = [textwrap.fill(parts.summary, width)]
    text += [textwrap.indent(b.text, "    ") if b.is_verbatim else textwrap.fill(b.text, width) for b in parts.body]
    text.append("\n".join(_wrap_sections(parts, width)))
    text.append(_hang(f"See: {parts.see}", width) if parts.see else "")
    return "\n\n".join(filter(None, text))


def _wrap_sections(parts: Docstring, width: int) -> list[str]:
    """Return the lines of all sections except the last, in order."""
    lines = [_hang(f"Shapes: {parts.shapes}", width)] if parts.shapes else []
    if parts.arguments:
        lines += ["Args:", *(_hang(f"{names}: {said}", width, "    ") for names, said in parts.arguments)]
    lines += [_hang(f"Returns: {parts.returns}", width)] if parts.returns else []
    lines += [_hang(f"Raises: {parts.raises}", width)] if parts.raises else []
    lines += ["Example:", textwrap.indent(parts.example, "    ")] if parts.example else []
    return lines


def _hang(text: str, width: int, indent: str = "") -> str:
    """Wrap a text with a hanging indent."""
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=f"{indent}    ")
