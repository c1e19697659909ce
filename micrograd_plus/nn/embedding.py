"""Tables of vectors, one for each word."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor
from . import functional, init
from .functional.shapes import constant_like
from .module import Module
from .parameters import Generator, parameter, wants_sizes

__all__ = ["Embedding"]


class Embedding(Module):
    """A table with one row for each word: whole numbers (...) to vectors (..., embedding_dim).

    Rows start as a bell curve. The row `padding_idx` starts as 0 and stays 0: it stands for no word. With `max_norm`,
    rows that are longer are shortened as they are looked up; their length is the `norm_type`-norm.

    >>> import micrograd_plus as mg
    >>> table = mg.nn.Embedding(100, 8)
    >>> table(mg.tensor([[3, 1, 4], [1, 5, 9]])).shape
    (2, 3, 8)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, *, device: str = "cpu", dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        wants_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
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
        """A layer with a table that is there already, (words, width); unless `freeze` is false it is not trained."""
        table = embeddings if isinstance(embeddings, Tensor) else Tensor.constant(embeddings, "from_pretrained")
        if table.ndim != 2:
            raise ValueError(f"from_pretrained: a table has shape (words, width), got {table.shape}")
        words, width = table.shape
        layer = cls(words, width, padding_idx, max_norm, norm_type, device=table.device, dtype=table.dtype)
        layer.weight.assign(table.detach())
        layer.requires_grad_(not freeze)
        return layer

    def forward(self, input: Any) -> Tensor:
        """Shape (..., embedding_dim)."""
        return functional.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)
