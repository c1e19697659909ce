"""Loops and branches: `scan`, `cond` and `while_loop`.

Python's own `for`, `if` and `while` can be differentiated as well. These functions take time linear in the number of
steps (indexing `x[t]` in a loop costs more and more, as each step's gradient is as large as `x`), and `scan`
can trade memory for time. The carry may be a tensor, or a pytree of tensors: nested lists, tuples and
dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .. import ops
from ..core.messages import check_count, check_function
from ..core.variable import Variable
from ..pytrees import leaves, map_leaves, matching_leaves, replace_leaves
from ..tensor import Tensor
from .checkpoint import checkpoint


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    *,
    length: int | None = None,
    reverse: bool = False,
    outputs: str = "every",
    checkpoint_every: int | None = None,
) -> tuple[Any, Any]:
    """Run a loop with a carry; return the last carry and the stacked outputs of all steps.

        for x in xs:
            carry, y = f(carry, x)

    along the first axis of `xs`. Tensors that all steps share can be captured by `f`. The time is linear in the number
    of steps, while a loop over `x[t]` computes a gradient as large as `x` at each step.

    Shapes: xs (T, ...) -> x (...) at each step; y (...) -> ys (T, ...).
    Args:
        f: a function f(carry, x) that returns the pair (carry, y); y may be None.
        carry: the first carry: a number, a tensor, or a pytree of them. Its structure and shapes must stay the same.
        xs: a tensor, or nested tensors of one first length; None (default) gives every step None.
        length: the number of steps; required without `xs`.
        reverse: whether to start with the last x; each y keeps the index of its x. Default False.
        outputs: "every" (default), or "last" to return only the y of the last step.
        checkpoint_every: keep only every n-th carry, and compute the steps between again in the backward pass; with n
            near √T, memory grows as √T. Default None, keep all.
    Returns: the pair (carry, ys); without steps, or if every y is None, ys is None.
    Raises: TypeError if `f` cannot be called or returns no pair. ValueError if lengths differ or the number of steps is
        unknown, if the carry changes its structure, if y is None in some steps only, and for other `outputs`.
    Example:
        >>> def grow(total, x):
        ...     return total + x, total * x
        >>> total, products = mg.scan(grow, 0.0, mg.tensor([1.0, 2.0, 3.0]))
        >>> total.item(), products.tolist()
        (6.0, [0.0, 2.0, 9.0])

    See: jax.lax.scan; torch._higher_order_ops.scan.
    """
    check_function("scan", f)
    if outputs not in ("every", "last"):
        raise ValueError(f"scan: outputs must be 'every' or 'last', got {outputs!r}")
    if checkpoint_every is not None:
        check_count("scan: checkpoint_every", checkpoint_every, 1)
    steps = _steps(xs, length)
    steps = steps[::-1] if reverse else steps
    carry = _as_tensors(carry, "scan: the carry")
    ys: list[Any] = []
    if checkpoint_every is None:
        carry, ys = _run(f, carry, steps, outputs)
    else:
        for start in range(0, len(steps), checkpoint_every):
            carry, made = checkpoint(_run, f, carry, steps[start : start + checkpoint_every], outputs)
            if outputs == "last":
                ys.clear()
            ys += made
    if not ys or outputs == "last":
        return carry, ys[-1] if ys else None
    return carry, _stack_outputs(ys[::-1] if reverse else ys)


def _steps(xs: Any, length: int | None) -> list[Any]:
    """Return the x of each step."""
    if length is not None:
        check_count("scan: length", length, 0)
    xs = map_leaves(xs, lambda value: None if value is None else _as_tensors(value, "scan: xs"))
    lengths = {_length(value) for value in leaves(xs) if value is not None}
    lengths |= set() if length is None else {length}
    if len(lengths) != 1:
        said = f"lengths {sorted(lengths)} differ" if lengths else "neither xs nor length says how many steps there are"
        raise ValueError(f"scan: {said}")
    (count,) = lengths
    rows = [[None] * count if value is None else ops.unstack(value) for value in leaves(xs)]
    return [replace_leaves(xs, iter([row[i] for row in rows])) for i in range(count)]


def _length(x: Tensor) -> int:
    if not x.shape:
        raise ValueError("scan: goes along the first axis of xs, and a tensor of shape () has none")
    return x.shape[0]


def _run(f: Callable[[Any, Any], tuple[Any, Any]], carry: Any, steps: list[Any], outputs: str) -> tuple[Any, list[Any]]:
    """Run the steps, and return the last carry and all outputs."""
    ys: list[Any] = []
    for x in steps:
        result = f(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            got = type(result).__name__
            raise TypeError(f"scan: f must return (carry, y), got {got}; without outputs return (carry, None)")
        after, y = _as_tensors(result[0], "scan: the carry"), result[1]
        _check_carry(carry, after)
        carry = after
        if outputs == "last":
            ys.clear()
        ys.append(y)
    return carry, ys


def _check_carry(before: Any, after: Any) -> None:
    """Raise ValueError if a step changed the structure or the shapes of the carry."""
    forms = [_structure(value) for value in (before, after)]
    if forms[0] != forms[1]:
        raise ValueError(f"scan: the carry went in as {forms[0]} and came out as {forms[1]}; it must keep its form")


def _structure(value: Any) -> Any:
    """Return the structure of a carry, with shapes instead of tensors."""
    return map_leaves(value, lambda leaf: getattr(leaf, "shape", leaf))


def _stack_outputs(ys: list[Any]) -> Any:
    """Return the outputs of all steps, stacked along a new first axis."""
    rows = zip(*(matching_leaves(y, ys[0], "scan: each y") for y in ys), strict=True)
    return replace_leaves(ys[0], iter([_stack_leaf(row) for row in rows]))


def _stack_leaf(row: tuple[Any, ...]) -> Any:
    """Stack one leaf of the outputs of all steps; None if there are none."""
    if any(part is None for part in row):
        if not all(part is None for part in row):
            raise ValueError("scan: y is None in some steps and a value in others; return one in all or in none")
        return None
    return ops.stack(row)


def cond(pred: Any, f: Callable[..., Any], g: Callable[..., Any], *args: Any) -> Any:
    """Call `f(*args)` if the condition is true, else `g(*args)`.

    Only one branch runs, so the other one (which may divide by 0, for example) cannot affect the gradient. The
    condition has no gradient. To choose for each entry use `mg.where`.

    Args:
        pred: a single boolean: a bool, a number, or a tensor of one entry.
        f: the function to call if `pred` is true.
        g: the function to call if it is false.
        *args: the arguments of both.
    Returns: the result of the function called.
    Raises: TypeError if a function cannot be called, or the condition is not a boolean; ValueError for a condition of
        several entries.
    Example:
        >>> root = lambda x: mg.cond(x > 0, mg.sqrt, lambda x: 0 * x, x)
        >>> mg.grad(root)(-1.0).item(), mg.grad(root)(4.0).item()
        (0.0, 0.25)

    See: jax.lax.cond; torch.cond.
    """
    check_function("cond", f)
    check_function("cond", g)
    return f(*args) if _as_bool("cond", pred) else g(*args)


def while_loop(cond: Callable[[Any], Any], f: Callable[[Any], Any], x: Any, max_iterations: int) -> Any:
    """Repeat x = f(x) while cond(x) is true.

    All steps are in the graph, so gradients flow through each of them; the number of steps has no gradient.

    Args:
        cond: a function of `x` that returns a single boolean.
        f: a function of `x` that returns the next one.
        x: the first value: a number, a tensor, or a pytree of them.
        max_iterations: the maximal number of steps, at least 0.
    Returns: the first `x` for which the condition is false.
    Raises: RuntimeError if the condition is still true after `max_iterations`. TypeError if a function cannot be called
        or `max_iterations` is not a whole number. TypeError or ValueError if a condition is not a single boolean.
    Example:
        >>> mg.while_loop(lambda x: x < 100, lambda x: x * x, mg.tensor(3.0), max_iterations=10).item()
        6561.0

    See: jax.lax.while_loop, which cannot be differentiated in reverse.
    """
    check_function("while_loop", cond)
    check_function("while_loop", f)
    check_count("while_loop: max_iterations", max_iterations, 0)
    x = _as_tensors(x, "while_loop: x")
    for _ in range(max_iterations):
        if not _as_bool("while_loop", cond(x)):
            return x
        x = f(x)
    if _as_bool("while_loop", cond(x)):
        raise RuntimeError(
            f"while_loop: the condition still holds after {max_iterations} iterations; allow more, or mend it"
        )
    return x


def _as_bool(name: str, pred: Any) -> bool:
    """Return a condition as a bool."""
    is_number = hasattr(pred, "__bool__") and hasattr(pred, "__float__")  # also one that mg.compile follows
    shape = getattr(pred, "shape", () if is_number else None)
    if shape is None:
        raise TypeError(f"{name}: a condition must be a single boolean, got {type(pred).__name__}")
    if prod(shape) != 1:
        raise ValueError(f"{name}: a condition must be a single boolean, got shape {shape}; for arrays use mg.where")
    return bool(pred)


def _as_tensors(value: Any, name: str) -> Any:
    """Return the same structure, with numbers and arrays converted to tensors."""
    return map_leaves(value, lambda leaf: leaf if isinstance(leaf, Variable) else Tensor.constant(leaf, name))
