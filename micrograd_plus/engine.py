"""Value: micrograd's interface, over the same rules as tensors.

    from micrograd_plus.engine import Value        # the only line of a micrograd program that changes

A number is its own node: it knows its operation, its one or two inputs, and when it was made. There is no recursion,
the order is the same in every process, a second `backward()` adds exactly the same gradient again, and a number that
was changed after use is detected.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from . import ops
from .backends import floats
from .core.apply import Op
from .core.backward import add_gradient
from .core.fast.callers import compile_text
from .core.fast.vjps import call_of, function_name
from .core.messages import MIXED_GRAPH, annotate_rule_error
from .core.modes import grad_enabled, recording
from .core.rule import Contribution
from .core.runtime.listening import listeners, notify_change
from .core.runtime.recorders import (
    notify as notify_recorders,
    notify_walk_failure,
    notify_walk_rejection,
)
from .core.variable import Variable, clock

__all__ = ["Value"]


def __dir__() -> list[str]:
    return sorted(__all__)


class Value:
    """A number that remembers how it was computed, and holds the gradient that backward passes add up in it.

    It supports the operators `+ - * / **` with numbers and other `Value`s, and has relu, tanh, exp, log, sigmoid, sqrt,
    sin and cos. `data` is the number, `grad` its gradient. The rules are the same as for tensors.

    Args:
        data: the number.
        _children: its inputs, if an operation is written by hand as in micrograd; default none.
        _op: the symbol of such an operation in drawings; default "".
        label: a name for drawings; default "".
    Raises: TypeError if `data` is not one real number.
    Example:
        >>> from micrograd_plus.engine import Value
        >>> a, b = Value(2.0), Value(-3.0)
        >>> c = a * b + a ** 2
        >>> c.backward()
        >>> c, a.grad, b.grad
        (Value(data=-2.0, grad=1), 1.0, 2.0)

    See: Karpathy, micrograd, 2020; the lecture "The spelled-out intro to neural networks and backpropagation".
    """

    __slots__ = ("_data", "_grad", "_label", "created", "first", "made_by", "second")

    def __init__(self, data: float, _children: tuple[Value, ...] = (), _op: str = "", label: str = ""):
        if type(data) is not float and type(data) is not int:
            data = _number(data)
        self._data, self._grad, self.created = data, 0, clock()
        self.made_by: Any = None
        self.first: Any = None
        self.second: Any = None
        if _children or _op:
            self.made_by = Handmade(_op, tuple(_children))
        if label:
            self._label = label

    # Looking ----------------

    @property
    def data(self) -> Any:
        """The number.

        The data of a leaf may be changed; `backward` then raises an error if a rule would read the old number.
        """
        return self._data

    @data.setter
    def data(self, number: float) -> None:
        if self.made_by is not None:
            raise RuntimeError(
                f"this Value was computed by {self._op!r}, and its data is what its inputs make it; change an input "
                f"and compute again, or make a new Value"
            )
        number = number if type(number) in (int, float) else _number(number)
        if recording.open:
            notify_change("write", self, self._data, number)
        self._data = number
        self.created = clock()

    grad: Any = property(
        attrgetter("_grad"), doc="The gradient that backward passes have added up here. Set to None, it is 0."
    )

    @grad.setter
    def grad(self, gradient: Any) -> None:
        number = gradient if type(gradient) in (int, float) else 0 if gradient is None else _gradient(gradient)
        if recording.open:  # to a recorder, a gradient of 0 is none
            notify_change("gradient", self, self._grad or None, number or None)
        self._grad = number

    @property
    def label(self) -> str:
        """A name for drawings."""
        return getattr(self, "_label", "")

    @label.setter
    def label(self, name: str) -> None:
        self._label = name

    @property
    def op(self) -> Any:
        """The operation that made it; None for a leaf."""
        return None if self.made_by is None else self.made_by.op

    @property
    def parents(self) -> tuple[Any, ...]:
        """The numbers that it was computed from, in order."""
        if self.made_by is None:
            return ()
        return self.made_by.inputs_of(self)

    @property
    def _prev(self) -> set[Value]:
        return set(self.parents)

    @property
    def _op(self) -> str:
        return "" if self.made_by is None else self.made_by.symbol_of(self)

    @property
    def _backward(self) -> Callable[[], None]:
        """Send this number's gradient to its parents."""
        def _backward() -> None:
            held = {parent: parent._grad for parent in self.parents} if recording.open and self.made_by.plain else {}
            self.made_by.vjp(self)
            for parent, before in held.items():
                notify_change("gradient", parent, before or None, parent._grad or None, "_backward")

        return (lambda: None) if self.made_by is None else _backward

    @_backward.setter
    def _backward(self, function: Callable[[], None]) -> None:
        if not isinstance(self.made_by, Handmade):
            self.made_by = Handmade(self._op, self.parents)
        self.made_by.function = function

    def __repr__(self) -> str:
        return f"Value(data={self._data}, grad={self.grad})"

    def __float__(self) -> float:
        return float(self._data)

    # The walk ---------------

    def backward(self) -> None:
        """Walk back from this number, and add its derivatives to the `grad` of every number that it depends on.

        Gradients add up over calls: called twice, every number has twice the gradient. This number's own `grad` is 1.

        Returns: None.
        Raises: RuntimeError if a rule would read a number that was changed after use; ArithmeticError if a derivative
            does not exist, as for a division by 0.
        """
        earlier: list[tuple[Value, Any]] = []
        try:
            order = self._order(earlier)
        except RuntimeError:
            for value, before in earlier:
                value._grad = before
            notify_walk_rejection(self)
            raise
        since = order[-1].created if order else 0
        begun = [each.begin_walk(self, 1.0, False, dict(earlier), since) for each in listeners()]
        observers = [on_step for on_step in begun if on_step is not None]
        value: Any = self
        fresh: set[Any] = {self}
        try:
            self._grad = 1
            if observers:
                for value in order:
                    _watched_vjp(value, fresh, observers)
            else:
                for value in order:
                    value.made_by.vjp(value)
        except ArithmeticError as error:
            notify_walk_failure(self, value)
            raise annotate_rule_error(value.op, error) from error
        finally:
            for value, before in earlier:
                value._grad += before

    def _order(self, earlier: list[tuple[Value, Any]]) -> list[Value]:
        """Return every computed number that this one depends on, the latest first.

        All gradients on the way become 0; those that were not 0 are noted in `earlier`.
        """
        order: list[Value] = []
        met: list[Value] = [self]
        if self._grad:
            earlier.append((self, self._grad))
        self._grad = None
        todo: list[Value] = [self]
        try:
            while todo:
                value = todo.pop()
                maker = value.made_by
                if maker is None:
                    continue
                order.append(value)
                for parent in (value.first, value.second) if maker.plain else maker.inputs_of(value):
                    if type(parent) is not Value and not isinstance(parent, Value):
                        continue
                    if parent.created > value.created:
                        refuse_stale(value, parent)
                    if parent._grad is not None:
                        if parent._grad:
                            earlier.append((parent, parent._grad))
                        parent._grad = None
                        met.append(parent)
                        todo.append(parent)
        finally:
            for value in met:
                value._grad = 0
        order.sort(key=attrgetter("created"), reverse=True)
        return order

    # Python's own -----------

    def __copy__(self) -> Value:
        return Value(self._data, label=self.label)

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        if self.made_by is not None:
            raise RuntimeError(
                "a computed Value cannot be copied apart from its graph; Value(v.data) copies the number"
            )
        out = memo[id(self)] = Value(self._data, label=self.label)
        out._grad = self._grad
        return out

    def __reduce__(self) -> Any:
        if self.made_by is not None:
            raise RuntimeError("a computed Value cannot be stored apart from its graph; store v.data")
        return Value, (self._data, (), "", self.label)

    # Arithmetic: micrograd's decomposition, so that graphs look the same ----

    def __add__(self, other: Any) -> Value:
        return add(self, other)

    def __mul__(self, other: Any) -> Value:
        return multiply(self, other)

    def __pow__(self, other: Any) -> Value:
        return power(self, other)

    def __neg__(self) -> Value:
        return self * -1

    def __radd__(self, other: Any) -> Value:
        return self + other

    def __sub__(self, other: Any) -> Value:
        return self + (-other)

    def __rsub__(self, other: Any) -> Value:
        return other + (-self)

    def __rmul__(self, other: Any) -> Value:
        return self * other

    def __truediv__(self, other: Any) -> Value:
        return self * other**-1

    def __rtruediv__(self, other: Any) -> Value:
        return other * self**-1

    def __rpow__(self, other: Any) -> Value:
        return power(Value(other), self)

    def relu(self) -> Value:
        """Return the number if it is positive, otherwise 0."""
        return relu(self)

    def tanh(self) -> Value:
        """Return the hyperbolic tangent."""
        return tanh(self)

    def exp(self) -> Value:
        """Return the exponential."""
        return exp(self)

    def log(self) -> Value:
        """Return the natural logarithm."""
        return log(self)

    def sigmoid(self) -> Value:
        """Return the logistic function."""
        return sigmoid(self)

    def sqrt(self) -> Value:
        """Return the square root."""
        return sqrt(self)

    def sin(self) -> Value:
        """Return the sine."""
        return sin(self)

    def cos(self) -> Value:
        """Return the cosine."""
        return cos(self)


