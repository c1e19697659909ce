"""Writer of compiled vjps: the text of a function that applies the rules of a node and adds what they give.

The text does what `backward.interpret_vjp` does, without dictionaries of names. There are two texts for each operation,
on arrays and on tensors. On arrays, gradients belong to the walk: they are added in place, and the last product may be
made in upstream itself. On tensors, gradients have a graph, and nothing is overwritten. Names that begin with an
underscore belong to the text, all others to the operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..apply import Op
from ..rule import Rule


def vjp_text(op: Op, *, on_tensors: bool = False) -> str:
    """Return the text of an operation's vjp."""
    names = [name for rule in op.rules for name in rule.inputs]
    lines: list[str] = []
    if op.kind != "variadic":
        used = {*names, *(name for name in op.inputs if on_tensors and name in op.saves)}
        parents = [f"_{name}_node" if name in used else "_" for name in op.inputs]
        lines.append(f"({', '.join(parents)},) = _node.parents")
    lines += _unpack_tensors(op) if on_tensors else _unpack_arrays(op)
    if op.outputs:
        lines.append("upstream = _upstreams_or_zeros(xp, upstream, _node)")
    if op.kind == "variadic":
        lines += _to_each_part(op.rules[0], on_tensors)
    elif op.kind != "elementwise":
        lines += [line for rule in op.rules for line in _to_inputs(rule, on_tensors, is_only=len(names) == 1)]
    elif on_tensors:
        lines += [line for rule in op.rules for line in _products_on_tensors(rule)]
    else:
        lines += _product_in_place(op.rules[0]) if len(names) == 1 else _products_on_arrays(op.rules)
    suffix = "_on_tensors" if on_tensors else ""
    return "\n".join([f"def vjp_{op.name}{suffix}(xp, upstream, _node, arrived):", *indent(lines)])


def _unpack_arrays(op: Op) -> list[str]:
    """Return the line that unpacks the saved values."""
    return [f"({', '.join(op.saves)},) = _node.saved"] if op.saves else []


def _unpack_tensors(op: Op) -> list[str]:
    """Return the lines that unpack the saved values as tensors with a graph."""
    if not op.saves:
        return []
    names = f"({', '.join(op.saves)},)"
    if op.outputs or op.kind == "variadic" or set(op.residuals) - op.constants:
        return [f"{names} = _saved_as_tensors(_node)"]
    constants = {*op.constants, *(rule.saves[0] for rule in op.rules if rule.in_forward)}
    origins = {name: f"_{name}_node" for name in op.inputs} | {"out": "_node"} | dict.fromkeys(constants, "None")
    attach = [f"if hasattr({n}, 'dtype'): {n} = _of({n}, {origins[n]})" for n in op.saves if n in origins]
    return [f"{names} = _node.saved", *attach]


def _add_lines(name: str, on_tensors: bool, node: str = "") -> list[str]:
    """Return the lines that add a contribution to what has arrived at a node."""
    node, gradient, in_place = node or f"_{name}_node", f"_grad_{name}", "" if on_tensors else ", True"
    total = f"_add_gradient(arrived[{node}], {gradient}{in_place})"
    return [f"if {node} in arrived: {gradient} = {total}", f"arrived[{node}] = {gradient}"]


def _shape_lines(name: str, on_tensors: bool, is_shared: str) -> list[str]:
    """Return the lines that undo broadcasting, keep the dtype, and copy what `is_shared` says the walk may not own."""
    gradient, meta = f"_grad_{name}", f"_meta_{name}"
    array = f"{gradient}._data" if on_tensors else gradient
    differs = f"{array}.shape != {meta}[0] or {array}.dtype is not {meta}[1]"
    lines = [f"if {differs}: {gradient} = _unbroadcast_to(xp, {gradient}, {meta})"]
    if is_shared and not on_tensors:
        lines.append(f"if {is_shared.format(gradient)}: {gradient} = _own_gradient(xp, {gradient}, upstream)")
    return lines


# Elementwise: upstream times a local derivative -----------


def _products_on_tensors(rule: Rule) -> list[str]:
    (name,) = rule.inputs
    product = "upstream" if call_of(rule) == "1" else f"upstream * {call_of(rule)}"
    lines = [f"_grad_{name}, _meta_{name} = {product}, _{name}_node.shape_dtype", *_shape_lines(name, True, "")]
    return [f"if _{name}_node is not None:", *indent([*lines, *_add_lines(name, True)])]


def _product_in_place(rule: Rule) -> list[str]:
    """Return the lines for an only input."""
    (name,) = rule.inputs
    test = f"if _{name}_node.shape_dtype == _node.shape_dtype: {_in_upstream(rule)}"
    return [test, f"else: {_summed_product(rule)}", *_add_lines(name, False)]


