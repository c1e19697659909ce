"""Mistakes that are not wrong formulas: the checks catch each, or it raises. (The museum has the wrong formulas.)"""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import broken
from micrograd_plus.core.define import operations


@pytest.mark.parametrize(("name", "inputs", "rule", "reads"), [
    ("relu", "x", lambda upstream: upstream > 0, "upstream"),  # M21: the mask taken from the gradient
    ("sum", "x", lambda upstream, x: upstream * x, "x"),
    ("matmul", "a", lambda upstream, a: upstream * a, "a"),
    ("concatenate", "parts", lambda upstream, axes: upstream, "axes"),
])  # fmt: skip
def test_a_rule_that_reads_what_its_kind_forbids_raises(name, inputs, rule, reads):
    with pytest.raises(TypeError, match=rf"the rule {name}\.{inputs} .*'{reads}'"):
        operations[name].add_rule((inputs,), rule)


@pytest.mark.usefixtures("own_operations")
def test_a_closed_form_that_differs_from_its_steps_is_caught():
    @mg.op
    def normalized(xp, x):
        return x / xp.sum(x, axis=-1, keepdims=True)

    @normalized.rule("x")
    def _(xp, upstream, x):
        return upstream / xp.sum(x, axis=-1, keepdims=True)

    mg.samples.sample(normalized, mg.samples.positive(2, 3))
    violations = broken(normalized.op)
    assert {"the gradient equals differences", "stepping inside changes nothing"} <= violations.keys()


@pytest.mark.usefixtures("own_operations")
def test_a_forward_that_leaves_single_precision_is_caught():
    @mg.elementwise(x=lambda x: 2 * x)
    def squared(xp, x):
        return x * x + np.zeros(1)

    mg.samples.sample(squared, mg.samples.real(3))
    assert "float32 in, float64 out" in broken(squared.op)["single precision stays single precision"]


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_depends_on_memory_layout_is_caught():
    @mg.op
    def copied(xp, x):
        return +x

    @copied.rule("x")
    def _(xp, upstream, x):
        return upstream if x.flags.c_contiguous else -upstream

    mg.samples.sample(copied, mg.samples.real(3, 4))
    assert "the order of entries in memory does not matter" in broken(copied.op)


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_treats_floats_and_arrays_differently_is_caught():
    @mg.elementwise(x=lambda xp, x: xp.cos(x) if isinstance(x, float) else 1.0 * xp.exp(x))
    def confused(xp, x):
        return xp.exp(x)

    mg.samples.sample(confused, mg.samples.real(3))
    assert "numbers and arrays agree" in broken(confused.op)
