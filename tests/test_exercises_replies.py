"""Replies to a try: sentences, hints, points, and a student's code that cannot reach the right answer."""

# ruff: noqa: PLW0108 - rules are written as students write them

import re
import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.core.apply import Op
from micrograd_plus.core.rule import Rule
from micrograd_plus.exercises import compare, sandboxed
from micrograd_plus.exercises.texts import WIDEST, escape

ALL = exercises.list_exercises()


# Replies --------------------------------------------------------------------------------------------------------------


def test_shapes_come_before_values():
    reply = exercises.check("sum.x", lambda xp, upstream, x_shape: 3 * upstream)
    assert reply.result.first_wrong.kind == "shape"
    assert reply.result.mistake is not None


def test_a_reply_names_the_mistake_and_gives_three_hints():
    reply = exercises.check("softmax.x", lambda upstream, out: upstream * out * (1 - out))
    assert "This looks like a known mistake: entry by entry" in repr(reply)
    first, second, third = exercises.hint("softmax.x"), exercises.hint("softmax.x"), exercises.hint("softmax.x")
    assert [first[:11], second[:11], third[:11]] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"]
    assert "Raise one score" in first
    assert exercises.hint("softmax.x") == third
    assert "The docstring of the right rule says: " in third


def test_an_unknown_mistake_shows_the_first_wrong_call():
    reply = exercises.check("tanh.x", lambda x, out: 1 - out * out + 0.01 * x**3)
    assert "does not look like any known mistake" in repr(reply)
    assert "when tanh is called on (2, 3)" in reply.step
    assert exercises.hint().startswith("Hint 1 of 3: Try few numbers: x = [[0.9, -0.9, 1.7]")


def forward_difference(f, x, upstream, h):
    """Return half of a slope to one side."""
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream * (f(x + step) - f(x))) / (2 * h)
    return slope


def narrow(f, x, upstream, h):
    """Return twice a slope: the difference of both sides, divided by the step."""
    return 2 * forward_difference(f, x, upstream, h) + 2 * forward_difference(f, x, upstream, -h)


