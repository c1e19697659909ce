"""Outline of a record: which values there are, where each came from, and their order."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from ..core.backward import Part
from ..core.variable import Leaf, Node, Variable
from .events import Application, ValueRef, maker_of
from .history import History
from .values import array_of, has_same_entries, separate_arrays


class Number:
    """Key of a plain number that an operation was given. Each use is a separate node."""

    __slots__ = ("_data",)

    def __init__(self, value: Any):
        self._data = value


class Constant:
    """Key of a tensor without a node while it holds one array. Once written to, it is another constant."""

    __slots__ = ("_data", "variable")

    def __init__(self, variable: Any, data: Any):
        self.variable, self._data = variable, data


def requires_grad(key: Any) -> bool:
    """Return whether the value of a key requires a gradient."""
    return not isinstance(key, (Number, Constant, ValueRef, Variable))


def is_number(application: Application) -> bool:
    """Return whether an application is one of micrograd's values, which are their own keys."""
    return application.node is None and hasattr(application.result, "made_by")


def _keys_of_numbers(application: Application) -> Sequence[Any]:
    """Return the keys of the inputs of one of micrograd's values."""
    for value in application.inputs:
        if not hasattr(value, "_data"):
            break
    else:
        return application.inputs
    pairs = zip(application.inputs, application.arrays, strict=True)
    return [value if hasattr(value, "_data") else Number(array) for value, array in pairs]


class FirstUse(NamedTuple):
    """The first application that used a value, the value as it was given there, and its place among the inputs."""

    position: int
    value: Any
    place: int


class Write(NamedTuple):
    """An array that a leaf held, from the application at `position` on."""

    position: int
    array: Any


class Edges(NamedTuple):
    """The edges of the graph as two lists of node ids, which is faster to make and to read than a list of pairs."""

    starts: list[int]
    ends: list[int]


