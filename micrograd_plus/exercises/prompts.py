"""Prompts of exercises: what an operation computes, an example on few numbers, and what an answer may read."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ..backends import devices
from ..checks.docstrings import Block
from ..checks.reference import documentation, signature, summary
from ..checks.samples import Sample, real
from ..core.apply import Op
from ..formulas import notation, symbols
from ..formulas.simplify import simplify
from .rule_answers import ENGINE
from .rule_cases import PROBABILITIES, with_probabilities
from .sandboxed import FUNCTIONS, OWN_FUNCTIONS, Namespace

np = devices.device("cpu").library

GIVEAWAY = re.compile(
    r"gradient|derivative|slope|upstream|contribution|rule\b|\bsends?\b|receive|backward|\btie|kink|∂|mg\.|^`\w+`\.?$"
    r"|\bcomplex\b"
)
"""Words of sentences that belong to the answer, not to the task, or that are about complex numbers."""
MOST_SHOWN = 24
"""The number of entries up to which an array is written out."""
EXAMPLES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "add.whole": (((2, 3), (3,)), {}),
    "multiply.whole": (((2, 3), (3,)), {}),
    "broadcast_to": (((3, 1),), {"shape": (3, 2)}),
    "getitem": (((2, 3),), {"index": ([0, 1, 1], [2, 0, 0])}),
    "prod": (((2, 3),), {}),
    "power": (([[0.5, 2.0, 3.0], [1.5, 0.4, 2.5]], [[2.0, 3.0, 0.5], [-1.0, 2.0, 1.5]]), {}),
    "pad": (((2, 3),), {"pad_width": ((1, 0), (0, 1))}),
    "mse": (((2, 3), (2, 3)), {}),
    "binary_cross_entropy_with_logits": (((2, 3), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]]), {}),
    "take": (((2, 3), [2, 0, 2]), {"axis": 1}),
    "take_along_axis": (((2, 3), [[0, 0], [2, 1]]), {"axis": 1}),
    "embedding": (([1, 0, 1], (3, 2)), {}),
    "linear_layer": (((2, 3), (2, 3), (2,)), {}),
    "unfold": (((1, 1, 3, 3),), {"kernel_size": (2, 2)}),
    "conv2d": (((1, 1, 3, 3), (1, 1, 2, 2)), {}),
    "max_pool2d": (((1, 1, 3, 3),), {"kernel_size": (2, 2), "stride": (1, 1)}),
    "avg_pool2d": (((1, 1, 3, 3),), {"kernel_size": (2, 2), "stride": (1, 1)}),
    "layer_norm": (((2, 3), (3,), (3,)), {}),
    "rms_norm": (((2, 3), (3,)), {}),
    "scaled_dot_product_attention": (((2, 2), (3, 2), (3, 1), (2, 3)), {}),
}
"""Small calls for operations whose samples are larger or harder to read: shapes or lists, and parameters."""
NOTES = {"gelu_erf": "NumPy has no erfc: after `import math, numpy as np`, `np.vectorize(math.erfc)` computes it.",
         "matmul": "There are no vectors here: in every call, `a` and `b` have at least two axes."}
"""What else a student must know about the functions of an operation."""

xp = Namespace(FUNCTIONS)
"""Every function that a rule can use, to try them and to complete their names: `exercises.xp.unreduce?`."""


def write_prompt(
    op: Op, served: tuple[str, ...], reads: Sequence[str], functions: Sequence[str], samples: Sequence[Sample], *,
    is_local: bool, whole: bool, convention: str | None, has_corners: bool,
) -> str:  # fmt: skip
    """Return the text of the task for rules of an operation.

    Conventions are mentioned only if some inputs are at a kink, at a tie or at the edge of the domain.
    """
    sample = example_sample(op, samples, whole)
    shown = [name for name in reads if not name.endswith("_shape") or (
        not is_local and name.removesuffix("_shape") in served)]  # fmt: skip
    parts = [f"`{signature(op)}`: {summary(op)}", write_forward(op, sample), describe_shapes(op),
             show_example(op, sample), write_task(op, served, is_local, whole),
             list_readable_values(op, shown, sample), describe_functions(functions, is_local),
             NOTES.get(op.name, "")]  # fmt: skip
    if convention:
        parts.append(f"At kinks and ties: {convention}.")
    elif has_corners:
        parts.append("At a kink and at the edge of the domain, any convention is right. Entries that tie share what "
                     "arrives, in any way.")  # fmt: skip
    return "\n\n".join(filter(None, parts)).strip()


def write_forward(op: Op, sample: Sample) -> str:
    """Return the formula of the forward, derived from its code, and what the docstring says of it.

    The formula is left out if the docstring has one, or if the code needs functions that NumPy does not have.
    """
    said = describe_forward(op)
    formula = "" if " = " in said else forward_formula(op, sample)
    return "\n\n".join(filter(None, [formula and f"out = {formula}", said]))


def describe_forward(op: Op) -> str:
    """Return the first paragraph of the operation's docstring, without sentences about its gradient."""
    kept: list[str] = []
    for sentence in re.split(r"(?<=\.)\s+", first_paragraph(op)):
        kept += takewhile(lambda part: not GIVEAWAY.search(part), re.split(r"(?<=[;:])\s+", sentence))
    text = " ".join(kept).strip().rstrip(";:.")
    left, equals, _ = text.partition(" = ")
    has_no_left = not text[:1].isupper() and (not equals or " with " in left)
    return f"{'out = ' * has_no_left}{text}." if text else ""


