"""The formula of each step, in the names of the program."""


import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, scalar
from micrograd_plus.checks.samples import samples
from micrograd_plus.formulas.simplify import simplify
from micrograd_plus.formulas.symbols import Name, Symbol
from micrograd_plus.tracing import formulas as trace_formulas


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def formulas(trace):
    """Return the formula of each step, by its start and end."""
    return {
        (trace.nodes[step.node].name, step.input): step.formula and step.formula.text.removeprefix("contribution = ")
        for step in trace.steps
    }


def test_a_formula_has_the_names_of_the_program():
    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        c = a + b
        d = a * b
        (c * d).backward()
    texts = formulas(trace)
    assert texts["multiply", "a"] == "upstream · d"
    assert texts["multiply", "b"] == "upstream · c"
    assert texts["multiply (d)", "a"] == "upstream · b"
    step = next(step for step in trace.steps if trace.nodes[step.node].label == "d" and step.input == "a")
    assert '<mi data-name="b">b</mi>' in step.formula.mathml
    step = next(step for step in trace.steps if trace.nodes[step.node].name == "multiply" and step.input == "a")
    assert '<mi data-name="b">d</mi>' in step.formula.mathml, "letters become numbers or names"


def test_a_formula_avoids_letters_that_the_program_uses():
    a, b = leaf(2.0), leaf(3.0)
    with mg.record() as trace:
        (mg.sin(a) * mg.cos(b)).backward()
    assert formulas(trace)["multiply", "a"] == "upstream · mg.cos(b)"


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (lambda x: x**2, "upstream · 2 · x"),
        (lambda x: x**3, "upstream · 3 · x²"),
        (lambda x: x**1, "upstream"),
        (lambda x: x**0.5, "upstream · 0.5 · x^(−0.5)"),
        (lambda x: x * 3.0, "upstream · 3"),
        (lambda x: x / 4.0, "upstream / 4"),
        (lambda x: 1.0 - x, "−upstream"),
        (lambda x: nn.functional.leaky_relu(x, 0.2), "upstream · {1 if x > 0; 0.2 otherwise}"),
        (lambda x: mg.maximum(x, 0.0), "upstream · ([x > 0] + 0.5 · [x = 0])"),
    ],
)
def test_a_formula_has_the_constants_of_its_application(program, wanted):
    x = leaf(1.5)
    with mg.record() as trace:
        program(x).backward()
    step = next(step for step in trace.steps if trace.nodes[step.target].label == "x")
    assert step.formula.text == f"contribution = {wanted}"


def test_a_formula_has_the_sum_over_broadcast_axes():
    x, w, c = leaf(np.ones((4, 1, 3))), leaf(np.ones((5, 1))), leaf(2.0)
    with mg.record() as trace:
        y = x * w
        (y * c).sum().backward()
    texts = formulas(trace)
    assert texts["multiply (y)", "a"] == "Σ[axis 1](upstream · w)"
    assert texts["multiply (y)", "b"] == "Σ[axes 0, 2](upstream · x)"
    assert texts["multiply", "b"] == "Σ(upstream · y)"
    assert trace.rules["multiply.a"].text == "contribution = upstream · b", "the rule itself does not sum"


def test_formulas_of_sum_and_mean_use_numpys_terms():
    x = leaf(np.ones((2, 3)))
    with mg.record() as trace:
        rows = x.mean(axis=1)
        rows.sum().backward()
    texts = formulas(trace)
    assert texts["sum", "x"] == "broadcast(upstream)"
    assert texts["mean (rows)", "x"] == "broadcast[axis 1](upstream / 3)"


def test_the_formula_of_cross_entropy_is_the_textbooks():
    scores = leaf(np.zeros((4, 3)))
    with mg.record() as trace:
        nn.functional.cross_entropy(scores * 1.0, mg.tensor([0, 1, 2, 0])).backward()
    assert formulas(trace)["cross_entropy", "logits"] == "upstream / 4 · (softmax(z) − one_hot(y))"
    prediction, target = leaf([1.0, 2.0, 3.0]), mg.tensor([0.0, 0.0, 1.0])
    with mg.record() as trace:
        nn.functional.mse_loss(prediction, target).backward()
    assert formulas(trace)["mse_loss", "prediction"] == "upstream · 2 / 3 · (prediction − target)"


def test_formulas_of_matrix_products_show_transposes():
    x, net = leaf([[1.0, 2.0]]), nn.Linear(2, 3)
    with mg.record() as trace:
        net(x.T.T).sum().backward()
    texts = formulas(trace)
    assert texts["linear_layer (net)", "x"] == "upstream @ net.weight"
    assert texts["linear_layer (net)", "bias"] == "Σ[axis 0](upstream)"
    assert texts["linear_layer (net)", "weight"].startswith("upstreamᵀ @ ")
    assert texts["transpose #1", "x"] == "upstreamᵀ"


