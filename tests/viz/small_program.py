"""A small program run with NumPy as it is written down, and the trace of the walk back through it.

It makes traces in the form of docs/trace.md without the engine, so that what is shown can be tested against
numbers that another program computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def mi(name: str) -> str:
    """A symbol that stands for a value."""
    return f'<mi data-name="{name}">{name}</mi>'


def equation(right: str) -> str:
    """A rule's MathML with `contribution` on its left."""
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'
        f"<mrow>{mi('contribution')}<mo>=</mo>{right}</mrow></math>"
    )


UP = mi("upstream")


class Rule(NamedTuple):
    """A gradient rule: its function, what it reads, its formula, the local derivative where it has one."""

    contribution: Callable[..., Any]
    reads: str
    text: str
    mathml: str
    local: Callable[..., Any] | None = None


class Operation(NamedTuple):
    """An operation: its kind, the names of its inputs, its forward and a rule for each input that has one."""

    kind: str
    names: str
    forward: Callable[..., Any]
    rules: dict[str, Rule]


def one_minus_square(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The derivative of tanh."""
    return 1 - out * out


def softmax(x: np.ndarray) -> np.ndarray:
    """Positive weights along the last axis that add up to one."""
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def cross_entropy(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The mean over rows of minus the logarithm of the weight that softmax gives the target."""
    return -np.mean(np.sum(target * np.log(softmax(x)), axis=-1))


def identity_rule() -> Rule:
    """Return the rule of an addition."""
    return Rule(lambda up, *_: up, "", "contribution = upstream", UP)


def times(other: str, read: Callable[..., Any]) -> Rule:
    """The rule of a product, for one factor: upstream times the other."""
    return Rule(read, other, f"contribution = upstream · {other}", f"{UP}<mo>·</mo>{mi(other)}")


SQUARE = f"<mrow><mo>(</mo><mn>1</mn><mo>−</mo><msup>{mi('out')}<mn>2</mn></msup><mo>)</mo></mrow>"
ERROR = f"<mrow><mi>softmax</mi><mo>(</mo>{mi('x')}<mo>)</mo><mo>−</mo>{mi('target')}</mrow>"
OPS = {
    "add": Operation("linear", "a b", np.add, {"a": identity_rule(), "b": identity_rule()}),
    "mul": Operation("multilinear", "a b", np.multiply, {
        "a": times("b", lambda up, a, b, out: up * np.conj(b)),
        "b": times("a", lambda up, a, b, out: up * np.conj(a)),
    }),
    "matmul": Operation("multilinear", "a b", np.matmul, {
        "a": Rule(lambda up, a, b, out: up @ b.T, "b", "contribution = upstream @ bᵀ",
                  f"{UP}<mo>@</mo><msup>{mi('b')}<mo>⊤</mo></msup>"),
        "b": Rule(lambda up, a, b, out: a.T @ up, "a", "contribution = aᵀ @ upstream",
                  f"<msup>{mi('a')}<mo>⊤</mo></msup><mo>@</mo>{UP}"),
    }),
    "tanh": Operation("elementwise", "x", np.tanh, {
        "x": Rule(lambda up, x, out: up * (1 - out * out), "out", "contribution = upstream · (1 − out²)",
                  f"{UP}<mo>·</mo>{SQUARE}", one_minus_square),
    }),
    "exp": Operation("elementwise", "x", np.exp, {
        "x": Rule(lambda up, x, out: up * out, "out", "contribution = upstream · out",
                  f"{UP}<mo>·</mo>{mi('out')}", lambda x, out: out),
    }),
    "log": Operation("elementwise", "x", np.log, {
        "x": Rule(lambda up, x, out: up / x, "x", "contribution = upstream / x",
                  f"<mfrac>{UP}{mi('x')}</mfrac>", lambda x, out: 1 / x),
    }),
    "reciprocal": Operation("elementwise", "x", np.reciprocal, {
        "x": Rule(lambda up, x, out: -up * out * out, "out", "contribution = −upstream · out²",
                  f"<mo>−</mo>{UP}<mo>·</mo><msup>{mi('out')}<mn>2</mn></msup>", lambda x, out: -out * out),
    }),
    "sum": Operation("linear", "x", np.sum, {
        "x": Rule(lambda up, x, out: np.broadcast_to(up, x.shape).copy(), "",
                  "contribution = upstream, repeated", UP),
    }),
    "softmax_cross_entropy": Operation("op", "x target", cross_entropy, {
        "x": Rule(lambda up, x, target, out: up * (softmax(x) - target) / len(x), "x target",
                  "contribution = upstream · (softmax(x) − target) / n",
                  f"{UP}<mo>·</mo><mfrac>{ERROR}<mi>n</mi></mfrac>"),
    }),
}


def entry(x: object) -> object:
    """One number as the trace writes it."""
    if isinstance(x, (complex, np.complexfloating)):
        return [entry(float(x.real)), entry(float(x.imag))]
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    x = float(x)
    return x if np.isfinite(x) else "nan" if np.isnan(x) else "inf" if x > 0 else "-inf"


def small(matrix: np.ndarray) -> dict:
    """Shape and entries, nothing else: the form of a corner and of a thumbnail."""
    return {"shape": list(matrix.shape), "data": [entry(x) for x in matrix.ravel()]}


def thumbnail(x: np.ndarray) -> dict:
    """At most 16 x 16 means of the cells of x seen as a matrix of its last axis."""
    matrix = np.asarray(np.abs(x) if np.iscomplexobj(x) else x, float).reshape(-1, x.shape[-1])
    rows = np.array_split(matrix, min(16, len(matrix)), axis=0)
    return small(
        np.array(
            [[part.mean() for part in np.array_split(row, min(16, matrix.shape[1]), axis=1)] for row in rows]
        )
    )


def value(x: np.ndarray) -> dict:
    """One array in the form of docs/trace.md."""
    x = np.asarray(x)
    finite = np.abs(x)[np.isfinite(x)] if np.iscomplexobj(x) else np.asarray(x, float)[np.isfinite(x)]
    whole = x.size <= 64
    corner = x[(0,) * (x.ndim - 2)][:4, :4] if x.ndim >= 2 else x[:4] if x.ndim else x
    return {
        "shape": list(x.shape),
        "dtype": str(x.dtype),
        "device": "cpu",
        "data": [entry(e) for e in x.ravel()] if whole else None,
        "corner": None if whole else small(corner),
        "thumbnail": None if whole else thumbnail(x),
        "statistics": {
            "min": float(finite.min()),
            "max": float(finite.max()),
            "mean": float(finite.mean()),
            "norm": float(np.sqrt((finite**2).sum())),
        }
        if finite.size
        else None,
    }


class Program:
    """A small program, run as it is written down, and the walk back through it."""

    def __init__(self, file: str = "walk.py") -> None:
        self.file, self.line = file, 1
        self.nodes, self.steps, self.rules, self.values, self.arrays = [], [], {}, [], []
        self.received, self.places = {}, {}

    def keep(self, x: np.ndarray) -> int:
        """The place of x in `values`."""
        self.values.append(value(x))
        return len(self.values) - 1

    def leaf(self, label: str | None, x: object, requires_grad: bool = True) -> int:
        """A value that the program starts from."""
        return self._born({"kind": "leaf", "label": label, "requires_grad": requires_grad}, np.asarray(x))

    def apply(self, op: str, *inputs: int, text: str | None = None, inside: dict | None = None) -> int:
        """One application; `text` is the source line it was written in, its expression between « and »."""
        operation = OPS[op]
        with np.errstate(all="ignore"):
            out = np.asarray(operation.forward(*[self.arrays[i] for i in inputs]))
        self.line += 1
        written = ", ".join(self.nodes[i]["label"] or f"v{i}" for i in inputs)
        for name, rule in operation.rules.items():
            self.rules[f"{op}.{name}"] = rule_data(op, operation.kind, name, rule)
        edges = [{"name": name, "node": i} for name, i in zip(operation.names.split(), inputs, strict=True)]
        return self._born({
            "kind": "application", "op": op, "summary": f"The operation {op}.", "inputs": edges,
            "inside": inside, "requires_grad": any(self.nodes[i]["requires_grad"] for i in inputs),
            "site": self._site(text or f"    v{len(self.nodes)} = «{op}({written})»"),
        }, out)

    def walk(self, root: int) -> dict:
        """The trace of the walk back from `root`."""
        seed = np.ones_like(self.arrays[root])
        self.received, self.places = {root: seed}, {root: self.keep(seed)}
        seed_place = self.places[root]
        for node in reversed(self.nodes):
            if node["id"] in self.received:
                for edge in node["inputs"]:
                    if edge["name"] in OPS[node["op"]].rules and self.nodes[edge["node"]]["requires_grad"]:
                        self._step(node, edge["name"], edge["node"])
        gradients = [{"node": n["id"], "value": self.places[n["id"]]} for n in self.nodes
                     if n["kind"] == "leaf" and n["id"] in self.places]
        return {"format": "micrograd_plus/trace", "version": 2, "nodes": self.nodes, "steps": self.steps,
                "walk": {"direction": "backward", "root": root, "seed": seed_place}, "rules": self.rules,
                "gradients": gradients, "values": self.values}

    def _born(self, told: dict, x: np.ndarray) -> int:
        """Write a new node down; what is not told of it is empty."""
        empty = dict.fromkeys(("op", "summary", "label", "site", "inside")) | {"inputs": [], "params": {}}
        self.arrays.append(x)
        self.nodes.append({"id": len(self.nodes)} | empty | told | {"value": self.keep(x)})
        return len(self.nodes) - 1

    def _site(self, text: str) -> dict:
        start, end = text.index("«"), text.index("»") - 1
        return {"file": self.file, "function": "train", "line": self.line, "column": start,
                "end_line": self.line, "end_column": end, "text": text.replace("«", "").replace("»", "")}

    def _step(self, node: dict, name: str, target: int) -> None:
        """Apply one rule to one input, and write down all that is known of it."""
        rule, out, x = OPS[node["op"]].rules[name], self.arrays[node["id"]], self.arrays[target]
        read = [self.arrays[e["node"]] for e in node["inputs"]]
        known = {e["name"]: self.nodes[e["node"]]["value"] for e in node["inputs"]} | {"out": node["value"]}
        before = self.received.get(target)
        with np.errstate(all="ignore"):
            raw = np.asarray(rule.contribution(self.received[node["id"]], *read, out))
            local = rule.local(*read, out) if rule.local else None
            axes = summed_axes(raw.shape, x.shape)
            sent = raw.sum(axis=tuple(axes)).reshape(x.shape) if axes else raw
            self.received[target] = sent if before is None else before + sent
        raw_place = self.keep(raw)
        sent_place = self.keep(sent) if axes else raw_place
        after = sent_place if before is None else self.keep(self.received[target])
        self.steps.append({
            "index": len(self.steps), "node": node["id"], "input": name, "target": target,
            "rule": f"{node['op']}.{name}", "upstream": self.places[node["id"]],
            "local": None if local is None else self.keep(local), "raw": raw_place, "summed_axes": axes,
            "contribution": sent_place, "before": self.places.get(target), "after": after,
            "reads": {word: known[word] for word in rule.reads.split()}, "accumulates": before is not None,
        })
        self.places[target] = after


def rule_data(op: str, kind: str, name: str, rule: Rule) -> dict:
    """Return a rule as the trace stores it."""
    reads = ["upstream", *rule.reads.split()]
    return {"op": op, "input": name, "kind": kind, "reads": reads, "reason": None,
            "source": f"{name}=lambda xp, {', '.join(reads)}: …", "file": "rules.py", "line": 31,
            "text": rule.text, "latex": None, "mathml": equation(rule.mathml)}


def summed_axes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> list[int]:
    """The axes along which broadcasting repeated an array of the wanted shape."""
    extra = len(shape) - len(wanted)
    repeated = [k + extra for k, n in enumerate(wanted) if n == 1 and shape[k + extra] > 1]
    return [*range(extra), *repeated]


def current_format(trace: dict) -> dict:
    """Return a trace with all fields that the engine requires, given one in the short form of `Program.walk`."""
    sites = [node["site"] for node in trace["nodes"] if node["site"]]
    nodes = [
        {name: part for name, part in node.items() if name != "site"}
        | {"called": None, "lines": [sites.index(node["site"])] if node["site"] else [], "group": None, "failed": False,
           "opens": node["inside"] is not None, "name": node.get("name") or node["label"] or node["op"] or "leaf",
           "inside": node["inside"] and current_format(node["inside"])}
        for node in trace["nodes"]
    ]  # fmt: skip
    walk = trace["walk"] | {"first": 0, "steps": len(trace["steps"]), "lines": [], "leaves": [], "error": None}
    steps = [{"walk": 0, "earlier": False, "formula": None} | step for step in trace["steps"]]
    rest = {name: part for name, part in trace.items() if name != "walk"}
    values = [each | count_not_finite(each) for each in trace["values"]]
    return rest | {
        "values": values,
        "walks": [walk], "error": None, "nodes": nodes, "groups": [], "steps": steps, "formulas": [], "sites": sites,
        "caught": [], "not_finite": [], "part": None,
    }  # fmt: skip


def count_not_finite(value: dict) -> dict[str, int]:
    """Return the numbers of nan and infinite entries of a value, as its trace has them."""
    flat = [part for x in value["data"] or [] for part in (x if isinstance(x, list) else [x])]
    return {"nan": flat.count("nan"), "inf": flat.count("inf") + flat.count("-inf")}
