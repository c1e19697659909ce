"""Writes: `x[i] = v`, `x += y`, and `x.assign(v)`.

In a graph the tensor object becomes the result of an operation; without a graph its values change. A write never
reaches an array that a rule has saved.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .. import ops
from ..backends import devices
from ..core.modes import grad_enabled, recording
from ..core.runtime.listening import notify_change
from ..core.runtime.ownership import array_to_write, replace_array, set_node, snapshot
from ..core.variable import Leaf, Variable
from .gradients import GradientMethods
from .values import array_index, cast, numbers
from .views import is_written_already, write_into_view

np = devices.device("cpu").library
_ndarray = np.ndarray
_quotient = ops.divide.op.call  # `/` has no rounding_mode


class WritingMethods(GradientMethods):
    """Writes into a tensor, and what they refuse."""

    __slots__ = ()

    def assign(self, values: Any) -> Self:
        """Give this tensor new values: of the same shape, or broadcast to it, and cast to its dtype.

        Graphs that used the old values keep them, and references to the old array keep the old array.

        Args:
            values: numbers, nested lists, an array or a tensor.
        Returns: the tensor.
        Raises: RuntimeError for a result; ValueError for a shape that does not broadcast to the tensor's; TypeError for
            what is not made of numbers, or complex ones for a real tensor.
        Example:
            >>> w = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
            >>> w.assign(0.0).tolist(), w.is_leaf
            ([[0.0, 0.0], [0.0, 0.0]], True)

        See: torch.Tensor.copy_.
        """
        if self.origin is None:
            self._assign(values)
        else:
            write_into_view(self, self._assign, (values,), (...,))
        return self

    def _assign(self, values: Any) -> None:
        """Give this tensor object new values."""
        self._refuse_result("make a new tensor, or x.detach() first")
        if type(values) is type(self) and values.dtype == self.dtype and values.shape == self.shape:
            replace_array(self, snapshot(values))  # the two share it, until one is written into
            return
        data = numbers(values, None, "assign")
        if data is self._data:  # `x.data -= 1` has written already
            return
        if data.shape != self.shape:
            try:
                data = devices.device_of(data).library.broadcast_to(data, self.shape)
            except ValueError:
                raise ValueError(f"values of shape {data.shape} do not fit a tensor of shape {self.shape}") from None
        replace_array(self, cast(data, self.dtype, "assign"))

    def _refuse_result(self, instead: str) -> None:
        if not self.is_leaf:
            raise RuntimeError(f"a result cannot be assigned to: it is what its inputs make it; {instead}")

    # x += y -----------------------------------------------

    def __iadd__(self, other: Any) -> Self:
        return self._in_place("+=", ops.add, other)

    def __isub__(self, other: Any) -> Self:
        return self._in_place("-=", ops.subtract, other)

    def __imul__(self, other: Any) -> Self:
        return self._in_place("*=", ops.multiply, other)

    def __itruediv__(self, other: Any) -> Self:
        return self._in_place("/=", _quotient, other)

    def __ipow__(self, other: Any) -> Self:
        return self._in_place("**=", ops.power, other)

    def __imod__(self, other: Any) -> Self:
        return self._in_place("%=", ops.remainder, other)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._in_place("//=", ops.floor_divide, other)

    def __iand__(self, other: Any) -> Self:
        return self._in_place("&=", ops.bitwise_and, other)

    def __ior__(self, other: Any) -> Self:
        return self._in_place("|=", ops.bitwise_or, other)

    def __ixor__(self, other: Any) -> Self:
        return self._in_place("^=", ops.bitwise_xor, other)

    def __ilshift__(self, other: Any) -> Self:
        return self._in_place("<<=", ops.left_shift, other)

    def __irshift__(self, other: Any) -> Self:
        return self._in_place(">>=", ops.right_shift, other)

    def _in_place(self, symbol: str, operation: Callable[..., Any], other: Any) -> Any:
        """Apply `x -= y`, to the tensor behind a view as well."""
        if self.origin is None:
            return self._apply_in_place(symbol, operation, other)
        write_into_view(self, self._apply_in_place, (symbol, operation, other), symbol=symbol)
        return self

    def _apply_in_place(self, symbol: str, operation: Callable[..., Any], other: Any) -> Any:
        """Apply `x -= y`: in a graph, this tensor object becomes the result; without a graph it is a write. A leaf is
        never lost by accident."""
        if isinstance(self.node, Leaf) and (not grad_enabled.open or grad_enabled()):
            raise RuntimeError(
                f"x {symbol} ... would turn a leaf that requires a gradient into a result; to change its values "
                f"write `with mg.no_grad(): x {symbol} ...`, to compute with it write x = x {symbol[:-1]} ..."
            )
        out = operation(self, other)
        if out.node is not None:
            return self._become(self._check_fit(symbol, out))
        data, before = out._data, self._data
        if data.dtype is before.dtype and type(data) is _ndarray and data.shape == before.shape and self.is_leaf:
            replace_array(self, data)  # the operation has just made it, so there is no other reference
            return self
        if data.dtype != before.dtype and self.is_leaf:
            self._check_kind(symbol, out.dtype)
        self._assign(out)
        return self

    def _check_fit(self, symbol: str, result: Any) -> Any:
        """A result in this tensor's dtype; or an error, if it cannot be in its place."""
        if result.shape != self.shape:
            raise ValueError(
                f"x {symbol} ... would make shape {result.shape} of shape {self.shape}; write x = x {symbol[:-1]} ..."
            )
        if result.dtype == self.dtype:
            return result
        self._check_kind(symbol, result.dtype)
        return ops.astype(result, dtype=self.dtype)

    def _check_kind(self, symbol: str, dtype: Any) -> None:
        """Raise TypeError if numbers of a dtype would lose their fractions or imaginary parts in this tensor."""
        kinds = "bifc"
        if kinds.index(dtype.kind.replace("u", "i")) > kinds.index(self.dtype.kind.replace("u", "i")):
            wider = {"i": "int", "f": "float", "c": "complex"}[dtype.kind.replace("u", "i")]
            raise TypeError(
                f"x {symbol} ...: a tensor of {self.dtype} cannot become a result of {dtype}; make it with dtype="
                f"{wider}, or write x = x {symbol[:-1]} ..."
            )

    def _become(self, result: Any) -> Any:
        """Be a result from now on. Graphs that used this tensor as it was know its array and its node, not itself."""
        if recording.open:
            notify_change("become", self, self._data, result._data)
        set_node(self, result.node)
        self._data, self.is_fast, self.is_lent = result._data, result.is_fast, False
        return self

    # x[i] = v ---------------------------------------------

    def __setitem__(self, index: Any, values: Any) -> None:
        if type(values) is type(self) and values.origin is not None and is_written_already(self, index, values):
            return
        self._put(index, values)

    def _put(self, index: Any, values: Any) -> None:
        """Write values at an index, into the tensor behind a view as well."""
        if self.origin is None:
            self._put_entries(index, values)
        else:
            place = index if type(index) is tuple else (index,)
            write_into_view(self, self._put_entries, (index, values), place)

    def _put_entries(self, index: Any, values: Any) -> None:
        """Write values at an index of this tensor object."""
        if self.node is not None or getattr(values, "node", None) is not None:
            if not grad_enabled.open or grad_enabled():
                self._become(self._with_entries(index, values))
                return
            self._refuse_result("compute a changed copy with mg.where(...), or write into x.detach()")
        if isinstance(self._data, np.generic):
            self._data = np.asarray(self._data)
        try:
            if type(values) is type(self) and values._data.dtype == self._data.dtype:
                given = values._data
            else:
                given = cast(numbers(values, None, "values"), self.dtype, "values")
            array_to_write(self)[array_index(index)] = given
        except (IndexError, TypeError, ValueError) as error:
            said = f"x[{index!r}] = {values!r} does not fit a tensor of shape {self.shape}: {error}"
            raise type(error)(said) from error

    def _with_entries(self, index: Any, values: Any) -> Any:
        """What `x[index] = values` makes of this tensor in a graph."""
        if isinstance(self.node, Leaf):
            raise RuntimeError(
                "x[...] = ... on a tensor that wants a gradient: write `with mg.no_grad(): x[...] = ...` to change its "
                "values, or mg.where(...) to compute a changed copy"
            )
        if self.dtype.kind not in "fc":
            raise TypeError(
                f"x[...] = ...: a tensor of {self.dtype} cannot hold a value that requires a gradient; make it with "
                f"dtype=float"
            )
        place = array_index(index)
        given: Any = values if isinstance(values, Variable) else self.constant(values, "values")
        if given.dtype != self.dtype:
            if given.dtype.kind == "c" and self.dtype.kind != "c":
                raise TypeError("x[...] = ...: real numbers cannot take in complex ones; write x = x.astype(complex)")
            given = ops.astype(given, dtype=self.dtype)
        if given.shape[:1] == (1,):  # as in an array, axes of length 1 in front are not counted
            extra = given.ndim - np.ndim(self._data[place])
            if extra > 0 and set(given.shape[:extra]) == {1}:
                given = ops.reshape(given, shape=given.shape[extra:])
        return ops.setitem(self, given, index=place)
