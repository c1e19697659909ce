"""Former bugs: wrong numbers and errors of other libraries, now right or rejected with a clear message."""

import io

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn

F = nn.functional
ONES = np.ones((2, 3))
COMPLEX = np.array([1.0 + 1.0j, 2.0])

REFUSED = [
    *((lambda mode=mode: mg.pad([1.0, 2.0], 1, mode=mode), ValueError, "pad.*mode must be one of 'constant', 'edge'")
      for mode in ("mean", "maximum", "linear_ramp", "empty", "median")),
    (lambda: mg.ops.unpad([1.0, 2.0], shape=(1,), pad_width=1, mode="mean"), ValueError, "mode must be one of"),
    (lambda: mg.grouped_matmul(ONES, np.ones((2, 3, 2)), [0.5, 1.2]), TypeError, "experts must be whole numbers"),
    (lambda: mg.grouped_matmul(ONES, np.ones((2, 3, 2)), [0.0, 1.0]), TypeError, "experts must be whole numbers"),
    (lambda: mg.quantize(ONES, [1.0, 2.0, 3.0], axis=2), IndexError, "axis 2 is none of the 2 axes"),
    (lambda: mg.dequantize(ONES, [1.0, 2.0, 3.0], axis=-3), IndexError, "axis -3 is none of the 2 axes"),
    (lambda: mg.quantize(ONES, [1.0, 2.0], axis=0.5), IndexError, "axis 0.5 is none"),
    (lambda: mg.avg_pool2d(np.ones((1, 1, 4, 4)), kernel_size=(2, 2), stride=(1, 1), padding=(2, 2),
                           count_include_pad=False), ValueError, "padding .* is more than half of the window"),
    (lambda: F.pad(mg.tensor([1, 2]), (1, 1), value=0.5), ValueError, "a border of 0.5 round whole numbers"),
    (lambda: mg.pad([1, 2], 1, constant_values=2.5), ValueError, "a border of 2.5 round whole numbers"),
    (lambda: F.batch_norm(mg.tensor(ONES[:, :1] * [[1.0], [2.0]]), mg.tensor([0.0] * 3), mg.tensor([1.0] * 3),
                          training=True), ValueError, "batch_norm: running statistics must have one number for each"),
    (lambda: F.group_norm(mg.tensor([1.0, 2.0]), 1), ValueError, r"group_norm: input has shape \(2,\), expected"),
    (lambda: F.mse_loss(mg.tensor(COMPLEX), mg.tensor(COMPLEX * 2)), TypeError, "mse_loss: it compares real numbers"),
    (lambda: nn.HuberLoss()(mg.tensor(COMPLEX), mg.tensor(COMPLEX * 2)), TypeError, "huber_loss: it compares real"),
    (lambda: F.cosine_similarity(COMPLEX, COMPLEX, dim=0), TypeError, "cosine_similarity: it compares real numbers"),
    (lambda: mg.ops.gelu_tanh(COMPLEX), TypeError, "gelu_tanh.*must be real"),
    (lambda: mg.split(np.arange(4.0), 1.5), TypeError, "split.*indices_or_sections=1.5"),
    (lambda: mg.split(np.arange(4.0), (1.5,)), TypeError, "split.*indices_or_sections"),
    (lambda: mg.tril(np.ones((3, 3)), 1.5), TypeError, "tril.*k must be a whole number, got 1.5"),
    (lambda: mg.triu(np.ones((3, 3)), 0.5), TypeError, "triu.*k must be a whole number, got 0.5"),
    (lambda: mg.tensordot(ONES, ONES.T, axes=-1), ValueError, "tensordot: axes=-1 is"),
    (lambda: mg.tensordot(ONES, ONES.T, axes=3), ValueError, "tensordot: axes=3 is more than"),
    (lambda: mg.tensordot(ONES, ONES.T, axes=1.5), TypeError, "tensordot: axes must be a whole number, or a pair"),
    (lambda: mg.embedding([0, 1], [1.0, 2.0]), ValueError, r"embedding.*weight has shape \(2,\); it is a table"),
    *((lambda f=f: f(ONES, axis=(0, 1)), TypeError, r"axis must be one whole number, or None for .*; got \(0, 1\)")
      for f in (mg.argmax, mg.argmin, mg.argsort, mg.sort, mg.cumsum, mg.cumprod)),
    (lambda: mg.topk(ONES, 1, axis=(0, 1)), TypeError, "axis must be one whole number"),
    *((lambda f=f: f([1.0, 2.0]), TypeError, "expected a tensor, got list")
      for f in (nn.init.ones_, nn.init.zeros_, nn.init.eye_, nn.init.normal_, nn.init.kaiming_uniform_,
                nn.init.xavier_normal_, nn.init.trunc_normal_, nn.init.orthogonal_)),
    (lambda: nn.init.constant_(np.ones(2), 1.0), TypeError, "constant_: expected a tensor, got ndarray"),
    (lambda: nn.CELU(0), ValueError, "CELU: alpha must not be 0"),
    (lambda: nn.Softplus(0), ValueError, "Softplus: beta must not be 0"),
    (lambda: F.softplus([1.0], 0), ValueError, "softplus: beta must not be 0"),
    (lambda: nn.Hardtanh(1, -1), ValueError, "Hardtanh: min_val 1 must not be above max_val -1"),
    (lambda: nn.LeakyReLU("a"), TypeError, "LeakyReLU: negative_slope must be a number, got 'a'"),
    (lambda: nn.GELU("most"), ValueError, "GELU: approximate must be 'none' or 'tanh'"),
    (lambda: nn.MaxPool2d(0), ValueError, "MaxPool2d: kernel_size .* at least 1, got 0"),
    (lambda: nn.AvgPool1d(2, padding=2), ValueError, "AvgPool1d: padding 2 is more than half"),
    (lambda: nn.MaxPool2d((4, 4), stride=-1), ValueError, "MaxPool2d: stride .* got -1"),
    (lambda: nn.MSELoss(reduction="x"), ValueError, "MSELoss: reduction must be one of"),
    (lambda: nn.CrossEntropyLoss(label_smoothing=2), ValueError, "CrossEntropyLoss: label_smoothing"),
    (lambda: nn.HuberLoss(delta=0), ValueError, "HuberLoss: delta must be positive"),
    (lambda: F.softmax(mg.tensor(np.ones((2, 0))), dim=3), IndexError, "axis 3 is out of range"),
    (lambda: mg.load(io.BytesIO(b"PK nothing of the kind")), ValueError, "cannot be read as .npz"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "said"), REFUSED)
