"""Functions, layers, optimisers and schedules, compared with PyTorch in float64."""

import inspect

import numpy as np
import pytest
import torch

import micrograd_plus as mg
from micrograd_plus import nn

pytestmark = pytest.mark.parity

F, G = nn.functional, torch.nn.functional
CLOSE = {"rtol": 1e-10, "atol": 1e-10}
NEAR = {"rtol": 1e-6, "atol": 1e-7}
"""For two functions whose constants torch keeps in float32, whatever the dtype: 1 / 6, and celu's alpha."""


@pytest.fixture
def draw():
    """Return a new generator for each test."""
    return np.random.default_rng(11)


def both(*arrays):
    """Return the same arrays as leaves of both libraries; integers and booleans do not require gradients."""
    ours, theirs = [], []
    for array in arrays:
        wanted = array is not None and array.dtype.kind == "f"
        ours.append(None if array is None else mg.tensor(array, requires_grad=wanted))
        theirs.append(None if array is None else torch.tensor(array, requires_grad=wanted))
    return ours, theirs


def agree(ours, theirs, leaves, their_leaves, draw, close=CLOSE):
    """Check that two results are equal, and their gradients for a random upstream."""
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), **close)
    upstream = draw.normal(size=ours.shape)
    ours.backward(upstream)
    theirs.backward(torch.tensor(upstream))
    for mine, other in zip(leaves, their_leaves, strict=True):
        if mine is not None and mine.requires_grad:
            np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), **close)


def compare(draw, name, *arrays, theirs_also=None, close=CLOSE, **settings):
    """Check that a function gives the same results in both libraries, on the same leaves."""
    leaves, their_leaves = both(*arrays)
    theirs = getattr(G, name)(*their_leaves, **settings, **(theirs_also or {}))
    agree(getattr(F, name)(*leaves, **settings), theirs, leaves, their_leaves, draw, close)


@pytest.mark.parametrize(("name", "settings"), [
    ("relu", {}), ("relu6", {}), ("leaky_relu", {}), ("leaky_relu", {"negative_slope": 0.3}),
    ("elu", {"alpha": 1.5}), ("selu", {}), ("celu", {"alpha": 0.7}), ("gelu", {}),
    ("gelu", {"approximate": "tanh"}), ("silu", {}), ("mish", {}), ("sigmoid", {}), ("logsigmoid", {}),
    ("softsign", {}), ("tanh", {}), ("tanhshrink", {}), ("hardtanh", {}),
    ("hardtanh", {"min_val": -0.5, "max_val": 2.0}), ("hardsigmoid", {}), ("hardswish", {}),
    ("hardshrink", {"lambd": 0.6}), ("softshrink", {"lambd": 0.6}),
    ("threshold", {"threshold": 0.2, "value": -3.0}), ("softmax", {"dim": 0}), ("softmax", {"dim": -1}),
    ("log_softmax", {"dim": 1}), ("softmin", {"dim": 1}), ("glu", {"dim": -1}), ("glu", {"dim": 1}),
    ("normalize", {}), ("normalize", {"p": 1.0, "dim": -1}), ("normalize", {"p": 3.0, "dim": 0}),
    ("normalize", {"p": float("inf"), "dim": 2}),
])  # fmt: skip
def test_activations_agree_with_torch(draw, name, settings):
    close = NEAR if name in ("celu", "hardsigmoid") else CLOSE
    compare(draw, name, draw.normal(size=(3, 4, 6)) * 3, close=close, **settings)


@pytest.mark.parametrize("beta", [1.0, 2.5])
def test_softplus_agrees_with_torch_below_its_threshold(draw, beta):
    compare(draw, "softplus", draw.normal(size=(3, 4)) * 4, beta=beta, theirs_also={"threshold": 1e9})


