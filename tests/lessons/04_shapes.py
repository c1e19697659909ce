"""Right contents of the cells that a student completes in lesson 04."""

CELLS = {
    "engine.unbroadcast.gaps": '''\
@exercises.answer("engine.unbroadcast.gaps")
def engine_unbroadcast_gaps(x, shape):
    """Return what a value of this shape receives, if x arrives at its broadcast copy."""
    added = x.ndim - len(shape)
    x = x.sum(axis=tuple(range(added)))
    repeated = tuple(i for i, length in enumerate(shape) if length == 1 and x.shape[i] > 1)
    return x.sum(axis=repeated, keepdims=True)
''',
    "mean.x": """\
@exercises.answer("mean.x")
def mean_x(xp, upstream, x_shape, axis, keepdims):
    if axis is not None and not keepdims:
        upstream = xp.expand_dims(upstream, axis)
    return (upstream + xp.zeros(x_shape)) / xp.count_along(x_shape, axis)
""",
    "max.x.lines": """\
@exercises.answer("max.x.lines")
def max_x_lines(xp, upstream, x, out, x_shape, axis, keepdims):
    share = xp.unreduce(upstream, x_shape, axis, keepdims)
    largest = xp.unreduce(out, x_shape, axis, keepdims)
    wins = x == largest
    winners = xp.sum(wins, axis=axis, keepdims=True)
    return share * wins / winners
""",
    "# Why are the gradients of a repeated value added up, and not averaged?": """\
sentence = "Because each copy moves the result on its own, by the full amount."
""",
}
