"""Walks that show an answer at work inside a small program.

A rule runs in a copy of its operation, in a program of 5 to 12 steps, on the inputs of the failing call. Gradients,
predictions and pieces of an engine are numbers of a program: its walk shows the student's number where it arrives.

    trace = walk_with_answer(exercise, wrong, answer)
    trace.marks[3]          what is wrong at the fourth step: a sentence, the wrong entries, and the right numbers
"""

from __future__ import annotations

import contextlib
import io
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import ops
from ..backends import devices
from ..core.apply import Op
from ..core.composite import ChainRule
from ..tensor import tensor
from ..tracing import Trace, record
from .compare import Expected, Wrong, close_entries, conventional_entries, undefined_entries
from .sandboxed import Namespace, carry_out
from .sandboxed.values import call_by_name, parameter_names
from .spec import Case, Exercise

np = devices.device("cpu").library

LITERALS = (bool, int, float, str, slice, type(None), type(Ellipsis))
FEW_INPUTS = 2
"""With at most so many inputs, each input of the rule is a sum of two equal halves, so the walk has a place to add."""
FACTORS = "factors"
"""The name of the constant that the output is multiplied by. It is what arrives at the output."""


class AnswerProgram(NamedTuple):
    """A program in which an answer's numbers are gradients: its source, its leaves, and the numbers by name."""

    source: str
    leaves: dict[str, Any]
    numbers: dict[str, Any]
    constants: dict[str, Any] = {}  # noqa: RUF012 - never written to
    remark: str = ""
    """A sentence for the last step, if the numbers themselves are right."""
    step: int | None = None
    """The index of the step that the number belongs to; by default the last one that arrives at the name."""


def walk_with_answer(exercise: Exercise, wrong: Wrong, answer: Any) -> Trace | None:
    """Return the walk through a wrong call with the student's answer in it; None if the exercise has no walk."""
    if wrong.kind == "refused":
        return None
    trace = walk_of_case(exercise, wrong.case, answer)
    if trace is not None and wrong.kind == "ties":  # each entry by itself follows some convention
        trace.marks = {index: {**mark, "say": f"{wrong.sentence[:1].upper()}{wrong.sentence[1:].rstrip('.')}."}
                       for index, mark in trace.marks.items()}  # fmt: skip
    return trace


def walk_of_case(exercise: Exercise, case: Case, answer: Any) -> Trace | None:
    """Return the walk through one call with the student's answer in it; None if there is none."""
    if exercise.has_own_walk:
        return exercise.show(case.request["arguments"]["walk"])
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            if case.expects.get("sample") is not None:
                return walk_of_rule(exercise, case, answer)
            return None if exercise.walk_program is None else walk_of_numbers(exercise, case, answer)
    except (Exception, SystemExit):  # noqa: BLE001 - a student's code may raise anything; then there is no walk
        return None


def right_walk(exercise: Exercise, case: Case) -> Trace | None:
    """Return the walk through the same call with the right answer; None if the exercise has no walk."""
    if exercise.has_own_walk:
        return exercise.show_right(case.request["arguments"]["walk"])
    try:
        with np.errstate(all="ignore"):
            if (sample := case.expects.get("sample")) is not None:
                upstream = case.expects.get("upstream", case.request["arguments"].get("upstream"))
                source, names, _ = program_around(sample.op, sample, upstream)
                return run_program(source, names, f"a program around {sample.op.name}")
            values = exercise.run(exercise.right, case.request)["values"]
            program = exercise.walk_program and exercise.walk_program(case.request["arguments"], values, exercise.right)
            return program and run_program(program.source, names_of_program(program), f"the program of {exercise.id}")
    except Exception:  # noqa: BLE001 - a walk is a picture: without it, the marks are the same
        return None


def run_program(source: str, names: dict[str, Any], title: str) -> Trace:
    """Record a program. If it raises, the trace ends with the error."""
    file = f"<{title}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    code = compile(source, file, "exec", dont_inherit=True)
    with record() as trace, contextlib.suppress(Exception):
        exec(code, {"mg": ops, **names})  # noqa: S102 - a program written below, with the student's rule in it
    trace.marks = {}
    len(trace.steps)  # run the rules now, while nothing that they print is shown
    for each in (*trace.nodes, *trace.walks, *trace.journal):  # the lines that called this function are no part of it
        each.lines = each.lines[: next((i for i, site in enumerate(each.lines, start=1) if site.file == file), None)]
    return trace


