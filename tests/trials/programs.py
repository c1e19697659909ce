"""Random programs, here and in PyTorch: values, gradients, shapes and dtypes, with every kind of walk.

A program is a list of lines of `words.py`; it is made as PyTorch runs it, and run here as it was made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from .harness import SAME, TIE, dice
from .words import ALONG, ENTRIES, MATRICES, PAIRS, Side

SHAPES = [(), (3,), (4,), (3, 4), (4, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 4)]
MOST_ENTRIES, MOST_SIZE = 200, 20.0
SEVERAL = 7
"""One in this many recorded programs is also written as JSON and loaded again, which takes longest."""
MOVES = 8
"""How often the leaves are moved where the two differ."""
WAYS = (
    "plain", "plain", "twice", "freed", "create_graph", "hooks", "retained", "checkpoint", "recorded", "unfused",
    "grad", "jvp", "float32",
)  # fmt: skip
Line = tuple[str, str, tuple[int, ...], int]
TABLES = {"entries": ENTRIES, "along": ALONG, "pairs": PAIRS, "matrices": MATRICES}


@dataclass
class Program:
    """Lines over a pool of values that begins with the leaves; the outcome is a weighted sum of the last ones."""

    case: int
    way: str
    leaves: list[np.ndarray]
    lines: list[Line] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)

    def pool(self, side: Side, leaves: list[Any]) -> list[Any]:
        """Return all values."""
        pool = list(leaves)
        for line in self.lines:
            pool.append(run_line(side, line, pool))
        return pool

    def outcome(self, side: Side, leaves: list[Any], pool: list[Any] | None = None) -> Any:
        """Return the program's result as one number."""
        pool = self.pool(side, leaves) if pool is None else pool
        last = pool[-len(self.weights):]
        return sum((x * side.tensor(w)).sum() for x, w in zip(last, self.weights, strict=True))


def run_line(side: Side, line: Line, pool: list[Any]) -> Any:
    """Return the result of one line."""
    table, name, places, axis = line
    word, given = TABLES[table][name], [pool[place] for place in places]
    return word(side, *given, axis) if table == "along" else word(side, *given)


@cache
def sides(dtype: str) -> tuple[Side, Side]:
    """Return PyTorch's side and this engine's."""
    import torch

    torch.set_num_threads(1)
    return Side("torch", dtype), Side("here", dtype)


def make_program(case: int) -> Program:
    """Return the program of a case."""
    rng = dice("programs", case)
    way = WAYS[rng.integers(len(WAYS))]
    leaves = [rng.normal(size=SHAPES[rng.integers(len(SHAPES))]) for _ in range(rng.integers(1, 4))]
    program = Program(case, way, leaves)
    theirs = sides("float64")[0]
    pool = [theirs.tensor(values) for values in program.leaves]
    for _ in range(rng.integers(3, 13)):
        line = draw_line(rng, pool)
        value = run_line(theirs, line, pool)
        if not 0 < value.numel() <= MOST_ENTRIES:
            continue
        program.lines.append(line)
        pool.append(value)
        if not float(abs(value).max()) <= MOST_SIZE:
            program.lines.append(("entries", "tanh", (len(pool) - 1,), 0))
            pool.append(run_line(theirs, program.lines[-1], pool))
    last = pool[-min(3, len(pool)):]
    program.weights = [rng.uniform(0.5, 1.5, tuple(x.shape)) * rng.choice([-1.0, 1.0]) for x in last]
    return program


def draw_line(rng: np.random.Generator, pool: list[Any]) -> Line:
    """Return one line that the values of the pool allow, with a preference for later values."""
    place = len(pool) - 1 - min(int(rng.geometric(0.5)) - 1, len(pool) - 1)
    x, kind = pool[place], rng.integers(4)
    if kind == 1 and x.ndim and min(x.shape) > 1:
        return "along", pick(rng, ALONG), (place,), int(rng.integers(x.ndim))
    if kind == 2:
        others = [i for i, y in enumerate(pool) if broadcast(x.shape, y.shape)]
        return "pairs", pick(rng, PAIRS), (place, others[rng.integers(len(others))]), 0
    if kind == 3 and x.ndim >= 2 and min(x.shape) > 1:
        return "matrices", pick(rng, MATRICES), (place,), 0
    return "entries", pick(rng, ENTRIES), (place,), 0


def pick(rng: np.random.Generator, table: dict[str, Callable[..., Any]]) -> str:
    """Return a random name."""
    return list(table)[rng.integers(len(table))]


