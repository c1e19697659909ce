"""Mistakes that are no wrong formulas (those are in the museum): the checks catch each, or it cannot be made."""

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
def test_some_mistakes_cannot_even_be_written_down(name, inputs, rule, reads):
    with pytest.raises(TypeError, match=rf"the rule {name}\.{inputs} .*'{reads}'"):
        operations[name].add_rule((inputs,), rule)


@pytest.mark.usefixtures("own_operations")
def test_a_closed_form_that_differs_from_its_own_steps_is_caught():
    @mg.op
    def normalized(xp, x):
        return x / xp.sum(x, axis=-1, keepdims=True)

    @normalized.rule("x")
    def _(xp, upstream, x):
        return upstream / xp.sum(x, axis=-1, keepdims=True)

    mg.samples.sample(normalized, mg.samples.positive(2, 3))
    told = broken_promises(normalized.op)
    assert {"the gradient equals differences", "stepping inside changes nothing"} <= told.keys()


@pytest.mark.usefixtures("own_operations")
def test_a_forward_that_leaves_single_precision_is_caught():
    @mg.elementwise(x=lambda x: 2 * x)
    def squared(xp, x):
        return x * x + np.zeros(1)

    mg.samples.sample(squared, mg.samples.real(3))
    assert "float32 in, float64 out" in broken_promises(squared.op)["single precision stays single precision"]


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_looks_at_memory_instead_of_axes_is_caught():
    @mg.op
    def copied(xp, x):
        return +x

    @copied.rule("x")
    def _(xp, upstream, x):
        return upstream if x.flags.c_contiguous else -upstream

    mg.samples.sample(copied, mg.samples.real(3, 4))
    assert "the order of entries in memory does not matter" in broken_promises(copied.op)


@pytest.mark.usefixtures("own_operations")
def test_numbers_that_disagree_with_arrays_are_caught():
    @mg.elementwise(x=lambda xp, x: xp.cos(x) if isinstance(x, float) else 1.0 * xp.exp(x))
    def confused(xp, x):
        return xp.exp(x)

    mg.samples.sample(confused, mg.samples.real(3))
    assert "numbers and arrays agree" in broken_promises(confused.op)
