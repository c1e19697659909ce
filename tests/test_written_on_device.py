"""Steps written out on another device: the engine's bits, and no copy to the host that the plan does not name."""

from __future__ import annotations

import os
from contextlib import contextmanager
from weakref import finalize

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus import optim
from micrograd_plus.checks.promises import ROUNDED_WHEN_WRITTEN, call_sample, differentiable_inputs
from micrograd_plus.checks.samples import samples
from micrograd_plus.nn import functional
from micrograd_plus.tensor.tensor import Tensor
from micrograd_plus.written import program as writing
from micrograd_plus.written.program import Program

SIZED_BY_NUMBERS = ("grouped_matmul", "expert_products", "dequantize_grouped_matmul")
"""Operations on groups of rows, whose lengths depend on the numbers of the experts: no program can be written."""
LEFT_OUT = {"to_device", *ROUNDED_WHEN_WRITTEN, *SIZED_BY_NUMBERS}
ALL = [each for name, group in samples.items() if name not in LEFT_OUT for each in group]
FEW = [ALL[i] for i in np.random.default_rng(7).permutation(len(ALL))[:80]]
CHOSEN = ALL if os.environ.get("EVERY_SAMPLE") else FEW


def gradients_of(sample, places, device):
    """Return a step that computes a sample's outputs, and the gradients of their sum."""
    others = [mg.tensor(x, device=device) if hasattr(x, "dtype") else x for x in sample.inputs]

    def step(*given):
        inputs, leaves = list(others), [x.detach().requires_grad_() for x in given]
        for place, leaf in zip(places, leaves, strict=True):
            inputs[place] = leaf
        out = call_sample(sample, inputs)
        parts = [part for part in (out if isinstance(out, tuple) else (out,)) if part.dtype.kind in "fc"]
        total = sum(((part * part.conj()).real.sum() if part.dtype.kind == "c" else part.sum()) for part in parts)
        found = total.gradients() if isinstance(total, Tensor) and total.node is not None else {}
        return [*parts, *(Tensor.of(found[x.node]) for x in leaves if x.node in found)]

    return step


@pytest.mark.parametrize("sample", CHOSEN, ids=str)
def test_a_program_copies_only_what_its_plan_names(sample, device):
    places = differentiable_inputs(sample)
    fresh = sample.fresh(np.random.default_rng(5))
    step = gradients_of(sample, places, device)
    given, others = ([mg.tensor(each.inputs[i], device=device) for i in places] for each in (sample, fresh))
    _, (page, structure) = writing.trace(step, tuple(given), {})
    program = Program(page, structure, "step")
    arrays = {id(value): others[value.source[1]]._data for value in page.inputs if value.source[0] == "argument"}
    inputs = [arrays.get(id(value), getattr(value.source[1], "_data", None)) for value in page.inputs]
    expected = [x.numpy() for x in step(*others)]
    stand_in.copies.clear()
    found = program.function(*inputs)
    copies = sum(stand_in.copies.values())
    lines = sum(".item()" in program.plan.source[line - 1] for line in program.plan.host_lines)
    assert copies == lines or (device != "stand-in" and not copies)
    for ours, theirs in zip(found, expected, strict=True):
        ours = ours.get() if hasattr(ours, "get") else np.asarray(ours)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", SIZED_BY_NUMBERS)
def test_operations_whose_sizes_depend_on_numbers_are_refused(name, device):
    (sample, *_) = samples[name]
    places = differentiable_inputs(sample)
    step, inputs = gradients_of(sample, places, device), [sample.inputs[i] for i in places]
    with pytest.raises(TypeError, match=r"mg.compile: .* asks for a shape that depends on numbers"):
        mg.written_out(step, *(mg.tensor(x, device=device) for x in inputs))


def classifier(device, make, size=8):
    """Return the parameters of a small network, and its training step."""
    rng = np.random.default_rng(0)
    shapes = [(2 * size, size), (2 * size,), (3, 2 * size)]
    w, b, v = params = [mg.tensor(rng.normal(size=s), requires_grad=True, device=device) for s in shapes]
    optimizer = make(params)

    def step(x, y):
        optimizer.zero_grad()
        hidden = functional.dropout(mg.tanh(functional.linear(x, w, b)), 0.2)
        loss = functional.cross_entropy(functional.linear(hidden, v), y)
        loss.backward()
        optimizer.step()
        return loss

    return params, step


