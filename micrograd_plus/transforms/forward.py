"""Forward mode: how results move as inputs do, without walking back.

The program is run once, and what it applied is noted. Then tangents are pushed through the applications, in order of
creation: on arrays, or on tensors where they are to be differentiated again.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from ..backends import devices, tensors
from ..core.apply import Op
from ..core.backward import NO_BLOCK, Part, contributions, walk_from
from ..core.messages import check_function
from ..core.modes import recording
from ..core.runtime.blocks import enable_grad
from ..core.runtime.ownership import snapshot
from ..core.runtime.recorders import OnStep, Recorder, mute_recorders, notify_walk_failure, observe_push, record_to
from ..core.variable import clock, is_complex, namespace_of
from ..pytrees import leaves, map_leaves, matching_leaves
from ..tensor import Tensor, in_dtype, upstream_of
from .arguments import check_tuple, name_of
from .forward_steps import Moved, node_of, report
from .reverse import differentiating, grad, have_nodes, variables, zeros


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of `f` and its Jacobian-vector product: how it moves when its arguments move along tangents.

    With J = ∂f/∂x it is tangent ↦ J · tangent, in one pass forward: f(x + ε · tangent) = f(x) + ε · J · tangent +
    O(ε²). Nobody writes a forward rule: each operation's follows from its gradient rules.

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them; so may be what it returns.
        primals: a tuple of its arguments.
        tangents: a tuple of as many tangents, each in the form and the shapes of its argument.
    Returns: the pair (value, tangent of the value), both in the form of what `f` returns; what does not depend on what
        moves has a tangent of zeros. Neither has a graph, unless somebody outside wants its gradient.
    Raises: TypeError where `f` cannot be called, primals or tangents are no tuple, an argument is not made of floats,
        or a real argument has a complex tangent. ValueError where there is not one tangent of its shape for each
        argument.
    Example:
        >>> value, tangent = mg.jvp(lambda x: x * x, (3.0,), (1.0,))
        >>> value.item(), tangent.item()
        (9.0, 6.0)

    See: jax.jvp; torch.func.jvp; Griewank and Walther, "Evaluating derivatives", 2008, chapter 3.
    """
    check_function("jvp", f)
    check_tuple("jvp: primals", primals)
    check_tuple("jvp: tangents", tangents)
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} inputs and {len(tangents)} tangents; each input needs one of its shape")
    return _pushed("jvp", f, primals, tangents)


def hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    """A Hessian-vector product: the Hessian of `f` at `x`, times `v`.

    hvp(f, x, v) = H · v with H = ∂²f/∂x², taken as the tangent of the gradient along `v`: forward over reverse. H
    itself is never made.

    Shapes: x (n), v (n) -> (n); any shape, the same for the three.
    Args:
        f: a function that returns one number as a tensor.
        x: its argument: a tensor, a number, an array, or a pytree of them.
        v: what to multiply by, in the form and the shapes of `x`.
    Returns: the product, in the form of `x`.
    Raises: TypeError where `f` cannot be called, or `x` is not made of floats, or is a tuple as `mg.jvp` takes it;
        ValueError where `f` returns more than one number, or `v` has another shape than `x`.
    Example:
        >>> mg.hvp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 0.0])).tolist()
        [6.0, 0.0]

    See: Pearlmutter, "Fast exact multiplication by the Hessian", 1994; torch.autograd.functional.hvp.
    """
    check_function("hvp", f)
    if type(x) is tuple:
        raise TypeError(
            f"hvp takes the one argument of {name_of(f)} and a vector of its form, mg.hvp(f, x, v), not tuples as "
            f"mg.jvp does; of several arguments make a list or a dictionary"
        )
    return _pushed("hvp", grad(f), (x,), (v,))[1]


