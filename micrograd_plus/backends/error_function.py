"""The error function and its complement, for arrays.

W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23 (1969), pages
631-637, with the coefficients of the program CALERF (Argonne National Laboratory, 1990). There are three quotients of
polynomials, each for one range of |x|:

    |x| <= 0.46875         erf(x)  = x P(x^2) / Q(x^2)
    0.46875 < |x| <= 4     erfc(x) = exp(-x^2) P(x) / Q(x)
    4 < |x|                erfc(x) = exp(-x^2) / x (1 / sqrt(pi) - P(1 / x^2) / (x^2 Q(1 / x^2)))

All functions used exist in NumPy and in CuPy; `np` is one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NEAR, MIDDLE = 0.46875, 4.0
"""Where the next quotient takes over."""

UNDERFLOW = 27.3
"""From here on erfc is 0: less than half the smallest positive float64."""

ERF_NEAR = (
    (
        1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)  # fmt: skip
"""The coefficients of a quotient, those of the highest power first: above, below."""

ERFC_MIDDLE = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip

ERFC_FAR = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip

ONE_OVER_SQRT_PI = 0.56418958354775628695


def erf(np: Any, x: Any) -> Any:
    """Return the error function 2/√π ∫₀ˣ exp(-t²) dt of every entry, with a relative error below 1e-15 in float64.

    Floats keep their dtype; integers and booleans become float64. Other dtypes, such as complex, raise TypeError.
    """

    def far_from_zero(far: Any) -> Any:
        return np.copysign(1.0 - _erfc_of(np, far), far)

    return _in_two_stretches(np, x, "erf", _erf_near_zero, far_from_zero)


def erfc(np: Any, x: Any) -> Any:
    """Return 1 - erf(x) without its cancellation: accurate until it underflows. Dtypes and errors as for `erf`."""

    def near_zero(near: Any) -> Any:
        return 1.0 - _erf_near_zero(near)

    def far_from_zero(far: Any) -> Any:
        values = _erfc_of(np, far)
        return np.where(far < 0, 2.0 - values, values)

    return _in_two_stretches(np, x, "erfc", near_zero, far_from_zero)


def _in_two_stretches(
    np: Any, x: Any, name: str, near_zero: Callable[[Any], Any], elsewhere: Callable[[Any], Any]
) -> Any:
    """Apply one formula to the entries near zero, another to the rest and to nan, in float64."""
    x = np.asarray(x)
    if x.dtype.kind not in "fiub":
        raise TypeError(f"{name} is defined for real numbers, not for {x.dtype}")
    entries = x.astype(np.float64).reshape(-1)
    near = np.abs(entries) <= NEAR
    values = np.empty_like(entries)
    values[near] = near_zero(entries[near])
    values[~near] = elsewhere(entries[~near])
    dtype = x.dtype if x.dtype.kind == "f" else values.dtype
    return values.astype(dtype).reshape(x.shape)[()]


def _erf_near_zero(x: Any) -> Any:
    return x * quotient(ERF_NEAR, x * x)


def _erfc_of(np: Any, x: Any) -> Any:
    """Return erfc(|x|), for |x| that is not near zero."""
    size = np.minimum(np.abs(x), UNDERFLOW)
    middle = size <= MIDDLE
    values = np.empty_like(size)
    values[middle] = quotient(ERFC_MIDDLE, size[middle])
    far = size[~middle]
    inverse = 1.0 / (far * far)
    values[~middle] = (ONE_OVER_SQRT_PI - inverse * quotient(ERFC_FAR, inverse)) / far
    return values * _exp_of_minus_square(np, size)


def _exp_of_minus_square(np: Any, size: Any) -> Any:
    """Return exp(-size²) without the digits that rounding the square would lose.

    The square of a multiple of 1/16 is exact, and the rest is so small that its rounding does not matter.
    """
    steps = np.trunc(size * 16.0) / 16.0
    return np.exp(-steps * steps) * np.exp((steps - size) * (steps + size))


def quotient(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """Return the quotient of two polynomials."""
    above, below = coefficients
    return _polynomial(above, x) / _polynomial(below, x)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Evaluate a polynomial by Horner's scheme, in place: new arrays for every step would take most of the time."""
    total = coefficients[0] * x
    for coefficient in coefficients[1:-1]:
        total += coefficient
        total *= x
    total += coefficients[-1]
    return total
