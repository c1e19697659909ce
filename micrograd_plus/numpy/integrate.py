"""Ordinary differential equations: `odeint`, with gradients for the start, the times and the parameters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from .. import ops
from .dispatch import has_tensors

__all__ = ["odeint"]

NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
"""The pair of formulas of orders 5 and 4 of Dormand and Prince ("A family of embedded Runge-Kutta formulae", 1980):
times and coefficients of the stages, and the difference of the two results."""


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-10,
    atol: float = 1e-10,
    most: int = 100_000,
) -> Any:
    """Solve an ordinary differential equation at given times, with gradients for all arguments.

    The y with y(t[0]) = y0 and dy/dt = func(y, t, *args). The steps are as long as the tolerances allow, and as long as
    they would be without gradients; everything in them is differentiated, so the gradient is exact for the returned
    numbers, for y0, the times and `args`.

    Shapes: y0 of shape (N,) and t of shape (T,) -> (T, N).
    Args:
        func: a function of y, of the time and of `args`, which returns the slope, of the shape of y.
        y0: where it begins; real numbers.
        t: the times, rising or falling; the first belongs to y0.
        args: the other arguments that `func` takes, a tuple.
        rtol, atol: how much a step may be off, as a share of y and as a number.
        most: the largest number of steps from one time to the next.
    Returns: a tensor where one was given, in `args` too, else an array: a row for each time.
    Raises: RuntimeError if `most` steps are not enough, as for a stiff equation.
    Example:
        >>> from micrograd_plus.numpy import grad
        >>> from micrograd_plus.numpy.integrate import odeint
        >>> def half(y, t, rate):
        ...     return -rate * y
        >>> odeint(half, np.array([8.0]), np.array([0.0, 1.0, 2.0]), (np.log(2.0),)).round(6).tolist()
        [[8.0], [4.0], [2.0]]
        >>> end = lambda rate: odeint(half, np.array([8.0]), np.array([0.0, 1.0]), (rate,))[1, 0]
        >>> round(float(grad(end)(np.log(2.0))), 6)
        -4.0

    See: scipy.integrate.odeint, autograd.scipy.integrate.odeint.
    """
    times = [t[i] for i in range(len(t))]
    rows, y, step = [y0], y0, None
    for start, end in pairwise(times):
        y, step = _advance(func, y, start, end, args, step, rtol, atol, most)
        rows.append(y)
    return ops.stack(rows) if has_tensors(rows) else np.stack(rows)


def _advance(
    func: Any, y: Any, start: Any, end: Any, args: Any, step: float | None, rtol: float, atol: float, most: int
) -> tuple[Any, float]:
    """Return y at the end of one interval and the next step; `done` is the share that is covered."""
    span = end - start
    done, share = 0.0, 1e-2 if step is None else min(step / max(abs(_value(span)), 1e-300), 1.0)
    first = func(y, start, *args)
    for _ in range(most):
        if done >= 1.0 or _value(span) == 0:
            return y, share * abs(_value(span))
        share = min(share, 1.0 - done)
        h = span * share
        slopes, after = [first], y
        for node, weights in zip(NODES, STAGES, strict=True):
            after = y + h * sum(w * k for w, k in zip(weights, slopes, strict=True) if w)
            slopes.append(func(after, start + span * (done + node * share), *args))
        error = _value(h) * sum(w * _value(k) for w, k in zip(ERROR, slopes, strict=True) if w)
        scale = atol + rtol * np.maximum(np.abs(_value(y)), np.abs(_value(after)))
        off = float(np.sqrt(np.mean((error / scale) ** 2)))
        if off <= 1.0:
            y, first, done = after, slopes[-1], 1.0 if share >= 1.0 - done else done + share
        share *= min(5.0, max(0.2, 0.9 * (off + 1e-300) ** -0.2))
    raise RuntimeError(f"odeint: {most} steps were not enough between two times; is the equation stiff?")


def _value(x: Any) -> Any:
    """Return the numbers without a graph, to choose the length of a step."""
    return x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)
