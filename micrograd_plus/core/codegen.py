"""The same operations as straight code: for each, a caller and two vjps, written from its signatures at its first call.

`operation` says by name what applying an operation means; a dictionary for each application costs more than a small
rule, though. So the same lines are written out here without looking anything up: `print(mg.tanh.source)` shows them,
and tracebacks do. There is one writer and two vocabularies, of arrays and of tensors, that differ in what it is to lift
what was saved, to multiply, to fit and to deposit. Names that begin with an underscore belong to the text, all others
to the operation.

The public function of an operation stays one object for ever, since anyone may hold it: `from micrograd_plus import
tanh`. What changes, at its first call and when a rule is replaced, is its code: Python lets a function be given another
`__code__`. To write all texts at the import would take a tenth of a second, and to look the written function up at each
call 60 ns of the 1000 that a small operation takes.
"""

from __future__ import annotations

import linecache
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ..backends import arrays
from .messages import explain_error
from .modes import gradients_wanted, recording, unfused
from .operation import Op, fitted, make_node, outputs_of
from .recorders import notify, notify_failure
from .residuals import every_upstream, residuals_as_tensors
from .signature import REQUIRED
from .values import TAKE_NUMBERS, check_count, parts_of
from .variable import Gradient, Namespace, Node, Variable, clock
from .vjp_text import OnArrays, OnTensors, function_name, indented, vjp_text

# The public function --------------------------------------


def public_function(op: Op) -> FunctionType:
    """The function users call. Its first call writes its code."""
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
    (`print(mg.tanh.source)`), and for `help` and tab completion the signature of its forward without the namespace."""

    __slots__ = ("_op",)

    def __init__(self, op: Op):
        self._op = op

    def __call__(self, *args: Any, **params: Any) -> Any:  # pragma: no cover - `inspect` wants a callable
        """Apply the operation."""
        return self._op.apply(*args, **params)

    def __repr__(self) -> str:
        if not may_be_written_out(self._op):
            return f"{self._op!r} is applied by name"
        texts = [caller_text(self._op)]
        texts += [vjp_text(self._op, vocabulary) for vocabulary in (OnArrays, OnTensors)] if self._op.rules else []
        return "\n\n".join(texts)

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
    """Write the operation out, where it can be, and call it."""
    if _by_name or not may_be_written_out(op):
        return op.apply(*args, **params)
    write(op)
    return op.call(*args, **params)


def may_be_written_out(op: Op) -> bool:
    """True for an operation whose meaning is `Op`'s own, with rules to write out, or none to need."""
    return type(op) is Op and op.may_be_written_out and bool(op.rules or op.kind == "non-differentiable")


def write(op: Op) -> None:
    """Give the public function of an operation its own code, and its nodes their vjp."""
    call, namespace = op.call, op.call.__globals__
    namespace.update(
        _apply=op.apply, _by_name=op.by_name, _clock=clock, _explained=explain_error, _forward=op.forward,
        _make_node=make_node, _Node=Node, _no_grad=gradients_wanted.open, _notify=notify,
        _notify_failure=notify_failure, _op=op, _outputs=outputs_of, _parts_of=parts_of, _recording=recording.open,
        _Tensor=Variable.public, _unfused=unfused, _unfusing=unfused.open, _wanted=gradients_wanted, _xp=arrays,
    )  # fmt: skip
    named = zip(reversed(op.arguments), reversed(_defaults(op) or ()), strict=False)
    namespace.update({f"_default_{name}": value for name, value in named})
    namespace.update(vjp_namespace(op))
    if op.rules:
        call.vjp = namespace["_vjp"] = _vjp(op)
    call.__code__ = compiled(op.name, caller_text(op), namespace).__code__
    call.__defaults__ = _defaults(op)
    op.written = True


def _vjp(op: Op) -> FunctionType:
    """The vjp of the nodes of an operation; that on tensors is written the first time it is wanted."""
    written = compiled(f"vjp_{op.name}", vjp_text(op, OnArrays), op.call.__globals__)

    def write_and_call(xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient]) -> None:
        on_tensors = compiled(f"vjp_{op.name}_on_tensors", vjp_text(op, OnTensors), op.call.__globals__)
        vars(written)["on_tensors"] = on_tensors
        on_tensors(xp, upstream, node, arrived)

    vars(written).update(op=op, on_tensors=write_and_call, source=op.call.source)
    return written


