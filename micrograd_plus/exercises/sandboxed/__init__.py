"""What runs beside a student's code: it needs NumPy alone, and knows no answer.

    outcome = carry_out(function, request)

A request and an outcome are plain data. The folder can be copied as it is to where student code runs: it imports
nothing of the engine, and what it hands to the student leads to no operation and to no rule.
"""

from .execution import carry_out
from .namespace import ALL, OWN, Words
from .values import Refused

__all__ = ["ALL", "OWN", "Refused", "Words", "carry_out"]
