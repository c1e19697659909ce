"""Values against NumPy's own functions, and gradients by what must hold of them, for many shapes and axes."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import micrograd_plus as mg
from micrograd_plus.backends.shapes import QUANTILES

few = settings(max_examples=30, deadline=None, derandomize=True, database=None)
shares = st.floats(0, 1)
seeds = st.integers(0, 2**32 - 1)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
filled_shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)
long_shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
two_shapes = hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3, max_dims=3)
three_shapes = hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0, max_side=3, max_dims=3)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0])

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def draw_array(shape, seed):
    """Return numbers of both signs, not close to 0 and pairwise different."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape))


def with_specials(shape, seed):
    """Return numbers of both signs, with some NaN, infinite or 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.4, rng.choice(SPECIAL, shape), draw_array(shape, seed))


def same(ours, expected):
    """Check that shape, dtype and every entry are equal, up to rounding."""
    expected = np.asarray(expected)
    assert ours.shape == expected.shape
    assert ours.dtype == expected.dtype
    np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-12, atol=1e-12)


def must_be_adjoint(move, x, seed=7):
    """Check that A x · y equals x · Aᵀ y for a linear operation A and its gradient Aᵀ."""
    leaf = mg.tensor(x, requires_grad=True)
    out = move(leaf)
    y = draw_array(out.shape, seed)
    out.backward(y)
    assert leaf.grad.shape == x.shape
    np.testing.assert_allclose(np.sum(out.numpy() * y), np.sum(x * leaf.grad.numpy()), rtol=1e-10, atol=1e-10)


def outcome(function, *args, **kwargs):
    """Return the result of a call, or the type of its error."""
    try:
        return function(*args, **kwargs)
    except (ValueError, IndexError, TypeError) as error:
        return type(error)


def axes_of(shape):
    """Return a strategy for no axis, one, or several, counted from either end."""
    if not shape:
        return st.none()
    several = hnp.valid_tuple_axes(len(shape), min_size=1)
    return st.none() | st.integers(-len(shape), len(shape) - 1) | several


# Elementwise operations ------------------------------------------------------------------------------------

ONE = (
    "abs", "absolute", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil",
    "conj", "cos", "cosh", "exp", "expm1", "floor", "imag", "isfinite", "isinf", "isnan", "log", "log10",
    "log1p", "log2", "negative", "positive", "real", "reciprocal", "round", "sign", "sin", "sinh", "sqrt",
    "square", "tan", "tanh", "trunc",
)  # fmt: skip
TWO = (
    "add", "arctan2", "copysign", "divide", "equal", "fmod", "greater", "greater_equal", "hypot", "isclose",
    "less", "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum",
    "multiply", "not_equal", "power", "remainder", "subtract",
)  # fmt: skip


@pytest.mark.parametrize("name", ONE)
@few
@given(shape=shapes, seed=seeds)
def test_elementwise_functions_equal_numpy_also_for_nan(name, shape, seed):
    x = with_specials(shape, seed)
    same(getattr(mg, name)(mg.tensor(x)), getattr(np, name)(x))


@pytest.mark.parametrize("name", TWO)
@few
@given(broadcast=two_shapes, seed=seeds)
def test_a_function_of_two_broadcasts_as_numpys_does(name, broadcast, seed):
    a, b = (with_specials(shape, seed + i) for i, shape in enumerate(broadcast.input_shapes))
    same(getattr(mg, name)(mg.tensor(a), mg.tensor(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "arctan2", "logaddexp"])
@few
@given(broadcast=two_shapes, seed=seeds)
def test_a_broadcast_input_receives_the_sum_over_its_copies(name, broadcast, seed):
    """In the full shape, every copy has a separate gradient."""
    small = [draw_array(shape, seed + i) for i, shape in enumerate(broadcast.input_shapes)]
    whole = [np.broadcast_to(each, broadcast.result_shape) for each in small]
    weights = draw_array(broadcast.result_shape, seed + 2)
    loss = mg.grad(lambda a, b: mg.sum(getattr(mg, name)(a, b) * weights), (0, 1))
    for received, copies, shape in zip(loss(*small), loss(*whole), broadcast.input_shapes, strict=True):
        assert received.shape == shape
        extra = len(broadcast.result_shape) - len(shape)
        repeated = tuple(range(extra)) + tuple(
            extra + i for i, n in enumerate(shape) if n == 1 and broadcast.result_shape[extra + i] != 1
        )
        expected = copies.numpy().sum(axis=repeated).reshape(shape)
        np.testing.assert_allclose(received.numpy(), expected, rtol=1e-12, atol=1e-12)


@few
@given(broadcast=three_shapes, seed=seeds)
def test_where_and_clip_broadcast_three_as_numpys_do(broadcast, seed):
    a, b, c = (with_specials(shape, seed + i) for i, shape in enumerate(broadcast.input_shapes))
    same(mg.where(mg.tensor(a > 0), mg.tensor(b), mg.tensor(c)), np.where(a > 0, b, c))
    same(mg.clip(mg.tensor(a), mg.tensor(b), mg.tensor(c)), np.clip(a, b, c))


@few
@given(shape=filled_shapes, seed=seeds, decimals=st.integers(-1, 3))
def test_rounding_counts_decimals_as_numpy_does(shape, seed, decimals):
    x = 100 * draw_array(shape, seed)
    same(mg.round(mg.tensor(x), decimals), np.round(x, decimals))


# Reductions ------------------------------------------------------------------------------------------------

ONE_OF_MANY = ("sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "median", "count_nonzero")
REDUCTIONS = {
    **{name: getattr(np, name) for name in ONE_OF_MANY},
    "norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
    "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data(), shape=filled_shapes, seed=seeds, keepdims=st.booleans())
def test_a_reduction_takes_numpys_axes_and_gives_its_values(name, data, shape, seed, keepdims):
    x, axis = draw_array(shape, seed), data.draw(axes_of(shape))
    ours = getattr(mg, name)(mg.tensor(x), axis=axis, keepdims=keepdims)
    same(ours, REDUCTIONS[name](x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", sorted(REDUCTIONS.keys() - {"any", "all", "count_nonzero"}))
@few
@given(data=st.data(), shape=filled_shapes, seed=seeds, keepdims=st.booleans())
def test_the_gradient_of_a_reduction_equals_differences(name, data, shape, seed, keepdims):
    x, axis = draw_array(shape, seed), data.draw(axes_of(shape))
    assert mg.gradcheck(lambda x: getattr(mg, name)(x, axis=axis, keepdims=keepdims), [x])


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "var", "std", "any", "all"])
@few
@given(data=st.data(), shape=shapes, seed=seeds)
def test_a_reduction_of_no_entries_does_what_numpy_does(name, data, shape, seed):
    x, axis = with_specials(shape, seed), data.draw(axes_of(shape))
    expected = outcome(getattr(np, name), x, axis=axis)
    ours = outcome(getattr(mg, name), mg.tensor(x), axis=axis)
    if isinstance(expected, type):
        assert ours is expected
    else:
        same(ours, expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@few
@given(data=st.data(), shape=filled_shapes, seed=seeds, keepdims=st.booleans())
def test_the_place_of_an_extreme_is_where_numpy_finds_it(name, data, shape, seed, keepdims):
    x = np.round(draw_array(shape, seed))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if shape else None
    ours = getattr(mg, name)(mg.tensor(x), axis=axis, keepdims=keepdims)
    same(ours, getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["var", "std"])
@few
@given(shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4), seed=seeds)
def test_ddof_changes_the_divisor_of_var_and_std(name, shape, seed):
    x = draw_array(shape, seed)
    same(getattr(mg, name)(mg.tensor(x), axis=-1, ddof=1), getattr(np, name)(x, axis=-1, ddof=1))
    assert mg.gradcheck(lambda x: getattr(mg, name)(x, axis=-1, ddof=1), [x])


# Along an axis ---------------------------------------------------------------------------------------------


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_scans_and_sorting_are_numpys_along_any_axis(data, shape, seed):
    x, axis = draw_array(shape, seed), data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    t = mg.tensor(x)
    same(mg.cumsum(t, axis), np.cumsum(x, axis))
    same(mg.cumprod(t, axis), np.cumprod(x, axis))
    same(mg.sort(t, axis=axis), np.sort(x, axis=axis))
    same(mg.argsort(t, axis=axis), np.argsort(x, axis=axis, kind="stable"))
    must_be_adjoint(lambda x: mg.cumsum(x, axis), x)
    must_be_adjoint(lambda x: mg.sort(x, axis=axis), x)


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_cummax_and_topk_work_along_any_axis(data, shape, seed):
    x, axis = draw_array(shape, seed), data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(0, shape[axis]))
    same(mg.cummax(mg.tensor(x), axis=axis), np.maximum.accumulate(x, axis))
    values, places = mg.topk(mg.tensor(x), k, axis)
    same(values, np.flip(np.sort(x, axis), axis).take(range(k), axis))
    same(values, np.take_along_axis(x, places.numpy(), axis))
    must_be_adjoint(lambda x: mg.topk(x, k, axis)[0], x)


@few
@given(data=st.data(), shape=filled_shapes, seed=seeds, keepdims=st.booleans(), q=shares | st.lists(shares, max_size=3))
def test_a_quantile_is_numpys_over_any_axes(data, shape, seed, keepdims, q):
    x, axis = draw_array(shape, seed), data.draw(axes_of(shape))
    same(mg.quantile(mg.tensor(x), q, axis, keepdims=keepdims), np.quantile(x, q, axis, keepdims=keepdims))
    must_be_adjoint(lambda x: mg.quantile(x, q, axis, keepdims=keepdims), x)


@pytest.mark.parametrize("method", QUANTILES)
@few
@given(length=st.integers(1, 9), seed=seeds, share=shares | st.fractions(0, 1, max_denominator=12).map(float))
def test_a_quantile_by_another_method_is_numpys(method, length, seed, share):
    x = draw_array(length, seed)
    same(mg.quantile(mg.tensor(x), share, method=method), np.quantile(x, share, method=method))
    must_be_adjoint(lambda x: mg.quantile(x, share, method=method), x)


@few
@given(data=st.data(), shape=filled_shapes, seed=seeds)
def test_quantiles_of_nan_and_of_infinities(data, shape, seed):
    x, axis = with_specials(shape, seed), data.draw(axes_of(shape))
    whole = np.where(np.isinf(x), np.sign(x) * 1e9, x)  # NumPy loses a finite quantile beside infinity: inf * 0
    for q in (0.0, 1.0, [0.5, 0.0]):
        expected = np.quantile(whole, q, axis, method="lower")
        expected = np.where(abs(expected) == 1e9, expected * np.inf, expected)
        same(mg.quantile(mg.tensor(x), q, axis, method="lower"), expected)


# Shape and layout ------------------------------------------------------------------------------------------


def agree(name, x, *args, **kwargs):
    """Check that a call equals NumPy's, and that its gradient is the adjoint."""
    same(getattr(mg, name)(mg.tensor(x), *args, **kwargs), getattr(np, name)(x, *args, **kwargs))
    must_be_adjoint(lambda x: getattr(mg, name)(x, *args, **kwargs), x)


