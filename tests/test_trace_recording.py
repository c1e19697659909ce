"""Contents of a recording, and the traces inside composites."""

import json
import threading
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.samples import samples
from micrograd_plus.engine import Value
from micrograd_plus.nn import functional
from open_modes import open_modes

SCHEMA = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def entries(trace, place):
    return None if place is None else trace["values"][place]["data"]


# Inside ---------------------------------------------------------------------------------------------------------------


def test_the_inside_of_a_composite_has_the_same_gradient():
    x = leaf([0.5, -1.0, 2.0])
    with mg.record() as trace:
        loss = (mg.softmax(x) * mg.tensor([1.0, 2.0, 4.0])).sum()
        loss.backward()
    step = next(step for step in trace.steps if step.rule == "softmax.x")
    within = trace.inside(step)
    assert [node.op for node in within.nodes if node.op] == ["max", "subtract", "exp", "sum", "divide"]
    assert within.nodes[0].label == "x"
    np.testing.assert_allclose(within.gradients[0], step.contribution)
    np.testing.assert_allclose(within.seed, step.upstream)
    stored = trace.to_dict()["nodes"][step.node]["inside"]
    assert stored["format"] == "micrograd_plus/trace"
    VALIDATOR.validate(stored)
    loaded = mg.load_trace(trace.to_json())
    assert [node.op for node in loaded.inside(step.index).nodes] == [node.op for node in within.nodes]


def test_an_operation_that_is_no_composite_has_no_inside():
    x = leaf([0.5, 2.0])
    with mg.record() as trace:
        mg.tanh(x).sum().backward()
    assert [trace.inside(step) for step in trace.steps] == [None, None]


def test_the_inside_of_attention_has_its_mask():
    q, k, v = (leaf(np.random.default_rng(i).normal(size=(3, 4))) for i in range(3))
    with mg.record() as trace:
        functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
    step = next(step for step in trace.steps if step.rule.startswith("scaled_dot_product_attention"))
    within = trace.inside(step)
    received = {node.label: within.gradients[node.id] for node in within.nodes if node.id in within.gradients}
    for name, tensor in (("query", q), ("key", k), ("value", v)):
        np.testing.assert_allclose(received[name], tensor.grad.numpy(), atol=1e-12)


# Contents -------------------------------------------------------------------------------------------------------------


def test_a_recorded_backward_alone_uses_saved_values():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    loss = (mg.tanh(x * w)).sum()
    with mg.record() as trace:
        loss.backward()
    data = trace.to_dict()
    VALIDATOR.validate(data)
    assert [node["op"] for node in data["nodes"] if node["op"]] == ["multiply", "tanh", "sum"]
    assert all(node["lines"] == [] for node in data["nodes"])
    product = next(node for node in data["nodes"] if node["op"] == "multiply")
    assert product["value"] is None
    tanh = next(node for node in data["nodes"] if node["op"] == "tanh")
    np.testing.assert_allclose(entries(data, tanh["value"]), np.tanh([3.0, 8.0]))
    received = {each["node"]: entries(data, each["value"]) for each in data["gradients"]}
    assert list(received.values()) == [x.grad.tolist(), w.grad.tolist()]
    assert mg.load_trace(trace.to_json()).to_dict() == data


def samples_of_backward_only():
    """Yield each operation that applies a rule in the forward, and each result of operations with several."""
    for name, (sample, *_) in samples.items():
        if any(rule.in_forward for rule in sample.op.rules):
            yield name, 0
        elif len(sample.op.outputs) > 1 and sample.op.rules:
            results = sample.op.call_with(list(sample.inputs), sample.params)
            yield from ((name, place) for place, result in enumerate(results) if result.dtype.kind in "fc")


@pytest.mark.parametrize(("name", "place"), list(samples_of_backward_only()))
def test_a_recorded_backward_alone_has_the_same_steps(name, place):
    sample = samples[name][0]

    def loss():
        inputs = [leaf(value) if isinstance(value, np.ndarray) else value for value in sample.inputs]
        out = sample.op.call_with(inputs, sample.params)
        return mg.real(out[place] if isinstance(out, tuple) else out).sum()

    with mg.record() as whole:
        loss().backward()
    root = loss()
    with mg.record() as alone:
        root.backward()
    steps = [[(step.rule, np.asarray(step.contribution).tolist()) for step in each.steps] for each in (whole, alone)]
    assert steps[0] == steps[1]
    assert [rule.text is None for rule in alone.rules.values()] == [rule.text is None for rule in whole.rules.values()]
    assert mg.load_trace(alone.to_json()).to_json() == alone.to_json()