# What made a number ---------


class Made:
    """The operation that made a number, with its rules compiled for Python floats."""

    plain = True
    call: Callable[..., Value]
    """The function that applies the operation to numbers."""

    def __init__(self, operation: Any, symbol: str, fixed: tuple[str, ...] = ()):
        self.op, self.symbol, self.fixed = operation.op, symbol, fixed
        self.write(self.op)
        Op.on_rules_changed.append(self.write)

    def write(self, op: Op) -> None:
        """Compile the vjp: at first, and when the operation's rules have changed."""
        if op is self.op:
            namespace = {"_floats": floats} | {function_name(rule): rule.function for rule in op.rules}
            text = vjp_text(op, self.fixed)
            self.vjp: Callable[[Value], None] = compile_text(f"vjp_{op.name} of a Value", text, namespace)

    def inputs_of(self, value: Value) -> tuple[Any, ...]:
        """Return the numbers that `value` was computed from, in order."""
        return tuple(x for x in (value.first, value.second) if isinstance(x, Value))

    def symbol_of(self, value: Value) -> str:
        """Return the symbol for drawings."""
        return self.symbol


class MadeByPower(Made):
    """A power with a constant exponent, which micrograd counts as part of the operation."""

    def symbol_of(self, value: Value) -> str:
        """Return two stars and the exponent."""
        return f"**{_get(value.second)}"


