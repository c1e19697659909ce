"""Functions of functions: gradients, products with Jacobians, whole Jacobians. They nest freely.

A function's arguments may be tensors, numbers, arrays, or lists, tuples and dictionaries of them; what comes back has
the same form. Nothing here touches anybody's `.grad`.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from . import ops, variable
from .application import Op, is_complex
from .arguments import argument_numbers, name_of, value_and_aux, wants_arguments, wants_function, wants_tuple
from .backward import lifted
from .readings import vocabulary
from .structures import leaves, leaves_beside, mapped, rebuilt
from .tensor import Tensor, tensor
from .variable import Leaf, Part, Upstreams

_depth: ContextVar[int] = ContextVar("_depth", default=0)
"""How many transforms are running: inside another one, gradients must be differentiable themselves."""


def grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False, missing: str = "zeros"
) -> Callable[..., Any]:
    """The function that gives the gradient of `f` (whose result is one number) with respect to an argument, or several.
    `has_aux` and `missing` are as in `value_and_grad`.

    >>> import micrograd_plus as mg
    >>> mg.grad(lambda x: x ** 3)(2.0).item()
    12.0
    >>> mg.grad(mg.grad(lambda x: x ** 3))(2.0).item()
    12.0
    """
    wants_function("grad", f)
    both = value_and_grad(f, argnums, has_aux=has_aux, missing=missing)

    @wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


def value_and_grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False, missing: str = "zeros"
) -> Callable[..., Any]:
    """The function that gives the value of `f` and its gradient, in one run. With `has_aux`, `f` returns
    `(value, anything else)`, and so does this beside the gradient. An input on which the value does not depend has a
    gradient of "zeros", or is an "error", as `missing` says.

    >>> import micrograd_plus as mg
    >>> value, gradient = mg.value_and_grad(lambda x: (x * x).sum())(mg.tensor([1.0, 2.0]))
    >>> value.item(), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    wants_function("value_and_grad", f)
    chosen = argument_numbers(argnums)
    if missing not in ("zeros", "error"):
        raise ValueError(f"missing is 'zeros' or 'error', got {missing!r}")

    @wraps(f)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        wants_arguments(f, chosen, args)
        with _differentiating() as nested:
            inputs = [_variables(args[i], f"argument {i} of {name_of(f)}") for i in chosen]
            given = list(args)
            for i, made in zip(chosen, inputs, strict=True):
                given[i] = made
            result = f(*given, **kwargs)
            value, aux = value_and_aux(f, result) if has_aux else (result, None)
            _one_number(f, value)
            flat = [leaf for made in inputs for leaf in leaves(made)]
            received = _pull(value, None, flat, differentiable=nested or _have_nodes(args))
            if missing == "error" and any(gradient is None for gradient in received):
                raise _does_not_depend(f, chosen, inputs, received)
        found = iter(_or_zeros(received, flat))
        gradients = tuple(rebuilt(made, found) for made in inputs)
        outcome = gradients[0] if isinstance(argnums, int) else gradients
        return ((value, aux) if has_aux else value), outcome

    return value_and_gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of `f`, and the function that takes an upstream gradient back to each argument.

    >>> import micrograd_plus as mg
    >>> out, pull = mg.vjp(lambda x: x * x, mg.tensor([1.0, 2.0]))
    >>> pull(mg.tensor([1.0, 10.0]))[0].tolist()
    [2.0, 40.0]
    """
    wants_function("vjp", f)
    with _differentiating() as nested:
        inputs = [_variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        out = f(*inputs)
    flat = [leaf for made in inputs for leaf in leaves(made)]
    differentiable = nested or _have_nodes(primals)

    def pull(upstream: Any) -> tuple[Any, ...]:
        keep = differentiable or _depth.get() > 0 or _have_nodes((upstream,))
        found = iter(_or_zeros(_pull(out, upstream, flat, differentiable=keep), flat))
        return tuple(rebuilt(made, found) for made in inputs)

    return out, pull


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of `f`, and how it moves when its arguments move along `tangents`: forward mode.

    The program is run once, and the tangents are pushed through its applications in order of birth.

    >>> import micrograd_plus as mg
    >>> mg.jvp(lambda x: x * x, (3.0,), (1.0,))[1].item()
    6.0
    """
    wants_function("jvp", f)
    wants_tuple("jvp: primals", primals)
    wants_tuple("jvp: tangents", tangents)
    with _differentiating():
        inputs = [_variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        applied = Applications()
        with applied:
            out = f(*inputs)
        moving: dict[Any, Any] = {}
        flat = [leaf for made in inputs for leaf in leaves(made)]
        if len(inputs) != len(tangents):
            given = f"{len(inputs)} inputs and {len(tangents)} tangents"
            raise ValueError(f"jvp: {given}; each input needs one of its shape")
        moves = leaves_beside(tangents, inputs, "jvp: tangents")
        for primal, tangent in zip(flat, moves, strict=True):
            moving[_value_of(primal.node)] = _tangent(tangent, primal)
        for step in applied.steps:
            push(*step, moving)
        return out, mapped(out, lambda value: _movement(value, moving))


def _movement(value: Any, moving: dict[Any, Any]) -> Any:
    """How a result moves; what is no tensor, or depends on nothing that moves, does not."""
    known = _value_of(getattr(value, "node", None))
    return moving[known] if known in moving else _zeros(value)


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
    """Note how the result of one application moves, when an input does.

    Nobody writes a forward rule: an elementwise operation multiplies by the same local derivative, a linear one applies
    itself to the tangents, a multilinear one to each in turn. Any other is linear in upstream as it goes back, and the
    transpose of that way back is the way forward.
    """
    arriving = [moving.get(_value_of(getattr(value, "node", None))) for value in inputs]
    results = result if op.outputs else (result,)
    if all(tangent is None for tangent in arriving):
        return
    if op.tangent_rule is not None:
        tangents: Sequence[Any] = op.tangent_rule.moved(inputs, params, results, arriving)
    elif op.kind == "elementwise":
        tangents = (_push_elementwise(op, inputs, params, result, arriving),)
    elif op.kind == "linear" or (op.kind == "joining" and op.inputs[0] not in op.rules[0].reads):
        whole = [
            tangent if tangent is not None else _zeros(value) if _moves(op, i) else value
            for i, (value, tangent) in enumerate(zip(inputs, arriving, strict=True))
        ]
        tangents = (_apply_to(op, whole, params),)
    elif op.kind in ("multilinear", "joining"):
        each = [
            _apply_to(op, [*inputs[:i], tangent, *inputs[i + 1 :]], params)
            for i, tangent in enumerate(arriving)
            if tangent is not None
        ]
        tangents = (_added_up(each),)
    else:
        tangents = _push_by_transposing(op, results, arriving)
    for part, tangent in zip(results, tangents, strict=True):
        if part.node is not None and tangent is not None:
            moving[_value_of(part.node)] = tangent


def _moves(op: Op, place: int) -> bool:
    return op.kind == "joining" or op.differentiable(op.inputs[place])


def _apply_to(op: Op, inputs: list[Any], params: dict[str, Any]) -> Any:
    return op.given(inputs, params)


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
    unknown = [_zeros(part) for part in results]
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
        found = iter(_or_zeros(_pull(total, None, tracked, differentiable=True), tracked))
    return [next(found) if part.node is not None else None for part in unknown]


def _inner(a: Any, b: Any) -> Any:
    """The inner product of two gradients, as real numbers: parts along re and im count apart."""
    return (ops.real(ops.conj(a) * b) if is_complex(a) or is_complex(b) else a * b).sum()


def hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    """The Hessian of `f` at `x`, times `v`: how the gradient moves along `v`. The Hessian itself is never made.

    >>> import micrograd_plus as mg
    >>> mg.hvp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 0.0])).tolist()
    [6.0, 0.0]
    """
    wants_function("hvp", f)
    return jvp(grad(f), (x,), (v,))[1]


def jacobian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives all first derivatives of `f`: shape (*shape of the result, *shape of the argument).

    >>> import micrograd_plus as mg
    >>> mg.jacobian(lambda x: x * x)(mg.tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    wants_function("jacobian", f)
    if not hasattr(argnums, "__index__"):
        raise TypeError(f"jacobian: argnums is the number of one argument, got {argnums!r}")

    @wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        wants_arguments(f, (argnums,), args)
        place = argnums % len(args)
        if isinstance(args[place], (dict, list, tuple)):
            got = type(args[place]).__name__
            raise TypeError(f"jacobian: argument {argnums} of {name_of(f)} must be one tensor, got {got}")

        def alone(x: Any) -> Any:
            return f(*args[:place], x, *args[place + 1 :], **kwargs)

        out, pull = vjp(alone, args[place])
        _one_tensor("jacobian", f, out)
        library = vocabulary.device_of(out._data).library
        rows: list[Any] = []
        for entry in range(out.size):
            one = library.zeros(out.size, out.dtype)
            one[entry] = 1
            rows.append(pull(Tensor.of(one.reshape(out.shape)))[0])
        given = args[place]
        shape = (*out.shape, *(given.shape if hasattr(given, "shape") else tensor(given).shape))
        return ops.stack(rows).reshape(shape) if rows else tensor(library.zeros(shape))

    return jacobian_of


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives all second derivatives of `f` (whose result is one number).

    >>> import micrograd_plus as mg
    >>> mg.hessian(lambda x: (x ** 3).sum())(mg.tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    wants_function("hessian", f)
    return jacobian(grad(f, argnums), argnums)


class GradientError(AssertionError):
    """A gradient differs from what differences of the function say."""


def gradcheck(
    f: Callable[..., Any], inputs: Sequence[Any], *, step: float = 1e-6, rtol: float = 1e-5, atol: float = 1e-7
) -> bool:
    """True when the gradient of `f` equals central differences at `inputs`; else a `GradientError` that says where and
    by how much.

    Inputs are taken in double precision: single precision has too few digits for a difference. The result may have any
    shape; it is weighted by fixed random numbers of both signs, because an upstream of ones hides mistakes.

    >>> import micrograd_plus as mg
    >>> mg.gradcheck(lambda x, y: mg.sin(x) * y, (mg.tensor([0.5, 1.0]), mg.tensor([2.0, -3.0])))
    True
    """
    wants_function("gradcheck", f)
    wants_tuple("gradcheck: inputs", inputs)
    if not inputs or not step > 0:
        raise ValueError(f"gradcheck: wants an input, and a step above 0; got {len(inputs)} inputs and step {step}")
    library = vocabulary.device("cpu").library
    given = [_plain(value) for value in inputs]
    points = [library.array(value, dtype="complex128" if is_complex(value) else "float64") for value in given]
    weights: Any = None

    def weighted(*values: Any) -> Any:
        nonlocal weights
        out = f(*values)
        _one_tensor("gradcheck", f, out)
        if weights is None:
            draw = library.random.default_rng(0).uniform(0.5, 1.5, out.shape)
            weights = tensor(draw * library.random.default_rng(1).choice([-1.0, 1.0], out.shape))
        out = out * weights if not is_complex(out) else ops.real(out * weights) + ops.imag(out * weights) * 0.7
        return out.sum()

    received = grad(weighted, tuple(range(len(points))))(*[tensor(point) for point in points])
    for place, (point, gradient) in enumerate(zip(points, received, strict=True)):
        for index in library.ndindex(*point.shape):
            for direction in (1.0, 1j) if is_complex(point) else (1.0,):
                moved: list[Any] = []
                for side in (step, -step):
                    shifted = [other.copy() for other in points]
                    shifted[place][index] += side * direction
                    with variable.no_grad():
                        moved.append(weighted(*[tensor(other) for other in shifted]).item())
                expected = (moved[0] - moved[1]) / (2 * step)
                entry = complex(gradient._data[index])
                got = entry.real if direction == 1.0 else entry.imag
                if not abs(got - expected) <= atol + rtol * max(abs(expected), abs(got)):
                    raise GradientError(
                        f"the gradient of {name_of(f)} is wrong for input {place} at {index or 'its only entry'}: "
                        f"got {got:.6g}, central differences say {expected:.6g} (off by {abs(got - expected):.2g})"
                    )
    return True


# Small parts ----------------------------------------------------------------------------------------------------------


@contextmanager
def _differentiating() -> Generator[bool]:
    """One transform deeper; yields whether this is inside another one."""
    token = _depth.set(_depth.get() + 1)
    try:
        with variable.enable_grad():
            yield _depth.get() > 1
    finally:
        _depth.reset(token)


def _variables(value: Any, name: str) -> Any:
    """The same structure, each value as a variable whose gradient is wanted, and which knows where it came from."""

    def made(x: Any) -> Tensor:
        if isinstance(x, Tensor) and x.node is not None:
            return ops.positive(x)
        variable.settle((x,))  # what is made shares its array
        out = Tensor.of(x._data) if isinstance(x, Tensor) else Tensor.constant(x, name)
        if out.dtype.kind not in "fc":
            if isinstance(x, Tensor) or hasattr(x, "dtype"):
                raise TypeError(f"{name} is of {out.dtype}; a gradient needs floats, e.g. x.astype(float)")
            out = out.astype(float)
        out.node = Leaf(out.shape, out.dtype)
        return out

    return mapped(value, made)


def _pull(out: Any, upstream: Any, inputs: list[Any], *, differentiable: bool) -> list[Any]:
    """What each input receives; None where the result does not depend on it."""
    outs = list(leaves(out))
    ups = [None] * len(outs) if upstream is None else list(leaves_beside(upstream, out, "the upstream gradient"))
    total: list[Any] = [None] * len(inputs)
    for each, arriving in zip(outs, ups, strict=True):
        if getattr(each, "node", None) is None:
            continue
        nodes = [x.node for x in inputs]
        through = [node for node in nodes if not isinstance(node, Leaf)]
        found = each.gradients(arriving, create_graph=differentiable, through=through)
        for i, node in enumerate(nodes):
            if node in found:
                received = found[node] if isinstance(found[node], Tensor) else Tensor.of(found[node])
                total[i] = received if total[i] is None else total[i] + received
    return total


def _or_zeros(received: list[Any], inputs: list[Any]) -> list[Any]:
    return [_zeros(x) if gradient is None else gradient for x, gradient in zip(inputs, received, strict=True)]


def _tangent(given: Any, primal: Tensor) -> Tensor:
    """How an input moves: numbers of its shape, and real ones where it is real."""
    tangent = given if isinstance(given, Tensor) else Tensor.constant(given, "jvp: a tangent")
    if tangent.shape != primal.shape:
        raise ValueError(f"jvp: a tangent of shape {tangent.shape} for an input of shape {primal.shape}")
    if is_complex(tangent) and not is_complex(primal):
        raise TypeError(f"jvp: a tangent of {tangent.dtype} for an input of {primal.dtype}; take its real part")
    return tangent if isinstance(given, Tensor) else tangent.astype(primal.dtype)


def _does_not_depend(f: Any, argnums: Sequence[int], inputs: list[Any], received: list[Any]) -> RuntimeError:
    """The error for an input that received nothing."""
    names = [f"argument {i}" for i, made in zip(argnums, inputs, strict=True) for _ in leaves(made)]
    lost = next(name for name, gradient in zip(names, received, strict=True) if gradient is None)
    return RuntimeError(
        f"the value of {name_of(f)} does not depend on {lost} (or on a part of it), so that has no gradient; leave it "
        f"out of argnums, or ask for missing='zeros'"
    )


def _have_nodes(value: Any) -> bool:
    return any(getattr(leaf, "node", None) is not None for leaf in leaves(value))


def _zeros(x: Any) -> Any:
    """What does not move: zeros like a tensor, and for a Python number the number 0."""
    return Tensor.of(vocabulary.zeros_like(x._data)) if isinstance(x, Tensor) else 0.0


def _added_up(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _one_number(f: Callable[..., Any], value: Any) -> None:
    if not isinstance(value, Tensor) or value.size != 1:
        got = f"shape {value.shape}" if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(
            f"grad needs {name_of(f)} to return one number as a tensor, got {got}; reduce it with .sum() or .mean(), "
            f"or take mg.jacobian or mg.vjp"
        )


def _one_tensor(transform: str, f: Callable[..., Any], value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{transform} needs {name_of(f)} to return a tensor, got {type(value).__name__}")


def _plain(value: Any) -> Any:
    return (value if isinstance(value, Tensor) else Tensor.constant(value, "gradcheck: an input")).numpy()
