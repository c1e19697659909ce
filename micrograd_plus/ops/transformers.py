"""What transformers are made of: turned positions, attention with all its options, gated layers, experts."""

from ..composites import composite
from ..op import constant, elementwise, linear, multilinear, op


@linear(x=lambda xp, upstream, angles, interleaved: xp.rope(upstream, -angles, interleaved=interleaved))
def rope(xp, x, angles, *, interleaved=False):
    """Pairs of features turned by the angle of their position (Su et al. 2021). Going back, everything turns back.

    Shapes: x (..., T, width), angles (..., T, pairs) in radians. The first 2 * pairs features are turned, the rest
    left alone. A pair is a feature and the one `pairs` places on, or with `interleaved` two neighbours. Angles are
    positions, and receive nothing.
    """
    return xp.rope(x, angles, interleaved)


@constant
def rope_angles(xp, x, *, pairs, base=10000.0, offset=0):
    """The angles of `rope` for the positions of x (..., T, width), counted from `offset`: pair p of position t turns by
    t / base ** (p / pairs). Shape (T, pairs)."""
    return xp.rope_angles(x, pairs, base, offset)


@composite
@elementwise(
    gate=lambda xp, gate, up: up * xp.sigmoid(gate) * (1 + gate * (1 - xp.sigmoid(gate))),
    up=lambda xp, gate: xp.silu(gate),
)
def swiglu(xp, gate, up):
    """silu(gate) * up: one half of a layer lets the other through."""
    return xp.silu(gate) * up


@op
def lora_matmul(xp, x, weight, a, b, *, scale=1.0):
    """A linear layer, and a narrow way round it: `x @ weightᵀ + scale * (x @ aᵀ) @ bᵀ` (Hu et al. 2021).

    Shapes: x (..., in), weight (out, in), a (rank, in), b (out, rank).
    """
    return xp.linear_layer(x, weight) + scale * xp.linear_layer(xp.linear_layer(x, a), b)


@lora_matmul.rule("x")
def _(xp, upstream, weight, a, b, scale):
    """Back along both ways."""
    return xp.matmul(upstream, weight) + scale * xp.matmul(xp.matmul(upstream, b), a)


@lora_matmul.rule("weight")
def _(xp, upstream, x):
    """As in a linear layer alone."""
    return xp.sum_outer(upstream, x)


@lora_matmul.rule("a", "b")
def _(xp, upstream, x, a, b, scale):
    """Each of the two narrow matrices collects what it saw, as the other passes it on."""
    to_narrow = scale * xp.matmul(upstream, b)
    return xp.sum_outer(to_narrow, x), scale * xp.sum_outer(upstream, xp.linear_layer(x, a))


@multilinear(
    x=lambda xp, upstream, weights, experts: xp.grouped_matmul(upstream, xp.mT(weights), experts),
    weights=lambda xp, upstream, x, experts, weights_shape: xp.expert_products(x, upstream, experts, weights_shape[0]),
)
def grouped_matmul(xp, x, weights, experts):
    """Each row times the matrix of its expert. Shapes: x (rows, in), weights (experts, in, out), and experts (rows,),
    whole numbers."""
    return xp.grouped_matmul(x, weights, experts)


@multilinear(
    a=lambda xp, upstream, b, experts: xp.grouped_matmul(b, xp.mT(upstream), experts),
    b=lambda xp, upstream, a, experts: xp.grouped_matmul(a, upstream, experts),
)
def expert_products(xp, a, b, experts, *, count):
    """For each expert aᵀ @ b of its own rows: what its matrix receives. Shapes: a (rows, in), b (rows, out), result
    (count, in, out)."""
    return xp.expert_products(a, b, experts, count)


# Attention ------------------


@op
def masked_softmax(xp, x, *, axis=-1):
    """The softmax, in which a row of nothing but minus infinity weighs nothing: 0 everywhere."""
    e = xp.exp(x - xp.top(x, axis=axis))
    total = xp.sum(e, axis=axis, keepdims=True)
    return e / xp.where(total == 0, 1.0, total)


@masked_softmax.rule("x")
def _(xp, upstream, out, axis):
    """Each weight keeps what exceeds the average, taken with those same weights."""
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))


@constant
def attention_mask(xp, query, key, allowed=None, *, causal=False, window=None):
    """What is added to scores (..., L, S) so that a query looks only where it may: minus infinity elsewhere.

    `allowed`: where it is True. `causal`: no further than its own place. `window`: fewer than so many places away.
    """
    return xp.attention_mask(query, key, allowed, causal, window)


