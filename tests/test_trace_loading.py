"""Loading a trace: everything is checked, nothing is run, and errors are sentences."""

import copy
import json
import os
import pickle
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import micrograd_plus as mg
from micrograd_plus.tracing.json_in import MOST_BYTES, TraceError


def record_program():
    x, w = mg.tensor([1.0, -2.0], requires_grad=True), mg.tensor([[0.5], [3.0]], requires_grad=True)
    with mg.record() as trace:
        with mg.scope("scores"), mg.scope("weighted"):
            product = x * w
        (mg.softmax(product) * x).sum().backward()
    return trace.to_dict()


@pytest.fixture(scope="module")
def document():
    """Return a trace with an accumulation, a sum over broadcast axes and a composite, as plain data."""
    return json.loads(json.dumps(record_program()))


def with_change(data, *path_and_value):
    """Return a copy with one place changed; the path may end in a function that changes the place."""
    *path, value = path_and_value
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


def first(data, part, **wanted):
    """Return the place of the first node or step that has these values."""
    return next(i for i, each in enumerate(data[part]) if all(each[key] == value for key, value in wanted.items()))


def test_a_saved_trace_loads_with_all_its_parts(document, tmp_path):
    path = tmp_path / "walk.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    for source in (document, json.dumps(document), path, str(path)):
        assert mg.load_trace(source).to_dict() == document


def test_a_name_with_half_of_a_surrogate_pair_is_saved_and_loaded(tmp_path):
    x = mg.tensor(2.0, requires_grad=True)
    x.label = "\ud800"
    with mg.record() as trace:
        (x * x).backward()
    trace.save(tmp_path / "walk.json")
    assert mg.load_trace(tmp_path / "walk.json").nodes[0].label == "?"


def test_a_loaded_value_returns_its_array(document):
    trace = mg.load_trace(document)
    assert trace.nodes[0].value.numpy().tolist() == [1.0, -2.0]
    large = mg.tensor(np.zeros((9, 9)), requires_grad=True)
    with mg.record() as record:
        large.sum().backward()
    loaded = mg.load_trace(record.to_json())
    with pytest.raises(ValueError, match=r"keeps only a summary of its value of shape \(9, 9\)"):
        loaded.nodes[0].value.numpy()


# Invalid traces -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "sentence"), [
    ("{", "not JSON"), ("{}", "not a trace"), ('{"format": "other"}', "its format is 'other'"),
    ("[" * 100_000, "not a trace|No such|too deep|not JSON|name too long"),
    ('{"a":' * 100_000, "nested too deeply"),
    ('{"format": "micrograd_plus/trace", "version": 4}', "version 4; this program reads version 3"),
    ('{"format": "micrograd_plus/trace", "version": "1"}', "version '1'"),
    ('{"format": "micrograd_plus/trace", "version": 3}', "lacks walks, error, nodes, groups, steps, rules"),
    ('{"format": NaN}', "NaN is not JSON"), ('{"format": -Infinity}', "-Infinity is not JSON"),
    ('{"format": 1, "format": 2}', "occurs twice"),
])  # fmt: skip
def test_text_of_another_format_is_an_error_with_a_sentence(text, sentence, tmp_path):
    path = tmp_path / "hostile.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TraceError, match=sentence):
        mg.load_trace(path)


