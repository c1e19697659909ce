"""Cost of grading, compared with starting Python with NumPy, with nbgrader, and as a class grows.

    make bench-grade

Goals: a submission of ten exercises costs at most twice a start of Python with NumPy in namespaces, and half a second
by the clock. Ten times as many submissions per minute as nbgrader's autograde. The cost grows linearly with the class,
and the memory of the main process stays constant.
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
from micrograd_plus.grading import grade, submissions
from micrograd_plus.grading.assignment import load_assignment
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
    """Write an assignment of ten exercises."""
    path = folder / "ten.toml"
    names = [name for name in TEN if exists(name)]
    path.write_text(f'exercises = {json.dumps(names)}\nsecret = "a-secret-of-the-benchmark"\n', encoding="utf-8")
    return path


def exists(name: str) -> bool:
    """Return whether an exercise exists."""
    try:
        return exercises.get_exercise(name) is not None
    except (KeyError, ValueError):
        return False


def submission_text() -> str:
    """Return a submission: eight right answers, a wrong sign, and an error."""
    answers = [f'@exercises.answer("{name}")\n{source}\n' for name, source in TEN.items()]
    text = "import numpy as np\nfrom micrograd_plus import exercises\n\n\n" + "\n\n".join(answers)
    return text.replace("return -1.0", "return 1.0").replace("return 2 * x", "return undefined")


def write_class(folder: Path, count: int) -> Path:
    """Write a class of submissions."""
    folder.mkdir()
    for number in range(count):
        (folder / f"student{number:03d}.py").write_text(submission_text(), encoding="utf-8")
    return folder


def cpu_time() -> float:
    """Return the processor time of this process and its ended children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def time_start() -> tuple[float, float]:
    """Start Python with NumPy in new namespaces; return its time by the clock and its processor time."""
    flags = 0x7C020000 if isolation.is_root() and isolation.is_available("full") else 0
    began, before = time.perf_counter(), cpu_time()
    subprocess.run([sys.executable, "-c", STARTED.format(flags=flags)], check=True)
    return time.perf_counter() - began, cpu_time() - before


@dataclass
class Measured:
    """Cost of a submission and of a start, by the clock and by the processor. They alternate, so that other load on the
    machine affects both."""

    wall: float
    cpu: float
    start_wall: float
    start_cpu: float
    exercises: int


def measure_submission(folder: Path, rounds: int) -> Measured:
    """Grade a submission several times in one sandbox, with a start of Python before each."""
    loaded = load_assignment(assignment(folder))
    submission = submissions.Submission("ada", submissions.read_program(submission_text().encode()))
    walls, starts, own, before_all = [], [], 0.0, cpu_time()
    with Sandbox() as sandbox:
        grade.grade_submission(submission, loaded, sandbox)
        first = cpu_time() - before_all
        for attempt in range(rounds):
            starts.append(time_start())
            began, before = time.perf_counter(), cpu_time()
            marks = grade.grade_submission(submission, loaded, sandbox, attempt)
            walls.append(time.perf_counter() - began)
            own += cpu_time() - before
    # The time of the boxes is counted when their server has ended, so subtract everything else.
    boxes = cpu_time() - before_all - first - own - sum(cpu for _, cpu in starts)
    assert marks["exercises"][0]["points"] == loaded.points_of("tanh.x"), marks["exercises"][0]["reason"]
    return Measured(statistics.median(walls), own / rounds + boxes / (rounds + 1),
                    *(statistics.median(each) for each in zip(*starts, strict=True)),
                    len(loaded.exercises))  # fmt: skip


def measure_class(folder: Path, count: int) -> tuple[float, float, int]:
    """Grade a class with one worker per core; return the time, the processor time of all processes, and the peak memory
    of the main process."""
    place = folder / f"class of {count}"
    place.mkdir()
    code = (
        "import resource, sys, time; from pathlib import Path; from micrograd_plus.grading import batch; "
        "from micrograd_plus.grading.store import Store; began = time.perf_counter(); "
        "batch.grade_class(batch.find_submissions([Path(sys.argv[1])]), Path(sys.argv[2]), Store(Path(sys.argv[3]))); "
        "wall, uses = time.perf_counter() - began, [resource.getrusage(who) for who in (resource.RUSAGE_SELF, "
        "resource.RUSAGE_CHILDREN)]; print(wall, sum(use.ru_utime + use.ru_stime for use in uses), uses[0].ru_maxrss)"
    )
    handed = write_class(place / "handed in", count)
    process = subprocess.run(
        [sys.executable, "-c", code, str(handed), str(assignment(folder)), str(place / "out")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, cpu, memory = process.stdout.split()
    return float(seconds), float(cpu), int(memory)


def time_nbgrader(folder: Path, count: int) -> float:
    """Return the seconds that nbgrader's autograde needs for one submission of the same class."""
    course = folder / "course"
    (course / "source" / "ten").mkdir(parents=True)
    loaded = load_assignment(assignment(folder))
    (course / "source" / "ten" / "ten.ipynb").write_text(nbgrader.source_notebook(loaded), encoding="utf-8")
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
    """Measure, and print a line for each goal."""
    parser = argparse.ArgumentParser(prog="benchmarks.grading", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a quick look")
    parser.add_argument("--without", default="", help="leave out nbgrader")
    options = parser.parse_args()
    rounds, classes = (5, (10, 40)) if options.quick else (20, (30, 100, 300))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        once = measure_submission(folder, rounds)
        print(f"isolation: {isolation.strongest_level()}; Python with NumPy starts in {once.start_wall:.3f} s "
              f"({once.start_cpu:.3f} s of processor time)")  # fmt: skip
        of_ten = f"submission of {once.exercises} exercises"
        print_goal(f"{of_ten}, processor time", once.cpu, "s", once.cpu / once.start_cpu, 2.0, "starts")
        print_goal(f"{of_ten}, by the clock", once.wall, "s", once.wall / once.start_wall, 2.0, "starts")
        print_goal(f"{of_ten}, by the clock", once.wall, "s", once.wall, 0.5, "s")
        measured = {count: measure_class(folder, count) for count in classes}
        few, many = classes[0], classes[-1]
        for count in classes:
            print(f"a class of {count}: {measured[count][0]:.1f} s, processor time of one submission "
                  f"{measured[count][1] / count:.4f} s")  # fmt: skip
        each = (measured[many][0] - measured[few][0]) / (many - few)
        further = (measured[many][1] - measured[few][1]) / (many - few)
        print_goal(f"each further submission up to {many}, processor time", further, "s",
                   further / (measured[few][1] / few), 1.1, f"of one in a class of {few}")  # fmt: skip
        print(f"{60 / each:.0f} submissions a minute")
        memory = measured[many][2]
        print_goal("memory of the main process", memory / 1024, "MB", memory / measured[few][2], 1.1,
                   f"of that for a class of {few}")  # fmt: skip
        if options.without != "nbgrader" and find_spec("nbgrader") is not None:
            theirs = time_nbgrader(folder, 2 if options.quick else 6)
            print_goal("nbgrader's autograde, one submission", theirs, "s", each / theirs, 0.1, "of it is our time")
        else:
            print("nbgrader is missing or was left out")


def print_goal(what: str, amount: float, unit: str, reached: float, goal: float, of: str) -> None:
    """Print a goal, the value reached, and the verdict."""
    verdict = "reached" if reached <= goal else "MISSED"
    print(f"{what}: {amount:.3f} {unit}; {reached:.2f} {of} (goal: at most {goal:g}): {verdict}")


if __name__ == "__main__":
    main()
