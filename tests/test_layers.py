"""Layers over lines, volumes and channels: values by hand. Of all further layers: devices, edges, errors."""

import inspect

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus import nn
from micrograd_plus.backends import devices

F = nn.functional


def leaf(*shape):
    """Return a leaf of consecutive integers."""
    return mg.tensor(np.arange(float(np.prod(shape))).reshape(shape), requires_grad=True)


def gradient(f, *values):
    """Return the gradient of a sum, as lists."""
    leaves = [mg.tensor(value, requires_grad=True) for value in values]
    f(*leaves).sum().backward()
    return [each.grad.tolist() for each in leaves]


# Windows --------------------------------------------------------------------------------------------------------------


def test_conv1d_does_not_reverse_the_kernel():
    line, kernel = mg.tensor([[[0.0, 0.0, 1.0, 0.0, 0.0]]]), mg.tensor([[[1.0, 2.0, 3.0]]])
    assert F.conv1d(line, kernel).tolist() == [[[3.0, 2.0, 1.0]]]


def test_a_transposed_convolution_places_the_kernel_at_the_entry():
    line, kernel = mg.tensor([[[1.0, 10.0]]]), mg.tensor([[[1.0, 2.0, 3.0]]])
    assert F.conv_transpose1d(line, kernel).tolist() == [[[1.0, 12.0, 23.0, 30.0]]]
    assert F.conv_transpose1d(line, kernel, stride=2).tolist() == [[[1.0, 2.0, 13.0, 20.0, 30.0]]]
    assert F.conv_transpose1d(line, kernel, stride=2, padding=1, output_padding=1).shape == (1, 1, 4)


def test_conv_transpose_is_the_adjoint_of_the_convolution():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 7, 6)), rng.normal(size=(2, 4, 4, 2))
    weight, settings = rng.normal(size=(4, 3, 3, 2)), {"stride": (2, 3), "padding": 1, "dilation": (1, 2)}
    there = F.conv2d(mg.tensor(x), mg.tensor(weight), **settings)
    back = F.conv_transpose2d(mg.tensor(y), mg.tensor(weight), output_padding=(0, 2), **settings)
    assert back.shape == x.shape
    np.testing.assert_allclose((there.numpy() * y).sum(), (back.numpy() * x).sum())


def test_fold_returns_columns_to_their_positions():
    rng = np.random.default_rng(0)
    windows = {"kernel_size": 2, "stride": 2, "padding": 1, "dilation": 2}
    x = rng.normal(size=(1, 1, 4, 4))
    columns = F.unfold(mg.tensor(x), **windows)
    y = rng.normal(size=columns.shape)
    folded = F.fold(mg.tensor(y), output_size=4, **windows)
    np.testing.assert_allclose((columns.numpy() * y).sum(), (folded.numpy() * x).sum())


def test_a_volume_of_one_slice_is_an_image():
    rng = np.random.default_rng(0)
    x, weight = mg.tensor(rng.normal(size=(2, 3, 1, 5, 4))), mg.tensor(rng.normal(size=(4, 3, 1, 2, 3)))
    flat = F.conv2d(mg.squeeze(x, axis=2), mg.squeeze(weight, axis=2), padding=1)
    np.testing.assert_allclose(F.conv3d(x, weight, padding=(0, 1, 1)).numpy()[:, :, 0], flat.numpy())


def test_max_pooling_chooses_the_first_of_equal_entries():
    assert gradient(lambda x: F.max_pool1d(x, 2, stride=1), [[[2.0, 2.0, 2.0]]]) == [[[[1.0, 1.0, 0.0]]]]


def test_max_pooling_never_returns_padding():
    assert F.max_pool1d(mg.tensor([[[-1.0, -2.0]]]), 2, padding=1).tolist() == [[[-1.0, -2.0]]]


def test_average_pooling_counts_padding_by_default():
    x = mg.tensor([[[3.0, 6.0]]])
    assert F.avg_pool1d(x, 3, stride=1, padding=1).tolist() == [[[3.0, 3.0]]]
    assert F.avg_pool1d(x, 3, stride=1, padding=1, count_include_pad=False).tolist() == [[[4.5, 4.5]]]


def test_a_window_past_the_end_averages_its_own_entries():
    x = [[[5.0, -1.0, -3.0]]]
    assert F.max_pool1d(mg.tensor(x), 2, ceil_mode=True).tolist() == [[[5.0, -3.0]]]
    assert F.avg_pool1d(mg.tensor(x), 2, ceil_mode=True).tolist() == [[[2.0, -3.0]]]
    assert gradient(lambda x: F.avg_pool1d(x, 2, ceil_mode=True), x) == [[[[0.5, 0.5, 1.0]]]]
    # The border in front is counted, or not; behind, the window begins in the border and is none.
    padded = mg.tensor([[[4.0, 4.0, 4.0]]])
    assert F.avg_pool1d(padded, 2, padding=1, ceil_mode=True).tolist() == [[[2.0, 4.0]]]
    assert F.avg_pool1d(padded, 2, padding=1, ceil_mode=True, count_include_pad=False).tolist() == [[[4.0, 4.0]]]
    assert F.max_pool1d(mg.tensor(x, dtype="float32"), 2, ceil_mode=True).dtype == np.float32


