"""Module: parameters, buffers and other modules under names, and a `forward` that says what they compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from ..tensor import Tensor, tensor
from ..variable import no_grad

__all__ = ["Module", "Parameter"]

PARAMETER, BUFFER, PASSING = "parameter", "buffer", "passing buffer"


def Parameter(data: Any, requires_grad: bool = True, *, dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor to be trained: a leaf that wants a gradient, with a copy of `data`."""
    return tensor(data, requires_grad, dtype, device)


class Keys(NamedTuple):
    """The names in which a model and a state dict differ."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """A part of a network. Derive from it, give attributes in `__init__`, and say in `forward` what it
    computes.

    Whatever is assigned to an attribute finds its place: a leaf that wants a gradient is a parameter, a
    module is a child, and everything else is left alone. Order is always the order of assignment.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         self.slope = nn.Parameter(2.0)
    ...         self.start = nn.Parameter(1.0)
    ...     def forward(self, x):
    ...         return self.slope * x + self.start
    >>> line = Line()
    >>> line(mg.tensor(3.0)).item()
    7.0
    >>> [name for name, parameter in line.named_parameters()]
    ['slope', 'start']
    """

    training: bool
    _roles: dict[str, str]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Ready to hold attributes even where a class forgets `super().__init__()`."""
        module = super().__new__(cls)
        module.__dict__.update(_roles={}, training=True)
        return module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; each class gives its own."""
        raise NotImplementedError(
            f"{type(self).__name__} has no forward(self, ...): write what it computes there"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` computes."""
        return self.forward(*args, **kwargs)

    # Attributes ---------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        role = self._roles.get(name)
        if role is not None and value is not None:
            self._refuse(name, role, value)
        elif isinstance(value, Tensor) and value.requires_grad and value.is_leaf:
            self._roles[name] = PARAMETER
            value.label = name
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._roles.pop(name, None)
        object.__delattr__(self, name)

    def _refuse(self, name: str, role: str, value: Any) -> None:
        """What has been a parameter or buffer stays one: a result in its place would be trained no more."""
        if not isinstance(value, Tensor) or not value.is_leaf:
            what = "a result" if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(
                f"{type(self).__name__}.{name} is a {role} and cannot become {what}; to change its "
                f"values call {name}.assign(values), to replace it assign nn.Parameter(values)"
            )
        value.label = name

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter under a name; None keeps the name free for one."""
        self._roles[name] = PARAMETER
        setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained but belongs to the module; `persistent` ones are in the state
        dict."""
        if tensor is not None and tensor.requires_grad:
            raise ValueError(
                f"buffer {name!r} wants a gradient: a buffer is not trained; pass tensor.detach()"
            )
        self._roles[name] = BUFFER if persistent else PASSING
        setattr(self, name, tensor)

    # Looking ------------------------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are attributes of this one, by name."""
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                yield name, value

    def children(self) -> Iterator[Module]:
        """The modules that are attributes of this one."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module, then all below it, each once, by dotted name."""
        seen: set[int] = set()
        for name, module in self._every_module(prefix):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def _every_module(self, prefix: str) -> Iterator[tuple[str, Module]]:
        """The same, and again where a module stands in two places."""
        yield prefix, self
        for name, child in self.named_children():
            yield from child._every_module(joined(prefix, name))

    def modules(self) -> Iterator[Module]:
        """This module, then all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def _named_tensors(self, prefix: str, *roles: str) -> Iterator[tuple[str, Tensor]]:
        """Every tensor of some roles by dotted name; a shared one by each of its names."""
        for place, module in self._every_module(prefix):
            for name, role in module._roles.items():
                value = module.__dict__.get(name)
                if role in roles and value is not None:
                    yield joined(place, name), value

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Every parameter, each once, by dotted name; the name becomes its label, which a recording shows."""
        for name, parameter in once(self._named_tensors(prefix, PARAMETER)):
            parameter.label = name
            yield name, parameter

    def parameters(self) -> Iterator[Tensor]:
        """Every parameter, each once."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Every buffer, each once, by dotted name."""
        return once(self._named_tensors(prefix, BUFFER, PASSING))

    def buffers(self) -> Iterator[Tensor]:
        """Every buffer, each once."""
        for _, buffer in self.named_buffers():
            yield buffer

    # Changing all at once -----------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Say that the network is being trained: dropout, say, is on."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Say that the network is being used: dropout, say, is off."""
        return self.train(False)

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters, before the next walk adds up new ones."""
        for parameter in self.parameters():
            parameter.grad = None if isinstance(parameter, Tensor) else 0  # a Value's gradient starts at 0

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether the parameters are to be trained; frozen ones stay parameters."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every module below this one, and then with this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, device: str | None = None, dtype: Any = None) -> Self:
        """Every parameter and buffer moved to a device, and the floats among them to a dtype.

        The tensors are new ones: make the optimiser afterwards.
        """
        moved: dict[int, Tensor] = {}
        for module in self.modules():
            for name in module._roles:
                value = module.__dict__.get(name)
                if value is not None:
                    if id(value) not in moved:
                        moved[id(value)] = _moved(value, device, dtype)
                    setattr(module, name, moved[id(value)])
        return self

    # State --------------------------------------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """The values of all parameters and persistent buffers by dotted name: copies, which training does not
        change."""
        return {name: value.detach() for name, value in self._named_tensors(prefix, PARAMETER, BUFFER)}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Keys:
        """Take over values by dotted name: all of them, or, when something does not fit, none.

        `strict=False` leaves parameters that are missing as they are, and passes over names that are unknown.
        Returns both lists.
        """
        own = dict(self._named_tensors("", PARAMETER, BUFFER))
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        given = {name: _as_tensor(state_dict[name]) for name in own if name in state_dict}
        faults = [f"missing: {', '.join(missing)}"] if missing and strict else []
        faults += [f"unexpected: {', '.join(unexpected)}"] if unexpected and strict else []
        faults += [
            f"{name} has shape {own[name].shape} here and {values.shape} in the state"
            for name, values in given.items()
            if own[name].shape != values.shape
        ]
        if faults:
            raise ValueError(f"load_state_dict of {type(self).__name__}: {'; '.join(faults)}")
        for name, values in given.items():
            own[name].assign(values.to(own[name].device))
        return Keys(missing, unexpected)

    # In print -----------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What to print between the brackets of a module without children."""
        return ""

    def __repr__(self) -> str:
        children = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self.named_children()]
        own = [
            f"{name} {getattr(self, name).shape}" for name in self._roles if getattr(self, name) is not None
        ]
        inside = "".join(f"\n  {line}" for line in children) + "\n" if children else self.extra_repr()
        total = sum(parameter.size for _, parameter in once(self._named_tensors("", PARAMETER)))
        said = [", ".join(own)] if own else []
        said += [f"{total:,} parameter{'s' * (total != 1)}"] if total else []
        return f"{type(self).__name__}({inside}){': ' * bool(said)}{'; '.join(said)}"


def joined(prefix: str, name: str) -> str:
    """A dotted name."""
    return f"{prefix}.{name}" if prefix else name


def once(named: Iterator[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
    """Each tensor under the first of its names."""
    seen: set[int] = set()
    for name, value in named:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _moved(value: Tensor, device: str | None, dtype: Any) -> Tensor:
    """A tensor on another device or of another dtype, still a leaf and still of its label."""
    new_dtype = value.dtype if dtype is None or value.dtype.kind not in "fc" else dtype
    if value.device == (device or value.device) and value.dtype == new_dtype:
        return value
    with no_grad():
        out = tensor(value.to(device or value.device), value.requires_grad, new_dtype, device or value.device)
    out.label = getattr(value, "label", "")
    return out


def _as_tensor(values: Any) -> Tensor:
    return values if isinstance(values, Tensor) else tensor(values)
