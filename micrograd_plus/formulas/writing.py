"""The writer of one formula: it puts the pieces of the parts together, with parentheses where they are needed.

It knows neither what a function looks like (the layout that it is given says so) nor the notation (its marks do).
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
"""From so many parts on, what a formula would say twice is given a name."""

CHOICE, OR, AND, COMPARE, SUM, PRODUCT, POWER, ATOM = range(8)
"""How tightly a piece holds together, loosest first."""

TRUTHS = (OR, AND, COMPARE)


class Piece(NamedTuple):
    """A written part, and what a neighbour must know of it to set parentheses."""

    code: str
    level: int = ATOM
    sign: str = ""
    """The operator that holds it together, where there is one."""
    minus: bool = False
    """Whether it begins with a minus, which may not follow another operator."""


class Anatomy:
    """What a formula is made of, whichever notation it is written in."""

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
        """What a whole is directly made of, by structure. A square says its base once."""
        below = [self.structure[id(part)] for part in parts(whole)]
        return below[:1] if self.is_square(whole) else below

    def is_square(self, whole: Symbolic) -> bool:
        """Whether it is a product of a thing with itself."""
        if not isinstance(whole, Expression) or whole.function != "multiply":
            return False
        left, right = (self.structure.get(id(side)) for side in whole.args)
        return left is not None and left == right


class Writer:
    """One formula, being written with the marks of one notation.

    Parts are known by their structure, so what a rule computes twice is laid out once; in a long formula it
    gets a name. Parts come before the wholes they make, so a formula may be as deep as memory allows.
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
            self.pieces[number] = self._defined(piece) if number in self.named else piece

    def formula(self, left: Symbolic | None = None) -> str:
        """The whole formula, as an equation where there is a left side."""
        right = self.piece(self.root)
        if left is None:
            return self.marks.formula(right.code, self.definitions)
        equation = self.marks.row(self.piece(left).code, self.marks.sign("="), self._right_side(right))
        return self.marks.formula(equation, self.definitions)

    def _right_side(self, piece: Piece) -> str:
        """A piece after an equals sign, where a comparison would read as a second equation."""
        return self.fenced(piece, COMPARE) if piece.level in TRUTHS else piece.code

    def piece(self, value: Any) -> Piece:
        """How a part is written: a symbolic one, or a constant."""
        number = self.structure.get(id(value)) if isinstance(value, Symbolic) else None
        return self.layout(self, value) if number is None else self.pieces[number]

    def fenced(self, piece: Piece, level: int, chains: str = "", *, after_sign: bool = False) -> str:
        """A piece where `level` is asked for, in brackets where it would fall apart.

        At the same level it holds when its operator is one of `chains`; after an operator no minus may
        follow.
        """
        holds = piece.level > level or (piece.level == level and piece.sign in set(chains))
        if holds and not (after_sign and piece.minus):
            return piece.code
        counted = piece.level in TRUTHS and level >= COMPARE
        opening, closing = "[]" if counted else "()"
        return self.marks.fence(opening, piece.code, closing)

    def listed(self, values: Iterable[Any]) -> str:
        """Parts with commas between them."""
        return self.with_commas([self.piece(value).code for value in values])

    def with_commas(self, codes: Iterable[str]) -> str:
        """Codes with commas between them."""
        return self.marks.row(*[part for code in codes for part in (self.marks.comma, code)][1:])

    def is_square(self, whole: Symbolic) -> bool:
        """Whether it is a product of a thing with itself."""
        return self.anatomy.is_square(whole)

    def has_name(self, whole: Symbolic) -> bool:
        """Whether it is written by a name, and spelled out under the formula."""
        return self.structure.get(id(whole)) in self.named

    def _worth_a_name(self, top: list[int]) -> set[int]:
        """What a long formula would spell out more than once, unless it is small; it consists of `top`."""
        weights = self.anatomy.weights
        if sum(weights[number] for number in top) < LONG:
            return set()
        uses = Counter(part for below in [top, *self.anatomy.below.values()] for part in below)
        return {number for number, count in uses.items() if count > 1 and weights[number] > LONG // 6}

    def _defined(self, piece: Piece) -> Piece:
        """A name for a piece, which is itself written once, under the formula."""
        name = self.marks.numbered("s", len(self.definitions) + 1)
        self.definitions.append((name, self._right_side(piece)))
        return Piece(name)


Layout = Callable[[Writer, Any], Piece]
"""How a part is laid out, from the pieces of its own parts."""
