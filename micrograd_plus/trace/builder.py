"""The builder: makes a trace of what a recorder has noted."""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from .. import variable
from ..application import Op
from ..readings import vocabulary
from ..rule import Contribution
from ..variable import Leaf, Node, Part, Upstreams, Variable
from .formulas import at_hand, formula
from .recorder import Recorder, Scope, Told, Walk
from .sites import Names, rule_source, site_at
from .trace import Rule, Step, Trace, TraceNode


class Number:
    """A plain number that an operation was given: a node of its own each time."""

    __slots__ = ("_data",)

    def __init__(self, value: Any):
        self._data = value


class Applied:
    """One application, as it was told."""

    __slots__ = ("data", "frame", "inputs", "names", "op", "outputs", "params", "site")

    def __init__(self, told: Told, scopes: dict[int, Scope]):
        op, inputs, data, params, result, self.frame, instruction = told
        self.op, self.params = op, params
        self.outputs: tuple[Any, ...] = result if op.outputs else (result,)
        asked = scopes.get(self.frame)
        self.site = None if asked is None else site_at(asked[0], asked[2], instruction)
        self.inputs = [Number(value) if isinstance(value, (int, float, complex)) else value for value in inputs]
        self.data = [*data]
        self.names = op.flat_names(len(self.inputs))


def key_of(value: Any) -> Any:
    """What a value is known by: its node, or itself where it has none."""
    node = getattr(value, "node", None)
    return value if node is None else node


def application_of(key: Any) -> Any:
    """The application that one of several results is of; any other value is known by its application."""
    return key.parents[0] if isinstance(key, Part) else key


