"""Compiled operations: for each, a caller and two vjps, whose text is written and compiled at the first call.

`core.apply` looks everything up by name, in a dictionary for each application, which costs more than a small rule. So
the same steps are written out here as straight-line code: `print(mg.tanh.source)` shows it, and so do tracebacks. Names
that begin with an underscore belong to the text, all others to the operation.

The public function must stay one object, since anyone may hold it: `from micrograd_plus import tanh`. So its code is
replaced, at its first call and when a rule changes. Compiling all texts at import would take a tenth of a second;
looking the compiled function up at each call would cost 60 of the 1000 ns that a small operation takes.
"""

from __future__ import annotations

import linecache
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ...backends import arrays
from .. import backward
from ..apply import KEEP_NUMBERS, Op, as_list, make_node, output_variables
from ..messages import explain_error
from ..modes import grad_enabled, recording, unfused
from ..operation import REQUIRED
from ..runtime.guards import FIXED, keep_parameter
from ..runtime.ownership import array_to_read, lent_array
from ..runtime.recorders import notify, notify_failure
from ..variable import Gradient, Namespace, Node, Variable, clock, ref
from .vjps import function_name, indent, vjp_text


def public_function(op: Op) -> FunctionType:
    """Return the function that users call. Its first call compiles it."""
    namespace: dict[str, Any] = {"__name__": op.forward.__module__, "_op": op, "_first_call": first_call}
    call = FunctionType(_compile_and_call.__code__, namespace, op.name)
    call.__doc__ = op.forward.__doc__
    call.__module__ = op.forward.__module__
    call.__qualname__ = op.name
    source = Source(op)
    vars(call).update(op=op, rule=op.rule, source=source, __wrapped__=source)
    return call


class Source:
    """The compiled text of an operation (`print(mg.tanh.source)`), and what `help` and `mg.tanh??` show."""

    def __init__(self, op: Op):
        self._op, self.__wrapped__ = op, op.forward

    def __call__(self, *args: Any, **params: Any) -> Any:  # pragma: no cover - `inspect` needs a callable
        """Apply the operation."""
        return self._op.apply(*args, **params)

    def __repr__(self) -> str:
        if not is_compilable(self._op):
            return f"{self._op!r} is interpreted"
        texts = [caller_text(self._op)]
        texts += [vjp_text(self._op), vjp_text(self._op, on_tensors=True)] if self._op.rules else []
        return "\n\n".join(texts)

    @property
    def __signature__(self) -> Any:
        from inspect import Parameter, signature

        forward = signature(self._op.forward)
        parameters = [p.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for p in list(forward.parameters.values())[1:]]
        return forward.replace(parameters=sorted(parameters, key=lambda p: p.default is not Parameter.empty))


def _compile_and_call(*args: Any, **params: Any) -> Any:
    return _first_call(_op, args, params)  # type: ignore[name-defined] # noqa: F821 - both are in its namespace


def first_call(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compile an operation, if that is possible, and call it."""
    if _interpreting or not is_compilable(op):
        return op.apply(*args, **params)
    install(op)
    return op.call(*args, **params)


def is_compilable(op: Op) -> bool:
    """Return True if an operation is applied as `Op` says, and has its rules or needs none."""
    return type(op) is Op and op.can_compile and bool(op.rules or op.kind == "non-differentiable")


def install(op: Op) -> None:
    """Compile an operation: give its public function its own code, and its nodes their vjp."""
    call, namespace = op.call, op.call.__globals__
    namespace.update(
        REQUIRED=REQUIRED, _apply=op.apply, _as_list=as_list, _clock=clock, _explain_error=explain_error, _FIXED=FIXED,
        _forward=op.guarded_forward, _grad_enabled=grad_enabled, _interpret=op.interpret,
        _keep_parameter=keep_parameter, _lent_array=lent_array, _array_to_read=array_to_read,
        _make_node=make_node, _new=type.__call__.__get__(Variable.public), _Node=Node,
        _no_grad_blocks=grad_enabled.open, _notify=notify,
        _notify_failure=notify_failure, _op=op, _output_variables=output_variables, _recorders=recording.open,
        _ref=ref, _Tensor=Variable.public, _unfused=unfused, _unfuse_blocks=unfused.open, _xp=arrays,
    )  # fmt: skip
    namespace.update({f"_default_{name}": value for name, value in op.params.items()})
    if op.rules:
        namespace.update(
            {function_name(rule): rule.guarded for rule in op.rules}, _add_gradient=backward.add_gradient,
            _check_count=backward.check_contribution_count, _of=Variable.public.of, _rules=op.rules,
            _own_gradient=backward.own_gradient, _saved_as_tensors=backward.saved_as_tensors,
            _unbroadcast_to=backward.unbroadcast_to, _upstreams_or_zeros=backward.upstreams_or_zeros,
        )  # fmt: skip
        call.vjp = namespace["_vjp"] = _compile_vjp(op)
    caller = compile_text(op.name, caller_text(op), namespace)
    call.__code__, call.__defaults__ = caller.__code__, caller.__defaults__
    op.is_compiled = True


def _compile_vjp(op: Op) -> FunctionType:
    """Return the compiled vjp of an operation's nodes; the vjp on tensors is compiled when it is first used."""
    vjp = compile_text(f"vjp_{op.name}", vjp_text(op), op.call.__globals__)

    def compile_and_call(xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient]) -> None:
        text = vjp_text(op, on_tensors=True)
        vars(vjp)["on_tensors"] = on_tensors = compile_text(f"vjp_{op.name}_on_tensors", text, op.call.__globals__)
        on_tensors(xp, upstream, node, arrived)

    vars(vjp).update(op=op, on_tensors=compile_and_call, source=op.call.source)
    return vjp


