"""Functions composed of operations, under NumPy's names: values match NumPy's, gradients match differences."""

import numpy as np
import pytest

import micrograd_plus as mg

DRAW = np.random.default_rng(12)


def real(*shape):
    return DRAW.uniform(0.5, 2.0, shape) * DRAW.choice([-1.0, 1.0], shape)


def several(*shapes):
    return [real(*shape) for shape in shapes]


JOINED = {
    "vstack": [((3,), (3,)), ((2, 3), (4, 3)), ((3,), (2, 3))],
    "hstack": [((3,), (2,)), ((2, 1), (2, 3)), ((), (3,))],
    "dstack": [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3, 1), (2, 3, 2))],
    "column_stack": [((3,), (3,)), ((3, 2), (3,))],
}
TAKEN_APART = [
    ("array_split", (7, 2), (3,), {}), ("array_split", (2, 7), ((1, 4),), {"axis": 1}), ("array_split", (3,), (5,), {}),
    ("array_split", (4, 5), (2,), {"axis": -1}), ("hsplit", (2, 6), (3,), {}), ("hsplit", (6,), ((1, 2),), {}),
    ("vsplit", (4, 2), (2,), {}), ("dsplit", (2, 3, 4), (2,), {}), ("gradient", (4, 5), (), {}),
    ("gradient", (4, 5), (0.7, 2.0), {"edge_order": 2}), ("gradient", (4, 5), (0.5,), {}),
    ("gradient", (2, 3, 4), (), {"axis": (0, 2)}),
]  # fmt: skip
ONE = [
    *((name, shape, (), {}) for name in ("atleast_1d", "atleast_2d", "atleast_3d") for shape in
      ((), (3,), (2, 3), (2, 3, 2), (2, 1, 2, 2))),
    ("flipud", (3, 2), (), {}), ("fliplr", (3, 2), (), {}), ("flipud", (3,), (), {}),
    *(("rot90", (2, 3, 2), (k,), {"axes": axes}) for k in (-1, 0, 1, 2, 3, 5) for axes in ((0, 1), (1, 0), (2, 0))),
    *(("rollaxis", (2, 3, 4), at, {}) for at in ((2,), (0, 3), (-1, 1), (1, -1), (1, 1), (1, 2))),
    ("diff", (5,), (), {}), ("diff", (4, 5), (2,), {"axis": 0}), ("diff", (3, 4), (0,), {}), ("diff", (3,), (4,), {}),
    ("diff", (3,), (0,), {"prepend": 0.5}),
    ("diff", (2, 3), (), {"prepend": 0.5, "append": 2.0}), ("diff", (3, 2), (), {"axis": 0, "prepend": real(2, 2)}),
    ("gradient", (5,), (), {}), ("gradient", (2,), (), {}), ("gradient", (5,), (0.7,), {"edge_order": 2}),
    ("gradient", (5,), (np.array([0.0, 1.0, 1.5, 3.0, 3.2]),), {}),
    ("gradient", (2, 5), (np.array([0.0, 1.0, 1.5, 3.0, 3.2]),), {"edge_order": 2, "axis": 1}),
    ("average", (2, 3), (), {}), ("average", (2, 3), (0,), {}),
    ("average", (2, 3), (1,), {"weights": np.array([1.0, 2.0, 0.5])}),
    ("average", (3, 2), (0,), {"weights": np.array([1.0, 2.0, 0.5]), "keepdims": True}),
    ("average", (2, 3), (), {"weights": np.arange(6.0).reshape(2, 3)}), ("ptp", (2, 3), (), {}),
    ("ptp", (2, 3), (1,), {}), ("partition", (7,), (3,), {}), ("partition", (3, 4), (1,), {"axis": 0}),
    ("partition", (3, 4), (5,), {"axis": None}), ("fabs", (2, 3), (), {}), ("around", (2, 3), (), {"decimals": 1}),
    ("fix", (4,), (), {}), ("amax", (2, 3), (1,), {}),
    ("amin", (2, 3), (), {}), ("conjugate", (3,), (), {}), ("radians", (3,), (), {}), ("degrees", (3,), (), {}),
    ("matrix_transpose", (2, 3, 4), (), {}), ("append", (2, 3), (np.array([1.0, 2.0]),), {}),
    ("append", (2, 3), (np.ones((1, 3)),), {"axis": 0}), ("trace", (3, 4), (), {}), ("real_if_close", (3,), (), {}),
]  # fmt: skip
TWO = [
    ("cross", (2, 3), (2, 3), {}), ("cross", (3, 2), (3, 2), {"axis": 0}), ("cross", (3,), (4, 3), {}),
    ("cross", (3, 2), (2, 3), {"axisa": 0, "axisc": 0}),
    ("kron", (2, 3), (3, 2), {}), ("kron", (2,), (3,), {}), ("kron", (2,), (2, 3), {}), ("kron", (2, 1, 2), (3, 2), {}),
    ("mod", (3,), (3,), {}), ("true_divide", (2, 3), (3,), {}), ("append", (3,), (2,), {}),
]  # fmt: skip


