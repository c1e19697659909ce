"""Wrong rule of checkpoints, which shows in a whole program: a function that runs inside another one."""

from ...backends import devices
from ...transforms.checkpoint import _again, checkpoint
from ..samples import Sample
from .exhibit import Lazy, program, wrong

np = devices.device("cpu").library
POINT = np.array([0.5, -1.5, 2.0])


@program
def two_checkpoints(xp, x):
    """Run a function of a function, each under a checkpoint."""
    return checkpoint(xp.sin, checkpoint(xp.tanh, x))


@program
def one_checkpoint(xp, weight):
    """Run a single checkpoint that captures a weight."""
    return checkpoint(lambda x: xp.sin(x * weight), xp.stop_gradient(weight))


@wrong(
    _again, "parts", on=[Sample(two_checkpoints, [POINT], {}, {})],
    lazy=Lazy("only the weights inside one segment are looked at", POINT, program=one_checkpoint),
)  # fmt: skip
def cut_between_segments(xp, upstream, parts, results, program):
    """The segment is computed again from a copy of its input, and the gradient of the copy is lost: layers before the
    last checkpoint learn nothing."""
    received = program.contributions(xp, parts, results, upstream)
    count = len(program.given)
    return [0 * each for each in received[:count]] + received[count:]
