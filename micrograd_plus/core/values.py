"""What operations are given: brought into form on the way in, and asked what it is."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from ..backends import devices, tensors
from ..backends.shapes import is_sequence
from .modes import gradients_wanted
from .ownership import snapshot
from .variable import Gradient, Namespace, Variable

TAKE_NUMBERS = ("elementwise", "linear", "non-differentiable")
"""Kinds in which a Python number beside an array stays a number, and so takes the array's dtype and device."""


def variable_of(op: Any, value: Any, name: str, *, numbers_only: bool) -> Any:
    """An input as an operation takes it: a variable, a number beside one, or an array of the operation's own."""
    if isinstance(value, Variable) or (value is None and name in op.optional):
        return value
    is_number = isinstance(value, (float, int, complex)) and not hasattr(value, "dtype")
    if is_number and not numbers_only and op.kind in TAKE_NUMBERS:
        plain: Any = next(kind for kind in (bool, int, float, complex) if isinstance(value, kind))
        return value if type(value) is plain else plain(value)
    return Variable.public.constant(value, f"{op.name}: {name}")


def parts_of(op: Any, given: object) -> list[Any]:
    """The parts that a variadic operation was given."""
    if not hasattr(type(given), "__iter__"):
        raise TypeError(f"{op.name} expects its parts in a list or a tuple, got {type(given).__name__}")
    return list(cast("Iterable[Any]", given))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array; a number's is ()."""
    return tuple(getattr(value, "shape", ()))


def is_complex(value: Any) -> bool:
    """True for complex numbers, and arrays and tensors of them."""
    dtype = getattr(value, "dtype", None)
    return dtype.kind == "c" if dtype is not None else type(value) is complex


def is_ready(value: Any) -> bool:
    """True for what written-out code takes: a plain variable, or one whose array its user has given back by now."""
    if isinstance(value, Variable):
        if not value.plain:
            snapshot(value)
        return value.plain and type(value) is Variable.public
    return value is None or type(value) in (float, int)


def namespace_of(value: Any) -> Any:
    """The namespace of a value: of tensors, or of arrays on its device. Of several upstreams it is that of any."""
    some = next(part for part in value if part is not None) if type(value) is list else value
    return tensors if isinstance(some, Variable) else devices.device_of(some).namespace


def any_wants_gradient(inputs: Sequence[Any]) -> bool:
    """True when an input has a node and gradients are wanted."""
    return any(getattr(value, "node", None) is not None for value in inputs) and gradients_wanted()


def common_device(op: Any, data: list[Any]) -> Any:
    """The one device that all arrays are on."""
    homes = devices.homes(data)
    if len(homes) > 1:
        raise RuntimeError(
            f"{op.name} was given arrays on {' and '.join(sorted(homes))}; move one of them: x.to({min(homes)!r})"
        )
    return devices.device(homes.pop() if homes else "cpu")


def conjugated(xp: Namespace, upstream: Gradient, local: Any) -> Any:
    """Between complex numbers the gradient of a real loss travels by the conjugate of the local derivative. Where the
    output is real, the local derivative is d/d(re) + i d/d(im), and already is the gradient."""
    if not (is_complex(upstream) and is_complex(local)):
        return local
    return local.conjugate() if type(local) is complex else xp.conj(local)


def check_count(rule: Any, sent: Any, wanted: int) -> None:
    """Refuse what a rule returned if it is not one contribution for each of its inputs."""
    if not is_sequence(sent) or len(sent) != wanted:
        count = len(sent) if is_sequence(sent) else 1
        raise RuntimeError(f"the rule {rule.name} returned {count} contributions for {wanted} inputs")
