"""Docstring sections that follow from an operation's kind and signature: shapes, arguments, result and errors.

The source of an operation says what its signature cannot: a first line, the formula, arguments with a special meaning,
an example that runs, and references. A section that is written in the source replaces the derived one.
"""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

_LINE = "\n    " if sys.version_info < (3, 13) else "\n"  # since then the compiler removes the indentation
_INDENTED, _SEE, _EXAMPLE = f"{_LINE}    ", f"{_LINE}See:", f"{_LINE}>>> "
_NAMES = rf"^{_INDENTED[1:]}([*\w]+(?:, [*\w]+)*):"

REAL_FUNCTIONS = frozenset([
    "arctan2", "beta", "betaln", "cbrt", "ceil", "copysign", "digamma", "erf", "erfc", "erfcinv", "erfinv", "floor",
    "fmod", "gamma", "gammaln", "gammasgn", "hypot", "i0", "i0e", "i1", "i1e", "inverse_mills", "inverse_mills_excess",
    "j0", "j1", "log_ndtr", "logaddexp", "ndtri", "polygamma", "remainder", "trunc", "y0", "y1",
])  # fmt: skip
"""Functions of a namespace that are defined for real numbers only."""

INTEGER_OPERATIONS = frozenset(["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"])
"""Operations that are defined for integers and booleans only."""

EXACT_FUNCTIONS = frozenset([
    "argsort", "ceil", "clip", "floor", "floor_divide", "fmax", "fmin", "fmod", "max", "max_pool2d",
    "max_pool2d_and_choice", "maximum", "min", "minimum", "nan_to_num", "pad", "remainder", "round", "sign",
    "take_along_axis", "trunc", "expand_dims", "squeeze",
])  # fmt: skip
"""Functions of a namespace that return integers for integers."""

PARAMETERS = {
    "axes": "number of last axes that form a row, at least 1; default 1.",
    "axis1": "the axis of rows; default 0.",
    "axis2": "the axis of columns; default 1.",
    "block": "number of codes along K that share a scale, a divisor of K; default 32.",
    "causal": "whether a query sees only positions up to its own; default False.",
    "ddof": "subtracted from the number of entries: 0 (default), or 1 (PyTorch's default) to estimate from a sample.",
    "dilation": "step between neighbouring entries of a window, each at least 1; default (1, 1).",
    "eps": "added to the variance, to avoid division by 0; default 1e-5.",
    "groups": "number of equal groups of channels, each with its own filters; default 1.",
    "high": "the largest integer; default 127, for int8.",
    "keepdims": "whether to keep the reduced axes with length 1; default False.",
    "kernel_size": "height and width of a window, (kH, kW), each at least 1.",
    "low": "the smallest integer; default -128, for int8.",
    "n": "length to which the axis is truncated or padded with zeros first; None (default) keeps it.",
    "norm": (
        'which transform is divided by the number n of entries: "backward" (None, the default) the inverse one,'
        f'{_LINE}        "forward" the forward one; "ortho" divides both by √n.'
    ),
    "padding": "zeros added on each side, (top and bottom, left and right); default (0, 0).",
    "s": "lengths to which the axes are truncated or padded with zeros first; None (default) keeps them.",
    "shape": "the shape of the result.",
    "stride": "step from one window to the next, (down, across), each at least 1; default (1, 1).",
    "window": "number of positions that a query sees on each side, including its own, at least 1; default all.",
}
"""Descriptions of parameters that mean the same in every operation that has them."""

AXES = {
    "reduced": "axis or axes to reduce; None (default) reduces all.",
    None: "axis along which to operate; None (default) flattens x first.",
    -1: "axis along which to operate; default -1, the last.",
    0: "axis along which to operate; default 0.",
}
"""Descriptions of `axis`, for reductions and by its default."""


class Facts(NamedTuple):
    """Facts about a function that determine its derived sections."""

    kind: str
    inputs: tuple[str, ...]
    params: dict[str, Any]
    op: Any

    @property
    def is_entrywise(self) -> bool:
        """Whether each entry of the result depends on one entry of each input."""
        return self.kind == "elementwise" or (self.kind == "non-differentiable" and "axis" not in self.params)

    @property
    def is_matrix_function(self) -> bool:
        """Whether the operation takes square matrices, which are called `a`."""
        return self.kind == "general" and self.inputs == ("a",)

    @property
    def is_exact(self) -> bool:
        """Whether the result for integers is made of integers."""
        return self.op is not None and EXACT_FUNCTIONS.issuperset(self.op.forward.__code__.co_names)

    @property
    def numbers(self) -> str:
        """Which numbers the operation takes."""
        if self.takes_integers:
            return "integers or booleans"
        if self.is_matrix_function:
            return "square matrices"
        return "real numbers" if self.is_real else "real or complex numbers"

    @property
    def takes_integers(self) -> bool:
        """Whether the operation takes integers and booleans only."""
        return self.op is not None and self.op.name in INTEGER_OPERATIONS

    @property
    def is_real(self) -> bool:
        """Whether the operation takes real numbers only."""
        if self.op is None:
            return False
        return self.op.real_only or not REAL_FUNCTIONS.isdisjoint(self.op.forward.__code__.co_names)


