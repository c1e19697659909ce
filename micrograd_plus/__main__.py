"""The command line: `micrograd-plus COMMAND`, or `python -m micrograd_plus COMMAND`.

The commands are lab, walk, ops, check, exercises, grade, course and version.

Exit codes: 0 for success; 1 with a message for a failure: a script failed or has no walk, a promise was broken, a file
or a name is unknown; 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .files import copy_folder
from .grading import command as grade_command

PACKAGE = Path(__file__).resolve().parent
EXAMPLES = PACKAGE / "examples"
SUFFIXES = (".html", ".svg", ".png", ".gif", ".webp", ".mp4", ".md", ".tex", ".json", ".dot", ".dot.svg")


class CommandError(Exception):
    """Error whose message is shown to the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show ticks prints question marks
            stream.reconfigure(errors="replace")
    parser = arguments_parser()
    given, of_script = split_arguments(sys.argv[1:] if arguments is None else arguments)
    chosen, rest = parser.parse_known_args(given)
    chosen.of_script = of_script
    if rest and chosen.run is not lab:
        parser.error(f"unknown arguments: {' '.join(rest)}; see {chosen.prog} --help")
    if chosen.run is None:
        parser.print_help()
        return 2
    try:
        code = chosen.run(chosen, rest)
        sys.stdout.flush()
        return code
    except CommandError as error:
        sys.stdout.flush()
        print(f"{chosen.prog}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of the command, and those behind `--`, which `walk` passes on to the script."""
    given = list(arguments)
    place = given.index("--") if given[:1] == ["walk"] and "--" in given else len(given)
    return given[:place], given[place + 1 :]


def arguments_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="micrograd-plus",
        description="Automatic differentiation that shows its work.",
        epilog="micrograd-plus COMMAND --help says more about each.",
    )
    parser.set_defaults(run=None, prog=parser.prog)
    parser.add_argument("--version", action="version", version=versions())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run: Any, says: str, examples: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=says,
            description=f"{says[0].upper()}{says[1:]}.",
            epilog=f"examples:\n{textwrap.indent(examples, '  ')}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run, prog=made.prog)
        return made

    command("lab", lab, "open the notebooks in JupyterLab",
            "micrograd-plus lab\nmicrograd-plus lab --no-browser --port 9000")  # fmt: skip
    walk_parser = command(
        "walk", walk, "run a script, and write its last backward walk to a file that plays it",
        "micrograd-plus walk train.py -o walk.html\nmicrograd-plus walk --example mlp -o walk.html\n"
        "micrograd-plus walk train.py -o step.png --step 4\n"
        "micrograd-plus walk train.py -- --lr 1  (arguments of the script)\n"
        "micrograd-plus walk train.py            (prints the walk in words)",
    )  # fmt: skip
    what = walk_parser.add_mutually_exclusive_group()
    what.add_argument("script", nargs="?", help="a Python program that calls backward(), or a walk saved as .json")
    what.add_argument("--example", metavar="NAME", help="one of the programs that come along")
    what.add_argument("--examples", action="store_true", help="list them")
    walk_parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"where to write; the suffix decides: {' '.join(SUFFIXES)}"
    )
    walk_parser.add_argument("--title", help="the page's title; the script's name if none is given")
    walk_parser.add_argument("--step", type=int, metavar="N", help="the picture of this step, or where a page opens")
    walk_parser.add_argument("--steps", type=numbers, metavar="A-B", help="the steps of a film or a solution: 3-6,9")
    walk_parser.add_argument("--width", type=int, metavar="PIXELS", help="how wide a picture or a film is")
    walk_parser.add_argument("--pace", type=float, metavar="SECONDS", help="how long a film shows each step")
    walk_parser.add_argument("--dark", action="store_true", help="pictures for dark pages")
    walk_parser.add_argument("--loop", action="store_true", help="a film that plays for ever")
    walk_parser.add_argument("--motion", action="store_true", help="a film that shows each rule at work")
    ops_parser = command("ops", show_operations, "list the operations, or tell all about one",
                         "micrograd-plus ops\nmicrograd-plus ops softmax")  # fmt: skip
    ops_parser.add_argument("name", nargs="?", help="the operation to tell about")
    check_parser = command("check", check_file, "hold the operations that a file defines to every promise",
                           "micrograd-plus check my_ops.py")  # fmt: skip
    check_parser.add_argument("file", help="a Python file that defines operations, and gives each a sample")
    exercises_parser = command(
        "exercises", exercises, "list the exercises, write a starter notebook, release an assignment",
        "micrograd-plus exercises list\nmicrograd-plus exercises new 1 -o slopes.ipynb\n"
        "micrograd-plus exercises new tanh.x softmax.x engine.order\n"
        "micrograd-plus exercises release week3.toml -o handout/",
    )  # fmt: skip
    exercises_parser.add_argument("what", choices=("list", "new", "release"), help="what is wanted")
    exercises_parser.add_argument(
        "of", nargs="*", help="a lesson (a group's name or number, or ids of exercises), or an assignment's .toml",
    )  # fmt: skip
    exercises_parser.add_argument("-o", "--output", metavar="PATH", help="the notebook, or the folder of a release")
    exercises_parser.add_argument("--students", metavar="FILE", help="of a release: write one for each id in a list")
    grade_command.add_arguments(command(
        "grade", grade, "grade submissions in a sandbox", grade_command.EXAMPLES))  # fmt: skip
    course_parser = command(
        "course", course, "write a week that a lecturer can use unchanged: lessons, an assignment, solutions, slides",
        "micrograd-plus course                       (lists the weeks)\n"
        "micrograd-plus course backprop -o week1/\nmicrograd-plus course shapes -o week2/ --no-slides",
    )  # fmt: skip
    course_parser.add_argument("week", nargs="?", help="the name of the week; without it, all weeks are listed")
    course_parser.add_argument("-o", "--output", metavar="FOLDER", help="where to write it; the week's name by default")
    course_parser.add_argument("--no-slides", action="store_true", help="leave out the slides, which take a minute")
    command("version", version, "say which versions are in use", "micrograd-plus version")
    return parser


