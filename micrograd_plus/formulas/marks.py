"""Marks of formulas in three notations: one line of text, LaTeX, MathML.

Each class has the same methods, from strings to strings; `layouts` decides which to call. A `flat` notation has only
one line, so fractions, roots and cases are written differently.

The MathML works without a style sheet. It has classes for one, because a browser without a mathematical font does not
stretch brackets and bars: `tall` for a row with a table in brackets, `overlined` for a bar over something, `cases` and
`formula` for tables.
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
    """One line of Unicode. Names are written as in the code."""

    flat = True
    comma = ", "
    raised = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    lowered = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

    def symbol(self, name: str, shown: str) -> str:
        """Return the name of a value."""
        return shown

    def upright(self, name: str) -> str:
        """Return a name that means the same in every formula, such as a function's."""
        return name

    def remark(self, words: str) -> str:
        """Return words of ordinary language."""
        return words

    def number(self, digits: str) -> str:
        """Return the digits of a number that is not negative."""
        return digits

    def numbered_name(self, name: str, number: int) -> str:
        """Return a name with a number as its subscript."""
        return name + str(number).translate(self.lowered)

    def sign(self, sign: str) -> str:
        """Return an operator between two sides."""
        return f" {sign} "

    def mark(self, sign: str) -> str:
        """Return a sign without space around it."""
        return sign

    def row(self, *codes: str) -> str:
        """Return codes side by side."""
        return "".join(codes)

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Return code between brackets or bars."""
        return opening + code + closing

    def call(self, name: str, axis: str, code: str) -> str:
        """Return a function with its arguments, over an axis if `axis` is not empty."""
        return f"{name}[{axis}]({code})" if axis else f"{name}({code})"

    def fits_above(self, exponent: str) -> bool:
        """Return whether an exponent needs no parentheses."""
        return exponent.translate(self.raised) != exponent and not set(exponent) - set("0123456789−")

    def superscript(self, base: str, exponent: str) -> str:
        """Return a power."""
        return base + (exponent.translate(self.raised) if self.fits_above(exponent) else f"^{exponent}")

    def transpose(self, code: str) -> str:
        """Return the transpose of a matrix."""
        return f"{code}ᵀ"

    def adjoint(self, code: str) -> str:
        """Return the conjugate transpose of a matrix."""
        return f"{code}ᴴ"

    def subscript(self, code: str, index: str) -> str:
        """Return a part of an array."""
        return f"{code}[{index}]"

    def fraction(self, top: str, bottom: str) -> str:
        """Return a fraction."""
        return f"{top} / {bottom}"

    def root(self, code: str, degree: int) -> str:
        """Return a square or cube root."""
        return {2: "√", 3: "∛"}[degree] + code

    def overline(self, code: str) -> str:
        """Return a complex conjugate."""
        return f"conj({code})"

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Return values by cases, each with its condition; the last has none."""
        taken = "".join(f"{value} {words[0]}{condition}; " for value, condition in rows[:-1])
        return f"{{{taken}{rows[-1][0]} {words[1]}}}"

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """Return the whole formula and its definitions."""
        named = "; ".join(f"{name} = {meaning}" for name, meaning in definitions)
        return f"{code}, where {named}" if named else code


