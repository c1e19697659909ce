"""Questions about a walk: guesses, quizzes and cards."""

import sys

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.exercises import question, sandboxed


@pytest.fixture
def trace():
    """Return a walk in which w is used twice."""
    x, w = mg.tensor(3.0, requires_grad=True), mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = mg.tanh(w * x * 0.1) + w
        y.backward()
    return trace


def test_a_guess_is_compared_to_its_written_digits(trace):
    slope = 1 - np.tanh(0.6) ** 2
    assert exercises.ask(trace, "w", 1 + slope * 0.3)
    assert exercises.ask(trace, "w", round(1 + slope * 0.3, 3))
    assert not exercises.ask(trace, "w", 1.3)
    assert exercises.ask(trace, (1, "upstream"), 1)


@pytest.mark.parametrize(("what", "answer", "row"), [
    ("w", lambda slope: slope * 0.3, "M1"),
    ("w", lambda slope: 1 + (1 - 0.36) * 0.3, "M20"),
    ((3, "contribution"), lambda slope: 1 - 0.36, "M20"),
    (3, lambda slope: 1.0, "passed on"),
])  # fmt: skip
def test_a_wrong_guess_is_explained_by_a_repeated_walk(trace, what, answer, row):
    guess = exercises.ask(trace, what, answer(1 - np.tanh(0.6) ** 2))
    assert not guess
    assert guess.mistake.id == row
    assert exercises.hint().startswith("Hint 1 of 3")


def test_a_guess_without_the_order_of_the_walk_gets_its_name():
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as diamond:
        c, d = a + b, a * b
        e, f = c + d, c * d
        y = e + f
        y.backward()
    assert exercises.ask(diamond, "a", 25)
    gradients = mg.tracing.replay(diamond, "no order").gradients
    wrong = next(value.item() for node, value in gradients.items() if diamond.nodes[node].label == "a")
    assert wrong != 25
    assert exercises.ask(diamond, "a", wrong).mistake.id == "M3"
    assert exercises.ask(diamond, "a", 26).mistake is None


def test_a_guess_about_an_array_is_explained_by_its_rule():
    x = mg.tensor([[1.0, -2.0, 0.5]], requires_grad=True)
    with mg.record() as trace:
        p = mg.softmax(x)
        y = (p * np.array([[1.0, 2.0, 4.0]])).sum()
        y.backward()
    weights = p.numpy()
    guess = exercises.ask(trace, "x", np.array([[1.0, 2.0, 4.0]]) * weights * (1 - weights))
    assert guess.mistake.id == "M54"


def test_a_guess_of_another_shape_gets_both_shapes(trace):
    assert "has shape (), and your answer has shape (2,)" in repr(exercises.ask(trace, "w", [1.0, 2.0]))


def test_an_impossible_question_raises(trace):
    with pytest.raises(IndexError, match="the walk has"):
        exercises.ask(trace, 99, 1.0)
    with pytest.raises(KeyError, match="choose from w, x"):
        exercises.ask(trace, "v", 1.0)
    with pytest.raises(ValueError, match="must be one of contribution, after"):
        exercises.ask(trace, (1, "grade"), 1.0)


@pytest.mark.parametrize(("answer", "sentence"), [
    ("seven", "must be a real number"), (2j, "got a complex number"), (float("nan"), "must be finite"),
    ([[1], [1, 2]], "must be a real number"),
])  # fmt: skip
def test_a_guess_that_is_no_number_gets_a_sentence(trace, answer, sentence):
    with pytest.raises(ValueError, match=sentence):
        exercises.ask(trace, "w", answer)


def test_steps_of_a_guess_count_from_1(trace):
    with pytest.raises(IndexError, match="steps 1 to"):
        exercises.ask(trace, 0, 1.0)


def test_a_guess_that_forgets_a_path_gets_its_name():
    a = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = a * 3.0 + a * 5.0 + a * 11.0
        y.backward()
    assert exercises.ask(trace, "a", 14).mistake.id == "path"


def diamond():
    """Return the walk of the first graph of the course, on 2 and 3."""
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        c, d = a + b, a * b
        e, f = c + d, c * d
        y = e + f
        y.backward()
    return trace


@pytest.mark.parametrize(("what", "right"), [
    ("c", 7), ("y", 1), (("d", "value"), 6), (("a", "gradient"), 25), ((9, "before"), 18), ((7, "upstream"), 6),
])  # fmt: skip
def test_any_value_of_a_walk_can_be_asked(what, right):
    assert exercises.ask(diamond(), what, right)
    assert not exercises.ask(diamond(), what, right + 2)


@pytest.mark.parametrize(("what", "answer", "row"), [
    ("a", 29, "M3"), ("b", 22, "M3"), ("c", 6, "path"), ("c", 3.5, "path average"), (7, 12, "M14"),
])  # fmt: skip
def test_mistakes_of_the_diamond_get_their_names(what, answer, row):
    assert exercises.ask(diamond(), what, answer).mistake.id == row


def test_a_mistake_at_both_operands_gets_its_name():
    x, z = mg.tensor(3.0, requires_grad=True), mg.tensor(5.0, requires_grad=True)
    with mg.record() as trace:
        y = x * z + z * x
        y.backward()
    assert exercises.ask(trace, "x", 6).mistake.id == "M14"


def test_a_mean_along_repeated_axes_gets_its_name():
    x, b = mg.tensor(np.ones((2, 3)), requires_grad=True), mg.tensor(np.ones(3), requires_grad=True)
    with mg.record() as trace:
        y = ((x + b) * np.arange(6.0).reshape(2, 3)).sum()
        y.backward()
    assert exercises.ask(trace, "b", [1.5, 2.5, 3.5]).mistake.id == "M28"
    assert exercises.ask(trace, 4, [1.5, 2.5, 3.5]).mistake.id == "M28"


