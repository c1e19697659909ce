"""Reverse mode: gradients, vector-Jacobian products, Jacobians and Hessians of functions. They can be nested.

A function's arguments may be tensors, numbers, arrays, or pytrees of them, which are nested lists, tuples and
dictionaries; gradients have the same structure. No transform changes the `.grad` of a tensor.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from .. import ops
from ..backends import devices
from ..core.backward import add_gradient, gradients, topological_order
from ..core.messages import check_function, suggests_keywords
from ..core.modes import grad_enabled
from ..core.runtime.blocks import transforming
from ..core.runtime.ownership import snapshot
from ..core.runtime.recorders import notify_walk_rejection
from ..core.variable import Leaf, Node, is_complex
from ..pytrees import leaves, map_leaves, map_named_leaves, matching_leaves, replace_leaves
from ..tensor import Tensor, in_dtype, upstream_of
from .arguments import as_argument_numbers, check_argument_numbers, name_of, split_aux


@suggests_keywords
def grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    missing: str = "zeros",
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, in reverse mode.

    grad(f)(x) = ∂f/∂x, for a function whose result is one number. For complex arguments it is ∂f/∂re + i ∂f/∂im. It can
    be differentiated again: grad(grad(f)).

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns one number as a tensor.
        argnums: the number of the argument to differentiate by, or a tuple of numbers; default 0, the first.
        has_aux: whether `f` returns a pair (value, anything else); default False.
        missing: the gradient of an argument that the value does not depend on: "zeros" (default), or "error".
    Returns: a function of the same arguments as `f`. It returns the gradient, with the structure of the argument, or
        a tuple of gradients if `argnums` is a tuple; with `has_aux`, a pair of the gradient and the second result of
        `f`. The gradient has no graph, unless it can be differentiated further: inside another transform, or if `f`
        captures a tensor that requires a gradient, such as a weight.
    Raises: TypeError if `f` cannot be called or `argnums` are not different whole numbers, ValueError for another
        `missing`. When called: TypeError for an argument that is not made of floats or is not there, and if `f`
        returns no tensor, ValueError if `f` returns more than one number, RuntimeError for a missing gradient if
        `missing` is "error".
    Example:
        >>> mg.grad(lambda x: x ** 3)(2.0).item()
        12.0
        >>> mg.grad(mg.grad(lambda x: x ** 3))(2.0).item()
        12.0
        >>> a, b = mg.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(mg.tensor([1.0, 2.0]), 3.0)
        >>> a.tolist(), b.tolist()
        ([3.0, 3.0], 3.0)

    See: jax.grad; torch.func.grad.
    """
    check_function("grad", f)
    both = value_and_grad(f, argnums, has_aux=has_aux, missing=missing)

    @wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


