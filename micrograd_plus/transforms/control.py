"""Loops and branches: `scan`, `cond` and `while_loop`.

Python's own `for`, `if` and `while` are differentiated just as well. These say what they mean, cost time linear in the
number of steps (indexing `x[t]` in a loop costs more and more, as each step's gradient is as large as `x`), and `scan`
can trade memory for time. What is carried along may be a tensor, or a pytree of tensors: nested lists, tuples
and dictionaries.
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
    """A loop that carries something along: the last carry, and the outputs of all steps stacked.

        for x in xs:
            carry, y = f(carry, x)

    along the first axis of `xs`. What every step shares, `f` simply reads from outside. It costs time linear in the
    number of steps, where a loop over `x[t]` pays for a gradient as large as `x` at each of them.

    Shapes: xs (T, ...) -> x (...) at each step; y (...) -> ys (T, ...).
    Args:
        f: a function f(carry, x) that returns the pair (carry, y); y may be None.
        carry: what the first step is given: a number, a tensor, or a pytree of them. Its form and shapes stay the same.
        xs: a tensor, or nested tensors of one first length; None (default) gives every step None.
        length: how many steps there are; needed without `xs`.
        reverse: whether the last x comes first, and each y stays at the place of its x; default False.
        outputs: "every" (default), or "last": only the y of the last step is kept.
        checkpoint_every: keep only each so-manyth carry, and compute the steps between again on the way back: near √T,
            memory grows as √T. Default None, keep all.
    Returns: the pair (carry, ys); over no steps at all, or where every y is None, ys is None.
    Raises: TypeError where `f` cannot be called or returns no pair. ValueError where lengths differ or nothing says how
        many steps there are, where the carry comes out in another form than it went in, where y is None in some steps
        only, and for other `outputs`.
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
    carry = _tensors(carry, "scan: the carry")
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
    return carry, _stacked(ys[::-1] if reverse else ys)


def _steps(xs: Any, length: int | None) -> list[Any]:
    """What each step is given."""
    if length is not None:
        check_count("scan: length", length, 0)
    xs = map_leaves(xs, lambda value: None if value is None else _tensors(value, "scan: xs"))
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
    """Step by step, from a carry to the next."""
    ys: list[Any] = []
    for x in steps:
        result = f(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            got = type(result).__name__
            raise TypeError(f"scan: f must return (carry, y), got {got}; without outputs return (carry, None)")
        after, y = _tensors(result[0], "scan: the carry"), result[1]
        _refuse_another_form(carry, after)
        carry = after
        if outputs == "last":
            ys.clear()
        ys.append(y)
    return carry, ys


def _refuse_another_form(before: Any, after: Any) -> None:
    """An error where the carry comes out otherwise than it went in."""
    forms = [_form(value) for value in (before, after)]
    if forms[0] != forms[1]:
        raise ValueError(f"scan: the carry went in as {forms[0]} and came out as {forms[1]}; it must keep its form")


def _form(value: Any) -> Any:
    """The structure of a carry, with the shapes of its tensors."""
    return map_leaves(value, lambda leaf: getattr(leaf, "shape", leaf))


def _stacked(ys: list[Any]) -> Any:
    """The outputs of all steps, side by side along a new first axis."""
    rows = zip(*(matching_leaves(y, ys[0], "scan: each y") for y in ys), strict=True)
    return replace_leaves(ys[0], iter([_side_by_side(row) for row in rows]))


def _side_by_side(row: tuple[Any, ...]) -> Any:
    """The outputs of all steps at one place; where there are none, None."""
    if any(part is None for part in row):
        if not all(part is None for part in row):
            raise ValueError("scan: y is None in some steps and a value in others; return one in all or in none")
        return None
    return ops.stack(row)


def cond(pred: Any, f: Callable[..., Any], g: Callable[..., Any], *args: Any) -> Any:
    """A branch: `f(*args)` if the condition holds, else `g(*args)`.

    Only the one that is taken is computed, so nothing that the other would do (a division by 0, say) reaches the
    gradient. The condition itself has none. For a choice in each entry there is `mg.where`.

    Args:
        pred: one yes or no: a bool, a number, or a tensor of one entry.
        f: the function for yes.
        g: the function for no.
        *args: what either is given.
    Returns: what the function that is taken returns.
    Raises: TypeError where a function cannot be called, or the condition is neither yes nor no; ValueError for a
        condition of several entries.
    Example:
        >>> root = lambda x: mg.cond(x > 0, mg.sqrt, lambda x: 0 * x, x)
        >>> mg.grad(root)(-1.0).item(), mg.grad(root)(4.0).item()
        (0.0, 0.25)

    See: jax.lax.cond; torch.cond.
    """
    check_function("cond", f)
    check_function("cond", g)
    return f(*args) if _truth("cond", pred) else g(*args)


def while_loop(cond: Callable[[Any], Any], f: Callable[[Any], Any], x: Any, max_iterations: int) -> Any:
    """A loop as long as a condition holds: x = f(x) while cond(x).

    Each step is part of the graph, so the gradient is that of the steps taken; how many there are has none.

    Args:
        cond: a function of `x` that returns one yes or no.
        f: a function of `x` that returns the next one.
        x: where to begin: a number, a tensor, or a pytree of them.
        max_iterations: how many steps there may be, at least 0.
    Returns: the first `x` for which the condition does not hold.
    Raises: RuntimeError where it still holds after `max_iterations`. TypeError where a function cannot be called or
        `max_iterations` is no whole number, and with ValueError where a condition is not one yes or no.
    Example:
        >>> mg.while_loop(lambda x: x < 100, lambda x: x * x, mg.tensor(3.0), max_iterations=10).item()
        6561.0

    See: jax.lax.while_loop, which cannot be differentiated in reverse.
    """
    check_function("while_loop", cond)
    check_function("while_loop", f)
    check_count("while_loop: max_iterations", max_iterations, 0)
    x = _tensors(x, "while_loop: x")
    for _ in range(max_iterations):
        if not _truth("while_loop", cond(x)):
            return x
        x = f(x)
    if _truth("while_loop", cond(x)):
        raise RuntimeError(
            f"while_loop: the condition still holds after {max_iterations} iterations; allow more, or mend it"
        )
    return x


def _truth(name: str, pred: Any) -> bool:
    """A condition as yes or no."""
    shape = getattr(pred, "shape", () if isinstance(pred, (bool, int, float)) else None)
    if shape is None:
        raise TypeError(f"{name}: a condition must be a single boolean, got {type(pred).__name__}")
    if prod(shape) != 1:
        raise ValueError(f"{name}: a condition must be a single boolean, got shape {shape}; for arrays use mg.where")
    return bool(pred)


def _tensors(value: Any, name: str) -> Any:
    """The same structure, numbers and arrays in it as tensors; a tensor stays what it is."""
    return map_leaves(value, lambda leaf: leaf if isinstance(leaf, Variable) else Tensor.constant(leaf, name))
