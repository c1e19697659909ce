"""Tensors from a shape, from numbers and from lists of tensors; constants and dtypes under NumPy's names."""

import numpy as np
import pytest

import micrograd_plus as mg


def same(ours, theirs):
    """Check that entries, shape and dtype are equal."""
    assert isinstance(ours, mg.Tensor)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(ours.numpy(), theirs)


CALLS = [
    ("zeros", (3,)), ("zeros", ((2, 3),)), ("zeros", ((),)), ("zeros", ((2, 0), int)), ("ones", ((2, 3), "float32")),
    ("ones", ([4, 1],)), ("full", ((2, 3), 7)), ("full", (3, 2.5)), ("full", ((2, 3), [1.0, 2.0, 3.0])),
    ("full", ((2,), True)), ("full", ((2,), 1 + 2j)), ("eye", (3,)), ("eye", (2, 4, 1)), ("eye", (3, None, -1, int)),
    ("identity", (3,)), ("arange", (5,)), ("arange", (2, 9, 3)), ("arange", (1.0, 2.0, 0.25)), ("arange", (5, 0, -2)),
    ("arange", (0, 3, 1, "float32")), ("linspace", (0, 1, 5)), ("linspace", (2.0, 3.0, 4, False)),
    ("linspace", ([0.0, 1.0], 3.0, 3)), ("linspace", (0, 1)), ("array", (3,)), ("array", ([[1, 2], [3, 4]],)),
    ("array", ([1, 2.5], "float32")), ("asarray", (np.arange(3),)), ("zeros_like", ([[1, 2]],)),
    ("ones_like", (np.ones((2, 3), "float32"),)), ("ones_like", (np.ones(2, int), float)),
    ("full_like", ([1.0, 2.0], 3)),
    ("full_like", (np.array([1, 2]), 3.7)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), CALLS)
def test_constructors_agree_with_numpy(name, given):
    same(getattr(mg, name)(*given), getattr(np, name)(*given))


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_a_shape_can_be_given_as_separate_lengths(name):
    for made in (getattr(mg, name)(2, 3), getattr(mg, name)((2, 3)), getattr(mg, name)(2, 3, dtype=float)):
        assert (made.shape, made.dtype, made.requires_grad) == ((2, 3), np.float64, False)
    assert getattr(mg, name)(2, 3, int).dtype == np.int64
    assert getattr(mg, name)(mg.tensor([[1.0, 2.0]]).shape).shape == (1, 2)


def test_empty_returns_zeros():
    assert mg.empty(3).tolist() == mg.empty_like([1.0, 2.0, 3.0]).tolist() == [0.0, 0.0, 0.0]


LEAVES = {
    "zeros": (2,), "ones": (2,), "empty": (2,), "eye": (2,), "identity": (2,), "full": (2, 1.5), "arange": (2.0,),
    "linspace": (0, 1, 3), "array": ([1.0, 2.0],), "zeros_like": ([1.0],), "ones_like": ([1.0],),
    "empty_like": ([1.0],), "full_like": ([1.0], 2.0), "rand": (2,), "randn": (2,),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAVES)
def test_constructors_make_leaves_with_requires_grad(name):
    x = getattr(mg, name)(*LEAVES[name], requires_grad=True)
    assert x.is_leaf
    (x * x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy())
    assert getattr(mg, name)(*LEAVES[name], dtype="float32").dtype == np.float32


def test_zeros_like_takes_the_dtype_without_the_graph():
    x = mg.tensor([[1.0, 2.0]], dtype="float32", requires_grad=True)
    for made in (mg.zeros_like(x), mg.ones_like(x * 2), mg.full_like(x, 3), mg.empty_like(x)):
        assert (made.shape, made.dtype, made.requires_grad) == ((1, 2), np.float32, False)


def test_array_of_tensors_passes_gradients_to_each():
    x, y = mg.tensor(3.0, requires_grad=True), mg.tensor([1.0, 2.0], requires_grad=True)
    table = mg.array([[x, x * x, 1.0], mg.concatenate([y, [5.0]])])
    assert table.tolist() == [[3.0, 9.0, 1.0], [1.0, 2.0, 5.0]]
    (table * np.array([[1.0, 10.0, 100.0], [2.0, 3.0, 4.0]])).sum().backward()
    assert (x.grad.item(), y.grad.tolist()) == (61.0, [2.0, 3.0])


