"""Writes docs/reference/ from the code: operations with rules, formulas and examples, and the docstrings of all other
public names.

    make reference           or           python docs/make_reference.py

The pages are committed, and a test compares them with the output of this program.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import micrograd_plus as mg
from micrograd_plus.checks import reference
from micrograd_plus.checks.docstrings import Docstring, parts_of
from micrograd_plus.core.rule import KINDS
from micrograd_plus.files import write_file

FOLDER = Path(__file__).resolve().parent / "reference"
INTRODUCTION = """\
# Reference

Every operation, by subject, and then tensors, transforms, layers, optimisers and all other public names.
`make reference` writes all pages from the code: it calls each rule with symbols to get its formula, and runs every
example.

`upstream` is the gradient that arrives at the output, and `contribution` is the gradient that the input receives. Names
of inputs, of parameters and of the output (`out`) stand for their values. If broadcasting repeated an input, the engine
sums the contribution; it conjugates complex numbers: see [how it
works](../how-it-works.md). Gradients at kinks and ties are listed in [conventions](../conventions.md).

The examples begin with

```python
import numpy as np
import micrograd_plus as mg
from micrograd_plus import nn, optim
```

Examples with gradients print numbers to four digits, after
`np.set_printoptions(precision=4, suppress=True, linewidth=100)`. Their upstream is 1, -2, 3, -1, 2, -3 and so on,
because an upstream of ones hides errors: a softmax returns a gradient of 0 for it.

