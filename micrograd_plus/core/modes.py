"""Modes and their blocks: whether gradients are enabled, whether composites run unfused, and which recorders listen.

A mode is active while its block's token is alive, and only the block holds it. So a mode ends with its block even
if `__exit__` never runs: after Ctrl-C, in a generator that is never finished, in a forked child. Each thread and each
asyncio task has its own modes. `Mode.open` holds the tokens of all threads; while it is empty, compiled code checks
nothing else.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import Any
from weakref import ref


class Mode:
    """A value set by the innermost open block of this thread and task; without a block, the default."""

    __slots__ = ("blocks", "default", "name", "open")

    def __init__(self, name: str, default: Any):
        self.name, self.default = name, default
        self.open: set[ref[Token]] = set()
        self.blocks: ContextVar[tuple[ref[Token], ...]] = ContextVar(name, default=())
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        """Drop the tokens of other threads, which do not exist in a forked child."""
        self.open.intersection_update([token for token in self.blocks.get() if token() is not None])

    def __call__(self) -> Any:
        """Return the current value."""
        for block in reversed(self.blocks.get()):
            token = block()
            if token is not None:
                return token.value
        return self.default

    def tokens(self) -> list[Token]:
        """Return the tokens of all open blocks of this thread and task, the outermost first."""
        return [token for block in self.blocks.get() if (token := block()) is not None]

    def all(self) -> list[Any]:
        """Return the values of all open blocks of this thread and task, the outermost first."""
        return [token.value for block in self.blocks.get() if (token := block()) is not None]

    def begin(self, value: Any) -> Token:
        """Open a block and return its token; the block is open while the token is alive."""
        token = Token(value)
        block = ref(token)
        if value != self.default:
            block = ref(token, self.open.discard)  # called by the interpreter itself, so no signal can interrupt it
            self.open.add(block)
        self.blocks.set((*[each for each in self.blocks.get() if each() is not None], block))
        return token


class Token:
    """Token of an open block. Its mode is active as long as the token is alive."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Any):
        self.value = value


grad_enabled = Mode("grad_enabled", True)  # whether results get a graph
unfused = Mode("unfused", False)           # whether composites run as the operations that they are made of
recording = Mode("recording", None)        # the recorders that listen


class Block:
    """Context manager that gives a mode a value. Several threads and tasks may enter the same one."""

    __slots__ = ("_tokens", "mode", "value")

    def __init__(self, mode: Mode, value: Any):
        self.mode, self.value = mode, value
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(self.mode.begin(self.value))

    def __exit__(self, *error: object) -> None:
        if not self._tokens:
            raise RuntimeError(f"a block of {self.mode.name} was left, but it had not been entered")
        own = [token for token in self.mode.tokens() if token in self._tokens] if len(self._tokens) > 1 else None
        self._tokens.remove((own or self._tokens)[-1])
