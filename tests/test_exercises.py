"""Exercises: right answers pass in every form, wrong ones are caught and named, and no text reveals the answer."""

# ruff: noqa: A006, PLC3002, PLW0108, T201 - rules are written as students write them; a figure is printed

import math
import os
import re
import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

import language
import micrograd_plus as mg
from micrograd_plus import exercises
from micrograd_plus.checks import museum
from micrograd_plus.core.apply import Op
from micrograd_plus.core.define import operations
from micrograd_plus.core.rule import Rule
from micrograd_plus.exercises import authoring, compare, question, sandboxed, student_key
from micrograd_plus.exercises.edge_cases import EDGE_CASES
from micrograd_plus.exercises.from_rules import rule_exercise
from micrograd_plus.exercises.mark import COSTS
from micrograd_plus.exercises.mistakes import catalogue, compile_code, edit_source
from micrograd_plus.exercises.rule_answers import combine
from micrograd_plus.exercises.spec import GROUPS, KINDS
from micrograd_plus.exercises.texts import WIDEST, escape
from work_counts import count_calls

DRAWS = int(os.environ.get("MICROGRAD_PLUS_DRAWS", "5"))
ALL = exercises.list_exercises()
EACH = [pytest.param(each, id=each.id) for each in ALL]


def exercise_of(exhibit):
    """Return the exercise to which an exhibit is a wrong answer."""
    served = [name for inputs in exhibit.rules for name in inputs if exhibit.op.has_rule_for(name)]
    return exercises.get_exercise(f"{exhibit.op.name}.{'+'.join(served)}")


RIGHT_FOR_PROBABILITIES = "targets taken to add up to one"
"""An exhibit that no exercise shows, since the targets of its exercise are probabilities."""
EXHIBITS = [each for each in museum.exhibits if each.promise == museum.DIFFERENCES and each.op.name in operations
            and each.name != RIGHT_FOR_PROBABILITIES]  # fmt: skip
RULES = [f"{op.name}.{'+'.join(rule.inputs)}" for op in operations.values() for rule in op.rules]


def mark_answer(exercise, thing, seed):
    """Return the result of an answer."""
    return authoring.try_answer(exercise, thing, seed)[1]


# The catalogue --------------------------------------------------------------------------------------------------------


def test_the_catalogue_has_every_kind_in_six_groups():
    assert len(ALL) >= 48
    assert {each.group for each in ALL} == set(GROUPS)
    assert {each.kind for each in ALL} == set(KINDS)
    assert len({each.function_name for each in ALL}) == len(ALL)


@pytest.mark.parametrize("exercise", EACH)
def test_an_exercise_passes_its_own_checks(exercise):
    authoring.prove(exercise, DRAWS)
    assert exercise.prompt
    assert exercise.title
    assert exercise.points == pytest.approx(10, abs=0.05)


@pytest.mark.parametrize("exercise", EACH)
def test_a_check_calls_fewer_than_three_million_functions(exercise):
    answer = exercise.right if exercise.namespace is None else None
    assert count_calls(lambda: exercises.check(exercise, answer)) < 3_000_000


def test_any_rule_of_the_engine_is_an_exercise():
    left_out, wrong = [], []
    for name in RULES:
        try:
            exercise = exercises.get_exercise(name)
        except ValueError:
            left_out.append(name)
            continue
        wrong += [name for seed in range(2) if not mark_answer(exercise, exercise.right, seed).right]
    assert not wrong
    assert set(left_out) <= {"astype.x", "irfft.x"}  # they have no sample of plain real numbers


def test_an_unknown_id_raises_with_similar_ids():
    with pytest.raises(KeyError, match=r"no exercise 'engine\.ordr'.*did you mean 'engine\.order'"):
        exercises.get_exercise("engine.ordr")
    with pytest.raises(KeyError, match=r"solve has one rule for a, b: the exercise is solve\.a\+b"):
        exercises.get_exercise("solve.a")
    with pytest.raises(KeyError, match=r"tanh has no rule for 'y'; it has tanh\.x"):
        exercises.get_exercise("tanh.y")


# Known mistakes -------------------------------------------------------------------------------------------------------


def test_marks_catch_and_name_every_known_mistake(capsys):
    mutants = [(exercise, mistake) for exercise in ALL for mistake in exercise.mistakes]
    listed = {exercise.id for exercise in ALL}
    for exercise in {each.id: each for each in map(exercise_of, EXHIBITS)}.values():
        if exercise.id not in listed:
            mutants += [(exercise, mistake) for mistake in exercise.mistakes]
    caught = named = alarms = 0
    missed = []
    for exercise, mistake in mutants:
        result = mark_answer(exercise, mistake.wrong_answer, 11)
        caught += not result.right
        ours = result.mistake is not None and authoring.is_same_mistake(result.mistake, mistake)
        named += ours
        if result.right or not ours:
            missed.append((exercise.id, mistake.title, result.mistake))
    for exercise in ALL:
        alarms += sum(not mark_answer(exercise, exercise.right, seed).right for seed in range(100, 100 + DRAWS))
    with capsys.disabled():
        count = len(mutants)
        print(
            f"\nmistakes caught {caught}/{count}, named {named}/{count}, "
            f"false alarms {alarms} of {DRAWS * len(ALL)} tries"
        )
    assert not missed
    assert not alarms


