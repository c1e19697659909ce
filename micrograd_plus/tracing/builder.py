"""The builder: makes the parts of a trace of what a recorder has noted, each when somebody asks for it.

The outline (which nodes there are, and in which order) takes one pass over what happened. Nodes, steps, formulas and
names are made one by one; a record of a hundred thousand steps is looked at page by page.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import accumulate
from sys import intern
from typing import Any

from ..backends import tensors
from ..backends.devices import device
from ..core.backward import Part
from ..core.rule import Contribution
from ..core.runtime.blocks import enable_grad
from ..core.runtime.recorders import Push, record_to
from ..core.variable import Leaf, Node, Variable, is_complex
from . import formulas
from .calls import Calls, Made
from .failures import Failed
from .formulas import at_hand, formula
from .names import Labels, Names, numbered
from .outline import Application, Constant, Number, Outline
from .progress import said_meanwhile
from .recorder import Forward, Inside, Recorder, Seen, Told, Walk as Walked
from .sites import ENGINE, Site, calls_others, kind_of, rule_source, site_at
from .trace import Failure, Formula, Group, Held, Leaves, Listed, Rule, Step, Trace, TraceNode, Walk
from .values import bare, first_of, of_outputs, one_by_one, spelled

OWN_NAMES = ("forward", "call", "apply", "interpret", "power", "inside", "awaited")
"""Functions of the engine that no program calls by their name."""

quiet = device("cpu").library.errstate


class Builder:
    """Makes the parts of a trace of what a recorder was told."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    def anew(self) -> Builder:
        """The same, with nothing made yet."""
        return Builder(self.recorder)

    # The outline ------------------------------------------

    @cached_property
    def applications(self) -> list[Told]:
        """Every application, and last the one that failed."""
        failed = self._failed_application
        return [*self.recorder.applications, *([] if failed is None else [failed])]

    @cached_property
    def _failed_application(self) -> Told | None:
        broken = self.recorder.failed
        if broken is None or broken.op is None:
            return None
        inputs = [value if _is_known(value) else None for value in broken.inputs]
        data = [bare(value) for value in inputs]
        number = 0
        for place in reversed(broken.places):
            number = next((n for n, call in self.recorder.calls.items() if call.frame.f_code is place[0]), number)
        instruction = broken.places[0][2] if broken.places else -1
        return broken.op, inputs, None, data, broken.params, Application(), number, instruction, None, None

    @cached_property
    def outline(self) -> Outline:
        """Which values there were, where each came from, and which belong to the record."""
        roots = self._roots
        with self._said("the nodes in their order"):
            return Outline(self.applications, roots, self.recorder)

    def _said(self, what: str) -> AbstractContextManager[None]:
        return said_meanwhile(len(self.applications), what)

    @property
    def _roots(self) -> list[Any]:
        roots = [key for walk in self._walked for key in walk.keys]
        if self._failed_application is not None:
            roots.append(self.applications[-1][5])
        return roots

    @cached_property
    def _walked(self) -> list[Walked]:
        """The walks of the block, complete; one that could not begin has no steps."""
        walks = list(self.recorder.walks)
        with self._said("the steps of its walks"), quiet(all="ignore"):
            for walk in walks:
                walk.complete()
        return walks

    @cached_property
    def _told_steps(self) -> list[tuple[Any, Contribution, Any, Any, Any]]:
        return [step for walk in self._walked for step in walk.steps]

    @cached_property
    def _ends(self) -> list[int]:
        """How many steps there were when each walk ended."""
        return list(accumulate(len(walk.steps) for walk in self._walked))

    # Walks ------------------------------------------------

    @cached_property
    def walks(self) -> list[Walk]:
        """The walks, one after the other."""
        made: list[Walk] = []
        first = 0
        for number, walk in enumerate(self._walked):
            broken = walk.failed
            error = None if broken is None else self._failure(broken, self._known_node(broken) or walk.key)
            made.append(
                Walk(
                    direction=walk.direction,
                    root=self.outline.places.get(id(walk.key)),
                    seed=bare(walk.seed),
                    first=first,
                    steps=len(walk.steps),
                    lines=self._lines(walk.call, walk.instruction) or (error.lines if error else []),
                    leaves=self._leaves(number),
                    error=error,
                )
            )
            first += len(walk.steps)
        return made

    @cached_property
    def _received(self) -> list[dict[int, Any]]:
        """What each walk brought to each leaf, by its number; of a walk forward what it began with there."""
        places = self.outline.places
        found: list[dict[int, Any]] = []
        for walk in self._walked:
            if isinstance(walk, Forward):
                found.append({places[id(key)]: tangent for key, tangent in walk.starts.items()})
                continue
            received: dict[int, Any] = {}
            for node, contribution, _, _, after in walk.steps:
                key = _receiver(node, contribution)
                if type(key) is Leaf or getattr(key, "made_by", 0) is None:
                    received[places[id(key)]] = bare(after)
            found.append(received)
        return found

    @cached_property
    def _after(self) -> list[dict[int, Any]]:
        """What each leaf held after each walk, by its number; one forward leaves no gradient behind."""
        found: list[dict[int, Any]] = []
        for walk, received in zip(self._walked, self._received, strict=True):
            after: dict[int, Any] = {}
            for place, got in received.items() if walk.direction == "backward" else ():
                before = self._held_before(walk, place)
                after[place] = got if before is None else before + got
            found.append(after)
        return found

    def _held_before(self, walk: Walked, place: int) -> Any:
        return bare(walk.held.get(self.outline.keys[place]))

    def _leaves(self, number: int) -> Leaves:
        """What the leaves of a walk held before and after it."""
        walk, received, after = self._walked[number], self._received[number], self._after[number]

        def held(place: int) -> Held:
            value = self.outline.value_before(self.outline.keys[place], walk.place)
            before = self._held_before(walk, place)
            return Held(node=place, value=value, before=before, received=received[place], after=after.get(place))

        return Leaves([*received], held)

    @cached_property
    def gradients(self) -> dict[int, Any]:
        """What each leaf holds after all the walks back."""
        held: dict[int, Any] = {}
        for after in self._after:
            held |= after
        return held

    @cached_property
    def error(self) -> Failure | None:
        """What broke the program off, outside of a walk."""
        broken = self.recorder.failed
        if broken is None:
            return None
        return self._failure(broken, None if self._failed_application is None else self.applications[-1][5])

    @cached_property
    def caught(self) -> list[Failure]:
        """Operations that failed while the program went on."""
        return [self._failure(each, None) for each in self.recorder.caught.values()]

    def _known_node(self, broken: Failed) -> Any:
        """The node whose rule failed, if it belongs to the record."""
        return broken.node if id(broken.node) in self.outline.places else None

    def _failure(self, broken: Failed, key: Any) -> Failure:
        lines = [site_at(*place) for place in broken.places]
        return Failure(kind=broken.kind, text=broken.text, node=self.outline.places.get(id(key)), lines=lines)

    # Nodes ------------------------------------------------

    @cached_property
    def nodes(self) -> Sequence[TraceNode]:
        """The nodes, in order of birth."""
        return Listed(len(self.outline.keys), self._node)

    def _node(self, place: int) -> TraceNode:
        key = self.outline.keys[place]
        told = self.outline.made_by(key)
        op = told[0] if told else getattr(key, "op", None)
        kind = "output" if isinstance(key, Part) else "leaf" if op is None else "application"
        applied = kind == "application"
        return TraceNode(
            id=place,
            kind=kind,
            op=op.name if op is not None and applied else None,
            called=self._called(place) if applied else None,
            name=self._name(place),
            label=self.labels[place],
            summary=first_line(op) if applied else None,
            inputs=[(name, self.outline.places[id(parent)]) for name, parent in self.outline.inputs(key)],
            params={name: spelled(value) for name, value in told[4].items()} if told and applied else {},
            requires_grad=not isinstance(key, (Number, Constant, Seen, Variable)),
            value=self.outline.value(key),
            lines=self._lines(told[6], told[7]) if told else [],
            group=self._group_places[place],
            failed=isinstance(key, Application),
            inside=self._inside(told, key) if told and applied else None,
        )

    def _lines(self, number: int, instruction: int) -> list[Site]:
        return [self._site(call.frame, at) for call, at in self._calls.lines(number, instruction)]

    def _site(self, frame: Any, instruction: int) -> Site:
        """Where an instruction stands; each is looked up once."""
        place = id(frame.f_code), instruction
        if place not in self._sites:
            self._sites[place] = site_at(frame.f_code, frame.f_globals, instruction)
        return self._sites[place]

    @cached_property
    def _sites(self) -> dict[tuple[int, int], Site]:
        return {}

    def _called(self, place: int) -> str | None:
        """The function that the program called, where that is no other name for the operation."""
        at = self.outline.turn_at[place]
        if at is None or (between := self.applications[at][9]) is None:
            return None
        name = between.co_name
        if name.startswith(("_", "<")) or len(name) < 3 or name in OWN_NAMES or name == self.applications[at][0].name:
            return None
        if kind_of(between) is not ENGINE or calls_others(between):
            return None
        return None if self.outline.goes_on(at) or self.outline.went_on(at) else name

    def _inside(self, told: Told, key: Any) -> Callable[[], Trace | None] | None:
        return inside(told, self._upstreams.get(id(key))) if told[0].composite else None

    @cached_property
    def _upstreams(self) -> dict[int, Any]:
        return {id(step[0]): step[2] for step in self._told_steps if not isinstance(step[1], Push)}

    # Names ------------------------------------------------

    @cached_property
    def _names(self) -> Names:
        return Names(self.recorder)

    @cached_property
    def labels(self) -> list[str | None]:
        """What the user's program calls each value."""
        outline, names = self.outline, self._names
        with self._said("what the program calls its values"):
            return Labels(outline, names).labels

    def _name(self, place: int) -> str:
        """What a node is called in every part of the record: names that come again are numbered."""
        plain, numbers = self._plain_names
        return f"{plain[place]} #{numbers[place]}" if numbers[place] else plain[place]

    @cached_property
    def _plain_names(self) -> tuple[list[str], list[int]]:
        """What each node is called by itself, and which it is of those of this name, counted from 1; 0 where it is
        alone, and for constants, which go by their numbers."""
        plain: list[str] = []
        constants: list[bool] = []
        each = zip(self.outline.keys, self.labels, self.outline.turn_at, strict=True)
        with self._said("the names of the nodes"):
            for place, (key, label, turn) in enumerate(each):
                op = getattr(key, "op", None) if turn is None else self.applications[turn][0]
                number = None
                if op is not None and not isinstance(key, Part):
                    within = label or self._module_of(place)
                    name = self._called(place) or op.name
                    plain.append(intern(f"{name} ({within})") if within else name)
                else:
                    number = None if label or isinstance(key, Part) else self._as_number(key)
                    plain.append(number or label or "leaf")
                constants.append(number is not None)
            return plain, numbered(plain, constants)

    def _module_of(self, place: int) -> str | None:
        """The path of the innermost module, or scope, that an application belongs to."""
        group = self._made_groups[1][place]
        if group not in self._modules:
            module = group
            while module is not None and module.kind not in ("module", "scope"):
                module = self._calls.around(module)
            self._modules[group] = None if module is None else self._path(module, ("module", "scope"))
        return self._modules[group]

    @cached_property
    def _modules(self) -> dict[Made | None, str | None]:
        return {}

    def _path(self, group: Made, kinds: tuple[str, ...] = ("module", "scope", "function")) -> str:
        """The names of a group and of those around it that are of these kinds."""
        key = id(group), kinds
        if key not in self._paths:
            around = self._calls.around(group)
            outer = "" if around is None else self._path(around, kinds)
            own = group.name if group.kind in kinds else ""
            self._paths[key] = f"{outer}.{own}" if outer and own else outer or own
        return self._paths[key]

    @cached_property
    def _paths(self) -> dict[Any, str]:
        return {}

    def _as_number(self, key: Any) -> str | None:
        value = bare(self.outline.value(key))
        if value is None or getattr(value, "shape", ()) != ():
            return None
        value = value.item() if hasattr(value, "item") else value
        return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)

    # Groups -----------------------------------------------

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self.recorder, self._names)

    @cached_property
    def _made_groups(self) -> tuple[list[Made], list[Made | None]]:
        """The groups in order, and the innermost one of each node."""
        edges = self.outline.edges
        with self._said("what made them"):
            return self._grouped(self._calls.groups(self.applications), edges)

    def _grouped(
        self, of_turn: list[Made | None], edges: tuple[list[int], list[int]]
    ) -> tuple[list[Made], list[Made | None]]:
        """The groups in order and those of the nodes, of the groups of applications; a leaf belongs where all its
        users are."""
        turn_at = self.outline.turn_at
        of_node = [None if turn is None else of_turn[turn] for turn in turn_at]
        met: set[int] = set()
        for start, end in zip(*edges, strict=True):
            if turn_at[start] is None and turn_at[end] is not None:
                of_node[start] = self._around_both(of_node[start], of_node[end]) if start in met else of_node[end]
                met.add(start)
        used: set[int] = set()
        for group in of_node:
            while group is not None and id(group) not in used:
                used.add(id(group))
                group = self._calls.around(group)
        order: dict[int, Made] = {}
        for group in of_turn:
            self._list(group, order)
        groups = [group for group in order.values() if id(group) in used]
        for place, group in enumerate(groups):
            group.place = place
        return groups, of_node

    def _list(self, group: Made | None, order: dict[int, Made]) -> None:
        """Add a group, behind those around it."""
        chain: list[Made] = []
        while group is not None and id(group) not in order:
            chain.append(group)
            group = self._calls.around(group)
        order.update((id(each), each) for each in reversed(chain))

    def _around_both(self, one: Made | None, other: Made | None) -> Made | None:
        """The innermost group that two groups stand in, or are."""
        if one is other or one is None:
            return one
        there = {id(each) for each in self._up(other)}
        return next((each for each in self._up(one) if id(each) in there), None)

    def _up(self, group: Made | None) -> list[Made]:
        chain: list[Made] = []
        while group is not None:
            chain.append(group)
            group = self._calls.around(group)
        return chain

    @cached_property
    def _group_places(self) -> list[int | None]:
        return [None if group is None else group.place for group in self._made_groups[1]]

    @cached_property
    def _group_counts(self) -> tuple[list[int], list[int]]:
        """How many nodes and steps each group has, with those of the groups in it."""
        groups, _ = self._made_groups
        nodes, steps = [0] * len(groups), [0] * len(groups)
        for place in self._group_places:
            if place is not None:
                nodes[place] += 1
        places = self.outline.places
        groups_of_nodes = self._group_places
        for step in self._told_steps:
            group = groups_of_nodes[places[id(step[0])]]
            if group is not None:
                steps[group] += 1
        for place in range(len(groups) - 1, -1, -1):
            outer = self.parents[place]
            if outer is not None:
                nodes[outer] += nodes[place]
                steps[outer] += steps[place]
        return nodes, steps

    @cached_property
    def parents(self) -> list[int | None]:
        """The group around each group."""
        around = map(self._calls.around, self._made_groups[0])
        return [None if outer is None else outer.place for outer in around]

    @cached_property
    def groups(self) -> Sequence[Group]:
        """What made the nodes, as a tree: a group stands behind the one it is in."""
        return Listed(len(self._made_groups[0]), self._group)

    def _group(self, place: int) -> Group:
        made = self._made_groups[0][place]
        name = made.name if made.loop is None else f"round {made.round} of {made.loop.rounds}"
        path = self._path(made) if made.loop is None else f"{self._path(made)} {name}".strip()
        line = None
        if made.call is not None:
            lines = self._lines(made.call.parent, made.call.instruction)
            line = lines[0] if lines else None
        elif made.loop is not None:
            line = self._site(self.recorder.calls[made.loop.call].frame, made.loop.range[0])
        return Group(
            id=place, parent=self.parents[place], kind=made.kind, name=name, path=path,
            of=None if made.module is None else type(made.module).__name__,
            round=made.round or None, rounds=made.loop.rounds if made.loop else None, line=line,
            nodes=self._group_counts[0][place], steps=self._group_counts[1][place],
        )  # fmt: skip

    @cached_property
    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """How many edges join two groups: every part of a long record tells it."""
        group_of = self._group_places.__getitem__
        return Counter(zip(*(map(group_of, ends) for ends in self.outline.edges), strict=True))

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Every edge, as the innermost groups of the two nodes it joins."""
        groups = self._group_places
        return ((groups[start], groups[end]) for start, end in zip(*self.outline.edges, strict=True))

    # Steps ------------------------------------------------

    @cached_property
    def steps(self) -> Sequence[Step]:
        """The steps of all walks, in order."""
        return Listed(len(self._told_steps), self._step)

    def _step(self, index: int) -> Step:
        with quiet(all="ignore"):
            number = bisect_right(self._ends, index)
            node, contribution, upstream, before, after = self._told_steps[index]
            places, key = self.outline.places, _receiver(node, contribution)
            target, known = places[id(key)], self._known(node, contribution)
            arrived, reads = bare(upstream), {name: bare(value) for name, value in one_by_one(known).items()}
            if of_outputs(upstream):
                parts = {f"upstream[{i}]": bare(part) for i, part in enumerate(upstream) if part is not None}
                arrived, reads = next(iter(parts.values())), {**reads, **parts}
            before, after = bare(before), bare(after)
            is_leaf = target in self._received[number] and not isinstance(contribution, Push)
            held = self._held_before(self._walked[number], target) if is_leaf else None
            if held is not None:
                before, after = held if before is None else held + before, held + after
            rule = contribution.rule
            return Step(
                index=index,
                walk=number,
                node=places[id(node)],
                input=rule.op.input_names(len(getattr(node, "parents", ())) or 2)[contribution.index],
                target=target,
                rule=self._rule_names[index],
                formula=self._formula(index),
                upstream=arrived,
                local=bare(contribution.local),
                raw=bare(contribution.raw),
                summed_axes=contribution.summed_axes,
                contribution=bare(contribution.value),
                before=before,
                after=after,
                reads={name: value for name, value in reads.items() if _is_value(value)},
                accumulates=before is not None,
                earlier=held is not None,
            )

    def _known(self, node: Any, contribution: Contribution) -> dict[str, Any]:
        """What a rule read; where that was taken as the operation was applied, what it was taken from."""
        rule, told = contribution.rule, self.outline.made_by(node)
        if not rule.in_forward or told is None:
            return contribution.reads
        return at_hand(rule, list(told[3]), told[4], bare(self.outline.value(node)))

    def _upstream_of(self, node: Any, contribution: Contribution, upstream: Any) -> Any:
        """What stands for upstream in a formula: of several outputs as many as there were, or are known to have
        mattered."""
        arrived = first_of(upstream)
        if not node.op.outputs or isinstance(contribution, Push):
            return arrived
        told = self.outline.made_by(node)
        count = len(told[5]) if told is not None else len(upstream) if of_outputs(upstream) else 1
        return [arrived] * count

    # Rules and formulas -----------------------------------

    @cached_property
    def _rule_of_signature(self) -> tuple[list[str], dict[str, Rule]]:
        """The name of the rule of each step, and the rules. One that is applied with other parameters may have another
        formula; what decides that is compared first, for to write a formula takes a thousand times as long."""
        names: dict[Any, str] = {}
        rules: dict[str, Rule] = {}
        plain: dict[Any, bool] = {}
        every: list[str] = []
        for node, contribution, upstream, _, _ in self._told_steps:
            rule = contribution.rule
            if rule not in plain:
                plain[rule] = formulas.says_all(rule)
            place = contribution.index if rule.op.kind == "variadic" else 0
            if plain[rule]:
                signature: Any = rule, contribution.index, is_complex(upstream)
            else:
                known = self._known(node, contribution)
                arriving = self._upstream_of(node, contribution, upstream)
                signature = formulas.signature(rule, contribution.index, known, arriving)
            if signature not in names:
                names[signature] = self._rule(rules, node, contribution, upstream, place)
            every.append(names[signature])
        return every, rules

    @property
    def _rule_names(self) -> list[str]:
        return self._rule_of_signature[0]

    @property
    def rules(self) -> dict[str, Rule]:
        """Every rule that was applied, by its name."""
        return self._rule_of_signature[1]

    def _rule(self, rules: dict[str, Rule], node: Any, contribution: Contribution, upstream: Any, place: int) -> str:
        """The name under which a rule stands; it is added where it is not there yet."""
        rule, op = contribution.rule, contribution.rule.op
        served = rule.inputs[0] if op.kind == "variadic" else op.inputs[contribution.index]
        place = contribution.index if op.kind == "variadic" else rule.inputs.index(served)
        told = rule, place, self._known(node, contribution), self._upstream_of(node, contribution, upstream)
        signature = None, *formulas.signature_of_step(*told, {}, {}, contribution)
        written, code = self._remembered(
            rule, told[2], signature, lambda: (formula(*told), rule_source(rule.function))
        )
        name = base = f"{op.name}.{served}{' (forward)' if isinstance(contribution, Push) else ''}"
        number = 1
        while name in rules and rules[name].latex != written["latex"]:
            number += 1
            name = f"{base}#{number}"
        if name not in rules:
            source, file, line = code
            names = tuple(read for read in rule.reads if read != "xp")
            if op.kind == "elementwise":
                names = ("upstream", *names)
            rules[name] = Rule(
                op=op.name, input=served, kind=op.kind, reads=names, reason=rule.reason, source=source,
                file=file, line=line, **written,
            )  # fmt: skip
        return name

    def _formula(self, index: int) -> Formula | None:
        """What one step sends, in the names of the user's program."""
        if self.rules[self._rule_names[index]].text is None:
            return None
        node, contribution, upstream, _, _ = self._told_steps[index]
        rule, op = contribution.rule, contribution.rule.op
        served = rule.inputs[0] if op.kind == "variadic" else op.inputs[contribution.index]
        place = contribution.index if op.kind == "variadic" else rule.inputs.index(served)
        shown, constants = self._shown(node, contribution)
        known, arriving = self._known(node, contribution), self._upstream_of(node, contribution, upstream)
        told = rule, place, known, arriving, shown, constants, contribution

        def write() -> Formula | None:
            written = formulas.applied(*told)
            return None if written is None else Formula(**written)

        return self._remembered(rule, known, formulas.signature_of_step(*told), write)

    def _remembered(self, rule: Any, known: dict[str, Any], signature: Any, write: Callable[[], Any]) -> Any:
        """A formula that was written before, in this record or where it may be in any; else what `write` writes."""
        remembered = formulas.OF_EVERY_RECORD if formulas.is_of_every_record(rule, known) else self._written
        if signature not in remembered:
            if remembered is formulas.OF_EVERY_RECORD and len(remembered) >= formulas.MOST_REMEMBERED:
                remembered.clear()
            remembered[signature] = write()
        return remembered[signature]

    @cached_property
    def _written(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def _labels_in_use(self) -> set[str]:
        return {label for label in self.labels if label}

    def _shown(self, node: Any, contribution: Contribution) -> tuple[dict[str, str], dict[str, Any]]:
        """How an application's formula spells what its rule read: by the user's names; the operation's own letter where
        there is none, if no value of the user's goes by it; and plain numbers as they are."""
        shown: dict[str, str] = {}
        constants: dict[str, Any] = {}
        for name, parent in self.outline.inputs(node):
            if isinstance(parent, Number):
                constants[name] = parent._data
                continue
            place = self.outline.places.get(id(parent))
            if place is not None and (spelled_as := self._spelled_as(name, place)):
                shown[name] = spelled_as
        if spelled_as := self._spelled_as("out", self.outline.places[id(node)]):
            shown["out"] = spelled_as
        return shown, constants

    def _spelled_as(self, letter: str, place: int) -> str | None:
        """What a node is called in a formula; None where the operation's own letter will do."""
        return self.labels[place] or (self._name(place) if letter in self._labels_in_use else None)


def inside(told: Told, upstream: Any) -> Callable[[], Trace | None] | None:
    """How to tell an application as a smaller program, when somebody asks."""
    op, inputs, known, data, params = told[:5]
    numbers = (int, float, complex)
    whole = all(value is None or isinstance(value, (Seen, Variable, *numbers)) for value in inputs)
    if upstream is None or not whole:
        return None

    def tell() -> Trace:
        recorder = Inside(op.forward.__code__)
        names = op.input_names(len(inputs))
        parents = [None] * len(inputs) if known is None else known.parents
        given = [
            again(parent or value.node, array, name) if isinstance(value, (Seen, Variable)) else value
            for value, parent, array, name in zip(inputs, parents, data, names, strict=True)
        ]
        with enable_grad(), quiet(all="ignore"), record_to(recorder):
            out = op.forward(tensors, *given, **params)
            end, arrived = end_to_end(out[0] if op.residuals else out, upstream)
            end.gradients(arrived)
        trace = Trace(Builder(recorder))
        recorder.close(trace)
        return trace

    return tell


def end_to_end(out: Any, upstream: Any) -> tuple[Any, Any]:
    """Where the walk inside begins, and with what: several outputs are laid end to end, and their gradients too."""
    if not of_outputs(upstream):
        return out, upstream
    places = [place for place, part in enumerate(upstream) if part is not None]
    if len(places) == 1:
        return out[places[0]], upstream[places[0]]
    arrived = [tensors.ravel(Variable.public.of(upstream[place])) for place in places]
    return tensors.concatenate([tensors.ravel(out[place]) for place in places]), tensors.concatenate(arrived)


def again(key: Any, data: Any, name: str) -> Any:
    """A leaf that holds what an input held, under the name that the operation has for it."""
    leaf = Variable.public.of(data)
    leaf.requires_grad = key is not None
    leaf.label = name
    return leaf


def first_line(op: Any) -> str | None:
    """What an operation is, in its own words."""
    return (op.forward.__doc__ or "").strip().partition("\n")[0] or None if op is not None else None


def _receiver(node: Any, contribution: Contribution) -> Any:
    """The node that receives a contribution: an input of the application; or on the way forward, a result."""
    if isinstance(contribution, Push):
        return contribution.receiver
    parents = node.parents if isinstance(node, Node) else (node.first, node.second)
    return parents[contribution.index]


def _is_known(value: Any) -> bool:
    """Whether a failed application's input is a value that can be shown."""
    return isinstance(value, (int, float, complex)) or hasattr(value, "_data")


def _is_value(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, (int, float, complex))
