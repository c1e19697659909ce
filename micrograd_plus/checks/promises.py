"""Promises that every operation must keep, each a function that checks one sample.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus.checks.promises import check
    >>> "the gradient equals differences" in check(mg.tanh)
    True

A broken promise raises an error that names the operation, the call and the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from types import CellType
from typing import Any

from .. import ops
from ..backends import arrays, devices, floats, tensors
from ..core.apply import Op
from ..core.backward import Part, contributions, upstreams_or_zeros
from ..core.composite import ChainRule
from ..core.define import operations
from ..core.fast import callers
from ..core.runtime.blocks import unfuse
from ..core.runtime.recorders import Recorder, record_to
from ..core.variable import is_complex, namespace_of
from ..formulas import symbols
from ..tensor import Tensor, tensor
from ..tracing import load_trace, record
from ..tracing.formulas import RuleRun, reads_of_application
from ..transforms.forward import jvp
from ..transforms.gradcheck import gradcheck
from ..transforms.reverse import grad
from .samples import Sample, samples

np = devices.device("cpu").library
Promise = Callable[[Sample], None]
promises: dict[str, Promise] = {}


def promise(sentence: str) -> Callable[[Promise], Promise]:
    """Decorate the check of a promise, and register it under a sentence."""

    def register(function: Promise) -> Promise:
        promises[sentence] = function
        return function

    return register


def check(call: Any) -> dict[str, int]:
    """Check every promise of an operation on all its samples.

    Args:
        call: an operation: `mg.tanh`, or a function under `@mg.op` and its like.
    Returns: a dictionary from each promise, a sentence, to the number of samples it was checked on.
    Raises: the error of the first broken promise, which names the operation, the call and the difference. TypeError if
        `call` is not an operation, ValueError if it has no sample.
    Example:
        >>> held = mg.check_op(mg.tanh)
        >>> held["the gradient equals differences"] > 0
        True

    See: the page "Contributing" of the documentation; torch.autograd.gradcheck.
    """
    op: Any = getattr(call, "op", None)
    if not isinstance(op, Op):
        raise TypeError(f"check expects an operation, such as mg.tanh or a function under @mg.op; got {call!r}")
    if op.name not in samples:
        raise ValueError(f"{op.name} has no sample; give it one: mg.samples.sample({op.name}, ...)")
    held = dict.fromkeys(promises, 0)
    for each in samples[op.name]:
        for sentence, keep in promises.items():
            if sentence not in each.excused:
                keep(each)
                held[sentence] += 1
    return held


def broken_promises(call: Any) -> dict[str, str]:
    """Return the promises that an operation breaks on its samples, each with the first error."""
    op: Op = getattr(call, "op", call)
    found: dict[str, str] = {}
    for each in samples[op.name]:
        for sentence, keep in promises.items():
            if sentence in found or sentence in each.excused:
                continue
            try:
                with np.errstate(all="ignore"):
                    keep(each)
            except Exception as error:  # noqa: BLE001 - a wrong rule may raise anything
                found[sentence] = str(error)
    return found


# Calling --------------------


def differentiable_inputs(sample: Sample) -> list[int]:
    """Return the positions of the inputs that have a gradient."""
    op = sample.op
    names = op.input_names(len(sample.inputs))
    has_rule = [op.kind == "variadic" or op.has_rule_for(name) or not op.rules for name in names]
    return [
        i
        for i, value in enumerate(sample.inputs)
        if has_rule[i] and hasattr(value, "dtype") and value.dtype.kind in "fc"
    ]


where: ContextVar[str] = ContextVar("where", default="cpu")
"""The device that samples run on. An operation moves inputs there and results back, so that every promise is checked
through it, forward and backward."""


def run(sample: Sample, inputs: list[Any]) -> Any:
    """Call the operation on the chosen device; return its result, or a tuple of several."""
    device = where.get()
    if device == "cpu":
        return call_sample(sample, inputs)
    there = [move_to(x, "cpu", device) if hasattr(x, "dtype") else x for x in inputs]
    out = call_sample(sample, there)
    if isinstance(out, tuple):
        return tuple(move_to(part, device, "cpu") for part in out)
    return move_to(out, device, "cpu")


def move_to(x: Any, source: str, device: str) -> Any:
    """Move a tensor to another device by an operation; the method `to` would make another leaf."""
    return ops.to_device(x if isinstance(x, Tensor) else tensor(x), device, source)


def call_sample(sample: Sample, inputs: list[Any]) -> Any:
    """Call the operation on the device of its inputs."""
    return sample.op.call_with(inputs, sample.params)


def scalar(sample: Sample, inputs: list[Any], seed: int = 0) -> Any:
    """Return one real number: the sum of the call's outputs, weighted by fixed numbers of both signs."""
    out = run(sample, inputs)
    total: Any = 0.0
    for place, part in enumerate(out if isinstance(out, tuple) else (out,)):
        if part.dtype.kind in "fc":
            rng = np.random.default_rng([seed, place])
            weights = rng.uniform(0.5, 1.5, part.shape) * rng.choice([-1.0, 1.0], part.shape)
            real_part = part.real if is_complex(part) else part
            total = total + (real_part * tensor(weights, dtype=real_part.dtype)).sum()
            if is_complex(part):
                total = total + (part.imag * tensor(weights[..., ::-1] * 0.7 if part.ndim else weights)).sum()
    return total


