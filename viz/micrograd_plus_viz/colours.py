"""The player's colours, for pictures outside a page.

They are read from `static/player.css`, so pictures and player always agree. A picture has plain colour values, because
image viewers support neither CSS variables nor `light-dark()`.
"""

from __future__ import annotations

import re
from functools import cache

from .static_files import style, text

_NAMED = re.compile(r"--([\w-]+):[^;]*?light-dark\((#\w+), (#\w+)\)")
_ANY_OF = re.compile(r":is\(([^()]*)\)")
_LEVEL = re.compile(r"^\.([hnpc]\d) \{ background: light-dark\((#\w+), (#\w+)\)", re.MULTILINE)


@cache
def palette(dark: bool = False) -> dict[str, str]:
    """Return the player's colours by name."""
    return {name: night if dark else day for name, day, night in _NAMED.findall(text("player.css"))}


@cache
def levels(dark: bool = False) -> dict[str, str]:
    """Return the colours of cells: blank, four for positive and four for negative numbers."""
    return {name: night if dark else day for name, day, night in _LEVEL.findall(text("player.css"))}


@cache
def resolve_styles(*sheets: str, dark: bool = False) -> str:
    """Return style sheets of `static/` in one line, for any viewer of SVG.

    They have colour values instead of CSS variables, and a selector for each part of an `:is`.
    """
    named_here = palette(dark)
    sheet = _spell_selectors(re.sub(r"/\*.*?\*/", "", " ".join(map(style, sheets))))
    sheet = re.sub(r"light-dark\((#\w+), (#\w+)\)", r"\2" if dark else r"\1", sheet)
    cells = "".join(f".{name}{{fill:{colour}}}" for name, colour in levels(dark).items())
    return re.sub(r"var\(--([\w-]+)\)", lambda each: named_here.get(each[1], each[0]), sheet) + cells


def used_rules(sheet: str, markup: str) -> str:
    """Return the rules of a resolved style sheet that may apply to markup: those whose classes occur in it."""
    names = {name for attribute in set(re.findall(r'class="([^"]*)"', markup)) for name in attribute.split()}
    kept = [([text for text, needed in selectors if names >= needed], body) for selectors, body in _rules_of(sheet)]
    return "".join([f"{','.join(selectors)}{{{body}}}" for selectors, body in kept if selectors])


@cache
def _rules_of(sheet: str) -> list[tuple[list[tuple[str, set[str]]], str]]:
    """Return the rules of a resolved style sheet: the selectors, each with the classes that it needs, and the body."""

    def classes_in(selector: str) -> set[str]:
        return {*re.findall(r"\.([A-Za-z][\w-]*)", re.sub(r":not\([^)]*\)", "", selector))}

    return [
        ([(each.strip(), classes_in(each)) for each in selectors.split(",")], body.strip())
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet)
    ]


def _spell_selectors(sheet: str) -> str:
    """Return rules whose selectors have no `:is`."""

    def spell(selector: str) -> list[str]:
        found = _ANY_OF.search(selector)
        if not found:
            return [selector]
        return [s for part in found[1].split(",") for s in spell(_ANY_OF.sub(part.strip(), selector, count=1))]

    return re.sub(
        r"(?<=[};])[^{};]*:is\([^{}]*(?=\{)", lambda rule: ",".join(spell(rule[0].strip())), sheet
    )
