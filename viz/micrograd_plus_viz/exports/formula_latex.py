"""LaTeX for formulas, in the subset of KaTeX and MathJax, from the MathML of `formula.py`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from ..words import written_symbol

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
    "…": r"\ldots{}",
})  # fmt: skip
_HAT = "\u0302"
_MARKS = {"⁻¹": "^{-1}", "′": "'", "ᵀ": r"^{\top}", "ᴴ": r"^{\mathrm{H}}", "Ā": r"\bar{A}"} | {
    raised: f"^{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")
} | {lowered: f"_{{{digit}}}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_MARKED = re.compile(f"([{''.join(GREEK)}]|.{_HAT}|{'|'.join(_MARKS)})")
Names = Mapping[str, str]


def formulas(markup: str, names: Names | None = None) -> list[str]:
    """Return the paragraphs of a formula in LaTeX; `names` maps the rule's symbols to the program's names."""
    tree = ET.fromstring(f"<div>{markup.replace('<wbr>', '<wbr/>')}</div>")  # noqa: S314 - written by formula.py
    if (broad := tree.find("div[@class='broad']")) is not None:
        tree = broad
    all_names = names or {}
    return [
        _tidy(" ".join(_row(list(piece), all_names) for piece in paragraph.iter("math")))
        for paragraph in tree.iter("p")
    ]


def element(shown: ET.Element, names: Names | None = None) -> str:
    """Return one element in LaTeX."""
    return _tidy(_set(shown, names or {}))


def words(text: str) -> str:
    """Return plain text escaped for LaTeX."""
    return text.translate(_ESCAPES)


def _tidy(code: str) -> str:
    return " ".join(code.split())


def _row(parts: list[ET.Element], names: Names) -> str:
    return " ".join(_set(part, names) for part in parts)


def _set(part: ET.Element, names: Names) -> str:
    """Return one element in LaTeX."""
    if part.get("class") == "overlined":
        return rf"\overline{{{_row(list(part), names)}}}"
    if part.get("class", "").startswith("tall"):
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
    return _structure(part, names)


def _sign(text: str) -> str:
    if text in GREEK:
        return rf"\{GREEK[text]}"
    return SIGNS.get(text, text)


def _token(part: ET.Element, names: Names) -> str:
    text = (part.text or "").replace("⁡", "")
    name = part.get("data-name")
    if name is not None:
        text = written_symbol(name, text, names)
    if text in _WORDS:
        return _WORDS[text]
    if part.tag == "mn" and re.fullmatch(r"[−\d.e…+ i]+", text):
        return text.replace("−", "-").replace("…", r"\ldots")
    if len(text) == 1 and part.tag == "mi":
        if text in GREEK:
            return rf"\{GREEK[text]}"
        return SIGNS.get(text) or (text if text.isascii() and text.isalpha() else rf"\text{{{words(text)}}}")
    return rf"\mathrm{{{text}}}" if text.isascii() and text.isalnum() else _word(text)


def _word(text: str) -> str:
    """Return a word, with letters and marks that text fonts may lack in mathematics."""
    return " ".join(_MARKS.get(part) or _is_accent(part) for part in _MARKED.split(text) if part)


def _is_accent(part: str) -> str:
    if part in GREEK:
        return rf"\{GREEK[part]}"
    if part.endswith(_HAT):
        return rf"\hat{{{part[0]}}}"
    return rf"\text{{{words(part)}}}"


def _structure(part: ET.Element, names: Names) -> str:
    """Return an element whose children have fixed positions, such as a fraction."""
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
    """Return built-up content between brackets of the same height."""
    if part.find("mtable[@class='cases']") is not None:
        return _row(list(part)[1:], names)
    inside = _row(list(part)[1:-1], names)
    opening, closing = (SIGNS.get(part[at].text or "", part[at].text or ".") for at in (0, -1))
    return rf"\left{opening} {inside} \right{closing}"


def _table(part: ET.Element, names: Names) -> str:
    kind = {"matrix": "pmatrix", "cases": "cases"}.get(part.get("class", ""), "gathered")
    rows = r" \\ ".join(" & ".join(_row(list(cell), names) for cell in row) for row in part)
    return rf"\begin{{{kind}}} {rows} \end{{{kind}}}"
