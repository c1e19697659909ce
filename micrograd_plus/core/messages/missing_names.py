"""Errors for names that other libraries have and this one does not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from .foreign_names import FOREIGN_NAMES, HOMONYMS

PACKAGE = __name__.partition(".")[0]
CALLED = {"tensor": "a tensor", "module": "a module", "mg": PACKAGE}
"""What messages call an owner; a module of the package has its full name."""


class MissingName:
    """Descriptor for a method that PyTorch or NumPy has and we do not: reading it raises AttributeError with a hint.

    A class with `__getattr__` would need no descriptors, but every attribute of it would be slower.
    """

    def __init__(self, name: str, owner: str = "tensor", names: Iterable[str] = ()):
        self.name, self.owner, self.names = name, owner, names

    def __get__(self, instance: Any, owner: Any) -> NoReturn:
        raise missing_name(self.owner, self.name, self.names)


def missing_name(owner: str, name: str, names: Iterable[str] = ()) -> AttributeError:
    """Return the error for a name that `owner` does not have, with a hint if there is one.

    `owner` is "tensor", "module", or the dotted name of a module of the package, and `names` are its real names.
    """
    owner = owner.removeprefix(f"{PACKAGE}.").replace(PACKAGE, "mg")
    called = CALLED.get(owner, f"{PACKAGE}.{owner}")
    return AttributeError(f"{called} has no {name!r}{next(_hints(owner, name, names))}")


def _hints(owner: str, name: str, names: Iterable[str]) -> Iterator[str]:
    """Yield hints for a missing name, the best first: real names come before the table."""
    public = getattr(sys.modules.get(PACKAGE), "__all__", ())
    if owner != "mg" and name in public and (owner, name) not in HOMONYMS:
        yield f": write mg.{name}(x, ...)" if owner == "tensor" else f": write mg.{name}"
    if hint := FOREIGN_NAMES.get(owner, {}).get(name):
        yield f". {hint}" if hint.endswith(".") else f": write {hint}"
    if not name.startswith("_"):  # only programs ask for such names
        from difflib import get_close_matches  # most programs never need it

        near = get_close_matches(name, names or public, n=1, cutoff=0.83)
        yield f"; did you mean {near[0]}?" if near else ""
    yield ""
