"""Reading a trace from JSON: nothing is evaluated or unpickled, sizes are bounded, and sums are computed again."""

from __future__ import annotations

import json
import os
from math import isfinite
from typing import Any, TypeGuard, cast

from ..files import FileError, check_text, count_entries, read_bytes, shorten
from .json_out import FORMAT, VERSION
from .parts import Failure, Formula, Group, JournalEntry, LeafGradient, Rule, Step, TraceNode, Walk
from .sites import Site
from .trace import Trace
from .values import MOST_IN_FULL, Stored, np

MOST_BYTES = 64 * 2**20
MOST_BRACKETS = 4_000_000
"""Each bracket becomes a Python object of at least 56 bytes."""
MOST_DIGITS = 20
DEEPEST = 8
DTYPES = {str(np.dtype(code)) for code in f"?{np.typecodes['AllInteger']}{np.typecodes['AllFloat']}"}
EPSILONS = {str(np.dtype(code)): float(np.finfo(code).eps) for code in np.typecodes["AllFloat"]}
NOT_FINITE = ("nan", "inf", "-inf")
TEXT_OR_NONE = (str, type(None))
INDEX_OR_NONE = (int, type(None))

TRACE_FIELDS = (
    "format", "version", "walks", "error", "nodes", "groups", "steps", "rules", "formulas", "starts", "journal",
    "gradients", "sites", "values", "caught", "not_finite", "part",
)  # fmt: skip
WALK_FIELDS = ("direction", "root", "seed", "first", "steps", "lines", "leaves", "error")
NODE_FIELDS = (
    "id", "kind", "op", "called", "name", "label", "expression", "title", "cut", "summary", "inputs", "params",
    "requires_grad", "value", "lines", "group", "failed", "opens", "inside",
)  # fmt: skip
TYPES_OF_NODE_FIELDS = {
    **dict.fromkeys(("op", "summary", "label", "called", "expression"), TEXT_OR_NONE),
    **dict.fromkeys(("name", "title"), str), **dict.fromkeys(("requires_grad", "failed", "opens"), bool),
}  # fmt: skip
CUTS = ("detach", "no_grad", "no rule")
ENTRY_FIELDS = (
    "kind", "of", "node", "name", "before", "after", "by", "first", "count", "walk", "lines",
)  # fmt: skip
KINDS_OF_ENTRIES = (
    "compute", "begin", "arrive", "hook", "accumulate", "return", "drop", "end", "clear", "assign", "scale", "clip",
    "update", "write", "statistics", "draw", "checkpoint", "recompute",
)  # fmt: skip
GROUP_FIELDS = ("id", "parent", "kind", "name", "path", "of", "round", "rounds", "line", "nodes", "steps")


class TraceError(FileError):
    """Error for a file that is not a trace, or whose numbers contradict each other."""


def load_trace(source: Any, *, check: bool = True) -> Trace:
    """Load a trace from a JSON file, from text, or from plain data.

    Nothing is evaluated or unpickled.

    Args:
        source: a path, the text, or the data.
        check: whether to add the contributions up again and compare them with the gradients; True by default.
    Returns: a trace.
    Raises: TraceError for a file of an unknown version, with missing or unknown fields, with invalid references, larger
        than 64 MiB, or with wrong sums.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     (x * x).backward()
        >>> mg.load_trace(trace.to_json()).gradients
        {0: <value () float64>}

    See: `mg.Trace.save`, which writes such a file.
    """
    return _read_trace(_parse(source), "trace", 0, check)


def _parse(source: Any) -> Any:
    """Return the plain data in a file or text."""
    if isinstance(source, dict):
        return cast("dict[str, Any]", source)
    if not isinstance(source, (str, os.PathLike)):
        raise TraceError(f"load_trace expects a path or the text of a trace, got {type(source).__name__}")
    text = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    called = "the text"
    if not isinstance(source, str) or text[:1] not in ("{", "[", '"', ""):
        text, called = _read_text(source), os.fspath(cast("str | os.PathLike[str]", source))
    if len(text) > MOST_BYTES:
        raise TraceError(f"the text has {len(text)} characters; a trace may have {MOST_BYTES}")
    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise TraceError(f"the text has more than {MOST_BRACKETS} brackets")
    try:
        return json.loads(
            text, parse_constant=_reject_constant, parse_int=_parse_integer, object_pairs_hook=_reject_repeats
        )
    except RecursionError:
        raise TraceError("the text is nested too deeply to be a trace") from None
    except json.JSONDecodeError as error:
        raise TraceError(f"{called} is not JSON: {error}") from None


