"""A recorded walk, once more, with a mistake in it: what a wrong engine would have made of the same program."""
# pyright: reportPrivateUsage=false
# A record that was made here is asked for what it was made of.

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from ..backends import arrays, devices, floats
from ..core.backward import Part, apply_transpose, input_indices
from ..core.rule import Rule as OfOp
from ..core.variable import is_complex
from .builder import Builder
from .formulas import formula
from .sites import rule_source
from .trace import Failure, Held, Rule, Step, Trace, Walk
from .values import Stored, bare, first_of, np, of_outputs

MISTAKES = {
    "replace": "what arrives replaces what had arrived before, and is not added to it",
    "no order": "a node is walked through as soon as it is reached; what arrives there later goes no further",
    "upstream": "a rule sends its local derivative alone: the upstream gradient is forgotten",
    "axes": "axes along which broadcasting had repeated an input are not summed",
}
"""The mistakes that go by a name, each in a sentence."""

Send = Callable[[Any], Any]


def replay(trace: Any, mistake: Any) -> Trace:
    """The walks of a record, made again with a mistake in them.

    The nodes are those of the record, and so is the order, but for "no order". Where a mistake gives a shape that a
    rule cannot take, the walk ends there with an error. A step that replaces says what was there `before`, and its
    contribution alone is `after`. Walks forward stay as they were.

    Args:
        trace: a trace. One that was read from a file can be made again as far as its steps tell how: where a rule is no
            local derivative, its upstream must be as it was, or a multiple.
        mistake: "replace", "no order", "upstream" or "axes"; or a dictionary of other rules by name, such as
            {"tanh.x": lambda out: 1 - out}. They read what any rule of the operation may.
    Returns: a trace, to be looked at, stored, shown and compared like any other.
    Raises: ValueError where there is no such mistake or rule, or what a file lacks is needed.
    Example:
        >>> a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (a * b + a).backward()
        >>> mg.tracing.replay(trace, "replace").gradients[0].item(), trace.gradients[0].item()
        (3.0, 4.0)

    See: `mg.checks.museum`, wrong rules that are taught from.
    """
    rules = mistake if _is_by_rules(mistake) else {}
    if not rules and mistake not in MISTAKES:
        raise ValueError(f"replay: {mistake!r} is no mistake; there is {', '.join(MISTAKES)}, or rules by name")
    for name in rules:
        if name not in trace.rules:
            raise ValueError(f"replay: no rule {name!r} was applied; there was {', '.join(trace.rules)}")
    return _Replay(trace, "rule" if rules else str(mistake), rules).made()


def _is_by_rules(mistake: Any) -> TypeGuard[dict[str, Callable[..., Any]]]:
    return isinstance(mistake, dict)


