"""The block `with mg.record() as trace:`."""

from __future__ import annotations

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

    def __enter__(self) -> Trace:
        recorder = self._recorder = Recorder(frame_at(1))
        self._block = record_to(recorder)
        self._block.__enter__()
        self._trace = build(recorder)
        return self._trace

    def __exit__(self, kind: object = None, error: BaseException | None = None, _: object = None) -> None:
        self._block.__exit__()
        self._recorder.close(self._trace, error)
        self._trace.look_again()
        del self._recorder, self._trace
