"""Error messages of operations and their rules: what failed, on which arguments, and what to write instead.

`explain_error` writes the beginning: the operation, its arguments, their shapes. The rest comes from the operation
itself, if its forward is decorated with `explains`, or from the checks below, which hold for all operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from math import prod
from types import FunctionType
from typing import Any

from ..runtime.guards import is_built_in
from .values import copy_error, describe, explained_error, same_error

AXES = ("axis", "axes", "axis1", "axis2", "source", "destination")
"""The parameters that name axes."""
SHAPES = r"(?ms)^ *Shapes: (.*?)(?=\n\n|\n *(?:Args|Returns|Raises|Example|See):|\Z)"
"""The section of a docstring that states the shapes of inputs and results."""
ABOUT_SHAPES = r"shape|size|dimension|axis|axes|align|broadcast|tuple index|unpack"
"""Words of an error that a sentence about shapes helps with."""
MIXED_GRAPH = (
    "a Value and a tensor cannot be in one graph: use Values only, or make a tensor with mg.tensor(v.data), where the "
    "graph of v ends"
)

whole_numbers: dict[str, int | None] = {}
"""Parameters that must be whole numbers, and the least value of each. The packages of operations fill it."""


class Explanation:
    """Message of one operation: what its arguments must be, and two notes on its `axis`."""

    __slots__ = ("axis", "message", "new_axes")

    def __init__(self, message: str = "", axis: str = "", new_axes: bool = False):
        self.message, self.axis, self.new_axes = message, axis, new_axes


NO_EXPLANATION = Explanation()


def explains(message: str = "", *, axis: str = "", new_axes: bool = False) -> Callable[[FunctionType], FunctionType]:
    """Decorate the forward of an operation with the message for a call that fails.

    In `message`, the name of an input stands for its shape, `{x_size}` and `{x_ndim}` for its number of entries and
    axes, the name of a parameter for its value, `{shapes}` for all shapes, and `{error}` for the original message.
    `axis` is the message for an array passed as `axis`. With `new_axes`, axes are counted in the result.
    """

    def decorate(forward: FunctionType) -> FunctionType:
        vars(forward)["explanation"] = Explanation(message, axis, new_axes)
        return forward

    return decorate


def explain_error(op: Any, error: Exception, data: list[Any], params: dict[str, Any]) -> Exception:
    """Return an error of a forward with the operation, its arguments and what to write instead.

    If an operation inside this one has explained the error already, only the beginning is added.
    """
    names = op.input_names(len(data))
    arguments = ", ".join(
        [f"{name}: {describe(value)}" for name, value in zip(names, data, strict=True) if value is not None]
        + [f"{name}={describe(value)}" for name, value in params.items()]
    )
    message = str(error) if hasattr(error, "explained") else next(_hints(op, error, data, params))
    explained = explained_error(error, f"{op.name}({arguments}): {message}")
    vars(explained)["explained"] = True
    return explained


def _hints(op: Any, error: Exception, data: list[Any], params: dict[str, Any]) -> Iterator[str]:
    """Yield the messages that fit an error of `op`, the best first."""
    explanation = vars(op.forward).get("explanation", NO_EXPLANATION)
    shapes = [tuple(getattr(value, "shape", ())) for value in data if value is not None]
    first = shapes[0] if shapes else ()
    listed = " and ".join(map(str, shapes))
    original = str(error).rstrip(". ") or type(error).__name__
    yield from chain(
        _dtype_hints(error, data), _axis_hints(explanation, error, first, params), _number_hints(op, params)
    )
    if explanation.message:
        fields = {"error": original, "shapes": listed, **_shape_fields(op, data), **params}
        yield explanation.message.format(**fields)
    if "zero-size array" in original or "empty sequence" in original:
        yield f"x is empty (shape {first}); the {op.name} of an empty array is undefined"
    if isinstance(error, ValueError) and len(shapes) > 1 and "broadcast" in original:
        yield (
            f"shapes {listed} do not broadcast: counted from the last axis, two lengths must be equal or one of them "
            f"1; insert an axis with mg.expand_dims(x, axis), or reshape"
        )
    section = _shapes_section(op) if re.search(ABOUT_SHAPES, original) else ""
    yield f"{original}; {section}" if section else original


def _shape_fields(op: Any, data: list[Any]) -> dict[str, Any]:
    """Return the fields of an explanation: the shape, size and number of axes of each input."""
    fields: dict[str, Any] = {}
    for name, value in zip(op.input_names(len(data)), data, strict=True):
        shape = tuple(getattr(value, "shape", ()))
        fields |= {name: shape, f"{name}_size": prod(shape), f"{name}_ndim": len(shape)}
    return fields


def _shapes_section(op: Any) -> str:
    """Return the Shapes section of an operation's docstring in one line."""
    match = re.search(SHAPES, str(op.forward.__doc__ or ""))
    return f"Shapes: {' '.join(match[1].split()).rstrip('.')}" if match else ""


def _number_hints(op: Any, params: dict[str, Any]) -> Iterator[str]:
    """Yield messages for parameters that are not numbers, not whole, or too small."""
    for name, value in params.items():
        default = op.params.get(name)
        parts = value if isinstance(value, (tuple, list)) else (value,)
        if (value is None and default is None) or hasattr(value, "shape"):
            continue
        if isinstance(default, tuple) and len(parts) != len(default):
            yield f"{name} must be {len(default)} numbers, such as {default}, got {value!r}"
        if name in whole_numbers:
            least = whole_numbers[name]
            if not all(hasattr(part, "__index__") and (least is None or part >= least) for part in parts):
                yield f"{name} must be a whole number{'' if least is None else f' of at least {least}'}, got {value!r}"
        elif isinstance(default, float) and not isinstance(value, (float, int, complex)):
            yield f"{name} must be a number, got {value!r}"


