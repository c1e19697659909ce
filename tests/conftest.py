"""What several test files share."""

from collections.abc import Iterator

import pytest

import stand_in
from micrograd_plus import check
from micrograd_plus.op import operations
from micrograd_plus.readings import vocabulary
from micrograd_plus.samples import samples


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever runs the tests choose the device on which every promise is held once more."""
    parser.addoption("--device", default="stand-in", help="cuda, or the stand-in for a device that is not there")


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
