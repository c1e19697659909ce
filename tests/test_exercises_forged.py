"""Nothing for nothing: constants, echoes, forged outcomes, and every word and pair of words of `xp` as an answer."""

import itertools
import math
import os
import warnings

import numpy as np
import pytest

from forged import FORGERIES, forge_outcomes, readable_arrays
from micrograd_plus import exercises
from micrograd_plus.exercises import compare, mark as marking
from micrograd_plus.exercises.compare import Expected, Wrong, received_by_input
from micrograd_plus.exercises.rule_answers import takes_all_values
from micrograd_plus.exercises.sandboxed import FUNCTIONS, carry_out

ALL = exercises.list_exercises()
STRIDE = 1 if os.environ.get("MICROGRAD_PLUS_ALL_WORDS") else 6
"""The suite tries pairs of words in every 6th exercise; with the variable MICROGRAD_PLUS_ALL_WORDS in all."""
SEED = 4


class Judge:
    """The cases of an exercise with their right answers, which are computed once for many tries."""

    def __init__(self, exercise, seed):
        self.exercise, self.cases = exercise, exercise.cases(seed)
        self.expected = {id(case): Expected(exercise, case) for case in self.cases}
        outcomes = [case.right_outcome or exercise.run(exercise.right, case.request) for case in self.cases]
        self.right = [outcome["values"] for outcome in outcomes]
        self.allowed = sum(part.points for part in exercise.parts if part.name == "shape") or 1.0
        self.verdicts = {}

    def mark(self, monkeypatch, outcomes):
        monkeypatch.setattr(marking, "Expected", lambda exercise, case: self.expected[id(case)])
        return marking.mark(self.exercise, self.cases, outcomes, diagnose=False)

    def is_right_once(self, result):
        """Return whether a result is right on the first call. Many words give the same numbers, judged once."""
        key = contents_of(result)
        if key is None:
            return is_right_once(self, result)
        if key not in self.verdicts:
            self.verdicts[key] = is_right_once(self, result)
        return self.verdicts[key]


def contents_of(result):
    """Return what two arrays or numbers of NumPy have in common if they are equal to the bit; None for others."""
    if (type(result) is np.ndarray and result.dtype.kind in "biuf") or isinstance(result, np.generic):
        return type(result), result.dtype.str, result.shape, result.tobytes()
    return None


@pytest.mark.slow
def test_forged_answers_earn_at_most_the_point_for_the_shape(monkeypatch, capsys):
    # Sentences about a difference, which no points depend on, would take half of the time.
    monkeypatch.setattr(compare, "describe_difference", lambda name, *_: compare.Wrong("entries", "", name))
    too_much, tries = [], 0
    for exercise in ALL:
        judge = Judge(exercise, SEED)
        readable = [list(readable_arrays(case.request["arguments"])) for case in judge.cases]
        for title, forge in FORGERIES.items():
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = judge.mark(monkeypatch, forge_outcomes(judge.cases, judge.right, readable, forge))
            tries += 1
            if result.points > judge.allowed:
                too_much.append(f"{exercise.id}: {title} gets {result.points} of {result.of}")
    with capsys.disabled():
        print(f"\n{tries} forged answers to {len(ALL)} exercises: {len(too_much)} earn too much")  # noqa: T201 - the count is the result
    assert len(FORGERIES) >= 40
    assert too_much == []


def test_an_echo_of_upstream_earns_nothing_for_edges_where_nothing_is_broadcast():
    reply = exercises.check("add.b.whole", lambda upstream: upstream)
    assert [part["points"] for part in reply.result.parts] == [0, 0, 0]
    assert reply.result.parts[2]["reason"] == "not reached: an earlier part is wrong"


# Words of xp ------------------------


def one_word(exercise, values):
    """Yield every call of one function of `xp`, or of NumPy's function of this name, with its result."""
    names, keywords = list(values), {name: values[name] for name in ("axis", "keepdims") if name in values}
    words = {name: FUNCTIONS[name] for name in exercise.functions}
    if exercise.op is not None and hasattr(np, exercise.op.name):
        words[exercise.op.name] = getattr(np, exercise.op.name)
    for word, function in words.items():
        most = 4 if word in ("unreduce", "where", "clip", "take_along_axis", "swapaxes", "moveaxis") else 2
        for count in range(1, most + 1):
            for chosen in itertools.permutations(names, count):
                yield word, chosen, {}, function
                if keywords and count == 1:
                    yield word, chosen, {"axis": values["axis"]}, function
                    yield word, chosen, keywords, function


