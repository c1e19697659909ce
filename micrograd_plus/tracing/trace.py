"""Trace: walks, nodes, steps, groups and rules, holding the values themselves; `to_dict` makes plain data of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

from .finite import NotFinite, first_places
from .sites import Site
from .values import Fields, Stored, counted

FORMAT, VERSION = "micrograd_plus/trace", 2
MOST_SEARCHED = 2000
"""In a record of more nodes or steps a summary does not look for nan, which takes each of them to be made."""


class TraceNode(Fields):
    """A leaf, one application of an operation, or one of several outputs."""

    __slots__ = (
        "called", "failed", "group", "id", "inputs", "inside", "kind", "label", "lines", "name", "op", "params",
        "requires_grad", "summary", "value",
    )  # fmt: skip

    id: int
    kind: str
    op: str | None
    called: str | None
    name: str
    label: str | None
    summary: str | None
    inputs: list[tuple[str, int]]
    params: dict[str, str]
    requires_grad: bool
    value: Any
    lines: list[Site]
    group: int | None
    failed: bool
    inside: Callable[[], Trace | None] | Trace | None

    @property
    def site(self) -> Site | None:
        """The innermost line of the user's that led here."""
        return self.lines[0] if self.lines else None

    def __repr__(self) -> str:
        return f"<node {self.id}: {self.name}>"


class Step(Fields):
    """One rule, applied to one input. The words are those of the walk: see the guide to the trace."""

    __slots__ = (
        "accumulates", "after", "before", "contribution", "earlier", "formula", "index", "input", "local", "node",
        "raw", "reads", "rule", "summed_axes", "target", "upstream", "walk",
    )  # fmt: skip

    index: int
    walk: int
    node: int
    target: int
    input: str
    rule: str
    formula: Any
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


class Formula(Fields):
    """What one step sends, in the names of the user's program, in three notations."""

    __slots__ = ("latex", "mathml", "text")

    text: str
    latex: str
    mathml: str

    def __repr__(self) -> str:
        return self.text


class Rule(Fields):
    """A rule as it was applied: its source, and the formula derived from it."""

    __slots__ = ("file", "input", "kind", "latex", "line", "mathml", "op", "reads", "reason", "source", "text")

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

    def to_dict(self) -> dict[str, Any]:
        """The fields, as plain data."""
        return {**super().to_dict(), "reads": list(self.reads)}

    def __repr__(self) -> str:
        return f"<rule {self.op}.{self.input}: {self.text}>"


class Group(Fields):
    """What made some of the nodes: a module's call, a scope, a function, or a round of a loop."""

    __slots__ = ("id", "kind", "line", "name", "nodes", "of", "parent", "path", "round", "rounds", "steps")

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


class Held(Fields):
    """A leaf in one walk: its value, what its `.grad` held before, what it received, and what it held after."""

    __slots__ = ("after", "before", "node", "received", "value")

    node: int
    value: Any
    before: Any
    received: Any
    after: Any


class Walk(Fields):
    """One walk of a record: which steps are its own, where it began, and what leaves held before and after it."""

    __slots__ = ("direction", "error", "first", "leaves", "lines", "root", "seed", "steps")

    direction: str
    root: int | None
    seed: Any
    first: int
    steps: int
    lines: list[Site]
    leaves: Sequence[Held]
    error: Failure | None

    def __repr__(self) -> str:
        return f"<{self.direction} walk: steps {self.first} to {self.first + self.steps - 1}>"


class Failure(Fields):
    """What broke off a walk, or the program."""

    __slots__ = ("input", "kind", "lines", "node", "text")

    kind: str
    text: str
    node: int | None
    input: str | None
    lines: list[Site]

    def __repr__(self) -> str:
        return f"{self.kind}: {self.text}"


T = TypeVar("T")


class Listed(Sequence[T]):
    """A list whose entries are made when somebody looks at them, and then kept."""

    def __init__(self, count: int, make: Callable[[int], T]):
        self._count, self._make = count, make
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(f"there is no entry {place} among {self._count}")
        place %= self._count
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:20]))}{', ...' if self._count > 20 else ''}]"


class Leaves(Listed[Held]):
    """What the leaves of a walk held, each made when somebody looks; `nodes` are the leaves' numbers."""

    def __init__(self, nodes: list[int], make: Callable[[int], Held]):
        super().__init__(len(nodes), lambda at: make(nodes[at]))
        self.nodes = nodes


