"""Building blocks of networks: softmax, layer normalisation, dropout and attention."""

from ..core.define import elementwise, op
from ..core.messages import explains


@op
def softmax(xp, x, *, axis=-1):
    """Compute the softmax: positive weights that sum to one.

    softmax(x)_i = exp(x_i) / Σ_j exp(x_j) along the axis, with the largest entry subtracted first, so that no
    exponential overflows.
    Args:
        x: scores, real numbers.
        axis: axis or axes along which weights sum to 1; default -1.
    Raises: TypeError if x is complex or boolean; IndexError if the axis is out of range.
    >>> mg.softmax([0.0, np.log(3.0)]).round(6).tolist()
    [0.25, 0.75]
    >>> mg.softmax([1000.0, 1000.0]).tolist()
    [0.5, 0.5]
    See: torch.softmax, scipy.special.softmax; the notes on linear classification of CS231n."""
    if not xp.size(x):
        return x - xp.sum(x * 1.0, axis=axis, keepdims=True)  # nothing, along an axis that must be there all the same
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


@softmax.rule("x")
def _(xp, upstream, out, axis):
    """Each entry receives its weight, times the amount by which its upstream exceeds the weighted average."""
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))


@op
def log_softmax(xp, x, *, axis=-1):
    """Compute the logarithm of the softmax, accurately for large entries.

    log_softmax(x)_i = x_i - log Σ_j exp(x_j) along the axis, with the largest entry subtracted first.
    Args:
        x: scores, real numbers.
        axis: axis or axes along which the exponentials sum to 1; default -1.
    >>> mg.log_softmax([0.0, 1000.0]).tolist()
    [-1000.0, 0.0]
    See: torch.nn.functional.log_softmax, scipy.special.log_softmax."""
    if not xp.size(x):
        return x - xp.sum(x * 1.0, axis=axis, keepdims=True)  # nothing, along an axis that must be there all the same
    distance = x - xp.stop_gradient(xp.max(x, axis=axis, keepdims=True))
    return distance - xp.log(xp.sum(xp.exp(distance), axis=axis, keepdims=True))


@log_softmax.rule("x")
def _(xp, upstream, out, axis):
    """Raising one entry lowers all others in proportion to its weight, so it receives upstream minus its weight times
    the sum."""
    return upstream - xp.exp(out) * xp.sum(upstream, axis=axis, keepdims=True)


@op(residuals=("unit", "scale"))
@explains("{error}; weight and bias must have the shape of the last {axes} axes of x {x}")
def layer_norm(xp, x, weight=None, bias=None, *, axes=1, eps=1e-5):
    """Normalise the last axes to mean 0 and variance 1 (layer normalisation).

        out = (x - mean) / √(variance + eps) * weight + bias

    Mean and variance are computed over the last `axes` axes, the variance with ddof 0 (divided by n).
    Shapes: x (..., *last), weight and bias (*last,), where last are `axes` lengths -> the shape of x.
    Args:
        weight: factors for the normalised row; default none.
        bias: added to it; default none.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if weight or bias does not match, or axes is less than 1; IndexError if x has fewer axes;
        TypeError if eps is not a number.
    >>> mg.layer_norm([[1.0, 3.0], [10.0, 30.0]], eps=0.0).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    See: torch.nn.functional.layer_norm; Ba, Kiros and Hinton, "Layer normalization", 2016."""
    over = xp.last_axes(axes)
    distance = x - xp.mean(x, axis=over, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean(distance * distance, axis=over, keepdims=True) + eps)
    unit = distance * scale
    out = unit if weight is None else unit * weight
    return (out if bias is None else out + bias), unit, scale


@layer_norm.rule("x")
def _(xp, upstream, weight, unit, scale, axes):
    """Shifting or scaling a whole row does not change the result, so the gradient has no component along either; both
    are subtracted."""
    over = xp.last_axes(axes)
    arrived = upstream if weight is None else upstream * weight
    along_mean = xp.mean(arrived, axis=over, keepdims=True)
    along_unit = xp.mean(arrived * unit, axis=over, keepdims=True)
    return scale * (arrived - along_mean - unit * along_unit)


@layer_norm.rule("weight")
def _(upstream, unit):
    """The weight multiplies the normalised row; the engine sums over the rows."""
    return upstream * unit


@layer_norm.rule("bias")
def _(upstream):
    """The bias is added to every row; the engine sums over the rows."""
    return upstream


@elementwise(x=lambda mask: mask)
def dropout(xp, x, mask):
    """Apply dropout with a given mask.

    out = x * mask, where the mask is 0 with probability p and else 1 / (1 - p), so that the mean is unchanged. The
    gradient uses the same mask.
    Shapes: x and mask of shapes that broadcast -> the broadcast shape.
    Args:
        mask: factors for the entries; it receives no gradient.
    Returns: a tensor of the common dtype of x and mask; float64 for integers.
    >>> mg.dropout([1.0, 2.0, 3.0, 4.0], mask=[2.0, 0.0, 0.0, 2.0]).tolist()
    [2.0, 0.0, 0.0, 8.0]
    See: torch.nn.functional.dropout, which draws the mask too; Srivastava et al., "Dropout: a simple way to prevent
        neural networks from overfitting", 2014."""
    return x * mask


@op(residuals=("weights",))
@explains(
    "{error}; query must be (..., L, E), key (..., S, E) and value (..., S, V), and bias must broadcast to "
    "(..., L, S); the shapes are {shapes}"
)
def scaled_dot_product_attention(xp, query, key, value, bias=None, *, scale=None):
    """Compute scaled dot-product attention.

        out = softmax(query @ keyᵀ * scale + bias) @ value

    If all scores of a query are -inf, its result is 0, without a gradient.
    Shapes: query (..., L, E), key (..., S, E), value (..., S, V), bias broadcastable to (..., L, S) -> (..., L, V).
    Args:
        query: the queries at L positions.
        key: the keys at S positions.
        value: the values at S positions.
        bias: added to the scores, -inf where a query may not look; default none.
        scale: factor of the scores; default 1 / √E.
    Raises: TypeError if bias is boolean, or scale is not a number; ValueError if the shapes do not match.
    >>> key, value = [[0.0], [1000.0]], [[3.0], [5.0]]
    >>> mg.scaled_dot_product_attention([[0.0], [1.0]], key, value).tolist()
    [[4.0], [5.0]]
    See: torch.nn.functional.scaled_dot_product_attention, whose masks are in `mg.attention`; Vaswani et al., "Attention
        is all you need", 2017."""
    scores = xp.matmul(query * xp.attention_scale(query, scale), xp.mT(key))
    scores = scores if bias is None else scores + xp.fitting_bias(bias, query, key)
    scores -= xp.finite_max(scores)
    weights = xp.exp(scores)
    total = xp.sum(weights, axis=-1, keepdims=True)
    weights /= xp.where(total == 0, 1.0, total)
    return xp.matmul(weights, value), weights


@scaled_dot_product_attention.rule("query", "key", "value", "bias")
def _(xp, upstream, out, query, key, value, weights, scale):
    """Back through the product with the values, the softmax and the scaled scores. The weighted average that the
    softmax subtracts is the sum of upstream times output."""
    to_scores = xp.matmul(upstream, xp.mT(value))
    to_scores -= xp.sum(upstream * out, axis=-1, keepdims=True)
    to_scores *= weights
    each = xp.attention_scale(query, scale)
    return (
        xp.matmul(to_scores, key * each),
        xp.matmul(xp.mT(to_scores), query * each),
        xp.matmul(xp.mT(weights), upstream),
        to_scores,
    )
