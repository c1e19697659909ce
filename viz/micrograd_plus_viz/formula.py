"""Formulas of rules as MathML, with symbols or with numbers.

MathML from a trace is rebuilt from an allow-list of elements, so nothing else reaches a page. Matrix brackets and
conjugate bars are CSS borders: browsers stretch characters only with a mathematical font.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache

from .cells import WRITTEN, round_entries
from .digits import MINUS, is_exact, number, scientific
from .formula_functions import explain_functions
from .formula_lines import NARROW, lines
from .trace_input import Trace
from .words import shape, single_line, truncate

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a name may have and XML may not."""

TOKENS = {"mi", "mo", "mn", "mtext", "mspace"}
HALVES = {"mfrac", "mroot", "msup", "msub", "mover", "munder"}
THIRDS = {"msubsup", "munderover"}
ELEMENTS = {"math", "mrow", "msqrt", "mtable", "mtr", "mtd"} | TOKENS | HALVES | THIRDS
ATTRIBUTES = {"data-name", "mathvariant", "form", "accent", "display", "displaystyle", "lspace", "rspace"}
CLASSES = {"tall", "cases", "formula", "overlined"}
ALONE = {"mfrac", "msqrt", "mtd"}
"""Elements whose children need no parentheses."""


@lru_cache(maxsize=500)
def with_symbols(mathml: str | None) -> str | None:
    """Return a rule's sanitized MathML, or None if there is none or it is not well-formed."""
    tree = sanitize(mathml)
    return None if tree is None else lines(explain_functions(tree))


def step_with_symbols(trace: Trace, step: Trace) -> str | None:
    """Return the formula of a step with symbols, or None if its rule has none.

    It is the step's own formula if there is one, otherwise the rule's. If axes are summed, the sum is added.
    """
    mathml = mathml_of_step(trace, step)
    if step["formula"] is not None or not step["summed_axes"]:
        return with_symbols(mathml)
    tree = sanitize(mathml)
    if tree is None:
        return None
    _call_result(tree, "raw")
    return lines(explain_functions(tree)) + _sum(step)


def with_numbers(trace: Trace, step: Trace, exact_value: Callable[[Trace], bool] = is_exact) -> str | None:
    """Return the formula of a step with numbers instead of symbols, and its result.

    A matrix shows at most 3 x 3 entries, or 2 x 2 if the formula has several. Larger arrays appear as their name with
    the shape below. An upstream that never arrived is 0. An equation with rounded numbers uses ≈. Returns None if the
    rule has no formula, or if numbers would add nothing. `exact_value` says whether all digits of a value are printed.
    """
    tree = sanitize(mathml_of_step(trace, step))
    if tree is None:
        return None
    sums = bool(step["summed_axes"]) and step["formula"] is None
    place = step["raw"] if sums and step["raw"] is not None else step["contribution"]
    places = step["reads"] | {name: step[name] for name in ("upstream", "local", "raw")}
    values = {name: trace["values"][place] for name, place in places.items() if place is not None}
    named = {element.get("data-name", "") for element in tree.iter()}
    most = 2 if sum(_is_matrix(value) for name, value in values.items() if name in named) > 1 else 3
    missing = {name: "0" for name in named if name.startswith("upstream[")}
    before = _plain_text(tree) if place is None else None
    _fill(tree, missing | values | trace["nodes"][step["node"]]["params"], most)
    if any(_is_rounded(values[name], exact_value) for name in named if name in values):
        _equals_about(tree)
    if sums:
        _call_result(tree, "raw")
    if place is None:
        return lines(tree) if _plain_text(tree) != before else None
    result = trace["values"][place]
    term = value_element(result, "raw" if sums else "contribution", most)
    filled = _plain_text(tree)
    if term.get("class") == "by-name":
        return lines(tree) if any(e.get("data-name") and e.tag in ("mn", "mrow") for e in tree.iter()) else None
    read = [result] + [values[name] for name in named if name in values]
    exact = result["data"] == values.get("upstream", {}).get("data") or not any(result["data"] or [1])
    exact = exact or all(map(exact_value, read))
    if re.split("[=≈]", filled, maxsplit=1)[-1] == _plain_text(term):
        return lines(tree) + (_sum(step) if sums else "")
    return lines(tree) + _result(term, exact) + (_sum(step) if sums else "")


