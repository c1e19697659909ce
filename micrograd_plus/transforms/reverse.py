"""Functions of functions, in reverse mode: gradients, products with Jacobians, whole Jacobians. They nest freely.

A function's arguments may be tensors, numbers, arrays, or pytrees of them, which are nested lists, tuples and
dictionaries; what comes back has the same form. Nothing here touches anybody's `.grad`.
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
    """The function that gives the gradient of `f`, in reverse mode.

    grad(f)(x) = ∂f/∂x, for a function whose result is one number. Of complex arguments it is ∂f/∂re + i ∂f/∂im. It can
    be differentiated again: grad(grad(f)).

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns one number as a tensor.
        argnums: the number of the argument to differentiate by, or a tuple of numbers; default 0, the first.
        has_aux: whether `f` returns a pair (value, anything else); default False.
        missing: what to give for an argument on which the value does not depend: "zeros" (default), or "error".
    Returns: a function of the same arguments as `f`. It returns the gradient, in the form of the argument, or a tuple
        of gradients where `argnums` is a tuple; with `has_aux`, a pair of that and what `f` returned besides. It has no
        graph, unless somebody outside wants its gradient: inside another transform, or where `f` reads a tensor that
        wants one, as the weights of a model that is trained by its slopes.
    Raises: TypeError where `f` cannot be called or `argnums` are no different whole numbers, ValueError for another
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
    """The function that gives the value of `f` and its gradient, in one run.

    value_and_grad(f)(x) = (f(x), ∂f/∂x): the program runs forward once, and back once.

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them, that returns one number as a tensor.
        argnums: the number of the argument to differentiate by, or a tuple of numbers; default 0, the first.
        has_aux: whether `f` returns a pair (value, anything else); default False.
        missing: what to give for an argument on which the value does not depend: "zeros" (default), or "error".
    Returns: a function of the same arguments as `f`, which returns the pair (value, gradient). The gradient has the
        form of the argument, and is a tuple where `argnums` is one; with `has_aux` the value is the pair that `f`
        returned. Neither has a graph, unless somebody outside wants its gradient: inside another transform, or where
        `f` reads a tensor that wants one.
    Raises: what `grad` raises, where it does.
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
            inputs = [variables(args[i], f"argument {i} of {name_of(f)}") for i in chosen]
            flat = [leaf for made in inputs for leaf in leaves(made)]
            block.by(flat)
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
            differentiable = block.nested or have_nodes(args) or (block.wanted and lead_elsewhere(value, flat))
            received = received_by(value, None, flat, differentiable=differentiable)
            if not differentiable:
                value, aux = Tensor.of(value._data), without_graph(aux, flat)
            if missing == "error" and any(gradient is None for gradient in received):
                raise _does_not_depend(f, chosen, inputs, received)
        found = iter(or_zeros(received, flat))
        each = tuple(replace_leaves(made, found) for made in inputs)
        outcome = each[0] if isinstance(argnums, int) else each
        return ((value, aux) if has_aux else value), outcome

    return value_and_gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of `f`, and its vector-Jacobian product: what takes an upstream gradient back to each argument.

    With J = ∂f/∂x it is upstream ↦ upstream · J, and J itself is never made. It may be called several times.

    Args:
        f: a function of tensors, numbers, arrays, or pytrees of them; so may be what it returns.
        *primals: its arguments.
    Returns: the pair (value, vjp_function). The value has no graph, unless somebody outside wants its gradient.
        vjp_function(upstream) takes a gradient in the form and the shapes of the
        value, and returns a tuple with one gradient for each argument, in its form.
    Raises: TypeError where `f` cannot be called, or an argument is not made of floats. vjp_function: ValueError for an
        upstream of another form or shape, TypeError for a complex one of a real value.
    Example:
        >>> out, vjp_function = mg.vjp(lambda x: x * x, mg.tensor([1.0, 2.0]))
        >>> vjp_function(mg.tensor([1.0, 10.0]))[0].tolist()
        [2.0, 40.0]

    See: jax.vjp; torch.func.vjp; Baydin et al., "Automatic differentiation in machine learning: a survey", 2018.
    """
    check_function("vjp", f)
    with differentiating() as block:
        inputs = [variables(value, f"argument {i} of {name_of(f)}") for i, value in enumerate(primals)]
        flat = [leaf for made in inputs for leaf in leaves(made)]
        block.by(flat)
        out = f(*inputs)

    def vjp_function(upstream: Any) -> tuple[Any, ...]:
        differentiable = transforming() is not None or have_nodes((primals, upstream)) or (
            grad_enabled() and lead_elsewhere(out, flat)
        )
        found = iter(or_zeros(received_by(out, upstream, flat, differentiable=differentiable), flat))
        return tuple(replace_leaves(made, found) for made in inputs)

    return (out if block.nested or have_nodes(primals) else without_graph(out, flat)), vjp_function


