"""Wrong variants of a right answer, from which unlisted mistakes get their names.

A variant reads one value instead of another, is one edit of the right rule's source or of a textbook's form, or is the
rule of another operation. If a student's numbers are those of a variant on every ordinary case, it is named. The title
says what the edit did.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ..backends import devices
from ..core.apply import Op
from ..core.define import operations
from ..tracing.sites import rule_source
from .edit_hints import STEPS, name_the_change, where_to_look
from .edits import edit_tree, quote
from .mistakes import LAST_HINT, edit_source, source_of, wrap
from .other_functions import overwriting_namespaces
from .rule_answers import Functions, combine, takes_all_values, unbroadcast
from .spec import Mistake

np = devices.device("cpu").library
ENGINE = devices.device("cpu").namespace

SHAPES = "_shape"


@functools.cache
def textbook_forms() -> dict[str, Any]:
    """Return the right answers as textbooks write them, by exercise, and under `mistakes` those of several edits."""
    return tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))


VARIANT = "edit"
"""The id of mistakes that are variants of a right answer, and of no row of the catalogue."""


def variant(title: str, answer: Any) -> Mistake:
    """Return the mistake of a variant. Its hints lead to the change that its title names."""
    return Mistake(VARIANT, title, (where_to_look(title) or STEPS, LAST_HINT, name_the_change(title)), answer)


# Rules ----------------------


def rule_variants(op: Op, served: tuple[str, ...], rules: Sequence[Any], reads: Sequence[str], whole: bool) -> Any:
    """Yield the variants of the rules of an operation, the plainest first."""
    right: Functions = [(rule.inputs, rule.function) for rule in rules]
    answer = combine(op, served, right, whole=whole)
    used = list(dict.fromkeys(name for rule in rules for name in rule.reads))
    known_as, readable = f"{op.name}.{'+'.join(served)}", [*reads, "xp"]
    for title, code in textbook_forms()["mistakes"].get(known_as, []):
        wrong, _ = form_function(code, readable, {"np": np})
        yield variant(title, combine(op, served, [(served, wrong)], whole=whole))
    yield from results(op, answer, served, reads, whole)
    yield from read_other_values(op, answer, used, reads)
    forms = [form_function(code, readable, {"np": np}) for code in textbook_forms().get(known_as, [])]
    edits: list[tuple[str, Any]] = []
    trees = [*((*each, False) for each in rule_trees(right)), *((served, *form, True) for form in forms)]
    for inputs, function, tree, is_form in trees:
        names = [name for name in reads if not name.endswith(SHAPES) and name not in op.params]
        named = short_definitions(tree)
        for words, edited in edit_function(tree, names, function.__globals__, readable):
            title = replace_names(words, named)
            if is_form and LINE.search(title):
                continue  # a student cannot read the lines of a form
            others = [(other, each) for other, each in right if not set(other) & set(inputs)]
            edits.append((title, combine(op, served, [*others, (inputs, edited)], whole=whole)))
            yield variant(*edits[-1])
    yield from other_factors(answer, op, reads)
    has_a_two = any("2 *" in code for code in textbook_forms().get(known_as, []))
    results_of_all = [*other_scales(answer, has_a_two=has_a_two), *last_use_wins(answer)]
    yield from results_of_all
    if len(served) > 1 and op.kind != "elementwise":
        yield from scales_of_one(answer, served)
    for first, second in combinations(served, 2):
        yield variant(f"the results for `{first}` and `{second}` are exchanged",
                      exchange_results(answer, first, second))  # fmt: skip
    if "padding" in op.params and served == ("x",):
        yield variant("the padding is cut off at the end only: the image is shifted", crop_at_the_end(answer))
    if whole and op.kind == "elementwise" and len(served) == 1:
        yield from sum_before_multiplying(op, served, rules)
    for title, undo in SUMS_TOO_FEW.items() if whole else ():
        yield variant(title, combine(op, served, right, whole=True, undo=undo))
    yield from rules_of_others(op, served, reads, whole)
    yield from two_mistakes(op, used, [*edits, *((each.title, each.wrong_answer) for each in results_of_all)])


def two_mistakes(op: Op, used: Sequence[str], edits: Sequence[tuple[str, Any]]) -> Iterator[Mistake]:
    """Yield the variants with one edit that also leave out upstream, an optional input or a setting.

    A setting is a parameter that is on, off or absent by default.
    """
    forgotten: list[tuple[str, Any]] = [("upstream", functools.partial(set_ones, "upstream"))] * ("upstream" in used)
    left_out = {name: None for name in op.inputs if name in op.optional}
    left_out |= {name: value for name, value in op.params.items()
                 if name not in ("axis", "keepdims") and (value is None or isinstance(value, bool))}  # fmt: skip
    forgotten += [(name, lambda values, name=name: {name: left_out[name]}) for name in left_out if name in used]
    for name, change in forgotten:
        for title, answer in edits:
            if f"`{name}`" not in title:
                yield variant(f"two things: `{name}` is left out; and {title}", with_values(answer, change))


def rule_trees(functions: Functions) -> Iterator[tuple[tuple[str, ...], Any, ast.AST]]:
    """Yield the rules whose source can be read, with the tree of the function."""
    for inputs, function in functions:
        text = rule_source(function).text
        if text is not None and not function.__code__.co_freevars:
            try:
                tree = ast.parse(textwrap.dedent(text.strip().rstrip(",")))
            except SyntaxError:
                continue
            yield inputs, function, ast.Module([as_definition(tree.body[0])], [])


def as_definition(statement: Any) -> Any:
    """Return the definition of a function named `answer` for a statement that defines one, or that is a lambda."""
    function = getattr(statement, "value", None)
    if isinstance(function, ast.Lambda):
        return ast.FunctionDef("answer", function.args, [ast.Return(function.body)], [], lineno=1)
    statement.decorator_list, statement.name = [], "answer"
    return statement


def form_function(code: str, readable: Sequence[str], namespace: dict[str, Any]) -> tuple[Any, ast.AST]:
    """Return the function of a textbook's form, and its tree."""
    tree = ast.parse(wrap(code if "return" in code else f"return {code}", []))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    tree = ast.parse(wrap(code if "return" in code else f"return {code}", [name for name in readable if name in names]))
    return compile_tree(tree, namespace), tree


