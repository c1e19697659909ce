"""Exercises on walks, and the walk of a wrong answer."""

import os
import re

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.core.define import operations
from micrograd_plus.exercises import authoring, student_key

ALL = exercises.list_exercises()
EACH = [pytest.param(each, id=each.id) for each in ALL]


# Walks ----------------------------------------------------------------------------------------------------------------


def test_gradients_by_hand_count_up_to_the_first_wrong_one():
    exercise = exercises.get_exercise("diamond.gradients")

    def wrong_in_the_middle(a, b, s, p):
        return {"p": s, "s": p, "a": p, "b": p + s * a}

    result = exercises.check(exercise, wrong_in_the_middle).result
    reached = [part["points"] > 0 for part in result.parts]
    assert [part["name"] for part in result.parts] == ["p", "s", "a", "b"]
    assert reached == [True, True, False, False]
    assert result.first_wrong.answer == "a"
    assert result.mistake.title == "a path is forgotten: what `multiply.a` sends to `a` in step 3"
    assert result.parts[3]["reason"] == "not reached: an earlier part is wrong"


def test_gradients_count_although_others_are_missing():
    result = exercises.check("diamond.gradients", lambda s, p: {"p": s, "s": p, "a": None}).result
    assert [part["points"] for part in result.parts] == [1, 3, 0, 0]
    assert result.parts[2]["reason"] == "there is nothing yet under 'a'"


def test_the_three_hints_of_a_mistake_differ():
    for exercise in ALL:
        for mistake in exercise.mistakes:
            assert len(set(mistake.hints)) == 3, (exercise.id, mistake.title)
            assert all(len(each.split()) >= 4 for each in mistake.hints), (exercise.id, mistake.title)


@pytest.mark.parametrize("exercise", [each for each in EACH if each.values[0].kind == "gradients"])
def test_the_first_changed_gradient_is_the_first_wrong_one(exercise):
    names = [part.name for part in exercise.parts]
    for mistake in exercise.mistakes:
        cases, result = authoring.try_answer(exercise, mistake.wrong_answer, 5)
        right = exercise.run(exercise.right, cases[0].request)["values"]
        wrong = exercise.run(mistake.wrong_answer, cases[0].request)["values"]
        first = next(name for name in names if not np.allclose(right[name], wrong[name]))
        assert result.first_wrong.answer == first


@pytest.mark.parametrize("exercise", [each for each in EACH if each.values[0].kind == "wrong rule"])
def test_the_wrong_rule_is_at_the_first_step_that_differs(exercise):
    for number in (4, 5):
        place = mg.tracing.compare(exercise.show_right(number), exercise.show(number)).difference.step_b
        assert exercises.check(exercise, place + 1, seed=number).right
        assert not exercises.check(exercise, place + 2, seed=number).right
        assert not exercises.check(exercise, None, seed=number).right
        assert mg.tracing.compare(exercise.show(number), exercise.show(number)).same


@pytest.mark.parametrize("exercise", [each for each in EACH if each.values[0].kind == "wrong rule"])
def test_few_walks_have_their_wrong_rule_at_the_same_step(exercise):
    steps = [right_step(exercise, number) for number in range(40)]
    assert max(map(steps.count, steps)) <= len(steps) // 3


def right_step(exercise, number):
    """Return the right answer for the walk of a number."""
    return float(exercise.run(exercise.right, exercise.cases(number)[0].request)["values"]["the answer"])


def test_identify_selects_the_students_own_walk(capsys):
    exercise = exercises.get_exercise("means.find")
    try:
        assert str(exercises.identify("5f0c", " A17 ")) == "These are the walks of A17."
        number = student_key.walk_number("5f0c", "a17", "means.find")
        assert mg.tracing.compare(exercise.show(), exercise.show(number)).same
        for reply in (exercises.check("means.find", 3), exercises.check("means.find", 3, seed=number)):
            assert not reply
            assert reply.result.points == 0
            assert "checked when your work is marked, not here" in " ".join(reply.text.split())
            assert "Practise on another walk" in reply.hint()
            assert mg.tracing.compare(reply.walk(), exercise.show(number)).same
        assert exercises.score("means.find", int(right_step(exercise, number))) == 0
        assert "checked when your work is marked" in " ".join(capsys.readouterr().out.split())
        assert exercises.check("means.find", int(right_step(exercise, 7)), seed=7)
        assert "walk number 7" in " ".join(exercises.check("means.find", 99, seed=7).text.split())
        assert exercises.identify("5f0c", "YOUR ID").startswith("Write your own id instead of YOUR ID")
        assert mg.tracing.compare(exercise.show(), exercise.show(student_key.SHARED_WALK)).same
    finally:
        student_key._student.clear()
    others = [("5f0c", "a17", "curves.find"), ("5f0d", "a17", "means.find"), ("5f0c", "a18", "means.find"),
              ("5f0c", "a17", "means.find", 2)]  # fmt: skip
    assert len({number, *(student_key.walk_number(*each) for each in others)}) == 5
    assert "secret" not in student_key.derive_key("secret")
    assert student_key.derive_key("secret") != student_key.derive_key("secres")


