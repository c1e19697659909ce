"""Single operations that are easily too slow: powers, many matrices times one, access to arrays, and lookups."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .harness import Call, Effort, agree, compare, gather_calls
from .report import Outcome, Row

_random = np.random.default_rng(12)

POWERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "x ** 3": (lambda x: x**3, lambda x: x * x * x),
    "x ** 4": (lambda x: x**4, lambda x: (x * x) * (x * x)),
    "x ** -1": (lambda x: x**-1, lambda x: 1 / x),
}
"""A power, and the product or quotient that it stands for."""

COUNTS = (1_000, 100_000)

ROWS, WEIGHT = (_random.normal(size=shape).astype(np.float32) for shape in ((32, 64, 64), (64, 64)))
TABLE = _random.normal(size=(1000, 64)).astype(np.float32)
WORDS = _random.integers(0, len(TABLE), size=(32, 64))


def forward_and_backward(f: Callable[..., Any], parameters: list[Any], upstream: Any) -> Callable[[], list[Any]]:
    """Return a function that runs forward and backward, and returns the gradients of its parameters."""

    def step() -> list[Any]:
        for each in parameters:
            each.grad = None
        f(*parameters).backward(upstream)
        return [each.grad for each in parameters]

    return step


def call(name: str, f: Callable[..., Any], parameters: list[Any], upstream: Any) -> Call:
    """Return the forward and backward run as a contender."""
    step = forward_and_backward(f, parameters, upstream)
    return Call(name, step, lambda: [each.numpy().copy() for each in step()])


def powers() -> list[Call]:
    """Return powers, and the equivalent products, as operations of this engine."""
    import micrograd_plus as mg

    calls = []
    for count in COUNTS:
        parameters = [mg.tensor(_random.uniform(0.5, 1.5, size=count), requires_grad=True)]
        for name, forms in POWERS.items():
            calls += [call(f"{name}, {count:,}{how}", f, parameters, np.ones(count))
                      for f, how in zip(forms, ("", ", multiplied out"), strict=True)]
    return calls


def ours() -> list[Call]:
    """Return this engine's products and lookups."""
    import micrograd_plus as mg

    rows, weight, table = (mg.tensor(each, requires_grad=True) for each in (ROWS, WEIGHT, TABLE))
    words, embedding = mg.tensor(WORDS), mg.nn.functional.embedding
    return [
        call("micrograd_plus 3-D @ 2-D", lambda x, w: x @ w, [rows, weight], np.ones_like(ROWS)),
        call("micrograd_plus E[I]", lambda e: e[WORDS], [table], np.ones_like(TABLE[WORDS])),
        call("micrograd_plus embedding", lambda e: embedding(words, e), [table], np.ones_like(TABLE[WORDS])),
    ]


def torchs() -> list[Call]:
    """Return torch's products and lookups."""
    import torch

    torch.set_num_threads(1)
    rows, weight, table = (torch.tensor(each, requires_grad=True) for each in (ROWS, WEIGHT, TABLE))
    words, embedding = torch.tensor(WORDS), torch.nn.functional.embedding
    return [
        call("torch 3-D @ 2-D", lambda x, w: x @ w, [rows, weight], torch.ones_like(rows)),
        call("torch E[I]", lambda e: e[words], [table], torch.ones_like(table[words])),
        call("torch embedding", lambda e: embedding(words, e), [table], torch.ones_like(table[words])),
    ]


class Empty:
    """An object with a method that does nothing."""

    def nothing(self) -> None:
        """Do nothing."""


def looks() -> list[Call]:
    """Return calls of `detach` on an array of two megabytes, and of an empty method."""
    import micrograd_plus as mg

    large = mg.tensor(_random.normal(size=(512, 512)), requires_grad=True)
    return [Call("x.detach(), 2 MB", large.detach), Call("an empty method", Empty().nothing)]


def check_agreement(calls: list[Call], pairs: int) -> list[Call]:
    """Return the calls after checking that adjacent groups of `pairs` agree."""
    for start in range(0, len(calls), pairs):
        agree(calls[start: start + pairs], 1e-5)
    return calls


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Measure, and check the goals."""
    of_powers = compare(check_agreement(gather_calls({"micrograd_plus": powers}, without), 2), effort, "powers")
    both = gather_calls({"micrograd_plus": ours, "torch": torchs}, without)
    both = check_agreement(
        sorted(both, key=lambda each: each.name.partition(" ")[2]), 2 if "torch" not in without else 1
    )
    of_arrays = compare(both, effort, "arrays")
    of_looks = compare(gather_calls({"micrograd_plus": looks}, without), effort, "detach")
    rows = [Row("powers", f"{name}, {count:,} numbers, time over products",
                of_powers.ratio(f"{name}, {count:,}", f"{name}, {count:,}, multiplied out"), at_most=1.5)
            for count in COUNTS for name in POWERS]
    beside_torch = [Row("arrays", f"{name}, time over torch's",
                        of_arrays.ratio(f"micrograd_plus {name}", f"torch {name}"), at_most=at_most)
                    for name, at_most in {"3-D @ 2-D": 1, "E[I]": 1, "embedding": None}.items()]
    detach = Row("arrays", "x.detach() of 2 MB, time over an empty method's",
                 of_looks.ratio("x.detach(), 2 MB", "an empty method"), at_most=20)
    return [Outcome("powers, forward and backward", "us", rows, of_powers.medians(1e6)),
            Outcome("products and lookups, forward and backward", "us", beside_torch, of_arrays.medians(1e6)),
            Outcome("a look at 2 MB", "us", [detach], of_looks.medians(1e6))]
