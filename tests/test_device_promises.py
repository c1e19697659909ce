"""Every promise on a device: `pytest --device cuda`, or the stand-in by default."""

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus.checks.promises import assert_equal, differentiable_inputs, gradient_sum, promises, run, where
from micrograd_plus.checks.samples import samples
from micrograd_plus.core.define import operations
from micrograd_plus.transforms.gradcheck import GradientError

AT_HOME = {"numbers and arrays agree"}
"""Promises about Python numbers, which are not on a device."""
BY_DIFFERENCES = {"the gradient equals differences", "the gradient has a gradient"}
"""Promises that call an operation for every entry. The fake device computes with NumPy, so tests compare its gradients
(in `test_device.py`) and second gradients with the ones on the host, which other tests compare with differences."""
SAMPLES = [each for name, group in samples.items() if name != "to_device" for each in group]


ON_RECORDS = "its record can be stored and read back"
"""Promise about text, which the host keeps with every sample. The fake device keeps it with one of each operation."""


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@pytest.mark.usefixtures("called_on_the_device")
def test_every_promise_holds_on_the_device(sample, device):
    elsewhere = AT_HOME | (BY_DIFFERENCES if device == "stand-in" else set())
    if device == "stand-in" and sample is not samples[sample.op.name][0]:
        elsewhere |= {ON_RECORDS}
    for sentence, keep in promises.items():
        if sentence not in sample.excused and sentence not in elsewhere:
            keep(sample)


FREE_SIGNS = {"eigh", "svd"}
"""Decompositions into vectors of either sign. A library of a GPU may choose the other one, and gradients differ then;
so differences on the device decide there."""


def second_gradients(sample):
    """Return the gradients of the gradients, on the device where samples run."""
    places = differentiable_inputs(sample)
    leaves = [mg.tensor(sample.inputs[i], requires_grad=True) for i in places]
    sloping = gradient_sum(sample)(*leaves)
    if sloping.requires_grad:
        sloping.backward()
    return [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in leaves]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if "the gradient has a gradient" not in s.excused], ids=str)
def test_second_gradients_equal_the_ones_of_the_host(sample, device):
    if device == "cuda" and sample.op.name in FREE_SIGNS:
        token = where.set(device)
        promises["the gradient has a gradient"](sample)
        where.reset(token)
        return
    here = second_gradients(sample)
    token = where.set(device)
    there = second_gradients(sample)
    where.reset(token)
    for a, b in zip(there, here, strict=True):
        assert_equal(a, b, f"{sample}: a second gradient", rtol=1e-8)


@pytest.mark.usefixtures("called_on_the_device")
def test_samples_really_run_on_the_device(device, monkeypatch):
    seen = []
    op = samples["tanh"][0].op
    op.call(mg.tensor(0.0))  # the first call of all writes the function out, and calls it again
    call = op.call
    monkeypatch.setattr(op, "call", lambda x: seen.append(x.device) or call(x))
    out = run(samples["tanh"][0], [np.ones(2)])
    assert (seen, out.device) == ([device], "cpu")


# Results without a gradient ------------------------------------------------------------------------------------------

