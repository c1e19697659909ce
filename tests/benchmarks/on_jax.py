"""The array workloads in JAX, as its users write them: a loss of the parameters, and a jitted step.

Only the comparison with steps written out uses them: both are compiled. XLA runs on one thread, as everything here.
"""

import os

import numpy as np

from . import (
    w3_small_mlp as w3,
    w5_cnn as w5,
    w6_transformer as w6,
    w7_rnn as w7,
    w8_broadcasting as w8,
    w9_second_order as w9,
)

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class OnJax:
    """JAX, jitted. A workload defines `loss(parameters)`, in `self.jax` and `self.np`."""

    name = "jax"

    def __init__(self, parameters: list[np.ndarray], rate: float | None) -> None:
        os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
        import jax

        jax.config.update("jax_enable_x64", True)  # for the workloads in float64; the others say float32
        self.jax, self.np, self.rate = jax, jax.numpy, rate
        self.parameters = [self.np.asarray(each) for each in parameters]
        self.gradients_of = jax.jit(jax.grad(self.loss))
        self.train = jax.jit(self.update)

    def loss(self, parameters: list[object]) -> object:
        raise TypeError(f"{type(self).__name__} must say what its loss is")

    def update(self, parameters: list[object]) -> list[object]:
        """Return the gradients, and the parameters after a step of gradient descent."""
        gradients = self.jax.grad(self.loss)(parameters)
        if self.rate is None:
            return gradients, parameters
        return gradients, [p - self.rate * g for p, g in zip(parameters, gradients, strict=True)]

    def gradients(self) -> list[np.ndarray]:
        return [np.asarray(each) for each in self.gradients_of(self.parameters)]

    def step(self) -> None:
        self.kept, self.parameters = self.jax.block_until_ready(self.train(self.parameters))


class SmallNetwork(OnJax):
    def __init__(self) -> None:
        super().__init__(w3.PARAMETERS, w3.RATE)

    def loss(self, parameters: list[object]) -> object:
        w1, b1, w2, b2, w3_, b3 = parameters
        h = self.np.tanh(w3.INPUTS @ w1.T + b1)
        h = self.np.tanh(h @ w2.T + b2)
        return self.np.mean((h @ w3_.T + b3 - w3.TARGETS) ** 2)


class Convolutions(OnJax):
    def __init__(self) -> None:
        super().__init__(w5.PARAMETERS, w5.RATE)

    def apply_layer(self, x: object, weight: object, bias: object) -> object:
        """Return a convolution, relu, and the largest entries of 2 x 2 cells."""
        lax = self.jax.lax
        x = lax.conv(x, weight, (1, 1), "SAME") + bias[:, None, None]
        x = self.jax.nn.relu(x)
        return lax.reduce_window(x, -self.np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(self, parameters: list[object]) -> object:
        w1, b1, w2, b2, w3_, b3 = parameters
        h = self.apply_layer(self.apply_layer(w5.IMAGES, w1, b1), w2, b2)
        logits = self.jax.nn.log_softmax(h.reshape(w5.BATCH, -1) @ w3_.T + b3)
        return -self.np.mean(logits[w5.EVERY, w5.LABELS])


class Transformer(OnJax):
    def __init__(self) -> None:
        super().__init__(w6.PARAMETERS, w6.RATE)

    def normalize(self, x: object, weight: object, bias: object) -> object:
        """Return the norm of each row."""
        return (x - x.mean(-1, keepdims=True)) / self.np.sqrt(x.var(-1, keepdims=True) + w6.EPS) * weight + bias

    def loss(self, parameters: list[object]) -> object:
        g1, c1, w_in, b_in, w_out, b_out, g2, c2, w1, b1, w2, b2 = parameters
        qkv = self.normalize(w6.INPUTS, g1, c1) @ w_in.T + b_in
        query, key, value = self.np.moveaxis(qkv.reshape(w6.BATCH, w6.LENGTH, 3, w6.HEADS, w6.EACH), 2, 0)
        gathered = self.jax.nn.dot_product_attention(query, key, value, is_causal=True)
        y = w6.INPUTS + gathered.reshape(w6.BATCH, w6.LENGTH, w6.WIDTH) @ w_out.T + b_out
        h = self.jax.nn.relu(self.normalize(y, g2, c2) @ w1.T + b1)
        return self.np.mean((y + h @ w2.T + b2 - w6.TARGETS) ** 2)


class Recurrent(OnJax):
    """The loop is `scan`; written out, XLA takes minutes to compile it."""

    def __init__(self) -> None:
        super().__init__(w7.PARAMETERS, w7.RATE)

    def loss(self, parameters: list[object]) -> object:
        w, b, u = parameters

        def round_of_loop(state: object, drive: object) -> tuple[object, None]:
            return self.np.tanh(drive + state @ u.T), None

        state, _ = self.jax.lax.scan(round_of_loop, self.np.asarray(w7.START), w7.INPUTS @ w.T + b)
        return self.np.mean((state - w7.TARGETS) ** 2)


class Broadcasting(OnJax):
    def __init__(self) -> None:
        super().__init__(w8.PARAMETERS, None)

    def loss(self, parameters: list[object]) -> object:
        h = parameters[0]
        for row, column in zip(parameters[1 : 1 + w8.TIMES], parameters[1 + w8.TIMES :], strict=True):
            h = self.jax.nn.relu(h * row + column) * w8.SHRINK
        return h.sum()


class SecondOrder(SmallNetwork):
    def __init__(self) -> None:
        OnJax.__init__(self, w9.w3.PARAMETERS, None)

    def loss(self, parameters: list[object]) -> object:
        first = self.jax.grad(super().loss)(parameters)
        return sum((each**2).sum() for each in first)


WORKLOADS = {
    "W3": SmallNetwork, "W5": Convolutions, "W6": Transformer, "W7": Recurrent, "W8": Broadcasting, "W9": SecondOrder,
}  # fmt: skip
"""The contender of each workload; W4 is W3 with larger matrices."""