def test_every_catalogued_mistake_belongs_to_an_exercise():
    numbered = {name for name in catalogue() if name.startswith("M")}
    known = {mistake.id for exercise in ALL for mistake in exercise.mistakes}
    known |= {mistake.id for exhibit in EXHIBITS for mistake in exercise_of(exhibit).mistakes}
    assert len(numbered) == 92
    assert numbered <= known, sorted(numbered - known)


def test_every_wrong_answer_names_something_that_exists():
    titles, ids = {exhibit.title for exhibit in museum.exhibits}, {each.id for each in ALL}
    for name, row in catalogue().items():
        assert row.title
        assert 2 <= len(row.hints) <= 3, name
        for wrong in row.wrong:
            assert wrong.keys() in ({"exhibit"}, {"rule", "code"}, {"exercise", "code"}, {"exercise", "replace", "by"})
            assert wrong.get("exhibit") in titles | {None}, name
            assert wrong.get("rule") in {*RULES, None}, name
            assert wrong.get("exercise") in ids | {None}, name


def test_hints_and_prompts_are_written_in_plain_english():
    """tests/test_language.py reads only files; these texts are built from tables."""
    texts = [text for row in catalogue().values() for text in (row.title, *row.hints)]
    texts += [text for exercise in ALL for text in (exercise.title, exercise.prompt)]
    sentences = [sentence for text in texts for _, sentence in language.split_sentences(text)]
    marked = [sentence for sentence in sentences if language.markers_in(sentence)]
    assert len(marked) <= 0.04 * len(sentences), "\n".join(marked)


def test_an_edit_must_occur_once_in_the_right_answer():
    right = exercises.get_exercise("engine.accumulate").right
    assert edit_source(right, "+=", "=", "M1").__name__ == "backward"
    with pytest.raises(ValueError, match="'parents' must occur exactly once"):
        edit_source(right, "parents", "children", "M1")


def test_code_becomes_a_function_of_the_readable_names_in_it():
    wrong = compile_code("2 * x + np.sin(y)", ["x", "y", "z"], {"np": np}, "example")
    assert wrong.__code__.co_varnames == ("x", "y")
    assert wrong(1.0, 0.0) == 2
    body = compile_code("total = x\nreturn total + 1", ["x", "y"], {}, "example")
    assert body(1) == 2


def test_every_exhibit_is_a_mistake_of_some_exercise():
    titles = {mistake.title for exercise in [*ALL, *map(exercise_of, EXHIBITS)] for mistake in exercise.mistakes}
    left = [each for each in museum.exhibits if each.name not in titles and each.promise != museum.SECOND]
    assert [each.name for each in left] == [RIGHT_FOR_PROBABILITIES]


@pytest.mark.parametrize("exhibit", [pytest.param(each, id=each.title) for each in EXHIBITS])
def test_a_submitted_exhibit_gets_its_own_name(exhibit):
    exercise = exercise_of(exhibit)
    mistake = next(each for each in exercise.mistakes if each.title == exhibit.name)
    result = mark_answer(exercise, mistake.wrong_answer, 3)
    assert not result.right
    assert result.mistake.title == exhibit.name


@pytest.mark.parametrize("exhibit", [
    pytest.param(each, id=each.title) for each in museum.exhibits if each.promise == museum.SECOND
])  # fmt: skip
def test_a_wrong_second_order_rule_gets_its_own_name(exhibit):
    ((inputs, wrong),) = exhibit.rules.items()
    op = exhibit.op
    exercise = exercises.get_exercise(f"{op.name}.{'+'.join(inputs)}.twice")
    result = mark_answer(exercise, combine(op, inputs, [(inputs, wrong)]), 3)
    assert [part["points"] == part["of"] for part in result.parts] == [True, True, True, False]
    assert result.mistake.title == exhibit.name
    assert mark_answer(exercise, exercise.right, 3).right


def test_check_with_twice_adds_the_second_order_part():
    right = exercises.check("tanh.x", lambda out: 1 - out * out, twice=True)
    assert right
    assert right.result.parts[-1]["name"] == "second order"
    frozen = exercises.check("tanh.x", lambda out: 1 - np.array(out) ** 2, twice=True)
    assert not frozen
    assert [part["points"] for part in frozen.result.parts] == [1, 5, 2, 0]
    assert "the result does not change with the inputs as it should" in " ".join(frozen.text.split())
    assert frozen.result.mistake.title == "slope cut off from its output"


