"""Building blocks of transformers: rotary positions, attention with masks and caps, gated layers and experts."""

from ..core.composite import composite
from ..core.define import elementwise, linear, multilinear, nondifferentiable, op


@linear(x=lambda xp, upstream, angles, interleaved: xp.rope(upstream, -angles, interleaved=interleaved))
def rope(xp, x, angles, *, interleaved=False):
    """Apply rotary position embedding: rotate pairs of features by the angle of their position.

    A pair (u, v) with angle a becomes (u cos a - v sin a, u sin a + v cos a), so the product of a query and a key
    depends on their distance. The first 2 * pairs features are rotated, the rest are unchanged. The gradient is rotated
    back.
    Shapes: x (..., T, width), angles (..., T, pairs) with 2 * pairs ≤ width -> (..., T, width).
    Args:
        x: queries or keys.
        angles: angles in radians, as returned by `rope_angles`; they receive no gradient.
        interleaved: whether a pair is two neighbours, instead of a feature and the one `pairs` positions later; default
            False.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError if there are more angles than pairs of features, or the number of positions differs.
    >>> quarter = [[np.pi / 2]]
    >>> mg.rope([[1.0, 0.0, 7.0]], quarter).round(6).tolist()
    [[0.0, 1.0, 7.0]]
    See: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021."""
    return xp.rope(x, angles, interleaved)


@nondifferentiable
def rope_angles(xp, x, *, pairs, base=10000.0, offset=0):
    """Return the angles of rotary position embedding, for each position and pair of features.

    Pair p of position t is rotated by t / base ** (p / pairs): the first pair by one radian per position, the last by
    almost nothing. There is no gradient.
    Shapes: x (..., T, width) -> (T, pairs).
    Args:
        x: the sequence; only its length T, dtype and device matter.
        pairs: the number of pairs of features to rotate.
        base: the ratio of the fastest rotation to a pair after the last; default 10000.0.
        offset: the position of the first entry, if earlier ones are in a cache; default 0.
    Returns: a tensor of angles in radians, of the dtype of x.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.rope_angles(np.ones((3, 4)), pairs=2).tolist()
    [[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]
    See: `rope`; Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021."""
    return xp.rope_angles(x, pairs, base, offset)


@composite
@elementwise(
    gate=lambda xp, gate, up: up * xp.sigmoid(gate) * (1 + gate * (1 - xp.sigmoid(gate))),
    up=lambda xp, gate: xp.silu(gate),
)
def swiglu(xp, gate, up):
    """Compute SwiGLU: silu(gate) * up.

    silu(g) = g / (1 + exp(-g)), elementwise.
    Shapes: gate and up of shapes that broadcast -> the broadcast shape.
    >>> mg.swiglu([0.0, 1.0, 20.0], 3.0).round(6).tolist()
    [0.0, 2.193176, 60.0]
    See: Shazeer, "GLU variants improve transformer", 2020."""
    return xp.silu(gate) * up


@op
def lora_matmul(xp, x, weight, a, b, *, scale=1.0):
    """Compute a linear layer with a low-rank update (LoRA).

        out = x @ weightᵀ + scale * (x @ aᵀ) @ bᵀ

    With a frozen weight, only a and b are trained: rank * (in + out) numbers.
    Shapes: x (..., in), weight (out, in), a (rank, in), b (out, rank) -> (..., out).
    Args:
        x: inputs.
        weight: the weight of the existing layer.
        a: the first low-rank matrix.
        b: the second low-rank matrix; if it is 0, the layer is unchanged.
        scale: factor of the update; default 1.0.
    Raises: ValueError if the shapes do not match; TypeError if scale is not a number.
    >>> mg.lora_matmul([[1.0, 2.0]], np.eye(2), a=[[1.0, 1.0]], b=[[0.0], [10.0]]).tolist()
    [[1.0, 32.0]]
    See: Hu et al., "LoRA: low-rank adaptation of large language models", 2021."""
    return xp.linear_layer(x, weight) + scale * xp.linear_layer(xp.linear_layer(x, a), b)