def vjp_namespace(op: Op) -> dict[str, Any]:
    """What the text of a vjp speaks of."""
    rules = {function_name(rule): rule.function for rule in op.rules}
    return {
        **rules, "_check_count": check_count, "_every_upstream": every_upstream, "_fitted": fitted,
        "_of": Variable.public.of, "_residuals": residuals_as_tensors, "_rules": op.rules,
    }  # fmt: skip


def forget(op: Op) -> None:
    """Drop what was written for rules that have changed since; the next call writes it anew."""
    if op.call is not None:
        op.call.__code__, op.call.__defaults__, op.written = _unwritten.__code__, None, False


Op.rules_changed.append(forget)

_by_name: list[bool] = []


@contextmanager
def by_name(operations: list[Op]) -> Generator[None]:
    """A block in which these operations are applied by name, in every thread: for comparing, and for stepping through
    with a debugger."""
    for op in operations:
        forget(op)
    _by_name.append(True)
    try:
        yield
    finally:
        _by_name.pop()


# The caller -----------------------------------------------


def caller_text(op: Op) -> str:
    """How an operation is applied."""
    tracked = [name for name in op.inputs if op.differentiable(name)]
    lines = [_elsewhere(op)] if knows_words(op) else []
    if op.composite:
        lines.append(f"if _unfusing and _unfused(): return _apply({', '.join(op.arguments)})")
    lines += _take_parts(op) if op.kind == "variadic" else [
        line for name in op.inputs for line in _take(op, name, tracked=name in tracked)
    ]
    lines += _compute(op)
    if tracked:
        wanted = " or ".join(f"_{name}_node is not None" for name in tracked)
        wanted = "any(_nodes)" if op.kind == "variadic" else f"({wanted})" if len(tracked) > 1 else wanted
        lines.append(f"if {wanted} and (not _no_grad or _wanted()):")
        lines += indented(_with_graph(op, tracked))
        lines += ["else:", *indented(_without_graph(op))]
    else:
        lines += _without_graph(op)
    given = op.inputs[0] if op.kind == "variadic" else f"({', '.join(op.inputs)},)"
    lines.append(f"if _recording: _notify(_op, {given}, {_arrays(op)}, {_params_dict(op)}, _result)")
    return "\n".join([f"def {op.name}({', '.join(_signature(op))}):", *indented([*lines, "return _result"])])


def _signature(op: Op) -> Iterator[str]:
    for name in op.arguments:
        if name in op.optional:
            yield f"{name}=None"
        else:
            yield name if name in _required(op) and not knows_words(op) else f"{name}=_default_{name}"
    if knows_words(op):
        yield "**_others"


def knows_words(op: Op) -> bool:
    """Whether an operation goes along an axis, or has parameters that may be left out. PyTorch and NumPy call them
    otherwise, and who does so here is told the word: that takes 17 ns of a call, and is left out elsewhere."""
    return "axis" in op.params or any(value is not REQUIRED for value in op.params.values())


def _elsewhere(op: Op) -> str:
    """The way of a call with other words. They may stand for what must be given, so that nothing is asked for first."""
    missing = "".join(f" or {name} is _default_{name}" for name in _required(op) if name not in op.inputs)
    return f"if _others{missing}: return _apply({', '.join(op.arguments)}, **_others)"


def _required(op: Op) -> list[str]:
    return [name for name in op.arguments if name not in op.optional and op.params.get(name, REQUIRED) is REQUIRED]


def _defaults(op: Op) -> tuple[Any, ...] | None:
    values = {**dict.fromkeys(_required(op), REQUIRED), **dict.fromkeys(op.optional), **op.params}
    return tuple(values[name] for name in op.arguments[0 if knows_words(op) else len(_required(op)) :]) or None


def _take(op: Op, name: str, *, tracked: bool) -> Iterator[str]:
    """The array, and the node, of an input; whatever is no plain tensor goes another way."""
    array, nothing = (f"_{name}, _{name}_node", "None, None") if tracked else (f"_{name}", "None")
    yield f"if type({name}) is _Tensor and {name}.plain: {array} = {name}._data" + (f", {name}.node" if tracked else "")
    if name in op.optional:
        yield f"elif {name} is None: {array} = {nothing}"
    others = " or ".join(f"type({other}) is _Tensor" for other in op.inputs if other != name)
    if op.kind in TAKE_NUMBERS and others:
        number = f"{array} = {name}, None" if tracked else f"{array} = {name}"
        yield f"elif (type({name}) is float or type({name}) is int) and ({others}): {number}"
    yield f"else: return _apply({', '.join(op.arguments)})"


