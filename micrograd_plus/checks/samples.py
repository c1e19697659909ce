"""Samples: a few small calls of every operation, for the checks, the reference pages and the exercises.

Inputs are chosen to reveal wrong rules: both signs, no ones, all axes of different lengths, repeated indices,
overlapping windows. They avoid kinks, and ties except between two entries, where differences give the mean of both
derivatives; conventions at these points have separate tests.

    sample(matmul, real(2, 3), real(3, 4))        one line for one call

Add a sample of your own operation with `mg.samples.sample(my_op, input, parameter=value)`.
"""

from __future__ import annotations

import zlib
from typing import Any

from .. import ops
from ..backends import devices
from ..core.apply import Op
from ..extras import quantisation
from ..extras.signal import convolving, spectra
from ..extras.special import functions
from ..extras.splat import blending

np = devices.device("cpu").library


class Sample:
    """One call of an operation: its inputs as arrays, its parameters, and the checks that do not apply, with reasons.

    `draws` has the functions that drew the inputs, so that fresh inputs can be drawn."""

    __slots__ = ("draws", "excused", "inputs", "op", "params")

    def __init__(
        self, op: Op, inputs: list[Any], params: dict[str, Any], excused: dict[str, str], draws: Any = None
    ):
        self.op, self.inputs, self.params, self.excused = op, inputs, params, excused
        self.draws: list[Any] = list(inputs) if draws is None else draws

    def fresh(self, rng: Any) -> Sample:
        """Return the same call with newly drawn inputs; inputs given as numbers stay."""
        return Sample(self.op, [draw_input(value, rng) for value in self.draws], self.params, self.excused, self.draws)

    def __repr__(self) -> str:
        shown = [f"{tuple(x.shape)} {x.dtype}" if hasattr(x, "shape") else repr(x) for x in self.inputs]
        shown += [f"{name}={value!r}" for name, value in self.params.items()]
        return f"{self.op.name}({', '.join(shown)})"


samples: dict[str, list[Sample]] = {}
"""The samples of every operation, by name."""


def sample(call: Any, *inputs: Any, excused: dict[str, str] | None = None, **params: Any) -> Sample:
    """Add a sample of an operation. An input may be a function that draws it."""
    op: Any = getattr(call, "op", None)
    if not isinstance(op, Op):
        raise TypeError(f"sample expects an operation, such as mg.tanh or a function under @mg.op; got {call!r}")
    made = Sample(op, [], params, excused or {}, list(inputs))
    known = samples.setdefault(op.name, [])
    if known and known[0].op is not op:  # defined again, as happens in a notebook
        known.clear()
    rng = np.random.default_rng(zlib.crc32(f"{op.name} {len(known)}".encode()))
    made.inputs += [draw_input(value, rng) for value in inputs]
    known.append(made)
    return made


def draw_input(value: Any, rng: Any) -> Any:
    """Return an input as an array, drawn by a function or given."""
    found = value(rng) if callable(value) else value
    return np.array(found) if isinstance(found, list) else found


JUMPS = {"the gradient has a gradient": "where two entries tie, the gradient itself jumps and has no slope"}

# Draws ----------------------


def real(*shape: int) -> Any:
    """Draw numbers of both signs with sizes between 0.5 and 2."""
    return lambda rng: rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)


def positive(*shape: int) -> Any:
    """Draw numbers between 0.5 and 2."""
    return lambda rng: rng.uniform(0.5, 2.0, shape)


def inner(*shape: int) -> Any:
    """Draw numbers of both signs with sizes between 0.1 and 0.9."""
    return lambda rng: rng.uniform(0.1, 0.9, shape) * rng.choice([-1.0, 1.0], shape)


def distinct(*shape: int) -> Any:
    """Draw numbers of both signs in random order, no two closer than 0.1, so that there are no ties."""
    count = int(np.prod(shape))
    return lambda rng: ((rng.permutation(count) - count / 2) / 4 + rng.uniform(0.01, 0.14, count)).reshape(shape)


def spectrum(*shape: int) -> Any:
    """Draw complex numbers away from 0 and from both axes."""
    return lambda rng: real(*shape)(rng) + 1j * real(*shape)(rng)


def _samples_of_elementwise() -> None:
    for call in (
        ops.negative, ops.positive, ops.square, ops.sin, ops.cos, ops.tanh, ops.sinh, ops.cosh, ops.arctan, ops.arcsinh,
        ops.exp, ops.expm1, ops.absolute, ops.sigmoid, ops.logsigmoid, ops.softplus, ops.relu, ops.leaky_relu, ops.elu,
        ops.selu, ops.celu, ops.relu6, ops.hardsigmoid, ops.hardswish, ops.softsign, ops.mish, ops.silu, ops.gelu_erf,
        ops.gelu_tanh, ops.erf, ops.erfc, ops.reciprocal, ops.cbrt, ops.floor, ops.ceil, ops.trunc, ops.round, ops.sign,
    ):  # fmt: skip
        sample(call, real(2, 3))
    for call in (ops.sqrt, ops.rsqrt, ops.log, ops.log2, ops.log10, ops.log1p):
        sample(call, positive(2, 3))
    for call in (ops.arcsin, ops.arccos, ops.arctanh, ops.tan):
        sample(call, inner(2, 3))
    sample(ops.hardtanh, real(2, 3))
    sample(ops.hardtanh, distinct(2, 3), low=-0.37, high=0.61)
    sample(ops.leaky_relu, real(4), slope=0.3)
    sample(ops.elu, real(4), alpha=0.7)
    sample(ops.celu, real(4), alpha=0.7)
    sample(ops.clip, distinct(3, 4), -0.52, 0.77)
    sample(ops.clip, distinct(3, 4), None, 0.31)
    sample(ops.clip, distinct(3, 4), distinct(4), distinct(3, 1))
    sample(ops.arccosh, lambda rng: 1 + positive(2, 3)(rng))
    for call in (ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, ops.arctan2, ops.hypot, ops.logaddexp,
                 ops.copysign, ops.divide):  # fmt: skip
        sample(call, real(2, 3), real(2, 3))
        sample(call, real(4, 1, 3), real(2, 1))
    for call in (ops.fmod, ops.remainder):
        sample(call, [5.3, -5.3, 4.1, -0.7], [2.1, 2.1, -1.3, -1.7])
    sample(ops.power, positive(2, 3), real(2, 3))
    sample(ops.power, positive(2, 1), real(3))
    sample(ops.power, real(2, 3), 3.0)
    sample(ops.power, real(2, 3), 2)
    sample(ops.power, 1.7, real(4))
    sample(ops.affine, real(2, 3), real(3), real(3))
    sample(ops.lerp, real(2, 3), real(3), inner(2, 1))
    sample(ops.addcmul, real(2, 3), real(3), real(2, 1), value=0.7)
    sample(ops.where, [[True, False, True], [False, False, True]], real(2, 3), real(3))
    sample(ops.astype, real(2, 3), dtype=np.dtype("float64"))


