"""Prompts for beginners, the course, gaps, shuffled lines and patients."""

import ast
import json
import re
import sys

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.exercises import authoring, by_hand, notebook, sandboxed
from micrograd_plus.exercises.catalogue import patients
from micrograd_plus.exercises.handout import starter_notebook
from micrograd_plus.exercises.prompts import describe_forward

ALL = exercises.list_exercises()
BY_ID = {each.id: each for each in ALL}


def of_kind(kind):
    """Return the exercises of one kind."""
    return [each for each in ALL if each.kind == kind]


# Prompts ----------------------------------------------------------------------------------------------------


def test_the_example_of_a_prompt_is_a_call_that_gives_its_result():
    for exercise in of_kind("rule"):
        block = re.search(r"```python\n(.*?)```", exercise.prompt, re.DOTALL)[1]
        is_long = any(text in block for text in ("has shape", "index=", "an array of shape"))
        if exercise.op is None or exercise.op.kind == "variadic" or is_long:
            continue
        *lines, call = [line for line in block.splitlines() if not line.startswith("#")]
        (shown,) = [line for line in block.splitlines() if line.startswith("# ")]
        names = {"np": np}
        exec("\n".join(lines), names)  # noqa: S102 - the text of a prompt
        name, _, settings = call.partition(" = ")[2].partition("(")
        assert name == exercise.op.name
        arguments = eval(f"dict_of({settings}", {"dict_of": lambda *a, **k: (a, k), **names})  # noqa: S307 - as above
        result = exercise.op.apply(*[np.array(each) if isinstance(each, list) else each for each in arguments[0]],
                                   **arguments[1])  # fmt: skip
        assert np.allclose(result.numpy(), eval(shown[2:]), atol=6e-4), exercise.id  # noqa: S307 - as above


def test_a_prompt_has_formula_shapes_and_every_readable_value():
    prompt = BY_ID["softmax.x"].prompt
    assert "softmax(x)_i = exp(x_i) / Σ_j exp(x_j)" in prompt
    assert "x = [[0.9, -0.9, 1.7], [-1.4, -1.6, 0.8]]" in prompt
    assert "- `upstream`, shape (2, 3): what arrives at the output" in prompt
    for exercise in of_kind("rule"):
        if exercise.op is not None:
            wanted = [name for name in exercise.reads if not name.endswith("_shape")]
            wanted += [f"{name}_shape" for name in exercise.serves if "`upstream`" in exercise.prompt]
            assert all(f"- `{name}`" in exercise.prompt for name in wanted), exercise.id


def test_the_example_of_a_prompt_has_the_input_that_is_asked_for():
    for exercise in of_kind("rule"):
        if exercise.op is not None and exercise.op.kind != "variadic":
            block = re.search(r"```python\n(.*?)```", exercise.prompt, re.DOTALL)[1]
            wanted = [name for name in exercise.serves if name not in exercise.op.optional or exercise.is_whole]
            assert all(f"{name} = " in block for name in wanted), exercise.id
            assert "has shape" not in block, exercise.id


def test_a_rule_that_undoes_broadcasting_has_an_example_with_broadcasting():
    for name in ("add.b.whole", "multiply.b.whole", "layer_norm.weight.whole"):
        assert re.search(r"_shape` = \(3,\)", BY_ID[name].prompt), name
        assert "- `upstream`, shape (2, 3)" in BY_ID[name].prompt
    assert "broadcast" not in BY_ID["relu.x.whole"].prompt


def test_the_words_of_a_forward_that_numpy_does_not_have_are_explained():
    prompt = BY_ID["max_pool2d.x"].prompt
    assert "- `max_pool2d_and_choice`: Return the largest entry of each window, and its index in the window" in prompt
    for exercise in of_kind("rule"):
        for word in re.findall(r"xp\.(\w+)", exercise.prompt.replace("exercises.xp", "")):
            is_known = hasattr(np, word) or word in sandboxed.FUNCTIONS or f"- `{word}`: " in exercise.prompt
            assert is_known, (exercise.id, word)


@pytest.mark.parametrize("name", ["engine.value", "engine.saved", "engine.momentum", "engine.adam", "engine.training",
                                  "engine.differences"])  # fmt: skip
