"""Products and places: matrices, rows that are looked up, and windows that overlap."""

# ruff: noqa: D103 - what a function computes is the prompt beside it

from __future__ import annotations

from ... import ops
from ...backends import devices
from ...checks.samples import real
from ..from_functions import function_exercise
from ..registered import register
from ..spec import GROUPS
from .builders import by_hand, find, rules, twice, whole_rule

np = devices.device("cpu").library
GROUP = GROUPS[2]

rules(GROUP, "matmul.a", "matmul.b", "linear_layer.weight", "take.x", "take_along_axis.x", "embedding.weight",
      "unfold.x", "conv2d.x", "conv2d.weight", "max_pool2d.x", "avg_pool2d.x", "solve.a+b")  # fmt: skip
twice(GROUP, "matmul.a")
whole_rule(GROUP, "matmul.b", "a matrix that serves a whole stack")


def outer(upstream, x):
    return upstream[:, None] * x[None, :]


register(function_exercise(
    "matvec.weight", outer, kind="rule", group=GROUP, title="the matrix of a matrix times a vector",
    prompt="y = W @ x, where W has shape (m, n) and x has shape (n,). What does W receive when `upstream` arrives at "
           "y?",
    inputs=lambda rng: {"upstream": real(3)(rng), "x": real(4)(rng)},
    edges={
        "the matrix is square": {"upstream": real(3), "x": real(3)},
        "an entry of x is 0": {"x": lambda rng: np.array([0.0, *real(3)(rng)])},
    },
    mistakes=[
        ("M45", lambda upstream, x: upstream[:3] * x[:3]),
        ("M42", lambda upstream, x: x[:, None] * upstream[None, :]),
        ("M6", lambda upstream, x: np.ones_like(upstream)[:, None] * x[None, :]),
    ],
))  # fmt: skip


def tied(given):
    """The same matrix twice."""
    h = ops.matmul(given["x"], given["w"])
    t = ops.tanh(h)
    o = ops.matmul(t, ops.mT(given["w"]))
    return {"h": h, "t": t, "o": o, "y": ops.sum(o * o)}


by_hand(
    "tied.gradients", GROUP, tied, {"x": real(2, 3), "w": real(3, 4)}, title="every gradient of tied weights",
    prompt="h = x @ w; t = tanh(h); o = t @ w.T; y = (o * o).sum(). The walk begins with 1 at y.",
    wrong=[
        ("M84", lambda named, right: {"w": named["x"].T @ right["h"]}),
        ("M83", lambda named, right: {"h": right["t"], "x": right["t"] @ named["w"].T,
                                      "w": named["x"].T @ right["t"] + right["o"].T @ named["t"]}),
        ("M61", lambda named, right: {name: value / 2 for name, value in right.items()}),
    ],
)  # fmt: skip


def layer(given):
    """A layer and its loss."""
    h = ops.matmul(given["x"], given["w"])
    t = ops.tanh(h)
    return {"h": h, "t": t, "y": ops.sum(t * t)}


find("product.find", GROUP, layer, {"x": real(3, 3), "w": real(3, 3)},
     exhibits=["matmul: transpose forgotten", "matmul: order swapped", "tanh: rule on the input"])  # fmt: skip
