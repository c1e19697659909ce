"""Names of nodes: unique in the whole record, and the same in each part of it."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from sys import intern
from typing import Any, NamedTuple

from ..core.backward import Part
from .events import name_of_input
from .expressions import (
    LONGEST_EXPRESSION,
    Expression,
    can_be_value,
    expression_at,
    has_text,
    is_operation,
    shorten,
    source_at,
)
from .formulas import TEXTBOOK
from .groups import Groups
from .history import History
from .labels import Labels, ProgramNames
from .outline import Constant, Outline, requires_grad
from .sites import ENGINE, ENTERS, is_transform_code, kind_of
from .values import array_of, has_same_entries, np, number_text

INTERNAL_FUNCTIONS = ("forward", "call", "apply", "interpret", "power", "inside", "awaited")
"""Functions of the engine that no program calls by name."""
ARRAY_ARGUMENTS = ("target", "weight", "mask")
"""Arguments of the engine's functions that are always arrays."""
WALKS = ("backward", "gradients")
"""Functions whose applications are those of a walk, and not their value."""


class BaseNames(NamedTuple):
    """The name of each node by itself, and its number among the nodes of that name, counted from 1.

    The number is 0 for a name that occurs once, and for constants, whose name is their value.
    """

    names: list[str]
    numbers: list[int]


