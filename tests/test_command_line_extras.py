"""The command line with drawing packages and JupyterLab, run in a new process."""

import re

import pytest

import micrograd_plus_viz  # noqa: F401 - on a machine that has its own packages, this file is left out where it is missing
from commands import EXAMPLES, SQUARE, copy_package, run, run_python

LAB_WITHOUT_JUPYTERLAB = """
import importlib.util, sys

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "jupyterlab" else find_spec(name)
from micrograd_plus.__main__ import main

sys.exit(main(["lab"]))
"""


def install_stub_of_jupyterlab(folder):
    """Install a program that prints its first arguments in place of JupyterLab, which takes two seconds to start."""
    (folder / "jupyterlab").mkdir()
    (folder / "jupyterlab" / "__init__.py").touch()
    (folder / "jupyterlab" / "__main__.py").write_text("import sys\nprint(*sys.argv[1:3])\n", encoding="utf-8")



# walk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_becomes_a_page_that_needs_nothing_else(name, tmp_path):
    ran = run("walk", "--example", name, "-o", "walk.html", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^Wrote walk\.html: \d+ nodes, \d+ steps\.$", ran.stdout, re.MULTILINE)
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    assert f"<title>{name}.py" in page
    assert not re.search(r'(src|href)="https?:', page)


def test_a_saved_walk_is_printed_and_drawn_like_a_new_one(tmp_path):
    (tmp_path / "program.py").write_text(SQUARE, encoding="utf-8")
    run("walk", "program.py", "-o", "kept.json", folder=tmp_path)
    ran = run("walk", "kept.json", folder=tmp_path)
    assert "1. x * x sends 3 to x (a)" in ran.stdout, ran.stderr
    drawn = run("walk", "kept.json", "-o", "walk.html", folder=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert "<title>kept.json" in (tmp_path / "walk.html").read_text(encoding="utf-8")


# lab --------------------------------------------------------------------------------------------------------


@pytest.mark.needs("jupyterlab")
def test_lab_starts_jupyterlab_and_hands_on_its_arguments(tmp_path):
    (tmp_path / "notebooks").mkdir()
    ran = run("lab", "--version", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", ran.stdout.strip())


def test_lab_without_notebooks_opens_the_current_folder(tmp_path):
    copy_package(tmp_path)
    install_stub_of_jupyterlab(tmp_path)
    ran = run("lab", "--version", folder=tmp_path, packages=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("There is no folder of notebooks here")
    assert ran.stdout.endswith(f"\n{tmp_path} --version\n")


def test_lab_copies_the_installed_notebooks(tmp_path):
    copy_package(tmp_path)
    install_stub_of_jupyterlab(tmp_path)
    installed = tmp_path / "micrograd_plus_notebooks"
    installed.mkdir()
    (installed / "01_lesson.ipynb").write_text("a lesson", encoding="utf-8")
    here = tmp_path / "here"
    here.mkdir()
    ran = run("lab", "--version", folder=here, packages=tmp_path)
    assert ran.returncode == 0, ran.stderr
    lesson = here / "notebooks" / "01_lesson.ipynb"
    assert ran.stdout == f"The notebooks were copied to {lesson.parent}.\n{lesson} --version\n"
    lesson.write_text("an answer", encoding="utf-8")
    run("lab", "--version", folder=here, packages=tmp_path)
    assert lesson.read_text(encoding="utf-8") == "an answer"


def test_lab_opens_the_first_notebook_of_the_folder(tmp_path, monkeypatch):
    from micrograd_plus import __main__ as line

    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    (notebooks / "01_first_walk.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    started = []
    monkeypatch.setattr(line.subprocess, "call", lambda command, env: started.append(command) or 0)
    assert line.main(["lab", "--no-browser"]) == 0
    assert started[0][1:4] == ["-m", "jupyterlab", str(notebooks / "01_first_walk.ipynb")]
    assert "--no-browser" in started[0]


def test_lab_without_jupyterlab_says_what_to_install(tmp_path):
    ran = run_python("-c", LAB_WITHOUT_JUPYTERLAB, folder=tmp_path)
    assert ran.returncode == 1
    assert 'JupyterLab is not installed: pip install "micrograd_plus[lab]"' in ran.stderr
