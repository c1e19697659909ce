"""Trace: nodes, steps and rules, holding the values themselves; `to_dict` makes plain data of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .sites import Site
from .values import Fields, Stored, Values

FORMAT, VERSION = "micrograd_plus/trace", 1


class TraceNode(Fields):
    """A leaf, one application of an operation, or one of several outputs."""

    __slots__ = ("id", "inputs", "inside", "kind", "label", "op", "params", "requires_grad", "site", "summary", "value")

    id: int
    kind: str
    op: str | None
    summary: str | None
    inputs: list[tuple[str, int]]
    params: dict[str, str]
    label: str | None
    requires_grad: bool
    value: Any
    site: Site | None
    inside: Callable[[], Trace | None] | Trace | None

    def __repr__(self) -> str:
        return f"<node {self.id}: {self.op or self.label or self.kind}>"


class Step(Fields):
    """One rule, applied to one input. The words are those of the walk: see the guide to the trace."""

    __slots__ = (
        "accumulates", "after", "before", "contribution", "index", "input", "local", "node", "raw", "reads", "rule",
        "summed_axes", "target", "upstream",
    )  # fmt: skip

    index: int
    node: int
    target: int
    input: str
    rule: str
    upstream: Any
    local: Any
    raw: Any
    summed_axes: tuple[int, ...]
    contribution: Any
    before: Any
    after: Any
    accumulates: bool
    reads: dict[str, Any]

    def __repr__(self) -> str:
        return f"<step {self.index}: {self.rule} from node {self.node} to node {self.target}>"


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


class Trace:
    """One program and one walk through it. `nodes`, `steps` and `rules` are there to be looked at; `gradients` says
    what each leaf received. A notebook shows it with the player once `micrograd_plus_viz` is imported."""

    _mimebundle: Callable[[Trace], dict[str, Any]] | None = None
    _marimo: Callable[[Trace], tuple[str, str]] | None = None

    direction: str
    root: int | None
    seed: Any
    nodes: list[TraceNode]
    steps: list[Step]
    rules: dict[str, Rule]
    gradients: dict[int, Any]

    def __init__(self, builder: Callable[[Trace], None] | None = None) -> None:
        """A trace that `builder` fills the first time somebody looks: recording should not cost what nobody reads."""
        self._builder = builder
        if builder is None:
            self._clear()

    def _clear(self) -> None:
        self.direction, self.root, self.seed = "backward", None, None
        self.nodes, self.steps, self.rules, self.gradients = [], [], {}, {}

    def look_again(self) -> None:
        """Forget what somebody saw who looked before the record was complete."""
        for name in self.__dict__.keys() - {"_builder"}:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        """A part that has not been built yet."""
        if name.startswith("_") or self._builder is None or "nodes" in self.__dict__:
            raise AttributeError(f"a trace has no {name!r}")
        self._clear()
        self._builder(self)
        return getattr(self, name)

    # Looking ----------------

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The walk in words: how large it is, and one line a step."""
        if not self.nodes:
            return (
                "Trace: nothing was recorded; record the forward and the backward inside `with mg.record() as trace:`"
            )
        lines = [f"Trace: {len(self.nodes)} nodes, {len(self.steps)} steps {self.direction}"]
        lines += [f"  {self.sentence(step)}" for step in self.steps[:20]]
        if len(self.steps) > 20:
            lines.append(f"  ... and {len(self.steps) - 20} more")
        return "\n".join(lines)

    def sentence(self, step: Step) -> str:
        """One step as a sentence."""
        node, target = self.nodes[step.node], self.nodes[step.target]
        verb = "adds" if step.accumulates else "sends"
        what = _brief(step.contribution)
        to = target.label or (f"{target.op} (node {target.id})" if target.op else f"node {target.id}")
        return f"{step.index + 1}. {node.op} {verb} {what} to {to} ({step.input})"

    def inside(self, step: Step | TraceNode | int) -> Trace | None:
        """The application of a step, told as a smaller program: the composite's own forward, and the walk back through
        it. None where the operation is not made of others."""
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
        """Register how notebooks show a trace; the engine itself knows no screen."""
        cls._mimebundle, cls._marimo = staticmethod(mimebundle), staticmethod(marimo) if marimo else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if Trace._mimebundle is None:
            return {"text/plain": f"{self.summary()}\n(import micrograd_plus_viz to see it played)"}
        return Trace._mimebundle(self)

    def _mime_(self) -> tuple[str, str]:
        return Trace._marimo(self) if Trace._marimo else ("text/plain", self._repr_mimebundle_()["text/plain"])

    # Plain data -------------

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data, in the published format."""
        values = Values()
        nodes = [
            {
                "id": node.id,
                "kind": node.kind,
                "op": node.op,
                "summary": node.summary,
                "inputs": [{"name": name, "node": each} for name, each in node.inputs],
                "params": node.params,
                "label": node.label,
                "requires_grad": node.requires_grad,
                "value": values.place(node.value),
                "site": node.site.to_dict() if node.site else None,
                "inside": within.to_dict() if (within := self.inside(node)) else None,
            }
            for node in self.nodes
        ]
        steps = [
            {word: _plain(word, value, values.place) for word, value in step.to_dict().items()} for step in self.steps
        ]
        return {
            "format": FORMAT,
            "version": VERSION,
            "walk": {"direction": self.direction, "root": self.root, "seed": values.place(self.seed)},
            "nodes": nodes,
            "steps": steps,
            "rules": {name: rule.to_dict() for name, rule in self.rules.items()},
            "gradients": [{"node": node, "value": values.place(value)} for node, value in self.gradients.items()],
            "values": values.stored,
        }

    def to_json(self, indent: int | None = None) -> str:
        """The plain data as text: the same program gives the same bytes in every process."""
        separators = (",", ":") if indent is None else None
        return json.dumps(self.to_dict(), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)

    def save(self, path: Any) -> None:
        """Write the trace to a JSON file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")


def _plain(word: str, value: Any, place: Callable[[Any], int | None]) -> Any:
    """What a step has under a word, as plain data."""
    if word in ("upstream", "local", "raw", "contribution", "before", "after"):
        return place(value)
    if word == "reads":
        return {name: place(read) for name, read in value.items()}
    return list(value) if word == "summed_axes" else value


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
