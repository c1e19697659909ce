"""Every operation compared with PyTorch: value, gradient, and the gradient of a gradient, in double precision."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, run
from micrograd_plus.checks.samples import Sample, samples

from .torch_words import NONE, words

pytestmark = pytest.mark.parity

CALLS = [(name, i) for name, calls in samples.items() for i in range(len(calls)) if name not in NONE]


@pytest.fixture(scope="module")
def torch_words():
    return words()


def test_every_operation_with_a_sample_is_compared_or_has_a_reason(torch_words):
    assert set(samples) == set(torch_words) | set(NONE)
    assert not set(torch_words) & set(NONE)


class Ours:
    """A sample in this library: its outputs, and the gradients of a weighted sum of them."""

    def __init__(self, sample):
        self.sample, self.places = sample, differentiable_inputs(sample)
        self.values = [sample.inputs[i] for i in self.places]

    def outputs(self):
        return [part.numpy() for part in as_list(run(self.sample, replace_inputs(self.sample, [], [])))]

    def loss(self, *values):
        parts = as_list(run(self.sample, replace_inputs(self.sample, self.places, values)))
        return weighted_sum([part for part in parts if part.dtype.kind in "fc"], mg.tensor)

    def gradients(self):
        return self.of(self.loss)

    def second_gradients(self):
        first = mg.grad(self.loss, tuple(range(len(self.values))))
        return self.of(lambda *values: weighted_sum(first(*values), mg.tensor))

    def of(self, function):
        return [each.numpy() for each in mg.grad(function, tuple(range(len(self.values))))(*self.values)]


class Theirs:
    """The same sample in PyTorch."""

    def __init__(self, sample, function):
        import torch

        self.torch, self.sample, self.function, self.places = torch, sample, function, differentiable_inputs(sample)

    def apply(self):
        leaves = {i: self.torch.tensor(self.sample.inputs[i], requires_grad=True) for i in self.places}
        inputs = [leaves[i] if i in leaves else self.torch.tensor(value) if hasattr(value, "dtype") else value
                  for i, value in enumerate(self.sample.inputs)]  # fmt: skip
        return as_list(self.function(*inputs, **self.sample.params)), list(leaves.values())

    def outputs(self):
        return [part.numpy(force=True) for part in self.apply()[0]]

    def gradients(self):
        outputs, leaves = self.apply()
        return [each.numpy(force=True) for each in self.of(outputs, leaves)]

    def second_gradients(self):
        outputs, leaves = self.apply()
        first = self.of(outputs, leaves, create_graph=True)
        return [each.numpy(force=True) for each in self.of(first, leaves)]

    def of(self, parts, leaves, **options):
        parts = [part for part in parts if part.is_floating_point() or part.is_complex()]
        loss = weighted_sum(parts, self.torch.tensor)
        if not loss.requires_grad:
            return [self.torch.zeros_like(leaf) for leaf in leaves]
        return self.torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True, **options)


def as_list(result):
    """Return the results of a call as a list, even if there is only one."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def weighted_sum(parts, tensor):
    """Return a weighted sum of the entries of all parts, as a real number, for either library."""
    total = 0.0
    for place, part in enumerate(parts):
        rng = np.random.default_rng([23, place])
        weights = rng.uniform(0.5, 1.5, tuple(part.shape)) * rng.choice([-1.0, 1.0], tuple(part.shape))
        is_complex = "complex" in str(part.dtype)
        total = total + ((part.real if is_complex else part) * tensor(weights)).sum()
        if is_complex:
            total = total + (part.imag * tensor(np.flip(weights) * 0.7)).sum()
    return total


def agree(ours, theirs, what):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape, what
        assert mine.dtype == other.dtype, what
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-10, err_msg=what)


