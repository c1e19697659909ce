"""Dropout of entries or of whole channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .functional.shapes import check_probability
from .module import Module
from .parameters import Generator

__all__ = ["Dropout", "Dropout1d", "Dropout2d"]


class Dropout(Module):
    """Dropout: sets entries to 0 at random during training.

    While training, each entry is 0 with probability p, else divided by 1 - p, so that its expected value stays; after
    `eval()` the layer changes nothing.

    Shapes: any -> the same.
    Args:
        p: the probability that an entry is set to 0, from 0 to 1; 0.5 by default.
        inplace: accepted as in PyTorch and ignored; no tensor is overwritten.
        rng: NumPy generator of the draws; the generator of `mg.random` by default.
    Raises: ValueError for a p outside 0 to 1; TypeError if the input is not a tensor.
    Example:
        >>> x = mg.tensor([1.0] * 1000)
        >>> layer = nn.Dropout(0.75)
        >>> sorted(set(layer(x).tolist()))
        [0.0, 4.0]
        >>> set(layer.eval()(x).tolist())
        {1.0}

    See: torch.nn.Dropout; Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, 2014;
        CS231n notes, Neural networks 2.
    """

    silence: Callable[..., Tensor] = staticmethod(functional.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False, *, rng: Generator | None = None):
        check_probability(f"{type(self).__name__}: p", p)
        self.p, self.rng = p, rng

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        return self.silence(input, self.p, self.training, rng=self.rng)


class Dropout1d(Dropout):
    """Dropout of whole channels of lines.

    Neighbouring entries are similar, so one could replace another: `Dropout` of a whole channel
    leaves none that could.

    Shapes: (N, C, L) -> the same.
    Args:
        p: the probability that a channel is silenced, from 0 to 1; 0.5 by default.
        inplace: accepted as in PyTorch and ignored; no tensor is overwritten.
        rng: NumPy generator of the draws; the generator of `mg.random` by default.
    Raises: ValueError for a p outside 0 to 1, and for an input without three axes; TypeError if the input is not a
        tensor.
    Example:
        >>> silenced = nn.Dropout1d(0.5)(mg.tensor(np.ones((2, 100, 3))))
        >>> sorted({tuple(line) for example in silenced.tolist() for line in example})
        [(0.0, 0.0, 0.0), (2.0, 2.0, 2.0)]

    See: torch.nn.Dropout1d; Tompson et al., Efficient object localization using convolutional networks, 2015.
    """

    silence = staticmethod(functional.dropout1d)


class Dropout2d(Dropout):
    """Dropout of whole channels of images.

    Neighbouring pixels are similar, so one could replace another: see `Dropout1d`.

    Shapes: (N, C, H, W) -> the same.
    Args:
        p: the probability that a channel is silenced, from 0 to 1; 0.5 by default.
        inplace: accepted as in PyTorch and ignored; no tensor is overwritten.
        rng: NumPy generator of the draws; the generator of `mg.random` by default.
    Raises: ValueError for a p outside 0 to 1, and for an input without four axes; TypeError if the input is not a
        tensor.
    Example:
        >>> silenced = nn.Dropout2d(0.5)(mg.tensor(np.ones((2, 100, 3, 3))))
        >>> sorted(set(silenced.sum(axis=(2, 3)).numpy().ravel().tolist()))
        [0.0, 18.0]

    See: torch.nn.Dropout2d; Tompson et al., Efficient object localization using convolutional networks, 2015.
    """

    silence = staticmethod(functional.dropout2d)
