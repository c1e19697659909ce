"""Random draws, from one generator for each device, that can be seeded, stored and put back.

On the CPU it is NumPy's; on other devices numbers are counted out where they are wanted, and nothing is sent. Every
function draws from the generator of its `device`, or from NumPy's generator given as `rng`. Draws carry no graph. Two
threads that draw at the same time take turns, in no fixed order: where that matters, give each its own `rng`.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from .arguments import wants_count
from .counting import CountingGenerator, Shape
from .hints import names_itself
from .readings import vocabulary
from .tensor import Tensor

__all__ = [
    "categorical", "choice", "generator", "integers", "normal", "permutation", "seed", "set_state", "state",
    "uniform",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


_generator = np.random.default_rng()
_elsewhere: dict[str, CountingGenerator] = {}
_starts: dict[str, int] = {}
"""Where the generators of other devices start, if not from the seed."""
_seed = int(_generator.integers(2**63))

Generator = np.random.Generator


@names_itself
def seed(number: int) -> None:
    """Start the generators of all devices anew: the same number gives the same draws.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import random
    >>> random.seed(1)
    >>> first = random.normal(size=3).tolist()
    >>> random.seed(1)
    >>> random.normal(size=3).tolist() == first
    True
    """
    wants_count("random.seed: number", number, 0)
    global _seed  # noqa: PLW0603 - a generator that is made later starts from it too
    _generator.bit_generator.state = type(_generator.bit_generator)(number).state
    _seed = number
    _elsewhere.clear()
    _starts.clear()


def generator(device: str = "cpu") -> Any:
    """The generator of a device that is used where no `rng` is given; on the CPU always the same object."""
    if device == "cpu":
        return _generator
    if device not in _elsewhere:
        apart = np.random.SeedSequence([_seed, zlib.crc32(device.encode())]).generate_state(1, np.uint64)
        start = _starts.get(device, int(apart[0]))
        _elsewhere[device] = CountingGenerator(vocabulary.device(device).library, start)
    return _elsewhere[device]


def state() -> dict[str, Any]:
    """Where the generators stand, by device, to come back to with `set_state`."""
    others = {**_starts, **{device: made.state for device, made in _elsewhere.items()}}
    return {"seed": _seed, "cpu": dict(_generator.bit_generator.state), "others": others}


@names_itself
def set_state(state: dict[str, Any]) -> None:
    """Put the generators back to where `state()` was called."""
    if not isinstance(state, dict) or not {"seed", "cpu", "others"} <= state.keys():
        raise ValueError("a state is what random.state() returned: a dict with seed, cpu and others")
    global _seed
    _seed, _generator.bit_generator.state = state["seed"], state["cpu"]
    _elsewhere.clear()
    _starts.clear()
    _starts.update(state["others"])


def chosen(rng: Generator | None, device: str = "cpu") -> Any:
    """`rng`, or the generator of a device where it is None."""
    if rng is None:
        return generator(device)
    if not isinstance(rng, Generator):
        raise TypeError(
            f"rng must be a generator, as numpy.random.default_rng(0) is; got {type(rng).__name__}"
        )
    return rng


def beside(x: Any, rng: Generator | None = None) -> Any:
    """`rng`, or the generator of the device that a tensor or an array is on."""
    return chosen(rng, vocabulary.device_of(getattr(x, "_data", x)).name)


@names_itself
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draws from the bell curve with mean `loc` and standard deviation `scale`, in the shape `size`."""
    return _tensor(chosen(rng, device).normal(loc, scale, size), device, dtype)


@names_itself
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draws from `low` up to `high`, each value as likely as any other, in the shape `size`."""
    return _tensor(chosen(rng, device).uniform(low, high, size), device, dtype)


@names_itself
def integers(
    low: int,
    high: int | None = None,
    size: Shape = None,
    *,
    dtype: Any = int,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Whole numbers from `low` up to, but without, `high`; with one bound, from 0 up to it."""
    if isinstance(low, float) or isinstance(high, float):
        raise TypeError("low and high are whole numbers; for draws between floats take random.uniform")
    return _tensor(chosen(rng, device).integers(low, high, size), device, dtype)


@names_itself
def permutation(x: Any, *, device: str = "cpu", rng: Generator | None = None) -> Tensor:
    """The slices of `x` along its first axis in random order; of a whole number n, those from 0 to n - 1."""
    return _tensor(chosen(rng, device).permutation(_values(x, rng, device)), device)


@names_itself
def choice(
    a: Any,
    size: Shape = None,
    replace: bool = True,
    p: Any = None,
    *,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Entries of the row `a` (of a whole number n: from 0 to n - 1), each with its probability `p`.

    Without `replace` no entry is drawn twice.
    """
    shares = None if p is None else _values(p, rng, device)
    return _tensor(chosen(rng, device).choice(_values(a, rng, device), size, replace, shares), device)


@names_itself
def categorical(logits: Any, axis: int = -1, *, rng: Generator | None = None) -> Tensor:
    """One class for each row of scores, drawn with the probabilities of their softmax, where the scores are.

    The largest of the scores after Gumbel noise is added to each of them is such a draw (Gumbel 1954), so
    nothing is exponentiated and a score may be minus infinity. A draw has no gradient.
    """
    device = logits.device if isinstance(logits, Tensor) else "cpu"
    library = vocabulary.device(device).library
    scores = logits._data if isinstance(logits, Tensor) else Tensor.constant(logits, "logits")._data
    if (library.isnan(scores).any() | (scores.max(axis=axis) == -np.inf).any()).item():
        raise ValueError(
            "categorical: a row of scores has a NaN, or minus infinity everywhere: nothing to draw"
        )
    noise = library.asarray(chosen(rng, device).gumbel(size=scores.shape))
    return _tensor(library.argmax(scores + noise, axis=axis), device)


def _tensor(drawn: Any, device: str, dtype: Any = None) -> Tensor:
    drawn = vocabulary.device(device).library.asarray(drawn)
    return Tensor.of(drawn if dtype is None else drawn.astype(dtype))


def _values(given: Any, rng: Generator | None, device: str) -> Any:
    """An array where it is drawn from: on the device, or with an `rng` on the CPU. A whole number stays one."""
    if isinstance(given, int):
        return given
    given = given if isinstance(given, Tensor) else Tensor.constant(given, "what is drawn from")
    if given.ndim == 0:
        raise TypeError(f"what is drawn from is a whole number, or has an axis to draw along; got {given.item()}")
    return given.to("cpu" if rng is not None else device)._data
