"""PyTorch versions of every operation: its name here, and a function of torch tensors with its parameters.

PyTorch is imported when the table is made, so that tests can be collected without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .layer_words import NONE as NO_LAYER, layer_words
from .torch_linalg_words import linear_algebra_words, wave_words
from .torch_quantised_words import quantised_words, splat_words

NONE = {
    "betainc": "PyTorch has none",
    **dict.fromkeys(
        ("beta", "betaln", "digamma", "gamma", "gammaln", "polygamma"),
        "PyTorch's trigamma has nine digits; test_special_functions compares them with SciPy's",
    ),
    **dict.fromkeys(("j0", "j1", "y0", "y1"), "PyTorch has no gradient of them"),
    **dict.fromkeys(("iv", "ive", "jv", "yn"), "PyTorch has orders 0 and 1 alone; autograd's are compared with"),
    "ungroup_images": "a reshape inside conv2d, whose own samples compare it",
    "count_mirror_images": "a part of the rule of irfft, whose own samples compare it",
    "axes_from_last": "the reverse of axes_to_last",
    "cbrt": "PyTorch has no cube root of negative numbers",
    "as_channels": "a reshape inside conv2d, whose own samples compare it",
    "dropout": "PyTorch draws the mask inside; here it is an input",
    "expand_axes": "a reshape inside quantile, whose own samples compare it",
    "group_columns": "a reshape inside conv2d, whose own samples compare it",
    "group_images": "a reshape inside conv2d, whose own samples compare it",
    "inverse_mills": "the derivative of log_ndtr; test_edge_numbers compares it",
    "inverse_mills_excess": "a part of the second derivative of log_ndtr; test_edge_numbers compares it",
    "kernel_rows": "a reshape inside conv2d, whose own samples compare it",
    "product_of_others": "the rule of prod, whose own samples compare it",
    "split_columns": "a reshape inside avg_pool2d, whose own samples compare it",
    "squeeze_axes": "a reshape inside logsumexp, whose own samples compare it",
    "sum_repeats": "the rule of repeat, whose own samples compare it",
    "sum_tiles": "the rule of tile, whose own samples compare it",
    "undiag": "the rule of diag, whose own samples compare it",
    "ungroup_columns": "a reshape inside conv2d, whose own samples compare it",
    "unpad": "the rule of pad, whose own samples compare it",
    "window_columns": "the rule of window_sums, inside avg_pool2d, whose own samples compare it",
    "window_sums": "a part of avg_pool2d, whose own samples compare it",
    **NO_LAYER,
}
"""Operations that PyTorch does not have, each with the reason."""

SAME_NAME = (
    "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil", "conj",
    "copysign", "cos", "cosh", "divide", "erf", "erfc", "exp", "expm1", "floor", "fmod", "hypot",
    "lerp", "log", "log10", "log1p", "log2", "logaddexp", "maximum", "minimum", "moveaxis", "multiply",
    "negative", "positive", "real", "reciprocal", "remainder", "rsqrt", "sigmoid", "sin", "sinh",
    "sqrt", "square", "subtract", "tan", "tanh", "trunc", "where",
    "deg2rad", "exp2", "fmax", "fmin", "logaddexp2", "rad2deg", "sinc",
)  # fmt: skip
"""Functions that PyTorch has under the same name, with parameters of the same names."""


def words() -> dict[str, Callable[..., Any]]:
    """Return all PyTorch versions, by the operation's name here."""
    import torch

    table = {name: getattr(torch, name) for name in SAME_NAME}
    parts = [elementwise_words, reduction_words, scan_words, axis_words, layout_words, indexing_words]
    parts += [special_words]
    for part in [*parts, network_words, layer_words, linear_algebra_words, wave_words, quantised_words, splat_words]:
        table.update(part(torch, torch.nn.functional))
    return table