def test_a_recorded_backward_alone_names_its_leaves():
    net, x, b = mg.nn.Linear(2, 3), leaf([[1.0, 2.0]]), leaf([0.5, 1.5, 2.5])
    loss = ((net(x) + b) ** 2).sum()
    with mg.record() as trace:
        loss.backward()
    old = net.weight.numpy().copy()
    net.weight.data -= 1.0
    data = trace.to_dict()
    VALIDATOR.validate(data)
    known = {node["label"]: entries(data, node["value"]) for node in data["nodes"] if node["kind"] == "leaf"}
    assert known.keys() == {"net.weight", "net.bias", "x", "b"}
    assert known["net.weight"] == old.ravel().tolist(), "as the rule read it, not as it was changed since"
    assert known["x"] == [1.0, 2.0]
    assert known["b"] is None, "no rule of an addition reads its inputs"
    assert entries(data, data["nodes"][data["walks"][0]["root"]]["value"]) == [loss.item()]


def test_a_recorded_backward_alone_of_values_keeps_names_and_order():
    a, b = Value(2.0), Value(3.0)
    product = a * b + a
    with mg.record() as trace:
        product.backward()
    nodes = trace.to_dict()["nodes"]
    assert [(node["op"], node["label"]) for node in nodes] == [
        (None, "a"), (None, "b"), ("multiply", None), ("add", "product"),
    ]  # fmt: skip


def test_a_list_that_a_rule_reads_is_split_by_the_formulas_names():
    a, b = leaf([[1.0, 2.0]]), leaf([[3.0], [4.0]])
    with mg.record() as trace:
        mg.einsum("ij,jk->ik", a, b).sum().backward()
    data = trace.to_dict()
    VALIDATOR.validate(data)
    step = data["steps"][1]
    assert {name: entries(data, place) for name, place in step["reads"].items()} == {
        "parts[0]": [1.0, 2.0], "parts[1]": [3.0, 4.0],
    }  # fmt: skip
    assert 'data-name="parts[1]"' in data["rules"][step["rule"]]["mathml"]


def test_the_summary_of_an_empty_block_says_how_to_record():
    with mg.record() as trace:
        pass
    assert "record the forward and the backward inside" in repr(trace)
    VALIDATOR.validate(trace.to_dict())


def test_a_forward_alone_has_nodes_and_no_steps():
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        mg.tanh(x).sum()
    data = trace.to_dict()
    VALIDATOR.validate(data)
    assert [node["op"] for node in data["nodes"]] == [None, "tanh", "sum"]
    assert data["steps"] == []
    assert data["walks"] == []


def test_a_second_walk_starts_with_the_gradients_of_the_first():
    x = leaf(3.0)
    with mg.record() as trace:
        y = x * x
        y.backward()
        y.backward()
    assert [step.after.item() for step in trace.steps] == [3.0, 6.0, 9.0, 12.0]
    assert [step.upstream.item() for step in trace.steps] == [1.0] * 4
    assert [step.walk for step in trace.steps] == [0, 0, 1, 1]
    assert x.grad.item() == 12.0


def test_nested_recordings_both_record():
    x = leaf(3.0)
    with mg.record() as outer:
        y = x * x
        with mg.record() as inner:
            y.backward()
    assert len(outer.steps) == len(inner.steps) == 2
    assert outer.nodes[1].site is not None
    assert inner.nodes[1].site is None


def test_other_threads_are_not_recorded_here():
    x = leaf(3.0)

    def run_in_thread():
        (x * 5).backward()

    with mg.record() as trace:
        y = x * x
        thread = threading.Thread(target=run_in_thread)
        thread.start()
        thread.join()
        y.backward()
    assert [node.op for node in trace.nodes] == [None, "multiply"]
    assert x.grad.item() == 11.0


