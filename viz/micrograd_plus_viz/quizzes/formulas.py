"""Formulas to choose from: that of a step, and others that could be taken for it.

They come from other rules of the record, read in the names of this step, and from the right one with a usual slip.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random

from ..formula import rebuilt
from ..formula_lines import lines
from ..source import Trace
from ..words import students

MOVES = re.compile(r"unreduce|reshape|expand|squeeze|broadcast|cast|axes|put_|scatter|transpose|pad|shape|\[axis")
"""Rules that only move or repeat entries: between single numbers they are all alike."""
OF_ARRAYS = re.compile(r"@|Σ|ᵀ|rows|transpose|take|where|one_hot|sum|conv|fold")
NOTHING = re.compile(r"[=·]0($|·)")
"""What is 0 whatever arrives, is the same by many formulas."""
LONGEST = 90
MOST_WRONG = 3
LEFT_OUT = "What arrived is left out: the upstream gradient."
HANDED_ON = "That hands on what arrived as it is."


@dataclass
class Choices:
    """Formulas in any order, as HTML and as text; which is right, and what is said of the others."""

    right: int
    shown: list[tuple[str, str]]
    hints: dict[int, str]
    note: str


def choices(trace: Trace, step: Trace, rng: Random) -> Choices | None:
    """The formula of a step among others; None where it says nothing, is too long, or no others can be made."""
    own = step["formula"]
    tree = rebuilt(trace["formulas"][own]["mathml"] if own is not None else trace["rules"][step["rule"]]["mathml"])
    if tree is None or _sent(tree) is None or len(text_of(tree)) > LONGEST:
        return None
    if MOVES.search(text_of(tree)) or NOTHING.search(text_of(tree)):
        return None
    known = {_canonical(tree)}
    wrong: list[tuple[ET.Element, str]] = []
    names = _names(trace, step)
    if {each.get("data-name") for each in tree.iter()} - {None, "contribution", "upstream", *names}:
        return None  # it reads what the forward kept, which nobody can know
    slips, others = list(_slips(tree, names)), list(_of_others(trace, step, names))
    rng.shuffle(others)
    for other, text in [*slips[:1], *others[:2], *slips[1:], *others[2:]]:
        if _canonical(other) not in known and len(wrong) < MOST_WRONG:
            known.add(_canonical(other))
            wrong.append((other, text))
    if len(wrong) < 2:
        return None
    shown = [(tree, ""), *wrong]
    rng.shuffle(shown)
    right = next(k for k, (each, _) in enumerate(shown) if each is tree)
    hints = {k: text for k, (_, text) in enumerate(shown) if k != right}
    note = "upstream is what has arrived at the node that sends, out its result; other letters are its inputs."
    return Choices(right, [(lines(deepcopy(each)), text_of(each)) for each, _ in shown], hints, note)


def text_of(tree: ET.Element) -> str:
    """A formula in one line of text."""
    if tree.tag == "msup":
        return f"{text_of(tree[0])}^{text_of(tree[1])}"
    if tree.tag == "mfrac":
        return f"({text_of(tree[0])}) / ({text_of(tree[1])})"
    if tree.tag == "msqrt":
        return f"√({''.join(map(text_of, tree))})"
    return (tree.text or "") + "".join(map(text_of, tree))


def _canonical(tree: ET.Element) -> str:
    """What two formulas have in common that say the same: their text, factors of a product in any order."""
    said = re.sub(r"\s", "", text_of(tree))
    side = said.partition("=")[2]
    return "·".join(sorted(side.split("·"))) if not re.search(r"[()+−/]", side) else side


def _names(trace: Trace, step: Trace) -> dict[str, str]:
    """What the program calls the inputs and the result of the application; letters where it has no name for them."""
    called = students(trace)
    node = trace["nodes"][step["node"]]
    found = {each["name"]: called[each["node"]] or each["name"] for each in node["inputs"]}
    return found | {"out": called[step["node"]] or "out"}


def _sent(tree: ET.Element) -> ET.Element | None:
    """What stands behind `contribution =`."""
    row = tree[0] if len(tree) == 1 and tree[0].tag == "mrow" else tree
    return row[2] if len(row) == 3 and row[1].text == "=" else None


def _formula(*parts: ET.Element) -> ET.Element:
    """`contribution =` and something behind it."""
    tree = ET.Element("math", {"display": "block"})
    row = ET.SubElement(tree, "mrow")
    row.append(_symbol("contribution"))
    row.append(_sign("="))
    sent = ET.SubElement(row, "mrow")
    sent.extend(deepcopy(part) for part in parts)
    return tree


def _symbol(name: str, text: str | None = None) -> ET.Element:
    symbol = ET.Element("mi", {"data-name": name})
    symbol.text = text or name
    return symbol


def _sign(text: str, form: str = "infix") -> ET.Element:
    sign = ET.Element("mo", {"form": form})
    sign.text = text
    return sign


def _slips(tree: ET.Element, names: dict[str, str]) -> Iterator[tuple[ET.Element, str]]:
    """The right formula with a usual slip."""
    sent, upstream = _sent(tree), _symbol("upstream")
    parts = list(sent) if sent is not None and sent.tag == "mrow" else []
    if len(parts) == 3 and parts[0].text == "upstream" and parts[1].text == "·":
        yield _formula(parts[2]), LEFT_OUT
        yield _formula(_sign("−", "prefix"), upstream, _sign("·"), parts[2]), "Look at the sign."
        yield _formula(upstream, _sign("/"), parts[2]), "Multiplied or divided?"
    yield _formula(upstream), HANDED_ON
    for name, text in names.items():
        if name != "out":
            yield _formula(upstream, _sign("·"), _symbol(name, text)), "That is how a product sends."
    if sent is not None and text_of(sent).strip() == "upstream":
        yield _formula(_sign("−", "prefix"), upstream), "Look at the sign."


def _of_others(trace: Trace, step: Trace, names: dict[str, str]) -> Iterator[tuple[ET.Element, str]]:
    """What other rules of the record send, read in the names of this step."""
    single = step["contribution"] is not None and len(trace["values"][step["contribution"]]["shape"]) == 0
    seen = {step["rule"]}
    own = [step["input"], *(name for name in names if name not in ("out", step["input"]))]
    for other in trace["steps"]:
        rule = trace["rules"][other["rule"]]
        tree = None if other["rule"] in seen else rebuilt(rule["mathml"])
        seen.add(other["rule"])
        if tree is None or _sent(tree) is None:
            continue
        said = text_of(tree)
        if len(said) > LONGEST or "≠" in said or MOVES.search(said) or (single and OF_ARRAYS.search(said)):
            continue
        inputs = [each["name"] for each in trace["nodes"][other["node"]]["inputs"]]
        letters = [rule["input"], *(name for name in inputs if name != rule["input"])]
        places = {letter: own[min(k, len(own) - 1)] for k, letter in enumerate(letters)}
        symbols = [each for each in tree.iter() if each.get("data-name")]
        if {each.get("data-name") for each in symbols} - {"contribution", "upstream", "out", *places}:
            continue
        for each in symbols:
            name = places.get(each.get("data-name", ""), each.get("data-name", ""))
            if name in names:
                each.set("data-name", name)
                each.text = names[name]
        yield tree, f"That is how {rule['op']} sends."
