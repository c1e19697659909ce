"""A batch of examples as a loop over the program of one example, which numba compiles where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .entries import DECORATOR
from .number_page import Numbers, is_zero
from .number_program import NumberProgram, NumberText


class ExampleText(NumberText):
    """Text of one example inside of a loop: arguments are entries of a row, and gradients are added up."""

    def __init__(self, page: Numbers):
        super().__init__(page, is_batch=True)
        places = {"argument": iter(range(len(page.inputs))), "data": iter(range(len(page.inputs)))}
        reads: dict[str, list[str]] = {"argument": [], "data": []}
        for x, name in zip(page.inputs, self.parameters, strict=True):
            kind = x.source[0]
            array = "rows[i, {}]" if kind == "argument" else "numbers[{}]"
            reads[kind].append(f"{name} = {array.format(next(places[kind]))}")
        totals = [x for _, _, x in page.updates]
        self.lines = [
            *reads["data"],
            f"results, totals = np.empty(({len(page.results)}, len(rows))), np.zeros({len(totals)})",
            "for i in range(len(rows)):",
            *(f"    {line}" if line else "" for line in [
                *reads["argument"], *self.lines[:-1],
                *(f"results[{k}, i] = {self.say_output(x)}" for k, x in enumerate(page.results)),
                *(f"totals[{k}] += {self.say_output(x)}" for k, x in enumerate(totals) if not is_zero(x)),
            ]),
            "return results, totals",
        ]  # fmt: skip

    def say_output(self, x: Any) -> str:
        """Return the text of a number that outlives the call."""
        return self.say_part(x.same if hasattr(x, "same") else x)[0]


class ExampleProgram(NumberProgram):
    """A step of Values for one example, written out as a loop over the rows of an array.

    Its function takes the rows and the numbers of Values, and returns an array for each result and the sums of
    gradients.
    """

    def _write_text(self) -> NumberText:
        return ExampleText(self.page)

    def _head(self, name: str) -> list[str]:
        return [
            "import numba", "import numpy as np", "", DECORATOR, f"def {name}(rows, numbers):",
            '    """The step on Values, written out by mg.compile for one example after the other.', "",
        ]  # fmt: skip

    def run_batch(self, rows: Any, numbers: tuple[float, ...]) -> Any:
        """Return the results and the sums of gradients for examples in the rows of an array."""
        results, totals = self.function(rows, np.array(numbers, float))
        return [*results, *totals.tolist()]
