"""Random programs with user-defined operations whose rules return and keep what they like.

Their rules return one array twice, views, `upstream`, inputs, saved values, parameters, constants and remembered
arrays, and write into `upstream`. Each program walks back twice on arrays. The gradients must equal those of the walk
on tensors, and where the rules are derivatives, finite differences and forward mode. No leaf, result, parameter or
constant may change.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import micrograd_plus as mg

from .harness import SAID, SAME, dice

SIZE = 3
CONSTANT = np.array([0.5, -1.5, 2.0])
TABLE = {"weights": [np.array([1.5, 0.5, -1.0]), 2.0]}
REMEMBERED: list[Any] = []
"""Arrays and tensors that rules returned in the present case, and copies of them."""


class Word(NamedTuple):
    """An operation of `inputs` vectors; `is_exact` if its rules are derivatives, `may_refuse` if they write."""

    call: Callable[..., Any]
    inputs: int
    is_exact: bool = True
    may_refuse: bool = False


def like(array: np.ndarray, upstream: Any) -> Any:
    """Return a constant as the kind of value that upstream is: the array itself, or a tensor of it."""
    return array if isinstance(upstream, np.ndarray) else mg.tensor(array)


def remember(value: Any) -> Any:
    """Keep what a rule returns, with a copy of its entries."""
    REMEMBERED.append((value, np.array(value.numpy() if isinstance(value, mg.Tensor) else value)))
    return value


def rows_of(both: Any) -> tuple[Any, Any]:
    """Return two rows, which are views of one array."""
    return both[0], both[1]


def rule_of_pair(make: Callable[[Any], tuple[Any, Any]]) -> Callable[..., Any]:
    """Return a rule for two inputs that makes both results of twice upstream."""
    return lambda upstream: make(2 * upstream)


# Rules of two inputs of 2x + 2y, and of one input of 2x; the second ones are no derivatives.
PAIRS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "twice": lambda g: (g, g),
    "view": lambda g: (g, g[:]),
    "backwards": lambda g: (g[::-1][::-1], g),
    "rows": lambda g: rows_of(np.stack([g, g]) if isinstance(g, np.ndarray) else mg.stack([g, g])),
    "remembered": lambda g: (remember(g), g),
}
SINGLES: dict[str, Callable[[Any], Any]] = {
    "new": lambda upstream: 2 * upstream,
    "remembered": lambda upstream: remember(2 * upstream),
    "view": lambda upstream: (2 * upstream)[::-1][::-1],
    "remembered view": lambda upstream: remember(2 * upstream)[:],
    "broadcast": lambda upstream: (2 * upstream)[None][0],
}
WRONG: dict[str, Callable[..., Any]] = {
    "upstream": lambda upstream: upstream,
    "input": lambda upstream, x: x,
    "result": lambda upstream, out: out,
    "view of the input": lambda upstream, x: x[:],
    "constant": lambda upstream: like(CONSTANT, upstream),
    "view of a constant": lambda upstream: like(CONSTANT[::-1], upstream),
}


def write_into_upstream(upstream: Any) -> Any:
    """Return twice upstream, written into upstream itself."""
    upstream *= 2
    return upstream


def of_one(decorate: Callable[..., Any], rule: Callable[..., Any]) -> Any:
    """Return an operation 2x with this rule."""
    if decorate is mg.custom_vjp:
        call = decorate(lambda x: 2 * x)
    else:
        def double(xp: Any, x: Any) -> Any:
            return 2 * x

        call = decorate(double)
    call.rule("x")(rule)
    return call


def of_two(decorate: Callable[..., Any], rule: Callable[..., Any], *, separate: bool = False) -> Any:
    """Return an operation 2x + 2y with this rule for both inputs, or with one for each."""
    if decorate is mg.custom_vjp:
        call = decorate(lambda x, y: 2 * x + 2 * y)
    else:
        def double_both(xp: Any, x: Any, y: Any) -> Any:
            return 2 * x + 2 * y

        call = decorate(double_both)
    for names in ((("x",), ("y",)) if separate else (("x", "y"),)):
        call.rule(*names)(rule)
    return call


@cache
def words() -> dict[str, Word]:
    """Return all operations by name; they are defined once."""
    found = {
        "tanh": Word(mg.tanh, 1), "sin": Word(mg.sin, 1), "multiply": Word(mg.multiply, 2), "add": Word(mg.add, 2),
        "getitem": Word(lambda x: x[::-1], 1), "sum": Word(lambda x, y: x.sum() * y, 2),
    }  # fmt: skip
    for decorate in (mg.op, mg.custom_vjp):
        name = decorate.__name__
        for style, make in PAIRS.items():
            found[f"{name}, {style}"] = Word(of_two(decorate, rule_of_pair(make)), 2)
        for style, rule in SINGLES.items():
            found[f"{name}, {style}, one"] = Word(of_one(decorate, rule), 1)
            found[f"{name}, {style}, each"] = Word(of_two(decorate, rule, separate=True), 2)
        for style, rule in WRONG.items():
            found[f"{name}, {style}, wrong"] = Word(of_one(decorate, rule), 1, is_exact=False)
        writes = decorate is mg.op
        found[f"{name}, writes"] = Word(of_two(decorate, write_into_upstream, separate=True), 2, may_refuse=writes)
    return found | elementwise_words() | words_with_parameters()


def elementwise_words() -> dict[str, Word]:
    """Return elementwise, linear and variadic operations, and one with a tangent rule."""

    @mg.elementwise(x=lambda x: x)
    def half_square(xp: Any, x: Any) -> Any:
        return x * x / 2

    @mg.elementwise(x=lambda out: out)
    def own_exp(xp: Any, x: Any) -> Any:
        return xp.exp(x)

    @mg.elementwise(x=lambda y: y, y=lambda x: x)
    def own_product(xp: Any, x: Any, y: Any) -> Any:
        return x * y

    @mg.linear(x=lambda upstream: upstream, y=lambda upstream: upstream)
    def own_sum(xp: Any, x: Any, y: Any) -> Any:
        return x + y

    def own_total(xp: Any, parts: Any) -> Any:
        return parts[0] + parts[1]

    def own_squares(xp: Any, parts: Any) -> Any:
        return sum(part * part for part in parts) / 2 + 1

    total = mg.variadic(parts=lambda upstream, parts: (upstream, upstream))(own_total)
    squares = mg.variadic(parts=lambda upstream, parts: [upstream * part for part in parts])(own_squares)

    @mg.custom_jvp
    def with_tangent(x: Any, y: Any) -> Any:
        return x * y

    @with_tangent.tangent
    def _(x: Any, y: Any, x_tangent: Any, y_tangent: Any) -> Any:
        return x * y_tangent + y * x_tangent

    return {
        "half square": Word(half_square, 1), "own exp": Word(lambda x: own_exp(mg.tanh(x)), 1),
        "own product": Word(own_product, 2), "own sum": Word(own_sum, 2), "tangent": Word(with_tangent, 2),
        "variadic": Word(lambda x, y: total([x, y]), 2), "squares": Word(lambda x, y: squares([x, y]), 2),
        "stack": Word(lambda x, y: mg.stack([x, y])[1] * mg.concatenate([y, x])[:SIZE], 2),
    }  # fmt: skip


def words_with_parameters() -> dict[str, Word]:
    """Return operations whose rules return a parameter, or write into it."""

    @mg.op
    def weigh(xp: Any, x: Any, *, table: Any) -> Any:
        return x * like(table["weights"][0], x)

    weigh.rule("x")(lambda upstream, table: upstream * like(table["weights"][0], upstream))

    @mg.op
    def forget(xp: Any, x: Any, *, table: Any) -> Any:
        return x * like(table["weights"][0], x)

    forget.rule("x")(lambda upstream, table: like(table["weights"][0], upstream))
    return {
        "weigh": Word(lambda x: weigh(x, table=TABLE), 1),
        "forget": Word(lambda x: forget(x, table=TABLE), 1, is_exact=False),
    }


Line = tuple[str, tuple[int, ...]]


def draw(case: int) -> tuple[list[np.ndarray], list[Line], np.ndarray]:
    """Return the leaves, the lines and the weights of a program."""
    rng = dice("rules", case)
    leaves = [rng.uniform(-1, 1, SIZE) for _ in range(int(rng.integers(1, 4)))]
    names, lines = sorted(words()), []
    for number in range(int(rng.integers(2, 9))):
        name = names[int(rng.integers(len(names)))]
        count = len(leaves) + number
        lines.append((name, tuple(int(i) for i in rng.integers(count, size=words()[name].inputs))))
    return leaves, lines, rng.uniform(0.5, 1.5, (len(leaves) + len(lines), SIZE))


def run_lines(leaves: list[Any], lines: list[Line]) -> list[Any]:
    """Return all values of a program; those of its lines stay small."""
    pool = list(leaves)
    for name, places in lines:
        pool.append(words()[name].call(*[mg.tanh(pool[i]) if i >= len(leaves) else pool[i] for i in places]))
    return pool


def loss_of(pool: list[Any], weights: np.ndarray) -> Any:
    """Return the weighted sum of all values."""
    return sum((x * mg.tensor(w)).sum() for x, w in zip(pool, weights, strict=True))


def values_of(pool: list[Any]) -> list[Any]:
    """Return copies of everything that must not change."""
    return [x.numpy() for x in pool] + [CONSTANT.copy(), TABLE["weights"][0].copy()]


def same(a: Any, b: Any, tolerance: float = 1e-10) -> bool:
    """Return True if all arrays agree."""
    return all(np.allclose(x, y, rtol=tolerance, atol=tolerance) for x, y in zip(a, b, strict=True))


def run(case: int) -> str:
    """Run a program with every kind of walk, and return what came of it."""
    arrays, lines, weights = draw(case)
    REMEMBERED.clear()
    leaves = [mg.tensor(a, requires_grad=True) for a in arrays]
    pool = run_lines(leaves, lines)
    before = values_of(pool)
    loss = loss_of(pool, weights)
    try:
        walks = [[loss.gradients()[x.node] for x in leaves] for _ in range(2)]
        with mg.record():
            walks.append([loss.gradients()[x.node] for x in leaves])
        walks.append([loss.gradients(create_graph=True)[x.node].numpy() for x in leaves])
    except ValueError as error:
        is_expected = any(words()[name].may_refuse for name, _ in lines) and "must not write" in str(error)
        unchanged = same(values_of(pool), before, 0)
        return SAID if is_expected and unchanged else f"{type(error).__name__}: {error}; values unchanged: {unchanged}"
    outcome = SAME
    if not same(values_of(pool), before, 0):
        outcome = "a leaf, a result, a parameter or a constant has changed"
    elif not all(np.array_equal(getattr(value, "_data", value), copy) for value, copy in REMEMBERED):
        outcome = "what a rule remembers has changed"
    elif not all(same(walks[0], other) for other in walks[1:]):
        outcome = f"gradients differ between walks: {walks}"
    elif all(words()[name].is_exact for name, _ in lines):
        slope = sum(float(g @ d) for g, d in zip(walks[0], directions(arrays), strict=True))
        if not is_close(slope, slope_of_differences(arrays, lines, weights), 1e-6):
            outcome = "gradients differ from finite differences"
        elif not any(words()[name].may_refuse for name, _ in lines):
            pushes = [slope_of_push(arrays, lines, weights, block) for block in (nullcontext(), mg.record())]
            if not all(is_close(slope, pushed, 1e-9) for pushed in pushes):
                outcome = f"forward mode gives {pushes} for {slope}"
    return outcome if outcome is SAME else f"{outcome}, in {lines}"


def directions(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return the direction in which each leaf is moved."""
    return [np.cos(np.arange(SIZE) + i) for i in range(len(arrays))]


def is_close(a: float, b: float, tolerance: float) -> bool:
    """Return True for two slopes that agree."""
    return abs(a - b) <= tolerance * (1 + abs(a))


def slope_of_differences(arrays: list[np.ndarray], lines: list[Line], weights: np.ndarray) -> float:
    """Return the slope of a program's loss by central differences."""
    step = 1e-5
    ends = []
    with mg.no_grad():
        for sign in (1, -1):
            moved = [mg.tensor(a + sign * step * d) for a, d in zip(arrays, directions(arrays), strict=True)]
            ends.append(loss_of(run_lines(moved, lines), weights).item())
    return (ends[0] - ends[1]) / (2 * step)


def slope_of_push(arrays: list[np.ndarray], lines: list[Line], weights: np.ndarray, block: Any) -> float:
    """Return the slope of a program's loss by forward mode, in a block; in a recorded one, from its last step."""
    loss = lambda *leaves: loss_of(run_lines(list(leaves), lines), weights)
    with block as trace:
        _, moved = mg.jvp(loss, tuple(arrays), tuple(directions(arrays)))
    return moved.item() if trace is None else float(trace.steps[-1].after)
