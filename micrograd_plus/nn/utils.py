"""What is done to gradients between the walk and the step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import ops
from ..readings import vocabulary
from ..tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def __dir__() -> list[str]:
    return sorted(__all__)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """All gradients made shorter by one factor, so that together they are at most `max_norm` long.

    Returns how long they were: the `norm_type`-norm of all their entries in a row. Gradients are replaced, not
    overwritten.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor([1.0, 1.0], requires_grad=True)
    >>> (x * mg.tensor([3.0, 4.0])).sum().backward()
    >>> mg.nn.utils.clip_grad_norm_([x], max_norm=1.0).item()
    5.0
    >>> x.grad.numpy().round(4).tolist()
    [0.6, 0.8]
    """
    tensors = _with_gradients(parameters)
    if not tensors:
        return Tensor.of(vocabulary.device("cpu").library.zeros(()))
    gradients = [tensor.grad._data for tensor in tensors]
    library = vocabulary.device_of(gradients[0]).library
    lengths = library.stack([library.linalg.norm(gradient.ravel(), norm_type) for gradient in gradients])
    length = library.linalg.norm(lengths, norm_type)
    if error_if_nonfinite and not library.isfinite(length).item():
        raise RuntimeError(f"clip_grad_norm_: the norm of the gradients is {length.item()}: one of them is not finite")
    factor = library.minimum(max_norm / (length + 1e-6), 1.0)  # PyTorch's guard against a length of 0
    for tensor, gradient in zip(tensors, gradients, strict=True):
        tensor.grad = Tensor.of((gradient * factor).astype(gradient.dtype, copy=False))
    return Tensor.of(length)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Every entry of every gradient held between -clip_value and clip_value."""
    for tensor in _with_gradients(parameters):
        tensor.grad = ops.clip(tensor.grad.detach(), min=-clip_value, max=clip_value)


def _with_gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    """The parameters that have received a gradient."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [tensor for tensor in tensors if tensor.grad is not None]
