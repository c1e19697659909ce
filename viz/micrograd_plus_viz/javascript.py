"""The player's JavaScript run in this process by V8, which the package mini-racer brings.

Pictures are drawn by the code that draws on a page, so they cannot differ. Nothing of a browser is needed: the
document is `static/elements.js`.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import letters
from .packing import to_bytes
from .static_files import text

MODULES = (
    "elements.js", "show.js", "names.js", "tiles.js", "panel.js", "layout.js", "routes.js", "nodes.js", "camera.js",
    "placing.js", "links.js", "graph.js", "free_room.js", "event.js", "program.js", "walk_state.js", "steps.js",
    "deltas.js", "stills.js",
)  # fmt: skip
ADDED = {*map(chr, range(32, 127)), *"…±−–×÷·⋮→≈∑ᵀ⊤"}
"""Letters that the player adds to those of the data."""
MISSING = 'drawing a graph needs mini-racer: pip install "micrograd_plus[viz]"'
_lock = [threading.Lock()]
_running: list[_Engine] = []


class JavaScriptMissingError(ModuleNotFoundError):
    """The package mini-racer is not installed."""


def call(function: str, *arguments: Any) -> Any:
    """Return what a function of the player's code returns, which must be JSON text.

    Raises JavaScriptMissingError without mini-racer.
    """
    with _lock[0]:
        if not _running:
            _running.append(_Engine())
        return _running[0].call(function, arguments)


def _forget_engine() -> None:
    """Let a forked process start an engine of its own, because the threads of its parent's have not survived."""
    _lock[0] = threading.Lock()
    while _running:
        # Closing it would wait for those threads.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_running.pop()))


atexit.register(_running.clear)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_engine)


class _Engine:
    """One V8 with the player's code in it."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._functions: dict[str, Any] = {}
        # In a thread without an event loop, V8's answers come through a loop of their own. Otherwise they would wait
        # for the notebook's loop, which waits for them.
        with ThreadPoolExecutor(1) as maker:
            self._context = maker.submit(_open).result()

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        given = to_bytes(json.dumps(arguments, ensure_ascii=False, allow_nan=False)).decode("utf-8")
        self._learn_letters(given)
        if function not in self._functions:  # V8 keeps the text of what it evaluates, but not arguments
            self._functions[function] = self._context.eval(f"(given) => {function}(...JSON.parse(given))")
        result = self._functions[function](given)
        return json.loads(result) if isinstance(result, str) else None

    def _learn_letters(self, given: str) -> None:
        """Measure the letters of a text that have not been measured, and those that the player adds."""
        if new := {*given}.union(ADDED) - self._known:
            widths = [{letter: letters.width(letter, 1.0, bold) for letter in sorted(new)} for bold in (False, True)]
            self._context.eval(f"learnLetters(...{json.dumps(widths)})")
            self._known |= new


def _open() -> Any:
    """Return a V8 that has read the player's code."""
    try:
        from py_mini_racer import MiniRacer
    except ModuleNotFoundError as missing:
        raise JavaScriptMissingError(MISSING) from missing
    context = MiniRacer()
    context.eval("\n".join(map(text, MODULES)))
    return context
