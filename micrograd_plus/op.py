"""Defining operations: a forward, one gradient rule per input, and a kind that is a promise.

    @elementwise(x=lambda out: 1 - out * out)
    def tanh(xp, x):
        return xp.tanh(x)

`application.py` says what applying an operation means. Here are the decorators, and the functions that users call.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .application import Op, writer
from .readings import vocabulary
from .rule import KINDS, mask, real_only

__all__ = [
    "Op", "constant", "elementwise", "face", "joining", "linear", "mask", "multilinear", "op", "operations", "phrase",
    "real_only",
]  # fmt: skip


def public_call(op: Op) -> FunctionType:
    """The function users call. It stays the same object when its code is written out, so anyone may hold it."""
    namespace: dict[str, Any] = {"__name__": op.forward.__module__, "_op": op, "_first_call": first_call}
    call = FunctionType(_unwritten.__code__, namespace, op.name)
    call.__doc__ = op.forward.__doc__
    call.__module__ = op.forward.__module__
    call.__qualname__ = op.name
    shown = Source(op)
    vars(call).update(op=op, rule=op.rule, source=shown, __wrapped__=shown)
    return call


class Source:
    """What there is to see of an operation, made when somebody looks: its written-out code, to be printed
    (`print(mg.tanh.source)`), and for `help` and tab completion the signature of its forward without the vocabulary."""

    __slots__ = ("_op",)

    def __init__(self, op: Op):
        self._op = op

    def __call__(self, *args: Any, **params: Any) -> Any:  # pragma: no cover - `inspect` wants a callable
        """Apply the operation."""
        return self._op.apply(*args, **params)

    def __repr__(self) -> str:
        if writer.room is None or not self._op.may_be_written_out:
            return f"{self._op!r} is applied by name"
        return writer.room.source(self._op)

    @property
    def __signature__(self) -> Any:
        from inspect import Parameter, signature

        whole = signature(self._op.forward)
        either = Parameter.POSITIONAL_OR_KEYWORD
        required = [p.replace(kind=either) for p in list(whole.parameters.values())[1:]]
        order = sorted(required, key=lambda p: p.default is not Parameter.empty)
        return whole.replace(parameters=order)


def _unwritten(*args: Any, **params: Any) -> Any:
    return _first_call(_op, args, params)  # type: ignore[name-defined] # noqa: F821 - both are in its namespace


def first_call(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Write the caller out, where that room exists, and call."""
    if writer.room is not None and op.rules and op.may_be_written_out:
        writer.room.write_caller(op)
        return op.call(*args, **params)
    return op.apply(*args, **params)


def rewrite(op: Op) -> None:
    """Forget the text of an operation whose rules have changed."""
    if op.call is None:
        return
    op.call.__code__, op.call.__defaults__ = _unwritten.__code__, None
    if writer.room is not None:
        writer.room.forget(op)


Op.rules_changed.append(rewrite)


def register(op: Op) -> Callable[..., Any]:
    """Make an operation a word of every reading, and return its public function."""
    op.call = public_call(op)
    setattr(vocabulary.tensors, op.name, op.call)
    if op.forward.__code__.co_names != (op.name,):  # a forward that only says its own word would call itself
        vocabulary.define(op.name, output_alone(op.forward) if op.keeps else op.forward)
    operations[op.name] = op
    return op.call


def output_alone(forward: FunctionType) -> Callable[..., Any]:
    """A forward without what it keeps for its rules."""

    def output(*args: Any, **params: Any) -> Any:
        return forward(*args, **params)[0]

    return output


def face(call: Any, *, word: bool = False) -> Callable[[Any], Any]:
    """A decorator for the function that users call in front of an operation, to bring its arguments into form. With
    `word` it is also what the tensor reading calls."""

    def define(function: Any) -> Any:
        function.op, function.rule, function.source = call.op, call.rule, call.source
        if word:
            setattr(vocabulary.tensors, call.op.name, function)
        return function

    return define


operations: dict[str, Op] = {}
"""Every operation by its name, in order of definition."""


def _kind(kind: str, **options: Any) -> Callable[..., Any]:
    def with_rules(*forgotten: Any, **rules: FunctionType) -> Callable[[FunctionType], Callable[..., Any]]:
        if forgotten:
            raise TypeError(f"@{kind} takes rules by the names of the inputs: @{kind}(x=lambda ...), then the function")

        def define(forward: FunctionType) -> Callable[..., Any]:
            made = Op(forward, kind, **options)
            for name, function in rules.items():
                made.add_rule((name,), function)
            return register(made)

        return define

    with_rules.__name__ = with_rules.__qualname__ = kind
    with_rules.__doc__ = (
        f"A decorator that makes an operation of its forward: {KINDS[kind]}.\n\n"
        f"`@mg.{kind}(x=rule)` stands above `def NAME(xp, x): ...`; a rule serves the input it is named after, and its "
        f"parameters say what it reads."
    )
    return with_rules


elementwise = _kind("elementwise")
linear = _kind("linear")
multilinear = _kind("multilinear")
joining = _kind("joining")


def phrase(function: FunctionType) -> FunctionType:
    """A decorator for a function made of operations, which rules may use as a word on tensors."""
    setattr(vocabulary.tensors, function.__name__, function)
    return function


def constant(forward: FunctionType) -> Callable[..., Any]:
    """An operation whose result carries no graph: a comparison, an index, a draw."""
    return register(Op(forward, "constant"))


def op(
    forward: FunctionType | None = None,
    *,
    outputs: tuple[str, ...] = (),
    keeps: tuple[str, ...] = (),
    constants: tuple[str, ...] = (),
) -> Any:
    """An operation of the general kind; its rules are given with `@NAME.rule(input)`.

    `outputs` names several results. `keeps` names what the forward returns after its output for the rules to read;
    of these, `constants` (a mask, an index) have no gradient of their own.
    """

    def define(forward: FunctionType) -> Callable[..., Any]:
        return register(Op(forward, "general", outputs=outputs, keeps=keeps, constants=constants))

    return define if forward is None else define(forward)
