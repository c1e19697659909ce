"""Choices that an engine has to make, and common mistakes: each checked on known numbers."""

import math
import subprocess
import sys

import numpy as np
import pytest

import micrograd_plus as mg

F = mg.nn.functional

INF, NAN = np.inf, np.nan


def gradient(f, x, upstream=1.0):
    """Return the gradient of `f` at `x`; all outputs receive `upstream`."""
    return mg.grad(lambda x: mg.sum(f(x) * upstream))(np.asarray(x)).tolist()


# Elementwise operations ------------------------------------------------------------------------------------


def test_the_slope_of_the_absolute_value_is_the_sign_and_0_at_0():
    assert gradient(mg.abs, [-2.0, 0.0, 3.0]) == [-1, 0, 1]


def test_the_slope_of_relu_at_0_is_0():
    assert gradient(mg.relu, [-1.0, 0.0, 1.0]) == [0, 0, 1]


@pytest.mark.parametrize(("function", "values", "slopes"), [
    (mg.sigmoid, [0.0, 1.0], [0.0, 0.0]),
    (mg.logsigmoid, [-1000.0, 0.0], [1.0, 0.0]),
    (mg.softplus, [0.0, 1000.0], [0.0, 1.0]),
    (mg.silu, [0.0, 1000.0], [0.0, 1.0]),
    (mg.mish, [0.0, 1000.0], [0.0, 1.0]),
    (mg.tanh, [-1.0, 1.0], [0.0, 0.0]),
    (mg.elu, [-1.0, 1000.0], [0.0, 1.0]),
])  # fmt: skip
def test_activations_do_not_overflow_for_large_inputs(function, values, slopes):
    far_out = [-1000.0, 1000.0]
    with np.errstate(over="raise", invalid="raise"):
        assert function(mg.tensor(far_out)).tolist() == values
        assert gradient(function, far_out) == slopes


def share(x):
    """Return the logistic function in double precision."""
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(("function", "exact", "points"), [
    (mg.expm1, math.exp, [-60.0, -20.0, -9.0]),
    (mg.elu, math.exp, [-60.0, -20.0, -9.0]),
    (mg.selu, lambda x: 1.7580993408473766 * math.exp(x), [-60.0, -20.0, -9.0]),
    (mg.softplus, share, [-60.0, -20.0, 20.0, 600.0]),
    (mg.logsigmoid, lambda x: share(-x), [-60.0, 20.0, 60.0]),
    (mg.silu, lambda x: share(x) * (1 + x * share(-x)), [-60.0, -9.0, 9.0, 20.0]),
])  # fmt: skip
def test_a_slope_keeps_its_digits_far_out_in_single_precision(function, exact, points):
    slopes = gradient(function, np.array(points, "float32"))
    np.testing.assert_allclose(slopes, [exact(x) for x in points], rtol=3e-6)


@pytest.mark.parametrize("function", [mg.silu, mg.mish])
def test_far_out_a_gate_is_a_straight_line(function):
    far_out = [1e3, 1e10, 1e20]
    assert gradient(function, far_out) == [1, 1, 1]
    assert gradient(mg.grad(lambda x: function(x).sum()), far_out) == [0, 0, 0]


def test_the_logarithm_of_the_sigmoid_is_bent_alike_on_either_side():
    bent = gradient(mg.grad(lambda x: mg.logsigmoid(x).sum()), [-60.0, 60.0])
    np.testing.assert_allclose(bent, [-math.exp(-60.0)] * 2, rtol=1e-12)


def test_the_sigmoid_and_its_kind_are_for_real_numbers():
    for function in (mg.sigmoid, mg.softplus, mg.logsigmoid, mg.silu, mg.mish):
        with pytest.raises(TypeError, match=function.__name__):
            function(mg.tensor([1.0 + 2.0j]))