@pytest.mark.parametrize("length", [5, 6, 7])
@pytest.mark.parametrize("count_include_pad", [True, False])
def test_a_window_past_the_end_counts_only_padding_inside(length, count_include_pad):
    x = np.arange(1.0, length + 1)
    settings = {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": count_include_pad}
    line = F.avg_pool1d(mg.tensor(x[None, None]), 3, **settings).numpy()[0, 0]
    expected = []
    for start in range(-1, length, 2):
        inside = x[max(start, 0) : start + 3]
        counted = min(start + 3, length + 1) - start
        expected.append(inside.sum() / (counted if count_include_pad else inside.size))
    np.testing.assert_allclose(line, expected)
    image = F.avg_pool2d(mg.tensor(np.multiply.outer(x, x)[None, None]), 3, **settings).numpy()[0, 0]
    np.testing.assert_allclose(image, np.multiply.outer(expected, expected))


def test_adaptive_windows_overlap_if_lengths_do_not_divide():
    x = mg.tensor([[[0.0, 1.0, 2.0, 3.0, 4.0]]])
    assert F.adaptive_avg_pool1d(x, 2).tolist() == [[[1.0, 3.0]]]
    assert F.adaptive_avg_pool2d(x[None], None).tolist() == x[None].tolist()
    assert gradient(lambda x: F.adaptive_avg_pool1d(x, 2), x.numpy())[0][0][0] == pytest.approx(
        [1 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 3]
    )


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Flatten(-3, -2), (6, 8)), (nn.Flatten(1, 1), (2, 3, 8)), (nn.Flatten(0), (48,)),
        (nn.Unflatten(-1, (2, -1)), (2, 3, 2, 4)), (nn.Unflatten(-3, (2, 1)), (2, 1, 3, 8)),
    ],
)  # fmt: skip
def test_flatten_and_unflatten_accept_negative_axes(layer, shape):
    x = mg.tensor(np.arange(48.0).reshape(2, 3, 8))
    assert layer(x).tolist() == x.numpy().reshape(shape).tolist()


# Resizing -------------------------------------------------------------------------------------------------------------


def test_nearest_upsampling_adds_gradients_of_all_copies():
    x = [[[[1.0, 2.0]]]]
    assert F.interpolate(mg.tensor(x), scale_factor=(1, 2)).tolist() == [[[[1.0, 1.0, 2.0, 2.0]]]]
    assert gradient(lambda x: F.interpolate(x, scale_factor=(1, 2)), x) == [[[[[2.0, 2.0]]]]]


def test_bilinear_upsampling_is_linear_between_entries():
    x = mg.tensor([[[[0.0, 4.0]]]])
    assert F.interpolate(x, (1, 4), mode="bilinear").tolist() == [[[[0.0, 1.0, 3.0, 4.0]]]]
    corners = F.interpolate(x, (1, 5), mode="bilinear", align_corners=True)
    assert corners.tolist() == [[[[0.0, 1.0, 2.0, 3.0, 4.0]]]]


def test_upsampling_spreads_nan_only_to_neighbours():
    x = mg.tensor([[[np.nan, 1.0, 2.0, 3.0]]])
    assert np.isnan(F.adaptive_avg_pool1d(x, 2).numpy()).tolist() == [[[True, False]]]


def test_shuffled_pixels_come_from_neighbouring_channels():
    x = mg.tensor(np.arange(4.0).reshape(1, 4, 1, 1))
    assert F.pixel_shuffle(x, 2).tolist() == [[[[0.0, 1.0], [2.0, 3.0]]]]
    assert F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).tolist() == x.tolist()


# Normalisation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("normalise", "over"), [
    (mg.batch_norm, (0, 2, 3)), (mg.instance_norm, (2, 3)),
    (mg.layer_norm, (3,)),
])  # fmt: skip
def test_normalisation_removes_its_directions_from_the_gradient(normalise, over):
    rng = np.random.default_rng(0)
    x = mg.tensor(rng.normal(size=(3, 2, 4, 5)), requires_grad=True)
    (normalise(x) * mg.tensor(rng.normal(size=x.shape))).sum().backward()
    np.testing.assert_allclose(x.grad.numpy().sum(axis=over), 0, atol=1e-9)
    distance = x.numpy() - x.numpy().mean(axis=over, keepdims=True)
    np.testing.assert_allclose((x.grad.numpy() * distance).sum(axis=over), 0, atol=1e-3)


