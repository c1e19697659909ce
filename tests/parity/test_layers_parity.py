"""Functions and modules over lines, volumes, channels and sequences, compared with PyTorch in float64.

The operations themselves are compared in `test_ops_parity`, with the words of `layer_words`.
"""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn

pytestmark = pytest.mark.parity

F = nn.functional
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture
def torch():
    import torch as module

    module.manual_seed(5)
    return module


@pytest.fixture
def draw():
    """Return a new generator for each test."""
    return np.random.default_rng(17)


class Pair:
    """The same arrays as leaves of both libraries; integers and booleans do not require gradients."""

    def __init__(self, torch, *arrays):
        self.torch = torch
        wanted = [each is not None and each.dtype.kind == "f" for each in arrays]
        both = list(zip(arrays, wanted, strict=True))
        self.ours = [each if each is None else mg.tensor(each, requires_grad=want) for each, want in both]
        self.theirs = [each if each is None else torch.tensor(each, requires_grad=want) for each, want in both]

    def must_agree(self, ours, theirs, draw):
        """Check that results are equal, and the gradients of the leaves for random upstreams."""
        for mine, other in zip(ours, theirs, strict=True):
            assert mine.shape == tuple(other.shape)
            np.testing.assert_allclose(mine.numpy(), other.numpy(force=True), **CLOSE)
        weights = [draw.normal(size=each.shape) for each in ours]
        sum((each * mg.tensor(weight)).sum() for each, weight in zip(ours, weights, strict=True)).backward()
        total = sum((each * self.torch.tensor(weight)).sum() for each, weight in zip(theirs, weights, strict=True))
        total.backward()
        for mine, other in zip(self.ours, self.theirs, strict=True):
            if mine is not None and mine.requires_grad:
                np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), **CLOSE)


def compare(torch, draw, name, *arrays, **settings):
    """Check that a function gives the same results in both libraries."""
    pair = Pair(torch, *arrays)
    theirs = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    pair.must_agree([getattr(F, name)(*pair.ours, **settings)], [theirs(*pair.theirs, **settings)], draw)


