"""Transformers and sequence models: values by hand, and masks."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn

F = nn.functional


def leaf(*shape):
    """Return a leaf of consecutive integers."""
    return mg.tensor(np.arange(float(np.prod(shape))).reshape(shape), requires_grad=True)


# Transformers ---------------------------------------------------------------------------------------------------------


def test_rope_rotates_pairs_and_keeps_their_length():
    x, quarter = mg.tensor([[1.0, 2.0, 3.0, 4.0]]), mg.tensor([[np.pi / 2]])
    np.testing.assert_allclose(mg.rope(x, quarter).numpy(), [[-2.0, 1.0, 3.0, 4.0]], atol=1e-15)
    both = mg.tensor([[np.pi / 2, np.pi]])
    np.testing.assert_allclose(mg.rope(x, both).numpy(), [[-3.0, -2.0, 1.0, -4.0]], atol=1e-15)
    np.testing.assert_allclose(mg.rope(x, both, interleaved=True).numpy(), [[-2.0, 1.0, -3.0, -4.0]], atol=1e-15)


def test_scores_after_rope_depend_only_on_distance():
    rng = np.random.default_rng(0)
    query, key = (mg.tensor(np.tile(rng.normal(size=6), (5, 1))) for _ in range(2))
    angles = mg.rope_angles(query, pairs=3)
    scores = (mg.rope(query, angles) @ mg.rope(key, angles).T).numpy()
    for distance in range(-4, 5):
        np.testing.assert_allclose(np.ptp(np.diag(scores, distance)), 0, atol=1e-12)


def test_rope_angles_grow_with_position_and_shrink_by_pair():
    angles = mg.rope_angles(mg.tensor(np.zeros((3, 4))), pairs=2, base=100.0, offset=5)
    np.testing.assert_allclose(angles.numpy(), [[5.0, 0.5], [6.0, 0.6], [7.0, 0.7]])


@pytest.mark.parametrize(("settings", "sees"), [
    ({"causal": True}, [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
    ({"window": 1}, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ({"window": 2}, [[1, 1, 0], [1, 1, 1], [0, 1, 1]]),
    ({"window": 2, "causal": True}, [[1, 0, 0], [1, 1, 0], [0, 1, 1]]),
])  # fmt: skip
def test_a_query_gathers_only_from_where_it_may_look(settings, sees):
    same, value = mg.tensor(np.zeros((3, 2))), mg.tensor(np.eye(3))
    weights = np.array(sees) / np.sum(sees, axis=1, keepdims=True)
    np.testing.assert_allclose(mg.attention(same, same, value, **settings).numpy(), weights)
    capped = mg.attention(same, same, value, soft_cap=2.0, **settings)
    np.testing.assert_allclose(capped.numpy(), weights)


def test_boolean_and_additive_masks_agree():
    rng = np.random.default_rng(0)
    query, key, value = (mg.tensor(rng.normal(size=(2, 3, 4))) for _ in range(3))
    allowed = rng.random((2, 3, 3)) < 0.7
    bias = mg.tensor(np.where(allowed, 0.0, -np.inf))
    by_truths = mg.attention(query, key, value, allowed=mg.tensor(allowed)).numpy()
    np.testing.assert_allclose(by_truths, mg.attention(query, key, value, bias).numpy())


@pytest.mark.parametrize("settings", [{}, {"soft_cap": 2.0}, {"causal": True}])
def test_a_boolean_bias_raises(settings):
    x, truths = np.arange(6.0).reshape(3, 2), np.tril(np.ones((3, 3), bool))
    with pytest.raises(TypeError, match=r"attention.*bias is numbers, which are added .* is allowed= of mg.attention"):
        mg.attention(x, x, x, truths, **settings)
    with pytest.raises(TypeError, match=r"^scaled_dot_product_attention.*bias is numbers"):
        mg.scaled_dot_product_attention(mg.tensor(x, requires_grad=True), x, x, mg.tensor(truths))


def test_an_attention_bias_of_the_wrong_shape_raises():
    one, several = np.ones((1, 4)), np.ones((5, 4))
    with pytest.raises(ValueError, match=r"a bias of shape \(3, 5\) does not fit the scores of queries .* \(1, 5\)"):
        mg.scaled_dot_product_attention(one, several, several, np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"a bias of shape \(5,\) does not fit the scores of queries .* \(5, 1\)"):
        mg.soft_capped_attention(several, one, several, np.ones(5))


@pytest.mark.parametrize("soft_cap", [None, 3.0])
def test_a_fully_masked_query_has_zero_output_and_gradient(soft_cap):
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    bias = mg.tensor([[-np.inf, -np.inf], [0.0, -np.inf]])
    out = mg.attention(x, x, mg.tensor([[5.0], [7.0]]), bias, soft_cap=soft_cap)
    assert out.tolist() == [[0.0], [5.0]]
    out.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_soft_cap_far_above_the_scores_changes_little():
    rng = np.random.default_rng(0)
    query, key, value = (mg.tensor(rng.normal(size=(4, 3))) for _ in range(3))
    plain, capped = (mg.attention(query, key, value, soft_cap=cap).numpy() for cap in (None, 1e6))
    np.testing.assert_allclose(plain, capped, atol=1e-9)


def test_each_head_of_keys_serves_several_of_queries_in_a_row():
    rng = np.random.default_rng(0)
    query = mg.tensor(rng.normal(size=(4, 3, 2)))
    key, value = (mg.tensor(rng.normal(size=(2, 5, 2))) for _ in range(2))
    together = mg.attention(query, key, value).numpy()
    for head in range(4):
        alone = mg.attention(query[head], key[head // 2], value[head // 2])
        np.testing.assert_allclose(together[head], alone.numpy())


def test_an_expert_without_rows_receives_nothing():
    x, weights = leaf(2, 3), leaf(3, 3, 2)
    out = mg.grouped_matmul(x, weights, mg.tensor([2, 0]))
    np.testing.assert_allclose(out.numpy()[0], x.numpy()[0] @ weights.numpy()[2])
    out.sum().backward()
    assert not weights.grad.numpy()[1].any()
    assert weights.grad.numpy()[2].any()


def test_lora_with_b_of_zeros_changes_nothing():
    x, weight, a = leaf(2, 3), leaf(4, 3), leaf(2, 3)
    b = mg.tensor(np.zeros((4, 2)), requires_grad=True)
    out = mg.lora_matmul(x, weight, a, b, scale=3.0)
    np.testing.assert_allclose(out.numpy(), (x @ weight.T).numpy())
    out.sum().backward()
    assert not a.grad.numpy().any()
    assert b.grad.numpy().any()


# Sequences ------------------------------------------------------------------------------------------------------------


def test_a_recurrent_weight_is_used_at_every_step():
    def by_hand(w):
        state = total = 0.0
        for drive in (1.0, -0.5, 2.0):
            state = mg.tanh(drive + w * state)
            total = total + state
        return total

    drive = mg.tensor([[1.0], [-0.5], [2.0]])
    at_once = mg.grad(lambda w: mg.rnn(drive, w.reshape(1, 1)).sum())(mg.tensor(0.7))
    np.testing.assert_allclose(at_once.item(), mg.grad(by_hand)(mg.tensor(0.7)).item())


def test_an_lstm_cell_can_keep_its_memory():
    closed, wide_open = -100.0, 100.0
    gates = mg.tensor([closed, wide_open, 0.3, wide_open])
    hidden, cell = mg.lstm_cell(gates, mg.tensor([0.5]))
    np.testing.assert_allclose(cell.numpy(), [0.5])
    np.testing.assert_allclose(hidden.numpy(), np.tanh([0.5]))


def test_a_gru_cell_can_keep_its_state():
    drive, recall = mg.tensor([0.0, 100.0, 3.0]), mg.tensor([0.0, 0.0, 5.0])
    np.testing.assert_allclose(mg.gru_cell(drive, recall, mg.tensor([0.25])).numpy(), [0.25])


def test_a_corrected_memory_recalls_the_last_value():
    key = mg.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    value, ones = mg.tensor([[1.0], [2.0], [5.0]]), mg.tensor([1.0, 1.0, 1.0])
    assert mg.gated_delta_net(key, key, value, ones, ones).tolist() == [[1.0], [2.0], [5.0]]
    other = mg.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert mg.gated_delta_net(other, key, value, ones, ones).tolist() == [[0.0], [1.0], [2.0]]


def test_a_scan_without_decay_adds_up():
    x, ones = mg.tensor([[1.0], [2.0], [4.0]]), mg.tensor([[1.0], [1.0], [1.0]])
    out = mg.selective_scan(x, ones, mg.tensor([[0.0]]), ones, ones)
    assert out.tolist() == [[1.0], [3.0], [7.0]]


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_both_directions_read_the_sequence_from_their_own_end(name):
    layer = getattr(nn, name)(2, 3, bidirectional=True)
    x = mg.tensor(np.random.default_rng(0).normal(size=(4, 1, 2)))
    out, last = layer(x)
    states = last[0] if name == "LSTM" else last
    np.testing.assert_allclose(out.numpy()[-1, :, :3], states.numpy()[0])
    np.testing.assert_allclose(out.numpy()[0, :, 3:], states.numpy()[1])


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_recurrent_network_learns_to_remember_the_first_number(name):
    mg.random.seed(0)
    layer, head = getattr(nn, name)(1, 8), nn.Linear(8, 1)
    optimizer = mg.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.03)
    data = mg.tensor(np.random.default_rng(0).choice([-1.0, 1.0], size=(5, 16, 1)))
    first = None
    for _ in range(60):
        loss = F.mse_loss(head(layer(data)[0][-1]), data[0])
        first = loss.item() if first is None else first
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < first / 10


def test_dropout_between_layers_is_off_after_training():
    mg.random.seed(0)
    layer = nn.GRU(2, 3, num_layers=2, dropout=0.9)
    x = mg.tensor(np.random.default_rng(0).normal(size=(4, 1, 2)))
    assert not np.array_equal(layer(x)[0].numpy(), layer(x)[0].numpy())
    layer.eval()
    np.testing.assert_array_equal(layer(x)[0].numpy(), layer(x)[0].numpy())


def test_an_unbatched_sequence_is_time_first_despite_batch_first():
    layer = nn.GRU(2, 3)
    x = mg.tensor(np.random.default_rng(0).normal(size=(4, 2)))
    alone, last = layer(x)
    layer.batch_first = True
    assert layer(x)[0].tolist() == alone.tolist()
    in_batch, last_in_batch = layer(x[None])
    assert (in_batch[0].tolist(), last_in_batch[:, 0].tolist()) == (alone.tolist(), last.tolist())


def test_dropout_applies_only_between_layers_with_the_layers_rng():
    x = mg.tensor(np.random.default_rng(0).normal(size=(4, 1, 2)))

    def outputs(layers, dropout):
        layer = nn.GRU(2, 3, num_layers=layers, dropout=dropout, rng=np.random.default_rng(1))
        return layer(x)[0].numpy(), layer.eval()(x)[0].numpy()

    np.testing.assert_array_equal(*outputs(1, 1.0))
    silenced, whole = outputs(2, 1.0)
    assert silenced.all()
    assert not np.allclose(silenced, whole)
    np.testing.assert_array_equal(outputs(2, 0.5)[0], outputs(2, 0.5)[0])


def test_a_causal_transformer_layer_never_looks_ahead():
    mg.random.seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    x = mg.tensor(np.random.default_rng(0).normal(size=(1, 5, 4)), requires_grad=True)
    layer(x, is_causal=True)[0, 2].sum().backward()
    assert x.grad.numpy()[0, :3].any(axis=-1).all()
    assert not x.grad.numpy()[0, 3:].any()


def test_a_transformer_layer_uses_its_rng_and_any_activation():
    x = mg.tensor(np.random.default_rng(0).normal(size=(2, 5, 4)))

    def layer(activation):
        return nn.TransformerEncoderLayer(4, 2, 8, 0.5, activation, rng=np.random.default_rng(1))

    expected = layer("relu")(x).tolist()
    assert layer(F.relu)(x).tolist() == expected
    assert layer(mg.tanh)(x).tolist() != expected


def test_the_transformer_operation_equals_the_module():
    mg.random.seed(0)
    x = mg.tensor(np.random.default_rng(0).normal(size=(2, 5, 4)))
    for norm_first in (False, True):
        layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True, norm_first=norm_first)
        attention = layer.self_attn
        parts = [attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias]
        for each in (layer.linear1, layer.linear2, layer.norm1, layer.norm2):
            parts += [each.weight, each.bias]
        as_operation = mg.transformer_layer(x, *parts, heads=2, norm_first=norm_first)
        np.testing.assert_allclose(as_operation.numpy(), layer(x).numpy(), atol=1e-12)
