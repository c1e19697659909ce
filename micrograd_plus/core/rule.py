"""Rules: one gradient rule for one input (or for several that share their work), and what applying it gives.

Nothing is hidden in a closure. A rule names what it needs, and its signature is the list of what is saved:

    upstream          the gradient that arrives at the output (all kinds but elementwise, which give a local derivative)
    out               the output (or, with several outputs, each by its name)
    an input's name   that input                  NAME_shape      its shape
    a parameter       as it was given             a residual      what the forward kept beside its output
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

KINDS = {
    "elementwise": "each entry of the output depends on one entry of each input; a rule is a local derivative",
    "linear": "all differentiable inputs together enter linearly; a rule is a transpose",
    "multilinear": "each differentiable input enters linearly; a rule is a transpose that holds the others fixed",
    "variadic": "any number of parts are joined; a rule returns one contribution per part",
    "general": "a rule says what upstream becomes; a composite's forward is its own decomposition",
    "non-differentiable": "the result carries no graph",
}
"""The kinds of operations, each with its promise."""


class Rule:
    """One gradient rule: the function, the inputs that it serves, and what it reads. A `mask` is computed in the
    forward, and saved under `INPUT_mask` in the place of what it reads."""

    __slots__ = ("function", "in_forward", "inputs", "op", "reads", "reason")

    conjugates = True
    """Whether, over complex numbers, the engine conjugates on both sides of the rule."""

    def __init__(self, op: Any, inputs: tuple[str, ...], function: FunctionType):
        code = function.__code__
        self.op, self.inputs, self.function = op, inputs, function
        self.reads: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        self.reason: str | None = function.__doc__
        self.in_forward: bool = getattr(function, "in_forward", False)

    @property
    def name(self) -> str:
        """As the record spells it: `matmul.a`, or `attention.query+key`."""
        return f"{self.op.name}.{'+'.join(self.inputs)}"

    @property
    def saves(self) -> tuple[str, ...]:
        """What is kept for the rule until the walk comes by."""
        if self.in_forward:
            return (f"{self.inputs[0]}_mask",)
        return tuple(name for name in self.reads if name not in ("xp", "upstream"))

    def __call__(self, named: dict[str, Any]) -> Any:
        """The rule, applied to what it reads."""
        return self.function(*[named[name] for name in self.reads])

    def __repr__(self) -> str:
        return f"<rule {self.name}({', '.join(self.reads)})>"


class Contribution:
    """What one input receives from one application, and how it came about. Shapes: `raw` has the output's or what the
    rule returned; `value` has the input's."""

    __slots__ = ("index", "local", "raw", "reads", "rule", "summed_axes", "value")

    def __init__(self, rule: Rule, index: int, local: Any, raw: Any, axes: tuple[int, ...], value: Any, reads: Any):
        self.rule, self.index, self.local, self.raw = rule, index, local, raw
        self.summed_axes, self.value, self.reads = axes, value, reads


def mask(function: Any) -> Any:
    """Mark a local derivative that is yes or no: it is computed in the forward, smaller than what it is made of."""
    function.in_forward = True
    return function


def real_only(forward: Any) -> Any:
    """Mark a forward that has no meaning for complex numbers, most often because there is no order between them, or
    no rule."""
    forward.real_only = True
    return forward


def keep_promise(rule: Rule) -> None:
    """Refuse a rule that reads what the kind of its operation forbids, or what nobody can give it."""
    op = rule.op
    known = {"xp", "upstream", "out", *op.inputs, *op.params, *op.residuals, *op.outputs}
    known |= {f"{name}_shape" for name in op.inputs}
    for name in rule.reads:
        if _is_forbidden(rule, name):
            promise = f"{op.name} is {op.kind}: {KINDS[op.kind]}"
            raise TypeError(f"the rule {rule.name} may not read {name!r}: {promise}")
        if name not in known:
            raise TypeError(f"the rule {rule.name} reads {name!r}; it may read {', '.join(sorted(known))}")


def _is_forbidden(rule: Rule, name: str) -> bool:
    """Whether the promise of the kind keeps a rule from reading something."""
    kind = rule.op.kind
    if kind == "elementwise":
        return name == "upstream"
    if kind in ("linear", "multilinear") and (name == "out" or name in rule.inputs):
        return True
    return kind == "linear" and rule.op.differentiable(name)
