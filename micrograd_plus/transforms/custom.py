"""Custom gradient rules for any function of tensors, instead of the derived ones.

    @mg.custom_vjp
    def careful(x):
        return mg.sqrt(mg.relu(x))

    @careful.rule("x")
    def _(upstream, x, out):
        return mg.where(x > 0, upstream / (2 * out), 0.0)

The forward of an operation (`mg.op`) uses only functions that every namespace has. Here the function and its rules
compute with tensors, as user programs do, and may use all of Python. A rule's parameters name the values it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import update_wrapper
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

from ..backends import devices, tensors
from ..core.apply import Op
from ..core.backward import walk_from
from ..core.messages import check_function
from ..core.modes import grad_enabled
from ..core.operation import REQUIRED
from ..core.rule import Rule
from ..core.runtime.blocks import enable_grad, no_grad
from ..core.runtime.guards import own
from ..core.runtime.ownership import snapshot
from ..core.runtime.recorders import mute_recorders, record_to
from ..core.variable import Leaf, Variable, clock
from ..formulas import symbols
from ..tensor import Tensor
from .captures import Captures


def custom_vjp(f: Any = None, *, outputs: tuple[str, ...] = ()) -> Any:
    """Decorate a function of tensors to give it custom gradient rules.

    `@f.rule("x")` decorates the rule for the input x, and `@f.rule("x", "y")` a rule for two inputs, which returns a
    tuple. The parameters of a rule name the values it reads: `upstream`, inputs, parameters and `out`, all as tensors.
    Forward mode is derived from the rules, unless `f.tangent` gives it. A function without rules is differentiated as
    usual.

    Args:
        f: a function; its positional parameters are inputs, its keyword-only parameters have no gradient.
        outputs: names of the results of a function that returns a tuple; rules read these names instead of `out`, and
            upstream is a tuple too. Default: one result.
    Returns: the function with `rule` and `tangent`; without `f`, a decorator.
    Raises: TypeError if `f` cannot be called or takes *args, for a single name in `outputs`, and for a rule that reads
        an unknown value or belongs to no input. When called: RuntimeError if an input requires a gradient and has no
        rule, or if `f` captures a tensor that requires one.
    Example:
        >>> @mg.custom_vjp
        ... def limited(x):
        ...     return x
        >>> @limited.rule("x")
        ... def _(upstream):
        ...     return mg.clip(upstream, -1.0, 1.0)
        >>> mg.grad(lambda x: 5 * limited(x))(2.0).item()
        1.0

    See: jax.custom_vjp; torch.autograd.Function.
    """
    if f is None:
        return lambda f: custom_vjp(f, outputs=outputs)
    check_function("custom_vjp or custom_jvp", f)
    return CustomFunction(f, outputs)


def custom_jvp(f: Any = None, *, outputs: tuple[str, ...] = ()) -> Any:
    """Decorate a function of tensors to give it a custom tangent rule.

    `@f.tangent` decorates the rule. Its parameters name the values it reads: inputs, parameters, `out`, and
    `NAME_tangent`, the tangent of each input. It must be linear in the tangents; its transpose is the gradient rule,
    unless `f.rule` gives one.

    Args:
        f: a function; its positional parameters are inputs, its keyword-only parameters have no gradient.
        outputs: names of the results of a function that returns a tuple; its rule then returns a tuple of tangents.
            Default: one result.
    Returns: the function with `rule` and `tangent`; without `f`, a decorator.
    Raises: the errors of `custom_vjp`; TypeError if the tangent rule reads an unknown value; RuntimeError if a tangent
        and its result differ in shape.
    Example:
        >>> @mg.custom_jvp
        ... def cube(x):
        ...     return x * x * x
        >>> @cube.tangent
        ... def _(x, x_tangent):
        ...     return 3 * x * x * x_tangent
        >>> mg.grad(cube)(2.0).item(), mg.jvp(cube, (2.0,), (10.0,))[1].item()
        (12.0, 120.0)

    See: jax.custom_jvp.
    """
    return custom_vjp(f, outputs=outputs)


class CustomFunction:
    """Function with custom rules; without any rule it calls the original function."""

    def __init__(self, f: Callable[..., Any], outputs: tuple[str, ...]):
        update_wrapper(self, f)
        self.op = CustomOp(f, outputs)
        self.rule = self.op.rule

    def tangent(self, function: FunctionType) -> FunctionType:
        """Set the tangent rule."""
        self.op.tangent_rule = TangentRule(self.op, function)
        self.op.rules = [rule for rule in self.op.rules if not isinstance(rule, TransposedRule)]
        return function

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Apply the function."""
        if not self.op.rules and self.op.tangent_rule is not None:
            self.op.add_transpose_rule()
        return self.op.apply(*args, **params) if self.op.rules else self.op.forward(*args, **params)

    def __repr__(self) -> str:
        return f"<custom {self.op.name}({', '.join([*self.op.inputs, *self.op.params])})>"


