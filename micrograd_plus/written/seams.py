"""Where the engine is watched while a page is open: reads of tensors, gradients, optimisers, generators, numbers.

While a step is written out, a few functions of the engine get other code, and their own again afterwards, so a closed
page costs nothing. The same happens to compiled operations: they take the array of a tensor without asking, so while a
page is open every operation is interpreted. Other threads go on with the functions as they are.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from types import CodeType, FunctionType
from typing import Any
from weakref import ref

import numpy as np

from .. import extras, random  # noqa: F401 - all operations must be defined before a page watches them
from ..backends import devices
from ..core import apply
from ..core.define import operations
from ..core.fast import callers
from ..core.runtime import ownership
from ..core.variable import Variable
from ..nn.functional import shapes
from ..optim import adam, optimizer, schedule
from ..tensor import values, views
from ..tensor.gradients import accumulate as add_to_leaves, set_gradients as set_all
from ..tensor.tensor import Tensor
from . import ink
from .ink import DEVICE, Ink, call_method, fix_number, open_page, record, set_page
from .notes import _step_code, prepare_notes, refusal, refusals, site_of_application
from .shared_block import SharedBlock
from .touched import OpenPage, Settings, State

_lock = RLock()
_replacements: list[tuple[FunctionType, Callable[..., Any]]] = []


def on_paper(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for the function that runs instead of `function` while a page is open in this thread.

    It gets the original as its first argument.
    """

    def register(replacement: Callable[..., Any]) -> Callable[..., Any]:
        _replacements.append((function, replacement))
        return replacement

    return register


# The functions --------------------------------------------


def _touch(x: Any) -> Any:
    page: Any = open_page()
    if page is not None and isinstance(x, Variable):
        page.note_tensor(x)
    return page


