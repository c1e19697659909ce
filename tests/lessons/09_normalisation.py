"""Right contents of the cells that a student completes in lesson 09."""

CELLS = {
    "layer_norm.x.gaps": """\
@exercises.answer("layer_norm.x.gaps")
def layer_norm_x_gaps(xp, upstream, x, weight, bias, out, axes, eps):
    over = xp.last_axes(axes)
    mean = lambda values: xp.mean(values, axis=over, keepdims=True)
    centred = x - mean(x)
    scale = 1 / xp.sqrt(mean(centred * centred) + eps)
    unit = centred * scale
    arrived = upstream if weight is None else upstream * weight
    return scale * (arrived - mean(arrived) - unit * mean(arrived * unit))
""",
    "rms_norm.x.lines": """\
@exercises.answer("rms_norm.x.lines")
def rms_norm_x_lines(xp, upstream, x, weight, out, axes, eps):
    over = xp.last_axes(axes)
    scale = 1 / xp.sqrt(xp.mean(x * x, axis=over, keepdims=True) + eps)
    unit = x * scale
    arrived = upstream if weight is None else upstream * weight
    along = xp.mean(arrived * unit, axis=over, keepdims=True)
    return scale * (arrived - unit * along)
""",
    "weighted_variance.x": """\
@exercises.answer("weighted_variance.x")
def weighted_variance_x(upstream, x, w):
    share = 2 * w * (x - x.mean())
    return upstream * (share - share.mean())
""",
    "# Why must the gradient of a layer norm add up to nothing?": """\
sentence = "Because adding the same to each entry changes nothing."
""",
}