def test_gelu_has_an_exact_and_an_approximate_form():
    x = mg.tensor(1.0)
    assert math.isclose(mg.gelu(x).item(), 0.5 * (1 + math.erf(math.sqrt(0.5))), rel_tol=1e-15)
    cubic = math.sqrt(2 / math.pi) * 1.044715
    assert math.isclose(mg.gelu(x, approximate="tanh").item(), 0.5 * (1 + math.tanh(cubic)), rel_tol=1e-15)
    with pytest.raises(ValueError, match=r"gelu: approximate must be 'none' \(exact\) or 'tanh', got 'fast'"):
        mg.gelu(x, approximate="fast")


def test_erf_needs_no_scipy_and_is_exact_to_twelve_digits():
    program = "import sys, micrograd_plus as mg; mg.erf(mg.tensor(1.0)); print('scipy' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
    assert output == "False\n"
    for x in (-3.0, -0.4, 0.0, 0.7, 2.0, 5.0):
        assert math.isclose(mg.erf(mg.tensor(x)).item(), math.erf(x), rel_tol=1e-12)
        assert math.isclose(mg.erfc(mg.tensor(x)).item(), math.erfc(x), rel_tol=1e-12)


@pytest.mark.parametrize("function", [mg.floor, mg.ceil, mg.trunc, mg.round, mg.sign])
def test_a_step_sends_0_and_the_walk_says_so(function):
    x = mg.tensor([0.4, -1.6, 2.0], requires_grad=True)
    with mg.record() as trace:
        function(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    assert [step.contribution.tolist() for step in trace.steps][-1] == [0, 0, 0]


def test_clip_lets_the_gradient_pass_at_the_bounds_themselves():
    assert gradient(lambda x: mg.clip(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0]) == [0, 1, 1, 1, 0]


def test_beyond_a_bound_the_bound_receives_what_clip_passes_on():
    x, low = mg.tensor([0.0, 2.0, 5.0]), mg.tensor(1.0, requires_grad=True)
    mg.clip(x, low, 3.0).sum().backward()
    assert low.grad.item() == 1
    assert mg.clip(x, 3.0, 1.0).tolist() == [1, 1, 1]


def test_the_gradient_of_a_cast_is_cast_back():
    x = mg.tensor([1.0, 2.0], requires_grad=True, dtype="float32")
    (x.astype("float64") * np.array([3.0, 4.0])).sum().backward()
    assert x.grad.dtype == np.float32
    assert x.grad.tolist() == [3, 4]


def test_numbers_are_constants_and_keep_single_precision():
    x = mg.tensor([1.0, 2.0], requires_grad=True, dtype="float32")
    for out in (x + 1, 2.0 - x, x * 3, 1 / x, x**2, 2.0**x, mg.maximum(x, 1.5), mg.where(x > 1, x, 0.0)):
        assert out.dtype == np.float32
    ((2.0 - x) ** 3 / 4).sum().backward()
    assert x.grad.dtype == np.float32


def test_powers_of_0_have_the_slope_they_have_in_the_limit():
    assert gradient(lambda x: x**0, [0.0]) == [0]
    assert gradient(lambda x: x**1, [0.0]) == [1]
    assert gradient(lambda x: x**2, [0.0]) == [0]
    assert gradient(lambda e: mg.power(0.0, e), [0.0, 0.5, 2.0]) == [0, 0, 0]


def test_powers_of_a_negative_base_have_only_its_gradient():
    exponents = np.array([0.0, 1.0, 2.0, 3.0, -1.0])
    assert gradient(lambda x: mg.power(x, exponents), [-2.0] * 5) == [0, 1, -4, 12, -0.25]
    with np.errstate(invalid="ignore"):
        assert np.isnan(gradient(lambda e: mg.power(-2.0, e), [2.0])).all()


def test_the_second_derivative_of_a_power_at_0_is_the_limit():
    assert mg.grad(mg.grad(lambda x: x**2))(0.0).item() == 2
    assert mg.grad(mg.grad(lambda x: x**3))(0.0).item() == 0


def test_entries_that_tie_receive_half_of_the_gradient():
    for function in (mg.maximum, mg.minimum):
        assert [each.item() for each in mg.grad(function, (0, 1))(2.0, 2.0)] == [0.5, 0.5]


def test_entries_that_where_drops_receive_0():
    taken = mg.tensor([True, False])
    first, second = mg.tensor([1.0, NAN], requires_grad=True), mg.tensor([INF, 2.0], requires_grad=True)
    out = mg.where(taken, first, second)
    out.sum().backward()
    assert out.tolist() == [1, 2]
    assert (first.grad.tolist(), second.grad.tolist()) == ([1, 0], [0, 1])


@pytest.mark.parametrize("question", [
    lambda x: x == 1, lambda x: x != 1, lambda x: x < 1, lambda x: x <= 1, lambda x: x > 1, lambda x: x >= 1,
    lambda x: (x > 0) & (x < 2), lambda x: (x > 0) | (x < 2), lambda x: ~(x > 0), mg.isnan, mg.isinf,
    mg.isfinite, lambda x: mg.isclose(x, 1.0), lambda x: mg.logical_xor(x > 0, x > 1), mg.argmax, mg.argmin,
    mg.argsort, mg.count_nonzero, mg.any, mg.all, lambda x: mg.searchsorted(x, x), mg.stop_gradient,
    lambda x: x.detach(), lambda x: mg.topk(x, 1)[1],
])  # fmt: skip
def test_a_comparison_has_no_graph(question):
    assert question(mg.tensor([1.0, 2.0], requires_grad=True)).node is None


def test_a_complex_gradient_is_the_real_part_plus_i_imaginary():
    z = mg.tensor([1 + 2j], requires_grad=True)
    (3 * z.real + 5 * z.imag).sum().backward()
    assert z.grad.tolist() == [3 + 5j]
    assert mg.grad(lambda z: mg.abs(z * z))(3 + 4j).item() == pytest.approx(2 * (3 + 4j))
    assert [mg.grad(f)(0j).item() for f in (mg.abs, mg.angle)] == [0, 0]


def test_a_real_number_has_no_imaginary_part():
    assert gradient(mg.real, [-2.0]) == [1]
    assert gradient(mg.conj, [-2.0]) == [1]
    assert gradient(mg.imag, [-2.0]) == [0]
    assert gradient(mg.angle, [-2.0, 0.0]) == [0, 0]


# Reductions and scans --------------------------------------------------------------------------------------


def test_tied_extreme_entries_share_the_gradient():
    assert gradient(mg.max, [2.0, 1.0, 2.0, 2.0], upstream=3.0) == [1, 0, 1, 1]
    assert gradient(lambda x: mg.min(x, axis=1), [[1.0, 1.0], [1.0, 0.0]]) == [[0.5, 0.5], [0, 1]]


def test_a_product_with_zeros_has_exact_gradients():
    assert gradient(mg.prod, [2.0, 0.0, 3.0]) == [0, 6, 0]
    assert gradient(mg.prod, [0.0, 0.0, 3.0]) == [0, 0, 0]
    assert gradient(mg.cumprod, [0.0, 2.0, 3.0]) == [1 + 2 + 6, 0, 0]


def test_std_of_equal_entries_and_norm_at_the_origin_send_0():
    assert gradient(mg.std, [2.0, 2.0, 2.0]) == [0, 0, 0]
    assert gradient(mg.norm, [0.0, 0.0]) == [0, 0]


def test_var_and_logsumexp_are_exact_for_large_numbers():
    assert mg.var(mg.tensor([1e9, 1e9 + 1, 1e9 + 2])).item() == pytest.approx(2 / 3)
    assert mg.logsumexp(mg.tensor([1000.0, 1000.0])).item() == pytest.approx(1000 + math.log(2))
    assert gradient(mg.logsumexp, [1000.0, 1000.0, -INF]) == pytest.approx([0.5, 0.5, 0])


@pytest.mark.parametrize(("params", "sums", "slopes"), [
    ({}, [1, 3, 6], [111, 110, 100]),
    ({"exclusive": True}, [0, 1, 3], [110, 100, 0]),
    ({"reverse": True}, [6, 5, 3], [1, 11, 111]),
    ({"exclusive": True, "reverse": True}, [5, 3, 0], [0, 1, 11]),
])  # fmt: skip
def test_cumsum_takes_exclusive_and_reverse(params, sums, slopes):
    assert mg.cumsum(mg.tensor([1.0, 2.0, 3.0]), **params).tolist() == sums
    assert gradient(lambda x: mg.cumsum(x, **params), [1.0, 2.0, 3.0], [1.0, 10.0, 100.0]) == slopes


@pytest.mark.parametrize("function", [mg.cumsum, mg.cumprod, mg.cummax])
def test_a_scan_costs_as_much_as_it_is_long(function):
    """A rule with a square of this length would need hundreds of gigabytes."""
    long = np.ones(200_000)
    assert len(gradient(function, long, upstream=1 / 200_000)) == 200_000


def test_a_running_maximum_gives_a_tie_to_the_latest():
    assert gradient(mg.cummax, [2.0, 1.0, 2.0], [1.0, 10.0, 100.0]) == [11, 0, 100]


def test_sorting_keeps_equal_entries_in_the_order_they_came():
    assert mg.argsort(mg.tensor([1.0, 0.0, 1.0, 0.0])).tolist() == [1, 3, 0, 2]
    assert mg.argsort(mg.tensor([1.0, 0.0, 1.0, 0.0]), descending=True).tolist() == [0, 2, 1, 3]
    assert gradient(mg.sort, [1.0, 0.0, 1.0, 0.0], [1.0, 2.0, 3.0, 4.0]) == [3, 1, 4, 2]


def test_the_values_of_topk_and_sort_carry_a_graph():
    x = mg.tensor([1.0, 3.0, 2.0], requires_grad=True)
    values, places = mg.topk(x, 2)
    assert (values.tolist(), places.tolist()) == ([3, 2], [1, 2])
    assert gradient(lambda x: mg.topk(x, 2)[0], [1.0, 3.0, 2.0], [10.0, 20.0]) == [0, 10, 20]
    assert values.requires_grad
    assert mg.sort(x).requires_grad


def test_an_even_median_is_the_mean_of_the_two_middle_entries():
    assert mg.median(mg.tensor([4.0, 1.0, 2.0, 3.0])).item() == 2.5
    assert gradient(mg.median, [4.0, 1.0, 2.0, 3.0]) == [0, 0, 0.5, 0.5]
    assert gradient(lambda x: mg.quantile(x, 0.25), [1.0, 2.0, 3.0, 5.0]) == [0.25, 0.75, 0, 0]


def test_quantile_rejects_numbers_outside_0_to_1():
    with pytest.raises(ValueError, match=r"quantile.*: q must be between 0 and 1, got 25"):
        mg.quantile(mg.tensor([1.0, 2.0]), 25)
    with pytest.raises(ValueError, match=r"quantile.*: q must be between 0 and 1, got -1"):
        mg.quantile(mg.tensor([1.0, 2.0]), [0.5, -1])
    with pytest.raises(TypeError, match=r"quantile: no gradient reaches q; write q\.detach\(\)"):
        mg.quantile([1.0, 2.0], mg.tensor(0.5, requires_grad=True))
    with pytest.raises(ValueError, match=r"quantile: q must be one number or a row of numbers, got shape \(1, 2\)"):
        mg.quantile(mg.tensor([1.0, 2.0]), [[0.5, 1.0]])
    with pytest.raises(ValueError, match=r"quantile.*: method must be one of 'linear', 'lower', .*, got 'middle'"):
        mg.quantile(mg.tensor([1.0, 2.0]), 0.5, method="middle")
    with pytest.raises(ValueError, match=r"quantile.*: of no entries at all there is no quantile"):
        mg.quantile(mg.tensor([]), 0.5)


# Shape, layout, indices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", [
    lambda x: mg.reshape(x, (3, 2)), mg.ravel, mg.flatten, lambda x: mg.expand_dims(x, 0), mg.transpose,
    lambda x: x.T, lambda x: x.mT, lambda x: mg.swapaxes(x, 0, 1), lambda x: mg.moveaxis(x, 0, 1),
    lambda x: mg.broadcast_to(x, (4000, 2, 3)), lambda x: x[:, 1:],
])  # fmt: skip
def test_shape_operations_return_views(move):
    x = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    assert np.shares_memory(move(x)._data, x._data)