def test_half_a_million_brackets_do_not_crash_the_interpreter(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"format":' + "[" * 500_000, encoding="utf-8")
    with pytest.raises(TraceError, match="nested too deeply"):
        mg.load_trace(path)


def test_a_number_of_five_thousand_digits_is_an_error(document, tmp_path):
    for count in (5000, 21):
        text = json.dumps(document).replace("-2.0", "9" * count)
        with pytest.raises(TraceError, match=f"an integer has {count} digits"):
            mg.load_trace(text)
    with pytest.raises(TraceError, match="an integer of 70 bits"):
        mg.load_trace(with_change(document, "values", 0, "data", 0, 2**69))


def test_a_number_beyond_all_floats_is_an_error(document):
    with pytest.raises(TraceError, match="too large for a float; infinity must be written as 'inf'"):
        mg.load_trace(json.dumps(document).replace("-2.0", "1e999"))


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(TraceError, match=f"{MOST_BYTES + 1} bytes; {MOST_BYTES} are the most"):
        mg.load_trace(path)


def test_a_pickle_is_not_json_and_never_runs(tmp_path):
    class Attack:
        def __reduce__(self):
            return sys.exit, ("the pickle was run",)

    path = tmp_path / "attack.json"
    path.write_bytes(pickle.dumps(Attack(), protocol=0))
    with pytest.raises(TraceError, match="not JSON"):
        mg.load_trace(path)


def test_a_binary_file_is_an_error(tmp_path):
    path = tmp_path / "bytes.json"
    path.write_bytes(b'{"format": "\xff\xfe"}')
    with pytest.raises(TraceError, match="is not text in UTF-8"):
        mg.load_trace(path)


@pytest.mark.parametrize("source", [3, None, 2.5, b"{}", [], object()])
def test_a_source_of_another_type_is_an_error(source):
    with pytest.raises(TraceError, match="a path or the text of a trace"):
        mg.load_trace(source)


# Wrong fields and types ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [
    (), ("walks", 0), ("walks", 0, "leaves", 0), ("nodes", 0), ("sites", 0), ("nodes", 2, "inputs", 0), ("steps", 0),
    ("groups", 1), ("formulas", 0), ("gradients", 0), ("values", 0), ("values", 0, "statistics"), ("rules", "sum.x"),
])  # fmt: skip
def test_a_missing_or_unknown_field_is_an_error_that_names_it(document, path):
    place = document
    for key in path:
        place = place[key]
    for name in place:
        data = copy.deepcopy(document)
        inner = data
        for key in path:
            inner = inner[key]
        del inner[name]
        with pytest.raises(TraceError, match=rf"lacks {name}|not a trace|has version None"):
            mg.load_trace(data)
    with pytest.raises(TraceError, match="has unknown fields: exec"):
        mg.load_trace(with_change(document, *path, "exec", "import os"))


TYPES = [None, True, 1, -1, 2.5, "x", [], {}, [[]], 10**9]


@pytest.mark.parametrize("wrong", TYPES, ids=repr)
@pytest.mark.parametrize("path", [
    ("walks",), ("walks", 0), ("walks", 0, "direction"), ("walks", 0, "root"), ("walks", 0, "seed"),
    ("walks", 0, "first"), ("walks", 0, "steps"), ("walks", 0, "lines"), ("walks", 0, "leaves"),
    ("walks", 0, "leaves", 0, "before"), ("walks", 0, "error"), ("error",), ("part",), ("groups",), ("groups", 1),
    ("groups", 1, "parent"), ("groups", 1, "kind"), ("groups", 1, "line"), ("groups", 1, "rounds"),
    ("formulas",), ("formulas", 0), ("formulas", 0, "text"), ("steps", 0, "formula"), ("steps", 0, "walk"),
    ("steps", 0, "earlier"), ("nodes", 2, "name"), ("nodes", 2, "group"), ("nodes", 2, "failed"),
    ("nodes",), ("nodes", 0), ("nodes", 2, "id"),
    ("nodes", 2, "kind"), ("nodes", 2, "op"), ("nodes", 2, "inputs"), ("nodes", 2, "inputs", 0, "node"),
    ("nodes", 2, "params"), ("nodes", 2, "requires_grad"), ("nodes", 2, "value"), ("nodes", 2, "lines"),
    ("sites", 0, "line"), ("nodes", 2, "inside"), ("steps",), ("steps", 0), ("steps", 0, "index"),
    ("steps", 0, "node"), ("steps", 0, "target"), ("steps", 0, "rule"), ("steps", 0, "upstream"),
    ("steps", 0, "summed_axes"), ("steps", 0, "reads"), ("steps", 0, "accumulates"), ("rules",), ("rules", "sum.x"),
    ("rules", "sum.x", "reads"), ("rules", "sum.x", "line"), ("gradients",), ("gradients", 0, "node"),
    ("gradients", 0, "value"), ("values",), ("values", 0), ("values", 0, "shape"), ("values", 0, "dtype"),
    ("values", 0, "data"), ("values", 0, "statistics"), ("values", 0, "statistics", "mean"),
], ids=str)  # fmt: skip
def test_a_wrong_type_is_a_trace_error_or_harmless(document, path, wrong):
    assert check_rejected_or_harmless(with_change(document, *path, wrong))


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_random_change_is_a_trace_error_or_harmless(data):
    assert check_rejected_or_harmless(change_at_random(cached_record(), data))


