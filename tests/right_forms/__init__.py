"""Right answers written from textbooks, notes and other libraries, not from the engine's code."""

import re
from pathlib import Path

from student_mistakes import compile_answer

from . import longer


def load_forms():
    """Return every right form: its exercise, the answer, and its code or sentence."""
    forms, exercise = [], ""
    for line in (Path(__file__).parent / "forms.txt").read_text().splitlines():
        if re.fullmatch(r"\[[a-z_0-9]+\.[a-z+_.]+\]", line):
            exercise = line.strip("[]")
        elif line and not line.startswith("#"):
            forms.append((exercise, compile_answer(line), line))
    return forms + [(name, answer, answer.__doc__ or "") for name, answer in longer.FORMS]
