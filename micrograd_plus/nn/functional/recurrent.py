"""Single steps of recurrent networks. Shapes: input (..., in), states (..., H); `w_ih` has a row for each gate of each
of the H units."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor
from .products import linear

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]


def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """tanh of the input and the hidden state, each through its linear layer.

    Shapes: input (..., in), hidden (..., H), w_ih (H, in), w_hh (H, H), biases (H,).
    """
    return ops.tanh(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """relu of the input and the hidden state, each through its linear layer. Shapes as in `rnn_tanh_cell`."""
    return ops.relu(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


def lstm_cell(
    input: Any, hx: tuple[Any, Any], w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory: from the input and (hidden, cell) to the next (hidden, cell).

    Shapes: input (..., in), hidden and cell (..., H), w_ih (4 H, in), w_hh (4 H, H), biases (4 H,).
    """
    hidden, cell = hx
    return ops.lstm_cell(linear(input, w_ih, b_ih) + linear(hidden, w_hh, b_hh), cell)


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of a gated recurrent unit: from the input and the hidden state to the next hidden state.

    Shapes: input (..., in), hidden (..., H), w_ih (3 H, in), w_hh (3 H, H), biases (3 H,).
    """
    return ops.gru_cell(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)
