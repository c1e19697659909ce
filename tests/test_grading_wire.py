"""Wire format: all requests of exercises arrive unchanged, and invalid bytes raise only WireError."""

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from micrograd_plus import exercises
from micrograd_plus.grading.sandbox.inside import wire
from micrograd_plus.grading.sandbox.runs import Limits, end_of_run

EXERCISES = exercises.list_exercises()


def same(a, b):
    """Return whether two values have the same type and the same bits."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or a != a)  # noqa: PLR0124 - NaN is not equal to itself


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_request_of_an_exercise_arrives_intact(exercise):
    for case in exercise.cases(3):
        assert same(case.request, wire.decode(wire.encode(case.request, 1 << 30))), case.about


@pytest.mark.parametrize("value", [
    None, True, 3, -(2**63), 1.5, float("nan"), -0.0, "text \N{SNOWMAN}", slice(1, None, 2), Ellipsis, [1, (2.0, None)],
    {"a": np.arange(6.0).reshape(2, 3).T}, np.float32(2), np.zeros((0, 3)), np.array(True), np.arange(3, dtype=">i4"),
    np.array([1 + 2j]),
])  # fmt: skip
def test_a_value_arrives_intact(value):
    decoded = wire.decode(wire.encode(value, 1 << 20))
    if isinstance(value, np.ndarray | np.generic):
        np.testing.assert_array_equal(decoded, value)
    else:
        assert same(decoded, value)


class Array(np.ndarray):
    """A subclass of arrays."""


@pytest.mark.parametrize(("value", "why"), [
    (object(), "type"), (np.zeros(3).view(Array), "type"), (np.array([object()]), "type"),
    (2**70, "type"), (b"x", "type"),
    (np.broadcast_to(1.0, (1000, 1000, 1000)), "large"), ([[[[[[[[1]]]]]]]], None), (list(range(100_000)), "deep"),
])  # fmt: skip
def test_an_unsupported_value_becomes_a_placeholder(value, why):
    decoded = wire.decode(wire.encode(value, 1 << 20))
    while isinstance(decoded, list) and decoded:
        decoded = decoded[0]
    assert isinstance(decoded, wire.Placeholder)
    assert why is None or decoded.why == why


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_frames_or_a_wire_error(data):
    try:
        for _, body in wire.read_frames(data):
            wire.decode(body)
    except wire.WireError:
        pass


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_changed_bytes_are_a_value_or_a_wire_error(place, change):
    data = bytearray(
        wire.encode({"values": {"x": np.arange(12.0).reshape(3, 4)}, "error": None, "wrote": ["a"]}, 1 << 20)
    )
    place %= len(data)
    data[place : place + len(change)] = change
    with contextlib.suppress(wire.WireError):
        wire.decode(bytes(data))


@pytest.mark.parametrize("data", [
    b"A" + struct.pack("<BB", 0, 2) + struct.pack("<2Q", 2**40, 2**40),
    b"A" + struct.pack("<BB", 0, 2) + struct.pack("<2Q", 0, 2**63),
    b"A" + struct.pack("<BB", 200, 1), b"L" + struct.pack("<I", 2**32 - 1), b"S" + struct.pack("<I", 2**31),
    (b"L" + struct.pack("<I", 1)) * 5000, b"P" * 5000,
])  # fmt: skip
def test_a_false_length_raises_before_allocation(data):
    with pytest.raises(wire.WireError):
        wire.decode(data)


@pytest.mark.parametrize(("status", "done", "end"), [
    ({"code": 0}, True, ("done", {})),
    ({"code": 0}, False, ("left", {"code": 0})),
    ({"code": 0xC0000005}, False, ("crash", {"signal": "0xC0000005"})),
    ({"code": 3, "end": "time"}, False, ("time", {})),
    ({"signal": 11}, False, ("crash", {"signal": "SIGSEGV"})),
    ({"signal": 9, "cpu": 1.9}, False, ("crash", {"signal": "SIGKILL"})),
    ({"signal": 9, "cpu": 3.0}, False, ("cpu", {})),
])  # fmt: skip
def test_the_end_of_a_run_follows_from_its_exit_status(status, done, end):
    assert end_of_run(status, done, Limits(cpu=2)) == end
