"""Defining operations: a forward, one gradient rule per input, and a kind that is a promise.

    @elementwise(x=lambda out: 1 - out * out)
    def tanh(xp, x):
        return xp.tanh(x)

`operation` says what applying an operation means; here are the decorators.
"""

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
    if op.forward.__code__.co_names != (op.name,):  # a forward that only says its own name would call itself
        devices.define(op.name, output_alone(op.forward) if op.residuals else op.forward)
    operations[op.name] = op
    return op.call


def output_alone(forward: FunctionType) -> Callable[..., Any]:
    """A forward without its residuals."""
    return lambda *args, **params: forward(*args, **params)[0]


def _kind(kind: str) -> Callable[..., Any]:
    def with_rules(*, public: bool = True, **rules: FunctionType) -> Callable[..., Any]:
        def define(forward: FunctionType) -> Callable[..., Any]:
            made = Op(forward, kind)
            for name, function in rules.items():
                made.add_rule((name,), function)
            return register(made, public=public)

        return define

    with_rules.__name__ = with_rules.__qualname__ = kind
    with_rules.__doc__ = (
        f"A decorator that makes a {kind} operation of its forward: {KINDS[kind]}.\n\n"
        f"`@mg.{kind}(x=rule)` stands above `def NAME(xp, x): ...`; a rule's parameters say what it reads.\n\n"
        f"Args:\n"
        f"    public: whether users call it; False for a step that only rules need.\n"
        f"    rules: one for each input that can have a gradient, by its name.\n"
        f"Returns: a decorator, which returns the public function.\n"
        f"Raises: TypeError where a rule reads what the kind forbids, or names no input.\n"
        f"Example:\n"
        f"    >>> @mg.elementwise(x=lambda x: 2 * x)\n"
        f"    ... def square_of(xp, x):\n"
        f"    ...     return x * x\n"
        f"    >>> mg.grad(square_of)(3.0).item()\n"
        f"    6.0\n\n"
        f"See: `defvjp` of autograd, `custom_vjp` of JAX."
    )
    return with_rules


elementwise = _kind("elementwise")
linear = _kind("linear")
multilinear = _kind("multilinear")
variadic = _kind("variadic")


def nondifferentiable(forward: FunctionType | None = None, *, public: bool = True) -> Any:
    """A decorator for an operation whose result carries no graph: a comparison, an index, a draw.

    Args:
        forward: the function forward(xp, inputs, *, parameters).
        public: whether users call it; False for a step that only rules need.
    Returns: the public function; without `forward`, a decorator.
    Raises: TypeError where `forward` is no function.
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
    forward: FunctionType | None = None,
    *,
    outputs: tuple[str, ...] = (),
    residuals: tuple[str, ...] = (),
    constants: tuple[str, ...] = (),
    public: bool = True,
) -> Any:
    """A decorator for an operation of the general kind, whose rules say what upstream becomes.

    Rules are given with `@NAME.rule(input)`. A forward that is made of other operations needs none: it is decomposed.

    Args:
        forward: the function forward(xp, inputs, *, parameters).
        outputs: names of several results, which the forward returns as a tuple.
        residuals: names of what the forward returns after its output, for the rules to read.
        constants: those residuals (a mask, an index) that have no gradient of their own.
        public: whether users call it; False for a step that only rules need.
    Returns: the public function; without `forward`, a decorator.
    Raises: TypeError where `forward` is no function.
    Example:
        >>> @mg.op
        ... def scaled(xp, x, *, by=2.0):
        ...     return x * by
        >>> @scaled.rule("x")
        ... def _(upstream, by):
        ...     return upstream * by
        >>> mg.grad(scaled)(1.0).item()
        2.0

    See: `custom_vjp` of JAX, whose residuals these are.
    """
    def define(forward: FunctionType) -> Callable[..., Any]:
        made = Op(forward, "general", outputs=outputs, residuals=residuals, constants=constants)
        return register(made, public=public)

    return define if forward is None else define(forward)


def wraps_op(call: Any, *, namespace: bool = False) -> Callable[[Any], Any]:
    """A decorator for the function in front of an operation; with `namespace` rules on tensors call it, too."""

    def define(function: Any) -> Any:
        function.op, function.rule, function.source = call.op, call.rule, call.source
        function.public = call.public
        if namespace:
            setattr(tensors, call.op.name, function)
        return suggests_keywords(function) if "axis" in function.__code__.co_varnames else function

    return define


def namespace_function(function: FunctionType) -> FunctionType:
    """A decorator for a function made of operations, which rules on tensors may call."""
    setattr(tensors, function.__name__, function)
    return function
