"""Notes of everything that happens to a value or a gradient outside of an operation.

Writes into an array that was lent to the program are not announced. So the notes keep a copy of each lent array, and
compare it whenever something else happens, for as long as someone else holds the array.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any, NamedTuple, cast

from ..core.messages import prefixes_errors
from ..core.runtime import recorders
from ..core.runtime.ownership import has_other_owners, user_may_write
from ..core.variable import Leaf, Variable
from .events import Call, is_leaf
from .sites import ENGINE, engine_code, kind_of, user_code
from .values import array_of, has_same_entries

frame_at = sys._getframe
PREFIXING_WRAPPER = prefixes_errors(print).__code__
"""The code that wraps functions whose errors begin with their name."""


Place = tuple[int, int, str]
"""Where in the program something was asked for: the user's call and instruction, and the engine's function."""


class Change(NamedTuple):
    """One change of a value or a gradient, a draw of random numbers, or the begin or end of a checkpoint."""

    kind: str
    """"write", "update", "gradient", "accumulate", "hook", "draw" or "checkpoint"."""
    subject: Any
    """The node of a leaf, a `Value`, a variable that is neither, or the identity of a checkpoint."""
    of: str | None
    """"value" or "gradient"."""
    before: Any
    after: Any
    by: Any
    """The hook, the name of the optimiser, or the clipping."""
    place: Place
    position: int
    """How many applications were noted before."""
    walk: int
    """How many walks had begun."""
    steps: int | None
    """How many steps of the last walk were noted before; None for all."""


class LentArray:
    """A variable whose array the program may write into, a copy of the array, and where it was lent."""

    __slots__ = ("copy", "place", "variable")

    def __init__(self, variable: Any, place: Place):
        self.variable, self.copy, self.place = variable, variable._data.copy(), place


class ChangeNotes(recorders.Recorder):
    """The part of a recorder that notes changes."""

    walks: list[Any]
    calls: dict[int, Call]
    _notes: list[Any]

    def __init__(self) -> None:
        self.kept_gradients: dict[Any, Any] = {}
        self.forgotten_notes = self.forgotten_walks = 0  # which the positions of what is noted still count
        self._changes: list[Any] = []  # plain tuples: to make a Change takes longer than to note one
        self._lent: dict[int, LentArray] = {}
        self._gradients: dict[int, tuple[Any, Any]] = {}
        self._watched: Any = None  # the last walk, if its steps are noted as they happen
        self._tensor = Variable.public

    @property
    def changes(self) -> list[Change]:
        """The changes so far, in order."""
        return [change for note in self._changes for change in _expand_note(note)]

    def on_change(self, kind: str, subject: Any, before: Any, after: Any, by: Any = None) -> None:
        """Note a change. Nothing is noted of a `.grad` that is read, or an array that is lent, until it changes.

        Only what cannot wait is done, with few calls of functions: the usual change is `p.grad = None`.
        """
        if kind == "read":
            self._gradients[id(after)] = after, subject
            return
        if self._lent:
            self._settle(subject) if kind == "update" else self.look_for_writes()
        if kind == "gradient":
            function, frame = by or "grad", frame_at(3)  # behind `notify_change`, and the setter
        else:
            frame = frame_at(2)
            function, frame = frame.f_code.co_name, frame.f_back
        if frame is None or id(frame.f_code) not in user_code:
            function, frame = find_caller(function, frame)
        call = id(frame)
        if call not in self.calls:
            call = self._known_call(frame)
        place, of = (call, -1 if frame is None else frame.f_lasti, function), "gradient"
        if kind != "gradient":
            kind, subject, of, before, after, by = self._describe(kind, subject, before, after, by, place)
            if not kind:
                return
        elif type(after) is self._tensor or type(before) is self._tensor:
            before, after = self._follow_gradient(subject, before, after, place)
        steps = None if self._watched is None else len(self._watched.steps)
        position, walk = self.forgotten_notes + len(self._notes), self.forgotten_walks + len(self.walks)
        self._changes.append((kind, subject, of, before, after, by, place, position, walk, steps))

    def _describe(self, kind: str, subject: Any, before: Any, after: Any, by: Any, place: Place) -> tuple[Any, ...]:
        """Return the first fields of the note of a change; no kind if there is nothing to note."""
        of = "gradient"
        if kind == "lend":
            self._lent[id(subject)] = LentArray(subject, place)
            kind = ""
        elif kind in ("write", "become"):
            lent = self._lent.pop(id(subject), None)
            subject, of = self._owner_of(subject)
            kind = "write" if kind == "write" or of == "gradient" else ""  # a result may be one that is not followed
            before = before if lent is None else lent.copy
        elif kind == "gradients":
            subject = [(leaf, *self._follow_gradient(leaf, old, new, place)) for leaf, old, new in subject]
        elif kind == "update":
            subject = [(parameter.node, old, new) for parameter, old, new in subject]
            of, before, by = "value", None, (by, {**before})
        elif kind == "hook":
            before, after = array_of(before), array_of(after)
        elif kind in ("draw", "checkpoint"):
            of = None
        return kind, subject, of, before, after, by

    def _follow_gradient(self, leaf: Any, before: Any, after: Any, place: Place) -> tuple[Any, Any]:
        """Follow writes into the tensor that becomes a `.grad`. Return the arrays before and after, to be kept."""
        if type(after) is self._tensor:
            self._gradients[id(after)] = after, leaf
            if user_may_write(after):
                self._lent[id(after)] = LentArray(after, place)
            after = array_to_keep(after)
        return array_to_keep(before) if type(before) is self._tensor else before, after

    def _settle(self, updates: Sequence[Any]) -> None:
        """Note what was written into parameters before an optimiser replaced their arrays."""
        for parameter, before, _ in updates:
            lent = self._lent.pop(id(parameter), None)
            if lent is not None and not has_same_entries(before, lent.copy):
                self._note_change("write", *self._owner_of(parameter), lent.copy, before, None, lent.place)
        self.look_for_writes()

    def look_for_writes(self) -> None:
        """Note each lent array that has been written into since anyone looked."""
        for key, lent in [*self._lent.items()] if self._lent else ():
            variable, before = lent.variable, lent.copy
            if variable._data.tobytes() != before.tobytes() or variable._data.shape != before.shape:
                lent.copy = variable._data.copy()
                self._note_change("write", *self._owner_of(variable), before, lent.copy, None, lent.place)
            if not user_may_write(variable) or not has_other_owners(variable):
                del self._lent[key]

    def note_kept_gradients(self) -> None:
        """Note the gradients that leaves hold at the end, for those that nothing has changed."""
        kept = self.kept_gradients
        for note in self._notes:
            _, inputs, node = note[:3]
            for key in [getattr(value, "node", value) for value in inputs] if node is None else node.parents:
                if is_leaf(key) and key not in kept and (gradient := key.grad) is not None:
                    if type(gradient) is self._tensor:
                        kept[key] = array_to_keep(gradient)
                    elif type(key) is Leaf or gradient:  # of a `Value`, 0 is none
                        kept[key] = gradient

    def _note_change(
        self, kind: str, subject: Any, of: str | None, before: Any, after: Any, by: Any, place: Place
    ) -> None:
        steps = None if self._watched is None else len(self._watched.steps)
        position, walk = self.forgotten_notes + len(self._notes), self.forgotten_walks + len(self.walks)
        self._changes.append((kind, subject, of, before, after, by, place, position, walk, steps))

    def _owner_of(self, variable: Any) -> tuple[Any, str]:
        """Return the leaf whose value or gradient a variable is; any other variable itself."""
        if type(getattr(variable, "node", None)) is Leaf:
            return variable.node, "value"
        gradient, leaf = self._gradients.get(id(variable), (None, None))
        is_gradient = gradient is variable and getattr(leaf, "grad", None) is variable
        return (leaf, "gradient") if is_gradient else (variable, "value")

    def _known_call(self, frame: FrameType | None) -> int:
        """Return the number of a user's call, which is noted if it is new."""
        raise NotImplementedError