def elementwise_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    return {
        "add": torch.add,
        "cross": lambda a, b: torch.linalg.cross(*torch.broadcast_tensors(a, b)),
        # PyTorch's own has no rule, because its slope is 0
        "floor_divide": lambda a, b: torch.floor(a / b),
        "nan_to_num": torch.nan_to_num,
        "power": torch.pow,
        "affine": lambda x, scale, shift: torch.addcmul(shift, scale, x),
        "addcmul": torch.addcmul,
        "clip": lambda x, low=None, high=None: torch.clamp(x, low, high),
        "absolute": torch.abs,
        "round": torch.round,
        "sign": torch.sgn,
        "imag": lambda x: x.imag if x.is_complex() else torch.zeros_like(x),
        "astype": lambda x, dtype: x.to(getattr(torch, dtype.name)),
        "relu": F.relu,
        "leaky_relu": lambda x, slope=0.01: F.leaky_relu(x, slope),
        "elu": F.elu,
        "selu": F.selu,
        # PyTorch's own divides by an alpha that it keeps in single precision
        "celu": lambda x, alpha=1.0: torch.where(x > 0, x, alpha * torch.expm1(x / alpha)),
        "relu6": F.relu6,
        "hardtanh": lambda x, low=-1.0, high=1.0: F.hardtanh(x, low, high),
        # PyTorch cannot differentiate its own hardsigmoid twice; this is how it is defined there
        "hardsigmoid": lambda x: F.relu6(x + 3) / 6,
        "hardswish": F.hardswish,
        "softsign": F.softsign,
        "mish": F.mish,
        "silu": F.silu,
        "gelu_erf": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "logsigmoid": F.logsigmoid,
        "softplus": F.softplus,
    }


def special_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    special = torch.special
    return {
        "erfinv": torch.erfinv,
        "erfcinv": lambda x: torch.erfinv(1 - x),
        "log_ndtr": special.log_ndtr,
        "ndtri": special.ndtri,
        "logit": torch.logit,
        "xlogy": torch.xlogy,
        "xlog1py": special.xlog1py,
        "i0": torch.i0,
        "i1": special.i1,
        "i0e": special.i0e,
        "i1e": special.i1e,
        # PyTorch wants both in one dtype, and its own derivative has no derivative
        "gammainc": lambda a, x: special.gammainc(a.to(x.dtype).expand_as(x), x),
        "gammaincc": lambda a, x: special.gammaincc(a.to(x.dtype).expand_as(x), x),
    }