def _samples_of_ufuncs() -> None:
    for call in (ops.exp2, ops.deg2rad, ops.rad2deg, ops.sinc, ops.nan_to_num):
        sample(call, real(2, 3))
    sample(ops.exp2, spectrum(3))
    sample(ops.sinc, [0.02, 0.05, -0.03, 0.11, 1.0, -2.5])
    for call in (ops.logaddexp2, ops.fmax, ops.fmin):
        sample(call, real(2, 3), real(2, 3))
        sample(call, real(4, 1, 3), real(2, 1))
    sample(ops.floor_divide, [5.3, -5.3, 4.1, -0.7], [2.1, 2.1, -1.3, -1.7])
    sample(ops.cross, real(2, 3), real(2, 3))
    sample(ops.cross, real(2, 1, 3), real(4, 3))
    sample(ops.cross, spectrum(2, 3), spectrum(3))


def _samples_of_complex_numbers() -> None:
    for call in (ops.real, ops.imag, ops.conj, ops.angle, ops.absolute, ops.sign, ops.exp, ops.square, ops.sin):
        sample(call, spectrum(2, 3))
    for call in (ops.multiply, ops.divide, ops.add):
        sample(call, spectrum(2, 3), spectrum(3))
    sample(ops.multiply, real(2, 3), spectrum(3))
    for call in (ops.real, ops.imag, ops.conj, ops.angle):
        sample(call, real(2, 3))
    for call in (ops.sqrt, ops.rsqrt, ops.log, ops.tanh, ops.reciprocal, ops.arctan, ops.norm, ops.var):
        sample(call, spectrum(2, 3))
    for call in (ops.sum, ops.mean, ops.prod, ops.cumsum, ops.cumprod, ops.logsumexp):
        sample(call, spectrum(2, 3), axis=1)
    sample(ops.power, spectrum(2, 3), spectrum(3))
    sample(ops.power, spectrum(2, 3), 3)
    sample(ops.power, positive(2, 3), spectrum(3))
    sample(ops.matmul, spectrum(2, 3), spectrum(3, 4))
    sample(ops.matmul, real(2, 3), spectrum(3, 4))
    sample(ops.linear_layer, spectrum(4, 3), spectrum(2, 3), spectrum(2))
    sample(ops.einsum, spectrum(2, 3), spectrum(3, 4), subscripts="ij,jk->ki")
    sample(ops.recurrence, spectrum(3, 4), spectrum(3, 4), axis=1)
    sample(ops.concatenate, spectrum(2, 3), real(2, 2), axis=1)
    sample(ops.getitem, spectrum(4), index=np.array([0, 2, 2]))
    sample(ops.unstack, spectrum(2, 3))
    sample(ops.conv2d, spectrum(1, 2, 4, 4), spectrum(3, 2, 2, 2), spectrum(3))
    sample(ops.mse, spectrum(2, 3), spectrum(2, 3))


def _samples_of_reductions() -> None:
    for call in (
        ops.sum, ops.mean, ops.mean_square, ops.max, ops.min, ops.prod, ops.var, ops.std, ops.norm, ops.logsumexp,
    ):  # fmt: skip
        sample(call, distinct(2, 3))
        sample(call, distinct(2, 3, 4), axis=1)
        sample(call, distinct(2, 3, 4), axis=(0, -1), keepdims=True)
    sample(ops.var, real(2, 5), axis=-1, ddof=1)
    sample(ops.std, real(2, 5), axis=-1, ddof=1)
    sample(ops.prod, [[0.0, 2.0, -1.5], [0.0, 0.0, 3.0]], axis=1)
    sample(ops.product_of_others, real(2, 4), axis=1)
    sample(ops.product_of_others, real(2, 3), axis=None)
    sample(ops.unreduce, real(2, 4), shape=(2, 3, 4), axis=1)
    for call in (ops.max, ops.min):
        sample(call, [[2.0, -1.5, 2.0, 0.5], [-3.0, 1.0, -3.0, 0.5]], axis=1, excused=JUMPS)
    for call in (ops.maximum, ops.minimum):
        sample(call, [[2.0, -1.5, 0.5, 3.0], [1.0, -0.5, 2.5, -1.0]], [[2.0, 1.5, 0.5, 1.0], [1.0, 0.5, -2.5, 4.0]],
               excused=JUMPS)  # fmt: skip