def _touch_first(function: Any) -> None:
    """Have a function find ink in its first argument."""

    @on_paper(function)
    def touch_first(original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        _touch(x)
        return original(x, *args, **kwargs)


for _function in (
    ownership.snapshot, ownership.lend_to_user, ownership.array_to_write, Tensor._python_number, Tensor.tolist,
    Tensor.numpy, Tensor.__repr__, values.array_index, Tensor.__deepcopy__,
    shapes.plain,
):  # fmt: skip
    _touch_first(_function)


@on_paper(Tensor.requires_grad.fset)
def set_requires_grad(original: Any, self: Any, value: bool) -> None:
    """Refuse to change whether a tensor from outside of the step requires a gradient."""
    page: Any = open_page()
    if page is not None and page.is_outside(self) and bool(value) != self.requires_grad:
        raise TypeError(refusal("changes requires_grad", "Change it before the call"))
    original(self, value)


def _watch_first(function: Any) -> None:
    """Have a function note that the step depends on the node of its first argument."""

    @on_paper(function)
    def watch_first(original: Any, tensor: Any) -> Any:
        page: Any = open_page()
        if page is not None:
            page.watch_node(tensor)
        return original(tensor)


for _function in (Tensor.requires_grad.fget, Tensor.is_leaf.fget):
    _watch_first(_function)


@on_paper(ownership.set_array)
def set_array(original: Any, variable: Any, data: Any) -> None:
    """Write down that a tensor gets another array."""
    page = _touch(variable)
    if page is not None and type(data) is not Ink:
        data = Ink(data, page.constant(data), page)
    original(variable, data)


@on_paper(ownership.has_other_owners)
def has_other_owners(original: Any, variable: Any) -> bool:
    """Return True: whether an array is shared now says nothing about other calls."""
    return True if open_page() is not None else original(variable)


@on_paper(apply.is_fast)
def is_fast(original: Any, value: Any) -> bool:
    """Return False, so that no compiled code takes an array unseen."""
    return False


@on_paper(apply.common_device)
def common_device(original: Any, op: Any, data: list[Any]) -> Any:
    """Return the device of ink."""
    return DEVICE if open_page() is not None else original(op, data)


@on_paper(devices.device)
def device(original: Any, name: Any) -> Any:
    """Return the device of ink instead of the CPU."""
    page: Any = open_page()
    if page is not None and name not in ("cpu", page.device, DEVICE) and isinstance(name, str):
        original(name)
        raise TypeError(refusal(f"moves a tensor to {name!r}", "Move it before the call"))
    return DEVICE if page is not None else original(name)


@on_paper(Tensor.to)
def to(original: Any, self: Any, device: str) -> Any:
    """Refuse to move a tensor to another device than the page's."""
    page: Any = open_page()
    if page is not None and device != page.device:
        original(Tensor.of(np.zeros(1)), device)
        raise TypeError(refusal(f"moves a tensor to {device!r}", "Move it before the call"))
    return original(self, device)


NUMBERS_STAY_NUMBERS = frozenset((
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "clip", "where", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal",
))  # fmt: skip


@on_paper(apply.as_operand)
def as_operand(original: Any, op: Any, value: Any, name: str, numbers_only: bool) -> Any:
    """Keep a number that is an input a number beside arrays."""
    page: Any = open_page()
    value = value if page is None else page.ink_of_array(value)
    if page is not None and type(value) is Ink:
        if type(value.array) in (float, int):
            if op.name in NUMBERS_STAY_NUMBERS and not numbers_only:
                return value
            value = fix_number(page, value) if value.value.kind == "input" else value.__float__()
        else:
            return Tensor.of(value.copy("K"))
    return original(op, value, name, numbers_only)


@on_paper(apply.make_node)
def make_node(original: Any, vjp: Any, parents: Any, saved: Any, out: Any) -> Any:
    """Note the user's line and the result of an application."""
    node, page = original(vjp, parents, saved, out), open_page()
    if page is not None:
        page.made[node] = site_of_application(page), out.value if type(out) is Ink else None
    return node


@on_paper(callers.first_call)
def first_call(original: Any, op: Any, args: Any, params: Any) -> Any:
    """Interpret an operation. Compile it first if nobody has, since its nodes need the compiled vjp."""
    if not callers._interpreting and not op.is_compiled and callers.is_compilable(op):
        with _lock:
            callers.install(op)
            _put_aside(op)
    return op.apply(*args, **params)


@on_paper(Tensor.of)
def of(original: Any, data: Any, node: Any = None, origin: Any = None) -> Any:
    """Return a tensor of ink: of a constant, if it is given an array."""
    page: Any = open_page()
    if page is None or isinstance(data, Tensor):
        return original(data, node, origin)
    if type(data) is not Ink:
        data = Ink(data, page.constant(data), page)
    out = original(data, node, origin)
    page.variables.append(ref(out))
    return out


@on_paper(values.numbers)
def numbers(original: Any, data: Any, dtype: Any, name: str) -> Any:
    """Return the ink of a tensor, or ink itself, as an array of numbers."""
    page = _touch(data)
    found = data._data if isinstance(data, Variable) else data if page is None else page.ink_of_array(data)
    if page is None or type(found) is not Ink:
        return original(data, dtype, name)
    found = found.copy("K") if type(found.array) not in (int, float) else np.asarray(found.__float__())
    return found if dtype is None else values.cast(found, values.as_dtype(dtype, name), name)


@on_paper(Tensor._put_entries)
def put_entries(original: Any, self: Any, index: Any, given: Any) -> Any:
    """Write down that entries of a tensor are written."""
    _touch(self)
    _touch(given)
    return original(self, index, given)


@on_paper(Tensor.version.fget)
def version(original: Any, self: Any) -> int:
    """Return how often a leaf was written. It is a condition."""
    page: Any = open_page()
    number = original(self)
    if page is not None and page.is_outside(self):
        page.watch_node(self)
        page.add_condition(lambda: self.version, number, f"version of tensor {id(self)}")
    return number


for _function in (views.write_into_view, views.has_values_of, views.lend_view):

    @on_paper(_function)
    def use_view(original: Any, view: Any, *args: Any, **kwargs: Any) -> Any:
        """Note that a view must still have the entries of its tensor."""
        page: Any = open_page()
        if page is not None:
            page.watch_view(view)
        return original(view, *args, **kwargs)


@on_paper(Tensor.grad.fget)
def get_grad(original: Any, self: Any) -> Any:
    """Return a gradient; one that is there before the step is an input."""
    page: Any = open_page()
    if page is not None:
        page.watch_node(self)
        page.touch_gradient(self.node, is_read=True)
    return original(self)


@on_paper(Tensor.grad.fset)
def set_grad(original: Any, self: Any, value: Any) -> None:
    """Set a gradient, and note that the step has set it."""
    page: Any = open_page()
    if page is not None:
        page.watch_node(self)
        page.touch_gradient(self.node, is_read=False)
    original(self, value)


@on_paper(add_to_leaves)
def accumulate(original: Any, found: Any, create_graph: bool = False) -> None:
    """Add to gradients. A gradient from before the step is an input."""
    page: Any = open_page()
    if page is not None:
        for leaf in found:
            page.touch_gradient(leaf, is_read=True)
    original(found, create_graph)


@on_paper(set_all)
def set_gradients(original: Any, changes: Any, by: Any = None) -> None:
    """Set several gradients one by one, so that each is noted."""
    if open_page() is None:
        original(changes, by)
        return
    for leaf, gradient in changes:
        leaf.grad = gradient


@on_paper(optimizer.Optimizer.step)
def step(original: Any, self: Any, closure: Any = None) -> Any:
    """Take a step of an optimiser: values, gradients, state and settings are inputs."""
    page: Any = open_page()
    if page is None:
        return original(self, closure)
    loss = None if closure is None else closure()
    for group in self.param_groups:
        settings = Settings(page, group)
        page.groups.append(group)
        for tensor in group["params"]:
            page.watch_node(tensor)
            page.touch_gradient(tensor.node, is_read=True)
            gradient = tensor.node and tensor.node.grad
            if gradient is None:
                continue
            page.note_tensor(tensor)
            before = tensor._data
            gradient = ownership.snapshot(gradient) if isinstance(gradient, Tensor) else gradient
            after = self.new_values(before, gradient, State(page, self, tensor), settings)
            after = after if after.dtype == before.dtype else after.astype(before.dtype)
            ownership.set_array(tensor, after)
    return loss


_step_code.add(step.__code__)


@on_paper(schedule.LRScheduler.step)
def schedule_step(original: Any, self: Any) -> None:
    """Take a step of a schedule, which the program repeats at its end."""
    page: Any = open_page()
    original(self)
    if page is not None:
        page.hosts.append(self)


class Draws:
    """A generator that writes its draws down."""

    def __init__(self, generator: Any):
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        page: Any = open_page()
        call = getattr(self._generator, name)
        if page is None or not callable(call):
            return call
        rng = page.generators.get(id(self._generator))
        if rng is None:
            value = page.add_input(self._generator, ("object", self._generator), "rng")
            rng = page.generators[id(self._generator)] = Ink(self._generator, value, page)
        return lambda *args, **kwargs: record("draw", name, call_method(name), (rng, *args), kwargs, True)


@on_paper(random.seed.__wrapped__)
def seed(original: Any, number: int) -> None:
    """Refuse to seed random numbers inside a step, which would draw the same numbers at each call."""
    if open_page() is not None:
        raise TypeError(refusal("seeds random numbers", "Seed them before the call"))
    original(number)


@on_paper(random.generator_or_default)
def generator_or_default(original: Any, rng: Any, device: str = "cpu") -> Any:
    """Return a generator that writes its draws down."""
    with ink.leave_page():
        found = original(rng, device) if not isinstance(rng, Draws) else rng
    return Draws(found) if open_page() is not None and not isinstance(found, Draws) else found


# Opening and closing --------------------------------------

_aside: list[tuple[Any, Any, Any]] = []


def _put_aside(op: Any) -> None:
    """Replace the compiled code of a public function for as long as a page is open."""
    _aside.append((op.call, op.call.__code__, op.call.__defaults__))
    op.call.__code__, op.call.__defaults__ = callers._compile_and_call.__code__, None


def _exchange(function: FunctionType, replacement: Callable[..., Any]) -> None:
    """Give a function of the engine other code."""
    code, name = function.__code__, f"_on_paper_{replacement.__name__}_{id(replacement)}"
    defaults, keyword_defaults = function.__defaults__, function.__kwdefaults__
    original = FunctionType(code, function.__globals__, function.__name__, defaults)
    original.__kwdefaults__ = keyword_defaults
    function.__globals__[name] = lambda *args, **kwargs: replacement(original, *args, **kwargs)
    _exchanged.append((function, code, defaults, keyword_defaults, name))
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = _code_of_call(function.__name__, name)


@cache
def _code_of_call(function: str, called: str) -> CodeType:
    """Return the code of a function that calls a global of its module."""
    made: dict[str, Any] = {}
    exec(compile(f"def {function}(*args, **kwargs): return {called}(*args, **kwargs)", ink._SEAMS, "exec"), {}, made)
    return made[function].__code__


_exchanged: list[tuple[Any, ...]] = []


def _watch_engine() -> None:
    for op in operations.values():
        if op.is_compiled:
            _put_aside(op)
    for function, replacement in _replacements:
        _exchange(function, replacement)
    adam.sqrt = ink.paper_sqrt
    devices._devices["on paper"] = DEVICE


def _leave_engine() -> None:
    for function, code, defaults, keyword_defaults, name in _exchanged:
        function.__code__ = code
        function.__defaults__, function.__kwdefaults__ = defaults, keyword_defaults
        del function.__globals__[name]
    _exchanged.clear()
    for call, code, defaults in _aside:
        call.__code__, call.__defaults__ = code, defaults
    _aside.clear()
    adam.sqrt = ink.paper_sqrt.function
    del devices._devices["on paper"]


open_seams = SharedBlock(_lock, _watch_engine, _leave_engine)
"""Watch the engine in a block."""


@contextmanager
def write_on(page: OpenPage) -> Generator[None]:
    """Write what this thread does to arrays on a page. At the end the page is closed."""
    if open_page() is not None:
        raise RuntimeError("mg.compile: a step that is written out cannot call another that is traced")
    page.paper.complete()
    prepare_notes()
    refusals.messages.clear()
    with open_seams():
        set_page(page)
        try:
            yield
        except Exception:
            if not refusals.messages:  # NumPy raises an error of its own where ink refuses a number
                raise
        finally:
            set_page(None)
            page.close()
    if refusals.messages:  # also if the step has caught the error, and gone on
        raise TypeError(refusals.messages[0])