def check_rejected_or_harmless(data):
    """Check that a trace is rejected with a clear error, or can be shown, written and reloaded."""
    try:
        trace = mg.load_trace(data)
    except TraceError as error:
        return str(error).startswith("trace")
    return mg.load_trace(trace.to_json()).to_json() == trace.to_json() and bool(trace.summary())


@cache
def cached_record():
    return json.loads(json.dumps(record_program()))


def change_at_random(trace, data):
    """Return a copy with one random place changed."""
    anything = st.one_of(st.none(), st.booleans(), st.integers(-3, 40), st.floats(allow_nan=False), st.text(max_size=3),
                         st.just([]), st.just({}), st.lists(st.integers(0, 3), max_size=3))  # fmt: skip
    trace = copy.deepcopy(trace)
    place = trace
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
            place = place[key]
        else:
            place[key] = data.draw(anything)
            return trace


# References and sums ------------------------------------------------------------------------------------------------


def test_an_invalid_reference_is_an_error_that_names_it(document):
    for path, sentence in [
        (("walks", 0, "root"), "refers to node 999"), (("walks", 0, "lines"), "lines must be list"),
        (("nodes", 2, "lines", 0), "refers to site 999"), (("nodes", 2, "group"), "refers to group 999"),
        (("steps", 0, "formula"), "refers to formula 999"), (("nodes", 2, "value"), "refers to value 999"),
        (("nodes", 2, "inputs", 0, "node"), "refers to node 999; there are 2 before it"),
        (("steps", 0, "target"), "target refers to node 999"), (("steps", 0, "raw"), "raw refers to value 999"),
        (("gradients", 0, "node"), "refers to node 999"), (("gradients", 0, "value"), "refers to value 999"),
    ]:  # fmt: skip
        with pytest.raises(TraceError, match=sentence):
            mg.load_trace(with_change(document, *path, 999))
    with pytest.raises(TraceError, match="applies the rule 'nowhere', which is not described"):
        mg.load_trace(with_change(document, "steps", 0, "rule", "nowhere"))


def test_a_cycle_of_nodes_is_an_error(document):
    place = first(document, "nodes", op="multiply")
    for later in (place, place + 1):
        with pytest.raises(TraceError, match=f"refers to node {later}; there are {place} before it"):
            mg.load_trace(with_change(document, "nodes", place, "inputs", 0, "node", later))
    with pytest.raises(TraceError, match="has the id 0"):
        mg.load_trace(with_change(document, "nodes", place, "id", 0))


def test_the_name_of_a_rule_must_be_text(document):
    with pytest.raises(TraceError, match=r"rules: a name: .*holds half of a pair of surrogates"):
        mg.load_trace({**document, "rules": {**document["rules"], "\ud800": next(iter(document["rules"].values()))}})
    with pytest.raises(TraceError, match="rules: a name must be str, got int"):
        mg.load_trace({**document, "rules": {**document["rules"], 7: next(iter(document["rules"].values()))}})


def test_wrong_sums_are_an_error(document):
    step = first(document, "steps", accumulates=True)
    after = document["steps"][step]["after"]
    with pytest.raises(TraceError, match=f"step {step}: before and contribution do not add up to after"):
        mg.load_trace(with_change(document, "values", after, "data", 0, 1234.5))
    sent = document["values"][document["steps"][step]["contribution"]]
    other = {**sent, "shape": [*sent["shape"], 1]}
    with pytest.raises(TraceError, match="its contribution and the accumulator have different shapes"):
        mg.load_trace(with_change(document, "values", document["steps"][step]["contribution"], other))
    gradient = with_change(document, "gradients", 0, "value", document["gradients"][1]["value"])
    with pytest.raises(TraceError, match="its gradient is not what the journal left"):
        mg.load_trace(gradient)
    assert mg.load_trace(gradient, check=False).to_dict() == gradient


