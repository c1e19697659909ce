"""The text of loops: lists of values that are read later, names that go from round to round, and the counter."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from .loops import Before, Count, Element, Loop, Series, parts_of
from .page import Statement, Value

SMALL = 2**14
"""Arrays of fewer bytes are not deleted at their last reading: the statement would take longer than it saves."""
WORDS = {
    "+": "sum", "-": "difference", "*": "product", "/": "quotient", "@": "product", "**": "power",
    "np.add.reduce": "total", "np.maximum.reduce": "largest", "np.minimum.reduce": "smallest",
    "np.take_along_axis": "chosen", "np.take": "chosen", "reshape": "reshaped", "np.reshape": "reshaped",
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "&", "|", "~"), "mask"),
}  # fmt: skip
"""Names for results, by the sign or function that makes them."""


class LoopText:
    """Text of the loops of a page. `text` is the text around them."""

    def __init__(self, text: Any):
        self.text = text
        self.befores: dict[Value, str] = {}
        self.counter = ""
        self.counts_from = Count(0, 1)
        self.given: list[Series] = []

    def _list_inputs(self, loop: Loop) -> list[str]:
        """Return the lines that list the inputs of a loop's rounds. A loop back takes the list of the loop forward."""
        lines: list[str] = []
        for statement in loop.body:
            for x in parts_of(statement):
                if isinstance(x, Element) and x.series.loop is None and self._find_list(x.series) is None:
                    names = [value.name for value in x.series.values]
                    x.series.name = self.text.find_free(plural(find_common_name(names)))
                    self.given.append(x.series)
                    lines += wrap(f"{x.series.name} = [", ", ".join(names), "]")
        return lines

    def _find_list(self, series: Series) -> tuple[Series, Count] | None:
        """Return a list that holds the inputs of a series in a row, and where."""
        count = len(series.values)
        for known in self.given:
            for step in (1, -1):
                values = known.values[::step]
                for i in range(len(values) - count + 1):
                    if values[i : i + count] == series.values:
                        return known, Count(i if step == 1 else len(values) - 1 - i, step)
        return None

    def _place_of(self, x: Element) -> tuple[Series, Count]:
        """Return the list of an element, and its index there."""
        found = self._find_list(x.series) if x.series.loop is None else None
        return found or (x.series, x.index)

    def say(self, x: Element | Count | Before) -> str:
        """Return the text of an argument that changes from round to round."""
        if isinstance(x, Element):
            series, index = self._place_of(x)
            return f"{series.name}[{self._say_count(index)}]"
        return self._say_count(x) if isinstance(x, Count) else self.befores[x.now]

    def lines(self, loop: Loop, at: int, note: Any) -> list[str]:
        """Return the lines of a loop."""
        self.counter = self.counter or self.text.find_free("i")
        lists = self._list_inputs(loop)
        self._choose_counting(loop)
        for series in loop.series:
            if series.is_listed:
                series.name = self.text.find_free(plural(re.sub(r"\W", "_", hint_of(series))))
        head = f"for {self.counter} in {self._range(loop)}"
        if (comprehension := self._comprehension(loop, head)) is not None:
            is_new = loop.body[0].note.begins_after(note)
            return [*(comment_of(loop.body[0].note, steps_of(loop, 0)) if is_new else []), *lists, comprehension]
        body, dying = self._round(loop, at)
        lines = [*lists, *(f"{series.name} = []" for series in loop.series if series.is_listed)]
        for now, initial in loop.start.items():
            name = self.befores[now] if now in loop.needs_before else now.name
            lines.append(f"{name} = {self.text.say(initial)}")
        body += [f"{self.befores[now]} = {now.name}" for now in loop.start if now in loop.needs_before]
        self.text.deleted.update(name for name in dying)
        return ["", *lines, f"{head}:", *(f"    {line}" if line else "" for line in body), ""]

    def _round(self, loop: Loop, at: int) -> tuple[list[str], set[str]]:
        """Return the lines of a round, and the names that it deletes."""
        for series in loop.series:  # a line above may need the name
            value = series.values[-1]
            self.text.name(value, hint_of(series))
            if value in loop.needs_before:
                self.befores[value] = self.text.find_free(f"{value.name}_before")
        deaths = self._find_deaths(loop, at)
        lines: list[str] = []
        note = None
        for k, statement in enumerate(loop.body):
            if statement.note.begins_after(note):
                note = statement.note
                lines += comment_of(note, steps_of(loop, k))[0 if lines else 1 :]
            lines.append(self.text.line(statement))
            for series in loop.series:
                if series.is_listed and series.values[-1] in statement.outs():
                    lines.append(f"{series.name}.append({series.values[-1].name})")
            lines += self.text.say_del(deaths.get(k, []))
        return lines, {value.name for values in deaths.values() for value in values}

    def _find_deaths(self, loop: Loop, at: int) -> dict[int, list[Value]]:
        """Return the values of a round whose memory nothing reads after each of its statements."""
        last: dict[Value, int] = {}
        for k, statement in enumerate(loop.rounds[-1]):
            for value in (*statement.reads(), *statement.outs(), *statement.writes):
                last[value] = k
        inside = {series.values[-1]: series for series in loop.series}
        groups: dict[Any, list[Value]] = {}
        for value in self.text.last_reads:
            if value in inside or value.buffer in groups or value.place is None or value.place[0].loop is not loop:
                groups.setdefault(value.buffer, []).append(value)
        deaths: dict[int, list[Value]] = {}
        for values in groups.values():
            if all(
                value in inside and not inside[value].is_listed and value not in loop.start
                and self.text.last_reads.get(value) == at for value in values
            ) and max(value.nbytes for value in values) >= SMALL:  # fmt: skip
                deaths.setdefault(max(last[value] for value in values), []).extend(
                    value for value in values if value.kind == "temporary" and value.is_array
                )
        return deaths

    def _choose_counting(self, loop: Loop) -> None:
        """Choose the numbers of a loop's counter so that the first index in its text is the counter itself."""
        counts = [
            self._place_of(x)[1] if isinstance(x, Element) else x
            for statement in loop.body for x in parts_of(statement) if isinstance(x, (Element, Count))
        ]  # fmt: skip
        self.counts_from = next((count for count in counts if abs(count.step) == 1), Count(0, 1))

    def _range(self, loop: Loop) -> str:
        """Return the text of the numbers that a counter runs through."""
        first, step = self.counts_from.first, self.counts_from.step
        last = self.counts_from.at(loop.count - 1)
        if step == 1:
            return f"range({f'{first}, ' if first else ''}{last + 1})"
        return f"reversed(range({f'{last}, ' if last else ''}{first + 1}))"

    def _say_count(self, count: Count) -> str:
        """Return the text of a number that grows with the counter."""
        first, step = self.counts_from.first, self.counts_from.step
        slope = count.step * step
        rest = count.first - slope * first
        scaled = {1: self.counter, -1: f"-{self.counter}"}.get(slope, f"{slope} * {self.counter}")
        if slope == -1 and rest:
            return f"{rest} - {self.counter}"
        return f"{scaled} {'+' if rest > 0 else '-'} {abs(rest)}" if rest else scaled

    def _comprehension(self, loop: Loop, head: str) -> str | None:
        """Return a loop over one expression as a list; None for any other loop."""
        statement, series = loop.body[0], loop.series
        if len(loop.body) > 1 or len(series) != 1 or not series[0].is_listed or loop.start or statement.writes:
            return None
        if statement.into is not None or statement.has_effect or not isinstance(statement.out, Value):
            return None
        series[0].values[-1].name = f"{series[0].name}[{loop.count - 1}]"
        return f"{series[0].name} = [{self.text.say_call(statement)} {head}]"


