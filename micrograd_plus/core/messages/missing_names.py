"""Errors for names that other libraries have and this one does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from .foreign_names import FOREIGN_NAMES


class MissingName:
    """Descriptor for a method that PyTorch or NumPy has and we do not: reading it raises AttributeError with a hint.

    A class with `__getattr__` would need no descriptors, but every attribute of it would be slower.
    """

    def __init__(self, name: str, names: Iterable[str] = (), owner: str = "a tensor"):
        self.name, self.names, self.owner = name, names, owner

    def __get__(self, tensor: Any, owner: Any) -> NoReturn:
        raise missing_name(self.owner, self.name, self.names)


def missing_name(owner: str, name: str, names: Iterable[str] = ()) -> AttributeError:
    """Return the error for a name that `owner` does not have, with a hint if there is one."""
    return AttributeError(f"{owner} has no {name!r}{next(_hints(name, names))}")


def _hints(name: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what a message can say about a missing name, the best first."""
    if name in FOREIGN_NAMES:
        yield f": write {FOREIGN_NAMES[name]}"
    if name in names:
        yield f": write mg.{name}(x, ...)"
    if not name.startswith("_"):  # only programs ask for such names
        from difflib import get_close_matches  # most programs never need it

        near = get_close_matches(name, names, n=1, cutoff=0.83)
        yield f"; did you mean {near[0]}?" if near else ""
    yield ""
