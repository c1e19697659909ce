"""Origin of nan and infinity: the first result and the first step that have such entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .parts import Step, TraceNode
from .values import Stored, array_of, count_not_finite, host_array, is_finite_float, np


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class NotFinite:
    """A place where nan or infinity first appears: a node's value, or the contribution of a step to it.

    `step` is None for a node's own value, and `entry` (the index of the first such entry) for a value of which a file
    has only a summary. `nan` and `inf` count the entries.
    """

    node: int
    step: int | None = None
    entry: tuple[int, ...] | None
    nan: int
    inf: int

    def __repr__(self) -> str:
        counts = [f"{count} {word}" for count, word in ((self.nan, "nan"), (self.inf, "inf")) if count]
        where = "" if not self.entry else f", first at {list(self.entry)}"
        return f"{' and '.join(counts)}{where}"


class OddEntries(NamedTuple):
    """The first entry of an array that is not finite, and how many are nan and how many infinite."""

    entry: tuple[int, ...] | None
    nan: int
    inf: int


def first_not_finite(nodes: Mapping[int, TraceNode], steps: Iterable[Step]) -> list[NotFinite]:
    """Return where nan or infinity comes from, as far as there is any.

    That is the first result with such entries whose inputs are all finite, or with nan whose inputs have none: scores
    masked with -inf are infinite on purpose. And it is the first step that sends such entries. Leaves do not count,
    since their values come from the user.
    """
    places: list[NotFinite] = []
    for node in nodes.values():
        if node.kind == "leaf" or (odd := _odd_entries(node.value)) is None:
            continue
        inputs = [_odd_entries(nodes[number].value) for _, number in node.inputs if number in nodes]
        if all(each is None or (odd.nan and not each.nan) for each in inputs):
            places.append(NotFinite(node=node.id, **odd._asdict()))
            break
    for step in steps:
        if (odd := _odd_entries(step.contribution)) is not None:
            places.append(NotFinite(node=step.target, step=step.index, **odd._asdict()))
            break
    return places


def _odd_entries(value: Any) -> OddEntries | None:
    """Return the entries that are not finite; None if all are, or if the value was not recorded."""
    if isinstance(value, Stored):
        if not value.nan + value.inf:
            return None
        entry = None if value.data is None else _first_index(~np.isfinite(value.numpy()))
        return OddEntries(entry, value.nan, value.inf)
    if is_finite_float(array_of(value)):
        return None
    array = host_array(value)
    if array.dtype.kind not in "fc" or (finite := np.isfinite(array)).all():
        return None
    return OddEntries(_first_index(~finite), *count_not_finite(array))


def _first_index(mask: Any) -> tuple[int, ...] | None:
    """Return the index of the first true entry; None if there is none."""
    return next((tuple(map(int, index)) for index in np.argwhere(mask)), None)
