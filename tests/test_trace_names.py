"""Names of values, and the formula of each step in those names."""

import argparse
import contextlib
import runpy
from functools import reduce
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, scalar
from micrograd_plus.checks.samples import samples
from micrograd_plus.engine import Value
from micrograd_plus.formulas.simplify import simplify
from micrograd_plus.formulas.symbols import Name, Symbol
from micrograd_plus.tracing import formulas as trace_formulas


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def formulas(trace):
    """Return the formula of each step, by its start and end."""
    return {
        (trace.nodes[step.node].name, step.input): step.formula and step.formula.text.removeprefix("contribution = ")
        for step in trace.steps
    }


# Names ----------------------------------------------------------------------------------------------------------------


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


# Formulas -------------------------------------------------------------------------------------------------------------


def test_a_formula_has_the_names_of_the_program():
    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        c = a + b
        d = a * b
        (c * d).backward()
    texts = formulas(trace)
    assert texts["multiply", "a"] == "upstream · d"
    assert texts["multiply", "b"] == "upstream · c"
    assert texts["multiply (d)", "a"] == "upstream · b"
    step = next(step for step in trace.steps if trace.nodes[step.node].label == "d" and step.input == "a")
    assert '<mi data-name="b">b</mi>' in step.formula.mathml
    step = next(step for step in trace.steps if trace.nodes[step.node].name == "multiply" and step.input == "a")
    assert '<mi data-name="b">d</mi>' in step.formula.mathml, "letters become numbers or names"


def test_a_formula_avoids_letters_that_the_program_uses():
    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        (mg.sin(a) * mg.cos(b)).backward()
    assert formulas(trace)["multiply", "a"] == "upstream · mg.cos(b)"


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (lambda x: x**2, "upstream · 2 · x"),
        (lambda x: x**3, "upstream · 3 · x²"),
        (lambda x: x**1, "upstream"),
        (lambda x: x**0.5, "upstream · 0.5 · x^(−0.5)"),
        (lambda x: x * 3.0, "upstream · 3"),
        (lambda x: x / 4.0, "upstream / 4"),
        (lambda x: 1.0 - x, "−upstream"),
        (lambda x: nn.functional.leaky_relu(x, 0.2), "upstream · {1 if x > 0; 0.2 otherwise}"),
        (lambda x: mg.maximum(x, 0.0), "upstream · ([x > 0] + 0.5 · [x = 0])"),
    ],
)
def test_a_formula_has_the_constants_of_its_application(program, wanted):
    x = leaf(1.5)
    with mg.record() as trace:
        program(x).backward()
    step = next(step for step in trace.steps if trace.nodes[step.target].label == "x")
    assert step.formula.text == f"contribution = {wanted}"


def test_a_formula_has_the_sum_over_broadcast_axes():
    x, w, c = leaf(np.ones((4, 1, 3))), leaf(np.ones((5, 1))), leaf(2.0)
    with mg.record() as trace:
        y = x * w
        (y * c).sum().backward()
    texts = formulas(trace)
    assert texts["multiply (y)", "a"] == "Σ[axis 1](upstream · w)"
    assert texts["multiply (y)", "b"] == "Σ[axes 0, 2](upstream · x)"
    assert texts["multiply", "b"] == "Σ(upstream · y)"
    assert trace.rules["multiply.a"].text == "contribution = upstream · b", "the rule itself does not sum"


def test_formulas_of_sum_and_mean_use_numpys_terms():
    x = leaf(np.ones((2, 3)))
    with mg.record() as trace:
        rows = x.mean(axis=1)
        rows.sum().backward()
    texts = formulas(trace)
    assert texts["sum", "x"] == "broadcast(upstream)"
    assert texts["mean (rows)", "x"] == "broadcast[axis 1](upstream / 3)"


def test_the_formula_of_cross_entropy_is_the_textbooks():
    scores = leaf(np.zeros((4, 3)))
    with mg.record() as trace:
        nn.functional.cross_entropy(scores * 1.0, mg.tensor([0, 1, 2, 0])).backward()
    assert formulas(trace)["cross_entropy", "logits"] == "upstream / 4 · (softmax(z) − one_hot(y))"
    prediction, target = leaf([1.0, 2.0, 3.0]), mg.tensor([0.0, 0.0, 1.0])
    with mg.record() as trace:
        nn.functional.mse_loss(prediction, target).backward()
    assert formulas(trace)["mse_loss", "prediction"] == "upstream · 2 / 3 · (prediction − target)"


