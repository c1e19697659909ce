"""Cost of recording after it has ended: nothing."""

import importlib
import json
import statistics
import sys

from tqdm import trange

from .harness import Effort, in_fresh_process, sample, settle_allocator


def off_again(module: str, effort: Effort) -> float:
    """Return the time of a step after a recording, divided by the time in a process that never recorded."""
    pairs = 3 if effort.quick else 9
    ratios = []
    for _ in trange(pairs, desc="recording off", leave=False):
        never, ended = (in_fresh_process("-m", "benchmarks.recording", module, recorded)
                        for recorded in ("never", "ended"))
        ratios.append(ended / never)
    return statistics.median(ratios)


def main() -> None:
    """Time the engine's own step, with or without a recording before it; print the seconds."""
    module, recorded = sys.argv[1:]
    workload = importlib.import_module(f"benchmarks.{module}")
    settle_allocator()
    ours = workload.Ours()
    if recorded == "ended":
        workload.OursRecorded().step()
    once = min(sample(ours, 5) for _ in range(5))
    repeats = max(1, round(0.05 / once))
    print(json.dumps(min(sample(ours, repeats) for _ in range(15))))


if __name__ == "__main__":
    main()
