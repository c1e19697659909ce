"""Numbers and the chain: the slopes of single operations, and how a program multiplies and adds them."""

from __future__ import annotations

from ... import ops
from ...backends import devices
from ...checks.samples import real
from ..spec import GROUPS
from .builders import find_wrong_rule, gradients_by_hand, predict_step, rules, second_order, whole_rule

np = devices.device("cpu").library
GROUP = GROUPS[0]


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
    *rules(GROUP, "subtract.a+b", "multiply.a+b", "divide.b", "power.base", "power.exponent", "log2.x", "sqrt.x",
           "tanh.x", "sigmoid.x", "softsign.x", "maximum.a+b", "clip.x"),
    *second_order(GROUP, "multiply.a+b", "tanh.x"),
    whole_rule(GROUP, "relu.x", "the backward pass of relu: upstream and the gate"),
    whole_rule(GROUP, "leaky_relu.x", "the backward pass of leaky relu: upstream and two slopes"),
    gradients_by_hand(
        "diamond.gradients", GROUP, "s = a + b\np = a * b\ny = s * p", {"a": real(), "b": real()},
        title="every gradient of a diamond",
    ),
    predict_step(
        "neuron.predict", GROUP, "z = w * x\ns = z + b\ny = mg.tanh(s)", {"w": real(), "x": real(), "b": real()},
        step=3, word="contribution", name="w", title="the gradient of w in a neuron", prompt="What does w receive?",
        formula=lambda w, x, b: (1 - np.tanh(w * x + b) ** 2) * x,
    ),
    predict_step(
        "twice.predict", GROUP, "p = w * x\ny = p * w", {"x": real(), "w": real()}, step=2, word="after", name="w",
        title="the gradient of w after the third step",
        prompt="Each step of the walk sends to one factor of one product: from y to p, from y to w, then from p to w. "
               "What has w received in total after this third step?", formula=lambda x, w: 2 * w * x,
    ),
    find_wrong_rule("curves.find", GROUP, curves, {"x": real(3), "w": real(3)},
                    exhibits=["tanh: rule on the input", "multiply: own factor", "subtract: minus forgotten"]),
    find_wrong_rule("exponential.find", GROUP, quotients, {"x": real(3), "w": real(3)},
                    exhibits=["exp: input for output", "log: multiplied for divided", "log: output for input",
                              "divide: minus of a quotient forgotten", "divide: square forgotten"]),
]  # fmt: skip
