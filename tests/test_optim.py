"""Optimisers, schedules and clipping: their effect on parameters, and their error messages."""

import copy

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim

KINDS = [
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    lambda p: optim.AdamW(p, lr=0.1),
    lambda p: optim.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
    lambda p: optim.Adagrad(p, lr=0.5),
]
EVERY_KIND = pytest.mark.parametrize("make", KINDS, ids=["sgd", "nesterov", "amsgrad", "adamw", "rmsprop", "adagrad"])


@pytest.fixture
def x():
    return mg.tensor([3.0, -2.0], requires_grad=True)


def downhill(optimizer, *parameters, steps=1):
    """Take steps down a parabola with minimum 0."""
    for _ in range(steps):
        optimizer.zero_grad()
        sum((parameter * parameter).sum() for parameter in parameters).backward()
        optimizer.step()


@EVERY_KIND
def test_every_optimiser_minimises_a_quadratic(make, x):
    downhill(make([x]), x, steps=400)
    assert np.abs(x.numpy()).max() < 0.05


@EVERY_KIND
def test_a_step_leaves_values_saved_by_a_graph_unchanged(make, x):
    before = x.numpy()
    optimizer = make([x])
    downhill(optimizer, x)
    loss = (x * x).sum()
    held, after = x._data, x.numpy()
    optimizer.step()
    assert x._data is not held
    np.testing.assert_array_equal(held, after)
    assert not np.array_equal(after, before)
    x.grad = None
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * after)


@EVERY_KIND
def test_a_step_keeps_float32_and_scalars(make):
    narrow = mg.tensor([1.0, 2.0], requires_grad=True, dtype="float32")
    single = mg.tensor(4.0, requires_grad=True)
    optimizer = make([narrow, single])
    optimizer.param_groups[0]["lr"] = np.float64(0.1)
    downhill(optimizer, narrow, single, steps=3)
    assert (narrow.dtype, narrow.shape, single.shape) == (np.float32, (2,), ())
    assert single.item() < 4
    assert single.data.dtype == np.float64


@EVERY_KIND
def test_a_restored_optimiser_continues_exactly(make, x):
    downhill(make([x]), x, steps=3)
    first = make([x])
    downhill(first, x, steps=3)
    y = copy.deepcopy(x)
    second = make([y])
    second.load_state_dict(first.state_dict())
    downhill(first, x, steps=3)
    downhill(second, y, steps=3)
    assert x.tolist() == y.tolist()


@EVERY_KIND
def test_a_step_leaves_the_gradient_as_it_was(make, x):
    x.grad = [1.0, -2.0]
    optimizer = make([x])
    for _ in range(3):
        optimizer.step()
    assert x.grad.tolist() == [1.0, -2.0]


def test_sgd_without_momentum_has_no_state(x):
    optimizer = optim.SGD([x])
    downhill(optimizer, x)
    assert optimizer.state_dict()["state"] == {}


def test_a_state_is_a_copy(x):
    optimizer = optim.SGD([x], momentum=0.9)
    downhill(optimizer, x)
    state = optimizer.state_dict()
    before = state["state"]["0"]["momentum_buffer"].tolist()
    downhill(optimizer, x)
    assert state["state"]["0"]["momentum_buffer"].tolist() == before
    assert state["param_groups"][0]["params"] == [0]


def test_a_state_for_other_parameters_is_rejected(x):
    optimizer = optim.SGD([x], momentum=0.9)
    downhill(optimizer, x)
    other = mg.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match=r"groups of \[2\] parameters here, of \[1\] in the state"):
        optim.SGD([other, x]).load_state_dict(optimizer.state_dict())
    with pytest.raises(
        ValueError, match=r"momentum_buffer of parameter 0 has shape \(2,\), the parameter \(1,\)"
    ):
        optim.SGD([other]).load_state_dict(optimizer.state_dict())


def test_parameters_without_a_gradient_stay_where_they_are(x):
    still, frozen = mg.tensor([1.0], requires_grad=True), mg.tensor([1.0])
    optimizer = optim.Adam([x, still, frozen])
    downhill(optimizer, x)
    assert still.tolist() == frozen.tolist() == [1.0]


