"""Reading a trace back: nothing is evaluated or unpickled, sizes are bounded, and sums are computed again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeGuard, cast

from .sites import Site
from .trace import FORMAT, VERSION, Rule, Step, Trace, TraceNode
from .values import Stored, np

MOST_BYTES = 64 * 2**20
MOST_DIGITS = 20
DEEPEST = 8
DTYPES = {str(np.dtype(code)) for code in f"?{np.typecodes['AllInteger']}{np.typecodes['AllFloat']}"}
NOT_FINITE = ("nan", "inf", "-inf")


class TraceError(ValueError):
    """A file that is not a trace, or one whose numbers contradict each other."""


def load_trace(source: Any, *, check: bool = True) -> Trace:
    """The trace in a JSON file (a path), in text, or in plain data.

    A file of another version, with missing or unknown fields, with references to nothing, or larger than 64 MiB is
    refused with a sentence. `check` also adds the contributions up again, and compares them with the gradients.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> with mg.record() as trace:
    ...     (x * x).backward()
    >>> mg.load_trace(trace.to_json()).gradients
    {0: <value () float64>}
    """
    return _trace(_parsed(source), "trace", 0, check)


def _parsed(source: Any) -> Any:
    if isinstance(source, dict):
        return cast("dict[str, Any]", source)
    text = _typed(source, (str, os.PathLike), "a path or the text of a trace")
    if not (isinstance(source, str) and source.lstrip().startswith("{")):
        size = Path(source).stat().st_size
        if size > MOST_BYTES:
            raise TraceError(f"{source} has {size} bytes; a trace may have {MOST_BYTES}")
        text = _text(source)
    if len(text) > MOST_BYTES:
        raise TraceError(f"the text has {len(text)} characters; a trace may have {MOST_BYTES}")
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer, object_pairs_hook=_unique)
    except RecursionError:
        raise TraceError("the text is nested too deeply to be a trace") from None
    except json.JSONDecodeError as error:
        raise TraceError(f"this is not JSON: {error}") from None


def _text(path: Any) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from None


def _integer(digits: str) -> int:
    """An integer, if it can be one of an array's."""
    if len(digits) > MOST_DIGITS:
        raise TraceError(f"an integer of {len(digits)} digits; one of 64 bits has {MOST_DIGITS} at most")
    return int(digits)


def _refuse(constant: str) -> None:
    raise TraceError(f"{constant} is not JSON; a trace spells it as text")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise TraceError(f"a field is given twice among {', '.join(name for name, _ in pairs)}")
    return names


def _object(data: Any, where: str) -> dict[str, Any]:
    """`data` as an object, whatever its fields."""
    if not isinstance(data, dict):
        raise TraceError(f"{where} must be an object, got {type(data).__name__}")
    return cast("dict[str, Any]", data)


def _fields(data: Any, where: str, names: tuple[str, ...]) -> dict[str, Any]:
    """`data` as an object with exactly these fields."""
    fields = _object(data, where)
    if missing := [name for name in names if name not in fields]:
        raise TraceError(f"{where} lacks {', '.join(missing)}")
    if unknown := [str(name) for name in fields if name not in names]:
        raise TraceError(f"{where} has unknown fields: {', '.join(unknown)}")
    return fields


