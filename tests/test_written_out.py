"""Steps written out as NumPy programs: the same bits as the engine's, and an error for what no program can repeat."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.checks import promises
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import leaves
from micrograd_plus.written import (
    at_once,
    block_text,
    blocks,
    loops,
    memory,
    passes,
    program,
    seams,
    stacks,
    step as compiling,
    text,
)
from micrograd_plus.written.ink import open_page
from micrograd_plus.written.program import Program, trace
from micrograd_plus.written.step import Runner


def same(a, b):
    """Return whether two tensors, arrays or numbers are equal in every bit."""
    a, b = (np.asarray(getattr(x, "_data", x)) for x in (a, b))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def all_same(a, b):
    """Return whether two structures are equal in every bit."""
    pairs = list(zip(leaves(a), leaves(b), strict=True))
    return all(x == y if isinstance(x, (str, type(None))) else same(x, y) for x, y in pairs)


# The same bits --------------------------------------------


def by_block(params):
    with mg.no_grad():
        for p in params:
            p -= 0.1 * p.grad


def by_data(params):
    for p in params:
        p.data = p.data - 0.1 * p.grad.data


def by_data_in_place(params):
    for p in params:
        p.data -= 0.1 * p.grad.data


def by_assignment(params):
    for p in params:
        p.assign(p.detach() - 0.1 * p.grad)


BY_HAND = [by_block, by_data, by_data_in_place, by_assignment]
OPTIMISERS = [
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, dampening=0.1),
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, lr=0.05),
    lambda p: optim.Adam(p, lr=0.05, amsgrad=True, weight_decay=0.1),
    lambda p: optim.AdamW(p, lr=0.05),
    lambda p: optim.RMSprop(p, lr=0.01),
    lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1),
]
schedules = optim.lr_scheduler
SCHEDULES = [
    lambda o: schedules.StepLR(o, 2, 0.5),
    lambda o: schedules.ExponentialLR(o, 0.9),
    lambda o: schedules.CosineAnnealingLR(o, 6),
    lambda o: schedules.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    lambda o: schedules.OneCycleLR(o, 0.2, total_steps=20),
]


def classifier(dtype=float):
    """Return the parameters of a small network, and a function for its loss."""
    rng = np.random.default_rng(0)
    w, b, v = (mg.tensor(rng.normal(size=s), requires_grad=True, dtype=dtype) for s in [(16, 8), (16,), (3, 16)])
    return [w, b, v], lambda x, y: functional.cross_entropy(
        functional.linear(mg.tanh(functional.linear(x, w, b)), v), y
    )


def batch(rng, dtype=float):
    """Return a batch of inputs and classes."""
    return mg.tensor(rng.normal(size=(32, 8)), dtype=dtype), mg.tensor(rng.integers(0, 3, size=32))


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


def training(optimiser, schedule):
    """Return parameters, an optimiser and a step that trains a small network and takes a step of a schedule."""
    params, loss_of = classifier()
    descent = optimiser(params)
    plan = schedule(descent)

    def step(x, y):
        descent.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        descent.step()
        plan.step()
        return loss

    return params, descent, step


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


def set_column(a, b):
    """Return a copy with another first column, written in a graph."""
    c = a * 1.0
    c[..., 0] = b[..., 1].mean()
    return c


def write_into_views(a, b):
    """Return a product of values that were written through a view and through `.data`."""
    c = a.detach().clone()
    c[..., 1:3] *= 2.0
    c.data = c.data + 1.0
    return c * b


KINDS = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: mg.tanh(a), lambda a, b: a - b.mean(axis=-1, keepdims=True),
    lambda a, b: mg.where(a > 0, a, 0.1 * a), set_column, write_into_views,
    lambda a, b: mg.softmax(a, axis=-1) + (b if b.ndim == 2 else b[None]), lambda a, b: a.T.T / (1.0 + b * b),
]  # fmt: skip


def random_program(seed):
    """Return a function of two tensors that computes, writes into views, shares leaves, and returns several results."""

    def program(x, y):
        rng = np.random.default_rng([seed, 7])
        leaves_ = [x.detach().requires_grad_(), y.detach().requires_grad_()]
        values = [leaves_[0], leaves_[1], leaves_[0]]
        for _ in range(rng.integers(3, 9)):
            a, b = (values[i] for i in rng.integers(0, len(values), 2))
            values.append(KINDS[rng.integers(0, len(KINDS))](a, b))
        loss = sum((v.sum() for v in values), mg.tensor(0.0))
        loss.backward()
        return loss, [leaf.grad for leaf in leaves_], values[-1].detach()

    return program


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


def test_everything_else_works_without_the_package(tmp_path):
    package = Path(mg.__file__).parent
    shutil.copytree(package, tmp_path / "micrograd_plus", ignore=shutil.ignore_patterns("written", "__pycache__"))
    code = """
