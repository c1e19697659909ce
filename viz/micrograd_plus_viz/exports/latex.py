"""A formula in LaTeX's mathematics, within what KaTeX and MathJax read, from the MathML of `formula.py`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

SIGNS = {
    "·": r"\cdot", "−": "-", "@": r"\mathbin{@}", "≠": r"\ne", "≤": r"\le", "≥": r"\ge", "<": r"\lt", ">": r"\gt",
    "∧": r"\land", "∨": r"\lor", "⊻": r"\veebar", "¬": r"\lnot", "∑": r"\sum", "∏": r"\prod", "π": r"\pi",
    "∞": r"\infty", "…": r"\ldots", "⋮": r"\vdots", "⋱": r"\ddots", "⌊": r"\lfloor", "⌋": r"\rfloor",
    "⌈": r"\lceil", "⌉": r"\rceil", "‖": r"\|", "∂": r"\partial", "≈": r"\approx", "×": r"\times", "⊤": r"\top",
    "→": r"\to", "√": r"\surd", "{": r"\{", "}": r"\}", "⁡": "", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$",
    "_": r"\_", "^": r"\hat{}", "~": r"\sim", "\\": r"\backslash", "±": r"\pm", "∈": r"\in",
}  # fmt: skip
_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi "
    "psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK_NAMES.split(), strict=True))
_WORDS = {"inf": r"\infty", "−inf": r"-\infty", "nan": r"\mathrm{nan}"}
_ESCAPES = str.maketrans({character: rf"\{character}" for character in "#$%&_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\xa0": " ", "−": "-",
})  # fmt: skip
_HAT = "\u0302"
_MARKS = {"⁻¹": "^{-1}", "′": "'", "ᵀ": r"^{\top}", "ᴴ": r"^{\mathrm{H}}", "Ā": r"\bar{A}"} | {
    raised: f"^{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")
} | {lowered: f"_{{{digit}}}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_MARKED = re.compile(f"([{''.join(GREEK)}]|.{_HAT}|{'|'.join(_MARKS)})")
Names = Mapping[str, str]


def formulas(markup: str, names: Names | None = None) -> list[str]:
    """The paragraphs of a formula in LaTeX; `names` says what the program calls what the rule has a letter for."""
    tree = ET.fromstring(f"<div>{markup.replace('<wbr>', '<wbr/>')}</div>")  # noqa: S314 - written by formula.py
    if (broad := tree.find("div[@class='broad']")) is not None:
        tree = broad
    known = names or {}
    return [
        _tidy(" ".join(_row(list(piece), known) for piece in paragraph.iter("math"))) for paragraph in tree.iter("p")
    ]


def element(shown: ET.Element, names: Names | None = None) -> str:
    """One element in LaTeX."""
    return _tidy(_set(shown, names or {}))


def words(said: str) -> str:
    """Plain words in LaTeX's text."""
    return said.translate(_ESCAPES)


def _tidy(code: str) -> str:
    return " ".join(code.split())


def _row(parts: list[ET.Element], names: Names) -> str:
    return " ".join(_set(part, names) for part in parts)


def _set(part: ET.Element, names: Names) -> str:
    """One element."""
    if part.get("class") == "overlined":
        return rf"\overline{{{_row(list(part), names)}}}"
    if part.get("class") == "tall":
        return _tall(part, names)
    if part.tag in ("mi", "mn", "mtext"):
        return _token(part, names)
    if part.tag == "mo":
        return _sign(part.text or "")
    if part.tag == "mspace":
        return r"\quad"
    if part.tag == "mtable":
        return _table(part, names)
    if part.tag in ("mrow", "mtd", "mtr", "math"):
        return _row(list(part), names)
    return _built(part, names)


def _sign(said: str) -> str:
    if said in GREEK:
        return rf"\{GREEK[said]}"
    return SIGNS.get(said, said)


def _token(part: ET.Element, names: Names) -> str:
    said = (part.text or "").replace("⁡", "")
    given = part.get("data-name")
    if given is not None and said == given:
        said = names.get(given, said)
    if said in _WORDS:
        return _WORDS[said]
    if part.tag == "mn" and re.fullmatch(r"[−\d.e…+ i]+", said):
        return said.replace("−", "-").replace("…", r"\ldots")
    if len(said) == 1 and part.tag == "mi":
        if said in GREEK:
            return rf"\{GREEK[said]}"
        return SIGNS.get(said) or (said if said.isascii() and said.isalpha() else rf"\text{{{words(said)}}}")
    return rf"\mathrm{{{said}}}" if said.isascii() and said.isalnum() else _worded(said)


def _worded(said: str) -> str:
    """A word, in which the letters and marks that a font for text may not have are mathematics."""
    return " ".join(_MARKS.get(part) or _marked(part) for part in _MARKED.split(said) if part)


def _marked(part: str) -> str:
    if part in GREEK:
        return rf"\{GREEK[part]}"
    if part.endswith(_HAT):
        return rf"\hat{{{part[0]}}}"
    return rf"\text{{{words(part)}}}"


def _built(part: ET.Element, names: Names) -> str:
    """What has parts in fixed places."""
    parts = [_set(child, names) for child in part]
    if part.tag == "msqrt":
        return rf"\sqrt{{{' '.join(parts)}}}"
    base, first, *rest = [f"{{{each}}}" for each in parts]
    under = rf"\underset{first}{base}" if parts[0] not in (r"\sum", r"\prod") else f"{parts[0]}_{first}"
    return {
        "mfrac": rf"\frac{base}{first}", "mroot": rf"\sqrt[{parts[1]}]{base}", "msup": f"{base}^{first}",
        "msub": f"{base}_{first}", "msubsup": f"{base}_{first}^{rest[0] if rest else ''}", "munder": under,
        "mover": rf"\overset{first}{base}", "munderover": f"{under}^{rest[0] if rest else ''}",
    }.get(part.tag, " ".join(parts))  # fmt: skip


def _tall(part: ET.Element, names: Names) -> str:
    """Something built up between brackets as high as it."""
    inside = _row([child for child in part if child.tag != "mo"], names)
    signs = [child.text or "." for child in part if child.tag == "mo"]
    if part.find("mtable[@class='cases']") is not None:
        return inside
    opening, closing = [SIGNS.get(sign, sign) for sign in [*signs, "(", ")"][:2]] if len(signs) > 1 else ("(", ")")
    return rf"\left{opening} {inside} \right{closing}"


def _table(part: ET.Element, names: Names) -> str:
    kind = {"matrix": "pmatrix", "cases": "cases"}.get(part.get("class", ""), "gathered")
    rows = r" \\ ".join(" & ".join(_row(list(cell), names) for cell in row) for row in part)
    return rf"\begin{{{kind}}} {rows} \end{{{kind}}}"
