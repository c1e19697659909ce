"""Writer of one formula: it combines the pieces of the parts, with parentheses where they are needed.

The layout of functions is a parameter, and so are the marks of the notation.
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
"""Number of parts from which repeated subexpressions get a name."""

CHOICE, OR, AND, COMPARE, SUM, PRODUCT, POWER, ATOM = range(8)
"""Precedence levels, loosest first."""

TRUTHS = (OR, AND, COMPARE)


class Piece(NamedTuple):
    """Written part, with the level and operator that decide on parentheses."""

    code: str
    level: int = ATOM
    sign: str = ""
    """The outermost operator, if there is one."""
    minus: bool = False
    """Whether it starts with a minus sign, which may not follow another operator."""


class Anatomy:
    """Structure of a formula, independent of notation."""

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
        """Return the direct parts of a value, by structure; a square has its base once."""
        below = [self.structure[id(part)] for part in parts(whole)]
        return below[:1] if self.is_square(whole) else below

    def is_square(self, whole: Symbolic) -> bool:
        """Return whether it is a product of a value with itself."""
        if not isinstance(whole, Expression) or whole.function != "multiply":
            return False
        left, right = (self.structure.get(id(side)) for side in whole.args)
        return left is not None and left == right


class Writer:
    """Writer of one formula with the marks of one notation.

    Parts are identified by structure, so that repeated subexpressions are laid out once; in a long formula they
    get names. Parts are processed before the expressions they belong to, without recursion.
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
        """Return the whole formula, as an equation if there is a left side."""
        right = self.piece(self.root)
        if left is None:
            return self.marks.formula(right.code, self.definitions)
        equation = self.marks.row(self.piece(left).code, self.marks.sign("="), self._right_side(right))
        return self.marks.formula(equation, self.definitions)

    def _right_side(self, piece: Piece) -> str:
        """Return a piece for the right side of an equation, where a comparison needs brackets."""
        return self.wrap(piece, COMPARE) if piece.level in TRUTHS else piece.code

    def piece(self, value: Any) -> Piece:
        """Return the piece of a symbolic value or a constant."""
        number = self.structure.get(id(value)) if isinstance(value, Symbolic) else None
        return self.layout(self, value) if number is None else self.pieces[number]

    def wrap(self, piece: Piece, level: int, chains: str = "", *, after_sign: bool = False) -> str:
        """Return a piece for a given `level`, in parentheses if it is looser.

        At the same level it needs none if its operator is one of `chains`; no minus may follow an operator.
        """
        holds = piece.level > level or (piece.level == level and piece.sign in set(chains))
        if holds and not (after_sign and piece.minus):
            return piece.code
        counted = piece.level in TRUTHS and level >= COMPARE
        opening, closing = "[]" if counted else "()"
        return self.marks.fence(opening, piece.code, closing)

    def comma_list(self, values: Iterable[Any]) -> str:
        """Return parts with commas between them."""
        return self.with_commas([self.piece(value).code for value in values])

    def with_commas(self, codes: Iterable[str]) -> str:
        """Return codes with commas between them."""
        return self.marks.row(*[part for code in codes for part in (self.marks.comma, code)][1:])

    def is_square(self, whole: Symbolic) -> bool:
        """Return whether it is a product of a value with itself."""
        return self.anatomy.is_square(whole)

    def has_name(self, whole: Symbolic) -> bool:
        """Return whether a part has a name, and is defined below the formula."""
        return self.structure.get(id(whole)) in self.named

    def _worth_a_name(self, top: list[int]) -> set[int]:
        """Return the parts that a long formula would repeat, except small ones."""
        weights = self.anatomy.weights
        if sum(weights[number] for number in top) < LONG:
            return set()
        uses = Counter(part for below in [top, *self.anatomy.below.values()] for part in below)
        return {number for number, count in uses.items() if count > 1 and weights[number] > LONG // 6}

    def _define(self, piece: Piece) -> Piece:
        """Define a name for a piece, which is written once below the formula."""
        name = self.marks.with_number("s", len(self.definitions) + 1)
        self.definitions.append((name, self._right_side(piece)))
        return Piece(name)


Layout = Callable[[Writer, Any], Piece]
"""Function that lays out a part from the pieces of its parts."""
