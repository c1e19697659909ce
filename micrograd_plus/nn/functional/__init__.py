"""Layers, activations and losses as functions, under PyTorch's names and signatures; `axis` is its `dim`."""

from __future__ import annotations

from ...hints import names_itself
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

ONE_OPERATION = {
    "celu", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "linear", "log_softmax", "logsigmoid",
    "mish", "mse_loss", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh",
}  # fmt: skip
"""What is an operation by another name. The errors of operations have names already."""

globals().update({name: names_itself(globals()[name]) for name in __all__ if name not in ONE_OPERATION})