def test_formulas_of_matrix_products_show_transposes():
    x, net = leaf([[1.0, 2.0]]), nn.Linear(2, 3)
    with mg.record() as trace:
        net(x.T.T).sum().backward()
    texts = formulas(trace)
    assert texts["linear_layer (net)", "x"] == "upstream @ net.weight"
    assert texts["linear_layer (net)", "bias"] == "Σ[axis 0](upstream)"
    assert texts["linear_layer (net)", "weight"].startswith("upstreamᵀ @ ")
    assert texts["transpose #1", "x"] == "upstreamᵀ"


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_writes_or_loops_has_no_formula():
    def writes(upstream, x):
        made = upstream * 1.0
        made[...] = made * 2.0
        return made

    def loops(upstream, x):
        return sum(part for part in [upstream * each for each in x]) * 0 + upstream

    def asks(upstream, x):
        return upstream.reshape(x.shape) * 2.0

    def looks_up(upstream, x):
        return upstream * {True: 2.0, False: 3.0}[bool(x.size > 1)]

    for place, rule in enumerate((writes, loops, asks, looks_up)):

        def forward(xp, x):
            return x * 2.0

        forward.__name__ = f"without_a_formula_{place}"
        made = mg.op(forward)
        made.op.add_rule(("x",), rule)
        x = leaf([1.0, 2.0])
        with mg.record() as trace:
            made(x).sum().backward()
        step = trace.steps[-1]
        assert step.formula is None
        assert trace.rules[step.rule].text is None
        assert "made(x) sends" in repr(trace)


@pytest.mark.parametrize("name", samples)
def test_each_step_of_every_sample_has_a_formula_if_its_rule_has(name):
    sample = samples[name][0]
    places = differentiable_inputs(sample)
    held = [leaf(sample.inputs[i]) for i in places]
    with mg.record() as trace:
        scalar(sample, replace_inputs(sample, places, held)).backward()
    for step in trace.steps:
        assert (step.formula is None) == (trace.rules[step.rule].text is None), step
        if step.formula is not None:
            assert step.formula.text.startswith("contribution = ")


def every_step(op_samples):
    """Return the formulas of all steps of samples recorded together on the same leaves."""
    with mg.record() as trace:
        for sample in op_samples:
            places = differentiable_inputs(sample)
            scalar(sample, replace_inputs(sample, places, [leaf(sample.inputs[i]) for i in places])).backward()
    return [step.formula and step.formula.text for step in trace.steps]


@pytest.mark.parametrize("name", samples)
def test_the_formula_of_a_step_does_not_depend_on_earlier_steps(name, monkeypatch):
    alone = []
    for sample in samples[name]:
        monkeypatch.setattr(trace_formulas, "SHARED_FORMULAS", trace_formulas.Memory())
        alone += every_step([sample])
    monkeypatch.setattr(trace_formulas, "SHARED_FORMULAS", trace_formulas.Memory())
    assert every_step(samples[name]) == alone
    assert every_step(samples[name]) == alone


def test_applications_with_other_constants_have_other_formulas():
    x = leaf([1.0, -2.0])
    with mg.record() as trace:
        (mg.leaky_relu(x, 0.1) + mg.leaky_relu(x, 0.25)).sum().backward()
    slopes = [step.formula.text for step in trace.steps if step.rule == "leaky_relu.x"]
    assert slopes == [f"contribution = upstream · {{1 if x > 0; {slope} otherwise}}" for slope in (0.25, 0.1)]


@pytest.mark.usefixtures("own_operations")
def test_a_custom_rule_gets_a_new_formula_in_every_record():
    factor = [2.0]

    @mg.elementwise(x=lambda xp: factor[0])
    def scale(xp, x):
        """x, scale."""
        return x * factor[0]

    texts = []
    for number in (2.0, 3.0):
        factor[0] = number
        with mg.record() as trace:
            scale(leaf([1.0])).sum().backward()
        texts.append(trace.steps[-1].formula.text)
    assert texts == ["contribution = upstream · 2", "contribution = upstream · 3"]


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        (lambda x: x * 1 + 0, "x"), (lambda x: 0 + 1 * x**1, "x"), (lambda x: x - 0, "x"), (lambda x: x / 1, "x"),
        (lambda x: x**0, "1"), (lambda x: 2 * 3 + x, "6 + x"), (lambda x: x * (1 / Symbol("y")), "x / y"),
        (lambda x: Name("where")(True, x, 5), "x"), (lambda x: x * -1, "−x"), (lambda x: x * 3 * 1, "3 · x"),
        (lambda x: Name("log")(0) + x, "log(0) + x"), (lambda x: x * (1 / Name("sqrt")(4)), "x / 2"),
    ],
)  # fmt: skip
def test_simplify_folds_constants_and_drops_neutral_terms(written, simple):
    from micrograd_plus.formulas import notation

    assert notation.text(simplify(written(Symbol("x")))) == simple


