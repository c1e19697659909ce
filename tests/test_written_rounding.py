"""Programs that may round differently: sums of products at once, and large arrays in blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import leaves
from micrograd_plus.written import (
    block_text,
    blocks,
    passes,
    text,
)
from micrograd_plus.written.program import Program, trace
from micrograd_plus.written.step import Runner
from written_steps import (
    random_program,
    same,
)


def test_without_exact_bits_a_loop_of_products_becomes_one_product():
    def make(**options):
        rng = np.random.default_rng(0)
        w, u = (mg.tensor(rng.normal(size=(5, 5)), requires_grad=True) for _ in range(2))

        def step(x):
            w.grad = u.grad = None
            state = mg.zeros((3, 5))
            for drive in functional.linear(x, w).unstack():
                state = mg.tanh(functional.linear(state, u, drive))
            loss = (state * state).mean()
            loss.backward()
            return loss

        return [w, u], mg.compile(step, **options)

    (ours, exact), (theirs, rounding) = make(), make(exact=False)
    for seed in range(4):
        x = mg.tensor(np.random.default_rng(seed).normal(size=(12, 3, 5)))
        assert same(exact(x), rounding(x))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-12)
    assert rounding.counts["written"] == 2
    assert "exact=False" in rounding.source
    assert "exact=False" not in exact.source
    assert "to_u += " in exact.source
    assert "to_u += " not in rounding.source
    assert rounding.source.count(".dot(") < exact.source.count(".dot(")


def without_numba(monkeypatch):
    monkeypatch.setattr(block_text, "has_numba", lambda: False)


def test_without_exact_bits_large_arrays_go_in_blocks_of_rows(monkeypatch):
    without_numba(monkeypatch)
    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=s) for s in [(1000, 200), (200,), (1000, 1)])

    def make(**options):
        params = [mg.tensor(each, requires_grad=True) for each in (x, w, b)]

        def step():
            for each in params:
                each.grad = None
            h = params[0]
            for _ in range(3):
                h = mg.relu(h * params[1] + params[2]) * 0.9
            h.sum().backward()

        return params, mg.compile(step, **options)

    (ours, exact), (theirs, rounding) = make(), make(exact=False)
    for _ in range(3):
        exact(), rounding()
    for a, c in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(c.grad.numpy(), a.grad.numpy(), rtol=1e-12)
    assert "for start in range(0, 1000, " in rounding.source
    assert "in blocks of rows" in rounding.source
    assert "def compute_rows(" not in exact.source


def differences_in_blocks(seeds):
    """Return the random programs that give other numbers than the engine if all their arrays go in blocks of rows."""
    wrong = []
    for seed in seeds:
        f, rng = random_program(seed), np.random.default_rng(seed)
        try:
            draws = [[mg.tensor(x) for x in (rng.normal(size=(12, 4)), rng.uniform(0.5, 2, size=4))] for _ in range(2)]
            _, (page, structure) = trace(f, draws[0], {}, passes.ROUNDING_PASSES)
            found = Runner(Program(page, structure, "step", is_exact=False)).run(draws[1])
            for a, b in zip(leaves(f(*draws[1])), found, strict=True):
                np.testing.assert_allclose(b, a.numpy(), rtol=1e-9, atol=1e-9)
            assert page.bodies
        except Exception:  # noqa: BLE001 - a wrong program may fail in any way
            wrong.append(seed)
    return wrong


def make_blocks_small(monkeypatch):
    without_numba(monkeypatch)
    monkeypatch.setattr(blocks, "LARGE", 8)
    monkeypatch.setattr(blocks, "BYTES_OF_A_BLOCK", 160)


def test_random_programs_in_blocks_of_rows_have_the_engines_numbers(monkeypatch):
    make_blocks_small(monkeypatch)
    assert differences_in_blocks(range(24)) == []


def move_ahead_of_what_is_read(monkeypatch):
    real = blocks.Chain.add

    def add(self, statement):
        self.frozen.clear()
        self.touched.clear()
        real(self, statement)

    monkeypatch.setattr(blocks.Chain, "add", add)


def add_only_the_last_block_up(monkeypatch):
    real = text.say_blocks
    monkeypatch.setattr(text, "say_blocks", lambda *x: [line.replace(" += ", " = ") for line in real(*x)])


def read_sums_inside_the_loop(monkeypatch):
    real = blocks.Chain._take

    def take(self, statement, form):
        before = set(self.later)
        real(self, statement, form)
        self.later = before

    monkeypatch.setattr(blocks.Chain, "_take", take)


@pytest.mark.parametrize("mistake", [
    move_ahead_of_what_is_read, add_only_the_last_block_up, read_sums_inside_the_loop,
])  # fmt: skip
def test_a_planted_mistake_in_blocks_of_rows_is_caught(mistake, monkeypatch):
    make_blocks_small(monkeypatch)
    mistake(monkeypatch)
    assert differences_in_blocks(range(12))


@pytest.mark.parametrize("is_read", [False, True])
def test_sums_of_products_that_are_read_in_between_stay(is_read):
    def step(x):
        a = x.detach().data
        total, seen = a.T.dot(a), []
        for i in range(1, 7):
            total += (a * float(i)).T.dot(a)
            if is_read:
                seen.append(total * 1.0)
        return [mg.tensor(each) for each in (*seen, total * 1.0)]

    x = mg.tensor(np.random.default_rng(0).normal(size=(3, 4)))
    compiled = mg.compile(step, exact=False)
    for _ in range(4):
        for a, b in zip(step(x), compiled(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
    assert ("np.empty((7, 3, 4)" in compiled.source or "np.stack(" in compiled.source) is not is_read
