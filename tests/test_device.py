"""Every operation on a device without implicit copies to the host: the same numbers, and no copies."""

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus.backends import devices
from micrograd_plus.checks.promises import assert_equal, differentiable_inputs, run
from micrograd_plus.checks.samples import samples

DEVICE = "stand-in"
SAMPLES = [each for name, group in samples.items() if name != "to_device" for each in group]


@pytest.fixture(autouse=True, scope="module")
def device():
    """Register the fake device for the tests of this file."""
    yield devices.add_device(DEVICE, stand_in.library)
    del devices._devices[DEVICE]


def outcome(sample, where):
    """Return the results of a call on a device, and its inputs with gradients, output by output."""
    places = differentiable_inputs(sample)
    inputs = [mg.tensor(value, device=where) if hasattr(value, "dtype") else value for value in sample.inputs]
    leaves = [inputs[i].requires_grad_() for i in places]
    out = run(sample, inputs)
    outs = out if isinstance(out, tuple) else (out,)
    for number, part in enumerate(outs):
        if part.requires_grad:
            rng = np.random.default_rng(number)
            upstream = rng.uniform(0.5, 1.5, part.shape) * rng.choice([-1.0, 1.0], part.shape)
            part.backward(upstream * (1 + 0.5j) if part.dtype.kind == "c" else upstream)
    return outs, leaves


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_results_equal_the_cpus_without_copies_to_the_host(sample):
    stand_in.copies.clear()
    there, leaves_there = outcome(sample, DEVICE)
    assert not stand_in.copies
    here, leaves_here = outcome(sample, "cpu")
    for a, b in zip([*there, *leaves_there], [*here, *leaves_here], strict=True):
        assert a.device == DEVICE
        assert_equal(a.numpy(), b.numpy(), f"{sample} on the device")
    for a, b in zip(leaves_there, leaves_here, strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            assert a.grad.device == DEVICE
            assert a.grad.dtype == b.grad.dtype
            assert_equal(a.grad.numpy(), b.grad.numpy(), f"{sample}: a gradient on the device")


IMPLICIT = {
    "np.asarray": np.asarray, "np.exp": np.exp, "float": float, "int": int, "complex": complex, "bool": bool,
    "memoryview": memoryview, "np.array of a list": lambda x: np.array([x, x]), "an index": lambda x: [1, 2][x],
    "an array of NumPy's on the right": lambda x: x + np.ones(1), "on the left": lambda x: np.ones(1) * x,
}  # fmt: skip


@pytest.mark.parametrize("imply", IMPLICIT.values(), ids=IMPLICIT)
def test_the_fake_device_rejects_implicit_copies_to_the_host(imply):
    with pytest.raises((TypeError, AttributeError)):
        imply(stand_in.library.ones(1))


UNLIKE_CUPY = {
    "a name": lambda np, x: np.errstate(all="ignore"),
    "an argument": lambda np, x: np.max(x, axis=0, initial=0.0),
    "a method's argument": lambda np, x: x.max(initial=0.0),
    "a keyword that hides behind others": lambda np, x: np.einsum("i,i->", x, x, casting="unsafe"),
    "an attribute": lambda np, x: x.flags.writeable,
    "a loop": lambda np, x: np.floor(x * 1j),
    "a list for an array": lambda np, x: np.exp([1.0, 2.0]),
    "a list assigned": lambda np, x: x.__setitem__(0, [1.0]),
    "a number for an array": lambda np, x: np.broadcast_to(np.float64(1.0), (2,)),
    "a running maximum": lambda np, x: np.maximum.accumulate(x),
    "complex numbers at places": lambda np, x: np.add.at(x * 1j, np.array([0, 0]), x * 1j),
}  # fmt: skip


@pytest.mark.parametrize("use", UNLIKE_CUPY.values(), ids=UNLIKE_CUPY)
def test_the_fake_device_rejects_functions_that_cupy_lacks(use):
    with pytest.raises((TypeError, AttributeError, NotImplementedError)):
        use(stand_in.library, stand_in.library.ones(2))


def test_ufuncs_of_the_fake_device_return_cupys_dtypes():
    small = stand_in.library.ones(2, "float32")
    assert (small + 1).dtype == (1.5 * small).dtype == "float32"
    assert (small + np.float64(1)).dtype == (small + stand_in.library.ones((), "float64")).dtype == "float64"
    assert ((small > 0) * 1.5).dtype == "float64"
    assert (stand_in.library.ones(2, "int8") / 2).dtype == "float64"


def test_a_view_on_the_fake_device_has_its_base():
    library = stand_in.library
    whole = library.ones((2, 3))
    assert whole.base is None
    assert whole[0].base is whole.T[1:].base is whole
    assert (whole + 1).base is whole.sum(axis=0).base is None
    assert library.moveaxis(whole, 0, 0) is whole, "as in CuPy: nothing moves"


def test_the_fake_device_counts_explicit_copies_to_the_host():
    stand_in.copies.clear()
    x = mg.tensor([2.0], device=DEVICE)
    assert (x.numpy().tolist(), x.item(), x.tolist()) == ([2.0], 2.0, [2.0])
    assert stand_in.copies == {"get": 1, "item": 1, "tolist": 1}


def test_mixing_two_devices_is_an_error():
    here, there = mg.tensor([1.0, 2.0]), mg.tensor([1.0, 2.0], device=DEVICE, requires_grad=True)
    sentence = r"add got arrays on cpu and stand-in; move one of them: x\.to\('cpu'\)"
    for mixed in (lambda: here + there, lambda: there + here):
        with pytest.raises(RuntimeError, match=sentence):
            mixed()
    with pytest.raises(RuntimeError, match="matmul got arrays on cpu and stand-in"):
        mg.matmul(here, there)
    with pytest.raises(RuntimeError, match="concatenate got arrays on cpu and stand-in"):
        mg.concatenate([here, there])


def test_a_tensor_without_axes_has_a_device():
    x = mg.tensor([1.0, 2.0], device=DEVICE)
    with pytest.raises(RuntimeError, match="multiply got arrays on cpu and stand-in"):
        mg.tensor(3.0) * x


def test_numbers_combine_with_tensors_on_any_device():
    x = mg.tensor([1.0, 2.0], device=DEVICE, requires_grad=True)
    y = (2 * x + np.float64(1.0) - True) / 4.0
    assert y.device == DEVICE
    y.sum().backward()
    assert x.grad.device == DEVICE
    assert x.grad.tolist() == [0.5, 0.5]


def test_an_upstream_from_the_host_is_moved_to_the_device():
    x = mg.tensor([1.0, 2.0], device=DEVICE, requires_grad=True)
    (x * x).backward([1.0, 10.0])
    assert x.grad.tolist() == [2.0, 40.0]


def test_the_gradient_of_a_moved_result_returns_to_its_device():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).to(DEVICE)
    (y * y).sum().backward()
    assert y.device == DEVICE
    assert x.grad.device == "cpu"
    assert x.grad.tolist() == [18.0, 36.0]


