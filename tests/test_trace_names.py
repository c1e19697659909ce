"""Names of values: variables, members of containers and objects, parts of results, expressions."""

import argparse
import contextlib
import runpy
from functools import reduce
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.engine import Value


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def test_a_result_has_the_name_of_its_variable_in_each_assignment():
    x = leaf(0.5)
    with mg.record() as trace:
        h = x
        for _ in range(3):
            h = mg.tanh(h)
        total = h * 2.0
        total += h
        total.backward()
    assert [node.name for node in trace.nodes if node.op] == [
        "tanh (h) #1", "tanh (h) #2", "tanh (h) #3", "multiply (total)", "add (total)",
    ]  # fmt: skip


def test_augmented_assignment_names_its_result():
    f = Value(3.0)
    with mg.record() as trace:
        g = f / 2.0
        g += 10.0 / f
        g.backward()
    assert [node.name for node in trace.nodes if node.op][-1] == "add (g)"


def test_a_returned_value_has_the_callers_name_for_it():
    def network(x):
        return mg.tanh(x) * 2.0

    x = leaf(0.5)
    with mg.record() as trace:
        for _ in range(2):
            y = network(x)
        y.backward()
    assert [node.name for node in trace.nodes if node.op] == ["tanh", "multiply (y)"]


def test_several_names_on_one_line_are_distinct():
    x, w, v = leaf([[1.0, 2.0]]), leaf(np.eye(2)), leaf(np.ones((2, 2)))
    with mg.record() as trace:
        q, k = x @ w, x @ v
        (q * k).sum().backward()
    assert [node.label for node in trace.nodes if node.op == "matmul"] == ["q", "k"]


def test_a_tensor_that_becomes_another_result_is_two_nodes():
    x, y = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        total = x * 1.0
        for part in (x * 2.0, y * 3.0):
            total += part
        total.backward()
    sums = [node for node in trace.nodes if node.op == "add"]
    assert [node.name for node in sums] == ["add (total) #1", "add (total) #2"]
    assert [float(node.value) for node in sums] == [6.0, 15.0]


def several_rounds():
    """Use numbers, arrays, parameters, constants and repeated names in a loop."""
    net, w = nn.MLP(2, [3, 1]), leaf([[0.5, 0.25], [1.0, 2.0]])
    with mg.record() as trace:
        for k in range(3):
            score = net([Value(0.5 * k), Value(-1.0)])
            h = mg.tanh(w @ w) * 2.0
            (h.sum() * mg.tensor(3.0)).backward()
            (score * 2 + 1).backward()
    return trace


def test_a_node_has_one_name_in_the_trace_its_parts_and_print():
    trace = several_rounds()
    again, data = several_rounds(), trace.to_dict()
    names = {node["id"]: node["name"] for node in data["nodes"]}
    assert len(names) > 100
    assert sum(" #" in name for name in names.values()) > 50
    for start in range(0, len(trace.steps), 7):
        part = again.to_dict(start, 7)
        assert all(names[node["id"]] == node["name"] for node in part["nodes"])
    lines = str(again).splitlines()
    for step in again.steps[:20]:
        title = again.nodes[step.node].title
        assert any(f"{title} {'adds' if step.accumulates else 'sends'}" in line for line in lines)


def test_the_names_of_a_part_do_not_depend_on_earlier_parts():
    one, other = several_rounds(), several_rounds()
    last = len(one.nodes) - 1
    first = [other.nodes[place].name for place in range(last + 1)]
    assert one.nodes[last].name == first[last]
    assert [one.nodes[place].name for place in range(last, -1, -1)] == first[::-1]


def test_names_are_unique_except_for_constants():
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    with mg.record() as trace:
        y = net(mg.tensor(np.ones((2, 3)))) * 2.0
        y = (net(y) * 2.0 - 3.0).sum()
        y.backward()
    named = [node.name for node in trace.nodes if node.name not in ("2", "3")]
    assert len(set(named)) == len(named)
    assert [node.name for node in trace.nodes].count("2") == 2
    printed = repr(trace)
    assert all(trace.nodes[step.target].title in printed for step in trace.steps[:20])


