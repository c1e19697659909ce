"""Marks of formulas in three notations: one line of text, LaTeX, MathML.

Each class has the same methods, from strings to strings; `layouts` decides which ones are used. `flat` marks a
notation of one line, in which fractions, roots and cases are written differently.

The MathML needs no style sheet, and has classes for one, because a browser without a mathematical font
stretches nothing: `tall` for a row whose brackets hold a table, `overlined` for a bar over something,
`cases` and `formula` for tables.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eps": "ε", "eta": "η",
    "theta": "θ", "lambda": "λ", "lamda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "omega": "ω",
}  # fmt: skip


class Text:
    """One line of Unicode, close to the code: names stay as they are written there."""

    flat = True
    comma = ", "
    raised = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    lowered = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

    def symbol(self, name: str, shown: str) -> str:
        """A name that stands for a value, as it is shown."""
        return shown

    def upright(self, name: str) -> str:
        """A name that means the same in every formula, such as a function's."""
        return name

    def remark(self, words: str) -> str:
        """Words of plain language."""
        return words

    def number(self, digits: str) -> str:
        """The digits of a number that is not negative."""
        return digits

    def with_number(self, name: str, number: int) -> str:
        """A name with a number."""
        return name + str(number).translate(self.lowered)

    def sign(self, sign: str) -> str:
        """An operator between two sides."""
        return f" {sign} "

    def mark(self, sign: str) -> str:
        """A sign by itself, with no room round it."""
        return sign

    def row(self, *codes: str) -> str:
        """Side by side."""
        return "".join(codes)

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Between brackets or bars."""
        return opening + code + closing

    def call(self, name: str, axis: str, code: str) -> str:
        """A function applied, over an axis where `axis` is not empty."""
        return f"{name}[{axis}]({code})" if axis else f"{name}({code})"

    def fits_above(self, exponent: str) -> bool:
        """Whether an exponent can be raised without parentheses round it."""
        return exponent.translate(self.raised) != exponent and not set(exponent) - set("0123456789−")

    def superscript(self, base: str, exponent: str) -> str:
        """A power."""
        return base + (exponent.translate(self.raised) if self.fits_above(exponent) else f"^{exponent}")

    def transpose(self, code: str) -> str:
        """The transpose of a matrix."""
        return f"{code}ᵀ"

    def adjoint(self, code: str) -> str:
        """The transpose of a matrix, conjugated."""
        return f"{code}ᴴ"

    def index(self, code: str, index: str) -> str:
        """A part of an array."""
        return f"{code}[{index}]"

    def fraction(self, top: str, bottom: str) -> str:
        """One thing over another."""
        return f"{top} / {bottom}"

    def root(self, code: str, degree: int) -> str:
        """A square or cube root."""
        return {2: "√", 3: "∛"}[degree] + code

    def overline(self, code: str) -> str:
        """A complex conjugate."""
        return f"conj({code})"

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Values, each with its condition; the last has none."""
        taken = "".join(f"{value} {words[0]}{condition}; " for value, condition in rows[:-1])
        return f"{{{taken}{rows[-1][0]} {words[1]}}}"

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """The whole formula, and what it uses by name."""
        named = "; ".join(f"{name} = {meaning}" for name, meaning in definitions)
        return f"{code}, where {named}" if named else code


