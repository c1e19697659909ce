"""Layers, networks of layers, and their error messages."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users give it


@pytest.fixture
def draw():
    return np.random.default_rng(5)


# Layers -----------------------------------------------------------------------------------------------------


def test_one_seed_gives_one_network_unless_an_rng_is_passed():
    mg.random.seed(3)
    first = nn.Linear(4, 4).weight.tolist()
    mg.random.seed(3)
    nn.Linear(4, 4, rng=np.random.default_rng(1))
    assert nn.Linear(4, 4).weight.tolist() == first


def test_dropout_keeps_the_mean_and_masks_the_gradient_alike(draw):
    x = nn.Parameter(np.ones((200, 100)))
    layer = nn.Dropout(0.25, rng=draw)
    out = layer(x)
    assert set(np.unique(out.numpy())) == {0.0, 1 / 0.75}
    assert out.numpy().mean() == pytest.approx(1, abs=0.02)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.numpy())
    assert layer.eval()(x) is x
    assert (F.dropout(x, 1.0).numpy() == 0).all()
    with pytest.raises(ValueError, match="dropout: p must be a probability between 0 and 1, got 2"):
        F.dropout(x, 2)


@pytest.mark.parametrize(("layer", "shape"), [(nn.Dropout1d, (50, 40, 3)), (nn.Dropout2d, (50, 40, 2, 3))])
def test_channel_dropout_zeroes_whole_channels(draw, layer, shape):
    x = nn.Parameter(np.ones(shape))
    layer = layer(0.25, rng=draw)
    out = layer(x)
    channels = out.numpy().reshape(*shape[:2], -1)
    assert (channels == channels[:, :, :1]).all()
    assert (channels == 0).mean() == pytest.approx(0.25, abs=0.05)
    assert set(np.unique(channels)) == {0.0, 1 / 0.75}
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.numpy())
    assert layer.eval()(x) is x


def test_a_pretrained_embedding_is_frozen_by_default(draw):
    vectors = draw.normal(size=(4, 3)).astype("float32")
    table = nn.Embedding.from_pretrained(vectors)
    np.testing.assert_array_equal(table([3, 0]).numpy(), vectors[[3, 0]])
    assert (table.weight.dtype, table.weight.requires_grad) == (np.float32, False)
    assert nn.Embedding.from_pretrained(mg.tensor(vectors), freeze=False).weight.requires_grad


def test_embeddings_start_normal_except_the_padding_row():
    for padding_idx, empty in ((None, []), (-50, [0])):
        weight = nn.Embedding(50, 40, padding_idx, rng=np.random.default_rng(0)).weight.numpy()
        assert np.flatnonzero(~weight.any(axis=1)).tolist() == empty
        assert weight.std() == pytest.approx(1.0, abs=0.05)


def test_max_norm_shortens_the_rows_that_are_looked_up():
    table = nn.Embedding.from_pretrained([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]], freeze=False, max_norm=1.0)
    loss = (table([1, 0, 0]) ** 2).sum()
    np.testing.assert_allclose(table.weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [30.0, 40.0]], rtol=1e-7)
    loss.backward()
    np.testing.assert_allclose(table.weight.grad.numpy(), [[2.4, 3.2], [0.6, 0.8], [0.0, 0.0]], rtol=1e-7)
    kept = table.weight.tolist()
    table([0, 1])
    assert table.weight.tolist() == kept


def test_stacked_layers_start_equal_and_train_independently():
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2, norm=nn.LayerNorm(4))
    first, second = (layer.linear1.weight for layer in stack.layers)
    assert first.tolist() == second.tolist()
    assert first is not second
    assert stack(mg.tensor(np.ones((2, 3, 4)))).shape == (2, 3, 4)
    with pytest.raises(ValueError, match="TransformerEncoder: num_layers must be a whole number of at least 1, got 0"):
        nn.TransformerEncoder(nn.Identity(), 0)


def test_stacked_layers_share_one_generator():
    rng = np.random.default_rng(0)
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, rng=rng), 2)
    assert all(layer.dropout1.rng is rng for layer in stack.layers)
    first, second = (layer.dropout1(mg.tensor(np.ones(100))).tolist() for layer in stack.layers)
    assert first != second


def test_layer_norm_leaves_mean_0_and_variance_1(draw):
    out = nn.LayerNorm(50)(mg.tensor(draw.normal(3, 5, size=(4, 50)))).numpy()
    np.testing.assert_allclose(out.mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(out.var(-1), 1, atol=1e-5)
    with pytest.raises(
        ValueError, match=r"layer_norm: input has shape \(2, 3\), which does not end in \(4,\)"
    ):
        nn.LayerNorm(4)(mg.tensor(np.ones((2, 3))))


def test_the_padding_row_of_an_embedding_stays_0():
    table = nn.Embedding(4, 2, padding_idx=-1)
    assert table.weight.numpy()[3].tolist() == [0.0, 0.0]
    table([0, 3, 3, 0]).sum().backward()
    assert table.weight.grad.tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(IndexError, match="embedding: -1 is out of range: numbers run from 0 to 3"):
        table([-1])
    with pytest.raises(TypeError, match="embedding: expected whole numbers, got float64"):
        table(mg.tensor([0.5]))


def test_causal_multihead_attention_ignores_later_positions(draw):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = draw.normal(size=(1, 5, 4))
    changed = x.copy()
    changed[0, 3:] += 1
    outs = [layer(*[mg.tensor(each)] * 3, is_causal=True)[0].numpy() for each in (x, changed)]
    np.testing.assert_array_equal(outs[0][0, :3], outs[1][0, :3])
    assert np.abs(outs[0][0, 3:] - outs[1][0, 3:]).max() > 1e-3
    weights = layer(*[mg.tensor(x)] * 3, is_causal=True)[1].numpy()
    np.testing.assert_allclose(weights.sum(-1), 1)
    assert (np.triu(weights[0], 1) == 0).all()
    with pytest.raises(ValueError, match="embed_dim 5 does not part into 2 equal heads"):
        nn.MultiheadAttention(5, 2)


@pytest.mark.parametrize(
    ("shapes", "masks", "sentence"),
    [
        (((2, 3, 4), (2, 3, 4), (1, 3, 4)), {}, r"value \(1, 3, 4\), expected \(N, length, 4\)"),
        (((2, 3, 4), (1, 3, 4), (1, 3, 4)), {}, "all the same N"),
        (((2, 3, 4), (2, 3, 4), (2, 5, 4)), {}, r"key \(2, 3, 4\) and value \(2, 5, 4\).* have one length"),
        (((1, 2, 3, 4),) * 3, {}, r"query \(1, 2, 3, 4\).*or all of them without N"),
        (((3, 4), (2, 3, 4), (2, 3, 4)), {}, r"query \(3, 4\), key \(2, 3, 4\)"),
        (((2, 3, 5),) * 3, {}, r"query \(2, 3, 5\).*expected \(N, length, 4\)"),
        (((2, 3, 4),) * 3, {"attn_mask": (3, 4)}, r"attn_mask has shape \(3, 4\), expected \(3, 3\) or \(4, 3, 3\)"),
        (((2, 3, 4),) * 3, {"attn_mask": (2, 3, 3)}, r"attn_mask has shape \(2, 3, 3\)"),
        (((2, 3, 4),) * 3, {"key_padding_mask": (3, 2)}, r"key_padding_mask has shape \(3, 2\), expected \(2, 3\)"),
    ],
)
def test_multihead_attention_rejects_silent_broadcasting(shapes, masks, sentence):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    given = {name: mg.tensor(np.zeros(shape, bool)) for name, shape in masks.items()}
    with pytest.raises(ValueError, match=f"MultiheadAttention: .*{sentence}"):
        layer(*(mg.tensor(np.ones(shape)) for shape in shapes), **given)


def test_unbatched_attention_equals_a_batch_of_one(draw):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = mg.tensor(draw.normal(size=(3, 4)))
    batched, weights = layer(*[x.reshape(1, 3, 4)] * 3)
    alone, own_weights = layer(x, x, x)
    assert alone.tolist() == batched[0].tolist()
    assert own_weights.tolist() == weights[0].tolist()


def test_unbatched_queries_and_keys_may_differ_in_length_and_width(draw):
    layer = nn.MultiheadAttention(4, 2, kdim=3, vdim=5)
    q, k, v = (mg.tensor(draw.normal(size=shape)) for shape in ((2, 4), (6, 3), (6, 5)))
    attend, weights = layer(q, k, v)
    assert (attend.shape, weights.shape) == ((2, 4), (2, 6))
    again, none = layer(q, k, v, need_weights=False)
    np.testing.assert_allclose(again.numpy(), attend.numpy())
    assert none is None


def test_a_mask_of_multihead_attention_says_the_same_in_every_form(draw):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    q, k = (mg.tensor(draw.normal(size=(2, length, 4))) for length in (3, 5))
    hidden, padding = draw.random((3, 5)) < 0.4, np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], bool)
    hidden[:, 0] = False
    expected, _ = layer(q, k, k, mg.tensor(padding), attn_mask=mg.tensor(hidden))
    numbers, numbered_padding = (mg.tensor(np.where(mask, -np.inf, 0.0)) for mask in (hidden, padding))
    forms = {
        "lists": (padding.tolist(), {"attn_mask": hidden.tolist()}),
        "numbers": (numbered_padding, {"attn_mask": numbers}),
        "with a hint": (mg.tensor(padding), {"attn_mask": mg.tensor(hidden), "is_causal": True}),
        "for every head": (mg.tensor(padding), {"attn_mask": mg.tensor(np.stack([hidden] * 4))}),
    }
    for name, (keys, rest) in forms.items():
        attend, _ = layer(q, k, k, keys, **rest)
        np.testing.assert_allclose(attend.numpy(), expected.numpy(), rtol=1e-12, err_msg=name)


def test_each_head_of_each_example_can_have_its_own_mask(draw):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = mg.tensor(draw.normal(size=(3, 5, 4)))
    hidden = draw.random((6, 5, 5)) < 0.4
    hidden[:, :, 0] = False
    _, weights = layer(x, x, x, attn_mask=mg.tensor(hidden), average_attn_weights=False)
    np.testing.assert_array_equal(weights.numpy().reshape(6, 5, 5) == 0, hidden)
    alike, _ = layer(x, x, x, attn_mask=mg.tensor(np.full((5, 5), 2.5)))
    np.testing.assert_allclose(alike.numpy(), layer(x, x, x)[0].numpy())


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_dropout_uses_the_generator_of_the_layer(need_weights, draw):
    x = mg.tensor(draw.normal(size=(2, 3, 4)))

    def attend(rate, training=True):
        layer = nn.MultiheadAttention(4, 2, rate, rng=np.random.default_rng(1))
        return layer.train(training)(x, x, x, need_weights=need_weights)[0].numpy()

    assert not attend(1.0).any()
    assert attend(1.0, training=False).all()
    np.testing.assert_array_equal(attend(0.5), attend(0.5))
    assert not np.allclose(attend(0.5), attend(0.0))


def test_attention_drops_weights_after_the_softmax(draw):
    q, k, v = (draw.normal(size=(2, 3, 4)) for _ in range(3))
    out = F.scaled_dot_product_attention(
        *map(mg.tensor, (q, k, v)), dropout_p=0.5, scale=0.7, rng=np.random.default_rng(1)
    )
    kept = F.dropout(mg.tensor(np.ones((2, 3, 3))), 0.5, rng=np.random.default_rng(1)).numpy()
    scores = np.exp(0.7 * q @ k.mT)
    np.testing.assert_allclose(out.numpy(), kept * scores / scores.sum(-1, keepdims=True) @ v)


def test_a_mask_of_numbers_takes_the_precision_of_the_queries(draw):
    x, mask = mg.tensor(draw.normal(size=(3, 4)).astype(np.float32)), draw.normal(size=(3, 3))
    out = F.scaled_dot_product_attention(x, x, x, mg.tensor(mask))
    same = F.scaled_dot_product_attention(x, x, x, mg.tensor(mask.astype(np.float32)))
    assert out.dtype == np.float32
    assert out.tolist() == same.tolist()


def test_a_fully_masked_query_returns_0_and_no_nan_gradient(draw):
    q, k, v = (nn.Parameter(draw.normal(size=(2, 3))) for _ in range(3))
    mask = mg.tensor(np.array([[False, False], [True, False]]))
    for rate in (0.0, 0.5):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=rate, rng=draw)
        assert out.numpy()[0].tolist() == [0.0, 0.0, 0.0]
        out.sum().backward()
        assert np.isfinite(q.grad.numpy()).all()


def test_attention_explains_masks_and_shapes_that_do_not_fit(draw):
    q, k = mg.tensor(draw.normal(size=(2, 3))), mg.tensor(draw.normal(size=(4, 5)))
    with pytest.raises(ValueError, match=r"query \(2, 3\) and key \(4, 5\) must agree in their last axis"):
        F.scaled_dot_product_attention(q, k, k)
    with pytest.raises(ValueError, match=r"query \(3,\) and key \(3,\) must agree"):
        F.scaled_dot_product_attention(q[0], q[0], q[0])
    with pytest.raises(ValueError, match=r"key and value \(4, 5\) in the one before it"):
        F.scaled_dot_product_attention(q, q, k)
    with pytest.raises(ValueError, match="give attn_mask or is_causal=True, not both"):
        F.scaled_dot_product_attention(q, q, q, attn_mask=mg.tensor(np.ones((2, 2), bool)), is_causal=True)
    heads = [mg.tensor(draw.normal(size=(n, 2, 3))) for n in (3, 2, 2)]
    with pytest.raises(ValueError, match="3 heads of queries cannot share 2"):
        F.scaled_dot_product_attention(*heads, enable_gqa=True)


# Networks ---------------------------------------------------------------------------------------------------


def test_a_small_network_learns_xor():
    mg.random.seed(0)
    x, y = mg.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), mg.tensor([0, 1, 1, 0])
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
    adam, loss_of = optim.Adam(net.parameters(), lr=0.05), nn.CrossEntropyLoss()
    for _ in range(200):
        adam.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        adam.step()
    assert loss.item() < 0.02
    assert mg.argmax(net(x), axis=-1).tolist() == [0, 1, 1, 0]


def test_a_convolutional_network_learns_the_position_of_a_bar(draw):
    mg.random.seed(1)
    images, labels = np.zeros((40, 1, 6, 6)), np.arange(40) % 2
    for image, label, place in zip(images, labels, draw.integers(0, 6, size=40), strict=True):
        image[0, place] = 1
        image[0] = image[0].T if label else image[0]
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    adam = optim.AdamW(net.parameters(), lr=0.02)
    for _ in range(60):
        adam.zero_grad()
        loss = F.cross_entropy(net(mg.tensor(images)), mg.tensor(labels))
        loss.backward()
        adam.step()
    assert loss.item() < 0.1
