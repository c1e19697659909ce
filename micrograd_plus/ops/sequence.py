"""Models with a state along a sequence. The gradient of the states runs along it from the other end."""

from ..core.define import op, real_only

# Recurrent networks ---------


@op
def rnn(xp, drive, weight, start=None, *, nonlinearity="tanh"):
    """Compute an Elman recurrent network along a sequence.

        state_t = tanh(drive_t + state_{t-1} @ weightᵀ), or relu instead of tanh

    The drive is input @ W_inᵀ + bias, for all times at once.
    Shapes: drive (T, ..., H), weight (H, H), start (..., H) -> (T, ..., H).
    Args:
        drive: the input of each state, with time on the first axis.
        weight: the matrix from one state to the next.
        start: the initial state, which may have fewer axes than a step of `drive`; default 0.
        nonlinearity: "tanh" (default) or "relu", whose derivative at 0 is 0.
    Raises: ValueError if nonlinearity is unknown, or the shapes do not match; TypeError for complex numbers with relu,
        or if all inputs are integers.
    >>> mg.rnn([[1.0], [-5.0], [1.0]], [[2.0]], nonlinearity="relu").tolist()
    [[1.0], [0.0], [1.0]]
    See: torch.nn.RNN; Elman, "Finding structure in time", 1990."""
    return xp.rnn(drive, weight, start, nonlinearity)


@rnn.rule("drive", "weight", "start")
def _(xp, upstream, weight, out, start, nonlinearity):
    """A state receives its own upstream, and the gradient of the next state through the weight; its drive receives this
    times the derivative of the nonlinearity. That is a recurrence from the other end."""
    slope = 1 - out * out if nonlinearity == "tanh" else out > 0
    to_drive = xp.gated_recurrence(slope, upstream, weight, reverse=True)
    to_first = xp.sum(to_drive[:1], axis=0)
    to_weight = xp.sum_outer(to_drive[1:], out[:-1])
    if start is not None:
        to_weight = to_weight + xp.sum_outer(to_first, xp.broadcast_to(start, xp.shape(to_first)))
    return to_drive, to_weight, xp.matmul(to_first, weight)


@op
def gated_recurrence(xp, gate, drive, weight, *, reverse=False):
    """Compute a recurrence through a matrix, with a gate on each state; the backward pass of `rnn` is one.

        state_t = gate_t * (drive_t + state_{t-1} @ weight), starting from 0
    Shapes: gate and drive (T, ..., H), weight (H, H) -> (T, ..., H).
    Args:
        gate: the factor of each state.
        drive: the input of each state, of the shape of gate.
        weight: the matrix from one state to the next.
        reverse: whether to start at the end; default False.
    Raises: ValueError if gate and drive differ in shape, or weight is not (H, H).
    >>> mg.gated_recurrence([[0.5], [0.5]], [[1.0], [1.0]], [[1.0]]).tolist()
    [[0.5], [0.75]]
    See: `rnn`; `mg.recurrence`, which goes without a matrix."""
    return xp.gated_recurrence(gate, drive, weight, reverse)


@gated_recurrence.rule("gate", "drive", "weight")
def _(xp, upstream, gate, drive, weight, out, reverse):
    """The same recurrence from the other end, with the transposed matrix."""
    to_drive = xp.gated_recurrence(gate, upstream, xp.mT(weight), reverse=not reverse)
    previous = xp.shift_by_one(out, axis=0, reverse=reverse)
    later = xp.shift_by_one(to_drive, axis=0, reverse=not reverse)
    to_gate = (upstream + xp.matmul(later, xp.mT(weight))) * (drive + xp.matmul(previous, weight))
    return to_gate, to_drive, xp.sum_outer(previous, to_drive)


@op(outputs=("hidden", "cell_after"), residuals=("enter", "forget", "candidate", "show", "squashed"))
@real_only
def lstm_cell(xp, gates, cell):
    """Compute one step of a long short-term memory (LSTM).

    The cell forgets part of its content and adds a candidate; the hidden state is part of it. With the gates split into
    enter, forget, candidate and show, and σ the sigmoid,

        cell_after = σ(forget) * cell + σ(enter) * tanh(candidate)
        hidden = σ(show) * tanh(cell_after)

    The gates come from a linear layer over the input and the hidden state before: input @ W_inᵀ + hidden @ Wᵀ + bias.
    Shapes: gates (..., 4 H), cell (..., H) -> hidden and cell_after (..., H).
    Args:
        gates: real numbers, before sigmoids and tanh; PyTorch calls them i, f, g, o.
        cell: the cell before this step.
    Returns: a tuple of tensors, hidden and cell_after.
    Raises: TypeError if an input is complex; ValueError if the last axis of gates is not four times as long as the last
        axis of cell.
    >>> hidden, cell = mg.lstm_cell([100.0, -100.0, 0.5, 100.0], cell=[7.0])
    >>> cell.round(4).tolist(), hidden.round(4).tolist()
    ([0.4621], [0.4318])
    See: torch.nn.LSTMCell; Hochreiter and Schmidhuber, "Long short-term memory", 1997; Gers, Schmidhuber and Cummins,
        "Learning to forget", 2000."""
    enter, forget, candidate, show = xp.split(gates, 4, axis=-1)
    enter, forget, show = xp.sigmoid(enter), xp.sigmoid(forget), xp.sigmoid(show)
    candidate = xp.tanh(candidate)
    after = forget * cell + enter * candidate
    squashed = xp.tanh(after)
    return (show * squashed, after), enter, forget, candidate, show, squashed


