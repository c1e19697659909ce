"""Memory: how long a graph keeps arrays, when it is freed, and very large graphs."""

import weakref
from contextlib import nullcontext

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core.define import operations
from micrograd_plus.core.fast import callers
from micrograd_plus.engine import Value


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def numbers(x):
    return x.tolist()


# Memory -----------------------------------------------------------------------------------------------------


def test_a_graph_is_freed_by_retain_graph_false():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=False)
    with pytest.raises(RuntimeError, match=r"second time.*retain_graph=False"):
        y.backward()
    assert numbers(x.grad) == [2.0, 4.0]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("wanted", [{"create_graph": True}, {}])
def test_every_walk_through_a_freed_graph_is_an_error(wanted, by_name):
    y = (leaf([1.0, 2.0]) * 2).sum()
    y.backward(retain_graph=False)
    refused = pytest.raises(RuntimeError, match="backward through sum a second time")
    with callers.interpret_all(list(operations.values())) if by_name else nullcontext(), refused:
        y.gradients(**wanted)


def test_a_graph_with_several_outputs_can_be_freed():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, second = mg.unstack(x)
    y = (first * second).sum()
    y.backward(retain_graph=False)
    assert numbers(x.grad) == [[3.0, 4.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_graph_is_freed_with_its_last_reference():
    x = leaf(np.ones(10))
    y = mg.exp(mg.sin(x))
    node = weakref.ref(y.node)
    middle = weakref.ref(y.node.parents[0])
    y.sum().backward()
    del y
    assert node() is None
    assert middle() is None


def test_an_intermediate_array_that_no_rule_reads_is_freed():
    x = leaf(np.ones(4))
    shifted = x + 1
    array, node = weakref.ref(shifted._data), weakref.ref(shifted.node)
    scaled = shifted * 3
    del shifted
    assert array() is None
    assert node() is scaled.node.parents[0]


# Size -------------------------------------------------------------------------------------------------------


def test_a_chain_of_a_hundred_thousand_tensors_walks():
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(100_000):
        y = y + x
    y.sum().backward()
    assert numbers(x.grad) == [100_001.0, 100_001.0]


def test_a_value_used_100_000_times_receives_every_contribution():
    x = leaf(1.0)
    total = mg.stack([x] * 100_000).sum()
    total.backward()
    assert x.grad.item() == 100_000.0


def test_a_ladder_of_doubling_paths_visits_each_rung_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60


def test_a_chain_of_a_million_numbers_walks():
    x = Value(0.5)
    y = x
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert (y.data, x.grad) == (500_000.5, 1_000_001)