def test_dots_show_the_card_of_a_question():
    card = exercises.ask(diamond(), 7, ...)
    assert not card
    assert repr(card) == "Step 7: multiply.a sends to a. upstream = 6; b = 3. What is the contribution?"
    assert "Answer first" in exercises.hint()
    assert repr(exercises.ask(diamond(), "a")) == "What is the gradient of a?"
    assert "before = 18" in repr(exercises.ask(diamond(), (9, "after")))


def test_the_search_for_a_mistake_tries_a_limited_number_of_walks(monkeypatch):
    w, x = mg.tensor(np.eye(4), requires_grad=True), mg.tensor(np.ones(4), requires_grad=True)
    with mg.record() as trace:
        h = x
        for _ in range(46):
            h = mg.tanh(w @ h + x * 0.1)
        h.sum().backward()
    assert len(trace.nodes) >= 320
    walks = []
    monkeypatch.setattr(question, "replay", lambda *each, again=question.replay: walks.append(1) or again(*each))
    assert exercises.ask(trace, "x", np.full(4, 0.123)).mistake is None
    assert len(walks) <= len(question.REPLAYS) + question.MOST_RULES * question.MOST_MISTAKES
    walks.clear()
    assert exercises.ask(trace, 200, np.full(4, 0.123)).mistake is None
    assert len(walks) <= len(question.REPLAYS) + question.MOST_MISTAKES


def test_a_quiz_asks_one_question_after_the_other():
    quiz = exercises.quiz(diamond())
    assert repr(quiz).startswith("Question 1 of 5. Step 1: add.a sends to e. upstream = 1. What is the contribution?")
    assert quiz.answer(1)
    assert not quiz.answer(99)
    assert "no known mistake" in quiz.hint()
    while not quiz.is_over:
        assert quiz.answer(quiz.questions[quiz.place].right)
    assert repr(quiz) == "The quiz is over: 4 of 5 right at the first try."
    with pytest.raises(LookupError, match="the quiz is over"):
        quiz.answer(1)


def test_questions_are_cards_where_the_player_is_imported(monkeypatch):
    asked = exercises.ask(diamond(), "b", say="What does b hold?", why="Two roads.")
    quiz = exercises.quiz(diamond(), ("multiply", "b"), say="And now?", why="Two roads.")
    monkeypatch.setitem(sys.modules, "micrograd_plus_viz", None)
    assert asked._repr_mimebundle_() == {"text/plain": "What does b hold?"}
    assert quiz._mime_() == ("text/plain", repr(quiz))
    assert "And now?" in repr(quiz)
    assert repr(exercises.ask(diamond(), "b", 19, why="Two roads.")) == "Right: that is the gradient of b. Two roads."
    monkeypatch.undo()
    viz = pytest.importorskip("micrograd_plus_viz")
    same = viz.quiz(diamond(), "b", "gradient", say="What does b hold?", why="Two roads.",
                    candidates=exercises.candidates(diamond(), asked.question.step_of_card))  # fmt: skip
    assert asked.make_card(viz).data == same.data
    assert asked._repr_mimebundle_()["text/plain"] == "What does b hold?"
    for each in (asked, quiz, exercises.quiz(diamond()), exercises.ask(diamond(), 7), exercises.ask(diamond(), "y")):
        assert each._repr_mimebundle_()["text/html"].startswith("<div data-mgp=")
        assert each._mime_()[0] == "text/html"


def test_a_question_about_one_entry_takes_a_number():
    x = mg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    with mg.record() as trace:
        y = (x * x).sum()
        y.backward()
    assert "at entry [2]" in repr(exercises.ask(trace, "x", entry=2))
    assert exercises.ask(trace, "x", 8, entry=2)
    assert exercises.ask(trace, "x", 4, entry=2).mistake.id == "M1"
    assert exercises.quiz(trace, "x", entry=2).answer(8)
    with pytest.raises(IndexError, match=r"has shape \(3,\), so entry \[3\] does not exist"):
        exercises.ask(trace, "x", entry=3)
    with pytest.raises(KeyError, match="reaches 'z'"):
        exercises.quiz(trace, "z")
    with pytest.raises(ValueError, match="about one question"):
        exercises.quiz(trace, [1, 2], say="What now?")


def test_a_quiz_about_chosen_steps_explains_a_wrong_answer():
    quiz = exercises.quiz(diamond(), [9, 10])
    assert len(quiz) == 2
    assert "What has arrived there after it?" in repr(quiz)
    assert quiz.answer(7).mistake.id == "M1"
    assert quiz.hint().startswith("Hint 1 of 3")
    assert repr(quiz.skip()).startswith("Question 2 of 2")
    assert {each["step"] for each in quiz.candidates()} == {9, 10}
    with pytest.raises(IndexError, match="steps 1 to 10"):
        exercises.quiz(diamond(), 11)


def test_an_answer_with_hostile_attributes_gets_its_own_error():
    def loop(out):
        raise RuntimeError("mine")

    loop.__wrapped__ = loop

    class Hostile:
        def __call__(self, out):
            raise RuntimeError("mine")

        @property
        def __wrapped__(self):
            raise OSError("not yours")

    for answer in (loop, Hostile()):
        outcome = sandboxed.carry_out(answer, exercises.get_exercise("tanh.x").cases(1)[0].request)
        assert outcome["error"]["message"] == "mine" or outcome["error"]["kind"] == "OSError"
