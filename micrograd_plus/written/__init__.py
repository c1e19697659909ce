"""Steps written out as NumPy programs: `mg.compile` and `mg.written_out`."""

from .program import Program
from .step import compile, write_out

__all__ = ["Program", "compile", "write_out"]
