"""The text of a step of Values: a flat program of floats, or of arrays for a batch."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import inspect
import itertools
import keyword
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends import floats
from ..files import write_file
from ..tracing.values import with_noun
from .notes import show_source
from .number_page import Number, Numbers, is_zero, real

MOST_LETTERS, LINE = 4000, 120
"""A longer expression gets a name, since Python cannot read expressions of any depth; a longer line is broken."""
MAX = {"maximum": "max", "minimum": "min", "absolute": "abs"}
"""Functions of `floats` that Python has under other names."""
LEVELS = {"**": 6, "~": 5, "*": 4, "/": 4, "//": 4, "%": 4, "+": 3, "-": 3, "&": 2, "^": 1.5, "|": 1}
"""How strongly Python's operators bind."""
COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
ATOM, COMPARISON, CONDITIONAL = 9, 0.5, 0.1
WORDS = {"+": "sum", "-": "difference", "*": "product", "/": "quotient", "**": "power"}
OWN = frozenset(name for name in floats.__all__ if inspect.isfunction(getattr(floats, name)))
"""Functions of `floats` that a program must define; the others are functions of `math`."""
LIVES_ON = 2
"""How many readings count for a number that outlives the call: so many that it gets a name."""

_programs = itertools.count(1)


def drop_zeros(numbers: list[Number], outputs: list[Any]) -> None:
    """Leave out sums with the number 0 that differ in the sign of a zero at most, if no result shows that sign.

    Gradients start as 0, so `0 + x` comes before every product with a local derivative. It differs from x only if x is
    -0.0. No result shows it if the sum is only multiplied, and the products are added to numbers that are never -0.0.
    """
    find_hidden_signs(numbers, outputs)
    for each in numbers:
        each.same, each.uses = each, 0
        if each.hides_sign and each.function == "+" and len(each.args) == 2:
            a, b = each.args
            each.same = _read(b) if is_zero(a) else _read(a) if is_zero(b) else each


def find_hidden_signs(numbers: list[Number], outputs: list[Any]) -> None:
    """Find the numbers of which no result shows whether they are 0.0 or -0.0."""
    for x in outputs:
        if type(x) is Number:
            x.uses, x.hides_sign = 1, False
    for each in reversed(numbers):
        if not each.uses:
            continue
        passes_on = each.hides_sign and each.function in ("+", "*")
        for x in each.args:
            if type(x) is Number:
                x.uses = 1
                x.hides_sign = x.hides_sign and (passes_on or _other_is_positive(each, x))


def _other_is_positive(reader: Number, x: Number) -> bool:
    """Return True if x is added to something that is never -0.0: to 0, or on the right of a sum that begins with 0.

    Two sums hide each other's sign, but only if one of them keeps its 0: the left one.
    """
    if reader.function != "+" or len(reader.args) != 2:
        return False
    a, b = reader.args
    if x is a:
        return is_zero(b)
    return a.is_positive if type(a) is Number else is_zero(a)


def find_mask(x: Number) -> Number | None:
    """Return the comparison with which a number is multiplied; None if there is none."""
    if x.function != "*" or len(x.args) != 2:
        return None
    masks = [y for y in map(_read, x.args) if type(y) is Number and y.function in COMPARISONS]
    others = [y for y in map(_read, x.args) if type(real(y)) in (int, float)]
    return masks[0] if len(masks) == len(others) == 1 else None


def _read(x: Any) -> Any:
    """Return the number that is read instead."""
    return x.same if type(x) is Number else x


