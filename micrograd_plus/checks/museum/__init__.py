"""Museum of wrong rules: each was shipped by an engine or submitted by a student, and can be run.

    >>> from micrograd_plus.checks import museum, promises as check
    >>> exhibit = museum.find_exhibit("tanh: rule on the input")
    >>> with museum.replaced_rules(exhibit) as tanh:
    ...     exhibit.promise in check.broken_promises(tanh)
    True

`docs/museum.md` is generated from it. The checks must catch every exhibit.
"""

from __future__ import annotations

import difflib
from typing import Any

from . import (
    activations,
    axes,
    checkpoints,
    entries,
    layers,
    losses,
    places,
    products,
    reductions,
    sequences,
    twice,
    windows,
)
from .evidence import Evidence, evidence, formulas
from .exhibit import DIFFERENCES, SECOND, Exhibit, Lazy, exhibits, replaced_rules, wrong

__all__ = [
    "DIFFERENCES", "SECOND", "WINGS", "Evidence", "Exhibit", "Lazy", "evidence", "exhibits", "find_exhibit",
    "formulas", "of", "replaced_rules", "wrong",
]  # fmt: skip

WINGS = {
    "Entry by entry": entries,
    "Activations": activations,
    "Reductions": reductions,
    "Along an axis": axes,
    "Products": products,
    "Places": places,
    "Windows": windows,
    "Softmax and losses": losses,
    "Layers": layers,
    "Sequences and attention": sequences,
    "Checkpoints": checkpoints,
    "Right once, wrong twice": twice,
}
"""The modules of exhibits, by the headings of the page."""


def find_exhibit(name: str) -> Exhibit:
    """Return the exhibit of a name, "operation: mistake"; raise KeyError, with similar names, if there is none."""
    names = {each.title: each for each in exhibits}
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.3)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise KeyError(f"there is no exhibit {name!r}{hint}")


def of(call: Any) -> list[Exhibit]:
    """Return the exhibits of one operation."""
    return [each for each in exhibits if each.op is call.op]