def result_of(function, arguments, keywords):
    """Return the result of a call; None if it fails."""
    try:
        return function(*arguments, **keywords)
    except Exception:  # noqa: BLE001 - most words do not fit
        return None


def is_right_once(judge, result):
    """Return whether a result is right on the first call."""
    case = judge.cases[0]
    right = judge.expected[id(case)].right
    parts = [result] if len(right) == 1 and not next(iter(right)).endswith("[0]") else result
    if not isinstance(parts, (list, tuple)) or len(parts) != len(right):
        return False
    return all(is_right_part(case, name, value, part)
               for (name, value), part in zip(right.items(), parts, strict=True))  # fmt: skip


def is_right_part(case, name, value, part):
    """Return whether one of several results is right, the cheapest question first: most are not."""
    if not isinstance(part, (np.ndarray, np.generic, float, int)) or np.asarray(part).dtype.kind not in "biuf":
        return False
    part, upstream = np.asarray(part, float), case.expects.get("upstream")
    if upstream is None and part.shape != value.shape and not case.expects.get("unbroadcast"):
        return False
    is_plain = upstream is not None and upstream.shape == value.shape == part.shape
    if is_plain and not math.isclose(part.flat[0] * upstream.flat[0], value.flat[0], rel_tol=1e-4, abs_tol=1e-7):
        return False
    received = received_by_input(case, name, part)
    return not isinstance(received, Wrong) and received.shape == value.shape and np.allclose(received, value, 1e-7)


def answer_of(chosen, keywords, *functions):
    """Return the answer that calls these functions, one on the result of the other."""

    @takes_all_values
    def answer(values, xp):
        first, *others = functions
        result = first(*[values[name] for name in chosen], **{name: values[name] for name in keywords})
        for function in others:
            result = function(result)
        return result

    return answer


def candidates(exercise, judge, values, pairs):
    """Yield the words that are right on the first call, and the pairs of words, with the answer."""
    for value in values.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False  # the second argument of a ufunc is where it writes
    results = {}
    for word, chosen, keywords, function in one_word(exercise, values):
        result = result_of(function, [values[name] for name in chosen], keywords)
        if result is not None and judge.is_right_once(result):
            yield word, answer_of(chosen, keywords, function)
        elif pairs and len(chosen) == 1 and isinstance(result, np.ndarray):
            results.setdefault(contents_of(result) or id(result), (word, chosen, keywords, function, result))
    for (word, chosen, keywords, function, result), second in itertools.product(results.values(), exercise.functions):
        again = result_of(FUNCTIONS[second], [result], {})
        if again is not None and judge.is_right_once(again):
            yield f"{second} of {word}", answer_of(chosen, keywords, function, FUNCTIONS[second])