def test_groups_have_their_own_settings(x):
    slow = mg.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([{"params": [x]}, {"params": slow, "lr": 0.0}], lr=0.5)
    downhill(optimizer, x, slow)
    assert (x.tolist(), slow.tolist()) == ([0.0, 0.0], [1.0])
    assert repr(optimizer) == (
        "SGD(2 parameters, lr=0.5, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False)"
    )


def test_a_step_starts_from_values_that_the_user_wrote(x):
    optimizer = optim.SGD([x], lr=0.1)
    (x * x).sum().backward()
    held = x.data
    held[:] = [10.0, 10.0]
    optimizer.step()
    np.testing.assert_allclose(x.numpy(), [9.4, 10.4])
    assert held.tolist() == [10.0, 10.0]


def test_complex_parameters_step_like_their_two_parts():
    z, parts = mg.tensor([1 + 2j], requires_grad=True), mg.tensor([1.0, 2.0], requires_grad=True)
    optimizers = [optim.SGD([each], lr=0.1, momentum=0.9, weight_decay=0.1) for each in (z, parts)]
    for _ in range(3):
        (mg.absolute(z * z) + z.real).sum().backward()
        ((parts * parts).sum() + parts[0]).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    np.testing.assert_allclose([z.numpy()[0].real, z.numpy()[0].imag], parts.numpy())


def test_step_accepts_a_closure(x):
    optimizer = optim.SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 13.0
    assert x.tolist() == [1.5, -1.0]


def test_optimiser_zero_grad_sets_none_or_zero(x):
    optimizer = optim.SGD([x])
    (x * x).sum().backward()
    x.grad = [np.nan, np.inf]
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None


@pytest.mark.parametrize(
    ("make", "kind", "sentence"),
    [
        (lambda x: optim.SGD([]), ValueError, "no parameters; an iterator that was used up is empty"),
        (optim.SGD, TypeError, r"write \[x\] for one"),
        (lambda x: optim.SGD([x.numpy()]), TypeError, "parameter 0 is ndarray; an optimiser trains tensors"),
        (
            lambda x: optim.SGD([x, x * 2]),
            ValueError,
            r"parameter 1, of shape \(2,\), is a result, not a leaf",
        ),
        (lambda x: optim.SGD([x, x]), ValueError, r"parameter 1, of shape \(2,\), is given twice"),
        (
            lambda x: optim.SGD([{"params": [x], "rate": 1}]),
            ValueError,
            "SGD has no setting rate; it has lr, momentum",
        ),
        (lambda x: optim.SGD([{"lr": 1.0}]), ValueError, "SGD: a group must be a dict with .params., and any of lr"),
        (lambda x: optim.SGD([x], lr=-1), ValueError, "SGD: lr must be a number that is not negative, got -1"),
        *[
            (lambda x, k=kind, n=name: k([x], **{n: -1}), ValueError, f"{name} must be a number that is not negative")
            for kind, name in [
                (optim.Adagrad, "lr_decay"), (optim.Adagrad, "initial_accumulator_value"), (optim.Adam, "eps"),
                (optim.SGD, "momentum"), (optim.SGD, "weight_decay"),
            ]
        ],
        (
            lambda x: optim.SGD([x]).load_state_dict({"weight": x}),
            ValueError,
            "an optimiser's state holds state and param_groups, this one weight",
        ),
        (lambda x: optim.SGD([x], nesterov=True), ValueError, "nesterov=True needs a momentum"),
        (
            lambda x: optim.SGD([x], nesterov=True, momentum=0.9, dampening=0.1),
            ValueError,
            "nesterov=True needs a momentum above 0 and a dampening of 0",
        ),
        (lambda x: optim.Adam([x], betas=(0.9, 0.99, 0.999)), ValueError, "Adam: betas must be two numbers"),
        (
            lambda x: optim.Adam([x], betas=(0.9, 1.0)),
            ValueError,
            r"betas must be two numbers, at least 0 and below 1; got \(0.9, 1.0\)",
        ),
        (lambda x: optim.SGD([x], lr=float("nan")), ValueError, "SGD: lr must be a number .* got nan"),
        (lambda x: optim.SGD([x], lr="fast"), ValueError, "SGD: lr must be a number .* got 'fast'"),
        (lambda x: optim.Adam([x], betas=0.9), ValueError, "Adam: betas must be two numbers, .* got 0.9"),
        (lambda x: optim.SGD(nn.Linear(2, 2)), TypeError, r"an iterable of tensors: .* or model.parameters\(\)"),
        (lambda x: optim.SGD([x]).add_param_group(x), TypeError, "add_param_group expects a dictionary"),
        (
            lambda x: optim.SGD([x]).load_state_dict({**optim.SGD([x]).state_dict(), "state": {"7": {}}}),
            ValueError,
            "a state of parameter 7, and there are 1",
        ),
        (lambda x: optim.SGD([x]).load_state_dict([x]), TypeError, "load_state_dict expects a dictionary"),
        *[
            (lambda x, kind=kind: kind([mg.tensor([1j], requires_grad=True)]), TypeError, f"{kind.__name__} squares")
            for kind in (optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad)
        ],
        (
            lambda x: optim.Adam([x]).load_state_dict(optim.SGD([x]).state_dict()),
            ValueError,
            "load_state_dict: Adam has betas, eps, amsgrad, this state does not",
        ),
        (lambda x: optim.RMSprop([x], alpha=2), ValueError, "alpha must be between 0 and 1, got 2"),
        (
            lambda x: optim.Optimizer([x], {}).new_values(1, 1, {}, {}),
            NotImplementedError,
            "Optimizer has no new_values",
        ),
    ],
)
def test_optimisers_explain_what_they_cannot_train(make, kind, sentence, x):
    with pytest.raises(kind, match=sentence):
        make(x)


