"""Search for an expression of an exercise's values that gives a student's wrong numbers.

If no known mistake and no edit of the right answer fits, the search describes what the student computed: a value, or
the right result with a factor or a term too many. It builds columns of numbers, one for each short expression of the
values that an answer can read, and looks for two columns whose sum, difference, product or quotient is the student's
result. It need not try each pair: a fixed projection turns each column, and its logarithm, into one number, and those
of two columns add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from ..backends import devices
from .rule_answers import can_unbroadcast
from .sandboxed.namespace import count_along, mT, normalize_axes, rows, sum_to_shape

np = devices.device("cpu").library

RIGHT = "right"
"""The name of the right result in an expression."""
FEWEST_NUMBERS, MOST_NUMBERS = 3, 1500
"""Fewer different numbers are no evidence. Calls with more take too long."""
MOST_CELLS = 600_000
"""The number of entries of all columns together."""
MOST_SIMPLE, MOST_PAIRED, MOST_SUMMED, MOST_ROWS = 1000, 2500, 4500, 7000
"""The number of rows after each stage: functions of values, pairs, sums along axes, and values with sums."""
LONGEST = 9
"""The number of values and functions of the longest expression that still explains something."""
CLOSE = 1e-8

Node = tuple[Any, ...]
"""An expression: its operator and its operands, which are nodes or, for a value, its text."""


class Call(NamedTuple):
    """One call of a student's answer: the values by name, the student's result, and the right one if shapes agree."""

    values: dict[str, Any]
    result: Any
    right: Any


class Columns:
    """Expressions with their numbers in all calls: a row for each, broadcast to the shapes of the results."""

    def __init__(self, shapes: Sequence[tuple[int, ...]]):
        self.shapes = list(shapes)
        self.ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        self.weights = np.random.default_rng(7).uniform(0.5, 1.5, self.ends[-1])
        self.numbers, self.sizes = np.zeros((0, self.ends[-1])), np.zeros(0, int)
        self.nodes: list[Node] = []
        self.waiting: list[tuple[Any, Sequence[Node], Any]] = []

    def add(self, numbers: Any, nodes: Sequence[Node], sizes: Any) -> None:
        """Add rows. They count from the next call of `settle` on."""
        self.waiting.append((numbers, nodes, np.asarray(sizes, int)))

    def settle(self, most: int) -> int:
        """Take in the waiting rows, except repeated ones and rows with a number that is not finite.

        The shortest are taken, until there are `most` rows. Return the number of rows; earlier rows keep their places.
        """
        room = max(0, min(most, MOST_CELLS // int(self.ends[-1])) - len(self.nodes))
        keys = np.concatenate([numbers @ self.weights for numbers, _, _ in self.waiting])
        sizes = np.concatenate([sizes for _, _, sizes in self.waiting])
        nodes = [node for _, some, _ in self.waiting for node in some]
        fine = np.flatnonzero(np.isfinite(keys))  # as are all numbers of such a row, since weights are positive
        fine = fine[np.argsort(sizes[fine], kind="stable")]
        rounded = round_digits(np.concatenate([self.numbers @ self.weights, keys[fine]]))
        _, first = np.unique(rounded, return_index=True)
        first = np.sort(first[first >= len(self.nodes)])[:room] - len(self.nodes)
        kept = fine[first]
        self.numbers = np.concatenate([self.numbers, self.take_waiting(kept)])
        self.sizes = np.concatenate([self.sizes, sizes[kept]])
        self.nodes += [nodes[i] for i in kept]
        self.waiting = []
        return len(self.nodes)

    def take_waiting(self, rows: Any) -> Any:
        """Return the numbers of some waiting rows, without copying the others."""
        taken, start = np.empty((len(rows), int(self.ends[-1]))), 0
        for numbers, _, _ in self.waiting:
            here = (rows >= start) & (rows < start + len(numbers))
            taken[here] = numbers[rows[here] - start]
            start += len(numbers)
        return taken

    def split(self, numbers: Any) -> list[Any]:
        """Return rows as one array for each call, in the shape of its result."""
        parts = np.split(numbers, self.ends[:-1], axis=1)
        return [part.reshape(len(part), *shape) for shape, part in zip(self.shapes, parts, strict=True)]

    def join(self, parts: Sequence[Any]) -> Any:
        """Return the rows of all calls, each part broadcast to the shape of its call's result."""
        return np.concatenate([np.broadcast_to(part, (len(part), *shape)).reshape(len(part), -1)
                               for shape, part in zip(self.shapes, parts, strict=True)], axis=1)  # fmt: skip

    def add_values(self, values: Mapping[str, Sequence[Any]], kind: str = "value") -> None:
        """Add a row for each value, given as an array for each call."""
        for text, parts in values.items():
            self.add(self.join([np.asarray(part, float)[None] for part in parts]), [(kind, text)], [1])

    def keep_entries(self, kept: Any) -> None:
        """Forget the numbers of all entries of the results except some."""
        self.numbers, self.weights = self.numbers[:, kept], self.weights[kept]