def compile_tree(tree: Any, namespace: dict[str, Any], name: str = "answer") -> Any:
    """Return the function that a tree defines under a name."""
    definitions = dict(namespace)
    exec(compile(ast.fix_missing_locations(tree), "<variant>", "exec", dont_inherit=True), definitions)  # noqa: S102 - a changed copy of the engine's own rule
    return definitions[name]


def edit_function(
    tree: Any, names: Sequence[str], namespace: dict[str, Any], readable: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield every one-edit variant of a function, with the words for it. An edit may read a value that it did not."""
    (function,) = tree.body
    for title, body in edit_tree(ast.Module(function.body, []), names):
        read = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
        arguments = [ast.arg(name) for name in dict.fromkeys([*(each.arg for each in function.args.args), *readable])
                     if name in read]  # fmt: skip
        signature = ast.arguments([], arguments, None, [], [], None, [])
        edited = ast.FunctionDef("answer", signature, getattr(body, "body", []), [], lineno=1)
        yield title, compile_tree(ast.Module([edited], []), namespace)


def short_definitions(tree: Any) -> dict[str, str]:
    """Return the names that a function assigns once, each with the expression that they stand for.

    A student reads the values of the exercise, and no name that the engine's own rule gives to a step.
    """
    assigned = [node.targets[0] for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    counts = Counter(each.id for each in assigned if isinstance(each, ast.Name))
    counts.update(node.target.id for node in ast.walk(tree)
                  if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name))  # fmt: skip
    return {node.targets[0].id: quote(node.value).strip("`") for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and counts[node.targets[0].id] == 1}  # fmt: skip


def replace_names(title: str, definitions: dict[str, str]) -> str:
    """Return a title in which a name alone in backquotes is replaced by the expression that it stands for."""
    return CODE_OF_NAME.sub(lambda match: f"`{definitions.get(match[1], match[1])}`", title)


CODE_OF_NAME = re.compile(r"`(\w+)`")
LINE = re.compile(r"`[^`]* (\+|-|)= [^`]*`")


def with_values(answer: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return an answer that reads other values."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        return answer({**values, **change(values)}, xp)

    return other


def read_other_values(op: Op, answer: Any, used: Sequence[str], reads: Sequence[str]) -> Iterator[Mistake]:
    """Yield the variants that read another value under a name: another array, 1, or a fixed parameter."""
    arrays = array_names(op, reads)
    for name in used:
        if name in arrays:
            yield from read_other_arrays(answer, name, arrays, used)
        elif name == "axis":
            for word, value in {"-1": -1, "0": 0, "1": 1, "None": None}.items():
                yield variant(f"`axis` is fixed to {word}", with_values(answer, lambda v, value=value: {"axis": value}))
        elif name in op.params:
            yield from fix_setting(op, answer, name)
    if "out" in used and op.kind == "elementwise" and len(op.inputs) == 1 and not op.params:
        yield variant(f"`{op.name}` is applied twice",
                      with_values(answer, lambda v: {"out": op.forward(ENGINE, v["out"])}))  # fmt: skip


def fix_setting(op: Op, answer: Any, name: str) -> Iterator[Mistake]:
    """Yield the variants that ignore a parameter: it has always its default, or another usual value."""
    default = op.params[name]
    opposite = [not default] if isinstance(default, bool) else []
    for value in dict.fromkeys([default, *opposite, *OTHER_SETTINGS.get(name, ())], None):
        title = f"`{name}` is left out: it is always {value!r}"
        if isinstance(value, (int, float, bool, str, tuple, type(None))):
            yield variant(title, with_values(answer, lambda v, b=value: {name: b}))
            if name in SETTINGS_OF_WINDOWS:
                yield variant(title, visit_other_windows(op, answer, name, lambda v, b=value: b))
    if name == "stride" and "kernel_size" in op.params:
        yield variant("`stride` is left out: windows are always side by side, as far apart as they are wide",
                      visit_other_windows(op, answer, name, lambda v: v["kernel_size"]))  # fmt: skip


def array_names(op: Op, reads: Sequence[str]) -> list[str]:
    """Return the readable names that hold numbers, and no shape or parameter."""
    return [name for name in reads if not name.endswith(SHAPES) and name not in op.params]


def read_other_arrays(answer: Any, name: str, arrays: Sequence[str], used: Sequence[str]) -> Iterator[Mistake]:
    """Yield the variants that read 1, or another array, under the name of one."""
    yield variant(f"`{name}` is left out", with_values(answer, functools.partial(set_ones, name)))
    for other in arrays:
        if other != name:
            yield variant(f"`{other}` instead of `{name}`", with_values(answer, lambda v, b=other: {name: v[b]}))
        if other > name and other in used:
            yield variant(f"`{name}` and `{other}` are exchanged",
                          with_values(answer, lambda v, b=other: {name: v[b], b: v[name]}))  # fmt: skip


OTHER_SETTINGS = {"ddof": (0, 1), "keepdims": (True,), "axes": (1, (1, 0)), "slope": (0.01, 0.1), "padding": ((0, 0),),
                  "stride": ((1, 1),), "dilation": ((1, 1),), "groups": (1,), "scale": (1.0,)}  # fmt: skip
"""Values to which students fix a parameter, beside its default."""
SETTINGS_OF_WINDOWS = ("stride", "padding", "dilation")
"""Parameters that say which windows of an image are visited."""


def visit_other_windows(op: Op, answer: Any, name: str, choose: Callable[[dict[str, Any]], Any]) -> Any:
    """Return the answer of loops over the output that visit other windows: `choose` gives another value of a parameter.

    The loops end with the output that the call has. With another parameter, the output would have another shape, whose
    other places receive nothing.
    """

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        value = choose(values)
        fixed = {**{each: values[each] for each in op.params}, name: value}
        inputs = [values.get(each, np.zeros(values.get(f"{each}{SHAPES}", ()))) for each in op.inputs]
        arrived = np.zeros(np.shape(op.compute(ENGINE, inputs, fixed)[0]))
        common = tuple(map(slice, np.minimum(arrived.shape, values["upstream"].shape)))
        arrived[common] = values["upstream"][common]
        return answer({**values, name: value, "upstream": arrived}, xp)

    return other


def set_ones(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return 1 in every entry of a value; None stays None."""
    value = values[name]
    if value is None:
        return {}
    return {name: tuple(map(np.ones_like, value)) if isinstance(value, tuple) else np.ones_like(value)}


def last_use_wins(answer: Any) -> Iterator[Mistake]:
    """Yield the variants in which a later use of an entry, or another window, replaces an earlier one."""
    for title, xp in overwriting_namespaces():
        yield variant(title, takes_all_values(lambda values, _, xp=xp: answer(values, xp)))


def crop_at_the_end(answer: Any) -> Any:
    """Return the answer for the padded images, without the last rows and columns."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        sides = ((0, 0), (0, 0), *((each, each) for each in values["padding"]))
        height, width = values["x_shape"][-2:]
        padded = np.pad(np.zeros(values["x_shape"]), sides)
        sent = answer({**values, "padding": (0, 0), "x_shape": padded.shape, "x": padded}, xp)
        return {name: each[..., :height, :width] for name, each in sent.items()}

    return other


def sum_before_multiplying(op: Op, served: tuple[str, ...], rules: Sequence[Any]) -> Iterator[Mistake]:
    """Yield the variant in which upstream and the local derivative are summed to the shape of the input by themselves.

    The right order is: multiply first, then sum.
    """
    local = combine(op, served, [(rule.inputs, rule.function) for rule in rules])

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        shape = values[f"{served[0]}_shape"]
        slopes = np.broadcast_to(local(values, xp)[served[0]], values["upstream"].shape)
        return {served[0]: unbroadcast(values["upstream"], shape) * unbroadcast(slopes, shape)}

    yield variant("summed over the repeated axes before the product, not after it", other)


SUMS_TOO_FEW: dict[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "only the new axes in front are summed, not the axes of length 1":
        lambda x, shape: x.sum(axis=tuple(range(x.ndim - len(shape)))),
    "only the first axis is summed, not every axis along which the value is repeated":
        lambda x, shape: x.sum(axis=0) if x.ndim > len(shape) else x,
}  # fmt: skip
"""Ways to undo broadcasting that leave out axes."""


# Other results --------------


def results(op: Op, answer: Any, served: tuple[str, ...], reads: Sequence[str], whole: bool) -> Iterator[Mistake]:
    """Yield answers that are no edit of the rule: a value itself, a product of values, another slope."""
    if op.kind == "variadic":
        yield variant("the parts are in reverse order", takes_all_values(lambda values, xp: answer(values, xp)[::-1]))
        return
    local = op.kind == "elementwise" and not whole
    for name in array_names(op, reads):
        yield variant(value_title(name, local), replace_result(answer, lambda v, n=name: v[n]))
        if name != "upstream" and not local:
            yield from products_with_upstream(
                answer, name, is_left=served == op.inputs[:1], is_product=len(op.inputs) == 2)  # fmt: skip
    if local:
        yield from plain_slopes(op, answer, served, reads)
    else:
        if len(served) == 1:
            yield variant("1 everywhere: upstream is left out",
                          replace_result(answer, lambda v: np.ones(v[f"{served[0]}{SHAPES}"])))  # fmt: skip
        if len(served) == 1:
            shape = f"{served[0]}{SHAPES}"
            yield variant("upstream is passed on, in the shape of the input: the rest of the rule is left out",
                          replace_result(answer, lambda v: np.reshape(v["upstream"], v[shape])))  # fmt: skip
        yield variant("upstream passes only where it is positive",
                      with_values(answer, lambda v: {"upstream": np.maximum(v["upstream"], 0)}))  # fmt: skip
    for title, change in CHANGES.items():
        yield variant(title, change_result(answer, lambda r, v, change=change: change(r)))


def other_factors(answer: Any, op: Op, reads: Sequence[str]) -> Iterator[Mistake]:
    """Yield the answer times each value, and divided by it."""
    for name in array_names(op, reads):
        if name != "upstream" and op.kind != "variadic":  # a division by upstream leaves it out, which has its own name
            yield variant(f"a factor too many: `{name}`", change_result(answer, lambda r, v, n=name: r * v[n]))
            yield variant(f"a factor too few, or a division too many: `{name}`",
                          change_result(answer, lambda r, v, n=name: r / v[n]))  # fmt: skip


def replace_result(answer: Any, make: Callable[[dict[str, Any]], Any]) -> Any:
    """Return an answer that sends the same to every input."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        return {name: make(values) for name in answer(values, xp)}

    return other


def products_with_upstream(answer: Any, name: str, *, is_left: bool, is_product: bool) -> Iterator[Mistake]:
    """Yield the products of upstream and a value that students try: entry by entry, and of matrices.

    For the left factor of a product (`is_left`), the transpose belongs on the right. If the operation is more than a
    product of its two inputs, a transpose of all axes is not what is wrong with these.
    """
    wrong_order = "the matrices are multiplied in the wrong order: the transpose on the"
    all_axes = "all axes are exchanged by `.T`, not the last two"
    both = f"{wrong_order} {'left' if is_left else 'right'}; and {all_axes}"
    products: dict[tuple[str, int], Callable[[Any, Any], Any]] = {
        (f"upstream times the value `{name}`", 0): lambda up, x: up * x,
        (f"a transpose is missing: upstream @ `{name}`", 0): lambda up, x: up @ x,
        (f"a transpose is missing: `{name}` @ upstream", 0): lambda up, x: x @ up,
        (f"{wrong_order} left", 0): lambda up, x: np.swapaxes(x, -1, -2) @ up,
        (f"{wrong_order} right", 0): lambda up, x: up @ np.swapaxes(x, -1, -2),
        (all_axes if is_left else both, 0): lambda up, x: up @ x.T,
        (both if is_left else all_axes, 0): lambda up, x: x.T @ up,
        (f"only upstream and the sign of `{name}`", 0): lambda up, x: up * np.sign(x),
    }
    for (title, _), product in products.items():
        if is_product or all_axes not in title:
            yield variant(title, replace_result(answer, lambda v, product=product: product(v["upstream"], v[name])))


def plain_slopes(op: Op, answer: Any, served: tuple[str, ...], reads: Sequence[str]) -> Iterator[Mistake]:
    """Yield the slopes of plain functions, and the second derivative."""
    slopes: dict[str, Callable[[Any], Any]] = {
        "the slope is taken for the constant 1, as in a sum (the identity)": np.ones_like,
        "half for each, as in an average": lambda x: 0.5 * np.ones_like(x),
        "1 where the input is positive, else 0: the rule of `relu`": lambda x: 1.0 * (x > 0),
        "the sign of the input: the rule of `absolute`": np.sign,
    }
    for title, slope in slopes.items():
        yield variant(title, replace_result(answer, lambda v, slope=slope: slope(v[served[0]])))
    if len(op.inputs) == 1 and "out" in reads:
        yield variant("differentiated twice: the second derivative",
                      change_result(answer, functools.partial(slope_of, op, answer)))  # fmt: skip


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a transpose is missing or too many": lambda r: np.swapaxes(r, -1, -2),
    "the result is reversed (flipped) along the last axis": lambda r: r[..., ::-1],
    "the result is reversed (flipped) along the last two axes": lambda r: r[..., ::-1, ::-1],
    "only positive numbers are passed on": lambda r: np.maximum(r, 0),
    "the magnitude: the sign is lost": np.abs,
}
"""What may happen to the right result as a whole."""


