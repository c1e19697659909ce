"""Attention (Vaswani et al. 2017)."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from ... import ops
from ...backends import devices
from ...backends.shapes import float_dtype
from ...tensor import Tensor
from .noise import dropout
from .shapes import constant_like, plain

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False, *, rng: np.random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Compute scaled dot-product attention: means of values, weighted by the similarity of query and key.

    attention = softmax(query @ keyᵀ · scale + bias) @ value, the softmax over the S keys.

    A query with every key masked returns 0 and has gradient 0.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, V) -> (..., L, V).
    Args:
        query: a tensor, what each of L places asks for.
        key: a tensor, what each of S places offers.
        value: a tensor, what is gathered from each of them.
        attn_mask: broadcasts to (..., L, S): booleans, True where a query may look, or numbers, the bias that is added
            to the scores. None by default: everywhere.
        dropout_p: the probability with which each weight is silenced (the rest is divided by 1 - dropout_p); 0 by
            default, and always in effect: leave it at 0 when not training.
        is_causal: lets each query look at its own place and those before it, instead of attn_mask; False by default.
        scale: what scores are multiplied by; 1 / √E by default.
        enable_gqa: lets several heads of queries (axis -3) share one of keys and values (grouped-query attention); the
            heads of queries are a multiple of theirs. False by default.
        rng: draws the dropout; the generator of mg.random by default.
    Returns: a tensor (..., L, V) of the dtype of the inputs.
    Raises: ValueError if shapes do not fit, attn_mask and is_causal are both given, or dropout_p is not a probability;
        TypeError if any of them is not a tensor (attn_mask may be an array).
    Example:
        >>> x = mg.tensor([[1.0], [1.0]])
        >>> F.scaled_dot_product_attention(x, x, mg.tensor([[2.0], [4.0]]), is_causal=True).tolist()
        [[2.0], [3.0]]

    See: torch.nn.functional.scaled_dot_product_attention; Vaswani et al., Attention is all you need, 2017; Ainslie et
        al., GQA, 2023.
    """
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    _refuse_shapes(query, key, value)
    bias = attention_bias(query, key, attn_mask, is_causal)
    if dropout_p == 0:
        return ops.scaled_dot_product_attention(query, key, value, bias, scale=scale)
    weights = attention_weights(query, key, bias, scale)
    return ops.matmul(dropout(weights, dropout_p, rng=rng), value)


def attention_weights(query: Any, key: Any, bias: Any = None, scale: float | None = None) -> Tensor:
    """Return the attention weights, (..., L, S); each row sums to 1, or to 0 if every key is masked."""
    scores = ops.matmul(query, ops.mT(key)) * (1 / sqrt(query.shape[-1]) if scale is None else scale)
    if bias is None:
        return ops.softmax(scores)
    sees = ops.any(bias > -inf, axis=-1, keepdims=True)
    return ops.softmax(ops.where(sees, scores + bias, scores)) * ops.astype(sees, dtype=scores.dtype)


def attention_bias(query: Any, key: Any, attn_mask: Any, is_causal: bool) -> Any:
    """Return a mask of either kind as numbers to add to the scores, or None if nothing is masked."""
    if is_causal and attn_mask is not None:
        raise ValueError("attention: give attn_mask or is_causal=True, not both; put the causal part in the mask")
    library = devices.device_of(plain(query)).library
    if is_causal:
        attn_mask = library.tri(query.shape[-2], key.shape[-2], dtype=bool)
    if attn_mask is None:
        return None
    if attn_mask.dtype.kind == "b":
        return constant_like(library.where(plain(attn_mask), 0.0, -inf), query)
    return attn_mask if attn_mask.dtype == query.dtype else attn_mask.astype(float_dtype(query))


def _shared_heads(query: Any, shared: Any) -> Any:
    """Repeat keys or values so that each head of queries has its own."""
    heads, given = query.shape[-3], shared.shape[-3]
    if heads % given:
        raise ValueError(f"attention: {heads} heads of queries cannot share {given} of keys, no divisor")
    return ops.repeat(shared, repeats=heads // given, axis=-3)


def _refuse_shapes(query: Any, key: Any, value: Any) -> None:
    fits = min(query.ndim, key.ndim, value.ndim) >= 2
    if not fits or query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"attention: query {query.shape} and key {key.shape} must agree in their last axis, key and "
            f"value {value.shape} in the one before it"
        )
