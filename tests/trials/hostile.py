"""Damaged and malicious traces and files: each raises the one documented error, or can be used."""

import copy
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import micrograd_plus as mg

from .harness import SAID, SAME, dice

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 1.5, -0.0, 2**31, 2**63, -(2**63), 10**30, 10**4000, 1e308, float("nan"),
    float("inf"), "", "x", "x" * 5000, "\ud800", "\x00", "a\u202eb", "<script>alert(1)</script>", "[1]", "{}",
    "../../etc/passwd", "\n", "add", "nope", [], [[]], [0], [None], [1, 2, 3], [2**62, 2**62], [10**19] * 70, [-1], {},
    {"a": 1}, {"": None}, {"__class__": "os"}, [[1.0, 2.0], [3.0]], [True, False],
]  # fmt: skip
"""Replacements for damaged parts of the data."""


@cache
def traces() -> list[Any]:
    """Return small traces of every kind, as plain data."""
    rng = np.random.default_rng(0)
    x, w = (mg.tensor(rng.normal(size=(2, 3)), requires_grad=True) for _ in range(2))
    found = []
    with mg.record() as trace:
        with mg.scope("scores"):
            product = x * w
        (mg.softmax(product) * x[0]).sum().backward()
    found.append(trace)
    with mg.record() as trace:
        total = mg.tensor(0.0)
        for row in x:
            total += mg.tanh(row).sum()
        total.backward()
        total.backward()
    found.append(trace)
    layer = mg.nn.Linear(3, 2)
    with mg.record() as trace:
        mg.nn.functional.cross_entropy(layer(x), mg.tensor([0, 1])).backward()
    found.append(trace)
    with mg.record() as trace:
        mg.jvp(lambda x: (x * w).sum(), (x,), (w,))
    found.append(trace)
    return [json.loads(each.to_json()) for each in found]


STATE = {
    "weight": mg.tensor(np.arange(6.0).reshape(2, 3)), "bias": mg.tensor([1, 2]), "mask": mg.tensor([True, False]),
    "deep": {"a": mg.tensor(1.5), "b": {"c": mg.tensor([1j])}}, "step": 7, "name": "adam",
}  # fmt: skip


@cache
def files(suffix: str) -> bytes:
    """Return a valid file of a format, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"state{suffix}"
        names = STATE if suffix == ".npz" else ("weight", "mask")
        mg.save({name: STATE[name] for name in names}, path)
        return path.read_bytes()


# Damage ---------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each part of a nested structure."""
    yield path
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield from places(value, (*path, key))


def at(data: Any, path: Iterable[Any]) -> Any:
    """Return the part at a path."""
    for key in path:
        data = data[key]
    return data


def damaged_data(rng: np.random.Generator, whole: Any) -> Any:
    """Return the data with one to three parts removed, inserted, exchanged or replaced."""
    data = copy.deepcopy(whole)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        known = [path for path in places(data) if path]
        if known:
            *path, key = known[rng.integers(len(known))]
            damage(rng, at(data, path), key, at(data, known[rng.integers(len(known))]))
    return data


def damage(rng: np.random.Generator, part: Any, key: Any, other: Any) -> None:
    """Damage the part at `key` in one way; `other` is another part of the data."""
    value, turn, here = copy.deepcopy(VALUES[rng.integers(len(VALUES))]), rng.integers(8), part[key]
    if turn == 0:
        del part[key]
    elif turn == 1 and isinstance(part, dict):
        part[str(value)[:50]] = here
    elif turn == 1:
        part.insert(key, value)
    elif turn == 2:
        part[key] = copy.deepcopy(other)
    elif turn == 3 and type(here) in (int, float):
        part[key] = here + int(rng.choice([-1, 1, 2, 100]))
    elif turn in (4, 5) and isinstance(here, list):
        part[key] = here * int(rng.integers(2, 30)) if turn == 4 else here[::-1]
    else:
        part[key] = value


def damaged_bytes(rng: np.random.Generator, whole: bytes) -> bytes:
    """Return the bytes with some changed, removed, inserted or repeated."""
    data = bytearray(whole)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at, turn = int(rng.integers(max(len(data), 1))), rng.integers(6)
        if turn == 0:
            data = data[:at]
        elif turn == 1:
            data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif turn == 2:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
        elif turn == 3:
            data[at : at + int(rng.integers(1, 9))] = b"\xff" * int(rng.integers(9))
        else:
            data[at : at + 1] = bytes([rng.integers(256)])
    return bytes(data)


