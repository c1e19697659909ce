"""Operations as they are defined: a signature, a forward, gradient rules, and the values saved between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from inspect import Parameter
from types import FunctionType
from typing import Any, ClassVar

from ..backends import tensors
from .messages import own_keyword
from .rule import Rule, check_rule
from .runtime.guards import guard

REQUIRED: Any = Parameter.empty  # what a parameter has instead of a default if it must be given


class Signature:
    """Inputs and parameters of a forward(xp, inputs, *, parameters): names, defaults, and order in a call."""

    def __init__(self, forward: FunctionType):
        if not hasattr(forward, "__code__"):
            raise TypeError(f"an operation needs a function forward(xp, inputs, *, parameters), got {forward!r}")
        code = forward.__code__
        names = code.co_varnames[1 : code.co_argcount]
        self.name = forward.__name__.strip("_")
        for name in {"out", "upstream", "xp"}.intersection(names):
            raise TypeError(f"{self.name}: an input cannot be called {name!r}; rules use that name for something else")
        self.inputs: tuple[str, ...] = names
        self.optional = frozenset(names[len(names) - len(forward.__defaults__ or ()) :])
        defaults = forward.__kwdefaults__ or {}
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        self.params: dict[str, Any] = {name: defaults.get(name, REQUIRED) for name in keywords}

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """Inputs and parameters in the order of a call: the required ones come first."""
        defaults = {**dict.fromkeys(self.inputs, REQUIRED), **dict.fromkeys(self.optional), **self.params}
        return tuple(sorted(defaults, key=lambda name: defaults[name] is not REQUIRED))

    def bind(self, args: Sequence[Any], params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the inputs in order and the parameters by name, or raise TypeError as a Python call would."""
        names = self.arguments
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), {len(args)} were given")
        bound = {name: value for name, value in zip(names, args, strict=False) if value is not REQUIRED}
        for given, value in params.items():
            name = own_keyword(self.name, given, names)
            if bound.get(name, default := self.params.get(name, REQUIRED)) is not default:
                raise TypeError(f"{self.name} got {name!r} twice")
            bound[name] = value
        bound = {**dict.fromkeys(self.optional), **self.params, **bound}
        for name in (*self.inputs, *self.params):
            if bound.get(name, REQUIRED) is REQUIRED:
                raise TypeError(f"{self.name} needs {name!r}")
        return [bound.pop(name) for name in self.inputs], bound


class Definition(Signature):
    """What defines an operation: its forward, its rules, and the names of its outputs and residuals."""

    on_rules_changed: ClassVar[list[Callable[[Any], None]]] = []  # called with an operation whose rules have changed
    rule_type: type[Rule] = Rule

    def __init__(
        self, forward: FunctionType, kind: str, *, outputs: tuple[str, ...] = (), residuals: tuple[str, ...] = (),
        constants: tuple[str, ...] = (),
    ):  # fmt: skip
        super().__init__(forward)
        self.forward, self.guarded_forward, self.kind = forward, guard(forward), kind
        self.outputs, self.residuals, self.constants = outputs, residuals, frozenset(constants)
        self.rules: list[Rule] = []
        self.call: Any = None

    def __repr__(self) -> str:
        return f"<{self.kind} operation {self.name}({', '.join([*self.inputs, *self.params])})>"

    def rule(self, *inputs: str) -> Callable[[FunctionType], FunctionType]:
        """Return a decorator that adds the rule for one input, or for several (the rule then returns a tuple)."""

        def define(function: FunctionType) -> FunctionType:
            self.add_rule(inputs, function)
            return function

        return define

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Add or replace a rule. Raise TypeError if it breaks the promise of the operation's kind."""
        for name in inputs:
            if name not in self.inputs:
                raise TypeError(f"{self.name} has no input {name!r} for a rule; it has {', '.join(self.inputs)}")
        if not hasattr(function, "__code__"):
            raise TypeError(f"the rule {self.name}.{'+'.join(inputs)} must be a function, got {function!r}")
        rule = self.rule_type(self, inputs, function)
        check_rule(rule)
        self.rules = [other for other in self.rules if not set(other.inputs) & set(inputs)] + [rule]
        self.rules.sort(key=lambda rule: self.inputs.index(rule.inputs[0]))
        self.__dict__.pop("saves", None)
        for notify in self.on_rules_changed:
            notify(self)

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """The names that a node saves: everything that the rules read."""
        return tuple(dict.fromkeys([*(name for rule in self.rules for name in rule.saves), *self.unconditional_saves]))

    @property
    def unconditional_saves(self) -> tuple[str, ...]:
        """The names that are always saved: a differentiable walk computes residuals again from them."""
        return (*self.inputs, *self.params) if set(self.residuals) - self.constants else ()

    def has_rule_for(self, name: str) -> bool:
        """Return True if an input has a rule."""
        return any(name in rule.inputs for rule in self.rules)

    def input_names(self, count: int) -> list[str]:
        """Return the names of `count` inputs; the parts of a variadic operation are numbered."""
        if self.kind != "variadic":
            return list(self.inputs)
        return [f"{self.inputs[0]}[{i}]" for i in range(count)]

    @cached_property
    def composite(self) -> bool:
        """True if the forward only calls other operations, so that it can run on tensors."""
        called = self.forward.__code__.co_names
        return self.kind == "general" and called != (self.name,) and all(hasattr(tensors, name) for name in called)

    @cached_property
    def real_only(self) -> bool:
        """True if the forward does not take complex numbers: it is marked so, or calls an operation that is."""
        called = [name for name in self.forward.__code__.co_names if name != self.name]
        operations = [getattr(getattr(tensors, name, None), "op", None) for name in called]
        return hasattr(self.forward, "real_only") or any(op.real_only for op in operations if op is not None)
