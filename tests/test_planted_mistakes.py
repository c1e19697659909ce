"""Mistakes other than wrong formulas: the checks catch each, or it raises. (The museum has the wrong formulas.)"""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import broken_promises
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
def test_checks_catch_a_closed_form_that_differs_from_its_steps():
    @mg.op
    def share_of_sum(xp, x):
        return x / xp.sum(x, axis=-1, keepdims=True)

    @share_of_sum.rule("x")
    def _(xp, upstream, x):
        return upstream / xp.sum(x, axis=-1, keepdims=True)

    mg.samples.sample(share_of_sum, mg.samples.positive(2, 3))
    violations = broken_promises(share_of_sum.op)
    assert {"the gradient equals differences", "stepping inside changes nothing"} <= violations.keys()


@pytest.mark.usefixtures("own_operations")
def test_checks_catch_a_forward_that_leaves_single_precision():
    @mg.elementwise(x=lambda x: 2 * x)
    def square_in_double(xp, x):
        return x * x + np.zeros(1)

    mg.samples.sample(square_in_double, mg.samples.real(3))
    assert "float32 in, float64 out" in broken_promises(square_in_double.op)["single precision stays single precision"]


@pytest.mark.usefixtures("own_operations")
def test_checks_catch_a_rule_that_depends_on_memory_layout():
    @mg.op
    def copy_of(xp, x):
        return +x

    @copy_of.rule("x")
    def _(xp, upstream, x):
        return upstream if x.flags.c_contiguous else -upstream

    mg.samples.sample(copy_of, mg.samples.real(3, 4))
    assert "the order of entries in memory does not matter" in broken_promises(copy_of.op)


@pytest.mark.usefixtures("own_operations")
def test_checks_catch_floats_and_arrays_that_disagree():
    @mg.elementwise(x=lambda xp, x: xp.cos(x) if isinstance(x, float) else 1.0 * xp.exp(x))
    def exp_of_arrays(xp, x):
        return xp.exp(x)

    mg.samples.sample(exp_of_arrays, mg.samples.real(3))
    assert "numbers and arrays agree" in broken_promises(exp_of_arrays.op)
