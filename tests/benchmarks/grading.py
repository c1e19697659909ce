"""What grading costs: beside starting Python with NumPy once, beside nbgrader, and as a class grows.

    make bench-grade

Goals: a submission of ten exercises costs at most twice as long as starting Python with NumPy in namespaces, and half
a second by the clock; ten times as many submissions a minute as nbgrader's autograde on the same
assignment and machine; cost grows as the class does; the process that hands out the work stays as large as it is.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from micrograd_plus import exercises
from micrograd_plus.grading import mark, submissions
from micrograd_plus.grading.assignment import load
from micrograd_plus.grading.formats import nbgrader
from micrograd_plus.grading.sandbox import isolation
from micrograd_plus.grading.sandbox.boxes import Sandbox

TEN = {
    "tanh.x": "def tanh_x(out):\n    return 1 - out**2", "exp.x": "def exp_x(out):\n    return out",
    "log.x": "def log_x(x):\n    return 1 / x", "sqrt.x": "def sqrt_x(out):\n    return 0.5 / out",
    "sigmoid.x": "def sigmoid_x(out):\n    return out * (1 - out)",
    "relu.x": "def relu_x(x):\n    return 1.0 * (x > 0)",
    "subtract.b": "def subtract_b():\n    return -1.0", "multiply.a": "def multiply_a(b):\n    return b",
    "divide.b": "def divide_b(a, b):\n    return -a / b**2", "square.x": "def square_x(x):\n    return 2 * x",
}  # fmt: skip
STARTED = """
import ctypes, os
ctypes.CDLL(None).unshare({flags})
if os.fork() == 0:
    import numpy
    os._exit(0)
os.wait()
"""


def assignment(folder: Path) -> Path:
    """Ten exercises."""
    path = folder / "ten.toml"
    names = [name for name in TEN if exercise_exists(name)]
    path.write_text(f'exercises = {json.dumps(names)}\nsecret = "a-secret-of-the-benchmark"\n', encoding="utf-8")
    return path


def exercise_exists(name: str) -> bool:
    """Whether there is such an exercise."""
    try:
        return exercises.get_exercise(name) is not None
    except (KeyError, ValueError):
        return False


def submission_text() -> str:
    """A submission: eight right answers, a turned sign, and one that stops."""
    answers = [f'@exercises.answer("{name}")\n{source}\n' for name, source in TEN.items()]
    text = "import numpy as np\nfrom micrograd_plus import exercises\n\n\n" + "\n\n".join(answers)
    return text.replace("return -1.0", "return 1.0").replace("return 2 * x", "return undefined")


def a_class(folder: Path, count: int) -> Path:
    """So many of them."""
    folder.mkdir()
    for number in range(count):
        (folder / f"student{number:03d}.py").write_text(submission_text(), encoding="utf-8")
    return folder


def cpu_time() -> float:
    """The processor's time of this process and of all that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def start() -> tuple[float, float]:
    """Starting Python with NumPy in namespaces of its own: the clock's time and the processor's."""
    flags = 0x7C020000 if isolation.is_root() and isolation.works("full") else 0
    began, before = time.perf_counter(), cpu_time()
    subprocess.run([sys.executable, "-c", STARTED.format(flags=flags)], check=True)
    return time.perf_counter() - began, cpu_time() - before


@dataclass
class Measured:
    """What a submission and a start cost, each by the clock and by the processor; taken in turns, so that whatever else
    the machine does meets both."""

    wall: float
    cpu: float
    start_wall: float
    start_cpu: float
    exercises: int


def one_submission(folder: Path, rounds: int) -> Measured:
    """One submission after another in one sandbox, with a start of Python before each."""
    made = load(assignment(folder))
    given = submissions.Submission("ada", submissions.of_program(submission_text().encode()))
    walls, starts, own, before_all = [], [], 0.0, cpu_time()
    with Sandbox() as sandbox:
        mark.marked(given, made, sandbox)
        first = cpu_time() - before_all
        for attempt in range(rounds):
            starts.append(start())
            began, before = time.perf_counter(), cpu_time()
            marks = mark.marked(given, made, sandbox, attempt)
            walls.append(time.perf_counter() - began)
            own += cpu_time() - before
    # What the boxes used is counted once their server has ended, so all else is taken off again.
    boxes = cpu_time() - before_all - first - own - sum(cpu for _, cpu in starts)
    assert marks["exercises"][0]["points"] == made.worth("tanh.x"), marks["exercises"][0]["reason"]
    return Measured(statistics.median(walls), own / rounds + boxes / (rounds + 1),
                    *(statistics.median(each) for each in zip(*starts, strict=True)), len(made.exercises))  # fmt: skip