SECOND_ORDER_FORMS = {
    "tanh.x": [
        lambda out: 1 - out**2, lambda x: np.cosh(x) ** -2.0, lambda xp, x: 1 / xp.square(xp.cosh(x)),
        lambda out: (1 - out) * (out + 1), lambda out: -(out.__pow__(2) - 1), lambda x: 1 - np.tanh(x) * np.tanh(x),
        lambda out: np.multiply(1 - out, np.add(1, out)), lambda out: np.where(out > 0, 1 - out * out, 1 - out * out),
        lambda out: np.stack([1 - row**2 for row in out]) if out.ndim else 1 - out**2,
        lambda out: np.asarray([1.0]) - out**2, lambda xp, out: xp.asarray(1 - out**2),
        lambda out: np.einsum("...,...->...", 1 - out, 1 + out), lambda out: (1 - out**2).reshape(out.shape).copy(),
        lambda x: 4 / (np.exp(x) + np.exp(-x)) ** 2, lambda out: np.abs(1 - out**2),
    ],
    "softmax.x": [
        lambda xp, upstream, out, axis: out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True)),
        lambda upstream, out, axis: out * (upstream - (upstream * out).sum(axis, keepdims=True)),
        lambda upstream, x, axis: (lambda e: (lambda p: p * (upstream - (p * upstream).sum(axis=axis, keepdims=True)))(
            e / e.sum(axis=axis, keepdims=True)))(np.exp(x - np.max(x, axis=axis, keepdims=True))),
        lambda xp, upstream, out, axis: upstream * out - out * xp.expand_dims(xp.sum(upstream * out, axis=axis), axis),
        lambda xp, upstream, out, axis: xp.moveaxis((lambda u, p: p * (
            u - xp.einsum("...i,...i->...", u, p)[..., None]))(
                xp.moveaxis(upstream, axis, -1), xp.moveaxis(out, axis, -1)), -1, axis),
    ],
    "matmul.a": [
        lambda xp, upstream, b: upstream @ xp.mT(b), lambda upstream, b: np.matmul(upstream, b.swapaxes(-1, -2)),
        lambda upstream, b: np.einsum("...ij,...kj->...ik", upstream, b),
        lambda upstream, b: upstream.dot(b.T) if b.ndim == 2 else upstream @ b.mT,
    ],
}  # fmt: skip
CUT_OFF = [
    lambda out: 1 - np.array(out) ** 2, lambda x: 1 - np.vectorize(math.tanh)(np.array(x)) ** 2,
    lambda out: np.array([1 - float(each) ** 2 for each in out.reshape(-1)]).reshape(out.shape),
    lambda out: 1 - np.reshape(out.tolist(), out.shape) ** 2, lambda out: 1 - out * np.asarray(out),
    lambda out: fill(np.zeros(out.shape), 1 - out**2),
]  # fmt: skip


def fill(array, values):
    """Write values into an array, and return it."""
    array[...] = values
    return array


def test_right_rules_in_many_forms_pass_the_second_order():
    for name, answers in SECOND_ORDER_FORMS.items():
        exercise = exercises.get_exercise(f"{name}.twice")
        for place, answer in enumerate(answers):
            for seed in range(4):
                reply = exercises.check(exercise, answer, seed=seed)
                assert reply, (name, place, seed, reply.text)


@pytest.mark.parametrize("answer", CUT_OFF)
def test_a_cut_off_rule_loses_only_the_second_order(answer):
    result = exercises.check("tanh.x.twice", answer).result
    assert [part["points"] for part in result.parts] == [1, 5, 2, 0]
    assert result.mistake is not None


@pytest.mark.parametrize("name", ["tanh.x", "log.x", "power.exponent", "sin.x"])
def test_the_tangent_of_a_right_rule_is_its_second_derivative(name):
    exercise, (_, asked) = exercises.get_exercise(f"{name}.twice"), name.split(".")
    op = operations[name.partition(".")[0]]
    case = next(each for each in exercise.cases(5) if each.part == "second order")
    inputs = case.expects["sample"].inputs
    place = op.inputs.index(asked)

    def local(*values):
        return mg.grad(lambda *v: op.call(*v).sum(), place)(*values)

    ways = [case.request["arguments"]["tangents"][each] for each in op.inputs]
    after, before = (local(*[mg.tensor(v + step * way) for v, way in zip(inputs, ways, strict=True)]).numpy()
                     for step in (1e-5, -1e-5))  # fmt: skip
    exact = (after - before) / 2e-5
    assert np.allclose(case.right_outcome["values"][asked], exact, rtol=1e-5, atol=1e-6 * np.max(np.abs(exact)))


