"""What can be asked of a step of a walk: in words, with every answer that counts, and hints for those that do not.

All of it is read off the record. Who asks may hand in answers that come from known mistakes, each with its hint; they
are data, and no rule is applied here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .. import cells, words
from ..digits import number
from ..source import Trace
from . import formulas, pictures
from .seals import accepted, shape_text, width

MOST_CHOICES = 6
MOST_HINTED = 300
"""Nodes that a wrong press is answered for with a reason of its own."""
NOISE = 1e-12
TRUTHS = {"+": "greater than 0", "-": "less than 0", "0": "0", "nan": "nan: not a number"}
TRUTHS_OF_MANY = {
    "+": "all greater than 0", "-": "all less than 0", "±": "some greater and some less than 0", "0": "all 0",
    "nan": "at least one is nan or infinite",
}  # fmt: skip
COULD_GO = (
    "Its gradient is complete too, so another order could take it. This walk goes back in the order in which results "
    "were made, the last first: this one was made earlier."
)
ONE_OF_SEVERAL = "That is one of several results: what arrives there goes to the operation that made them."
LEAFS = "That is where the walk ends: an input or a parameter sends nothing on."


@dataclass
class Question:
    """One question about one step. `right` are the answers that count, as texts; `hints` those that do not, each with
    a sentence."""

    at: int
    kind: str
    say: str
    form: str
    right: list[str]
    told: str
    plain: str
    hints: list[tuple[list[str], str]] = field(default_factory=list)
    choices: list[dict[str, Any]] = field(default_factory=list)
    lit: bool = True
    width: float | None = None
    note: str | None = None

    def hint(self, answers: Iterable[str], text: str) -> None:
        """Say `text` to these answers, but to those that count and those that have a hint already."""
        taken = {*self.right, *(each for told, _ in self.hints for each in told)}
        fresh = [each for each in answers if each not in taken]
        if fresh:
            self.hints.append((fresh, text))


@dataclass
class Asked:
    """A step that is asked about, with what is known of it before."""

    trace: Trace
    at: int
    tolerance: float
    candidates: list[Mapping[str, Any]]
    rng: Random
    called: list[str]
    ways: list[tuple[int, int, int]]

    @property
    def step(self) -> Trace:
        """The step."""
        return self.trace["steps"][self.at]

    @property
    def sender(self) -> str:
        """Who sends."""
        return self.called[self.ways[self.at][1]]

    @property
    def receiver(self) -> str:
        """Who receives."""
        return self.called[self.ways[self.at][2]]

    @property
    def word(self) -> str:
        """What travels."""
        return "gradient" if words.is_back(self.trace, self.step) else "tangent"

    def value(self, word: str) -> Trace | None:
        """What a word of the step stands for."""
        return self.at_place(self.step[word])

    def at_place(self, place: int | None) -> Trace | None:
        """The value at a place."""
        return None if place is None else self.trace["values"][place]

    @property
    def of_walk(self) -> list[tuple[Trace, tuple[int, int, int]]]:
        """The steps of the same walk, each with its way."""
        pairs = zip(self.trace["steps"], self.ways, strict=True)
        return [(step, way) for step, way in pairs if step["walk"] == self.step["walk"]]


def entries(value: Trace | None) -> int | None:
    """How many entries a value has; None where it was not recorded."""
    return None if value is None else math.prod(value["shape"])


# Gradient --------------------


def gradient(asked: Asked) -> Question | None:
    """What the receiver holds then: a number, or one entry of an array."""
    after = asked.value("after")
    if after is None:
        return None
    if not after["data"]:
        return shape(asked)
    place, name = _entry(asked, after)
    exact = after["data"][place]
    part, about = _part(exact)
    right = part(exact)
    noise = NOISE * max((abs(part(x)) for x in _others(asked, ("before", "contribution"), place)), default=0)
    what = f"{about}{name}the {asked.word} of {asked.receiver}"
    made = Question(
        asked.at, "gradient", f"{asked.sender} sends to {asked.receiver}. What is {what} then?", "number",
        accepted(right, asked.tolerance, noise), f"{what[0].upper()}{what[1:]} is {number(_word(right))}.",
        f"What {asked.sender} sends is what has arrived at it, put through its rule; at {asked.receiver} it is added "
        "to what is there.",
        width=width(asked.tolerance),
        note=f"A number, or a fraction such as 1/3. Within {number(100 * asked.tolerance)} % is right.",
    )
    for answer, text in _given(asked, after["shape"], place):
        made.hint(accepted(part(answer), asked.tolerance), text)
    for answer, text in _by_mistake(asked, place, part, right):
        made.hint(accepted(answer, asked.tolerance), text)
    return made


def _entry(asked: Asked, after: Trace) -> tuple[int, str]:
    """Which entry is asked for, and its name; one to which the step brings something, where there is one."""
    if len(after["data"]) == 1:
        return 0, ""
    sent, everywhere = asked.value("contribution"), list(range(len(after["data"])))
    brought = sent["data"] if sent and sent["data"] and sent["shape"] == after["shape"] else after["data"]
    telling = [k for k in everywhere if brought[k] != 0 and after["data"][k] not in (0, 1)]
    k = asked.rng.choice(telling or everywhere)
    return k, f"entry {place_name(after['shape'], k)} of "


def place_name(dims: list[int], k: int) -> str:
    """The place of an entry along every axis."""
    places: list[int] = []
    for size in reversed(dims):
        places.insert(0, k % size)
        k //= size
    return f"[{', '.join(map(str, places))}]"


def _part(exact: Any) -> tuple[Callable[[Any], float], str]:
    """How an entry is read as one number, and what that is called."""
    if isinstance(exact, list):
        return lambda x: float(x[0] if isinstance(x, (list, tuple)) else x.real), "the real part of "
    return lambda x: float(x[0]) if isinstance(x, (list, tuple)) else float(x), ""


def _word(x: float) -> Any:
    return x if math.isfinite(x) else str(x)


def _others(asked: Asked, names: Iterable[str], place: int) -> list[Any]:
    """The same entry of other words of the step, where they have it."""
    after = asked.value("after")
    found = []
    for name in names:
        value = asked.value(name)
        if value and value["data"] and after and value["shape"] == after["shape"]:
            found.append(value["data"][place])
    return found


def _by_mistake(
    asked: Asked, place: int, part: Callable[[Any], float], right: float
) -> Iterable[tuple[float, str]]:
    """What usual slips would give, as far as the record has the numbers."""
    had = [part(x) for x in _others(asked, ["before"], place)]
    base = had[0] if had else 0.0
    if had:
        yield from ((part(x), f"That is what this step sends. Something was there before: {asked.word}s add up.")
                    for x in _others(asked, ["contribution"], place))  # fmt: skip
        yield base, "That is what was there before this step, which adds to it."
    handed_on = f"That is what arrived at {asked.sender}, handed on as it is: its rule has still to be applied."
    yield from ((base + part(x), handed_on) for x in _others(asked, ["upstream"], place))
    yield from (
        (base + part(x), f"That is the local derivative alone: what arrived at {asked.sender} is left out.")
        for x in _others(asked, ["local"], place)
    )
    raw = asked.value("raw")
    if asked.step["summed_axes"] and raw and raw["data"]:
        each = {part(x) for x in raw["data"]}
        yield from ((base + x, "Broadcasting had repeated this input: what is sent to its copies is summed.")
                    for x in sorted(each)[:8])  # fmt: skip
        after = asked.value("after")
        copies = len(raw["data"]) / max(1, entries(after) or 1)
        yield base + (right - base) / copies, "A sum is wanted over what was repeated, not an average."
    yield -right, "The size is right. Look at the sign."
    yield 2 * right, "That is twice as much as it should be."
    yield right / 2, "That is half of what it should be."


def _given(asked: Asked, dims: list[int], place: int) -> Iterable[tuple[Any, str]]:
    """The candidates that who asks has given, at the entry that is asked for."""
    for each in asked.candidates:
        answer = each["answer"]
        if list(_shape(answer)) == list(dims):
            yield _flat(answer)[place], str(each["hint"])
        elif _shape(answer) == ():
            yield answer, str(each["hint"])


def _shape(answer: Any) -> tuple[int, ...]:
    """The shape of nested lists, or of an array."""
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
    """The entries of nested lists, or of an array."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    if not isinstance(answer, (list, tuple)):
        return [answer]
    return [entry for part in answer for entry in _flat(part)]