def test_batch_norm_couples_examples_only_in_training():
    layer, x = nn.BatchNorm1d(1), mg.tensor([[0.0], [1.0], [5.0]])
    jacobian = mg.jacobian(layer.forward)(x).numpy()[:, 0, :, 0]
    assert (abs(jacobian) > 1e-3).all()
    layer.eval()
    jacobian = mg.jacobian(layer.forward)(x).numpy()[:, 0, :, 0]
    assert np.count_nonzero(jacobian) == 3
    assert (np.diag(jacobian) > 0).all()


def test_running_statistics_are_buffers_outside_the_graph():
    layer = nn.BatchNorm1d(2)
    layer(mg.tensor([[1.0, 2.0], [3.0, 8.0]], requires_grad=True)).sum().backward()
    assert [name for name, _ in layer.named_buffers()] == ["running_mean", "running_var", "num_batches_tracked"]
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert layer.running_mean.is_leaf
    assert not layer.running_mean.requires_grad
    np.testing.assert_allclose(layer.running_mean.numpy(), [0.2, 0.5])
    np.testing.assert_allclose(layer.running_var.numpy(), [0.9 + 0.1 * 2, 0.9 + 0.1 * 18])
    assert layer.num_batches_tracked.item() == 1


@pytest.mark.parametrize("make", [nn.BatchNorm1d, nn.InstanceNorm1d])
def test_normalisation_layers_use_the_given_eps(make):
    x, layer = np.array([[[1.0, 3.0]], [[1.0, 3.0]]]), make(1, eps=3.0, track_running_stats=True)
    assert layer(mg.tensor(x)).tolist() == [[[-0.5, 0.5]]] * 2
    layer.running_mean.assign([2.0])
    layer.running_var.assign([1.0])
    assert layer.eval()(mg.tensor(x)).tolist() == [[[-0.5, 0.5]]] * 2


def test_a_checkpoint_updates_instance_statistics_once():
    x = np.random.default_rng(0).normal(size=(3, 2, 4))
    plain, saved = (nn.InstanceNorm1d(2, track_running_stats=True) for _ in range(2))
    plain(mg.tensor(x))
    mg.checkpoint(saved, nn.Parameter(x)).sum().backward()
    assert saved.running_mean.tolist() == plain.running_mean.tolist()


@pytest.mark.parametrize("make", [nn.BatchNorm1d, nn.InstanceNorm1d])
def test_without_running_statistics_eval_uses_the_batch(make):
    layer = make(1, affine=True, track_running_stats=False)
    for training in (True, False):
        out = layer.train(training)(mg.tensor([[[1.0, 3.0]]]))
        np.testing.assert_allclose(out.numpy(), [[[-1.0, 1.0]]], atol=1e-4)
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_batches_are_counted_only_in_training():
    layer = nn.BatchNorm1d(1, dtype="float32")
    for training in (True, False, True):
        layer.train(training)(mg.tensor([[1.0], [3.0]], dtype="float32"))
    assert layer.num_batches_tracked.item() == 2
    assert layer.running_mean.dtype == layer.running_var.dtype == np.float32
    assert nn.BatchNorm1d(1).running_mean.dtype == np.float64


def test_recurrent_parameters_start_within_their_bound():
    for layer in (nn.GRU(3, 64), nn.GRUCell(3, 64)):
        weights = np.concatenate([parameter.numpy().ravel() for parameter in layer.parameters()])
        assert -0.125 < weights.min() < -0.124
        assert 0.124 < weights.max() < 0.125


@pytest.mark.parametrize("make", [nn.MaxPool1d, nn.AvgPool1d])
def test_the_stride_of_pooling_defaults_to_the_kernel(make):
    x = mg.tensor(np.zeros((1, 1, 6)))
    assert [make(2)(x).shape[2], make(2, stride=1)(x).shape[2]] == [3, 5]


def test_group_norm_generalises_layer_and_instance_norm():
    rng = np.random.default_rng(0)
    x = mg.tensor(rng.normal(size=(2, 6, 4)))
    np.testing.assert_allclose(mg.group_norm(x, num_groups=6).numpy(), mg.instance_norm(x).numpy())
    np.testing.assert_allclose(mg.group_norm(x).numpy(), mg.layer_norm(x, axes=2).numpy())


def test_a_row_of_zeros_stays_finite():
    assert mg.rms_norm(mg.tensor([[0.0, 0.0]])).tolist() == [[0.0, 0.0]]
    (received,) = gradient(lambda x: mg.rms_norm(x, eps=1e-4), [[0.0, 0.0]])
    np.testing.assert_allclose(received, [[100.0, 100.0]])


# Devices --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def device():
    """Return a device whose arrays cannot be read."""
    yield devices.add_device("stand-in", stand_in.library).name
    del devices._devices["stand-in"]


