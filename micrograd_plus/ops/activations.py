"""Activation functions of neural networks, elementwise. At kinks the derivatives are PyTorch's."""

from math import pi, sqrt

from ..core.define import elementwise, mask, real_only

ROOT_HALF = sqrt(0.5)
ROOT_TWO_OVER_PI = sqrt(2 / pi)
SELU_SCALE = 1.0507009873554804934193349852946  # Klambauer et al. 2017: mean 0 and variance 1 map to themselves
SELU_ALPHA = 1.6732632423543772848170429916717


@elementwise(x=lambda out: out * (1 - out))
def sigmoid(xp, x):
    """Compute the logistic sigmoid, a smooth step from 0 to 1.

    σ(x) = 1 / (1 + exp(-x)), computed so that no exponential overflows.
    >>> mg.sigmoid([-1000.0, 0.0, 2.0])
    tensor([0.        , 0.5       , 0.88079708])
    See: torch.sigmoid; scipy.special.expit; CS231n notes, Neural Networks Part 1."""
    return xp.exp(xp.minimum(x, 0.0)) / (1 + xp.exp(xp.copysign(x, -1.0)))


@elementwise(x=lambda xp, out: -xp.expm1(out))
def logsigmoid(xp, x):
    """Compute the logarithm of the logistic sigmoid.

    log σ(x) = -log(1 + exp(-x)) = -softplus(-x). It stays finite where the sigmoid rounds to 0.
    Raises: TypeError if x is complex, boolean or not numeric.
    >>> mg.logsigmoid([-3.0, 0.0, 3.0])
    tensor([-3.04858735, -0.69314718, -0.04858735])
    See: torch.nn.functional.logsigmoid; scipy.special.log_expit."""
    return -xp.softplus(-x)