@few
@given(data=st.data(), shape=shapes, seed=seeds)
def test_axes_are_moved_added_and_left_out_as_numpy_does(data, shape, seed):
    x, ndim = draw_array(shape, seed), len(shape)
    agree("ravel", x)
    agree("squeeze", x)
    agree("transpose", x)
    agree("transpose", x, tuple(data.draw(st.permutations(range(ndim)))))
    agree("expand_dims", x, data.draw(st.integers(-ndim - 1, ndim)))
    agree("expand_dims", x, data.draw(hnp.valid_tuple_axes(ndim + 2, min_size=2, max_size=2)))
    agree("reshape", x, tuple(data.draw(st.permutations([*shape, 1]))))
    agree("broadcast_to", x, (*data.draw(filled_shapes), *shape))
    agree("ascontiguousarray", x)
    if ndim:
        one, other = (data.draw(st.integers(-ndim, ndim - 1)) for _ in range(2))
        agree("swapaxes", x, one, other)
        agree("moveaxis", x, one, other)
        agree("flip", x, data.draw(axes_of(shape)))
        agree("roll", x, data.draw(st.integers(-5, 5)), one)


@few
@given(data=st.data(), shape=filled_shapes, seed=seeds)
def test_entries_are_repeated_as_numpy_does(data, shape, seed):
    x, ndim = draw_array(shape, seed), len(shape)
    agree("tile", x, data.draw(st.integers(0, 3)))
    agree("tile", x, tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))))
    agree("repeat", x, data.draw(st.integers(0, 3)))
    if ndim:
        axis = data.draw(st.integers(-ndim, ndim - 1))
        times = data.draw(st.lists(st.integers(0, 3), min_size=shape[axis], max_size=shape[axis]))
        agree("repeat", x, tuple(times), axis)


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_pad_equals_numpy(data, shape, seed):
    x = draw_array(shape, seed)
    one_width = st.integers(0, 2)
    pair = st.tuples(one_width, one_width)
    widths = data.draw(one_width | pair | st.tuples(*[pair for _ in shape]))
    for mode in ("constant", "edge", "reflect", "wrap"):
        agree("pad", x, widths, mode)
    same(mg.pad(mg.tensor(x), widths, constant_values=2.5), np.pad(x, widths, constant_values=2.5))