@pytest.mark.parametrize(("make", "shape"), [
    (lambda **place: nn.BatchNorm1d(3, **place), (4, 3)), (lambda **place: nn.LSTM(3, 2, 2, **place), (4, 1, 3)),
    (lambda **place: nn.RNN(3, 2, bidirectional=True, **place), (4, 3)),
    (lambda **place: nn.GRUCell(3, 2, **place), (4, 3)),
    (lambda **place: nn.Conv1d(3, 2, 2, padding="same", **place), (1, 3, 5)),
    (lambda **place: nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0, **place), (3, 1, 4)),
    (lambda **place: nn.ConvTranspose1d(3, 2, 2, stride=2, output_padding=1, **place), (1, 3, 5)),
    (lambda **place: nn.InstanceNorm1d(3, affine=True, track_running_stats=True, **place), (2, 3, 5)),
    (lambda **place: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 5, 0.0, **place), 2), (3, 1, 4)),
    (lambda **place: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 1, 2, 3)),
    (lambda **place: nn.Dropout2d(0.5, rng=np.random.default_rng(2)), (3, 4, 2, 2)),
    (lambda **place: nn.AvgPool2d(2, ceil_mode=True), (1, 2, 3, 5)),
    (lambda **place: nn.MaxPool2d(2, ceil_mode=True), (1, 2, 3, 5)),
])  # fmt: skip
def test_layers_on_a_device_copy_nothing_to_the_cpu(device, make, shape):
    mg.random.seed(0)
    there = make(device=device)
    here = make()
    here.load_state_dict({name: value.numpy() for name, value in there.state_dict().items()})
    x = np.random.default_rng(0).normal(size=shape)
    inputs = [mg.tensor(x, requires_grad=True, device=device), mg.tensor(x, requires_grad=True)]
    stand_in.copies.clear()
    outs = [layer(each) for layer, each in zip((there, here), inputs, strict=True)]
    outs = [out[0] if isinstance(out, tuple) else out for out in outs]
    for out in outs:
        (out * out).sum().backward()
    assert not stand_in.copies
    np.testing.assert_allclose(outs[0].numpy(), outs[1].numpy())
    np.testing.assert_allclose(inputs[0].grad.numpy(), inputs[1].grad.numpy())


LAYERS = [
    lambda **how: nn.Linear(3, 2, **how), lambda **how: nn.Embedding(3, 2, **how),
    lambda **how: nn.Conv2d(3, 2, 2, **how), lambda **how: nn.ConvTranspose2d(3, 2, 2, **how),
    lambda **how: nn.RNN(3, 2, **how), lambda **how: nn.LSTM(3, 2, 2, **how), lambda **how: nn.GRUCell(3, 2, **how),
    lambda **how: nn.RNNCell(3, 2, **how), lambda **how: nn.MultiheadAttention(4, 2, **how),
    lambda **how: nn.MultiheadAttention(4, 2, kdim=3, **how), lambda **how: nn.TransformerEncoderLayer(4, 2, 5, **how),
]  # fmt: skip


@pytest.mark.parametrize("make", LAYERS)
def test_a_layer_draws_from_its_rng_in_one_precision(make):
    first, second = (make(rng=np.random.default_rng(1), dtype="float32") for _ in range(2))
    assert [p.tolist() for p in first.parameters()] == [p.tolist() for p in second.parameters()]
    assert {str(p.dtype) for p in first.parameters()} == {"float32"}
    assert {str(p.dtype) for p in make().parameters()} == {"float64"}


# Edges and errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    lambda x: mg.ops.batch_norm_inference(x, mg.tensor([0.0, 0.0]), mg.tensor([1.0, 1.0])),
    lambda x: mg.swiglu(x, x), mg.rms_norm,
    lambda x: mg.rnn(x, mg.tensor(np.eye(2))), mg.ops.masked_softmax,
])  # fmt: skip
def test_layers_accept_empty_batches(f):
    x = mg.tensor(np.zeros((0, 2)), requires_grad=True)
    out = f(x)
    assert out.shape == (0, 2)
    out.sum().backward()
    assert x.grad.shape == (0, 2)


LINE, IMAGE = (1, 2, 5), (1, 2, 4, 4)


