"""Backward walks on tensors: where gradients arrive, in which order, and what remains."""

import threading

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core import backward
from micrograd_plus.core.runtime.hooks import hooks_of
from open_modes import open_modes


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def numbers(x):
    return x.tolist()


# Arriving gradients -----------------------------------------------------------------------------------------


def test_a_value_that_is_used_twice_receives_both_contributions():
    x = leaf(3.0)
    (x * x + x).backward()
    assert x.grad.item() == 7.0


def test_a_diamond_waits_for_both_sides():
    a, b = leaf(3.0), leaf(-2.0)
    left = a * b
    right = left + a
    (left * right).backward()
    # l = ab, r = ab + a: d(lr)/da = b (ab + a) + ab (b + 1), d(lr)/db = a (ab + a) + ab a
    assert a.grad.item() == -2 * (-6 + 3) + -6 * (-2 + 1)
    assert b.grad.item() == 3 * (-6 + 3) + -6 * 3


@pytest.mark.parametrize("combined", [mg.add, mg.subtract, mg.multiply, mg.divide, mg.maximum, mg.hypot])
def test_one_tensor_as_both_operands_counts_twice(combined):
    x, left, right = leaf([3.0, -2.0]), leaf([3.0, -2.0]), leaf([3.0, -2.0])
    combined(x, x).sum().backward()
    combined(left, right).sum().backward()
    assert numbers(x.grad) == numbers(left.grad + right.grad)


def test_gradients_add_up_over_walks():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    y.backward()
    assert numbers(x.grad) == [4.0, 8.0]


def test_backward_twice_adds_the_same_gradient_again():
    x = leaf(3.0)
    middle = x * x
    y = middle * x
    y.backward()
    once = x.grad.item()
    y.backward()
    assert (once, x.grad.item()) == (27.0, 54.0)


def test_a_leaf_without_influence_has_no_gradient():
    x, unused = leaf(2.0), leaf(3.0)
    (x * 3).backward()
    assert unused.grad is None


@pytest.mark.parametrize("whole", [lambda x: x.astype(int), lambda x: mg.astype(x, dtype="int64"), lambda x: x > 1])
def test_integers_and_booleans_receive_no_gradient(whole):
    x = leaf([1.5, 0.5])
    y = whole(x)
    assert not y.requires_grad
    (y * x).sum().backward()
    assert numbers(x.grad) == [1.0, 0.0]


def test_a_leaf_can_be_the_root():
    x = leaf([2.0, 3.0])
    x.backward([1.0, 5.0])
    assert numbers(x.grad) == [1.0, 5.0]


def test_broadcast_axes_are_summed():
    x, row, column = leaf(np.ones((2, 3, 4))), leaf(np.ones(4)), leaf(np.ones((3, 1)))
    (x * row + column).backward(np.arange(24.0).reshape(2, 3, 4))
    assert x.grad.shape == (2, 3, 4)
    assert numbers(row.grad) == np.arange(24.0).reshape(6, 4).sum(0).tolist()
    assert numbers(column.grad) == np.arange(24.0).reshape(2, 3, 4).sum((0, 2)).reshape(3, 1).tolist()


@pytest.mark.parametrize(
    ("one", "other"), [("float16", "float64"), ("float32", "float64"), ("float32", "float16")]
)
def test_each_gradient_keeps_the_dtype_of_its_leaf(one, other):
    a, b = leaf([1.0, 2.0], dtype=one), leaf([3.0, 4.0], dtype=other)
    (a * b).sum().backward()
    assert (a.grad.dtype, b.grad.dtype) == (np.dtype(one), np.dtype(other))
    assert numbers(a.grad) == [3.0, 4.0]


def test_the_walk_visits_the_latest_application_first():
    x = leaf(1.0)
    first = mg.exp(x)
    second = mg.sin(x)
    third = second * first
    order = backward.topological_order([third.node])
    assert [node.op.name for node in order] == ["multiply", "sin", "exp"]
    assert {parent for node in order for parent in node.parents} - set(order) == {x.node}


