"""Labels of values: the names that the user's program has for them."""

from __future__ import annotations

import dis
import json
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from types import CodeType, NoneType, SimpleNamespace
from typing import Any, cast

from ..core.backward import Part
from ..core.variable import Variable
from .events import Call, CallToken
from .expressions import can_be_value, source_at
from .outline import Constant, Number, Outline
from .recorder import Recorder
from .sites import ENTERS, INSTALLED, LIBRARIES, USER, is_derivative_code
from .values import array_of, param_text

OF_NOTEBOOKS = ("In", "Out", "exit", "get_ipython", "quit")
"""Variables of every notebook."""
MOST_VISITED, DEEPEST = 2048, 6
"""How many members of one variable are looked at, and how deeply these are nested: `net.layers[0].neurons[2].w[1]`
is a member of five wholes in each other."""
KEY = re.compile(r"""(\[?)('[^'"\\\n]*'|"[^'"\\\n]*")\s*[\]:]""")
"""A text in brackets, or in front of a colon: the key of a dictionary."""
PLAIN = (int, float, complex, str, bytes, NoneType)
"""Kinds of values without members."""
ONE_GRADIENT = "gradient"
"""The function that `mg.grad` returns. It computes the program's function, but returns gradients alone."""
RETURN_SEVERAL = ("backward", "gradients", "grad")
"""Functions of the engine that walk: their value, if they have one, is all gradients together."""
STORES = ("STORE_NAME", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF")
LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK")


def stored_names(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that an instruction assigns. Those of Python 3.13 can assign two."""
    names: Any = instruction.argval
    if instruction.opname in STORES:
        return (str(names),)
    if instruction.opname == "STORE_FAST_STORE_FAST":
        return tuple(names)
    return (names[0],) if instruction.opname == "STORE_FAST_LOAD_FAST" else ()


def instructions_with_starts(code: CodeType, passed: tuple[str, ...]) -> Iterator[tuple[dis.Instruction, int]]:
    """Yield each instruction with the offset of the one before it, which computed its input. Instructions in `passed`
    leave that input where it is, so they are omitted."""
    start = 0
    for each in dis.get_instructions(code):
        if each.opname not in passed:
            yield each, start
            start = each.offset


@lru_cache(maxsize=256)
def assigned_names(code: CodeType) -> dict[int, str]:
    """Return the variable or attribute that the result of each instruction is assigned to at once, by instruction."""
    names: dict[int, str] = {}
    for each, start in instructions_with_starts(code, passed=("COPY",)):  # as in a = b = x * y
        stored = stored_names(each)
        if stored and not stored[0].startswith(("_", ".")):
            names |= dict.fromkeys(range(start, each.offset), stored[0])
    instructions = [*dis.get_instructions(code)]
    for at, each in enumerate(instructions):
        if each.opname == "STORE_ATTR" and (found := _assigned_attribute(instructions, at)) is not None:
            name, value = found
            names |= dict.fromkeys(range(instructions[value].offset, instructions[value + 1].offset), name)
    return names


def _assigned_attribute(instructions: list[dis.Instruction], at: int) -> tuple[str, int] | None:
    """Return the attribute that an instruction assigns, as `self.out`, and the place of the instruction that computed
    the value; None unless the attribute belongs to a variable or its attributes. In `self.out += x`, the object is on
    the stack already, in front of the value."""
    end = at - 1
    is_augmented = instructions[end].opname == "SWAP"
    if is_augmented:
        loads = [place for place in range(1, end) if instructions[place].opname == "LOAD_ATTR"
                 and instructions[place].argval == instructions[at].argval
                 and instructions[place - 1].opname == "COPY"]  # fmt: skip
        end = loads[-1] - 2 if loads else -1
    start, path = end, [str(instructions[at].argval)]
    while start >= 0 and instructions[start].opname == "LOAD_ATTR":
        path.append(str(instructions[start].argval))
        start -= 1
    if start < 1 or instructions[start].opname not in LOADS:
        return None
    path.append(str(instructions[start].argval))
    value = at - 2 if is_augmented else start - 1
    hidden = any(part.startswith("_") for part in path)
    return None if hidden else (".".join(reversed(path)), value)


@lru_cache(maxsize=256)
def unpacked_names(code: CodeType) -> dict[int, tuple[str, ...]]:
    """Return the variables that the parts of each instruction's result are assigned to at once, by instruction: those
    of `q, r = mg.linalg.qr(m)`."""
    names: dict[int, tuple[str, ...]] = {}
    unpacks, parts, wanted = range(0), list[str](), 0
    for each, start in instructions_with_starts(code, passed=("COPY",)):
        if wanted:
            stored = stored_names(each)
            parts += stored
            wanted -= len(stored)
            if not stored:
                wanted = 0
            elif wanted <= 0:
                names |= dict.fromkeys(unpacks, tuple(parts))
        if each.opname == "UNPACK_SEQUENCE":
            first = max(start, unpacks.stop)  # the outer tuple keeps its own instruction
            wanted, parts, unpacks = each.arg or 0, [], range(first, each.offset + 1)
    return names


@lru_cache(maxsize=256)
def returned_instructions(code: CodeType) -> frozenset[int]:
    """Return the instructions whose result a function returns at once."""
    found: set[int] = set()
    for each, start in instructions_with_starts(code, passed=("SWAP", "POP_TOP")):  # those leave a loop
        if each.opname == "RETURN_VALUE":
            found |= {*range(start, each.offset)}
    return frozenset(found)


@lru_cache(maxsize=256)
def names_in_loops(code: CodeType) -> frozenset[str]:
    """Return the variables that `for` statements alone assign: `k` and `p` in `for k, p in params.items():`, but not
    `x` in `for x in rows: x = mg.tensor(x)`."""
    names: set[str] = set()
    others: set[str] = set()
    todo = 0
    for each in dis.get_instructions(code):
        if each.opname == "FOR_ITER":
            todo = 1
        elif todo and each.opname in ("UNPACK_SEQUENCE", "UNPACK_EX"):
            todo += (each.arg or 1) - 1 if each.opname == "UNPACK_SEQUENCE" else 1
        elif todo and (stored := stored_names(each)):
            names.update(stored)
            todo = max(0, todo - len(stored))
        elif each.opname not in ("CACHE", "EXTENDED_ARG"):
            todo = 0
            others.update(stored_names(each))
    return frozenset(names - others)


def submodules(module: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the modules inside a module with their dotted names."""
    if hasattr(module, "named_modules"):
        yield from ((prefix + name, each) for name, each in module.named_modules() if name)
        return
    for name, child in module.named_children():
        yield prefix + name, child
        yield from submodules(child, f"{prefix}{name}.")


def named_tensors(module: Any) -> list[tuple[str, Any]]:
    """Return the parameters and the buffers of a module with their paths."""
    buffers = module.named_buffers() if hasattr(module, "named_buffers") else ()
    return [*module.named_parameters(), *buffers]


def _is_module(value: object) -> bool:
    """Return whether a value has parameters. It looks at the class, since an object can answer to any name."""
    return hasattr(type(value), "named_parameters")


def _is_value(value: object) -> bool:
    """Return whether a value is a tensor or one of micrograd's values."""
    return isinstance(value, Variable) or hasattr(type(value), "made_by")


def _members(value: Any) -> tuple[bool, Iterable[tuple[Any, Any]]]:
    """Return the members of a list, a tuple, a dictionary or an object of a class of the user's with their keys, and
    whether these are written in brackets: `[0]`, not `.w`. Dictionaries are copied, because another thread of the
    program may change them meanwhile."""
    if isinstance(value, (list, tuple)):
        members = cast("list[Any]", value)
        fields: tuple[str, ...] = getattr(members, "_fields", ())
        return (False, zip(fields, members, strict=False)) if fields else (True, enumerate(members))
    if isinstance(value, dict):
        return True, [*cast("dict[Any, Any]", value).items()]
    attributes: dict[str, Any] = getattr(value, "__dict__", {}) if _is_users_class(value.__class__) else {}
    return False, ((name, each) for name, each in [*attributes.items()] if not name.startswith("_"))


def _is_users_class(kind: type) -> bool:
    """Return whether a program defines a class itself: not Python, the engine or an installed package."""
    if kind is SimpleNamespace:
        return True
    path = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return kind.__module__ != "builtins" and not path.startswith(LIBRARIES) and not any(p in path for p in INSTALLED)


def _key_text(key: object, keys: dict[str, str]) -> str:
    if isinstance(key, tuple):
        several = cast("tuple[object, ...]", key)
        return ", ".join(_key_text(each, keys) for each in several) if len(several) > 1 else repr(several)
    if not isinstance(key, str):
        return repr(key)
    return keys.get(key) or json.dumps(key, ensure_ascii=False)


def written_keys(source: str) -> dict[str, str]:
    """Return each text that a program has as a key, in the program's own quotes. Those of `d['k']` come before those
    of `{"k": 1}`."""
    found = sorted(KEY.findall(source), key=lambda match: match[0])
    return {text[1:-1]: text for _, text in found}


class Namespace:
    """The names in one namespace of the program: paths of parameters and buffers, variables and modules, by the value's
    id.

    Members of lists, dictionaries and objects have names too: `weights[3]`, `params["W1"]`, `model.w`. A value has the
    name that was there first; in a function, whose variables have no such order, a variable's own name comes first.
    What is left over from a loop can hold any parameter, so those names are apart, and come last.
    """

    def __init__(self, variables: dict[str, Any], of_loops: frozenset[str], keys: dict[str, str]):
        self.keys = keys
        self.paths: dict[int, str] = {}
        self.variables: dict[int, str] = {}
        self.left_over: dict[int, str] = {}
        self.modules: dict[int, str] = {}
        self.values: dict[int, Any] = {}
        is_notebook = "get_ipython" in variables
        for name, value in [*variables.items()]:
            names = self.left_over if name in of_loops else self.variables
            if _is_module(value):
                self._add_module(name, value)
            elif hasattr(value, "_data"):
                self.values[id(value)] = value
                if not name.startswith("_"):
                    names.setdefault(id(value), name)
            elif not name.startswith("_") and not (is_notebook and name in OF_NOTEBOOKS):
                self._add_members(name, value, names)

    def _add_members(self, name: str, value: Any, names: dict[int, str]) -> None:
        """Name the values and the modules in a list, a dictionary or an object."""
        todo, visited, looked_at = [(name, value, 0)], set[int](), 0
        for path, whole, depth in todo:  # the list grows while it is read
            if id(whole) in visited:
                continue
            visited.add(id(whole))
            in_brackets, members = _members(whole)
            for key, each in members:
                looked_at += 1
                if looked_at > MOST_VISITED:
                    return
                if isinstance(each, PLAIN):  # most of a large list, so no path is written for them
                    continue
                inner = f"{path}[{_key_text(key, self.keys)}]" if in_brackets else f"{path}.{key}"
                if _is_module(each):
                    self._add_module(inner, each)
                elif _is_value(each):
                    self.values[id(each)] = each
                    names.setdefault(id(each), inner)
                elif depth + 1 < DEEPEST:
                    todo.append((inner, each, depth + 1))

    @cached_property
    def of_nodes(self) -> dict[int, str]:
        """The names of values and of parameters, by the id of the node, or of a value that has none."""
        names: dict[int, str] = {}
        for each, name in [*self.paths.items(), *self.variables.items(), *self.left_over.items()]:
            value = self.values[each]
            own = name if each in self.paths else getattr(value, "label", None) or name
            names.setdefault(id(getattr(value, "node", None) or value), own)
        return names

    def _add_module(self, name: str, module: Any) -> None:
        prefix = "" if name == "self" else f"{name}."
        self.modules.setdefault(id(module), name)
        for path, each in submodules(module):
            self.modules.setdefault(id(each), prefix + path)
        for path, each in named_tensors(module):
            self.values[id(each)] = each
            self.paths.setdefault(id(each), prefix + path)


class ProgramNames:
    """The names that each call of the user's program has for values and modules."""

    def __init__(self, recorder: Recorder):
        self.recorder, self.calls = recorder, recorder.calls
        self._of_calls: dict[int, list[Namespace]] = {}
        self._globals: dict[int, Namespace] = {}
        self._chains: dict[int, list[Namespace]] = {}
        self._submodules: dict[int, dict[int, str]] = {}

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The keys in the files that the program's calls are in, in their quotes."""
        frames = {call.code.co_filename: call.frame for call in self.calls.values() if call.kind == USER}
        return written_keys("".join(
            line for path, frame in frames.items() for line in linecache.getlines(path, frame.f_globals)
        ))  # fmt: skip

    def _namespaces(self, number: int) -> list[Namespace]:
        """Return the namespaces of a call: its variables, and its module's global names."""
        if number not in self._of_calls:
            frame = self.calls[number].frame
            if id(frame.f_globals) not in self._globals:
                self._globals[id(frame.f_globals)] = Namespace(frame.f_globals, frozenset(), self._keys)
            # At a module's top level, variables are as they were when the recording ended.
            variables, is_function = frame.f_locals, frame.f_code.co_name != "<module>"
            if is_function:
                variables = dict(sorted(variables.items(), key=lambda item: not hasattr(item[1], "_data")))
            namespaces = [Namespace(variables, names_in_loops(frame.f_code), self._keys)]
            if is_function:
                namespaces.append(self._globals[id(frame.f_globals)])
            self._of_calls[number] = namespaces
        return self._of_calls[number]

    def chain(self, number: int) -> list[Namespace]:
        """Return the namespaces of a call and of those around it, the innermost first."""
        if number not in self._chains:
            chain: list[Namespace] = []
            each = number
            while each in self.calls:
                call = self.calls[each]
                if call.kind == USER:
                    chain += [namespace for namespace in self._namespaces(each) if namespace not in chain]
                each = call.parent
            self._chains[number] = chain
        return self._chains[number]

    def of_value(self, value: Any, number: int) -> str | None:
        """Return the name of a value in a call.

        A path in a model comes first, as the outermost call knows it (`net.0.weight`), then the value's label, then a
        variable. A variable comes last because one that is left over from a loop can hold any parameter. The name in
        the program that opened the record comes before the name of a parameter that the value was passed as.
        """
        name, _ = self.of_value_with_rank(value, number)
        return name

    def of_value_with_rank(self, value: Any, number: int) -> tuple[str | None, int]:
        """Return the name of a value in a call, and its rank among the names that it could have."""
        chain = self.chain(number)
        for namespace in reversed(chain):
            if id(value) in namespace.paths:
                return namespace.paths[id(value)], 0
        if label := self._name_in_module(value, number) or getattr(value, "label", None):
            return label, 0
        outward = [*self._outermost_first(number)]
        names = [*(each.variables for each in outward), *(each.left_over for each in outward)]
        ranks = (rank for rank, each in enumerate(names, 1) if id(value) in each)
        rank = next(ranks, len(names) + 1)
        return names[rank - 1][id(value)] if rank <= len(names) else None, rank

    def _name_in_module(self, value: Any, number: int) -> str | None:
        """Return the name of a parameter in a call of a module that no variable holds any more: the module as the
        program wrote it in its call, and the path of the parameter."""
        name = None
        while (call := self.calls.get(number)) is not None and call.kind == ENTERS:
            module: Any = call.frame.f_locals.get("self")
            path = next((path for path, each in named_tensors(module) if each is value), None)
            name = name if path is None else f"{self.of_module(module, None, call)}.{path}"
            number = call.parent
        return name

    def _outermost_first(self, number: int) -> Iterator[Namespace]:
        """Yield the namespaces of a call and of those around it, the outermost call first."""
        stack: list[int] = []
        while number in self.calls:
            stack.append(number)
            number = self.calls[number].parent
        for each in reversed(stack):
            if self.calls[each].kind == USER:
                yield from self._namespaces(each)

    def of_module(self, module: Any, owner: Any, call: Call) -> str:
        """Return the name of a module in one of its calls: its path in the module that called it, a name from the
        program, or the function of the call as it is written."""
        if owner is not None and id(owner) not in self._submodules:
            named = submodules(owner) if hasattr(owner, "named_children") else ()
            self._submodules[id(owner)] = {id(each): name for name, each in reversed([*named])}
        if name := self._submodules.get(id(owner), {}).get(id(module)):
            return name
        for namespace in reversed(self.chain(call.parent)):
            if id(module) in namespace.modules and namespace.modules[id(module)] != "self":
                return namespace.modules[id(module)]
        outer = self.calls.get(call.parent)
        is_users = outer is not None and outer.runs_users
        source = source_at(outer.code, outer.frame.f_globals, call.instruction) if outer and is_users else None
        return (None if source is None else source.function_path) or type(module).__name__

    def namespaces(self) -> Iterator[Namespace]:
        """Yield the namespaces of all calls of the user's, the innermost calls first."""
        for number, call in reversed(self.calls.items()):
            if call.kind == USER:
                yield from self._namespaces(number)


class Labels:
    """The label of each value of a record."""

    def __init__(self, outline: Outline, names: ProgramNames):
        self.outline, self.names = outline, names
        self.applications, self.calls = outline.applications, names.calls
        self._variables = self._names_of_variables()
        self.foreign: dict[int, str] = {}
        """What a call that a result was passed to calls it, by node, for results without a label."""
        self._assigned = {number: assigned_names(call.code) for number, call in self.calls.items() if call.runs_users}
        self._returned_parts: dict[int, tuple[str, ...]] = {}
        self._returned = self._names_of_return_values()
        pairs = zip(outline.keys, outline.position_of_node, strict=True)
        self._ranks: dict[int, int] = {}
        """The rank of each leaf's label among the names that the leaf could have; 0 is the best."""
        self.labels: list[str | None] = [self._label(node, key, position) for node, (key, position) in enumerate(pairs)]
        self._name_leaves_of_earlier_rounds()

    def _label(self, node: int, key: Any, position: int | None) -> str | None:
        if position is None:
            label = self._leaf_label(key)
            is_nameless = label is None and isinstance(key, Constant)
            return self._names_of_arrays.get(id(array_of(key))) if is_nameless else label
        label = self._result_label(key, position) or (output_name(key) if isinstance(key, Part) else None)
        if label is None and self._names_of_arrays:
            label = self._names_of_arrays.get(id(array_of(self.applications[position].result)))
        if label is None and (name := self._variables.get(id(key))):
            self.foreign[node] = name
        return label

    def _name_leaves_of_earlier_rounds(self) -> None:
        """Name each leaf like the last leaf that the program used at the same place, if that name is better: each batch
        of a loop is `batch`, like the last one, which a variable holds. A helper may call it `x`."""
        if not any(self._ranks.values()):
            return
        ranks = {node: self._ranks[id(key)] for node, key in enumerate(self.outline.keys) if id(key) in self._ranks}
        places = {node: place for node in ranks if (place := self._place_of_use(node)) is not None}
        names: dict[Any, set[tuple[int, str]]] = {}
        for node, place in places.items():
            if (label := self.labels[node]) is not None:
                names.setdefault(place, set()).add((ranks[node], label))
        for node, place in places.items():
            lowest = min((rank for rank, _ in names.get(place, ())), default=ranks[node])
            best = [label for rank, label in names.get(place, ()) if rank == lowest]
            if lowest < ranks[node] and len(best) == 1 and (self.labels[node] or "x").isidentifier():
                (self.labels[node],) = best

    def _place_of_use(self, node: int) -> tuple[Any, ...] | None:
        """Return where in the program a leaf was first used: which input it was, and the instructions that led there.
        None for a leaf that the program gave a label."""
        use = self.outline.first_use(self.outline.keys[node])
        if use is None or getattr(use.value, "label", None):
            return None
        application, first = self.applications[use.position], use.position
        while self.outline.is_preceded_in_call(first):
            first -= 1
        place = [application.op.name, use.place, use.position - first]
        number, instruction = application.call, application.instruction
        while (call := self.calls.get(number)) is not None:
            module = call.frame.f_locals.get("self") if call.kind == ENTERS else None
            place += [id(call.code), id(module), instruction]
            number, instruction = call.parent, call.instruction
        return (*place,)

    def _leaf_label(self, key: Any, position: int | None = None) -> str | None:
        """Return the label of a leaf in the application at `position`, or in the first one that used it."""
        if isinstance(key, Number):
            return None
        use = self.outline.first_use(key)
        value = key if use is None else use.value
        value = key.variable if isinstance(key, Constant) else getattr(value, "variable", value)
        if position is None and use is not None:
            position = use.position
        if position is not None:
            name, self._ranks[id(key)] = self.names.of_value_with_rank(value, self.applications[position].call)
            return name
        if label := getattr(value, "label", None):
            return label
        return self._variables.get(id(key))

    def _result_label(self, key: Any, position: int) -> str | None:
        application = self.applications[position]
        if not application.op.outputs:
            if label := getattr(application.result, "label", None):
                return label
            name = self._assigned_name(application.call, application.instruction)
            if name and self._is_value(position):
                return name
        elif isinstance(key, Part) and (name := self._part_label(key, position)):
            return name
        if id(key) in self._variables:
            namespaces = self.names.chain(application.call)
            if name := next((each.of_nodes[id(key)] for each in namespaces if id(key) in each.of_nodes), None):
                return name
        if name := self._returned.get(position):
            return name
        if application.op.name != "getitem" or _has_arrays(index := application.params.get("index")):
            return None
        whole = self._sliced_parameter(position)
        return f"{whole}[{index_text(index)}]" if whole else None

    @cached_property
    def _names_of_arrays(self) -> dict[int, str]:
        """The names of buffers and other values outside of the graph, by the id of each array that a write took from
        them or gave them: `bn.running_mean`."""
        names: dict[int, str] = {}
        for change in self.names.recorder.changes:
            if change.kind == "write" and change.of == "value" and isinstance(change.subject, Variable):
                number, *_ = change.place
                if name := self.names.of_value(change.subject, number):
                    names |= {id(change.before): name, id(change.after): name}
        return names

    @cached_property
    def _first_calls(self) -> dict[CallToken, int]:
        """The position of the first call of the user's that each call into the engine made."""
        first: dict[CallToken, int] = {}
        for call in self.calls.values():
            if call.token is not None:
                first[call.token] = min(call.position, first.get(call.token, call.position))
        return first

    def _is_value(self, position: int) -> bool:
        """Return whether an application can be the value of its instruction."""
        if self.outline.is_followed_in_call(position) or not self._is_returned(position):
            return False
        application = self.applications[position]
        call = self.calls[application.call]
        return can_be_value(call.code, call.frame.f_globals, application.instruction, application.op.name)

    def _is_returned(self, position: int) -> bool:
        """Return whether a call can have returned the result of an application. A transform computes most results for
        itself; the last one of `mg.grad`, after its function has run, is the gradient that it returns. A walk returns
        several gradients."""
        token, function = self.applications[position].token, self.applications[position].function
        if token is None or not is_derivative_code(token.function):
            return function is None or function.co_name not in RETURN_SEVERAL
        has_run = self._first_calls.get(token, position + 1) <= position
        return has_run and token.function.co_name == ONE_GRADIENT

    def _assigned_name(self, number: int, instruction: int) -> str | None:
        """Return the variable that a call assigns the result of an instruction to: `loss = mse(x, y)`."""
        return self._assigned[number].get(instruction) if number in self._assigned else None

    def _sliced_parameter(self, position: int) -> str | None:
        """Return the label of the leaf that the application at `position` takes a part of."""
        key = self.outline.inputs_at[position][0]
        if key is None or id(key) in self.outline.positions:
            return None
        return self._leaf_label(key, position)

    def _names_of_variables(self) -> dict[int, str]:
        """Return the names in the user's program of the values that its variables held at the end."""
        names: dict[int, str] = {}
        for namespace in self.names.namespaces():
            for node, name in namespace.of_nodes.items():
                names.setdefault(node, name)
        return names

    def _names_of_return_values(self) -> dict[int, str]:
        """Return the names of the last applications of calls whose results are assigned at once, by position."""
        last = {each.call: (at, each.instruction) for at, each in enumerate(self.applications)}
        names: dict[int, str] = {}
        inner_first = [*reversed(self.calls)]
        inner_first.sort(key=lambda number: -self.calls[number].position)
        for number in inner_first:
            call = self.calls[number]
            (position, instruction), outer = last.get(number, (None, -1)), self.calls.get(call.parent)
            if position is None or outer is None:
                continue
            last[call.parent] = max((position, call.instruction), last.get(call.parent, (-1, -1)))
            name = call.code.co_name
            returns = call.scope is None and (name[0] != "<" or name == "<lambda>")
            if not returns or not outer.runs_users:
                continue
            if call.runs_users and instruction not in returned_instructions(call.code):
                continue
            parts = self._assigned_parts(call.parent, call.instruction)
            if call.token is not None and is_derivative_code(call.token.function):
                has_value = call.token.function.co_name != ONE_GRADIENT  # before the derivatives
                if has_value and parts and not parts[0].startswith("_"):
                    names.setdefault(position, parts[0])
            elif parts:
                self._returned_parts.setdefault(position, parts)
            elif name := self._assigned_name(call.parent, call.instruction):
                names.setdefault(position, name)
        return names

    def _assigned_parts(self, number: int, instruction: int) -> tuple[str, ...]:
        """Return the variables that a call assigns the parts of a result to: `q, r = mg.linalg.qr(m)`."""
        call = self.calls.get(number)
        return unpacked_names(call.code).get(instruction, ()) if call is not None and call.runs_users else ()

    def _part_label(self, part: Part, position: int) -> str | None:
        """Return the variable that one of several outputs is assigned to, or its place in one: `q`, `pair[0]`."""
        application = self.applications[position]
        parts, whole = self._returned_parts.get(position, ()), self._returned.get(position)
        if not self.outline.is_followed_in_call(position):
            parts = self._assigned_parts(application.call, application.instruction) or parts
            whole = self._assigned_name(application.call, application.instruction) or whole
        if part.index < len(parts):
            return None if parts[part.index].startswith("_") else parts[part.index]
        return f"{whole}[{part.index}]" if whole else None


def output_name(part: Part) -> str:
    """Return the label of one of several outputs that the program has no name for: `eigh.values`, `unstack[2]`."""
    application: Any = part.parents[0]
    names = application.op.outputs
    return f"{application.op.name}.{names[part.index]}" if len(names) > 1 else f"{application.op.name}[{part.index}]"


def _has_arrays(index: Any) -> bool:
    """Return whether an index has arrays, which have no short text: the program's own expression says more."""
    parts: Any = index
    return any(getattr(part, "shape", ()) != () for part in (parts if isinstance(index, tuple) else (parts,)))


def index_text(index: Any) -> str:
    """Return an index as Python writes it."""
    cut: Any = index
    if isinstance(index, tuple):
        return ", ".join(map(index_text, cut))
    if isinstance(index, slice):
        ends = ["" if end is None else str(end) for end in (cut.start, cut.stop)]
        return ":".join([*ends, *([] if cut.step is None else [str(cut.step)])])
    return "..." if index is Ellipsis else param_text(index)
