"""Formulas as one line of text, as LaTeX, and as MathML.

    text(out * (1 - out))       "out · (1 − out)"
    latex(…), mathml(…)         the same in two dimensions
    equation("contribution", …) all three, as an equation

`layouts` and `textbook` lay out each function once for all three notations, `marks` has the marks of each notation, and
`writing` puts the pieces together. A function without a layout is written as an upright name with its arguments, so
every rule can be written.

`@` is the matrix product, as in the code: two names side by side would read as a call, `upstream (b + c)`.
`·` is every other product: a symbol does not show whether it is a number or an array, and ⊙ would be
wrong for numbers. A comparison used as a number is an Iverson bracket, [x > 0]: 1 if it is true, 0 if not.
`keepdims` is left out, since it only affects how a result is stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .marks import Latex, MathML, Text
from .symbols import Symbol, Symbolic
from .textbook import layout
from .writing import Anatomy, Writer


class Written(NamedTuple):
    """One formula in the three notations."""

    text: str
    latex: str
    mathml: str


def text(expression: Any) -> str:
    """Return the formula on one line."""
    return Writer(Text(), expression, layout).formula()


def latex(expression: Any) -> str:
    """Return the formula in LaTeX's mathematics, without dollar signs."""
    return Writer(Latex(), expression, layout).formula()


def mathml(expression: Any) -> str:
    """Return the formula as a `<math>` element, in which `<mi data-name="…">` is the value of that name."""
    return Writer(MathML(), expression, layout).formula()


def equation(left: str | Symbolic, expression: Any) -> Written:
    """Return `left = expression` in the three notations. `left` is a name or a formula."""
    left = Symbol(left) if isinstance(left, str) else left
    anatomy = Anatomy(expression)
    notations = (Text(), Latex(), MathML())
    return Written(*[Writer(marks, expression, layout, anatomy).formula(left) for marks in notations])