def test_a_walk_through_hooks_is_recorded_as_it_happens():
    x = leaf(3.0)
    with mg.record() as trace:
        y = x * x
        y.register_hook(lambda gradient: gradient * 10)
        (y + 1.0).backward()
    assert [step.upstream.item() for step in trace.steps] == [1.0, 10.0, 10.0]
    assert trace.steps[0].after.item() == 1.0
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()


def test_recording_changes_no_number_and_leaves_no_mode_open():
    def gradients(record):
        x, w = leaf(np.linspace(-1, 1, 6).reshape(2, 3)), leaf(np.linspace(0.1, 2, 3))
        with mg.record() if record else nullcontext():
            (mg.softmax(x * w) ** 2 + mg.tanh(x)).sum().backward()
        return x.grad.tolist(), w.grad.tolist()

    assert gradients(record=True) == gradients(record=False)
    assert open_modes() == []


def test_an_error_ends_the_block_and_keeps_the_record():
    x = leaf(3.0)
    block = mg.record()

    def program(kept):
        with block as trace:
            kept.append(trace)
            (x * x).backward()
            raise ZeroDivisionError

    kept = []
    with pytest.raises(ZeroDivisionError):
        program(kept)
    (trace,) = kept
    assert open_modes() == []
    assert len(trace.steps) == 2


def test_later_changes_do_not_change_the_trace():
    def program():
        x = leaf([1.0, 2.0])
        with mg.record() as trace:
            y = x * x
            y.sum().backward(retain_graph=False)
        return x, trace

    _, seen_at_once = program()
    expected = seen_at_once.to_json()
    assert [step.rule for step in seen_at_once.steps] == ["sum.x", "multiply.a", "multiply.b"]
    x, trace = program()
    with mg.no_grad():
        x -= 100
    x.data[0] = 7.0
    x.grad.data[:] = 0
    (x * 5).sum().backward()
    assert trace.to_json() == expected


def test_looking_at_a_trace_calls_no_later_hook():
    x, seen = leaf([1.0, 2.0]), []
    with mg.record() as trace:
        y = x * x
        y.sum().backward()
    with y.register_hook(seen.append):
        assert len(trace.steps) == 3
    assert seen == []


def test_a_walk_that_cannot_be_repeated_raises_its_error(monkeypatch):
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        (x * x).sum().backward()

    def fail_to_repeat(*_, **__):
        raise ValueError("not again")

    monkeypatch.setattr("micrograd_plus.tracing.recorder.walk_again", fail_to_repeat)
    with pytest.raises(ValueError, match="not again"):
        trace.steps  # noqa: B018 - looking is what is tried


def test_recording_works_for_second_derivatives():
    x = leaf(2.0)
    with mg.record() as trace:
        (gradient,) = [mg.grad(lambda x: x**4)(x)]
        gradient.backward()
    assert x.grad.item() == 48.0
    VALIDATOR.validate(trace.to_dict())
    assert trace.steps[-1].after.item() == 48.0


# Display --------------------------------------------------------------------------------------------------------------


def test_the_summary_has_a_sentence_for_each_step():
    x, w = leaf(3.0), leaf(2.0)
    with mg.record() as trace:
        (x * w + x).backward()
    assert repr(trace).splitlines() == [
        "Trace: 4 nodes, 4 steps backward",
        "  1. x * w + x sends 1 to x * w (a)",
        "  2. x * w + x sends 1 to x (b)",
        "  3. x * w adds 2 to x (a)",
        "  4. x * w sends 3 to w (b)",
    ]
    assert repr(mg.load_trace(trace.to_json())) == repr(trace)
    assert len(trace) == len(list(trace)) == 4
    assert [repr(node) for node in trace.nodes[:3]] == ["<node 0: x>", "<node 1: w>", "<node 2: multiply>"]
    assert repr(trace.steps[1]) == "<step 1: add.b from node 3 to node 0>"
    assert repr(trace.rules["multiply.a"]) == "<rule multiply.a: contribution = upstream · b>"


def test_sentences_show_arrays_by_shape_and_norm_and_constants_by_value():
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        product = x * mg.tensor(2 + 1j, requires_grad=True)
        product.sum().backward(1j)
    assert repr(trace).splitlines()[1:] == [
        "  1. product.sum() sends a (2,) array of norm 1.414 to multiply (product) (x)",
        "  2. multiply (product) sends a (2,) array of norm 1.414 to x (a)",
        "  3. multiply (product) sends 0+3j to (2+1j) (b)",
    ]
    trace.steps[0].contribution = None
    assert "product.sum() sends a value that was not recorded to" in repr(trace)