def first_paragraph(op: Op) -> str:
    """Return the first paragraph of an operation's docstring, with the formula in which it ends."""
    first, *rest = [*documentation(op).body, Block("", is_verbatim=False)]
    formula = rest[0].text.partition("\n")[0] if rest and rest[0].is_verbatim and first.text[-1:].isalpha() else ""
    return " ".join(f"{first.text}{formula and ', '}{formula}".split())


def describe_shapes(op: Op) -> str:
    """Return the shapes of the inputs and of the output, if they are not simply equal."""
    shapes = documentation(op).shapes
    return "" if not shapes or shapes.startswith("any") else f"Shapes: {shapes}"


def forward_formula(op: Op, sample: Sample) -> str:
    """Return the forward of the example as a formula; an empty text if NumPy's words are not enough to write it."""
    names = op.input_names(len(sample.inputs))
    inputs: list[Any] = [value if value is None else symbols.Symbol(name)
                         for name, value in zip(names, example_inputs(op, sample), strict=True)]  # fmt: skip
    params = {name: symbols.Symbol(name) if isinstance(value, float) else value
              for name, value in {**op.params, **sample.params}.items()}  # fmt: skip
    try:
        out = op.forward(symbols, *([inputs] if op.kind == "variadic" else inputs), **params)
        formula = simplify(out[0] if isinstance(out, tuple) else out)
        is_known = all(is_of_numpy(part) for part in symbols.in_order(formula))
        text = notation.text(formula)
        return text if is_known and not re.match(rf"{op.name}\b", text) else ""
    except Exception:  # noqa: BLE001 - a forward may branch on values, which symbols do not have
        return ""


def is_of_numpy(part: Any) -> bool:
    """Return whether a symbol, or the function of an expression, is known to readers of NumPy."""
    return isinstance(part, symbols.Symbol) or hasattr(np, getattr(part, "function", ""))


# The example ----------------


def example_sample(op: Op, samples: Sequence[Sample], whole: bool) -> Sample:
    """Return a small call: the one of `EXAMPLES`, or the sample with the fewest numbers, if possible with rows.

    If broadcasting has to be undone (`whole`), the call may have its own example; else nothing is broadcast.
    """
    name = next((each for each in (f"{op.name}.whole" * whole, op.name) if each in EXAMPLES), None)
    if name is not None:
        inputs, params = EXAMPLES[name]
        rng = np.random.default_rng(2)
        drawn = [np.array(each) if isinstance(each, list) else real(*each)(rng) for each in inputs]
        return Sample(op, drawn, params, {})

    def size(sample: Sample) -> tuple[bool, bool, int]:
        arrays = [value for value in sample.inputs if hasattr(value, "shape")]
        is_broadcast = op.kind == "elementwise" and len({array.shape for array in arrays}) > 1
        return all(array.ndim < 2 for array in arrays), is_broadcast, sum(array.size for array in arrays)

    return min(samples, key=size).fresh(np.random.default_rng(2))


def show_example(op: Op, sample: Sample) -> str:
    """Return a call on few numbers with its result, as a block of code."""
    inputs = example_inputs(op, sample)
    with np.errstate(all="ignore"):
        out, _ = op.compute(ENGINE, inputs, {**op.params, **sample.params})
    names = [each.replace("[", "_").rstrip("]") for each in op.input_names(len(inputs))]
    lines = [write_line(name, value) for name, value in zip(names, inputs, strict=True) if value is not None]
    arguments = [name for name, value in zip(names, inputs, strict=True) if value is not None]
    given = [f"[{', '.join(arguments)}]"] if op.kind == "variadic" else arguments
    settings = [f"{name}={write_value(value)}" for name, value in sample.params.items()]
    outs = out if isinstance(out, tuple) else (out,)
    lines.append(f"{', '.join(op.outputs or ('out',))} = {op.name}({', '.join([*given, *settings])})")
    lines += [f"# {write_value(each)}" for each in outs]
    return "```python\n" + "\n".join(lines) + "\n```"


