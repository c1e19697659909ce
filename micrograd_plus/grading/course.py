"""The subcommand `course`: a week that a lecturer can use unchanged, written into a folder.

README.md                what to do with the other files, and in which order
handout/                 for students: the lessons, the assignment as a notebook and as a script, and for nbgrader
gradescope.zip           the autograder of the assignment
teacher/                 to keep: the assignment with its secret, the solutions, notes for each lesson, and slides
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..exercises.handout import code_cell, markdown_cell, release
from ..exercises.registry import get_exercise
from ..exercises.reply import describe_solution
from ..files import write_file
from .assignment import write_assignment
from .formats import gradescope
from .formats.wheel import FILE_NAME

WEEKS = Path(__file__).with_name("weeks.toml")
CAPSTONE = """## Your rules read digits

The cell below puts every rule that you answered right in this notebook into the engine, and trains a network on 1,347 \
pictures of digits with them. The engine trains a second network with its own rules. Both start from the same weights.

With all eight rules right, both curves are the same. To see what a wrong rule does, pass it yourself:

```python
{wrong}

exercises.plugged({{"{exercise}": {name}}}).train()
```"""
NOTES = re.compile(r'^\+\+\+ \{"tags": \[[^\]]*"notes"[^\]]*\]\}\s*\n(.*?)(?=^\+\+\+|^```\{code-cell\}|\Z)',
                   re.MULTILINE | re.DOTALL)  # fmt: skip
SOLUTION = re.compile(r"^```\{code-cell\}\n(?::.*\n)*?:tags: \[[^\]\n]*\bnotes\b.*\n(?::.*\n)*\n*((?:.*\n)*?)```$",
                      re.MULTILINE)  # fmt: skip
"""Cells of a lesson for the lecturer: text, and the solution of a cell that students complete."""


class CourseError(Exception):
    """A week cannot be written."""


class Week(NamedTuple):
    """One week: its lessons, its exercises, and a wrong rule to watch."""

    name: str
    title: str
    about: str
    lessons: list[str]
    exercises: list[str]
    wrong: dict[str, str]


def run(options: argparse.Namespace) -> int:
    """Run the command and return the exit code; raise CourseError if the week cannot be written."""
    weeks = read_weeks()
    if options.week is None:
        for week in weeks.values():
            sys.stdout.write(f"{week.name:<10} {week.title}. {week.about}\n")
        return 0
    if options.week not in weeks:
        raise CourseError(f"there is no week {options.week!r}; choose from {', '.join(weeks)}")
    folder = Path(options.output or options.week)
    if folder.is_file():
        raise CourseError(f"{folder} is a file; name a folder with -o")
    write_week(weeks[options.week], folder)
    if not options.no_slides:
        write_slides(weeks[options.week], folder / "teacher" / "slides")
    sys.stdout.write(f"Wrote {folder}. Begin with {folder / 'README.md'}.\n")
    return 0


def read_weeks() -> dict[str, Week]:
    """Return the ready weeks by name."""
    data = tomllib.loads(WEEKS.read_text(encoding="utf-8"))
    return {name: Week(name, **values) for name, values in data.items()}


def write_week(week: Week, folder: Path) -> None:
    """Write a week into a folder. An assignment that is there keeps its secret."""
    assignment = folder / "teacher" / f"{week.name}.toml"
    assignment.parent.mkdir(parents=True, exist_ok=True)
    if not assignment.exists():
        write_assignment(assignment, week.exercises)
    release(assignment, folder / "handout")
    book = folder / "handout" / f"{week.name}.ipynb"
    write_file(book, add_capstone(book.read_text(encoding="utf-8"), week))
    for lesson in week.lessons:
        write_file(folder / "handout" / f"{lesson}.ipynb", find_notebook(lesson).read_bytes())
    gradescope.write_package(assignment, folder / "gradescope.zip")
    write_file(folder / "teacher" / "solutions.md", solution_sheet(week))
    write_file(folder / "teacher" / "notes.md", lecturer_notes(week))
    write_file(folder / "README.md", write_readme(week))


# Lessons --------------------


def lesson_folders() -> list[Path]:
    """Return the folders that can hold the lessons: beside the source, or installed with the package."""
    site = Path(__file__).resolve().parents[2]
    return [site / "notebooks", site / "micrograd_plus_notebooks"]


def find_notebook(lesson: str) -> Path:
    """Return the notebook of a lesson, or raise CourseError."""
    for folder in lesson_folders():
        if (folder / f"{lesson}.ipynb").is_file():
            return folder / f"{lesson}.ipynb"
    raise CourseError(f"the notebook of the lesson {lesson} is not installed; use a wheel or a clone of this package")


def lecturer_notes(week: Week) -> str:
    """Return the notes for lecturers on each lesson of a week."""
    texts = []
    for lesson in week.lessons:
        title, *notes = lesson_notes(find_text(lesson))
        texts += [f"# {title}", *notes]
    return "\n\n".join(texts) + "\n"


def lesson_notes(source: str) -> list[str]:
    """Return the title of a lesson's text, and then what is for its lecturer: notes, and solutions, as Markdown."""
    title = next(line for line in source.splitlines() if line.startswith("# "))[2:]
    solutions = [f"```python\n{code}```" for code in SOLUTION.findall(source)]
    heading = ["**Solutions**, in the order of the lesson."] if solutions else []
    return [title, *(note.strip() for note in NOTES.findall(source)), *heading, *solutions]


