"""Journal of a trace: everything that happened to its values and gradients, in order.

Runs of computed nodes and of steps come from the applications and walks of the record, all other entries from the
recorder's notes of changes. While the journal is made, it follows the value and the gradient of each leaf, so the
values, gradients and walks of the trace say what the journal says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ..core.backward import Part
from .changes import Change, name_clipping
from .checkpoints import CHECKPOINT, Checkpoints, Span
from .events import AppliedRule, is_leaf
from .groups import Groups
from .history import History
from .labels import ProgramNames
from .outline import Outline
from .parts import JournalEntry
from .recorder import RecordedForwardWalk, RecordedWalk
from .sites import ENTERS, Site, site_at
from .values import array_of, has_same_entries, np

SYMBOLS = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__ipow__": "**=", "__imod__": "%=",
    "__setitem__": "[...] =", "data": ".data", "grad": ".grad =",
}  # fmt: skip
"""How a program writes the engine's functions that change an array."""
CLIPS = ("clip_grad_norm_", "clip_grad_value_")
SCALES = ("*=", "/=", "mul_", "div_")


class LeafState(NamedTuple):
    """A leaf in one walk: its value, its `.grad` before, what the walk brought, and its `.grad` after."""

    value: Any
    before: Any
    received: Any
    after: Any


