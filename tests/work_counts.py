"""Amounts of work that are equal on a busy and on an idle machine."""

import sys
import time
from collections.abc import Callable
from typing import Any


def count_calls(work: Callable[[], Any]) -> int:
    """Return how many functions `work` calls, those written in C included.

    Tests compare this number instead of seconds, since a second of CPU holds less work on a busy machine.
    """
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def count_lines(work: Callable[[], Any]) -> int:
    """Return how many lines of Python `work` runs; a loop on one line counts once for each round."""
    lines = 0

    def count(frame, event, argument):
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def cpu_ratio(task: Callable[[int], Callable[[], Any]], small: int, *, factor: int, enough: float) -> float:
    """Return how many times longer a task takes that is `factor` times as large.

    `task(size)` prepares the work and returns it as a function. The ratio is the least of up to ten tries, and the
    first one below `enough` is returned at once: a pause of the machine makes one try longer, not all ten.
    Use it where the work is done in C, whose loops `count_calls` does not see.
    """
    best = float("inf")
    for _ in range(10):
        times = []
        for size in (small, factor * small):
            work = task(size)
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        best = min(best, times[1] / max(times[0], 1e-9))
        if best < enough:
            break
    return best
