"""In-place operations on tensors with a graph: `total += loss` and `out[i] = f(x)`."""

import math
import operator

import numpy as np
import pytest

import micrograd_plus as mg

WRITES = {
    "+=": lambda total, value: total.__iadd__(value),
    "-=": lambda total, value: total.__isub__(value),
    "*=": lambda total, value: total.__imul__(value),
    "/=": lambda total, value: total.__itruediv__(value),
    "**=": lambda total, value: total.__ipow__(value),
    "%=": lambda total, value: total.__imod__(value),
}
PLAIN = {
    "+=": lambda total, value: total + value,
    "-=": lambda total, value: total - value,
    "*=": lambda total, value: total * value,
    "/=": lambda total, value: total / value,
    "**=": lambda total, value: total**value,
    "%=": lambda total, value: total % value,
}


def leaf(*values, **options):
    return mg.tensor(list(values), requires_grad=True, **options)


def test_a_loss_summed_in_a_loop_keeps_its_graph():
    x, total = leaf(1.0, 2.0, 3.0), mg.tensor(0.0)
    for i in range(3):
        total += x[i] ** 2
    (total + x.sum()).backward()
    assert x.grad.tolist() == [3.0, 5.0, 7.0]


@pytest.mark.parametrize("symbol", WRITES)
@pytest.mark.parametrize("start", ["plain", "result"])
def test_an_in_place_operation_is_seen_by_every_reference(symbol, start):
    x = leaf(1.5, 2.5)
    found = []
    for table in (WRITES, PLAIN):
        x.grad = None
        total = mg.tensor([2.0, 3.0]) if start == "plain" else mg.tensor([2.0, 3.0]) * x[0]
        held = total
        changed = table[symbol](total, x)
        assert table is PLAIN or (changed is total and held.requires_grad)
        (changed * mg.tensor([1.0, 10.0])).sum().backward()
        found.append((changed.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


def test_rules_keep_the_values_from_before_a_write():
    x = leaf(1.0, 2.0)
    y = mg.exp(x)
    squared = y * y
    y += 1
    (squared.sum() + y.sum()).backward()
    assert np.allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]) + np.exp([1.0, 2.0]), rtol=1e-14)


def test_in_place_operations_keep_dtype_and_shape():
    x = leaf(1.0, 2.0)
    total = mg.tensor(0.0, dtype="float32")
    total += x.sum()
    total.backward()
    assert total.dtype == "float32"
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match=r"would make shape \(2,\) of shape \(\); write x = x \+"):
        mg.tensor(0.0).__iadd__(x)
    with pytest.raises(TypeError, match="int64 cannot become a result of float64; make it with dtype=float"):
        mg.tensor(0).__iadd__(x.sum())
    with pytest.raises(TypeError, match="dtype=complex"):
        mg.tensor(0.0).__iadd__(x.sum() * 1j)
    with pytest.raises(TypeError, match="make it with dtype=float"):
        mg.tensor([0, 0])[0] = x[0]


def test_a_leaf_stays_a_leaf_and_its_node_is_not_lost():
    for symbol, write in WRITES.items():
        with pytest.raises(RuntimeError, match="would turn a leaf that requires a gradient into a result"):
            write(leaf(1.0), 2.0)
        x = leaf(1.5)
        with mg.no_grad():
            assert write(x, 2.0) is x
            assert x.is_leaf
            assert x.tolist() == [PLAIN[symbol](1.5, 2.0)]


