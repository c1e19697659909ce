"""Normalisation and attention: rules in which every entry of a row depends on all others."""

from __future__ import annotations

from ... import ops
from ...backends import devices
from ...checks.samples import real
from ..from_functions import function_exercise
from ..spec import GROUPS
from .builders import find_wrong_rule, rules, second_order, whole_rule
from .number_walks import one_input

np = devices.device("cpu").library
GROUP = GROUPS[4]


def attention(inputs):
    """Attention in three steps."""
    s = ops.matmul(inputs["q"], ops.mT(inputs["k"]))
    p = ops.softmax(s)
    o = ops.matmul(p, inputs["v"])
    return {"s": s, "p": p, "o": o, "y": ops.sum(o * o)}


def norm_layer(inputs):
    """A layer with normalisation."""
    h = ops.matmul(inputs["x"], inputs["w"])
    n = ops.layer_norm(h)
    t = ops.tanh(n)
    return {"h": h, "n": n, "t": t, "y": ops.sum(t * t)}


def inverted_dropout(upstream, kept, rate):
    """Return the gradient of dropout that scales the entries it keeps."""
    return upstream * kept / (1 - rate)


def draw_dropout(rng):
    """Draw the inputs of dropout, which keeps some entries and drops others. No rate equals its rest, 1 - rate."""
    return {"upstream": real(3, 2)(rng), "x": real(3, 2)(rng), "rate": float(rng.choice([0.2, 0.3, 0.6])),
            "kept": rng.permutation([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]).reshape(3, 2)}  # fmt: skip


INVERTED_DROPOUT = function_exercise(
    "inverted_dropout.x", inverted_dropout, kind="rule", group=GROUP, title="dropout that scales what it keeps",
    prompt="out = x * kept / (1 - rate). The forward pass drops a part of the entries, `rate`: `kept` is 0 for "
           "them, and 1 for the others. The factor makes up for the entries that are missing, so that the mean stays. "
           "What does x receive when `upstream` arrives at out?",
    inputs=draw_dropout, reads=("upstream", "x", "kept", "rate"),
    edges={
        "nothing is dropped": {"kept": np.ones((3, 2)), "rate": 0.0},
        "almost everything is dropped": {"kept": np.eye(3, 2)[::-1], "rate": 0.95},
        "entries of x are 0": {"x": lambda rng: real(3, 2)(rng) * np.array([[0.0, 1], [1, 0], [1, 1]])},
    },
)  # fmt: skip
INVERTED_DROPOUT.walk_program = one_input("out = x * kept / (1 - rate)", "x", ["kept", "rate"])

EXERCISES = [
    *rules(GROUP, "softmax.x", "masked_softmax.x", "gelu_erf.x", "layer_norm.x", "rms_norm.x", "batch_norm.x",
           "scaled_dot_product_attention.query+key+value+bias", "rnn.drive+weight+start"),
    INVERTED_DROPOUT,
    *second_order(GROUP, "softmax.x"),
    whole_rule(GROUP, "layer_norm.weight", "the weight of a normalisation, for input with three axes"),
    find_wrong_rule("attention.find", GROUP, attention, {"q": real(2, 3), "k": real(4, 3), "v": real(4, 2)},
                    exhibits=["softmax: entry by entry", "softmax: average over the wrong axis"]),
    find_wrong_rule("normalised.find", GROUP, norm_layer, {"x": real(2, 3), "w": real(3, 4)},
                    exhibits=["layer_norm: variance taken for a constant", "layer_norm: mean taken for a constant",
                              "layer_norm: plain scaling", "tanh: rule on the input"]),
]  # fmt: skip