def replace_inputs(sample: Sample, places: list[int], values: Any) -> list[Any]:
    """Return the sample's inputs, with other values at some positions."""
    inputs = [tensor(value) if hasattr(value, "dtype") else value for value in sample.inputs]
    for place, value in zip(places, values, strict=True):
        inputs[place] = value
    return inputs


def scalar_function(sample: Sample, places: list[int]) -> Callable[..., Any]:
    """Return the weighted call as a function of the inputs at some positions, named after the sample."""

    def call(*values: Any) -> Any:
        return scalar(sample, replace_inputs(sample, places, values))

    call.__name__ = str(sample)
    return call


def assert_equal(a: Any, b: Any, what: str, rtol: float = 1e-9, atol: float = 1e-11) -> None:
    """Raise AssertionError unless two arrays have the same shape and are equal up to rounding."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        raise AssertionError(f"{what}: shapes {a.shape} and {b.shape}")
    if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        worst = np.unravel_index(np.argmax(np.abs(a - b)), a.shape)
        raise AssertionError(f"{what}: {a[worst]!r} and {b[worst]!r} at {worst}")


def to_host(value: Any) -> Any:
    """Return an array of any device as an array of the host."""
    return value.get() if hasattr(value, "get") else value


def gradients(sample: Sample, inputs: list[Any] | None = None, seed: int = 0) -> list[Any]:
    """Return the gradients of the weighted call, as arrays, by an ordinary backward pass."""
    places = differentiable_inputs(sample)
    values = sample.inputs if inputs is None else inputs
    leaves = [tensor(values[i], requires_grad=True) for i in places]
    full = [tensor(value) if hasattr(value, "dtype") else value for value in values]
    for place, leaf in zip(places, leaves, strict=True):
        full[place] = leaf
    scalar(sample, full, seed).backward()
    return [leaf.grad.numpy() if leaf.grad is not None else np.zeros(leaf.shape, leaf.dtype) for leaf in leaves]


def gradient_sum(sample: Sample) -> Callable[..., Any]:
    """Return the sum of the weighted gradients, as a function of the differentiable inputs."""
    places = differentiable_inputs(sample)
    first = grad(scalar_function(sample, places), tuple(range(len(places))))

    def call(*values: Any) -> Any:
        total: Any = 0.0
        for place, each in enumerate(first(*values)):
            rng = np.random.default_rng([7, place])
            weights = tensor(rng.uniform(0.5, 1.5, each.shape) * rng.choice([-1.0, 1.0], each.shape))
            total = total + ((each.real + each.imag * 0.3 if is_complex(each) else each) * weights).sum()
        return total

    call.__name__ = f"the gradient of {sample}"
    return call


# The promises ---------------


@promise("the gradient equals differences")
def _(sample: Sample) -> None:
    places = differentiable_inputs(sample)
    gradcheck(scalar_function(sample, places), [sample.inputs[i] for i in places])


@promise("forward mode is the transpose of reverse mode")
def _(sample: Sample) -> None:
    places, rng = differentiable_inputs(sample), np.random.default_rng(3)
    values = [sample.inputs[i] for i in places]
    draws = [(rng.normal(size=v.shape), rng.normal(size=v.shape) if v.dtype.kind == "c" else 0) for v in values]
    tangents = [re + 1j * im if v.dtype.kind == "c" else re for v, (re, im) in zip(values, draws, strict=True)]
    _, moved = jvp(lambda *inside: scalar(sample, replace_inputs(sample, places, inside)), values, tangents)
    back = sum(float(np.sum(np.real(np.conj(g) * t))) for g, t in zip(gradients(sample), tangents, strict=True))
    assert_equal(moved.item(), back, f"{sample}: forward and reverse mode", rtol=1e-8, atol=1e-10)


@promise("the gradient has a gradient")
def _(sample: Sample) -> None:
    inputs = [sample.inputs[i] for i in differentiable_inputs(sample)]
    gradcheck(gradient_sum(sample), inputs, rtol=2e-5, atol=1e-6, fast_mode=True)


@promise("stepping inside changes nothing")
def _(sample: Sample) -> None:
    if not sample.op.composite:
        return
    fused = gradients(sample)
    with unfuse():
        apart = gradients(sample)
    for a, b in zip(fused, apart, strict=True):
        assert_equal(a, b, f"{sample}: the closed form and its own steps", rtol=1e-9, atol=1e-10)


@promise("the written-out code does what the names mean")
def _(sample: Sample) -> None:
    written = gradients(sample)
    with callers.interpret_all(list(operations.values())):
        by_name = gradients(sample)
    for a, b in zip(written, by_name, strict=True):
        assert_equal(a, b, f"{sample}: written out and by name", rtol=1e-13, atol=1e-14)


@promise("the formula, evaluated, equals the gradient")
def _(sample: Sample) -> None:
    places = differentiable_inputs(sample)
    leaves = [tensor(sample.inputs[i], requires_grad=True) for i in places]
    listener = _Listener()
    with record_to(listener):
        scalar(sample, replace_inputs(sample, places, leaves)).backward()
    mine = [step for step in listener.steps if step[0].op is sample.op]
    if sample.op.rules and not mine:
        raise AssertionError(f"{sample}: no step of {sample.op.name} was recorded")
    for step in mine:
        formula_holds(sample, step, listener)


def formula_holds(sample: Sample, step: tuple[Any, ...], listener: _Listener) -> None:
    """Check that the contribution of a step equals the value of its formula, also for the steps inside it."""
    node, contribution, upstream, _, _ = step
    rule, xp = contribution.rule, namespace_of(upstream)
    op = rule.op
    if isinstance(rule, ChainRule):
        steps_inside_hold(sample, step, listener)
        return
    up = upstreams_or_zeros(xp, upstream, node) if op.outputs else upstream
    place = contribution.index if op.kind == "variadic" else rule.inputs.index(op.inputs[contribution.index])
    reads = reads_of_application(rule, *listener.outcomes[node]) if rule.in_forward else contribution.reads
    formula = RuleRun(rule, reads, up).contribution(place)
    names = {**reads, "upstream": up}
    for name, value in list(names.items()):
        if isinstance(value, (list, tuple)):
            names.update({f"{name}[{i}]": part for i, part in enumerate(value)})
    value, raw = to_host(symbols.evaluate(formula, xp, names)), to_host(contribution.raw)
    assert_equal(np.broadcast_to(value, raw.shape), raw, f"{sample}: the formula of {rule.name}")


def steps_inside_hold(sample: Sample, step: tuple[Any, ...], listener: _Listener) -> None:
    """Check the formulas of the steps inside a composite, and that their sum is its contribution."""
    node, contribution, upstream, _, _ = step
    data, params, _ = listener.outcomes[node]
    inputs = [value if value is None else Tensor.of(value) for value in data]
    inputs[contribution.index].requires_grad = True
    within = _Listener()
    with record_to(within):
        node.op.forward(tensors, *inputs, **params).backward(Tensor.of(upstream))
    for each in within.steps:
        formula_holds(sample, each, within)
    arrived = to_host(inputs[contribution.index].grad.numpy())
    assert_equal(arrived, to_host(contribution.raw), f"{sample}: the steps inside {contribution.rule.name}")


@promise("composed with other operations, the gradient is that of the walk on tensors")
def _(sample: Sample) -> None:
    places = differentiable_inputs(sample)
    leaves = [tensor(sample.inputs[i], requires_grad=True) for i in places]
    first, second = [[x * 1.0 for x in leaves] for _ in range(2)]
    total = sum((weighted_sum(x, 2) for x in first), tensor(0.0))  # the first are used before the operation
    for inputs, seed in ((first, 0), (first, 1), (second, 2)):
        total = total + scalar(sample, replace_inputs(sample, places, inputs), seed)
    total = total + sum((weighted_sum(x, 3) for x in second), tensor(0.0))  # the second are used after it
    if not leaves or total.node is None:
        return
    on_tensors = total.gradients(create_graph=True)
    for walk in (total.gradients(), total.gradients()):
        for leaf in leaves:
            exact = on_tensors[leaf.node].numpy()
            assert_equal(walk[leaf.node], exact, f"{sample}: between other operations, and on tensors", rtol=1e-8)


ROUNDED_WHEN_WRITTEN = {"sqrtm": "its number of steps depends on the numbers, and a program takes a fixed one"}
"""Operations whose written programs may differ from the walk in the last digits, with reasons."""


def program_writer() -> Any:
    """Return the module that writes programs. It is above this package, and everything works without it: then None."""
    package = f"{__name__.partition('.')[0]}.written"
    return import_module(f"{package}.program") if find_spec(package) else None


def gradients_of_order(sample: Sample, inputs: Any, order: int) -> list[Any]:
    """Return the weighted call, and the gradients of its leaves: for order 2 those of a weighted sum of gradients."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    value = total = scalar(sample, replace_inputs(sample, differentiable_inputs(sample), leaves))
    found: Any = {}
    for step in range(1, order + 1):
        if getattr(total, "node", None) is None:
            break
        found = total.gradients(create_graph=step < order)
        if step < order:
            total = sum((weighted_sum(found[x.node], 2) for x in leaves if x.node in found), tensor(0.0))
    return [value, *(Tensor.of(found[x.node]) for x in leaves if x.node in found)]