class NodeNames:
    """The name and the label of each node."""

    def __init__(self, history: History, outline: Outline, program: ProgramNames, groups: Groups):
        self.history, self.outline, self.program, self.groups = history, outline, program, groups

    @cached_property
    def _own_labels(self) -> Labels:
        with self.history.progress("what the program calls its values"):
            return Labels(self.outline, self.program)

    @cached_property
    def labels(self) -> list[str | None]:
        """The user's name for each value. What a function calls its argument names a result without an expression."""
        labels, foreign = self._own_labels.labels, self._own_labels.foreign
        return [
            foreign.get(node) if label is None and self.expressions[node] is None else label
            for node, label in enumerate(labels)
        ] if foreign else labels  # fmt: skip

    @cached_property
    def labels_in_use(self) -> set[str]:
        """All labels except None."""
        return {label for label in self.labels if label}

    def name(self, node: int) -> str:
        """Return the unique name of a node: equal names are numbered."""
        names, numbers = self._base_names
        return f"{names[node]} #{numbers[node]}" if numbers[node] else names[node]

    @cached_property
    def _base_names(self) -> BaseNames:
        names: list[str] = []
        are_constants: list[bool] = []
        owners, positions = self.groups.module_paths, self.outline.position_of_node
        nodes = zip(self.outline.keys, self.labels, owners, positions, strict=True)
        with self.history.progress("the names of the nodes"):
            for node, (key, label, owner, position) in enumerate(nodes):
                op = getattr(key, "op", None) if position is None else self.outline.applications[position].op
                value = None
                if op is not None and not isinstance(key, Part):
                    name = self.called_function(node) or op.name
                    names.append(intern(f"{name} ({label or owner})") if label or owner else name)
                else:
                    has_name = label or isinstance(key, Part) or (requires_grad(key) and not hasattr(key, "made_by"))
                    written = None if has_name else self._name_of_number(key)
                    value = None if has_name or written else self._constant_text(key)
                    names.append(written or value or label or self._name_of_use(key))
                are_constants.append(value is not None)
            return BaseNames(names, number_repeats(names, are_constants))

    def _name_of_use(self, key: Any) -> str:
        """Return a name for a leaf that the program has none for: the expression that it was passed as, as
        `mg.tensor(target[:8])`, or the name of the input that it first was, as `mask`."""
        use = self.outline.first_use(key)
        if use is None:
            return "leaf"
        application = self.outline.applications[use.position]
        name = name_of_input(application.op, use.place)
        array = array_of(self.outline.value(key))
        expression = self._argument_expression(use.position, use.place, array)
        if expression is not None and len(expression) <= LONGEST_EXPRESSION:
            return expression
        if name.isidentifier() and len(name) > 2:
            return name
        if (argument := self._argument_name(use.position, use.place)) is not None:
            return argument
        short = None if expression is None else shorten(expression)
        return _name_of_fill(array) or self._constant_text(key) or short or "leaf"

    def _argument_name(self, position: int, index: int) -> str | None:
        """Return the argument of a function of the engine that is an input of its first operation, if it has a name of
        arrays: `target` of a loss."""
        function = self.outline.applications[position].function
        if function is None or self.outline.is_preceded_in_call(position) or index >= function.co_argcount:
            return None
        name = function.co_varnames[index]
        return name if name in ARRAY_ARGUMENTS else None

    def _name_of_number(self, key: Any) -> str | None:
        """Return the variable of a number that an operator of the program made one of micrograd's values of: `x` in
        `w * x`, and `-y` in `score - y`, which adds the negative number."""
        use = self.outline.first_use(key) if hasattr(key, "made_by") else None
        call = None if use is None else self.history.users_calls.get(self.outline.applications[use.position].call)
        if use is None or call is None:
            return None
        application = self.outline.applications[use.position]
        source = source_at(call.code, call.frame.f_globals, application.instruction)
        variables = ChainMap(call.frame.f_locals, call.frame.f_globals)
        return None if source is None else source.number(application.op.name, variables)

    def _argument_expression(self, position: int, index: int, array: Any) -> str | None:
        """Return the expression of an input in the program, if the program wrote it in the call that applied the
        operation: alone, or as the first one inside a module or a function, whose first argument it was.

        A module can also begin with an array of its own, as a recurrent one with zeros.
        """
        outline, calls = self.outline, self.history.calls
        position, index = self._operand(position, index)
        application = outline.applications[position]
        call, instruction = calls.get(application.call), application.instruction
        is_preceded = outline.is_preceded_in_call(position)
        is_first, is_inside = index == 0 and not self._uses_array_before(position), False
        while call is not None and call.kind == ENTERS and is_first:
            call, instruction, is_inside = calls.get(call.parent), call.instruction, True
        is_alone = not is_preceded and not outline.is_followed_in_call(position)
        if call is None or not call.runs_users:
            return None
        source = source_at(call.code, call.frame.f_globals, instruction)
        is_operand = application.op.name == "matmul" and source is not None and source.is_product
        variables = ChainMap(call.frame.f_locals, call.frame.f_globals)
        if not has_text(call.code, call.frame.f_globals):
            return _only_name_of(array, variables, {*call.code.co_names, *call.code.co_varnames})
        if source is None or not (is_first or is_alone or is_operand):
            return None
        written = source.argument(index, name_of_input(application.op, index), None if is_inside else variables)
        if is_alone or is_operand or written is None:
            return written
        is_other = _name_of_fill(array) or (written.isidentifier() and not _holds(variables.get(written), array))
        return None if is_other else written

    def _uses_array_before(self, position: int) -> bool:
        """Return whether the call of an application has used an array without a node before, except zeros and ones."""
        while self.outline.is_preceded_in_call(position):
            position -= 1
            arrays = [array_of(key) for key in self.outline.inputs_at[position] if isinstance(key, Constant)]
            if any(_name_of_fill(array) is None for array in arrays):
                return True
        return False

    def _operand(self, position: int, index: int) -> tuple[int, int]:
        """Return the product that an input is an operand of: `a @ v` makes matrices of vectors first."""
        outline, later = self.outline, position
        if outline.applications[position].op.name == "expand_dims":
            made = {id(key) for key in outline.applications[position].output_keys}
            while outline.is_followed_in_call(later):
                later += 1
                places = [place for place, key in enumerate(outline.inputs_at[later]) if id(key) in made]
                if places:
                    return later, places[0]
        return position, index

    # Expressions ------------------------------------------

    @cached_property
    def expressions(self) -> list[Expression | None]:
        """The source expression of each result that the program has no name for."""
        with self.history.progress("the expressions of the program"):
            return [
                None if label or position is None or isinstance(key, Part) else self._expression(position)
                for key, label, position in zip(
                    self.outline.keys, self._own_labels.labels, self.outline.position_of_node, strict=True
                )
            ]

    def _expression(self, position: int) -> Expression | None:
        """Return the expression whose value an application is.

        A call such as `mg.var(x)` can make several applications, and its value is the last. That of `sum(parts)` is the
        last as well, where Python itself has called the engine once for each part.
        """
        application = self.outline.applications[position]
        call = self.history.users_calls.get(application.call)
        if call is None or position in self._partial_results or not self._is_value(position):
            return None
        place = call.code, call.frame.f_globals, application.instruction
        return expression_at(*place) if can_be_value(*place, application.op.name) else None

    def _is_value(self, position: int) -> bool:
        """Return whether an application is the value of the call that made it."""
        function = self.outline.applications[position].function
        if function is None:
            return True
        if function.co_name in WALKS or function.co_name == "__iter__":  # the value of `zip(w, x)` has no entries
            return False
        is_maker = kind_of(function) is ENGINE and not is_transform_code(function)
        return is_maker and not self.outline.is_followed_in_call(position)

    @cached_property
    def _partial_results(self) -> set[int]:
        """The positions of results that an application goes on with at the same instruction, and before its call comes
        to another one: a loop comes back to an instruction with a value of the round before."""
        positions, last, starts = self.outline.positions, dict[int, tuple[int, int]](), list[int]()
        for position, application in enumerate(self.outline.applications):
            start, instruction = last.get(application.call, (position, application.instruction))
            start = start if instruction == application.instruction else position
            last[application.call] = start, application.instruction
            starts.append(start)
        return {
            source
            for position, (start, keys) in enumerate(zip(starts, self.outline.inputs_at, strict=True))
            if start < position
            for key in keys
            if (source := positions.get(id(key))) is not None and start <= source < position and starts[source] == start
        }

    @cached_property
    def titles(self) -> list[str]:
        """How pictures call each node: by its expression if it has one, otherwise by its name. Each is unique."""
        texts = [None if each is None else each.text for each in self.expressions]
        numbers = number_repeats([text or "" for text in texts], [text is None for text in texts])
        return [
            self.name(node) if text is None else f"{text} #{number}" if number else text
            for node, (text, number) in enumerate(zip(texts, numbers, strict=True))
        ]

    def called_function(self, node: int) -> str | None:
        """Return the name of the function that the program called, if the operation has another name."""
        position = self.outline.position_of_node[node]
        if position is None or (function := self.outline.applications[position].function) is None:
            return None
        name = function.co_name
        is_internal = name.startswith(("_", "<")) or len(name) < 3 or name in INTERNAL_FUNCTIONS
        if is_internal or name == self.outline.applications[position].op.name:
            return None
        if kind_of(function) is not ENGINE or is_transform_code(function):
            return None
        is_one_of_several = self.outline.is_followed_in_call(position) or self.outline.is_preceded_in_call(position)
        return None if is_one_of_several else name

    def _constant_text(self, key: Any) -> str | None:
        """Return the value of a constant as text, if it is a single number."""
        value = array_of(self.outline.value(key))
        if value is None or getattr(value, "shape", ()) != ():
            return None
        value = value.item() if hasattr(value, "item") else value
        return number_text(value) if isinstance(value, (int, float)) else str(value)

    # In formulas ------------------------------------------

    def symbol_in_formula(self, letter: str, node: int) -> str | None:
        """Return a formula's symbol for a node; None if the operation's own letter will do.

        Textbooks have letters for some inputs, which are shorter than an expression.
        """
        if (label := self.labels[node]) is not None:
            return label
        if (expression := self.expressions[node]) is not None and letter not in TEXTBOOK:
            return expression.in_formula
        if letter not in self.labels_in_use:
            return None
        own_names, _ = self._base_names
        return f"({self.name(node)})" if is_operation(own_names[node]) else self.name(node)


def _name_of_fill(array: Any) -> str | None:
    """Return `zeros` or `ones` for an array of these, such as a first hidden state."""
    fills = (("zeros", 0), ("ones", 1)) if np.ndim(array) and np.size(array) else ()
    return next((name for name, fill in fills if np.all(np.equal(array, fill))), None)


def _holds(variable: Any, array: Any) -> bool:
    """Return whether a variable of the program is an array with the entries of another."""
    return isinstance(variable, np.ndarray) and has_same_entries(variable, array)


def _only_name_of(array: Any, variables: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the only one of some variables that is an array with the entries of another, if the text is unknown."""
    found = [name for name in names if np.size(array) > 1 and _holds(variables.get(name), array)]
    return found[0] if len(found) == 1 else None


def number_repeats(names: list[str], are_constants: list[bool]) -> list[int]:
    """Return each name's number among equal names, counted from 1; 0 for one that occurs once, and for constants."""
    counts = Counter(names)
    numbers_so_far = dict.fromkeys(counts, 0)
    numbers: list[int] = []
    for name, is_constant in zip(names, are_constants, strict=True):
        numbers_so_far[name] += 1
        numbers.append(0 if is_constant or counts[name] == 1 else numbers_so_far[name])
    return numbers