def test_a_constant_gradient_has_no_second_order_exercise():
    with pytest.raises(ValueError, match="relu has no second-order exercise"):
        exercises.check("relu.x", lambda x: 1.0 * (x > 0), twice=True)


UNLISTED_MISTAKES = [
    ("an entry is 0", "absolute.x", lambda xp, x: xp.where(x == 0, 5.0, xp.sign(x))),
    ("an entry of the last input is 1", "power.base", lambda xp, base, exponent: (
        exponent * xp.power(base, exponent - (exponent != 1)))),
    ("three entries are 0", "prod.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.where(
        x == 0, 0.0, xp.unreduce(upstream * out, x_shape, axis, keepdims) / xp.where(x == 0, 1.0, x))),
    ("three entries tie", "max.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: (
        lambda tie: tie * xp.unreduce(upstream, x_shape, axis, keepdims)
        / xp.minimum(xp.sum(tie, axis=axis, keepdims=True), 2))(
            1.0 * (x == xp.unreduce(out, x_shape, axis, keepdims)))),
    ("three entries tie", "sort.x", lambda xp, upstream, x, order, axis, x_shape: (
        lambda back: xp.where(xp.sum(1.0 * (x == xp.expand_dims(xp.max(x), 0))) > 2, 2 * back, back))(
            put_sorted_back(upstream[0] if isinstance(upstream, tuple) else upstream, order, axis, x_shape))),
    ("the numbers are huge", "square.x", lambda xp, x: 2 * xp.clip(x, -1e3, 1e3)),
    ("the numbers are tiny", "log.x", lambda x: 1 / (x + 1e-12)),
    ("the numbers are near thirty", "softplus.x", lambda xp, x: xp.where(abs(x) > 20, 0.0, 1 / (1 + xp.exp(-x)))),
    ("the numbers are near a thousand", "logsumexp.x", lambda xp, upstream, x, x_shape, axis, keepdims: xp.unreduce(
        upstream, x_shape, axis, keepdims) * xp.exp(x) / xp.sum(xp.exp(x), axis=axis, keepdims=True)),
    ("a matrix is singular", "det.a", lambda xp, upstream, a, out: (
        upstream[..., None, None] * out[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2))),
    ("a whole row is masked", "masked_softmax.x", lambda xp, upstream, x, out, axis: xp.where(
        xp.isfinite(xp.max(x, axis=axis, keepdims=True)),
        out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True)), upstream)),
    ("axes are counted from the end", "softmax.x", lambda xp, upstream, out, axis: out * (upstream - xp.sum(
        upstream * out, axis=axis if axis in (1, -1) else 0, keepdims=True))),
    ("indices are counted from the end", "take.x", lambda upstream, indices, x_shape, axis: put_taken_back(
        upstream, indices, x_shape, axis)),
    ("upstream is not finite", "matmul.a", lambda xp, upstream, b: xp.matmul(
        xp.where(xp.isfinite(upstream), upstream, 0.0), xp.mT(b))),
    ("all entries of a row are equal", "std.x", lambda xp, upstream, x, out, x_shape, axis, ddof, keepdims: (
        lambda far, scale: xp.where(scale == 0, 7.0, xp.unreduce(upstream, x_shape, axis, keepdims) * far / xp.where(
            scale == 0, 1.0, scale) / (xp.count_along(x_shape, axis) - ddof)))(
                x - xp.mean(x, axis=axis, keepdims=True), xp.unreduce(out, x_shape, axis, keepdims))),
    ("the entries are integers", "floor.x", lambda xp, x: 1.0 * (x == xp.round(x))),
    ("entries are exactly at the bounds", "hardtanh.x", lambda xp, x, low, high: xp.where(
        (x == low) | (x == high), 3.0, 1.0 * ((x > low) & (x < high)))),
    ("there are no axes", "negative.x", lambda x: -1.0 if x.ndim else 1.0),
    ("an entry is nan", "fmax.a", lambda xp, a, b: xp.where(a == b, 0.5, 1.0 * (a > b))),
    ("an entry is 0", "sqrt.x", lambda xp, x, out: xp.where(x == 0, 1.0, 0.5 / out)),
    ("an entry is 0", "divide.b", lambda xp, a, b: xp.where(a == 0, 1.0, -a / b**2)),
    ("an entry is 0", "tanh.x", lambda xp, x, out: xp.where(x == 0, 0.0, 1 - out**2)),
    ("an entry is 0", "hypot.a", lambda xp, a, out: xp.where(a == 0, 1.0, a / out)),
    ("an entry is 0", "matmul.b", lambda xp, upstream, a: xp.matmul(xp.mT(xp.where(a == 0, 1.0, a)), upstream)),
    ("an entry is 0", "leaky_relu.x", lambda xp, x, slope: xp.where(x > 0, 1.0, xp.where(x == 0, -1.0, slope))),
    ("an entry of the last input is 0", "multiply.a", lambda xp, b: xp.where(b == 0, 1.0, b)),
    ("an entry of the last input is 0", "arctan2.b", lambda xp, a, b: xp.where(b == 0, 0.0, -a / (a * a + b * b))),
    ("an entry of the last input is 0", "power.base", lambda xp, base, exponent: xp.where(
        exponent == 0, 1.0, exponent * xp.power(base, exponent - 1))),
    ("an entry is 1", "power.exponent", lambda xp, base, out: out * xp.log(base + (base == 1))),
    ("an entry is 1", "log.x", lambda xp, x: xp.where(x == 1, 0.0, 1 / x)),
    ("three entries are 0", "prod.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.unreduce(
        upstream * out, x_shape, axis, keepdims) / xp.where(x == 0, 1e-300, x)),
    ("three entries tie", "maximum.a+b", lambda a, b: (
        1.0 * (a > b) + 0.6 * (a == b), 1.0 * (b > a) + 0.6 * (a == b))),
    ("three entries tie", "min.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: (
        lambda tie: tie * xp.unreduce(upstream, x_shape, axis, keepdims)
        / xp.minimum(xp.sum(tie, axis=axis, keepdims=True), 2))(
            1.0 * (x == xp.unreduce(out, x_shape, axis, keepdims)))),
    ("three entries tie", "logaddexp.a", lambda xp, a, b: xp.where(a == b, 1.0, 1 / (1 + xp.exp(b - a)))),
    ("the entries are integers", "relu6.x", lambda x: 1.0 * ((x > 0) & (x < 6)) + 3.0 * (x == 6)),
    ("the numbers are huge", "sigmoid.x", lambda xp, x: xp.exp(x) / (1 + xp.exp(x)) ** 2),
    ("the numbers are huge", "logaddexp.a", lambda xp, a, b: xp.exp(a) / (xp.exp(a) + xp.exp(b))),
    ("the numbers are huge", "divide.b", lambda xp, a, b: xp.where(abs(b) > 1e3, 0.0, -a / b**2)),
    ("the numbers are huge", "log_softmax.x", lambda xp, upstream, x, axis: upstream - xp.exp(x) / xp.sum(
        xp.exp(x), axis=axis, keepdims=True) * xp.sum(upstream, axis=axis, keepdims=True)),
    ("the numbers are huge", "elu.x", lambda xp, x, alpha: (x > 0) + (x <= 0) * alpha * xp.exp(x)),
    ("the numbers are tiny", "sinc.x", lambda xp, x: xp.where(abs(x) < 1e-2, 0.0, (
        xp.cos(np.pi * x) * np.pi * x - xp.sin(np.pi * x)) / (np.pi * x**2))),
    ("the numbers are tiny", "expm1.x", lambda xp, x: xp.where(abs(x) < 1e-3, 1.0, xp.exp(x))),
    ("the numbers are tiny", "rsqrt.x", lambda x: -0.5 * (x + 1e-9) ** -1.5),
    ("the numbers are tiny", "norm.x", lambda xp, upstream, x, out, x_shape, axis, keepdims: xp.unreduce(
        upstream / (out + 1e-9), x_shape, axis, keepdims) * x),
    ("a matrix is singular", "det.a", lambda upstream, a, out: (
        upstream[..., None, None] * out[..., None, None] * np.swapaxes(np.linalg.pinv(a), -1, -2))),
    ("a whole row is masked", "masked_softmax.x", lambda xp, upstream, x, axis: (
        lambda e: (lambda p: p * (upstream - xp.sum(upstream * p, axis=axis, keepdims=True)))(
            e / xp.sum(e, axis=axis, keepdims=True)))(xp.exp(x - xp.max(x, axis=axis, keepdims=True)))),
    ("indices are counted from the end", "take_along_axis.x", lambda upstream, indices, x_shape, axis: put_sorted_back(
        upstream, np.abs(indices), axis, x_shape)),
    ("indices are counted from the end", "scatter_add.src", lambda upstream, index, axis: np.take_along_axis(
        upstream, np.abs(index), axis)),
    ("axes are counted from the end", "sum.x", lambda upstream, x_shape, axis, keepdims: np.broadcast_to(
        upstream if keepdims or axis is None else np.expand_dims(
            upstream, axis + len(x_shape) - 1 if isinstance(axis, int) and axis < 0 else axis), x_shape)),
    ("upstream is not finite", "getitem.x", lambda upstream, x_shape, index: add_at(
        np.zeros(x_shape), index, np.where(np.isfinite(upstream), upstream, 0))),
    ("upstream is not finite", "softmax.x", lambda xp, upstream, out, axis: (
        lambda u: out * (u - xp.sum(u * out, axis=axis, keepdims=True)))(xp.clip(upstream, -1e30, 1e30))),
    ("upstream is not finite", "mean.x", lambda xp, upstream, x_shape, axis, keepdims: xp.where(
        xp.isfinite(xp.max(upstream)),
        xp.unreduce(upstream, x_shape, axis, keepdims) / xp.count_along(x_shape, axis), 0.0)),
    ("all entries of a row are equal", "var.x", lambda xp, upstream, x, x_shape, axis, ddof, keepdims: (
        lambda far: xp.where(xp.sum(abs(far), axis=axis, keepdims=True) == 0, 1.0, xp.unreduce(
            upstream * 2 / (xp.count_along(x_shape, axis) - ddof), x_shape, axis, keepdims) * far))(
                x - xp.mean(x, axis=axis, keepdims=True))),
    ("entries are exactly at the bounds", "clip.x", lambda x, min, max: 2.0 * ((x == min) | (x == max)) + (
        x > (-np.inf if min is None else min)) * (x < (np.inf if max is None else max))),
    ("there are no axes", "sin.x", lambda x: np.cos(x) if np.ndim(x) else np.sin(x)),
]  # fmt: skip
"""Wrong rules that no table lists, each wrong at one edge case only."""