@pytest.mark.parametrize(("call", "kind", "parts"), [
    (lambda: F.conv1d(leaf(*IMAGE), leaf(3, 2, 2)), ValueError, ("conv1d", "(1, 2, 4, 4)", "length")),
    (lambda: F.conv1d(leaf(*LINE), leaf(3, 1, 2)), ValueError, ("(3, 1, 2)", "groups=1", "out channels")),
    (lambda: F.conv1d(leaf(*LINE), leaf(3, 2, 6)), ValueError, ("window of (6,)", "larger", "(5,)")),
    (lambda: F.conv1d(leaf(*LINE), leaf(3, 2, 2), stride=(1, 2)), ValueError, ("stride", "one number", "(1, 2)")),
    (lambda: F.conv1d(leaf(*LINE), leaf(3, 2, 2), stride=0), ValueError, ("stride", "at least 1", "got 0")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), padding=-1), ValueError, ("padding", "at least 0", "got -1")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), dilation=0), ValueError, ("dilation", "at least 1", "got 0")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), groups=0), ValueError, ("groups=0", "(3, 2, 2, 2)")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 1, 2, 2), groups=2), ValueError, ("groups=2", "(3, 1, 2, 2)")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2)), ValueError, ("(3, 2, 2)", "(out channels, 2 / 1, kernel)")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), leaf(1)), ValueError, ("bias", "(1,)", "3 channels")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), padding="same", stride=0), ValueError, ("stride", "got 0")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 2, 2), padding="same", dilation=0), ValueError, ("dilation", "got 0")),
    (lambda: F.conv2d(leaf(*IMAGE), leaf(3, 2, 5, 2)), ValueError, ("conv2d", "window of (5, 2)", "larger", "(4, 4)")),
    (lambda: nn.Conv2d(0, 3, 2), ValueError, ("Conv2d", "in_channels", "got 0")),
    (lambda: nn.Conv2d(2, 0, 3), ValueError, ("Conv2d", "out_channels", "got 0")),
    (lambda: nn.Conv2d(4, 3, 2, groups=2), ValueError, ("4 and 3 channels", "2 equal groups")),
    (lambda: nn.Conv2d(4, 4, 2, groups=0), ValueError, ("4 and 4 channels", "0 equal groups")),
    (lambda: nn.Conv2d(2, 3, 0), ValueError, ("Conv2d: kernel_size", "at least 1", "got 0")),
    (lambda: nn.Conv2d(2, 3, 2, stride=0), ValueError, ("Conv2d: stride", "at least 1", "got 0")),
    (lambda: nn.Conv1d(2, 3, 2, dilation=0), ValueError, ("Conv1d: dilation", "at least 1", "got 0")),
    (lambda: nn.ConvTranspose2d(2, 3, 2, padding="same"), ValueError, ("ConvTranspose2d: padding", "'same'")),
    (lambda: nn.Conv2d(2, 3, 2, padding="some"), ValueError, ("Conv2d", "'valid' or 'same'", "'some'")),
    (lambda: nn.Conv3d(2, 3, 2, padding=(1, 1)), ValueError, ("padding", "depth, height, width", "(1, 1)")),
    (lambda: nn.ConvTranspose1d(4, 2, 2, groups=3), ValueError, ("ConvTranspose1d", "4 and 2", "3 equal groups")),
    (lambda: F.conv3d(leaf(1, 2, 3, 3, 3), leaf(3, 2, 2, 2, 2), stride=2, padding="same"), ValueError,
     ("conv3d", "stride must be 1")),
    (lambda: F.conv_transpose2d(leaf(*IMAGE), leaf(3, 2, 2, 2)), ValueError, ("(3, 2, 2, 2)", "(2, out channels")),
    (lambda: F.conv_transpose2d(leaf(2, 4), leaf(2, 3, 2, 2)), ValueError, ("(2, 4)", "height, width")),
    (lambda: F.conv_transpose2d(leaf(*IMAGE), leaf(2, 3, 2)), ValueError, ("weight has shape (2, 3, 2)", "kernel")),
    (lambda: F.conv_transpose2d(leaf(*IMAGE), leaf(2, 3, 2, 2), groups=0), ValueError, ("groups=0", "(2, 3, 2, 2)")),
    (lambda: F.conv_transpose2d(leaf(1, 3, 4, 4), leaf(3, 1, 2, 2), groups=2), ValueError, ("3 a multiple of groups",)),
    (lambda: F.conv_transpose2d(leaf(*IMAGE), leaf(2, 3, 2, 2), leaf(1)), ValueError, ("bias", "(1,)", "3 channels")),
    *[(lambda name=name, least=least: F.conv_transpose2d(leaf(*IMAGE), leaf(2, 3, 2, 2), **{name: least - 1}),
       ValueError, (name, f"at least {least}"))
      for name, least in (("stride", 1), ("dilation", 1), ("padding", 0), ("output_padding", 0))],
    *[(lambda name=name, least=least: F.fold(leaf(1, 8, 9), **{"output_size": 4, "kernel_size": 2, name: least - 1}),
       ValueError, ("fold", name, f"at least {least}"))
      for name, least in (("output_size", 1), ("kernel_size", 1), ("stride", 1), ("dilation", 1), ("padding", 0))],
    (lambda: F.fold(leaf(8, 9), 4, 2), ValueError, ("(8, 9)", "channels * 4, 9")),
    (lambda: F.fold(leaf(1, 7, 9), 4, 2), ValueError, ("(1, 7, 9)", "channels * 4, 9")),
    (lambda: F.unfold(leaf(*IMAGE), 0), ValueError, ("unfold", "kernel_size", "at least 1")),
    (lambda: F.conv_transpose2d(leaf(*IMAGE), leaf(2, 3, 2, 2), output_padding=1), ValueError,
     ("output_padding 1", "smaller than stride 1")),
    *[(lambda pool=pool: pool(leaf(*LINE), 2, padding=2), ValueError,
       (pool.__name__, "padding 2 is more than half of the window (2,)"))
      for pool in (F.max_pool1d, F.avg_pool1d)],
    (lambda: F.max_pool1d(leaf(*LINE), 2, stride=0), ValueError, ("max_pool1d", "stride", "at least 1", "got 0")),
    (lambda: F.avg_pool1d(leaf(*LINE), 20, ceil_mode=True, stride=2), ValueError, ("avg_pool1d", "window of (20,)")),
    (lambda: F.max_pool2d(leaf(*IMAGE), 0), ValueError, ("kernel_size", "at least 1", "got 0")),
    (lambda: F.avg_pool2d(leaf(*IMAGE), (2, 5)), ValueError, ("avg_pool2d", "window of (2, 5)", "larger", "(4, 4)")),
    (lambda: F.avg_pool1d(leaf(5), 2), ValueError, ("avg_pool1d", "(5,)", "channels")),
    (lambda: F.adaptive_avg_pool1d(leaf(5), 2), ValueError, ("adaptive_avg_pool1d", "(5,)", "channels")),
    (lambda: F.adaptive_avg_pool2d(leaf(2, 5), 2), ValueError, ("adaptive_avg_pool2d", "(2, 5)", "height, width")),
    (lambda: F.interpolate(leaf(*IMAGE), 3, mode="cubic"), ValueError, ("'bilinear'", "'cubic'")),
    (lambda: F.interpolate(leaf(*IMAGE)), ValueError, ("either size or scale_factor",)),
    (lambda: F.interpolate(leaf(*IMAGE), 3, align_corners=True), ValueError, ("align_corners", "bilinear")),
    (lambda: mg.ops.resample(leaf(5), length=0), ValueError, ("resample", "length=0", "at least 1")),
    (lambda: mg.ops.resample(leaf(5), length=2, mode="cubic"), ValueError, ("'nearest'", "'average'", "'cubic'")),
    (lambda: F.pixel_shuffle(leaf(1, 6, 2, 2), 2), ValueError, ("6 channels", "2 * 2")),
    (lambda: F.interpolate(leaf(*IMAGE), scale_factor=0), ValueError, ("scale_factor", "positive", "got 0")),
    (lambda: F.interpolate(leaf(2, 3), 3), ValueError, ("interpolate", "(2, 3)", "height, width")),
    (lambda: F.pixel_shuffle(leaf(2, 3), 1), ValueError, ("pixel_shuffle", "(2, 3)", "height, width")),
    (lambda: F.pixel_unshuffle(leaf(2, 3), 1), ValueError, ("pixel_unshuffle", "(2, 3)", "height, width")),
    (lambda: F.pixel_shuffle(leaf(1, 6, 2, 2), 0), ValueError, ("6 channels", "0 * 0")),
    (lambda: F.pixel_unshuffle(leaf(1, 1, 4, 4), 0), ValueError, ("(4, 4)", "multiples of 0")),
    (lambda: F.pad(leaf(3), (1, 1, 1, 1)), ValueError, ("a pair (before, after)", "(3,)")),
    (lambda: F.pixel_unshuffle(leaf(1, 1, 3, 4), 2), ValueError, ("(3, 4)", "multiples of 2")),
    (lambda: F.group_norm(leaf(2, 5), 2), ValueError, ("5 channels", "2 equal groups")),
    (lambda: nn.GroupNorm(2, 5), ValueError, ("5 channels", "2 equal groups")),
    (lambda: nn.GroupNorm(0, 5), ValueError, ("GroupNorm", "num_groups", "at least 1", "got 0")),
    (lambda: nn.Flatten(2)(leaf(2, 3)), IndexError, ("flatten", "axis 2", "(2, 3)")),
    (lambda: nn.Flatten(-3)(leaf(2, 3)), IndexError, ("flatten", "axis -3", "(2, 3)")),
    (lambda: nn.Unflatten(-3, (2, 2))(leaf(2, 4)), IndexError, ("Unflatten", "axis -3", "(2, 4)")),
    (lambda: nn.Flatten(2, 1)(leaf(2, 3, 4)), ValueError, ("start_dim 2", "end_dim 1")),
    (lambda: nn.Unflatten(2, (2, 2))(leaf(2, 4)), IndexError, ("Unflatten", "axis 2", "(2, 4)")),
    (lambda: nn.Dropout2d(1.5), ValueError, ("Dropout2d", "between 0 and 1", "1.5")),
    (lambda: F.dropout1d(leaf(2, 3)), ValueError, ("dropout1d", "(2, 3)", "channels, length")),
    (lambda: F.dropout2d(leaf(2, 3)), ValueError, ("dropout2d", "(2, 3)", "height, width")),
    (lambda: F.smooth_l1_loss(leaf(2), leaf(2), beta=-1), ValueError, ("smooth_l1_loss: beta", "got -1")),
    (lambda: F.hinge_embedding_loss(leaf(2), mg.tensor([1, 0])), ValueError, ("every target must be 1 (alike) or -1",)),
    (lambda: F.instance_norm(leaf(3, 2)), ValueError, ("instance_norm", "(3, 2)", "no variance")),
    (lambda: F.rms_norm(leaf(2, 3), 4), ValueError, ("(2, 3)", "(4,)")),
    (lambda: nn.BatchNorm1d(3)(leaf(1, 3)), ValueError, ("batch_norm", "(1, 3)", "no variance")),
    (lambda: nn.BatchNorm1d(3)(leaf(4, 2)), ValueError, ("BatchNorm1d", "(4, 2)", "3 channels")),
    (lambda: nn.InstanceNorm1d(3)(leaf(2, 2, 4)), ValueError, ("InstanceNorm1d", "(2, 2, 4)", "3 channels")),
    (lambda: nn.GroupNorm(2, 0), ValueError, ("GroupNorm", "num_channels", "at least 1", "got 0")),
    (lambda: nn.BatchNorm2d(3)(leaf(2, 3)), ValueError, ("BatchNorm2d", "(2, 3)", "(N, C, H, W)")),
    (lambda: nn.InstanceNorm1d(3)(leaf(2, 3, 1)), ValueError, ("instance_norm", "(2, 3, 1)", "no variance")),
    (lambda: mg.rope(leaf(2, 3), leaf(2, 2)), ValueError, ("2 angles", "4 features", "x has 3")),
    (lambda: mg.attention(leaf(4, 2, 2), leaf(3, 2, 2), leaf(3, 2, 2)), ValueError, ("4 heads", "3 of keys")),
    (lambda: mg.attention(leaf(2, 2), leaf(2, 2), leaf(2, 2), window=0), ValueError, ("window must be at least 1",)),
    (lambda: mg.attention(leaf(2, 2), leaf(2, 2), leaf(2, 2), allowed=leaf(2, 2)), TypeError, ("allowed", "float64")),
    (lambda: mg.grouped_matmul(leaf(1, 3), leaf(2, 3, 2), mg.tensor([2])), IndexError, ("expert 2", "from 0 to 1")),
    (lambda: mg.grouped_matmul(leaf(1, 3), leaf(2, 3, 2), mg.tensor([-1])), IndexError, ("expert -1",)),
    (lambda: mg.rnn(leaf(3, 2), leaf(2, 2), nonlinearity="sin"), ValueError, ("'tanh' or 'relu'", "'sin'")),
    (lambda: nn.RNN(2, 3, nonlinearity="sin"), ValueError, ("'tanh' or 'relu'", "'sin'")),
    (lambda: nn.RNNCell(2, 3, nonlinearity="sin"), ValueError, ("RNNCell", "'tanh' or 'relu'", "'sin'")),
    (lambda: nn.RNNCell(0, 3), ValueError, ("RNNCell", "input_size", "got 0")),
    (lambda: nn.LSTM(2, 3)(leaf(4, 1, 3)), ValueError, ("LSTM", "(4, 1, 3)", "batch_first")),
    (lambda: nn.LSTM(2, 3)(leaf(1, 4, 1, 2)), ValueError, ("LSTM", "(1, 4, 1, 2)", "(time, examples, 2)")),
    (lambda: nn.LSTM(2, 3)(leaf(4, 1, 2), (leaf(1, 3), leaf(1, 3))), ValueError,
     ("LSTM must start from 2 state(s) of shape (1, 1, 3)", "got (1, 3), (1, 3)")),
    (lambda: nn.LSTMCell(2, 3)(leaf(4, 2), leaf(2, 3)), ValueError, ("LSTMCell", "2 state(s) of shape (4, 3)", "(3,)")),
    (lambda: nn.LSTMCell(2, 3)(leaf(4, 2), (leaf(1, 3), leaf(1, 3))), ValueError, ("LSTMCell", "(4, 3)", "(1, 3)")),
    (lambda: nn.GRUCell(2, 3)(leaf(4, 2), leaf(1, 3)), ValueError, ("GRUCell", "1 state(s) of shape (4, 3)", "(1, 3)")),
    (lambda: nn.RNNCell(2, 3)(leaf(4, 2), leaf(1, 3)), ValueError, ("RNNCell", "(4, 3)", "(1, 3)")),
    (lambda: nn.RNNCell(2, 0), ValueError, ("RNNCell", "hidden_size", "got 0")),
    (lambda: nn.LSTM(2, 3, dropout=2), ValueError, ("LSTM: dropout", "between 0 and 1", "got 2")),
    (lambda: nn.GRU(2, 0), ValueError, ("GRU", "at least 1")),
    (lambda: nn.GRU(0, 2), ValueError, ("GRU", "input_size", "got 0")),
    (lambda: nn.GRU(2, 2, num_layers=0), ValueError, ("GRU", "num_layers", "got 0")),
    (lambda: nn.LSTM(2, 3)(leaf(0, 1, 2)), ValueError, ("LSTM", "(0, 1, 2)", "no steps")),
    (lambda: nn.BatchNorm1d(0), ValueError, ("BatchNorm1d", "num_features", "got 0")),
    (lambda: nn.Embedding(-1, 3), ValueError, ("Embedding", "num_embeddings", "got -1")),
    (lambda: nn.Embedding(2, 2.5), TypeError, ("Embedding", "embedding_dim", "whole number", "got 2.5")),
    (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, ("Embedding: padding_idx 3", "3 rows")),
    (lambda: nn.Embedding(3, 2, padding_idx=-4), ValueError, ("Embedding: padding_idx -4", "3 rows")),
    (lambda: nn.Embedding.from_pretrained([1.0, 2.0]), ValueError, ("from_pretrained", "(words, width)", "got (2,)")),
    (lambda: nn.MultiheadAttention(4, 2, dropout=-1), ValueError, ("MultiheadAttention: dropout", "got -1")),
    (lambda: nn.MultiheadAttention(0, 2), ValueError, ("MultiheadAttention", "embed_dim", "got 0")),
    (lambda: nn.MultiheadAttention(4, 0), ValueError, ("MultiheadAttention", "num_heads", "got 0")),
    (lambda: nn.MultiheadAttention(4, 2, kdim=0), ValueError, ("MultiheadAttention", "kdim", "got 0")),
    (lambda: nn.MultiheadAttention(4, 2, vdim=0), ValueError, ("MultiheadAttention", "vdim", "got 0")),
    (lambda: nn.MultiheadAttention(4, 2, kdim=3)(leaf(5, 4), leaf(5, 4), leaf(5, 4)), ValueError,
     ("key (5, 4)", "(length, N, 3)")),
    (lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"), ValueError, ("'relu'", "'gelu'", "'sin'")),
])  # fmt: skip
def test_errors_name_the_shapes_that_do_not_match(call, kind, parts):
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


