"""Wrong rules of the softmax and of losses."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
SCORES = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]])
CHANCES = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
ONE_CLASS = Lazy("there is one class", SCORES[:, :1], np.ones((2, 1)))
ALREADY_RIGHT = Lazy("the prediction is right already", SCORES, SCORES)


@wrong(ops.softmax, "x", lazy=Lazy("there is one class", SCORES[:, :1]))
def entry_by_entry(upstream, out):
    """Raising one score lowers all other weights, and here none hears of it: a row does not add up to 0."""
    return upstream * out * (1 - out)


@wrong(ops.softmax, "x", lazy=Lazy("a square of equal scores, and upstream is 1", np.zeros((3, 3)), upstream=1.0))
def average_over_the_wrong_axis(xp, upstream, out):
    """The weights add up to one along their axis, but the average runs along another: rows do not add up to 0."""
    return out * (upstream - xp.sum(upstream * out, axis=0, keepdims=True))


@wrong(ops.log_softmax, "x", lazy=Lazy("there is one class", SCORES[:, :1]))
def own_share_only(xp, upstream, out):
    """Each entry subtracts its weight times its own upstream, instead of its weight times the sum over the row."""
    return upstream - xp.exp(out) * upstream


@wrong(ops.mean_class_cross_entropy, "logits", lazy=Lazy("there is one row", SCORES[:1], np.array([2])))
def rows_not_counted(xp, upstream, classes, weights, logits_shape):
    """The loss is a mean over the rows, and this is the gradient of their sum: too large, by the number of rows."""
    return upstream * (weights - xp.one_hot(classes, num_classes=logits_shape[-1]))


@wrong(ops.softmax_cross_entropy, "logits", lazy=Lazy("the prediction is right already", np.log(CHANCES), CHANCES))
def sign_turned(xp, upstream, target, log_weights):
    """The score of a right class that is too unlikely is pushed further down. The right size, the wrong sign."""
    whole = xp.sum(target, axis=-1, keepdims=True)
    return xp.expand_dims(upstream, -1) * (target - xp.exp(log_weights) * whole)


@wrong(ops.softmax_cross_entropy, "logits", lazy=ONE_CLASS)
def only_the_right_class(xp, upstream, target, log_weights):
    """The normaliser is forgotten: the wrong classes are never pushed down, and a row does not add up to 0."""
    return xp.expand_dims(upstream, -1) * (xp.exp(log_weights) - 1) * target


@wrong(ops.softmax_cross_entropy, "logits", lazy=ONE_CLASS)
def softmax_taken_twice(xp, upstream, target, log_weights):
    """The softmax of probabilities, as if they were scores: all classes look about equally likely."""
    return xp.expand_dims(upstream, -1) * (xp.softmax(xp.exp(log_weights), axis=-1) - target)


@wrong(ops.softmax_cross_entropy, "logits", lazy=Lazy("the targets of a row add up to 1", SCORES, CHANCES))
def targets_taken_to_add_up_to_one(xp, upstream, target, log_weights):
    """Softmax minus target, as in textbooks: right if the targets of a row add up to 1. A weighted row has its weight
    in the target term, but 1 in the softmax term."""
    return xp.expand_dims(upstream, -1) * (xp.exp(log_weights) - target)


@wrong(ops.mse, "prediction", lazy=ALREADY_RIGHT)
def half(xp, upstream, prediction, target):
    """The square's factor 2 is missing: all entries are exactly half of the right gradient."""
    return upstream / xp.size(prediction) * (prediction - target)


@wrong(ops.mse, "prediction", lazy=ALREADY_RIGHT)
def prediction_and_target_swapped(xp, upstream, prediction, target):
    """A prediction that is too high is pushed higher. The right size, the wrong sign."""
    return upstream * 2 / xp.size(prediction) * (target - prediction)


@wrong(ops.binary_cross_entropy_with_logits, "logits", lazy=Lazy("every target is 1", SCORES, np.ones((2, 3))))
def wrong_yes_for_free(xp, upstream, logits, target):
    """Only the cost of positive targets is differentiated; the cost of negative targets is forgotten."""
    return -upstream * target * xp.sigmoid(-logits)
