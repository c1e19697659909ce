"""Layers, activations and losses as functions, under PyTorch's names and with its signatures."""

from __future__ import annotations

from . import (
    activations,
    attention,
    classification,
    convolution,
    images,
    losses,
    noise,
    normalisation,
    pooling,
    products,
    recurrent,
    tables,
)
from .activations import *  # noqa: F403 - each subject lists its names once
from .attention import *  # noqa: F403 - the same
from .classification import *  # noqa: F403 - the same
from .convolution import *  # noqa: F403 - the same
from .images import *  # noqa: F403 - the same
from .losses import *  # noqa: F403 - the same
from .noise import *  # noqa: F403 - the same
from .normalisation import *  # noqa: F403 - the same
from .pooling import *  # noqa: F403 - the same
from .products import *  # noqa: F403 - the same
from .recurrent import *  # noqa: F403 - the same
from .tables import *  # noqa: F403 - the same

SUBJECTS = (
    activations, attention, classification, convolution, images, losses, noise, normalisation, pooling, products,
    recurrent, tables,
)  # fmt: skip

__all__ = [name for subject in SUBJECTS for name in subject.__all__]
