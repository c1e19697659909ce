"""Wrong local derivatives of arithmetic, powers and choices."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
PAIR, OTHER_PAIR = np.array([2.0, -3.0]), np.array([1.0, 4.0])


@wrong(ops.subtract, "b", lazy=None)
def minus_forgotten():
    """If b grows, a − b shrinks. Every entry has the right size and the wrong sign."""
    return 1


@wrong(ops.multiply, "a", lazy=Lazy("both factors are equal", PAIR, PAIR))
def own_factor(a):
    """A factor is given its own value where it should be given the other's. If a is 0, its gradient is 0, too."""
    return a


@wrong(ops.divide, "b", lazy=None)
def minus_of_a_quotient_forgotten(out, b):
    """1 / b falls as b grows. Every entry has the right size and the wrong sign."""
    return out / b


@wrong(ops.divide, "b", lazy=Lazy("every divisor is 1", PAIR, np.array([1.0, 1.0])))
def square_forgotten(a, b):
    """The power rule lowers the exponent of b⁻¹ to −2, not back to −1. Each entry is its divisor times too large."""
    return -a / b


@wrong(ops.power, "base", lazy=Lazy("every base is 1", np.array([1.0, 1.0]), 3.0))
def exponent_not_lowered(base, exponent):
    """The power comes down as a factor, and stays up as well. Each entry is its base times too large."""
    return exponent * base**exponent


@wrong(ops.power, "base", lazy=Lazy("the exponent is 1", PAIR, 1.0))
def factor_forgotten(base, exponent):
    """The exponent is lowered, and does not come down as a factor. All entries are too small, by the exponent."""
    return base ** (exponent - 1)


@wrong(ops.exp, "x", lazy=None)
def input_for_output(x):
    """The exponential is its own slope; its input is not. For negative x the sign is wrong too."""
    return x


@wrong(ops.log, "x", lazy=Lazy("x is 1", np.array([1.0, 1.0])))
def multiplied_for_divided(x):
    """The logarithm is flat where x is large; here it is steepest there. Each entry is x² times too large."""
    return x


@wrong(ops.log, "x", lazy=None)
def output_for_input(out):
    """The slope is 1 / x, but this rule reads the output instead of the input. Below x = 1 the sign is wrong too."""
    return 1 / out


@wrong(ops.sqrt, "x", lazy=Lazy("x is 1", np.array([1.0, 1.0])))
def root_not_taken(x):
    """The slope is half the reciprocal of the root; of x itself it is √x times too small."""
    return 1 / (2 * x)


@wrong(ops.absolute, "x", lazy=Lazy("x is 1 or −1", np.array([1.0, -1.0, 1.0])))
def slope_of_x_itself(x):
    """|x| is equally steep everywhere. Here it gets steeper with the distance from 0, by that distance."""
    return x


@wrong(ops.where, "a", lazy=Lazy("the condition holds everywhere", np.array([True, True]), PAIR, OTHER_PAIR))
def both_branches_receive(upstream):
    """An entry that was not chosen does not affect the output, but receives upstream."""
    return upstream


@wrong(ops.maximum, "a", lazy=Lazy("no two numbers are equal", PAIR, OTHER_PAIR))
def ties_of_a_pair_counted_twice(a, b):
    """At a tie each of the two receives the whole gradient: together twice what arrived."""
    return 1.0 * (a >= b)


@ties_of_a_pair_counted_twice.rule("b")
def _(a, b):
    return 1.0 * (b >= a)