class Journal:
    """The entries of the journal, the leaves of each walk, and the final gradients."""

    def __init__(self, history: History, outline: Outline, groups: Groups, names: ProgramNames):
        self.history, self.outline, self.groups, self.names = history, outline, groups, names
        self.entries: list[JournalEntry] = []
        self.leaves: list[dict[int, LeafState]] = []
        self._values: dict[int, Any] = {}
        self._gradients: dict[int, Any] = {}
        self._changed: set[int] = set()
        self._returned: dict[int, Any] = {}
        self._arrived: dict[int, dict[int, Any]] = {}
        self._computed = self._stepped = 0
        self.ends: list[int] = []
        """How many entries there are after each change."""
        self._known = [*accumulate((-1 if at is None else at for at in outline.position_of_node), max)]
        """The latest position of the nodes up to each one."""
        self._changes = history.recorder.changes
        self._checkpoints = Checkpoints(outline, self._changes)
        self._second_runs: deque[tuple[int, Span | int]] = deque()
        """Second runs of checkpoints in a walk: the number of the next step, and the span. If only the walk is
        recorded, the node of the checkpoint instead."""
        self._unannounced = self._find_unannounced_writes()
        self._note_first_states()
        self._results = {node for node in self._gradients if not is_leaf(outline.keys[node])}
        """Results whose gradient the program changes."""
        self._read()

    @property
    def gradients(self) -> dict[int, Any]:
        """The final `.grad` of each leaf that a walk reached or that changed, by node. For a leaf whose `.grad` never
        changed, it is what the last walk returned."""
        returned = {node: gradient for node, gradient in self._returned.items() if node not in self._changed}
        return dict(sorted((self._gradients | returned).items()))

    # Reading the record -----------------------------------

    def _note_first_states(self) -> None:
        """Note the value and the gradient that each leaf had before its first change."""
        recorder, later = self.history.recorder, [*self.history.walks]
        self._note_gradients(recorder.kept_gradients)
        for change in reversed(self._changes):
            while len(later) > change.walk:
                self._note_begin(later.pop())
            node = self._node(change)
            if node is not None and change.kind != "hook":
                (self._values if change.of == "value" else self._gradients)[node] = change.before
        for walk in reversed(later):
            self._note_begin(walk)
        for node in self._gradients:
            if self.outline.position_of_node[node] is not None:
                self._gradients[node] = None  # it was made in the record
        self.first_values = dict(self._values)
        self.first_gradients = {node: gradient for node, gradient in self._gradients.items() if gradient is not None}

    def _note_begin(self, walk: RecordedWalk) -> None:
        """Note the gradients with which a walk began. A `Value` in a walk has one even if nothing has arrived."""
        for node in self._arrivals(walk) if is_of_values(walk) else ():
            self._gradients[node] = None
        self._note_gradients(walk.held)

    def _note_gradients(self, held: Mapping[Any, Any]) -> None:
        for key, gradient in held.items():
            if id(key) in self.outline.ids:
                self._gradients[self.outline.ids[id(key)]] = array_of(gradient)

    def _node(self, change: Change) -> int | None:
        return self.outline.ids.get(id(change.subject))

    def _read(self) -> None:
        changes, walks = self._changes, self.history.walks
        at = 0
        for number, walk in enumerate(walks):
            while at < len(changes) and changes[at].walk <= number:
                self._add_change(changes[at])
                at += 1
            self._compute(walk.position)
            begin = at
            while at < len(changes) and changes[at].walk == number + 1:
                at += 1
            self._add_walk(number, walk, changes[begin:at])
        for change in changes[at:]:
            self._add_change(change)
        self._compute(len(self.outline.applications))
        self._add_run("compute", self._computed, len(self.outline.keys))

    def _find_unannounced_writes(self) -> list[tuple[int, int, Any]]:
        """Return where an application found another array in a leaf: its position, the node, and the array."""
        writes = [
            (write.position, self.outline.ids[key], write.array)
            for key, each in self.outline.writes.items() if key in self.outline.ids for write in each[1:]
        ]  # fmt: skip
        return sorted(writes, key=lambda write: write[:2])[::-1]

    # Entries ----------------------------------------------

    def _add_run(self, kind: str, first: int, end: int) -> None:
        if end > first:
            self.entries.append(JournalEntry(kind=kind, first=first, count=end - first))

    def _compute(self, position: int) -> None:
        """Add the nodes that were made before an application, and the writes into leaves that they reveal."""
        while self._unannounced:
            at, node, array = self._unannounced[-1]
            if at >= position:
                break
            self._unannounced.pop()
            if not has_same_entries(self.value_of(node), array):
                self._make_nodes(at)
                self._add("write", "value", node, self.value_of(node), array)
        self._make_nodes(position)

    def _make_nodes(self, position: int) -> None:
        end = max(self._computed, bisect_left(self._known, position))
        self._add_run("compute", self._computed, end)
        self._computed = end

    def _add_steps(self, end: int) -> None:
        while self._second_runs and self._second_runs[0][0] < end:
            step, again = self._second_runs.popleft()
            self._add_run("arrive", self._stepped, step)
            self._stepped = max(step, self._stepped)
            if isinstance(again, Span):
                self._add_span("recompute", again)
            else:
                self._add("recompute", None, again, None, None, CHECKPOINT)
        self._add_run("arrive", self._stepped, end)
        self._stepped = max(end, self._stepped)

    def _add_span(self, kind: str, span: Span) -> None:
        """Add an entry for each node of a checkpoint's span."""
        call, instruction, function = span.end.place
        module, lines = self._module_of(call), self.groups.lines(call, instruction)
        by = function if module is None else type(module).__name__
        for node in self._nodes_at(span.positions):
            self._add(kind, None, node, None, None, by, lines)

    def _find_second_runs(self, walk: RecordedWalk, start: int) -> Iterator[tuple[int, Span | int]]:
        """Yield the second runs of checkpoints in a walk whose first step has number `start`."""
        for number, span in self._checkpoints.second_runs(walk):
            yield start + number, span
        done: set[int] = set()
        for number, step in enumerate(walk.steps, start):
            if step.contribution.rule.op.name == CHECKPOINT and id(step.node) not in done:
                done.add(id(step.node))
                yield number, self.outline.ids[id(step.node)]

    def _nodes_at(self, positions: range) -> list[int]:
        """Return the nodes that are the results of some applications."""
        first, end = (bisect_left(self._known, position) for position in (positions.start, positions.stop))
        keys, at = self.outline.keys, self.outline.position_of_node
        return [node for node in range(first, end) if at[node] is not None and not isinstance(keys[node], Part)]

    def _add(
        self, kind: str, of: str | None, node: int | None, before: Any, after: Any, by: str | None = None,
        lines: Iterable[Site] = (), name: str | None = None,
    ) -> None:  # fmt: skip
        """Add an entry about one value or gradient, and follow what the leaf has."""
        self.entries.append(
            JournalEntry(kind=kind, of=of, node=node, name=name, before=before, after=after, by=by, lines=[*lines])
        )
        if node is not None and kind == "return":
            self._returned[node] = after
        elif node is not None and of is not None and kind != "hook":
            self._changed |= {node} if of == "gradient" else set()
            (self._values if of == "value" else self._gradients)[node] = after

    def value_of(self, node: int) -> Any:
        """Return the value that a leaf has at this point of the journal."""
        return self._values[node] if node in self._values else self.outline.value(self.outline.keys[node])

    def _add_change(self, change: Change) -> None:
        """Add the entry of a change, if the program has a name for what changed."""
        self._describe(change)
        self.ends.append(len(self.entries))

    def _describe(self, change: Change) -> None:
        self._compute(change.position)
        if change.kind == "checkpoint":
            if (span := self._checkpoints.spans.get(id(change))) is not None:
                self._add_span("checkpoint", span)
            return
        node, name = self._node(change), None
        call, instruction, function = change.place
        module = self._module_of(call)
        function = function if module is None else type(module).__name__
        lines = self.groups.lines(call, instruction)
        if change.kind == "draw":
            self._add("draw", None, None, None, None, function, lines)
            return
        if node is None:
            name = self.names.of_value(change.subject, call) if hasattr(change.subject, "_data") else None
            if name is None:
                return
        kind, by = self._kind_of(change, function)
        before = change.before
        if before is None and change.of == "gradient" and node is not None and is_value(change.subject):
            before = self._gradients.get(node)
        if change.kind == "hook":
            by, function = _named_function(change.by)
            lines = lines if function is None else [site_at(function.__code__, function.__globals__, -1)]
        self._add(kind, change.of, node, before, change.after, by, lines, name)

    def _module_of(self, number: int) -> Any:
        """Return the module that a call runs; None for a call of the user's code."""
        call = self.history.calls.get(number)
        return call.frame.f_locals.get("self") if call is not None and call.kind == ENTERS else None

    def _kind_of(self, change: Change, function: str) -> tuple[str, str | None]:
        """Return the kind of an entry, and who did it: an optimiser, a function, or an operator."""
        by = SYMBOLS.get(function, function)
        if change.kind == "accumulate" and change.after is None:
            return "drop", "requires_grad=False"
        if change.kind in ("hook", "accumulate"):
            return change.kind, None
        if change.of == "gradient":
            if change.after is None or not np.any(change.after):
                return "clear", by
            if function in CLIPS:
                return "clip", function if change.by is None else name_clipping(function, change.by)
            return "assign" if change.kind == "gradient" else "scale" if by in SCALES else "write", by
        if change.kind == "update":
            return "update", change.by
        number, *_ = change.place
        in_module = self._module_of(number) is not None and self._node(change) is None
        return ("statistics" if in_module else "write"), by

    # Walks ------------------------------------------------

    def _add_walk(self, number: int, walk: RecordedWalk, changes: list[Change]) -> None:
        """Add a walk and the changes from its begin to the next walk."""
        received = self._arrivals(walk)
        adds = any(change.kind == "accumulate" and self._is_leaf(change) for change in changes)
        hooked = {self._node(change): change.after for change in changes if change.kind == "hook"}
        is_returned = walk.direction == "backward" and walk.error is None and not adds and not is_of_values(walk)
        before = {} if is_returned else self._gradients_before(walk, received)
        self._add_unannounced_gradients(before if not is_returned else self._gradients_before(walk, received), received)
        self.entries.append(JournalEntry(kind="begin", walk=number))
        values = {node: self.value_of(node) for node in received}
        during, behind = self._split(changes, len(walk.steps))
        start = self._stepped
        if walk.direction == "backward":
            self._second_runs += sorted(self._find_second_runs(walk, start), key=itemgetter(0))
        for change in during:
            self._interleave(walk, start, start + (change.steps or 0))
            self._add_change(change)
        self._interleave(walk, start, start + len(walk.steps))
        ending = [*_changes_at_end(behind)]
        for change in ending:
            self._add_change(change)
        if is_returned:
            self._add_returns(walk, received | {node: hooked[node] for node in received if node in hooked})
        elif is_of_values(walk) and walk.error is None:
            self._add_sums(walk, received | self._arrivals_at_results(walk))
        self.entries.append(JournalEntry(kind="end", walk=number))
        self.leaves.append({})
        for node, arrived in received.items():
            is_back = walk.direction == "backward"
            brought = hooked.get(node, arrived)
            after = brought if is_returned else self._gradients.get(node) if is_back else None
            self.leaves[number][node] = LeafState(values[node], before.get(node), brought, after)
            if is_back:
                self._gradients.setdefault(node, None)
        for change in behind[len(ending) :]:
            self._add_change(change)

    def _add_returns(self, walk: RecordedWalk, received: dict[int, Any]) -> None:
        """Add the gradients that a walk returned."""
        lines = self.groups.lines(walk.call, walk.instruction)
        for node, gradient in received.items():
            self._add("return", "gradient", node, self._gradients.get(node), gradient, lines=lines)

    def _add_sums(self, walk: RecordedWalk, received: dict[int, Any]) -> None:
        """Add the sums that a walk through `Value`s left in their `.grad`."""
        lines = self.groups.lines(walk.call, walk.instruction)
        for node, gradient in received.items():
            held = self._gradients.get(node)
            self._add("accumulate", "gradient", node, held, gradient if held is None else gradient + held, lines=lines)

    def _arrivals_at_results(self, walk: RecordedWalk) -> dict[int, Any]:
        """Return the gradients that a walk brought to results whose `.grad` changes otherwise too. Every `Value` has a
        `.grad`, and in most results only one walk adds to it."""
        arrived = {walk.key: walk.seed} | {step.receiver: step.after for step in walk.steps} if self._results else {}
        numbers = {self.outline.ids[id(key)]: array_of(gradient) for key, gradient in arrived.items()}
        return {node: gradient for node, gradient in numbers.items() if node in self._results}

    def _split(self, changes: list[Change], total: int) -> tuple[list[Change], list[Change]]:
        """Return the changes that came between the steps of a walk, and those after them."""
        is_inner = [
            change.steps is not None and (change.steps < total or (change.kind == "hook" and not self._is_leaf(change)))
            for change in changes
        ]
        count = len(is_inner) - is_inner[::-1].index(True) if True in is_inner else 0
        return changes[:count], changes[count:]

    def _is_leaf(self, change: Change) -> bool:
        return getattr(change.subject, "vjp", None) is None

    def _interleave(self, walk: RecordedWalk, start: int, end: int) -> None:
        """Add steps up to a number, with the nodes that the walk made between them."""
        while walk.positions and self._stepped < end:
            position = walk.positions[self._stepped - start]
            self._compute(position)
            same = self._stepped
            while same < end and walk.positions[same - start] == position:
                same += 1
            self._add_steps(same)
        self._add_steps(end)

    def _arrivals(self, walk: RecordedWalk) -> dict[int, Any]:
        """Return what a walk brought to each leaf; for a forward walk the tangents that it began with."""
        if id(walk) not in self._arrived:
            is_forward = isinstance(walk, RecordedForwardWalk)
            arrived = walk.starts.items() if is_forward else arrivals_at_leaves(walk.steps)
            self._arrived[id(walk)] = {self.outline.ids[id(key)]: array_of(array) for key, array in arrived}
        return self._arrived[id(walk)]

    def _gradients_before(self, walk: RecordedWalk, received: dict[int, Any]) -> dict[int, Any]:
        """Return the gradients that the leaves of a walk had when it began."""
        held = {node: array_of(walk.held.get(self.outline.keys[node])) for node in received}
        return {node: gradient for node, gradient in held.items() if gradient is not None}

    def _add_unannounced_gradients(self, held: dict[int, Any], received: dict[int, Any]) -> None:
        """Add gradients that were changed without a notice."""
        for node in received:
            before, now = self._gradients.get(node), held.get(node)
            is_zero = now is None and is_value(self.outline.keys[node]) and not before
            if not is_zero and not _is_same_gradient(before, now):
                self._add("clear" if now is None else "assign", "gradient", node, before, now)


