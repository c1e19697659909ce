"""Errors for names that other libraries have and this one does not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from .foreign_names import FOREIGN_NAMES, NOT_TYPOS
from .instructions import imports_name

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


class MissingModules:
    """Finder of modules, the last that Python asks: raises ImportError with a hint for one that PyTorch has.

    So `from micrograd_plus.utils.data import DataLoader` says what `mg.utils` says.
    """

    @staticmethod
    def find_spec(fullname: str, *_: Any) -> None:
        """Return None, or raise ModuleNotFoundError if there is a hint for the name."""
        parent, name = fullname.rpartition(".")[::2]
        owner = parent.removeprefix(f"{PACKAGE}.").replace(PACKAGE, "mg")
        if parent.partition(".")[0] == PACKAGE and name in FOREIGN_NAMES.get(owner, ()):
            raise ModuleNotFoundError(str(missing_name(parent, name)), name=fullname)
        if parent == PACKAGE and name in getattr(sys.modules.get(PACKAGE), "__all__", ()):
            raise ModuleNotFoundError(f"{fullname} is no module: write from {PACKAGE} import {name}", name=fullname)


def missing_name(owner: str, name: str, names: Iterable[str] = ()) -> AttributeError | ImportError:
    """Return the error for a name that `owner` does not have, with a hint if there is one: an ImportError if the caller
    of the caller runs `from module import name`, where Python would replace the message of an AttributeError.

    `owner` is "tensor", "module", or the dotted name of a module of the package, and `names` are its real names.
    """
    owner = owner.removeprefix(f"{PACKAGE}.").replace(PACKAGE, "mg")
    called = CALLED.get(owner, f"{PACKAGE}.{owner}")
    kind = ImportError if imports_name(sys._getframe(2)) else AttributeError
    return kind(f"{called} has no {name!r}{next(_hints(owner, name, names))}")


def _hints(owner: str, name: str, names: Iterable[str]) -> Iterator[str]:
    """Yield hints for a missing name, the best first: the table comes before functions of `mg` with the same name."""
    public = getattr(sys.modules.get(PACKAGE), "__all__", ())
    if hint := FOREIGN_NAMES.get(owner, {}).get(name):
        yield f". {hint}" if hint.endswith(".") else f": write {hint}"
    if owner != "mg" and name in public:
        yield f": write mg.{name}(x, ...)" if owner == "tensor" else f": write mg.{name}"
    if name.endswith("_") and (hint := FOREIGN_NAMES.get(owner, {}).get(name[:-1], ".")) and not hint.endswith("."):
        yield f": write {hint}" if " = " in hint else f": nothing is overwritten; write y = {hint}"
    if name.endswith("_") and name[:-1] in (names or public):
        yield f": nothing is overwritten; write y = {'mg.' if owner in ('mg', 'tensor') else ''}{name[:-1]}(x, ...)"
    if not name.startswith("_"):  # only programs ask for private names
        yield next((f"; did you mean {near}?" for near in _corrections(name, names or public)), "")
    yield ""


def _corrections(name: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a name that is likely to be meant: it begins with the same letter, and has the same digits.

    A name that another library has (`RReLU`) is no misspelling of ours (`ReLU`): the two compute different things.
    """
    from difflib import get_close_matches  # most programs never need it

    for near in get_close_matches(name, names, n=1, cutoff=0.83) if name not in NOT_TYPOS else ():
        if near[0] == name[0] and re.findall(r"\d", near) == re.findall(r"\d", name):
            yield near
