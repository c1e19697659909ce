"""Gradient rules: a rule's function, what it reads and saves, and the contribution that applying it gives.

A rule is a plain function. It names what it needs as parameters, so its signature is the list of saved values:

    upstream          the gradient that arrives at the output (elementwise rules do not read it)
    out               the output (with several outputs, each by its name)
    an input's name   that input                  NAME_shape      its shape
    a parameter       its value                   a residual      an extra value that the forward returned for the rules
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from .runtime.guards import guard

KINDS = {
    "elementwise": "each entry of the output depends on one entry of each input; a rule is a local derivative",
    "linear": "the output is linear in all differentiable inputs together; a rule is a transpose",
    "multilinear": "the output is linear in each differentiable input; a rule is a transpose with the others fixed",
    "variadic": "the operation joins any number of parts; a rule returns one contribution per part",
    "general": "a rule returns the contribution itself; a composite's forward is its own decomposition",
    "non-differentiable": "the result has no graph",
}
"""The kinds of operations and the promise of each."""


class Rule:
    """Gradient rule of an operation, for one input or for several that share their work.

    A rule marked as a `mask` runs in the forward pass; its result is saved as `INPUT_mask` instead of what it reads.
    """

    __slots__ = ("function", "guarded", "in_forward", "inputs", "op", "reads", "reason")

    conjugates = True  # whether the engine conjugates before and after the rule when numbers are complex

    def __init__(self, op: Any, inputs: tuple[str, ...], function: FunctionType):
        code = function.__code__
        self.op, self.inputs, self.function, self.guarded = op, inputs, function, guard(function)
        self.reads: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        self.reason: str | None = function.__doc__
        self.in_forward: bool = getattr(function, "in_forward", False)

    @property
    def name(self) -> str:
        """The name shown in records and errors: `matmul.a`, or `attention.query+key`."""
        return f"{self.op.name}.{'+'.join(self.inputs)}"

    @property
    def saves(self) -> tuple[str, ...]:
        """The names that a node saves for this rule."""
        if self.in_forward:
            return (f"{self.inputs[0]}_mask",)
        return tuple(name for name in self.reads if name not in ("xp", "upstream"))

    def __call__(self, values: dict[str, Any]) -> Any:
        """Apply the rule to the values that it reads."""
        return self.guarded(*[values[name] for name in self.reads])

    def __repr__(self) -> str:
        return f"<rule {self.name}({', '.join(self.reads)})>"


class Contribution:
    """What one application of a rule gives to one input.

    `raw` is the result of the rule, or upstream times `local`; `value` is the same summed over `summed_axes`, in the
    shape and dtype of the input.
    """

    __slots__ = ("index", "local", "raw", "reads", "rule", "summed_axes", "value")

    def __init__(self, rule: Rule, index: int, local: Any, raw: Any, axes: tuple[int, ...], value: Any, reads: Any):
        self.rule, self.index, self.local, self.raw = rule, index, local, raw
        self.summed_axes, self.value, self.reads = axes, value, reads


def mask(function: Any) -> Any:
    """Mark a local derivative that is 0 or 1, so that it is computed in the forward pass and saved as booleans."""
    function.in_forward = True
    return function


def real_only(forward: Any) -> Any:
    """Mark a forward that does not take complex numbers."""
    forward.real_only = True
    return forward


def check_rule(rule: Rule) -> None:
    """Raise TypeError if a rule reads a name that its operation's kind forbids or that does not exist."""
    op = rule.op
    known = {"xp", "upstream", "out", *op.inputs, *op.params, *op.residuals, *op.outputs}
    known |= {f"{name}_shape" for name in op.inputs}
    is_linear = op.kind in ("linear", "multilinear")
    for name in rule.reads:
        is_own = is_linear and (name == "out" or name in rule.inputs)
        is_other = op.kind == "linear" and op.has_rule_for(name)
        if is_own or is_other or (op.kind == "elementwise" and name == "upstream"):
            promise = f"{op.name} is {op.kind}: {KINDS[op.kind]}"
            raise TypeError(f"the rule {rule.name} may not read {name!r}: {promise}")
        if name not in known:
            raise TypeError(f"the rule {rule.name} reads {name!r}; it may read {', '.join(sorted(known))}")
