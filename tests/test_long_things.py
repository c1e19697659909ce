"""Long scripts, traces and labels: memory and time grow no faster than the input."""

import gc
import json
import subprocess
import sys
import threading
import tracemalloc
from contextlib import nullcontext
from functools import reduce

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from commands import environment, run
from micrograd_plus.tracing import formulas, last_walk
from micrograd_plus.tracing.json_in import TraceError
from micrograd_plus.tracing.last_walk import record_last_walk
from micrograd_plus_viz import letters
from work_counts import count_calls, count_lines, cpu_ratio

LOOP = """
import sys
import micrograd_plus as mg

w = mg.tensor([[1.0] * 40] * 40, requires_grad=True)
def step():
    w.grad = None
    h = mg.tanh(w)
    h += w
    loss = (h @ h).mean()
    loss.backward()
for _ in range(int(sys.argv[1])):
    step()
"""
MEASURED = """
import resource, sys
from micrograd_plus.__main__ import main
main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


# The command walk ------------------------------------------------------------------------------------------------


def record_steps(count, step, monkeypatch):
    """Return the trace of the last walk of a loop, and that of all walks."""
    monkeypatch.setattr(last_walk, "FEWEST", 4)
    with record_last_walk(sys._getframe()) as found:
        for number in range(count):
            step(number)
    with mg.record() as whole:
        for number in range(count):
            step(number)
    return found, whole


def last_steps(trace):
    """Return what the steps of the last walk sent, and to what."""
    walk = trace.walks[-1]
    steps = trace.steps[walk.first : walk.first + walk.steps]
    return [(step.rule, step.contribution.tolist(), trace.nodes[step.target].op) for step in steps]


LEAF = mg.tensor([1.0, 2.0], requires_grad=True)


def one_loss(number):
    LEAF.grad = None
    h = mg.sin(LEAF)
    h += number * LEAF
    (h * h).sum().backward()


def three_losses(number):
    LEAF.grad = None
    shared = mg.sin(LEAF)
    losses = [(shared * number).sum(), mg.exp(shared).sum(), mg.tanh(shared * LEAF).sum()]
    for loss in losses:
        loss.backward()


def with_hook(number):
    LEAF.grad = None
    y = LEAF * LEAF
    y.register_hook(lambda gradient: 2 * gradient)
    mg.sin(y).sum().backward(retain_graph=False)


def second_order(number):
    LEAF.grad = None
    mg.grad(lambda x: (x**3).sum())(LEAF).sum().backward()


@pytest.mark.parametrize("step", [one_loss, three_losses, with_hook, second_order])
def test_the_last_walk_is_that_of_the_whole_record(step, monkeypatch):
    found, whole = record_steps(12, step, monkeypatch)
    assert found.earlier_walks + 1 == len(whole.walks)
    assert len(found.trace.walks) == 1
    assert last_steps(found.trace) == last_steps(whole)
    mg.load_trace(found.trace.to_json())


def test_a_recorder_of_the_last_walk_keeps_few_notes():
    with record_last_walk(sys._getframe()) as found:
        for number in range(500):
            one_loss(number)
        assert len(found.recorder._notes) <= 2 * last_walk.FEWEST
        assert len(found.recorder.calls) <= last_walk.FEWEST


def test_forgetting_a_walk_takes_no_look_at_each_of_its_notes():
    def train(steps, length):
        for number in range(steps):
            LEAF.grad = None
            reduce(lambda h, _: mg.sin(h), range(length), number * LEAF).sum().backward()
            LEAF.data -= 0.01 * LEAF.grad

    def lines_per_step(record, length):
        def run(steps):
            with record():
                train(steps, length)

        run(20)  # fills caches
        return (count_lines(lambda: run(200)) - count_lines(lambda: run(100))) / 100

    more = [
        lines_per_step(lambda: record_last_walk(sys._getframe()), length) - lines_per_step(mg.record, length)
        for length in (3, 30)
    ]  # fmt: skip
    assert more[1] < more[0] < 50


@pytest.mark.skipif(sys.platform == "win32", reason="resident memory is measured on Unix")
def test_a_long_script_under_walk_needs_no_more_memory(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(LOOP, encoding="utf-8")
    sizes = []
    for count in ("20", "1000"):
        command = [sys.executable, "-c", MEASURED, "walk", str(script), "-o", str(tmp_path / "o.json"), "--", count]
        done = subprocess.run(command, env=environment(), capture_output=True, encoding="utf-8", check=True)
        sizes.append(int(done.stdout.split()[-1]) / 1024)
    assert "It is the last of 1000 walks." in done.stdout
    assert sizes[1] < sizes[0] + 10


def test_walk_passes_arguments_on_to_the_script(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nimport micrograd_plus as mg\nassert sys.argv[1:] == ['--lr', '1'], sys.argv\n"
        "x = mg.tensor(3.0, requires_grad=True)\n(x * x).backward()\n",
        encoding="utf-8",
    )
    ran = run("walk", script, "--", "--lr", "1")
    assert ran.returncode == 0, ran.stderr
    ran = run("walk", tmp_path / "missing.py", "--lr", "1")
    assert "unknown arguments: --lr" in ran.stderr


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("1 / 0", "stopped with ZeroDivisionError; this is the walk before it"),
        ("sys.exit(3)", "ended with exit code 3; this is the walk before it"),
        ("raise KeyboardInterrupt", "stopped with KeyboardInterrupt; this is the walk before it"),
        ("sys.stdout.close(); 1 / 0", "stopped with ZeroDivisionError; this is the walk before it"),
    ],
)
def test_the_walk_of_a_script_that_fails_later_is_written(end, sentence, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        f"import sys\nimport micrograd_plus as mg\nx = mg.tensor(3.0, requires_grad=True)\n(x * x).backward()\n{end}\n",
        encoding="utf-8",
    )
    ran = run("walk", script, "-o", tmp_path / "walk.json")
    assert ran.returncode == 1
    assert sentence in ran.stderr
    assert len(mg.load_trace(tmp_path / "walk.json").steps) == 2


@pytest.mark.parametrize(
    ("also_here", "sentence"),
    [("", "in this thread, and 2 times in others"), ("go()", "2 walks in other threads are not shown.")],
)
def test_walks_in_other_threads_are_mentioned(also_here, sentence, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import threading\nimport micrograd_plus as mg\nx = mg.tensor(3.0, requires_grad=True)\n"
        "go = lambda: (x * x).backward()\nthreads = [threading.Thread(target=go) for _ in range(2)]\n"
        f"for thread in threads:\n    thread.start()\n    thread.join()\n{also_here}\n",
        encoding="utf-8",
    )
    ran = run("walk", script)
    assert sentence in ran.stdout + ran.stderr
    assert ran.returncode == (0 if also_here else 1)
    assert threading.getprofile() is None


# Traces from files -----------------------------------------------------------------------------------------------


def document(walks=1, parts=2):
    """Return the plain data of a trace with some walks, each through a node with some inputs."""
    leaves = [mg.tensor(1.0, requires_grad=True) for _ in range(parts)]
    with mg.record() as trace:
        total = mg.stack(leaves).sum()
        for _ in range(walks):
            total.backward()
    return trace.to_dict()


def loader(**sizes):
    """Return a function of a size, which returns the loading of a trace of this size."""
    (what,) = sizes

    def prepare(size):
        text = json.dumps(document(**{what: size}))
        return lambda: mg.load_trace(text)

    return prepare


def test_loading_takes_time_in_proportion_to_walks():
    load = loader(walks=1)
    assert count_lines(load(400)) < 12 * count_lines(load(40))


def test_walks_that_claim_the_same_steps_are_rejected_at_once():
    data = document()
    data["walks"] = data["walks"] * 20_000

    def load():
        with pytest.raises(TraceError, match="walk 1: its steps must be those from 3 on"):
            mg.load_trace(data)

    assert count_calls(load) < 1_000_000


def test_a_long_value_must_have_a_summary():
    data = document()
    data["values"].append({**data["values"][0], "shape": [65], "data": [1.0] * 65})
    with pytest.raises(TraceError, match=r"value \d+ lists 65 entries; one with more than 64 has a summary"):
        mg.load_trace(data)


def test_loading_takes_time_in_proportion_to_the_inputs_of_a_node():
    def prepare(size):
        data = star(size)
        return lambda: mg.load_trace(data)

    assert cpu_ratio(prepare, 300, factor=10, enough=12) < 12


def star(size):
    """Return a trace of a node with many inputs, which is quicker to write down than to record."""
    data = document(parts=2)
    step, leaf, node = data["steps"][-1], data["nodes"][0], next(n for n in data["nodes"] if n["op"] == "stack")
    leaves = [{**leaf, "id": number} for number in range(size)]
    inputs = [{"name": node["inputs"][0]["name"], "node": number} for number in range(size)]
    data["nodes"] = [*leaves, {**node, "id": size, "inputs": inputs}]
    name = node["inputs"][0]["name"]
    data["steps"] = [{**step, "index": number, "node": size, "target": number, "input": name,
                      "before": None, "accumulates": False, "earlier": False, "after": step["contribution"]}
                     for number in range(size)]  # fmt: skip
    data["walks"] = [{**data["walks"][0], "root": size, "first": 0, "steps": size, "leaves": []}]
    data["gradients"] = []
    whole = {"compute": {"count": size + 1}, "arrive": {"count": size}, "begin": {}, "end": {}}
    data["journal"] = [entry | whole[entry["kind"]] for entry in data["journal"] if entry["kind"] in whole]
    return data


# Recording, and drawing ------------------------------------------------------------------------------------------


def record_lines(size):
    """Return the conversion of a program with many lines."""
    source = "y = x\n" + "y = mg.sin(y)\n" * size + "y.backward()\n"
    x = mg.tensor(1.0, requires_grad=True)
    with mg.record() as trace:
        exec(compile(source, f"<long {size}>", "exec"), {"mg": mg, "x": x})  # noqa: S102 - a program of this test
    return trace.to_json


def record_writes(size):
    """Return the conversion of a leaf that is written to after each walk."""
    x = mg.tensor(1.0, requires_grad=True)
    with mg.record() as trace:
        for _ in range(size):
            x.grad = None
            (x * x).backward()
            x.assign(x.detach() * 0.9)
    return trace.to_json


@pytest.mark.parametrize("record", [record_lines, record_writes])
def test_a_record_is_written_in_time_in_proportion_to_it(record):
    record(5)()  # fills caches
    assert count_lines(record(300)) < 12 * count_lines(record(30))


def own_total(parts):
    """Return the result of a user's operation whose rule reads all parts."""

    @mg.variadic(parts=lambda upstream, parts: [upstream] * len(parts))
    def total(xp, parts):
        """Return the sum of all parts."""
        return sum(parts)

    return total(parts).sum()


