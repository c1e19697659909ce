"""What an operation is, and what applying it means: forward, and the way back rule by rule.

Everything goes by name here, with dictionaries, as a reader would do it with pencil and paper. `codegen` writes the
same out as straight code from the same signatures, and a test holds the two equal on every sample.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar

from ..backends import tensors
from ..backends.arrays import summed_axes
from ..backends.shapes import is_sequence
from . import values
from .messages import explain_error, missing_rule_error
from .modes import gradients_wanted, unfused
from .ownership import snapshot
from .recorders import notify, notify_failure
from .residuals import every_upstream, residuals_as_tensors
from .rule import Contribution, Rule, keep_promise
from .signature import Signature
from .values import is_complex, shape_of
from .variable import Array, Gradient, Namespace, Node, Part, Variable, clock


class Definition(Signature):
    """What an operation is defined to be: its forward, its rules, and what is saved between them."""

    rules_changed: ClassVar[list[Callable[[Any], None]]] = []
    """Called with an operation when a rule was added or replaced."""
    rule_type: type[Rule] = Rule

    def __init__(
        self, forward: FunctionType, kind: str, *, outputs: tuple[str, ...] = (), residuals: tuple[str, ...] = (),
        constants: tuple[str, ...] = (),
    ):  # fmt: skip
        super().__init__(forward)
        self.forward, self.kind = forward, kind
        self.outputs, self.residuals, self.constants = outputs, residuals, frozenset(constants)
        self.rules: list[Rule] = []
        self.call: Any = None

    def __repr__(self) -> str:
        return f"<{self.kind} operation {self.name}({', '.join([*self.inputs, *self.params])})>"

    def rule(self, *inputs: str) -> Callable[[FunctionType], FunctionType]:
        """Give the rule for one input, or for several that share their work (it then returns a tuple)."""

        def define(function: FunctionType) -> FunctionType:
            self.add_rule(inputs, function)
            return function

        return define

    def add_rule(self, inputs: tuple[str, ...], function: FunctionType) -> None:
        """Add or replace a rule, and see that it keeps the promise of the operation's kind."""
        for name in inputs:
            if name not in self.inputs:
                known = ", ".join(self.inputs)
                raise TypeError(f"{self.name} has no input {name!r} to give a rule for; it has {known}")
        if not hasattr(function, "__code__"):
            raise TypeError(f"the rule {self.name}.{'+'.join(inputs)} is a function of what it reads, got {function!r}")
        rule = self.rule_type(self, inputs, function)
        keep_promise(rule)
        self.rules = [other for other in self.rules if not set(other.inputs) & set(inputs)] + [rule]
        self.rules.sort(key=lambda rule: self.inputs.index(rule.inputs[0]))
        self.__dict__.pop("saves", None)
        for told in self.rules_changed:
            told(self)

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """What a node saves, by name: what the rules read."""
        return tuple(dict.fromkeys([*(name for rule in self.rules for name in rule.saves), *self.always_saved]))

    @property
    def always_saved(self) -> tuple[str, ...]:
        """What is saved whichever inputs want a gradient: a differentiable walk computes residuals again."""
        return (*self.inputs, *self.params) if set(self.residuals) - self.constants else ()

    def differentiable(self, name: str) -> bool:
        """True when an input has a rule."""
        return any(name in rule.inputs for rule in self.rules)

    def names_of(self, count: int) -> list[str]:
        """The names of so many inputs; the parts of a variadic operation are numbered."""
        if self.kind != "variadic":
            return list(self.inputs)
        return [f"{self.inputs[0]}[{i}]" for i in range(count)]

    @cached_property
    def composite(self) -> bool:
        """True when the forward is a decomposition into other operations."""
        words = self.forward.__code__.co_names
        return self.kind == "general" and words != (self.name,) and all(hasattr(tensors, word) for word in words)

    @cached_property
    def real_only(self) -> bool:
        """True when complex numbers are refused: the forward is marked so, or speaks of an operation that is."""
        words = [word for word in self.forward.__code__.co_names if word != self.name]
        spoken = [getattr(getattr(tensors, word, None), "op", None) for word in words]
        return hasattr(self.forward, "real_only") or any(op.real_only for op in spoken if op is not None)