def sum_axes(x, shape):
    """Undo broadcasting, but lose axes of length 1."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, length in enumerate(shape) if length == 1 and x.shape[i] > 1))


def attend(xp, upstream, query, key, value, weights):
    """Return what each input receives, also the bias that is None."""
    to_weights = xp.matmul(upstream, xp.mT(value))
    sent = weights * (to_weights - xp.sum(to_weights * weights, axis=-1, keepdims=True))
    return xp.matmul(sent, key), xp.matmul(xp.mT(sent), query), xp.matmul(xp.mT(weights), upstream), sent


@pytest.mark.parametrize(("name", "answer", "title", "said"), [
    ("layer_norm.x", lambda upstream, weight, unit, scale:
        scale * (upstream if weight is None else upstream * weight) * (1 - unit * unit / unit.shape[-1]),
     "each entry by itself", "Which entries of the output change?"),
    ("engine.differences", forward_difference, "one side only", "both sides"),
    ("engine.differences", narrow, "distance between its two places", "how far apart"),
    ("engine.unbroadcast", sum_axes, "an axis of length 1 is dropped", "Compare the shapes"),
    ("engine.unbroadcast", lambda x, shape: sum_axes(x, shape).reshape((1, *shape)), "an axis of length 1 is at",
     "Where does only one of them have a 1?"),
    ("scaled_dot_product_attention.query+key+value+bias", attend, "another number of values", "Which values"),
])  # fmt: skip
def test_a_hint_says_what_an_answer_of_this_kind_misses(name, answer, title, said):
    reply = exercises.check(name, answer)
    assert title in reply.result.mistake.title
    assert said in reply.hint()


def ask_for_hints(name, answer):
    """Return the reply to an answer and its three hints, as one text."""
    reply = exercises.check(name, answer, seed=7)
    return reply, " ".join([*reply.text.split(), *(str(reply.hint()) for _ in range(3))])


def recur_without_broadcasting(xp, upstream, drive, weight, start, out, nonlinearity):
    """Return the rule of a recurrent network, which stops if `start` has fewer axes than a step."""
    slope = 1 - out**2 if nonlinearity == "tanh" else (out > 0) * 1.0
    later, to_drive, to_weight = np.zeros(upstream.shape[1:]), np.zeros(drive.shape), np.zeros(weight.shape)
    for time in reversed(range(len(drive))):
        to_drive[time] = (upstream[time] + later) * slope[time]
        before = out[time - 1] if time else start
        if before is not None:
            to_weight += xp.rows(to_drive[time]).T @ xp.rows(before)
        later = to_drive[time] @ weight
    return to_drive, to_weight, None if start is None else later


def test_one_error_on_one_call_is_no_evidence_for_an_edit():
    reply, text = ask_for_hints("rnn.drive+weight+start", recur_without_broadcasting)
    assert reply.result.mistake.title.startswith("shapes that do not fit")
    assert "numbers" not in text
    assert "(line 9 of your function)" in text


def test_a_change_that_stops_in_the_same_way_gives_no_numbers():
    _, text = ask_for_hints("matmul.a", lambda xp, upstream, b: xp.mT(b) @ upstream)
    assert "stops in the same way as yours" in text
    assert "exactly your numbers" not in text


@pytest.mark.parametrize(("name", "answer", "question"), [
    ("mse.prediction", lambda upstream, prediction, target:
        upstream * 2 * (prediction - target) / (len(prediction) if np.ndim(prediction) else 1),
     "you send by the one that is due, for two entries. In the call of the reply it is another number"),
    ("mean_class_cross_entropy.logits", lambda upstream, weights, classes:
        upstream * (weights - np.eye(weights.shape[-1])[classes]) / weights.size,
     "Divide the number that is due by the one that you send, for two entries. Which length or count"),
    ("maximum.a+b", lambda a, b: (np.where(a >= b, a, 0), np.where(b > a, b, 0)), "Which value of this call is the"),
    ("square.x", lambda x: x, ""), ("roll.x", lambda upstream, shift, axis: np.roll(upstream, shift, axis), ""),
])  # fmt: skip
def test_a_hint_asks_for_a_quotient_only_if_it_is_in_the_call(name, answer, question):
    _, text = ask_for_hints(name, answer)
    assert question in text
    assert ("Divide the number" in text) == bool(question)


def test_the_hint_for_a_gap_shows_its_line():
    def momentum_step(parameter, gradient, state, rate, momentum):
        velocity = momentum * state.get("velocity", 0.0) + gradient
        parameter = parameter - rate * velocity
        return parameter, {"velocity": gradient}

    _, text = ask_for_hints("engine.momentum.gaps", momentum_step)
    assert 'It is in this line of yours: `return parameter, {"velocity": gradient}`.' in text


@pytest.mark.parametrize(("name", "answer"), [
    ("power.base", lambda base, exponent: base**exponent * np.log(base)), ("clip.x", lambda out: out),
    ("sort.x", lambda upstream, x_shape: upstream.reshape(x_shape)),
])  # fmt: skip
def test_another_rule_as_a_whole_has_no_change_to_undo(name, answer):
    _, text = ask_for_hints(name, answer)
    assert "Undo" not in text
    assert text.endswith("?")


def test_an_entry_by_hand_is_one_that_moves_few_outputs():
    def answer(xp, upstream, weight, start):
        return upstream, xp.zeros_like(weight), None if start is None else start

    reply = exercises.check("rnn.drive+weight+start", answer)
    first, second = str(reply.hint()), str(reply.hint())
    assert "drive[3, " in first, first                 # the last time step moves one entry, an earlier one moves many
    due, sent = re.search(r"receive about (\S+); you send (\S+)\.", second).groups()
    assert due != sent


def test_a_mistake_without_a_last_hint_ends_with_an_entry_by_hand():
    reply = exercises.check("matmul.b", lambda xp, upstream, a: xp.matmul(xp.mT(upstream), a))
    assert reply.result.mistake.title == "order swapped"
    hints = [str(reply.hint()) for _ in range(3)]
    assert len(set(hints)) == 3
    assert not [hint for hint in hints if "The right rule reads" in hint]


def test_the_inputs_of_a_call_with_a_function_have_the_function():
    reply = exercises.check("engine.differences", forward_difference)
    inputs = reply.inputs()
    assert inputs["f"](inputs["x"]).shape == inputs["x"].shape
    assert "f = lambda x:" in exercises.check("engine.differences", lambda f, x, upstream, h: upstream * x).hint()


def test_a_notebook_with_a_player_shows_text_and_walk(monkeypatch):
    reply = exercises.check("softmax.x", lambda upstream, out: upstream * out * (1 - out))
    monkeypatch.setattr(mg.Trace, "_mimebundle", None)
    assert reply._repr_mimebundle_() == {"text/plain": reply.text}
    played = staticmethod(lambda trace: {"text/html": f"{len(trace.steps)} played"})
    monkeypatch.setattr(mg.Trace, "_mimebundle", played)
    assert opened_step(reply) == 3
    shown_by_it = reply._repr_mimebundle_()
    assert shown_by_it["text/plain"] == reply.text
    assert shown_by_it["text/html"].endswith("</pre>5 played")
    right = exercises.check("tanh.x", lambda out: 1 - out * out)
    assert right._repr_mimebundle_() == {"text/plain": right.text}


def opened_step(reply):
    """Return the step at which the notebook's player opens the walk of a reply."""
    bundle = mg.Trace.__dict__["_mimebundle"]
    seen = []
    try:
        mg.Trace._mimebundle = staticmethod(lambda trace: seen.append(trace.opens_at) or {})
        reply._repr_mimebundle_()
    finally:
        mg.Trace._mimebundle = bundle
    return seen[0]