@pytest.mark.parametrize("slopes", [1, 4])
def test_prelu_agrees_with_torch(draw, slopes):
    compare(draw, "prelu", draw.normal(size=(3, 4, 5)), draw.normal(size=slopes))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_linear_agrees_with_torch(draw, shape, bias):
    compare(
        draw,
        "linear",
        draw.normal(size=shape),
        draw.normal(size=(4, 5)),
        draw.normal(size=4) if bias else None,
    )


@pytest.mark.parametrize("settings", [
    {}, {"stride": 2}, {"padding": (1, 2)}, {"dilation": 2}, {"groups": 2},
    {"stride": (2, 1), "padding": 1, "groups": 2}, {"padding": "same"},
    {"padding": "same", "dilation": (1, 2)}, {"padding": "valid"},
])  # fmt: skip
@pytest.mark.parametrize("kernel", [(3, 3), (2, 3)])
def test_conv2d_agrees_with_torch(draw, kernel, settings):
    weight = draw.normal(size=(6, 4 // settings.get("groups", 1), *kernel))
    compare(draw, "conv2d", draw.normal(size=(2, 4, 7, 6)), weight, draw.normal(size=6), **settings)


@pytest.mark.parametrize("settings", [
    {"kernel_size": 2}, {"kernel_size": (2, 3), "stride": 1}, {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "ceil_mode": True}, {"kernel_size": (3, 2), "stride": (2, 3), "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 1, "ceil_mode": True}, {"kernel_size": 8, "stride": 5, "ceil_mode": True},
])  # fmt: skip
def test_pooling_agrees_with_torch(draw, settings):
    x = draw.normal(size=(2, 3, 7, 8))
    compare(draw, "max_pool2d", x, **settings)
    compare(draw, "avg_pool2d", x, **settings)
    compare(draw, "avg_pool2d", x, count_include_pad=False, **settings)


def test_a_dilated_max_pool2d_agrees_with_torch(draw):
    compare(draw, "max_pool2d", draw.normal(size=(2, 3, 9, 8)), kernel_size=2, dilation=2)
    compare(draw, "max_pool2d", draw.normal(size=(2, 3, 9, 8)), kernel_size=2, dilation=2, ceil_mode=True)


def test_unfold_and_fold_agree_with_torch(draw):
    windows = {"kernel_size": (2, 3), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
    x = draw.normal(size=(2, 3, 6, 7))
    columns = G.unfold(torch.tensor(x), **windows).numpy()
    compare(draw, "unfold", x, **windows)
    compare(draw, "fold", columns, output_size=(6, 7), **windows)


@pytest.mark.parametrize("shape", [(6,), (5, 6)])
def test_layer_norm_agrees_with_torch(draw, shape):
    parameters = [draw.normal(size=shape), draw.normal(size=shape)]
    leaves, theirs = both(draw.normal(size=(2, 5, 6)), *parameters)
    ours = F.layer_norm(leaves[0], shape, leaves[1], leaves[2], eps=1e-3)
    agree(ours, G.layer_norm(theirs[0], shape, theirs[1], theirs[2], eps=1e-3), leaves, theirs, draw)


@pytest.mark.parametrize("padding_idx", [None, 1, -1])
def test_embedding_agrees_with_torch(draw, padding_idx):
    words = np.array([[0, 1, 1], [4, 2, 4]])
    compare(draw, "embedding", words, draw.normal(size=(5, 3)), padding_idx=padding_idx)


def test_one_hot_agrees_with_torch():
    words = np.array([[0, 2], [1, 2]])
    for classes in (-1, 5):
        ours, theirs = F.one_hot(words, classes), G.one_hot(torch.tensor(words), classes)
        assert ours.dtype == theirs.numpy().dtype
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize(("mode", "pad"), [
    ("constant", (1, 2)), ("constant", (1, 0, 2, 3)), ("replicate", (2, 1, 0, 1)), ("reflect", (2, 1, 1, 1)),
    ("circular", (1, 2, 3, 0)),
])  # fmt: skip
def test_pad_agrees_with_torch(draw, mode, pad):
    value = {"value": 1.5} if mode == "constant" else {}
    compare(draw, "pad", draw.normal(size=(2, 3, 4, 5)), pad=pad, mode=mode, **value)


def test_cosine_similarity_agrees_with_torch(draw):
    compare(draw, "cosine_similarity", draw.normal(size=(3, 4, 2)), draw.normal(size=(3, 4, 2)), dim=1)


REDUCTIONS = pytest.mark.parametrize("reduction", ["none", "mean", "sum"])


@REDUCTIONS
@pytest.mark.parametrize(("name", "settings"), [
    ("mse_loss", {}), ("l1_loss", {}), ("huber_loss", {"delta": 0.7}), ("smooth_l1_loss", {"beta": 0.7}),
    ("smooth_l1_loss", {"beta": 0.0}),
])  # fmt: skip
def test_losses_of_differences_agree_with_torch(draw, name, settings, reduction):
    compare(draw, name, draw.normal(size=(4, 5)), draw.normal(size=(4, 5)), reduction=reduction, **settings)


@REDUCTIONS
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropies_agree_with_torch(draw, reduction, weighted):
    weight = draw.random(5) if weighted else None
    for name, prediction in (
        ("binary_cross_entropy", draw.random((4, 5))),
        ("binary_cross_entropy_with_logits", draw.normal(size=(4, 5)) * 30),
    ):
        leaves, theirs = both(prediction, draw.random((4, 5)))
        settings = [{"weight": convert(weight)} if weighted else {} for convert in (mg.tensor, torch.tensor)]
        ours = getattr(F, name)(*leaves, reduction=reduction, **settings[0])
        other = getattr(G, name)(*theirs, reduction=reduction, **settings[1])
        theirs[1].retain_grad()
        agree(ours, other, leaves, theirs, draw)


@REDUCTIONS
def test_a_weight_of_the_positives_agrees_with_torch(draw, reduction):
    leaves, theirs = both(draw.normal(size=(4, 5)) * 30, draw.random((4, 5)))
    weight = draw.random(5) * 3
    ours = F.binary_cross_entropy_with_logits(*leaves, reduction=reduction, pos_weight=mg.tensor(weight))
    other = G.binary_cross_entropy_with_logits(*theirs, reduction=reduction, pos_weight=torch.tensor(weight))
    agree(ours, other, leaves, theirs, draw)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div_agrees_with_torch(draw, reduction, log_target):
    target = draw.random((4, 5))
    target[0, 0] = 0.0 if not log_target else 0.3
    leaves, theirs = both(draw.normal(size=(4, 5)), target)
    leaves[1], theirs[1] = leaves[1].detach(), theirs[1].detach()
    ours = F.kl_div(*leaves, reduction=reduction, log_target=log_target)
    agree(ours, G.kl_div(*theirs, reduction=reduction, log_target=log_target), leaves, theirs, draw)


@REDUCTIONS
def test_hinge_embedding_loss_agrees_with_torch(draw, reduction):
    leaves, theirs = both(draw.normal(size=(4, 5)), draw.choice([-1, 1], size=(4, 5)))
    ours = F.hinge_embedding_loss(*leaves, margin=0.6, reduction=reduction)
    agree(ours, G.hinge_embedding_loss(*theirs, margin=0.6, reduction=reduction), leaves, theirs, draw)


@REDUCTIONS
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignore_index", [-100, 1])
@pytest.mark.parametrize("shape", [(4,), (6, 4), (2, 4, 3), (2, 4, 3, 2)])
def test_cross_entropy_of_class_numbers_agrees_with_torch(
    draw, shape, ignore_index, weighted, label_smoothing, reduction
):
    classes = draw.integers(0, 4, size=shape[:1] * (len(shape) > 1) + shape[2:])
    if ignore_index == -100 and classes.ndim:
        classes.flat[0] = -100
    elif not classes.ndim:
        classes = np.array(2)
    weight = draw.random(4) if weighted else None
    leaves, theirs = both(draw.normal(size=shape) * 4, classes)
    settings = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}
    ours = F.cross_entropy(*leaves, weight=mg.tensor(weight) if weighted else None, **settings)
    other = G.cross_entropy(*theirs, weight=torch.tensor(weight) if weighted else None, **settings)
    agree(ours, other, leaves, theirs, draw)


@REDUCTIONS
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(4,), (6, 4), (2, 4, 3)])
def test_cross_entropy_of_probabilities_agrees_with_torch(draw, shape, weighted, label_smoothing, reduction):
    weight = draw.random(4) if weighted else None
    leaves, theirs = both(draw.normal(size=shape) * 4, draw.random(shape))
    settings = {"reduction": reduction, "label_smoothing": label_smoothing}
    ours = F.cross_entropy(*leaves, weight=mg.tensor(weight) if weighted else None, **settings)
    other = G.cross_entropy(*theirs, weight=torch.tensor(weight) if weighted else None, **settings)
    agree(ours, other, leaves, theirs, draw)


@REDUCTIONS
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 3)])
def test_nll_loss_agrees_with_torch(draw, shape, reduction):
    classes = draw.integers(0, 4, size=shape[:1] + shape[2:])
    leaves, theirs = both(draw.normal(size=shape), classes)
    weight = draw.random(4)
    ours = F.nll_loss(*leaves, weight=mg.tensor(weight), ignore_index=2, reduction=reduction)
    other = G.nll_loss(*theirs, weight=torch.tensor(weight), ignore_index=2, reduction=reduction)
    agree(ours, other, leaves, theirs, draw)


