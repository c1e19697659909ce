"""The text of a program: names, comments, `del` at the last reading, and what its names are bound to."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from typing import Any

import numpy as np

from .ink import special
from .loops import FEWEST_ROUNDS, Before, Count, Element, Loop, Series, parts_of
from .page import Page, Statement, Value

SMALL = 2**14
"""Arrays of fewer bytes are not deleted at their last reading: the statement would take longer than it saves."""
ALIVE = 2**62
"""The place of a reading after the call."""
UFUNC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


class Text:
    """Text of a page. `lines` are the body of the function, `constants` the arrays that it needs by name."""

    def __init__(self, page: Page, name: str):
        self.page, self.name = page, name
        self.taken: Counter[str] = Counter({"np": 1, "math": 1, name: 1})
        self.taken.update(dict.fromkeys(dir(builtins), 1))
        self.constants: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}
        self.targets: dict[str, tuple[Value, str]] = {}
        self.loops = [item for item in page.statements if isinstance(item, Loop)]
        self.counter = ""
        self.counts_from = Count(0, 1)
        self._name_targets()
        self.parameters = [self._name(value, value.hint) for value in page.inputs]
        self.last_reads = self._last_reads()
        self.befores: dict[Value, str] = {}
        self.deleted = set[str]()
        self.preamble = [self.line(statement) for statement in page.preamble]
        self.lines = self._body()

    # Names ----------------------------------

    def _name(self, value: Value, wanted: str) -> str:
        """Give a value a name that no other has."""
        if not value.name:
            wanted = re.sub(r"\W", "_", wanted).strip("_") or "v"
            wanted = f"{wanted}_" if keyword.iskeyword(wanted) or wanted in ("np", "math") else wanted
            wanted = f"v{wanted}" if wanted[0].isdigit() else wanted
            self.taken[wanted] += 1
            value.name = wanted if self.taken[wanted] == 1 else f"{wanted}_{self.taken[wanted]}"
            while self.taken[value.name] > (1 if value.name != wanted else 10**9):
                self.taken[wanted] += 1
                value.name = f"{wanted}_{self.taken[wanted]}"
            self.taken[value.name] += value.name != wanted
        return value.name

    def _name_targets(self) -> None:
        """Hint at names: the user's for what their line assigns, and `to_NAME` for gradients."""
        for (site, line), value in self.page.made.values():
            if value is not None and (name := _target(line)):
                self.targets[site] = value, name
        for value, name in self.targets.values():
            value.hint = value.hint or name
        statements = list(self.page.each_statement())
        for statement, following in zip(statements, [*statements[1:], None], strict=False):
            note, outs = statement.note, statement.outs()
            is_last = following is None or following.note[:2] != note[:2]
            if is_last and not note.rule and note.site not in self.targets and outs and not outs[-1].hint:
                outs[-1].hint = _target(note.line)
        for series in (each for loop in self.loops for each in loop.series):
            hint = next((value.hint for value in reversed(series.values) if value.hint), "")
            for value in series.values:
                value.hint = hint
        for upstream, value in self.page.upstreams.values():
            if value is not None and value.hint and not upstream.hint:
                upstream.hint = f"to_{value.hint}"
        self._name_updates()

    def _name_updates(self) -> None:
        """Hint at names for new values and gradients of tensors."""
        tensors = [(v.source[1], v.hint) for v in self.page.inputs if v.source[0] == "tensor"]
        for update in self.page.updates:
            if isinstance(update.value, Value) and not update.value.hint:
                if update.kind == "gradient":
                    name = next((hint for tensor, hint in tensors if tensor.node is update.target), "gradient")
                    update.value.hint = f"to_{name}"
                elif update.kind == "tensor":
                    name = next((hint for tensor, hint in tensors if tensor is update.target), "t")
                    update.value.hint = f"new_{name}"

    def _last_reads(self) -> dict[Value, int]:
        """Return the index of the statement that reads each value last; values that outlive the call have none."""
        last: dict[Value, int] = {}
        for i, statement in enumerate(self.page.statements):
            for value in (*statement.reads(), *statement.outs(), *statement.writes):
                last[value] = i
        for value in self.page.live():
            last.pop(value, None)
        return last

    # Lines ----------------------------------

    def _body(self) -> list[str]:
        self.deaths = self._find_deaths()
        lines: list[str] = []
        written = {v for s in self.page.each_statement() for v in s.writes if v.constant is not None}
        note = None
        for i, item in enumerate(self.page.statements):
            if isinstance(item, Loop):
                lines += self._loop(item, i, note)
                note = item.body[-1].note
            else:
                lines += _comment(item.note) if item.note != note else []
                lines.append(self.line(item))
                note = item.note
            lines += self._del(self.deaths.get(i, []))
        fresh = [f"{v.name} = {v.name}.copy()" for v in dict.fromkeys(written)]
        results = ", ".join(self.say(value) for value in self.page.live())
        count = len(self.page.live())
        lines = [line for line, next_line in zip(lines, [*lines[1:], "return"], strict=False) if line or next_line]
        return [*fresh, *lines, f"return ({results}{',' if count == 1 else ''})"]

    def _find_deaths(self) -> dict[int, list[Any]]:
        """Return the values, and the lists of loops, whose memory nothing reads after each item."""
        names: dict[Any, list[Value]] = {}
        for value in self.last_reads:
            if value.kind == "temporary" and value.is_array:
                names.setdefault(value.buffer, []).append(value)
        kept = {value.buffer for value in self.page.live()}
        deaths: dict[int, list[Any]] = {}
        last: dict[Series, int] = {}
        for buffer, values in names.items():
            if buffer in kept:
                last.update({value.place[0]: ALIVE for value in values if value.place is not None})
                continue
            at = max(self.last_reads[value] for value in values)
            for series in {value.place[0] for value in values if value.place is not None and value.place[0].is_listed}:
                last[series] = max(last.get(series, -1), at)
            if max(value.nbytes for value in values) >= SMALL:
                deaths.setdefault(at, []).extend(v for v in values if v.place is None or v is v.place[0].values[-1])
        for series, at in last.items():
            if sum(value.nbytes for value in series.values) >= SMALL and series.is_listed:
                deaths.setdefault(at, []).append(series)
        return deaths

    def _del(self, dead: list[Any]) -> list[str]:
        names = sorted({x.name for x in dead if x.name.isidentifier()} - self.deleted)
        return [f"del {', '.join(names)}"] if names else []

    # Loops ----------------------------------

    def _loop(self, loop: Loop, at: int, note: Any) -> list[str]:
        """Return the lines of a loop."""
        self.counter = self.counter or self._find_free("i")
        self._choose_counting(loop)
        for series in loop.series:
            if series.is_listed:
                series.name = self._find_free(re.sub(r"\W", "_", _hint(series)) + "s")
        head = f"for {self.counter} in {self._range(loop)}"
        if (comprehension := self._comprehension(loop, head)) is not None:
            return [*(_comment(loop.body[0].note) if loop.body[0].note != note else []), comprehension]
        body, dying = self._loop_body(loop, at)
        lines = [f"{series.name} = []" for series in loop.series if series.is_listed]
        for now, initial in loop.start.items():
            name = self.befores[now] if now in loop.needs_before else now.name
            lines.append(f"{name} = {self.say(initial)}")
        body += [f"{self.befores[now]} = {now.name}" for now in loop.start if now in loop.needs_before]
        self.deleted.update(name for name in dying)
        return ["", *lines, f"{head}:", *(f"    {line}" if line else "" for line in body), ""]

    def _loop_body(self, loop: Loop, at: int) -> tuple[list[str], set[str]]:
        """Return the lines of a round, and the names that it deletes."""
        for series in loop.series:  # a line above may need the name
            value = series.values[-1]
            self._name(value, _hint(series))
            if value in loop.needs_before:
                self.befores[value] = self._find_free(f"{value.name}_before")
        deaths = self._find_deaths_in(loop, at)
        lines: list[str] = []
        note = None
        for k, statement in enumerate(loop.body):
            if statement.note != note:
                note = statement.note
                lines += _comment(note)[0 if lines else 1 :]
            lines.append(self.line(statement))
            for series in loop.series:
                if series.is_listed and series.values[-1] in statement.outs():
                    lines.append(f"{series.name}.append({series.values[-1].name})")
            lines += self._del(deaths.get(k, []))
        return lines, {value.name for values in deaths.values() for value in values}

    def _find_deaths_in(self, loop: Loop, at: int) -> dict[int, list[Value]]:
        """Return the values of a round whose memory nothing reads after each of its statements."""
        last: dict[Value, int] = {}
        for k, statement in enumerate(loop.rounds[-1]):
            for value in (*statement.reads(), *statement.outs(), *statement.writes):
                last[value] = k
        inside = {series.values[-1]: series for series in loop.series}
        groups: dict[Any, list[Value]] = {}
        for value in self.last_reads:
            if value in inside or value.buffer in groups or value.place is None or value.place[0].loop is not loop:
                groups.setdefault(value.buffer, []).append(value)
        deaths: dict[int, list[Value]] = {}
        for values in groups.values():
            if all(
                value in inside and not inside[value].is_listed and value not in loop.start
                and self.last_reads.get(value) == at for value in values
            ) and max(value.nbytes for value in values) >= SMALL:  # fmt: skip
                deaths.setdefault(max(last[value] for value in values), []).extend(
                    value for value in values if value.kind == "temporary" and value.is_array
                )
        return deaths

    def _choose_counting(self, loop: Loop) -> None:
        """Choose the numbers of a loop's counter so that the first index in its text is the counter itself."""
        counts = [
            x.index if isinstance(x, Element) else x
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
        return f"{series[0].name} = [{self._say_call(statement)} {head}]"

    def _find_free(self, wanted: str) -> str:
        """Return a name that nothing else has."""
        name, number = wanted, 1
        while self.taken[name] or keyword.iskeyword(name):
            number += 1
            name = f"{wanted}_{number}"
        self.taken[name] += 1
        return name

    # Statements -----------------------------

    def line(self, statement: Statement) -> str:
        """Return the line of a statement."""
        if statement.function.startswith("special."):
            self.objects["special"] = special
        outs = statement.outs()
        for value in outs:
            self._name(value, value.hint or _word(statement))
        if statement.form == "check":
            condition, answer = statement.args
            return f"assert {'' if answer else 'not '}{self.say(condition)}, {statement.note.line or 'a check'!r}"
        if statement.into is not None:
            return self._line_into(statement)
        said = self._say_call(statement)
        return f"{self.target(statement.out)} = {said}" if outs else said

    def _line_into(self, statement: Statement) -> str:
        """Return the line of a statement whose result takes over memory."""
        function, into, args = statement.function, statement.into, statement.args
        old, new = self.say(into), statement.outs()[0].name
        places = [x is into or (isinstance(x, Element) and x == into) for x in args]
        commutes = function in "+*" and statement.out.dtype.kind != "c"  # complex products may round by the order
        if statement.form == "binop" and any(places) and (places[0] or commutes):
            return f"{new} = {old}; {new} {function}= {self.say(args[places[0]])}"
        said = [self.say(x) for x in args]
        if statement.form == "method":
            return f"{new} = {said[0]}.{function}({', '.join([*said[1:], f'out={old}'])})"
        called = f"np.{UFUNC[function]}" if statement.form == "binop" else function
        return f"{new} = {called}({', '.join([*said, f'out={old}'])})"

    def _say_call(self, statement: Statement) -> str:
        """Return the text of a statement without its target."""
        args = [self.say(x) for x in statement.args]
        named = [f"{name}={self.say(x)}" for name, x in statement.kwargs.items()]
        form, function = statement.form, statement.function
        if form in ("binop", "iop"):
            return f"{args[0]} {function} {args[1]}"
        if form == "unop":
            return f"{function}{args[0]}"
        if form == "attr":
            return f"{args[0]}.{function}"
        if form in ("getitem", "setitem"):
            return f"{args[0]}[{self.index(statement.args[1])}]" + (f" = {args[2]}" if form == "setitem" else "")
        if form == "call":
            return f"{function}({', '.join([*args, *named])})"
        return f"{args[0]}.{function}({', '.join([*args[1:], *named])})"

    def target(self, out: Any) -> str:
        """Return the left side of an assignment."""
        if isinstance(out, Value):
            return out.name
        if isinstance(out, (tuple, list)):
            return f"({', '.join(self.target(x) for x in out)}{',' if len(out) == 1 else ''})"
        return "_"

    def index(self, x: Any) -> str:
        """Return the text of an index."""
        if type(x) is slice:
            parts = ["" if part is None else self.say(part) for part in (x.start, x.stop, x.step)]
            return ":".join(parts if x.step is not None else parts[:2])
        if isinstance(x, tuple):
            return (", ".join(self.index(part) for part in x) + ("," if len(x) == 1 else "")) if x else "()"
        return self.say(x)

    def say(self, x: Any) -> str:
        """Return the text of an argument."""
        if isinstance(x, Value):
            return self.say_value(x)
        if isinstance(x, Element):
            return f"{x.series.name}[{self._say_count(x.index)}]"
        if isinstance(x, Count):
            return self._say_count(x)
        if isinstance(x, Before):
            return self.befores[x.now]
        if isinstance(x, tuple):
            return f"({', '.join(self.say_parts(x))}{',' if len(x) == 1 else ''})"
        if isinstance(x, list):
            return f"[{', '.join(self.say_parts(x))}]"
        if isinstance(x, dict):
            return "{" + ", ".join(f"{key!r}: {self.say(part)}" for key, part in x.items()) + "}"
        if type(x) is slice:
            return f"slice({self.say(x.start)}, {self.say(x.stop)}, {self.say(x.step)})"
        return _literal(x) or self.bind(x)

    def say_value(self, value: Value) -> str:
        """Return the text of a value: its name, or its place in the list of a loop."""
        if value.kind == "constant" and value.constant is not None:
            return self.say_constant(value)
        if value.place is not None and value is not value.place[0].values[-1]:
            return f"{value.place[0].name}[{value.place[1]}]"
        return value.name

    def say_parts(self, parts: Any) -> list[str]:
        """Return the texts of the parts of a tuple or list. Neighbours in the list of a loop become a slice."""
        said: list[str] = []
        i = 0
        while i < len(parts):
            series, step, count = _find_slice(parts[i:])
            if count >= FEWEST_ROUNDS:
                said.append(f"*{series.name}{_slice(parts[i].place[1], step, count, len(series.values))}")
                i += count
            else:
                said.append(self.say(parts[i]))
                i += 1
        return said

    def bind(self, x: Any) -> str:
        """Return a name for an object that no text can say."""
        known = next((name for name, y in self.objects.items() if y is x), None)
        if known is None:
            known = f"object_{len(self.objects) + 1}"
            self.objects[known] = x
        return known

    def say_constant(self, value: Value) -> str:
        """Return the text of a constant: a literal, or the name of an array."""
        x = value.constant
        if not isinstance(x, np.ndarray):
            return _literal(x) or self.bind(x)
        if not value.name:
            self._name(value, value.hint or "constant")
            self.constants[value.name] = x
        return value.name


def _find_slice(parts: Any) -> tuple[Any, int, int]:
    """Return the list of a loop in which the first parts are neighbours, their direction, and their number."""
    places = [part.place if isinstance(part, Value) else None for part in parts]
    if len(places) < FEWEST_ROUNDS or places[0] is None or places[1] is None or not places[0][0].is_listed:
        return None, 0, 0
    (series, first), step = places[0], places[1][1] - places[0][1]
    count = next((i for i, place in enumerate(places) if place != (series, first + i * step)), len(places))
    return (series, step, count) if step in (1, -1) else (None, 0, 0)


def _slice(first: int, step: int, count: int, length: int) -> str:
    """Return the text of a slice; nothing for the whole list."""
    end = first + step * count
    start = "" if first == (0 if step == 1 else length - 1) else str(first)
    stop = "" if end == (length if step == 1 else -1) else str(end)
    return f"[{start}:{stop}:-1]" if step == -1 else f"[{start}:{stop}]" if start or stop else ""


def _target(line: str) -> str:
    """Return the name that a line assigns to, or nothing."""
    target = re.match(r"([A-Za-z_]\w*)\s*=[^=]", line)
    return target[1] if target else ""


def _word(statement: Statement) -> str:
    """Return a name for a result by what makes it."""
    words = {"+": "sum", "-": "difference", "*": "product", "/": "quotient", "@": "product", "**": "power"}
    if statement.form in ("binop", "unop"):
        return words.get(statement.function, "v")
    return {"getitem": "part"}.get(statement.form, statement.function.rpartition(".")[2] or "v")


def _hint(series: Series) -> str:
    """Return a name for the values of a loop."""
    value = series.values[-1]
    return value.hint or next(_word(each) for each in series.loop.rounds[-1] if value in each.outs())


def _comment(note: Any) -> list[str]:
    """Return the lines of a comment above a block."""
    if note.rule:
        return ["", f"# {note.rule}  {note.site}".rstrip()]
    return ["", f"# {note.line}  {note.site}".rstrip()] if note.line else []


def _literal(x: Any) -> str:
    """Return the text of a number, a name or a dtype; nothing for anything else."""
    if x is None or x is ... or type(x) in (bool, int, str, bytes):
        return repr(x) if x is not ... else "..."
    if type(x) is float:
        return repr(x) if np.isfinite(x) else {"inf": "np.inf", "-inf": "-np.inf"}.get(repr(x), "np.nan")
    if type(x) is complex:
        return f"complex({_literal(x.real)}, {_literal(x.imag)})"
    if isinstance(x, np.dtype):
        return f"np.dtype({x.str!r})"
    if isinstance(x, np.generic):
        return f"np.{type(x).__name__}({_literal(x.item())})"
    if isinstance(x, int):
        return repr(int(x))
    if isinstance(x, type) and x in (bool, int, float, complex):
        return x.__name__
    if isinstance(x, type) and getattr(np, x.__name__, None) is x:
        return f"np.{x.__name__}"
    return ""