def broadcast(one: Any, other: Any) -> bool:
    """Return whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(tuple(one)[::-1], tuple(other)[::-1], strict=False))


# The ways of walking, first PyTorch's and then this engine's ----


def in_torch(program: Program, leaves: list[np.ndarray]) -> list[np.ndarray]:
    """Return the outcome and the gradients in PyTorch, by the program's kind of walk."""
    side = sides("float32" if program.way == "float32" else "float64")[0]
    torch, given = side.m, [side.leaf(values) for values in leaves]
    pool = program.pool(side, given)
    extra: list[Any] = []
    middle = pool[len(pool) // 2]
    if program.way == "hooks" and middle.requires_grad:
        middle.register_hook(lambda gradient: gradient * 1.5)
    if program.way == "retained" and middle.requires_grad:
        middle.retain_grad()
        extra.append(middle)
    outcome = program.outcome(side, given, pool)
    if not outcome.requires_grad:
        return [outcome.detach().numpy(), *(np.zeros(each.shape) for each in leaves)]
    if program.way == "create_graph":
        slopes = torch.autograd.grad(outcome, given, create_graph=True, materialize_grads=True)
        total: Any = sum((each * each).sum() for each in slopes)
        second = torch.autograd.grad(total, given, materialize_grads=True) if total.requires_grad else [
            torch.zeros_like(each) for each in given]
        return [outcome.detach().numpy(), *(each.detach().numpy(force=True) for each in (*slopes, *second))]
    outcome.backward(retain_graph=program.way == "twice")
    if program.way == "twice":
        outcome.backward()
    found = [outcome.detach().numpy(), *(gradient_of(each) for each in (*given, *extra))]
    if program.way != "jvp":
        return found
    return [found[0], np.asarray(sum(np.sum(g * np.cos(v)) for g, v in zip(found[1:], leaves, strict=True)))]


def gradient_of(leaf: Any) -> np.ndarray:
    """Return a leaf's gradient, or zeros of its dtype if it has none."""
    if leaf.grad is None:
        return np.zeros_like(leaf.detach().numpy())
    return leaf.grad.detach().numpy().copy()


def here(program: Program, leaves: list[np.ndarray]) -> list[np.ndarray]:
    """Return the outcome and the gradients in this engine, by the program's kind of walk."""
    import micrograd_plus as mg

    side = sides("float32" if program.way == "float32" else "float64")[1]
    given = [side.leaf(values) for values in leaves]
    if program.way == "jvp":
        out, slope = mg.jvp(lambda *x: program.outcome(side, [*x]), tuple(leaves), tuple(np.cos(v) for v in leaves))
        return [out.numpy(), slope.numpy()]
    if program.way == "grad":
        value, slopes = mg.value_and_grad(lambda *x: program.outcome(side, [*x]), tuple(range(len(leaves))))(*leaves)
        return [value.numpy(), *(each.numpy() for each in slopes)]
    if program.way == "checkpoint":
        return take_walk(program, given, mg.checkpoint(lambda *x: program.outcome(side, [*x]), *given))
    if program.way == "recorded":
        with mg.record() as trace:
            found = take_walk(program, given, program.outcome(side, given))
        loaded = mg.load_trace(trace.to_json()) if program.case % SEVERAL == 0 else trace
        if len(loaded) != len(trace) or not len(trace):
            raise AssertionError(f"{len(trace)} steps were recorded, {len(loaded)} read back")
        return found
    if program.way == "unfused":
        with mg.unfuse():
            return take_walk(program, given, program.outcome(side, given))
    pool, extra = program.pool(side, given), []
    middle = pool[len(pool) // 2]
    if program.way == "hooks" and middle.requires_grad:
        middle.register_hook(lambda gradient: gradient * 1.5)
    if program.way == "retained" and middle.requires_grad:
        middle.retain_grad()
        extra.append(middle)
    return take_walk(program, given, program.outcome(side, given, pool), extra)


def take_walk(program: Program, given: list[Any], outcome: Any, extra: list[Any] | None = None) -> list[np.ndarray]:
    """Return the outcome and the gradients of the leaves."""
    if not outcome.requires_grad:
        return [outcome.numpy(), *(np.zeros(each.shape) for each in given)]
    if program.way == "create_graph":
        outcome.backward(create_graph=True)
        slopes = [each.grad if each.grad is not None else each.detach() * 0 for each in given]
        first = [each.numpy() for each in slopes]
        for each in given:
            each.grad = None
        total: Any = sum((each * each).sum() for each in slopes)
        if total.requires_grad:
            total.backward()
        return [outcome.numpy(), *first, *(gradient_of(each) for each in given)]
    outcome.backward(retain_graph=program.way != "freed")
    if program.way == "twice":
        outcome.backward()
    return [outcome.numpy(), *(gradient_of(each) for each in (*given, *(extra or [])))]


# The comparison -------------


def run(case: int) -> str:
    """Return the result of one program."""
    program = make_program(case)
    expected, found = in_torch(program, program.leaves), here(program, program.leaves)
    within = {"float32": 2e-3, "create_graph": 1e-6}.get(program.way, 1e-8)
    wrong = difference(found, expected, within)
    if not wrong:
        return SAME
    if jumps(program, in_torch, expected, within) or jumps(program, here, found, within):
        return TIE
    return f"{program.way}: {wrong}\n{program_text(program)}"


def jumps(program: Program, side: Callable[..., list[np.ndarray]], numbers: list[np.ndarray], within: float) -> bool:
    """Return whether rounding errors at the leaves change the numbers of a side: at a kink or a tie."""
    rng, far = dice("moved", program.case), 1e-4 if program.way == "float32" else 1e-12
    for _ in range(MOVES):
        moved = [values * (1 + far * rng.standard_normal(values.shape)) for values in program.leaves]
        if difference(side(program, moved), numbers, within):
            return True
    return False


def difference(found: list[Any], expected: list[Any], within: float) -> str:
    """Return a word for the first difference, or nothing if all is equal."""
    if len(found) != len(expected):
        return f"{len(found)} numbers for {len(expected)}"
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"number {place} is {one.dtype}{one.shape} for {other.dtype}{other.shape}"
        size = max(1.0, float(np.max(np.abs(other), initial=0, where=np.isfinite(other))))
        if not np.allclose(one, other, rtol=within, atol=within * size, equal_nan=True):
            off = f"{np.nanmax(np.abs(one - other)):.1e}"
            return f"number {place} is off by {off}: {one.ravel()[:4]}, not {other.ravel()[:4]}"
    return ""


def program_text(program: Program) -> str:
    """Return the program as readable text."""
    said = [f"v{i} = leaf{values.shape}" for i, values in enumerate(program.leaves)]
    for table, name, places, axis in program.lines:
        given = ", ".join([f"v{place}" for place in places] + [str(axis)] * (table == "along"))
        said.append(f"v{len(said)} = {table}: {name}({given})")
    return "\n".join(f"    {line}" for line in [*said, f"sum of the last {len(program.weights)}, weighed"])
