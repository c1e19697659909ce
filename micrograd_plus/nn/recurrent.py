"""Recurrent networks over sequences, and their single steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..tensor import Tensor
from . import functional
from .functional.shapes import check_probability, constant_like
from .module import Module
from .parameters import Generator, check_sizes, parameter, start_by_hidden_size

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class _Recurrent(Module):
    """Base class of networks over sequences: parameters, layers and directions.

    `gates` is how many linear layers there are for each hidden unit, `states` how many states are carried along.
    """

    gates: int
    states = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        check_sizes(self, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        check_probability(f"{type(self).__name__}: dropout", dropout)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        self.rng = rng
        rows, width = self.gates * hidden_size, hidden_size * len(self._directions())
        for layer in range(num_layers):
            for direction in self._directions():
                shapes = {"weight_ih": (rows, width if layer else input_size), "weight_hh": (rows, hidden_size)}
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{layer}{direction}", parameter(shape, dtype, device))
        start_by_hidden_size(self, hidden_size, rng)

    def _directions(self) -> tuple[str, ...]:
        """Return the suffixes of the parameter names of each direction."""
        return ("", "_reverse") if self.bidirectional else ("",)

    def _parameters_of(self, layer: int, direction: str) -> list[Any]:
        """Return weight_ih, weight_hh, bias_ih, bias_hh, with None for missing biases."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return [getattr(self, f"{name}_l{layer}{direction}", None) for name in names]

    def _along(self, x: Tensor, start: list[Any], parameters: list[Any]) -> tuple[Tensor, list[Tensor]]:
        """Return the hidden states along a sequence (T, N, in), and all last states."""
        raise NotImplementedError(f"{type(self).__name__} has no _along(x, start, parameters)")

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Any]:
        """Return the hidden states of the last layer, (T, N, directions * H), and the last states of all layers."""
        x = self._time_first(input)
        rows = self.num_layers * len(self._directions())
        starts = states_to_start_from(self, hx, (rows, *x.shape[1:-1], self.hidden_size), x)
        lasts = []
        for layer in range(self.num_layers):
            sides = []
            for direction in self._directions():
                seen = ops.flip(x, axis=0) if direction else x
                start = [state[len(lasts)] for state in starts]
                hidden, last = self._along(seen, start, self._parameters_of(layer, direction))
                sides.append(ops.flip(hidden, axis=0) if direction else hidden)
                lasts.append(last)
            x = sides[0] if len(sides) == 1 else ops.concatenate(sides, axis=-1)
            if layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, self.training, rng=self.rng)
        stacked = tuple(ops.stack(list(of_all), axis=0) for of_all in zip(*lasts, strict=True))
        out = ops.swapaxes(x, axis1=0, axis2=1) if self.batch_first and input.ndim == 3 else x
        return out, stacked[0] if self.states == 1 else stacked

    def _time_first(self, input: Tensor) -> Tensor:
        """Return a tensor with its axes in the order (T, N, in) or (T, in)."""
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            raise ValueError(
                f"{type(self).__name__}: input has shape {input.shape}, expected (time, examples, {self.input_size}), "
                f"or (examples, time, {self.input_size}) with batch_first"
            )
        x = ops.swapaxes(input, axis1=0, axis2=1) if self.batch_first and input.ndim == 3 else input
        if x.shape[0] == 0:
            raise ValueError(f"{type(self).__name__}: input has shape {input.shape}, a sequence of no steps at all")
        return x


def states_to_start_from(layer: Any, hx: Any, shape: tuple[int, ...], input: Any) -> tuple[Any, ...]:
    """Return the initial states of a recurrent layer: zeros unless given."""
    if hx is None:
        return (constant_like(np.zeros(shape), input),) * layer.states
    given = (hx,) if layer.states == 1 else tuple(hx)
    shapes = [state.shape for state in given]
    if shapes != [shape] * layer.states:
        wanted = f"{layer.states} state(s) of shape {shape}"
        raise ValueError(f"{type(layer).__name__} must start from {wanted}, got {', '.join(map(str, shapes))}")
    return given