@promise("the program written out is the walk")
def _(sample: Sample) -> None:
    places, writer = differentiable_inputs(sample), program_writer()
    if writer is None or where.get() != "cpu" or not places or not sample.op.rules:
        return
    fresh = sample.fresh(np.random.default_rng(5))
    given, others = ([tensor(each.inputs[i]) for i in places] for each in (sample, fresh))
    for order in (1, 2):
        call: Any = lambda *inputs, order=order: gradients_of_order(sample, inputs, order)
        try:
            found = writer.run_on_others(call, given, others)
        except TypeError as error:
            if not writer.is_refusal(error):
                raise
            return
        for ours, walked in zip(found, call(*others), strict=True):
            assert_same_bits(sample, ours, walked._data, f"{sample}, written out, order {order}")


def assert_same_bits(sample: Sample, ours: Any, exact: Any, what: str) -> None:
    """Raise AssertionError if two arrays differ in a bit, or in more than rounding for a sample that rounds."""
    if sample.op.name in ROUNDED_WHEN_WRITTEN:
        assert_equal(ours, exact, what)
    elif np.asarray(ours).tobytes() != np.asarray(exact).tobytes() or ours.dtype != exact.dtype:
        raise AssertionError(f"{what}: {ours} is not {exact} in every bit")


@promise("what an operation is given stays unchanged")
def _(sample: Sample) -> None:
    if where.get() != "cpu":
        return
    places = differentiable_inputs(sample)
    inputs = [tensor(value) if hasattr(value, "dtype") else value for value in sample.inputs]
    for place in places:
        inputs[place] = tensor(sample.inputs[place], requires_grad=True)
    functions = [sample.op.forward, *(rule.function for rule in sample.op.rules)]
    constants = [value for function in functions for value in constants_of(function)]
    given = {"inputs": [getattr(x, "_data", x) for x in inputs], "parameters": sample.params, "constants": constants}
    checked = [(name, array, array.copy()) for name, values in given.items() for array in arrays_in(values)]
    out = run(sample, inputs)
    made: set[Any] = {part.node for part in (out if isinstance(out, tuple) else (out,)) if part.node is not None}
    applied: set[Any] = {node.parents[0] if type(node) is Part else node for node in made}
    for node in applied:
        shapes = node.shape_dtype if sample.op.outputs else (node.shape_dtype,)
        upstream = [np.ones(shape, dtype) for shape, dtype in shapes]
        given = {"saved values": node.saved, "upstream": upstream}
        checked += [(name, array, array.copy()) for name, values in given.items() for array in arrays_in(values)]
        for _ in range(2):
            list(contributions(arrays, upstream if sample.op.outputs else upstream[0], node))
    for name, array, before in checked:
        assert_equal(array, before, f"{sample}: the {name} have changed", rtol=0, atol=0)


