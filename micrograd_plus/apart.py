"""Walks that keep what has arrived apart, and leave the nodes' accumulators alone: a walk inside a step of another
walk, and a walk on several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .backward import hooked, lifted, words_beside
from .readings import vocabulary
from .variable import EMPTY, Node, Part, Upstreams, hooks


class Cell:
    """In the place of a parent: where what one application sends to it is kept apart."""

    __slots__ = ("accumulator", "like")

    def __init__(self, parent: Node) -> None:
        self.accumulator: Any = EMPTY
        self.like = parent.like


def sent(node: Node, upstream: Any) -> Iterator[tuple[Node, Any]]:
    """What an application sends: each parent, with what it receives."""
    stand_in: Any = object.__new__(type(node))
    cells: tuple[Any, ...] = tuple(None if parent is None else Cell(parent) for parent in node.parents)
    stand_in.parents = cells
    stand_in.saved, stand_in.like = node.saved, node.like
    if type(node) is Part:
        stand_in.index = node.index
    node.pull(words_beside(upstream), upstream, stand_in)
    for parent, cell in zip(node.parents, cells, strict=True):
        if parent is not None and cell.accumulator is not EMPTY:
            yield parent, cell.accumulator


def sent_as_tensors(node: Node, upstream: Any) -> Iterator[tuple[Any, Any]]:
    """The same with a graph of its own, so that what is sent can be differentiated."""
    if type(node) is Part:
        yield node.parents[0], Upstreams({node.index: upstream})
        return
    for contribution in node.op.contributions(vocabulary.tensors, node, upstream, lifted(node)):
        yield node.parents[contribution.index], contribution.value


def added(total: Any, contribution: Any) -> Any:
    """What has arrived at a node, and one contribution more. Arrays belong to the walk, so they are added in place."""
    if total is EMPTY:
        return contribution
    if type(total) is Upstreams:
        for index, part in contribution.parts.items():
            total.parts[index] = total.parts[index] + part if index in total.parts else part
    elif hasattr(total, "node"):
        return total + contribution
    else:
        total += contribution
    return total


def walk_apart(
    starts: Iterable[tuple[Node, Any]], is_end: Callable[[Node], bool], *, differentiable: bool
) -> dict[Node, Any]:
    """What arrives at the ends (and at leaves) when these upstream gradients start at these nodes. Nothing behind an
    end is visited."""
    received: dict[Node, Any] = {}
    for node, upstream in starts:
        own = upstream if differentiable else upstream.copy()
        received[node] = added(received.get(node, EMPTY), own)
    send = sent_as_tensors if differentiable else sent
    for node in between(list(received), is_end):
        if node in received:
            upstream = received.pop(node)
            upstream = hooked(node, upstream) if hooks.ever else upstream
            for parent, contribution in send(node, upstream):
                received[parent] = added(received.get(parent, EMPTY), contribution)
    return received


def between(roots: list[Node], is_end: Callable[[Node], bool]) -> list[Node]:
    """The applications that `roots` were made from, up to the ends, latest first."""
    found: dict[int, Node] = {}
    while roots:
        node = roots.pop()
        if id(node) not in found and node.pull is not None and not is_end(node):
            found[id(node)] = node
            roots.extend(parent for parent in node.parents if parent is not None)
    return sorted(found.values(), key=lambda node: node.serial, reverse=True)