@op(keeps=("weights", "capped"))
def soft_capped_attention(xp, query, key, value, bias=None, *, soft_cap=50.0, scale=None):
    """`scaled_dot_product_attention` whose scores level off at ± `soft_cap`, so that no query stares: they are
    soft_cap * tanh(query @ keyᵀ * scale / soft_cap). The bias is added after that."""
    capped = xp.tanh(xp.matmul(query, xp.mT(key)) * (xp.attention_scale(query, scale) / soft_cap))
    scores = soft_cap * capped if bias is None else soft_cap * capped + xp.fitting_bias(bias, query, key)
    weights = xp.masked_softmax(scores)
    return xp.matmul(weights, value), weights, capped


@soft_capped_attention.rule("query", "key", "value", "bias")
def _(xp, upstream, query, key, value, weights, capped, scale):
    """Back through the product with the values, the softmax, the cap and the scale; at the cap a score stands still."""
    to_weights = xp.matmul(upstream, xp.mT(value))
    to_scores = weights * (to_weights - xp.sum(to_weights * weights, axis=-1, keepdims=True))
    to_product = to_scores * (1 - capped * capped) * xp.attention_scale(query, scale)
    return (
        xp.matmul(to_product, key),
        xp.matmul(xp.mT(to_product), query),
        xp.matmul(xp.mT(weights), upstream),
        to_scores,
    )


@composite
def attention(xp, query, key, value, bias=None, allowed=None, *, scale=None, soft_cap=None, causal=False, window=None):
    """Attention with all its options: see `scaled_dot_product_attention`, `soft_capped_attention` and `attention_mask`.

    Shapes: query (..., heads, L, E), key (..., heads, S, E), value (..., heads, S, V), bias (numbers) and allowed (True
    or False) broadcastable to (..., L, S). Several heads of queries may share one of keys and values: with 6 heads and
    2, each serves 3 in a row.
    """
    if causal or window is not None or allowed is not None:
        mask = xp.attention_mask(query, key, allowed, causal=causal, window=window)
        bias = mask if bias is None else xp.fitting_bias(bias, query, key) + mask
    sharing = xp.heads_sharing(xp.shape(query), xp.shape(key))
    if sharing > 1:
        key, value = xp.repeat(key, sharing, axis=-3), xp.repeat(value, sharing, axis=-3)
    if soft_cap is None:
        return xp.scaled_dot_product_attention(query, key, value, bias, scale=scale)
    return xp.soft_capped_attention(query, key, value, bias, scale=scale, soft_cap=soft_cap)


@composite
def attention_block(xp, x, in_weight, in_bias, out_weight, out_bias, *, heads, causal=False):
    """Self-attention in `heads` smaller spaces at once, and a linear layer over what they gathered.

    Shapes: x (N, L, E), in_weight (3 E, E) for queries, keys and values together, in_bias (3 E,), out_weight (E, E),
    out_bias (E,). The result is (N, L, E).
    """
    n, length, width = xp.shape(x)
    projected = xp.linear_layer(x, in_weight, in_bias)
    apart = xp.reshape(projected, (n, length, 3, heads, width // heads))
    query, key, value = xp.unstack(xp.transpose(apart, (2, 0, 3, 1, 4)), axis=0)
    gathered = xp.swapaxes(xp.attention(query, key, value, causal=causal), 1, 2)
    return xp.linear_layer(xp.reshape(gathered, (n, length, width)), out_weight, out_bias)


@composite
def transformer_layer(
    xp, x, in_weight, in_bias, out_weight, out_bias, weight1, bias1, weight2, bias2,
    norm1_weight, norm1_bias, norm2_weight, norm2_bias, *, heads, causal=False, norm_first=False, eps=1e-5,
):  # fmt: skip
    """Attention, then two linear layers with a relu between, each with what went past it; normalised after each sum, or
    with `norm_first` before each part (Vaswani et al. 2017; Xiong et al. 2020). Shapes as in `attention_block`."""
    seen = xp.layer_norm(x, norm1_weight, norm1_bias, eps=eps) if norm_first else x
    gathered = xp.attention_block(seen, in_weight, in_bias, out_weight, out_bias, heads=heads, causal=causal)
    if norm_first:
        x = x + gathered
        seen = xp.layer_norm(x, norm2_weight, norm2_bias, eps=eps)
    else:
        x = seen = xp.residual_layer_norm(gathered, x, norm1_weight, norm1_bias, eps=eps)
    thought = xp.linear_layer(xp.relu(xp.linear_layer(seen, weight1, bias1)), weight2, bias2)
    return x + thought if norm_first else xp.residual_layer_norm(thought, x, norm2_weight, norm2_bias, eps=eps)
