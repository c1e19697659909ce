"""W6: one block of a transformer, 8 sequences of 64 places and 64 numbers, 4 heads, causal, float32, SGD.

Norm, attention, added; norm, 64 to 256 to 64 with relu, added. Most of its time goes to matrix products, the
exponentials of attention and the norms; an engine must not copy what it can look at.
"""

import numpy as np

from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch, with_recording
from .report import Outcome, Row

BATCH, LENGTH, WIDTH, HEADS, HIDDEN, EPS, RATE = 8, 64, 64, 4, 256, 1e-5, 1e-3
EACH = WIDTH // HEADS

_random = np.random.default_rng(6)


def _normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (_random.normal(size=shape) * scale).astype(np.float32)


INPUTS, TARGETS = _normal(BATCH, LENGTH, WIDTH), _normal(BATCH, LENGTH, WIDTH)
PARAMETERS = [
    1 + _normal(WIDTH, scale=0.1), _normal(WIDTH, scale=0.1),
    _normal(3 * WIDTH, WIDTH, scale=WIDTH**-0.5), _normal(3 * WIDTH, scale=0.1),
    _normal(WIDTH, WIDTH, scale=WIDTH**-0.5), _normal(WIDTH, scale=0.1),
    1 + _normal(WIDTH, scale=0.1), _normal(WIDTH, scale=0.1),
    _normal(HIDDEN, WIDTH, scale=WIDTH**-0.5), _normal(HIDDEN, scale=0.1),
    _normal(WIDTH, HIDDEN, scale=HIDDEN**-0.5), _normal(WIDTH, scale=0.1),
]  # fmt: skip
"""A weight and its bias: of the first norm, queries with keys and values, the heads joined, the second norm, and
the two layers. Weights of layers are (out, in), as in PyTorch."""

UNSEEN = np.where(np.tri(LENGTH, dtype=bool), 0, -np.inf).astype(np.float32)
TOKENS = BATCH * LENGTH


