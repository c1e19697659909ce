"""Writes docs/reference/ from the code: every operation with its rules, their formulas, and a call with its numbers;
then whatever else is public, from its docstring.

    make reference           or           python docs/make_reference.py

The pages are committed, and a test compares them with what this writes.
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

FOLDER = Path(__file__).resolve().parent / "reference"
INTRODUCTION = """\
# Reference

Every operation, by subject, and then tensors, transforms, layers, optimisers and whatever else is public. All of
it is written from the code by `make reference`: the formula of a rule is what the rule itself computes when it is
called with symbols, and every example has been run.

`upstream` is the gradient that arrives at the output, `contribution` what the input receives. Names of
inputs, of parameters and of the output (`out`) stand for their values. Where broadcasting repeated an input,
the engine adds the contribution up again; where the numbers are complex, it conjugates: see [how it
works](../how-it-works.md). What happens at kinks and ties is gathered in [conventions](../conventions.md).

The examples begin with

```python
import numpy as np
import micrograd_plus as mg
from micrograd_plus import nn, optim
```

Those with a way back print numbers to four digits, after
`np.set_printoptions(precision=4, suppress=True, linewidth=100)`, and their upstream is 1, -2, 3, -1, 2, -3 and so on,
because an upstream of ones hides much: of ones, a softmax sends 0.