def test_a_class_ruled_out_by_minus_infinity_agrees_with_torch(draw):
    logits = draw.normal(size=(3, 4))
    logits[:, 1] = -np.inf
    compare(draw, "cross_entropy", logits, np.array([0, 2, 3]))
    compare(draw, "cross_entropy", logits, np.array([0, 2, 3]), reduction="none")


MASKS = {
    "none": None,
    "boolean": np.array([[True, False, True, True], [False, True, True, False], [True, True, True, True]]),
    "blind row": np.array([[False] * 4, [False, True, True, False], [True] * 4]),
    "additive": np.array([[0.0, -1.0, -np.inf, 2.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.0, -np.inf, 0.0]]),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_agrees_with_torch(draw, mask, scale):
    shapes = (2, 2, 3, 5), (2, 2, 4, 5), (2, 2, 4, 6)
    leaves, theirs = both(*(draw.normal(size=shape) for shape in shapes))
    masks = [None if MASKS[mask] is None else convert(MASKS[mask]) for convert in (mg.tensor, torch.tensor)]
    ours = F.scaled_dot_product_attention(*leaves, attn_mask=masks[0], scale=scale)
    agree(
        ours, G.scaled_dot_product_attention(*theirs, attn_mask=masks[1], scale=scale), leaves, theirs, draw
    )


def test_causal_attention_agrees_with_torch(draw):
    leaves, theirs = both(*(draw.normal(size=(2, 3, 4, 5)) for _ in range(3)))
    ours = F.scaled_dot_product_attention(*leaves, is_causal=True)
    agree(ours, G.scaled_dot_product_attention(*theirs, is_causal=True), leaves, theirs, draw)


def test_attention_with_shared_keys_agrees_with_torch(draw):
    leaves, theirs = both(*(draw.normal(size=(2, heads, 4, 5)) for heads in (6, 2, 2)))
    ours = F.scaled_dot_product_attention(*leaves, enable_gqa=True)
    agree(ours, G.scaled_dot_product_attention(*theirs, enable_gqa=True), leaves, theirs, draw)


# Layers: the same state, the same result, the same gradients ------------------------------------------------


def same_state(ours, theirs):
    """Copy our layer's parameters into PyTorch's layer in float64, and check that the names match."""
    theirs = theirs.double()
    names = [name for name, _ in ours.named_parameters()]
    assert names == [name for name, _ in theirs.named_parameters()]
    theirs.load_state_dict({name: torch.tensor(value.numpy()) for name, value in ours.state_dict().items()})
    return theirs


@pytest.mark.parametrize(("name", "args", "shape"), [
    ("Linear", (5, 3), (2, 5)), ("Conv2d", (4, 6, 3, 2, 1), (2, 4, 7, 7)),
    ("LayerNorm", ((3, 5),), (2, 3, 5)), ("PReLU", (4,), (2, 4)), ("MaxPool2d", (2,), (1, 2, 4, 4)),
    ("AvgPool2d", (2, 1), (1, 2, 4, 4)), ("Flatten", (), (2, 3, 4)), ("ReLU", (), (3, 4)),
    ("ReLU6", (), (3, 4)), ("SELU", (), (3, 4)), ("SiLU", (), (3, 4)), ("Mish", (), (3, 4)),
    ("Sigmoid", (), (3, 4)), ("LogSigmoid", (), (3, 4)), ("Softsign", (), (3, 4)), ("Tanh", (), (3, 4)),
    ("Tanhshrink", (), (3, 4)), ("Hardsigmoid", (), (3, 4)), ("Hardswish", (), (3, 4)),
    ("LeakyReLU", (0.2,), (3, 4)), ("ELU", (0.5,), (3, 4)), ("CELU", (0.5,), (3, 4)),
    ("GELU", ("tanh",), (3, 4)), ("GELU", (), (3, 4)), ("Softplus", (2.0,), (3, 4)),
    ("Hardtanh", (-0.5, 0.7), (3, 4)), ("Hardshrink", (0.4,), (3, 4)), ("Softshrink", (0.4,), (3, 4)),
    ("Threshold", (0.1, 2.0), (3, 4)), ("GLU", (0,), (4, 3)), ("Softmax", (0,), (3, 4)),
    ("LogSoftmax", (0,), (3, 4)), ("Softmin", (0,), (3, 4)), ("Identity", (), (3, 4)),
])  # fmt: skip
def test_layers_agree_with_torch(draw, name, args, shape):
    ours = getattr(nn, name)(*args)
    theirs = same_state(ours, getattr(torch.nn, name)(*args))
    leaves, their_leaves = both(draw.normal(size=shape))
    close = NEAR if name in ("CELU", "Hardsigmoid") else CLOSE
    agree(ours(leaves[0]), theirs(their_leaves[0]), leaves, their_leaves, draw, close)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), **CLOSE)


