"""A page that is open: which tensors, gradients, optimisers' states and settings a step has touched, and how they end.

Objects from before the step get the ink of an input when they are first touched, so that each change is written down.
Closing the page notes the changes, and gives all objects their real arrays back.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from ..backends import devices
from ..core.runtime import ownership
from ..core.variable import Leaf, Variable, clock
from ..tensor import views
from . import ink
from .ink import Ink, paper_for
from .notes import refusal
from .page import NoGradient, Note, Page, Setting, Statement, Update, Value
from .places import MISSING


class OpenPage(Page):
    """A page that can be written on: it knows which tensors, gradients and states the step has touched."""

    def __init__(self, named: dict[int, str], arrays: dict[int, tuple[Any, str]] | None = None, device: str = "cpu"):
        super().__init__(named)
        self.arrays_around, self.device = arrays or {}, device
        self.paper = paper_for(device)
        self.start = clock()
        self.tensors: dict[int, tuple[Any, Any, Value, bool]] = {}
        self.views: dict[int, Any] = {}
        self.variables: list[ref[Any]] = []
        self.gradients: dict[int, tuple[Any, Any, Any]] = {}
        self.states: dict[int, tuple[Any, Any, dict[str, Any]]] = {}
        self.generators: dict[int, Ink] = {}
        self.settings: dict[tuple[int, str], Any] = {}
        self.groups: list[Any] = []
        self.hosts: list[Any] = []
        self.arguments: dict[int, Value] = {}

    # What a step reads ----------------------

    def note_tensor(self, tensor: Any) -> None:
        """Give a tensor that was there before the step the ink of an input."""
        data = tensor._data
        self.check_device(data)
        if type(data) is Ink:
            if data.page is not self:
                tensor._data = Ink(data.array, self.constant(data.array), self)
            return
        self.watch_node(tensor)
        value = self.add_input(data, ("tensor", tensor), self.name_of(tensor))
        self.tensors[id(tensor)] = tensor, data, value, ownership.user_may_write(tensor)
        self.variables.append(ref(tensor))
        tensor._data, tensor.is_fast, tensor.is_lent = Ink(data, value, self), False, False

    def name_of(self, tensor: Any) -> str:
        """Return what the user calls a tensor."""
        return self.named.get(id(tensor)) or getattr(tensor, "label", "") or "t"

    def watch_node(self, tensor: Any) -> None:
        """Note that the step depends on which node a tensor has that was there before it, even if it never reads the
        tensor's values: whether a gradient is wanted, and the leaf whose gradient is read or set."""
        if self.is_outside(tensor) and id(tensor) not in self.arguments:
            self.nodes.setdefault(id(tensor), (tensor, tensor.node))

    def watch_view(self, view: Any) -> None:
        """Note that the step writes through a view that was there before it: the engine refuses that once the tensor
        behind the view has other entries."""
        if self.is_outside(view) and id(view) not in self.views:
            self.views[id(view)] = view
            with ink.leave_page():
                is_current = can_write_through(view)
            self.add_condition(partial(can_write_through, view), is_current, f"view {len(self.views)} is current")

    def watch_graph(self, node: Any) -> None:
        """Note that a walk passes a node from before the step, whose saved values may be freed by another walk."""
        if node.created < self.start:
            self.add_condition(lambda: node.saved is None, False, f"node {node.created} is freed")

    def check_device(self, data: Any) -> None:
        """Raise TypeError for an array on another device than the page's."""
        if type(data) is not Ink and (device := devices.device_of(data).name) != self.device:
            cure = "Compile a step whose tensors are on one device"
            raise TypeError(refusal(f"uses tensors on {self.device!r} and {device!r}", cure))

    def is_outside(self, tensor: Any) -> bool:
        """Return True for a tensor that was there before the step."""
        return type(tensor._data) is not Ink or id(tensor) in self.tensors or id(tensor) in self.arguments

    def ink_of_array(self, x: Any) -> Any:
        """Return an array that was there before the step as the ink of an input; anything else as it is."""
        if type(x) is not np.ndarray or id(x) not in self.arrays_around:
            return x
        _, name = self.arrays_around[id(x)]
        if id(x) not in self.arrays:
            self.arrays[id(x)] = self.add_input(x, ("array", x), name), x
        return Ink(x, self.arrays[id(x)][0], self)

    def touch_gradient(self, node: Any, *, is_read: bool) -> None:
        """Give a gradient that is there before the step the ink of an input."""
        if type(node) is not Leaf or node.created > self.start or id(node) in self.gradients:
            return
        gradient, value = node.grad, None
        if is_read and getattr(gradient, "node", None) is not None:
            cure = "Take its values before the call, `w.grad = w.grad.detach()`"
            raise TypeError(refusal("reads a gradient that has a graph", cure))
        if is_read:
            self.add_condition(NoGradient(node), gradient is None,
                f"gradient {len(self.gradients)} is {'None' if gradient is None else 'there'}")  # fmt: skip
        if gradient is not None:
            data = gradient._data if isinstance(gradient, Variable) else gradient
            value = self.add_input(data, ("gradient", node), "gradient")
            node.grad = Ink(data, value, self)
        self.gradients[id(node)] = node, value, gradient if is_read else None

    def touch_state(self, owner: Any, tensor: Any) -> Any:
        """Return the state of a parameter, with ink in place of its arrays and numbers."""
        state = owner.state[tensor]
        if id(state) in self.states:
            return state
        if not any(known is owner for known, _, _ in self.states.values()):
            self.add_condition(lambda: count_states(owner), count_states(owner), f"the states of optimiser {id(owner)}")
        inked: dict[str, Any] = {}
        for name, x in state.items():
            x = x._data if isinstance(x, Variable) else x
            read = _reader(owner, tensor, name)
            inked[name] = Ink(x, self.add_input(x, ("read", read, "state"), f"{self.name_of(tensor)}_{name}"), self)
        state.update(inked)
        self.states[id(state)] = owner, tensor, inked
        return state

    def number(self, holder: Any, key: Any, x: Any, hint: str) -> Any:
        """Return a setting that is a number as ink, since a schedule may change it."""
        if type(x) in (tuple, list):
            return tuple(self.number(holder, (key, i), part, f"{hint}_{i + 1}") for i, part in enumerate(x))
        place = (id(holder), repr(key))
        if type(x) not in (int, float, np.float64, np.float32):
            read = _setting_reader(holder, key)
            self.add_condition(read, x, f"{hint} is {x!r}")
            return x
        if place not in self.settings:
            read = _setting_reader(holder, key)
            self.settings[place] = Ink(x, self.add_input(x, ("read", read, "setting"), hint), self)
        return self.settings[place]

    # The end ----------------------------------

    def close(self) -> None:
        """Note the changes of the step, and give all tensors their arrays back."""
        self._close_tensors()
        self._close_gradients()
        self._close_states()
        self.updates += [Update("host", each, None, None) for each in self.hosts]
        for group in self.groups:
            group.update({name: ink.real(x) for name, x in group.items()})
        for variable in [v() for v in self.variables]:
            heal(variable)

    def _close_tensors(self) -> None:
        for tensor, _, value, was_lent in self.tensors.values():
            now = tensor._data
            if type(now) is not Ink or now.page is not self:
                continue
            if now.value is not value and not self._is_copy(now.value, value):
                self.updates.append(Update("tensor", tensor, None, self._own(now.value)))
            elif now.value is value and was_lent:
                tensor._data, tensor.is_lent = now.array, True

    def _close_gradients(self) -> None:
        for node, value, before in self.gradients.values():
            data = node.grad._data if isinstance(node.grad, Variable) else node.grad
            if data is None:
                self.updates.append(Update("gradient", node, None, None))
            elif type(data) is not Ink or data.value is not value:
                self.updates.append(Update("gradient", node, None, self._own(ink.value_of(self, data))))
            is_unread = before is None or type(data) is not Ink or data.value is not value
            node.grad = ink.real(data) if is_unread else before

    def _close_states(self) -> None:
        for owner, tensor, inked in self.states.values():
            state = owner.state[tensor]
            for name, x in list(state.items()):
                if x is not inked.get(name):
                    value = self._own(ink.value_of(self, x))
                    self.updates.append(Update("state", (owner, tensor), name, value))
                state[name] = ink.real(x)

    def _own(self, value: Any) -> Any:
        """Return a value that outlives the call in memory that no input shares."""
        if not isinstance(value, Value) or not value.is_array or value.kind != "input":
            return value
        statement = Statement("method", "copy", (value, "K"), {}, [], Note("", "", ""))
        statement.out = Value("temporary", np.empty(0))
        statement.out.shape, statement.out.dtype = value.shape, value.dtype
        self.statements.append(statement)
        return statement.out

    def _is_copy(self, value: Value, initial: Value) -> bool:
        """Return True if a value is an unchanged copy of the tensor's initial one."""
        while value is not initial:
            made = next((s for s in self.statements if s.out is value), None)
            if made is None or made.form != "method" or made.function != "copy" or value.buffer.writes:
                return False
            value = made.args[0]
        return True


