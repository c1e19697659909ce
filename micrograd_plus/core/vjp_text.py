"""How a gradient goes back through an operation, as straight code: one writer, and the vocabularies of arrays and of
tensors, that differ in what it is to lift what was saved, to multiply, to fit and to deposit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .operation import Op
from .rule import Rule


def vjp_text(op: Op, vocabulary: type[OnArrays]) -> str:
    """How a gradient goes back through an application, and is added to what has arrived at its inputs."""
    names = [name for rule in op.rules for name in rule.inputs]
    needed = {*names, *vocabulary.origins(op)}
    lines: list[str] = []
    if op.kind != "variadic":
        parents = [f"_{name}_node" if name in needed else "_" for name in op.inputs]
        lines.append(f"({', '.join(parents)},) = _node.parents")
    lines += vocabulary.lift(op)
    if op.outputs:
        lines.append("upstream = _every_upstream(xp, upstream, _node)")
    if op.kind == "elementwise":
        lines += vocabulary.elementwise(op.rules)
    elif op.kind == "variadic":
        lines += _to_each_part(op.rules[0], vocabulary)
    else:
        lines += [line for rule in op.rules for line in _to_inputs(rule, vocabulary, alone=len(names) == 1)]
    return "\n".join([f"def vjp_{op.name}{vocabulary.suffix}(xp, upstream, _node, arrived):", *indented(lines)])


class OnArrays:
    """The vocabulary of arrays: what has arrived belongs to the walk alone, and is added to in place."""

    suffix = ""

    @staticmethod
    def origins(op: Op) -> set[str]:  # noqa: ARG004 - the other vocabulary reads it
        """The inputs, besides those with a rule, whose nodes the text speaks of."""
        return set()

    @staticmethod
    def lift(op: Op) -> list[str]:
        """What was saved, as the rules read it."""
        return [f"({', '.join(op.saves)},) = _node.saved"] if op.saves else []

    @staticmethod
    def deposit(node: str) -> list[str]:
        """Add a contribution to what has arrived at a node."""
        return [f"if {node} in arrived: arrived[{node}] += _sent", f"else: arrived[{node}] = _sent"]

    @staticmethod
    def fit(shared: str) -> list[str]:
        """Undo broadcasting and keep the dtype. What is upstream itself, or a view that somebody else may read, is
        copied: another contribution may be added into it."""
        fitted = "if _sent.shape != _like[0] or _sent.dtype is not _like[1]: _sent = xp.fit(_sent, _like, upstream)"
        return [fitted, f"elif {shared}: _sent = xp.own(_sent, upstream)"] if shared else [fitted]

    @classmethod
    def elementwise(cls, rules: list[Rule]) -> list[str]:
        """Upstream times each local derivative. An input of another shape or dtype is sent a sum, which is new; after
        those, inputs like the output are sent products, the last of which may be made in upstream itself."""
        names = [rule.inputs[0] for rule in rules]
        if len(rules) == 1:
            (name,) = names
            test = f"if _{name}_node.shape_dtype == _node.shape_dtype: {_in_place(rules[0])}"
            return [test, f"else: _sent = {_summed(rules[0])}", *cls.deposit(f"_{name}_node")]
        lines = [f"_{n}_alike = _{n}_node is not None and _{n}_node.shape_dtype == _node.shape_dtype" for n in names]
        for rule, name in zip(rules, names, strict=True):
            lines.append(f"if _{name}_node is not None and not _{name}_alike:")
            lines += indented([f"_sent = {_summed(rule)}", *cls.deposit(f"_{name}_node")])
        for place, (rule, name) in enumerate(zip(rules, names, strict=True)):
            later = " or ".join(f"_{n}_alike" for n in names[place + 1 :])
            new = "xp.own(upstream, upstream)" if call_of(rule) == "1" else f"xp.times(upstream, {call_of(rule)})"
            lines.append(f"if _{name}_alike:")
            lines += [f"    if {later}: _sent = {new}", f"    else: {_in_place(rule)}"] if later else [
                f"    {_in_place(rule)}"
            ]
            lines += indented(cls.deposit(f"_{name}_node"))
        return lines


class OnTensors(OnArrays):
    """The vocabulary of tensors: what is sent has a graph of its own, so nothing is written into."""

    suffix = "_on_tensors"

    @staticmethod
    def origins(op: Op) -> set[str]:
        """A saved input is a tensor of the parent's node."""
        return {name for name in op.inputs if name in op.saves}

    @staticmethod
    def lift(op: Op) -> list[str]:
        """What was saved, as tensors that know where they came from."""
        if not op.saves:
            return []
        names = f"({', '.join(op.saves)},)"
        if op.outputs or op.kind == "variadic" or set(op.residuals) - op.constants:
            return [f"{names} = _residuals(_node)"]
        constants = {*op.constants, *(rule.saves[0] for rule in op.rules if rule.in_forward)}
        origins = {name: f"_{name}_node" for name in op.inputs} | {"out": "_node"} | dict.fromkeys(constants, "None")
        lifted = [f"if hasattr({n}, 'dtype'): {n} = _of({n}, {origins[n]})" for n in op.saves if n in origins]
        return [f"{names} = _node.saved", *lifted]

    @staticmethod
    def deposit(node: str) -> list[str]:
        """Add a contribution to what has arrived at a node."""
        return [f"arrived[{node}] = arrived[{node}] + _sent if {node} in arrived else _sent"]

    @staticmethod
    def fit(shared: str) -> list[str]:  # noqa: ARG004 - the other vocabulary reads it
        """Undo broadcasting and keep the dtype."""
        return [
            "if _sent._data.shape != _like[0] or _sent._data.dtype is not _like[1]: _sent = _fitted(xp, _sent, _like)"
        ]

    @classmethod
    def elementwise(cls, rules: list[Rule]) -> list[str]:
        """Upstream times each local derivative."""
        lines: list[str] = []
        for rule in rules:
            node, local = f"_{rule.inputs[0]}_node", call_of(rule)
            lines.append(f"if {node} is not None:")
            sent = "_sent = upstream" + ("" if local == "1" else f" * {local}")
            lines += indented([sent, f"_like = {node}.shape_dtype", *cls.fit(""), *cls.deposit(node)])
        return lines


