"""Optimisers, schedules and clipping, compared with PyTorch in float64."""

import inspect

import numpy as np
import pytest
import torch

import micrograd_plus as mg
from micrograd_plus import nn, optim

pytestmark = pytest.mark.parity

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


@pytest.fixture
def draw():
    """Return a new generator for each test."""
    return np.random.default_rng(11)


def both(*arrays):
    """Return the same arrays as leaves of both libraries."""
    ours = [mg.tensor(array, requires_grad=True) for array in arrays]
    return ours, [torch.tensor(array, requires_grad=True) for array in arrays]


def trajectory(library, make, start, matrix, steps=25, schedule=None, groups=False):
    """Return the path of an optimiser on a quadratic, and its rates; `start` and `matrix` are arrays."""
    if library is torch:
        x, y = (torch.tensor(each, requires_grad=True) for each in start)
        convert = torch.tensor
    else:
        x, y = (mg.tensor(each, requires_grad=True) for each in start)
        convert = mg.tensor
    m = convert(matrix)
    optimizer = make([{"params": [x]}, {"params": [y], "lr": 0.003}] if groups else [x, y])
    scheduler = schedule(optimizer) if schedule else None
    places, rates = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        ((m @ x) ** 2).sum().backward() if len(places) % 4 else (
            ((m @ x) ** 2).sum() + (y**4).sum()
        ).backward()
        optimizer.step()
        rates.append([group["lr"] for group in optimizer.param_groups])
        if scheduler:
            scheduler.step()
        places.append(np.concatenate([x.detach().numpy(), y.detach().numpy()]))
    return np.array(places), np.array(rates)


OPTIMIZERS = [
    ("SGD", {"lr": 0.01}), ("SGD", {"lr": 0.01, "momentum": 0.9}),
    ("SGD", {"lr": 0.01, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True}), ("Adam", {"lr": 0.02}),
    ("Adam", {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-4, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "amsgrad": True}), ("AdamW", {"lr": 0.02}),
    ("AdamW", {"lr": 0.02, "weight_decay": 0.3, "amsgrad": True}), ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.5, "centered": True, "weight_decay": 0.1, "alpha": 0.8}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-4}),
]  # fmt: skip


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_optimisers_agree_with_torch(draw, name, settings, groups):
    start, matrix = (draw.normal(size=3), draw.normal(size=2)), draw.normal(size=(4, 3))
    ours, _ = trajectory(mg, lambda p: getattr(optim, name)(p, **settings), start, matrix, groups=groups)
    theirs, _ = trajectory(
        torch, lambda p: getattr(torch.optim, name)(p, **settings), start, matrix, groups=groups
    )
    np.testing.assert_allclose(ours, theirs, **CLOSE)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_optimisers_have_the_defaults_of_torch(name, settings):
    theirs = inspect.signature(getattr(torch.optim, name)).parameters
    for parameter in inspect.signature(getattr(optim, name)).parameters.values():
        assert theirs[parameter.name].default == parameter.default


SCHEDULES = [
    ("StepLR", {"step_size": 4, "gamma": 0.5}), ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 10}), ("CosineAnnealingLR", {"T_max": 10, "eta_min": 0.002}),
    ("LinearLR", {}), ("LinearLR", {"start_factor": 0.1, "end_factor": 0.8, "total_iters": 7}),
    ("LambdaLR", {"lr_lambda": lambda n: 1 / (1 + n)}), ("MultiStepLR", {"milestones": [9, 3], "gamma": 0.5}),
    ("ConstantLR", {}), ("ConstantLR", {"factor": 0.2, "total_iters": 9}),
    ("PolynomialLR", {"total_iters": 11}), ("PolynomialLR", {"total_iters": 30, "power": 2.0}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.001}),
    ("OneCycleLR", {"max_lr": 0.02, "total_steps": 25}),
    ("OneCycleLR", {"max_lr": [0.02, 0.005], "epochs": 3, "steps_per_epoch": 10, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.01, "total_steps": 40, "pct_start": 0.23, "three_phase": True, "div_factor": 5.0}),
    ("OneCycleLR", {"max_lr": 0.01, "total_steps": 27, "pct_start": 0.5, "base_momentum": [0.1, 0.2],
                    "max_momentum": 0.6, "final_div_factor": 10.0}),
    ("OneCycleLR", {"max_lr": 0.01, "total_steps": 30, "pct_start": 0.01, "cycle_momentum": False}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), SCHEDULES)
def test_schedules_give_the_rates_of_torch(draw, name, settings):
    start, matrix = (draw.normal(size=3), draw.normal(size=2)), draw.normal(size=(4, 3))
    results = [
        trajectory(
            library,
            lambda p, rooms=rooms: rooms.SGD(p, lr=0.01, momentum=0.5),
            start,
            matrix,
            schedule=lambda o, rooms=rooms: getattr(rooms.lr_scheduler, name)(o, **settings),
            groups=True,
        )
        for library, rooms in ((mg, optim), (torch, torch.optim))
    ]
    np.testing.assert_allclose(results[0][1], results[1][1], **CLOSE)
    np.testing.assert_allclose(results[0][0], results[1][0], **CLOSE)