def test_an_embedding_with_padding_agrees_with_torch(draw):
    ours = nn.Embedding(5, 3, padding_idx=2)
    theirs = same_state(ours, torch.nn.Embedding(5, 3, padding_idx=2))
    words = np.array([0, 2, 4, 4])
    out, other = ours(mg.tensor(words)), theirs(torch.tensor(words))
    agree(out, other, [ours.weight], [theirs.weight], draw)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(
    "masks", [(), ("attn_mask",), ("key_padding_mask",), ("attn_mask", "key_padding_mask")]
)
def test_multihead_attention_agrees_with_torch(draw, batch_first, average, masks):
    ours = nn.MultiheadAttention(6, 2, batch_first=batch_first)
    theirs = same_state(ours, torch.nn.MultiheadAttention(6, 2, batch_first=batch_first))
    shapes = [(2, 3, 6), (2, 4, 6), (2, 4, 6)] if batch_first else [(3, 2, 6), (4, 2, 6), (4, 2, 6)]
    leaves, their_leaves = both(*(draw.normal(size=shape) for shape in shapes))
    given = {
        "attn_mask": draw.random((3, 4)) < 0.3,
        "key_padding_mask": np.array([[False] * 4, [False] * 3 + [True]]),
    }
    given["attn_mask"][:, 0] = False
    settings = [{name: convert(given[name]) for name in masks} for convert in (mg.tensor, torch.tensor)]
    out, weights = ours(*leaves, average_attn_weights=average, **settings[0])
    other, their_weights = theirs(*their_leaves, average_attn_weights=average, **settings[1])
    np.testing.assert_allclose(weights.numpy(), their_weights.detach().numpy(), **CLOSE)
    agree(out, other, leaves, their_leaves, draw)
    for mine, their in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), their.grad.numpy(), **CLOSE)
    unneeded, nothing = ours(*leaves, need_weights=False, **settings[0])
    assert nothing is None
    np.testing.assert_allclose(unneeded.numpy(), out.numpy(), **CLOSE)


