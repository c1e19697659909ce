"""Replay of a recorded walk with a mistake in it, as a wrong engine would compute it for the same program.

The replay does not call `core.backward.walk`, which applies the rules of live nodes and is never wrong. A trace from a
file has no rules, only the steps as they were; and each mistake changes something that the walk guarantees: its order,
the addition, the chain rule, or the sum over broadcast axes. So this module goes through recorded steps. For a single
step it uses the engine's own functions: `apply_transpose`, `conjugate_local`, `unbroadcast_to` and `add_gradient`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeGuard

from ..backends import arrays, floats
from ..core.backward import (
    Part,
    add_gradient,
    apply_transpose,
    conjugate_local,
    input_indices,
    unbroadcast_to,
    upstreams_or_zeros,
)
from ..core.define import operations
from ..core.rule import Rule as CoreRule
from ..core.variable import namespace_of
from .builder import Builder
from .formulas import NO_FORMULA, RuleRun, formula_of_rule
from .parts import Failure, JournalEntry, LeafGradient, Rule, Step, Walk
from .sites import rule_source
from .trace import Trace
from .values import Stored, array_of, first_upstream, is_per_output, mute_warnings, np

MISTAKES = {
    "replace": "what arrives replaces what had arrived before, and is not added to it",
    "no order": "a node is walked through as soon as it is reached; what arrives there later goes no further",
    "levels": "nodes are walked level by level from the result; what arrives later goes no further",
    "upstream": "a rule sends its local derivative alone: the upstream gradient is forgotten",
    "axes": "axes along which broadcasting had repeated an input are not summed",
    "left out": "a step sends nothing: a path is forgotten",
}
"""The mistakes that have a name, each with a sentence."""
ORDERS = ("no order", "levels")
"""The mistakes that a walk makes as a whole, and not at a step."""

WrongRules = dict[str, Callable[..., Any]]
Gradients = dict[int, Any]
"""Gradients by node id."""


def replay(trace: Trace, mistake: str | WrongRules, *, steps: Sequence[int] | None = None) -> Trace:
    """Repeat the walks of a trace with a mistake in them.

    Nodes and order stay the same, except with "no order" and "levels". If a mistake gives a shape that a
    rule cannot take, the walk ends there with an error. A step that replaces has the old accumulator as `before`
    and its contribution alone as `after`. Forward walks stay as they were.

    Args:
        trace: a trace. One from a file can be replayed as far as its steps say how: a rule that is not a local
            derivative needs the same upstream as before, or a multiple of it.
        mistake: "replace", "no order", "levels", "upstream", "axes" or "left out"; or a dictionary of other rules by
            name, such as {"tanh.x": lambda out: 1 - out}. They can read what any rule of the operation can.
        steps: the numbers of the steps at which the mistake is made, counted from 1; by default all. A walk in another
            order has none, and "left out" needs them.
    Returns: a trace, to be looked at, saved, shown and compared like any other.
    Raises: ValueError if there is no such mistake, rule or step, or if a file lacks values that the replay needs.
    Example:
        >>> a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (a * b + a).backward()
        >>> mg.tracing.replay(trace, "replace").gradients[0].item(), trace.gradients[0].item()
        (3.0, 4.0)

    See: `mg.checks.museum`, wrong rules that are taught from.
    """
    rules = mistake if _is_rules(mistake) else {}
    if not rules and mistake not in MISTAKES:
        raise ValueError(f"replay: unknown mistake {mistake!r}; give one of {', '.join(MISTAKES)}, or rules by name")
    for name in rules:
        if name not in trace.rules:
            raise ValueError(f"replay: no rule {name!r} was applied; there was {', '.join(trace.rules)}")
    if steps is None and mistake == "left out":
        raise ValueError("replay: the mistake 'left out' needs `steps`, such as steps=[2]")
    if steps is not None and mistake in ORDERS:
        raise ValueError(f"replay: the mistake {mistake!r} is made by the walk as a whole; leave out `steps`")
    if steps is not None and not all(1 <= number <= len(trace.steps) for number in steps):
        raise ValueError(f"replay: steps must be between 1 and {len(trace.steps)}, got {[*steps]}")
    return _Replay(trace, "rule" if rules else str(mistake), rules, steps).run()


def _is_rules(mistake: Any) -> TypeGuard[WrongRules]:
    return isinstance(mistake, dict)


class MissingError(LookupError):
    """Error for a value that a replay needs and a file does not have."""


class _Replay:
    """One replay. `recorded` is the source of a trace that was recorded here, and None for one from a file."""

    def __init__(self, trace: Trace, mistake: str, rules: WrongRules, numbers: Sequence[int] | None):
        self.trace, self.mistake, self.rules = trace, mistake, rules
        self.places = None if numbers is None else {number - 1 for number in numbers}
        source = trace.source
        self.recorded = source if isinstance(source, Builder) else None
        self.steps: list[Step] = []
        self.walks: list[Walk] = []
        self.gradients: Gradients = {}
        self.returns: Gradients = {}
        self.changed: set[int] = set()
        self.returned = returned_walks(trace)

    def run(self) -> Trace:
        """Return the trace of the replay."""
        replayed, trace = Trace(), self.trace
        replayed.nodes, replayed.groups, replayed.error = trace.nodes, trace.groups, trace.error
        replayed.rules = {name: self._rule(name, rule) for name, rule in trace.rules.items()}
        replayed.starts = trace.starts
        self.gradients = {node: _full_value(gradient) for node, gradient in trace.starts.items()}
        replayed.journal = [*self._repeat_journal()]
        replayed.walks, replayed.steps = self.walks, self.steps
        self.gradients |= {node: value for node, value in self.returns.items() if node not in self.changed}
        replayed.gradients = {node: self.gradients[node] for node in trace.gradients if node in self.gradients}
        return replayed

    # The journal ------------

    def _repeat_journal(self) -> Iterator[JournalEntry]:
        """Yield the entries of the replay: each walk with the mistake, and what the program did between the walks.

        Values stay as they were, and hooks are not called.
        """
        for at, entry in enumerate(self.trace.journal):
            if entry.kind == "begin":
                yield entry
                first = len(self.steps)
                self._repeat_walk(entry.walk or 0)
                yield from self._repeat_arrivals(first, _second_runs(self.trace.journal, at))
            elif entry.of == "gradient" and entry.node is not None:
                if entry.kind != "hook" and (changed := self._repeat_change(entry, entry.node)) is not None:
                    yield changed
            elif entry.kind not in ("arrive", "recompute"):
                yield entry

    def _repeat_arrivals(self, first: int, second_runs: list[list[JournalEntry]]) -> Iterator[JournalEntry]:
        """Yield the steps from number `first` on, each second run of a checkpoint before the first step from its
        nodes."""
        begins = first
        for number in range(first, len(self.steps)):
            for run in [run for run in second_runs if any(entry.node == self.steps[number].node for entry in run)]:
                second_runs.remove(run)
                if number > begins:
                    yield JournalEntry(kind="arrive", first=begins, count=number - begins)
                begins = number
                yield from run
        if len(self.steps) > begins:
            yield JournalEntry(kind="arrive", first=begins, count=len(self.steps) - begins)

    def _repeat_change(self, entry: JournalEntry, node: int) -> JournalEntry | None:
        """Return the entry of a gradient's change; None for a leaf that the walk does not reach with the mistake."""
        before = self.gradients.get(node)
        if entry.kind in ("accumulate", "return"):
            leaf = next((leaf for leaf in self.walks[-1].leaves if leaf.node == node), None)
            if leaf is None:
                return None
            after = leaf.after
        elif entry.kind in ("scale", "clip", "write") and before is not None:
            after = before * _factors(_full_value(entry.before), _full_value(entry.after))
        else:
            after = None if entry.after is None else _full_value(entry.after)
        if entry.kind == "return":
            self.returns[node] = after
        else:
            self.changed.add(node)
            self.gradients[node] = after
        return replace(entry, before=before, after=after)

    def _repeat_walk(self, number: int) -> None:
        """Add a walk; a backward one with the mistake in it."""
        walk, first = self.trace.walks[number], len(self.steps)
        if walk.direction == "forward":
            steps = self.trace.steps[walk.first : walk.first + walk.steps]
            self.steps += [replace(step, index=first + i) for i, step in enumerate(steps)]
            self.walks.append(replace(walk, first=first))
            return
        is_added = any(leaf.before is not None for leaf in walk.leaves) or number not in self.returned
        before = {leaf.node: self.gradients.get(leaf.node) for leaf in walk.leaves} if is_added else {}
        before = {node: gradient for node, gradient in before.items() if gradient is not None}
        arrived = dict(before)
        with mute_warnings():
            error = self._walk(number, walk, arrived, before)
        leaves = [self._replay_leaf(leaf, before, arrived) for leaf in walk.leaves if leaf.node in arrived]
        self.walks.append(
            replace(walk, first=first, steps=len(self.steps) - first, leaves=leaves, error=error or walk.error)
        )

    def _replay_leaf(self, leaf: LeafGradient, before: Gradients, arrived: Gradients) -> LeafGradient:
        after, held = arrived[leaf.node], before.get(leaf.node)
        received = after if held is None or self.mistake == "replace" else after - held
        return replace(leaf, before=held, received=received, after=after)

    # The walk ---------------

    def _walk(self, number: int, walk: Walk, arrived: Gradients, before: Gradients) -> Failure | None:
        """Go back from the root, and return the error that ended the walk, if any."""
        steps_of: dict[int, list[Step]] = {}
        for step in self.trace.steps[walk.first : walk.first + walk.steps]:
            steps_of.setdefault(step.node, []).append(step)
        if walk.root is None or not steps_of:
            return None
        arrived[walk.root] = _full_value(walk.seed)
        order: Iterable[int] = steps_of
        if self.mistake in ORDERS:
            order = self._visit_order(walk.root, steps_of)
        for node in order:
            upstream = self._upstream_of(node, arrived)
            if upstream is None:
                continue
            for step in steps_of[node]:
                try:
                    self._repeat(number, step, upstream, arrived, before)
                except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
                    if isinstance(error, MissingError):
                        raise ValueError(str(error)) from None
                    lines = self.trace.nodes[node].lines
                    return Failure(kind=type(error).__name__, text=str(error), node=node, lines=lines)
        return None

    def _visit_order(self, root: int, steps_of: dict[int, list[Step]]) -> Iterator[int]:
        """Yield each application as it is reached from the root."""
        todo, visited = [root], {root}
        while todo:
            node = todo.pop(0 if self.mistake == "levels" else -1)
            if node in steps_of:
                yield node
            targets = [step.target for step in steps_of.get(node, ())]
            if self.trace.nodes[node].kind == "output":
                targets = [parent for _, parent in self.trace.nodes[node].inputs]
            for target in targets if self.mistake == "levels" else reversed(targets):
                if target not in visited:
                    visited.add(target)
                    todo.append(target)

    def _upstream_of(self, node: int, arrived: Gradients) -> Any:
        """Return what has arrived at an application; for several outputs, a list with what arrived at each."""
        if node in arrived:
            return arrived[node]
        if self.recorded is None:
            return None
        outline = self.recorded.outline
        key = outline.keys[node]
        outputs = [each for each in outline.keys if isinstance(each, Part) and each.parents[0] is key]
        by_index = {each.index: arrived[outline.ids[id(each)]] for each in outputs if outline.ids[id(each)] in arrived}
        return [by_index.get(i) for i in range(len(key.shape_dtype))] if by_index else None

    def _repeat(self, number: int, step: Step, upstream: Any, arrived: Gradients, before: Gradients) -> None:
        """Add one step; with the mistake in it, if it is made there."""
        mistake = self.mistake if self.places is None or step.index in self.places else ""
        if mistake == "left out":
            return
        local, raw = self._send(step, upstream, mistake)
        axes = step.summed_axes if mistake != "axes" else ()
        contribution = raw
        if axes:
            right = _full_value(step.contribution)
            contribution = unbroadcast_to(namespace_of(raw), raw, (right.shape, right.dtype))
        held = arrived.get(step.target)
        after = add_gradient(None if mistake == "replace" else held, contribution)
        arrived[step.target] = after
        is_changed = (
            (mistake == "rule" and step.rule in self.rules) or mistake == "upstream" or
            (mistake == "axes" and step.summed_axes)
        )  # fmt: skip
        self.steps.append(
            replace(
                step, index=len(self.steps), walk=number, formula=None if is_changed else step.formula,
                upstream=first_upstream(upstream), local=local, raw=raw, summed_axes=axes, contribution=contribution,
                before=held, after=after, accumulates=held is not None, earlier=step.target in before,
            )
        )  # fmt: skip

    # What is sent -----------

    def _send(self, step: Step, upstream: Any, mistake: str) -> tuple[Any, Any]:
        """Return the local derivative (None if the operation is not elementwise) and the raw contribution."""
        if mistake == "upstream":
            upstream = _ones_like(upstream)
        local = None if step.local is None else _full_value(step.local)
        if mistake == "rule" and step.rule in self.rules:
            value = self._apply_wrong_rule(step, upstream)
            if self.trace.rules[step.rule].kind != "elementwise":
                return None, value
            local = value
        if local is not None:
            xp = arrays if hasattr(upstream, "dtype") else floats
            return local, upstream * conjugate_local(xp, upstream, local)
        if self.recorded is None:
            return None, _scale(step, upstream)
        return None, self._apply_rule(self.recorded, step, upstream)

    def _apply_rule(self, recorded: Builder, step: Step, upstream: Any) -> Any:
        """Return the raw contribution of the step's own rule for another upstream."""
        node, contribution, *_ = recorded.history.steps[step.index]
        rule = contribution.rule
        indices = list(input_indices(rule, len(node.parents)))
        xp = namespace_of(first_upstream(upstream))
        if is_per_output(upstream):
            upstream = upstreams_or_zeros(xp, upstream, node)
        values = {**contribution.reads, "xp": xp, "upstream": upstream}
        return apply_transpose(rule, len(indices), xp, values)[indices.index(contribution.index)]

    def _apply_wrong_rule(self, step: Step, upstream: Any) -> Any:
        """Return the result of the wrong rule for an application."""
        function = self.rules[step.rule]
        node = self.trace.nodes[step.node]
        optional = operations[node.op].optional if node.op in operations else ()
        reads: dict[str, Any] = {**dict.fromkeys(optional), "upstream": upstream}
        for name, parent in node.inputs:
            reads[name] = _full_value(self.trace.nodes[parent].value)
            reads[f"{name}_shape"] = np.shape(reads[name])
        reads["out"] = _full_value(node.value)
        if self.recorded is not None:
            application = self.recorded.outline.application(self.recorded.outline.keys[step.node])
            reads |= {} if application is None else application.params
        reads |= {name: _full_value(value) for name, value in step.reads.items()}
        reads["xp"] = arrays if hasattr(first_upstream(upstream), "dtype") else floats
        return function(*[reads[name] for name in _parameters(function)])

    def _rule(self, name: str, rule: Rule) -> Rule:
        """Return the rule that is applied under a name. A wrong one has its own source and formula."""
        if name not in self.rules:
            return rule
        function = self.rules[name]
        source = rule_source(function)
        notations = NO_FORMULA
        if self.recorded is not None:
            index = next(step.index for step in self.trace.steps if step.rule == name)
            applied = self.recorded.history.steps[index]
            wrong = CoreRule(applied.contribution.rule.op, (rule.input,), function)
            run = RuleRun(wrong, applied.contribution.reads, array_of(applied.upstream))
            notations = formula_of_rule(run, 0)
        reads = tuple(each for each in _parameters(function) if each != "xp")
        return replace(
            rule, reads=("upstream", *reads) if rule.kind == "elementwise" else reads, reason=function.__doc__,
            source=source.text, file=source.file, line=source.line, **notations._asdict(),
        )  # fmt: skip


