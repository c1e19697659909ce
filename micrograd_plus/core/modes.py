"""Modes and their blocks: whether gradients are enabled, whether composites run unfused, and which recorders listen.

A mode is active while its block's token is alive, and only the block holds it. So a mode ends with its block even
if `__exit__` never runs: after Ctrl-C, in a generator that is never finished, in a forked child. Each thread and each
asyncio task has its own modes. `Mode.open` holds the tokens of all threads; while it is empty, compiled code checks
nothing else.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator
from contextvars import ContextVar
from functools import wraps
from typing import Any
from weakref import ref


class Mode:
    """A value set by the innermost open block of this thread and task; without a block, the default."""

    __slots__ = ("_blocks", "default", "open")

    def __init__(self, name: str, default: Any):
        self.default = default
        self.open: set[ref[Token]] = set()
        self._blocks: ContextVar[tuple[ref[Token], ...]] = ContextVar(name, default=())
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        """Drop the tokens of other threads, which do not exist in a forked child."""
        self.open.intersection_update([token for token in self._blocks.get() if token() is not None])

    def __call__(self) -> Any:
        """Return the current value."""
        for block in reversed(self._blocks.get()):
            token = block()
            if token is not None:
                return token.value
        return self.default

    def all(self) -> list[Any]:
        """Return the values of all open blocks of this thread and task, the outermost first."""
        return [token.value for block in self._blocks.get() if (token := block()) is not None]

    def begin(self, value: Any) -> Token:
        """Open a block and return its token; the block is open while the token is alive."""
        token = Token(value)
        block = ref(token)
        if value != self.default:
            block = ref(token, self.open.discard)  # called by the interpreter itself, so no signal can interrupt it
            self.open.add(block)
        self._blocks.set((*(each for each in self._blocks.get() if each() is not None), block))
        return token


class Token:
    """Token of an open block. Its mode is active as long as the token is alive."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Any):
        self.value = value


grad_enabled = Mode("grad_enabled", True)
"""Whether results get a graph."""
unfused = Mode("unfused", False)
"""Whether composites run as the operations that they are made of."""
recording = Mode("recording", None)
"""The recorders that listen."""


class Block:
    """Context manager and decorator that gives a mode a value: `with no_grad(): ...`, or `@no_grad()`."""

    __slots__ = ("_tokens", "mode", "value")

    def __init__(self, mode: Mode, value: Any):
        self.mode, self.value = mode, value
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(self.mode.begin(self.value))

    def __exit__(self, *error: object) -> None:
        self._tokens.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, generator function or coroutine function with its body in such a block."""
        return decorate(function, lambda: Block(self.mode, self.value))


def decorate(function: Callable[..., Any], block: Callable[[], Block]) -> Callable[..., Any]:
    """Return a function, generator function or coroutine function that runs its body in a block of its own."""
    if inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__name__} is an asynchronous generator, whose caller would run in the block as well; "
            f"open the block inside it, between two yields"
        )
    if inspect.isgeneratorfunction(function):
        return wraps(function)(lambda *args, **options: _run_generator(function(*args, **options), block))

    @wraps(function)
    def inside(*args: Any, **options: Any) -> Any:
        with block():
            return function(*args, **options)

    @wraps(function)
    async def awaited(*args: Any, **options: Any) -> Any:
        with block():
            return await function(*args, **options)

    return awaited if inspect.iscoroutinefunction(function) else inside


def _run_generator(steps: Generator[Any, Any, Any], block: Callable[[], Block]) -> Generator[Any, Any, Any]:
    """Run a generator whose own steps are in the block, while its caller's code is not."""
    step: Any = steps.send
    received: Any = None
    while True:
        try:
            with block():
                item = step(received)
        except StopIteration as end:
            return end.value
        try:
            step, received = steps.send, (yield item)
        except GeneratorExit:
            with block():
                steps.close()
            raise
        except BaseException as error:  # noqa: BLE001 - whatever was thrown in is passed on
            step, received = steps.throw, error
