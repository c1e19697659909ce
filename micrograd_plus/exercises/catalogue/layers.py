"""Normalisation and attention: rules in which every entry of a row hears of every other."""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find, rules, twice, whole_rule

GROUP = GROUPS[4]

rules(GROUP, "softmax.x", "masked_softmax.x", "gelu_erf.x", "dropout.x", "layer_norm.x", "rms_norm.x", "batch_norm.x",
      "scaled_dot_product_attention.query+key+value+bias", "rnn.drive+weight+start")  # fmt: skip
twice(GROUP, "softmax.x")
whole_rule(GROUP, "layer_norm.weight", "the weight of a normalisation, for input with three axes")


def attention(given):
    """Attention in three steps."""
    s = ops.matmul(given["q"], ops.mT(given["k"]))
    p = ops.softmax(s)
    o = ops.matmul(p, given["v"])
    return {"s": s, "p": p, "o": o, "y": ops.sum(o * o)}


find("attention.find", GROUP, attention, {"q": real(2, 3), "k": real(4, 3), "v": real(4, 2)},
     exhibits=["softmax: entry by entry", "softmax: average over the wrong axis"])  # fmt: skip


def normalised(given):
    """A normalised layer."""
    h = ops.matmul(given["x"], given["w"])
    n = ops.layer_norm(h)
    t = ops.tanh(n)
    return {"h": h, "n": n, "t": t, "y": ops.sum(t * t)}


find("normalised.find", GROUP, normalised, {"x": real(2, 3), "w": real(3, 4)},
     exhibits=["layer_norm: variance taken for a constant", "layer_norm: mean taken for a constant",
               "layer_norm: plain scaling", "tanh: rule on the input"])  # fmt: skip
