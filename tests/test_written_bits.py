"""Steps written out as programs have the engine's bits: updates, optimisers, layers, samples, random programs."""

from __future__ import annotations

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.checks import promises
from micrograd_plus.nn import functional
from micrograd_plus.written import (
    passes,
    program,
)
from written_steps import (
    BY_HAND,
    KINDS,
    OPTIMISERS,
    SCHEDULES,
    all_same,
    batch,
    classifier,
    random_program,
    same,
    training,
)


@pytest.mark.parametrize("dtype", [float, "float32"])
@pytest.mark.parametrize("update", BY_HAND, ids=lambda f: f.__name__)
def test_an_update_by_hand_has_the_engines_bits(update, dtype):
    def make():
        params, loss_of = classifier(dtype)

        def step(x, y):
            for p in params:
                p.grad = None
            loss = loss_of(x, y)
            loss.backward()
            update(params)
            return loss

        return params, step

    (ours, engine), (theirs, step) = make(), make()
    step, rng = mg.compile(step), np.random.default_rng(1)
    for _ in range(6):
        x, y = batch(rng, dtype)
        assert same(engine(x, y), step(x, y))
        assert all_same([[p, p.grad] for p in ours], [[p, p.grad] for p in theirs])
    assert step.counts == {"traced": 2, "written": 4}


def test_every_optimiser_with_every_schedule_has_the_engines_bits():
    for number, optimiser in enumerate(OPTIMISERS):
        for schedule in SCHEDULES if number in (1, 3) else SCHEDULES[number % 5 :][:1]:
            (ours, one, engine), (theirs, other, step) = (training(optimiser, schedule) for _ in range(2))
            step, rng = mg.compile(step), np.random.default_rng(1)
            for _ in range(10):
                x, y = batch(rng)
                assert same(engine(x, y), step(x, y))
                assert all_same([ours, one.state_dict()], [theirs, other.state_dict()])
            assert step.counts["written"] >= 7


class First(nn.Module):
    """The first result of a recurrent layer or of attention."""

    def __init__(self, layer, times=1):
        self.layer, self.times = layer, times

    def forward(self, x):
        return self.layer(*[x] * self.times)[0]


class Words(nn.Module):
    """An embedding of whole numbers."""

    def __init__(self):
        self.table, self.out = nn.Embedding(10, 5), nn.Linear(5, 3)

    def forward(self, x):
        return self.out(self.table((x * 3).astype(int).abs() % 10))


