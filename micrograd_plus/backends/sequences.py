"""Functions on arrays along sequences: recurrences, rotary positions, masks, experts. `np` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any

from .shapes import float_dtype

__all__ = [
    "attention_mask", "expert_products", "gated_recurrence", "grouped_matmul", "matrix_recurrence", "rnn", "rope",
    "rope_angles",
]  # fmt: skip

NONLINEARITIES = ("tanh", "relu")


def rnn(np: Any, drive: Any, weight: Any, start: Any = None, nonlinearity: str = "tanh") -> Any:
    """Return the states tanh(drive + previous @ weightᵀ) along the first axis, or with relu instead of tanh."""
    if nonlinearity not in NONLINEARITIES:
        raise ValueError(f"nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
    refuse_other_width(weight, drive.shape[-1])
    kind = np.result_type(drive, weight, drive if start is None else start)
    out, turned, state = np.empty(drive.shape, kind), weight.T, start
    if nonlinearity == "relu" and out.dtype.kind == "c":
        raise TypeError("relu takes real numbers")
    for i in range(len(drive)):
        total = drive[i] if state is None else state.dot(turned) + drive[i]
        state = out[i]
        if nonlinearity == "tanh":
            np.tanh(total, out=state)
        else:
            np.maximum(total, 0, out=state)
    return out


def gated_recurrence(np: Any, gate: Any, drive: Any, weight: Any, reverse: bool = False) -> Any:
    """Return the states gate * (drive + previous @ weight) along the first axis, starting from 0."""
    if gate.shape != drive.shape:
        raise ValueError(f"gate and drive must have one shape; theirs are {gate.shape} and {drive.shape}")
    refuse_other_width(weight, drive.shape[-1])
    out, state = np.empty(drive.shape, np.result_type(gate, drive, weight)), None
    for i in in_order(len(drive), reverse):
        total = drive[i] if state is None else state.dot(weight) + drive[i]
        state = out[i]
        np.multiply(gate[i], total, out=state)
    return out


def refuse_other_width(weight: Any, width: int) -> None:
    """Raise ValueError if the matrix that carries a state to the next step is not square."""
    if weight.shape != (width, width):
        raise ValueError(f"weight must be as wide as the states, {(width, width)}; it has shape {weight.shape}")


def matrix_recurrence(np: Any, matrices: Any, drive: Any, reverse: bool = False) -> Any:
    """Return the states previous @ matrix + drive along the third axis from the end, starting from 0."""
    out = np.empty(drive.shape, np.result_type(matrices, drive))
    states, matrices, drive = (np.moveaxis(x, -3, 0) for x in (out, matrices, drive))
    state = None
    for i in in_order(len(drive), reverse):
        state = states[i] = drive[i] if state is None else state @ matrices[i] + drive[i]
    return out


def in_order(count: int, reverse: bool) -> Any:
    """Return the step numbers, from the first or from the last."""
    return range(count - 1, -1, -1) if reverse else range(count)


def rope(np: Any, x: Any, angles: Any, interleaved: bool = False) -> Any:
    """Rotate pairs of features by their angles; features without an angle stay unchanged."""
    pairs = angles.shape[-1]
    if 2 * pairs > x.shape[-1]:
        raise ValueError(f"{pairs} angles turn {2 * pairs} features, and x has {x.shape[-1]}")
    cos, sin = np.cos(angles).astype(float_dtype(x)), np.sin(angles).astype(float_dtype(x))
    if interleaved:
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    else:
        first, second = slice(pairs), slice(pairs, 2 * pairs)
    out = x.astype(float_dtype(x))
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def rope_angles(np: Any, x: Any, pairs: int, base: float = 10000.0, offset: int = 0) -> Any:
    """Return position times the speed of each pair: (T, pairs)."""
    positions = np.arange(offset, offset + x.shape[-2])
    return (positions[:, None] / base ** (np.arange(pairs) / pairs)).astype(float_dtype(x))


def attention_mask(
    np: Any, query: Any, key: Any, allowed: Any = None, causal: bool = False, window: int | None = None
) -> Any:
    """Return 0 where a query may look, -inf elsewhere: (L, S), or the shape of `allowed`."""
    if window is not None and window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    if allowed is not None and allowed.dtype != bool:
        raise TypeError(f"allowed must be boolean, True where a query may look; got {allowed.dtype}")
    ahead = np.arange(key.shape[-2]) - np.arange(query.shape[-2])[:, None]
    hidden = ahead > (0 if causal else key.shape[-2])
    if window is not None:
        hidden = hidden | (abs(ahead) >= window)
    if allowed is not None:
        hidden = hidden | ~allowed
    return np.where(hidden, -np.inf, 0.0).astype(float_dtype(query))


def grouped_matmul(np: Any, x: Any, weights: Any, experts: Any) -> Any:
    """Return each row times the matrix of its expert."""
    refuse_unknown(experts, len(weights))
    out = np.empty((len(x), weights.shape[-1]), np.result_type(x, weights))
    for number in range(len(weights)):
        own = experts == number
        out[own] = x[own] @ weights[number]
    return out


def expert_products(np: Any, a: Any, b: Any, experts: Any, count: int) -> Any:
    """Return aᵀ @ b for the rows of each expert."""
    refuse_unknown(experts, count)
    out = np.empty((count, a.shape[-1], b.shape[-1]), np.result_type(a, b))
    for number in range(count):
        own = experts == number
        out[number] = a[own].T @ b[own]
    return out


def refuse_unknown(experts: Any, count: int) -> None:
    """Raise an error for an expert that does not exist or is not a whole number."""
    if experts.dtype.kind not in "iu":
        raise TypeError(f"experts must be whole numbers, got {experts.dtype}")
    unknown = experts[(experts < 0) | (experts >= count)]
    if unknown.size:
        raise IndexError(f"expert {unknown[0].item()} is out of range: experts are numbered from 0 to {count - 1}")
