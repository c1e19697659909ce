"""Edges: what is put into a sample to see whether a rule stands it. Each says what it does, and returns None for a call
that has no such edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends import devices
from ..checks.samples import Sample

np = devices.device("cpu").library
Edge = Callable[[Sample, Any], Sample | None]

EDGES: dict[str, Edge] = {}
"""Every edge, by what is special about it."""
WITH_CONVENTIONS: set[str] = set()
"""Those at which an engine has to choose, and every choice in use is right."""


def edge(about: str, conventions: bool = False) -> Callable[[Edge], Edge]:
    """List an edge under what is special about it."""

    def listed(function: Edge) -> Edge:
        EDGES[about] = function
        if conventions:
            WITH_CONVENTIONS.add(about)
        return function

    return listed


def numbers(sample: Sample) -> list[int]:
    """The places of inputs that are arrays of real numbers with more than one entry."""
    return [i for i, v in enumerate(sample.inputs) if hasattr(v, "dtype") and v.dtype.kind == "f" and v.size > 1]


def changed(sample: Sample, change: Callable[[Any], Any], places: list[int] | None = None) -> Sample | None:
    """A sample with some of its arrays changed; None where there are none."""
    places = numbers(sample) if places is None else places
    if not places:
        return None
    inputs = [change(value.copy()) if i in places else value for i, value in enumerate(sample.inputs)]
    return Sample(sample.op, inputs, sample.params, sample.excused)


def with_entries(values: Any, at: Any = slice(None)) -> Callable[[Any], Any]:
    """A change that writes numbers over the first entries of an array."""

    def change(array: Any) -> Any:
        flat = array.reshape(-1)
        count = min(len(values), flat.size)
        flat[:count] = values[:count]
        return flat.reshape(array.shape)

    return change


@edge("an entry is 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, with_entries([0.0]), numbers(sample)[:1])


@edge("an entry is 1", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, with_entries([1.0]), numbers(sample)[:1])


@edge("an entry of the last input is 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = numbers(sample)
    return changed(sample, with_entries([0.0]), places[-1:]) if len(places) > 1 else None


@edge("an entry of the last input is 1", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = numbers(sample)
    return changed(sample, with_entries([1.0]), places[-1:]) if len(places) > 1 else None


@edge("three entries are 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, with_entries([0.0, 0.0, 0.0]), numbers(sample)[:1])


@edge("three entries tie", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = numbers(sample)
    if len(places) > 1:
        first, second = (sample.inputs[place] for place in places[:2])
        if first.shape == second.shape and first.size >= 3:
            return changed(sample, with_entries(second.reshape(-1)[:3].copy()), places[:1])

    def tie(array: Any) -> Any:
        top = 1.25 * np.max(np.abs(array)) if len(places) == 1 else 1.25
        axis = next((i for i in range(array.ndim - 1, -1, -1) if array.shape[i] >= 3), None)
        if axis is None:
            return with_entries([top, top, top])(array)
        np.moveaxis(array, axis, -1)[..., :3] = top
        return array

    return changed(sample, tie, places[:1])


WHOLE = (-3.0, -1.0, 0.0, 1.0, 3.0, 6.0)
"""Whole numbers at which something bends somewhere; an array of six has them all."""


@edge("the entries are whole numbers", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.kind != "elementwise":
        return None
    return changed(sample, lambda a: np.resize(rng.permutation(WHOLE), a.shape), numbers(sample)[:1])


@edge("entries are exactly at the bounds", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    bounds = [each for each in [*sample.inputs[1:], *sample.params.values()] if type(each) is float]
    return changed(sample, with_entries(bounds), numbers(sample)[:1]) if bounds else None


@edge("entries lie far beyond the bounds")
def _(sample: Sample, rng: Any) -> Sample | None:
    names = dict(zip(sample.op.inputs, range(len(sample.inputs)), strict=False))
    if not any(name.endswith("scale") for name in names) or not {"low", "high"} <= sample.op.params.keys():
        return None
    rounded = [place for name, place in names.items() if f"{name}_scale" in names or (place == 0 and "scale" in names)]
    return changed(sample, with_entries([1e3, -1e3]), [place for place in rounded if place in numbers(sample)])


@edge("the numbers are huge")
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, lambda a: a * 1e4)


@edge("the numbers are near a thousand")
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, lambda a: a * 700, numbers(sample)[:1])


@edge("the numbers are near thirty")
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, lambda a: a * 20, numbers(sample)[:1])


@edge("the numbers are tiny")
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, lambda a: a * 1e-5)


def along(sample: Sample, array: Any) -> Any:
    """A view of an array whose last axes are those that the operation works along."""
    axis = sample.params.get("axis", sample.op.params.get("axis", -1))
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(each % array.ndim for each in axes) if all(type(each) is int for each in axes) else (array.ndim - 1,)
    rest = [i for i in range(array.ndim) if i not in axes]
    return array.transpose(*rest, *axes), len(rest)


def first_row(sample: Sample, value: float) -> Callable[[Any], Any]:
    """A change that fills everything along the operation's axes once."""

    def filled(array: Any) -> Any:
        turned, rest = along(sample, array)
        turned[(0,) * rest] = value
        return array

    return filled


