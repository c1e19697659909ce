"""Multi-head attention with learned projections."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional, init
from .functional.dot_product_attention import attention_bias, attention_weights
from .functional.shapes import check_probability
from .linear import Linear
from .module import Module
from .parameters import Generator, check_sizes, parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Multi-head attention: weighted means of values, by the similarity of queries and keys.

    Each head h has its own projections into E / heads dimensions:

        head_h = softmax(Q_h K_hᵀ / √(E / heads) + mask) V_h
        result = [head_1, head_2, ...] W_outᵀ + b_out

    It is called as layer(query, key, value, ...), see `forward` for masks. As in PyTorch, and unlike
    `scaled_dot_product_attention`, a boolean mask is True where a query may NOT look. The projections of queries, keys
    and values start as `init.xavier_uniform_`, the last one as `Linear`, biases as 0.

    Shapes: query (L, N, E), key (S, N, kdim), value (S, N, vdim), with `batch_first` N first, or all without N -> the
        result in the shape of the query, and the weights (N, L, S).
    Args:
        embed_dim: E, the width of queries and of the result.
        num_heads: how many heads, a divisor of E.
        dropout: the probability by which weights are silenced while training; 0 by default.
        bias: whether the projections have biases; True by default.
        kdim, vdim: the widths of keys and values; E by default.
        batch_first: whether examples come before places; False by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values and for dropout; the generator of `mg.random` by default.
    Raises: ValueError for heads that do not divide E, a size below 1, or a dropout that is not a probability; when
        called, ValueError for inputs or masks of other shapes; TypeError if the input is not a tensor.
    Example:
        >>> layer, x = nn.MultiheadAttention(8, num_heads=2, batch_first=True), mg.random.normal(size=(4, 10, 8))
        >>> gathered, weights = layer(x, x, x, is_causal=True)
        >>> gathered.shape, weights.shape
        ((4, 10, 8), (4, 10, 10))
        >>> mg.round(weights.sum(axis=-1), 6)[0].tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]

    See: torch.nn.MultiheadAttention; Vaswani et al., Attention is all you need, 2017.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, *, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        self.kdim, self.vdim = (embed_dim if width is None else width for width in (kdim, vdim))
        check_sizes(self, embed_dim=embed_dim, num_heads=num_heads, kdim=self.kdim, vdim=self.vdim)
        if embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} does not part into {num_heads} equal heads")
        check_probability("MultiheadAttention: dropout", dropout)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.dropout, self.batch_first, self.rng = dropout, batch_first, rng
        if self.kdim == self.vdim == embed_dim:  # then PyTorch keeps the three projections in one matrix
            self.in_proj_weight: Any = parameter((3 * embed_dim, embed_dim), dtype, device)
        else:
            self.in_proj_weight = None
            self.q_proj_weight = parameter((embed_dim, embed_dim), dtype, device)
            self.k_proj_weight = parameter((embed_dim, self.kdim), dtype, device)
            self.v_proj_weight = parameter((embed_dim, self.vdim), dtype, device)
        for weight in self.parameters():
            init.xavier_uniform_(weight, rng=rng)
        self.in_proj_bias = parameter((3 * embed_dim,), dtype, device) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, device=device, dtype=dtype, rng=rng)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Return the output, and the attention weights of each query for each key.

        Args:
            query, key, value: see the class.
            key_padding_mask: (N, S), or (S,) without N, which keys are only padding: True, or a number to be added to
                the scores.
            need_weights: whether weights are returned; without, attention is one operation and they are None.
            attn_mask: (L, S) or (N · heads, L, S), where a query may not look: True, or a number to be added to the
                score.
            average_attn_weights: whether weights are the mean over heads (N, L, S), or those of each (N, heads, L, S).
            is_causal: hide what comes later; it counts only without `attn_mask`.
        Returns: the result in the shape of the query, and the weights or None.
        Raises: ValueError for inputs or masks of other shapes.
        """
        batched = query.ndim == 3
        self._refuse_shapes(query, key, value)
        q, k, v = (self._heads(self._batch_first(x), number) for number, x in enumerate((query, key, value)))
        bias = self._bias(q, k, attn_mask, key_padding_mask, is_causal)
        rate, weights = self.dropout if self.training else 0.0, None
        if need_weights:
            weights = functional.dropout(attention_weights(q, k, bias), rate, rng=self.rng)
            gathered = ops.matmul(weights, v)
            weights = ops.mean(weights, axis=1) if average_attn_weights else weights
        else:
            gathered = functional.scaled_dot_product_attention(q, k, v, bias, dropout_p=rate, rng=self.rng)
        together = ops.swapaxes(gathered, axis1=1, axis2=2)
        out = self.out_proj(together.reshape(*together.shape[:2], self.embed_dim))
        if not batched:
            return out[0], weights if weights is None else weights[0]
        return (out if self.batch_first else ops.swapaxes(out, axis1=0, axis2=1)), weights

    def _refuse_shapes(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        """Raise ValueError for missing axes and for batches that would silently broadcast."""
        shapes, widths = [x.shape for x in (query, key, value)], [self.embed_dim, self.kdim, self.vdim]
        examples = [shape[0 if self.batch_first else 1] if len(shape) == 3 else None for shape in shapes]
        fits = all(len(shape) in (2, 3) for shape in shapes) and [shape[-1] for shape in shapes] == widths
        if not fits or len(set(examples)) > 1 or shapes[1][:-1] != shapes[2][:-1]:
            axes = "N, length" if self.batch_first else "length, N"
            wanted = ", ".join(f"({axes}, {width})" for width in widths)
            raise ValueError(
                f"MultiheadAttention: got query {shapes[0]}, key {shapes[1]} and value {shapes[2]}, expected {wanted}, "
                f"or all of them without N; key and value have one length, and all the same N"
            )

    def _batch_first(self, x: Tensor) -> Tensor:
        """Return a tensor with its axes in the order (N, length, E)."""
        if x.ndim == 2:
            return ops.expand_dims(x, axis=0)
        return x if self.batch_first else ops.swapaxes(x, axis1=0, axis2=1)

    def _heads(self, x: Tensor, number: int) -> Tensor:
        """Return queries (0), keys (1) or values (2) for each head: (N, heads, length, E / heads)."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        if self.in_proj_weight is not None:
            weight = self.in_proj_weight[rows]
        else:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[number]
        projected = functional.linear(x, weight, bias)
        apart = projected.reshape(*x.shape[:2], self.num_heads, self.embed_dim // self.num_heads)
        return ops.swapaxes(apart, axis1=1, axis2=2)

    def _bias(self, query: Tensor, key: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool) -> Any:
        """Return both masks as numbers to add to the scores, or None if nothing is masked."""
        examples, heads, places, keys = *query.shape[:3], key.shape[2]
        hidden = self._mask_of_shape("attn_mask", attn_mask, (places, keys), (examples * heads, places, keys))
        padding = self._mask_of_shape("key_padding_mask", key_padding_mask, (examples, keys), (keys,))
        if hidden is not None:
            is_causal = False  # PyTorch's is_causal is a hint that attn_mask is causal; it adds nothing
            hidden = hidden.reshape(-1, heads if hidden.ndim == 3 else 1, places, keys)
        bias = attention_bias(query, key, _boolean_mask(hidden), is_causal)
        if padding is None:
            return bias
        padding = attention_bias(query, key, _boolean_mask(padding.reshape(-1, 1, 1, keys)), False)
        return padding if bias is None else bias + padding

    def _mask_of_shape(self, name: str, mask: Any, *shapes: tuple[int, ...]) -> Any:
        """Return a mask that has one of these shapes, or None."""
        mask = Tensor.constant(mask, name) if isinstance(mask, list) else mask
        if mask is not None and mask.shape not in shapes:
            expected = " or ".join(map(str, shapes))
            raise ValueError(f"MultiheadAttention: {name} has shape {mask.shape}, expected {expected}")
        return mask


def _boolean_mask(mask: Any) -> Any:
    """Convert a mask to the form of `scaled_dot_product_attention`: True where a query may attend."""
    return ~mask if mask is not None and mask.dtype.kind == "b" else mask
