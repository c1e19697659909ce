"""Comparison of two traces, step by step up to the first difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..backends.shapes import is_sequence
from .json_in import load_trace
from .parts import Step
from .sentences import value_text
from .trace import Trace
from .values import Stored, host_array, mute_warnings, np, with_noun

WORDS = ("upstream", "local", "raw", "summed_axes", "contribution", "before", "after")
"""The fields in which two steps are compared, in the order in which a step is computed."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Difference:
    """The first difference of two walks: the steps, the field in which they differ, and what each has there.

    A step is None if its walk has ended.
    """

    step_a: int | None
    step_b: int | None
    word: str
    text: str
    a: Any = None
    b: Any = None
    largest: float | None = None

    def __repr__(self) -> str:
        return self.text


@dataclass(slots=True, eq=False, kw_only=True)
class GradientComparison:
    """The gradients of two leaves of one name: whether they are equal bit by bit, whether they are equal up to
    rounding, and the largest difference (None if the shapes differ)."""

    name: str
    a: Any
    b: Any
    exact: bool
    close: bool
    largest: float | None


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Comparison:
    """Result of comparing two traces: how many steps are equal from the start, the first difference, the gradients."""

    same: bool
    steps: int
    difference: Difference | None
    gradients: list[GradientComparison]

    def __repr__(self) -> str:
        if self.difference is None:
            return f"the same {with_noun(self.steps, 'step')}"
        are = "is" if self.steps == 1 else "are"
        return f"{with_noun(self.steps, 'step')} {are} the same, then: {self.difference.text}"


def compare(a: Any, b: Any, *, rtol: float = 1e-6, atol: float = 1e-9) -> Comparison:
    """Compare two traces step by step, up to the first difference.

    Steps are compared in their order: first which application sends to which input and node, then every field of the
    step. Numbers may differ by rounding. Names of values and the source of rules do not count.

    Args:
        a: a trace, or the path, text or data of one.
        b: another.
        rtol: how far apart two numbers may be, relative to their size.
        atol: how far apart numbers close to 0 may be.
    Returns: a `Comparison`.
    Raises: TraceError if `a` or `b` is not a trace.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as right:
        ...     (x * x).backward()
        >>> wrong = mg.tracing.replay(right, "replace")
        >>> mg.tracing.compare(right, wrong)
        1 step is the same, then: step 2 differs in what x holds after it: 6.0 and 3.0

    See: `cmp` in Karpathy's makemore, which compares gradients alone.
    """
    a, b = (each if isinstance(each, Trace) else load_trace(each, check=False) for each in (a, b))
    comparer = _Comparer(a, b, rtol, atol)
    difference = None
    count = 0
    for count in range(max(len(a.steps), len(b.steps))):
        difference = comparer.difference_at(count)
        if difference is not None:
            break
    else:
        count = len(a.steps)
    gradients = [*comparer.compare_gradients()]
    return Comparison(same=difference is None, steps=count, difference=difference, gradients=gradients)


