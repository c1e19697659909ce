"""The forward pass: what applying an operation means.

`Op.apply` brings inputs into form, `Op.interpret` computes the result and makes its node. Both look everything up by
name, in dictionaries. `core.fast` compiles the same steps, and a test compares the two on every sample.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, cast

from ..backends import devices, tensors
from ..backends.shapes import is_sequence
from .backward import InterpretedVjp, Part, input_indices
from .messages import explain_error, missing_rule_error
from .modes import grad_enabled, unfused
from .operation import Definition
from .runtime.guards import keep_parameter
from .runtime.ownership import snapshot
from .runtime.recorders import notify, notify_failure
from .variable import Array, Namespace, Node, Variable, clock, is_complex, ref, shape_of

KEEP_NUMBERS = ("elementwise", "linear", "non-differentiable")
"""Kinds in which a Python number beside an array stays a number, and so takes the array's dtype and device."""


class Op(Definition):
    """An operation that can be applied. Users call its public function, `Op.call`."""

    tangent_rule: Any = None  # the rule for tangents in forward mode, if a user has given one; else it is derived
    is_deterministic = True   # rules return the same at each call; otherwise recorders must watch walks as they happen
    can_compile = True        # fast inputs give fast results, as compiled code assumes
    combines_as: str | None = None  # a variadic operation can be a "join", or a "product" that is linear in each part
    is_view = False           # the result has entries of its input, and a write into it is a write into the input
    is_compiled = False       # a compiled caller is installed, and `call.vjp` is the compiled vjp

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation to anything that a user may pass: bring the inputs into form, then compute."""
        inputs, bound = self.bind(args, params)
        flat = as_list(self, inputs[0]) if self.kind == "variadic" else inputs
        numbers_only = not any(isinstance(value, Variable) for value in flat)
        names = self.input_names(len(flat))
        flat = [as_operand(self, x, name, numbers_only) for x, name in zip(flat, names, strict=True)]
        if self.composite and (unfused() or (not self.rules and any_requires_grad(flat))):
            result = self.run_forward(tensors, flat, bound)
            return result[0] if self.residuals else result
        if self.is_compiled and all(is_fast(value) for value in flat):
            return self.call_with(flat, bound)
        return self.interpret(flat, bound)

    def interpret(self, flat: list[Any], params: dict[str, Any]) -> Any:
        """Compute the result, and make the node that a walk will need."""
        data = [snapshot(value) if isinstance(value, Variable) else value for value in flat]
        xp = common_device(self, data).namespace
        out, residuals = self.compute(xp, data, params)
        nodes: list[Node | None] = [value.node if isinstance(value, Variable) else None for value in flat]
        self.check_gradient(nodes)
        if self.kind == "non-differentiable" or not grad_enabled():
            nodes = [None] * len(nodes)
        elif self.kind != "variadic":
            nodes = [n if self.has_rule_for(name) else None for n, name in zip(nodes, self.inputs, strict=True)]
        origin = (ref(flat[0]), flat[0].origin, self, tuple(params.values())) if self.is_view else None
        result = self._as_variables(xp, out, residuals, nodes, data, params, origin)
        notify(self, flat, data, params, result)
        return result

    def call_with(self, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """Call the public function with the inputs in order, whatever the order of its arguments."""
        if self.kind == "variadic":
            return self.call(list(inputs), **params)
        return self.call(**dict(zip(self.inputs, inputs, strict=False)), **params)

    def compute(self, xp: Namespace, data: list[Any], params: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """Return the output and the residuals."""
        result = self.run_forward(xp, data, params)
        return (result[0], result[1:]) if self.residuals else (result, ())

    def run_forward(self, xp: Namespace, inputs: list[Any], params: dict[str, Any]) -> Any:
        """Run the forward in a namespace. An error names the operation and the shapes of its inputs."""
        try:
            if self.real_only and any(map(is_complex, inputs)):
                raise TypeError("it takes real numbers")
            return self.guarded_forward(xp, *([inputs] if self.kind == "variadic" else inputs), **params)
        except Exception as error:
            raise notify_failure(explain_error(self, error, inputs, params)) from error

    def check_gradient(self, nodes: Sequence[Node | None]) -> None:
        """Raise RuntimeError if an input needs a gradient and the operation has no rule."""
        if not self.rules and self.kind != "non-differentiable" and any(nodes) and grad_enabled():
            raise missing_rule_error(self)

    def _as_variables(
        self, xp: Namespace, out: Array, residuals: Any, nodes: list[Any], data: list[Array], params: Any, origin: Any
    ) -> Any:
        """Return the output as a variable (or a tuple of them), with a node if a rule will be needed."""
        rules = [rule for rule in self.rules if any(nodes[i] is not None for i in input_indices(rule, len(nodes)))]
        node = None
        if rules:
            values = self.values_by_name(data, params, out, residuals)
            values |= {rule.saves[0]: rule({**values, "xp": xp}) for rule in rules if rule.in_forward}
            needed = {name for rule in rules for name in rule.saves} | set(self.unconditional_saves)
            saved = tuple(values[name] if name in needed else None for name in self.saves)
            node = make_node(self.vjp_for(out), nodes, saved, out)
        return output_variables(node, out, origin) if self.outputs else Variable.public.of(out, node, origin)

    def values_by_name(self, data: list[Any], params: dict[str, Any], out: Array, residuals: Any) -> dict[str, Any]:
        """Return everything that a rule may read, by name."""
        inputs: list[Any] = [data] if self.kind == "variadic" else data
        values = dict(zip(self.inputs, inputs, strict=True))
        for name, value in list(values.items()):
            values[f"{name}_shape"] = [shape_of(part) for part in value] if is_sequence(value) else shape_of(value)
        values.update({name: keep_parameter(value) for name, value in params.items()})
        values.update(zip(self.residuals, residuals, strict=False))
        values["out"] = out
        if self.outputs:
            values.update({self.outputs[0]: out} if len(self.outputs) == 1 else zip(self.outputs, out, strict=True))
        return values

    def vjp_for(self, out: Array) -> Callable[..., None]:
        """Return the vjp for a node with this output. Complex numbers need conjugates, so their vjp is interpreted."""
        is_real = not any(map(is_complex, out if self.outputs else (out,)))
        return self.call.vjp if self.is_compiled and is_real else self.vjp

    @cached_property
    def vjp(self) -> InterpretedVjp:
        """The interpreted vjp of this operation's nodes."""
        return InterpretedVjp(self)