@lora_matmul.rule("x")
def _(xp, upstream, weight, a, b, scale):
    """Back through both branches."""
    return xp.matmul(upstream, weight) + scale * xp.matmul(xp.matmul(upstream, b), a)


@lora_matmul.rule("weight")
def _(xp, upstream, x):
    """As in a linear layer alone."""
    return xp.sum_outer(upstream, x)


@lora_matmul.rule("a", "b")
def _(xp, upstream, x, a, b, scale):
    """Each low-rank matrix receives its inputs times the gradient that the other one passes on."""
    to_narrow = scale * xp.matmul(upstream, b)
    return xp.sum_outer(to_narrow, x), scale * xp.sum_outer(upstream, xp.linear_layer(x, a))


@multilinear(
    x=lambda xp, upstream, weights, experts: xp.grouped_matmul(upstream, xp.mT(weights), experts),
    weights=lambda xp, upstream, x, experts, weights_shape: xp.expert_products(x, upstream, experts, weights_shape[0]),
)
def grouped_matmul(xp, x, weights, experts):
    """Multiply each row by the matrix of its expert.

    out[r] = x[r] @ weights[experts[r]]
    Shapes: x (rows, in), weights (experts, in, out), experts (rows,) -> (rows, out).
    Args:
        x: one row for each token.
        weights: one matrix for each expert.
        experts: integers from 0, the expert of each row; they receive no gradient.
    Returns: a tensor of the common dtype of x and weights.
    Raises: IndexError if an expert is out of range; ValueError if the shapes do not match.
    >>> weights = [[[1.0], [1.0]], [[10.0], [0.0]]]
    >>> mg.grouped_matmul([[1.0, 2.0], [3.0, 4.0]], weights, [1, 0]).tolist()
    [[10.0], [7.0]]
    See: Shazeer et al., "Outrageously large neural networks: the sparsely-gated mixture-of-experts layer", 2017."""
    return xp.grouped_matmul(x, weights, experts)


@multilinear(
    a=lambda xp, upstream, b, experts: xp.grouped_matmul(b, xp.mT(upstream), experts),
    b=lambda xp, upstream, a, experts: xp.grouped_matmul(a, upstream, experts),
    public=False,
)
def expert_products(xp, a, b, experts, *, count):
    """Compute aᵀ @ b over the rows of each expert: the gradient of the matrices of `grouped_matmul`.

    out[e] = Σ_r a[r]ᵀ b[r] over the rows r with experts[r] = e; an expert without rows gets 0.
    Shapes: a (rows, in), b (rows, out), experts (rows,) -> (count, in, out).
    Args:
        a, b: one row for each token.
        experts: integers from 0, the expert of each row; they receive no gradient.
        count: the number of experts.
    Returns: a tensor of the common dtype of a and b.
    Raises: IndexError if an expert is out of range, or the numbers of rows differ.
    >>> mg.ops.expert_products([[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]], [0, 0, 1], count=2).tolist()
    [[[3.0]], [[3.0]]]
    See: `grouped_matmul`."""
    return xp.expert_products(a, b, experts, count)


# Attention ------------------


@op(public=False)
def masked_softmax(xp, x, *, axis=-1):
    """Compute the softmax; a row with only -inf gives 0 everywhere.

    exp(x_i) / Σ_j exp(x_j), with the largest entry subtracted first; an entry of -inf has weight 0.
    Args:
        x: scores.
        axis: axis or axes along which weights sum to 1; default -1.
    >>> mg.ops.masked_softmax([[0.0, 0.0, -np.inf], [-np.inf, -np.inf, -np.inf]]).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    See: `softmax`, where such a row is not a number."""
    e = xp.exp(x - xp.finite_max(x, axis=axis))
    total = xp.sum(e, axis=axis, keepdims=True)
    return e / xp.where(total == 0, 1.0, total)


@masked_softmax.rule("x")
def _(xp, upstream, out, axis):
    """Each entry receives its weight, times the amount by which its upstream exceeds the weighted average."""
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))


