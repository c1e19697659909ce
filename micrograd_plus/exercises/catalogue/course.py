"""Order, minutes and prerequisites of the exercises."""

from __future__ import annotations

from collections.abc import Sequence

from ..spec import GROUPS, Exercise

MINUTES = {"rule": 6, "engine": 12, "gradients": 12, "wrong rule": 8, "predict": 5, "gaps": 4, "lines": 5,
           "patient": 12}  # fmt: skip
"""About how long an exercise of each kind takes."""
LONGER = {
    "engine.value": 40, "engine.adam": 15, "engine.order": 15, "conv2d.x": 20, "conv2d.weight": 15, "layer_norm.x": 20,
    "batch_norm.x": 20, "rms_norm.x": 15, "max_pool2d.x": 12, "rnn.drive+weight+start": 25, "solve.a+b": 15,
    "scaled_dot_product_attention.query+key+value+bias": 30, "softmax.x": 12, "log_softmax.x": 10,
    "softmax_cross_entropy.logits": 12, "mean_class_cross_entropy.logits": 15, "weighted_variance.x": 12,
    "stages.gradients": 20, "tied.gradients": 15, "var.x": 10, "cumsum.x": 8, "prod.x": 10,
}  # fmt: skip
SUFFIXES = {".twice": 4, ".whole": 4}
"""Minutes that a longer form of an exercise adds."""
NEEDS = {
    "divide.b": "multiply.a+b", "power.base": "multiply.a+b", "power.exponent": "power.base",
    "log2.x": "power.exponent", "tanh.x": "power.exponent",
    "sigmoid.x": "power.exponent", "softsign.x": "divide.b",
    "leaky_relu.x.whole": "relu.x.whole", "clip.x": "maximum.a+b", "tanh.x.twice": "tanh.x",
    "multiply.a+b.twice": "multiply.a+b",
    "relu.x.whole": "maximum.a+b", "diamond.gradients": "multiply.a+b", "neuron.predict": "neuron.predict.lines",
    "neuron.predict.lines": "tanh.x multiply.a+b",
    "twice.predict": "diamond.gradients", "curves.find": "tanh.x subtract.a+b",
    "exponential.find": "power.exponent divide.b",
    "tanh.x.gaps": "power.exponent", "multiply.b.whole": "add.b.whole", "broadcast_to.x.whole": "add.b.whole",
    "add.b.whole": "engine.unbroadcast.gaps", "mean.x": "sum.x", "var.x": "mean.x", "prod.x": "divide.b",
    "max.x": "max.x.lines", "max.x.lines": "sum.x", "cumsum.x": "sum.x", "means.find": "mean.x",
    "sort.x": "getitem.x", "pad.x": "getitem.x",
    "concatenate.parts": "getitem.x",
    "matmul.a": "matmul.a.gaps", "matmul.b": "matmul.a", "matmul.b.whole": "matmul.b add.b.whole",
    "matmul.a.twice": "matmul.a", "linear_layer.weight": "matmul.b", "matvec.weight": "multiply.a+b",
    "take.x": "getitem.x", "take_along_axis.x": "take.x",
    "embedding.weight": "embedding.weight.lines", "embedding.weight.lines": "take.x", "unfold.x": "pad.x",
    "conv2d.x": "unfold.x matmul.b", "conv2d.weight": "conv2d.x", "max_pool2d.x": "unfold.x max.x",
    "avg_pool2d.x": "unfold.x mean.x", "solve.a+b": "matmul.b", "tied.gradients": "matmul.b diamond.gradients",
    "product.find": "matmul.b", "log_softmax.x": "softmax.x", "logsumexp.x": "power.exponent sum.x",
    "softmax_cross_entropy.logits": "log_softmax.x",
    "mean_class_cross_entropy.logits": "mean_class_cross_entropy.logits.lines",
    "mean_class_cross_entropy.logits.lines": "softmax.x.gaps",
    "binary_cross_entropy_with_logits.logits": "sigmoid.x", "stages.gradients": "diamond.gradients divide.b",
    "weighted_variance.x": "var.x", "softmax.x": "softmax.x.gaps", "softmax.x.gaps": "power.exponent sum.x",
    "softmax.x.twice": "softmax.x", "masked_softmax.x": "masked_softmax.x.lines",
    "masked_softmax.x.lines": "softmax.x.gaps",
    "layer_norm.x": "layer_norm.x.gaps", "layer_norm.x.gaps": "var.x",
    "batch_norm.x": "layer_norm.x", "rms_norm.x": "rms_norm.x.lines", "rms_norm.x.lines": "layer_norm.x",
    "layer_norm.weight.whole": "add.b.whole", "inverted_dropout.x": "multiply.a+b",
    "scaled_dot_product_attention.query+key+value+bias": "scaled_dot_product_attention.query+key+value+bias.gaps",
    "scaled_dot_product_attention.query+key+value+bias.gaps": "softmax.x matmul.b", "attention.find": "softmax.x",
    "rnn.drive+weight+start": "rnn.drive+weight+start.gaps", "rnn.drive+weight+start.gaps": "matmul.b tanh.x",
    "normalised.find": "layer_norm.x",
    "engine.order": "engine.order.lines", "engine.accumulate": "engine.accumulate.gaps",
    "engine.accumulate.gaps": "diamond.gradients", "engine.value": "engine.order engine.accumulate",
    "engine.unbroadcast": "engine.unbroadcast.gaps", "engine.training": "engine.training.lines",
    "engine.momentum": "engine.momentum.lines", "engine.momentum.lines": "engine.training",
    "engine.adam": "engine.momentum", "engine.neuron": "engine.neuron.lines", "engine.neuron.lines": "engine.value",
    "engine.saved": "engine.saved.lines", "engine.saved.lines": "multiply.a+b",
    "engine.compare": "engine.compare.lines",
    "engine.compare.lines": "engine.differences", "engine.differences": "engine.differences.gaps",
    "engine.segments": "engine.segments.lines", "engine.segments.lines": "engine.accumulate",
    "engine.clip": "engine.training",
    "sums.patient": "engine.training", "uphill.patient": "engine.training", "hot.patient": "engine.training",
    "zeros.patient": "tanh.x engine.training", "columns.patient": "engine.unbroadcast",
    "overflow.patient": "softmax.x engine.training", "branch.patient": "sqrt.x engine.training",
    "dead.patient": "zeros.patient", "sigmoids.patient": "sigmoid.x zeros.patient", "frozen.patient": "engine.training",
    "gain.patient": "sigmoids.patient",
}  # fmt: skip
"""The exercises that help with an exercise."""
FADED = ("gaps", "lines")


def arrange(exercises: Sequence[Exercise]) -> list[Exercise]:
    """Return exercises in the order of a course, with their minutes and what helps.

    An exercise with gaps or shuffled lines comes before the one that a student writes alone.
    """
    for each in exercises:
        base, dot, suffix = each.id.rpartition(".")
        longer = SUFFIXES.get(dot + suffix, 0)
        each.minutes = LONGER.get(base if longer else each.id, MINUTES[each.kind]) + longer
        each.needs = tuple(NEEDS.get(each.id, "").split())
    ordered = [each for each in exercises if each.kind not in FADED]
    for each in exercises:
        if each.kind in FADED:
            ordered.insert([other.id for other in ordered].index(each.id.rpartition(".")[0]), each)
    return sorted(ordered, key=lambda each: GROUPS.index(each.group))
