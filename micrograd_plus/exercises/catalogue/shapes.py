"""Shapes: the backward passes of broadcasting, reductions, and operations that move entries."""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find_wrong_rule, rules, whole_rule

GROUP = GROUPS[1]


def deviations(inputs):
    """Rows without their means."""
    m = ops.mean(inputs["x"], axis=1, keepdims=True)
    c = inputs["x"] - m
    s = ops.square(c)
    return {"m": m, "c": c, "s": s, "y": ops.sum(s * inputs["w"])}


EXERCISES = [
    whole_rule(GROUP, "add.b", "adding, with broadcasting undone by hand"),
    whole_rule(GROUP, "multiply.b", "multiplying, with broadcasting undone by hand"),
    whole_rule(GROUP, "broadcast_to.x", "the sum over repeated entries"),
    *rules(GROUP, "sum.x", "mean.x", "max.x", "var.x", "prod.x", "cumsum.x", "transpose.x", "getitem.x",
           "concatenate.parts", "pad.x", "where.a", "sort.x"),
    find_wrong_rule("means.find", GROUP, deviations, {"x": real(2, 4), "w": real(2, 4)},
                    exhibits=["mean: all entries counted", "mean: count forgotten", "subtract: minus forgotten",
                              "multiply: own factor"]),
]  # fmt: skip
