"""A trace as a Graphviz graph: node i has the id `n<i>`, edge j the id `e<j>`.

Leaves are boxes, applications rounded boxes, one of several outputs a hexagon; the root has a double line.
"""

from __future__ import annotations

from typing import NamedTuple

import graphviz

from .source import Trace
from .walks import IN_A_NODE, Change, Held, changes, held, rings
from .words import breadth, clipped, edges, names, norm, not_finite, scalar, shape, spaced

LONGEST = 34
GRAPH = {"rankdir": "LR", "nodesep": "0.22", "ranksep": "0.42", "pad": "0.15"}
NODE = {"fontname": "Arial", "fontsize": "13", "margin": "0.16,0.07", "height": "0.3"}
"""A point larger than text is drawn: names are bold, and Graphviz measures letters that are not."""
INCHES_A_DIGIT = 0.085
"""The width of a digit at 12 points. No node is narrower than its broadest line so measured: Graphviz does not see
those that come and go, and takes letters of other alphabets for narrow ones."""
SHAPES = {
    "leaf": {"shape": "box"},
    "application": {"shape": "box", "style": "rounded"},
    "output": {"shape": "hexagon", "margin": "0,0"},
}


class Label(NamedTuple):
    """What is written in a node: its name, its value in brief, and a gradient where one arrived."""

    name: str
    value: str | None
    gradient: str | None

    def lines(self) -> list[str]:
        """The lines that there are, from the top."""
        return [line for line in self if line is not None]


def labels(
    trace: Trace, steps: int | None = None, begun: bool = False, every: list[Change] | None = None
) -> list[Label]:
    """What is written in every node after a number of steps; unless told, when the last walk is over. With `begun` the
    step that follows has begun.

    Where a gradient arrives at another time its line is there and empty, so that no line ever moves. `every` are the
    trace's `changes`, where they are known already.
    """
    every = list(changes(trace)) if every is None else every
    ever = {each.node for each in every}
    shown, written = held(trace, steps, begun, every), []
    for node, name in zip(trace["nodes"], names(trace), strict=True):
        i, value = node["id"], _value_line(trace, node["value"])
        gradient = gradient_line(trace, shown[i]) if i in shown else "" if i in ever else None
        written.append(Label(clipped(spaced(name), LONGEST), value if value != name else None, gradient))
    return written


def gradient_line(trace: Trace, holds: Held) -> str:
    """A gradient or tangent in a node: its number, or the norm of an array."""
    word = IN_A_NODE[holds.direction]
    if only := scalar(trace, holds.place):
        return f"{word} {only}"
    size = norm(trace["values"][holds.place])
    return f"|{word}| {size}" if size else f"{word} empty"


def _value_line(trace: Trace, place: int | None) -> str | None:
    if place is None:
        return None
    value = trace["values"][place]
    odd = not_finite(value)
    return scalar(trace, place) or f"{shape(value)} {value['dtype']}" + (f", has {odd}" if odd else "")


def last_and_broadest(trace: Trace) -> tuple[list[Label], list[float]]:
    """What is written in every node at the end, and the breadth of its broadest line, those of gradients that are still
    growing included."""
    every = list(changes(trace))
    written = labels(trace, every=every)
    broadest = [max(map(breadth, label.lines())) for label in written]
    for each in every:
        if each.holds is not None:
            broadest[each.node] = max(broadest[each.node], breadth(gradient_line(trace, each.holds)))
    return written, broadest


def digraph(trace: Trace) -> graphviz.Digraph:
    """The graph of a trace, laid from left to right in the order of execution."""
    graph = graphviz.Digraph("walk", graph_attr=GRAPH, node_attr=NODE, edge_attr={"arrowsize": "0.6"})
    ringed = rings(trace)
    for node, label, breadth_of_it in zip(trace["nodes"], *last_and_broadest(trace), strict=True):
        look = SHAPES[node["kind"]] | {"width": f"{breadth_of_it * INCHES_A_DIGIT + 0.3:.2f}"}
        if node["id"] in ringed:
            look["peripheries"] = "2"
        graph.node(f"n{node['id']}", _lines(label.lines()), id=f"n{node['id']}", **look)
    graph.body += [f"\tn{start} -> n{end} [id=e{j}]\n" for j, (start, end, _) in enumerate(edges(trace))]
    return graph


def source(trace: Trace) -> str:
    """The same as text in the DOT language."""
    return digraph(trace).source


def _lines(lines: list[str]) -> str:
    """Plain text, each line's own backslashes and angle brackets taken as they are.

    Not Graphviz's HTML-like labels: the WebAssembly build has no XML parser and measures them as empty.
    """
    return graphviz.nohtml("\\n".join(graphviz.escape(line) for line in lines))