def batch_on(device, i, size=8, rows=8):
    rng = np.random.default_rng(i)
    return mg.tensor(rng.normal(size=(rows, size)), device=device), mg.tensor(rng.integers(0, 3, rows), device=device)


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1)])
def test_a_compiled_step_on_the_device_has_the_engines_bits(device, make):
    runs = []
    for compiled in (lambda step: step, mg.compile):
        mg.random.seed(3)
        params, step = classifier(device, make)
        step = compiled(step)
        found = [step(*batch_on(device, i)).item() for i in range(6)]
        runs.append((found, [p.numpy().tolist() for p in params], [p.grad.numpy().tolist() for p in params]))
    assert runs[0] == runs[1]
    assert step.counts == {"traced": 3, "written": 3}
    assert {p.device for p in params} == {device}
    assert step.source.startswith(("import cupy as np", "import math\nimport cupy as np"))


def test_a_plan_names_memory_numbers_and_lines_that_stop(device):
    _, step = classifier(device, lambda p: optim.SGD(p, lr=0.1))
    program = mg.written_out(step, *batch_on(device, 0))
    plan = program.plan
    lines = program.source.splitlines()
    assert plan.numbers == ["lr"]
    (asks,), (draws,) = plan.host_lines, plan.draw_lines
    assert ".item()" in lines[asks - 1]
    assert "rng.random(" in lines[draws - 1]
    assert plan.pieces >= 3
    assert f"    {asks}: {lines[asks - 1].strip()}" in str(plan)
    hidden = next(memory for memory in plan.memory if "linear" in memory.names)
    assert (hidden.shape, hidden.nbytes) == ((8, 16), 8 * 16 * 8)
    assert lines[hidden.first - 1].strip().startswith("linear = ")
    assert any(name in lines[hidden.last - 1] for name in hidden.names)
    returned = {name for memory in plan.memory if not memory.last for name in memory.names}
    assert {"new_w", "new_b", "new_v", "to_w", "to_b", "to_v"} <= returned


@contextmanager
def count_bytes(monkeypatch):
    """Yield a list whose last entry is the largest number of bytes that new arrays of the stand-in took at once."""
    most, now = [0], [0]
    real = stand_in.Array.__init__

    def init(self, values, base=None):
        real(self, values, base)
        if base is None:
            nbytes = self._values.nbytes
            now[0] += nbytes
            most[0] = max(most[0], now[0])
            finalize(self, lambda: now.__setitem__(0, now[0] - nbytes))

    with monkeypatch.context() as patch:
        patch.setattr(stand_in.Array, "__init__", init)
        yield most


def squares(w, x):
    """Return a step without tables or numbers, whose arrays are all large."""

    def step():
        w.grad = None
        hidden = mg.tanh(x * w)
        loss = mg.exp(hidden * hidden - x) * w + mg.sin(hidden)
        loss.backward(loss.detach())
        w.data = w.data - w.grad.data
        return loss

    return step


def test_the_peak_of_a_plan_is_the_peak_that_is_counted(device, monkeypatch):
    if device != "stand-in":
        return  # whose arrays can be counted
    rng = np.random.default_rng(0)
    w, x = (mg.tensor(rng.normal(size=(64, 64)), requires_grad=i == 0, device=device) for i in range(2))
    program = mg.written_out(squares(w, x))
    arrays = [value.source[1]._data for value in program.page.inputs]
    with count_bytes(monkeypatch) as most:
        found = program.function(*arrays)
    assert most == [program.plan.peak]
    assert program.plan.peak >= sum(each.nbytes for each in found) > 0


def test_tensors_on_two_devices_are_an_error(device):
    w = mg.tensor([1.0, 2.0], device=device)
    step = mg.compile(lambda x: (w * 2.0, x * 2.0))
    with pytest.raises(
        TypeError, match=r"test_written_on_device.py:\d+ uses tensors on .*Compile a step whose tensors"
    ):
        step(mg.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"moves a tensor to 'cpu' while .*Move it before the call"):
        mg.compile(lambda: w.to("cpu"))()
