"""Forward mode: Jacobian-vector products, without a backward pass.

The program runs once, and its applications are recorded. Then tangents are pushed through the applications, in order of
creation: as arrays, or as tensors if they will be differentiated again.
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
from ..tensor.tensor import new_tensor
from .arguments import check_tuple, name_of
from .forward_steps import JoinPush, PushedApplication, is_transposed, node_of, report
from .reverse import as_variables, differentiating, grad, have_nodes, zeros


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the value of `f` and its Jacobian-vector product.

    With J = ∂f/∂x it is tangent ↦ J · tangent, in one forward pass: f(x + ε · tangent) = f(x) + ε · J · tangent +
    O(ε²). Forward rules are derived from the gradient rules of each operation.

    Args:
        f: a function that takes and returns tensors, numbers, arrays, or pytrees of them.
        primals: a tuple of its arguments.
        tangents: a tuple of tangents, one for each argument, with its structure and shapes.
    Returns: the pair (value, tangent of the value), both with the structure of the result of `f`; a part that does not
        depend on the arguments has a tangent of zeros. Neither has a graph, unless an outer transform or a captured
        tensor needs one.
    Raises: TypeError if `f` cannot be called, primals or tangents are not tuples, an argument is not made of floats,
        or a real argument has a complex tangent. ValueError unless each argument has a tangent of its shape.
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
    return _push("jvp", f, primals, tangents)


def hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    """Return a Hessian-vector product: the Hessian of `f` at `x`, times `v`.

    hvp(f, x, v) = H · v with H = ∂²f/∂x², computed as the tangent of the gradient along `v`: forward over reverse. H
    itself is never computed.

    Shapes: x (n), v (n) -> (n); any shape, the same for the three.
    Args:
        f: a function that returns one number as a tensor.
        x: its argument: a tensor, a number, an array, or a pytree of them.
        v: the vector, with the structure and shapes of `x`.
    Returns: the product, with the structure of `x`.
    Raises: TypeError if `f` cannot be called, or if `x` is not made of floats or is a tuple, as for `mg.jvp`;
        ValueError if `f` returns more than one number, or `v` has another shape than `x`.
    Example:
        >>> mg.hvp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 0.0])).tolist()
        [6.0, 0.0]

    See: Pearlmutter, "Fast exact multiplication by the Hessian", 1994; torch.autograd.functional.hvp.
    """
    check_function("hvp", f)
    if type(x) is tuple:
        raise TypeError(
            f"hvp takes one argument of {name_of(f)} and a vector with its structure, mg.hvp(f, x, v), not tuples as "
            f"mg.jvp does; put several arguments into a list or a dictionary"
        )
    return _push("hvp", grad(f), (x,), (v,))[1]


def _push(name: str, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the value of `f` and its tangent; errors begin with `name`."""
    with differentiating() as block:
        start = clock()
        inputs = [as_variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        flat = [leaf for made in inputs for leaf in leaves(made)]
        block.set_inputs(flat)
        applied = Applications(start)
        with record_to(applied):
            out = f(*inputs)
        differentiable = block.nested or applied.captured or have_nodes((primals, tangents))
        tangent_of: dict[Any, Any] = {}
        for primal, tangent in zip(flat, matching_leaves(tangents, inputs, f"{name}: tangents"), strict=True):
            checked = _check_tangent(name, tangent, primal)
            tangent_of[_key(primal.node)] = checked if differentiable else snapshot(checked)
        push = OnTensors(tangent_of) if differentiable else OnArrays(tangent_of)
        if recording.open:
            results = [value for value in leaves(out) if getattr(value, "node", None) is not None]
            push.result = results[-1] if results else None
            push.on_step = observe_push(push.result, tangent_of)
        push.all(applied.steps)
        out_tangents = map_leaves(out, lambda value: _tangent_of_result(value, tangent_of))
        return (out if differentiable else map_leaves(out, _without_graph)), out_tangents


def _check_tangent(name: str, given: Any, primal: Tensor) -> Tensor:
    """Return a tangent with the shape, dtype and device of its input, or raise an error."""
    tangent = given if isinstance(given, Tensor) else Tensor.constant(given, f"{name}: a tangent")
    if tangent.shape != primal.shape:
        raise ValueError(f"{name}: a tangent of shape {tangent.shape} for an input of shape {primal.shape}")
    if is_complex(tangent) and not is_complex(primal):
        raise TypeError(f"{name}: a tangent of {tangent.dtype} for an input of {primal.dtype}; take its real part")
    if isinstance(given, Tensor) or (tangent.dtype == primal.dtype and tangent.is_fast and primal.is_fast):
        return tangent
    return tangent.astype(primal.dtype).to(primal.device)


def _tangent_of_result(value: Any, tangent_of: dict[Any, Any]) -> Any:
    """Return the tangent of a result: zeros if it is not a tensor, or does not depend on the inputs."""
    key = _key(getattr(value, "node", None))
    return Tensor.of(tangent_of[key]) if key in tangent_of else zeros(value)


def frozen_copy(value: Any) -> Any:
    """Return a copy of a tensor object, since `x += y` makes the same object another result."""
    if not isinstance(value, Tensor):
        return value
    same = new_tensor()
    same._data, same.node, same.is_fast, same.origin = value._data, value.node, value.is_fast, None
    return same


def _without_graph(value: Any) -> Any:
    """Return a result without its graph."""
    return Tensor.of(value._data) if isinstance(value, Tensor) and value.node is not None else value


def _key(node: Any) -> Any:
    """Return the key of a value in the table of tangents: its node, or for one of several outputs the node of the
    application and the number of the output."""
    return (node.parents[0], node.index) if type(node) is Part else node


class Applications(Recorder):
    """Recorder of applications, in order.

    The rule of a composite reads values from inside it, so their applications are recorded as well."""

    looks_inside = True

    def __init__(self, start: int) -> None:
        self.steps: list[tuple[Op, Sequence[Any], Sequence[Any], Sequence[Any], dict[str, Any], Sequence[Any]]] = []
        self.start, self.captured = start, False

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Record an application whose result has a graph. Captured tensors are noted in `captured`, since tangents must
        then be differentiable by them."""
        if not op.outputs:
            node, results = result.node, (frozen_copy(result),)
        else:
            results = tuple(map(frozen_copy, result))
            node = next((part.node.parents[0] for part in results if part.node is not None), None)
        if node is not None:
            self.steps.append((op, inputs, node.parents, data, params, results))
            for parent in node.parents:  # None for an input without a rule
                if parent is not None and parent.created < self.start:
                    self.captured = True


class OnTensors:
    """Tangents of applications as tensors, which can be differentiated again."""

    on_step: OnStep | None = None
    """The recorder's callback for each step."""
    result: Any = None
    """The result of the program; the last of several."""

    def __init__(self, tangent_of: dict[Any, Any]):
        self.tangent_of = tangent_of

    def all(self, applications: Sequence[Any]) -> None:
        """Push tangents through all applications of a program."""
        at: Any = None
        try:
            for at in applications:
                self(*at)
        except Exception:
            if self.on_step is not None:
                notify_walk_failure(self.result, node_of(at[0], at[-1]))
            raise

    def __call__(
        self,
        op: Op,
        given: Sequence[Any],
        nodes: Sequence[Any],
        data: Sequence[Any],
        params: dict[str, Any],
        results: Sequence[Any],
    ) -> None:
        """Push tangents through one application, if an input has one."""
        tangent_of = self.tangent_of
        arriving = [None if node is None else tangent_of.get(_key(node)) for node in nodes]
        if not any(tangent is not None for tangent in arriving):
            return
        application = PushedApplication(op, given, nodes, data, params, results, arriving)
        if self.on_step is not None:
            self.report(self.on_step, application)
        for part, tangent in zip(results, self.output_tangents(application), strict=True):
            if part.node is not None and tangent is not None:
                tangent_of[_key(part.node)] = tangent

    def report(self, on_step: OnStep, application: PushedApplication) -> None:
        """Report to a recorder, as arrays, how much each input adds; the computation itself is not recorded."""
        op, tangents = application.op, _as_arrays(application.arriving)
        application = application._replace(arriving=tangents)

        def push_one_input(place: int) -> Sequence[Any]:
            only = [tangent if i == place else None for i, tangent in enumerate(tangents)]
            return OnArrays({}).output_tangents(application._replace(arriving=only))

        with mute_recorders():
            push_one: Callable[[int], Sequence[Any]] = push_one_input
            if op.combines_as == "join":
                push_one = JoinPush(application)
            elif is_transposed(op):
                transposed = TransposedVjp(op, application.results)
                push_one = lambda place: _as_arrays(transposed.push({place: Tensor.of(tangents[place])}))
            report(application, push_one, on_step)

    def output_tangents(self, application: PushedApplication) -> Sequence[Any]:
        """Return the tangent of each result, or None.

        Forward rules are derived: an elementwise operation multiplies by its local derivative, a linear one and a join
        are applied to the tangents, a multilinear one and a product to each tangent in turn. The vjp of any other
        operation is linear in upstream, and its transpose is the forward rule.
        """
        op, params, arriving = application.op, application.params, application.arriving
        if op.tangent_rule is not None or is_transposed(op):
            return self.general(application)
        result = application.results[0]
        xp, values = self.namespace(result), self.values(application)
        if op.kind == "elementwise":
            return (_push_elementwise(xp, op, values, params, self.value(result), arriving),)
        if op.kind == "linear" or op.combines_as == "join":
            fixed = [i for i, name in enumerate(op.inputs) if op.kind == "linear" and not op.has_rule_for(name)]
            tangents = self.apply(xp, op, self.input_tangents(values, arriving, fixed), params)
        else:
            each = [
                self.apply(xp, op, [*values[:i], tangent, *values[i + 1 :]], params)
                for i, tangent in enumerate(arriving)
                if tangent is not None
            ]
            tangents = _sum(each)
        return tangents if op.outputs else (tangents,)

    def general(self, application: PushedApplication) -> Sequence[Any]:
        """Push tangents through an operation by transposing its vjp, or by its custom tangent rule."""
        op, results, arriving = application.op, application.results, application.arriving
        if op.tangent_rule is None:
            moving = {place: tangent for place, tangent in enumerate(arriving) if tangent is not None}
            return TransposedVjp(op, results).push(moving)
        inputs = application.inputs
        return op.tangent_rule.push(inputs, application.params, results, self.input_tangents(inputs, arriving))

    def input_tangents(self, values: Sequence[Any], arriving: Sequence[Any], fixed: Sequence[int] = ()) -> list[Any]:
        """Return a tangent for every input, zeros if it has none; fixed and omitted inputs are returned unchanged."""
        return [
            value if value is None or i in fixed else self.zeros(value) if tangent is None else tangent
            for i, (value, tangent) in enumerate(zip(values, arriving, strict=True))
        ]

    def namespace(self, result: Any) -> Any:
        """Return the namespace for forwards and rules."""
        return tensors

    def values(self, application: PushedApplication) -> list[Any]:
        """Return the inputs of an application in the form that the namespace takes."""
        return application.inputs

    def value(self, result: Any) -> Any:
        """Return a result in the form that the namespace takes."""
        return result

    def apply(self, xp: Any, op: Op, inputs: list[Any], params: dict[str, Any]) -> Any:
        """Apply the forward of an operation."""
        return op.call_with(inputs, params)

    def zeros(self, value: Any) -> Any:
        """Return a tangent of zeros."""
        return zeros(value)


class OnArrays(OnTensors):
    """Tangents of applications as arrays, which is faster."""

    def general(self, application: PushedApplication) -> Sequence[Any]:
        """Push tangents through an operation whose rule runs on tensors."""
        as_tensors = [None if tangent is None else Tensor.of(tangent) for tangent in application.arriving]
        with mute_recorders() if recording.open else NO_BLOCK:
            return _as_arrays(super().general(application._replace(arriving=as_tensors)))

    def namespace(self, result: Any) -> Any:
        """Return the namespace for forwards and rules."""
        return namespace_of(result._data)

    def values(self, application: PushedApplication) -> list[Any]:
        """Return the inputs of an application in the form that the namespace takes."""
        return list(application.data)

    def value(self, result: Any) -> Any:
        """Return a result in the form that the namespace takes."""
        return result._data

    def apply(self, xp: Any, op: Op, inputs: list[Any], params: dict[str, Any]) -> Any:
        """Apply the forward of an operation."""
        return op.compute(xp, inputs, params)[0]

    def zeros(self, value: Any) -> Any:
        """Return a tangent of zeros."""
        return devices.zeros_like(value) if hasattr(value, "dtype") else zeros(value)


def _push_elementwise(
    xp: Any, op: Op, inputs: list[Any], params: dict[str, Any], out: Any, arriving: Sequence[Any]
) -> Any:
    """Return the sum of each input's tangent times its local derivative."""
    named = {**dict(zip(op.inputs, inputs, strict=True)), **params, "out": out, "xp": xp}
    tangents: list[Any] = []
    for rule in op.rules:
        tangent = arriving[op.inputs.index(rule.inputs[0])]
        if tangent is None:
            continue
        local = rule(named)
        if is_complex(tangent) and not is_complex(out):
            local = local if hasattr(local, "dtype") else xp.new_array(tangent, local)
            tangents.append(xp.real(xp.conj(local) * tangent))
        else:
            tangents.append(tangent * local)
    total = _sum(tangents)
    total = total if total.shape == out.shape else xp.broadcast_to(total, out.shape)
    return total if total.dtype == out.dtype else xp.astype(total, dtype=out.dtype)


class TransposedVjp:
    """Transpose of the vjp of one application, which is linear in upstream.

    The contribution to each input is multiplied by the input's tangent, and the sum is differentiated by upstream.
    """

    def __init__(self, op: Op, results: Sequence[Any]):
        self.results, self.upstreams = results, [zeros(part) for part in results]
        for upstream, part in zip(self.upstreams, results, strict=True):
            upstream.requires_grad = part.node is not None
        with enable_grad():
            given = [each if each.node is None else _as_result(each) for each in self.upstreams]
            found = contributions(tensors, given if op.outputs else given[0], node_of(op, results))
            self.contributions = {each.index: each.value for each in found}

    def push(self, tangents: dict[int, Any]) -> Sequence[Any]:
        """Return the tangent of each result, or None; `tangents` has the tangents of some inputs, by place."""
        with enable_grad():
            total = _sum([_inner(self.contributions[place], tangent) for place, tangent in tangents.items()])
            if total.node is None:
                return [None] * len(self.results)
            tracked = [upstream.node for upstream in self.upstreams if upstream.node is not None]
            start = Tensor.of(upstream_of(total, None, True))
            # No node from before the upstreams leads to them, and a program can be long.
            found = walk_from([(total.node, start)], tensors, ends=tracked, since=tracked[0].created)
            return [
                None if part.node is None else in_dtype(found.get(upstream.node, zeros(upstream)), upstream.node)
                for upstream, part in zip(self.upstreams, self.results, strict=True)
            ]


def _as_result(leaf: Tensor) -> Tensor:
    """Return a leaf's entries as a result of its own, since a rule may write into the upstream that it is given."""
    result = ops.reshape(leaf, leaf.shape)
    result.origin = None
    return result


def _inner(a: Any, b: Any) -> Any:
    """Return the real inner product of two gradients: real and imaginary parts are multiplied separately."""
    return (ops.real(ops.conj(a) * b) if is_complex(a) or is_complex(b) else a * b).sum()


def _as_arrays(tangents: Sequence[Any]) -> list[Any]:
    """Return tangents as arrays."""
    return [getattr(tangent, "_data", tangent) for tangent in tangents]


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