def _read_text(path: Any) -> str:
    """Return the text of a file."""
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except FileError as error:
        raise TraceError(str(error)) from None


def _parse_integer(digits: str) -> int:
    """Return an integer, if an array could have it as an entry."""
    if len(digits) > MOST_DIGITS:
        raise TraceError(f"an integer has {len(digits)} digits; one of 64 bits has at most {MOST_DIGITS}")
    return int(digits)


def _reject_constant(constant: str) -> None:
    """Raise an error for `NaN` or `Infinity`."""
    raise TraceError(f"{constant} is not JSON; a trace spells it as text")


def _reject_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of an object; an error if one occurs twice."""
    names = dict(pairs)
    if len(names) != len(pairs):
        raise TraceError(f"a field occurs twice among {shorten([name for name, _ in pairs])}")
    return names


def _as_object(data: Any, where: str) -> dict[str, Any]:
    """Return `data` if it is an object."""
    if not isinstance(data, dict):
        raise TraceError(f"{where} must be an object, got {type(data).__name__}")
    return cast("dict[str, Any]", data)


def _check_fields(data: Any, where: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return `data` if it is an object with exactly these fields."""
    fields = _as_object(data, where)
    if missing := [name for name in names if name not in fields]:
        raise TraceError(f"{where} lacks {', '.join(missing)}")
    if unknown := [name for name in fields if name not in names]:
        raise TraceError(f"{where} has unknown fields: {', '.join(map(_quote_name, unknown[:8]))}")
    return fields


def _check_type(value: Any, kinds: type | tuple[type, ...], where: str) -> Any:
    """Return `value` if it is of one of these types. A boolean does not count as a number."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TraceError(f"{where} must be {names}, got {type(value).__name__}")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise TraceError(f"{where} is {shorten(value)}, which is too large for an index or a line")
    if isinstance(value, str):
        try:
            check_text(value)
        except FileError as error:
            raise TraceError(f"{where}: {error}") from None
    if isinstance(value, dict):
        for name in cast("dict[Any, Any]", value):
            _check_type(name, str, f"{where}: a name")
    return cast("Any", value)


def _quote_name(name: Any) -> str:
    """Return a field's name for an error message."""
    return name if isinstance(name, str) and len(name) < 60 and name.isprintable() else shorten(name)



def _read_trace(data: Any, where: str, depth: int, check: bool) -> Trace:
    """Return the trace in plain data. `where` names it in errors, and `depth` is how deeply it is nested."""
    if depth > DEEPEST:
        raise TraceError(f"{where} is nested more than {DEEPEST} traces deep")
    head = _as_object(data, where)
    if head.get("format") != FORMAT:
        raise TraceError(f"{where} is not a trace: its format is {shorten(head.get('format'))}, not {FORMAT!r}")
    version = head.get("version")
    if type(version) is not int or version != VERSION:
        raise TraceError(f"{where} has version {shorten(version)}; this program reads version {VERSION}")
    _check_fields(data, where, TRACE_FIELDS)
    trace = Trace()
    reader = Reader(trace, where)
    reader.read_all(data, depth, check)
    for i, each in enumerate(_check_type(data["caught"], list, f"{where}: caught")):
        error = reader.read_failure(each, f"{where}: caught {i}")
        trace.caught += [] if error is None else [error]
    if check:
        _check_sums(trace, where)
    return trace


