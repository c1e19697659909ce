"""Recurrent networks under PyTorch's names: whole sequences, and single steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..tensor import Tensor
from . import functional
from .functional.shapes import constant_like, wants_probability
from .module import Module
from .parameters import Generator, parameter, start_by_hidden_size, wants_sizes

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class _Recurrent(Module):
    """What networks over whole sequences share: their parameters, layers and directions.

    `gates` is how many linear layers there are for each hidden unit, `states` how many states are carried along.
    """

    gates: int
    states = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        wants_sizes(self, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        wants_probability(f"{type(self).__name__}: dropout", dropout)
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
        """What the names of a direction's parameters end in."""
        return ("", "_reverse") if self.bidirectional else ("",)

    def _parameters_of(self, layer: int, direction: str) -> list[Any]:
        """weight_ih, weight_hh, bias_ih, bias_hh; None for biases that there are not."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return [getattr(self, f"{name}_l{layer}{direction}", None) for name in names]

    def _along(self, x: Tensor, start: list[Any], parameters: list[Any]) -> tuple[Tensor, list[Tensor]]:
        """The hidden states along a sequence (T, N, in), and the last of all states."""
        raise NotImplementedError(f"{type(self).__name__} has no _along(x, start, parameters)")

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Any]:
        """The hidden states of the last layer, (T, N, directions * H), and the last states of all layers."""
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
        """The axes in the order (T, N, in), or (T, in)."""
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
    """The states that a recurrent layer carries along, as they start: 0 unless given."""
    if hx is None:
        return (constant_like(np.zeros(shape), input),) * layer.states
    given = (hx,) if layer.states == 1 else tuple(hx)
    shapes = [state.shape for state in given]
    if shapes != [shape] * layer.states:
        wanted = f"{layer.states} state(s) of shape {shape}"
        raise ValueError(f"{type(layer).__name__} starts from {wanted}, got {', '.join(map(str, shapes))}")
    return given


class RNN(_Recurrent):
    """A recurrent network: hidden = tanh(W_ih x + b_ih + W_hh hidden + b_hh), all steps as one operation.

    Shapes: input (T, N, in), or with `batch_first` (N, T, in), or (T, in) for a single sequence. Returns the hidden
    states of the last layer, (T, N, directions * H), and the last one of every layer, (layers * directions, N, H).

    >>> import micrograd_plus as mg
    >>> out, last = mg.nn.RNN(3, 5, num_layers=2, bidirectional=True)(mg.random.normal(size=(7, 4, 3)))
    >>> out.shape, last.shape
    ((7, 4, 10), (4, 4, 5))
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, *, device: str = "cpu",
        dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity is 'tanh' or 'relu', got {nonlinearity!r}")
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
    """Long short-term memories along a sequence (Hochreiter and Schmidhuber 1997); its states are (hidden, cell), each
    shaped as in `RNN`.

    >>> import micrograd_plus as mg
    >>> out, (hidden, cell) = mg.nn.LSTM(3, 5, batch_first=True)(mg.random.normal(size=(4, 7, 3)))
    >>> out.shape, hidden.shape, cell.shape
    ((4, 7, 5), (1, 4, 5), (1, 4, 5))
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
    """Gated recurrent units along a sequence (Cho et al. 2014). Shapes as in `RNN`."""

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
    """What single steps share. Shapes: input (N, in) or (in,), states (N, H) or (H,)."""

    gates: int
    states = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        wants_sizes(self, input_size=input_size, hidden_size=hidden_size)
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
    """One step of `RNN`."""

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", *, device: str = "cpu",
        dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity is 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, device=device, dtype=dtype, rng=rng)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Tensor:
        """The next hidden state, (N, H)."""
        step = functional.rnn_tanh_cell if self.nonlinearity == "tanh" else functional.rnn_relu_cell
        return step(input, *self._starts(input, hx), *self._parameters_in_order())


class LSTMCell(_Cell):
    """One step of `LSTM`.

    >>> import micrograd_plus as mg
    >>> cell, state = mg.nn.LSTMCell(3, 5), None
    >>> for x in mg.unstack(mg.random.normal(size=(7, 4, 3))):
    ...     state = cell(x, state)
    >>> [each.shape for each in state]
    [(4, 5), (4, 5)]
    """

    gates, states = 4, 2

    def forward(self, input: Any, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next (hidden, cell), each (N, H)."""
        hidden, cell = self._starts(input, hx)
        return functional.lstm_cell(input, (hidden, cell), *self._parameters_in_order())


class GRUCell(_Cell):
    """One step of `GRU`."""

    gates = 3

    def forward(self, input: Any, hx: Any = None) -> Tensor:
        """The next hidden state, (N, H)."""
        return functional.gru_cell(input, *self._starts(input, hx), *self._parameters_in_order())
