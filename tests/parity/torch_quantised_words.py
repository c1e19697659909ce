"""Quantisation, and splats, in PyTorch's words. Straight through: x + (rounded - x).detach() has the value of the one
and the gradient of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def quantised_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def within(x: Any, low: int, high: int) -> Any:
        nearest = torch.round(x)
        return (nearest >= low) & (nearest <= high)

    def round_within(x: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
        place = x / scale + zero_point
        kept = torch.where(within(place, low, high), place, place.detach())
        return kept + (torch.clamp(torch.round(place), low, high) - kept).detach()

    def fake_quantize(x: Any, scale: Any, zero_point: Any, *, low: int, high: int, estimator: str) -> Any:
        place = x / scale + zero_point
        rounded = (torch.clamp(torch.round(place), low, high) - zero_point) * scale
        half = (high - low) / 2
        bell = half * scale * torch.tanh((place - (low + high) / 2) / half)
        kept = {"identity": x, "clipped": torch.where(within(place, low, high), x, x.detach()), "tanh": bell}[estimator]
        return kept + (rounded - kept).detach()

    class Learned(torch.autograd.Function):
        """Learned step size as in the paper; PyTorch derives second derivatives from `backward`."""

        @staticmethod
        def forward(context: Any, x: Any, step: Any, low: int, high: int, grad_factor: float) -> Any:
            context.save_for_backward(x, step)
            context.options = low, high, grad_factor
            return torch.clamp(torch.round(x / step), low, high) * step

        @staticmethod
        def backward(context: Any, *received: Any) -> Any:
            (x, step), (low, high, grad_factor) = context.saved_tensors, context.options
            inside = within(x / step, low, high)
            moved = torch.clamp(torch.round(x / step), low, high) - torch.where(inside, x / step, 0.0)
            to_step = (received[0] * moved * grad_factor).sum_to_size(step.shape)
            return received[0] * inside, to_step, None, None, None

    def fake_quantize_lsq(x: Any, step: Any, *, low: int, high: int, grad_factor: float) -> Any:
        return Learned.apply(x, torch.as_tensor(step, dtype=x.dtype), low, high, grad_factor)

    def matmul(a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero: Any, b_zero: Any, *, low: int, high: int) -> Any:
        left = round_within(a, a_scale, a_zero, low, high) - a_zero
        right = round_within(b, b_scale, b_zero, low, high) - b_zero
        return (left * a_scale) @ (right * b_scale)

    def conv2d(
        x: Any, weight: Any, x_scale: Any, weight_scale: Any, x_zero: Any, bias: Any, *, low: int, high: int, **how: Any
    ) -> Any:
        image = (round_within(x, x_scale.detach(), x_zero.detach(), low, high) - x_zero.detach()) * x_scale.detach()
        scale = weight_scale.detach()[:, None, None, None]
        return F.conv2d(image, round_within(weight, scale, 0, low, high) * scale, bias, **how)

    return {
        "quantize": round_within,
        "dequantize": lambda q, scale, zero_point: (q - zero_point) * scale,
        "fake_quantize": fake_quantize,
        "fake_quantize_lsq": fake_quantize_lsq,
        "quantized_matmul": matmul,
        "quantized_conv2d": conv2d,
        **stored_words(),
    }


def stored_words() -> dict[str, Callable[..., Any]]:
    """Return the versions for weights that are stored as integers."""

    def blocks(codes: Any, scale: Any, zero_point: Any = None, *, block: int) -> Any:
        shifted = codes if zero_point is None else codes - zero_point.repeat_interleave(block, -2)
        return shifted * scale.repeat_interleave(block, -2)

    def product(x: Any, codes: Any, scale: Any, zero_point: Any = None, *, block: int) -> Any:
        return x @ blocks(codes, scale, zero_point, block=block)

    def by_expert(x: Any, codes: Any, scale: Any, experts: Any, zero_point: Any = None, *, block: int) -> Any:
        return (x[:, None] @ blocks(codes, scale, zero_point, block=block)[experts])[:, 0]

    return {
        "dequantize_blocks": blocks,
        "dequantize_matmul": product,
        "dequantize_grouped_matmul": by_expert,
    }


def splat_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    """Return the versions for ellipses and layers; PyTorch derives their gradients."""

    def gaussian_alpha(
        across: Any, down: Any, conic: Any, opacity: Any, *, cutoff: float = 1 / 255, ceiling: float = 0.99
    ) -> Any:
        places = torch.stack(torch.broadcast_tensors(across[:, None, :], down[:, :, None]), -1)
        matrix = torch.stack([conic[:, :2], conic[:, 1:]], 1)
        covered = opacity[:, None, None] * torch.exp(-torch.einsum("ghwi,gij,ghwj->ghw", places, matrix, places) / 2)
        return torch.where(covered < cutoff, 0.0, covered).clamp(max=ceiling)

    def blend(alpha: Any, colours: Any, background: Any, *, stop: float = 1e-4) -> Any:
        light, picture = torch.ones_like(alpha[0]), 0.0
        for layer, colour in zip(alpha, colours, strict=True):
            seen = torch.where(light >= stop, layer, 0.0)
            picture = picture + (light * seen)[:, None] * colour
            light = light * (1 - seen)
        return picture + light[:, None] * background

    return {"gaussian_alpha": gaussian_alpha, "blend": blend}