def _samples_of_scans() -> None:
    for call in (ops.cumsum, ops.cumprod):
        sample(call, real(2, 4), axis=1)
        sample(call, real(2, 4), axis=0, exclusive=True)
        sample(call, real(2, 4), axis=-1, reverse=True)
        sample(call, real(2, 4), axis=1, exclusive=True, reverse=True)
        sample(call, real(2, 3))
    sample(ops.cumprod, [0.0, 2.0, 0.0, -1.5], axis=0)
    sample(ops.recurrence, inner(3, 4), real(3, 4), axis=1)
    sample(ops.recurrence, inner(4), real(3, 4), axis=-1, reverse=True)
    sample(ops.recurrence, inner(3, 1), real(3, 4), axis=1)
    sample(ops.logcumsumexp, real(3, 5), axis=1)
    sample(ops.logcumsumexp, lambda rng: 30 * real(4, 2)(rng), axis=0)
    sample(ops.shift_by_one, real(2, 4), axis=1)
    sample(ops.shift_by_one, real(2, 4), axis=0, reverse=True)
    sample(ops.cummax_with_indices, distinct(3, 5), axis=1)
    sample(ops.sort, distinct(3, 5), axis=1)
    sample(ops.sort, distinct(3, 5), axis=0, descending=True)
    sample(ops.sort, distinct(2, 3), axis=None)
    sample(ops.topk, distinct(3, 5), k=2, axis=1)
    sample(ops.quantile, distinct(3, 5), q=0.3, axis=1)
    sample(ops.quantile, distinct(2, 5), q=0.8, keepdims=True)
    sample(ops.quantile, distinct(3, 5), q=(0.8, 0.0, 0.3), axis=0)
    sample(ops.quantile, distinct(2, 3, 4), q=(0.45,), axis=(0, 2), keepdims=True, method="hazen")
    sample(ops.median, distinct(3, 4), axis=1)
    sample(ops.median, distinct(5))


def _samples_of_shape() -> None:
    sample(ops.reshape, real(2, 3, 4), shape=(4, -1))
    sample(ops.ravel, real(2, 3))
    sample(ops.rows, real(2, 3, 4))
    sample(ops.squeeze, real(2, 1, 3, 1))
    sample(ops.squeeze, real(2, 1, 3, 1), axis=1)
    sample(ops.squeeze_axes, real(2, 1, 3), axis=1)
    sample(ops.expand_dims, real(2, 3), axis=(0, 2))
    sample(ops.expand_axes, real(2, 4), shape=(2, 3, 4), axis=1)
    sample(ops.transpose, real(2, 3, 4))
    sample(ops.transpose, real(2, 3, 4), axes=(1, 2, 0))
    sample(ops.mT, real(2, 3, 4))
    sample(ops.mH, real(2, 3, 4))
    sample(ops.mH, spectrum(2, 3))
    sample(ops.swapaxes, real(2, 3, 4), axis1=0, axis2=2)
    sample(ops.moveaxis, real(2, 3, 4), source=0, destination=-1)
    sample(ops.moveaxis, real(2, 3, 4), source=(0, 1), destination=(2, 0))
    sample(ops.axes_to_last, real(2, 3, 4), axis=(0, 2))
    sample(ops.axes_from_last, real(3, 8), shape=(2, 3, 4), axis=(0, 2))
    sample(ops.broadcast_to, real(3, 1), shape=(2, 3, 4))
    sample(ops.sum_to_shape, real(2, 3, 4), shape=(3, 1))
    sample(ops.repeat, real(2, 3), repeats=3, axis=1)
    sample(ops.repeat, real(2, 3), repeats=2)
    sample(ops.repeat, real(2, 3), repeats=(1, 0, 2), axis=1)
    sample(ops.sum_repeats, real(2, 6), shape=(2, 3), repeats=2, axis=1)
    sample(ops.tile, real(2, 3), reps=(2, 1, 3))
    sample(ops.tile, real(2, 3), reps=2)
    sample(ops.sum_tiles, real(2, 6), shape=(3,), reps=(2, 2))


def _samples_of_parts() -> None:
    sample(ops.getitem, real(4, 5), index=(slice(1, None, 2), slice(None, None, -1)))
    sample(ops.getitem, real(4, 5), index=([0, 2, 2], [1, 3, 3]))
    sample(ops.getitem, real(4, 5), index=np.array([[True, False, True, False, False]] * 4))
    sample(ops.getitem, real(2, 3, 4), index=(Ellipsis, None, 1))
    sample(ops.put_add, real(3), shape=(4,), index=np.array([0, 2, 2]))
    sample(ops.concatenate, real(2, 3), real(2, 1), real(2, 2), axis=1)
    sample(ops.concatenate, real(1, 3), real(2, 3))
    sample(ops.stack, real(2, 3), real(2, 3), axis=1)
    sample(ops.unstack, real(3, 2, 4), axis=1)
    sample(ops.split, real(2, 6), indices_or_sections=(1, 4), axis=1)
    sample(ops.split, real(4, 3), indices_or_sections=2)
    for mode in ("constant", "edge", "reflect", "wrap"):
        sample(ops.pad, real(3, 4), pad_width=((2, 1), (0, 2)), mode=mode)
    sample(ops.pad, real(3), pad_width=1, constant_values=1.5)
    sample(ops.unpad, real(5, 6), shape=(3, 4), pad_width=((1, 1), (0, 2)), mode="reflect")
    sample(ops.flip, real(2, 3), axis=1)
    sample(ops.flip, real(2, 3))
    sample(ops.roll, real(3, 4), shift=(1, -2), axis=(0, 1))
    sample(ops.roll, real(3, 4), shift=5)
    sample(ops.tril, real(2, 3, 4), k=-1)
    sample(ops.triu, real(3, 4), k=1)
    sample(ops.diagonal, real(2, 3, 4), offset=1, axis1=1, axis2=2)
    sample(ops.put_diagonal, real(2, 3), shape=(2, 3, 4), offset=0, axis1=1, axis2=2)
    sample(ops.diag, real(3), k=-1)
    sample(ops.diag, real(3, 4), k=1)
    sample(ops.undiag, real(4, 4), shape=(3,), k=-1)
    sample(ops.ascontiguousarray, real(2, 3))
    sample(ops.to_device, real(2, 3), device="cpu", source="cpu")