# Rules ----------------------


def walk_of_rule(exercise: Exercise, case: Case, answer: Any) -> Trace | None:
    """Return the walk of a small program around the operation, with the student's rule in a copy of it."""
    sample = case.expects["sample"]
    op, expected = sample.op, Expected(exercise, case)
    served = tuple(name for name in exercise.serves if any(each.partition("[")[0] == name for each in expected.right))
    if not callable(answer) or not served or not set(parameter_names(answer)) <= {"xp", *exercise.reads}:
        return None
    shapes = {} if case.expects.get("unbroadcast", True) else case.expects["shapes"]
    functions = rule_functions(op, served, answer, case.request["functions"], is_local="upstream" in case.expects,
                               shapes=shapes)  # fmt: skip
    copy = operation_with_rule(op, served, functions)
    upstream = case.expects.get("upstream", case.request["arguments"].get("upstream"))
    source, names, line = program_around(copy, sample, upstream)
    trace = run_program(source, names, f"a program around {op.name}")
    if not trace.nodes:
        return None
    nodes = {node.id for node in trace.nodes if node.lines and node.lines[0].line == line and node.op == op.name}
    steps = [step for step in trace.steps if step.node in nodes and step.input in expected.right]
    for step in steps:
        mark_step(trace, step, "contribution", expected, step.input, exercise.shows_right)
    first = next((step.index for step in steps if trace.marks[step.index]["wrong"]), steps[0].index if steps else None)
    trace.opens_at = len(trace.steps) + 1 if first is None else first + 1
    return trace


def operation_with_rule(op: Op, served: tuple[str, ...], functions: Sequence[tuple[tuple[str, ...], Any]]) -> Op:
    """Return a copy of an operation with other rules for the inputs `served`."""
    is_local = op.kind == "elementwise" and len(functions) == len(served) and functions[0][1].is_local
    kind = op.kind if is_local or op.kind == "variadic" else "general"
    copy = Op(op.forward, kind, outputs=op.outputs, residuals=op.residuals, constants=tuple(op.constants))
    for rule in op.rules:
        if kind == op.kind and not set(rule.inputs) & set(served) and not isinstance(rule, ChainRule):
            copy.add_rule(rule.inputs, rule.function)
    for inputs, function in functions:
        copy.add_rule(inputs, function)
    return copy


def rule_functions(
    op: Op, served: tuple[str, ...], answer: Any, functions: Sequence[str], *, is_local: bool,
    shapes: dict[str, Any] | None = None, on_call: Callable[[], None] | None = None,
) -> list[tuple[tuple[str, ...], Any]]:  # fmt: skip
    """Return an answer as rules for the engine, each with the inputs that it serves.

    A local derivative stays one, for each input by itself, so that a walk shows it. `on_call` is called at each call.
    """
    names = parameter_names(answer)
    groups = [(name,) for name in served] if is_local else [served]

    def part_of_answer(inputs: tuple[str, ...]) -> Callable[..., Any]:
        def run(values: dict[str, Any]) -> Any:
            xp = values.pop("xp")
            if on_call is not None:
                on_call()
            is_array_namespace = xp is devices.device("cpu").namespace
            returned = call_by_name(answer, values, Namespace(functions) if is_array_namespace else xp)
            if op.kind == "variadic":
                return returned
            parts = returned_parts(returned, served, shapes or {})
            return parts[served.index(inputs[0])] if len(inputs) == 1 else tuple(parts)

        return as_rule(answer, names, run, is_local)

    return [(inputs, part_of_answer(inputs)) for inputs in groups]


def returned_parts(returned: Any, served: tuple[str, ...], shapes: dict[str, Any]) -> list[Any]:
    """Return what an answer returned for each input, and raise ValueError if a shape is not the one that is due."""
    if isinstance(returned, dict):
        returned = [returned.get(name) for name in served]
    parts = list(returned) if len(served) > 1 or isinstance(returned, list) else [returned]
    for name, part in zip(served, parts, strict=False):
        if name in shapes and np.shape(part) != shapes[name]:
            raise ValueError(f"your rule returned shape {np.shape(part)} for {name}, which has shape {shapes[name]}")
    return parts