@pytest.mark.parametrize(("name", "i"), CALLS, ids=[f"{name}-{i}" for name, i in CALLS])
def test_values_and_two_gradients_agree_with_pytorch(torch_words, name, i):
    assert name in torch_words, f"{name} has a sample, but no word of PyTorch's and no reason why there is none"
    sample = samples[name][i]
    ours, theirs = Ours(sample), Theirs(sample, torch_words[name])
    agree(ours.outputs(), theirs.outputs(), f"{sample}: the value")
    agree(ours.gradients(), theirs.gradients(), f"{sample}: the gradient")
    agree(ours.second_gradients(), theirs.second_gradients(), f"{sample}: the gradient of the gradient")


# Kinks, ties and edges: where two libraries may differ, and these do not ------------------------------------

INF, NAN = np.inf, np.nan
CORNERS = [-6.0, -3.0, -1.0, -0.0, 0.0, 1.0, 3.0, 6.0]
FAR_OUT = [-1000.0, -40.0, 40.0, 1000.0]
TIES = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, 1.0, 2.0]]
ZEROS = [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]]
EDGES = [0.0, 1.0, -1.0, 0.5]
IMAGE = [[[[-1.0, -1.0, -2.0], [-1.0, -1.0, -2.0], [-2.0, -2.0, -2.0]]]]
SEES_NOTHING = [[-INF, -INF], [0.0, -INF]]


def at(name, *inputs, **params):
    """Return a call of an operation at a point, with its label in the list of tests."""
    shown = [*map(str, inputs), *(f"{key}={value}" for key, value in params.items())]
    return pytest.param(name, inputs, params, id=f"{name}({', '.join(shown)})")


POINTS = [
    *(at(name, CORNERS) for name in (
        "absolute", "sign", "floor", "ceil", "trunc", "round", "relu", "relu6", "leaky_relu", "elu", "selu",
        "celu", "hardtanh", "hardsigmoid", "hardswish", "softsign", "mish", "silu", "gelu_erf", "gelu_tanh",
    )),
    *(at(name, FAR_OUT) for name in (
        "sigmoid", "logsigmoid", "softplus", "tanh", "silu", "mish", "gelu_erf", "gelu_tanh", "erf", "erfc",
        "elu", "selu",
    )),
    *(at(name, EDGES) for name in (
        "sqrt", "rsqrt", "log", "log1p", "reciprocal", "arcsin", "arccos", "arctanh", "square",
    )),
    at("clip", CORNERS, -1.0, 3.0),
    at("clip", CORNERS, 1.0, 1.0),
    at("clip", CORNERS, 3.0, -3.0),
    at("clip", CORNERS, [-1.0], [3.0]),
    at("clip", CORNERS, [1.0], [1.0]),
    at("clip", CORNERS, [3.0], [-3.0]),
    *(at(name, [1.0, 2.0, 3.0, INF], [1.0, 3.0, 2.0, INF]) for name in ("maximum", "minimum")),
    *(at(name, TIES, axis=axis) for name in ("max", "min") for axis in (0, 1, None)),
    at("max", [[1.0, NAN, 3.0], [2.0, INF, INF]], axis=1),
    *(at("sort", TIES, axis=1, descending=descending) for descending in (False, True)),
    at("sort", [3.0, NAN, 1.0, 2.0]),
    at("cummax_with_indices", TIES, axis=1),
    at("quantile", TIES, q=0.5, axis=1),
    *(at("quantile", TIES, q=q) for q in (0.0, 1.0)),
    at("quantile", [[1.0, NAN, 3.0], [2.0, 1.0, INF]], q=0.5, axis=1),
    at("median", [[1.0, NAN, 3.0], [2.0, 1.0, INF]], axis=1),
    at("max_pool2d", IMAGE, kernel_size=(2, 2), stride=(1, 1)),
    at("max_pool2d", IMAGE, kernel_size=(2, 2), stride=(1, 1), padding=(1, 1)),
    *(at(name, ZEROS, axis=axis) for name in ("prod", "cumprod") for axis in (0, 1)),
    *(at("power", [0.0, -0.0, 2.0, -2.0], exponent) for exponent in (0, 1, 2, 3, -1, 0.0, 1.0, 2.0, -2.0)),
    at("power", [0.0, 0.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 2.0, 3.0, 0.5, 0.0]),
    at("power", [0.0, 0.0], [-1.0, -0.5]),
    at("power", [-2.0, -2.0, -2.0, -2.0, -2.0], [0.0, 1.0, 2.0, 3.0, -1.0]),
    at("power", 0.0, [0.0, 1.0, 2.0, 0.5, -1.0]),
    at("where", [True, False], [1.0, NAN], [NAN, 2.0]),
    at("logsumexp", [[0.0, -INF, 1.0], [1000.0, 1000.0, -1000.0], [-INF, -INF, -INF]], axis=1),
    at("logaddexp", [0.0, -INF, 1.0, 1000.0], [-INF, 0.0, 1.0, -1000.0]),
    *(at(name, [[0.0, -INF, 1.0], [1000.0, 1000.0, -1000.0]]) for name in ("softmax", "log_softmax")),
    *(at(name, [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]], axis=1) for name in ("std", "var")),
    at("norm", [[0.0, 0.0], [3.0, 4.0]], axis=1),
    at("layer_norm", [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]]),
    at("copysign", [0.0, 1.0, -1.0, -0.0], [-1.0, -0.0, 0.0, 1.0]),
    *(at(name, [5.3, -5.3, 4.0, -4.0, 5.3], [2.1, 2.1, 2.0, -2.0, -2.1]) for name in ("fmod", "remainder")),
    at("binary_cross_entropy_with_logits", FAR_OUT, [1.0, 0.0, 1.0, 0.0]),
    at("softmax_cross_entropy", [[1000.0, 0.0, -1000.0]], [[0.0, 0.5, 0.5]]),
    at("scaled_dot_product_attention", *[[[1.0, 2.0], [3.0, 4.0]]] * 3, SEES_NOTHING),
    *(at(name, [0j, 3 + 4j, -2 + 0j]) for name in ("absolute", "sign", "angle", "norm")),
    at("power", [0j, 3 + 4j], 2),
]  # fmt: skip


