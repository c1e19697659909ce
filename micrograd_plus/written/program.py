"""A program: its text, the function that it compiles to, and where its inputs come from."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import inspect
import itertools
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.devices import several_devices
from ..core.variable import Variable
from ..files import atomic_file, write_file
from ..pytrees import leaves, map_leaves
from ..tensor.tensor import Tensor
from .ink import Ink, value_of
from .loop_text import wrap
from .notes import show_source
from .number_page import watch_values
from .page import Page, Value, is_array
from .passes import PASSES, ROUNDING_PASSES
from .plan import Plan
from .seams import write_on
from .surroundings import Surroundings
from .text import Text
from .touched import OpenPage, heal

_numbers = itertools.count(1)


ABOUT_ROUNDING = (
    "    With exact=False: sums of products are computed at once, and large arrays in blocks of rows, so that sums may",
    "    round differently.",
)


class Program:
    """One call of a function, written out as a NumPy program.

    `print(program)` shows it. `function` is what runs: it takes the arrays in `inputs`, and returns the arrays of the
    results and of everything that the call changes.
    """

    def __init__(self, page: Page, structure: Any, name: str, argument_count: int = 0, is_exact: bool = True):
        self.page, self.structure, self.argument_count = page, structure, argument_count
        self.is_exact = is_exact
        self.text = Text(page, name)
        self.inputs = [(value.name, value) for value in page.inputs]
        self.source = (
            "\n".join([*self._header(name), *(f"    {line}" if line else "" for line in self.text.lines)]) + "\n"
        )
        self.filename = f"<written out: {name} {next(_numbers)}>"
        space = self.namespace()
        imports = len(self._imports())  # already in the space: the device's library need not be a module
        text = "\n" * imports + "\n".join(self.source.splitlines()[imports:])
        exec(compile(text, self.filename, "exec", optimize=0), space)
        self.function: Callable[..., Any] = space[name]
        show_source(self.function, self.filename, self.source)
        self.has_checks = any(statement.form == "check" for statement in page.each_statement())

    @functools.cached_property
    def plan(self) -> Plan:
        """The plan of the program: its memory, the numbers that it reads, and the lines that ask the host or draw."""
        return Plan(self.page, self.source)

    def namespace(self) -> dict[str, Any]:
        """Return the names that the text needs besides its own: constants that are arrays, and objects."""
        modules = {"np": self.page.paper.real_device.library, "math": math, **self.text.modules}
        return {**modules, **self.text.constants, **self.text.objects}

    def _imports(self) -> list[str]:
        """Return the lines that import libraries. CuPy has NumPy's words, so the text is the same on a GPU."""
        library = "numpy" if self.page.paper.real_device.name == "cpu" else "cupy"
        has_math = any(s.function.startswith("math.") for s in self.page.each_statement())
        others = [f"import {name}" for name in self.text.modules]
        return [*["import math"] * has_math, *others, f"import {library} as np"]

    def _header(self, name: str) -> list[str]:
        lines = [*self._imports(), *(["", *self.text.preamble] if self.text.preamble else [])]
        for function in self.text.functions:
            lines += ["", *function]
        lines += [
            "",
            *wrap(f"def {name}(", ", ".join(self.text.parameters), "):"),
            '    """The step, written out by mg.compile.',
            "",
        ]
        if not self.is_exact:
            lines += [*ABOUT_ROUNDING, ""]
        lines += [f"    {text}" for text in self._describe_inputs()]
        for constant, x in self.text.constants.items():
            lines.append(f"    {constant} (a constant): {x.dtype} {x.shape}")
        lines += ["", f"    Returns {self.results()}.", '    """']
        return lines

    def _describe_inputs(self) -> list[str]:
        """Return a line for each array among the inputs, and one for all numbers of a kind."""
        groups: dict[str, list[str]] = {}
        for value in self.page.inputs:
            groups.setdefault(describe(value), []).append(value.name)
        return [
            line
            for what, names in groups.items()
            for line in textwrap.wrap(f"{', '.join(names)}: {what}", 112, subsequent_indent="    ")
        ]

    def results(self) -> str:
        """Return a description of the results."""
        words = {"tensor": "new value", "gradient": "gradient", "state": "state"}
        kinds = [words[update.kind] for update in self.page.updates if isinstance(update.value, Value)]
        counts = Counter(["result"] * len(self.page.results) + kinds)
        return ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items()) or "nothing"

    def __str__(self) -> str:
        return self.source

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.source}```"

    def save(self, path: str) -> None:
        """Save the program as a module that needs NumPy alone. Constants that are arrays go to a file beside it.

        Args:
            path: the name of the file, such as "step.py".
        Raises: TypeError if the program calls an object that is not NumPy's.
        """
        if self.text.objects:
            raise TypeError(
                f"the program uses {', '.join(map(repr, self.text.objects.values()))}, which is not NumPy's"
            )
        text = self.source
        if self.text.constants:
            with atomic_file(Path(path).with_suffix(".npz")) as file:
                np.savez(file, **self.text.constants)
            load = "import pathlib\n\nimport numpy as np\n\n"
            load += "_constants = np.load(pathlib.Path(__file__).with_suffix('.npz'))\n"
            load += "".join(f"{name} = _constants[{name!r}]\n" for name in self.text.constants)
            text = load + text
        write_file(path, text)


def describe(value: Value) -> str:
    """Return a description of an input, for the header."""
    kind = value.source[2] if value.source[0] == "read" else value.source[0]
    what = {"argument": "argument", "tensor": "tensor", "gradient": "gradient from before the step",
            "setting": "settings of the optimiser", "state": "states of the optimiser",
            "object": "generator of random numbers", "array": "array"}[kind]  # fmt: skip
    return f"{what}, {value.dtype} {value.shape}" if value.dtype is not None else what


def trace(
    function: Callable[..., Any], args: Any, kwargs: Any, passes: Iterable[str] | None = None,
    around: Surroundings | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Call a function and write the call out. Return its result and the page."""
    around = around or Surroundings(function, leaves((args, kwargs)))
    if around.iterators:
        raise TypeError(
            f"mg.compile: the step finds the iterator {around.iterators[0]}, whose next value no program can ask for; "
            f"take the value before the call and pass it as an argument"
        )
    page = OpenPage(around.named, around.arrays, device_of_step(around.tensors))
    flat = names_of_arguments(function, args, kwargs)
    given = iter(range(len(flat)))

    def as_ink(x: Any) -> Any:
        i = next(given)
        return _argument(page, x, i, flat[i])

    with watch_values(), write_on(page):
        args, kwargs = map_leaves((args, kwargs), as_ink)
        result = function(*args, **kwargs)
        _refuse_writes(page, args, kwargs)
        _refuse_shared_gradients(page)
        found: list[Any] = []
        structure = map_leaves(result, lambda x: _result(page, x, found))
        page.results = [page._own(value) for value in found]
    for variable in [v() for v in page.variables]:
        heal(variable)
    result = map_leaves(result, _plain)
    for name in PASSES if passes is None else passes:
        shorten = {**ROUNDING_PASSES, **PASSES}[name]
        for each in (page, *page.bodies):
            shorten(each)
    return result, (page, structure)


def device_of_step(tensors: list[Any]) -> str:
    """Return the name of the device on which a step computes: another one than the CPU if it finds a tensor there."""
    names = {tensor.device for tensor in tensors} if several_devices() else set[str]()
    return next(iter(sorted(names - {"cpu"})), "cpu")


def _argument(page: OpenPage, x: Any, i: int, name: str) -> Any:
    """Return an argument as the step sees it while it is written out."""
    if isinstance(x, Tensor):
        if x.node is not None:
            page.named.setdefault(id(x), name)
            return x
        data = x._data.array if type(x._data) is Ink else x._data
        page.check_device(data)
        value = page.add_input(data, ("argument", i), name)
        value.is_tensor = True
        out = Tensor.of(Ink(data, value, page))
        page.arguments[id(out)] = value
        return out
    is_input = is_array(x) or isinstance(x, np.generic) or type(x) is float
    return Ink(x, page.add_input(x, ("argument", i), name), page) if is_input else x


def _refuse_writes(page: OpenPage, args: Any, kwargs: Any) -> None:
    """Raise TypeError if the step has given an argument new values, which the caller's tensor would not have."""
    for x in leaves((args, kwargs)):
        if isinstance(x, Tensor) and id(x) in page.arguments and type(x._data) is Ink:
            value = page.arguments[id(x)]
            if x._data.value is not value and not page._is_copy(x._data.value, value):
                raise TypeError(
                    f"mg.compile: the step writes into its argument {value.hint}; write into a copy, "
                    f"{value.hint}.clone(), or let the step find the tensor as a variable"
                )


def _refuse_shared_gradients(page: OpenPage) -> None:
    """Raise TypeError if the step has found one tensor as a gradient and as a variable: a write into one of the two is
    seen in the other, and a program has two inputs for them."""
    for _, _, gradient in page.gradients.values():
        if id(gradient) in page.nodes:
            name = page.name_of(gradient)
            raise TypeError(
                f"mg.compile: the step finds {name}, which is the gradient of a leaf as well, and its program would "
                f"take them for two tensors; read the leaf's .grad in the step, or let {name} be a copy, .grad.clone()"
            )


class Hole:
    """Place of a tensor, or of an array or number, in the structure of a result."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _result(page: OpenPage, x: Any, found: list[Value]) -> Any:
    hole = PLAIN_HOLE
    if isinstance(x, Variable):
        page.note_tensor(x)
        x, hole = x._data, HOLE
    elif type(x) is not Ink:
        return x
    found.append(value_of(page, x))
    return hole


HOLE, PLAIN_HOLE = Hole("tensor"), Hole("array or number")


def _plain(x: Any) -> Any:
    """Return a result as a call returns it: without a graph."""
    if isinstance(x, Variable):
        return Tensor.of(x._data) if x.node is not None and x.node.vjp is not None else x
    return x.array if type(x) is Ink else x


def names_of_arguments(function: Callable[..., Any], args: Any, kwargs: Any) -> list[str]:
    """Return a name for each leaf of the arguments."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
        names = [(name, value) for name, value in bound.items()]
    except (TypeError, ValueError):
        names = [(f"x{i}", value) for i, value in enumerate((*args, *kwargs.values()))]
    out: list[str] = []
    for name, value in names:
        parts = leaves(value)
        out += [name] if len(parts) == 1 else [f"{name}_{i}" for i in range(len(parts))]
    return out


def run_on_others(function: Callable[..., Any], given: list[Any], others: list[Any]) -> list[Any]:
    """Write a call with the tensors `given` out, and return the arrays that the program gives for others."""
    _, (page, structure) = trace(function, tuple(given), {})
    program = Program(page, structure, "step")
    arrays = [others[value.source[1]]._data for value in page.inputs]
    return list(program.function(*arrays))


def is_refusal(error: BaseException) -> bool:
    """Return True if a call was not written out since no program could repeat it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).startswith("mg.compile: ")
