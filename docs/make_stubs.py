"""Writes the stubs, which list the names of the public modules for editors and type checkers.

    make reference           or           python docs/make_stubs.py

Operations become public when they are defined, and some modules are imported on first use. Editors cannot follow that,
so the stubs list the names statically. They are committed, and a test compares them with the output of this program.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

import micrograd_plus as mg
from micrograd_plus import ops
from micrograd_plus.checks import reference
from micrograd_plus.extras import quantisation
from micrograd_plus.files import write_file

ROOT = Path(__file__).resolve().parent.parent
BEGINNING = '"""{}\n\nWritten by `make reference`, for editors and type checkers; Python itself never reads it.\n"""\n'
WIDTH = 120
AT_ONCE = ("tensor", "core.runtime.blocks")
"""The modules that the package imports eagerly."""


def stubs() -> dict[str, str]:
    """Return all stubs, by their paths from the root of the repository."""
    written = {"micrograd_plus/__init__.pyi": package(), "micrograd_plus/ops/__init__.pyi": subjects()}
    for module in (mg.fft, mg.linalg, mg.signal, mg.special, quantisation):
        is_package = hasattr(module, "__path__")
        dots = "." * (module.__name__.count(".") + is_package)
        parts = [
            BEGINNING.format(reference.headline(module)),
            f"from typing import Any\n\nfrom {dots}tensor import Tensor\n\n__all__: list[str]\n",
            *(definition(each, getattr(module, each)) for each in module.__all__),
        ]
        written[f"{module.__name__.replace('.', '/')}{'/__init__' if is_package else ''}.pyi"] = "\n".join([*parts, ""])
    for module in (mg.nn.functional.nonlinearities, mg.nn.activations):
        written[f"{module.__name__.replace('.', '/')}.pyi"] = activations(module)
    return written


# The package itself ---------------------------------------------------------------------------------------------------


def package() -> str:
    """Return the stub of `micrograd_plus`: each public name, imported from its module."""
    others = sorted({*mg.__all__} - {*ops.__all__, *quantisation.__all__})
    starred = [("ops", "*", "*"), ("extras.quantisation", "*", "*")]
    found = sorted([("", "ops", "ops"), *starred, *((*home(name), name) for name in others)])
    imports = [import_from(module, list(members)) for module, members in groupby(found, key=lambda each: each[0])]
    renamed = [f"{name} = _{name}" for _, inside, name in found if inside != name]
    parts = [
        BEGINNING.format(reference.headline(mg)),
        "\n".join(imports),
        "\n".join(["", *renamed, "__version__: str", ""]),
    ]
    return "\n".join(parts)


def home(name: str) -> tuple[str, str]:
    """Return the module that a public name comes from, and its name there."""
    found = getattr(mg, name)
    if inspect.ismodule(found):
        package, _, inside = found.__name__.removeprefix("micrograd_plus.").rpartition(".")
        return package, inside
    if name in mg._WHEN_ASKED_FOR:
        module, _, inside = mg._WHEN_ASKED_FOR[name].partition(":")
        return module, inside
    return next(module for module in AT_ONCE if name in vars(sys.modules[f"micrograd_plus.{module}"])), name


def import_from(module: str, members: list[tuple[str, str, str]]) -> str:
    """Return the import statement that makes names of a module public in a stub."""
    names = [spell_import(inside, name) for _, inside, name in members]
    line = f"from .{module} import {', '.join(names)}"
    if len(line) > WIDTH:
        line = f"from .{module} import (\n{indent_parts(names)}\n)"
    return line


def spell_import(inside: str, name: str) -> str:
    """Return one name in an import statement; a renamed object gets a leading underscore."""
    return "*" if name == "*" else f"{inside} as {name}" if inside == name else f"{inside} as _{name}"


# Operations -----------------------------------------------------------------------------------------------------------


def subjects() -> str:
    """Return the stub of `micrograd_plus.ops`: every operation, under the heading of its subject."""
    parts = [
        BEGINNING.format(reference.headline(ops)),
        "from collections.abc import Iterator\nfrom types import FunctionType, ModuleType\nfrom typing import Any\n",
        "from ..tensor import Tensor\n",
        f"__all__ = [\n{indent_parts([quote(name) for name in ops.__all__])}\n]\n",
        "SUBJECTS: dict[str, ModuleType]\nAPART: dict[ModuleType, str]\n",
        'def is_public(function: Any) -> bool: """Return whether users call a function of operations."""',
        "def functions_of(subject: ModuleType) -> Iterator[tuple[str, FunctionType]]: ...\n",
    ]
    for heading, names in groupby(ops.__all__, key=heading_of):
        parts += [f"# {heading}", *(definition(name, getattr(ops, name)) for name in names), ""]
    internal = sorted(name for name, function in vars(ops).items() if not ops.is_public(function))
    parts += ["# Steps that only rules need", *(definition(name, getattr(ops, name)) for name in internal), ""]
    return "\n".join(parts)


def quote(name: str) -> str:
    """Return a name as a string literal."""
    return f'"{name}"'


def heading_of(name: str) -> str:
    """Return the subject of an operation."""
    module = getattr(ops, name).__module__
    return next(heading for heading, subject in ops.SUBJECTS.items() if subject.__name__ == module)


def definition(name: str, function: Any) -> str:
    """Return a function's definition in a stub: parameters, result, and the first sentence of its docstring."""
    taken, returned = parameters(function), result(function)
    line = f"def {name}({', '.join(taken)}) -> {returned}:"
    if len(line) > WIDTH:
        line = f"def {name}(\n{indent_parts(taken)}\n) -> {returned}:"
    sentence = f'"""{reference.headline(function)}"""'
    if len(line) + len(sentence) < WIDTH:
        return f"{line} {sentence}"
    return f"{line}\n{textwrap.indent(textwrap.fill(sentence, WIDTH - 4), '    ')}"