@pytest.mark.parametrize("name", [
    "CrossEntropyLoss", "NLLLoss", "MSELoss", "L1Loss", "HuberLoss", "SmoothL1Loss", "BCELoss",
    "BCEWithLogitsLoss", "KLDivLoss", "HingeEmbeddingLoss",
])  # fmt: skip
def test_losses_as_modules_take_the_settings_of_torch_and_agree(draw, name):
    prediction = draw.random((4, 3))
    special = {
        "CrossEntropyLoss": np.array([0, 1, 2, 1]),
        "NLLLoss": np.array([0, 1, 2, 1]),
        "HingeEmbeddingLoss": draw.choice([-1, 1], size=(4, 3)),
    }
    target = special.get(name, draw.random((4, 3)))
    leaves, theirs = both(prediction, target)
    agree(
        getattr(nn, name)(reduction="sum")(*leaves),
        getattr(torch.nn, name)(reduction="sum")(*theirs),
        leaves,
        theirs,
        draw,
    )
    old = {"size_average", "reduce"}
    expected = [p for p in inspect.signature(getattr(torch.nn, name)).parameters if p not in old]
    assert list(inspect.signature(getattr(nn, name)).parameters) == expected


# Initial values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "settings"), [
    ("xavier_uniform_", {"gain": 2.0}), ("xavier_normal_", {}), ("kaiming_uniform_", {"a": 0.3}),
    ("kaiming_normal_", {}), ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ("trunc_normal_", {"std": 0.8}), ("normal_", {"std": 3.0}), ("uniform_", {"a": -1.0, "b": 3.0}),
    ("orthogonal_", {"gain": 2.0}),
])  # fmt: skip
def test_initialisers_have_the_deviation_of_torch(draw, name, settings):
    shape = (40, 10, 5, 5)
    ours = getattr(nn.init, name)(nn.Parameter(np.zeros(shape)), rng=draw, **settings).numpy()
    with torch.random.fork_rng():
        torch.manual_seed(3)
        theirs = getattr(torch.nn.init, name)(torch.zeros(shape, dtype=torch.float64), **settings).numpy()
    for statistic in (np.mean, np.std, lambda x: np.quantile(x, 0.05), lambda x: np.quantile(x, 0.9)):
        assert statistic(ours) == pytest.approx(statistic(theirs), abs=0.05 * theirs.std())


@pytest.mark.parametrize(
    "nonlinearity", ["linear", "conv1d", "conv2d", "conv_transpose2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"]
)
def test_gains_agree_with_torch(nonlinearity):
    assert nn.init.calculate_gain(nonlinearity) == pytest.approx(
        torch.nn.init.calculate_gain(nonlinearity), abs=1e-15
    )


@pytest.mark.parametrize(
    ("name", "args"), [("Linear", (7, 5)), ("Conv2d", (3, 8, 3)), ("MultiheadAttention", (8, 2))]
)
def test_layers_start_in_the_same_range_as_in_torch(name, args):
    ours, theirs = [], []
    for number in range(30):
        torch.manual_seed(number)
        ours.append([p.numpy() for p in getattr(nn, name)(*args).parameters()])
        theirs.append([p.detach().numpy() for p in getattr(torch.nn, name)(*args).parameters()])
    for mine, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        assert np.abs(mine).max() == pytest.approx(np.abs(other).max(), rel=0.05)