import micrograd_plus as mg
from micrograd_plus import checks, engine, exercises, grading, nn, optim, tracing, transforms
from micrograd_plus.checks import promises
net = nn.Linear(3, 2)
sgd = optim.SGD(net.parameters(), lr=0.01)
losses = []
for _ in range(3):
    sgd.zero_grad()
    loss = (net(mg.tensor([[1.0, 2.0, 3.0]])) ** 2).sum()
    loss.backward()
    sgd.step()
    losses.append(loss.item())
for name, keep in promises.promises.items():
    keep(promises.samples["tanh"][0])
w = engine.Value(2.0)
(w * w).backward()
assert w.grad == 4.0 and losses[0] > losses[-1]
try:
    mg.compile
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "No module named 'micrograd_plus.written'\n", done.stderr


def test_each_pass_alone_and_all_together_give_the_same_bits():
    rng = np.random.default_rng(3)
    _, loss_of = classifier()
    given = batch(rng)
    others = batch(rng)
    expected = loss_of(*others)
    names = list(passes.PASSES)
    for chosen in ([], *([name] for name in names), names):
        _, (page, structure) = trace(loss_of, given, {}, chosen)
        (found,) = Runner(Program(page, structure, "step")).run(list(others))
        assert same(found, expected), chosen


# Planted mistakes in the passes: each must change a result of one of these programs -----


def programs_for_passes():
    """Return functions whose programs have writes, views, draws, effects and named tuples."""

    def writes(x):
        total = x * 2.0
        kept = total + 1.0
        total[0] = 5.0
        return kept, total + 1.0, total * x

    def arrays(x):
        a = (x * 1.0).detach().data
        before = a + 1.0
        a[0] = 5.0
        return mg.tensor(before), mg.tensor(a + 1.0)

    def draws(x):
        return x + mg.random.normal(size=3) - mg.random.normal(size=3)

    def tables(x):
        return mg.nn.functional.embedding(mg.tensor([0, 2, 0]), x.reshape(3, 1)).sum(), mg.take(x, mg.tensor([1, 1]))

    def gradient_of_take(x):
        leaf = x.detach().requires_grad_()
        (leaf[mg.tensor([0, 0, 1])] * 2.0).sum().backward()
        return leaf.grad

    def named_tuples(x):
        return mg.linalg.slogdet(mg.eye(3) + x * x[:, None])

    def read_later(x):
        a = x * 2.0
        b = a + 1.0
        return b * a, mg.exp(b) - a

    return [writes, arrays, draws, tables, gradient_of_take, named_tuples, read_later, *programs_with_loops()]


def programs_with_loops():
    """Return functions whose rounds read each other and what is stacked of them."""

    def rounds(x):
        x = mg.concatenate([x, x])
        state, seen = x, []
        for _ in range(8):
            state = mg.tanh(state * 0.9 + x)
            seen.append(state)
        return mg.stack(seen), seen[2] * seen[5], (seen[1] * seen[4]).sum(), state

    def first_round_again(x):
        state = first = mg.tanh(x)
        for _ in range(8):
            state = mg.tanh(state * 0.9) * first
            first = state if first is None else first
        return state

    def rounds_back(x):
        leaf = x.detach().requires_grad_()
        state = leaf
        for part in mg.stack([leaf * float(i) for i in range(1, 9)]).unstack():
            state = mg.sin(state * part)
        state.sum().backward()
        return leaf.grad

    def rows_of_a_stack(x):
        state, seen = x, []
        for _ in range(8):
            state = mg.sin(state * 0.9 + x)
            seen.append(state)
        back = x
        for each in reversed(seen):
            back = mg.cos(back * (1.0 - each * each))
        return mg.stack(seen), back

    return [rounds, first_round_again, rounds_back, rows_of_a_stack]