class NumberText:
    """Text of a page of numbers. With `is_batch` the arguments are arrays, and gradients are added up over them."""

    def __init__(self, page: Numbers, is_batch: bool = False):
        self.page, self.is_batch = page, is_batch
        self.outputs = [*page.results, *(x for _, _, x in page.updates)]
        self.totals = {x for _, _, x in page.updates if type(x) is Number} - set(page.results)
        for x in page.inputs:
            x.same, x.varies = x, x.source[0] == "argument"
        drop_zeros(page.numbers, self.outputs)
        self.taken: Counter[str] = Counter({"np": 1, "math": 1, "step": 1, "count": 1, **dict.fromkeys(OWN, 1)})
        self.functions: dict[str, None] = {}
        self._count_uses()
        self.parameters = [self.name(x, x.hint) for x in page.inputs]
        for x, name in zip(page.inputs, self.parameters, strict=True):
            x.said, x.level = name, ATOM
        self.lines = self._body()
        self.preamble = self._preamble()
        self.constants: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}

    def _count_uses(self) -> None:
        """Count how often each number is read, if anything that outlives the call depends on it."""
        for x in map(_read, self.outputs):
            if type(x) is Number:
                x.uses += LIVES_ON
        for each in reversed(self.page.numbers):
            if each.uses:
                mask = None if self.is_batch else find_mask(each)
                for x in map(_read, each.args):
                    if type(x) is Number:  # some texts name a number twice
                        x.uses += 1 + (each.function == "maximum" or (mask is not None and x is not mask))

    def name(self, x: Number, wanted: str) -> str:
        """Return a name that no other number has."""
        wanted = re.sub(r"\W+", "_", wanted).strip("_") or "value"
        wanted = f"v{wanted}" if wanted[0].isdigit() else f"{wanted}_" if keyword.iskeyword(wanted) else wanted
        self.taken[wanted] += 1
        while True:
            count = self.taken[wanted]
            name = wanted if count == 1 else f"{wanted}_{count}"
            if count == 1 or not self.taken[name]:
                self.taken[name] += count > 1
                return name
            self.taken[wanted] += 1

    # Lines ----------------------------------

    def _body(self) -> list[str]:
        self._name_lines()
        lines: list[str] = []
        blocks = iter([*self.page.blocks, (len(self.page.numbers) + 1, ("", ""))])
        _, note = next(blocks)
        start, following = next(blocks)
        last = None
        for i, each in enumerate(self.page.numbers):
            while i >= start:
                note, (start, following) = following, next(blocks)
            if not each.uses:
                continue
            each.said, each.level = self.say(each)
            each.varies = any(type(x) is Number and x.varies for x in map(_read, each.args))
            if self.is_batch and each in self.totals and each.uses == LIVES_ON:
                continue  # only its sum over the batch is read
            if each.uses == 1 and len(each.said) <= MOST_LETTERS:
                continue
            if note != last and any(note):
                last = note
                lines += ["", f"# {'  '.join(part for part in note if part)}"]
            word = WORDS.get(each.function) or (each.function if each.form == "call" else "v")
            name = self.name(each, each.hint or word)
            lines.append(f"{name} = {each.said}")
            each.said, each.level = name, ATOM
        return [*lines, self._return()]

    def _name_lines(self) -> None:
        """Hint at the user's name for the last number of each line."""
        numbers = self.page.numbers
        for (_, note), (end, _) in itertools.pairwise([*self.page.blocks, (len(numbers), ("", ""))]):
            target = re.match(r"([A-Za-z_]\w*)\s*=[^=]", note[0])
            if target and 0 < end <= len(numbers) and not numbers[end - 1].hint:
                numbers[end - 1].hint = target[1]

    def _return(self) -> str:
        """Return the line that returns everything."""
        said = [self.say_part(_read(x))[0] for x in self.page.results]
        if self.is_batch:
            said = [f"np.broadcast_to({text}, count)" for text in said]
            said += [self.say_total(_read(x)) for _, _, x in self.page.updates]
        else:
            said += [self.say_part(_read(x))[0] for _, _, x in self.page.updates]
        return f"return ({', '.join(said)}{',' if len(said) == 1 else ''})"

    def say_total(self, x: Any) -> str:
        """Return the text of a gradient's sum over the batch. A sum of products is one product."""
        if is_zero(x):
            return "0"
        text, level = self.say_part(x)
        if type(x) is not Number or not x.varies:
            return f"{text if level >= LEVELS['*'] else f'({text})'} * count[0]"
        is_open = x.uses == 1 or (x in self.totals and x.uses == LIVES_ON)
        args = [_read(y) for y in x.args]
        if is_open and x.function == "+" and len(args) == 2:
            return " + ".join(self.say_total(y) for y in args if not is_zero(y))
        if is_open and x.function == "*" and all(type(y) is Number and y.varies for y in args):
            a, b = (y.said if y.level == ATOM else f"({y.said})" for y in args)
            return f"{a}.dot({b})"
        return f"{text if level == ATOM else f'({text})'}.sum()"

    def say(self, x: Number) -> tuple[str, float]:
        """Return the text of a computation, and how strongly its operator binds."""
        function = x.function
        if not self.is_batch and (mask := find_mask(x)) is not None:
            return self.say_choice(mask, [_read(y) for y in x.args]), CONDITIONAL
        if x.form == "binop":
            a, left = self.say_part(_read(x.args[0]))
            b, right = self.say_part(_read(x.args[1]))
            level = LEVELS.get(function, COMPARISON)
            if function == "**" or level == COMPARISON:  # both sides bind more strongly
                left -= 0.1
            if level == COMPARISON and not self.is_batch:  # Python compares a float with a float faster
                a, b = ("0.0" if is_zero(y) else text for y, text in zip(x.args, (a, b), strict=True))
            return f"{a if left >= level else f'({a})'} {function} {b if right > level else f'({b})'}", level
        parts = [self.say_part(_read(y)) for y in x.args]
        if x.form == "unop":
            text, inner = parts[0]
            return f"{function}{text if inner > LEVELS['*'] else f'({text})'}", LEVELS["~"]
        if function == "maximum" and not self.is_batch and type(x.args[1]) is not Number:
            (a, _), (b, _) = parts
            return f"{b} if {b} > {a} else {a}", CONDITIONAL  # what max(a, b) does, but faster
        return f"{self.call(function)}({', '.join(text for text, _ in parts)})", ATOM

    def say_choice(self, mask: Number, args: list[Any]) -> str:
        """Return the text of a product with a comparison: what `x * (y > 0.0)` is, but faster."""
        parts = ["0" if y is mask else self.say_part(y)[0] for y in args]
        kept = next(self.say_part(y)[0] for y in args if y is not mask)
        return f"{kept} if {self.say_part(mask)[0]} else {' * '.join(parts)}"

    def say_part(self, x: Any) -> tuple[str, float]:
        """Return the text of an argument, and how strongly its operator binds."""
        if type(x) is Number:
            return x.said, x.level
        library = "np" if self.is_batch else "math"
        text = repr(x) if math.isfinite(x) else f"{library}.{x}".replace(f"{library}.-inf", f"-{library}.inf")
        return text, LEVELS["~"] if text.startswith("-") else ATOM

    def call(self, name: str) -> str:
        """Return the text of a function."""
        if self.is_batch:
            if not hasattr(np, name):
                raise TypeError(f"mg.compile: NumPy has no {name}, so no batch of numbers can go through it")
            return f"np.{name}"
        if name in MAX:
            return MAX[name]
        self.functions[name] = None
        return name if name in OWN else f"math.{getattr(floats, name).__name__}"

    def _preamble(self) -> list[str]:
        """Return the functions that the program calls, as they are in `floats`."""
        lines: list[str] = []
        todo = [name for name in self.functions if name in OWN]
        for name in todo:
            text = inspect.getsource(getattr(floats, name)).replace("builtins.", "")
            todo += [each for each in ("maximum", "minimum") if f"{each}(" in text and each not in todo]
            lines += [*text.splitlines(), ""]
        return lines


