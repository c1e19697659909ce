"""The same operations, written out: straight code for each, made from its signature the first time it is called.

`op.py` says by name what applying an operation means, and how its rules are called; that is what runs while anything is
recorded. For everyday use the same lines are written out here without looking anything up. To see what is saved and
what is called: `print(mg.tanh.source)`. Delete this file and everything still works, more slowly; a test holds the two
equal on every sample.

Names that begin with an underscore belong to the text, all others to the operation.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .application import Op, fitted, writer
from .hints import explained
from .readings import arrays, floats
from .rule import REQUIRED, TAKE_NUMBERS, Rule
from .variable import EMPTY, Node, Variable, birth, modes, tell


def write_caller(op: Op) -> None:
    """Give the public function of an operation its own code."""
    namespace = op.call.__globals__
    namespace.update(
        _apply=op.apply, _birth=birth, _EMPTY=EMPTY, _explained=explained, _fit=fit, _forward=op.forward, _modes=modes,
        _Node=Node, _op=op, _pull=pull(op), _tell=tell, _Tensor=Variable.public,
        _xp=arrays,
    )  # fmt: skip
    namespace.update({f"_default_{name}": value for name, value in op.params.items()})
    op.call.__code__ = _compiled(op.name, caller_text(op), namespace).__code__
    op.call.__defaults__ = _defaults(op)


def pull(op: Op) -> FunctionType:
    """The written-out way back through an operation; made once."""
    namespace = op.call.__globals__
    if "_pull" not in namespace:
        namespace.update(_EMPTY=EMPTY, _fit=fit, _op=op)
        for rule in op.rules:
            namespace[_function(rule)] = rule.function
        written = _compiled(f"pull_{op.name}", pull_text(op), namespace)
        vars(written).update(op=op, on_tensors=first_on_tensors(op))
        namespace["_pull"] = written
    return namespace["_pull"]


def first_on_tensors(op: Op) -> Callable[..., None] | None:
    """What is called the first time a gradient on tensors goes back through the operation: it writes the text, which is
    called from then on. None where kept values are to be kept again: that is done by name."""
    if set(op.keeps) - op.constants:
        return None

    def write_and_pull(xp: Any, upstream: Any, node: Node) -> None:
        namespace = op.call.__globals__
        namespace.update(_of=Variable.public.of, _fit_on_tensors=fit_on_tensors)
        written = _compiled(f"pull_on_tensors_{op.name}", pull_on_tensors_text(op), namespace)
        node.pull.on_tensors = written
        written(xp, upstream, node)

    return write_and_pull


def pull_number(op: Op, fixed: tuple[str, ...] = ()) -> FunctionType:
    """The way back through an operation on `Value`s; the inputs that are `fixed` are plain numbers."""
    namespace = {**op.call.__globals__, "_floats": floats}
    namespace.update({_function(rule): rule.function for rule in op.rules})
    return _compiled(f"pull_number_{op.name}", pull_number_text(op, fixed), namespace)


def forget(op: Op) -> None:
    """Drop what was written for rules that have changed since."""
    op.call.__globals__.pop("_pull", None)


def source(op: Op) -> str:
    """Everything that is written out for an operation, to be read."""
    texts = [caller_text(op), pull_text(op)]
    return "\n\n".join(texts if set(op.keeps) - op.constants else [*texts, pull_on_tensors_text(op)])


def fit(op: Op, name: str, sent: Any, like: Any, xp: Any, upstream: Any) -> Any:
    """What a rule sent, made to fit; or the error that by-name application gives."""
    try:
        return xp.fit(sent, like) if sent.shape != like[0] or sent.dtype != like[1] else xp.own(sent, upstream)
    except ValueError:
        op.check_fits(next(rule for rule in op.rules if name in rule.inputs), name, sent, like)
        raise


def fit_on_tensors(op: Op, name: str, sent: Any, like: Any, xp: Any) -> Any:
    """The same on tensors."""
    try:
        return fitted(xp, sent, like)
    except ValueError:
        op.check_fits(next(rule for rule in op.rules if name in rule.inputs), name, sent, like)
        raise


# The text -------------------------------------------------


def caller_text(op: Op) -> str:
    """How the operation is applied."""
    names = op.arguments
    tracked = [name for name in op.inputs if op.differentiable(name)]
    given = ", ".join(f"_{name}" for name in op.inputs)
    saved = ", ".join(_saved(op, name, tracked) for name in op.saves)
    return "\n".join(
        [
            f"def {op.name}({', '.join(_signature(op))}):",
            f"    if _modes.special: return _apply({', '.join(names)})",
            *_indent(line for name in op.inputs for line in _take(op, name, name in tracked)),
            "    try:",
            f"        {_forward_targets(op)} = _forward(_xp, {', '.join(_forward_arguments(op))})",
            "    except Exception as _error:",
            f"        raise _explained(_op, _error, [{given}], {_params_dict(op)}) from _error",
            *([f"    if _out.dtype.kind == 'c': return _apply({', '.join(names)})"] if op.kind == "linear" else []),
            "    _result = _Tensor()",
            "    _result._data = _out",
            f"    if {' and '.join(f'_{name}_node is None' for name in tracked) or 'True'}:",
            "        _result.node = None",
            f"        {_tell(op)}",
            "        return _result",
            "    _node = _Node()",
            f"    _node.parents = ({', '.join(f'_{n}_node' if n in tracked else 'None' for n in op.inputs)},)",
            f"    _node.saved = ({saved},)" if saved else "    _node.saved = ()",
            "    _node.like = (_out.shape, _out.dtype)",
            "    _node.pull, _node.serial, _node.accumulator = _pull, _birth(), None",
            "    _result.node = _node",
            f"    {_tell(op)}",
            "    return _result",
        ]
    )


def _tell(op: Op) -> str:
    inputs, data = (f"({', '.join(f'{mark}{name}' for name in op.inputs)},)" for mark in ("", "_"))
    return f"if _modes.recording: _tell(_op, {inputs}, {data}, {_params_dict(op)}, _result)"


def _signature(op: Op) -> Iterator[str]:
    for name in op.arguments:
        if name in op.optional:
            yield f"{name}=None"
        else:
            yield name if op.params.get(name, REQUIRED) is REQUIRED else f"{name}=_default_{name}"


def _defaults(op: Op) -> tuple[Any, ...] | None:
    wanted = [value for value in op.params.values() if value is not REQUIRED]
    return (*[None] * len(op.optional), *wanted) or None


def _take(op: Op, name: str, tracked: bool) -> Iterator[str]:
    """An input's array, and the node that wants its gradient."""
    taken = f"_{name}, _{name}_node = {name}._data, {name}.node" if tracked else f"_{name} = {name}._data"
    yield f"if type({name}) is _Tensor: {taken}"
    nothing = f"_{name} = _{name}_node = None" if tracked else f"_{name} = None"
    if name in op.optional:
        yield f"elif {name} is None: {nothing}"
    if op.kind in TAKE_NUMBERS and len(op.inputs) > 1:
        others = " or ".join(f"type({other}) is _Tensor" for other in op.inputs if other != name)
        number = f"_{name}, _{name}_node = {name}, None" if tracked else f"_{name} = {name}"
        yield f"elif (type({name}) is float or type({name}) is int) and ({others}): {number}"
    yield f"else: return _apply({', '.join(op.arguments)})"