def _samples_of_indexing() -> None:
    sample(ops.take, real(4, 3), [2, 0, 2, 2], axis=0)
    sample(ops.take, real(4, 3), [[1, 7], [7, 0]])
    sample(ops.put_take, real(4, 3), [2, 0, 2, 2], shape=(5, 3), axis=0)
    sample(ops.take_along_axis, real(3, 4), [[0, 0], [3, 1], [2, 2]], axis=1)
    sample(ops.put_along_axis_add, real(3, 2), [[0, 0], [3, 1], [2, 2]], shape=(3, 4), axis=1)
    sample(ops.scatter_add, real(3, 4), [[0, 0], [3, 1], [2, 2]], real(3, 2), axis=1)
    sample(ops.scatter_add, real(3, 4), [[0, 0], [3, 1], [2, 2]], real(3, 1), axis=-1)
    sample(ops.setitem, real(3, 4), real(2, 2), index=(slice(1, None), slice(None, None, 2)))
    sample(ops.setitem, real(3, 4), real(4), index=np.array([2, 0]))
    sample(ops.setitem, real(3, 4), real(), index=np.array([[True, False, True, False]] * 3))
    sample(ops.scatter, real(3, 4), [[0, 1], [3, 1], [2, 0]], real(3, 2), axis=1)
    sample(ops.scatter, real(4, 3), [[2, 0]], real(1, 2), axis=0)
    sample(ops.zero_at, real(3, 4), [[0, 1], [3, 1], [2, 0]], axis=1)
    sample(ops.embedding, [[1, 3, 1], [0, 1, 3]], real(5, 4))
    nothing = "the padding row stands for nothing, and learns nothing by convention"
    sample(
        ops.embedding, [[1, 3, 1], [0, 1, 3], [4, 1, 0]], real(5, 4), padding_idx=1,
        excused={"the gradient equals differences": nothing, "stepping inside changes nothing": nothing},
    )  # fmt: skip


def _samples_of_products() -> None:
    sample(ops.matmul, real(2, 3), real(3, 4))
    sample(ops.matmul, real(5, 1, 2, 3), real(4, 3, 2))
    sample(ops.sum_outer, real(4, 3), real(4, 2))
    sample(ops.sum_outer, real(2, 5, 3), real(2, 5, 4))
    sample(ops.sum_outer, real(3), real(2))
    sample(ops.linear_layer, real(4, 3), real(2, 3), real(2))
    sample(ops.linear_layer, real(2, 4, 3), real(5, 3))
    sample(ops.linear_layer, real(3), real(2, 3), real(2))
    sample(ops.einsum, real(2, 3), real(3, 4), subscripts="ij,jk->ki")
    sample(ops.einsum, real(2, 3), real(2, 3, 4), real(4), subscripts="ij,ijk,k->j")
    sample(ops.einsum, real(3, 3), subscripts="ii->")
    sample(ops.einsum, real(2, 3), real(1, 3), subscripts="ij,ij->j")
    sample(ops.einsum, real(3, 3, 2), subscripts="iij->i")