def weighted_sum(x: Any, seed: int) -> Any:
    """Return the sum of the real part of a tensor, weighted by fixed numbers."""
    weights = np.random.default_rng([seed, 11]).uniform(0.5, 1.5, x.shape)
    real_part = x.real if is_complex(x) else x
    return (real_part * tensor(weights, dtype=real_part.dtype)).sum()


def arrays_in(value: Any) -> Iterator[Any]:
    """Yield the arrays in nested lists, tuples and dictionaries."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays_in(part)


def constants_of(function: Any) -> list[Any]:
    """Return the values that a function refers to: its globals, what it captures, and its defaults."""
    names, outer = function.__code__.co_names, getattr(function, "__globals__", {})
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    return [*(outer[name] for name in names if name in outer), *cells, *(function.__defaults__ or ())]


class _Listener(Recorder):
    """Recorder that keeps the applications, by node, and the steps."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self.outcomes: dict[Any, Any] = {}

    def on_apply(self, op: Any, inputs: Any, data: Any, params: dict[str, Any], result: Any) -> None:
        """Record an application under its node."""
        outputs = result if op.outputs else (result,)
        for output in outputs:
            node = getattr(output, "node", None)
            self.outcomes[node.parents[0] if op.outputs and node is not None else node] = (data, params, result)

    def begin_walk(self, root: Any, upstream: Any, can_replay: bool, held: Any, since: int = 0) -> Any:
        """Record every step."""
        return lambda *step: self.steps.append(step)


