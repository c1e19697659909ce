"""Checkpoints: memory for time. The inside of a function is forgotten on the way forward, and computed once more when
the walk comes by.

A program of n equal parts with a checkpoint round every √n of them keeps about 2√n parts in memory in the place of n,
and runs forward twice (Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from .. import ops
from ..backends import devices, tensors
from ..core.apply import Op
from ..core.backward import walk_from
from ..core.messages import check_count, check_function
from ..core.modes import Block, Mode, grad_enabled
from ..core.runtime.blocks import enable_grad
from ..core.runtime.ownership import snapshot
from ..core.runtime.recorders import mute_recorders, record_to, recorders
from ..core.variable import Leaf, Node, Variable, clock
from ..formulas import symbols
from ..hidden_states import restore_states, snapshot_states
from ..pytrees import leaves, map_leaves
from ..tensor import Tensor
from .arguments import name_of
from .captures import Captures

_running = Mode("running", "")
_one_at_a_time = threading.RLock()
"""The random state that a second run starts from is everybody's: threads that walk back take turns."""


_limit = threading.Lock()
FRAMES_OF_A_LEVEL = 60
"""More than the calls from one checkpoint to the next one inside it, forward or back."""


def _in_a_child() -> None:
    """A forked child begins with locks that no thread holds: the one that may have held them is not there."""
    global _limit, _one_at_a_time
    _limit, _one_at_a_time = threading.Lock(), threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)


def is_checkpointing() -> bool:
    """Whether this is inside a function that runs under a checkpoint, for the first time or again.

    Returns: True or False.
    Raises: nothing.
    Example:
        >>> seen = []
        >>> x = mg.tensor(1.0, requires_grad=True)
        >>> mg.checkpoint(lambda x: seen.append(mg.is_checkpointing()) or x * x, x).backward()
        >>> seen, mg.is_checkpointing()
        ([True, True], False)

    See: torch.utils.checkpoint.
    """
    return _running() != ""


def is_recomputing() -> bool:
    """Whether this is inside a function that a checkpoint runs again, on the way back.

    What the first run counted, the second is not to count twice: a batch norm asks this before it moves its averages.

    Returns: True or False.
    Raises: nothing.
    Example:
        >>> seen = []
        >>> x = mg.tensor(1.0, requires_grad=True)
        >>> mg.checkpoint(lambda x: seen.append(mg.is_recomputing()) or x * x, x).backward()
        >>> seen
        [False, True]

    See: torch.utils.checkpoint.
    """
    return _running() == "again"