@few
@given(data=st.data(), shape=hnp.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=4), seed=seeds)
def test_triangles_and_diagonals_equal_numpy(data, shape, seed):
    x, k = draw_array(shape, seed), data.draw(st.integers(-4, 4))
    agree("tril", x, k)
    agree("triu", x, k)
    first, second = data.draw(st.permutations(range(len(shape))))[:2]
    agree("diagonal", x, k, first, second)
    agree("diag", x.reshape(shape[0], -1), k)
    agree("diag", x.ravel()[:3], k)


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_parts_are_joined_and_cut_as_numpy_does(data, shape, seed):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    parts = [draw_array(shape, seed + i) for i in range(data.draw(st.integers(1, 3)))]
    for ours, theirs in ((mg.concatenate, np.concatenate), (mg.stack, np.stack)):
        same(ours([mg.tensor(part) for part in parts], axis), theirs(parts, axis))
        must_be_adjoint(lambda x, ours=ours: ours([x, np.zeros(shape), x], axis), parts[0])
    same(mg.concatenate([mg.tensor(part) for part in parts], axis=None), np.concatenate(parts, axis=None))
    x = np.concatenate(parts, axis)
    places = tuple(sorted(data.draw(st.lists(st.integers(0, x.shape[axis]), max_size=3))))
    for ours, expected in zip(mg.split(mg.tensor(x), places, axis), np.split(x, places, axis), strict=True):
        same(ours, expected)
    for ours, expected in zip(mg.unstack(mg.tensor(x), axis=axis), np.unstack(x, axis=axis), strict=True):
        same(ours, expected)
    must_be_adjoint(lambda x: mg.split(x, places, axis)[-1], x)
    must_be_adjoint(lambda x: mg.unstack(x, axis=axis)[0], x)


