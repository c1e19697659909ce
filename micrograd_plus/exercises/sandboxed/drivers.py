"""The ways in which a student's code is run: a rule is called, a class is made to compute a small program, an optimiser
takes several steps. A driver gives arguments and collects what comes back; it compares nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dual import Moving, MovingWords, moves_of, set_moving
from .values import Refused, called

Driver = Callable[[Any, dict[str, Any], Any], Any]
drivers: dict[str, Driver] = {}
"""Every driver by its name."""


def driver(function: Driver) -> Driver:
    """List a driver under its own name."""
    drivers[function.__name__] = function
    return function


@driver
def call(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function, called with what it asks for by name."""
    return called(thing, arguments, xp)


@driver
def moving(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function that is called with numbers that move, each as `along` says: how fast what it sends moves."""
    along = arguments["along"]
    given = {name: set_moving(value, along.get(name)) for name, value in arguments.items() if name != "along"}
    return all_moves(called(thing, given, MovingWords(xp)))


def all_moves(sent: Any) -> Any:
    """How fast everything moves that was sent; what is no array of numbers stays as it is."""
    if isinstance(sent, dict):
        return {name: all_moves(each) for name, each in sent.items()}
    if isinstance(sent, (list, tuple)):
        return [all_moves(each) for each in sent]
    plain = isinstance(sent, (Moving, np.ndarray, np.number, float, int)) and not isinstance(sent, bool)
    return moves_of(sent) if plain else sent


@driver
def value(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A plain answer; of a function, what it returns."""
    if thing is None:
        raise Refused("there is no answer yet")
    if not callable(thing) and (isinstance(thing, bool) or not isinstance(thing, (int, float, np.number, np.ndarray))):
        raise Refused(f"a number is asked for, and an object of type {type(thing).__name__} came")
    return called(thing, arguments, xp) if callable(thing) else thing


@driver
def program(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A class of numbers with a graph, made to compute a small program: each line is an operation and the places of its
    operands among the lines before it. Then `backward` is called on the last line, so many times, and the gradients of
    all lines are what comes back."""
    made: list[Any] = []
    for name, *operands in arguments["lines"]:
        if name == "leaf":
            made.append(thing(operands[0]))
        else:
            first, *others = [made[place] for place in operands]
            if not hasattr(type(first), METHODS[name]):
                raise Refused(f"your class has no {METHODS[name]}")
            made.append(getattr(first, METHODS[name])(*others))
    for place, number in arguments.get("changes", []):
        made[place].data = number
    for again in range(arguments.get("times", 1)):
        if again and arguments.get("cleared"):
            for (name, *_), each in zip(arguments["lines"], made, strict=True):
                if name == "leaf":
                    each.grad = 0.0
        made[-1].backward()
    wanted = arguments.get("wanted", range(len(made)))
    return [
        np.asarray([float(made[place].data) for place in wanted]),
        np.asarray([float(made[p].grad) for p in wanted]),
    ]


METHODS = {
    "add": "__add__", "multiply": "__mul__", "tanh": "tanh", "relu": "relu", "exp": "exp", "negative": "__neg__",
    "subtract": "__sub__",
}  # fmt: skip
"""What a line of a program is called on the class."""


@driver
def steps(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """An optimiser's step, taken once for each gradient: the parameter after every one. What the function returns
    beside the parameter is its state, and it is handed it again the next time."""
    parameter, state, path = arguments["parameter"], {}, []
    rest = {name: given for name, given in arguments.items() if name not in ("parameter", "gradients")}
    for number, gradient in enumerate(arguments["gradients"], start=1):
        given = {**rest, "parameter": parameter, "gradient": gradient, "state": state, "step": number}
        returned = called(thing, given, xp)
        parameter, state = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, state)
        path.append(np.asarray(parameter, float))
    return np.stack(path)


@driver
def forward_then_back(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function that returns its result and how to go back. Between the two, what it was given is written over."""
    inputs = {name: np.array(value) for name, value in arguments.items() if name != "upstream"}
    returned = called(thing, inputs, xp)
    if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
        raise Refused("two things are asked for: the result, and a function that takes upstream back")
    out, back = returned
    out = np.array(out)
    for value in inputs.values():
        value[...] = 10.0
    sent = back(np.array(arguments["upstream"]))
    return [out, *(sent if isinstance(sent, (tuple, list)) else (sent,))]


class Tracked:
    """A number that knows which inputs it was made from, and nothing of gradients."""

    def __init__(self, data: float, made_from: frozenset[str]):
        self.data, self.made_from = data, made_from

    def _with(self, other: Any, data: float) -> Tracked:
        return Tracked(data, self.made_from | getattr(other, "made_from", frozenset()))

    def __add__(self, other: Any) -> Tracked:
        return self._with(other, self.data + getattr(other, "data", other))

    def __mul__(self, other: Any) -> Tracked:
        return self._with(other, self.data * getattr(other, "data", other))

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Tracked:
        return self + other * -1

    def relu(self) -> Tracked:
        """The number where it is positive, else 0."""
        return Tracked(max(self.data, 0.0), self.made_from)

    def tanh(self) -> Tracked:
        """The hyperbolic tangent."""
        return Tracked(float(np.tanh(self.data)), self.made_from)

    def __float__(self) -> float:
        return float(self.data)


@driver
def graph_kept(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function of numbers that remember what they were made from: its value, and of which inputs it still knows."""
    made: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            made[name] = [Tracked(each, frozenset({f"{name}{i}"})) for i, each in enumerate(value.tolist())]
        else:
            made[name] = Tracked(value, frozenset({name}))
    known = sorted(
        {one for each in made.values() for t in (each if isinstance(each, list) else [each]) for one in t.made_from}
    )
    out = called(thing, made, xp)
    mine = getattr(out, "made_from", frozenset())
    return [np.asarray(float(out)), np.asarray([float(name in mine) for name in known])]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cube": lambda x: x**3, "wave": np.sin, "bend": lambda x: x / (1 + x * x), "rows": lambda x: x.sum(axis=-1) ** 2,
}  # fmt: skip
"""Functions that a student's code is handed to call, by name."""


@driver
def with_function(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function that is handed another to call, as `f`."""
    return called(thing, {**arguments, "f": FUNCTIONS[arguments["f"]]}, xp)


@driver
def walk_once(thing: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A training loop that is handed the gradient of its loss, as a function that adds to what it is given, as engines
    do: who does not clear it walks on old gradients."""
    x, y = arguments["x"], arguments["y"]

    def backward(weight: Any, gradient: Any) -> Any:
        gradient += 2 / len(x) * (x.T @ (x @ weight - y))
        return gradient

    given = {"weight": arguments["weight"].copy(), "rate": arguments["rate"], "steps": arguments["steps"],
             "backward": backward}  # fmt: skip
    return called(thing, given, xp)
