"""Reading a trace back: nothing is evaluated or unpickled, sizes are bounded, and sums are computed again."""

from __future__ import annotations

import json
import os
from math import isfinite
from typing import Any, TypeGuard, cast

from ..files import FileError, check_text, count_entries, read_bytes, shorten
from .sites import Site
from .trace import FORMAT, VERSION, Failure, Formula, Group, Held, Rule, Step, Trace, TraceNode, Walk
from .values import Stored, np

MOST_BYTES = 64 * 2**20
MOST_BRACKETS = 4_000_000
"""Each is an object of Python's, of at least 56 bytes."""
MOST_DIGITS = 20
DEEPEST = 8
DTYPES = {str(np.dtype(code)) for code in f"?{np.typecodes['AllInteger']}{np.typecodes['AllFloat']}"}
NOT_FINITE = ("nan", "inf", "-inf")


class TraceError(FileError):
    """A file that is not a trace, or one whose numbers contradict each other."""


def load_trace(source: Any, *, check: bool = True) -> Trace:
    """The trace in a JSON file (a path), in text, or in plain data.

    Nothing is evaluated or unpickled.

    Args:
        source: a path, the text, or the data.
        check: whether the contributions are added up again, and compared with the gradients; True by default.
    Returns: a trace.
    Raises: TraceError for a file of an unknown version, with missing or unknown fields, with references to nothing, one
        larger than 64 MiB, and one whose sums are false.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> mg.load_trace(trace.to_json()).gradients
        {0: <value () float64>}

    See: `mg.Trace.save`, which writes such a file.
    """
    return _trace(_parsed(source), "trace", 0, check)


def _parsed(source: Any) -> Any:
    if isinstance(source, dict):
        return cast("dict[str, Any]", source)
    if not isinstance(source, (str, os.PathLike)):
        raise TraceError(f"load_trace expects a path or the text of a trace, got {type(source).__name__}")
    text = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    if not isinstance(source, str) or text[:1] not in ("{", "[", '"', ""):
        text = _text(source)
    if len(text) > MOST_BYTES:
        raise TraceError(f"the text has {len(text)} characters; a trace may have {MOST_BYTES}")
    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise TraceError(f"the text has more than {MOST_BRACKETS} brackets")
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer, object_pairs_hook=_unique)
    except RecursionError:
        raise TraceError("the text is nested too deeply to be a trace") from None
    except json.JSONDecodeError as error:
        raise TraceError(f"this is not JSON: {error}") from None


def _text(path: Any) -> str:
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except FileError as error:
        raise TraceError(str(error)) from None


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
        raise TraceError(f"a field is given twice among {shorten([name for name, _ in pairs])}")
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
    if unknown := [name for name in fields if name not in names]:
        raise TraceError(f"{where} has unknown fields: {', '.join(map(_called, unknown[:8]))}")
    return fields


def _typed(value: Any, kinds: type | tuple[type, ...], where: str) -> Any:
    """`value`, if it is of one of the kinds; a truth is no number."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TraceError(f"{where} must be {names}, got {type(value).__name__}")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise TraceError(f"{where} is {shorten(value)}, which is no place and no line")
    if isinstance(value, str):
        try:
            check_text(value)
        except FileError as error:
            raise TraceError(f"{where}: {error}") from None
    if isinstance(value, dict):
        for name in cast("dict[Any, Any]", value):
            _typed(name, str, f"{where}: a name")
    return cast("Any", value)


def _called(name: Any) -> str:
    """A field's name in an error message."""
    return name if isinstance(name, str) and len(name) < 60 and name.isprintable() else shorten(name)


_TEXT = (str, type(None))
_PLACE = (int, type(None))


