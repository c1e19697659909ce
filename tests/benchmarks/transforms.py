"""Transforms compared with `backward()`: the gradient of a function of three operations on 8 x 8 numbers.

`backward()` creates its leaf each time, as a transform must.
"""

from typing import Any

import numpy as np

from .harness import Call, Effort, agree, compare, gather_calls
from .report import Outcome, Row

_random = np.random.default_rng(11)
POINT, DIRECTION = _random.normal(size=(2, 8, 8))


def function(library: Any) -> Any:
    """Return the sum of a product with tanh."""
    return lambda x: library.sum(library.tanh(x) * x)


def ours() -> list[Call]:
    """Return the calls of this engine's transforms, on tensors without gradients."""
    import micrograd_plus as mg

    f = function(mg)
    x, v = mg.tensor(POINT), mg.tensor(DIRECTION)

    def backward() -> Any:
        leaf = mg.tensor(POINT, requires_grad=True)
        f(leaf).backward()
        return leaf.grad

    grad, both = mg.grad(f), mg.value_and_grad(f)
    return [
        Call("backward()", backward, lambda: [backward().numpy()]),
        Call("mg.grad", lambda: grad(x), lambda: [grad(x).numpy()]),
        Call("mg.value_and_grad", lambda: both(x), lambda: [both(x)[1].numpy()]),
        Call("mg.jvp", lambda: mg.jvp(f, (x,), (v,))),
    ]


def autograds() -> list[Call]:
    """Return HIPS autograd's calls; its forward mode has one rule for each function, unlike ours."""
    import autograd
    from autograd import numpy as anp

    f = function(anp)
    grad, both, jvp = autograd.grad(f), autograd.value_and_grad(f), autograd.make_jvp(f)
    return [
        Call("autograd.grad", lambda: grad(POINT), lambda: [grad(POINT)]),
        Call("autograd.value_and_grad", lambda: both(POINT), lambda: [both(POINT)[1]]),
        Call("autograd.make_jvp", lambda: jvp(POINT)(DIRECTION)),
    ]


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Measure, and check the goals."""
    calls = gather_calls({"micrograd_plus": ours, "autograd": autograds}, without)
    agree([call for call in calls if call.gradients is not list], 1e-12)
    times = compare(calls, effort, "transforms")
    goals = {"mg.grad": 2, "mg.value_and_grad": 2, "mg.jvp": 3}
    rows = [Row("transforms", f"{name}, time over backward()", times.ratio(name, "backward()"), at_most=at_most)
            for name, at_most in goals.items()]
    return [Outcome("gradient of three operations", "us", rows, times.medians(1e6))]