def differences():
    """Return the programs that give other bits than the engine on new numbers, or raise an error."""
    wrong = []
    for f in programs_for_passes():
        try:
            mg.random.seed(0)
            _, (page, structure) = trace(f, (mg.tensor([1.0, 2.0, 3.0]),), {})
            x = mg.tensor([0.5, -1.0, 4.0])
            mg.random.seed(1)
            expected = f(x)
            mg.random.seed(1)
            found = Runner(Program(page, structure, "step")).run([x])
            if not all_same(list(leaves(expected)), list(found)):
                wrong.append(f.__name__)
        except Exception:  # noqa: BLE001 - a wrong program may fail in any way
            wrong.append(f.__name__)
    return wrong


def merge_across_a_write(monkeypatch):
    monkeypatch.setattr(passes, "Counter", Forgetful)


class Forgetful(dict):
    """Counts nothing: every buffer seems never to have been written."""

    def update(self, *_):
        return None

    def __missing__(self, _):
        return 0


def write_into_what_is_read(monkeypatch):
    def can_take_over(x, statement, last, at):
        return isinstance(x, passes.Value) and x.is_array and x.kind == "temporary" and x.shape == statement.out.shape

    monkeypatch.setattr(passes, "can_take_over", can_take_over)


def merge_a_draw(monkeypatch):
    real = passes.PASSES["repeats"]

    def merge(page):
        for statement in page.statements:
            statement.has_effect = False
        real(page)

    monkeypatch.setitem(passes.PASSES, "repeats", merge)


def drop_calls_without_a_result(monkeypatch):
    def drop(page):
        page.statements = [s for s in page.statements if s.outs() or s.form == "iop"]

    monkeypatch.setitem(passes.PASSES, "dead statements", drop)


def overlook_named_tuples(monkeypatch):
    def drop(page):
        live = [*page.live(), *(v for s in page.statements for v in s.reads())]
        page.statements = [s for s in page.statements if type(s.out) in (passes.Value, tuple, type(None))
                           and (not isinstance(s.out, tuple) or set(s.outs()) & set(live[:0]))]  # fmt: skip

    monkeypatch.setitem(passes.PASSES, "dead statements", drop)


def run_one_round_less(monkeypatch):
    monkeypatch.setattr(loops.Loop, "count", property(lambda self: len(self.rounds) - 1))


def read_the_new_value_for_the_old(monkeypatch):
    monkeypatch.setattr(loops, "Before", lambda now: now)


def list_only_the_last_round(monkeypatch):
    monkeypatch.setattr(loops, "_list_value", lambda value, reader: None)
    monkeypatch.setattr(text, "_find_slice", lambda parts: (None, 0, 0))


def stack_what_is_used_later(monkeypatch):
    def can_be_made_in_place(self, part, at):
        self.last[part.buffer] = at
        return real(self, part, at)

    real = stacks.Stack.can_be_made_in_place
    monkeypatch.setattr(stacks.Stack, "can_be_made_in_place", can_be_made_in_place)


def read_rows_before_they_are_made(monkeypatch):
    monkeypatch.setattr(at_once.Rows, "can_stand_before", lambda self, page, at: True)


def give_rows_in_the_wrong_order(monkeypatch):
    def replace(self, page, rows, statements):
        return real(self, page, rows, [*statements[1:], statements[0]])

    real = at_once.Rows.replace
    monkeypatch.setattr(at_once.Rows, "replace", replace)


MISTAKES = [
    (read_rows_before_they_are_made, "rows_of_a_stack"), (give_rows_in_the_wrong_order, "rows_of_a_stack"),
    (run_one_round_less, "rounds"), (list_only_the_last_round, "rounds"),
    (read_the_new_value_for_the_old, "rounds_back"), (stack_what_is_used_later, "rounds"),
    (merge_across_a_write, "arrays"), (write_into_what_is_read, "read_later"), (merge_a_draw, "draws"),
    (drop_calls_without_a_result, "writes"), (overlook_named_tuples, "named_tuples"),
]  # fmt: skip


def test_programs_for_passes_have_the_engines_bits():
    assert differences() == []


@pytest.mark.parametrize(("mistake", "program"), MISTAKES, ids=[m.__name__ for m, _ in MISTAKES])
def test_a_planted_mistake_in_a_pass_is_caught(mistake, program, monkeypatch):
    mistake(monkeypatch)
    assert program in differences()


# Loops ----------------------------------------------------

