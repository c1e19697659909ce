"""Questions about a step of a walk: their text, accepted answers, and hints for wrong ones.

Everything is read from the trace; no rule is applied here. Callers can pass further wrong answers with hints as data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from .. import cells, words
from ..digits import number
from ..journal import nodes_known_at, walk_states
from ..trace_input import Trace
from . import formula_choices, picture_choices
from .cards import NOTES, shuffle_choices, slips_of
from .sealed_answers import accepted_bins, hide_shape, shape_text, width

MOST_CHOICES = 6
MOST_HINTED = 300
"""Maximum number of nodes with a specific hint."""
NOISE = 1e-12
TRUTHS = {"+": "greater than 0", "-": "less than 0", "0": "0", "nan": "nan: not a number"}
TRUTHS_OF_MANY = {
    "+": "all greater than 0", "-": "all less than 0", "±": "some greater and some less than 0", "0": "all 0",
    "nan": "at least one is nan or inf",
}  # fmt: skip
COULD_GO = (
    "Its gradient is complete too, so another order could choose it. This walk goes back in the order in which results "
    "were made, the last first: this one was made earlier."
)
ONE_OF_SEVERAL = "That is one of several outputs: its gradient passes to the operation that made them."
LEAFS = "The walk ends there: an input or a parameter sends nothing on."


@dataclass
class Question:
    """Question about one step. `right` has the accepted answers as texts, `hints` other answers with a sentence."""

    at: int
    kind: str
    say: str
    form: str
    right: list[str]
    reveal: str
    plain: str
    hints: list[tuple[list[str], str]] = field(default_factory=list)
    choices: list[dict[str, Any]] = field(default_factory=list)
    lit: bool = True
    width: float | None = None
    note: str | None = None
    hides: str | None = None
    """The shape, as text, that nothing on the page may show, because it is the answer."""
    is_authors: bool = False
    """Whether an author worded it, so that it stands alone."""
    named: list[tuple[str, str]] = field(default_factory=list)
    """Wrong answers in words with their hints, for a poll."""
    right_word: str = ""
    """The right answer in words, for a poll; empty if the question has choices."""

    def hint(self, answers: Iterable[str], text: str, word: str = "") -> None:
        """Add a hint for some answers, except right ones and answers with a hint; `word` is such an answer in words."""
        taken = {*self.right, *(each for answers, _ in self.hints for each in answers)}
        fresh = [each for each in answers if each not in taken]
        if fresh:
            self.hints.append((fresh, text))
        if fresh and word:
            self.named.append((word, text))

    def as_poll(self, most: int) -> Question:
        """Return the question with choices: the right answer and what the first mistakes give, shuffled."""
        hints = dict(self.named[: most - 1])
        hints.pop(self.right_word, None)
        choices = shuffle_choices([self.right_word, *hints])
        poll = replace(self, form="one", right=[str(choices.index(self.right_word))], hints=[], named=[], width=None,
                       note=None, choices=[{"text": each} for each in choices])  # fmt: skip
        for word, text in hints.items():
            poll.hint([str(choices.index(word))], text)
        return poll


@dataclass
class StepContext:
    """Step with everything known before it."""

    trace: Trace
    at: int
    tolerance: float
    candidates: list[Mapping[str, Any]]
    rng: Random
    node_names: list[str]
    step_edges: list[tuple[int, int, int]]
    entry: tuple[int, ...] | None = None
    """The entry to ask about, if an author chose one."""

    @property
    def step(self) -> Trace:
        """Return the step."""
        return self.trace["steps"][self.at]

    @property
    def sender(self) -> str:
        """Return the name of the sending node."""
        return self.node_names[self.step_edges[self.at][1]]

    @property
    def receiver(self) -> str:
        """Return the name of the receiving node."""
        return self.node_names[self.step_edges[self.at][2]]

    @property
    def word(self) -> str:
        """Return "gradient" or "tangent"."""
        return "gradient" if words.is_back(self.trace, self.step) else "tangent"

    def value(self, word: str) -> Trace | None:
        """Return a value of the step, given its name."""
        return self.at_place(self.step[word])

    def at_place(self, place: int | None) -> Trace | None:
        """Return the value at an index."""
        return None if place is None else self.trace["values"][place]

    @property
    def receivers_value(self) -> Trace | None:
        """Return the value that the receiver has in the walk of the step."""
        receiver, states = self.step_edges[self.at][2], walk_states(self.trace)
        changed = states[self.step["walk"]].values if self.step["walk"] in states else {}
        return self.at_place(changed.get(receiver, self.trace["nodes"][receiver]["value"]))

    @property
    def of_walk(self) -> list[tuple[Trace, tuple[int, int, int]]]:
        """Return the steps of the same walk, each with its edge."""
        pairs = zip(self.trace["steps"], self.step_edges, strict=True)
        return [(step, way) for step, way in pairs if step["walk"] == self.step["walk"]]


def entries(value: Trace | None) -> int | None:
    """Return the number of entries of a value, or None if it was not recorded."""
    return None if value is None else math.prod(value["shape"])


# Gradient --------------------


def gradient(context: StepContext) -> Question | None:
    """Ask for the receiver's gradient after the step: a number, or one entry of an array."""
    after = context.value("after")
    if after is None:
        return None
    if not after["data"]:
        return shape(context)
    place, name = _entry(context, after)
    exact = after["data"][place]
    part, about = _part(exact)
    right = part(exact)
    noise = NOISE * max((abs(part(x)) for x in _others(context, ("before", "contribution"), place)), default=0)
    lead = _how_to_find_gradient(context, name)
    what = f"{about}{name}the {context.word} of {context.receiver}"
    question = Question(
        context.at,
        "gradient",
        f"{context.sender} sends to {context.receiver}. What is {what} then{_before_hook(context)}?",
        "number",
        accepted_bins(right, context.tolerance, noise),
        f"{what[0].upper()}{what[1:]} is {number(_word(right))}.",
        lead,
        width=width(context.tolerance),
        note=f"A number, or a fraction such as 1/3. Within {number(100 * context.tolerance)} % is right.",
    )
    for answer, text in _add_candidates(context, after["shape"], place):
        question.hint(accepted_bins(part(answer), context.tolerance), text, number(_word(part(answer))))
    for answer, text in _by_mistake(context, place, part, right, lead):
        question.hint(accepted_bins(answer, context.tolerance), text, number(_word(answer)))
    question.right_word = number(_word(right))
    return question


