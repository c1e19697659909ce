"""`mg.compile`: a step that is traced at its first two calls, and runs as a NumPy program from the third."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable
from threading import Lock
from types import CellType
from typing import Any, Literal, overload
from weakref import WeakSet

import numpy as np

from ..core.backward import topological_order
from ..core.operation import Definition
from ..core.runtime.hooks import hooks_of, nodes_with_hooks
from ..core.runtime.ownership import replace_array
from ..core.variable import Leaf, Variable
from ..engine import Value
from ..pytrees import leaves, map_leaves
from ..tensor.tensor import Tensor
from .batches import Batch
from .guards import (
    MISS,
    MOST_PROGRAMS,
    WATCHERS,
    Guards,
    define,
    first_difference,
    has_form,
    miss,
    rules_changed,
    why_by_engine,
)
from .ink import open_page, open_pages
from .memory import keep_freed_memory, peak_bytes
from .number_program import NumberProgram
from .number_step import NumberRunner, fill as fill_with_values, is_step_of_values, trace_numbers
from .page import Setting, Update, Value as ArrayValue, is_array
from .passes import ROUNDING_PASSES
from .program import HOLE, PLAIN_HOLE, Hole, Program, trace
from .surroundings import Surroundings

MOST_LINES = 20_000
FAILED_CHECK = "a check of the program failed"


class Entry:
    """A program and the call that it was written for: `is_verified` once a second trace gave the same text. `change`
    says what the traced call has changed around the step."""

    def __init__(self, program: Program | NumberProgram, guards: Guards, change: str):
        self.program, self.guards, self.change, self.is_verified = program, guards, change, False

    @functools.cached_property
    def runner(self) -> Any:
        """The caller of the program, made at its first run: the program of the first call is only compared."""
        if isinstance(self.program, NumberProgram):
            return NumberRunner(self.program, self.guards)
        return Runner(self.program, self.guards)

    def fill(self, results: Any) -> Any:
        """Return the results of a call in their structure."""
        fill_holes = fill_with_values if isinstance(self.program, NumberProgram) else fill
        return fill_holes(self.program.structure, iter(results))

    @property
    def fast_call(self) -> Callable[..., Any] | None:
        """The caller that takes the arguments as they are. A failed check must find its generators as they were, so a
        program with checks and draws has none."""
        draws = any(value.source[0] == "object" for value in self.program.page.inputs)
        return None if self.program.has_checks and draws else self.runner.call


class Runner:
    """Caller of a program: reads its inputs, runs it, and puts the results in place. It is compiled text, since these
    lines run at every call."""

    def __init__(self, program: Program, guards: Guards | None = None):
        page = program.page
        keep_freed_memory(peak_bytes(page))
        self.inputs = page.inputs
        self.space: dict[str, Any] = {
            "_has_form": has_form, "_MISS": MISS, "_Variable": Variable, "_Tensor": Tensor,
            "_program": program.function, "_replace": replace_array, "_of": Tensor.of, "_nodes": page.nodes,
            **{f"seen{i}": CellType(None) for i, value in enumerate(page.inputs) if can_be_seen(value)},
        }  # fmt: skip
        lines = guards.lines(self.space) if guards is not None else []
        arguments = [value for value in page.inputs if value.source[0] == "argument"]
        for i, value in enumerate(page.inputs):
            lines += self._read(i, value, guards.unpacked if guards is not None else {})
        outs, puts = [], []
        for i, update in enumerate(page.updates):
            outs += [f"o{i}"] * isinstance(update.value, ArrayValue)
            puts += self._put(i, update).split("\n")
        results = [f"r{i}" for i in range(len(page.results))]
        names = "".join(f"{name}, " for name in (*results, *outs))
        call = f"_program({', '.join(f'a{i}' for i in range(len(page.inputs)))})"
        lines += [f"({names}) = {call}" if names else call, *puts, f"return ({''.join(f'{r}, ' for r in results)})"]
        self.run: Callable[[Any], Any] = self._define("leaves", lines, program)
        self.call: Callable[..., Any] | None = None
        places = {value.source[1] for value in arguments}
        if guards is not None and places == set(range(program.argument_count)):
            count = program.argument_count
            head = guards.watch_lines(self.space)
            head.append(f"if len(args) != {count}: return _MISS" if count else "if args: return _MISS")
            head += [line for value in arguments for line in self._check_argument(value)]
            lines[-1] = self._return(program.structure, results)
            self.call = self._define("args", [*head, *lines], program)

    def _define(self, name: str, lines: list[str], program: Program) -> Any:
        """Return the function of some lines. `name` is what it calls its arguments."""
        seen = [name for name, x in self.space.items() if isinstance(x, CellType) and name.startswith("seen")]
        lines = [f"nonlocal {', '.join(seen)}"] * bool(seen) + [
            line.replace("leaves[", f"{name}[") for line in lines
        ]
        return define(name, lines, self.space, f"<around {program.filename[1:]}")

    def _return(self, structure: Any, results: list[str]) -> str:
        """Return the line that returns the result in its structure."""
        if structure is HOLE:
            return "return _of(r0)"
        self.space["_structure"], self.space["_fill"] = structure, fill
        return (
            f"return _fill(_structure, iter(({''.join(f'{r}, ' for r in results)})))"
            if results
            else "return _structure"
        )

    def _check_argument(self, value: ArrayValue) -> list[str]:
        """Return the lines that check the form of an argument."""
        i, x = value.source[1], f"x{value.source[1]}"
        if not value.is_array:
            kind = value.kind_of_number.__name__
            return [f"if type(args[{i}]) is not {kind}: return _MISS"] if kind == "float" else ["return _MISS"]
        self.space.update({f"shape{i}": value.shape, f"dtype{i}": value.dtype, f"strides{i}": value.strides})
        of = "_Tensor" if value.is_tensor else f"type{i}"
        self.space[f"type{i}"] = value.kind_of_number
        lines = [f"{x} = args[{i}]", f"if type({x}) is not {of}: return _MISS"]
        if value.is_tensor:
            lines += [
                f"if {x}.node is not None: return _MISS",
                f"{x} = {x}._data",
                f"if type({x}) is not type{i}: return _MISS",
            ]
        return [
            *lines,
            f"if {x}.shape != shape{i} or {x}.dtype is not dtype{i} or {x}.strides != strides{i}: return _MISS",
        ]

    def _read(self, i: int, value: ArrayValue, unpacked: dict[int, str]) -> list[str]:
        """Return the lines that read one input. Some tensors are `unpacked` into variables."""
        kind, what = value.source[:2]
        self.space[f"s{i}"] = what
        if kind == "argument":
            return [f"a{i} = leaves[{what}]", f"if isinstance(a{i}, _Variable): a{i} = a{i}._data"]
        self.space[f"f{i}"] = value.shape, value.dtype, value.strides
        check = [f"if a{i} is not seen{i}:", f"    if not _has_form(a{i}, f{i}): return _MISS", f"    seen{i} = a{i}"]
        if kind == "tensor":
            return [f"a{i} = {unpacked.get(id(what), f's{i}')}._data", *check]
        if kind == "gradient":
            is_other = f"    if a{i}.node is not None or id(a{i}) in _nodes: return _MISS"
            head = [f"a{i} = s{i}.grad", f"if isinstance(a{i}, _Variable):", is_other, f"    a{i} = a{i}._data"]
            return [*head, *check]
        if kind == "read":
            self.space[f"k{i}"] = value.kind_of_number
            said = f"s{i}()"
            if isinstance(what, Setting):
                self.space[f"s{i}"], said = what.holder, f"s{i}[{what.key!r}]"
            if value.is_array:
                return [f"a{i} = {said}", *check]
            self.space[f"known{i}"] = what()
            return [f"a{i} = {said}", f"if a{i} is not known{i} and type(a{i}) is not k{i}: return _MISS"]
        return [f"a{i} = s{i}"]

    def _put_tensor(self, i: int, update: Update, what: str) -> str:
        """Return the lines that replace the array of a tensor, as `replace_array` does if nobody else has it."""
        value, tensor = update.value, update.target
        known = [n for n, each in enumerate(self.inputs) if each.source[0] == "tensor" and each.source[1] is tensor]
        form = (value.shape, value.dtype, value.strides)
        if not known or form != (
            self.inputs[known[0]].shape,
            self.inputs[known[0]].dtype,
            self.inputs[known[0]].strides,
        ):
            return f"_replace(u{i}, {what})"
        count = f"; u{i}.node.version += 1" if type(tensor.node) is Leaf else ""
        return f"if u{i}.is_fast: u{i}._data = seen{known[0]} = {what}{count}\nelse: _replace(u{i}, {what})"

    def _put(self, i: int, update: Update) -> str:
        """Return the line that puts one result in place."""
        self.space[f"u{i}"] = update.target
        what = f"o{i}" if isinstance(update.value, ArrayValue) else repr(update.value)
        if update.kind == "tensor":
            return self._put_tensor(i, update, what)
        if update.kind == "gradient":
            return f"u{i}.grad = {what}"
        if update.kind == "state":
            self.space[f"u{i}"], self.space[f"t{i}"] = update.target
            return f"u{i}.state[t{i}][{update.key!r}] = {what}"
        if update.kind == "mode":
            return f"if u{i}.training is not {what}: u{i}.training = {what}"
        return f"u{i}.step()"


def can_be_seen(value: ArrayValue) -> bool:
    """Return True for an input whose array is mostly that of the last call. Only another one is looked at."""
    return value.source[0] in ("tensor", "gradient") or (value.source[0] == "read" and value.is_array)


def key_of(x: Any) -> Any:
    """Return the part of the key for one argument: the form of a tensor or array, the value of anything else."""
    data = x._data if isinstance(x, Variable) else x
    if isinstance(x, Value):
        return Value
    if is_array(data) or isinstance(data, np.generic):
        return type(x), type(data), data.shape, data.dtype, data.strides
    return float if type(x) is float else (type(x), x)


class Compiled:
    """A step that runs as a NumPy program. See `source`, `programs` and `counts`."""

    __slots__ = ("__dict__", "__weakref__", "_last", "_written")  # what each call reads is fast

    def __init__(self, function: Callable[..., Any], exact: bool = True):
        functools.update_wrapper(self, function)
        self.exact = exact
        self.name: str = getattr(function, "__name__", "step")
        self.function = function
        self.entries: dict[Any, list[Entry]] = {}
        self._counts: Counter[str] = Counter()
        self.rules_version = rules_changed[0]
        self._has_warned = False
        self._last_miss = ""
        self._last: Callable[[Any], Any] = miss
        self._written = 0
        _steps.add(self)

    @property
    def counts(self) -> dict[str, int]:
        """How many calls were traced, ran a program, or ran by the engine, and why."""
        return {**self._counts, **({"written": self._written} if self._written else {})}

    @property
    def programs(self) -> list[Any]:
        """The programs, one for each form of the arguments and each state of variables, modules and optimisers."""
        return [entry.program for entries in self.entries.values() for entry in entries]

    @property
    def source(self) -> str:
        """The text of the last program."""
        programs = self.programs
        if not programs:
            raise RuntimeError("mg.compile: nothing is written out before the first call of the step")
        return programs[-1].source

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        return compile_step, (self.function, False, self.exact)  # a copy writes its own programs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the step: the first call and the second are traced, later ones run the program."""
        if not kwargs:
            try:
                result = self._last(args)
            except AssertionError:
                return self._by_engine(FAILED_CHECK, args, kwargs)
            if result is not MISS:
                self._written += 1
                return result
        return self._find_way(args, kwargs)

    def _find_way(self, args: Any, kwargs: Any) -> Any:
        """Run a call that is not one more of the last program: by another one, by the engine, or traced."""
        if any(WATCHERS) and (reason := self._why_by_engine(args, kwargs)):
            return self._by_engine(reason, args, kwargs)
        if open_pages and open_page() is not None:
            return self.function(*args, **kwargs)  # it becomes a part of the program around it
        if self.rules_version != rules_changed[0]:
            self.entries.clear()
            self.rules_version = rules_changed[0]
        return self._find(args, kwargs)

    def forget_last(self) -> None:
        """Have the next call look for its program."""
        self._last = miss

    def _remember(self, entry: Entry) -> None:
        """Have the next calls try a program first, unless a rule has changed since this call began."""
        self._last = (entry.fast_call or miss) if self.rules_version == rules_changed[0] else miss

    def _why_by_engine(self, args: Any, kwargs: Any) -> str:
        """Return why a call must run by the engine; nothing if it need not."""
        has_any = nodes_with_hooks and any(map(has_hooks, self._nodes(args, kwargs)))
        return why_by_engine() or "hooks" * bool(has_any)

    def _nodes(self, args: Any, kwargs: Any) -> set[Any]:
        """Return the nodes that a walk of the step can reach: those of tensors in arguments, variables and programs,
        and the graphs behind them."""
        tensors = [*Surroundings(self.function, leaves((args, kwargs))).tensors]
        for program in self.programs:
            tensors += [tensor for tensor, _ in getattr(program.page, "nodes", {}).values()]
        found = {tensor.node for tensor in tensors} - {None}
        order = topological_order(found)
        return found.union(order, *(node.parents for node in order)) - {None}

    def _find(self, args: Any, kwargs: Any) -> Any:
        """Run the program for these arguments, or trace the call."""
        flat = leaves((args, kwargs))
        if any(has_graph(x) for x in flat):
            return self._by_engine("an argument that requires a gradient", args, kwargs)
        try:
            key = (_structure(args, kwargs), *map(key_of, flat))
            entries = self.entries.setdefault(key, [])
        except TypeError:
            return self._by_engine("an argument cannot be part of a key", args, kwargs)
        entry = next((entry for entry in entries if entry.guards.hold()), None)
        if entry is None or not entry.is_verified:
            return self._trace_in_one_thread(key, entries, entry, args, kwargs)
        try:
            results = self._run_with_checks(entry, flat)
        except AssertionError:
            return self._by_engine(FAILED_CHECK, args, kwargs)
        if results is MISS:
            return self._trace_in_one_thread(key, entries, None, args, kwargs)
        self._remember(entry)
        self._written += 1
        return entry.fill(results)

    def _trace_in_one_thread(self, key: Any, entries: list[Entry], entry: Entry | None, args: Any, kwargs: Any) -> Any:
        """Trace a call, unless another thread does so now: its tensors are ink."""
        if not _tracing.acquire(blocking=False):
            return self._by_engine("another thread is traced", args, kwargs)
        try:
            if entry is not None:
                return self._look_again(entry, args, kwargs)
            self._last_miss = entries[-1].guards.first_change() if entries else ""
            return self._write(key, args, kwargs)
        finally:
            _tracing.release()

    def _run_with_checks(self, entry: Entry, flat: list[Any]) -> Any:
        """Run a program. If one of its checks fails, generators go back to where they were."""
        if not entry.program.has_checks:
            return entry.runner.run(flat)
        draws = [value.source[1] for value in entry.program.page.inputs if value.source[0] == "object"]
        draws = [getattr(each, "bit_generator", each) for each in draws]
        before = [each.state for each in draws]
        try:
            return entry.runner.run(flat)
        except AssertionError:
            for each, state in zip(draws, before, strict=True):
                each.state = state
            raise

    def _by_engine(self, reason: str, args: Any, kwargs: Any) -> Any:
        self._counts["engine"] += 1
        self._counts[f"engine: {reason}"] += 1
        return self.function(*args, **kwargs)

    def _write(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Trace a call, keep its program, and return its result."""
        result, entry = self._trace(args, kwargs)
        self.entries[key].append(entry)
        count = len(self.programs)
        if count > MOST_PROGRAMS and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"mg.compile: {self.name} has {count} programs: {self._find_unstable_argument()}", stacklevel=3
            )
        if len(entry.program.text.lines) > MOST_LINES:
            lines = len(entry.program.text.lines)
            warnings.warn(
                f"mg.compile: {self.name} is a program of {lines} lines, which take long to write; compute a batch "
                f"at once, use mg.scan, or write out one example", stacklevel=3)  # fmt: skip
        return result

    def _find_unstable_argument(self) -> str:
        """Return which argument has kept changing."""
        keys = list(self.entries)
        places = [i for i in range(1, min(map(len, keys))) if len({key[i] for key in keys}) > 1]
        if not places:
            return f"{self._last_miss or 'an array of the step'} keeps changing; make it an argument, or a tensor"
        forms = ", ".join(sorted({str(key[places[0]][1:]) for key in keys if isinstance(key[places[0]], tuple)}))
        return f"its argument number {places[0]} keeps changing, {forms}; bring it into one form before the call"

    def _trace(self, args: Any, kwargs: Any) -> tuple[Any, Entry]:
        name, flat = self.name if self.name.isidentifier() else "step", leaves((args, kwargs))
        around = Surroundings(self.function, flat)
        around.watch()
        program: Program | NumberProgram
        if is_step_of_values(self.function, args, kwargs):
            result, program = trace_numbers(self.function, args, kwargs, name)
        else:
            passes = None if self.exact else ROUNDING_PASSES
            result, (page, structure) = trace(self.function, args, kwargs, passes, around)
            program = Program(page, structure, name, len(args) if not kwargs else -1, self.exact)
        self._counts["traced"] += 1
        change = around.first_change(program.page)
        if change:
            around = Surroundings(self.function, flat)
            around.watch()
        elif isinstance(program, Program):
            program.page.updates += [Update("mode", module, None, mode) for module, mode in around.changed_modes()]
        return result, Entry(program, Guards(around, program.page), change)

    def _look_again(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """Trace a second call, and compare the two programs. If the first call has changed something around the step,
        such as a table that it made once, the second counts as the first; it must leave everything as it was."""
        result, second = self._trace(args, kwargs)
        difference = "" if entry.change else first_difference(entry.program, second.program)
        if second.change or difference:
            for entries in self.entries.values():
                if entry in entries:
                    entries.remove(entry)
            raise TypeError(second.change or difference)
        entry.program, entry.guards = second.program, second.guards
        entry.is_verified, entry.change = not entry.change, ""
        if not entry.is_verified:
            return result
        self._remember(entry)
        return result


def has_graph(x: Any) -> bool:
    """Return True for an argument whose gradient leaves the step."""
    return (isinstance(x, Variable) and x.node is not None) or (isinstance(x, Value) and x.made_by is not None)


def has_hooks(node: Any) -> bool:
    """Return True if a node has hooks."""
    return bool(hooks_of(node, "hooks") or hooks_of(node, "after_accumulation"))


def _structure(args: Any, kwargs: Any) -> str:
    """Return the structure of arguments as text."""
    if not kwargs and all(isinstance(x, Variable) for x in args):
        return f"{len(args)} tensors"
    return repr(map_leaves((args, kwargs), lambda _: HOLE))


def fill(structure: Any, found: Any) -> Any:
    """Return a result: its structure with tensors in place of its holes."""
    if structure is HOLE:
        return Tensor.of(next(found))
    makers = {id(HOLE): lambda: Tensor.of(next(found)), id(PLAIN_HOLE): lambda: next(found)}
    return map_leaves(structure, lambda x: makers[id(x)]() if type(x) is Hole else x)


_tracing = Lock()
"""Held while a thread traces a call."""


_steps = WeakSet[Compiled]()
"""All compiled steps."""


def _drop_programs(_: Any) -> None:
    """Have no step run a program that a rule which is replaced has a part in."""
    rules_changed[0] += 1
    for step in list(_steps):
        step.forget_last()


Definition.on_rules_changed.append(_drop_programs)


def write_out(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return one call of a function as a NumPy program. The call happens, with all its effects.

    Args:
        function: any step: a loss, `backward()`, an update.
        *args, **kwargs: what it is called with.
    Returns: a `Program`; `print` shows it, and `save` makes a module of it.
    Raises: TypeError, with the user's line, for a step that no program can repeat, such as one that asks for a number
        of a tensor.
    Example:
        >>> x = mg.tensor([1.0, 2.0])
        >>> program = mg.written_out(lambda x: mg.exp(x).sum(), x)
        >>> "np.exp" in program.source
        True

    See: jax.make_jaxpr; torch.fx.symbolic_trace.
    """
    name = getattr(function, "__name__", "step")
    name = name if name.isidentifier() else "step"
    if is_step_of_values(function, args, kwargs):
        return trace_numbers(function, args, kwargs, name)[1]
    _, (page, structure) = trace(function, args, kwargs)
    return Program(page, structure, name)


@overload
def compile(function: Callable[..., Any], *, exact: bool = True) -> Compiled: ...
@overload
def compile(*, exact: bool) -> Callable[[Callable[..., Any]], Compiled]: ...
@overload
def compile(*, batch: Literal[True], exact: bool = True) -> Callable[[Callable[..., Any]], Batch]: ...
@overload
def compile(function: Callable[..., Any], *, batch: Literal[True], exact: bool = True) -> Batch: ...
def compile(function: Any = None, *, batch: bool = False, exact: bool = True) -> Any:
    """Return a step that runs as a NumPy program from its third call on; also a decorator.

    The first two calls are traced: each is a valid step, and both must write the same program. Then the program runs in
    place of the engine, and gives the same numbers, bit for bit. `print(step.source)` shows it.

    Args:
        function: any step: a loss, `backward()`, an update by an optimiser or by hand. A step of micrograd's `Value`s
            becomes a program of floats.
        batch: True for a step of `Value`s that computes one example from numbers. The compiled step takes arrays whose
            rows are examples, adds up the gradients of all of them, and returns arrays of results.
        exact: False lets the program round differently where that is faster: a weight's gradient that a loop adds up
            product by product becomes one product, and large arrays go block by block. Where numba is installed, it
            compiles such chains and the examples of a batch. True by default: the bits of the engine.
    Returns: the compiled step, called like `function`. Its results have no graph.
    Raises: TypeError, with the user's line, for a step that asks for a number of a tensor, or whose two first calls
        differ.
    Example:
        >>> w = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> @mg.compile
        ... def step(x):
        ...     w.grad = None
        ...     loss = (w * x).sum()
        ...     loss.backward()
        ...     w.data -= 0.5 * w.grad.data
        ...     return loss
        >>> [step(mg.tensor([1.0, 0.0])).item() for _ in range(4)]
        [1.0, 0.5, 0.0, -0.5]

    See: torch.compile; jax.jit.
    """
    if function is None:
        return lambda function: compile_step(function, batch, exact)
    return compile_step(function, batch, exact)


def compile_step(function: Callable[..., Any], batch: bool, exact: bool) -> Any:
    """Return the compiled step of a function."""
    return Batch(function, exact) if batch else Compiled(function, exact)
