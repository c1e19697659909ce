"""The outline of a record: which values there were, where each came from, and in which order."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..backends.shapes import is_sequence
from ..core.backward import Part
from ..core.variable import Leaf, Node, Variable
from .recorder import Recorder, Seen, Told
from .values import bare, one_by_one, same_entries


class Number:
    """A plain number that an operation was given: a node of its own each time."""

    __slots__ = ("_data",)

    def __init__(self, value: Any):
        self._data = value


class Constant:
    """A tensor without a node, as it was when it held some array; written to since, it is another constant."""

    __slots__ = ("_data", "of")

    def __init__(self, of: Any, data: Any):
        self.of, self._data = of, data


class Application:
    """An application that failed: it has no node."""

    __slots__ = ()


def results_of(told: Told) -> tuple[Any, ...]:
    """The results of an application: one, or as many as the operation has outputs."""
    result: Any = told[5]
    return tuple(result) if told[0].outputs and is_sequence(result) else (result,)


class Outline:
    """Which values there were, and where each came from. A value is known by its key: its node, or what stands for it
    where it has none."""

    def __init__(self, applications: list[Told], roots: list[Any], recorder: Recorder):
        self.applications = applications
        self.turns: dict[int, int] = {}
        self.first_uses: dict[int, int] = {}
        self.inputs_of_turn: list[Sequence[Any]] = []
        self._clocks: list[int] = []
        self._versions: dict[int, list[Constant]] = {}
        self._arrays: dict[int, Any] = {}
        self._results: dict[int, Any] = {}
        self._held: dict[int, Any] = {}
        self._written: dict[int, list[tuple[int, Any]]] = {}
        self._saved: dict[int, Any] = {}
        self._meet_all()
        self._meet_saved(recorder)
        if not roots:
            roots = [self.output_keys(told)[0] for told in applications]
        known = [self._results.get(id(root), root) for root in roots]
        self.keys = self._in_order(known)
        self.places = {id(key): place for place, key in enumerate(self.keys)}
        self.places |= {id(root): self.places[id(key)] for root, key in zip(roots, known, strict=True)}
        self.turn_at = [self.turns.get(id(key)) for key in self.keys]

    def output_keys(self, told: Told) -> list[Any]:
        """What the results of an application are known by."""
        if told[2] is not None:
            return [told[2]]
        return [getattr(result, "node", None) or result for result in results_of(told)]

    def _input_keys(self, told: Told) -> Sequence[Any]:
        """What the inputs of an application are known by: the nodes that its result has as parents. They are those of
        the time: an in-place operation may have given a tensor another node since."""
        inputs, known, data, result = told[1], told[2], told[3], told[5]
        if known is None and hasattr(result, "made_by"):  # numbers are known by themselves
            if all(hasattr(value, "_data") for value in inputs):
                return inputs
            pairs = zip(inputs, data, strict=True)
            return [value if hasattr(value, "_data") else Number(array) for value, array in pairs]
        if is_sequence(result):
            nodes = (part.node for part in results_of(told))
            known = next((node.parents[0] for node in nodes if node is not None), None)
        parents = known.parents if known is not None else [None] * len(data)
        found: list[Any] = []
        for value, parent, array in zip(inputs, parents, data, strict=True):
            if parent is not None or value is None:
                found.append(parent)
            elif isinstance(value, (Seen, Variable)):
                node = value.node
                if node is not None and known is not None and getattr(node, "created", 0) >= known.created:
                    node = None  # `total += y` has given a constant a node since
                found.append(node or self._constant(getattr(value, "variable", value), array))
            elif hasattr(value, "_data"):
                found.append(value)
            else:
                found.append(Number(array))
        return found

    def _meet_all(self) -> None:
        """Note what each application was given and gave, one after the other, and the clock when it was done."""
        clock, turns = 0, self.turns
        for turn, told in enumerate(self.applications):
            found = self._input_keys(told)
            self.inputs_of_turn.append(found)
            for key, array in zip(found, told[3], strict=True):
                if key is None:
                    continue
                clock = max(clock, getattr(key, "created", 0))
                if id(key) in turns:
                    continue
                if id(key) not in self.first_uses:
                    self.first_uses[id(key)] = turn
                elif (last := self._held[id(key)]) is not array:
                    self._written.setdefault(id(key), [(0, last)]).append((turn, array))
                self._held[id(key)] = array
            for key in self.output_keys(told):
                maker = key.parents[0] if type(key) is Part else key
                clock = max(clock, getattr(maker, "created", 0))
                turns.setdefault(id(key), turn)
                turns.setdefault(id(maker), turn)
                if type(key) is Seen:
                    self._arrays[id(key._data)] = self._results[id(key.variable)] = key
            self._clocks.append(clock)

    def first_use(self, key: Any) -> tuple[int, Any] | None:
        """The first application that was given a value that none had made, and as what: a tensor for its node."""
        turn = self.first_uses.get(id(key))
        if turn is None:
            return None
        if hasattr(key, "_data"):  # it is known by itself
            return turn, key
        given = zip(self.applications[turn][1], self.inputs_of_turn[turn], strict=True)
        return turn, next(value for value, each in given if each is key)

    def _constant(self, value: Any, array: Any) -> Any:
        """What a tensor without a node is known by: the application that made its array, or itself while its array is
        the same."""
        versions = self._versions.setdefault(id(value), [])
        for known in (self._arrays.get(id(array)), self._results.get(id(value)), *versions[-1:]):
            if known is not None and (known._data is array or same_entries(known._data, array)):
                return known
        versions.append(Constant(value, array))
        return versions[-1]

    def _meet_saved(self, recorder: Recorder) -> None:
        """Note what is known of values made before the recording began: results, and what rules had saved."""
        for walk in recorder.walks:
            if id(walk.key) not in self.turns and hasattr(walk.root, "_data"):
                self._saved.setdefault(id(walk.key), bare(walk.root))
            for node, contribution, _, _, _ in walk.steps:
                if id(node) in self.turns or not isinstance(node, Node):
                    continue
                reads = one_by_one(contribution.reads)
                for name, parent in self.inputs(node):
                    if name in reads and id(parent) not in self.turns:
                        self._saved.setdefault(id(parent), bare(reads[name]))

    @cached_property
    def _same_run(self) -> tuple[set[int], set[int]]:
        """The applications that the same run of an instruction asked for as the next one, or as the one before; of
        those that belong to the record."""
        there = sorted({turn for turn in self.turn_at if turn is not None})
        run = [told[8] for told in self.applications]
        together = [(one, other) for one, other in pairwise(there) if run[one] is run[other] is not None]
        return {one for one, _ in together}, {other for _, other in together}

    def goes_on(self, turn: int) -> bool:
        """Whether the run of the instruction that asked for an application asked for the next one as well."""
        return turn in self._same_run[0]

    def went_on(self, turn: int) -> bool:
        """Whether the run of the instruction that asked for an application had asked for the one before as well."""
        return turn in self._same_run[1]

    def turn_of(self, key: Any) -> int | None:
        """Which application made a value."""
        return self.turns.get(id(key))

    def made_by(self, key: Any) -> Told | None:
        """The application that made a value, as it was told."""
        turn = self.turns.get(id(key))
        return None if turn is None else self.applications[turn]

    def inputs(self, key: Any) -> list[tuple[str, Any]]:
        """The inputs of a node, by name."""
        if isinstance(key, Part):
            return [("of", key.parents[0])]
        turn = self.turns.get(id(key))
        if turn is not None:
            keys = self.inputs_of_turn[turn]
            names = self.applications[turn][0].input_names(len(keys))
            return [(name, each) for name, each in zip(names, keys, strict=False) if each is not None]
        if not hasattr(key, "parents"):
            return []
        names = key.op.input_names(len(key.parents)) if key.op else map(str, range(len(key.parents)))
        return [(name, parent) for name, parent in zip(names, key.parents, strict=False) if parent is not None]

    def inputs_of(self, key: Any) -> Sequence[Any]:
        """The inputs of a node; None for one that was not given."""
        if type(key) is Part:
            return key.parents[:1]
        turn = self.turns.get(id(key))
        return getattr(key, "parents", ()) if turn is None else self.inputs_of_turn[turn]

    @cached_property
    def edges(self) -> tuple[list[int], list[int]]:
        """Where the edges begin and where they end, by the numbers of the nodes: a hundred thousand pairs would take
        more time to make than to read."""
        starts: list[int] = []
        ends: list[int] = []
        for place, key in enumerate(self.keys):
            for parent in self.inputs_of(key):
                if parent is not None:
                    starts.append(self.places[id(parent)])
                    ends.append(place)
        return starts, ends

    def _in_order(self, roots: list[Any]) -> list[Any]:
        """All that the roots depend on, in order of birth: by the clock, and by turns where the clock stood still.
        Constants, and numbers that can be given another value, come just before the first application that uses
        them."""
        found: dict[int, Any] = {}
        todo = roots[::-1]
        while todo:
            key = todo.pop()
            if key is not None and id(key) not in found:
                found[id(key)] = key
                todo += self.inputs_of(key)[::-1]
        return sorted(found.values(), key=self._birth)

    def _birth(self, key: Any) -> int:
        """When a value came to be, as one number: the clock, then the turn, between those before and after it."""
        used, made = self.first_uses.get(id(key)), self.turns.get(id(key))
        if used is not None:
            clock, turn = self._clocks[used], 2 * used
        elif made is not None:
            clock, turn = self._clocks[made], 2 * made + 1
        else:
            clock, turn = getattr(key, "created", 0), 0
        if isinstance(key, Node):
            clock = key.created
        return clock * (2 * len(self.applications) + 1) + turn

    def value(self, key: Any) -> Any:
        """What is known of a node's value; of a leaf that was written to, the first."""
        told = self.made_by(key)
        if told is not None and told[2] is key:
            return told[5]
        if told is not None:
            for result, known in zip(results_of(told), self.output_keys(told), strict=True):
                if known is key:
                    return None if isinstance(result, Application) else bare(result)
            return None
        if isinstance(key, (Number, Constant)):
            return key._data
        if id(key) in self._written:
            return self._written[id(key)][0][1]
        if id(key) in self._held:
            return self._held[id(key)]
        if id(key) in self._saved:
            return self._saved[id(key)]
        if isinstance(key, Leaf) or not isinstance(key, Node):
            return getattr(key, "_data", None)
        saved = dict(zip(key.op.saves, key.saved or (), strict=False)) if key.op else {}
        return saved.get("out")

    def value_before(self, key: Any, turn: int) -> Any:
        """What a leaf held when so many applications had been made."""
        written = [array for at, array in self._written.get(id(key), ()) if at < turn]
        return bare(written[-1]) if written else self.value(key)
