"""Layers, losses, and what holds them together, under PyTorch's names.

micrograd's own Neuron, Layer and MLP, on `Value`s, are here too.
"""

from __future__ import annotations

from typing import Any

from ..hints import no_such
from . import (
    activations,
    attention,
    containers,
    convolution,
    dropout,
    embedding,
    functional,
    images,
    init,
    linear,
    losses,
    module,
    normalisation,
    pooling,
    recurrent,
    transformer,
    utils,
)
from .activations import *  # noqa: F403 - each subject lists its names once
from .attention import *  # noqa: F403 - the same
from .containers import *  # noqa: F403 - the same
from .convolution import *  # noqa: F403 - the same
from .dropout import *  # noqa: F403 - the same
from .embedding import *  # noqa: F403 - the same
from .images import *  # noqa: F403 - the same
from .linear import *  # noqa: F403 - the same
from .losses import *  # noqa: F403 - the same
from .module import *  # noqa: F403 - the same
from .normalisation import *  # noqa: F403 - the same
from .pooling import *  # noqa: F403 - the same
from .recurrent import *  # noqa: F403 - the same
from .transformer import *  # noqa: F403 - the same

SUBJECTS = (
    activations, attention, containers, convolution, dropout, embedding, images, linear, losses, module, normalisation,
    pooling, recurrent, transformer,
)  # fmt: skip
ON_VALUES = ("Neuron", "Layer", "MLP")

__all__ = ["functional", "init", "utils"]
__all__ += [name for subject in SUBJECTS for name in subject.__all__]


def __dir__() -> list[str]:
    return sorted([*__all__, *ON_VALUES])


def __getattr__(name: str) -> Any:
    """micrograd's classes, loaded when they are asked for."""
    if name in ON_VALUES:
        from . import scalars

        return getattr(scalars, name)
    raise no_such(__name__, name, __all__)