@pytest.mark.parametrize("look_up", [
    lambda x: x[[0, 2, 2]],
    lambda x: mg.take(x, [0, 2, 2]),
    lambda x: mg.take_along_axis(x, np.array([0, 2, 2])),
    lambda x: mg.embedding(np.array([0, 2, 2]), mg.reshape(x, (-1, 1))),
])  # fmt: skip
def test_an_entry_that_is_looked_up_twice_receives_both_gradients(look_up):
    assert gradient(look_up, [5.0, 6.0, 7.0]) == [1, 0, 2]


def test_the_gradient_of_scatter_add_takes_upstream_at_the_indices():
    x, added = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), mg.tensor([10.0, 20.0], requires_grad=True)
    out = mg.scatter_add(x, 0, mg.tensor([2, 2]), added)
    assert out.tolist() == [1, 2, 33]
    out.backward([1.0, 2.0, 3.0])
    assert (x.grad.tolist(), added.grad.tolist()) == ([1, 2, 3], [3, 3])


def test_the_padding_row_of_an_embedding_learns_nothing():
    table = mg.tensor([[1.0], [2.0]], requires_grad=True)
    F.embedding(mg.tensor([0, 1, 1]), table, padding_idx=1).sum().backward()
    assert table.grad.tolist() == [[1], [0]]


