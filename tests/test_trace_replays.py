"""Walks compared up to their first difference, and replayed with a mistake."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import tracing
from micrograd_plus.engine import Value


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def gradients_by_name(trace):
    return {trace.nodes[place].name: np.asarray(tracing.comparison.comparable(value)).tolist()
            for place, value in trace.gradients.items()}  # fmt: skip


def diamond(make):
    """Return a graph with shared values at two levels: d and e read c."""
    a, b = make(2.0), make(3.0)
    with mg.record() as trace:
        c = a * b
        d = c + a
        e = c * d
        e.backward()
    return trace


MAKERS = pytest.mark.parametrize("make", [leaf, Value], ids=["tensors", "numbers"])


# Mistakes -------------------------------------------------------------------------------------------------------------


@MAKERS
def test_a_replay_without_a_mistake_equals_the_walk(make):
    trace = diamond(make)
    assert gradients_by_name(trace) == {"a": 48.0, "b": 28.0}
    again = tracing.replay(trace, {"multiply.a": lambda b: b})
    assert tracing.compare(trace, again).same
    assert gradients_by_name(again) == gradients_by_name(trace)


@MAKERS
def test_replacing_keeps_the_last_contribution(make):
    # e sends 8 and 6 to c and d; d sends 6 to c, not 8; then c sends 6·3 to a, not d's 6
    wrong = tracing.replay(diamond(make), "replace")
    assert gradients_by_name(wrong) == {"a": 18.0, "b": 12.0}
    step = next(step for step in wrong.steps if step.accumulates)
    assert float(step.after) == float(step.contribution)
    assert step.before is not None


@MAKERS
def test_without_an_order_late_gradients_go_no_further(make):
    # e reads c first: c is walked through with 8 alone, before d has sent it 6
    wrong = tracing.replay(diamond(make), "no order")
    assert [wrong.nodes[step.node].label for step in wrong.steps] == ["e", "e", "c", "c", "d", "d"]
    assert gradients_by_name(wrong) == {"a": 8.0 * 3.0 + 6.0, "b": 8.0 * 2.0}


@MAKERS
def test_without_upstream_only_local_derivatives_remain(make):
    wrong = tracing.replay(diamond(make), "upstream")
    assert gradients_by_name(wrong) == {"a": 1.0 + 3.0, "b": 2.0}


def test_without_upstream_a_transpose_gets_ones():
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0], [4.0]])
    with mg.record() as trace:
        ((x @ w) * 5.0).sum().backward()
    wrong = tracing.replay(trace, "upstream")
    assert gradients_by_name(wrong) == {"x": [[3.0, 4.0]], "w": [[1.0], [2.0]]}


def test_without_sums_a_gradient_has_the_wrong_shape():
    x, b = leaf(np.arange(6.0).reshape(2, 3)), leaf([1.0, 2.0, 3.0])
    with mg.record() as trace:
        (x * b).sum().backward()
    wrong = tracing.replay(trace, "axes")
    assert gradients_by_name(wrong)["b"] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert gradients_by_name(wrong)["x"] == gradients_by_name(trace)["x"]
    difference = tracing.compare(trace, wrong).difference
    assert (difference.word, difference.a, difference.b) == ("summed_axes", (0,), ())


def test_a_wrong_shape_ends_the_walk_with_an_error():
    w, b = leaf(np.ones((3, 4))), leaf(np.ones((1, 3)))
    with mg.record() as trace:
        h = b @ w
        (h + np.ones((5, 2, 4))).sum().backward()
    wrong = tracing.replay(trace, "axes")
    assert wrong.walks[0].error is None or wrong.nodes[wrong.walks[0].error.node].label == "h"
    assert not tracing.compare(trace, wrong).same


def test_a_wrong_rule_replaces_the_rule_of_its_name():
    x = leaf([0.5, -1.0])
    with mg.record() as trace:
        mg.tanh(mg.tanh(x)).sum().backward()
    wrong = tracing.replay(trace, {"tanh.x": lambda out: 1 - out})
    inner = np.tanh(x.numpy())
    assert gradients_by_name(wrong)["x"] == pytest.approx(((1 - np.tanh(inner)) * (1 - inner)).tolist())
    assert wrong.rules["tanh.x"].text == "contribution = upstream · (1 − out)"
    assert wrong.rules["tanh.x"].source == "lambda out: 1 - out"
    assert trace.rules["tanh.x"].text == "contribution = upstream · (1 − out²)"
    found = tracing.compare(trace, wrong)
    assert (found.steps, found.difference.word) == (1, "local")


def test_a_wrong_rule_can_read_all_inputs_and_parameters():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    with mg.record() as trace:
        mg.softmax(x, axis=-1)[0, 0].backward()
    wrong = tracing.replay(trace, {"softmax.x": lambda xp, upstream, x, out, axis: upstream * out + 0 * x + 0 * axis})
    assert gradients_by_name(wrong)["x"][0][0] == pytest.approx(float(mg.softmax(x)[0, 0]))


def test_a_wrong_rule_reads_none_for_an_absent_input():
    x = leaf([1.0, 2.0, 6.0])
    with mg.record() as trace:
        mg.layer_norm(x)[0].backward()
    wrong = tracing.replay(trace, {"layer_norm.x": lambda upstream, weight: upstream * (weight is None)})
    assert gradients_by_name(wrong)["x"] == [1.0, 0.0, 0.0]


def test_a_replay_goes_through_outputs_and_lists():
    x, y = leaf([3.0, 1.0, 2.0]), leaf([5.0])
    with mg.record() as trace:
        values, _ = mg.topk(mg.concatenate([x, y]) * 2.0, k=2)
        (values * values).sum().backward()
    again = tracing.replay(trace, {"sum.x": lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape)})
    assert gradients_by_name(again) == gradients_by_name(trace)


def test_a_replay_continues_from_its_own_gradients():
    x = leaf(3.0)
    with mg.record() as trace:
        for _ in range(2):
            y = x * x
            y.backward()
    wrong = tracing.replay(trace, "upstream")
    assert [float(walk.leaves[0].after) for walk in wrong.walks] == [6.0, 12.0]
    wrong = tracing.replay(trace, "replace")
    assert [float(walk.leaves[0].after) for walk in wrong.walks] == [3.0, 3.0]
    assert wrong.walks[1].leaves[0].before == 3.0


@MAKERS
@pytest.mark.parametrize(
    "mistake", [*tracing.MISTAKES, {"multiply.a": lambda a: a}],
    ids=lambda mistake: mistake if isinstance(mistake, str) else "another rule",
)  # fmt: skip
def test_a_file_replays_like_its_trace(make, mistake):
    trace = diamond(make)
    steps = [len(trace.steps)] if mistake == "left out" else None
    one, other = (tracing.replay(each, mistake, steps=steps) for each in (trace, mg.load_trace(trace.to_json())))
    assert tracing.compare(one, other).same
    assert gradients_by_name(one) == gradients_by_name(other)
    assert mg.load_trace(one.to_json(), check=False).to_dict() == one.to_dict()


def test_a_replay_names_values_that_a_file_lacks():
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0, 5.0], [4.0, 1.0]])
    with mg.record() as trace:
        y = x @ w
        (y * y).sum().backward()
    loaded = mg.load_trace(trace.to_json())
    with pytest.raises(ValueError, match="record the program again"):
        tracing.replay(loaded, {"multiply.a": lambda a, b: a * b * b})


def test_an_unknown_mistake_is_an_error():
    trace = diamond(leaf)
    with pytest.raises(ValueError, match="unknown mistake 'typo'; give one of replace, no order, levels, ups"):
        tracing.replay(trace, "typo")
    with pytest.raises(ValueError, match=r"no rule 'tanh.x' was applied; there was multiply.a"):
        tracing.replay(trace, {"tanh.x": lambda out: out})


# Comparing ------------------------------------------------------------------------------------------------------------


def record_walk(scale=1.0, extra=False):
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with mg.record() as trace:
        y = mg.tanh(a * b)
        y = y * scale if extra else y
        y.sum().backward()
    return trace


def test_a_comparison_ignores_names_of_values():
    def record_with_other_names():
        p, q = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        with mg.record() as trace:
            mg.tanh(p * q).sum().backward()
        return trace

    found = tracing.compare(record_walk(), record_with_other_names())
    assert (found.same, found.steps, found.difference) == (True, 4, None)
    assert repr(found) == "the same 4 steps"
    assert tracing.compare(record_walk(), record_walk().to_json()).same


def test_a_comparison_names_the_first_difference_and_its_size():
    one, other = record_walk(), tracing.replay(record_walk(), {"tanh.x": lambda out: 1 - out})
    found = tracing.compare(one, other)
    assert (found.same, found.steps) == (False, 1)
    difference = found.difference
    assert (difference.step_a, difference.step_b, difference.word) == (1, 1, "local")
    assert difference.largest == pytest.approx(np.abs(difference.a - difference.b).max())
    assert repr(found).startswith("1 step is the same, then: step 2 differs in local")


def test_another_operation_is_a_difference():
    found = tracing.compare(record_walk(), record_walk(extra=True))
    assert (found.steps, found.difference.word) == (1, "node")
    assert (found.difference.a, found.difference.b) == ("tanh (y)", "multiply (y)")
    x, y = leaf(2.0), leaf(3.0)
    with mg.record() as one:
        (x * x * y).backward()
    with mg.record() as other:
        (x * y * y).backward()
    difference = tracing.compare(one, other).difference
    assert difference.word in ("upstream", "local")


def test_a_comparison_says_which_walk_is_longer():
    x = leaf(2.0)
    with mg.record() as long:
        (x * 3.0).backward()
        x.grad = None
        (x * 3.0).backward()
    short = mg.load_trace(long.to_json())
    short.steps = short.steps[:1]
    difference = tracing.compare(long, short).difference
    assert (difference.word, difference.step_a, difference.step_b) == ("end", 1, None)
    assert difference.text.startswith("only the first goes on: 2. x * 3.0")


def test_rounding_is_no_difference_of_steps_but_of_gradients():
    one, other = record_walk(), record_walk()
    other.steps[3].contribution = other.steps[3].contribution * (1 + 1e-9)
    assert tracing.compare(one, other).same
    assert not tracing.compare(one, other, rtol=1e-12, atol=0).same
    place = next(iter(other.gradients))
    other.gradients[place] = other.gradients[place] + 1e-12
    by_name = {each.name: each for each in tracing.compare(one, other).gradients}
    assert (by_name["a"].exact, by_name["a"].close) == (False, True)
    assert by_name["a"].largest == pytest.approx(1e-12, rel=1e-3)
    assert (by_name["b"].exact, by_name["b"].largest) == (True, 0.0)


def test_nan_equals_nan_and_shapes_count():
    x = leaf([0.0, 1.0])
    with mg.record() as one, np.errstate(all="ignore"):
        (mg.log(x) * x).sum().backward()
    assert tracing.compare(one, mg.load_trace(one.to_json())).same
    wrong = mg.load_trace(one.to_json())
    wrong.steps[-1].contribution = np.zeros((1, 2))
    assert tracing.compare(one, wrong).difference.word == "contribution"


def test_a_large_value_of_a_file_is_compared_by_its_thumbnail():
    x = leaf(np.random.default_rng(0).normal(size=(50, 60)))
    with mg.record() as trace:
        (x * x).sum().backward()
    one, other = mg.load_trace(trace.to_json()), mg.load_trace(trace.to_json())
    assert tracing.compare(one, other).same
    other.steps[1].raw.thumbnail["data"][5] += 1.0
    assert tracing.compare(one, other).difference.word in ("local", "raw")


# At some steps ----------------------


def test_a_mistake_at_one_step_leaves_the_others_right():
    trace = diamond(leaf)
    whole, one = tracing.replay(trace, "upstream"), tracing.replay(trace, "upstream", steps=[3])
    assert np.equal(one.steps[3].contribution, trace.steps[3].contribution)
    assert np.equal(one.steps[2].contribution, whole.steps[2].contribution)
    assert not np.equal(one.steps[2].contribution, trace.steps[2].contribution)


def test_a_step_that_is_left_out_sends_nothing():
    trace = diamond(leaf)
    shorter = tracing.replay(trace, "left out", steps=[5])
    assert len(shorter.steps) == len(trace.steps) - 1
    step = trace.steps[4]
    assert np.equal(shorter.gradients[step.target], np.subtract(trace.gradients[step.target], step.contribution))


def test_a_walk_by_levels_passes_on_too_early():
    # e reads c and d, and both are walked before what they read; c passes on 8 before d has sent it 6
    wrong = tracing.replay(diamond(leaf), "levels")
    assert [wrong.nodes[step.node].label for step in wrong.steps] == ["e", "e", "c", "c", "d", "d"]
    a = leaf(3.0)
    with tracing.record() as trace:
        b = a * 1.0
        (mg.tanh(mg.tanh(b)) * b + b).backward()
    assert tracing.replay(trace, "levels").gradients != tracing.replay(trace, "no order").gradients


@pytest.mark.parametrize(("mistake", "steps", "message"), [
    ("left out", None, "the mistake 'left out' needs `steps`, such as"),
    ("no order", [1], "'no order' is made by the walk as a whole; leave out `steps`"),
    ("upstream", [0], r"steps must be between 1 and \d+, got \[0\]"),
])  # fmt: skip
def test_steps_that_do_not_fit_a_mistake_raise(mistake, steps, message):
    with pytest.raises(ValueError, match=message):
        tracing.replay(diamond(leaf), mistake, steps=steps)
