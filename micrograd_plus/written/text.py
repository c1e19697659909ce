"""The text of a program: names, comments, `del` at the last reading, and what its names are bound to."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from typing import Any

import numpy as np

from .ink import special
from .page import Page, Statement, Value

SMALL = 2**14
"""Arrays of fewer bytes are not deleted at their last reading: the statement would take longer than it saves."""
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
        self._name_targets()
        self.parameters = [self._name(value, value.hint) for value in page.inputs]
        self.last_reads = self._last_reads()
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
        statements = self.page.statements
        for statement, following in zip(statements, [*statements[1:], None], strict=False):
            note, outs = statement.note, statement.outs()
            is_last = following is None or following.note[:2] != note[:2]
            if is_last and not note.rule and note.site not in self.targets and outs and not outs[-1].hint:
                outs[-1].hint = _target(note.line)
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
        lines: list[str] = []
        dying: dict[int, list[Value]] = {}
        names: dict[Any, list[Value]] = {}
        for value in self.last_reads:
            if value.kind == "temporary" and value.is_array:
                names.setdefault(value.buffer, []).append(value)
        kept = {value.buffer for value in self.page.live()}
        for buffer, values in names.items():
            if buffer not in kept and max(value.nbytes for value in values) >= SMALL:
                dying.setdefault(max(self.last_reads[value] for value in values), []).extend(values)
        written = {v for s in self.page.statements for v in s.writes if v.constant is not None}
        note = None
        for i, statement in enumerate(self.page.statements):
            if statement.note != note:
                note = statement.note
                lines += _comment(note)
            lines.append(self.line(statement))
            if i in dying:
                lines.append("del " + ", ".join(sorted(v.name for v in dying[i] if v.name)))
        fresh = [f"{v.name} = {v.name}.copy()" for v in dict.fromkeys(written)]
        results = ", ".join(self.say(value) for value in self.page.live())
        count = len(self.page.live())
        return [*fresh, *lines, f"return ({results}{',' if count == 1 else ''})"]

    def line(self, statement: Statement) -> str:
        """Return the line of a statement."""
        args = [self.say(x) for x in statement.args]
        named = [f"{name}={self.say(x)}" for name, x in statement.kwargs.items()]
        form, function, into = statement.form, statement.function, statement.into
        if function.startswith("special."):
            self.objects["special"] = special
        if form == "check":
            return f"assert {'' if statement.args[1] else 'not '}{args[0]}, {statement.note.line or 'a check'!r}"
        outs = statement.outs()
        for value in outs:
            self._name(value, value.hint or _word(statement))
        if into is not None:
            old, new = self.say(into), outs[0].name
            commutes = (
                function in "+*" and getattr(into.dtype, "kind", "") != "c"
            )  # complex products may round by the order of factors
            if form == "binop" and (statement.args[0] is into or commutes):
                return f"{new} = {old}; {new} {function}= {args[statement.args[0] is into]}"
            called = f"np.{UFUNC[function]}" if form == "binop" else function
            return f"{new} = {called}({', '.join([*args, *named, f'out={old}'])})"
        said = {
            "binop": lambda: f"{args[0]} {function} {args[1]}",
            "iop": lambda: f"{args[0]} {function} {args[1]}",
            "unop": lambda: f"{function}{args[0]}",
            "attr": lambda: f"{args[0]}.{function}",
            "getitem": lambda: f"{args[0]}[{self.index(statement.args[1])}]",
            "setitem": lambda: f"{args[0]}[{self.index(statement.args[1])}] = {args[2]}",
            "method": lambda: f"{args[0]}.{function}({', '.join([*args[1:], *named])})",
            "draw": lambda: f"{args[0]}.{function}({', '.join([*args[1:], *named])})",
            "call": lambda: f"{function}({', '.join([*args, *named])})",
        }[form]()
        return f"{self.target(statement.out)} = {said}" if outs else said

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
            return self.say_constant(x) if x.kind == "constant" and x.constant is not None else x.name
        if isinstance(x, tuple):
            return f"({', '.join(map(self.say, x))}{',' if len(x) == 1 else ''})"
        if isinstance(x, list):
            return f"[{', '.join(map(self.say, x))}]"
        if isinstance(x, dict):
            return "{" + ", ".join(f"{key!r}: {self.say(part)}" for key, part in x.items()) + "}"
        if type(x) is slice:
            return f"slice({self.say(x.start)}, {self.say(x.stop)}, {self.say(x.step)})"
        return _literal(x) or self.bind(x)

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
