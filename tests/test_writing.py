"""Writing, copying, and arrays of the user: no later change reaches a gradient."""

import copy
import pickle
import threading
import tracemalloc

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.samples import samples
from micrograd_plus.core.define import operations
from micrograd_plus.core.runtime import ownership
from open_modes import open_modes


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def numbers(x):
    return x.tolist()


# Writing ----------------------------------------------------------------------------------------------------


def assign_data(x):
    x.data = x.data - 1


def subtract_from_data(x):
    x.data -= 1


def write_an_entry(x):
    x.data[0] = 5


def write_a_view(x):
    x.data[:1][0] = 5


def write_in_no_grad(x):
    with mg.no_grad():
        x -= 1


def write_an_entry_in_no_grad(x):
    with mg.no_grad():
        x[0] = 5


def assign(x):
    x.assign([7.0, 7.0])


def write_a_transpose(x):
    with mg.no_grad():
        x.T.data[0] = 5


WRITES = [
    assign_data, subtract_from_data, write_an_entry, write_a_view, write_in_no_grad,
    write_an_entry_in_no_grad, assign, write_a_transpose,
]  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_write_after_the_forward_never_changes_the_gradient(write, requires_grad):
    x, other = mg.tensor([1.0, 2.0], requires_grad=requires_grad), leaf([3.0, 4.0])
    y = (x * x * other).sum()
    write(x)
    y.backward()
    assert numbers(other.grad) == [1.0, 4.0]
    if requires_grad:
        assert numbers(x.grad) == [6.0, 16.0]


@pytest.mark.parametrize("write", [write for write in WRITES if write is not write_a_transpose])
def test_the_next_operation_sees_a_write(write):
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    write(x)
    assert numbers(x) != [1.0, 2.0]
    x.grad = None
    (x * x).sum().backward()
    assert numbers(x.grad) == [2 * value for value in numbers(x)]


@pytest.mark.parametrize("first", [[], [9.0]])
def test_an_old_reference_to_data_cannot_reach_the_graph(first):
    x = leaf([1.0, 2.0])
    kept = x.data
    for number in first:
        kept[0] = number
    start = numbers(x)
    y = (x * x).sum()
    kept[0] = 5
    y.backward()
    assert numbers(x.grad) == [2 * value for value in start]
    assert numbers(x) == [5.0, 2.0]


def test_a_held_array_stays_the_tensors_until_it_is_replaced():
    x = leaf([1.0, 2.0])
    kept = x.data
    for number in (3.0, 4.0):
        kept[0] = number
        x.grad = None
        (x * x).sum().backward()
        assert numbers(x.grad) == [2 * number, 4.0]
        assert x.data is kept
    x.data -= 1
    assert x.data is kept
    x.assign([7.0, 8.0])
    kept[0] = 9.0
    assert numbers(x) == [7.0, 8.0]


@pytest.mark.parametrize("write", [
    "x.data[0] -= 0.1 * x.grad[0]", "x.data[0] = x.data[0] - 0.1 * x.grad[0]",
    "x.data[:1] -= (0.1 * x.grad).numpy()[:1]", "x.data[0] -= 0.1 * (2 * x).numpy()[0]",
    "x.data[0] -= 0.1 * mg.grad(lambda w: (w * w).sum())(x)[0]",
    "x.data[:1] -= 0.1 * x.detach().data[:1] * 2",
])  # fmt: skip
def test_written_values_can_come_from_the_tensor_itself(write):
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    exec(write)  # noqa: S102 - a statement of the test's own
    assert numbers(x) == [0.8, 2.0]


def test_a_write_is_not_lost_to_an_operation_on_another_thread():
    x = leaf([1.0, 2.0])
    kept = x.data
    other = threading.Thread(target=lambda: x * 2)
    other.start()
    other.join()
    kept[0] = 5
    assert numbers(x) == [5.0, 2.0]


def test_a_held_array_slows_down_only_its_own_tensor():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    kept = x.data
    x * y
    assert (x.is_fast, y.is_fast) == (False, True)
    assert type(x) is mg.Tensor
    assert open_modes() == []
    del kept
    x * y
    assert x.is_fast