def test_a_node_is_named_after_the_function_that_was_called():
    scores, y = leaf([[1.0, 2.0, 0.5]]), mg.tensor([1])
    with mg.record() as trace:
        nn.functional.cross_entropy(scores, y).backward()
    (node,) = [node for node in trace.nodes if node.op]
    assert (node.op, node.called, node.name) == ("mean_class_cross_entropy", "cross_entropy", "cross_entropy")
    with mg.record() as trace:
        (scores @ scores.T).sum().backward()
    assert [node.called for node in trace.nodes if node.op] == [None, None, None]


def test_the_name_in_the_program_that_recorded_comes_before_a_parameters_name():
    def helper(h):
        return h * 2.0

    w = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = helper(w) * w
        y.backward()
    assert [node.name for node in trace.nodes if node.requires_grad and node.kind == "leaf"] == ["w"]


def test_unnamed_leaves_are_called_by_their_expression_or_their_input():
    rows, data, labels = [0, 2, 1], np.ones((5, 4)), np.array([0, 1, 2, 0, 1])
    net = mg.nn.Linear(4, 3)
    with mg.record() as trace:
        hidden = mg.nn.functional.dropout(net(mg.tensor(data[rows])), 0.5)
        loss = mg.nn.functional.cross_entropy(hidden, mg.tensor(labels[:3]))
        loss = loss + (mg.tensor(data[:, :3]) * net.bias).sum()
        loss.backward()
    names = {node.name for node in trace.nodes if node.kind == "leaf"}
    assert {"mg.tensor(data[rows])", "mask", "mg.tensor(labels[:3])", "mg.tensor(data[:, :3])"} <= names


class Model:
    """A model without a base class."""

    def __init__(self):
        self.w, self.net = leaf([1.0, 2.0]), nn.Linear(2, 1)

    def predict(self, x):
        self.h = x * self.w
        return self.net(self.h)


def names_of_parameters(trace):
    return [node.title for node in trace.nodes if node.kind == "leaf" and node.requires_grad]


def test_parameters_in_containers_and_objects_are_named_by_their_places():
    params, pairs = {"W": leaf([1.0, 2.0]), "bs": [leaf(0.5)]}, [(leaf(1.0), leaf(2.0)), (leaf(3.0), leaf(4.0))]
    model = Model()
    with mg.record() as trace:
        y = (params["W"] * params["bs"][0]).sum() + model.predict(mg.tensor([3.0, 4.0])).sum()
        for slope, shift in pairs:
            y = y * slope + shift
        y.backward()
        for p in params.values():
            assert p is not None
    assert set(names_of_parameters(trace)) == {
        'params["W"]', 'params["bs"][0]', "model.w", "model.net.weight", "model.net.bias",
        "pairs[0][0]", "pairs[0][1]", "pairs[1][0]", "pairs[1][1]",
    }  # fmt: skip
    assert "multiply (self.h)" in [node.title for node in trace.nodes]


def test_keys_have_the_quotes_of_the_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import micrograd_plus as mg\n"
        "P = {name: mg.tensor(2.0, requires_grad=True) for name in ('k', 'm')}\n"
        "Q = {'n': mg.tensor(3.0, requires_grad=True), 'o': mg.tensor(4.0, requires_grad=True)}\n"
        "with mg.record() as trace:\n"
        "    (P['k'] * mg.sin(mg.cos(P[\"m\"]) + sum(Q.values()))).backward()\n"
    )
    trace = runpy.run_path(str(program))["trace"]
    assert names_of_parameters(trace) == ["P['k']", 'P["m"]', "Q['n']", "Q['o']"]
    assert trace.nodes[-1].title == "P['k'] * mg.sin(… + …)"


def test_a_variable_that_was_there_first_names_a_member():
    w, b = leaf([1.0, 2.0]), leaf(0.5)
    params = [w, b, leaf(2.0)]
    with mg.record() as trace:
        (params[0] * params[1] * params[2]).sum().backward()
    assert names_of_parameters(trace) == ["w", "b", "params[2]"]


def test_a_parameter_is_not_called_by_its_value():
    def double(values):
        return values[0] * 2.0

    with mg.record() as trace:
        double([leaf(0.5)]).backward()
    assert names_of_parameters(trace) == ["values[0]"]


def test_a_result_that_is_passed_on_keeps_its_expression():
    def square(v):
        return v * v

    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        y = square(a * b)
        y.backward()
    assert [node.title for node in trace.nodes if node.op] == ["a * b", "multiply (y)"]


