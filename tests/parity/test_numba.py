"""Programs of `exact=False` where numba is installed: large arrays entry by entry, and Values example by example."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.nn.scalars import MLP
from micrograd_plus.written import blocks, entries, passes
from micrograd_plus.written.program import Program, trace
from micrograd_plus.written.step import Runner

pytestmark = pytest.mark.parity


def test_numba_is_installed_here():
    assert entries.has_numba()


def chain(dtype):
    """Return parameters, and a step with a chain of statements on a large array."""
    rng = np.random.default_rng(0)
    shapes = (700, 300), (300,), (700, 1)
    params = [mg.tensor(rng.normal(size=each), dtype=dtype, requires_grad=True) for each in shapes]

    def step():
        for each in params:
            each.grad = None
        h = params[0]
        for _ in range(3):
            h = mg.relu(h * params[1] + params[2]) * 0.9
        loss = (mg.tanh(h) + mg.where(h > 0.5, h, 0.1)).sum()
        loss.backward()
        return loss

    return params, step


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-11), ("float32", 1e-4)])
def test_a_chain_on_large_arrays_goes_entry_by_entry(dtype, error, monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 2**19)
    (ours, engine), (theirs, compiled) = chain(dtype), chain(dtype)
    compiled = mg.compile(compiled, exact=False)
    for _ in range(3):
        np.testing.assert_allclose(compiled().numpy(), engine().numpy(), rtol=error)
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad.dtype == b.grad.dtype
        np.testing.assert_allclose(b.grad.numpy(), a.grad.numpy(), rtol=error, atol=error)
    assert "@numba.njit" in compiled.source
    assert "# h = mg.relu(" in compiled.source


def test_infinity_and_nan_stay_what_they_are(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 8)
    rows = np.array([[0.0, np.nan, np.inf], [-np.inf, 1.0, -0.0]])

    def step(x):
        return mg.maximum(x, 0.0) * 0.5 + x / x, 1.0 / x, mg.where(x > 0.0, x, -x).sum(axis=0)

    with np.errstate(all="ignore"):
        _, (page, structure) = trace(step, (mg.tensor(np.ones((2, 3))),), {}, passes.ROUNDING_PASSES)
        program = Program(page, structure, "step", is_exact=False)
        found, expected = Runner(program).run([mg.tensor(rows)]), step(mg.tensor(rows))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b.numpy())
    assert "@numba.njit" in program.source


def test_a_chain_that_reads_the_sum_of_a_row_goes_in_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 8)
    compiled = mg.compile(lambda x: mg.exp(mg.exp(x) - mg.exp(x).sum(axis=1, keepdims=True)) * x, exact=False)
    x = mg.tensor(np.random.default_rng(0).normal(size=(6, 4)))
    for _ in range(3):
        np.testing.assert_allclose(compiled(x).numpy(), compiled.function(x).numpy(), rtol=1e-12)
    assert "@numba.njit" not in compiled.source
    assert "for start in range(0, 6, " in compiled.source


@pytest.mark.parametrize("mistake", [None, "columns", "rows"])
def test_a_planted_mistake_in_sums_is_caught(mistake, monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 8)
    if mistake is not None:
        real = entries.Entries._add_up
        wrong = {"columns": (0,), "rows": (1,)}[mistake]
        monkeypatch.setattr(entries.Entries, "_add_up", lambda self, out, axes, said: real(
            self, out, axes, f"2 * {said}" if axes == wrong else said))  # fmt: skip

    def step(x):
        y = mg.exp(x) * x + 1.0
        return y.sum(axis=0), y.sum(axis=1), y.sum()

    compiled = mg.compile(step, exact=False)
    x = mg.tensor(np.random.default_rng(0).normal(size=(6, 4)))
    for _ in range(2):
        compiled(x)
    found, expected = compiled(x), step(x)
    assert "@numba.njit" in compiled.source
    is_right = all(np.allclose(a.numpy(), b.numpy(), rtol=1e-12) for a, b in zip(found, expected, strict=True))
    assert is_right is (mistake is None)


def test_a_batch_of_values_goes_example_by_example():
    def examples(**options):
        model, numbers = MLP(2, [4, 1]), np.random.default_rng(1)
        for parameter in model.parameters():
            parameter.data = numbers.normal()

        def step(point, target):
            score = model(point)
            loss = (1 + -target * score).relu() * 0.1 + (score * 0.1).tanh() ** 2
            loss.backward()
            return loss, {"score": score.data}

        return model, mg.compile(step, batch=True, **options)

    (ours, on_arrays), (theirs, by_numba) = examples(), examples(exact=False)
    rng = np.random.default_rng(0)
    for count in (7, 1, 30):
        points, targets = rng.normal(size=(count, 2)), rng.choice([-1.0, 1.0], size=count)
        expected, found = on_arrays(points, targets), by_numba(points, targets)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(found[1]["score"], expected[1]["score"], rtol=1e-12)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert b.grad == pytest.approx(a.grad, rel=1e-11, abs=1e-13)
    assert "@numba.njit" in by_numba.source
    assert "for i in range(len(rows)):" in by_numba.source
    assert "@numba.njit" not in on_arrays.source