def as_rule(answer: Any, names: Sequence[str], run: Callable[[dict[str, Any]], Any], is_local: bool) -> Any:
    """Return a function with the parameters that the answer reads, as rules of the engine have them.

    The trace shows the source of the answer, not of this function.
    """
    reads = list(dict.fromkeys(["xp", *names]))
    text = f"def rule({', '.join(reads)}): return run({{{', '.join(f'{name!r}: {name}' for name in reads)}}})"
    made: dict[str, Any] = {"run": run}
    exec(text, made)  # noqa: S102 - a function of the answer's parameters, whose names were read from its code
    rule = made["rule"]
    rule.__doc__, rule.is_local = getattr(answer, "__doc__", None), is_local
    if hasattr(answer, "__code__"):
        rule.__wrapped__ = answer
    return rule


def program_around(op: Op, sample: Any, upstream: Any) -> tuple[str, dict[str, Any], int]:
    """Return a program that calls an operation on a sample, the names that it uses, and the line of the call.

    `upstream` is what arrives at the output: the loss is the sum of the output times these factors.
    """
    names: dict[str, Any] = {op.name: op.apply}
    lines = [*input_lines(op, sample, names)]
    outs = ["out"] if not op.outputs else list(op.outputs)
    lines.append(f"{', '.join(outs)} = {call_text(op, sample, names)}")
    call = len(lines)
    many = list(upstream) if isinstance(upstream, tuple) else [upstream]
    for number, (out, each) in enumerate(zip(outs, many, strict=True), start=1):
        suffix = f"_{number}" if len(outs) > 1 else ""
        names[f"{FACTORS}{suffix}"] = make_leaf(each, f"{FACTORS}{suffix}")
        lines += [f"weighted{suffix} = {out} * {FACTORS}{suffix}", f"loss{suffix} = mg.sum(weighted{suffix})"]
    if len(outs) > 1:
        lines.append(f"loss = {' + '.join(f'loss_{number}' for number in range(1, len(outs) + 1))}")
    return "\n".join([*lines, "loss.backward()"]) + "\n", names, call


def input_lines(op: Op, sample: Any, names: dict[str, Any]) -> list[str]:
    """Return the lines that compute the inputs which receive a gradient, and add all inputs to the names."""
    lines = []
    values = dict(zip(input_names(op, sample), sample.inputs, strict=False))
    has_rule = {name: op.kind == "variadic" or op.has_rule_for(name) for name in values}
    receiving = [name for name, value in values.items() if has_rule[name] and is_float(value)]
    for name, value in values.items():
        if name in receiving:
            half = f"half_{name}"
            names[half] = make_leaf(np.asarray(value) / 2, half, requires_grad=True)
            lines.append(f"{name} = {half} + {half}" if len(receiving) <= FEW_INPUTS else f"{name} = 2.0 * {half}")
        else:
            names[name] = make_leaf(value, name) if hasattr(value, "dtype") else value
    return lines


def input_names(op: Op, sample: Any) -> list[str]:
    """Return the inputs of a call as names of a program."""
    return [each.replace("[", "_").rstrip("]") for each in op.input_names(len(sample.inputs))]


def is_float(value: Any) -> bool:
    """Return whether a value is an array of floats."""
    return hasattr(value, "dtype") and value.dtype.kind == "f"


def make_leaf(value: Any, label: str, requires_grad: bool = False) -> Any:
    """Return a tensor with a label."""
    made = tensor(value, requires_grad=requires_grad)
    made.label = label
    return made


def call_text(op: Op, sample: Any, names: dict[str, Any]) -> str:
    """Return the call of an operation on a sample as Python code. Long parameters are added to the names."""
    given = input_names(op, sample)
    if op.kind == "variadic":
        arguments = [f"[{', '.join(given)}]"]
    else:
        positional = list(op.arguments[: len(given)]) == given
        arguments = [name if positional else f"{name}={name}" for name in given]
    for name, value in sample.params.items():
        if is_literal(value):
            arguments.append(f"{name}={value!r}")
        else:
            names[name] = value
            arguments.append(f"{name}={name}")
    return f"{op.name}({', '.join(arguments)})"


def is_literal(value: Any) -> bool:
    """Return whether a parameter can be written in a line of code."""
    if isinstance(value, (tuple, list)):
        return len(value) < 8 and all(map(is_literal, value))
    return isinstance(value, LITERALS)


# Numbers of a program -------