class Reader:
    """Reader of the parts of one trace. It checks their references."""

    def __init__(self, trace: Trace, where: str):
        self.trace, self.where = trace, where
        self.values: list[Stored] = []
        self.sites: list[Site] = []
        self.formulas: list[Formula] = []
        self.nodes: dict[int, TraceNode] = {}
        self.groups: dict[int, Group] = {}
        self.walk_count = self.next_step = 0
        self.edges: dict[int, tuple[set[tuple[str, int]], set[str]]] = {}

    def read_all(self, data: dict[str, Any], depth: int, check: bool) -> None:
        """Read every part of a trace, each after the parts that it refers to."""
        trace, where = self.trace, self.where
        listed = {name: _check_type(data[name], list, f"{where}: {name}") for name in
                  ("values", "sites", "formulas", "groups", "nodes", "steps", "starts", "journal", "gradients",
                   "walks")}  # fmt: skip
        self._read_part(data["part"])
        self.walk_count = len(listed["walks"])
        self.values += [_read_value(each, f"{where}: value {i}") for i, each in enumerate(listed["values"])]
        self.sites += [self.read_site(each, f"{where}: site {i}") for i, each in enumerate(listed["sites"])]
        self.formulas += [self.read_formula(each, f"{where}: formula {i}") for i, each in enumerate(listed["formulas"])]
        trace.groups = [self.read_group(each, i) for i, each in enumerate(listed["groups"])]
        trace.nodes = [self.read_node(each, i, depth, check) for i, each in enumerate(listed["nodes"])]
        for name, each in _check_type(data["rules"], dict, f"{where}: rules").items():
            trace.rules[name] = self.read_rule(each, f"{where}: rule {name}")
        trace.steps = [self.read_step(each, i) for i, each in enumerate(listed["steps"])]
        trace.walks = [self.read_walk(each, f"{where}: walk {i}") for i, each in enumerate(listed["walks"])]
        for name in ("starts", "gradients"):
            for each in listed[name]:
                self.read_gradient(each, getattr(trace, name))
        entries = enumerate(listed["journal"])
        trace.journal = [self.read_entry(each, f"{where}: journal entry {i}") for i, each in entries]
        trace.error = self.read_failure(data["error"], f"{where}: error")

    def _read_part(self, data: Any) -> None:
        """Raise an error for a part of a longer trace, which can be shown but not loaded."""
        if data is not None:
            where = f"{self.where}: part"
            _check_fields(data, where, ("first", "steps", "of_steps", "of_nodes", "of_groups", "links", "unreached"))
            raise TraceError(f"{where}: this is a part of a record; only a whole record can be loaded")

    def walk_number(self, number: Any, where: str) -> int:
        """Return a valid reference to a walk."""
        if not 0 <= _check_type(number, int, where) < self.walk_count:
            raise TraceError(f"{where} refers to walk {number}; there are {self.walk_count}")
        return number

    def sites_at(self, data: Any, where: str) -> list[Site]:
        """Return the sites that some references refer to."""
        sites: list[Site] = []
        for each in _check_type(data, list, f"{where}: lines"):
            number: int = _check_type(each, int, f"{where}: lines")
            if not 0 <= number < len(self.sites):
                raise TraceError(f"{where} refers to site {number}; there are {len(self.sites)}")
            sites.append(self.sites[number])
        return sites

    def read_failure(self, data: Any, where: str) -> Failure | None:
        """Return the error that ended a walk or the program."""
        if data is None:
            return None
        fields = dict(_check_fields(data, where, ("kind", "text", "node", "input", "lines")))
        for name, kinds in (("kind", str), ("text", str), ("input", TEXT_OR_NONE)):
            _check_type(fields[name], kinds, f"{where}: {name}")
        fields["node"] = None if fields["node"] is None else self.node_id(fields["node"], where)
        fields["lines"] = self.sites_at(fields["lines"], where)
        return Failure(**fields)

    def read_formula(self, data: Any, where: str) -> Formula:
        """Return a formula of steps."""
        fields = _check_fields(data, where, ("text", "latex", "mathml"))
        for name, value in fields.items():
            _check_type(value, str, f"{where}: {name}")
        return Formula(**fields)

    def read_group(self, data: Any, number: int) -> Group:
        """Return a group. Its parent comes before it, so there are no cycles."""
        where = f"{self.where}: group {number}"
        fields = dict(_check_fields(data, where, GROUP_FIELDS))
        if fields["id"] != number or isinstance(fields["id"], bool):
            raise TraceError(f"{where} has the id {fields['id']!r}")
        if fields["kind"] not in ("module", "scope", "function", "round"):
            raise TraceError(f"{where}: kind {fields['kind']!r} is not module, scope, function or round")
        for name in ("name", "path"):
            _check_type(fields[name], str, f"{where}: {name}")
        _check_type(fields["of"], TEXT_OR_NONE, f"{where}: of")
        for name in ("round", "rounds", "parent"):
            _check_type(fields[name], INDEX_OR_NONE, f"{where}: {name}")
        for name in ("nodes", "steps"):
            _check_type(fields[name], int, f"{where}: {name}")
        if fields["parent"] is not None and not 0 <= fields["parent"] < number:
            raise TraceError(f"{where} has the parent {fields['parent']}, which does not come before it")
        fields["line"] = None if fields["line"] is None else self.sites_at([fields["line"]], where)[0]
        group = self.groups[number] = Group(**fields)
        return group

    def read_walk(self, data: Any, where: str) -> Walk:
        """Return a walk. Its steps have been read."""
        fields = dict(_check_fields(data, where, WALK_FIELDS))
        if fields["direction"] not in ("backward", "forward"):
            raise TraceError(f"{where}: the direction must be 'backward' or 'forward', got {fields['direction']!r}")
        first, count = (_check_type(fields[name], int, f"{where}: {name}") for name in ("first", "steps"))
        if not (first >= 0 and count >= 0 and first + count <= len(self.trace.steps)):
            raise TraceError(f"{where} has steps {first} to {first + count - 1}; there are {len(self.trace.steps)}")
        if first != self.next_step:
            raise TraceError(f"{where}: its steps must be those from {self.next_step} on that have its number")
        self.next_step += count
        for step in self.trace.steps[first : first + count]:
            if not self.can_lead(step.node, step.input, step.target, fields["direction"]):
                raise TraceError(f"{where} goes {fields['direction']}, and step {step.index} does not")
        fields["root"] = None if fields["root"] is None else self.node_id(fields["root"], where)
        fields["seed"] = self.value_at(fields["seed"], where)
        fields["lines"] = self.sites_at(fields["lines"], where)
        fields["error"] = self.read_failure(fields["error"], f"{where}: error")
        leaves: list[LeafGradient] = []
        for each in _check_type(fields["leaves"], list, f"{where}: leaves"):
            here = f"{where}: a leaf"
            entry = dict(_check_fields(each, here, ("node", "value", "before", "received", "after")))
            node = self.node_id(entry.pop("node"), here)
            values = {name: self.value_at(reference, here) for name, reference in entry.items()}
            leaves.append(LeafGradient(node=node, **values))
        fields["leaves"] = leaves
        return Walk(**fields)

    def can_lead(self, node: int, name: str, target: int, *directions: str) -> bool:
        """Return whether a step in one of these directions can go from `node` to `target`.

        A backward step goes to an input of the application, a forward step to the application or one of its outputs.
        """
        inputs, names = self.inputs_of(node)
        if "backward" in directions and (name, target) in inputs:
            return True
        outputs, _ = self.inputs_of(target)
        results = target == node or ("of", node) in outputs
        return "forward" in directions and results and name in names

    def inputs_of(self, node: int) -> tuple[set[tuple[str, int]], set[str]]:
        """Return the inputs of a node as a set, and their names: a node may have many, and a step for each."""
        if node not in self.edges:
            inputs = set(self.trace.nodes[node].inputs)
            self.edges[node] = inputs, {name for name, _ in inputs}
        return self.edges[node]

    def value_at(self, reference: Any, where: str) -> Stored | None:
        """Return the value that a reference refers to."""
        index: int | None = _check_type(reference, INDEX_OR_NONE, where)
        if index is None:
            return None
        if not 0 <= index < len(self.values):
            raise TraceError(f"{where} refers to value {index}; there are {len(self.values)}")
        return self.values[index]

    def node_id(self, number: Any, where: str) -> int:
        """Return a valid reference to a node that comes before."""
        if _check_type(number, int, where) not in self.nodes:
            raise TraceError(f"{where} refers to node {number}; there are {len(self.nodes)} before it")
        return number

    def read_entry(self, data: Any, where: str) -> JournalEntry:
        """Return an entry of the journal. The nodes, steps and walks have been read."""
        fields = dict(_check_fields(data, where, ENTRY_FIELDS))
        if fields["kind"] not in KINDS_OF_ENTRIES:
            raise TraceError(f"{where}: kind {shorten(fields['kind'])} is not one of {', '.join(KINDS_OF_ENTRIES)}")
        if fields["of"] not in (None, "value", "gradient"):
            raise TraceError(f"{where}: of must be null, 'value' or 'gradient', got {shorten(fields['of'])}")
        for name in ("name", "by"):
            _check_type(fields[name], TEXT_OR_NONE, f"{where}: {name}")
        for name in ("first", "count"):
            _check_type(fields[name], INDEX_OR_NONE, f"{where}: {name}")
        fields["node"] = None if fields["node"] is None else self.node_id(fields["node"], where)
        if fields["kind"] in ("checkpoint", "recompute") and not self._is_application(fields["node"]):
            raise TraceError(f"{where}: a {fields['kind']} must be about a node that an operation computed")
        fields["walk"] = None if fields["walk"] is None else self.walk_number(fields["walk"], f"{where}: walk")
        for name in ("before", "after"):
            fields[name] = self.value_at(fields[name], f"{where}: {name}")
        fields["lines"] = self.sites_at(fields["lines"], where)
        return JournalEntry(**fields)

    def _is_application(self, node: int | None) -> bool:
        return node is not None and self.nodes[node].kind == "application"

    def read_gradient(self, data: Any, gradients: dict[int, Any]) -> None:
        """Read the gradient of one leaf."""
        where = f"{self.where}: a gradient"
        entry = _check_fields(data, where, ("node", "value"))
        number = self.node_id(entry["node"], where)
        if number in gradients:
            raise TraceError(f"{self.where}: the gradient of node {number} occurs twice")
        gradients[number] = self.value_at(entry["value"], f"{self.where}: the gradient of node {number}")

    def read_node(self, data: Any, number: int, depth: int, check: bool) -> TraceNode:
        """Return a node. Its inputs come before it, so there are no cycles."""
        where = f"{self.where}: node {number}"
        fields = dict(_check_fields(data, where, NODE_FIELDS))
        if type(fields["id"]) is not int or fields["id"] != number:
            raise TraceError(f"{where} has the id {shorten(fields['id'])}")
        if fields["kind"] not in ("leaf", "application", "output"):
            raise TraceError(f"{where}: kind {shorten(fields['kind'])} is not leaf, application or output")
        if fields["cut"] not in (None, *CUTS):
            raise TraceError(f"{where}: cut must be null or one of {', '.join(CUTS)}, got {shorten(fields['cut'])}")
        for name, types in TYPES_OF_NODE_FIELDS.items():
            _check_type(fields[name], types, f"{where}: {name}")
        group: int | None = _check_type(fields["group"], INDEX_OR_NONE, f"{where}: group")
        if group is not None and group not in self.groups:
            raise TraceError(f"{where} refers to group {group}; there are {len(self.groups)}")
        params = _check_type(fields["params"], dict, f"{where}: params")
        for name, value in params.items():
            _check_type(name, str, f"{where}: the name of a parameter")
            _check_type(value, str, f"{where}: parameter {_quote_name(name)}")
        inputs: list[tuple[str, int]] = []
        for each in _check_type(fields["inputs"], list, f"{where}: inputs"):
            entry = _check_fields(each, f"{where}: an input", ("name", "node"))
            inputs.append((_check_type(entry["name"], str, where), self.node_id(entry["node"], where)))
        fields.update(inputs=inputs, value=self.value_at(fields["value"], where))
        fields["lines"] = self.sites_at(fields["lines"], where)
        if data["inside"] is not None:
            fields["inside"] = _read_trace(data["inside"], f"{where}, inside", depth + 1, check)
        del fields["opens"]
        node = self.nodes[number] = TraceNode(**fields)
        return node

    def read_site(self, data: Any, where: str) -> Site:
        """Return a location in the user's program."""
        fields = _check_fields(data, where, tuple(sorted(Site.__slots__)))
        for name, value in fields.items():
            types = TEXT_OR_NONE if name in ("file", "function", "text") else INDEX_OR_NONE
            _check_type(value, types, f"{where}: {name}")
        return Site(**fields)

    def read_rule(self, data: Any, where: str) -> Rule:
        """Return a rule."""
        fields = dict(_check_fields(data, where, tuple(sorted(Rule.__slots__))))
        for name, value in fields.items():
            _check_type(value, list if name == "reads" else int if name == "line" else TEXT_OR_NONE, f"{where}: {name}")
        fields["reads"] = tuple(_check_type(each, str, f"{where}: reads") for each in fields["reads"])
        return Rule(**fields)

    def read_step(self, data: Any, number: int) -> Step:
        """Return a step."""
        where = f"{self.where}: step {number}"
        fields = dict(_check_fields(data, where, tuple(sorted(Step.__slots__))))
        if type(fields["index"]) is not int or fields["index"] != number:
            raise TraceError(f"{where} has the index {shorten(fields['index'])}")
        node, target = (self.node_id(fields[name], f"{where}: {name}") for name in ("node", "target"))
        if _check_type(fields["rule"], str, f"{where}: rule") not in self.trace.rules:
            raise TraceError(f"{where} applies the rule {shorten(fields['rule'])}, which is not described")
        _check_type(fields["input"], str, f"{where}: input")
        if not self.can_lead(node, fields["input"], target, "backward", "forward"):
            raise TraceError(f"{where} goes from node {node} to node {target}, which is not its input by that name")
        for name in ("accumulates", "earlier"):
            _check_type(fields[name], bool, f"{where}: {name}")
        self.walk_number(fields["walk"], f"{where}: walk")
        if (at := _check_type(fields["formula"], INDEX_OR_NONE, f"{where}: formula")) is not None:
            if not 0 <= at < len(self.formulas):
                raise TraceError(f"{where} refers to formula {at}; there are {len(self.formulas)}")
            fields["formula"] = self.formulas[at]
        for name in ("upstream", "local", "raw", "contribution", "before", "after"):
            fields[name] = self.value_at(fields[name], f"{where}: {name}")
        axes = _check_type(fields["summed_axes"], list, f"{where}: summed_axes")
        fields["summed_axes"] = tuple(_check_type(axis, int, f"{where}: summed_axes") for axis in axes)
        reads = _check_type(fields["reads"], dict, f"{where}: reads")
        for name in reads:
            _check_type(name, str, f"{where}: the name of a value that the rule read")
        fields["reads"] = {name: self.value_at(each, f"{where}: {_quote_name(name)}") for name, each in reads.items()}
        return Step(**fields)


