"""Numbers and the chain: the slopes of single operations, and how a program multiplies and adds them."""

from __future__ import annotations

from ... import ops
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find_wrong_rule, gradients_by_hand, predict_step, rules, second_order, whole_rule

GROUP = GROUPS[0]


def diamond(inputs):
    """A program that uses a value twice."""
    a, b = inputs["a"], inputs["b"]
    s = a + b
    p = a * b
    return {"s": s, "p": p, "y": s * p}


def neuron(inputs):
    """One neuron."""
    z = inputs["w"] * inputs["x"]
    s = z + inputs["b"]
    return {"z": z, "s": s, "y": ops.tanh(s)}


def square_of_factor(inputs):
    """A product in which one factor occurs twice."""
    x, w = inputs["x"], inputs["w"]
    p = w * x
    return {"p": p, "y": p * w}


def curves(inputs):
    """A chain of curves."""
    a = ops.tanh(inputs["x"])
    b = a * inputs["w"]
    c = ops.exp(b)
    return {"a": a, "b": b, "c": c, "y": c - inputs["x"]}


def quotients(inputs):
    """Exponentials and logarithms."""
    a = ops.exp(inputs["x"])
    b = ops.log(a + inputs["w"] * inputs["w"])
    return {"a": a, "b": b, "y": b / a}


EXERCISES = [
    *rules(GROUP, "subtract.b", "multiply.a", "divide.b", "power.base", "exp.x", "log.x", "sqrt.x", "tanh.x",
           "sigmoid.x", "absolute.x", "maximum.a+b", "leaky_relu.x", "clip.x"),
    *second_order(GROUP, "multiply.a", "tanh.x"),
    whole_rule(GROUP, "relu.x", "the backward pass of relu: upstream and the gate"),
    gradients_by_hand(
        "diamond.gradients", GROUP, diamond, {"a": real(), "b": real()}, title="every gradient of a diamond",
        prompt="s = a + b; p = a * b; y = s * p. The walk begins with 1 at y.",
    ),
    predict_step(
        "neuron.predict", GROUP, neuron, {"w": real(), "x": real(), "b": real()}, step=3, word="contribution",
        title="the gradient of w in a neuron", prompt="z = w * x; s = z + b; y = tanh(s). What does w receive?",
    ),
    predict_step(
        "twice.predict", GROUP, square_of_factor, {"x": real(), "w": real()}, step=2, word="after",
        title="the gradient of w after the third step",
        prompt="p = w * x; y = p * w. What has w received in total after the third step of the walk?",
    ),
    find_wrong_rule("curves.find", GROUP, curves, {"x": real(3), "w": real(3)},
                    exhibits=["tanh: rule on the input", "multiply: own factor", "subtract: minus forgotten"]),
    find_wrong_rule("exponential.find", GROUP, quotients, {"x": real(3), "w": real(3)},
                    exhibits=["exp: input for output", "log: multiplied for divided", "log: output for input",
                              "divide: minus of a quotient forgotten", "divide: square forgotten"]),
]  # fmt: skip
