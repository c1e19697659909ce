"""Write the slides of the lessons into slides/, or of the notebooks that are named on the command line.

Run as `make slides`. Each page works from a disk: its players and questions make no request.
"""

from __future__ import annotations

import sys
from pathlib import Path

from micrograd_plus_viz.slides import write_slides

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write a page for each lesson."""
    for notebook in [Path(name) for name in sys.argv[1:]] or sorted(ROOT.glob("notebooks/[0-9][0-9]_*.ipynb")):
        path = write_slides(notebook, ROOT / "slides" / f"{notebook.stem}.html")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
