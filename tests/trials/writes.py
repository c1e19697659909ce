"""Random programs that write into parts of tensors, here and in PyTorch: values and gradients.

A program takes views of a tensor `o` (by one to three brackets, by changes of shape, by iteration and unpacking) and
writes into them. Each line that PyTorch accepts is run here: the values and gradients must be equal, or the line must
be refused by a message that names what to write. A view that is read was the last to be written: earlier ones keep
their numbers here, which docs/differences.md says.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import micrograd_plus as mg

from .harness import SAID, SAME, dice

SHAPES = [(3,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 2, 3), (2, 1, 3)]
STARTS = ("plain", "plain", "result", "result", "leaf", "whole numbers", "float32")
MOST_LINES, LENGTH_OF_W = 5, 3
CURE = re.compile(r"write .*(x\[|x\.|clone\(\)|mg\.|no_grad)|make it with dtype|takes x\.data\[")


@dataclass
class Program:
    """Lines over `o`, the leaf `w`, and views with names; `shapes` has the shape of each name."""

    start: str
    shape: tuple[int, ...]
    lines: list[str] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)


def names(side: str, program: Program) -> dict[str, Any]:
    """Return the names that the lines of a program use on one side."""
    m = torch if side == "torch" else mg
    rng = np.random.default_rng(len(program.shape))
    values = np.round(rng.uniform(-2, 2, program.shape), 2)
    w = m.tensor(np.array([1.5, -2.0, 3.0]), requires_grad=True)
    if program.start == "whole numbers":
        o = m.tensor(np.round(values * 3).astype(np.int64))
    elif program.start == "float32":
        o = m.tensor(values.astype(np.float32))
    else:
        o = m.tensor(values, requires_grad=program.start == "leaf")
    known = {"m": m, "w": w, "o": o, "x": o, "acc": 0.0, "np": np}
    if program.start == "result":
        known["x"] = m.tensor(values, requires_grad=True)
        known["o"] = known["x"] * 2.0
    is_torch = side == "torch"
    known["unsqueeze"] = (lambda t, k: t.unsqueeze(k)) if is_torch else lambda t, k: mg.expand_dims(t, axis=k)
    known["halves"] = (lambda t: m.split(t, 1)) if is_torch else lambda t: mg.split(t, len(t))
    known["diagonal"] = (lambda t: t.diagonal()) if is_torch else mg.diagonal
    return known


def run_line(line: str, known: dict[str, Any], start: str) -> None:
    """Run one line; lines that write into a leaf run under `no_grad`."""
    if start == "leaf":
        with known["m"].no_grad():
            exec(line, known)  # noqa: S102 - a line that this module has made
    else:
        exec(line, known)  # noqa: S102 - a line that this module has made


def basic_index(rng: np.random.Generator, shape: tuple[int, ...]) -> str:
    """Return an index that gives a view."""
    parts = []
    for n in shape[: rng.integers(1, len(shape) + 1)]:
        kind = rng.integers(5)
        if kind < 3:
            parts.append(str(rng.integers(-n, n)))
        else:
            parts.append(["1:", ":", ":-1", ":2"][rng.integers(4)])
    if rng.random() < 0.1:
        parts.insert(0, "..." if rng.random() < 0.5 else "None")
    return f"[{', '.join(parts)}]"


def view_text(rng: np.random.Generator, base: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Return the text and shape of a view of `base`, by one to three steps."""
    text = base
    for _ in range(rng.integers(1, 4)):
        if not shape:
            break
        step = view_step(rng, shape)
        text = step.replace("@", text)
        known = {"t": np.zeros(shape), "unsqueeze": np.expand_dims, "diagonal": np.diagonal,
                 "halves": lambda t: np.split(t, len(t))}  # fmt: skip
        shape = np.shape(eval(step.replace("@", "t"), known))  # noqa: S307 - a step that this module has made
        if 0 in shape:
            return base, (0,)
    return text, shape


def view_step(rng: np.random.Generator, shape: tuple[int, ...]) -> str:
    """Return one step from a tensor, written @, to a view of it."""
    kind = rng.integers(12)
    if kind == 6 and len(shape) == 2:
        return "@.T"
    if kind == 7:
        return ["@.reshape(-1)", "@.flatten()", "@.ravel()"][rng.integers(3)]
    if kind == 8:
        return f"unsqueeze(@, {rng.integers(len(shape) + 1)})"
    if kind == 9:
        return "@.squeeze()" if rng.random() < 0.5 or len(shape) < 2 else "@.swapaxes(0, 1)"
    if kind == 10:
        return f"{'halves' if rng.random() < 0.5 else 'list'}(@)[{rng.integers(shape[0])}]"
    return "diagonal(@)" if kind == 11 and len(shape) == 2 else f"@{basic_index(rng, shape)}"


def value_text(rng: np.random.Generator, shape: tuple[int, ...], start: str) -> str:
    """Return a value that fits a part of this shape, with a graph or without."""
    if start == "whole numbers":
        return str(rng.integers(-3, 4)) if rng.random() < 0.9 else "0.5"
    tracked = start != "leaf" and rng.random() < 0.6
    if not tracked:
        return str(np.round(rng.uniform(-2, 2), 1))
    if shape and shape[-1] <= LENGTH_OF_W and rng.random() < 0.5:
        return f"w[:{shape[-1]}] * {rng.integers(1, 4)}"
    return [f"w[{rng.integers(3)}]", f"w[{rng.integers(3)}] ** 2", "w.sum()"][rng.integers(3)]


