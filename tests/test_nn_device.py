"""Layers, losses and optimisers on a device whose arrays cannot be read: the same numbers."""

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus import nn, optim
from micrograd_plus.backends import devices
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users give it

DEVICE = "stand-in"


@pytest.fixture(autouse=True, scope="module")
def device():
    """Register the fake device for the tests of this file."""
    yield devices.add_device(DEVICE, stand_in.library)
    del devices._devices[DEVICE]


class Reader(nn.Module):
    """A classifier of words into two classes, with attention."""

    def __init__(self, rng):
        self.table = nn.Embedding(7, 4, padding_idx=0, rng=rng)
        self.norm = nn.LayerNorm(4)
        self.attend = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True, rng=rng)
        self.bend, self.drop, self.out = nn.PReLU(), nn.Dropout(0.2, rng=rng), nn.Linear(4, 2, rng=rng)

    def forward(self, words):
        x = self.norm(self.table(words))
        x, _ = self.attend(x, x, x, key_padding_mask=words == 0, is_causal=True)
        return self.out(self.drop(self.bend(x.mean(axis=1))))


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1, initial_accumulator_value=0.1),
}


def train_and_reload(where, make, path):
    """Return a reader that was trained on a device for three steps, saved and reloaded."""
    net = Reader(np.random.default_rng(2)).to(where)
    words = mg.tensor([[1, 2, 0], [3, 4, 5], [6, 0, 0]], device=where)
    classes = mg.tensor([0, 1, -100], device=where)
    optimizer = make(net.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(net(words), classes, label_smoothing=0.1).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
    mg.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, path)
    state = mg.load(path)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    assert {parameter.device for parameter in net.parameters()} == {where}
    return [parameter.numpy() for parameter in net.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_network_learns_on_the_device_what_it_learns_on_the_cpu(tmp_path, name):
    here, there = (train_and_reload(where, OPTIMIZERS[name], tmp_path / "net.npz") for where in ("cpu", DEVICE))
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def images(x):
    """Return a small network of images; `x` is (N, 3, 6, 6)."""
    weight = x[:2, :, :3, :3]
    x = F.max_pool2d(F.conv2d(x, weight, padding="same"), 2, padding=1)
    return F.fold(F.unfold(F.avg_pool2d(F.pad(x, (1, 1, 0, 1), mode="reflect"), 2), 2), (2, 3), 2) * 0.1


LOSSES = {
    "cross_entropy": lambda x, y: F.cross_entropy(x, y.astype(int)[:, 0] % 2),
    "weighted": lambda x, y: F.cross_entropy(x, y.astype(int)[:, 0] % 2, weight=abs(y[0]), ignore_index=1),
    "nll_loss": lambda x, y: F.nll_loss(F.log_softmax(x), y.astype(int)[:, 0] % 2),
    "probabilities": lambda x, y: F.cross_entropy(x, F.softmax(y), weight=abs(y[0])),
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y), weight=abs(y)),
    "logits": lambda x, y: F.binary_cross_entropy_with_logits(x, F.sigmoid(y), pos_weight=abs(y)),
    "kl_div": lambda x, y: F.kl_div(F.log_softmax(x), F.softmax(y), reduction="batchmean"),
    "hinge_embedding_loss": lambda x, y: F.hinge_embedding_loss(x, mg.sign(y)),
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "huber_loss": F.huber_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
    "attention": lambda x, y: F.scaled_dot_product_attention(x, y, y, attn_mask=x @ y.T > 0).sum(),
    "gumbel_softmax": lambda x, y: F.gumbel_softmax(x, rng=np.random.default_rng(1), hard=True).sum(),
    "normalize": lambda x, y: (F.normalize(x, p=3.0) * F.cosine_similarity(x, y, dim=0)).sum(),
    "one_hot": lambda x, y: (F.one_hot(y.astype(int)[:, 0] % 2, 2) * x).sum(),
    "images": lambda x, y: images(mg.tile(x[:, :, None, None], reps=(1, 1, 6, 6))[:, [0, 1, 0]]).sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_the_same_value_and_gradient_on_the_device(name):
    draw = np.random.default_rng(4)
    x, y = draw.normal(size=(3, 2)), draw.uniform(0.5, 4.5, size=(3, 2)) * draw.choice([-1, 1], size=(3, 2))
    outcomes = []
    for where in ("cpu", DEVICE):
        leaf = mg.tensor(x, requires_grad=True, device=where)
        out = LOSSES[name](leaf, mg.tensor(y, device=where))
        out.backward()
        assert out.device == leaf.grad.device == where
        outcomes.append((out.numpy(), leaf.grad.numpy()))
    np.testing.assert_allclose(outcomes[0][0], outcomes[1][0], rtol=1e-12)
    np.testing.assert_allclose(outcomes[0][1], outcomes[1][1], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "name", ["normal_", "uniform_", "trunc_normal_", "orthogonal_", "kaiming_uniform_", "zeros_"]
)
def test_initial_values_on_a_device_equal_those_on_the_cpu(name):
    settings = {} if name == "zeros_" else {"rng": None}
    drawn = []
    for where in ("cpu", DEVICE):
        mg.random.seed(8)
        weight = getattr(nn.init, name)(mg.tensor(np.ones((4, 3)), device=where), **settings)
        assert weight.device == where
        drawn.append(weight.numpy())
    np.testing.assert_array_equal(*drawn)


def test_classes_are_drawn_on_the_cpu_for_the_device():
    drawn = mg.random.categorical(mg.tensor([[0.0, 50.0]], device=DEVICE))
    assert (drawn.device, drawn.numpy().tolist()) == (DEVICE, [1])