LAYERS = {
    "dropout": (lambda: nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Dropout(0.3), nn.Linear(7, 3)), (4, 5)),
    "batch norm": (lambda: nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Tanh()), (4, 5)),
    "batch norm, mean of all": (lambda: nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7, momentum=None)), (4, 5)),
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, 3),
            nn.BatchNorm2d(3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout2d(0.4),
            nn.Flatten(),
            nn.Linear(27, 2),
        ),
        (3, 2, 8, 8),
    ),
    "average pool": (lambda: nn.Sequential(nn.Conv1d(2, 3, 3), nn.AvgPool1d(2), nn.SiLU()), (3, 2, 9)),
    "transposed": (lambda: nn.Sequential(nn.ConvTranspose2d(2, 3, 3, stride=2), nn.Sigmoid()), (2, 2, 4, 4)),
    "layer norm": (lambda: nn.Sequential(nn.LayerNorm(5), nn.GELU(), nn.Linear(5, 2)), (4, 5)),
    "group norm": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.ELU()), (3, 4, 5)),
    "instance norm": (lambda: nn.InstanceNorm1d(4, affine=True, track_running_stats=True), (3, 4, 5)),
    "lstm": (lambda: First(nn.LSTM(5, 4)), (6, 3, 5)),
    "gru": (lambda: First(nn.GRU(5, 4)), (6, 3, 5)),
    "rnn": (lambda: First(nn.RNN(5, 4, num_layers=2, bidirectional=True)), (6, 3, 5)),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8)),
    "attention": (lambda: First(nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.2), 3), (2, 5, 8)),
    "embedding": (Words, (4,)),
    "activations": (
        lambda: nn.Sequential(
            nn.Linear(5, 4), nn.Softmax(-1), nn.LeakyReLU(), nn.PReLU(), nn.Softplus(), nn.Hardswish(), nn.Mish()
        ),
        (4, 5),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_in_training_has_the_engines_bits(name):
    build, shape = LAYERS[name]

    def make():
        mg.random.seed(0)
        net = build()
        descent = optim.Adam(net.parameters(), lr=0.01)

        def step(x):
            descent.zero_grad()
            out = net(x)
            loss = (out * out).mean() + out.sum() * 0.1
            loss.backward()
            descent.step()
            return loss

        return net, descent, step

    (one, ours, engine), (other, theirs, step) = make(), make()
    step, rng = mg.compile(step), np.random.default_rng(1)
    state = mg.random.state()
    for _ in range(10):
        x = mg.tensor(rng.normal(size=shape))
        mg.random.set_state(state)
        expected = engine(x)
        after = mg.random.state()
        mg.random.set_state(state)
        assert same(expected, step(x))
        assert mg.random.state() == after
        assert all_same([one.state_dict(), ours.state_dict()], [other.state_dict(), theirs.state_dict()])
        state = after
    assert step.counts["written"] == 7


def test_large_convolutions_go_in_the_engines_blocks():
    rng = np.random.default_rng(0)
    kernel = mg.tensor(rng.normal(size=(16, 8, 3, 3)), requires_grad=True)

    def step(x):
        kernel.grad = None
        loss = mg.tanh(functional.conv2d(x, kernel)).sum()
        loss.backward()
        return loss, kernel.grad

    x = mg.tensor(rng.normal(size=(16, 8, 24, 24)))
    compiled = mg.compile(step)
    for _ in range(3):
        assert all_same(step(x), compiled(x))
    assert compiled.counts["written"] == 1


def test_gradients_that_add_up_start_from_those_that_are_there():
    def make():
        params, loss_of = classifier()

        def step(x, y):
            loss_of(x, y).backward()

        return params, step

    (ours, engine), (theirs, step) = make(), make()
    step, rng = mg.compile(step), np.random.default_rng(1)
    for i in range(8):
        if i == 5:
            for p in (*ours, *theirs):
                p.grad = None
        x, y = batch(rng)
        assert engine(x, y) is step(x, y) is None
        assert all_same([p.grad for p in ours], [p.grad for p in theirs])
    assert step.counts["written"] == 4


def test_second_order_and_transforms_have_the_engines_bits():
    w = mg.tensor(np.random.default_rng(0).normal(size=(4, 3)), requires_grad=True)

    def penalty(x):
        w.grad = None
        loss = mg.tanh(x @ w).sum()
        (g,) = [loss.gradients(create_graph=True)[w.node]]
        (g * g).sum().backward()
        return loss, w.grad

    def curvature(x):
        return mg.hessian(lambda v: (mg.sin(v) * v).sum())(x), mg.grad(lambda v: mg.exp(v).sum())(x)

    def scan_rows(x):
        return mg.scan(lambda s, row: (mg.tanh(s + row), s), mg.zeros(3), x)

    rng = np.random.default_rng(1)
    def use_checkpoint(x):
        w.grad = None
        hidden = mg.checkpoint(lambda x: mg.tanh(mg.exp(x * 0.1) @ w), x)
        loss = (hidden * hidden).mean()
        loss.backward()
        return loss, w.grad

    for f, shape in ((penalty, (5, 4)), (curvature, (4,)), (scan_rows, (6, 3)), (use_checkpoint, (5, 4))):
        step = mg.compile(f)
        for _ in range(5):
            x = mg.tensor(rng.normal(size=shape))
            assert all_same(f(x), step(x))
        assert step.counts["written"] == 3


def test_a_step_of_random_programs_has_the_engines_bits():
    for seed in range(150):
        f = random_program(seed)
        step, rng = mg.compile(f), np.random.default_rng(seed)
        for _ in range(4):
            x, y = mg.tensor(rng.normal(size=(3, 4))), mg.tensor(rng.uniform(0.5, 2, size=4))
            assert all_same(f(x, y), step(x, y)), seed
        assert step.counts["written"] == 2, seed


def test_a_copy_before_a_write_keeps_the_layout_and_so_the_rounding():
    def step(x):
        c = x.T.detach().clone()
        c[0] = 2.0  # the engine writes into its only array, and the program into a copy
        return (c * x.T).sum()

    rng = np.random.default_rng(0)
    compiled = mg.compile(step)
    for _ in range(60):
        x = mg.tensor(rng.normal(size=(3, 3)))
        assert same(step(x), compiled(x))


def branching_program(seed):
    """Return leaves, and a step whose branches depend on shapes, and whose gradients add up to those that are there."""
    rng = np.random.default_rng([seed, 13])
    held = [mg.tensor(rng.normal(size=s), requires_grad=True) for s in [(4,), (3, 4), (4, 4)]]
    for leaf in held[: 1 + seed % 3] if seed % 2 else []:
        leaf.grad = mg.tensor(rng.normal(size=leaf.shape))
    choices = rng.integers(0, 6, size=6).tolist()

    def step(x):
        value = x
        for i, choice in enumerate(choices):
            if value.ndim == 2 and value.shape[0] > 3 and choice % 2:
                value = value[: value.shape[0] // 2 + 1]
            elif value.shape[-1] == 4 and choice < 3:
                value = mg.tanh(value @ held[2]) + held[0]
            elif value.shape == held[1].shape:
                value = value * held[1]
            for _ in range(value.shape[0] % 3):
                value = mg.sin(value) * 0.5 + (held[choice % 2].mean() if i else 0.0)
            value = KINDS[choice % len(KINDS)](value, held[0])
        value.sum().backward()
        if seed % 5 == 0:
            held[0].grad = None
        return value.detach(), value.sum()

    return held, step


def test_a_step_that_branches_on_shapes_has_the_engines_bits():
    for seed in range(24):
        (ours, engine), (theirs, step) = branching_program(seed), branching_program(seed)
        step, rng = mg.compile(step), np.random.default_rng(seed)
        for rows in (3, 3, 3, 3, 3, 5, 5, 5):  # the first call finds no gradient, and later ones do
            x = mg.tensor(rng.normal(size=(rows, 4)))
            assert all_same(engine(x), step(x)), seed
            assert all_same([[p, p.grad] for p in ours], [[p, p.grad] for p in theirs]), seed
        assert step.counts["written"] >= 2, seed


def test_every_sample_is_written_out_in_both_orders(monkeypatch):
    keep, written, refusals = promises.promises["the program written out is the walk"], [], []

    def run_on_others(*given):
        try:
            found = run(*given)
        except TypeError as error:
            refusals.append(str(error))
            raise
        written.append(found)
        return found

    run = program.run_on_others
    monkeypatch.setattr(program, "run_on_others", run_on_others)
    with np.errstate(all="ignore"):
        for sample in (each for samples in promises.samples.values() for each in samples):
            try:
                keep(sample)
            except Exception as error:
                error.add_note(f"the sample: {sample}")
                raise
    assert len(written) > 1000
    assert len(refusals) <= 0.03 * len(written), refusals


def test_the_promise_notices_a_wrong_program(monkeypatch):
    def reuse_everything(page):
        for statement in page.statements:
            if statement.form == "binop" and statement.function == "*":
                statement.function = "+"

    monkeypatch.setitem(passes.PASSES, "in place", reuse_everything)
    (sample, *_) = promises.samples["tanh"]
    with pytest.raises(AssertionError, match=r"tanh\(.*written out, order 1"):
        promises.promises["the program written out is the walk"](sample)
