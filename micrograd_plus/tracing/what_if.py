"""Repetition of a recorded program with one thing left out or changed: "what if `zero_grad` were missing?"

The engine itself repeats the journal: it computes each value again, takes each walk, and carries out each change of a
value or a gradient. So later rounds of a training loop begin from the weights that the change would have led to.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn, cast

from ..core.backward import Part
from ..core.modes import Block, grad_enabled
from ..core.runtime.recorders import record_to
from ..core.variable import Variable
from .builder import Builder, build
from .changes import Clipping, ClippingName, OptimizerName
from .comparison import is_close
from .outline import Number
from .parts import JournalEntry, LeafGradient, Step, Walk
from .recorder import Recorder
from .replaying import replay, returned_walks
from .trace import Trace
from .values import array_of, mute_warnings, np

Choice = Callable[[JournalEntry], bool]
KINDS = ("clear", "assign", "scale", "clip", "update", "write", "hook")
"""The kinds of entries that can be left out."""


def what_if(
    trace: Trace, *, without: str | int | Choice | None = None, lr: float | None = None, add: bool = True
) -> Trace:
    """Repeat a recorded program with something left out or changed, and return the trace of what would have happened.

    No code of the program runs again. A hook multiplies by the number or the mask that it had multiplied by, and so do
    writes into a gradient. A write that subtracted a multiple of the gradient, as `w -= lr * w.grad` does, subtracts
    the same multiple of the new one. Any other change is repeated only while all numbers are as they were recorded.

    Args:
        trace: a trace that was recorded in this process.
        without: what to leave out: what did it (`"zero_grad"`, the name of a hook), a kind of entry of the journal
            (`"hook"`, `"update"`, `"clip"`), the number of an entry, or a function that returns True for entries to
            leave out.
        lr: another learning rate, for updates by optimisers and for writes as above.
        add: False for `=` in the place of `+=`: what arrives replaces what had arrived before.
    Returns: a trace with the same nodes and other numbers.
    Raises: ValueError if there is nothing to leave out or change, and if the program cannot be repeated, as when an
        optimiser had made steps before.
    Example:
        >>> w = mg.tensor(2.0, requires_grad=True)
        >>> optimizer = mg.optim.SGD([w], lr=0.1)
        >>> with mg.record() as trace:
        ...     for _ in range(2):
        ...         optimizer.zero_grad()
        ...         (w * w).backward()
        ...         optimizer.step()
        >>> trace.gradients[0].item(), mg.tracing.what_if(trace, without="zero_grad").gradients[0].item()
        (3.2, 7.2)

    See: `replay`, which repeats the walks alone with a wrong rule.
    """
    if not add:
        if without is not None or lr is not None:
            raise ValueError("what_if: add=False changes the walks; ask for one change at a time")
        return replay(trace, "replace")
    if without is None and lr is None:
        raise ValueError("what_if: say what to leave out (without=) or to change (lr=, add=False)")
    source = trace.source
    if not isinstance(source, Builder):
        raise ValueError("what_if: a file does not have the program's operations; record the program in this process")
    omitted = _entries_to_omit(trace, without)
    unchanged = _Repetition(trace, source, set(), None).run()
    _check_repetition(trace, unchanged)
    repeated = _Repetition(trace, source, omitted, lr)
    result = repeated.run()
    if lr is not None and not repeated.uses_rate:
        raise ValueError("what_if: the record has no update with a learning rate")
    return result


def _entries_to_omit(trace: Trace, without: str | int | Choice | None) -> set[int]:
    """Return the numbers of the entries to leave out."""
    if without is None:
        return set()
    entries = trace.journal
    if isinstance(without, int):
        if not 0 <= without < len(entries) or entries[without].kind not in KINDS:
            raise ValueError(f"what_if: entry {without} is no change that can be left out")
        return {without}
    matches: Choice = without if callable(without) else lambda entry: _is_named(entry, without)
    found = {at for at, entry in enumerate(entries) if entry.kind in KINDS and matches(entry)}
    if not found:
        known = sorted({str(entry.by or entry.kind) for entry in entries if entry.kind in KINDS})
        raise ValueError(f"what_if: nothing to leave out; the journal has {', '.join(known) or 'no changes'}")
    return found


def _is_named(entry: JournalEntry, name: str) -> bool:
    """Return whether a name is the kind of an entry, or what did it: `SGD` or `SGD(lr=0.1)`."""
    return name in (entry.kind, entry.by, entry.by and entry.by.partition("(")[0])


def _check_repetition(trace: Trace, repeated: Trace) -> None:
    """Raise ValueError unless a repetition without a change gives the recorded numbers."""
    for one, other in zip(trace.steps, repeated.steps, strict=True):
        if not is_close(one.contribution, other.contribution, 1e-6, 1e-9):
            _refuse(f"step {one.index + 1} would send other numbers to {trace.nodes[one.target].name}")
    for one, other in zip(_updates(trace), _updates(repeated), strict=False):
        if not is_close(one.after, other.after, 1e-6, 1e-9):
            name = one.name if one.node is None else trace.nodes[one.node].name
            _refuse(f"{one.by} would give other numbers to {name}")


def _updates(trace: Trace) -> list[JournalEntry]:
    return [entry for entry in trace.journal if entry.kind == "update"]


def _refuse(difference: str) -> NoReturn:
    raise ValueError(
        f"what_if: the program cannot be repeated from its record: {difference}. Optimisers that had made steps "
        f"before, and writes that a record does not explain, cannot be repeated"
    )


class _Repetition:
    """One repetition. `live` has the tensor or number of each node so far."""

    def __init__(self, trace: Trace, source: Builder, omitted: set[int], rate: float | None):
        self.trace, self.omitted, self.rate = trace, omitted, rate
        self.outline, self.journal = source.outline, source.journal
        self.live: dict[int, Any] = {}
        self.states: dict[tuple[int, int], dict[str, Any]] = {}
        self.entries: list[JournalEntry] = []
        self.held: dict[int, Any] = {}
        """The gradients of leaves and of results that keep theirs before the last walk."""
        self.retained = {
            entry.node for entry in trace.journal if entry.kind == "accumulate" and entry.node is not None
            and trace.nodes[entry.node].kind != "leaf"
        }
        self.uses_rate = self.has_diverged = False
        self.clipped: dict[int, dict[int, Any]] = {}
        """The gradients after each clipping, by leaf."""
        self.left: dict[Any, Any] = {}
        """Each gradient after the last clipping, by the leaf's node, or by the leaf if it has none."""
        self.recorder = Recorder()
        self.returned = returned_walks(trace)
        self.drops = self._entries_by_walk("drop")

    def run(self) -> Trace:
        """Return the trace of the repetition."""
        hooks = self._entries_by_walk("hook")
        with mute_warnings(), Block(grad_enabled, True), record_to(self.recorder):
            for at, entry in enumerate(self.trace.journal):
                if entry.kind == "compute":
                    for node in entry.numbers:
                        self.live[node] = self._make(node)
                        if node in self.retained:
                            self.live[node].retain_grad()
                elif entry.kind == "begin":
                    self._walk(entry.walk or 0, hooks.get(entry.walk or 0, []))
                elif entry.kind in (*KINDS, "drop") and entry.kind != "hook" and entry.node is not None:
                    if at in self.omitted:
                        continue
                    self._change(entry, entry.node)
                    continue
                if entry.kind == "accumulate" and entry.node is not None:
                    before, after = self.held.get(entry.node), _gradient(self.live[entry.node])
                    self._compare(entry.after, after)
                    entry = replace(entry, before=before, after=after)
                if at not in self.omitted:
                    self.entries.append(entry)
            finals = {node: _gradient(self.live[node]) for node in self.trace.gradients if node in self.live}
            values = {node: _array(value) for node, value in self.live.items()}
        made = build(self.recorder)
        self.recorder.close(made)
        return self._transcribe(made, values, finals)

    # Values -------------------------------------------------

    def _make(self, node: int) -> Any:
        """Return the value of a node, computed again; for a leaf, the first value that it had."""
        key = self.outline.keys[node]
        if isinstance(key, Part):
            return self.live[self.outline.ids[id(key.parents[0])]][key.index]
        application = self.outline.application(key)
        if application is None:
            return self._make_leaf(node, key)
        graph_node = application.graph_node
        parents: Sequence[Any] = [None] * len(application.arrays) if graph_node is None else graph_node.parents
        keys = self.outline.inputs_at[self.outline.positions[id(key)]]
        inputs: list[Any] = []
        for each, parent in zip(keys, parents, strict=True):
            value: Any = None if each is None else self.live[self.outline.ids[id(each)]]
            is_cut = parent is None and isinstance(value, Variable) and value.node is not None
            inputs.append(Variable.public.of(value._data) if is_cut else value)
        if is_scalar(key):
            return _apply_to_values(key, inputs)
        with Block(grad_enabled, graph_node is not None):
            arguments = [inputs] if application.op.kind == "variadic" else inputs
            result = application.op.apply(*arguments, **application.params)
        outputs = [id(each) for each in application.output_keys] if application.op.outputs else []
        return result[outputs.index(id(key))] if id(key) in outputs else result

    def _make_leaf(self, node: int, key: Any) -> Any:
        value = array_of(self.journal.first_values.get(node, self.outline.value(key)))
        if isinstance(key, Number):
            return value
        if value is None or getattr(key, "made_by", None) is not None:
            raise ValueError("what_if: the record does not have every value that the program began with")
        if is_scalar(key):
            leaf = type(key)(value)
            leaf.grad = self.trace.starts.get(node, 0)
            return leaf
        leaf = Variable.public.of(value.copy() if hasattr(value, "copy") else value)
        if self.trace.nodes[node].requires_grad:
            leaf.requires_grad = True
            if self.trace.starts.get(node) is not None:
                leaf.grad = array_of(self.trace.starts[node])
        return leaf

    # Walks --------------------------------------------------

    def _entries_by_walk(self, kind: str) -> dict[int, list[tuple[int, JournalEntry]]]:
        """Return the entries of a kind in each walk, except those left out, each with its node."""
        found: dict[int, list[tuple[int, JournalEntry]]] = {}
        walk = 0
        for at, entry in enumerate(self.trace.journal):
            walk = entry.walk if entry.kind == "begin" and entry.walk is not None else walk
            if entry.kind == kind and entry.node is not None and at not in self.omitted:
                found.setdefault(walk, []).append((entry.node, entry))
        return found

    def _walk(self, number: int, hooks: list[tuple[int, JournalEntry]]) -> None:
        """Take a walk, with hooks that multiply."""
        walk = self.trace.walks[number]
        if walk.direction == "forward" or walk.error is not None or walk.root is None:
            raise ValueError("what_if: only programs whose walks all go backward to their end can be repeated")
        self.held = {node: _gradient(self.live[node]) for node in [*self.retained, *(leaf.node for leaf in walk.leaves)]
                     if node in self.live}  # fmt: skip
        for leaf in walk.leaves:
            self._compare(leaf.value, _array(self.live[leaf.node]))
        handles = [self.live[node].register_hook(_multiplication(self._factors(entry))) for node, entry in hooks]
        root, seed = self.live[walk.root], array_of(walk.seed)
        if is_scalar(root):
            root.backward()
        else:
            (root.gradients if number in self.returned else root.backward)(seed)
        for handle in handles:
            handle.remove()
        for node, _ in self.drops.get(number, []):
            self.live[node].grad = self.held[node]

    # Changes ------------------------------------------------

    def _change(self, entry: JournalEntry, node: int) -> None:
        """Carry out a change of a leaf's value or gradient, and note it."""
        leaf = self.live.get(node)
        if leaf is None:
            return
        before = _gradient(leaf) if entry.of == "gradient" else _array(leaf)
        self._compare(entry.before, before)
        if entry.of == "gradient":
            after = self._new_gradient(entry, node, before)
            leaf.grad = after
        else:
            after = self._new_value(entry, node, leaf, before)
            if is_scalar(leaf):
                leaf.data = after
            else:
                leaf.assign(after)
        by = entry.by
        if self.rate is not None and isinstance(by, OptimizerName):
            by = by.with_rate(self.rate)
        self.entries.append(replace(entry, before=before, after=after, by=by))

    def _compare(self, recorded: Any, repeated: Any) -> None:
        """Note whether a value or a gradient is another than the recorded one."""
        is_none = recorded is None or repeated is None
        is_same = recorded is repeated if is_none else is_close(recorded, repeated, 1e-9, 1e-12)
        self.has_diverged = self.has_diverged or not is_same

    def _new_gradient(self, entry: JournalEntry, node: int, before: Any) -> Any:
        if isinstance(entry.by, ClippingName) and before is not None:
            return self._clip(entry.by.clipping)[node]
        if entry.kind in ("scale", "clip", "write") and before is not None and entry.before is not None:
            return before * self._factors(entry)
        if entry.kind == "assign" and before is not None and entry.before is not None and entry.after is not None:
            multiple = _multiple(np.asarray(array_of(entry.before)), np.asarray(array_of(entry.after)))
            if multiple is not None:
                return before * multiple
        return None if entry.after is None else self._same_numbers(entry)

    def _clip(self, clipping: Clipping) -> dict[int, Any]:
        """Return the gradients after a clipping of all of them together, by leaf. A leaf without a node in the record
        keeps its gradient until the next clipping."""
        if id(clipping) not in self.clipped:
            keys = [self.outline.ids.get(id(leaf), leaf) for leaf, _ in clipping.gradients]
            gradients = [
                _gradient(self.live[key]) if key in self.live else self.left.get(key, array_of(before))
                for key, (_, before) in zip(keys, clipping.gradients, strict=True)
            ]
            self.left |= dict(zip(keys, map(array_of, clipping.clip(gradients)), strict=True))
            self.clipped[id(clipping)] = {key: self.left[key] for key in keys if isinstance(key, int)}
        return self.clipped[id(clipping)]

    def _same_numbers(self, entry: JournalEntry) -> Any:
        """Return the array that an entry has written, if the program would write it again: zeros, or any array as long
        as all numbers are as they were recorded."""
        after = array_of(entry.after)
        if self.has_diverged and np.any(after):
            self._refuse_change(entry)
        return after

    def _factors(self, entry: JournalEntry) -> Any:
        """Return the factors by which a gradient was changed, entry by entry: one number, a mask, or any as long as
        all numbers are as they were recorded."""
        old, new = np.asarray(array_of(entry.before)), np.asarray(array_of(entry.after))
        factors = np.where(old == 0, 1.0, new / np.where(old == 0, 1.0, old))
        if self.has_diverged and not np.isin(factors, (0, 1)).all() and _multiple(old, new) is None:
            self._refuse_change(entry)
        return factors

    def _refuse_change(self, entry: JournalEntry) -> NoReturn:
        name = self.trace.nodes[entry.node or 0].name
        what = f"the gradient of {name}" if entry.of == "gradient" else name
        where = f" (line {entry.lines[0].line})" if entry.lines else ""
        _refuse(f"the record does not say what {entry.by}{where} would make of {what}, now that other numbers differ")

    def _new_value(self, entry: JournalEntry, node: int, leaf: Any, before: Any) -> Any:
        """Return the value after an update or a write."""
        gradient = _gradient(leaf)
        by = entry.by
        if isinstance(by, OptimizerName) and gradient is not None:
            settings = by.settings if self.rate is None else {**by.settings, "lr": self.rate}
            self.uses_rate = True
            state = self.states.setdefault((id(by.optimizer), node), {})
            values = by.optimizer.new_values(before, gradient, state, settings)
            return values.astype(before.dtype)
        if gradient is None and is_scalar(leaf):
            gradient = 0.0
        if (multiple := self._multiples.get(id(entry))) is None or gradient is None:
            return self._same_numbers(entry)
        self.uses_rate = True
        return before + (multiple if self.rate is None else -self.rate) * gradient

    @cached_property
    def _multiples(self) -> dict[int, float]:
        """The number by which each write multiplied the gradient before it added it, by the id of the entry; no number
        for any other write. A gradient of 0 does not show it, so such a write has the number of others on its line, in
        the same round if there is one."""
        found: dict[int, float] = {}
        held, latest = dict(self.trace.starts), dict[Any, float]()
        hidden: dict[Any, list[int]] = {}
        for entry in [*self.trace.journal, None]:
            if entry is None or entry.kind == "begin":
                for place in hidden.keys() & latest.keys():
                    found |= dict.fromkeys(hidden.pop(place), latest[place])
            elif entry.of == "gradient" and entry.node is not None and entry.kind not in ("hook", "return"):
                held[entry.node] = entry.after
            elif entry.kind == "write" and entry.node is not None and entry.before is not None:
                value = held.get(entry.node)
                if value is None and is_scalar(self.outline.keys[entry.node]):
                    value = 0.0
                gradient = None if value is None else np.asarray(array_of(value))
                change = np.asarray(entry.after) - np.asarray(entry.before)
                place = entry.by, *((site.file, site.line) for site in entry.lines)
                if gradient is not None and not np.any(gradient) and not np.any(change):
                    hidden.setdefault(place, []).append(id(entry))
                elif gradient is not None and (multiple := _multiple(gradient, change)):
                    latest[place] = multiple
                    found |= dict.fromkeys([id(entry), *hidden.pop(place, ())], multiple)
        return found

    # The trace ----------------------------------------------

    def _transcribe(self, made: Trace, values: dict[int, Any], finals: dict[int, Any]) -> Trace:
        """Return a trace with the nodes of the recorded one and the numbers of the repetition."""
        ids = made.source.outline.ids
        new_of: dict[int, int] = {}
        for node, value in self.live.items():
            key = _key_of(value)
            if key is not None and id(key) in ids:
                new_of[ids[id(key)]] = node
        trace, result = self.trace, Trace()
        if len(made.steps) != len(trace.steps):
            raise ValueError("what_if: the repetition takes other steps than the program did")
        result.nodes = [
            replace(node, value=node.value if node.kind == "leaf" else values.get(node.id, node.value), inside=None)
            for node in trace.nodes
        ]
        result.groups, result.rules, result.starts = trace.groups, trace.rules, trace.starts
        result.error, result.caught = trace.error, trace.caught
        result.journal = [*_with_new_numbers(self.entries, made.journal)]
        result.steps = [_transcribe_step(old, new, new_of) for old, new in zip(trace.steps, made.steps, strict=True)]
        result.walks = [
            _transcribe_walk(old, new, new_of) for old, new in zip(trace.walks, made.walks, strict=True)
        ]
        result.gradients = finals
        return result


