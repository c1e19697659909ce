"""The backward pass, which we call the walk: one loop, one dictionary of what has arrived.

    order = program([root])             every application behind the root, the latest first
    arrived = {root: upstream}
    walk(order, arrived, arrays)        each node takes what has arrived, its rules add to what arrives at its parents

The order is the exact reverse of execution: a value can only be made from values made before it, so sorting by creation
number needs no recursion and is the same in every process. The dictionary belongs to the walk alone, so a walk may
begin inside a rule or a hook, on another thread, or after another one broke off: they share nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

from ..backends import arrays, devices, tensors
from .blocks import enable_grad
from .hooks import after_hooks, hooked
from .messages import annotate_rule_error, freed_graph_error, rerun_interpreted
from .modes import recording
from .recorders import OnStep, muted, recorders, reported_to, walk_failed
from .values import namespace_of
from .variable import Gradient, Namespace, Node, Part, Variable

NOTHING = nullcontext()
_created = attrgetter("created")


def program(roots: Iterable[Node], ends: Iterable[Node] = (), since: int = 0) -> list[Node]:
    """The applications that `roots` were computed from, the latest first. Nothing behind an end is visited, nor what
    was created before the number `since`."""
    met = set(ends)
    order: list[Node] = []
    for root in roots:
        if root not in met and root.vjp is not None and root.created >= since:
            met.add(root)
            order.append(root)
    for node in order:  # the list grows while it is read
        for parent in node.parents:
            if parent is not None and parent not in met and parent.created >= since:
                met.add(parent)
                if parent.vjp is not None:
                    order.append(parent)
    order.sort(key=_created, reverse=True)
    return order


def walk(
    order: Sequence[Node], arrived: dict[Node, Gradient], xp: Namespace, *, through: Collection[Node] = (),
    on_step: OnStep | None = None, again: Mapping[Node, Any] | None = None,
) -> None:  # fmt: skip
    """Go back through `order`. `arrived` has the gradients that the walk begins with; in the end it has those of leaves
    and other ends, and of the nodes that are to be walked `through`.

    Read in arrays, what has arrived is added to in place. Read in `tensors`, it has a graph of its own and can be
    differentiated again. Without `xp`, where a result may have been moved between devices, each rule is read where its
    upstream lives. With `on_step`, every rule is called by name, nothing is overwritten, and each step is reported. A
    walk that is made once `again` calls no hooks, and is given what nodes had saved that have been freed since.
    """
    node: Any = None
    upstream: Any = None
    with_hooks = {node for node in order if hasattr(node, "hooks")} if hooked and again is None else ()
    plain = xp is arrays and not (through or with_hooks or on_step)
    try:
        for node in order:
            upstream = arrived.pop(node, None)
            if upstream is None:
                continue
            if plain and node.saved is not None:  # what most walks do, and all that they do
                node.vjp(xp, upstream, node, arrived)
                continue
            if node in through:
                arrived[node] = upstream if xp is tensors else upstream.copy("K")
            if node in with_hooks:
                upstream = after_hooks(node, upstream)
            if node.saved is None and not (again and node in again):
                raise freed_graph_error(node)
            here = xp or namespace_of(upstream)
            if on_step is not None and type(node) is not Part:
                node.op.vjp_by_name(here, upstream, node, arrived, on_step, (again or {}).get(node))
            elif xp is tensors:
                node.vjp.on_tensors(here, upstream, node, arrived)
            else:
                node.vjp(here, upstream, node, arrived)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise rerun_interpreted(node, upstream, xp or arrays) or annotate_rule_error(node.op, error) from error


def walk_between(
    starts: Iterable[tuple[Any, Any]], xp: Namespace, *, ends: Collection[Any] = (), since: int = 0
) -> dict[Node, Gradient]:
    """What arrives at the ends, and at leaves, when these upstream gradients start at these nodes."""
    arrived: dict[Node, Gradient] = {}
    for node, upstream in starts:
        own = upstream if xp is tensors else upstream.copy("K")
        arrived[node] = arrived[node] + own if node in arrived else own
    walk(program(list(arrived), ends, since), arrived, xp)
    return arrived


def gradients(
    root: Variable,
    upstream: Gradient,
    *,
    create_graph: bool = False,
    retain_graph: bool = True,
    through: Collection[Node] = (),
    ends: Collection[Node] = (),
) -> dict[Node, Gradient]:
    """The gradient that each leaf receives (and each node of `through`, and of `ends`, behind which nothing is
    visited), as arrays; as tensors with `create_graph`."""
    start: Any = root.node
    order = program([start], ends)
    arrived = {start: Variable.public.of(upstream) if create_graph else upstream}
    xp = tensors if create_graph else None if devices.several_devices() else arrays
    on_step = reported_to(root, upstream, order, must_be_seen=create_graph) if recording.open else None
    # What rules and hooks compute for themselves is no part of a record; a graph that is made here is.
    block = enable_grad() if create_graph else muted() if on_step is not None else NOTHING
    try:
        with block:
            walk(order, arrived, xp, through=through, on_step=on_step)
            for leaf in [leaf for leaf in arrived if hasattr(leaf, "hooks")] if hooked else ():
                arrived[leaf] = after_hooks(leaf, arrived[leaf]) if leaf.vjp is None else arrived[leaf]
    except BaseException:
        walk_failed(root)
        raise
    if not retain_graph:
        _free(order)
    return arrived


def _free(order: Sequence[Node]) -> None:
    """Let go of what the nodes saved; recorders are notified before."""
    for recorder in recorders() if recording.open else ():
        recorder.will_free(order)
    for node in order:
        node.saved = () if type(node) is Part else None
