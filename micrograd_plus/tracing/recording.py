"""The block `with mg.record() as trace:`."""

from __future__ import annotations

from ..core.modes import Block
from ..core.runtime.listening import listeners
from ..core.runtime.recorders import record_to
from .builder import build
from .recorder import Recorder, frame_at
from .trace import Trace


class record:  # noqa: N801 - it is used as a function is
    """Record the operations and walks of a block: `with mg.record() as trace:`.

    Put the forward and the backward inside. The trace has every walk of the block, in order. With only `backward()`
    inside, the trace is built from saved values and from the names of leaves there; the rest is marked as not
    recorded. An error that leaves the block ends the record and is raised as usual.

    Raises: nothing.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> with mg.record() as trace:
        ...     y = x * x
        ...     y.backward()
        >>> [step.contribution.item() for step in trace.steps]
        [3.0, 3.0]

    See: the tapes of `tf.GradientTape`, which record for the walk alone.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[Block, Recorder, Trace]] = []

    def __enter__(self) -> Trace:
        recorder = Recorder(frame_at(1))
        block = record_to(recorder)
        block.__enter__()
        trace = build(recorder)
        self._opened.append((block, recorder, trace))
        return trace

    def __exit__(self, kind: object = None, error: BaseException | None = None, _: object = None) -> None:
        if not self._opened:
            raise RuntimeError("a block of record was left, but it had not been entered")
        block, recorder, trace = self._opened[-1]
        if len(self._opened) > 1:  # another thread or task may have opened the others
            listening = listeners()
            ours = [(block, recorder, trace) for block, recorder, trace in self._opened if recorder in listening]
            block, recorder, trace = (ours or self._opened)[-1]
        self._opened.remove((block, recorder, trace))
        block.__exit__()
        recorder.close(trace, error)
        trace.look_again()
