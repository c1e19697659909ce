"""Several graders at a time, and graders that are killed: live ones are left alone, the rest is cleaned up."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graded import assignment, write_class
from micrograd_plus.__main__ import main
from micrograd_plus.files import TEMPORARY
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
pytestmark = pytest.mark.skipif(
    not isolation.is_root() or not isolation.is_available("user"), reason="only root can lease user IDs"
)


def start_endless(level: str) -> tuple[subprocess.Popen, int]:
    """Start a grader whose answer never ends, and return it with its user ID."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS.format(level=level)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def box(uid: int) -> Path:
    """Return the folder of a box at the level *user*."""
    return chroot.chroot_folder() / "boxes" / str(uid)


def becomes_true(condition) -> bool:
    """Return whether a condition becomes true soon."""
    deadline = time.monotonic() + 30
    while not (result := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(result)


def works(sandbox: Sandbox) -> bool:
    """Return whether a sandbox runs an answer."""
    request = {"driver": "call", "arguments": {}, "functions": [], "answers": ["the answer"]}
    result = sandbox.run(Run([("<your cell>", "def a_x(): return 7.0", 0)], ["a.x"], ["a_x"], [request], Limits()))
    return result.end == "done" and float(result.outcomes[0]["values"]["the answer"]) == 7


@pytest.mark.parametrize("level", ["user", "full"])
def test_the_lease_of_a_user_id_lasts_as_long_as_its_boxes(level):
    if not isolation.is_available(level):
        pytest.skip(f"this machine has no isolation of level {level!r}")
    first, leased = start_endless(level)
    try:
        if level == "user":
            assert becomes_true((box(leased) / "left").exists)
        with Sandbox(level) as other:
            assert works(other)
            assert other.uid != leased
            first.send_signal(signal.SIGKILL)
            first.wait()
            assert becomes_true(lambda: leased not in uid_pool.user_ids_in_use())
            assert works(other), "the end of one grader's boxes must not end another's"
    finally:
        first.kill()
        first.wait()
    assert becomes_true(lambda: not box(leased).exists())
    with Sandbox(level) as again:
        assert works(again)


def test_only_boxes_without_a_lease_are_stale():
    stale, leased = uid_pool.USER_IDS[-1], uid_pool.USER_IDS[-2]
    for uid in (stale, leased):
        box(uid).mkdir(exist_ok=True)
        (box(uid) / "left").write_text("by a killed grader", encoding="utf-8")
    lock = uid_pool.try_lock(leased)
    assert lock is not None
    with lock:
        uid_pool.remove_stale_boxes(chroot.chroot_folder())
        assert not box(stale).exists()
        assert (box(leased) / "left").exists()
    uid_pool.remove_stale_boxes(chroot.chroot_folder())
    assert not box(leased).exists()


def test_graders_with_different_caches_lease_different_user_ids(tmp_path, monkeypatch):
    first, lock = uid_pool.lease()
    with lock:
        monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
        second, other = uid_pool.lease()
        other.close()
    assert first != second


def test_locks_are_in_the_cache_if_the_machine_folder_is_missing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(uid_pool, "MACHINE_FOLDER", tmp_path / "file")
    monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
    uid, lock = uid_pool.lease()
    lock.close()
    assert (tmp_path / "micrograd_plus" / "user-ids" / str(uid)).exists()


def test_the_grader_removes_a_half_built_chroot(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROGRAD_PLUS_CACHE", str(tmp_path))
    half = chroot.cache_folder() / f"{chroot.HALF_BUILT}abc"
    (half / "lib").mkdir(parents=True)
    monkeypatch.setattr(chroot, "build", lambda folder, sources: folder.mkdir())
    assert chroot.chroot_folder().is_dir()
    assert not half.exists()


def test_one_run_at_a_time_writes_into_a_folder_of_marks(tmp_path, capsys):
    submissions, path = write_class(tmp_path / "submissions", 1), assignment(tmp_path)
    store = Store(tmp_path / "out")
    temporary = store.marks / f".ada.json-12345678.{TEMPORARY}-0"
    temporary.write_text("by another run", encoding="utf-8")
    arguments = ["grade", str(submissions), "--assignment", str(path), "-o", str(tmp_path / "out")]
    with try_lock(store.marks) as is_first:
        assert is_first
        assert main(arguments) == 1
        assert "another run is writing into" in capsys.readouterr().err
        assert temporary.exists()
        with pytest.raises(BusyError), store.lock():
            pass
    assert main(arguments) == 0
    assert not temporary.exists()
    assert store.get("student000") is not None
