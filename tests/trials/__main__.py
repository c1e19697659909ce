"""Command line of the trials: run cases, print the results; exit status 1 after a failure."""

import argparse
import importlib
import sys

from .harness import Tally, run_cases

KINDS = {
    "programs": 100_000, "writes": 20_000, "rules": 20_000, "kills": 13_800, "hostile": 200_000, "steps": 200_000,
    "journals": 10_000, "questions": 10_000, "pages": 10_000, "submissions": 10_000,
    "compiled": 2_000,
}  # fmt: skip
MODULES = {kind: "training" if kind == "steps" else kind for kind in KINDS}
MOST_GROWTH = 30.0
"""Megabytes by which the process may grow, from when it is warm to the last case."""


def tally(kind: str, first: int, count: int, quiet: bool = False) -> Tally:
    """Run `count` cases of a kind, and return their results."""
    module = importlib.import_module(f".{MODULES[kind]}", __package__)
    return run_cases(kind, module.run, first, max(1, count // getattr(module, "STEPS", 1)), quiet)


def main() -> int:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(prog="trials", description=__doc__)
    for kind, whole in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, metavar="N", help=f"how many {kind} ({whole:,})")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")
    parser.add_argument("--case", metavar="KIND:N", help="one case again, as it was printed")
    options = parser.parse_args()
    if options.case:
        kind, _, number = options.case.partition(":")
        module = importlib.import_module(f".{MODULES[kind]}", __package__)
        print(module.run(int(number)))
        return 0
    asked = {kind: getattr(options, kind) for kind in KINDS}
    if all(count is None for count in asked.values()):
        asked = KINDS
    bad = False
    for kind, count in asked.items():
        if count:
            found = tally(kind, options.first, count)
            flat = not found.growth > MOST_GROWTH
            print(f"{found}{'' if flat else '; IT GROWS'}", flush=True)
            bad |= bool(found.findings) or not flat
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
