"""micrograd_plus: automatic differentiation that shows its work.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from . import check, engine, fft, linalg, nn, ops, optim, random, samples, signal, splat, trace, transforms
from .check import check as check_op
from .checkpointing import checkpoint, checkpoint_sequential, is_checkpointing, is_recomputing
from .composites import composite
from .control import cond, scan, while_loop
from .custom import custom_jvp, custom_vjp
from .differences import gradcheck
from .nn.saving import load, save
from .op import constant, elementwise, joining, linear, multilinear, op
from .ops import *
from .ordering import orders
from .tangents import hvp, jvp
from .tensor import Tensor, tensor
from .trace import Trace, load_trace, record
from .transforms import grad, hessian, jacobian, value_and_grad, vjp
from .variable import enable_grad, no_grad, unfuse

__version__: str

__all__ = [
    "Tensor", "Trace", "check", "check_op", "checkpoint", "checkpoint_sequential", "composite", "cond", "constant",
    "custom_jvp", "custom_vjp", "elementwise", "enable_grad", "engine", "fft", "grad", "gradcheck", "hessian", "hvp",
    "is_checkpointing", "is_recomputing", "jacobian", "joining", "jvp", "linalg", "linear", "load", "load_trace",
    "multilinear", "nn", "no_grad", "op", "optim", "orders", "random", "record", "samples", "save", "scan", "signal",
    "splat", "tensor", "trace", "transforms", "unfuse", "value_and_grad", "vjp", "while_loop",
]
__all__ += ops.__all__