def round_digits(numbers: Any) -> Any:
    """Return numbers to nine digits."""
    scale = 10.0 ** (8 - np.floor(np.log10(np.abs(numbers) + 1e-300)))
    return np.round(numbers * scale) / scale


def find_expression(calls: Sequence[Call], hidden: Sequence[str] = ()) -> str | None:
    """Return the shortest expression that gives the student's result in all calls, in words; None if there is none.

    `hidden` are names of values that no expression reads.
    """
    columns = Columns([np.shape(call.result) for call in calls])
    goal = np.concatenate([np.ravel(call.result) for call in calls])
    if len(goal) > MOST_NUMBERS:
        return None
    is_evidence = len(np.unique(round_digits(goal))) >= FEWEST_NUMBERS
    if not is_evidence and np.allclose(goal * SIMPLE, np.round(goal * SIMPLE)):
        return None
    right = None
    if all(call.right is not None for call in calls):
        right = np.concatenate([np.ravel(call.right) for call in calls])
    with np.errstate(all="ignore"):
        ratio = common_ratio(goal, right) if right is not None else None
        if ratio is not None:
            return describe_ratio(ratio)
        build_columns(columns, calls, hidden)
        found = min(pairs_that_give(columns, goal) if is_evidence else rows_that_give(columns, goal), default=None)
        if found is not None and (is_evidence or found[0] <= SHORT):
            return in_words(found[1]) if found[1] != ("value", RIGHT) else None
        is_wrong = np.zeros(0, bool) if right is None else ~is_near(goal, right)
        if not is_evidence or not FEWEST_NUMBERS <= np.count_nonzero(is_wrong) < len(goal):
            return None
        where = describe_entries(columns, is_wrong)
        if not np.any(goal[is_wrong]):
            return f"right at some entries, but {where}, every number is 0"
        columns.keep_entries(is_wrong)
        found = min(pairs_that_give(columns, goal[is_wrong]), default=None)
    return f"right at some entries, but {where}, {in_words(found[1])}" if found is not None else None


SIMPLE = 24
"""Numbers that are multiples of 1 / 24 come out by accident."""
SHORT = 3
"""The size of expressions that two numbers are evidence for."""


def common_ratio(goal: Any, right: Any) -> float | None:
    """Return the number by which all right numbers are multiplied; None if there is no such number."""
    (some,) = np.nonzero(right)
    ratio = float(goal[some[0]] / right[some[0]]) if len(some) else 0.0
    return ratio if ratio and is_equal(goal, ratio * right) else None


def describe_ratio(ratio: float) -> str:
    """Return words for a result that is the right one times the same number in every call."""
    return (f"every number is {Fraction(ratio).limit_denominator(1000)} times the right one: "
            f"a factor too many, or a division or a count left out")  # fmt: skip


def describe_entries(columns: Columns, chosen: Any) -> str:
    """Return words for some entries of the results: where a value is positive, or not, or just the others."""
    for node, numbers in zip(columns.nodes, columns.numbers, strict=True):
        if node[0] == "value" and node[1] != RIGHT:
            for words, found in {"> 0": numbers > 0, "< 0": numbers < 0, "== 0": numbers == 0}.items():
                if np.array_equal(found, chosen):
                    return f"where `{node[1]} {words}`"
    return "at the others"