def test_classes_as_rows_and_draws_from_them_carry_no_graph():
    assert F.one_hot(mg.tensor([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert mg.one_hot(mg.tensor([[1], [0]]), num_classes=2).tolist() == [[[0, 1]], [[1, 0]]]
    scores = mg.tensor([[0.0, -INF], [-INF, 0.0]], requires_grad=True)
    draw = mg.random.categorical(scores)
    assert draw.tolist() == [0, 1]
    assert draw.node is None


def test_hard_gumbel_is_one_hot_with_the_gradient_of_soft_gumbel():
    scores = np.array([0.3, -0.2, 0.1])

    def draw(x, hard):
        return F.gumbel_softmax(x, tau=0.7, hard=hard, rng=np.random.default_rng(5))

    assert sorted(draw(mg.tensor(scores), hard=True).tolist()) == [0, 0, 1]
    weights = np.array([1.0, -2.0, 3.0])
    hard, soft = (gradient(lambda x, hard=hard: draw(x, hard), scores, weights) for hard in (True, False))
    assert hard == soft
    assert any(hard)


# Products, windows -----------------------------------------------------------------------------------------


def test_matmul_takes_a_vector_as_row_on_the_left_column_on_the_right():
    matrix = [[1.0, 2.0], [3.0, 4.0]]
    assert mg.matmul([1.0, 10.0], mg.tensor(matrix)).tolist() == [31, 42]
    assert mg.matmul(mg.tensor(matrix), [1.0, 10.0]).tolist() == [21, 43]
    assert mg.matmul(mg.tensor([1.0, 2.0]), mg.tensor([3.0, 4.0])).item() == 11
    assert gradient(lambda a: mg.matmul([1.0, 10.0], a), matrix) == [[1, 1], [10, 10]]


def test_the_gradient_of_an_einsum_is_an_einsum():
    a, b = (mg.tensor(np.ones(shape), requires_grad=True) for shape in ((2, 3), (3, 4)))
    with mg.record() as trace:
        mg.einsum("ij,jk->ik", a, b).sum().backward()
    formulas = [rule.text for rule in trace.rules.values() if rule.op == "einsum"]
    assert formulas == [
        "contribution = einsum(“ik,jk->ij”, upstream, parts[1])",
        "contribution = einsum(“ik,ij->jk”, upstream, parts[0])",
    ]


def test_unfold_and_fold_are_adjoint_to_each_other():
    rng = np.random.default_rng(0)
    x, windows = rng.normal(size=(2, 3, 5, 4)), {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 0)}
    columns = mg.unfold(mg.tensor(x), **windows).numpy()
    y = rng.normal(size=columns.shape)
    back = mg.fold(mg.tensor(y), output_size=(5, 4), **windows).numpy()
    assert np.sum(columns * y) == pytest.approx(np.sum(x * back))


def test_padding_never_wins_a_pool_and_the_first_of_several_does():
    image = -np.ones((1, 1, 2, 2))
    assert F.max_pool2d(mg.tensor(image), 2, padding=1).tolist() == [[[[-1, -1], [-1, -1]]]]
    assert gradient(lambda x: F.max_pool2d(x, 2), image) == [[[[1, 0], [0, 0]]]]


def test_the_mean_of_a_window_counts_its_padding_or_not():
    image = mg.tensor(np.full((1, 1, 2, 2), 4.0))
    assert F.avg_pool2d(image, 2, padding=1).tolist() == [[[[1, 1], [1, 1]]]]
    assert F.avg_pool2d(image, 2, padding=1, count_include_pad=False).tolist() == [[[[4, 4], [4, 4]]]]


# Networks --------------------------------------------------------------------------------------------------


def test_layer_norm_has_gradients_of_input_weight_and_bias():
    values = [[1.0, 3.0]], [2.0, 5.0], [0.0, 1.0]
    x, weight, bias = (mg.tensor(each, requires_grad=True) for each in values)
    mg.layer_norm(x, weight, bias, eps=0.0).backward([[1.0, 10.0]])
    assert weight.grad.tolist() == [-1, 10]
    assert bias.grad.tolist() == [1, 10]
    assert x.grad.tolist() == [[0, 0]]


@pytest.mark.parametrize("function", [mg.softmax, mg.log_softmax])
def test_softmax_is_finite_for_large_entries_and_minus_infinity(function):
    x = [[1000.0, 1000.0, -INF], [0.0, 0.0, -INF]]
    first, second = function(mg.tensor(x)).tolist()
    assert first == second
    assert np.isfinite(gradient(lambda x: function(x)[:, :2], x)).all()


def test_cross_entropy_takes_all_of_its_options():
    scores = mg.tensor([[1000.0, 1000.0], [0.0, 0.0]])
    classes, half = mg.tensor([0, 1]), math.log(2)
    assert F.cross_entropy(scores, classes).item() == pytest.approx(half)
    assert F.cross_entropy(scores, mg.tensor([[0.5, 0.5], [1.0, 0.0]])).item() == pytest.approx(half)
    assert F.cross_entropy(scores, classes, label_smoothing=0.1).item() == pytest.approx(half)
    assert F.cross_entropy(scores, mg.tensor([0, -100]), reduction="sum").item() == pytest.approx(half)
    weighed = F.cross_entropy(scores, classes, weight=mg.tensor([3.0, 1.0]), reduction="none")
    assert weighed.tolist() == pytest.approx([3 * half, half])


def test_mse_loss_takes_all_three_reductions():
    a, b = mg.tensor([1.0, 2.0]), mg.tensor([2.0, 4.0])
    assert [F.mse_loss(a, b, reduction=r).tolist() for r in ("mean", "sum", "none")] == [2.5, 5, [1, 4]]


def test_binary_cross_entropy_is_finite_for_large_scores():
    scores, answers = [1000.0, -1000.0, 0.0], mg.tensor([1.0, 0.0, 1.0])
    each = F.binary_cross_entropy_with_logits(mg.tensor(scores), answers, reduction="none")
    assert each.tolist() == pytest.approx([0, 0, math.log(2)])
    assert gradient(lambda x: mg.binary_cross_entropy_with_logits(x, answers), scores) == [0, 0, -0.5]


def test_binary_cross_entropy_of_a_sure_score_is_precise():
    right, wrong = math.log1p(math.exp(-20.0)), 20.0 + math.log1p(math.exp(-20.0))
    scores, targets = mg.tensor([20.0, -20.0, 20.0, -20.0], dtype="float32"), mg.tensor([1, 0, 0, 1], dtype="float32")
    losses = F.binary_cross_entropy_with_logits(scores, targets, reduction="none").numpy()
    np.testing.assert_allclose(losses, [right, right, wrong, wrong], rtol=1e-6)


def test_huber_loss_has_second_derivative_1_within_delta():
    loss = lambda x: F.huber_loss(x, np.zeros(4), reduction="sum", delta=2.0)
    assert mg.hessian(loss)(np.array([0.0, 1.5, -3.0, 5.0])).numpy().diagonal().tolist() == [1, 1, 0, 0]


def test_dropout_draws_its_mask_once_and_goes_back_by_the_same():
    x = mg.tensor(np.full(1000, 3.0), requires_grad=True)
    out = F.dropout(x, 0.25, rng=np.random.default_rng(1))
    out.sum().backward()
    assert set(out.tolist()) == {0.0, 4.0}
    np.testing.assert_allclose(x.grad.numpy() * 3, out.numpy())


def test_attention_applies_its_masks():
    query, key = mg.tensor([[0.0], [0.0]]), mg.tensor([[0.0], [0.0]])
    value = mg.tensor([[2.0], [4.0]])
    masks = {
        "no mask": ({}, [[3], [3]]),
        "causal": ({"is_causal": True}, [[2], [3]]),
        "boolean": ({"attn_mask": mg.tensor([[False, True], [True, True]])}, [[4], [3]]),
        "additive": ({"attn_mask": mg.tensor([[0.0, -INF], [math.log(3), 0.0]])}, [[2], [2.5]]),
        "nowhere": ({"attn_mask": mg.tensor([[False, False], [True, True]])}, [[0], [3]]),
    }
    for name, (mask, expected) in masks.items():
        found = F.scaled_dot_product_attention(query, key, value, **mask)
        np.testing.assert_allclose(found.numpy(), expected, err_msg=name)


def test_a_query_that_may_look_nowhere_sends_nothing_back():
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    F.scaled_dot_product_attention(x, x, x, attn_mask=mg.tensor([[False] * 2] * 2)).sum().backward()
    assert x.grad.tolist() == [[0, 0], [0, 0]]


def test_to_the_power_0_the_two_orders_of_a_second_derivative_part():
    def mix(base, exponent):
        orders = [mg.grad(mg.grad(mg.power, first), 1 - first) for first in (0, 1)]
        return [order(mg.tensor(base), mg.tensor(exponent)).item() for order in orders]

    assert mix(2.0, 0.0) == [1.0, 0.5]
    for base, exponent in [(2.0, -1.0), (0.5, 2.0), (1.0, 0.5), (3.0, 1.0), (0.0, 2.0)]:
        assert mix(base, exponent)[0] == pytest.approx(mix(base, exponent)[1])
    assert np.isfinite(mg.grad(lambda x: mg.power(-2 + 0j, x).real)(2.0).item())
