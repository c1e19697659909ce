"""Embedding tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor
from . import functional, init
from .functional.shapes import constant_like
from .module import Module
from .parameters import Generator, check_sizes, parameter

__all__ = ["Embedding"]


class Embedding(Module):
    """Embedding: a learned table that holds one vector for each word number.

    Rows start from a normal distribution of mean 0 and variance 1.

    Shapes: integers (...), weight (num_embeddings, embedding_dim) -> (..., embedding_dim).
    Args:
        num_embeddings: how many words there are, at least 1.
        embedding_dim: the length of a vector, at least 1.
        padding_idx: the row of a word that stands for none, counted from the end if negative: it starts as 0 and
            receives no gradient. None by default.
        max_norm: rows that are longer are shortened to it, in the table, as they are looked up; None (default) for no
            bound.
        norm_type: the exponent of the norm that measures them; 2 by default.
        device: "cpu" (default) or "cuda", where the table lives.
        dtype: of the table; float64 by default.
        rng: a NumPy generator that draws the first values; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1 and a `padding_idx` that is no row; when called, IndexError for a number
        outside 0 to num_embeddings - 1, TypeError for numbers that are not whole.
    Example:
        >>> table = nn.Embedding(100, 8)
        >>> table([[3, 1, 4], [1, 5, 9]]).shape
        (2, 3, 8)
        >>> nn.Embedding.from_pretrained([[1.0, 2.0], [3.0, 4.0]])([1, 0]).tolist()
        [[3.0, 4.0], [1.0, 2.0]]

    See: torch.nn.Embedding; Bengio, Ducharme, Vincent and Jauvin, A neural probabilistic language model, 2003.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, *, device: str = "cpu", dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        check_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx {padding_idx} is not one of {num_embeddings} rows")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = parameter((num_embeddings, embedding_dim), dtype, device)
        init.normal_(self.weight, rng=rng)
        if self.padding_idx is not None:
            used = np.arange(num_embeddings)[:, None] != self.padding_idx
            self.weight.assign(self.weight.detach() * constant_like(used, self.weight))

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0,
    ) -> Embedding:  # fmt: skip
        """Create an embedding from an existing table.

        Args:
            embeddings: the table (words, width), a tensor or what makes one, of floats; it is copied.
            freeze: True (default) for a table that is not trained.
            padding_idx, max_norm, norm_type: as for `Embedding`.
        Returns: an `Embedding` of the table's size, dtype and device.
        Raises: ValueError for a table without two axes; TypeError for one of integers.
        """
        table = embeddings if isinstance(embeddings, Tensor) else Tensor.constant(embeddings, "from_pretrained")
        if table.ndim != 2:
            raise ValueError(f"from_pretrained: a table must have shape (words, width), got {table.shape}")
        words, width = table.shape
        layer = cls(words, width, padding_idx, max_norm, norm_type, device=table.device, dtype=table.dtype)
        layer.weight.assign(table.detach())
        layer.requires_grad_(not freeze)
        return layer

    def forward(self, input: Any) -> Tensor:
        """Return the vectors, of shape (..., embedding_dim)."""
        return functional.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)