def _parameters(function: Any) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _scale(step: Step, upstream: Any) -> Any:
    """Return the raw contribution of a step from a file for another upstream. Rules are linear in upstream, so both
    scale by the same factor."""
    recorded, raw = _full_value(step.upstream), _full_value(step.raw)
    if recorded is None or raw is None:
        raise MissingError(f"replay: step {step.index + 1} of the file has no upstream or no contribution")
    if np.shape(recorded) == np.shape(upstream):
        if np.array_equal(recorded, upstream):
            return raw
        largest = np.abs(recorded).argmax() if np.max(np.abs(recorded), initial=0.0) else None
        factor = 0.0 if largest is None else upstream.reshape(-1)[largest] / recorded.reshape(-1)[largest]
        if np.allclose(recorded * factor, upstream, rtol=1e-12, atol=0):
            return raw * factor
    raise MissingError(
        f"replay: step {step.index + 1} would send something else for another upstream, and a file does not say what; "
        f"record the program again"
    )


def _full_value(value: Any) -> Any:
    """Return a value as an array or a plain number; an error if a file has only a summary of it."""
    if isinstance(value, Stored):
        if value.data is None:
            raise MissingError(f"replay: the file keeps only a summary of a value of shape {value.shape}")
        return value.numpy()
    return array_of(value)


def _ones_like(upstream: Any) -> Any:
    """Return an upstream of ones, by which multiplication changes nothing."""
    if is_per_output(upstream):
        return [None if part is None else np.ones_like(part) for part in upstream]
    return np.ones_like(upstream) if hasattr(upstream, "dtype") else 1.0


def returned_walks(trace: Trace) -> set[int]:
    """Return the walks whose gradients were returned, and not added to `.grad`."""
    walks: set[int] = set()
    number = 0
    for entry in trace.journal:
        number = entry.walk if entry.kind == "begin" and entry.walk is not None else number
        if entry.kind == "return":
            walks.add(number)
    return walks


def _second_runs(journal: Sequence[JournalEntry], begin: int) -> list[list[JournalEntry]]:
    """Return the second runs of checkpoints in the walk that begins at an entry."""
    end = next(at for at in range(begin, len(journal)) if journal[at].kind == "end")
    alike = groupby(journal[begin:end], key=lambda entry: entry.kind)
    return [[*entries] for kind, entries in alike if kind == "recompute"]


def _factors(before: Any, after: Any) -> Any:
    """Return the factors by which the program scaled a gradient, entry by entry."""
    with mute_warnings():
        return np.where(before == 0, 1.0, after / before) if before is not None else 1.0
