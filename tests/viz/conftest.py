"""The browser's fixtures for the tests of what is shown, and the modules that lie one folder up."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from browser import chromium, page  # noqa: F401 - fixtures; they are found once the line above has run
