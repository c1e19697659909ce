"""Tests of quizzes: questions, accepted answers, and that no output reveals them."""

import itertools
import json
import math
import random

import numpy as np
import pytest
import quizzed
import sample_traces
from quizzed import curve, holds, layer, leaf, readable, rounds, shown_shapes, twice

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus import exercises, nn
from micrograd_plus.checks import museum
from micrograd_plus.formulas import notation, symbols
from micrograd_plus.formulas.symbols import Symbol
from micrograd_plus_viz import javascript
from micrograd_plus_viz.formula import sanitize
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.quizzes import formula_choices, payload_parts, sealed_answers
from micrograd_plus_viz.quizzes.questions import KINDS
from micrograd_plus_viz.quizzes.step_choice import MIX, Chooser
from micrograd_plus_viz.window import load_window

KINDS_OF_CHOICE = ("sign", "adds", "formula", "picture")


def question(trace, step, kind, **options):
    """Return a question with its answers before hashing."""
    normal, _ = load_window(trace)
    return Chooser(normal, options.get("tolerance", 0.02), options.get("candidates", ()), 0).question(step - 1, kind)


def says(asked, answer):
    """Return True for a right answer, otherwise its hint."""
    if answer in asked.right:
        return True
    return next((text for answers, text in asked.hints if answer in answers), asked.plain)


def number(asked, x):
    return sealed_answers.bin_of(x, math.expm1(asked.width * sealed_answers.BINS_EACH_SIDE))


# Nothing tells the answer ----


def new_numbers(trace, step):
    """Return the numbers of a step that do not occur before it."""
    known = {quizzed.digits(np.ravel(each)[0]) for node in trace.nodes if (each := node.value) is not None}
    for before in trace.steps[: step - 1]:
        known |= {quizzed.digits(x) for x in (before.contribution, before.after, before.local or 1.0)}
    asked = trace.steps[step - 1]
    return [x for x in (asked.contribution, asked.after, trace.steps[-1].after) if quizzed.digits(x) not in known]


@pytest.mark.parametrize("step", [4, 5, 6, 8, 9])
@pytest.mark.parametrize("kind", ["gradient", "sign", "adds", "formula"])
def test_page_picture_and_text_do_not_reveal_the_answer(step, kind):
    trace = curve()
    quiz = viz.quiz(trace, step, kind)
    assert quiz.data["steps"] == quiz.data["steps"][: step - 1]
    numbers = new_numbers(trace, step)
    assert numbers
    assert [x for x in numbers if holds(readable(quiz), x)] == []
    assert holds(str(trace.steps[step - 1].contribution), trace.steps[step - 1].contribution)


@pytest.mark.parametrize("kind", ["gradient", "shape", "sign", "adds", "formula", "picture"])
def test_the_page_contains_no_entry_of_the_array_in_question(kind):
    trace = layer()
    at = next(step.index for step in trace.steps if step.rule.startswith("tanh")) + 1
    visible_numbers = quizzed.numbers_in(readable(viz.quiz(trace, at, kind)))
    earlier = trace.steps[: at - 1]
    assert entries(earlier[-1].after) <= visible_numbers
    values = [node.value for node in trace.nodes if node.value is not None]
    public = entries(*values, *(value for each in earlier for value in (each.contribution, each.after, each.local)))
    asked = entries(*(each.contribution for each in trace.steps[at - 1 :])) - public
    assert len(asked) > 20
    assert asked & visible_numbers == set()


def entries(*values):
    """Return all entries of some arrays in the form of `numbers_in`."""
    return {f"{abs(x):.4g}" for value in values if value is not None for x in np.ravel(value)}


def test_a_payload_that_goes_one_step_too_far_is_seen_to_leak(monkeypatch):
    trace = curve()
    right = payload_parts._part
    monkeypatch.setattr(payload_parts, "_part", lambda whole, values, known, start, stop: right(
        whole, values, known, start, stop + 1))  # fmt: skip
    assert holds(readable(viz.quiz(trace, 5, "gradient")), trace.steps[4].contribution)


