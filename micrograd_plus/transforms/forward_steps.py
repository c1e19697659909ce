"""Steps of forward mode for a recorder: how much the tangent of each input adds to the tangent of a result.

Forward mode pushes the tangents of all inputs of an application at once. A recording shows them one by one: each
tangent is pushed while the others are zero. The sum is the same, since forward mode is linear.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import ref

from ..backends import devices
from ..core.apply import Op
from ..core.runtime.recorders import ForwardRule, OnStep, Push
from ..core.variable import is_complex, namespace_of, shape_of
from ..tensor import Tensor


class PushedApplication(NamedTuple):
    """Application through which tangents are pushed; `arriving` has the tangent of each input, or None."""

    op: Op
    given: Sequence[Any]
    """The inputs, as the objects that the operation got; `nodes` are theirs at that time, and `data` their arrays."""
    nodes: Sequence[Any]
    data: Sequence[Any]
    params: dict[str, Any]
    results: Sequence[Any]
    arriving: Sequence[Any]

    @property
    def inputs(self) -> list[Any]:
        """The inputs as the operation got them, since `x += y` later makes the same object another result."""
        at_call = zip(self.given, self.nodes, self.data, strict=True)
        return [x if getattr(x, "node", None) is node else Tensor.of(array, node) for x, node, array in at_call]

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


def is_transposed(op: Op) -> bool:
    """Return True if tangents go through an operation by the transpose of its vjp, which is right for every operation.

    The others are pushed in a way that follows from their kind, or by a user's tangent rule.
    """
    return op.tangent_rule is None and (op.combines_as or op.kind) in ("general", "variadic")


def node_of(op: Op, results: Sequence[Any]) -> Any:
    """Return the node of the application that computed these results."""
    node = next(part.node for part in results if part.node is not None)
    return node.parents[0] if op.outputs else node


class PushRule(ForwardRule):
    """Forward rule for the tangent of one input.

    `function` is the source of the rule: the local derivative of an elementwise operation, the forward itself if it is
    linear in this input, a custom tangent rule, or else the gradient rule, which is transposed.
    """

    __slots__ = ("count", "has_formula", "output", "place", "to_real")

    def __init__(self, op: Op, place: int, count: int, output: int, to_real: bool):
        back = next(rule for rule in op.rules if op.kind == "variadic" or op.inputs[place] in rule.inputs)
        function: Any = op.forward
        if op.tangent_rule is not None:
            function = op.tangent_rule.function
        elif op.kind == "elementwise" or is_transposed(op):
            function = back.function
        super().__init__(op, (op.inputs[0 if op.kind == "variadic" else place],), function)
        self.place, self.count, self.output, self.to_real = place, count, output, to_real
        self.has_formula = not (to_real or is_transposed(op))
        if is_transposed(op):
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
        if op.kind == "elementwise" or is_transposed(op) or op.tangent_rule is not None:
            tangents = {f"{name}_tangent" for name in op.inputs}
            return tuple(name for name in self.reads if name not in {"xp", "upstream", "inside", *tangents})
        if op.kind == "variadic":
            return (*(() if op.combines_as == "join" else op.inputs), *op.params)
        others = [name for name in op.inputs if not (op.kind == "linear" and op.has_rule_for(name))]
        return (*(name for name in others if name != op.inputs[self.place]), *op.params)

    def __call__(self, named: dict[str, Any]) -> Any:
        """Return the result of the rule; for an elementwise operation, the local derivative."""
        op = self.op
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
        if op.combines_as == "join":
            return [[*zeros_in_formula(self.place), named["upstream"], *zeros_in_formula(self.count - self.place - 1)]]
        if op.kind == "variadic":
            return [[named["upstream"] if i == self.place else x for i, x in enumerate(named[op.inputs[0]])]]
        held = [named[name] if name in self.needs else 0 for name in op.inputs]
        return [named["upstream"] if i == self.place else x for i, x in enumerate(held)]


def zeros_in_formula(count: int) -> list[Any]:
    """Return zeros, with an ellipsis in place of all but the outer ones if there are more than three."""
    return [0] * count if count <= 3 else [0, ..., 0]


class JoinPush:
    """Push of one part's tangent at a time through an operation that joins its parts.

    Most entries that one part contributes are zeros, so n parts would need n arrays of n entries, and as many for the
    running total. This object keeps two arrays: all tangents joined, and which part each entry comes from. The rest
    is computed when someone looks at a step.
    """

    def __init__(self, application: PushedApplication):
        op, result = application.op, application.results[0]._data
        xp, library = namespace_of(result), devices.device_of(result).library
        tangents = [
            devices.zeros_like(part) if tangent is None else tangent
            for part, tangent in zip(application.data, application.arriving, strict=True)
        ]
        places = [library.full(shape_of(part), place) for place, part in enumerate(application.data)]
        self.joined = op.compute(xp, tangents, application.params)[0].astype(result.dtype, copy=False)
        self.places = op.compute(xp, places, application.params)[0]

    def __call__(self, place: int) -> Sequence[Any]:
        """Return what the tangent of one part contributes to the tangent of the result."""
        return (PartOfJoin(self, place, place),)


class PartOfJoin:
    """Tangent of a join if only the parts from `first` to `last` move; the array is made when someone looks at it."""

    __slots__ = ("_made", "dtype", "first", "last", "ndim", "push", "shape")

    def __init__(self, push: JoinPush, first: int, last: int):
        self.push, self.first, self.last = push, first, last
        self.shape, self.ndim, self.dtype = push.joined.shape, push.joined.ndim, push.joined.dtype
        self._made: Any = None

    def __add__(self, later: PartOfJoin) -> PartOfJoin:
        """Return the tangent if the parts of another one move too, which come later."""
        return PartOfJoin(self.push, self.first, later.last)

    @property
    def _data(self) -> Any:
        """The array: the same one for as long as someone holds it."""
        made = None if self._made is None else self._made()
        if made is None:
            joined, places = self.push.joined, self.push.places
            made, moving = devices.zeros_like(joined), (self.first <= places) & (places <= self.last)
            made[moving] = joined[moving]
            if self.first != self.last:
                made += 0  # a sum with zeros has no -0
            self._made = ref(made)
        return made


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