@pytest.mark.parametrize("three_phase", [False, True])
def test_one_cycle_moves_the_first_beta_of_adam_as_torch_does(draw, three_phase):
    start, matrix = (draw.normal(size=3), draw.normal(size=2)), draw.normal(size=(4, 3))
    ours, theirs = (
        trajectory(
            library,
            lambda p, rooms=rooms: rooms.Adam(p, lr=0.01),
            start,
            matrix,
            schedule=lambda o, rooms=rooms: rooms.lr_scheduler.OneCycleLR(o, 0.1, 26, three_phase=three_phase),
        )
        for library, rooms in ((mg, optim), (torch, torch.optim))
    )
    np.testing.assert_allclose(ours[1], theirs[1], **CLOSE)
    np.testing.assert_allclose(ours[0], theirs[0], **CLOSE)


@pytest.mark.parametrize(("name", "settings"), SCHEDULES)
def test_schedules_have_the_defaults_of_torch(name, settings):
    theirs = inspect.signature(getattr(torch.optim.lr_scheduler, name)).parameters
    for parameter in inspect.signature(getattr(optim.lr_scheduler, name)).parameters.values():
        assert theirs[parameter.name].default == parameter.default


FIGURES = [5.0, 4.0, 3.9999, 3.9, 3.95, 4.0, 3.95, 3.91, 3.2, float("nan"), 3.3, 3.3, 3.3, 3.3, 3.3, 3.3, 3.3, 3.3]


@pytest.mark.parametrize("settings", [
    {"patience": 2}, {"patience": 1, "factor": 0.5, "cooldown": 2}, {"patience": 0, "min_lr": 0.02},
    {"patience": 1, "threshold": 0.2, "threshold_mode": "abs"}, {"patience": 1, "mode": "max"},
    {"patience": 1, "mode": "max", "threshold_mode": "abs"}, {"patience": 0, "eps": 0.01},
])  # fmt: skip
def test_a_plateau_lowers_the_rates_as_in_torch(settings):
    rates = []
    for library, rooms in ((mg, optim), (torch, torch.optim)):
        optimizer = rooms.SGD([library.tensor(1.0, requires_grad=True)], lr=0.5)
        schedule = rooms.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        rates.append([])
        for figure in FIGURES:
            schedule.step(figure)
            rates[-1].append(optimizer.param_groups[0]["lr"])
    assert rates[0] == rates[1]
    assert len(set(rates[0])) > 1


def test_sequential_schedules_give_the_rates_of_torch(draw):
    def sequence(rooms):
        s = rooms.lr_scheduler
        return lambda o: s.SequentialLR(
            o,
            [s.LinearLR(o, 0.1, total_iters=5), s.CosineAnnealingLR(o, 12), s.ExponentialLR(o, 0.8)],
            milestones=[5, 17],
        )

    start, matrix = (draw.normal(size=3), draw.normal(size=2)), draw.normal(size=(4, 3))
    _, ours = trajectory(mg, lambda p: optim.SGD(p, lr=0.01), start, matrix, schedule=sequence(optim))
    _, theirs = trajectory(
        torch, lambda p: torch.optim.SGD(p, lr=0.01), start, matrix, schedule=sequence(torch.optim)
    )
    np.testing.assert_allclose(ours, theirs, **CLOSE)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping_agrees_with_torch(draw, norm_type, max_norm):
    gradients = draw.normal(size=(3, 4)), draw.normal(size=5)
    ours, theirs = both(np.zeros((3, 4)), np.zeros(5))
    for mine, other, gradient in zip(ours, theirs, gradients, strict=True):
        mine.grad, other.grad = mg.tensor(gradient), torch.tensor(gradient)
    length = nn.utils.clip_grad_norm_(ours, max_norm, norm_type)
    other_length = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    np.testing.assert_allclose(length.numpy(), other_length.numpy(), **CLOSE)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), **CLOSE)
    nn.utils.clip_grad_value_(ours, 0.2)
    torch.nn.utils.clip_grad_value_(theirs, 0.2)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), **CLOSE)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_an_optimiser_continues_from_the_state_of_torch(draw, name, settings):
    start, matrix = draw.normal(size=3), draw.normal(size=(4, 3))
    (mine,), (other,) = both(start)
    theirs, ours = getattr(torch.optim, name)([other], **settings), getattr(optim, name)([mine])
    for step in range(6):
        if step == 3:
            state = theirs.state_dict()
            numbers = {key: {k: v.numpy() if v.ndim else v.item() for k, v in each.items() if v is not None}
                       for key, each in state["state"].items()}  # fmt: skip
            ours.load_state_dict({**state, "state": numbers})
            mine.assign(other.detach().numpy())
        for x, m in ((mine, mg.tensor(matrix)), (other, torch.tensor(matrix))):
            x.grad = None
            ((m @ x) ** 2).sum().backward()
        theirs.step()
        if step >= 3:
            ours.step()
    np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), **CLOSE)