@nondifferentiable(public=False)
def attention_mask(xp, query, key, allowed=None, *, causal=False, window=None):
    """Return an attention mask: 0 where a query may look, -inf elsewhere.

    The mask is added to the scores. The query at position i may look at the key at position j if all requested
    conditions are true: j ≤ i (`causal`), |i - j| < window, and allowed. There is no gradient.
    Shapes: query (..., L, E), key (..., S, E), allowed broadcastable to (..., L, S) -> (L, S), broadcast with
        `allowed`.
    Args:
        query, key: queries and keys; only their lengths L and S, dtype and device matter.
        allowed: True where a query may look; default everywhere.
    Returns: a tensor of the dtype of query.
    Raises: TypeError if allowed is not boolean; ValueError if the window is less than 1, or allowed does not broadcast.
    >>> x = np.ones((3, 1))
    >>> mg.ops.attention_mask(x, x, causal=True, window=2).tolist()
    [[0.0, -inf, -inf], [0.0, 0.0, -inf], [-inf, 0.0, 0.0]]
    See: torch.nn.functional.scaled_dot_product_attention, whose attn_mask this is; Beltagy, Peters and Cohan,
        "Longformer", 2020, for windows."""
    return xp.attention_mask(query, key, allowed, causal, window)


@op(residuals=("weights", "capped"))
def soft_capped_attention(xp, query, key, value, bias=None, *, soft_cap=50.0, scale=None):
    """Compute attention with soft-capped scores, limited smoothly to ± soft_cap.

        scores = soft_cap * tanh(query @ keyᵀ * scale / soft_cap) + bias
        out = softmax(scores) @ value

    If all scores of a query are -inf, its result is 0. At the cap a score is constant and passes no gradient.
    Shapes: query (..., L, E), key (..., S, E), value (..., S, V), bias broadcastable to (..., L, S) -> (..., L, V).
    Args:
        query: the queries at L positions.
        key: the keys at S positions.
        value: the values at S positions.
        bias: added to the capped scores, -inf where a query may not look; default none.
        soft_cap: the bound of the scores; default 50.0.
        scale: factor of the products; default 1 / √E.
    Raises: TypeError if bias is boolean, or soft_cap is not a number; ValueError if the shapes do not match.
    >>> key, value = [[0.0], [1000.0]], [[0.0], [1.0]]
    >>> mg.soft_capped_attention([[1.0]], key, value, soft_cap=1.0).round(4).tolist()
    [[0.7311]]
    See: `scaled_dot_product_attention`; Gemma Team, "Gemma 2: improving open language models at a practical size",
        2024."""
    capped = xp.tanh(xp.matmul(query, xp.mT(key)) * (xp.attention_scale(query, scale) / soft_cap))
    scores = soft_cap * capped if bias is None else soft_cap * capped + xp.fitting_bias(bias, query, key)
    weights = xp.masked_softmax(scores)
    return xp.matmul(weights, value), weights, capped