# Shape, sign, adds -----------


def shape(asked: Asked) -> Question | None:
    """The shape of what arrives; where axes are summed, of what the rule sends before."""
    summed = bool(asked.step["summed_axes"]) and asked.step["raw"] is not None
    value = asked.value("raw" if summed else "after")
    if value is None or (not summed and asked.value("contribution") is None):
        return None
    sent = (
        f"Broadcasting had repeated {asked.receiver}. Which shape has what the rule of {asked.sender} sends there, "
        "before anything is summed?"
        if summed else
        f"{asked.sender} sends to {asked.receiver}. Which shape has the {asked.word} of {asked.receiver} then?"
    )  # fmt: skip
    made = Question(
        asked.at, "shape", sent, "shape", [shape_text(value["shape"])], f"Its shape is {words.shape(value)}.",
        f"A {asked.word} has the shape of what it belongs to."
        + (" What is sent has the shape of the result, into which broadcasting repeated the input." if summed else ""),
        note="A shape as (3, 4); () for a single number.",
    )
    for each in asked.candidates:
        made.hint([shape_text(_shape(each["answer"]))], str(each["hint"]))
    after, upstream = asked.value("after"), asked.value("upstream")
    if summed and after:
        made.hint([shape_text(after["shape"])], "That is the shape after the sum.")
    made.hint([shape_text(reversed(value["shape"]))], "The axes stand the other way round.")
    if upstream:
        made.hint([shape_text(upstream["shape"])], f"That is the shape of what arrived at {asked.sender}.")
    made.hint([str(entries(value)), ""], "So many entries there are; how do they lie?")
    return made


