"""Running a student's answer (a function, a class or a value) on one case.

request   {"driver": name, "arguments": {name: data}, "functions": [name], "answers": [name]}
outcome   {"values": {answer: array} or None, "error": None or {"kind", "message", "line"}, "wrote": [argument]}
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

from .drivers import drivers
from .namespace import Namespace
from .values import collect_answers, copy_data, is_same_data

LONGEST_MESSAGE = 300


def carry_out(answer: Any, request: dict[str, Any], xp: Any = None, check_writes: bool = True) -> dict[str, Any]:
    """Run an answer on a request and return the outcome, which includes any exception that the answer raises.

    With `check_writes=False` the arguments are not copied, and the outcome lists no overwritten arguments.
    """
    arguments = copy_data(request["arguments"]) if check_writes else request["arguments"]
    values, error = None, None
    try:
        with np.errstate(all="ignore"):
            namespace = Namespace(request["functions"]) if xp is None else xp
            returned = drivers[request["driver"]](answer, arguments, namespace)
            values = collect_answers(returned, request["answers"])
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001 - a student's code may raise anything
        error = describe_error(raised)
    originals = request["arguments"] if check_writes else {}
    wrote = [name for name, value in originals.items() if not is_same_data(value, arguments.get(name))]
    return {"values": values, "error": error, "wrote": wrote}


def describe_error(raised: BaseException) -> dict[str, Any]:
    """Return an exception as plain data: its type, the start of its message, and the line of the student's code."""
    here = __file__.rpartition("execution")[0]
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if not frame.filename.startswith(here)]
    try:
        message = str(raised)[:LONGEST_MESSAGE]
    except BaseException:  # noqa: BLE001 - an exception class that the student wrote
        message = ""
    return {"kind": type(raised).__name__, "message": message, "line": frames[0].lineno if frames else None}