def _read_value(data: Any, where: str) -> Stored:
    """Return a value. Its shape is checked against its entries before anything is allocated."""
    fields = _check_fields(data, where, tuple(Stored.__slots__))
    for name in ("nan", "inf"):
        if _check_type(fields[name], int, f"{where}: {name}") < 0:
            raise TraceError(f"{where} has {fields[name]} entries that are {name}")
    count = _count_entries(fields["shape"], where)
    dtype = _check_type(fields["dtype"], str, f"{where}: dtype")
    if dtype not in DTYPES:
        kinds = "booleans, integers, floats or complex numbers"
        raise TraceError(f"{where} has dtype {shorten(dtype)}; a value must have {kinds}")
    _check_type(fields["device"], str, f"{where}: device")
    pairs = dtype.startswith("complex")
    if fields["data"] is not None:
        _check_entries(fields["data"], count, pairs, where)
        if count > MOST_IN_FULL:  # each step that reads the value adds it up again
            raise TraceError(f"{where} lists {shorten(count)} entries; one with more than {MOST_IN_FULL} has a summary")
        _check_dtype(dtype, fields["data"], where)
    for name in ("corner", "thumbnail"):
        if fields[name] is not None:
            matrix = _check_fields(fields[name], f"{where}: {name}", ("shape", "data"))
            _check_entries(matrix["data"], _count_entries(matrix["shape"], where), pairs and name == "corner", where)
    if fields["statistics"] is not None:
        numbers = _check_fields(fields["statistics"], f"{where}: statistics", ("min", "max", "mean", "norm"))
        for name, number in numbers.items():
            _check_number(number, f"{where}: {name}")
    return Stored(**fields)