def walk_of_numbers(exercise: Exercise, case: Case, answer: Any) -> Trace | None:
    """Return the walk of an exercise's program, with the student's number where each gradient arrives."""
    outcome = carry_out(answer, case.request)
    program = exercise.walk_program(case.request["arguments"], outcome["values"] or {}, answer)
    if program is None:
        return None
    trace = run_program(program.source, names_of_program(program), f"the program of {exercise.id}")
    trace.steps = list(trace.steps)
    for name, value in program.numbers.items():
        replace_number(trace, name, value, program.step, exercise.shows_right)
    wrong = [index for index in sorted(trace.marks) if trace.marks[index]["wrong"]]
    if program.remark and not wrong:
        trace.marks = {**trace.marks, len(trace.steps) - 1: make_mark("", program.remark, np.zeros(0, bool), None)}
        wrong = [len(trace.steps) - 1]
    trace.opens_at = wrong[0] + 1 if wrong else 0
    return trace if trace.steps else None


def names_of_program(program: AnswerProgram) -> dict[str, Any]:
    """Return the leaves and constants of a program by name."""
    leaves = {name: make_leaf(value, name, requires_grad=True) for name, value in program.leaves.items()}
    constants = {name: make_leaf(value, name) if hasattr(value, "dtype") else value
                 for name, value in program.constants.items()}  # fmt: skip
    return {**constants, **leaves}


def replace_number(trace: Trace, name: str, value: Any, step: int | None, shows_right: bool) -> None:
    """Put the student's number for a value into the step that completes its gradient, and mark what is wrong."""
    nodes = {node.id for node in trace.nodes if node.label == name}
    arriving = [each for each in trace.steps if each.target in nodes] if step is None else [trace.steps[step]]
    if not arriving:
        return
    last, value = arriving[-1], np.asarray(value, float)
    word = "contribution" if last.before is None else "after"
    right = np.asarray(last.after, float)
    is_same = value.shape == right.shape
    wrong = ~np.isclose(value, right, rtol=1e-9, atol=1e-9 * largest(right)) if is_same else np.ones(value.shape, bool)
    count = int(wrong.sum())
    say = f"Your {name} has shape {value.shape}; the gradient of {name} has shape {right.shape}." if not is_same else (
        f"{count} of {wrong.size} entries of your gradient of {name} are wrong." if count and wrong.size > 1 else
        f"Your gradient of {name} is {'wrong' if count else 'right'}.")  # fmt: skip
    mark = make_mark(word, say, wrong, right if shows_right else None)
    trace.marks = {**trace.marks, last.index: mark}
    if wrong.any():
        last.after = value
        last.contribution = value if last.before is None else value - last.before if is_same else last.contribution
        replace_gradient(trace, last, value)


def replace_gradient(trace: Trace, last: Any, value: Any) -> None:
    """Put the student's number where the record has the gradient of a leaf, so that the file of the walk adds up."""
    if last.target in trace.gradients:
        trace.gradients = {**trace.gradients, last.target: value}
    for leaf in trace.walks[last.walk].leaves:
        if leaf.node == last.target:
            leaf.received = leaf.after = value
    trace.journal = list(trace.journal)
    for entry in trace.journal:
        if entry.node == last.target and entry.of == "gradient":
            entry.after = value


def largest(array: Any) -> float:
    """Return the largest finite entry; 0 if there is none."""
    return float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))


# Marks ----------------------


def mark_step(trace: Trace, step: Any, word: str, expected: Expected, name: str, shows_right: bool) -> None:
    """Mark the wrong entries of a step. An entry that follows another convention is right."""
    value, right = np.asarray(getattr(step, word), float), expected.right[name]
    with np.errstate(all="ignore"):
        fine = close_entries(value, right, expected.slack[name]) | undefined_entries(right, value)
        if not fine.all():
            fine = fine | conventional_entries(expected, name, value)
    wrong = ~fine
    say = f"Your rule sends this to {name}."
    count = int(wrong.sum())
    say += " It is right." if not count else f" {count} of {wrong.size} entries are wrong." if wrong.size > 1 else (
        " It is wrong.")  # fmt: skip
    trace.marks = {**trace.marks, step.index: make_mark(word, say, wrong, right if shows_right and count else None)}


def make_mark(word: str, say: str, wrong: Any, right: Any) -> dict[str, Any]:
    """Return a mark: the value of the step that it is about, a sentence, the wrong entries, the right numbers."""
    places = np.flatnonzero(wrong).tolist()
    return {"word": word, "say": say, "wrong": places, "right": right if places else None}


__all__ = ["AnswerProgram", "right_walk", "run_program", "walk_of_case", "walk_with_answer"]
