"""Layers, activations and losses as functions, under PyTorch's names and with its signatures."""

from __future__ import annotations

from typing import NoReturn

from ...core.messages import missing_name, prefixes_errors
from . import (
    classification,
    conv,
    dot_product_attention,
    elementwise_losses,
    noise,
    nonlinearities,
    norms,
    pools,
    products,
    recurrent_cells,
    resizing,
    tables,
)
from .classification import *
from .conv import *
from .dot_product_attention import *
from .elementwise_losses import *
from .noise import *
from .nonlinearities import *
from .norms import *
from .pools import *
from .products import *
from .recurrent_cells import *
from .resizing import *
from .tables import *

SUBJECTS = (
    classification, conv, dot_product_attention, elementwise_losses, noise, nonlinearities, norms, pools, products,
    recurrent_cells, resizing, tables,
)  # fmt: skip

__all__ = [name for subject in SUBJECTS for name in subject.__all__]

ONE_OPERATION = {
    "celu", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "linear", "logsigmoid", "mish",
    "mse_loss", "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softsign", "tanh",
}  # fmt: skip
"""Functions that are one operation by another name; errors of operations are prefixed already."""

globals().update({name: prefixes_errors(globals()[name]) for name in __all__ if name not in ONE_OPERATION})


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)