def _forward_targets(op: Op) -> str:
    return ", ".join(["_out", *op.keeps])


def _forward_arguments(op: Op) -> list[str]:
    return [*(f"_{name}" for name in op.inputs), *(f"{name}={name}" for name in op.params)]


def _params_dict(op: Op) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in op.params) + "}"


def _saved(op: Op, name: str, tracked: list[str]) -> str:
    """What is saved under a name: None where no rule that reads it will run."""
    readers = {wanted for rule in op.rules if name in rule.saves for wanted in rule.inputs}
    value = _at_hand(op, name)
    if not readers or readers >= set(tracked):
        return value
    wanted = " and ".join(f"_{reader}_node is None" for reader in tracked if reader in readers)
    return f"None if {wanted} else {value}"


def _at_hand(op: Op, name: str) -> str:
    """How the caller's text says what a rule calls `name`."""
    if name.endswith("_mask"):
        (rule,) = (rule for rule in op.rules if name in rule.saves)
        return f"{_function(rule)}({', '.join('_xp' if read == 'xp' else _at_hand(op, read) for read in rule.reads)})"
    if name.endswith("_shape") and name.removesuffix("_shape") in op.inputs:
        return f"_{name.removesuffix('_shape')}.shape"
    return f"_{name}" if name in (*op.inputs, "out") else name