def checkpoint(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call `f(*args, **kwargs)` of which only the arguments and the results are kept: memory for time.

    The backward pass runs `f` again for the rest. With a checkpoint round every √n of n equal parts, about 2√n parts
    are kept in the place of n, and the program runs forward twice. Gradients are exact, and can be differentiated
    again.

    Tensors that `f` reads from outside, such as a layer's weights, receive their gradients too. Random numbers of
    `mg.random` are drawn again as they were; a generator of your own is not put back. While somebody records, or where
    no gradient is wanted, `f` simply runs.

    Args:
        f: a function that does the same both times.
        *args: its arguments: tensors, pytrees of them, or anything else.
        **kwargs: its keyword arguments, likewise.
    Returns: what `f` returns.
    Raises: TypeError where `f` cannot be called. On the way back, RuntimeError where a tensor that `f` reads from
        outside was changed since, and where the second run gives other results or reads other tensors.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> mg.checkpoint(lambda x: mg.exp(mg.sin(x)), x).sum().backward()
        >>> mg.gradcheck(lambda x: mg.checkpoint(lambda x: mg.exp(mg.sin(x)), x), (x,))
        True

    See: Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016; torch.utils.checkpoint.
    """
    check_function("checkpoint", f)
    recorded = any(not isinstance(each, Captures) for each in recorders())
    if recorded or not grad_enabled():
        with Block(_running, "once"):
            return f(*args, **kwargs)
    program = Program(f, args, kwargs)
    result = program.first_run()
    made = iter(_again.apply([*program.given, *program.outside], program=program))
    return map_leaves(result, lambda value: _tracked(value, next(made)) if isinstance(value, Variable) else value)


def checkpoint_sequential(functions: Iterable[Callable[..., Any]], segments: int, x: Any) -> Any:
    """Functions or layers one after the other, in segments with a checkpoint round each.

    The last segment is kept: the backward pass begins there at once.

    Args:
        functions: functions of one argument, or layers; each is given what the one before it returned.
        segments: how many segments to cut them into, from 1 to their number, as equal as can be.
        x: what the first is given.
    Returns: what the last returns.
    Raises: TypeError where one of them cannot be called or `segments` is no whole number; ValueError for fewer segments
        than 1, or more than there are functions; and what `checkpoint` raises.
    Example:
        >>> x = mg.tensor(0.5, requires_grad=True)
        >>> mg.checkpoint_sequential([mg.sin, mg.exp, mg.tanh], 2, x).backward()
        >>> round(x.grad.item(), 4)
        0.2075

    See: torch.utils.checkpoint.checkpoint_sequential.
    """
    functions = list(functions)
    for f in functions:
        check_function("checkpoint_sequential", f)
    check_count("checkpoint_sequential: segments", segments, 1)
    if segments > max(len(functions), 1):
        raise ValueError(f"checkpoint_sequential: {len(functions)} functions cannot be cut into {segments} segments")
    cuts = [len(functions) * i // segments for i in range(segments + 1)]
    parts = [functions[start:stop] for start, stop in pairwise(cuts)]
    for part in parts[:-1]:
        x = checkpoint(_one_after_the_other, part, x)
    return _one_after_the_other(parts[-1], x)


def _one_after_the_other(functions: list[Callable[..., Any]], x: Any) -> Any:
    for f in functions:
        x = f(x)
    return x


class Program:
    """A function and its arguments: run once, its graph forgotten, and again from the same random state."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.f, self.arguments = f, (args, kwargs)
        self.given = [value for value in leaves(self.arguments) if isinstance(value, Variable)]
        self.wanted = [value.node is not None for value in self.given]
        self.outside: list[Any] = []
        self.state: dict[str, Any] = {}
        self.results: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The function, as errors call it."""
        return name_of(self.f)

    def run(self, given: Sequence[Any]) -> Any:
        """The function on these tensors in the places of those it was given."""
        found = iter(given)
        args, kwargs = map_leaves(self.arguments, lambda value: next(found) if isinstance(value, Variable) else value)
        return self.f(*args, **kwargs)

    def first_run(self) -> Any:
        """Run; note where the random numbers stood and what is read from outside, and let go of the graph."""
        outside = Captures(clock())
        self.state = snapshot_states()
        given = [_alike(snapshot(value), wanted) for value, wanted in zip(self.given, self.wanted, strict=True)]
        with _room_inside(), Block(_running, "once"), record_to(outside):
            result = self.run(given)
        outside.meet(value for value in leaves(result) if isinstance(value, Variable))
        self.outside = list(outside.found.values())
        self.results = tuple(value._data for value in leaves(result) if isinstance(value, Variable))
        return result

    def take_results(self) -> tuple[Any, ...]:
        """What the first run gave, which is then no longer kept here."""
        results, self.results = self.results, ()
        return results

    def contributions(
        self, xp: Any, parts: Sequence[Any], results: Sequence[Any], upstream: Sequence[Any]
    ) -> list[Any]:
        """What each argument, and then each tensor from outside, receives: the function runs again, and the gradients
        of its results are walked back through it."""
        if xp is symbols:
            raise TypeError("a checkpoint has no formula of its own: its gradients are those of what runs inside")
        differentiable = xp is tensors
        self._refuse_changed(parts[len(self.given) :])
        start = clock()
        arguments = parts[: len(self.given)]
        with _one_at_a_time, _room_inside(), restore_states(self.state), enable_grad():
            given = [
                ops.positive(part) if differentiable else _alike(part, wanted)
                for part, wanted in zip(arguments, self.wanted, strict=True)
            ]
            with Block(_running, "again"), mute_recorders():
                again = [value for value in leaves(self.run(given)) if isinstance(value, Variable)]
            self._refuse_different(results, again)
            ends = [value.node for value in (*given, *self.outside)]
            starts = [(value.node, up) for value, up in zip(again, upstream, strict=True) if value.node is not None]
            received = walk_from(starts, xp, ends=ends, since=start)
        self._refuse_strangers(received.keys() - set(ends), start)
        return [
            received[node] if node in received else xp.new_zeros(part, tuple(part.shape), part.dtype)
            for node, part in zip(ends, parts, strict=True)
        ]

    def _refuse_strangers(self, others: Iterable[Node], start: int) -> None:
        """An error where the second run has read what the first one had not."""
        if any(node.created < start for node in others):
            raise RuntimeError(
                f"checkpoint: {self.name} read another tensor from outside as it ran again; it must do the same both "
                f"times"
            )

    def _refuse_changed(self, before: Sequence[Any]) -> None:
        """An error where a tensor from outside no longer holds what the first run read."""
        for value, data in zip(self.outside, before, strict=True):
            if not _equal(value._data, getattr(data, "_data", data)):
                raise RuntimeError(
                    f"checkpoint: a tensor of shape {value.shape} that {self.name} reads from outside was changed "
                    f"between the forward and the walk back, so it cannot run again; change it after the walk, or pass "
                    f"it as an argument, which is kept as it was"
                )

    def _refuse_different(self, before: Sequence[Any], again: Sequence[Any]) -> None:
        """An error where the second run gave something else."""
        data = [value._data for value in again]
        if len(before) != len(data) or not all(_close(a, b) for a, b in zip(before, data, strict=True)):
            raise RuntimeError(
                f"checkpoint: {self.name} gave other results as it ran again; it must do the same both times: draw "
                f"from mg.random, whose state is put back, and read nothing that changes in between"
            )


def _checkpoint(xp: Any, parts: Any, *, program: Program) -> Any:
    """The results of a function of which the inside was not kept."""
    return program.take_results()


_again = Op(_checkpoint, "variadic", outputs=("results",))
_again.is_deterministic = False  # a function of the user's runs, which reads what it likes


@_again.rule("parts")
def _(xp: Any, upstream: Any, parts: Any, results: Any, program: Program) -> Any:
    """The function runs again, and the gradients of its results are walked back through it."""
    return program.contributions(xp, parts, results, upstream)


def _alike(data: Any, wanted: bool) -> Any:
    """A tensor of the same values that knows nothing of where they came from."""
    return Tensor.of(data, Leaf(data.shape, data.dtype) if wanted else None)


def _tracked(value: Any, made: Any) -> Any:
    """A result as the checkpoint gives it; one that had no gradient inside has none outside."""
    return value if value.node is None else made


def _equal(a: Any, b: Any) -> bool:
    """True for the same numbers, and the same places that hold none."""
    return a is b or devices.device_of(a).library.isclose(a, b, rtol=0, atol=0, equal_nan=True).all().item()


def _close(a: Any, b: Any) -> bool:
    """True for results of the same computation: rounding may depend on where in memory the numbers lie."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if _equal(a, b) or a.dtype.kind not in "fc":
        return _equal(a, b)
    library = devices.device_of(a).library
    within = float(library.finfo(a.dtype).eps) ** 0.5
    largest = library.where(library.isfinite(a), abs(a), 1.0).max().item()
    return library.isclose(a, b, rtol=within, atol=within * max(largest, 1.0), equal_nan=True).all().item()


@contextmanager
def _room_inside() -> Iterator[None]:
    """A block for a checkpoint that may hold another one: each runs in the middle of the one around it, and the frames
    of all count against Python's limit, which is meant for programs that call themselves without end."""
    with _limit:
        sys.setrecursionlimit(sys.getrecursionlimit() + FRAMES_OF_A_LEVEL)
    try:
        yield
    finally:
        with _limit, suppress(RecursionError):
            sys.setrecursionlimit(sys.getrecursionlimit() - FRAMES_OF_A_LEVEL)
