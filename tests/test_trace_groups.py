"""Module, scope, function and loop round of each application, and the lines that led there."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.engine import Value


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def group_names(trace, node):
    """Return the names of the groups around a node, outermost first."""
    names, group = [], node.group
    while group is not None:
        names.insert(0, trace.groups[group].name)
        group = trace.groups[group].parent
    return names


def nodes_of(trace, op):
    return [node for node in trace.nodes if node.op == op]


# Modules --------------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self):
        self.norm, self.inner = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x):
        return x + self.inner(self.norm(x))


def test_an_application_belongs_to_the_module_that_made_it():
    net, x = nn.Sequential(Block(), Block()), mg.tensor(np.ones((2, 4)))
    with mg.record() as trace:
        net(x).sum().backward()
    norms, linears, sums = nodes_of(trace, "layer_norm"), nodes_of(trace, "linear_layer"), nodes_of(trace, "add")
    assert [group_names(trace, node) for node in norms] == [["net", "0", "norm"], ["net", "1", "norm"]]
    assert [trace.groups[node.group].path for node in linears] == ["net.0.inner", "net.1.inner"]
    assert [trace.groups[node.group].of for node in sums] == ["Block", "Block"]
    assert [node.name for node in linears] == ["linear_layer (net.0.inner)", "linear_layer (net.1.inner)"]
    assert {node.label for node in trace.nodes if node.kind == "leaf"} == {
        "x", *(f"net.{i}.{name}" for i in (0, 1) for name in
               ("norm.weight", "norm.bias", "inner.weight", "inner.bias")),
    }  # fmt: skip


def test_parameters_belong_to_the_group_that_uses_them():
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    with mg.record() as trace:
        net(mg.tensor(np.ones((5, 4)))).sum().backward()
    weight = next(node for node in trace.nodes if node.label == "net.2.weight")
    assert trace.groups[weight.group].path == "net.2"
    whole = next(group for group in trace.groups if group.path == "net")
    assert whole.nodes == sum(node.group is not None for node in trace.nodes)
    inside = [step for step in trace.steps if trace.nodes[step.node].group is not None]
    assert whole.steps == len(inside)
    assert [group.parent for group in trace.groups] == [None, 0, 0, 0]


def test_slices_of_parameters_have_the_name_of_their_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    with mg.record() as trace:
        layer(mg.tensor(np.ones((1, 3, 8)))).sum().backward()
    cut = {node.label for node in nodes_of(trace, "getitem")}
    assert cut == {f"layer.self_attn.in_proj_{kind}[{rows}]" for kind in ("weight", "bias")
                   for rows in ("0:8", "8:16", "16:24")}  # fmt: skip


def test_every_number_of_a_micrograd_network_has_its_name():
    net = nn.MLP(2, [16, 16, 1])
    with mg.record() as trace:
        net([Value(0.5), Value(-1.2)]).backward()
    named = {node.label for node in trace.nodes if node.kind == "leaf" and (node.label or "").startswith("net.")}
    assert len(named) == len(net.parameters()) == 337
    assert "net.layers.0.neurons.3.w[1]" in named
    paths = {group.path for group in trace.groups if group.kind == "module"}
    assert {"net", "net.layers.0", "net.layers.0.neurons.3", "net.layers.2.neurons.0"} <= paths
    assert len(paths) == 1 + 3 + 33


def test_a_module_that_is_called_twice_is_two_groups_of_one_name():
    shared = nn.Linear(3, 3)
    with mg.record() as trace:
        h = shared(mg.tensor(np.ones((2, 3))))
        shared(h).sum().backward()
    assert [group.path for group in trace.groups] == ["shared", "shared"]
    weight = next(node for node in trace.nodes if node.label == "shared.weight")
    assert weight.group is None


# Scopes ---------------------------------------------------------------------------------------------------------------


def test_scopes_nest_and_end_with_their_block():
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        with mg.scope("encoder"):
            h = mg.tanh(x)
            with mg.scope("second"):
                h = mg.exp(h)
        mg.sin(h).sum().backward()
    assert group_names(trace, nodes_of(trace, "tanh")[0]) == ["encoder"]
    assert group_names(trace, nodes_of(trace, "exp")[0]) == ["encoder", "second"]
    assert group_names(trace, nodes_of(trace, "sin")[0]) == []
    assert [group.path for group in trace.groups] == ["encoder", "encoder.second"]


def test_a_scope_can_contain_a_module_and_be_inside_one():
    class Inner(nn.Module):
        def forward(self, x):
            with mg.scope("square"):
                return x * x

    inner, x = Inner(), leaf([1.0, 2.0])
    with mg.record() as trace, mg.scope("outer"):
        inner(x).sum().backward()
    assert group_names(trace, nodes_of(trace, "multiply")[0]) == ["outer", "inner", "square"]


def test_a_scope_can_be_a_decorator_and_needs_no_recorder():
    @mg.scope("loss")
    def squares(x):
        return (x * x).sum()

    x = leaf([1.0, 2.0])
    assert squares(x).item() == 5.0
    with mg.record() as trace:
        squares(x).backward()
    assert group_names(trace, nodes_of(trace, "multiply")[0])[0] == "loss"
    with pytest.raises(TypeError, match="must be a string, got int"):
        mg.scope(3)


def test_an_error_ends_a_scope():
    x = leaf(2.0)
    with mg.record() as trace:
        with pytest.raises(ZeroDivisionError), mg.scope("broken"):
            raise ZeroDivisionError
        (x * x).backward()
    assert group_names(trace, nodes_of(trace, "multiply")[0]) == []


# Functions and rounds -------------------------------------------------------------------------------------------------


def test_a_user_function_is_a_group_with_the_line_of_its_call():
    def attention(x):
        return mg.softmax(x) * x

    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        attention(x).sum().backward()
    (group,) = trace.groups
    assert (group.kind, group.name, group.nodes) == ("function", "attention", 3)
    assert group.line.text.strip() == "attention(x).sum().backward()"
    node = nodes_of(trace, "softmax")[0]
    assert next(line.function for line in node.lines) == "attention"
    assert [line.text.strip() for line in node.lines][1] == "attention(x).sum().backward()"
    assert node.site is node.lines[0]


@pytest.mark.parametrize("rounds", [2, 60])
def test_rounds_of_a_loop_have_a_number_and_the_total(rounds):
    w, h = leaf(0.5), leaf(1.0)
    with mg.record() as trace:
        for _ in range(rounds):
            h = mg.tanh(h * w)
        h.backward()
    groups = [group for group in trace.groups if group.kind == "round"]
    assert [(group.round, group.rounds) for group in groups] == [(i + 1, rounds) for i in range(rounds)]
    assert groups[-1].name == f"round {rounds} of {rounds}"
    assert {group.line.text.strip() for group in groups} == {"for _ in range(rounds):"}
    for i, node in enumerate(nodes_of(trace, "tanh")):
        assert group_names(trace, node) == [f"round {i + 1} of {rounds}"]


def test_code_around_a_loop_and_single_rounds_are_no_rounds():
    x = leaf(1.0)
    with mg.record() as trace:
        h = mg.exp(x)
        for _ in range(3):
            h = h * 2.0
        for _ in range(1):
            h = mg.sin(h)
        mg.cos(h).backward()
    assert [group_names(trace, nodes_of(trace, op)[0]) for op in ("exp", "sin", "cos")] == [[], [], []]
    rounds = [[f"round {i} of 3"] for i in (1, 2, 3)]
    assert [group_names(trace, node) for node in nodes_of(trace, "multiply")] == rounds


def test_nested_loops_count_their_rounds_separately():
    x = leaf(1.0)
    with mg.record() as trace:
        total = x * 0.0
        for _ in range(2):
            h = mg.sin(x)
            for _ in range(3):
                h = h * 2.0
            total = total + h
        total.backward()
    assert [group_names(trace, node) for node in nodes_of(trace, "sin")] == [["round 1 of 2"], ["round 2 of 2"]]
    inner = [group_names(trace, node) for node in nodes_of(trace, "multiply")[1:]]
    assert inner == [[f"round {i} of 2", f"round {j} of 3"] for i in (1, 2) for j in (1, 2, 3)]


def test_calls_in_a_loop_and_in_a_comprehension_are_rounds():
    layers, x = [nn.Linear(2, 2) for _ in range(3)], leaf([[1.0, 2.0]])
    with mg.record() as trace:
        h = x
        for layer in layers:
            h = layer(h)
        total = sum(mg.tanh(each) for each in [h, h * 2.0])
        total.sum().backward()
    linears = nodes_of(trace, "linear_layer")
    assert [group_names(trace, node)[0] for node in linears] == ["round 1 of 3", "round 2 of 3", "round 3 of 3"]
    assert [group_names(trace, node)[0] for node in nodes_of(trace, "tanh")] == ["round 1 of 2", "round 2 of 2"]


def test_several_operations_of_one_call_are_one_round():
    x = leaf([[0.5, 1.5], [2.0, 1.0]])
    with mg.record() as trace:
        total = x.sum() * 0.0
        for _ in range(2):
            total = total + nn.functional.nll_loss(mg.log_softmax(x), mg.tensor([0, 1]))
        total.backward()
    assert {group.rounds for group in trace.groups if group.kind == "round"} == {2}


def test_the_additions_of_one_sum_are_in_one_round():
    ws, xs = [Value(0.5), Value(2.0)], [1.0, 4.0]
    with mg.record() as trace:
        for _ in range(3):
            loss = sum((w * x) ** 2 for w, x in zip(ws, xs, strict=True))
            for w in ws:
                w.grad = 0.0
            loss.backward()
    outer = [group.name for group in trace.groups if group.kind == "round" and group.parent is None]
    assert outer == ["round 1 of 3", "round 2 of 3", "round 3 of 3"]


def test_a_recording_on_another_stack_has_the_innermost_line():
    block = mg.record()

    def open_block():
        return block.__enter__()

    trace = open_block()
    x = leaf(3.0)
    (x * x).backward()
    block.__exit__()
    assert trace.nodes[1].site.text.strip() == "(x * x).backward()"
    assert trace.groups[:] == []