def join_before(size):
    """Return a walk through a join that was not recorded: only what its rule read tells the values of its inputs."""
    loss = own_total(leaves(size))
    return loss.backward


def push_through(join, size):
    """Return a forward walk through a join."""
    values = tuple(np.array([float(number)]) for number in range(size))
    return lambda: mg.jvp(lambda *parts: join(list(parts)), values, values)


def leaves(size):
    """Return leaves with one number each."""
    return [mg.tensor([float(number)], requires_grad=True) for number in range(size)]


MANY_INPUTS = {
    "concatenate": lambda size: lambda: mg.concatenate(leaves(size)).sum().backward(),
    "stack": lambda size: lambda: mg.stack(leaves(size)).sum().backward(),
    "unstack": lambda size: lambda: mg.stack(mg.unstack(mg.ones(size, requires_grad=True))).sum().backward(),
    "a user's rule": lambda size: lambda: own_total(leaves(size)).backward(),
    "joined before": join_before,
    "concatenate, forward": lambda size: push_through(mg.concatenate, size),
    "stack, forward": lambda size: push_through(mg.stack, size),
    "a user's rule, forward": lambda size: push_through(own_total, size),
}


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("name", MANY_INPUTS)
def test_a_node_with_ten_times_the_inputs_takes_ten_times_the_work(name, monkeypatch):
    def record(program):
        with mg.record() as trace:
            program()
        return trace.to_json(), str(trace)

    counts = []
    for size in (3, 20, 200):  # the first one fills caches
        monkeypatch.setattr(formulas, "SHARED_FORMULAS", formulas.Memory())
        program = MANY_INPUTS[name](size)
        counts.append(count_lines(lambda program=program: record(program)))
    assert counts[2] < 12 * counts[1]