def test_each_result_of_a_module_has_the_callers_name_for_it():
    class Net(nn.Module):
        def __init__(self):
            self.scale = nn.Parameter(2.0)

        def forward(self, x):
            return mg.relu(x) * self.scale

    net = Net()
    with mg.record() as trace:
        for _ in range(2):
            out = net(mg.tensor(1.0))
            out.backward()
    assert [node.label for node in trace.nodes if node.op == "multiply"] == ["out", "out"]


def titles_of_constants(trace):
    return [node.title for node in trace.nodes if node.kind == "leaf" and not node.requires_grad]


def test_operands_of_products_are_named_by_their_expressions():
    X, v, w = np.ones((2, 3)), np.ones(3), leaf([1.0, 2.0, 3.0])
    with mg.record() as trace:
        y = mg.tensor(X) @ w + mg.matmul(mg.tensor(X[:2]), w) + mg.tensor(X[::-1]).matmul(w)
        (y.sum() + mg.tensor(v) @ w).backward()
    assert titles_of_constants(trace) == ["mg.tensor(X)", "mg.tensor(X[:2])", "mg.tensor(X[::-1])", "mg.tensor(v)"]


def test_arrays_are_named_by_their_variables():
    mask, tokens, x = np.array([True, False]), np.array([0, 1]), leaf([[1.0, 2.0], [3.0, 4.0]])
    with mg.record() as trace:
        y = mg.where(mask, x, -1.0) * mg.eye(2)[mg.argmax(x, axis=1)]
        nn.functional.cross_entropy(y, tokens).backward()
    assert titles_of_constants(trace) == ["mask", "-1", "mg.eye(2)", "tokens"]


def test_a_modules_own_array_is_not_called_by_its_argument():
    cell, xs = nn.LSTM(2, 2), np.ones((3, 1, 2)) / 2
    with mg.record() as trace:
        out, _ = cell(mg.tensor(xs))
        out.sum().backward()
    assert titles_of_constants(trace) == ["zeros", "mg.tensor(xs)"]


def test_an_array_that_a_second_derivative_reads_is_one_node():
    x, w = mg.tensor([[1.0, 2.0]]), leaf([[3.0], [4.0]])
    with mg.record() as trace:
        loss = (x @ w).sum()
        (gradient,) = loss.gradients(create_graph=True).values()
        (gradient * w).sum().backward()
    assert [title for title in titles_of_constants(trace) if title not in ("1", "2")] == ["x"]


def test_a_product_that_fails_has_the_name_of_its_result_alone():
    w = leaf([[1.0, 2.0]])
    with contextlib.suppress(ValueError), mg.record() as trace:
        out = w @ mg.tensor([1.0, 2.0, 3.0])
        out.backward()
    assert [node.title for node in trace.nodes] == ["mg.tensor([1.0, 2.0, 3.0])", "expand_dims", "w", "matmul (out)"]


def test_objects_of_libraries_and_private_attributes_name_nothing():
    held = argparse.Namespace(w=leaf(2.0))
    model = Model()
    model._last = leaf(3.0)
    with mg.record() as trace:
        (held.w * model._last).backward()
    assert [node.label for node in trace.nodes if node.kind == "leaf"] == [None, None]


def test_a_notebooks_own_objects_name_nothing():
    code = "with mg.record() as trace:\n    (a * b).backward()\nnames = [node.title for node in trace.nodes]"
    shell = SimpleNamespace(a=leaf(2.0))
    space = {"get_ipython": shell, "Out": {1: leaf(5.0)}, "mg": mg, "a": shell.a, "b": leaf(3.0)}
    space["Out"][2] = space["b"]
    exec(compile(code, "cell", "exec"), space)  # noqa: S102 - as a notebook runs a cell
    assert space["names"][:2] == ["a", "b"]


class Unit:
    def __init__(self, *weights):
        self.w = [Value(weight) for weight in weights]

    def __call__(self, xs):
        return sum(w * x for w, x in zip(self.w, xs, strict=True))


class Layers:
    def __init__(self):
        self.layers = [SimpleNamespace(units=[Unit(0.5, 2.0), Unit(-1.0, 3.0)])]


class Pair(NamedTuple):
    left: mg.Tensor
    right: mg.Tensor


def labels(trace):
    return [node.label for node in trace.nodes if node.label]


