"""Models that carry a state along a sequence. Going back, what the states receive is carried from the other end."""

from ..op import op, real_only

# Recurrent networks ---------


@op
def rnn(xp, drive, weight, start=None, *, nonlinearity="tanh"):
    """States carried along: each is tanh(drive + previous @ weightᵀ). Time is the first axis.

    Shapes: drive (T, ..., H), weight (H, H), start (..., H), taken as 0 if not given; the result is all states
    (T, ..., H). `nonlinearity` is "tanh" or "relu".
    """
    return xp.rnn(drive, weight, start, nonlinearity)


@rnn.rule("drive", "weight", "start")
def _(xp, upstream, weight, out, start, nonlinearity):
    """A state receives its own upstream, and the next one's share through the weight; its drive receives that times the
    slope. That is a recurrence from the other end."""
    slope = 1 - out * out if nonlinearity == "tanh" else out > 0
    to_drive = xp.gated_recurrence(slope, upstream, weight, reverse=True)
    to_first = xp.sum(to_drive[:1], axis=0)
    to_weight = xp.sum_outer(to_drive[1:], out[:-1])
    if start is not None:
        to_weight = to_weight + xp.sum_outer(to_first, xp.broadcast_to(start, xp.shape(to_first)))
    return to_drive, to_weight, xp.matmul(to_first, weight)


@op
def gated_recurrence(xp, gate, drive, weight, *, reverse=False):
    """States carried along the first axis: each is gate * (drive + previous @ weight), starting from 0.

    Shapes: gate and drive (T, ..., H), weight (H, H). `reverse` starts at the end.
    """
    return xp.gated_recurrence(gate, drive, weight, reverse)


@gated_recurrence.rule("gate", "drive", "weight")
def _(xp, upstream, gate, drive, weight, out, reverse):
    """The same recurrence from the other end, with the matrix transposed."""
    to_drive = xp.gated_recurrence(gate, upstream, xp.mT(weight), reverse=not reverse)
    previous = xp.shift(out, axis=0, reverse=reverse)
    later = xp.shift(to_drive, axis=0, reverse=not reverse)
    to_gate = (upstream + xp.matmul(later, xp.mT(weight))) * (drive + xp.matmul(previous, weight))
    return to_gate, to_drive, xp.sum_outer(previous, to_drive)


@op(outputs=("hidden", "cell_after"), keeps=("enter", "forget", "candidate", "show", "squashed"))
@real_only
def lstm_cell(xp, gates, cell):
    """One step of a long short-term memory (Hochreiter and Schmidhuber 1997): the cell forgets a part of itself and
    takes a candidate in, and the hidden state shows a part of it.

    Shapes: gates (..., 4 H), before their sigmoids and tanh: enter, forget, candidate, show; cell (..., H).
    """
    enter, forget, candidate, show = xp.split(gates, 4, axis=-1)
    enter, forget, show = xp.sigmoid(enter), xp.sigmoid(forget), xp.sigmoid(show)
    candidate = xp.tanh(candidate)
    after = forget * cell + enter * candidate
    squashed = xp.tanh(after)
    return (show * squashed, after), enter, forget, candidate, show, squashed


@lstm_cell.rule("gates", "cell")
def _(xp, upstream, cell, enter, forget, candidate, show, squashed):
    """The cell is reached through the hidden state and directly; from there each gate, times its slope."""
    to_hidden, to_cell = upstream[0], upstream[1] + upstream[0] * show * (1 - squashed * squashed)
    each = [
        to_cell * candidate * enter * (1 - enter),
        to_cell * cell * forget * (1 - forget),
        to_cell * enter * (1 - candidate * candidate),
        to_hidden * squashed * show * (1 - show),
    ]
    return xp.concatenate(each, axis=-1), to_cell * forget


@op(keeps=("reset", "keep", "candidate", "recalled"))
@real_only
def gru_cell(xp, drive, recall, hidden):
    """One step of a gated recurrent unit (Cho et al. 2014): a part of the hidden state is kept, the rest replaced.

    Shapes: drive (..., 3 H) from the input and recall (..., 3 H) from the hidden state, for the gates reset and keep
    and for the candidate; hidden (..., H).
    """
    reset, keep, candidate = xp.split(drive, 3, axis=-1)
    recalled_reset, recalled_keep, recalled = xp.split(recall, 3, axis=-1)
    reset, keep = xp.sigmoid(reset + recalled_reset), xp.sigmoid(keep + recalled_keep)
    candidate = xp.tanh(candidate + reset * recalled)
    return candidate + keep * (hidden - candidate), reset, keep, candidate, recalled


