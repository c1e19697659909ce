"""Every operation, and every function in front of operations, called wrongly in many ways.

Each call either works, or raises a built-in exception whose message names the called function. Calls that must fail,
because their result would be a wrong number, are in `REFUSED` and in `test_errors.py`.
"""

import inspect
import warnings

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import fft, linalg, random
from micrograd_plus.checks.samples import samples
from micrograd_plus.extras import signal
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users know

PLAIN_KINDS = (ValueError, TypeError, RuntimeError, IndexError)
NO_NUMBERS = {
    "text": "abc", "a dictionary": {"a": 1}, "objects": np.array([None, 1], dtype=object), "texts": ["a", "b"],
    "ragged rows": [[1, 2], [3]], "a function": len,
}  # fmt: skip
STRANGE = [99, -99, (0, 0), 1.5, "x", -1, 0, None, (), (1.5,), [0], {}, True, float("nan"), float("inf"),
           (1, 2, 3, 4, 5), [[1, 2], [3]], len]  # fmt: skip


def as_argument(value):
    """Return a sample's value as a user would pass it."""
    if not isinstance(value, np.ndarray):
        return value
    return mg.tensor(value, requires_grad=value.dtype.kind in "fc")


def misshapen(x):
    """Yield the same numbers with one axis too many or too few, and with longer and empty axes."""
    array = x.numpy()
    yield "an axis in front", array[None]
    yield "an axis at the end", array[..., None]
    if array.ndim:
        yield "an axis less", array[0]
    for axis in range(array.ndim):
        yield f"axis {axis} longer", np.concatenate([array, array.take([0], axis)], axis)
        yield f"axis {axis} empty", array.take([], axis)


def wrong_calls(call, inputs, params):
    """Yield a good call with one thing made wrong: a label, and the function that calls."""
    for i, value in enumerate(inputs):
        wrongs = [(repr(wrong), wrong) for wrong in STRANGE]
        if isinstance(value, mg.Tensor):
            wrongs = [*NO_NUMBERS.items(), *((what, as_argument(array)) for what, array in misshapen(value))]
        for what, wrong in wrongs:
            yield f"input {i}: {what}", lambda i=i, wrong=wrong: call([*inputs[:i], wrong, *inputs[i + 1 :]], params)
    for name in params:
        for wrong in STRANGE:
            yield f"{name}={wrong!r}", lambda name=name, wrong=wrong: call(inputs, {**params, name: wrong})
        rest = {other: value for other, value in params.items() if other != name}
        yield f"no {name}", lambda rest=rest: call(inputs, rest)
    yield "an unknown argument", lambda: call(inputs, {**params, "unheard_of": 1})


def faults(name, calls):
    """Yield the wrong calls that neither work nor raise an accepted error."""
    for what, call in calls:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
        except Exception as error:  # noqa: BLE001 - of what kind it is, is what is asked
            plain = isinstance(error, PLAIN_KINDS) and not isinstance(error, AssertionError)
            if not plain or not type(error).__module__.startswith(("builtins", "micrograd_plus", "numpy.linalg")):
                yield f"{what}: a {type(error).__name__}: {error}"
            elif name not in str(error):
                yield f"{what}: the message names no function: {error}"


@pytest.mark.parametrize("name", samples)
def test_an_operation_that_is_called_wrongly_is_named(name):
    sample = samples[name][0]
    inputs, params = [as_argument(value) for value in sample.inputs], {**sample.op.params, **sample.params}
    found = list(faults(name, wrong_calls(sample.op.call_with, inputs, params)))
    assert not found, "\n".join(found)


AXES = [name for name in samples if "axis" in samples[name][0].op.params]
AFTERWARDS = {"sum_repeats"}
"""Operations whose axis says where something was done before, on another shape."""


@pytest.mark.parametrize("wrong", [99, -99, 1.5, "x"])
@pytest.mark.parametrize("name", sorted(set(AXES) - AFTERWARDS))
def test_an_axis_that_is_not_there_is_refused(name, wrong):
    sample = samples[name][0]
    with pytest.raises((IndexError, TypeError, ValueError), match=name) as raised:
        sample.op.call_with([as_argument(value) for value in sample.inputs], {**sample.params, "axis": wrong})
    assert "axis" in str(raised.value)