def find_text(lesson: str) -> str:
    """Return the text of a lesson with the lecturer's notes; raise CourseError if it is not there."""
    site = Path(__file__).resolve().parents[2]
    for folder in (site / "docs" / "lessons", site / "micrograd_plus_notebooks" / "lessons"):
        if (folder / f"{lesson}.md").is_file():
            return (folder / f"{lesson}.md").read_text(encoding="utf-8")
    raise CourseError(f"the text of the lesson {lesson} is not installed; use a wheel or a clone of this package")


def write_slides(week: Week, folder: Path) -> None:
    """Write the slides of a week's lessons; without the packages for it, say what to install."""
    if any(find_spec(name) is None for name in ("nbclient", "nbconvert", "micrograd_plus_viz")):
        sys.stdout.write('No slides were made: they need pip install "micrograd_plus[lab]".\n')
        return
    from micrograd_plus_viz.slides import write_slides as write

    for lesson in week.lessons:
        write(find_notebook(lesson), folder / f"{lesson}.html")


# Texts ----------------------


def add_capstone(notebook: str, week: Week) -> str:
    """Return the notebook of an assignment with a last cell that trains a network with the student's rules."""
    book: dict[str, Any] = json.loads(notebook)
    wrong = week.wrong
    name = get_exercise(wrong["exercise"]).function_name
    text = CAPSTONE.format(wrong=wrong["rule"], exercise=wrong["exercise"], name=name)
    book["cells"] += [markdown_cell("capstone_prompt", text), code_cell("capstone", "exercises.plugged().train()")]
    return json.dumps(book, indent=1) + "\n"


def solution_sheet(week: Week) -> str:
    """Return the right rule of each exercise with its reason and formula, as Markdown."""
    parts = [f"# {week.title}: solutions"]
    for name in week.exercises:
        exercise = get_exercise(name)
        parts.append(f"## {name}\n\n{exercise.prompt.partition(chr(10))[0]}\n\n"
                     f"```text\n{chr(10).join(describe_solution(exercise))}\n```")  # fmt: skip
    return "\n\n".join(parts) + "\n"


def write_readme(week: Week) -> str:
    """Return the page that says what each file is for."""
    lessons = "\n".join(f"   - `handout/{each}.ipynb`" for each in week.lessons)
    slides = ", ".join(f"`teacher/slides/{each}.html`" for each in week.lessons)
    minutes = sum(get_exercise(each).minutes for each in week.exercises)
    return f"""# {week.title}

{week.about}

1. **Before the lecture.** Read `teacher/notes.md`. Give students the folder `handout/`:
{lessons}
   - `handout/{week.name}.ipynb`, the assignment (or `handout/{week.name}.py`, the same as a script)
   - `handout/points.csv`, the points of each exercise

   They also need Python 3.11 or newer and this package. In a clone, `python -m pip wheel . --no-deps -w handout/` makes
   the file `{FILE_NAME}` to hand out, too. Students install it with
   `python -m pip install "{FILE_NAME}[lab]"`, and begin with `jupyter lab`.
2. **In the lecture.** Show {slides}: one page for each lesson, without a network. Page Down turns the slide.
3. **At home.** Students finish the lessons and answer the eight exercises, which take about {minutes} minutes. Each
   reply comes at once. The last cell of the assignment trains a network on digits with the student's own rules.
4. **Collect and mark.** Put the submissions into a folder, one file for each student, named by their ID:

   ```sh
   micrograd-plus grade submissions/ --assignment teacher/{week.name}.toml -o marks/
   ```

   Open `marks/report.html`. Each student's page to hand back is in `marks/students/`.
   With Gradescope, upload `gradescope.zip` as the autograder instead. With nbgrader, copy
   `handout/nbgrader/{week.name}/` into the folder `release/` of your course.

`teacher/{week.name}.toml` has the secret from which the grader draws its inputs. Keep the folder `teacher/` to
yourself. The solutions are in `teacher/solutions.md`.
"""
