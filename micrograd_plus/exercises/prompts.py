"""Prompts of exercises: what an operation computes, an example on few numbers, and what an answer may read."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ..backends import devices
from ..checks.reference import documentation, signature, summary
from ..checks.samples import Sample
from ..core.apply import Op
from ..formulas import notation, symbols
from ..formulas.simplify import simplify
from .rule_answers import ENGINE
from .rule_cases import PROBABILITIES, with_probabilities
from .sandboxed import FUNCTIONS, OWN_FUNCTIONS, Namespace

np = devices.device("cpu").library

GIVEAWAY = re.compile(
    r"gradient|derivative|slope|upstream|contribution|rule\b|\bsends?\b|receive|backward|\btie|kink|∂|mg\.|^`\w+`\.?$"
)
"""Words of sentences that belong to the answer, not to the task."""
MOST_SHOWN = 24
"""The number of entries up to which an array is written out."""

xp = Namespace(FUNCTIONS)
"""Every function that a rule can use, to try them and to complete their names: `exercises.xp.unreduce?`."""


def write_prompt(
    op: Op, served: tuple[str, ...], reads: Sequence[str], functions: Sequence[str], samples: Sequence[Sample], *,
    is_local: bool, whole: bool, convention: str | None, has_corners: bool,
) -> str:  # fmt: skip
    """Return the text of the task for rules of an operation.

    Conventions are mentioned only if some inputs are at a kink, at a tie or at the edge of the domain.
    """
    sample = smallest_sample(samples)
    parts = [f"`{signature(op)}`: {summary(op)}", write_forward(op, sample), show_example(op, sample),
             write_task(op, served, is_local, whole), list_readable_values(op, reads, sample),
             describe_functions(functions)]  # fmt: skip
    if convention:
        parts.append(f"At kinks and ties: {convention}.")
    elif has_corners:
        parts.append("At a kink, at a tie and at the edge of the domain, any convention is right.")
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
    blocks = [" ".join(str(getattr(block, "text", block)).split()) for block in documentation(op).body[:1]]
    kept = []
    for sentence in re.split(r"(?<=[.:])\s+", " ".join(blocks)):
        is_part = sentence.endswith(":") or (sentence[:1].islower() and " = " not in sentence)
        if not is_part:
            kept += takewhile(lambda part: not GIVEAWAY.search(part), re.split(r"(?<=;)\s+", sentence))
    text = " ".join(kept).strip().rstrip(";.")
    return f"{text}." if text else ""


def forward_formula(op: Op, sample: Sample) -> str:
    """Return the forward of the example as a formula; an empty text if NumPy's words are not enough to write it."""
    names = op.input_names(len(sample.inputs))
    inputs: list[Any] = [value if value is None else symbols.Symbol(name)
                         for name, value in zip(names, example_inputs(op, sample), strict=True)]  # fmt: skip
    try:
        out = op.forward(symbols, *([inputs] if op.kind == "variadic" else inputs), **{**op.params, **sample.params})
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


def smallest_sample(samples: Sequence[Sample]) -> Sample:
    """Return the call with the fewest numbers, if possible one with rows."""

    def size(sample: Sample) -> tuple[bool, int]:
        arrays = [value for value in sample.inputs if hasattr(value, "shape")]
        return all(array.ndim < 2 for array in arrays), sum(array.size for array in arrays)

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
        return f"[{', '.join(map(write_value, value))}]"
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
    if whole:
        lines.append("Your result must have exactly the shape of the input, so undo broadcasting yourself.")
    elif not is_local:
        lines.append("Your result must have the shape of the input, or the shape to which the input was broadcast.")
    if several:
        lines.append(f"Return one result for each input, in this order: {', '.join(served)}.")
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
    text += "\n".join(["- `xp`: NumPy's functions, see below", *lines])
    if set(reads) & set(op.residuals):
        text += f"\n\nThis is how the forward pass computes them:\n\n```python\n{forward_source(op)}\n```"
    return text


def write_shape(name: str, values: dict[str, Any], out: Any) -> str:
    """Return the shape of a readable value in the example."""
    value: Any = out if name == "upstream" else values.get(name)
    if not isinstance(value, (tuple, list)) and hasattr(value, "shape") and not name.endswith("_shape"):
        return f", shape {tuple(value.shape)}"
    return f" = {value!r}" if name.endswith("_shape") and value is not None else ""


def describe_value(op: Op, name: str, described: dict[str, str]) -> str:
    """Return what a readable value holds."""
    if name == "upstream":
        return "what arrives at the output" + ("s, one array for each" if len(op.outputs) > 1 else "")
    if name == "out":
        return "the output"
    if name.endswith("_shape"):
        return f"the shape of {name.removesuffix('_shape')}"
    if name in op.residuals:
        return "a number or an array that the forward pass has computed"
    if name in op.outputs:
        return "one of the outputs"
    kind = "input" if name in op.inputs else "parameter"
    return described.get(name, f"the {kind} `{name}`").rstrip(".")


def forward_source(op: Op) -> str:
    """Return the code of an operation's forward, without its decorators and its docstring."""
    source = textwrap.dedent(inspect.getsource(op.forward))
    source = source[source.index("def ") :]
    return re.sub(r'\n\s*""".*?"""', "", source, count=1, flags=re.DOTALL).rstrip()


def describe_functions(functions: Sequence[str]) -> str:
    """Return the functions that `xp` has, with the signatures of those that NumPy does not have."""
    own = ", ".join(f"`{write_signature(each)}`" for each in OWN_FUNCTIONS if each.__name__ in functions)
    missing = ", ".join(sorted(FUNCTIONS.keys() - set(functions)))
    return (f"`xp` has NumPy's functions{f' (except {missing})' if missing else ''} and {own}. "
            "`exercises.xp.rows?` explains one of them, and the Tab key completes `exercises.xp.`.")  # fmt: skip


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


__all__ = ["show_call", "write_prompt", "xp"]
