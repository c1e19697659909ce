"""The record of one program and one walk: made by `record`, kept as plain data, read back by `load_trace`."""

from .loading import load_trace
from .recording import record
from .sites import Site
from .trace import Rule, Step, Trace, TraceNode
from .values import Stored

__all__ = ["Rule", "Site", "Step", "Stored", "Trace", "TraceNode", "load_trace", "record"]
