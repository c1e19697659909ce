"""Layers, activations and losses as functions, under PyTorch's names and signatures; `axis` is its `dim`."""

from __future__ import annotations

from . import activations, attention, classes, layers, losses, more
from .activations import *  # noqa: F403 - each subject lists its names once
from .attention import *  # noqa: F403 - the same
from .classes import *  # noqa: F403 - the same
from .layers import *  # noqa: F403 - the same
from .losses import *  # noqa: F403 - the same
from .more import *  # noqa: F403 - the same

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += classes.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += more.__all__