def _transcribe_step(old: Step, new: Step, old_of: dict[int, int]) -> Step:
    """Return a step of the repetition under the numbers of the recorded nodes."""
    node, target = old_of.get(new.node), old_of.get(new.target)
    if (node, target, new.input) != (old.node, old.target, old.input):
        raise ValueError(f"what_if: step {old.index + 1} of the repetition goes elsewhere")
    return replace(new, node=old.node, target=old.target, rule=old.rule, formula=old.formula)


def _transcribe_walk(old: Walk, new: Walk, old_of: dict[int, int]) -> Walk:
    leaves = [
        LeafGradient(node=old_of[leaf.node], value=leaf.value, before=leaf.before, received=leaf.received,
                     after=leaf.after)
        for leaf in new.leaves
    ]  # fmt: skip
    return replace(old, leaves=leaves)


def _with_new_numbers(entries: list[JournalEntry], made: Sequence[JournalEntry]) -> Iterator[JournalEntry]:
    """Yield the entries, those of hooks and returned gradients with the numbers of the repetition."""
    for kind in ("hook", "return"):
        new = iter([entry for entry in made if entry.kind == kind])
        entries = [
            replace(entry, before=other.before, after=other.after)
            if entry.kind == kind and (other := next(new, None)) is not None else entry
            for entry in entries
        ]  # fmt: skip
    yield from entries