@elementwise(x=lambda xp, out: -xp.expm1(-out))
def softplus(xp, x):
    """Compute the softplus, a smooth version of ReLU whose derivative is the sigmoid.

    softplus(x) = log(1 + exp(x)), computed as max(x, 0) + log(1 + exp(-|x|)), where no exponential overflows.
    >>> mg.softplus([-1.0, 0.0, 1.0])
    tensor([0.31326169, 0.69314718, 1.31326169])
    See: torch.nn.functional.softplus; Dugas et al., Incorporating Second-Order Functional Knowledge for Better Option
        Pricing, 2000."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(xp.copysign(x, -1.0)))


@elementwise(x=mask(lambda out: out > 0))
def relu(xp, x):
    """Compute the rectified linear unit (ReLU): x if positive, else 0.

    relu(x) = max(x, 0). At the kink x = 0 the derivative is 0, as in PyTorch.
    Returns: a tensor of the dtype of x; float64 for integers.
    >>> mg.relu([-1.0, 0.0, 2.0]).tolist()
    [0.0, 0.0, 2.0]
    >>> mg.grad(mg.relu)(0.0).item()
    0.0
    See: torch.relu; Nair and Hinton, Rectified Linear Units Improve Restricted Boltzmann Machines, 2010."""
    return xp.maximum(x, 0.0)


@elementwise(x=lambda xp, x, slope: xp.where(x > 0, 1.0, slope))
@real_only
def leaky_relu(xp, x, *, slope=0.01):
    """Compute the leaky ReLU: x if positive, else a small multiple of x.

    leaky_relu(x) = x for x > 0, slope · x otherwise. At the kink x = 0 the derivative is `slope`, as in PyTorch.
    Args:
        slope: the factor for negative x, a number; default 0.01.
    Raises: TypeError if x is complex or not numeric, or slope is not a number.
    >>> mg.leaky_relu([-2.0, 3.0], slope=0.1).tolist()
    [-0.2, 3.0]
    See: torch.nn.functional.leaky_relu; Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic
        Models, 2013."""
    return xp.where(x > 0, x, slope * x)


@elementwise(x=lambda xp, x, alpha: xp.where(x > 0, 1.0, alpha * xp.exp(xp.minimum(x, 0.0))))
@real_only
def elu(xp, x, *, alpha=1.0):
    """Compute the exponential linear unit (ELU): x above 0, an exponential that falls to -alpha below.

    elu(x) = x for x > 0, alpha · (exp(x) - 1) otherwise. At x = 0 the derivative is alpha, so alpha = 1 gives no kink.
    Args:
        alpha: minus the limit for x → -∞, a number; default 1.0.
    Raises: TypeError if x is complex or not numeric, or alpha is not a number.
    >>> mg.elu([-1.0, 0.0, 2.0])
    tensor([-0.63212056,  0.        ,  2.        ])
    See: torch.nn.functional.elu; Clevert, Unterthiner and Hochreiter, Fast and Accurate Deep Network Learning by
        Exponential Linear Units (ELUs), 2015."""
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0.0)))


@elementwise(x=lambda xp, x: SELU_SCALE * xp.where(x > 0, 1.0, SELU_ALPHA * xp.exp(xp.minimum(x, 0.0))))
def selu(xp, x):
    """Compute the scaled exponential linear unit (SELU), which preserves mean 0 and variance 1.

    selu(x) = λ · elu(x, alpha) with λ = 1.0507… and alpha = 1.6733…, chosen so that a standard normal x is mapped to
    mean 0 and variance 1. At x = 0 the derivative is λ · alpha.
    >>> mg.selu([-1.0, 0.0, 1.0])
    tensor([-1.11133074,  0.        ,  1.05070099])
    See: torch.nn.functional.selu; Klambauer, Unterthiner, Mayr and Hochreiter, Self-Normalizing Neural Networks, 2017.
    """
    return SELU_SCALE * xp.elu(x, alpha=SELU_ALPHA)


@elementwise(x=lambda xp, x, alpha: xp.where(x > 0, 1.0, xp.exp(xp.minimum(x, 0.0) / alpha)))
@real_only
def celu(xp, x, *, alpha=1.0):
    """Compute the continuously differentiable ELU (CELU), which has no kink for any alpha.

    celu(x) = x for x > 0, alpha · (exp(x / alpha) - 1) otherwise, so the derivative at x = 0 is 1 on both sides.
    Args:
        alpha: minus the limit for x → -∞, a positive number; default 1.0.
    Raises: TypeError if x is complex or not numeric, or alpha is not a number.
    >>> mg.celu([-1.0, 0.0, 2.0], alpha=2.0)
    tensor([-0.78693868,  0.        ,  2.        ])
    See: torch.nn.functional.celu; Barron, Continuously Differentiable Exponential Linear Units, 2017."""
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0.0) / alpha))


@elementwise(x=mask(lambda x: (x > 0) & (x < 6)))
def relu6(xp, x):
    """Compute the ReLU with an upper bound of 6.

    relu6(x) = min(max(x, 0), 6). At both kinks, 0 and 6, the derivative is 0.
    Returns: a tensor of the dtype of x; float64 for integers.
    >>> mg.relu6([-1.0, 3.0, 8.0]).tolist()
    [0.0, 3.0, 6.0]
    See: torch.nn.functional.relu6; Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010."""
    return xp.minimum(xp.maximum(x, 0.0), 6.0)


@elementwise(x=mask(lambda x, low, high: (x > low) & (x < high)))
def hardtanh(xp, x, *, low=-1.0, high=1.0):
    """Compute the hard tanh: x limited to the range from `low` to `high`.

    hardtanh(x) = min(max(x, low), high). At the bounds the derivative is 0, as in PyTorch; for `clip` it is 1.
    Args:
        low: the smallest result, a number; default -1.0.
        high: the largest result, a number; default 1.0.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: TypeError if x is complex or not numeric, or a bound is not a number.
    >>> mg.hardtanh([-3.0, 0.5, 3.0]).tolist()
    [-1.0, 0.5, 1.0]
    See: torch.nn.functional.hardtanh; Collobert, Large Scale Machine Learning, 2004."""
    return xp.minimum(xp.maximum(x, low), high)


@elementwise(x=lambda xp, x: xp.where((x > -3) & (x < 3), 1 / 6, 0.0))
def hardsigmoid(xp, x):
    """Compute the hard sigmoid, a piecewise linear approximation of the sigmoid.

    hardsigmoid(x) = relu6(x + 3) / 6: 0 up to -3, 1 from 3 on. At both kinks the derivative is 0.
    >>> mg.hardsigmoid([-4.0, 0.0, 4.0]).tolist()
    [0.0, 0.5, 1.0]
    See: torch.nn.functional.hardsigmoid; Howard et al., Searching for MobileNetV3, 2019."""
    return xp.relu6(x + 3) / 6


@elementwise(x=lambda xp, x: xp.where(x >= 3, 1.0, xp.where(x > -3, x / 3 + 0.5, 0.0)))
def hardswish(xp, x):
    """Compute the hard swish: x times its hard sigmoid.

    hardswish(x) = x · relu6(x + 3) / 6: 0 up to -3, x from 3 on. At -3 the derivative is 0, at 3 it is 1.
    >>> mg.hardswish([-1.5, 1.5, 4.0]).tolist()
    [-0.375, 1.125, 4.0]
    See: torch.nn.functional.hardswish; Howard et al., Searching for MobileNetV3, 2019."""
    return x * xp.hardsigmoid(x)


@elementwise(x=lambda x: 1 / ((1 + abs(x)) * (1 + abs(x))))
@real_only
def softsign(xp, x):
    """Compute the softsign, a smooth step from -1 to 1 with long tails.

    softsign(x) = x / (1 + |x|). It approaches its bounds as 1 / |x|, while tanh approaches them exponentially.
    >>> mg.softsign([-1.0, 0.0, 4.0]).tolist()
    [-0.5, 0.0, 0.8]
    See: torch.nn.functional.softsign; Glorot and Bengio, Understanding the Difficulty of Training Deep Feedforward
        Neural Networks, 2010."""
    return x / (1 + abs(x))


@elementwise()
def mish(xp, x):
    """Compute the mish: x times the tanh of its softplus.

    mish(x) = x · tanh(log(1 + exp(x))). It is smooth and has a minimum of about -0.31.
    >>> mg.mish([-1.0, 0.0, 2.0])
    tensor([-0.30340146,  0.        ,  1.94395896])
    See: torch.nn.functional.mish; Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019."""
    return x * xp.tanh(xp.softplus(x))


@mish.rule("x")
def _(xp, x):
    """The product rule: tanh(softplus(x)), plus x times its derivative."""
    share = xp.tanh(xp.softplus(x))
    return share + x * (1 - share * share) * xp.sigmoid(x)


@elementwise()
def silu(xp, x):
    """Compute the sigmoid linear unit (SiLU, or swish): x times its sigmoid.

    silu(x) = x · σ(x) = x / (1 + exp(-x)). It is smooth and has a minimum of about -0.28.
    >>> mg.silu([-1.0, 0.0, 2.0])
    tensor([-0.26894142,  0.        ,  1.76159416])
    See: torch.nn.functional.silu; Ramachandran, Zoph and Le, Searching for Activation Functions, 2017."""
    return x * xp.sigmoid(x)


@silu.rule("x")
def _(xp, x):
    """The product rule: σ(x), plus x times its derivative."""
    share = xp.sigmoid(x)
    return share + x * (1 - share) * share


@elementwise(x=lambda xp, x: 0.5 * xp.erfc(-x * ROOT_HALF) + x * xp.exp(-0.5 * x * x) / sqrt(2 * pi), public=False)
def gelu_erf(xp, x):
    """Compute the Gaussian error linear unit (GELU): x times the normal distribution function at x.

    gelu(x) = x · Φ(x) = x · erfc(-x / √2) / 2, where Φ is the standard normal distribution function.
    Raises: TypeError if x is complex, boolean or not numeric.
    >>> mg.ops.gelu_erf([-1.0, 0.0, 2.0])
    tensor([-0.15865525,  0.        ,  1.95449974])
    See: torch.nn.functional.gelu; Hendrycks and Gimpel, Gaussian Error Linear Units (GELUs), 2016."""
    return 0.5 * x * xp.erfc(-x * ROOT_HALF)


@elementwise(public=False)
@real_only
def gelu_tanh(xp, x):
    """Compute the tanh approximation of the Gaussian error linear unit (GELU).

    gelu(x) ≈ x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
    >>> mg.ops.gelu_tanh([-1.0, 0.0, 2.0])
    tensor([-0.15880801,  0.        ,  1.95459769])
    See: torch.nn.functional.gelu(approximate="tanh"); Hendrycks and Gimpel, Gaussian Error Linear Units (GELUs), 2016.
    """
    return 0.5 * x * (1 + xp.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x)))


@gelu_tanh.rule("x")
def _(xp, x):
    """The product rule: the tanh factor, plus x times its derivative."""
    bend = xp.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x))
    growth = 0.5 * (1 - bend * bend) * ROOT_TWO_OVER_PI * (1 + 0.134145 * x * x)
    return 0.5 * (1 + bend) + x * growth


def gelu(x, approximate="none"):
    """Compute the Gaussian error linear unit (GELU): x times the normal distribution function at x.

    gelu(x) = x · Φ(x), where Φ is the standard normal distribution function; with "tanh" x / 2 · (1 + tanh(√(2/π) · (x
    + 0.044715 x³))). The two differ by up to 5e-4. Since their derivatives differ, too, they are two operations,
    `gelu_erf` and `gelu_tanh`.
    Args:
        x: real numbers.
        approximate: "none" (exact, the default) or "tanh".
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError if approximate is unknown; TypeError if x is not numeric, or complex in the exact form.
    >>> mg.gelu([1.0, 2.0])
    tensor([0.84134475, 1.95449974])
    >>> mg.gelu([1.0, 2.0], approximate="tanh")
    tensor([0.84119199, 1.95459769])
    See: torch.nn.functional.gelu; Hendrycks and Gimpel, Gaussian Error Linear Units (GELUs), 2016."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate must be 'none' (exact) or 'tanh', got {approximate!r}")
    return gelu_erf(x) if approximate == "none" else gelu_tanh(x)