def say_steps(steps: list[int]) -> str:
    """Return the text of the numbers of steps: `steps 4, 9 ... 99` for equal distances."""
    if len(steps) < 2:
        return f"step {steps[0]}"
    distance = steps[1] - steps[0]
    if len(steps) > 3 and steps == list(range(steps[0], steps[0] + distance * len(steps), distance)):
        return f"steps {steps[0]}, {steps[1]} ... {steps[-1]}"
    return f"steps {', '.join(map(str, steps))}"


def word_of(statement: Statement) -> str:
    """Return a name for a result, after the statement that makes it."""
    if statement.form == "unop" and statement.function == "-":
        return "negative"
    if statement.form in ("binop", "unop"):
        return WORDS.get(statement.function, "v")
    first = statement.args[0] if statement.args else None
    if statement.function == "T" and isinstance(first, Value) and first.name:
        return f"{first.name}_T"
    function = statement.function
    return {"getitem": "part"}.get(statement.form) or WORDS.get(function, function.rpartition(".")[2] or "v")


def wrap(head: str, names: str, end: str, width: int = 112) -> list[str]:
    """Return a line with names in parentheses, broken if it is long."""
    if len(head) + len(names) + len(end) <= width:
        return [f"{head}{names}{end}"]
    return [head, *(f"    {line}" for line in textwrap.wrap(names, width - 4, break_on_hyphens=False)), end]


def find_common_name(names: list[str]) -> str:
    """Return what names have in common: `net_weight` for net[0].weight and net[2].weight; the last one if nothing."""
    parts = [re.findall(r"[^\W_]+", name) for name in names]
    if len({len(each) for each in parts}) > 1:
        return names[-1]
    return "_".join(first for first, *rest in zip(*parts, strict=True) if all(x == first for x in rest)) or names[-1]


def plural(name: str) -> str:
    """Return the plural of a name, by the rules for most words; a name that looks like one stays."""
    if name.endswith(("ss", "as", "is", "us", "x", "sh", "ch")):
        return f"{name}es"
    return name if name.endswith("s") and len(name) > 1 else f"{name}s"


def hint_of(series: Series) -> str:
    """Return a name for the values of a loop."""
    value, hints = series.values[-1], [each.hint for each in series.values if each.hint]
    if len(set(hints)) > 1:
        return find_common_name(hints)
    if value.hint or series.loop is None:
        return value.hint
    k = next(k for k, each in enumerate(series.loop.rounds[-1]) if value in each.outs())
    return find_common_name([word_of(each[k]) for each in series.loop.rounds])


def steps_of(loop: Loop, k: int) -> list[int]:
    """Return the steps of a statement in all rounds."""
    return [each[k].note.step for each in loop.rounds]


def comment_of(note: Any, steps: list[int] | None = None) -> list[str]:
    """Return the lines of a comment above a block."""
    if note.rule:
        steps = [step for step in dict.fromkeys(steps or [note.step]) if step]
        numbers = f"{say_steps(steps)}: " if steps else ""
        return ["", f"# {numbers}{note.rule}  {note.site}".rstrip()]
    return ["", f"# {note.line}  {note.site}".rstrip()] if note.line else []