class _Replay:
    """One replay: the record, the mistake, and what is made."""

    def __init__(self, trace: Trace, mistake: str, rules: dict[str, Any]):
        self.trace, self.mistake, self.rules = trace, mistake, rules
        self.live = isinstance(trace._source, Builder)
        self.out = Trace()
        self.left: dict[int, Any] = {}

    def made(self) -> Trace:
        """The trace of the replay."""
        out, trace = self.out, self.trace
        out.nodes, out.groups, out.error = trace.nodes, trace.groups, trace.error
        out.rules = {name: self._rule(name, rule) for name, rule in trace.rules.items()}
        steps: list[Step] = []
        out.steps = steps
        walks: list[Walk] = []
        for number, walk in enumerate(trace.walks):
            first = len(steps)
            if walk.direction == "forward":
                same = trace.steps[walk.first : walk.first + walk.steps]
                steps += [Step(**step.to_dict() | {"index": first + at}) for at, step in enumerate(same)]
                walks.append(Walk(**walk.to_dict() | {"first": first}))
                continue
            arrived = self._held_before(number, walk)
            before = dict(arrived)
            with np.errstate(all="ignore"):
                error = self._walk(number, walk, arrived, before, steps)
            leaves = [self._leaf(leaf, before, arrived) for leaf in walk.leaves if leaf.node in arrived]
            walks.append(
                Walk(
                    direction=walk.direction, root=walk.root, seed=walk.seed, first=first, steps=len(steps) - first,
                    lines=walk.lines, leaves=leaves, error=error or walk.error,
                )
            )
            self.left |= {leaf.node: leaf.after for leaf in leaves}
        out.walks, out.gradients = walks, dict(self.left)
        return out

    def _held_before(self, number: int, walk: Walk) -> dict[int, Any]:
        """What leaves hold when a walk begins: what this replay has left there, where the program had not cleared
        it."""
        earlier = list(self.trace.walks[:number])
        last = {leaf.node: leaf.after for each in earlier if each.direction == "backward" for leaf in each.leaves}
        held: dict[int, Any] = {}
        for leaf in walk.leaves:
            if leaf.before is not None:
                same = leaf.node in last and _equal(last[leaf.node], leaf.before)
                held[leaf.node] = self.left.get(leaf.node, leaf.before) if same else _array(leaf.before)
        return held

    def _leaf(self, leaf: Held, before: dict[int, Any], arrived: dict[int, Any]) -> Held:
        after, held = arrived[leaf.node], before.get(leaf.node)
        received = after if held is None or self.mistake == "replace" else after - held
        return Held(node=leaf.node, value=leaf.value, before=held, received=received, after=after)

    # The walk ---------------

    def _walk(
        self, number: int, walk: Walk, arrived: dict[int, Any], earlier: dict[int, Any], steps: list[Step]
    ) -> Failure | None:
        """Go back from the root; what broke it off, if something did."""
        told: dict[int, list[Step]] = {}
        for step in self.trace.steps[walk.first : walk.first + walk.steps]:
            told.setdefault(step.node, []).append(step)
        if walk.root is None or not told:
            return None
        arrived[walk.root] = _array(walk.seed)
        order = self._as_reached(walk.root, told) if self.mistake == "no order" else told
        for node in order:
            upstream = self._upstream(node, arrived)
            if upstream is None:
                continue
            for step in told[node]:
                try:
                    self._step(number, step, upstream, arrived, earlier, steps)
                except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
                    if isinstance(error, MissingError):
                        raise ValueError(str(error)) from None
                    lines = self.trace.nodes[node].lines
                    return Failure(kind=type(error).__name__, text=str(error), node=node, lines=lines)
        return None

    def _as_reached(self, root: int, told: dict[int, list[Step]]) -> Iterator[int]:
        """The applications as they are reached from the root, each once."""
        todo, met = [root], {root}
        while todo:
            node = todo.pop()
            if node in told:
                yield node
            below = [step.target for step in told.get(node, ())]
            if self.trace.nodes[node].kind == "output":
                below = [at for _, at in self.trace.nodes[node].inputs]
            for target in reversed(below):
                if target not in met:
                    met.add(target)
                    todo.append(target)

    def _upstream(self, node: int, arrived: dict[int, Any]) -> Any:
        """What has arrived at an application; of one with several outputs, at each."""
        if node in arrived:
            return arrived[node]
        if not self.live:
            return None
        key = self.trace._source.outline.keys[node]
        numbers = self.trace._source.outline.places
        parts = {part.index: numbers[id(part)] for part in self._parts(key) if numbers[id(part)] in arrived}
        if not parts:
            return None
        return [arrived.get(parts.get(i, -1)) for i in range(len(key.shape_dtype))]

    def _parts(self, key: Any) -> list[Part]:
        outline = self.trace._source.outline
        return [each for each in outline.keys if isinstance(each, Part) and each.parents[0] is key]

    def _step(
        self, number: int, step: Step, upstream: Any, arrived: dict[int, Any], earlier: dict[int, Any],
        steps: list[Step],
    ) -> None:  # fmt: skip
        """One step, with the mistake in it."""
        told = first_of(upstream)
        local, raw = self._sent(step, upstream)
        axes = step.summed_axes if self.mistake != "axes" else ()
        contribution = _summed(raw, step) if axes else raw
        before = arrived.get(step.target)
        after = contribution if before is None or self.mistake == "replace" else before + contribution
        arrived[step.target] = after
        changed = step.rule in self.rules or self.mistake == "upstream" or (self.mistake == "axes" and step.summed_axes)
        steps.append(
            Step(
                index=len(steps), walk=number, node=step.node, target=step.target, input=step.input, rule=step.rule,
                formula=None if changed else step.formula, upstream=told, local=local, raw=raw, summed_axes=axes,
                contribution=contribution, before=before, after=after, reads=step.reads,
                accumulates=before is not None, earlier=step.target in earlier,
            )
        )

    # What is sent -----------

    def _sent(self, step: Step, upstream: Any) -> tuple[Any, Any]:
        """The local derivative, where the operation is elementwise, and what is sent."""
        if self.mistake == "upstream":
            upstream = _ones(upstream)
        local = None if step.local is None else _array(step.local)
        if step.rule in self.rules:
            value = self._by_another_rule(step, upstream)
            if self.trace.rules[step.rule].kind != "elementwise":
                return None, value
            local = value
        if local is not None:
            conjugate = is_complex(upstream) and is_complex(local)
            return local, upstream * (np.conj(local) if conjugate else local)
        return None, self._live_sent(step, upstream) if self.live else _scaled(step, upstream)

    def _live_sent(self, step: Step, upstream: Any) -> Any:
        """What the rule itself sends: it is given what it had read, and this upstream."""
        node, contribution, *_ = self.trace._source._told_steps[step.index]
        rule, count = contribution.rule, len(node.parents)
        where = list(input_indices(rule, count))
        xp = devices.device_of(first_of(upstream)).namespace
        named = {**contribution.reads, "xp": xp, "upstream": _filled(xp, upstream, node)}
        sent = apply_transpose(rule, len(where), xp, named)
        return sent[where.index(contribution.index)]

    def _by_another_rule(self, step: Step, upstream: Any) -> Any:
        """What another rule makes of the same application."""
        function = self.rules[step.rule]
        code = function.__code__
        named: dict[str, Any] = {"upstream": upstream}
        node = self.trace.nodes[step.node]
        for name, at in node.inputs:
            named[name] = _array(self.trace.nodes[at].value)
            named[f"{name}_shape"] = np.shape(named[name])
        named["out"] = _array(node.value)
        if self.live and (told := self.trace._source.outline.made_by(self._key(step.node))):
            named |= told[4]
        named |= {name: _array(value) for name, value in step.reads.items()}
        named["xp"] = arrays if hasattr(first_of(upstream), "dtype") else floats
        return function(*[named[name] for name in code.co_varnames[: code.co_argcount]])

    def _key(self, node: int) -> Any:
        return self.trace._source.outline.keys[node]

    def _rule(self, name: str, rule: Rule) -> Rule:
        """The rule that is applied under a name; another than before has its own source and formula."""
        if name not in self.rules:
            return rule
        function = self.rules[name]
        source, file, line = rule_source(function)
        reads = tuple(each for each in function.__code__.co_varnames[: function.__code__.co_argcount] if each != "xp")
        written: dict[str, Any] = {"text": None, "latex": None, "mathml": None}
        if self.live:
            place = next(step.index for step in self.trace.steps if step.rule == name)
            _, contribution, upstream, _, _ = self.trace._source._told_steps[place]
            other = OfOp(contribution.rule.op, (rule.input,), function)
            written = formula(other, 0, contribution.reads, bare(upstream))
        if rule.kind == "elementwise":
            reads = ("upstream", *reads)
        return Rule(op=rule.op, input=rule.input, kind=rule.kind, reads=reads, reason=function.__doc__, source=source,
                    file=file, line=line, **written)  # fmt: skip


