"""The backward pass, called the walk: one loop over the nodes, one dictionary of the gradients that have arrived.

    order = topological_order([root])   every application behind the root, the latest first
    arrived = {root: upstream}          where gradients wait
    walk(order, arrived, arrays)        each node takes its gradient; its rules add to what has arrived at its parents

Gradients wait in `arrived`, `add_gradient` adds them, and `unbroadcast_to` undoes broadcasting; interpreted rules,
compiled rules and rules on tensors all use these. The dictionary belongs to one call of `walk`, so a walk may begin
inside a rule or a hook, on another thread, or after another walk failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

from ..backends import arrays, devices, tensors
from ..backends.shapes import is_sequence
from ..backends.shared import summed_axes
from .messages import explain_walk_error, freed_graph_error
from .modes import Block, grad_enabled, recording
from .rule import Contribution, Rule
from .runtime.hooks import nodes_with_hooks, run_hooks
from .runtime.recorders import OnStep, mute_for_walk, notify_free, notify_walk_failure, observe_walk
from .variable import Array, Gradient, Namespace, Node, Variable, clock, is_complex, namespace_of, shape_of

NO_BLOCK, _created = nullcontext(), attrgetter("created")


def topological_order(roots: Iterable[Node], ends: Iterable[Node] = (), since: int = 0) -> list[Node]:
    """Return the applications that `roots` were computed from, the latest first.

    A value is created after its inputs. Nothing behind an end is visited, or created before the number `since`.
    """
    seen: set[Any] = {None, *ends}
    order: list[Any] = []
    for root in roots:
        if root not in seen and root.vjp is not None and root.created >= since:
            seen.add(root)
            order.append(root)
    for node in order:  # which grows while the loop runs
        for parent in node.parents:
            if parent not in seen and parent.created >= since:
                seen.add(parent)
                if parent.vjp is not None:
                    order.append(parent)
    order.sort(key=_created, reverse=True)
    return order


def walk(
    order: Sequence[Node], arrived: dict[Node, Gradient], xp: Namespace, *, through: Collection[Node] = (),
    on_step: OnStep | None = None, restored: Mapping[Node, Any] | None = None,
) -> None:  # fmt: skip
    """Go back through `order`. `arrived` holds the gradients to start with; in the end it holds the
    gradients of leaves, of other ends, and of the nodes in `through`.

    On arrays, gradients are added in place; on `tensors`, they have a graph. If `xp` is None, each rule runs on the
    device of its upstream. If there is `on_step`, rules are interpreted, nothing is overwritten, and each step is
    reported. `restored` maps nodes to what they saved before they were freed, for a replay, which calls no hooks.
    """
    node: Any = None
    upstream: Any = None
    with_hooks = {node for node in order if hasattr(node, "hooks")} if nodes_with_hooks and restored is None else ()
    is_simple = xp is arrays and not (through or with_hooks or on_step)
    try:
        for node in order:
            upstream = arrived.pop(node, None)
            if upstream is None:
                continue
            if is_simple and node.saved is not None:  # nearly every walk takes only these two lines
                node.vjp(xp, upstream, node, arrived)
                continue
            if node in through:
                arrived[node] = upstream if xp is tensors else upstream.copy("K")
            if node in with_hooks:
                upstream = run_hooks(node, upstream)
            if node.saved is None and not (restored and node in restored):
                raise freed_graph_error(node)
            here = xp or namespace_of(upstream)
            if on_step is not None and type(node) is not Part:
                interpret_vjp(here, upstream, node, arrived, on_step, (restored or {}).get(node))
            elif xp is tensors:
                node.vjp.on_tensors(here, upstream, node, arrived)
            else:
                node.vjp(here, upstream, node, arrived)
    except Exception as error:  # noqa: BLE001 - it is raised again
        raise explain_walk_error(node, upstream, xp or arrays, error)  # noqa: B904 - it has its cause


def walk_from(
    starts: Iterable[tuple[Any, Any]], xp: Namespace, *, ends: Collection[Any] = (), since: int = 0
) -> dict[Node, Gradient]:
    """Return what arrives at `ends` and at leaves when the walk starts with these pairs of node and upstream."""
    arrived: dict[Node, Gradient] = {}
    for node, upstream in starts:
        arrived[node] = add_gradient(arrived.get(node), upstream if xp is tensors else upstream.copy("K"))
    walk(topological_order(list(arrived), ends, since), arrived, xp)
    return arrived


def gradients(
    root: Variable, upstream: Gradient, *, create_graph: bool = False, retain_graph: bool = True,
    through: Collection[Node] = (), ends: Collection[Node] = (),
) -> dict[Node, Gradient]:  # fmt: skip
    """Return the gradient of each leaf, and of each node of `through` and `ends`: arrays, or tensors if `create_graph`.
    Nothing behind an end is visited."""
    start: Any = root.node
    order = topological_order([start], ends)
    arrived = {start: Variable.public.of(upstream) if create_graph else upstream}
    xp = tensors if create_graph else None if devices.several_devices() else arrays
    on_step = observe_walk(root, upstream, order, ends, must_watch=create_graph) if recording.open else None
    # What rules and hooks compute is not recorded, except the graph that `create_graph` makes.
    block = Block(grad_enabled, True) if create_graph else mute_for_walk() if on_step is not None else NO_BLOCK
    try:
        with block:
            walk(order, arrived, xp, through=through, on_step=on_step)
            for leaf in [leaf for leaf in arrived if hasattr(leaf, "hooks")] if nodes_with_hooks else ():
                arrived[leaf] = run_hooks(leaf, arrived[leaf]) if leaf.vjp is None else arrived[leaf]
    except BaseException:
        notify_walk_failure(root)
        raise
    if not retain_graph:
        if recording.open:
            notify_free(order)
        for node in order:
            node.saved = () if type(node) is Part else None
    return arrived


# One step: rules are applied, contributions are added -----


class InterpretedVjp:
    """The vjp of an operation's nodes that looks up everything by name. Compiled operations have a function instead."""

    __slots__ = ("op",)

    def __init__(self, op: Any):
        self.op = op

    def __call__(self, xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient]) -> None:
        """Apply the rules of one node, and add what they give to what has arrived at its parents."""
        interpret_vjp(xp, upstream, node, arrived)

    on_tensors = __call__


