"""Change the core one expression at a time, and report the mutants that no test notices.

Each mutant runs in a process of its own, forked from one that has imported what the tests need: the changed module is
handed to Python by an import hook, so no file is written. The tests of `STAGES` run in order until one fails.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import json
import multiprocessing
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from .mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "tests"
TARGETS = (
    "micrograd_plus/core/*.py", "micrograd_plus/core/fast/*.py", "micrograd_plus/core/runtime/*.py",
    "micrograd_plus/backends/arrays.py", "micrograd_plus/backends/shared.py", "micrograd_plus/backends/tensors.py",
)  # fmt: skip
"""The files that are changed: what a gradient's value, or its owner, depends on."""

STAGES = (
    ("test_walks", "test_engine", "test_composites", "test_modes", "test_custom", "test_writing", "test_in_place"),
    ("test_fast_paths", "test_memory", "test_checkpointing", "test_rules", "test_complex"),
    ("test_checks", "test_transforms", "test_trace_recording", "test_arrays", "test_errors", "test_bad_use"),
    ("test_trace", "test_convolution_blocks", "test_device", "test_reliability", "test_architecture"),
)
"""Files of tests, the quickest first. `--quick` takes one sample of each operation."""

SECONDS = 400
"""Time for one mutant; one that needs more runs for ever, and counts as noticed."""

REASONS = Path(__file__).with_name("survivors.json")
"""Survivors that are accepted_reasons: file, function, before, after, and the reason."""


class Outcome(NamedTuple):
    """What became of one mutant: the first failing stage, or None where all tests passed."""

    path: str
    mutant: Mutant
    noticed: str | None
    seconds: float

    def key(self) -> tuple[str, str, str, str]:
        """Return what identifies a mutant after lines have moved."""
        return self.path, self.mutant.function, self.mutant.before, self.mutant.after


class ChangedModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that gives one module another text."""

    def __init__(self, name: str, path: Path, text: str):
        self.name, self.path, self.text = name, path, text

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find the changed module, and leave all others to Python."""
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.name else None

    def exec_module(self, module: Any) -> None:
        """Run the changed text under the file's own name."""
        module.__file__ = str(self.path)
        exec(compile(self.text, str(self.path), "exec"), module.__dict__)  # noqa: S102 - it is the project's own


def targets() -> list[Path]:
    """Return the files to change."""
    return sorted({path for pattern in TARGETS for path in ROOT.glob(pattern) if path.stem != "__init__"})


def choose(count: int, seed: int, only: str) -> list[tuple[str, Mutant]]:
    """Return a sample of mutants, spread over the files by their number of mutants."""
    every = [
        (path.relative_to(ROOT).as_posix(), mutant)
        for path in targets() if only in path.as_posix()
        for mutant in mutants_of(path.read_text(encoding="utf-8"))
    ]  # fmt: skip
    chosen = every if count >= len(every) else random.Random(seed).sample(every, count)  # noqa: S311 - a draw, no secret
    return sorted(chosen, key=lambda each: (each[0], each[1].line))


def run_tests(path: str, text: str) -> str | None:
    """Run the stages with one module changed; return the stage that noticed. Called in a process of its own."""
    import pytest

    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    name = path.removesuffix(".py").replace("/", ".")
    sys.meta_path.insert(0, ChangedModule(name, ROOT / path, text))
    for number, files in enumerate(STAGES, 1):
        there = [str(TESTS / f"{file}.py") for file in files if (TESTS / f"{file}.py").exists()]
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not parity and not cuda and not slow"]
        try:
            if pytest.main([*options, "--quick", *there]) != 0:
                return f"stage {number}"
        except BaseException as error:  # noqa: BLE001 - a mutant may end its process in any way
            return f"stage {number}, {type(error).__name__}"
    return None


def judge(job: tuple[str, Mutant]) -> Outcome:
    """Fork a process for one mutant, and return what became of it."""
    path, mutant = job
    start = time.monotonic()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        noticed = run_tests(path, mutant.text)
        os.write(write, json.dumps(noticed).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        if not select.select([answer], [], [], SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
        text = answer.read()
    os.waitpid(child, 0)
    return Outcome(path, mutant, json.loads(text) if text else "crash or time", time.monotonic() - start)


def accepted_reasons() -> dict[tuple[str, str, str, str], str]:
    """Return the reasons of accepted_reasons survivors."""
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
    """Run the chosen mutants on all cores, and print the report."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many mutants to draw (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--only", default="", help="files whose path contains this, as core/backward")
    parser.add_argument("--list", action="store_true", help="print the mutants without running tests")
    options = parser.parse_args()
    jobs = choose(options.count, options.seed, options.only)
    if options.list:
        for path, mutant in jobs:
            print(path, mutant)
        return 0
    path = targets()[0]
    control = Mutant("", 0, "", "", path.read_text(encoding="utf-8"))
    if noticed := judge((path.relative_to(ROOT).as_posix(), control)).noticed:
        sys.exit(f"the tests fail without any change ({noticed}): mutants would tell nothing")
    for name in ("numpy", "pytest", "hypothesis", "jsonschema", "_pytest.assertion.rewrite"):
        importlib.import_module(name)
    outcomes = []
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for outcome in pool.imap_unordered(judge, jobs):
            outcomes.append(outcome)
            print(f"{len(outcomes)}/{len(jobs)} {outcome.path} {outcome.mutant}: {outcome.noticed}", file=sys.stderr)
    return 1 if report(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
