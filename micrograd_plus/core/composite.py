"""Composites: operations that are made of others, and whose way back is the chain rule along their own forward.

    @composite
    def residual_layer_norm(xp, x, residual, weight=None, bias=None, *, axes=1, eps=1e-5):
        return xp.layer_norm(x + residual, weight, bias, axes=axes, eps=eps)

Such an operation is one application: one node, and one step for each input. Its formula is written once, as its
forward; who wants to see what happens inside steps in.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from types import FunctionType
from typing import Any

from ..backends import tensors
from .backward import walk_between
from .define import register
from .modes import recording, unfused
from .operation import Op, make_node
from .ownership import snapshot
from .recorders import muted, notify, recorders
from .rule import Rule
from .values import any_wants_gradient, variable_of
from .variable import Node, Variable


def composite(made: Any = None, *, public: bool = True) -> Any:
    """A decorator for the forward of an operation that is made of others and has no rule of its own.

    The operation is one step in the walk, and its way back is the chain rule along its forward. Over an operation that
    has rules, the decorator says that `unfuse` may run the forward instead.

    Args:
        made: the function forward(xp, inputs, *, parameters), or an operation.
        public: whether users call it; False for a step that only other operations need.
    Returns: the public function; without `made`, a decorator.
    Raises: TypeError where `made` is no function.
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
    if made is None:
        return lambda forward: composite(forward, public=public)
    if isinstance(getattr(made, "op", None), Op):
        made.op.composite = True
        return made
    return register(Composite(made), public=public)


class Inside:
    """What a composite saves for its rule: where its forward ended, and where each input came in."""

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

    def __call__(self, named: dict[str, Any]) -> Any:
        """What arrives at each entrance; None where nothing comes in, zeros where nothing came back."""
        xp, upstream, inside = named["xp"], named["upstream"], named["inside"]
        if not hasattr(upstream, "dtype"):
            sent = [xp.through(upstream, self.op.name, name) for name in self.inputs]
            return tuple(sent) if len(sent) > 1 else sent[0]
        ends = [node for node in inside.entrances if node is not None]
        arrived = walk_between([(inside.end, upstream)], xp, ends=ends)
        for node in ends:
            if node not in arrived:
                arrived[node] = xp.new_zeros(upstream, *node.shape_dtype)
        sent = [None if node is None else arrived[node] for node in inside.entrances]
        return tuple(sent) if len(sent) > 1 else sent[0]


class Composite(Op):
    """An operation whose way back is the chain rule. Where a gradient is wanted, its forward runs on tensors."""

    composite = True  # pyright: ignore[reportAssignmentType] - what others find out about themselves is known here

    def __init__(self, forward: FunctionType):
        super().__init__(forward, "general")
        self.rules = [ChainRule(self)]

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Refuse a rule: the chain rule is there already."""
        raise TypeError(f"{self.name} is a composite: its rule is the chain rule; to give it another, define it by @op")

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """What a node saves, by name."""
        return ("inside",)

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation."""
        inputs, bound = self.bind(args, params)
        if not any_wants_gradient(inputs) or (unfused.open and unfused()):
            return super().apply(*args, **params)
        named = zip(inputs, self.inputs, strict=True)
        flat = [variable_of(self, value, name, numbers_only=True) for value, name in named]
        if recording.open and any(each.looks_inside for each in recorders()):
            return self.read(tensors, flat, bound)
        data = [None if value is None else snapshot(value) for value in flat]
        nodes = [None if value is None else value.node for value in flat]
        seen = [x if n is None else as_seen_from_inside(x) for x, n in zip(flat, nodes, strict=True)]
        with muted() if recording.open else NOTHING:
            out = self.read(tensors, seen, bound)
        result = out
        if out.node is not None:
            entrances = [None if n is None else x.node for x, n in zip(seen, nodes, strict=True)]
            node = make_node(self.vjp, nodes, (Inside(out.node, entrances),), out._data)
            result = Variable.public.of(out._data, node)
        notify(self, flat, data, bound, result)
        return result


NOTHING: Any = nullcontext()


def as_seen_from_inside(x: Variable) -> Variable:
    """An input where the forward begins: the same entries, under a node of its own. So one tensor that is given twice
    comes in, and is sent its gradients, at two places."""
    return tensors.reshape(x, x._data.shape)
