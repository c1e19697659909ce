"""How a formula is written: as one line of text, as LaTeX, as MathML.

    text(out * (1 - out))       "out · (1 − out)"
    latex(…), mathml(…)         the same in two dimensions
    equation("contribution", …) all three, as an equation

The modules: `layouts` has one layout for each function, for all three notations, and `textbook` has layouts for
functions that only this engine has; `marks` defines the parts in each notation; `writing` combines them. A function
without a layout is written as an upright name with its arguments, so every rule can be written.

`@` is the matrix product, as in the code: two names side by side would read as a call, `upstream (b + c)`.
`·` is every other product: a symbol does not say whether it stands for a number or an array, and ⊙ would be
wrong for numbers. A comparison used as a number is an Iverson bracket, [x > 0]: 1 if it is true, else 0.
`keepdims` is omitted, since it changes only the shape.
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
    """The formula on one line."""
    return Writer(Text(), expression, layout).formula()


def latex(expression: Any) -> str:
    """The formula in LaTeX's mathematics, without dollar signs."""
    return Writer(Latex(), expression, layout).formula()


def mathml(expression: Any) -> str:
    """The formula as a `<math>` element; `<mi data-name="…">` in it stands for the value of that name."""
    return Writer(MathML(), expression, layout).formula()


def equation(left: str | Symbolic, expression: Any) -> Written:
    """`left = expression` in the three notations, where `left` is a name or a formula."""
    left = Symbol(left) if isinstance(left, str) else left
    anatomy = Anatomy(expression)
    notations = (Text(), Latex(), MathML())
    return Written(*[Writer(marks, expression, layout, anatomy).formula(left) for marks in notations])