@promise("numbers and arrays agree")
def _(sample: Sample) -> None:
    op = sample.op
    plain = all(not hasattr(v, "dtype") or v.dtype.kind == "f" for v in sample.inputs)
    if op.kind != "elementwise" or not plain or sample.params:
        return
    first = [value if value is None else float(np.ravel(value)[0]) for value in sample.inputs]
    try:
        number = op.forward(floats, *first, **op.params)
    except AttributeError:
        return  # an operation for arrays only
    out = op.call(*[x if x is None else tensor(x) for x in first])
    assert_equal(number, out.numpy(), f"{sample}: as numbers and as arrays", rtol=1e-12)
    inputs = dict(zip(op.inputs, first, strict=True))
    for rule in (rule for rule in op.rules if inputs[rule.inputs[0]] is not None):
        named = {**op.params, **inputs, "out": number, "xp": floats}
        as_arrays = {name: np.asarray(value) if type(value) is float else value for name, value in named.items()}
        with np.errstate(all="ignore"):
            on_arrays = rule({**as_arrays, "xp": arrays})
        assert_equal(rule(named), on_arrays, f"{sample}: the rule {rule.name} on numbers and on arrays", rtol=1e-12)


@promise("single precision stays single precision")
def _(sample: Sample) -> None:
    if any(hasattr(v, "dtype") and v.dtype.kind == "c" for v in sample.inputs) or "dtype" in sample.params:
        return
    small = [v.astype("float32") if hasattr(v, "dtype") and v.dtype.kind == "f" else v for v in sample.inputs]
    out = run(sample, [tensor(v) if hasattr(v, "dtype") else v for v in small])
    for part in out if isinstance(out, tuple) else (out,):
        if part.dtype.kind == "f" and part.dtype != np.float32:
            raise AssertionError(f"{sample}: float32 in, {part.dtype} out")
    for gradient, exact in zip(gradients(sample, small), gradients(sample), strict=True):
        if gradient.dtype != np.float32:
            raise AssertionError(f"{sample}: the gradient of a float32 input is {gradient.dtype}")
        assert_equal(gradient, exact, f"{sample}: the gradient in single precision", rtol=2e-3, atol=2e-4)


