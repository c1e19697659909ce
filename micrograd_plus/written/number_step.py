"""Steps of Values: how they are traced and run."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import Any

from ..core.variable import clock
from ..engine import Value
from ..nn import scalars
from ..pytrees import map_leaves
from .guards import MISS, Guards, define
from .number_page import Number, Numbers, real, write_numbers
from .number_program import NumberProgram
from .places import NUMBERS
from .program import Hole, names_of_arguments
from .seams import write_on
from .surroundings import has_users_code
from .touched import OpenPage

VALUE, NUMBER = Hole("Value"), Hole("number")
"""Places of a Value and of a number in the structure of a result."""
MIXED = (
    "mg.compile: the step computes with Values and with tensors; a program does one of them, so compile each part alone"
)


EMPTY = CellType()
"""The cell of a variable that has no value yet, or none any more."""


DEEPEST = 8
"""How deep Values are looked for: a network of layers of neurons has them in the lists of its sixth level."""


def parts_of(x: Any) -> Iterable[tuple[Any, Any]]:
    """Return the parts of a list, a dictionary, or an object of a user's class, with their names."""
    if isinstance(x, dict):
        return x.items()
    if isinstance(x, (list, tuple)):
        return enumerate(x)
    has_parts = hasattr(x, "__dict__") and not isinstance(x, (type, FunctionType)) and has_users_code(type(x))
    return vars(x).items() if has_parts else ()


def find_values(x: Any, depth: int = 0, seen: set[int] | None = None) -> list[tuple[str, Value]]:
    """Return the Values in a network, in nested lists and dictionaries, and in objects of a user's classes, with their
    names. What has been `seen` is passed over."""
    if isinstance(x, Value):
        return [("", x)]
    if isinstance(x, scalars.Module):
        return list(x.named_parameters())
    seen = set() if seen is None else seen
    if isinstance(x, NUMBERS) or depth > DEEPEST or id(x) in seen:
        return []
    seen.add(id(x))
    return [(f"{key}_{name}", value) for key, part in parts_of(x) for name, value in find_values(part, depth + 1, seen)]


def find_holders(function: Any) -> list[tuple[str, Any]]:
    """Return the variables of a function and the attributes of its object, with their names."""
    function, found = inspect.unwrap(function), list[tuple[str, Any]]()
    owner = getattr(function, "__self__", None)
    if inspect.ismethod(function):
        found, function = [("self", owner)], function.__func__
    if inspect.isfunction(function):
        names, space = function.__code__.co_names, function.__globals__
        found += [(name, space[name]) for name in names if name in space]
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found += [(name, cell.cell_contents) for name, cell in cells if cell != EMPTY]
    return found + (list(vars(owner).items()) if hasattr(owner, "__dict__") else [])


def is_step_of_values(function: Any, args: Any, kwargs: Any) -> bool:
    """Return True for a function that takes or names Values, a network of them, or one of their classes."""
    if any(find_values(x) for x in (*args, *kwargs.values())):
        return True
    return any(
        (isinstance(x, type) and issubclass(x, (Value, scalars.Module))) or find_values(x)
        for _, x in find_holders(function)
    )


def trace_numbers(
    function: Callable[..., Any], args: Any, kwargs: Any, name: str, kind: type[NumberProgram] = NumberProgram,
    is_batch: bool = False,
) -> tuple[Any, NumberProgram]:
    """Call a step of Values and write the call out. Return its result and the program."""
    holders = [(name, x, find_values(x)) for name, x in find_holders(function)]
    is_one = len({id(v) for _, _, found in holders for _, v in found}) == max([len(x[2]) for x in holders], default=0)
    named = {
        id(v): inner if is_one and inner else f"{holder}_{inner}"
        for holder, _, found in reversed(holders) for inner, v in found
    }  # fmt: skip
    page = Numbers(named, is_batch)
    for holder, x, found in holders:
        if found:
            known = _ids_of_values(x)
            page.conditions.append((functools.partial(_ids_of_values, x), known, f"the Values in {holder}"))
    names = iter(enumerate(names_of_arguments(function, args, kwargs)))
    tensors = OpenPage({})

    def as_number(x: Any) -> Any:
        i, hint = next(names)
        if isinstance(x, Value):
            page.arguments[id(x)] = i
            page.named[id(x)] = hint
        return page.add_input(x, ("argument", i), hint) if type(x) is float else x

    with write_numbers(page), without_collections():
        args, kwargs = map_leaves((args, kwargs), as_number)
        with write_on(tensors):
            result = function(*args, **kwargs)
        structure = map_leaves(result, lambda x: _find_result(page, x))
    if tensors.statements or tensors.tensors or tensors.gradients or tensors.hosts:
        raise TypeError(MIXED)
    result = map_leaves(result, lambda x: Value(x._data) if isinstance(x, Value) else real(x))
    takes_floats = not kwargs and all(type(real(x)) is float for x in args)
    return result, kind(page, structure, name, is_batch, len(args) if takes_floats else -1)