def parameters(function: Any) -> list[str]:
    """Return each parameter as code; a default that is not a literal becomes `...`."""
    written, stars = [], {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for each in inspect.signature(function).parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(one.startswith("*") for one in written):
            written.append("*")
        default = "" if each.default is inspect.Parameter.empty else f" = {literal(each.default)}"
        written.append(f"{stars.get(each.kind, '')}{each.name}: Any{default}")
    return written


def literal(value: Any) -> str:
    """Return the code of a default."""
    if value is None or isinstance(value, (bool, int, float, tuple)):
        return repr(value)
    return f'"{value}"' if isinstance(value, str) else "..."


def result(function: Any) -> str:
    """Return the type of the result. A wrapper of an operation with several outputs may return some of them."""
    op = getattr(function, "op", None)
    if op is None or not op.outputs:
        return "Tensor"
    if op.call is not function:
        return "Any"
    return "tuple[Tensor, ...]" if op.outputs == ("parts",) else f"tuple[{', '.join(['Tensor'] * len(op.outputs))}]"


def indent_parts(parts: list[str]) -> str:
    """Join parts with commas, on indented lines."""
    lines = [""]
    for part in parts:
        if len(f"    {lines[-1]} {part},") > WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part},".lstrip()
    return textwrap.indent("\n".join(lines), "    ")


# Activations ----------------------------------------------------------------------------------------------------------


def activations(module: Any) -> str:
    """Return the stub of a module of activations: its functions, or the classes made of them."""
    dots = "." * module.__name__.count(".")
    imports = [f"from {dots}tensor import Tensor"]
    if module is mg.nn.activations:
        imports = ["from .derived import Activation", "from .module import Module"]
    lines = [BEGINNING.format(reference.headline(module)), "from typing import Any\n", *imports, ""]
    for name in module.__all__:
        value = getattr(module, name)
        sentence = textwrap.fill(f'"""{reference.headline(value)}"""', WIDTH - 4)
        if inspect.isclass(value):
            lines += [f"class {name}({value.__base__.__name__}):", textwrap.indent(sentence, "    "), ""]
            taken = ", ".join(["self", *typed_parameters(value)])
            line = f"    def __init__({taken}) -> None: ..."
            lines += [line if len(line) <= WIDTH else f"    def __init__(\n        {taken}\n    ) -> None: ...", ""]
        else:
            lines += [f"def {name}({', '.join(typed_parameters(value))}) -> Tensor:", textwrap.indent(sentence, "    ")]
    return "\n".join([*lines, ""])


def typed_parameters(function: Any) -> list[str]:
    """Return each parameter of a function with its annotation, which is a string."""
    texts: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        default = "" if each.default is inspect.Parameter.empty else f" = {literal(each.default)}"
        texts.append(f"{each.name}: {each.annotation}{default}")
    return texts


def main() -> None:
    """Write all stubs."""
    for path, text in stubs().items():
        write_file(ROOT / path, text)
        sys.stdout.write(f"Wrote {path}.\n")


if __name__ == "__main__":
    main()
