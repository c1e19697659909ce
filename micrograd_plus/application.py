"""What applying an operation means: forward, and the way back rule by rule.

Nothing is hidden in a closure. A rule names what it needs, and its signature is the list of what is saved:

    upstream          the gradient that arrives at the output (all kinds but elementwise, which give a local derivative)
    out               the output (or, with several outputs, each by its name)
    an input's name   that input                  NAME_shape      its shape
    a parameter       as it was given             a kept name     what the forward kept beside its output

This file is the meaning. `compiled.py` writes the same out as straight code, and may be deleted.
"""
# pyright: reportPrivateUsage=false
# The rooms of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar, cast

from . import variable
from .hints import explained
from .readings import vocabulary
from .readings.arrays import summed_axes
from .readings.shapes import is_sequence
from .rule import KINDS, REQUIRED, TAKE_NUMBERS, Contribution, Rule
from .variable import EMPTY, Node, Part, Upstreams, Variable


class Writer:
    """Who writes callers and pulls out as straight code: `compiled`, once it has been imported."""

    room: Any = None


writer = Writer()


class Op:
    """An operation. `apply` is what calling it means; the public name is the function `Op.call`."""

    rules_changed: ClassVar[list[Callable[[Op], None]]] = []
    """Who is told when a rule was added or replaced."""
    rule_type: type[Rule] = Rule
    tangent_rule: Any = None
    """How results move when inputs do, where somebody has given that; else it is derived."""
    may_be_written_out = False
    """Whether `compiled` may write out its caller and its way back."""
    may_be_repeated = True
    """Whether its rules give the same whenever they are called. A walk through one that might not is recorded as it
    happens."""

    def __init__(
        self,
        forward: FunctionType,
        kind: str,
        *,
        outputs: tuple[str, ...] = (),
        keeps: tuple[str, ...] = (),
        constants: tuple[str, ...] = (),
    ):
        if not hasattr(forward, "__code__"):
            raise TypeError(f"an operation is made from a function forward(xp, inputs, *, parameters), got {forward!r}")
        code = forward.__code__
        names = code.co_varnames[1 : code.co_argcount]
        self.name = forward.__name__.strip("_")
        for name in {"out", "upstream", "xp"}.intersection(names):
            raise TypeError(f"{self.name}: no input may be called {name!r}, by which rules ask for something else")
        self.forward, self.kind = forward, kind
        self.inputs: tuple[str, ...] = names
        self.optional = frozenset(names[len(names) - len(forward.__defaults__ or ()) :])
        wanted = forward.__kwdefaults__ or {}
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        self.params: dict[str, Any] = {name: wanted.get(name, REQUIRED) for name in keywords}
        self.outputs, self.keeps = outputs, keeps
        self.constants = frozenset(constants)
        self.rules: list[Rule] = []
        self.may_be_written_out = not outputs and kind not in ("joining", "constant")
        self.call: Any = None

    def __repr__(self) -> str:
        return f"<{self.kind} operation {self.name}({', '.join([*self.inputs, *self.params])})>"

    # Definition -------------------------------------------

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
        self._hold_to_promise(rule)
        self.rules = [other for other in self.rules if not set(other.inputs) & set(inputs)] + [rule]
        self.rules.sort(key=lambda rule: self.inputs.index(rule.inputs[0]))
        self.__dict__.pop("saves", None)
        for told in self.rules_changed:
            told(self)

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """What a node saves, by name: what the rules read."""
        reads = [name for rule in self.rules for name in rule.saves]
        if set(self.keeps) - self.constants:
            reads += [*self.inputs, *self.params]  # a differentiable walk keeps them again, from the inputs
        return tuple(dict.fromkeys(reads))

    def _hold_to_promise(self, rule: Rule) -> None:
        """Refuse a rule that reads what its kind may not, or what nobody can give it."""
        for name in rule.reads:
            if self._forbids(rule, name):
                promise = f"{self.name} is {self.kind}: {KINDS[self.kind]}"
                raise TypeError(f"the rule {rule.name} may not read {name!r}: {promise}")
            if not self._can_give(name):
                known = ["xp", "upstream", "out", *self.inputs, *self.params, *self.keeps, *self.outputs]
                known += [f"{name}_shape" for name in self.inputs]
                raise TypeError(f"the rule {rule.name} reads {name!r}; it may read {', '.join(sorted(known))}")

    def _forbids(self, rule: Rule, name: str) -> bool:
        """Whether the promise of the kind keeps a rule from reading something."""
        if self.kind == "elementwise":
            return name == "upstream"
        if self.kind == "multilinear":
            return name == "out" or name in rule.inputs
        return self.kind == "linear" and (name == "out" or name in rule.inputs or self.differentiable(name))

    def _can_give(self, name: str) -> bool:
        """Whether there is something of that name when a rule is called."""
        if name in ("xp", "upstream", "out") or name in self.inputs or name in self.params:
            return True
        return name in self.keeps or name in self.outputs or name.removesuffix("_shape") in self.inputs

    def differentiable(self, name: str) -> bool:
        """True when an input has a rule."""
        return any(name in rule.inputs for rule in self.rules)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """Inputs and parameters in the order in which they are given: those that must be given come first."""
        optional = [name for name in self.inputs if name in self.optional]
        required = [name for name, value in self.params.items() if value is REQUIRED]
        rest = [name for name in self.params if name not in required]
        return (*(name for name in self.inputs if name not in optional), *required, *optional, *rest)

    # Application ------------------------------------------

    def bind(self, args: Sequence[Any], params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What was given, as inputs in order and parameters by name."""
        names = self.arguments
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in params.items():
            if name not in names:
                raise TypeError(f"{self.name} has no argument {name!r}; it has {', '.join(names)}")
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

    def apply(self, *args: Any, **params: Any) -> Any:
        """Apply the operation: compute, and note what a walk will need."""
        inputs, bound = self.bind(args, params)
        flat = self.parts_of(inputs[0]) if self.kind == "joining" else inputs
        names = self.flat_names(len(flat))
        numbers_only = not any(isinstance(value, Variable) for value in flat)
        flat = [admit(value, self, name, numbers_only) for value, name in zip(flat, names, strict=True)]
        if variable.unfusing.get() and self.composite:
            unfused = self.read(vocabulary.tensors, flat, bound)
            return unfused[0] if self.keeps else unfused
        if not self.rules and self.composite and any_wants_gradient(flat):
            return self.read(vocabulary.tensors, flat, bound)
        data = [variable.settled(value) if isinstance(value, Variable) else value for value in flat]
        xp = common_device(self, data).words
        out, kept = self.compute(xp, data, bound)
        nodes: list[Node | None] = [value.node if isinstance(value, Variable) else None for value in flat]
        self.refuse_gradient(nodes)
        if not variable.recording_gradients.get() or self.kind == "constant":
            nodes = [None] * len(nodes)
        elif self.kind != "joining":
            nodes = [n if self.differentiable(name) else None for n, name in zip(nodes, self.inputs, strict=True)]
        result = self.wrap(xp, out, kept, nodes, data, bound)
        variable.tell(self, flat, data, bound, result)
        return result

    def given(self, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """The operation called with its inputs in order, whatever stands between them in its signature."""
        if self.kind == "joining":
            return self.call(inputs, **params)
        return self.call(**dict(zip(self.inputs, inputs, strict=False)), **params)

    def parts_of(self, given: object) -> list[Any]:
        """The parts that a joining operation was given."""
        if not hasattr(type(given), "__iter__"):
            raise TypeError(f"{self.name} joins the parts of a list or a tuple, got {type(given).__name__}")
        return list(cast("Iterable[Any]", given))

    def flat_names(self, count: int) -> list[str]:
        """The names of the inputs; the parts of a joining operation are numbered."""
        if self.kind != "joining":
            return list(self.inputs)
        return [f"{self.inputs[0]}[{i}]" for i in range(count)]

    def compute(self, xp: Any, data: list[Any], params: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The output and what the forward kept."""
        result = self.read(xp, data, params)
        return (result[0], result[1:]) if self.keeps else (result, ())

    def read(self, xp: Any, inputs: list[Any], params: dict[str, Any]) -> Any:
        """The forward in a reading; an error says which operation and which shapes."""
        try:
            if self.real_only and any(map(is_complex, inputs)):
                raise TypeError("it takes real numbers")
            return self.forward(xp, *([inputs] if self.kind == "joining" else inputs), **params)
        except Exception as error:
            raise explained(self, error, inputs, params) from error

    def wrap(
        self, xp: Any, out: Any, kept: Any, nodes: list[Node | None], data: list[Any], params: dict[str, Any]
    ) -> Any:
        """The output as a variable (or a tuple of them), with the node that the walk needs."""
        rules = [rule for rule in self.rules if any(nodes[i] is not None for i in self.places(rule, len(nodes)))]
        if not rules:
            return tuple(result(part, None) for part in out) if self.outputs else result(out, None)
        node = Node()
        node.pull, node.parents = pull_of(self, out), tuple(nodes)
        node.serial, node.accumulator = variable.birth(), None
        node.like = tuple((part.shape, part.dtype) for part in out) if self.outputs else (out.shape, out.dtype)
        named = self.named(data, params, out, kept)
        named |= {rule.saves[0]: rule({**named, "xp": xp}) for rule in rules if rule.at_once}
        wanted = {name for rule in rules for name in rule.saves} | set(self.always_saved)
        node.saved = tuple(named[name] if name in wanted else None for name in self.saves)
        if not self.outputs:
            return result(out, node)
        return tuple(
            result(part, output_of(node, i) if part.dtype.kind in "fc" else None) for i, part in enumerate(out)
        )

    @cached_property
    def always_saved(self) -> tuple[str, ...]:
        """What is saved whichever inputs want a gradient."""
        return (*self.inputs, *self.params) if set(self.keeps) - self.constants else ()

    def places(self, rule: Rule, count: int) -> range | list[int]:
        """Where the inputs of a rule stand among the parents."""
        return range(count) if self.kind == "joining" else [self.inputs.index(name) for name in rule.inputs]

    def flat_rule_names(self, rule: Rule, count: int) -> Sequence[str]:
        """The names of the inputs of a rule, as `flat_names` gives them."""
        return self.flat_names(count) if self.kind == "joining" else rule.inputs

    def named(self, data: list[Any], params: dict[str, Any], out: Any, kept: Any) -> dict[str, Any]:
        """Everything that a rule may read, by name."""
        inputs: list[Any] = [data] if self.kind == "joining" else data
        named = dict(zip(self.inputs, inputs, strict=True))
        for name, value in list(named.items()):
            named[f"{name}_shape"] = [shape_of(part) for part in value] if is_sequence(value) else shape_of(value)
        named.update(params)
        named.update(zip(self.keeps, kept, strict=False))
        named["out"] = out
        if self.outputs:
            named.update({self.outputs[0]: out} if len(self.outputs) == 1 else zip(self.outputs, out, strict=True))
        return named

    def refuse_gradient(self, nodes: list[Node | None]) -> None:
        """An operation that nobody gave a rule."""
        if not self.rules and self.kind != "constant" and any(nodes) and variable.recording_gradients.get():
            raise RuntimeError(
                f"{self.name} has no gradient rule, and an input wants a gradient: define one with "
                f"@{self.name}.rule({self.inputs[0]!r}), or pass mg.stop_gradient(...) of the input"
            )

    @cached_property
    def composite(self) -> bool:
        """True when the forward is a decomposition into other operations."""
        words = self.forward.__code__.co_names
        return self.kind == "general" and words != (self.name,) and all(hasattr(vocabulary.tensors, w) for w in words)

    @cached_property
    def real_only(self) -> bool:
        """True when complex numbers are refused: the forward is marked so, or speaks of an operation that is."""
        words = [word for word in self.forward.__code__.co_names if word != self.name]
        spoken = [getattr(getattr(vocabulary.tensors, word, None), "op", None) for word in words]
        return hasattr(self.forward, "real_only") or any(op.real_only for op in spoken if op is not None)

    @cached_property
    def pull_by_name(self) -> Callable[..., None]:
        """How a node of the operation sends its gradient on where that is not written out."""
        return pull_by_name(self)

    # The way back -----------------------------------------

    def contributions(self, xp: Any, node: Node, upstream: Any, saved: Sequence[Any]) -> Iterator[Contribution]:
        """What each input that wants a gradient receives, by name: the meaning of a walk's step."""
        named: dict[str, Any] = dict(zip(self.saves, saved, strict=True))
        named["xp"] = xp
        named["upstream"] = self.whole(xp, upstream, node.like) if self.outputs else upstream
        for rule in self.rules:
            places = list(self.places(rule, len(node.parents)))
            if all(node.parents[i] is None for i in places):
                continue
            yield from self._apply_rule(rule, places, xp, node, named)

    def _apply_rule(
        self, rule: Rule, places: list[int], xp: Any, node: Node, named: dict[str, Any]
    ) -> Iterator[Contribution]:
        upstream = named["upstream"]
        reads = {name: named[name] for name in rule.saves}
        locals_: list[Any] = [None] * len(places)
        if self.kind == "elementwise":
            locals_ = [named[rule.saves[0]] if rule.at_once else rule(named)]
            sent: Sequence[Any] = [upstream * conjugated(xp, upstream, locals_[0])]
        else:
            sent = self._sent(rule, places, xp, named)
        names = self.flat_rule_names(rule, len(node.parents))
        for i, name, local, raw in zip(places, names, locals_, sent, strict=True):
            parent = node.parents[i]
            if parent is not None:
                axes = self.check_fits(rule, name, raw, parent.like)
                yield Contribution(rule, i, local, raw, axes, fitted(xp, raw, parent.like), reads)

    def _sent(self, rule: Rule, places: list[int], xp: Any, named: dict[str, Any]) -> Sequence[Any]:
        """What a rule sends, one for each of its inputs. Over the complex numbers a transpose is an adjoint: the
        conjugate of the transpose of the conjugate. So rules are written as if for real numbers."""
        upstream = named["upstream"]
        adjoint = is_complex(upstream)
        sent = rule({**named, "upstream": xp.conj(upstream)} if adjoint else named)
        if self.kind != "joining" and len(places) == 1:
            sent = (sent,)
        if not is_sequence(sent) or len(sent) != len(places):
            self.wrong_count(rule, sent, len(places))
        return [words_of(part, xp).conj(part) for part in sent] if adjoint else sent

    def wrong_count(self, rule: Rule, sent: Any, wanted: int) -> None:
        """A rule that does not return one contribution for each of its inputs."""
        count = len(sent) if is_sequence(sent) else 1
        raise RuntimeError(f"the rule {rule.name} returned {count} contributions for {wanted} inputs")

    def check_fits(self, rule: Rule, name: str, raw: Any, like: Any) -> tuple[int, ...]:
        """The axes along which broadcasting repeated the input; or an error when the rule's shape is simply wrong."""
        shape, want = tuple(getattr(raw, "shape", ())), like[0]
        if shape == want:
            return ()
        aligned = zip(reversed(shape), reversed(want), strict=False)
        if len(shape) < len(want) or any(m not in (n, 1) for n, m in aligned):
            raise RuntimeError(
                f"the rule {rule.name} sent shape {shape}, but the input {name} of {self.name} has shape {want}; "
                f"a contribution has its input's shape (or one that broadcasting made from it)"
            )
        return summed_axes(shape, want)

    def whole(self, xp: Any, upstream: Upstreams, likes: tuple[Any, ...]) -> tuple[Any, ...]:
        """One upstream per output, zeros where nothing arrived."""
        some = next(iter(upstream.parts.values()))
        return tuple(
            upstream.parts[i] if i in upstream.parts else xp.zeros_beside(some, shape, dtype)
            for i, (shape, dtype) in enumerate(likes)
        )


# Small parts of an application ----------------------------


def result(data: Any, node: Node | None) -> Variable:
    """A variable of the class that users hold."""
    return Variable.public.of(data, node)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array; a number's is ()."""
    return tuple(getattr(value, "shape", ()))


def is_complex(value: Any) -> bool:
    """True for complex numbers, and arrays and tensors of them."""
    dtype = getattr(value, "dtype", None)
    return dtype.kind == "c" if dtype is not None else type(value) is complex


def words_of(value: Any, xp: Any) -> Any:
    """The words for what a rule sent: those it was read in, or of the device that an array was sent to."""
    return xp if isinstance(value, Variable) else vocabulary.device_of(value).words


def conjugated(xp: Any, upstream: Any, local: Any) -> Any:
    """Between complex numbers the gradient of a real loss travels by the conjugate of the local derivative. Where the
    output is real, the local derivative is d/d(re) + i d/d(im), and already is the gradient."""
    if not (is_complex(upstream) and is_complex(local)):
        return local
    return local.conjugate() if type(local) is complex else xp.conj(local)


def fitted(xp: Any, raw: Any, like: Any) -> Any:
    """`raw` in the shape and dtype of its input, in any reading."""
    shape, dtype = like
    if raw.shape != shape:
        raw = xp.unbroadcast(raw, shape)
    return raw if raw.dtype == dtype else xp.cast(raw, dtype)


def output_of(node: Node, index: int) -> Part:
    """The node of one of several outputs."""
    part = Part()
    part.pull, part.parents, part.saved = pull_part, (node,), ()
    part.serial, part.accumulator = variable.birth(), None
    part.like, part.index = node.like[index], index
    return part


def pull_part(xp: Any, upstream: Any, node: Part) -> None:
    """Hand the gradient of one output to the application, which waits for the others."""
    application: Any = node.parents[0]
    if application.accumulator is EMPTY:
        application.accumulator = Upstreams({})
    arrived = application.accumulator.parts
    arrived[node.index] = arrived[node.index] + upstream if node.index in arrived else upstream


vars(pull_part).update(op=None, on_tensors=pull_part)


def deposit(parent: Any, contribution: Any) -> None:
    """Add a contribution to an accumulator."""
    parent.accumulator = contribution if parent.accumulator is EMPTY else parent.accumulator + contribution


def pull_by_name(op: Op) -> Callable[..., None]:
    """A walk's step that calls the rules by name."""

    def pull(xp: Any, upstream: Any, node: Node) -> None:
        assert node.saved is not None
        for contribution in op.contributions(xp, node, upstream, node.saved):
            deposit(node.parents[contribution.index], xp.own(contribution.value, upstream))

    vars(pull).update(op=op, on_tensors=None)
    return pull


def pull_of(op: Op, out: Any) -> Callable[..., None]:
    """How a node sends its gradient on: written out where it can be, else by name."""
    if not op.may_be_written_out or out.dtype.kind == "c" or writer.room is None:
        return op.pull_by_name
    return writer.room.pull(op)


def admit(value: Any, op: Op, name: str, numbers_only: bool = False) -> Any:
    """An input as an operation takes it: a variable, a Python number beside one, or an array of the operation's own."""
    if isinstance(value, Variable) or (value is None and name in op.optional):
        return value
    if type(value) in (float, int, bool, complex) and not numbers_only and op.kind in TAKE_NUMBERS:
        return value
    return Variable.public.constant(value, f"{op.name}: {name}")


def any_wants_gradient(inputs: Sequence[Any]) -> bool:
    """True when an input has a node and gradients are being recorded."""
    return variable.recording_gradients.get() and any(getattr(value, "node", None) is not None for value in inputs)


def common_device(op: Op, data: list[Any]) -> Any:
    """The one device that all arrays are on."""
    devices = vocabulary.homes(data)
    if len(devices) > 1:
        raise RuntimeError(
            f"{op.name} was given arrays on {' and '.join(sorted(devices))}; move one of them: x.to({min(devices)!r})"
        )
    return vocabulary.device(devices.pop() if devices else "cpu")
