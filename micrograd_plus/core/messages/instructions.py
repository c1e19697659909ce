"""What the line that called the engine is about to do: import a name, or unpack a result."""

from __future__ import annotations

from opcode import opmap
from types import FrameType

_EXTENDED, _IMPORT, _UNPACK = opmap["EXTENDED_ARG"], opmap["IMPORT_FROM"], opmap["UNPACK_SEQUENCE"]


def imports_name(frame: FrameType) -> bool:
    """Return True if the frame runs `from module import name`."""
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORT


def unpacked_count(frame: FrameType) -> int | None:
    """Return the number of names that the frame unpacks a value into: 2 for `a, b = x`. None if it does not."""
    code, place = frame.f_code.co_code, frame.f_lasti
    if place < 0 or code[place] != _UNPACK or (place >= 2 and code[place - 2] == _EXTENDED):
        return None
    return code[place + 1]