class Op(Definition):
    """An operation, and what applying it means. Its public name is the function `Op.call`."""

    tangent_rule: Any = None
    """How results move when inputs do, where somebody has given that; else it is derived."""
    may_be_repeated = True
    """Whether its rules give the same whenever they are called. A walk through one that might not is recorded as it
    happens."""
    may_be_written_out = True
    """Whether its results are plain where its inputs are, as `codegen` takes for granted."""
    written = False
    """Whether `codegen` has written it out; `call.vjp` is then its vjp."""

    # Forward ----------------------------------------------

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation to whatever may be given to it: bring that into form, and then by the shortest way."""
        inputs, bound = self.bind(args, params)
        flat = values.parts_of(self, inputs[0]) if self.kind == "variadic" else inputs
        numbers_only = not any(isinstance(value, Variable) for value in flat)
        named = zip(flat, self.names_of(len(flat)), strict=True)
        flat = [values.variable_of(self, value, name, numbers_only=numbers_only) for value, name in named]
        decomposed = self.composite and (unfused() or (not self.rules and values.any_wants_gradient(flat)))
        if decomposed:
            result = self.read(tensors, flat, bound)
            return result[0] if self.residuals else result
        if self.written and all(values.is_ready(value) for value in flat):
            return self.call_with(flat, bound)
        return self.by_name(flat, bound)

    def by_name(self, flat: list[Any], params: dict[str, Any]) -> Any:
        """The meaning of an application: compute, and note what a walk will need."""
        data = [snapshot(value) if isinstance(value, Variable) else value for value in flat]
        xp = values.common_device(self, data).namespace
        out, residuals = self.compute(xp, data, params)
        nodes: list[Node | None] = [value.node if isinstance(value, Variable) else None for value in flat]
        self.refuse_gradient(nodes)
        if self.kind == "non-differentiable" or not gradients_wanted():
            nodes = [None] * len(nodes)
        elif self.kind != "variadic":
            nodes = [n if self.differentiable(name) else None for n, name in zip(nodes, self.inputs, strict=True)]
        result = self._wrap(xp, out, residuals, nodes, data, params)
        notify(self, flat, data, params, result)
        return result

    def call_with(self, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """The public function called with inputs in order, whatever stands between them in its signature."""
        if self.kind == "variadic":
            return self.call(list(inputs), **params)
        return self.call(**dict(zip(self.inputs, inputs, strict=False)), **params)

    def compute(self, xp: Namespace, data: list[Any], params: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The output and the residuals."""
        result = self.read(xp, data, params)
        return (result[0], result[1:]) if self.residuals else (result, ())

    def read(self, xp: Namespace, inputs: list[Any], params: dict[str, Any]) -> Any:
        """The forward, read in a namespace; an error says which operation and which shapes."""
        try:
            if self.real_only and any(map(is_complex, inputs)):
                raise TypeError("it takes real numbers")
            return self.forward(xp, *([inputs] if self.kind == "variadic" else inputs), **params)
        except Exception as error:
            raise notify_failure(explain_error(self, error, inputs, params)) from error

    def refuse_gradient(self, nodes: Sequence[Node | None]) -> None:
        """An operation that nobody gave a rule."""
        if not self.rules and self.kind != "non-differentiable" and any(nodes) and gradients_wanted():
            raise missing_rule_error(self)

    def _wrap(
        self, xp: Namespace, out: Array, residuals: Any, nodes: list[Node | None], data: list[Array], params: Any
    ) -> Any:
        """The output as a variable (or a tuple of them), with the node that the walk needs."""
        rules = [rule for rule in self.rules if any(nodes[i] is not None for i in places(rule, len(nodes)))]
        if not rules:
            return tuple(Variable.public.of(part) for part in out) if self.outputs else Variable.public.of(out)
        named = self.named(data, params, out, residuals)
        named |= {rule.saves[0]: rule({**named, "xp": xp}) for rule in rules if rule.in_forward}
        wanted = {name for rule in rules for name in rule.saves} | set(self.always_saved)
        saved = tuple(named[name] if name in wanted else None for name in self.saves)
        node = make_node(self.vjp_of(out), nodes, saved, out)
        return outputs_of(node, out) if self.outputs else Variable.public.of(out, node)

    def named(self, data: list[Any], params: dict[str, Any], out: Array, residuals: Any) -> dict[str, Any]:
        """Everything that a rule may read, by name."""
        inputs: list[Any] = [data] if self.kind == "variadic" else data
        named = dict(zip(self.inputs, inputs, strict=True))
        for name, value in list(named.items()):
            named[f"{name}_shape"] = [shape_of(part) for part in value] if is_sequence(value) else shape_of(value)
        named.update(params)
        named.update(zip(self.residuals, residuals, strict=False))
        named["out"] = out
        if self.outputs:
            named.update({self.outputs[0]: out} if len(self.outputs) == 1 else zip(self.outputs, out, strict=True))
        return named

    # The way back -----------------------------------------

    def vjp_of(self, out: Array) -> Any:
        """How a node sends its gradient on. Complex numbers are conjugated on the way, which is done by name."""
        is_plain = self.written and not any(map(is_complex, out if self.outputs else (out,)))
        return self.call.vjp if is_plain else self.vjp

    @cached_property
    def vjp(self) -> Callable[..., None]:
        """The vjp of its nodes where that is not written out."""

        def vjp(xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient]) -> None:
            self.vjp_by_name(xp, upstream, node, arrived)

        vars(vjp).update(op=self, on_tensors=vjp)
        return vjp

    def vjp_by_name(
        self, xp: Namespace, upstream: Gradient, node: Node, arrived: dict[Node, Gradient], on_step: Any = None,
        saved: Any = None,
    ) -> None:  # fmt: skip
        """The meaning of a walk's step: each rule is applied, and what it sends is added to what has arrived."""
        for contribution in self.contributions(xp, node, upstream, saved):
            parent: Any = node.parents[contribution.index]
            value, before = contribution.value, arrived.get(parent)
            if on_step is None and xp is not tensors:
                value = xp.own(value, upstream)  # another step may add to it in place
            arrived[parent] = value if before is None else before + value
            if on_step is not None:
                on_step(node, contribution, upstream, before, arrived[parent])

    def contributions(self, xp: Namespace, node: Node, upstream: Gradient, saved: Any = None) -> Iterator[Contribution]:
        """What each input that wants a gradient receives. `saved` is what the node saved, if that was freed since."""
        if saved is None:
            saved = residuals_as_tensors(node) if xp is tensors else node.saved
        named: dict[str, Any] = {**dict(zip(self.saves, saved, strict=True)), "xp": xp, "upstream": upstream}
        if self.outputs:
            named["upstream"] = every_upstream(xp, upstream, node)
        for rule in self.rules:
            where = places(rule, len(node.parents))
            if any(node.parents[i] is not None for i in where):
                yield from apply_rule(rule, where, xp, node, named)


