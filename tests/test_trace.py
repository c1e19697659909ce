"""The record of a program and its walk: every word of it, the same in every process, whatever the values."""

import itertools
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import fastjsonschema
import jsonschema
import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, scalar
from micrograd_plus.checks.samples import samples
from micrograd_plus.engine import Value
from micrograd_plus.tracing.json_out import not_finite_to_dict

SCHEMA = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
validate_fast = fastjsonschema.compile({key: part for key, part in SCHEMA.items() if key != "$schema"})
"""The same for very many records; it knows the words of draft 7, and the schema has no others."""


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def record_program(program):
    """Return the trace of a function that computes a loss and walks back from it, as plain data."""
    with mg.record() as trace:
        program().backward()
    return trace.to_dict()


# Fields ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def diamond():
    """Return the sum of a square: x (2,) times w (2, 1), multiplied by itself."""
    x, w = leaf([1.0, 2.0]), leaf([[3.0], [4.0]])
    with mg.record() as trace:
        y = x * w
        loss = (y * y).sum()
        loss.backward()
    return trace.to_dict()


def entries(trace, place):
    return None if place is None else trace["values"][place]["data"]


def test_a_trace_has_the_published_fields(diamond):
    outline = ["format", "version", "walks", "error", "nodes", "groups", "steps", "rules", "formulas", "starts",
               "journal", "gradients", "sites", "values", "caught", "not_finite", "part"]  # fmt: skip
    assert list(diamond) == outline
    assert (diamond["format"], diamond["version"]) == ("micrograd_plus/trace", 3)
    (walk,) = diamond["walks"]
    assert (walk["direction"], walk["root"], entries(diamond, walk["seed"])) == ("backward", 4, [1.0])


def test_nodes_are_in_order_of_creation_and_name_their_inputs(diamond):
    nodes = diamond["nodes"]
    assert [node["id"] for node in nodes] == [0, 1, 2, 3, 4]
    assert [node["kind"] for node in nodes] == ["leaf", "leaf", "application", "application", "application"]
    assert [node["op"] for node in nodes] == [None, None, "multiply", "multiply", "sum"]
    assert [node["label"] for node in nodes] == ["x", "w", "y", None, "loss"]
    assert nodes[2]["inputs"] == [{"name": "a", "node": 0}, {"name": "b", "node": 1}]
    assert nodes[3]["inputs"] == [{"name": "a", "node": 2}, {"name": "b", "node": 2}]
    assert nodes[2]["summary"] == "Multiply two inputs elementwise."
    assert nodes[4]["params"] == {"axis": "None", "keepdims": "False"}
    assert all(node["requires_grad"] for node in nodes)
    assert [entries(diamond, node["value"]) for node in nodes] == [
        [1.0, 2.0], [3.0, 4.0], [3.0, 6.0, 4.0, 8.0], [9.0, 36.0, 16.0, 64.0], [125.0],
    ]  # fmt: skip


def test_steps_have_the_terms_of_the_walk(diamond):
    words = ["upstream", "local", "raw", "contribution", "before", "after"]
    steps = [{word: entries(diamond, step[word]) for word in words} for step in diamond["steps"]]
    y, ones = [3.0, 6.0, 4.0, 8.0], [1.0] * 4
    twice = [6.0, 12.0, 8.0, 16.0]
    by_w, by_x = [18.0, 36.0, 32.0, 64.0], [6.0, 24.0, 8.0, 32.0]
    assert steps == [
        dict(zip(words, [[1.0], None, ones, ones, None, ones], strict=True)),
        dict(zip(words, [ones, y, y, y, None, y], strict=True)),
        dict(zip(words, [ones, y, y, y, y, twice], strict=True)),
        dict(zip(words, [twice, [3.0, 4.0], by_w, [50.0, 100.0], None, [50.0, 100.0]], strict=True)),
        dict(zip(words, [twice, [1.0, 2.0], by_x, [30.0, 40.0], None, [30.0, 40.0]], strict=True)),
    ]
    assert [step["index"] for step in diamond["steps"]] == [0, 1, 2, 3, 4]
    assert [step["node"] for step in diamond["steps"]] == [4, 3, 3, 2, 2]
    assert [step["target"] for step in diamond["steps"]] == [3, 2, 2, 0, 1]
    assert [step["input"] for step in diamond["steps"]] == ["x", "a", "b", "a", "b"]
    assert [step["rule"] for step in diamond["steps"]] == [
        "sum.x", "multiply.a", "multiply.b", "multiply.a", "multiply.b",
    ]  # fmt: skip
    assert [step["accumulates"] for step in diamond["steps"]] == [False, False, True, False, False]
    assert [step["summed_axes"] for step in diamond["steps"]] == [[], [], [], [0], [1]]
    assert [entries(diamond, step["reads"].get("b")) for step in diamond["steps"]][1::2] == [y, [3.0, 4.0]]


