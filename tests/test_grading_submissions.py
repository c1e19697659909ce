"""Submissions are read and never run: files, notebooks, folders, archives, and whatever else is handed in."""

import contextlib
import io
import json
import os
import tarfile
import zipfile

import pytest
from hypothesis import given, settings, strategies as st

from graded import RIGHT
from micrograd_plus.grading import cells
from micrograd_plus.grading.reasons import UnreadableError
from micrograd_plus.grading.submissions import Submission, add_files, files_in_archive, read_notebook, read_program, read_submission


def cell(source, kind="code", **marks):
    return {"cell_type": kind, "source": source, "metadata": marks, "outputs": [{"text": "x = 'of the outputs'"}]}


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": list(cells), "metadata": {"kernelspec": {"name": "evil"}}}).encode()


def test_of_a_notebook_the_code_is_read_and_nothing_else():
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
def test_commands_to_the_notebook_are_left_out(source, run):
    assert read_notebook(notebook(cell(source)))[0].source == run


@pytest.mark.parametrize(("data", "sentence"), [
    (b"", "not JSON"), (b"[" * 100_000, "not JSON"), (b"{}", "no cells"), (b'{"cells": []}', "no code"),
    (b'{"nbformat": 3, "worksheets": []}', "format 3"), (b'{"cells": [1]}', "cell 1 is none"),
    (b'{"cells": [{"cell_type": "code", "source": 1}]}', "no text"), (b'{"cells": [{"cell_type": "code"}]}', "no code"),
    (notebook(cell("x = '\ud800'")), "a character that is none"),
])  # fmt: skip
def test_a_notebook_that_is_none_is_told(data, sentence):
    with pytest.raises(UnreadableError, match=sentence):
        read_notebook(data)


@pytest.mark.parametrize(("data", "sentence"), [
    (b"x = 1\n\0", "line 2 holds a zero byte"), (b"x = '\xff'", "no UTF-8"), (b"# coding: utf-7\nx", "coding utf-7"),
    (b"#!/bin/sh\n# -*- coding: latin-1 -*-\n", "line 2"), (b"x = 1\ny = (\n", "line 2"),
    (b"-" * 100_000 + b"1", "nested"),
    (b"(" * 300, "line 1"),
])  # fmt: skip
def test_a_program_that_is_none_is_told_with_its_line(data, sentence):
    with pytest.raises(UnreadableError, match=sentence):
        read_program(data)


def test_a_mark_of_byte_order_is_no_fault():
    assert read_program(b"\xef\xbb\xbfx = 1\r\ny = 2")[1].source == "y = 2"


def test_statements_keep_their_comments_decorators_and_lines():
    text = "import a; import b\n# about f\n@deco\n@other(\n  1)\ndef f():\n    return 1\nx = 1\n"
    found = [(cell.line, cell.source.split("\n")[0]) for cell in read_program(text.encode())]
    assert found == [(0, "import a; import b"), (2, "@deco"), (7, "x = 1")]


def archive_of(names, kind="zip"):
    made = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in names.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for name, data in names.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize(("names", "sentence"), [
    ({"../a.py": b""}, "unsafe path"), ({"/a.py": b""}, "unsafe path"), ({"a/../../b.py": b""}, "unsafe path"),
    ({"c:\\a.py": b""}, "unsafe path"), ({"a\nb.py": b""}, "cannot be kept"),
    ({"x" * 300 + ".py": b""}, "cannot be kept"),
    ({"A.py": b"", "a.py": b""}, "two files of one name"), ({"con.py": b""}, "reserve"),
    ({"a.py": b"#" * (25 << 20)}, "larger than"), ({f"{n}.txt": b"" for n in range(1100)}, "more than 1000 files"),
])  # fmt: skip
def test_an_archive_is_unpacked_in_memory_or_not_at_all(kind, names, sentence):
    with pytest.raises(UnreadableError, match=sentence):
        list(files_in_archive(archive_of(names, kind)))


def test_an_archive_within_an_archive_is_not_opened():
    inner = archive_of({"work.py": b"x = 1"})
    made = Submission("ada")
    with pytest.raises(UnreadableError, match="no Python file"):
        add_files(made, list(files_in_archive(archive_of({"inner.zip": inner}))))
    assert "inner.zip" in made.remarks[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_links_and_pipes_are_not_followed(tmp_path):
    (tmp_path / "secret.py").write_text("x = 1", encoding="utf-8")
    for name, make in (
        ("linked", lambda p: (p / "a.py").symlink_to(tmp_path / "secret.py")),
        ("piped", lambda p: os.mkfifo(p / "a.py")),
    ):
        place = tmp_path / name
        place.mkdir()
        make(place)
        assert "no plain file" in read_submission(place).problem
    (tmp_path / "link.py").symlink_to(tmp_path / "secret.py")
    assert "a link" in read_submission(tmp_path / "link.py").problem


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes_are_a_submission_or_not_gradable(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("fuzzed")
    for ending in (".py", ".ipynb", ".zip", ".tar.gz"):
        path = folder / f"work{ending}"
        path.write_bytes(data)
        made = read_submission(path)
        assert (made.problem is None) == bool(made.cells)


NAMES = st.sampled_from(["cells", "source", "cell_type", "metadata", "nbgrader", "nbformat"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.sampled_from(["code", "markdown"]),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(NAMES, each),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(json_values, max_size=5))
def test_any_json_is_a_notebook_or_not_gradable(cells):
    with contextlib.suppress(UnreadableError):
        read_notebook(json.dumps({"cells": cells}).encode())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 5000), st.binary(min_size=1, max_size=8))
def test_a_damaged_archive_is_one_or_not_gradable(place, change):
    for kind in ("zip", "tar"):
        data = bytearray(archive_of({"work.py": RIGHT.encode(), "notes.txt": b"x" * 500}, kind))
        at = place % len(data)
        data[at : at + len(change)] = change
        with contextlib.suppress(UnreadableError):
            list(files_in_archive(bytes(data)))


def test_a_cell_that_an_exercise_reads_from_is_needed():
    parts = [cells.unit(each) for each in (
        "import numpy as np", "def helper(x): return np.exp(x)", "while True: pass",
        "@exercises.answer('a')\ndef a(x): return helper(x)", "def b(x): return x")]  # fmt: skip
    owned = cells.owners(parts, {"a": "a", "b": "b"})
    assert owned == [set(), set(), set(), {"a"}, {"b"}]
    assert cells.chosen(parts, owned, "a", set()) == [0, 1, 2, 3]
    assert cells.needed(parts, owned, "a") == {0, 1, 3}