@suggests_keywords
def value_and_grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    missing: str = "zeros",
) -> Callable[..., Any]:
    """Return a function that computes the value of `f` and its gradient, in one run.

    value_and_grad(f)(x) = (f(x), ∂f/∂x): the program runs forward once, and back once.

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns one number as a tensor.
        argnums: the number of the argument to differentiate by, or a tuple of numbers; default 0, the first.
        has_aux: whether `f` returns a pair (value, anything else); default False.
        missing: the gradient of an argument that the value does not depend on: "zeros" (default), or "error".
    Returns: a function of the same arguments as `f`, which returns the pair (value, gradient). The gradient has the
        structure of the argument, and is a tuple if `argnums` is one; with `has_aux` the value is the pair that `f`
        returned. Neither has a graph, unless it can be differentiated further: inside another transform, or if `f`
        captures a tensor that requires a gradient.
    Raises: the same errors as `grad`.
    Example:
        >>> value, gradient = mg.value_and_grad(lambda x: (x * x).sum())(mg.tensor([1.0, 2.0]))
        >>> value.item(), gradient.tolist()
        (5.0, [2.0, 4.0])

    See: jax.value_and_grad; torch.func.grad_and_value.
    """
    check_function("value_and_grad", f)
    chosen = as_argument_numbers(argnums)
    if missing not in ("zeros", "error"):
        raise ValueError(f"missing must be 'zeros' or 'error', got {missing!r}")

    @wraps(f)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        check_argument_numbers(f, chosen, args)
        with differentiating() as block:
            inputs = [as_variables(args[i], f"argument {i} of {name_of(f)}") for i in chosen]
            flat = [leaf for made in inputs for leaf in leaves(made)]
            block.set_inputs(flat)
            given = list(args)
            for i, made in zip(chosen, inputs, strict=True):
                given[i] = made
            result = f(*given, **kwargs)
            value, aux = split_aux(f, result) if has_aux else (result, None)
            try:
                _one_number(f, value)
            except (TypeError, ValueError):
                notify_walk_rejection(value)
                raise
            differentiable = block.nested or have_nodes(args) or (block.wanted and depend_on_other_leaves(value, flat))
            received = gradients_of(value, None, flat, differentiable=differentiable)
            if not differentiable:
                value, aux = Tensor.of(value._data), without_graph(aux, flat)
            if missing == "error" and any(gradient is None for gradient in received):
                raise _missing_gradient(f, chosen, inputs, received)
        found = iter(or_zeros(received, flat))
        each = tuple(replace_leaves(made, found) for made in inputs)
        outcome = each[0] if isinstance(argnums, int) else each
        return ((value, aux) if has_aux else value), outcome

    return value_and_gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the value of `f` and its vector-Jacobian product, a function of an upstream gradient.

    With J = ∂f/∂x it is upstream ↦ upstream · J, and J itself is never computed. It may be called several times.

    Args:
        f: a function that takes and returns tensors, numbers, arrays, or pytrees of them.
        *primals: its arguments.
    Returns: the pair (value, vjp_function). The value has no graph, unless an outer transform or a captured tensor
        needs one. vjp_function(upstream) takes a gradient with the structure and shapes of the value, and returns a
        tuple with the gradient of each argument.
    Raises: TypeError if `f` cannot be called, or an argument is not made of floats. vjp_function: ValueError for an
        upstream with another structure or shape, TypeError for a complex upstream of a real value.
    Example:
        >>> out, vjp_function = mg.vjp(lambda x: x * x, mg.tensor([1.0, 2.0]))
        >>> vjp_function(mg.tensor([1.0, 10.0]))[0].tolist()
        [2.0, 40.0]

    See: jax.vjp; torch.func.vjp; Baydin et al., "Automatic differentiation in machine learning: a survey", 2018.
    """
    check_function("vjp", f)
    with differentiating() as block:
        inputs = [as_variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        flat = [leaf for made in inputs for leaf in leaves(made)]
        block.set_inputs(flat)
        out = f(*inputs)

    def vjp_function(upstream: Any) -> tuple[Any, ...]:
        differentiable = transforming() is not None or have_nodes((primals, upstream)) or (
            grad_enabled() and depend_on_other_leaves(out, flat)
        )
        found = iter(or_zeros(gradients_of(out, upstream, flat, differentiable=differentiable), flat))
        return tuple(replace_leaves(made, found) for made in inputs)

    return (out if block.nested or have_nodes(primals) else without_graph(out, flat)), vjp_function


@suggests_keywords
def jacobian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`: all its first derivatives.

    jacobian(f)(x)[i, j] = ∂f(x)_i / ∂x_j, where i runs over the axes of the result and j over the axes of the argument.
    It takes one backward pass for each entry of the result. Split a complex result into `out.real` and `out.imag`, or
    use `mg.jvp`.

    Shapes: x (n) and f(x) (m) -> (m, n); in general (*shape of f(x), *shape of x).
    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns a real tensor or a pytree of them.
        argnums: the number of the argument to differentiate by; default 0, the first.
    Returns: a function of the same arguments as `f`, which returns the Jacobian: one tensor, or for each part of the
        result the structure of the argument, `jacobian(f)(p)["out"]["weight"]`.
    Raises: TypeError if `f` cannot be called or `argnums` is not a whole number. When called: TypeError for an argument
        that is not made of floats, and if `f` returns no tensor or a complex one.
    Example:
        >>> mg.jacobian(lambda x: x * x)(mg.tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        >>> mg.jacobian(lambda p: p["a"] * p["b"])({"a": 2.0, "b": mg.tensor([3.0, 4.0])})["a"].tolist()
        [3.0, 4.0]

    See: jax.jacrev; torch.func.jacrev.
    """
    check_function("jacobian", f)
    if not hasattr(argnums, "__index__"):
        raise TypeError(f"jacobian: argnums must be the number of one argument, got {argnums!r}")

    @wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        check_argument_numbers(f, (argnums,), args)
        place = argnums % len(args)
        with differentiating() as block:
            made = as_variables(args[place], f"argument {argnums} of {name_of(f)}")
            flat = leaves(made)
            block.set_inputs(flat)
            out = f(*args[:place], made, *args[place + 1 :], **kwargs)
        differentiable = block.nested or have_nodes((args, kwargs))
        differentiable = differentiable or (block.wanted and depend_on_other_leaves(out, flat))

        def by_inputs(part: Any) -> Any:
            check_tensor_result("jacobian", f, part)
            if is_complex(part):
                raise TypeError(
                    f"jacobian: {name_of(f)} returns {part.dtype}; take out.real and out.imag apart, or mg.jvp"
                )
            return replace_leaves(made, iter(_rows(part, flat, differentiable)))

        return map_leaves(out, by_inputs)

    return jacobian_of


