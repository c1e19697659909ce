"""What the player is handed: the trace in its own words, the drawing, formulas, sentences."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import Any

from . import formula, layout, picture, words
from .picture import Placing
from .source import Trace

NODE = ("kind", "op", "summary", "params", "value", "site", "requires_grad")
STEP = ("node", "input", "rule", "local", "raw", "summed_axes", "contribution", "before", "after", "accumulates")
RULE = ("text", "source", "file", "line", "kind", "reason")


def payload(trace: Trace, note: str | None = None, placing: Placing | None = None) -> dict[str, Any]:
    """Everything the player shows of one trace; the walks inside its nodes come along in the same form.

    `placing` says where the nodes lie, where that is known already.
    """
    placing = placing or layout.placed(trace)
    return {
        "summary": words.summary(trace),
        "note": note,
        "line": "Your line",
        "direction": trace["walk"]["direction"],
        "root": trace["walk"]["root"],
        "word": words.gradient_word(trace),
        "width": round(placing.width, 1),
        "height": round(placing.height, 1),
        "drawing": picture.body(trace, placing),
        "alt": picture.alt(trace),
        "names": words.names(trace),
        "nodes": [{k: node[k] for k in NODE} for node in trace["nodes"]],
        "edges": [[start, end] for start, end, _ in words.edges(trace)],
        "steps": _steps(trace),
        "rules": {
            name: {k: rule[k] for k in RULE} | {"formula": formula.with_symbols(rule["mathml"])}
            for name, rule in trace["rules"].items()
        },
        "values": trace["values"],
        "gradients": trace["gradients"],
        "started": words.started(trace),
        "insides": {
            node["id"]: payload(node["inside"]) | {"line": "The operation\u2019s own line"}
            for node in trace["nodes"]
            if node["inside"]
        },
    }


def _steps(trace: Trace) -> list[dict[str, Any]]:
    told = zip(trace["steps"], words.ways(trace), words.passages(trace), words.sentences(trace), strict=True)
    return [
        {k: step[k] for k in STEP}
        | {
            "edge": edge,
            "from": start,
            "to": end,
            "passed": passed,
            "say": say,
            "upstreams": (upstreams := words.upstreams(step)),
            "reads": {name: place for name, place in step["reads"].items() if name not in upstreams},
            "numbers": formula.with_numbers(trace, step),
            "summed": words.summed(trace, step) if step["summed_axes"] else None,
        }
        for step, (edge, start, end), passed, say in told
    ]


def packed(data: dict[str, Any]) -> tuple[str, str]:
    """A payload as base64 of its gzipped JSON, and its hash as an id: equal traces give equal bytes."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    squeezed = gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)
    name = "w" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return base64.b64encode(squeezed).decode("ascii"), name
