"""Dropout: entries, or whole channels, silenced at random while a network is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .functional.shapes import wants_probability
from .module import Module
from .parameters import Generator

__all__ = ["Dropout", "Dropout1d", "Dropout2d"]


class Dropout(Module):
    """While training, each entry silenced with probability `p` and the others divided by 1 - p to make up for it; else
    nothing (Srivastava et al. 2014).

    >>> import micrograd_plus as mg
    >>> x = mg.tensor([1.0] * 1000)
    >>> layer = mg.nn.Dropout(0.75)
    >>> sorted(set(layer(x).tolist()))
    [0.0, 4.0]
    >>> set(layer.eval()(x).tolist())
    {1.0}
    """

    silence: Callable[..., Tensor] = staticmethod(functional.dropout)

    def __init__(self, p: float = 0.5, *, rng: Generator | None = None):
        wants_probability(f"{type(self).__name__}: p", p)
        self.p, self.rng = p, rng

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return self.silence(input, self.p, self.training, rng=self.rng)


class Dropout1d(Dropout):
    """`Dropout` of whole channels of lines (N, C, L): neighbours on a line say nearly the same, so that one would stand
    in for another."""

    silence = staticmethod(functional.dropout1d)


class Dropout2d(Dropout):
    """`Dropout` of whole channels of images (N, C, H, W), as `Dropout1d`."""

    silence = staticmethod(functional.dropout2d)