def _trace(data: Any, where: str, depth: int, check: bool) -> Trace:
    if depth > DEEPEST:
        raise TraceError(f"{where} is nested more than {DEEPEST} traces deep")
    head = _object(data, where)
    if head.get("format") != FORMAT:
        raise TraceError(f"{where} is not a trace: its format is {shorten(head.get('format'))}, not {FORMAT!r}")
    version = head.get("version")
    if type(version) is not int or version != VERSION:
        raise TraceError(f"{where} has version {shorten(version)}; this program reads version {VERSION}")
    caught = data.get("caught", [])  # files of before tell of none
    data = {name: each for name, each in data.items() if name not in ("caught", "not_finite")}
    _fields(data, where, ("format", "version", "walks", "error", "nodes", "groups", "steps", "rules", "formulas",
                          "gradients", "sites", "values", "part"))  # fmt: skip
    trace = Trace()
    reader = _Reader(trace, where)
    reader.read_all(data, depth, check)
    for i, each in enumerate(_typed(caught, list, f"{where}: caught")):
        error = reader.error(each, f"{where}: caught {i}")
        trace.caught += [] if error is None else [error]
    if check:
        _check_sums(trace, where)
    return trace


class _Reader:
    """Reads the parts of one trace, and follows their references."""

    def __init__(self, trace: Trace, where: str):
        self.trace, self.where = trace, where
        self.values: list[Stored] = []
        self.sites: list[Site] = []
        self.formulas: list[Formula] = []
        self.there: dict[int, TraceNode] = {}
        self.groups: dict[int, Group] = {}
        self.part: dict[str, Any] | None = None
        self.count_of_walks = 0

    def read_all(self, data: dict[str, Any], depth: int, check: bool) -> None:
        """Every part of a trace, each behind those that it refers to."""
        trace, where = self.trace, self.where
        listed = {name: _typed(data[name], list, f"{where}: {name}") for name in
                  ("values", "sites", "formulas", "groups", "nodes", "steps", "gradients", "walks")}  # fmt: skip
        self._read_part(data["part"])
        self.count_of_walks = len(listed["walks"])
        self.values += [_value(each, f"{where}: value {i}") for i, each in enumerate(listed["values"])]
        self.sites += [self.site(each, f"{where}: site {i}") for i, each in enumerate(listed["sites"])]
        self.formulas += [self.formula(each, f"{where}: formula {i}") for i, each in enumerate(listed["formulas"])]
        trace.groups = [self.group(each, i) for i, each in enumerate(listed["groups"])]
        trace.nodes = [self.node(each, i, depth, check) for i, each in enumerate(listed["nodes"])]
        for name, each in _typed(data["rules"], dict, f"{where}: rules").items():
            trace.rules[name] = self.rule(each, f"{where}: rule {name}")
        trace.steps = [self.step(each, i) for i, each in enumerate(listed["steps"])]
        trace.walks = [self.walk(each, f"{where}: walk {i}") for i, each in enumerate(listed["walks"])]
        for each in listed["gradients"]:
            self.gradient(each)
        trace.error = self.error(data["error"], f"{where}: error")

    def _read_part(self, data: Any) -> None:
        """Which part of a record this is. Its nodes and steps have the numbers of the whole, and only the whole can
        be looked up."""
        if data is not None:
            where = f"{self.where}: part"
            self.part = _fields(data, where, ("first", "steps", "of_steps", "of_nodes", "of_groups", "links"))
            raise TraceError(f"{where}: this is a part of a record, to be shown; only a whole record can be read back")

    def place_of_walk(self, place: Any, where: str) -> int:
        """A reference to a walk."""
        if not 0 <= _typed(place, int, where) < self.count_of_walks:
            raise TraceError(f"{where} refers to walk {place}; there are {self.count_of_walks}")
        return place

    def lines(self, data: Any, where: str) -> list[Site]:
        """Places in the user's program, the innermost first."""
        found: list[Site] = []
        for each in _typed(data, list, f"{where}: lines"):
            place: int = _typed(each, int, f"{where}: lines")
            if not 0 <= place < len(self.sites):
                raise TraceError(f"{where} refers to site {place}; there are {len(self.sites)}")
            found.append(self.sites[place])
        return found

    def error(self, data: Any, where: str) -> Failure | None:
        """What broke a walk or the program off."""
        if data is None:
            return None
        fields = dict(_fields(data, where, ("kind", "text", "node", "input", "lines")))
        for name, kinds in (("kind", str), ("text", str), ("input", _TEXT)):
            _typed(fields[name], kinds, f"{where}: {name}")
        node = None if fields["node"] is None else self.place_of_node(fields["node"], where)
        return Failure(**fields | {"node": node, "lines": self.lines(fields["lines"], where)})

    def formula(self, data: Any, where: str) -> Formula:
        """A formula of steps."""
        fields = _fields(data, where, ("text", "latex", "mathml"))
        for name, value in fields.items():
            _typed(value, str, f"{where}: {name}")
        return Formula(**fields)

    def group(self, data: Any, place: int) -> Group:
        """A group; the one around it stands before it, so there can be no circle."""
        where = f"{self.where}: group {place}"
        fields = dict(_fields(data, where, ("id", "parent", "kind", "name", "path", "of", "round", "rounds", "line",
                                            "nodes", "steps")))  # fmt: skip
        if fields["id"] != place or isinstance(fields["id"], bool):
            raise TraceError(f"{where} calls itself {fields['id']!r}")
        if fields["kind"] not in ("module", "scope", "function", "round"):
            raise TraceError(f"{where}: kind {fields['kind']!r} is not module, scope, function or round")
        for name in ("name", "path"):
            _typed(fields[name], str, f"{where}: {name}")
        _typed(fields["of"], _TEXT, f"{where}: of")
        for name in ("round", "rounds", "parent"):
            _typed(fields[name], _PLACE, f"{where}: {name}")
        for name in ("nodes", "steps"):
            _typed(fields[name], int, f"{where}: {name}")
        if fields["parent"] is not None and not 0 <= fields["parent"] < place:
            raise TraceError(f"{where} stands in group {fields['parent']}, which is not before it")
        line = None if fields["line"] is None else self.lines([fields["line"]], where)[0]
        group = self.groups[place] = Group(**fields | {"line": line})
        return group

    def walk(self, data: Any, where: str) -> Walk:
        """One walk; its steps are there."""
        fields = dict(_fields(data, where, ("direction", "root", "seed", "first", "steps", "lines", "leaves", "error")))
        if fields["direction"] not in ("backward", "forward"):
            raise TraceError(f"{where}: the direction must be 'backward' or 'forward', got {fields['direction']!r}")
        first, count = (_typed(fields[name], int, f"{where}: {name}") for name in ("first", "steps"))
        if not (first >= 0 and count >= 0 and first + count <= len(self.trace.steps)):
            raise TraceError(f"{where} has steps {first} to {first + count - 1}; there are {len(self.trace.steps)}")
        for step in self.trace.steps[first : first + count]:
            if not self.leads(step.node, step.input, step.target, fields["direction"]):
                raise TraceError(f"{where} goes {fields['direction']}, and step {step.index} does not")
        fields["root"] = None if fields["root"] is None else self.place_of_node(fields["root"], where)
        fields["seed"] = self.value(fields["seed"], where)
        fields["lines"] = self.lines(fields["lines"], where)
        fields["error"] = self.error(fields["error"], f"{where}: error")
        leaves: list[Held] = []
        for each in _typed(fields["leaves"], list, f"{where}: leaves"):
            held = dict(_fields(each, f"{where}: a leaf", ("node", "value", "before", "received", "after")))
            node = self.place_of_node(held.pop("node"), f"{where}: a leaf")
            leaves.append(Held(node=node, **{name: self.value(at, f"{where}: a leaf") for name, at in held.items()}))
        return Walk(**fields | {"leaves": leaves})

    def leads(self, node: int, name: str, target: int, *directions: str) -> bool:
        """Whether a step in one of these directions leads there: back to an input of an application; or forward, to
        the application or one of its outputs."""
        inputs = self.trace.nodes[node].inputs
        if "backward" in directions and (name, target) in inputs:
            return True
        results = target == node or ("of", node) in self.trace.nodes[target].inputs
        return "forward" in directions and results and any(name == each for each, _ in inputs)

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
        if _typed(place, int, where) not in self.there:
            raise TraceError(f"{where} refers to node {place}; there are {len(self.there)} before it")
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
        fields = dict(_fields(data, where, ("id", "kind", "op", "called", "name", "label", "summary", "inputs",
                                            "params", "requires_grad", "value", "lines", "group", "failed", "opens",
                                            "inside")))  # fmt: skip
        if type(fields["id"]) is not int or fields["id"] != place:
            raise TraceError(f"{where} calls itself {shorten(fields['id'])}")
        if fields["kind"] not in ("leaf", "application", "output"):
            raise TraceError(f"{where}: kind {shorten(fields['kind'])} is not leaf, application or output")
        for name in ("op", "summary", "label", "called"):
            _typed(fields[name], _TEXT, f"{where}: {name}")
        _typed(fields["name"], str, f"{where}: name")
        for name in ("requires_grad", "failed", "opens"):
            _typed(fields[name], bool, f"{where}: {name}")
        if _typed(fields["group"], _PLACE, f"{where}: group") is not None and fields["group"] not in self.groups:
            raise TraceError(f"{where} refers to group {fields['group']}; there are {len(self.groups)}")
        params = _typed(fields["params"], dict, f"{where}: params")
        for name, value in params.items():
            _typed(name, str, f"{where}: the name of a parameter")
            _typed(value, str, f"{where}: parameter {_called(name)}")
        inputs: list[tuple[str, int]] = []
        for each in _typed(fields["inputs"], list, f"{where}: inputs"):
            entry = _fields(each, f"{where}: an input", ("name", "node"))
            inputs.append((_typed(entry["name"], str, where), self.place_of_node(entry["node"], where)))
        fields.update(inputs=inputs, value=self.value(fields["value"], where))
        fields["lines"] = self.lines(fields["lines"], where)
        if data["inside"] is not None:
            fields["inside"] = _trace(data["inside"], f"{where}, inside", depth + 1, check)
        del fields["opens"]
        node = self.there[place] = TraceNode(**fields)
        return node

    def site(self, data: Any, where: str) -> Site:
        """Where the user wrote it."""
        fields = _fields(data, where, Site.__slots__)
        for name, value in fields.items():
            _typed(value, _TEXT if name in ("file", "function", "text") else _PLACE, f"{where}: {name}")
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
        if type(fields["index"]) is not int or fields["index"] != place:
            raise TraceError(f"{where} calls itself {shorten(fields['index'])}")
        node, target = (self.place_of_node(fields[name], f"{where}: {name}") for name in ("node", "target"))
        if _typed(fields["rule"], str, f"{where}: rule") not in self.trace.rules:
            raise TraceError(f"{where} applies the rule {shorten(fields['rule'])}, which is not described")
        _typed(fields["input"], str, f"{where}: input")
        if not self.leads(node, fields["input"], target, "backward", "forward"):
            raise TraceError(f"{where} goes from node {node} to node {target}, which is not its input by that name")
        for name in ("accumulates", "earlier"):
            _typed(fields[name], bool, f"{where}: {name}")
        self.place_of_walk(fields["walk"], f"{where}: walk")
        if (at := _typed(fields["formula"], _PLACE, f"{where}: formula")) is not None:
            if not 0 <= at < len(self.formulas):
                raise TraceError(f"{where} refers to formula {at}; there are {len(self.formulas)}")
            fields["formula"] = self.formulas[at]
        for name in ("upstream", "local", "raw", "contribution", "before", "after"):
            fields[name] = self.value(fields[name], f"{where}: {name}")
        axes = _typed(fields["summed_axes"], list, f"{where}: summed_axes")
        fields["summed_axes"] = tuple(_typed(axis, int, f"{where}: summed_axes") for axis in axes)
        reads = _typed(fields["reads"], dict, f"{where}: reads")
        for name in reads:
            _typed(name, str, f"{where}: the name of what is read")
        fields["reads"] = {name: self.value(each, f"{where}: {_called(name)}") for name, each in reads.items()}
        return Step(**fields)


