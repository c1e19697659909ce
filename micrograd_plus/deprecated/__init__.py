"""Names of before: what went by another name goes on working, with a DeprecationWarning that says the new one.

The package looks for its modules here after its own folder. A file here is an old module's name and one call of
`moved`, which puts the module of today in its place; `RENAMED` is the same for names in the package itself.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any
from warnings import warn

PACKAGE = __name__.partition(".")[0]
RENAMED = {"check": "checks.promises", "constant": "core.define:nondifferentiable", "joining": "core.define:variadic"}
"""Public names of the package that are spelled otherwise now, and where what they meant is."""


def renamed(name: str) -> Any:
    """What a name in `RENAMED` means; the warning stands where the caller's caller wrote it."""
    module, _, inside = RENAMED[name].partition(":")
    _warn(f"{PACKAGE}.{name}", f"{PACKAGE}.{inside or module}", 4)
    found = import_module(f"{PACKAGE}.{module}")
    return getattr(found, inside) if inside else found


def moved(old: str, new: str, **names: str) -> None:
    """Put the module `new` of the package, and its own modules with it, in the place of the old name that is being
    imported. `names` are those that it spells otherwise now, by what they were."""
    target = import_module(f"{PACKAGE}.{new}")
    _warn(old, target.__name__, 4)
    for below in [name for name in sys.modules if name.startswith(f"{target.__name__}.")]:
        sys.modules[old + below.removeprefix(target.__name__)] = sys.modules[below]
    taken = vars(sys.modules[PACKAGE]).get(old.removeprefix(f"{PACKAGE}."))
    sys.modules[old] = _Both(old, target, taken, names) if callable(taken) else target


def scattered(old: str, **homes: str) -> None:
    """The same for a package whose modules now lie in several: each with the name that it has today."""
    _warn(old, ", ".join(sorted({f"{PACKAGE}.{home.partition('.')[0]}" for home in homes.values()})), 4)
    for name, home in homes.items():
        found = sys.modules[f"{old}.{name}"] = import_module(f"{PACKAGE}.{home}")
        setattr(sys.modules[old], name, found)


def parted(old: str, *homes: str) -> None:
    """The same for a module whose names now lie in several, each in one of these."""
    modules = [import_module(f"{PACKAGE}.{home}") for home in homes]
    _warn(old, ", ".join(module.__name__ for module in modules), 4)
    for module in modules:
        vars(sys.modules[old]).update({name: value for name, value in vars(module).items() if name[:2] != "__"})


class _Both(ModuleType):
    """A module under an old name that is also a function's (`micrograd_plus.op`): Python sets what it imports as the
    package's attribute, and who calls that means the function."""

    def __init__(self, name: str, module: ModuleType, function: Any, names: dict[str, str]):
        super().__init__(name, getattr(function, "__doc__", None))
        self._module, self._function, self._names = module, function, names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            _warn(f"{self.__name__}.{name}", f"{self._module.__name__}.{self._names[name]}", 3)
        return getattr(self._module, self._names.get(name, name))

    def __call__(self, *args: Any, **params: Any) -> Any:
        return self._function(*args, **params)


def _warn(old: str, new: str, level: int) -> None:
    warn(f"{old} is now {new}", DeprecationWarning, stacklevel=level)
