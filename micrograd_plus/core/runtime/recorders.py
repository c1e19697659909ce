"""Recorders: objects that are notified of each application and each walk while their block is open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..modes import Block, recording
from ..rule import Contribution, Rule
from ..variable import Gradient, Node, Variable
from .guards import keep_parameter
from .hooks import nodes_with_hooks
from .listening import MutesAll, MutesOperations, listeners, open_blocks

OnStep = Callable[..., None]
"""Called with each step: the node, the contribution, the upstream, and the gradient before and after adding."""


class ForwardRule(Rule):
    """A rule as it is applied to tangents in forward mode. It can be run on symbols if it `has_formula`."""

    has_formula: bool


class Push(Contribution):
    """One step of forward mode: the tangent of one input adds `value` to the tangent of the node `receiver`."""

    __slots__ = ("receiver",)

    def __init__(self, *step: Any, receiver: Node):
        super().__init__(*step)
        self.receiver = receiver


class Recorder:
    """Base class of recorders. `with record_to(recorder): ...` notifies one, in this thread and task only."""

    looks_inside = False
    """Whether composites run as the operations that they are made of."""

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note that an operation was applied to `inputs`, whose arrays were `data`."""

    def begin_walk(
        self, root: Any, upstream: Gradient, can_replay: bool, held: dict[Any, Any], since: int = 0
    ) -> OnStep | None:
        """Note that a walk begins. Return a function to be called with each step, or None.

        `can_replay` says that the same walk can be repeated later from the saved values. `held` maps leaves to the
        gradients that they had before. Everything that the root was computed from was created at the number `since`
        or later.
        """
        return None

    def begin_push(self, result: Any, starts: Mapping[Any, Any]) -> OnStep | None:
        """Note that forward mode begins, with tangents by node. Return a function for its steps, or None."""
        return None

    def on_failure(self, error: Exception) -> None:
        """Note that an operation failed with an error, which the user may catch."""

    def on_walk_failure(self, root: Any, at: Any = None) -> None:
        """Note that the last walk from `root` ended in an error, at the node `at` if that is known."""

    def on_walk_rejection(self, root: Any) -> None:
        """Note that a walk from `root` was requested but could not begin."""

    def on_change(self, kind: str, subject: Any, before: Any, after: Any, by: Any = None) -> None:
        """Note a change of a value or a gradient outside of an operation.

        `kind` is "write" (the array of the variable `subject` is replaced), "lend" (it may be written into from now
        on), "become" (it becomes a result, as `p.grad *= 2` in a graph), "checkpoint" (the function of the checkpoint
        `subject` begins, and later ends with a result that has a graph), "gradient" (the `.grad` of the leaf's node
        `subject` is set; by the function `by`, if not by its setter), "read" (its `.grad` is the variable `after`) or
        "hook" (the hook `by` changed the gradient of a node). For three kinds `subject` is a list, each part with what
        it had before and has after: "accumulate" (nodes whose `.grad` a walk has added to), "gradients"
        (nodes, whose `.grad` one call has set), and "update" (parameters that the optimiser `by` has replaced in the
        group `before`).
        """

    def will_free(self, order: Sequence[Any]) -> None:
        """Note that what these nodes saved is about to be freed."""


def record_to(recorder: Recorder) -> Block:
    """Return a block that sends events to `recorder`. The recorder does not hold the block, so it always ends."""
    return Block(recording, (recorder,))


def mute_recorders() -> Block:
    """Return a block whose events no recorder outside it receives."""
    return Block(recording, MutesAll())


def mute_for_walk() -> Block:
    """Return a block for a walk that is watched: no recorder outside receives what its rules compute, but changes of
    values and gradients are still reported."""
    return Block(recording, MutesOperations())


def notify(op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
    """Notify the recorders of an application."""
    kept = {name: keep_parameter(value) for name, value in params.items()} if params else params
    blocks = open_blocks()
    token = blocks[0]() if len(blocks) == 1 else None  # as in `notify_change`
    for recorder in listeners() if token is None else token.value:
        recorder.on_apply(op, inputs, data, kept, result)


def notify_failure(error: Exception) -> Exception:
    """Notify the recorders that an operation failed, and return its error to be raised."""
    for recorder in listeners():
        recorder.on_failure(error)
    return error


def notify_free(order: Sequence[Node]) -> None:
    """Notify the recorders that what these nodes saved is about to be freed."""
    for recorder in listeners():
        recorder.will_free(order)


def observe_walk(
    root: Variable, upstream: Gradient, order: Sequence[Node], ends: Collection[Node], must_watch: bool
) -> OnStep | None:
    """Notify the recorders that a walk begins. Return a function for its steps if one wants to see them now."""
    leaves = [leaf for node in order for leaf in node.parents if leaf is not None and leaf.vjp is None]
    held = {leaf: leaf.grad for leaf in leaves if leaf.grad is not None}
    has_hooks = nodes_with_hooks and any(hasattr(node, "hooks") for node in order)
    ops: set[Any] = {getattr(node.vjp, "op", None) for node in order} - {None}
    can_replay = not (must_watch or has_hooks) and all(op.is_deterministic for op in ops)
    since = order[-1].created if order and not ends else 0
    return _call_all([recorder.begin_walk(root, upstream, can_replay, held, since) for recorder in listeners()])


def observe_push(result: Any, starts: Mapping[Any, Any]) -> OnStep | None:
    """Notify the recorders that forward mode begins. Return a function for its steps if one wants to see them."""
    return _call_all([recorder.begin_push(result, starts) for recorder in listeners()])


def notify_walk_failure(root: Any, at: Any = None) -> None:
    """Notify the recorders, from an except block, that its error ended a walk."""
    for recorder in listeners():
        recorder.on_walk_failure(root, at)


def notify_walk_rejection(root: Any) -> None:
    """Notify the recorders, from an except block, that its error kept a walk from beginning."""
    for recorder in listeners():
        recorder.on_walk_rejection(root)


def _call_all(observers: Sequence[OnStep | None]) -> OnStep | None:
    """Return one function that calls every observer; None if there is none."""
    watching = [on_step for on_step in observers if on_step is not None]

    def report(*step: Any) -> None:
        for on_step in watching:
            on_step(*step)

    return report if watching else None