def _in_place(rule: Rule) -> str:
    """Upstream times the local derivative where upstream is needed no more."""
    local = call_of(rule)
    return "_sent = upstream" if local == "1" else f"upstream *= {local}; _sent = upstream"


def _summed(rule: Rule) -> str:
    """The same, added up to the shape and cast to the dtype of the input."""
    local, like = call_of(rule), f"_{rule.inputs[0]}_node.shape_dtype"
    return f"xp.fit(upstream, {like}, upstream)" if local == "1" else f"xp.fit_product(upstream, {local}, {like})"


def _to_inputs(rule: Rule, vocabulary: type[OnArrays], *, alone: bool) -> Iterator[str]:
    """What a rule sends to the inputs that it serves."""
    if len(rule.inputs) > 1:
        yield f"if {' or '.join(f'_{name}_node is not None' for name in rule.inputs)}:"
        yield f"    _all = {call_of(rule)}"
        yield f"    {_count_check(rule, str(len(rule.inputs)))}"
    shared = _shared(rule, alone=alone)
    for place, name in enumerate(rule.inputs):
        node = f"_{name}_node"
        sent = f"_all[{place}]" if len(rule.inputs) > 1 else call_of(rule)
        lines = [f"_sent, _like = {sent}, {node}.shape_dtype", *vocabulary.fit(shared), *vocabulary.deposit(node)]
        yield from lines if alone else [f"if {node} is not None:", *indented(lines)]


def _shared(rule: Rule, *, alone: bool) -> str:
    """When what a rule sends must be copied, since somebody else may read it or be sent it. What the rule for an only
    input returns is the walk's, unless nobody may write into it."""
    later = rule.op.rules[rule.op.rules.index(rule) + 1 :]
    if _sends_upstream_itself(rule):
        return " or ".join(f"_{name}_node is not None" for other in later for name in other.inputs)
    if alone:
        return "_sent.base is not None and not xp.writeable(_sent)"
    return "_sent.base is not None or _sent is upstream"


def _upstream_itself(upstream: Any) -> Any:
    return upstream


def _sends_upstream_itself(rule: Rule) -> bool:
    """True for `lambda upstream: upstream`."""
    return rule.reads == ("upstream",) and rule.function.__code__.co_code == _upstream_itself.__code__.co_code


def _to_each_part(rule: Rule, vocabulary: type[OnArrays]) -> list[str]:
    """What the rule of a variadic operation sends to its parts."""
    shared = "_sent.base is not None or _sent is upstream"
    lines = ["_like = _parent.shape_dtype", *vocabulary.fit(shared), *vocabulary.deposit("_parent")]
    return [
        f"_all = {call_of(rule)}",
        _count_check(rule, "len(_node.parents)"),
        "for _parent, _sent in zip(_node.parents, _all):",
        "    if _parent is None: continue",
        *indented(lines),
    ]


def _count_check(rule: Rule, count: str) -> str:
    number = rule.op.rules.index(rule)
    return f"if type(_all) is not tuple or len(_all) != {count}: _check_count(_rules[{number}], _all, {count})"


# What the texts share -------------------------------------


def call_of(rule: Rule, xp: str = "xp") -> str:
    """A rule, applied; a local derivative that reads nothing is a number already."""
    if rule.op.kind == "elementwise" and not rule.reads:
        return repr(rule.function())
    if rule.in_forward and xp == "xp":
        return rule.saves[0]
    return f"{function_name(rule)}({', '.join(xp if name == 'xp' else name for name in rule.reads)})"


def function_name(rule: Rule) -> str:
    """What a text calls the function of a rule."""
    return f"_{'local' if rule.op.kind == 'elementwise' else 'rule'}_{'_'.join(rule.inputs)}"


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one step further in."""
    return [f"    {line}" for line in lines]