WAYS_THROUGH_A_ROUND = [
    lambda state, seen, x, i: mg.tanh(state + x),
    lambda state, seen, x, i: state * 0.5 + seen[0],
    lambda state, seen, x, i: state - seen[-1] * 0.1,
    lambda state, seen, x, i: state + seen[max(len(seen) - 2, 0)] * 0.3,
    lambda state, seen, x, i: mg.where(x > 0.0, state, mg.sin(state)),
    lambda state, seen, x, i: state * x[i % 4] if i else state,
    lambda state, seen, x, i: set_column(state * 1.0, x[None] + state),
    lambda state, seen, x, i: write_into_views(state, x),
    lambda state, seen, x, i: state + mg.random.normal(size=4) if i > 1 else state * 2.0,
    lambda state, seen, x, i: state @ (mg.eye(4) * 0.9) + x * float(i),
]  # fmt: skip


def random_rounds(seed):
    """Return a function with a loop of several statements a round, whose rounds are read in different ways."""
    rng = np.random.default_rng([seed, 11])
    chosen = [WAYS_THROUGH_A_ROUND[k] for k in rng.integers(0, len(WAYS_THROUGH_A_ROUND), rng.integers(1, 4))]
    count, later = int(rng.integers(5, 9)), int(rng.integers(0, 5))

    def program(x, y):
        first, parameter = x.detach().requires_grad_(), y.detach().requires_grad_()
        state, seen, total = first, [first], mg.tensor(0.0)
        for i in range(count):
            for way in chosen:
                state = way(state, seen, parameter, i)
            seen.append(state)
            total = total + (state * state).sum()
        stacked = mg.stack(seen) if seed % 2 else mg.stack(seen[::-1])
        for each in reversed(seen) if seed % 3 == 1 else ():
            total = total + mg.cos(total * (1.0 - each * each)).mean()
        (total + stacked.mean() + seen[later].sum() + parameter.sum()).backward()
        return total, stacked.detach(), seen[later].detach(), first.grad, parameter.grad

    return program


def test_rolled_programs_have_the_bits_of_unrolled_ones_and_of_the_engine():
    rolled = 0
    for seed in range(24):
        f, rng = random_rounds(seed), np.random.default_rng(seed)
        given, others = ([mg.tensor(rng.normal(size=s)) for s in [(3, 4), (4,)]] for _ in range(2))
        names = list(passes.PASSES)
        found = []
        for chosen in (names, ["loops"] if seed % 3 == 0 else [name for name in names if name != "loops"]):
            mg.random.seed(seed)
            _, (page, structure) = trace(f, given, {}, chosen)
            rolled += any(isinstance(each, loops.Loop) for each in page.statements)
            mg.random.seed(seed)
            found.append(Runner(Program(page, structure, "step")).run(others))
        mg.random.seed(seed)
        expected = list(leaves(f(*others)))
        for each in found:
            assert all_same(expected, list(each)), seed
    assert rolled > 24


def test_a_recurrent_network_is_written_as_two_loops():
    rng = np.random.default_rng(0)
    w, u = (mg.tensor(rng.normal(size=(4, 4)), requires_grad=True) for _ in range(2))
    sgd = optim.SGD([w, u], lr=0.1)

    def step(x):
        sgd.zero_grad()
        state = mg.zeros((3, 4))
        for drive in functional.linear(x, w).unstack():
            state = mg.tanh(functional.linear(state, u, drive))
        loss = (state * state).mean()
        loss.backward()
        sgd.step()
        return loss

    lengths = []
    for count in (20, 90):
        source = mg.written_out(step, mg.tensor(rng.normal(size=(count, 3, 4)))).source
        lengths.append(source.count("\n"))
        assert f"for i in range({count}):" in source
        assert "states.append(state)" in source
        assert "for i in reversed(range(1, " in source
        assert "np.stack" not in source
    assert lengths[0] == lengths[1] < 115


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


# Memory ---------------------------------------------------


def test_a_program_knows_its_peak_memory():
    def step(x):
        a = mg.exp(x)
        b = mg.sin(a)
        return (a * b).sum()

    x = mg.tensor(np.ones((300, 100)))
    assert memory.peak_bytes(mg.written_out(step, x).page) == 2 * 300 * 100 * 8


