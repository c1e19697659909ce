"""Special functions under SciPy's names: `mg.special.gammaln(x)`.

`functions` defines the operations; `gammas`, `bessel` and `bessel_orders` compute them for arrays. SciPy is not needed.
"""

from __future__ import annotations

from typing import NoReturn

from ...core.messages import missing_name
from ...ops.exponentials import erf, erfc
from ...ops.neural import log_softmax, softmax
from ...ops.ufuncs import sinc
from .functions import (
    beta,
    betainc,
    betaln,
    digamma,
    erfcinv,
    erfinv,
    expit,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    gammasgn,
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jn,
    jv,
    log_expit,
    log_ndtr,
    logit,
    logsumexp,
    multigammaln,
    ndtr,
    ndtri,
    polygamma,
    psi,
    rgamma,
    xlog1py,
    xlogy,
    y0,
    y1,
    yn,
)

__all__ = [
    "beta", "betainc", "betaln", "digamma", "erf", "erfc", "erfcinv", "erfinv", "expit", "gamma", "gammainc",
    "gammaincc", "gammaln", "gammasgn", "i0", "i0e", "i1", "i1e", "iv", "ive", "j0", "j1", "jn", "jv", "log_expit",
    "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "rgamma",
    "sinc", "softmax", "xlog1py", "xlogy", "y0", "y1", "yn",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)