def wrap(line: str) -> str:
    """Return a line of the function, broken at its spaces in parentheses if it is long."""
    said = line.lstrip()
    indent = " " * (4 + len(line) - len(said))
    head, _, expression = said.partition(" = ")
    if len(line) <= LINE or said.startswith("#") or not expression:
        return f"{indent}{said}"
    parts = re.findall(rf".{{1,{LINE - 12}}}(?: |$)", expression)
    return "\n".join([f"{indent}{head} = (", *(f"{indent}    {part.rstrip()}" for part in parts), f"{indent})"])


class NumberProgram:
    """One call of a step of Values, written out as a program of floats. See `Program`.

    `argument_count` is the number of arguments if all are floats.
    """

    has_checks = False

    def __init__(
        self, page: Numbers, structure: Any, name: str, is_batch: bool = False, argument_count: int = -1
    ):  # fmt: skip
        self.page, self.structure, self.is_batch = page, structure, is_batch
        self.argument_count = argument_count
        self.text = self._write_text()
        self.inputs = list(zip(self.text.parameters, page.inputs, strict=True))
        self.source = self._source(name)
        self.filename = f"<written out: {name} of Values {next(_programs)}>"
        self._name, self._function = name, None

    @property
    def function(self) -> Callable[..., Any]:
        """The function that runs. It is compiled when it is needed."""
        if self._function is None:
            space: dict[str, Any] = {}
            exec(compile(self.source, self.filename, "exec"), space)
            self._function = space[self._name]
            show_source(self._function, self.filename, self.source)
        return self._function

    def _write_text(self) -> NumberText:
        return NumberText(self.page, self.is_batch)

    def run_batch(self, rows: Any, numbers: tuple[float, ...]) -> Any:
        """Return the results and the sums of gradients for examples in the rows of an array."""
        return self.function(*np.ascontiguousarray(rows.T), *numbers, rows.shape[:1])  # arguments are the first inputs

    def _head(self, name: str) -> list[str]:
        parameters = ", ".join([*self.text.parameters, *["count"] * self.is_batch])
        return [
            "import numpy as np" if self.is_batch else "import math", "", *self.text.preamble, "",
            f"def {name}({parameters}):",
            f'    """The step on Values, written out by mg.compile{" for a batch, in arrays" * self.is_batch}.', "",
        ]  # fmt: skip

    def _source(self, name: str) -> str:
        page, text = self.page, self.text
        kinds = Counter(x.source[0] for x in page.inputs)
        what = {"argument": ("argument", ""), "data": ("number", " of Values"), "grad": ("gradient", " from before")}
        read = ", ".join(with_noun(count, what[kind][0]) + what[kind][1] for kind, count in kinds.items())
        changed = Counter(kind for kind, _, _ in page.updates)
        words = {"data": "new number", "grad": "gradient"}
        counts = [(len(page.results), "result"), *((count, words[kind]) for kind, count in changed.items())]
        returned = ", ".join(with_noun(count, word) for count, word in counts if count)
        return "\n".join([
            *self._head(name),
            f"    Reads {read or 'nothing'}.", f"    Returns {returned or 'nothing'}.", '    """',
            *(wrap(line) if line else "" for line in text.lines), "",
        ])  # fmt: skip

    def save(self, path: str) -> None:
        """Save the program as a module."""
        write_file(path, self.source)

    def __str__(self) -> str:
        return self.source

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.source}```"