# Functions in front of operations -----------------------------------------------------------------------------


def draw(*shape):
    return np.random.default_rng(len(shape)).uniform(0.2, 0.8, shape)


IMAGE, LINE = draw(1, 4, 5, 6), draw(1, 4, 6)
MATRIX, WHOLE = draw(3, 3) + np.eye(3), np.array([0, 2, 1])
CONVOLUTION = {"bias": draw(2), "stride": 1, "padding": 0, "dilation": 1, "groups": 2}
TRANSPOSED = {"bias": draw(4), "stride": 2, "padding": 0, "dilation": 1, "groups": 2, "output_padding": 0}
POOL, CELL = {"stride": 2, "padding": 0}, [draw(2, 3), draw(2, 4)]
TRANSFORM = {"n": 4, "axis": -1, "norm": "ortho"}
FUNCTIONS = [
    *[(getattr(F, name), [draw(2, 4)], {}) for name in F.nonlinearities.__all__
      if name not in ("prelu", "threshold", "glu", "gumbel_softmax")],
    (F.glu, [draw(2, 4)], {"dim": -1}),
    (F.gumbel_softmax, [draw(2, 4)], {"tau": 1.0, "dim": -1}),
    (F.prelu, [draw(2, 3), draw(3)], {}),
    (F.threshold, [draw(2, 3), 0.3, 1.0], {}),
    (F.scaled_dot_product_attention, [draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 2)], {"attn_mask": draw(3, 5)}),
    (F.cross_entropy, [draw(3, 4), WHOLE], {"reduction": "mean", "label_smoothing": 0.1}),
    (F.nll_loss, [draw(3, 4), WHOLE], {"reduction": "mean"}),
    *[(getattr(F, name), [draw(3, 2), draw(3, 2)], {"reduction": "mean"})
      for name in ("binary_cross_entropy", "huber_loss", "kl_div", "l1_loss", "smooth_l1_loss")],
    (F.conv1d, [LINE, draw(2, 2, 3)], CONVOLUTION),
    (F.conv2d, [IMAGE, draw(2, 2, 2, 3)], CONVOLUTION),
    (F.conv3d, [draw(1, 4, 3, 4, 5), draw(2, 2, 2, 2, 2)], CONVOLUTION),
    (F.conv_transpose1d, [LINE, draw(4, 2, 3)], TRANSPOSED),
    (F.conv_transpose2d, [IMAGE, draw(4, 2, 3, 2)], TRANSPOSED),
    (F.max_pool1d, [LINE, 2], {**POOL, "dilation": 1}),
    (F.max_pool2d, [IMAGE, 2], {**POOL, "dilation": 1}),
    (F.avg_pool1d, [LINE, 2], POOL),
    (F.avg_pool2d, [IMAGE, 2], POOL),
    (F.adaptive_avg_pool1d, [LINE, 3], {}),
    (F.adaptive_avg_pool2d, [IMAGE, 3], {}),
    (F.unfold, [IMAGE, (2, 2)], {"dilation": 1, "padding": 0, "stride": 1}),
    (F.fold, [draw(1, 4, 4), (3, 3), (2, 2)], {"dilation": 1, "padding": 0, "stride": 1}),
    (F.interpolate, [IMAGE], {"size": 6, "mode": "nearest"}),
    (F.interpolate, [IMAGE], {"scale_factor": 2, "mode": "bilinear", "align_corners": True}),
    (F.pixel_shuffle, [draw(1, 4, 2, 3), 2], {}),
    (F.pixel_unshuffle, [draw(1, 2, 4, 6), 2], {}),
    (F.pad, [draw(2, 3), (1, 2)], {"mode": "constant", "value": 0.0}),
    (F.layer_norm, [draw(2, 3), 3], {"weight": draw(3), "bias": draw(3), "eps": 1e-5}),
    (F.rms_norm, [draw(2, 3), 3], {"weight": draw(3), "eps": 1e-5}),
    (F.group_norm, [LINE, 2], {"weight": draw(4), "bias": draw(4), "eps": 1e-5}),
    (F.instance_norm, [LINE], {"weight": draw(4), "bias": draw(4), "eps": 1e-5}),
    (F.batch_norm, [draw(3, 2, 4), None, None], {"weight": draw(2), "training": True, "eps": 1e-5}),
    (F.embedding, [WHOLE, draw(3, 2)], {"padding_idx": 1}),
    (F.one_hot, [WHOLE], {"num_classes": 3}),
    (F.dropout, [draw(2, 3)], {"p": 0.5}),
    (F.normalize, [draw(2, 3)], {"p": 2.0, "dim": 1}),
    (F.cosine_similarity, [draw(2, 3), draw(2, 3)], {"dim": 1}),
    (F.gru_cell, [*CELL, draw(12, 3), draw(12, 4)], {"b_ih": draw(12)}),
    (F.rnn_tanh_cell, [*CELL, draw(4, 3), draw(4, 4)], {"b_ih": draw(4)}),
    (mg.ops.cast, [draw(2), np.dtype("float32")], {}),
    (mg.cummax, [draw(2, 3)], {"axis": -1}),
    (mg.outer, [draw(2), draw(3)], {}),
    (mg.dot, [draw(2, 3), draw(3, 4)], {}),
    (mg.inner, [draw(2, 3), draw(4, 3)], {}),
    (mg.tensordot, [draw(2, 3), draw(3, 4)], {"axes": 1}),
    (mg.einsum, ["ij,jk->ik", draw(2, 3), draw(3, 4)], {}),
    (mg.repeat, [draw(3), 2], {"axis": 0}),
    (mg.scatter_add, [draw(3), 0, np.array([0, 2]), draw(2)], {}),
    (linalg.eigh, [MATRIX], {"UPLO": "L"}),
    (linalg.eigvalsh, [MATRIX], {}),
    (linalg.norm, [MATRIX], {"ord": "fro", "axis": (0, 1)}),
    (linalg.matrix_norm, [MATRIX], {"ord": "nuc"}),
    (linalg.vector_norm, [MATRIX], {"axis": 0, "ord": 2}),
    (linalg.qr, [MATRIX], {"mode": "reduced"}),
    (linalg.svd, [MATRIX], {"full_matrices": False}),
    (linalg.svdvals, [MATRIX], {}),
    (linalg.solve, [MATRIX, draw(3)], {}),
    *[(call, [draw(2, 6)], TRANSFORM) for call in (fft.fft, fft.ifft, fft.rfft, fft.irfft)],
    *[(call, [draw(4, 6)], {"s": (4, 5), "axes": (-2, -1)}) for call in (fft.fft2, fft.ifft2)],
    (signal.stft, [draw(2, 40)], {"n_fft": 8, "hop_length": 4, "win_length": 6, "window": "hann"}),
    (mg.quantize, [draw(2, 3), draw(3)], {"zero_point": 0, "axis": 1}),
    (mg.fake_quantize, [draw(2, 3), draw(3)], {"axis": 1}),
    (random.normal, [0.0, 1.0, (2, 3)], {"dtype": float}),
    (random.uniform, [0.0, 1.0, (2, 3)], {"dtype": float}),
    (random.integers, [0, 5, (2, 3)], {"dtype": int}),
    (random.permutation, [5], {}),
    (random.choice, [5, (3,)], {"replace": False}),
    (random.categorical, [draw(2, 3)], {"axis": -1}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "inputs", "params"), FUNCTIONS, ids=[call[0].__name__ for call in FUNCTIONS])