@pytest.mark.parametrize(("steps", "last"), [(20, "  20. multiply (y) #1 sends"), (21, "  ... and 1 more")])
def test_the_summary_of_a_long_walk_has_20_steps(steps, last):
    x = leaf(3.0)
    with mg.record() as trace:
        y = x
        for _ in range(steps):
            y = y * 1.5
        y.backward()
    assert len(repr(trace).splitlines()) == 1 + min(steps, 20) + (steps > 20)
    assert repr(trace).splitlines()[-1].startswith(last)


def test_a_summary_ends_where_it_stops_to_tell_steps():
    w = leaf([3.0])
    with mg.record() as trace:
        for _ in range(4):
            y = w
            for _ in range(8):
                y = y * 1.5
            y.sum().backward()
            with mg.no_grad():
                w -= 0.1
    *_, last, more = repr(trace).splitlines()
    assert last.startswith("  20.")
    assert more == "  ... and 16 more"
    assert repr(trace).count("writes into w") == 2


def test_json_text_is_compact_or_has_an_indent():
    x = leaf(3.0)
    with mg.record() as trace:
        (x * x).backward()
    trace.nodes[0].label = "∂x"
    assert '"label":"∂x"' in trace.to_json()
    assert '\n  "version": 3,\n' in trace.to_json(indent=2)
    assert json.loads(trace.to_json(indent=2)) == json.loads(trace.to_json())


def test_saving_and_loading_gives_the_same_trace(tmp_path):
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        mg.softmax(x)[0].backward()
    trace.save(tmp_path / "walk.json")
    loaded = mg.load_trace(tmp_path / "walk.json")
    assert loaded.to_json() == trace.to_json()
    assert loaded.summary() == trace.summary()
    assert json.loads(trace.to_json(indent=2)) == trace.to_dict()


def test_without_viz_a_notebook_shows_words_and_names_the_import(monkeypatch):
    monkeypatch.setattr(mg.Trace, "_mimebundle", None)
    monkeypatch.setattr(mg.Trace, "_marimo", None)
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        (x * x).backward()
    words = f"{trace.summary()}\n(import micrograd_plus_viz to see it played)"
    assert trace._repr_mimebundle_() == {"text/plain": words}
    assert trace._mime_() == ("text/plain", words)


def constants_in_a_row(x, c):
    return x * (((c * 2) * 3) * 4)


def without_a_gradient_for_a_while(x, c):
    with mg.no_grad():
        scale = x * 2
    return x * scale


def several_results_of_a_constant(x, c):
    values, places = mg.topk(c * 3.0, 2)
    return x * values * mg.astype(places, float)


def several_results_and_a_constant(x, c):
    hidden, cell = mg.lstm_cell(mg.concatenate([x] * 4), c)
    return hidden + cell


@pytest.mark.parametrize(
    "program",
    [
        constants_in_a_row, without_a_gradient_for_a_while, several_results_of_a_constant,
        several_results_and_a_constant,
    ],
)  # fmt: skip
def test_results_without_gradient_come_after_all_their_inputs(program):
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        program(x, mg.tensor([3.0, 5.0])).sum().backward()
    wanted = {"multiply": ["a", "b"], "add": ["a", "b"], "topk": ["x"], "lstm_cell": ["gates", "cell"]}
    known = [node for node in trace.nodes if node.op in wanted]
    assert known
    for node in known:
        assert [name for name, _ in node.inputs] == wanted[node.op], node
        assert all(place < node.id for _, place in node.inputs), node


def test_a_record_keeps_the_parts_of_a_list_that_changes_later():
    w = leaf([1.0, 2.0])
    parts = [w, mg.tensor([3.0, 4.0])]
    with mg.record() as trace:
        rows = mg.stack(parts)
        parts[1] = mg.tensor([5.0, 6.0])
        parts.append(w)
        rows.sum().backward()
    stacked = next(node for node in trace.nodes if node.op == "stack")
    assert [trace.nodes[place].value.tolist() for _, place in stacked.inputs] == [[1, 2], [3, 4]]
