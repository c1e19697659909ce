"""micrograd_plus: automatic differentiation that shows its work.

    import micrograd_plus as mg

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        loss = (x * x).sum()
        loss.backward()
    x.grad, trace

Operations have NumPy's names (`mg.exp`, `mg.concatenate`), training has PyTorch's (`mg.nn`, `mg.optim`, `backward`).
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from typing import Any

import numpy as _numpy  # noqa: ICN001 - imported from here NumPy takes 44 ms, from deep within our own modules 57

from .core.messages import MissingModules as _MissingModules
from .core.runtime.blocks import enable_grad, is_grad_enabled, no_grad, scope, set_grad_enabled, unfuse
from .ops import *  # noqa: F403 - the operations that users call, listed where they are defined
from .ops import __all__ as _operations
from .tensor import Tensor, tensor

__version__ = "0.1.0"

_WHEN_ASKED_FOR = {
    "Trace": "tracing:Trace", "autograd": "autograd", "check_op": "checks.promises:check", "checks": "checks",
    "checkpoint": "transforms:checkpoint", "checkpoint_sequential": "transforms:checkpoint_sequential",
    "cond": "transforms:cond", "custom_jvp": "transforms:custom_jvp", "custom_vjp": "transforms:custom_vjp",
    "compile": "written:compile", "cuda": "cuda", "device": "cuda:device", "engine": "engine", "exercises": "exercises",
    "extras": "extras", "FileError": "files:FileError",
    "fft": "fft", "grad": "transforms:grad", "gradcheck": "transforms:gradcheck", "grading": "grading",
    "hessian": "transforms:hessian", "hvp": "transforms:hvp", "is_checkpointing": "transforms:is_checkpointing",
    "is_recomputing": "transforms:is_recomputing", "jacobian": "transforms:jacobian", "jvp": "transforms:jvp",
    "linalg": "linalg", "load": "nn.saving:load", "load_trace": "tracing:load_trace", "nn": "nn", "numpy": "numpy",
    "optim": "optim",
    "orders": "tracing.orders:orders", "random": "random", "record": "tracing:record", "samples": "checks.samples",
    "save": "nn.saving:save", "scan": "transforms:scan", "signal": "extras.signal", "special": "extras.special",
    "splat": "extras.splat", "stats": "extras.stats",
    "tracing": "tracing", "transforms": "transforms", "value_and_grad": "transforms:value_and_grad",
    "vjp": "transforms:vjp", "while_loop": "transforms:while_loop",
    "written_out": "written:write_out",
    **{name: f"extras.defining:{name}" for name in (
        "composite", "elementwise", "linear", "multilinear", "nondifferentiable", "op", "variadic",
    )},
    **{name: f"extras.quantisation:{name}" for name in (
        "dequantize", "dequantize_blocks", "dequantize_grouped_matmul", "dequantize_matmul", "fake_quantize",
        "fake_quantize_lsq", "quantize", "quantized_conv2d", "quantized_matmul",
    )},
    **{name: f"random:{name}" for name in ("rand", "randint", "randn")},
    **{name: f"random.pytorch_draws:{name}" for name in (
        "manual_seed", "multinomial", "rand_like", "randn_like", "randperm",
    )},
    **{name: f"tensor.creation:{name}" for name in (
        "arange", "array", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "identity",
        "linspace", "ones", "ones_like", "zeros", "zeros_like",
    )},
}  # fmt: skip
"""Modules, and names in them, that are imported the first time somebody asks."""

_CONSTANTS = {
    **{name: getattr(_numpy, name) for name in ("e", "euler_gamma", "inf", "nan", "newaxis", "pi")},
    **{name: getattr(_numpy, name) for name in (
        "bool_", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
        "uint16", "uint32", "uint64",
    )},
    "bool": _numpy.bool_, "double": _numpy.float64, "float": _numpy.float32, "half": _numpy.float16,
    "int": _numpy.int32, "long": _numpy.int64,
}  # fmt: skip
"""Numbers and dtypes, NumPy's own; the last six have PyTorch's names. They are not in `__all__`, so that a star import
replaces no `e` and no `float`."""
globals().update(_CONSTANTS)

__all__ = [  # noqa: PLE0604 - operations, and modules by their keys: all of them are strings
    *_operations, *_WHEN_ASKED_FOR, "Tensor", "enable_grad", "is_grad_enabled", "no_grad", "scope", "set_grad_enabled",
    "tensor", "unfuse",
]  # fmt: skip


_sys.meta_path.append(_MissingModules)


def __getattr__(name: str) -> Any:
    if name not in _WHEN_ASKED_FOR:
        from .core.messages import missing_name

        raise missing_name(__name__, name, __all__)
    module_name, _, inside = _WHEN_ASKED_FOR[name].partition(":")
    module = _import_module(f".{module_name}", __name__)
    globals()[name] = getattr(module, inside) if inside else module
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*__all__, *_CONSTANTS, "__version__"])
