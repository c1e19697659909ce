"""Multiple-choice formulas: the right one and plausible wrong ones.

Wrong formulas come from other rules in the trace, with the names of this step, and from common mistakes in the right
one.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .. import words
from ..formula import sanitize
from ..formula_lines import lines
from ..trace_input import Trace
from ..words import names_of_symbols, numbered_terms, written_symbol
from . import formula_values

MOVES = re.compile(r"unreduce|reshape|expand|squeeze|broadcast|cast|axes|put_|scatter|transpose|pad|shape|\[axis")
"""Rules that only move or repeat entries; they all look alike for single numbers."""
OF_ARRAYS = re.compile(r"@|Σ|ᵀ|rows|transpose|take|where|one_hot|sum|conv|fold")
NOTHING = re.compile(r"[=·]0($|·)")
"""Formulas that are always 0; many formulas would give the same result."""
LONGEST = 90
MOST_WRONG = 3
LEFT_OUT = "That leaves out the upstream gradient."
HANDED_ON = "That passes the upstream gradient on unchanged."


@dataclass
class Choices:
    """Formulas in random order, as trees, and as HTML and text, with the index of the right one and hints for the
    others."""

    right: int
    trees: list[ET.Element]
    shown: list[tuple[str, str]]
    hints: dict[int, str]
    note: str


def formula_choices(trace: Trace, step: Trace, rng: Random) -> Choices | None:
    """Return multiple-choice formulas for a step, or None if there are too few plausible ones."""
    own = step["formula"]
    tree = sanitize(trace["formulas"][own]["mathml"] if own is not None else trace["rules"][step["rule"]]["mathml"])
    if tree is None or _right_side(tree) is None or len(text_of(tree)) > LONGEST:
        return None
    if MOVES.search(text_of(tree)) or NOTHING.search(text_of(tree)):
        return None
    places = {each["name"]: f"#{each['node']}" for each in trace["nodes"][step["node"]]["inputs"]}
    known = KnownFormulas(trace, step, places)
    known.add(tree)
    wrong: list[tuple[ET.Element, str]] = []
    names = _names(trace, step, tree)
    _call_symbols(tree, names)
    if {each.get("data-name") for each in tree.iter()} - {None, "contribution", "upstream", *names}:
        return None  # it reads an intermediate result of the forward pass, which students cannot know
    slips, others = list(_slips(tree, names)), list(_of_others(trace, step, names))
    rng.shuffle(others)
    for other, text in [*slips[:1], *others[:2], *slips[1:], *others[2:]]:
        if len(wrong) < MOST_WRONG and known.add(other):
            wrong.append((other, text))
    if len(wrong) < 2:
        return None
    shown = [(tree, ""), *wrong]
    rng.shuffle(shown)
    right = next(k for k, (each, _) in enumerate(shown) if each is tree)
    hints = {k: text for k, (_, text) in enumerate(shown) if k != right}
    trees = [each for each, _ in shown]
    has_result = any(each.get("data-name") == "out" for tree in trees for each in tree.iter())
    result = f", {names['out']} is its result" if has_result else ""
    note = f"upstream is the gradient of the sending node{result}; other names are its inputs."
    return Choices(right, trees, [(lines(deepcopy(each)), text_of(each)) for each in trees], hints, note)


def text_of(tree: ET.Element) -> str:
    """Return a formula in one line of text."""
    if tree.tag == "msup":
        return f"{text_of(tree[0])}^{text_of(tree[1])}"
    if tree.tag == "mfrac":
        return f"({text_of(tree[0])}) / ({text_of(tree[1])})"
    if tree.tag == "msqrt":
        return f"√({''.join(map(text_of, tree))})"
    return (tree.text or "") + "".join(map(text_of, tree))


class KnownFormulas:
    """Formulas of one step that mean different things.

    Two formulas mean the same if they have the same parts, or the same value for random inputs: for matrices, or for
    arrays of the step's own shapes, since a sum over an axis of length 1 changes nothing. Values that the program
    computes from each other, such as an input and its cosine, have numbers that fit together.
    """

    def __init__(self, trace: Trace, step: Trace, places: dict[str, str]):
        self.places, self._texts = places, set[str]()
        self._values = [_random_values(trace, step, whose) for whose in ("matrices", "own")]
        self._results: list[list[Any]] = [[] for _ in self._values]

    def add(self, tree: ET.Element) -> bool:
        """Add a formula, and return True, if no known one means the same."""
        text, results = _canonical(tree, self.places), [_result(tree, values) for values in self._values]
        pairs = [*zip(results, self._results, strict=True)]
        if text in self._texts or any(_is_close(result, other) for result, known in pairs for other in known):
            return False
        self._texts.add(text)
        for result, known in pairs:
            known += [] if result is None else [result]
        return True


def _result(tree: ET.Element, values: dict[str, Any]) -> Any:
    """Return the value of a formula; None if it cannot be computed."""
    try:
        return formula_values.value_of(tree, values)
    except formula_values.UnknownFormulaError:
        return None


def _is_close(one: Any, other: Any) -> bool:
    """Return whether two results are equal up to rounding; a single number stands for all entries."""
    if one is None:
        return False
    try:
        one, other = np.broadcast_arrays(one, other)
    except ValueError:
        return False
    return bool(np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True))


MOST_DRAWN = 1000
DEPTH = 3
"""How many applications behind a step have random values that fit together."""


def _random_values(trace: Trace, step: Trace, shapes: str) -> dict[str, Any]:
    """Return random matrices by the rule's names, or arrays of their own shapes; a constant number is itself."""
    rng = np.random.default_rng(7)
    values: dict[int, Any] = {}

    def draw(place: int | None) -> Any:
        own = None if shapes == "matrices" or place is None else trace["values"][place]["shape"]
        return rng.uniform(0.3, 0.9, (3, 3) if own is None or math.prod(own) > MOST_DRAWN else own)

    def value(at: int, depth: int) -> Any:
        if at not in values:
            node = trace["nodes"][at]
            function = formula_values.FUNCTIONS.get(node["op"]) or formula_values.OPERATIONS.get(node["op"])
            number = None if node["requires_grad"] else words.scalar(trace, node["value"])
            if node["kind"] == "leaf" and number is not None:
                values[at] = float(trace["values"][node["value"]]["data"][0])
            else:
                values[at] = draw(node["value"])
                if function is not None and depth:
                    with suppress(ValueError):  # arrays that were too large to draw have other shapes
                        values[at] = function(*(value(each["node"], depth - 1) for each in node["inputs"]))
        return values[at]

    with np.errstate(all="ignore"):
        out = value(step["node"], DEPTH)
        inputs = {each["name"]: value(each["node"], 0) for each in trace["nodes"][step["node"]]["inputs"]}
    return inputs | {"out": out, "upstream": draw(step["upstream"])}