def test_the_walk_of_a_reply_names_the_students_line(monkeypatch):
    monkeypatch.setattr(mg.Trace, "_mimebundle", staticmethod(lambda trace: {}))
    reply = exercises.check("softmax.x", lambda upstream, out: upstream * out)  # this line
    rule = reply.shown_walk.rules["softmax.x"]
    assert rule.source == "lambda upstream, out: upstream * out"
    assert rule.file == "tests/test_exercises_replies.py"
    nodes = [node for node in reply.shown_walk.nodes if node.op == "softmax"]
    assert str(nodes[0].site).endswith("out = softmax(x)")


def test_replies_are_wrapped_and_hints_have_no_quotes():
    reply = exercises.check("maximum.a+b", lambda a, b: (1.0 * (a >= b), 1.0 * (b >= a)))
    assert all(len(line) <= WIDEST for line in reply.text.splitlines())
    assert " ".join(reply.text.split()).count("send back more or less than what arrived") == 1
    assert repr(exercises.hint()).startswith("Hint 1 of 3: ")


def test_answer_displays_the_reply_in_a_notebook(monkeypatch, capsys):
    from types import SimpleNamespace

    seen = []
    notebook = SimpleNamespace(get_ipython=lambda: True, display=SimpleNamespace(display=seen.append))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setattr(mg.Trace, "_mimebundle", staticmethod(lambda trace: {"text/html": "played"}))
    exercises.answer("softmax.x")(lambda upstream, out: upstream * out)
    assert "text/html" in seen[0]._repr_mimebundle_()
    monkeypatch.setattr(mg.Trace, "_mimebundle", None)
    exercises.answer("softmax.x")(lambda upstream, out: upstream * out)
    assert len(seen) == 1
    assert "softmax.x: not right yet" in capsys.readouterr().out