@pytest.mark.parametrize(
    "make", [lambda p: optim.Adam(p, lr=0.5, betas=(0.0, 0.0)), lambda p: optim.RMSprop(p, lr=0.5, alpha=0)]
)
def test_adam_without_memory_steps_by_the_sign(make, x):
    downhill(make([x]), x, steps=2)
    np.testing.assert_allclose(x.numpy(), [2.0, -1.0], rtol=1e-7)


def test_a_decay_rate_of_1_never_updates_the_mean(x):
    downhill(optim.RMSprop([x], lr=1e-8, alpha=1), x)
    np.testing.assert_allclose(x.numpy(), [3.0 - 6.0, -2.0 + 4.0])


# Schedules --------------------------------------------------------------------------------------------------


def rates(optimizer, schedule, steps):
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        schedule.step()
    return found


def test_a_schedule_multiplies_what_each_group_started_with(x):
    y = mg.tensor(1.0, requires_grad=True)
    optimizer = optim.SGD([{"params": [x]}, {"params": [y], "lr": 2.0}], lr=1.0)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    assert rates(optimizer, schedule, 5) == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert schedule.get_last_lr() == [0.25, 0.5]


def test_each_group_can_have_its_own_function(x):
    optimizer = optim.SGD([{"params": [x]}, {"params": mg.tensor(1.0, requires_grad=True)}], lr=1.0)
    schedule = optim.lr_scheduler.LambdaLR(optimizer, [lambda n: 0.5**n, lambda n: 1 / (1 + n)])
    schedule.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.25, 1 / 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda o, s: s.StepLR(o, step_size=2, gamma=0.5), lambda o, s: s.LambdaLR(o, lambda n: 0.5 ** (n // 2)),
        lambda o, s: s.SequentialLR(o, [s.StepLR(o, step_size=2, gamma=0.5)], milestones=[]),
    ],
)  # fmt: skip
def test_a_group_added_later_follows_the_schedule(make, x):
    optimizer = optim.SGD([x], lr=1.0)
    schedule = make(optimizer, optim.lr_scheduler)
    schedule.step()
    optimizer.add_param_group({"params": mg.tensor(1.0, requires_grad=True), "lr": 8.0})
    schedule.step()
    assert schedule.get_last_lr() == [0.5, 4.0]
    assert schedule.state_dict() == {"last_epoch": 2, "base_lrs": [1.0, 8.0]}


