"""Loading of states of modules, optimisers and schedules: a wrong one is refused, and nothing has changed."""

import copy

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.optim import lr_scheduler

KINDS = {
    "SGD": lambda x: optim.SGD(x, lr=0.1, momentum=0.9),
    "Adam": lambda x: optim.Adam(x, amsgrad=True),
    "AdamW": optim.AdamW,
    "RMSprop": lambda x: optim.RMSprop(x, momentum=0.5, centered=True),
    "Adagrad": optim.Adagrad,
}


def train(optimizer):
    """Take two steps."""
    for _ in range(2):
        optimizer.zero_grad()
        sum((x * x).sum() for x in optimizer.parameters()).backward()
        optimizer.step()
    return optimizer


def leaves():
    """Return two parameters."""
    return [mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor(3.0, requires_grad=True)]


def plain(state):
    """Return a state with lists in place of tensors."""
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [plain(value) for value in state]
    return state.tolist() if hasattr(state, "tolist") else state


def first(state):
    """Return the state of parameter 0."""
    return state["state"]["0"]


def some_array(state):
    """Return the name of an array in the state of a parameter."""
    return next(name for name, value in first(state).items() if hasattr(value, "shape"))


def set_array(value):
    """Return a function that replaces an array of a state."""
    return lambda state: first(state).update({some_array(state): value})


def set_rate(value):
    """Return a function that replaces a learning rate."""
    return lambda state: state["param_groups"][0].update(lr=value)


SPOILERS = {
    "a list for the state": (lambda s: s.update(state=[]), "state must be a dict by number of parameter, got"),
    "a list for a parameter": (lambda s: s["state"].update({"1": [1]}), r"of parameter 1 must be a dict, got \[1"),
    "an unknown parameter": (lambda s: s["state"].update({"x": {}}), "a state of parameter x, and there are 2"),
    "a parameter twice": (lambda s: s["state"].update({0: {}}), "two states of parameter 0"),
    "groups that are no list": (lambda s: s.update(param_groups={}), "param_groups must be a list of dicts, got {}"),
    "a group that is no dict": (lambda s: s.update(param_groups=[3]), r"param_groups must be a list of dicts, got \[3"),
    "params that are no list": (lambda s: s["param_groups"][0].update(params=2), "of group 0 must be a list, got 2"),
    "one parameter too few": (lambda s: s["param_groups"][0]["params"].pop(), "groups of .2. parameters here, of .1."),
    "a missing setting": (lambda s: s["param_groups"][0].pop("lr"), "has lr, this state does not"),
    "an unknown setting": (lambda s: s["param_groups"][0].update(maximize=True), "has no setting maximize=True"),
    "a rate that is text": (set_rate("fast"), "lr must be a number that is not negative, got 'fast'"),
    "a rate that is None": (set_rate(None), "lr must be a number that is not negative, got None"),
    "two rates": (set_rate(np.array([1.0, 2.0])), "lr must be a number that is not negative"),
    "an unknown name": (lambda s: first(s).update(speed=1), "parameter 0 has speed; .* stores "),
    "a missing name": (lambda s: first(s).update({"": first(s).pop(some_array(s))}), "parameter 0 has ; .* stores "),
    "a name left out": (lambda s: first(s).pop(always_there(s)), r"parameter 0 has no \w+; .* stores "),
    "another shape": (set_array(np.zeros(3)), r"of parameter 0 has shape \(3,\), the parameter \(2,\)"),
    "a number for an array": (set_array(0.5), r"of parameter 0 must be an array of shape \(2,\), got 0.5"),
    "complex numbers": (set_array(np.zeros(2, complex)), "of parameter 0 has dtype complex128, the parameter float64"),
    "text": (set_array(np.array(["a", "b"])), "of parameter 0 has dtype <U1, the parameter float64"),
}


def always_there(state):
    """Return a name whose absence must be noticed; an empty state would be that of a new parameter."""
    named = first(state)
    if len(named) == 1:
        named["extra"] = 1
    return next(name for name in named if name not in ("momentum_buffer", "max_exp_avg_sq", "grad_avg", "extra"))


@pytest.mark.parametrize("spoiler", SPOILERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_state_of_an_optimiser_changes_nothing(kind, spoiler):
    if (kind, spoiler) == ("SGD", "a name left out"):
        pytest.skip("it stores one array, and a state without any is that of a new parameter")
    saved = train(KINDS[kind](leaves())).state_dict()
    optimizer = train(KINDS[kind](leaves()))
    spoil, sentence = SPOILERS[spoiler]
    spoil(saved)
    before = plain(optimizer.state_dict())
    with pytest.raises((TypeError, ValueError), match=sentence):
        optimizer.load_state_dict(saved)
    assert plain(optimizer.state_dict()) == before


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("Adam", {"betas": ["a", 0.9]}, "Adam: betas must be two numbers"),
        ("Adam", {"amsgrad": "yes"}, "Adam: amsgrad must be True or False, got 'yes'"),
        ("RMSprop", {"alpha": "x"}, "RMSprop: alpha must be between 0 and 1, got 'x'"),
        ("RMSprop", {"centered": None}, "RMSprop: centered must be True or False, got None"),
        ("SGD", {"nesterov": [1]}, "SGD: nesterov must be True or False"),
        ("SGD", {"nesterov": True, "momentum": 0}, "nesterov=True needs a momentum"),
        ("Adagrad", {"lr_decay": -1}, "lr_decay must be a number that is not negative, got -1"),
    ],
)
def test_settings_in_a_state_are_checked_like_new_ones(kind, change, sentence):
    optimizer = train(KINDS[kind](leaves()))
    saved, before = optimizer.state_dict(), plain(optimizer.state_dict())
    saved["param_groups"][0].update(change)
    with pytest.raises((TypeError, ValueError), match=sentence):
        optimizer.load_state_dict(saved)
    assert plain(optimizer.state_dict()) == before


