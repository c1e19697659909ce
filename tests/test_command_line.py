"""Every command, run in a new process: its output, its files, and its exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import micrograd_plus as mg
from commands import EXAMPLES, ROOT, SQUARE, copy_package, environment, run, run_python
from micrograd_plus.checks import promises as check
from micrograd_plus.core.define import operations

FAR = Path("no/such/walk.json")

BELL = '''
import micrograd_plus as mg
from micrograd_plus.checks.samples import real, sample

@mg.elementwise(x=lambda xp, x: -2 * x * xp.exp(-x * x))
def bell(xp, x):
    """A bell curve of height 1."""
    return xp.exp(-x * x)

sample(bell, real(2, 3))
'''

TELL_ABOUT_ALL = """
import contextlib, io
import micrograd_plus.extras
from micrograd_plus.__main__ import main
from micrograd_plus.core.define import operations

for name in operations:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["ops", name]) == 0, name
    assert f".{name}(" in printed.getvalue(), name
"""

@pytest.fixture
def script(tmp_path):
    """Return a function that writes a program and returns its path."""

    def write(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# Help -------------------------------------------------------------------------------------------------------


def test_without_a_command_the_commands_are_listed():
    ran = run()
    assert ran.returncode == 2
    for command in ("lab", "walk", "ops", "check", "version"):
        assert re.search(rf"^    {command} ", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", ["lab", "walk", "ops", "check", "version"])
def test_the_help_of_a_command_shows_examples(command):
    ran = run(command, "--help")
    assert ran.returncode == 0
    assert f"examples:\n  micrograd-plus {command}" in ran.stdout


def test_an_unknown_argument_is_named():
    ran = run("ops", "--colour")
    assert ran.returncode == 2
    assert "unknown arguments: --colour; see micrograd-plus ops --help" in ran.stderr


def test_an_unknown_argument_without_a_command_is_named_too():
    ran = run("--colour")
    assert ran.returncode == 2
    assert "unknown arguments: --colour; see micrograd-plus --help" in ran.stderr


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_version_names_micrograd_plus_and_numpy(asked):
    ran = run(asked)
    assert ran.returncode == 0
    assert ran.stdout.startswith(f"micrograd_plus {mg.__version__} (NumPy ")


# walk -------------------------------------------------------------------------------------------------------


def test_the_examples_are_listed_with_what_they_are():
    ran = run("walk", "--examples")
    assert ran.returncode == 0
    assert [line.split()[0] for line in ran.stdout.splitlines()] == EXAMPLES
    assert "diamond" in EXAMPLES
    assert "twice" in ran.stdout


def test_a_script_becomes_the_format_that_the_suffix_names(script, tmp_path):
    path = script(SQUARE)
    ran = run("walk", path.name, "-o", "walk.json", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    trace = mg.load_trace(tmp_path / "walk.json")
    assert [step.rule for step in trace.steps] == ["multiply.a", "multiply.b"]
    assert trace.nodes[1].site.file == "program.py"
    assert (
        json.loads((tmp_path / "walk.json").read_text(encoding="utf-8"))["format"] == "micrograd_plus/trace"
    )


def test_walk_without_an_output_file_prints_its_steps(script):
    path = script(SQUARE)
    ran = run("walk", path)
    assert ran.returncode == 0, ran.stderr
    assert "1. x * x sends 3 to x (a)" in ran.stdout
    assert "2. x * x adds 3 to x (b)" in ran.stdout


def test_walks_of_a_script_are_numbered_on(script):
    path = script(SQUARE + "mg.sin(x).backward()\n")
    ran = run("walk", path)
    assert "2. x * x adds 3 to x (b)" in ran.stdout
    assert "3. mg.sin(x) adds -0.99 to x (x), whose .grad was 6 before this walk" in ran.stdout


def test_a_script_runs_as_python_would_run_it(script, tmp_path):
    script("STEP = 2.0\n", "settings.py")
    path = script(
        "import sys\nfrom settings import STEP\nimport micrograd_plus as mg\n"
        "assert __name__ == '__main__'\nassert len(sys.argv) == 1\n"
        "x = mg.tensor(STEP, requires_grad=True)\nmg.exp(x).backward()\nsys.exit(0)\n"
    )
    ran = run("walk", path, folder=ROOT)
    assert ran.returncode == 0, ran.stderr
    assert "mg.exp(x) sends" in ran.stdout


def test_a_script_without_a_walk_fails_with_a_hint(script, tmp_path):
    path = script(SQUARE.replace(".backward()", ""))
    ran = run("walk", path.name, "-o", "walk.json", folder=tmp_path)
    assert ran.returncode == 1
    assert "program.py ran, but nothing walked backward: call backward() on a result" in ran.stderr
    assert not (tmp_path / "walk.json").exists()


def test_a_script_error_is_shown_without_engine_frames(script):
    path = script("import micrograd_plus as mg\nx = mg.tensor([1.0, 2.0])\ny = x.reshape(3)\n")
    ran = run("walk", path)
    assert ran.returncode == 1
    assert 'program.py", line 3' in ran.stderr
    assert "runpy" not in ran.stderr
    assert f"{path} stopped with ValueError" in ran.stderr


def test_a_script_that_leaves_with_an_error_code_fails(script):
    ran = run("walk", script("import sys\nsys.exit(3)\n"))
    assert ran.returncode == 1
    assert "ended with exit code 3" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.py"], "there is no file 'nowhere.py'"),
        ([], "name a script, or --example NAME (--examples lists them)"),
        (["--example", "nothing"], "there is no example 'nothing'; there are diamond, mlp, neuron"),
        (
            ["--example", "mlp", "-o", "walk.pdf"],
            "cannot write 'walk.pdf': the suffix selects the format, one of .h",
        ),
        (["--example", "mlp", "-o", "no/such/walk.json"], f"cannot write {FAR}: there is no folder {FAR.parent}"),
        (["book.ipynb"], "'book.ipynb' is a notebook, not a Python program: open it in JupyterLab"),
        (["other.json"], "other.json holds no walk: "),
    ],
)
def test_invalid_arguments_of_walk_fail_before_the_script_runs(arguments, sentence, tmp_path):
    for other in ("book.ipynb", "other.json"):
        (tmp_path / other).write_text("{}", encoding="utf-8")
    ran = run("walk", *arguments, folder=tmp_path)
    assert ran.returncode == 1
    assert f"micrograd-plus walk: {sentence}" in ran.stderr
    assert ran.stdout == "", "the error comes before the script runs"
    assert "Traceback" not in ran.stderr


def test_walk_writes_json_without_the_drawing_package(tmp_path):
    copy_package(tmp_path)
    missing = "raise ImportError('No module named graphviz')\n"
    (tmp_path / "micrograd_plus_viz.py").write_text(missing, encoding="utf-8")
    ran = run("walk", "--example", "diamond", "-o", "walk.json", folder=tmp_path, packages=tmp_path)
    assert ran.returncode == 0, ran.stderr
    ran = run("walk", "--example", "diamond", "-o", "walk.html", folder=tmp_path, packages=tmp_path)
    assert ran.returncode == 1
    assert 'cannot draw walk.html: No module named graphviz: pip install "micrograd_plus[viz]"' in ran.stderr
    assert ran.stdout == "", "the error comes before the script runs"


@pytest.mark.needs("graphviz")
def test_walk_options_select_step_film_and_solution(tmp_path):
    options = ("-o", "step.svg", "--step", "4", "--dark", "--width", "700")
    ran = run("walk", "--example", "neuron", *options, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    drawn = (tmp_path / "step.svg").read_text(encoding="utf-8")
    assert re.search(r'<svg [^>]*width="700"', drawn)
    assert "<desc>Step 4 of 12. " in drawn
    assert "#16181c" in drawn
    ran = run("walk", "--example", "neuron", "-o", "walk.md", "--steps", "2-3,5", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    worked = (tmp_path / "walk.md").read_text(encoding="utf-8")
    assert re.findall(r"### Step (\d)", worked) == ["2", "3", "5"]


@pytest.mark.needs("graphviz")
def test_a_step_out_of_range_is_an_error_with_the_valid_range(tmp_path):
    ran = run("walk", "--example", "neuron", "-o", "step.svg", "--step", "40", folder=tmp_path)
    assert ran.returncode == 1
    assert "walk: cannot draw step.svg: there is no step 40: steps are numbered 1 to 12, and 0 is" in ran.stderr
    assert run("walk", "--example", "neuron", "-o", "a.md", "--steps", "first", folder=tmp_path).returncode == 2


# ops --------------------------------------------------------------------------------------------------------


def test_ops_lists_every_operation_under_its_subject():
    ran = run("ops")
    assert ran.returncode == 0
    assert ran.stdout.startswith("Arithmetic\n----------\n  negative ")
    listed = set(re.findall(r"^  (\w+) ", ran.stdout, re.MULTILINE))
    places = ("micrograd_plus.ops.", "micrograd_plus.extras.")
    ours = [op for op in operations.values() if op.forward.__module__.startswith(places) and op.call.public]
    assert listed == {op.name for op in ours}


def test_ops_tells_all_about_one_operation():
    ran = run("ops", "softmax")
    assert ran.returncode == 0
    for part in (
        "mg.softmax(x, axis=-1)",
        "Compute the softmax: positive weights that sum to one.",
        "Kind: general",
        "The rule for x, which reads upstream, out, axis",
        "contribution = out · (upstream − Σ[axis −1](upstream · out))",
        "Each entry receives its weight, times the amount by which its upstream exceeds the weighted average.",
        "micrograd_plus/ops/neural.py, line ",
        "return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))",
        "def vjp_softmax(xp, upstream, _node, arrived):",
    ):
        assert part in ran.stdout


def test_ops_tells_about_any_operation_there_is():
    ran = run_python("-c", TELL_ABOUT_ALL)
    assert ran.returncode == 0, ran.stderr


def test_ops_suggests_similar_names():
    ran = run("ops", "sofmax")
    assert ran.returncode == 1
    assert "there is no operation 'sofmax'; did you mean softmax" in ran.stderr
    assert "? (`micrograd-plus ops` lists them all)\n" in ran.stderr


@pytest.mark.parametrize("name", ["mg.softmax", "softmax", "nn.functional.softmax"])
def test_an_operation_may_be_named_as_it_is_called(name):
    assert run("ops", name).stdout.startswith("mg.softmax(x, axis=-1)\n")


def test_text_keeps_within_a_narrow_terminal():
    ran = run("ops", "power", columns="50")
    words, _, _ = ran.stdout.partition("\nExample:")  # a line of code is left whole
    assert max(map(len, words.splitlines())) <= 50
    assert max(map(len, run("ops", "power").stdout.partition("\nExample:")[0].splitlines())) > 50


def test_ops_prints_the_sections_of_a_docstring_in_order():
    said = run("ops", "softmax").stdout
    headings = ("Shapes: ", "Args:\n", "Returns: ", "Raises: ", "Example:\n", "See: ")
    places = [said.index(f"\n{heading}") for heading in headings]
    assert places == sorted(places)
    assert "\n    axis: axis or axes along which weights sum to 1; default -1.\n" in said
    assert "\n    >>> mg.softmax([1000.0, 1000.0]).tolist()\n    [0.5, 0.5]\n" in said


@pytest.mark.skipif(os.name == "nt", reason="pipes that are closed early are Unix's")
@pytest.mark.parametrize("command", ["ops", "version"])
def test_a_reader_who_has_seen_enough_is_no_error(command):
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written, "w", encoding="utf-8") as pipe:
        ran = subprocess.run(
            [sys.executable, "-m", "micrograd_plus", command],
            env=environment() | {"PYTHONUNBUFFERED": ""}, stdout=pipe, stderr=subprocess.PIPE, encoding="utf-8",
            check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")


# check ------------------------------------------------------------------------------------------------------


def test_check_prints_a_tick_for_each_promise(script):
    ran = run("check", script(BELL))
    assert ran.returncode == 0, ran.stderr
    assert re.findall(r"^  ✓ (.*)$", ran.stdout, re.MULTILINE) == list(check.promises)
    assert "bell: every promise is kept." in ran.stdout


def test_check_names_the_promise_that_a_wrong_rule_breaks(script):
    ran = run("check", script(BELL.replace("-2 * x", "2 * x")))
    assert ran.returncode == 1
    broken = "✗ the gradient equals differences\n      bell((2, 3) float64): GradientError: the gradient of "
    assert broken in ran.stdout
    assert "of 1 operations, 1 broke a promise" in ran.stderr


def test_check_asks_for_a_sample_if_an_operation_has_none(script):
    ran = run("check", script(BELL.replace("sample(bell, real(2, 3))", "")))
    assert ran.returncode == 1
    assert "✗ has no sample; give it one: mg.samples.sample(bell, ...)" in ran.stdout


def test_check_shows_why_a_sample_is_excused(script):
    excuse = "sample(bell, real(2, 3), excused={'the gradient has a gradient': 'a test says so'})"
    ran = run("check", script(BELL.replace("sample(bell, real(2, 3))", excuse)))
    assert ran.returncode == 0, ran.stderr
    assert "· the gradient has a gradient: excused, a test says so" in ran.stdout


def test_an_operation_of_a_known_name_is_checked_in_its_new_form(script):
    ran = run("check", script(BELL.replace("bell", "tanh").replace("-2 * x", "2 * x")))
    assert ran.returncode == 1
    assert ran.stdout.startswith("tanh\n  ✗ the gradient equals differences")


def test_check_of_a_file_without_operations_shows_how_to_begin(script):
    ran = run("check", script("x = 1\n"))
    assert ran.returncode == 1
    assert "defines no operation; one begins with @mg.elementwise" in ran.stderr


def test_a_file_that_is_not_there_cannot_be_checked(tmp_path):
    ran = run("check", "nowhere.py", folder=tmp_path)
    assert ran.returncode == 1
    assert "there is no file 'nowhere.py'" in ran.stderr