def add_at(array, index, values):
    """Add values to an array at indices that may repeat."""
    np.add.at(array, index, values)
    return array


def put_sorted_back(upstream, order, axis, shape):
    """Undo a sort."""
    flat = upstream.reshape(-1) if axis is None else upstream
    out = np.zeros(shape).reshape(-1) if axis is None else np.zeros(shape)
    np.put_along_axis(out, order, flat, 0 if axis is None else axis)
    return out.reshape(shape)


def put_taken_back(upstream, indices, shape, axis):
    """Undo `take`, but ignore negative indices."""
    out = np.zeros(int(np.prod(shape))) if axis is None else np.moveaxis(np.zeros(shape), axis, 0)
    flat = upstream.reshape(-1) if axis is None else np.moveaxis(upstream, axis, 0)
    places = np.asarray(indices).reshape(-1)
    for place, each in zip(places, flat.reshape(len(places), *out.shape[1:]), strict=True):
        if place >= 0:
            out[place] += each
    return out.reshape(shape) if axis is None else np.moveaxis(out, 0, axis)


@pytest.mark.parametrize(
    ("edge", "name", "wrong"), [pytest.param(*each, id=f"{each[1]}: {each[0]}") for each in UNLISTED_MISTAKES]
)
def test_an_unlisted_mistake_is_caught_at_its_edge_case(edge, name, wrong):
    exercise = exercises.get_exercise(name)
    assert edge in EDGE_CASES
    for seed in range(4):
        reply = exercises.check(exercise, wrong, seed=seed)
        assert not reply.right
        assert reply.result.first_wrong.case.part == "edges", reply
        edges = {case.about for case in exercise.cases(seed) if case.part == "edges"}
        assert edge in edges


