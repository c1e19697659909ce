"""Which entries of upstream a wrong answer sends to which places.

In rules that only move numbers, such as indexing, padding or sorting, each entry of the result is one entry of
upstream, a sum of a few, or 0. Random numbers tell which.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ..backends import devices

np = devices.device("cpu").library

MOST_ENTRIES = 400
MOST_ADDED = 3
"""The number of entries of upstream that an entry of a result can be the sum of."""


class Places:
    """The entries of an array of random numbers, and the sums of a few of them."""

    def __init__(self, upstream: Any):
        self.shape, flat = upstream.shape, upstream.ravel()
        self.size = float(np.max(np.abs(flat), initial=0.0))
        chosen = [(), *((i,) for i in range(flat.size))]
        if flat.size <= MOST_ENTRIES // 10:
            chosen += [each for count in range(2, MOST_ADDED + 1) for each in combinations(range(flat.size), count)]
        totals = np.array([sum(flat[i] for i in each) for each in chosen], float)
        order = np.argsort(totals, kind="stable")
        self.totals, self.chosen = totals[order], [chosen[i] for i in order]

    def find(self, number: float) -> tuple[int, ...] | None:
        """Return the places whose numbers add up to a number; none for 0, and None if there are no such places."""
        slack = 1e-9 * self.size
        start, stop = np.searchsorted(self.totals, [number - slack, number + slack])
        return min(self.chosen[start:stop], key=len, default=None)

    def write(self, places: Sequence[int]) -> str:
        """Return the entries at these places in words."""
        if not places:
            return "0"
        texts = [f"upstream[{', '.join(str(int(each)) for each in np.unravel_index(place, self.shape))}]"
                 for place in places]  # fmt: skip
        return f"`{' + '.join(texts)}`"


def describe_places(name: str, upstream: Any, result: Any, right: Any) -> str | None:
    """Return words for a result whose entries are entries of upstream, but not the right ones.

    The text is empty if they are the right ones, and None if they are other numbers.
    """
    if not (1 < np.size(upstream) <= MOST_ENTRIES and np.shape(result) == np.shape(right) and np.size(right) > 1):
        return None
    known = Places(np.asarray(upstream, float))
    sent, due = ([known.find(float(number)) for number in np.ravel(array)] for array in (result, right))
    if any(each is None for each in due) or any(each is None for each in sent):
        return None
    wrong = next((i for i, (a, b) in enumerate(zip(sent, due, strict=True)) if set(a or ()) != set(b or ())), None)
    if wrong is None:
        return ""
    place = ", ".join(str(int(each)) for each in np.unravel_index(wrong, np.shape(right)))
    wrong_places, right_places = known.write(sent[wrong] or ()), known.write(due[wrong] or ())
    return f"{summarize(sent, due)}: `{name}[{place}]` receives {wrong_places}, where {right_places} is due"


def summarize(sent: Sequence[Any], due: Sequence[Any]) -> str:
    """Return what all wrong places have in common, in a few words."""
    pairs = [(set(a), set(b)) for a, b in zip(sent, due, strict=True) if set(a) != set(b)]
    if all(a < b for a, b in pairs):
        return ("only one of several uses counts, the others are not added" if any(a for a, _ in pairs) else
                "some places receive nothing")  # fmt: skip
    if all(a > b for a, b in pairs):
        return "some places receive too much"
    if sorted(map(sorted, sent)) == sorted(map(sorted, due)):
        return "the entries of upstream are right, but in the wrong order: they go to wrong places"
    return "entries of upstream go to wrong places"


__all__ = ["describe_places"]
