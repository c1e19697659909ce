"""Running minima and sums of exponentials, scattered entries, pools and convolutions of volumes, and other forms of
calls."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from test_numpy_names import has_the_right_gradients

F = nn.functional
DRAW = np.random.default_rng(41)


def real(*shape):
    return DRAW.normal(size=shape)


def test_a_running_minimum_is_numpys():
    x = real(3, 5)
    np.testing.assert_array_equal(mg.cummin(x, axis=1).numpy(), np.minimum.accumulate(x, 1))
    has_the_right_gradients(lambda x: mg.cummin(x, axis=0), x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logcumsumexp_keeps_small_and_large_numbers():
    x = np.array([[-1000.0, -1001.0, 0.0, 700.0, 800.0], [3.0, -np.inf, 1.0, -5.0, 2.0]])
    np.testing.assert_allclose(mg.logcumsumexp(x, 1).numpy(), np.logaddexp.accumulate(x, 1), rtol=1e-14)
    x = 50 * real(4, 6)
    np.testing.assert_allclose(mg.logcumsumexp(x, 0).numpy(), np.logaddexp.accumulate(x, 0), rtol=1e-13)
    has_the_right_gradients(lambda x: mg.logcumsumexp(x, 1), real(2, 5))
    first = mg.grad(lambda x: mg.logcumsumexp(x).sum())(np.array([-np.inf, -np.inf, 0.0, 1.0])).numpy()
    assert np.isfinite(first).all()
    assert mg.logcumsumexp(np.array([[1.0]], "float32"), 1).dtype == np.float32


def test_two_moments_at_once():
    x = real(3, 4)
    deviation, mean = mg.std_mean(x, axis=1, ddof=1)
    variance, again = mg.var_mean(x, axis=1, ddof=1, keepdims=True)
    np.testing.assert_allclose(deviation.numpy(), x.std(1, ddof=1))
    np.testing.assert_allclose(variance.numpy(), x.var(1, ddof=1, keepdims=True))
    np.testing.assert_allclose(mean.numpy(), x.mean(1))
    assert again.shape == (3, 1)


@pytest.mark.parity
def test_scattered_entries_are_torchs():
    import torch

    x, src, index = real(3, 5), real(3, 2), np.array([[0, 4], [2, 1], [3, 0]])
    theirs = torch.scatter(torch.tensor(x), 1, torch.tensor(index), torch.tensor(src))
    np.testing.assert_array_equal(mg.scatter(x, 1, index, src).numpy(), theirs.numpy())
    assert mg.scatter([0.0, 0.0, 0.0], 0, [1], 7.0).tolist() == [0.0, 7.0, 0.0]
    has_the_right_gradients(lambda x, src: mg.scatter(x, 1, index, src), x, src)
    with pytest.raises(ValueError, match="the index meets a place twice"):
        mg.scatter([0.0, 0.0], 0, [1, 1], [2.0, 3.0])
    with pytest.raises(IndexError, match="scatter"):
        mg.scatter([0.0, 0.0], 0, [2], [2.0])


@pytest.mark.parity
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_gathered_entries_are_torchs_with_their_gradients(reduce, zeros, include_self):
    import torch

    x, src, index = real(3, 5), real(3, 4), np.array([[0, 4, 0, 0], [2, 1, 2, 4], [3, 3, 3, 3]])
    if zeros and reduce == "prod":
        x[0, 0] = src[0, 2] = src[0, 3] = src[1, 0] = 0
    index_there = torch.tensor(index)
    leaves = [torch.tensor(each, requires_grad=True) for each in (x, src)]
    theirs = torch.scatter_reduce(leaves[0], 1, index_there, leaves[1], reduce, include_self=include_self)
    ours = mg.scatter_reduce(x, 1, index, src, reduce, include_self)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-14)
    weights = real(3, 5)
    (theirs * torch.tensor(weights)).sum().backward()
    mine = mg.grad(lambda x, src: (mg.scatter_reduce(x, 1, index, src, reduce, include_self) * weights).sum(), (0, 1))
    for here, there in zip(mine(x, src), leaves, strict=True):
        np.testing.assert_allclose(here.numpy(), there.grad.numpy(), rtol=1e-13)


def test_tied_entries_share_the_gradient_of_the_maximum():
    slopes = mg.grad(lambda x, src: mg.scatter_reduce(x, 0, [0, 0], src, "amax").sum(), (0, 1))
    assert [each.tolist() for each in slopes(np.array([2.0, 1.0]), np.array([2.0, 0.0]))] == [[0.5, 1.0], [0.5, 0.0]]
    with pytest.raises(ValueError, match="reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got 'median'"):
        mg.scatter_reduce([1.0], 0, [0], [1.0], "median")


@pytest.mark.parametrize("include_self", [True, False])
def test_products_with_zero_factors_have_second_derivatives(include_self):
    x, src, index = np.array([2.0, 0.0, -1.5, 3.0]), np.array([0.0, 0.5, 0.0, -2.0, 1.5]), np.array([0, 1, 1, 2, 2])
    has_the_right_gradients(lambda x, s: mg.scatter_reduce(x, 0, index, s, "prod", include_self), x, src)
    assert mg.scatter_reduce([1, 2], 0, [0, 0], [2, 3], "prod").tolist() == [6, 2]
    assert mg.scatter_reduce([1.0, 2.0], 0, np.zeros(0, int), np.zeros(0), "prod").tolist() == [1.0, 2.0]


def test_a_quotient_may_be_rounded_down_or_towards_nought():
    a, b = np.array([7.0, -7.0, 6.0, -6.5, 0.0]), np.array([2.0, 2.0, -4.0, -1.5, 3.0])
    np.testing.assert_array_equal(mg.divide(a, b, rounding_mode="trunc").numpy(), np.trunc(a / b))
    np.testing.assert_array_equal(mg.divide(a, b, rounding_mode="floor").numpy(), a // b)
    assert mg.divide([7, -7], 2, rounding_mode="trunc").tolist() == [3, -3]
    assert mg.grad(lambda a: mg.divide(a, b, rounding_mode="trunc").sum())(a).tolist() == [0.0] * 5
    with pytest.raises(ValueError, match=r"divide.*rounding_mode must be None, 'floor' or 'trunc', got 'up'"):
        mg.divide(a, b, rounding_mode="up")
    assert mg.true_divide is mg.divide
    assert mg.Tensor.__truediv__ is mg.divide.op.call


BITS = {
    "a & b": lambda a, b: a & b, "a | b": lambda a, b: a | b, "a ^ b": lambda a, b: a ^ b, "~a": lambda a, b: ~a,
    "a & 3": lambda a, b: a & 3, "1 ^ a": lambda a, b: 1 ^ a, "array | b": lambda a, b: np.asarray(a) | b,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["bool", "int64", "uint8"])
@pytest.mark.parametrize("name", BITS)
def test_operators_of_bits_are_numpys(name, kind):
    a, b = DRAW.integers(0, 2 if kind == "bool" else 100, (2, 6)).astype(kind)
    ours, theirs = BITS[name](mg.tensor(a), mg.tensor(b)), BITS[name](a, b)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_bits_are_moved_and_other_numbers_have_none():
    x = mg.tensor([6, 3])
    assert [(x << 2).tolist(), (x >> 1).tolist(), (1 << x).tolist(), (96 >> x).tolist()] == [
        [24, 12], [3, 1], [64, 8], [1, 12],
    ]  # fmt: skip
    with pytest.raises(TypeError, match=r"bitwise_and\(a: \(2,\) float64, .*inputs must be whole numbers or booleans"):
        mg.tensor([1.0, 0.0]) & mg.tensor([True, False])
    with pytest.raises(TypeError, match=r"invert.*inputs must be whole numbers or booleans"):
        ~mg.tensor([1.0])
    mask = mg.tensor([True, False]).clone()
    mask &= mg.tensor([True, True])
    assert mask.tolist() == [True, False]


def test_exercises_and_the_grader_are_there_by_name():
    assert {"exercises", "grading"} <= {*dir(mg)}
    assert mg.exercises.__name__ == "micrograd_plus.exercises"
    assert mg.grading.__name__ == "micrograd_plus.grading"


def test_einstein_takes_lists_of_axes():
    a, b = real(2, 3), real(3, 4)
    rest = [Ellipsis]
    for given in ((a, [0, 1], b, [1, 2], [0, 2]), (a, [0, 1], b, [1, 2]), (a, [0, 1], [1]), (a, [*rest, 3], rest)):
        np.testing.assert_allclose(mg.einsum(*given).numpy(), np.einsum(*given), rtol=1e-13)
    has_the_right_gradients(lambda a, b: mg.einsum(a, [0, 1], b, [1, 2], [2, 0]), a, b)
    with pytest.raises(ValueError, match="each operand must be followed by a list of its axes"):
        mg.einsum(a, 3)


POOLS = [
    {"kernel_size": 2}, {"kernel_size": (2, 3, 2), "stride": (1, 2, 2), "padding": (1, 0, 1)},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
]  # fmt: skip


@pytest.mark.parity
@pytest.mark.parametrize("options", POOLS)
def test_pools_of_volumes_are_torchs(options):
    import torch

    x = real(2, 3, 4, 6, 5)
    there = torch.tensor(x)
    np.testing.assert_allclose(
        F.max_pool3d(mg.tensor(x), **options).numpy(), torch.nn.functional.max_pool3d(there, **options).numpy()
    )
    for more in ({}, {"count_include_pad": False}, {"divisor_override": 5}):
        theirs = torch.nn.functional.avg_pool3d(there, **options, **more)
        np.testing.assert_allclose(F.avg_pool3d(mg.tensor(x), **options, **more).numpy(), theirs.numpy(), atol=1e-14)
    has_the_right_gradients(lambda x: F.avg_pool3d(x, **options), x[:1, :1])
    has_the_right_gradients(lambda x: F.max_pool3d(x, **options), x[0, :1])


@pytest.mark.parity
def test_average_pooling_takes_a_divisor():
    import torch

    x = real(2, 3, 5, 6)
    for options in ({"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}):
        theirs = torch.nn.functional.avg_pool2d(torch.tensor(x), divisor_override=7, **options)
        ours = F.avg_pool2d(mg.tensor(x), divisor_override=7, **options)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-13)
    assert nn.AvgPool2d(2, divisor_override=2)(mg.ones(1, 1, 2, 2)).item() == 2.0
    with pytest.raises(ValueError, match="divisor_override is a number other than 0"):
        F.avg_pool2d(mg.tensor(x), 2, divisor_override=0)


TRANSPOSED = [
    {}, {"stride": 2, "padding": 1}, {"stride": (2, 1, 3), "output_padding": (1, 0, 2), "padding": (0, 1, 1)},
    {"groups": 2, "dilation": (1, 2, 1), "stride": 2}, {"padding": 2, "stride": 3, "output_padding": 1},
]  # fmt: skip


@pytest.mark.parity
@pytest.mark.parametrize("options", TRANSPOSED)
def test_a_transposed_convolution_of_volumes_is_torchs(options):
    import torch

    x, weight = real(2, 4, 3, 2, 3), real(4, 3, 2, 3, 2)
    bias = real(3 * options.get("groups", 1))
    theirs = torch.nn.functional.conv_transpose3d(*(torch.tensor(each) for each in (x, weight, bias)), **options)
    ours = F.conv_transpose3d(*map(mg.tensor, (x, weight, bias)), **options)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-12)
    has_the_right_gradients(lambda x, w, b: F.conv_transpose3d(x, w, b, **options), x[0], weight, bias)


def test_the_layers_of_volumes_are_there():
    assert nn.MaxPool3d(2)(mg.ones(1, 2, 4, 4, 4)).shape == (1, 2, 2, 2, 2)
    assert nn.AvgPool3d(2)(mg.ones(2, 4, 4, 4)).shape == (2, 2, 2, 2)
    assert nn.ConvTranspose3d(4, 2, 2, stride=2)(mg.ones(1, 4, 3, 2, 2)).shape == (1, 2, 6, 4, 4)
    with pytest.raises(ValueError, match="max_pool3d: input has shape"):
        F.max_pool3d(mg.ones(2, 3), 2)


def test_odeint_is_differentiable_by_start_times_and_parameters():
    def swing(y, t, stiffness, push):
        return mg.stack([y[1], push * mg.sin(t) - stiffness * y[0]])

    def path(y0, t, stiffness, push):
        return mg.numpy.integrate.odeint(swing, y0, t, (stiffness, push))

    given = np.array([1.0, -0.3]), np.array([0.0, 0.4, 1.1, 0.9]), np.array(2.0), np.array(0.5)
    for place in range(4):
        def single_name(x, place=place):
            return path(*given[:place], x, *given[place + 1:])

        has_the_right_gradients(single_name, given[place])
    free = mg.numpy.integrate.odeint(lambda y, t: -y, np.array([1.0]), np.array([0.0, 1.0]))
    assert type(free) is np.ndarray
    np.testing.assert_allclose(free[:, 0], [1, np.exp(-1)], rtol=1e-9)
    with pytest.raises(RuntimeError, match="odeint: 5 steps were not enough between two times; is the equation stiff"):
        mg.numpy.integrate.odeint(lambda y, t: -1e6 * y, np.array([1.0]), np.array([0.0, 1.0]), most=5)
    assert {"integrate", "stats", "tools"} <= {*dir(mg.numpy)}


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i4", ">c16"])
def test_foreign_byte_order_becomes_native(dtype):
    entries = np.arange(3).astype(dtype)
    for made in (mg.tensor(entries), mg.tensor([0, 1, 2], dtype=dtype), mg.asarray(entries)):
        assert made.dtype.isnative
        assert made.tolist() == [0, 1, 2]
    if np.dtype(dtype).kind == "f":
        assert mg.grad(lambda x: (x * x).sum())(entries).dtype == np.dtype(dtype).newbyteorder("=")
