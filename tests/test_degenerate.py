"""Every operation with a sample, called with its axes cut to one entry and to none, together and in one input."""

from functools import partial

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import assert_equal, differentiable_inputs, gradients, promises, run
from micrograd_plus.checks.samples import Sample, samples
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users know

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NO_WAY_BACK = {
    "ungroup_columns": "with no groups there is nothing to say how many entries each has",
    "ungroup_images": "with no groups there is nothing to say how many entries each has",
    "max_pool2d": "with no channels there is nothing to say how many entries each has",
    "max_pool1d": "with no channels there is nothing to say how many entries each has",
}
"""Operations that compute something of nothing, and cannot tell what it receives."""

SHAPED = "a parameter states the shape, which does not fit the remaining entries"
STRAIGHT = "its straight-through gradient of a rounding does not equal differences"
TRANSPOSES = (
    "unreduce", "expand_axes", "axes_from_last", "sum_tiles", "put_add", "unpad", "put_diagonal", "undiag",
    "window_sums",
)  # fmt: skip
ROUNDED = ("quantize", "fake_quantize", "fake_quantize_lsq", "quantized_matmul", "quantized_conv2d")
NOT_CUT = {**dict.fromkeys(TRANSPOSES, SHAPED), **dict.fromkeys(ROUNDED, STRAIGHT)}
"""Operations of which no sample is left to compare with differences."""


def cut(value, length, kept):
    """Return an input with all axes of one length cut to their first entries."""
    for axis, n in enumerate(getattr(value, "shape", ())):
        if n == length:
            value = np.take(value, range(kept), axis)
    return value


def cuts(name, kept):
    """Yield samples of an operation with all axes of one length cut, for each length."""
    for each in samples[name]:
        lengths = {n for value in each.inputs for n in getattr(value, "shape", ()) if n > 1}
        for length in sorted(lengths):
            inputs = [cut(value, length, kept) for value in each.inputs]
            yield Sample(each.op, inputs, each.params, each.excused)


def cut_one_input(name):
    """Yield samples of an operation of several inputs, with one axis of one input cut to one entry."""
    for each in samples[name]:
        for place in differentiable_inputs(each) if len(each.inputs) > 1 else []:
            value = each.inputs[place]
            for axis in [axis for axis, n in enumerate(value.shape) if n > 1]:
                inputs = [*each.inputs[:place], np.take(value, [0], axis), *each.inputs[place + 1 :]]
                yield Sample(each.op, inputs, each.params, each.excused)


def result_or_refusal(compute, sample):
    """Return the result for a sample; None if an error that names the operation rejects it."""
    try:
        return compute(sample)
    except (ValueError, TypeError, IndexError, RuntimeError) as error:
        if sample.op.name not in str(error):
            raise
        return None


def call_sample(sample):
    """Return the results of the call, as arrays."""
    inputs = [mg.tensor(value) if hasattr(value, "dtype") else value for value in sample.inputs]
    out = sample.op.call_with(inputs, sample.params)
    return [part.numpy() for part in (out if isinstance(out, tuple) else (out,))]


def results(sample):
    """Return the results of the call, as arrays; None if the call is rejected."""
    return result_or_refusal(call_sample, sample)


@pytest.mark.parametrize("name", samples)
def test_gradients_are_right_along_axes_of_length_one(name):
    held = 0
    for sample in cuts(name, 1):
        found = results(sample)
        if found is None or "the gradient equals differences" in sample.excused:
            continue
        if any(part.dtype.kind in "fc" and np.isnan(part).any() for part in found):
            continue  # the spread of one entry about itself, say, shared out among none
        promises["the gradient equals differences"](sample)
        held += 1
    has_axes = any(True for _ in cuts(name, 1))
    assert (held > 0) == (has_axes and name not in NOT_CUT)


@pytest.mark.parametrize("name", [name for name in samples if name not in NOT_CUT and any(cut_one_input(name))])
def test_an_input_with_an_axis_of_length_one_broadcasts_or_raises(name):
    refused = compared = 0
    for sample in cut_one_input(name):
        if result_or_refusal(gradients, sample) is None:
            refused += 1
        elif "the gradient equals differences" not in sample.excused:
            promises["the gradient equals differences"](sample)
            compared += 1
    broadcasts = samples[name][0].op.kind == "elementwise"
    assert compared if broadcasts else compared or refused


