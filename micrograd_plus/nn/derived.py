"""Activation functions from operations, and modules from activation functions.

An activation is declared once, as an operation with its rule and docstring. `as_function` gives the function of
PyTorch's name that docstring, `as_module` makes the class:

    @as_function(ops.leaky_relu, slope="negative_slope")
    def leaky_relu(input, negative_slope=0.01, inplace=False):
        return ops.leaky_relu(input, slope=negative_slope)

    LeakyReLU = as_module("LeakyReLU", leaky_relu)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from numbers import Number
from typing import Any

from ..tensor import Tensor
from .module import Module

INPLACE = "    inplace: accepted as in PyTorch and ignored; no tensor is overwritten."
_SECTION = re.compile(r"^(?=(?:Shapes|Args|Returns|Raises|Example|See):)", re.MULTILINE)


class Activation(Module):
    """Module that applies one function of `nn.functional` with fixed settings."""

    def __init__(self, function: Callable[..., Tensor], **settings: Any):
        for name, value in settings.items():
            if not isinstance(value, str if name == "approximate" else Number):
                raise TypeError(f"{type(self).__name__}: {name} must be a number, got {value!r}")
        self.function, self.settings = function, settings

    def forward(self, input: Any) -> Tensor:
        """Return the function of the input."""
        return self.function(input, **self.settings)

    def extra_repr(self) -> str:
        """Return the settings as text."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


def as_function(operation: Any, **names: str) -> Callable[[Any], Any]:
    """Return a decorator for a function that is an operation by another name.

    The function receives the operation's docstring, with its own parameter names.

    Args:
        operation: the operation.
        names: for each parameter of the operation that is called differently here, its name.
    """

    def document(function: Any) -> Any:
        function.__doc__ = function_docstring(function, operation, names)
        return function

    return document


def as_module(
    name: str, function: Callable[..., Tensor], check: Callable[..., str | None] = lambda **settings: None
) -> type[Activation]:
    """Return a subclass of `Activation` for a function, whose settings are the function's parameters.

    Args:
        name: the name of the class.
        function: a function of `nn.functional`, with the input first.
        check: returns a message for invalid settings, or None.
    """
    _, *settings = inspect.signature(function).parameters.values()
    signature = inspect.Signature(settings)

    def initialise(self: Activation, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        bound.apply_defaults()
        values = {key: value for key, value in bound.arguments.items() if key != "inplace" and value is not None}
        Activation.__init__(self, function, **values)
        wrong = check(**values)
        if wrong is not None:
            raise ValueError(f"{name}: {wrong}")

    members = {
        "__init__": initialise, "__signature__": signature, "__module__": f"{__package__}.activations",
        "__doc__": module_docstring(function, name),
    }  # fmt: skip
    return type(name, (Activation,), members)


# Docstrings -----------------------------------------------------------------------------------------------------------


def function_docstring(function: Any, operation: Any, names: dict[str, str]) -> str:
    """Return an operation's docstring for a function with other parameter names."""
    name = function.__name__
    first, *sections = _SECTION.split(inspect.getdoc(operation) or "")
    formula, stop, rest = first.partition(". ")  # with the summary before it
    first = f"{_rename(formula, names)}{stop}{rest}"
    parts = {section.partition(":")[0]: section for section in sections}
    parts["Args"] = _rename(re.sub(r"^    x: (.*)\.$", r"    input: \1, x.", parts["Args"], flags=re.MULTILINE), names)
    if "inplace" in inspect.signature(function).parameters:
        parts["Args"] += f"{INPLACE}\n"
    parts["Returns"] = re.sub(r"\bx\b", "input", parts["Returns"])
    parts["Raises"] = _rename(re.sub(r"\bx\b", "input", parts["Raises"]), names)
    parts["Example"] = _rename(parts["Example"].replace(f"mg.{operation.__name__}", f"F.{name}"), names)
    parts["See"] = _see(f"torch.nn.functional.{name}", parts["See"])
    return "".join([first, *parts.values()])


def module_docstring(function: Any, name: str) -> str:
    """Return a function's docstring for a module with the function's settings."""
    first, *sections = _SECTION.split(inspect.getdoc(function) or "")
    first = re.sub(r"^Compute (?:the )?(\w)", lambda match: match[1].upper(), first)
    parts = {section.partition(":")[0]: section for section in sections}
    del parts["Returns"]
    parts["Args"] = re.sub(r"^    input: .*\n(?:     .*\n)*", "", parts["Args"], flags=re.MULTILINE)
    if parts["Args"] == "Args:\n":
        del parts["Args"]
    call = rf"F\.{function.__name__}\((?:mg\.tensor\()?(\[.*?\])\)?(?:, ([^)]*))?\)"
    example = re.sub(call, rf"nn.{name}(\2)(mg.tensor(\1))", parts["Example"])
    parts["Example"] = example.replace(f"F.{function.__name__})", f"nn.{name}())")
    parts["See"] = _see(f"torch.nn.{name}", parts["See"])
    return "".join([first, *parts.values()])


def _rename(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"\b{old}\b(?!-)(?= *[=:·)>`]| is not)", new, text)
    return text


def _see(name: str, section: str) -> str:
    """Return a See section that names PyTorch's own first, and keeps the literature."""
    others = re.sub(r"\btorch[\w.]*[;,.]?\s*", "", section.removeprefix("See:")).strip()
    return f"See: {name}{'; ' if others else '.'}{others}"