def _is_rounded(value: Trace, exact_value: Callable[[Trace], bool]) -> bool:
    """Return whether the formula prints a value with fewer digits than it has."""
    written = (value["data"] and len(value["data"]) == 1) or _is_matrix(value)
    return bool(written) and not exact_value(value)


def _equals_about(tree: ET.Element) -> None:
    """Change the first equality sign of a formula to ≈."""
    equal = next((sign for sign in tree.iter("mo") if sign.text == "="), None)
    if equal is not None:
        equal.text = "≈"


def mathml_of_step(trace: Trace, step: Trace) -> str | None:
    """Return the MathML of the step's own formula, or of its rule."""
    own = step["formula"]
    return trace["rules"][step["rule"]]["mathml"] if own is None else trace["formulas"][own]["mathml"]


def _call_result(tree: ET.Element, name: str) -> None:
    """Name the left side of a formula."""
    for symbol in tree.iter():
        if symbol.get("data-name") == "contribution":
            symbol.text = name
            symbol.set("data-name", name)


def _sum(step: Trace) -> str:
    """Return the equation contribution = Σ raw, with the axes below the sign."""
    axes = ", ".join(map(str, step["summed_axes"]))
    word = "axis" if len(step["summed_axes"]) == 1 else "axes"
    total = ET.Element("munder")
    total.extend([_leaf("mo", "∑"), _leaf("mtext", f"{word} {axes}")])
    equation = ET.Element("math")
    left, right = (_leaf("mi", name, {"data-name": name}) for name in ("contribution", "raw"))
    equation.extend([left, _leaf("mo", "=", {"form": "infix"}), _row(total, right)])
    return lines(equation)


def _plain_text(tree: ET.Element) -> str:
    """Return all text of a formula without spaces."""
    return "".join("".join(tree.itertext()).split())


def sanitize(mathml: str | None) -> ET.Element | None:
    """Return the tree of a formula with allowed elements and attributes only, without namespaces."""
    return deepcopy(parse(mathml))


@lru_cache(maxsize=500)
def parse(mathml: str | None) -> ET.Element | None:
    """Parse and sanitize a formula once; copying the result takes a tenth of the time."""
    if not mathml or "<!" in mathml:
        return None
    try:
        tree = _sanitize_element(ET.fromstring(NOT_XML.sub(" ", mathml)))  # noqa: S314 - nothing can expand
    except (ET.ParseError, RecursionError):
        return None
    return tree if tree is not None and tree.tag == "math" else None


def _sanitize_element(element: ET.Element) -> ET.Element | None:
    """Return an allowed element with its allowed children, or None."""
    tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else None
    if tag not in ELEMENTS:
        return None
    clean = ET.Element(tag, {k: v for k, v in element.attrib.items() if k in ATTRIBUTES})
    if element.get("class") in CLASSES:
        clean.set("class", element.get("class", ""))
    clean.text = truncate(element.text or "", NARROW)
    clean.extend([child for child in map(_sanitize_element, element) if child is not None])
    if (tag in HALVES and len(clean) != 2) or (tag in THIRDS and len(clean) != 3):
        return None
    if tag == "mover" and clean.get("class") == "overlined":
        clean.tag, clean[1:] = "mrow", []
    return clean


def _fill(element: ET.Element, values: dict[str, Trace | str], most: int) -> None:
    """Replace symbols below an element with numbers; parameters print as in Python."""
    for i, child in enumerate(list(element)):
        name = child.get("data-name", "")
        value = values.get(name)
        if value is None:
            _fill(child, values, most)
        else:
            written = isinstance(value, str)
            term = (
                _leaf("mn", value.replace("-", MINUS)) if written else value_element(value, child.text or name, most)
            )
            term.set("data-name", name)
            element[i] = _row(_leaf("mo", "("), term, _leaf("mo", ")")) if _misleads(term, element, i) else term