@pytest.mark.parametrize("name", [name for name in samples if name not in NO_WAY_BACK])
def test_empty_inputs_give_a_result_or_an_error_and_right_shapes(name):
    for sample in cuts(name, 0):
        found = results(sample)
        if found is None or sample.op.outputs == ("parts",):
            continue  # no parts at all: there is nothing to go back from
        for gradient, place in zip(gradients(sample), differentiable_inputs(sample), strict=True):
            assert gradient.shape == sample.inputs[place].shape, str(sample)


def test_of_nothing_the_exponentials_add_up_to_nothing():
    nothing = mg.tensor(np.zeros((2, 0)), requires_grad=True)
    assert mg.logsumexp(nothing, axis=1).tolist() == [-np.inf, -np.inf]
    query, none = np.ones((3, 2)), np.ones((0, 2))
    assert mg.scaled_dot_product_attention(query, none, none).tolist() == np.zeros((3, 2)).tolist()


@pytest.mark.parametrize("call", [mg.softmax, mg.log_softmax, F.softmin, F.gumbel_softmax])
def test_softmax_of_an_empty_array_keeps_its_shape(call):
    for shape, axis in (((2, 0), 1), ((0, 3), 0), ((2, 0, 3), -2)):
        word = {"axis" if call in (mg.softmax, mg.log_softmax) else "dim": axis}
        nothing = mg.tensor(np.zeros(shape), requires_grad=True)
        with mg.record() as trace:
            out = call(nothing, **word)
            out.sum().backward()
        assert out.shape == nothing.grad.shape == shape
        assert len(mg.load_trace(trace.to_json())) == len(trace) >= 2
        with mg.unfuse():
            assert call(nothing, **word).shape == shape
        assert mg.jvp(partial(call, **word), (np.zeros(shape),), (np.ones(shape),))[1].shape == shape
        with pytest.raises(IndexError, match="axis 3 is out of range"):
            call(nothing, **dict.fromkeys(word, 3))


def test_a_batch_without_images_goes_through_a_network_and_back():
    images, kernel = np.zeros((0, 3, 6, 6)), mg.tensor(np.ones((4, 3, 3, 3)), requires_grad=True)
    pooled = mg.avg_pool2d(mg.max_pool2d(mg.conv2d(images, kernel), kernel_size=(2, 2), stride=(2, 2)),
                           kernel_size=(2, 2), stride=(1, 1))  # fmt: skip
    assert pooled.shape == (0, 4, 1, 1)
    pooled.sum().backward()
    assert not kernel.grad.numpy().any()


def test_take_along_axis_broadcasts_indices_and_gradients():
    x = np.arange(12.0).reshape(3, 4) ** 1.5
    for indices in ([[0, 2, 2]], [[3], [1], [1]], [[1]]):
        place = np.array(indices)
        assert mg.take_along_axis(x, place, axis=1).tolist() == np.take_along_axis(x, place, axis=1).tolist()
        assert mg.gradcheck(lambda x, place=place: mg.take_along_axis(x, place, axis=1), [x])
    assert mg.gradcheck(lambda x: mg.take_along_axis(x, np.array([[0, 2], [1, 1]]), axis=1), [x[:1]])


def test_a_smaller_index_scatters_into_the_corner():
    x, source, index = np.zeros((3, 4)), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1, 1], [0, 3]])
    found = mg.scatter_add(x, 1, index, source)
    assert found.tolist() == [[0, 3, 0, 0], [3, 0, 0, 4], [0, 0, 0, 0]]
    assert mg.gradcheck(lambda x, source: mg.scatter_add(x, 1, index, source), [x, source])