# Columns --------------------


UNARY: dict[str, Callable[[Any], Any]] = {
    "-{}": np.negative, "square({})": np.square, "sqrt({})": np.sqrt, "exp({})": np.exp, "log({})": np.log,
    "tanh({})": np.tanh, "sigmoid({})": lambda x: 1 / (1 + np.exp(-x)), "sign({})": np.sign, "abs({})": np.abs,
    "(1 - {})": lambda x: 1 - x, "1.0 * ({} > 0)": lambda x: 1.0 * (x > 0), "cos({})": np.cos, "sin({})": np.sin,
    "(1 - square({}))": lambda x: 1 - x * x, "(1 - square(tanh({})))": lambda x: 1 - np.tanh(x) ** 2,
    "{0} * (1 - {0})": lambda x: x * (1 - x), "log(abs({}))": lambda x: np.log(np.abs(x)),
    "sigmoid({0}) * (1 - sigmoid({0}))": lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
}  # fmt: skip
"""Functions of one value that students use, and the slopes that they know, as they write them."""
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "*": np.multiply, "+": np.add, "-": np.subtract, "/": np.divide,
}  # fmt: skip


def build_columns(columns: Columns, calls: Sequence[Call], hidden: Sequence[str]) -> None:
    """Fill the columns: values, functions of them, sums along axes, and what two values give together."""
    columns.add_values(common_values(calls, hidden))
    add_products_of_matrices(columns, calls, hidden)
    add_own_sums(columns, calls, hidden)
    plain = columns.settle(MOST_SIMPLE)
    columns.add_values({"1": [1] * len(calls), "2": [2] * len(calls)}, "number")
    columns.add_values(common_counts(calls), "count")
    add_sums_to_shape(columns, calls, hidden)
    for name, function in UNARY.items():
        columns.add(function(columns.numbers[:plain]), [(name, each) for each in columns.nodes], columns.sizes + 1)
    simple = columns.settle(MOST_SIMPLE)
    add_pairs(columns, range(plain), simple)
    paired = columns.settle(MOST_PAIRED)
    last = min(paired, MOST_TERMS)
    for words, axes in axes_of(calls).items():
        terms = columns.split(columns.numbers[:last])
        sums = columns.join([np.sum(part, axis=tuple(each + 1 for each in axis), keepdims=True)
                             for part, axis in zip(terms, axes, strict=True)])  # fmt: skip
        counts = columns.join([np.full((1,) * (len(shape) + 1), float(np.prod([shape[each] for each in axis])))
                               for shape, axis in zip(columns.shapes, axes, strict=True)])  # fmt: skip
        columns.add(sums, [("sum", each, words) for each in columns.nodes[:last]], columns.sizes[:last] + 1)
        columns.add(sums / counts, [("mean", each, words) for each in columns.nodes[:last]], columns.sizes[:last] + 1)
    summed = columns.settle(MOST_SUMMED)
    add_pairs(columns, range(plain), min(summed, paired + MOST_TERMS), paired)
    columns.settle(MOST_ROWS)


MOST_TERMS = 400
"""The number of expressions, the shortest, that are summed along axes, and of sums that are combined with values."""


def add_own_sums(columns: Columns, calls: Sequence[Call], hidden: Sequence[str]) -> None:
    """Add sums and means of single values along the values' axes, before they are broadcast."""
    for name, parts in arrays_of(calls, hidden).items():
        for words, axis in OWN_AXES.items():
            for reduction in ("sum", "mean"):
                made = [align(reduce_own(reduction, part, axis), shape, call)
                        for part, shape, call in zip(parts, columns.shapes, calls, strict=True)]  # fmt: skip
                if not any(each is None for each in made):
                    rows_of_calls = columns.join([np.asarray(each)[None] for each in made])
                    columns.add(rows_of_calls, [(reduction, ("value", name), words)], [2])