def test_wrong_input_is_rejected_by_name(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_picture_has_as_many_colours_as_gaussians():
    camera = mg.splat.Camera(width=3, height=1, focal=(3.0, 3.0))
    scene = [[0.0, 0.0, 3.0]], [[0.5, 0.5, 0.5]], [[1.0, 0.0, 0.0, 0.0]], [0.8]
    for colours in ([[1.0, 0.0, 0.5], [1.0, 1.0, 1.0]], [1.0, 0.0, 0.5], np.ones((0, 3))):
        with pytest.raises(ValueError, match=r"splat\.render: colours has shape"):
            mg.splat.render(*scene, colours, camera=camera)


def test_every_padding_mode_has_the_right_gradient():
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        assert mg.gradcheck(lambda x, mode=mode: (mg.pad(x, (2, 1), mode=mode) ** 2).sum(), [np.array([0.5, -1, 2])])
    assert mg.pad([1, 2], 1, constant_values=3.0).tolist() == [3, 1, 2, 3]


def test_a_list_is_numbers_and_is_not_repeated():
    np.testing.assert_allclose(F.softplus([1.0, 2.0], 2).numpy(), np.log1p(np.exp([2.0, 4.0])) / 2)
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss, F.kl_div):
        x = mg.tensor([0.5, 0.25], requires_grad=True)
        assert loss(x, [0.5, 1.0]).item() == loss(x, mg.tensor([0.5, 1.0])).item()
        loss(x, [0.5, 1.0]).backward()
        assert x.grad is not None
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        assert np.isfinite(loss([0.5, 0.25], [1.0, 0.0]).item())
    assert F.one_hot([]).shape == (0, 0)
    assert F.embedding([], mg.tensor([[1.0, 2.0]])).shape == (0, 2)


def test_the_threshold_of_softplus_is_pytorchs():
    x = mg.tensor([1.0, 19.0, 21.0])
    bent = F.softplus(x, threshold=20.0)
    assert bent[2].item() == 21.0
    assert nn.Softplus(2.0, 20.0)(x).tolist()[1:] == [19.0, 21.0]


def test_nothing_in_place_is_accepted_and_changes_nothing():
    x = mg.tensor([-1.0, 2.0], requires_grad=True)
    for layer in (nn.ReLU(inplace=True), nn.ReLU(True), nn.LeakyReLU(0.2, inplace=True), nn.ELU(inplace=True),
                  nn.Hardtanh(inplace=True), nn.Threshold(0.0, 0.0, True), nn.Dropout(0.0, inplace=True)):  # fmt: skip
        layer(x).sum().backward()
        assert x.tolist() == [-1.0, 2.0]
    assert F.relu(x, inplace=True).tolist() == F.relu(x).tolist() == [0.0, 2.0]
    assert repr(nn.ReLU(True)) == repr(nn.ReLU())