def test_the_example_of_a_piece_of_an_engine_runs_with_the_right_answer(name):
    exercise = BY_ID[name]
    block = re.search(r"```python\n(.*?)```", exercise.prompt, re.DOTALL)[1]
    names, checked = {"np": np, exercise.function_name: exercise.right, "Value": exercise.right}, 0
    for statement in ast.parse(block).body:
        code = ast.get_source_segment(block, statement)
        shown = block.splitlines()[statement.end_lineno - 1].partition("  # ")[2]
        if not shown:
            exec(code, names)  # noqa: S102 - the text of a prompt
            continue
        value = eval(code, names)  # noqa: S307 - as above
        parts = zip(value, eval(shown), strict=True) if isinstance(value, tuple) else [(value, eval(shown))]  # noqa: S307 - as above
        assert all(np.allclose(part, wanted, atol=1e-4) for part, wanted in parts), code
        checked += 1
    assert checked >= 1


@pytest.mark.parametrize(("exercise", "formula"), [
    ("power.base", "out = base^exponent"),
    ("where.a", "out = {a if condition; b otherwise}"),
    ("sum.x", "out = Σ(x)"),
    ("leaky_relu.x.whole", "out = {x if x > 0; slope · x otherwise}"),
])  # fmt: skip
def test_a_formula_is_derived_from_the_forward_if_the_docstring_has_none(exercise, formula):
    assert formula in BY_ID[exercise].prompt.split("\n\n")


def test_no_formula_is_a_call_of_the_operation_itself():
    for name in ("concatenate.parts", "take.x", "solve.a+b", "clip.x"):
        assert f"out = {BY_ID[name].op.name}" not in BY_ID[name].prompt.partition("```")[0]


def test_a_prompt_has_no_rest_of_a_sentence_about_gradients():
    for exercise in of_kind("rule"):
        if exercise.op is not None:
            said = describe_forward(exercise.op)
            assert not said or said[0].isupper() or " = " in said.partition(" with ")[0], (exercise.id, said)


def test_a_prompt_says_how_the_forward_computes_what_can_be_read():
    prompt = BY_ID["rms_norm.x"].prompt
    assert "unit = x * scale" in prompt
    assert "def rms_norm(xp, x, weight=None" in prompt


def test_no_prompt_of_a_rule_tells_its_gradient():
    for exercise in of_kind("rule"):
        if exercise.op is not None:
            shown = exercise.prompt.partition("```python")[0].partition("`: ")[2]
            assert not re.search(r"gradient|derivative|upstream @|[^;] slope", shown), exercise.id


def test_conventions_are_mentioned_only_where_they_matter():
    mentioned = {each.id for each in of_kind("rule") if "any convention is right" in each.prompt}
    assert {"maximum.a+b", "max.x", "clip.x", "log2.x", "relu.x.whole"} <= mentioned
    assert not mentioned & {"subtract.a+b", "matmul.a", "softmax.x", "tanh.x", "sum.x"}


def test_the_functions_of_xp_have_signatures_and_complete():
    assert "`unreduce(x, shape, axis=None, keepdims=False)`" in BY_ID["softmax.x"].prompt
    assert "unreduce" not in BY_ID["tanh.x"].prompt
    assert {"rows", "mT", "exp", "sum_to_shape"} <= set(dir(exercises.xp))
    assert dir(sandboxed.Namespace(["exp"])) == ["exp"]


def test_a_piece_of_an_engine_has_a_call_with_its_result():
    prompt = BY_ID["engine.accumulate"].prompt
    assert "parents = [[], [], [0, 1], [2, 2]" in prompt
    assert "# the result: [" in prompt
    assert "# the result: [9, 8, 7, " in BY_ID["engine.order"].prompt
    assert "# the result: False" in BY_ID["engine.compare"].prompt
    assert "engine_momentum_lines(1.0, 0.5, {}, rate=0.1" in BY_ID["engine.momentum.lines"].prompt


def test_gradients_by_hand_and_predictions_say_what_they_read():
    assert "by name: x of shape (2, 3), w of shape (3, 4), h of shape (2, 4)," in BY_ID["tied.gradients"].prompt
    assert BY_ID["neuron.predict"].prompt.endswith("Write a function of w, x and b that returns it.")


def test_an_exercise_shows_its_task_in_a_notebook():
    shown = BY_ID["softmax.x"]._repr_markdown_()
    assert "About 12 minutes. It helps to have done softmax.x.gaps." in shown
    assert "def softmax_x(" in shown


# The course -------------------------------------------------------------------------------------------------


