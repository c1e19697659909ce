"""Gradients compared with differences of the function: the check that needs no rule."""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import ops, variable
from .application import is_complex
from .arguments import name_of, wants_function, wants_tuple
from .tensor import Tensor, tensor
from .transforms import grad, refuse_other_than_tensor


class GradientError(AssertionError):
    """A gradient differs from what differences of the function say."""


def gradcheck(
    f: Callable[..., Any], inputs: Sequence[Any], *, step: float = 1e-6, rtol: float = 1e-5, atol: float = 1e-7
) -> bool:
    """True when the gradient of `f` equals central differences at `inputs`; else a `GradientError` that says where and
    by how much.

    Inputs are taken in double precision: single precision has too few digits for a difference. The result may have any
    shape; it is weighted by fixed random numbers of both signs, because an upstream of ones hides mistakes.

    >>> import micrograd_plus as mg
    >>> mg.gradcheck(lambda x, y: mg.sin(x) * y, (mg.tensor([0.5, 1.0]), mg.tensor([2.0, -3.0])))
    True
    """
    wants_function("gradcheck", f)
    wants_tuple("gradcheck: inputs", inputs)
    if not inputs or not step > 0:
        raise ValueError(f"gradcheck: wants an input, and a step above 0; got {len(inputs)} inputs and step {step}")
    points = [_in_double(value) for value in inputs]
    number = _as_one_number(f, points)
    received = grad(number, tuple(range(len(points))))(*map(tensor, points))
    for place, (point, gradient) in enumerate(zip(points, received, strict=True)):
        for index in np.ndindex(*point.shape):
            got = complex(gradient._data[index])
            parts = [(got.real, step), (got.imag, step * 1j)] if is_complex(point) else [(got.real, step)]
            for part, move in parts:
                expected = _slope(number, points, place, index, move)
                if not abs(part - expected) <= atol + rtol * max(abs(expected), abs(part)):
                    raise GradientError(
                        f"the gradient of {name_of(f)} is wrong for input {place} at {index or 'its only entry'}: "
                        f"got {part:.6g}, central differences say {expected:.6g} (off by {abs(part - expected):.2g})"
                    )
    return True


def _in_double(value: Any) -> np.ndarray:
    """An input as an array of its own, in double precision, on the CPU."""
    array = (value if isinstance(value, Tensor) else Tensor.constant(value, "gradcheck: an input")).numpy()
    return array.astype("complex128" if is_complex(array) else "float64")


def _as_one_number(f: Callable[..., Any], points: Sequence[np.ndarray]) -> Callable[..., Tensor]:
    """`f` with its result as one number: each entry weighted, parts along re and im apart."""
    out = f(*map(tensor, points))
    refuse_other_than_tensor("gradcheck", f, out)
    shape: tuple[int, ...] = out.shape
    weights = np.random.default_rng(0).uniform(0.5, 1.5, shape) * np.random.default_rng(1).choice([-1.0, 1.0], shape)
    constants = tensor(weights)

    def number(*values: Any) -> Tensor:
        weighted = f(*values) * constants
        return (ops.real(weighted) + ops.imag(weighted) * 0.7 if is_complex(weighted) else weighted).sum()

    return number


def _slope(f: Callable[..., Tensor], points: Sequence[np.ndarray], place: int, index: Any, step: complex) -> float:
    """How fast `f` grows as one entry of one point moves along `step`, by central differences."""
    ends: list[float] = []
    for move in (step, -step):
        shifted = [point.copy() for point in points]
        shifted[place][index] += move
        with variable.no_grad():
            ends.append(f(*map(tensor, shifted)).item())
    return (ends[0] - ends[1]) / (2 * abs(step))