def _products_on_arrays(rules: list[Rule]) -> list[str]:
    """Return the lines for several inputs.

    Inputs of another shape or dtype receive sums, which are new arrays. Then the inputs with the shape and dtype of the
    output receive products; the last product is made in upstream itself.
    """
    names = [rule.inputs[0] for rule in rules]
    lines = [f"_same_shape_{n} = _{n}_node is not None and _{n}_node.shape_dtype == _node.shape_dtype" for n in names]
    for rule, name in zip(rules, names, strict=True):
        lines += [f"if _{name}_node is not None and not _same_shape_{name}:"]
        lines += indent([_summed_product(rule), *_add_lines(name, False)])
    for place, (rule, name) in enumerate(zip(rules, names, strict=True)):
        local, later = call_of(rule), " or ".join(f"_same_shape_{n}" for n in names[place + 1 :])
        new = "_own_gradient(xp, upstream, upstream)" if local == "1" else f"xp.multiply_as(upstream, {local})"
        last = _in_upstream(rule)
        product = [f"if {later}: _grad_{name} = {new}", f"else: {last}"] if later else [last]
        lines += [f"if _same_shape_{name}:", *indent([*product, *_add_lines(name, False)])]
    return lines


def _in_upstream(rule: Rule) -> str:
    """Return the line for upstream times the local derivative if upstream is not needed any more."""
    local, keep = call_of(rule), f"_grad_{rule.inputs[0]} = upstream"
    return keep if local == "1" else f"upstream *= {local}; {keep}"


def _summed_product(rule: Rule) -> str:
    """Return the line for the same product, summed to the shape and cast to the dtype of the input."""
    (name,), local = rule.inputs, call_of(rule)
    arguments = f"xp, upstream, _{name}_node.shape_dtype" + ("" if local == "1" else f", {local}")
    return f"_grad_{name} = _unbroadcast_to({arguments})"


VIEW_OR_UPSTREAM = "{0}.base is not None or {0} is upstream"
"""Test for a result that the walk may not own: a view, or upstream itself."""


def _to_inputs(rule: Rule, on_tensors: bool, *, is_only: bool) -> Iterator[str]:
    """Yield the lines for the inputs that a rule serves."""
    if len(rule.inputs) > 1:
        yield f"if {' or '.join(f'_{name}_node is not None' for name in rule.inputs)}:"
        yield f"    _all = {call_of(rule)}"
        yield f"    {_count_check(rule, str(len(rule.inputs)))}"
    for place, name in enumerate(rule.inputs):
        value = f"_all[{place}]" if len(rule.inputs) > 1 else call_of(rule)
        lines = [f"_grad_{name}, _meta_{name} = {value}, _{name}_node.shape_dtype"]
        lines += [*_shape_lines(name, on_tensors, _is_shared(rule, is_only)), *_add_lines(name, on_tensors)]
        yield from lines if is_only else [f"if _{name}_node is not None:", *indent(lines)]


def _to_each_part(rule: Rule, on_tensors: bool) -> list[str]:
    """Return the lines for the parts of a variadic operation."""
    lines = ["_meta_part = _parent.shape_dtype", *_shape_lines("part", on_tensors, VIEW_OR_UPSTREAM)]
    return [
        f"_all = {call_of(rule)}",
        _count_check(rule, "len(_node.parents)"),
        "for _parent, _grad_part in zip(_node.parents, _all):",
        "    if _parent is None: continue",
        *indent([*lines, *_add_lines("part", on_tensors, "_parent")]),
    ]


def _is_shared(rule: Rule, is_only: bool) -> str:
    """Return the test for a result whose memory a later rule or someone else may read, so that it must be copied.
    The result for an only input belongs to the walk, unless it cannot be written into."""
    later = rule.op.rules[rule.op.rules.index(rule) + 1 :]
    if _returns_upstream(rule):
        return " or ".join(f"_{name}_node is not None" for other in later for name in other.inputs)
    return "{0}.base is not None and not xp.is_writeable({0})" if is_only else VIEW_OR_UPSTREAM


_IDENTITY = (lambda upstream: upstream).__code__.co_code


def _returns_upstream(rule: Rule) -> bool:
    """Return True for `lambda upstream: upstream`."""
    return rule.reads == ("upstream",) and rule.function.__code__.co_code == _IDENTITY


def _count_check(rule: Rule, count: str) -> str:
    """Return the line that checks how many contributions a rule returned."""
    number = rule.op.rules.index(rule)
    return f"if type(_all) is not tuple or len(_all) != {count}: _check_count(_rules[{number}], _all, {count})"


def call_of(rule: Rule, xp: str = "xp") -> str:
    """Return the call of a rule; a local derivative that reads nothing is a number."""
    if rule.op.kind == "elementwise" and not rule.reads:
        return repr(rule.function())
    if rule.in_forward and xp == "xp":
        return rule.saves[0]
    return f"{function_name(rule)}({', '.join(xp if name == 'xp' else name for name in rule.reads)})"


def function_name(rule: Rule) -> str:
    """Return the name of a rule's function in a text."""
    return f"_{'local' if rule.op.kind == 'elementwise' else 'rule'}_{'_'.join(rule.inputs)}"


def indent(lines: Iterable[str]) -> list[str]:
    """Return the lines indented by one step."""
    return [f"    {line}" for line in lines]
