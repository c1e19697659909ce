"""Single steps of recurrent networks. Shapes: input (..., in), states (..., H); `w_ih` has a row for each gate of each
of the H units."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor
from .products import linear

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]


def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """Compute one step of an Elman recurrent network with tanh.

    h' = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh).

    Shapes: input (..., in), hx (..., H), w_ih (H, in), w_hh (H, H), b_ih and b_hh (H,) -> (..., H).
    Args:
        input: real numbers, x.
        hx: the hidden state, h.
        w_ih: weights of the input.
        w_hh: weights of the hidden state.
        b_ih, b_hh: biases beside w_ih and w_hh; None by default.
    Returns: a tensor (..., H), the next hidden state.
    Raises: ValueError if shapes do not fit; TypeError if any of them is not made of numbers.
    Example:
        >>> x, h = mg.tensor([1.0]), mg.tensor([2.0])
        >>> F.rnn_tanh_cell(x, h, mg.tensor([[3.0]]), mg.tensor([[-1.0]])).numpy().round(4).tolist()
        [0.7616]

    See: torch.nn.RNNCell; Elman, Finding structure in time, 1990.
    """
    return ops.tanh(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """Compute one step of an Elman recurrent network with ReLU.

    h' = relu(w_ih @ x + b_ih + w_hh @ h + b_hh).

    Shapes: input (..., in), hx (..., H), w_ih (H, in), w_hh (H, H), b_ih and b_hh (H,) -> (..., H).
    Args:
        input: real numbers, x.
        hx: the hidden state, h.
        w_ih: weights of the input.
        w_hh: weights of the hidden state.
        b_ih, b_hh: biases beside w_ih and w_hh; None by default.
    Returns: a tensor (..., H), the next hidden state.
    Raises: ValueError if shapes do not fit; TypeError if any of them is complex or not made of numbers.
    Example:
        >>> x, h = mg.tensor([1.0]), mg.tensor([2.0])
        >>> F.rnn_relu_cell(x, h, mg.tensor([[3.0]]), mg.tensor([[-1.0]])).tolist()
        [1.0]

    See: torch.nn.RNNCell; Le et al., A simple way to initialize recurrent networks of rectified linear units, 2015.
    """
    return ops.relu(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


def lstm_cell(
    input: Any, hx: tuple[Any, Any], w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """Compute one step of a long short-term memory (LSTM).

    With z = w_ih @ x + b_ih + w_hh @ h + b_hh parted into four of length H, z_i, z_f, z_g and z_o:

        i, f, o = σ(z_i), σ(z_f), σ(z_o)    input, forget and output gates
        g = tanh(z_g)                       the candidate
        c' = f · c + i · g
        h' = o · tanh(c')

    Shapes: input (..., in), h and c (..., H), w_ih (4 H, in), w_hh (4 H, H), b_ih and b_hh (4 H,) -> two of (..., H).
    Args:
        input: real numbers, x.
        hx: the hidden state and the cell, (h, c).
        w_ih: weights of the input, the rows of the gates one below the other in the order above.
        w_hh: weights of the hidden state, in the same order.
        b_ih, b_hh: biases beside w_ih and w_hh; None by default.
    Returns: two tensors, the next hidden state h' and the next cell c'.
    Raises: ValueError if shapes do not fit, or hx is no pair; TypeError if any of them is complex or not made of
        numbers.
    Example:
        >>> x, h, c = mg.tensor([1.0]), mg.tensor([0.0]), mg.tensor([2.0])
        >>> zeros = mg.tensor(np.zeros((4, 1)))
        >>> [each.numpy().round(4).tolist() for each in F.lstm_cell(x, (h, c), zeros, zeros)]
        [[0.3808], [1.0]]

    See: torch.nn.LSTMCell; Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to forget,
        2000.
    """
    hidden, cell = hx
    return ops.lstm_cell(linear(input, w_ih, b_ih) + linear(hidden, w_hh, b_hh), cell)


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """Compute one step of a gated recurrent unit (GRU).

    With a = w_ih @ x + b_ih and b = w_hh @ h + b_hh, each parted into three of length H (r, z and n):

        r, z = σ(a_r + b_r), σ(a_z + b_z)    reset and update gates
        n = tanh(a_n + r · b_n)              the candidate
        h' = (1 - z) · n + z · h

    Shapes: input (..., in), hx (..., H), w_ih (3 H, in), w_hh (3 H, H), b_ih and b_hh (3 H,) -> (..., H).
    Args:
        input: real numbers, x.
        hx: the hidden state, h.
        w_ih: weights of the input, the rows of the gates one below the other in the order above.
        w_hh: weights of the hidden state, in the same order.
        b_ih, b_hh: biases beside w_ih and w_hh; None by default.
    Returns: a tensor (..., H), the next hidden state.
    Raises: ValueError if shapes do not fit; TypeError if any of them is complex or not made of numbers.
    Example:
        >>> x, h = mg.tensor([1.0]), mg.tensor([2.0])
        >>> zeros = mg.tensor(np.zeros((3, 1)))
        >>> F.gru_cell(x, h, zeros, zeros).tolist()
        [1.0]

    See: torch.nn.GRUCell; Cho et al., Learning phrase representations using RNN encoder-decoder, 2014.
    """
    return ops.gru_cell(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)
