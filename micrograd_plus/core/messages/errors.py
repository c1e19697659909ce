"""What to write instead: the end of an error message, in the words of someone who has made the mistake before.

`explained` writes the beginning: operation, arguments, shapes. Then an error of the array library is given its
sentence: one for every operation that goes wrong in its own way, and a few that hold for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from math import prod
from typing import Any

from .values import builtin_kind, describe

AXES = ("axis", "axes", "axis1", "axis2", "source", "destination")
"""The parameters that name axes."""
LARGER = ("max", "min")
"""The operations that PyTorch has of two tensors, too, under the same names."""
NEW_AXES = ("expand_dims", "stack")
"""The operations whose axes are those of the result, which has more."""
LEAST: dict[str, int | None] = {
    **dict.fromkeys(("kernel_size", "stride", "dilation", "output_size", "groups", "num_groups", "heads", "block"), 1),
    **dict.fromkeys(("n_fft", "hop", "hop_length", "n_mels", "size", "length", "images"), 1),
    **dict.fromkeys(("padding", "output_padding", "num_classes"), 0),
    **dict.fromkeys(("k", "offset", "shift", "decimals", "n"), None),
}
"""The parameters that are whole numbers (or several of them), with the least that each may be."""

IMAGES = (
    "{error}; x is (images, channels, height, width), and what belongs to the height and the width is a pair, such as "
    "stride=(2, 2)"
)
LOOKED_UP = "{error}; x has shape {first}, and an axis of length n is counted from -n to n - 1"

SENTENCES = {
    "matmul": (
        "the last axis of a {first} must be as long as the axis before the last of b {second}, and the axes before "
        "those must broadcast; is a transpose missing (b.mT)?"
    ),
    "linear_layer": (
        "x {first} and weight {second} must agree in their last axis; a bias has one entry per row of weight"
    ),
    "reshape": (
        "x {first} has {size} entries, which do not fill {shape}: the lengths must be whole numbers that multiply to "
        "{size}; one of them may be -1"
    ),
    "broadcast_to": "x {first} is repeated along new axes in front and axes of length 1, which cannot make {shape}",
    "transpose": "axes must name each of the {ndim} axes of x {first} once, for example axes={reverse}",
    "moveaxis": "source and destination must name equally many axes of x {first}, each of them once",
    "squeeze": "only an axis of length 1 can be left out; x has shape {first}",
    "stack": (
        "parts must have one and the same shape, and there must be at least one; mg.concatenate joins parts along an "
        "axis that they have"
    ),
    "concatenate": (
        "parts must have one shape but along the axis that joins them, and there must be at least one, in a list: "
        "mg.concatenate([a, b], axis=0); mg.stack joins along a new axis"
    ),
    "repeat": (
        "repeats is one whole number that is not negative, or one for each place along the axis; x has shape {first}"
    ),
    "tile": "reps are whole numbers that are not negative",
    "pad": (
        "{error}; pad_width is one number that is not negative, a pair (before, after), or a pair for each of the "
        "{ndim} axes of x {first}"
    ),
    "diagonal": "x {first} must have two axes to take a diagonal of, axis1 and axis2, and they must differ",
    "diag": "x must be a row or a matrix, it has shape {first}",
    "tril": "x must have at least one axis, it has shape {first}",
    "triu": "x must have at least one axis, it has shape {first}",
    "getitem": LOOKED_UP,
    "take": LOOKED_UP,
    "take_along_axis": "{error}; indices has as many axes as x {first}, and numbers that stand on its axis",
    "scatter_add": (
        "{error}; index and src have one and the same shape, and numbers that stand on the axis of x {first}"
    ),
    "embedding": "{error}; indices are whole numbers of rows of the weight {second}",
    "einsum": (
        "{error}; a letter in {subscripts!r} stands for one length, wherever it occurs: the operands are {shapes}"
    ),
    "recurrence": "decay {first} and drive {second} must have shapes that broadcast",
    "unfold": IMAGES,
    "max_pool2d": IMAGES,
    "avg_pool2d": IMAGES,
    "fold": "{error}; x is (images, channels * kernel, windows), with as many windows as output_size has places for",
    "conv2d": IMAGES + ", weight (out, channels / groups, height, width), bias (out,)",
    "layer_norm": "{error}; weight and bias have the shape of the last {axes} axes of x {first}",
    "scaled_dot_product_attention": (
        "{error}; query is (..., L, E), key (..., S, E), value (..., S, V), and bias broadcasts to (..., L, S): shapes "
        "{shapes}"
    ),
}
"""What each operation asks for. `{error}` stands where the library's own words say something that ours do not."""