HEADS = [
    "(" * 300, "-" * 9000 + "1", "[" * 500, "{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 4000 + ",), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': 2, 'shape': (1,), }", "{'descr': 'V8', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<M8[s]', 'fortran_order': True, 'shape': (1,), }", "{}", "", "__import__('os').system('true')",
    "{'descr': '<f8', 'fortran_order': False, 'shape': " + str((1,) * 70) + ", }", "\x00" * 50, "é" * 50,
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
]  # fmt: skip
"""Possible headers of an array in an archive."""


def archive(rng: np.random.Generator) -> bytes:
    """Return a .npz archive with malformed members."""
    head = HEADS[rng.integers(len(HEADS))].encode()
    array = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + rng.bytes(int(rng.integers(40)))
    long = ["a" * 300 + ".npy", "/".join("a" * 100) + ".npy"]
    names = ["weight.npy", "a/b/c.npy", "../up.npy", *long, "weight", ".npy", "x\ud7ff.npy"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if rng.integers(2) else zipfile.ZIP_STORED) as file:
        for _ in range(rng.integers(1, 4)):
            content = array if rng.integers(3) else b"\x00" * int(rng.integers(10**6))
            file.writestr(f"{rng.integers(9)}{names[rng.integers(len(names))]}", content)
    return out.getvalue()


def tensors_file(rng: np.random.Generator) -> bytes:
    """Return a safetensors file with a damaged header."""
    whole = files(".safetensors")
    length = int.from_bytes(whole[:8], "little")
    head = json.dumps(damaged_data(rng, json.loads(whole[8 : 8 + length]))).encode()
    size = len(head) + int(rng.choice([0, 0, 0, 1, -1, 2**40]))
    return max(size, 0).to_bytes(8, "little") + head + whole[8 + length :]


# Trials ---------------------


def used_trace(trace: Any) -> None:
    """Use an accepted trace in every way."""
    text = trace.to_json()
    if mg.load_trace(text).to_json() != text:
        raise AssertionError("read back, it is another trace")
    text.encode()
    f"{trace}{trace.summary()}".encode()
    for node in trace.nodes:
        f"{node}".encode()
    for walk in trace.walks:
        f"{walk}".encode()
    for step in trace:
        f"{step}{trace.sentence(step)}".encode()
        trace.inside(step)


def as_page(trace: Any) -> None:
    """Return the trace's page in the player."""
    import micrograd_plus_viz as viz

    with tempfile.TemporaryDirectory() as folder:
        viz.save(trace, Path(folder) / "walk.html")


def try_trace(rng: np.random.Generator, folder: Path) -> str:
    """Load a trace that was damaged as data or as text."""
    whole = traces()[rng.integers(len(traces()))]
    source: Any
    if rng.integers(4):
        source = damaged_data(rng, whole)
        if rng.integers(2):
            source = json.dumps(source)
    else:
        source = folder / "trace.json"
        source.write_bytes(damaged_bytes(rng, json.dumps(whole).encode()))
    try:
        trace = mg.load_trace(source)
    except mg.FileError as error:
        return error_text(error)
    used_trace(trace)
    if rng.integers(50) == 0:
        as_page(trace)
    return SAME


def try_file(suffix: str, make: Callable[[np.random.Generator], bytes]) -> Callable[[np.random.Generator, Path], str]:
    """Return a function that loads a damaged file from `make`."""

    def attempt(rng: np.random.Generator, folder: Path) -> str:
        path = folder / f"state{suffix}"
        path.write_bytes(make(rng))
        try:
            state = mg.load(path)
        except mg.FileError as error:
            return error_text(error)
        used_state(state)
        return SAME

    return attempt


def used_state(state: Any) -> None:
    """Read every number of a loaded state, and save it again."""
    for each in state.values():
        if isinstance(each, dict):
            used_state(each)
        elif isinstance(each, mg.Tensor):
            f"{each}".encode()
            each.numpy().sum()
        elif not isinstance(each, (int, float, str, bool, list, type(None))):
            raise TypeError(f"a {type(each).__name__} was loaded")


def error_text(error: Exception) -> str:
    """Return an error message after checking that it is one printable sentence of moderate length."""
    text = str(error)
    text.encode()
    return SAID if 0 < len(text) < 700 else f"refused in {len(text)} letters: {text[:100]}"


KINDS = [
    *[try_trace] * 5,
    try_file(".npz", lambda rng: damaged_bytes(rng, files(".npz"))),
    try_file(".npz", archive),
    try_file(".safetensors", lambda rng: damaged_bytes(rng, files(".safetensors"))),
    try_file(".safetensors", tensors_file),
]


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for files, in memory if the system supports that."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


def run(case: int) -> str:
    """Return the result of one case."""
    rng = dice("hostile", case)
    return KINDS[rng.integers(len(KINDS))](rng, Path(folder().name))
