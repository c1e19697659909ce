"""Losses: what a model is told it should have said."""



from __future__ import annotations

from ... import ops
from ...backends import devices
from ...checks.samples import positive, real
from ..from_functions import function_exercise
from ..registered import register
from ..spec import GROUPS
from .builders import by_hand, rules

np = devices.device("cpu").library
GROUP = GROUPS[3]

rules(GROUP, "mse.prediction", "binary_cross_entropy_with_logits.logits", "log_softmax.x", "logsumexp.x",
      "softmax_cross_entropy.logits", "mean_class_cross_entropy.logits")  # fmt: skip


def stages(given):
    """Cross-entropy, one operation after the other."""
    e = ops.exp(given["x"])
    s = ops.sum(e, axis=1, keepdims=True)
    p = e / s
    lp = ops.log(p)
    return {"e": e, "s": s, "p": p, "lp": lp, "loss": -ops.sum(lp * given["t"])}


def one_column(named, right):
    """What the sum receives is handed to the first column only."""
    e = right["p"] / named["s"]
    e[:, :1] += right["s"]
    return {"e": e, "x": e * named["e"]}


by_hand(
    "stages.gradients", GROUP, stages, {"x": real(2, 3), "t": positive(2, 3)}, title="cross-entropy in stages",
    prompt="e = exp(x); s = e.sum(axis=1, keepdims=True); p = e / s; lp = log(p); loss = -(lp * t).sum(). "
           "The walk begins with 1 at the loss.",
    wrong=[
        ("M56", one_column),
        ("M16", lambda named, right: {"p": right["lp"] * named["p"]}),
        ("M15", lambda named, right: {"x": right["e"] * named["x"]}),
        ("M58", lambda named, right: {name: -value for name, value in right.items()}),
    ],
)  # fmt: skip

register(function_exercise(
    "penalty.w", lambda upstream, w, strength: upstream * strength * w, kind="rule", group=GROUP,
    title="half a squared length as a penalty",
    prompt="penalty = ½ · strength · (w * w).sum(). What does w receive when the number `upstream` arrives at the "
           "penalty?",
    inputs={"upstream": real(), "w": real(2, 3), "strength": 0.3},
    edges={"w is 0 in places": {"w": lambda rng: real(2, 3)(rng) * np.array([[0.0, 1, 1], [1, 0, 1]])},
           "the numbers are huge": {"w": lambda rng: 1e6 * real(2, 3)(rng)}},
    mistakes=[
        ("M64", lambda upstream, w, strength: 2 * upstream * strength * w),
        ("M6", lambda w, strength: strength * w),
        ("M65", lambda upstream, w, strength: upstream * strength * np.sign(w)),
    ],
))  # fmt: skip


def weighted_variance(upstream, x, w):
    """The way through the mean counts where the weights do not add up to one."""
    far = x - np.mean(x)
    return upstream * 2 * (w * far - np.mean(w * far))


register(function_exercise(
    "weighted_variance.x", weighted_variance, kind="rule", group=GROUP, title="a variance with weights",
    prompt="v = (w * (x - x.mean()) ** 2).sum(), where w are given weights. What does x receive when the number "
           "`upstream` "
           "arrives at v?",
    inputs={"upstream": real(), "x": real(5), "w": positive(5)},
    edges={"all entries are equal": {"x": np.full(5, 0.75)},
           "the numbers are tiny": {"x": lambda rng: 1e-5 * real(5)(rng)}},
    mistakes=[
        ("M36", lambda upstream, x, w: upstream * 2 * w * (x - np.mean(x))),
        ("M61", lambda upstream, x, w: weighted_variance(upstream, x, w) / 2),
        ("M6", lambda x, w: weighted_variance(1.0, x, w)),
    ],
))  # fmt: skip