def _value(data: Any, where: str) -> Stored:
    """A value. Nothing is allocated by what a shape claims; only entries that are there count."""
    fields = _fields(data, where, ("shape", "dtype", "device", "data", "corner", "thumbnail", "statistics", "nan",
                                   "inf"))  # fmt: skip
    for name in ("nan", "inf"):
        if _typed(fields[name], int, f"{where}: {name}") < 0:
            raise TraceError(f"{where} has {fields[name]} entries that are {name}")
    count = _count(fields["shape"], where)
    dtype = _typed(fields["dtype"], str, f"{where}: dtype")
    if dtype not in DTYPES:
        kinds = "booleans, integers, floats or complex numbers"
        raise TraceError(f"{where} has dtype {shorten(dtype)}; a value is of {kinds}")
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
    for length in _typed(shape, list, f"{where}: shape"):
        if type(length) is not int:
            _typed(length, int, f"{where}: shape")
        if length < 0:
            raise TraceError(f"{where} has an axis of length {shorten(length)}")
    try:
        return count_entries(shape)
    except FileError as error:
        raise TraceError(f"{where}: {error}") from None


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
    if isinstance(entry, float) and not isfinite(entry):
        raise TraceError(f"{where}: a number too large for a float; infinity is spelled 'inf', no number 'nan'")
    if not isinstance(entry, (int, float)):
        raise TraceError(f"{where}: an entry must be a number, got {type(entry).__name__}")