def find_caller(function: str, frame: Any) -> tuple[str, Any]:
    """Return the name of the engine's function or class that the program called, and the program's frame. The search
    begins at a frame that `function` was called from."""
    while frame is not None:
        code = frame.f_code
        if id(code) in user_code or (id(code) not in engine_code and kind_of(code) is not ENGINE):
            break
        if "<locals>" not in code.co_qualname:  # a decorator's wrapper is
            function = code.co_qualname.partition(".")[0] if code.co_name == "__init__" else code.co_name
        frame = frame.f_back
    return function, frame


def array_to_keep(gradient: Any) -> Any:
    """Return the array of a gradient, which no one will write into; a copy if the program may."""
    if type(gradient) is not Variable.public:
        return gradient
    return gradient._data.copy() if user_may_write(gradient) else gradient._data


class OptimizerName(str):
    """Name of an optimiser with a learning rate, `SGD(lr=0.1)`, and the optimiser with the settings of that update."""

    __slots__ = ("optimizer", "settings")

    optimizer: Any
    settings: dict[str, Any]

    def with_rate(self, rate: float) -> OptimizerName:
        """Return the name of the same optimiser with another learning rate."""
        return name_optimizer(self.optimizer, {**self.settings, "lr": rate})


def name_optimizer(optimizer: Any, group: dict[str, Any]) -> OptimizerName:
    """Return the name of an optimiser with the learning rate of a group of parameters: `SGD(lr=0.1)`."""
    rate = f"lr={float(group['lr']):.6g}" if hasattr(group.get("lr"), "__float__") else ""
    name = OptimizerName(f"{type(optimizer).__name__}({rate})")
    name.optimizer, name.settings = optimizer, dict(group)
    return name


class Clipping(NamedTuple):
    """One clipping: its function, which computes new gradients from old ones, and the leaves with the old ones."""

    clip: Callable[[list[Any]], list[Any]]
    gradients: list[tuple[Any, Any]]


class ClippingName(str):
    """Name of the function that clipped gradients, and the clipping."""

    __slots__ = ("clipping",)

    clipping: Clipping


def name_clipping(function: str, clipping: Clipping) -> ClippingName:
    """Return the name of a function with what it did."""
    name = ClippingName(function)
    name.clipping = clipping
    return name


def _expand_note(note: Any) -> Iterable[Change]:
    """Return the changes of a note, which may be about several leaves."""
    kind, subject, of, _, _, by, *rest = note
    if not isinstance(subject, list):
        return [Change._make(note)]
    changed = cast("list[tuple[Any, Any, Any]]", subject)
    if kind == "gradients":
        kind, by = "gradient", by and Clipping(by, [(leaf, before) for leaf, before, _ in changed])
    else:
        by = by and name_optimizer(*by)
    return [Change(kind, leaf, of, before, after, by, *rest) for leaf, before, after in changed]
