"""Gradients that are only rounding errors: sums whose terms cancel leave next to nothing, which means nothing.

A sum is exact up to some epsilons of its terms. A product with a local derivative sums nothing, so it is a true number,
however small. Any other rule may sum what arrived, times what it read.
"""

from __future__ import annotations

import math
import sys
from typing import Any

Trace = dict[str, Any]
Errors = dict[int, float]
"""Rounding errors: the index of each value, and the size of the terms beside it."""
EPSILONS = {"float16": 2.0**-10, "float32": 2.0**-23, "complex64": 2.0**-23}
EPSILON = 2.0**-52
MOST_EPSILONS = 32


def mark_rounding(trace: Trace) -> None:
    """Set `beside` of each value that is only a rounding error: the size of the terms whose sum it is.

    A rule that reads only rounding errors sends rounding errors.
    """
    values = trace["values"]
    found: Errors = {}
    for step in trace["steps"]:
        arrived = [place for name, place in step["reads"].items() if name.startswith("upstream[")] or [step["upstream"]]
        sent, summed = step["contribution"], step["raw"]
        if None not in (sent, step["after"], *arrived):
            _look_at_rule(values, found, step, arrived)
            _look_at_sum(values, found, [sent if summed is None else summed], sent)
            _look_at_sum(values, found, [sent, *[step["before"]] * step["accumulates"]], step["after"])
    # A leaf's final gradient is a copy.
    alike = {repr(values[place]): largest for place, largest in found.items()}
    for place, value in enumerate(values) if found else ():
        if largest := found.get(place) or alike.get(repr(value)):
            values[place] = value | {"beside": largest}


def _look_at_rule(values: list[Trace], found: Errors, step: Trace, arrived: list[int]) -> None:
    """Add what a rule gave, before any sum over axes, if it is only a rounding error."""
    given = step["contribution"] if step["raw"] is None else step["raw"]
    if all(place in found for place in arrived):
        _carry(values, found, arrived, given)
    elif step["local"] is None and _is_rounding_of_rule(values, step, arrived, given):
        found[given] = max(_largest(values[place]) for place in arrived)


def _look_at_sum(values: list[Trace], found: Errors, terms: list[int], total: int) -> None:
    """Add the sum of entries or of values, if their cancellation leaves only a rounding error."""
    if total in terms or None in terms:
        return
    if all(place in found for place in terms):
        _carry(values, found, terms, total)
        return
    largest, epsilon = max(_largest(values[place]) for place in terms), EPSILONS.get(values[total]["dtype"], EPSILON)
    if 0 < _largest(values[total]) <= MOST_EPSILONS * epsilon * largest:
        found[total] = largest


def _carry(values: list[Trace], found: Errors, terms: list[int], total: int) -> None:
    """Mark what was computed from rounding errors alone; it is beside the same terms as they."""
    largest = max(_largest(values[place]) for place in terms)
    if largest and (size := _largest(values[total])):
        found[total] = min(size / largest * max(found[place] for place in terms), sys.float_info.max)


def _is_rounding_of_rule(values: list[Trace], step: Trace, arrived: list[int], sent: int) -> bool:
    """Return whether a rule sent only what rounding leaves of its terms.

    A term is as large as what arrived, or smaller by what the rule read; as this does not say how a rule divides, the
    epsilon is that of float64, whatever the dtype.
    """
    limit = MOST_EPSILONS * EPSILON * max(_largest(values[place]) for place in arrived)
    if not 0 < _largest(values[sent]) <= limit:
        return False
    entries, alike = values[sent]["data"], []
    if entries and _are_selected(entries, [values[place]["data"] or () for place in arrived]):
        return False
    for name, place in step["reads"].items():
        value = None if place is None or name.startswith("upstream") else values[place]
        if value and value["data"] and entries and value["shape"] == values[sent]["shape"]:
            alike.append(value["data"])
        elif value:
            limit *= min(1.0, _largest(value))
    sizes = [_size(x) for x in entries] if entries else [_largest(values[sent])]
    return all(x <= limit * math.prod(min(1.0, _size(data[k])) for data in alike) for k, x in enumerate(sizes))


def _are_selected(entries: list[Any], arrived: list[Any]) -> bool:
    """Return whether each entry is 0 or has arrived as it is, so that no sum can have made it."""
    known = {repr(entry) for each in arrived for entry in each}
    return all(_size(entry) == 0 or repr(entry) in known for entry in entries)


def _largest(value: Trace) -> float:
    """Return the size of the largest finite entry."""
    if value["statistics"] and "complex" not in value["dtype"]:
        return max(abs(value["statistics"]["min"]), abs(value["statistics"]["max"]))
    entries = value["data"] or (value["thumbnail"] or {"data": ()})["data"]
    return max(filter(math.isfinite, map(_size, entries)), default=0.0)


def _size(entry: Any) -> float:
    """Return the absolute value of an entry."""
    return math.hypot(*map(float, entry)) if isinstance(entry, list) else abs(float(entry))
