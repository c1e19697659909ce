"""Every row of the coverage table has samples, calls or tests that cover it."""

import ast
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from coverage_table import FEATURES, TABLES, Call, Row
from micrograd_plus.checks.promises import promises
from micrograd_plus.checks.samples import samples

TESTS = Path(__file__).resolve().parent
ROWS = [pytest.param(row, id=f"{table}: {row.name}") for table, rows in TABLES.items() for row in rows]
CALLS = [pytest.param(call, id=repr(call)) for rows in TABLES.values() for row in rows for call in row.calls]
EVERY_ROW = [*ROWS, *(pytest.param(row, id=row.name) for row in FEATURES)]


def lookup(path):
    """Return the object at a path under `mg`; an AttributeError names the missing part."""
    return reduce(getattr, path.split("."), mg)


def faults(row):
    """Return the gaps of a row's coverage, as sentences."""
    messages = []
    for path in row.covers:
        try:
            covering = lookup(path)
        except AttributeError as error:
            messages.append(f"there is no mg.{path}: {error}")
            continue
        op = getattr(covering, "op", None)
        if op is None:
            if not row.tests and path not in {call.path for call in row.calls}:
                messages.append(f"mg.{path} is made of operations: give it a Call")
        elif op.kind != "non-differentiable" and op.rules:
            messages += unchecked_names(op, row.convention)
    return messages


def unchecked_names(op, convention):
    """Return the promises that no sample of an operation checks, as sentences."""
    if op.name not in samples:
        return [f"{op.name} has no sample"]
    free = [sentence for sentence in promises if all(sentence in sample.excused for sample in samples[op.name])]
    return [] if convention else [f"{op.name} is never checked: {sentence}" for sentence in free]


@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_covered_by_operations_with_samples_and_checks(row):
    assert row.covers
    assert not faults(row)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_the_tests_that_a_row_names_are_there(row):
    for name in row.tests:
        file, _, test = name.partition("::")
        tree = ast.parse((TESTS / f"{file}.py").read_text(encoding="utf-8"))
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in FEATURES])
def test_every_feature_exists_and_has_a_test(row):
    assert row.tests
    for path in row.covers:
        lookup(path)


def draw(call):
    """Return the inputs of a call, and the indices of the drawn ones."""
    rng = np.random.default_rng(7)
    moving = [place for place, value in enumerate(call.inputs) if callable(value)]
    inputs = [value(rng) if callable(value) else np.array(value) if isinstance(value, list) else value
              for value in call.inputs]  # fmt: skip
    return inputs, moving


def weighted_sum(call):
    """Return a function of the drawn inputs that sums the outputs with weights of both signs; and the inputs."""
    inputs, moving = draw(call)
    function = lookup(call.path)

    def run(*values):
        given = list(inputs)
        for place, value in zip(moving, values, strict=True):
            given[place] = value
        params = {name: mg.tensor(value) if name == "weight" else value for name, value in call.params.items()}
        out = function(*given, **params)
        if out.dtype.kind == "c":
            out = out.real + 0.7 * out.imag
        rng = np.random.default_rng(out.size)
        return (out * mg.tensor(rng.uniform(0.5, 1.5, out.shape) * rng.choice([-1.0, 1.0], out.shape))).sum()

    run.__name__ = repr(call)
    return run, [inputs[place] for place in moving]


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_operations_have_right_gradients_of_all_kinds(call):
    f, inputs = weighted_sum(call)
    assert mg.gradcheck(f, inputs)
    tangents = [np.random.default_rng(3).normal(size=np.shape(value)) for value in inputs]
    _, moved = mg.jvp(f, inputs, tangents)
    gradient = mg.grad(f, tuple(range(len(inputs))))
    back = sum(float((received.numpy() * tangent).sum())
               for received, tangent in zip(gradient(*inputs), tangents, strict=True))  # fmt: skip
    np.testing.assert_allclose(moved.item(), back, rtol=1e-8, atol=1e-10)
    assert mg.gradcheck(lambda *values: slope(gradient(*values)), inputs, rtol=2e-5, atol=1e-6)


def slope(gradients):
    """Return the weighted sum of the gradients."""
    rng = np.random.default_rng(11)
    return sum((each * mg.tensor(rng.uniform(0.5, 1.5, each.shape))).sum() for each in gradients)


@pytest.mark.parametrize(("row", "sentence"), [
    (Row("a", "xyzzy"), "there is no mg.xyzzy: micrograd_plus has no 'xyzzy'"),
    (Row("a", "nn.functional.linear"), "mg.nn.functional.linear is made of operations: give it a Call"),
])  # fmt: skip
def test_a_row_without_a_test_is_reported(row, sentence):
    assert faults(row) == [sentence]


@pytest.mark.usefixtures("own_operations")
def test_a_row_without_checked_samples_is_reported(monkeypatch):
    @mg.elementwise(x=lambda x: 2 * x)
    def new_operation(xp, x):
        return x * x

    monkeypatch.setattr(mg, "new_operation", new_operation, raising=False)
    assert faults(Row("a", "new_operation")) == ["new_operation has no sample"]
    sentence = "the gradient has a gradient"
    mg.samples.sample(new_operation, mg.samples.real(3), excused={sentence: "because it is a test"})
    assert faults(Row("a", "new_operation")) == [f"new_operation is never checked: {sentence}"]


def test_a_wrong_gradient_fails(monkeypatch):
    monkeypatch.setattr(mg, "cut", lambda x: x * mg.stop_gradient(x), raising=False)
    f, inputs = weighted_sum(Call("cut", mg.samples.real(3)))
    with pytest.raises(AssertionError, match="the gradient of cut"):
        mg.gradcheck(f, inputs)
