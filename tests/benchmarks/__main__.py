"""Command line of the benchmarks: run workloads, print a table of goals, results and verdicts."""

import argparse
import json
from pathlib import Path

from . import (
    against,
    growth,
    instructions,
    modes,
    pieces,
    report,
    start_up,
    transforms,
    updates,
    w1_scalar_mlp,
    w2_chain,
    w3_small_mlp,
    w4_mnist_mlp,
    w5_cnn,
    w6_transformer,
    w7_rnn,
    w8_broadcasting,
    w9_second_order,
    whole_programs,
    written,
)
from .harness import QUICK, Effort

WORKLOADS = {
    "W1": w1_scalar_mlp.run,
    "W2": w2_chain.run,
    "W3": w3_small_mlp.run,
    "W4": w4_mnist_mlp.run,
    "W5": w5_cnn.run,
    "W6": w6_transformer.run,
    "W7": w7_rnn.run,
    "W8": w8_broadcasting.run,
    "W9": w9_second_order.run,
    "updates": updates.run,
    "modes": modes.run,
    "transforms": transforms.run,
    "pieces": pieces.run,
    "programs": whole_programs.run,
    "written": written.run,
    "growth": growth.run,
    "start": start_up.run,
}


def names(text: str) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def workloads(text: str) -> list[str]:
    """Return the workloads in a list separated by commas; argparse reports the error."""
    unknown = [name for name in names(text) if name not in WORKLOADS]
    if unknown:
        there = ", ".join(WORKLOADS)
        raise argparse.ArgumentTypeError(f"no workload {', '.join(unknown)}; there are {there}")
    return names(text)


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", type=workloads, default=list(WORKLOADS), help="workloads to run, as W3,W4")
    parser.add_argument("--without", type=names, default=[], help="libraries to leave out, as torch,autograd")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a verdict")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file as well")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with the engine of another checkout")
    parser.add_argument("--instructions", action="store_true", help="with --against: count them, instead of time")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    outcomes = []
    if options.against and options.instructions:
        outcomes = instructions.run(options.against, options.only)
    elif options.against:
        outcomes = against.run(options.against, options.only, effort)
    else:
        for name in options.only:
            outcomes += WORKLOADS[name](effort, set(options.without))
    print(report.text(outcomes))
    if options.json:
        options.json.write_text(json.dumps(report.data(outcomes), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
