"""Transforms under autograd's names and with its arguments. They return arrays for arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from .. import ops, transforms as ours
from ..pytrees import leaves
from ..tensor import Tensor
from .dispatch import as_arrays


def grad(fun: Callable[..., Any], argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function."""
    return _arrays_out(fun, ours.grad(_of_tensors(fun), argnum))


def value_and_grad(fun: Callable[..., Any], argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that computes the value of `fun` and its gradient."""
    return _arrays_out(fun, ours.value_and_grad(_of_tensors(fun), argnum))


def grad_and_aux(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the gradient of the first result of `fun`, and returns the second unchanged."""
    return _arrays_out(fun, ours.grad(fun, argnum, has_aux=True))


def elementwise_grad(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the derivative of an elementwise function: the gradient of the sum."""

    @wraps(fun)
    def total(*args: Any, **options: Any) -> Any:
        return ops.sum(fun(*args, **options))

    return grad(total, argnum)


deriv = elementwise_grad


def jacobian(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun`."""
    return _arrays_out(fun, ours.jacobian(_of_tensors(fun), argnum))


def hessian(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function."""
    return _arrays_out(fun, ours.hessian(_of_tensors(fun), argnum))


def hessian_vector_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function of `(*arguments, vector)` that computes the Hessian of `fun` times the vector."""

    @wraps(fun)
    def product(*args: Any, **options: Any) -> Any:
        *given, vector = args

        def of_argument(x: Any) -> Any:
            return fun(*given[:argnum], x, *given[argnum + 1 :], **options)

        return ours.hvp(_of_tensors(of_argument), given[argnum], vector)

    return _arrays_out(fun, product)


def make_vjp(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes `(vjp, value)`: the vector-Jacobian product, and the value."""

    @wraps(fun)
    def run(*args: Any, **options: Any) -> Any:
        def of_argument(x: Any) -> Any:
            return fun(*args[:argnum], x, *args[argnum + 1 :], **options)

        value, pull = ours.vjp(_of_tensors(of_argument), args[argnum])
        return (lambda upstream: as_arrays(pull(upstream)[0])), as_arrays(value)

    return run


def make_jvp(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function of the arguments that returns a function of a tangent, which computes `(value, tangent)`."""

    @wraps(fun)
    def at(*args: Any, **options: Any) -> Any:
        def of_argument(x: Any) -> Any:
            return fun(*args[:argnum], x, *args[argnum + 1 :], **options)

        return lambda tangent: as_arrays(ours.jvp(_of_tensors(of_argument), (args[argnum],), (tangent,)))

    return at


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a dictionary of gradients by the names of the arguments."""
    asked = signature(fun)

    @wraps(fun)
    def gradients(*args: Any, **options: Any) -> Any:
        bound = asked.bind(*args, **options)
        bound.apply_defaults()

        def of_all(named: dict[str, Any]) -> Any:
            given = asked.bind(**named)
            return fun(*given.args, **given.kwargs)

        return grad(of_all)(dict(bound.arguments))

    return gradients


def _of_tensors(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that a number or an array that it returns becomes a tensor for the transform."""

    @wraps(fun)
    def run(*args: Any, **options: Any) -> Any:
        out = fun(*args, **options)
        return out if isinstance(out, (Tensor, tuple, list, dict)) else Tensor.constant(out, "the result")

    return run


def _arrays_out(fun: Callable[..., Any], transformed: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a transform so that it returns arrays, unless an argument is a tensor, as inside another transform."""

    @wraps(fun)
    def run(*args: Any, **options: Any) -> Any:
        found = transformed(*args, **options)
        inside = any(isinstance(leaf, Tensor) for leaf in leaves((args, options)))
        return found if inside else as_arrays(found)

    return run