def can_write_through(view: Any) -> bool:
    """Return True if a view has the entries of the tensor behind it."""
    whole = None if view.origin is None else views.tensor_behind(view.origin)
    return whole is not None and views.has_values_of(view, whole)


def count_states(optimiser: Any) -> int:
    """Return how many arrays and numbers an optimiser keeps for all its parameters."""
    return sum(map(len, optimiser.state.values()))


def heal(variable: Any) -> None:
    """Give a tensor that holds ink the real array."""
    if variable is None or type(variable._data) is not Ink:
        return
    is_lent = getattr(variable, "is_lent", False) and not variable.is_fast
    variable._data = variable._data.array
    variable.is_lent, variable.is_fast = is_lent, not is_lent and ownership.is_real_on_cpu(variable._data)


def _reader(owner: Any, tensor: Any, name: str) -> Callable[[], Any]:
    return lambda: (owner.state.get(tensor) or {}).get(name, MISSING)


def _setting_reader(holder: Any, key: Any) -> Callable[[], Any]:
    if isinstance(key, tuple):
        return lambda: holder[key[0]][key[1]]
    return Setting(holder, key)


class State(MutableMapping[str, Any]):
    """The state of a parameter as an update reads it: its arrays and numbers are ink. A program whose update never asks
    for the state does not depend on it."""

    def __init__(self, page: OpenPage, owner: Any, tensor: Any):
        self._touch = partial(page.touch_state, owner, tensor)

    def __getitem__(self, name: str) -> Any:
        return self._touch()[name]

    def __setitem__(self, name: str, x: Any) -> None:
        self._touch()[name] = x

    def __delitem__(self, name: str) -> None:
        del self._touch()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._touch())

    def __len__(self) -> int:
        return len(self._touch())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._touch(), name)


class Settings(dict[str, Any]):
    """The settings of a group as an update reads them: numbers are ink."""

    def __init__(self, page: OpenPage, group: Any):
        super().__init__(group)
        self.page, self.group = page, group

    def __getitem__(self, name: str) -> Any:
        if name == "params":
            return super().__getitem__(name)
        if self.page.hosts:
            raise TypeError(refusal("takes a step of an optimiser after its schedule", "Take the schedule's step last"))
        return self.page.number(self.group, name, super().__getitem__(name), name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - `get` is what is defined here