def reduction_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def along(x: Any, axis: Any) -> tuple[int, ...]:
        return tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)

    def over(reduce: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis=None, keepdims=False: reduce(x, dim=along(x, axis), keepdim=keepdims)

    def over_one_by_one(reduce: Callable[..., Any]) -> Callable[..., Any]:
        def all_of_them(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
            for each in sorted((i % x.ndim for i in along(x, axis)), reverse=True):
                x = reduce(x, dim=each, keepdim=keepdims)
            return x

        return all_of_them

    def unreduce(x: Any, shape: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if not keepdims:
            for each in sorted(i % len(shape) for i in along(torch.empty(shape), axis)):
                x = torch.unsqueeze(x, each)
        return x.expand(shape)

    def moment(reduce: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis=None, ddof=0, keepdims=False: reduce(
            x, dim=along(x, axis), correction=ddof, keepdim=keepdims
        )

    return {
        "sum": over(torch.sum),
        "mean": over(torch.mean),
        "mean_square": over(lambda x, **axes: torch.mean(x * x, **axes)),
        "max": over(torch.amax),
        "min": over(torch.amin),
        "prod": over_one_by_one(torch.prod),
        "var": moment(torch.var),
        "std": moment(torch.std),
        "norm": over(torch.linalg.vector_norm),
        "logsumexp": over(torch.logsumexp),
        "unreduce": unreduce,
        "sum_to_shape": lambda x, shape: x.sum_to_size(shape),
    }


def scan_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def cumulative(accumulate: Callable[..., Any], first: float) -> Callable[..., Any]:
        def along(x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
            x, axis = (x.flatten(), 0) if axis is None else (x, axis)
            x = torch.flip(x, (axis,)) if reverse else x
            out = accumulate(x, axis)
            if exclusive:
                start = torch.full_like(out.narrow(axis, 0, 1), first)
                out = torch.cat([start, out.narrow(axis, 0, out.shape[axis] - 1)], axis)
            return torch.flip(out, (axis,)) if reverse else out

        return along

    def recurrence(decay: Any, drive: Any, axis: int = -1, reverse: bool = False) -> Any:
        decay, drive = torch.broadcast_tensors(decay, drive)
        state: Any = torch.zeros_like(drive.select(axis, 0))
        states = []
        for i in range(drive.shape[axis])[:: -1 if reverse else 1]:
            state = decay.select(axis, i) * state + drive.select(axis, i)
            states.append(state)
        return torch.stack(states[:: -1 if reverse else 1], axis)

    def shift(x: Any, axis: int = -1, reverse: bool = False) -> Any:
        length = x.shape[axis] - 1
        kept, gap = x.narrow(axis, 1 if reverse else 0, length), torch.zeros_like(x.narrow(axis, 0, 1))
        return torch.cat([kept, gap] if reverse else [gap, kept], axis)

    def quantile(x: Any, q: Any, axis: Any = None, keepdims: bool = False, method: str = "linear") -> Any:
        several = torch.tensor(q, dtype=x.dtype) if isinstance(q, tuple) else q
        if not isinstance(axis, tuple) and method == "linear":
            return torch.quantile(x, several, dim=axis, keepdim=keepdims)
        assert (axis, keepdims, method) == ((0, 2), True, "hazen")  # PyTorch has one axis, and five of the methods
        n = x.shape[0] * x.shape[2]
        line = x.movedim(1, 0).reshape(x.shape[1], n)
        linear = (several * n - 0.5) / (n - 1)
        return torch.quantile(line, linear, dim=1)[:, None, :, None]

    def sort(x: Any, axis: Any = -1, descending: bool = False) -> Any:
        x, axis = (x.flatten(), 0) if axis is None else (x, axis)
        return torch.sort(x, dim=axis, descending=descending, stable=True).values

    return {
        "cumsum": cumulative(torch.cumsum, 0.0),
        "cumprod": cumulative(torch.cumprod, 1.0),
        "cummax_with_indices": lambda x, axis=-1: tuple(torch.cummax(x, axis)),
        "logcumsumexp": lambda x, axis=-1: torch.logcumsumexp(x, axis),
        "recurrence": recurrence,
        "shift_by_one": shift,
        "sort": sort,
        "topk": lambda x, k, axis=-1: tuple(torch.topk(x, k, axis)),
        "quantile": quantile,
        # torch.median takes the lower of two in the middle; the quantile takes their mean, as NumPy's median
        "median": lambda x, axis=None, keepdims=False: quantile(x, 0.5, axis, keepdims),
    }


def axis_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def expand_dims(x: Any, axis: Any) -> Any:
        named = axis if isinstance(axis, tuple) else (axis,)
        for each in sorted(i % (x.ndim + len(named)) for i in named):
            x = torch.unsqueeze(x, each)
        return x

    def squeeze(x: Any, axis: Any = None) -> Any:
        return torch.squeeze(x) if axis is None else torch.squeeze(x, axis)

    def transpose(x: Any, axes: Any = None) -> Any:
        return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else axes)

    def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
        return torch.swapaxes(x, axis1, axis2)

    def broadcast_to(x: Any, shape: Any) -> Any:
        return torch.broadcast_to(x, shape)

    def axes_to_last(x: Any, axis: Any) -> Any:
        moved = torch.movedim(x, axis, tuple(range(-len(axis), 0)))
        return torch.flatten(moved, -len(axis))

    return {
        "reshape": torch.reshape,
        "ravel": torch.flatten,
        "rows": lambda x: torch.flatten(x, 0, -2),
        "squeeze": squeeze,
        "expand_dims": expand_dims,
        "transpose": transpose,
        "mT": lambda x: x.mT,
        "mH": lambda x: x.mH,
        "swapaxes": swapaxes,
        "axes_to_last": axes_to_last,
        "broadcast_to": broadcast_to,
        "flip": lambda x, axis=None: torch.flip(x, tuple(range(x.ndim)) if axis is None else (axis,)),
        "roll": lambda x, shift, axis=None: torch.roll(x, shift, axis),
    }


def layout_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0.0) -> Any:
        pairs = np.broadcast_to(pad_width, (x.ndim, 2)).tolist()
        last_first = [n for pair in reversed(pairs) for n in pair]
        if mode == "constant":
            return F.pad(x, last_first, value=constant_values)
        names = {"edge": "replicate", "reflect": "reflect", "wrap": "circular"}
        return F.pad(x[None, None], last_first, mode=names[mode])[0, 0]

    def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        return torch.tensor_split(x, indices_or_sections, dim=axis)

    def repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
        times = torch.tensor(repeats) if isinstance(repeats, tuple) else repeats
        return torch.repeat_interleave(x, times, dim=axis)

    def put_diagonal(x: Any, shape: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return torch.diagonal_scatter(x.new_zeros(shape), x, offset, axis1, axis2)

    return {
        "repeat": repeat,
        "tile": lambda x, reps: torch.tile(x, reps if isinstance(reps, tuple) else (reps,)),
        "concatenate": lambda *parts, axis=0: torch.cat(parts, axis),
        "stack": lambda *parts, axis=0: torch.stack(parts, axis),
        "unstack": lambda x, axis=0: torch.unbind(x, axis),
        "split": split,
        "pad": pad,
        "tril": lambda x, k=0: torch.tril(x, k),
        "triu": lambda x, k=0: torch.triu(x, k),
        "diagonal": lambda x, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2),
        "put_diagonal": put_diagonal,
        "diag": lambda x, k=0: torch.diag(x, k),
        "ascontiguousarray": lambda x: x.contiguous(),
        "to_device": lambda x, device, source: x.to(device),
    }


def indexing_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def places(shape: Any, index: Any) -> Any:
        """Return the positions that an index selects: PyTorch's indices have no negative steps."""
        return torch.from_numpy(np.arange(np.prod(shape)).reshape(shape)[index].copy())

    def put_add(x: Any, shape: Any, index: Any) -> Any:
        zeros = x.new_zeros(int(np.prod(shape)))
        return zeros.index_add(0, places(shape, index).flatten(), x.flatten()).reshape(shape)

    def put_along_axis_add(x: Any, indices: Any, shape: Any, axis: int = -1) -> Any:
        return x.new_zeros(shape).scatter_add(axis, indices, x)

    return {
        "getitem": lambda x, index: x.flatten()[places(tuple(x.shape), index)],
        "put_add": put_add,
        "setitem": lambda x, values, index: x.flatten().index_put(
            (places(tuple(x.shape), index).flatten(),),
            values.expand(places(tuple(x.shape), index).shape).flatten(),
        ).reshape(x.shape),
        "take": lambda x, indices, axis=None: (
            torch.take(x, indices) if axis is None else torch.index_select(x, axis, indices)
        ),
        "put_take": lambda x, indices, shape, axis: x.new_zeros(shape).index_add(axis, indices, x),
        "take_along_axis": lambda x, indices, axis=-1: torch.take_along_dim(x, indices, axis),
        "put_along_axis_add": put_along_axis_add,
        "scatter": lambda x, index, src, axis: torch.scatter(x, axis, index, src),
        "zero_at": lambda x, index, axis: torch.scatter(x, axis, index, 0.0),
        "scatter_add": lambda x, index, src, axis: torch.scatter_add(x, axis, index, src.expand_as(index)),
        "embedding": lambda indices, weight, padding_idx=None: F.embedding(indices, weight, padding_idx),
    }


def network_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def attention(query: Any, key: Any, value: Any, bias: Any = None, scale: Any = None) -> Any:
        """Use the implementation that PyTorch can differentiate twice; it needs equal leading axes."""
        leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
        query, key, value = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            return F.scaled_dot_product_attention(query, key, value, bias, scale=scale)

    def layer_norm(x: Any, weight: Any = None, bias: Any = None, axes: int = 1, eps: float = 1e-5) -> Any:
        return F.layer_norm(x, x.shape[-axes:], weight, bias, eps)

    def avg_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, **params: Any) -> Any:
        return F.avg_pool2d(x, kernel_size, stride, padding, **params)

    return {
        "matmul": lambda a, b: torch.matmul(a.to(b.dtype), b),
        "linear_layer": F.linear,
        "sum_outer": lambda a, b: torch.einsum("...m,...n->mn", a, b),
        "einsum": lambda *parts, subscripts: torch.einsum(subscripts, *parts),
        "unfold": F.unfold,
        "fold": F.fold,
        "conv2d": F.conv2d,
        "correlate2d": lambda x, weight, **how: F.conv2d(x, weight, None, **how),
        "conv2d_input": lambda weight, sent, size, groups=1, **how: torch.nn.grad.conv2d_input(
            (sent.shape[0], weight.shape[1] * groups, *size), weight, sent, groups=groups, **how
        ),
        "conv2d_weight": lambda x, sent, kernel_size, groups=1, **how: torch.nn.grad.conv2d_weight(
            x, (sent.shape[1], x.shape[1] // groups, *kernel_size), sent, groups=groups, **how
        ),
        "max_pool2d": F.max_pool2d,
        "avg_pool2d": avg_pool2d,
        "softmax": lambda x, axis=-1: torch.softmax(x, axis),
        "log_softmax": lambda x, axis=-1: torch.log_softmax(x, axis),
        "layer_norm": layer_norm,
        "scaled_dot_product_attention": attention,
        "mse": lambda prediction, target: torch.square(prediction - target).mean(),
        "softmax_cross_entropy": lambda logits, target: F.cross_entropy(logits, target, reduction="none"),
        "mean_class_cross_entropy": F.cross_entropy,
        "binary_cross_entropy_with_logits": lambda logits, target: F.binary_cross_entropy_with_logits(
            logits, target, reduction="none"
        ),
    }
