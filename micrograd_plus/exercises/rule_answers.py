"""Rules of an operation combined into one answer, as a student submits it: what each input receives, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..backends import devices
from ..core.apply import Op
from ..core.composite import ChainRule
from ..tensor import tensor

np = devices.device("cpu").library
ENGINE = devices.device("cpu").namespace
Functions = list[tuple[tuple[str, ...], Any]]
"""Functions in the form of rules, each with the inputs that it serves."""


def takes_all_values(function: Any) -> Any:
    """Decorator for an answer that is called with all readable values by name, and with `xp`."""
    function.takes_all_values = True
    return function


def can_unbroadcast(shape: tuple[int, ...], want: tuple[int, ...]) -> bool:
    """Return whether broadcasting can turn the shape `want` into `shape`."""
    aligned = zip(reversed(shape), reversed(want), strict=False)
    return len(shape) >= len(want) and all(n in (m, 1) for m, n in aligned)


def unbroadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting as the engine does. An array that cannot result from broadcasting stays unchanged."""
    return ENGINE.sum_to_shape(x, shape) if can_unbroadcast(x.shape, shape) else x


def combine(
    op: Op, served: tuple[str, ...], functions: Iterable[tuple[tuple[str, ...], Any]], *, whole: bool = False,
    undo: Callable[[Any, tuple[int, ...]], Any] = unbroadcast,
) -> Callable[..., Any]:  # fmt: skip
    """Combine rules into one answer for the inputs `served`.

    If the answer is `whole`, it also does the engine's part: it multiplies a local derivative by upstream, and undoes
    broadcasting with `undo`.
    """
    functions = list(functions)

    @takes_all_values
    def answer(values: dict[str, Any], xp: Any) -> Any:
        contributions: dict[str, Any] = {}
        for inputs, function in functions:
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            returned = function(*[{**values, "xp": xp}[name] for name in names])
            contributions |= dict(zip(inputs, returned if len(inputs) > 1 else (returned,), strict=True))
        if op.kind == "variadic":
            return list(contributions[served[0]])
        return {name: contributions[name] for name in served if contributions[name] is not None}

    @takes_all_values
    def whole_answer(values: dict[str, Any], xp: Any) -> Any:
        contributions = answer(values, xp)
        if op.kind == "variadic":
            return contributions
        if op.kind == "elementwise":
            contributions = {name: values["upstream"] * local for name, local in contributions.items()}
        return {name: undo(np.asarray(each), values[f"{name}_shape"]) for name, each in contributions.items()}

    return whole_answer if whole else answer


def right_answer(op: Op, served: tuple[str, ...], whole: bool) -> Callable[..., Any]:
    """Return the engine's own rules as one answer."""
    rules = [rule for rule in op.rules if set(rule.inputs) & set(served)]
    if any(isinstance(rule, ChainRule) for rule in rules):
        return chain_rule_answer(op, served)
    return combine(op, served, [(rule.inputs, rule.function) for rule in rules], whole=whole)


def chain_rule_answer(op: Op, served: tuple[str, ...]) -> Callable[..., Any]:
    """Return the answer for a composite that has no rule: run the engine's walk through its steps."""

    @takes_all_values
    def answer(values: dict[str, Any], xp: Any) -> Any:
        leaves = {name: tensor(values[name], requires_grad=True) for name in served if values[name] is not None}
        inputs = [leaves.get(name, values[name]) for name in op.inputs]
        op.call_with(inputs, {name: values[name] for name in op.params}).backward(values["upstream"])
        return {name: np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for name, leaf in leaves.items()}

    return answer
