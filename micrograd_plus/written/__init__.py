"""Steps written out as NumPy programs: `mg.compile` and `mg.written_out`."""

from .program import Program, write_out
from .step import compile

__all__ = ["Program", "compile", "write_out"]
