"""Comments of a program: which line of the user's and which rule a statement comes from, read off Python's frames."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import itertools
import linecache
import sys
from threading import local
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple
from weakref import finalize

from ..core import backward
from ..core.define import operations
from ..tracing.sites import USER, file_name, kind_of
from .page import Note, Page

_works: dict[int, tuple[CodeType, str, Any]] = {}
_places: dict[tuple[str, int], tuple[str, str]] = {}
_known_rules: dict[str, Any] = {}


def prepare_notes() -> None:
    """Learn the code of all forwards and rules that were defined since the last time, and forget the text of lines."""
    _places.clear()
    for name, op in operations.items():
        if _known_rules.get(name) is op.rules:
            continue
        _known_rules[name] = op.rules
        _works.setdefault(id(op.forward.__code__), (op.forward.__code__, "forward", op))
        for rule in op.rules:
            _works[id(rule.function.__code__)] = rule.function.__code__, "rule", rule


class Frames(NamedTuple):
    """The frames behind a statement: the user's, the rule's, the node of the walk with its upstream, the order of the
    walk (None if no recording sees this walk), and the optimiser that takes a step
    with its parameter."""

    user: FrameType | None
    rule: Any
    node: Any
    upstream: Any
    order: Any
    optimiser: Any


def read_frames() -> Frames:
    """Read the frames from here up to the user's."""
    frame: FrameType | None = sys._getframe(3)
    rule = node = upstream = order = optimiser = None
    while frame is not None:
        code = frame.f_code
        work = _works.get(id(code))
        if work is not None and work[1] == "rule":
            rule = work[2]
        elif code is backward.walk.__code__:
            node, upstream = frame.f_locals.get("node"), frame.f_locals.get("upstream")
            is_seen = frame.f_back is not None and frame.f_back.f_code is backward.gradients.__code__
            order = frame.f_locals["order"] if is_seen else None
        elif code in _step_code:
            optimiser = frame.f_locals["self"], frame.f_locals.get("tensor")
        elif kind_of(code) == USER:
            break
        frame = frame.f_back
    return Frames(frame, rule, node, upstream, order, optimiser)


def note_here(page: Any) -> Note:
    """Return the note for a statement that is written now."""
    user, rule, node, upstream, order, optimiser = read_frames()
    site, line = place_of(user)
    if node is None:
        if optimiser is None:
            return Note(line, site, "")
        owner, tensor = optimiser
        name = page.named.get(id(tensor)) or getattr(tensor, "label", "") or "a parameter"
        return Note(line, site, f"update of {name} by {type(owner).__name__}")
    if node in page.made:
        (site, line), value = page.made[node]
        if hasattr(upstream, "value"):
            page.upstreams.setdefault(id(upstream.value), (upstream.value, value))
    else:
        page.watch_graph(node)
    step = step_number(page, order, node, rule)
    if rule is not None and rule.op is node.op:
        name = f"back through {rule.name}"
        return Note(line, site, f"{name}: {first_sentence(rule.reason)}" if rule.reason else name, step)
    name = f"back through {node.op.name}" if node.op is not None else "back"
    last = page.statements[-1].note if page.statements else None
    is_same = last is not None and last.site == site and last.rule.startswith(name) and not 0 < last.step < step
    return last if last is not None and is_same else Note(line, site, name, step)


def step_number(page: Any, order: Any, node: Any, rule: Any) -> int:
    """Return the number of the step that a rule takes in a recorded walk, counted from 1; 0 if no recording has it."""
    if order is None or node.op is None:
        return 0
    if id(order) not in page.walks:
        firsts: dict[Any, int] = {}
        for each in order:
            firsts[each] = page.step_count + 1
            page.step_count += count_steps(each)
        page.walks[id(order)] = order, firsts
    earlier = itertools.takewhile(lambda each: each is not rule, node.op.rules if rule in node.op.rules else ())
    return page.walks[id(order)][1].get(node, 0) + sum(count_inputs(each, node) for each in earlier)


def count_inputs(rule: Any, node: Any) -> int:
    """Return how many parents of a node receive a gradient by a rule: each is a step."""
    return sum(node.parents[i] is not None for i in backward.input_indices(rule, len(node.parents)))


def count_steps(node: Any) -> int:
    """Return how many steps a walk takes from a node."""
    return sum(count_inputs(rule, node) for rule in node.op.rules) if getattr(node, "op", None) is not None else 0


_step_code: set[CodeType] = set()


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring, in one line."""
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def place_of(frame: FrameType | None) -> tuple[str, str]:
    """Return the location of a user's frame, and the text of its line."""
    if frame is None:
        return "", ""
    place = name, line = frame.f_code.co_filename, frame.f_lineno
    if place not in _places:
        _places[place] = f"{file_name(name)}:{line}", linecache.getline(name, line, frame.f_globals).strip()
    return _places[place]


def show_source(function: FunctionType, filename: str, source: str) -> None:
    """Have tracebacks and debuggers show the text of a program's function for as long as it is there."""
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    finalize(function, linecache.cache.pop, filename, None)


def users_frame() -> FrameType | None:
    """Return the innermost frame of the user's program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and kind_of(frame.f_code) != USER:
        frame = frame.f_back
    return frame


class Refusals(local):
    """What this thread's step was refused. A step that catches the error is refused as well."""

    def __init__(self) -> None:
        self.messages: list[str] = []


refusals = Refusals()


def refusal(what: str, cure: str = "Use mg.where, or return the tensor and look at it after the step") -> str:
    """Return the message of an error for something that a written program could not repeat, and remember it."""
    site, _ = place_of(users_frame())
    message = (
        f"mg.compile: {site or 'the step'} {what} while the step is written out; the program would do for ever what "
        f"this call did. {cure}"
    )
    refusals.messages.append(message)
    return message


def site_of_application(page: Page) -> tuple[str, str]:
    """Return the location and line of the application that is made now."""
    return place_of(users_frame())
