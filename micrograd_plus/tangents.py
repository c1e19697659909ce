"""Forward mode: how results move as inputs do, without walking back.

The program is run once, and what it applied is noted. Then tangents are pushed through the applications, in order of
birth.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import ops, variable
from .application import Op, is_complex
from .arguments import name_of, wants_function, wants_tuple
from .backward import lifted
from .readings import vocabulary
from .structures import leaves, leaves_beside, mapped
from .tensor import Tensor
from .transforms import differentiating, grad, or_zeros, pulled, variables, zeros
from .variable import Part, Upstreams


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of `f`, and how it moves when its arguments move along `tangents`: forward mode.

    >>> import micrograd_plus as mg
    >>> mg.jvp(lambda x: x * x, (3.0,), (1.0,))[1].item()
    6.0
    """
    wants_function("jvp", f)
    wants_tuple("jvp: primals", primals)
    wants_tuple("jvp: tangents", tangents)
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} inputs and {len(tangents)} tangents; each input needs one of its shape")
    return _pushed("jvp", f, primals, tangents)


def hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    """The Hessian of `f` at `x`, times `v`: how the gradient moves along `v`. The Hessian itself is never made.

    >>> import micrograd_plus as mg
    >>> mg.hvp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 0.0])).tolist()
    [6.0, 0.0]
    """
    wants_function("hvp", f)
    return _pushed("hvp", grad(f), (x,), (v,))[1]


