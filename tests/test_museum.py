"""The museum of wrong rules: checks catch every exhibit by its promise, and the exhibit leaves no trace.

The checks would prove nothing about the rules that pass them if they could not tell these apart.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.checks import museum, promises as check
from micrograd_plus.checks.museum.evidence import difference, equal
from micrograd_plus.core.define import operations
from micrograd_plus.engine import Value

DOCS = Path(__file__).resolve().parent.parent / "docs"
EXHIBITS = [pytest.param(each, id=each.title) for each in museum.exhibits]
LAZY = [pytest.param(each, id=each.title) for each in museum.exhibits if each.lazy is not None]


@np.errstate(all="ignore")
def complaints(exhibit):
    """Return the failures of the samples under the promise that the exhibit names."""
    messages = []
    for sample in exhibit.samples:
        if exhibit.promise not in sample.excused:
            try:
                check.promises[exhibit.promise](sample)
            except Exception as error:  # noqa: BLE001 - a wrong rule may raise anything
                messages.append(str(error))
    return messages


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_a_planted_rule_breaks_its_promise_until_it_is_removed(exhibit):
    with museum.replaced_rules(exhibit):
        messages = complaints(exhibit)
    assert messages
    assert any(exhibit.samples[0].op.name in sentence for sentence in messages), "the check names what it checked"
    assert not complaints(exhibit)


@pytest.mark.parametrize("exhibit", [each for each in EXHIBITS if each.values[0].promise == museum.SECOND])
def test_a_rule_wrong_in_second_order_keeps_the_first_promise(exhibit):
    with museum.replaced_rules(exhibit):
        assert "the gradient equals differences" not in check.broken_promises(exhibit.op)


def received_gradient(exhibit):
    """Return the gradients of the inputs with a right rule, on the exhibit's call."""
    sample = exhibit.lazy.sample(exhibit.op)
    leaves = [
        mg.tensor(value, requires_grad=value.dtype.kind == "f") if hasattr(value, "dtype") else value
        for value in sample.inputs
    ]
    out = check.run(sample, leaves)
    upstream = np.random.default_rng(0).normal(size=out.shape)
    if exhibit.lazy.upstream is not None:
        upstream = np.broadcast_to(exhibit.lazy.upstream, out.shape)
    out.backward(upstream)
    return [getattr(leaf, "grad", None) for leaf in leaves]


@pytest.mark.parametrize("exhibit", LAZY)
def test_on_its_lazy_call_the_wrong_rule_looks_right(exhibit):
    right = received_gradient(exhibit)
    with museum.replaced_rules(exhibit):
        wrong = received_gradient(exhibit)
    compared = [(a, b) for a, b in zip(right, wrong, strict=True) if a is not None]
    assert compared
    assert all(equal(a.numpy(), b.numpy()) for a, b in compared)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_evidence_shows_a_difference_or_an_error(exhibit):
    found = museum.evidence(exhibit)
    if found.wrong is None:
        assert "returned shape" in found.sentence or "cannot be applied: ValueError" in found.sentence
        assert exhibit.lazy is not None, "a rule that never fits anything is no exhibit"
    else:
        assert not equal(found.right, found.wrong)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_an_exhibit_explains_its_mistake_and_its_effect(exhibit):
    assert len(exhibit.story.split()) >= 10
    assert exhibit.story.endswith(".")
    assert museum.find_exhibit(exhibit.title) is exhibit


def test_the_mistakes_that_engines_shipped_are_all_here():
    titles = {each.title for each in museum.exhibits}
    assert titles >= {
        "layer_norm: normalisation passed through", "conv2d: passed through", "dropout: mask forgotten",
        "mean: axis of a mean not put back", "max: ties counted twice", "maximum: ties of a pair counted twice",
        "prod: divided by the factor", "two_checkpoints: cut between segments",
        "scaled_dot_product_attention: scale of attention forgotten", "soft_capped_attention: scale and cap forgotten",
        "conv2d: convolution without the weights term",
    }  # fmt: skip


def test_every_module_has_a_heading_and_exhibits_are_unique():
    assert {each.wing for each in museum.exhibits} == {wing.__name__ for wing in museum.WINGS.values()}
    titles = [each.title for each in museum.exhibits]
    assert len(titles) == len(set(titles))


# Nothing leaks -------------------------------------------------------------------------------------------------------


def rules_of_everything():
    return {name: [(rule.inputs, rule.function) for rule in op.rules] for name, op in operations.items()}


def test_showing_the_whole_museum_changes_no_rule_of_the_engine():
    before = rules_of_everything()
    for exhibit in museum.exhibits:
        with museum.replaced_rules(exhibit):
            assert rules_of_everything() != before or exhibit.op.name not in operations
    assert rules_of_everything() == before


def test_a_rule_is_restored_if_the_block_fails():
    before = rules_of_everything()
    exhibit = museum.find_exhibit("dropout: mask forgotten")
    with pytest.raises(ZeroDivisionError), museum.replaced_rules(exhibit):
        raise ZeroDivisionError
    assert rules_of_everything() == before


def test_rules_are_restored_when_planting_fails():
    @museum.wrong(mg.multiply, "a", lazy=None)
    def half_forbidden(b):
        return 2 * b

    museum.exhibits.remove(half_forbidden)
    half_forbidden.rule("b")(lambda upstream: upstream)
    before = rules_of_everything()
    with pytest.raises(TypeError, match=r"multiply\.b may not read 'upstream'"), museum.replaced_rules(half_forbidden):
        pass
    assert rules_of_everything() == before


def five_times(kind):
    """Return the gradient of 5 x at x = 3, by a class with micrograd's names."""
    x = kind(3.0)
    (x * 5.0).backward()
    return float(x.grad)


def leaf(number):
    return mg.tensor(number, requires_grad=True)


def test_a_planted_rule_runs_only_inside_its_block():
    with museum.replaced_rules(museum.find_exhibit("multiply: own factor")):
        during = five_times(leaf)
    assert (during, five_times(leaf), five_times(Value)) == (3.0, 5.0, 5.0)


def test_an_unknown_exhibit_is_named_with_its_neighbours():
    with pytest.raises(KeyError, match="no exhibit 'tanh: rule on the inputs'; did you mean 'tanh: rule on the input'"):
        museum.find_exhibit("tanh: rule on the inputs")


def test_the_exhibits_of_one_operation_are_found():
    assert {each.name for each in museum.of(mg.sort)} == {"not moved back"}


# Descriptions of differences -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "wrong", "sentence"), [
    ([1.0, 2.0], [[1.0, 2.0]], "the shape is (1, 2) for (2,)"),
    ([1.0, 2.0], [np.nan, 2.0], "1 of 2 entries are no numbers"),
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [2.0, 4.0]], "it is the transpose of the right one"),
    ([1.0, -2.0, 0.0], [-1.0, 2.0, 0.0], "every entry is −1 times the right one"),
    ([1.0, -2.0], [0.0, -2.0], "1 of 2 entries differ: 0 arrives where something is due"),
    ([1.0, 0.0], [1.0, 5.0], "1 of 2 entries differ: something arrives where 0 is due"),
    ([1.0, -4.0], [3.0, -4.0], "1 of 2 entries differ, by up to 0.5 times the largest right one"),
])  # fmt: skip
def test_a_difference_is_described_by_its_pattern(right, wrong, sentence):
    assert difference(np.array(right), np.array(wrong)) == sentence


# The page ------------------------------------------------------------------------------------------------------------


def test_the_page_of_the_museum_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_museum", DOCS / "make_museum.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "museum.md").read_text(encoding="utf-8") == module.page(), "run `make reference`"
