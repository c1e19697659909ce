"""Edge cases of rules: special numbers and calls, made from a sample of the operation.

Each function changes a sample, or returns None if the operation has no such edge case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends import devices
from ..checks.samples import Sample, real

np = devices.device("cpu").library
EdgeCase = Callable[[Sample, Any], Sample | None]

EDGE_CASES: dict[str, EdgeCase] = {}
"""Every edge case by its description."""
WITH_CONVENTIONS: set[str] = set()
"""Descriptions of the edge cases at which engines choose a convention; every convention in use is right there."""
WITH_BROADCASTING: set[str] = set()
"""Descriptions of the edge cases for answers that undo broadcasting themselves."""


def edge_case(about: str, conventions: bool = False, broadcasting: bool = False) -> Callable[[EdgeCase], EdgeCase]:
    """Decorator that adds a function to `EDGE_CASES`, and its description to the sets to which it belongs."""

    def add(function: EdgeCase) -> EdgeCase:
        EDGE_CASES[about] = function
        if conventions:
            WITH_CONVENTIONS.add(about)
        if broadcasting:
            WITH_BROADCASTING.add(about)
        return function

    return add


def array_places(sample: Sample) -> list[int]:
    """Return the places of inputs that are arrays of floats with more than one entry."""
    return [i for i, v in enumerate(sample.inputs) if hasattr(v, "dtype") and v.dtype.kind == "f" and v.size > 1]


def with_inputs(sample: Sample, inputs: list[Any]) -> Sample:
    """Return the sample with other inputs."""
    return Sample(sample.op, inputs, sample.params, sample.excused)


def change_arrays(sample: Sample, change: Callable[[Any], Any], places: list[int] | None = None) -> Sample | None:
    """Return the sample with a change applied to some of its arrays, by default all; None if it has none."""
    places = array_places(sample) if places is None else places
    if not places:
        return None
    return with_inputs(sample, [change(v.copy()) if i in places else v for i, v in enumerate(sample.inputs)])


def set_entries(values: Any) -> Callable[[Any], Any]:
    """Return a change that writes numbers over the first entries of an array."""

    def change(array: Any) -> Any:
        flat = array.reshape(-1)
        count = min(len(values), flat.size)
        flat[:count] = values[:count]
        return flat.reshape(array.shape)

    return change


# Special numbers ------------


@edge_case("an entry is 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, set_entries([0.0]), array_places(sample)[:1])


@edge_case("an entry is 1", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, set_entries([1.0]), array_places(sample)[:1])


@edge_case("an entry of the last input is 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = array_places(sample)
    return change_arrays(sample, set_entries([0.0]), places[-1:]) if len(places) > 1 else None


@edge_case("an entry of the last input is 1", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = array_places(sample)
    return change_arrays(sample, set_entries([1.0]), places[-1:]) if len(places) > 1 else None


@edge_case("three entries are 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, set_entries([0.0, 0.0, 0.0]), array_places(sample)[:1])


@edge_case("three entries tie", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = array_places(sample)
    if len(places) > 1:
        first, second = (sample.inputs[place] for place in places[:2])
        if first.shape == second.shape and first.size >= 3:
            return change_arrays(sample, set_entries(second.reshape(-1)[:3].copy()), places[:1])

    def tie(array: Any) -> Any:
        top = 1.25 * np.max(np.abs(array)) if len(places) == 1 else 1.25
        axis = next((i for i in range(array.ndim - 1, -1, -1) if array.shape[i] >= 3), None)
        if axis is None:
            return set_entries([top, top, top])(array)
        np.moveaxis(array, axis, -1)[..., :3] = top
        return array

    return change_arrays(sample, tie, places[:1])


INTEGERS = (-3.0, -1.0, 0.0, 1.0, 3.0, 6.0)
"""Integers at which some operation has a kink. An array of six entries has them all."""


@edge_case("the entries are integers", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.kind != "elementwise":
        return None
    return change_arrays(sample, lambda a: np.resize(rng.permutation(INTEGERS), a.shape), array_places(sample)[:1])


@edge_case("entries are exactly at the bounds", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    bounds = [each for each in [*sample.inputs[1:], *sample.params.values()] if type(each) is float]
    return change_arrays(sample, set_entries(bounds), array_places(sample)[:1]) if bounds else None


@edge_case("entries are far beyond the bounds")
def _(sample: Sample, rng: Any) -> Sample | None:
    names = dict(zip(sample.op.inputs, range(len(sample.inputs)), strict=False))
    if not any(name.endswith("scale") for name in names) or not {"low", "high"} <= sample.op.params.keys():
        return None
    rounded = [place for name, place in names.items() if f"{name}_scale" in names or (place == 0 and "scale" in names)]
    places = [place for place in rounded if place in array_places(sample)]
    return change_arrays(sample, set_entries([1e3, -1e3]), places)


@edge_case("the numbers are huge")
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, lambda a: a * 1e4)


@edge_case("the numbers are near a thousand")
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, lambda a: a * 700, array_places(sample)[:1])


@edge_case("the numbers are near thirty")
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, lambda a: a * 20, array_places(sample)[:1])


@edge_case("the numbers are tiny")
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, lambda a: a * 1e-5)


# Rows and matrices ----------


def reduced_axes_last(sample: Sample, array: Any) -> tuple[Any, int]:
    """Return a view whose last axes are the ones that the operation reduces, and the number of the other axes."""
    axis = sample.params.get("axis", sample.op.params.get("axis", -1))
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(each % array.ndim for each in axes) if all(type(each) is int for each in axes) else (array.ndim - 1,)
    rest = [i for i in range(array.ndim) if i not in axes]
    return array.transpose(*rest, *axes), len(rest)


def fill_first_row(sample: Sample, value: float) -> Callable[[Any], Any]:
    """Return a change that fills the first row along the operation's axes with one value."""

    def fill(array: Any) -> Any:
        view, rest = reduced_axes_last(sample, array)
        view[(0,) * rest] = value
        return array

    return fill