def test_gradients_are_the_sums_at_the_leaves(diamond):
    received = {each["node"]: entries(diamond, each["value"]) for each in diamond["gradients"]}
    assert received == {0: [50.0, 100.0], 1: [30.0, 40.0]}


def test_rules_have_their_source_and_a_derived_formula(diamond):
    rule = diamond["rules"]["multiply.a"]
    assert (rule["op"], rule["input"], rule["kind"]) == ("multiply", "a", "elementwise")
    assert rule["reads"] == ["upstream", "b"]
    assert rule["source"] == "lambda b: b"
    assert rule["file"].endswith("arithmetic.py")
    path = Path(mg.__file__).parent.parent / rule["file"]
    assert "def multiply" in path.read_text(encoding="utf-8").splitlines()[rule["line"]]
    assert rule["text"] == "contribution = upstream · b"
    assert "upstream" in rule["latex"]
    assert '<mi data-name="upstream">' in rule["mathml"]
    assert '<mi data-name="b">' in rule["mathml"]


def test_formulas_of_complex_numbers_show_the_conjugates():
    z, w = mg.tensor([1 + 2j, -3j], requires_grad=True), mg.tensor([[2 - 1j, 1j]], requires_grad=True)
    with mg.record() as trace:
        mg.abs(w @ (z * z)).sum().backward()
    text = {name: rule.text for name, rule in trace.rules.items()}
    assert text["multiply.a"] == "contribution = upstream · conj(b)"
    assert text["matmul.a"] == "contribution = conj(conj(upstream) @ bᵀ)"
    assert text["absolute.x"] == "contribution = upstream · sign(x)"  # its upstream is real
    step = next(step for step in trace.steps if step.rule == "multiply.a")
    assert step.raw == pytest.approx(step.upstream * np.conj(step.reads["b"]))


def test_each_value_is_written_once(diamond):
    words = ("upstream", "local", "raw", "contribution", "before", "after")
    meant = {diamond["walks"][0]["seed"]} | {node["value"] for node in diamond["nodes"]}
    meant |= {step[word] for step in diamond["steps"] for word in words}
    meant |= {place for step in diamond["steps"] for place in step["reads"].values()}
    meant |= {entry[word] for entry in diamond["journal"] for word in ("before", "after")}
    assert meant - {None} == set(range(len(diamond["values"])))
    assert diamond["steps"][1]["local"] == diamond["nodes"][2]["value"] == diamond["steps"][1]["reads"]["b"]


def test_an_application_with_several_outputs_comes_before_them():
    x = leaf([3.0, 1.0, 2.0])

    def program():
        values, _ = mg.topk(x, k=2)
        return values.sum()

    trace = record_program(program)
    application, output = (next(n for n in trace["nodes"] if n["kind"] == kind) for kind in ("application", "output"))
    assert application["op"] == "topk"
    assert output["inputs"] == [{"name": "of", "node": application["id"]}]
    assert output["op"] is None
    assert entries(trace, output["value"]) == [3.0, 2.0]


def test_inputs_without_gradient_and_numbers_are_leaves():
    constant, x = mg.tensor([5.0, 6.0]), leaf([1.0, 2.0])

    def program():
        return (x * constant * 3.0).sum()

    trace = record_program(program)
    leaves = [node for node in trace["nodes"] if node["kind"] == "leaf"]
    assert [(entries(trace, node["value"]), node["requires_grad"]) for node in leaves] == [
        ([1.0, 2.0], True), ([5.0, 6.0], False), ([3.0], False),
    ]  # fmt: skip