@pytest.mark.parametrize("word", ["gradients", "labels"])
def test_what_the_walk_ends_with_would_be_seen_to_leak(monkeypatch, word):
    trace = curve()
    static = payload_parts._static
    final = str(trace.steps[-1].after)
    lie = {"gradients": [{"node": 0, "value": final}], "labels": [["a", "1", f"grad {final}", 9]]}[word]
    monkeypatch.setattr(payload_parts, "_static", lambda whole, values: static(whole, values) | {word: lie})
    assert holds(readable(viz.quiz(trace, 5, "gradient")), trace.steps[-1].after)


def test_the_second_question_is_hidden_until_the_first_answer():
    quiz = viz.quiz(curve(), [3, 6], "order")
    assert "Step 6" not in readable(quiz)
    assert quiz.count == 2
    assert len(quiz.data["quiz"]["sealed"]) == 2


def test_node_widths_do_not_reveal_later_gradients():
    data = viz.quiz(curve(), 3, "gradient").data
    assert {written[2] for written in data["labels"]} <= {"", None}
    broad = {round(written[3], 1) for written, node in zip(data["labels"], data["nodes"], strict=True)
             if len(written[0]) < 5 and node["kind"] == "leaf"}  # fmt: skip
    assert len(broad) == 1


def test_a_walk_inside_comes_with_the_last_step_of_its_node():
    x = leaf([0.3, -1.2, 0.7], "x")
    with mg.record() as trace:
        y = (mg.softmax(x) * mg.tensor([1.0, 5.0, -2.0])).sum()
        y.backward()
    whole, _ = load_window(trace)
    at = next(i for i, step in enumerate(whole["steps"]) if step["rule"].startswith("softmax"))
    made = payload_parts.split_payload(whole, None, [at])
    assert made[0]["insides"] == {}
    assert list(made[1]["insides"]) == [whole["steps"][at]["node"]]


def test_joined_parts_equal_the_full_payload():
    whole, _ = load_window(layer())
    split = payload_parts.split_payload(whole, None, [1, 3])
    straight = payload_parts.empty_payload(whole, None)
    values = [value for part in split for value in part["values"]]
    steps = [step for part in split for step in part["steps"]]
    assert len(steps) == len(straight["steps"])
    for made, right in zip(steps, straight["steps"], strict=True):
        assert made["say"] == right["say"]
        assert values[made["after"]] == straight["values"][right["after"]]
        assert {k: values[v] for k, v in made["reads"].items()} == {
            k: straight["values"][v] for k, v in right["reads"].items()}  # fmt: skip
    assert {**split[0]["formulas"], **split[1]["formulas"], **split[2]["formulas"]} == dict(
        enumerate(straight["formulas"]))  # fmt: skip
    assert [g["node"] for g in split[2]["gradients"]] == [g["node"] for g in straight["gradients"]]


def test_quizzes_depend_only_on_their_arguments_and_seed():
    trace = layer()
    assert viz.quiz(trace).document() == viz.quiz(trace).document()
    asked = {viz.quiz(trace, 5, "gradient", seed=seed).summary for seed in range(6)}
    assert len(asked) > 1


# Which answers count ---------


@pytest.mark.parametrize("x", [1.0, -0.3333333, 4e-28, 7.02e11, -9.999])
def test_answers_count_up_to_the_tolerance(x):
    for tolerance in (0.001, 0.02, 0.3):
        right = sealed_answers.accepted_bins(x, tolerance)
        for share in (-1, -0.7, 0, 0.5, 1):
            assert sealed_answers.bin_of(x * (1 + tolerance) ** (0.999 * share), tolerance) in right
        for share in (-1.26, 1.26, -5, 5):
            assert sealed_answers.bin_of(x * (1 + tolerance) ** share, tolerance) not in right
        assert sealed_answers.bin_of(-x, tolerance) not in right
        assert "0" not in right


def test_zero_nan_and_infinity_need_exact_answers():
    assert sealed_answers.accepted_bins(0.0, 0.02) == ["0"]
    assert sealed_answers.accepted_bins(math.nan, 0.02) == ["nan"]
    assert [sealed_answers.accepted_bins(x, 0.02) for x in (math.inf, -math.inf)] == [["inf"], ["-inf"]]


