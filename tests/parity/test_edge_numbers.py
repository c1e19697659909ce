"""The tables of nan, inf and cancellation in docs/conventions.md: PyTorch's column, and values at edges."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import micrograd_plus as mg

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

CONVENTIONS = (Path(__file__).resolve().parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
CELLS = r"^\| `([^`]+)` \| `([^`]+)` \| `[^`]+` \| `([^`]+)` \| `([^`]+)` \|$"
ROWS = re.findall(CELLS, CONVENTIONS, re.MULTILINE)
NAMES = {
    "torch": torch, "F": torch.nn.functional, "nan": np.nan, "inf": np.inf,
    "zero": torch.tensor(0.0, dtype=torch.float64), "one": torch.tensor(1.0, dtype=torch.float64),
}  # fmt: skip


@pytest.mark.parametrize(("call", "x", "gradient", "line"), ROWS, ids=[f"{row[3]} at {row[1]}" for row in ROWS])
def test_pytorch_has_the_gradient_of_the_table_and_our_value(call, x, gradient, line):
    entries = np.array(eval(x, NAMES), dtype=float)  # noqa: S307 - a cell of our own table
    there, here = torch.tensor(entries, requires_grad=True), mg.tensor(entries, requires_grad=True)
    theirs = eval(line, {**NAMES, "x": there})  # noqa: S307 - the same
    theirs.sum().backward()
    expected = np.array(eval(gradient, NAMES))  # noqa: S307 - the same
    np.testing.assert_allclose(there.grad.numpy(), expected, rtol=1e-6)
    ours = eval(call, {"mg": mg, "x": here})  # noqa: S307 - the same
    if not re.search(r"sign\(|special.i\d|gelu", call):  # values that the text above a table names, or lost digits
        np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-9)


def test_the_tables_of_edges_have_at_least_forty_rows():
    assert len(ROWS) >= 40


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log_ndtr_keeps_its_derivatives_in_the_tail(dtype):
    x = np.array([-20.0, -1e3, -1e4, -1e5, -1e8], dtype)
    first = mg.grad(lambda x: mg.special.log_ndtr(x).sum())
    second = mg.grad(lambda x: first(x).sum())
    exact = x.astype(float)
    within = 1e-6 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(first(x).numpy()[1:], (-exact - 1 / exact)[1:], rtol=max(within, 1e-11))
    np.testing.assert_allclose(second(x).numpy()[1:], (-1 + 1 / exact**2)[1:], rtol=max(within, 1e-11))
    near = torch.tensor([-20.0, -5.7, -5.6, 0.3, 4.0], dtype=torch.float64, requires_grad=True)
    torch.special.log_ndtr(near).sum().backward()
    np.testing.assert_allclose(first(near.detach().numpy()).numpy(), near.grad.numpy(), rtol=1e-10)


def test_modified_bessel_functions_are_infinite_far_out():
    far = np.array([np.inf, 1e308, 1e4])
    for name in ("i0", "i1"):
        assert getattr(mg.special, name)(far).tolist() == [np.inf] * 3
    np.testing.assert_allclose(mg.special.i0e(np.array([1e308])).numpy(), 1 / np.sqrt(2 * np.pi) / 1e154, rtol=1e-14)
    assert mg.grad(mg.special.i0)(np.inf).item() == np.inf


# Corners of PyTorch's samples ------------------------------------------------------------------------------

X = np.random.default_rng(0).standard_normal((2, 3, 4))
TRANSFORMS = [(name, dim) for name in ("fft2", "ifft2", "rfft2", "fftn") for dim in ((0,), (1,), (2, 0), (0, 1, 2))]


@pytest.mark.parametrize(("name", "dim"), TRANSFORMS)
def test_fft2_takes_one_to_three_axes_as_in_pytorch(name, dim):
    leaf, there = mg.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    ours, theirs = getattr(mg.fft, name)(leaf, axes=dim), getattr(torch.fft, name)(there, dim=dim)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), atol=1e-14)
    (ours * ours.conj()).real.sum().backward()
    (theirs * theirs.conj()).real.sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), there.grad.numpy(), atol=1e-13)
    with pytest.raises(ValueError, match=f"{name}.*s must have one length for each axis, got 5 for {len(dim)}"):
        getattr(mg.fft, name)(X, s=(2,) * 5, axes=dim)


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, -1, np.inf, -np.inf])
def test_normalize_takes_every_order_of_pytorch(p):
    x = X.copy()
    x[0, 1, 0] = 0.0
    leaf, there = mg.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    ours = mg.nn.functional.normalize(leaf, p=p, dim=2)
    theirs = torch.nn.functional.normalize(there, p=p, dim=2)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-13)
    if p not in (-1, 0.5):  # PyTorch's gradient of these is nan at an entry of 0
        (ours**2).sum().backward()
        (theirs**2).sum().backward()
        np.testing.assert_allclose(leaf.grad.numpy(), there.grad.numpy(), rtol=1e-10, atol=1e-14)


REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "logsumexp", "norm", "softmax", "squeeze"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dim", [0, -1])
def test_a_single_number_may_be_reduced_along_axis_0(name, dim):
    leaf, there = mg.tensor(2.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    ours, theirs = getattr(mg, name)(leaf, axis=dim), getattr(torch, name)(there, dim=dim)
    ours.backward()
    theirs.backward()
    assert (ours.item(), leaf.grad.item()) == (theirs.item(), there.grad.item())
    with pytest.raises(IndexError, match="axis 1 is out of range"):
        getattr(mg, name)(leaf, axis=1).backward()


def test_cosine_similarity_of_two_numbers_has_a_gradient():
    x, y = mg.tensor(2.0, requires_grad=True), mg.tensor(-3.0, requires_grad=True)
    there = [torch.tensor(2.0, requires_grad=True), torch.tensor(-3.0, requires_grad=True)]
    mg.nn.functional.cosine_similarity(x, y, dim=0).backward()
    torch.nn.functional.cosine_similarity(*there, dim=0).backward()
    assert [x.grad.item(), y.grad.item()] == [each.grad.item() for each in there]


def test_adaptive_pooling_of_lines_takes_a_tuple_of_one():
    for size in (2, (2,), [2]):
        ours = mg.nn.functional.adaptive_avg_pool1d(mg.tensor(X), size)
        theirs = torch.nn.functional.adaptive_avg_pool1d(torch.tensor(X), size)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-14)
    with pytest.raises(ValueError, match=r"output_size must be one number, or 1 \(along length\), got \(2, 2\)"):
        mg.nn.functional.adaptive_avg_pool1d(mg.tensor(X), (2, 2))
