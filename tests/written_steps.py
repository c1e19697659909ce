"""Helpers for tests of steps that are written out: bits, a small network, optimisers, random programs."""

from __future__ import annotations

import numpy as np

import micrograd_plus as mg
from micrograd_plus import optim
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import leaves


def same(a, b):
    """Return whether two tensors, arrays or numbers are equal in every bit."""
    a, b = (np.asarray(getattr(x, "_data", x)) for x in (a, b))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def all_same(a, b):
    """Return whether two structures are equal in every bit."""
    pairs = list(zip(leaves(a), leaves(b), strict=True))
    return all(x is y if x is None or y is None else x == y if isinstance(x, str) else same(x, y) for x, y in pairs)


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