| kind | its promise |
|---|---|
"""


NAMESPACES = {
    "mg": mg, "engine": mg.engine, "mg.random": mg.random, "mg.splat": mg.splat, "mg.stats": mg.stats,
    "mg.numpy.integrate": mg.numpy.integrate, "mg.autograd": mg.autograd, "mg.cuda": mg.cuda, "nn": mg.nn,
    "nn.functional": mg.nn.functional, "nn.init": mg.nn.init, "nn.utils": mg.nn.utils, "optim": mg.optim,
    "optim.lr_scheduler": mg.optim.lr_scheduler,
}  # fmt: skip
"""The public namespaces, by the names that the reference uses."""

OF_MICROGRAD = ("Neuron", "Layer", "MLP")
"""Names of `nn` that are not in its `__all__`."""

OTHERS = {
    "Tensors and modes": ("tensor", "core.runtime.blocks", "cuda"),
    "Making tensors": ("tensor.creation",),
    "Transforms": ("transforms", "autograd"),
    "Differential equations": ("numpy.integrate",),
    "Recording and checking": ("tracing", "checks"),
    "Steps as programs": ("written",),
    "Operations of your own": ("core.define", "core.composite"),
    "As in micrograd": ("engine", "nn.scalars"),
    "Random numbers": ("random",),
    "Layers": ("nn",),
    "Functions of layers": ("nn.functional",),
    "Initialisation": ("nn.init",),
    "Saving and clipping": ("nn.saving", "nn.utils", "files"),
    "Optimisers": ("optim",),
    "Schedules": ("optim.lr_scheduler", "optim.plateau", "optim.schedule"),
    "Distributions": ("extras.stats",),
    "Rendering": ("extras.splat",),
}
"""Other public names: headings, and the modules under each."""

WITH_METHODS = (mg.engine.Value, mg.Tensor, mg.Trace, mg.nn.Module, mg.optim.Optimizer)


def pages() -> dict[str, str]:
    """Return all pages of the reference, by file name."""
    written = {"index.md": index()}
    for heading, operations in reference.by_subject().items():
        parts = [f"# {heading}\n", *(entry(op) for op in operations)]
        parts += [function_entry(function) for function in reference.derived_functions(heading)]
        written[file_of(heading)] = "\n".join(parts)
    for heading, found in others().items():
        parts = [f"# {heading}\n", *(other(called, value) for called, value in found.items())]
        written[file_of(heading)] = "\n".join(parts)
    return written


def others() -> dict[str, dict[str, Any]]:
    """Return the public objects that are not operations: under each heading, objects by name."""
    known = {id(op.call) for op in reference.operations.values()}
    known |= {id(function) for heading in reference.by_subject() for function in reference.derived_functions(heading)}
    known |= {id(reference.function_of(op)) for op in reference.operations.values()}
    found: dict[str, dict[str, Any]] = {heading: {} for heading in OTHERS}
    for place, namespace in NAMESPACES.items():
        for name in (*namespace.__all__, *(OF_MICROGRAD if namespace is mg.nn else ())):
            value = getattr(namespace, name)
            if callable(value) and id(value) not in known:
                known.add(id(value))
                found[heading_of(value)][f"{place}.{name}"] = value
    return found


def heading_of(value: Any) -> str:
    """Return the heading of a public object: of its module, or of the nearest parent."""
    headings = {f"micrograd_plus.{module}": heading for heading, modules in OTHERS.items() for module in modules}
    module = value.__module__
    while module not in headings:
        if "." not in module:
            raise LookupError(f"{value!r} is public: give {value.__module__} a heading in OTHERS")
        module = module.rpartition(".")[0]
    return headings[module]


def file_of(heading: str) -> str:
    """The page of a subject."""
    return f"{heading.lower().replace(' ', '-')}.md"


def index() -> str:
    """Return the index: the promises of the kinds, and a table of all operations."""
    lines = [INTRODUCTION + "\n".join(f"| {kind} | {promise} |" for kind, promise in KINDS.items()), ""]
    for heading, operations in reference.by_subject().items():
        page = file_of(heading)
        lines += [f"## [{heading}]({page})", "", "| operation | what it is | kind |", "|---|---|---|"]
        lines += [row(page, op.name, op.forward, op.kind) for op in operations]
        lines += [row(page, f.__name__, f, "composed of operations") for f in reference.derived_functions(heading)]
        lines.append("")
    for heading, found in others().items():
        page = file_of(heading)
        lines += [f"## [{heading}]({page})", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [{called}]({page}#{anchor(called)}) | {cell(reference.headline(value))} |"
                  for called, value in found.items()]
        lines.append("")
    return "\n".join(lines)


def row(page: str, name: str, function: Any, kind: str) -> str:
    """Return a row of the table."""
    return f"| [{name}]({page}#{anchor(name)}) | {cell(reference.headline(function))} | {kind} |"


def anchor(name: str) -> str:
    """Return the anchor of an entry."""
    return name.lower().replace(".", "")


def cell(text: str) -> str:
    """Escape a text for a table."""
    return text.replace("|", "\\|")


def entry(op: Any) -> str:
    """Return the entry of an operation."""
    parts = [
        f"## {op.name}",
        code_block("python", reference.signature(op)),
        other_names(reference.function_of(op)),
        *paragraphs(reference.documentation(op)),
    ]
    parts.append(f"*{op.kind}*: {KINDS[op.kind]}.")
    parts += [rule(each) for each in reference.shared_rules(op)]
    if not op.rules and op.kind != "non-differentiable":
        parts.append("It has no separate rule: its forward is composed of operations, whose rules run.")
    example = reference.example(op)
    if example is not None:
        parts += ["A call and its gradients:"] if op.rules else []
        parts.append(code_block("pycon", example))
    parts.append(sources(reference.documentation(op)))
    return "\n\n".join(part for part in parts if part) + "\n"


def other_names(function: Any) -> str:
    """Return a sentence about other names of a function, if it has any."""
    names = [
        f"`{place}.{name}`"
        for place, namespace in {"mg": mg, "mg.special": mg.special}.items()
        for name in namespace.__all__
        if getattr(namespace, name) is function and name != function.__name__
    ]
    return f"The same as {' and '.join(names)}." if names else ""


def rule(served: list[Any]) -> str:
    """Return the description of a rule: inputs, reason, formulas as text and LaTeX, and source."""
    described = served[0]
    reads = ", ".join(f"`{name}`" for name in described.reads) or "nothing"
    parts = [f"**The rule for {', '.join(f'`{each.input}`' for each in served)}** reads {reads}."]
    if described.reason:
        parts.append(" ".join(described.reason.split()))
    for each in served:
        if len(served) > 1:
            parts.append(f"to `{each.input}`:")
        if each.text is None:
            parts.append("It cannot be called with symbols, so it has no formula.")
        else:
            parts += [code_block("text", each.text), code_block("math", each.latex)]
    parts.append(code_block("python", textwrap.dedent(described.source or "")))
    parts.append(f"in `{described.file}`")
    return "\n\n".join(parts)


def function_entry(function: Any) -> str:
    """Return the entry of a function that is composed of operations."""
    parts = parts_of(function)
    call = f"{reference.home(function)[0]}.{function.__name__}{reference.bare_signature(function)}"
    text = [f"## {function.__name__}", code_block("python", call), *paragraphs(parts)]
    return "\n\n".join(filter(None, [*text, "*Composed of operations*, whose rules run.", sources(parts)])) + "\n"


def other(called: str, value: Any) -> str:
    """Return the entry of a public function or class that is not an operation."""
    text = [f"## {called}", *call_and_docstring(called, value)]
    if value in WITH_METHODS:
        text.append(methods_that_are_operations(value))
        for name, method in methods(value).items():
            text += [f"### {name}", *call_and_docstring(f"{value.__name__.lower()}.{name}", method)]
    return "\n\n".join(filter(None, text)) + "\n"


def call_and_docstring(called: str, value: Any) -> list[str]:
    """Return the call and the docstring of an object."""
    parts = parts_of(value)
    is_called = callable(value) and value not in (mg.Tensor, mg.Trace)
    call = f"{called}{without_self(reference.bare_signature(value))}" if is_called else called
    return [code_block("python", call), *paragraphs(parts), sources(parts)]


def without_self(signature: str) -> str:
    """Return the parameters of a method without `self`."""
    return re.sub(r"^\((self|cls)(, )?", "(", signature)


def methods(kind: Any) -> dict[str, Any]:
    """Return the public methods and properties of a class, except operations."""
    return {
        name: getattr(kind, name)
        for name, value in reference.members(kind).items()
        if not name.startswith("_") and (isinstance(value, (property, classmethod)) or inspect.isfunction(value))
        if not hasattr(value, "op") and getattr(kind, name).__doc__
    }


def methods_that_are_operations(kind: Any) -> str:
    """Return a sentence about the operations that a class has as methods."""
    operations = [name for name, value in reference.members(kind).items() if hasattr(value, "op")]
    names = [f"`{name}`" for name in operations if not name.startswith("_")]
    return f"These methods are the operations of the same name: {', '.join(names)}." if names else ""


def paragraphs(parts: Docstring) -> list[str]:
    """Return a docstring as paragraphs of a page, without the references."""
    blocks = (code_block("text", block.text) if block.is_verbatim else block.text for block in parts.body)
    text = [parts.summary, *blocks]

    text += [f"**Shapes**: {parts.shapes}"] if parts.shapes else []
    if parts.arguments:
        text += ["**Arguments**", "\n".join(f"- {as_code(names)}: {said}" for names, said in parts.arguments)]
    text += [f"**Returns** {parts.returns}"] if parts.returns else []
    text += [f"**Raises** {parts.raises}"] if parts.raises not in ("", "nothing.") else []
    return [*text, code_block("pycon", parts.example)] if parts.example else text


def as_code(names: str) -> str:
    """Format the names of arguments as code."""
    return ", ".join(f"`{name}`" for name in names.split(", "))


def sources(parts: Docstring) -> str:
    """Return the references of a docstring."""
    return f"**See** {parts.see}" if parts.see else ""


def code_block(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"


def main() -> None:
    """Write all pages, and remove pages of subjects that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        write_file(FOLDER / name, text)
    sys.stdout.write(f"Wrote {len(wanted)} pages to {FOLDER.name}.\n")


if __name__ == "__main__":
    main()