CALLS_THAT_FAIL = [
    lambda x, classes: functional.cross_entropy(x, classes + 1),
    lambda x, classes: functional.cross_entropy(x, classes - 10),
    lambda x, classes: functional.nll_loss(x, classes + 1),
    lambda x, classes: functional.binary_cross_entropy(x, mg.ones_like(x)),
    lambda x, classes: functional.embedding(classes, x),
    lambda x, classes: mg.one_hot(classes, 3),
    lambda x, classes: x @ x,
    lambda x, classes: x[5],
    lambda x, classes: mg.take(x, [7], axis=0),
    lambda x, classes: x + mg.ones((4, 4)),
    lambda x, classes: x.reshape(4, 4),
    lambda x, classes: mg.linalg.inv(mg.zeros((2, 2)) * x.sum()),
]


@pytest.mark.parametrize("call", CALLS_THAT_FAIL)
def test_a_call_that_fails_says_at_every_call_what_the_engine_says(call):
    x = mg.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]])
    classes = mg.tensor([0, 9])
    with pytest.raises((ValueError, IndexError, np.linalg.LinAlgError)) as by_engine:
        call(x, classes)
    step = mg.compile(call)
    for _ in range(3):
        with pytest.raises(by_engine.type) as traced:
            step(x, classes)
        assert str(traced.value) == str(by_engine.value)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives freed memory back after each step")
def test_a_compiled_step_in_a_fresh_process_keeps_its_memory():
    code = """
import resource, numpy as np, micrograd_plus as mg
x = mg.tensor(np.ones((600, 600)))
def step(x): return (mg.exp(x) * mg.sin(mg.exp(x)) + x).sum()
def faults(step):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10): step(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
step(x)
by_engine = faults(step)
compiled = mg.compile(step)
compiled(x), compiled(x), compiled(x)
print(by_engine, faults(compiled))
"""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # Dask sets one
    done = subprocess.run([sys.executable, "-c", code], env=usual, capture_output=True, text=True, check=True)
    by_engine, by_program = map(int, done.stdout.split())
    assert by_program < 100 < by_engine


# The text -------------------------------------------------


def test_the_text_has_the_users_lines_names_and_rules():
    params, _ = classifier()
    w, b, v = params

    def step(x, y):
        for p in params:
            p.grad = None
        hidden = mg.tanh(functional.linear(x, w, b))
        loss = functional.cross_entropy(functional.linear(hidden, v), y)
        loss.backward()
        return loss

    program = mg.written_out(step, *batch(np.random.default_rng(0)))
    text = program.source
    assert "# hidden = mg.tanh(functional.linear(x, w, b))  " in text
    assert "hidden = np.tanh(" in text
    assert "# step 2: back through linear_layer.x: each output passes its gradient on" in text
    assert "to_hidden = " in text
    assert "to_w = " in text
    assert "def step(x, y, w, b, v):" in text
    assert "x: argument, float64 (32, 8)" in text
    assert str(program) == text


def test_names_say_what_they_are():
    model = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 3))
    adam = optim.Adam(model.parameters(), lr=0.1)
    weights = [mg.tensor(np.eye(8), requires_grad=True) for _ in range(2)]

    def step(x, y):
        adam.zero_grad()
        h = mg.tanh(x @ weights[0])
        h = mg.tanh(h @ weights[1])
        logits = model(h)
        loss = functional.cross_entropy(logits, y)
        loss.backward()
        adam.step()
        return loss

    compiled, (x, y) = mg.compile(step), batch(np.random.default_rng(0))
    for _ in range(2):
        compiled(x, y)
    lines = [line.strip() for line in compiled.source.splitlines()]
    for line in (
        "model_0_weight: tensor, float64 (4, 8)",
        "betas_1, betas_2, eps, lr: settings of the optimiser",
        "model_0_weight_exp_avg, model_0_weight_exp_avg_sq: states of the optimiser, float64 (4, 8)",
        "linear = h_2.dot(model_0_weight_T)",
        "assert y.view('u8').max().item() < 3, 'loss = functional.cross_entropy(logits, y)'",
        "to_tanh = to_logits.dot(model_2_weight)",
        "to_h_2 = to_tanh.dot(model_0_weight)",  # the gradient of the second h
        "to_model_0_weight = to_tanh_T.dot(h_2)",
        "model_0_weight_exp_avg *= betas_1",
    ):
        assert line in lines
    assert any(line.startswith("# update of model.0.weight by Adam  ") for line in lines)
    assert max(map(len, (line for line in compiled.source.splitlines() if "#" not in line))) <= 120


