"""Records of version 1, and the first of version 2, as they would be written now: one walk, and no groups."""

from __future__ import annotations

from typing import Any, cast

from .names import unique

KINDS = {"joining": "variadic"}
"""Kinds of rules that were called otherwise."""


def converted(data: dict[str, Any]) -> dict[str, Any]:
    """The data of an older record in the present layout. What is not in the old one cannot be made up: it is empty.
    What is of the wrong form is handed on as it is, for the reader to refuse."""
    sites: list[Any] = []
    formulas: list[Any] = []
    walk = cast("dict[str, Any]", data["walk"])
    rules = {name: _rule(rule) for name, rule in data["rules"].items()}
    leaves = [
        {"node": each["node"], "value": None, "before": None, "received": each["value"], "after": each["value"]}
        for each in data["gradients"]
    ]
    walks = [{**walk, "first": 0, "steps": len(data["steps"]), "lines": [], "leaves": leaves, "error": None}]
    there = walk.get("root") is not None or data["steps"]
    return {
        **{name: value for name, value in data.items() if name != "walk"},
        "version": 2,
        "walks": walks if there else [],
        "error": None,
        "nodes": _nodes(data["nodes"], data["values"], sites),
        "groups": [],
        "steps": [_step(step, rules, formulas) for step in data["steps"]],
        "rules": rules,
        "formulas": formulas,
        "sites": sites,
        "values": [_value(value) for value in data["values"]],
        "part": None,
    }


def _nodes(nodes: list[Any], values: list[Any], sites: list[Any]) -> list[Any]:
    numbers = [_number(node, values) for node in nodes]
    plain = [number or _name(node) for node, number in zip(nodes, numbers, strict=True)]
    names = unique(plain, [number is not None for number in numbers])
    return [
        {
            **{key: value for key, value in node.items() if key != "site"},
            "name": name, "called": None, "lines": _lines(node["site"], sites), "group": None, "failed": False,
            "opens": node["inside"] is not None, "inside": node["inside"],
        }
        for node, name in zip(nodes, names, strict=True)
    ]  # fmt: skip


def _name(node: Any) -> str:
    if node["op"] is None:
        return str(node["label"] or node["kind"])
    return f"{node['op']} ({node['label']})" if node["label"] else str(node["op"])


def _number(node: Any, values: list[Any]) -> str | None:
    """The number that a constant without a name goes by."""
    if node["label"] or node["kind"] != "leaf" or node["value"] is None:
        return None
    data = values[node["value"]]["data"] if values[node["value"]]["shape"] == [] else None
    return None if not data else f"{data[0]:.4g}" if isinstance(data[0], (int, float)) else str(data[0])


def _lines(site: Any, sites: list[Any]) -> list[int]:
    if site is None:
        return []
    if site not in sites:
        sites.append(site)
    return [sites.index(site)]


def _step(step: Any, rules: dict[str, Any], formulas: list[Any]) -> Any:
    rule = rules.get(step["rule"], {"text": None})
    place = None
    if rule["text"] is not None and rule["latex"] is not None and rule["mathml"] is not None:
        written = {name: rule[name] for name in ("text", "latex", "mathml")}
        if written not in formulas:
            formulas.append(written)
        place = formulas.index(written)
    return {**step, "walk": 0, "earlier": False, "formula": place}


def _rule(rule: Any) -> Any:
    return {**rule, "kind": KINDS.get(rule["kind"], rule["kind"])}


def _value(value: Any) -> Any:
    """A value with its entries counted that are not finite, as far as they were kept."""
    entries: list[Any] = []
    data: list[Any] = value["data"] or []
    for each in data:
        entries += each if isinstance(each, list) else [each]
    counts = {"nan": entries.count("nan"), "inf": entries.count("inf") + entries.count("-inf")}
    return {**value, **counts}