def weigh(out):
    """Outputs, weigh by numbers of both signs, and added up."""
    total = 0.0
    for place, part in enumerate(out if isinstance(out, tuple) else (out,)):
        rng = np.random.default_rng(place)
        total = total + (part * (rng.uniform(0.5, 1.5, part.shape) * rng.choice([-1.0, 1.0], part.shape))).sum()
    return total


def agree(ours, theirs):
    """Check that results are equal, part by part."""
    parts = ours if isinstance(ours, tuple) else (ours,)
    others = theirs if isinstance(theirs, (tuple, list)) else (theirs,)
    assert len(parts) == len(others)
    for part, other in zip(parts, others, strict=True):
        assert part.shape == np.shape(other)
        np.testing.assert_allclose(part.numpy(), other, rtol=1e-13, atol=1e-14)


def has_the_right_gradients(call, *values):
    """Check first and second derivatives and forward mode against differences."""

    def f(*given):
        return weigh(call(*given))

    assert mg.gradcheck(f, list(values))
    slopes = mg.grad(f, tuple(range(len(values))))
    assert mg.gradcheck(lambda *given: weigh(tuple(x * x for x in slopes(*given))), [*values], rtol=1e-4, atol=1e-6)


def spread(*shape):
    """Return numbers that do not tie and are not close to an integer."""
    count = int(np.prod(shape))
    return (DRAW.permutation(count) - count / 2 + DRAW.uniform(0.2, 0.4, count)).reshape(shape)


@pytest.mark.parametrize(("name", "shape", "args", "options"), [*ONE, *TAKEN_APART])
def test_of_one_array(name, shape, args, options):
    x = spread(*shape)
    function = getattr(mg, name)
    agree(function(mg.tensor(x), *args, **options), getattr(np, name)(x, *args, **options))
    agree(function(x.tolist(), *args, **options), getattr(np, name)(x, *args, **options))
    if name not in ("around", "fix") and x.size > 1:
        has_the_right_gradients(lambda a: function(a, *args, **options), x)


@pytest.mark.parametrize(("name", "first", "second", "options"), TWO)
def test_of_two_arrays(name, first, second, options):
    a, b = real(*first), real(*second)
    function = getattr(mg, name)
    agree(function(mg.tensor(a), b, **options), getattr(np, name)(a, b, **options))
    if name != "mod":
        has_the_right_gradients(lambda x, y: function(x, y, **options), a, b)


@pytest.mark.parametrize(("name", "shapes"), [(name, shapes) for name, many in JOINED.items() for shapes in many])
def test_of_a_list_of_arrays(name, shapes):
    parts = several(*shapes)
    function = getattr(mg, name)
    agree(function(parts), getattr(np, name)(parts))
    has_the_right_gradients(lambda *given: function(list(given)), *parts)


def test_several_arrays_at_once_come_back_as_a_tuple():
    assert [x.shape for x in mg.atleast_2d(1.0, [1.0, 2.0])] == [(1, 1), (1, 2)]


def test_average_returns_the_sum_of_the_weights_on_request():
    x, weights = real(2, 3), np.array([1.0, 2.0, 0.5])
    for options in ({}, {"axis": 0}, {"axis": 1, "weights": weights}):
        agree(mg.average(x, returned=True, **options), np.average(x, returned=True, **options))
    has_the_right_gradients(lambda a, w: mg.average(a, axis=1, weights=w), x, weights)


def test_vectors_in_the_plane_have_one_number_as_their_product():
    a, b = real(4, 2), real(4, 2)
    assert mg.cross(a, b).tolist() == (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).tolist()
    c = real(4, 3)
    agree(mg.cross(a, c), np.cross(np.column_stack([a, np.zeros(4)]), c))
    has_the_right_gradients(mg.cross, a, c)


