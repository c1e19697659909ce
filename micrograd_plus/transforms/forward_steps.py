"""A forward walk step by step, for whoever records it: what the tangent of each input adds to that of a result.

Tangents are pushed through an application all at once where that is possible. A record tells them apart: each input
that moves is pushed by itself while the others rest, which comes to the same sum, since a way forward is linear.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.apply import Op
from ..core.runtime.recorders import ForwardRule, OnStep, Push
from ..core.variable import is_complex, namespace_of
from ..formulas import symbols


class Moved(NamedTuple):
    """One application through which tangents are pushed, on arrays; `arriving` has those of its inputs, None for one
    that rests."""

    op: Op
    data: Sequence[Any]
    params: dict[str, Any]
    results: Sequence[Any]
    arriving: Sequence[Any]

    @property
    def node(self) -> Any:
        """The node of the application."""
        return node_of(self.op, self.results)

    @property
    def named(self) -> dict[str, Any]:
        """What a rule may read."""
        results = [part._data for part in self.results]
        out = tuple(results) if self.op.outputs else results[0]
        return self.op.values_by_name(list(self.data), self.params, out, ())


def node_of(op: Op, results: Sequence[Any]) -> Any:
    """The node of the application that gave these results."""
    node = next(part.node for part in results if part.node is not None)
    return node.parents[0] if op.outputs else node


class PushRule(ForwardRule):
    """How the tangent of one input goes forward. `function` is where that is written: the local derivative of an
    elementwise operation, the forward itself of one that is linear in this input, the tangent rule of somebody's own;
    else the gradient rule, whose transpose is the way forward."""

    __slots__ = ("count", "output", "place", "to_real")

    def __init__(self, op: Op, place: int, count: int, output: int, to_real: bool):
        back = next(rule for rule in op.rules if op.kind == "variadic" or op.inputs[place] in rule.inputs)
        function: Any = op.forward
        if op.tangent_rule is not None:
            function = op.tangent_rule.function
        elif op.kind in ("elementwise", "general"):
            function = back.function
        super().__init__(op, (op.inputs[0 if op.kind == "variadic" else place],), function)
        self.place, self.count, self.output, self.to_real = place, count, output, to_real
        if op.tangent_rule is None and op.kind == "general":
            self.reason = "The transpose of the way back, which this rule says."

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PushRule) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.op, self.function, self.place, self.count, self.output, self.to_real

    @property
    def needs(self) -> tuple[str, ...]:
        """What is read beside the tangent, by name."""
        op = self.op
        if op.kind in ("elementwise", "general") or op.tangent_rule is not None:
            tangents = {f"{name}_tangent" for name in op.inputs}
            return tuple(name for name in self.reads if name not in {"xp", "upstream", "inside", *tangents})
        if op.kind == "variadic":
            return (*(() if self._others_rest else op.inputs), *op.params)
        others = [name for name in op.inputs if not (op.kind == "linear" and op.has_rule_for(name))]
        return (*(name for name in others if name != op.inputs[self.place]), *op.params)

    @property
    def _others_rest(self) -> bool:
        """Whether the parts of a variadic operation enter linearly together, so that the others are zeros here."""
        return self.op.inputs[0] not in self.op.rules[0].reads

    def __call__(self, named: dict[str, Any]) -> Any:
        """What is sent forward; of an elementwise operation the local derivative."""
        op = self.op
        if named["xp"] is symbols and (self.to_real or (op.kind == "general" and op.tangent_rule is None)):
            raise TypeError(f"the way forward through {op.name} has no formula of its own")
        if op.tangent_rule is not None:
            still = {f"{name}_tangent": 0 for name in op.inputs} | {f"{self.inputs[0]}_tangent": named["upstream"]}
            sent = super().__call__({**named, **still})
        elif op.kind == "elementwise":
            return super().__call__(named)
        else:
            params = {name: named[name] for name in op.params}
            sent = op.forward(named["xp"], *self._moving(named), **params)
        return sent[self.output] if op.outputs else sent

    def _moving(self, named: dict[str, Any]) -> list[Any]:
        """The arguments of the forward: the tangent, beside inputs that are held fixed or rest."""
        op = self.op
        if op.kind == "variadic":
            parts = [0] * self.count if self._others_rest else named[op.inputs[0]]
            return [[named["upstream"] if i == self.place else x for i, x in enumerate(parts)]]
        held = [named[name] if name in self.needs else 0 for name in op.inputs]
        return [named["upstream"] if i == self.place else x for i, x in enumerate(held)]


def report(application: Moved, alone: Callable[[int], Sequence[Any]], on_step: OnStep) -> None:
    """Report what each input that moves adds. `alone` pushes the tangent of one input, the others at rest."""
    op, named = application.op, application.named
    after: list[Any] = [None] * len(application.results)
    for place, tangent in enumerate(application.arriving):
        if tangent is None:
            continue
        for output, (part, sent) in enumerate(zip(application.results, alone(place), strict=True)):
            if part.node is None or sent is None:
                continue
            to_real = is_complex(tangent) and not is_complex(part)
            rule = PushRule(op, place, len(application.arriving), output, to_real)
            local, raw = None, sent
            if op.kind == "elementwise":
                local = rule({**named, "xp": namespace_of(part._data)})
                raw = sent if to_real else tangent * local
            reads = {name: named[name] for name in rule.needs if name in named}
            step, before = Push(rule, place, local, raw, (), sent, reads, receiver=part.node), after[output]
            after[output] = sent if before is None else before + sent
            on_step(application.node, step, tangent, before, after[output])
