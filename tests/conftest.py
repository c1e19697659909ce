"""What several test files share."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import stand_in
from micrograd_plus import check
from micrograd_plus.op import operations
from micrograd_plus.readings import vocabulary
from micrograd_plus.samples import samples


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever runs the tests choose the device on which every promise is held once more."""
    parser.addoption("--device", default="stand-in", help="cuda, or the stand-in for a device that is not there")


def pytest_configure(config: pytest.Config) -> None:
    """Know the plug-ins' marks where the plug-ins are not installed."""
    config.addinivalue_line("markers", "xdist_group(name): tests that one worker of pytest-xdist runs together")


LEFT_OUT: dict[str, list[str]] = {}
"""Files of tests that were left out, by the package that is missing."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """On a GPU machine, which has the environment it has, leave out the files whose packages are missing."""
    configuration = collection_path / "conftest.py"  # of a folder: what it lacks, all files there lack
    path = configuration if configuration.exists() else collection_path
    if config.getoption("--device") == "stand-in" or path == Path(__file__) or path.suffix != ".py":
        return None
    missing = missing_packages(path)
    for package in missing:
        LEFT_OUT.setdefault(package, []).append(collection_path.name)
    return True if missing else None


def missing_packages(path: Path) -> list[str]:
    """The packages that are not installed, of those that a file imports at its top, or that these need."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in body if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    missing: list[str] = []
    for package in sorted({name.partition(".")[0] for name in names}):
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            missing.append(str(error.name))
    return missing


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, so that nobody takes it for passed."""
    for package, files in sorted(LEFT_OUT.items()):
        terminalreporter.write_line(f"LEFT OUT, for {package} is not installed here: {', '.join(sorted(set(files)))}")


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The device that was chosen. What is asked of one that is not there is an error, and never a skipped test."""
    name = request.config.getoption("--device")
    if name != "stand-in":
        yield vocabulary.device(name).name
        return
    vocabulary.add_device(name, stand_in.library)
    yield name
    del vocabulary._devices[name]


@pytest.fixture
def called_on_the_device(device: str) -> Iterator[str]:
    """While a test runs, samples are called on the device that was chosen."""
    token = check.where.set(device)
    yield device
    check.where.reset(token)


@pytest.fixture
def own_operations() -> Iterator[None]:
    """Let a test define operations of its own; afterwards the engine knows only those it came with."""
    registries = [operations, samples, vars(vocabulary.tensors), vocabulary._composites]
    registries += [vars(device.words) for device in vocabulary._devices.values()]
    before = [dict(registry) for registry in registries]
    yield
    for registry, contents in zip(registries, before, strict=True):
        registry.clear()
        registry.update(contents)
