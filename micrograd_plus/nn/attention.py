"""Attention with its own projections, in several heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..tensor import Tensor
from . import functional, init
from .functional.attention import attention_bias, attention_weights
from .layers import Linear, parameter
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in `num_heads` smaller spaces at once, and a linear layer over what they gathered.

    Shapes: query (N, L, E), key and value (N, S, E), or the same without N; the result is (N, L, E).

    As in PyTorch, and unlike `scaled_dot_product_attention`, a boolean mask is True where a query may NOT
    look. Unlike PyTorch's, the batch is the first axis unless `batch_first=False`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: np.random.Generator | None = None,
    ):
        if embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: embed_dim {embed_dim} does not part into {num_heads} equal heads"
            )
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = (
            embed_dim,
            num_heads,
            dropout,
            batch_first,
        )
        self.rng = rng
        self.in_proj_weight = parameter((3 * embed_dim, embed_dim), dtype, device)
        self.in_proj_bias = parameter((3 * embed_dim,), dtype, device) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, device=device, dtype=dtype, rng=rng)
        init.xavier_uniform_(self.in_proj_weight, rng=rng)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What was gathered, and how much each query looked at each key: (N, L, S), or None if not needed.

        `key_padding_mask` (N, S) says which keys are only padding, `attn_mask` (L, S), or (N * heads, L, S),
        where a query may not look: True, or a number to be added to its score. `is_causal` alone makes the
        mask that hides what comes later. Without `average_attn_weights` the weights are (N, heads, L, S).
        """
        batched = query.ndim == 3
        query, key, value = (self._batch_first(x) for x in (query, key, value))
        q, k, v = (self._heads(x, number) for number, x in enumerate((query, key, value)))
        bias = self._bias(q, k, attn_mask, key_padding_mask, is_causal)
        rate = self.dropout if self.training else 0.0
        weights = attention_weights(q, k, bias) if need_weights else None
        if weights is None:
            gathered = functional.scaled_dot_product_attention(q, k, v, bias, dropout_p=rate, rng=self.rng)
        else:
            weights = functional.dropout(weights, rate, rng=self.rng)
            gathered = ops.matmul(weights, v)
        out = self.out_proj(ops.swapaxes(gathered, axis1=1, axis2=2).reshape(query.shape))
        if weights is not None and average_attn_weights:
            weights = ops.mean(weights, axis=1)
        if not batched:
            return out[0], weights if weights is None else weights[0]
        return (out if self.batch_first else ops.swapaxes(out, axis1=0, axis2=1)), weights

    def _batch_first(self, x: Tensor) -> Tensor:
        """The axes in the order (N, length, E)."""
        if x.ndim not in (2, 3) or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"MultiheadAttention: got shape {x.shape}, expected (N, length, {self.embed_dim}) or "
                f"(length, {self.embed_dim})"
            )
        if x.ndim == 2:
            return ops.expand_dims(x, axis=0)
        return x if self.batch_first else ops.swapaxes(x, axis1=0, axis2=1)

    def _heads(self, x: Tensor, number: int) -> Tensor:
        """Queries (0), keys (1) or values (2) in the space of each head: (N, heads, length, E / heads)."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        projected = functional.linear(x, self.in_proj_weight[rows], bias)
        apart = projected.reshape(*x.shape[:2], self.num_heads, self.embed_dim // self.num_heads)
        return ops.swapaxes(apart, axis1=1, axis2=2)

    def _bias(
        self, query: Tensor, key: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool
    ) -> Any:
        """Both masks as numbers to be added to the scores; None where every query may look everywhere."""
        if attn_mask is not None:
            is_causal = False  # PyTorch's is_causal is a hint that attn_mask is causal; it adds nothing
            if attn_mask.ndim == 3:
                attn_mask = attn_mask.reshape(-1, self.num_heads, *attn_mask.shape[1:])
        bias = attention_bias(query, key, _allowed(attn_mask), is_causal)
        if key_padding_mask is None:
            return bias
        if key_padding_mask.shape not in ((query.shape[0], key.shape[2]), (key.shape[2],)):
            raise ValueError(
                f"MultiheadAttention: key_padding_mask has shape {key_padding_mask.shape}, expected "
                f"{(query.shape[0], key.shape[2])}: one entry for each key"
            )
        padding = attention_bias(
            query, key, _allowed(key_padding_mask.reshape(-1, 1, 1, key.shape[2])), False
        )
        return padding if bias is None else bias + padding

    def extra_repr(self) -> str:
        """The sizes."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _allowed(mask: Any) -> Any:
    """A mask as `scaled_dot_product_attention` reads it: True where a query may look."""
    return ~mask if mask is not None and mask.dtype.kind == "b" else mask