# Indices ---------------------------------------------------------------------------------------------------


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_indexing_equals_numpy(data, shape, seed):
    x = draw_array(shape, seed)
    index = data.draw(
        hnp.basic_indices(shape, allow_newaxis=True, max_dims=5)
        | hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=4))
        | hnp.arrays(bool, shape)
        | st.just([])
    )
    same(mg.tensor(x)[index], x[index])
    must_be_adjoint(lambda x: x[index], x)


@few
@given(data=st.data(), shape=long_shapes, seed=seeds)
def test_take_and_scatter_add_work_along_any_axis(data, shape, seed):
    x, axis = draw_array(shape, seed), data.draw(st.integers(-len(shape), len(shape) - 1))
    either_end = st.integers(-shape[axis], shape[axis] - 1)
    numbers = data.draw(hnp.arrays(int, st.integers(0, 4), elements=either_end))
    agree("take", x, numbers, axis)
    count = data.draw(st.integers(0, 3))
    along = tuple(count if i == axis % x.ndim else n for i, n in enumerate(shape))
    places = data.draw(hnp.arrays(int, along, elements=st.integers(0, shape[axis] - 1)))
    agree("take_along_axis", x, places, axis)
    added, expected = draw_array(along, seed + 1), x.copy()
    for place in np.ndindex(along):
        where = list(place)
        where[axis] = places[place]
        expected[tuple(where)] += added[place]
    same(mg.scatter_add(mg.tensor(x), axis, mg.tensor(places), mg.tensor(added)), expected)
    must_be_adjoint(lambda src: mg.scatter_add(np.zeros(shape), axis, places, src), added)