def test_rounding_that_leaves_next_to_nothing_counts_as_zero():
    x = leaf(0.3, "x")
    with mg.record() as trace:
        y = 0.3 * x - 0.1 * x - 0.2 * x
        y.backward()
    last = len(trace.steps)
    assert 0 < abs(trace.steps[-1].after) < 1e-15
    assert "0" in question(trace, last, "gradient").right


def test_every_number_that_is_asked_for_is_the_engines():
    trace = curve()
    for step in trace.steps:
        asked = question(trace, step.index + 1, "gradient")
        assert says(asked, number(asked, step.after)) is True
        if step.accumulates:
            assert "gradients add up" in says(asked, number(asked, step.contribution))
    a_minus = question(trace, 8, "gradient")
    assert says(a_minus, number(a_minus, -trace.steps[7].after)) == "The size is right. Look at the sign."


@pytest.mark.parametrize("make", [curve, layer])
def test_only_what_holds_a_gradient_already_is_to_be_added_to(make):
    trace = make()
    told = [" already." in question(trace, step.index + 1, "gradient").plain for step in trace.steps]
    assert told == [step.accumulates for step in trace.steps]


def test_questions_about_arrays_ask_for_one_entry():
    trace = layer()
    for step in trace.steps:
        asked = question(trace, step.index + 1, "gradient")
        place = json.loads(asked.say.partition("entry ")[2].partition("]")[0] + "]")
        assert number(asked, np.asarray(step.after)[tuple(place)]) in asked.right


def test_nothing_shows_the_shape_in_question_but_other_shapes_stay():
    a, b, scale = leaf(np.ones((4, 3)), "a"), leaf(np.ones((4, 3)), "b"), leaf(np.ones((4, 1)), "scale")
    with mg.record() as trace:
        (a * b * scale).sum().backward()
        a.data -= 0.1 * a.grad.data
        (a * b * scale).sum().backward()
    for step in trace.steps:
        shape = np.shape(step.raw if step.summed_axes else step.after)
        quiz = viz.quiz(trace, step.index + 1, "shape")
        assert str(shape) == "(4, 3)"
        assert str(shape) not in shown_shapes(quiz)
        assert "(4, 1)" in shown_shapes(quiz) or trace.nodes[step.target].label == "scale"
    assert "(4, 3)" in shown_shapes(viz.quiz(trace, 2, "sign"))


def test_no_text_shows_the_shape_in_question():
    with mg.record() as trace:
        w = mg.zeros((3, 4), requires_grad=True)
        (mg.ones((2, 3)) @ w + mg.ones((3,4))[0]).sum().backward()  # fmt: skip
    asked = viz.quiz(trace, "w", "shape")
    assert "(3, 4)" in readable(viz.quiz(trace, "w", "sign"))
    assert {"(3, 4)", "(3,4)"} & shown_shapes(asked) == set()
    assert "(2, 3)" in shown_shapes(asked), "others stay"
    assert [sealed_answers.hide_shape(text, shape) for text, shape in [
        ("zeros([ 3,4 ])", (3, 4)), ("size=(4,)", (4,)), ("x[4]", (4,)), ("sum()", ())
    ]] == ["zeros([?])", "size=(?)", "x[4]", "sum()"]  # fmt: skip


def test_questions_about_complex_and_empty_arrays():
    z = leaf([1 + 2j, -3j], "z")
    with mg.record() as trace:
        (z * mg.tensor([2 - 1j, 0.5j])).real.sum().backward()
    asked = question(trace, len(trace.steps), "gradient")
    place = int(asked.say.partition("entry [")[2].partition("]")[0])
    assert "real part" in asked.say
    assert number(asked, np.asarray(trace.steps[-1].after)[place].real) in asked.right
    empty = leaf(np.zeros((0, 3)), "e")
    with mg.record() as trace:
        (empty * empty).sum().backward()
    asked = question(trace, 2, "gradient")
    assert (asked.kind, asked.right) == ("shape", ["0,3"])