def _samples_of_convolution() -> None:
    sample(ops.unfold, real(2, 3, 5, 6), kernel_size=(2, 3), stride=(2, 1), padding=(1, 0), dilation=(1, 2))
    sample(ops.unfold, real(1, 2, 4, 5), kernel_size=(2, 3))
    sample(ops.fold, real(2, 6, 8), output_size=(3, 5), kernel_size=(2, 3), padding=(1, 0), dilation=(1, 1),
           stride=(1, 2))  # fmt: skip
    sample(ops.conv2d, real(2, 3, 5, 6), real(4, 3, 2, 3), real(4), stride=(2, 1), padding=(1, 2), dilation=(1, 2))
    sample(ops.conv2d, real(3, 4, 4, 5), real(6, 2, 3, 2), groups=2)
    window: dict[str, Any] = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)}
    sample(ops.correlate2d, real(2, 3, 5, 6), real(4, 3, 2, 3), **window)
    sample(ops.correlate2d, real(2, 4, 4, 5), real(6, 2, 3, 2), groups=2)
    sample(ops.conv2d_input, real(4, 3, 2, 3), real(2, 4, 3, 6), size=(5, 6), **window)
    sample(ops.conv2d_input, real(6, 2, 3, 2), real(2, 6, 2, 4), size=(4, 5), groups=2)
    sample(ops.conv2d_weight, real(2, 3, 5, 6), real(2, 4, 3, 6), kernel_size=(2, 3), **window)
    sample(ops.conv2d_weight, real(2, 4, 4, 5), real(2, 6, 2, 4), kernel_size=(3, 2), groups=2)
    sample(ops.kernel_rows, real(4, 3, 2, 3), groups=2)
    sample(ops.group_columns, real(2, 6, 5), groups=3)
    sample(ops.ungroup_columns, real(3, 4, 10), images=2)
    sample(ops.group_images, real(2, 6, 3, 4), groups=2)
    sample(ops.ungroup_images, real(3, 2, 40), size=(4, 5), images=2)
    sample(ops.as_channels, real(3))
    sample(ops.max_pool2d, distinct(2, 3, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=(1, 0))
    sample(ops.max_pool2d, distinct(1, 2, 5, 6), kernel_size=(2, 2), stride=(1, 2), dilation=(2, 1))
    sample(ops.avg_pool2d, real(2, 3, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=(1, 1))
    sample(ops.avg_pool2d, real(3, 2, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=(1, 1), count_include_pad=False)
    sample(ops.window_sums, real(2, 12, 12), x_shape=(2, 3, 5, 4), kernel_size=(2, 2), stride=(1, 1), padding=(0, 0))
    sample(ops.window_columns, real(2, 3, 4, 3), kernel_size=(2, 2))
    sample(ops.split_columns, real(2, 12, 5), kernel_size=(2, 2))


def _samples_of_networks() -> None:
    for call in (ops.softmax, ops.log_softmax):
        sample(call, real(5, 3, 4))
        sample(call, real(2, 3, 4), axis=1)
    sample(ops.layer_norm, real(5, 3, 4), real(4), real(4))
    sample(ops.layer_norm, real(2, 3, 4), axes=2)
    sample(ops.dropout, real(2, 3), [[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    sample(ops.scaled_dot_product_attention, real(2, 3, 4), real(2, 5, 4), real(2, 5, 6))
    sample(ops.scaled_dot_product_attention, real(7, 1, 3, 4), real(1, 5, 4), real(5, 6), real(3, 5), scale=0.7)
    sample(ops.mse, real(3, 4), real(3, 4))
    sample(ops.softmax_cross_entropy, real(3, 4), positive(3, 4))
    sample(ops.mean_class_cross_entropy, real(3, 4), [2, 0, 2])
    sample(ops.binary_cross_entropy_with_logits, real(3, 4), inner(3, 4))


def _samples_of_images() -> None:
    sample(ops.conv1d, real(2, 3, 7), real(4, 3, 2), real(4), stride=2, padding=1, dilation=2)
    sample(ops.conv1d, real(1, 4, 5), real(2, 2, 3), groups=2)
    sample(ops.conv3d, real(1, 2, 4, 3, 5), real(3, 2, 2, 2, 3), real(3), stride=(1, 2, 1), padding=(1, 0, 1))
    sample(ops.conv3d, real(1, 4, 3, 3, 4), real(2, 2, 2, 1, 2), groups=2, dilation=(2, 1, 1))
    sample(ops.conv_transpose2d, real(2, 3, 3, 2), real(3, 4, 2, 3), real(4), stride=(2, 1), padding=(1, 0),
           output_padding=(1, 0), dilation=(1, 2))  # fmt: skip
    sample(ops.conv_transpose2d, real(1, 4, 2, 3), real(4, 1, 2, 2), groups=2)
    sample(ops.conv_transpose1d, real(2, 3, 4), real(3, 2, 3), real(2), stride=3, padding=1, output_padding=2)
    sample(ops.max_pool1d, distinct(2, 3, 7), kernel_size=3, stride=2, padding=1)
    sample(ops.avg_pool1d, real(2, 3, 7), kernel_size=3, stride=2, padding=1, count_include_pad=False)
    sample(ops.avg_pool1d, real(2, 3, 6), kernel_size=3, stride=1)
    sample(ops.adaptive_avg_pool2d, real(2, 3, 5, 7), output_size=(3, 2))
    sample(ops.adaptive_avg_pool2d, real(1, 2, 2, 3), output_size=(1, 5))
    sample(ops.interpolate, real(1, 2, 3, 4), size=(5, 2))
    sample(ops.interpolate, real(1, 2, 3, 4), size=(4, 7), mode="linear")
    sample(ops.interpolate, real(1, 2, 3, 4), size=(5, 3), mode="corners")
    sample(ops.resample, real(2, 5), length=7, mode="linear", step=0.7)
    sample(ops.resample, real(5, 2), length=3, axis=0, mode="average")
    sample(ops.unresample, real(2, 7), shape=(2, 5), mode="linear", step=0.7)
    sample(ops.unresample, real(2, 3), shape=(2, 4), mode="nearest")
    sample(ops.pixel_shuffle, real(2, 12, 2, 3), upscale_factor=2)
    sample(ops.pixel_unshuffle, real(2, 3, 4, 6), downscale_factor=2)


def _samples_of_normalisation() -> None:
    sample(ops.rms_norm, real(5, 3, 4), real(4))
    sample(ops.rms_norm, real(2, 3, 4), axes=2, eps=1e-3)
    for call in (ops.scaled_channels, ops.batch_norm):
        sample(call, real(4, 3), real(3), real(3))
        sample(call, real(2, 3, 2, 4), real(3))
    sample(ops.batch_norm, real(3, 2, 4), eps=0.1)
    sample(ops.batch_norm_inference, real(2, 3, 4), real(3), positive(3), real(3), real(3))
    sample(ops.batch_norm_inference, real(4, 3), real(3), positive(3))
    sample(ops.group_norm, real(2, 6, 3), real(6), real(6), num_groups=2)
    sample(ops.group_norm, real(2, 4), num_groups=2)
    sample(ops.instance_norm, real(2, 3, 2, 4), real(3), real(3))
    sample(ops.residual_layer_norm, real(2, 3, 4), real(2, 3, 4), real(4), real(4))
    sample(ops.residual_rms_norm, real(2, 3, 4), real(2, 3, 4), real(4))


def _samples_of_transformers() -> None:
    sample(ops.rope, real(2, 3, 4), positive(3, 2))
    sample(ops.rope, real(2, 3, 5), positive(2, 3, 2), interleaved=True)
    sample(ops.swiglu, real(2, 3), real(2, 3))
    sample(ops.lora_matmul, real(2, 4, 3), real(5, 3), real(2, 3), real(5, 2), scale=0.7)
    sample(ops.grouped_matmul, real(5, 3), real(3, 3, 2), [2, 0, 2, 2, 0])
    sample(ops.expert_products, real(5, 3), real(5, 2), [2, 0, 2, 2, 0], count=3)
    sample(ops.masked_softmax, real(5, 3, 4), axis=1)
    sample(ops.soft_capped_attention, real(2, 3, 4), real(2, 5, 4), real(2, 5, 2), soft_cap=1.3)
    sample(ops.soft_capped_attention, real(2, 3, 4), real(1, 5, 4), real(2, 5, 2), real(3, 5), soft_cap=0.8, scale=0.7)
    sample(ops.attention, real(1, 4, 3, 2), real(1, 2, 5, 2), real(1, 2, 5, 3), window=2)
    sample(ops.attention, real(2, 3, 4), real(2, 3, 4), real(2, 3, 2), real(3, 3), causal=True, soft_cap=1.3, scale=0.7)
    sample(ops.attention, real(1, 4, 2), real(1, 4, 2), real(1, 4, 3), causal=True)
    sample(ops.attention, real(2, 2), real(3, 2), real(3, 2), real(2, 3), [[True, False, True], [False, True, True]])
    sample(ops.attention_block, real(2, 3, 4), real(12, 4), real(12), real(4, 4), real(4), heads=2, causal=True)
    norms = [positive(4), real(4), positive(4), real(4)]
    for norm_first in (False, True):
        sample(
            ops.transformer_layer, real(1, 3, 4), inner(12, 4), inner(12), inner(4, 4), inner(4), inner(5, 4), inner(5),
            inner(4, 5), inner(4), *norms, heads=2, norm_first=norm_first,
        )  # fmt: skip


def _samples_of_sequences() -> None:
    sample(ops.rnn, real(4, 2, 3), inner(3, 3), real(2, 3))
    sample(ops.rnn, real(4, 3), inner(3, 3))
    sample(ops.rnn, real(4, 2, 3), inner(3, 3), real(3))
    sample(ops.rnn, real(4, 2, 3), inner(3, 3), real(2, 3), nonlinearity="relu")
    sample(ops.gated_recurrence, inner(4, 2, 3), real(4, 2, 3), inner(3, 3))
    sample(ops.gated_recurrence, inner(4, 3), real(4, 3), inner(3, 3), reverse=True)
    sample(ops.matrix_recurrence, inner(2, 4, 3, 3), real(2, 4, 2, 3))
    sample(ops.matrix_recurrence, inner(4, 3, 3), real(4, 2, 3), reverse=True)
    sample(ops.lstm_cell, real(2, 12), real(2, 3))
    sample(ops.gru_cell, real(2, 9), real(2, 9), real(2, 3))
    sample(ops.selective_scan, real(2, 4, 3), positive(2, 4, 3), real(3, 2), real(2, 4, 2), real(2, 4, 2))
    sample(ops.selective_scan, real(2, 4, 3), positive(1, 3), real(3, 2), real(2, 4, 2), real(4, 2))
    sample(ops.gated_delta_net, inner(2, 4, 3), inner(2, 4, 3), real(2, 4, 2), inner(2, 4), inner(2, 4))


def definite(*shape: int, entries: Any = real) -> Any:
    """Draw nearly symmetric (or Hermitian) matrices with positive, distinct eigenvalues."""

    def draw(rng: Any) -> Any:
        half = entries(*shape)(rng)
        whole = half @ half.conj().swapaxes(-1, -2)
        return whole + np.diag(np.arange(1.0, shape[-1] + 1)) + 0.1 * entries(*shape)(rng)

    return draw


def with_gaps(*shape: int, entries: Any = real) -> Any:
    """Draw matrices with distinct singular values, none near 0."""
    rows, columns = shape[-2:]
    return lambda rng: 0.4 * entries(*shape)(rng) + np.eye(rows, columns) * np.arange(1.5, columns + 1.5)


def _samples_of_linear_algebra() -> None:
    linalg = ops.linalg
    sample(linalg.solve, with_gaps(3, 3), real(3, 1))
    sample(linalg.solve, with_gaps(2, 3, 3), real(3, 4))
    sample(linalg.solve, with_gaps(3, 3), real(4, 1, 3, 2))
    sample(linalg.inv, with_gaps(2, 3, 3))
    sample(linalg.det, with_gaps(2, 3, 3))
    sample(linalg.cofactors, with_gaps(2, 3, 3))
    sample(linalg.slogdet, with_gaps(2, 3, 3))
    sample(linalg.slogdet, [[0.3, 2.0], [1.1, 0.7]])
    sample(linalg.trace, real(2, 3, 4))
    sample(linalg.trace, real(4, 3), offset=-1)
    sample(linalg.block_triangle, real(2, 3, 3), real(2, 3, 3))
    sample(linalg.matrix_power, with_gaps(2, 3, 3), n=3)
    sample(linalg.matrix_power, with_gaps(3, 3), n=-2)
    sample(linalg.expm, real(2, 3, 3))
    sample(linalg.solve_sylvester, with_gaps(2, 3, 3), with_gaps(2, 2), real(3, 2))
    sample(linalg.solve_sylvester, with_gaps(2, 2, entries=spectrum), with_gaps(3, 3, entries=spectrum), spectrum(2, 3))
    sample(linalg.sqrtm, definite(2, 3, 3))
    sample(linalg.sqrtm, definite(3, 3, entries=spectrum))
    sample(linalg.expm, lambda rng: 4 * real(3, 3)(rng))
    sample(linalg.p_norm, real(2, 3), ord=3)
    sample(linalg.p_norm, real(2, 3, 4), ord=0.7, axis=(0, -1), keepdims=True)
    for call in (linalg.solve, linalg.inv, linalg.det, linalg.slogdet, linalg.trace, linalg.expm):
        sample(call, spectrum(3, 3), *[spectrum(3, 2)] * (call is linalg.solve))
    sample(linalg.matrix_power, spectrum(3, 3), n=3)
    sample(linalg.p_norm, spectrum(2, 3), ord=3, axis=1)


def _samples_of_factorisations() -> None:
    factors = ops.factorisations
    sample(factors.check_independent, with_gaps(2, 3, 3))
    sample(factors.eig, with_gaps(2, 3, 3))
    sample(factors.eig, [[0.3, 2.0], [-1.1, 0.7]])
    sample(factors.eig, with_gaps(3, 3, entries=spectrum))
    sample(factors.hermitian_part, real(2, 3, 3))
    sample(factors.hermitian_part, spectrum(3, 3))
    sample(factors.pivots, real(2, 3, 2))
    sample(factors.pivots, spectrum(3, 2))
    sample(factors.reciprocal_beyond, real(2, 3), 1.1)
    sample(factors.known_ratio, real(2, 3), real(3), 0.1)
    sample(factors.known_ratio, spectrum(2, 3), real(3), 0.1)
    sample(factors.eigh, [[1.0, 2.0], [1.5, -1.3]])
    sample(factors.pinv, with_gaps(2, 3), rtol=0.01)
    for entries in (real, spectrum):
        for call in (factors.cholesky, factors.eigh):
            sample(call, definite(2, 3, 3, entries=entries))
        for shape in ((2, 4, 3), (3, 3)):
            sample(factors.qr, with_gaps(*shape, entries=entries))
        for shape in ((2, 3, 3), (4, 3), (2, 4)):
            sample(factors.svd, with_gaps(*shape, entries=entries))
        sample(factors.pinv, with_gaps(2, 4, 3, entries=entries))
    sample(factors.pinv, with_gaps(2, 3, entries=spectrum))


def _samples_of_waves() -> None:
    waves = ops.fourier
    for call in (waves.fft, waves.ifft):
        sample(call, spectrum(2, 5), norm="ortho")
        sample(call, real(4, 3), axis=0)
        sample(call, spectrum(3), norm="forward")
    for call in (waves.fft2, waves.ifft2):
        sample(call, spectrum(2, 3, 4))
        sample(call, real(3, 4, 2), axes=(0, 1), norm="ortho")
    for call in (waves.fftn, waves.ifftn):
        sample(call, spectrum(2, 3, 4), axes=(0, 2))
        sample(call, real(3, 2), axes=(1, 0), norm="ortho")
    for norm in ("backward", "ortho", "forward"):
        sample(waves.rfft, real(2, 5), norm=norm)
        sample(waves.irfft, spectrum(2, 4), n=6, norm=norm)
    sample(waves.rfft, real(4, 3), axis=0)
    sample(waves.irfft, spectrum(3, 2), n=5, axis=0)
    sample(waves.cut_or_pad, real(4, 3), length=2, axis=0)
    sample(waves.cut_or_pad, real(2, 3), length=5)
    sample(waves.count_mirror_images, spectrum(2, 4), n=6)
    sample(waves.count_mirror_images, real(3, 2), n=5, axis=0)
    sample(convolving.convolve, real(5), real(3))
    sample(convolving.convolve, real(2, 3), real(3, 4))
    sample(convolving.convolve, spectrum(4), spectrum(2))
    sample(spectra.frames, real(2, 11), length=4, hop=3)
    sample(spectra.frames, real(7), length=2, hop=3)
    sample(spectra.overlap_add, real(2, 3, 4), size=11, hop=3)
    sample(spectra.overlap_add, real(5, 5), size=9, hop=1)
    sample(spectra.windowed_spectra, real(2, 13), positive(6), hop_length=2)
    sample(spectra.windowed_spectra, real(9), positive(5), hop_length=1, normalized=True, center=False)
    sample(spectra.windowed_spectra, spectrum(9), positive(4), hop_length=2, onesided=False, pad_mode="wrap")
    sample(spectra.log_mel, real(2, 40), sample_rate=800, n_fft=16, hop_length=8, n_mels=3)


def _samples_of_special_functions() -> None:
    room = functions
    for call in (room.gammaln, room.digamma, room.gamma):
        sample(call, positive(2, 3))
        sample(call, lambda rng: -inner(2, 3)(rng) / 2 - 2.5)
    for n in (1, 3):
        sample(room.polygamma, positive(2, 3), n=n)
    sample(room.polygamma, [-0.3, -1.7], n=2)
    for call in (room.erfinv, room.log_ndtr, room.inverse_mills, room.inverse_mills_excess):
        sample(call, inner(2, 3))
    for call in (room.logit, room.ndtri, room.erfcinv):
        sample(call, lambda rng: abs(inner(2, 3)(rng)))
    for call in (room.log_ndtr, room.inverse_mills, room.inverse_mills_excess):
        sample(call, [-9.0, -30.0, 4.0])
    sample(room.xlogy, real(2, 3), positive(3))
    sample(room.xlog1py, real(2, 3), inner(3))
    for call in (room.betaln, room.beta):
        sample(call, positive(2, 3), positive(3))
    for call in (room.gammainc, room.gammaincc):
        sample(call, [2, 3, 1], lambda rng: positive(2, 3)(rng) * 2)
    sample(room.betainc, [2, 3, 1], [1, 2, 4], lambda rng: abs(inner(2, 3)(rng)))


def _samples_of_bessel_functions() -> None:
    room = functions
    for call in (room.i0, room.i1, room.i0e, room.i1e, room.j0, room.j1):
        sample(call, real(2, 3))
        sample(call, [27.3, -31.7])
    for call in (room.y0, room.y1):
        sample(call, positive(2, 3))
    for call in (room.iv, room.ive, room.jv):
        sample(call, real(2, 3), v=2)
        sample(call, positive(2, 3), v=-1.3)
    sample(room.iv, [31.1, 31.7, 32.4], v=5.5)
    for call in (room.ive, room.jv):
        sample(call, [4.1, 31.7, 9.3], v=5.5)
    sample(room.yn, positive(2, 3), n=3)


def _samples_of_quantisation() -> None:
    through = "rounding has slope 0; the rule lets the gradient pass straight through it, on purpose"
    first = {"the gradient equals differences": through}
    both = {**first, "the gradient has a gradient": through}

    def codes(*shape: int) -> Any:
        return lambda rng: rng.integers(-8, 8, shape, dtype="int8")

    sample(quantisation.quantize, real(2, 3), 0.31, 2, low=-4, high=5, excused=first)
    sample(quantisation.quantize, real(2, 3, 2), positive(3, 1), inner(3, 1), low=-2, high=2, excused=first)
    sample(quantisation.dequantize, real(2, 3), positive(3), inner(2, 1))
    for estimator in ("identity", "clipped", "tanh"):
        sample(quantisation.fake_quantize, real(3, 4), 0.23, 1, low=-3, high=4, estimator=estimator, excused=first)
    sample(quantisation.fake_quantize, real(3, 4), positive(4), inner(4), low=-1, high=1,
           estimator="clipped", excused=first)  # fmt: skip
    sample(quantisation.fake_quantize_lsq, real(3, 4), 0.37, low=-3, high=2, grad_factor=1.0, excused=first)
    sample(quantisation.fake_quantize_lsq, real(3, 4), positive(3, 1), low=-1, high=1, grad_factor=0.6, excused=first)
    sample(quantisation.quantized_matmul, real(2, 3), real(3, 4), [0.21], [0.33], [1.0], [-2.0],
           low=-6, high=5, excused=both)  # fmt: skip
    sample(quantisation.quantized_matmul, real(2, 2, 3), real(3, 4), positive(2, 1), positive(4), inner(2, 1), inner(4),
           low=-2, high=2, excused=both)  # fmt: skip
    sample(quantisation.quantized_conv2d, real(2, 2, 4, 5), real(4, 1, 2, 3), [0.27], positive(4), [1.0], real(4),
           stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2, low=-5, high=6, excused=both)  # fmt: skip
    sample(quantisation.dequantize_blocks, codes(6, 4), positive(3, 4), real(3, 4), block=2)
    sample(quantisation.dequantize_blocks, codes(2, 6, 4), positive(2, 2, 4), block=3)
    sample(quantisation.dequantize_blocks, codes(2, 6, 4), positive(2, 1), real(2, 2, 4), block=3)
    sample(quantisation.dequantize_matmul, real(2, 3, 6), codes(6, 4), positive(2, 4), real(2, 4), block=3)
    sample(quantisation.dequantize_matmul, real(3, 6), codes(6, 4), positive(3, 4), block=2)
    sample(quantisation.dequantize_grouped_matmul, real(5, 4), codes(3, 4, 2), positive(3, 2, 2), [2, 0, 2, 2, 0],
           real(3, 2, 2), block=2)  # fmt: skip


def _samples_of_splats() -> None:
    def narrow(rng: Any) -> Any:
        return np.stack([positive(3)(rng), inner(3)(rng) / 3, positive(3)(rng)], axis=1)

    sample(blending.gaussian_alpha, real(3, 5), real(3, 4), narrow, inner(3))
    sample(blending.gaussian_alpha, real(3, 2), real(3, 4), narrow, positive(3), cutoff=0.2, ceiling=0.4)
    sample(blending.blend, lambda rng: abs(inner(4, 6)(rng)), real(4, 3), real(3))
    sample(blending.blend, lambda rng: abs(inner(5, 6)(rng)), real(5, 2), real(2), stop=0.1)
    opaque = [[0.3, 1.0, 0.7], [1.0, 0.2, 0.6], [0.5, 0.4, 1.0], [0.8, 1.0, 1.0]]
    sample(blending.blend, opaque, real(4, 2), real(2), stop=-1.0)  # no entry is removed, so the result is continuous


for _define in (
    _samples_of_elementwise, _samples_of_ufuncs, _samples_of_reductions, _samples_of_scans, _samples_of_shape,
    _samples_of_parts, _samples_of_indexing, _samples_of_products, _samples_of_convolution, _samples_of_networks,
    _samples_of_complex_numbers,
    _samples_of_images, _samples_of_normalisation, _samples_of_transformers, _samples_of_sequences,
    _samples_of_linear_algebra, _samples_of_factorisations, _samples_of_waves, _samples_of_quantisation,
    _samples_of_special_functions, _samples_of_bessel_functions, _samples_of_splats,
):  # fmt: skip
    _define()
