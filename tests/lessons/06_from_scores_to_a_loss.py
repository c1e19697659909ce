"""Right contents of the cells that a student completes in lesson 06."""

CELLS = {
    "softmax.x.gaps": """\
@exercises.answer("softmax.x.gaps")
def softmax_x_gaps(xp, upstream, x, out, axis):
    share = upstream * out
    total = xp.sum(share, axis=axis, keepdims=True)
    return out * (upstream - total)
""",
    "mean_class_cross_entropy.logits.lines": """\
@exercises.answer("mean_class_cross_entropy.logits.lines")
def mean_class_cross_entropy_logits_lines(xp, upstream, logits, classes, out):
    e = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    p = e / xp.sum(e, axis=-1, keepdims=True)
    y = xp.one_hot(classes, logits.shape[-1])
    return upstream * (p - y) / len(logits)
""",
    "binary_cross_entropy_with_logits.logits": """\
@exercises.answer("binary_cross_entropy_with_logits.logits")
def binary_cross_entropy_with_logits_logits(xp, upstream, logits, target):
    return upstream * (xp.sigmoid(logits) - target)
""",
    "# Why is it p - y, and not -y alone?": """\
sentence = "Because raising one score lowers the probability of all others: they share one sum."
""",
}