@pytest.mark.parametrize("join", [mg.concatenate, mg.stack])
def test_forward_mode_through_ten_times_the_parts_takes_ten_times_the_memory(join):
    def bytes_of(size):
        push = push_through(join, size)
        gc.collect()  # empties the lists of objects that Python keeps to use again
        tracemalloc.start()
        with mg.record() as trace:
            push()
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert trace.walks
        return size

    bytes_of(3)  # fills caches
    assert bytes_of(600) < 12 * bytes_of(60)


def test_steps_through_a_join_hold_zeros_in_place_of_the_other_parts():
    tangents = (np.array([1.0, -0.0]), np.array(2.0), np.array([np.inf]))
    with mg.record() as trace:
        mg.jvp(lambda a, b, c: mg.concatenate([a, mg.stack([b, b]), c]), tangents, tangents)
    walk = [step for step in trace.steps if trace.nodes[step.target].op == "concatenate"]
    sent = [[1, -0.0, 0, 0, 0], [0, 0, 2, 2, 0], [0, 0, 0, 0, np.inf]]
    np.testing.assert_array_equal([step.contribution for step in walk], sent)
    np.testing.assert_array_equal([step.after for step in walk], np.cumsum(sent, axis=0))
    assert walk[0].raw is walk[0].contribution is walk[0].after is walk[1].before
    assert np.signbit(walk[0].after[1])
    assert not np.signbit(walk[1].after[1])  # -0 + 0


