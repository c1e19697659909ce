"""Every sentence that a student reads as a reason, in one table, to be read over. None of them holds a value that was
expected, and none accuses."""

from __future__ import annotations

SENTENCES = {
    # What could not be read
    "unreadable": "what you handed in could not be read ({what})",
    "no_file": "there is no Python file and no notebook in what you handed in",
    "no_code": "there is no code in what you handed in",
    "left_out": "these files were not looked at: {names}",
    "unsafe": "{name} cannot be taken: it is {what}",
    "too_large": "{name} is larger than {most} MB",
    "too_many": "there are more than {count} {what}",
    "no_archive": "the archive cannot be unpacked",
    "bad_text": "line {line} holds {what}; save the file as UTF-8",
    "no_notebook": "the notebook cannot be read: {what}",
    "syntax": "Python cannot read line {line}: {what}",
    # What an answer did instead of answering
    "time": "your code ran longer than {seconds} s",
    "cpu": "your code ran longer than {seconds} s",
    "memory": "your code used more memory than it may",
    "disk": "your code wrote a file of more than {disk} MB",
    "crash": "your program crashed ({signal})",
    "left": "your program ended before it had answered",
    "flood": "your code sent more data than any answer has",
    "protocol": "what your code sent is no answer",
    # What was not found
    "missing": "the function `{name}` was not found",
    "similar": "the function `{name}` was not found; did you mean `{other}`?",
    "look_alike": "the function `{name}` was not found; `{other}` looks like it but is spelled with different letters",
    "only_as_program": 'the function `{name}` was not found: it exists only under `if __name__ == "__main__"`',
    "broken_cell": "the function `{name}` was not found, because {where} stopped with {kind}{message}",
    "broken_syntax": "the function `{name}` was not found, because in {where} {problem}",
    "unchanged": "nothing was changed yet",
    "no_message": "(message not available)",
    # What is said to all
    "right": "right",
    "not_gradable": "not gradable: {problem}",
    "failed": "the grader itself failed on this exercise; it was not your doing, and your teacher is told",
    "worked_around": "{where} was left out, because with it your program {what}",
}  # fmt: skip


class Unreadable(Exception):  # noqa: N818 - it says what the submission is
    """What was handed in, or one file of it, cannot be read; the message is for the student."""


def say(sentence: str, /, **filled: object) -> str:
    """A sentence of the table with its gaps filled; what fills them is cut, and shown without control characters."""
    return SENTENCES[sentence].format(**{key: plain(value) for key, value in filled.items()})


def plain(value: object) -> str:
    """Text in which nothing is invisible: control characters, and those that turn the direction of reading, as
    escapes."""
    text = value if isinstance(value, str) else str(value)
    made = [
        each if is_plain(each) else each.encode("unicode_escape", "backslashreplace").decode() for each in text[:600]
    ]
    return "".join(made)


def is_plain(character: str) -> bool:
    """Whether a character shows itself, and itself alone."""
    return (character.isprintable() or character == "\n") and not (
        "\u200b" <= character <= "\u200f" or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069"
    )