def test_an_unchanged_starter_gets_a_sentence(capsys):
    exec(exercises.get_exercise("tanh.x").starter, {"exercises": exercises})  # noqa: S102 - our own text, as a notebook runs it
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("tanh.x: nothing is written yet. Replace `raise NotImplementedError` by your")


@pytest.mark.parametrize(("name", "answer"), [("tanh.x", lambda out: ...), ("tanh.x.gaps", lambda out: 1 - ... * ...)])
def test_an_unfinished_answer_gets_a_sentence_and_no_walk(name, answer, monkeypatch):
    monkeypatch.setattr(mg.Trace, "_mimebundle", staticmethod(lambda trace: {"text/html": "played"}))
    reply = exercises.check(name, answer)
    assert re.search(r"still dots in line \d\. Replace them by code", " ".join(reply.text.split()))
    assert list(reply._repr_mimebundle_()) == ["text/plain"]
    assert "Replace them by code" in reply.hint()
    assert "text/html" in exercises.check(name, lambda out: out)._repr_mimebundle_()


@pytest.mark.parametrize(("name", "answer", "title"), [
    ("max.x", "def answer(upstream): return upstream * x_shape", "a value that your function does not take"),
    ("exp2.x", "def answer(out): return out * ln(2)", "a name that is not defined"),
    ("neuron.predict.lines", "def answer(w):\n    return y * w\n    y = 1", "a name is used before it has a value"),
])  # fmt: skip
def test_a_name_without_a_value_gets_a_name_and_a_cure(name, answer, title):
    exec(answer, defined := {})  # noqa: S102 - our own text, with names that are not defined
    reply = exercises.check(name, defined["answer"])
    assert reply.result.mistake.title.startswith(title)
    assert "shape" not in reply.hint()


def test_a_right_answer_shows_each_rule_with_its_input_and_its_words():
    assert "own rule for b:\n  lambda: -1\nAs a formula: contribution = upstream · (−1)" in exercises.check(
        "subtract.a+b", lambda: (1, -1)).text
    whole = exercises.check("add.b.whole", exercises.get_exercise("add.b.whole").right)
    assert "The engine multiplies its rule by upstream" in whole.text
    product = exercises.check("matmul.b", lambda xp, a, upstream: xp.mT(a) @ upstream)
    assert "- `contract_rows`: " in product.text
    softmax = exercises.check("softmax.x", exercises.get_exercise("softmax.x").right)
    assert softmax.text.count("Each entry receives") == 1


def test_a_starter_has_each_value_of_the_prompt_as_a_parameter():
    for exercise in ALL:
        if exercise.op is not None and exercise.kind == "rule":
            listed = exercise.prompt.partition("Your function can have")[2].partition("The forward pass")[0]
            header = exercise.starter.partition("def ")[2].partition('"""')[0]
            assert set(re.findall(r"^- `(\w+)`", listed, re.MULTILINE)) <= set(re.findall(r"\w+", header)), exercise.id
            assert max(map(len, header.splitlines())) <= 105


def test_check_rejects_other_types_if_it_needs_a_number():
    for answer, kind in (("seven", "str"), ([5], "list"), (True, "bool")):
        assert f"the answer must be a number, got an object of type {kind}" in " ".join(
            exercises.check("curves.find", answer).text.split())  # fmt: skip


def test_tiny_differences_and_single_numbers_have_a_sentence():
    right = np.array([1e-12, 2e-12, 3e-12])
    wrong = compare.describe_difference("x", right, np.array([0.0, 0.0, 3e-12]), np.array([False, False, True]))
    assert wrong.sentence.startswith("2 of 3 entries differ")
    single = compare.describe_difference("a", np.array(2.0), np.array(1.0), np.array(False))
    assert "every entry" not in single.sentence


def test_wrong_averages_in_softmax_get_their_names():
    for answer, row in ((lambda upstream, out: upstream * out, "M54"),
                        (lambda upstream, out: out * (upstream - np.sum(upstream * out)), "M55")):  # fmt: skip
        assert exercises.check("softmax.x", answer).result.mistake.id == row