def _misleads(term: ET.Element, parent: ET.Element, position: int) -> bool:
    """Return whether a number there needs parentheses."""
    if term.get("class") or parent.tag in ALONE:
        return False
    written = "".join(term.itertext())
    base = parent.tag in ("msup", "msubsup") and position == 0
    free = position == 0 or parent[position - 1].text in ("=", "(", ",")
    several = term.tag == "mrow" or " " in written
    return (written.startswith(MINUS) and (base or not free)) or (several and (base or " " in written))


def value_element(value: Trace, name: str, most: int) -> ET.Element:
    """Return a value as an element: a number, a matrix of at most `most` rows, or its name and shape."""
    data = value["data"]
    if data is not None and len(data) == 1:
        return _number(data[0])
    if _is_matrix(value):
        return _matrix(value, most)
    named = ET.Element("msub", {"class": "by-name"})
    named.extend([_leaf("mtext", truncate(single_line(name), 24)), _leaf("mtext", shape(value))])
    return named


def _is_matrix(value: Trace) -> bool:
    """Return whether a value can be printed as a matrix: all entries known, at most two axes."""
    return bool(value["data"]) and len(value["data"]) > 1 and 1 <= len(value["shape"]) <= 2


def _matrix(value: Trace, most: int) -> ET.Element:
    """Return a table with dots for omitted rows and columns, at most one line wide."""
    rows, columns = value["shape"] if len(value["shape"]) == 2 else (1, value["shape"][0])
    # A value that the page shows as a picture has as many digits here as there.
    rounded = round_entries if len(value["data"]) > WRITTEN else list
    corner = [x for r in range(min(rows, most))
              for x in rounded(value["data"][r * columns : r * columns + min(columns, most)])]  # fmt: skip
    width = min(columns, most)
    across = min(most, NARROW // (2 + max(len(number(x)) for x in corner)))
    table = ET.Element("mtable", {"class": "matrix"})
    dots = {(False, True): "…", (True, False): "⋮", (True, True): "⋱"}
    shown_columns = list(range(columns)) if columns <= across else [*range(across), None]
    for r in list(range(rows)) if rows <= most else [*range(most), None]:
        row = ET.SubElement(table, "mtr")
        for c in shown_columns:
            entry = (
                _leaf("mo", dots[r is None, c is None])
                if r is None or c is None
                else _number(corner[r * width + c])
            )
            ET.SubElement(row, "mtd").append(entry)
    return table


def _number(x: object) -> ET.Element:
    """Return a number as an element, with a power of ten if it has one."""
    if isinstance(x, list | tuple) and any(map(scientific, x)):
        return _complex(*x)
    parts = scientific(x)
    if not parts:
        return _leaf("mn", number(x))
    power = ET.Element("msup")
    power.extend([_leaf("mn", "10"), _leaf("mn", str(parts[1]).replace("-", MINUS))])
    return _row(_leaf("mn", parts[0]), _leaf("mo", "×"), power)


def _complex(real: float | str, imaginary: float | str) -> ET.Element:
    """Return a complex number with a power of ten; infinite and nan parts are words."""
    negative = number(imaginary).startswith(MINUS)
    size = _number(imaginary.lstrip("-") if isinstance(imaginary, str) else abs(imaginary))
    return _row(_number(real), _leaf("mo", MINUS if negative else "+"), size, _leaf("mi", "i"))


def _result(term: ET.Element, exact: bool) -> str:
    """Return the line `= result` below a formula."""
    result = ET.Element("math")
    result.extend([_leaf("mo", "=" if exact else "≈", {"form": "infix"}), term])
    return lines(result).replace("<p>", '<p class="result">')


def _leaf(tag: str, text: str, attributes: dict[str, str] | None = None) -> ET.Element:
    element = ET.Element(tag, attributes or {})
    element.text = text
    return element


def _row(*children: ET.Element) -> ET.Element:
    row = ET.Element("mrow")
    row.extend(children)
    return row
