"""Steps of forward mode for a recorder: how much the tangent of each input adds to the tangent of a result.

Forward mode pushes the tangents of all inputs of an application at once. A recording shows them one by one: each
tangent is pushed while the others are zero. The sum is the same, since forward mode is linear.
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


class PushedApplication(NamedTuple):
    """Application through which tangents are pushed, as arrays; `arriving` has the tangent of each input, or None."""

    op: Op
    data: Sequence[Any]
    params: dict[str, Any]
    results: Sequence[Any]
    arriving: Sequence[Any]

    @property
    def node(self) -> Any:
        """Node of the application."""
        return node_of(self.op, self.results)

    @property
    def rule_values(self) -> dict[str, Any]:
        """Return the values that a rule may read, by name."""
        results = [part._data for part in self.results]
        out = tuple(results) if self.op.outputs else results[0]
        return self.op.values_by_name(list(self.data), self.params, out, ())


def node_of(op: Op, results: Sequence[Any]) -> Any:
    """Return the node of the application that computed these results."""
    node = next(part.node for part in results if part.node is not None)
    return node.parents[0] if op.outputs else node


class PushRule(ForwardRule):
    """Forward rule for the tangent of one input.

    `function` is the source of the rule: the local derivative of an elementwise operation, the forward itself if it is
    linear in this input, a custom tangent rule, or else the gradient rule, which is transposed."""

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
        """Names of the values that the rule reads besides the tangent."""
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
        """Whether a variadic operation is linear in all parts together, so that the other parts are set to zero."""
        return self.op.inputs[0] not in self.op.rules[0].reads

    def __call__(self, named: dict[str, Any]) -> Any:
        """Return the result of the rule; for an elementwise operation, the local derivative."""
        op = self.op
        if named["xp"] is symbols and (self.to_real or (op.kind == "general" and op.tangent_rule is None)):
            raise TypeError(f"the way forward through {op.name} has no formula")
        if op.tangent_rule is not None:
            still = {f"{name}_tangent": 0 for name in op.inputs} | {f"{self.inputs[0]}_tangent": named["upstream"]}
            sent = super().__call__({**named, **still})
        elif op.kind == "elementwise":
            return super().__call__(named)
        else:
            params = {name: named[name] for name in op.params}
            sent = op.forward(named["xp"], *self._forward_arguments(named), **params)
        return sent[self.output] if op.outputs else sent

    def _forward_arguments(self, named: dict[str, Any]) -> list[Any]:
        """Return the arguments of the forward: the tangent, and the other inputs, fixed or zero."""
        op = self.op
        if op.kind == "variadic":
            parts = [0] * self.count if self._others_rest else named[op.inputs[0]]
            return [[named["upstream"] if i == self.place else x for i, x in enumerate(parts)]]
        held = [named[name] if name in self.needs else 0 for name in op.inputs]
        return [named["upstream"] if i == self.place else x for i, x in enumerate(held)]


def report(application: PushedApplication, push_one: Callable[[int], Sequence[Any]], on_step: OnStep) -> None:
    """Report how much each input's tangent adds. `push_one` pushes one tangent, with zeros for the others."""
    op, named = application.op, application.rule_values
    after: list[Any] = [None] * len(application.results)
    for place, tangent in enumerate(application.arriving):
        if tangent is None:
            continue
        for output, (part, sent) in enumerate(zip(application.results, push_one(place), strict=True)):
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
