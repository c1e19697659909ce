"""Two walks side by side, up to the first step in which they differ."""

from __future__ import annotations

from typing import Any

from ..backends.shapes import is_sequence
from .loading import load_trace
from .trace import Step, Trace
from .values import Fields, Stored, bare, counted, np

WORDS = ("upstream", "local", "raw", "summed_axes", "contribution", "before", "after")
"""What two steps are compared in, in the order in which a step is worked out."""


class Difference(Fields):
    """Where two walks part: the steps, by their numbers (None where a walk has ended), the word in which they differ
    first, and what each has there."""

    __slots__ = ("a", "b", "largest", "step_a", "step_b", "text", "word")

    step_a: int | None
    step_b: int | None
    word: str
    a: Any
    b: Any
    largest: float | None
    text: str

    def __repr__(self) -> str:
        return self.text


class Compared(Fields):
    """The gradients that two walks left at leaves of the same name: whether they are equal to the last bit, whether
    they are equal but for rounding, and how far apart they are at most (None where their shapes differ)."""

    __slots__ = ("a", "b", "close", "exact", "largest", "name")

    name: str
    exact: bool
    close: bool
    largest: float | None


class Comparison(Fields):
    """Two walks, compared: how many steps they have in common from the start, where they part, and their gradients."""

    __slots__ = ("difference", "gradients", "same", "steps")

    same: bool
    steps: int
    difference: Difference | None
    gradients: list[Compared]

    def __repr__(self) -> str:
        if self.difference is None:
            return f"the same {counted(self.steps, 'step')}"
        are = "is" if self.steps == 1 else "are"
        return f"{counted(self.steps, 'step')} {are} the same, then: {self.difference.text}"


def compare(a: Any, b: Any, *, rtol: float = 1e-6, atol: float = 1e-9) -> Comparison:
    """Two walks side by side, up to the first difference.

    Steps are compared in their order: which application sends to which input and which node, then every word of the
    step. Numbers may differ by rounding. Names do not matter, and nor does it how a rule is written.

    Args:
        a: a trace, or the path, text or data of one.
        b: another.
        rtol: how far apart two numbers may be, as a part of their size.
        atol: how far apart numbers close to 0 may be.
    Returns: a `Comparison`.
    Raises: TraceError where `a` or `b` is no trace.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as right:
        ...     (x * x).backward()
        >>> wrong = mg.tracing.replay(right, "replace")
        >>> mg.tracing.compare(right, wrong)
        1 step is the same, then: step 2 differs in after: 6.0 and 3.0

    See: `cmp` in Karpathy's makemore, which compares gradients alone.
    """
    a, b = (each if isinstance(each, Trace) else load_trace(each, check=False) for each in (a, b))
    difference, pairs = None, _Pairs(a, b)
    count = 0
    for count in range(max(len(a.steps), len(b.steps))):
        difference = _of_steps(a, b, count, pairs, rtol, atol)
        if difference is not None:
            break
    else:
        count = len(a.steps)
    return Comparison(
        same=difference is None, steps=count, difference=difference, gradients=list(_gradients(a, b, rtol, atol))
    )


class _Pairs:
    """Which node of one record stands for which of the other, as far as has been seen."""

    def __init__(self, a: Trace, b: Trace):
        self.nodes_a, self.nodes_b = a.nodes, b.nodes
        self.there: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def match(self, a: int, b: int) -> bool:
        """Whether two nodes can be the same; they are from now on."""
        return self.there.setdefault(a, b) == b and self.back.setdefault(b, a) == a


def _of_steps(a: Trace, b: Trace, at: int, pairs: _Pairs, rtol: float, atol: float) -> Difference | None:
    """How the steps of a number differ."""
    if at >= len(a.steps) or at >= len(b.steps):
        longer, which = (a, "first") if at >= len(b.steps) else (b, "second")
        text = f"only the {which} goes on: {longer.sentence(longer.steps[at])}"
        ends = (at, None) if longer is a else (None, at)
        return Difference(step_a=ends[0], step_b=ends[1], word="end", text=text)
    one, other = a.steps[at], b.steps[at]
    found = _structure(a, b, one, other, pairs)
    if found is None:
        for word in WORDS:
            left, right = getattr(one, word), getattr(other, word)
            apart = None if word == "summed_axes" else largest(left, right)
            if not _alike(word, left, right, rtol, atol):
                found = word, left, right, apart
                break
    if found is None:
        return None
    word, left, right, apart = found
    text = f"step {at + 1} differs in {word}: {_brief(left)} and {_brief(right)}"
    return Difference(step_a=at, step_b=at, word=word, a=left, b=right, largest=apart, text=text)


def _structure(a: Trace, b: Trace, one: Step, other: Step, pairs: _Pairs) -> Any:
    """How two steps differ in where they lead."""
    ways = a.walks[one.walk].direction, b.walks[other.walk].direction
    if ways[0] != ways[1]:
        return "direction", *ways, None
    node_a, node_b = a.nodes[one.node], b.nodes[other.node]
    if node_a.op != node_b.op or not pairs.match(one.node, other.node):
        return "node", node_a.name, node_b.name, None
    if one.input != other.input:
        return "input", one.input, other.input, None
    if not pairs.match(one.target, other.target):
        return "target", a.nodes[one.target].name, b.nodes[other.target].name, None
    return None


def _alike(word: str, a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Whether a word of two steps says the same; what was not recorded says nothing."""
    if word == "summed_axes":
        return tuple(a) == tuple(b)
    if word in ("before", "after") and (a is None) != (b is None):
        return word == "after"
    return a is None or b is None or close(a, b, rtol, atol)


def close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Whether two values are equal but for rounding; of those that a file keeps in part, what it keeps."""
    a, b = kept(a), kept(b)
    return a.shape == b.shape and bool(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True).all())


def largest(a: Any, b: Any) -> float | None:
    """How far apart two values are at most."""
    if a is None or b is None:
        return None
    a, b = kept(a), kept(b)
    if a.shape != b.shape:
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(a - b) if a.dtype.kind != "b" else (a != b).astype(float)
    return float(apart.max()) if apart.size else 0.0


def kept(value: Any) -> Any:
    """A value as an array; where a file kept a part of it, the picture of that with its shape in front."""
    if not isinstance(value, Stored):
        value = bare(value)
        return np.asarray(value.get() if hasattr(value, "get") else value)
    if value.data is not None:
        return value.numpy()
    numbers = [float(each) for each in (value.thumbnail or {"data": []})["data"]]
    return np.array([*value.shape, *numbers], dtype=float)


def _gradients(a: Trace, b: Trace, rtol: float, atol: float) -> Any:
    names = {b.nodes[node].name: value for node, value in b.gradients.items()}
    for node, value in a.gradients.items():
        name = a.nodes[node].name
        other = names.get(name)
        if value is not None and other is not None:
            left, right = kept(value), kept(other)
            exact = left.shape == right.shape and bool(((left == right) | ((left != left) & (right != right))).all())  # noqa: PLR0124 - nan
            yield Compared(
                name=name, a=value, b=other, exact=exact, close=close(value, other, rtol, atol),
                largest=largest(value, other),
            )  # fmt: skip


def _brief(value: Any) -> str:
    """What stands in a sentence for a value."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    if is_sequence(value):
        return str(value)
    array = kept(value)
    return str(array.item()) if array.shape == () else f"an array of shape {tuple(getattr(value, 'shape', ()))}"
