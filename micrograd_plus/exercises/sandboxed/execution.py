"""Carrying out a request: the student's function (or class, or plain answer) run on one case, and what came of it.

request   {"driver": name, "arguments": {name: plain}, "functions": [name], "answers": [name]}
outcome   {"values": {answer: array} or None, "error": None or {"kind", "message", "line"}, "wrote": [argument]}
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

from .drivers import drivers
from .namespace import Words
from .values import copied, same, values_of

LONGEST_MESSAGE = 300


def carry_out(thing: Any, request: dict[str, Any], xp: Any = None, watched: bool = True) -> dict[str, Any]:
    """The outcome of one request. Whatever the student's code raises is part of it. Code that is known to write over
    nothing need not be `watched`."""
    arguments = copied(request["arguments"]) if watched else request["arguments"]
    values, error = None, None
    try:
        with np.errstate(all="ignore"):
            returned = drivers[request["driver"]](thing, arguments, Words(request["functions"]) if xp is None else xp)
            values = values_of(returned, request["answers"])
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001 - a student's code may raise anything
        error = told(raised)
    given = request["arguments"] if watched else {}
    wrote = [name for name, value in given.items() if not same(value, arguments.get(name))]
    return {"values": values, "error": error, "wrote": wrote}


def told(raised: BaseException) -> dict[str, Any]:
    """An error as plain data: its kind, its first words, and the line of the student's code it came from."""
    here = __file__.rpartition("execution")[0]
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if not frame.filename.startswith(here)]
    try:
        message = str(raised)[:LONGEST_MESSAGE]
    except BaseException:  # noqa: BLE001 - an error of the student's own class
        message = ""
    return {"kind": type(raised).__name__, "message": message, "line": frames[0].lineno if frames else None}
