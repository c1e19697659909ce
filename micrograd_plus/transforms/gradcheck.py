"""Gradient checks: compare gradients with finite differences."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..core.messages import check_function
from ..core.runtime.blocks import no_grad
from ..core.variable import is_complex
from ..tensor import Tensor, tensor
from .arguments import check_tuple, name_of
from .reverse import check_tensor_result, grad


class GradientError(AssertionError):
    """Error for a gradient that differs from finite differences."""


def gradcheck(
    f: Callable[..., Any], inputs: Sequence[Any], *, step: float = 1e-6, rtol: float = 1e-5, atol: float = 1e-7,
    fast_mode: bool = False,
) -> bool:  # fmt: skip
    """Compare a gradient with central differences.

    (f(x + step) - f(x - step)) / (2 · step), for each entry of each input, must be within atol + rtol · max(|a|, |b|)
    of the gradient; for complex inputs along the real and the imaginary part. Inputs are converted to double precision,
    since single precision has too few digits for differences. A result of any shape is weighted by fixed random numbers
    of both signs, because an upstream of ones hides mistakes.

    Args:
        f: a function of tensors that returns one tensor.
        inputs: a tuple of its arguments, at which the gradient is checked: tensors, arrays or numbers.
        step: the distance to either side; default 1e-6.
        rtol: the relative tolerance; default 1e-5.
        atol: the absolute tolerance; default 1e-7.
        fast_mode: compare along three random directions for each input instead of each entry; default False. For
            n entries it takes 6 calls of `f` instead of 2n, and the error does not name the wrong entry.
    Returns: True.
    Raises: GradientError, an AssertionError that names the input, the entry and the difference. TypeError if `f` cannot
        be called or returns no tensor, or `inputs` is not a tuple; ValueError if there is no input, or `step` is not
        positive.
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
    number = _with_scalar_result(f, given)
    received = grad(number, tuple(range(len(points))))(*_on_devices_of(given, points))
    for place, (point, gradient) in enumerate(zip(points, [each.numpy() for each in received], strict=True)):
        for where, direction in _directions(point, fast_mode):
            got = float(np.sum((gradient.conj() * direction).real))
            ends: list[float] = []
            for distance in (step, -step):
                moved = [point + distance * direction if i == place else x for i, x in enumerate(points)]
                with no_grad():
                    ends.append(number(*_on_devices_of(given, moved)).item())
            expected = (ends[0] - ends[1]) / (2 * step)
            if not abs(got - expected) <= atol + rtol * max(abs(expected), abs(got)):
                raise GradientError(
                    f"the gradient of {name_of(f)} is wrong for input {place} {where}: "
                    f"got {got:.6g}, central differences say {expected:.6g} (off by {abs(got - expected):.2g})"
                )
    return True


def _directions(point: np.ndarray, fast_mode: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Yield directions in which an input is moved, with the words for an error: each entry, or three random ones."""
    units = (1.0, 1j) if is_complex(point) else (1.0,)
    if fast_mode:
        rng = np.random.default_rng(2)
        for _ in range(3):
            parts = [unit * rng.normal(size=point.shape) for unit in units]
            yield "along a random direction", np.sum(parts, axis=0)
        return
    for index in np.ndindex(*point.shape):
        for unit in units:
            direction = np.zeros_like(point)
            direction[index] = unit
            yield f"at {index or 'its only entry'}", direction


def _on_devices_of(given: Sequence[Tensor], points: Sequence[np.ndarray]) -> list[Tensor]:
    """Return arrays as tensors on the devices of given tensors."""
    return [tensor(point, device=x.device) for point, x in zip(points, given, strict=True)]


def _with_scalar_result(f: Callable[..., Any], given: Sequence[Tensor]) -> Callable[..., Tensor]:
    """Return `f` with a scalar result: the weighted sum of its entries, real and imaginary parts separately."""
    out = f(*given)
    check_tensor_result("gradcheck", f, out)
    shape: tuple[int, ...] = out.shape
    weights = np.random.default_rng(0).uniform(0.5, 1.5, shape) * np.random.default_rng(1).choice([-1.0, 1.0], shape)
    constants = tensor(weights, device=out.device)

    def number(*values: Any) -> Tensor:
        weighted = f(*values) * constants
        return (ops.real(weighted) + ops.imag(weighted) * 0.7 if is_complex(weighted) else weighted).sum()

    return number