def test_select_takes_the_first_choice_whose_condition_holds():
    x = np.array([-2.0, 0.5, 1.5, 4.0])
    conditions, choices = [x < 0, x < 1, x < 2], [x, x * x, x**3]
    agree(mg.select(conditions, choices, -7.0), np.select(conditions, choices, -7.0))
    has_the_right_gradients(lambda a: mg.select([a < 0, a < 1], [a * a, a**3], 2 * a), x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fmax_and_fmin_skip_nan_and_nan_to_num_replaces_it():
    nan, inf = np.nan, np.inf
    a, b = np.array([1.0, nan, 3.0, nan, 2.0]), np.array([nan, 2.0, 1.0, nan, 2.0])
    for ours, theirs in ((mg.fmax, np.fmax), (mg.fmin, np.fmin)):
        np.testing.assert_array_equal(ours(a, b).numpy(), theirs(a, b))
    assert [x.tolist() for x in mg.grad(lambda a, b: mg.fmax(a, b)[:3].sum(), (0, 1))(a, b)] == [
        [1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]]  # fmt: skip
    assert mg.grad(lambda a: mg.fmin(a, 2.0))(2.0).item() == 0.5
    x = np.array([1.0, nan, inf, -inf])
    for options in ({}, {"nan": 7.0, "posinf": 8.0, "neginf": 9.0}):
        np.testing.assert_array_equal(mg.nan_to_num(x, **options).numpy(), np.nan_to_num(x, **options))
    assert mg.grad(lambda a: (mg.nan_to_num(a) * [2.0, 3.0, 4.0, 5.0]).sum())(x).tolist() == [2.0, 0.0, 0.0, 0.0]


def test_the_slope_of_sinc_keeps_its_digits_near_nought():
    for x in (1e-9, 1e-4, 0.02, 0.0799, 0.0801, 0.2):
        exact = -np.pi**2 * x / 3 * (1 - (np.pi * x) ** 2 / 10 * (1 - (np.pi * x) ** 2 / 28 * (
            1 - (np.pi * x) ** 2 / 54 * (1 - (np.pi * x) ** 2 / 88 * (1 - (np.pi * x) ** 2 / 130)))))  # fmt: skip
        assert mg.grad(mg.sinc)(x).item() == pytest.approx(exact, rel=3e-13)
    assert mg.grad(mg.sinc)(0.0).item() == 0.0
    assert mg.grad(mg.grad(mg.sinc))(0.0).item() == pytest.approx(-np.pi**2 / 3)


def test_questions_have_numpys_answers():
    x = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert mg.allclose(x, x + 1e-12) is True
    assert mg.allclose(x, x + 1.0) is False
    assert mg.array_equal(x, x.copy()) is True
    assert mg.array_equal(x, x[0]) is False
    assert mg.count_nonzero(x).item() == 2
    assert mg.count_nonzero(x, axis=1, keepdims=True).tolist() == [[1], [1]]
    np.testing.assert_array_equal(mg.argwhere(x).numpy(), np.argwhere(x))
    assert mg.tensor(x)[mg.nonzero(x)].tolist() == [2.0, 3.0]
    order = mg.argpartition(np.array([7.0, 1.0, 5.0, 3.0]), 2).numpy()
    np.testing.assert_array_equal(order, np.argpartition(np.array([7.0, 1.0, 5.0, 3.0]), 2))
    assert mg.real_if_close(np.array([1 + 1e-17j])).dtype == np.float64
    assert mg.real_if_close(np.array([1 + 1e-3j])).dtype == np.complex128


def test_floor_division_moves_in_steps_and_sends_nothing():
    assert mg.floor_divide([7, -7], 2).tolist() == [3, -4]
    assert [x.item() for x in mg.grad(mg.floor_divide, (0, 1))(7.3, 2.1)] == [0.0, 0.0]
    assert mg.grad(lambda x: x % 2.0 + np.floor_divide(x, 2.0))(5.5).item() == 1.0


@pytest.mark.parametrize(("call", "error", "said"), [
    (lambda: mg.vsplit([1.0, 2.0], 2), ValueError, r"vsplit.*at least 2 axes"),
    (lambda: mg.dsplit([[1.0]], 1), ValueError, r"dsplit.*at least 3 axes"),
    (lambda: mg.fliplr([1.0]), ValueError, r"fliplr.*at least 2 axes"),
    (lambda: mg.array_split([1.0], 0), ValueError, "the number of parts must be at least 1"),
    (lambda: mg.array_split([1.0], 2, 3), IndexError, "axis 3 is out of range"),
    (lambda: mg.array_split([1.0], 1.5), TypeError, "array_split"),
    (lambda: mg.rot90([[1.0]], 1, (0, 0)), ValueError, "two different axes"),
    (lambda: mg.rot90([[1.0]], 1, (0, 5)), IndexError, "out of range"),
    (lambda: mg.rot90([[1.0]], 1.5), TypeError, "rot90"),
    (lambda: mg.diff(1.0), ValueError, "at least 1 axes"),
    (lambda: mg.diff([1.0, 2.0], -1), ValueError, "n must not be negative"),
    (lambda: mg.diff([1.0, 2.0], axis=4), IndexError, "axis 4 is out of range"),
    (lambda: mg.gradient([1.0]), ValueError, "slopes with edge_order=1 want 2"),
    (lambda: mg.gradient([1.0, 2.0], edge_order=3), ValueError, "edge_order must be 1 or 2"),
    (lambda: mg.gradient([1.0, 2.0], 1.0, 2.0), TypeError, "2 spacings were given for 1 axes"),
    (lambda: mg.gradient([1.0, 2.0], [1.0, 2.0, 3.0]), ValueError, "has 2 places"),
    (lambda: mg.cross([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0]), ValueError, "two or three entries"),
    (lambda: mg.average([1.0, 2.0], weights=[1.0, -1.0]), ValueError, "add up to 0"),
    (lambda: mg.average([[1.0, 2.0]], axis=0, weights=[1.0, 1.0]), ValueError, "weights must have the shape"),
    (lambda: mg.select([], []), ValueError, "0 conditions and 0 choices"),
    (lambda: mg.rollaxis([1.0], 3), IndexError, "out of range"),
    (lambda: mg.fabs([1 + 1j]), TypeError, "fabs takes real numbers"),
    (lambda: mg.nonzero(3.0), ValueError, "no axes"),
])  # fmt: skip
def test_invalid_calls_raise_errors_that_explain(call, error, said):
    with pytest.raises(error, match=said):
        call()
