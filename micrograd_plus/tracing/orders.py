"""Orders in which a backward pass can visit a program, to look at and compare.

Each of them visits a value before its inputs, so all give the same gradients (up to rounding, since sums are added in
different orders). The engine's walk uses the order of creation.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

from ..core.variable import Node, Variable


class Orders(NamedTuple):
    """The same nodes in three orders, each with the result first."""

    by_creation: list[Node]
    """Latest first: the exact reverse of execution. Sorting is enough, since a value is made from earlier ones."""
    depth_first: list[Node]
    """The reverse of the order in which a depth-first search finishes the nodes, as in micrograd."""
    kahn: list[Node]
    """A node follows once everything that used it has been visited (Kahn 1962), generation by generation."""


def orders(x: Any) -> Orders:
    """Return three orders in which a backward pass from `x` can visit its nodes, including leaves.

    by_creation: latest first, the exact reverse of execution, which the engine uses. depth_first: the reverse of the
    order in which a depth-first search finishes, as in micrograd. kahn: a node follows once everything that used it
    has been visited. All give the same gradients, up to rounding.

    Args:
        x: a tensor or `Value` that has a graph.
    Returns: a named tuple of three lists of the same nodes.
    Raises: ValueError if `x` has no graph.
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
        raise ValueError("orders: x has no graph; give a tensor that depends on one with requires_grad=True")
    nodes = depth_first(root)
    return Orders(sorted(nodes, key=lambda node: node.created, reverse=True), nodes, kahn(nodes))


def depth_first(root: Node) -> list[Node]:
    """Return the nodes behind `root` in depth-first order. A stack replaces recursion, so any depth will do."""
    order: list[Node] = []
    visited = {id(root)}
    stack = [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent is not None and id(parent) not in visited:
                visited.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def kahn(nodes: list[Node]) -> list[Node]:
    """Return nodes in Kahn's order, found by counting the uses of each node that were not visited yet."""
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
