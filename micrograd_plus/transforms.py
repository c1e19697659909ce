"""Functions of functions, in reverse mode: gradients, products with Jacobians, whole Jacobians. They nest freely.

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
from .application import is_complex, shape_of
from .arguments import argument_numbers, name_of, value_and_aux, wants_arguments, wants_function
from .readings import vocabulary
from .structures import leaves, leaves_beside, mapped, rebuilt
from .tensor import Tensor
from .variable import Leaf

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
        with differentiating() as nested:
            inputs = [variables(args[i], f"argument {i} of {name_of(f)}") for i in chosen]
            given = list(args)
            for i, made in zip(chosen, inputs, strict=True):
                given[i] = made
            result = f(*given, **kwargs)
            value, aux = value_and_aux(f, result) if has_aux else (result, None)
            _one_number(f, value)
            flat = [leaf for made in inputs for leaf in leaves(made)]
            received = pulled(value, None, flat, differentiable=nested or _have_nodes(args))
            if missing == "error" and any(gradient is None for gradient in received):
                raise _does_not_depend(f, chosen, inputs, received)
        found = iter(or_zeros(received, flat))
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
    with differentiating():
        inputs = [variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        out = f(*inputs)
    flat = [leaf for made in inputs for leaf in leaves(made)]

    def pull(upstream: Any) -> tuple[Any, ...]:
        differentiable = _depth.get() > 0 or _have_nodes((primals, upstream))
        found = iter(or_zeros(pulled(out, upstream, flat, differentiable=differentiable), flat))
        return tuple(rebuilt(made, found) for made in inputs)

    return out, pull


def jacobian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives all first derivatives of `f`: shape (*shape of the result, *shape of the argument). The
    result is real; a complex one has its parts apart: mg.jvp tells how it moves.

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

        @wraps(f)
        def alone(x: Any) -> Any:
            return f(*args[:place], x, *args[place + 1 :], **kwargs)

        out, pull = vjp(alone, args[place])
        refuse_other_than_tensor("jacobian", f, out)
        if is_complex(out):
            raise TypeError(f"jacobian: {name_of(f)} returns {out.dtype}; take out.real and out.imag apart, or mg.jvp")
        library, shape = vocabulary.device_of(out._data).library, (*out.shape, *shape_of(args[place]))
        if out.size == 0:
            return Tensor.of(library.zeros(shape, out.dtype))
        each = library.eye(out.size, dtype=out.dtype)
        rows = [pull(Tensor.of(each[entry].reshape(out.shape)))[0] for entry in range(out.size)]
        return ops.stack(rows).reshape(shape)

    return jacobian_of


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives all second derivatives of `f` (whose result is one number).

    >>> import micrograd_plus as mg
    >>> mg.hessian(lambda x: (x ** 3).sum())(mg.tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    wants_function("hessian", f)
    return jacobian(grad(f, argnums), argnums)


# Small parts ----------------


@contextmanager
def differentiating() -> Generator[bool]:
    """One transform deeper; yields whether this is inside another one."""
    token = _depth.set(_depth.get() + 1)
    try:
        with variable.enable_grad():
            yield _depth.get() > 1
    finally:
        _depth.reset(token)


def variables(value: Any, name: str) -> Any:
    """The same structure, each value as a variable whose gradient is wanted, and which knows where it came from."""

    def made(x: Any) -> Tensor:
        if isinstance(x, Tensor) and x.node is not None:
            return ops.positive(x)
        out = Tensor.of(variable.settled(x)) if isinstance(x, Tensor) else Tensor.constant(x, name)
        if out.dtype.kind not in "fc":
            if hasattr(x, "dtype"):
                raise TypeError(f"{name} is of {out.dtype}; a gradient needs floats, e.g. x.astype(float)")
            out = out.astype(float)
        out.node = Leaf(out.shape, out.dtype)
        return out

    return mapped(value, made)


def pulled(out: Any, upstream: Any, inputs: list[Any], *, differentiable: bool) -> list[Any]:
    """What each input receives; None where the result does not depend on it."""
    total: list[Any] = [None] * len(inputs)
    for each, arriving in zip(leaves(out), leaves_beside(upstream, out, "the upstream gradient"), strict=True):
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


def or_zeros(received: list[Any], inputs: list[Any]) -> list[Any]:
    """What each input receives; zeros where it was nothing."""
    return [zeros(x) if gradient is None else gradient for x, gradient in zip(inputs, received, strict=True)]


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


def zeros(x: Any) -> Any:
    """What does not move: zeros like a tensor, and for a Python number the number 0."""
    return Tensor.of(vocabulary.zeros_like(x._data)) if isinstance(x, Tensor) else 0.0


def _one_number(f: Callable[..., Any], value: Any) -> None:
    if not isinstance(value, Tensor) or value.size != 1:
        got = f"shape {value.shape}" if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(
            f"grad needs {name_of(f)} to return one number as a tensor, got {got}; reduce it with .sum() or .mean(), "
            f"or take mg.jacobian or mg.vjp"
        )


def refuse_other_than_tensor(transform: str, f: Callable[..., Any], value: Any) -> None:
    """Refuse a result that is not one tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{transform} needs {name_of(f)} to return a tensor, got {type(value).__name__}")
