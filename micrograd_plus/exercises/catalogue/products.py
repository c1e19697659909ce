"""Products and places: matrices, rows that are looked up, and windows that overlap."""

from __future__ import annotations

from ... import ops
from ...backends import devices
from ...checks.samples import real
from ..from_functions import function_exercise
from ..spec import GROUPS
from .builders import find_wrong_rule, gradients_by_hand, rules, second_order, whole_rule
from .number_walks import one_input

np = devices.device("cpu").library
GROUP = GROUPS[2]


def outer(upstream, x):
    """Return the gradient of the matrix in a product of a matrix and a vector."""
    return upstream[:, None] * x[None, :]


def layer(inputs):
    """A layer and its loss."""
    h = ops.matmul(inputs["x"], inputs["w"])
    t = ops.tanh(h)
    return {"h": h, "t": t, "y": ops.sum(t * t)}


MATVEC = function_exercise(
    "matvec.weight", outer, kind="rule", group=GROUP, title="the matrix in a product of a matrix and a vector",
    prompt="y = W @ x, where W has shape (m, n) and x has shape (n,). What does W receive when `upstream` arrives "
           "at y?",
    inputs=lambda rng: {"upstream": real(3)(rng), "x": real(4)(rng)}, without=("outer",),
    edges={
        "the matrix is square": {"upstream": real(3), "x": real(3)},
        "an entry of x is 0": {"x": lambda rng: np.array([0.0, *real(3)(rng)])},
    },
)
MATVEC.walk_program = one_input("y = weight @ x", "weight", ["x"])

EXERCISES = [
    *rules(GROUP, "matmul.a", "matmul.b", "linear_layer.weight", "take.x", "take_along_axis.x", "embedding.weight",
           "unfold.x", "conv2d.x", "conv2d.weight", "max_pool2d.x", "avg_pool2d.x", "solve.a+b"),
    *second_order(GROUP, "matmul.a"),
    whole_rule(GROUP, "matmul.b", "a matrix that multiplies a whole stack"),
    MATVEC,
    gradients_by_hand(
        "tied.gradients", GROUP, "h = x @ w\nt = mg.tanh(h)\no = t @ w.T\ny = mg.sum(o * o)",
        {"x": real(2, 3), "w": real(3, 4)}, title="every gradient of tied weights",
    ),
    find_wrong_rule("product.find", GROUP, layer, {"x": real(3, 3), "w": real(3, 3)},
                    exhibits=["matmul: transpose forgotten", "matmul: order swapped", "tanh: rule on the input"]),
]  # fmt: skip