class Outline:
    """The values of a record. Each is identified by its key: its node, or a stand-in if it has none.

    Positions are places in the list of applications; ids are places in `keys`, where the values are sorted.
    """

    def __init__(self, history: History, roots: list[Any]):
        self.applications = history.applications
        self.positions: dict[int, int] = {}
        self.inputs_at: list[Sequence[Any]] = []
        self._first_uses: dict[int, FirstUse] = {}
        self._clocks: list[int] = []
        self._constants: dict[int, list[Constant]] = {}
        self._constant_of_array: dict[int, Constant] = {}
        self._arrays: dict[int, Any] = {}
        self._results: dict[int, Any] = {}
        self._outputs: dict[int, Any] = {}
        self._held: dict[int, Any] = {}
        self.writes: dict[int, list[Write]] = {}
        """The arrays that leaves held, by the id of the key, for leaves that were used with more than one."""
        self._saved: dict[int, Any] = {}
        self._in_walks = {
            position for walk in history.recorder.walks if walk.direction == "backward" and walk.positions
            for position in range(walk.position, walk.positions[-1])
        }  # fmt: skip
        """The positions of applications that rules made. They read what leaves held as the graph was made, which the
        program may have changed since."""
        self._read_applications()
        self._read_saved_values(history)
        roots = roots or [application.output_keys[0] for application in self.applications]
        known = [self._results.get(id(root), root) for root in roots]
        self.keys = self._sort_behind(known)
        self.ids = {id(key): number for number, key in enumerate(self.keys)}
        self.ids |= {id(root): self.ids[id(key)] for root, key in zip(roots, known, strict=True)}
        self.position_of_node = [self.positions.get(id(key)) for key in self.keys]

    # Reading ----------------------------------------------

    def _read_applications(self) -> None:
        """Note the keys of each application's inputs and results, and the clock when it was done."""
        clock, positions = 0, self.positions
        for position, application in enumerate(self.applications):
            is_value = is_number(application)
            keys = _keys_of_numbers(application) if is_value else self._input_keys(application)
            self.inputs_at.append(keys)
            for place, key in enumerate(keys):
                if key is None:
                    continue
                if (created := getattr(key, "created", 0)) > clock:
                    clock = created
                if id(key) not in positions:
                    self._note_use(key, application.inputs[place], application.arrays[place], position, place)
            if is_value:
                positions.setdefault(id(application.result), position)
                clock = max(clock, application.result.created)
            else:
                clock = self._note_results(application, position, clock)
            self._clocks.append(clock)

    def _note_results(self, application: Application, position: int, clock: int) -> int:
        """Note the keys of an application's results, and return the clock after it."""
        for key, result in zip(application.output_keys, application.results, strict=True):
            if key is not result and application.node is None:
                self._outputs[id(key)] = result
            maker = maker_of(key)
            clock = max(clock, getattr(maker, "created", 0))
            self.positions.setdefault(id(key), position)
            self.positions.setdefault(id(maker), position)
            if type(key) is ValueRef:
                self._arrays[id(key._data)] = self._results[id(key.variable)] = key
        return clock

    def _note_use(self, key: Any, value: Any, array: Any, position: int, place: int) -> None:
        """Note the array that a leaf held when an application used it."""
        if id(key) not in self._first_uses:
            self._first_uses[id(key)] = FirstUse(position, key if hasattr(key, "_data") else value, place)
        if position in self._in_walks:
            self._saved.setdefault(id(key), array)
            return
        if (last := self._held.get(id(key), array)) is not array:
            self.writes.setdefault(id(key), [Write(0, last)]).append(Write(position, array))
        self._held[id(key)] = array

    def _input_keys(self, application: Application) -> Sequence[Any]:
        """Return the keys of an application's inputs: the parents of its result, as they were then. An in-place
        operation can have given a tensor another node since."""
        inputs, arrays = application.inputs, application.arrays
        node = application.graph_node
        parents = node.parents if node is not None else [None] * len(arrays)
        triples = zip(inputs, parents, arrays, strict=True)
        return [self._input_key(value, parent, array, node) for value, parent, array in triples]

    def _input_key(self, value: Any, parent: Node | None, array: Any, node: Node | None) -> Any:
        """Return the key of one input; None for an input that is absent."""
        if parent is not None or value is None:
            return parent
        if isinstance(value, (ValueRef, Variable)):
            own = value.node
            if own is not None and node is not None and getattr(own, "created", 0) >= node.created:
                own = None  # `total += y` has given a constant a node since
            return own or self._constant(getattr(value, "variable", value), array)
        return value if hasattr(value, "_data") else Number(array)

    def _constant(self, variable: Any, array: Any) -> Any:
        """Return the key of a tensor without a node: the application that made its array, or a `Constant` that lasts
        as long as the array is the same."""
        constants = self._constants.setdefault(id(variable), [])
        for known in (self._arrays.get(id(array)), self._results.get(id(variable)), *constants[-1:]):
            if known is not None and (known._data is array or has_same_entries(known._data, array)):
                return known
        # A rule that is differentiated again makes tensors of the arrays that it had saved.
        if id(array) not in self._constant_of_array:
            self._constant_of_array[id(array)] = Constant(variable, array)
        constants.append(self._constant_of_array[id(array)])
        return constants[-1]

    def _read_saved_values(self, history: History) -> None:
        """Note what walks reveal about values made before the recording began: results, and what rules had saved."""
        for walk in history.walks:
            if id(walk.key) not in self.positions and hasattr(walk.root, "_data"):
                self._saved.setdefault(id(walk.key), array_of(walk.root))
            known: Any = None
            for step in walk.steps:
                if id(step.node) in self.positions or not isinstance(step.node, Node):
                    continue
                if step.contribution.reads is known:  # by another step of the same run of a rule
                    continue
                known = step.contribution.reads
                reads = separate_arrays(known)
                for name, parent in self.inputs(step.node):
                    if name in reads and id(parent) not in self.positions:
                        self._saved.setdefault(id(parent), array_of(reads[name]))

    # Order ------------------------------------------------

    def _sort_behind(self, roots: list[Any]) -> list[Any]:
        """Return the keys of all that the roots depend on, in the order in which the values were made.

        Constants and numbers come just before the first application that uses them.
        """
        visited: dict[int, Any] = {id(None): None}
        positions, inputs_at, todo = self.positions, self.inputs_at, roots[::-1]
        while todo:
            key = todo.pop()
            if (number := id(key)) not in visited:
                visited[number] = key
                known = number in positions and type(key) is not Part
                todo.extend(reversed(inputs_at[positions[number]] if known else self.input_keys(key)))
        del visited[id(None)]
        births = self._births(visited)
        return [visited[each] for each in sorted(visited, key=births.__getitem__)]

    def _births(self, keys: dict[int, Any]) -> dict[int, int]:
        """Return when each value was made, as one number: by the clock, then by the position of its application."""
        most, clocks = 2 * len(self.applications) + 1, self._clocks
        births = {each: clocks[made] * most + 2 * made + 1 for each, made in self.positions.items()}
        births |= {each: clocks[use.position] * most + 2 * use.position for each, use in self._first_uses.items()}
        for each, key in keys.items():
            if isinstance(key, Node):
                births[each] = key.created * most + births.get(each, 0) % most
            elif each not in births:
                births[each] = getattr(key, "created", 0) * most
        return births

    # Graph ------------------------------------------------

    def application(self, key: Any) -> Application | None:
        """Return the application that made a value."""
        position = self.positions.get(id(key))
        return None if position is None else self.applications[position]

    def inputs(self, key: Any) -> list[tuple[str, Any]]:
        """Return the inputs of a node: pairs of a name and a key."""
        if isinstance(key, Part):
            return [("of", key.parents[0])]
        position = self.positions.get(id(key))
        if position is not None:
            keys = self.inputs_at[position]
            names = self.applications[position].op.input_names(len(keys))
            return [(name, each) for name, each in zip(names, keys, strict=False) if each is not None]
        if not hasattr(key, "parents"):
            return []
        names = key.op.input_names(len(key.parents)) if key.op else map(str, range(len(key.parents)))
        return [(name, parent) for name, parent in zip(names, key.parents, strict=False) if parent is not None]

    def input_keys(self, key: Any) -> Sequence[Any]:
        """Return the keys of a node's inputs; None for one that is absent."""
        if type(key) is Part:
            return key.parents[:1]
        position = self.positions.get(id(key))
        return getattr(key, "parents", ()) if position is None else self.inputs_at[position]

    def inputs_with_gradients(self, number: int) -> list[int]:
        """Return the inputs of a node to which a gradient can go on from it."""
        key = self.keys[number]
        return [self.ids[id(each)] for each in self.input_keys(key) if each is not None] if requires_grad(key) else []

    @cached_property
    def edges(self) -> Edges:
        """The edges between the nodes of the record."""
        ids, starts, ends = self.ids, list[int](), list[int]()
        for number, (key, position) in enumerate(zip(self.keys, self.position_of_node, strict=True)):
            parents = self.input_keys(key) if position is None or type(key) is Part else self.inputs_at[position]
            for parent in parents:
                if parent is not None:
                    starts.append(ids[id(parent)])
                    ends.append(number)
        return Edges(starts, ends)

    # Values -----------------------------------------------

    def first_use(self, key: Any) -> FirstUse | None:
        """Return the first application that used a leaf, and the leaf as it was given there."""
        return self._first_uses.get(id(key))

    def value(self, key: Any) -> Any:
        """Return the value of a node, as far as it is known; for a leaf that was written to, the first value."""
        application = self.application(key)
        if application is not None and application.node is key:
            return application.result
        if application is not None:  # a result without a node is its own key
            return array_of(self._outputs[id(key)]) if id(key) in self._outputs else getattr(key, "_data", None)
        if isinstance(key, (Number, Constant)):
            return key._data
        if id(key) in self.writes:
            return self.writes[id(key)][0].array
        if id(key) in self._held:
            return self._held[id(key)]
        if id(key) in self._saved:
            return self._saved[id(key)]
        if isinstance(key, Leaf) or not isinstance(key, Node):
            return getattr(key, "_data", None)
        saved = dict(zip(key.op.saves, key.saved or (), strict=False)) if key.op else {}
        return saved.get("out")

    # Calls into the engine --------------------------------

    @cached_property
    def _pairs_of_one_call(self) -> list[tuple[int, int]]:
        """The positions of each two successive applications of the record that were made in the same call."""
        positions = sorted({position for position in self.position_of_node if position is not None})
        tokens = [application.token for application in self.applications]
        return [(one, other) for one, other in pairwise(positions) if tokens[one] is tokens[other] is not None]

    @cached_property
    def _first_of_pairs(self) -> set[int]:
        return {first for first, _ in self._pairs_of_one_call}

    @cached_property
    def _second_of_pairs(self) -> set[int]:
        return {second for _, second in self._pairs_of_one_call}

    def is_followed_in_call(self, position: int) -> bool:
        """Return whether the call into the engine that made an application made the next one too."""
        return position in self._first_of_pairs

    def is_preceded_in_call(self, position: int) -> bool:
        """Return whether the call into the engine that made an application made the one before too."""
        return position in self._second_of_pairs