OWN_AXES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "": lambda n: tuple(range(n)), "0": lambda n: (0,), "-1": lambda n: (n - 1,), "-2": lambda n: (n - 2,),
    "all but the last": lambda n: tuple(range(n - 1)), "all but the first": lambda n: tuple(range(1, n)),
}  # fmt: skip
"""Axes of a value by itself, given the number of its axes."""


def reduce_own(name: str, value: Any, axis: Callable[[int], tuple[int, ...]]) -> Any:
    """Return a sum or mean of a value along some of its own axes, which are dropped; None if it has no such axis."""
    axes = axis(np.ndim(value))
    return None if any(each < 0 for each in axes) else getattr(np, name)(value, axis=axes)


def add_pairs(columns: Columns, left: range, stop: int, start: int = 0) -> None:
    """Add what each row of `left` gives together with each row from `start` to `stop`."""
    nodes, sizes, numbers = columns.nodes[start:stop], columns.sizes[start:stop], columns.numbers[start:stop]
    for i in left[:MOST_FIRST]:
        node, own, size = columns.nodes[i], columns.numbers[i], columns.sizes[i]
        for name, function in BINARY.items():
            counts_fit = name in "*/" and not is_constant(node)
            fits = [k for k, other in enumerate(nodes) if other[0] != "count" or counts_fit]
            columns.add(function(own, numbers[fits]), [(name, node, nodes[k]) for k in fits], sizes[fits] + size)


SETTINGS = ("axis", "axes", "keepdims", "ddof", "stride", "padding", "dilation", "groups")
"""Parameters that are no numbers to compute with."""


def is_constant(node: Node) -> bool:
    """Return whether an expression is a number or a count."""
    return node[0] in ("number", "count")


MOST_FIRST = 16
"""The number of values, the simplest, that are combined with all other rows."""


