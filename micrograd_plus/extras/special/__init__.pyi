"""Special functions under SciPy's names: `mg.special.gammaln(x)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ...tensor import Tensor

__all__: list[str]

def beta(a: Any, b: Any) -> Tensor: """Compute the beta function."""
def betainc(a: Any, b: Any, x: Any) -> Tensor: """Compute the regularised incomplete beta function."""
def betaln(a: Any, b: Any) -> Tensor: """Compute the logarithm of the absolute value of the beta function."""
def digamma(x: Any) -> Tensor: """Compute the digamma function, the derivative of log Γ."""
def erf(x: Any) -> Tensor: """Compute the error function."""
def erfc(x: Any) -> Tensor: """Compute the complementary error function, accurately where it is tiny."""
def erfcinv(x: Any) -> Tensor: """Compute the inverse of the complementary error function."""
def erfinv(x: Any) -> Tensor: """Compute the inverse of the error function."""
def expit(x: Any) -> Tensor: """Compute the logistic sigmoid, a smooth step from 0 to 1."""
def gamma(x: Any) -> Tensor: """Compute the gamma function, which extends the factorial to real numbers."""
def gammainc(a: Any, x: Any) -> Tensor: """Compute the regularised lower incomplete gamma function."""
def gammaincc(a: Any, x: Any) -> Tensor: """Compute the regularised upper incomplete gamma function."""
def gammaln(x: Any) -> Tensor: """Compute the logarithm of the absolute value of the gamma function."""
def gammasgn(x: Any) -> Tensor: """Return the sign of the gamma function: 1 or -1, and nan at -1, -2, …."""
def i0(x: Any) -> Tensor: """Compute the modified Bessel function of order 0."""
def i0e(x: Any) -> Tensor: """Compute the modified Bessel function of order 0, scaled to avoid overflow."""
def i1(x: Any) -> Tensor: """Compute the modified Bessel function of order 1."""
def i1e(x: Any) -> Tensor: """Compute the modified Bessel function of order 1, scaled to avoid overflow."""
def iv(v: Any, x: Any) -> Tensor: """Compute the modified Bessel function of real order."""
def ive(v: Any, x: Any) -> Tensor: """Compute the modified Bessel function of real order, scaled to avoid overflow."""
def j0(x: Any) -> Tensor: """Compute the Bessel function of the first kind of order 0."""
def j1(x: Any) -> Tensor: """Compute the Bessel function of the first kind of order 1."""
def jn(v: Any, x: Any) -> Tensor: """Compute the Bessel function of the first kind of real order."""
def jv(v: Any, x: Any) -> Tensor: """Compute the Bessel function of the first kind of real order."""
def log_expit(x: Any) -> Tensor: """Compute the logarithm of the logistic sigmoid."""
def log_ndtr(x: Any) -> Tensor: """Compute the logarithm of the standard normal distribution function."""
def log_softmax(x: Any, axis: Any = -1) -> Tensor:
    """Compute the logarithm of the softmax, accurately for large entries."""
def logit(x: Any) -> Tensor: """Compute the logit, the logarithm of the odds: the inverse of `expit`, the sigmoid."""
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Tensor:
    """Compute the logarithm of a weighted sum of exponentials."""
def multigammaln(a: Any, d: Any) -> Tensor: """Compute the logarithm of the multivariate gamma function."""
def ndtr(x: Any) -> Tensor: """Compute the standard normal distribution function."""
def ndtri(x: Any) -> Tensor: """Compute the quantile function of the standard normal distribution."""
def polygamma(n: Any, x: Any) -> Tensor:
    """Compute the polygamma function: the n-th derivative of the digamma function."""
def psi(x: Any) -> Tensor: """Compute the digamma function, the derivative of log Γ."""
def rgamma(x: Any) -> Tensor:
    """Compute the reciprocal of the gamma function; 0 where the gamma function is infinite."""
def sinc(x: Any) -> Tensor: """Compute the normalised sinc function."""
def softmax(x: Any, axis: Any = -1) -> Tensor: """Compute the softmax: positive weights that sum to one."""
def xlog1py(x: Any, y: Any) -> Tensor: """Compute x log(1 + y), with 0 if x is 0."""
def xlogy(x: Any, y: Any) -> Tensor: """Compute x log y, with 0 if x is 0."""
def y0(x: Any) -> Tensor: """Compute the Bessel function of the second kind of order 0."""
def y1(x: Any) -> Tensor: """Compute the Bessel function of the second kind of order 1."""
def yn(n: Any, x: Any) -> Tensor: """Compute the Bessel function of the second kind of integer order."""
