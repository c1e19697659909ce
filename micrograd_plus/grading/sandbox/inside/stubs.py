"""What a submission finds under the names of the lesson's packages while it is marked: where answers are handed in, the
functions a rule is given, and nothing that holds an answer."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

DRAWING = ("matplotlib", "IPython", "ipywidgets", "tqdm", "seaborn", "plotly", "micrograd_plus_viz", "anywidget")
ENGINES = ("torch", "jax", "jaxlib", "autograd", "tensorflow", "tinygrad", "micrograd", "mygrad", "theano", "keras",
           "sympy", "casadi", "numdifftools")  # fmt: skip
WRITE_IT = "this exercise asks you to write it yourself: {} is not there while your work is marked"


class Inert:
    """What takes every call and every name, and does nothing: a drawing library while nobody looks."""

    def __getattr__(self, name: str) -> Inert:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function it is given, where it stands as a decorator."""
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
    """A module of such names."""

    __path__: list[str] = []  # noqa: RUF012 - a package says so by having one

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return list if name == "tqdm_list" else passed_on if name in ("tqdm", "trange") else Inert()


def passed_on(each: Any = (), *arguments: Any, **named: Any) -> Any:
    """A progress bar without the bar."""
    return range(each) if isinstance(each, int) else each


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What answers imports of packages that are not here."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """A spec for a drawing library; a sentence for an engine."""
        first = name.partition(".")[0]
        if first in DRAWING:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if first in ENGINES or first == "micrograd_plus":
            raise ModuleNotFoundError(WRITE_IT.format(name), name=name)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """An inert one."""
        return InertModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is run."""


def install() -> dict[str, Any]:
    """Put the stand-ins where imports look, and return where answers are gathered, by exercise."""
    found: dict[str, Any] = {}

    def answer(exercise: str, *arguments: Any, **named: Any) -> Any:
        def kept(value: Any) -> Any:
            found[exercise] = value
            return value

        return kept(arguments[0]) if arguments else kept

    def check(exercise: str, value: Any = None, *arguments: Any, **named: Any) -> Inert:
        if value is not None:
            found[exercise] = value
        return Inert()

    exercises = InertModule("micrograd_plus.exercises")
    vars(exercises).update(answer=answer, check=check)
    house = types.ModuleType("micrograd_plus", "What stands here while work is marked.")
    vars(house).update(exercises=exercises, __path__=[], __getattr__=missing)
    sys.modules.update({"micrograd_plus": house, "micrograd_plus.exercises": exercises})
    sys.meta_path.insert(0, Finder())
    return found


def missing(name: str) -> Any:
    """What the engine would have had."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(WRITE_IT.format(f"micrograd_plus.{name}"))


def names() -> dict[str, Any]:
    """What a notebook has without an import."""
    return {"display": Inert(), "get_ipython": Inert()}
