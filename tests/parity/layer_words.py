"""PyTorch versions of layers and sequence models: see `torch_words`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NONE = {
    "resample": "a part of interpolate and adaptive_avg_pool2d, whose own samples compare it",
    "unresample": "the rule of resample",
}
"""Operations that PyTorch does not have, each with the reason."""


def layer_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    """Return functions of torch tensors by the name of the operation here."""
    return {
        **window_words(torch, F), **normalisation_words(torch, F), **transformer_words(torch, F),
        **attention_words(torch, F), **recurrence_words(torch, F), **state_words(torch, F),
    }  # fmt: skip


def window_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def interpolate(x: Any, size: Any, mode: str = "nearest") -> Any:
        if mode == "nearest":
            return F.interpolate(x, size, mode="nearest")
        return F.interpolate(x, size, mode="bilinear", align_corners=mode == "corners")

    return {
        "conv1d": F.conv1d,
        "conv3d": F.conv3d,
        "conv_transpose1d": F.conv_transpose1d,
        "conv_transpose2d": F.conv_transpose2d,
        "max_pool1d": F.max_pool1d,
        "avg_pool1d": F.avg_pool1d,
        "adaptive_avg_pool2d": F.adaptive_avg_pool2d,
        "interpolate": interpolate,
        "pixel_shuffle": F.pixel_shuffle,
        "pixel_unshuffle": F.pixel_unshuffle,
    }


def normalisation_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def channels(values: Any, x: Any) -> Any:
        return values.reshape(-1, *(1,) * (x.ndim - 2))

    def scale_and_shift(x: Any, weight: Any = None, bias: Any = None) -> Any:
        x = x if weight is None else x * channels(weight, x)
        return x if bias is None else x + channels(bias, x)

    def inference(x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
        """Write the formula out, because PyTorch sends no gradient to running statistics."""
        return scale_and_shift((x - channels(mean, x)) / torch.sqrt(channels(variance, x) + eps), weight, bias)

    def rms_norm(x: Any, weight: Any = None, axes: int = 1, eps: float = 1e-6) -> Any:
        return F.rms_norm(x, x.shape[-axes:], weight, eps)

    def layer_norm(x: Any, weight: Any = None, bias: Any = None, axes: int = 1, eps: float = 1e-5) -> Any:
        return F.layer_norm(x, x.shape[-axes:], weight, bias, eps)

    return {
        "scaled_channels": scale_and_shift,
        "rms_norm": rms_norm,
        "batch_norm": lambda x, weight=None, bias=None, eps=1e-5: F.batch_norm(
            x, None, None, weight, bias, training=True, eps=eps
        ),
        "batch_norm_inference": inference,
        "group_norm": lambda x, weight=None, bias=None, num_groups=1: F.group_norm(x, num_groups, weight, bias),
        "instance_norm": lambda x, weight=None, bias=None: F.instance_norm(x, weight=weight, bias=bias),
        "residual_layer_norm": lambda x, residual, *parameters: layer_norm(x + residual, *parameters),
        "residual_rms_norm": lambda x, residual, *parameters: rms_norm(x + residual, *parameters),
    }


def transformer_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def rope(x: Any, angles: Any, interleaved: bool = False) -> Any:
        """Rotate pairs by multiplying complex numbers."""
        pairs = angles.shape[-1]
        turned, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
        apart = turned.unflatten(-1, (pairs, 2) if interleaved else (2, pairs))
        apart = apart if interleaved else apart.transpose(-1, -2)
        numbers = torch.view_as_complex(apart.contiguous()) * torch.polar(torch.ones_like(angles), angles)
        apart = torch.view_as_real(numbers)
        apart = apart if interleaved else apart.transpose(-1, -2)
        return torch.cat([apart.flatten(-2), rest], -1)

    def expert_products(a: Any, b: Any, experts: Any, count: int) -> Any:
        zeros = a.new_zeros(count, a.shape[-1], b.shape[-1])
        return zeros.index_add(0, experts, a[:, :, None] * b[:, None, :])

    return {
        "rope": rope,
        "swiglu": lambda gate, up: F.silu(gate) * up,
        "lora_matmul": lambda x, weight, a, b, scale: F.linear(x, weight + scale * (b @ a)),
        "grouped_matmul": lambda x, weights, experts: torch.bmm(x[:, None], weights[experts])[:, 0],
        "expert_products": expert_products,
    }


def attention_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def soft_cap_attention(
        query: Any, key: Any, value: Any, bias: Any = None, soft_cap: Any = None, scale: Any = None
    ) -> Any:  # fmt: skip
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        scores = scores if soft_cap is None else soft_cap * torch.tanh(scores / soft_cap)
        return torch.softmax(scores if bias is None else scores + bias, -1) @ value

    def attention(
        query: Any, key: Any, value: Any, bias: Any = None, allowed: Any = None, causal: bool = False,
        window: Any = None, **params: Any,
    ) -> Any:  # fmt: skip
        ahead = torch.arange(key.shape[-2]) - torch.arange(query.shape[-2])[:, None]
        hidden = (ahead > 0) & causal | (ahead.abs() >= (key.shape[-2] if window is None else window))
        hidden = hidden if allowed is None else hidden | ~allowed
        mask = torch.zeros(ahead.shape, dtype=query.dtype).masked_fill(hidden, -torch.inf)
        if query.ndim > 3:
            sharing = query.shape[-3] // key.shape[-3]
            key, value = key.repeat_interleave(sharing, -3), value.repeat_interleave(sharing, -3)
        return soft_cap_attention(query, key, value, mask if bias is None else mask + bias, **params)

    def block(x: Any, *parameters: Any, heads: int, causal: bool) -> Any:
        """Use PyTorch's module, whose input is time first."""
        names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
        module = torch.nn.MultiheadAttention(x.shape[-1], heads, batch_first=True, dtype=x.dtype)
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=bool).triu(1) if causal else None
        settings = {"attn_mask": hidden, "need_weights": True}
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, given, (x, x, x), settings)[0]

    def transformer_layer(x: Any, *parameters: Any, heads: int, norm_first: bool) -> Any:
        """Compose PyTorch's module from parts that have second derivatives."""
        gathering, (w1, b1, w2, b2), norms = parameters[:4], parameters[4:8], parameters[8:]

        def norm(x: Any, place: int) -> Any:
            return F.layer_norm(x, x.shape[-1:], norms[2 * place], norms[2 * place + 1])

        def gather(x: Any) -> Any:
            return block(x, *gathering, heads=heads, causal=False)

        def think(x: Any) -> Any:
            return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)

        if norm_first:
            x = x + gather(norm(x, 0))
            return x + think(norm(x, 1))
        x = norm(x + gather(x), 0)
        return norm(x + think(x), 1)

    return {
        "masked_softmax": lambda x, axis=-1: torch.softmax(x, axis),
        "soft_capped_attention": soft_cap_attention,
        "attention": attention,
        "attention_block": block,
        "transformer_layer": transformer_layer,
    }