def test_shape_sign_order_and_adds_are_those_of_the_record():
    for trace in (curve(), layer(), twice()):
        for step in trace.steps:
            shape = question(trace, step.index + 1, "shape")
            wanted = step.raw if step.summed_axes else step.after
            assert shape.right == [",".join(map(str, np.shape(wanted)))]
            order = question(trace, step.index + 1, "order")
            assert order is None or order.right == [str(step.node)]
            adds = question(trace, step.index + 1, "adds")
            if adds.form == "choice":
                assert adds.right == ["0" if not step.accumulates else "2" if step.earlier else "1"] or (
                    step.earlier and adds.right == ["1", "2"])  # fmt: skip
            else:
                arrivals = [each for each in trace.steps if (each.walk, each.target) == (step.walk, step.target)]
                assert adds.right == [str(len(arrivals))]
    signs = [question(curve(), step, "sign") for step in range(1, 10)]
    answers = [asked.choices[int(asked.right[0])]["text"] for asked in signs]
    assert answers == [
        "greater than 0" if step.contribution > 0 else "less than 0" for step in curve().steps
    ]


def test_what_an_earlier_walk_left_is_no_arrival_of_this():
    answers = [question(twice(), step, "adds").right for step in (2, 3, 4)]
    assert answers == [["1"], ["2"], ["1", "2"]]


def test_only_the_walk_with_a_hook_speaks_of_it():
    said = [question(rounds(), step, "gradient").say for step in (4, 8, 12)]
    assert ["before its hook changes it" in each for each in said] == [True, False, False]


def test_a_count_of_arrivals_says_which_arrows_bring_something():
    z = leaf(0.7, "z")
    with mg.record() as trace:
        loss = z * 2 + mg.sin(z) + z.detach() * 3
        loss.backward()
    normal, _ = load_window(trace)
    made = [Chooser(normal, 0.02, (), seed).question(at, "adds") for seed in range(9) for at in range(len(trace.steps))]
    counts = {each.reveal for each in made if each and each.form == "whole"}
    assert counts == {"In 2: 2 of the arrows that leave z lead on to add (loss) without a cut."}


def test_a_quiz_shows_values_of_each_moment_but_no_later_ones():
    trace = rounds()
    data = viz.quiz(trace, 8, "gradient").data
    w = data["names"].index("w")
    shown = [data["values"][place]["data"] if place is not None else text
             for place, text in (each["values"][w] for each in data["early"] if w in each["values"])]  # fmt: skip
    assert shown == [pytest.approx([0.4, -1.1]), ""], "the third round is not known yet"
    assert [walk["values"].get(w, [None])[0] is None for walk in data["walks"]] == [True, False]
    [after_hook] = data["walks"][0]["ends"].values()
    assert data["values"][after_hook]["data"] == pytest.approx([-4.5, -3.0])
    assert data["walks"][1]["ends"] == {}
    asked = [Chooser(load_window(trace)[0], 0.02, (), 0, (0,)).question(step - 1, "cell") for step in (4, 12)]
    assert [each.right for each in asked] == [["0"], ["0"]]


def test_what_a_program_makes_of_its_gradients_comes_after_the_question():
    w = leaf(0.83, "w")
    with mg.record() as trace:
        loss = (w * 1.7 - 2.0) ** 2
        loss.backward()
        g = w.grad
        size = mg.tensor(w.grad) * g * float(w.grad) * mg.tensor(2.5, requires_grad=True)
        size.backward()
    answer, later = trace.steps[2].after, trace.nodes[-1].value
    for kind in ("gradient", "order", "adds"):
        asked = viz.quiz(trace, [1 if kind == "order" else 3, 4], kind)
        assert [holds(readable(asked), x) for x in (answer, later)] == [False, False], kind
    whole, _ = load_window(trace)
    first, _, last = payload_parts.split_payload(whole, None, [2, 3])
    hidden = [i for i, node in enumerate(first["nodes"]) if node.get("withheld")]
    assert {first["names"][i] for i in hidden} >= {"g", "constant"}
    assert {first["labels"][i][1] for i in hidden} == {None}
    full, second = payload_parts.empty_payload(whole, None), payload_parts.split_payload(whole, None, [2, 3])[1]["born"]
    assert sorted(second) == hidden
    assert last["born"] == {}
    assert [second[i]["names"] for i in hidden] == [full["names"][i] for i in hidden]
    assert [second[i]["labels"][:2] for i in hidden] == [full["labels"][i][:2] for i in hidden]