def _check_sums(trace: Trace, where: str) -> None:
    """Contributions must add up to what the record says arrived, walk after walk."""
    held: dict[int, Any] = {}
    next_step = 0
    for number, walk in enumerate(trace.walks):
        here = f"{where}: walk {number}"
        if walk.first != next_step or any(step.walk != number for step in trace.steps[walk.first :][: walk.steps]):
            raise TraceError(f"{here}: its steps are not the ones from {next_step} on that say they are its own")
        next_step += walk.steps
        steps = trace.steps[walk.first : walk.first + walk.steps]
        if walk.direction == "forward":
            _check_steps(steps, {}, set(), where)
        else:
            held |= _check_walk_back(walk, steps, here, where)
    if next_step != len(trace.steps):
        raise TraceError(f"{where} has {len(trace.steps)} steps, its walks {next_step}")
    for place, gradient in trace.gradients.items():
        here = f"{where}: node {place}"
        if place not in held:
            raise TraceError(f"{here} has a gradient, and no step sends it anything")
        if held[place] is not None and _whole(gradient):
            _must_equal(held[place], gradient.numpy(), f"{here}: the steps do not add up to its gradient")


def _check_walk_back(walk: Walk, steps: Any, here: str, where: str) -> dict[int, Any]:
    """What each node has received; leaves hold it then."""
    arrived = {leaf.node: _kept(leaf.before) for leaf in walk.leaves if leaf.before is not None}
    _check_steps(steps, arrived, set(arrived), where)
    for leaf in walk.leaves:
        if leaf.node not in arrived:
            raise TraceError(f"{here}: node {leaf.node} received something, and no step sends it anything")
        if arrived[leaf.node] is not None and _whole(leaf.after):
            _must_equal(arrived[leaf.node], leaf.after.numpy(), f"{here}: the steps do not add up at {leaf.node}")
    return arrived | {leaf.node: _kept(leaf.after) for leaf in walk.leaves}