def test_nan_propagates():
    x = np.array([[1.0, np.nan, 3.0], [2.0, 1.0, np.inf]])
    assert mg.cummax(x).tolist()[1] == [2, 2, np.inf]
    assert np.isnan(mg.cummax(x).numpy()[0, 1:]).all()
    assert mg.ops.cummax_with_indices(mg.tensor(x))[1].tolist() == [[0, 1, 1], [0, 0, 2]]
    square = mg.tensor([[1.0, np.nan], [0.5, 2.0]], requires_grad=True)
    mg.linalg.det(mg.stack([square, np.eye(2)])).sum().backward()
    assert np.isnan(square.grad.numpy()).all()


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: mg.fold(np.ones((1, 4, 1)), output_size=(1, 1), kernel_size=(2, 2)),
     r"fold.*a window of \(2, 2\) \(dilation \(1, 1\)\) is larger than the image \(1, 1\) with padding \(0, 0\)"),
    (lambda: mg.ops.put_diagonal(np.ones(1), shape=(3, 3)), r"x must have the shape of that diagonal, \(3,\)"),
    (lambda: mg.ops.undiag(np.ones((2, 2)), shape=(3,), k=1), r"x must have the shape of what diag makes of \(3,\)"),
    (lambda: mg.softmax_cross_entropy(np.ones((3, 4)), np.ones((3, 1))),
     r"softmax_cross_entropy.*the shapes \(3, 1\) and \(3, 4\) must be equal"),
    (lambda: mg.ops.mean_class_cross_entropy(np.ones((1, 4)), np.array([0, 1])),
     r"cannot reshape array of size 2 into shape \(1,1\); Shapes: logits \(rows, classes\), classes \(rows,\)"),
    (lambda: mg.rnn(np.ones((4, 3)), np.ones(3)), r"rnn.*weight must be as wide as the states, \(3, 3\); .* \(3,\)"),
    (lambda: mg.gated_recurrence(np.ones((4, 3)), np.ones((1, 4, 3)), np.eye(3)),
     r"gated_recurrence.*gate and drive must have one shape; theirs are \(4, 3\) and \(1, 4, 3\)"),
])  # fmt: skip
def test_an_error_says_which_shape_would_do(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Integers ---------------------------------------------------------------------------------------------------------


REFUSE_WHOLE_NUMBERS = {
    "power": "whole numbers to a negative power are not whole any more",
    "rnn": "states that are whole numbers have no tanh",
}
"""Operations that have no answer among whole numbers, and say so."""


@pytest.mark.parametrize("name", sorted(samples.keys() - {"pad"}))  # which cuts off a fraction, as NumPy's does
def test_integers_give_the_same_results_as_equal_floats(name):
    for sample in samples[name]:
        fractions = [i for i, x in enumerate(sample.inputs) if hasattr(x, "dtype") and x.dtype.kind == "f"]
        for places in [fractions, *([i] for i in fractions)] if fractions else ():
            whole = {i: np.where(abs(sample.inputs[i]) < 0.25, 1, np.round(2 * sample.inputs[i])) for i in places}
            inputs = [whole.get(i, x) for i, x in enumerate(sample.inputs)]
            try:
                got = run(sample, [x.astype(int) if i in places else x for i, x in enumerate(inputs)])
            except (TypeError, ValueError):
                assert name in REFUSE_WHOLE_NUMBERS
                continue
            expected = run(sample, inputs)
            for one, other in zip(expected, got, strict=True) if isinstance(got, tuple) else [(expected, got)]:
                assert_equal(one.numpy(), other.numpy(), f"{sample} of whole numbers at {places}")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: mg.median(mg.tensor([1, 2])), 1.5),
        (lambda: mg.quantile(mg.tensor([[1, 2, 4]]), 0.75, axis=1), [3.0]),
        (lambda: F.interpolate(mg.tensor([[[[1, 3]]]]), size=(1, 3), mode="bilinear"), [[[[1.0, 2.0, 3.0]]]]),
        (lambda: F.interpolate(mg.tensor([[[[1, 3]]]]), size=(1, 3)).astype(int), [[[[1, 1, 3]]]]),
        (lambda: F.adaptive_avg_pool2d(mg.tensor([[[[1, 2], [3, 4]]]]), 1), [[[[2.5]]]]),
        (lambda: mg.linalg.expm(mg.tensor([[0, 8], [0, 0]])), [[1.0, 8.0], [0.0, 1.0]]),
        (lambda: mg.max(F.dropout(mg.tensor([7] * 50), 0.3)), 10.0),
        (lambda: F.cross_entropy(mg.tensor([[0, 0], [0, 0]]), [0, 1], mg.tensor([0.5, 0.5])), np.log(2)),
    ],
)
def test_a_fraction_of_whole_numbers_is_not_cut_off(call, expected):
    assert np.allclose(call().numpy(), expected)
