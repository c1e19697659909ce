"""The record of one program and its walks: made by `record`, kept as plain data, read back by `load_trace`; compared,
and made again with a mistake."""

from .comparing import Comparison, Difference, compare
from .finite import NotFinite
from .loading import TraceError, load_trace
from .recording import record
from .replaying import MISTAKES, replay
from .sites import Site
from .trace import Failure, Formula, Group, Held, Rule, Step, Trace, TraceNode, Walk
from .values import Stored

__all__ = [
    "MISTAKES", "Comparison", "Difference", "Failure", "Formula", "Group", "Held", "NotFinite", "Rule", "Site", "Step",
    "Stored", "Trace", "TraceError", "TraceNode", "Walk", "compare", "load_trace", "record", "replay",
]  # fmt: skip