def _count_entries(shape: Any, where: str) -> int:
    """Return how many entries an array of a shape has."""
    for length in _check_type(shape, list, f"{where}: shape"):
        if type(length) is not int:
            _check_type(length, int, f"{where}: shape")
        if length < 0:
            raise TraceError(f"{where} has an axis of length {shorten(length)}")
    try:
        return count_entries(shape)
    except FileError as error:
        raise TraceError(f"{where}: {error}") from None


def _check_dtype(dtype: str, data: list[Any], where: str) -> None:
    """Raise an error for an entry that an array of booleans or integers cannot hold."""
    if np.dtype(dtype).kind in "biu":
        limits = np.iinfo("u1" if dtype == "bool" else dtype)
        least, most = limits.min, 1 if dtype == "bool" else limits.max
        if not all(isinstance(entry, int) and least <= entry <= most for entry in data):
            raise TraceError(f"{where} has an entry that does not fit {dtype}")


def _check_entries(data: Any, count: int, pairs: bool, where: str) -> None:
    """Raise an error unless `data` has `count` numbers, or pairs of numbers."""
    if len(_check_type(data, list, f"{where}: data")) != count:
        raise TraceError(f"{where} has {len(data)} entries, its shape says {count}")
    for entry in data:
        for number in _check_type(entry, list, where) if pairs else (entry,):
            _check_number(number, where)
        if pairs and len(entry) != 2:
            raise TraceError(f"{where}: a complex number must be a pair")