def find_solving_words(exercise, pairs, monkeypatch):
    """Return the words, and with `pairs` the pairs of words, that earn more than the point for the shape."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return sorted(set(solving_words(exercise, pairs, monkeypatch)))


def solving_words(exercise, pairs, monkeypatch):
    """Yield each of them, as often as it is found."""
    judge = Judge(exercise, SEED)
    request = judge.cases[0].request
    if request["driver"] not in ("call", "dual"):
        return
    values = {name: value for name, value in request["arguments"].items() if name != "tangents"}
    for word, answer in candidates(exercise, judge, values, pairs):
        tries = [judge, Judge(exercise, SEED + 1)]  # once more on other inputs, since signs may agree by chance
        outcomes = [[carry_out(answer, case.request) for case in each.cases] for each in tries]
        if all(each.mark(monkeypatch, mine).points > each.allowed for each, mine in zip(tries, outcomes, strict=True)):
            yield word


@pytest.mark.slow
def test_no_word_of_xp_solves_an_exercise_and_no_pair_every_sixth(monkeypatch, capsys):
    words = {exercise.id: find_solving_words(exercise, i % STRIDE == 0, monkeypatch) for i, exercise in enumerate(ALL)}
    solved = {name: found for name, found in words.items() if found}
    with capsys.disabled():
        print(f"\nwords solve {len(solved)} of {len(ALL)} exercises")  # noqa: T201 - the count is the result
    assert solved == {}


@pytest.mark.parametrize(("name", "word"), [
    ("log.x", "reciprocal"), ("absolute.x", "sign"), ("log1p.x", "exp of negative"),
    ("exp2.x", "log of exp2"),
])  # fmt: skip
def test_the_search_finds_a_word_that_is_the_whole_rule(name, word, monkeypatch):
    assert word in find_solving_words(exercises.get_exercise(name), " of " in word, monkeypatch)


# Hostile answers in a notebook -------


class Loud:
    """An object whose conversions raise."""

    def __array__(self, *arguments, **keywords):
        raise RuntimeError("array")

    def __repr__(self):
        raise RuntimeError("repr")


def raise_long(out):
    raise ValueError("x" * 10_000)


def overwrite(out):
    out.fill(0)
    return out


def leave(out):
    raise SystemExit(3)


def call_itself(out):
    return call_itself(out)


def count_calls_of(out, calls=[]):  # noqa: B006 - it remembers its calls
    calls.append(1)
    return out * len(calls)


HOSTILE = {
    "a very long message": ("sigmoid.x", raise_long),
    "a generator": ("sigmoid.x", lambda out: (each for each in out)),
    "a module": ("softmax.x", lambda upstream: exercises),
    "two million entries": ("sigmoid.x", lambda out: np.zeros(2_000_000)),
    "objects that raise": ("sigmoid.x", lambda out: np.array([[Loud()] * 3] * 2, dtype=object)),
    "its input, overwritten": ("sigmoid.x", overwrite),
    "random numbers": ("sigmoid.x", lambda out: np.random.default_rng().random(out.shape)),
    "nan": ("softmax.x", lambda upstream: upstream * np.nan),
    "complex numbers": ("sigmoid.x", lambda out: out * 1j),
    "other numbers at each call": ("sigmoid.x", count_calls_of),
    "the end of the program": ("sigmoid.x", leave),
    "endless recursion": ("sigmoid.x", call_itself),
    "no parameters": ("sigmoid.x", lambda: 3),
    "any parameters": ("sigmoid.x", lambda *given, **named: 3),
    "a class": ("sigmoid.x", Loud),
    "a dictionary of numbers": ("diamond.gradients", lambda a: {1: 2}),
    "a dictionary of objects that raise": ("diamond.gradients", lambda s: {"p": Loud(), "s": s}),
    "words for nodes": ("engine.order", lambda root: ["a", "b"]),
    "nodes that are no integers": ("engine.order", lambda root: [1.5, np.inf, np.nan]),
    "a node beyond all integers": ("engine.order", lambda root: [10**30]),
    "rows of nodes": ("engine.order", lambda root: [[9], [8]]),
    "an array of verdicts": ("engine.compare", lambda gradient: gradient > 0),
    "nan as a verdict": ("engine.compare", lambda gradient: float("nan")),
    "a word for a parameter": ("engine.momentum", lambda parameter: ("a", {})),
    "no weight": ("engine.training", lambda weight: None),
    "a function for a class": ("engine.value", lambda data: data),
    "a masked array": ("sigmoid.x", lambda out: np.ma.masked_array(out * (1 - out), mask=True)),
    "a matrix": ("sigmoid.x", lambda out: np.asmatrix(out * (1 - out))),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_hostile_answers_get_a_reply_hints_and_a_walk_or_a_sentence():
    for title, (name, answer) in HOSTILE.items():
        reply = exercises.check(name, answer, seed=3)
        assert not reply, title
        assert reply.result.points <= 1, title
        assert name in reply.text
        assert all(str(reply.hint()) for _ in range(3))
        assert reply.walk() is not None
        assert isinstance(reply.inputs(), dict)
    assert len(HOSTILE) >= 25
