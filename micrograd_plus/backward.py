"""The walk back, and the watched walk.

The order is the exact reverse of execution: a value can only be made from values made before it, so sorting by time of
birth needs no recursion and gives every process the same order.

What a pull hands over belongs to the walk alone, so it may add into it in place. The watched walk calls every rule by
name, overwrites nothing, and tells each step to who asked: it serves recordings, hooks and gradients of gradients.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

from . import variable
from .application import deposit, output_of, pull_part
from .readings import arrays, vocabulary
from .rule import Contribution
from .variable import EMPTY, Leaf, Node, Part, Upstreams, Variable, hooks, modes

Observer = Callable[[Node, Contribution, Any, Any, Any], None]
"""Told a step: the node, the contribution, the upstream, and the accumulator before and after."""

_birth = attrgetter("serial")


def program(root: Node) -> tuple[list[Node], list[Leaf]]:
    """The applications that `root` was computed from, latest first, and the leaves. Every accumulator starts empty."""
    root.accumulator = EMPTY
    order: list[Node] = []
    leaves: list[Any] = []
    if root.pull is None:
        leaves.append(root)
        return order, leaves
    order.append(root)
    for node in order:  # the list grows while it is read
        for parent in node.parents:
            if parent is not None and parent.accumulator is None:
                parent.accumulator = EMPTY
                (order if parent.pull is not None else leaves).append(parent)
    order.sort(key=_birth, reverse=True)
    return order, leaves


def walk(xp: Any, order: Sequence[Node]) -> None:
    """Go back through `order`; each node's rules add to its parents' accumulators. Without `xp`, where a result may
    have been moved between devices, each rule is read where its upstream lives."""
    node: Any = None
    try:
        for node in order:
            upstream, node.accumulator = node.accumulator, None
            if node.saved is None:
                raise freed(node)
            node.pull(xp or words_beside(upstream), upstream, node)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise in_a_rule(node, error) from error


def walk_on_tensors(order: Sequence[Node]) -> None:
    """The same walk with a graph of its own, so that the gradients can be differentiated again."""
    node: Any = None
    try:
        for node in order:
            upstream, node.accumulator = node.accumulator, None
            if node.saved is None:
                raise freed(node)
            if node.pull.on_tensors is not None:
                node.pull.on_tensors(vocabulary.tensors, upstream, node)
            else:
                for contribution in node.op.contributions(vocabulary.tensors, node, upstream, lifted(node)):
                    deposit(node.parents[contribution.index], contribution.value)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise in_a_rule(node, error) from error


def words_beside(upstream: Any) -> Any:
    """The reading of arrays on the device of a gradient."""
    some = next(iter(upstream.parts.values())) if type(upstream) is Upstreams else upstream
    return vocabulary.device_of(some).words


def watched_walk(
    xp: Any,
    order: Iterable[Node],
    observe: Sequence[Observer],
    lift: Callable[[Node], Any],
    *,
    call_hooks: bool = True,
) -> None:
    """The same walk, every rule by name and every step told. `lift` gives what a node saved, as `xp` reads it; without
    `xp` a rule is read where its upstream lives."""
    for node in order:
        upstream, node.accumulator = node.accumulator, None
        if hooks.ever and call_hooks:
            upstream = hooked(node, upstream)
        if type(node) is Part:
            pull_part(xp, upstream, node)
            continue
        saved = lift(node)
        if saved is None:
            raise freed(node)
        try:
            sent: list[Contribution] = list(node.op.contributions(xp or words_beside(upstream), node, upstream, saved))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise in_a_rule(node, error) from error
        for contribution in sent:
            parent: Any = node.parents[contribution.index]
            before = parent.accumulator
            deposit(parent, contribution.value)
            for told in observe:
                told(node, contribution, upstream, None if before is EMPTY else before, parent.accumulator)


def hooked(node: Node, gradient: Any) -> Any:
    """The gradient after the hooks of a node have seen it; a hook may return another."""
    for hook in hooks.on(node):
        changed = hook(Variable.public.of(gradient))
        if changed is not None:
            if not isinstance(changed, Variable.public):
                got = type(changed).__name__
                raise TypeError(f"a hook returns a tensor, or None to leave the gradient as it is; got {got}")
            if changed.shape != gradient.shape:
                raise RuntimeError(f"a hook returned shape {changed.shape} for a gradient of shape {gradient.shape}")
            gradient = changed._data if not isinstance(gradient, Variable) else changed
    return gradient


def in_a_rule(node: Node, error: Exception) -> Exception:
    """An error that a gradient rule raised, of the same kind, with the operation it belongs to."""
    if node.op is None:
        return error
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return kind(f"backward through {node.op.name}: {error}")


def freed(node: Node) -> RuntimeError:
    """What to say when the saved values are gone."""
    return RuntimeError(
        f"backward through {node.op.name} a second time: what its rules need was freed by the first walk, which was "
        f"called with retain_graph=False"
    )


def gradients(
    root: Variable,
    upstream: Any,
    *,
    create_graph: bool = False,
    retain_graph: bool = True,
    through: Iterable[Node] = (),
    walk_by: Callable[[Sequence[Node]], None] | None = None,
) -> dict[Node, Any]:
    """The gradient that each leaf receives (and each node of `through`), as arrays; as tensors with `create_graph`.
    A walk that nobody watches may go another way: `walk_by`."""
    start: Any = root.node
    recorders = variable.recorders.get()
    watched = hooks.ever and hooks.alive()
    order, leaves = program(start)
    can_replay = bool(recorders) and not (create_graph or watched) and repeatable(order)
    observe = [told for each in recorders if (told := each.observer(root, upstream, can_replay)) is not None]
    stops = {id(node) for node in through}
    by_name = observe or stops or watched or (modes.special and variable.by_name.get())
    collected: dict[Node, Any] = {}
    start.accumulator = Variable.public.of(upstream) if create_graph else upstream
    visited = _collecting(order, stops, collected) if by_name else None
    try:
        if create_graph:
            with nullcontext() if variable.recording_gradients.get() else variable.enable_grad():
                _on_tensors(order, visited, observe)
        else:
            _on_arrays(order, visited, observe, walk_by)
        for leaf in leaves:
            received, leaf.accumulator = leaf.accumulator, None
            if received is not EMPTY:
                collected[leaf] = hooked(leaf, received) if watched else received
    except BaseException:
        for node in (*order, *leaves):
            node.accumulator = None
        raise
    if not retain_graph:
        _free(order)
    return collected


def _on_tensors(order: Sequence[Node], visited: Iterable[Node] | None, observe: Sequence[Observer]) -> None:
    """The walk whose gradients are tensors: by name where its nodes are `visited` one by one."""
    if visited is not None:
        watched_walk(vocabulary.tensors, visited, observe, lifted)
    else:
        walk_on_tensors(order)


def _on_arrays(
    order: Sequence[Node],
    visited: Iterable[Node] | None,
    observe: Sequence[Observer],
    walk_by: Callable[[Sequence[Node]], None] | None,
) -> None:
    """The walk whose gradients are arrays: by name, in the way that was asked for, or the plainest that is right."""
    if visited is not None:
        watched_walk(None, visited, observe, saved_by)
    elif walk_by is not None:
        walk_by(order)
    elif vocabulary.several_devices():
        walk(None, order)
    else:
        walk(arrays, order)


def _free(order: Sequence[Node]) -> None:
    """Let go of what the nodes saved; recorders are told before."""
    for recorder in variable.recorders.get():
        recorder.will_free(order)
    for node in order:
        node.saved = None if type(node) is Node else ()


def repeatable(order: Sequence[Node]) -> bool:
    """Whether the same walk could be had again: what rules had saved cannot have changed, but what else they do can."""
    return all(node.op is None or node.op.may_be_repeated for node in order)


def replay(root: Node, upstream: Any, observe: Sequence[Observer], kept: dict[Node, Any]) -> None:
    """A walk that was made before, once more and watched. Nobody's gradient is touched and no hook is called; `kept` is
    what nodes had saved that have been freed since."""
    order, leaves = program(root)
    root.accumulator = upstream
    try:
        watched_walk(None, order, observe, lambda node: kept.get(node, node.saved), call_hooks=False)
    finally:
        for node in (*order, *leaves):
            node.accumulator = None


def _collecting(order: Sequence[Node], stops: set[int], collected: dict[Node, Any]) -> Any:
    """The nodes in order; the complete gradient of those asked for is put down just before they are visited."""
    for node in order:
        if id(node) in stops and node.accumulator is not EMPTY:
            collected[node] = node.accumulator
        yield node


def saved_by(node: Node) -> Any:
    """What a node's rules read, as it was saved."""
    return node.saved