def test_a_parameter_is_a_leaf_that_wants_a_gradient():
    layer, p = nn.Linear(2, 3), nn.Parameter([1.0, 2.0])
    assert type(p) is mg.Tensor
    assert all(isinstance(each, nn.Parameter) for each in [p, *layer.parameters()])
    assert not any(isinstance(each, nn.Parameter) for each in (mg.tensor([1.0]), p * 2, 3.0, None))
    assert nn.Parameter(np.ones(2), requires_grad=False).requires_grad is False

    class Net(nn.Module):
        def __init__(self):
            self.scale = nn.Parameter(mg.ones(3))

    assert [name for name, _ in Net().named_parameters()] == ["scale"]


def test_instance_norm_without_momentum_keeps_statistics():
    layer = nn.InstanceNorm1d(3, momentum=None, track_running_stats=True)
    layer(mg.randn(2, 3, 4))
    assert layer.running_mean.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dim", [0, 1])
def test_of_nothing_there_is_nothing(dim):
    for shape in ((2, 0), (0, 3)):
        x = mg.tensor(np.ones(shape), requires_grad=True)
        for function in (F.softmax, F.log_softmax, F.normalize):
            out = function(x, dim=dim)
            assert out.shape == shape
            out.sum().backward()
            assert x.grad.shape == shape
    for pool in (F.max_pool2d, F.avg_pool2d):
        assert pool(mg.tensor(np.ones((0, 1, 4, 4))), 2).shape == (0, 1, 2, 2)


def test_the_largest_of_whole_numbers_is_one_of_them():
    x = -np.arange(1, 17).reshape(1, 1, 4, 4)
    pooled = F.max_pool2d(mg.tensor(x), 2, padding=1)
    assert pooled.tolist() == F.max_pool2d(mg.tensor(x.astype(float)), 2, padding=1).astype(int).tolist()


UNBATCHED = {
    "conv1d": ((2, 7), (lambda x: F.conv1d(x, mg.tensor(np.ones((3, 2, 3))), mg.tensor([1.0, 2.0, 3.0]), padding=1))),
    "conv2d": ((2, 5, 6), lambda x: F.conv2d(x, mg.tensor(np.ones((3, 2, 2, 3))), stride=2)),
    "conv3d": ((1, 3, 4, 5), lambda x: F.conv3d(x, mg.tensor(np.ones((2, 1, 2, 2, 2))))),
    "conv_transpose1d": ((2, 4), lambda x: F.conv_transpose1d(x, mg.tensor(np.ones((2, 3, 3))))),
    "conv_transpose2d": ((2, 4, 3), lambda x: F.conv_transpose2d(x, mg.tensor(np.ones((2, 3, 2, 2))))),
    "max_pool1d": ((2, 7), lambda x: F.max_pool1d(x, 2)), "max_pool2d": ((2, 5, 6), lambda x: F.max_pool2d(x, 2)),
    "avg_pool1d": ((2, 7), lambda x: F.avg_pool1d(x, 2)), "avg_pool2d": ((2, 5, 6), lambda x: F.avg_pool2d(x, 2)),
    "adaptive_avg_pool1d": ((2, 7), lambda x: F.adaptive_avg_pool1d(x, 3)),
    "adaptive_avg_pool2d": ((2, 5, 6), lambda x: F.adaptive_avg_pool2d(x, (2, 3))),
    "Conv2d": ((2, 5, 6), nn.Conv2d(2, 3, 2)), "MaxPool2d": ((2, 5, 6), nn.MaxPool2d(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNBATCHED)
def test_one_unbatched_item_equals_a_batch_of_one(name):
    shape, call = UNBATCHED[name]
    x = np.random.default_rng(5).normal(size=shape)
    alone, among = call(mg.tensor(x)), call(mg.tensor(x[None]))
    np.testing.assert_array_equal(alone.numpy(), among.numpy()[0])
    assert mg.gradcheck(lambda x: (call(x) ** 2).sum(), [x])


def test_a_single_row_of_scores_has_a_loss():
    scores = mg.tensor([0.5, 1.0, -1.0])
    one = nn.CrossEntropyLoss()(scores, mg.tensor(1))
    assert one.item() == nn.CrossEntropyLoss()(scores[None], mg.tensor([1])).item()


def test_a_state_goes_through_a_file_in_memory():
    layer, other, file = nn.Linear(2, 3), nn.Linear(2, 3), io.BytesIO()
    mg.save({"net": layer.state_dict(), "epoch": 3}, file)
    file.seek(0)
    state = mg.load(file)
    other.load_state_dict(state["net"])
    assert (state["epoch"], other.weight.tolist()) == (3, layer.weight.tolist())


def test_safetensors_are_read_from_a_file_that_is_open(tmp_path):
    path = tmp_path / "state.safetensors"
    mg.save({"x": mg.tensor([1.0, 2.0])}, path)
    with path.open("rb") as file:
        assert mg.load(file)["x"].tolist() == [1.0, 2.0]