@lstm_cell.rule("gates", "cell")
def _(xp, upstream, cell, enter, forget, candidate, show, squashed):
    """The cell receives a gradient through the hidden state and directly; each gate, the same times its derivative."""
    to_hidden, to_cell = upstream[0], upstream[1] + upstream[0] * show * (1 - squashed * squashed)
    each = [
        to_cell * candidate * enter * (1 - enter),
        to_cell * cell * forget * (1 - forget),
        to_cell * enter * (1 - candidate * candidate),
        to_hidden * squashed * show * (1 - show),
    ]
    return xp.concatenate(each, axis=-1), to_cell * forget


@op(residuals=("reset", "keep", "candidate", "recalled"))
@real_only
def gru_cell(xp, drive, recall, hidden):
    """Compute one step of a gated recurrent unit (GRU).

    Part of the hidden state remains, the rest is replaced. With drive = (r, z, n) and recall = (r', z', n'), and σ the
    sigmoid,

        reset = σ(r + r'),  keep = σ(z + z'),  candidate = tanh(n + reset * n')
        out = keep * hidden + (1 - keep) * candidate

    The drive is a linear layer over the input, input @ W_inᵀ + bias, and recall one over hidden.
    Shapes: drive (..., 3 H), recall (..., 3 H), hidden (..., H) -> (..., H).
    Args:
        drive: the input's part of both gates and the candidate, real numbers.
        recall: the hidden state's part of them.
        hidden: the hidden state before this step.
    Returns: a tensor, the hidden state after this step.
    >>> mg.gru_cell([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], hidden=[1.0]).tolist()
    [0.5]
    See: torch.nn.GRUCell; Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical
        machine translation", 2014."""
    reset, keep, candidate = xp.split(drive, 3, axis=-1)
    recalled_reset, recalled_keep, recalled = xp.split(recall, 3, axis=-1)
    reset, keep = xp.sigmoid(reset + recalled_reset), xp.sigmoid(keep + recalled_keep)
    candidate = xp.tanh(candidate + reset * recalled)
    return candidate + keep * (hidden - candidate), reset, keep, candidate, recalled


@gru_cell.rule("drive", "recall", "hidden")
def _(xp, upstream, hidden, reset, keep, candidate, recalled):
    """Back through the mixture, the candidate, and the gate on the recalled part."""
    to_keep = upstream * (hidden - candidate) * keep * (1 - keep)
    to_candidate = upstream * (1 - keep) * (1 - candidate * candidate)
    to_reset = to_candidate * recalled * reset * (1 - reset)
    return (
        xp.concatenate([to_reset, to_keep, to_candidate], axis=-1),
        xp.concatenate([to_reset, to_keep, to_candidate * reset], axis=-1),
        upstream * keep,
    )


# State spaces and linear attention ----


@op(residuals=("decay", "state"))
def selective_scan(xp, x, delta, A, B, C):
    """Compute a selective state space model (Mamba): a linear recurrence with an input-dependent step.

    Each channel has a state of N numbers, and its output is a mixture of them:

        state_t = exp(delta_t * A) * state_{t-1} + delta_t * B_t * x_t, starting from 0
        out_t = C_t · state_t
    Shapes: x and delta (..., T, D), A (D, N), B and C (..., T, N) -> (..., T, D).
    Args:
        x: the input.
        delta: the step size of each entry, usually positive.
        A: the decay rate of each of the N states of a channel, usually negative.
        B: weights of the input.
        C: weights of the output.
    >>> one = np.ones((3, 1))
    >>> mg.selective_scan([[1.0], [0.0], [0.0]], one, [[np.log(0.5)]], one, one).round(6).tolist()
    [[1.0], [0.5], [0.25]]
    See: Gu and Dao, "Mamba: linear-time sequence modeling with selective state spaces", 2023."""
    decay = xp.exp(delta[..., None] * A)
    state = xp.recurrence(decay, (delta * x)[..., None] * B[..., None, :], axis=-3)
    return xp.sum(state * C[..., None, :], axis=-1), decay, state


