"""W4 to W7 on a GPU: this engine and torch on the same GPU, with the same numbers.

    make bench-cuda          or           PYTHONPATH=tests python -m benchmarks.on_device

A call returns before the GPU has finished, so times are measured between two events of the device: after a warm-up,
which also fills both libraries' memory pools, contenders run in turns, many steps in each turn.
Gradients must agree with NumPy by hand before the timing. Both compute in single precision to the last
bit: TF32, which torch otherwise takes for convolutions, keeps 10 bits of 23.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import w4_mnist_mlp, w5_cnn, w6_transformer, w7_rnn
from .harness import agree

WORKLOADS = {"W4": w4_mnist_mlp, "W5": w5_cnn, "W6": w6_transformer, "W7": w7_rnn}
WARM_UP, ROUNDS, STEPS = 10, 15, 20
TOLERANCE = 1e-3
"""Products of matrices in single precision add up in another order on a GPU."""


class OnDevice:
    """A contender whose tensors are all on a device."""

    def __init__(self, contender: Any, device: str) -> None:
        self.contender, self.name = contender, contender.name
        for name, value in list(vars(contender).items()):
            if name == "parameters":
                contender.parameters = [leaf_on(each, device, wanted=True) for each in value]
            elif type(value).__name__ == "Tensor":
                setattr(contender, name, leaf_on(value, device, wanted=False))
        if getattr(contender, "optimizer", None) is not None:
            rate = contender.optimizer.param_groups[0]["lr"]
            contender.optimizer = contender.mg.optim.SGD(contender.parameters, lr=rate)

    def gradients(self) -> list[np.ndarray]:
        """Return the gradients on the host."""
        self.contender.fresh_backward()
        return [on_the_host(each.grad) for each in self.contender.parameters]

    def step(self) -> None:
        """Run the timed step."""
        self.contender.step()


class Written(OnDevice):
    """The step of a contender of this engine, written out as a program for the device."""

    def __init__(self, contender: Any, device: str) -> None:
        super().__init__(contender, device)
        self.name = f"{contender.name} written out"
        self.program = contender.mg.compile(contender.step)

    def gradients(self) -> list[np.ndarray]:
        """Return the gradients that the program leaves, on the host."""
        start = [each.detach().clone() for each in self.contender.parameters]
        for _ in range(3):  # two calls are traced; the third runs the program
            for parameter, values in zip(self.contender.parameters, start, strict=True):
                parameter.assign(values)
            self.step()
        assert self.program.counts == {"traced": 2, "written": 1}
        return [on_the_host(each.grad) for each in self.contender.parameters]

    def step(self) -> None:
        """Run the timed step."""
        self.program()


def leaf_on(tensor: Any, device: str, *, wanted: bool) -> Any:
    """Return a leaf on a device, of this engine or of torch."""
    return tensor.detach().to(device).requires_grad_(wanted)


def on_the_host(tensor: Any) -> np.ndarray:
    """Return the numbers of a tensor as a NumPy array."""
    return (tensor.cpu() if hasattr(tensor, "cpu") else tensor).numpy().copy()


def timed_by_torch(step: Callable[[], None], steps: int) -> float:
    """Return the milliseconds of one step, between two events of torch."""
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(steps):
        step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / steps


def timed_by_cupy(step: Callable[[], None], steps: int) -> float:
    """Return the milliseconds of one step, between two events of CuPy."""
    import cupy

    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.Device().synchronize()
    start.record()
    for _ in range(steps):
        step()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) / steps


def measure(contenders: list[OnDevice]) -> dict[str, float]:
    """Return the median time of each contender, in milliseconds for one step."""
    timers = [timed_by_torch if each.name == "torch" else timed_by_cupy for each in contenders]
    for contender, timer in zip(contenders, timers, strict=True):
        timer(contender.step, WARM_UP)
    rounds: list[list[float]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        for times, contender, timer in zip(rounds, contenders, timers, strict=True):
            gc.collect()
            times.append(timer(contender.step, STEPS))
    return {contender.name: statistics.median(times) for contender, times in zip(contenders, rounds, strict=True)}


def contenders_of(workload: Any, device: str, *, with_torch: bool) -> list[OnDevice]:
    """Return this engine in all its forms, also written out, and torch."""
    kinds = [workload.Ours, *([workload.OursAtOnce] if hasattr(workload, "OursAtOnce") else [])]
    contenders = [form(kind(), device) for kind in kinds for form in (OnDevice, Written)]
    return contenders + ([OnDevice(workload.Torch(), device)] if with_torch else [])


def missing_parts() -> str:
    """Return a sentence about missing requirements for a GPU run, or an empty one."""
    try:
        import cupy
    except ImportError:
        return "This needs CuPy and an NVIDIA GPU; CuPy is not installed here"
    return "" if cupy.is_available() else "This needs an NVIDIA GPU and its driver; CuPy finds none here"


def torch_sees_the_gpu() -> bool:
    """Return whether torch is installed and finds the GPU."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def full_precision(*, with_torch: bool) -> None:
    """Turn TF32 off in both libraries."""
    os.environ["CUPY_TF32"] = "0"
    if with_torch:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def hardware(*, with_torch: bool) -> str:
    """Return the names of the GPU and the versions, for the report."""
    import cupy

    runtime = cupy.cuda.runtime
    name = runtime.getDeviceProperties(runtime.getDevice())["name"].decode()
    versions = [f"CuPy {cupy.__version__}", f"CUDA {runtime.runtimeGetVersion()}"]
    versions += [f"driver {runtime.driverGetVersion()}", f"NumPy {np.__version__}"]
    if with_torch:
        import torch

        versions.append(f"torch {torch.__version__} with CUDA {torch.version.cuda}")
    return f"{name}: {', '.join(versions)}; float32 without TF32"


def main(given: list[str] | None = None) -> None:
    """Check, measure, print."""
    parser = argparse.ArgumentParser(prog="benchmarks.on_device", description="W4 to W7 on a GPU")
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads to run, as W4,W6")
    options = parser.parse_args(given)
    if missing_parts():
        sys.exit(missing_parts())
    with_torch = torch_sees_the_gpu()
    full_precision(with_torch=with_torch)
    print(hardware(with_torch=with_torch))
    for name in options.only.split(","):
        workload = WORKLOADS[name]
        contenders = contenders_of(workload, "cuda", with_torch=with_torch)
        agree([workload.NumpyByHand(), *contenders], TOLERANCE)
        times = measure(contenders)
        shown = ", ".join(f"{each} {time:.3f} ms" for each, time in times.items())
        faster = f"{times['torch'] / times['micrograd_plus']:.2f} x as fast as torch" if with_torch else "no torch here"
        print(f"{name}: {shown}; {faster}", flush=True)


if __name__ == "__main__":
    main()