def pull_text(op: Op) -> str:
    """How a gradient goes back through it."""
    names = [name for rule in op.rules for name in rule.inputs]
    parents = ", ".join(f"_{name}_node" if op.differentiable(name) else "_" for name in op.inputs)
    lines = [f"({parents},) = _node.parents"]
    if op.saves:
        lines.append(f"({', '.join(op.saves)},) = _node.saved")
    if op.kind != "elementwise":
        lines += [line for rule in op.rules for line in _rule_step(rule, alone=len(names) == 1)]
    elif len(names) == 1:
        lines += _only_step(op.rules[0])
    else:
        lines += [f"_{n}_alike = _{n}_node is not None and _{n}_node.like == _node.like" for n in names]
        lines += [line for rule in op.rules for line in _fitted_step(rule)]
        lines += [line for place, rule in enumerate(op.rules) for line in _alike_step(rule, names[place + 1 :])]
    return "\n".join([f"def pull_{op.name}(xp, upstream, _node):", *_indent(lines)])


def _only_step(rule: Rule) -> Iterator[str]:
    """Upstream times the local derivative, for the only input that can have a gradient: in place, where it fits."""
    (name,) = rule.inputs
    yield f"if _{name}_node.like == _node.like: {_in_place(rule)}"
    yield f"else: _sent = {_fitted(rule)}"
    yield from _deposit(name)


def _fitted_step(rule: Rule) -> Iterator[str]:
    """Upstream times the local derivative, for an input of another shape or dtype: the sum is new."""
    (name,) = rule.inputs
    yield f"if _{name}_node is not None and not _{name}_alike:"
    yield f"    _sent = {_fitted(rule)}"
    yield from _indent(_deposit(name))


def _alike_step(rule: Rule, later: list[str]) -> Iterator[str]:
    """The same for an input like the output; the last one to be served may have upstream itself, and write into it."""
    (name,), local = rule.inputs, _call(rule)
    yield f"if _{name}_alike:"
    if later:
        apart = "xp.own(upstream, upstream)" if local == "1" else f"xp.times(upstream, {local})"
        yield f"    if {' or '.join(f'_{n}_alike' for n in later)}: _sent = {apart}"
        yield f"    else: {_in_place(rule)}"
    else:
        yield f"    {_in_place(rule)}"
    yield from _indent(_deposit(name))


def _in_place(rule: Rule) -> str:
    """Upstream times the local derivative where upstream is needed no more."""
    local = _call(rule)
    return "_sent = upstream" if local == "1" else f"upstream *= {local}; _sent = upstream"


def _fitted(rule: Rule) -> str:
    """The same, added up to the shape and cast to the dtype of the input."""
    local, like = _call(rule), f"_{rule.inputs[0]}_node.like"
    return f"xp.fit(upstream, {like})" if local == "1" else f"xp.fit_product(upstream, {local}, {like})"


def _rule_step(rule: Rule, *, alone: bool) -> Iterator[str]:
    """What a rule sends. It is new, or upstream, or a view; the walk adds into what it holds, so a view is copied where
    anybody else may read it."""
    joint = len(rule.inputs) > 1
    if joint:
        yield f"if {' or '.join(f'_{name}_node is not None' for name in rule.inputs)}:"
        yield f"    _all = {_call(rule)}"
        yield _count_check(rule, rule.op.rules.index(rule))
    for place, name in enumerate(rule.inputs):
        lines = [f"_like = _{name}_node.like", *_sent_by_rule(rule, place, name, alone=alone), *_deposit(name)]
        yield from lines if alone else [f"if _{name}_node is not None:", *_indent(lines)]


def _sent_by_rule(rule: Rule, place: int, name: str, *, alone: bool) -> Iterator[str]:
    """What one input is sent, like its node and in memory of the walk's own."""
    if not alone and _sends_upstream_itself(rule):
        yield "if (upstream.shape, upstream.dtype) != _like: _sent = xp.fit(upstream, _like)"
        yield "else: _sent = " + ("upstream" if rule is rule.op.rules[-1] else "xp.own(upstream, upstream)")
        return
    yield f"_sent = _all[{place}]" if len(rule.inputs) > 1 else f"_sent = {_call(rule)}"
    read_only = "(_sent.base is not None and not xp.writeable(_sent))"
    shared = read_only if alone else "_sent.base is not None or _sent is upstream"
    yield f"if _sent.shape != _like[0] or _sent.dtype is not _like[1] or {shared}:"
    yield f"    _sent = _fit(_op, {name!r}, _sent, _like, xp, upstream)"


def _count_check(rule: Rule, number: int) -> str:
    count = len(rule.inputs)
    wrong = f"type(_all) is not tuple or len(_all) != {count}"
    return f"    if {wrong}: _op.wrong_count(_op.rules[{number}], _all, {count})"


