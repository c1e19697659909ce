"""Reading submissions: files, notebooks, folders and archives are read without being run."""

import contextlib
import io
import json
import os
import tarfile
import zipfile

import pytest
from hypothesis import given, settings, strategies as st

from graded import RIGHT
from micrograd_plus.grading.cells import Cell, cells_to_run, exercises_of, required_cells
from micrograd_plus.grading.reasons import UnreadableError
from micrograd_plus.grading.submissions import (
    Submission,
    add_files,
    files_in_archive,
    read_notebook,
    read_program,
    read_submission,
)


def cell(source, kind="code", **marks):
    return {"cell_type": kind, "source": source, "metadata": marks, "outputs": [{"text": "x = 'in the outputs'"}]}


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": list(cells), "metadata": {"kernelspec": {"name": "evil"}}}).encode()


def test_only_the_code_of_a_notebook_is_read():
    test = {"grade": True, "solution": False, "points": 10, "schema_version": 3, "locked": True}
    cells = read_notebook(
        notebook(cell("x = 1"), cell("text", "markdown"), cell(["a = 1\n", "b = 2"]), cell("10.0", nbgrader=test))
    )
    assert [(each.where, each.source, each.is_test) for each in cells] == [
        ("cell 1", "x = 1", False), ("cell 3", "a = 1\nb = 2", False), ("cell 4", "10.0", True)]  # fmt: skip


@pytest.mark.parametrize(("source", "run"), [
    ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    ("!pip install torch", "pass"),
    ("if True:\n    !ls\n    x = 1", "if True:\n    pass\n    x = 1"),
    ("files = !ls", "pass"),
    ("%%bash\nrm -rf /", "pass"),
    ("%%time\nx = 1", "pass\nx = 1"),
    ("x = (a\n% b)", "x = (a\n% b)"),
    ('t = """\n% of\n"""', 't = """\n% of\n"""'),
    ("x %= 2", "x %= 2"),
    ("?help", "pass"),
])  # fmt: skip
def test_reading_a_notebook_removes_its_commands(source, run):
    assert read_notebook(notebook(cell(source)))[0].source == run


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "not JSON"), (b"[" * 100_000, "not JSON"), (b"{}", "no cells"), (b'{"cells": []}', "no code"),
    (b'{"nbformat": 3, "worksheets": []}', "format 3"), (b'{"cells": [1]}', "cell 1 is not a cell"),
    (b'{"cells": [{"cell_type": "code", "source": 1}]}', "no text"), (b'{"cells": [{"cell_type": "code"}]}', "no code"),
    (notebook(cell("x = '\ud800'")), "an invalid character"),
])  # fmt: skip
def test_an_invalid_notebook_is_rejected_with_its_reason(data, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_notebook(data)


@pytest.mark.parametrize(("data", "reason"), [
    (b"x = 1\n\0", "line 2 contains a zero byte"), (b"x = '\xff'", "not UTF-8"),
    (b"# coding: utf-7\nx", "coding utf-7"),
    (b"#!/bin/sh\n# -*- coding: latin-1 -*-\n", "line 2"), (b"x = 1\ny = (\n", "line 2"),
    (b"-" * 100_000 + b"1", "nested"),
    (b"(" * 300, "line 1"),
])  # fmt: skip
def test_an_invalid_program_is_rejected_with_its_line(data, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_program(data)


def test_a_program_may_have_a_byte_order_mark():
    assert read_program(b"\xef\xbb\xbfx = 1\r\ny = 2")[1].source == "y = 2"


def test_statements_keep_their_comments_decorators_and_lines():
    text = "import a; import b\n# about f\n@deco\n@other(\n  1)\ndef f():\n    return 1\nx = 1\n"
    starts = [(cell.line, cell.source.split("\n")[0]) for cell in read_program(text.encode())]
    assert starts == [(0, "import a; import b"), (2, "@deco"), (7, "x = 1")]


def archive_of(names, kind="zip"):
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in names.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, data in names.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize(("names", "reason"), [
    ({"../a.py": b""}, "path is unsafe"), ({"/a.py": b""}, "path is unsafe"), ({"a/../../b.py": b""}, "path is unsafe"),
    ({"c:\\a.py": b""}, "path is unsafe"), ({"a\nb.py": b""}, "cannot be stored"),
    ({"x" * 300 + ".py": b""}, "cannot be stored"),
    ({"A.py": b"", "a.py": b""}, "two files have the same name"), ({"con.py": b""}, "reserve"),
    ({"a.py": b"#" * (25 << 20)}, "larger than"), ({f"{n}.txt": b"" for n in range(1100)}, "more than 1000 files"),
])  # fmt: skip
def test_an_unsafe_archive_raises_unreadable(kind, names, reason):
    with pytest.raises(UnreadableError, match=reason):
        list(files_in_archive(archive_of(names, kind)))


def test_reading_ignores_an_archive_inside_an_archive():
    inner = archive_of({"work.py": b"x = 1"})
    submission = Submission("ada")
    with pytest.raises(UnreadableError, match="no Python file"):
        add_files(submission, list(files_in_archive(archive_of({"inner.zip": inner}))))
    assert "inner.zip" in submission.remarks[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_reading_rejects_links_and_named_pipes(tmp_path):
    (tmp_path / "secret.py").write_text("x = 1", encoding="utf-8")
    for name, make in (
        ("linked", lambda p: (p / "a.py").symlink_to(tmp_path / "secret.py")),
        ("piped", lambda p: os.mkfifo(p / "a.py")),
    ):
        place = tmp_path / name
        place.mkdir()
        make(place)
        assert "not a regular file" in read_submission(place).problem
    (tmp_path / "link.py").symlink_to(tmp_path / "secret.py")
    assert "a link" in read_submission(tmp_path / "link.py").problem


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes_are_read_or_not_gradable(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("fuzzed")
    for ending in (".py", ".ipynb", ".zip", ".tar.gz"):
        path = folder / f"work{ending}"
        path.write_bytes(data)
        submission = read_submission(path)
        assert (submission.problem is None) == bool(submission.cells)


NAMES = st.sampled_from(["cells", "source", "cell_type", "metadata", "nbgrader", "nbformat"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.sampled_from(["code", "markdown"]),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(NAMES, each),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(json_values, max_size=5))
def test_any_json_is_a_notebook_or_raises_unreadable(cells):
    with contextlib.suppress(UnreadableError):
        read_notebook(json.dumps({"cells": cells}).encode())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 5000), st.binary(min_size=1, max_size=8))
def test_a_damaged_archive_is_read_or_raises_unreadable(place, change):
    for kind in ("zip", "tar"):
        data = bytearray(archive_of({"work.py": RIGHT.encode(), "notes.txt": b"x" * 500}, kind))
        at = place % len(data)
        data[at : at + len(change)] = change
        with contextlib.suppress(UnreadableError):
            list(files_in_archive(bytes(data)))


def test_an_exercise_requires_the_cells_that_its_answer_reads():
    parts = [Cell(f"cell {number}", source) for number, source in enumerate((
        "import numpy as np", "def helper(x): return np.exp(x)", "while True: pass",
        "@exercises.answer('a')\ndef a(x): return helper(x)", "def b(x): return x"))]  # fmt: skip
    owners = exercises_of(parts, {"a": "a", "b": "b"})
    assert owners == [set(), set(), set(), {"a"}, {"b"}]
    assert cells_to_run(owners, "a", set()) == [0, 1, 2, 3]
    assert cells_to_run(owners, "a", {2}) == [0, 1, 3]
    assert required_cells(parts, owners, "a") == {0, 1, 3}
