"""Layers, losses, and what holds them together, under PyTorch's names.

micrograd's own Neuron, Layer and MLP, on `Value`s, are here too.
"""

from __future__ import annotations

from typing import Any

from . import (
    activations,
    attention,
    containers,
    functional,
    init,
    layers,
    losses,
    module,
    more_layers,
    normalisation,
    recurrent,
    utils,
)
from .activations import *  # noqa: F403 - each subject lists its names once
from .attention import *  # noqa: F403 - the same
from .containers import *  # noqa: F403 - the same
from .layers import *  # noqa: F403 - the same
from .losses import *  # noqa: F403 - the same
from .module import *  # noqa: F403 - the same
from .more_layers import *  # noqa: F403 - the same
from .normalisation import *  # noqa: F403 - the same
from .recurrent import *  # noqa: F403 - the same

ON_VALUES = ("Neuron", "Layer", "MLP")

__all__ = ["functional", "init", "utils"]
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += containers.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += module.__all__
__all__ += more_layers.__all__
__all__ += normalisation.__all__
__all__ += recurrent.__all__


def __getattr__(name: str) -> Any:
    """micrograd's classes, loaded when they are asked for."""
    if name in ON_VALUES:
        from . import scalars

        return getattr(scalars, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
