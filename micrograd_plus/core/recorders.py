"""Recorders: who is notified of each application and of each walk, while their block is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .blocks import Block
from .modes import recording
from .rule import Contribution, Rule
from .variable import Gradient, Node, Variable

OnStep = Callable[..., None]
"""Called with each step: the node, the contribution, the upstream, and what had arrived before and after."""


class ForwardRule(Rule):
    """A rule as it is applied to tangents, on the way forward."""


class Push(Contribution):
    """A step on the way forward, as it is reported: what the tangent of one input adds to that of a result, whose node
    is the `receiver`."""

    __slots__ = ("receiver",)

    def __init__(self, *step: Any, receiver: Node):
        super().__init__(*step)
        self.receiver = receiver


class Recorder:
    """Who is notified of what happens in a block: `with recorded_by(recorder): ...`, in this thread and task alone."""

    looks_inside = False
    """Whether composites are to run as the operations that they are made of."""

    def applied(self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        """An operation was applied to `inputs`, whose arrays were `data`."""

    def begin_walk(
        self, root: Any, upstream: Gradient, can_replay: bool, held: dict[Any, Any] | None = None
    ) -> OnStep | None:
        """A walk begins. Who wants its steps now returns a function that is called with each; `can_replay` says that
        the same walk can also be had later, from what the nodes saved. `held` is what the ends of the walk had before,
        where it is not there to be seen while the walk goes on."""
        return None

    def begin_push(self, result: Any, starts: Mapping[Any, Any]) -> OnStep | None:
        """Tangents are about to be pushed forward to a result. `starts` has those that they begin with, by their nodes.
        Who wants the steps returns a function that is called with each."""
        return None

    def failed_application(self, error: Exception) -> None:
        """An operation failed with an error, which its user may catch."""

    def walk_failed(self, root: Any, at: Any = None) -> None:
        """The walk that began last at `root` has ended in an error, at a node where that is known."""

    def walk_rejected(self, root: Any) -> None:
        """A walk from `root` was asked for, and could not begin."""

    def will_free(self, order: Sequence[Any]) -> None:
        """What these nodes saved is about to be freed."""


def recorded_by(recorder: Recorder) -> Block:
    """A block of which a recorder hears. It does not hold the block, which ends however it is left."""
    return Block(recording, recorder)


def muted() -> Block:
    """A block of which no recorder outside it hears."""
    return Block(recording, MUTED)


MUTED = Recorder()


def recorders() -> list[Recorder]:
    """Who records here: the open recorders inside the innermost `muted()` block, the outermost first."""
    found: list[Recorder] = recording.all()
    while MUTED in found:
        del found[: found.index(MUTED) + 1]
    return found


def notify(op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
    """Notify this thread's recorders of an application."""
    for recorder in recorders():
        recorder.applied(op, inputs, data, params, result)


def notify_failure(error: Exception) -> Exception:
    """Notify this thread's recorders that an operation failed. Its error comes back, to be raised."""
    for recorder in recorders():
        recorder.failed_application(error)
    return error


def reported_to(root: Variable, upstream: Gradient, order: Sequence[Node], must_be_seen: bool) -> OnStep | None:
    """The recorders that want to see a walk as it happens; none, if they can have the same walk later."""
    plain = all(node.op is None or node.op.may_be_repeated for node in order)
    can_replay = plain and not must_be_seen and not any(hasattr(node, "hooks") for node in order)
    return _all_of([recorder.begin_walk(root, upstream, can_replay) for recorder in recorders()])


def pushed_for(result: Any, starts: Mapping[Any, Any]) -> OnStep | None:
    """The recorders that want to see how tangents are pushed forward."""
    return _all_of([recorder.begin_push(result, starts) for recorder in recorders()])


def walk_failed(root: Any, at: Any = None) -> None:
    """Notify this thread's recorders, where an error is handled, of the walk that it has ended."""
    for recorder in recorders():
        recorder.walk_failed(root, at)


def walk_rejected(root: Any) -> None:
    """Notify this thread's recorders, where an error is handled, of the walk that it has kept from beginning."""
    for recorder in recorders():
        recorder.walk_rejected(root)


def _all_of(begun: Sequence[OnStep | None]) -> OnStep | None:
    """One function that calls each of those that there are."""
    watching = [on_step for on_step in begun if on_step is not None]

    def report(*step: Any) -> None:
        for on_step in watching:
            on_step(*step)

    return report if watching else None
