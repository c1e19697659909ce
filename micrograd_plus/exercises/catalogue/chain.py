"""Numbers and the chain: the slopes of single operations, and what happens to them on their way through a program."""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import by_hand, find, predict, rules, twice as read_twice, whole_rule

GROUP = GROUPS[0]

rules(GROUP, "subtract.b", "multiply.a", "divide.b", "power.base", "exp.x", "log.x", "sqrt.x", "tanh.x", "sigmoid.x",
      "absolute.x", "maximum.a+b", "leaky_relu.x", "clip.x")  # fmt: skip
read_twice(GROUP, "multiply.a", "tanh.x")
whole_rule(GROUP, "relu.x", "relu going back: what arrives, and the gate")


def diamond(given):
    """A value that is used twice."""
    a, b = given["a"], given["b"]
    s = a + b
    p = a * b
    return {"s": s, "p": p, "y": s * p}


by_hand(
    "diamond.gradients", GROUP, diamond, {"a": real(), "b": real()}, title="every gradient of a diamond",
    prompt="s = a + b; p = a * b; y = s * p. The walk begins with 1 at y.",
    wrong=[
        ("M1", lambda named, right: {"a": right["p"] * named["b"], "b": right["p"] * named["a"]}),
        ("M14", lambda named, right: {"p": named["p"], "s": named["s"]}),
    ],
)  # fmt: skip


def neuron(given):
    """One neuron."""
    z = given["w"] * given["x"]
    s = z + given["b"]
    return {"z": z, "s": s, "y": ops.tanh(s)}


predict(
    "neuron.predict", GROUP, neuron, {"w": real(), "x": real(), "b": real()}, step=3, word="contribution",
    title="what w receives from a neuron", prompt="z = w * x; s = z + b; y = tanh(s). What does w receive?",
)  # fmt: skip


def twice(given):
    """A value that meets itself again."""
    x, w = given["x"], given["w"]
    p = w * x
    return {"p": p, "y": p * w}


predict(
    "twice.predict", GROUP, twice, {"x": real(), "w": real()}, step=2, word="after",
    title="what w has received after the third step",
    prompt="p = w * x; y = p * w. What has w received in all, once the third step of the walk is done?",
)  # fmt: skip


def curves(given):
    """A chain of curves."""
    a = ops.tanh(given["x"])
    b = a * given["w"]
    c = ops.exp(b)
    return {"a": a, "b": b, "c": c, "y": c - given["x"]}


find("curves.find", GROUP, curves, {"x": real(3), "w": real(3)},
     exhibits=["tanh: rule on the input", "multiply: own factor", "subtract: minus forgotten"])  # fmt: skip


def quotients(given):
    """Exponentials and logarithms."""
    a = ops.exp(given["x"])
    b = ops.log(a + given["w"] * given["w"])
    return {"a": a, "b": b, "y": b / a}


find("exponential.find", GROUP, quotients, {"x": real(3), "w": real(3)},
     exhibits=["exp: input for output", "log: multiplied for divided", "log: output for input",
               "divide: minus of a quotient forgotten", "divide: square forgotten"])  # fmt: skip
