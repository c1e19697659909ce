"""What `mg.compile` costs a step that is not compiled, counted in instructions, which no load changes.

`python -m benchmarks.not_compiled` counts W3 by valgrind in a process that never compiles, and in one that has compiled
another step before.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

STEPS = (100, 300)
CODE = """
import gc, sys
import benchmarks
import micrograd_plus as mg
from benchmarks.w3_small_mlp import Ours
step, count, compiles = Ours().step, int(sys.argv[1]), sys.argv[2] == "after compiling"
if compiles:
    other = mg.compile(Ours().step)
    for _ in range(3):
        other()
assert ("micrograd_plus.written" in sys.modules) is compiles
gc.disable()
for _ in range(100 + count):
    step()
"""


def count_instructions(count: int, kind: str) -> int:
    """Return the instructions of a process that takes a number of steps."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", sys.executable, "-c", CODE]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([*command, str(count), kind], env=environment, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main() -> None:
    """Print the instructions of a step, and of the rest of its process."""
    for kind in ("never compiling", "after compiling"):
        few, many = (count_instructions(count, kind) for count in STEPS)
        print(f"{kind}: {(many - few) / (STEPS[1] - STEPS[0]):,.0f} instructions a step")


if __name__ == "__main__":
    main()