def test_a_function_that_is_called_wrongly_is_named(function, inputs, params):
    def call(inputs, params):
        return function(*inputs, **params)

    inputs = [as_argument(value) for value in inputs]
    params = {name: as_argument(value) for name, value in params.items()}
    call(inputs, params)
    found = list(faults(function.__name__, wrong_calls(call, inputs, params)))
    assert not found, "\n".join(found)


def test_prefixes_errors_keeps_signature_and_docstring():
    assert list(inspect.signature(F.conv2d).parameters)[:3] == ["input", "weight", "bias"]
    assert (F.conv2d.__name__, F.conv2d.__doc__) == ("conv2d", F.conv.conv2d.__doc__)


# Calls that would give a wrong number -------------------------------------------------------------------------

BOX = mg.tensor(draw(1, 1, 6, 6))
KERNEL = mg.tensor(draw(1, 1, 2, 2))
X = mg.tensor(draw(2, 3))
REFUSED = [
    (lambda: mg.median(X, axis=99), IndexError, "median", "axis 99", "from -2 to 1"),
    (lambda: mg.quantile(X, q=0.5, axis=-3), IndexError, "quantile", "axis -3", "from -2 to 1"),
    (lambda: mg.scatter_add(X, 9, WHOLE[None], draw(1, 3)), IndexError, "scatter_add", "axis 9", "from -2 to 1"),
    (lambda: mg.scatter_add(X, 0.5, WHOLE[None], draw(1, 3)), TypeError, "scatter_add", "a whole number"),
    (lambda: F.conv2d(BOX, KERNEL, dilation=-1), ValueError, "conv2d", "dilation must be a whole number of at least 1"),
    (lambda: F.conv2d(BOX, KERNEL, dilation=0), ValueError, "conv2d", "dilation", "at least 1"),
    (lambda: F.max_pool2d(BOX, 2, dilation=-1), ValueError, "max_pool2d", "dilation", "at least 1"),
    (lambda: mg.conv1d(BOX[0], KERNEL[0], dilation=-1), ValueError, "conv1d", "dilation", "at least 1"),
    (lambda: mg.conv2d(BOX, mg.tensor(draw(1, 1, 0, 2))), ValueError, "conv2d", "windows (0, 2)", "at least 1"),
    (lambda: mg.max_pool2d(BOX, (2, 2), (1, 1), padding=(2, 2)), ValueError, "max_pool2d", "more than half"),
    (lambda: mg.conv_transpose2d(BOX, KERNEL, padding=(9, 9)), ValueError, "conv_transpose2d", "nothing of the image"),
    (lambda: mg.interpolate(BOX, size=(1, 2, 3)), ValueError, "interpolate", "size=(1, 2, 3)"),
    (lambda: mg.layer_norm(X, axes=-1), ValueError, "layer_norm", "number of last axes, at least 1"),
    (lambda: fft.fft(X, n=-1), ValueError, "cut_or_pad", "length must be a whole number of at least 1", "-1"),
    (lambda: mg.roll(X, 1.7), TypeError, "roll", "shift must be a whole number, got 1.7"),
    (lambda: mg.repeat(X, 1.5), TypeError, "repeat", "a whole number"),
    (lambda: mg.repeat(X, [1.5, 1], axis=0), TypeError, "repeat", "a whole number"),
    (lambda: mg.take(X, 1.5), TypeError, "take", "indices: 1.5"),
    (lambda: signal.stft(X, 2, hop_length=0), ValueError, "windowed_spectra", "hop"),
    (lambda: random.integers(1.5, 3), TypeError, "integers", "random.uniform"),
    (lambda: random.permutation(["a", "b"]), TypeError, "permutation", "text"),
    (lambda: random.seed(None), TypeError, "random.seed: number must be a whole number"),
]


@pytest.mark.parametrize(("call", "kind", "words"), [(call, kind, words) for call, kind, *words in REFUSED])
def test_input_that_would_give_a_wrong_number_is_rejected(call, kind, words):
    with pytest.raises(kind) as raised:
        call()
    missing = [word for word in words if word not in str(raised.value)]
    assert not missing, f"{missing} not in: {raised.value}"


def test_numpy_functions_accept_tensors_without_gradients():
    x = mg.tensor([1.0, 2.0])
    assert np.sum(x) == 3.0
    assert np.concatenate([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]
    assert np.linalg.norm(mg.tensor([3.0, 4.0])) == 5.0
    assert np.shape(as_argument(draw(2, 3))) == (2, 3)
    with pytest.raises(TypeError, match=r"np\.mean would lose the graph .* use the mg function of that name"):
        np.mean(mg.tensor([1.0], requires_grad=True))
