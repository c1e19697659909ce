"""Operators of a tensor, and methods that are operations whose first input is the tensor, one a line."""

from __future__ import annotations

from typing import Any

from .. import ops
from .pytorch_methods import PyTorchMethods

_quotient = ops.divide.op.call  # `/` has no rounding_mode


class OperatorMethods(PyTorchMethods):
    """Operators of a tensor, and operations as methods."""

    __slots__ = ()

    __hash__ = object.__hash__

    # Operators --------------------------------------------

    __neg__ = ops.negative
    __pos__ = ops.positive
    __abs__ = ops.absolute
    __add__ = __radd__ = ops.add
    __sub__ = ops.subtract
    __mul__ = __rmul__ = ops.multiply
    __truediv__ = _quotient
    __pow__ = ops.power
    __matmul__ = ops.matmul
    __mod__ = ops.remainder
    __floordiv__ = ops.floor_divide
    __lt__ = ops.less
    __le__ = ops.less_equal
    __gt__ = ops.greater
    __ge__ = ops.greater_equal
    __and__ = __rand__ = ops.bitwise_and
    __or__ = __ror__ = ops.bitwise_or
    __xor__ = __rxor__ = ops.bitwise_xor
    __invert__ = ops.invert
    __lshift__ = ops.left_shift
    __rshift__ = ops.right_shift

    def __eq__(self, other: Any) -> Any:  # entry by entry, but for None, which no number is
        return ops.equal(self, other) if other is not None else False

    def __ne__(self, other: Any) -> Any:
        return ops.not_equal(self, other) if other is not None else True

    def __rsub__(self, other: Any) -> Any:
        return ops.subtract(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self)

    def __rpow__(self, other: Any) -> Any:
        return ops.power(other, self)

    def __rmatmul__(self, other: Any) -> Any:
        return ops.matmul(other, self)

    def __rmod__(self, other: Any) -> Any:
        return ops.remainder(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return ops.floor_divide(other, self)

    def __rlshift__(self, other: Any) -> Any:
        return ops.left_shift(other, self)

    def __rrshift__(self, other: Any) -> Any:
        return ops.right_shift(other, self)

    # Methods: the operations whose first input is the tensor --------

    sum = ops.sum
    mean = ops.mean
    prod = ops.prod
    max = ops.max
    min = ops.min
    var = ops.var
    std = ops.std
    any = ops.any
    all = ops.all
    argmax = ops.argmax
    argmin = ops.argmin
    cumsum = ops.cumsum
    abs = ops.absolute
    exp = ops.exp
    log = ops.log
    sqrt = ops.sqrt
    sin = ops.sin
    cos = ops.cos
    tanh = ops.tanh
    relu = ops.relu
    sigmoid = ops.sigmoid
    clip = ops.clip
    square = ops.square
    conj = ops.conj
    round = ops.round
    dot = ops.dot
    matmul = ops.matmul
    ravel = ops.ravel
    squeeze = ops.squeeze
    swapaxes = ops.swapaxes
    take = ops.take
    unstack = ops.unstack

    flatten = ops.flatten
