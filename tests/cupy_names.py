"""Writes `cupy_names.json`: the names and arguments of CuPy, so that the fake device has no others.

    python tests/cupy_names.py          where CuPy is installed; no GPU is needed

`functions` and `methods` contain the arguments (only whether there is a default, not its value). `ufuncs` contains the
loops in NumPy's letters, in the order in which CuPy tries them. `attributes` lists attributes of an array that are not
methods, and `values` the constants and types of the library.
"""

import inspect
import json
import re
import types
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("cupy_names.json")

ROOMS = ("", "fft", "linalg", "lib.stride_tricks")
"""The modules of CuPy whose names the file contains."""

AS_DOCUMENTED = {
    "einsum": "*operands, dtype=None, optimize=None",
    "pad": "array, pad_width, mode=None, *, constant_values=None, end_values=None, reflect_type=None, stat_length=None",
}
"""Documented arguments of functions whose signature has only `**kwargs`."""


def main() -> None:
    """Read CuPy, and write the file."""
    import cupy

    found: dict[str, Any] = {"version": cupy.__version__, "functions": {}, "ufuncs": {}, "methods": {}}
    found |= {"attributes": [], "values": []}
    for room in ROOMS:
        module = cupy
        for name in filter(None, room.split(".")):
            module = getattr(module, name)
        for name in public(module):
            sort_in(found, f"{room}.{name}".lstrip("."), getattr(module, name), cupy.ufunc)
    for name in public(cupy.ndarray):
        part = getattr(cupy.ndarray, name)
        if callable(part):
            found["methods"][name] = arguments(part).removeprefix("self").removeprefix(", ")
        else:
            found["attributes"].append(name)
    FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def public(owner: Any) -> list[str]:
    """Return the names that do not begin with an underscore."""
    return [name for name in dir(owner) if not name.startswith("_")]


def sort_in(found: dict[str, Any], name: str, part: Any, ufunc: type) -> None:
    """Add one name of the library to its section."""
    if isinstance(part, ufunc):
        found["ufuncs"][name] = part.types
    elif isinstance(part, types.ModuleType):
        return
    elif callable(part) and not isinstance(part, type):
        found["functions"][name] = AS_DOCUMENTED.get(name) or arguments(part)
    else:
        found["values"].append(name)


def arguments(function: Any) -> str:
    """Return the arguments of a function without types; compiled functions list them in their docstring."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        said = re.match(r"[\w.]+\((.*)\)", (function.__doc__ or "").strip().partition("\n")[0])
        if said is None:
            raise
        bare = re.sub(r"\b[\w ]+ (\w+)(?=[,=]|$)", r"\1", said[1])
        signature = inspect.signature(eval(f"lambda {bare}: None"))  # noqa: S307 - CuPy's own words
    return ", ".join(said_without_types(signature))


def said_without_types(signature: inspect.Signature) -> list[str]:
    """Yield each argument without its type, and the separators `/` and `*`."""
    kinds = [each.kind for each in signature.parameters.values()]
    words: list[str] = []
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in words and each.VAR_POSITIONAL not in kinds:
            words.append("*")
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        words.append(stars + each.name + ("" if each.default is each.empty else "=None"))
        if each.kind is each.POSITIONAL_ONLY and kinds.count(each.kind) == len(words):
            words.append("/")
    return words


if __name__ == "__main__":
    main()
