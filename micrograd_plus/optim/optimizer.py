"""Base class of optimisers: parameter groups, their state, and the step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

import numpy as np

from ..core.messages import check_mapping
from ..core.modes import recording
from ..core.runtime.listening import notify_change
from ..core.runtime.ownership import set_array, snapshot
from ..core.variable import is_complex
from ..tensor import Tensor, forget_gradients
from .saved_state import Group, read_state


class Optimizer:
    """Base class of optimisers, which update parameters by their gradients.

    A subclass computes the new values in `new_values(values, gradient, state, group)`, on arrays. `param_groups` is the
    list of groups, dicts of parameters and settings, and `state` the state of each parameter. Values are replaced and
    never overwritten: a graph that was computed with the old ones keeps them.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        defaults: a dict of the settings that a group has unless it says otherwise, such as {"lr": 0.1}.
    Raises: TypeError for a single tensor or anything that is not a tensor; ValueError for no parameters, one given
        twice, a result instead of a leaf, an unknown setting, and a negative lr, weight_decay, momentum or eps;
        NotImplementedError in `step` if `new_values` is missing.
    Example:
        >>> class Signs(optim.Optimizer):
        ...     def new_values(self, values, gradient, state, group):
        ...         return values - group["lr"] * np.sign(gradient)
        >>> x = mg.tensor([1.0, -200.0], requires_grad=True)
        >>> signs = Signs([x], {"lr": 0.5})
        >>> (x * x).sum().backward()
        >>> signs.step()
        >>> x.tolist()
        [0.5, -199.5]

    See: torch.optim.Optimizer.
    """

    squares_gradients = False
    """Whether gradients are squared entry by entry, which rules out complex parameters."""
    state_names: Mapping[str, bool] | None = None
    """Names of what is stored for a parameter, and whether each is there from the first step on. `step` is a count, and
    everything else has the parameter's shape. None, in a subclass that does not list them, allows any names."""

    implied_settings: tuple[str, ...] = ()
    """Settings that PyTorch stores and this class always has."""

    def __init__(self, params: Iterable[Any], defaults: Group):
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError("an optimiser takes an iterable of tensors: write [x] for one, or model.parameters()")
        groups = list(params)
        if not groups:
            raise ValueError(
                "an optimiser was given no parameters; an iterator that was used up is empty: call "
                "model.parameters() anew"
            )
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters; missing settings are the defaults.

        Args:
            param_group: a dict with "params", a tensor or an iterable of tensors, and any settings.
        Raises: as the class itself; ValueError for a dict without "params".
        """
        check_mapping("add_param_group", param_group, '{"params": [x], "lr": 0.1}')
        known, kind = ", ".join(self.defaults), type(self).__name__
        unknown = [name for name in param_group if name not in self.defaults and name != "params"]
        if unknown:
            raise ValueError(f"{kind} has no setting {', '.join(unknown)}; it has {known}")
        if "params" not in param_group:
            raise ValueError(f"{kind}: a group must be a dict with 'params', and any of {known}; got {param_group}")
        given = param_group["params"]
        tensors = [given] if isinstance(given, Tensor) else list(given)
        taken = {id(tensor) for tensor in self.parameters()}
        for place, tensor in enumerate(tensors):
            refuse_parameter(tensor, place, taken)
            taken.add(id(tensor))
        group = {**self.defaults, **param_group, "params": tensors}
        self.check(group)
        self.param_groups.append(group)

    def parameters(self) -> list[Tensor]:
        """Return the parameters of all groups."""
        return [tensor for group in self.param_groups for tensor in group["params"]]

    def check(self, group: Group) -> None:
        """Raise for settings and parameters that the optimiser cannot use."""
        if self.squares_gradients and any(is_complex(tensor) for tensor in group["params"]):
            kind = type(self).__name__
            raise TypeError(f"{kind} squares gradients, entry by entry; train the real and imaginary parts apart")
        for name in ("lr", "lr_decay", "weight_decay", "eps", "momentum", "dampening", "initial_accumulator_value"):
            value = group.get(name, 0)
            if not is_between(value, 0, inf):
                raise ValueError(f"{type(self).__name__}: {name} must be a number that is not negative, got {value!r}")
        for name in ("amsgrad", "nesterov", "centered"):
            if not isinstance(value := group.get(name, False), (int, np.bool_)):
                raise TypeError(f"{type(self).__name__}: {name} must be True or False, got {value!r}")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset all gradients before the next backward pass.

        Args:
            set_to_none: True (default) for None, False for gradients of 0s.
        """
        forget_gradients(self.parameters(), set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: a function without arguments that is called before, to compute the loss and its gradients.
        Returns: the result of the closure, or None.
        """
        loss = None if closure is None else closure()
        for group in self.param_groups:
            updates: list[Any] | None = [] if recording.open else None
            try:
                self._update_group(group, updates)
            finally:
                if updates:
                    notify_change("update", updates, group, None, self)
        return loss

    def _update_group(self, group: Group, updates: list[Any] | None) -> None:
        """Update the parameters of a group; add each with its arrays before and after to `updates`."""
        for tensor in group["params"]:
            gradient = tensor.node and tensor.node.grad
            if gradient is not None:
                before = tensor._data
                gradient = snapshot(gradient) if type(gradient) is Tensor else gradient
                values = self.new_values(before, gradient, self.state[tensor], group)
                # A learning rate that is a NumPy number is as wide as float64 and would widen float32.
                after = values if values.dtype is before.dtype else values.astype(before.dtype)
                set_array(tensor, after)
                if updates is not None:
                    updates.append((tensor, before, after))

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return the new values of one parameter in a new array. Only `state` may be written."""
        raise NotImplementedError(f"{type(self).__name__} has no new_values(values, gradient, state, group)")

    # State ------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state needed to continue later: {"state": {"0": {...}}, "param_groups": [...]}.

        Parameters go by their number. Arrays are copies. The names are PyTorch's; the numbers are text, so that
        `mg.save` can keep them.

        Returns: a dict for `load_state_dict`.
        """
        numbers = {id(tensor): number for number, tensor in enumerate(self.parameters())}
        states = {
            str(numbers[id(tensor)]): {name: _copy(value) for name, value in state.items()}
            for tensor, state in self.state.items()
            if state
        }
        groups = [{**group, "params": [numbers[id(each)] for each in group["params"]]} for group in self.param_groups]
        return {"state": states, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state saved by `state_dict`, for parameters of the same number and shapes: all of it, or nothing.

        Args:
            state_dict: what `state_dict()` returned, of an optimiser of the same kind.
        Raises: ValueError for the state of something else, of another kind, or of other parameters, and for settings
            that the optimiser does not accept; TypeError if the state or one of its values has the wrong type.
        """
        groups, states = read_state(self, state_dict)
        for group, settings in zip(self.param_groups, groups, strict=True):
            group.update(settings)
        self.state = defaultdict(dict, states)

    def __repr__(self) -> str:
        count = sum(len(group["params"]) for group in self.param_groups)
        settings = {name: value for name, value in self.param_groups[0].items() if name != "params"}
        said = ", ".join(f"{name}={value}" for name, value in settings.items())
        return f"{type(self).__name__}({count} parameters, {said})"


def is_between(value: Any, low: float, high: float) -> bool:
    """Return whether a value is one number within these limits."""
    try:
        return hasattr(value, "__float__") and low <= float(value) <= high
    except (TypeError, ValueError):
        return False


def refuse_parameter(tensor: Any, place: int, taken: set[int]) -> None:
    """Raise for a parameter that cannot be trained or is already in a group."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"parameter {place} is {type(tensor).__name__}; an optimiser trains tensors")
    if not tensor.is_leaf:
        raise ValueError(
            f"parameter {place}, of shape {tensor.shape}, is a result, not a leaf: what it was computed from "
            f"can be trained, or a copy: nn.Parameter(x.detach())"
        )
    if id(tensor) in taken:
        raise ValueError(f"parameter {place}, of shape {tensor.shape}, is given twice: it would take two steps at once")


def _copy(value: Any) -> Any:
    return Tensor.of(value.copy()) if hasattr(value, "shape") else value