def test_members_of_nested_objects_have_the_path_of_the_program_that_recorded():
    net = Layers()
    with mg.record() as trace:
        score = sum(unit([1.0, 4.0]) for unit in net.layers[0].units)
        score.backward()
    wanted = [f"net.layers[0].units[{unit}].w[{at}]" for unit in range(2) for at in range(2)]
    assert [node.label for node in trace.nodes if node.kind == "leaf" and node.label] == wanted


def test_members_have_the_names_of_fields_and_keys_of_several_parts():
    state, table = Pair(leaf(1.0), leaf(2.0)), {(0, "a"): leaf(3.0)}
    with mg.record() as trace:
        (state.left * state.right * table[0, "a"]).backward()
    assert labels(trace) == ["state.left", "state.right", 'table[0, "a"]']


def test_parts_of_a_result_have_the_names_that_the_program_gives_them():
    x = leaf([3.0, 1.0])

    def halves(x):
        return mg.split(x * 2.0, 2)

    with mg.record() as trace:
        for _ in range(2):
            first, second = mg.unstack(x)
            both = mg.split(x, 2)
            lower, upper = halves(x)
            ends = halves(upper.reshape(1) * [1.0, 2.0])
            (first * second + both[0] * lower + ends[1]).sum().backward()
    written = [label for label in labels(trace) if label not in ("x", "ends")]
    assert written[: len(written) // 2] == written[len(written) // 2 :]
    assert {"first", "second", "both[0]", "lower", "upper", "ends[1]"} <= {*written}


def test_the_last_of_several_results_does_not_have_the_name_of_them_all():
    x = leaf(2.0)

    def both(x):
        return mg.sin(x), mg.cos(x)

    with mg.record() as trace:
        for _ in range(2):
            pair = both(x)
            (pair[0] * pair[1]).backward()
    assert "pair" not in labels(trace)


def test_a_number_that_became_a_value_has_the_name_of_its_variable():
    ws, xs, goal, one = [Value(0.5), Value(2.0)], [3.0, -1.0], 1.0, 1
    with mg.record() as trace:
        score = sum(w * x for w, x in zip(ws, xs, strict=True)) * 2
        loss = (score - goal) ** 2 + one * one - (1 - score)
        loss.backward()
    leaves = [node.title for node in trace.nodes if node.kind == "leaf" and not node.label]
    assert [name for name in leaves if name.strip("-")[0].isalpha()] == ["x #1", "x #2", "-goal"]
    assert {"2", "0", "1"} <= {*leaves}


def test_an_array_that_the_program_writes_as_a_list_is_called_so():
    w = leaf([2.0, 3.0])
    with mg.record() as trace:
        (w * [1.0, -1.0] + mg.maximum(w, (0.0, 4.0))).sum().backward()
    assert [node.title for node in trace.nodes if node.kind == "leaf"] == ["w", "[1.0, -1.0]", "(0.0, 4.0)"]


def test_a_derivative_does_not_name_the_value_of_its_function():
    w = leaf([2.0, 3.0])

    def f(x):
        return (x * mg.sin(x)).sum()

    def titles(program):
        with mg.record() as trace:
            program()
        return [node.title for node in trace.nodes]

    def first():
        g = mg.grad(f)(w)
        assert g.shape == (2,)

    def with_value():
        for _ in range(2):
            value, g = mg.value_and_grad(f)(w)
        return value, g

    def second():
        h = mg.hessian(f)(w)
        assert h.shape == (2, 2)

    def several():
        gx, gy = mg.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(w, w)
        assert gx.shape == gy.shape

    def of_result():
        for _ in range(2):
            gradients = mg.autograd.grad(f(w), w, create_graph=True)
        return gradients

    assert not [title for title in titles(several) if "(gx)" in title]
    assert not [title for title in titles(of_result) if "(gradients)" in title]
    assert titles(first)[1:] == ["positive (x)", "mg.sin(x)", "x * mg.sin(x)", "(x * mg.sin(x)).sum()"]
    assert [title for title in titles(with_value) if "sum" in title][-1].startswith("sum (value)")
    assert not [title for title in titles(second) if "(h)" in title]


def test_entries_that_python_computes_lack_the_name_of_the_whole():
    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        s, t = map(mg.tanh, (a, b))
        total = sum(map(mg.exp, [s, t]))
        product = reduce(mg.multiply, [total, s, t])
        several = list(map(mg.sin, [product, s]))
        (several[0] * several[1]).backward()
    names = [node.name for node in trace.nodes if node.kind != "leaf"]
    assert names == [
        "tanh (s)", "tanh (t)", "exp #1", "add (total) #1", "exp #2", "add (total) #2", "multiply (product) #1",
        "multiply (product) #2", "sin (several[0])", "sin (several[1])", "multiply",
    ]  # fmt: skip


def test_a_dictionary_may_change_while_names_are_read_from_it():
    class Key:
        def __repr__(self):
            table[len(table)] = 0  # as another thread might
            return "key"

    table = {Key(): leaf([2.0, 3.0]), "other": leaf([1.0])}
    with mg.record() as trace:
        (next(iter(table.values())) * table["other"]).sum().backward()
    assert [node.title for node in trace.nodes if node.kind == "leaf"] == ["table[key]", 'table["other"]']


class Layer:
    """A layer without a base class, which keeps its result."""

    def __init__(self):
        self.weight, self.bias = leaf([1.0, 2.0]), leaf([0.5, 0.5])

    def __call__(self, x):
        self.out = x * self.weight
        self.out += self.bias
        return mg.tanh(self.out)


def test_each_round_of_a_loop_has_the_same_names():
    layers = [Layer(), Layer()]
    with mg.record() as trace:
        for scale in range(2):
            batch = mg.tensor([1.0 + scale, 2.0])
            x = batch
            for layer in layers:
                x = layer(x)
            x.sum().backward()
    names = [node.title.rpartition(" #")[0] for node in trace.nodes if not node.requires_grad or node.kind != "leaf"]
    assert names[: len(names) // 2] == names[len(names) // 2 :]
    assert names[:3] == ["batch", "multiply (self.out)", "add (self.out)"]


def test_a_variable_of_a_loop_that_is_assigned_anew_is_a_name():
    def train(w):
        for data in ([1.0, 2.0], [3.0, 4.0]):
            data = mg.tensor(data)
            predict(w, data).backward()

    def predict(w, x):
        return (w * x).sum()

    with mg.record() as trace:
        train(leaf([1.0, 1.0]))
    assert [node.title for node in trace.nodes if node.kind == "leaf"] == ["w", "data #1", "data #2"]


def test_a_module_that_was_replaced_is_called_as_the_program_called_it():
    model = nn.Sequential(nn.Linear(2, 2))
    model.head = nn.Linear(2, 1)
    with mg.record() as trace:
        for _ in range(2):
            model.head(model[0](mg.tensor([1.0, 2.0]))).sum().backward()
            model.head = nn.Linear(2, 1)
    assert {node.label for node in trace.nodes if node.kind == "leaf" and node.requires_grad} == {
        "model.0.weight", "model.0.bias", "model.head.weight", "model.head.bias"}  # fmt: skip
    assert [group.name for group in trace.groups if group.kind == "module"] == ["model.0", "model.head"] * 2


def test_statistics_that_a_walk_depends_on_have_their_names():
    norm, x = nn.BatchNorm1d(2), leaf([[1.0, 2.0], [3.0, 5.0]])
    with mg.record() as trace:
        y = norm(x)
        norm.eval()
        norm(y).sum().backward()
    labels = [node.label for node in trace.nodes]
    assert [labels.count(f"norm.{name}") for name in ("running_mean", "running_var")] == [2, 2]


def test_an_array_of_a_program_without_a_text_has_the_name_of_its_variable():
    variables = {"mg": mg, "np": np, "w": leaf([1.0, 2.0])}
    program = """
x, other = np.array([1.0, -1.0]), np.array([1.0, 3.0])
with mg.record() as trace:
    out = mg.tanh(x * w).sum()
    out.backward()
"""
    exec(compile(program, "<a program without a file>", "exec"), variables)  # noqa: S102 - as notebooks of others do
    assert [node.title for node in variables["trace"].nodes if node.kind == "leaf"] == ["w", "x"]


def test_the_target_of_a_loss_is_called_so():
    w = leaf([0.5])
    with mg.record() as trace:
        nn.functional.smooth_l1_loss(w, mg.tensor([0.75])).backward()
    assert "target" in [node.title for node in trace.nodes]
