"""Trace: the record of a program and its walks, as Python objects that hold the values themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..files import write_file
from .finite import NotFinite, first_not_finite
from .parts import Failure, Group, JournalEntry, Rule, Step, TraceNode, Walk, nodes_behind
from .sentences import change_sentences, step_sentence
from .values import with_noun

MOST_SEARCHED = 2000
"""A summary does not look for nan among more nodes or steps, since it would have to make each of them."""
MOST_LINES = 20
"""How many steps, and how many caught errors, a summary shows."""


class Trace:
    """The record of one program and its walks.

    `nodes`, `steps`, `groups` and `rules` are made when you look at them. `walks` says which steps belong together.
    `gradients` has the final gradient of each leaf, by node id. `error` is the error that ended the program, and
    `caught` has errors of operations that failed while the program continued. A notebook shows a trace with the player
    once `micrograd_plus_viz` is imported; `print` describes it in sentences.

    Args: none; it is made by `mg.record` and `mg.load_trace`.
    Raises: AttributeError for a part that a trace does not have.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> print(trace)
        Trace: 2 nodes, 2 steps backward
          1. x * x sends 3 to x (a)
          2. x * x adds 3 to x (b)

    See: the page "The trace" of the documentation, which describes its file.
    """

    _mimebundle: Callable[[Trace], dict[str, Any]] | None = None
    _marimo: Callable[[Trace], tuple[str, str]] | None = None
    opens_at: int = 0
    """The step at which a notebook opens the player."""
    marks: Mapping[int, dict[str, Any]] = MappingProxyType({})
    """What a player shows beside steps, by their index: the `word` of the value it is about, a sentence `say`, the
    places of `wrong` entries, and the `right` numbers or None. Marks are not part of the file."""

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

    def __init__(self, source: Any = None) -> None:
        """Make a trace whose parts come from `source` the first time someone looks at them, so that recording does not
        pay for them; or an empty one."""
        self._source = source
        if source is None:
            self.walks, self.error, self.caught, self.nodes, self.groups = [], None, [], [], []
            self.steps, self.rules, self.journal, self.starts, self.gradients = [], {}, [], {}, {}

    @property
    def source(self) -> Any:
        """The builder of the parts; None for a trace from a file."""
        return self._source

    def look_again(self) -> None:
        """Forget the parts that were made before the record was complete.

        Returns: None.
        Raises: nothing.
        """
        if len(self.__dict__) > 1:
            self.__dict__ = {"_source": self._source.rebuild()}

    def __getattr__(self, name: str) -> Any:
        """Make a part of the trace and keep it."""
        if name == "parents" and self.__dict__.get("_source") is None and "groups" in self.__dict__:
            return [group.parent for group in self.groups]
        if name.startswith("_") or self._source is None or name not in Trace.__annotations__:
            raise AttributeError(f"a trace has no {name!r}")
        part = self.__dict__[name] = self._source.make(name)
        return part

    # Looking ----------------

    @property
    def direction(self) -> str:
        """The direction of the last walk: `backward` or `forward`."""
        return self.walks[-1].direction if self.walks else "backward"

    @property
    def root(self) -> int | None:
        """The node where the last walk began."""
        return self.walks[-1].root if self.walks else None

    @property
    def seed(self) -> Any:
        """The gradient that the last walk began with."""
        return self.walks[-1].seed if self.walks else None

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return self.summary()

    @property
    def not_finite(self) -> list[NotFinite]:
        """Where nan or infinity comes from; empty if all values are finite.

        At most two places: the first result with such entries whose inputs are all finite, or with nan whose inputs
        have none, and the first step that sends them.
        """
        return first_not_finite({node.id: node for node in self.nodes}, self.steps)

    def inside(self, step: Step | TraceNode | int) -> Trace | None:
        """Return the trace inside a composite application: its operations, and the walk through them.

        Args:
            step: a step, its number, or a node.
        Returns: a trace; None if the operation is not a composite.
        Raises: IndexError for a number that no step has.
        """
        if isinstance(step, int):
            step = self.steps[step]
        node = self.nodes[step.node] if isinstance(step, Step) else step
        return node.inside if isinstance(node.inside, Trace | None) else node.inside()

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Yield each edge as the innermost groups of its two nodes, in the direction of the forward.

        Returns: an iterator of pairs of group numbers; None for a node that is in no group.
        Raises: nothing.
        """
        if self._source is not None:
            yield from self._source.edges()
        else:
            for node in self.nodes:
                yield from ((self.nodes[parent].group, node.group) for _, parent in node.inputs)

    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """Return how many edges lead from one group to another.

        Returns: a counter of pairs of group numbers.
        Raises: nothing.
        """
        return Counter(self.edges()) if self._source is None else self._source.edge_counts

    def reached_nodes(self) -> set[int]:
        """Return the nodes to which the walks of the trace can bring a gradient.

        Returns: a set of node numbers.
        Raises: nothing.
        """
        if self._source is not None:
            return self._source.reached_nodes
        roots = [walk.root for walk in self.walks if walk.root is not None]
        inputs = ([at for _, at in node.inputs] if node.requires_grad else () for node in self.nodes)
        return nodes_behind(roots, [*inputs].__getitem__)

    # In words ---------------

    def summary(self) -> str:
        """Describe the trace in words: its size, its first 20 steps, and its errors.

        Returns: text.
        Raises: nothing.
        """
        if not self.nodes and not self.error and not self.walks:
            return (
                "Trace: nothing was recorded; record the forward and the backward inside `with mg.record() as trace:`"
            )
        several = f" in {len(self.walks)} walks" if len(self.walks) > 1 else ""
        directions = " and ".join(dict.fromkeys(walk.direction for walk in self.walks)) or "backward"
        size = f"{with_noun(len(self.nodes), 'node')}, {with_noun(len(self.steps), 'step')}"
        lines = [f"Trace: {size} {directions}{several}"]
        lines += [f"  {line}" for line in self._journal_lines()]
        if self.error:
            lines.append(f"  {self._error_sentence(self.error, 'the program ends here')}")
        caught = "an operation failed, and the program went on"
        lines += [f"  {self._error_sentence(each, caught)}" for each in self.caught[:MOST_LINES]]
        if len(self.caught) > MOST_LINES:
            lines.append(f"  ... and {len(self.caught) - MOST_LINES} more operations that failed")
        if max(len(self.nodes), len(self.steps)) <= MOST_SEARCHED:
            lines += [f"  {self.not_finite_sentence(place)}" for place in self.not_finite]
        return "\n".join(lines)

    def _journal_lines(self) -> Iterator[str]:
        """Yield the lines of a summary about walks, steps, and changes between them, up to the last step it shows."""
        changes: list[JournalEntry] = []
        for entry in self.journal:
            if entry.kind not in ("begin", "arrive", "end"):
                changes.append(entry)
                continue
            if entry.kind == "begin" and self.walks[entry.walk or 0].first >= MOST_LINES < len(self.steps):
                break
            yield from change_sentences(self, changes)
            changes = []
            yield from self._lines_of_walk(entry)
            if entry.kind == "arrive" and entry.numbers.stop > MOST_LINES:
                break
        else:
            yield from change_sentences(self, changes)
            return
        yield f"... and {len(self.steps) - MOST_LINES} more"

    def _lines_of_walk(self, entry: JournalEntry) -> Iterator[str]:
        """Yield the lines about the beginning, the steps or the end of a walk."""
        walk = self.walks[entry.walk or 0]
        if entry.kind == "begin" and len(self.walks) > 1:
            yield f"Walk {(entry.walk or 0) + 1} of {len(self.walks)}:"
        elif entry.kind == "arrive":
            yield from map(self.sentence, self.steps[entry.numbers.start : min(MOST_LINES, entry.numbers.stop)])
        elif entry.kind == "end":
            if walk.direction == "forward" and not walk.steps and not walk.error:
                yield "a forward walk: nothing that moves was used"
            if walk.error:
                yield self._error_sentence(walk.error, "the walk ends here")

    def sentence(self, step: Step) -> str:
        """Describe one step in a sentence.

        Args:
            step: a step of this trace.
        Returns: text.
        Raises: nothing.
        """
        return step_sentence(self, step)

    def not_finite_sentence(self, place: NotFinite) -> str:
        """Describe in a sentence where nan or infinity comes from.

        Args:
            place: one of `not_finite`.
        Returns: text.
        Raises: nothing.
        """
        name = self.nodes[place.node].title
        if place.step is None:
            return f"first result that is not finite: {name}: {place}"
        return f"first step that sends numbers that are not finite: {place.step + 1}, to {name}: {place}"

    def _error_sentence(self, error: Failure, effect: str) -> str:
        node = "" if error.node is None else f" at {self.nodes[error.node].title}"
        line = f", line {error.lines[0].line} of {error.lines[0].file}" if error.lines else ""
        return f"{effect}{node}{line}: {error.kind}: {error.text}"

    # Display in notebooks ---

    @classmethod
    def set_display(
        cls,
        mimebundle: Callable[[Trace], dict[str, Any]],
        *,
        marimo: Callable[[Trace], tuple[str, str]] | None = None,
    ) -> None:
        """Set how notebooks show a trace. The engine itself draws nothing.

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

    # Plain data -------------

    def to_dict(self, start: int = 0, length: int | None = None, *, insides: bool = True) -> dict[str, Any]:
        """Return the trace as plain data, in the published format.

        Args:
            start: the first step of a part; default 0.
            length: how many steps the part has, with the nodes that they touch, under the numbers of the complete
                trace; None (default) for the complete trace.
            insides: whether to include the traces inside composites; True by default.
        Returns: a dictionary of lists, numbers and text.
        Raises: ValueError if there is no step `start`.
        """
        from .json_out import trace_to_dict

        return trace_to_dict(self, start, length, insides)

    def to_json(self, indent: int | None = None) -> str:
        """Return the plain data as text. The same program gives the same bytes in every process.

        Args:
            indent: by how many spaces to indent nested data; default None, all on one line.
        Returns: JSON.
        Raises: nothing.
        """
        separators = (",", ":") if indent is None else None
        text = json.dumps(self.to_dict(), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "replace").decode()  # a name may hold half a pair of surrogates, which UTF-8 lacks

    def save(self, path: Any) -> None:
        """Write the trace to a JSON file, which `mg.load_trace` reads.

        Args:
            path: the file to write.
        Returns: None.
        Raises: OSError if it cannot be written.
        """
        write_file(path, self.to_json())
