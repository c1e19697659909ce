"""micrograd_plus: automatic differentiation that shows its work."""

from __future__ import annotations

from . import compiled, op, ops
op.writer = compiled
from .tensor import Tensor, tensor
from .variable import enable_grad, no_grad, unfuse
for _n, _v in vars(ops).items():
    if callable(_v) and not _n.startswith("_"):
        globals()[_n] = _v
