"""Stand-ins for the packages that a submission may import: they collect answers, and hold none.

`micrograd_plus.exercises` collects answers. Drawing libraries do nothing. Importing an engine raises.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

DRAWING = ("matplotlib", "IPython", "ipywidgets", "tqdm", "seaborn", "plotly", "micrograd_plus_viz", "anywidget")
ENGINES = ("torch", "jax", "jaxlib", "autograd", "tensorflow", "tinygrad", "micrograd", "mygrad", "theano", "keras",
           "sympy", "casadi", "numdifftools")  # fmt: skip
WRITE_IT = "this exercise asks you to write it yourself: {} is not available while your work is graded"


class Inert:
    """An object that accepts every call and attribute, and does nothing."""

    def __getattr__(self, name: str) -> Inert:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the function if this is used as a decorator."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else Inert()

    def __iter__(self) -> Any:
        return iter((Inert(), Inert()))

    def __getitem__(self, place: Any) -> Inert:
        return Inert()

    def __enter__(self) -> Inert:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class InertModule(types.ModuleType):
    """A module with every name, each of them inert."""

    __path__: list[str] = []  # noqa: RUF012 - this attribute makes it a package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return list if name == "tqdm_list" else pass_through if name in ("tqdm", "trange") else Inert()


def pass_through(each: Any = (), *arguments: Any, **named: Any) -> Any:
    """Return the iterable of a progress bar."""
    return range(each) if isinstance(each, int) else each


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook for packages that are not in the sandbox."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return a spec for a drawing library; raise for an engine."""
        first = name.partition(".")[0]
        if first in DRAWING:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if first in ENGINES or first == "micrograd_plus":
            raise ModuleNotFoundError(WRITE_IT.format(name), name=name)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return an inert module."""
        return InertModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing."""


def install() -> dict[str, Any]:
    """Install the stubs, and return the dict that collects answers by exercise."""
    answers: dict[str, Any] = {}

    def answer(exercise: str, *arguments: Any, **named: Any) -> Any:
        def register(value: Any) -> Any:
            answers[exercise] = value
            return value

        return register(arguments[0]) if arguments else register

    def check(exercise: str, value: Any = None, *arguments: Any, **named: Any) -> Inert:
        if value is not None:
            answers[exercise] = value
        return Inert()

    exercises = InertModule("micrograd_plus.exercises")
    vars(exercises).update(answer=answer, check=check)
    package = types.ModuleType("micrograd_plus", "Stub of micrograd_plus, used while work is graded.")
    vars(package).update(exercises=exercises, __path__=[], __getattr__=raise_unavailable)
    sys.modules.update({"micrograd_plus": package, "micrograd_plus.exercises": exercises})
    sys.meta_path.insert(0, StubFinder())
    return answers


def raise_unavailable(name: str) -> Any:
    """Raise ImportError for a name of the engine."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(WRITE_IT.format(f"micrograd_plus.{name}"))


def notebook_names() -> dict[str, Any]:
    """Return the names that a notebook has without importing them."""
    return {"display": Inert(), "get_ipython": Inert()}
