"""Counter-based random numbers: a generator that runs on any device.

The n-th draw is a mixture of the bits of n, so a whole array of draws is made at once, where it is wanted; the state is
one integer; and the same state gives the same draws on every device. The mixture is SplitMix64 (Steele, Lea and
Flood, "Fast splittable pseudorandom number generators", 2014).
"""

from __future__ import annotations

import math
from typing import Any

STRIDE = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio, an odd number: its multiples visit every integer below 2⁶⁴ once."""

Shape = int | tuple[int, ...] | None


class CountingGenerator:
    """Generator with the methods of NumPy's `Generator` that this package uses, for arrays of another library."""

    def __init__(self, library: Any, state: int):
        self.library, self.state = library, state % 2**64

    def bits(self, size: Shape) -> Any:
        """Draw integers below 2⁶⁴ uniformly."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        count, whole = math.prod(shape), self.library.uint64
        each = self.library.arange(1, count + 1, dtype=whole) * whole(STRIDE) + whole(self.state)
        self.state = (self.state + count * STRIDE) % 2**64
        each = (each ^ (each >> whole(30))) * whole(0xBF58476D1CE4E5B9)
        each = (each ^ (each >> whole(27))) * whole(0x94D049BB133111EB)
        return (each ^ (each >> whole(31))).reshape(shape)

    def random(self, size: Shape = None) -> Any:
        """Draw between 0 (included) and 1 (excluded): multiples of 2⁻⁵³."""
        return (self.bits(size) >> self.library.uint64(11)).astype("float64") * 2.0**-53

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Shape = None) -> Any:
        """Draw uniformly from `low` to `high`."""
        return low + (high - low) * self.random(size)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Shape = None) -> Any:
        """Draw from the normal distribution (Box and Muller 1958)."""
        distance = self.library.sqrt(-2 * self.library.log(1 - self.random(size)))
        return loc + scale * distance * self.library.cos(2 * math.pi * self.random(size))

    def gumbel(self, size: Shape = None) -> Any:
        """Draw from the Gumbel distribution (Gumbel 1954)."""
        return -self.library.log(-self.library.log(self.random(size) + 2.0**-54))

    def integers(self, low: int, high: int | None = None, size: Shape = None) -> Any:
        """Draw integers between `low` (included) and `high` (excluded), or below one bound. The range must be below
        2³², so that probabilities differ by at most one in 2²¹."""
        low, high = (0, low) if high is None else (low, high)
        return (self.random(size) * (high - low)).astype("int64") + low

    def permutation(self, x: Any) -> Any:
        """Return the slices of an array, or the integers below x, in random order."""
        order = self.library.argsort(self.random(x if isinstance(x, int) else len(x)))
        return order if isinstance(x, int) else x[order]

    def choice(self, a: Any, size: Shape = None, replace: bool = True, p: Any = None) -> Any:
        """Draw entries of `a`, or integers below it, each with its probability; without `replace` none twice.

        Without replacement the k largest of the logarithms of probabilities plus Gumbel noise are such a draw.
        """
        count = a if isinstance(a, int) else len(a)
        if replace:
            shares = self.library.full(count, 1 / count) if p is None else p
            picked = self.library.searchsorted(self.library.cumsum(shares), self.random(size), side="right")
            picked = self.library.minimum(picked, count - 1)
        else:
            shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
            if math.prod(shape) > count:
                raise ValueError(f"choice: {math.prod(shape)} entries out of {count} without replacement")
            scores = self.gumbel(count) + (0.0 if p is None else self.library.log(p))
            picked = self.library.argsort(-scores)[: math.prod(shape)].reshape(shape)
        return picked if isinstance(a, int) else a[picked]
