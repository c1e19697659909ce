"""Signatures of layers, functions, optimisers and schedules match PyTorch's in names and order."""

import inspect

import pytest
import torch

from micrograd_plus import nn, optim

pytestmark = pytest.mark.parity

OURS_ALONE = {"rng", "device", "dtype"}
"""Given by keyword: the generator that draws, and where and of what parameters are made."""
OTHERWISE = {
    "Parameter.data": "a parameter of nothing has no use",
    "Softmax.dim": "PyTorch guesses the axis, and warns",
    "LogSoftmax.dim": "the same",
    "Softmin.dim": "the same",
    "softmax.dim": "the same",
    "log_softmax.dim": "the same",
    "softmin.dim": "the same",
    "Softplus.threshold": "exact without one; given PyTorch's 20, PyTorch's numbers",
    "softplus.threshold": "the same",
    "TransformerEncoderLayer.activation": "the name of the function that is PyTorch's default",
}
"""Defaults that differ, each with the reason."""
LEFT_BEHIND = {"size_average", "reduce"}
"""What PyTorch warns of and calls deprecated; `reduction` says the same."""


def parameters_of(function):
    """Return a function's parameters by name, or None if PyTorch does not expose them."""
    try:
        found = inspect.signature(function).parameters
    except ValueError:
        return None
    return None if "args" in found else {name: each for name, each in found.items() if name not in LEFT_BEHIND}


def pairs():
    """Yield everything that both libraries have under one name."""
    for ours, theirs in ((nn, torch.nn), (nn.functional, torch.nn.functional), (optim, torch.optim)):
        yield from ((name, getattr(ours, name), getattr(theirs, name, None)) for name in ours.__all__)
    for name in optim.lr_scheduler.__all__:
        yield name, getattr(optim.lr_scheduler, name), getattr(torch.optim.lr_scheduler, name)


PAIRS = [
    (name, ours, theirs)
    for name, ours, theirs in pairs()
    if callable(ours) and theirs is not None and parameters_of(ours) is not None and parameters_of(theirs) is not None
]
EVERY_PAIR = pytest.mark.parametrize(("name", "ours", "theirs"), PAIRS, ids=[name for name, *_ in PAIRS])


def test_signatures_of_most_names_are_compared():
    assert len(PAIRS) > 110


@EVERY_PAIR
def test_keyword_arguments_and_defaults_match_torch(name, ours, theirs):
    mine, other = parameters_of(ours), parameters_of(theirs)
    for each in mine.keys() - OURS_ALONE:
        assert each in other
        if f"{name}.{each}" not in OTHERWISE:
            assert mine[each].default == other[each].default, each


@EVERY_PAIR
def test_positional_arguments_have_the_order_of_torch(name, ours, theirs):
    by_place = [each for each, found in parameters_of(ours).items() if found.kind is found.POSITIONAL_OR_KEYWORD]
    assert by_place == list(parameters_of(theirs))[: len(by_place)]


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_networks_take_the_arguments_of_torch(name):
    mine = parameters_of(getattr(nn, name))
    by_place = [each for each, found in mine.items() if found.kind is found.POSITIONAL_OR_KEYWORD]
    other = parameters_of(torch.nn.RNNBase)
    if name == "RNN":
        assert by_place.pop(3) == "nonlinearity"
    assert by_place == [each for each in other if each != "mode"][: len(by_place)]
    assert all(mine[each].default == other[each].default for each in by_place)
