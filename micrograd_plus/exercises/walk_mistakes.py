"""Wrong answers about a walk: the walk of a program, repeated with each mistake at each step and in each order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..backends import devices
from ..tracing import replay
from .mistakes import mistake
from .question import REPLAYS, mistakes_at
from .rule_answers import takes_all_values
from .spec import Mistake
from .variants import variant

np = devices.device("cpu").library

Record = Callable[[dict[str, Any]], Any]
"""A function that returns the trace of a program with these inputs."""
ONE_PATH = "only one of several paths counts"
"""The name of gradients that overwrite each other. A student forgets the other paths, and overwrites nothing."""
MOST_KEPT = 8
"""The number of traces that are kept, since each is repeated with many mistakes."""


def walk_mistakes(record: Record, trial: dict[str, Any], read: Callable[[Any, Any], Any]) -> Iterator[Mistake]:
    """Yield the answers that walks with a mistake give, the plainest first.

    Args:
        record: records the program with some inputs.
        trial: inputs with which it is recorded once, to see its steps.
        read: returns the answer that a trace shows, given the trace with the right walk, too.
    """
    keep = keep_traces(record, trial)
    trace = record(trial)

    def repeat(wrong: Any, steps: list[int] | None = None) -> Any:
        return takes_all_values(lambda values, xp: read(replay(keep(values), wrong, steps=steps), trace))

    for name, row in REPLAYS.items():
        yield mistake("path", repeat(name), title=ONE_PATH) if name == "replace" else mistake(row, repeat(name))
    yield mistake("M3", repeat("levels"), title="level by level: a node passes on before all has arrived")
    for step in trace.steps:
        number, rule = step.index + 1, step.rule
        at, sent_to = f"at step {number}, `{rule}`", label_of(trace.nodes[step.target])
        yield mistake("M6", repeat("upstream", [number]), title=f"upstream is forgotten {at}")
        yield mistake(
            "path", repeat("left out", [number]),
            title=f"a path is forgotten: what `{rule}` sends to `{sent_to}` in step {number}",
        )
        if step.before is not None:
            yield mistake("path", repeat("replace", [number]), title=f"{ONE_PATH}: what step {number}, `{rule}`, sends")
        if step.summed_axes:
            yield mistake("M27", repeat("axes", [number]), title=f"broadcasting is not undone {at}")
        if step.local is not None:
            yield variant(f"upstream is passed on without the local slope {at}", repeat({rule: pass_on}, [number]))
        for known, rules in mistakes_at(trace, step):
            yield Mistake(known.id, f"{known.title}, {at}", known.hints, repeat(rules, [number]))
            if sum(each.rule in rules for each in trace.steps) > 1:
                yield Mistake(known.id, f"{known.title}, wherever `{rule}` is applied", known.hints, repeat(rules))


def label_of(node: Any) -> str:
    """Return the name of a value in a program, or, if it has none, the name of its node."""
    return node.label or node.name


def pass_on(xp: Any, out: Any) -> Any:
    """Return the local derivative of an operation that changes nothing."""
    return xp.ones_like(out) if hasattr(out, "dtype") else 1.0


def keep_traces(record: Record, names: Any) -> Record:
    """Return a function that records a program once for the same inputs, as long as few others come between."""
    kept: dict[tuple[bytes, ...], Any] = {}

    def record_once(values: dict[str, Any]) -> Any:
        key = tuple(np.asarray(values[name]).tobytes() for name in names)
        if key not in kept:
            if len(kept) >= MOST_KEPT:
                kept.pop(next(iter(kept)))
            kept[key] = record({name: values[name] for name in names})
        return kept[key]

    return record_once


__all__ = ["walk_mistakes"]