class RNN(_Recurrent):
    """Recurrent neural network (Elman) over a sequence.

        h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh)

    All steps are one operation. It is called as rnn(input, hx=None), with hx the states to start from. Every parameter
    starts uniform within ± 1 / √H; states start as 0 unless given.

    Shapes: input (T, N, in), with `batch_first` (N, T, in), or (T, in) for one sequence -> hidden states of the last
        layer (T, N, D · H) and last states of all layers (D · K, N, H), with D directions and K layers.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        num_layers: K, number of stacked layers; 1 by default.
        nonlinearity: "tanh" (default) or "relu".
        bias: whether to add biases; True by default.
        batch_first: whether examples come before time; False by default. States are not affected.
        dropout: the probability of `Dropout` between layers while training; 0 by default.
        bidirectional: whether a second direction goes from the end to the start (D = 2); False by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values and for dropout; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1, another nonlinearity or a dropout that is not a probability; when called,
        ValueError for an input or states of other shapes and for a sequence of no steps; TypeError if the input is not
        a tensor.
    Example:
        >>> out, last = nn.RNN(3, 5, num_layers=2, bidirectional=True)(mg.random.normal(size=(7, 4, 3)))
        >>> out.shape, last.shape
        ((7, 4, 10), (4, 4, 5))

    See: torch.nn.RNN; Elman, Finding structure in time, 1990.
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, *, device: str = "cpu",
        dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype, rng=rng,
        )  # fmt: skip
        self.nonlinearity = nonlinearity

    def _along(self, x: Tensor, start: list[Any], parameters: list[Any]) -> tuple[Tensor, list[Tensor]]:
        weight_ih, weight_hh, bias_ih, bias_hh = parameters
        drive = functional.linear(x, weight_ih, bias_ih if bias_ih is None else bias_ih + bias_hh)
        hidden = ops.rnn(drive, weight_hh, start[0], nonlinearity=self.nonlinearity)
        return hidden, [hidden[-1]]


class LSTM(_Recurrent):
    """Long short-term memory (LSTM) over a sequence.

        i = σ(W_ii x_t + b_ii + W_hi h + b_hi)       input gate
        f = σ(W_if x_t + b_if + W_hf h + b_hf)       forget gate
        g = tanh(W_ig x_t + b_ig + W_hg h + b_hg)    the candidate
        o = σ(W_io x_t + b_io + W_ho h + b_ho)       output gate
        c_t = f · c_(t-1) + i · g,  h_t = o · tanh(c_t)

    with h = h_(t-1) and σ the sigmoid. The rows of weight_ih (4 H, in) and weight_hh (4 H, H) have the order i, f, g,
    o. It is called as lstm(input, hx=None), with hx = (h_0, c_0). Every parameter starts uniform within ± 1 / √H;
    states start as 0 unless given.

    Shapes: input (T, N, in), with `batch_first` (N, T, in), or (T, in) for one sequence -> hidden states of the last
        layer (T, N, D · H) and (hidden, cell), the last of all layers, each (D · K, N, H), with D directions and K
        layers.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        num_layers: K, number of stacked layers; 1 by default.
        bias: whether to add biases; True by default.
        batch_first: whether examples come before time; False by default. States are not affected.
        dropout: the probability of `Dropout` between layers while training; 0 by default.
        bidirectional: whether a second direction goes from the end to the start (D = 2); False by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values and for dropout; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1 or a dropout that is not a probability; when called, ValueError for an input
        or states of other shapes and for a sequence of no steps; TypeError if the input is not a tensor.
    Example:
        >>> out, (hidden, cell) = nn.LSTM(3, 5, batch_first=True)(mg.random.normal(size=(4, 7, 3)))
        >>> out.shape, hidden.shape, cell.shape
        ((4, 7, 5), (1, 4, 5), (1, 4, 5))

    See: torch.nn.LSTM; Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers, Schmidhuber and Cummins,
        Learning to forget, 2000.
    """

    gates, states = 4, 2

    def _along(self, x: Tensor, start: list[Any], parameters: list[Any]) -> tuple[Tensor, list[Tensor]]:
        weight_ih, weight_hh, bias_ih, bias_hh = parameters
        (hidden, cell), every = start, []
        for drive in ops.unstack(functional.linear(x, weight_ih, bias_ih), axis=0):
            hidden, cell = ops.lstm_cell(drive + functional.linear(hidden, weight_hh, bias_hh), cell)
            every.append(hidden)
        return ops.stack(every, axis=0), [hidden, cell]


class GRU(_Recurrent):
    """Gated recurrent unit (GRU) over a sequence.

        r = σ(W_ir x_t + b_ir + W_hr h + b_hr)           reset gate
        z = σ(W_iz x_t + b_iz + W_hz h + b_hz)           update gate
        n = tanh(W_in x_t + b_in + r · (W_hn h + b_hn))  the candidate
        h_t = (1 - z) · n + z · h

    with h = h_(t-1) and σ the sigmoid. The rows of weight_ih (3 H, in) and weight_hh (3 H, H) have the order r, z, n.
    As in PyTorch, r is applied after W_hn, not before. It is called as gru(input, hx=None). Every parameter starts
    uniform within ± 1 / √H; states start as 0 unless given.

    Shapes: input (T, N, in), with `batch_first` (N, T, in), or (T, in) for one sequence -> hidden states of the last
        layer (T, N, D · H) and last states of all layers (D · K, N, H), with D directions and K layers.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        num_layers: K, number of stacked layers; 1 by default.
        bias: whether to add biases; True by default.
        batch_first: whether examples come before time; False by default. States are not affected.
        dropout: the probability of `Dropout` between layers while training; 0 by default.
        bidirectional: whether a second direction goes from the end to the start (D = 2); False by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values and for dropout; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1 or a dropout that is not a probability; when called, ValueError for an input
        or states of other shapes and for a sequence of no steps; TypeError if the input is not a tensor.
    Example:
        >>> out, last = nn.GRU(3, 5)(mg.random.normal(size=(7, 4, 3)))
        >>> out.shape, last.shape
        ((7, 4, 5), (1, 4, 5))

    See: torch.nn.GRU; Cho et al., Learning phrase representations using RNN encoder-decoder for statistical machine
        translation, 2014.
    """

    gates = 3

    def _along(self, x: Tensor, start: list[Any], parameters: list[Any]) -> tuple[Tensor, list[Tensor]]:
        weight_ih, weight_hh, bias_ih, bias_hh = parameters
        (hidden,), every = start, []
        for drive in ops.unstack(functional.linear(x, weight_ih, bias_ih), axis=0):
            hidden = ops.gru_cell(drive, functional.linear(hidden, weight_hh, bias_hh), hidden)
            every.append(hidden)
        return ops.stack(every, axis=0), [hidden]


# Single steps ---------------


class _Cell(Module):
    """Base class of single steps. Shapes: input (N, in) or (in,), states (N, H) or (H,)."""

    gates: int
    states = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self.gates * hidden_size
        self.weight_ih = parameter((rows, input_size), dtype, device)
        self.weight_hh = parameter((rows, hidden_size), dtype, device)
        self.bias_ih = parameter((rows,), dtype, device) if bias else None
        self.bias_hh = parameter((rows,), dtype, device) if bias else None
        start_by_hidden_size(self, hidden_size, rng)

    def _starts(self, input: Any, hx: Any) -> tuple[Any, ...]:
        return states_to_start_from(self, hx, (*input.shape[:-1], self.hidden_size), input)

    def _parameters_in_order(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(_Cell):
    """One step of a recurrent network, see `RNN`.

    h' = tanh(W_ih x + b_ih + W_hh h + b_hh). It is called as cell(x, hx=None); without a state it starts from 0.

    Shapes: input (N, in) or (in,), state (N, H) or (H,) -> the next state, the same.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        bias: whether to add biases; True by default.
        nonlinearity: "tanh" (default) or "relu".
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1, another nonlinearity; when called, ValueError for an input or states of other
        shapes, TypeError if the input is not a tensor.
    Example:
        >>> cell, state = nn.RNNCell(3, 5), None
        >>> for x in mg.unstack(mg.random.normal(size=(7, 4, 3))):
        ...     state = cell(x, state)
        >>> state.shape
        (4, 5)

    See: torch.nn.RNNCell; Elman, Finding structure in time, 1990.
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", *, device: str = "cpu",
        dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, device=device, dtype=dtype, rng=rng)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Tensor:
        """Return the next hidden state, (N, H)."""
        step = functional.rnn_tanh_cell if self.nonlinearity == "tanh" else functional.rnn_relu_cell
        return step(input, *self._starts(input, hx), *self._parameters_in_order())


