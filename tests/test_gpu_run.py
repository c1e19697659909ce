"""`make test-cuda` and `make bench-cuda`, as far as they run without a GPU."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from benchmarks import on_device
from micrograd_plus.backends import devices
from outside_packages import missing_packages


@pytest.fixture
def cupy(monkeypatch):
    """Return the stand-in under CuPy's name, with events that are 20 ms apart."""
    library = stand_in.library_with_name("cupy")
    moment = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    library.__version__, library.is_available = "14.2.0", lambda: True
    library.cuda = SimpleNamespace(
        Event=lambda: moment,
        Device=lambda: moment,
        get_elapsed_time=lambda start, end: 20.0,
        runtime=SimpleNamespace(
            getDevice=lambda: 1,
            getDeviceProperties={1: {"name": b"A card"}}.get,
            runtimeGetVersion=lambda: 12090,
            driverGetVersion=lambda: 13000,
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", library)
    monkeypatch.setattr(devices, "_devices", {"cpu": devices.device("cpu")})
    monkeypatch.setattr(on_device, "torch_sees_the_gpu", lambda: False)
    return library


def test_the_report_names_the_machine_and_each_workload(cupy, capsys, monkeypatch):
    monkeypatch.setenv("CUPY_TF32", "1")
    for name in ("WARM_UP", "ROUNDS", "STEPS"):
        monkeypatch.setattr(on_device, name, 2)
    on_device.main(["--only", "W4,W7"])
    forms = ("", " written out", " rnn", " rnn written out")
    assert capsys.readouterr().out.splitlines() == [
        f"A card: CuPy 14.2.0, CUDA 12090, driver 13000, NumPy {np.__version__}; float32 without TF32",
        "W4: micrograd_plus 10.000 ms, micrograd_plus written out 10.000 ms; no torch here",
        f"W7: {', '.join(f'micrograd_plus{each} 10.000 ms' for each in forms)}; no torch here",
    ]


def test_without_a_gpu_the_report_says_so(cupy, monkeypatch):
    cupy.is_available = lambda: False
    with pytest.raises(RuntimeError, match='device "cuda" needs an NVIDIA GPU and its driver; CuPy finds none here'):
        mg.tensor([1.0], device="cuda")
    with pytest.raises(SystemExit, match="This needs an NVIDIA GPU and its driver; CuPy finds none here"):
        on_device.main([])
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(SystemExit, match="CuPy is not installed here"):
        on_device.main([])


@pytest.mark.parametrize("name", on_device.WORKLOADS)
def test_device_workloads_have_the_gradients_of_numpy_code(device, name):
    workload = on_device.WORKLOADS[name]
    contenders = on_device.contenders_of(workload, device, with_torch=False)
    by_hand = workload.NumpyByHand()
    on_device.agree([by_hand, *contenders], on_device.TOLERANCE)
    assert {each.contender.parameters[0].device for each in contenders} == {device}


@pytest.mark.parametrize("name", on_device.WORKLOADS)
def test_a_training_step_on_the_device_copies_nothing_to_the_host(device, name):
    for contender in on_device.contenders_of(on_device.WORKLOADS[name], device, with_torch=False):
        before = contender.contender.parameters[0].numpy()
        stand_in.copies.clear()
        contender.step()
        assert set(stand_in.copies) <= {"item"}, "only truth values may be copied to the host, no arrays"
        assert not np.array_equal(contender.contender.parameters[0].numpy(), before)


def test_files_with_missing_packages_are_recognised(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leads_further.py").write_text("import json\nimport missing_behind_another.inner\n", encoding="utf-8")
    file = tmp_path / "test_a.py"
    program = "import numpy.linalg\nfrom no_such_package.inner import x\nimport leads_further\n"
    file.write_text(program, encoding="utf-8")
    assert missing_packages(file) == ["missing_behind_another", "no_such_package"]