class Handmade:
    """An operation that a student built, with children, a symbol and a `_backward`."""

    plain = False
    op = None

    def __init__(self, symbol: str, children: tuple[Value, ...]):
        self.symbol, self.children = symbol, children
        self.function: Callable[[], None] = lambda: None

    def inputs_of(self, value: Value) -> tuple[Value, ...]:
        """Return the children."""
        return self.children

    def symbol_of(self, value: Value) -> str:
        """Return the symbol."""
        return self.symbol

    def vjp(self, value: Value) -> None:
        """Call the student's own `_backward`."""
        self.function()


def vjp_text(op: Op, fixed: tuple[str, ...]) -> str:
    """Return the text of an operation's vjp on numbers: micrograd's own lines."""
    places = dict(zip(op.inputs, ("first", "second"), strict=False))
    rules = [rule for rule in op.rules if rule.inputs[0] not in fixed]
    reads = {name for rule in rules for name in rule.reads}
    lines = [f"{name}{'' if name in fixed else '_value'} = _value.{place}" for name, place in places.items()]
    lines += [f"{name} = {name}_value._data" for name in places if name in reads and name not in fixed]
    lines += ["out = _value._data"] if "out" in reads else []
    lines += ["upstream = _value._grad"]
    for rule in rules:
        local = call_of(rule, "_floats")
        lines.append(f"{rule.inputs[0]}_value._grad += " + ("upstream" if local == "1" else f"upstream * {local}"))
    return "\n    ".join([f"def vjp_{op.name}(_value):", *lines])


def contributions(op: Op, value: Value) -> list[tuple[Value, Contribution]]:
    """Return the contribution of each rule of one application to its input."""
    inputs = dict(zip(op.inputs, (value.first, value.second), strict=False))
    named = {name: _get(x) for name, x in inputs.items()} | {"out": value._data, "xp": floats, "upstream": value._grad}
    sent = []
    for rule in op.rules:
        parent = inputs[rule.inputs[0]]
        if isinstance(parent, Value):
            local = +rule(named)  # a slope that is a comparison becomes a number
            reads = {name: named[name] for name in rule.reads if name not in ("xp", "upstream")}
            raw = value._grad * local
            sent.append((parent, Contribution(rule, op.inputs.index(rule.inputs[0]), local, raw, (), raw, reads)))
    return sent


def _watched_vjp(value: Value, fresh: set[Value], observers: list[Any]) -> None:
    """Interpret one application and report every step. `fresh` holds the numbers that have received a gradient."""
    if value.made_by.op is None:
        value.made_by.vjp(value)
        fresh.update(value.parents)
        return
    for parent, contribution in contributions(value.made_by.op, value):
        before = parent._grad if parent in fresh else None
        parent._grad = add_gradient(before, contribution.value)
        fresh.add(parent)
        for observe in observers:
            observe(value, contribution, value._grad, before, parent._grad)