@pytest.mark.usefixtures("own_operations")
def test_a_rule_that_writes_or_loops_has_no_formula():
    def writes(upstream, x):
        made = upstream * 1.0
        made[...] = made * 2.0
        return made

    def loops(upstream, x):
        return sum(part for part in [upstream * each for each in x]) * 0 + upstream

    def asks(upstream, x):
        return upstream.reshape(x.shape) * 2.0

    def looks_up(upstream, x):
        return upstream * {True: 2.0, False: 3.0}[bool(x.size > 1)]

    for place, rule in enumerate((writes, loops, asks, looks_up)):

        def forward(xp, x):
            return x * 2.0

        forward.__name__ = f"without_a_formula_{place}"
        made = mg.op(forward)
        made.op.add_rule(("x",), rule)
        x = leaf([1.0, 2.0])
        with mg.record() as trace:
            made(x).sum().backward()
        step = trace.steps[-1]
        assert step.formula is None
        assert trace.rules[step.rule].text is None
        assert "made(x) sends" in repr(trace)


@pytest.mark.parametrize("name", samples)
def test_each_step_of_every_sample_has_a_formula_if_its_rule_has(name):
    sample = samples[name][0]
    places = differentiable_inputs(sample)
    held = [leaf(sample.inputs[i]) for i in places]
    with mg.record() as trace:
        scalar(sample, replace_inputs(sample, places, held)).backward()
    for step in trace.steps:
        assert (step.formula is None) == (trace.rules[step.rule].text is None), step
        if step.formula is not None:
            assert step.formula.text.startswith("contribution = ")


def every_step(op_samples):
    """Return the formulas of all steps of samples recorded together on the same leaves."""
    with mg.record() as trace:
        for sample in op_samples:
            places = differentiable_inputs(sample)
            scalar(sample, replace_inputs(sample, places, [leaf(sample.inputs[i]) for i in places])).backward()
    return [step.formula and step.formula.text for step in trace.steps]


@pytest.mark.parametrize("name", samples)
def test_the_formula_of_a_step_does_not_depend_on_earlier_steps(name, monkeypatch):
    alone = []
    for sample in samples[name]:
        monkeypatch.setattr(trace_formulas, "SHARED_FORMULAS", trace_formulas.Memory())
        alone += every_step([sample])
    monkeypatch.setattr(trace_formulas, "SHARED_FORMULAS", trace_formulas.Memory())
    assert every_step(samples[name]) == alone
    assert every_step(samples[name]) == alone


def test_applications_with_other_constants_have_other_formulas():
    x = leaf([1.0, -2.0])
    with mg.record() as trace:
        (mg.leaky_relu(x, 0.1) + mg.leaky_relu(x, 0.25)).sum().backward()
    slopes = [step.formula.text for step in trace.steps if step.rule == "leaky_relu.x"]
    assert slopes == [f"contribution = upstream · {{1 if x > 0; {slope} otherwise}}" for slope in (0.25, 0.1)]


@pytest.mark.usefixtures("own_operations")
def test_a_custom_rule_gets_a_new_formula_in_every_record():
    factor = [2.0]

    @mg.elementwise(x=lambda xp: factor[0])
    def scale(xp, x):
        """x, scale."""
        return x * factor[0]

    texts = []
    for number in (2.0, 3.0):
        factor[0] = number
        with mg.record() as trace:
            scale(leaf([1.0])).sum().backward()
        texts.append(trace.steps[-1].formula.text)
    assert texts == ["contribution = upstream · 2", "contribution = upstream · 3"]


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        (lambda x: x * 1 + 0, "x"), (lambda x: 0 + 1 * x**1, "x"), (lambda x: x - 0, "x"), (lambda x: x / 1, "x"),
        (lambda x: x**0, "1"), (lambda x: 2 * 3 + x, "6 + x"), (lambda x: x * (1 / Symbol("y")), "x / y"),
        (lambda x: Name("where")(True, x, 5), "x"), (lambda x: x * -1, "−x"), (lambda x: x * 3 * 1, "3 · x"),
        (lambda x: Name("log")(0) + x, "log(0) + x"), (lambda x: x * (1 / Name("sqrt")(4)), "x / 2"),
    ],
)  # fmt: skip
def test_simplify_folds_constants_and_drops_neutral_terms(written, simple):
    from micrograd_plus.formulas import notation

    assert notation.text(simplify(written(Symbol("x")))) == simple


