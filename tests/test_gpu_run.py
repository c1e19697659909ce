"""What `make test-cuda` and `make bench-cuda` do, as far as a machine without a GPU can say."""

import numpy as np
import pytest

import stand_in
from benchmarks import on_device
from conftest import missing_packages


@pytest.mark.parametrize("name", on_device.WORKLOADS)
def test_a_workload_on_the_device_has_the_gradients_of_numpy_by_hand(device, name):
    workload = on_device.WORKLOADS[name]
    contenders = on_device.contenders_of(workload, device, with_torch=False)
    by_hand = workload.NumpyByHand()
    on_device.agree([by_hand, *contenders], on_device.TOLERANCE)
    assert {each.contender.parameters[0].device for each in contenders} == {device}


@pytest.mark.parametrize("name", on_device.WORKLOADS)
def test_a_step_of_training_on_the_device_brings_nothing_home_and_changes_the_parameters(device, name):
    for contender in on_device.contenders_of(on_device.WORKLOADS[name], device, with_torch=False):
        before = contender.contender.parameters[0].numpy()
        stand_in.copies.clear()
        contender.step()
        assert set(stand_in.copies) <= {"item"}, "a truth may be asked for, an array not"
        assert not np.array_equal(contender.contender.parameters[0].numpy(), before)


def test_a_file_whose_packages_are_missing_is_told_apart(tmp_path):
    file = tmp_path / "test_a.py"
    file.write_text("import numpy.linalg\nfrom no_such_package.inner import x\nimport json\n")
    assert missing_packages(file) == ["no_such_package"]


def test_a_package_that_is_there_and_lacks_another_counts_as_missing_that(tmp_path, monkeypatch):
    (tmp_path / "lacks_another.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "test_b.py"
    file.write_text("import lacks_another\n")
    assert missing_packages(file) == ["no_such_package"]
