"""matplotlib figures as images with alternative text.

Notebooks offer no alternative text for their own figures. Here the figure is an `<img>`, which untrusted notebooks also
show, on a white background, so that it is readable in dark themes.
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

SHARPNESS = 2
"""Image pixels for each pixel of the page."""
MARGIN = 8
GROUND = f"background:#fff;border-radius:6px;padding:{MARGIN}px;box-sizing:border-box;max-width:100%"


class Figure:
    """Figure with a description. `figure` is closed, so that the notebook does not show it a second time."""

    def __init__(self, figure: Any, description: str) -> None:
        from matplotlib import pyplot as plt

        if not hasattr(figure, "savefig") or not isinstance(description, str):
            raise TypeError(f"describe needs a matplotlib figure and a text, got {figure!r} and {description!r}")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=SHARPNESS * figure.dpi, facecolor="white")
        plt.close(figure)
        self.png, self.description = buffer.getvalue(), description
        self.width = round(figure.get_figwidth() * figure.dpi) + 2 * MARGIN

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        source = "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")
        described = escape(" ".join(self.description.split()))
        shown = f'<img alt="{described}" width="{self.width}" style="{GROUND}" src="{source}">'
        return {"text/plain": self.description, "text/html": shown}