def uninstall(op: Op) -> None:
    """Remove the compiled code of an operation whose rules have changed; the next call compiles it again."""
    if op.call is not None:
        op.call.__code__, op.call.__defaults__, op.is_compiled = _compile_and_call.__code__, None, False


Op.on_rules_changed.append(uninstall)
_interpreting: list[bool] = []


@contextmanager
def interpret_all(operations: list[Op]) -> Generator[None]:
    """Interpret these operations in a block, in all threads: for comparison, and to step through with a debugger."""
    for op in operations:
        uninstall(op)
    _interpreting.append(True)
    try:
        yield
    finally:
        _interpreting.pop()


def compile_text(name: str, text: str, namespace: dict[str, Any]) -> FunctionType:
    """Return the function that a text defines; tracebacks show its lines."""
    filename = f"<compiled: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    defined: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), namespace, defined)
    return defined.popitem()[1]


# The caller -----------------------------------------------


def caller_text(op: Op) -> str:
    """Return the text of a public function."""
    tracked = [name for name in op.inputs if op.has_rule_for(name)]
    lines = [_hand_on_keywords(op)] if takes_any_keyword(op) else []
    if op.composite:
        lines.append(f"if _unfuse_blocks and _unfused(): return _apply({', '.join(op.arguments)})")
    each = (line for name in op.inputs for line in _take(op, name, is_tracked=name in tracked))
    lines += _take_parts(op) if op.kind == "variadic" else each
    lines += [*_compute(op), "_node = None"]
    if tracked:
        needed = " or ".join(f"_{name}_node is not None" for name in tracked)
        needed = "any(_nodes)" if op.kind == "variadic" else f"({needed})" if len(tracked) > 1 else needed
        lines += [f"if {needed} and (not _no_grad_blocks or _grad_enabled()):", *indent(_make_node(op, tracked))]
    origin = "(_ref({0}), {0}.origin, _op, ({1}))" if op.is_view else "None"
    origin = origin.format(op.inputs[0], "".join(f"{name}, " for name in op.params))
    lines += [f"_result = _output_variables(_node, _out, {origin})"] if op.outputs else [
        "_result = _new()", "_result._data, _result.node, _result.is_fast = _out, _node, True",
        f"_result.origin = {origin}",
    ]  # fmt: skip
    inputs = f"tuple({op.inputs[0]})" if op.kind == "variadic" else f"({', '.join(op.inputs)},)"
    lines.append(f"if _recorders: _notify(_op, {inputs}, {_arrays(op)}, {_params(op)}, _result)")
    return "\n".join([f"def {op.name}({', '.join(_signature(op))}):", *indent([*lines, "return _result"])])


def _signature(op: Op) -> Iterator[str]:
    """Yield the parameters of the public function."""
    for name in op.arguments:
        default = op.params.get(name, REQUIRED)
        if name in op.optional:
            yield f"{name}=None"
        elif default is not REQUIRED:
            yield f"{name}={default!r}" if type(default) in (bool, int, str, type(None)) else f"{name}=_default_{name}"
        else:
            yield f"{name}=REQUIRED" if takes_any_keyword(op) else name
    if takes_any_keyword(op):
        yield "**_unknown"


def takes_any_keyword(op: Op) -> bool:
    """Return True if the caller takes any keyword, so that the error for `dim=` can suggest `axis=`.

    Other libraries have other names for axes and optional parameters. Python's own error for an unknown keyword cannot
    be changed. Taking any keyword costs 17 ns of a call; a wrapper that catches the error costs 100.
    """
    return "axis" in op.params or any(value is not REQUIRED for value in op.params.values())


def _hand_on_keywords(op: Op) -> str:
    """Return the line for unknown keywords, which may name a required parameter."""
    missing = "".join(f" or {name} is REQUIRED" for name, value in op.params.items() if value is REQUIRED)
    return f"if _unknown{missing}: return _apply({', '.join(op.arguments)}, **_unknown)"


