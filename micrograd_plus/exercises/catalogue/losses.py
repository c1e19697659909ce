"""Losses: functions of a model's output and the target."""

from __future__ import annotations

from ...backends import devices
from ...checks.samples import positive, real
from ..from_functions import function_exercise
from ..spec import GROUPS
from .builders import gradients_by_hand, rules
from .number_walks import one_input

np = devices.device("cpu").library
GROUP = GROUPS[3]


STAGES = """\
e = mg.exp(x)
s = mg.sum(e, axis=1, keepdims=True)
p = e / s
lp = mg.log(p)
loss = -mg.sum(lp * t)"""

def penalty(upstream, w, strength):
    """Return the gradient of half a squared length."""
    return upstream * strength * w


def weighted_variance(upstream, x, w):
    """Return the gradient of a weighted variance. The path through the mean counts if the weights do not sum to 1."""
    deviation = x - np.mean(x)
    return upstream * 2 * (w * deviation - np.mean(w * deviation))


PENALTY = function_exercise(
    "penalty.w", penalty, kind="rule", group=GROUP, title="half a squared length as a penalty",
    prompt="penalty = ½ · strength · (w * w).sum(). What does w receive when the number `upstream` arrives at the "
           "penalty?",
    inputs={"upstream": real(), "w": real(2, 3), "strength": 0.3},
    edges={"some entries of w are 0": {"w": lambda rng: real(2, 3)(rng) * np.array([[0.0, 1, 1], [1, 0, 1]])},
           "the numbers are huge": {"w": lambda rng: 1e6 * real(2, 3)(rng)}},
)  # fmt: skip
PENALTY.walk_program = one_input("squares = w * w\npenalty = 0.5 * strength * mg.sum(squares)", "w", ["strength"])

WEIGHTED_VARIANCE = function_exercise(
    "weighted_variance.x", weighted_variance, kind="rule", group=GROUP, title="a variance with weights",
    prompt="v = (w * (x - x.mean()) ** 2).sum(), where w are given weights. What does x receive when the number "
           "`upstream` arrives at v?",
    inputs={"upstream": real(), "x": real(5), "w": positive(5)},
    edges={"all entries are equal": {"x": np.full(5, 0.75)},
           "the numbers are tiny": {"x": lambda rng: 1e-5 * real(5)(rng)}},
)  # fmt: skip
WEIGHTED_VARIANCE.walk_program = one_input("deviation = x - mg.mean(x)\nv = mg.sum(w * deviation**2.0)", "x", ["w"])

EXERCISES = [
    *rules(GROUP, "mse.prediction", "binary_cross_entropy_with_logits.logits", "log_softmax.x", "logsumexp.x",
           "softmax_cross_entropy.logits", "mean_class_cross_entropy.logits"),
    gradients_by_hand(
        "stages.gradients", GROUP, STAGES, {"x": real(2, 3), "t": positive(2, 3)}, title="cross-entropy in stages",
    ),
    PENALTY, WEIGHTED_VARIANCE,
]  # fmt: skip