class NumpyByHand(ByHand):
    """All tokens in one matrix; only attention separates sequences and heads."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def normalize(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return each row's norm, the row before weight and bias, and its divisor."""
        unit = x - x.mean(axis=1, keepdims=True)
        scale = np.einsum("ij,ij->i", unit, unit)[:, None]
        scale /= WIDTH
        scale += EPS
        np.sqrt(scale, out=scale)
        unit /= scale
        out = unit * weight
        out += bias
        return out, unit, scale

    def back_through_norm(self, upstream: np.ndarray, weight: np.ndarray, unit: np.ndarray, scale: np.ndarray
                          ) -> tuple[np.ndarray, ...]:
        """Return the gradients of the rows, the weight and the bias; `upstream` is overwritten."""
        to_weight, to_bias = np.einsum("ij,ij->j", upstream, unit), upstream.sum(axis=0)
        upstream *= weight
        along_unit = np.einsum("ij,ij->i", upstream, unit)[:, None]
        along_unit /= WIDTH
        upstream -= upstream.mean(axis=1, keepdims=True)
        upstream -= unit * along_unit
        upstream /= scale
        return upstream, to_weight, to_bias

    def gradients(self) -> list[np.ndarray]:
        g1, c1, w_in, b_in, w_out, b_out, g2, c2, w1, b1, w2, b2 = self.parameters
        x = INPUTS.reshape(TOKENS, WIDTH)
        n1, unit1, scale1 = self.normalize(x, g1, c1)
        qkv = n1.dot(w_in.T)
        qkv += b_in
        query, key, value = qkv.reshape(BATCH, LENGTH, 3, HEADS, EACH).transpose(2, 0, 3, 1, 4)
        weights = np.matmul(query, key.swapaxes(2, 3))
        weights *= EACH**-0.5
        weights += UNSEEN
        weights -= weights.max(axis=3, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=3, keepdims=True)
        gathered = np.matmul(weights, value).transpose(0, 2, 1, 3).reshape(TOKENS, WIDTH)
        y = gathered.dot(w_out.T)
        y += b_out
        y += x
        n2, unit2, scale2 = self.normalize(y, g2, c2)
        h = n2.dot(w1.T)
        h += b1
        np.maximum(h, 0, out=h)
        error = h.dot(w2.T)
        error += b2
        error += y
        error -= TARGETS.reshape(TOKENS, WIDTH)
        self.loss = np.vdot(error, error) / error.size
        error *= 2 / error.size
        to_w2, to_b2 = error.T.dot(h), error.sum(axis=0)
        to_h = error.dot(w2)
        to_h *= h > 0
        to_w1, to_b1 = to_h.T.dot(n2), to_h.sum(axis=0)
        to_y, to_g2, to_c2 = self.back_through_norm(to_h.dot(w1), g2, unit2, scale2)
        to_y += error
        to_w_out, to_b_out = to_y.T.dot(gathered), to_y.sum(axis=0)
        to_gathered = to_y.dot(w_out).reshape(BATCH, LENGTH, HEADS, EACH).transpose(0, 2, 1, 3)
        to_qkv = np.empty((BATCH, LENGTH, 3, HEADS, EACH), np.float32)
        to_query, to_key, to_value = to_qkv.transpose(2, 0, 3, 1, 4)
        to_value[...] = np.matmul(weights.swapaxes(2, 3), to_gathered)
        to_scores = np.matmul(to_gathered, value.swapaxes(2, 3))
        to_scores -= np.einsum("bhij,bhij->bhi", to_scores, weights)[..., None]
        to_scores *= weights
        to_scores *= EACH**-0.5
        to_query[...] = np.matmul(to_scores, key)
        to_key[...] = np.matmul(to_scores.swapaxes(2, 3), query)
        to_qkv = to_qkv.reshape(TOKENS, 3 * WIDTH)
        to_w_in, to_b_in = to_qkv.T.dot(n1), to_qkv.sum(axis=0)
        _, to_g1, to_c1 = self.back_through_norm(to_qkv.dot(w_in), g1, unit1, scale1)
        return [to_g1, to_c1, to_w_in, to_b_in, to_w_out, to_b_out, to_g2, to_c2, to_w1, to_b1, to_w2, to_b2]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets = self.torch.tensor(INPUTS), self.torch.tensor(TARGETS)

    def backward(self) -> None:
        functional = self.torch.nn.functional
        g1, c1, w_in, b_in, w_out, b_out, g2, c2, w1, b1, w2, b2 = self.parameters
        qkv = functional.linear(functional.layer_norm(self.inputs, (WIDTH,), g1, c1, EPS), w_in, b_in)
        query, key, value = qkv.reshape(BATCH, LENGTH, 3, HEADS, EACH).permute(2, 0, 3, 1, 4).unbind()
        gathered = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        gathered = gathered.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        y = self.inputs + functional.linear(gathered, w_out, b_out)
        h = self.torch.relu(functional.linear(functional.layer_norm(y, (WIDTH,), g2, c2, EPS), w1, b1))
        functional.mse_loss(y + functional.linear(h, w2, b2), self.targets).backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def normalize(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        distance = x - self.np.mean(x, axis=-1, keepdims=True)
        variance = self.np.mean(distance * distance, axis=-1, keepdims=True)
        return distance / self.np.sqrt(variance + EPS) * weight + bias

    def loss(self, parameters: list[np.ndarray]) -> object:
        g1, c1, w_in, b_in, w_out, b_out, g2, c2, w1, b1, w2, b2 = parameters
        qkv = self.np.dot(self.normalize(INPUTS, g1, c1), w_in.T) + b_in
        apart = self.np.transpose(self.np.reshape(qkv, (BATCH, LENGTH, 3, HEADS, EACH)), (2, 0, 3, 1, 4))
        query, key, value = apart[0], apart[1], apart[2]
        scores = self.np.matmul(query, self.np.swapaxes(key, 2, 3)) * EACH**-0.5 + UNSEEN
        weights = self.np.exp(scores - self.np.max(scores, axis=3, keepdims=True))
        weights = weights / self.np.sum(weights, axis=3, keepdims=True)
        gathered = self.np.transpose(self.np.matmul(weights, value), (0, 2, 1, 3))
        y = INPUTS + self.np.dot(self.np.reshape(gathered, (BATCH, LENGTH, WIDTH)), w_out.T) + b_out
        h = self.np.maximum(self.np.dot(self.normalize(y, g2, c2), w1.T) + b1, 0)
        return self.np.mean((y + self.np.dot(h, w2.T) + b2 - TARGETS) ** 2)


class Ours(OnOurs):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets = self.mg.tensor(INPUTS), self.mg.tensor(TARGETS)

    def backward(self) -> None:
        functional = self.mg.nn.functional
        g1, c1, w_in, b_in, w_out, b_out, g2, c2, w1, b1, w2, b2 = self.parameters
        qkv = functional.linear(functional.layer_norm(self.inputs, (WIDTH,), g1, c1, EPS), w_in, b_in)
        query, key, value = qkv.reshape(BATCH, LENGTH, 3, HEADS, EACH).transpose(2, 0, 3, 1, 4).unstack()
        gathered = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        gathered = gathered.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)
        y = self.inputs + functional.linear(gathered, w_out, b_out)
        h = self.mg.relu(functional.linear(functional.layer_norm(y, (WIDTH,), g2, c2, EPS), w1, b1))
        functional.mse_loss(y + functional.linear(h, w2, b2), self.targets).backward()


OursRecorded = with_recording(Ours)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    times = race("W6", (NumpyByHand, Ours, OursRecorded, Torch, Autograd), 1e-4, effort, without)
    rows = [
        Row("W6", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.08),
        Row("W6", "times faster than torch", times.ratio(OnTorch.name, Ours.name), at_least=1),
        Row("W6", "recording, time over not recording", times.ratio(OursRecorded.name, Ours.name), at_most=1.2),
    ]
    return [Outcome("W6 transformer block, one step", "ms", rows, times.medians(1e3))]
