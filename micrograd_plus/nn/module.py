"""Base class of layers: named parameters, buffers and modules, and a `forward` method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

from ..core.messages import MissingName, check_function, check_mapping, expected_tensor_error
from ..core.runtime.blocks import module_call, no_grad
from ..core.runtime.hooks import Handle
from ..tensor import Tensor, forget_gradients, tensor
from ..tensor.views import detached_view

__all__ = ["Module", "Parameter"]

PARAMETER, BUFFER, PASSING = "parameter", "buffer", "passing buffer"
PLAIN = (bool, int, float, str, tuple, type(None))
"""What of a module's settings is printed."""


class _Trained(type):
    """Metaclass that makes `Parameter` a name for some tensors: calling it creates one, and `isinstance` is True for
    every leaf that requires a gradient. A subclass of `Tensor` would slow down every operation."""

    def __call__(
        cls, data: Any, requires_grad: bool = True, *, dtype: Any = None, device: str = "cpu"
    ) -> Tensor:
        """Return a tensor to train."""
        return tensor(data, requires_grad, dtype, device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.requires_grad and instance.is_leaf


class Parameter(metaclass=_Trained):
    """Parameter: a tensor to train, a leaf that requires a gradient.

    What it makes is a `Tensor`; `isinstance(x, nn.Parameter)` holds for every leaf that wants a gradient.

    Args:
        data: numbers, in any form of which `mg.tensor` makes a tensor; they are copied.
        requires_grad: whether it is trained; True by default.
        dtype: the dtype of the data by default; floats or complex numbers.
        device: "cpu" (default) or "cuda".
    Returns: a tensor of the shape of the data. Assigned to an attribute of a `Module` it is found by `parameters()`.
    Raises: TypeError for integers, where it is trained, and for data that is not numeric.
    Example:
        >>> nn.Parameter([1.0, 2.0])
        tensor([1., 2.], requires_grad=True)
        >>> isinstance(nn.Linear(2, 1).weight, nn.Parameter), isinstance(mg.tensor([1.0]), nn.Parameter)
        (True, False)

    See: torch.nn.Parameter.
    """


class Keys(NamedTuple):
    """Names in which a model and a state dict differ."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Hooks(dict[Handle, Callable[..., Any]]):
    """Forward hooks of a module, in the order in which they run."""

    def __setitem__(self, handle: Handle, hook: Callable[..., Any]) -> None:
        Module.changes[0] += 1
        super().__setitem__(handle, hook)

    def pop(self, handle: Handle, default: Any = None) -> Any:
        """Remove a hook."""
        Module.changes[0] += 1
        return super().pop(handle, default)


class Module:
    """Base class of layers and networks: named parameters, and a `forward` that computes.

    Derive from it, give attributes in `__init__`, and say in `forward` what it computes. Whatever is assigned to an
    attribute finds its place: a leaf that wants a gradient is a parameter, a module is a child, and everything else is
    left alone. Order is always the order of assignment. `super().__init__()` may be forgotten.

    Shapes: those of `forward`.
    Args:
        *_, **__: the arguments of the class that derives from it; this one takes none.
    Raises: NotImplementedError when called, where there is no `forward`; TypeError if a result or a number is
        assigned instead of a parameter or a buffer.
    Example:
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

    See: torch.nn.Module.
    """

    changes: ClassVar[list[int]] = [0]
    """How many attributes and hooks of modules were set or removed: compiled steps look again when it has grown."""

    training: bool
    _roles: dict[str, str]
    _before: Hooks
    _after: Hooks

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Create a module that can hold attributes even if a class forgets `super().__init__()`."""
        module = super().__new__(cls)
        module.__dict__.update(_roles={}, _before=Hooks(), _after=Hooks(), training=True)
        return module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output for an input; each class defines its own."""
        raise NotImplementedError(f"{type(self).__name__} has no forward(self, ...): write what it computes there")

    @module_call
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward` and the hooks."""
        try:
            if not self._before and not self._after:
                return self.forward(*args, **kwargs)
            return self._with_hooks(args, kwargs)
        except AttributeError as error:  # of a list, say, which has no shape: Python's sentence names no layer
            given = error.obj
            if isinstance(given, (list, *PLAIN)) and any(given is each for each in (*args, *kwargs.values())):
                raise expected_tensor_error(type(self).__name__, given) from error
            raise

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in list(self._before.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        output = self.forward(*args, **kwargs)
        for hook in list(self._after.values()):
            changed = hook(self, args, output)
            output = output if changed is None else changed
        return output

    def register_forward_pre_hook(self, hook: Callable[[Module, tuple[Any, ...]], Any]) -> Handle:
        """Call `hook(module, args)` before each `forward`; it may return other arguments.

        Args:
            hook: a function of the module and the tuple of its arguments. None leaves them as they are; any other value
                is the only argument.
        Returns: a handle that takes the hook away again, by `remove()` or at the end of a `with` block.
        Raises: TypeError if `hook` is not a function.
        """
        check_function("register_forward_pre_hook", hook)
        return Handle(self._before, hook)

    def register_forward_hook(self, hook: Callable[[Module, tuple[Any, ...], Any], Any]) -> Handle:
        """Call `hook(module, args, output)` after each `forward`; it may return another output.

        Args:
            hook: a function of the module, the tuple of its arguments and its output. None leaves the output as it is.
        Returns: a handle that takes the hook away again, by `remove()` or at the end of a `with` block.
        Raises: TypeError if `hook` is not a function.
        Example:
            >>> net, shapes = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1)), []
            >>> for layer in net:
            ...     _ = layer.register_forward_hook(lambda module, args, output: shapes.append(output.shape))
            >>> _ = net(mg.tensor([[1.0, 2.0]]))
            >>> shapes
            [(1, 5), (1, 5), (1, 1)]
        """
        check_function("register_forward_hook", hook)
        return Handle(self._after, hook)

    # Attributes -------------

    def __setattr__(self, name: str, value: Any) -> None:
        Module.changes[0] += 1
        role = self._roles.get(name)
        if role is not None and value is not None:
            self._refuse(name, role, value)
        elif isinstance(value, Tensor) and value.requires_grad and value.is_leaf:
            self._roles[name] = PARAMETER
            value.label = name
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        Module.changes[0] += 1
        self._roles.pop(name, None)
        object.__delattr__(self, name)

    def _refuse(self, name: str, role: str, value: Any) -> None:
        """Raise TypeError if a parameter or buffer would be replaced by a result, which is never trained."""
        if not isinstance(value, Tensor) or not value.is_leaf:
            what = "a result" if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(
                f"{type(self).__name__}.{name} is a {role} and cannot become {what}; to change its values call "
                f"{name}.assign(values), to replace it assign nn.Parameter(values)"
            )
        value.label = name

    def _refuse_name(self, name: str, may_be_replaced: bool) -> None:
        """Raise for a name that a state dict could not hold, or that is in use."""
        if not isinstance(name, str) or "." in name:
            raise KeyError(f"{type(self).__name__}: {name!r} cannot be a name: names are text without a dot")
        if not may_be_replaced and getattr(self, name, None) is not None:
            raise KeyError(f"{type(self).__name__}: {name!r} cannot be a name: it is taken")

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter under a name; None keeps the name free for one."""
        self._refuse_name(name, self._roles.get(name) == PARAMETER)
        self._roles[name] = PARAMETER
        setattr(self, name, param)

    def add_module(self, name: str, module: Module) -> None:
        """Add a child under a name, as assigning it to an attribute does."""
        if not isinstance(module, Module):
            raise TypeError(
                f"{type(self).__name__} expects modules, got {type(module).__name__}; most functions have a module of "
                f"the same name, as relu has nn.ReLU()"
            )
        self._refuse_name(name, isinstance(self.__dict__.get(name), Module))
        setattr(self, name, module)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained but belongs to the module; `persistent` ones are in the state dict."""
        self._refuse_name(name, self._roles.get(name) in (BUFFER, PASSING))
        if not isinstance(tensor, Tensor | None):
            raise TypeError(f"buffer {name!r} is {type(tensor).__name__}; a buffer is a tensor: pass mg.tensor(values)")
        if tensor is not None and tensor.requires_grad:
            raise ValueError(f"buffer {name!r} requires a gradient, but buffers are not trained; pass tensor.detach()")
        self._roles[name] = BUFFER if persistent else PASSING
        setattr(self, name, tensor)

    # Looking ----------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Return the child modules by name, each once."""
        return once(self._every_child())

    def children(self) -> Iterator[Module]:
        """Return the child modules, each once."""
        for _, child in self.named_children():
            yield child

    def _every_child(self) -> Iterator[tuple[str, Module]]:
        """Return the child modules by name; a shared one by each of its names."""
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Return this module and all below it by dotted name, each once."""
        return once(self._every_module(prefix))

    def modules(self) -> Iterator[Module]:
        """Return this module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def _every_module(self, prefix: str) -> Iterator[tuple[str, Module]]:
        """Return this module and all below it; a shared one by each of its names."""
        yield prefix, self
        for name, child in self._every_child():
            yield from child._every_module(join_names(prefix, name))

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Return every parameter by dotted name, each once; the name becomes its label in a recording.

        Args:
            prefix: prefix of the names.
            recurse: whether to include the modules below; True by default.
        Returns: an iterator of pairs (name, parameter).
        """
        for name, parameter in once(self._every_tensor(prefix, recurse, PARAMETER)):
            parameter.label = name
            yield name, parameter

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Return every parameter, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Return every buffer by dotted name, each once; without `recurse` only this module's."""
        return once(self._every_tensor(prefix, recurse, BUFFER, PASSING))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Return every buffer, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _every_tensor(self, prefix: str, recurse: bool, *roles: str) -> Iterator[tuple[str, Tensor]]:
        """Return every tensor of some roles by dotted name; a shared one by each of its names."""
        for place, module in self._every_module(prefix) if recurse else [(prefix, self)]:
            for name, role in module._roles.items():
                value = module.__dict__.get(name)
                if role in roles and value is not None:
                    yield join_names(place, name), value

    def get_submodule(self, target: str) -> Module:
        """Return the module with a dotted name, as in `named_modules`; "" is this one."""
        return self._find(target, "module", dict(self._every_module("")))

    def get_parameter(self, target: str) -> Tensor:
        """Return the parameter with a dotted name, as in `named_parameters`."""
        return self._find(target, "parameter", dict(self._every_tensor("", True, PARAMETER)))

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with a dotted name, as in `named_buffers`."""
        return self._find(target, "buffer", dict(self._every_tensor("", True, BUFFER, PASSING)))

    def _find(self, target: str, what: str, known: dict[str, Any]) -> Any:
        if target not in known:
            there = ", ".join(name for name in known if name) or "none"
            raise AttributeError(f"{type(self).__name__} has no {what} {target!r}; there is {there}")
        return known[target]

    # Changing all at once ----

    def train(self, mode: bool = True) -> Self:
        """Set training mode, which turns on dropout, for example."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set evaluation mode, which turns off dropout, for example."""
        return self.train(False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters before the next backward pass.

        Args:
            set_to_none: True (default) for None, False for gradients of 0s.
        """
        parameters = list(self.parameters())
        forget_gradients([each for each in parameters if isinstance(each, Tensor)], set_to_none)
        for parameter in parameters:
            if not isinstance(parameter, Tensor):  # networks in micrograd's way derive from this class as well
                parameter.grad = 0

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters are trained; frozen ones stay parameters."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every module below this one, and then with this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, device: Any = None, dtype: Any = None) -> Self:
        """Move every parameter and buffer to a device, and convert the floats among them to a dtype.

        What moves becomes a new tensor: make the optimiser afterwards.

        Args:
            device: "cpu" or "cuda"; None leaves them where they are. A dtype may be given alone.
            dtype: of floats and complex numbers; None leaves it.
        Returns: the module itself.
        Example:
            >>> nn.Linear(2, 1).to(dtype="float32").weight.dtype
            dtype('float32')
        """
        if device is not None and not isinstance(device, str):
            device, dtype = None, device
        moved: dict[int, Tensor] = {}
        for module in self.modules():
            for name, value in list(module._every_tensor("", False, PARAMETER, BUFFER, PASSING)):
                if id(value) not in moved:
                    moved[id(value)] = _move(value, device, dtype)
                setattr(module, name, moved[id(value)])
        return self

    def cpu(self) -> Self:
        """Move everything to the CPU."""
        return self.to("cpu")

    def cuda(self) -> Self:
        """Move everything to the GPU."""
        return self.to("cuda")

    def half(self) -> Self:
        """Convert all floats to half precision, float16."""
        return self.to(dtype="float16")

    def float(self) -> Self:
        """Convert all floats to single precision, float32."""
        return self.to(dtype="float32")

    def double(self) -> Self:
        """Convert all floats to double precision, float64."""
        return self.to(dtype="float64")

    # State ------------------

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return the values of all parameters and persistent buffers by dotted name.

        Args:
            prefix: prefix of the names.
        Returns: a dict of tensors. Training does not change them; writing into one, before that, writes into the
            module, as in PyTorch.
        """
        return {name: detached_view(value) for name, value in self._every_tensor(prefix, True, PARAMETER, BUFFER)}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Keys:
        """Load values by dotted name: all of them, or none if something does not fit.

        Args:
            state_dict: tensors or arrays by name, as `state_dict()` returns them.
            strict: whether names must be the same; False keeps missing values as they are and ignores unknown names.
        Returns: the lists `missing_keys` and `unexpected_keys`.
        Raises: ValueError that names every fault in names, shapes and dtypes; TypeError if the state is not a dict.
        """
        check_mapping("load_state_dict", state_dict, "state_dict() returns")
        own = dict(self._every_tensor("", True, PARAMETER, BUFFER))
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        faults = [f"missing: {', '.join(missing)}"] if missing and strict else []
        faults += [f"unexpected: {', '.join(map(str, unexpected))}"] if unexpected and strict else []
        given = {}
        for name in (each for each in own if each in state_dict):
            try:
                given[name] = _fit_values(own[name], state_dict[name])
            except (TypeError, ValueError) as error:
                faults.append(f"{name} {error}")
        if faults:
            raise ValueError(f"load_state_dict of {type(self).__name__}: {'; '.join(faults)}")
        for name, values in given.items():
            own[name].assign(values)
        return Keys(missing, unexpected)

    # In print ---------------

    def extra_repr(self) -> str:
        """Return the text between the brackets of a module without children: constructor arguments that differ from
        their defaults."""
        from inspect import signature  # most programs print no module

        said = []
        for each in signature(type(self).__init__).parameters.values():
            value = self.__dict__.get(each.name, each.default)
            if isinstance(value, PLAIN) and value != each.default:
                said.append(f"{each.name}={value!r}")
        return ", ".join(said)

    def __repr__(self) -> str:
        children = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self._every_child()]
        inside = "".join(f"\n  {line}" for line in children) + "\n" if children else self.extra_repr()
        own = [f"{name} {value.shape}" for name, value in self._every_tensor("", False, PARAMETER, BUFFER, PASSING)]
        total = sum(parameter.size for _, parameter in once(self._every_tensor("", True, PARAMETER)))
        count = [f"{total:,} parameter{'s' * (total != 1)}"] if total else []
        tensors = [", ".join(own)] if own else []
        return f"{type(self).__name__}({inside}){': ' * bool(tensors or count)}{'; '.join(tensors + count)}"


def join_names(prefix: str, name: str) -> str:
    """Join two names with a dot."""
    return f"{prefix}.{name}" if prefix else name


def once(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield each module or tensor once, under the first of its names."""
    seen: set[int] = set()
    for name, value in named:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _move(value: Tensor, device: str | None, dtype: Any) -> Tensor:
    """Return a tensor on another device or of another dtype, still a leaf with its label."""
    new_dtype = value.dtype if dtype is None or value.dtype.kind not in "fc" else dtype
    if value.device == (device or value.device) and value.dtype == new_dtype:
        return value
    with no_grad():
        out = tensor(value.to(device or value.device), value.requires_grad, new_dtype, device or value.device)
    out.label = getattr(value, "label", "")
    return out


def _fit_values(here: Tensor, values: Any) -> Tensor:
    """Return values as a tensor of the shape, dtype and device of another one; raise if that loses something."""
    if not isinstance(values, Tensor):
        try:
            values = tensor(values)
        except (TypeError, ValueError) as error:
            raise TypeError(f"is {type(values).__name__} in the state: {error}") from None
    if here.shape != values.shape:
        raise ValueError(f"has shape {here.shape} here and {values.shape} in the state")
    if not here.is_leaf:
        raise ValueError("is the result of an operation here, and cannot get other values")
    if values.dtype.kind == "c" and here.dtype.kind != "c":
        raise TypeError(f"has dtype {here.dtype} here and {values.dtype} in the state; take the real part first")
    moved = values.detach().to(here.device)
    return moved if moved.dtype == here.dtype else Tensor.of(moved._data.astype(here.dtype))


for _name in ("register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"):
    setattr(Module, _name, MissingName(_name, owner="module"))
