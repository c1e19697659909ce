"""Functions behind layers and losses, and initial values of parameters."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users give it


@pytest.fixture
def draw():
    return np.random.default_rng(5)


# Losses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "mse_loss",
        "l1_loss",
        "huber_loss",
        "smooth_l1_loss",
        "kl_div",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "hinge_embedding_loss",
    ],
)
def test_losses_reject_silent_broadcasting(name):
    with pytest.raises(
        ValueError, match=rf"{name}: input has shape \(3, 1\) and target \(3,\); they must be equal"
    ):
        getattr(F, name)(mg.tensor(np.ones((3, 1))), mg.tensor(np.ones(3)))


WEIGHT = mg.tensor([1.0, 2.0, 4.0])
LOSSES = [
    (nn.CrossEntropyLoss, F.cross_entropy, {"weight": WEIGHT, "ignore_index": 1, "label_smoothing": 0.2}),
    (nn.NLLLoss, F.nll_loss, {"weight": WEIGHT, "ignore_index": 1}),
    (nn.MSELoss, F.mse_loss, {}),
    (nn.L1Loss, F.l1_loss, {}),
    (nn.HuberLoss, F.huber_loss, {"delta": 0.3}),
    (nn.SmoothL1Loss, F.smooth_l1_loss, {"beta": 0.3}),
    (nn.BCELoss, F.binary_cross_entropy, {"weight": WEIGHT}),
    (nn.BCEWithLogitsLoss, F.binary_cross_entropy_with_logits, {"weight": WEIGHT, "pos_weight": WEIGHT}),
    (nn.KLDivLoss, F.kl_div, {"log_target": True}),
    (nn.HingeEmbeddingLoss, F.hinge_embedding_loss, {"margin": 0.9}),
]


@pytest.mark.parametrize(
    ("layer", "function", "setting"),
    [(layer, function, {name: value}) for layer, function, settings in LOSSES
     for name, value in [*settings.items(), ("reduction", "sum")]],
)  # fmt: skip
def test_each_setting_of_a_loss_reaches_its_function(layer, function, setting, draw):
    scores = mg.tensor(draw.uniform(0.1, 0.9, (4, 3)))
    numbered = function in (F.cross_entropy, F.nll_loss)
    target = np.array([0, 1, 2, 0]) if numbered else draw.uniform(0.1, 0.9, (4, 3))
    target = mg.tensor(np.sign(target - 0.5) if function is F.hinge_embedding_loss else target)
    expected = function(scores, target, **setting).item()
    assert layer(**setting)(scores, target).item() == expected
    assert function(scores, target).item() != pytest.approx(expected)


def test_an_unknown_reduction_lists_the_known_ones():
    with pytest.raises(ValueError, match="mse_loss: reduction must be 'none', 'mean' or 'sum', got 'average'"):
        F.mse_loss(mg.tensor([1.0]), mg.tensor([1.0]), reduction="average")


def test_common_losses_are_one_operation_each(draw):
    x, weight, bias = (nn.Parameter(draw.normal(size=shape)) for shape in ((4, 3), (2, 3), 2))
    assert F.linear(x, weight, bias).node.op.name == "linear_layer"
    assert F.mse_loss(x, mg.tensor(draw.normal(size=(4, 3)))).node.op.name == "mse"
    loss = F.cross_entropy(x, mg.tensor([0, 2, 1, 0]))
    assert loss.node.parents[0] is x.node


def test_cross_entropy_explains_classes_that_do_not_fit(draw):
    x = mg.tensor(draw.normal(size=(2, 3)))
    with pytest.raises(
        ValueError,
        match=r"input has shape \(2, 3\) \(classes along axis 1\), so class numbers have shape "
        r"\(2,\), got \(2, 1\)",
    ):
        F.cross_entropy(x, mg.tensor([[0], [1]]))
    for scores, classes in ((x[0], mg.tensor([0])), (x[0, 0], mg.tensor(0))):
        with pytest.raises(ValueError, match=rf"input has shape .* \(classes along axis {scores.ndim - 1}\)"):
            F.cross_entropy(scores, classes)
    with pytest.raises(TypeError, match="class numbers must be integers, got bool"):
        F.cross_entropy(x, mg.tensor([True, False]))
    with pytest.raises(IndexError, match="class 3 is out of range: there are 3, from 0 to 2"):
        F.cross_entropy(x, mg.tensor([0, 3]))
    with pytest.raises(IndexError, match="class -1 is out of range"):
        F.nll_loss(x, mg.tensor([0, -1]))
    with pytest.raises(ValueError, match="class numbers must be integers"):
        F.cross_entropy(x, mg.tensor([0.0, 1.0]))
    with pytest.raises(
        ValueError, match=r"weight has shape \(2,\), expected one number for each of 3 classes"
    ):
        F.cross_entropy(x, mg.tensor([0, 1]), weight=mg.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="weight is a setting and gets no gradient"):
        F.cross_entropy(x, mg.tensor([0, 1]), weight=nn.Parameter([1.0, 2.0, 3.0]))


def test_the_loss_of_no_rows_is_0():
    x = nn.Parameter(np.zeros((0, 3)))
    F.cross_entropy(x, np.zeros(0, int), reduction="sum").backward()
    assert x.grad.shape == (0, 3)


def test_ignore_index_can_be_any_class(draw):
    x = mg.tensor(draw.normal(size=(3, 2)))
    for ignored, left in ((0, [1]), (1, [0, 2])):
        loss = F.cross_entropy(x, [0, 1, 0], ignore_index=ignored)
        assert loss.item() == pytest.approx(F.cross_entropy(x[left], [1 - ignored] * len(left)).item())


def test_a_smoothed_target_gives_every_class_its_share(draw):
    x = draw.normal(size=(3, 4))
    logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
    for smoothing, weights in ((0.2, [0.85, 0.05, 0.05, 0.05]), (1.0, [0.25] * 4)):
        loss = F.cross_entropy(mg.tensor(x), [0, 0, 0], label_smoothing=smoothing)
        assert loss.item() == pytest.approx(-(logs * weights).sum() / 3)
    for smoothing in (-0.1, 1.1):
        with pytest.raises(ValueError, match="label_smoothing must be between 0 and 1, got"):
            F.cross_entropy(mg.tensor(x), mg.tensor([0, 0, 0]), label_smoothing=smoothing)


def test_cross_entropy_keeps_float32_gradients():
    scores = mg.tensor(np.linspace(-1, 1, 12).reshape(4, 3), requires_grad=True, dtype="float32")
    with mg.record() as trace:
        F.cross_entropy(scores, mg.tensor([2, 0, 1, 1])).backward()
    assert [str(step.raw.dtype) for step in trace.steps] == ["float32"]


def test_cross_entropy_over_a_million_classes_stays_linear():
    scores = mg.ops.new_zeros(mg.tensor([0.0]), shape=(2, 10**6)).numpy()
    received = mg.grad(lambda scores: F.cross_entropy(scores, mg.tensor([5, 7])))(scores).numpy()
    assert received[0, 5] == received[1, 7] == pytest.approx(-0.5, rel=1e-5)


def test_cross_entropy_of_scores_far_apart_is_finite():
    x = nn.Parameter([[1e4, -1e4], [-1e4, 1e4]])
    loss = F.cross_entropy(x, mg.tensor([1, 1]))
    loss.backward()
    assert loss.item() == 1e4
    assert x.grad.tolist() == [[0.5, -0.5], [0.0, 0.0]]


def test_probabilities_of_0_and_1_have_finite_losses_and_gradients():
    p = nn.Parameter([0.0, 1.0, 0.0, 1.0])
    loss = F.binary_cross_entropy(p, mg.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0, 100.0]
    loss.sum().backward()
    assert np.isfinite(p.grad.numpy()).all()
    with pytest.raises(ValueError, match="input must lie between 0 and 1"):
        F.binary_cross_entropy(mg.tensor([1.5]), mg.tensor([1.0]))


def test_every_function_keeps_single_precision(draw):
    x, p = (mg.tensor(each.astype(np.float32)) for each in (draw.normal(size=(2, 4)), draw.random((2, 4))))
    images = mg.tensor(draw.normal(size=(2, 3, 6, 6)).astype(np.float32))
    signs, classes = mg.tensor(draw.choice([-1, 1], size=(2, 4))), mg.tensor([1, 3])
    weight = mg.tensor([1.0, 2.0, 3.0, 4.0])
    of_one = [name for name in F.nonlinearities.__all__ if name not in ("prelu", "threshold")] + ["gumbel_softmax"]
    of_two = [name for name in F.elementwise_losses.__all__ if name != "hinge_embedding_loss"]
    results = {name: getattr(F, name)(x) for name in [*of_one, "normalize", "dropout"]}
    results |= {name: getattr(F, name)(p, p) for name in [*of_two, "cosine_similarity"]}
    results |= {
        "prelu": F.prelu(x, x[0, :1]),
        "threshold": F.threshold(x, 0.1, 2.0),
        "hinge": F.hinge_embedding_loss(p, signs),
        "pad": F.pad(x, (1, 1)),
        "conv2d": F.conv2d(images, images),
        "max_pool2d": F.max_pool2d(images, 2),
        "avg_pool2d": F.avg_pool2d(images, 2, padding=1, count_include_pad=False),
        "attention": F.scaled_dot_product_attention(x, x, x, is_causal=True),
        "cross_entropy": F.cross_entropy(x, classes),
        "smoothed": F.cross_entropy(x, classes, label_smoothing=0.1, weight=weight),
        "ignoring": F.nll_loss(x, classes, ignore_index=1),
        "probabilities": F.cross_entropy(x, p, weight=weight),
    }
    assert {name: str(each.dtype) for name, each in results.items() if each.dtype != np.float32} == {}


# Activations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "apart"),
    [("softmax", nn.Softmax), ("log_softmax", nn.LogSoftmax), ("softmin", nn.Softmin), ("glu", nn.GLU)],
)
def test_the_default_axis_is_the_last(name, apart, draw):
    x = mg.tensor(draw.normal(size=(2, 4, 6)))
    expected = getattr(F, name)(x, dim=2).tolist()
    assert getattr(F, name)(x).tolist() == apart()(x).tolist() == expected


def test_shrinkage_sets_entries_within_lambd_to_0():
    x = mg.tensor([-0.6, -0.4, 0.4, 0.6])
    assert F.hardshrink(x).tolist() == nn.Hardshrink()(x).tolist() == [-0.6, 0.0, 0.0, 0.6]
    assert nn.Hardshrink(0.3)(x).tolist() == x.tolist()
    np.testing.assert_allclose(F.softshrink(x).tolist(), [-0.1, 0.0, 0.0, 0.1])


@pytest.mark.parametrize(
    ("function", "value", "slope"),
    [
        (lambda x: F.prelu(x, mg.tensor(0.25)), 0.0, 0.25),
        (lambda x: F.prelu(x, mg.tensor([0.25])), 0.0, 0.25),
        (lambda x: F.hardshrink(x + 0.5), 0.0, 0.0),
        (lambda x: F.threshold(x, 0.0, 7.0), 7.0, 0.0),
    ],
)
def test_an_activation_at_its_bound_follows_the_inner_side(function, value, slope):
    assert function(mg.tensor(0.0)).item() == value
    assert mg.grad(function)(0.0).item() == slope


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 5)])
def test_prelu_has_one_slope_for_each_channel(shape, draw):
    x, slopes = -draw.random(shape) - 0.1, np.array([2.0, 3.0, 5.0])
    out = F.prelu(mg.tensor(x), mg.tensor(slopes)).numpy()
    along = -1 if len(shape) == 1 else 1
    np.testing.assert_allclose(np.moveaxis(out, along, -1), np.moveaxis(x, along, -1) * slopes)


# Other functions --------------------------------------------------------------------------------------------


def test_gumbel_softmax_draws_follow_the_softmax(draw):
    shares = np.array([0.6, 0.3, 0.1])
    logits = mg.tensor(np.tile(np.log(shares), (4000, 1)))
    drawn = F.gumbel_softmax(logits, hard=True, rng=draw)
    np.testing.assert_allclose(drawn.numpy().mean(axis=0), shares, atol=0.03)
    cold, warm = (F.gumbel_softmax(logits, tau=tau, rng=draw).numpy().max(axis=-1).mean() for tau in (0.1, 10.0))
    assert warm < 0.5
    assert cold > 0.9
    across = F.gumbel_softmax(logits, dim=0, rng=draw).numpy()
    np.testing.assert_allclose(across.sum(axis=0), 1.0)


def test_embedding_rejects_numbers_out_of_range(draw):
    table = nn.Parameter(draw.normal(size=(2, 3)))
    for call in (lambda: F.embedding([0, 2], table), lambda: F.one_hot([0, 2], 2)):
        with pytest.raises(IndexError, match="2 is out of range: numbers run from 0 to 1"):
            call()
    F.embedding([0, 1], table, padding_idx=-2).sum().backward()
    assert table.grad.tolist() == [[0.0] * 3, [1.0] * 3]
    assert F.one_hot(np.zeros(0, int)).shape == (0, 0)


def test_the_divergence_of_a_single_number_is_its_own_mean():
    p, q = mg.tensor(0.5), mg.tensor(-1.0)
    assert F.kl_div(q, p, reduction="batchmean").item() == pytest.approx(0.5 * (np.log(0.5) + 1))


def test_a_hard_gumbel_draw_has_the_gradient_of_the_soft_one(draw):
    logits = nn.Parameter(draw.normal(size=(6, 4)))
    hard = F.gumbel_softmax(logits, tau=0.7, hard=True, rng=np.random.default_rng(1))
    assert (np.sort(hard.numpy(), axis=-1) == [0, 0, 0, 1]).all()
    upstream = draw.normal(size=(6, 4))
    hard.backward(upstream)
    straight, logits.grad = logits.grad.numpy(), None
    F.gumbel_softmax(logits, tau=0.7, rng=np.random.default_rng(1)).backward(upstream)
    np.testing.assert_allclose(straight, logits.grad.numpy(), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda x: F.conv2d(x, x),
            r"conv2d: input has shape \(2, 3\), expected \(images, channels, height, width\)",
        ),
        (
            lambda x: F.conv2d(mg.tensor(np.ones((1, 3, 4, 4))), mg.tensor(np.ones((2, 4, 2, 2)))),
            r"weight has shape \(2, 4, 2, 2\); for",
        ),
        (
            lambda x: F.conv2d(*[mg.tensor(np.ones((1, 1, 4, 4)))] * 2, stride=2, padding="same"),
            "stride must be 1 with padding='same'",
        ),
        (
            lambda x: F.max_pool2d(mg.tensor(np.ones((1, 1, 4, 4))), 2, padding=2),
            "more than half of the window",
        ),
        (
            lambda x: F.max_pool2d(mg.tensor(np.ones((1, 1, 4, 4))), (2, 2, 2)),
            r"kernel_size must be one number, or 2 \(along height, width\), got \(2, 2, 2\)",
        ),
        (
            lambda x: F.fold(mg.tensor(np.ones((3, 8, 2))), 3, 2),
            r"fold: input has shape \(3, 8, 2\), expected .* 4 windows",
        ),
        (F.glu, "the axis is cut in two halves, but axis -1 of .* is odd"),
        (lambda x: F.prelu(x, mg.tensor(np.ones(2))), "one for each of 3 channels"),
        (lambda x: F.pad(x, (1, 2, 3)), "expected a pair"),
        (lambda x: F.pad(x, (1, 2), mode="edge"), "mode must be one of 'constant', 'replicate'"),
        (lambda x: nn.Conv2d(3, 4, 2, groups=2), "3 and 4 channels do not part into 2 equal groups"),
        (lambda x: nn.Linear(2, 0), "Linear: out_features must be a whole number of at least 1, got 0"),
        (lambda x: nn.Linear(0, 2), "Linear: in_features must be a whole number of at least 1, got 0"),
        (lambda x: F.gumbel_softmax(x, tau=0), "gumbel_softmax: tau must be above 0, got 0"),
        (lambda x: F.embedding([0], x[0]), r"embedding: weight has shape \(3,\), expected \(words, width\)"),
        (lambda x: F.embedding([0], x, padding_idx=2), "embedding: padding_idx 2 is not one of the 2 rows"),
        (lambda x: F.embedding([0], x, padding_idx=-3), "embedding: padding_idx -3 is not one of the 2 rows"),
    ],
)
def test_functions_explain_what_does_not_fit(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(mg.tensor(np.ones((2, 3))))


# Initial values ---------------------------------------------------------------------------------------------


START = nn.init
STARTS = [
    (START.uniform_, {}, 0.5, 12**-0.5),
    (START.uniform_, {"a": -3.0, "b": 1.0}, -1.0, 4 * 12**-0.5),
    (START.normal_, {}, 0.0, 1.0),
    (START.normal_, {"mean": 2.0, "std": 3.0}, 2.0, 3.0),
    (START.trunc_normal_, {}, 0.0, 0.8796),
    (START.trunc_normal_, {"mean": 1.0, "std": 2.0, "a": 0.0, "b": 2.0}, 1.0, 0.5677),
    (START.xavier_uniform_, {"gain": 2.0}, 0.0, 2 * (2 / 1400) ** 0.5),
    (START.xavier_normal_, {"gain": 2.0}, 0.0, 2 * (2 / 1400) ** 0.5),
    *[
        (start, settings, 0.0, variance**0.5)
        for start in (START.kaiming_uniform_, START.kaiming_normal_)
        for settings, variance in [
            ({}, 2 / 600), ({"mode": "fan_out"}, 2 / 800), ({"a": 1.0}, 1 / 600), ({"nonlinearity": "tanh"}, 25 / 5400),
        ]
    ],
]  # fmt: skip


@pytest.mark.parametrize(("start", "settings", "mean", "spread"), STARTS)
def test_initialisers_have_the_stated_mean_and_deviation(start, settings, mean, spread, draw):
    weight = start(nn.Parameter(np.zeros((400, 300, 2))), **settings, rng=draw).numpy()
    assert weight.mean() == pytest.approx(mean, abs=0.02 * spread)
    assert weight.std() == pytest.approx(spread, rel=0.01)


@pytest.mark.parametrize(("near", "far"), [((5.3, 9.0), (5.7, 9.0)), ((-9.0, -3.3), (-9.0, -3.7))])
def test_trunc_normal_can_draw_from_a_tail(near, far):
    weight = nn.Parameter(np.zeros(3))
    values = START.trunc_normal_(weight, 1.0, 2.0, *near).numpy()
    assert ((near[0] <= values) & (values <= near[1])).all()
    with pytest.raises(ValueError, match=r"less than 1 in 100 draws of mean 1\.0 "):
        START.trunc_normal_(weight, 1.0, 2.0, *far)


def test_orthogonal_initialisation_uses_both_signs_and_the_gain(draw):
    drawn = {START.orthogonal_(nn.Parameter([[0.0]]), gain=3.0, rng=draw).item() for _ in range(50)}
    assert drawn == {-3.0, 3.0}


def test_orthogonal_initialisation_preserves_lengths(draw):
    for shape in ((5, 3), (3, 5), (4, 2, 3)):
        matrix = nn.init.orthogonal_(nn.Parameter(np.zeros(shape)), rng=draw).numpy().reshape(shape[0], -1)
        short = matrix if matrix.shape[0] < matrix.shape[1] else matrix.T
        np.testing.assert_allclose(short @ short.T, np.eye(len(short)), atol=1e-12)


def test_initialisers_return_the_same_tensor_and_dtype():
    weight = nn.Parameter(np.zeros((3, 2)), dtype="float32")
    assert nn.init.normal_(weight) is weight
    assert weight.dtype == np.float32
    assert nn.init.constant_(weight, 2.5).tolist() == [[2.5, 2.5]] * 3
    assert nn.init.eye_(weight).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    values = nn.init.trunc_normal_(weight, std=2.0, a=-1.0, b=1.0).numpy()
    assert np.abs(values).max() <= 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: nn.init.xavier_uniform_(nn.Parameter(np.zeros(3))),
            r"shape \(3,\) has no fan in and fan out",
        ),
        (
            lambda: nn.init.kaiming_normal_(nn.Parameter(np.zeros((2, 2))), mode="in"),
            "'fan_in' or 'fan_out', got 'in'",
        ),
        (lambda: nn.init.eye_(nn.Parameter(np.zeros(3))), r"eye_ expects a matrix, got shape \(3,\)"),
        (lambda: nn.init.orthogonal_(nn.Parameter(np.zeros(3))), r"orthogonal_ expects a matrix, got shape \(3,\)"),
        (lambda: nn.init.normal_(nn.Parameter(np.zeros(2)), std=-1), r"normal_.*std=-1\): scale < 0"),
        (lambda: nn.init.uniform_(nn.Parameter(np.zeros(2)), 3, 1), r"uniform_.*a=3, b=1\)"),
        (lambda: nn.init.trunc_normal_(nn.Parameter(np.zeros(2)), std=0), r"trunc_normal_.*std=0\)"),
        (lambda: nn.init.calculate_gain("swish"), "no gain is known for 'swish'"),
        (lambda: nn.init.trunc_normal_(nn.Parameter(np.zeros(2)), a=9.0, b=10.0), "less than 1 in 100 draws"),
    ],
)
def test_initialisers_explain_invalid_arguments(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_cosine_similarity_broadcasts_its_inputs():
    x, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 2.0]]), np.array([[2.0, -1.0]])
    expected = F.cosine_similarity(mg.tensor(x), mg.tensor(np.repeat(y, 3, axis=0)), dim=0)
    assert np.allclose(F.cosine_similarity(mg.tensor(x), mg.tensor(y), dim=0).numpy(), expected.numpy())
    assert np.allclose(F.cosine_similarity(x.tolist(), y, dim=0).numpy(), expected.numpy())


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_normalize_of_a_zero_vector_divides_by_eps(p):
    x = mg.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    out = F.normalize(x, p=p)
    (out * np.array([2.0, -1.0])).sum().backward()
    assert out.numpy()[0].tolist() == [0.0, 0.0]
    assert x.grad.numpy()[0] == pytest.approx([2e12, -1e12])


def test_output_padding_must_be_below_the_stride():
    with pytest.raises(ValueError, match="output_padding 1 must be smaller than stride 1"):
        F.conv_transpose2d(np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2)), output_padding=1, dilation=2)
