"""The part of an exercise that runs in the process of a student's code. It needs only NumPy and contains no answers.

    outcome = carry_out(answer, request)

A request and an outcome are plain data. The grader copies this folder into the sandbox, so nothing here imports the
engine, and no object that the student receives refers to an operation or to a rule.
"""

from .execution import carry_out
from .namespace import FUNCTIONS, OWN_FUNCTIONS, Namespace
from .values import InvalidAnswer

__all__ = ["FUNCTIONS", "OWN_FUNCTIONS", "InvalidAnswer", "Namespace", "carry_out"]