| kind | its promise |
|---|---|
"""


NAMESPACES = {
    "mg": mg, "engine": mg.engine, "mg.random": mg.random, "mg.splat": mg.splat, "mg.stats": mg.stats,
    "mg.numpy.integrate": mg.numpy.integrate, "nn": mg.nn,
    "nn.functional": mg.nn.functional, "nn.init": mg.nn.init, "nn.utils": mg.nn.utils, "optim": mg.optim,
    "optim.lr_scheduler": mg.optim.lr_scheduler,
}  # fmt: skip
"""Where public names are, by what they are called here."""

OF_MICROGRAD = ("Neuron", "Layer", "MLP")
"""Names of `nn` that stand in no `__all__`."""

OTHERS = {
    "Tensors and modes": ("tensor", "core.runtime.blocks"),
    "Making tensors": ("tensor.creation",),
    "Transforms": ("transforms",),
    "Differential equations": ("numpy.integrate",),
    "Recording and checking": ("tracing", "checks"),
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
"""What is public besides operations: headings, and the modules whose names stand under each."""

WITH_METHODS = (mg.engine.Value, mg.Tensor, mg.Trace, mg.nn.Module, mg.optim.Optimizer)


def pages() -> dict[str, str]:
    """Every page of the reference, by file name."""
    written = {"index.md": index()}
    for heading, operations in reference.by_subject().items():
        parts = [f"# {heading}\n", *(entry(op) for op in operations)]
        parts += [derived(function) for function in reference.derived_functions(heading)]
        written[file_of(heading)] = "\n".join(parts)
    for heading, found in others().items():
        parts = [f"# {heading}\n", *(other(called, value) for called, value in found.items())]
        written[file_of(heading)] = "\n".join(parts)
    return written


def others() -> dict[str, dict[str, Any]]:
    """What is public besides operations: under each heading the names by which things are called, and the things."""
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
    """The heading under which a public thing stands: that of the module it comes from, or of the nearest above."""
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
    """What the kinds promise, and a table of all operations."""
    lines = [INTRODUCTION + "\n".join(f"| {kind} | {promise} |" for kind, promise in KINDS.items()), ""]
    for heading, operations in reference.by_subject().items():
        page = file_of(heading)
        lines += [f"## [{heading}]({page})", "", "| operation | what it is | kind |", "|---|---|---|"]
        lines += [row(page, op.name, op.forward, op.kind) for op in operations]
        lines += [row(page, f.__name__, f, "made of operations") for f in reference.derived_functions(heading)]
        lines.append("")
    for heading, found in others().items():
        page = file_of(heading)
        lines += [f"## [{heading}]({page})", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [{called}]({page}#{anchor(called)}) | {cell(reference.headline(value))} |"
                  for called, value in found.items()]
        lines.append("")
    return "\n".join(lines)


def row(page: str, name: str, function: Any, kind: str) -> str:
    """A line of the table."""
    return f"| [{name}]({page}#{anchor(name)}) | {cell(reference.headline(function))} | {kind} |"


def anchor(name: str) -> str:
    """The part of an address that leads to an entry."""
    return name.lower().replace(".", "")


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return text.replace("|", "\\|")


def entry(op: Any) -> str:
    """All about one operation."""
    parts = [
        f"## {op.name}",
        fenced("python", reference.signature(op)),
        also_called(reference.function_of(op)),
        *described(reference.documentation(op)),
    ]
    parts.append(f"*{op.kind}*: {KINDS[op.kind]}.")
    parts += [rule(each) for each in reference.shared_rules(op)]
    if not op.rules and op.kind != "non-differentiable":
        parts.append("It has no rule of its own: its forward is made of operations, and their rules run.")
    example = reference.example(op)
    if example is not None:
        parts += ["A call and its way back:", fenced("pycon", example)] if op.rules else [fenced("pycon", example)]
    parts.append(sources(reference.documentation(op)))
    return "\n\n".join(part for part in parts if part) + "\n"


def also_called(function: Any) -> str:
    """A sentence about other names of a function, where it has any."""
    names = [
        f"`{place}.{name}`"
        for place, namespace in {"mg": mg, "mg.special": mg.special}.items()
        for name in namespace.__all__
        if getattr(namespace, name) is function and name != function.__name__
    ]
    return f"The same as {' and '.join(names)}." if names else ""


def rule(served: list[Any]) -> str:
    """One rule: what it reads, its reason, the formula of each input that it serves, twice, and its source."""
    described = served[0]
    reads = ", ".join(f"`{name}`" for name in described.reads) or "nothing"
    parts = [f"**The rule for {', '.join(f'`{each.input}`' for each in served)}** reads {reads}."]
    if described.reason:
        parts.append(" ".join(described.reason.split()))
    for each in served:
        if len(served) > 1:
            parts.append(f"to `{each.input}`:")
        if each.text is None:
            parts.append("It cannot be read on symbols, so it has no formula.")
        else:
            parts += [fenced("text", each.text), fenced("math", each.latex)]
    parts.append(fenced("python", textwrap.dedent(described.source or "")))
    parts.append(f"in `{described.file}`")
    return "\n\n".join(parts)


def derived(function: Any) -> str:
    """A function that is made of operations."""
    parts = parts_of(function)
    call = f"{reference.home(function)[0]}.{function.__name__}{reference.bare_signature(function)}"
    text = [f"## {function.__name__}", fenced("python", call), *described(parts)]
    return "\n\n".join(filter(None, [*text, "*Made of operations*, whose rules run.", sources(parts)])) + "\n"


def other(called: str, value: Any) -> str:
    """A public function or class that is no operation."""
    text = [f"## {called}", *documented(called, value)]
    if value in WITH_METHODS:
        text.append(methods_that_are_operations(value))
        for name, method in methods(value).items():
            text += [f"### {name}", *documented(f"{value.__name__.lower()}.{name}", method)]
    return "\n\n".join(filter(None, text)) + "\n"


def documented(called: str, value: Any) -> list[str]:
    """How a thing is called, and its docstring."""
    parts = parts_of(value)
    is_called = callable(value) and value not in (mg.Tensor, mg.Trace)
    call = f"{called}{without_self(reference.bare_signature(value))}" if is_called else called
    return [fenced("python", call), *described(parts), sources(parts)]


def without_self(signature: str) -> str:
    """The parameters of a method, as its caller gives them."""
    return re.sub(r"^\((self|cls)(, )?", "(", signature)


def methods(kind: Any) -> dict[str, Any]:
    """What a class defines for its users: methods and properties, but for operations."""
    return {
        name: getattr(kind, name)
        for name, value in vars(kind).items()
        if not name.startswith("_") and (isinstance(value, (property, classmethod)) or inspect.isfunction(value))
        if not hasattr(value, "op") and getattr(kind, name).__doc__
    }


def methods_that_are_operations(kind: Any) -> str:
    """A sentence about the operations that a class has as methods."""
    names = [f"`{name}`" for name, value in vars(kind).items() if hasattr(value, "op") and not name.startswith("_")]
    return f"These methods are the operations of the same name: {', '.join(names)}." if names else ""


def described(parts: Docstring) -> list[str]:
    """A docstring as paragraphs of a page, all but where more can be read."""
    text = [parts.summary, *(fenced("text", block.text) if block.as_it_stands else block.text for block in parts.body)]
    text += [f"**Shapes**: {parts.shapes}"] if parts.shapes else []
    if parts.arguments:
        text += ["**Arguments**", "\n".join(f"- {coded(names)}: {said}" for names, said in parts.arguments)]
    text += [f"**Returns** {parts.returns}"] if parts.returns else []
    text += [f"**Raises** {parts.raises}"] if parts.raises not in ("", "nothing.") else []
    return [*text, fenced("pycon", parts.example)] if parts.example else text


def coded(names: str) -> str:
    """Names of arguments as code, each by itself."""
    return ", ".join(f"`{name}`" for name in names.split(", "))


def sources(parts: Docstring) -> str:
    """Where more can be read."""
    return f"**See** {parts.see}" if parts.see else ""


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def main() -> None:
    """Write every page, and remove those of subjects that are gone."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"Wrote {len(wanted)} pages to {FOLDER.name}.\n")


if __name__ == "__main__":
    main()
