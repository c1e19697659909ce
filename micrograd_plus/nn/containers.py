"""Containers: sequences, lists and dictionaries of modules, and a list of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from ..tensor import Tensor
from .module import Module

__all__ = ["ModuleDict", "ModuleList", "ParameterList", "Sequential"]


def place_of(container: Any, index: int) -> int:
    """Return a valid index; a negative one counts from the end."""
    if not -len(container) <= index < len(container):
        raise IndexError(f"{type(container).__name__} holds {len(container)}, there is no number {index}")
    return index


class _Numbered(Module):
    """Ordered modules with the names "0", "1", "2" and so on, or with given names."""

    def _names(self) -> list[str]:
        return [name for name, _ in self._every_child()]

    def _modules(self) -> list[Module]:
        """Return the modules in order; a module in two places appears twice."""
        return [module for _, module in self._every_child()]

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        """Return the module at an index, or a container of several."""
        if isinstance(index, slice):
            return type(self)().extend(self._modules()[index])
        return self._modules()[place_of(self, index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(self._names()[place_of(self, index)], module)

    def __delitem__(self, index: int | slice) -> None:
        modules = self._modules()
        del modules[index if isinstance(index, slice) else place_of(self, index)]
        self._hold(modules)

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before an index."""
        modules = self._modules()
        modules.insert(index, module)
        return self._hold(modules)

    def pop(self, index: int = -1) -> Module:
        """Remove and return a module, by default the last one."""
        module = self[index]
        del self[index]
        return module

    def append(self, module: Module) -> Self:
        """Append a module."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append several modules."""
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def _hold(self, modules: Iterable[Module]) -> Self:
        """Replace the modules and number them from 0."""
        for name in self._names():
            delattr(self, name)
        return self.extend(modules)


class Sequential(_Numbered):
    """Sequence of modules, each applied to the output of the one before.

    It is a list as well: it has a length, indices and slices, `append`, `extend`, `insert` and `pop`.

    Shapes: input of the first module -> output of the last one; of no modules, the input itself.
    Args:
        *args: modules, which are named "0", "1" and so on, or a single dict of names and modules.
    Raises: TypeError for anything that is not a module, a function, say; KeyError for a name that is in use or contains
        a dot; IndexError for a place where there is none.
    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        >>> net
        Sequential(
          (0): Linear(in_features=2, out_features=3): weight (3, 2), bias (3,); 9 parameters
          (1): Tanh()
          (2): Linear(in_features=3, out_features=1): weight (1, 3), bias (1,); 4 parameters
        ): 13 parameters
        >>> net(mg.tensor([[1.0, 2.0]])).shape
        (1, 1)
        >>> net[0].weight.shape, len(net)
        ((3, 2), 3)

    See: torch.nn.Sequential.
    """

    def __init__(self, *args: Any):
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        """Return the output of the last module."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    """List of modules, whose parameters are found by the module that holds it.

    That module says in its `forward` what to do with them. Modules in a plain Python list are not found. It has a
    length, indices and slices, `append`, `extend`, `insert` and `pop`.

    Shapes: as of its modules; it computes nothing by itself.
    Args:
        modules: an iterable of modules, which are named "0", "1" and so on; none by default.
    Raises: TypeError for anything that is not a module; IndexError for a place where there is none; NotImplementedError
        if it is called.
    Example:
        >>> class Deep(nn.Module):
        ...     def __init__(self, depth):
        ...         self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        ...     def forward(self, x):
        ...         for layer in self.layers:
        ...             x = x + layer(x).tanh()
        ...         return x
        >>> len(list(Deep(3).parameters()))
        6

    See: torch.nn.ModuleList.
    """

    def __init__(self, modules: Iterable[Module] | None = None):
        self.extend(modules or ())


class ModuleDict(Module):
    """Dictionary of modules, whose parameters are found by the module that holds it.

    That module says in its `forward` what to do with them. Names and modules are had as from a dict.

    Shapes: as of its modules; it computes nothing by itself.
    Args:
        modules: a dict of modules by name, or an iterable of pairs (name, module); none by default. Order is kept.
    Raises: TypeError for anything that is not a module; KeyError for a name that is unknown, contains a dot, or is the
        name of a method, such as "keys"; NotImplementedError if it is called.
    Example:
        >>> heads = nn.ModuleDict({"label": nn.Linear(4, 10), "angle": nn.Linear(4, 1)})
        >>> {name: head(mg.random.normal(size=(2, 4))).shape for name, head in heads.items()}
        {'label': (2, 10), 'angle': (2, 1)}

    See: torch.nn.ModuleDict.
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None):
        self.update(modules or {})

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __getitem__(self, name: str) -> Module:
        return dict(self._every_child())[name]

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __contains__(self, name: str) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[str]:
        """Return the names in order."""
        return [name for name, _ in self._every_child()]

    def values(self) -> list[Module]:
        """Return the modules in order."""
        return [module for _, module in self._every_child()]

    def items(self) -> list[tuple[str, Module]]:
        """Return pairs of names and modules in order."""
        return list(self._every_child())

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add or replace modules from a dict or from pairs of name and module."""
        for name, module in dict(modules).items():
            self[name] = module

    def pop(self, name: str) -> Module:
        """Remove a module and return it."""
        module = self[name]
        del self[name]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        for name in self.keys():
            del self[name]


class ParameterList(Module):
    """List of parameters, which are found by the module that holds it.

    Parameters in a plain Python list are not. It has a length, indices, `append` and `extend`.

    Shapes: any; it computes nothing by itself.
    Args:
        values: an iterable of parameters; none by default.
    Raises: TypeError for a number, an array, or the result of an operation; IndexError for a place where there is none.
    Example:
        >>> weights = nn.ParameterList([nn.Parameter([1.0, 2.0]), nn.Parameter([3.0])])
        >>> weights
        ParameterList(): 0 (2,), 1 (1,); 3 parameters
        >>> weights[-1].tolist()
        [3.0]

    See: torch.nn.ParameterList.
    """

    def __init__(self, values: Iterable[Tensor] | None = None):
        self.extend(values or ())

    def __len__(self) -> int:
        return len(self._roles)

    def __iter__(self) -> Iterator[Tensor]:
        return iter([getattr(self, name) for name in self._roles])

    def __getitem__(self, index: int) -> Tensor:
        return list(self)[place_of(self, index)]

    def __setitem__(self, index: int, param: Tensor) -> None:
        setattr(self, list(self._roles)[place_of(self, index)], param)

    def append(self, value: Tensor) -> Self:
        """Append a parameter."""
        if not isinstance(value, Tensor) or not value.is_leaf:
            what = "a result" if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(f"ParameterList expects parameters, got {what}: pass nn.Parameter(values)")
        self.register_parameter(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Tensor]) -> Self:
        """Append several parameters."""
        for value in values:
            self.append(value)
        return self
