"""autograd's `misc` tools: flattening of parameters, optimisers, fixed points, gradient checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops, transforms as ours
from ..core.variable import shape_of
from ..pytrees import leaves, replace_leaves
from .dispatch import as_arrays, has_tensors


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return all numbers of a nested structure in one row, and the function that rebuilds the structure. Dictionaries
    are in the order of their sorted keys."""
    value = _sort_keys(value)
    parts = leaves(value)
    shapes = [shape_of(part) for part in parts]
    cuts = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in shapes)])

    def unflatten(vector: Any) -> Any:
        rows = (vector[a:b].reshape(shape) for a, b, shape in zip(cuts[:-1], cuts[1:], shapes, strict=True))
        return replace_leaves(value, iter([row if row.shape else row[()] for row in rows]))

    if has_tensors(parts):
        return ops.concatenate([ops.ravel(part) for part in parts]), unflatten
    return np.concatenate([np.ravel(part) for part in parts]) if parts else np.zeros(0), unflatten


def _sort_keys(value: Any) -> Any:
    """Return the same structure with sorted dictionaries."""
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        parts = [_sort_keys(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def flatten_func(fun: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return a function of a flat row in place of one of a structure, the function that rebuilds the structure, and the
    example as a row."""
    row, unflatten = flatten(example)

    def of_row(vector: Any, *args: Any) -> Any:
        return flatten(fun(unflatten(vector), *args))[0]

    return of_row, unflatten, row


def sgd(
    gradient: Callable[[Any, int], Any],
    x0: Any,
    callback: Callable[[Any, int, Any], None] | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Minimise by gradient descent with momentum, for a structure of arrays: `gradient(x, i)` at step i."""
    velocity: Any = 0.0

    def step(g: Any, i: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return step_size * velocity

    return _descend(step, gradient, x0, callback, num_iters)


def rmsprop(
    gradient: Callable[[Any, int], Any],
    x0: Any,
    callback: Callable[[Any, int, Any], None] | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Minimise by RMSprop: steps divided by the root of a running mean of squares."""
    squares: Any = 1.0

    def step(g: Any, i: int) -> Any:
        nonlocal squares
        squares = squares * gamma + g**2 * (1 - gamma)
        return -step_size * g / (np.sqrt(squares) + eps)

    return _descend(step, gradient, x0, callback, num_iters)


def adam(
    gradient: Callable[[Any, int], Any],
    x0: Any,
    callback: Callable[[Any, int, Any], None] | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Minimise by Adam, with bias correction."""
    mean: Any = 0.0
    squares: Any = 0.0

    def step(g: Any, i: int) -> Any:
        nonlocal mean, squares
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * g**2 + b2 * squares
        return -step_size * (mean / (1 - b1 ** (i + 1))) / (np.sqrt(squares / (1 - b2 ** (i + 1))) + eps)

    return _descend(step, gradient, x0, callback, num_iters)


def _descend(step: Callable[[Any, int], Any], gradient: Any, x0: Any, callback: Any, num_iters: int) -> Any:
    row, unflatten = flatten(x0)
    for i in range(num_iters):
        g = gradient(unflatten(row), i)
        if callback is not None:
            callback(unflatten(row), i, unflatten(flatten(g)[0]))
        row = row + step(flatten(as_arrays(g))[0], i)
    return unflatten(row)


def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """Return the x with f(a)(x) = x, by iteration from x0. The gradient for `a` follows from the equation at x, by
    another iteration."""

    def settle(step: Callable[[Any], Any], x: Any) -> Any:
        before, x = x, step(x)
        while float(_number(distance(x, before))) > tol:
            before, x = x, step(x)
        return x

    solve = ours.custom_vjp(lambda a: settle(f(a), x0))
    solve.op.name = "fixed_point"

    @solve.rule("a")
    def _(upstream: Any, a: Any, out: Any) -> Any:
        _, back = ours.vjp(lambda a, x: f(a)(x), a, out)
        return back(settle(lambda w: upstream + back(w)[1], upstream))[0]

    found = solve(a)
    return found if has_tensors((a, x0)) else as_arrays(found)


def check_grads(fun: Callable[..., Any], modes: tuple[str, ...] = ("fwd", "rev"), order: int = 2) -> Callable[..., Any]:
    """Return a function that compares the gradients of `fun` with finite differences, and raises if they differ."""

    def check(*args: Any) -> None:
        ours.gradcheck(fun, args)

    return check


def _number(value: Any) -> Any:
    """Return a result as a plain number, without a gradient."""
    return value.detach() if hasattr(value, "detach") else value