def test_a_walk_over_values_has_the_same_terms():
    a, b = Value(2.0), Value(-3.0)

    def program():
        return a * b + a**2

    trace = record_program(program)
    VALIDATOR.validate(trace)
    assert [node["op"] for node in trace["nodes"] if node["op"]] == ["multiply", "power", "add"]
    labels = {node["label"]: node["id"] for node in trace["nodes"]}
    received = {each["node"]: entries(trace, each["value"]) for each in trace["gradients"]}
    assert received[labels["a"]] == [1.0]
    assert received[labels["b"]] == [2.0]
    assert [step["accumulates"] for step in trace["steps"] if step["target"] == labels["a"]] == [False, True]


@pytest.mark.parametrize("name", samples)
def test_the_trace_of_every_sample_fits_the_schema(name):
    for sample in samples[name]:
        places = differentiable_inputs(sample)
        leaves = [leaf(sample.inputs[i]) for i in places]
        with mg.record() as trace:
            scalar(sample, replace_inputs(sample, places, leaves)).backward()
        validate_fast(trace.to_dict())


def test_the_schema_is_valid_and_allows_no_additional_fields():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    todo = [SCHEMA]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if part.get("type") == "object" and "required" in part:
                assert part["additionalProperties"] is False
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)


def test_the_schema_rejects_a_missing_or_additional_field(diamond):
    def change_field(path, change):
        data = json.loads(json.dumps(diamond))
        place = data
        for key in path:
            place = place[key]
        change(place)
        return data

    for path in ((), ("walks", 0), ("nodes", 2), ("sites", 0), ("nodes", 2, "inputs", 0), ("steps", 0),
                 ("rules", "sum.x"), ("gradients", 0), ("values", 0), ("values", 0, "statistics")):  # fmt: skip
        assert not VALIDATOR.is_valid(change_field(path, lambda place: place.update(more=1)))
        assert not VALIDATOR.is_valid(change_field(path, lambda place: place.popitem()))
    assert VALIDATOR.is_valid(change_field((), lambda place: None))


# Reproducibility ------------------------------------------------------------------------------------------------------

PROGRAM = """
import micrograd_plus as mg
from micrograd_plus.engine import Value
from micrograd_plus.tracing.json_out import not_finite_to_dict

names = {"w", "b", "scale"}
x = mg.tensor([[1.0, -2.0, 0.5], [0.3, 2.0, -1.0]])
parameters = {name: mg.tensor([0.1, 0.2, 0.3], requires_grad=True) for name in sorted(names)}
with mg.record() as trace:
    h = mg.softmax(mg.tanh(x * parameters["w"] + parameters["b"])) * parameters["scale"]
    first, second = mg.unstack(h)
    (mg.concatenate([first, second]) * first.sum()).sum().backward()
print(trace.to_json())
leaves = [Value(i + 0.5) for i in range(4)]
with mg.record() as walked:
    total = sum((a * b).tanh() for a in leaves for b in leaves) + leaves[0] ** 3
    total.backward()
print(walked.to_json())
"""


def start_process(program, hash_seed):
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(program)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_same_program_writes_the_same_bytes_in_20_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    outputs = set()
    for batch in range(5):
        running = [start_process(program, hash_seed=4 * batch + i) for i in range(4)]
        for process in running:
            out, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors.decode()
            outputs.add(out)
    assert len(outputs) == 1
    tensors, numbers = outputs.pop().decode().splitlines()
    assert {node["op"] for node in json.loads(tensors)["nodes"]} >= {"softmax", "unstack", "concatenate"}
    assert len(json.loads(numbers)["steps"]) == 83  # products, tanhs, the sum from 0, the power and the last sum


# Unusual values -------------------------------------------------------------------------------------------------------


def stored_value(values):
    """Return the plain data of a leaf's value in a trace."""
    x = leaf(values)
    with mg.record() as trace, np.errstate(all="ignore"):
        x.sum().backward(1.0 if x.dtype.kind != "c" else 1j)
    VALIDATOR.validate(trace.to_dict())
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()
    return trace.to_dict()["values"][trace.to_dict()["nodes"][0]["value"]]


def test_nan_and_infinity_are_text_and_no_part_of_statistics():
    value = stored_value([1.0, np.nan, np.inf, -np.inf, 3.0])
    assert value["data"] == [1.0, "nan", "inf", "-inf", 3.0]
    assert value["statistics"] == {"min": 1.0, "max": 3.0, "mean": 2.0, "norm": pytest.approx(10**0.5)}
    assert stored_value([np.nan])["statistics"] is None


