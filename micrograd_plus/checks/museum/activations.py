"""Wrong rules of activation functions."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library


@wrong(ops.tanh, "x", lazy=Lazy("x is 0", np.zeros(3)))
def rule_on_the_input(x):
    """The slope is 1 − out². Computed from the input instead of the output it becomes negative, which the slope of
    tanh never is."""
    return 1 - x * x


@wrong(ops.sigmoid, "x", lazy=None)
def rule_on_the_input_of_a_probability(x):
    """A probability p has the slope p (1 − p); the input is no probability, and the slope comes out below 0."""
    return x * (1 - x)


@wrong(ops.relu, "x", lazy=Lazy("x is positive everywhere", np.array([1.0, 2.0])))
def gate_always_open():
    """Entries that the gate blocks in the forward pass receive a gradient in the backward pass."""
    return 1


@wrong(ops.leaky_relu, "x", lazy=Lazy("the slope is 1", np.array([2.0, -3.0]), slope=1.0))
def slope_on_the_wrong_side(xp, x, slope):
    """The small slope belongs where x is negative. Here it is where x is positive."""
    return xp.where(x > 0, slope, 1.0)


@wrong(ops.leaky_relu, "x", lazy=Lazy("x is positive everywhere", np.array([1.0, 2.0])))
def nothing_on_the_negative_side(xp, x):
    """That is relu's slope: entries below 0 receive nothing, and what makes the gate leak is lost."""
    return xp.where(x > 0, 1.0, 0.0)


@wrong(ops.clip, "x", lazy=Lazy("x is inside the bounds everywhere", np.array([0.2, -0.3]), -1.0, 1.0))
def passes_outside_the_range():
    """An entry beyond a bound does not move the output, and receives upstream all the same."""
    return 1


@wrong(ops.gelu_erf, "x", lazy=Lazy("x is 0 (or the tolerance is a hundredth)", np.zeros(3)))
def slope_of_the_other_form(xp, x):
    """There are two GELUs, and this is the slope of the one made with tanh. It is off everywhere but at 0,
    and hardly anywhere by more than a hundredth."""
    inner = 0.7978845608028654 * (x + 0.044715 * x**3)
    steep = 0.7978845608028654 * (1 + 0.134145 * x**2)
    return 0.5 * (1 + xp.tanh(inner)) + 0.5 * x * (1 - xp.tanh(inner) ** 2) * steep
