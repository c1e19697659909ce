"""Layers, losses and containers, under PyTorch's names.

micrograd's own Neuron, Layer and MLP, on `Value`s, are here too.
"""

from __future__ import annotations

from typing import Any

from ..core.messages import missing_name
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
from .activations import *
from .attention import *
from .containers import *
from .convolution import *
from .dropout import *
from .embedding import *
from .images import *
from .linear import *
from .losses import *
from .module import *
from .normalisation import *
from .pooling import *
from .recurrent import *
from .transformer import *

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
    """Import micrograd's classes on first use."""
    if name in ON_VALUES:
        from . import scalars

        return getattr(scalars, name)
    raise missing_name(__name__, name, __all__)