def test_a_quantized_rule_without_its_mask_is_wrong():
    op = operations["quantized_conv2d"]
    through = next(rule.function for rule in operations["conv2d"].rules if rule.inputs == ("weight",))

    def without_the_mask(
        xp, upstream, x, x_scale, x_zero_point, weight_shape, stride, padding, dilation, groups, low, high
    ):
        image = xp.fake_quantize(x, x_scale, x_zero_point, low=low, high=high)
        return through(xp, upstream, image, weight_shape, stride, padding, dilation, groups)

    exercise = exercises.get_exercise("quantized_conv2d.weight")
    result = mark_answer(exercise, combine(op, ("weight",), [(("weight",), without_the_mask)]), 0)
    assert result.first_wrong.case.about == "entries are far beyond the bounds"


def test_every_edge_case_occurs_in_some_exercise():
    names = ("masked_softmax.x", "det.a", "hardtanh.x", "take.x", "sin.x", "fmin.b", "quantized_conv2d.weight")
    drawn = {case.about for each in [*ALL, *map(exercises.get_exercise, names)] for case in each.cases(0)}
    assert EDGE_CASES.keys() <= drawn


# Right answers in every form ------------------------------------------------------------------------------------------

RIGHT_FORMS = [
    ("relu.x", lambda x: x >= 0), ("relu.x", lambda x: x > 0), ("relu.x", lambda xp, x: (1 + xp.sign(x)) / 2),
    ("absolute.x", lambda x: 1.0 * (x > 0) - (x <= 0)), ("absolute.x", lambda x: 1.0 * (x >= 0) - (x < 0)),
    ("maximum.a+b", lambda a, b: (1.0 * (a >= b), 1.0 * (b > a))), ("maximum.a+b", lambda a, b: (a > b, b >= a)),
    ("clip.x", lambda xp, x, min, max: 1.0 * (np.clip(x, min, max) == x) * (x != min) * (x != max)),
    ("hardtanh.x", lambda x, low, high: 1.0 * (x >= low) * (x <= high)),
    ("leaky_relu.x", lambda xp, x, slope: xp.where(x >= 0, 1.0, slope)),
    ("sqrt.x", lambda xp, x: xp.where(x == 0, 0.0, 0.5 / xp.sqrt(x))), ("sqrt.x", lambda x: 0.5 * x**-0.5),
    ("norm.x", lambda xp, upstream, x, out, x_shape, axis, keepdims:
        xp.unreduce(upstream / (out if out is not None else 1), x_shape, axis, keepdims) * x),
    ("std.x", lambda xp, upstream, x, out, x_shape, axis, ddof, keepdims: xp.unreduce(
        upstream / out / (xp.count_along(x_shape, axis) - ddof), x_shape, axis, keepdims)
        * (x - xp.mean(x, axis=axis, keepdims=True))),
    ("copysign.a", lambda xp, a, b: xp.sign(b) * xp.where(a >= 0, 1.0, -1.0)),
    ("elu.x", lambda xp, x, alpha: xp.where(x >= 0, 1.0, alpha * xp.exp(xp.minimum(x, 0)))),
    ("relu6.x", lambda x: 1.0 * ((x >= 0) & (x <= 6))), ("hardswish.x", lambda xp, x: xp.where(
        x <= -3, 0.0, xp.where(x >= 3, 1.0, x / 3 + 0.5))),
    ("min.x", lambda upstream, x, axis, keepdims: first_of(upstream, -x, axis, keepdims)),
    ("where.a", lambda upstream, condition: upstream * condition),
    ("where.a", lambda upstream, condition: np.where(condition, upstream, 0)),
    ("tanh.x", lambda xp, x: 1 / xp.cosh(x) ** 2), ("tanh.x", lambda xp, x: 1 - xp.tanh(x) ** 2),
    ("sigmoid.x", lambda out: out - out * out), ("subtract.b", lambda: -1), ("subtract.b", lambda: np.float64(-1.0)),
    ("exp.x", lambda out: out.astype(">f8")), ("exp.x", lambda out: np.asfortranarray(out)),
    ("exp.x", lambda out: out.tolist()),
    ("transpose.x", lambda upstream, axes: np.transpose(upstream, None if axes is None else np.argsort(axes))),
    ("matmul.a", lambda upstream, b: np.einsum("...ij,...kj->...ik", upstream, b)),
    ("softmax.x", lambda xp, upstream, out, axis: (
        out * upstream - out * xp.sum(upstream * out, axis=axis, keepdims=True))),
    ("take.x", lambda xp, upstream, indices, x_shape, axis: one_hot_take(upstream, indices, x_shape, axis)),
    ("max.x", lambda upstream, x, axis, keepdims: first_of(upstream, x, axis, keepdims)),
    ("divide.b", lambda a, b: -a / b / b), ("divide.b", lambda a, b: -(a * b**-2.0)),
    ("power.base", lambda xp, base, exponent: exponent * xp.power(base, exponent - 1.0)),
    ("sum.x", lambda xp, upstream, x_shape, axis, keepdims: xp.broadcast_to(xp.reshape(upstream, np.sum(
        np.ones(x_shape), axis=axis if axis is None else tuple(np.atleast_1d(axis)), keepdims=True).shape), x_shape)),
]  # fmt: skip
"""Right rules in many forms, and with every convention in use."""