@gru_cell.rule("drive", "recall", "hidden")
def _(xp, upstream, hidden, reset, keep, candidate, recalled):
    """Back through the mixture, the candidate, and the gate that let what was recalled into it."""
    to_keep = upstream * (hidden - candidate) * keep * (1 - keep)
    to_candidate = upstream * (1 - keep) * (1 - candidate * candidate)
    to_reset = to_candidate * recalled * reset * (1 - reset)
    return (
        xp.concatenate([to_reset, to_keep, to_candidate], axis=-1),
        xp.concatenate([to_reset, to_keep, to_candidate * reset], axis=-1),
        upstream * keep,
    )


# State spaces and linear attention ----


@op(keeps=("decay", "state"))
def selective_scan(xp, x, delta, A, B, C):
    """A state space whose step depends on what it reads (Gu and Dao 2023): each channel carries N numbers along,
    state = exp(delta * A) * previous + delta * B * x, and shows C · state.

    Shapes: x and delta (..., T, D), A (D, N), B and C (..., T, N); the result is (..., T, D).
    """
    decay = xp.exp(delta[..., None] * A)
    state = xp.recurrence(decay, (delta * x)[..., None] * B[..., None, :], axis=-3)
    return xp.sum(state * C[..., None, :], axis=-1), decay, state


@selective_scan.rule("x", "delta", "A", "B", "C")
def _(xp, upstream, x, delta, A, B, C, decay, state):
    """What the states receive is a recurrence from the other end; then back through decay and drive."""
    arrived = upstream[..., None] * C[..., None, :]
    next_decay = xp.shift(xp.broadcast_to(decay, xp.shape(state)), axis=-3, reverse=True)
    received = xp.recurrence(next_decay, arrived, axis=-3, reverse=True)
    to_exponent = received * xp.shift(state, axis=-3) * decay
    to_drive = xp.sum(received * B[..., None, :], axis=-1)
    return (
        to_drive * delta,
        to_drive * x + xp.sum(to_exponent * A, axis=-1),
        to_exponent * delta[..., None],
        xp.sum(received * (delta * x)[..., None], axis=-2),
        xp.sum(upstream[..., None] * state, axis=-2),
    )


@op(keeps=("matrices", "state"))
def gated_delta_net(xp, query, key, value, decay, rate):
    """A memory that is corrected (Yang et al. 2024): what it recalls for a key is moved towards the value, by the share
    `rate`, after all of it has faded by `decay`. The query then asks it.

    The state S is a matrix (V, K): S = decay * previous @ (1 - rate * key keyᵀ) + rate * value keyᵀ, out = S @ query.
    Shapes: query and key (..., T, K), value (..., T, V), decay and rate (..., T); the result is (..., T, V).
    """
    decay, rate = decay[..., None, None], rate[..., None, None]
    erased = rate * key[..., :, None] * key[..., None, :]
    matrices = decay * (xp.eye_beside(key, xp.shape(key)[-1]) - erased)
    state = xp.matrix_recurrence(matrices, rate * value[..., :, None] * key[..., None, :])
    return xp.matmul(state, query[..., None])[..., 0], matrices, state


@gated_delta_net.rule("query", "key", "value", "decay", "rate")
def _(xp, upstream, query, key, value, decay, rate, matrices, state):
    """What the memory receives is carried from the other end; each step then hands it to the error it corrected, which
    is value - decay * previous @ key, and to the memory before."""
    previous = xp.shift(state, axis=-3)
    turned = xp.shift(xp.mT(matrices), axis=-3, reverse=True)
    received = xp.matrix_recurrence(turned, upstream[..., :, None] * query[..., None, :], reverse=True)
    recalled = xp.matmul(previous, key[..., None])[..., 0]
    error = value - decay[..., None] * recalled
    along_key = xp.matmul(received, key[..., None])[..., 0]
    to_error = rate[..., None] * along_key
    from_received = rate[..., None] * xp.matmul(xp.mT(received), error[..., None])[..., 0]
    return (
        xp.matmul(xp.mT(state), upstream[..., None])[..., 0],
        from_received - decay[..., None] * xp.matmul(xp.mT(previous), to_error[..., None])[..., 0],
        to_error,
        xp.sum(previous * received, axis=(-2, -1)) - xp.sum(to_error * recalled, axis=-1),
        xp.sum(error * along_key, axis=-1),
    )


@op
def matrix_recurrence(xp, matrices, drive, *, reverse=False):
    """States that are matrices, carried along the axis before them: each is previous @ matrix + drive, starting from 0.

    Shapes: matrices (..., T, K, K), drive (..., T, V, K). `reverse` starts at the end.
    """
    return xp.matrix_recurrence(matrices, drive, reverse)


@matrix_recurrence.rule("matrices", "drive")
def _(xp, upstream, matrices, out, reverse):
    """The same recurrence from the other end, with the matrices transposed. A matrix receives the state it met, times
    what the state it made received."""
    turned = xp.shift(xp.mT(matrices), axis=-3, reverse=not reverse)
    received = xp.matrix_recurrence(turned, upstream, reverse=not reverse)
    return xp.matmul(xp.mT(xp.shift(out, axis=-3, reverse=reverse)), received), received
