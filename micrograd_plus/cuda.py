"""Questions about GPUs, under PyTorch's names."""

from __future__ import annotations

from typing import NoReturn

from .backends import devices
from .core.messages import missing_name

__all__ = ["device", "is_available"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


def is_available() -> bool:
    """Return whether tensors can be on an NVIDIA GPU: CuPy is installed, and finds one.

    Returns: True or False.
    Raises: nothing.
    Example:
        >>> device = "cuda" if mg.cuda.is_available() else "cpu"
        >>> mg.tensor([1.0]).to(device).device == device
        True

    See: torch.cuda.is_available.
    """
    try:
        devices.device("cuda")
    except RuntimeError:
        return False
    return True


def device(name: str) -> str:
    """Return a device by its name, as `tensor(..., device=)` and `x.to()` take it: PyTorch's `torch.device`.

    Args:
        name: "cpu" or "cuda"; "cuda:0" is the same.
    Returns: the name, "cpu" or "cuda".
    Raises: ValueError for another name; RuntimeError for a device that is not there.
    Example:
        >>> mg.zeros(2, device=mg.device("cpu")).device
        'cpu'

    See: torch.device.
    """
    return devices.device(name.removesuffix(":0")).name
