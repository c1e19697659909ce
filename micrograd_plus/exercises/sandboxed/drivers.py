"""Drivers: the ways in which a student's code is run.

One driver calls a rule, another computes a small program with a class, another takes several steps of an optimizer. A
driver passes arguments and collects results; it compares nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .dual import Dual, DualNamespace, attach_tangents, tangent_of
from .values import InvalidAnswer, call_by_name

Driver = Callable[[Any, dict[str, Any], Any], Any]
drivers: dict[str, Driver] = {}
"""Every driver by name."""


def driver(function: Driver) -> Driver:
    """Add a function to `drivers` under its own name."""
    drivers[function.__name__] = function
    return function


@driver
def call(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function with the arguments that its parameters name."""
    return call_by_name(answer, arguments, xp)


@driver
def dual(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function on dual numbers, whose tangents are the argument `tangents`, and return the result's tangents."""
    values = dict(arguments)
    tangents = values.pop("tangents")
    duals = {name: attach_tangents(each, tangents.get(name)) for name, each in values.items()}
    return all_tangents(call_by_name(answer, duals, DualNamespace(xp)))


def all_tangents(returned: Any) -> Any:
    """Replace every array of numbers in a returned value by its tangent."""
    if isinstance(returned, dict):
        return {name: all_tangents(each) for name, each in returned.items()}
    if isinstance(returned, (list, tuple)):
        return [all_tangents(each) for each in returned]
    numeric = isinstance(returned, (Dual, np.ndarray, np.number, float, int)) and not isinstance(returned, bool)
    return tangent_of(returned) if numeric else returned


@driver
def value(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Return a number or an array, or the result of a function."""
    if answer is None:
        raise InvalidAnswer("there is no answer yet")
    is_number = isinstance(answer, (int, float, np.number, np.ndarray)) and not isinstance(answer, bool)
    if not callable(answer) and not is_number:
        raise InvalidAnswer(f"the answer must be a number, got an object of type {type(answer).__name__}")
    return call_by_name(answer, arguments, xp) if callable(answer) else answer


@driver
def program(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Compute a small program with a class of scalars that have a graph, and return all values and gradients.

    Each line of the program is an operation and the indices of its operands among the earlier lines. `backward` is
    called on the last line, `times` times; with `cleared` the leaves' gradients are reset in between.
    """
    nodes: list[Any] = []
    for name, *operands in arguments["lines"]:
        if name == "leaf":
            nodes.append(answer(operands[0]))
        else:
            first, *others = [nodes[index] for index in operands]
            if not hasattr(type(first), METHODS[name]):
                raise InvalidAnswer(f"your class has no {METHODS[name]}")
            nodes.append(getattr(first, METHODS[name])(*others))
    for index, number in arguments.get("changes", []):
        nodes[index].data = number
    for round_ in range(arguments.get("times", 1)):
        if round_ and arguments.get("cleared"):
            for (name, *_), node in zip(arguments["lines"], nodes, strict=True):
                if name == "leaf":
                    node.grad = 0.0
        nodes[-1].backward()
    wanted = arguments.get("wanted", range(len(nodes)))
    return [
        np.asarray([float(nodes[index].data) for index in wanted]),
        np.asarray([float(nodes[index].grad) for index in wanted]),
    ]


METHODS = {
    "add": "__add__", "multiply": "__mul__", "tanh": "tanh", "relu": "relu", "exp": "exp", "negative": "__neg__",
    "subtract": "__sub__",
}  # fmt: skip
"""The method of the class for each operation of a program."""


@driver
def steps(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call an optimizer's step once for each gradient, and return the parameter after each step.

    A step returns the new parameter, or the parameter and a state that is passed to the next step.
    """
    parameter, state, path = arguments["parameter"], {}, []
    settings = {name: each for name, each in arguments.items() if name not in ("parameter", "gradients")}
    for number, gradient in enumerate(arguments["gradients"], start=1):
        step = {**settings, "parameter": parameter, "gradient": gradient, "state": state, "step": number}
        returned = call_by_name(answer, step, xp)
        parameter, state = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, state)
        path.append(np.asarray(parameter, float))
    return np.stack(path)


@driver
def forward_then_back(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function that returns its result and its backward function, and overwrite its inputs in between."""
    inputs = {name: np.array(each) for name, each in arguments.items() if name != "upstream"}
    returned = call_by_name(answer, inputs, xp)
    if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
        raise InvalidAnswer("your function must return two things: the result, and a function that takes upstream")
    out, backward = returned
    out = np.array(out)
    for each in inputs.values():
        each[...] = 10.0
    contributions = backward(np.array(arguments["upstream"]))
    return [out, *(contributions if isinstance(contributions, (tuple, list)) else (contributions,))]


class Tracked:
    """A number that remembers which inputs it was computed from, and has no gradient."""

    def __init__(self, data: float, sources: frozenset[str]):
        self.data, self.sources = data, sources

    def _combine(self, other: Any, data: float) -> Tracked:
        return Tracked(data, self.sources | getattr(other, "sources", frozenset()))

    def __add__(self, other: Any) -> Tracked:
        return self._combine(other, self.data + getattr(other, "data", other))

    def __mul__(self, other: Any) -> Tracked:
        return self._combine(other, self.data * getattr(other, "data", other))

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Tracked:
        return self + other * -1

    def relu(self) -> Tracked:
        """Return the number if it is positive, else 0."""
        return Tracked(max(self.data, 0.0), self.sources)

    def tanh(self) -> Tracked:
        """Return the hyperbolic tangent."""
        return Tracked(float(np.tanh(self.data)), self.sources)

    def __float__(self) -> float:
        return float(self.data)


@driver
def graph_sources(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function with tracked numbers, and return its value and, for each input, whether the result knows it."""
    inputs: dict[str, Any] = {}
    for name, each in arguments.items():
        if isinstance(each, np.ndarray):
            inputs[name] = [Tracked(entry, frozenset({f"{name}{i}"})) for i, entry in enumerate(each.tolist())]
        else:
            inputs[name] = Tracked(each, frozenset({name}))
    tracked = [entry for each in inputs.values() for entry in (each if isinstance(each, list) else [each])]
    sources = sorted({source for each in tracked for source in each.sources})
    out = call_by_name(answer, inputs, xp)
    known = getattr(out, "sources", frozenset())
    return [np.asarray(float(out)), np.asarray([float(source in known) for source in sources])]


EXAMPLE_FORMULAS = {"cube": "x**3", "wave": "np.sin(x)", "bend": "x / (1 + x * x)", "rows": "x.sum(axis=-1) ** 2"}
"""Functions that are passed to a student's code, by name."""


def example_function(name: str) -> Callable[[Any], Any]:
    """Return the function of `EXAMPLE_FORMULAS` with this name."""
    return eval(f"lambda x: {EXAMPLE_FORMULAS[name]}", {"np": np})  # noqa: S307 - our own text


@driver
def with_function(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function that receives another function as `f`."""
    return call_by_name(answer, {**arguments, "f": example_function(arguments["f"])}, xp)


@driver
def training(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a training loop with a `backward` that adds the gradient to an array, as engines do.

    A loop that does not clear the array uses the sum of all earlier gradients. In a notebook, `watch` may wrap
    `backward` to see each call.
    """
    x, y = arguments["x"], arguments["y"]

    def backward(weight: Any, gradient: Any) -> Any:
        gradient += 2 / len(x) * (x.T @ (x @ weight - y))
        return gradient

    watch = arguments.get("watch", lambda function: function)
    settings = {"rate": arguments["rate"], "steps": arguments["steps"], "backward": watch(backward)}
    return call_by_name(answer, {"weight": arguments["weight"].copy(), **settings}, xp)


@driver
def patient(answer: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Train with a student's cure, and return the number of a test and predictions for new points.

    The cure may change `most` lines of the failing training, which are in `lines`.
    """
    given = {name: each for name, each in arguments.items() if name not in ("lines", "most", "points")}
    changed = changed_lines(answer, arguments["lines"])
    if len(changed) > arguments["most"]:
        raise InvalidAnswer(f"your cure changes {len(changed)} lines; {arguments['most']} are enough")
    returned = call_by_name(answer, given, xp)
    if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
        raise InvalidAnswer("your function must return two things: the number of a test, and the trained function")
    number, trained = returned
    if number is None:
        raise InvalidAnswer("`test` is still None: write the number of the test that fails")
    return [number, np.asarray(trained(arguments["points"]))]


def changed_lines(answer: Any, lines: list[str]) -> list[str]:
    """Return the lines of a function that are not among these. Comments and the line of the test do not count."""
    try:
        source = inspect.getsource(answer).splitlines()
    except (OSError, TypeError):
        return []
    body = [line.partition("  #")[0].strip() for line in source]
    body = body[next((i for i, line in enumerate(body) if line.startswith("def ")), 0) + 1 :]
    original = {line.strip() for line in lines}
    return [line for line in body if line and not line.startswith(("#", "test =", '"""')) and line not in original]