def _how_to_find_gradient(context: StepContext, name: str) -> str:
    """Return the way to the gradient of a value, or of one of its entries, for whoever gave another number."""
    place = " there" if name else ""
    earlier = f" Then add what {context.receiver} has{place} already." if context.step["accumulates"] else ""
    if not name:
        return f"Take what arrived at {context.sender}, times how fast it grows with {context.receiver}.{earlier}"
    return (f"Which entries of {context.sender} does {name}{context.receiver} move, and how fast? Multiply what "
            f"arrived at each of them by how fast it moves, and add these up.{earlier}")  # fmt: skip


MOST_PRESSED, CLEARLY = 64, 1.05
"""An array whose entries can be pressed has at most so many, and the largest is by so much larger than the next."""


def cell(context: StepContext) -> Question | None:
    """Ask for the entry of the receiver that gets the most in this step, or for the entry that an author chose."""
    value, sent = context.receivers_value, context.value("contribution")
    if value is None or sent is None or not _can_be_pressed(value, sent):
        return None
    sizes, dims = [abs(x) for x in sent["data"]], value["shape"]
    order = sorted(range(len(sizes)), key=lambda k: -sizes[k])
    if context.entry is not None:
        right, what = flat_place(dims, context.entry), f"the entry {place_name(dims, flat_place(dims, context.entry))}"
    elif sizes[order[0]] > CLEARLY * sizes[order[1]]:
        right, what = order[0], f"the entry that gets the largest {context.word}, whatever its sign"
    else:
        return None
    texts = [place_name(dims, k)[1:-1].replace(" ", "") for k in range(len(sizes))]
    question = Question(
        context.at, "cell", f"{context.sender} sends to {context.receiver}. Press {what}.", "cell", [texts[right]],
        f"It is {place_name(dims, right)}, which gets {number(sent['data'][right])}.",
        f"The rule of {context.sender} gives each entry of {context.receiver} its own number.",
    )
    if context.entry is None:
        question.hint([texts[order[-1]]], "That entry gets the smallest.")
        by_value = max(range(len(sizes)), key=lambda k: value["data"][k])
        question.hint([texts[by_value]], f"That entry of {context.receiver} is the largest itself. What arrives there?")
        signed = max(range(len(sizes)), key=lambda k: sent["data"][k])
        question.hint([texts[signed]], "That is the largest with its sign. Which is the largest in size?")
    return question


