"""Small programs that NumPy runs, and the traces of their backward walks.

They write traces in the format of docs/trace.md without the engine, so that tests compare what the player shows with
numbers that another program computed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def mi(name: str) -> str:
    """Return the MathML of a symbol for a value."""
    return f'<mi data-name="{name}">{name}</mi>'


def equation(right: str) -> str:
    """Return the MathML of a rule with `contribution` on its left."""
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'
        f"<mrow>{mi('contribution')}<mo>=</mo>{right}</mrow></math>"
    )


UP = mi("upstream")


class Rule(NamedTuple):
    """Gradient rule: its function, the names it reads, its formula, and its local derivative if it has one."""

    contribution: Callable[..., Any]
    reads: str
    text: str
    mathml: str
    local: Callable[..., Any] | None = None


class Operation(NamedTuple):
    """Operation: its kind, the names of its inputs, its forward function, and its rules by input."""

    kind: str
    names: str
    forward: Callable[..., Any]
    rules: dict[str, Rule]


def one_minus_square(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Return the derivative of tanh."""
    return 1 - out * out


def softmax(x: np.ndarray) -> np.ndarray:
    """Return positive weights along the last axis that add up to one."""
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def cross_entropy(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the mean over rows of minus the logarithm of the softmax weight of the target."""
    return -np.mean(np.sum(target * np.log(softmax(x)), axis=-1))


def identity_rule() -> Rule:
    """Return the rule of an addition."""
    return Rule(lambda up, *_: up, "", "contribution = upstream", UP)


def times(other: str, read: Callable[..., Any]) -> Rule:
    """Return the rule of a product for one factor: upstream times the other factor."""
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
    "softmax_cross_entropy": Operation("general", "x target", cross_entropy, {
        "x": Rule(lambda up, x, target, out: up * (softmax(x) - target) / len(x), "x target",
                  "contribution = upstream · (softmax(x) − target) / n",
                  f"{UP}<mo>·</mo><mfrac>{ERROR}<mi>n</mi></mfrac>"),
    }),
}


def entry(x: object) -> object:
    """Return a number as a trace stores it."""
    if isinstance(x, (complex, np.complexfloating)):
        return [entry(float(x.real)), entry(float(x.imag))]
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    x = float(x)
    return x if np.isfinite(x) else "nan" if np.isnan(x) else "inf" if x > 0 else "-inf"


def small(matrix: np.ndarray) -> dict:
    """Return the shape and the entries of a corner or a thumbnail."""
    return {"shape": list(matrix.shape), "data": [entry(x) for x in matrix.ravel()]}


def thumbnail(x: np.ndarray) -> dict:
    """Return at most 16 x 16 means of x, reshaped to a matrix with the same last axis."""
    matrix = np.asarray(np.abs(x) if np.iscomplexobj(x) else x, float).reshape(-1, x.shape[-1])
    rows = np.array_split(matrix, min(16, len(matrix)), axis=0)
    return small(
        np.array(
            [[part.mean() for part in np.array_split(row, min(16, matrix.shape[1]), axis=1)] for row in rows]
        )
    )


def value(x: np.ndarray) -> dict:
    """Return an array as a trace stores it (docs/trace.md)."""
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
        "statistics": statistics(finite) if finite.size else None,
        "nan": int(np.isnan(x).sum()),
        "inf": int(np.isinf(x).sum()),
    }


def statistics(finite: np.ndarray) -> dict:
    """Return the statistics of finite numbers; those of one number need no sum."""
    if finite.size == 1:
        only = float(finite[0])
        return {"min": only, "max": only, "mean": only, "norm": abs(only)}
    return {
        "min": float(finite.min()),
        "max": float(finite.max()),
        "mean": float(finite.mean()),
        "norm": float(np.sqrt((finite**2).sum())),
    }


class Program:
    """Small program that runs while a test writes it, and the backward walk through it."""

    def __init__(self, file: str = "walk.py") -> None:
        self.file, self.line = file, 1
        self.nodes, self.steps, self.rules, self.sites, self.values, self.arrays = [], [], {}, [], [], []
        self.received, self.places = {}, {}

    def keep(self, x: np.ndarray) -> int:
        """Store an array in `values` and return its index."""
        self.values.append(value(x))
        return len(self.values) - 1

    def leaf(self, label: str | None, x: object, requires_grad: bool = True) -> int:
        """Add a value that the program starts from."""
        return self._add_node({"kind": "leaf", "label": label, "requires_grad": requires_grad}, np.asarray(x))

    def apply(self, op: str, *inputs: int, text: str | None = None, inside: dict | None = None) -> int:
        """Apply an operation. `text` is its source line, with the expression between « and »."""
        operation = OPS[op]
        with np.errstate(all="ignore"):
            out = np.asarray(operation.forward(*[self.arrays[i] for i in inputs]))
        self.line += 1
        written = ", ".join(self.nodes[i]["label"] or f"v{i}" for i in inputs)
        for name, rule in operation.rules.items():
            if f"{op}.{name}" not in self.rules:
                self.rules[f"{op}.{name}"] = rule_data(op, operation.kind, name, rule)
        edges = [{"name": name, "node": i} for name, i in zip(operation.names.split(), inputs, strict=True)]
        text = text or f"    v{len(self.nodes)} = «{op}({written})»"
        self.sites.append(self._site(text))
        return self._add_node({
            "kind": "application", "op": op, "label": assigned_variable(text), "summary": f"The operation {op}.",
            "inputs": edges, "opens": inside is not None, "inside": inside, "lines": [len(self.sites) - 1],
            "requires_grad": any(self.nodes[i]["requires_grad"] for i in inputs),
        }, out)

    def walk(self, root: int) -> dict:
        """Return the trace of the backward walk from `root`."""
        seed = np.ones_like(self.arrays[root])
        self.received, self.places = {root: seed}, {root: self.keep(seed)}
        seed_place = self.places[root]
        for node in reversed(self.nodes):
            if node["id"] in self.received:
                for edge in node["inputs"]:
                    if edge["name"] in OPS[node["op"]].rules and self.nodes[edge["node"]]["requires_grad"]:
                        self._step(node, edge["name"], edge["node"])
        leaves = [(node["id"], self.places[node["id"]]) for node in self.nodes
                  if node["kind"] == "leaf" and node["id"] in self.places]
        nodes = [node | {"name": name, "title": name} for node, name in zip(self.nodes, self._names(), strict=True)]
        walk = {
            "direction": "backward", "root": root, "seed": seed_place, "first": 0, "steps": len(self.steps),
            "lines": [], "error": None,
            "leaves": [{"node": leaf, "value": self.nodes[leaf]["value"], "before": None, "received": place,
                        "after": place} for leaf, place in leaves],
        }
        journal = [entry_data("compute", first=0, count=len(nodes)), entry_data("begin", walk=0),
                   entry_data("arrive", first=0, count=len(self.steps)) if self.steps else None,
                   *(entry_data("accumulate", of="gradient", node=leaf, after=place) for leaf, place in leaves),
                   entry_data("end", walk=0)]
        return {
            "format": "micrograd_plus/trace", "version": 3, "walks": [walk], "error": None, "nodes": nodes,
            "groups": [], "steps": self.steps, "rules": self.rules, "formulas": [], "starts": [],
            "journal": [each for each in journal if each],
            "gradients": [{"node": leaf, "value": place} for leaf, place in leaves],
            "sites": self.sites, "values": self.values, "caught": [], "not_finite": [], "part": None,
        }

    def _add_node(self, fields: dict, x: np.ndarray) -> int:
        """Add a node with some fields; the others are empty."""
        empty = dict.fromkeys(("op", "called", "summary", "label", "expression", "cut", "group", "inside"))
        empty |= {"inputs": [], "params": {}, "lines": [], "failed": False, "opens": False}
        self.arrays.append(x)
        self.nodes.append({"id": len(self.nodes)} | empty | fields | {"value": self.keep(x)})
        return len(self.nodes) - 1

    def _names(self) -> list[str]:
        """Return a unique name for every node: a label, or an operation with the variable of its result."""
        names = [
            node["label"] or "leaf" if node["kind"] == "leaf"
            else f"{node['op']} ({node['label']})" if node["label"] else node["op"]
            for node in self.nodes
        ]  # fmt: skip
        times, so_far, numbered = Counter(names), Counter(), []
        for name in names:
            so_far[name] += 1
            numbered.append(f"{name} #{so_far[name]}" if times[name] > 1 else name)
        return numbered

    def _site(self, text: str) -> dict:
        start, end = text.index("«"), text.index("»") - 1
        return {"file": self.file, "function": "train", "line": self.line, "column": start,
                "end_line": self.line, "end_column": end, "text": text.replace("«", "").replace("»", "")}

    def _step(self, node: dict, name: str, target: int) -> None:
        """Apply one rule to one input and record the step."""
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
            "index": len(self.steps), "walk": 0, "node": node["id"], "input": name, "target": target,
            "rule": f"{node['op']}.{name}", "formula": None, "upstream": self.places[node["id"]],
            "local": None if local is None else self.keep(local), "raw": raw_place, "summed_axes": axes,
            "contribution": sent_place, "before": self.places.get(target), "after": after,
            "reads": {word: known[word] for word in rule.reads.split()}, "accumulates": before is not None,
            "earlier": False,
        })
        self.places[target] = after


def entry_data(kind: str, **fields: object) -> dict:
    """Return an entry of the journal with these fields; the others are empty."""
    names = ("of", "node", "name", "before", "after", "by", "first", "count", "walk")
    return {"kind": kind} | dict.fromkeys(names) | {"lines": []} | fields


def assigned_variable(text: str) -> str | None:
    """Return the variable that a line assigns its marked expression to: `y` for `y = «a + b»`; otherwise None."""
    line = re.fullmatch(r"\s*(\w+) = «[^»]*»", text)
    return line and line[1]


def rule_data(op: str, kind: str, name: str, rule: Rule) -> dict:
    """Return a rule as the trace stores it."""
    reads = ["upstream", *rule.reads.split()]
    return {"op": op, "input": name, "kind": kind, "reads": reads, "reason": None,
            "source": f"{name}=lambda xp, {', '.join(reads)}: …", "file": "rules.py", "line": 31,
            "text": rule.text, "latex": None, "mathml": equation(rule.mathml)}


def summed_axes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> list[int]:
    """Return the axes along which broadcasting repeated an array of the wanted shape."""
    extra = len(shape) - len(wanted)
    repeated = [k + extra for k, n in enumerate(wanted) if n == 1 and shape[k + extra] > 1]
    return [*range(extra), *repeated]
