"""Random numbers, from one generator for each device that can be seeded, saved and restored.

On the CPU it is NumPy's; on other devices a counter-based generator runs on the device, and nothing is transferred.
Every function draws from the generator of its `device`, or from NumPy's generator given as `rng`. Draws carry no graph.
Two
threads that draw at the same time take turns, in no fixed order: where that matters, give each its own `rng`.
"""

from __future__ import annotations

import zlib
from typing import Any, NoReturn

import numpy as np

from ..backends import devices
from ..core.messages import check_count, missing_name, prefixes_errors
from ..core.modes import recording
from ..core.runtime.listening import notify_change
from ..hidden_states import register_state
from ..tensor import Tensor
from .counting import CountingGenerator, Shape

__all__ = [
    "bernoulli", "categorical", "choice", "default_rng", "generator", "integers", "normal", "permutation", "rand",
    "randint", "randn", "seed", "set_state", "standard_normal", "state", "uniform",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


_generator = np.random.default_rng()
_elsewhere: dict[str, CountingGenerator] = {}
_starts: dict[str, int] = {}
"""Initial states of the generators of other devices, if not from the seed."""
_seed = int(_generator.integers(2**63))

Generator = np.random.Generator


@prefixes_errors
def seed(number: int) -> None:
    """Seed the generators of all devices: the same number gives the same draws.

    Args:
        number: an integer of at least 0.
    Returns: nothing.
    Raises: TypeError if number is not an integer, ValueError if it is negative.
    Example:
        >>> mg.random.seed(1)
        >>> first = mg.random.normal(size=3).tolist()
        >>> mg.random.seed(1)
        >>> mg.random.normal(size=3).tolist() == first
        True

    See: numpy.random.default_rng; torch.manual_seed.
    """
    check_count("random.seed: number", number, 0)
    global _seed  # noqa: PLW0603 - a generator that is made later starts from it too
    _generator.bit_generator.state = type(_generator.bit_generator)(number).state
    _seed = number
    _elsewhere.clear()
    _starts.clear()


def generator(device: str = "cpu") -> Any:
    """Return the generator of a device, which is used if no `rng` is given.

    Args:
        device: the name of a device; default "cpu".
    Returns: on the CPU a numpy.random.Generator, elsewhere a `CountingGenerator`, which has the methods used here.
    Raises: ValueError if there is no such device.
    Example:
        >>> mg.random.generator() is mg.random.generator()
        True

    See: numpy.random.Generator; torch.random.default_generator.
    """
    if device == "cpu":
        return _generator
    if device not in _elsewhere:
        apart = np.random.SeedSequence([_seed, zlib.crc32(device.encode())]).generate_state(1, np.uint64)
        start = _starts.get(device, int(apart[0]))
        _elsewhere[device] = CountingGenerator(devices.device(device).library, start)
    return _elsewhere[device]


def state() -> dict[str, Any]:
    """Return the state of each generator by device, for `set_state`.

    Returns: a dict of plain numbers and texts, which can be stored.
    Raises: nothing.
    Example:
        >>> before = mg.random.state()
        >>> first = mg.random.uniform().item()
        >>> mg.random.set_state(before)
        >>> mg.random.uniform().item() == first
        True

    See: numpy.random.get_state; torch.get_rng_state.
    """
    others = {**_starts, **{device: made.state for device, made in _elsewhere.items()}}
    return {"seed": _seed, "cpu": dict(_generator.bit_generator.state), "others": others}


@prefixes_errors
def set_state(state: dict[str, Any]) -> None:
    """Restore the state of the generators from `state`.

    Args:
        state: what `state` returned.
    Returns: nothing.
    Raises: ValueError if it is anything else.
    Example:
        >>> before = mg.random.state()
        >>> first = mg.random.integers(1000, size=4).tolist()
        >>> mg.random.set_state(before)
        >>> mg.random.integers(1000, size=4).tolist() == first
        True

    See: numpy.random.set_state; torch.set_rng_state.
    """
    if not isinstance(state, dict) or not {"seed", "cpu", "others"} <= state.keys():
        raise ValueError("a state is what random.state() returned: a dict with seed, cpu and others")
    global _seed
    _seed, _generator.bit_generator.state = state["seed"], state["cpu"]
    _elsewhere.clear()
    _starts.clear()
    _starts.update(state["others"])


def generator_or_default(rng: Generator | None, device: str = "cpu") -> Any:
    """Return `rng`, or the generator of a device if it is None."""
    if recording.open:
        notify_change("draw", rng, None, None)
    if rng is None:
        return generator(device)
    if not isinstance(rng, Generator):
        raise TypeError(
            f"rng must be a generator, as numpy.random.default_rng(0) is; got {type(rng).__name__}"
        )
    return rng


def beside(x: Any, rng: Generator | None = None) -> Any:
    """Return `rng`, or the generator of the device of a tensor or an array."""
    return generator_or_default(rng, devices.device_of(getattr(x, "_data", x)).name)


@prefixes_errors
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draw from the normal (Gaussian) distribution.

    Its density at x is exp(-(x - loc)² / (2 * scale²)) / (scale * √(2π)).

    Args:
        loc: the mean; default 0.0.
        scale: the standard deviation, not negative; default 1.0.
        size: the shape of the draws, an integer or a tuple; default None, one number.
        dtype: of the draws; default float, double precision.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape `size`, without a graph.
    Raises: ValueError for a negative scale or size, or if there is no such device. TypeError if rng is no
        generator, or size no integer.
    Example:
        >>> mg.random.normal(size=3, rng=np.random.default_rng(0)).round(4).tolist()
        [0.1257, -0.1321, 0.6404]

    See: numpy.random.Generator.normal; torch.randn.
    """
    return _tensor(generator_or_default(rng, device).normal(loc, scale, size), device, dtype)


@prefixes_errors
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    size: Shape = None,
    *,
    dtype: Any = float,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draw from the uniform distribution between low (included) and high (excluded).

    Args:
        low: the least value; default 0.0.
        high: where values end; default 1.0.
        size: the shape of the draws, an integer or a tuple; default None, one number.
        dtype: of the draws; default float, double precision.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape `size`, without a graph.
    Raises: ValueError if high is less than low or infinite, for a negative size, or if there is no such device.
        TypeError if rng is no generator.
    Example:
        >>> mg.random.uniform(-1.0, 1.0, size=3, rng=np.random.default_rng(0)).round(4).tolist()
        [0.2739, -0.4604, -0.9181]

    See: numpy.random.Generator.uniform; torch.rand.
    """
    return _tensor(generator_or_default(rng, device).uniform(low, high, size), device, dtype)


@prefixes_errors
def integers(
    low: int,
    high: int | None = None,
    size: Shape = None,
    *,
    dtype: Any = int,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draw integers uniformly between low (included) and high (excluded).

    Args:
        low: the least; or, where no high is given, where they end, and they begin at 0.
        high: where they end; default None.
        size: the shape of the draws, an integer or a tuple; default None, one number.
        dtype: of the draws; default int.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape `size`, without a graph.
    Raises: TypeError if a bound is a float, or rng no generator. ValueError if high is not more than low, for a
        negative size, or if there is no such device.
    Example:
        >>> mg.random.integers(1, 7, size=5, rng=np.random.default_rng(0)).tolist()
        [6, 4, 4, 2, 2]

    See: numpy.random.Generator.integers; torch.randint.
    """
    if isinstance(low, float) or isinstance(high, float):
        raise TypeError("low and high are whole numbers; for draws between floats take random.uniform")
    return _tensor(generator_or_default(rng, device).integers(low, high, size), device, dtype)


@prefixes_errors
def permutation(x: Any, *, device: str = "cpu", rng: Generator | None = None) -> Tensor:
    """Permute an array at random along its first axis.

    Args:
        x: numbers with at least one axis; or an integer n, for the numbers from 0 to n - 1.
        device: where the order is drawn, and the result lives; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape and dtype of x, or of n integers, without a graph.
    Raises: TypeError if x is a single number that is not whole, or not made of numbers, or rng is no generator.
        ValueError if there is no such device.
    Example:
        >>> mg.random.permutation(5, rng=np.random.default_rng(0)).tolist()
        [2, 4, 3, 0, 1]

    See: numpy.random.Generator.permutation; torch.randperm.
    """
    return _tensor(generator_or_default(rng, device).permutation(_values(x, rng, device)), device)


@prefixes_errors
def choice(
    a: Any,
    size: Shape = None,
    replace: bool = True,
    p: Any = None,
    *,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draw entries of an array, each with its probability.

    Args:
        a: array to draw slices from, along its first axis; or an integer n, for the numbers from 0 to n - 1.
        size: the shape of the draws, an integer or a tuple; default None, one entry.
        replace: whether an entry may be drawn more than once; default True.
        p: the probability of each entry, adding up to 1; default None, all alike.
        device: where they are drawn, and the result lives; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the drawn entries, without a graph.
    Raises: ValueError if more entries are wanted than there are and none may repeat, where on the CPU p has another
        length or another sum than 1, or if there is no such device. TypeError if a is a single number that is not
        whole, or rng is no generator.
    Example:
        >>> mg.random.choice([10.0, 20.0, 30.0], size=4, p=[0.0, 0.5, 0.5], rng=np.random.default_rng(0)).tolist()
        [30.0, 20.0, 20.0, 20.0]

    See: numpy.random.Generator.choice.
    """
    shares = None if p is None else _values(p, rng, device)
    return _tensor(generator_or_default(rng, device).choice(_values(a, rng, device), size, replace, shares), device)


@prefixes_errors
def categorical(logits: Any, axis: int = -1, *, rng: Generator | None = None) -> Tensor:
    """Draw from categorical distributions: one class for each row of scores.

    Class i is drawn with the probability exp(s_i) / Σ_j exp(s_j). The largest of the scores after Gumbel noise is added
    to each of them is such a draw, so nothing is exponentiated and a score may be minus infinity. A draw has no
    gradient.

    Args:
        logits: scores; for a tensor, the draws are on its device.
        axis: the axis of the classes; default -1.
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of integers, of the shape of logits without that axis.
    Raises: ValueError if a row has a NaN, minus infinity everywhere, or no scores; IndexError if the axis is out of
        range; TypeError if rng is no generator.
    Example:
        >>> mg.random.categorical([[0.0, -np.inf], [-np.inf, 0.0]]).tolist()
        [0, 1]

    See: torch.distributions.Categorical, jax.random.categorical; Gumbel, "Statistical theory of extreme values and some
        practical applications", 1954.
    """
    device = logits.device if isinstance(logits, Tensor) else "cpu"
    library = devices.device(device).library
    scores = logits._data if isinstance(logits, Tensor) else Tensor.constant(logits, "logits")._data
    if (library.isnan(scores).any() | (scores.max(axis=axis) == -np.inf).any()).item():
        raise ValueError(
            "categorical: a row of scores has a NaN, or minus infinity everywhere: nothing to draw"
        )
    noise = library.asarray(generator_or_default(rng, device).gumbel(size=scores.shape))
    return _tensor(library.argmax(scores + noise, axis=axis), device)


# Under other names ------------------------------------------


@prefixes_errors
def rand(
    *size: Any, dtype: Any = float, device: str = "cpu", rng: Generator | None = None, requires_grad: bool = False
) -> Tensor:
    """Draw from the uniform distribution between 0 and 1, with the shape given as arguments.

    Args:
        *size: the shape, one length after the other or as one tuple; nothing for one number.
        dtype: of the draws; default float, double precision.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
        requires_grad: whether their gradient is wanted; default False.
    Returns: a tensor of that shape, a leaf.
    Raises: ValueError for a negative length, or if there is no such device. TypeError for a length that is not an
        integer, or if rng is no generator.
    Example:
        >>> mg.random.rand(3, rng=np.random.default_rng(0)).round(4).tolist()
        [0.637, 0.2698, 0.041]

    See: torch.rand; numpy.random.rand.
    """
    drawn = uniform(size=_size("rand", size), dtype=dtype, device=device, rng=rng)
    return drawn.requires_grad_(requires_grad)


@prefixes_errors
def randn(
    *size: Any, dtype: Any = float, device: str = "cpu", rng: Generator | None = None, requires_grad: bool = False
) -> Tensor:
    """Draw from the standard normal distribution, with the shape given as arguments.

    Args:
        *size: the shape, one length after the other or as one tuple; nothing for one number.
        dtype: of the draws; default float, double precision.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
        requires_grad: whether their gradient is wanted; default False.
    Returns: a tensor of that shape, a leaf.
    Raises: ValueError for a negative length, or if there is no such device. TypeError for a length that is not an
        integer, or if rng is no generator.
    Example:
        >>> mg.random.randn(3, rng=np.random.default_rng(0)).round(4).tolist()
        [0.1257, -0.1321, 0.6404]

    See: torch.randn; numpy.random.randn.
    """
    drawn = normal(size=_size("randn", size), dtype=dtype, device=device, rng=rng)
    return drawn.requires_grad_(requires_grad)


@prefixes_errors
def randint(
    low: int,
    high: Any = None,
    size: Shape = None,
    *,
    dtype: Any = int,
    device: str = "cpu",
    rng: Generator | None = None,
) -> Tensor:
    """Draw integers uniformly between low (included) and high (excluded): PyTorch's name of `integers`.

    Args:
        low: the least; or, where no high is given, where they end, and they begin at 0.
        high: where they end; default None. A tuple in this place is the size.
        size: the shape of the draws, an integer or a tuple; default None, one number.
        dtype: of the draws; default int.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape `size`, without a graph.
    Raises: TypeError if a bound is a float, or rng no generator. ValueError if high is not more than low, for a
        negative size, or if there is no such device.
    Example:
        >>> mg.random.randint(1, 7, (5,), rng=np.random.default_rng(0)).tolist()
        [6, 4, 4, 2, 2]

    See: torch.randint; numpy.random.randint.
    """
    if isinstance(high, (tuple, list)):
        if size is not None:
            raise TypeError(f"the size was given twice, as {high} and {size}")
        high, size = None, tuple(high)
    return integers(low, high, size, dtype=dtype, device=device, rng=rng)


@prefixes_errors
def standard_normal(
    size: Shape = None, *, dtype: Any = float, device: str = "cpu", rng: Generator | None = None
) -> Tensor:
    """Draw from the normal distribution with mean 0 and standard deviation 1.

    Args:
        size: the shape of the draws, an integer or a tuple; default None, one number.
        dtype: of the draws; default float, double precision.
        device: device of the draws; default "cpu".
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of the shape `size`, without a graph.
    Raises: ValueError for a negative size, or if there is no such device. TypeError if rng is no generator.
    Example:
        >>> mg.random.standard_normal(3, rng=np.random.default_rng(0)).round(4).tolist()
        [0.1257, -0.1321, 0.6404]

    See: numpy.random.Generator.standard_normal; torch.randn.
    """
    return normal(size=size, dtype=dtype, device=device, rng=rng)


@prefixes_errors
def bernoulli(p: Any, size: Shape = None, *, dtype: Any = float, rng: Generator | None = None) -> Tensor:
    """Draw 1 with probability p, else 0.

    Args:
        p: the probability of a 1, or one for each draw; for a tensor, the draws are on its device.
        size: the shape of the draws, with which p broadcasts; default None, the shape of p.
        dtype: of the draws; default float, double precision.
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor of ones and zeros, without a graph.
    Raises: ValueError for a probability that is not between 0 and 1, or shapes that do not broadcast. TypeError if
        rng is no generator.
    Example:
        >>> mg.random.bernoulli([0.0, 1.0, 1.0]).tolist()
        [0.0, 1.0, 1.0]

    See: torch.bernoulli.
    """
    shares = p if isinstance(p, Tensor) else Tensor.constant(p, "p")
    library = devices.device(shares.device).library
    if not ((shares._data >= 0) & (shares._data <= 1)).all().item():
        raise ValueError("p is a probability between 0 and 1, or several")
    drawn = library.asarray(generator_or_default(rng, shares.device).random(shares.shape if size is None else size))
    return _tensor(drawn < shares._data, shares.device, dtype)


@prefixes_errors
def default_rng(seed: Any = None) -> Generator:
    """Return a new NumPy generator, to be passed as `rng`; it draws on the CPU.

    Args:
        seed: an integer of at least 0, or several; default None, unpredictable.
    Returns: a numpy.random.Generator.
    Raises: TypeError if the seed is not an integer, ValueError if it is negative.
    Example:
        >>> mg.random.integers(1, 7, size=5, rng=mg.random.default_rng(0)).tolist()
        [6, 4, 4, 2, 2]

    See: numpy.random.default_rng; torch.Generator.
    """
    return np.random.default_rng(seed)


def _size(name: str, given: tuple[Any, ...]) -> Shape:
    """Return a shape given as one tuple or as its lengths, or None for one number."""
    lengths = tuple(given[0]) if len(given) == 1 and hasattr(given[0], "__iter__") else given
    for length in lengths:
        check_count(f"random.{name}: a length", length, 0)
    return lengths or None


def _tensor(drawn: Any, device: str, dtype: Any = None) -> Tensor:
    drawn = devices.device(device).library.asarray(drawn)
    return Tensor.of(drawn if dtype is None else drawn.astype(dtype))


def _values(given: Any, rng: Generator | None, device: str) -> Any:
    """Return an array on the device of the draws, or with an `rng` on the CPU; an integer stays one."""
    if isinstance(given, int):
        return given
    given = given if isinstance(given, Tensor) else Tensor.constant(given, "what is drawn from")
    if given.ndim == 0:
        raise TypeError(f"a must be a whole number, or have an axis to draw along; got {given.item()}")
    return given.to("cpu" if rng is not None else device)._data


register_state("random", state, set_state)
