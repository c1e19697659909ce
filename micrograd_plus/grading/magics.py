"""Commands of notebooks, which are not Python: `%matplotlib inline`, `!pip install`, `x = !ls`, `help?`, `%%bash`."""

from __future__ import annotations

import re

COMMAND = re.compile(r"(\s*)([%!?]|[\w, ]+=\s*[!%])")
TIMED = re.compile(r"(\s*)%time\s+(?=\S)")
QUESTION = re.compile(r"\s*[A-Za-z_][\w.]*\?{1,2}\s*$")
TOKEN = re.compile(
    r"""(?P<quote>\"{3}|'{3})|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>\#.*)"""
    r"""|(?P<opening>[\[({])|(?P<closing>[\])}])|(?P<continued>\\$)"""
)
"""The parts of a line that decide whether the next line continues it. An open string ends with its line."""

INSIDE = {quote: re.compile(r"\\.|" + quote) for quote in ('"' * 3, "'" * 3)}
"""The next escaped character or the end of a string of several lines."""


def remove_magics(source: str) -> str:
    """Replace the lines of a cell that are notebook commands by `pass`, and a whole cell in another language.

    `%time statement` becomes the statement.
    """
    lines = source.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(("%%time", "%%capture")):
        return "pass"
    scanner = LineScanner()
    for number, line in enumerate(lines):
        if not scanner.is_continued:
            lines[number] = line = without_command(line)
        scanner.read(line)
    return "\n".join(lines)


def without_command(line: str) -> str:
    """Return the first line of a statement; `pass` if it is a command."""
    if timed := TIMED.match(line):
        return timed[1] + line[timed.end() :]
    if command := COMMAND.match(line):
        return command[1] + "pass"
    return "pass" if QUESTION.match(line) else line


class LineScanner:
    """Reads a program line by line, each character once, and knows whether the next line continues a statement."""

    def __init__(self) -> None:
        self.quote, self.depth, self.has_backslash = "", 0, False

    @property
    def is_continued(self) -> bool:
        """Whether the next line is inside a string or a bracket, or follows a backslash."""
        return bool(self.quote or self.depth or self.has_backslash)

    def read(self, line: str) -> None:
        """Read a line."""
        at, self.has_backslash = 0, False
        while at < len(line):
            if self.quote:
                part = INSIDE[self.quote].search(line, at)
                if part is None:
                    return
                at, self.quote = part.end(), "" if part[0] == self.quote else self.quote
                continue
            token = TOKEN.search(line, at)
            if token is None:
                return
            at = token.end()
            self.quote = token["quote"] or ""
            self.depth = max(0, self.depth + bool(token["opening"]) - bool(token["closing"]))
            self.has_backslash = token["continued"] is not None