def test_an_operation_that_saves_only_its_result_does_not_copy_a_held_array():
    x = leaf(np.zeros(100_000))
    kept = x.data
    mg.tanh(x)
    tracemalloc.start()
    y = mg.tanh(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y.numpy().nbytes <= peak < 1.5 * kept.nbytes


def test_a_recording_keeps_the_values_that_a_held_array_had():
    x = leaf([0.0, 2.0])
    kept = x.data
    with mg.record() as trace:
        mg.tanh(x).sum().backward()
        kept[0] = 5.0
    assert [np.asarray(node.value).tolist() for node in trace.nodes[:2]] == [[0.0, 2.0], np.tanh([0.0, 2.0]).tolist()]


def test_no_write_into_a_held_array_reaches_an_elementwise_result():
    calls = [call for name, op in operations.items() if op.kind == "elementwise" for call in samples.get(name, ())]
    for call in calls:
        inputs = [leaf(x) if np.ndim(x) and x.dtype.kind == "f" else x for x in call.inputs]
        held = [x.data for x in inputs if isinstance(x, mg.Tensor)]
        result = call.op.call_with(inputs, call.params)
        before = result.tolist()
        for array in held:
            array[...] = 0.5
        assert repr(result.tolist()) == repr(before), call


def test_a_network_can_be_updated_entry_by_entry():
    w = leaf([1.0, 2.0])
    for number in range(2):
        w.data[number] -= mg.grad(lambda w: (w * w * w).sum())(w)[number] / 3
    assert numbers(w) == [0.0, -2.0]


def test_an_old_view_of_data_cannot_reach_the_graph():
    x = leaf([1.0, 2.0])
    view = x.data[:1]
    y = (x * x).sum()
    view[0] = 5
    y.backward()
    assert numbers(x.grad) == [2.0, 4.0]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_old_reference_cannot_reach_a_transforms_input(requires_grad):
    x = mg.tensor([1.0, 2.0], requires_grad=requires_grad)
    kept = x.data
    out, pull = mg.vjp(lambda x: x * x, x)
    through = mg.checkpoint(lambda x: x.reshape(2), x)
    kept[0] = 5
    assert numbers(out) == [1.0, 4.0]
    assert numbers(pull(np.ones(2))[0]) == [2.0, 4.0]
    assert numbers(through) == [1.0, 2.0]


def test_an_array_passed_to_an_operation_is_copied():
    array, x = np.array([1.0, 2.0]), leaf([3.0, 4.0])
    y = (array * x).sum()
    array[:] = 9
    y.backward()
    assert numbers(x.grad) == [1.0, 2.0]


@pytest.mark.parametrize("index", [np.array([0, 1]), mg.tensor([0, 1])])
def test_an_index_changed_after_use_cannot_reach_the_graph(index):
    x = leaf([1.0, 2.0, 3.0])
    kept = index.data if isinstance(index, mg.Tensor) else index
    y = (x[index] * 2).sum()
    kept[:] = 2
    y.backward()
    assert numbers(x.grad) == [2.0, 2.0, 0.0]


def test_repeats_changed_after_use_cannot_reach_the_graph():
    x, repeats = leaf([1.0, 2.0, 3.0]), [1, 0, 2]
    y = mg.repeat(x, repeats, axis=0) * mg.tensor([1.0, 10.0, 100.0])
    repeats[:] = [0, 1, 2]
    y.sum().backward()
    assert numbers(x.grad) == [1.0, 0.0, 110.0]


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_write_after_assign_does_not_reach_the_other_tensor(dtype):
    taken = mg.tensor([1, 2], dtype=dtype)
    tensor = mg.tensor([3, 4], dtype=dtype)
    tensor.assign(taken)
    tensor[0] = 5
    assert (numbers(tensor), numbers(taken)) == ([5, 2], [1, 2])


def test_two_gradients_never_share_memory():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    line = x.reshape(4).retain_grad()
    (line * line).sum().backward()
    x.grad.data[:] = 0
    assert numbers(line.grad) == [2.0, 4.0, 6.0, 8.0]


def test_the_data_of_a_result_is_read_only():
    y = leaf([1.0, 2.0]) * 2
    assert not y.data.flags.writeable
    with pytest.raises(RuntimeError, match="a result cannot be assigned to"):
        y.data = [1.0, 2.0]


RESULT = "a result cannot be written into"
WRITES = {
    "an entry": lambda array: array.__setitem__(0, 1.0),
    "a part of it": lambda array: array[:1].__setitem__(0, 1.0),
    "its transpose": lambda array: array.T.__setitem__(0, 1.0),
    "every entry": lambda array: array.fill(1.0),
    "in place": lambda array: array.__iadd__(1.0),
    "as NumPy's out": lambda array: np.add(1.0, 2.0, out=array),
    "entry after entry": lambda array: np.add.at(array, [0, 0], 1.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_into_a_result_says_what_to_write_instead(write):
    y = leaf([1.0, 2.0]) * 2
    with pytest.raises(ValueError, match=RESULT) as raised:
        write(y.data)
    assert "y.numpy()" in str(raised.value)
    assert "y.detach()" in str(raised.value)
    assert "x.data[...] = ..." in str(raised.value)
    assert numbers(y) == [2.0, 4.0]


PLAIN = {
    "a sum": lambda array: array + 1,
    "a comparison": lambda array: array > 1,
    "a product with another": lambda array: array @ np.eye(2),
    "a NumPy function": lambda array: np.concatenate([array, array]),
    "two results of one function": lambda array: np.modf(array)[1],
    "a copy": lambda array: array.copy(),
    "a deep copy": copy.deepcopy,
    "another dtype": lambda array: array.astype("float32"),
    "stored and loaded": lambda array: pickle.loads(pickle.dumps(array)),  # noqa: S301 - our own bytes
    "an array of it": np.array,
    "the same as an array": np.asarray,
}


@pytest.mark.parametrize("make", PLAIN.values(), ids=PLAIN)
def test_numpy_functions_of_a_results_array_return_plain_arrays(make):
    made = make((leaf([1.0, 2.0]) * 2).data)
    assert type(made) is np.ndarray


def test_a_leaf_made_of_a_results_array_can_be_written_into():
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0]) * 2
    assert repr(y.data) == "array([2., 4.])"
    x.data = y.data
    x.data[0] = 5
    assert type(x.data) is np.ndarray
    assert (numbers(x), numbers(y)) == ([5.0, 4.0], [2.0, 4.0])
    assert isinstance(y.data * x, mg.Tensor)


def test_each_write_to_a_leaf_is_counted():
    x = leaf([1.0, 2.0])
    assert x.version == 0
    x.assign([3.0, 4.0])
    with mg.no_grad():
        x -= 1
    x.data = [1.0, 1.0]
    assert x.version == 3
    x.data[0] = 5.0
    x * 1
    assert x.version == 4
    assert mg.tensor([1.0]).version == 0


def test_data_returns_the_same_array_until_the_next_operation():
    x = leaf([1.0, 2.0])
    x.data[0] = 5
    x.data[1] = 6
    assert x.data is x.data
    assert numbers(x * 1) == [5.0, 6.0]
    assert open_modes() == []


def test_training_by_hand_reaches_the_minimum_by_every_idiom():
    def through_data(x):
        x.data -= 0.1 * x.grad.data

    def in_no_grad(x):
        with mg.no_grad():
            x -= 0.1 * x.grad

    def by_assigning(x):
        x.assign(x.data - 0.1 * x.grad.data)

    for step in (through_data, in_no_grad, by_assigning):
        x = leaf([3.0, -2.0])
        for _ in range(100):
            x.grad = None
            ((x - 1) ** 2).sum().backward()
            step(x)
        np.testing.assert_allclose(x.numpy(), [1.0, 1.0], atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_writing_into_class_weights_does_not_change_the_gradient(smoothing):
    received = []
    for write in (False, True):
        scores, weight = leaf([[1.0, 2.0], [0.5, -1.0]]), np.array([1.0, 2.0])
        loss = mg.nn.functional.cross_entropy(scores, mg.tensor([0, 1]), weight, label_smoothing=smoothing)
        if write:
            weight[:] = 7.0
        loss.backward()
        received.append(numbers(scores.grad))
    assert received[0] == received[1]


# Copies -----------------------------------------------------------------------------------------------------


def test_tensor_copies_its_argument():
    array = np.array([1.0, 2.0])
    x = mg.tensor(array)
    array[0] = 9
    assert numbers(x) == [1.0, 2.0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])  # noqa: S301 - our own bytes
def test_a_copy_is_a_new_leaf(copied):
    x = leaf([1.0, 2.0], dtype="float32")
    other = copied(x)
    assert (other.dtype, other.requires_grad, numbers(other)) == (x.dtype, True, [1.0, 2.0])
    other.data[0] = 9
    (other * other).sum().backward()
    assert numbers(x) == [1.0, 2.0]
    assert x.grad is None


def test_a_deep_copy_keeps_shared_tensors_and_gradients():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    tied = copy.deepcopy({"a": x, "b": x})
    assert tied["a"] is tied["b"]
    assert numbers(tied["a"].grad) == [2.0, 4.0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_result_cannot_be_copied_without_its_graph(copied):
    with pytest.raises(RuntimeError, match="apart from its graph"):
        copied(leaf([1.0]) * 2)


def test_detach_leaves_the_graph_and_clone_joins_it():
    x = leaf([1.0, 2.0])
    (x.detach() * 3 + x.clone() * 5).sum().backward()
    assert numbers(x.grad) == [5.0, 5.0]
    x.detach().data[0] = 9
    assert numbers(x) == [1.0, 2.0]


# NumPy arrays on the left -----------------------------------------------------------------------------------

LEFT_OPERANDS = {
    "array": np.array([2.0, 3.0]), "float64": np.float64(2.0), "float32": np.float32(2.0),
    "int64": np.int64(2), "0-d array": np.array(2.0), "number": 2.0, "integer": 2,
}  # fmt: skip


@pytest.mark.parametrize("left", LEFT_OPERANDS.values(), ids=LEFT_OPERANDS)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "**", "%"])
def test_an_operator_with_an_array_on_the_left_returns_a_tensor(left, symbol):
    apply = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
        "**": lambda a, b: a**b, "%": lambda a, b: a % b,
    }[symbol]  # fmt: skip
    x = leaf([1.5, 0.7])
    y = apply(left, x)
    assert isinstance(y, mg.Tensor)
    np.testing.assert_allclose(y.numpy(), apply(left, np.array([1.5, 0.7])))
    assert mg.gradcheck(lambda x: apply(left, x), (x,))


