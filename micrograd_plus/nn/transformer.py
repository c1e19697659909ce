"""Transformer layers (Vaswani et al. 2017)."""

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
from .parameters import Generator, check_sizes

__all__ = ["TransformerEncoder", "TransformerEncoderLayer"]


class TransformerEncoderLayer(Module):
    """Transformer encoder layer: self-attention, then two linear layers at each place.

    Each is added to what went past it:

        x = norm1(x + attention(x)),  x = norm2(x + linear2(activation(linear1(x))))

    and with `norm_first` x = x + attention(norm1(x)), x = x + linear2(activation(linear1(norm2(x)))). It is called as
    layer(src, src_mask=None, src_key_padding_mask=None, is_causal=False), masks as in `MultiheadAttention`.

    Shapes: (L, N, E), with `batch_first` (N, L, E), or (L, E) -> the same.
    Args:
        d_model: E, the width.
        nhead: how many heads of attention, a divisor of E.
        dim_feedforward: the width between the two linear layers; 2048 by default.
        dropout: the probability of dropout of weights, inner units and both sums' parts while training; 0.1 by default.
        activation: "relu" (default), "gelu", or a function of a tensor.
        layer_norm_eps: the eps of both `LayerNorm`s; 1e-5 by default.
        batch_first: whether examples come before places; False by default.
        norm_first: whether parts are normalised before, rather than sums after; False by default.
        bias: whether linear layers and normalisations have biases; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values and for dropout; the generator of `mg.random` by default.
    Raises: ValueError for another activation, heads that do not divide E, a size below 1, or a dropout that is not a
        probability; when called, ValueError for an input or masks of other shapes; TypeError if the input is not a
        tensor.
    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> layer(mg.random.normal(size=(4, 10, 8)), is_causal=True).shape
        (4, 10, 8)

    See: torch.nn.TransformerEncoderLayer; Vaswani et al., Attention is all you need, 2017.
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Any], Tensor] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        if isinstance(activation, str) and activation not in ("relu", "gelu"):
            name = type(self).__name__
            raise ValueError(f"{name}: activation must be 'relu', 'gelu' or a function, got {activation!r}")
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
        """Return a tensor with the shape of the input. Masks are as in `MultiheadAttention`."""
        masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        if self.norm_first:
            src = src + self._gather(self.norm1(src), masks)
            return src + self._think(self.norm2(src))
        src = self.norm1(src + self._gather(src, masks))
        return self.norm2(src + self._think(src))

    def _gather(self, x: Tensor, masks: dict[str, Any]) -> Tensor:
        """Apply the attention."""
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **masks)[0])

    def _think(self, x: Tensor) -> Tensor:
        """Apply the feed-forward network."""
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """Transformer encoder: a sequence of copies of one layer.

    It is called as encoder(src, mask=None, src_key_padding_mask=None, is_causal=False); every layer has the same masks.

    Shapes: as for the layer -> the same.
    Args:
        encoder_layer: the layer of which every other is a copy to start with; it is not one of them itself.
        num_layers: how many, at least 1.
        norm: a module that follows the last layer; None by default.
    Raises: ValueError for no layers; when called, as the layer.
    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> nn.TransformerEncoder(layer, num_layers=3)(mg.random.normal(size=(4, 10, 8))).shape
        (4, 10, 8)

    See: torch.nn.TransformerEncoder; Vaswani et al., Attention is all you need, 2017.
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None):
        check_sizes(self, num_layers=num_layers)
        shared = {id(rng): rng for rng in (getattr(part, "rng", None) for part in encoder_layer.modules())}
        # Copies draw in turns from the layer's own generator: from copies of it all would draw the same.
        self.layers = ModuleList(deepcopy(encoder_layer, dict(shared)) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, src: Tensor, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Tensor:
        """Return a tensor with the shape of the input. Masks are as in `MultiheadAttention`, for every layer."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)