def _canonical(tree: ET.Element, places: dict[str, str]) -> str:
    """Return a key that equal formulas share: their text with values instead of letters, and the factors of a product
    sorted. `places` has the value that each of the rule's letters stands for."""
    same = deepcopy(tree)
    for each in same.iter():
        if (name := each.get("data-name")) is not None:
            each.text = places.get(name, f"{{{name}}}")
    text = re.sub(r"\s", "", text_of(same))
    side = text.partition("=")[2]
    return "·".join(sorted(side.split("·"))) if not re.search(r"[()+−/]", side) else side


def _names(trace: Trace, step: Trace, tree: ET.Element) -> dict[str, str]:
    """Return the names that the stage gives to the inputs and the result in the formula of a step."""
    letters = [each["name"] for each in trace["nodes"][step["node"]]["inputs"]]
    shown = dict.fromkeys(letters) | {each.get("data-name"): each.text for each in tree.iter()}
    called = names_of_symbols(trace, step, "".join([f'<mi data-name="{each}">{each}</mi>' for each in letters]))
    called["out"] = numbered_terms(trace)[step["node"]] or "out"
    return {name: written_symbol(name, shown.get(name) or name, called) for name in called}


def _call_symbols(tree: ET.Element, names: dict[str, str]) -> None:
    """Replace the symbols of a formula with names."""
    for each in tree.iter():
        if len(each) == 0 and (name := each.get("data-name", "")) in names:
            each.text = names[name]


def _right_side(tree: ET.Element) -> ET.Element | None:
    """Return the right side of `contribution = …`."""
    row = tree[0] if len(tree) == 1 and tree[0].tag == "mrow" else tree
    return row[2] if len(row) == 3 and row[1].text == "=" else None


def _formula(*parts: ET.Element) -> ET.Element:
    """Return a formula `contribution = …`."""
    tree = ET.Element("math", {"display": "block"})
    row = ET.SubElement(tree, "mrow")
    row.append(_symbol("contribution"))
    row.append(_sign("="))
    right_side = ET.SubElement(row, "mrow")
    right_side.extend(deepcopy(part) for part in parts)
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
    """Yield common mistakes in the right formula, with hints."""
    right_side, upstream = _right_side(tree), _symbol("upstream")
    parts = list(right_side) if right_side is not None and right_side.tag == "mrow" else []
    if len(parts) == 3 and parts[0].text == "upstream" and parts[1].text == "·":
        yield _formula(parts[2]), LEFT_OUT
        yield _formula(_sign("−", "prefix"), upstream, _sign("·"), parts[2]), "Look at the sign."
        yield _formula(upstream, _sign("/"), parts[2]), "Multiplied or divided?"
    yield _formula(upstream), HANDED_ON
    for name, text in names.items():
        if name != "out":
            yield _formula(upstream, _sign("·"), _symbol(name, text)), "That is the rule of a product."
    if right_side is not None and text_of(right_side).strip() == "upstream":
        yield _formula(_sign("−", "prefix"), upstream), "Look at the sign."


def _of_others(trace: Trace, step: Trace, names: dict[str, str]) -> Iterator[tuple[ET.Element, str]]:
    """Yield the formulas of other rules in the trace, with the names of this step."""
    single = step["contribution"] is not None and len(trace["values"][step["contribution"]]["shape"]) == 0
    seen = {step["rule"]}
    own = [step["input"], *(name for name in names if name not in ("out", step["input"]))]
    for other in trace["steps"]:
        rule = trace["rules"][other["rule"]]
        tree = None if other["rule"] in seen else sanitize(rule["mathml"])
        seen.add(other["rule"])
        if tree is None or _right_side(tree) is None:
            continue
        text = text_of(tree)
        if len(text) > LONGEST or "≠" in text or MOVES.search(text) or (single and OF_ARRAYS.search(text)):
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
        yield tree, f"That is the rule of {rule['op']}."
