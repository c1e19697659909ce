"""Lines of random programs, in the spelling of both libraries.

`m` is torch or mg, `F` its functional. Each takes what it needs from the dice when the program is made, so that both
sides do the same. Guards keep the numbers inside the domains of the functions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

ENTRIES: dict[str, Callable[..., Any]] = {
    "sin": lambda s, x: s.m.sin(x),
    "cos": lambda s, x: s.m.cos(2 * x),
    "tanh": lambda s, x: s.m.tanh(x),
    "exp": lambda s, x: s.m.exp(s.m.sin(x)),
    "expm1": lambda s, x: s.m.expm1(s.m.cos(x)),
    "log": lambda s, x: s.m.log(x * x + 0.5),
    "log1p": lambda s, x: s.m.log1p(x**2),
    "sqrt": lambda s, x: s.m.sqrt(x * x + 0.1),
    "rsqrt": lambda s, x: s.m.rsqrt(1 + x**2),
    "inverse": lambda s, x: 1 / (1 + x * x),
    "power": lambda s, x: (x * x + 0.3) ** 0.7,
    "to the": lambda s, x: 2 ** s.m.sin(x),
    "cube": lambda s, x: s.m.tanh(x) ** 3,
    "minus first": lambda s, x: (s.m.tanh(x) + 2) ** -1,
    "sigmoid": lambda s, x: s.m.sigmoid(x),
    "softplus": lambda s, x: s.F.softplus(x),
    "logsigmoid": lambda s, x: s.F.logsigmoid(x),
    "relu": lambda s, x: s.F.relu(x),
    "leaky_relu": lambda s, x: s.F.leaky_relu(x, 0.1),
    "silu": lambda s, x: s.F.silu(x),
    "gelu": lambda s, x: s.F.gelu(x),
    "abs": lambda s, x: abs(x),
    "erf": lambda s, x: s.m.erf(x),
    "arctan": lambda s, x: s.m.arctan(x),
    "sinh": lambda s, x: s.m.sinh(s.m.sin(x)),
    "arcsinh": lambda s, x: s.m.arcsinh(x),
    "minus": lambda s, x: -x,
    "one minus": lambda s, x: 1 - x,
    "square": lambda s, x: s.m.square(x) / (1 + s.m.square(x)),
    "halves": lambda s, x: x / 2 + 0.5 * x,
    "clip": lambda s, x: s.m.clip(x, -0.7, 0.9),
    "floor": lambda s, x: x - s.m.floor(x * 0.3),
    "sign": lambda s, x: x * s.m.sign(x + 0.2),
    "constant": lambda s, x: x * x.detach(),
    "where": lambda s, x: s.m.where(x > 0.1, s.m.sin(x), x * 0.5),
    "in place": lambda s, x: s.into(x, lambda out: out.__iadd__(x * x)),
    "times in place": lambda s, x: s.into(x, lambda out: (out.__iadd__(x), out.__imul__(s.m.cos(x)))[1]),
}
"""Of each entry: any shape."""

ALONG: dict[str, Callable[..., Any]] = {
    "sum": lambda s, x, k: x.sum(k) / x.shape[k],
    "sum kept": lambda s, x, k: x.sum(k, **s.keep) * 0.3 + x,
    "mean": lambda s, x, k: x.mean(k),
    "var": lambda s, x, k: s.m.var(x, k, **s.whole),
    "std": lambda s, x, k: s.m.std(x + s.ramp(x, k), k, **s.whole),
    "amax": lambda s, x, k: s.m.amax(x, k),
    "amin": lambda s, x, k: s.m.amin(x, k),
    "prod": lambda s, x, k: s.m.tanh(x).prod(k),
    "logsumexp": lambda s, x, k: s.m.logsumexp(x, k),
    "softmax": lambda s, x, k: s.F.softmax(x, dim=k),
    "log_softmax": lambda s, x, k: s.F.log_softmax(x, dim=k),
    "cumsum": lambda s, x, k: s.m.cumsum(x, k) / x.shape[k],
    "cumprod": lambda s, x, k: s.m.cumprod(s.m.tanh(x), k),
    "sorted": lambda s, x, k: s.sort(x, k),
    "flip": lambda s, x, k: s.m.flip(x, (k,)),
    "roll": lambda s, x, k: s.m.roll(x, 1, k),
    "joined": lambda s, x, k: s.m.concatenate([x, s.m.sin(x)], k),
    "stacked": lambda s, x, k: s.m.stack([x, x * x * 0.1], k),
    "first": lambda s, x, k: s.m.moveaxis(x, k, 0)[0],
    "all but one": lambda s, x, k: s.m.moveaxis(x, k, 0)[1:],
    "taken twice": lambda s, x, k: s.m.moveaxis(x, k, 0)[[0, -1, 0]],
    "swapped": lambda s, x, k: x.swapaxes(0, k),
    "normalised": lambda s, x, k: s.F.normalize(x + 0.1, dim=k),
    "centred": lambda s, x, k: x - x.mean(k, **s.keep),
    "looped": lambda s, x, k: sum(row * row for row in s.m.moveaxis(x, k, 0)) / x.shape[k],
    "filled": lambda s, x, k: s.fill_rows(s.m.moveaxis(x, k, 0)),
    "split": lambda s, x, k: s.m.stack([each.sum() for each in s.m.moveaxis(x, k, 0)]) * 0.2,
    "differences": lambda s, x, k: s.m.diff(x, **{s.axis: k}),
}
"""Along one axis `k` of a shape that has one."""

PAIRS: dict[str, Callable[..., Any]] = {
    "plus": lambda s, x, y: x + y,
    "less": lambda s, x, y: x - 0.7 * y,
    "times": lambda s, x, y: x * s.m.tanh(y),
    "over": lambda s, x, y: x / (1.5 + s.m.sin(y)),
    "maximum": lambda s, x, y: s.m.maximum(x, y),
    "minimum": lambda s, x, y: s.m.minimum(x, y),
    "power of two": lambda s, x, y: (1 + x * x) ** s.m.sin(y),
    "arctan2": lambda s, x, y: s.m.arctan2(x, y * y + 0.4),
    "hypot": lambda s, x, y: s.m.hypot(x, y * y + 0.4),
    "logaddexp": lambda s, x, y: s.logaddexp(x, y),
    "chosen": lambda s, x, y: s.m.where(x > y, x, y * 0.5),
    "xlogy": lambda s, x, y: s.special.xlogy(x, y * y + 0.5),
}
"""Of two shapes that broadcast."""

MATRICES: dict[str, Callable[..., Any]] = {
    "gram": lambda s, x: x @ x.mT / 3,
    "turned": lambda s, x: x.mT,
    "einsum": lambda s, x: s.m.einsum("...ij,...ik->...jk", x, s.m.sin(x)) / 3,
    "outer": lambda s, x: s.m.einsum("...ij,...ij->...i", x, x)[..., None] * x * 0.2,
    "triangle": lambda s, x: s.m.tril(x) - 0.5 * s.m.triu(x, 1),
    "diagonal": lambda s, x: s.diagonal(x @ x.mT) * 0.2,
    "inverse": lambda s, x: s.m.linalg.inv(x @ x.mT + s.eye(x)),
    "solved": lambda s, x: s.m.linalg.solve(x @ x.mT + s.eye(x), x),
    "cholesky": lambda s, x: s.m.linalg.cholesky(x @ x.mT + s.eye(x)),
    "determinant": lambda s, x: s.m.linalg.slogdet(x @ x.mT + s.eye(x))[1],
    "layer_norm": lambda s, x: s.F.layer_norm(x, tuple(x.shape[-1:])),
    "linear": lambda s, x: s.F.linear(x, s.m.sin(x[..., :2, :].reshape(-1, x.shape[-1])[:2])),
    "attention": lambda s, x: s.attention(x, s.m.sin(x)),
    "cross entropy": lambda s, x: s.F.cross_entropy(x.reshape(-1, x.shape[-1]), s.classes(x)),
    "squared error": lambda s, x: s.F.mse_loss(x, s.m.sin(x).detach()),
    "smooth error": lambda s, x: s.F.smooth_l1_loss(x, 0.3 * x.detach(), reduction="none"),
    "convolved": lambda s, x: s.F.conv1d(x.reshape(1, -1, x.shape[-1]), s.kernel(x), padding=1)[0] * 0.3,
    "pooled": lambda s, x: s.F.avg_pool1d(x.reshape(1, -1, x.shape[-1]), 2, ceil_mode=False)[0],
    "flattened": lambda s, x: x.reshape(-1),
    "masked": lambda s, x: s.m.where(s.mask(x), x, 0.0),
    "all of it": lambda s, x: x.mean() + x[..., 0].sum() * 0.1,
    "norm": lambda s, x: s.m.linalg.norm(x + 0.1) + x * 0.1,
    "padded": lambda s, x: s.F.pad(x, (1, 2)),
    "in a corner": lambda s, x: x[..., 1:, :-1],
}
"""Lines for arrays with two or more axes of length at least 2."""


class Side:
    """One library, with its differences in spelling."""

    def __init__(self, name: str, dtype: str):
        self.name, self.dtype = name, dtype
        if name == "torch":
            import torch

            self.m, self.F, self.special = torch, torch.nn.functional, torch.special
            self.keep, self.whole, self.axis = {"keepdim": True}, {"correction": 0}, "dim"
            self._made = torch.tensor
        else:
            import micrograd_plus as mg

            self.m, self.F, self.special = mg, mg.nn.functional, mg.special
            self.keep, self.whole, self.axis = {"keepdims": True}, {"ddof": 0}, "axis"
            self._made = mg.tensor

    def tensor(self, values: Any) -> Any:
        """Return a tensor of the case's dtype."""
        return self._made(np.asarray(values, self.dtype))

    def leaf(self, values: Any) -> Any:
        """Return a leaf of the case's dtype."""
        return self.tensor(values).requires_grad_()

    def into(self, x: Any, write: Callable[[Any], Any]) -> Any:
        """Return a plain tensor of zeros into which values were written in place."""
        return write(self.tensor(np.zeros(tuple(x.shape))))

    def fill_rows(self, rows: Any) -> Any:
        """Return a buffer that a loop filled with rows."""
        out = self.tensor(np.zeros(tuple(rows.shape)))
        for i in range(len(rows)):
            out[i] = rows[i] * (i + 1) * 0.5
        return out

    def sort(self, x: Any, axis: int) -> Any:
        """Return the sorted entries."""
        return self.m.sort(x, dim=axis, stable=True)[0] if self.name == "torch" else self.m.sort(x, axis=axis)

    def attention(self, x: Any, keys: Any) -> Any:
        """Written out for PyTorch, whose own has no second derivative."""
        if self.name != "torch":
            return self.F.scaled_dot_product_attention(x, keys, x)
        return self.F.softmax(x @ keys.mT / x.shape[-1] ** 0.5, dim=-1) @ x

    def logaddexp(self, x: Any, y: Any) -> Any:
        """Written out for PyTorch, whose own has nan for a second derivative where one number is much larger."""
        return y + self.F.softplus(x - y, threshold=60.0) if self.name == "torch" else self.m.logaddexp(x, y)

    def ramp(self, x: Any, axis: int) -> Any:
        """Whole numbers along an axis, so that entries which a step before made equal are not: PyTorch's second
        derivative of their deviation is nan."""
        return self.tensor(np.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - axis - 1)))

    def diagonal(self, x: Any) -> Any:
        """Return the diagonal of the last two axes."""
        return self.m.diagonal(x, 0, -2, -1)

    def eye(self, x: Any) -> Any:
        """Return an identity matrix with as many rows as `x`."""
        return self.tensor(np.eye(x.shape[-2]))

    def classes(self, x: Any) -> Any:
        """Return a class for each row."""
        rows = int(np.prod(tuple(x.shape[:-1])))
        return self._made(np.arange(rows) * 7 % x.shape[-1])

    def kernel(self, x: Any) -> Any:
        """Return two kernels of length 3 over the rows of `x`."""
        rows = int(np.prod(tuple(x.shape[:-1])))
        return self.tensor(np.sin(np.arange(6.0 * rows)).reshape(2, rows, 3))

    def mask(self, x: Any) -> Any:
        """Return a mask of every third entry."""
        return self._made((np.arange(int(np.prod(tuple(x.shape)))) % 3 == 0).reshape(tuple(x.shape)))