SHAPES = re.compile(r"^ *Shapes: (.*?)(?=\n\n|\n *(?:Args|Returns|Raises|Example|See):|\Z)", re.DOTALL | re.MULTILINE)
"""The section of a docstring that says which shapes are wanted."""
ABOUT_SHAPES = re.compile(r"shape|size|dimension|axis|axes|align|broadcast|tuple index|unpack")
"""What an error says where a sentence about shapes helps."""


MIXED_GRAPH = (
    "a Value and a tensor cannot be in one graph, whose gradients would end between them: make everything Values, or "
    "everything tensors, mg.tensor(v.data)"
)
"""What to say where a number of micrograd's interface stands beside a tensor."""

def hints(op: Any, error: Exception, shapes: list[tuple[int, ...]], params: dict[str, Any]) -> Iterator[str]:
    """The sentences for an error of the operation `op`, the best first; `shapes` are those of its inputs, in order."""
    first = shapes[0] if shapes else ()
    yield from axis_hints(op.name, error, first, params)
    yield from number_hints(op, params)
    said = str(error).rstrip(". ") or type(error).__name__
    if op.name in SENTENCES:
        each = {"error": said, "first": first, "second": shapes[1] if len(shapes) > 1 else "missing"}
        each |= {"shapes": " and ".join(map(str, shapes)), "size": prod(first), "ndim": len(first)}
        yield SENTENCES[op.name].format(**{**each, "reverse": tuple(reversed(range(len(first)))), **params})
    if "zero-size array" in said or "empty sequence" in said:
        yield f"x has shape {first}, and of no entries there is no largest and no smallest"
    if isinstance(error, ValueError) and len(shapes) > 1 and "broadcast" in said:
        yield (
            f"shapes {' and '.join(map(str, shapes))} do not broadcast: counted from the last axis, two lengths must "
            f"be equal or one of them 1; insert an axis with mg.expand_dims(x, axis), or reshape"
        )
    asked = shapes_section(op) if ABOUT_SHAPES.search(said) else ""
    yield f"{said}; {asked}" if asked else said


def shapes_section(op: Any) -> str:
    """What the docstring says under its heading Shapes."""
    found = SHAPES.search(op.forward.__doc__ or "")
    return f"Shapes: {' '.join(found[1].split()).rstrip('.')}" if found else ""


