"""The bends of neural networks, entry by entry. At a kink the convention is PyTorch's."""

from math import pi, sqrt

from ..op import elementwise, mask, real_only

ROOT_HALF = sqrt(0.5)
ROOT_TWO_OVER_PI = sqrt(2 / pi)
SELU_SCALE = 1.0507009873554804934193349852946  # Klambauer et al. 2017: mean 0 and variance 1 map to themselves
SELU_ALPHA = 1.6732632423543772848170429916717


@elementwise(x=lambda out: out * (1 - out))
def sigmoid(xp, x):
    """The logistic function 1 / (1 + exp(-x)): a smooth step from 0 to 1. No exponential overflows."""
    return xp.exp(xp.minimum(x, 0.0)) / (1 + xp.exp(xp.copysign(x, -1.0)))


@elementwise(x=lambda xp, out: -xp.expm1(out))
def logsigmoid(xp, x):
    """The logarithm of the sigmoid."""
    return -xp.softplus(-x)


@elementwise(x=lambda xp, out: -xp.expm1(-out))
def softplus(xp, x):
    """log(1 + exp(x)): a rounded relu, whose slope is the sigmoid. No exponential overflows."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(xp.copysign(x, -1.0)))


@elementwise(x=mask(lambda out: out > 0))
def relu(xp, x):
    """x where it is positive, else 0. At 0 the slope is 0."""
    return xp.maximum(x, 0.0)


@elementwise(x=lambda xp, x, slope: xp.where(x > 0, 1.0, slope))
@real_only
def leaky_relu(xp, x, *, slope=0.01):
    """x where it is positive, else a little of it: `slope * x`. At 0 the slope is the small one."""
    return xp.where(x > 0, x, slope * x)


@elementwise(x=lambda xp, x, alpha: xp.where(x > 0, 1.0, alpha * xp.exp(xp.minimum(x, 0.0))))
@real_only
def elu(xp, x, *, alpha=1.0):
    """x where it is positive, else an exponential that levels off at -alpha."""
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0.0)))


@elementwise(x=lambda xp, x: SELU_SCALE * xp.where(x > 0, 1.0, SELU_ALPHA * xp.exp(xp.minimum(x, 0.0))))
def selu(xp, x):
    """elu scaled so that activations of mean 0 and variance 1 stay so (Klambauer et al. 2017)."""
    return SELU_SCALE * xp.elu(x, alpha=SELU_ALPHA)


@elementwise(x=lambda xp, x, alpha: xp.where(x > 0, 1.0, xp.exp(xp.minimum(x, 0.0) / alpha)))
@real_only
def celu(xp, x, *, alpha=1.0):
    """elu without a corner for any alpha: the exponential is stretched to meet slope 1 at 0."""
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0.0) / alpha))


@elementwise(x=mask(lambda x: (x > 0) & (x < 6)))
def relu6(xp, x):
    """relu that stops at 6. At both corners the slope is 0."""
    return xp.minimum(xp.maximum(x, 0.0), 6.0)


@elementwise(x=mask(lambda x, low, high: (x > low) & (x < high)))
def hardtanh(xp, x, *, low=-1.0, high=1.0):
    """x held between two bounds. At the bounds the slope is 0."""
    return xp.minimum(xp.maximum(x, low), high)


@elementwise(x=lambda xp, x: xp.where((x > -3) & (x < 3), 1 / 6, 0.0))
def hardsigmoid(xp, x):
    """The sigmoid in three straight pieces. At the corners the slope is 0."""
    return xp.relu6(x + 3) / 6


@elementwise(x=lambda xp, x: xp.where(x >= 3, 1.0, xp.where(x > -3, x / 3 + 0.5, 0.0)))
def hardswish(xp, x):
    """x times its hard sigmoid."""
    return x * xp.hardsigmoid(x)


@elementwise(x=lambda x: 1 / ((1 + abs(x)) * (1 + abs(x))))
@real_only
def softsign(xp, x):
    """x / (1 + |x|): a step from -1 to 1 with long tails."""
    return x / (1 + abs(x))


@elementwise()
def mish(xp, x):
    """x times the tanh of its softplus."""
    return x * xp.tanh(xp.softplus(x))


@mish.rule("x")
def _(xp, x):
    """A product's: the share that is let through, and x times how that share grows."""
    share = xp.tanh(xp.softplus(x))
    return share + x * (1 - share * share) * xp.sigmoid(x)


@elementwise()
def silu(xp, x):
    """x times its sigmoid, also called swish."""
    return x * xp.sigmoid(x)


@silu.rule("x")
def _(xp, x):
    """A product's: the share that is let through, and x times how that share grows."""
    share = xp.sigmoid(x)
    return share + x * (1 - share) * share


@elementwise(x=lambda xp, x: 0.5 * xp.erfc(-x * ROOT_HALF) + x * xp.exp(-0.5 * x * x) / sqrt(2 * pi))
def gelu_erf(xp, x):
    """x times the share of a bell curve below x."""
    return 0.5 * x * xp.erfc(-x * ROOT_HALF)


@elementwise()
def gelu_tanh(xp, x):
    """gelu with its bell curve approximated by a tanh (Hendrycks and Gimpel 2016)."""
    return 0.5 * x * (1 + xp.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x)))


@gelu_tanh.rule("x")
def _(xp, x):
    """A product's: the share that is let through, and x times how that share grows."""
    bend = xp.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x))
    growth = 0.5 * (1 - bend * bend) * ROOT_TWO_OVER_PI * (1 + 0.134145 * x * x)
    return 0.5 * (1 + bend) + x * growth


def gelu(x, approximate="none"):
    """x times the share of a bell curve below x: exactly ("none"), or as first published ("tanh").

    The two differ by up to 5e-4, and so do their slopes: a rule belongs to one of them.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' (exact) or 'tanh', got {approximate!r}")
    return gelu_erf(x) if approximate == "none" else gelu_tanh(x)
