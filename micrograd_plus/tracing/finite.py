"""Where nan and infinity come from: the first result and the first step that have such entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..backends import devices
from .values import Fields, Stored, bare, is_plain_number

np = devices.device("cpu").library


class NotFinite(Fields):
    """A place where nan or infinity stands: a node, the step that sends it there or None for the node's own value, the
    first such entry (None where a file keeps only a summary), and how many entries are nan and how many infinite."""

    __slots__ = ("entry", "inf", "nan", "node", "step")

    node: int
    step: int | None
    entry: tuple[int, ...] | None
    nan: int
    inf: int

    def to_dict(self) -> dict[str, Any]:
        """The fields, as plain data."""
        return super().to_dict() | {"entry": None if self.entry is None else list(self.entry)}

    def __repr__(self) -> str:
        counts = [f"{count} {word}" for count, word in ((self.nan, "nan"), (self.inf, "inf")) if count]
        where = "" if not self.entry else f", first at {list(self.entry)}"
        return f"{' and '.join(counts)}{where}"


def first_places(nodes: Mapping[int, Any], steps: Iterable[Any]) -> list[NotFinite]:
    """The first result that is not finite though all that it was made from is, and the first step that sends such a
    contribution; each as far as there is one. What a leaf holds is what its user gave."""
    found: list[NotFinite] = []
    for node in nodes.values():
        if node.kind == "leaf" or (place := _odd(node.value)) is None:
            continue
        made_from = [nodes[at].value for _, at in node.inputs if at in nodes]
        if all(_odd(value) is None for value in made_from):
            found.append(NotFinite(node=node.id, **place))
            break
    for step in steps:
        if (place := _odd(step.contribution)) is not None:
            found.append(NotFinite(node=step.target, step=step.index, **place))
            break
    return found


def _odd(value: Any) -> dict[str, Any] | None:
    """How many entries are nan and infinite, and the first of them; None where all are finite, or nothing is known."""
    if isinstance(value, Stored):
        if not value.nan + value.inf:
            return None
        entry = None if value.data is None else _first(~np.isfinite(value.numpy()))
        return {"entry": entry, "nan": value.nan, "inf": value.inf}
    array = bare(value)
    if is_plain_number(array):
        return None
    array = np.asarray(array.get() if hasattr(array, "get") else array)
    if array.dtype.kind not in "fc" or (finite := np.isfinite(array)).all():
        return None
    return {"entry": _first(~finite), "nan": int(np.isnan(array).sum()), "inf": int(np.isinf(array).sum())}


def _first(places: Any) -> tuple[int, ...] | None:
    """The first of some places; None of none, as where a file counts what it does not hold."""
    return next((tuple(map(int, place)) for place in np.argwhere(places)), None)
