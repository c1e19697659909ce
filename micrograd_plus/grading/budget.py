"""Budget of a submission as a whole: processor time and time by the clock, for all its runs and for reading it."""

from __future__ import annotations

from dataclasses import replace

from .sandbox.runs import Limits, RunResult

SPARE = 20.0
"""Seconds of processor time beside the limits of the exercises: for cells that never end, and repetitions."""
PATIENCE = 3.0
"""By the clock, a submission may take this many times its processor time, since the machine may be busy."""
SHORTEST_RUN = 0.2
"""A run needs at least this many seconds; with less, nothing more of the submission runs."""


class Budget:
    """The seconds that are left to a submission. Each run takes from it what it used."""

    def __init__(self, processor: float, spent: float = 0.0) -> None:
        self.processor, self.clock = processor - spent, PATIENCE * processor - spent
        self.total = processor

    @property
    def is_spent(self) -> bool:
        """Whether there is not enough left for a run."""
        return min(self.processor, self.clock) < SHORTEST_RUN

    def limit(self, limits: Limits) -> Limits:
        """Return the limits of a run that can use no more than is left."""
        return replace(limits, cpu=min(limits.cpu, self.processor), wall=min(limits.wall, self.clock))

    def spend(self, result: RunResult) -> None:
        """Take off what a run has used."""
        self.processor -= result.cpu
        self.clock -= result.wall