def test_a_saved_program_runs_with_numpy_alone(tmp_path):
    w = mg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)

    def step(x):
        w.grad = None
        loss = (mg.exp(x @ w) * 0.1).sum() + mg.tensor(np.linspace(0.0, 1.0, 5000)).sum()
        loss.backward()
        return loss

    x = mg.tensor([[0.1, 0.2], [0.3, 0.4]])
    program = mg.written_out(step, x)
    program.save(str(tmp_path / "step.py"))
    code = (
        "import sys; sys.path.insert(0, '.'); import numpy as np; from step import step; "
        "loss, g = step(np.array([[0.1, 0.2], [0.3, 0.4]]), np.arange(6.0).reshape(2, 3)); "
        "assert 'micrograd_plus' not in sys.modules; print(repr(float(loss)), g.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == f"{step(x).item()!r} {w.grad.tolist()}"


def test_a_name_of_the_users_like_one_of_the_programs_keeps_its_value():
    product_2 = mg.tensor([5.0])

    def step(x):
        return (mg.sin(x * 2.0) + mg.cos(x * 3.0)) * product_2

    compiled, x = mg.compile(step), mg.tensor([1.0])
    for _ in range(4):
        assert same(step(x), compiled(x))
    assert "product_2: tensor" in compiled.source


def test_an_error_in_a_program_shows_the_programs_line():
    step = mg.compile(lambda x: (x * 2.0).reshape(2, 2).sum())
    for _ in range(2):
        step(mg.tensor([1.0, 2.0, 3.0, 4.0]))
    (program,) = step.programs
    with pytest.raises(ValueError, match="reshape") as caught:
        program.function(np.ones(3))
    assert program.filename in [entry.frame.code.raw.co_filename for entry in caught.traceback]
    assert ".reshape((2, 2))" in "".join(traceback.format_tb(caught.tb))


# What no program can repeat -------------------------------


ASKING = {
    "if loss > 3": lambda x: x if x.sum() > 3 else -x,
    "float(x)": lambda x: x * float(x.sum()),
    "int(x)": lambda x: x * int(x.sum()),
    "x.item()": lambda x: x * x.sum().item(),
    "x.tolist()": lambda x: x * x.tolist()[0],
    "x.numpy()": lambda x: x * x.numpy(),
    "np.asarray(x)": lambda x: x * np.asarray(x),
    "x[mask]": lambda x: x[x > 1.0].mean(),
    "x.data > 0": lambda x: x if x.data[0] > 0 else -x,
    "print(x)": lambda x: (str(x), x)[1],
    "range(x)": lambda x: [x for _ in range(x.sum().astype(int))],
}


@pytest.mark.parametrize("name", ASKING)
def test_asking_for_a_number_is_an_error_with_the_users_line(name):
    step = mg.compile(ASKING[name])
    with pytest.raises(TypeError, match=r"test_written_out.py:\d+ .*while the step is written out.*mg\.where"):
        step(mg.tensor([1.0, 2.0]))
    assert open_page() is None
    assert ASKING["x.item()"](mg.tensor([1.0, 2.0])).tolist() == [3.0, 6.0]  # the engine is itself again


def test_writing_into_an_argument_is_an_error():
    @mg.compile
    def step(x):
        x[0] = 5.0
        return x.sum()

    x = mg.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"writes into its argument x; write into a copy, x\.clone\(\)"):
        step(x)
    copying = mg.compile(lambda x: set_column(x.clone(), x).sum())
    for _ in range(3):
        copying(x)
    assert copying.counts["written"] == 1
    assert x.tolist() == [1.0, 2.0]


