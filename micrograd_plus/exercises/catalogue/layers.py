"""Normalisation and attention: rules in which every entry of a row depends on all others."""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find_wrong_rule, rules, second_order, whole_rule

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


EXERCISES = [
    *rules(GROUP, "softmax.x", "masked_softmax.x", "gelu_erf.x", "dropout.x", "layer_norm.x", "rms_norm.x",
           "batch_norm.x", "scaled_dot_product_attention.query+key+value+bias", "rnn.drive+weight+start"),
    *second_order(GROUP, "softmax.x"),
    whole_rule(GROUP, "layer_norm.weight", "the weight of a normalisation, for input with three axes"),
    find_wrong_rule("attention.find", GROUP, attention, {"q": real(2, 3), "k": real(4, 3), "v": real(4, 2)},
                    exhibits=["softmax: entry by entry", "softmax: average over the wrong axis"]),
    find_wrong_rule("normalised.find", GROUP, norm_layer, {"x": real(2, 3), "w": real(3, 4)},
                    exhibits=["layer_norm: variance taken for a constant", "layer_norm: mean taken for a constant",
                              "layer_norm: plain scaling", "tanh: rule on the input"]),
]  # fmt: skip
