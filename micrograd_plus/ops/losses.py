"""Loss functions."""

from ..core.define import op


@op
def mse(xp, prediction, target):
    """Compute the mean squared error.

    (1 / n) * Σ_i (prediction_i - target_i)², over all n entries.
    Shapes: prediction and target of shapes that broadcast -> ().
    Args:
        target: numbers; they receive a gradient, too.
    Returns: a scalar tensor of the common dtype; float64 for integers, nan if there are no entries.
    >>> mg.mse([1.0, 2.0], [1.0, 4.0]).item()
    2.0
    See: torch.nn.functional.mse_loss."""
    return xp.mean_square(prediction - target)


@mse.rule("prediction")
def _(xp, upstream, prediction, target):
    """Twice the difference, divided by the number of entries."""
    difference = prediction - target
    return upstream * 2 / xp.size(difference) * difference


@mse.rule("target")
def _(xp, upstream, prediction, target):
    """The gradient of the prediction, with the opposite sign."""
    difference = target - prediction
    return upstream * 2 / xp.size(difference) * difference


@op(residuals=("log_weights",))
def softmax_cross_entropy(xp, logits, target):
    """Compute the cross-entropy of softmax and target probabilities for each row, in nats.

    -Σ_i target_i * log softmax(logits)_i along the last axis.
    Shapes: logits (..., classes), target (..., classes) -> (...).
    Args:
        logits: scores, real numbers.
        target: probabilities, of the shape of logits; a sum other than 1 weights the row.
    Returns: a tensor with one loss for each row, of the common dtype; float64 for integers.
    Raises: ValueError if the shapes differ; TypeError if an input is complex.
    >>> mg.softmax_cross_entropy([[0.0, 0.0]], [[0.5, 0.5]]).round(4).tolist()
    [0.6931]
    See: torch.nn.functional.cross_entropy with probabilities; the notes on linear classification of CS231n."""
    log_weights = xp.log_softmax(logits, axis=-1)
    return -xp.sum(xp.shaped_like(target, logits) * log_weights, axis=-1), log_weights


@softmax_cross_entropy.rule("logits")
def _(xp, upstream, target, log_weights):
    """Softmax minus target: a score should decrease where the softmax exceeds the target."""
    whole = xp.sum(target, axis=-1, keepdims=True)
    return xp.expand_dims(upstream, -1) * (xp.exp(log_weights) * whole - target)


@softmax_cross_entropy.rule("target")
def _(xp, upstream, log_weights):
    """The loss is linear in the target; its coefficient is minus the log-softmax."""
    return -xp.expand_dims(upstream, -1) * log_weights


@op(residuals=("weights",), public=False)
def mean_class_cross_entropy(xp, logits, classes):
    """Compute the cross-entropy of softmax and target classes, averaged over the rows, in nats.

    -(1 / n) * Σ_r log softmax(logits_r)_{class_r}, over n rows. The gradient of a row is (softmax - one_hot(class)) /
    n.
    Shapes: logits (rows, classes), classes (rows,) -> ().
    Args:
        logits: scores, real numbers.
        classes: integers, the target class of each row; negative ones count from the end. They receive no gradient.
    Returns: a scalar tensor of the dtype of logits; float64 for integers.
    Raises: IndexError if a class is out of range or not an integer; ValueError if the shapes do not match; TypeError if
        logits are complex.
    >>> mg.ops.mean_class_cross_entropy([[0.0, 0.0], [0.0, np.log(3.0)]], [0, 1]).round(4).item()
    0.4904
    See: torch.nn.functional.cross_entropy; the notes on linear classification of CS231n."""
    distance = logits - xp.stop_gradient(xp.max(logits, axis=-1, keepdims=True))
    e = xp.exp(distance)
    total = xp.sum(e, axis=-1, keepdims=True)
    chosen = xp.take_along_axis(distance, xp.reshape(classes, (xp.shape(logits)[0], 1)), axis=-1)
    return xp.mean(xp.log(total) - chosen), e / total


@mean_class_cross_entropy.rule("logits")
def _(xp, upstream, classes, weights, logits_shape):
    """The softmax minus 1 at the class, divided by the number of rows."""
    return upstream / logits_shape[0] * (weights - xp.one_hot(classes, num_classes=logits_shape[-1]))


@op
def binary_cross_entropy_with_logits(xp, logits, target):
    """Compute the binary cross-entropy of the sigmoid of scores, elementwise, in nats.

    -(target * log σ(logits) + (1 - target) * log(1 - σ(logits))), with σ(s) = 1 / (1 + exp(-s)). It is computed by
    softplus, so it does not overflow for large scores of either sign.
    Shapes: logits and target of shapes that broadcast -> the broadcast shape.
    Args:
        logits: scores, real numbers.
        target: 1 for yes, 0 for no, or a probability between them.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is complex, or logits are boolean.
    >>> mg.binary_cross_entropy_with_logits([0.0, 1000.0, -1000.0], [1.0, 1.0, 1.0]).round(4).tolist()
    [0.6931, 0.0, 1000.0]
    See: torch.nn.functional.binary_cross_entropy_with_logits, which takes the mean."""
    return target * xp.softplus(-logits) + (1 - target) * xp.softplus(logits)


@binary_cross_entropy_with_logits.rule("logits")
def _(xp, upstream, logits, target):
    """The probability minus the target."""
    return upstream * (xp.sigmoid(logits) - target)


@binary_cross_entropy_with_logits.rule("target")
def _(xp, upstream, logits):
    """The loss is linear in the target; its coefficient is minus the score."""
    return -upstream * logits