def common_values(calls: Sequence[Call], hidden: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values that can be broadcast to the result of every call, and the right results."""
    found: dict[str, list[Any]] = {}
    for name in sorted(calls[0].values, key=lambda name: name == "out"):  # an input is plainer
        if name not in (*SETTINGS, *hidden):
            parts = [align(call.values.get(name), np.shape(call.result), call) for call in calls]
            if all(part is not None for part in parts):
                found[name] = parts
    if all(call.right is not None for call in calls):
        found[RIGHT] = [call.right for call in calls]
    return found


def align(value: Any, shape: tuple[int, ...], call: Call) -> Any:
    """Return a value in a form that can be broadcast to a shape: the result of a reduction is repeated."""
    if not is_numeric(value):
        return None
    value = np.asarray(value, float)
    forms = [value.shape]
    if "axis" in call.values and isinstance(call.values["axis"], (int, tuple, type(None))):
        axes = normalize_axes(shape, call.values["axis"])
        forms.append(tuple(1 if i in axes else n for i, n in enumerate(shape)))
    if value.ndim == 1 and len(shape) > 1:
        forms.append((1, len(value), *[1] * (len(shape) - 2)))
    if value.shape == shape[: value.ndim]:
        forms.append((*value.shape, *[1] * (len(shape) - value.ndim)))
    for form in forms:
        if value.size == int(np.prod(form)) and can_unbroadcast(shape, form):
            return value.reshape(form)
    return None


def is_numeric(value: Any) -> bool:
    """Return whether a value is a real number, or an array of real numbers."""
    is_number = isinstance(value, (np.ndarray, float, int, np.generic)) and not isinstance(value, bool)
    return is_number and np.asarray(value).dtype.kind in "fiub"


def common_counts(calls: Sequence[Call]) -> dict[str, list[Any]]:
    """Return counts of entries of every call."""
    shapes = [np.shape(call.result) for call in calls]
    counts = {"size": [int(np.prod(shape)) for shape in shapes], "ndim": list(map(len, shapes))}
    if all(shapes):
        counts |= {"shape[0]": [shape[0] for shape in shapes], "shape[-1]": [shape[-1] for shape in shapes]}
    if all(isinstance(call.values.get("axis", ""), (int, tuple, type(None))) for call in calls) and all(shapes):
        counts["count_along(shape, axis)"] = [count_along(shape, call.values["axis"])
                                              for shape, call in zip(shapes, calls, strict=True)]  # fmt: skip
    for name in ("upstream", "x", "a"):
        if all(np.ndim(call.values.get(name)) for call in calls):
            counts[f"len({name})"] = [len(call.values[name]) for call in calls]
            counts[f"size({name})"] = [np.size(call.values[name]) for call in calls]
    return counts


def axes_of(calls: Sequence[Call]) -> dict[str, list[tuple[int, ...]]]:
    """Return the axes along which students sum, for each call, by the words that a sum shows."""
    shapes = [np.shape(call.result) for call in calls]
    found: dict[str, list[tuple[int, ...]]] = {}
    if all("axis" in call.values for call in calls):
        found["axis"] = [normalize_axes(shape, call.values["axis"]) for shape, call in zip(shapes, calls, strict=True)]
    found[""] = [tuple(range(len(shape))) for shape in shapes]
    if all(shapes):
        found |= {"-1": [(len(shape) - 1,) for shape in shapes], "0": [(0,)] * len(shapes)}
        if all(len(shape) > 1 for shape in shapes):
            found["all but 1"] = [tuple(i for i in range(len(shape)) if i != 1) for shape in shapes]
    return found


def arrays_of(calls: Sequence[Call], hidden: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values that are arrays of real numbers in every call."""
    return {name: [np.asarray(call.values[name], float) for call in calls] for name in calls[0].values
            if name not in hidden and all(is_numeric(call.values.get(name)) and np.ndim(call.values[name])
                                          for call in calls)}  # fmt: skip


FORMS: dict[str, Callable[[Any], Any]] = {
    "{}": lambda x: x, "mT({})": mT, "rows({})": rows, "rows({}).T": lambda x: rows(x).T,
}  # fmt: skip
"""The forms in which students multiply matrices."""


def add_products_of_matrices(columns: Columns, calls: Sequence[Call], hidden: Sequence[str]) -> None:
    """Add the products of two arrays as matrices, and of two vectors, that fit the results."""
    arrays = {name: parts for name, parts in arrays_of(calls, hidden).items() if name not in columns_of(columns)
              or any(part.ndim > 1 for part in parts)}  # fmt: skip
    forms = {form.format(name): [make(part) for part in parts] for name, parts in arrays.items()
             for form, make in FORMS.items() if min(part.ndim for part in parts) > 1}  # fmt: skip
    for (left, a), (right, b) in product(forms.items(), repeat=2):
        if all(x.shape[-1] == y.shape[-2] for x, y in zip(a, b, strict=True)):
            try:
                products = [x @ y for x, y in zip(a, b, strict=True)]
            except ValueError:
                continue
            node: Node = ("@", ("value", left), ("value", right))
            for words, reduce in REDUCE.items() :
                made = [fit(each, shape, reduce) for each, shape in zip(products, columns.shapes, strict=True)]
                if all(each is not None for each in made):
                    whole = node if words in ("", "sum_to_shape") else (words, node, "")
                    columns.add(columns.join([each[None] for each in made]), [whole], [2 if whole is node else 3])


def columns_of(columns: Columns) -> set[Any]:
    """Return the names of the values among the columns."""
    return {node[1] for node in columns.nodes if node[0] == "value"}


def fit(array: Any, shape: tuple[int, ...], reduce: Callable[[Any, tuple[int, ...]], Any]) -> Any:
    """Return an array that has a shape, or is reduced to it; None if it cannot be."""
    return array if array.shape == shape else reduce(array, shape) if can_unbroadcast(array.shape, shape) else None


REDUCE: dict[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "sum_to_shape": sum_to_shape,
    "mean_to_shape": lambda x, shape: sum_to_shape(x, shape) / (x.size / max(1, int(np.prod(shape)))),
    "max_to_shape": lambda x, shape: reduce_to_shape(np.max, x, shape),
    "first_of": lambda x, shape: x[(0,) * (x.ndim - len(shape))][tuple(slice(n) for n in shape)],
    "sum_of_new_axes_only": lambda x, shape: x.sum(tuple(range(x.ndim - len(shape))))[tuple(slice(n) for n in shape)],
    "first_of_new_axes_only": lambda x, shape: sum_to_shape(x[(0,) * (x.ndim - len(shape))], shape),
}  # fmt: skip
"""What students do with broadcasting: repeated entries are added, averaged, or all but the first are left out."""


def reduce_to_shape(reduction: Callable[..., Any], x: Any, shape: tuple[int, ...]) -> Any:
    """Return the reduction of an array to a shape that it was broadcast from."""
    lead = x.ndim - len(shape)
    return reduction(x, axis=tuple(i for i in range(x.ndim) if i < lead or shape[i - lead] == 1)).reshape(shape)


def add_sums_to_shape(columns: Columns, calls: Sequence[Call], hidden: Sequence[str]) -> None:
    """Add values, and products of two values, that are larger than the results and are reduced to their shapes."""
    arrays = arrays_of(calls, hidden)
    larger = {name: parts for name, parts in arrays.items()
              if all(can_unbroadcast(part.shape, shape) for part, shape in zip(parts, columns.shapes, strict=True))
              and any(part.shape != shape for part, shape in zip(parts, columns.shapes, strict=True))}  # fmt: skip
    made: list[tuple[Node, int, list[Any]]] = [(("value", name), 1, parts) for name, parts in larger.items()]
    for name, other in product(larger, arrays):
        try:
            product_ = [a * b for a, b in zip(arrays[name], arrays[other], strict=True)]
        except ValueError:
            continue
        if all(a.shape == b.shape for a, b in zip(product_, arrays[name], strict=True)):
            made.append((("*", ("value", name), ("value", other)), 2, product_))
    for node, size, parts in made:
        for words, reduce in REDUCE.items():
            reduced = [reduce(part, shape) for part, shape in zip(parts, columns.shapes, strict=True)]
            columns.add(columns.join([each[None] for each in reduced]), [(words, node, "")], [size + 1])


# Pairs ----------------------


def rows_that_give(columns: Columns, goal: Any) -> Iterator[tuple[int, Node]]:
    """Yield the size and the expression of each row that gives the goal."""
    for i in np.flatnonzero(is_near(columns.numbers @ columns.weights, goal @ columns.weights)):
        if is_equal(columns.numbers[i], goal):
            yield int(columns.sizes[i]), columns.nodes[i]


def pairs_that_give(columns: Columns, goal: Any) -> Iterator[tuple[int, Node]]:
    """Yield the size and the expression of each row, and of each pair of rows, that gives the goal."""
    yield from rows_that_give(columns, goal)
    numbers, sizes, nodes, weights = columns.numbers, columns.sizes, columns.nodes, columns.weights
    sums = numbers @ weights
    has_logs = (numbers != 0).all(axis=1)
    logs = np.where(has_logs, np.log(np.abs(np.where(has_logs[:, None], numbers, 1.0))) @ weights, np.nan)
    log_of_goal = np.log(np.abs(goal)) @ weights if (goal != 0).all() else np.nan
    yield from quotients_that_are_sums(columns, goal)
    searches = {"+": (sums, goal @ weights, -1), "-": (sums, goal @ weights, 1), "*": (logs, log_of_goal, -1),
                "/": (logs, log_of_goal, 1)}  # fmt: skip
    for name, (keys, key, sign) in searches.items():
        for i, j in near_pairs(keys, key, sign, sizes):
            if is_constant(nodes[i]) and is_constant(nodes[j]):
                continue
            if is_equal(BINARY[name](numbers[i], numbers[j]), goal):
                yield int(sizes[i] + sizes[j]), (name, nodes[i], nodes[j])
                break


def quotients_that_are_sums(columns: Columns, goal: Any) -> Iterator[tuple[int, Node]]:
    """Yield the size and the expression of each value times a sum or difference of two rows that gives the goal."""
    numbers, sizes, nodes, weights = columns.numbers, columns.sizes, columns.nodes, columns.weights
    keys = numbers @ weights
    for i, node in enumerate(nodes):
        if node[0] == "value" and (numbers[i] != 0).all():
            quotient = goal / numbers[i]
            for name, sign in {"+": -1, "-": 1}.items():
                for j, k in near_pairs(keys, quotient @ weights, sign, sizes):
                    if is_equal(BINARY[name](numbers[j], numbers[k]), quotient):
                        yield int(sizes[i] + sizes[j] + sizes[k]), ("*", node, (name, nodes[j], nodes[k]))
                        break


MOST_PAIRS = 200


def near_pairs(keys: Any, key: float, sign: int, sizes: Any) -> list[tuple[int, int]]:
    """Return pairs of rows whose keys have a sum (`sign` is -1) or difference that is the key, the shortest first."""
    if not np.isfinite(key):
        return []
    order = np.argsort(keys)  # NaN is last
    order = order[: np.count_nonzero(np.isfinite(keys))]
    ordered = keys[order]
    wanted = key - ordered if sign == -1 else ordered - key
    scale = CLOSE * (np.abs(ordered) + abs(key)) + 1e-300
    place = np.searchsorted(ordered, wanted - scale)
    found: list[tuple[int, int, int]] = []
    for further in range(3):
        near = np.minimum(place + further, len(ordered) - 1)
        for i in np.flatnonzero(np.abs(ordered[near] - wanted) <= scale):
            first, second = order[i], order[near[i]]
            size = int(sizes[first] + sizes[second])
            if size <= LONGEST:
                found.append((size, int(first), int(second)))
    return [(first, second) for _, first, second in sorted(found)[:MOST_PAIRS]]


def is_near(a: Any, b: Any) -> Any:
    """Return where numbers are equal up to rounding."""
    return np.abs(a - b) <= CLOSE * (np.abs(a) + np.abs(b))


def is_equal(a: Any, b: Any) -> bool:
    """Return whether two columns are equal up to rounding."""
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * float(np.max(np.abs(b), initial=0.0))))