class LSTMCell(_Cell):
    """One step of a long short-term memory, see `LSTM`.

    It is called as cell(x, hx=None), with hx = (hidden, cell); without states it starts from 0.

    Shapes: input (N, in) or (in,), states (N, H) or (H,) each -> the next (hidden, cell), the same.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        bias: whether to add biases; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1; when called, ValueError for an input or states of other shapes, TypeError if
        the input is not a tensor.
    Example:
        >>> cell, state = nn.LSTMCell(3, 5), None
        >>> for x in mg.unstack(mg.random.normal(size=(7, 4, 3))):
        ...     state = cell(x, state)
        >>> [each.shape for each in state]
        [(4, 5), (4, 5)]

    See: torch.nn.LSTMCell; Hochreiter and Schmidhuber, Long short-term memory, 1997.
    """

    gates, states = 4, 2

    def forward(self, input: Any, hx: Any = None) -> tuple[Tensor, Tensor]:
        """Return the next (hidden, cell), each (N, H)."""
        hidden, cell = self._starts(input, hx)
        return functional.lstm_cell(input, (hidden, cell), *self._parameters_in_order())


class GRUCell(_Cell):
    """One step of a gated recurrent unit, see `GRU`.

    It is called as cell(x, hx=None); without a state it starts from 0.

    Shapes: input (N, in) or (in,), state (N, H) or (H,) -> the next state, the same.
    Args:
        input_size, hidden_size: in and H, integers of at least 1.
        bias: whether to add biases; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1; when called, ValueError for an input or states of other shapes, TypeError if
        the input is not a tensor.
    Example:
        >>> cell = nn.GRUCell(3, 5)
        >>> cell(mg.tensor([1.0, 2.0, 3.0])).shape
        (5,)

    See: torch.nn.GRUCell; Cho et al., Learning phrase representations using RNN encoder-decoder for statistical machine
        translation, 2014.
    """

    gates = 3

    def forward(self, input: Any, hx: Any = None) -> Tensor:
        """Return the next hidden state, (N, H)."""
        return functional.gru_cell(input, *self._starts(input, hx), *self._parameters_in_order())