@pytest.mark.parametrize("step", ["three", -1, 1.5, None, float("nan"), [1, 2]])
@pytest.mark.parametrize("kind", ["Adam", "Adagrad"])
def test_a_count_of_steps_must_be_a_whole_number(kind, step):
    optimizer = train(KINDS[kind](leaves()))
    saved = optimizer.state_dict()
    first(saved)["step"] = step
    with pytest.raises(ValueError, match="step of parameter 0 must be a whole number that is not negative, got"):
        optimizer.load_state_dict(saved)


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_state_continues_the_same_training(kind):
    one, other = train(KINDS[kind](leaves())), KINDS[kind](leaves())
    saved = one.state_dict()
    for mine, theirs in zip(other.parameters(), one.parameters(), strict=True):
        mine.assign(theirs)
    if "step" in first(saved):
        first(saved)["step"] = mg.tensor(float(first(saved)["step"]))  # as PyTorch stores it
    other.load_state_dict(saved)
    train(one)
    train(other)
    assert plain(other.state_dict()) == plain(one.state_dict())
    assert [x.tolist() for x in other.parameters()] == [x.tolist() for x in one.parameters()]


def test_an_optimiser_of_a_user_stores_what_it_likes():
    class Mine(optim.Optimizer):
        def new_values(self, values, gradient, state, group):
            state["note"] = "seen"
            return values - group["lr"] * gradient

    mine = train(Mine(leaves(), {"lr": 0.1}))
    mine.load_state_dict(mine.state_dict())
    assert first(mine.state_dict()) == {"note": "seen"}


@pytest.mark.parametrize(
    ("make", "change", "sentence"),
    [
        (lambda o: lr_scheduler.StepLR(o, 2), {"last_epoch": "two"}, "last_epoch must be a whole number .* got 'two'"),
        (lambda o: lr_scheduler.StepLR(o, 2), {"last_epoch": -3}, "last_epoch must be a whole number"),
        (lambda o: lr_scheduler.StepLR(o, 2), {"base_lrs": ["fast"]}, r"base_lrs must be a list of rates .* got \['f"),
        (lambda o: lr_scheduler.StepLR(o, 2), {"base_lrs": 0.1}, "base_lrs must be a list of rates .* got 0.1"),
        (lr_scheduler.ReduceLROnPlateau, {"best": "low"}, "best must be a number or None, got 'low'"),
        (lr_scheduler.ReduceLROnPlateau, {"num_bad_epochs": 0.5}, "num_bad_epochs must be a whole number"),
    ],
)
def test_a_wrong_state_of_a_schedule_changes_nothing(make, change, sentence):
    optimizer = optim.SGD(leaves(), lr=0.1)
    schedule = make(optimizer)
    before = copy.deepcopy(schedule.state_dict()), optimizer.param_groups[0]["lr"]
    with pytest.raises(TypeError, match=sentence):
        schedule.load_state_dict({**schedule.state_dict(), **change})
    assert (schedule.state_dict(), optimizer.param_groups[0]["lr"]) == before


def test_a_schedule_that_fails_keeps_its_step():
    optimizer = optim.SGD(leaves(), lr=0.1)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 / (epoch - 7))
    with pytest.raises(ZeroDivisionError):
        schedule.load_state_dict({"last_epoch": 7, "base_lrs": [0.5]})
    assert schedule.state_dict() == {"last_epoch": 0, "base_lrs": [0.1]}


BAD_ENTRIES = {
    "complex numbers": (np.zeros(2, complex), "has dtype float64 here and complex128 in the state; take the real part"),
    "another shape": (np.zeros(3), r"has shape \(2,\) here and \(3,\) in the state"),
    "text": (np.array(["a", "b"]), "is ndarray in the state: .* expected numbers, got text"),
    "None": (None, "is NoneType in the state: "),
    "ragged lists": ([[1.0], [1.0, 2.0]], "is list in the state: "),
}


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_a_wrong_entry_at_any_place_leaves_a_module_as_it_was(entry, place):
    net = nn.ParameterList([nn.Parameter(mg.tensor([1.0, 2.0])) for _ in range(4)])
    before = plain(net.state_dict())
    state = {name: mg.zeros((2,)) for name in net.state_dict()}
    value, sentence = BAD_ENTRIES[entry]
    name = list(state)[place]
    state[name] = value
    with pytest.raises(ValueError, match=f"{name} {sentence}"):
        net.load_state_dict(state)
    assert plain(net.state_dict()) == before
