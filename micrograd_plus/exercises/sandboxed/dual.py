"""Numbers that move: each array with how fast every entry of it changes, through everything that NumPy does with it.

A rule that is right may still cut off its past, and then the gradient of its gradient is wrong. Read on numbers that
move, it says how fast what it sends changes; what was turned into plain numbers on its way does not move.

>>> x = Moving(np.array([3.0]), np.array([1.0]))
>>> (x * x).moves.round(6)
array([6.])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-4
"""How far a function is followed to every side, to see what it makes of moving numbers: four places give 10 digits."""
CUT = ("stop_gradient",)
"""Words that are there to make plain numbers of moving ones."""
PLAIN = ("item", "tolist", "tobytes")


class Moving(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, and how fast it moves."""

    __slots__ = ("moves", "value")
    __array_priority__ = 1000

    def __init__(self, value: Any, moves: Any):
        self.value, self.moves = value, moves

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method == "at":
            self.added_at(ufunc, *inputs)
            return None
        made = lifted(getattr(ufunc, method))(*inputs, **options)
        if out is None:
            return made
        (place,) = out
        if isinstance(place, Moving):
            place[...] = made
        else:
            place[...] = still(made)
        return place

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        function = np.zeros_like if function is np.empty_like else function
        return lifted(function)(*arguments, **options)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.value, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value, name)
        if callable(found) and name not in PLAIN:
            method = lifted(lambda array, *arguments, **options: getattr(array, name)(*arguments, **options))
            return lambda *arguments, **options: method(self, *arguments, **options)
        return lifted(operator.attrgetter(name))(self) if isinstance(found, np.ndarray) else found

    def __getitem__(self, place: Any) -> Any:
        return lifted(operator.getitem)(self, place)

    def __setitem__(self, place: Any, given: Any) -> None:
        place = still(place)
        self.value[place], self.moves[place] = still(given), moves_of(given)

    def added_at(self, ufunc: Any, array: Any, place: Any, given: Any) -> None:
        """What `np.add.at` does; into plain numbers nothing that moves can be added."""
        place = still(place)
        ufunc.at(still(array), place, still(given))
        if isinstance(array, Moving):
            ufunc.at(array.moves, place, moves_of(given))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self.value)))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"{self.value!r}, moving"


def at(given: Any, step: float) -> Any:
    """Plain data a little later: everything in it that moves, so far on."""
    if isinstance(given, Moving):
        return given.value + step * given.moves if step else given.value
    if isinstance(given, (list, tuple)):
        return type(given)(at(each, step) for each in given)
    if isinstance(given, dict):
        return {name: at(each, step) for name, each in given.items()}
    return given


def still(given: Any) -> Any:
    """The same without its movement."""
    return at(given, 0)


def moves_of(given: Any) -> Any:
    """How fast something moves; what is plain does not."""
    return given.moves if isinstance(given, Moving) else np.zeros(np.shape(given))


def is_moving(given: Any) -> bool:
    """Whether anything in plain data moves."""
    if isinstance(given, dict):
        return any(map(is_moving, given.values()))
    return any(map(is_moving, given)) if isinstance(given, (list, tuple)) else isinstance(given, Moving)


def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of plain arrays as one of arrays that move."""

    def of_moving(*arguments: Any, **options: Any) -> Any:
        if not is_moving((arguments, options)):
            return function(*arguments, **options)
        near = {step: function(*at(arguments, step * STEP), **at(options, step * STEP)) for step in (0, 1, -1, 2, -2)}
        return following(*near.values())

    return of_moving


def following(now: Any, after: Any, before: Any, long_after: Any, long_before: Any) -> Any:
    """What a function gave in five places as one thing that moves."""
    if isinstance(now, (list, tuple)):
        return type(now)(following(*each) for each in zip(now, after, before, long_after, long_before, strict=True))
    if not isinstance(now, (float, np.floating, np.ndarray)) or np.asarray(now).dtype.kind not in "fc":
        return now
    with np.errstate(all="ignore"):
        moves = (8 * (after - before) - (long_after - long_before)) / (12 * STEP)
    return Moving(np.array(now), np.array(moves))


def set_moving(given: Any, along: Any) -> Any:
    """Plain data with the movement that is told of each array in it."""
    if isinstance(given, np.ndarray):
        return given if along is None else Moving(given, along)
    if isinstance(given, (list, tuple)) and isinstance(along, (list, tuple)):
        return type(given)(set_moving(*each) for each in zip(given, along, strict=True))
    return given


class MovingWords:
    """Words that know what to do with numbers that move."""

    def __init__(self, words: Any):
        self.words = words

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.words, name)
        if name in CUT:
            return lambda x, *rest, **options: found(still(x), *rest, **options)
        return lifted(found) if callable(found) else found