def example_inputs(op: Op, sample: Sample) -> list[Any]:
    """Return the inputs of the example: 2 × 3 numbers if the operation takes them, else those of the sample."""
    if op.name in PROBABILITIES:
        return [np.round(value, 2) for value in with_probabilities(sample).inputs]
    if op.name in EXAMPLES:
        missing: list[Any] = [None] * (len(op.inputs) - len(sample.inputs))
        return [*(np.round(value, 1) if is_float(value) else value for value in sample.inputs), *missing]
    rounded = [np.round(value, 1) if is_float(value) else value for value in sample.inputs]
    missing = [None] * (0 if op.kind == "variadic" else len(op.inputs) - len(rounded))
    cut = [value.reshape(-1, value.shape[-1])[:2, :3] if is_float(value) and value.ndim > 1 else value
           for value in rounded]  # fmt: skip
    if sum(is_float(value) for value in cut) == 1:
        try:
            op.compute(ENGINE, [*cut, *missing], {**op.params, **sample.params})
        except Exception:  # noqa: BLE001 - it takes no such array; the sample's own is shown
            return [*rounded, *missing]
        return [*cut, *missing]
    return [*rounded, *missing]


def is_float(value: Any) -> bool:
    """Return whether a value is an array of floats."""
    return hasattr(value, "dtype") and value.dtype.kind == "f"


def write_line(name: str, value: Any) -> str:
    """Return the line of an example that gives a name to a value; for a large array, a comment with its shape."""
    if getattr(value, "size", 0) > MOST_SHOWN:
        return f"# {name} has shape {tuple(value.shape)}"
    return f"{name} = {write_value(value)}"


def write_value(value: Any) -> str:
    """Return a value with at most three digits after the point; for a large array, its shape."""
    if hasattr(value, "dtype"):
        if value.size > MOST_SHOWN:
            return f"an array of shape {tuple(value.shape)}"
        return str(np.round(value, 3).tolist() if is_float(value) else value.tolist())
    if isinstance(value, (list, tuple)) and any(isinstance(each, (float, list)) for each in value):
        opened, closed = "[]" if isinstance(value, list) else "()"
        return f"{opened}{', '.join(map(write_value, value))}{',' * (opened == '(' and len(value) == 1)}{closed}"
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


# The task -------------------


def write_task(op: Op, served: tuple[str, ...], is_local: bool, whole: bool) -> str:
    """Return what the student must write."""
    inputs = join_names([f"`{name}`" for name in served])
    several = len(served) > 1
    if is_local:
        first = (f"How fast does the output change with {inputs}? Write the local derivative{'s' * several}. "
                 f"The engine multiplies your result by upstream and undoes broadcasting.")  # fmt: skip
    else:
        verb = "do" if several else "does"
        first = f"What {verb} {inputs} receive when `upstream` arrives at the output? Write the rule."
    lines = [first]
    subject = "Each result must have the shape of its input" if several else (
        f"Your result must have the shape of {inputs}")  # fmt: skip
    if op.kind == "variadic":
        lines.append(f"Return a list with one array for each of {inputs}, in the same order and of the same shape.")
    elif whole and len(op.inputs) > 1:
        lines.append(f"{subject}, so undo broadcasting yourself.")
    elif not is_local:
        may_broadcast = "broadcast" in documentation(op).shapes
        lines.append(f"{subject}{', or that to which it was broadcast' if may_broadcast else ''}.")
    if several:
        absent = [f"`{name}`" for name in served if name in op.optional]
        lines.append(f"Return one result for each input, in this order: {', '.join(served)}."
                     + (f" If {join_names(absent)} is absent, return None for it." if absent else ""))  # fmt: skip
    return "\n".join(lines)


def list_readable_values(op: Op, reads: Sequence[str], sample: Sample) -> str:
    """Return the parameters that an answer can have, each with what it holds and its shape in the example."""
    inputs = example_inputs(op, sample)
    params = {**op.params, **sample.params}
    with np.errstate(all="ignore"):
        out, residuals = op.compute(ENGINE, inputs, params)
    values = op.values_by_name(inputs, params, out, residuals)
    described = {part.strip(): text for names, text in documentation(op).arguments for part in names.split(",")}
    lines = [f"- `{name}`{write_shape(name, values, out)}: {describe_value(op, name, described)}" for name in reads]
    text = "Your function can have any of these parameters, by name. In the example they have these shapes:\n\n"
    text += "\n".join(["- `xp`: NumPy's functions, and a few more", *lines])
    if computed := [f"`{name}`" for name in reads if name in op.residuals]:
        text += f"\n\nThe forward pass computes {join_names(computed)}:\n\n```python\n{forward_source(op)}\n```"
        text += explain_words(forward_source(op))
    return text


