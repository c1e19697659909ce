"""Modules that hold modules: one after the other, in a list, or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from .module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Numbered(Module):
    """Modules under the names "0", "1", "2" and so on."""

    def __len__(self) -> int:
        return len(list(self.named_children()))

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self.children()))

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        """The module at a place (counted from the end if negative), or a container of several."""
        names = [name for name, _ in self.named_children()]
        if isinstance(index, slice):
            part = type(self)()
            for name in names[index]:
                part.append(getattr(self, name))
            return part
        return getattr(self, names[self._place(index)])

    def __setitem__(self, index: int, module: Module) -> None:
        names = [name for name, _ in self.named_children()]
        setattr(self, names[self._place(index)], _a_module(self, module))

    def _place(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{type(self).__name__} holds {len(self)} modules, there is no number {index}")
        return index

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        setattr(self, str(len(self)), _a_module(self, module))
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end."""
        for module in modules:
            self.append(module)
        return self


class Sequential(_Numbered):
    """Modules one after the other: each receives what the one before it returned.

    >>> from micrograd_plus import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True): weight (3, 2), bias (3,); 9 parameters
      (1): Tanh()
      (2): Linear(in_features=3, out_features=1, bias=True): weight (1, 3), bias (1,); 4 parameters
    ): 13 parameters
    """

    def __init__(self, *args: Any):
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                setattr(self, name, _a_module(self, module))
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        """The result of the last module."""
        for module in self.children():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """Modules in a list, whose parameters are found; what to do with them is said by the module that holds
    it."""

    def __init__(self, modules: Iterable[Module] = ()):
        self.extend(modules)


class ModuleDict(Module):
    """Modules by name, whose parameters are found."""

    def __init__(self, modules: Mapping[str, Module] | None = None):
        for name, module in (modules or {}).items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        if hasattr(type(self), name) or "." in name:
            raise KeyError(f"ModuleDict: {name!r} cannot be a name: it is a method's, or holds a dot")
        setattr(self, name, _a_module(self, module))

    def __getitem__(self, name: str) -> Module:
        return dict(self.named_children())[name]

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __contains__(self, name: str) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[str]:
        """The names, in order."""
        return [name for name, _ in self.named_children()]

    def values(self) -> list[Module]:
        """The modules, in order."""
        return list(self.children())

    def items(self) -> list[tuple[str, Module]]:
        """Names and modules, in order."""
        return list(self.named_children())


def _a_module(container: Module, value: Any) -> Module:
    if not isinstance(value, Module):
        raise TypeError(
            f"{type(container).__name__} holds modules, got {type(value).__name__}; most functions have a "
            f"module of the same name, as relu has nn.ReLU()"
        )
    return value