def test_a_gradient_that_cancels_may_be_off_by_a_rounding_error():
    x = mg.tensor([1.0], requires_grad=True)
    with mg.record() as trace:
        (x * 0.3 - x * 0.3).backward()
    data = trace.to_dict()
    (leaf,) = data["walks"][0]["leaves"]
    data["values"][leaf["after"]]["data"] = [5.6e-17]
    mg.load_trace(data)
    data["values"][leaf["after"]]["data"] = [1e-9]
    with pytest.raises(TraceError, match="what arrived is not what node 0 has after it"):
        mg.load_trace(data)


def test_a_gradient_without_a_step_or_twice_is_an_error(document):
    with pytest.raises(TraceError, match="walk 0 has steps 0 to 5; there are 0"):
        mg.load_trace(with_change(document, "steps", []))
    with pytest.raises(TraceError, match="received something, but no step sends it anything"):
        mg.load_trace(with_change(with_change(document, "steps", []), "walks", 0, "steps", 0))
    with pytest.raises(TraceError, match="walk refers to walk 0; there are 0"):
        mg.load_trace(with_change(with_change(document, "steps", []), "walks", []))
    with pytest.raises(TraceError, match="the gradient of node 1 occurs twice"):
        mg.load_trace(with_change(document, "gradients", 0, "node", 1))


def test_a_step_with_a_wrong_accumulator_is_an_error(document):
    step = first(document, "steps", accumulates=True)
    with pytest.raises(TraceError, match=f"step {step}: before is not what earlier steps left"):
        mg.load_trace(with_change(document, "steps", step, "before", document["steps"][step]["after"]))
    with pytest.raises(TraceError, match="step 0 adds to something, and says accumulates=False"):
        mg.load_trace(with_change(document, "steps", 0, "before", 0))
    with pytest.raises(TraceError, match=f"step {step} says accumulates=False, which earlier steps contradict"):
        mg.load_trace(with_change(document, "steps", step, "accumulates", False))


def test_a_shape_larger_than_its_entries_allocates_nothing(document):
    for shape in ([10**12], [10**6, 10**6], [2**62, 2**62]):
        with pytest.raises(TraceError, match=r"has 2 entries, its shape says|more entries than there can be"):
            mg.load_trace(with_change(document, "values", 0, "shape", shape))
    with pytest.raises(TraceError, match="axis of length -1"):
        mg.load_trace(with_change(document, "values", 0, "shape", [-1]))


@pytest.mark.parametrize(
    "dtype",
    ["object", "O", "V8", "S8", "<U4", "datetime64", "float64; import os", "", "int", "int3", "float99", "bool8"],
)
def test_only_dtypes_of_numbers_are_valid(document, dtype):
    with pytest.raises(TraceError, match="booleans, integers, floats or complex numbers"):
        mg.load_trace(with_change(document, "values", 0, "dtype", dtype))


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [("bool", 0, 1), ("int8", -128, 127), ("uint64", 0, 2**64 - 1)]
)
def test_booleans_and_integers_must_fit_their_dtype(document, dtype, least, most):
    data = with_change(document, "values", 0, "dtype", dtype)
    held = mg.load_trace(with_change(data, "values", 0, "data", [least, most]), check=False).nodes[0].value.numpy()
    assert (held.dtype, held.tolist()) == (np.dtype(dtype), [least, most])
    for wrong in (least - 1, most + 1, 0.5, "nan"):
        with pytest.raises(TraceError, match=f"an entry that does not fit {dtype}|an integer of 65 bits"):
            mg.load_trace(with_change(data, "values", 0, "data", [least, wrong]))


def test_traces_nest_at_most_8_deep(document):
    place = first(document, "nodes", op="softmax")
    data = document
    for _ in range(12):
        data = with_change(document, "nodes", place, "inside", data)
    with pytest.raises(TraceError, match="nested more than 8 traces deep"):
        mg.load_trace(data)