def sign_of(value: Trace | None) -> str | None:
    """The sign of a value: of one number, or of all entries; None where it is not known or there is none."""
    if value is None or not entries(value):
        return None
    if (value["data"] and isinstance(value["data"][0], list)) or "complex" in value["dtype"]:
        return None
    if words.not_finite(value):
        return "nan"
    told = value["statistics"] or ({"min": min(value["data"]), "max": max(value["data"])} if value["data"] else None)
    if told is None:
        return None
    low, high = told["min"], told["max"]
    return "±" if low < 0 < high else "+" if low > 0 else "-" if high < 0 else "0" if low == high == 0 else None


def sign(asked: Asked) -> Question | None:
    """Whether what is sent is positive or negative."""
    value = asked.value("contribution")
    found = sign_of(value)
    if value is None or found is None or (entries(value) == 1 and found == "nan" and "nan" not in value["data"]):
        return None
    truths = TRUTHS if entries(value) == 1 else TRUTHS_OF_MANY
    signs = list(truths)
    of_many = "" if entries(value) == 1 else "Of which sign are the entries of "
    say = f"{of_many}what {asked.sender} sends to {asked.receiver}?" if of_many else (
        f"Which sign has what {asked.sender} sends to {asked.receiver}?"
    )
    say = say[0].upper() + say[1:]
    made = Question(
        asked.at, "sign", say, "choice", [str(signs.index(found))], f"It is {truths[found]}.",
        f"Which sign has what arrived at {asked.sender}, and does its rule turn it?",
        choices=[{"text": text} for text in truths.values()],
    )
    upstream = sign_of(asked.value("upstream"))
    if upstream in truths and upstream != found:
        made.hint([str(signs.index(upstream))], f"That is the sign of what arrived at {asked.sender}. Does its rule "
                  "turn it?")  # fmt: skip
    return made