def _check_number(entry: Any, where: str) -> None:
    """Raise an error for an entry that is not a number."""
    if isinstance(entry, str) and entry in NOT_FINITE:
        return
    if isinstance(entry, int) and abs(entry) >= 2**64:
        raise TraceError(f"{where}: an integer of {entry.bit_length()} bits")
    if isinstance(entry, float) and not isfinite(entry):
        raise TraceError(f"{where}: a number is too large for a float; infinity must be written as 'inf'")
    if not isinstance(entry, (int, float)):
        raise TraceError(f"{where}: an entry must be a number, got {type(entry).__name__}")


def _check_sums(trace: Trace, where: str) -> None:
    """Raise an error unless the contributions of each walk add up to the gradients in the trace."""
    hooked = _hooked_leaves(trace)
    next_step = 0
    for number, walk in enumerate(trace.walks):
        here = f"{where}: walk {number}"
        steps = trace.steps[walk.first : walk.first + walk.steps]
        if walk.first != next_step or any(step.walk != number for step in steps):
            raise TraceError(f"{here}: its steps must be those from {next_step} on that have its number")
        next_step += walk.steps
        if walk.direction == "forward":
            _check_steps(steps, {}, set(), where)
        else:
            _check_backward_walk(walk, steps, hooked[number], here, where)
    if next_step != len(trace.steps):
        raise TraceError(f"{where} has {len(trace.steps)} steps, its walks {next_step}")
    _check_journal(trace, where)