def facts_of(function: Any, op: Any) -> Facts:
    """Return the facts about an operation, or about a function made of operations."""
    if op is not None and op.call is function:
        return Facts(op.kind, op.inputs, op.params, op)
    function = getattr(function, "__wrapped__", function)
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(zip(names[code.co_argcount - len(values) : code.co_argcount], values, strict=True))
    defaults |= function.__kwdefaults__ or {}
    inputs = op.inputs if op is not None else names[: names[:1] == ("x",)]
    params = {name: defaults.get(name) for name in names if name not in inputs}
    return Facts(op.kind if op is not None else "composed", inputs, params, op)


def with_sections(text: str, facts: Facts) -> str:
    """Return a docstring with the derived sections where the source has none.

    The source has the form: first line, body, sections, example (without a heading), references.
    """
    see = text.rfind(_SEE)
    see = see if see >= 0 else len(text)
    example = text.find(_EXAMPLE, 0, see)
    end = example if example >= 0 else see
    shown = f"{_LINE}Example:{text[end:see].replace(_LINE, _INDENTED)}\n" if example >= 0 else ""
    sections = ""
    for heading, derive in _DERIVED:
        start = text.rfind(heading, 0, end)
        if start >= 0:
            sections, end = derive(facts, text[start:end]) + sections, start
        else:
            sections = derive(facts, "") + sections
    return f"{text[:end].rstrip()}\n{sections}{shown}{text[see:]}"


# The sections ---------------------------------------------------------------------------------------------------------
# Each function returns the section in the source, if there is one, or else the derived section.


def shapes(facts: Facts, written: str) -> str:
    """Return the section on shapes."""
    if written or not facts.inputs:
        return written
    if "keepdims" in facts.params:
        return f"{_LINE}Shapes: x (2, 3), axis=0 -> (3); with keepdims -> (1, 3)."
    if facts.is_matrix_function:
        return f"{_LINE}Shapes: (..., n, n) -> the same."
    if len(facts.inputs) == 1 or not facts.is_entrywise:
        return f"{_LINE}Shapes: any -> the same."
    return f"{_LINE}Shapes: {', '.join(facts.inputs)} of shapes that broadcast -> the broadcast shape."


def arguments(facts: Facts, written: str) -> str:
    """Return the section on arguments, with a line for each input and parameter that the source does not describe."""
    lines = re.findall(_NAMES, written, re.MULTILINE) if written else ()
    described = {name.strip(" *") for line in lines for name in line.split(",")}
    inputs = [name for name in facts.inputs if name not in described]
    params = [parameter(name, facts) for name in facts.params if name not in described]
    if not inputs and not params:
        return written
    heading = f"{_LINE}Args:"
    if inputs:
        heading += f"{_INDENTED}{', '.join(inputs)}: {facts.numbers}."
    return f"{heading}{written[len(_LINE) + len('Args:') :]}{''.join(params)}"


def parameter(name: str, facts: Facts) -> str:
    """Return the line on a parameter that means the same everywhere."""
    text = PARAMETERS.get(name, "")
    if name == "axis":
        text = AXES["reduced"] if "keepdims" in facts.params else AXES.get(facts.params[name], "")
    return f"{_INDENTED}{name}: {text}"


def returns(facts: Facts, written: str) -> str:
    """Return the section on the result and its dtype."""
    if written or not facts.inputs:
        return written
    count = len(facts.inputs)
    inputs = " and ".join(facts.inputs) if count <= 2 else "the inputs"
    dtype = f"{'dtype' if count == 1 else 'common dtype'} of {inputs}"
    if facts.kind == "non-differentiable":
        kind = f"the {dtype}" if facts.takes_integers else "booleans"
        return f"{_LINE}Returns: a tensor of {kind}, without a graph."
    may_round = facts.kind == "elementwise" or (facts.kind == "general" and count == 1)
    return f"{_LINE}Returns: a tensor of the {dtype}{'; float64 for integers' * (may_round and not facts.is_exact)}."


def raises(facts: Facts, written: str) -> str:
    """Return the section on errors."""
    if written or not facts.inputs:
        return written
    wrong = "complex or not numeric" if facts.is_real else "not numeric"
    wrong = "not an integer or boolean" if facts.takes_integers else wrong
    first, *others = facts.inputs
    if others:
        fit = "broadcast" if facts.is_entrywise else "match"
        return f"{_LINE}Raises: ValueError if the shapes do not {fit}; TypeError if an input is {wrong}."
    axis = "IndexError if the axis is out of range; " if "axis" in facts.params else ""
    repeated = "ValueError if one is repeated; " if "keepdims" in facts.params else ""
    return f"{_LINE}Raises: {axis}{repeated}TypeError if {first} is {wrong}."


_DERIVED = (
    (f"{_LINE}Raises:", raises), (f"{_LINE}Returns:", returns), (f"{_LINE}Args:", arguments),
    (f"{_LINE}Shapes:", shapes),
)  # fmt: skip
"""The headings, from the last to the first, and what derives each."""