def adds(asked: Asked) -> Question | None:
    """Whether something was there before; or, where nothing was, how many times something will arrive."""
    step, target = asked.step, asked.ways[asked.at][2]
    if step["contribution"] is None:
        return None
    if not step["accumulates"] and words.is_back(asked.trace, step) and asked.rng.random() < 0.5:
        counted = _counted(asked, target)
        if counted:
            return counted
    sent = any(way[2] == target for each, way in asked.of_walk if each["index"] < step["index"])
    right = "0" if not step["accumulates"] else "2" if step["earlier"] else "1"
    made = Question(
        asked.at, "adds", f"{asked.sender} sends to {asked.receiver}. What becomes of what was there?", "choice",
        ["1", "2"] if step["earlier"] and sent else [right],
        {"0": "Nothing was there: it is the first to arrive.", "1": "It is added to what earlier steps have sent.",
         "2": "It is added to what an earlier walk has left there: nobody had cleared it."}[right],
        f"Go back and look at {asked.receiver}: does it hold a {asked.word} already?",
        choices=[{"text": f"Nothing was there: this is the first {asked.word} to arrive"},
                 {"text": "It stays, and this is added: earlier steps of this walk have sent it"},
                 {"text": "It stays, and this is added: an earlier walk has left it"},
                 {"text": "It is replaced"}],
    )  # fmt: skip
    made.hint(["3"], f"Nothing is replaced in a walk: {asked.word}s add up, for every use of a value counts.")
    if right != "0":
        made.hint(["0"], f"Go back one step and look at {asked.receiver}: it holds a {asked.word} already.")
    else:
        made.hint(["1", "2"], f"Go back one step and look at {asked.receiver}: it holds nothing.")
    return made


def _counted(asked: Asked, target: int) -> Question | None:
    """How many times something arrives at a node in this walk."""
    times = sum(way[2] == target for _, way in asked.of_walk)
    if times < 2:
        return None
    made = Question(
        asked.at, "adds", f"This step is the first to send to {asked.receiver}. In how many steps of this walk does "
        f"something arrive there, this one included?", "whole", [str(times)],
        f"In {times}: {asked.receiver} is read at so many places.",
        f"How many arrows leave {asked.receiver}? Each of them brings something back.", note="A whole number.",
    )  # fmt: skip
    made.hint(["1"], f"{asked.receiver} is read more than once.")
    return made


# Order -----------------------


def order(asked: Asked) -> Question | None:
    """Whose rule is applied next."""
    at, step = asked.at, asked.step
    earlier = asked.trace["steps"][at - 1] if at else None
    if earlier and (earlier["node"], earlier["walk"]) == (step["node"], step["walk"]):
        return None
    if not words.is_back(asked.trace, step):
        return None
    reasons = _reasons(asked)
    if not reasons:
        return None
    close = [node for node in reasons if node != step["node"]]
    shown = sorted([step["node"], *close[: MOST_CHOICES - 1]])
    made = Question(
        at, "order", "One step on. Whose rule is applied next? Choose the node in the graph, or here.", "node",
        [str(step["node"])], f"It is {asked.called[step['node']]}: of those whose gradient is complete, the one that "
        "was made last.",
        "A rule is applied when all has arrived that will arrive at its node.",
        choices=[{"text": asked.called[node], "node": node} for node in shown], lit=False,
    )  # fmt: skip
    said: dict[str, list[str]] = {}
    for node, reason in list(reasons.items())[:MOST_HINTED]:
        said.setdefault(reason, []).append(str(node))
    for reason, nodes in said.items():
        made.hint(nodes, reason)
    return made


