"""Gradient checkpointing: trade time for memory. The forward pass drops the graph inside a function, and the backward
pass computes it again.

A program of n equal parts with a checkpoint around every √n of them keeps about 2√n parts in memory instead of n, and
runs forward twice (Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016).
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
from ..core.runtime.listening import listeners, notify_change
from ..core.runtime.ownership import snapshot
from ..core.runtime.recorders import mute_recorders, record_to
from ..core.variable import Leaf, Node, Variable, clock
from ..formulas import symbols
from ..hidden_states import restore_states, snapshot_states
from ..pytrees import leaves, map_leaves
from ..tensor import Tensor
from .arguments import name_of
from .captures import Captures

_running = Mode("running", "")
_second_run_lock = threading.RLock()
"""Lock around second runs: all threads share the random state that they restore."""


_limit = threading.Lock()
FRAMES_OF_A_LEVEL = 60
"""Upper bound for the number of Python frames from one checkpoint to a nested one, forward or backward."""


def _reset_locks() -> None:
    """Replace the locks after a fork: the thread that held one does not exist in the child."""
    global _limit, _second_run_lock
    _limit, _second_run_lock = threading.Lock(), threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_locks)


def is_checkpointing() -> bool:
    """Return whether a function under a checkpoint is running, for the first or the second time.

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
    """Return whether a checkpoint is running a function for the second time, in the backward pass.

    A function with side effects checks this in order not to repeat them: batch norm updates its averages only once.

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
    """Call `f(*args, **kwargs)` and keep only its arguments and results: trade time for memory.

    The backward pass runs `f` again to get its graph. With a checkpoint around every √n of n equal parts, memory holds
    about 2√n parts instead of n, and the program runs forward twice. Gradients are exact, and can be differentiated
    again.

    Tensors that `f` captures, such as a layer's weights, receive their gradients too. The second run draws the same
    random numbers from `mg.random`; the state of your own generator is not restored. While a program is recorded, or
    if no gradient is required, `f` simply runs; the journal of the record says where the second run would be.

    Args:
        f: a function that computes the same both times.
        *args: its arguments: tensors, pytrees of them, or anything else.
        **kwargs: its keyword arguments, likewise.
    Returns: what `f` returns.
    Raises: TypeError if `f` cannot be called. In the backward pass, RuntimeError if a tensor that `f` captures has
        changed, or if the second run gives other results or captures other tensors.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> mg.checkpoint(lambda x: mg.exp(mg.sin(x)), x).sum().backward()
        >>> mg.gradcheck(lambda x: mg.checkpoint(lambda x: mg.exp(mg.sin(x)), x), (x,))
        True

    See: Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016; torch.utils.checkpoint.
    """
    check_function("checkpoint", f)
    recorded = any(not isinstance(each, Captures) for each in listeners())
    if recorded and grad_enabled():
        span = object()
        notify_change("checkpoint", span, None, None)
        result = _call_once(f, args, kwargs)
        if any(isinstance(value, Variable) and value.node is not None for value in leaves(result)):
            notify_change("checkpoint", span, None, None)
        return result
    if recorded or not grad_enabled():
        return _call_once(f, args, kwargs)
    program = Program(f, args, kwargs)
    result = program.first_run()
    made = iter(_again.apply([*program.given, *program.outside], program=program))
    return map_leaves(result, lambda value: _with_graph(value, next(made)) if isinstance(value, Variable) else value)


def checkpoint_sequential(functions: Iterable[Callable[..., Any]], segments: int, x: Any) -> Any:
    """Call functions or layers one after another, with a checkpoint around each segment of them.

    The last segment has no checkpoint, since the backward pass starts there at once.

    Args:
        functions: functions of one argument, or layers; each receives the result of the one before.
        segments: the number of segments, from 1 to the number of functions; they are as equal as possible.
        x: the argument of the first function.
    Returns: the result of the last function.
    Raises: TypeError if one of them cannot be called or `segments` is not a whole number; ValueError for fewer than 1
        segments, or more than there are functions; and the errors of `checkpoint`.
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
        x = checkpoint(_call_in_turn, part, x)
    return _call_in_turn(parts[-1], x)