def test_an_inside_trace_is_checked_as_well(document):
    place = first(document, "nodes", op="softmax")
    for path, wrong in ((("version",), 7), (("steps", 0, "target"), 99), (("values", 0, "data", 0), "<script>")):
        with pytest.raises(TraceError, match="inside"):
            mg.load_trace(with_change(document, "nodes", place, "inside", *path, wrong))


def test_text_that_looks_like_a_program_stays_text(document):
    attack = "<script>alert(1)</script>{{7*7}}__import__('os').system('true')"
    data = with_change(document, "nodes", 0, "label", attack)
    data = with_change(data, "rules", "sum.x", "source", attack)
    trace = mg.load_trace(data)
    assert (trace.nodes[0].label, trace.rules["sum.x"].source) == (attack, attack)
    assert json.loads(trace.to_json()) == data


def test_a_hundred_thousand_steps_load_without_recursion(document):
    data = copy.deepcopy(document)
    (gradient,) = [each for each in data["gradients"] if each["node"] == 1]
    template = dict(data["steps"][-1], accumulates=True)
    for index in range(len(data["steps"]), 100_000):
        data["steps"].append(dict(template, index=index, target=1, contribution=None, before=None, after=None))
    gradient["value"] = None
    data["walks"][0]["steps"] = 100_000
    for leaf in data["walks"][0]["leaves"]:
        leaf["after"] = leaf["received"] = None
    for entry in data["journal"]:
        if entry["kind"] == "arrive":
            entry["count"] = 100_000
        if entry["node"] == 1:
            entry["after"] = None
    assert len(mg.load_trace(data).steps) == 100_000


HOSTILE = {
    "many axes": (("values", 0, "shape", [10**19] * 20_000), "at most 64 lengths"),
    "65 axes": (("values", 0, "shape", [1] * 65), "at most 64 lengths"),
    "an axis beyond 63 bits": (("values", 0, "shape", [0, 2**63]), "from 0 to 2"),
    "axes that multiply to nothing": (("values", 0, "shape", [0, 2**62, 2**62]), "entries, its shape says"),
    "digits": (("values", 0, "shape", [10**4000] * 60), "a number of 13288 bits"),
    "a surrogate in a label": (("nodes", 0, "label", "\ud800"), "half of a pair of surrogates"),
    "a line of 26 digits": (("sites", 0, "line", 10**25), "too large for an index or a line"),
    "NaN in plain data": (("values", 0, "data", [float("nan")]), "too large for a float|entries"),
    "a truth for a version": (("version", True), "has version"),
    "a fraction for an id": (("nodes", 0, "id", 0.0), "has the id"),
    "a fraction for an index": (("steps", 0, "index", 0.0), "has the index"),
    "an edge that is not there": (("steps", 0, "input", "nobody"), "which is not its input by that name"),
    "a long unknown field": (("x" * 6000, 1), "unknown fields"),
    "a list for a format": (("format", ["x"] * 3000), "its format is"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_data_is_an_error_with_its_location(document, name):
    path, sentence = HOSTILE[name]
    with pytest.raises(TraceError, match=sentence) as caught:
        mg.load_trace(with_change(document, *path))
    assert len(str(caught.value)) < 500
    assert isinstance(caught.value, mg.FileError)


def test_other_text_is_an_error_and_a_byte_order_mark_is_fine(document, tmp_path):
    for text in ("[1, 2]", "", '"text"', "  "):
        with pytest.raises(TraceError):
            mg.load_trace(text)
    text = json.dumps(document)
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    for source in ("\ufeff" + text, tmp_path / "marked.json"):
        assert len(mg.load_trace(source).nodes) == len(document["nodes"])


def test_many_brackets_take_no_memory():
    with pytest.raises(TraceError, match="brackets"):
        mg.load_trace("[" + "[]," * 5_000_000 + "[]]")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices are Unix's")
def test_a_device_and_a_pipe_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (Path("/dev/zero"), tmp_path / "pipe.json", tmp_path):
        with pytest.raises(TraceError, match=r"no regular file|is a folder"):
            mg.load_trace(path)
    with pytest.raises(FileNotFoundError):
        mg.load_trace(tmp_path / "nowhere.json")