def test_no_answer_has_two_replies():
    for trace in (curve(), layer(), twice()):
        for step in trace.steps:
            for kind in KINDS:
                asked = question(trace, step.index + 1, kind)
                replies = [*asked.right, *(each for answers, _ in asked.hints for each in answers)] if asked else []
                assert len(set(replies)) == len(replies), (kind, step)


def test_an_entry_is_pressed_only_if_one_is_clearly_the_largest():
    def weigh(*weights):
        w = leaf([0.5, -0.25, 2.0], "w")
        with mg.record() as trace:
            (w * mg.tensor(weights)).sum().backward()
        return question(trace, 2, "cell")

    assert weigh(1.0, -1.02, 0.3) is None
    assert weigh(1.0, -2.0, 0.3).right == ["1"]


def test_the_entry_in_question_is_one_that_the_step_changes():
    w = leaf([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "w")
    with mg.record() as trace:
        (w[4] * 3.0).backward()
    last = len(trace.steps)
    assert "entry [4] of" in question(trace, last, "gradient").say


def test_a_question_says_that_a_hook_comes_later():
    w = leaf(3.0, "w")
    w.register_hook(lambda gradient: gradient * 2)
    with mg.record() as trace:
        (w * 5.0).backward()
    assert question(trace, 1, "gradient").say.endswith("What is the gradient of w then, before its hook changes it?")


def test_a_mean_over_broadcast_copies_asks_for_the_sum():
    b = leaf(0.7, "b")
    with mg.record() as trace:
        (b * mg.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    asked = question(trace, 2, "gradient")
    assert says(asked, number(asked, 10.0)) is True
    assert "not the average" in says(asked, number(asked, 2.5))


def test_a_wrong_sign_of_zeros_asks_for_the_factor():
    with mg.record() as trace:
        w, hidden = leaf([1.0, 2.0], "w"), leaf([0.0, 0.0], "hidden")
        mg.sum(w * hidden).backward()
    asked = question(trace, 2, "sign")
    right = asked.choices[int(asked.right[0])]["text"]
    assert right == "all 0"
    others = [str(k) for k, choice in enumerate(asked.choices) if choice["text"] != right]
    assert all("multiplies it by something. By what, here?" in says(asked, each) for each in others)


def test_a_wrong_node_is_told_why_it_is_not_the_one():
    trace = curve()
    asked = question(trace, 5, "order")
    names = {node.name: str(node.id) for node in trace.nodes}
    assert "has been applied already" in says(asked, names["add (y)"])
    assert "not complete yet" in says(asked, names["multiply (c)"])
    assert "an input or a parameter" in says(asked, names["a"])
    assert "Nothing has arrived there yet" in says(asked, names["add"])


def test_a_formula_stands_among_others_that_say_something_else():
    trace = curve()
    for step in trace.steps:
        asked = question(trace, step.index + 1, "formula")
        texts = [choice["text"].replace(" ", "") for choice in asked.choices]
        assert len(set(texts)) == len(texts) >= 3
        right = texts[int(asked.right[0])]
        assert right == step.formula.text.replace(" ", "").replace("²", "^2")


def test_formulas_to_choose_from_call_operands_as_the_graph_does():
    cell = nn.LSTMCell(2, 2, rng=np.random.default_rng(0))
    state = (mg.tensor(np.zeros((1, 2))),) * 2
    with mg.record() as trace:
        for _ in range(3):
            state = cell(mg.tensor(np.ones((1, 2))), state)
        (state[0] * 3.0).sum().backward()
    data = load_window(trace)[0]
    names = javascript.call("(data => JSON.stringify(data.steps.map((step) => namesOf(data, step))))", payload(data))
    numbered = 0
    for step, called in zip(data["steps"], names, strict=True):
        choices = formula_choices.formula_choices(data, step, random.Random(0))  # noqa: S311 - no secret
        for symbol in [each for tree in choices.trees for each in tree.iter()] if choices else ():
            if symbol.get("data-name") in called:
                assert symbol.text == called[symbol.get("data-name")]
                numbered += "#" in symbol.text
    assert numbered > 20


@pytest.mark.parametrize(("operation", "said"), [(lambda out: out**2, ""), (mg.tanh, ", loss is its result")])
def test_the_note_of_a_formula_calls_the_result_as_the_formulas_do(operation, said):
    x = leaf(0.7)
    with mg.record() as trace:
        out = mg.sin(x)
        loss = operation(out)
        loss.backward()
    note = question(trace, 1, "formula").note
    assert note == f"upstream is the gradient of the sending node{said}; other names are its inputs."


def test_formulas_that_mean_the_same_are_no_choices():
    x, b = leaf(0.7), leaf(0.4)
    with mg.record() as trace:
        (mg.exp(x) * mg.cos(x) + b).backward()
    data = load_window(trace)[0]

    def known_formulas(op):
        step = next(step for step in data["steps"] if step["rule"].startswith(op))
        inputs = data["nodes"][step["node"]]["inputs"]
        return formula_choices.KnownFormulas(data, step, {each["name"]: f"#{each['node']}" for each in inputs})

    def tree(right_side):
        return sanitize(notation.equation("contribution", right_side).mathml)

    upstream, out, a, of_x = Symbol("upstream"), Symbol("out"), Symbol("a"), Symbol("x")
    for op, one, same, other in [
        ("exp", upstream * out, upstream * symbols.exp(of_x), upstream * of_x),
        ("exp", upstream * out, out * upstream, out),
        ("cos", -upstream * symbols.sin(of_x), upstream * (-symbols.sin(of_x)), upstream * symbols.sin(of_x)),
        ("multiply", upstream * Symbol("b"), upstream * symbols.cos(symbols.log(a)), upstream * a),
        ("multiply", upstream * (a + out), upstream * a + upstream * out, upstream * a + out),
    ]:
        known = known_formulas(op)
        assert [known.add(tree(each)) for each in (one, same, other)] == [True, False, True], (op, same)


def test_a_sum_over_one_row_has_no_choice_without_the_sum():
    x, bias = mg.tensor([[1.0, 2.0]]), leaf([0.5, -0.25], "bias")
    with mg.record() as trace:
        ((mg.exp(x) + bias) * 2.0).sum().backward()
    asked = question(trace, len(trace.steps), "formula")
    assert asked is None or "contribution=upstream" not in [choice["text"] for choice in asked.choices]


def test_no_question_is_about_rounding_errors():
    x = leaf(np.linspace(-1.0, 2.0, 12), "x")
    with mg.record() as trace:
        mg.softmax(x).sum().backward()
    assert 0 < abs(x.grad.numpy()).max() < 1e-15
    assert [question(trace, 2, kind) for kind in ("sign", "cell", "picture")] == [None] * 3


def test_nodes_to_choose_from_have_different_names():
    x = leaf(3.0, "x")
    with mg.record() as trace:
        y = (x * 2.0 + 2.0) * 2.0 + x ** 2.0
        y.backward()
    for k in range(1, len(trace.steps)):
        if asked := question(trace, k + 1, "order"):
            texts = [choice["text"] for choice in asked.choices]
            assert len(set(texts)) == len(texts)


def test_pictures_differ_and_contain_only_shades():
    trace = layer()
    asked = question(trace, len(trace.steps), "picture")
    grids = [json.dumps(choice["picture"]) for choice in asked.choices]
    assert len(set(grids)) == 4
    after = np.asarray(trace.steps[-1].after)
    right = asked.choices[int(asked.right[0])]["picture"]
    assert np.sign(np.reshape(right["levels"], (right["rows"], right["columns"]))).tolist() == np.sign(after).tolist()
    assert all(isinstance(level, int) and abs(level) <= 4 for level in right["levels"])


# Choice of steps, and invalid arguments ----


def test_a_handful_is_of_several_kinds_in_the_order_of_the_walk():
    normal, _ = load_window(layer())
    made = Chooser(normal, 0.02, (), 0).handful(5, MIX)
    assert [asked.at for asked in made] == sorted({asked.at for asked in made})
    assert len({asked.kind for asked in made}) >= 4
    assert set(MIX) == set(KINDS) - {"cell"}, "an author asks for an entry; a handful asks for numbers"


def test_questions_of_a_handful_are_not_about_adjacent_steps():
    normal, _ = load_window(curve())
    places = [asked.at for asked in Chooser(normal, 0.02, (), 0).handful(3, MIX)]
    assert all(other - one > 1 for one, other in itertools.pairwise(places)), places


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_kind_of_trace_gets_questions(make):
    quiz = viz.quiz(make())
    assert 1 <= quiz.count <= 5
    assert "<script>alert" not in quiz.document() + quiz._repr_mimebundle_()["text/html"]


def test_a_step_of_a_long_walk_keeps_its_number():
    x = leaf(1.01, "x")
    with mg.record() as trace:
        y = x
        for _ in range(1200):
            y = y * 1.001
        y.backward()
    quiz = viz.quiz(trace, 1100, "gradient")
    assert "Step 1100 of 1200." in quiz.summary.replace(":", ".")
    assert quiz.data["first"] == 1099
    with pytest.raises(ValueError, match=r"there is no step 1300 to ask about: the steps are 1300 to|start is 1299"):
        viz.quiz(trace, 1300)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 99}, "there is no step 99 to ask about: the steps are 1 to 9"),
        ({"kind": "colour"}, "kind must be one of gradient, shape, sign, order, adds, formula, cell, picture"),
        ({"find": "treasure"}, "find must be 'wrong rule', got 'treasure'"),
        ({"find": "wrong rule", "step": 3}, "with find='wrong rule' the whole walk is shown, so step and kind"),
        ({"rule": "replace"}, "rule needs find='wrong rule'"),
        ({"questions": 0}, "questions must be a whole number of at least 1, got 0"),
        ({"questions": "two"}, "questions must be a whole number of at least 1, got 'two'"),
        ({"find": "wrong rule", "say": "Which?"}, "with find='wrong rule' the quiz asks for a step in its own words"),
        ({"tolerance": 2}, "tolerance must be a relative error between 0 and 1, got 2"),
        ({"candidates": [{"answer": 3.0}]}, "a candidate must be a dictionary with an answer, a hint"),
        ({"step": 4, "kind": "picture"}, "step 4 does not support kind 'picture': it is not an array of 6 to 1,024"),
        ({"kind": "picture"}, "no question is possible: no step of this walk supports kind 'picture'"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_reason(options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace("[", r"\[")):
        viz.quiz(curve(), **options)


def test_a_walk_without_steps_is_nothing_to_ask_about():
    with mg.record() as trace:
        leaf(2.0) * 3
    with pytest.raises(ValueError, match="no question is possible: no step of this walk was recorded"):
        viz.quiz(trace)


def test_a_quiz_can_only_be_saved_as_a_page(tmp_path):
    path = viz.save(viz.quiz(curve()), tmp_path / "quiz.html", title="Five questions")
    assert "<h1>Five questions</h1>" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"questions and sliders can only be saved as \.html, not as 'quiz\.gif'"):
        viz.save(viz.quiz(curve()), tmp_path / "quiz.gif")