def _sends_upstream_itself(rule: Rule) -> bool:
    """True for `lambda upstream: upstream`: what it sends must be made to fit, or copied, every time."""
    sign = object()
    return rule.reads == ("upstream",) and rule.function(sign) is sign


def _deposit(name: str) -> Iterator[str]:
    yield f"if _{name}_node.accumulator is _EMPTY: _{name}_node.accumulator = _sent"
    yield f"else: _{name}_node.accumulator += _sent"


def pull_on_tensors_text(op: Op) -> str:
    """How a gradient goes back that is to be differentiated again: what was saved is lifted to tensors that know where
    they came from, and nothing is written into."""
    parents = ", ".join(f"_{name}_node" if op.differentiable(name) or name in op.saves else "_" for name in op.inputs)
    lines = [f"({parents},) = _node.parents"]
    if op.saves:
        lines.append(f"({', '.join(op.saves)},) = _node.saved")
    constants = {*op.constants, *(rule.saves[0] for rule in op.rules if rule.at_once)}
    origins = {name: f"_{name}_node" for name in op.inputs} | {"out": "_node"} | dict.fromkeys(constants, "None")
    lines += [f"if hasattr({n}, 'dtype'): {n} = _of({n}, {origins[n]})" for n in op.saves if n in origins]
    for number, rule in enumerate(op.rules):
        joint = len(rule.inputs) > 1
        lines.append(f"if {' or '.join(f'_{name}_node is not None' for name in rule.inputs)}:")
        if op.kind == "elementwise":
            lines.append("    _sent = upstream" + ("" if _call(rule) == "1" else f" * {_call(rule)}"))
        else:
            lines.append(f"    {'_all' if joint else '_sent'} = {_call(rule)}")
        if joint:
            lines.append(_count_check(rule, number))
        for place, name in enumerate(rule.inputs):
            lines += [f"if _{name}_node is not None:", f"    _sent = _all[{place}]"] if joint else []
            lines.append(f"    _like = _{name}_node.like")
            lines.append("    if _sent._data.shape != _like[0] or _sent._data.dtype is not _like[1]:")
            lines.append(f"        _sent = _fit_on_tensors(_op, {name!r}, _sent, _like, xp)")
            lines.append(f"    _before = _{name}_node.accumulator")
            lines.append(f"    _{name}_node.accumulator = _sent if _before is _EMPTY else _before + _sent")
    return "\n".join([f"def pull_on_tensors_{op.name}(xp, upstream, _node):", *_indent(lines)])


def pull_number_text(op: Op, fixed: tuple[str, ...] = ()) -> str:
    """How a gradient goes back through it between `Value`s: micrograd's own lines."""
    places = dict(zip(op.inputs, ("first", "second"), strict=False))
    rules = [rule for rule in op.rules if rule.inputs[0] not in fixed]
    reads = {name for rule in rules for name in rule.reads}
    lines = [f"{name}{'' if name in fixed else '_value'} = _node.{place}" for name, place in places.items()]
    lines += [f"{name} = {name}_value._data" for name in places if name in reads and name not in fixed]
    lines += ["out = _node._data"] if "out" in reads else []
    lines += ["upstream = _node.grad"]
    for rule in rules:
        (name,) = rule.inputs
        local = _call(rule, "_floats")
        lines.append(f"{name}_value.grad += " + ("upstream" if local == "1" else f"upstream * {local}"))
    return "\n".join([f"def pull_number_{op.name}(_node):", *_indent(lines)])


def _call(rule: Rule, xp: str = "xp") -> str:
    """A rule, applied; a local derivative that reads nothing is a number already."""
    if rule.op.kind == "elementwise" and not rule.reads:
        return repr(rule.function())
    if rule.at_once and xp == "xp":
        return rule.saves[0]
    return f"{_function(rule)}({', '.join(xp if name == 'xp' else name for name in rule.reads)})"


def _function(rule: Rule) -> str:
    return f"_{'local' if rule.op.kind == 'elementwise' else 'rule'}_{'_'.join(rule.inputs)}"


def _indent(lines: Any) -> list[str]:
    return [f"    {line}" for line in lines]


def _compiled(name: str, text: str, namespace: dict[str, Any]) -> FunctionType:
    """The function that a text defines; tracebacks show its lines."""
    filename = f"<written out: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    before = namespace.get(name)
    exec(compile(text, filename, "exec"), namespace)
    written = namespace.pop(name)
    if before is not None:
        namespace[name] = before
    return written


writer.room = sys.modules[__name__]