def _multiple(one: Any, other: Any) -> float | None:
    """Return the number that makes one array another; None if there is none."""
    if one.shape != other.shape or not np.any(one):
        return None
    largest = np.unravel_index(np.abs(one).argmax(), one.shape)
    multiple = float(other[largest] / one[largest])
    return multiple if np.allclose(other, multiple * one, rtol=1e-6, atol=1e-12) else None


def _array(value: Any) -> Any:
    """Return a copy of the array of a tensor, or a number."""
    if isinstance(value, tuple):
        return None
    found = array_of(value)
    return found.copy() if hasattr(found, "copy") else found


def _key_of(value: Any) -> Any:
    """Return the node of a tensor, and of several outputs that of their application; None if there is no graph."""
    if isinstance(value, tuple):
        first, *_ = cast("tuple[Any, ...]", value)
        return None if first.node is None else first.node.parents[0]
    return value if is_scalar(value) else getattr(value, "node", None)


def is_scalar(value: Any) -> bool:
    """Return whether a value is one of micrograd's, which are their own nodes and hold their own gradients."""
    return hasattr(value, "made_by")


def _apply_to_values(key: Any, inputs: list[Any]) -> Any:
    """Return what the operation of a `Value` gives for other inputs."""
    if key.made_by is None:
        raise ValueError("what_if: a Value that was computed under no_grad cannot be computed again")
    return key.made_by.call(*inputs)


def _gradient(leaf: Any) -> Any:
    """Return a copy of the array of a leaf's `.grad`; None if it has none."""
    if is_scalar(leaf):
        return leaf.grad or None
    gradient = getattr(getattr(leaf, "node", None), "grad", None)
    return None if gradient is None else _array(gradient)


def _multiplication(factors: Any) -> Callable[[Any], Any]:
    """Return a hook that multiplies a gradient."""
    return lambda gradient: gradient * factors
