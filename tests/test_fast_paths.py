"""Fast paths give the same results: compiled walks, fast array functions, and arrays that are not copied."""

import inspect
from contextlib import nullcontext

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import arrays
from micrograd_plus.checks import promises as check
from micrograd_plus.checks.samples import samples
from micrograd_plus.core.define import operations
from micrograd_plus.core.fast import callers, vjps
from micrograd_plus.nn import functional

MOVING = [sample for group in samples.values() for sample in group if check.differentiable_inputs(sample)]


def gradients_of_gradients(sample):
    """Return the gradients, whether each has a graph, and the gradients of the sum of their squares."""
    places = check.differentiable_inputs(sample)
    leaves = [mg.tensor(sample.inputs[place], requires_grad=True) for place in places]
    loss = check.scalar(sample, check.replace_inputs(sample, places, leaves))
    found = loss.gradients(create_graph=True)
    first = [found[leaf.node] for leaf in leaves if leaf.node in found]
    again = [each for each in first if each.node is not None and each.dtype.kind == "f"]
    if again:
        sum((each * each).sum() for each in again).backward()
    second = [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    return [each.numpy() for each in first], [each.node is not None for each in first], second


@pytest.mark.parametrize("sample", MOVING, ids=str)
def test_compiled_and_interpreted_walks_on_tensors_agree(sample):
    written = gradients_of_gradients(sample)
    with callers.interpret_all(list(operations.values())):
        by_name = gradients_of_gradients(sample)
    assert written[1] == by_name[1]
    for ours, meant in zip(written[0] + written[2], by_name[0] + by_name[2], strict=True):
        if meant is None:
            assert ours is None
        else:
            check.assert_equal(ours, meant, str(sample), rtol=1e-9, atol=1e-10)


def test_the_text_of_a_vjp_on_tensors_can_be_printed():
    text = repr(mg.tanh.source)
    assert "def vjp_tanh(xp, upstream, _node, arrived):" in text
    assert "def vjp_tanh_on_tensors(xp, upstream, _node, arrived):" in text
    assert "out = _of(out, _node)" in text
    assert "= _saved_as_tensors(_node)" in repr(mg.ops.layer_norm.source)  # they are computed again, from the inputs


@pytest.mark.parametrize("name", ["mse", "multiply", "rms_norm"])
def test_a_number_beside_a_tensor_gives_one_dtype_compiled_and_interpreted(name):
    op, x = operations[name], mg.tensor([1.0, 2.0], dtype="float32")
    compiled = [op.call(x, 2.0).dtype for _ in range(2)]
    with callers.interpret_all([op]):
        assert compiled == [op.call(x, 2.0).dtype] * 2


def test_a_debugger_finds_the_lines_of_compiled_code():
    mg.tanh(mg.tensor(1.0))
    lines = inspect.getsource(mg.tanh.__code__).splitlines()
    assert lines[0] == "def tanh(x):"
    assert lines[-1].strip() == "return _result"


@pytest.mark.usefixtures("own_operations")
def test_an_error_of_a_rule_on_tensors_names_the_operation():
    @mg.op
    def grumpy(xp, x):
        return xp.exp(x)

    @grumpy.rule("x")
    def _(xp, upstream):
        raise ValueError("not today")

    with pytest.raises(ValueError, match="backward through grumpy: not today"):
        grumpy(mg.tensor([1.0], requires_grad=True)).sum().gradients(create_graph=True)


@pytest.mark.usefixtures("own_operations")
def test_a_rule_on_tensors_with_the_wrong_shape_is_an_error():
    @mg.op
    def narrow(xp, x):
        return xp.exp(x)

    @narrow.rule("x")
    def _(xp, upstream):
        return xp.sum(upstream)

    with pytest.raises(RuntimeError, match=r"narrow.x returned shape \(\), but the input x of narrow has shape \(2,\)"):
        narrow(mg.tensor([1.0, 2.0], requires_grad=True)).sum().gradients(create_graph=True)


# Functions with a fast path for large arrays ------------------------------------------------------------------------


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axis", [-1, 2, (-1,), -2, 1, (-2,), 0, (0, 2), None])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_reductions_along_short_rows_equal_numpys(keepdims, axis, dtype):
    x = (np.random.default_rng(0).normal(size=(8, 40, 10)) * 100).astype(dtype)
    for word, meant in ((arrays.sum, np.sum), (arrays.mean, np.mean), (arrays.max, np.max)):
        ours, expected = word(x, axis=axis, keepdims=keepdims), meant(x, axis=axis, keepdims=keepdims)
        assert ours.shape == expected.shape
        assert ours.dtype == expected.dtype
        np.testing.assert_allclose(ours, expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-2)


def test_reductions_along_short_rows_keep_nan_and_infinity():
    x = np.ones((500, 10))
    x[3, 4], x[5, 6], x[7, 8] = np.nan, np.inf, -np.inf
    assert np.isnan(arrays.max(x, axis=-1)[3])
    assert arrays.max(x, axis=-1)[5] == np.inf
    assert np.isnan(arrays.sum(x, axis=-1)[3])
    assert arrays.sum(x, axis=-1)[[0, 5, 7]].tolist() == [10, np.inf, -np.inf]


def test_the_sum_of_a_single_row_is_numpys_own():
    row = np.random.default_rng(0).normal(size=80)
    assert arrays.sum(row, axis=0) == row.sum()
    assert type(arrays.sum(row, axis=0)) is np.float64


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("turn", [1, 1j, 1 + 2j])
def test_the_variance_of_a_large_array_equals_numpys(ddof, turn):
    x = np.random.default_rng(0).normal(3, 2, (300, 16)) * turn
    np.testing.assert_allclose(arrays.var(x, 0, ddof), np.var(x, axis=0, ddof=ddof), rtol=1e-12)


@pytest.mark.parametrize("shape", [(40, 60), (8, 40, 60), (3, 60), (1, 60), (0, 60), (2, 3, 0)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_undoing_broadcasting_over_rows_sums_the_rows(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    ours = arrays.sum_to_shape(x, shape[-1:])
    assert ours.dtype == x.dtype
    np.testing.assert_allclose(ours, x.reshape(-1, shape[-1]).sum(axis=0) if x.size else np.zeros(shape[-1]), atol=1e-4)


@pytest.mark.parametrize("before", [(4, 5, 6), (2, 3, 5, 6), (0, 5, 6), (4, 5, 0)])
def test_a_stack_of_matrices_times_one_equals_numpys_product(before):
    random = np.random.default_rng(0)
    a, b = random.normal(size=before), random.normal(size=(before[-1], 7))
    for left, right in ((a, b), (a.astype(np.float32), b), (a.swapaxes(0, 1), b), (a, b.T.copy().T)):
        ours = arrays.matmul(left, right)
        assert ours.dtype == np.matmul(left, right).dtype
        np.testing.assert_allclose(ours, np.matmul(left, right), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("planted", [[], [0.0], [0.0, 0.0], [1e-200, 1e-200], [1e200, 1e200], [np.inf], [np.nan]])
def test_the_product_of_others_divides_only_if_it_is_exact(planted):
    x = np.random.default_rng(0).uniform(0.5, 2, size=(3, 6))
    x[1, : len(planted)] = planted
    with np.errstate(over="ignore"):
        others = np.array([[np.prod(np.delete(row, i)) for i in range(6)] for row in x])
        np.testing.assert_allclose(arrays.product_of_others(x, axis=1), others, rtol=1e-12)


def test_einsum_of_large_arrays_equals_matrix_products():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(120, 130)), random.normal(size=(130, 110))
    np.testing.assert_allclose(arrays.einsum("ij,jk->ik", a, b), a @ b, atol=1e-10)
    np.testing.assert_allclose(arrays.einsum("ij,ij->i", a, a), (a * a).sum(axis=1))
    np.testing.assert_allclose(arrays.einsum("ij->ji", a), a.T)


# Arrays that the walk owns ------------------------------------------------------------------------------------------


def test_only_a_view_of_unshared_memory_is_not_copied():
    fresh = np.zeros((3, 4)).T
    assert arrays.owned_copy(fresh) is fresh
    held = np.zeros((3, 4))
    assert not np.shares_memory(arrays.owned_copy(held[1:]), held)
    assert arrays.owned_copy(held, upstream=held) is not held
    repeated = arrays.owned_copy(np.broadcast_to(np.zeros(3), (4, 3)))
    assert repeated.flags.writeable
    assert repeated.flags.c_contiguous


@pytest.mark.usefixtures("own_operations")
def test_contributions_that_share_memory_stay_separate():
    @mg.op
    def halves(xp, a, b):
        return xp.concatenate([a, b])

    @halves.rule("a", "b")
    def _(xp, upstream):
        return xp.split(upstream, 2)

    a, b = (mg.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    (halves(a, b) * mg.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    a.grad._data += 100
    assert b.grad.tolist() == [3, 4]


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("is_interpreted", [False, True])
def test_a_rule_that_returns_a_saved_array_keeps_it_intact(is_interpreted):
    @mg.op
    def saved_values(xp, x, y):
        return xp.sum(x * y)

    @saved_values.rule("x")
    def _(y):
        return y[:]

    @saved_values.rule("y")
    def _(upstream, x):
        return upstream * x

    x, y = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([3.0, 4.0])
    with callers.interpret_all([saved_values.op]) if is_interpreted else nullcontext():
        (x.sum() + (x * x).sum() + saved_values(x, y)).backward()  # the walk begins with the last operation
    assert x.grad.tolist() == [6, 9]
    assert y.tolist() == [3, 4]


@pytest.mark.usefixtures("own_operations")
def test_a_wider_local_derivative_does_not_widen_the_gradient():
    @mg.elementwise(a=lambda xp, b: xp.astype(b, np.float64), b=lambda a: a)
    def product(xp, a, b):
        return a * b

    a, b = (mg.tensor(np.ones(2, np.float32), requires_grad=True) for _ in range(2))
    seen = []
    doubled = a * 2
    doubled.register_hook(lambda gradient: seen.append(gradient.dtype))
    product(doubled, b).sum().backward()
    assert seen == [np.float32]


# Memory layout of images --------------------------------------------------------------------------------------------


def lie_with_images_last(x):
    return x.transpose(1, 2, 3, 0).flags.c_contiguous


def test_images_keep_the_memory_order_of_convolutions():
    random = np.random.default_rng(0)
    x = mg.tensor(random.normal(size=(4, 3, 8, 8)), requires_grad=True)
    weight = mg.tensor(random.normal(size=(5, 3, 3, 3)), requires_grad=True)
    h = functional.conv2d(x, weight, mg.tensor(np.zeros(5), requires_grad=True), padding=1)
    activated = mg.relu(h)
    pooled = functional.max_pool2d(activated, 2)
    found = pooled.sum().gradients(through=[h.node, activated.node])
    for each in (h, activated, pooled):
        assert lie_with_images_last(each.numpy())
    for node in (h.node, activated.node):
        assert lie_with_images_last(found[node])


@pytest.mark.parametrize("settings", [
    {"kernel_size": 2}, {"kernel_size": 3, "stride": 2}, {"kernel_size": 2, "padding": 1}, {"kernel_size": (2, 3)},
    {"kernel_size": 2, "dilation": 2, "stride": 2}, {"kernel_size": 3, "stride": 1, "padding": 1},
])  # fmt: skip
def test_pooling_sends_its_gradient_to_the_first_largest_entry(settings):
    x = mg.tensor(np.random.default_rng(0).integers(0, 3, size=(2, 2, 6, 6)).astype(float), requires_grad=True)
    out = functional.max_pool2d(x, **settings)
    weights = np.arange(1.0, 1 + out.size).reshape(out.shape)
    out.backward(weights)
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = (
        (value, value) if isinstance(value, int) else value
        for value in (settings["kernel_size"], settings.get("stride", settings["kernel_size"]),
                      settings.get("padding", 0), settings.get("dilation", 1))
    )  # fmt: skip
    expected = np.zeros(x.shape)
    for n, c, i, j in np.ndindex(*out.shape):
        window = [(i * sh - ph + a * dh, j * sw - pw + b * dw) for a in range(kh) for b in range(kw)]
        inside = [(row, column) for row, column in window if 0 <= row < 6 and 0 <= column < 6]
        best = max(inside, key=lambda place: x.numpy()[n, c, *place])
        assert out.numpy()[n, c, i, j] == x.numpy()[n, c, *best]
        expected[n, c, *best] += weights[n, c, i, j]
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_compiled_code_copies_upstream_only_if_a_later_input_needs_a_gradient():
    first, last = operations["scatter_add"].rules[0], operations["linear_layer"].rules[-1]
    assert [vjps._is_shared(rule, is_only=False) for rule in (first, last)] == ["_src_node is not None", ""]


def test_small_results_of_broadcast_to_are_new_arrays():
    row = np.arange(3.0)[None]
    small, large = (arrays.broadcast_to(row, (length, 3)) for length in (2, 2000))
    assert (small.tolist(), small.base, large.strides) == ([[0.0, 1.0, 2.0]] * 2, None, (0, 8))
    assert arrays.broadcast_to(np.ones(1), 3).tolist() == [1.0] * 3


def test_a_negative_power_is_the_power_of_the_reciprocal():
    assert arrays.power(np.array([2.0, 4.0]), -2).tolist() == [0.25, 0.0625]
