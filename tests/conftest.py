"""What several test files share."""

from collections.abc import Iterator

import pytest

from micrograd_plus.op import operations
from micrograd_plus.readings import vocabulary
from micrograd_plus.samples import samples


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
