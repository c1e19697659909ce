"""Composites: operations whose forward is made of other operations, and whose gradient is the chain rule.

    @composite
    def residual_layer_norm(xp, x, residual, weight=None, bias=None, *, axes=1, eps=1e-5):
        return xp.layer_norm(x + residual, weight, bias, axes=axes, eps=eps)

A composite is one application: one node, and one step for each input. Its formula is written once, as its forward, and
a trace can open the step to show the operations inside.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from ..backends import tensors
from .apply import Op, any_requires_grad, as_operand, make_node
from .backward import NO_BLOCK, walk_from
from .define import register
from .modes import recording, unfused
from .rule import Rule
from .runtime.listening import listeners
from .runtime.ownership import snapshot
from .runtime.recorders import mute_recorders, notify
from .variable import Node, Variable


def composite(forward: Any = None, *, public: bool = True) -> Any:
    """Define an operation by a forward that is made of other operations; it needs no rule.

    The operation is one step in the walk, and its gradient is the chain rule along its forward. Over an operation that
    has rules, the decorator allows `unfuse` to run the forward instead.

    Args:
        forward: the function forward(xp, inputs, *, parameters), or an operation.
        public: whether users call it; False for a step that only other operations need.
    Returns: the public function; without `forward`, a decorator.
    Raises: TypeError if `forward` is not a function.
    Example:
        >>> @mg.composite
        ... def distance(xp, a, b):
        ...     return xp.sqrt(xp.sum(xp.square(a - b)))
        >>> a = mg.tensor([3.0, 4.0], requires_grad=True)
        >>> with mg.record() as trace:
        ...     distance(a, [0.0, 0.0]).backward()
        >>> [step.rule for step in trace], [step.rule for step in trace.inside(0)][:2]
        (['distance.a'], ['sqrt.x', 'sum.x'])

    See: `torch.autograd.Function`, whose backward is written by hand.
    """
    if forward is None:
        return lambda forward: composite(forward, public=public)
    if isinstance(getattr(forward, "op", None), Op):
        forward.op.composite = True
        return forward
    return register(Composite(forward), public=public)


class Inside:
    """Saved value of a composite: the node where its forward ended, and the node of each input inside it."""

    __slots__ = ("end", "entrances")

    def __init__(self, end: Node, entrances: Sequence[Node | None]):
        self.end, self.entrances = end, entrances


class ChainRule(Rule):
    """The rule of a composite, for all its inputs at once."""

    conjugates = False  # the operations inside do

    def __init__(self, op: Op):
        self.op, self.inputs, self.function = op, op.inputs, op.forward
        self.reads, self.in_forward = ("xp", "upstream", "inside"), False
        self.reason = (
            "No rule of its own: by the chain rule, a walk goes back through the operations that this one is made of, "
            "and adds up what arrives at each input."
        )

    def __call__(self, values: dict[str, Any]) -> Any:
        """Return what arrives at each input: None for an input without a gradient, zeros if nothing arrives."""
        xp, upstream, inside = values["xp"], values["upstream"], values["inside"]
        if not hasattr(upstream, "dtype"):
            raws = [xp.through(upstream, self.op.name, name) for name in self.inputs]
            return tuple(raws) if len(raws) > 1 else raws[0]
        ends = [node for node in inside.entrances if node is not None]
        arrived = walk_from([(inside.end, upstream)], xp, ends=ends)
        for node in ends:
            if node not in arrived:
                arrived[node] = xp.new_zeros(upstream, *node.shape_dtype)
        raws = [None if node is None else arrived[node] for node in inside.entrances]
        return tuple(raws) if len(raws) > 1 else raws[0]


class Composite(Op):
    """Operation whose gradient is the chain rule. If an input needs a gradient, its forward runs on tensors."""

    composite = True  # pyright: ignore[reportAssignmentType] - other operations compute it

    def __init__(self, forward: FunctionType):
        super().__init__(forward, "general")
        self.rules = [ChainRule(self)]

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Raise TypeError: a composite already has the chain rule."""
        raise TypeError(
            f"{self.name} is a composite, whose rule is the chain rule; to write a rule, define it with @mg.op"
        )

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """The names that a node saves."""
        return ("inside",)

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation."""
        inputs, bound = self.bind(args, params)
        if not any_requires_grad(inputs) or (unfused.open and unfused()):
            return super().apply(*args, **params)
        operands = [as_operand(self, x, name, True) for x, name in zip(inputs, self.inputs, strict=True)]
        if recording.open and any(each.looks_inside for each in listeners()):
            return self.run_forward(tensors, operands, bound)
        data = [None if value is None else snapshot(value) for value in operands]
        nodes = [None if value is None else value.node for value in operands]
        inner = [x if n is None else as_inner_input(x) for x, n in zip(operands, nodes, strict=True)]
        with mute_recorders() if recording.open else NO_BLOCK:
            out = self.run_forward(tensors, inner, bound)
        result = out
        if out.node is not None:
            entrances = [None if n is None else x.node for x, n in zip(inner, nodes, strict=True)]
            node = make_node(self.vjp, nodes, (Inside(out.node, entrances),), out._data)
            result = Variable.public.of(out._data, node)
        notify(self, operands, data, bound, result)
        return result


def as_inner_input(x: Variable) -> Variable:
    """Return an input as the forward sees it: the same entries with another node.

    A tensor that is passed twice so has two nodes inside, and each receives only its own gradient.
    """
    return tensors.reshape(x, x._data.shape)
