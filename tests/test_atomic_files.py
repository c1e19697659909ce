"""Every file that the project writes: complete or unchanged, whatever stops the process, and nothing left behind."""

import ast
import contextlib
import os
import random
import re
import signal
import stat
import tempfile
import threading
from pathlib import Path

import pytest

import writers
from micrograd_plus.files import TEMPORARY, atomic_file, create_temporary, remove_leftovers, write_file

ROOT = Path(__file__).resolve().parent.parent
UNIX = pytest.mark.skipif(os.name == "nt", reason="processes are forked, and signals and permissions are Unix's")
KILL_EACH = 7
"""A process is killed at each seventh instruction, since a fork of a large process takes a tenth of a second."""
SLOW_TO_DRAW = {"viz.save .gif", "viz.save .webp"}
"""They are written as `.png` is; `make trials` stops them too."""


@pytest.fixture
def folder(tmp_path):
    """Return an empty folder, in a folder for inputs."""
    place = tmp_path / "out"
    place.mkdir()
    return place


def names_in(folder):
    """Return the names of what is in a folder."""
    return [path.name for path in folder.iterdir()]


def both_versions(write, tmp_path):
    """Return a folder with the first version of some files, and the content of both versions."""
    contents = []
    for version in (1, 0):
        place = tmp_path / f"version{version}"
        place.mkdir()
        write(place, version)
        contents.append(writers.read_folder(place))
    return place, contents[1], contents[0]


def check_stopped(folder, old, new, why):
    """Check that each file is the old one or the new one."""
    for name, content in writers.read_folder(folder).items():
        assert content in (old.get(name), new.get(name)), f"{name} after {why}"


# What stops a write ----------------------------------------------------------------------------------------------


@UNIX
@pytest.mark.parametrize("name", sorted(writers.WRITERS.keys() - SLOW_TO_DRAW))
def test_a_stopped_command_leaves_old_files_or_new_ones(name, tmp_path):
    writers.prepare()
    write, dice = writers.WRITERS[name], random.Random(name)  # noqa: S311 - no secret
    place, old, new = both_versions(write, tmp_path)
    assert old != new
    events = writers.count_events(lambda: write(place, 1))
    largest = max(map(len, new.values()))
    for what, action in {
        "a kill": writers.stop_at(lambda: write(place, 1), dice.randint(1, events)),
        "Ctrl-C": writers.stop_at(lambda: write(place, 1), dice.randint(1, events), KeyboardInterrupt),
        "a full disk": writers.fill_disk(lambda: write(place, 1), dice.randrange(largest)),
    }.items():
        write(place, 0)
        assert writers.in_child(action) != 0, what
        check_stopped(place, old, new, what)
    write(place, 1)
    assert writers.read_folder(place) == new
    assert not writers.temporaries(place)


@UNIX
@pytest.mark.parametrize("by", [None, KeyboardInterrupt])
def test_a_write_may_stop_at_each_of_its_instructions(by, folder):
    path = folder / "file"
    write_file(path, "old")
    events = writers.count_events(lambda: write_file(path, "new"))
    assert events > 50
    seen = set()
    for event in range(1, events + 1, 1 if by else KILL_EACH):
        write_file(path, "old")
        assert not writers.temporaries(folder)
        write = writers.stop_at(lambda: write_file(path, "new"), event, by)
        if by:
            with contextlib.suppress(by):
                write()
        else:
            assert os.WTERMSIG(writers.in_child(write)) == signal.SIGKILL
        seen.add(path.read_text(encoding="utf-8"))
        assert len(writers.temporaries(folder)) <= 1
    assert seen == {"old", "new"}


@UNIX
@pytest.mark.parametrize("size", [0, 1, 1000, 99_999])
def test_a_full_disk_leaves_the_old_file_and_names_it(size, folder):
    path = folder / "file"
    write_file(path, "old")

    def write():
        with pytest.raises(OSError, match=r"File too large.*out/file'$"):
            write_file(path, "new" * 100_000)

    assert writers.in_child(writers.fill_disk(write, size)) == 0
    assert path.read_text(encoding="utf-8") == "old"
    assert names_in(folder) == ["file"]