@pytest.mark.parametrize("settings", [
    {}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}, {"padding": "same"},
    {"padding": "same", "dilation": 3}, {"padding": "valid"},
])  # fmt: skip
def test_conv1d_agrees_with_torch(torch, draw, settings):
    weight = draw.normal(size=(6, 4 // settings.get("groups", 1), 2))
    compare(torch, draw, "conv1d", draw.normal(size=(2, 4, 7)), weight, draw.normal(size=6), **settings)


@pytest.mark.parametrize("settings", [
    {}, {"stride": (1, 2, 1), "padding": (1, 0, 2)}, {"dilation": (1, 2, 1), "groups": 2}, {"padding": "same"},
])  # fmt: skip
def test_conv3d_agrees_with_torch(torch, draw, settings):
    weight = draw.normal(size=(2, 4 // settings.get("groups", 1), 2, 3, 2))
    compare(torch, draw, "conv3d", draw.normal(size=(2, 4, 4, 5, 3)), weight, draw.normal(size=2), **settings)


@pytest.mark.parametrize("settings", [
    {}, {"stride": 2}, {"stride": 3, "padding": 1, "output_padding": 2}, {"groups": 2, "dilation": 2},
])  # fmt: skip
def test_transposed_convolutions_agree_with_torch(torch, draw, settings):
    line, image = draw.normal(size=(2, 4, 5)), draw.normal(size=(2, 4, 3, 5))
    compare(torch, draw, "conv_transpose1d", line, draw.normal(size=(4, 3, 3)), None, **settings)
    bias = draw.normal(size=3 * settings.get("groups", 1))
    compare(torch, draw, "conv_transpose2d", image, draw.normal(size=(4, 3, 3, 2)), bias, **settings)


@pytest.mark.parametrize("settings", [
    {"kernel_size": 2}, {"kernel_size": 3, "stride": 1}, {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "ceil_mode": True}, {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
    {"kernel_size": 9, "stride": 2, "ceil_mode": True}, {"kernel_size": 4, "stride": 3, "ceil_mode": True},
])  # fmt: skip
def test_pooling_of_lines_agrees_with_torch(torch, draw, settings):
    line = draw.normal(size=(2, 3, 8))
    compare(torch, draw, "max_pool1d", line, **settings)
    compare(torch, draw, "avg_pool1d", line, **settings)
    compare(torch, draw, "avg_pool1d", line, count_include_pad=False, **settings)


@pytest.mark.parametrize("size", [1, 3, (2, 5), (7, 9), (None, 2)])
def test_adaptive_means_agree_with_torch(torch, draw, size):
    compare(torch, draw, "adaptive_avg_pool2d", draw.normal(size=(2, 3, 5, 7)), output_size=size)


@pytest.mark.parametrize("settings", [
    {"size": (3, 9)}, {"size": 4}, {"scale_factor": 2}, {"scale_factor": (0.7, 1.6)},
    {"size": (3, 9), "mode": "bilinear"}, {"size": (1, 1), "mode": "bilinear", "align_corners": True},
    {"size": (8, 3), "mode": "bilinear", "align_corners": True}, {"scale_factor": 2, "mode": "bilinear"},
    {"scale_factor": (0.6, 2.3), "mode": "bilinear"},
])  # fmt: skip
def test_interpolate_agrees_with_torch(torch, draw, settings):
    compare(torch, draw, "interpolate", draw.normal(size=(2, 3, 5, 7)), **settings)


def test_pixels_are_shuffled_as_in_torch(torch, draw):
    compare(torch, draw, "pixel_shuffle", draw.normal(size=(2, 18, 3, 4)), upscale_factor=3)
    compare(torch, draw, "pixel_unshuffle", draw.normal(size=(2, 3, 4, 6)), downscale_factor=2)


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_rms_norm_agrees_with_torch(torch, draw, eps):
    compare(torch, draw, "rms_norm", draw.normal(size=(2, 3, 4)), normalized_shape=(3, 4), eps=eps)


# Modules --------------------------------------------------------------------------------------------------------------


def twins(torch, name, *args, **settings):
    """Return one module of each library with the same values, which PyTorch drew."""
    theirs = getattr(torch.nn, name)(*args, dtype=torch.float64, **settings)
    with torch.no_grad():
        for each in theirs.parameters():
            each.add_(torch.randn(each.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 0.3)
    ours = getattr(nn, name)(*args, **settings)
    ours.load_state_dict({key: value.numpy() for key, value in theirs.state_dict().items()})
    return ours, theirs


def modules_agree(torch, draw, ours, theirs, *arrays, **settings):
    """Check that two modules have the same results and gradients."""
    pair = Pair(torch, *arrays)
    mine, others = ours(*pair.ours, **settings), theirs(*pair.theirs, **settings)
    pair.must_agree(*[[each] if hasattr(each, "shape") else flat(each) for each in (mine, others)], draw)
    gradients = {name: each.grad for name, each in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        np.testing.assert_allclose(parameter.grad.numpy(), gradients[name].numpy(), err_msg=name, **CLOSE)


def flat(results):
    """Yield the tensors in nested tuples."""
    return [part for each in results for part in (flat(each) if isinstance(each, tuple) else [each])]


@pytest.mark.parametrize(("name", "args", "shape", "settings"), [
    ("Conv1d", (4, 6, 3), (2, 4, 7), {"stride": 2, "padding": 1, "groups": 2}),
    ("Conv3d", (2, 3, 2), (1, 2, 4, 3, 5), {"bias": False}),
    ("ConvTranspose1d", (4, 6, 3), (2, 4, 5), {"stride": 2, "output_padding": 1, "groups": 2}),
    ("ConvTranspose2d", (4, 6, (3, 2)), (2, 4, 5, 3), {"stride": 2, "padding": 1, "dilation": (1, 2)}),
    ("GroupNorm", (2, 6), (2, 6, 3, 4), {"eps": 1e-3}),
    ("RMSNorm", (4,), (2, 3, 4), {}),
    ("GroupNorm", (3, 6), (2, 6, 4), {"bias": False}),
    ("InstanceNorm2d", (3,), (2, 3, 4, 5), {"affine": True}),
    ("InstanceNorm3d", (3,), (2, 3, 2, 4, 5), {"affine": True, "bias": False}),
])  # fmt: skip
def test_layers_agree_with_torch(torch, draw, name, args, shape, settings):
    modules_agree(torch, draw, *twins(torch, name, *args, **settings), draw.normal(size=shape))


@pytest.mark.parametrize("settings", [{}, {"momentum": None}, {"momentum": 0.3, "affine": False}])
@pytest.mark.parametrize(("name", "shape"), [
    ("BatchNorm1d", (5, 3)), ("BatchNorm1d", (4, 3, 5)), ("BatchNorm2d", (2, 3, 4, 5)),
    ("BatchNorm3d", (2, 3, 2, 4, 5)), ("InstanceNorm1d", (4, 3, 5)),
])  # fmt: skip
def test_running_statistics_agree_with_torch(torch, draw, name, shape, settings):
    if name == "InstanceNorm1d":
        settings = {key: value for key, value in settings.items() if value is not None} | {"track_running_stats": True}
    ours, theirs = twins(torch, name, 3, **settings)
    for _ in range(3):
        modules_agree(torch, draw, ours, theirs, draw.normal(size=shape) * 2 + 1)
        for each in ours.parameters():
            each.grad = None
        theirs.zero_grad()
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[key].numpy(), value.numpy(), err_msg=key, **CLOSE)
    modules_agree(torch, draw, ours.eval(), theirs.eval(), draw.normal(size=shape))


@pytest.mark.parametrize("settings", [
    {}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}, {"num_layers": 3},
])  # fmt: skip
@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_networks_agree_with_torch(torch, draw, name, settings):
    ours, theirs = twins(torch, name, 3, 4, **settings)
    modules_agree(torch, draw, ours, theirs, draw.normal(size=(5, 2, 3)))


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_networks_start_from_given_states_as_in_torch(torch, draw, name):
    ours, theirs = twins(torch, name, 3, 4, num_layers=2)
    pair = Pair(torch, draw.normal(size=(5, 3)), *draw.normal(size=(2, 2, 4)))
    (x, *starts), (other, *others) = pair.ours, pair.theirs
    if name != "LSTM":
        starts, others, pair.ours, pair.theirs = starts[0], others[0], pair.ours[:2], pair.theirs[:2]
    pair.must_agree(flat(ours(x, starts)), flat(theirs(other, others)), draw)


def test_a_recurrent_network_with_relu_agrees_with_torch(torch, draw):
    ours, theirs = twins(torch, "RNN", 3, 4, nonlinearity="relu", num_layers=2)
    modules_agree(torch, draw, ours, theirs, draw.normal(size=(5, 2, 3)))


@pytest.mark.parametrize(("name", "settings"), [
    ("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu"}), ("LSTMCell", {}), ("GRUCell", {"bias": False}),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_single_steps_agree_with_torch(torch, draw, name, settings, shape):
    ours, theirs = twins(torch, name, 3, 4, **settings)
    pair = Pair(torch, draw.normal(size=shape))
    mine, others = ours(*pair.ours), theirs(*pair.theirs)
    for _ in range(2):
        mine, others = ours(pair.ours[0], mine), theirs(pair.theirs[0], others)
    pair.must_agree(flat((mine,)), flat((others,)), draw)


@pytest.mark.parametrize("settings", [
    {}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False},
])  # fmt: skip
def test_a_transformer_layer_agrees_with_torch(torch, draw, settings):
    ours, theirs = twins(torch, "TransformerEncoderLayer", 4, 2, 6, dropout=0.0, **settings)
    modules_agree(torch, draw, ours, theirs, draw.normal(size=(5, 3, 4)))


def test_a_transformer_layer_agrees_with_torch_under_masks(torch, draw):
    ours, theirs = twins(torch, "TransformerEncoderLayer", 4, 2, 6, dropout=0.0, batch_first=True)
    hidden, padding = np.triu(np.ones((4, 4), bool), 1), np.array([[False] * 4, [False, False, False, True]])
    pair = Pair(torch, draw.normal(size=(2, 4, 4)), hidden, padding)
    pair.must_agree([ours(*pair.ours)], [theirs(*pair.theirs)], draw)


def test_a_stack_of_transformer_layers_agrees_with_torch(torch, draw):
    libraries = {nn: {}, torch.nn: {"dtype": torch.float64}}
    stacks = []
    for library, place in libraries.items():
        layer = library.TransformerEncoderLayer(4, 2, 6, dropout=0.0, norm_first=True, **place)
        settings = {} if library is nn else {"enable_nested_tensor": False}
        stacks.append(library.TransformerEncoder(layer, 3, library.LayerNorm(4, **place), **settings))
    ours, theirs = stacks
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({key: value.numpy() for key, value in theirs.state_dict().items()})
    hidden = np.triu(np.ones((5, 5), bool), 1)
    pair = Pair(torch, draw.normal(size=(5, 3, 4)), hidden)
    pair.must_agree([ours(*pair.ours)], [theirs(*pair.theirs)], draw)


@pytest.mark.parametrize("settings", [
    {"kdim": 3, "vdim": 5}, {"vdim": 6, "batch_first": True, "bias": False}, {"kdim": 4, "vdim": 4},
])  # fmt: skip
def test_attention_with_other_widths_of_keys_and_values_matches_torch(torch, draw, settings):
    ours, theirs = twins(torch, "MultiheadAttention", 4, 2, **settings)
    widths = (4, settings.get("kdim", 4), settings["vdim"])
    arrays = [draw.normal(size=(3, 3, width)) for width in widths]
    modules_agree(torch, draw, ours, theirs, *arrays)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_an_embedding_with_a_longest_row_agrees_with_torch(torch, draw, norm_type):
    ours, theirs = twins(torch, "Embedding", 5, 3, max_norm=0.8, norm_type=norm_type, padding_idx=1)
    modules_agree(torch, draw, ours, theirs, np.array([[0, 3], [1, 0]]))
    np.testing.assert_allclose(ours.weight.numpy(), theirs.weight.numpy(force=True), **CLOSE)


STATES = [
    ("Linear", (2, 3)), ("Conv1d", (2, 4, 3)), ("Conv2d", (2, 4, 3)), ("Conv3d", (2, 4, 3)),
    ("ConvTranspose1d", (2, 4, 3)), ("ConvTranspose2d", (2, 4, 3)), ("Embedding", (5, 3)), ("LayerNorm", (3,)),
    ("RMSNorm", (3,)), ("GroupNorm", (2, 4)), ("BatchNorm1d", (3,)), ("BatchNorm2d", (3,)), ("BatchNorm3d", (3,)),
    ("InstanceNorm1d", (3,)), ("PReLU", (3,)), ("MultiheadAttention", (4, 2)), ("TransformerEncoderLayer", (4, 2, 5)),
    ("RNN", (2, 3, 2)), ("LSTM", (2, 3, 2)), ("GRU", (2, 3, 2)), ("RNNCell", (2, 3)), ("LSTMCell", (2, 3)),
    ("GRUCell", (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("name", "args"), STATES, ids=[name for name, _ in STATES])
def test_states_have_the_names_order_and_shapes_of_torch(torch, name, args, bias):
    settings = {} if name in {"Embedding", "RMSNorm", "PReLU"} else {"bias": bias}
    states = [getattr(library, name)(*args, **settings).state_dict() for library in (nn, torch.nn)]
    ours, theirs = ([(key, tuple(value.shape)) for key, value in state.items()] for state in states)
    assert ours == theirs


@pytest.mark.parametrize("settings", [{"scale_factor": 2}, {"size": (3, 4), "mode": "bilinear", "align_corners": True}])
def test_modules_without_parameters_agree_with_torch(torch, draw, settings):
    image, line = draw.normal(size=(2, 4, 5, 6)), draw.normal(size=(2, 4, 7))
    for name, args, also, x in [
        ("Upsample", (), settings, image), ("PixelShuffle", (2,), {}, image),
        ("AdaptiveAvgPool2d", ((2, 3),), {}, image), ("AdaptiveAvgPool1d", (3,), {}, line),
        ("MaxPool1d", (3, 2, 1), {}, line), ("AvgPool1d", (3,), {}, line),
        ("MaxPool2d", (3, 2), {"ceil_mode": True}, image),
        ("AvgPool2d", (3, 2, 1, True, False), {}, image), ("Unflatten", (1, (2, 2)), {}, image),
        ("Unflatten", (-2, (-1,)), {}, line), ("Flatten", (1, 2), {}, image), ("PixelUnshuffle", (1,), {}, image),
    ]:  # fmt: skip
        ours, theirs = getattr(nn, name)(*args, **also), getattr(torch.nn, name)(*args, **also)
        modules_agree(torch, draw, ours, theirs, x)
