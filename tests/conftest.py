"""Fixtures and options for all tests."""

import gc
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import stand_in
from benchmarks import on_device
from micrograd_plus.backends import devices, tensors
from micrograd_plus.checks import promises as check
from micrograd_plus.checks.samples import Sample, samples
from micrograd_plus.core.define import operations
from outside_packages import missing_packages

sys.modules.setdefault("rfc3987_syntax", None)
"""jsonschema works without it. It compiles grammars for a format that no schema here has: 1.2 s in each worker."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the device of the device tests, and for a quick run."""
    parser.addoption("--device", default="stand-in", help="cuda, or the stand-in for a device that is not there")
    parser.addoption("--quick", action="store_true", help="the core's tests alone, with one sample of each operation")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of plug-ins that are not installed, and check that the GPU exists."""
    config.addinivalue_line("markers", "xdist_group(name): tests that one worker of pytest-xdist runs together")
    if config.getoption("--device") == "cuda" and on_device.missing_parts():
        raise pytest.UsageError(on_device.missing_parts())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than cores: browser tests and tests with deadlines mostly wait."""
    return (os.cpu_count() or 1) + 1


def pytest_report_header(config: pytest.Config) -> str:
    """Return the GPU's name for the log."""
    return on_device.hardware(with_torch=False) if config.getoption("--device") == "cuda" else "device: a stand-in"


LEFT_OUT: dict[str, list[str]] = {}
"""Test files, folders and single tests that were omitted, by the missing package."""


QUICK = (
    "test_architecture", "test_checkpointing", "test_checks", "test_complex", "test_composites", "test_custom",
    "test_engine", "test_fast_paths", "test_guide", "test_in_place", "test_memory", "test_modes", "test_rules",
    "test_trace", "test_trace_recording", "test_transforms", "test_walks", "test_writing",
)  # fmt: skip
"""Test files that `--quick` runs within a minute, for changes of the core."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Omit comparisons with PyTorch where none is wanted, since they import it. With `--quick`, omit all other files.
    On a GPU machine, whose packages are fixed, omit files whose packages are missing, and the folders whose fixtures
    need a missing package."""
    if collection_path.name == "parity" and "not parity" in config.getoption("markexpr"):
        return True
    if config.getoption("--quick") and collection_path.suffix == ".py" and collection_path.stem not in QUICK:
        return True
    file = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    if config.getoption("--device") == "stand-in" or file.suffix != ".py" or not file.exists():
        return None
    missing = missing_packages(file)
    for package in missing:
        LEFT_OUT.setdefault(package, []).append(collection_path.name)
    return True if missing else None


def pytest_collection(session: pytest.Session) -> None:
    """Let each worker begin to import the test files at another place, so that one rewrites what the others read.

    Otherwise, where no bytecode is cached, all workers rewrite the assertions of all files at the same time.
    """
    worker, folder = getattr(session.config, "workerinput", None), Path(__file__).parent
    if worker is None or folder not in [Path(argument).resolve() for argument in session.config.args]:
        return
    files = sorted(folder.glob("test_*.py"))
    first = len(files) * int(worker["workerid"][2:]) // worker["workercount"]
    for file in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):      # the collection reports what is wrong with a file
            if not pytest_ignore_collect(file, session.config):
                importlib.import_module(file.stem)


MARKS_OF_LONG_ONES = {"slow", "browser", "xdist_group"}
PARCEL = 50
"""Number of tests that a worker gets at once: handing them out one by one takes as long as running them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Omit single tests by their sample and their marks, then order the tests for the workers: slow tests start first
    and separately, so that no worker waits at the end; the many small ones follow in batches."""
    left_out_here(config, items)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (not item.get_closest_marker("slow"), not item.get_closest_marker("browser")))
        small = [item for item in items if not (MARKS_OF_LONG_ONES & {mark.name for mark in item.iter_markers()})]
        for i, item in enumerate(small):
            item.add_marker(pytest.mark.xdist_group(f"parcel {i // PARCEL}"))


def pytest_collection_finish() -> None:
    """Exclude the objects of 20,000 collected tests from garbage collections, which take 0.4 s otherwise."""
    gc.collect()
    gc.freeze()


def left_out_here(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove tests that were not requested or whose requirements are missing."""
    if config.getoption("--quick"):
        further = [item for item in items if is_of_a_further_sample(item)]
        config.hook.pytest_deselected(items=further)
        left_out = set(further)
        items[:] = [item for item in items if item not in left_out]
    if config.getoption("--device") == "stand-in":
        return
    for item in list(items):
        needed = [package for mark in item.iter_markers("needs") for package in mark.args]
        missing = [package for package in needed if importlib.util.find_spec(package) is None]
        for package in missing:
            LEFT_OUT.setdefault(package, []).append(item.name)
        if missing:
            items.remove(item)


def is_of_a_further_sample(item: pytest.Item) -> bool:
    """Return whether a test uses a sample other than the first of its operation."""
    callspec = getattr(item, "callspec", None)
    sample = callspec and callspec.params.get("sample")
    return isinstance(sample, Sample) and sample is not samples[sample.op.name][0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report omitted tests, so that they are not mistaken for passed ones."""
    for package, files in sorted(LEFT_OUT.items()):
        terminalreporter.write_line(f"LEFT OUT, for {package} is not installed here: {', '.join(sorted(set(files)))}")


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the selected device. A device that does not exist causes an error, not a skipped test."""
    name = request.config.getoption("--device")
    if name != "stand-in":
        yield devices.device(name).name
        return
    devices.add_device(name, stand_in.library)
    yield name
    del devices._devices[name]


@pytest.fixture
def called_on_the_device(device: str) -> Iterator[str]:
    """Call samples on the chosen device while a test runs."""
    token = check.where.set(device)
    yield device
    check.where.reset(token)


@pytest.fixture
def own_exercises() -> Iterator[None]:
    """Let a test define exercises and identify a student. Both are forgotten after the test."""
    from micrograd_plus.exercises import student_key
    from micrograd_plus.exercises.registry import own_exercises as registered

    before = dict(registered)
    yield
    registered.clear()
    registered.update(before)
    student_key._student.clear()


@pytest.fixture
def own_operations() -> Iterator[None]:
    """Let a test define operations; afterwards, only the engine's own remain."""
    registries = [operations, samples, vars(tensors), devices._composites]
    registries += [vars(device.namespace) for device in devices._devices.values()]
    before = [dict(registry) for registry in registries]
    yield
    for registry, contents in zip(registries, before, strict=True):
        registry.clear()
        registry.update(contents)
