"""Rules that are plain products of what they read: the event shows signs between their factors, and no others.

A rule such as `upstream @ b⊤` sends exactly the product of the values that the page has. Any other rule takes means,
reorders entries or combines values in some other way, which only its formula says. A formula may leave out what does
not matter to it, such as the order of images, so the numbers decide in the end.
"""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from .formula import mathml_of_step, parse
from .trace_input import Trace

DOT, MATMUL, TRANSPOSED, ROWS = "·", "@", "⊤", "▤"
LOCAL = ["upstream", DOT, "local"]
EINSUM = re.compile(r"“(\w*),(\w*)->(\w*)”")
ROUNDING = 0.02
"""How far a product of rounded numbers, such as bfloat16, may be from the result, relative to its terms."""


def product_of(trace: Trace, step: Trace) -> str | None:
    """Return the factors of a step's rule with their signs, as in `x⊤ @ upstream`; None for the usual factors.

    `x▤` is the matrix of all rows of `x`.

    Those are upstream and local if there is a local derivative, and none otherwise. An empty text means that upstream
    and local are not the factors. A single factor is a product, too: the rule sends it as it is. If axes are summed,
    this is the product before the sum.
    """
    if step["local"] is not None:
        return None if _holds(trace, step, LOCAL) else ""
    if sum_in_rule(trace, step):
        return "upstream"
    parts = _plain_product(trace, step)
    return " ".join(parts) if parts and _holds(trace, step, parts) else None


def sum_in_rule(trace: Trace, step: Trace) -> list[int]:
    """Return the axes over which a rule itself sums its upstream, as for a bias; nothing for any other rule."""
    if step["local"] is not None or step["summed_axes"]:
        return []
    equation = _inner(parse(mathml_of_step(trace, step)))
    if equation is None or len(equation) != 3 or equation[1].text != "=":
        return []
    total = _inner(equation[2])
    if total is None or _parts(_inside_sum([total])) != ["upstream"]:
        return []
    axes = [int(digits) for digits in re.findall(r"\d+", "".join(total[0].itertext()))]
    upstream, result = _value(trace, step, "upstream"), _value(trace, step, "contribution")
    if not axes or upstream is None or result is None or max(axes) >= len(upstream["shape"]):
        return []
    if [size for axis, size in enumerate(upstream["shape"]) if axis not in axes] != result["shape"]:
        return []
    if upstream["data"] is None or result["data"] is None:
        return axes
    terms = _array(upstream)
    near = abs(terms.sum(tuple(axes)) - _array(result)) <= ROUNDING * abs(terms).sum(tuple(axes))
    return axes if np.all(near | ~np.isfinite(_array(result))) else []


def _plain_product(trace: Trace, step: Trace) -> list[str] | None:
    """Return factors and signs in turns, if the formula of a step is a product of values that it read."""
    equation = _inner(parse(mathml_of_step(trace, step)))
    if equation is None or len(equation) < 3 or equation[1].text != "=":
        return None
    sent = [*equation[2:]]
    if step["formula"] is not None and step["summed_axes"]:
        sent = _inside_sum(sent)
    parts = _parts(sent) or []
    known = {"upstream", *step["reads"]}
    # Products of matrices and of entries do not mix without parentheses.
    is_plain = len(set(parts[1::2])) < 2 and {*map(_name, parts[::2])} <= known
    return parts if is_plain else None


def _holds(trace: Trace, step: Trace, parts: list[str]) -> bool:
    """Return whether a product gives the result of a rule: its shape, and its numbers as far as the trace has them."""
    result = _value(trace, step, "raw" if step["summed_axes"] else "contribution")
    known = [_value(trace, step, _name(part)) for part in parts[::2]]
    factors = [factor for factor in known if factor is not None]
    if result is None or len(factors) < len(known):
        return True
    shapes = [_shape_of(part, factor["shape"]) for factor, part in zip(factors, parts[::2], strict=True)]
    sign = parts[1] if len(parts) > 1 else DOT
    if _shape_of_product(shapes, sign) != result["shape"]:
        return False
    if any(value["data"] is None for value in (result, *factors)):
        return True
    arrays = [_array_of(part, _array(factor)) for factor, part in zip(factors, parts[::2], strict=True)]
    if parts == LOCAL and all(map(np.iscomplexobj, arrays)):
        arrays[1] = arrays[1].conj()
    with np.errstate(all="ignore"):
        multiply = np.matmul if sign == MATMUL else np.multiply
        product, size = (_chain(multiply, terms) for terms in (arrays, map(abs, arrays)))
        near = abs(product - _array(result)) <= ROUNDING * size
    return bool(np.all(near | ~np.isfinite(product)))


def _value(trace: Trace, step: Trace, name: str) -> Trace | None:
    place = step[name] if name in ("upstream", "local", "raw", "contribution") else step["reads"][name]
    return None if place is None else trace["values"][place]


def _name(part: str) -> str:
    """Return the name of the value that a factor shows."""
    return part.rstrip(ROWS + TRANSPOSED)


