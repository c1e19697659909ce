"""Guards of a program: its conditions besides the arguments, and the comparison of two traces."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..nn.module import Module
from ..pytrees import leaves
from ..tensor.tensor import Tensor

MISS = object()


class Guards:
    """Everything around a step that its program depends on, besides its arguments."""

    def __init__(self, function: Any, page: Any):
        self.conditions = [(read, value) for read, value, _ in page.conditions]
        self.variables = variables_of(function)
        self.modules = module_attributes([value for _, _, value in self.variables])
        self.attribute_writes = Module.attribute_writes[0]

    def hold(self) -> bool:
        """Return True if everything is as it was when the program was written."""
        for holder, name, value in self.variables:
            if holder.get(name, MISS) is not value:
                return False
        if self.attribute_writes != Module.attribute_writes[0] and not self.modules_hold():
            return False
        for read, value in self.conditions:
            try:
                if read() != value:
                    return False
            except (KeyError, IndexError, AttributeError):
                return False
        return True

    def modules_hold(self) -> bool:
        """Return True if all modules have the attributes that they had."""
        if any(holder.get(name, MISS) is not value for holder, name, value in self.modules):
            return False
        self.attribute_writes = Module.attribute_writes[0]
        return True


class Cells(dict[str, Any]):
    """The variables of a closure, read as a dictionary."""

    def __init__(self, function: Any):
        super().__init__()
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a variable now."""
        try:
            return self.cells[name].cell_contents
        except ValueError:
            return default


def variables_of(function: Any) -> list[tuple[Any, str, Any]]:
    """Return the global and closure variables that a function names: where they are, their names and values."""
    function = inspect.unwrap(function)
    found: list[tuple[Any, str, Any]] = []
    if inspect.ismethod(function):
        found.append(({"self": function.__self__}, "self", function.__self__))
        function = function.__func__
    if not inspect.isfunction(function):
        return found
    variables = inspect.getclosurevars(function)
    cells = Cells(function)
    found += [(function.__globals__, name, value) for name, value in variables.globals.items()]
    return found + [(cells, name, value) for name, value in variables.nonlocals.items()]


def module_attributes(values: list[Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Return the attributes of all modules among some values that a program depends on."""
    modules = [module for value in leaves(values) if isinstance(value, Module) for module in value.modules()]
    return [
        (vars(module), name, x)
        for module in modules
        for name, x in vars(module).items()
        if isinstance(x, (Tensor, Module, bool, int, float, str, type(None)))
    ]


def first_difference(first: Any, second: Any) -> str:
    """Return an error message if two traces of a step differ; nothing if they are equal."""
    lines = [p.source.splitlines() for p in (first, second)]
    block = "the step"
    for a, b in zip(*lines, strict=False):
        if a != b:
            return _difference(block, a.strip(), b.strip())
        if a.strip().startswith("# "):
            block = a.strip()[2:]
    if len(lines[0]) != len(lines[1]):
        return _difference(block, f"{len(lines[0])} lines", f"{len(lines[1])} lines")
    for name, x in first.text.constants.items():
        y = second.text.constants.get(name)
        if y is None or x.shape != y.shape or x.tobytes() != y.tobytes():
            return _difference(block, f"{name} = {_short(x)}", f"{name} = {_short(y)}")
    if first.structure != second.structure:
        return _difference("the result", repr(first.structure), repr(second.structure))
    return ""


def _short(x: Any) -> str:
    return np.array2string(x, threshold=6) if x is not None else "nothing"


def _difference(block: str, first: str, second: str) -> str:
    return (
        f"mg.compile: two calls of the step wrote different programs, at {block}: first `{first}`, then `{second}`. A "
        f"number that changes from call to call must be an argument (floats and arrays are inputs) or a setting of an "
        f"optimiser; a branch that changes must become mg.where"
    )
