"""Which modes are on, anywhere: for tests that see that none is left behind."""

from micrograd_plus.core import modes
from micrograd_plus.core.runtime import blocks
from micrograd_plus.transforms.checkpoint import _running


def open_modes():
    """The names of the modes of which a block is open, in whatever thread."""
    known = {"gradients": modes.grad_enabled, "unfused": modes.unfused, "recording": modes.recording}
    known |= {"checkpoint": _running, "transforms": blocks.transforming}
    return [name for name, mode in known.items() if mode.open]
