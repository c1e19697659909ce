"""The walk back, and the watched walk.

The order is the exact reverse of execution: a value can only be made from values made before it, so sorting by time of
birth needs no recursion and gives every process the same order.

What a pull hands over belongs to the walk alone, so it may add into it in place, on the nodes themselves. The watched
walk calls every rule by name, overwrites nothing, and tells each step to who asked: it serves recordings and hooks. It
keeps what arrives in a dictionary of its own, and so serves a walk, too, that begins while another is on the nodes:
inside a rule, or on another thread.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

from . import variable
from .application import deposit, fitted, output_of
from .readings import arrays, vocabulary
from .rule import Contribution
from .variable import EMPTY, Leaf, Node, Part, Upstreams, Variable, hooks, modes

Observer = Callable[[Node, Contribution, Any, Any, Any], None]
"""Told a step: the node, the contribution, the upstream, and the accumulator before and after."""

_birth = attrgetter("serial")

_on_the_nodes = allocate_lock()
"""Held by the one walk that has the nodes' accumulators. Nobody waits for it: who cannot have it walks by name."""


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


def program_apart(root: Node) -> tuple[list[Node], list[Leaf]]:
    """The same, without touching an accumulator."""
    met: set[Node] = {root}
    order: list[Node] = []
    leaves: list[Any] = []
    found: list[Node] = [root]
    for node in found:  # the list grows while it is read
        (order if node.pull is not None else leaves).append(node)
        for parent in node.parents:
            if parent is not None and parent not in met:
                met.add(parent)
                found.append(parent)
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
    arrived: dict[Node, Any],
    observe: Sequence[Observer],
    lift: Callable[[Node], Any],
    *,
    through: Container[Node] = (),
    call_hooks: bool = True,
) -> None:
    """The same walk, every rule by name and every step told. `arrived` holds what starts at the root; in the end, what
    leaves have received, and nodes of `through`. `lift` gives what a node saved, as `xp` reads it; without `xp` a rule
    is read where its upstream lives."""
    for node in order:
        upstream = arrived[node] if node in through else arrived.pop(node)
        if hooks.ever and call_hooks:
            upstream = hooked(node, upstream)
        if type(node) is Part:
            application: Any = node.parents[0]
            arrived.setdefault(application, Upstreams({})).parts[node.index] = upstream
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
            before = arrived.get(parent)
            arrived[parent] = contribution.value if before is None else before + contribution.value
            for told in observe:
                told(node, contribution, upstream, before, arrived[parent])


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
            on_tensors = isinstance(gradient, Variable)
            xp = vocabulary.tensors if on_tensors else words_beside(gradient)
            gradient = fitted(xp, changed if on_tensors else changed._data, (gradient.shape, gradient.dtype))
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
    watched = hooks.ever and hooks.alive()
    by_name = through or watched or (modes.special and variable.by_name.get())
    on_nodes = not by_name and _on_the_nodes.acquire(False)
    order, leaves = program(start) if on_nodes else program_apart(start)
    try:
        observe = _observers(root, upstream, order, watched or create_graph) if modes.recording else ()
        if on_nodes and observe:
            _leave(order, leaves)  # a walk that is watched keeps what arrives to itself
        upstream = Variable.public.of(upstream) if create_graph else upstream
        if on_nodes and not observe:
            collected = _walk_on_nodes(start, upstream, order, leaves, create_graph, walk_by)
        else:
            collected = _walk_by_name(start, upstream, order, leaves, create_graph, observe, frozenset(through))
    except BaseException:
        if on_nodes:
            _leave(order, leaves)
        for recorder in variable.recorders.get():
            recorder.broke_off()
        raise
    finally:
        if on_nodes:
            _on_the_nodes.release()
    if not retain_graph:
        _free(order)
    return collected


def _observers(root: Variable, upstream: Any, order: Sequence[Node], must_be_seen: bool) -> list[Observer]:
    """Whom this thread's recorders send to see a walk; nobody, if they can have the same walk later."""
    can_replay = not must_be_seen and repeatable(order)
    told = [recorder.observer(root, upstream, can_replay) for recorder in variable.recorders.get()]
    return [observer for observer in told if observer is not None]


def _walk_on_nodes(
    start: Any,
    upstream: Any,
    order: Sequence[Node],
    leaves: Sequence[Leaf],
    create_graph: bool,
    walk_by: Callable[[Sequence[Node]], None] | None,
) -> dict[Node, Any]:
    """What leaves receive, from a walk on the nodes: in the way that was asked for, or the plainest that is right."""
    start.accumulator = upstream
    if create_graph:
        with _gradients_wanted():
            walk_on_tensors(order)
    elif walk_by is not None:
        walk_by(order)
    elif vocabulary.several_devices():
        walk(None, order)
    else:
        walk(arrays, order)
    collected: dict[Node, Any] = {}
    for leaf in leaves:
        received, leaf.accumulator = leaf.accumulator, None
        if received is not EMPTY:
            collected[leaf] = received
    return collected


def _walk_by_name(
    start: Any,
    upstream: Any,
    order: Sequence[Node],
    leaves: Sequence[Leaf],
    create_graph: bool,
    observe: Sequence[Observer],
    through: Container[Node],
) -> dict[Node, Any]:
    """What leaves receive, and nodes of `through`, from a walk that keeps what arrives to itself."""
    arrived = {start: upstream}
    xp, lift = (vocabulary.tensors, lifted) if create_graph else (None, saved_by)
    # What rules and hooks compute for themselves is no part of a record; a graph that is made here is.
    with _gradients_wanted() if create_graph else variable.holding(variable.recorders, ()):
        watched_walk(xp, order, arrived, observe, lift, through=through)
        if hooks.ever:
            arrived.update({leaf: hooked(leaf, arrived[leaf]) for leaf in leaves if leaf in arrived})
    return arrived


def _gradients_wanted() -> Any:
    """A block in which gradients are wanted, if they are not already."""
    return nullcontext() if variable.recording_gradients.get() else variable.enable_grad()


def _leave(order: Sequence[Node], leaves: Sequence[Node]) -> None:
    """Leave nothing in the nodes' accumulators."""
    for node in (*order, *leaves):
        node.accumulator = None


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
    order, _ = program_apart(root)
    watched_walk(None, order, {root: upstream}, observe, lambda node: kept.get(node, node.saved), call_hooks=False)


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