def _rows(out: Tensor, inputs: list[Any], differentiable: bool) -> list[Any]:
    """Return the derivative of every entry of a result by every entry of each input."""
    library = devices.device_of(out._data).library
    if out.size == 0:
        return [Tensor.of(library.zeros((*out.shape, *x.shape), out.dtype)) for x in inputs]
    each = library.eye(out.size, dtype=out.dtype)
    upstreams = [Tensor.of(each[entry].reshape(out.shape)) for entry in range(out.size)]
    rows = [or_zeros(gradients_of(out, up, inputs, differentiable=differentiable), inputs) for up in upstreams]
    columns = zip(*rows, strict=True)
    return [ops.stack(column).reshape((*out.shape, *x.shape)) for column, x in zip(columns, inputs, strict=True)]


@suggests_keywords
def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f`: all second derivatives.

    hessian(f)(x)[i, j] = ∂²f(x) / ∂x_i ∂x_j. It is the Jacobian of the gradient, and takes one backward pass for each
    entry of x; for the product with one vector use `mg.hvp`.

    Shapes: x (n) -> (n, n); in general (*shape of x, *shape of x).
    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns one number as a tensor.
        argnums: the number of the argument to differentiate by; default 0, the first.
    Returns: a function of the same arguments as `f`, which returns the Hessian: one tensor, or for a dictionary a
        dictionary of dictionaries, `hessian(f)(p)["a"]["b"]`.
    Raises: the same errors as `grad` and `jacobian`.
    Example:
        >>> mg.hessian(lambda x: (x ** 3).sum())(mg.tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]

    See: jax.hessian; torch.func.hessian.
    """
    check_function("hessian", f)
    return jacobian(grad(f, argnums), argnums)


# Small parts ----------------


class differentiating:  # noqa: N801 - it is used as a function is
    """Context manager of a transform, in which gradients are enabled.

    `nested` says whether it is inside another transform, so that its gradients must be differentiable, and `wanted`
    whether gradients were enabled before."""

    __slots__ = ("_inputs", "_opened", "nested", "wanted")

    def __enter__(self) -> differentiating:
        self.nested = transforming() is not None
        self._inputs: list[Node] = []
        self._opened = [transforming.begin(self._inputs)]
        self.wanted = grad_enabled()
        if not self.wanted:
            self._opened.append(grad_enabled.begin(True))
        return self

    def set_inputs(self, inputs: Iterable[Any]) -> None:
        """Set the inputs; inside the block, a value that depends on them cannot become a Python number."""
        self._inputs += [x.node for x in inputs]

    def __exit__(self, *error: object) -> None:
        del self._opened


def as_variables(value: Any, name: str) -> Any:
    """Return the same structure, with each value as a variable that requires a gradient."""

    def as_variable(x: Any, name: str) -> Tensor:
        if isinstance(x, Tensor) and x.node is not None:
            return ops.positive(x)
        if x is None or isinstance(x, (str, bytes)):
            said = "None" if x is None else f"text, {x!r}"
            raise TypeError(f"{name} is {said}, of which there is no gradient; give it to the function apart")
        out = Tensor.of(snapshot(x)) if isinstance(x, Tensor) else Tensor.constant(x, name)
        if out.dtype.kind not in "fc":
            if hasattr(x, "dtype"):
                raise TypeError(f"{name} is of {out.dtype}; a gradient needs floats, e.g. x.astype(float)")
            out = out.astype(float)
        out.node = Leaf(out.shape, out.dtype)
        return out

    return map_named_leaves(value, as_variable, name)


def gradients_of(out: Any, upstream: Any, inputs: list[Any], *, differentiable: bool) -> list[Any]:
    """Return the gradient of each input; None if the result does not depend on it."""
    nodes = [x.node for x in inputs]
    total: list[Any] = [None] * len(inputs)
    for each, arriving in zip(leaves(out), matching_leaves(upstream, out, "the upstream gradient"), strict=True):
        if getattr(each, "node", None) is None:
            continue
        start = upstream_of(each, arriving, differentiable)
        found = gradients(each, start, create_graph=differentiable, ends=nodes)
        for i, node in enumerate(nodes):
            if node in found:
                arrived = in_dtype(found[node], node)
                received = arrived if type(arrived) is Tensor else Tensor.of(arrived)
                total[i] = add_gradient(total[i], received)
    return total


def depend_on_other_leaves(values: Any, inputs: Sequence[Any]) -> bool:
    """Return whether a value depends on a leaf other than the inputs, so that its gradient must be differentiable."""
    ends = {x.node for x in inputs}
    roots = [value.node for value in leaves(values) if getattr(value, "node", None) is not None]
    reached = {parent for node in topological_order(roots, ends) for parent in node.parents}
    return any(node is not None and node.vjp is None and node not in ends for node in reached.union(roots))


def without_graph(values: Any, inputs: Sequence[Any]) -> Any:
    """Return the same structure; tensors whose graph leads only to the inputs lose it."""

    def detach(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.node is None:
            return value
        return value if depend_on_other_leaves(value, inputs) else Tensor.of(value._data)

    return map_leaves(values, detach)


def or_zeros(received: list[Any], inputs: list[Any]) -> list[Any]:
    """Return the gradient of each input, zeros instead of None."""
    return [zeros(x) if gradient is None else gradient for x, gradient in zip(inputs, received, strict=True)]


def _missing_gradient(f: Any, argnums: Sequence[int], inputs: list[Any], received: list[Any]) -> RuntimeError:
    """Return the error for an input without a gradient."""
    names = [f"argument {i}" for i, made in zip(argnums, inputs, strict=True) for _ in leaves(made)]
    lost = next(name for name, gradient in zip(names, received, strict=True) if gradient is None)
    return RuntimeError(
        f"the value of {name_of(f)} does not depend on {lost} (or on a part of it), so that has no gradient; leave it "
        f"out of argnums, or pass missing='zeros'"
    )


def have_nodes(value: Any) -> bool:
    """Return whether a tensor in a nested structure has a graph, or requires a gradient."""
    return any(getattr(leaf, "node", None) is not None for leaf in leaves(value))


def zeros(x: Any) -> Any:
    """Return zeros like a tensor; for a Python number, the number 0."""
    return Tensor.of(devices.zeros_like(x._data)) if isinstance(x, Tensor) else 0.0


def _one_number(f: Callable[..., Any], value: Any) -> None:
    check_tensor_result("grad", f, value)
    if value.size != 1:
        raise ValueError(
            f"grad: {name_of(f)} must return one number, got shape {value.shape}; reduce it with .sum() or .mean(), "
            f"or use mg.jacobian or mg.vjp"
        )
    if is_complex(value):
        raise TypeError(
            f"grad: {name_of(f)} must return a real number, got {value.dtype}; use out.real, out.imag or mg.abs(out), "
            f"or mg.jvp for the derivative of a complex result"
        )


def check_tensor_result(transform: str, f: Callable[..., Any], value: Any) -> None:
    """Raise TypeError for a result that is not a tensor."""
    if not isinstance(value, Tensor):
        got = f"None; does {name_of(f)} return its result?" if value is None else type(value).__name__
        raise TypeError(f"{transform}: {name_of(f)} must return a tensor, got {got}")
