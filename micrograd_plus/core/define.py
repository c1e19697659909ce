"""Decorators that define operations: `@elementwise(x=lambda out: 1 - out * out)` above `def tanh(xp, x): ...`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from ..backends import devices, tensors
from .apply import Op
from .fast.callers import public_function
from .messages import suggests_keywords
from .rule import KINDS, mask, real_only

__all__ = [
    "Op", "elementwise", "linear", "mask", "multilinear", "namespace_function", "nondifferentiable", "op", "operations",
    "real_only", "register", "variadic", "wraps_op",
]  # fmt: skip

operations: dict[str, Op] = {}
"""Every operation by its name, in order of definition."""


def register(op: Op, *, public: bool = True) -> Callable[..., Any]:
    """Make an operation a function of every namespace, and return the function that users call."""
    op.call = public_function(op)
    op.call.public = public
    setattr(tensors, op.name, op.call)
    if op.forward.__code__.co_names != (op.name,):  # a forward that only calls its own name would call itself
        forward: Any = op.guarded_forward
        without_residuals: Callable[..., Any] = lambda *args, **params: forward(*args, **params)[0]
        devices.define(op.name, without_residuals if op.residuals else forward)
    operations[op.name] = op
    return op.call


def _decorator(kind: str) -> Callable[..., Any]:
    """Return the decorator for a kind of operations."""

    def decorator(*, public: bool = True, **rules: FunctionType) -> Callable[..., Any]:
        """Define an operation of the KIND kind: PROMISE.

        `@mg.KIND(x=rule)` is written above `def NAME(xp, x): ...`; a rule's parameters say what it reads.

        Args:
            public: whether users call it; False for a step that only rules need.
            rules: one for each input that can have a gradient, by its name.
        Returns: a decorator, which returns the public function.
        Raises: TypeError if a rule reads a name that the kind forbids, or serves no input.
        Example:
            >>> @mg.elementwise(x=lambda x: 2 * x)
            ... def square_of(xp, x):
            ...     return x * x
            >>> mg.grad(square_of)(3.0).item()
            6.0

        See: `defvjp` of autograd, `custom_vjp` of JAX.
        """

        def define(forward: FunctionType) -> Callable[..., Any]:
            op = Op(forward, kind)
            for name, function in rules.items():
                op.add_rule((name,), function)
            return register(op, public=public)

        return define

    decorator.__name__ = decorator.__qualname__ = kind
    decorator.__doc__ = (decorator.__doc__ or "").replace("KIND", kind).replace("PROMISE", KINDS[kind])
    return decorator


elementwise, linear, multilinear, variadic = map(_decorator, ("elementwise", "linear", "multilinear", "variadic"))


def nondifferentiable(forward: FunctionType | None = None, *, public: bool = True) -> Any:
    """Define an operation whose result has no graph: a comparison, an index, a random draw.

    Args:
        forward: the function forward(xp, inputs, *, parameters).
        public: whether users call it; False for a step that only rules need.
    Returns: the public function; without `forward`, a decorator.
    Raises: TypeError if `forward` is not a function.
    Example:
        >>> @mg.nondifferentiable
        ... def is_large(xp, x):
        ...     return x > 10
        >>> is_large(mg.tensor([1.0, 100.0])).tolist()
        [False, True]

    See: `torch.autograd.Function` with `mark_non_differentiable`.
    """
    if forward is None:
        return partial(nondifferentiable, public=public)
    return register(Op(forward, "non-differentiable"), public=public)


def op(
    forward: FunctionType | None = None, *, outputs: tuple[str, ...] = (), residuals: tuple[str, ...] = (),
    constants: tuple[str, ...] = (), public: bool = True,
) -> Any:  # fmt: skip
    """Define an operation of the general kind, whose rules return contributions.

    Rules are added with `@NAME.rule(input)`. A forward that is made of other operations needs none.

    Args:
        forward: the function forward(xp, inputs, *, parameters).
        outputs: names of several results, which the forward returns as a tuple.
        residuals: names of further results of the forward, which only the rules read.
        constants: the residuals (a mask, an index) without a gradient.
        public: whether users call it; False for a step that only rules need.
    Returns: the public function; without `forward`, a decorator.
    Raises: TypeError if `forward` is not a function.
    Example:
        >>> @mg.op
        ... def scaled(xp, x, *, by=2.0):
        ...     return x * by
        >>> @scaled.rule("x")
        ... def _(upstream, by):
        ...     return upstream * by
        >>> mg.grad(scaled)(1.0).item()
        2.0

    See: `custom_vjp` of JAX, which has such residuals.
    """
    if forward is None:
        return partial(op, outputs=outputs, residuals=residuals, constants=constants, public=public)
    return register(Op(forward, "general", outputs=outputs, residuals=residuals, constants=constants), public=public)


def wraps_op(call: Any, *, namespace: bool = False) -> Callable[[Any], Any]:
    """Decorate the function in front of an operation; with `namespace`, rules on tensors call it, too."""

    def define(function: Any) -> Any:
        function.__dict__.update(op=call.op, rule=call.rule, source=call.source, public=call.public)
        if namespace:
            setattr(tensors, call.op.name, function)
        return suggests_keywords(function) if {"axis", "axes", "reps"} & {*function.__code__.co_varnames} else function

    return define


def namespace_function(function: FunctionType) -> FunctionType:
    """Make a function of operations available to rules on tensors."""
    setattr(tensors, function.__name__, function)
    return function
