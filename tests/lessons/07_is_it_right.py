"""Right contents of the cells that a student completes in lesson 07."""

CELLS = {
    "engine.differences.gaps": """\
@exercises.answer("engine.differences.gaps")
def engine_differences_gaps(f, x, upstream, h):
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream * (f(x + step) - f(x - step))) / (2 * h)
    return slope
""",
    "engine.compare.lines": """\
@exercises.answer("engine.compare.lines")
def engine_compare_lines(gradient, left, right):
    if gradient.shape != left.shape: return False
    slack = 1e-4 * max(np.max(np.abs(left)), np.max(np.abs(right)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= low - slack) & (gradient <= high + slack)))
""",
    "clip.x": """\
@exercises.answer("clip.x")
def clip_x(xp, x, out):
    return x == out
""",
    "# When do you believe that a gradient is right?": """\
sentence = "When it agrees with central differences, and when a wrong one does not."
""",
}
