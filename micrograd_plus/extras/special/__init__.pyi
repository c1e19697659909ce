"""Special functions under SciPy's names: `mg.special.gammaln(x)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ...tensor import Tensor

def beta(a: Any, b: Any) -> Tensor: """Beta function."""
def betainc(a: Any, b: Any, x: Any) -> Tensor: """Incomplete beta function, as a share of the whole."""
def betaln(a: Any, b: Any) -> Tensor: """Logarithm of the size of the beta function."""
def digamma(x: Any) -> Tensor: """Digamma function: the slope of log Γ."""
def erf(x: Any) -> Tensor: """Error function: the share of a bell curve within √2 · x standard deviations."""
def erfc(x: Any) -> Tensor: """Complementary error function, exact where it is tiny."""
def erfcinv(x: Any) -> Tensor: """Inverse of the complementary error function: the number whose erfc is x."""
def erfinv(x: Any) -> Tensor: """Inverse of the error function: the number whose erf is x."""
def expit(x: Any) -> Tensor: """Logistic sigmoid: a smooth step from 0 to 1."""
def gamma(x: Any) -> Tensor: """Gamma function: the factorial of whole numbers, and what lies between them."""
def gammainc(a: Any, x: Any) -> Tensor: """Lower incomplete gamma function, as a share of the whole."""
def gammaincc(a: Any, x: Any) -> Tensor: """Upper incomplete gamma function, as a share of the whole."""
def gammaln(x: Any) -> Tensor: """Logarithm of the size of the gamma function."""
def gammasgn(x: Any) -> Tensor: """The sign of the gamma function: 1 or -1, and nan at -1, -2, …."""
def i0(x: Any) -> Tensor: """Modified Bessel function of order 0."""
def i0e(x: Any) -> Tensor: """Modified Bessel function of order 0, scaled so that it does not overflow."""
def i1(x: Any) -> Tensor: """Modified Bessel function of order 1."""
def i1e(x: Any) -> Tensor: """Modified Bessel function of order 1, scaled so that it does not overflow."""
def iv(v: Any, x: Any) -> Tensor: """Modified Bessel function of any real order."""
def ive(v: Any, x: Any) -> Tensor:
    """Modified Bessel function of any real order, scaled so that it does not overflow."""
def j0(x: Any) -> Tensor: """Bessel function of the first kind, of order 0."""
def j1(x: Any) -> Tensor: """Bessel function of the first kind, of order 1."""
def jn(v: Any, x: Any) -> Tensor: """Bessel function of the first kind, of any real order."""
def jv(v: Any, x: Any) -> Tensor: """Bessel function of the first kind, of any real order."""
def log_expit(x: Any) -> Tensor: """Logarithm of the logistic sigmoid."""
def log_ndtr(x: Any) -> Tensor: """Logarithm of the share that the standard normal distribution has up to x."""
def log_softmax(x: Any, axis: Any = -1) -> Tensor:
    """Log-softmax: the logarithm of the softmax, safe for large entries."""
def logit(x: Any) -> Tensor: """Logarithm of the odds: the inverse of `expit`, the sigmoid."""
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Tensor:
    """Logarithm of a sum of exponentials, each times a factor."""
def multigammaln(a: Any, d: Any) -> Tensor: """Logarithm of the gamma function of matrices."""
def ndtr(x: Any) -> Tensor: """The share that the standard normal distribution has up to x."""
def ndtri(x: Any) -> Tensor:
    """Quantile of the standard normal distribution: the number up to which it has the share x."""
def polygamma(n: Any, x: Any) -> Tensor: """Polygamma function: the n-th derivative of the digamma function."""
def psi(x: Any) -> Tensor: """Digamma function: the slope of log Γ."""
def rgamma(x: Any) -> Tensor: """One over the gamma function: 0 where that is infinite."""
def sinc(x: Any) -> Tensor: """Normalised sine cardinal: what a sharp cut between frequencies looks like in time."""
def softmax(x: Any, axis: Any = -1) -> Tensor: """Softmax: positive weights that add up to one."""
def xlog1py(x: Any, y: Any) -> Tensor:
    """A number times the logarithm of 1 + y: 0 where the number is 0, whatever the logarithm."""
def xlogy(x: Any, y: Any) -> Tensor: """A number times a logarithm: 0 where the number is 0, whatever the logarithm."""
def y0(x: Any) -> Tensor: """Bessel function of the second kind, of order 0."""
def y1(x: Any) -> Tensor: """Bessel function of the second kind, of order 1."""
def yn(n: Any, x: Any) -> Tensor: """Bessel function of the second kind, of a whole order."""
