"""Parts of a trace: nodes, steps, formulas, rules, groups, walks and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, overload

from .sites import Site


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class TraceNode:
    """A leaf, one application of an operation, or one of several outputs."""

    id: int
    kind: str
    name: str
    op: str | None = None
    called: str | None = None
    label: str | None = None
    expression: str | None = None
    """The program's expression for a value without a label, shortened to 32 characters."""
    title: str = ""
    """How pictures call the node: its expression if it has one, with a number if it occurs again; or its name."""
    cut: str | None = None
    """Why no gradient goes on from this result to its inputs: `detach`, `no_grad`, or `no rule`; None if one can."""
    summary: str | None = None
    inputs: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    params: dict[str, str] = field(default_factory=dict[str, str])
    requires_grad: bool = False
    value: Any = None
    lines: list[Site] = field(default_factory=list[Site])
    group: int | None = None
    failed: bool = False
    inside: Any = None
    """The trace inside a composite, or a function that makes it."""

    @property
    def site(self) -> Site | None:
        """The innermost of the user's lines that led here."""
        return self.lines[0] if self.lines else None

    def __repr__(self) -> str:
        return f"<node {self.id}: {self.name}>"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Formula:
    """What one step sends, in the names of the user's program, in three notations."""

    text: str
    latex: str
    mathml: str

    def __repr__(self) -> str:
        return self.text


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Step:
    """One rule, applied to one input. The page "The trace" of the documentation explains each field."""

    index: int
    walk: int
    node: int
    target: int
    input: str
    rule: str
    formula: Formula | None
    upstream: Any
    local: Any
    raw: Any
    summed_axes: tuple[int, ...]
    contribution: Any
    before: Any
    after: Any
    reads: dict[str, Any]
    accumulates: bool
    earlier: bool

    def __repr__(self) -> str:
        return f"<step {self.index}: {self.rule} from node {self.node} to node {self.target}>"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Rule:
    """A rule as it was applied: its source, and the formula derived from it."""

    op: str
    input: str
    kind: str
    reads: tuple[str, ...]
    reason: str | None
    source: str | None
    file: str
    line: int
    text: str | None
    latex: str | None
    mathml: str | None

    def __repr__(self) -> str:
        return f"<rule {self.op}.{self.input}: {self.text}>"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Group:
    """What made some of the nodes: a module's call, a scope, a function, or a round of a loop."""

    id: int
    parent: int | None
    kind: str
    name: str
    path: str
    of: str | None
    round: int | None
    rounds: int | None
    line: Site | None
    nodes: int
    steps: int

    def __repr__(self) -> str:
        return f"<group {self.id}: {self.path}>"


@dataclass(slots=True, eq=False, kw_only=True)
class JournalEntry:
    """One entry of the journal. The page "The trace" of the documentation explains each kind and field."""

    kind: str
    of: str | None = None
    node: int | None = None
    name: str | None = None
    before: Any = None
    after: Any = None
    by: str | None = None
    first: int | None = None
    count: int | None = None
    walk: int | None = None
    lines: list[Site] = field(default_factory=list[Site])

    @property
    def numbers(self) -> range:
        """The numbers of the steps or nodes that the entry is about; none for an entry about something else."""
        first = self.first or 0
        return range(first, first + (self.count or 0))


@dataclass(slots=True, eq=False, kw_only=True)
class LeafGradient:
    """A leaf in one walk: its value, and its `.grad` before, from and after the walk."""

    node: int
    value: Any
    before: Any
    received: Any
    after: Any


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Failure:
    """An error that ended a walk or the program, or that the program caught."""

    kind: str
    text: str
    node: int | None
    lines: list[Site]
    input: str | None = None

    def __repr__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Walk:
    """One walk of a trace: which steps belong to it, where it began, and the gradients of leaves before and after."""

    direction: str
    root: int | None
    seed: Any
    first: int
    steps: int
    lines: list[Site]
    leaves: Sequence[LeafGradient]
    error: Failure | None

    def __repr__(self) -> str:
        return f"<{self.direction} walk: steps {self.first} to {self.first + self.steps - 1}>"


T = TypeVar("T")


class LazyList(Sequence[T]):
    """List that makes an entry the first time someone looks at it."""

    def __init__(self, count: int, make: Callable[[int], T]):
        self._count, self._make = count, make
        self._entries: dict[int, T] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no entry {index} among {self._count}")
        index %= self._count
        if index not in self._entries:
            self._entries[index] = self._make(index)
        return self._entries[index]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:20]))}{', ...' if self._count > 20 else ''}]"


class LazyLeaves(LazyList[LeafGradient]):
    """The leaves of a walk, each made when someone looks at it. `nodes` has their node ids."""

    def __init__(self, nodes: list[int], make: Callable[[int], LeafGradient]):
        super().__init__(len(nodes), lambda index: make(nodes[index]))
        self.nodes = nodes


def nodes_behind(roots: Iterable[int], inputs_of: Callable[[int], Iterable[int]]) -> set[int]:
    """Return some nodes and all that are behind them; `inputs_of` returns those right behind one."""
    todo = [*roots]
    found = set(todo)
    while todo:
        nearest = set(inputs_of(todo.pop())) - found
        found |= nearest
        todo += nearest
    return found


class TraceParts(Protocol):
    """The attributes of a trace, for functions that read one."""

    walks: Sequence[Walk]
    error: Failure | None
    caught: list[Failure]
    nodes: Sequence[TraceNode]
    groups: Sequence[Group]
    steps: Sequence[Step]
    rules: dict[str, Rule]
    journal: Sequence[JournalEntry]
    starts: dict[int, Any]
    gradients: dict[int, Any]
    parents: Sequence[int | None]

    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """Return how many edges lead from one group to another."""
        ...

    def reached_nodes(self) -> set[int]:
        """Return the nodes to which walks can bring a gradient."""
        ...

    def inside(self, step: Step | TraceNode | int) -> Any:
        """Return the trace inside a composite application."""
        ...