def refuse_stale(value: Value, parent: Value) -> None:
    """Raise RuntimeError if a rule of `value` would read a number that was changed after use."""
    op = value.made_by.op
    if op is None:
        return
    name = op.inputs[0] if parent is value.first else op.inputs[1]
    if any(name in rule.reads for rule in op.rules):
        raise RuntimeError(
            f"the data of a Value was changed (to {parent.data}) after {op.name} had used it, and the gradient rule of "
            f"{op.name} reads it as {name!r}; compute the result again before backward()"
        )


def _number(data: Any) -> Any:
    """Return a Python number; NumPy scalars are slower and print differently."""
    number: Any = data
    if isinstance(data, Value):
        return data._data
    if isinstance(data, Variable) and data.node is not None:
        raise TypeError(MIXED_GRAPH)
    if getattr(number, "size", None) == 1 and hasattr(number, "item") and not isinstance(number.item(), (str, bytes)):
        return number.item()
    if isinstance(data, (int, float)):
        return data
    raise TypeError(f"a Value must hold one number, got {type(data).__name__}; for arrays write mg.tensor")


def _gradient(gradient: Any) -> Any:
    """Return a gradient as a Python number; raise TypeError if it is none."""
    try:
        return _number(gradient)
    except TypeError:
        raise TypeError(f"grad must be one number, or None to clear it; got {type(gradient).__name__}") from None


def _get(x: Any) -> Any:
    return x._data if isinstance(x, Value) else x


new = object.__new__


def one(operation: Any, symbol: str) -> Callable[[Value], Value]:
    """Return the function that applies an operation to one number."""
    made = Made(operation, symbol)
    op, forward = made.op, made.op.forward

    def call(x: Value) -> Value:
        out = new(Value)
        out._data, out.made_by, out.first, out.second = forward(floats, x._data), made, x, None
        out._grad, out.created = 0, clock()
        if grad_enabled.open or recording.open:
            notify(op, (x,), out)
        return out

    made.call = call
    return call


def two(operation: Any, symbol: str) -> Callable[[Value, Any], Value]:
    """Return the function that applies an operation to two numbers; as in micrograd, one may be a plain number."""
    made = Made(operation, symbol)
    op, forward = made.op, made.op.forward

    def call(a: Value, b: Any) -> Value:
        if type(b) is not Value and not isinstance(b, Value):
            if isinstance(b, Variable):
                raise TypeError(MIXED_GRAPH)
            if type(b) is not float and not isinstance(b, int) and getattr(b, "ndim", None) != 0:
                return NotImplemented
            b = Value(b)
        out = new(Value)
        out._data, out.made_by, out.first, out.second = forward(floats, a._data, b._data), made, a, b
        out._grad, out.created = 0, clock()
        if grad_enabled.open or recording.open:
            notify(op, (a, b), out)
        return out

    made.call = call
    return call


def power(base: Value, exponent: Any) -> Value:
    """Return `base ** exponent`; a plain exponent is part of the operation, as in micrograd."""
    if isinstance(exponent, Value):
        return _power_of_two(base, exponent)
    if isinstance(exponent, Variable):
        raise TypeError(MIXED_GRAPH)
    if not isinstance(exponent, (int, float)):
        return NotImplemented
    out = new(Value)
    out._data, out.made_by = floats.power(base._data, exponent), _by_constant
    out.first, out.second, out._grad, out.created = base, exponent, 0, clock()
    if grad_enabled.open or recording.open:
        notify(_by_constant.op, (base, exponent), out)
    return out


def notify(op: Op, inputs: tuple[Any, ...], out: Value) -> None:
    """Notify the recorders; under `no_grad`, forget where the number came from."""
    if not grad_enabled():
        out.made_by = out.first = out.second = None
    notify_recorders(op, inputs, [_get(x) for x in inputs], {}, out)


add = two(ops.add, "+")
multiply = two(ops.multiply, "*")
_power_of_two = two(ops.power, "**")
_by_constant = MadeByPower(ops.power, "**", fixed=("exponent",))
_by_constant.call = power
relu = one(ops.relu, "ReLU")
tanh = one(ops.tanh, "tanh")
exp = one(ops.exp, "exp")
log = one(ops.log, "log")
sigmoid = one(ops.sigmoid, "sigmoid")
sqrt = one(ops.sqrt, "sqrt")
sin = one(ops.sin, "sin")
cos = one(ops.cos, "cos")
