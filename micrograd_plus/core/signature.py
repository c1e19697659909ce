"""What an operation may be given: inputs in order, then parameters, as its forward names them."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from .messages import unknown_keyword


class _Required:
    """In the place of a default: the parameter must be given."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()


class Signature:
    """Inputs and parameters of a forward(xp, inputs, *, parameters): names, defaults, and their order in a call."""

    def __init__(self, forward: FunctionType):
        if not hasattr(forward, "__code__"):
            raise TypeError(f"an operation is made from a function forward(xp, inputs, *, parameters), got {forward!r}")
        code = forward.__code__
        names = code.co_varnames[1 : code.co_argcount]
        self.name = forward.__name__.strip("_")
        for name in {"out", "upstream", "xp"}.intersection(names):
            raise TypeError(f"{self.name}: no input may be called {name!r}, by which rules ask for something else")
        self.inputs: tuple[str, ...] = names
        self.optional = frozenset(names[len(names) - len(forward.__defaults__ or ()) :])
        wanted = forward.__kwdefaults__ or {}
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        self.params: dict[str, Any] = {name: wanted.get(name, REQUIRED) for name in keywords}

    @property
    def arguments(self) -> tuple[str, ...]:
        """Inputs and parameters in the order in which they are given: those that must be given come first."""
        optional = [name for name in self.inputs if name in self.optional]
        required = [name for name, value in self.params.items() if value is REQUIRED]
        rest = [name for name in self.params if name not in required]
        return (*(name for name in self.inputs if name not in optional), *required, *optional, *rest)

    def bind(self, args: Sequence[Any], params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What was given, as inputs in order and parameters by name."""
        names = self.arguments
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), {len(args)} were given")
        given = {name: value for name, value in zip(names, args, strict=False) if value is not REQUIRED}
        for name, value in params.items():
            if name not in names:
                raise TypeError(unknown_keyword(self.name, name, names))
            if name in given:
                raise TypeError(f"{self.name} was given {name!r} twice")
            given[name] = value
        inputs: list[Any] = []
        for name in self.inputs:
            if name not in given and name not in self.optional:
                raise TypeError(f"{self.name} needs {name!r}")
            inputs.append(given.pop(name, None))
        bound = {**self.params, **given}
        for name, value in bound.items():
            if value is REQUIRED:
                raise TypeError(f"{self.name} needs {name!r}")
        return inputs, bound
