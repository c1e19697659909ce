"""What may be handed in as a trace: its data, a JSON file, or an object that can tell its data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Trace = dict[str, Any]
FORMAT = "micrograd_plus/trace"
VERSION = 1


def trace_data(trace: Any) -> Trace:
    """The trace as the plain data of docs/trace.md.

    `trace` is a dict, the path of a JSON file, or an object with `.to_dict()`. ValueError where it is data of
    another format or version, TypeError where it is nothing of the kind.
    """
    if isinstance(trace, (str, os.PathLike)):
        trace = json.loads(Path(trace).read_text(encoding="utf-8"))
    elif hasattr(trace, "to_dict"):
        trace = trace.to_dict()
    if not isinstance(trace, dict):
        raise TypeError(
            f"a trace is wanted (its data, the path of its JSON file, or an object with to_dict()), not "
            f"{type(trace).__name__}"
        )
    if trace.get("format") != FORMAT:
        raise ValueError(f"this is not a recorded walk: its format is {trace.get('format')!r}, not {FORMAT!r}")
    if trace.get("version") != VERSION:
        raise ValueError(f"this trace has version {trace.get('version')!r}; this program reads version {VERSION}")
    return trace