class Builder:
    """Makes a trace of what a recorder was told."""

    def __init__(self, recorder: Recorder, trace: Trace):
        self.recorder, self.trace = recorder, trace
        self.applications = [Applied(told, recorder.scopes) for told in recorder.applications]
        self._called: dict[int, Names] = {}
        self.made: dict[int, Applied] = {}
        self.values: dict[int, Any] = {}
        self.labels: dict[int, str] = {}
        for told in self.applications:
            self._meet(told)
        self.places: dict[int, int] = {}
        self._kept: list[Any] = []
        self._upstreams: dict[int, Any] = {}

    def _names(self, frame: int) -> Names:
        """What a frame of the user's calls its values."""
        if frame not in self._called:
            self._called[frame] = Names(self.recorder.scopes.get(frame, ())[1:])
        return self._called[frame]

    def _meet(self, told: Applied) -> None:
        """Note where values come from, what leaves hold and what the user calls them."""
        for value, data in zip(told.inputs, told.data, strict=True):
            place = id(key_of(value))
            if value is not None and place not in self.values and place not in self.made:
                self.values[place] = data
                if label := self._names(told.frame).of(value):
                    self.labels[place] = label
        for output in told.outputs:
            key = key_of(output)
            self.made[id(key)] = told
            if isinstance(key, Part):
                self.made[id(key.parents[0])] = told

    def _meet_before(self, walk: Walk) -> None:
        """Note what is known of values made before the recording began: the result, what rules had saved, and what the
        program that asked for the walk calls its leaves."""
        self.values.setdefault(id(key_of(walk.root)), _bare(walk.root))
        leaves: set[int] = set()
        for node, contribution, _, _, _ in walk.steps:
            reads = one_by_one(contribution.reads)
            for name, parent in self._inputs(node):
                if name in reads:
                    self.values.setdefault(id(parent), _bare(reads[name]))
                if not self._inputs(parent):
                    leaves.add(id(parent))
        names = self._names(walk.frame)
        for value in names.held.values():
            place = id(value.node if isinstance(value, Variable) else value)
            if place in leaves and place not in self.labels and (label := names.of(value)):
                self.labels[place] = label

    def build(self) -> None:
        """Fill the trace: the nodes that the root depends on, then the steps, then what each leaf received."""
        walk = self.recorder.walks[-1] if self.recorder.walks else None
        if walk is None:
            for told in self.applications:
                self._node(key_of(told.outputs[0]))
            return
        walk.complete()
        self._meet_before(walk)
        self._upstreams = {id(node): upstream for node, _, upstream, _, _ in walk.steps}
        root = key_of(walk.root)
        self.trace.root, self.trace.seed = self._node(root), _bare(walk.seed)
        for told in walk.steps:
            self._step(*told)

    # Nodes ------------------

    def _node(self, root: Any) -> int:
        """The number of a node; it and all it depends on are added in order of birth."""
        found: dict[int, Any] = {}
        todo = [root]
        while todo:
            key = todo.pop()
            if id(key) in self.places or id(key) in found:
                continue
            found[id(key)] = key
            todo.extend(reversed([parent for _, parent in self._inputs(key)]))
        for key in sorted(found.values(), key=self._born):
            self._add(key)
        return self.places[id(root)]

    def _born(self, key: Any) -> tuple[int, int]:
        """When a value came to be: by the clock, and by turns where the clock stood still. Constants, and numbers that
        can be given another value, come just before the first application that uses them."""
        last, turn = self._first_seen.get(id(key), (getattr(key, "serial", 0), 0))
        return (key.serial if isinstance(key, Node) else last), turn

    @cached_property
    def _first_seen(self) -> dict[int, tuple[int, int]]:
        seen: dict[int, tuple[int, int]] = {}
        last = 0
        for turn, told in enumerate(self.applications):
            inputs, results = ([key_of(value) for value in values] for values in (told.inputs, told.outputs))
            makers = [application_of(key) for key in results]
            last = max(last, *(getattr(key, "serial", 0) for key in (*inputs, *makers)))
            for moment, keys in ((2 * turn, inputs), (2 * turn + 1, makers + results)):
                for key in keys:
                    seen.setdefault(id(key), (last, moment))
        return seen

    def _inputs(self, key: Any) -> list[tuple[str, Any]]:
        """The inputs of a node, by name."""
        if isinstance(key, Part):
            return [("of", key.parents[0])]
        told = self.made.get(id(key))
        if told is not None:
            pairs = zip(told.names, told.inputs, strict=True)
            return [(name, key_of(value)) for name, value in pairs if value is not None]
        if isinstance(key, (Number, Variable)):
            return []
        names = key.op.flat_names(len(key.parents)) if key.op else map(str, range(len(key.parents)))
        return [(name, parent) for name, parent in zip(names, key.parents, strict=False) if parent is not None]

    def _add(self, key: Any) -> None:
        inputs = self._inputs(key)
        place = self.places[id(key)] = len(self.trace.nodes)
        self._kept.append(key)
        told = self.made.get(id(key))
        op = told.op if told else getattr(key, "op", None)
        params = {name: spelled(value) for name, value in told.params.items()} if told else {}
        kind = "output" if isinstance(key, Part) else "leaf" if op is None else "application"
        self.trace.nodes.append(
            TraceNode(
                id=place,
                kind=kind,
                op=op.name if kind == "application" and op else None,
                summary=first_line(op) if kind == "application" else None,
                inputs=[(name, self.places[id(parent)]) for name, parent in inputs],
                params=params if kind == "application" else {},
                label=self.labels.get(id(key)) or (output_name(key) if isinstance(key, Part) else None),
                requires_grad=not isinstance(key, (Number, Variable)),
                value=self._value(key, told),
                site=told.site if told else None,
                inside=inside(told, self._upstreams.get(id(key))) if told and kind == "application" else None,
            )
        )

    def _value(self, key: Any, told: Applied | None) -> Any:
        """What is known of a node's value."""
        if told is not None:
            for output in told.outputs:
                if key_of(output) is key:
                    return _bare(output)
            return None
        if isinstance(key, Number):
            return key._data
        if isinstance(key, Leaf) or not isinstance(key, Node):
            return self.values.get(id(key), getattr(key, "_data", None))
        saved = dict(zip(key.op.saves, key.saved or (), strict=False)) if key.op else {}
        return saved.get("out", self.values.get(id(key)))

    # Steps ------------------

    def _step(self, node: Any, contribution: Contribution, upstream: Any, before: Any, after: Any) -> None:
        rule = contribution.rule
        parents = node.parents if isinstance(node, Node) else (node.first, node.second)
        target, source = self._node(parents[contribution.index]), self._node(node)
        known = contribution.reads
        if rule.at_once and (told := self.made.get(id(node))) is not None:
            known = at_hand(rule, told.data, told.params, told.outputs[0])
        arrived, reads = _bare(upstream), {name: _bare(value) for name, value in one_by_one(known).items()}
        if isinstance(upstream, Upstreams):
            parts = {f"upstream[{i}]": _bare(part) for i, part in sorted(upstream.parts.items())}
            arrived, reads = next(iter(parts.values())), {**reads, **parts}
        self.trace.steps.append(
            Step(
                index=len(self.trace.steps),
                node=source,
                input=rule.op.flat_names(len(getattr(node, "parents", ())) or 2)[contribution.index],
                target=target,
                rule=self._rule(rule, contribution.index, known, upstream, self._outputs(node, upstream)),
                upstream=arrived,
                local=_bare(contribution.local),
                raw=_bare(contribution.raw),
                summed_axes=contribution.summed_axes,
                contribution=_bare(contribution.value),
                before=_bare(before),
                after=_bare(after),
                reads={name: value for name, value in reads.items() if _is_value(value)},
                accumulates=before is not None,
            )
        )
        if self.trace.nodes[target].kind == "leaf":
            self.trace.gradients[target] = _bare(after)

    def _outputs(self, node: Any, upstream: Any) -> int:
        """How many results an application had; of one that was not recorded, as many as have names, or are known to
        have mattered."""
        told = self.made.get(id(node))
        if told is not None:
            return len(told.outputs)
        return max(len(node.op.outputs), max(upstream.parts) + 1) if isinstance(upstream, Upstreams) else 1

    def _rule(self, rule: Any, index: int, reads: dict[str, Any], upstream: Any, count: int) -> str:
        """The name under which a rule stands; applied with other parameters it may have another formula."""
        served = rule.inputs[0] if rule.op.kind == "joining" else rule.op.inputs[index]
        place = index if rule.op.kind == "joining" else rule.inputs.index(served)
        known = upstream.parts[min(upstream.parts)] if isinstance(upstream, Upstreams) else upstream
        upstreams = [known] * count if rule.op.outputs else known
        written = formula(rule, place, reads, upstreams)
        name = base = f"{rule.op.name}.{served}"
        number = 1
        while name in self.trace.rules and self.trace.rules[name].latex != written["latex"]:
            number += 1
            name = f"{base}#{number}"
        if name not in self.trace.rules:
            source, file, line = rule_source(rule.function)
            names = tuple(read for read in rule.reads if read != "xp")
            if rule.op.kind == "elementwise":
                names = ("upstream", *names)
            self.trace.rules[name] = Rule(
                op=rule.op.name, input=served, kind=rule.op.kind, reads=names, reason=rule.reason, source=source,
                file=file, line=line, **written,
            )  # fmt: skip
        return name