def test_a_file_is_asked_about_as_its_trace_is(tmp_path):
    trace = curve()
    (tmp_path / "walk.json").write_text(trace.to_json(), encoding="utf-8")
    assert viz.quiz(tmp_path / "walk.json", 5, "gradient").summary == viz.quiz(trace, 5, "gradient").summary
    found = viz.quiz(str(tmp_path / "walk.json"), find="wrong rule", rule="tanh: rule on the input")
    assert "Mark the first wrong step" in found.summary


def test_the_bundle_is_one_line_with_a_picture_of_the_walk_so_far():
    bundle = viz.quiz(curve(), 5, "gradient")._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html"]
    assert "\n" not in bundle["text/html"]
    assert bundle["text/plain"].endswith("Step 5 of 9: tanh (d) sends to c + a. What is the gradient of c + a then?")
    assert "Trust this notebook, or allow inline scripts on this page, to answer." in bundle["text/html"]
    assert '<img alt="Graph of a program with 2 leaves' in bundle["text/html"]


# Candidates from the caller ---------


def test_candidates_of_known_mistakes_answer_with_their_hints():
    trace = curve()
    given = exercises.candidates(trace, 5)
    asked = question(trace, 5, "gradient", candidates=given)
    x = trace.nodes[trace.steps[4].target].value
    wrong = trace.steps[4].upstream * (1 - x * x)
    assert says(asked, number(asked, wrong)) == "Your slope is negative somewhere. Is tanh ever falling?"
    with pytest.raises(IndexError, match="step must be between 1 and 9, got 10"):
        exercises.candidates(trace, 10)