def test_a_step_of_an_optimiser_after_its_schedule_is_an_error():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    sgd = optim.SGD([w], lr=0.1)
    plan = schedules.ExponentialLR(sgd, 0.5)

    @mg.compile
    def step(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        plan.step()
        sgd.step()

    with pytest.raises(TypeError, match=r"test_written_out.py:\d+ takes a step of an optimiser after its schedule"):
        step(mg.tensor([1.0, 1.0]))


def test_another_device_is_an_error():
    step = mg.compile(lambda x: x.to("cuda") * 2.0)
    with pytest.raises((TypeError, RuntimeError, ModuleNotFoundError), match=r"cuda|CuPy|moves a tensor"):
        step(mg.tensor([1.0, 2.0]))
    assert open_page() is None
    stand_in = mg.backends.devices.Device("elsewhere", np, mg.backends.arrays)
    mg.backends.devices._devices["elsewhere"] = stand_in
    try:
        with pytest.raises(TypeError, match=r"test_written_out.py:\d+ moves a tensor to 'elsewhere' while"):
            mg.compile(lambda x: x.to("elsewhere") * 2.0)(mg.tensor([1.0, 2.0]))
    finally:
        del mg.backends.devices._devices["elsewhere"]


def test_a_program_of_very_many_lines_is_warned_about(monkeypatch):
    monkeypatch.setattr(compiling, "MOST_LINES", 20)
    step = mg.compile(lambda x: sum((mg.exp(x * x) for _ in range(20)), mg.sin(x).sum() * mg.cos(x)))
    monkeypatch.setitem(passes.PASSES, "repeats", lambda page: None)
    monkeypatch.setitem(passes.PASSES, "loops", lambda page: None)
    with pytest.warns(UserWarning, match=r"is a program of \d+ lines.*compute a batch at once, use mg\.scan"):
        step(mg.tensor([1.0, 2.0]))


def test_a_number_that_changes_between_two_calls_is_named_with_its_line():
    count = bytearray(1)  # whose changes are not seen

    def step(x):
        count[0] += 1
        return x * (1.0 / count[0])

    compiled = mg.compile(step)
    compiled(mg.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"wrote different programs, at return x \* .*test_written_out.py:\d+.*0\.5"):
        compiled(mg.tensor([1.0, 2.0]))


def test_an_array_that_changes_between_two_calls_is_named():
    rows = bytearray(2000)
    compiled = mg.compile(lambda x: x + mg.tensor(np.array(rows, float)))
    compiled(mg.zeros(2000))
    rows[3] = 2
    with pytest.raises(TypeError, match="wrote different programs"):
        compiled(mg.zeros(2000))


def test_a_float_argument_is_an_input_and_a_variable_a_condition():
    scale = 2.0

    def step(x, rate):
        return x * rate * scale

    compiled = mg.compile(step)
    for rate in (0.1, 0.2, 0.3, 0.4):
        assert compiled(mg.tensor([1.0, 2.0], dtype="float32"), rate).tolist() == (
            step(mg.tensor([1.0, 2.0], dtype="float32"), rate).tolist()
        )
    assert compiled.counts == {"traced": 2, "written": 2}
    scale = 3.0
    assert compiled(mg.tensor([1.0, 2.0], dtype="float32"), 0.5).tolist() == [1.5, 3.0]
    assert compiled.counts["traced"] == 3


def test_other_shapes_dtypes_and_layouts_are_traced_beside():
    step = mg.compile(lambda x: (x * 2.0).sum(axis=0))
    wide = np.arange(12.0).reshape(3, 4)
    forms = [wide, wide[:2], wide.astype("float32"), np.asfortranarray(wide), wide]
    for form in forms * 3:
        x = mg.tensor(0.0)
        x = mg.Tensor.of(form)
        assert same(step(x), (x * 2.0).sum(axis=0))
    assert len(step.programs) == 4
    assert step.counts == {"traced": 8, "written": 7}


def test_many_programs_give_one_warning_that_names_the_argument():
    step = mg.compile(lambda x: x * 2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for length in range(1, 13):
            step(mg.zeros(length))
    (warning,) = caught
    assert "argument number 1 keeps changing" in str(warning.message)


def test_what_watches_the_engine_runs_by_the_engine_and_is_counted():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    compiled, x = mg.compile(step), mg.tensor([3.0, 4.0])
    for _ in range(3):
        compiled(x)
    with mg.record() as trace_:
        compiled(x)
    assert [each.rule for each in trace_] == ["sum.x", "multiply.a"]
    with mg.no_grad():
        assert mg.compile(lambda x: w * x)(x).node is None
    with mg.unfuse():
        compiled(x)
    with w.register_hook(lambda g: g * 10.0):
        compiled(x)
        assert w.grad.tolist() == [30.0, 40.0]
    assert compiled(mg.tensor([1.0, 2.0], requires_grad=True)).node is not None
    reasons = {name for name in compiled.counts if name.startswith("engine: ")}
    assert {"engine: record()", "engine: unfuse", "engine: hooks"} <= reasons
    assert "engine: an argument that requires a gradient" in reasons


def test_hooks_of_other_models_leave_a_program_alone():
    hidden, elsewhere = ([mg.tensor([1.0, 2.0], requires_grad=True)] for _ in range(2))

    class Model:
        weights = hidden

    @mg.compile
    def step(x):
        loss = (Model.weights[0] * x).sum()
        loss.backward()
        return loss

    x = mg.tensor([3.0, 4.0])
    with elsewhere[0].register_hook(lambda g: g * 10.0):
        for _ in range(5):  # the first one finds no gradient, so the next is traced anew
            step(x)
    assert step.counts == {"traced": 3, "written": 2}
    with hidden[0].register_hook(lambda g: g * 10.0):
        step(x)
    assert step.counts["engine: hooks"] == 1
    assert hidden[0].grad.tolist() == [45.0, 60.0]


def test_the_mode_of_a_module_and_a_new_parameter_are_traced_again():
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    step = mg.compile(net.forward)
    x = mg.tensor([[1.0, 2.0, 3.0]])
    for _ in range(3):
        step(x)
    net.eval()
    assert same(step(x), net(x))
    net[0].weight = nn.Parameter(np.zeros((3, 3)))
    net[0].bias = nn.Parameter(np.ones(3))
    assert step(x).tolist() == [[1.0, 1.0, 1.0]]


def test_replacing_a_rule_drops_the_programs():
    @mg.elementwise(x=lambda: 2.0)
    def twice_for_programs(xp, x):
        return x + x

    w = mg.tensor([1.0], requires_grad=True)

    def step():
        w.grad = None
        twice_for_programs(w).sum().backward()

    compiled = mg.compile(step)
    for _ in range(3):
        compiled()
    assert w.grad.tolist() == [2.0]
    twice_for_programs.rule("x")(lambda: 3.0)
    compiled()
    assert w.grad.tolist() == [3.0]


def test_a_class_out_of_range_is_found_by_the_program():
    step = mg.compile(functional.cross_entropy)
    scores = mg.zeros((2, 3))
    for _ in range(3):
        step(scores, mg.tensor([0, 2]))
    with pytest.raises(IndexError, match="class 3 is out of range"):
        step(scores, mg.tensor([0, 3]))
    assert step.counts["engine: a check of the program failed"] == 1
    assert step(scores, mg.tensor([1, 1])).item() == pytest.approx(np.log(3.0))


def test_tensors_that_got_away_hold_their_numbers():
    kept = []

    def step(x):
        kept.append(x * 2.0)
        return x.sum()

    mg.compile(step)(mg.tensor([1.0, 2.0]))
    assert kept[0].tolist() == [2.0, 4.0]
    assert type(kept[0]._data) is np.ndarray
    assert (kept[0] * 2.0).tolist() == [4.0, 8.0]


def test_an_error_while_tracing_leaves_tensors_as_they_were():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        (w * x).sum().backward()
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mg.compile(step)(mg.tensor([1.0, 1.0]))
    assert type(w._data) is np.ndarray
    assert w.is_fast
    assert w.grad.tolist() == [1.0, 1.0]


def test_a_closed_page_leaves_no_trace_in_the_engine():
    functions = [function for function, _ in seams._replacements]
    codes = [function.__code__ for function in functions]
    calls = {name: op.call.__code__ for name, op in mg.core.define.operations.items() if op.is_compiled}
    mg.written_out(lambda x: mg.tanh(x).sum(), mg.tensor([1.0]))
    assert [function.__code__ for function in functions] == codes
    for name, code in calls.items():
        assert mg.core.define.operations[name].call.__code__ is code
    assert not any(name.startswith("_on_paper_") for f in functions for name in f.__globals__)


def test_a_compiled_step_inside_another_becomes_part_of_it():
    inner = mg.compile(mg.tanh)
    outer = mg.compile(lambda x: inner(x) * 2.0)
    x = mg.tensor([0.5])
    for _ in range(3):
        assert same(outer(x), mg.tanh(x) * 2.0)
    assert "np.tanh" in outer.source
    assert inner.programs == []


def test_a_decorated_method_is_a_step():
    class Line:
        def __init__(self):
            self.slope = mg.tensor(2.0, requires_grad=True)

        @mg.compile
        def __call__(self, x):
            return self.slope.detach() * x

    line = Line()
    assert [line.__call__(mg.tensor(float(i))).item() for i in range(4)] == [0.0, 2.0, 4.0, 6.0]


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
            keep(sample)
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


def test_a_step_without_statements_is_a_program():
    step = mg.compile(lambda: 3)
    assert [step() for _ in range(4)] == [3] * 4
    assert step.counts["written"] == 2