def inside(told: Applied, upstream: Any) -> Callable[[], Trace | None] | None:
    """How to tell an application as a smaller program, when somebody asks."""
    op = told.op
    whole = all(value is None or isinstance(value, (Variable, Number)) for value in told.inputs)
    if not op.composite or upstream is None or not whole:
        return None

    def tell() -> Trace:
        trace, recorder = Trace(), Recorder(within=op.forward.__code__)
        inputs = [
            again(value, data, name) if isinstance(value, Variable) else getattr(value, "_data", None)
            for value, data, name in zip(told.inputs, told.data, told.names, strict=True)
        ]
        with variable.enable_grad(), recorder:
            out = op.forward(vocabulary.tensors, *inputs, **told.params)
            end, arrived = end_to_end(out[0] if op.keeps else out, upstream)
            end.gradients(arrived)
        recorder.close(trace)
        Builder(recorder, trace).build()
        return trace

    return tell


def end_to_end(out: Any, upstream: Any) -> tuple[Any, Any]:
    """Where the walk inside begins, and with what: several outputs are laid end to end, and their gradients too."""
    if not isinstance(upstream, Upstreams):
        return out, upstream
    words, places = vocabulary.tensors, sorted(upstream.parts)
    if len(places) == 1:
        return out[places[0]], upstream.parts[places[0]]
    arrived = [words.ravel(Variable.public.of(upstream.parts[place])) for place in places]
    return words.concatenate([words.ravel(out[place]) for place in places]), words.concatenate(arrived)


def again(value: Any, data: Any, name: str) -> Any:
    """A leaf that holds what an input held, under the name that the operation has for it."""
    leaf = Variable.public.of(data)
    leaf.requires_grad = value.node is not None
    leaf.label = name
    return leaf


def output_name(part: Part) -> str:
    """What one of several outputs is called where the user's program does not say: by its operation and its own name,
    or its number."""
    application: Any = part.parents[0]
    names = application.op.outputs
    return f"{application.op.name}.{names[part.index]}" if len(names) > 1 else f"{application.op.name}[{part.index}]"


def first_line(op: Op | None) -> str | None:
    """What an operation is, in its own words."""
    return (op.forward.__doc__ or "").strip().partition("\n")[0] or None if op is not None else None


def spelled(value: Any) -> str:
    """A parameter as Python would print it; arrays by shape."""
    if hasattr(value, "shape") and getattr(value, "ndim", 0):
        return f"array of shape {tuple(value.shape)}"
    return getattr(value, "__name__", None) or str(value)


def one_by_one(reads: dict[str, Any]) -> dict[str, Any]:
    """What a rule read, a list of arrays one by one, under the names that formulas have for them: `parts[0]`."""
    named: dict[str, Any] = {}
    for name, value in reads.items():
        if isinstance(value, (list, tuple)) and all(hasattr(each, "dtype") for each in cast("list[Any]", value)):
            named |= {f"{name}[{i}]": each for i, each in enumerate(cast("list[Any]", value))}
        else:
            named[name] = value
    return named


def _is_value(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, (int, float, complex))


def _bare(value: Any) -> Any:
    """The array or number itself."""
    return getattr(value, "_data", value)