def _take(op: Op, name: str, *, is_tracked: bool) -> Iterator[str]:
    """Yield the lines that take the array (and the node) of an input; anything that is not fast goes to `Op.apply`."""
    array, nothing = (f"_{name}, _{name}_node", "None, None") if is_tracked else (f"_{name}", "None")
    node = f", {name}.node" if is_tracked else ""
    lent = f"_{name}_node = {name}.node" if is_tracked else "pass"
    take = "_array_to_read" if op.kind == "elementwise" and not op.is_view and name not in op.saves else "_lent_array"
    yield f"if type({name}) is _Tensor and {name}.is_fast: {array} = {name}._data{node}"
    if name in op.optional:
        yield f"elif {name} is None: {array} = {nothing}"
    others = " or ".join(f"type({other}) is _Tensor" for other in op.inputs if other != name)
    if op.kind in KEEP_NUMBERS and others:
        number = f"{name}, None" if is_tracked else name
        yield f"elif (type({name}) is float or type({name}) is int) and ({others}): {array} = {number}"
    yield f"elif type({name}) is _Tensor and (_{name} := {take}({name})) is not None: {lent}"
    yield f"else: return _apply({', '.join(op.arguments)})"


def _take_parts(op: Op) -> list[str]:
    """Return the same lines for the parts of a variadic operation."""
    (name,) = op.inputs
    return [
        f"if type({name}) is not list and type({name}) is not tuple: {name} = _as_list(_op, {name})",
        f"_{name}, _nodes = [], []",
        f"for _part in {name}:",
        f"    if type(_part) is not _Tensor or not _part.is_fast: return _apply({', '.join(op.arguments)})",
        f"    _{name}.append(_part._data)",
        "    _nodes.append(_part.node)",
    ]


def _compute(op: Op) -> list[str]:
    """Return the lines that run the forward."""
    params = [f"{name}={name}" for name in op.params]
    forward = f"_forward({', '.join(['_xp', *(f'_{name}' for name in op.inputs), *params])})"
    lines = [
        "try:",
        f"    {', '.join(['_out', *op.residuals])} = {forward}",
        "except Exception as _error:",
        f"    raise _notify_failure(_explain_error(_op, _error, {_arrays(op)}, {_params(op)})) from _error",
    ]
    if op.kind == "linear" and not op.is_view:  # only linear operations make complex numbers from real ones
        lines.append(f"if _out.dtype.kind == 'c': return _interpret([{', '.join(op.inputs)}], {_params(op)})")
    return lines


def _make_node(op: Op, tracked: list[str]) -> list[str]:
    """Return the lines that make the node."""
    inputs = ", ".join(f"_{name}_node" if name in tracked else "None" for name in op.inputs)
    parents = "tuple(_nodes)" if op.kind == "variadic" else f"({inputs},)"
    saved = f"({''.join(f'{_saved_value(op, name, tracked)}, ' for name in op.saves).rstrip()})"
    if op.outputs:
        return [f"_node = _make_node(_op.vjp_for(_out), {parents}, {saved}, _out)"]
    return [
        "_node = _Node()",
        f"_node.vjp, _node.parents, _node.saved = _vjp, {parents}, {saved}",
        "_node.created, _node.shape_dtype = _clock(), (_out.shape, _out.dtype)",
    ]


def _saved_value(op: Op, name: str, tracked: list[str]) -> str:
    """Return the expression that is saved under a name: None if no rule that reads it will run."""
    readers = {reader for rule in op.rules if name in rule.saves for reader in rule.inputs}
    value = _expression(op, name)
    if name in op.params:  # later writes must not reach a parameter that a rule reads
        value = f"({name} if {name} is None or type({name}) in _FIXED else _keep_parameter({name}))"
    if not readers or readers >= set(tracked) or op.kind == "variadic" or name in op.unconditional_saves:
        return value
    unused = " and ".join(f"_{reader}_node is None" for reader in tracked if reader in readers)
    return f"None if {unused} else {value}"


def _expression(op: Op, name: str) -> str:
    """Return the caller's expression for the name that a rule reads."""
    expression = f"_{name}" if name in (*op.inputs, "out") else name
    if name.endswith("_mask"):
        (rule,) = (rule for rule in op.rules if name in rule.saves)
        reads = ("_xp" if read == "xp" else _expression(op, read) for read in rule.reads)
        expression = f"{function_name(rule)}({', '.join(reads)})"
    elif name.endswith("_shape") and name.removesuffix("_shape") in op.inputs:
        array = f"_{name.removesuffix('_shape')}"
        expression = f"[_part.shape for _part in {array}]" if op.kind == "variadic" else f"{array}.shape"
    elif name in op.outputs:
        expression = "_out" if len(op.outputs) == 1 else f"_out[{op.outputs.index(name)}]"
    return expression


def _arrays(op: Op) -> str:
    return f"_{op.inputs[0]}" if op.kind == "variadic" else f"[{', '.join(f'_{name}' for name in op.inputs)}]"


def _params(op: Op) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in op.params) + "}"
