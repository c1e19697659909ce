"""micrograd_plus: automatic differentiation that shows its work.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from . import (
    check as check, engine as engine, fft as fft, linalg as linalg, nn as nn, ops as ops, optim as optim,
    random as random, samples as samples, signal as signal, splat as splat, trace as trace, transforms as transforms,
)
from .checkpointing import (
    checkpoint as checkpoint, checkpoint_sequential as checkpoint_sequential, is_checkpointing as is_checkpointing,
    is_recomputing as is_recomputing,
)
from .composites import composite as composite
from .control import cond as cond, scan as scan, while_loop as while_loop
from .custom import custom_jvp as custom_jvp, custom_vjp as custom_vjp
from .differences import gradcheck as gradcheck
from .nn.saving import load as load, save as save
from .op import (
    constant as constant, elementwise as elementwise, joining as joining, linear as linear, multilinear as multilinear,
    op as op,
)
from .ops import *
from .ordering import orders as orders
from .tangents import hvp as hvp, jvp as jvp
from .tensor import Tensor as Tensor, tensor as tensor
from .trace import Trace as Trace, load_trace as load_trace, record as record
from .transforms import (
    grad as grad, hessian as hessian, jacobian as jacobian, value_and_grad as value_and_grad, vjp as vjp,
)
from .variable import enable_grad as enable_grad, no_grad as no_grad, unfuse as unfuse

check_op = check.check
__version__: str