def test_points_of_an_exercise_are_integers():
    assert [each.id for each in exercises.list_exercises() if each.points != round(each.points)] == []


@pytest.mark.parametrize(("name", "answer", "title"), [
    ("sum.x", lambda upstream, x: upstream, "the answer cannot be used"),
    ("mean.x", lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape) / x_shape[0], "multiplied by the"),
    ("log_softmax.x", lambda xp, upstream, out: upstream - xp.exp(out), "upstream is forgotten"),
    ("transpose.x", lambda upstream: upstream.T, "`axes` is left out"),
    ("cumsum.x", lambda upstream, axis: np.cumsum(upstream, axis), "the running sum from the same end"),
    ("getitem.x", lambda upstream, x_shape, index: assign(np.zeros(x_shape), index, upstream), "repeated places"),
])  # fmt: skip
def test_typical_first_tries_get_hints(name, answer, title):
    reply = exercises.check(name, answer)
    assert reply.result.mistake.title.startswith(title)
    assert reply.hint().startswith("Hint 1 of 3")


def assign(array, index, values):
    """Write values into an array; the last one wins."""
    array[index] = values
    return array


def test_every_wrong_step_has_a_hint():
    for number in range(1, 7):
        reply = exercises.check("curves.find", number)
        assert reply or reply.result.mistake is not None


def test_replies_escape_control_characters_of_students():
    def rude():
        raise ValueError("\x1b[31mred\u202e and back\u200b\n")

    text = repr(exercises.check("tanh.x", rude))
    assert r"\u001b[31mred\u202e and back\u200b\u000a" in text
    assert escape("plain ½") == "plain ½"


@pytest.mark.parametrize(("thing", "sentence"), [
    (None, "the answer must be a function, got an object of type NoneType"),
    (lambda upstream: upstream, "your function has a parameter 'upstream'; it can have out, x, x_shape, xp"),
    (lambda x: None, "your function returned None for x: is there a `return`?"),
    (lambda x: "text", "x must be an array, got an object of type str"),
    (lambda x: [object()], "x must be an array of numbers"),
    (lambda x: np.ma.array(x), "x must be an array, got an object of type MaskedArray"),
    (lambda x: x[None, :, :, None], "the shape is (1, 2, 3, 1)"),
    (lambda x: 1j * x, "x must have real numbers, got complex ones"),
    (lambda x: np.broadcast_to(1.0, (2000, 2000)), "the array for x is too large: its shape is (2000, 2000)"),
    (lambda xp, x: xp.softmax(x), "xp has no function 'softmax' in this exercise"),
    (lambda x: 1 / 0, "it stopped with ZeroDivisionError: division by zero (line "),
    (lambda x: sys.exit(), "it stopped with SystemExit"),
])  # fmt: skip
def test_an_unusable_answer_gets_a_sentence(thing, sentence):
    reply = exercises.check("tanh.x", thing)
    assert not reply
    assert sentence in reply.result.first_wrong.sentence


def test_score_returns_a_plain_number():
    right = exercises.score("tanh.x", lambda out: 1 - out * out, of=4)
    assert (type(right), right) == (float, 4.0)
    assert exercises.score("tanh.x", None) == 0.0
    assert 0 <= exercises.score("tanh.x", lambda x: 1 - x * x) < 5


def test_an_unknown_exercise_can_be_answered_without_an_error(capsys):
    @exercises.answer("week9.own")
    def own_answer(x):
        return x

    assert own_answer(3) == 3
    assert exercises.score("week9.own", own_answer, of=4) == 0.0
    text = capsys.readouterr().out
    assert "week9.own: not checked here. There is no exercise 'week9.own'" in text
    assert "If it is your teacher's own exercise, submit your answer as it is: it will be marked there." in text


