"""Writer of one formula: it joins the pieces of the parts, with parentheses if needed.

The layout says what a function looks like, and the marks say how the notation writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .symbols import Expression, Symbolic, in_order, parts, structure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .marks import Latex, MathML, Text

    Marks = Text | Latex | MathML

LONG = 24
"""A formula of at least this many parts gives a name to a part that it would write twice."""

CHOICE, OR, AND, COMPARE, SUM, PRODUCT, POWER, ATOM = range(8)
"""Levels of precedence, the loosest first."""

TRUTHS = (OR, AND, COMPARE)


class Piece(NamedTuple):
    """Code of one part, with its precedence."""

    code: str
    level: int = ATOM
    sign: str = ""
    """Its outermost operator, if it has one."""
    minus: bool = False
    """Whether it starts with a minus sign, which must not follow another operator."""


class Anatomy:
    """Parts of a formula and their sizes; the same in every notation."""

    def __init__(self, root: Any) -> None:
        ordered = in_order(root)
        self.structure = structure(ordered)
        self.wholes: dict[int, Symbolic] = {}
        for whole in ordered:
            self.wholes.setdefault(self.structure[id(whole)], whole)
        self.below = {number: self.below_of(whole) for number, whole in self.wholes.items()}
        self.weights: dict[int, int] = {}
        for number, below in self.below.items():
            self.weights[number] = 1 + sum(self.weights[part] for part in below)

    def below_of(self, whole: Symbolic) -> list[int]:
        """Return the numbers of the direct parts of an expression. A square has its base once."""
        below = [self.structure[id(part)] for part in parts(whole)]
        return below[:1] if self.is_square(whole) else below

    def is_square(self, whole: Symbolic) -> bool:
        """Return whether an expression is the product of a part with itself."""
        if not isinstance(whole, Expression) or whole.function != "multiply":
            return False
        left, right = (self.structure.get(id(side)) for side in whole.args)
        return left is not None and left == right


class Writer:
    """Writer of one formula in one notation.

    Parts with the same structure are laid out once, and in a long formula they get a name. Parts are laid out before
    the expressions that contain them, so a formula can be as deep as memory allows.
    """

    def __init__(self, marks: Marks, root: Any, layout: Layout, anatomy: Anatomy | None = None) -> None:
        self.marks = marks
        self.root = root
        self.layout = layout
        self.anatomy = anatomy or Anatomy(root)
        self.structure = self.anatomy.structure
        self.pieces: dict[int, Piece] = {}
        self.definitions: list[tuple[str, str]] = []
        self.named = self._worth_a_name(self.anatomy.below_of(Expression("all", (root,))))
        for number, whole in self.anatomy.wholes.items():
            piece = layout(self, whole)
            self.pieces[number] = self._define(piece) if number in self.named else piece

    def formula(self, left: Symbolic | None = None) -> str:
        """Return the whole formula, as an equation if it has a left side."""
        right = self.piece(self.root)
        if left is None:
            return self.marks.formula(right.code, self.definitions)
        equation = self.marks.row(self.piece(left).code, self.marks.sign("="), self._right_side(right))
        return self.marks.formula(equation, self.definitions)

    def _right_side(self, piece: Piece) -> str:
        """Return the code after an equals sign. A comparison gets brackets, so that it does not read as an equation."""
        return self.parenthesize(piece, COMPARE) if piece.level in TRUTHS else piece.code

    def piece(self, value: Any) -> Piece:
        """Return the piece of a part or a constant."""
        number = self.structure.get(id(value)) if isinstance(value, Symbolic) else None
        return self.layout(self, value) if number is None else self.pieces[number]

    def parenthesize(self, piece: Piece, level: int, chains: str = "", *, after_sign: bool = False) -> str:
        """Return the code of a piece next to an operator of precedence `level`, in brackets if needed.

        At the same level it needs no brackets if its operator is one of `chains`. With `after_sign`, a piece that
        starts with a minus gets brackets.
        """
        holds = piece.level > level or (piece.level == level and piece.sign in set(chains))
        if holds and not (after_sign and piece.minus):
            return piece.code
        counted = piece.level in TRUTHS and level >= COMPARE
        opening, closing = "[]" if counted else "()"
        return self.marks.fence(opening, piece.code, closing)

    def comma_list(self, values: Iterable[Any]) -> str:
        """Return the codes of parts with commas between them."""
        return self.with_commas([self.piece(value).code for value in values])

    def with_commas(self, codes: Iterable[str]) -> str:
        """Return codes with commas between them."""
        return self.marks.row(*[part for code in codes for part in (self.marks.comma, code)][1:])

    def is_square(self, whole: Symbolic) -> bool:
        """Return whether an expression is the product of a part with itself."""
        return self.anatomy.is_square(whole)

    def has_name(self, whole: Symbolic) -> bool:
        """Return whether an expression is written as a name that the formula defines below."""
        return self.structure.get(id(whole)) in self.named

    def _worth_a_name(self, top: list[int]) -> set[int]:
        """Return the parts of a long formula that it would write more than once, except small ones."""
        weights = self.anatomy.weights
        if sum(weights[number] for number in top) < LONG:
            return set()
        uses = Counter(part for below in [top, *self.anatomy.below.values()] for part in below)
        return {number for number, count in uses.items() if count > 1 and weights[number] > LONG // 6}

    def _define(self, piece: Piece) -> Piece:
        """Give a piece a name, define it under the formula, and return the name as a piece."""
        name = self.marks.numbered_name("s", len(self.definitions) + 1)
        self.definitions.append((name, self._right_side(piece)))
        return Piece(name)


Layout = Callable[[Writer, Any], Piece]
"""Function that returns the piece of a part, made from the pieces of its own parts."""
