"""Losses: one number that says how wrong a prediction is."""

from ..op import op


@op
def mse(xp, prediction, target):
    """The mean of squared differences."""
    return xp.mean_square(prediction - target)


@mse.rule("prediction")
def _(xp, upstream, prediction, target):
    """Twice the difference, shared out among all entries."""
    difference = prediction - target
    return upstream * 2 / xp.size(difference) * difference


@mse.rule("target")
def _(xp, upstream, prediction, target):
    """The same, seen from the other end of the difference."""
    difference = target - prediction
    return upstream * 2 / xp.size(difference) * difference


@op(keeps=("log_weights",))
def softmax_cross_entropy(xp, logits, target):
    """What each row of scores makes of its target, in nats: minus the expected log of the softmax.

    Shapes: logits (..., classes), target (..., classes) of probabilities; the result is (...).
    """
    log_weights = xp.log_softmax(logits, axis=-1)
    return -xp.sum(xp.shaped_like(target, logits) * log_weights, axis=-1), log_weights


@softmax_cross_entropy.rule("logits")
def _(xp, upstream, target, log_weights):
    """Where the softmax puts more weight than the target, the score should go down: by the difference."""
    whole = xp.sum(target, axis=-1, keepdims=True)
    return xp.expand_dims(upstream, -1) * (xp.exp(log_weights) * whole - target)


@softmax_cross_entropy.rule("target")
def _(xp, upstream, log_weights):
    """A target that moves towards a class changes the loss by how unlikely that class seemed."""
    return -xp.expand_dims(upstream, -1) * log_weights


@op(keeps=("weights",))
def mean_class_cross_entropy(xp, logits, classes):
    """What rows of scores make of their classes on average, in nats: minus the log of the softmax there.

    Shapes: logits (rows, classes), classes (rows,) of whole numbers; the result is one number.
    """
    distance = logits - xp.stop_gradient(xp.max(logits, axis=-1, keepdims=True))
    e = xp.exp(distance)
    total = xp.sum(e, axis=-1, keepdims=True)
    chosen = xp.take_along_axis(distance, xp.reshape(classes, (xp.shape(logits)[0], 1)), axis=-1)
    return xp.mean(xp.log(total) - chosen), e / total


@mean_class_cross_entropy.rule("logits")
def _(xp, upstream, classes, weights, logits_shape):
    """The softmax, less 1 at the class: shared out among the rows."""
    return upstream / logits_shape[0] * (weights - xp.one_hot(classes, num_classes=logits_shape[-1]))


@op
def binary_cross_entropy_with_logits(xp, logits, target):
    """What a score makes of a yes (1) or no (0), entry by entry, safe for large scores of either sign."""
    return target * xp.softplus(-logits) + (1 - target) * xp.softplus(logits)


@binary_cross_entropy_with_logits.rule("logits")
def _(xp, upstream, logits, target):
    """The probability less the target."""
    return upstream * (xp.sigmoid(logits) - target)


@binary_cross_entropy_with_logits.rule("target")
def _(xp, upstream, logits):
    """A larger target is worth the score."""
    return -upstream * logits
