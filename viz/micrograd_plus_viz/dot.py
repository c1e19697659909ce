"""Graphviz source for a trace: node i has the id `n<i>`, edge j the id `e<j>`.

Leaves are boxes, applications are rounded boxes, outputs of an operation with several are hexagons; the root has a
double line.
"""

from __future__ import annotations

from typing import NamedTuple

import graphviz

from .flow import words_of_cut
from .journal import changes_before_values, walk_states
from .trace_input import Trace
from .walks import IN_A_NODE, Change, NodeValue, changes, start_nodes
from .words import breadth, edges, names, norm, not_finite, scalar, shape, single_line, truncate

LONGEST = 34
GRAPH = {"rankdir": "LR", "nodesep": "0.22", "ranksep": "0.42", "pad": "0.15"}
NODE = {"fontname": "Arial", "fontsize": "13", "margin": "0.16,0.07", "height": "0.3"}
"""One point larger than the text that is drawn: names are bold, but Graphviz measures regular letters."""
INCHES_A_DIGIT = 0.085
"""Width of a digit at 12 points, for the minimum width of nodes.

Graphviz does not see lines that appear later, and it underestimates letters outside Latin alphabets.
"""
SHAPES = {
    "leaf": {"shape": "box"},
    "application": {"shape": "box", "style": "rounded"},
    "output": {"shape": "hexagon", "margin": "0,0"},
}


class Label(NamedTuple):
    """Text of a node: its name, a summary of its value, and its gradient if there is one."""

    name: str
    value: str | None
    gradient: str | None
    cut: str | None = None
    """Why no gradient leaves the node to its inputs."""

    def lines(self) -> list[str]:
        """Return the lines that are present, from top to bottom."""
        return [line for line in self if line is not None]


def labels(trace: Trace, every: list[Change] | None = None) -> list[Label]:
    """Return the text of every node after the last walk.

    A node that receives its gradient at another time has an empty line for it. `every` may pass the trace's `changes`
    if they are known.
    """
    every = list(changes(trace)) if every is None else every
    shown, written = {each.node: each.holds for each in every}, []
    for node, name in zip(trace["nodes"], names(trace), strict=True):
        i, value = node["id"], value_line(trace, node["value"])
        holds = shown.get(i)
        gradient = gradient_line(trace, holds) if holds is not None else "" if i in shown else None
        shown_value = value if value != name else None
        written.append(Label(truncate(single_line(name), LONGEST), shown_value, gradient, words_of_cut(node)))
    return written


def gradient_line(trace: Trace, holds: NodeValue) -> str:
    """Return the gradient line of a node: a number, or the norm of an array."""
    word = IN_A_NODE[holds.direction]
    if only := scalar(trace, holds.place):
        return f"{word} {only}"
    size = norm(trace["values"][holds.place])
    return f"|{word}| {size}" if size else f"{word} empty"


def value_line(trace: Trace, place: int | None) -> str | None:
    """Return the value line of a node: a number, or the shape and dtype of an array."""
    if place is None:
        return None
    value = trace["values"][place]
    odd = not_finite(value)
    return scalar(trace, place) or f"{shape(value)} {value['dtype']}" + (f", has {odd}" if odd else "")


def final_labels_and_widths(trace: Trace) -> tuple[list[Label], list[float]]:
    """Return the final text of every node, and the width of its widest line over all steps, and while values are
    computed."""
    every = list(changes(trace))
    written = labels(trace, every)
    broadest = [max(map(breadth, label.lines())) for label in written]
    for state in walk_states(trace).values():
        for node, place in state.values.items():
            broadest[node] = max(broadest[node], breadth(value_line(trace, place) or ""))
    for each in every:
        if each.holds is not None:
            broadest[each.node] = max(broadest[each.node], breadth(gradient_line(trace, each.holds)))
    for _, changed in changes_before_values(trace):
        for node, place in changed.gradients.items():
            if place is not None:
                written[node] = written[node]._replace(gradient=written[node].gradient or "")
                line = gradient_line(trace, NodeValue(place, "backward"))
                broadest[node] = max(broadest[node], breadth(line))
    if "widest" in trace:
        broadest = [*map(max, broadest, trace["widest"])]
    return written, broadest


def digraph(trace: Trace) -> graphviz.Digraph:
    """Return the graph of a trace, laid out from left to right in the order of execution."""
    graph = graphviz.Digraph("walk", graph_attr=GRAPH, node_attr=NODE, edge_attr={"arrowsize": "0.6"})
    starts = start_nodes(trace)
    for node, label, breadth_of_it in zip(trace["nodes"], *final_labels_and_widths(trace), strict=True):
        look = SHAPES[node["kind"]] | {"width": f"{breadth_of_it * INCHES_A_DIGIT + 0.3:.2f}"}
        if node["id"] in starts:
            look["peripheries"] = "2"
        graph.node(f"n{node['id']}", _lines(label.lines()), id=f"n{node['id']}", **look)
    graph.body += [f"\tn{start} -> n{end} [id=e{j}]\n" for j, (start, end, _) in enumerate(edges(trace))]
    return graph


def source(trace: Trace) -> str:
    """Return the graph in the DOT language."""
    return digraph(trace).source


def _lines(lines: list[str]) -> str:
    """Join lines to one label, with backslashes and angle brackets escaped.

    Graphviz's HTML-like labels are not used: the WebAssembly build has no XML parser and measures them as empty.
    """
    return graphviz.nohtml("\\n".join(graphviz.escape(line) for line in lines))
