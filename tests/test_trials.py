"""A few cases of each kind of trial, and a check that trials detect planted bugs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
import writers
from micrograd_plus import files
from trials import harness, hostile, kills, rules, submissions, training
from trials.__main__ import KINDS, tally

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize(("kind", "count"), [("hostile", 250), ("steps", 200), ("journals", 10), ("questions", 400),
                                             ("submissions", 60), ("compiled", 4)])  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:Duplicate name")
def test_a_few_cases_find_nothing(kind, count):
    found = tally(kind, 0, count, quiet=True)
    assert not found.findings
    assert found.cases == count // (training.STEPS if kind == "steps" else 1)


@pytest.mark.usefixtures("own_operations")
def test_a_few_programs_with_users_rules_have_right_gradients():
    found = tally("rules", 0, 200, quiet=True)
    assert not found.findings
    assert found.outcomes[harness.SAME] > 150


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("planted", ["own", "read_only"])
def test_a_guard_that_lets_something_through_is_found(monkeypatch, planted):
    from micrograd_plus.core.runtime import guards

    missing = {"own": lambda results: results[0], "read_only": lambda value, variables: value}[planted]
    monkeypatch.setattr(guards, planted, missing)
    assert harness.run_cases("rules", rules.run, 0, 60, quiet=True).findings


@pytest.mark.skipif(os.name == "nt", reason="processes are forked")
def test_a_file_that_is_written_in_place_is_found_by_kills(monkeypatch):
    monkeypatch.setattr(writers, "WRITERS", {"Trace.save": writers.WRITERS["Trace.save"]})
    kills.prepare.cache_clear()
    assert not harness.run_cases("kills", kills.run, 0, 6, quiet=True).findings
    monkeypatch.setattr(files, "find_target", lambda path: None)
    assert harness.run_cases("kills", kills.run, 0, 6, quiet=True).findings
    kills.prepare.cache_clear()


@pytest.mark.parity
@pytest.mark.needs("torch")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_few_random_programs_are_pytorchs():
    found = tally("programs", 0, 100, quiet=True)
    assert not found.findings
    assert found.outcomes[harness.SAME] > 90


@pytest.mark.parity
@pytest.mark.needs("torch")
def test_a_few_random_writes_into_parts_are_pytorchs():
    found = tally("writes", 0, 300, quiet=True)
    assert not found.findings
    assert found.outcomes[harness.SAME] > 220


@pytest.mark.parity
@pytest.mark.needs("torch")
def test_a_lost_write_is_found_by_random_writes(monkeypatch):
    from micrograd_plus.tensor.views import write_into_view
    from trials import writes

    monkeypatch.setitem(write_into_view.__globals__, "tensor_behind", lambda origin: None)
    assert harness.run_cases("writes", writes.run, 0, 30, quiet=True).findings


@pytest.mark.parity
@pytest.mark.needs("torch")
def test_a_wrong_rule_is_found_by_random_programs(monkeypatch):
    from trials import programs, words

    def wrong(side, x):
        return side.m.tanh(x) if side.name == "torch" else side.m.tanh(x) + (x - x.detach()) * 0.01

    tables = {**words.ENTRIES, **dict.fromkeys(words.ENTRIES, wrong)}
    monkeypatch.setitem(programs.TABLES, "entries", tables)
    assert harness.run_cases("programs", programs.run, 0, 20, quiet=True).findings


def test_what_raises_and_what_differs_is_found_by_its_number():
    def run(case):
        if case == 3:
            raise KeyError("lost")
        return harness.SAME if case != 4 else "another number"

    found = harness.run_cases("made up", run, 2, 4, quiet=True)
    assert found.findings == ["made up:3 raised KeyError: 'lost'", "made up:4 another number"]
    assert (found.cases, found.outcomes[harness.SAME]) == (4, 2)
    assert "2 findings" in str(found)
    assert "FOUND made up:3" in str(found)


def turn_forever():
    while True:
        np.ones(3).sum()


def test_what_hangs_is_broken_off():
    with pytest.raises(harness.Hang), harness.time_limit(0.05):
        turn_forever()


def test_a_case_is_the_same_in_every_run():
    whole = hostile.traces()[0]
    one = hostile.damaged_data(harness.dice("hostile", 7), whole)
    for case in range(300):
        hostile.damaged_data(harness.dice("hostile", case), whole)
    other = hostile.damaged_data(harness.dice("hostile", 7), whole)
    assert repr(one) == repr(other)
    assert repr(one) != repr(whole)


def test_the_trials_find_an_unusable_trace(monkeypatch):
    monkeypatch.setattr(hostile, "used_trace", lambda trace: 1 / 0)
    monkeypatch.setattr(hostile, "damaged_data", lambda rng, whole: whole)
    assert harness.run_cases("hostile", hostile.run, 0, 20, quiet=True).findings


def test_the_command_does_one_case_again():
    command = [sys.executable, "-m", "trials", "--case", "hostile:1"]
    environment = {"PYTHONPATH": f"{TESTS}:{TESTS.parent}:{TESTS.parent / 'viz'}", "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() in (harness.SAME, harness.SAID)
    assert set(KINDS) == {"programs", "writes", "rules", "kills", "hostile", "steps", "journals", "questions", "pages",
                          "submissions", "compiled"}  # fmt: skip


def test_a_mark_of_nothing_and_a_changed_file_are_found_by_random_submissions(monkeypatch):
    real = submissions.grade.grade_submission
    forged = lambda *rest, **more: real(*rest, **more) | {"score": 21}
    monkeypatch.setattr(submissions.grade, "grade_submission", forged)
    assert harness.run_cases("submissions", submissions.run, 0, 3, quiet=True).findings
    monkeypatch.undo()
    trees = iter(range(99))
    monkeypatch.setattr(submissions, "list_tree", lambda folder: next(trees))
    assert "the submission changed" in harness.run_cases("submissions", submissions.run, 0, 1, quiet=True).findings[0]


def test_error_messages_stay_short_for_long_files():
    error = mg.FileError("state.npz " + "x" * 10**6)
    assert len(str(error)) < 700
    assert str(error).endswith(" ...")
    assert str(mg.FileError("state.npz: \ud800")) == "state.npz: \\ud800"
