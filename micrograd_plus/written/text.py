"""The text of a program: names, comments, `del` at the last reading, and what its names are bound to."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from typing import Any

import numpy as np

from .block_text import say_blocks, scale
from .blocks import Blocks, Rows
from .loop_text import SMALL, LoopText, comment_of, word_of, wrap
from .loops import FEWEST_ROUNDS, Before, Count, Element, Loop, Series
from .page import Page, Statement, Value, is_array

ALIVE = 2**62
"""The place of a reading after the call."""
NAMES_OF_RESULTS = {
    "add": "sum", "subtract": "difference", "multiply": "product", "divide": "quotient", "matmul": "product",
    "linear_layer": "linear",
}  # fmt: skip
"""Names for results that the user gives none, by operation."""
UFUNC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


class Text:
    """Text of a page. `lines` are the body of the function, `constants` the arrays that it needs by name."""

    def __init__(self, page: Page, name: str, reserved: tuple[str, ...] = ()):
        self.page = page
        self.taken = {"np", "math", name, *reserved, *dir(builtins)}
        self.numbers: Counter[str] = Counter()
        self.constants: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}
        self.functions: list[list[str]] = []
        self.modules: dict[str, Any] = {}
        self.targets: dict[str, tuple[Value, str]] = {}
        self.loops = [item for item in page.statements if isinstance(item, Loop)]
        self.gradients_of: dict[Value, Value] = {}
        self.inlined = find_inlined(page)
        self._name_targets()
        self.parameters = [self.name(value, value.hint) for value in page.inputs]
        self.last_reads = self._last_reads()
        self.loop_text = LoopText(self)
        self.deleted = set[str]()
        self.preamble = [self.line(statement) for statement in page.preamble]
        self.lines = self._body()

    # Names ----------------------------------

    def name(self, value: Value, wanted: str) -> str:
        """Give a value a name that no other has."""
        if not value.name:
            wanted = re.sub(r"\W+", "_", wanted).strip("_") or "v"
            wanted = f"{wanted}_" if keyword.iskeyword(wanted) or wanted in ("np", "math") else wanted
            wanted = f"v{wanted}" if wanted[0].isdigit() else wanted
            value.name = self.find_free(wanted)
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
            is_last = following is None or (following.note.line, following.note.site) != (note.line, note.site)
            if is_last and not note.rule and note.site not in self.targets and outs and not outs[-1].hint:
                outs[-1].hint = _target(note.line)
        for series in (each for loop in self.loops for each in loop.series):
            hint = next((value.hint for value in reversed(series.values) if value.hint), "")
            for value in series.values:
                value.hint = hint
        self._name_results()
        self._name_updates()

    def _name_results(self) -> None:
        """Hint at names for results that the user gives none, after their operations, and for gradients of results."""
        for node, (_, value) in self.page.made.items():
            if value is not None and not value.hint and value.is_whole and node.op is not None:
                value.hint = NAMES_OF_RESULTS.get(node.op.name, node.op.name)
        for upstream, value in self.page.upstreams.values():
            if value is not None and value.hint and not upstream.hint:
                upstream.hint = f"to_{value.hint}"
                self.gradients_of[upstream] = value

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
                elif update.kind == "state":
                    owner = self.page.named.get(id(update.target[1])) or "t"
                    update.value.hint = f"new_{owner}_{update.key}"

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
                lines += self.loop_text.lines(item, i, note)
                note = item.body[-1].note
            elif isinstance(item, Blocks):
                lines += say_blocks(item, self)
                note = None
            else:
                lines += comment_of(item.note) if item.note.begins_after(note) else []
                lines += [self.line(item)] if item not in self.inlined.values() else []
                note = item.note
            lines += self.say_del(self.deaths.get(i, []))
        fresh = [f"{v.name} = {v.name}.copy('K')" for v in dict.fromkeys(written)]
        results = ", ".join(self.say(value) for value in self.page.live())
        count = len(self.page.live())
        lines = [line for line, next_line in zip(lines, [*lines[1:], "return"], strict=False) if line or next_line]
        return [*fresh, *lines, *wrap("return (", f"{results}{',' if count == 1 else ''}", ")")]

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

    def say_del(self, dead: list[Any]) -> list[str]:
        """Return the line that deletes names, if there are any."""
        names = sorted({x.name for x in dead if x.name.isidentifier()} - self.deleted)
        return [f"del {', '.join(names)}"] if names else []

    def find_free(self, wanted: str) -> str:
        """Return a name that nothing else has."""
        name = wanted
        while name in self.taken or keyword.iskeyword(name):
            self.numbers[wanted] += 1
            name = f"{wanted}_{self.numbers[wanted] + 1}"
        self.taken.add(name)
        return name

    # Statements -----------------------------

    def line(self, statement: Statement) -> str:
        """Return the line of a statement."""
        if statement.function.startswith("special."):
            self.objects["special"] = self.page.paper.special
        outs = statement.outs()
        for value in outs:
            result = self.gradients_of.get(value)
            is_known = result is not None and result.name and value.place is None and result.place is None
            self.name(value, f"to_{result.name}" if is_known and result else value.hint or word_of(statement))
        if statement.form == "check":
            condition, answer = statement.args
            said = self.say(condition)
            is_enclosed = condition in self.inlined and self.inlined[condition].form in ("unop", "binop")
            said = said[1:-1] if answer and is_enclosed else said
            return f"assert {'' if answer else 'not '}{said}, {statement.note.line or 'a check'!r}"
        if statement.into is not None:
            return self._line_into(statement)
        said = self.say_call(statement)
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

    def say_call(self, statement: Statement) -> str:
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
        if isinstance(x, (Element, Count, Before)):
            return self.loop_text.say(x)
        if isinstance(x, Rows):
            return scale("count", x.factor)
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
        if value in self.inlined:
            said = self.say_call(self.inlined[value])
            return f"({said})" if self.inlined[value].form in ("unop", "binop") else said
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
        if not is_array(x):
            return _literal(x) or self.bind(x)
        if not value.name:
            self.name(value, value.hint or "constant")
            self.constants[value.name] = x
        return value.name


def find_inlined(page: Page) -> dict[Value, Statement]:
    """Return the statements that only serve the check right after them, by their results: its line says them."""
    readers = Counter(value for statement in page.each_statement() for value in statement.reads())
    live, found = set(page.live()), dict[Value, Statement]()
    for i, check in enumerate(page.statements):
        if check.form != "check":
            continue
        wanted = set(check.reads())
        for statement in reversed(page.statements[:i]):
            out = statement.out
            is_asked = isinstance(out, Value) and out in wanted and readers[out] == 1 and out not in live
            if not is_asked or statement.writes or statement.into is not None or statement.has_effect:
                break
            found[out] = statement
            wanted |= set(statement.reads())
    return found


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