def one_hot_take(upstream, indices, shape, axis):
    """Return the gradient of `take` as a product with a one-hot matrix."""
    length = int(np.prod(shape)) if axis is None else shape[axis]
    places = np.asarray(indices).reshape(-1) % length
    pick = 1.0 * (places[:, None] == np.arange(length))
    if axis is None:
        return (upstream.reshape(-1) @ pick).reshape(shape)
    moved = np.moveaxis(upstream, axis, 0).reshape(len(places), -1)
    rest = [n for i, n in enumerate(shape) if i != axis % len(shape)]
    return np.moveaxis((pick.T @ moved).reshape(length, *rest), 0, axis)


def first_of(upstream, x, axis, keepdims):
    """Send the whole gradient to the first of the largest entries."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    lead = moved.shape[: x.ndim - len(axes)]
    flat = moved.reshape(*lead, -1)
    out = np.zeros(flat.shape)
    np.put_along_axis(out, np.argmax(flat, -1)[..., None], np.reshape(upstream, (*lead, 1)), -1)
    return np.moveaxis(out.reshape(moved.shape), range(-len(axes), 0), axes)


@pytest.mark.parametrize(("name", "rule"), RIGHT_FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_right_rule_is_right_in_every_form_and_convention(name, rule, seed):
    reply = exercises.check(name, rule, seed=seed)
    assert reply.right, reply


def test_a_tie_that_counts_twice_is_wrong():
    reply = exercises.check("maximum.a+b", lambda a, b: (1.0 * (a >= b), 1.0 * (b >= a)))
    assert not reply
    assert reply.result.mistake.id == "M26"
    assert reply.result.points > 6, "only the tie is wrong"


def test_an_exercise_can_require_one_convention():
    strict = rule_exercise("relu.x", id="relu.zero", convention="relu has the slope 0 at 0")
    assert exercises.check(strict, lambda x: x > 0).right
    assert not exercises.check(strict, lambda x: x >= 0).right
    assert "slope 0 at 0" in strict.prompt


# Flaws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule"), [
    ("tanh.x", lambda xp, x: (xp.tanh(x + 1e-6) - xp.tanh(x - 1e-6)) / 2e-6),
    ("sin.x", lambda xp, x: (xp.sin(x + 1e-5) - xp.sin(x - 1e-5)) / 2e-5),
    ("sigmoid.x", lambda xp, x: (xp.sigmoid(x + 1e-7) - xp.sigmoid(x)) / 1e-7),
])  # fmt: skip
def test_a_numerical_derivative_is_named_and_keeps_a_quarter(name, rule):
    result = exercises.check(name, rule).result
    assert result.flags == ["numerical derivative"]
    assert result.mistake.id == "numerical derivative"
    assert result.points <= result.of * (1 - COSTS["numerical derivative"])


def test_single_precision_is_a_flaw_with_a_name():
    result = exercises.check("tanh.x", lambda out: 1 - out.astype("f4") ** 2).result
    assert result.flags == ["single precision"]
    assert result.mistake.title == "numbers of single precision"
    assert 5 < result.points < result.of


def test_an_overwritten_input_is_a_flaw_with_a_name():
    def rule(out):
        out *= out
        return 1 - out

    result = exercises.check("tanh.x", rule).result
    assert result.flags == ["an input was written over"]
    assert "it writes into out" in result.parts[0]["reason"]
    assert result.points == pytest.approx(result.of * 0.75)


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
    assert rule.file == "tests/test_exercises.py"
    nodes = [node for node in reply.shown_walk.nodes if node.op == "softmax"]
    assert str(nodes[0].site).endswith("out = softmax(x)")


def test_no_message_reveals_an_entry_of_the_answer():
    leaks = 0
    for exercise in ALL:
        for mistake in exercise.mistakes:
            cases, result = authoring.try_answer(exercise, mistake.wrong_answer, 23)
            reasons = [part["reason"] for part in result.parts] + [result.first_wrong.sentence]
            leaks += authoring.find_leak(exercise, cases, [*mistake.hints, *reasons]) is not None
    assert not leaks


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
    assert "text/html" in exercises.check(name, lambda out: out)._repr_mimebundle_()


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
    ("mean.x", lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape) / x_shape[0], "shapes that do not fit"),
    ("log_softmax.x", lambda xp, upstream, out: upstream - xp.exp(out), "upstream is forgotten"),
    ("transpose.x", lambda upstream: upstream.T, "`axes` is left out"),
    ("cumsum.x", lambda upstream, axis: np.cumsum(upstream, axis), "the answer does not have the shape of its input"),
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
    assert result.mistake.title == "a path is forgotten: step 3, `multiply.a`, sends nothing"
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


# Questions ------------------------------------------------------------------------------------------------------------


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
    import micrograd_plus_viz as viz

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
    assert "except flip" in exercises.get_exercise("flip.x").prompt
    assert "cos" in exercises.get_exercise("sin.x").functions
    for name in RULES:
        rules = operations[name.partition(".")[0]].rules
        spoken = [re.findall(r"\w+", " ".join(rule.function.__code__.co_names)) for rule in rules]
        assert spoken is not None


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
    for exercise in ALL[:: 1 if DRAWS > 5 else 3]:
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
        print("out has shape", out.shape)
        return out

    reply = exercises.check("tanh.x", wrong)
    reply.walk()
    said = capsys.readouterr().out
    assert said.count("out has shape") == said.count("[when ") == 3
    assert said.startswith("[when tanh is called on (2, 3)]\nout has shape (2, 3)\n")
    assert f"[{len(reply.printed) - 3} more calls printed something; see" in said
    assert all(text.startswith("out has shape") for _, text in reply.printed)
