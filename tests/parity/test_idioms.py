"""The table of idioms, run on both sides: results that differ raise an error here or are listed as differences."""

import operator
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
CONVENTIONS = (Path(__file__).resolve().parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")


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
    except (IndexError, RuntimeError, ValueError):
        return
    same = np.shape(found["out"]) == np.shape(expected["out"]) and np.allclose(found["out"], expected["out"])
    assert not same


def test_every_row_of_the_list_is_in_the_table():
    listed = re.findall(r"^\| `(.*?)` \|.*\|.*\|.*\|$", DIFFERENCES, re.MULTILINE)
    assert {*listed} == {line.removeprefix("out = ") for line in rows(LISTED)}


WRITES = re.findall(r"^\| `(.*?)` \| ([^|]*) \| ([^|]*) \|$", DIFFERENCES, re.MULTILINE)
WRITES = [row for row in WRITES if re.match(r"done|refused|changes", row[2])]


def tensors_after(line, library):
    """Return what a write into a part of `o`, a result, or of `p` leaves in the tensors, and the gradients."""
    values = np.arange(6.0).reshape(2, 3)
    w = library.tensor([1.5, -2.0, 3.0], requires_grad=True)
    leaf = library.tensor(values, requires_grad=True)
    names = {"m": library, "w": w, "p": library.tensor(values), "o": leaf * 2.0}
    exec(line, names)  # noqa: S102 - a row of the page
    ((names["o"] * library.tensor(values + 1)).sum() + w.sum()).backward()
    found = {"o": names["o"], "p": names["p"], "w": w.grad, "x": leaf.grad}
    return {name: plain(value) for name, value in found.items()}


@pytest.mark.parametrize(("line", "there", "here"), WRITES)
def test_a_write_into_a_part_is_what_the_page_says(line, there, here):
    if here == "refused":
        with pytest.raises((RuntimeError, ValueError), match=r"x\[|x\.data\["):
            tensors_after(line, mg)
        return
    found = tensors_after(line, mg)
    if there == "refused":
        with pytest.raises(RuntimeError):
            tensors_after(line, torch)
        line = {"for row in o: row += w": "o += w", "a, b = o; a *= w; b += w": "o[0] *= w; o[1] += w"}[line]
    must_agree(found, tensors_after(line, torch), 1e-12)


def test_the_page_has_every_way_to_write_into_a_part():
    assert len(WRITES) >= 29


NARROW = {
    "float32": lambda m: m.ones(2, dtype=m.float32),
    "whole numbers": lambda m: m.ones(2, dtype=m.int64),
    "truths": lambda m: m.ones(2, dtype=m.int64) > 0,
    "NumPy's float64": lambda m: np.float64(2),
    "a float": lambda m: 2.0,
    "an int": lambda m: 2,
}
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "%": operator.mod, "//": operator.floordiv,
}  # fmt: skip
BOTH = ["maximum", "minimum", "fmod", "arctan2", "hypot", "copysign", "logaddexp"]


@pytest.mark.parametrize("other", NARROW)
@pytest.mark.parametrize("word", [*BINARY, *BOTH, "where"])
def test_beside_float32_widen_what_the_page_says(word, other):
    table = re.search(r"## Beside float32.*?(?=\n## |\Z)", CONVENTIONS, re.DOTALL)[0]
    (_, here, there), = re.findall(rf"^\| ({re.escape(other)}) \| (\w+) \| (\w+) \|$", table, re.MULTILINE)
    for library, expected in ((mg, here), (torch, there)):
        a, b = NARROW["float32"](library), NARROW[other](library)
        if word == "where":
            found = library.where(a > 0, a, b)
        elif library is torch and other == "truths" and word in ("-", "hypot", "logaddexp"):
            continue  # PyTorch refuses these
        elif word in BINARY:
            found = BINARY[word](a, b)
        elif library is torch and not isinstance(b, torch.Tensor):
            continue  # PyTorch's functions of two tensors take no number
        else:
            found = getattr(library, word)(a, b)
        assert str(found.dtype).removeprefix("torch.") == expected, (word, library.__name__)


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