TABLE, ROW = np.array([[0.5, -1.0, 2.0], [2.0, 0.0, 2.0]]), np.array([1.0, 2.0, 4.0])
CONSTANTS = {
    **dict.fromkeys(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"],
                    lambda call, x, row: call(x, row)),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], lambda call, x, row: call(x > 0, row > 1)),
    **dict.fromkeys(["isnan", "isinf", "isfinite"],
                    lambda call, x, row: call(mg.where(x > 1, np.inf, mg.where(x < 0, np.nan, x)))),
    **dict.fromkeys(["any", "all", "argmax", "argmin", "count_nonzero"],
                    lambda call, x, row: call(x, axis=1, keepdims=True)),
    "logical_not": lambda call, x, row: call(x > 0),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], lambda call, x, row: call(x > 0, row > 1)),
    **dict.fromkeys(["left_shift", "right_shift"], lambda call, x, row: call((x > 0) + 5, 2)),
    "invert": lambda call, x, row: call(x > 0),
    "isclose": lambda call, x, row: call(x, x + 1e-9, equal_nan=True),
    "stop_gradient": lambda call, x, row: call(x),
    "one_hot": lambda call, x, row: call(mg.argmax(x, axis=1), num_classes=3),
    "searchsorted": lambda call, x, row: call(row, x, side="right"),
    "argsort": lambda call, x, row: call(x, axis=1, descending=True),
    "argpartition": lambda call, x, row: call(x, kth=1, axis=1),
    "argwhere": lambda call, x, row: call(x > 1),
    "gammasgn": lambda call, x, row: call(x),
    "scatter_extreme": lambda call, x, row: call(x, mg.argsort(x, axis=1), x, axis=1),
    "finite_max": lambda call, x, row: call(x, axis=0),
    "resolution": lambda call, x, row: call(x),
    "is_unclipped": lambda call, x, row: call(x, row, row, low=0, high=3),
    "new_zeros": lambda call, x, row: call(x, shape=(2,)),
    "new_ones": lambda call, x, row: call(x, shape=(2,)),
    "new_eye": lambda call, x, row: call(x, n=3),
    "new_array": lambda call, x, row: call(x, numbers=[1, 2]),
    "hann_window": lambda call, x, row: call(x, length=5),
    "mel_filters": lambda call, x, row: call(x, n_mels=3, n_fft=16, sample_rate=8000.0),
    "rope_angles": lambda call, x, row: call(x, pairs=2),
    "attention_mask": lambda call, x, row: call(x, x, x[:, :2] > 0, causal=True, window=1),
    "window_counts": lambda call, x, row: call(
        x, shape=(1, 1, 4, 4), kernel_size=(2, 2), stride=(1, 1), padding=(1, 1), count_include_pad=False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, op in operations.items() if op.kind == "non-differentiable"])
def test_a_result_without_a_gradient_is_the_same_on_the_device(device, name):
    call = operations[name].call
    stand_in.copies.clear()
    there = CONSTANTS[name](call, mg.tensor(TABLE, device=device), mg.tensor(ROW, device=device))
    assert not stand_in.copies
    here = CONSTANTS[name](call, mg.tensor(TABLE), mg.tensor(ROW))
    assert (there.device, there.dtype) == (device, here.dtype)
    assert_equal(there.numpy(), here.numpy(), name)


# Questions that the host answers -------------------------------------------------------------------------------------


def test_a_tensor_on_the_device_converts_to_bool_and_float(device):
    x = mg.tensor([2.5], device=device)
    assert (bool(x), bool(x < 0), float(x), f"{x:.2f}") == (True, False, 2.5, "2.50")


def test_gradcheck_runs_on_the_device_of_its_inputs(device):
    scale = mg.tensor([2.0, -1.0], device=device)
    x = mg.tensor([0.5, 1.5], device=device)
    assert mg.gradcheck(lambda x: mg.sin(x) * scale, (x,))
    with pytest.raises(GradientError, match="central differences say"):
        mg.gradcheck(lambda x: mg.stop_gradient(x) * x * scale, (x,))


def test_a_tangent_from_the_host_is_moved_to_the_device(device):
    x = mg.tensor([1.0, 2.0], device=device)
    moved = mg.jvp(lambda x: x**3, (x,), ([1.0, 10.0],))[1]
    assert (moved.device, moved.tolist()) == (device, [3.0, 120.0])
    assert mg.hvp(lambda x: (x**3).sum(), x, np.array([1.0, 0.0])).tolist() == [6.0, 0.0]


def test_a_matrix_without_factors_is_an_error_on_the_device_too(device):
    singular = mg.tensor([[1.0, 2.0], [2.0, 4.0]], device=device)
    with pytest.raises(ValueError, match="a is singular: it has no inverse"):
        mg.linalg.inv(singular)
    with pytest.raises(ValueError, match="a is singular: a @ x = b has no solution, or many"):
        mg.linalg.solve(singular, mg.tensor([1.0, 1.0], device=device))
    with pytest.raises(ValueError, match="a must be positive definite"):
        mg.linalg.cholesky(-singular)


def test_a_second_run_may_differ_in_the_last_digits_on_the_device(device):
    factors = iter([1.0, 1.0 + 1e-15, 1.0, 1.5])
    x = mg.tensor([0.1, np.inf, np.nan], device=device, requires_grad=True)
    mg.checkpoint(lambda x: x * next(factors), x).sum().backward()
    assert x.grad.tolist() == [1.0 + 1e-15] * 3
    with pytest.raises(RuntimeError, match="gave other results when it ran again"):
        mg.checkpoint(lambda x: x * next(factors), x).sum().backward()


def test_a_record_on_the_device_equals_that_on_the_host(device):
    def summary(where):
        with mg.record() as trace:
            x = mg.tensor(2.0, device=where, requires_grad=True)
            (x * x).backward()
        return trace.summary()

    assert summary(device) == summary("cpu")