# lab ------------------------


QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
"""Settings that stop JupyterLab from asking about news in a window over the cells."""


def lab(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Start JupyterLab; extra arguments are passed on to it."""
    if find_spec("jupyterlab") is None:
        raise CommandError('JupyterLab is not installed: pip install "micrograd_plus[lab]"')
    folder = notebooks(Path.cwd())
    if folder is None:
        print("There is no folder of notebooks here; opening the current folder.", flush=True)
    first = sorted((folder or Path.cwd()).glob("01_*.ipynb"))
    command = [sys.executable, "-m", "jupyterlab", str(first[0] if first else folder or Path.cwd()), *rest]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container, where JupyterLab requires this option
        command.append("--allow-root")
    with tempfile.TemporaryDirectory() as place:
        settings = Path(place, "labconfig", "default_setting_overrides.json")
        settings.parent.mkdir()
        settings.write_text(json.dumps(QUIET), encoding="utf-8")
        paths = os.pathsep.join([place, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])])
        try:
            return subprocess.call(command, env=os.environ | {"JUPYTER_CONFIG_PATH": paths})
        except KeyboardInterrupt:
            return 0


def notebooks(here: Path) -> Path | None:
    """Return the folder of notebooks: here, next to the source, or a copy of the installed ones, made here."""
    places = (here / "notebooks", PACKAGE.parent / "notebooks")
    installed = PACKAGE.parent / "micrograd_plus_notebooks"
    if not any(map(Path.is_dir, places)) and installed.is_dir():
        try:
            copy_folder(installed, places[0])
        except OSError as error:
            raise CommandError(f"cannot copy the notebooks to {places[0]}: {error}") from error
        print(f"The notebooks were copied to {places[0]}.", flush=True)
    return next((place for place in places if place.is_dir()), None)


# walk -----------------------


def numbers(said: str) -> list[int]:
    """Parse step numbers from the command line: `3-6`, `1,4,9`."""
    chosen: list[int] = []
    for part in said.split(","):
        first, dash, last = part.partition("-")
        chosen += range(int(first), int(last) + 1) if dash else [int(first)]
    return chosen


def options(chosen: argparse.Namespace, script: Path) -> dict[str, Any]:
    """Return the options of the output file that the command sets."""
    said = {"index": chosen.step, "steps": chosen.steps, "width": chosen.width, "pace": chosen.pace}
    settings = {name: value for name, value in said.items() if value is not None}
    return settings | {"title": chosen.title or script.name, "dark": chosen.dark} | {
        "loop": chosen.loop, "motion": chosen.motion,
    }  # fmt: skip


def walk(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Run a script while recording, and write or print its walk."""
    if chosen.examples:
        for path in sorted(EXAMPLES.glob("*.py")):
            print(f"{path.stem:<10} {first_line(path)}")
        return 0
    script = script_of(chosen)
    output = Path(chosen.output) if chosen.output else None
    if output is not None:
        check_output(output)
    if script.suffix.lower() == ".json":
        if chosen.of_script:
            raise CommandError(f"{script.name} is a saved walk, which takes no arguments: {' '.join(chosen.of_script)}")
        trace, notes, failure = load_walk(script), [], None
    else:
        trace, notes, failure = record_script(script, chosen.of_script)
    if output is None:
        print("\n".join([trace.summary(), *notes]))
    else:
        from .tracing.values import with_noun

        save(trace, output, **options(chosen, script))
        sizes = f"{with_noun(len(trace.nodes), 'node')}, {with_noun(len(trace.steps), 'step')}"
        print("\n".join([f"Wrote {output}: {sizes}.", *notes]))
    if failure is not None:
        raise CommandError(f"{failure}; this is the walk before it")
    return 0


def first_line(path: Path) -> str:
    """Return the first line of a program's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def script_of(chosen: argparse.Namespace) -> Path:
    """Return the path of the requested program."""
    if chosen.example:
        path = EXAMPLES / f"{chosen.example}.py"
        if not path.is_file():
            known = ", ".join(sorted(each.stem for each in EXAMPLES.glob("*.py")))
            raise CommandError(f"there is no example {chosen.example!r}; there are {known}")
        return path
    if chosen.script is None:
        raise CommandError("name a script, or --example NAME (--examples lists them)")
    return program(chosen.script)


def program(name: str) -> Path:
    """Return the path of a program to run."""
    path = Path(name)
    if not path.is_file():
        raise CommandError(f"there is no file {name!r}")
    if path.suffix == ".ipynb":
        raise CommandError(f"{name!r} is a notebook, not a Python program: open it in JupyterLab")
    return path


def check_output(output: Path) -> None:
    """Raise CommandError if the output cannot be written, before a long script runs."""
    if output.suffix.lower() not in SUFFIXES:
        raise CommandError(
            f"cannot write {output.name!r}: the suffix selects the format, one of {' '.join(SUFFIXES)}"
        )
    if not output.parent.is_dir():
        raise CommandError(f"cannot write {output}: there is no folder {output.parent}")
    if output.suffix.lower() != ".json":
        import_viz(output)


def import_viz(output: Path) -> Any:
    """Return the package that draws, if all that the output's format needs is installed."""
    try:
        import micrograd_plus_viz
        from micrograd_plus_viz.exports import film
    except ImportError as error:
        raise CommandError(f'cannot draw {output.name}: {error}: pip install "micrograd_plus[viz]"') from error
    try:
        film.check_packages(output.suffix.lower())
    except ModuleNotFoundError as error:
        raise CommandError(f"cannot draw {output.name}: {error}") from error
    return micrograd_plus_viz


def load_walk(path: Path) -> Any:
    """Load the trace in a file."""
    from .tracing import load_trace

    try:
        return load_trace(path)
    except ValueError as error:
        raise CommandError(f"{path.name} holds no walk: {error}") from error


def record_script(script: Path, arguments: Sequence[str]) -> tuple[Any, list[str], CommandError | None]:
    """Run a script, and return the trace of its last walk, notes about other walks, and how the script failed."""
    from .tracing.last_walk import record_last_walk

    failure: CommandError | None = None
    with record_last_walk(sys._getframe()) as found:
        try:
            run_script(script, arguments)
        except CommandError as error:
            failure, found.error = error, error.__cause__
    elsewhere = found.elsewhere.count
    if not found.trace.steps:
        if failure is not None:
            raise failure
        reason = f"nothing walked backward in this thread, and {elsewhere} times in others" if elsewhere else (
            "nothing walked backward"
        )
        raise CommandError(
            f"{script} ran, but {reason}: call backward() on a result of a Value, "
            f"or of a tensor with requires_grad=True{', in the main thread' if elsewhere else ''}"
        )
    notes = [f"It is the last of {found.earlier_walks + 1} walks."] if found.earlier_walks else []
    notes += [f"{elsewhere} walks in other threads are not shown."] if elsewhere else []
    return found.trace, notes, failure


def run_script(script: Path, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Run a program as `python SCRIPT` does; its errors are shown from its first line on."""
    given = sys.argv, list(sys.path)
    sys.argv, sys.path[0:0] = [str(script), *arguments], [str(script.resolve().parent)]
    try:
        return runpy.run_path(str(script), run_name="__main__")
    except SystemExit as left:
        if left.code not in (None, 0):
            raise CommandError(f"{script} ended with exit code {left.code}") from None
        return {}
    except BaseException as error:
        show_traceback(error, script)
        raise CommandError(f"{script} stopped with {type(error).__name__}") from error
    finally:
        sys.argv, sys.path[:] = given
        if sys.stdout is None or sys.stdout.closed:  # by the script
            sys.stdout = io.StringIO()


def show_traceback(error: BaseException, script: Path) -> None:
    """Print an error as Python would, without the frames that led to the script."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != str(script):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def save(trace: Any, output: Path, **settings: Any) -> None:
    """Write a trace to a file, in the format that its suffix names."""
    try:
        if output.suffix.lower() == ".json":
            trace.save(output)
            return
        import_viz(output).save(trace, output, **settings)
    except (ImportError, RuntimeError, ValueError) as error:
        raise CommandError(f"cannot draw {output.name}: {error}") from error
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror}") from error


# ops ------------------------


def show_operations(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Print the table of operations, or the description of one of them."""
    from .checks import reference

    if chosen.name is None:
        print_table(reference)
        return 0
    try:
        print_operation(reference, reference.find_operation(chosen.name.rpartition(".")[2]))
    except KeyError as error:
        raise CommandError(f"{error.args[0]} (`micrograd-plus ops` lists them all)") from None
    return 0


def print_table(reference: Any) -> None:
    """Print one line for each operation, under the heading of its subject."""
    for heading, operations in reference.by_subject().items():
        print(f"{heading}\n{'-' * len(heading)}")
        width = max(len(op.name) for op in operations)
        for op in operations:
            print(f"  {op.name:<{width}}  {op.kind:<18}  {reference.headline(op.forward)}")
        print()


def print_operation(reference: Any, op: Any) -> None:
    """Print an operation's description, its rules, and its compiled code."""
    from .core.rule import KINDS

    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    print(f"{reference.signature(op)}\n\n{reference.description(op, width)}")
    print(f"\nKind: {op.kind} ({KINDS[op.kind]})")
    for served in reference.shared_rules(op):
        rule = served[0]
        print(f"\nThe rule for {', '.join(each.input for each in served)}, which reads {', '.join(rule.reads)}")
        for each in served:
            to = f"to {each.input}: " if len(served) > 1 else ""
            print(f"    {to}{each.text or 'has no formula: it cannot be read on symbols'}")
        if rule.reason:
            print(textwrap.indent(textwrap.fill(" ".join(rule.reason.split()), width - 4), "    "))
        print(f"  {rule.file}, line {rule.line}:\n{textwrap.indent(rule.source or '', '    ')}")
    code = reference.compiled_source(op)
    if code is not None:
        print(f"\nWhat everyday calls run, written out from these rules:\n{textwrap.indent(code, '    ')}")


# check ----------------------


def check_file(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Check every promise of each operation in a file, and print the results."""
    from . import extras  # noqa: F401 - all operations that there are must be known before the file defines more
    from .core.define import operations

    path = program(chosen.file)
    before = dict(operations)
    run_script(path)
    defined = [op for name, op in operations.items() if before.get(name) is not op]
    if not defined:
        raise CommandError(
            f"{path} defines no operation; one begins with @mg.elementwise, @mg.linear or @mg.op"
        )
    broken = sum(not check_promises(op) for op in defined)
    if broken:
        raise CommandError(f"of {len(defined)} operations, {broken} broke a promise")
    print(f"{path}: {', '.join(op.name for op in defined)}: every promise is kept.")
    return 0


def check_promises(op: Any) -> bool:
    """Print a tick or the error for each promise of an operation; return whether all are check_promise."""
    from .checks.promises import promises
    from .checks.samples import samples

    print(op.name)
    if op.kind == "non-differentiable":
        print("  · its result carries no graph, so there is nothing to promise\n")
        return True
    if op.name not in samples:
        print(f"  ✗ has no sample; give it one: mg.samples.sample({op.name}, ...)\n")
        return False
    outcomes = [check_promise(sentence, keep, samples[op.name]) for sentence, keep in promises.items()]
    print()
    return all(outcomes)


def check_promise(sentence: str, keep: Any, samples: list[Any]) -> bool:
    """Print the result of one promise on all samples; return whether it is check_promise."""
    for sample in samples:
        if sentence in sample.excused:
            print(f"  · {sentence}: excused, {sample.excused[sentence]}")
            continue
        try:
            keep(sample)
        except Exception as error:  # noqa: BLE001 - whatever a user's rule raises is the answer
            print(
                f"  ✗ {sentence}\n{textwrap.indent(f'{sample}: {type(error).__name__}: {error}', '      ')}"
            )
            return False
    print(f"  ✓ {sentence}")
    return True


# exercises ------------------


def exercises(chosen: argparse.Namespace, rest: list[str]) -> int:
    """List the exercises, write a starter notebook, release an assignment."""
    from .exercises.command import run
    from .exercises.handout import ReleaseError
    from .grading.assignment import AssignmentError, load_assignment
    from .grading.hand_out import add_to_release

    chosen.of = " ".join(chosen.of)  # `new 1`, `new tanh.x softmax.x`, `list products and places`
    try:
        if chosen.what != "release" or not chosen.of:
            return run(chosen)
        assignment = load_assignment(Path(chosen.of))  # this checks the settings that `grade` will need
        code = run(chosen)
        stem = Path(chosen.of).stem
        for name in add_to_release(assignment, stem, Path(chosen.output or f"{stem}-release")):
            print(f"Students get {name}, which contains its answers: the assignment names it in hand_out.")
        return code
    except (ReleaseError, AssignmentError, KeyError) as error:
        raise CommandError(error.args[0]) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"cannot write {error.filename}: {error.strerror}") from error


# grade ----------------------


def grade(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Grade submissions, and write marks and reports."""
    return grade_command.run(chosen)


def course(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Write the files of a ready week."""
    from .grading.course import CourseError, run

    try:
        return run(chosen)
    except CourseError as error:
        raise CommandError(str(error)) from error


# version --------------------


def version(chosen: argparse.Namespace, rest: list[str]) -> int:
    """Print which versions are in use."""
    print(versions())
    return 0


def versions() -> str:
    """Return the versions of this program and of its dependencies."""
    from . import __version__
    from .backends import devices

    numpy = devices.device("cpu").library
    return f"micrograd_plus {__version__} (NumPy {numpy.__version__}, Python {platform.python_version()})"


if __name__ == "__main__":
    sys.exit(main())