def test_the_quiz_ignores_right_or_unrelated_candidates():
    trace = curve()
    right = trace.steps[4].after
    given = [{"answer": right, "hint": "no"}, {"answer": 77.0, "hint": "of step 6", "step": 6}]
    asked = question(trace, 5, "gradient", candidates=given)
    assert says(asked, number(asked, right)) is True
    assert says(asked, number(asked, 77.0)) == asked.plain


def test_hints_and_their_answers_are_sealed_as_well():
    quiz = viz.quiz(curve(), 5, "gradient", candidates=[{"answer": 0.8765, "hint": "You took the cosine"}])
    assert "cosine" not in readable(quiz)
    assert not holds(readable(quiz), 0.8765)


# A wrong rule ----------------


def test_the_page_does_not_reveal_the_planted_rule():
    trace = curve()
    exhibit = museum.find_exhibit("tanh: rule on the input")
    quiz = viz.quiz(trace, find="wrong rule", rule="tanh: rule on the input")
    text = readable(quiz)
    for telling in (exhibit.title, exhibit.name, exhibit.story[:20], "museum", "lambda", "activations.py", "x²", "x^2"):
        assert telling not in text
    assert all(step["formula"] is None and step["numbers"] is None for step in quiz.data["steps"])
    assert all(rule["source"] is rule["file"] is rule["text"] is None for rule in quiz.data["rules"].values())
    wrong = mg.tracing.replay(trace, {"tanh.x": exhibit.rules["x",]})
    assert str(wrong.steps[4].contribution)[:6] in text