def test_complex_numbers_are_stored_as_pairs():
    value = stored_value([3 + 4j, complex(0, np.inf)])
    assert value["data"] == [[3.0, 4.0], [0.0, "inf"]]
    assert value["statistics"] == {"min": 5.0, "max": 5.0, "mean": 5.0, "norm": 5.0}
    assert value["dtype"] == "complex128"
    x = leaf([3 + 4j, complex(-np.inf, np.nan), 2.0])
    with mg.record() as trace:
        x.sum().backward(1j)
    back = mg.load_trace(trace.to_json())
    np.testing.assert_array_equal(back.nodes[0].value.numpy(), x.numpy())
    np.testing.assert_array_equal(back.gradients[0].numpy(), [1j, 1j, 1j])


def test_an_empty_value_has_no_entries_and_no_statistics():
    for shape in ([2, 0], [0, 3, 2], [0, 2, 0, 5]):
        value = stored_value(np.ones(shape))
        assert (value["shape"], value["data"], value["statistics"]) == (shape, [], None)


def test_a_value_of_65_entries_is_stored_as_corner_and_thumbnail():
    assert len(stored_value(np.arange(64.0))["data"]) == 64
    value = stored_value(np.arange(65.0).reshape(5, 13))
    assert value["data"] is None
    assert value["corner"]["shape"] == [4, 4]
    assert value["corner"]["data"][:5] == [0.0, 1.0, 2.0, 3.0, 13.0]
    assert value["thumbnail"]["shape"] == [5, 13]
    assert value["statistics"]["mean"] == 32.0


def test_a_thumbnail_has_every_entry_of_a_value_of_1024():
    entries = np.random.default_rng(0).normal(size=(4, 32, 8))
    thumbnail = stored_value(entries)["thumbnail"]
    assert thumbnail["shape"] == [128, 8]
    assert thumbnail["data"] == [float(f"{entry:.5g}") for entry in entries.ravel()], "to five digits"


@pytest.mark.parametrize(
    ("shape", "cells"),
    [
        ((100, 320), (32, 32)), ((2, 100, 320), (32, 32)), ((3, 5000), (3, 341)), ((5000, 3), (341, 3)),
        ((5000,), (1, 1024)),
    ],
)
def test_a_cell_is_the_entry_of_largest_size_in_its_block(shape, cells):
    entries = np.random.default_rng(0).normal(size=shape)
    thumbnail = stored_value(entries)["thumbnail"]
    assert thumbnail["shape"] == list(cells)
    matrix = entries.reshape(-1, shape[-1]) if len(shape) > 1 else entries[None]
    rows, columns = (np.linspace(0, n, k + 1).astype(int) for n, k in zip(matrix.shape, cells, strict=True))
    parts = [matrix[a:b, c:d].ravel() for a, b in itertools.pairwise(rows)
             for c, d in itertools.pairwise(columns)]  # fmt: skip
    assert thumbnail["data"] == pytest.approx([part[np.abs(part).argmax()] for part in parts], rel=1e-4)


def test_a_thumbnail_keeps_numbers_of_every_size_and_booleans():
    entries = np.array([[1e-300, -1e300, 0.0, -0.0, 5e-324, 123456.0, 1 / 3, -1e-12]] * 10)
    shown = np.array(stored_value(entries)["thumbnail"]["data"][:8])
    np.testing.assert_allclose(shown, entries[0], rtol=1e-4)
    mask = mg.tensor(np.arange(100) % 3 == 0)
    with mg.record() as trace:
        mg.where(mask, leaf(np.ones(100)), 0.0).sum().backward()
    data = trace.to_dict()
    VALIDATOR.validate(data)
    stored = next(value for value in data["values"] if value["dtype"] == "bool")
    assert stored["thumbnail"]["data"] == (np.arange(100) % 3 == 0).tolist()


def test_thumbnails_do_not_cancel_signs_and_show_nan():
    entries = np.tile([[1.0], [-1.0]], (500, 8))
    assert set(np.abs(stored_value(entries)["thumbnail"]["data"])) == {1.0}
    entries[17, 3], entries[18, 3] = np.nan, -np.inf
    value = stored_value(entries)
    assert value["thumbnail"]["data"].count("nan") == 1
    assert (value["nan"], value["inf"]) == (1, 1)


