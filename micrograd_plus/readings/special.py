"""The error function and its complement, for arrays.

W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23 (1969),
pages 631-637, with the coefficients of his program CALERF (Argonne National Laboratory, 1990). Three quotients of
polynomials, each for one stretch of |x|:

    |x| <= 0.46875         erf(x)  = x P(x^2) / Q(x^2)
    0.46875 < |x| <= 4     erfc(x) = exp(-x^2) P(x) / Q(x)
    4 < |x|                erfc(x) = exp(-x^2) / x (1 / sqrt(pi) - P(1 / x^2) / (x^2 Q(1 / x^2)))

Everything is said in functions that NumPy and CuPy share; `np` is the one or the other.
"""

from __future__ import annotations

from typing import Any

SMALL, LARGE = 0.46875, 4.0
"""Where one quotient takes over from the other."""

UNDERFLOW = 27.3
"""From here on erfc is less than half the smallest positive float64."""

ERF_SMALL = (
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

ERFC_LARGE = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip

ONE_OVER_SQRT_PI = 0.5641895835477562869480794515607725858


def erf(np: Any, x: Any) -> Any:
    """The error function 2/√π ∫₀ˣ exp(−t²) dt, entry by entry; relative error below 1e-15.

    Floats keep their dtype, integers become float64; complex numbers are a TypeError.
    """
    x, dtype = _real(np, x, "erf")
    size = np.abs(x)
    beyond = np.copysign(1.0 - _erfc_of_size(np, size), x)
    return np.where(size <= SMALL, _erf_small(np, x), beyond).astype(dtype)


def erfc(np: Any, x: Any) -> Any:
    """The complement 1 − erf(x), entry by entry, without the cancellation; relative error below 1e-15."""
    x, dtype = _real(np, x, "erfc")
    size = np.abs(x)
    beyond = _erfc_of_size(np, size)
    beyond = np.where(x < 0, 2.0 - beyond, beyond)
    return np.where(size <= SMALL, 1.0 - _erf_small(np, x), beyond).astype(dtype)