def _dtype_hints(error: Exception, data: list[Any]) -> Iterator[str]:
    """Yield messages for dtypes that an operation is not defined for."""
    if "negative integer powers" in str(error):
        yield "whole numbers to a negative power are not whole; write x.astype(float)"
    if isinstance(error, TypeError) and re.search(r"ufunc '(bitwise|invert|\w+_shift)|operand type", str(error)):
        yield "the inputs must be whole numbers or booleans, as in (x > 0) & (y < 1)"
    elif isinstance(error, TypeError) and re.search(r"ufunc|numpy boolean|real numbers", str(error)):
        kinds = {value.dtype.kind if hasattr(value, "dtype") else type(value).__name__[0] for value in data}
        if "c" in kinds and "Cannot cast" in str(error):
            yield "an array of real numbers cannot hold complex ones; write x.astype(complex)"
        if "c" in kinds:
            yield "the inputs must be real, and these are complex; use x.real, x.imag or mg.abs(x)"
        if "b" in kinds:
            yield "the inputs must be numbers, and these are booleans; write x.astype(float)"


def _axis_hints(
    explanation: Explanation, error: Exception, shape: tuple[int, ...], params: dict[str, Any]
) -> Iterator[str]:
    """Yield messages for axes that are out of range, repeated, or not whole numbers."""
    for name in AXES:
        value = params.get(name)
        axes = value if isinstance(value, (tuple, list)) else () if value is None else (value,)
        if explanation.axis and hasattr(value, "shape"):
            yield explanation.axis
        ndim = len(shape) + (len(axes) if explanation.new_axes else 0)
        if isinstance(error, TypeError) and (type(value) is list or not all(hasattr(i, "__index__") for i in axes)):
            yield f"{name} must be a whole number, or a tuple of them"
        if not all(isinstance(axis, int) for axis in axes):
            continue
        outside = [axis for axis in axes if not -ndim <= axis < ndim]
        if outside and isinstance(error, IndexError):
            allowed = f"axes run from {-ndim} to {ndim - 1}" if ndim else "a single number has no axes"
            yield f"axis {outside[0]} is out of range: with an input of shape {shape}, {allowed}"
        twice = [axis for i, axis in enumerate(axes) if ndim and axis % ndim in [other % ndim for other in axes[:i]]]
        if twice and isinstance(error, ValueError):
            yield f"{name}={value} names axis {twice[0]} twice; with an input of shape {shape} each may be named once"


# Backward -------------------------------------------------


def missing_rule_error(op: Any) -> RuntimeError:
    """Return the error for an operation without rules whose input requires a gradient."""
    return RuntimeError(
        f"{op.name} has no gradient rule, and an input requires a gradient: define one with "
        f"@{op.name}.rule({op.inputs[0]!r}), or pass mg.stop_gradient(...) of the input"
    )


ERRORS_OF_ARRAYS = (ArithmeticError, LookupError, TypeError, ValueError)
"""What functions of arrays raise. Other errors of the engine's own rules are sentences already."""


def explain_walk_error(node: Any, upstream: Any, xp: Any, error: Exception) -> Exception:
    """Return the error that ended a walk with the names of the operation and the rule.

    An error of a hook, or a sentence of the engine, is returned as it is.
    """
    op = node.op
    if op is None or hasattr(error, "is_from_hook"):
        return error
    rule = raising_rule(op, error)
    explained = rerun_interpreted(node, upstream, xp) if rule is None else None
    is_sentence = not isinstance(error, ERRORS_OF_ARRAYS) and (rule is None or is_built_in(rule.function))
    if explained is None:
        explained = error if is_sentence else annotate_rule_error(op, error)
    if explained is not error:
        explained.__cause__ = error
    return explained


def annotate_rule_error(op: Any, error: Exception) -> Exception:
    """Return an error of a rule in its own class, with the names of the operation and the rule."""
    if op is None:
        return error
    rule = raising_rule(op, error)
    message = f"backward through {op.name}: {str(error) or type(error).__name__}"
    message += "" if rule is None else f" (in the rule {rule.name})"
    return same_error(error, message) or copy_error(error, message)


def raising_rule(op: Any, error: Exception) -> Any:
    """Return the rule of an operation in which an error was raised, or None."""
    codes = {getattr(rule.function, "__code__", None): rule for rule in op.rules}
    trail = error.__traceback__
    while trail is not None and trail.tb_frame.f_code not in codes:
        trail = trail.tb_next
    return None if trail is None else codes[trail.tb_frame.f_code]


def hook_error(op: Any, error: Exception) -> Exception:
    """Return an error that a hook raised in its own class; it says whose gradient the hook was called with."""
    whose = "a leaf" if op is None else f"the result of {op.name}"
    message = f"hook on the gradient of {whose}: {str(error) or type(error).__name__}"
    changed = same_error(error, message) or copy_error(error, message)
    vars(changed)["is_from_hook"] = True
    return changed


def rerun_interpreted(node: Any, upstream: Any, xp: Any) -> Exception | None:
    """Run a node's rules again, interpreted, and return the error that they raise: compiled rules check no shapes."""
    if hasattr(node.vjp, "source"):
        try:
            node.op.vjp(xp, upstream, node, {})
        except RuntimeError as error:
            return error
        except Exception:  # noqa: BLE001, S110 - the first error explains more than any other one of the second run
            pass
    return None


def freed_graph_error(node: Any) -> RuntimeError:
    """Return the error for a second walk through a graph whose saved values were freed."""
    return RuntimeError(
        f"backward through {node.op.name} a second time: the first walk, called with retain_graph=False, freed the "
        f"values that its rules need"
    )
