"""Traces: `record` makes one of a program and its walks, `load_trace` reads one from a file, `compare` finds the first
difference of two, `replay` repeats one with a mistake, and `what_if` with something left out or changed."""

from .comparison import Comparison, Difference, compare
from .finite import NotFinite
from .json_in import TraceError, load_trace
from .parts import Failure, Formula, Group, LeafGradient, Rule, Step, TraceNode, Walk
from .recording import record
from .replaying import MISTAKES, replay
from .sites import Site
from .trace import Trace
from .values import Stored
from .what_if import what_if

__all__ = [
    "MISTAKES", "Comparison", "Difference", "Failure", "Formula", "Group", "LeafGradient", "NotFinite", "Rule", "Site",
    "Step", "Stored", "Trace", "TraceError", "TraceNode", "Walk", "compare", "load_trace", "record", "replay",
    "what_if",
]  # fmt: skip
