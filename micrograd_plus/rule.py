"""Rules: one gradient rule for one input (or for several that share their work), and what applying it gives."""

from __future__ import annotations

from types import FunctionType
from typing import Any


class _Required:
    """In the place of a default: the parameter must be given."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()

KINDS = {
    "elementwise": "each entry of the output depends on one entry of each input; a rule is a local derivative",
    "linear": "all differentiable inputs together enter linearly; a rule is a transpose",
    "multilinear": "each differentiable input enters linearly; a rule is a transpose that holds the others fixed",
    "joining": "any number of parts are joined; a rule returns one contribution per part",
    "general": "a rule says what upstream becomes; a composite's forward is its own decomposition",
    "constant": "the result carries no graph",
}


TAKE_NUMBERS = ("elementwise", "linear", "constant")
"""Kinds in which a Python number beside an array stays a number, and so takes the array's dtype and device."""


class Rule:
    """One gradient rule: the function, the inputs that it serves, and what it reads. A `mask` is taken as the operation
    is applied, and saved under `INPUT_mask` in the place of what it reads."""

    __slots__ = ("at_once", "function", "inputs", "op", "reads", "reason")

    def __init__(self, op: Any, inputs: tuple[str, ...], function: FunctionType):
        code = function.__code__
        self.op, self.inputs, self.function = op, inputs, function
        self.reads: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        self.reason: str | None = function.__doc__
        self.at_once: bool = getattr(function, "at_once", False)

    @property
    def name(self) -> str:
        """As the record spells it: `matmul.a`, or `attention.query+key`."""
        return f"{self.op.name}.{'+'.join(self.inputs)}"

    @property
    def saves(self) -> tuple[str, ...]:
        """What is kept for the rule until the walk comes by."""
        if self.at_once:
            return (f"{self.inputs[0]}_mask",)
        return tuple(name for name in self.reads if name not in ("xp", "upstream"))

    def __call__(self, named: dict[str, Any]) -> Any:
        """The rule, applied to what it reads."""
        return self.function(*[named[name] for name in self.reads])

    def __repr__(self) -> str:
        return f"<rule {self.name}({', '.join(self.reads)})>"


def mask(function: Any) -> Any:
    """Mark a local derivative that is yes or no: it is taken at once, being smaller than what it is made from."""
    function.at_once = True
    return function


def real_only(forward: Any) -> Any:
    """Mark a forward that has no meaning for complex numbers, most often because there is no order between them, or
    no rule."""
    forward.real_only = True
    return forward


class Contribution:
    """What one input receives from one application, and how it came about. Shapes: `raw` has the output's or what the
    rule sent; `value` has the input's."""

    __slots__ = ("index", "local", "raw", "reads", "rule", "summed_axes", "value")

    def __init__(self, rule: Rule, index: int, local: Any, raw: Any, axes: tuple[int, ...], value: Any, reads: Any):
        self.rule, self.index, self.local, self.raw = rule, index, local, raw
        self.summed_axes, self.value, self.reads = axes, value, reads
