"""Random draws: the same from the same state, and with the right frequencies."""

import numpy as np
import pytest

import micrograd_plus as mg


@pytest.fixture
def draw():
    return np.random.default_rng(5)


def test_draws_come_back_with_the_state_of_the_generator():
    state = mg.random.state()
    first = [
        mg.random.normal(size=(2, 2)),
        mg.random.uniform(size=3),
        mg.random.permutation(5),
        mg.random.integers(9, size=4),
    ]
    mg.random.set_state(state)
    again = [
        mg.random.normal(size=(2, 2)),
        mg.random.uniform(size=3),
        mg.random.permutation(5),
        mg.random.integers(9, size=4),
    ]
    assert [each.tolist() for each in first] == [each.tolist() for each in again]


def test_classes_are_drawn_with_the_probabilities_of_their_softmax(draw):
    scores = np.tile([0.0, np.log(3.0), -np.inf], (4000, 1))
    drawn = mg.random.categorical(mg.tensor(scores), rng=draw).numpy()
    assert np.bincount(drawn, minlength=3) / 4000 == pytest.approx([0.25, 0.75, 0.0], abs=0.03)
    with pytest.raises(ValueError, match="nothing to draw"):
        mg.random.categorical([-np.inf, -np.inf])
    with pytest.raises(TypeError, match="rng must be a generator"):
        mg.random.normal(rng=3)


def test_a_choice_without_replacement_has_no_entry_twice(draw):
    assert sorted(mg.random.choice(6, 6, replace=False, rng=draw).tolist()) == [0, 1, 2, 3, 4, 5]
    assert set(mg.random.choice([3.0, 7.0], 50, p=[0.0, 1.0], rng=draw).tolist()) == {7.0}


@pytest.mark.parametrize("state", [{}, 3, {"seed": 1}])
def test_set_state_accepts_only_a_result_of_state(state):
    before = mg.random.state()
    with pytest.raises(ValueError, match=r"set_state.*a state is what random.state\(\) returned"):
        mg.random.set_state(state)
    assert mg.random.state() == before


@pytest.mark.parametrize("of", [mg.random.permutation, mg.random.choice])
def test_permutation_and_choice_reject_floats(of):
    with pytest.raises(TypeError, match=r"(permutation|choice).*a whole number, or have an axis .*; got 2.5"):
        of(2.5)