@suggests_keywords
def jacobian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian of `f`: all its first derivatives.

    jacobian(f)(x)[i, j] = ∂f(x)_i / ∂x_j, with i over the axes of the result and j over those of the argument. It takes
    one backward pass for each entry of the result. Of a complex result take the parts apart (`out.real`, `out.imag`),
    or use `mg.jvp`.

    Shapes: x (n) and f(x) (m) -> (m, n); in general (*shape of f(x), *shape of x).
    Args:
        f: a function of tensors, numbers, arrays, or lists, tuples and dictionaries of them, that returns real tensors;
            so may be what it returns.
        argnums: the number of the argument to differentiate by; default 0, the first.
    Returns: a function of the same arguments as `f`, which returns the Jacobian: one tensor, or each part of the result
        in the form of the argument, `jacobian(f)(p)["out"]["weight"]`.
    Raises: TypeError where `f` cannot be called or `argnums` is no whole number. As it is called: TypeError for an
        argument that is not made of floats, and where `f` returns no tensor or a complex one.
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
            made = variables(args[place], f"argument {argnums} of {name_of(f)}")
            flat = list(leaves(made))
            block.by(flat)
            out = f(*args[:place], made, *args[place + 1 :], **kwargs)
        differentiable = block.nested or have_nodes((args, kwargs)) or (block.wanted and lead_elsewhere(out, flat))

        def by_each_input(part: Any) -> Any:
            refuse_other_than_tensor("jacobian", f, part)
            if is_complex(part):
                raise TypeError(
                    f"jacobian: {name_of(f)} returns {part.dtype}; take out.real and out.imag apart, or mg.jvp"
                )
            return replace_leaves(made, iter(_rows(part, flat, differentiable)))

        return map_leaves(out, by_each_input)

    return jacobian_of


def _rows(out: Tensor, inputs: list[Any], differentiable: bool) -> list[Any]:
    """The derivative of every entry of a result by every entry of each input."""
    library = devices.device_of(out._data).library
    if out.size == 0:
        return [Tensor.of(library.zeros((*out.shape, *x.shape), out.dtype)) for x in inputs]
    each = library.eye(out.size, dtype=out.dtype)
    upstreams = [Tensor.of(each[entry].reshape(out.shape)) for entry in range(out.size)]
    rows = [or_zeros(received_by(out, up, inputs, differentiable=differentiable), inputs) for up in upstreams]
    columns = zip(*rows, strict=True)
    return [ops.stack(column).reshape((*out.shape, *x.shape)) for column, x in zip(columns, inputs, strict=True)]