@edge("all entries of a row are equal", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, first_row(sample, 0.75), numbers(sample)[:1])


@edge("a row is 0 throughout", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return changed(sample, first_row(sample, 0.0), numbers(sample)[:1])


WITHOUT_A_SLOPE = {"norm", "p_norm", "std"}
"""Operations that have no slope where all entries are equal, or 0: nan is in use there, beside 0."""


@edge("a matrix is singular", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = [i for i in numbers(sample) if sample.inputs[i].ndim >= 2 and sample.inputs[i].shape[-1] > 1]

    def dependent(array: Any) -> Any:
        if array.shape[-2] > 1:
            array[..., 1, :] = 2 * array[..., 0, :]
        return array

    return changed(sample, dependent, places[:1])


@edge("a row is masked throughout", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    if "mask" in sample.op.name and numbers(sample):
        return changed(sample, first_row(sample, -np.inf), numbers(sample)[:1])
    named = dict(zip(sample.op.inputs, range(len(sample.inputs)), strict=False))
    place = named.get("bias")
    if place is None or "attention" not in sample.op.name or sample.inputs[place] is None:
        return None

    def masked(array: Any) -> Any:
        array[..., 0, :] = -np.inf
        return array

    return changed(sample, masked, [place]) if sample.inputs[place].ndim >= 2 else None


@edge("axes are counted from the end")
def _(sample: Sample, rng: Any) -> Sample | None:
    arrays = [v for v in sample.inputs if hasattr(v, "ndim") and v.ndim]
    axis = sample.params.get("axis")
    if not arrays or axis is None or sample.op.name in ("stack", "expand_dims", "axes_from_last"):
        return None

    def turned(one: int) -> int:
        return one - arrays[0].ndim if one >= 0 else one + arrays[0].ndim

    other = tuple(map(turned, axis)) if isinstance(axis, (tuple, list)) else turned(axis)
    return Sample(sample.op, sample.inputs, {**sample.params, "axis": other}, sample.excused)


@edge("places are counted from the end")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.name not in ("take", "take_along_axis", "embedding", "put_take", "put_along_axis_add", "scatter_add"):
        return None
    along = sample.inputs[1 if sample.op.name == "embedding" else 0]
    axis = sample.params.get("axis", 0 if sample.op.name == "embedding" else None)
    length = along.size if axis is None else along.shape[axis]
    if sample.op.name.startswith("put_"):
        length = sample.params["shape"][axis]
    if sample.params.get("padding_idx") is not None:
        return None
    inputs = [v - length if hasattr(v, "dtype") and v.dtype.kind == "i" else v for v in sample.inputs]
    return Sample(sample.op, inputs, sample.params, sample.excused)


@edge("there are no axes")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.kind != "elementwise" or sample.params:
        return None
    inputs = [np.array(v.reshape(-1)[0]) if hasattr(v, "dtype") else v for v in sample.inputs]
    return Sample(sample.op, inputs, sample.params, sample.excused)


@edge("upstream is not finite")
def _(sample: Sample, rng: Any) -> Sample | None:
    return sample


IGNORES_NAN = ("fmax", "fmin", "nan_to_num")
"""Operations that take the place of what is no number, and so have a gradient beside it."""


@edge("an entry is no number")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.name not in IGNORES_NAN:
        return None
    places = numbers(sample)
    inputs = [value.copy() if i in places else value for i, value in enumerate(sample.inputs)]
    for number, place in enumerate(places):
        inputs[place].flat[-number] = np.nan  # the first of the first, the last of the last
    return Sample(sample.op, inputs, sample.params, sample.excused)