def _named_function(hook: Any) -> tuple[str, Any]:
    """Return the name of a hook, and the function of the program's that it runs, if it runs one. An object is named by
    its class, and `functools.partial` by its function."""
    while isinstance(hook, partial):
        hook = cast("Any", hook).func
    called = hook if hasattr(hook, "__code__") else cast("Any", type(hook)).__call__
    function = getattr(called, "__func__", called)
    name = getattr(hook, "__name__", hook.__class__.__name__)
    return name, function if hasattr(function, "__code__") else None


def arrivals_at_leaves(steps: Iterable[AppliedRule]) -> Iterator[tuple[Any, Any]]:
    """Yield each leaf that steps reach, with the gradient that it has after the last of them."""
    last: dict[int, tuple[Any, AppliedRule]] = {}
    for step in steps:
        receiver = step.receiver
        if id(receiver) in last or is_leaf(receiver):
            last[id(receiver)] = receiver, step
    for receiver, step in last.values():
        yield receiver, step.after


def is_of_values(walk: RecordedWalk) -> bool:
    """Return whether a walk goes through micrograd's values, which hold their own gradients."""
    return is_value(walk.key)


def is_value(key: Any) -> bool:
    """Return whether a key is one of micrograd's values. They say None of a gradient of 0."""
    return hasattr(key, "made_by")


def _changes_at_end(changes: list[Change]) -> Iterator[Change]:
    """Yield the changes that end a walk."""
    for change in changes:
        if change.kind not in ("hook", "accumulate"):
            return
        yield change


def _is_same_gradient(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)
