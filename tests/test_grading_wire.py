"""Values as bytes: everything that exercises send arrives, and no bytes at all make a reader fail in another way."""

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from micrograd_plus import exercises
from micrograd_plus.grading.sandbox.runs import end_of_run
from micrograd_plus.grading.sandbox.inside import wire

FIRST = exercises.listed()


def same(a, b):
    """Whether two values are the same in type and in every bit."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or a != a)  # noqa: PLR0124 - NaN is not equal to itself


@pytest.mark.parametrize("exercise", FIRST, ids=lambda exercise: exercise.id)
def test_every_request_of_every_exercise_arrives_as_it_was(exercise):
    for case in exercise.cases(3):
        assert same(case.request, wire.decode(wire.encode(case.request, 1 << 30))), case.about


@pytest.mark.parametrize("value", [
    None, True, 3, -(2**63), 1.5, float("nan"), -0.0, "text \N{SNOWMAN}", slice(1, None, 2), Ellipsis, [1, (2.0, None)],
    {"a": np.arange(6.0).reshape(2, 3).T}, np.float32(2), np.zeros((0, 3)), np.array(True), np.arange(3, dtype=">i4"),
    np.array([1 + 2j]),
])  # fmt: skip
def test_a_value_arrives(value):
    found = wire.decode(wire.encode(value, 1 << 20))
    if isinstance(value, np.ndarray | np.generic):
        np.testing.assert_array_equal(found, value)
    else:
        assert same(found, value)


class Array(np.ndarray):
    """A class of arrays of its own."""


@pytest.mark.parametrize(("value", "why"), [
    (object(), "type"), (np.zeros(3).view(Array), "type"), (np.array([object()]), "type"),
    (2**70, "type"), (b"x", "type"),
    (np.broadcast_to(1.0, (1000, 1000, 1000)), "large"), ([[[[[[[[1]]]]]]]], None), (list(range(100_000)), "deep"),
])  # fmt: skip
def test_what_does_not_travel_is_named_and_not_held(value, why):
    found = wire.decode(wire.encode(value, 1 << 20))
    while isinstance(found, list) and found:
        found = found[0]
    assert isinstance(found, wire.Placeholder)
    assert why is None or found.why == why


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_frames_or_a_frame_error(data):
    try:
        for _, body in wire.read_frames(data):
            wire.decode(body)
    except wire.WireError:
        pass


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_value_with_bytes_changed_is_a_value_or_a_frame_error(place, change):
    whole = bytearray(
        wire.encode({"values": {"x": np.arange(12.0).reshape(3, 4)}, "error": None, "wrote": ["a"]}, 1 << 20)
    )
    place %= len(whole)
    whole[place : place + len(change)] = change
    with contextlib.suppress(wire.WireError):
        wire.decode(bytes(whole))


@pytest.mark.parametrize("data", [
    b"A" + struct.pack("<BB", 0, 2) + struct.pack("<2Q", 2**40, 2**40),
    b"A" + struct.pack("<BB", 0, 2) + struct.pack("<2Q", 0, 2**63),
    b"A" + struct.pack("<BB", 200, 1), b"L" + struct.pack("<I", 2**32 - 1), b"S" + struct.pack("<I", 2**31),
    (b"L" + struct.pack("<I", 1)) * 5000, b"P" * 5000,
])  # fmt: skip
def test_lengths_that_lie_cost_nothing(data):
    with pytest.raises(wire.WireError):
        wire.decode(data)


@pytest.mark.parametrize(("told", "done", "end"), [
    ({"code": 0}, True, ("done", {})),
    ({"code": 0}, False, ("left", {"code": 0})),
    ({"code": 0xC0000005}, False, ("crash", {"signal": "0xC0000005"})),
    ({"code": 3, "end": "time"}, False, ("time", {})),
    ({"signal": 11}, False, ("crash", {"signal": "SIGSEGV"})),
])  # fmt: skip
def test_the_end_of_a_run_is_told_from_what_the_system_says(told, done, end):
    assert end_of_run(status, done) == end