@soft_capped_attention.rule("query", "key", "value", "bias")
def _(xp, upstream, query, key, value, weights, capped, scale):
    """Back through the product with the values, the softmax, the cap and the scale. At the cap a score is constant."""
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
    """Compute scaled dot-product attention with masks, windows, soft caps and shared heads.

        out = softmax(query @ keyᵀ * scale + bias + mask) @ value

    The mask is computed by `attention_mask`, and a soft cap is applied as in `soft_capped_attention`. Several heads of
    queries may share one head of keys and values: with 6 and 2 heads, each serves 3 consecutive ones. If a query may
    look nowhere, its result is 0.
    Shapes: query (..., heads, L, E), key (..., heads, S, E), value (..., heads, S, V), bias and allowed broadcastable
        to (..., L, S) -> (..., heads, L, V).
    Args:
        query, key, value: the queries, keys and values.
        bias: numbers added to the scores; default none.
        allowed: True where a query may look; default everywhere. It receives no gradient.
        scale: factor of the scores; default 1 / √E.
        soft_cap: the bound of the scores; None (default) for no bound.
    Raises: TypeError if bias is boolean, or allowed is not; ValueError if the shapes do not match, the numbers of heads
        do not divide, or the window is less than 1.
    >>> x = [[[0.0], [0.0], [0.0]]]
    >>> mg.attention(x, x, [[[3.0], [6.0], [9.0]]], causal=True).round(6).tolist()
    [[[3.0], [4.5], [6.0]]]
    See: torch.nn.functional.scaled_dot_product_attention; Vaswani et al., "Attention is all you need", 2017; Ainslie et
        al., "GQA: training generalized multi-query transformer models from multi-head checkpoints", 2023."""
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
    """Compute multi-head self-attention, followed by a linear layer.

        query, key, value = x @ in_weightᵀ + in_bias, in three equal parts, each cut into heads of E / heads features
        gathered = softmax(query @ keyᵀ / √(E / heads)) @ value for each head, side by side
        out = gathered @ out_weightᵀ + out_bias
    Shapes: x (N, L, E), in_weight (3 E, E), in_bias (3 E,), out_weight (E, E), out_bias (E,) -> (N, L, E).
    Args:
        x: N sequences of L positions.
        in_weight, in_bias: of the layer for queries, keys and values, in this order.
        out_weight, out_bias: of the layer after the heads.
        heads: the number of heads, a divisor of E.
    Raises: ValueError if the shapes do not match, or heads does not divide E.
    >>> x, eye = np.arange(4.0).reshape(1, 2, 2), np.eye(2)
    >>> mg.attention_block(x, np.vstack([0 * eye, eye, eye]), np.zeros(6), eye, np.zeros(2), heads=2).tolist()
    [[[1.0, 2.0], [1.0, 2.0]]]
    See: torch.nn.MultiheadAttention; Vaswani et al., "Attention is all you need", 2017."""
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
    """Compute a transformer encoder layer: self-attention, then two linear layers with a relu between.

    The output of each part is added to its input:

        y = norm1(x + attention(x))              with norm_first   y = x + attention(norm1(x))
        out = norm2(y + ff(y))                                     out = y + ff(norm2(y))
        ff(y) = relu(y @ weight1ᵀ + bias1) @ weight2ᵀ + bias2
    Shapes: x (N, L, E), in_weight (3 E, E), in_bias (3 E,), out_weight (E, E), out_bias (E,), weight1 (F, E), bias1
        (F,), weight2 (E, F), bias2 (E,), and weight and bias of both norms (E,) -> (N, L, E).
    Args:
        x: N sequences of L positions.
        in_weight, in_bias, out_weight, out_bias: of the attention, as in `attention_block`.
        weight1, bias1, weight2, bias2: of the two linear layers.
        norm1_weight, norm1_bias, norm2_weight, norm2_bias: of the two layer normalisations.
        heads: the number of heads, a divisor of E.
        norm_first: whether to normalise before each part, instead of after each sum; default False.
    Raises: ValueError if the shapes do not match, or heads does not divide E.
    >>> x, one, zero = [[[1.0, 3.0]]], np.ones(2), np.zeros(2)
    >>> idle = [np.zeros((6, 2)), np.zeros(6), *[np.zeros((2, 2)), zero] * 3]
    >>> mg.transformer_layer(x, *idle, one, zero, one, zero, heads=1, norm_first=True).tolist()
    [[[1.0, 3.0]]]
    >>> mg.transformer_layer(x, *idle, one, zero, one, zero, heads=1).round(3).tolist()
    [[[-1.0, 1.0]]]
    See: torch.nn.TransformerEncoderLayer; Vaswani et al., "Attention is all you need", 2017; Xiong et al., "On layer
        normalization in the transformer architecture", 2020, for norm_first."""
    seen = xp.layer_norm(x, norm1_weight, norm1_bias, eps=eps) if norm_first else x
    gathered = xp.attention_block(seen, in_weight, in_bias, out_weight, out_bias, heads=heads, causal=causal)
    if norm_first:
        x = x + gathered
        seen = xp.layer_norm(x, norm2_weight, norm2_bias, eps=eps)
    else:
        x = seen = xp.residual_layer_norm(gathered, x, norm1_weight, norm1_bias, eps=eps)
    thought = xp.linear_layer(xp.relu(xp.linear_layer(seen, weight1, bias1)), weight2, bias2)
    return x + thought if norm_first else xp.residual_layer_norm(thought, x, norm2_weight, norm2_bias, eps=eps)