# Inputs ---------------------------------------------------


def as_operand(op: Op, value: Any, name: str, numbers_only: bool) -> Any:
    """Return an input in the form that operations take: a variable, None, or a number beside an array."""
    if isinstance(value, Variable) or (value is None and name in op.optional):
        return value
    is_number = isinstance(value, (float, int, complex)) and not hasattr(value, "dtype")
    if is_number and not numbers_only and op.kind in KEEP_NUMBERS:
        return cast("Any", next(kind for kind in (bool, int, float, complex) if isinstance(value, kind)))(value)
    return Variable.public.constant(value, f"{op.name}: {name}")


def as_list(op: Op, parts: object) -> list[Any]:
    """Return the parts that were passed to a variadic operation as a list."""
    if not hasattr(type(parts), "__iter__"):
        raise TypeError(f"{op.name} expects its parts in a list or a tuple, got {type(parts).__name__}")
    return list(cast("Iterable[Any]", parts))


def is_fast(value: Any) -> bool:
    """Return True if compiled code takes this input. A lent array that its user has dropped counts as fast again."""
    if isinstance(value, Variable):
        if not value.is_fast:
            snapshot(value)
        return value.is_fast and type(value) is Variable.public
    return value is None or type(value) in (float, int)


def any_requires_grad(inputs: Sequence[Any]) -> bool:
    """Return True if gradients are enabled and an input has a node."""
    return any(getattr(value, "node", None) is not None for value in inputs) and grad_enabled()


def common_device(op: Op, data: list[Any]) -> Any:
    """Return the device that all arrays are on, or raise RuntimeError if they are on several."""
    names = devices.homes(data)
    if len(names) > 1:
        where = " and ".join(sorted(names))
        raise RuntimeError(f"{op.name} got arrays on {where}; move one of them: x.to({min(names)!r})")
    return devices.device(names.pop() if names else "cpu")


# Results --------------------------------------------------


def make_node(vjp: Any, parents: Sequence[Node | None], saved: tuple[Any, ...], out: Array) -> Node:
    """Return the node of an application whose output is `out`."""
    node = Node()
    node.vjp, node.parents, node.saved, node.created = vjp, tuple(parents), saved, clock()
    node.shape_dtype = (out.shape, out.dtype) if hasattr(out, "dtype") else tuple((x.shape, x.dtype) for x in out)
    return node


def output_variables(node: Node | None, out: tuple[Any, ...], origin: Any = None) -> tuple[Variable, ...]:
    """Return several outputs as variables. If there is a node, each output of floats gets its own `Part`."""
    parts = [Part(node, i) if node is not None and x.dtype.kind in "fc" else None for i, x in enumerate(out)]
    return tuple([Variable.public.of(x, parts[i], origin and (*origin, i)) for i, x in enumerate(out)])