@edge_case("all entries of a row are equal", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, fill_first_row(sample, 0.75), array_places(sample)[:1])


@edge_case("a whole row is 0", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    return change_arrays(sample, fill_first_row(sample, 0.0), array_places(sample)[:1])


WITHOUT_A_SLOPE = {"norm", "p_norm", "std"}
"""Operations without a slope if all entries are equal or 0. There nan is a convention in use, beside 0."""


@edge_case("a matrix is singular", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    places = [i for i in array_places(sample) if sample.inputs[i].ndim >= 2 and sample.inputs[i].shape[-1] > 1]

    def make_singular(array: Any) -> Any:
        if array.shape[-2] > 1:
            array[..., 1, :] = 2 * array[..., 0, :]
        return array

    return change_arrays(sample, make_singular, places[:1])


@edge_case("a whole row is masked", conventions=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    if "mask" in sample.op.name and array_places(sample):
        return change_arrays(sample, fill_first_row(sample, -np.inf), array_places(sample)[:1])
    place = dict(zip(sample.op.inputs, range(len(sample.inputs)), strict=False)).get("bias")
    if place is None or "attention" not in sample.op.name or sample.inputs[place] is None:
        return None

    def mask_first_row(array: Any) -> Any:
        array[..., 0, :] = -np.inf
        return array

    return change_arrays(sample, mask_first_row, [place]) if sample.inputs[place].ndim >= 2 else None


# Other ways of calling ------


@edge_case("axes are counted from the end")
def _(sample: Sample, rng: Any) -> Sample | None:
    arrays = [v for v in sample.inputs if hasattr(v, "ndim") and v.ndim]
    axis = sample.params.get("axis")
    if not arrays or axis is None or sample.op.name in ("stack", "expand_dims", "axes_from_last"):
        return None

    def count_from_other_end(one: int) -> int:
        return one - arrays[0].ndim if one >= 0 else one + arrays[0].ndim

    other = tuple(map(count_from_other_end, axis)) if isinstance(axis, (tuple, list)) else count_from_other_end(axis)
    return Sample(sample.op, sample.inputs, {**sample.params, "axis": other}, sample.excused)


@edge_case("indices are counted from the end")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.name not in ("take", "take_along_axis", "embedding", "put_take", "put_along_axis_add", "scatter_add"):
        return None
    indexed = sample.inputs[1 if sample.op.name == "embedding" else 0]
    axis = sample.params.get("axis", 0 if sample.op.name == "embedding" else None)
    length = indexed.size if axis is None else indexed.shape[axis]
    if sample.op.name.startswith("put_"):
        length = sample.params["shape"][axis]
    if sample.params.get("padding_idx") is not None:
        return None
    inputs = [v - length if hasattr(v, "dtype") and v.dtype.kind == "i" else v for v in sample.inputs]
    return with_inputs(sample, inputs)


@edge_case("there are no axes")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.kind != "elementwise" or sample.params:
        return None
    return with_inputs(sample, [np.array(v.reshape(-1)[0]) if hasattr(v, "dtype") else v for v in sample.inputs])


NOT_FINITE_UPSTREAM = "upstream is not finite"


@edge_case(NOT_FINITE_UPSTREAM)
def _(sample: Sample, rng: Any) -> Sample | None:
    return sample


@edge_case("leading axes have length 1 and are repeated", broadcasting=True)
def _(sample: Sample, rng: Any) -> Sample | None:
    shapes = (3, 1, 2, 4), (1, 5, 4, 2)
    return with_inputs(sample, [real(*each)(rng) for each in shapes]) if sample.op.name == "matmul" else None


IGNORES_NAN = ("fmax", "fmin", "nan_to_num")
"""Operations that ignore or replace nan, so that they have a gradient beside it."""


@edge_case("an entry is nan")
def _(sample: Sample, rng: Any) -> Sample | None:
    if sample.op.name not in IGNORES_NAN:
        return None
    places = array_places(sample)
    inputs = [value.copy() if i in places else value for i, value in enumerate(sample.inputs)]
    for number, place in enumerate(places):
        inputs[place].flat[-number] = np.nan  # the first entry of the first input, the last entry of the second
    return with_inputs(sample, inputs)
