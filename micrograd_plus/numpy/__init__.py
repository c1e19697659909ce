"""NumPy's namespace with gradients, a replacement for `autograd.numpy`.

    import micrograd_plus.numpy as np
    from micrograd_plus.numpy import grad

    def loss(w):
        return np.sum((np.dot(inputs, w) - targets) ** 2)

    w -= 0.1 * grad(loss)(w)

A function that is given a tensor, in a list too, is this engine's; given arrays alone it is NumPy's own, and so is
whatever has no gradient. Inside a transform the arguments are tensors; what comes out of one is an array where arrays
went in. Programs written for autograd run with these imports instead of theirs:

    autograd.numpy as np               micrograd_plus.numpy as np
    autograd.numpy.random as npr       micrograd_plus.numpy.random as npr
    autograd (grad, jacobian, ...)     micrograd_plus.numpy
    autograd.scipy.special, .stats     micrograd_plus.numpy.special, .stats
    autograd.scipy.signal, .integrate  micrograd_plus.numpy.signal, .integrate
    autograd.misc.flatten, .optimizers, .fixed_points, autograd.test_util
                                       micrograd_plus.numpy.tools
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from .. import ops
from ..tensor import creation
from . import fft, linalg, random
from .dispatch import dispatch_to_tensors
from .transforms import (
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_vector_product,
    jacobian,
    make_jvp,
    make_vjp,
    multigrad_dict,
    value_and_grad,
)

__all__ = [
    "deriv", "elementwise_grad", "fft", "grad", "grad_and_aux", "hessian", "hessian_vector_product", "jacobian",
    "linalg", "make_jvp", "make_vjp", "multigrad_dict", "random", "value_and_grad",
]  # fmt: skip

_OURS = {name: getattr(ops, name) for name in ops.__all__} | {
    name: getattr(creation, name) for name in creation.__all__
}


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the sum along the diagonal of two axes, by default the first two; those of `mg.linalg.trace` are the
    last two."""
    return ops.sum(ops.diagonal(a, offset, axis1, axis2), axis=-1)


_OURS["trace"] = _trace
_OURS |= {name: getattr(ops, name).op.call for name in ("max", "median", "min", "sort", "where")}
"""`mg` refuses arguments of these that mean something else in PyTorch. Here they mean what NumPy says."""
_WHEN_ASKED_FOR = ("integrate", "signal", "special", "stats", "tools")
"""Modules that are imported on first use."""


def __getattr__(name: str) -> Any:
    """Return NumPy's function, dispatched to this package's for tensors."""
    if name in _WHEN_ASKED_FOR:
        return import_module(f".{name}", __name__)
    if name.startswith("__"):
        raise AttributeError(name)
    theirs = getattr(np, name)
    globals()[name] = found = dispatch_to_tensors(_OURS[name], theirs) if name in _OURS else theirs
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_WHEN_ASKED_FOR, *dir(np)})
