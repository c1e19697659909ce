"""Cost of modes: operations and networks under `no_grad`, comparisons, and hooks in this model or another."""

from contextlib import nullcontext
from typing import Any

import numpy as np

from . import w3_small_mlp as w3
from .harness import Call, Effort, agree, compare, gather_calls
from .report import Outcome, Row

SIDE = 8

_random = np.random.default_rng(10)
LEFT, RIGHT = _random.normal(size=(2, SIDE, SIDE))


def applications() -> list[Call]:
    """Return single operations on 8 x 8 matrices, with and without gradients."""
    import micrograd_plus as mg

    x, y, lent = (mg.tensor(each, requires_grad=True) for each in (LEFT, RIGHT, LEFT))
    array = lent.data
    forwards = {"x * y": lambda: x * y, "tanh": lambda: mg.tanh(x), "x @ y": lambda: x @ y, "x > y": lambda: x > y}
    while_lent = Call("tanh(p), p.data held", lambda: mg.tanh(lent), lambda: [array])
    return [while_lent, *(Call(f"{name}{mode}", forward, around=around) for name, forward in forwards.items()
                          for mode, around in (("", nullcontext), (", no_grad", mg.no_grad)))]


def networks(nn: Any, of: Any) -> tuple[Any, Any]:
    """Return the network of W3 as a library's `Sequential`, and its inputs."""
    layers = [nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)]
    for place, layer in enumerate(layers[::2]):
        layer.weight, layer.bias = (nn.Parameter(of(each)) for each in w3.PARAMETERS[2 * place:][:2])
    return nn.Sequential(*layers), of(w3.INPUTS)


def inference() -> list[Call]:
    """Return the calls of this engine."""
    import micrograd_plus as mg

    model, inputs = networks(mg.nn, mg.tensor)
    return [Call("micrograd_plus", lambda: model(inputs), lambda: [model(inputs).detach().numpy()]),
            Call("micrograd_plus, no_grad", lambda: model(inputs), lambda: [model(inputs).detach().numpy()],
                 around=mg.no_grad)]


def inference_of_torch() -> list[Call]:
    """Return the calls of torch."""
    import torch

    torch.set_num_threads(1)
    model, inputs = networks(torch.nn, torch.tensor)
    return [Call("torch", lambda: model(inputs), lambda: [model(inputs).detach().numpy()]),
            Call("torch, no_grad", lambda: model(inputs), lambda: [model(inputs).detach().numpy()],
                 around=torch.no_grad)]


def nodes_with_hooks() -> list[Call]:
    """Return steps of W3 without a hook, with one on a weight, and with one on another model's weight."""
    ours, other = w3.Ours(), w3.Ours()

    def add_hook(contender: w3.Ours) -> Any:
        return lambda: contender.parameters[0].register_hook(lambda gradient: None)

    return [Call("no hook", ours.step), Call("a hook", ours.step, around=add_hook(ours)),
            Call("a hook elsewhere", ours.step, around=add_hook(other))]


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Measure, and check the goals."""
    single = compare(gather_calls({"micrograd_plus": applications}, without), effort, "no_grad")
    whole = gather_calls({"micrograd_plus": inference, "torch": inference_of_torch}, without)
    agree(whole, 1e-12)
    inferred = compare(whole, effort, "inference")
    hooks = compare(gather_calls({"micrograd_plus": nodes_with_hooks}, without), effort, "hooks")
    rows = [
        *(Row("no_grad", f"{name}, time over the same with gradients wanted", single.ratio(f"{name}, no_grad", name),
              at_most=1.1) for name in ("x * y", "tanh", "x @ y")),
        Row("no_grad", "x > y with gradients wanted, time over x * y", single.ratio("x > y", "x * y"), at_most=1.5),
        Row("no_grad", "x > y, time over x * y with gradients wanted", single.ratio("x > y, no_grad", "x * y"),
            at_most=1.5),
        Row("data", "tanh(p) while p.data is alive, over tanh(p)", single.ratio("tanh(p), p.data held", "tanh"),
            at_most=1.3),
        Row("no_grad", "nn.Sequential, time over the same with gradients wanted",
            inferred.ratio("micrograd_plus, no_grad", "micrograd_plus"), at_most=1.1),
        Row("no_grad", "nn.Sequential, time over torch's", inferred.ratio("micrograd_plus, no_grad", "torch, no_grad"),
            at_most=1),
        Row("hook", "W3, one in the model, time over none", hooks.ratio("a hook", "no hook"), at_most=1.25),
        Row("hook", "W3, one in another model, time over none", hooks.ratio("a hook elsewhere", "no hook"),
            at_most=1.02),
    ]
    return [Outcome("forward of 8 x 8", "us", rows[:6], single.medians(1e6)),
            Outcome("W3's network, forward", "us", rows[6:8], inferred.medians(1e6)),
            Outcome("W3 with hooks, one step", "us", rows[8:], hooks.medians(1e6))]
