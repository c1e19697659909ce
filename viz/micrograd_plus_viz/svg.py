"""SVG documents and the texts in them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from . import letters

FONT = "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif"
MONO_FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""The fonts of pictures, and those of code in them, as `picture.css` names them."""


@dataclass(frozen=True)
class Block:
    """SVG markup with its size, its upper left corner at the origin."""

    width: float
    height: float
    markup: str

    def at(self, x: float, y: float) -> str:
        """Return the markup with its corner at a position."""
        return f'<g transform="translate({coord(x)} {coord(y)})">{self.markup}</g>'


def coord(x: float) -> str:
    """Round a coordinate to a tenth of a pixel."""
    return f"{x:.1f}".removesuffix(".0")


def document(width: float, height: float, style: str, inner: str, title: str, description: str = "") -> str:
    """Return an SVG document with a background, a title and a description."""
    w, h = coord(width), coord(height)
    about = f"<desc>{escape(description)}</desc>" if description else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'class="walk"><title>{escape(title)}</title>{about}<style>{style}</style>'
        f'<rect class="ground" width="{w}" height="{h}" rx="6"/>{inner}</svg>'
    )


def text(
    content: str, x: float, y: float, size: float, name: str = "", bold: bool = False, mono: bool = False
) -> str:  # fmt: skip
    """Return a line of text; `name` is its class."""
    names = " ".join(["mono"] * mono + [name] * bool(name))
    kind = f' class="{names}"' if names else ""
    weight = ' font-weight="bold"' if bold else ""
    long = letters.fixed_width(content, size, bold, mono)
    return (
        f'<text{kind} x="{coord(x)}" y="{coord(y)}" font-size="{size:g}"{weight}{long} xml:space="preserve">'
        f"{escape(content)}</text>"
    )