@selective_scan.rule("x", "delta", "A", "B", "C")
def _(xp, upstream, x, delta, A, B, C, decay, state):
    """The gradient of the states is a recurrence from the other end; then back through decay and drive."""
    arrived = upstream[..., None] * C[..., None, :]
    next_decay = xp.shift_by_one(xp.broadcast_to(decay, xp.shape(state)), axis=-3, reverse=True)
    received = xp.recurrence(next_decay, arrived, axis=-3, reverse=True)
    to_exponent = received * xp.shift_by_one(state, axis=-3) * decay
    to_drive = xp.sum(received * B[..., None, :], axis=-1)
    return (
        to_drive * delta,
        to_drive * x + xp.sum(to_exponent * A, axis=-1),
        to_exponent * delta[..., None],
        xp.sum(received * (delta * x)[..., None], axis=-2),
        xp.sum(upstream[..., None] * state, axis=-2),
    )


@op(residuals=("matrices", "state"))
def gated_delta_net(xp, query, key, value, decay, rate):
    """Compute the gated delta rule: linear attention over a memory that decays and is corrected.

    The memory is multiplied by `decay`; then its value for a key moves towards the new value by the fraction `rate`.
    The query reads the result. The state S is a matrix (V, K), starting from 0, and I the identity:

        S_t = decay_t * S_{t-1} @ (I - rate_t * key_t key_tᵀ) + rate_t * value_t key_tᵀ
        out_t = S_t @ query_t
    Shapes: query and key (..., T, K), value (..., T, V), decay and rate (..., T) -> (..., T, V).
    Args:
        query: the queries of the memory.
        key: the keys under which values are stored, usually of length 1.
        value: the values to store.
        decay: the fraction of the memory that remains, usually from 0 to 1.
        rate: the fraction of an error that is corrected, usually from 0 to 1.
    >>> key = [[1.0, 0.0], [1.0, 0.0]]
    >>> mg.gated_delta_net(key, key, [[4.0], [6.0]], decay=[1.0, 1.0], rate=[1.0, 0.5]).tolist()
    [[4.0], [5.0]]
    See: Yang, Kautz and Hatamizadeh, "Gated delta networks: improving Mamba2 with delta rule", 2024."""
    decay, rate = decay[..., None, None], rate[..., None, None]
    erased = rate * key[..., :, None] * key[..., None, :]
    matrices = decay * (xp.new_eye(key, xp.shape(key)[-1]) - erased)
    state = xp.matrix_recurrence(matrices, rate * value[..., :, None] * key[..., None, :])
    return xp.matmul(state, query[..., None])[..., 0], matrices, state


@gated_delta_net.rule("query", "key", "value", "decay", "rate")
def _(xp, upstream, query, key, value, decay, rate, matrices, state):
    """The gradient of the memory is a recurrence from the other end. Each step passes it to the error that it
    corrected, value - decay * previous @ key, and to the memory before."""
    previous = xp.shift_by_one(state, axis=-3)
    turned = xp.shift_by_one(xp.mT(matrices), axis=-3, reverse=True)
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


@op(public=False)
def matrix_recurrence(xp, matrices, drive, *, reverse=False):
    """Compute a linear recurrence of matrices along the third axis from the end.

        state_t = state_{t-1} @ matrix_t + drive_t, starting from 0
    Shapes: matrices (..., T, K, K), drive (..., T, V, K) -> (..., T, V, K).
    Args:
        matrices: the matrix from one state to the next, for each step.
        drive: the input of each state.
        reverse: whether to start at the end; default False.
    Raises: ValueError if the shapes do not match; IndexError if matrices has fewer than three axes.
    >>> mg.ops.matrix_recurrence([[[2.0]], [[2.0]], [[2.0]]], [[[1.0]], [[1.0]], [[1.0]]]).tolist()
    [[[1.0]], [[3.0]], [[7.0]]]
    See: `gated_delta_net`, which is made of it; `mg.recurrence`, where each entry goes alone."""
    return xp.matrix_recurrence(matrices, drive, reverse)


@matrix_recurrence.rule("matrices", "drive")
def _(xp, upstream, matrices, out, reverse):
    """The same recurrence from the other end, with the transposed matrices. A matrix receives the state that it
    multiplied, times the gradient of its result."""
    turned = xp.shift_by_one(xp.mT(matrices), axis=-3, reverse=not reverse)
    received = xp.matrix_recurrence(turned, upstream, reverse=not reverse)
    return xp.matmul(xp.mT(xp.shift_by_one(out, axis=-3, reverse=reverse)), received), received