class Trace:
    """The record of one program, and of the walks made in it, one after the other.

    `nodes`, `steps`, `groups` and `rules` are there to be looked at, and each is made when it is. `walks` says which
    steps belong together; `gradients` what each leaf holds after all of them, by the number of its node; `error` what
    broke the program off, and `caught` which operations failed while it went on. A notebook shows a trace with the
    player once `micrograd_plus_viz` is imported; `print` says it in sentences.

    Args: none; it is made by `mg.record` and `mg.load_trace`.
    Raises: AttributeError for a part that a trace has not.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> print(trace)
        Trace: 2 nodes, 2 steps backward
          1. multiply sends 3 to x (a)
          2. multiply adds 3 to x (b)

    See: the page "The trace" of the documentation, which describes its file.
    """

    _mimebundle: Callable[[Trace], dict[str, Any]] | None = None
    _marimo: Callable[[Trace], tuple[str, str]] | None = None
    opens_at: int = 0
    """After how many steps a notebook opens the walk."""

    walks: Sequence[Walk]
    error: Failure | None
    caught: list[Failure]
    nodes: Sequence[TraceNode]
    groups: Sequence[Group]
    steps: Sequence[Step]
    rules: dict[str, Rule]
    gradients: dict[int, Any]
    parents: Sequence[int | None]

    def __init__(self, source: Any = None) -> None:
        """A trace whose parts `source` makes the first time somebody looks: recording should not cost what nobody
        reads."""
        self._source = source
        if source is None:
            self.walks, self.error, self.caught, self.nodes, self.groups = [], None, [], [], []
            self.steps, self.rules, self.gradients = [], {}, {}

    def look_again(self) -> None:
        """Forget what somebody saw who looked before the record was complete.

        Returns: None.
        Raises: nothing.
        """
        if len(self.__dict__) > 1:
            self.__dict__ = {"_source": self._source.anew()}

    def __getattr__(self, name: str) -> Any:
        """A part that has not been made yet."""
        if name == "parents" and self.__dict__.get("_source") is None and "groups" in self.__dict__:
            return [group.parent for group in self.groups]
        if name.startswith("_") or self._source is None or name not in Trace.__annotations__:
            raise AttributeError(f"a trace has no {name!r}")
        made = self.__dict__[name] = getattr(self._source, name)
        return made

    # Looking ----------------

    @property
    def direction(self) -> str:
        """Which way the last walk went."""
        return self.walks[-1].direction if self.walks else "backward"

    @property
    def root(self) -> int | None:
        """The node where the last walk began."""
        return self.walks[-1].root if self.walks else None

    @property
    def seed(self) -> Any:
        """What the last walk began with."""
        return self.walks[-1].seed if self.walks else None

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The record in words: how large it is, a line for each of its first 20 steps, and what broke it off.

        Returns: text.
        Raises: nothing.
        """
        if not self.nodes and not self.error and not self.walks:
            return (
                "Trace: nothing was recorded; record the forward and the backward inside `with mg.record() as trace:`"
            )
        several = f" in {len(self.walks)} walks" if len(self.walks) > 1 else ""
        ways = " and ".join(dict.fromkeys(walk.direction for walk in self.walks)) or "backward"
        lines = [f"Trace: {counted(len(self.nodes), 'node')}, {counted(len(self.steps), 'step')} {ways}{several}"]
        for number, walk in enumerate(self.walks):
            if len(self.walks) > 1 and walk.first < 20:
                lines.append(f"  Walk {number + 1} of {len(self.walks)}:")
            shown = self.steps[walk.first : min(20, walk.first + walk.steps)]
            lines += [f"  {self.sentence(step)}" for step in shown]
            if walk.direction == "forward" and not walk.steps and not walk.error:
                lines.append("  a forward walk: nothing that moves was used")
            if walk.error and walk.first + walk.steps <= 20:
                lines.append(f"  {self._broken(walk.error, 'the walk ends here')}")
        if len(self.steps) > 20:
            lines.append(f"  ... and {len(self.steps) - 20} more")
        if self.error:
            lines.append(f"  {self._broken(self.error, 'the program ends here')}")
        went_on = "an operation failed, and the program went on"
        lines += [f"  {self._broken(each, went_on)}" for each in self.caught[:20]]
        if len(self.caught) > 20:
            lines.append(f"  ... and {len(self.caught) - 20} more operations that failed")
        if max(len(self.nodes), len(self.steps)) <= MOST_SEARCHED:
            lines += [f"  {self.told(place)}" for place in self.not_finite]
        return "\n".join(lines)

    @property
    def not_finite(self) -> list[NotFinite]:
        """Where nan or infinity comes from: the first result that has such entries though all that it was made from is
        finite, and the first step that sends them; none where all is finite."""
        return first_places({node.id: node for node in self.nodes}, self.steps)

    def told(self, place: NotFinite) -> str:
        """A place that is not finite as a sentence.

        Args:
            place: one of `not_finite`.
        Returns: text.
        Raises: nothing.
        """
        name = self.nodes[place.node].name
        if place.step is None:
            return f"first result that is not finite: {name}: {place}"
        return f"first step that sends what is not finite: {place.step + 1}, to {name}: {place}"

    def _broken(self, error: Failure, what: str) -> str:
        """An error as a sentence."""
        at = "" if error.node is None else f" at {self.nodes[error.node].name}"
        line = f", line {error.lines[0].line} of {error.lines[0].file}" if error.lines else ""
        return f"{what}{at}{line}: {error.kind}: {error.text}"

    def sentence(self, step: Step) -> str:
        """One step as a sentence.

        Args:
            step: a step of this trace.
        Returns: text.
        Raises: nothing.
        """
        sender, target = self.nodes[step.node], self.nodes[step.target]
        if self.walks[step.walk].direction == "forward":
            sender = self.nodes[next(at for name, at in sender.inputs if name == step.input)]
        verb = "adds" if step.accumulates else "sends"
        earlier = " to what an earlier walk left" if step.earlier and step.accumulates else ""
        return (
            f"{step.index + 1}. {sender.name} {verb} {_brief(step.contribution)} to {target.name} "
            f"({step.input}){earlier}"
        )

    def inside(self, step: Step | TraceNode | int) -> Trace | None:
        """The application of a step as a smaller program: the composite's own forward, and the walk back through it.

        Args:
            step: a step, its number, or a node.
        Returns: a trace; None where the operation is not made of others.
        Raises: IndexError for a number that no step has.
        """
        if isinstance(step, int):
            step = self.steps[step]
        node = self.nodes[step.node] if isinstance(step, Step) else step
        return node.inside if isinstance(node.inside, Trace | None) else node.inside()

    # Being shown ------------

    @classmethod
    def shown_by(
        cls,
        mimebundle: Callable[[Trace], dict[str, Any]],
        *,
        marimo: Callable[[Trace], tuple[str, str]] | None = None,
    ) -> None:
        """Register how notebooks show a trace; the engine itself knows no screen.

        Args:
            mimebundle: a function of the trace that returns what Jupyter shows, by MIME type.
            marimo: a function of the trace that returns the pair (MIME type, text) for marimo; default None.
        Returns: None.
        Raises: nothing.
        """
        cls._mimebundle, cls._marimo = staticmethod(mimebundle), staticmethod(marimo) if marimo else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if Trace._mimebundle is None:
            return {"text/plain": f"{self.summary()}\n(import micrograd_plus_viz to see it played)"}
        return Trace._mimebundle(self)

    def _mime_(self) -> tuple[str, str]:
        return Trace._marimo(self) if Trace._marimo else ("text/plain", self._repr_mimebundle_()["text/plain"])

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Every edge, as the innermost groups of the two nodes it joins: where it comes from, and where it leads.

        Returns: an iterator of pairs of numbers of groups; None for a node that is in none.
        Raises: nothing.
        """
        if self._source is not None:
            yield from self._source.edges()
        else:
            for node in self.nodes:
                yield from ((self.nodes[each].group, node.group) for _, each in node.inputs)

    def _edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """How many edges join two groups; counted once for all parts of a long record."""
        return Counter(self.edges()) if self._source is None else self._source.edge_counts

    # Plain data -------------

    def to_dict(self, start: int = 0, length: int | None = None, *, insides: bool = True) -> dict[str, Any]:
        """The trace as plain data, in the published format.

        Args:
            start: of a part, the number of its first step; default 0.
            length: how many steps the part has, with the nodes they touch, all under their numbers in the whole; None
                (default) for the whole record.
            insides: whether composites are told from inside as well; True by default.
        Returns: a dictionary of lists, numbers and text.
        Raises: ValueError where there is no step `start`.
        """
        from .plain import written

        return written(self, start, length, insides)

    def to_json(self, indent: int | None = None) -> str:
        """The plain data as text: the same program gives the same bytes in every process.

        Args:
            indent: how far to set in what is nested; default None, all on one line.
        Returns: JSON.
        Raises: nothing.
        """
        separators = (",", ":") if indent is None else None
        return json.dumps(self.to_dict(), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)

    def save(self, path: Any) -> None:
        """Write the trace to a JSON file, which `mg.load_trace` reads.

        Args:
            path: where to.
        Returns: None.
        Raises: OSError where that cannot be written.
        """
        Path(path).write_text(self.to_json(), encoding="utf-8")


def _brief(value: Any) -> str:
    """A value in a sentence: the number, or the shape."""
    if value is None:
        return "something that was not recorded"
    shape = tuple(getattr(value, "shape", ()))
    if shape == ():
        number: Any = value.data[0] if isinstance(value, Stored) and value.data else value
        number = number.item() if hasattr(number, "item") else number
        return f"{number:.4g}" if isinstance(number, (int, float, complex)) else str(number)
    return f"an array of shape {shape}"