def interpret_vjp(
    xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient], on_step: OnStep | None = None,
    saved: Any = None,
) -> None:  # fmt: skip
    """Apply the rules of one node, and add what they give to what has arrived at its parents."""
    for contribution in contributions(xp, upstream, node, saved):
        parent: Any = node.parents[contribution.index]
        value, before = contribution.value, arrived.get(parent)
        if on_step is None and xp is not tensors:
            value = own_gradient(xp, value, upstream)
        arrived[parent] = add_gradient(before, value)
        if on_step is not None:
            on_step(node, contribution, upstream, before, arrived[parent])


def contributions(xp: Namespace, upstream: Gradient, node: Node, saved: Any = None) -> Iterator[Contribution]:
    """Yield what each input that needs a gradient receives. `saved` replaces saved values that were freed."""
    op = node.op
    if saved is None:
        saved = saved_as_tensors(node) if xp is tensors else node.saved
    values: dict[str, Any] = {**dict(zip(op.saves, saved, strict=True)), "xp": xp, "upstream": upstream}
    if op.outputs:
        values["upstream"] = upstreams_or_zeros(xp, upstream, node)
    for rule in op.rules:
        indices = input_indices(rule, len(node.parents))
        if any(node.parents[i] is not None for i in indices):
            yield from apply_rule(rule, indices, xp, node, values)


def input_indices(rule: Rule, count: int) -> Sequence[int]:
    """Return the indices of a rule's inputs among `count` parents."""
    return range(count) if rule.op.kind == "variadic" else [rule.op.inputs.index(name) for name in rule.inputs]


def apply_rule(
    rule: Rule, indices: Sequence[int], xp: Namespace, node: Node, values: dict[str, Any]
) -> Iterator[Contribution]:
    """Yield the contributions of one rule: upstream times the local derivative of an elementwise rule, or what any
    other rule returns, with broadcasting undone and dtypes kept."""
    upstream, local, names = values["upstream"], None, rule.op.input_names(len(node.parents))
    reads = {name: values[name] for name in rule.saves}
    if rule.op.kind == "elementwise":
        local = values[rule.saves[0]] if rule.in_forward else rule(values)
        raws: Sequence[Any] = [upstream * conjugate_local(xp, upstream, local)]
    else:
        raws = apply_transpose(rule, len(indices), xp, values)
    for i, raw in zip(indices, raws, strict=True):
        parent = node.parents[i]
        if parent is not None:
            axes = axes_to_sum(rule, names[i], raw, parent.shape_dtype)
            yield Contribution(rule, i, local, raw, axes, unbroadcast_to(xp, raw, parent.shape_dtype), reads)


def apply_transpose(rule: Rule, count: int, xp: Namespace, values: dict[str, Any]) -> Sequence[Any]:
    """Return the result of a rule for each of its inputs.

    Rules are written for real numbers. For complex numbers a transpose becomes an adjoint: upstream is conjugated
    before the rule, and the result after it.
    """
    is_adjoint = is_complex(values["upstream"]) and rule.conjugates
    raws = rule({**values, "upstream": xp.conj(values["upstream"])} if is_adjoint else values)
    if rule.op.kind != "variadic" and count == 1:
        raws = (raws,)
    check_contribution_count(rule, raws, count)
    return [namespace_of(raw).conj(raw) for raw in raws] if is_adjoint else raws


def conjugate_local(xp: Namespace, upstream: Gradient, local: Any) -> Any:
    """Return the factor for upstream: the conjugate of the local derivative if both are complex.

    If the output is real, the local derivative is d/d(re) + i d/d(im), which already is the gradient.
    """
    if not (is_complex(upstream) and is_complex(local)):
        return local
    return local.conjugate() if type(local) is complex else xp.conj(local)