def test_a_restored_schedule_continues_at_its_step(x):
    first = optim.lr_scheduler.CosineAnnealingLR(optim.SGD([x], lr=1.0), T_max=7)
    for _ in range(3):
        first.step()
    optimizer = optim.SGD([x], lr=5.0)
    second = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=7)
    second.load_state_dict(first.state_dict())
    assert optimizer.param_groups[0]["lr"] == first.get_last_lr()[0]
    assert rates(optimizer, second, 4) == rates(first.optimizer, first, 4)


def test_a_restored_optimiser_knows_its_initial_rates(x):
    first, second = optim.SGD([x], lr=1.0), optim.SGD([x], lr=5.0)
    schedule = optim.lr_scheduler.ExponentialLR(first, 0.5)
    schedule.step()
    second.load_state_dict(first.state_dict())
    assert second.param_groups[0]["lr"] == 0.5
    assert optim.lr_scheduler.ExponentialLR(second, 0.5).base_lrs == [1.0]


def test_a_restored_plateau_schedule_continues(x):
    first, second = (optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([x], lr=1.0), "max", patience=1) for _ in range(2))
    for figure in (1.0, 0.9):
        first.step(figure)
    second.load_state_dict(first.state_dict())
    first.step(mg.tensor(0.9))
    second.step(mg.tensor(0.9))
    assert first.get_last_lr() == second.get_last_lr() == [0.1]


@pytest.mark.parametrize(
    ("settings", "figures", "expected"),
    [
        ({"threshold_mode": "abs", "threshold": 0.5}, [4.0, 3.0, 2.5, 1.9], [1.0, 1.0, 0.1, 0.1]),
        ({"threshold_mode": "rel", "threshold": 0.5}, [4.0, 1.9, 1.0, 0.96], [1.0, 1.0, 0.1, 0.01]),
        ({"eps": 0.5, "factor": 0.5}, [1.0, 1.0], [1.0, 1.0]),
        ({"eps": 0.49, "factor": 0.5}, [1.0, 1.0, 1.0], [1.0, 0.5, 0.5]),
    ],
)
def test_plateau_uses_its_threshold_and_eps(settings, figures, expected, x):
    optimizer = optim.SGD([x], lr=1.0)
    schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, **settings)
    found = []
    for figure in figures:
        schedule.step(figure)
        found.append(optimizer.param_groups[0]["lr"])
    np.testing.assert_allclose(found, expected)
    assert schedule.state_dict()["last_epoch"] == len(figures)


def test_a_loss_below_0_that_gets_worse_is_no_progress(x):
    schedule = optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([x], lr=1.0), patience=0, threshold=0.1)
    for figure in (-1.0, -0.95):
        schedule.step(figure)
    assert schedule.get_last_lr() == [0.1]