class CustomRule(Rule):
    """Rule that computes with tensors of its own, which it may change; arrays become tensors without a graph."""

    def __call__(self, named: dict[str, Any]) -> Any:
        """Apply the rule to the values it reads, as tensors."""
        xp = named["xp"]
        if xp is symbols:
            return super().__call__(named)
        given = [_map(named[name], own_tensor) for name in self.reads]
        if xp is tensors:
            return self.function(*given)
        with no_grad():
            return own([_map(self.function(*given), as_array)])


class CustomOp(Op):
    """Operation behind a function of tensors."""

    rule_type = CustomRule
    is_deterministic = False

    def __init__(self, f: Callable[..., Any], outputs: tuple[str, ...]):
        self.name = getattr(f, "__name__", type(f).__name__).strip("<>_")
        if len(outputs) == 1:
            raise TypeError(f"{self.name}: `outputs` names the results of a function that returns several")
        self.forward: Any = f
        self.kind, self.outputs, self.residuals, self.constants = "general", outputs, (), frozenset()
        named = signature(f).parameters.values()
        if any(each.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for each in named):
            raise TypeError(f"{self.name} takes *args or **kwargs; a rule is for an input with a name")
        inputs = [each for each in named if each.kind is not Parameter.KEYWORD_ONLY]
        self.inputs = tuple(each.name for each in inputs)
        self.optional = frozenset(each.name for each in inputs if each.default is not Parameter.empty)
        self.params = {
            each.name: REQUIRED if each.default is Parameter.empty else each.default
            for each in named
            if each.kind is Parameter.KEYWORD_ONLY
        }
        self.rules, self.saves, self.call = [], (), None

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the results, as rules use them."""
        return self.outputs or ("out",)

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Add or replace a rule."""
        if self.outputs and "out" in signature(function).parameters:
            raise TypeError(f"a rule of {self.name} reads its results by name: {', '.join(self.outputs)}")
        super().add_rule(inputs, function)

    @property
    def composite(self) -> bool:
        """False: the custom rules replace the decomposition of the forward."""
        return False

    def compute(self, xp: Any, data: list[Any], params: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """Run the function on tensors without gradients, and return its results as arrays."""
        outside = Captures(clock())
        with no_grad(), mute_recorders(), record_to(outside):
            results = self.forward(*[as_tensor(value) for value in data], **params)
        for found in outside.found.values():
            raise RuntimeError(
                f"{self.name} captures a tensor of shape {found.shape} that requires a gradient, but no rule of "
                f"{self.name} can send it one: make it an argument"
            )
        if not self.outputs:
            return as_array(results), ()
        if not isinstance(results, tuple) or len(results) != len(self.outputs):
            raise TypeError(f"{self.name} returns a tuple of {', '.join(self.outputs)}, as its `outputs` say")
        return tuple(as_array(each) for each in results), ()

    def check_gradient(self, nodes: list[Any]) -> None:
        """Raise RuntimeError for an input that requires a gradient and has no rule."""
        for name, node in zip(self.inputs, nodes, strict=True):
            if node is not None and not self.has_rule_for(name) and grad_enabled():
                raise RuntimeError(
                    f"{self.name} has no rule for {name}, which requires a gradient: give one with "
                    f"@{self.name}.rule({name!r}), or pass mg.stop_gradient(...) of it"
                )

    def add_transpose_rule(self) -> None:
        """Add the transpose of the tangent rule as the one rule for all inputs."""
        needed = ("xp", "upstream", *self.inputs, *self.params, *self.results)
        self.rules = [TransposedRule(self, needed)]
        self.saves = needed[2:]


class TangentRule:
    """Rule that computes the tangents of the results from those of the inputs."""

    def __init__(self, op: CustomOp, function: FunctionType):
        self.op, self.function = op, function
        self.reads = tuple(signature(function).parameters)
        known = {*op.results, *op.inputs, *op.params, *(f"{name}_tangent" for name in op.inputs)}
        for name in self.reads:
            if name not in known:
                raise TypeError(f"the tangent rule of {op.name} reads {name!r}; it may read {', '.join(sorted(known))}")

    def push(
        self, inputs: Sequence[Any], params: dict[str, Any], results: Sequence[Any], arriving: Sequence[Any]
    ) -> Any:
        """Return the tangent of each result; tangents of constant inputs are zeros, of omitted ones None."""
        named = {**params, **dict(zip(self.op.inputs, inputs, strict=True))}
        named.update(zip(self.op.results, results, strict=True))
        named.update(zip((f"{name}_tangent" for name in self.op.inputs), arriving, strict=True))
        tangents = self.function(*[_map(named[name], own_tensor) for name in self.reads])
        tangents = tangents if self.op.outputs else (tangents,)
        for tangent, result in zip(tangents, results, strict=True):
            if tangent.shape != result.shape:
                raise RuntimeError(
                    f"the tangent rule of {self.op.name} gave shape {tangent.shape} for a result of {result.shape}"
                )
        return tangents


class TransposedRule(Rule):
    """Transpose of a tangent rule, which is linear: one backward pass through it gives the gradients."""

    def __init__(self, op: CustomOp, reads: tuple[str, ...]):
        self.op, self.inputs, self.function = op, op.inputs, op.tangent_rule.function
        self.reads, self.in_forward = reads, False
        self.reason = "The transpose of the tangent rule."

    def __call__(self, named: dict[str, Any]) -> Any:
        """Return the contribution to each input."""
        xp, op = named["xp"], self.op
        if xp is symbols:
            raise TypeError("the transpose of a tangent rule has no formula")
        differentiable = xp is tensors
        named = {name: _map(value, as_tensor) for name, value in named.items()}
        inputs = [named[name] for name in op.inputs]
        results = [named[name] for name in op.results]
        params = {name: named[name] for name in op.params}
        start = clock()
        still: list[Any] = [None if x is None else _zero_tangent(x) for x in inputs]
        with enable_grad(), nullcontext() if differentiable else mute_recorders():
            tangents = op.tangent_rule.push(inputs, params, results, still)
            upstreams = named["upstream"] if op.outputs else (named["upstream"],)
            starts = [(m.node, up) for m, up in zip(tangents, upstreams, strict=True) if m.node is not None]
            starts = starts if differentiable else [(node, up._data) for node, up in starts]
            received = walk_from(starts, xp, since=start)
        sent = [None if x is None else received.get(x.node, x if differentiable else x._data) for x in still]
        return tuple(sent) if len(sent) > 1 else sent[0]


def _zero_tangent(value: Any) -> Tensor:
    """Return zeros as the tangent of an input, as a leaf if the input can be differentiated."""
    zeros = devices.zeros_like(value._data)
    return Tensor.of(zeros, Leaf(zeros.shape, zeros.dtype) if zeros.dtype.kind in "fc" else None)


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to a value, or to each value of a tuple or list."""
    return type(value)(function(part) for part in value) if type(value) in (tuple, list) else function(value)


def as_tensor(value: Any) -> Any:
    """Return an array as a tensor without a graph, anything else unchanged."""
    return Tensor.of(value) if hasattr(value, "dtype") and not isinstance(value, Variable) else value


def own_tensor(value: Any) -> Any:
    """Return an array or a tensor as another tensor, which a rule may change; anything else unchanged."""
    return Tensor.of(value._data, value.node) if isinstance(value, Variable) else as_tensor(value)


def as_array(value: Any) -> Any:
    """Return a tensor or a number as an array, and a copy of an array, which its user may change; None stays None."""
    if value is None or isinstance(value, Variable):
        return value if value is None else snapshot(value)
    return Tensor.constant(value, "a custom function")._data
