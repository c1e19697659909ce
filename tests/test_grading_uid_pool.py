"""Graders that are killed, and several at a time: what is alive is respected, what was left is cleared away."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graded import a_class, assignment
from micrograd_plus.__main__ import main
from micrograd_plus.grading.sandbox import chroot, isolation, uid_pool
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits, Run
from micrograd_plus.grading.store import BusyError, Store, try_lock

pytest.importorskip("fcntl")

ENDLESS = """
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits, Run
sandbox = Sandbox({level!r})
sandbox._open_box()
print(sandbox.uid, flush=True)
sandbox.run(Run([("<your cell>", "open('left', 'w').write('x')\\nwhile True: pass", 0)], ["a.x"], ["a_x"], [],
                Limits(cpu=60, wall=60)))
"""
pytestmark = pytest.mark.skipif(not isolation.is_root() or not isolation.is_available("user"), reason="slots are root's")


def endless(level: str) -> tuple[subprocess.Popen, int]:
    """A grader in which an answer never ends, and its slot."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS.format(level=level)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def box(slot: int) -> Path:
    """The folder of a slot at the level *user*."""
    return chroot.jail() / "boxes" / str(uid_pool.FIRST_USER + slot)


def until(what) -> bool:
    """Whether something becomes true soon."""
    ends = time.monotonic() + 30
    while not (found := what()) and time.monotonic() < ends:
        time.sleep(0.02)
    return bool(found)


def works(sandbox: Sandbox) -> bool:
    """Whether a box answers."""
    request = {"driver": "call", "arguments": {}, "words": [], "answers": ["the answer"]}
    ran = sandbox.run(Run([("<your cell>", "def a_x(): return 7.0", 0)], ["a.x"], ["a_x"], [request], Limits()))
    return ran.end == "done" and float(ran.outcomes[0]["values"]["the answer"]) == 7


@pytest.mark.parametrize("level", ["user", "full"])
def test_the_slot_of_a_grader_that_lives_is_not_taken_and_that_of_a_killed_one_is_free_once_its_boxes_have_ended(level):
    if not isolation.is_available(level):
        pytest.skip(f"this machine has no isolation of level {level!r}")
    first, taken = endless(level)
    try:
        if level == "user":
            assert until((box(taken) / "left").exists)
        with Sandbox(level) as other:
            assert works(other)
            assert other.slot != taken
            first.send_signal(signal.SIGKILL)
            first.wait()
            assert until(lambda: uid_pool.FIRST_USER + taken not in uid_pool.users_with_processes())
            assert works(other), "the end of one grader's boxes is not the end of another's"
    finally:
        first.kill()
        first.wait()
    assert until(lambda: not box(taken).exists())
    with Sandbox(level) as again:
        assert works(again)


def test_what_was_left_in_the_folder_of_boxes_is_cleared_away_unless_somebody_holds_it():
    place = uid_pool.folder()
    ours, theirs = uid_pool.MOST_SLOTS - 1, uid_pool.MOST_SLOTS - 2
    for each in (ours, theirs):
        box(each).mkdir(exist_ok=True)
        (box(each) / "left").write_text("by somebody who was killed", encoding="utf-8")
    held = uid_pool.locked(place / str(theirs))
    assert held is not None
    with held:
        uid_pool.swept(chroot.jail())
        assert not box(ours).exists()
        assert (box(theirs) / "left").exists()
    uid_pool.swept(chroot.jail())
    assert not box(theirs).exists()


def test_locks_are_the_machines_wherever_the_copy_of_python_lies(tmp_path, monkeypatch):
    first, lock = uid_pool.free_slot()
    with lock:
        monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
        second, other = uid_pool.free_slot()
        other.close()
    assert first != second


def test_where_root_has_no_such_folder_the_locks_lie_in_the_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(uid_pool, "OF_THE_MACHINE", tmp_path / "file")
    monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
    number, lock = uid_pool.free_slot()
    lock.close()
    assert (tmp_path / "micrograd_plus" / "slots" / str(number)).exists()


def test_a_copy_of_python_that_was_half_made_is_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
    left = chroot.cache() / f"{chroot.HALF_BUILT}abc"
    (left / "lib").mkdir(parents=True)
    monkeypatch.setattr(chroot, "build", lambda place, sources: place.mkdir())
    assert chroot.jail().is_dir()
    assert not left.exists()


def test_a_folder_of_marks_is_written_by_one_run_at_a_time(tmp_path, capsys):
    handed_in, made = a_class(tmp_path / "handed in", 1), assignment(tmp_path)
    store = Store(tmp_path / "out")
    half = store.marks / ".being-written-abc"
    half.write_text("by somebody who is at work", encoding="utf-8")
    arguments = ["grade", str(handed_in), "--assignment", str(made), "-o", str(tmp_path / "out")]
    with held(store.marks) as first:
        assert first
        assert main(arguments) == 1
        assert "another run is writing into" in capsys.readouterr().err
        assert half.exists()
        with pytest.raises(BusyError), store.lock():
            pass
    assert main(arguments) == 0
    assert not half.exists()
    assert store.get("student000") is not None
