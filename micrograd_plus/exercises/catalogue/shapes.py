"""Shapes: what broadcasting repeated is added up again, what a reduction left is spread out again, and what was moved
moves back.
"""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find, rules, whole_rule

GROUP = GROUPS[1]

whole_rule(GROUP, "add.b", "adding, with broadcasting undone by hand")
whole_rule(GROUP, "multiply.b", "multiplying, with broadcasting undone by hand")
whole_rule(GROUP, "broadcast_to.x", "what was repeated, added up again")
rules(GROUP, "sum.x", "mean.x", "max.x", "var.x", "prod.x", "cumsum.x", "transpose.x", "getitem.x",
      "concatenate.parts", "pad.x", "where.a", "sort.x")  # fmt: skip


def centred(given):
    """Rows without their means."""
    m = ops.mean(given["x"], axis=1, keepdims=True)
    c = given["x"] - m
    s = ops.square(c)
    return {"m": m, "c": c, "s": s, "y": ops.sum(s * given["w"])}


find("means.find", GROUP, centred, {"x": real(2, 4), "w": real(2, 4)},
     exhibits=["mean: all entries counted", "mean: count forgotten", "subtract: minus forgotten",
               "multiply: own factor"])  # fmt: skip
