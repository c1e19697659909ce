"""The table of idioms, run on both sides: results that differ raise an error here or are listed as differences."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import micrograd_plus as mg

from .idioms import LAYERS, LISTED, NUMPYS, SAID, SAME, STATEMENTS

pytestmark = pytest.mark.parity

rng = np.random.default_rng(3)
LEAVES = {"x": rng.uniform(0.4, 2.0, (3, 4)), "y": rng.uniform(0.4, 2.0, (3, 4)), "v": rng.uniform(0.4, 2.0, 4)}
LEAVES["s"] = rng.standard_normal((3, 3)) + 2 * np.eye(3)
DIFFERENCES = (Path(__file__).resolve().parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")


def rows(table):
    return [line.replace("\\n", "\n") for line in table.strip().split("\n")]


def environment(library):
    """Return the names that a line can use on one side."""
    if library is torch:
        leaves = {name: torch.tensor(value, requires_grad=True) for name, value in LEAVES.items()}
        rest = {"m": torch, "F": torch.nn.functional, "nn": torch.nn, "optim": torch.optim}
    else:
        leaves = {name: mg.tensor(value, requires_grad=True) for name, value in LEAVES.items()}
        rest = {"m": mg, "F": mg.nn.functional, "nn": mg.nn, "optim": mg.optim}
    plain = {
        "p": library.tensor(LEAVES["y"]), "idx": library.tensor([1, 0, 2]), "mask": library.tensor(LEAVES["x"] > 1.2),
        "torch": torch, "np": np,
    }  # fmt: skip
    z = leaves["x"] + 1j * leaves["y"]
    return {**leaves, **rest, **plain, "z": z}


def run(line, library):
    """Return the arrays that a line leaves in `out`, and the gradients of its inputs."""
    names = environment(library)
    statement = "\n" in line or re.match(r"[\w., ]+ = |with |np\.random", line)
    exec(line if statement else f"out = {line}", names)  # noqa: S102 - a line of the table
    out = names["out"]
    found = {"out": plain(out)}
    if getattr(out, "requires_grad", False) is True:
        weights = np.random.default_rng(5).uniform(1, 2, tuple(out.shape))
        for name in LEAVES:
            names[name].grad = None
        (out * (torch.tensor(weights) if library is torch else mg.tensor(weights))).sum().backward()
        for name, leaf in LEAVES.items():
            gradient = names[name].grad
            found[name] = np.zeros(leaf.shape) if gradient is None else plain(gradient)
    return found


def plain(value):
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().numpy()
    if isinstance(value, mg.Tensor):
        return value.numpy()
    return value


def must_agree(found, expected, within):
    for name in found.keys() | expected.keys():
        one, other = found.get(name), expected.get(name)
        if isinstance(one, (np.ndarray, float)) or isinstance(other, (np.ndarray, float)):
            assert np.shape(one) == np.shape(other), name
            one, other = np.asarray(one, dtype=complex), np.asarray(other, dtype=complex)
            assert np.allclose(one, other, rtol=within, atol=within), name
        else:
            assert one == other, name


@pytest.mark.parametrize("line", rows(SAME) + rows(STATEMENTS) + rows(LAYERS))
def test_a_line_of_pytorch_means_the_same(line):
    within = 1e-7 if "hardsigmoid" in line else 1e-9  # PyTorch's sixth there is one of single precision
    must_agree(run(line, mg), run(line, torch), within)


@pytest.mark.parametrize("line", rows(SAID))
def test_a_missing_pytorch_name_suggests_what_to_write(line):
    with pytest.raises((AttributeError, TypeError)) as caught:
        run(line, mg)
    assert re.search(r"[Ww]rite |to exchange these axes|mg[.]topk|'\. (?:[A-Z]\w+ |mg\.|x\.)", str(caught.value))


@pytest.mark.parametrize("line", rows(LISTED))
def test_lines_with_another_meaning_are_in_the_list(line):
    assert f"`{line.removeprefix('out = ')}`" in DIFFERENCES
    expected = run(line, torch)
    try:
        found = run(line, mg)
    except (IndexError, ValueError):
        return
    same = np.shape(found["out"]) == np.shape(expected["out"]) and np.allclose(found["out"], expected["out"])
    assert not same


def test_every_row_of_the_list_is_in_the_table():
    listed = re.findall(r"^\| `(.*?)` \|.*\|.*\|.*\|$", DIFFERENCES, re.MULTILINE)
    assert {*listed} == {line.removeprefix("out = ") for line in rows(LISTED)}


@pytest.mark.parametrize("line", rows(NUMPYS))
def test_a_line_of_numpy_means_the_same(line):
    arrays = {"a": LEAVES["x"], "b": LEAVES["y"], "c": LEAVES["v"], "d": LEAVES["s"]}
    expected = eval(line, {"np": np, **arrays})  # noqa: S307 - a line of the table
    tensors = {name: mg.tensor(value, requires_grad=True) for name, value in arrays.items()}
    found = eval(line, {"np": mg, **tensors})  # noqa: S307 - a line of the table
    assert np.shape(plain(found)) == np.shape(expected)
    assert np.allclose(plain(found), expected, rtol=1e-10)


def test_the_table_is_long_enough():
    lines = [*rows(SAME), *rows(STATEMENTS), *rows(LAYERS), *rows(SAID), *rows(LISTED), *rows(NUMPYS)]
    assert len(lines) == len({*lines})
    assert len(lines) >= 500