def test_a_recurrent_base_class_names_the_missing_method():
    class Unfinished(nn.RNN.__base__):
        gates = 1

    with pytest.raises(NotImplementedError, match=r"Unfinished has no _along\(x, start, parameters\)"):
        Unfinished(2, 3)(mg.tensor(np.ones((4, 1, 2))))


# Activations are declared once ----------------------------------------------------------------------------------------

SETTINGS = {"Threshold": (0.5, 2.0)}
"""Settings of the modules that have no defaults."""


@pytest.mark.parametrize("name", [name for name in nn.activations.__all__ if name != "PReLU"])
def test_an_activation_module_applies_the_function_it_is_made_of(name):
    module, x = getattr(nn, name)(*SETTINGS.get(name, ())), leaf(2, 4)
    function = getattr(F, module.function.__name__)
    assert module.__doc__.splitlines()[0].lower() in function.__doc__.splitlines()[0].lower()
    settings = [each for each in inspect.signature(function).parameters if each != "input"]
    assert [*inspect.signature(type(module)).parameters] == settings
    assert module(x).tolist() == function(x, *SETTINGS.get(name, ())).tolist()


@pytest.mark.parametrize("name", [name for name in F.nonlinearities.__all__ if hasattr(mg, name)])
def test_an_activation_function_has_the_defaults_of_its_operation(name):
    operation, function = getattr(mg, name), getattr(F, name)
    x = np.linspace(-7.0, 7.0, 9)
    assert function(mg.tensor(x)).tolist() == operation(mg.tensor(x)).tolist()
    ours = [value.default for value in inspect.signature(function).parameters.values()][1:]
    theirs = [value.default for value in inspect.signature(operation).parameters.values()][1:]
    if name != "softplus":                          # the operation has none of PyTorch's settings
        assert [value for value in ours if value is not False] == theirs


def test_a_wrong_setting_of_an_activation_names_the_module():
    with pytest.raises(TypeError, match="ReLU: got an unexpected keyword argument 'slope'"):
        nn.ReLU(slope=0.1)
    with pytest.raises(TypeError, match="Threshold: missing a required argument: 'value'"):
        nn.Threshold(0.5)