class MissingError(LookupError):
    """What a file does not tell, and the replay would need."""


def _scaled(step: Step, upstream: Any) -> Any:
    """What a step of a file sends for another upstream: rules are linear in it, so a multiple gives a multiple."""
    was, raw = _array(step.upstream), _array(step.raw)
    if was is None or raw is None:
        raise MissingError(f"replay: step {step.index + 1} of the file does not say what arrived or what was sent")
    if np.shape(was) == np.shape(upstream):
        if np.array_equal(was, upstream):
            return raw
        size = np.max(np.abs(was), initial=0.0)
        factor = 0.0 if not size else upstream.reshape(-1)[np.abs(was).argmax()] / was.reshape(-1)[np.abs(was).argmax()]
        if np.allclose(was * factor, upstream, rtol=1e-12, atol=0):
            return raw * factor
    raise MissingError(
        f"replay: step {step.index + 1} would send something else for another upstream, and a file does not tell what; "
        f"record the program again"
    )


def _summed(raw: Any, step: Step) -> Any:
    """What a rule sends, added up along the axes that broadcasting had repeated, in the shape of the input."""
    shape = np.shape(_array(step.contribution))
    return np.sum(raw, axis=step.summed_axes, keepdims=True).reshape(shape)


def _array(value: Any) -> Any:
    """A value as an array, or a plain number."""
    if isinstance(value, Stored):
        if value.data is None:
            raise MissingError(f"replay: the file keeps only a summary of a value of shape {value.shape}")
        return value.numpy()
    return bare(value)


def _ones(upstream: Any) -> Any:
    """An upstream that changes nothing."""
    if of_outputs(upstream):
        return [None if part is None else np.ones_like(part) for part in upstream]
    return np.ones_like(upstream) if hasattr(upstream, "dtype") else 1.0


def _filled(xp: Any, upstream: Any, node: Any) -> Any:
    """One upstream for each output, zeros where nothing arrived."""
    if not of_outputs(upstream):
        return upstream
    some = first_of(upstream)
    return tuple(
        xp.new_zeros(some, shape, dtype) if part is None else part
        for part, (shape, dtype) in zip(upstream, node.shape_dtype, strict=True)
    )


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are the same, as far as they were kept."""
    if isinstance(a, Stored) and isinstance(b, Stored):
        return a.to_dict() == b.to_dict()
    return bool(np.array_equal(bare(a), bare(b), equal_nan=True))