class _Comparer:
    """Comparison in progress: which node of one trace corresponds to which of the other, as far as is known."""

    def __init__(self, a: Trace, b: Trace, rtol: float, atol: float):
        self.a, self.b, self.rtol, self.atol = a, b, rtol, atol
        self._b_of_a: dict[int, int] = {}
        self._a_of_b: dict[int, int] = {}

    def _match(self, a: int, b: int) -> bool:
        """Return whether two nodes can correspond; if so they do from now on."""
        return self._b_of_a.setdefault(a, b) == b and self._a_of_b.setdefault(b, a) == a

    def difference_at(self, index: int) -> Difference | None:
        """Return how the steps of one number differ; None if they do not."""
        a, b = self.a, self.b
        if index >= len(b.steps):
            text = f"only the first goes on: {a.sentence(a.steps[index])}"
            return Difference(step_a=index, step_b=None, word="end", text=text)
        if index >= len(a.steps):
            text = f"only the second goes on: {b.sentence(b.steps[index])}"
            return Difference(step_a=None, step_b=index, word="end", text=text)
        one, other = a.steps[index], b.steps[index]
        pair = self._edge_difference(one, other) or self._value_difference(one, other)
        if pair is None:
            return None
        word, left, right = pair
        what = f"what {a.nodes[one.target].title} holds {word} it" if word in ("before", "after") else word
        return Difference(
            step_a=index, step_b=index, word=word, a=left, b=right,
            text=f"step {index + 1} differs in {what}: {_difference_text(left)} and {_difference_text(right)}",
            largest=largest_difference(left, right) if word in WORDS and word != "summed_axes" else None,
        )  # fmt: skip

    def _edge_difference(self, one: Step, other: Step) -> tuple[str, Any, Any] | None:
        """Return the first field in which two steps follow different edges, with both values."""
        direction_a, direction_b = self.a.walks[one.walk].direction, self.b.walks[other.walk].direction
        if direction_a != direction_b:
            return "direction", direction_a, direction_b
        nodes_a, nodes_b = self.a.nodes, self.b.nodes
        node_a, node_b = nodes_a[one.node], nodes_b[other.node]
        if node_a.op != node_b.op or not self._match(one.node, other.node):
            return "node", node_a.name, node_b.name
        if one.input != other.input:
            return "input", one.input, other.input
        if not self._match(one.target, other.target):
            return "target", nodes_a[one.target].name, nodes_b[other.target].name
        return None

    def _value_difference(self, one: Step, other: Step) -> tuple[str, Any, Any] | None:
        """Return the first field in which the values of two steps differ, with both values."""
        for word in WORDS:
            left, right = getattr(one, word), getattr(other, word)
            if not self._is_alike(word, left, right):
                return word, left, right
        return None

    def _is_alike(self, word: str, a: Any, b: Any) -> bool:
        """Return whether a field of two steps is equal. A value that was not recorded equals any other."""
        if word == "summed_axes":
            return tuple(a) == tuple(b)
        if word in ("before", "after") and (a is None) != (b is None):
            return word == "after"
        return a is None or b is None or is_close(a, b, self.rtol, self.atol)

    def compare_gradients(self) -> Iterator[GradientComparison]:
        """Yield the comparison of the gradients of each name that both traces have."""
        others = {self.b.nodes[node].name: value for node, value in self.b.gradients.items()}
        for node, value in self.a.gradients.items():
            name = self.a.nodes[node].name
            other = others.get(name)
            if value is not None and other is not None:
                left, right = comparable(value), comparable(other)
                exact = left.shape == right.shape and bool(_equal_entries(left, right).all())
                yield GradientComparison(
                    name=name, a=value, b=other, exact=exact, close=is_close(value, other, self.rtol, self.atol),
                    largest=largest_difference(value, other),
                )  # fmt: skip


def is_close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Return whether two values are equal up to rounding. A summary counts by its picture."""
    a, b = comparable(a), comparable(b)
    return a.shape == b.shape and bool(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True).all())


def largest_difference(a: Any, b: Any) -> float | None:
    """Return the largest difference of two values' entries; None if the shapes differ."""
    if a is None or b is None:
        return None
    a, b = comparable(a), comparable(b)
    if a.shape != b.shape:
        return None
    with mute_warnings():
        distance = np.abs(a - b) if a.dtype.kind != "b" else (a != b).astype(float)
    return float(distance.max()) if distance.size else 0.0


def comparable(value: Any) -> Any:
    """Return a value as an array. For a summary in a file this is its shape followed by its picture."""
    if not isinstance(value, Stored):
        return host_array(value)
    if value.data is not None:
        return value.numpy()
    numbers = [float(each) for each in (value.thumbnail or {"data": []})["data"]]
    return np.array([*value.shape, *numbers], dtype=float)


def _equal_entries(a: Any, b: Any) -> Any:
    """Return which entries of two arrays are equal. Entries that are both nan count as equal."""
    return (a == b) | ((a != a) & (b != b))  # noqa: PLR0124 - only nan differs from itself


def _difference_text(value: Any) -> str:
    """Return a value as it is named in a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    if is_sequence(value):
        return str(value)
    array = comparable(value)
    return str(array.item()) if array.shape == () else value_text(value)