def candidate(rng: np.random.Generator, program: Program) -> tuple[str, str, str]:
    """Return a line, the name that it defines, and the name that it writes into."""
    base = str(rng.choice(list(program.shapes)))
    shape, kind = program.shapes[base], rng.integers(20)
    text, part = view_text(rng, base, shape)
    value = value_text(rng, part, program.start)
    symbol = ["+=", "-=", "*=", "="][rng.integers(4)]
    if kind < 4:
        name = f"v{len(program.lines)}"
        return f"{name} = {text}", name, ""
    if kind < 7 and base != "o":
        return f"{base} {symbol.replace('=', '') or '*'}= {value_text(rng, shape, program.start)}", "", base
    if kind < 14 and part and np.prod(part):
        index = basic_index(rng, part)
        inner = np.zeros(part)[eval(f"np.s_{index}", {"np": np})].shape  # noqa: S307 - an index of this module
        return f"{text}{index} {symbol} {value_text(rng, inner, program.start)}", "", base
    if kind == 14 and shape:
        return f"for row in {base}: row {'+=' if symbol == '=' else symbol} {value}", "", base
    if kind == 15 and shape and shape[0] == 2:
        return f"a, b = {base}; b *= 2; a += 3", "", base
    if kind == 16 and part:
        return f"{text}[{text} > 0] = 0", "", base
    if kind == 17 and len(shape) > 1 and shape[0] > 1:
        return f"{base}[0], {base}[1] = {base}[1], {base}[0]", "", base
    if kind == 18:
        return f"c = {text}.clone(); c += 1", "", ""
    if kind == 19 and part:
        return f"{text}.data[0] = 2", "", base
    fresh = sorted(program.fresh)
    return f"acc = acc + {rng.choice(fresh)}.sum() * {rng.integers(1, 5)}", "", ""


def note_change(program: Program, line: str, defines: str, writes: str) -> None:
    """Note what a line defines, and which views have old numbers after it."""
    program.lines.append(line)
    if defines:
        text = line.partition(" = ")[2]
        program.parents[defines] = re.findall(r"\b(o|v\d+)\b", text)[0]
        program.fresh |= {defines} if program.parents[defines] in program.fresh else set()
    if writes:
        kept = {writes}
        while writes in program.parents:
            writes = program.parents[writes]
            kept.add(writes)
        program.fresh &= kept | {"o"}


def draw_program(case: int) -> Program:
    """Return the program of a case: lines that PyTorch accepts."""
    rng = dice("writes", case)
    program = Program(str(rng.choice(STARTS)), SHAPES[rng.integers(len(SHAPES))])
    program.shapes["o"], program.fresh = program.shape, {"o"}
    for _ in range(rng.integers(2, MOST_LINES + 1)):
        known = names("torch", program)
        try:
            line, defines, writes = candidate(rng, program)
            for each in [*program.lines, line]:
                run_line(each, known, program.start)
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue  # PyTorch refuses it, or the index has no entry
        if defines:
            program.shapes[defines] = tuple(known[defines].shape)
        note_change(program, line, defines, writes)
    return program


def outcome(known: dict[str, Any], program: Program) -> list[np.ndarray]:
    """Return the values and the gradients that a program leaves."""
    m, o = known["m"], known["o"]
    weights = m.tensor(np.arange(1.0, np.prod(program.shape) + 1).reshape(program.shape))
    loss = (o * weights).sum() + known["w"].sum() * 10 + known["acc"]
    loss.backward()
    leaves = [known[name] for name in ("w", "x") if known[name].requires_grad]
    found = [o.detach(), loss.detach(), *(leaf.grad for leaf in leaves)]
    return [np.asarray(each.numpy(), float) if each is not None else np.zeros(()) for each in found]


def run(case: int) -> str:
    """Run one case, and return how it ended."""
    program = draw_program(case)
    expected = names("torch", program)
    for line in program.lines:
        run_line(line, expected, program.start)
    try:
        theirs = outcome(expected, program)
    except RuntimeError as error:
        if "modified by an inplace operation" in str(error):
            return SAID  # by PyTorch
        raise
    known = names("here", program)
    for line in program.lines:
        try:
            run_line(line, known, program.start)
        except (RuntimeError, TypeError, ValueError) as error:
            shown = f"{program.start} {program.shape}: {'; '.join(program.lines)}"
            return SAID if CURE.search(str(error)) else f"{shown}: no line to write in {error}"
    ours = outcome(known, program)
    same = all(a.shape == b.shape and np.allclose(a, b, rtol=1e-4 if program.start == "float32" else 1e-9)
               for a, b in zip(theirs, ours, strict=True))  # fmt: skip
    shown = f"{program.start} {program.shape}: {'; '.join(program.lines)}"
    return SAME if same else f"{shown}: {[a.tolist() for a in ours]} is not {[a.tolist() for a in theirs]}"