def test_a_warm_up_ends_and_the_next_schedule_starts(x):
    optimizer = optim.SGD([x], lr=1.0)
    parts = [
        optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2),
        optim.lr_scheduler.ExponentialLR(optimizer, 0.1),
    ]
    schedule = optim.lr_scheduler.SequentialLR(optimizer, parts, milestones=[2])
    np.testing.assert_allclose(rates(optimizer, schedule, 5), [0.5, 0.75, 1.0, 0.1, 0.01])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda o, s: s.StepLR(o, 0), "StepLR: step_size must be a whole number of at least 1, got 0"),
        (lambda o, s: s.CosineAnnealingLR(o, 0), "T_max must be a whole number of at least 1"),
        (lambda o, s: s.LinearLR(o, total_iters=0), "total_iters must be a whole number of at least 1"),
        (lambda o, s: s.ConstantLR(o, total_iters=0), "ConstantLR: total_iters must be a whole number of at least 1"),
        (lambda o, s: s.PolynomialLR(o, 0), "PolynomialLR: total_iters must be a whole number of at least 1"),
        (lambda o, s: s.CosineAnnealingWarmRestarts(o, 0), "T_0 must be a whole number of at least 1"),
        (lambda o, s: s.CosineAnnealingWarmRestarts(o, 2, 0), "T_mult must be a whole number of at least 1"),
        (lambda o, s: s.ReduceLROnPlateau(o, "low"), "mode must be 'min' or 'max', .* got 'low' and 'rel'"),
        (lambda o, s: s.ReduceLROnPlateau(o, threshold_mode="by"), "threshold_mode 'rel' or 'abs', got 'min' and 'by'"),
        (lambda o, s: s.ReduceLROnPlateau(o, factor=1), "factor must be below 1, got 1"),
        (lambda o, s: s.LambdaLR(o, [abs, abs]), "LambdaLR: 2 times lr_lambda for 1 groups of parameters"),
        (
            lambda o, s: s.SequentialLR(o, [s.ExponentialLR(o, 0.5)], [3]),
            "SequentialLR: 1 milestones need 2 schedulers, got 1",
        ),
        (lambda o, s: s.SequentialLR(o, [s.ExponentialLR(copy.copy(o), 0.5)], []), "of the same optimiser"),
        (
            lambda o, s: s.ExponentialLR(o, 0.5).load_state_dict({"last_epoch": 0, "base_lrs": [1, 2]}),
            "the optimiser has 1 groups, the state 2",
        ),
        (
            lambda o, s: s.ExponentialLR(o, 0.5).load_state_dict({"base_lrs": [1]}),
            "ExponentialLR keeps last_epoch, base_lrs; this state holds base_lrs",
        ),
        (
            lambda o, s: s.ReduceLROnPlateau(o).load_state_dict({"step": 3}),
            "ReduceLROnPlateau keeps best, .*; this state holds step",
        ),
        (lambda o, s: s.OneCycleLR(o, 0.1), "total_steps, or epochs . steps_per_epoch, must be .* got 0"),
        (lambda o, s: s.OneCycleLR(o, 0.1, epochs=3), "epochs . steps_per_epoch, must be a whole number .* got 0"),
        (lambda o, s: s.OneCycleLR(o, 0.1, steps_per_epoch=3), "epochs . steps_per_epoch, must be .* got 0"),
        (lambda o, s: s.OneCycleLR(o, 0.1, 9, pct_start=2), "pct_start must be between 0 and 1, got 2"),
        (lambda o, s: s.OneCycleLR(o, 0.1, 9, anneal_strategy="sin"), "'cos' or 'linear', got 'sin'"),
        *[
            (lambda o, s, n=name: s.OneCycleLR(o, **{"max_lr": 0.1, "total_steps": 9, n: [0.1] * 2}), f"2 times {name}")
            for name in ("max_lr", "base_momentum", "max_momentum")
        ],
        (
            lambda o, s: s.OneCycleLR(optim.Adagrad(o.param_groups[0]["params"]), 0.1, 9),
            "OneCycleLR: Adagrad has no momentum; pass cycle_momentum=False",
        ),
    ],
)
def test_schedules_explain_invalid_arguments(make, sentence, x):
    with pytest.raises(ValueError, match=sentence):
        make(optim.SGD([x]), optim.lr_scheduler)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda s, x: s.StepLR(x, 2), "StepLR expects an optimiser, got Tensor"),
        (lambda s, x: s.OneCycleLR(x, 0.1, 9), "OneCycleLR expects an optimiser, got Tensor"),
        (lambda s, x: s.ReduceLROnPlateau(x), "ReduceLROnPlateau expects an optimiser"),
        (lambda s, x: s.LambdaLR(x, abs), "LambdaLR expects an optimiser, got Tensor"),
        (lambda s, x: s.StepLR(optim.SGD([x]), 2.5), "StepLR: step_size must be a whole number of at least 1, got 2.5"),
        (lambda s, x: s.LambdaLR(optim.SGD([x]), 3), "LambdaLR expects a function, got 3"),
        (lambda s, x: s.ExponentialLR(optim.SGD([x]), 0.5).load_state_dict(3), "load_state_dict expects a dictionary"),
    ],
)
def test_schedules_reject_arguments_of_other_types(make, sentence, x):
    with pytest.raises(TypeError, match=sentence):
        make(optim.lr_scheduler, x)


