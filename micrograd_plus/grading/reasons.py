"""All reasons that students read, in one table. None contains an expected value, and none accuses."""

from __future__ import annotations

REASONS = {
    # Files that cannot be read
    "unreadable": "your submission could not be read ({what})",
    "no_file": "your submission contains no Python file and no notebook",
    "no_code": "your submission contains no code",
    "left_out": "these files were ignored: {names}",
    "unsafe": "{name} was rejected: {what}",
    "too_large": "{name} is larger than {most} MB",
    "too_many": "there are more than {count} {what}",
    "no_archive": "the archive cannot be unpacked",
    "bad_text": "line {line} contains {what}; save the file as UTF-8",
    "no_notebook": "the notebook cannot be read: {what}",
    "syntax": "Python cannot read line {line}: {what}",
    # Runs without an answer
    "time": "your code ran longer than {seconds} s",
    "cpu": "your code ran longer than {seconds} s",
    "memory": "your code used too much memory",
    "disk": "your code wrote a file larger than {disk} MB",
    "crash": "your program crashed ({signal})",
    "left": "your program ended before it returned an answer",
    "flood": "your code sent more data than any answer needs",
    "protocol": "your code sent data that is not a valid answer",
    # Missing functions
    "missing": "the function `{name}` was not found",
    "similar": "the function `{name}` was not found; did you mean `{other}`?",
    "look_alike": "the function `{name}` was not found; `{other}` looks the same but uses different letters",
    "only_as_program": 'the function `{name}` was not found: it is defined only under `if __name__ == "__main__"`',
    "broken_cell": "the function `{name}` was not found, because {where} stopped with {kind}{message}",
    "broken_syntax": "the function `{name}` was not found, because in {where} {problem}",
    "unchanged": "the starter code was not changed",
    "no_message": "(message not available)",
    "hidden_message": "(message not shown)",
    "budget": "your submission as a whole ran longer than {total} s, so this exercise was not run",
    "late": "submitted {days} late: {percent} % of the points ({points}) are taken off",
    "slow_reading": "reading it takes more than {seconds} s of processor time",
    "two_answers": "{exercise} is answered in several files ({names}); the answer in {name} counts",
    "missing_name": "{name} is missing because {where} stopped with {kind}{message}",
    # General
    "right": "right",
    "not_gradable": "not gradable: {problem}",
    "failed": "not graded: the grader failed on this exercise; this is not your fault, and your teacher will see it",
    "left_out_cell": "{where} was left out, because with it your program {what}",
}  # fmt: skip


class UnreadableError(Exception):
    """A submission, or one of its files, cannot be read. The message is for the student."""


def reason(key: str, /, **details: object) -> str:
    """Return a reason from the table with its details filled in, without invisible characters."""
    return REASONS[key].format(**{name: escape_invisible(value) for name, value in details.items()})


def escape_invisible(value: object, most: int = 600, keep: str = "\n") -> str:
    """Return a value as text of at most `most` characters, with invisible characters written as escapes.

    These include control characters and marks that change the direction of writing. Characters in `keep` stay.
    """
    text = value if isinstance(value, str) else str(value)
    return "".join(each if each.isprintable() or each in keep else each.encode("unicode_escape").decode()
                   for each in text[:most])  # fmt: skip