def whole_class(folder: Path, count: int) -> tuple[float, int]:
    """A class by as many workers as there are cores: the time, and the largest memory of the process that hands out."""
    place = folder / f"class of {count}"
    place.mkdir()
    code = (
        "import resource, sys, time; from pathlib import Path; from micrograd_plus.grading import batch; "
        "from micrograd_plus.grading.store import Store; began = time.perf_counter(); "
        "batch.graded(batch.submissions_in([Path(sys.argv[1])]), Path(sys.argv[2]), Store(Path(sys.argv[3]))); "
        "print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    handed = a_class(place / "handed in", count)
    ran = subprocess.run(
        [sys.executable, "-c", code, str(handed), str(assignment(folder)), str(place / "out")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, memory = ran.stdout.split()
    return float(seconds), int(memory)


def by_nbgrader(folder: Path, count: int) -> float:
    """The same class by nbgrader's autograde: seconds for one submission."""
    course = folder / "course"
    (course / "source" / "ten").mkdir(parents=True)
    made = load(assignment(folder))
    (course / "source" / "ten" / "ten.ipynb").write_text(nbgrader.source(made), encoding="utf-8")
    config = 'c = get_config()\nc.CourseDirectory.course_id = "c"\n'
    (course / "nbgrader_config.py").write_text(config, encoding="utf-8")
    settings = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                             "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # fmt: skip

    def run(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "nbgrader", *words], cwd=course, check=True, capture_output=True,
                       env=settings)  # fmt: skip

    run("generate_assignment", "ten")
    book = json.loads((course / "release" / "ten" / "ten.ipynb").read_text(encoding="utf-8"))
    for cell in book["cells"]:
        source = "".join(cell["source"])
        for name, text in TEN.items():
            if f'exercises.answer("{name}")' in source and cell["cell_type"] == "code":
                cell["source"] = f'@exercises.answer("{name}")\n{text}\n'
    for number in range(count):
        place = course / "submitted" / f"student{number:03d}" / "ten"
        place.mkdir(parents=True)
        (place / "ten.ipynb").write_text(json.dumps(book), encoding="utf-8")
    began = time.perf_counter()
    run("autograde", "ten", "--create")
    return (time.perf_counter() - began) / count


def main() -> None:
    """Measure, and print one line for each goal."""
    parser = argparse.ArgumentParser(prog="benchmarks.grading", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a verdict")
    parser.add_argument("--without", default="", help="nbgrader, to leave it out")
    chosen = parser.parse_args()
    rounds, classes = (5, (10, 40)) if chosen.quick else (20, (30, 300))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        once = one_submission(folder, rounds)
        print(f"isolation: {isolation.best()}; Python with NumPy starts in {once.start_wall:.3f} s "
              f"({once.start_cpu:.3f} s of the processor)")  # fmt: skip
        by = f"a submission of {once.exercises} exercises, by the"
        line(f"{by} processor, beside a start", once.cpu, "s", once.cpu / once.start_cpu, 2.0, "starts")
        line(f"{by} clock, beside a start by the clock", once.wall, "s", once.wall / once.start_wall, 2.0, "starts")
        line(f"{by} clock", once.wall, "s", once.wall, 0.5, "s")
        (small, first), (large, second) = (whole_class(folder, each) for each in classes)
        each = (large - small) / (classes[1] - classes[0])
        print(f"a class of {classes[1]}: {large:.1f} s, {60 / each:.0f} submissions a minute")
        line("cost of one more as the class grows", each, "s", each / (small / classes[0]), 1.25, "of the first's")
        line("memory of the process that hands out", second / 1024, "MB", second / first, 1.1, "of a small class's")
        if chosen.without != "nbgrader" and find_spec("nbgrader") is not None:
            theirs = by_nbgrader(folder, 2 if chosen.quick else 6)
            line("nbgrader's autograde, for one submission", theirs, "s", each / theirs, 0.1, "of it is ours")
        else:
            print("nbgrader is not installed, or was left out: nothing to compare with")


def line(what: str, amount: float, unit: str, reached: float, goal: float, of: str) -> None:
    """One goal, what was reached, and the verdict."""
    verdict = "reached" if reached <= goal else "MISSED"
    print(f"{what}: {amount:.3f} {unit}; {reached:.2f} {of} (goal: at most {goal:g}): {verdict}")


if __name__ == "__main__":
    main()