def point_sample(name, inputs, params):
    """Return the call as a sample: lists become arrays, numbers stay numbers."""
    op = samples[name][0].op
    arrays = [np.array(value) if isinstance(value, list) else value for value in inputs]
    return Sample(op, arrays, {**op.params, **params}, {})


@pytest.mark.parametrize(("name", "inputs", "params"), POINTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kinks_and_ties_follow_the_conventions_of_pytorch(torch_words, name, inputs, params):
    sample = point_sample(name, inputs, params)
    theirs = Theirs(Sample(sample.op, sample.inputs, params, {}), torch_words[name])
    ours = Ours(sample)
    agree(ours.outputs(), theirs.outputs(), f"{sample}: the value")
    agree(ours.gradients(), theirs.gradients(), f"{sample}: the gradient")


def test_median_of_an_even_count_differs_from_pytorch():
    import torch

    assert mg.median(mg.tensor([4.0, 1.0, 2.0, 3.0])).item() == 2.5
    assert torch.median(torch.tensor([4.0, 1.0, 2.0, 3.0])).item() == 2.0
    assert mg.median(mg.tensor([3.0, 1.0, 2.0])).item() == torch.median(torch.tensor([3.0, 1.0, 2.0])).item()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_gradient_of_angle_at_0_differs_from_pytorch():
    import torch

    ours = mg.grad(mg.arctan2, (0, 1))(0.0, 0.0)
    theirs = torch.autograd.functional.jacobian(torch.arctan2, (torch.tensor(0.0), torch.tensor(0.0)))
    assert [np.isnan(each.item()) for each in ours] == [True, True]
    assert [each.item() for each in theirs] == [0.0, 0.0]