@suggests_keywords
def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Hessian of `f`: all second derivatives, as the Jacobian of the gradient.

    hessian(f)(x)[i, j] = ∂²f(x) / ∂x_i ∂x_j. It takes as many backward passes as x has entries; times one vector,
    `mg.hvp` takes one.

    Shapes: x (n) -> (n, n); in general (*shape of x, *shape of x).
    Args:
        f: a function of tensors, numbers, arrays, or lists, tuples and dictionaries of them, that returns one number as
            a tensor.
        argnums: the number of the argument to differentiate by; default 0, the first.
    Returns: a function of the same arguments as `f`, which returns the Hessian: one tensor, or of a dictionary a
        dictionary of dictionaries, `hessian(f)(p)["a"]["b"]`.
    Raises: what `grad` and `jacobian` raise, where they do.
    Example:
        >>> mg.hessian(lambda x: (x ** 3).sum())(mg.tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]

    See: jax.hessian; torch.func.hessian.
    """
    check_function("hessian", f)
    return jacobian(grad(f, argnums), argnums)


# Small parts ----------------


class differentiating:  # noqa: N801 - it is used as a function is
    """A block one transform deeper, in which gradients are wanted; `nested` says whether this is inside another one,
    where gradients must be differentiable themselves, `wanted` whether they were wanted before it."""

    __slots__ = ("_inputs", "_opened", "nested", "wanted")

    def __enter__(self) -> differentiating:
        self.nested = transforming() is not None
        self._inputs: list[Node] = []
        self._opened = [transforming.begin(self._inputs)]
        self.wanted = grad_enabled()
        if not self.wanted:
            self._opened.append(grad_enabled.begin(True))
        return self

    def by(self, inputs: Iterable[Any]) -> None:
        """Say what is differentiated by: inside the block no plain number is made of what depends on it."""
        self._inputs += [x.node for x in inputs]

    def __exit__(self, *error: object) -> None:
        del self._opened


def variables(value: Any, name: str) -> Any:
    """The same structure, each value as a variable whose gradient is wanted, and which knows where it came from."""

    def made(x: Any, name: str) -> Tensor:
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

    return map_named_leaves(value, made, name)


def received_by(out: Any, upstream: Any, inputs: list[Any], *, differentiable: bool) -> list[Any]:
    """What each input receives; None where the result does not depend on it."""
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
                received = arrived if isinstance(arrived, Tensor) else Tensor.of(arrived)
                total[i] = add_gradient(total[i], received)
    return total


def lead_elsewhere(values: Any, inputs: Sequence[Any]) -> bool:
    """Whether some of these values depend on a leaf that is none of the inputs: who trains it wants to differentiate
    what is found here."""
    ends = {x.node for x in inputs}
    roots = [value.node for value in leaves(values) if getattr(value, "node", None) is not None]
    reached = {parent for node in topological_order(roots, ends) for parent in node.parents}
    return any(node is not None and node.vjp is None and node not in ends for node in reached.union(roots))


def without_graph(values: Any, inputs: Sequence[Any]) -> Any:
    """The same structure, its tensors without their graphs, where those lead to the inputs alone."""

    def plain(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.node is None:
            return value
        return value if lead_elsewhere(value, inputs) else Tensor.of(value._data)

    return map_leaves(values, plain)


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


def have_nodes(value: Any) -> bool:
    """True where a tensor in a nested structure has a graph, or wants a gradient."""
    return any(getattr(leaf, "node", None) is not None for leaf in leaves(value))


def zeros(x: Any) -> Any:
    """What does not move: zeros like a tensor, and for a Python number the number 0."""
    return Tensor.of(devices.zeros_like(x._data)) if isinstance(x, Tensor) else 0.0


def _one_number(f: Callable[..., Any], value: Any) -> None:
    refuse_other_than_tensor("grad", f, value)
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


def refuse_other_than_tensor(transform: str, f: Callable[..., Any], value: Any) -> None:
    """Refuse a result that is not one tensor."""
    if not isinstance(value, Tensor):
        got = f"None; does {name_of(f)} return its result?" if value is None else type(value).__name__
        raise TypeError(f"{transform}: {name_of(f)} must return a tensor, got {got}")