def _typed(value: Any, kinds: type | tuple[type, ...], where: str) -> Any:
    """`value`, if it is of one of the kinds; a truth is no number."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TraceError(f"{where} must be {names}, got {type(value).__name__}")
    return value


_TEXT = (str, type(None))
_PLACE = (int, type(None))


def _trace(data: Any, where: str, depth: int, check: bool) -> Trace:
    if depth > DEEPEST:
        raise TraceError(f"{where} is nested more than {DEEPEST} traces deep")
    head = _object(data, where)
    if head.get("format") != FORMAT:
        raise TraceError(f"{where} is not a trace: its format is {head.get('format')!r}, not {FORMAT!r}")
    if head.get("version") != VERSION:
        raise TraceError(f"{where} has version {head.get('version')!r}; this program reads version {VERSION}")
    _fields(data, where, ("format", "version", "walk", "nodes", "steps", "rules", "gradients", "values"))
    stored = _typed(data["values"], list, f"{where}: values")
    trace = Trace()
    reader = _Reader(trace, [_value(each, f"{where}: value {i}") for i, each in enumerate(stored)], where)
    for i, each in enumerate(_typed(data["nodes"], list, f"{where}: nodes")):
        trace.nodes.append(reader.node(each, i, depth, check))
    for name, each in _typed(data["rules"], dict, f"{where}: rules").items():
        trace.rules[name] = reader.rule(each, f"{where}: rule {name}")
    for i, each in enumerate(_typed(data["steps"], list, f"{where}: steps")):
        trace.steps.append(reader.step(each, i))
    walk = _fields(data["walk"], f"{where}: walk", ("direction", "root", "seed"))
    if walk["direction"] not in ("backward", "forward"):
        raise TraceError(f"{where}: the direction must be 'backward' or 'forward', got {walk['direction']!r}")
    trace.direction = walk["direction"]
    trace.root = None if walk["root"] is None else reader.place_of_node(walk["root"], f"{where}: walk")
    trace.seed = reader.value(walk["seed"], f"{where}: walk")
    for each in _typed(data["gradients"], list, f"{where}: gradients"):
        reader.gradient(each)
    if check:
        _check_sums(trace, where)
    return trace


class _Reader:
    """Reads the parts of one trace, and follows their references."""

    def __init__(self, trace: Trace, values: list[Stored], where: str):
        self.trace, self.values, self.where = trace, values, where

    def value(self, place: Any, where: str) -> Stored | None:
        """The value that a reference stands for."""
        index: int | None = _typed(place, _PLACE, where)
        if index is None:
            return None
        if not 0 <= index < len(self.values):
            raise TraceError(f"{where} refers to value {index}; there are {len(self.values)}")
        return self.values[index]

    def place_of_node(self, place: Any, where: str) -> int:
        """A reference to a node that stands before."""
        if not 0 <= _typed(place, int, where) < len(self.trace.nodes):
            raise TraceError(f"{where} refers to node {place}; there are {len(self.trace.nodes)} before it")
        return place

    def gradient(self, data: Any) -> None:
        """What one leaf received."""
        where = f"{self.where}: a gradient"
        entry = _fields(data, where, ("node", "value"))
        place = self.place_of_node(entry["node"], where)
        if place in self.trace.gradients:
            raise TraceError(f"{self.where}: the gradient of node {place} is given twice")
        self.trace.gradients[place] = self.value(entry["value"], f"{self.where}: the gradient of node {place}")

    def node(self, data: Any, place: int, depth: int, check: bool) -> TraceNode:
        """A node. Its inputs stand before it, so there can be no cycle."""
        where = f"{self.where}: node {place}"
        fields = dict(_fields(data, where, ("id", "kind", "op", "summary", "inputs", "params", "label", "requires_grad",
                                            "value", "site", "inside")))  # fmt: skip
        if fields["id"] != place or isinstance(fields["id"], bool):
            raise TraceError(f"{where} calls itself {fields['id']!r}")
        if fields["kind"] not in ("leaf", "application", "output"):
            raise TraceError(f"{where}: kind {fields['kind']!r} is not leaf, application or output")
        for name in ("op", "summary", "label"):
            _typed(fields[name], _TEXT, f"{where}: {name}")
        _typed(fields["requires_grad"], bool, f"{where}: requires_grad")
        params = _typed(fields["params"], dict, f"{where}: params")
        for name, value in params.items():
            _typed(value, str, f"{where}: parameter {name}")
        inputs: list[tuple[str, int]] = []
        for each in _typed(fields["inputs"], list, f"{where}: inputs"):
            entry = _fields(each, f"{where}: an input", ("name", "node"))
            inputs.append((_typed(entry["name"], str, where), self.place_of_node(entry["node"], where)))
        fields.update(inputs=inputs, value=self.value(fields["value"], where))
        fields["site"] = self.site(fields["site"], where)
        if data["inside"] is not None:
            fields["inside"] = _trace(data["inside"], f"{where}, inside", depth + 1, check)
        return TraceNode(**fields)

    def site(self, data: Any, where: str) -> Site | None:
        """Where the user wrote it."""
        if data is None:
            return None
        fields = _fields(data, f"{where}: site", Site.__slots__)
        for name, value in fields.items():
            _typed(value, _TEXT if name in ("file", "function", "text") else _PLACE, f"{where}: site: {name}")
        return Site(**fields)

    def rule(self, data: Any, where: str) -> Rule:
        """A rule."""
        fields = dict(_fields(data, where, Rule.__slots__))
        for name, value in fields.items():
            _typed(value, list if name == "reads" else int if name == "line" else _TEXT, f"{where}: {name}")
        fields["reads"] = tuple(_typed(each, str, f"{where}: reads") for each in fields["reads"])
        return Rule(**fields)

    def step(self, data: Any, place: int) -> Step:
        """A step."""
        where = f"{self.where}: step {place}"
        fields = dict(_fields(data, where, Step.__slots__))
        if fields["index"] != place or isinstance(fields["index"], bool):
            raise TraceError(f"{where} calls itself {fields['index']!r}")
        for name in ("node", "target"):
            self.place_of_node(fields[name], f"{where}: {name}")
        if _typed(fields["rule"], str, f"{where}: rule") not in self.trace.rules:
            raise TraceError(f"{where} applies the rule {fields['rule']!r}, which is not described")
        _typed(fields["input"], str, f"{where}: input")
        _typed(fields["accumulates"], bool, f"{where}: accumulates")
        for name in ("upstream", "local", "raw", "contribution", "before", "after"):
            fields[name] = self.value(fields[name], f"{where}: {name}")
        axes = _typed(fields["summed_axes"], list, f"{where}: summed_axes")
        fields["summed_axes"] = tuple(_typed(axis, int, f"{where}: summed_axes") for axis in axes)
        reads = _typed(fields["reads"], dict, f"{where}: reads")
        fields["reads"] = {name: self.value(each, f"{where}: {name}") for name, each in reads.items()}
        return Step(**fields)


def _value(data: Any, where: str) -> Stored:
    """A value. Nothing is allocated by what a shape claims; only entries that are there count."""
    fields = _fields(data, where, ("shape", "dtype", "device", "data", "corner", "thumbnail", "statistics"))
    count = _count(fields["shape"], where)
    dtype = _typed(fields["dtype"], str, f"{where}: dtype")
    if dtype not in DTYPES:
        raise TraceError(f"{where} has dtype {dtype!r}; a value is of booleans, integers, floats or complex numbers")
    _typed(fields["device"], str, f"{where}: device")
    pairs = dtype.startswith("complex")
    if fields["data"] is not None:
        _entries(fields["data"], count, pairs, where)
        _refuse_other_than(dtype, fields["data"], where)
    for name in ("corner", "thumbnail"):
        if fields[name] is not None:
            matrix = _fields(fields[name], f"{where}: {name}", ("shape", "data"))
            _entries(matrix["data"], _count(matrix["shape"], where), pairs and name == "corner", where)
    if fields["statistics"] is not None:
        numbers = _fields(fields["statistics"], f"{where}: statistics", ("min", "max", "mean", "norm"))
        for name, number in numbers.items():
            _number(number, f"{where}: {name}")
    return Stored(fields)


def _count(shape: Any, where: str) -> int:
    count = 1
    for length in _typed(shape, list, f"{where}: shape"):
        if _typed(length, int, f"{where}: shape") < 0:
            raise TraceError(f"{where} has an axis of length {length}")
        count *= length
    return count


def _refuse_other_than(dtype: str, data: list[Any], where: str) -> None:
    """An error where an entry is none that an array of truths or of whole numbers can hold."""
    if np.dtype(dtype).kind in "biu":
        limits = np.iinfo("u1" if dtype == "bool" else dtype)
        least, most = limits.min, 1 if dtype == "bool" else limits.max
        if not all(isinstance(entry, int) and least <= entry <= most for entry in data):
            raise TraceError(f"{where} has an entry that is no {dtype}")


def _entries(data: Any, count: int, pairs: bool, where: str) -> None:
    if len(_typed(data, list, f"{where}: data")) != count:
        raise TraceError(f"{where} has {len(data)} entries, its shape says {count}")
    for entry in data:
        for number in _typed(entry, list, where) if pairs else (entry,):
            _number(number, where)
        if pairs and len(entry) != 2:
            raise TraceError(f"{where}: a complex number is a pair")


def _number(entry: Any, where: str) -> None:
    if isinstance(entry, str) and entry in NOT_FINITE:
        return
    if isinstance(entry, int) and abs(entry) >= 2**64:
        raise TraceError(f"{where}: an integer of {entry.bit_length()} bits")
    if isinstance(entry, float) and entry in (float("inf"), float("-inf")):
        raise TraceError(f"{where}: a number too large for a float; infinity is spelled 'inf'")
    if not isinstance(entry, (int, float)):
        raise TraceError(f"{where}: an entry must be a number, got {type(entry).__name__}")


def _check_sums(trace: Trace, where: str) -> None:
    """Contributions must add up to what the record says arrived."""
    arrived: dict[int, Any] = {}
    for step in trace.steps:
        here = f"{where}: step {step.index}"
        if step.accumulates != (step.target in arrived):
            raise TraceError(f"{here} says accumulates={step.accumulates}, which earlier steps contradict")
        if step.before is not None and not step.accumulates:
            raise TraceError(f"{here} adds to something, and says accumulates=False")
        if not _whole(step.contribution) or not _whole(step.after):
            arrived[step.target] = None
            continue
        contribution, after = step.contribution.numpy(), step.after.numpy()
        before = arrived.get(step.target)
        if before is not None and _whole(step.before):
            _must_equal(step.before.numpy(), before, f"{here}: before is not what earlier steps left")
        if step.target in arrived and before is None:
            arrived[step.target] = after
            continue
        total = contribution if before is None else before + contribution
        _must_equal(total, after, f"{here}: before and contribution do not add up to after")
        arrived[step.target] = after
    for place, gradient in trace.gradients.items():
        here = f"{where}: node {place}"
        if place not in arrived:
            raise TraceError(f"{here} has a gradient, and no step sends it anything")
        if arrived.get(place) is not None and _whole(gradient):
            _must_equal(arrived[place], gradient.numpy(), f"{here}: the steps do not add up to its gradient")


def _whole(value: Any) -> TypeGuard[Stored]:
    return isinstance(value, Stored) and value.data is not None


def _must_equal(a: Any, b: Any, sentence: str) -> None:
    if a.shape != b.shape or not np.isclose(a, b, rtol=1e-6, atol=0, equal_nan=True).all():
        raise TraceError(sentence)