def test_full_keeps_the_graph_of_its_value():
    assert mg.gradcheck(lambda a, b: (mg.linspace(a, b, 5) ** 3).sum(), [0.5, 2.0])
    assert mg.gradcheck(lambda a: (mg.linspace(a, 3.0, 4, endpoint=False) ** 3).sum(), [np.array([0.5, 2.0])])
    assert mg.gradcheck(lambda a: (mg.full((2, 3), a) * [[0.0], [1.0]]).sum(), [np.array([0.5, 2.0, 1.0])])
    assert mg.gradcheck(lambda a: (mg.full_like([1.0, 2.0], a) ** 2).sum(), [1.5])
    assert mg.gradcheck(lambda a: (mg.array(a) ** 2).sum(), [np.array([1.5, 2.0])])


def test_array_copies_and_asarray_returns_tensors_unchanged():
    values = np.array([1.0, 2.0])
    made, numpys = mg.array(values), mg.from_numpy(values)
    values[0] = 9.0
    assert made.tolist() == numpys.tolist() == [1.0, 2.0]
    x = mg.tensor([1.0])
    assert mg.asarray(x) is x
    assert mg.array(x) is not x
    assert mg.asarray(x, dtype="float32").dtype == np.float32
    assert mg.array(mg.tensor([True, False])).tolist() == [True, False]


@pytest.mark.parametrize(("call", "error", "said"), [
    (lambda: mg.zeros(2.5), TypeError, r"zeros\(.*integer"),
    (lambda: mg.zeros(-1), ValueError, "a length must be at least 0"),
    (lambda: mg.full((2, 3), [1.0, 2.0]), ValueError, r"full\(.*broadcast"),
    (lambda: mg.ones(2, dtype="no such"), TypeError, "no such"),
    (lambda: mg.ones(2, int, dtype=float), TypeError, "the dtype was given twice"),
    (lambda: mg.ones(2, dtype=int, requires_grad=True), TypeError, "cannot have a gradient"),
    (lambda: mg.eye(2.5), TypeError, "integer"),
    (lambda: mg.arange(1, 2, 0), ValueError, "the step is not 0"),
    (lambda: mg.array([[1.0], [2.0, 3.0]]), ValueError, "same length"),
    (lambda: mg.array(["a"]), TypeError, "expected numbers"),
    (lambda: mg.zeros(2, device="moon"), ValueError, "there is no device 'moon'"),
    (lambda: mg.from_numpy([1.0]), TypeError, "expected a NumPy array, got list"),
    (lambda: mg.randn(2.5), TypeError, "a length must be a whole number"),
    (lambda: mg.rand(-2), ValueError, "a length must be a whole number of at least 0"),
    (lambda: mg.randint(3, (2,), 4), TypeError, "the size was given twice"),
    (lambda: mg.random.bernoulli(1.5), ValueError, "p is a probability"),
])  # fmt: skip
def test_constructors_explain_invalid_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_rand_and_randn_use_the_seeded_generator():
    def draws():
        mg.random.seed(4)
        return [mg.rand(2, 3), mg.randn((2, 3)), mg.randint(10, (4,)), mg.randint(3, 9, 5), mg.randn(),
                mg.random.standard_normal(3), mg.random.bernoulli([0.3, 0.6])]  # fmt: skip

    first, again = draws(), draws()
    assert [x.tolist() for x in first] == [x.tolist() for x in again]
    assert [x.shape for x in first] == [(2, 3), (2, 3), (4,), (5,), (), (3,), (2,)]
    own = [mg.randn(3, rng=mg.random.default_rng(7)).tolist() for _ in range(2)]
    assert own[0] == own[1] == np.random.default_rng(7).normal(size=3).tolist()
    assert mg.random.bernoulli(0.3, 4000).mean().item() == pytest.approx(0.3, abs=0.04)
    assert set(mg.randint(1, 7, 600).tolist()) == {1, 2, 3, 4, 5, 6}


def test_constants_and_dtypes_equal_numpys():
    assert (mg.pi, mg.e, mg.inf, mg.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(mg.nan)
    assert mg.tensor([1, 2], dtype=mg.float32).dtype == np.float32
    assert mg.tensor([1.5], dtype=mg.int64).tolist() == [1]
    assert mg.tensor([1.0, 2.0])[:, mg.newaxis].shape == (2, 1)
    assert {"pi", "float32"} <= {*dir(mg)}
    assert not {"e", "pi"} & {*mg.__all__}, "from micrograd_plus import * would take a name as short as that"


def test_the_trace_of_a_matrix_is_an_operation_of_the_package():
    assert mg.trace([[1.0, 2.0], [3.0, 4.0]]).item() == 5.0
    assert mg.grad(mg.trace)(np.ones((2, 2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]