def test_what_an_exercise_needs_exists_and_comes_before_it():
    place = {each.id: number for number, each in enumerate(ALL)}
    for exercise in ALL:
        assert 3 <= exercise.minutes <= 45
        assert all(name in place for name in exercise.needs), exercise.id
        assert all(place[name] < place[exercise.id] for name in exercise.needs
                   if BY_ID[name].group == exercise.group), exercise.id  # fmt: skip


def test_a_right_answer_shows_the_rule_of_the_engine_and_the_next_exercise():
    text = " ".join(repr(exercises.check("tanh.x", lambda out: 1 - out * out)).split())
    assert "The engine's own rule: lambda out: 1 - out * out As a formula: contribution = upstream · (1 − out²)" in text
    count = len(exercises.list_exercises("numbers and the chain"))
    assert re.search(rf'\d+ of {count} exercises of "numbers and the chain" are right\. Next: exercises\.get', text)
    assert "The engine's own rule" not in repr(exercises.check("tanh.x", lambda out: 1 - out))
    assert re.search(rf"numbers and the chain: [1-9]\d* of {count} are right\. Next: ", exercises.progress())


def test_starters_and_notebooks_mention_the_walk():
    assert "exercises.walk()" in BY_ID["tanh.x"].starter
    cells = starter_notebook([BY_ID["tanh.x"]], "Slopes")["cells"]
    assert "exercises.walk()" in cells[0]["source"]
    assert "About 6 minutes. It helps to have done power.exponent." in cells[2]["source"]


# Gaps and lines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "line"), [
    ("tanh.x.gaps", 3), ("engine.accumulate.gaps", 4), ("engine.unbroadcast.gaps", 4), ("softmax.x.gaps", 3),
])  # fmt: skip
def test_dots_that_are_left_are_named_with_their_line(name, line, tmp_path):
    file = tmp_path / "cell.py"
    file.write_text(BY_ID[name].starter)
    answers = {}
    collector = type("Exercises", (), {"answer": staticmethod(lambda name: lambda f: answers.setdefault(name, f))})
    import linecache

    linecache.checkcache()
    exec(compile(file.read_text(), str(file), "exec"), {"exercises": collector})  # noqa: S102 - our own starter
    reply = exercises.check(name, answers[name])
    assert f"there are still dots in line {line}" in reply.text
    assert not reply.result.points


def test_dots_in_a_method_of_a_class_are_named_with_the_method():
    class Number:
        def __init__(self, data, parents=(), slopes=()):
            self.data, self.parents, self.slopes, self.grad = data, parents, slopes, 0.0

        def __add__(self, other):
            return Number(self.data + other.data, (self, other), (1.0, ...))

        def tanh(self):
            return self

        def backward(self):
            for parent, slope in zip(self.parents, self.slopes, strict=True):
                parent.grad += slope

    class Product(Number):
        def __mul__(self, other):
            return Number(self.data * ...)

    class Filled(Product):
        def __mul__(self, other):
            return self

    assert "there are still dots in line 2 of __add__" in exercises.check("engine.value", Product).text
    Number.__add__ = lambda self, other: self
    assert "there are still dots in line 2 of __mul__" in exercises.check("engine.value", Product).text
    assert "dots" not in exercises.check("engine.value", Filled).text


def test_the_walk_of_an_answer_shows_its_program_and_not_who_asked_for_it():
    trace = exercises.check("engine.value", exercises.wrong_answer("engine.value", "M1")).walk()
    files = {site.file for each in (*trace.nodes, *trace.walks, *trace.journal) for site in each.lines}
    assert files == {"<the program of engine.value>"}


def test_a_wrong_answer_makes_its_mistake_and_others_are_listed():
    overwrites, right = exercises.wrong_answer("engine.value", "M1"), BY_ID["engine.value"].right
    for number, gradient in ((overwrites, 3.0), (right, 7.0)):
        a = number(3.0)
        (a * a + a).backward()
        assert a.grad == gradient
    first = next(each.wrong_answer for each in BY_ID["engine.value"].mistakes if each.id == "M5")
    assert exercises.wrong_answer("engine.value", "M5") is first
    with pytest.raises(KeyError, match="has no wrong answer with the mistake 'M90'; choose from M1, M2"):
        exercises.wrong_answer("engine.value", "M90")


def test_a_starter_describes_itself_in_a_sentence_or_a_question():
    assert '"""Is this gradient right?"""' in BY_ID["engine.compare"].starter
    assert '"""A gradient by differences."""' in BY_ID["engine.differences"].starter


def test_dots_in_an_index_are_no_gap():
    reply = exercises.check("softmax.x", lambda upstream: upstream[..., None] + upstream.nothing)
    assert "dots" not in reply.text
    assert "AttributeError" in reply.text