def explain_words(source: str) -> str:
    """Return what the functions of a forward do that a rule's `xp` does not have, one on each line."""
    names = [name for name in dict.fromkeys(re.findall(r"xp\.(\w+)", source)) if name not in FUNCTIONS]
    functions = {name: getattr(ENGINE, name, None) for name in names}
    lines = [f"- `{name}`: {doc.partition(chr(10))[0]}" for name, function in functions.items()
             if (doc := inspect.getdoc(getattr(function, "func", function))) and not hasattr(np, name)]  # fmt: skip
    return "\n\n" + "\n".join(lines) if lines else ""


def write_shape(name: str, values: dict[str, Any], out: Any) -> str:
    """Return the shape of a readable value in the example."""
    value: Any = out if name == "upstream" else values.get(name)
    if not isinstance(value, (tuple, list)) and hasattr(value, "shape") and not name.endswith("_shape"):
        return f", shape {tuple(value.shape)}"
    is_there = values.get(name.removesuffix("_shape")) is not None
    return f" = {value!r}" if name.endswith("_shape") and value is not None and is_there else ""


def describe_value(op: Op, name: str, described: dict[str, str]) -> str:
    """Return what a readable value holds."""
    if name == "upstream":
        return "what arrives at the output" + ("s, one array for each" if len(op.outputs) > 1 else "")
    if name == "out":
        return "the output"
    if name.endswith("_shape"):
        return f"the shape{'s' if op.kind == 'variadic' else ''} of {name.removesuffix('_shape')}"
    if name in op.residuals:
        return "computed by the forward pass, as shown below"
    if name in op.outputs:
        return "one of the outputs"
    kind = "input" if name in op.inputs else "parameter"
    text = described.get(name, f"the {kind} `{name}`").rstrip(".").replace("real or complex numbers", "numbers")
    return f"{text.partition(';')[0]}; in each row they add up to 1" if PROBABILITIES.get(op.name) == name else text


def forward_source(op: Op) -> str:
    """Return the code of an operation's forward, without its decorators and its docstring."""
    source = textwrap.dedent(inspect.getsource(op.forward))
    source = source[source.index("def ") :]
    return re.sub(r'\n\s*""".*?"""', "", source, count=1, flags=re.DOTALL).rstrip()


ABOUT_XP = "`xp` has the functions of NumPy that rules need"
"""How the paragraph on `xp` begins, which a sheet of exercises shows once."""


def describe_functions(functions: Sequence[str], is_local: bool) -> str:
    """Return a paragraph on the functions of `xp`, and a second one on those that this exercise does not offer.

    The first has the signatures of functions that NumPy does not have. A local derivative needs none for shapes.
    """
    offered = [each for each in OWN_FUNCTIONS if each.__name__ in functions]
    own = ", ".join(f"`{write_signature(each)}`{SAID.get(each.__name__, '')}" for each in offered
                    if not is_local or each.__name__ == "sigmoid")  # fmt: skip
    missing = [f"`{each}`" for each in sorted(FUNCTIONS.keys() - set(functions))]
    return (f"{ABOUT_XP}, and {own}. For others, `import numpy as np`. `exercises.xp.{offered[-1].__name__}?` explains "
            "one of them, and the Tab key completes `exercises.xp.`."
            + (f"\n\nIn this exercise, `xp` does not have {join_names(missing)}." if missing else ""))  # fmt: skip


SAID = {
    "mT": " (swaps the last two axes)", "rows": " (a matrix: all axes except the last become one)",
    "count_along": " (the number of entries along `axis`)", "last_axes": " (the last `count` axes, as a tuple)",
    "unreduce": " (repeats along `axis` what was reduced, up to `shape`)",
    "sum_to_shape": " (undoes broadcasting from `shape`)",
}  # fmt: skip
"""What functions of `xp` do that NumPy does not have, in a few words."""


def write_signature(function: Any) -> str:
    """Return a function's name and parameters, with their defaults and without types."""
    parameters = inspect.signature(function).parameters.values()
    listed = [each.name if each.default is each.empty else f"{each.name}={each.default!r}" for each in parameters]
    return f"{function.__name__}({', '.join(listed)})"


def join_names(names: Sequence[str]) -> str:
    """Join names to an enumeration: "a", "a and b", "a, b and c"."""
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def show_call(inputs: dict[str, Any], result: dict[str, Any]) -> str:
    """Return a call of a student's function with its right result, as a block of text."""
    lines = [write_line(name, value) for name, value in inputs.items()]
    shown = [write_value(each) for each in result.values()]
    return "```python\n" + "\n".join([*lines, f"# the result: {', '.join(shown)}"]) + "\n```"


__all__ = ["ABOUT_XP", "show_call", "write_prompt", "xp"]