def _pushed(name: str, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of `f`, and how it moves; errors speak of `name`."""
    with differentiating():
        inputs = [variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        applied = Applications()
        with applied:
            out = f(*inputs)
        moving: dict[Any, Any] = {}
        flat = [leaf for made in inputs for leaf in leaves(made)]
        for primal, tangent in zip(flat, leaves_beside(tangents, inputs, f"{name}: tangents"), strict=True):
            moving[_value_of(primal.node)] = _tangent(name, tangent, primal)
        for step in applied.steps:
            push(*step, moving)
        return out, mapped(out, lambda value: _movement(value, moving))


def _tangent(name: str, given: Any, primal: Tensor) -> Tensor:
    """How an input moves: numbers of its shape, and real ones where it is real; those of the host are sent along."""
    tangent = given if isinstance(given, Tensor) else Tensor.constant(given, f"{name}: a tangent")
    if tangent.shape != primal.shape:
        raise ValueError(f"{name}: a tangent of shape {tangent.shape} for an input of shape {primal.shape}")
    if is_complex(tangent) and not is_complex(primal):
        raise TypeError(f"{name}: a tangent of {tangent.dtype} for an input of {primal.dtype}; take its real part")
    return tangent if isinstance(given, Tensor) else tangent.astype(primal.dtype).to(primal.device)


def _movement(value: Any, moving: dict[Any, Any]) -> Any:
    """How a result moves; what is no tensor, or depends on nothing that moves, does not."""
    known = _value_of(getattr(value, "node", None))
    return moving[known] if known in moving else zeros(value)


def _value_of(node: Any) -> Any:
    """What a value that moves is known by: its node, or as one of several outputs the application's and its number. A
    rule that reads such an output is given it under a node of its own."""
    return (node.parents[0], node.index) if type(node) is Part else node


class Applications(variable.Recorder):
    """A recorder of what was applied, in order. A composite's rule reads values from inside it, so how those move must
    be known too, if the gradient of a composite is to be pushed forward."""

    looks_inside = True

    def __init__(self) -> None:
        self.steps: list[tuple[Op, list[Any], dict[str, Any], Any]] = []

    def applied(self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        """Note one application, if its result can move: a leaf that it may be made into later cannot."""
        if any(part.node is not None for part in (result if op.outputs else (result,))):
            self.steps.append((op, list(inputs), params, result))


def push(op: Op, inputs: list[Any], params: dict[str, Any], result: Any, moving: dict[Any, Any]) -> None:
    """Note how the result of one application moves, when an input does."""
    arriving = [moving.get(_value_of(getattr(value, "node", None))) for value in inputs]
    results = result if op.outputs else (result,)
    if all(tangent is None for tangent in arriving):
        return
    for part, tangent in zip(results, _moved(op, inputs, params, results, arriving), strict=True):
        if part.node is not None and tangent is not None:
            moving[_value_of(part.node)] = tangent


def _moved(
    op: Op, inputs: list[Any], params: dict[str, Any], results: Sequence[Any], arriving: list[Any]
) -> Sequence[Any]:
    """The tangent of each result; None for one that does not move.

    Nobody writes a forward rule: an elementwise operation multiplies by the same local derivative, a linear one applies
    itself to the tangents, a multilinear one to each in turn. Any other is linear in upstream as it goes back, and the
    transpose of that way back is the way forward.
    """
    if op.tangent_rule is not None:
        return op.tangent_rule.moved(inputs, params, results, _whole(inputs, arriving))
    if op.kind == "elementwise":
        return (_push_elementwise(op, inputs, params, results[0], arriving),)
    if op.kind == "linear" or (op.kind == "joining" and op.inputs[0] not in op.rules[0].reads):
        fixed = [i for i, name in enumerate(op.inputs) if op.kind == "linear" and not op.differentiable(name)]
        return (op.given(_whole(inputs, arriving, fixed), params),)
    if op.kind in ("multilinear", "joining"):
        each = [
            op.given([*inputs[:i], tangent, *inputs[i + 1 :]], params)
            for i, tangent in enumerate(arriving)
            if tangent is not None
        ]
        return (_added_up(each),)
    return _push_by_transposing(op, results, arriving)


def _whole(inputs: list[Any], arriving: list[Any], fixed: Sequence[int] = ()) -> list[Any]:
    """A tangent for every input, zeros for one that does not move; inputs that are fixed, or left out, as they are."""
    return [
        value if value is None or i in fixed else zeros(value) if tangent is None else tangent
        for i, (value, tangent) in enumerate(zip(inputs, arriving, strict=True))
    ]


def _push_elementwise(op: Op, inputs: list[Any], params: dict[str, Any], out: Any, arriving: list[Any]) -> Any:
    """Each input's tangent times its local derivative, added up."""
    named = {**dict(zip(op.inputs, inputs, strict=True)), **params, "out": out, "xp": vocabulary.tensors}
    moved: list[Any] = []
    for rule in op.rules:
        tangent = arriving[op.inputs.index(rule.inputs[0])]
        if tangent is None:
            continue
        local = rule(named)
        if is_complex(tangent) and not is_complex(out):
            local = local if isinstance(local, Tensor) else Tensor.constant(local, "local")
            moved.append(ops.real(ops.conj(local) * tangent))
        else:
            moved.append(tangent * local)
    total = _added_up(moved)
    total = total if total.shape == out.shape else ops.broadcast_to(total, out.shape)
    return total if total.dtype == out.dtype else total.astype(out.dtype)


def _push_by_transposing(op: Op, results: Sequence[Any], arriving: list[Any]) -> Sequence[Any]:
    """The way back is linear in upstream: pull an unknown upstream back, pair what each input receives with its
    tangent, and differentiate that by the unknown."""
    unknown = [zeros(part) for part in results]
    for each, part in zip(unknown, results, strict=True):
        each.requires_grad = part.node is not None
    node = next(part.node for part in results if part.node is not None)
    node = node.parents[0] if op.outputs else node
    saved = lifted(node)
    assert saved is not None  # the application is a moment old, and nobody has freed anything
    upstream: Any = Upstreams(dict(enumerate(unknown))) if op.outputs else unknown[0]
    with variable.enable_grad():
        paired = [
            _inner(contribution.value, arriving[contribution.index])
            for contribution in op.contributions(vocabulary.tensors, node, upstream, saved)
            if arriving[contribution.index] is not None
        ]
        total = _added_up(paired)
        if total.node is None:
            return [None] * len(results)
        tracked = [part for part in unknown if part.node is not None]
        found = iter(or_zeros(pulled(total, None, tracked, differentiable=True), tracked))
    return [next(found) if part.node is not None else None for part in unknown]


def _inner(a: Any, b: Any) -> Any:
    """The inner product of two gradients, as real numbers: parts along re and im count apart."""
    return (ops.real(ops.conj(a) * b) if is_complex(a) or is_complex(b) else a * b).sum()


def _added_up(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
