"""Right contents of the cells that a student completes in lesson 10."""

CELLS = {
    "masked_softmax.x.lines": """\
@exercises.answer("masked_softmax.x.lines")
def masked_softmax_x_lines(xp, upstream, x, out, axis):
    share = out * upstream
    total = xp.sum(share, axis=axis, keepdims=True)
    beyond = upstream - total
    return out * beyond
""",
    "scaled_dot_product_attention.query+key+value+bias.gaps": """\
@exercises.answer("scaled_dot_product_attention.query+key+value+bias.gaps")
def attention_gaps(xp, upstream, query, key, value, bias, scale):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = xp.matmul(query, xp.mT(key)) * scale + (0.0 if bias is None else bias)
    top = xp.max(scores, axis=-1, keepdims=True)
    e = xp.exp(scores - xp.where(xp.isfinite(top), top, 0.0))
    total = xp.sum(e, axis=-1, keepdims=True)
    weights = e / xp.where(total == 0, 1.0, total)
    arrived = xp.matmul(upstream, xp.mT(value))
    sent = weights * (arrived - xp.sum(weights * arrived, axis=-1, keepdims=True))
    to_query, to_key = xp.matmul(sent, key) * scale, xp.matmul(xp.mT(sent), query) * scale
    contributions = to_query, to_key, xp.matmul(xp.mT(weights), upstream), sent
    return contributions[:3] if bias is None else contributions
""",
    "softmax.x": """\
@exercises.answer("softmax.x")
def softmax_x(xp, upstream, out, axis):
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))
""",
    "# Who sends a gradient to whom in attention?": """\
sentence = "Whoever looks sends, in proportion to the weight, to whom it looks at."
""",
}