def _call_once(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with Block(_running, "once"):
        return f(*args, **kwargs)


def _call_in_turn(functions: list[Callable[..., Any]], x: Any) -> Any:
    for f in functions:
        x = f(x)
    return x


class Program:
    """Function and arguments that run twice from the same random state; the graph of the first run is dropped."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.f, self.arguments = f, (args, kwargs)
        self.given = [value for value in leaves(self.arguments) if isinstance(value, Variable)]
        self.wanted = [value.node is not None for value in self.given]
        self.outside: list[Any] = []
        self.state: dict[str, Any] = {}
        self.results: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """Name of the function for error messages."""
        return name_of(self.f)

    def run(self, given: Sequence[Any]) -> Any:
        """Call the function with these tensors instead of the ones it was called with."""
        found = iter(given)
        args, kwargs = map_leaves(self.arguments, lambda value: next(found) if isinstance(value, Variable) else value)
        return self.f(*args, **kwargs)

    def first_run(self) -> Any:
        """Run the function, save the random state and the captured tensors, and drop the graph."""
        outside = Captures(clock())
        self.state = snapshot_states()
        given = [_detached_copy(snapshot(value), wanted) for value, wanted in zip(self.given, self.wanted, strict=True)]
        with _deeper_recursion(), Block(_running, "once"), record_to(outside):
            result = self.run(given)
        outside.meet(value for value in leaves(result) if isinstance(value, Variable))
        self.outside = list(outside.found.values())
        self.results = tuple(value._data for value in leaves(result) if isinstance(value, Variable))
        return result

    def pop_results(self) -> tuple[Any, ...]:
        """Return the results of the first run, and drop them here."""
        results, self.results = self.results, ()
        return results

    def contributions(
        self, xp: Any, parts: Sequence[Any], results: Sequence[Any], upstream: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of each argument and of each captured tensor: run the function again, and walk back
        through its graph."""
        if xp is symbols:
            raise TypeError("a checkpoint has no formula: its gradients come from the operations inside")
        differentiable = xp is tensors
        self._check_unchanged(parts[len(self.given) :])
        start = clock()
        arguments = parts[: len(self.given)]
        with _second_run_lock, _deeper_recursion(), restore_states(self.state), enable_grad():
            given = [
                ops.positive(part) if differentiable else _detached_copy(part, wanted)
                for part, wanted in zip(arguments, self.wanted, strict=True)
            ]
            with Block(_running, "again"), mute_recorders():
                again = [value for value in leaves(self.run(given)) if isinstance(value, Variable)]
            self._check_results(results, again)
            ends = [value.node for value in (*given, *self.outside)]
            starts = [(value.node, up) for value, up in zip(again, upstream, strict=True) if value.node is not None]
            received = walk_from(starts, xp, ends=ends, since=start)
        self._check_captures(received.keys() - set(ends), start)
        return [
            received[node] if node in received else xp.new_zeros(part, tuple(part.shape), part.dtype)
            for node, part in zip(ends, parts, strict=True)
        ]

    def _check_captures(self, others: Iterable[Node], start: int) -> None:
        """Raise RuntimeError if the second run captured a tensor that the first one did not."""
        if any(node.created < start for node in others):
            raise RuntimeError(
                f"checkpoint: {self.name} captured another tensor when it ran again; it must compute the same both "
                f"times"
            )

    def _check_unchanged(self, before: Sequence[Any]) -> None:
        """Raise RuntimeError if a captured tensor has changed since the first run."""
        for value, data in zip(self.outside, before, strict=True):
            if not _equal(value._data, getattr(data, "_data", data)):
                raise RuntimeError(
                    f"checkpoint: a tensor of shape {value.shape} that {self.name} captures was changed between "
                    f"the forward and the backward pass, so it cannot run again; change it after the backward pass, "
                    f"or pass it as an argument, which is saved"
                )

    def _check_results(self, before: Sequence[Any], again: Sequence[Any]) -> None:
        """Raise RuntimeError if the second run gave other results."""
        data = [value._data for value in again]
        if len(before) != len(data) or not all(_close(a, b) for a, b in zip(before, data, strict=True)):
            raise RuntimeError(
                f"checkpoint: {self.name} gave other results when it ran again; it must compute the same both "
                f"times: draw random numbers from mg.random, whose state is restored"
            )


def _checkpoint(xp: Any, parts: Any, *, program: Program) -> Any:
    """Return the results of a function without the graph inside."""
    return program.pop_results()


_again = Op(_checkpoint, "variadic", outputs=("results",))
_again.is_deterministic = False  # a function of the user's runs, which reads what it likes


@_again.rule("parts")
def _(xp: Any, upstream: Any, parts: Any, results: Any, program: Program) -> Any:
    """Run the function again, and walk back through its graph."""
    return program.contributions(xp, parts, results, upstream)


def _detached_copy(data: Any, wanted: bool) -> Any:
    """Return a tensor of the same values without their graph."""
    return Tensor.of(data, Leaf(data.shape, data.dtype) if wanted else None)


def _with_graph(value: Any, made: Any) -> Any:
    """Return a result with the checkpoint's graph, or without one if it had none inside."""
    return value if value.node is None else made


def _equal(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal, with nan in the same positions."""
    return a is b or devices.device_of(a).library.isclose(a, b, rtol=0, atol=0, equal_nan=True).all().item()


def _close(a: Any, b: Any) -> bool:
    """Return whether two results agree up to rounding, which may depend on memory alignment."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if _equal(a, b) or a.dtype.kind not in "fc":
        return _equal(a, b)
    library = devices.device_of(a).library
    within = float(library.finfo(a.dtype).eps) ** 0.5
    largest = library.where(library.isfinite(a), abs(a), 1.0).max().item()
    return library.isclose(a, b, rtol=within, atol=within * max(largest, 1.0), equal_nan=True).all().item()


@contextmanager
def _deeper_recursion() -> Iterator[None]:
    """Context manager that raises Python's recursion limit while checkpoints are nested.

    Each checkpoint runs inside the one around it, and the frames of all count against the limit."""
    with _limit:
        sys.setrecursionlimit(sys.getrecursionlimit() + FRAMES_OF_A_LEVEL)
    try:
        yield
    finally:
        with _limit, suppress(RecursionError):
            sys.setrecursionlimit(sys.getrecursionlimit() - FRAMES_OF_A_LEVEL)
