"""Functions in the form of rules, made into one answer as a student hands it in: what is sent to each input in
order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..backends import devices
from ..core.apply import Op

np = devices.device("cpu").library
ENGINE = devices.device("cpu").namespace


def adapted(op: Op, served: tuple[str, ...], functions: Iterable[tuple[tuple[str, ...], Any]]) -> Callable[..., Any]:
    """Functions in the form of rules as one answer, which is called with everything there is to read."""
    functions = list(functions)

    def answer(named: dict[str, Any], xp: Any) -> Any:
        sent: dict[str, Any] = {}
        for inputs, function in functions:
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            got = function(*[{**named, "xp": xp}[name] for name in names])
            sent |= dict(zip(inputs, got if len(inputs) > 1 else (got,), strict=True))
        if op.kind == "variadic":
            return list(sent[served[0]])
        return {name: sent[name] for name in served if sent[name] is not None}

    answer.takes_everything = True
    return answer


def undone(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcasting undone, as the engine does it; what cannot have been broadcast stays as it is."""
    return ENGINE.sum_to_shape(x, shape) if may_be_undone(x.shape, shape) else x


def may_be_undone(shape: tuple[int, ...], want: tuple[int, ...]) -> bool:
    """Whether broadcasting can have made one shape of the other."""
    aligned = zip(reversed(shape), reversed(want), strict=False)
    return len(shape) >= len(want) and all(n in (m, 1) for m, n in aligned)


def adapted_whole(
    op: Op, served: tuple[str, ...], functions: Iterable[tuple[tuple[str, ...], Any]],
    undo: Callable[[Any, tuple[int, ...]], Any] = undone,
) -> Callable[..., Any]:  # fmt: skip
    """The same with the engine's part of it: a local derivative times upstream, and broadcasting undone."""
    sent_by = adapted(op, served, functions)

    def answer(named: dict[str, Any], xp: Any) -> Any:
        sent = sent_by(named, xp)
        if op.kind == "elementwise":
            sent = {name: named["upstream"] * value for name, value in sent.items()}
        if op.kind == "variadic":
            return sent
        return {name: undo(np.asarray(value), named[f"{name}_shape"]) for name, value in sent.items()}

    answer.takes_everything = True
    return answer
