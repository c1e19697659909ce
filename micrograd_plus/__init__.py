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

import gc as _gc
from contextlib import suppress as _suppress
from importlib import import_module as _import_module
from typing import Any

import numpy as _numpy  # noqa: F401, ICN001 - imported from here NumPy takes 44 ms, from deep within our own rooms 57

_collects = _gc.isenabled()
try:
    _gc.disable()  # what is made below is no garbage, and looking for some takes a fifth of the import
    from .composites import composite
    from .op import constant, elementwise, joining, linear, multilinear, op
    from .ops import *  # noqa: F403 - every operation is public, and listed where it is defined
    from .ops import __all__ as _operations
    from .tensor import Tensor, tensor
    from .variable import enable_grad, no_grad, unfuse

    with _suppress(ImportError):  # without this room the same rules run by name
        from . import compiled as _compiled  # noqa: F401 - importing it is what makes operations fast
finally:
    if not _gc.get_freeze_count():  # frozen and unfrozen, all of it counts as old: else it is looked through now
        _gc.freeze()
        _gc.unfreeze()
    if _collects:
        _gc.enable()

__version__ = "0.1.0"

_WHEN_ASKED_FOR = {
    "check": "check", "check_op": "check:check", "checkpoint": "checkpointing:checkpoint",
    "checkpoint_sequential": "checkpointing:checkpoint_sequential", "cond": "control:cond",
    "custom_jvp": "custom:custom_jvp", "custom_vjp": "custom:custom_vjp", "engine": "engine", "fft": "fft",
    "grad": "transforms:grad", "gradcheck": "differences:gradcheck", "hessian": "transforms:hessian",
    "hvp": "tangents:hvp", "is_checkpointing": "checkpointing:is_checkpointing",
    "is_recomputing": "checkpointing:is_recomputing", "jacobian": "transforms:jacobian", "jvp": "tangents:jvp",
    "linalg": "linalg", "load": "nn.saving:load", "load_trace": "trace:load_trace", "nn": "nn", "optim": "optim",
    "orders": "ordering:orders", "random": "random", "record": "trace:record", "samples": "samples",
    "save": "nn.saving:save", "scan": "control:scan", "signal": "signal", "splat": "splat", "trace": "trace",
    "Trace": "trace:Trace", "transforms": "transforms", "value_and_grad": "transforms:value_and_grad",
    "vjp": "transforms:vjp", "while_loop": "control:while_loop",
}  # fmt: skip
"""Rooms, and names in them, that are imported the first time somebody asks."""

__all__ = [  # noqa: PLE0604 - operations, and rooms by their keys: all of them are strings
    *_operations, *_WHEN_ASKED_FOR, "Tensor", "composite", "constant", "elementwise", "enable_grad", "joining",
    "linear", "multilinear", "no_grad", "op", "tensor", "unfuse",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHEN_ASKED_FOR:
        from .hints import no_such

        raise no_such(__name__, name, __all__)
    room, _, inside = _WHEN_ASKED_FOR[name].partition(":")
    module = _import_module(f".{room}", __name__)
    globals()[name] = getattr(module, inside) if inside else module
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