def test_a_root_behind_another_root_is_visited_once():
    middle = mg.exp(leaf(1.0))
    last = mg.sin(middle)
    for roots in ([middle, last], [last, middle]):
        assert backward.topological_order([root.node for root in roots]) == [last.node, middle.node]


# Upstream ---------------------------------------------------------------------------------------------------


def test_the_walk_starts_with_an_explicit_upstream():
    x = leaf([1.0, 2.0, 3.0])
    (x * x).backward([1.0, 10.0, 100.0])
    assert numbers(x.grad) == [2.0, 40.0, 600.0]


@pytest.mark.parametrize("upstream", [[1, 2], np.array([1.0, 2.0]), mg.tensor([1.0, 2.0]), (1.0, 2.0)])
def test_an_upstream_can_be_a_list_an_array_or_a_tensor(upstream):
    x = leaf([1.0, 1.0])
    (x * 3).backward(upstream)
    assert numbers(x.grad) == [3.0, 6.0]


def test_the_walk_does_not_change_the_upstream_array():
    given = np.array([1.0, 2.0])
    x = leaf([3.0, 4.0])
    (x * x).backward(given)
    assert given.tolist() == [1.0, 2.0]
    x.grad.data[0] = 99
    assert given.tolist() == [1.0, 2.0]


def test_a_loss_of_one_entry_needs_no_upstream():
    x = leaf([[2.0]])
    (x * 3).backward()
    assert numbers(x.grad) == [[3.0]]


def leave(handle):
    """Enter a `with` block and leave it."""
    with handle as entered:
        assert entered is handle


# Mappings, retained gradients, hooks ------------------------------------------------------------------------



@pytest.mark.parametrize("given", [[1, 2], np.array([1.0, 2.0]), mg.tensor([1.0, 2.0])])
def test_an_assigned_gradient_takes_the_dtype_of_its_leaf(given):
    x = mg.tensor([3.0, 4.0], requires_grad=True, dtype="float32")
    x.grad = given
    assert str(x.grad.dtype) == "float32"
    (x * 2).sum().backward()
    assert (x.grad.tolist(), str(x.grad.dtype)) == ([3.0, 4.0], "float32")


def test_gradients_returns_a_mapping_and_changes_no_grad():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    product = x * y
    found = product.sum().gradients(through=[product.node])
    assert {x.node: [3.0, 4.0], y.node: [1.0, 2.0], product.node: [1.0, 1.0]} == {
        node: value.tolist() for node, value in found.items()
    }
    assert x.grad is None
    assert y.grad is None


def test_retain_grad_stores_the_gradient_of_a_result():
    x = leaf(3.0)
    middle = (x * x).retain_grad()
    other = x * 2
    (middle * other).backward()
    assert middle.grad.item() == 6.0
    assert other.grad is None
    (middle * other).backward()
    assert middle.grad.item() == 12.0


def test_a_hook_sees_the_complete_gradient_of_a_result_once():
    x = leaf(3.0)
    middle = x * x
    seen = []
    middle.register_hook(lambda gradient: seen.append(gradient.item()))
    (middle * 2 + middle * 5).backward()
    assert seen == [7.0]
    assert x.grad.item() == 42.0


