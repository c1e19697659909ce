"""Right contents of the cells that a student completes in lesson 11."""

CELLS = {
    "rnn.drive+weight+start.gaps": """\
@exercises.answer("rnn.drive+weight+start.gaps")
def rnn_gaps(xp, upstream, drive, weight, start, out, nonlinearity):
    slope = 1 - out * out if nonlinearity == "tanh" else out > 0
    later, to_drive = xp.zeros_like(out[-1]), []
    for time in reversed(range(len(out))):
        later = slope[time] * (upstream[time] + xp.matmul(later, weight))
        to_drive = [later, *to_drive]
    to_drive = xp.stack(to_drive)
    to_weight = xp.matmul(xp.mT(xp.rows(to_drive[1:])), xp.rows(out[:-1]))
    if start is None:
        return to_drive, to_weight, None
    first = xp.broadcast_to(start, to_drive[0].shape)
    to_weight = to_weight + xp.matmul(xp.mT(xp.rows(to_drive[:1])), xp.rows(first))
    return to_drive, to_weight, xp.sum_to_shape(xp.matmul(to_drive[0], weight), start.shape)
""",
    "engine.clip": """\
@exercises.answer("engine.clip")
def engine_clip(gradients, most):
    length = np.sqrt(sum((each**2).sum() for each in gradients))
    return [each * min(1, most / max(length, 1e-300)) for each in gradients]
""",
    "engine.segments.lines": """\
@exercises.answer("engine.segments.lines")
def engine_segments_lines(by_state, by_weight):
    upstream, received = 1.0, []
    for state_slope, weight_slope in zip(reversed(by_state), reversed(by_weight)):
        received.append(upstream * weight_slope)
        upstream = upstream * state_slope
    return received[::-1]
""",
    "# What does a long walk cost, and what helps?": """\
sentence = "Gradients fade or explode with each step, and states take memory; clip, and use checkpoints."
""",
}