# Words ----------------------


def in_words(node: Node) -> str:
    """Return the title of a mistake that gives the numbers of an expression."""
    match node:
        case ("*", ("value", "right"), other) | ("*", other, ("value", "right")):
            return f"the right result times {quote(other)}: a factor too many"
        case ("/", ("value", "right"), other):
            return f"the right result divided by {quote(other)}: a division too many, or a factor too few"
        case ("+", ("value", "right"), other) | ("+", other, ("value", "right")):
            return f"the right result plus {quote(other)}: a term too many, or the opposite term is left out"
        case ("-", ("value", "right"), other):
            return f"the right result minus {quote(other)}: this term is left out, or subtracted too much"
    text = quote(node)
    return f"your code computes {text}" + ", where `right_result` is what is due" * ("right_result" in text)


def quote(node: Any) -> str:
    """Return an expression in backquotes."""
    return f"`{write(node)[0]}`"


def write(node: Node) -> tuple[str, int]:
    """Return an expression as a student writes it, and how loosely it binds: 0 a value, 1 a product, 2 a sum."""
    name, first, *others = node
    if name == "value" or is_constant(node):
        return ("right_result" if first == RIGHT else first), 0
    if others and isinstance(others[0], tuple):
        loose = 2 if name in "+-" else 1
        left, right = enclose(first, loose), enclose(others[0], loose if name in "+*" else loose - 1)
        return f"{left} {name} {right}", loose
    if others:
        axis = f", axis={others[0]}" if others[0] not in ("", "axis") else ", axis" * bool(others[0])
        return f"{name}({write(first)[0]}{axis})", 0
    return name.format(enclose(first, 0)), 1 if name[0] in "-1{s" and not name.endswith("({})") else 0


def enclose(node: Node, loosest: int) -> str:
    """Return an operand, in brackets if it binds more loosely than it may."""
    text, loose = write(node)
    return f"({text})" if loose > loosest else text


__all__ = ["Call", "find_expression"]