class Latex:
    """LaTeX's mathematics, within what KaTeX and MathJax read."""

    flat = False
    comma = ", "
    signs: ClassVar = {
        "·": r"\cdot", "−": "-", "@": r"\mathbin{@}", "≠": r"\ne", "≤": r"\le", "≥": r"\ge", "∧": r"\land",
        "∨": r"\lor", "⊻": r"\veebar", "¬": r"\lnot", "Σ": r"\sum", "Π": r"\prod", "π": r"\pi",
        "∞": r"\infty", "…": r"\ldots", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
        "‖": r"\|", "∂": r"\partial",
        "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "η": r"\eta",
        "θ": r"\theta", "λ": r"\lambda", "μ": r"\mu", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau",
        "φ": r"\varphi", "ω": r"\omega",
    }  # fmt: skip
    escapes = str.maketrans({character: rf"\{character}" for character in "#$%&_{}"} | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    })  # fmt: skip

    def symbol(self, name: str, shown: str) -> str:
        """A name that stands for a value: one letter slanted, a word upright."""
        letter = GREEK.get(shown, shown)
        if len(letter) == 1 and letter.isalpha():
            return self.signs.get(letter, letter)
        return rf"\mathrm{{{shown.translate(self.escapes)}}}"

    def upright(self, name: str) -> str:
        """A name that means the same in every formula, such as a function's."""
        if len(name) == 1:
            return self.signs.get(name) or rf"\mathrm{{{name.translate(self.escapes)}}}"
        return rf"\operatorname{{{name.translate(self.escapes)}}}"

    def remark(self, words: str) -> str:
        """Words of plain language."""
        return rf"\text{{{words.translate(self.escapes)}}}"

    def number(self, digits: str) -> str:
        """The digits of a number that is not negative."""
        return digits.replace("…", r"\ldots")

    def with_number(self, name: str, number: int) -> str:
        """A name with a number."""
        return f"{name}_{{{number}}}"

    def sign(self, sign: str) -> str:
        """An operator between two sides."""
        return f" {self.signs.get(sign, sign)} "

    def mark(self, sign: str) -> str:
        """A sign by itself, with no room round it."""
        code = self.signs.get(sign, sign)
        return f"{code} " if code[-1].isalpha() else code

    def row(self, *codes: str) -> str:
        """Side by side."""
        return "".join(codes)

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Between brackets or bars, as high as what they hold."""
        return rf"\left{self.signs.get(opening, opening)} {code} \right{self.signs.get(closing, closing)}"

    def call(self, name: str, axis: str, code: str) -> str:
        """A function applied, over an axis where `axis` is not empty."""
        return (f"{name}_{{{axis}}}" if axis else name) + self.fence("(", code, ")")

    def fits_above(self, exponent: str) -> bool:
        """Whether an exponent can be raised without parentheses round it."""
        return bool(exponent)

    def superscript(self, base: str, exponent: str) -> str:
        """A power."""
        return f"{base}^{{{exponent}}}"

    def transpose(self, code: str) -> str:
        """The transpose of a matrix."""
        return rf"{code}^{{\top}}"

    def adjoint(self, code: str) -> str:
        """The transpose of a matrix, conjugated."""
        return rf"{code}^{{\mathrm{{H}}}}"

    def index(self, code: str, index: str) -> str:
        """A part of an array."""
        return f"{code}_{{{index}}}"

    def fraction(self, top: str, bottom: str) -> str:
        """One thing over another."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def root(self, code: str, degree: int) -> str:
        """A square or cube root."""
        return rf"\sqrt{{{code}}}" if degree == 2 else rf"\sqrt[{degree}]{{{code}}}"

    def overline(self, code: str) -> str:
        """A complex conjugate."""
        return rf"\overline{{{code}}}"

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Values, each with its condition; the last has none."""
        first = self.remark(words[0]) + " " if words[0] else ""
        taken = [rf"{value} & {first}{condition} \\" for value, condition in rows[:-1]]
        return rf"\begin{{cases}} {' '.join(taken)} {rows[-1][0]} & {self.remark(words[1])} \end{{cases}}"

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """The whole formula, and under it what it uses by name."""
        rows = r" \\ ".join(f"{name} = {meaning}" for name, meaning in definitions)
        return rf"\begin{{gathered}} {code} \\ \text{{where }} {rows} \end{{gathered}}" if rows else code


class MathML:
    """MathML Core, which browsers draw by themselves. A value is `<mi data-name="its name">`."""

    flat = False
    comma = "<mo>,</mo>"

    def symbol(self, name: str, shown: str) -> str:
        """A name that stands for a value; browsers slant one letter and leave a word upright."""
        return f'<mi data-name="{html.escape(name)}">{html.escape(GREEK.get(shown, shown))}</mi>'

    def upright(self, name: str) -> str:
        """A name that means the same in every formula, such as a function's."""
        if name in "ΣΠ":
            return f"<mo>{'∑∏'['ΣΠ'.index(name)]}</mo>"
        return f'<mi mathvariant="normal">{html.escape(name)}</mi>'

    def remark(self, words: str) -> str:
        """Words of plain language, with the spaces at both ends."""
        return f"<mtext>{html.escape(words).replace(' ', '&#xa0;')}</mtext>"

    def number(self, digits: str) -> str:
        """The digits of a number that is not negative."""
        return f"<mn>{digits}</mn>"

    def with_number(self, name: str, number: int) -> str:
        """A name with a number."""
        return f"<msub><mi>{name}</mi><mn>{number}</mn></msub>"

    def sign(self, sign: str) -> str:
        """An operator between two sides."""
        room = ' lspace="0.22em" rspace="0.22em"' if sign == "@" else ""
        return f"<mo{room}>{html.escape(sign)}</mo>"

    def mark(self, sign: str) -> str:
        """A sign by itself, with no room round it."""
        return f'<mo form="prefix" lspace="0" rspace="0">{html.escape(sign)}</mo>'

    def row(self, *codes: str) -> str:
        """Side by side."""
        return codes[0] if len(codes) == 1 else f"<mrow>{''.join(codes)}</mrow>"

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Between brackets or bars, as high as what they hold."""
        row = '<mrow class="tall">' if "<mtable" in code else "<mrow>"
        return f'{row}<mo form="prefix">{opening}</mo>{code}<mo form="postfix">{closing}</mo></mrow>'

    def call(self, name: str, axis: str, code: str) -> str:
        """A function applied, over an axis where `axis` is not empty."""
        name = self.index(name, axis) if axis else name
        return self.row(name, "<mo>&#x2061;</mo>", self.fence("(", code, ")"))

    def fits_above(self, exponent: str) -> bool:
        """Whether an exponent can be raised without parentheses round it."""
        return bool(exponent)

    def superscript(self, base: str, exponent: str) -> str:
        """A power."""
        return f"<msup>{base}{exponent}</msup>"

    def transpose(self, code: str) -> str:
        """The transpose of a matrix."""
        return self.superscript(code, self.mark("⊤"))

    def adjoint(self, code: str) -> str:
        """The transpose of a matrix, conjugated."""
        return self.superscript(code, self.upright("H"))

    def index(self, code: str, index: str) -> str:
        """A part of an array."""
        return f"<msub>{code}{index}</msub>"

    def fraction(self, top: str, bottom: str) -> str:
        """One thing over another."""
        return f"<mfrac>{top}{bottom}</mfrac>"

    def root(self, code: str, degree: int) -> str:
        """A square or cube root."""
        return f"<msqrt>{code}</msqrt>" if degree == 2 else f"<mroot>{code}<mn>{degree}</mn></mroot>"

    def overline(self, code: str) -> str:
        """A complex conjugate."""
        return f'<mover class="overlined" accent="true">{code}<mo>¯</mo></mover>'

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Values, each with its condition; the last has none."""
        first = [self.remark(words[0])] if words[0] else []
        taken = [(value, self.row(*first, condition)) for value, condition in rows[:-1]]
        cells = [*taken, (rows[-1][0], self.remark(words[1]))]
        table = "".join(f"<mtr><mtd>{value}</mtd><mtd>{when}</mtd></mtr>" for value, when in cells)
        return f'<mrow class="tall"><mo form="prefix">{{</mo><mtable class="cases">{table}</mtable></mrow>'

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """The whole formula as one element, and under it what it uses by name."""
        words = ["where "] + ["and "] * len(definitions)
        rows = [
            self.row(self.remark(word), name, self.sign("="), meaning)
            for word, (name, meaning) in zip(words, definitions, strict=False)
        ]
        table = "".join(f"<mtr><mtd>{row}</mtd></mtr>" for row in [code, *rows])
        inside = f'<mtable displaystyle="true" class="formula">{table}</mtable>' if rows else code
        return f'<math display="block">{inside}</math>'