def _hooked_leaves(trace: Trace) -> list[set[int]]:
    """Return the leaves whose gradient a hook changed, for each walk."""
    hooked: list[set[int]] = [set() for _ in trace.walks]
    walk = 0
    for entry in trace.journal:
        walk = entry.walk if entry.kind == "begin" and entry.walk is not None else walk
        if entry.kind == "hook" and entry.node is not None and hooked:
            hooked[walk].add(entry.node)
    return hooked


def _check_journal(trace: Trace, where: str) -> None:
    """Raise an error unless the journal has every node, step and walk once, in order, and each change begins with what
    the entry before it left."""
    gradients = dict(trace.starts)
    returned: dict[int, Any] = {}
    changed: set[int] = set()
    states = {"value": {node.id: node.value for node in trace.nodes if node.kind == "leaf"}, "gradient": gradients}
    next_of = {"compute": 0, "arrive": 0, "begin": 0, "end": 0}
    for number, entry in enumerate(trace.journal):
        here = f"{where}: journal entry {number}"
        if entry.kind in next_of:
            found, count = (entry.walk, 1) if entry.walk is not None else (entry.first, entry.count)
            if found != next_of[entry.kind] or type(count) is not int or count < 1:
                raise TraceError(f"{here}: the next {entry.kind} must be number {next_of[entry.kind]}")
            next_of[entry.kind] += count
        elif entry.kind == "return" and entry.node is not None:
            returned[entry.node] = entry.after
        elif entry.kind != "hook" and entry.node is not None and entry.of is not None:
            changed |= {entry.node} if entry.of == "gradient" else set()
            known = states[entry.of]
            _check_same(known.get(entry.node), entry.before, f"{here}: before is not what the node had")
            known[entry.node] = entry.after
    counts = {"compute": trace.nodes, "arrive": trace.steps, "begin": trace.walks, "end": trace.walks}
    for kind, parts in counts.items():
        if next_of[kind] != len(parts):
            raise TraceError(f"{where}: the journal has {next_of[kind]} of {len(parts)} entries {kind}")
    gradients |= {node: gradient for node, gradient in returned.items() if node not in changed}
    for node, gradient in trace.gradients.items():
        _check_same(gradients.get(node), gradient, f"{where}: node {node}: its gradient is not what the journal left")


