"""Print what each lesson costs: seconds of CPU and memory of its kernel, bytes of its outputs and of its page.

    python tests/lesson_costs.py [01 04 ...]

Nothing here is a test, because seconds depend on the machine. The tests limit memory and outputs.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "viz"), str(ROOT / "tests")]

from lesson_runs import LESSONS, lesson_of  # noqa: E402 - as above
from notebook_runs import outputs_of  # noqa: E402 - after the paths


def seconds_of_kernels() -> float:
    """Return the seconds of CPU of all kernels that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a row of a table for each lesson that is named by its number, or for all."""
    sys.stdout.write("| lesson | CPU (s) | memory (MB) | outputs (KB) | page (KB) |\n|---|---|---|---|---|\n")
    for name in [name for name in LESSONS if not sys.argv[1:] or name[:2] in sys.argv[1:]]:
        before, lesson = seconds_of_kernels(), lesson_of(name)
        lesson.starter_run = cells, notes = lesson.run(lesson.book, None)      # a new program, as a reader's kernel
        seconds = seconds_of_kernels() - before
        outputs = len(json.dumps([outputs_of(cell) for cell in cells])) / 1000
        page = lesson.page.stat().st_size / 1000
        sys.stdout.write(f"| {name[:2]} | {seconds:.1f} | {notes['megabytes']:.0f} | {outputs:.0f} | {page:.0f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
