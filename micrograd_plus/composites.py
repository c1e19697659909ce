"""Composites: operations that are made of others, and whose way back is the chain rule along their own forward.

    @composite
    def residual_layer_norm(xp, x, residual, weight=None, bias=None, *, axes=1, eps=1e-5):
        return xp.layer_norm(x + residual, weight, bias, axes=axes, eps=eps)

Such an operation is one application: one node, and one step for each input. Its formula is written once, as its
forward; who wants to see what happens inside steps in.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from . import variable
from .apart import walk_apart
from .application import Op, admit, any_wants_gradient, result
from .op import register
from .readings import vocabulary
from .rule import Rule
from .variable import Node, Variable, holding


def composite(made: Any) -> Any:
    """A decorator for the forward of an operation that is made of others and has no rule of its own: one step in the
    walk. Over an operation that has rules, it says that `unfuse` may run the forward instead.

    >>> import micrograd_plus as mg
    >>> @mg.composite
    ... def distance(xp, a, b):
    ...     return xp.sqrt(xp.sum(xp.square(a - b)))
    >>> a = mg.tensor([3.0, 4.0], requires_grad=True)
    >>> with mg.record() as trace:
    ...     distance(a, [0.0, 0.0]).backward()
    >>> [step.rule for step in trace], [step.rule for step in trace.inside(0)][:2]
    (['distance.a'], ['sqrt.x', 'sum.x'])
    """
    if isinstance(getattr(made, "op", None), Op):
        made.op.composite = True
        return made
    return register(Composite(made))


class Inside:
    """What a composite keeps for its rule: where its forward ended, and where each input came in."""

    __slots__ = ("end", "entrances")

    def __init__(self, end: Node, entrances: Sequence[Node | None]):
        self.end, self.entrances = end, entrances


class ChainRule(Rule):
    """The rule of a composite, for all its inputs at once."""

    def __init__(self, op: Op):
        self.op, self.inputs, self.function = op, op.inputs, op.forward
        self.reads, self.at_once = ("xp", "upstream", "inside"), False
        self.reason = "The chain rule: back through the operations that this one is made of, one after the other."

    def __call__(self, named: dict[str, Any]) -> Any:
        """What arrives at each entrance; None where nothing comes in, zeros where nothing came back."""
        xp, upstream, inside = named["xp"], named["upstream"], named["inside"]
        if not hasattr(upstream, "dtype"):
            sent = [upstream * xp.derivative(self.op.name, name) for name in self.inputs]
            return tuple(sent) if len(sent) > 1 else sent[0]
        ends = {node for node in inside.entrances if node is not None}
        differentiable = isinstance(upstream, Variable)
        received = walk_apart([(inside.end, upstream)], ends.__contains__, differentiable=differentiable)
        sent = []
        for node in inside.entrances:
            if node is not None and node not in received:
                received[node] = xp.zeros_beside(upstream, *node.like)
            sent.append(None if node is None else received[node])
        return tuple(sent) if len(sent) > 1 else sent[0]


class Composite(Op):
    """An operation whose way back is the chain rule. Where a gradient is wanted, its forward runs on tensors."""

    def __init__(self, forward: FunctionType):
        super().__init__(forward, "general")
        self.composite, self.may_be_written_out = True, False
        self.rules = [ChainRule(self)]

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Refuse a rule: the chain rule is there already."""
        raise TypeError(f"{self.name} is a composite: its rule is the chain rule; to give it another, define it by @op")

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """What a node saves, by name."""
        return ("inside",)

    def _sent(self, rule: Rule, places: list[int], xp: Any, named: dict[str, Any]) -> Sequence[Any]:
        """What the rule sends. Over complex numbers the operations inside have conjugated already."""
        sent = rule(named)
        return sent if len(places) > 1 else (sent,)

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation."""
        inputs, bound = self.bind(args, params)
        if variable.unfusing.get() or not any_wants_gradient(inputs):
            return super().apply(*args, **params)
        given = [admit(value, self, name) for value, name in zip(inputs, self.inputs, strict=True)]
        if any(each.looks_inside for each in variable.recorders.get()):
            return self.read(vocabulary.tensors, given, bound)
        data = [None if value is None else variable.settled(value) for value in given]
        nodes = [None if value is None else value.node for value in given]
        seen = [x if n is None else as_seen_from_inside(x) for x, n in zip(given, nodes, strict=True)]
        with holding(variable.recorders, ()):
            out = self.read(vocabulary.tensors, seen, bound)
        node = None
        if out.node is not None:
            node = Node()
            node.pull, node.parents = self.pull_by_name, tuple(nodes)
            node.serial, node.accumulator = variable.birth(), None
            entrances = [None if n is None else x.node for x, n in zip(seen, nodes, strict=True)]
            node.saved, node.like = (Inside(out.node, entrances),), out.node.like
        whole = result(out._data, node)
        variable.tell(self, given, data, bound, whole)
        return whole


def as_seen_from_inside(x: Variable) -> Variable:
    """An input where the forward begins: the same entries, under a node of its own. So one tensor that is given twice
    comes in, and is sent its gradients, at two places."""
    return vocabulary.tensors.reshape(x, x._data.shape)