@pytest.mark.parametrize("of", ["result", "leaf"])
def test_the_result_of_a_hook_replaces_the_gradient(of):
    x = leaf([1.0, 2.0])
    y = x * x
    (y if of == "result" else x).register_hook(lambda gradient: gradient * 10)
    y.sum().backward()
    assert numbers(x.grad) == [20.0, 40.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_result_of_a_hook_is_cast_to_the_gradients_dtype(create_graph):
    x = leaf([1.0, 2.0], dtype="float32")
    y = x * 3
    for tensor in (x, y):
        tensor.register_hook(lambda gradient: gradient.astype("float64") * 2)
    y.sum().backward(create_graph=create_graph)
    assert (x.grad.dtype, numbers(x.grad)) == (np.float32, [12.0, 12.0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_upstream_is_cast_to_the_tensors_dtype(create_graph):
    x = leaf([1.0, 2.0], dtype="float32")
    x.backward(mg.tensor([3.0, 4.0], dtype="float64"), create_graph=create_graph)
    assert (x.grad.dtype, numbers(x.grad)) == (np.float32, [3.0, 4.0])


def test_grad_returns_the_same_tensor_every_time():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    seen = x.grad
    assert x.grad is seen
    (x * x).sum().backward()
    assert numbers(seen) == [2.0, 4.0]
    assert numbers(x.grad) == [4.0, 8.0]


@pytest.mark.parametrize("take_away", [lambda handle: handle.remove(), lambda handle: handle(), leave])
def test_a_handle_removes_only_its_own_hook(take_away):
    x, seen = leaf([1.0, 2.0]), []
    first, second = x.register_hook(seen.append), x.register_hook(seen.append)
    take_away(first)
    first.remove()
    (x * x).sum().backward()
    assert len(seen) == 1
    second.remove()
    (x * x).sum().backward()
    assert len(seen) == 1
    assert hooks_of(x.node) == []


def test_writing_into_a_hooks_gradient_changes_nothing():
    x = leaf([1.0, 2.0])
    y = x * x

    def write(gradient):
        gradient.data[:] = 0

    y.register_hook(write)
    y.sum().backward()
    assert numbers(x.grad) == [2.0, 4.0]


def test_a_hook_after_accumulation_sees_the_new_grad():
    x = leaf([1.0, 2.0])
    seen = []
    remove = x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.tolist()))
    (x * x).sum().backward()
    (x * x).sum().backward()
    remove()
    (x * x).sum().backward()
    assert seen == [[2.0, 4.0], [4.0, 8.0]]


def test_a_hook_of_the_wrong_shape_or_kind_is_an_error():
    x = leaf([1.0, 2.0])
    remove = x.register_hook(lambda gradient: mg.tensor([1.0]))
    with pytest.raises(RuntimeError, match=r"a hook returned shape \(1,\) for a gradient of shape \(2,\)"):
        (x * x).sum().backward()
    remove()
    x.register_hook(lambda gradient: 2.0)
    with pytest.raises(TypeError, match="a hook must return a tensor, or None"):
        (x * x).sum().backward()
    assert x.grad is None


# Modes ------------------------------------------------------------------------------------------------------


def test_enable_grad_reverses_no_grad():
    x = leaf([1.0, 2.0])
    with mg.no_grad():
        assert not (x * x).requires_grad
        with mg.enable_grad():
            assert (x * x).requires_grad
        assert not mg.concatenate([x, x]).requires_grad
    assert (x * x).requires_grad


def test_no_grad_also_decorates_a_function():
    @mg.no_grad()
    def predict(x):
        return x * x

    x = leaf([1.0])
    assert not predict(x).requires_grad
    assert not predict(x).requires_grad
    assert (x * x).requires_grad


def test_an_error_inside_a_mode_closes_it():
    with pytest.raises(ZeroDivisionError), mg.no_grad():
        _ = 1 / 0
    assert open_modes() == []
    assert (leaf(1.0) * 2).requires_grad


def test_threads_do_not_see_each_others_no_grad():
    x = leaf([1.0, 2.0])
    barrier = threading.Barrier(2, timeout=120)
    wanted = {}

    def work(quiet):
        if quiet:
            with mg.no_grad():
                barrier.wait()
                wanted[quiet] = (x * x).requires_grad
                barrier.wait()
        else:
            barrier.wait()
            wanted[quiet] = (x * x).requires_grad
            barrier.wait()

    threads = [threading.Thread(target=work, args=(quiet,)) for quiet in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wanted == {True: False, False: True}


def test_threads_can_walk_their_own_graphs_concurrently():
    received = {}

    def work(number):
        x = leaf(np.full(5, float(number)))
        for _ in range(50):
            x.grad = None
            (x * x * x).sum().backward()
        received[number] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert received == {number: [3.0 * number**2] * 5 for number in range(1, 5)}


# Gradients of gradients -------------------------------------------------------------------------------------


def test_create_graph_makes_gradients_that_have_gradients():
    x = leaf(2.0)
    (x**4).backward(create_graph=True)
    first = x.grad
    assert first.item() == 32.0
    x.grad = None
    first.backward(create_graph=True)
    second = x.grad
    assert second.item() == 48.0
    x.grad = None
    second.backward()
    assert x.grad.item() == 48.0


def test_create_graph_makes_a_graph_inside_no_grad():
    x = leaf(2.0)
    y = x**4
    with mg.no_grad():
        y.backward(create_graph=True)
    first, x.grad = x.grad, None
    first.backward()
    assert x.grad.item() == 48.0


def test_without_create_graph_a_gradient_has_no_graph():
    x = leaf(2.0)
    (x**4).backward()
    assert not x.grad.requires_grad


def test_an_upstream_can_receive_a_gradient():
    x, upstream = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    (x * x).backward(upstream, create_graph=True)
    gradient, x.grad = x.grad, None
    gradient.sum().backward()
    assert numbers(upstream.grad) == [4.0, 6.0]
    assert numbers(x.grad) == [10.0, 14.0]


# Several outputs, complex numbers ---------------------------------------------------------------------------


def test_an_unused_output_counts_as_zeros():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, _ = mg.unstack(x)
    (first * first).sum().backward()
    assert numbers(x.grad) == [[2.0, 4.0], [0.0, 0.0]]


def test_the_walk_waits_for_outputs_at_different_depths():
    x = leaf([3.0, 1.0, 2.0])
    values, places = mg.topk(x, k=2)
    assert places.tolist() == [0, 2]
    assert not places.requires_grad
    deep = mg.exp(mg.log(values[0]))
    (deep * values[1]).backward()
    np.testing.assert_allclose(x.grad.numpy(), [2.0, 0.0, 3.0])


def test_the_gradient_of_a_real_loss_is_d_re_plus_i_d_im():
    z = leaf([1 + 2j, -3 + 0.5j])
    (mg.absolute(z) ** 2).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), 2 * z.numpy())


