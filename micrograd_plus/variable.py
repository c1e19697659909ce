"""Variables: what the user holds, what the walk sees, the clock they share, and the modes that are open.

A user holds a `Variable` (its public form is `Tensor`): an array, and the node it came from. The walk sees only the
nodes: which operation was applied, to which parents, and what its rules asked to keep. An intermediate array that no
rule reads is therefore freed as soon as the user lets go of it.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`; users have `data`, which looks after what rules have saved.

from __future__ import annotations

import itertools
import sys
from _thread import allocate_lock  # `threading` has it as Lock, and takes 0.5 ms to import
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

birth: Callable[[], int] = itertools.count(1).__next__
"""The clock: each application and each write takes the next number, so "made before" is "has a smaller number"."""


class _Empty:
    """What an accumulator holds once the walk knows it and nothing has arrived."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(nothing has arrived)"


EMPTY: Any = _Empty()


class Node:
    """One application of an operation, as the walk sees it: without its value.

    `pull` sends an upstream gradient on to `parents` (None where an input wants no gradient); `saved` is what it reads,
    in the order of `op.saves`; `like` is the shape and dtype of the value, which its gradient has too (of several
    outputs: one pair each); `serial` is its time of birth; `accumulator` is the walk's, None between walks.
    """

    __slots__ = ("__weakref__", "accumulator", "grad", "like", "parents", "pull", "saved", "serial")

    pull: Any
    parents: tuple[Node | None, ...]
    saved: tuple[Any, ...] | None
    like: tuple[Any, ...]
    serial: int
    accumulator: Any
    grad: Any

    @property
    def op(self) -> Any:
        """The operation that was applied."""
        return self.pull.op


class Leaf(Node):
    """A variable that the user made and wants a gradient for: where the walk ends, and gradients add up in `grad`."""

    __slots__ = ("version",)

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.pull, self.parents, self.saved = None, (), ()
        self.accumulator = self.grad = None
        self.serial, self.version = birth(), 0
        self.like = (shape, dtype)

    @property
    def op(self) -> None:
        """No operation made a leaf."""


class Part(Node):
    """One of several outputs: its gradient waits at the application until all the others have arrived."""

    __slots__ = ("index",)


class Upstreams:
    """The gradients of an application with several outputs, by number, until all have arrived."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[int, Any]):
        self.parts = parts


class Variable:
    """An array and the node it came from; `node` is None where no gradient is wanted."""

    __slots__ = ("__weakref__", "_data", "label", "node")

    public: Any = None
    """The class of what users hold and operations return; `tensor.py` puts `Tensor` here."""
    lent: Any = None
    """The class that a variable has while its user may have its array."""

    _data: Any
    node: Node | None
    label: str


class Modes:
    """What changes how operations are applied. `special` counts the modes that are open in any thread, and while it is
    0 nobody looks at anything else: one test of one number pays for them all. `recording` counts the recorders."""

    __slots__ = ("_lock", "recording", "special")

    def __init__(self) -> None:
        self.special = self.recording = 0
        self._lock = allocate_lock()

    def count(self, change: int) -> None:
        """One mode more (1), or one less (-1)."""
        with self._lock:
            self.special += change

    def count_recorders(self, change: int) -> None:
        """One recorder more (1), or one less (-1)."""
        with self._lock:
            self.recording += change


modes = Modes()
recording_gradients: ContextVar[bool] = ContextVar("recording_gradients", default=True)
unfusing: ContextVar[bool] = ContextVar("unfusing", default=False)
by_name: ContextVar[bool] = ContextVar("by_name", default=False)
recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("recorders", default=())


class Recorder:
    """Who is told what happens in a block: `with recorder: ...`, in this thread and task alone."""

    looks_inside = False
    """Whether composites are to run as the operations that they are made of."""

    def __enter__(self) -> Recorder:
        self._token = recorders.set((*recorders.get(), self))
        modes.count_recorders(1)
        return self

    def __exit__(self, *error: object) -> None:
        modes.count_recorders(-1)
        recorders.reset(self._token)

    def applied(self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        """An operation was applied to `inputs`, whose arrays were `data`."""

    def observer(self, root: Any, upstream: Any, can_replay: bool) -> Callable[..., None] | None:
        """A walk begins. Who wants its steps now returns a function to be told each; `can_replay` says that the same
        walk can also be had later, from what the nodes saved."""
        return None

    def broke_off(self) -> None:
        """The walk that began last has ended in an error."""

    def will_free(self, order: Sequence[Node]) -> None:
        """What these nodes saved is about to be freed."""


def tell(op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
    """Tell this thread's recorders of an application."""
    for recorder in recorders.get():
        recorder.applied(op, inputs, data, params, result)