# Walks of answers -----------------------------------------------------------------------------------------------------


def by_names(exercise, wrong_answer):
    """Return one of our own wrong answers as a function with the parameters of a student's."""
    if not getattr(wrong_answer, "takes_all_values", False):
        return wrong_answer
    reads = [name for name in exercise.reads if name != "xp"]
    values = ", ".join(f"{name}={name}" for name in reads)
    made = {"wrong": wrong_answer}
    exec(f"def student({', '.join(['xp', *reads])}):\n    return wrong(dict({values}), xp)", made)  # noqa: S102 - our own text
    return made["student"]


WITHOUT_WALK = {f"engine.{name}{form}" for form in ("", ".lines", ".gaps")
                for name in ("momentum", "adam", "differences", "compare", "order")}  # fmt: skip
"""Exercises whose answers are no gradients of a program, or in which a wrong order is too long to show."""
WITHOUT_WALK |= {each.id for each in ALL if each.kind == "patient"}


def test_almost_every_wrong_answer_has_a_walk_of_5_to_12_steps():
    lengths, without = [], set()
    for exercise in ALL[:: 1 if os.environ.get("MICROGRAD_PLUS_DRAWS") else 3]:
        for mistake in exercise.mistakes[:2]:
            answer = by_names(exercise, mistake.wrong_answer)
            trace = exercises.check(exercise, answer, seed=7).shown_walk
            if trace is None:
                without.add(exercise.id)
            elif trace.walks and trace.walks[-1].error is None:
                lengths.append(len(trace.steps))
    assert without <= WITHOUT_WALK
    assert len(lengths) > 20
    assert max(lengths) <= 20
    assert np.mean([5 <= each <= 12 for each in lengths]) > 0.7


def test_the_walk_of_a_rule_marks_the_wrong_entries():
    def wrong(upstream, out, axis):
        sent = upstream * out
        sent = sent - out * np.sum(sent, axis=axis, keepdims=True)
        sent[0] = 2 * sent[0]
        return sent

    reply = exercises.check("softmax.x", wrong)
    trace = reply.walk()
    assert [step.rule for step in trace] == ["sum.x", "multiply.a", "softmax.x", "add.a", "add.b"]
    assert trace.opens_at == 3
    mark = trace.marks[2]
    sent = trace.steps[2].contribution
    assert mark["word"] == "contribution"
    assert mark["wrong"] == list(range(sent[0].size))
    assert np.allclose(mark["right"][1:], sent[1:])
    assert np.allclose(mark["right"][0] * 2, sent[0])
    assert mark["say"] == f"Your rule sends this to x. {sent[0].size} of {sent.size} entries are wrong."
    assert "sent[0] = 2 * sent[0]" in trace.rules["softmax.x"].source
    given = reply.inputs()
    assert np.allclose(trace.steps[2].upstream, given["upstream"])
    assert str(trace.nodes[2].site.text) == "out = softmax(x)" or "softmax" in str([n.site for n in trace.nodes])
    assert operations["softmax"].rules[0].function is not wrong


def test_an_exercise_can_keep_its_right_numbers_out_of_the_walk(monkeypatch):
    monkeypatch.setattr(exercises.get_exercise("tanh.x"), "shows_right", False)
    mark = exercises.check("tanh.x", lambda out: 1 - out).walk().marks[2]
    assert mark["wrong"]
    assert mark["right"] is None


def test_a_wrong_shape_is_the_last_step_with_both_shapes():
    trace = exercises.check("sum.x", lambda upstream: upstream).walk()
    assert "returned shape (), but the input x of sum has shape (2, 3)" in trace.walks[-1].error.text
    assert trace.opens_at == len(trace.steps) + 1
    trace = exercises.check("add.b.whole", lambda upstream: np.outer(upstream, upstream)).walk()
    assert re.search(r"your rule returned shape \(.*\) for b, which has shape \(", trace.walks[-1].error.text)


def test_a_rule_that_raises_ends_its_walk_there():
    trace = exercises.check("softmax.x", lambda upstream: upstream / [])
    assert "could not be broadcast" in trace.walk().walks[-1].error.text


