"""The journal of a trace says of every leaf, at every moment, what the engine's leaf had."""

import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from journal_witness import differences, second_run_differences
from micrograd_plus import nn
from micrograd_plus.core.runtime.recorders import Recorder, record_to
from micrograd_plus.engine import Value
from micrograd_plus.tracing.json_in import KINDS_OF_ENTRIES
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.timeline import load_film
from micrograd_plus_viz.trace_input import normalize, trace_data
from training_programs import Program

PROGRAMS = 60


def run_program(seed):
    """Run a random training program and return its trace, its witness, and the node of each leaf."""
    mg.random.seed(seed)
    program = Program(seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace, witness = program.run()
    ids = trace.source.outline.ids
    nodes = {name: ids[id(leaf.node)] for name, leaf in program.leaves.items() if id(leaf.node) in ids}
    return trace, witness, nodes


def find_second_run_differences(seed, trace):
    """Return where the program computes other values again without a record than its journal says."""
    mg.random.seed(seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return second_run_differences(trace, Program(seed))


@pytest.mark.parametrize("first", range(0, PROGRAMS, 20))
def test_the_journal_equals_the_engine_in_random_programs(first):
    for seed in range(first, first + 20):
        trace, witness, nodes = run_program(seed)
        assert not differences(trace, witness, nodes), seed
        assert not find_second_run_differences(seed, trace), seed
        loaded = mg.load_trace(trace.to_json())
        assert [entry.kind for entry in loaded.journal] == [entry.kind for entry in trace.journal]


def test_the_comparison_with_the_engine_finds_a_wrong_entry():
    trace, witness, nodes = run_program(3)
    entry = next(entry for entry in trace.journal if entry.of == "value" and entry.node in nodes.values())
    entry.after = entry.after + 1.0
    assert differences(trace, witness, nodes)


def record_lines(program):
    """Record a program and return the lines of its summary after the first."""
    with mg.record() as trace:
        program()
    return [line.strip() for line in trace.summary().splitlines()[1:]], trace


def test_a_hook_on_a_leaf_is_in_the_summary_and_the_gradients():
    x = mg.tensor(2.0, requires_grad=True)
    x.register_hook(lambda gradient: gradient * 100)

    def program():
        (x * x * 3).backward()

    lines, trace = record_lines(program)
    assert lines[-1] == "the hook <lambda> changes the gradient of x: from 12 to 1200"
    assert trace.gradients[0] == x.grad.item() == 1200.0


def test_a_loop_says_what_happens_between_its_walks():
    net = nn.Linear(2, 1)
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    x = mg.tensor(np.ones((3, 2)))

    def train():
        for _ in range(2):
            optimizer.zero_grad()
            (net(x) ** 2).mean().backward()
            optimizer.step()

    lines, trace = record_lines(train)
    assert lines[5:8] == ["SGD(lr=0.1) updates net.weight, net.bias",
                          "zero_grad clears the gradient of net.weight, net.bias", "Walk 2 of 2:"]
    update = next(entry for entry in trace.journal if entry.kind == "update")
    assert update.lines[0].text.strip() == "optimizer.step()"
    np.testing.assert_array_equal(trace.walks[1].leaves[0].value, update.after)


def test_a_loop_over_parameters_is_told_once_for_all_of_them():
    w, b = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor(0.5, requires_grad=True)
    sgd, adam = mg.optim.SGD([w], lr=0.1), mg.optim.Adam([b], lr=0.1)

    def program():
        ((w * 2).sum() + b).backward()
        for p in (w, b):
            p.data -= 0.1 * p.grad
            p.grad = None
        ((w * 2).sum() + b).backward()
        for optimizer in (sgd, adam):
            optimizer.step()
            optimizer.zero_grad()

    lines, _ = record_lines(program)
    assert [line for line in lines if line.startswith(("the program", "SGD", "Adam", "zero_grad"))] == [
        "the program writes into w, b by .data", "the program clears the gradient of w, b",
        "SGD(lr=0.1) updates w", "zero_grad clears the gradient of w",
        "Adam(lr=0.1) updates b: from 0.4 to 0.3", "zero_grad clears the gradient of b"]  # fmt: skip


def test_a_second_walk_names_the_gradient_before_it_once():
    x = mg.tensor(3.0, requires_grad=True)

    def program():
        z = x * x * x
        z.backward()
        z.backward()

    lines, _ = record_lines(program)
    assert [line for line in lines if "before this walk" in line] == [
        "6. multiply (z) adds 9 to x (b), whose .grad was 27 before this walk"]
    assert lines[-1] == "in all, the walk has changed the .grad of x: from 27 to 54"


def test_a_contribution_of_zero_is_said_alike_after_loading():
    x, zero = mg.tensor(3.0, requires_grad=True), mg.tensor(0.0)

    def program():
        z = x * x
        z.backward()
        (z * zero).backward()

    lines, trace = record_lines(program)
    assert len([line for line in lines if "whose .grad was 6 before this walk" in line]) == 2
    x.grad = 1.0
    lines, trace = record_lines((x * x).backward)
    assert len([line for line in lines if "before this walk" in line]) == 1
    assert str(mg.load_trace(trace.to_json())) == str(trace)


def test_gradients_that_a_walk_returns_leave_grad_alone():
    x = mg.tensor(3.0, requires_grad=True)
    x.grad = 5.0
    with mg.record() as trace:
        (x * x).gradients()
    kinds = [entry.kind for entry in trace.journal]
    assert kinds == ["compute", "begin", "arrive", "return", "end"]
    assert trace.walks[0].leaves[0].after == 6.0
    assert x.grad.item() == trace.starts[0] == 5.0


def test_a_value_of_micrograd_is_followed_too():
    a = Value(2.0)

    def train():
        for _ in range(2):
            loss = a * a
            loss.backward()
            a.grad *= 0.5
            a.data -= 0.1 * a.grad
            a.grad = 0

    _, trace = record_lines(train)
    changes = [(entry.kind, entry.before, entry.after, entry.lines[0].text.strip()) for entry in trace.journal
               if entry.of and entry.kind != "accumulate"]  # fmt: skip
    assert changes == [
        ("assign", 4.0, 2.0, "a.grad *= 0.5"), ("write", 2.0, 1.8, "a.data -= 0.1 * a.grad"),
        ("clear", 2.0, None, "a.grad = 0"),
        ("assign", 3.6, 1.8, "a.grad *= 0.5"), ("write", 1.8, pytest.approx(1.62), "a.data -= 0.1 * a.grad"),
        ("clear", 1.8, None, "a.grad = 0")]  # fmt: skip
    assert trace.starts == {}
    assert [leaf.after for leaf in trace.walks[1].leaves] == [3.6]


def test_gradients_of_values_before_a_record_are_its_starts():
    a, b = Value(2.0), Value(3.0)
    a.grad, b.grad = 5.0, 7.0
    with mg.record() as trace:
        b.grad = 0
        loss = a * b
        loss.backward()
        loss.grad = 0
    assert trace.starts == {0: 5.0, 1: 7.0}
    assert trace.gradients == {0: 8.0, 1: 2.0, 2: None}


def test_gradients_of_values_are_the_starts_of_a_program_without_a_walk():
    a, b, unused = Value(2.0), Value(3.0), Value(4.0)
    a.grad = unused.grad = 5.0
    with mg.record() as trace:
        b.grad = 1.0
        c = a * b
        c.grad = 7.0
    assert trace.starts == {0: 5.0}
    assert trace.gradients == {0: 5.0, 1: 1.0, 2: 7.0}


def test_a_value_that_sends_its_gradient_by_hand_is_followed():
    a, b = Value(2.0), Value(3.0)
    with mg.record() as trace:
        c = a * b
        loss = c + a
        loss.grad = 1.0
        loss._backward()
        c._backward()
    names = [node.label for node in trace.nodes]
    changes = [(names[entry.node], entry.by, entry.before, entry.after) for entry in trace.journal if entry.of]
    assert changes == [("loss", ".grad =", None, 1.0), ("c", "_backward", None, 1.0), ("a", "_backward", None, 1.0),
                       ("a", "_backward", 1.0, 4.0), ("b", "_backward", None, 2.0)]  # fmt: skip


def test_a_result_has_no_gradient_when_a_record_begins():
    x = mg.tensor([2.0, 3.0], requires_grad=True)
    with mg.record() as trace:
        y = x * 2
        y.retain_grad()
        y.sum().backward()
        y.grad = None
    assert trace.starts == {}


def test_batch_statistics_and_random_draws_are_in_the_journal():
    norm = nn.BatchNorm1d(2)
    x = mg.tensor(np.arange(6.0).reshape(3, 2), requires_grad=True)
    with mg.record() as trace:
        nn.functional.dropout(norm(x), 0.5).sum().backward()
    assert {entry.name for entry in trace.journal if entry.kind == "statistics"} == {
        "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}
    assert [entry.by for entry in trace.journal if entry.kind == "draw"] == ["dropout"]
    assert "BatchNorm1d moves norm.num_batches_tracked, norm.running_mean" in str(trace)


def test_the_journal_of_a_part_begins_with_the_state_at_its_step():
    w = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            loss = w * w
            loss.backward()
            with mg.no_grad():
                w -= 0.1 * w.grad
    part = trace.to_dict(2, 2)
    values = part["values"]
    leaf = next(node for node in part["nodes"] if node["label"] == "w")
    assert values[leaf["value"]]["data"] == [1.6]
    assert [values[each["value"]]["data"] for each in part["starts"]] == [[4.0]]
    assert [entry["kind"] for entry in part["journal"]] == ["arrive", "accumulate", "end", "write"]


def test_an_entry_says_which_function_clipped_and_which_hook_changed():
    w = mg.tensor([3.0, 4.0], requires_grad=True)

    def double(gradient):
        return gradient * 2

    w.register_hook(double)
    with mg.record() as trace:
        (w * w).sum().backward()
        nn.utils.clip_grad_norm_([w], 1.0)
    kinds = [(entry.kind, entry.by) for entry in trace.journal if entry.of]
    assert kinds == [("hook", "double"), ("accumulate", None), ("clip", "clip_grad_norm_")]
    hook = next(entry for entry in trace.journal if entry.kind == "hook")
    assert "def double" in hook.lines[0].text


class Reversal:
    """Hook that is an object."""

    def __call__(self, gradient):
        return -gradient


def scale(factor, gradient):
    return factor * gradient


def test_a_hook_that_is_no_function_has_its_name_and_line():
    w = mg.tensor([3.0, 4.0], requires_grad=True)
    for hook in (Reversal(), partial(scale, 3.0), np.negative):
        w.register_hook(hook)
    with mg.record() as trace:
        w.sum().backward()
    hooks = [entry for entry in trace.journal if entry.kind == "hook"]
    assert [entry.by for entry in hooks] == ["Reversal", "scale", "negative"]
    assert [entry.lines[0].text.strip() for entry in hooks] == [
        "def __call__(self, gradient):", "def scale(factor, gradient):", "w.sum().backward()"]  # fmt: skip


def test_draws_one_after_the_other_are_said_once_for_each_cause():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        y = x
        for _ in range(3):
            y = nn.functional.dropout(y) + mg.random.normal(size=2)
        y.sum().backward()
    said = ["dropout draws random numbers", "normal draws random numbers"]
    assert [line.strip() for line in str(trace).split("\n") if "random numbers" in line] == said
    step, *_ = payload(normalize(trace_data(trace)))["steps"]
    assert "Before this walk, dropout drew random numbers; normal drew random numbers." in step["say"]


def test_a_layer_that_is_made_in_a_record_draws_its_numbers():
    x = mg.tensor([1.0, 2.0])
    with mg.record() as trace:
        layer = nn.Linear(2, 1)
        nn.init.xavier_uniform_(layer.weight)
        layer(x).sum().backward()
    assert [entry.by for entry in trace.journal if entry.kind == "draw"] == ["Linear", "Linear", "xavier_uniform_"]
    assert "xavier_uniform_ writes into layer.weight\n" in str(trace)


def test_an_error_of_a_layer_has_the_lines_of_the_program_alone():
    net, x = nn.Sequential(nn.Linear(2, 1)), mg.tensor([1.0, 2.0, 3.0])
    with mg.record() as trace:
        with pytest.raises(ValueError, match="must agree"):
            net(x)
        net(x[:2]).sum().backward()
    assert [site.text.strip() for site in trace.caught[0].lines] == ["net(x)"]


def test_clipping_that_changes_nothing_is_said_to():
    w, v = mg.tensor([3.0, 4.0], requires_grad=True), mg.tensor([0.5], requires_grad=True)
    with mg.record() as trace:
        ((w * w).sum() + (v * v).sum()).backward()
        nn.utils.clip_grad_value_([w, v], 2.0)
        w.grad.mul_(0.5)
    said = str(trace)
    assert "clip_grad_value_ clips the gradient of w\n" in said
    assert "clip_grad_value_ does not change the gradient of v\n" in said
    assert "mul_ scales the gradient of w" in said
    assert str(mg.load_trace(trace.to_json())) == said


def test_returned_gradients_have_the_line_that_asked_for_them():
    w, value = mg.tensor(2.0, requires_grad=True), Value(2.0)
    with mg.record() as trace:
        (w * w).gradients()
        (value * value).backward()
    lines = {entry.kind: entry.lines[0].text.strip() for entry in trace.journal if entry.of == "gradient"}
    assert lines == {"return": "(w * w).gradients()", "accumulate": "(value * value).backward()"}


class Counter(Recorder):
    """Recorder that counts notices of changes."""

    def __init__(self):
        self.kinds = []

    def on_change(self, kind, *_):
        self.kinds.append(kind)


@pytest.mark.parametrize("call", ["zero_grad()", "zero_grad(set_to_none=False)", "step()", "clip_norm", "clip_value"])
def test_a_call_that_changes_all_parameters_is_one_event_and_an_entry_for_each(call):
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    (net(mg.tensor(np.ones((3, 2)))) ** 2).sum().backward()
    parameters, counter = list(net.parameters()), Counter()
    run = {
        "zero_grad()": optimizer.zero_grad, "zero_grad(set_to_none=False)": lambda: net.zero_grad(set_to_none=False),
        "step()": optimizer.step, "clip_norm": lambda: nn.utils.clip_grad_norm_(parameters, 1e-3),
        "clip_value": lambda: nn.utils.clip_grad_value_(parameters, 1e-3),
    }[call]  # fmt: skip
    with mg.record() as trace, record_to(counter):
        run()
        (net(mg.tensor(np.ones((1, 2)))) ** 2).sum().backward()
    assert [kind for kind in counter.kinds if kind not in ("read", "accumulate")] == [
        "update" if call == "step()" else "gradients"]
    entries = [entry for entry in trace.journal if entry.kind in ("clear", "clip", "update")]
    assert [entry.node for entry in entries] == [trace.source.outline.ids[id(p.node)] for p in parameters]


def second_runs(trace):
    """Return which nodes the journal says a checkpoint would compute again, with the number of the next step."""
    step, found = 0, {}
    for entry in trace.journal:
        if entry.kind == "recompute":
            found.setdefault(step, []).append(trace.nodes[entry.node].title)
        step += entry.count if entry.kind == "arrive" else 0
    return found


def test_a_checkpoint_says_what_it_forgets_and_computes_again():
    w, x = (mg.tensor(number, requires_grad=True) for number in (0.5, 2.0))

    def block(h):
        return mg.tanh(h * w)

    def program():
        y = mg.checkpoint(block, mg.sin(x))
        (y * 3.0).backward()

    lines, trace = record_lines(program)
    assert lines[0] == "checkpoint would drop, without this record, the graph of h * w, tanh (y)"
    assert lines[2] == "checkpoint would compute again, without this record, h * w, tanh (y)"
    assert lines[3].startswith("2. tanh (y) sends")
    entries = [entry for entry in trace.journal if entry.kind in ("checkpoint", "recompute")]
    assert [entry.kind for entry in entries] == 2 * ["checkpoint"] + 2 * ["recompute"]
    assert {entry.lines[0].text.strip() for entry in entries} == {"y = mg.checkpoint(block, mg.sin(x))"}
    data = trace.to_dict()
    next(entry for entry in data["journal"] if entry["kind"] == "recompute")["node"] = trace.steps[-1].target
    with pytest.raises(ValueError, match="a recompute must be about a node that an operation computed"):
        mg.load_trace(data)
    replayed = mg.tracing.replay(mg.load_trace(trace.to_json()), "no order")
    assert second_runs(replayed) == second_runs(trace) == {1: ["h * w", "tanh (y)"]}


def test_each_walk_that_arrives_from_outside_computes_a_checkpoint_again():
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        y = mg.checkpoint(lambda x: mg.checkpoint(mg.tanh, mg.sin(x)), x)
        y.backward()
        (y * y).backward()
    again = ["mg.sin(x)", "tanh (y)", "tanh (y)"]
    assert second_runs(trace) == {0: again, 4: again}


def test_a_walk_through_the_graph_of_a_second_run_computes_nothing_again():
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        y = mg.checkpoint(mg.tanh, x)
        [gradient] = y.gradients(create_graph=True).values()
        gradient.backward()
    assert trace.walks[1].steps
    assert second_runs(trace) == {0: ["tanh (y)"]}


def test_a_checkpoint_without_a_graph_or_inside_a_walk_is_no_entry():
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        with mg.no_grad():
            mg.checkpoint(mg.tanh, x)
        (mg.checkpoint(mg.tanh, x.detach()) * x).backward()
        mg.checkpoint(lambda x: (x * x).gradients(), x)
    assert not second_runs(trace)
    assert "checkpoint" not in {entry.kind for entry in trace.journal}


def test_a_checkpoint_that_is_not_recorded_runs_again_in_a_recorded_walk():
    x = mg.tensor(0.5, requires_grad=True)
    y = mg.checkpoint(lambda x: mg.sin(x) * 2, x)
    lines, trace = record_lines((y * y).backward)
    assert lines[2] == "checkpoint runs its function again"
    assert second_runs(trace) == {2: ["checkpoint"]}


def test_every_kind_of_entry_is_in_the_schema_and_on_its_page():
    schema = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
    assert {*schema["$defs"]["journal_entry"]["properties"]["kind"]["enum"]} == {*KINDS_OF_ENTRIES}
    table = (Path(__file__).parents[1] / "docs" / "trace.md").read_text(encoding="utf-8").split("| kind |")[1]
    rows = table.split("\n\n")[0].splitlines()[2:]
    assert {kind for row in rows for kind in row.split("|")[1].strip().split(", ")} == {*KINDS_OF_ENTRIES}


def test_the_gradient_that_a_result_keeps_is_followed():
    w = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        h = (w * 3).retain_grad()
        (h * h).backward()
        h.grad = None
        (h * 2).backward()
    node = trace.source.outline.ids[id(h.node)]
    changes = [(entry.kind, entry.before, entry.after) for entry in trace.journal if entry.node == node]
    assert changes == [("accumulate", None, 12.0), ("clear", 12.0, None), ("accumulate", None, 2.0)]
    assert trace.gradients[node] == h.grad.item() == 2.0
    assert mg.load_trace(trace.to_json()).gradients[node].numpy() == 2.0
    repeated = mg.tracing.what_if(trace, without=lambda entry: entry.node == node)
    assert repeated.gradients[node] == 14.0


def test_a_gradient_that_is_set_on_a_value_with_a_formula_is_followed():
    a = Value(1.0)
    with mg.record() as trace:
        b = a * 2
        c = b * a
        c.backward()
        b.grad = 5.0
        c.backward()
    gradients = {trace.nodes[node].title: gradient for node, gradient in trace.gradients.items()}
    assert gradients["multiply (b)"] == b.grad == 6.0
    assert gradients["multiply (c)"] == c.grad == 2.0
    assert str(mg.load_trace(trace.to_json())) == str(trace)


def test_a_gradient_of_zero_on_a_value_is_not_cleared_by_the_next_walk():
    a = Value(-1.0)

    def program():
        a.relu().backward()
        a.relu().backward()
        a.grad = 0

    lines, trace = record_lines(program)
    assert [line for line in lines if "clears" in line] == ["the program clears the gradient of a"]
    assert lines[-1] == "the program clears the gradient of a"
    assert str(mg.load_trace(trace.to_json())) == str(trace)


def test_a_leaf_that_needs_no_gradient_any_more_loses_it():
    x, y = (mg.tensor(number, requires_grad=True) for number in (2.0, 3.0))

    def program():
        (x * y).backward()
        x.requires_grad = False

    lines, trace = record_lines(program)
    assert lines[-1] == "requires_grad clears the gradient of x"
    assert None in trace.gradients.values()


def test_a_leaf_that_is_frozen_before_its_walk_begins_empty():
    x, y = (mg.tensor(number, requires_grad=True) for number in (2.0, 3.0))

    def program():
        (x * y).backward()
        product = x * y
        x.requires_grad = False
        product.backward()

    lines, trace = record_lines(program)
    assert x.grad is None
    assert [entry.node for entry in trace.journal if entry.kind == "accumulate"] == [0, 1, 1]
    assert [line for line in lines if "gradient of x" in line] == [
        "requires_grad clears the gradient of x", "requires_grad=False drops the gradient of x"]  # fmt: skip
    assert str(mg.load_trace(trace.to_json())) == str(trace)
    *_, last = payload(normalize(trace_data(trace)))["steps"]
    assert last["say"].endswith("At the end of the walk, requires_grad=False dropped the gradient of x.")
    assert "3. multiply (product) sends 3 to x (a)" in lines


def test_a_page_says_what_a_checkpoint_would_compute_again():
    w = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        for _ in range(2):
            y = mg.checkpoint(mg.tanh, w)
            (y * 3.0).backward()
            w.grad = None
    page = payload(load_film(trace))
    [moment] = page["film"]["moments"][1]["before"]
    assert moment["word"] == "checkpoint"
    assert moment["say"] == "checkpoint would drop, without this record, the graph of tanh (y)."
    end = "Before this step, checkpoint would compute again, without this record, tanh (y) #2. Afterwards, "
    assert end in payload(normalize(trace_data(trace)))["steps"][3]["say"]


def test_a_walk_that_reads_what_a_leaf_held_earlier_writes_nothing():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = x * x * x
        x.assign(3.0)
        z = x * 2.0
        (slope,) = y.gradients(create_graph=True).values()
        (slope * z).backward()
    writes = [(entry.by, entry.before, entry.after) for entry in trace.journal if entry.of == "value"]
    assert writes == [("assign", 2.0, 3.0)]
    assert [walk.leaves[0].value for walk in trace.walks] == [3.0, 3.0]
