"""Lists the modes that are active in any thread, so that tests can check that none is left."""

from micrograd_plus.core import modes
from micrograd_plus.core.runtime import blocks
from micrograd_plus.transforms.checkpoint import _running


def open_modes():
    """Return the names of the modes that have an open block in any thread."""
    known = {"gradients": modes.grad_enabled, "unfused": modes.unfused, "recording": modes.recording}
    known |= {"checkpoint": _running, "transforms": blocks.transforming}
    return [name for name, mode in known.items() if mode.open]