def test_a_filled_gap_and_an_order_of_lines_are_right():
    def unbroadcast(x, shape):
        added = x.ndim - len(shape)
        x = x.sum(axis=tuple(range(added)))
        repeated = tuple(i for i, length in enumerate(shape) if length == 1 and x.shape[i] > 1)
        return x.sum(axis=repeated, keepdims=True)

    assert exercises.check("engine.unbroadcast.gaps", unbroadcast)
    for exercise in of_kind("lines"):
        lines = re.findall(r"^    # (.*)$", exercise.starter, re.MULTILINE)[1:]
        assert len(lines) >= 4


def test_the_line_that_is_too_many_gives_a_named_mistake():
    def train(weight, backward, rate, steps):
        for _ in range(steps):
            gradient = np.zeros_like(weight)
            gradient = backward(weight, gradient)
            weight = weight + rate * gradient
        return weight

    assert not exercises.check("engine.training.lines", train)
    assert exercises.check("engine.training.lines", BY_ID["engine.training"].right)


# Patients ---------------------------------------------------------------------------------------------------


def first_gradients(training, x, y):
    """Return the gradients of the first step of a training: those that it lists, or the change of its weights."""
    found = {}

    def watch(frame, event, _):
        if event == "return" and frame.f_code is training.__code__:
            found.update(frame.f_locals)

    def weights_after(steps):
        found.clear()
        sys.setprofile(watch)
        try:
            training(x.copy(), y.copy(), 1.0, steps)
        finally:
            sys.setprofile(None)
        return {f"{name} {i}": np.array(part) for name in ("w", "b", "w1", "b1", "w2", "b2", "weights") if name in found
                for i, part in enumerate(found[name] if name == "weights" else [found[name]])}  # fmt: skip

    with np.errstate(all="ignore"):
        before, after = weights_after(0), weights_after(1)
        return found.get("gradients") or [before[name] - after[name] for name in before]


@pytest.mark.parametrize("exercise", of_kind("patient"), ids=lambda each: each.id)
def test_a_patient_fails_at_its_own_test_and_passes_those_before(exercise):
    arguments = exercise.cases(3)[0].request["arguments"]
    x, y, rate = (arguments[name] for name in ("x", "y", "rate"))
    for training in (exercise.mistakes[0].wrong_answer, exercise.right):
        number, _ = training(x, y, rate, 0)
        gradients = first_gradients(training, x, y)
        norms = [float(np.linalg.norm(each)) for each in gradients if np.ndim(each) == 2]

        def loss(rate, steps, training=training):
            with np.errstate(all="ignore"):
                return float(np.mean((training(x, y, rate, steps)[1](x) - y) ** 2))

        passes = {
            2: all(np.isfinite(each).all() for each in gradients), 3: all(np.any(each) for each in gradients),
            4: not norms or max(norms) < 1000 * min(norms), 6: loss(rate / 100, 1) < loss(rate, 0),
            7: loss(rate, 30) < loss(rate, 0) < np.inf,
        }  # fmt: skip
        assert len(patients.TESTS) == max(passes)
        if training is exercise.right:
            assert all(passes.values()), passes
        else:
            assert all(passed for test, passed in passes.items() if test < number), passes
            assert passes.get(number, False) is False
            last = loss(rate, arguments["steps"])
            assert last > patients.LEARNED * np.var(y) or not np.isfinite(last)


def test_a_patient_marks_the_test_and_the_cure():
    exercise = BY_ID["uphill.patient"]
    ill, other_test = (each.wrong_answer for each in exercise.mistakes)
    parts = exercises.check(exercise, ill).result.parts
    assert [part["points"] for part in parts] == [1, 0]
    assert parts[1]["reason"] == "the training still does not learn"
    assert [part["points"] for part in exercises.check(exercise, other_test).result.parts] == [0, 9]
    assert exercises.check(exercise, exercise.right)


def test_a_cure_of_more_than_three_lines_is_not_accepted():
    def uphill_patient(x, y, rate, steps):
        test = 6
        a = np.c_[x, np.ones(len(x))]
        c = np.linalg.lstsq(a, y)[0]
        b = c[-1]
        w = c[:2]
        return test, lambda points: points @ w + b

    reply = exercises.check("uphill.patient", uphill_patient)
    assert "your cure changes 4 lines; 3 are enough" in reply.text