@promise("the order of entries in memory does not matter")
def _(sample: Sample) -> None:
    def with_strides(value: Any) -> Any:
        if not hasattr(value, "dtype") or value.ndim == 0:
            return value
        wide = np.zeros(tuple(2 * n for n in value.shape), value.dtype)
        view = wide[tuple(slice(None, None, -2) for _ in value.shape)]
        view[...] = value
        return view

    places = differentiable_inputs(sample)
    leaves = [Tensor.of(with_strides(sample.inputs[i])) for i in places]
    for leaf in leaves:
        leaf.requires_grad = True
    full = [Tensor.of(with_strides(v)) if hasattr(v, "dtype") else v for v in sample.inputs]
    for place, leaf in zip(places, leaves, strict=True):
        full[place] = leaf
    scalar(sample, full).backward()
    for leaf, exact in zip(leaves, gradients(sample), strict=True):
        got = leaf.grad.numpy() if leaf.grad is not None else np.zeros(leaf.shape, leaf.dtype)
        assert_equal(got, exact, f"{sample}: entries that are not next to each other in memory", rtol=1e-12)


@promise("arrays without entries, and single numbers, are allowed")
def _(sample: Sample) -> None:
    op = sample.op
    plain = all(not hasattr(v, "dtype") or v.dtype.kind == "f" for v in sample.inputs)
    if op.kind != "elementwise" or not plain:
        return
    for shape in ((), (0,), (2, 0)):
        inputs = [np.full(shape, np.ravel(v)[0]) if hasattr(v, "dtype") else v for v in sample.inputs]
        for gradient in gradients(sample, inputs):
            if gradient.shape != shape:
                raise AssertionError(f"{sample}: an input of shape {shape} received one of shape {gradient.shape}")


@promise("its record can be stored and read back")
def _(sample: Sample) -> None:
    places = differentiable_inputs(sample)
    leaves = [tensor(sample.inputs[i], requires_grad=True) for i in places]
    with record() as trace:
        scalar(sample, replace_inputs(sample, places, leaves)).backward()
    text = trace.to_json()
    if load_trace(text).to_json() != text:
        raise AssertionError(f"{sample}: the record is not the same after being read back")
    for node, gradient in trace.gradients.items():
        leaf = next(x for x in leaves if x.grad is not None and x.shape == gradient.shape)
        if leaf.dtype != gradient.dtype:
            raise AssertionError(f"{sample}: node {node} received {gradient.dtype}")