def recurrence_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def rnn(drive: Any, weight: Any, start: Any = None, nonlinearity: str = "tanh") -> Any:
        state, states = torch.zeros_like(drive[0]) if start is None else start, []
        for each in drive:
            state = getattr(torch, nonlinearity)(each + state @ weight.mT)
            states.append(state)
        return torch.stack(states)

    def gated_recurrence(gate: Any, drive: Any, weight: Any, reverse: bool = False) -> Any:
        state, states = torch.zeros_like(drive[0]), []
        pairs = list(zip(gate, drive, strict=True))
        for g, d in reversed(pairs) if reverse else pairs:
            state = g * (d + state @ weight)
            states.append(state)
        return torch.stack(states[::-1] if reverse else states)

    def matrix_recurrence(matrices: Any, drive: Any, reverse: bool = False) -> Any:
        pairs = list(zip(matrices.unbind(-3), drive.unbind(-3), strict=True))
        state, states = torch.zeros_like(pairs[0][1]), []
        for m, d in reversed(pairs) if reverse else pairs:
            state = state @ m + d
            states.append(state)
        return torch.stack(states[::-1] if reverse else states, -3)

    return {"rnn": rnn, "gated_recurrence": gated_recurrence, "matrix_recurrence": matrix_recurrence}


def state_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def lstm_cell(gates: Any, cell: Any) -> Any:
        """Use PyTorch's cell, with the identity as its weight."""
        width = gates.shape[-1]
        same, none = torch.eye(width, dtype=gates.dtype), gates.new_zeros(width, width // 4)
        return torch.lstm_cell(gates, (torch.zeros_like(cell), cell), same, none)

    def gru_cell(drive: Any, recall: Any, hidden: Any) -> Any:
        """Use PyTorch's cell, with the identity as its weight and the recurrent part as its bias."""
        width = drive.shape[-1]
        same, none = torch.eye(width, dtype=drive.dtype), drive.new_zeros(width, width // 3)
        rows = zip(drive.split(1), hidden.split(1), recall, strict=True)
        return torch.cat([torch.gru_cell(d, h, same, none, None, r) for d, h, r in rows])

    def selective_scan(x: Any, delta: Any, A: Any, B: Any, C: Any) -> Any:
        delta = delta.expand_as(x)
        state, shown = x.new_zeros(*x.shape[:-2], x.shape[-1], A.shape[-1]), []
        for t in range(x.shape[-2]):
            step = delta[..., t, :, None]
            state = torch.exp(step * A) * state + step * B[..., t, None, :] * x[..., t, :, None]
            shown.append((state @ C[..., t, :, None])[..., 0])
        return torch.stack(shown, -2)

    def gated_delta_net(query: Any, key: Any, value: Any, decay: Any, rate: Any) -> Any:
        """Update the memory step by step by the error of its prediction."""
        state, shown = value.new_zeros(*value.shape[:-2], value.shape[-1], key.shape[-1]), []
        for t in range(key.shape[-2]):
            faded = decay[..., t, None, None] * state
            error = value[..., t, :, None] - faded @ key[..., t, :, None]
            state = faded + rate[..., t, None, None] * error * key[..., t, None, :]
            shown.append((state @ query[..., t, :, None])[..., 0])
        return torch.stack(shown, -2)

    return {
        "lstm_cell": lstm_cell,
        "gru_cell": gru_cell,
        "selective_scan": selective_scan,
        "gated_delta_net": gated_delta_net,
    }