class Latex:
    """LaTeX's mathematics, as far as KaTeX and MathJax support it."""

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
        "…": r"\ldots{}",
    })  # fmt: skip

    def symbol(self, name: str, shown: str) -> str:
        """Return the name of a value: one letter in italics, a word upright."""
        letter = GREEK.get(shown, shown)
        if len(letter) == 1 and letter.isalpha():
            return self.signs.get(letter, letter)
        return rf"\mathrm{{{shown.translate(self.escapes)}}}".replace(" ", r"\ ")

    def upright(self, name: str) -> str:
        """Return a name that means the same in every formula, such as a function's."""
        if len(name) == 1:
            return self.signs.get(name) or rf"\mathrm{{{name.translate(self.escapes)}}}"
        return rf"\operatorname{{{name.translate(self.escapes)}}}"

    def remark(self, words: str) -> str:
        """Return words of ordinary language."""
        return rf"\text{{{words.translate(self.escapes)}}}"

    def number(self, digits: str) -> str:
        """Return the digits of a number that is not negative."""
        return digits.replace("…", r"\ldots")

    def numbered_name(self, name: str, number: int) -> str:
        """Return a name with a number as its subscript."""
        return f"{name}_{{{number}}}"

    def sign(self, sign: str) -> str:
        """Return an operator between two sides."""
        return f" {self.signs.get(sign, sign)} "

    def mark(self, sign: str) -> str:
        """Return a sign without space around it."""
        code = self.signs.get(sign, sign)
        return f"{code} " if code[-1].isalpha() else code

    def row(self, *codes: str) -> str:
        """Return codes side by side."""
        return "".join(codes)

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Return code between brackets or bars that grow with it."""
        return rf"\left{self.signs.get(opening, opening)} {code} \right{self.signs.get(closing, closing)}"

    def call(self, name: str, axis: str, code: str) -> str:
        """Return a function with its arguments, over an axis if `axis` is not empty."""
        return (f"{name}_{{{axis}}}" if axis else name) + self.fence("(", code, ")")

    def fits_above(self, exponent: str) -> bool:
        """Return whether an exponent needs no parentheses."""
        return bool(exponent)

    def superscript(self, base: str, exponent: str) -> str:
        """Return a power."""
        return f"{base}^{{{exponent}}}"

    def transpose(self, code: str) -> str:
        """Return the transpose of a matrix."""
        return rf"{code}^{{\top}}"

    def adjoint(self, code: str) -> str:
        """Return the conjugate transpose of a matrix."""
        return rf"{code}^{{\mathrm{{H}}}}"

    def subscript(self, code: str, index: str) -> str:
        """Return a part of an array."""
        return f"{code}_{{{index}}}"

    def fraction(self, top: str, bottom: str) -> str:
        """Return a fraction."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def root(self, code: str, degree: int) -> str:
        """Return a square or cube root."""
        return rf"\sqrt{{{code}}}" if degree == 2 else rf"\sqrt[{degree}]{{{code}}}"

    def overline(self, code: str) -> str:
        """Return a complex conjugate."""
        return rf"\overline{{{code}}}"

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Return values by cases, each with its condition; the last has none."""
        first = self.remark(words[0]) + " " if words[0] else ""
        taken = [rf"{value} & {first}{condition} \\" for value, condition in rows[:-1]]
        return rf"\begin{{cases}} {' '.join(taken)} {rows[-1][0]} & {self.remark(words[1])} \end{{cases}}"

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """Return the whole formula with its definitions below it."""
        rows = r" \\ ".join(f"{name} = {meaning}" for name, meaning in definitions)
        return rf"\begin{{gathered}} {code} \\ \text{{where }} {rows} \end{{gathered}}" if rows else code


class MathML:
    """MathML Core, which browsers draw without a library. A value is `<mi data-name="its name">`."""

    flat = False
    comma = "<mo>,</mo>"

    def symbol(self, name: str, shown: str) -> str:
        """Return the name of a value; browsers put one letter in italics and leave a word upright."""
        return f'<mi data-name="{html.escape(name)}">{html.escape(GREEK.get(shown, shown))}</mi>'

    def upright(self, name: str) -> str:
        """Return a name that means the same in every formula, such as a function's."""
        if name in "ΣΠ":
            return f"<mo>{'∑∏'['ΣΠ'.index(name)]}</mo>"
        return f'<mi mathvariant="normal">{html.escape(name)}</mi>'

    def remark(self, words: str) -> str:
        """Return words of ordinary language, with the spaces at their ends."""
        return f"<mtext>{html.escape(words).replace(' ', '&#xa0;')}</mtext>"

    def number(self, digits: str) -> str:
        """Return the digits of a number that is not negative."""
        return f"<mn>{digits}</mn>"

    def numbered_name(self, name: str, number: int) -> str:
        """Return a name with a number as its subscript."""
        return f"<msub><mi>{name}</mi><mn>{number}</mn></msub>"

    def sign(self, sign: str) -> str:
        """Return an operator between two sides."""
        room = ' lspace="0.22em" rspace="0.22em"' if sign == "@" else ""
        return f"<mo{room}>{html.escape(sign)}</mo>"

    def mark(self, sign: str) -> str:
        """Return a sign without space around it."""
        return f'<mo form="prefix" lspace="0" rspace="0">{html.escape(sign)}</mo>'

    def row(self, *codes: str) -> str:
        """Return codes side by side."""
        return codes[0] if len(codes) == 1 else f"<mrow>{''.join(codes)}</mrow>"

    def fence(self, opening: str, code: str, closing: str) -> str:
        """Return code between brackets or bars that grow with it."""
        row = '<mrow class="tall">' if "<mtable" in code else "<mrow>"
        return f'{row}<mo form="prefix">{opening}</mo>{code}<mo form="postfix">{closing}</mo></mrow>'

    def call(self, name: str, axis: str, code: str) -> str:
        """Return a function with its arguments, over an axis if `axis` is not empty."""
        name = self.subscript(name, axis) if axis else name
        return self.row(name, "<mo>&#x2061;</mo>", self.fence("(", code, ")"))

    def fits_above(self, exponent: str) -> bool:
        """Return whether an exponent needs no parentheses."""
        return bool(exponent)

    def superscript(self, base: str, exponent: str) -> str:
        """Return a power."""
        return f"<msup>{base}{exponent}</msup>"

    def transpose(self, code: str) -> str:
        """Return the transpose of a matrix."""
        return self.superscript(code, self.mark("⊤"))

    def adjoint(self, code: str) -> str:
        """Return the conjugate transpose of a matrix."""
        return self.superscript(code, self.upright("H"))

    def subscript(self, code: str, index: str) -> str:
        """Return a part of an array."""
        return f"<msub>{code}{index}</msub>"

    def fraction(self, top: str, bottom: str) -> str:
        """Return a fraction."""
        return f"<mfrac>{top}{bottom}</mfrac>"

    def root(self, code: str, degree: int) -> str:
        """Return a square or cube root."""
        return f"<msqrt>{code}</msqrt>" if degree == 2 else f"<mroot>{code}<mn>{degree}</mn></mroot>"

    def overline(self, code: str) -> str:
        """Return a complex conjugate."""
        return f'<mover class="overlined" accent="true">{code}<mo>¯</mo></mover>'

    def cases(self, rows: Sequence[tuple[str, str]], words: tuple[str, str] = ("if ", "otherwise")) -> str:
        """Return values by cases, each with its condition; the last has none."""
        first = [self.remark(words[0])] if words[0] else []
        taken = [(value, self.row(*first, condition)) for value, condition in rows[:-1]]
        cells = [*taken, (rows[-1][0], self.remark(words[1]))]
        table = "".join(f"<mtr><mtd>{value}</mtd><mtd>{when}</mtd></mtr>" for value, when in cells)
        return f'<mrow class="tall"><mo form="prefix">{{</mo><mtable class="cases">{table}</mtable></mrow>'

    def formula(self, code: str, definitions: Sequence[tuple[str, str]]) -> str:
        """Return the whole formula as one element, with its definitions below it."""
        words = ["where "] + ["and "] * len(definitions)
        rows = [
            self.row(self.remark(word), name, self.sign("="), meaning)
            for word, (name, meaning) in zip(words, definitions, strict=False)
        ]
        table = "".join(f"<mtr><mtd>{row}</mtd></mtr>" for row in [code, *rows])
        inside = f'<mtable displaystyle="true" class="formula">{table}</mtable>' if rows else code
        return f'<math display="block">{inside}</math>'