def test_inputs_are_new_each_time_and_repeat_with_the_seed():
    exercise = exercises.get_exercise("tanh.x")

    def numbers(seed):
        return [case.request["arguments"]["x"].tobytes() for case in exercise.cases(seed)]

    assert numbers(1) == numbers(1)
    assert numbers([1, 2]) != numbers(1)
    seen = []
    for _ in range(2):
        exercises.check("tanh.x", lambda x, out: seen.append(x.tobytes()) or 1 - out * out)
    assert len(set(seen)) == len(seen) - seen.count(seen[0]) + 1


# Isolation of a student's code ----------------------------------------------------------------------------------------


def test_xp_leads_to_no_operation_and_no_rule():
    xp = sandboxed.Namespace(sandboxed.FUNCTIONS)
    visited, todo, forbidden = set(), [(0, function) for function in vars(xp).values()], []
    while todo:
        depth, thing = todo.pop()
        if id(thing) in visited or depth > 4:
            continue
        visited.add(id(thing))
        if isinstance(thing, Op | Rule) or hasattr(thing, "op"):
            forbidden.append(thing)
        name = getattr(thing, "__name__", "")
        if isinstance(name, str) and name.startswith("micrograd_plus") and "exercises.sandboxed" not in name:
            forbidden.append(thing)
        near = [
            getattr(thing, "__wrapped__", None),
            getattr(thing, "__self__", None),
            getattr(thing, "__class__", None),
        ]
        if isinstance(thing, FunctionType):
            near += [value for key, value in thing.__globals__.items() if key != "__builtins__"]
            near += [cell.cell_contents for cell in thing.__closure__ or ()]
        todo += [(depth + 1, each) for each in near if each is not None]
    assert not forbidden


def test_the_sandboxed_part_needs_only_numpy(tmp_path):
    import shutil
    from pathlib import Path

    shutil.copytree(Path(sandboxed.__file__).parent, tmp_path / "beside", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import beside, numpy as np\n"
        "request = {'driver': 'call', 'arguments': {'x': np.ones(2)}, 'functions': ['exp'], 'answers': ['x']}\n"
        "print(beside.carry_out(lambda xp, x: xp.exp(x), request)['values']['x'].tolist())\n"
        "print([name for name in sys.modules if name.startswith('micrograd')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [str([np.e, np.e]), "[]"]


def test_a_request_contains_no_answer():
    exercise = exercises.get_exercise("softmax.x")
    for case in exercise.cases(0):
        right = exercise.run(exercise.right, case.request)["values"]["x"].tobytes()
        assert case.request.keys() == {"driver", "arguments", "functions", "answers"}
        assert all(not hasattr(v, "tobytes") or v.tobytes() != right for v in case.request["arguments"].values())


def test_no_function_of_xp_is_the_whole_answer():
    assert "flip" not in exercises.get_exercise("flip.x").functions
    assert "`xp` does not have `flip`" in exercises.get_exercise("flip.x").prompt
    assert "cos" in exercises.get_exercise("sin.x").functions


def length_of(gradients):
    return np.sqrt(sum(np.sum(each * each) for each in gradients))


def clip_with_a_small_number(gradients, most):
    return [each * min(1, most / (length_of(gradients) + 1e-6)) for each in gradients]


def clip_by_the_square(gradients, most):
    factor = most / length_of(gradients) if length_of(gradients) ** 2 > most else 1
    return [each * factor for each in gradients]


def half_steps(f, x, upstream, h):
    return exercises.get_exercise("engine.differences").right(f, x, upstream, h / 2)


@pytest.mark.parametrize(("name", "answer", "words"), [
    ("engine.clip", clip_with_a_small_number, "a small number is added to the norm"),
    ("engine.clip", clip_by_the_square, "the square of the norm is compared"),
    ("engine.differences", half_steps, "half as long"),
])  # fmt: skip
def test_a_piece_of_an_engine_is_no_numerical_derivative(name, answer, words):
    reply = exercises.check(name, answer)
    assert not reply
    assert words in reply.result.mistake.title
    assert reply.result.flags == []
