"""What values are called: by the user's program where it has a name for them, else by what made them."""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from ..backends.shapes import is_sequence
from ..core.backward import Part
from .outline import Constant, Number, Outline
from .recorder import Recorder
from .sites import USER
from .values import spelled

MOST_MEMBERS = 64
"""How many members of a list are called by their place in it."""
STORES = ("STORE_NAME", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF")


@lru_cache(maxsize=256)
def stored(code: CodeType) -> dict[int, str]:
    """The name that is given, at once, to what an instruction makes."""
    names: dict[int, str] = {}
    begins = 0
    for each in dis.get_instructions(code):
        if each.opname != "COPY":  # as in a = b = x * y
            if each.opname in STORES and not str(each.argval).startswith(("_", ".")):
                names |= dict.fromkeys(range(begins, each.offset), str(each.argval))
            begins = each.offset
    return names


def members(module: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The modules in a module, each by its dotted name."""
    if hasattr(module, "named_modules"):
        yield from ((prefix + name, each) for name, each in module.named_modules() if name)
        return
    for name, child in module.named_children():
        yield prefix + name, child
        yield from members(child, f"{prefix}{name}.")


def _is_module(value: object) -> bool:
    """Whether a value has parameters; its class is asked, since an object of the user's may answer to any name."""
    return hasattr(type(value), "named_parameters")


class Held:
    """What one part of the program calls its values: parameters by their path in a model, variables, and with `lists`
    the members of lists."""

    def __init__(self, names: dict[str, Any], *, lists: bool = True):
        self.paths: dict[int, str] = {}
        self.variables: dict[int, str] = {}
        self.modules: dict[int, str] = {}
        self.values: dict[int, Any] = {}
        listed: dict[int, str] = {}
        for name, held in names.items():
            if _is_module(held):
                start = "" if name == "self" else f"{name}."
                self.modules.setdefault(id(held), name)
                for path, module in members(held):
                    self.modules.setdefault(id(module), start + path)
                for path, parameter in held.named_parameters():
                    self.values[id(parameter)] = parameter
                    self.paths.setdefault(id(parameter), start + path)
            elif hasattr(held, "_data"):
                self.values[id(held)] = held
                if not name.startswith("_"):
                    self.variables.setdefault(id(held), name)
            elif lists and is_sequence(held) and not name.startswith("_"):
                for place, each in enumerate(held[:MOST_MEMBERS]):
                    if hasattr(each, "_data"):
                        self.values[id(each)] = each
                        listed.setdefault(id(each), f"{name}[{place}]")
        self.variables = listed | self.variables


class Names:
    """What the user's program calls the values of a record."""

    def __init__(self, recorder: Recorder):
        self.calls = recorder.calls
        self._held: dict[int, list[Held]] = {}
        self._globals: dict[int, Held] = {}
        self._chains: dict[int, list[Held]] = {}
        self._members: dict[int, dict[int, str]] = {}

    def _of_call(self, number: int) -> list[Held]:
        """What a call knows: its own variables, and its module's."""
        if number not in self._held:
            frame = self.calls[number].frame
            names: Any = frame.f_globals
            if id(names) not in self._globals:
                self._globals[id(names)] = Held(names, lists=False)
            known = [Held(frame.f_locals)]  # a module's own variables, as they were when the recording ended
            self._held[number] = known if frame.f_code.co_name == "<module>" else [*known, self._globals[id(names)]]
        return self._held[number]

    def chain(self, number: int) -> list[Held]:
        """What is known in a call and in those round it, the innermost first."""
        if number not in self._chains:
            found: list[Held] = []
            each = number
            while each in self.calls:
                call = self.calls[each]
                if call.kind == USER:
                    found += [held for held in self._of_call(each) if held not in found]
                each = call.parent
            self._chains[number] = found
        return self._chains[number]

    def of(self, value: Any, number: int) -> str | None:
        """By its path in a model as the outermost call knows it (`net.0.weight`), by its label, or by a variable; they
        come last, since one left over from a loop may hold any parameter."""
        known = self.chain(number)
        for held in reversed(known):
            if id(value) in held.paths:
                return held.paths[id(value)]
        label = getattr(value, "label", None)
        return label or next((held.variables[id(value)] for held in known if id(value) in held.variables), None)

    def of_module(self, module: Any, owner: Any, number: int) -> str:
        """By its place in the module that called it, or what the program calls it."""
        if owner is not None and id(owner) not in self._members:
            listed = members(owner) if hasattr(owner, "named_children") else ()
            self._members[id(owner)] = {id(each): name for name, each in reversed([*listed])}
        if name := self._members.get(id(owner), {}).get(id(module)):
            return name
        for held in reversed(self.chain(number)):
            if id(module) in held.modules and held.modules[id(module)] != "self":
                return held.modules[id(module)]
        return type(module).__name__

    def every_held(self) -> Iterator[Held]:
        """What each call of the user's knows, the innermost calls first."""
        for number, call in reversed(self.calls.items()):
            if call.kind == USER:
                yield from self._of_call(number)


class Labels:
    """What the user's program calls each value of a record."""

    def __init__(self, outline: Outline, names: Names):
        self.outline, self.names = outline, names
        self.applications, self.calls = outline.applications, names.calls
        self._variables = self._in_variables()
        self._given = {number: stored(call.code) for number, call in self.calls.items() if call.runs_users}
        self._returned = self._last_of_calls()
        self.labels: list[str | None] = []
        for key, turn in zip(self.outline.keys, self.outline.turn_at, strict=True):
            if turn is None:
                self.labels.append(self._of_leaf(key))
            else:
                self.labels.append(self._of_result(key, turn) or (output_name(key) if isinstance(key, Part) else None))

    def _given_to(self, number: int, instruction: int) -> str | None:
        """The name that the program gives to what an instruction of one of its calls makes, as in `loss = mse(x, y)`
        or `total += loss`."""
        return self._given[number].get(instruction) if number in self._given else None

    def _of_leaf(self, key: Any, turn: int | None = None) -> str | None:
        """What a value that no application made is called where it was used: in a certain turn, or first."""
        if isinstance(key, Number):
            return None
        first, value = self.outline.first_use(key) or (None, key)
        value = key.of if isinstance(key, Constant) else getattr(value, "variable", value)
        turn = first if turn is None else turn
        if turn is not None:
            return self.names.of(value, self.applications[turn][6])
        if label := getattr(value, "label", None):
            return label
        return self._variables.get(id(key))

    def _of_result(self, key: Any, turn: int) -> str | None:
        told = self.applications[turn]
        op, number, instruction = told[0], told[6], told[7]
        if not op.outputs:
            if own := getattr(told[5], "label", None):
                return own
            if (name := self._given_to(number, instruction)) and not self.outline.goes_on(turn):
                return name
        if name := self._variables.get(id(key)) or self._returned.get(turn):
            return name
        if op.name == "getitem" and (of := self._cut_from(turn)):
            return f"{of}[{spelled_index(told[4].get('index'))}]"
        return None

    def _cut_from(self, turn: int) -> str | None:
        """The parameter that a part was cut out of."""
        key = self.outline.inputs_of_turn[turn][0]
        if key is None or self.outline.turn_of(key) is not None:
            return None
        return self._of_leaf(key, turn)

    def _in_variables(self) -> dict[int, str]:
        """The variables of the user's program, by the values they hold now."""
        found: dict[int, str] = {}
        paths: dict[int, str] = {}
        for held in self.names.every_held():
            for place, name in held.variables.items():
                value = held.values[place]
                found.setdefault(id(getattr(value, "node", None) or value), getattr(value, "label", None) or name)
            for place, path in held.paths.items():
                value = held.values[place]
                paths[id(getattr(value, "node", None) or value)] = path
        return found | paths

    def _last_of_calls(self) -> dict[int, str]:
        """The last application of each call whose result is given a name at once."""
        last: dict[int, int] = {}
        for turn, told in enumerate(self.applications):
            last[told[6]] = turn
        found: dict[int, str] = {}
        for number, call in sorted(self.calls.items(), key=lambda each: -each[1].place):
            turn, outer = last.get(number), self.calls.get(call.parent)
            if turn is None or outer is None:
                continue
            last[call.parent] = max(turn, last.get(call.parent, -1))
            code = call.code
            returns = call.scope is None and (code.co_name[0] != "<" or code.co_name == "<lambda>")
            if returns and outer.runs_users:
                name = self._given_to(call.parent, call.instruction)
                if name:
                    found.setdefault(turn, name)
        return found


def output_name(part: Part) -> str:
    """What one of several outputs is called where the user's program does not say: by its operation and its own name,
    or its number."""
    application: Any = part.parents[0]
    names = application.op.outputs
    return f"{application.op.name}.{names[part.index]}" if len(names) > 1 else f"{application.op.name}[{part.index}]"


def spelled_index(index: Any) -> str:
    """An index as Python writes it."""
    cut: Any = index
    if isinstance(index, tuple):
        return ", ".join(map(spelled_index, cut))
    if isinstance(index, slice):
        ends = ["" if end is None else str(end) for end in (cut.start, cut.stop)]
        return ":".join([*ends, *([] if cut.step is None else [str(cut.step)])])
    return "..." if index is Ellipsis else spelled(index)


def unique(plain: list[str], constants: list[bool]) -> list[str]:
    """Names of which those that come again are numbered; a constant goes by its number."""
    numbers = numbered(plain, constants)
    return [f"{name} #{number}" if number else name for name, number in zip(plain, numbers, strict=True)]


def numbered(plain: list[str], constants: list[bool]) -> list[int]:
    """Of names that come again, which one each is, counted from 1; 0 for one that is alone, and for constants."""
    times = Counter(plain)
    seen = dict.fromkeys(times, 0)
    numbers: list[int] = []
    for name, constant in zip(plain, constants, strict=True):
        seen[name] += 1
        numbers.append(0 if constant or times[name] == 1 else seen[name])
    return numbers