def test_a_first_operation_that_fails_has_its_inputs_and_line():
    weight, scale = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="do not broadcast"), mg.record() as trace:
        weight * scale
    assert [node.label for node in trace.nodes] == ["weight", "scale", None]
    assert "weight * scale" in trace.nodes[-1].site.text


# Formulas with readable names -----------------------------------------------------------------------------------------


def formulas_of(program):
    """Return the formulas of the steps of a program's walk."""
    with mg.record() as trace:
        program().sum().backward()
    return [str(step.formula).removeprefix("contribution = ") for step in trace.steps][1:]


def test_the_gradient_of_a_joined_part_is_a_slice():
    a, b = leaf(np.ones((2, 3))), leaf(np.ones((2, 1)))
    assert formulas_of(lambda: mg.concatenate([a, b], axis=1)) == ["upstream[:, :3]", "upstream[:, 3:]"]
    assert formulas_of(lambda: mg.concatenate([a, b], axis=-1)) == ["upstream[…, :3]", "upstream[…, 3:]"]
    assert formulas_of(lambda: mg.stack([a, a], axis=1)) == ["upstream[:, 0]", "upstream[:, 1]"]


def test_a_slice_sends_its_gradient_to_its_index_and_0_to_others():
    x, indices = leaf(np.ones((3, 4))), np.array([0, 0])
    assert formulas_of(lambda: x[1:, 0]) == ["{upstream at [1:, 0]; 0 elsewhere}"]
    assert formulas_of(lambda: x[indices]) == ["{upstream added at [[0, 0]]; 0 elsewhere}"]
    assert formulas_of(lambda: mg.take(x, indices, axis=1)) == [
        "{upstream added at [indices] along axis 1; 0 elsewhere}"
    ]


def test_the_formula_of_layer_norm_is_the_textbooks():
    x, weight = leaf(np.ones((2, 3))), leaf(np.ones(3))
    sent = "σ⁻¹ · (upstream · weight − mean[axis −1](upstream · weight) − x̂ · mean[axis −1](upstream · weight · x̂))"
    assert formulas_of(lambda: mg.layer_norm(x, weight)) == [sent, "Σ[axis 0](upstream · x̂)"]


def test_rows_of_several_axes_are_a_reshape_with_numbers():
    x, weight = leaf(np.ones((2, 3, 4))), leaf(np.ones((5, 4)))
    sent = "reshape(upstream, (−1, 5))ᵀ @ reshape(x, (−1, 4))"
    assert formulas_of(lambda: mg.linear_layer(x, weight)) == ["upstream @ weight", sent]


def test_formulas_that_differ_only_in_shapes_are_distinct():
    with mg.record() as trace:
        for size in (2, 3):
            h = leaf(np.ones(size))
            mg.mean(h).backward()
    assert [str(step.formula) for step in trace.steps] == [
        "contribution = broadcast(upstream / 2)", "contribution = broadcast(upstream / 3)"
    ]  # fmt: skip


@pytest.mark.parametrize("z", [1.0 + 2.0j, np.array([1.0 + 2.0j, -0.5j])])
def test_formulas_of_complex_numbers_keep_their_conjugates(z):
    z = mg.tensor(z, requires_grad=True)
    with mg.record() as trace:
        mg.real((z * z).sum()).backward()
    sent = [step.formula.text for step in trace.steps if step.rule.startswith("multiply")]
    assert sent == ["contribution = upstream · conj(z)"] * 2


def test_another_record_of_a_program_writes_no_formula_again(monkeypatch):
    written = []
    x, y = leaf([1.0, -2.0]), leaf([3.0, 0.5])

    def record():
        with mg.record() as trace:
            (mg.tanh(x) / y).sum().backward()
        return [rule.text for rule in trace.rules.values()]

    first, formula_of_rule = record(), trace_formulas.formula_of_rule

    def note(run, index):
        written.append(run.rule)
        return formula_of_rule(run, index)

    monkeypatch.setattr(trace_formulas, "formula_of_rule", note)
    assert record() == first
    assert written == []


def test_an_operand_that_numpy_computed_is_called_by_its_expression():
    y, a = np.array([0.0, 1.0, 1.0]), leaf([0.5, 0.25, 0.75])
    with mg.record() as trace:
        loss = (y * mg.log(a) + (1 - y) * a).sum() + (y / np.linalg.norm(y) / np.linalg.norm(1 - y) * a).sum()
        loss.backward()
    titles = [node.title for node in trace.nodes if node.kind == "leaf"]
    assert titles == ["a", "y", "1 - y", "y / … / np.linalg.norm(…)"]
    assert {"upstream · (1 - y)", "upstream · (y / … / np.linalg.norm(…))"} <= {*formulas(trace).values()}
