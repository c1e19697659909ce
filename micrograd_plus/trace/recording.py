"""`with mg.record() as trace:`: the recorder listens, and the builder is called when somebody looks."""

from __future__ import annotations

from .builder import Builder
from .recorder import Recorder
from .trace import Trace


class record:  # noqa: N801 - it is used as a function is
    """A block whose operations and walks are recorded: `with mg.record() as trace:`.

    Put the forward and the backward inside. Of several walks the last is kept. With only `backward()` inside, the trace
    is built from what the rules had saved and what leaves are called there; the rest is marked as not recorded.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> with mg.record() as trace:
    ...     y = x * x
    ...     y.backward()
    >>> [step.contribution.item() for step in trace.steps]
    [3.0, 3.0]
    """

    def __enter__(self) -> Trace:
        recorder = self._recorder = Recorder()
        recorder.__enter__()
        self._trace = Trace(lambda trace: Builder(recorder, trace).build())
        return self._trace

    def __exit__(self, *error: object) -> None:
        self._recorder.__exit__(*error)
        self._recorder.close(self._trace)
        self._trace.look_again()
        del self._recorder, self._trace