def value_title(name: str, local: bool) -> str:
    """Return the words for an answer that is a value itself."""
    if name == "upstream":
        return "upstream is passed on unchanged: the rest of the rule is left out"
    if name == "out" and local:
        return "the forward again: the value `out` itself, not a slope"
    return f"the value `{name}` itself, not a slope" if local else f"the value `{name}` itself, without upstream"


def slope_of(op: Op, answer: Any, local: Any, values: dict[str, Any]) -> Any:
    """Return the derivative of a local derivative, to about ten digits."""
    h = 1e-4

    def at(step: float) -> Any:
        x = values[op.inputs[0]] + step
        (slope,) = answer({**values, op.inputs[0]: x, "out": op.forward(ENGINE, x)}, ENGINE).values()
        return slope

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def change_result(answer: Any, change: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Return an answer whose results are changed."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        sent = answer(values, xp)
        if not isinstance(sent, dict):
            return [change(np.asarray(each), values) for each in sent]
        return {name: change(np.asarray(each), values) for name, each in sent.items()}

    return other


def other_scales(answer: Any, *, has_a_two: bool) -> Iterator[Mistake]:
    """Yield answers that are divided or multiplied by a number of entries; the right one may have a factor 2."""
    counts: dict[str, Callable[[Any, dict[str, Any]], int]] = {
        "the number of all entries": lambda r, v: r.size,
        "the length of the first axis": lambda r, v: r.shape[0],
        "the length of the last axis": lambda r, v: r.shape[-1],
        "the number of entries along `axis`": lambda r, v: ENGINE.count_along(r.shape, v["axis"]),
        "the number of rows of `x` (the batch)": lambda r, v: int(np.prod(v["x"].shape[:-1])),
        "the size of the batch": lambda r, v: v["x"].shape[0],
        "the number of axes": lambda r, v: r.ndim,
    }
    for what, count in counts.items():
        yield variant(f"divided by {what}: an average instead of a sum",
                      change_result(answer, lambda r, v, c=count: r / c(r, v)))  # fmt: skip
        yield variant(f"multiplied by {what}, or a division by it is left out",
                      change_result(answer, lambda r, v, c=count: r * c(r, v)))  # fmt: skip
        if has_a_two:
            yield variant(f"two things are left out: the factor 2, and the division by {what}",
                          change_result(answer, lambda r, v, c=count: r * c(r, v) / 2))  # fmt: skip
    for what, count in counts.items():
        for other, second in counts.items():
            if other != what and "axes" not in what:
                yield variant(f"divided by {what}, not by {other}",
                              change_result(answer, lambda r, v, c=count, d=second: r * d(r, v) / c(r, v)))  # fmt: skip


def scales_of_one(answer: Any, served: tuple[str, ...]) -> Iterator[Mistake]:
    """Yield answers of several results, one of which is divided or multiplied by a number, or has the wrong sign."""
    for name in served:
        for what, count in LENGTHS.items():
            for word, change in (("divided", np.divide), ("multiplied", np.multiply)):
                yield variant(f"the gradient of `{name}` is {word} by {what}",
                              change_one(answer, name, lambda r, v, c=count, f=change: f(r, c(v))))  # fmt: skip
        yield variant(f"the sign of the gradient of `{name}` is wrong", change_one(answer, name, lambda r, v: -r))


LENGTHS: dict[str, Callable[[dict[str, Any]], float]] = {
    "the length of the first axis": lambda v: np.shape(v["upstream"])[0],
    "the length of the last axis": lambda v: np.shape(v["upstream"])[-1],
    "2": lambda v: 2.0,
}
"""Numbers by which one of several results may be off."""


def change_one(answer: Any, name: str, change: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Return an answer of which one result is changed, if it is there."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        sent = answer(values, xp)
        return sent | {name: change(sent[name], values)} if name in sent else sent

    return other


def exchange_results(answer: Any, first: str, second: str) -> Any:
    """Return an answer of several results, two of which are exchanged."""

    @takes_all_values
    def other(values: dict[str, Any], xp: Any) -> Any:
        sent = answer(values, xp)
        return sent | {first: sent[second], second: sent[first]} if {first, second} <= sent.keys() else sent

    return other


def rules_of_others(op: Op, served: tuple[str, ...], reads: Sequence[str], whole: bool) -> Iterator[Mistake]:
    """Yield the rules of other operations, and of the operation's other inputs, that read nothing else."""
    if len(served) != 1:
        return
    readable = {*reads, "xp", *(f"{name}{SHAPES}" for name in (*op.inputs, *reads))}
    for other in operations.values():
        if not is_comparable(op, other) or not getattr(other.call, "public", True):
            continue
        renamed = dict(zip(other.inputs, op.inputs, strict=False))
        for rule in other.rules:
            is_own = other is op and rule.inputs == served
            if len(rule.inputs) != 1 or is_own or not hasattr(rule.function, "__code__"):
                continue
            if {rename_value(name, renamed) for name in rule.reads} <= readable:
                of = f"for `{rule.inputs[0]}`, the other input" if other is op else f"of `{other.name}`"
                of += f" for `{rule.inputs[0]}`" if other is not op and len(op.inputs) > 1 else ""
                answer = combine(op, served, [(served, rename(rule.function, renamed))], whole=whole)
                yield variant(f"the rule {of}", answer)
                if other is not op and "out" in rule.reads and len(op.inputs) == 1:
                    yield variant(f"the rule {of}", with_values(answer, functools.partial(output_of, op, other)))


def output_of(op: Op, other: Op, values: dict[str, Any]) -> dict[str, Any]:
    """Return the output of another operation on the same input, under the name `out`."""
    params = {name: values[name] for name in other.params if name in values}
    return {"out": other.compute(ENGINE, [values[op.inputs[0]]], {**other.params, **params})[0]}


def is_comparable(op: Op, other: Op) -> bool:
    """Return whether a student could take another operation's rule: it has as many inputs, and no other parameters."""
    if other.kind in ("variadic", "nondifferentiable") or (op.kind == "elementwise") != (other.kind == "elementwise"):
        return False
    return other is op or (other.params.keys() <= op.params.keys() and len(other.inputs) == len(op.inputs))


def rename_value(name: str, names: dict[str, str]) -> str:
    """Return the name of a value of one operation in another, also if it is a shape."""
    base = name.removesuffix(SHAPES)
    return names[base] + name[len(base) :] if base in names else name


def rename(function: Any, names: dict[str, str]) -> Any:
    """Return a function that reads the same values under other names."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    new = [rename_value(each, names) for each in parameters]
    code = f"lambda {', '.join(dict.fromkeys(new))}: function({', '.join(new)})"
    return eval(code, {"function": function})  # noqa: S307 - the names are the engine's


# Functions of an exercise ---


def function_variants(id: str, right: Any, reads: Sequence[str]) -> Iterator[Mistake]:  # noqa: A002 - the word that exercises use
    """Yield the variants of an exercise whose right answer is a function, or that has a textbook's form."""
    names = [name for name in reads if name != "xp"]
    for title, code, *by in textbook_forms()["mistakes"].get(id, []):
        if by:
            yield variant(title, edit_source(right, code, by[0], title))
        else:
            yield variant(title, form_function(code, [*names, "xp"], {"np": np})[0])
    if isinstance(right, type):
        yield from class_variants(right, ast.parse(source_of(right)))
        return
    for code in textbook_forms().get(id, []):
        function, tree = form_function(code, [*names, "xp"], {"np": np})
        inner = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for title, edited in edit_function(tree, [*names, *sorted(inner)], {"np": np}, [*names, "xp"]):
            yield variant(title, edited)
        yield from scaled_results(function)
        yield from shift_counts(function)
    if not getattr(right, "takes_all_values", False) and id not in textbook_forms() and id not in MAY_NOT_END:
        for _, _, tree in rule_trees([((), right)]):
            for title, edited in edit_function(tree, names, right.__globals__, names):
                yield variant(title, edited)


MAY_NOT_END = ("engine.order",)
"""Exercises whose right answer has a loop that an edit could make endless."""


def class_variants(right: type, tree: ast.Module) -> Iterator[Mistake]:
    """Yield the variants of a class that one edit of a method makes. `tree` is its source."""
    (declared,) = tree.body
    namespace = vars(sys.modules[right.__module__]) if right.__module__ in sys.modules else {"np": np}
    for method in declared.body if isinstance(declared, ast.ClassDef) else ():
        if isinstance(method, ast.FunctionDef):
            for title, edited in edit_tree(ast.Module([method], []), ATTRIBUTES):
                function = compile_tree(edited, namespace, method.name)
                yield variant(title, type(right.__name__, (right,), {method.name: function}))


ATTRIBUTES = ("self.data", "other.data", "y")
"""Values of a class of numbers that can replace each other."""


def shift_counts(function: Any) -> Iterator[Mistake]:
    """Yield answers that count a step too many, or one too few."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name in {"step", "steps"} & set(parameters):
        for word, number in {"large": "+ 1", "small": "- 1"}.items():
            passed = ", ".join(f"{each} {number}" if each == name else each for each in parameters)
            code = f"lambda {', '.join(parameters)}: function({passed})"
            yield variant(f"`{name}` is one too {word}: off by one", eval(code, {"function": function}))  # noqa: S307 - code of this package


def scaled_results(function: Any) -> Iterator[Mistake]:
    """Yield answers of functions that are averaged, transposed or turned round as a whole."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    changes: dict[str, Callable[[Any], Any]] = {
        "the answer is in reverse order": lambda r: r[::-1],
        "a transpose is missing or too many": lambda r: r.T,
        "everything is summed": lambda r: 0 * r + np.sum(r),
    }
    for title, change in changes.items():
        code = f"lambda {', '.join(parameters)}: change(function({', '.join(parameters)}))"
        yield variant(title, eval(code, {"function": function, "change": change}))  # noqa: S307 - code of this package