def test_one_cycle_moves_rate_and_momentum_oppositely(x):
    optimizer = optim.SGD([x], lr=7.0)
    schedule = optim.lr_scheduler.OneCycleLR(
        optimizer, 1.0, 5, pct_start=0.6, anneal_strategy="linear", base_momentum=0.5, max_momentum=0.9, div_factor=2.0,
        final_div_factor=5.0,
    )  # fmt: skip
    seen = []
    for _ in range(7):
        seen.append([optimizer.param_groups[0][name] for name in ("lr", "momentum")])
        schedule.step()
    expected = [[0.5, 0.9], [0.75, 0.7], [1.0, 0.5], [0.55, 0.7], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]]
    np.testing.assert_allclose(seen, expected)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 10, pct_start=0.1)
    assert [rate < 1.0 for rate in rates(optimizer, schedule, 3)] == [False, True, True]


@pytest.mark.parametrize(("pct_start", "expected"), [(0, [0.775, 0.55, 0.325, 0.1]), (1, [0.7, 0.8, 0.9, 1.0])])
def test_one_cycle_can_only_rise_or_only_fall(pct_start, expected, x):
    optimizer = optim.Adagrad([x])
    schedule = optim.lr_scheduler.OneCycleLR(
        optimizer, 1.0, epochs=2, steps_per_epoch=2, pct_start=pct_start, anneal_strategy="linear", div_factor=1 / 0.7,
        final_div_factor=7.0, cycle_momentum=False,
    )  # fmt: skip
    np.testing.assert_allclose(rates(optimizer, schedule, 4), expected)


def test_one_cycle_of_one_step_starts_at_its_end(x):
    optimizer = optim.SGD([x])
    optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 1, div_factor=2.0, final_div_factor=5.0)
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_one_cycle_works_inside_sequential_lr(x):
    optimizer = optim.SGD([x], lr=1.0, momentum=0.5)
    s = optim.lr_scheduler
    parts = [s.ConstantLR(optimizer, 0.5, total_iters=9), s.OneCycleLR(optimizer, 4.0, 10, div_factor=2.0)]
    schedule = s.SequentialLR(optimizer, parts, milestones=[2])
    assert rates(optimizer, schedule, 4)[:3] == [0.5, 0.5, 2.0]
    assert optimizer.param_groups[0]["momentum"] == parts[1].settings(optimizer.param_groups[0], 1.0, 2, 0)["momentum"]
    assert optimizer.param_groups[0]["momentum"] < 0.95


# Clipping ---------------------------------------------------------------------------------------------------


def test_clipping_scales_long_gradients_and_leaves_short_ones(x):
    y = mg.tensor(0.0, requires_grad=True)
    x.grad, y.grad = [3.0, 0.0], 4.0
    assert nn.utils.clip_grad_norm_([x, y], 1.0).item() == 5.0
    np.testing.assert_allclose([*x.grad.numpy(), y.grad.item()], [0.6, 0.0, 0.8], rtol=1e-6)
    kept = x.grad.tolist()
    nn.utils.clip_grad_norm_([x, y], 10.0)
    assert x.grad.tolist() == kept
    nn.utils.clip_grad_value_(x, 0.5)
    assert x.grad.tolist() == [0.5, 0.0]
    assert nn.utils.clip_grad_norm_([mg.tensor(1.0, requires_grad=True)], 1.0).item() == 0


def test_clipping_can_raise_for_infinite_gradients(x):
    x.grad = [np.nan, 1.0]
    with pytest.raises(RuntimeError, match="the norm of the gradients is nan"):
        nn.utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)
    assert np.isnan(nn.utils.clip_grad_norm_(x, 1.0).item())
    x.grad = [3.0, 4.0]
    assert nn.utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True).item() == 5.0


def test_a_schedule_without_a_rate_method_raises(x):
    class Unfinished(optim.lr_scheduler.LRScheduler):
        pass

    with pytest.raises(NotImplementedError, match=r"Unfinished has no rate\(base, epoch, place\)"):
        Unfinished(optim.SGD([x], lr=0.1))