def _can_be_pressed(value: Trace, sent: Trace) -> bool:
    """Return whether a value is a vector or a matrix of a few finite numbers, and what is sent has its shape."""
    entries_of_both = [*(value["data"] or ()), *(sent["data"] or ())]
    are_numbers = all(isinstance(x, (int, float)) and math.isfinite(x) for x in entries_of_both)
    is_small = "beside" not in sent and len(value["shape"]) in (1, 2) and 2 <= len(value["data"] or ()) <= MOST_PRESSED
    return is_small and are_numbers and value["shape"] == sent["shape"]


def _before_hook(context: StepContext) -> str:
    """Return a phrase that says that a hook changes the asked gradient later in its walk."""
    target, walk = context.step["target"], None
    for entry in context.trace["journal"]:
        walk = entry["walk"] if entry["kind"] == "begin" else walk
        if entry["kind"] == "hook" and (entry["node"], walk) == (target, context.step["walk"]):
            return ", before its hook changes it"
    return ""


def _entry(context: StepContext, after: Trace) -> tuple[int, str]:
    """Return the entry to ask about, and its name; preferably one that the step changes."""
    if context.entry is not None:
        k = flat_place(after["shape"], context.entry)
        return k, f"entry {place_name(after['shape'], k)} of "
    if len(after["data"]) == 1:
        return 0, ""
    sent, everywhere = context.value("contribution"), list(range(len(after["data"])))
    brought = sent["data"] if sent and sent["data"] and sent["shape"] == after["shape"] else after["data"]
    telling = [k for k in everywhere if brought[k] != 0 and after["data"][k] not in (0, 1)]
    k = context.rng.choice(telling or everywhere)
    return k, f"entry {place_name(after['shape'], k)} of "


def flat_place(dims: list[int], entry: tuple[int, ...]) -> int:
    """Return the position of an entry in row-major order, or raise ValueError."""
    if len(entry) != len(dims) or not all(0 <= i < size for i, size in zip(entry, dims, strict=True)):
        raise ValueError(f"entry {entry} is not in a gradient of shape {tuple(dims)}")
    k = 0
    for i, size in zip(entry, dims, strict=True):
        k = k * size + i
    return k


def place_name(dims: list[int], k: int) -> str:
    """Return the index of an entry along every axis."""
    places: list[int] = []
    for size in reversed(dims):
        places.insert(0, k % size)
        k //= size
    return f"[{', '.join(map(str, places))}]"


def _part(exact: Any) -> tuple[Callable[[Any], float], str]:
    """Return a function that reads an entry as one number, and the name of that number."""
    if isinstance(exact, list):
        return lambda x: float(x[0] if isinstance(x, (list, tuple)) else x.real), "the real part of "
    return lambda x: float(x[0]) if isinstance(x, (list, tuple)) else float(x), ""


def _word(x: float) -> Any:
    return x if math.isfinite(x) else str(x)


def _others(context: StepContext, names: Iterable[str], place: int) -> list[Any]:
    """Return the same entry of other values of the step."""
    after = context.value("after")
    found = []
    for name in names:
        value = context.value(name)
        if value and value["data"] and after and value["shape"] == after["shape"]:
            found.append(value["data"][place])
    return found


def _by_mistake(
    context: StepContext, place: int, part: Callable[[Any], float], right: float, lead: str
) -> Iterable[tuple[float, str]]:
    """Yield the results of common mistakes, with hints; `lead` is the way to the right one."""
    had = [part(x) for x in _others(context, ["before"], place)]
    base = had[0] if had else 0.0
    if had:
        yield from ((part(x), f"That is what this step sends. There was a value before: {context.word}s add up.")
                    for x in _others(context, ["contribution"], place))  # fmt: skip
        yield base, "That was the value before this step, which adds to it."
    start = f"That is the {context.word} before, and" if had else "That is"
    handed_on = f"{start} what arrived at {context.sender}, unchanged: its rule must still be applied."
    yield from ((base + part(x), handed_on) for x in _others(context, ["upstream"], place))
    alone = f"{start} the local derivative alone: multiply it by what arrived at {context.sender}."
    yield from ((base + part(x), alone) for x in _others(context, ["local"], place))
    raw = context.value("raw")
    if context.step["summed_axes"] and raw and raw["data"]:
        each = {part(x) for x in raw["data"]}
        yield from ((base + x, "Broadcasting repeated this input: the gradients of its copies are summed.")
                    for x in sorted(each)[:8])  # fmt: skip
        after = context.value("after")
        copies = len(raw["data"]) / max(1, entries(after) or 1)
        yield base + (right - base) / copies, "Take the sum over the copies, not the average."
    yield from slips_of(right, lead)