INDICES = {
    "a place": 1,
    "a slice": slice(1, 3),
    "a step back": slice(None, None, -2),
    "a mask": np.array([True, False, True, True]),
    "numbers": [3, 0],
    "everything": Ellipsis,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("start", ["plain", "result"])
def test_a_value_written_at_an_index_keeps_its_graph(index, start):
    x, w = leaf(1.0, 2.0, 3.0, 4.0), np.array([1.0, 10.0, 100.0, 1000.0])
    out = mg.tensor([5.0, 6.0, 7.0, 8.0]) if start == "plain" else x * x
    held, before = out, out.tolist()
    out[index] = mg.exp(x[index])
    place = np.array(index) if isinstance(index, list) else index
    expected = np.array(before)
    expected[place] = np.exp(np.arange(1.0, 5.0)[place])
    assert held.tolist() == expected.tolist()
    (held * w).sum().backward()
    slope = np.zeros(4) if start == "plain" else w * 2 * np.arange(1.0, 5.0)
    slope[place] = w[place] * np.exp(np.arange(1.0, 5.0)[place])
    assert np.allclose(x.grad.numpy(), slope, rtol=1e-14)


def test_the_last_of_several_writes_counts():
    x = leaf(1.0, 2.0, 3.0)
    out = mg.tensor(np.zeros(3))
    for i in range(3):
        out[i] = x[i] ** 2
        out[i] += x[0]
    out[2] = 7.0
    (out.sum() + x.sum()).backward()
    assert out.tolist() == [2.0, 5.0, 7.0]
    assert x.grad.tolist() == [5.0, 5.0, 1.0]


def test_a_single_number_fills_a_slice_and_receives_the_sum():
    x, out = leaf(3.0), mg.tensor(np.zeros((2, 3)))
    out[:, 1:] = x[0]
    out[0, 0] = x  # an axis of length 1 in front does not count, as in an array
    out.sum().backward()
    assert x.grad.tolist() == [5.0]


def test_an_impossible_write_is_an_error_that_names_it():
    x, out = leaf(1.0, 2.0), mg.tensor(np.zeros(3))
    result = x * 2
    with pytest.raises(ValueError, match="names a place twice"):
        out[[0, 0]] = x
    with pytest.raises(IndexError, match="setitem"):
        out[5] = x[0]
    with pytest.raises(ValueError, match="setitem"):
        out[:] = x
    with pytest.raises(TypeError, match=r"write x = x\.astype"):
        out[0] = x[0] * 1j
    with pytest.raises(RuntimeError, match=r"with mg.no_grad\(\): x\[...\] = ..."):
        x[0] = 3.0
    with mg.no_grad(), pytest.raises(RuntimeError, match="a result cannot be assigned to"):
        result[0] = 1.0
    assert not out.requires_grad
    assert out.tolist() == [0.0, 0.0, 0.0]


def test_second_derivatives_and_forward_mode_go_through_writes():
    def f(x):
        total, out = mg.tensor(0.0), mg.tensor(np.zeros(3))
        for i in range(3):
            out[i] = x[i] ** 3
            total += out[i] * x[0]
        out *= x
        return total + out.sum()

    def g(x):
        return (x**3 * x[0]).sum() + (x**4).sum()

    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    assert np.allclose(mg.hessian(f)(x), mg.hessian(g)(x), rtol=1e-13)
    assert np.allclose(mg.jvp(f, (x,), (v,))[1], mg.jvp(g, (x,), (v,))[1], rtol=1e-13)
    assert np.allclose(mg.hvp(f, x, v), mg.hvp(g, x, v), rtol=1e-13)
    assert mg.gradcheck(f, (x,))


def test_a_record_distinguishes_every_state_of_a_tensor():
    x = leaf(1.0, 2.0, 3.0)
    with mg.record() as trace:
        y = x * 2
        y += y * 3
        total = mg.tensor(0.0)
        early = total * 2 + x.sum()
        total += y.sum()
        total -= 1
        loss = total * early
        loss.backward()
        loss += 1
    again = mg.load_trace(trace.to_json())
    assert [node.op for node in trace.nodes if node.op] == [
        "multiply", "multiply", "add", "multiply", "sum", "add", "sum", "add", "subtract", "multiply",
    ]  # fmt: skip
    assert again.gradients[0].numpy().tolist() == x.grad.tolist() == [95.0, 95.0, 95.0]
    assert trace.nodes[trace.root].value == 47.0 * 6.0
    assert loss.item() == 283.0


def test_a_checkpointed_function_can_write_in_place():
    def f(x):
        out = mg.tensor(np.zeros(2))
        out[0] = x[0] * x[1]
        out += x
        return out

    x = leaf(2.0, 3.0)
    mg.checkpoint(f, x).sum().backward()
    assert x.grad.tolist() == [4.0, 3.0]


CONSTANTS = {
    "float": float,
    "int": int,
    "complex": complex,
    "item": lambda x: x.item(),
    "math": math.sin,
    "a buffer": lambda x: np.zeros(2).__setitem__(0, x),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_reading_a_number_inside_a_transform_is_an_error(name):
    transforms = {
        "grad": lambda f: mg.grad(f)(3.0),
        "vjp": lambda f: mg.vjp(f, 3.0),
        "jvp": lambda f: mg.jvp(f, (3.0,), (1.0,)),
        "jacobian": lambda f: mg.jacobian(f)(3.0),
        "hvp": lambda f: mg.hvp(f, 3.0, 1.0),
        "nested": lambda f: mg.grad(lambda y: mg.grad(lambda x: f(y) * x)(2.0))(3.0),
    }
    for run in transforms.values():
        with pytest.raises((TypeError, ValueError)) as caught:
            run(lambda x: x * (CONSTANTS[name](x * 2) or 1))
        assert "mg.stop_gradient(x)" in str(caught.value.__cause__ or caught.value)


def test_values_independent_of_the_argument_can_be_read():
    w = mg.tensor(3.0, requires_grad=True)
    seen = []

    def f(x):
        seen.append(f"{x:.2f} {x}")
        with mg.no_grad():
            seen.append(x.item())
        return x * float(w) * mg.stop_gradient(x).item() * float(x.detach())

    assert mg.grad(f)(2.0).item() == 12.0
    assert seen == ["2.00 tensor(2., requires_grad=True)", 2.0]
    assert float(w * 2) == 6.0


def test_two_plain_numbers_are_an_error():
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(TypeError, match=r"x.swapaxes\(0, 1\).*x.transpose\(\(0, 1\)\)"):
        x.transpose(0, 1)
    assert x.transpose((0, 1)).tolist() == x.tolist()
    assert x.transpose((1, 0)).tolist() == x.T.tolist()
    with pytest.raises(TypeError, match=r"x.repeat\(2, axis=1\).*mg.tile\(x, \(2, 1\)\)"):
        x.repeat(2, 1)
    assert x.repeat(2, axis=1).tolist() == np.repeat(x.numpy(), 2, 1).tolist()


def test_comparing_with_none_is_false():
    x = mg.tensor([1.0, 2.0])
    assert operator.eq(x, None) is False
    assert operator.ne(x, None) is True
    assert None not in (x, x * 2)
    assert (x == 1.0).tolist() == [True, False]


VALUES = {
    "value_and_grad": lambda f, x: mg.value_and_grad(f)(x)[0],
    "vjp": lambda f, x: mg.vjp(f, x)[0],
    "jvp": lambda f, x: mg.jvp(f, (x,), (np.ones_like(x),))[0],
    "aux": lambda f, x: mg.value_and_grad(lambda x: (f(x), {"twice": 2 * f(x)}), has_aux=True)(x)[0][1]["twice"],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_leaves_a_transform_with_a_graph_only_if_needed(name):
    w = mg.tensor(2.0, requires_grad=True)
    value = VALUES[name](lambda x: (x * x).sum(), np.array([1.0, 2.0]))
    assert not value.requires_grad
    assert np.mean([value, value]) in (5.0, 10.0)
    VALUES[name](lambda x: (x * x * w).sum(), np.array([1.0, 2.0])).backward()
    assert w.grad.item() in (5.0, 10.0)
    nested = mg.grad(lambda y: VALUES[name](lambda x: (x * x * y).sum(), np.array([1.0, 2.0])))(3.0)
    assert nested.item() in (5.0, 10.0)


def test_stored_values_keep_no_graph_alive():
    import gc
    import weakref

    born = []

    def f(x):
        y = mg.exp(x)
        born.append(weakref.ref(y.node))
        return y.sum()

    kept = [mg.value_and_grad(f)(np.ones(1000))[0] for _ in range(3)]
    kept.append(mg.jvp(f, (np.ones(10),), (np.ones(10),))[0])
    gc.collect()
    assert [node() for node in born] == [None] * 4
    assert len(kept) == 4


def test_a_trace_of_a_tensor_that_becomes_a_result_can_be_loaded():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as trace:
        total = mg.zeros(2)
        total += x * x
        total.sum().backward()
    loaded = mg.load_trace(trace.to_json())
    added = next(node for node in loaded.nodes if node.op == "add")
    before = loaded.nodes[dict(added.inputs)["a"]]
    assert before.op is None
    assert before.value.numpy().tolist() == [0.0, 0.0]
