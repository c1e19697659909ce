"""Sentences about the steps and the journal of a trace, for `print(trace)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, cast

from .parts import JournalEntry, Step, TraceParts
from .values import Stored, array_of, np, number_text, value_to_dict

MOST_NAMES = 4
"""How many names a sentence lists."""

ACTIONS = {
    "clear": "clears the gradient of",
    "drop": "drops the gradient of",
    "assign": "sets the gradient of",
    "scale": "scales the gradient of",
    "clip": "clips the gradient of",
    "keep": "does not change the gradient of",
    "update": "updates",
    "write": "writes into",
    "hook": "changes the gradient of",
    "statistics": "moves",
    "accumulate": "has changed the .grad of",
    "draw": "draws random numbers",
    "checkpoint": "would drop, without this record, the graph of",
    "recompute": "would compute again, without this record,",
    "rerun": "runs its function again",
}
"""What happens in a change of each kind, as a sentence goes on after its subject."""
BY_HAND = ("write", "scale", "assign", "clear")
"""Kinds of changes that a loop over parameters makes one by one."""


def step_sentence(trace: TraceParts, step: Step) -> str:
    """Describe one step in a sentence."""
    sender, target = trace.nodes[step.node], trace.nodes[step.target]
    if trace.walks[step.walk].direction == "forward":
        sender = trace.nodes[next(number for name, number in sender.inputs if name == step.input)]
    verb = "adds" if step.accumulates else "sends"
    earlier = ""
    if step.earlier and _is_same_value(held := gradient_before(trace, step), step.before):
        earlier = f", whose .grad was {value_text(held)} before this walk"
    return (
        f"{step.index + 1}. {sender.title} {verb} {value_text(step.contribution)} to {target.title} "
        f"({step.input}){earlier}"
    )


def gradient_before(trace: TraceParts, step: Step) -> Any:
    """Return the `.grad` that the receiver of a step had when its walk began."""
    return next((leaf.before for leaf in trace.walks[step.walk].leaves if leaf.node == step.target), None)


def change_sentences(trace: TraceParts, entries: Iterable[JournalEntry]) -> Iterator[str]:
    """Describe changes that follow each other. Changes of one kind by one cause share a sentence."""
    changes = [entry for entry in entries if is_reported(entry)]
    for group in gather_changes(changes):
        alike: dict[tuple[str, str | None], list[JournalEntry]] = {}
        for entry in group:
            alike.setdefault((_kind_in_words(trace, entry), entry.by), []).append(entry)
        for (kind, by), changes_of_kind in alike.items():
            yield _sentence(trace, kind, by, changes_of_kind)


def gather_changes(entries: Iterable[JournalEntry]) -> list[list[JournalEntry]]:
    """Return the entries of a journal in groups: changes of one kind by one cause, draws one after the other, and what
    a loop changes in turn.

    A loop comes back to its lines. So when a line changes something by hand as it did before, all changes since then
    are one group: `for p in parameters: p.data -= p.grad; p.grad = None` is one. Calls of optimisers are not by hand.
    Computed nodes are in the group of the change before them.
    """
    groups: list[list[JournalEntry]] = []
    group_of_line: dict[tuple[Any, ...], int] = {}
    last = None
    for entry in entries:
        kind, cause = entry.kind, (entry.kind, None if entry.kind == "draw" else entry.by)
        line = *cause, *((site.file, site.line) for site in entry.lines)
        at = max(0, len(groups) - 1)
        if kind != "compute":
            if kind not in BY_HAND:
                group_of_line.clear()
            at = group_of_line.get(line, len(groups) - (last == cause))
            last = cause
        groups[at:] = [[*chain.from_iterable(groups[at:]), entry]]
        group_of_line = {each: min(at, place) for each, place in group_of_line.items()}
        if kind in BY_HAND:
            group_of_line[line] = at
    return groups


def _kind_in_words(trace: TraceParts, entry: JournalEntry) -> str:
    """Return the key in `ACTIONS` of what an entry says."""
    is_rerun = entry.kind == "recompute" and entry.node is not None and trace.nodes[entry.node].op == "checkpoint"
    return "rerun" if is_rerun else "keep" if keeps_gradient(entry) else entry.kind


def keeps_gradient(entry: JournalEntry) -> bool:
    """Return whether an entry is a clipping that a gradient was too small for."""
    return entry.kind == "clip" and _is_same_value(entry.before, entry.after)


def _is_same_value(one: Any, other: Any) -> bool:
    if isinstance(one, Stored) and isinstance(other, Stored):
        return one.to_dict() == other.to_dict()
    return np.array_equal(array_of(one), array_of(other), equal_nan=True)


def is_reported(entry: JournalEntry) -> bool:
    """Return whether an entry is a change that a reader should hear of: not a first gradient, nor clearing nothing."""
    return entry.kind in ACTIONS and not (entry.kind in ("accumulate", "clear") and entry.before is None)


def _sentence(trace: TraceParts, kind: str, by: str | None, entries: list[JournalEntry]) -> str:
    if kind == "hook":
        subject = f"the hook {by}"
    elif kind == "accumulate":
        subject = "in all, the walk"
    else:
        subject = by if by is not None and (by[0].isalpha() or by[0] == "_") else "the program"
    if kind in ("draw", "rerun"):
        return f"{subject} {ACTIONS[kind]}"
    names = [*dict.fromkeys(_name(trace, entry) for entry in entries)]
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" * (len(names) > MOST_NAMES))
    how = f" by {by}" if subject == "the program" and kind in ("scale", "write") and by else ""
    numbers = ""
    if len(entries) == 1 and kind not in ("clear", "drop", "keep"):
        first, last = entries[0].before, entries[0].after
        if _is_number(first) or _is_number(last):
            before = "" if first is None else f"from {value_text(first)} "
            numbers = f": {before}to {value_text(last)}"
    return f"{subject} {ACTIONS[kind]} {listed}{how}{numbers}"


def _name(trace: TraceParts, entry: JournalEntry) -> str:
    name = trace.nodes[entry.node].title if entry.node is not None else entry.name or "a value"
    return f"{name}.grad" if entry.kind == "write" and entry.of == "gradient" else name


def _is_number(value: Any) -> bool:
    return value is not None and tuple(getattr(value, "shape", ())) == ()


def value_text(value: Any) -> str:
    """Return a value as it is named in a sentence: its only number, or its shape and norm."""
    if value is None:
        return "a value that was not recorded"
    row = value.to_dict() if isinstance(value, Stored) else value_to_dict(value)
    if row["data"] and len(row["data"]) == 1:
        return _entry_text(row["data"][0])
    odd = "nan" if row["nan"] else "inf" if row["inf"] else None
    size = odd or (number_text(row["statistics"]["norm"]) if row["statistics"] else None)
    return f"a {tuple(row['shape'])} array" + (f" of norm {size}" if size else "")


def _entry_text(entry: Any) -> str:
    """Return an entry of a stored value: a number, a truth value, a word such as nan, or the parts of a complex
    number."""
    if isinstance(entry, list):
        real, imaginary = map(float, cast("list[Any]", entry))
        return number_text(complex(real, imaginary))
    return str(entry) if isinstance(entry, (bool, str)) else number_text(entry)