def test_the_gradient_of_a_moved_leaf_returns_to_it():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    (x.to(DEVICE) ** 2).sum().backward()
    assert (x.grad.device, x.grad.tolist()) == ("cpu", [2.0, 4.0])
    assert mg.grad(lambda x: (x.to(DEVICE) ** 2).sum().to("cpu"))(x.detach()).tolist() == [2.0, 4.0]


def test_a_tensor_can_be_made_on_the_device():
    x = mg.tensor([1.0, 2.0], requires_grad=True, device=DEVICE)
    assert (x.device, x.is_leaf, x.requires_grad) == (DEVICE, True, True)
    assert x.to(DEVICE) is x
    assert "device='stand-in'" in repr(x)


def test_writing_on_the_device_changes_values_and_no_gradient():
    x = mg.tensor([1.0, 2.0], device=DEVICE, requires_grad=True)
    kept = x.data
    y = (x * x).sum()
    kept[0] = 5.0
    x.data[1] = 7.0
    with mg.no_grad():
        x -= 1
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert x.tolist() == [4.0, 6.0]


def test_gradients_of_gradients_stay_on_the_device():
    x = mg.tensor([1.0, 2.0], device=DEVICE)
    stand_in.copies.clear()
    second = mg.grad(lambda x: mg.grad(lambda x: mg.sum(mg.tanh(x) * x))(x).sum())(x)
    assert not stand_in.copies
    here = mg.grad(lambda x: mg.grad(lambda x: mg.sum(mg.tanh(x) * x))(x).sum())(mg.tensor([1.0, 2.0]))
    assert_equal(second.numpy(), here.numpy(), "second derivatives on the device")


def test_a_walk_on_the_device_is_recorded_with_its_device():
    with mg.record() as trace:
        x = mg.tensor([1.0, 2.0], device=DEVICE, requires_grad=True)
        (x * x).sum().backward()
    stored = trace.to_dict()
    assert {value["device"] for value in stored["values"] if value["shape"]} == {DEVICE}
    assert stored["values"][trace.to_dict()["gradients"][0]["value"]]["data"] == [2.0, 4.0]


@pytest.mark.parametrize("join", [mg.concatenate, mg.stack])
def test_a_forward_walk_through_a_join_is_recorded_on_the_device(join):
    parts = tuple(mg.tensor([number, number + 1.0], device=DEVICE) for number in range(3))
    stand_in.copies.clear()
    with mg.record() as trace:
        mg.jvp(lambda *parts: join(parts, axis=-1), parts, parts)
    assert not stand_in.copies
    after = np.stack([np.arange(3.0), np.arange(3.0) + 1])
    after = after if join is mg.stack else after.T.ravel()
    assert len(trace.steps) == 3
    np.testing.assert_array_equal(trace.steps[-1].after.get(), after)
    assert all(np.count_nonzero(step.contribution.get()) <= 2 for step in trace.steps)


def test_an_unknown_device_is_an_error_with_the_known_ones():
    with pytest.raises(ValueError, match=r"there is no device 'gpu'; the devices are cpu, cuda, stand-in"):
        mg.tensor([1.0], device="gpu")
