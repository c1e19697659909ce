"""Shared code of the trials: numbered cases, a time limit, resident memory, and a line of progress."""

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MOST_SECONDS = 300.0
"""A case that takes longer hangs: a film takes 5 s of CPU, and much longer on a busy machine."""

MOST_SHOWN = 20
WARM = 1000
"""Cases after which everything that is imported or kept on the way is there."""

SAME, SAID, TIE = "the same", "refused by a sentence", "at a kink, a tie, or where rounding decides"
"""What may come of a case; whatever else does is a finding."""


class Hang(BaseException):
    """Exception in a case that takes too long; `except Exception` does not catch it."""


@contextlib.contextmanager
def time_limit(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Stop a case that takes too long, by a signal, or by ending the process if the signal is ignored."""

    def ring(number: int, frame: object) -> None:
        raise Hang

    faulthandler.dump_traceback_later(10 * seconds, exit=True)
    heard = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, ring) if heard else None
    if heard:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if heard:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def resident() -> float:
    """Return the resident memory in megabytes; nan if the system does not report it.

    V8 keeps some 40 MB of free heap for the next drawing until it is asked to give them back.
    """
    gc.collect()
    if MiniRacer := getattr(sys.modules.get("py_mini_racer"), "MiniRacer", None):
        for context in [each for each in gc.get_objects() if isinstance(each, MiniRacer)]:
            context.low_memory_notification()
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, ValueError):
        return float("nan")


def dice(kind: str, case: int) -> np.random.Generator:
    """Return the random generator of a case: the same in every process."""
    return np.random.default_rng([case, *kind.encode()])


@dataclass
class Tally:
    """Outcomes of some cases."""

    kind: str
    outcomes: Counter = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    begin: float = float("nan")
    end: float = float("nan")
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        """Return the number of cases."""
        return sum(self.outcomes.values())

    @property
    def growth(self) -> float:
        """Return the growth of memory in megabytes after the first tenth of the cases, or the first thousand."""
        return self.end - self.begin

    def __str__(self) -> str:
        each = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        memory = f"resident memory {self.begin:.0f} MB when warm, {self.end:.0f} MB at the end"
        lines = [f"{self.kind}: {self.cases:,} tried in {self.seconds:.0f} s: {each}; {memory}"]
        return "\n".join([*lines, *(f"  FOUND {each}" for each in self.findings[:MOST_SHOWN])])


def progress(kind: str, done: int, of: int, found: int) -> None:
    """Print a progress line on stderr, over the previous one."""
    print(f"\r{kind}: {done:,} of {of:,}, {found} found ", end="\n" if done == of else "", file=sys.stderr, flush=True)


def run_cases(kind: str, run: Callable[[int], str], first: int, count: int, quiet: bool = False) -> Tally:
    """Run the cases `first`, `first + 1`, …; unexpected outcomes, errors and hangs are failures."""
    tally, start, said = Tally(kind), time.monotonic(), time.monotonic()
    for done in range(count):
        case = first + done
        if done == min(max(count // 10, WARM), count - 1):
            tally.begin = resident()
        try:
            with time_limit():
                outcome = run(case)
        except Hang:
            outcome = "hung"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what the trial looks for
            outcome = f"raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        known = outcome in (SAME, SAID, TIE)
        tally.outcomes[outcome if known else "hangs" if outcome == "hung" else "findings"] += 1
        if not known:
            tally.findings.append(f"{kind}:{case} {outcome}")
            if not quiet and len(tally.findings) <= MOST_SHOWN:
                print(f"\n{tally.findings[-1]}", file=sys.stderr, flush=True)
        if not quiet and (done + 1 == count or time.monotonic() - said > 1):
            progress(kind, done + 1, count, len(tally.findings))
            said = time.monotonic()
    tally.end, tally.seconds = resident(), time.monotonic() - start
    return tally
