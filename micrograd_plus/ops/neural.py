"""What networks are made of: softmax, normalisation, dropout, attention."""

from ..op import elementwise, op


@op
def softmax(xp, x, *, axis=-1):
    """Positive weights that add up to one."""
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


@softmax.rule("x")
def _(xp, upstream, out, axis):
    """Each weight keeps what exceeds the average, taken with those same weights."""
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))


@op
def log_softmax(xp, x, *, axis=-1):
    """The logarithm of the softmax, safe for large entries."""
    distance = x - xp.stop_gradient(xp.max(x, axis=axis, keepdims=True))
    return distance - xp.log(xp.sum(xp.exp(distance), axis=axis, keepdims=True))


@log_softmax.rule("x")
def _(xp, upstream, out, axis):
    """Raising one entry lowers all by its weight, so each pays its weight's share of the whole."""
    return upstream - xp.exp(out) * xp.sum(upstream, axis=axis, keepdims=True)


@op(keeps=("unit", "scale"))
def layer_norm(xp, x, weight=None, bias=None, *, axes=1, eps=1e-5):
    """The last `axes` axes brought to mean 0 and variance 1, then scaled by `weight` and moved by `bias`."""
    over = xp.last_axes(axes)
    distance = x - xp.mean(x, axis=over, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean(distance * distance, axis=over, keepdims=True) + eps)
    unit = distance * scale
    out = unit if weight is None else unit * weight
    return (out if bias is None else out + bias), unit, scale


@layer_norm.rule("x")
def _(xp, upstream, weight, unit, scale, axes):
    """Moving or stretching the whole row changes nothing, so a gradient has no part along either; both are taken
    out."""
    over = xp.last_axes(axes)
    arrived = upstream if weight is None else upstream * weight
    along_mean = xp.mean(arrived, axis=over, keepdims=True)
    along_unit = xp.mean(arrived * unit, axis=over, keepdims=True)
    return scale * (arrived - along_mean - unit * along_unit)


@layer_norm.rule("weight")
def _(upstream, unit):
    """The weight multiplies the unit row; the engine adds up over the rows."""
    return upstream * unit


@layer_norm.rule("bias")
def _(upstream):
    """The bias is added to every row; the engine adds the rows up."""
    return upstream


@elementwise(x=lambda mask: mask)
def dropout(xp, x, mask):
    """Some entries silenced, the others made up for it. The mask was drawn once, and the way back uses the same one."""
    return x * mask


@op(keeps=("weights",))
def scaled_dot_product_attention(xp, query, key, value, bias=None, *, scale=None):
    """Each query gathers the values whose keys it resembles: softmax(query @ keyᵀ * scale + bias) @ value.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, V), bias broadcastable to (..., L, S) and minus infinity
    where a query may not look. A query that may look nowhere gathers 0.
    """
    scores = xp.matmul(query * xp.attention_scale(query, scale), xp.mT(key))
    scores = scores if bias is None else scores + xp.fitting_bias(bias, query, key)
    scores -= xp.top(scores)
    weights = xp.exp(scores)
    total = xp.sum(weights, axis=-1, keepdims=True)
    weights /= xp.where(total == 0, 1.0, total)
    return xp.matmul(weights, value), weights


@scaled_dot_product_attention.rule("query", "key", "value", "bias")
def _(xp, upstream, out, query, key, value, weights, scale):
    """Back through the product with the values, the softmax, and the scaled scores. What the softmax takes off, the
    average that a query gathered, is upstream times the output."""
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
