"""Concurrent and nested walks, orders of a walk, missing gradients, and the graph of a gradient."""

import sys
import threading

import numpy as np
import pytest

import micrograd_plus as mg

RNG = np.random.default_rng(0)


def wide_program(size):
    """Return leaves, and a loss in which many branches meet again and again."""
    x, *ws = [mg.tensor(RNG.normal(size=(size, size)), requires_grad=True) for _ in range(7)]

    def loss():
        branches = [mg.tanh(x @ w) * mg.sin(w) + w for w in ws]
        first, second, third = mg.unstack(mg.stack(branches[:3]))
        joined = mg.concatenate([first * second, third @ branches[3]], axis=1)
        rest = branches[4] * branches[4] * x + branches[5].sum(axis=0)
        return joined.sum() + (rest * first).mean()

    return [x, *ws], loss


def test_one_result_returned_twice_adds_both_upstreams():
    def twice(x):
        square = x * x
        return square, square

    x = mg.tensor([3.0], requires_grad=True)
    first, second = mg.checkpoint(twice, x)
    (first + 10 * second).sum().backward()
    assert x.grad.tolist() == [66]


# Concurrent walks -------------------------------------------------------------------------------------------


def curious(while_walking):
    """Return a function whose rule does something else first."""

    @mg.custom_vjp
    def squares(x):
        return x * x

    @squares.rule("x")
    def _(upstream, x):
        with mg.enable_grad():
            while_walking()
        return upstream * 2 * x

    return squares


