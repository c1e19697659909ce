"""Orders in which a walk could go back through a program, to look at and compare.

Every one of them visits a value before what it was made from, so each gives the same gradients (up to rounding: sums
are added up in another order). The walk itself goes by order of creation.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

from ..core.variable import Node, Variable


class Orders(NamedTuple):
    """The same nodes, three times over: the result first, what it was made from later."""

    by_creation: list[Node]
    """Latest first: the exact reverse of execution. Needs no more than a sort, as a value can only be made from values
    made before it."""
    depth_first: list[Node]
    """The reverse of the order in which a depth-first search is done with each node: what micrograd does."""
    kahn: list[Node]
    """A node goes as soon as everything that used it has gone (Kahn 1962), generation by generation: those that could
    go at the same time stand next to one another."""


def orders(x: Any) -> Orders:
    """Three orders in which a backward pass from `x` could visit its nodes, leaves included.

    by_creation: the latest first, which is the exact reverse of execution, and the order of the walk. depth_first: the
    reverse of the order in which a depth-first search finishes, as in micrograd. kahn: a node goes as soon as
    everything that used it has gone. All give the same gradients, up to rounding.

    Args:
        x: a tensor or `Value` that has a graph.
    Returns: a named tuple of three lists of the same nodes.
    Raises: ValueError where there is no graph.
    Example:
        >>> x = mg.tensor(2.0, requires_grad=True)
        >>> y = mg.sin(x) * mg.exp(x)
        >>> [getattr(node.op, "name", "leaf") for node in mg.orders(y).by_creation]
        ['multiply', 'exp', 'sin', 'leaf']
        >>> [getattr(node.op, "name", "leaf") for node in mg.orders(y).depth_first]
        ['multiply', 'exp', 'sin', 'leaf']

    See: Kahn, "Topological sorting of large networks", 1962; Cormen et al., "Introduction to Algorithms", on
        depth-first search.
    """
    root = x.node if isinstance(x, Variable) else None
    if root is None:
        raise ValueError("orders: there is no graph here; give a tensor that depends on one with requires_grad=True")
    found = depth_first(root)
    return Orders(sorted(found, key=lambda node: node.created, reverse=True), found, kahn(found))


def depth_first(root: Node) -> list[Node]:
    """By depth-first search, with a stack of its own in the place of recursion: any depth will do."""
    done: list[Node] = []
    seen = {id(root)}
    stack = [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent is not None and id(parent) not in seen:
                seen.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            done.append(node)
            stack.pop()
    return done[::-1]


def kahn(nodes: list[Node]) -> list[Node]:
    """By counting, for each node, the uses that have not gone yet."""
    uses = {id(node): 0 for node in nodes}
    for node in nodes:
        for parent in node.parents:
            if parent is not None:
                uses[id(parent)] += 1
    order: list[Node] = []
    ready = [(0, -node.created, node) for node in nodes if not uses[id(node)]]
    while ready:
        depth, _, node = heappop(ready)
        order.append(node)
        for parent in node.parents:
            if parent is not None:
                uses[id(parent)] -= 1
                if not uses[id(parent)]:
                    heappush(ready, (depth + 1, -parent.created, parent))
    return order