def _check_steps(steps: Any, arrived: dict[int, Any], earlier: set[int], where: str) -> None:
    """Each step adds its contribution to what those before it left."""
    for step in steps:
        here = f"{where}: step {step.index}"
        if step.accumulates != (step.target in arrived):
            raise TraceError(f"{here} says accumulates={step.accumulates}, which earlier steps contradict")
        if step.before is not None and not step.accumulates:
            raise TraceError(f"{here} adds to something, and says accumulates=False")
        if step.earlier != (step.target in earlier):
            raise TraceError(f"{here} says earlier={step.earlier}, which its walk contradicts")
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
        if before is not None and before.shape != contribution.shape:
            raise TraceError(f"{here}: its contribution has another shape than what earlier steps left")
        total = contribution if before is None else before + contribution
        _must_equal(total, after, f"{here}: before and contribution do not add up to after")
        arrived[step.target] = after


def _kept(value: Any) -> Any:
    """The array of a value that is whole; None of another."""
    return value.numpy() if _whole(value) else None


def _whole(value: Any) -> TypeGuard[Stored]:
    return isinstance(value, Stored) and value.data is not None


def _must_equal(a: Any, b: Any, sentence: str) -> None:
    if a.shape != b.shape or not np.isclose(a, b, rtol=1e-6, atol=0, equal_nan=True).all():
        raise TraceError(sentence)