def _several_outputs(node: Node, values: dict[str, Any]) -> dict[str, Any]:
    """Those of several outputs that a rule reads, as tensors of this node; one that is no number has no gradient."""
    tensors: dict[str, Any] = {}
    for index, name in enumerate(node.op.outputs):
        value: Any = values.get(name)
        if hasattr(value, "dtype"):
            moves = value.dtype.kind in "fc"
            tensors[name] = Variable.public.of(value, output_of(node, index) if moves else None)
    return tensors


def lifted(node: Node) -> list[Any] | None:
    """What a node's rules read, as tensors that know where they came from, so that a gradient has a gradient.

    A saved input is a tensor of the parent's node, an output one of this node. What the forward kept is kept again,
    from the inputs; masks and indices are constants.
    """
    if node.saved is None:
        return None
    op, public = node.op, Variable.public
    values: dict[str, Any] = dict(zip(op.saves, node.saved, strict=True))

    def tensor(value: Any, parent: Node | None) -> Any:
        return public.of(value, parent) if hasattr(value, "dtype") else value

    for place, name in enumerate(op.inputs):
        if op.kind == "joining":
            parts = values.get(name)
            if parts is not None:
                values[name] = [tensor(part, parent) for part, parent in zip(parts, node.parents, strict=True)]
        elif name in values:
            values[name] = tensor(values[name], node.parents[place])
    if "out" in values:
        values["out"] = tensor(values["out"], node) if not op.outputs else values["out"]
    values.update(_several_outputs(node, values))
    again = [name for name in op.keeps if name in values and name not in op.constants]
    if again:
        kept = op.forward(vocabulary.tensors, *(values[n] for n in op.inputs), **{n: values[n] for n in op.params})[1:]
        values.update({name: value for name, value in zip(op.keeps, kept, strict=True) if name in again})
    for name in [*(op.constants & values.keys()), *(rule.saves[0] for rule in op.rules if rule.at_once)]:
        values[name] = tensor(values[name], None)
    return [values[name] for name in op.saves]