def test_a_patient_without_a_test_gets_a_sentence():
    answers = {}
    collector = type("Exercises", (), {"answer": staticmethod(lambda name: lambda f: answers.setdefault(name, f))})
    exec(BY_ID["hot.patient"].starter, {"exercises": collector})  # noqa: S102 - our own starter
    reply = exercises.check("hot.patient", answers["hot.patient"])
    assert "`test` is still None" in reply.text
    assert authoring.starter_points(BY_ID["hot.patient"]) == 0


# Hints without a name ---------------


@pytest.mark.parametrize(("name", "answer", "texts"), [
    ("sigmoid.x", lambda out, x: np.cos(3 * x) * out,
     ("Try few numbers: x = [[0.9, -0.9, 1.7]", "Move x[0, 0] from 0.9 to 0.91",
      "So x[0, 0] should receive about -0.21; you send 0.64")),
    ("penalty.w", lambda w, upstream: upstream * w**5 + w, ("the answer[0, 0] is wrong", "by hand, step by step",
                                                     "It should be about 0.46; you have 11")),
    ("leaky_relu.x", lambda xp, x, slope: xp.where(x > slope, 1.0, slope),
     ("what happens when entries are exactly at the bounds", "a print in each line", "smallest possible call")),
])  # fmt: skip
def test_hints_without_a_name_work_out_one_entry_by_hand(name, answer, texts):
    reply = exercises.check(name, answer, seed=4)
    assert reply.result.mistake is None
    assert "For one entry worked out by hand, call exercises.hint()" in " ".join(reply.text.split())
    for number, text in enumerate(texts, start=1):
        hint = exercises.hint()
        assert hint.startswith(f"Hint {number} of 3: ")
        assert text in hint


def test_the_numbers_of_a_hint_by_hand_are_right():
    exercise = BY_ID["softmax.x"]
    reply = exercises.check(exercise, lambda upstream, out: upstream * out + 0.1, seed=4)
    case = by_hand.small_case(exercise)
    values = exercise.run(exercise.right, case.request)["values"]["x"]
    row, column = np.unravel_index(np.argmax(np.abs(values)), values.shape)
    right = float(values[row, column])
    assert f"x[{row}, {column}] should receive about {right:.2g}" in reply.mistake_with_hints.hints[2]
    x, moved = case.request["arguments"]["x"], case.request["arguments"]["x"].copy()
    moved[row, column] += by_hand.MOVE
    change = ((mg.softmax(moved) - mg.softmax(x)).numpy() * case.request["arguments"]["upstream"]).sum()
    assert abs(change / by_hand.MOVE - right) < 0.02


def test_the_example_of_a_cross_entropy_has_probabilities():
    prompt = BY_ID["softmax_cross_entropy.logits"].prompt
    target = np.array(json.loads(prompt.partition("\ntarget = ")[2].partition("\n")[0]))
    assert abs(target.sum(axis=-1) - 1).max() < 0.02


# Progress ---------------------------


def test_progress_is_kept_in_a_file_for_the_next_session(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "_right", set())
    monkeypatch.setattr(notebook, "_kept_in", [])
    file = tmp_path / "progress.json"
    exercises.progress(file)
    assert exercises.check("tanh.x", lambda out: 1 - out * out)
    assert json.loads(file.read_text(encoding="utf-8")) == ["tanh.x"]
    monkeypatch.setattr(notebook, "_right", set())  # another session
    assert f"1 of {len(exercises.list_exercises(ALL[0].group))} are right" in exercises.progress(tmp_path)
    assert exercises.check("exp.x", lambda out: out)
    assert json.loads(file.read_text(encoding="utf-8")) == ["exp.x", "tanh.x"]
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="is not a file of progress"):
        exercises.progress(file)


def test_prompts_say_which_calls_occur():
    assert "`a` and `b` have at least two axes" in BY_ID["matmul.b.whole"].prompt
    assert "in each row they add up to 1" in BY_ID["softmax_cross_entropy.logits"].prompt
    assert "may have fewer axes" in BY_ID["rnn.drive+weight+start"].prompt
    assert "index=([0, 1, 1], [2, 0, 0])" in BY_ID["getitem.x"].prompt
    assert "`rows(x)` (a matrix" in BY_ID["rnn.drive+weight+start"].prompt


def test_the_prompt_of_a_product_does_not_give_the_rule():
    prompt = BY_ID["prod.x"].prompt
    assert "∂" not in prompt
    assert "`fold`" not in BY_ID["unfold.x"].prompt.partition("```")[0]