@contextmanager
def mode(variable: ContextVar[Any], value: Any) -> Generator[None]:
    """Open a mode in this thread and task, and close it however the block ends."""
    token = variable.set(value)
    modes.count(1)
    try:
        yield
    finally:
        modes.count(-1)
        variable.reset(token)


@contextmanager
def holding(place: ContextVar[Any], value: Any) -> Generator[None]:
    """A block in which a variable of this thread and task has another value. It changes nothing about how operations
    are applied, so it does not count among the modes."""
    token = place.set(value)
    try:
        yield
    finally:
        place.reset(token)


def no_grad() -> Any:
    """A block (or a decorator) in which nothing wants a gradient; of this thread and task alone.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> with mg.no_grad():
    ...     (x * 2).requires_grad
    False
    """
    return mode(recording_gradients, False)


def enable_grad() -> Any:
    """A block in which gradients are wanted again, inside `no_grad`."""
    return mode(recording_gradients, True)


def unfuse() -> Any:
    """A block in which every composite runs as its own forward, step by step, instead of as one closed-form rule."""
    return mode(unfusing, True)


class Handle:
    """A hook in its place. `remove()` takes it away again; so does a call, or the end of a `with` block."""

    def __init__(self, hooks: dict[Handle, Callable[..., Any]], hook: Callable[..., Any]):
        self._hooks = hooks
        hooks[self] = hook

    def remove(self) -> None:
        """Take the hook away; once it is gone, nothing happens."""
        self._hooks.pop(self, None)

    def __call__(self) -> None:
        """The same as `remove()`."""
        self.remove()

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Hooks:
    """Functions that look at (and may replace) the gradient of a node when it is complete."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[Node, dict[Handle, Callable[..., Any]]] = WeakKeyDictionary()
        self.ever = False

    def alive(self) -> bool:
        """Whether any node has a hook. While none ever had one, nobody asks the dictionary."""
        self.ever = self.ever and any(self.of.values())
        return self.ever

    def add(self, node: Node, hook: Callable[..., Any]) -> Handle:
        """Add `hook`, and return what takes it away again."""
        self.ever = True
        return Handle(self.of.setdefault(node, {}), hook)

    def on(self, node: Node) -> list[Callable[..., Any]]:
        """The hooks of a node, in the order in which they came."""
        return list(self.of.get(node, {}).values())


hooks = Hooks()
"""Called with the complete gradient of a node, before its rules run or, for a leaf, before it is added to `.grad`."""
after_accumulation = Hooks()
"""Called with the variable's node once its `.grad` has grown."""


# Arrays that users can write into, kept apart from arrays that rules have saved --------


class _Slot:
    __slots__ = ("_data",)


def _references_of_a_slot() -> int:
    """How many references `sys.getrefcount` reports for an array that only one variable holds."""
    slot = _Slot()
    slot._data = bytearray(1)
    return sys.getrefcount(slot._data)


_ALONE = _references_of_a_slot()


def held_elsewhere(variable: Variable) -> bool:
    """True when anybody but `variable` holds its memory: a rule that saved it, a name of the user's, a view of it, or
    the array that it is a view of itself."""
    return sys.getrefcount(variable._data) > _ALONE or variable._data.base is not None


def lend(variable: Variable) -> Any:
    """The array of a variable, for its user to read and to write.

    Copy on touch: where a rule (or anybody) still holds the array, the variable goes on with a fresh copy, so that the
    graph keeps the numbers it was computed with and gives the gradient it would have given. From then on the same array
    is handed out, until an operation finds that nobody has it any more.
    """
    if type(variable) is not Variable.lent:
        if held_elsewhere(variable):
            variable._data = variable._data.copy()
        variable.__class__ = Variable.lent
        written(variable)
    return variable._data


def settled(variable: Variable) -> Any:
    """The array of a variable, for an operation to keep: a copy while its user has the array and may write into it."""
    if type(variable) is Variable.lent:
        if held_elsewhere(variable):
            return variable._data.copy()
        variable.__class__ = type(Variable.public.of(variable._data))
    return variable._data


def replace(variable: Variable, data: Any) -> None:
    """Give a variable new values. Nothing is overwritten, so no rule can read what it did not save."""
    variable._data = data
    if type(variable.node) is Leaf:
        variable.node.version += 1


def written(variable: Variable) -> None:
    """Count a write to a leaf."""
    if isinstance(variable.node, Leaf):
        variable.node.version += 1
