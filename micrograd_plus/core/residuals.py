"""What the rules of a node read: residuals as tensors, with the graph that a gradient of the gradient needs, and one
upstream for each of several outputs."""

from __future__ import annotations

from typing import Any

from ..backends import tensors
from .variable import Namespace, Node, Part, Variable


def residuals_as_tensors(node: Node) -> list[Any]:
    """What a node's rules read, as tensors that know where they came from, so that a gradient has a gradient.

    A saved input is a tensor of the parent's node, an output one of this node. Residuals are computed again, from the
    inputs; masks and indices are constants.
    """
    op, of = node.op, Variable.public.of
    values: dict[str, Any] = dict(zip(op.saves, node.saved or (), strict=True))

    def put(name: str, origin: Node | None) -> None:
        if hasattr(values.get(name), "dtype"):
            values[name] = of(values[name], origin)

    if op.kind == "variadic":
        (name,) = op.inputs
        if values.get(name) is not None:
            values[name] = [of(part, parent) for part, parent in zip(values[name], node.parents, strict=True)]
    else:
        for name, parent in zip(op.inputs, node.parents, strict=True):
            put(name, parent)
    put("out", node)
    for index, name in enumerate(op.outputs):
        if hasattr(values.get(name), "dtype"):
            put(name, Part(node, index) if values[name].dtype.kind in "fc" else None)
    again = [name for name in op.residuals if name in values and name not in op.constants]
    if again:
        computed = op.forward(tensors, *(values[n] for n in op.inputs), **{n: values[n] for n in op.params})[1:]
        values.update({name: value for name, value in zip(op.residuals, computed, strict=True) if name in again})
    for name in (*op.constants, *(rule.saves[0] for rule in op.rules if rule.in_forward)):
        put(name, None)
    return [values[name] for name in op.saves]


def every_upstream(xp: Namespace, upstream: list[Any], node: Node) -> tuple[Any, ...]:
    """One upstream for each output, zeros where nothing arrived."""
    some = next(part for part in upstream if part is not None)
    return tuple(
        xp.new_zeros(some, shape, dtype) if part is None else part
        for part, (shape, dtype) in zip(upstream, node.shape_dtype, strict=True)
    )
