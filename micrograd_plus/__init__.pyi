"""micrograd_plus: automatic differentiation that shows its work.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from . import (
    autograd as autograd, checks as checks, cuda as cuda, engine as engine, exercises as exercises, extras as extras,
    fft as fft, grading as grading, linalg as linalg, nn as nn, numpy as numpy, ops as ops, optim as optim,
    random as random, tracing as tracing, transforms as transforms,
)
from .checks import samples as samples
from .checks.promises import check as _check_op
from .core.runtime.blocks import (
    enable_grad as enable_grad, is_grad_enabled as is_grad_enabled, no_grad as no_grad, scope as scope,
    set_grad_enabled as set_grad_enabled, unfuse as unfuse,
)
from .cuda import device as device
from .extras import signal as signal, special as special, splat as splat, stats as stats
from .extras.defining import (
    composite as composite, elementwise as elementwise, linear as linear, multilinear as multilinear,
    nondifferentiable as nondifferentiable, op as op, variadic as variadic,
)
from .extras.quantisation import *
from .files import FileError as FileError
from .nn.saving import load as load, save as save
from .ops import *
from .random import rand as rand, randint as randint, randn as randn
from .random.pytorch_draws import (
    manual_seed as manual_seed, multinomial as multinomial, rand_like as rand_like, randn_like as randn_like,
    randperm as randperm,
)
from .tensor import Tensor as Tensor, tensor as tensor
from .tensor.creation import (
    arange as arange, array as array, asarray as asarray, empty as empty, empty_like as empty_like, eye as eye,
    from_numpy as from_numpy, full as full, full_like as full_like, identity as identity, linspace as linspace,
    ones as ones, ones_like as ones_like, zeros as zeros, zeros_like as zeros_like,
)
from .tracing import Trace as Trace, load_trace as load_trace, record as record
from .tracing.orders import orders as orders
from .transforms import (
    checkpoint as checkpoint, checkpoint_sequential as checkpoint_sequential, cond as cond, custom_jvp as custom_jvp,
    custom_vjp as custom_vjp, grad as grad, gradcheck as gradcheck, hessian as hessian, hvp as hvp,
    is_checkpointing as is_checkpointing, is_recomputing as is_recomputing, jacobian as jacobian, jvp as jvp,
    scan as scan, value_and_grad as value_and_grad, vjp as vjp, while_loop as while_loop,
)
from .written import compile as compile, write_out as _written_out

check_op = _check_op
written_out = _written_out
__version__: str