def test_a_complex_product_uses_the_conjugate_factor():
    z, w = leaf(1 + 2j), mg.tensor(3 - 1j)
    (z * w).real.backward()
    assert z.grad.item() == 3 + 1j


def test_a_real_leaf_of_a_complex_result_receives_a_real_gradient():
    x = leaf([1.0, 2.0])
    (x * (1 + 1j)).imag.sum().backward()
    assert x.grad.dtype == np.float64
    assert numbers(x.grad) == [1.0, 1.0]


@pytest.mark.parametrize("first", [True, False])
def test_a_retained_gradient_is_what_hooks_have_left(first):
    x = leaf([1.0, 2.0])
    y = x * 2
    if first:
        y.retain_grad()
    y.register_hook(lambda gradient: gradient * 3)
    if not first:
        y.retain_grad()
    (y**2).sum().backward()
    assert y.grad.tolist() == [12.0, 24.0]
    assert x.grad.tolist() == [24.0, 48.0]


def test_retain_grad_twice_stores_the_gradient_once():
    x = leaf([1.0, 2.0])
    middle = (x.retain_grad() * x).retain_grad().retain_grad()
    middle.sum().backward()
    assert middle.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [2.0, 4.0]


def test_gradients_can_free_the_graph():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    assert y.gradients()[x.node].tolist() == [2.0, 4.0]
    assert y.gradients(retain_graph=False)[x.node].tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="a second time"):
        y.gradients()


def test_a_tensor_of_one_entry_converts_to_a_number():
    whole = mg.tensor(3)
    assert (int(mg.tensor([3.7])), float(whole), complex(mg.tensor(1j)), [10, 20, 30, 40][whole]) == (3, 3.0, 1j, 40)
    assert [type(of(whole)) for of in (int, float, complex)] == [int, float, complex]
    assert f"{mg.tensor(0.126):.2f}" == "0.13"
    assert repr(leaf(2.0) * 2) == "tensor(4., made_by='multiply')"
    assert len(mg.tensor([[1.0], [2.0]])) == 2
    with pytest.raises(TypeError, match="an index must be an integer, this tensor is float64"):
        [10, 20][mg.tensor(1.0)]
    with pytest.raises(TypeError, match=r"shape \(\) is one number and has no length"):
        len(whole)