def check_contribution_count(rule: Rule, raws: Any, expected: int) -> None:
    """Raise RuntimeError if a rule did not return one contribution for each of its inputs."""
    if not is_sequence(raws) or len(raws) != expected:
        count = len(raws) if is_sequence(raws) else 1
        raise RuntimeError(f"the rule {rule.name} returned {count} contributions for {expected} inputs")


def axes_to_sum(rule: Rule, name: str, raw: Array, shape_dtype: Any) -> tuple[int, ...]:
    """Return the axes along which broadcasting repeated an input. Raise RuntimeError if a rule's shape is wrong."""
    shape, expected = shape_of(raw), shape_dtype[0]
    aligned = zip(reversed(shape), reversed(expected), strict=False)
    if len(shape) < len(expected) or any(n not in (length, 1) for length, n in aligned):
        raise RuntimeError(
            f"the rule {rule.name} returned shape {shape}, but the input {name} of {rule.op.name} has shape "
            f"{expected}; a contribution must have its input's shape, or one that broadcasting makes from it"
        )
    return () if shape == expected else summed_axes(shape, expected)


# Adding and undoing broadcasting --------------------------


def unbroadcast_to(xp: Namespace, raw: Array, shape_dtype: Any, local: Any = None) -> Any:
    """Return `raw` (times `local`) in the shape and dtype of an input: summed over the axes that broadcasting repeated.

    The product with `local` is summed without being stored, which compiled code uses.
    """
    shape, dtype = shape_dtype
    if local is not None:
        raw = xp.sum_product_to_shape(raw, local, shape)
    elif raw.shape != shape:
        raw = xp.sum_to_shape(raw, shape)
    return raw if raw.dtype == dtype else xp.cast(raw, dtype)


def own_gradient(xp: Namespace, value: Gradient, upstream: Gradient) -> Gradient:
    """Return a gradient in memory that only the walk can reach, since `add_gradient` may write into it later.

    Compiled code skips the call if the rule returned a new array. A user's rule has a `guard` that copies all others.
    """
    return xp.owned_copy(value, upstream)


def add_gradient(before: Gradient | None, contribution: Gradient, in_place: bool = False) -> Gradient:
    """Return the sum of what has arrived before, if anything, and one more contribution."""
    if before is None:
        return contribution
    if in_place:
        before += contribution
        return before
    return before + contribution


# Several outputs ------------------------------------------


class Part(Node):
    """Node of one of several outputs. It collects its gradient at the application, until the others have arrived."""

    __slots__ = ("index",)

    def __init__(self, application: Node, index: int):
        self.vjp, self.parents, self.saved = vjp_of_part, (application,), ()
        self.created, self.index = clock(), index
        self.shape_dtype = application.shape_dtype[index]


def vjp_of_part(xp: Namespace, upstream: Gradient, part: Any, arrived: dict[Any, Gradient]) -> None:
    """Add the gradient of one output to the list of its application, in which None means that nothing has arrived.

    A rule that reads an output gets it with another node, so more than one gradient may arrive for it.
    """
    (application,) = part.parents
    waiting = arrived.setdefault(application, [None] * len(application.shape_dtype))
    waiting[part.index] = add_gradient(waiting[part.index], upstream)


vars(vjp_of_part).update(on_tensors=vjp_of_part)


def upstreams_or_zeros(xp: Namespace, upstream: list[Any], node: Node) -> tuple[Any, ...]:
    """Return one upstream for each output, zeros if nothing arrived."""
    some = next(part for part in upstream if part is not None)
    pairs = zip(upstream, node.shape_dtype, strict=True)
    return tuple(xp.new_zeros(some, *shape_dtype) if part is None else part for part, shape_dtype in pairs)


# Saved values as tensors, for gradients of gradients ------


def saved_as_tensors(node: Node) -> list[Any]:
    """Return the saved values of a node as tensors with a graph, so that a gradient can have a gradient.

    A saved input becomes a tensor of the parent's node, an output one of this node. Residuals are computed again from
    the inputs; masks and indices are constants.
    """
    op, of = node.op, Variable.public.of
    values: dict[str, Any] = dict(zip(op.saves, node.saved or (), strict=True))
    constants = {*op.constants, *(rule.saves[0] for rule in op.rules if rule.in_forward)}
    origins = {"out": node, **dict(zip(op.inputs, node.parents, strict=False)), **dict.fromkeys(constants)}
    for name, value in values.items():
        if op.kind == "variadic" and name in op.inputs and is_sequence(value):
            values[name] = [of(part, parent) for part, parent in zip(value, node.parents, strict=True)]
        elif name in op.outputs and hasattr(value, "dtype"):
            values[name] = of(value, Part(node, op.outputs.index(name)) if value.dtype.kind in "fc" else None)
        elif name in origins and hasattr(value, "dtype"):
            values[name] = of(value, origins[name])
    again = [name for name in op.residuals if name in values and name not in op.constants]
    if again:
        results = op.guarded_forward(tensors, *(values[n] for n in op.inputs), **{n: values[n] for n in op.params})[1:]
        values.update({name: value for name, value in zip(op.residuals, results, strict=True) if name in again})
    return [values[name] for name in op.saves]