def _reasons(asked: Asked) -> dict[int, str]:
    """For every node why it is not the one, those first that could be taken for it; nothing where the order of the
    record has another reason than when results were made."""
    steps = asked.of_walk
    here = asked.at - (asked.trace["steps"].index(steps[0][0]))
    sent = {way[1] for _, way in steps[:here]}
    sending = {way[1] for _, way in steps[here:]}
    holding = {way[2] for _, way in steps[:here]} - sent
    coming = {way[2] for _, way in steps[here:]}
    right = asked.step["node"]
    parts = {n["id"] for n in asked.trace["nodes"] if n["kind"] == "output"}
    complete = (holding & sending) - coming
    if right < max(complete, default=right):
        return {}  # another order than the engine's
    kinds: list[tuple[set[int], str]] = [
        (parts, ONE_OF_SEVERAL),
        (complete, COULD_GO),
        (holding & sending & coming, "Its gradient is not complete yet: more will arrive there."),
        (holding - sending, LEAFS),
        (sending - holding - sent, "Nothing has arrived there yet."),
        (sent, "Its rule has been applied already."),
        ({n["id"] for n in asked.trace["nodes"] if n["kind"] == "leaf"}, LEAFS),
        ({n["id"] for n in asked.trace["nodes"]}, "Nothing arrives there, or it has no rule of its own."),
    ]  # fmt: skip
    found: dict[int, str] = {}
    for nodes, reason in kinds:
        found |= {node: reason for node in sorted(nodes, reverse=True) if node not in found and node != right}
    return found


# Which of several ------------


def formula(asked: Asked) -> Question | None:
    """Which formula the rule applies."""
    found = formulas.choices(asked.trace, asked.step, asked.rng)
    if found is None:
        return None
    made = Question(
        asked.at, "formula", f"{asked.sender} sends to {asked.receiver}. By which formula?", "choice",
        [str(found.right)], f"The rule says: {found.shown[found.right][1]}.",
        f"How much does {asked.sender} move when {asked.receiver} moves a little? That, times what arrived.",
        choices=[{"formula": html, "text": text} for html, text in found.shown], note=found.note,
    )
    for k, text in found.hints.items():
        made.hint([str(k)], text)
    return made


def picture(asked: Asked) -> Question | None:
    """Which of four pictures is what the receiver holds then."""
    after = asked.value("after")
    if after is None:
        return None
    others = [("contribution", "That is what this step sends; something was there before, to which it is added.")]
    others = others if asked.step["accumulates"] else []
    near = [(cells.one(value), text) for name, text in [
        *others, ("before", "That is what was there before."),
        ("upstream", f"That is what arrived at {asked.sender}."), ("local", "That is the local derivative alone."),
    ] if (value := asked.value(name))]  # fmt: skip
    found = pictures.choices(cells.one(after), near, _same_shape(asked, after), asked.rng)
    if found is None:
        return None
    right, shown, hints = found
    made = Question(
        asked.at, "picture",
        f"{asked.sender} sends to {asked.receiver}. Which picture is the {asked.word} of {asked.receiver} then?",
        "choice", [str(right)], f"It is picture {right + 1}.",
        "Look at what arrived, and at what the rule does with it: to the sign of each entry, and to its place.",
        choices=[{"picture": each} for each in shown],
        note="Blue is positive, red with a minus negative, blank zero; the stronger the larger.",
    )
    for k, text in hints.items():
        made.hint([str(k)], text)
    return made


def _same_shape(asked: Asked, after: Trace) -> list[Trace]:
    """What earlier steps have left elsewhere, of the same shape; later ones may be asked about themselves."""
    earlier = asked.trace["steps"][: asked.at]
    places = dict.fromkeys(step["after"] for step in reversed(earlier) if step["after"] is not None)
    found = [asked.trace["values"][place] for place in list(places)[:200] if place != asked.step["after"]]
    return [cells.one(value) for value in found if value["shape"] == after["shape"]][:8]


KINDS: dict[str, Callable[[Asked], Question | None]] = {
    "gradient": gradient, "shape": shape, "sign": sign, "order": order, "adds": adds, "formula": formula,
    "picture": picture,
}  # fmt: skip
"""What can be asked, by name."""
