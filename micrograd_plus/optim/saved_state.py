"""Loading of an optimiser's saved state: everything is checked before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..backends import devices
from ..core.messages import check_mapping
from ..tensor import Tensor

Group = dict[str, Any]


def read_state(optimizer: Any, state_dict: Any) -> tuple[list[Group], dict[Tensor, dict[str, Any]]]:
    """Return the settings of each group and the state of each parameter, or raise for a state that does not fit."""
    check_mapping("load_state_dict", state_dict, "state_dict() returns")
    if not {"state", "param_groups"} <= state_dict.keys():
        held = ", ".join(map(str, state_dict))
        raise ValueError(f"load_state_dict: an optimiser's state holds state and param_groups, this one {held}")
    groups = read_groups(optimizer, state_dict["param_groups"])
    return groups, read_parameters(optimizer, state_dict["state"])


def read_groups(optimizer: Any, saved: Any) -> list[Group]:
    """Return the settings of each group, checked as those of a new optimiser."""
    if not isinstance(saved, (list, tuple)) or not all(isinstance(each, Mapping) for each in saved):
        raise TypeError(f"load_state_dict: param_groups must be a list of dicts, got {saved!r}")
    for number, group in enumerate(saved):
        if not isinstance(group.get("params"), (list, tuple)):
            raise TypeError(f"load_state_dict: 'params' of group {number} must be a list, got {group.get('params')!r}")
    sizes, others = ([len(group["params"]) for group in groups] for groups in (optimizer.param_groups, saved))
    if sizes != others:
        raise ValueError(f"load_state_dict: groups of {sizes} parameters here, of {others} in the state")
    kind = type(optimizer).__name__
    missing = [name for name in optimizer.defaults if not all(name in group for group in saved)]
    if missing:
        raise ValueError(f"load_state_dict: {kind} has {', '.join(missing)}, this state does not")
    known, implied = {*optimizer.defaults, "initial_lr"}, optimizer.implied_settings
    for group in saved:
        strange = [
            f"{name}={value!r}" for name, value in group.items() if name not in {*known, *implied, "params"} and value
        ]
        if strange:
            raise ValueError(f"load_state_dict: {kind} has no setting {', '.join(strange)}")
    settings = [{name: value for name, value in group.items() if name in known} for group in saved]
    for group, loaded in zip(optimizer.param_groups, settings, strict=True):
        optimizer.check({**group, **loaded})
    return settings


def read_parameters(optimizer: Any, saved: Any) -> dict[Tensor, dict[str, Any]]:
    """Return the state of each parameter, with arrays on its device and of its dtype."""
    if not isinstance(saved, Mapping):
        raise TypeError(f"load_state_dict: state must be a dict by number of parameter, got {saved!r}")
    tensors = optimizer.parameters()
    numbers = {key: number for number in range(len(tensors)) for key in (number, str(number))}
    states: dict[Tensor, dict[str, Any]] = {}
    for key, named in saved.items():
        if key not in numbers:
            raise ValueError(f"load_state_dict: a state of parameter {key}, and there are {len(tensors)}")
        tensor = tensors[numbers[key]]
        if tensor in states:
            raise ValueError(f"load_state_dict: two states of parameter {key}")
        if not isinstance(named, Mapping):
            raise TypeError(f"load_state_dict: the state of parameter {key} must be a dict, got {named!r}")
        check_names(optimizer, key, named)
        stored = named if optimizer.state_names is None else optimizer.state_names
        states[tensor] = {
            name: read_value(optimizer, tensor, key, name, value) for name, value in named.items() if name in stored
        }
    return states


def check_names(optimizer: Any, key: Any, named: Mapping[str, Any]) -> None:
    """Raise ValueError unless a parameter has what the optimiser stores for it, or nothing yet.

    PyTorch counts the steps of some optimisers that do not use the count; it is left out here.
    """
    stored = optimizer.state_names
    if stored is None or not named:
        return
    kind, known = type(optimizer).__name__, ", ".join(stored) or "nothing"
    for name in named:
        if name not in stored and name != "step":
            raise ValueError(f"load_state_dict: parameter {key} has {name}; {kind} stores {known}")
    for name, is_always_there in stored.items():
        if is_always_there and name not in named:
            raise ValueError(f"load_state_dict: parameter {key} has no {name}; {kind} stores {known}")


def read_value(optimizer: Any, tensor: Tensor, key: Any, name: str, value: Any) -> Any:
    """Return a count as a number, and anything else as an array on the device and of the dtype of its parameter."""
    about = f"load_state_dict: {name} of parameter {key}"
    if name == "step" and optimizer.state_names is not None:
        try:
            count = float(value)
        except (TypeError, ValueError):
            count = -1.0
        if not count >= 0 or count % 1:
            raise ValueError(f"{about} must be a whole number that is not negative, got {value!r}")
        return int(count)
    if not hasattr(value, "shape"):
        if optimizer.state_names is not None:
            raise TypeError(f"{about} must be an array of shape {tensor.shape}, got {value!r}")
        return value
    if tuple(value.shape) != tensor.shape:
        raise ValueError(f"{about} has shape {tuple(value.shape)}, the parameter {tensor.shape}")
    values = value.to(tensor.device)._data if isinstance(value, Tensor) else value
    if values.dtype.kind not in ("biufc" if tensor.dtype.kind == "c" else "biuf"):
        raise TypeError(f"{about} has dtype {values.dtype}, the parameter {tensor.dtype}")
    return devices.device_of(tensor._data).library.array(values, tensor.dtype)
