"""Steps of Values that run on a batch of examples at once."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine import Value
from ..pytrees import leaves, map_leaves
from .entries import has_numba
from .example_program import ExampleProgram
from .guards import MISS, MOST_PROGRAMS, Guards, define, first_difference, miss, rules_changed, why_by_engine
from .number_program import NumberProgram
from .number_step import trace_numbers
from .program import Hole
from .surroundings import Surroundings


class Batch:
    """A step for one example that runs on a batch at once, as arrays. The gradients of all examples add up.

    Call it with arrays, or nested lists, whose rows are the examples. It returns an array for each result of the step.
    `programs`, `source` and `counts` are those of any compiled step.
    """

    def __init__(self, function: Callable[..., Any], exact: bool = True):
        functools.update_wrapper(self, function)
        self.exact = exact
        name = getattr(function, "__name__", "step")
        self.function, self.name = function, name if name.isidentifier() else "step"
        self.programs: list[NumberProgram] = []
        self.counts: Counter[str] = Counter()
        self._callers: dict[Any, tuple[Callable[[Any], Any], Guards]] = {}

    @property
    def source(self) -> str:
        """The text of the last program."""
        if not self.programs:
            raise RuntimeError("mg.compile: nothing is written out before the first call of the step")
        return self.programs[-1].source

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any) -> Any:
        """Run the step for each row of the arguments."""
        arrays = [np.asarray(x, float) for x in args]
        counts = {x.shape[:1] for x in arrays}
        if len(counts) != 1 or () in counts or (0,) in counts:
            raise ValueError(
                f"mg.compile: with batch=True each argument must be an array whose rows are the examples, all of "
                f"one length; got the shapes {[x.shape for x in arrays]}"
            )
        (count,) = counts
        if reason := why_by_engine():
            self.counts["engine"] += 1
            self.counts[f"engine: {reason}"] += 1
            return self._by_engine(arrays, *count)
        rows = np.concatenate([x.reshape(*count, -1) for x in arrays], axis=1)
        key = rules_changed[0], *(x.shape[1:] for x in arrays)
        call, guards = self._callers.get(key, (miss, None))
        result = call(rows)
        if result is MISS:
            what = guards.first_change() if guards is not None else ""
            self._callers[key] = call, _ = self._write(arrays)
            result = call(rows)
            if len(self.programs) == MOST_PROGRAMS + 1:
                what = f"{what or 'the shape of an argument'} keeps changing; make it an argument of one shape"
                warnings.warn(f"mg.compile: {self.name} has {len(self.programs)} programs: {what}", stacklevel=2)
        self.counts["written"] += 1
        return result

    def _by_engine(self, arrays: list[Any], count: int) -> Any:
        """Run one example after the other, and return arrays of results."""
        found = [self.function(*[x[i].tolist() for x in arrays]) for i in range(count)]
        rows: Iterator[Any] = zip(*map(leaves, found), strict=True)

        def join(x: Any) -> Any:
            numbers = [each._data if isinstance(each, Value) else each for each in next(rows)]
            return np.array(numbers, float) if isinstance(x, (Value, float)) else x

        return map_leaves(found[0], join)

    def _write(self, arrays: list[Any]) -> tuple[Callable[[Any], Any], Guards]:
        """Return the caller of the program for arguments of these shapes, and its guards. The program is written from
        two examples, which must agree, and leaves all gradients as they were."""
        around = Surroundings(self.function)
        around.watch()
        kind = ExampleProgram if not self.exact and has_numba() else NumberProgram
        first, last = (
            trace_numbers(self.function, tuple(x[i].tolist() for x in arrays), {}, self.name, kind, is_batch=True)[1]
            for i in (0, -1)
        )
        self.counts["traced"] += 2
        if problem := around.first_change(last.page) or first_difference(first, last):
            raise TypeError(problem)
        self.programs.append(last)
        guards = Guards(around, last.page)
        return make_caller(last, guards), guards


def make_caller(program: NumberProgram, guards: Guards) -> Callable[[Any], Any]:
    """Return a function that takes rows, runs a program, and adds up gradients. It is compiled text, since these lines
    run at every call."""
    page, structure = program.page, program.structure
    results = [f"r{i}" for i in range(len(page.results))]
    space: dict[str, Any] = {
        "_MISS": MISS, "_run": program.run_batch, "_structure": structure, "_fill": fill, "_quiet": np.errstate
    }  # fmt: skip
    values = {id(what): what for what in (*(x.source[1] for x in page.inputs), *(what for _, what, _ in page.updates))}
    space.update({f"value{name}": value for name, value in values.items() if isinstance(value, Value)})
    numbers = "".join(f"value{id(x.source[1])}._data, " for x in page.inputs if x.source[0] == "data")
    sums = [f"t{i}" for i in range(len(page.updates))]
    lines = [
        *guards.lines(space), "with _quiet(all='ignore'):", f"    found = _run(rows, ({numbers}))",
        f"({''.join(f'{name}, ' for name in results)}*sums,) = found",
        *([f"({', '.join(sums)},) = map(float, sums)"] if sums else []),
        *(f"value{id(what)}._grad += {name}" for name, (_, what, _) in zip(sums, page.updates, strict=True)),
        f"return _fill(_structure, iter(({''.join(f'{name}, ' for name in results)})))",
    ]  # fmt: skip
    return define("rows", lines, space, f"<around {program.filename[1:]}")


def fill(structure: Any, results: Iterator[Any]) -> Any:
    """Return a result: its structure with arrays in place of its holes."""
    return map_leaves(structure, lambda x: next(results) if type(x) is Hole else x)