def test_the_secrecy_test_detects_a_revealed_rule(monkeypatch):
    from micrograd_plus_viz.quizzes import quiz_page

    right = quiz_page._hints
    monkeypatch.setattr(quiz_page, "_hints", lambda *given: right(*given) | {"note": "tanh: rule on the input"})
    assert "rule on the input" in readable(viz.quiz(curve(), find="wrong rule", rule="tanh: rule on the input"))


def test_the_step_to_mark_is_the_first_that_differs():
    trace = curve()
    quiz = viz.quiz(trace, find="wrong rule", rule="tanh: rule on the input").data["quiz"]["question"]
    salt = quiz["salt"]
    assert list(quiz["right"]) == [sealed_answers.name_of(salt, "5")]
    later = [step for step in range(1, 10) if sealed_answers.name_of(salt, str(step)) in quiz["hints"]]
    assert later == [6, 7, 8, 9]


@pytest.mark.parametrize("seed", range(4))
def test_the_chosen_exhibit_changes_the_walk(seed):
    quiz = viz.quiz(layer(), find="wrong rule", seed=seed)
    assert len(quiz.data["quiz"]["question"]["right"]) == 1
    assert quiz.document() == viz.quiz(layer(), find="wrong rule", seed=seed).document()


def test_quizzes_accept_users_rules_and_engine_mistakes():
    own = viz.quiz(curve(), find="wrong rule", rule={"tanh.x": lambda out: 1 - out})
    assert "1-out" not in readable(own).replace(" ", "")
    assert viz.quiz(twice(), find="wrong rule", rule="replace").count == 1
    with pytest.raises(ValueError, match="with that rule the walk has the same numbers"):
        viz.quiz(curve(), find="wrong rule", rule={"tanh.x": lambda out: 1 - out * out})
    with pytest.raises(ValueError, match="no wrong rule of the museum applies to this walk, whose rules are multiply"):
        viz.quiz(twice(), find="wrong rule")