# The parts of an application ------------------------------


def make_node(vjp: Any, parents: Sequence[Node | None], saved: tuple[Any, ...], out: Array) -> Node:
    """The node of an application that gave `out`."""
    node = Node()
    node.vjp, node.parents, node.saved, node.created = vjp, tuple(parents), saved, clock()
    one = hasattr(out, "dtype")
    node.shape_dtype = (out.shape, out.dtype) if one else tuple((part.shape, part.dtype) for part in out)
    return node


def outputs_of(node: Node, out: tuple[Any, ...]) -> tuple[Variable, ...]:
    """Several outputs as variables, each with a node of its own if it is made of numbers that can have a gradient."""
    of = Variable.public.of
    return tuple(of(part, Part(node, i) if part.dtype.kind in "fc" else None) for i, part in enumerate(out))


def places(rule: Rule, count: int) -> Sequence[int]:
    """Where the inputs of a rule stand among so many parents."""
    return range(count) if rule.op.kind == "variadic" else [rule.op.inputs.index(name) for name in rule.inputs]


def apply_rule(
    rule: Rule, where: Sequence[int], xp: Namespace, node: Node, named: dict[str, Any]
) -> Iterator[Contribution]:
    """One rule applied to what it reads. An elementwise rule gives a local derivative, any other says what upstream
    becomes; then broadcasting is undone, and dtypes are kept."""
    upstream, local = named["upstream"], None
    reads = {name: named[name] for name in rule.saves}
    if rule.op.kind == "elementwise":
        local = named[rule.saves[0]] if rule.in_forward else rule(named)
        raws: Sequence[Any] = [upstream * values.conjugated(xp, upstream, local)]
    else:
        raws = transposed(rule, len(where), xp, named)
    names = rule.op.names_of(len(node.parents))
    for i, raw in zip(where, raws, strict=True):
        parent = node.parents[i]
        if parent is not None:
            axes = axes_to_sum(rule, names[i], raw, parent.shape_dtype)
            yield Contribution(rule, i, local, raw, axes, fitted(xp, raw, parent.shape_dtype), reads)


def transposed(rule: Rule, count: int, xp: Namespace, named: dict[str, Any]) -> Sequence[Any]:
    """What a rule sends, one for each of its inputs. Over the complex numbers a transpose is an adjoint: the conjugate
    of the transpose of the conjugate. So rules are written as if for real numbers."""
    adjoint = is_complex(named["upstream"]) and rule.conjugates
    sent = rule({**named, "upstream": xp.conj(named["upstream"])} if adjoint else named)
    if rule.op.kind != "variadic" and count == 1:
        sent = (sent,)
    values.check_count(rule, sent, count)
    return [values.namespace_of(part).conj(part) for part in sent] if adjoint else sent


def axes_to_sum(rule: Rule, name: str, raw: Array, shape_dtype: Any) -> tuple[int, ...]:
    """The axes along which broadcasting repeated the input; or an error when the rule's shape is simply wrong."""
    shape, want = shape_of(raw), shape_dtype[0]
    aligned = zip(reversed(shape), reversed(want), strict=False)
    if len(shape) < len(want) or any(m not in (n, 1) for n, m in aligned):
        raise RuntimeError(
            f"the rule {rule.name} sent shape {shape}, but the input {name} of {rule.op.name} has shape {want}; "
            f"a contribution has its input's shape (or one that broadcasting made from it)"
        )
    return () if shape == want else summed_axes(shape, want)


def fitted(xp: Namespace, raw: Array, shape_dtype: Any) -> Any:
    """`raw` in the shape and dtype of its input: here broadcasting is undone."""
    shape, dtype = shape_dtype
    if raw.shape != shape:
        raw = xp.unbroadcast(raw, shape)
    return raw if raw.dtype == dtype else xp.cast(raw, dtype)