def test_a_first_operation_that_fails_has_its_inputs_and_line():
    weight, scale = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="do not broadcast"), mg.record() as trace:
        weight * scale
    assert [node.label for node in trace.nodes] == ["weight", "scale", None]
    assert "weight * scale" in trace.nodes[-1].site.text


# Formulas with readable names -----------------------------------------------------------------------------------------


def formulas_of(program):
    """Return the formulas of the steps of a program's walk."""
    with mg.record() as trace:
        program().sum().backward()
    return [str(step.formula).removeprefix("contribution = ") for step in trace.steps][1:]


def test_the_gradient_of_a_joined_part_is_a_slice():
    a, b = leaf(np.ones((2, 3))), leaf(np.ones((2, 1)))
    assert formulas_of(lambda: mg.concatenate([a, b], axis=1)) == ["upstream[:, :3]", "upstream[:, 3:]"]
    assert formulas_of(lambda: mg.concatenate([a, b], axis=-1)) == ["upstream[…, :3]", "upstream[…, 3:]"]
    assert formulas_of(lambda: mg.stack([a, a], axis=1)) == ["upstream[:, 0]", "upstream[:, 1]"]


def test_a_slice_sends_its_gradient_to_its_index_and_0_to_others():
    x, indices = leaf(np.ones((3, 4))), np.array([0, 0])
    assert formulas_of(lambda: x[1:, 0]) == ["{upstream at [1:, 0]; 0 elsewhere}"]
    assert formulas_of(lambda: x[indices]) == ["{upstream added at [[0, 0]]; 0 elsewhere}"]
    assert formulas_of(lambda: mg.take(x, indices, axis=1)) == [
        "{upstream added at [indices] along axis 1; 0 elsewhere}"
    ]


def test_the_formula_of_layer_norm_is_the_textbooks():
    x, weight = leaf(np.ones((2, 3))), leaf(np.ones(3))
    sent = "σ⁻¹ · (upstream · weight − mean[axis −1](upstream · weight) − x̂ · mean[axis −1](upstream · weight · x̂))"
    assert formulas_of(lambda: mg.layer_norm(x, weight)) == [sent, "Σ[axis 0](upstream · x̂)"]


def test_rows_of_several_axes_are_a_reshape_with_numbers():
    x, weight = leaf(np.ones((2, 3, 4))), leaf(np.ones((5, 4)))
    sent = "reshape(upstream, (−1, 5))ᵀ @ reshape(x, (−1, 4))"
    assert formulas_of(lambda: mg.linear_layer(x, weight)) == ["upstream @ weight", sent]


def test_formulas_that_differ_only_in_shapes_are_distinct():
    with mg.record() as trace:
        for size in (2, 3):
            h = leaf(np.ones(size))
            mg.mean(h).backward()
    assert [str(step.formula) for step in trace.steps] == [
        "contribution = broadcast(upstream / 2)", "contribution = broadcast(upstream / 3)"
    ]  # fmt: skip


@pytest.mark.parametrize("z", [1.0 + 2.0j, np.array([1.0 + 2.0j, -0.5j])])
def test_formulas_of_complex_numbers_keep_their_conjugates(z):
    z = mg.tensor(z, requires_grad=True)
    with mg.record() as trace:
        mg.real((z * z).sum()).backward()
    sent = [step.formula.text for step in trace.steps if step.rule.startswith("multiply")]
    assert sent == ["contribution = upstream · conj(z)"] * 2


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


def test_another_record_of_a_program_writes_no_formula_again(monkeypatch):
    written = []
    x, y = leaf([1.0, -2.0]), leaf([3.0, 0.5])

    def record():
        with mg.record() as trace:
            (mg.tanh(x) / y).sum().backward()
        return [rule.text for rule in trace.rules.values()]

    first, formula_of_rule = record(), trace_formulas.formula_of_rule

    def note(run, index):
        written.append(run.rule)
        return formula_of_rule(run, index)

    monkeypatch.setattr(trace_formulas, "formula_of_rule", note)
    assert record() == first
    assert written == []


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


def test_an_operand_that_numpy_computed_is_called_by_its_expression():
    y, a = np.array([0.0, 1.0, 1.0]), leaf([0.5, 0.25, 0.75])
    with mg.record() as trace:
        loss = (y * mg.log(a) + (1 - y) * a).sum() + (y / np.linalg.norm(y) / np.linalg.norm(1 - y) * a).sum()
        loss.backward()
    titles = [node.title for node in trace.nodes if node.kind == "leaf"]
    assert titles == ["a", "y", "1 - y", "y / … / np.linalg.norm(…)"]
    assert {"upstream · (1 - y)", "upstream · (y / … / np.linalg.norm(…))"} <= {*formulas(trace).values()}


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
