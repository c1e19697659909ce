"""Every promise of `micrograd_plus.checks`, checked on every sample and on user-defined operations."""


import pytest

import micrograd_plus as mg
from micrograd_plus.checks.promises import check, promises
from micrograd_plus.checks.samples import samples
from micrograd_plus.core.composite import Composite
from micrograd_plus.core.define import operations
from micrograd_plus.core.fast import callers

SAMPLES = [sample for group in samples.values() for sample in group]
EXCUSED = {
    ("embedding", "the gradient equals differences"): 1,
    ("embedding", "stepping inside changes nothing"): 1,
    **{(name, "the gradient has a gradient"): 1 for name in ("max", "min", "maximum", "minimum")},
    ("quantize", "the gradient equals differences"): 2,
    ("fake_quantize", "the gradient equals differences"): 4,
    ("fake_quantize_lsq", "the gradient equals differences"): 2,
    ("quantized_matmul", "the gradient equals differences"): 2,
    ("quantized_matmul", "the gradient has a gradient"): 2,
    ("quantized_conv2d", "the gradient equals differences"): 1,
    ("quantized_conv2d", "the gradient has a gradient"): 1,
}
"""Number of operations excused from each promise. Increase it to excuse another."""


ELSEWHERE = "the program written out is the walk"
"""A promise that `test_written_bits.py` keeps with every sample, where it counts how many are written out."""


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_each_sample_keeps_each_promise(sample):
    for sentence, keep in promises.items():
        if sentence not in sample.excused and sentence != ELSEWHERE:
            try:
                keep(sample)
            except Exception as error:
                error.add_note(f"the broken promise: {sentence}")
                raise


def test_only_these_samples_are_excused_and_each_says_why():
    counted = {}
    for sample in SAMPLES:
        for sentence in sample.excused:
            assert len(sample.excused[sentence]) > 20, f"{sample}: give the reason in a sentence"
            place = (sample.op.name, sentence)
            counted[place] = counted.get(place, 0) + 1
    assert counted == EXCUSED
    assert not [s for group in samples.values() for s in group if set(s.excused) - promises.keys()]


def test_every_operation_with_a_rule_has_a_sample():
    assert not [name for name, op in operations.items() if op.rules and name not in samples]


def test_every_rule_of_every_operation_is_applied_by_some_sample():
    missing = []
    for name, op in operations.items():
        served = {input_name for sample in samples.get(name, ()) for input_name in input_as("fc", sample)}
        if isinstance(op, Composite):  # the chain rule serves every input that can move
            served |= {input_name for sample in samples.get(name, ()) for input_name in input_as("bi", sample)}
        missing += [f"{name}.{i}" for rule in op.rules for i in rule.inputs if i not in served]
    assert not missing


def input_as(kinds, sample):
    """Return the names of the inputs that a sample gives as arrays of these kinds of numbers."""
    names = sample.op.input_names(len(sample.inputs))
    given = dict(zip(names, sample.inputs, strict=False))
    return {name.partition("[")[0] for name, value in given.items() if getattr(value, "dtype", Other).kind in kinds}


class Other:
    """An object that is not an array."""

    kind = "-"


def test_check_counts_the_samples_of_each_promise():
    held = check(mg.matmul)
    assert set(held) == set(promises)
    assert set(held.values()) == {len(samples["matmul"])}


def test_an_operation_without_a_sample_says_how_to_give_one():
    with pytest.raises(ValueError, match=r"argmax has no sample; give it one: mg\.samples\.sample\(argmax"):
        check(mg.argmax)


def test_without_the_written_out_code_everything_is_the_same():
    names = ["add", "tanh", "power", "matmul", "sum", "max", "softmax", "layer_norm", "concatenate", "sort",
             "unstack", "getitem", "where", "conv2d", "einsum", "embedding", "to_device"]  # fmt: skip
    slow = ["the gradient has a gradient", "its record can be stored and read back"]
    count = 0
    with callers.interpret_all(list(operations.values())):
        for sample in [sample for name in names for sample in samples[name]]:
            for sentence, keep in promises.items():
                if sentence not in sample.excused and sentence not in slow:
                    keep(sample)
                    count += 1
        assert not any(operations[name].is_compiled for name in names), "something was written out all the same"
    assert count > 200


# User-defined operations ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_operations")
def test_function_rule_and_sample_make_a_complete_operation():
    @mg.elementwise(x=lambda xp, x: 3 * x * x * xp.cos(x**3))
    def sine_of_cube(xp, x):
        """The sine of the cube."""
        return xp.sin(x**3)

    mg.samples.sample(sine_of_cube, mg.samples.real(2, 3))
    assert all(count == 1 for count in check(sine_of_cube).values())

    x = mg.tensor(0.7, requires_grad=True)
    with mg.record() as trace:
        sine_of_cube(x).backward()
    (rule,) = trace.rules.values()
    assert "cos" in rule.text
    assert "cos" in rule.latex
    assert trace.nodes[-1].summary == "The sine of the cube."
    assert mg.jvp(sine_of_cube, (0.7,), (2.0,))[1].item() == pytest.approx(2 * x.grad.item(), rel=1e-14)
    second = mg.grad(mg.grad(sine_of_cube))(0.7).item()
    step = 1e-5
    differences = (mg.grad(sine_of_cube)(0.7 + step) - mg.grad(sine_of_cube)(0.7 - step)).item() / (2 * step)
    assert second == pytest.approx(differences, rel=1e-8)


@pytest.mark.usefixtures("own_operations")
def test_an_operation_defined_again_takes_the_place_of_the_first():
    for factor in (2, 3):

        @mg.linear(x=lambda upstream, factor=factor: upstream * 3)
        def scale_by(xp, x, *, factor=factor):
            return x * factor

        mg.samples.sample(scale_by, mg.samples.real(4))
    assert len(samples["scale_by"]) == 1
    assert check(scale_by)["the gradient equals differences"] == 1


CELLS = ["""
import micrograd_plus as mg

@mg.op
def pair_sum(xp, x, *, scale=2.0):
    "Neighbours added up."
    return (x[..., 1:] + x[..., :-1]) * scale

@pair_sum.rule("x")
def _(xp, upstream, x_shape, scale):
    "Each entry is in two sums."
    return (xp.pad(upstream, ((1, 0),)) + xp.pad(upstream, ((0, 1),))) * scale

mg.samples.sample(pair_sum, mg.samples.real(5))
held = mg.check_op(pair_sum)
""", """
x = mg.tensor([1.0, 2.0, 4.0], requires_grad=True)
with mg.record() as trace:
    loss = (pair_sum(x) ** 2).sum()
    loss.backward()
rule = trace.rules["pair_sum.x"]
site = next(node.site for node in trace.nodes if node.op == "pair_sum")
"""]


@pytest.mark.usefixtures("own_operations")
@pytest.mark.needs("IPython")
def test_an_operation_can_be_redefined_in_a_notebook_cell():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    try:
        for cell in (CELLS[0], CELLS[0], CELLS[1]):
            shell.run_cell(cell, store_history=True).raise_error()
        names = shell.user_ns
        assert set(names["held"].values()) == {1}
        assert names["x"].grad.tolist() == [2 * 2 * 6.0, 2 * 2 * (6.0 + 12.0), 2 * 2 * 12.0]
        assert "return (xp.pad(upstream, ((1, 0),))" in names["rule"].source
        assert names["rule"].reason == "Each entry is in two sums."
        assert names["site"].file == "cell 3"
        assert names["site"].text[names["site"].column : names["site"].end_column] == "pair_sum(x)"
    finally:
        InteractiveShell.clear_instance()