def _array_of(part: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a factor, given the array of its name."""
    matrix = array.reshape(-1, array.shape[-1]) if ROWS in part else array
    return np.swapaxes(matrix, -1, -2) if TRANSPOSED in part else matrix


def _shape_of(part: str, shape: list[int]) -> list[int]:
    """Return the shape of a factor, given the shape of the array of its name."""
    shape = [math.prod(shape[:-1]), shape[-1]] if ROWS in part else shape
    return [*shape[:-2], *shape[-2:][::-1]] if TRANSPOSED in part else shape


def _shape_of_product(shapes: list[list[int]], sign: str) -> list[int] | None:
    """Return the shape of a product; None if the factors do not fit."""
    try:
        if sign == DOT:
            return [*np.broadcast_shapes(*map(tuple, shapes))]
        return list(itertools.accumulate(shapes, _shape_of_matmul))[-1]
    except ValueError:
        return None


def _shape_of_matmul(a: list[int], b: list[int]) -> list[int]:
    """Return the shape of `a @ b`; raise ValueError if they do not fit."""
    if not a or not b or a[-1] != b[-2:][0]:
        raise ValueError
    stacks = np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    return [*stacks, *a[:-1][-1:], *b[1:][-1:]]


def _chain(multiply: Any, factors: Any) -> Any:
    return list(itertools.accumulate(factors, multiply))[-1]


def _array(value: Trace) -> np.ndarray[Any, Any]:
    entries = [complex(*map(float, x)) if isinstance(x, list) else float(x) for x in value["data"]]
    return np.array(entries).reshape(value["shape"])


def _inner(element: ET.Element | None) -> ET.Element | None:
    """Return an element without the rows that hold nothing else."""
    while element is not None and element.tag in ("math", "mrow") and len(element) == 1 and not element.get("class"):
        element = element[0]
    return element


def _inside_sum(row: list[ET.Element]) -> list[ET.Element]:
    """Return the row that a sum is of; nothing for anything else."""
    call = _inner(row[0]) if len(row) == 1 else None
    is_sum = call is not None and len(call) == 3 and "".join(call[0].itertext())[:1] == "∑" and len(call[2]) == 3
    return [call[2][1]] if call is not None and is_sum else []


def _parts(row: list[ET.Element]) -> list[str] | None:
    """Return the factors and the signs of a row in turns; None if there is anything else."""
    parts: list[str] = []
    for k, element in enumerate(row):
        found = [element.text or ""] if k % 2 else _factors(element)
        if found is None or (k % 2 and found[0] not in (DOT, MATMUL)):
            return None
        parts += found
    return parts


def _factors(element: ET.Element) -> list[str] | None:
    """Return the factors of an element and their signs; None if it is no product."""
    if name := element.get("data-name"):
        return [name]
    if element.tag == "msup" and element[1].text == TRANSPOSED:
        base = _factors(element[0])
        return [base[0] + TRANSPOSED] if base and len(base) == 1 and TRANSPOSED not in base[0] else None
    if len(element) == 3 and element[0].text in CALLS and len(element[2]) == 3 and len(element[2][1]):
        return CALLS[element[0].text or ""]([*element[2][1]][::2])
    return _parts([*element]) if element.tag == "mrow" and len(element) % 2 and not element.get("class") else None


def _matrix_of_rows(arguments: list[ET.Element]) -> list[str] | None:
    """Return the factor `reshape(x, (−1, n))`; None for any other shape, which the numbers would not tell."""
    name, shape = arguments[0].get("data-name"), "".join(arguments[-1].itertext())
    return [name + ROWS] if name and len(arguments) == 2 and re.fullmatch(r"\(−1,\d+\)", shape) else None


def _product_of_einsum(arguments: list[ET.Element]) -> list[str] | None:
    """Return the factors of a sum of products that is a product of entries, or one of matrices with the same leading
    axes."""
    pattern = EINSUM.fullmatch(arguments[0].text or "")
    names = [each.get("data-name") or "" for each in arguments[1:]]
    if pattern is None or "" in names:
        return None
    first, second, result = pattern.groups()
    if result.endswith(first) and result.endswith(second):
        return [names[0], DOT, names[1]]
    stack, row, column = result[:-2], result[-2:-1], result[-1:]
    operands = [(first, names[0]), (second, names[1])]
    for (one, left), (other, right) in (operands, operands[::-1]):
        inner = {*one[-2:]} & {*other[-2:]}
        axes = [{*one[-2:]}, {*other[-2:]}] == [{row, *inner}, {column, *inner}]
        if {one[:-2], other[:-2]} <= {"", stack} and len(inner) == 1 and axes:
            turned = one.endswith(row), other[-1] in inner
            return [left + TRANSPOSED * turned[0], MATMUL, right + TRANSPOSED * turned[1]]
    return None


CALLS = {"reshape": _matrix_of_rows, "einsum": _product_of_einsum}
"""Functions that may be factors or products."""
