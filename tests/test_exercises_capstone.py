"""Capstone: rules of students in the engine, a network trained with them, and the data that comes along."""

import os

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import datasets, exercises
from micrograd_plus.exercises import notebook


def right_tanh(out):
    """Return the local derivative of tanh."""
    return 1 - out * out


def slope_of_tanh(x=0.5):
    """Return the gradient that the engine computes for tanh."""
    leaf = mg.tensor(x, requires_grad=True)
    mg.tanh(leaf).backward()
    return float(leaf.grad)


@pytest.mark.needs("sklearn")
def test_digits_and_irises_equal_those_of_scikit_learn():
    from sklearn import datasets as known

    images, labels = datasets.load_digits()
    theirs = known.load_digits()
    assert np.array_equal(images, theirs.images)
    assert np.array_equal(labels, theirs.target)
    measurements, kinds = datasets.load_iris()
    theirs = known.load_iris()
    assert np.array_equal(measurements, theirs.data)
    assert np.array_equal(kinds, theirs.target)
    assert tuple(theirs.target_names) == datasets.KINDS
    assert os.path.getsize(datasets.loading.FILE) <= 46 << 10  # noqa: PTH202 - one number


def test_digits_can_be_changed_without_changing_the_next():
    images, labels = datasets.load_digits()
    images[:], labels[:] = 0, 0
    assert datasets.load_digits().images.any()
    assert datasets.load_digits().labels.any()


def test_a_plugged_rule_is_used_and_the_right_one_returns():
    before = mg.tanh.op.rules[0].function
    with exercises.plugged({"tanh.x": lambda x: 5 + 0 * x}):
        assert slope_of_tanh() == 5
    assert slope_of_tanh() == pytest.approx(1 - np.tanh(0.5) ** 2)
    assert mg.tanh.op.rules[0].function is before


def test_the_right_rules_return_after_an_error():
    rules = {"tanh.x": lambda x: 5 + 0 * x, "exp.x": lambda x: 1 / 0}
    leaf = mg.tensor(0.5, requires_grad=True)
    with pytest.raises(ZeroDivisionError), exercises.plugged(rules):
        mg.exp(leaf).backward()
    assert slope_of_tanh() == pytest.approx(1 - np.tanh(0.5) ** 2)
    with pytest.raises(TypeError, match="matmul"):
        exercises.plugged({"tanh.x": lambda x: 5 + 0 * x, "matmul.b": lambda b: b}).__enter__()
    assert slope_of_tanh() == pytest.approx(1 - np.tanh(0.5) ** 2)


def test_a_block_of_plugged_rules_does_not_nest_in_itself():
    mine = exercises.plugged({"tanh.x": right_tanh})
    with mine, pytest.raises(RuntimeError, match="plugged in already"):
        mine.__enter__()


def test_right_rules_train_the_digits_as_the_engine_does():
    training = exercises.plugged({"tanh.x": right_tanh, "matmul.b": lambda a, upstream: a.T @ upstream}).train(3)
    assert training.verdict == "Your rules train exactly as the engine's own do."
    assert training.mine.epochs[-1].accuracy > 0.85
    assert training.mine.epochs[0].loss > 2 * training.mine.epochs[-1].loss
    assert training.mine.calls == {"tanh.x": 81, "matmul.b": 162}
    assert "tanh.x 81 times, matmul.b 162 times" in " ".join(repr(training).split())


def test_a_wrong_rule_can_be_watched_while_it_trains():
    training = exercises.plugged({"mean_class_cross_entropy.logits": lambda logits: 0 * logits + 0.01}).train(2)
    assert training.mine.epochs[-1].accuracy < 0.3 < training.right.epochs[-1].accuracy
    assert training.verdict.startswith("With your rules the network reads")
    page = training._repr_mimebundle_()["text/html"]
    assert page.count("<path") == 2 * 5
    assert 'aria-label="Loss and accuracy of 2 epochs. With your rules the network reads' in page


def test_a_wrong_rule_that_trains_all_the_same_is_not_called_right():
    training = exercises.plugged({"tanh.x": lambda out: 1.05 * (1 - out * out)}).train(3)
    assert "a falling loss does not prove a rule" in training.verdict


def test_a_rule_that_fails_stops_its_own_run():
    training = exercises.plugged({"matmul.b": lambda upstream: upstream}).train(2)
    assert training.mine.epochs == []
    assert len(training.right.epochs) == 2
    assert "Your run stopped: RuntimeError: the rule matmul.b returned shape (50, 10)" in training.verdict
    assert "stopped" in training.table()[1]
    assert "<svg" in training.picture()


def test_the_network_uses_the_activation_and_loss_of_the_rules():
    rules = {"relu.x": lambda x: 1.0 * (x > 0), "log_softmax.x": lambda upstream: upstream}
    training = exercises.plugged(rules).train(1)
    assert training.network == ("relu", "plain", "log_softmax")
    assert min(training.mine.calls.values()) > 0
    unused = exercises.plugged({"conv2d.x": lambda upstream: upstream}).train(1)
    assert unused.verdict == "This network does not use conv2d.x, so both runs are the same."


def test_a_checked_answer_is_plugged_in_by_its_id(monkeypatch):
    monkeypatch.setattr(notebook, "_replies", {})
    exercises.check("tanh.x", lambda out: 1 - out)
    with pytest.raises(ValueError, match=r"tanh\.x: your last answer is not right yet\. To watch a wrong rule train"):
        exercises.plugged("tanh.x")
    exercises.check("tanh.x", right_tanh)
    assert exercises.plugged("tanh.x").functions["tanh.x"][0][1].__wrapped__ is right_tanh
    assert "tanh.x" in exercises.plugged().exercises
    with pytest.raises(LookupError, match="no try of sigmoid"):
        exercises.plugged("sigmoid.x")


@pytest.mark.parametrize(("rules", "error", "sentence"), [
    ({"engine.order": len}, ValueError, r"engine\.order asks for no rule of the engine"),
    ({"relu.x.whole": right_tanh}, ValueError, r"relu\.x\.whole cannot be plugged in: it multiplies by upstream"),
    ({"tanh.x": 3}, TypeError, r"tanh\.x: the rule must be a function, got an object of type int"),
    ({"tanhh.x": right_tanh}, KeyError, "there is no exercise"),
])  # fmt: skip
def test_what_cannot_be_plugged_in_gets_a_sentence(rules, error, sentence):
    with pytest.raises(error, match=sentence):
        exercises.plugged(rules)