def _take_parts(op: Op) -> list[str]:
    """The same for the parts of a variadic operation."""
    (name,) = op.inputs
    return [
        f"if type({name}) is not list and type({name}) is not tuple: {name} = _parts_of(_op, {name})",
        f"_{name}, _nodes = [], []",
        f"for _part in {name}:",
        f"    if type(_part) is not _Tensor or not _part.plain: return _apply({', '.join(op.arguments)})",
        f"    _{name}.append(_part._data)",
        "    _nodes.append(_part.node)",
    ]


def _compute(op: Op) -> list[str]:
    params = [f"{name}={name}" for name in op.params]
    forward = f"_forward({', '.join(['_xp', *(f'_{name}' for name in op.inputs), *params])})"
    lines = [
        "try:",
        f"    {', '.join(['_out', *op.residuals])} = {forward}",
        "except Exception as _error:",
        f"    raise _notify_failure(_explained(_op, _error, {_arrays(op)}, {_params_dict(op)})) from _error",
    ]
    if op.kind == "linear":  # of real numbers, only these make complex ones
        lines.append(f"if _out.dtype.kind == 'c': return _by_name([{', '.join(op.inputs)}], {_params_dict(op)})")
    return lines


def _without_graph(op: Op) -> list[str]:
    if op.outputs:
        return ["_result = tuple([_Tensor.of(_part) for _part in _out])"]
    return ["_result = _Tensor()", "_result._data, _result.node, _result.plain = _out, None, True"]


def _with_graph(op: Op, tracked: list[str]) -> list[str]:
    parents = "_nodes" if op.kind == "variadic" else (
        f"({', '.join(f'_{n}_node' if n in tracked else 'None' for n in op.inputs)},)"
    )
    saved = f"({''.join(f'{_saved(op, name, tracked)}, ' for name in op.saves).rstrip()})"
    if op.outputs or op.kind == "variadic":
        node = f"_make_node(_op.vjp_of(_out), {parents}, {saved}, _out)"
        result = "_outputs(_node, _out)" if op.outputs else "_Tensor.of(_out, _node)"
        return [f"_node = {node}", f"_result = {result}"]
    return [
        "_node = _Node()",
        f"_node.vjp, _node.parents, _node.saved = _vjp, {parents}, {saved}",
        "_node.created, _node.shape_dtype = _clock(), (_out.shape, _out.dtype)",
        "_result = _Tensor()",
        "_result._data, _result.node, _result.plain = _out, _node, True",
    ]


def _saved(op: Op, name: str, tracked: list[str]) -> str:
    """What is saved under a name: None where no rule that reads it will run."""
    readers = {wanted for rule in op.rules if name in rule.saves for wanted in rule.inputs}
    value = _at_hand(op, name)
    if not readers or readers >= set(tracked) or op.kind == "variadic" or name in op.always_saved:
        return value
    wanted = " and ".join(f"_{reader}_node is None" for reader in tracked if reader in readers)
    return f"None if {wanted} else {value}"


def _at_hand(op: Op, name: str) -> str:
    """How the caller's text says what a rule calls `name`."""
    said = f"_{name}" if name in (*op.inputs, "out") else name
    if name.endswith("_mask"):
        (rule,) = (rule for rule in op.rules if name in rule.saves)
        reads = ("_xp" if read == "xp" else _at_hand(op, read) for read in rule.reads)
        said = f"{function_name(rule)}({', '.join(reads)})"
    elif name.endswith("_shape") and name.removesuffix("_shape") in op.inputs:
        array = f"_{name.removesuffix('_shape')}"
        said = f"[_part.shape for _part in {array}]" if op.kind == "variadic" else f"{array}.shape"
    elif name in op.outputs:
        said = "_out" if len(op.outputs) == 1 else f"_out[{op.outputs.index(name)}]"
    return said


def _arrays(op: Op) -> str:
    return f"_{op.inputs[0]}" if op.kind == "variadic" else f"[{', '.join(f'_{name}' for name in op.inputs)}]"


def _params_dict(op: Op) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in op.params) + "}"


def compiled(name: str, text: str, namespace: dict[str, Any]) -> FunctionType:
    """The function that a text defines; tracebacks show its lines."""
    filename = f"<written out: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    before = namespace.get(text[4 : text.index("(")])
    exec(compile(text, filename, "exec"), namespace)
    written = namespace.pop(text[4 : text.index("(")])
    if before is not None:
        namespace[written.__name__] = before
    return written
