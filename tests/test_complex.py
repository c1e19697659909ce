"""Complex numbers: each operation has the right gradient, or an error says that it takes real numbers."""

import re
from contextlib import suppress
from operator import ge, gt, le, lt

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus.backends import devices
from micrograd_plus.checks import promises as check
from micrograd_plus.checks.samples import Sample, samples

TAKES_REAL = "takes real numbers|must be real|real numbers cannot hold complex ones"


def with_complex(sample, places):
    """Return the sample with an imaginary part added to some of its inputs."""
    rng = np.random.default_rng(5)
    inputs = list(sample.inputs)
    for i in places:
        aside = rng.uniform(0.3, 0.9, inputs[i].shape) * rng.choice([-1.0, 1.0], inputs[i].shape)
        inputs[i] = inputs[i] + 1j * aside
    return Sample(sample.op, inputs, sample.params, sample.excused)


def calls():
    """Yield each real sample with all its differentiable inputs complex, and with each of them alone."""
    for group in samples.values():
        for each in group:
            places = check.differentiable_inputs(each)
            if places and all(each.inputs[i].dtype.kind == "f" for i in places):
                alone = [[i] for i in places] if len(places) > 1 else []
                yield from (with_complex(each, some) for some in [places, *alone])


CALLS = list(calls())


def directional_derivative(f, values, direction, step=1e-6):
    """Return the directional derivative of a real function, by differences."""
    ends = [[x + sign * step * d for x, d in zip(values, direction, strict=True)] for sign in (1, -1)]
    ahead, behind = (f(*map(mg.tensor, end)).item() for end in ends)
    return (ahead - behind) / (2 * step)


@pytest.mark.filterwarnings("ignore:Casting complex values to real:Warning")
@pytest.mark.parametrize("sample", CALLS, ids=str)
def test_complex_inputs_have_right_gradients_or_a_named_error(sample):
    places = check.differentiable_inputs(sample)
    values = [sample.inputs[i] for i in places]
    rng = np.random.default_rng(2)
    parts = [(rng.normal(size=x.shape), rng.normal(size=x.shape) * 1j) for x in values]
    direction = [real + imag if x.dtype.kind == "c" else real for x, (real, imag) in zip(values, parts, strict=True)]
    try:
        check.run(sample, [mg.tensor(x) if hasattr(x, "dtype") else x for x in sample.inputs])
    except TypeError as refusal:
        with pytest.raises(TypeError) as of_gradients:
            check.gradients(sample)
        for message in (str(refusal), str(of_gradients.value)):
            assert message.startswith(f"{sample.op.name}("), message
            assert re.search(TAKES_REAL, message), message
        return
    functions = [check.scalar_function(sample, places), check.gradient_sum(sample)]
    for sentence, f in zip(["the gradient equals differences", "the gradient has a gradient"], functions, strict=True):
        if sentence not in sample.excused:
            gradients = mg.grad(f, tuple(range(len(places))))(*values)
            exact = sum(np.sum(np.real(np.conj(g.numpy()) * d)) for g, d in zip(gradients, direction, strict=True))
            assert exact == pytest.approx(directional_derivative(f, values, direction), rel=2e-5, abs=2e-5), sentence


ORDER = {
    "argmax", "argmin", "argsort", "clip", "greater", "greater_equal", "less", "less_equal", "max", "maximum", "min",
    "minimum", "partition", "searchsorted", "sort",
}  # fmt: skip


@pytest.fixture
def without_order(monkeypatch):
    """Return calls that compare complex numbers.

    A maximum that is subtracted before exponentials has no effect; it is the maximum of the real parts.
    """

    def refuse(name, values):
        if name in ORDER and any(each.dtype.kind == "c" for each in stand_in.arrays_in(values)):
            raise AssertionError(f"{name} was asked for the order of complex numbers")

    plain_ufunc, plain_function = stand_in.Ufunc.__call__, stand_in.device_function

    def ufunc(self, *args, **options):
        refuse(self.__name__, args)
        return plain_ufunc(self, *args, **options)

    def device_function(function, said, owner=None):
        call = plain_function(function, said, owner)

        def check_call(*args, **options):
            refuse(function.__name__, (owner, *args))
            return call(*args, **options)

        return check_call

    monkeypatch.setattr(stand_in.Ufunc, "__call__", ufunc)
    monkeypatch.setattr(stand_in, "device_function", device_function)
    words = devices.add_device("without order", stand_in.library_with_name("without_order")).namespace
    finite_max = words.finite_max
    monkeypatch.setattr(words, "finite_max", lambda x, axis=-1: finite_max(x.real, axis))
    before = check.where.set("without order")
    yield
    check.where.reset(before)
    del devices._devices["without order"]


@pytest.mark.filterwarnings("ignore:Casting complex values to real:Warning")
@pytest.mark.usefixtures("without_order")
def test_no_operation_compares_complex_numbers():
    for sample in CALLS:
        with suppress(TypeError):  # refused by name; to have asked for the order is another error
            check.gradients(sample)


Z = mg.tensor([1 + 2j, 1 - 1j])


@pytest.mark.parametrize("call", [
    *[lambda compare=compare: compare(Z, 1.0) for compare in (lt, le, gt, ge)],
    lambda: mg.maximum(mg.tensor([1.0]), 1j), lambda: mg.argmax(Z), lambda: mg.argmin(Z), lambda: mg.argsort(Z),
    lambda: mg.searchsorted(mg.tensor([1.0, 2.0]), Z), lambda: mg.median(Z), lambda: mg.quantile(Z, 0.5),
    lambda: mg.nn.functional.max_pool1d(mg.tensor(np.ones((1, 1, 4)) * 1j), 2), lambda: mg.nn.functional.gelu(Z),
    lambda: mg.nn.functional.cross_entropy(Z[None], [1]), lambda: mg.rnn(Z[:, None], [[1.0]], nonlinearity="relu"),
])  # fmt: skip
def test_comparing_complex_numbers_is_an_error_with_a_hint(call):
    with pytest.raises(TypeError, match=r"inputs must be real, and these are complex; use x\.real, x\.imag or mg\.abs"):
        call()


@pytest.mark.usefixtures("own_operations")
def test_a_composite_of_real_only_operations_is_real_only():
    @mg.op
    def bent(xp, x):
        return x * xp.softplus(x)

    with pytest.raises(TypeError, match=r"bent\(x: \(2,\) complex128\): the inputs must be real"):
        bent(Z)
    assert bent(mg.tensor([0.0])).tolist() == [0.0]


@pytest.mark.filterwarnings("error")
def test_a_real_input_receives_the_real_part_without_a_warning():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    mg.real(x * np.array([2 + 1j, 3 - 1j])).sum().backward()
    assert x.grad.tolist() == [2, 3]