def test_gradients_by_hand_stand_in_the_walk_of_their_program():
    trace = exercises.check("diamond.gradients", lambda a, b, s, p: {"p": s, "s": p, "a": b * s, "b": p + a * s}).walk()
    assert [step.rule for step in trace] == [
        "multiply.a", "multiply.b", "multiply.a", "multiply.b", "add.a", "add.b"]  # fmt: skip
    step = trace.steps[trace.opens_at - 1]
    assert trace.nodes[step.target].label == "a"
    assert step.after == pytest.approx(step.before)
    assert trace.marks[step.index]["say"] == "Your gradient of a is wrong."
    assert step.contribution == pytest.approx(0)  # with the student's numbers, the other path sends nothing
    assert float(trace.marks[step.index]["right"]) != pytest.approx(float(step.before))
    assert trace.marks[step.index + 1]["say"] == "Your gradient of b is right."


def test_a_prediction_stands_at_its_step():
    trace = exercises.check("twice.predict", lambda w, x: w * x).walk()
    assert trace.opens_at == 3
    assert trace.marks[2]["word"] == "after"


def test_a_training_loop_shows_the_gradient_that_was_not_cleared():
    def train(weight, backward, rate, steps):
        gradient = np.zeros_like(weight)
        for _ in range(steps):
            weight = weight - rate * backward(weight, gradient)
        return weight

    trace = exercises.check("engine.training", train).walk()
    assert len(trace.walks) == 2
    assert "weight_2" in {node.label for node in trace.nodes}
    assert trace.nodes[trace.steps[trace.opens_at - 1].target].label == "weight_2"
    assert trace.marks[len(trace.steps) - 1]["say"] == "3 of 3 entries of your gradient of weight_2 are wrong."

    def uphill(weight, backward, rate, steps):
        for _ in range(steps):
            weight = weight + rate * backward(weight, np.zeros_like(weight))
        return weight

    trace = exercises.check("engine.training", uphill).walk()
    assert trace.marks[trace.opens_at - 1]["say"] == (
        "Your loop computes gradient 2 at other weights: look at the update.")  # fmt: skip


def test_a_class_of_numbers_shows_its_gradients_in_the_walk():
    wrong = next(each for each in exercises.get_exercise("engine.value").mistakes if each.id == "M1").wrong_answer
    trace = exercises.check("engine.value", wrong).walk()
    marks = [mark for mark in trace.marks.values() if mark["wrong"]]
    assert marks
    assert trace.marks[trace.opens_at - 1] is marks[0] or trace.marks[trace.opens_at - 1]["wrong"]


def test_a_neuron_without_a_graph_is_shown_as_the_student_wrote_it():
    def neuron(weights, inputs, bias):
        total = bias
        for weight, each in zip(weights, inputs, strict=True):
            total = total + weight.data * each
        return total.tanh()

    trace = exercises.check("engine.neuron", neuron).walk()
    assert "The graph does not contain weights0, weights1, weights2." in [m["say"] for m in trace.marks.values()]
    assert any("total = total + weight.data * each" in str(node.site) for node in trace.nodes)


def test_an_exercise_without_a_walk_says_so():
    exercises.check("engine.adam", lambda parameter: parameter)
    assert "There is no walk: an answer to engine.adam is no gradient" in exercises.walk()
    exercises.check("tanh.x", lambda z: z)
    assert "There is no walk yet: your function has a parameter 'z'" in exercises.walk()


def test_the_inputs_of_the_failing_call_can_be_had():
    def wrong(upstream, out, axis):
        return upstream * out

    exercises.check("softmax.x", wrong)
    given = exercises.inputs()
    assert given.keys() == {"upstream", "out", "x", "axis", "x_shape"}
    given["out"][:] = 0
    assert exercises.inputs("softmax.x")["out"].any()
    with pytest.raises(LookupError, match=r"there was no try of nothing yet"):
        exercises.inputs("nothing")


def test_print_speaks_once_for_each_call_with_a_label(capsys):
    def wrong(out):
        print("out has shape", out.shape)  # noqa: T201 - what a student prints is tested
        return out

    reply = exercises.check("tanh.x", wrong)
    reply.walk()
    said = capsys.readouterr().out
    assert said.count("out has shape") == said.count("[when ") == 3
    assert said.startswith("[when tanh is called on (2, 3)]\nout has shape (2, 3)\n")
    assert f"[{len(reply.printed) - 3} more calls printed something; see" in said
    assert all(text.startswith("out has shape") for _, text in reply.printed)