def test_the_thumbnail_of_complex_numbers_shows_absolute_values():
    value = stored_value(np.broadcast_to(np.arange(17) * (3 + 4j), (2, 3, 17)))
    assert value["thumbnail"] == {"shape": [6, 17], "data": [*np.arange(17) * 5.0] * 6}
    assert value["corner"]["data"][3] == [9.0, 12.0]


@pytest.mark.parametrize("huge", [1e308, 5e-324])
def test_statistics_of_extreme_numbers_do_not_overflow(huge):
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        statistics = stored_value([huge, huge / 2])["statistics"]
    assert statistics["max"] == huge
    assert statistics["norm"] >= huge


def test_summary_and_file_say_where_nan_comes_from():
    x = mg.tensor([1.0, 0.0, 4.0], requires_grad=True)
    with np.errstate(all="ignore"), mg.record() as trace:
        (mg.log(x) * x).sum().backward()
    result, step = trace.not_finite
    assert (trace.nodes[result.node].op, result.step, result.entry, result.nan, result.inf) == ("log", None, (1,), 0, 1)
    sent = trace.steps[step.step]
    assert not np.isfinite(sent.contribution).all()
    assert all(np.isfinite(each.contribution).all() for each in trace.steps[: step.step])
    said = f"first step that sends numbers that are not finite: {step.step + 1}, to {trace.nodes[sent.target].name}"
    assert said in repr(trace)
    data = trace.to_dict()
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert data["not_finite"] == [*map(not_finite_to_dict, mg.load_trace(data).not_finite)]


def test_a_file_with_a_wrong_count_of_nan_names_no_entry():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        mg.exp(x).sum().backward()
    data = trace.to_dict()
    data["values"][data["steps"][1]["contribution"]]["nan"] = 1
    loaded = mg.load_trace(data)
    (place,) = loaded.not_finite
    assert (place.step, place.entry, repr(place)) == (1, None, "1 nan")
    assert loaded.to_dict()["not_finite"] == [{"node": 0, "step": 1, "entry": None, "nan": 1, "inf": 0}]


def test_nan_in_a_leaf_is_no_result():
    mask = mg.tensor([0.0, -np.inf])
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        (mg.softmax(x + mask) ** 2).sum().backward()
    assert trace.not_finite == []


def test_nan_from_a_row_that_is_masked_throughout_has_its_place():
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with np.errstate(invalid="ignore"), mg.record() as trace:
        scores = mg.where(np.array([[True, False], [False, False]]), x, -np.inf)
        (mg.softmax(scores, axis=-1) ** 2).sum().backward()
    place = trace.not_finite[0]
    assert (trace.nodes[place.node].op, place.step, place.entry, place.nan) == ("softmax", None, (1, 0), 2)


def test_a_summary_counts_one_step_in_the_singular():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        mg.sin(x).backward()
    assert repr(trace).startswith("Trace: 2 nodes, 1 step backward")


def test_a_summary_names_errors_that_were_caught_or_final_once():
    a, b = mg.tensor(np.ones((2, 3)), requires_grad=True), mg.tensor(np.ones((2, 3)))
    with mg.record() as trace:
        try:
            loss = (a @ b).sum()
        except ValueError:
            loss = (a @ b.mT).sum()
        loss.backward()
    (caught,) = trace.caught
    assert caught.kind == "ValueError"
    assert "matmul" in caught.text
    assert caught.lines[0].text.strip() == "loss = (a @ b).sum()"
    assert trace.error is None
    assert "an operation failed, and the program went on, line" in repr(trace)
    VALIDATOR.validate(trace.to_dict())
    assert [each.text for each in mg.load_trace(trace.to_dict()).caught] == [caught.text]
    with pytest.raises(ValueError, match="matmul"), mg.record() as ended:
        (a @ b).sum()
    assert ended.caught == []
    assert ended.error.kind == "ValueError"
    with mg.record() as composite, suppress(ValueError, IndexError):
        mg.softmax(a, axis=7)
    assert len(composite.caught) == 1


def test_a_summary_names_the_first_of_many_failures():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        for _ in range(300):
            with suppress(ValueError):
                x @ mg.ones((3, 3))
        (x * x).sum().backward()
    assert len(trace.caught) == 300
    assert repr(trace).count("the program went on") == 20
    assert repr(trace).endswith("... and 280 more operations that failed")