# Random numbers ------------------------------------------------------------------------------------------------------

DRAWS = {
    "normal": lambda device: mg.random.normal(size=(2, 3), device=device),
    "uniform": lambda device: mg.random.uniform(-1, 2, size=4, device=device),
    "integers": lambda device: mg.random.integers(3, 9, size=5, device=device),
    "permutation": lambda device: mg.random.permutation(6, device=device),
    "choice": lambda device: mg.random.choice(5, 3, p=[0.1, 0.2, 0.3, 0.2, 0.2], device=device),
    "choice without replacement": lambda device: mg.random.choice([1.0, 2.0, 3.0], 3, replace=False, device=device),
    "categorical": lambda device: mg.random.categorical(mg.tensor(np.zeros((4, 3)), device=device)),
    "dropout": lambda device: mg.nn.functional.dropout(mg.tensor(np.ones(20), device=device), 0.4),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_on_the_device_repeat_with_the_state(device, draw):
    state = mg.random.state()
    stand_in.copies.clear()
    first = draw(device)
    assert set(stand_in.copies) <= {"item"}, "only truth values may be copied to the host, no arrays"
    assert first.device == device
    assert not first.requires_grad
    other = draw(device)
    mg.random.set_state(state)
    assert (draw(device).tolist(), draw(device).tolist()) == (first.tolist(), other.tolist())


def test_a_seed_gives_each_device_different_draws(device):
    mg.random.seed(3)
    first = mg.random.uniform(size=3, device=device).tolist()
    mg.random.normal(size=7, device=device)
    mg.random.seed(3)
    assert mg.random.uniform(size=3, device=device).tolist() == first
    assert mg.random.uniform(size=3).tolist() != first


def test_draws_of_integers_have_the_right_probabilities(device):
    mg.random.seed(11)
    uniform = np.array(mg.random.uniform(size=20000, device=device).tolist())
    assert (uniform.min() >= 0, uniform.max() < 1) == (True, True)
    assert np.histogram(uniform, 10, (0, 1))[0] == pytest.approx(2000, abs=200)
    assert np.corrcoef(uniform[1:], uniform[:-1])[0, 1] == pytest.approx(0, abs=0.03)
    normal = np.array(mg.random.normal(1.0, 2.0, size=20000, device=device).tolist())
    assert (normal.mean(), normal.std()) == (pytest.approx(1, abs=0.06), pytest.approx(2, abs=0.06))
    assert (abs(normal - 1) < 2).mean() == pytest.approx(0.683, abs=0.02)
    whole = np.array(mg.random.integers(2, 5, size=9000, device=device).tolist())
    assert np.bincount(whole, minlength=5)[2:] == pytest.approx(3000, abs=250)
    classes = np.tile([0.0, np.log(3.0), -np.inf], (4000, 1))
    drawn = np.array(mg.random.categorical(mg.tensor(classes, device=device)).tolist())
    assert np.bincount(drawn, minlength=3) / 4000 == pytest.approx([0.25, 0.75, 0.0], abs=0.03)


def test_a_choice_on_the_device_returns_its_entries(device):
    assert sorted(mg.random.choice(6, 6, replace=False, device=device).tolist()) == [0, 1, 2, 3, 4, 5]
    assert set(mg.random.choice([3.0, 7.0], 50, p=[0.0, 1.0], device=device).tolist()) == {7.0}
    with pytest.raises(ValueError, match="choice: 7 entries out of 6 without replacement"):
        mg.random.choice(6, 7, replace=False, device=device)


def test_draws_of_a_user_generator_are_moved_to_the_device(device):
    drawn = mg.random.normal(size=3, device=device, rng=np.random.default_rng(5))
    assert drawn.device == device
    assert drawn.tolist() == np.random.default_rng(5).normal(size=3).tolist()


def test_a_checkpoint_on_the_device_repeats_its_draws(device):
    x = mg.tensor(np.ones(50), device=device, requires_grad=True)
    dropped = mg.checkpoint(lambda x: mg.nn.functional.dropout(x * 2, 0.5), x)
    dropped.sum().backward()
    assert x.grad.tolist() == [2 * value / 2 for value in dropped.tolist()]


def test_the_bit_mixer_is_the_published_one():
    from micrograd_plus.random.counting import CountingGenerator

    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]  # of SplitMix64 from the seed 1234567
    assert CountingGenerator(np, 1234567).bits(3).tolist() == published
