"""The training step of W3, with the update written in all common forms.

Each form is compared with the same loop in torch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import w3_small_mlp as w3
from .harness import Call, Effort, compare, gather_calls
from .report import Outcome, Row

RATE = w3.RATE

OPTIMISER, NO_GRAD = "optim.SGD", "with no_grad(): p -= lr * p.grad"


def minus_under_no_grad(parameters: list[Any], library: Any) -> None:
    with library.no_grad():
        for p in parameters:
            p -= RATE * p.grad


def minus_in_data(parameters: list[Any], library: Any) -> None:
    for p in parameters:
        p.data -= RATE * p.grad


def replace_data(parameters: list[Any], library: Any) -> None:
    for p in parameters:
        p.data = p.data - RATE * p.grad


def data_by_data(parameters: list[Any], library: Any) -> None:
    for p in parameters:
        p.data -= RATE * p.grad.data


def plus_in_data(parameters: list[Any], library: Any) -> None:
    for p in parameters:
        p.data += -RATE * p.grad


BY_DATA: dict[str, Callable[[list[Any], Any], None]] = {
    "p.data -= lr * p.grad": minus_in_data,
    "p.data += -lr * p.grad": plus_in_data,
    "p.data = p.data - lr * p.grad": replace_data,
    "p.data -= lr * p.grad.data": data_by_data,
}


def steps(made: Any, library: Any, name: str) -> list[Call]:
    """Return the step of one library in all forms, which share their parameters."""
    optimiser = library.optim.SGD(made.parameters, lr=RATE)

    def with_optimiser() -> None:
        optimiser.zero_grad()
        made.backward()
        optimiser.step()

    def by(update: Callable[[list[Any], Any], None]) -> Callable[[], None]:
        def step() -> None:
            made.fresh_backward()
            update(made.parameters, library)

        return step

    forms = {NO_GRAD: minus_under_no_grad} | BY_DATA
    return [Call(f"{name} {OPTIMISER}", with_optimiser),
            *(Call(f"{name} {form}", by(update)) for form, update in forms.items())]


def ours() -> list[Call]:
    """Return the steps of this engine."""
    import micrograd_plus as mg

    return steps(w3.Ours(), mg, "micrograd_plus")


def torchs() -> list[Call]:
    """Return the steps of torch."""
    made = w3.Torch()
    return steps(made, made.torch, "torch")


ALONE = "p.data += -lr * p.grad, alone, float32"


def single_update(library: Any, name: str) -> list[Call]:
    """Return one update of a float32 weight, without the step around it."""
    values = np.random.default_rng(21).normal(size=(2, 16, 16)).astype(np.float32)
    p, p_grad = (library.tensor(each) for each in values)
    p.requires_grad, p.grad = True, p_grad
    return [Call(f"{name} {ALONE}", lambda: plus_in_data([p], library))]


def our_single_update() -> list[Call]:
    """Return this engine's update."""
    import micrograd_plus as mg

    return single_update(mg, "micrograd_plus")


def torchs_single_update() -> list[Call]:
    """Return torch's update."""
    import torch

    torch.set_num_threads(1)
    return single_update(torch, "torch")


def fails(call: Call) -> str | None:
    """Return the name of the error if this form of the update is rejected."""
    try:
        call.step()
    except (TypeError, ValueError, RuntimeError) as error:
        return f"refused: {type(error).__name__}"
    return None


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Measure, and check the goals."""
    calls = gather_calls({"micrograd_plus": ours, "torch": torchs}, without)
    refused = {call.name: why for call in calls if (why := fails(call))}
    times = compare([call for call in calls if call.name not in refused], effort, "updates")
    over = {OPTIMISER: None, NO_GRAD: 1.2} | dict.fromkeys(BY_DATA, 1.8)
    rows = [Row("update", f"{form}, over optim.SGD",
                times.ratio(f"micrograd_plus {form}", f"micrograd_plus {OPTIMISER}"), at_most=at_most)
            for form, at_most in over.items() if at_most]
    rows += [Row("update", f"{form}, over torch's", times.ratio(f"micrograd_plus {form}", f"torch {form}"), at_most=1)
             for form in over]
    alone = compare(
        gather_calls({"micrograd_plus": our_single_update, "torch": torchs_single_update}, without), effort, "update"
    )
    row = Row("update", f"{ALONE}, over torch's", alone.ratio(f"micrograd_plus {ALONE}", f"torch {ALONE}"), at_most=1)
    return [Outcome("W3, every way of the update", "us", rows, times.medians(1e6) | refused),
            Outcome("one update", "us", [row], alone.medians(1e6))]