@contextmanager
def without_collections() -> Generator[None]:
    """Keep the garbage collector from looking through hundreds of thousands of new numbers in a block."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _ids_of_values(x: Any) -> list[int]:
    """Return what tells the Values of `find_values` apart, at every call."""
    if isinstance(x, scalars.Module):
        return list(map(id, x.parameters()))
    return [id(value) for _, value in find_values(x)]


def _find_result(page: Numbers, x: Any) -> Any:
    """Add a result to the page, and return its place in the structure."""
    if not isinstance(x, (Value, Number)):
        return x
    page.results.append(x._data if isinstance(x, Value) else x)
    return VALUE if isinstance(x, Value) else NUMBER


def fill(structure: Any, found: Any) -> Any:
    """Return a result: its structure with Values and numbers in place of its holes."""
    makers = {id(VALUE): lambda: Value(next(found)), id(NUMBER): lambda: next(found)}
    return map_leaves(structure, lambda x: makers[id(x)]() if type(x) is Hole else x)


class NumberRunner:
    """Caller of a program of numbers: reads its inputs, runs it, and sets numbers and gradients. It is compiled text,
    since these lines run at every call."""

    def __init__(self, program: NumberProgram, guards: Guards):
        self.program, self.guards = program, guards

    @functools.cached_property
    def run(self) -> Callable[[list[Any]], Any]:
        """The function that takes the leaves of the arguments, whose key has been compared."""
        space, reads, puts, results = self._parts("leaves")
        return self._define("leaves", [*reads, *puts, f"return ({results})"], space)

    @functools.cached_property
    def call(self) -> Callable[[tuple[Any, ...]], Any] | None:
        """The function that takes arguments that are all floats, and checks everything; None for other arguments."""
        count, structure = self.program.argument_count, self.program.structure
        if count < 0:
            return None
        space, reads, puts, results = self._parts("args")
        space.update(_MISS=MISS, _structure=structure, _fill=fill)
        tests = [f"len(args) != {count}", *(f"type(args[{i}]) is not float" for i in range(count))]
        head = [
            *self.guards.watch_lines(space), f"if {' or '.join(tests)}: return _MISS", *self.guards.lines(space)
        ]  # fmt: skip
        end = f"return _fill(_structure, iter(({results})))" if results else "return _structure"
        return self._define("args", [*head, *reads, *puts, end], space)

    def _define(self, name: str, lines: list[str], space: dict[str, Any]) -> Any:
        return define(name, lines, space, f"<around {self.program.filename[1:]}")

    def _parts(self, name: str) -> tuple[dict[str, Any], list[str], list[str], str]:
        """Return the names that the text needs, the lines that call the program and put its results into Values, and
        the results as text. `name` is what the text calls the arguments."""
        page, space = self.program.page, {"_program": self.program.function, "_clock": clock, "_number_of": _number_of}

        def place(what: Any) -> str:
            if type(what) is int:
                return f"{name}[{what}]"
            space[f"value{id(what)}"] = what
            return f"value{id(what)}"

        attributes = {"data": "._data", "grad": "._grad"}
        sources = [x.source for x in page.inputs]
        reads = [
            f"_number_of({name}[{what}])" if kind == "argument" else place(what) + attributes[kind]
            for kind, what in sources
        ]  # fmt: skip
        results = [f"r{i}" for i in range(len(page.results))]
        targets = [*results, *(place(what) + attributes[kind] for kind, what, _ in page.updates)]
        call = f"_program({', '.join(reads)})"
        changed = [place(what) for kind, what, _ in page.updates if kind == "data"]
        return (
            space, [f"({', '.join(targets)},) = {call}" if targets else call],
            [f"{' = '.join(f'{each}.created' for each in changed)} = _clock()"] * bool(changed),
            "".join(f"{each}, " for each in results),
        )  # fmt: skip


def _number_of(x: Any) -> Any:
    """Return the number of an argument."""
    return x._data if isinstance(x, Value) else x