def _pushed(name: str, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of `f`, and how it moves; errors speak of `name`."""
    with differentiating() as block:
        start = clock()
        inputs = [variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        flat = [leaf for made in inputs for leaf in leaves(made)]
        block.by(flat)
        applied = Applications(start)
        with record_to(applied):
            out = f(*inputs)
        differentiable = block.nested or applied.captured or have_nodes((primals, tangents))
        moving: dict[Any, Any] = {}
        for primal, tangent in zip(flat, matching_leaves(tangents, inputs, f"{name}: tangents"), strict=True):
            moved = _tangent(name, tangent, primal)
            moving[_value_of(primal.node)] = moved if differentiable else snapshot(moved)
        push = OnTensors(moving) if differentiable else OnArrays(moving)
        if recording.open:
            results = [value for value in leaves(out) if getattr(value, "node", None) is not None]
            push.result = results[-1] if results else None
            push.on_step = observe_push(push.result, moving)
        push.all(applied.steps)
        movement = map_leaves(out, lambda value: _movement(value, moving))
        return (out if differentiable else map_leaves(out, _plain)), movement


def _tangent(name: str, given: Any, primal: Tensor) -> Tensor:
    """How an input moves: numbers of its shape, and real ones where it is real; those of the host are sent along."""
    tangent = given if isinstance(given, Tensor) else Tensor.constant(given, f"{name}: a tangent")
    if tangent.shape != primal.shape:
        raise ValueError(f"{name}: a tangent of shape {tangent.shape} for an input of shape {primal.shape}")
    if is_complex(tangent) and not is_complex(primal):
        raise TypeError(f"{name}: a tangent of {tangent.dtype} for an input of {primal.dtype}; take its real part")
    if isinstance(given, Tensor) or (tangent.dtype == primal.dtype and tangent.is_fast and primal.is_fast):
        return tangent
    return tangent.astype(primal.dtype).to(primal.device)


def _movement(value: Any, moving: dict[Any, Any]) -> Any:
    """How a result moves; what is no tensor, or depends on nothing that moves, does not."""
    known = _value_of(getattr(value, "node", None))
    return Tensor.of(moving[known]) if known in moving else zeros(value)


def as_it_is(value: Any) -> Any:
    """A tensor that stays what this one is now: `x += y` makes another result of the same object."""
    if not isinstance(value, Tensor):
        return value
    same = object.__new__(Tensor)
    same._data, same.node, same.is_fast = value._data, value.node, value.is_fast
    return same


def _plain(value: Any) -> Any:
    """A result without its graph."""
    return Tensor.of(value._data) if isinstance(value, Tensor) and value.node is not None else value


def _value_of(node: Any) -> Any:
    """What a value that moves is known by: its node, or as one of several outputs the application's and its number. A
    rule that reads such an output is given it under a node of its own."""
    return (node.parents[0], node.index) if type(node) is Part else node


class Applications(Recorder):
    """A recorder of what was applied, in order. A composite's rule reads values from inside it, so how those move must
    be known too, if the gradient of a composite is to be pushed forward."""

    looks_inside = True

    def __init__(self, start: int) -> None:
        self.steps: list[tuple[Op, Sequence[Any], list[Any], Sequence[Any], dict[str, Any], Any]] = []
        self.start, self.captured = start, False

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note one application, if its result can move: a leaf that it may be made into later cannot. A tensor from
        outside is `captured`: whoever trains it wants to differentiate tangents by it."""
        if not (any(part.node is not None for part in result) if op.outputs else result.node is not None):
            return
        made = tuple(map(as_it_is, result)) if op.outputs else as_it_is(result)
        nodes = [getattr(value, "node", None) for value in inputs]
        self.steps.append((op, inputs, nodes, data, params, made))
        for node in nodes:
            if node is not None and node.created < self.start:
                self.captured = True


class OnTensors:
    """How applications move, in tensors: their inputs and results are what the program computed."""

    on_step: OnStep | None = None
    """Who is told each step."""
    result: Any = None
    """What the program gave; of several results the last."""

    def __init__(self, moving: dict[Any, Any]):
        self.moving = moving

    def all(self, applications: Sequence[Any]) -> None:
        """Note how the results of a program move, one application after the other."""
        at: Any = None
        try:
            for at in applications:
                self(*at)
        except Exception:
            if self.on_step is not None:
                notify_walk_failure(self.result, node_of(at[0], at[-1] if at[0].outputs else (at[-1],)))
            raise

    def __call__(
        self, op: Op, given: Sequence[Any], nodes: list[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note how the result of one application moves, when an input does."""
        moving = self.moving
        arriving = [None if node is None else moving.get(_value_of(node)) for node in nodes]
        if not any(tangent is not None for tangent in arriving):
            return
        inputs = [
            Tensor.of(array, node) if isinstance(value, Tensor) and value.node is not node else value
            for value, node, array in zip(given, nodes, data, strict=True)
        ]  # `x += y` makes another result of the same object
        results = result if op.outputs else (result,)
        if self.on_step is not None:
            self.report(self.on_step, inputs, Moved(op, data, params, results, arriving))
        for part, tangent in zip(results, self.moved(op, inputs, data, params, results, arriving), strict=True):
            if part.node is not None and tangent is not None:
                moving[_value_of(part.node)] = tangent

    def report(self, on_step: OnStep, inputs: Sequence[Any], application: Moved) -> None:
        """Tell a recorder, on arrays, what each input adds. The record hears of nothing else that this computes."""
        op, data, params, results, arriving = application
        tangents = [getattr(tangent, "_data", tangent) for tangent in arriving]

        def alone(place: int) -> Sequence[Any]:
            only = [tangent if i == place else None for i, tangent in enumerate(tangents)]
            return OnArrays({}).moved(op, inputs, data, params, results, only)

        with mute_recorders():
            report(application._replace(arriving=tangents), alone, on_step)

    def moved(
        self,
        op: Op,
        inputs: Sequence[Any],
        data: Sequence[Any],
        params: dict[str, Any],
        results: Any,
        arriving: list[Any],
    ) -> Sequence[Any]:
        """The tangent of each result; None for one that does not move.

        Nobody writes a forward rule: an elementwise operation multiplies by the same local derivative, a linear one
        applies itself to the tangents, a multilinear one to each in turn. Any other is linear in upstream as it goes
        back, and the transpose of that way back is the way forward.
        """
        if op.tangent_rule is not None or op.kind == "general":
            return self.general(op, inputs, params, results, arriving)
        xp = self.namespace(results[0])
        values, outcomes = self.values(inputs, data), self.values(results, [part._data for part in results])
        if op.kind == "elementwise":
            return (_push_elementwise(xp, op, values, params, outcomes[0], arriving),)
        if op.kind == "linear" or (op.kind == "variadic" and op.inputs[0] not in op.rules[0].reads):
            fixed = [i for i, name in enumerate(op.inputs) if op.kind == "linear" and not op.has_rule_for(name)]
            moved = self.apply(xp, op, self.all_moving(values, arriving, fixed), params)
        else:
            each = [
                self.apply(xp, op, [*values[:i], tangent, *values[i + 1 :]], params)
                for i, tangent in enumerate(arriving)
                if tangent is not None
            ]
            moved = _added_up(each)
        return moved if op.outputs else (moved,)

    def general(
        self, op: Op, inputs: Sequence[Any], params: dict[str, Any], results: Sequence[Any], arriving: list[Any]
    ) -> Sequence[Any]:
        """An operation whose rule says what upstream becomes, or whose tangent rule somebody gave."""
        if op.tangent_rule is None:
            return _push_by_transposing(op, results, arriving)
        return op.tangent_rule.moved(inputs, params, results, self.all_moving(inputs, arriving))

    def all_moving(self, values: Sequence[Any], arriving: Sequence[Any], fixed: Sequence[int] = ()) -> list[Any]:
        """A tangent for every input, zeros for one that does not move; inputs that are fixed, or left out, as they
        are."""
        return [
            value if value is None or i in fixed else self.zeros(value) if tangent is None else tangent
            for i, (value, tangent) in enumerate(zip(values, arriving, strict=True))
        ]

    def namespace(self, result: Any) -> Any:
        """Where forwards and rules are read."""
        return tensors

    def values(self, inputs: Sequence[Any], data: Sequence[Any]) -> list[Any]:
        """What the program computed, as the namespace reads it."""
        return list(inputs)

    def apply(self, xp: Any, op: Op, inputs: list[Any], params: dict[str, Any]) -> Any:
        """The forward of an operation."""
        return op.call_with(inputs, params)

    def zeros(self, value: Any) -> Any:
        """What does not move."""
        return zeros(value)


class OnArrays(OnTensors):
    """The same in arrays, where nobody wants to differentiate the tangents."""

    def general(
        self, op: Op, inputs: Sequence[Any], params: dict[str, Any], results: Sequence[Any], arriving: list[Any]
    ) -> Sequence[Any]:
        """An operation whose rule says what upstream becomes: that is differentiated once, on tensors."""
        as_tensors = [None if tangent is None else Tensor.of(tangent) for tangent in arriving]
        with mute_recorders() if recording.open else NO_BLOCK:
            moved = super().general(op, inputs, params, results, as_tensors)
        return [None if tangent is None else getattr(tangent, "_data", tangent) for tangent in moved]

    def namespace(self, result: Any) -> Any:
        """Where forwards and rules are read."""
        return namespace_of(result._data)

    def values(self, inputs: Sequence[Any], data: Sequence[Any]) -> list[Any]:
        """What the program computed, as the namespace reads it."""
        return list(data)

    def apply(self, xp: Any, op: Op, inputs: list[Any], params: dict[str, Any]) -> Any:
        """The forward of an operation."""
        return op.compute(xp, inputs, params)[0]

    def zeros(self, value: Any) -> Any:
        """What does not move."""
        return devices.zeros_like(value) if hasattr(value, "dtype") else zeros(value)


def _push_elementwise(
    xp: Any, op: Op, inputs: list[Any], params: dict[str, Any], out: Any, arriving: list[Any]
) -> Any:
    """Each input's tangent times its local derivative, added up."""
    named = {**dict(zip(op.inputs, inputs, strict=True)), **params, "out": out, "xp": xp}
    moved: list[Any] = []
    for rule in op.rules:
        tangent = arriving[op.inputs.index(rule.inputs[0])]
        if tangent is None:
            continue
        local = rule(named)
        if is_complex(tangent) and not is_complex(out):
            local = local if hasattr(local, "dtype") else xp.new_array(tangent, local)
            moved.append(xp.real(xp.conj(local) * tangent))
        else:
            moved.append(tangent * local)
    total = _added_up(moved)
    total = total if total.shape == out.shape else xp.broadcast_to(total, out.shape)
    return total if total.dtype == out.dtype else xp.astype(total, dtype=out.dtype)


def _push_by_transposing(op: Op, results: Sequence[Any], arriving: list[Any]) -> Sequence[Any]:
    """The way back is linear in upstream: take an unknown upstream back, pair what each input receives with its
    tangent, and differentiate that by the unknown."""
    unknown = [zeros(part) for part in results]
    for each, part in zip(unknown, results, strict=True):
        each.requires_grad = part.node is not None
    node = next(part.node for part in results if part.node is not None)
    node = node.parents[0] if op.outputs else node
    with enable_grad():
        upstream: Any = unknown if op.outputs else unknown[0]
        paired = [
            _inner(contribution.value, arriving[contribution.index])
            for contribution in contributions(tensors, upstream, node)
            if arriving[contribution.index] is not None
        ]
        total = _added_up(paired)
        if total.node is None:
            return [None] * len(results)
        tracked = [part.node for part in unknown if part.node is not None]
        start = Tensor.of(upstream_of(total, None, True))
        found = walk_from([(total.node, start)], tensors, ends=tracked)
        return [
            None if part.node is None else in_dtype(found.get(part.node, zeros(part)), part.node) for part in unknown
        ]


def _inner(a: Any, b: Any) -> Any:
    """The inner product of two gradients, as real numbers: parts along re and im count apart."""
    return (ops.real(ops.conj(a) * b) if is_complex(a) or is_complex(b) else a * b).sum()


def _added_up(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
