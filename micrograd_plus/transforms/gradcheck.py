"""Gradients compared with differences of the function: the check that needs no rule."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..core.messages import check_function
from ..core.runtime.blocks import no_grad
from ..core.variable import is_complex
from ..tensor import Tensor, tensor
from .arguments import check_tuple, name_of
from .reverse import grad, refuse_other_than_tensor


class GradientError(AssertionError):
    """A gradient differs from what differences of the function say."""


def gradcheck(
    f: Callable[..., Any], inputs: Sequence[Any], *, step: float = 1e-6, rtol: float = 1e-5, atol: float = 1e-7
) -> bool:
    """A check of a gradient: it is compared with central differences, which need no rule.

    (f(x + step) - f(x - step)) / (2 · step), for each entry of each input, must be within atol + rtol · max(|a|, |b|)
    of what the gradient says; over complex numbers along both parts. Inputs are taken in double precision: single
    precision has too few digits for a difference. A result of any shape is weighted by fixed random numbers of both
    signs, because an upstream of ones hides mistakes.

    Args:
        f: a function of tensors that returns one tensor.
        inputs: a tuple of its arguments, where the gradient is checked: tensors, arrays or numbers.
        step: how far to go to either side; default 1e-6.
        rtol: how much they may differ in proportion; default 1e-5.
        atol: how much they may differ besides; default 1e-7.
    Returns: True.
    Raises: GradientError, an AssertionError, where they differ: which input and entry, and by how much. TypeError where
        `f` cannot be called or returns no tensor, or `inputs` is no tuple; ValueError for no input, or a step not above
        0.
    Example:
        >>> mg.gradcheck(lambda x, y: mg.sin(x) * y, (mg.tensor([0.5, 1.0]), mg.tensor([2.0, -3.0])))
        True

    See: torch.autograd.gradcheck; CS231n notes, Gradient checks.
    """
    check_function("gradcheck", f)
    check_tuple("gradcheck: inputs", inputs)
    if not inputs or not step > 0:
        raise ValueError(
            f"gradcheck: there must be at least one input, and step must be positive; got {len(inputs)} inputs and "
            f"step {step}"
        )
    given = [x if isinstance(x, Tensor) else Tensor.constant(x, "gradcheck: an input") for x in inputs]
    points = [x.numpy().astype("complex128" if is_complex(x) else "float64") for x in given]
    number = _as_one_number(f, given)
    received = grad(number, tuple(range(len(points))))(*_beside(given, points))
    for place, (point, gradient) in enumerate(zip(points, [each.numpy() for each in received], strict=True)):
        for index in np.ndindex(*point.shape):
            got = complex(gradient[index])
            parts = [(got.real, step), (got.imag, step * 1j)] if is_complex(point) else [(got.real, step)]
            for part, move in parts:
                ends: list[float] = []
                for shift in (move, -move):
                    shifted = [each.copy() for each in points]
                    shifted[place][index] += shift
                    with no_grad():
                        ends.append(number(*_beside(given, shifted)).item())
                expected = (ends[0] - ends[1]) / (2 * step)
                if not abs(part - expected) <= atol + rtol * max(abs(expected), abs(part)):
                    raise GradientError(
                        f"the gradient of {name_of(f)} is wrong for input {place} at {index or 'its only entry'}: "
                        f"got {part:.6g}, central differences say {expected:.6g} (off by {abs(part - expected):.2g})"
                    )
    return True


def _beside(given: Sequence[Tensor], points: Sequence[np.ndarray]) -> list[Tensor]:
    """Arrays as tensors on the devices of the given ones."""
    return [tensor(point, device=x.device) for point, x in zip(points, given, strict=True)]


def _as_one_number(f: Callable[..., Any], given: Sequence[Tensor]) -> Callable[..., Tensor]:
    """`f` with its result as one number: each entry weighted, parts along re and im apart."""
    out = f(*given)
    refuse_other_than_tensor("gradcheck", f, out)
    shape: tuple[int, ...] = out.shape
    weights = np.random.default_rng(0).uniform(0.5, 1.5, shape) * np.random.default_rng(1).choice([-1.0, 1.0], shape)
    constants = tensor(weights, device=out.device)

    def number(*values: Any) -> Tensor:
        weighted = f(*values) * constants
        return (ops.real(weighted) + ops.imag(weighted) * 0.7 if is_complex(weighted) else weighted).sum()

    return number