def test_a_product_with_an_array_on_the_left_returns_a_tensor():
    matrix, x = np.arange(6.0).reshape(2, 3), leaf([1.0, 2.0, 3.0])
    y = matrix @ x
    y.backward([1.0, 10.0])
    assert numbers(y) == (matrix @ [1.0, 2.0, 3.0]).tolist()
    assert numbers(x.grad) == (np.array([1.0, 10.0]) @ matrix).tolist()


def test_comparisons_with_an_array_on_the_left_are_elementwise():
    assert numbers(np.array([1.0, 3.0]) < leaf([2.0, 2.0])) == [True, False]
    assert numbers(np.array([1.0, 2.0]) == leaf([2.0, 2.0])) == [False, True]


def test_only_a_held_array_of_real_numbers_is_read_in_place():
    real, turned = mg.tensor([1.0]), mg.tensor([1j])
    held = [real.data, turned.data]
    assert ownership.array_to_read(real) is held[0]
    assert ownership.array_to_read(turned) is None
    held.clear()
    assert ownership.array_to_read(real).tolist() == [1.0]
    assert real.is_fast


def test_a_write_into_a_view_of_complex_numbers_reaches_its_tensor():
    z = mg.tensor([[1j, 2.0], [3.0, 4.0]])
    row = z[0]
    row[1] = 7.0
    assert z.tolist() == [[1j, 7.0], [3.0, 4.0]]
