"""History of a recording: its applications, its complete walks, and every rule that was applied, in order."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from itertools import accumulate
from typing import Any

from .events import Application, AppliedRule, Call, FailedResult
from .failures import ErrorRecord
from .progress import report_progress
from .recorder import RecordedWalk, Recorder
from .values import array_of, mute_warnings


class History:
    """A recorder's notes, with the application that failed and the steps of all walks."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    @property
    def calls(self) -> dict[int, Call]:
        """Every call, by its number."""
        return self.recorder.calls

    @cached_property
    def users_calls(self) -> dict[int, Call]:
        """The calls that run the user's own code, by their numbers."""
        return {number: call for number, call in self.calls.items() if call.runs_users}

    @cached_property
    def applications(self) -> list[Application]:
        """Every application; the one that failed comes last."""
        failed = self.failed_application
        return [*self.recorder.applications, *([] if failed is None else [failed])]

    @cached_property
    def failed_application(self) -> Application | None:
        """The application whose error ended the program."""
        error = self.recorder.error
        if error is None or error.op is None:
            return None
        inputs = [value if _is_value(value) else None for value in error.inputs]
        arrays = [array_of(value) for value in inputs]
        call = self._call_of(error)
        instruction = error.locations[0].instruction if error.locations else -1
        last = self.recorder.applications[-1:]
        token, function = next(
            ((each.token, each.function) for each in last if (each.call, each.instruction) == (call, instruction)),
            (None, None),
        )
        return Application(
            error.op, inputs, None, arrays, error.params, FailedResult(), call, instruction, token, function
        )

    def _call_of(self, error: ErrorRecord) -> int:
        """Return the number of the innermost noted call that an error passed through."""
        for location in error.locations:
            for number, call in self.calls.items():
                if call.code is location.code:
                    return number
        return 0

    @cached_property
    def walks(self) -> list[RecordedWalk]:
        """The walks of the block, complete. One that could not begin has no steps."""
        walks = list(self.recorder.walks)
        with self.progress("the steps of its walks"), mute_warnings():
            for walk in walks:
                walk.complete()
        return walks

    @cached_property
    def steps(self) -> list[AppliedRule]:
        """Every applied rule, walk after walk."""
        return [step for walk in self.walks for step in walk.steps]

    @cached_property
    def walk_ends(self) -> list[int]:
        """How many steps there were when each walk ended."""
        return list(accumulate(len(walk.steps) for walk in self.walks))

    @property
    def roots(self) -> list[Any]:
        """The keys that the record must contain, with all that they depend on."""
        roots = [key for walk in self.walks for key in walk.keys]
        if self.failed_application is not None:
            roots.append(self.failed_application.result)
        return roots

    def progress(self, task: str) -> AbstractContextManager[None]:
        """Return a block that reports `task` while it runs, if the record is long."""
        return report_progress(len(self.recorder.applications), task)


def _is_value(value: Any) -> bool:
    """Return whether the input of a failed application can be shown."""
    return isinstance(value, (int, float, complex)) or hasattr(value, "_data")