def test_a_walk_inside_a_rule_and_the_outer_walk_are_both_right():
    w, x = (mg.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    inner = []
    squares = curious(lambda: inner.append((w * w * x).gradients()))
    (squares(x) * w).backward()
    assert (w.grad.item(), x.grad.item()) == (4.0, 12.0)
    assert (inner[0][w.node].item(), inner[0][x.node].item()) == (12.0, 9.0)


def test_a_gradient_inside_a_checkpoint_has_a_gradient():
    inside = lambda x: mg.checkpoint(lambda x: (mg.grad(lambda x: (x**3).sum())(x) * [1.0, 2.0]).sum(), x)
    for requires_grad in (False, True):
        x = mg.tensor([0.3, -0.5], requires_grad=requires_grad)
        np.testing.assert_allclose(mg.grad(inside)(x).numpy(), [1.8, -6.0])


def test_a_concurrent_walk_on_another_thread_is_right():
    w, x = (mg.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    other = threading.Thread(target=(w * w * x).backward)
    squares = curious(lambda: (other.start(), other.join()))
    outer = (squares(x) * w).gradients()
    assert (outer[w.node].item(), outer[x.node].item()) == (4.0, 12.0)
    assert (w.grad.item(), x.grad.item()) == (12.0, 9.0)


def test_threads_do_not_lose_each_others_contributions():
    w, before = mg.tensor(np.zeros(200_000), requires_grad=True), sys.getswitchinterval()
    losses = [(w * 1.0).sum() for _ in range(4)]
    threads = [threading.Thread(target=lambda loss=loss: [loss.backward() for _ in range(20)]) for loss in losses]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert set(w.grad.numpy()) == {80.0}


def test_a_hook_may_walk_and_look_at_a_record():
    w, seen = mg.tensor(3.0, requires_grad=True), []
    with mg.record() as trace:
        (w * w).backward()
    y = w * 5
    y.register_hook(lambda gradient: seen.append((trace.gradients, (w * w).gradients()[w.node].item())))
    w.grad = None
    y.backward()
    assert (w.grad.item(), seen) == (5.0, [({0: 6.0}, 6.0)])


@pytest.mark.parametrize("nodes_with_hooks", [False, True])
def test_a_record_shows_the_outer_walk_and_not_one_inside_it(nodes_with_hooks):
    w = mg.tensor(3.0, requires_grad=True)
    walk_inside = lambda *_: (w * 5).gradients() and None
    squares = mg.square if nodes_with_hooks else curious(walk_inside)
    with mg.record() as trace:
        y = squares(w)
        if nodes_with_hooks:
            y.register_hook(walk_inside)
        (y * 2.0).backward()
    assert [step.rule.partition(".")[0] for step in trace] == ["multiply", "square" if nodes_with_hooks else "squares"]
    assert len(trace.nodes) == 4


# Orders -----------------------------------------------------------------------------------------------------


def names(nodes):
    return [node.op.name if node.op else "leaf" for node in nodes]


def test_three_orders_of_one_program():
    x = mg.tensor(1.0, requires_grad=True)
    early = mg.exp(x)
    square = x * x
    late = mg.sin(square) * early
    found = mg.orders(late)
    assert names(found.by_creation) == ["multiply", "sin", "multiply", "exp", "leaf"]
    assert names(found.depth_first) == ["multiply", "exp", "sin", "multiply", "leaf"]
    assert names(found.kahn) == ["multiply", "sin", "exp", "multiply", "leaf"]


def test_every_order_visits_each_node_once_before_its_parents():
    leaves, loss = wide_program(3)
    found = mg.orders(loss())
    assert {id(node) for node in found.by_creation} >= {id(leaf.node) for leaf in leaves}
    for order in found:
        place = {id(node): i for i, node in enumerate(order)}
        assert set(place) == {id(node) for node in found.by_creation}
        assert len(order) == len(place)
        for node in order:
            assert all(place[id(node)] < place[id(parent)] for parent in node.parents if parent is not None)


def test_a_very_deep_graph_can_be_sorted():
    y = x = mg.tensor(1.0, requires_grad=True)
    for _ in range(50_000):
        y = y + x
    found = mg.orders(y)
    assert [len(order) for order in found] == [50_001] * 3
    assert found.by_creation == found.depth_first == found.kahn


def test_sorting_without_a_graph_is_an_error():
    with pytest.raises(ValueError, match="orders: x has no graph"):
        mg.orders(mg.tensor(1.0))


# Missing gradients ------------------------------------------------------------------------------------------


def uses_first(x, y):
    return (x * x).sum()


def test_an_unused_input_has_a_gradient_of_zeros_by_default():
    assert [g.tolist() for g in mg.grad(uses_first, (0, 1))(np.ones(2), np.ones(3))] == [[2, 2], [0, 0, 0]]


def test_an_unused_input_can_be_made_an_error():
    with pytest.raises(RuntimeError, match="the value of uses_first does not depend on argument 1"):
        mg.grad(uses_first, (0, 1), missing="error")(np.ones(2), np.ones(3))
    assert mg.grad(uses_first, missing="error")(np.ones(2), np.ones(3)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"argument 0 \(or on a part of it\)"):
        mg.value_and_grad(lambda pair: pair[0] * 2, missing="error")((1.0, 2.0))


def test_missing_must_be_zeros_or_error():
    with pytest.raises(ValueError, match="missing must be 'zeros' or 'error', got 'none'"):
        mg.grad(uses_first, missing="none")


def test_a_loss_can_have_auxiliary_outputs():
    def loss(x):
        return (x * x).sum(), {"largest": x.max()}

    (value, extra), gradient = mg.value_and_grad(loss, has_aux=True)(np.array([1.0, 3.0]))
    assert (value.item(), extra["largest"].item(), gradient.tolist()) == (10.0, 3.0, [2.0, 6.0])


# Graphs of gradients ----------------------------------------------------------------------------------------


def test_the_graph_of_a_gradient_can_be_recorded_and_walked():
    x = mg.tensor([0.3, 0.8], requires_grad=True)
    with mg.record() as trace:
        mg.sin(x).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        first.sum().backward()
    assert np.allclose(x.grad.numpy(), -np.sin([0.3, 0.8]))
    ops = [node.op for node in trace.nodes if node.kind == "application"]
    assert "cos" in ops, "the first walk's own operations are nodes"
    assert "cos.x" in [step.rule for step in trace.steps], "and the second walk goes back through them"
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()


def test_a_trace_without_a_second_walk_has_only_the_first():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        (x * x * x).backward(create_graph=True)
    assert [step.rule for step in trace.steps] == ["multiply.a", "multiply.b", "multiply.a", "multiply.b"]
    assert x.grad.requires_grad
    assert mg.grad(mg.grad(lambda x: x * x * x))(2.0).item() == 12.0


def test_a_frozen_leaf_keeps_no_gradient_and_its_node():
    w, seen = mg.tensor(2.0, requires_grad=True), []
    node, y = w.node, w * 3.0
    w.register_post_accumulate_grad_hook(seen.append)
    w.requires_grad_(False)
    y.backward()
    assert (w.grad, w.requires_grad, seen) == (None, False, [])
    w.requires_grad_(True)
    assert (w.grad, w.node) == (None, node)
    y.backward()
    assert (w.grad.item(), seen) == (3.0, [w])