def test_an_error_while_a_file_is_written_leaves_the_old_one(folder):
    path = folder / "file"
    write_file(path, "old")
    with pytest.raises(ZeroDivisionError), atomic_file(path) as file:
        file.write(b"new" * (1 // 0))
    assert path.read_text(encoding="utf-8") == "old"
    assert names_in(folder) == ["file"]


@UNIX
def test_a_running_writer_keeps_its_temporary_file(folder):
    path = folder / "file"
    with atomic_file(path) as file:
        file.write(b"slow")
        write_file(path, "fast")
        remove_leftovers(folder)
        assert path.read_bytes() == b"fast"
    assert path.read_bytes() == b"slow"
    assert names_in(folder) == ["file"]


@UNIX
def test_what_killed_processes_left_in_a_folder_is_removed(folder):
    for name in ("one", "two"):
        writers.in_child(lambda name=name: create_temporary(folder / name, 0o600))
    assert len(writers.temporaries(folder)) == 2
    remove_leftovers(folder)
    assert not names_in(folder)


def test_many_writers_of_one_file_do_not_disturb_each_other(folder):
    path, wrong = folder / "file", []

    def write(letter):
        for _ in range(30):
            write_file(path, letter * 5000)
            content = path.read_text(encoding="utf-8")
            if len(content) != 5000 or len(set(content)) != 1:
                wrong.append(content)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert names_in(folder) == ["file"]


# The file that is written ----------------------------------------------------------------------------------------


@UNIX
def test_a_file_keeps_its_permissions(folder):
    path, usual = folder / "file", os.umask(0o027)
    try:
        write_file(path, "old")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write_file(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
        write_file(path, "new", private=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(usual)


@UNIX
@pytest.mark.parametrize("exists", [False, True])
def test_a_symbolic_link_stays_one(exists, folder):
    target = folder.parent / "target"
    if exists:
        target.write_text("old", encoding="utf-8")
    (folder / "link").symlink_to("../target")
    write_file(folder / "link", "new")
    assert (folder / "link").is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert not target.is_symlink()


@UNIX
def test_a_pipe_and_a_device_are_written_to(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    write_file(os.devnull, "nothing")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert Path(os.devnull).is_char_device()


@UNIX
def test_a_file_that_is_open_under_dev_is_written_to(folder):
    with (folder / "file").open("wb") as file:
        write_file(f"/dev/fd/{file.fileno()}", "through")
        assert os.path.samestat(os.fstat(file.fileno()), (folder / "file").stat())
    assert (folder / "file").read_text(encoding="utf-8") == "through"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="only Linux has files in memory there")  # noqa: S108 - it looks
def test_a_file_in_memory_is_replaced_like_any_other():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "file")
        write_file(path, "old")
        with pytest.raises(ZeroDivisionError), atomic_file(path) as file:
            file.write(b"new" * (1 // (file.write(b"half") - 4)))
        assert path.read_text(encoding="utf-8") == "old"


@UNIX
def test_a_file_that_may_not_be_written_is_not_replaced(folder, monkeypatch):
    path = folder / "file"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(PermissionError, match=r"file'$"):
        write_file(path, "new")
    assert path.read_text(encoding="utf-8") == "old"


def test_errors_name_the_file_and_not_the_temporary_one(folder):
    for path in (folder, folder / "no" / "file"):
        with pytest.raises(OSError, match=r"\[Errno \d+\]") as caught:
            write_file(path, "text")
        assert caught.value.filename == str(path)
        assert TEMPORARY not in str(caught.value)
    if os.name != "nt":
        (folder / "loop").symlink_to("loop")
        with pytest.raises(OSError, match=r"loop'$"):
            write_file(folder / "loop", "text")


def test_a_long_name_can_be_written(folder):
    name = "\u00e9" * 100 + ".json"
    write_file(folder / name, "text")
    assert names_in(folder) == [name]


def test_text_keeps_its_line_ends(folder):
    write_file(folder / "file", "one\r\ntwo\n\u2202")
    assert (folder / "file").read_bytes() == "one\r\ntwo\n\u2202".encode()


# No other way to write -------------------------------------------------------------------------------------------

OTHER_WRITERS = {
    "micrograd_plus/files.py": "the atomic writer itself",
    "micrograd_plus/__main__.py: main": "the output, once its reader is gone",
    "micrograd_plus/__main__.py: lab": "settings in a temporary folder, which JupyterLab reads once",
    "micrograd_plus/nn/npz.py: write": "an archive in a file that the caller has opened",
    "micrograd_plus/grading/formats/gradescope.py: write_package": "an archive inside atomic_file",
    "micrograd_plus/grading/sandbox/uid_pool.py: try_lock": "an empty file that is locked",
    "micrograd_plus/grading/sandbox/chroot.py: build_lock": "an empty file that is locked",
    "micrograd_plus/grading/sandbox/chroot.py: build": "a temporary folder, which is renamed when it is complete",
    "micrograd_plus/grading/sandbox/inside/supervisor.py: enter_namespaces": "settings of the kernel under /proc",
    "micrograd_plus/grading/sandbox/inside/clearing.py: set_aside": "a folder to be removed",
    "micrograd_plus/grading/sandbox/inside/clearing.py: empty_folder": "a folder to be removed",
    "micrograd_plus/grading/formats/wheel.py: build_wheel": "an archive in memory",
    "micrograd_plus/exercises/variants.py: rules_of_others": "parameters of a rule are renamed, not a file",
    "micrograd_plus/grading/worker.py: main": "the pipe to the main process",
    "viz/micrograd_plus_viz/exports/film.py: frames": "an image in memory",
    "viz/micrograd_plus_viz/figure.py: __init__": "an image in memory",
    "micrograd_plus/written/program.py: save": "the file of the atomic writer",
}
"""Places that open files for writing without the atomic writer, and why."""
WRITING_METHODS = {"write_text", "write_bytes", "touch", "tofile", "savetxt", "savez", "savez_compressed", "savefig",
                   "imsave", "mkstemp", "NamedTemporaryFile", "copyfile", "copy2", "copytree", "move", "rename",
                   "fdopen"}  # fmt: skip
MODULE_METHODS = {("json", "dump"), ("pickle", "dump"), ("np", "save"), ("shutil", "copy"), ("os", "replace")}


def is_writing(call):
    """Return whether a call may write a file."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    texts = [each.value for each in [*call.args, *(word.value for word in call.keywords)]
             if isinstance(each, ast.Constant) and isinstance(each.value, str)]  # fmt: skip
    if name == "fdopen" or (name in ("open", "ZipFile") and owner != "os"):
        return any(set(text) <= set("rwaxbt+") and set(text) & set("wax+") for text in texts)
    if (owner, name) == ("os", "open"):
        return any(isinstance(each, ast.Attribute) and each.attr in ("O_WRONLY", "O_RDWR") for each in ast.walk(call))
    if name == "save" and isinstance(call.func, ast.Attribute) and "image" in ast.unparse(call.func.value):
        return True
    if name == "replace" and isinstance(call.func, ast.Attribute):  # of a path; that of a text has two arguments
        return owner == "os" or (len(call.args) == 1 and not call.keywords)
    return name in WRITING_METHODS - {"fdopen"} or (owner, name) in MODULE_METHODS


def writing_places():
    """Yield each function that may write a file by itself."""
    names = re.compile(r"\b(open|save|replace|ZipFile|fdopen|dump|copy|{})\(".format("|".join(WRITING_METHODS)))
    for path in [*ROOT.glob("micrograd_plus/**/*.py"), *ROOT.glob("viz/micrograd_plus_viz/**/*.py"),
                 *ROOT.glob("docs/*.py")]:  # fmt: skip
        text = path.read_text(encoding="utf-8")
        for call in calls_in(text) if names.search(text) else ():
            if is_writing(call):
                name = path.relative_to(ROOT).as_posix()
                yield name, f"{name}: {function_at(text, call.lineno)}", call.lineno


def calls_in(text):
    """Return the calls in a program."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def function_at(text, line):
    """Return the name of the function that contains a line."""
    heads = [re.match(r"\s*def (\w+)", each) for each in text.splitlines()[:line]]
    return next((head[1] for head in reversed(heads) if head), "")


def test_only_the_atomic_writer_opens_files_for_writing():
    found = list(writing_places())
    strays = [f"{place}, line {line}" for name, place, line in found if not {name, place} & OTHER_WRITERS.keys()]
    assert not strays, "write with micrograd_plus.files.write_file or atomic_file"
    assert not OTHER_WRITERS.keys() - {each for name, place, _ in found for each in (name, place)}


@pytest.mark.parametrize(
    "source",
    ["open(p, 'w')", "p.open('ab')", "open(p, mode='x')", "Path(p).write_text(t)", "np.save(p, x)", "json.dump(x, f)",
     "shutil.copy(a, b)", "os.open(p, os.O_WRONLY)", "image.save(p)", "zipfile.ZipFile(p, 'w')", "a.replace(b)"],
)  # fmt: skip
def test_a_call_that_writes_a_file_is_recognised(source):
    assert is_writing(ast.parse(source).body[0].value)


@pytest.mark.parametrize("source", ["open(p)", "open(p, 'rb')", "text.replace('a', 'b')", "os.open(p, os.O_RDONLY)"])
def test_a_call_that_reads_a_file_is_no_writing_one(source):
    assert not is_writing(ast.parse(source).body[0].value)
