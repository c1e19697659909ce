"""Layers of transformers: attention, then a small network at each place (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from ..tensor import Tensor
from . import functional
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalisation import LayerNorm
from .parameters import Generator, wants_sizes

__all__ = ["TransformerEncoder", "TransformerEncoderLayer"]


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each added to what went past it.

    Shapes: (L, N, E), or with `batch_first` (N, L, E), or (L, E). Normalised after each sum, or with `norm_first`
    before each part.

    >>> import micrograd_plus as mg
    >>> layer = mg.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(mg.random.normal(size=(4, 10, 8)), is_causal=True).shape
    (4, 10, 8)
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Any], Tensor] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        if isinstance(activation, str) and activation not in ("relu", "gelu"):
            raise ValueError(f"TransformerEncoderLayer: activation is 'relu', 'gelu' or a function, got {activation!r}")
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, rng=rng, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias, rng=rng, **place)
        self.dropout = Dropout(dropout, rng=rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, rng=rng, **place)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.dropout1, self.dropout2 = Dropout(dropout, rng=rng), Dropout(dropout, rng=rng)
        self.norm_first = norm_first
        self.activation = getattr(functional, activation) if isinstance(activation, str) else activation

    def forward(
        self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Tensor:
        """The shape of the input. Masks as in `MultiheadAttention`."""
        masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        if self.norm_first:
            src = src + self._gather(self.norm1(src), masks)
            return src + self._think(self.norm2(src))
        src = self.norm1(src + self._gather(src, masks))
        return self.norm2(src + self._think(src))

    def _gather(self, x: Tensor, masks: dict[str, Any]) -> Tensor:
        """What each place gathers from the others."""
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **masks)[0])

    def _think(self, x: Tensor) -> Tensor:
        """What each place makes of it by itself."""
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """So many layers one after the other, each a copy of `encoder_layer` to start with, and `norm` after the last.

    >>> import micrograd_plus as mg
    >>> layer = mg.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> mg.nn.TransformerEncoder(layer, num_layers=3)(mg.random.normal(size=(4, 10, 8))).shape
    (4, 10, 8)
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None):
        wants_sizes(self, num_layers=num_layers)
        shared = {id(rng): rng for rng in (getattr(part, "rng", None) for part in encoder_layer.modules())}
        # Copies draw in turns from the layer's own generator: from copies of it all would draw the same.
        self.layers = ModuleList(deepcopy(encoder_layer, dict(shared)) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, src: Tensor, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Tensor:
        """The shape of the input. Masks as in `MultiheadAttention`, for every layer."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)
