"""Steps written out as NumPy programs: `mg.compile` and `mg.written_out`."""

from .program import Program, written_out
from .step import compile

__all__ = ["Program", "compile", "written_out"]