def _check_same(one: Any, other: Any, sentence: str) -> None:
    """Raise an error if two values differ, or one of them is missing."""
    if (one is None) != (other is None):
        raise TraceError(sentence)
    if _is_in_full(one) and _is_in_full(other):
        _check_equal(one.numpy(), other.numpy(), sentence)


def _check_backward_walk(walk: Walk, steps: Any, hooked: set[int], here: str, where: str) -> None:
    """Raise an error unless the steps of a walk add up to what its leaves received, and that to their gradients."""
    arrived = {leaf.node: _full_array(leaf.before) for leaf in walk.leaves if leaf.before is not None}
    _check_steps(steps, arrived, set(arrived), where)
    largest: float | None = None
    for leaf in walk.leaves:
        if leaf.node not in arrived:
            raise TraceError(f"{here}: node {leaf.node} received something, but no step sends it anything")
        if not _is_in_full(leaf.received) or (leaf.before is not None and not _is_in_full(leaf.before)):
            continue
        total = leaf.received.numpy() if leaf.before is None else _full_array(leaf.before) + leaf.received.numpy()
        if leaf.node not in hooked and arrived[leaf.node] is not None:
            _check_equal(arrived[leaf.node], total, f"{here}: the steps do not add up at {leaf.node}")
        if walk.error is None and _is_in_full(leaf.after):
            after, sentence = leaf.after.numpy(), f"{here}: what arrived is not what node {leaf.node} has after it"
            if not _are_equal(total, after):  # the walk was repeated for its steps, which may round in other places
                largest = _largest_contribution(steps) if largest is None else largest
                _check_equal(total, after, sentence, 100 * largest * EPSILONS.get(str(after.dtype), 0.0))


def _check_steps(steps: Any, arrived: dict[int, Any], earlier: set[int], where: str) -> None:
    """Raise an error unless each step adds its contribution to the accumulator."""
    for step in steps:
        here = f"{where}: step {step.index}"
        if step.accumulates != (step.target in arrived):
            raise TraceError(f"{here} says accumulates={step.accumulates}, which earlier steps contradict")
        if step.before is not None and not step.accumulates:
            raise TraceError(f"{here} adds to something, and says accumulates=False")
        if step.earlier != (step.target in earlier):
            raise TraceError(f"{here} says earlier={step.earlier}, which its walk contradicts")
        if not _is_in_full(step.contribution) or not _is_in_full(step.after):
            arrived[step.target] = None
            continue
        contribution, after = step.contribution.numpy(), step.after.numpy()
        before = arrived.get(step.target)
        if before is not None and _is_in_full(step.before):
            _check_equal(step.before.numpy(), before, f"{here}: before is not what earlier steps left")
        if step.target in arrived and before is None:
            arrived[step.target] = after
            continue
        if before is not None and before.shape != contribution.shape:
            raise TraceError(f"{here}: its contribution and the accumulator have different shapes")
        total = contribution if before is None else before + contribution
        _check_equal(total, after, f"{here}: before and contribution do not add up to after")
        arrived[step.target] = after


def _largest_contribution(steps: Any) -> float:
    """Return the size of the largest finite entry that a walk's steps sent: sums of them round in proportion to it."""
    sent = [step.contribution.numpy() for step in steps if _is_in_full(step.contribution)]
    return max((float(np.abs(each).max(initial=0, where=np.isfinite(each))) for each in sent), default=0.0)


def _full_array(value: Any) -> Any:
    """Return the array of a value; None if the file has only a summary of it."""
    return value.numpy() if _is_in_full(value) else None


def _is_in_full(value: Any) -> TypeGuard[Stored]:
    """Return whether the file has all entries of a value."""
    return isinstance(value, Stored) and value.data is not None


def _check_equal(a: Any, b: Any, sentence: str, within: float = 0.0) -> None:
    if not _are_equal(a, b, within):
        raise TraceError(sentence)


def _are_equal(a: Any, b: Any, within: float = 0.0) -> bool:
    return a.shape == b.shape and bool(np.isclose(a, b, rtol=1e-6, atol=within, equal_nan=True).all())
