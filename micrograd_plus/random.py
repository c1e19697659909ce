"""Random draws, from one generator that can be seeded, stored and put back.

Every function draws from it, or from NumPy's generator given as `rng`. Draws carry no graph. Two threads that
draw at the same time take turns, in no fixed order: where that matters, give each its own `rng`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .tensor import Tensor

_generator = np.random.default_rng()

Generator = np.random.Generator
Shape = int | tuple[int, ...] | None


def seed(number: int) -> None:
    """Start the generator anew: the same number gives the same draws.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import random
    >>> random.seed(1)
    >>> first = random.normal(size=3).tolist()
    >>> random.seed(1)
    >>> random.normal(size=3).tolist() == first
    True
    """
    _generator.bit_generator.state = type(_generator.bit_generator)(number).state


def generator() -> Generator:
    """The generator that is used where no `rng` is given; always the same object."""
    return _generator


def state() -> dict[str, Any]:
    """Where the generator stands, to come back to with `set_state`."""
    return dict(_generator.bit_generator.state)


def set_state(state: dict[str, Any]) -> None:
    """Put the generator back to where `state()` was called."""
    _generator.bit_generator.state = state


def chosen(rng: Generator | None) -> Generator:
    """`rng`, or the generator of this module where it is None."""
    if rng is None:
        return _generator
    if not isinstance(rng, Generator):
        raise TypeError(
            f"rng must be a generator, as numpy.random.default_rng(0) is; got {type(rng).__name__}"
        )
    return rng


def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    rng: Generator | None = None,
) -> Tensor:
    """Draws from the bell curve with mean `loc` and standard deviation `scale`, in the shape `size`."""
    return _tensor(chosen(rng).normal(loc, scale, size), dtype)


def uniform(
    low: float = 0.0,
    high: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    rng: Generator | None = None,
) -> Tensor:
    """Draws from `low` up to `high`, each value as likely as any other, in the shape `size`."""
    return _tensor(chosen(rng).uniform(low, high, size), dtype)


def integers(
    low: int, high: int | None = None, size: Shape = None, *, dtype: Any = int, rng: Generator | None = None
) -> Tensor:
    """Whole numbers from `low` up to, but without, `high`; with one bound, from 0 up to it."""
    return _tensor(chosen(rng).integers(low, high, size), dtype)


def permutation(x: Any, *, rng: Generator | None = None) -> Tensor:
    """The slices of `x` along its first axis in random order; of a whole number n, those from 0 to n - 1."""
    return _tensor(chosen(rng).permutation(_values(x)))


def choice(
    a: Any, size: Shape = None, replace: bool = True, p: Any = None, *, rng: Generator | None = None
) -> Tensor:
    """Entries of the row `a` (of a whole number n: from 0 to n - 1), each with its probability `p`.

    Without `replace` no entry is drawn twice.
    """
    return _tensor(chosen(rng).choice(_values(a), size, replace, None if p is None else _values(p)))


def categorical(logits: Any, axis: int = -1, *, rng: Generator | None = None) -> Tensor:
    """One class for each row of scores, drawn with the probabilities of their softmax.

    The largest of the scores after Gumbel noise is added to each of them is such a draw (Gumbel 1954), so
    nothing is exponentiated and a score may be minus infinity. A draw has no gradient.
    """
    scores = _values(logits)
    if np.any(np.isnan(scores)) or np.any(np.max(scores, axis=axis) == -np.inf):
        raise ValueError(
            "categorical: a row of scores has a NaN, or minus infinity everywhere: nothing to draw"
        )
    drawn = np.argmax(scores + chosen(rng).gumbel(size=scores.shape), axis=axis)
    return _tensor(drawn).to(logits.device if isinstance(logits, Tensor) else "cpu")


def _tensor(drawn: Any, dtype: Any = None) -> Tensor:
    return Tensor.of(np.asarray(drawn, dtype))


def _values(given: Any) -> Any:
    """An array on the CPU, where all draws are made; a whole number stays one."""
    if isinstance(given, int):
        return given
    return given.numpy() if isinstance(given, Tensor) else np.asarray(given)