@pytest.mark.parametrize("recorded", [False, True])
def test_a_longer_program_is_pushed_in_time_in_proportion_to_it(recorded):
    def push(length):
        def chain(x):
            for _ in range(length):
                x = mg.softmax(x)
            return x

        with mg.record() if recorded else nullcontext():
            mg.jvp(chain, (np.ones(3),), (np.arange(3.0),))

    push(2)  # fills caches
    assert count_calls(lambda: push(200)) < 12 * count_calls(lambda: push(20))


def walk_again(size):
    """Walk back through one step many times."""
    y = mg.sin(leaves(1)[0])
    for _ in range(size):
        y.backward()


PAGES = {
    "steps": lambda size: reduce(lambda y, _: mg.sin(y), range(size), leaves(1)[0]).backward(),
    "walks": walk_again,
    "inputs of a node": lambda size: mg.stack(leaves(size)).sum().backward(),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_ten_times_the_walk_takes_ten_times_the_work(name, tmp_path, monkeypatch):
    counts = []
    for size in (3, 20, 200):  # the first one fills caches
        monkeypatch.setattr(formulas, "SHARED_FORMULAS", formulas.Memory())
        with mg.record() as trace:
            PAGES[name](size)
        counts.append(count_lines(lambda trace=trace: viz.save(trace, tmp_path / "walk.html")))
    assert counts[2] < 12 * counts[1]


@pytest.mark.parametrize("text", ["x", "ab ", "1.5, "])
def test_long_labels_are_wrapped_and_clipped_in_linear_time(text):
    def prepare(size):
        return lambda: (letters.wrap(text * size, 12, 200), letters.clip_to_width(text * size, 12, 200))

    prepare(500)()
    assert cpu_ratio(prepare, 500, factor=10, enough=12) < 12


def test_lines_of_a_wrapped_text_fit_and_lose_nothing():
    rng = np.random.default_rng(0)
    for _ in range(200):
        words = ["".join(rng.choice(list("abWi.m"), rng.integers(1, 30))) for _ in range(rng.integers(1, 8))]
        text, room = " ".join(words), float(rng.uniform(15, 120))
        lines = letters.wrap(text, 11.5, room)
        assert all(letters.width(line, 11.5) <= room for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        clipped = letters.clip_to_width(text, 11.5, room)
        assert letters.width(clipped, 11.5) <= room
        assert clipped == text or text.startswith(clipped[:-1])