def _add_candidates(context: StepContext, dims: list[int], place: int) -> Iterable[tuple[Any, str]]:
    """Yield the caller's candidates for the entry in question."""
    for each in context.candidates:
        answer = each["answer"]
        if list(_shape(answer)) == list(dims):
            yield _flat(answer)[place], str(each["hint"])
        elif _shape(answer) == ():
            yield answer, str(each["hint"])


def _shape(answer: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, or of an array."""
    if hasattr(answer, "shape"):
        return tuple(answer.shape)
    found: list[int] = []
    while isinstance(answer, (list, tuple)):
        found.append(len(answer))
        if not answer:
            break
        answer = answer[0]
    return tuple(found)


def _flat(answer: Any) -> list[Any]:
    """Return the entries of nested lists, or of an array."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    if not isinstance(answer, (list, tuple)):
        return [answer]
    return [entry for part in answer for entry in _flat(part)]


# Shape, sign, adds -----------


def shape(context: StepContext) -> Question | None:
    """Ask for the shape of what arrives, or, if axes are summed, of the rule's result before the sum."""
    summed = bool(context.step["summed_axes"]) and context.step["raw"] is not None
    value = context.value("raw" if summed else "after")
    if value is None or (not summed and context.value("contribution") is None):
        return None
    sent = (
        f"Broadcasting repeated {context.receiver}. What is the shape of what {context.sender} sends there, "
        "before it is summed?"
        if summed else
        f"{context.sender} sends to {context.receiver}. What is the shape of its {context.word} then?"
    )  # fmt: skip
    question = Question(
        context.at, "shape", hide_shape(sent, value["shape"]), "shape", [shape_text(value["shape"])],
        f"Its shape is {words.shape(value)}.",
        f"A {context.word} has the same shape as its node."
        + (" Before the sum, it has the shape of the result." if summed else ""),
        note=NOTES["shape"], hides=shape_text(value["shape"]),
    )
    for each in context.candidates:
        hint_shape(question, _shape(each["answer"]), str(each["hint"]))
    after, upstream = context.value("after"), context.value("upstream")
    if summed and after:
        hint_shape(question, after["shape"], "That is the shape after the sum.")
    hint_shape(question, value["shape"][::-1], "The axes are swapped.")
    if upstream:
        hint_shape(question, upstream["shape"], f"That is the shape of what arrived at {context.sender}.")
    question.hint([str(entries(value)), ""], "That is the number of entries. How are they arranged?")
    question.right_word = str(tuple(value["shape"]))
    return question


def hint_shape(question: Question, shape: Iterable[int], text: str) -> None:
    """Add a hint for a shape."""
    shape = tuple(shape)
    question.hint([shape_text(shape)], text, str(shape))


def sign_of(value: Trace | None) -> str | None:
    """Return the sign of a number, or the common sign of all entries; None if it is unknown or mixed zero."""
    if value is None or not entries(value):
        return None
    if (value["data"] and isinstance(value["data"][0], list)) or "complex" in value["dtype"]:
        return None
    if words.not_finite(value):
        return "nan"
    limits = value["statistics"] or ({"min": min(value["data"]), "max": max(value["data"])} if value["data"] else None)
    if limits is None:
        return None
    low, high = limits["min"], limits["max"]
    return "±" if low < 0 < high else "+" if low > 0 else "-" if high < 0 else "0" if low == high == 0 else None


def sign(context: StepContext) -> Question | None:
    """Ask whether the contribution is positive or negative."""
    value = context.value("contribution")
    found = sign_of(None if value and "beside" in value else value)
    if value is None or found is None or (entries(value) == 1 and found == "nan" and "nan" not in value["data"]):
        return None
    truths = TRUTHS if entries(value) == 1 else TRUTHS_OF_MANY
    signs = list(truths)
    of_many = "" if entries(value) == 1 else "What is the sign of the entries of "
    say = f"{of_many}what {context.sender} sends to {context.receiver}?" if of_many else (
        f"What is the sign of what {context.sender} sends to {context.receiver}?"
    )
    say = say[0].upper() + say[1:]
    question = Question(
        context.at, "sign", say, "choice", [str(signs.index(found))], f"It is {truths[found]}.",
        f"What is the sign of what arrived at {context.sender}, and does its rule change it?",
        choices=[{"text": text} for text in truths.values()],
    )
    upstream = sign_of(context.value("upstream"))
    if found == "0" and upstream != "0":
        factor = f"Something arrived at {context.sender}, and its rule multiplies it by something. By what, here?"
        question.hint([str(k) for k in range(len(signs))], factor)
    elif upstream in truths and upstream != found:
        question.hint([str(signs.index(upstream))], f"That is the sign of what arrived at {context.sender}. "
                      "Does its rule change it?")  # fmt: skip
    return question


def adds(context: StepContext) -> Question | None:
    """Ask whether the receiver had a value before; if not, sometimes how many values will arrive."""
    step, target = context.step, context.step_edges[context.at][2]
    if step["contribution"] is None:
        return None
    if not step["accumulates"] and words.is_back(context.trace, step) and context.rng.random() < 0.5:
        counted = _count_arrivals(context, target)
        if counted:
            return counted
    has_earlier = any(way[2] == target for each, way in context.of_walk if each["index"] < step["index"])
    right = "0" if not step["accumulates"] else "2" if step["earlier"] else "1"
    question = Question(
        context.at, "adds",
        f"{context.sender} sends to {context.receiver}. What happens to the value that was there?", "choice",
        ["1", "2"] if step["earlier"] and has_earlier else [right],
        {"0": "Nothing was there: it is the first to arrive.", "1": "It is added to what earlier steps sent.",
         "2": "It is added to what was there when this walk began, which was not cleared."}[right],
        f"Go back and look at {context.receiver}: does it hold a {context.word} already?",
        choices=[{"text": f"Nothing was there: this is the first {context.word} to arrive"},
                 {"text": "It stays, and this is added: earlier steps of this walk sent it"},
                 {"text": "It stays, and this is added: it was there when this walk began"},
                 {"text": "It is replaced"}],
    )  # fmt: skip
    question.hint(["3"], f"Nothing is replaced in a walk: {context.word}s add up, because every use of a value counts.")
    if right != "0":
        question.hint(["0"], f"Go back one step and look at {context.receiver}: it holds a {context.word} already.")
    else:
        question.hint(["1", "2"], f"Go back one step and look at {context.receiver}: it holds nothing.")
    return question


def _count_arrivals(context: StepContext, target: int) -> Question | None:
    """Ask how many times a value arrives at a node in this walk."""
    times = sum(way[2] == target for _, way in context.of_walk)
    if times < 2:
        return None
    start = context.trace["walks"][context.step["walk"]]["root"]
    root = "the result" if start is None else context.node_names[start]
    question = Question(
        context.at, "adds", f"This step is the first to send to {context.receiver}. In how many steps of this walk "
        f"does a value arrive there, including this one?", "whole", [str(times)],
        f"In {times}: {times} of the arrows that leave {context.receiver} lead on to {root} without a cut.",
        f"Which arrows that leave {context.receiver} lead on to {root}? Each that no cut stops brings something back.",
        note="A whole number.",
    )  # fmt: skip
    question.hint(["1"], f"{context.receiver} is read more than once.")
    return question


# Order -----------------------


def order(context: StepContext) -> Question | None:
    """Ask whose rule is applied next."""
    at, step = context.at, context.step
    earlier = context.trace["steps"][at - 1] if at else None
    if earlier and (earlier["node"], earlier["walk"]) == (step["node"], step["walk"]):
        return None
    if not words.is_back(context.trace, step):
        return None
    reasons = _reasons(context)
    if not reasons:
        return None
    unlike: dict[str, int] = {}
    known = nodes_known_at(context.trace, at)
    for node in (step["node"], *(each for each in reasons if each in known)):
        unlike.setdefault(context.node_names[node], node)
    shown = sorted([*unlike.values()][:MOST_CHOICES])
    question = Question(
        at, "order", "Take one step. Whose rule is applied next? Choose the node in the graph, or here.", "node",
        [str(step["node"])],
        f"It is {context.node_names[step['node']]}: it was made last of the nodes whose gradient is complete.",
        "A rule is applied when everything has arrived at its node.",
        choices=[{"text": context.node_names[node], "node": node} for node in shown], lit=False,
    )  # fmt: skip
    nodes_by_reason: dict[str, list[str]] = {}
    for node, reason in list(reasons.items())[:MOST_HINTED]:
        nodes_by_reason.setdefault(reason, []).append(str(node))
    for reason, nodes in nodes_by_reason.items():
        question.hint(nodes, reason)
    return question


def _reasons(context: StepContext) -> dict[int, str]:
    """Return for every other node why it is not next, plausible ones first.

    Returns nothing if the trace has another order than the engine's.
    """
    steps = context.of_walk
    here = context.at - (context.trace["steps"].index(steps[0][0]))
    applied = {way[1] for _, way in steps[:here]}
    sending = {way[1] for _, way in steps[here:]}
    holding = {way[2] for _, way in steps[:here]} - applied
    coming = {way[2] for _, way in steps[here:]}
    right = context.step["node"]
    parts = {n["id"] for n in context.trace["nodes"] if n["kind"] == "output"}
    complete = (holding & sending) - coming
    if right < max(complete, default=right):
        return {}  # another order than the engine's
    kinds: list[tuple[set[int], str]] = [
        (parts, ONE_OF_SEVERAL),
        (complete, COULD_GO),
        (holding & sending & coming, "Its gradient is not complete yet: more will arrive."),
        (holding - sending, LEAFS),
        (sending - holding - applied, "Nothing has arrived there yet."),
        (applied, "Its rule has been applied already."),
        ({n["id"] for n in context.trace["nodes"] if n["kind"] == "leaf"}, LEAFS),
        ({n["id"] for n in context.trace["nodes"]}, "Nothing arrives there, or it has no rule of its own."),
    ]  # fmt: skip
    reasons: dict[int, str] = {}
    for nodes, reason in kinds:
        reasons |= {node: reason for node in sorted(nodes, reverse=True) if node not in reasons and node != right}
    return reasons


# Which of several ------------


def formula(context: StepContext) -> Question | None:
    """Ask which formula the rule applies."""
    options = formula_choices.formula_choices(context.trace, context.step, context.rng)
    if options is None:
        return None
    question = Question(
        context.at, "formula", f"{context.sender} sends to {context.receiver}. Which formula does it use?", "choice",
        [str(options.right)], f"The rule says: {options.shown[options.right][1]}.",
        f"How much does {context.sender} change if {context.receiver} changes a little? Multiply that by what arrived.",
        choices=[{"formula": html, "text": text} for html, text in options.shown], note=options.note,
    )
    for k, text in options.hints.items():
        question.hint([str(k)], text)
    return question


def picture(context: StepContext) -> Question | None:
    """Ask which of four pictures shows the receiver's value."""
    after = context.value("after")
    if after is None or "beside" in after:
        return None
    others = [("contribution", "That is what this step sends; it is added to the value before.")]
    others = others if context.step["accumulates"] else []
    near = [(cells.page_value(value), text) for name, text in [
        *others, ("before", "That was the value before."),
        ("upstream", f"That is what arrived at {context.sender}."), ("local", "That is only the local derivative."),
    ] if (value := context.value(name))]  # fmt: skip
    options = picture_choices.picture_choices(cells.page_value(after), near, _same_shape(context, after), context.rng)
    if options is None:
        return None
    right, shown, hints = options
    question = Question(
        context.at,
        "picture",
        f"{context.sender} sends to {context.receiver}. Which picture shows its {context.word} then?",
        "choice",
        [str(right)],
        f"It is picture {right + 1}.",
        "Look at what arrived, and how the rule changes the sign and the position of each entry.",
        choices=[{"picture": each} for each in shown],
        note="Blue is positive, red with a minus is negative, blank is zero; stronger is larger.",
    )
    for k, text in hints.items():
        question.hint([str(k)], text)
    return question


def _same_shape(context: StepContext, after: Trace) -> list[Trace]:
    """Return values of other nodes with the same shape; later values might answer other questions."""
    earlier = context.trace["steps"][: context.at]
    places = dict.fromkeys(step["after"] for step in reversed(earlier) if step["after"] is not None)
    values = [context.trace["values"][place] for place in list(places)[:200] if place != context.step["after"]]
    return [cells.page_value(value) for value in values if value["shape"] == after["shape"]][:8]


KINDS: dict[str, Callable[[StepContext], Question | None]] = {
    "gradient": gradient, "shape": shape, "sign": sign, "order": order, "adds": adds, "formula": formula, "cell": cell,
    "picture": picture,
}  # fmt: skip
"""Kinds of question by name."""