@few
@given(data=st.data(), shape=filled_shapes, seed=seeds)
def test_axis_none_flattens_the_input(data, shape, seed):
    x = draw_array(shape, seed)
    of_numbers = hnp.array_shapes(max_dims=2, max_side=3)
    numbers = data.draw(hnp.arrays(int, of_numbers, elements=st.integers(0, x.size - 1)))
    agree("take", x, numbers)
    agree("take_along_axis", x, numbers.ravel(), None)


# Products --------------------------------------------------------------------------------------------------


@few
@given(
    broadcast=hnp.mutually_broadcastable_shapes(
        signature="(m?,n),(n,p?)->(m?,p?)", max_dims=2, min_side=0, max_side=3
    ),
    seed=seeds,
)
def test_matmul_broadcasts_batches_of_vectors_and_matrices(broadcast, seed):
    a, b = (draw_array(shape, seed + i) for i, shape in enumerate(broadcast.input_shapes))
    same(mg.matmul(mg.tensor(a), mg.tensor(b)), np.matmul(a, b))
    must_be_adjoint(lambda a: mg.matmul(a, b), a)
    must_be_adjoint(lambda b: mg.matmul(a, b), b)


@few
@given(data=st.data(), seed=seeds, sizes=st.tuples(*[st.integers(1, 3)] * 4))
def test_sums_over_several_axes_of_two_are_numpys(data, seed, sizes):
    i, j, k, m = sizes
    a, b = draw_array((i, j, k), seed), draw_array((k, j, m), seed + 1)
    axes = data.draw(st.sampled_from([([1, 2], [1, 0]), ((2, -2), (0, 1)), (2, 0), ([-1], [0]), 0]))
    same(mg.tensordot(mg.tensor(a), mg.tensor(b), axes), np.tensordot(a, b, axes))
    must_be_adjoint(lambda a: mg.tensordot(a, b, axes), a)
    must_be_adjoint(lambda b: mg.tensordot(a, b, axes), b)
    same(mg.outer(mg.tensor(a), mg.tensor(b)), np.outer(a, b))
    same(mg.inner(mg.tensor(a), mg.tensor(a)), np.inner(a, a))
    same(mg.dot(mg.tensor(a), mg.tensor(b.transpose(1, 0, 2))), np.dot(a, b.transpose(1, 0, 2)))


@pytest.mark.parametrize("subscripts", [
    "ij,jk->ik", "ij,jk", "ij,ij->", "ij,ij->i", "i,j->ji", "...i,...i->...", "...ij,...jk", "ii->i", "ii",
    "iij->j", "ij->", "i,i,i->i", "ij,kj,k->i", "...->...",
])  # fmt: skip
@few
@given(seed=seeds, sizes=st.tuples(*[st.integers(1, 3)] * 3), leading=st.booleans())
def test_an_einsum_is_numpys_and_its_gradients_are_adjoint(subscripts, seed, sizes, leading):
    lengths = dict(zip("ijk", sizes, strict=True))
    terms = subscripts.split("->")[0].split(",")
    operands = []
    for place, term in enumerate(terms):
        dots = (2,) if "..." in term and (leading or place == 0) else ()
        shape = (*dots, *(lengths[letter] for letter in term.replace("...", "")))
        operands.append(draw_array(shape, seed + place))
    same(mg.einsum(subscripts, *(mg.tensor(each) for each in operands)), np.einsum(subscripts, *operands))
    for place, operand in enumerate(operands):
        others = operands[:place], operands[place + 1 :]
        must_be_adjoint(lambda x, others=others: mg.einsum(subscripts, *others[0], x, *others[1]), operand)
