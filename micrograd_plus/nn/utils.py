"""Gradient clipping."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from .. import ops
from ..backends import devices
from ..core.messages import missing_name
from ..tensor import Tensor, set_gradients

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
__path__: list[str] = []  # a package to importers, so that `import torch.nn.utils.rnn` is answered by its hint


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Clip gradients by their norm: scale all of them by one factor.

    g ← g · min(1, max_norm / (‖g‖ + 1e-6)), with ‖g‖ the norm of the entries of all gradients in one row. The direction
    of the step stays. Gradients are replaced, not overwritten.

    Args:
        parameters: a tensor, or several; those without a gradient are passed over.
        max_norm: how long all gradients together may be.
        norm_type: the p of the norm, also inf; 2 by default.
        error_if_nonfinite: whether a norm of nan or inf is refused, before any gradient is changed; False by default.
    Returns: a tensor of one number, the norm before clipping; 0 where there is no gradient.
    Raises: RuntimeError if a norm that is not finite is refused; TypeError if parameters are neither a tensor nor
        several.
    Example:
        >>> x = mg.tensor([1.0, 1.0], requires_grad=True)
        >>> (x * mg.tensor([3.0, 4.0])).sum().backward()
        >>> nn.utils.clip_grad_norm_([x], max_norm=1.0).item()
        5.0
        >>> x.grad.numpy().round(4).tolist()
        [0.6, 0.8]

    See: torch.nn.utils.clip_grad_norm_; Pascanu et al., On the difficulty of training recurrent neural networks, 2013.
    """
    tensors = _with_gradients(parameters)
    if not tensors:
        return Tensor.of(devices.device("cpu").library.zeros(()))
    gradients = [tensor.grad._data for tensor in tensors]
    library = devices.device_of(gradients[0]).library
    length = _length(gradients, norm_type)
    if error_if_nonfinite and not library.isfinite(length).item():
        raise RuntimeError(f"clip_grad_norm_: the norm of the gradients is {length.item()}: one of them is not finite")
    shorter = map(Tensor.of, _shorten(gradients, length, max_norm))
    set_gradients(
        zip(tensors, shorter, strict=True),
        by=lambda others: _shorten(others, _length(others, norm_type), max_norm),
    )
    return Tensor.of(length)


def _length(gradients: list[Any], norm_type: float) -> Any:
    """Return the norm of the entries of all gradients in one row."""
    norm = devices.device_of(gradients[0]).library.linalg.norm
    lengths = [norm(gradient.ravel(), norm_type) for gradient in gradients]
    return norm(devices.device_of(gradients[0]).library.stack(lengths), norm_type)


def _shorten(gradients: list[Any], length: Any, max_norm: float) -> list[Any]:
    """Return the gradients times the factor that takes their norm from `length` to at most `max_norm`."""
    minimum = devices.device_of(gradients[0]).library.minimum
    factor = minimum(max_norm / (length + 1e-6), 1.0)  # PyTorch's guard against a length of 0
    return [(gradient * factor).astype(gradient.dtype, copy=False) for gradient in gradients]


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clip every entry of every gradient to the range between two bounds.

    g_i ← min(max(g_i, -clip_value), clip_value). The direction of the step may change.

    Args:
        parameters: a tensor, or several; those without a gradient are passed over.
        clip_value: how large an entry may be, a positive number.
    Returns: None; the gradients are replaced.
    Raises: TypeError if parameters are neither a tensor nor several.
    Example:
        >>> x = mg.tensor([1.0, 1.0], requires_grad=True)
        >>> (x * mg.tensor([0.5, 4.0])).sum().backward()
        >>> nn.utils.clip_grad_value_([x], clip_value=1.0)
        >>> x.grad.tolist()
        [0.5, 1.0]

    See: torch.nn.utils.clip_grad_value_.
    """
    bounds = {"min": -clip_value, "max": clip_value}
    set_gradients(
        ((tensor, ops.clip(tensor.grad.detach(), **bounds)) for tensor in _with_gradients(parameters)),
        by=lambda gradients: [ops.clip(gradient, **bounds) for gradient in gradients],
    )


def _with_gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    """Return the parameters that have a gradient."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [tensor for tensor in tensors if tensor.grad is not None]
