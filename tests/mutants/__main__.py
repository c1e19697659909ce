"""Change the core one expression at a time, and report the mutants that no test notices.

The tests are imported and collected once. Each mutant gets a forked process, in which the functions of the changed
module receive their changed code and defaults; tests run there until one fails. The tests that noticed most mutants so
far run first. A survivor in a file of `RUN_AT_IMPORT` is also imported by a new process (`mutants.fresh`).
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

from .mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "tests"
TARGETS = (
    "micrograd_plus/core/*.py", "micrograd_plus/core/fast/*.py", "micrograd_plus/core/runtime/*.py",
    "micrograd_plus/backends/arrays.py", "micrograd_plus/backends/shared.py", "micrograd_plus/backends/tensors.py",
)  # fmt: skip
"""The files that are changed: everything that the value of a gradient, or the owner of an array, depends on."""

FILES = (
    "test_walks", "test_engine", "test_composites", "test_writing", "test_in_place", "test_custom", "test_rules",
    "test_checkpointing", "test_complex", "test_modes", "test_fast_paths", "test_device", "test_names",
    "test_trace_groups", "test_trace_journal", "test_blocks_and_hooks", "test_arrays", "test_user_rules",
    "test_trace_recording",
)  # fmt: skip
"""Files of tests, the quickest first, with one sample of each operation."""

TOO_SLOW = ("interrupt", "forked", "thread", "deep_graph", "speed", "slows", "100_000", "no_operation_compares")
"""Tests whose names contain one of these words are left out, since one of them takes longer than all others."""

RUN_AT_IMPORT = (
    "core/define", "core/modes", "core/rule", "core/operation", "core/composite", "core/apply", "core/fast/callers",
    "core/runtime/recorders",
)  # fmt: skip
"""Files with functions or class attributes that count while the package is imported."""

CONTROL = ("micrograd_plus/core/backward.py", "before + contribution")
"""File and expression of a mutant that many tests notice. If none does, the tool has changed nothing."""

CPU_SECONDS = 120
"""Processor time for one mutant. One that needs more does not end, and counts as noticed."""

REASONS = Path(__file__).with_name("survivors.json")
"""Survivors that are accepted: file, function, before, after, and the reason."""


class Outcome(NamedTuple):
    """Result of one mutant: the test that failed, or None if all passed."""

    path: str
    mutant: Mutant
    noticed: str | None
    seconds: float

    def key(self) -> tuple[str, str, str, str]:
        """Return what identifies a mutant after lines have moved."""
        return self.path, self.mutant.function, self.mutant.before, self.mutant.after


def targets() -> list[Path]:
    """Return the files to change."""
    return sorted({path for pattern in TARGETS for path in ROOT.glob(pattern) if path.stem != "__init__"})


def choose(count: int, seed: int, only: str) -> list[tuple[str, Mutant]]:
    """Return a random sample of mutants; a file with more of them gets more."""
    every = [
        (path.relative_to(ROOT).as_posix(), mutant)
        for path in targets()
        for mutant in mutants_of(path.read_text(encoding="utf-8")) if only in f"{path.as_posix()}:{mutant.function}"
    ]  # fmt: skip
    return random.Random(seed).sample(every, min(count, len(every)))  # noqa: S311 - a draw, no secret


def control_change() -> tuple[Path, str]:
    """Return the file and the changed text of the mutant that many tests notice."""
    file, before = CONTROL
    (mutant,) = [each for each in mutants_of((ROOT / file).read_text(encoding="utf-8")) if each.before == before]
    return ROOT / file, mutant.text


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in a module, in the order of their text."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from functions_in(constant)


def number_keys(text: str, path: Path) -> dict[tuple[str, int], CodeType]:
    """Return the code of each function in a text, by its name and its index among functions of that name."""
    count: Counter[str] = Counter()
    named = {}
    for code in functions_in(compile(text, str(path), "exec")):
        named[code.co_qualname, count[code.co_qualname]] = code
        count[code.co_qualname] += 1
    return named


def changed_defaults(before: str, after: str) -> dict[tuple[str, int], ast.arguments]:
    """Return the new arguments of functions of which a default has changed, by their name and first line."""
    old, new = (
        [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)] for text in (before, after)
    )
    return {
        (was.name, min(node.lineno for node in (was, *was.decorator_list))): now.args
        for was, now in zip(old, new, strict=True) if ast.dump(was.args) != ast.dump(now.args)
    }  # fmt: skip


def set_defaults(function: FunctionType, arguments: ast.arguments) -> None:
    """Evaluate the defaults of changed arguments, and give them to a function."""

    def value(default: ast.expr) -> Any:
        return eval(compile(ast.Expression(default), "default", "eval"), function.__globals__)  # noqa: S307 - it is the project's own

    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    function.__defaults__ = tuple(map(value, arguments.defaults))
    function.__kwdefaults__ = {name.arg: value(default) for name, default in keywords if default is not None}


def change_functions(path: Path, text: str) -> None:
    """Give the functions of a module the code and the defaults of a changed text, and compile operations again."""
    from micrograd_plus.core.define import operations
    from micrograd_plus.core.fast.callers import uninstall

    before, changed = path.read_text(encoding="utf-8"), number_keys(text, path)
    new_code = {
        (code.co_qualname, code.co_firstlineno): changed.get(key) for key, code in number_keys(before, path).items()
    }
    new_defaults = changed_defaults(before, text)
    gc.unfreeze()  # a frozen object is not among `gc.get_objects`
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    ours = [each for each in functions if each.__code__.co_filename == str(path)]
    if not ours:
        raise LookupError(f"found no function of {path} to change")
    for function in ours:
        code = function.__code__
        if arguments := new_defaults.get((code.co_name, code.co_firstlineno)):
            set_defaults(function, arguments)
        replacement = new_code.get((code.co_qualname, code.co_firstlineno))
        if replacement is not None and replacement.co_freevars == code.co_freevars:
            function.__code__ = replacement
    for op in operations.values():
        uninstall(op)
        for name in ("arguments", "saves", "vjp", "composite", "real_only"):
            if not (name == "composite" and op.__dict__.get(name) is True):  # `@composite` may have set it
                op.__dict__.pop(name, None)


class Judge:
    """Plug-in that runs the collected tests on each mutant, in forked processes."""

    def __init__(self, jobs: list[tuple[str, Mutant]], parallel: int, output: Path | None):
        self.jobs, self.parallel, self.output = jobs, parallel, output
        self.outcomes: list[Outcome] = []
        self.kills: Counter[str] = Counter()
        self.lock = threading.Lock()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out slow tests, and all samples of an operation but its first."""
        from conftest import is_of_a_further_sample

        items[:] = [
            item for item in items
            if not is_of_a_further_sample(item) and not any(word in item.name for word in TOO_SLOW)
        ]  # fmt: skip

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge every mutant, after the unchanged code."""
        if session.testsfailed:
            pytest.exit("a file of tests cannot be imported", 1)
        noticed, seconds = self.run_forked(session, None)
        if noticed:
            pytest.exit(f"{noticed} fails without any change: mutants would show nothing", 1)
        print(f"unchanged code: {len(session.items)} tests pass in {seconds:.0f} s", file=sys.stderr)
        noticed, _ = self.run_forked(session, control_change())
        if noticed not in {item.nodeid for item in session.items}:
            pytest.exit(f"no test fails for a wrong sum of gradients, but {noticed}: the code is not changed", 1)
        with ThreadPoolExecutor(self.parallel) as pool:
            list(pool.map(lambda job: self.judge(session, *job), self.jobs))
        return True

    def judge(self, session: pytest.Session, path: str, mutant: Mutant) -> None:
        """Note the outcome of one mutant."""
        noticed, seconds = self.run_forked(session, (ROOT / path, mutant.text))
        runs_at_import = any(file in path for file in RUN_AT_IMPORT)
        if noticed is None and runs_at_import and runs_fresh(path, mutant.text) != 0:
            noticed = "a new process"
        with self.lock:
            self.kills[noticed or ""] += 1
            outcome = Outcome(path, mutant, noticed, seconds)
            self.outcomes.append(outcome)
            line = f"{len(self.outcomes)}/{len(self.jobs)} {path} {mutant}: {noticed or 'SURVIVED'} ({seconds:.0f} s)"
            print(line, file=sys.stderr, flush=True)
            if self.output:
                with self.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([*outcome.key(), noticed]) + "\n")

    def run_forked(self, session: pytest.Session, change: tuple[Path, str] | None) -> tuple[str | None, float]:
        """Run the tests in a forked process; return the name of the test that failed, and the processor time."""
        start = time.monotonic()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                answer = self.first_failure(session, change)
            except BaseException as error:  # noqa: BLE001 - a mutant may end its process in any way
                answer = type(error).__name__
            os.write(write, json.dumps(answer).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        return json.loads(text) if text else "crash or no end", time.monotonic() - start

    def first_failure(self, session: pytest.Session, change: tuple[Path, str] | None) -> str | None:
        """Change the code, and return the first test that fails. Runs in a forked process."""
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if change is not None:
            change_functions(*change)
        items = sorted(session.items, key=lambda item: -self.kills[item.nodeid])
        for item, following in zip(items, [*items[1:], None], strict=True):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return item.nodeid
        return None


def runs_fresh(path: str, text: str) -> int:
    """Return 0 if a new process that imports the changed text passes the first tests."""
    command = [sys.executable, "-m", "mutants.fresh", path]
    return subprocess.run(command, input=text, text=True, cwd=ROOT, capture_output=True, check=False).returncode


def previous_outcomes(output: Path | None, jobs: list[tuple[str, Mutant]]) -> list[Outcome]:
    """Return the outcomes that an interrupted run has written."""
    if output is None or not output.exists():
        return []
    mutants = {Outcome(path, mutant, None, 0).key(): mutant for path, mutant in jobs}
    rows = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    return [Outcome(key[0], mutants[tuple(key)], noticed, 0) for *key, noticed in rows if tuple(key) in mutants]


def accepted_reasons() -> dict[tuple[str, str, str, str], str]:
    """Return the reasons of accepted survivors."""
    rows = json.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else []
    return {(row["file"], row["function"], row["before"], row["after"]): row["reason"] for row in rows}


def report(outcomes: list[Outcome]) -> int:
    """Print how many mutants were noticed and each that was not; return the number without a reason."""
    reasons, survivors = accepted_reasons(), [each for each in outcomes if each.noticed is None]
    by_file = Counter(each.path for each in outcomes)
    alive = Counter(each.path for each in survivors)
    for path, count in sorted(by_file.items()):
        print(f"{path:45} {count - alive[path]:4} of {count:4} noticed")
    unexplained = [each for each in survivors if each.key() not in reasons]
    for each in survivors:
        print(f"{each.path} {each.mutant}: {reasons.get(each.key(), 'NOT NOTICED')}")
    noticed = len(outcomes) - len(survivors)
    explained = len(survivors) - len(unexplained)
    print(f"{noticed} of {len(outcomes)} mutants noticed, {explained} accepted with a reason, {len(unexplained)} open")
    return len(unexplained)


def main() -> int:
    """Run the chosen mutants, and print the report."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many mutants to draw (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--only", default="", help="places that contain this, as core/backward or hooks.py:add_hook")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that run at the same time (default 1)")
    parser.add_argument("--output", type=Path, help="a file for the outcomes; an interrupted run continues there")
    parser.add_argument("--list", action="store_true", help="print the mutants without running tests")
    options = parser.parse_args()
    jobs = choose(options.count, options.seed, options.only)
    if options.list:
        for path, mutant in jobs:
            print(path, mutant)
        return 0
    done = previous_outcomes(options.output, jobs)
    keys = {outcome.key() for outcome in done}
    jobs = [(path, mutant) for path, mutant in jobs if Outcome(path, mutant, None, 0).key() not in keys]
    judge = Judge(jobs, options.jobs, options.output)
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not parity and not cuda and not slow"]
    files = [str(path) for name in FILES if (path := TESTS / f"{name}.py").exists()]
    if status := pytest.main([*arguments, *files], plugins=[judge]):
        return int(status)
    return 1 if report(done + judge.outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