def number_hints(op: Any, params: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a parameter that is no number, no whole number, or too small, if any is."""
    for name, value in params.items():
        default = op.params.get(name)
        parts = value if isinstance(value, (tuple, list)) else (value,)
        if (value is None and default is None) or hasattr(value, "shape"):
            continue
        if isinstance(default, tuple) and len(parts) != len(default):
            yield f"{name} must be {len(default)} numbers, such as {default}, got {value!r}"
        if name in LEAST:
            least = LEAST[name]
            if not all(hasattr(part, "__index__") and (least is None or part >= least) for part in parts):
                yield f"{name} must be a whole number{'' if least is None else f' of at least {least}'}, got {value!r}"
        elif isinstance(default, float) and not isinstance(value, (float, int, complex)):
            yield f"{name} must be a number, got {value!r}"


def dtype_hints(error: Exception, data: list[Any]) -> Iterator[str]:
    """What is wrong with numbers of a kind that the operation has no meaning for, if any are."""
    if "negative integer powers" in str(error):
        yield "whole numbers to a negative power are not whole any more; write x.astype(float)"
    if isinstance(error, TypeError) and re.search(r"ufunc '(bitwise|invert|\w+_shift)|operand type", str(error)):
        yield "it takes whole numbers, or True and False, as in (x > 0) & (y < 1)"
    elif isinstance(error, TypeError) and re.search(r"ufunc|numpy boolean|real numbers", str(error)):
        kinds = {value.dtype.kind if hasattr(value, "dtype") else type(value).__name__[0] for value in data}
        if "c" in kinds and "Cannot cast" in str(error):
            yield "real numbers cannot take in complex ones; write x.astype(complex)"
        if "c" in kinds:
            yield "it takes real numbers, and these are complex; x.real, x.imag and mg.abs(x) are real"
        if "b" in kinds:
            yield "it takes numbers, and these are True and False; write x.astype(float)"


def axis_hints(op: str, error: Exception, shape: tuple[int, ...], params: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the axes that were named, if anything is: out of range, named twice, or no whole numbers."""
    for name in AXES:
        given = params.get(name)
        axes = given if isinstance(given, (tuple, list)) else () if given is None else (given,)
        if op in LARGER and hasattr(given, "shape"):
            yield f"axis is a whole number; for the {op}imum of two tensors, entry by entry, write mg.{op}imum(a, b)"
        ndim = len(shape) + (len(axes) if op in NEW_AXES else 0)
        if isinstance(error, TypeError) and (type(given) is list or not all(hasattr(i, "__index__") for i in axes)):
            yield f"{name} must be a whole number, or a tuple of them"
        if not all(isinstance(axis, int) for axis in axes):
            continue
        outside = [axis for axis in axes if not -ndim <= axis < ndim]
        if outside and isinstance(error, IndexError):
            allowed = f"axes run from {-ndim} to {ndim - 1}" if ndim else "a single number has no axes"
            yield f"axis {outside[0]} is out of range: with an input of shape {shape}, {allowed}"
        twice = [axis for i, axis in enumerate(axes) if ndim and axis % ndim in [other % ndim for other in axes[:i]]]
        if twice and isinstance(error, ValueError):
            yield f"{name}={given} names axis {twice[0]} twice; with an input of shape {shape} each may be named once"


def explain_error(op: Any, error: Exception, data: list[Any], params: dict[str, Any]) -> Exception:
    """An error of the forward, with the operation, its arguments and what to write instead. Where an operation inside
    has said that already, only the beginning is added."""
    names = op.input_names(len(data))
    given = ", ".join(
        [f"{name}: {describe(value)}" for name, value in zip(names, data, strict=True) if value is not None]
        + [f"{name}={describe(value)}" for name, value in params.items()]
    )
    shapes = [tuple(getattr(value, "shape", ())) for value in data if value is not None]
    explained_inside = str(error) if hasattr(error, "explained") else None
    said = explained_inside or next(chain(dtype_hints(error, data), hints(op, error, shapes, params)))
    made = builtin_kind(error)(f"{op.name}({given}): {said}")
    vars(made)["explained"] = True
    return made


# On the way back ------------------------------------------


def missing_rule_error(op: Any) -> RuntimeError:
    """What to say when an operation that nobody gave a rule should send a gradient on."""
    return RuntimeError(
        f"{op.name} has no gradient rule, and an input requires a gradient: define one with "
        f"@{op.name}.rule({op.inputs[0]!r}), or pass mg.stop_gradient(...) of the input"
    )


def annotate_rule_error(op: Any, error: Exception) -> Exception:
    """An error that a rule raised, of the same kind, with the operation it belongs to."""
    if op is None:
        return error
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return kind(f"backward through {op.name}: {error}")


def rerun_interpreted(node: Any, upstream: Any, xp: Any) -> Exception | None:
    """What the same rules say when they are called by name: they know what is wrong with a shape, and written-out code
    checks nothing."""
    if hasattr(node.vjp, "source"):
        try:
            node.op.vjp(xp, upstream, node, {})
        except RuntimeError as named:
            return named
        except Exception:  # noqa: BLE001, S110 - of other errors it is the first that is to be told
            pass
    return None


def freed_graph_error(node: Any) -> RuntimeError:
    """What to say when the saved values are gone."""
    return RuntimeError(
        f"backward through {node.op.name} a second time: what its rules need was freed by the first walk, which was "
        f"called with retain_graph=False"
    )
