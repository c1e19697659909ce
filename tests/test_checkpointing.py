"""Checkpoints: the same numbers in less memory."""

import weakref

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim, random
from walked import gradients_of, leaf

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3))


def test_a_checkpoint_gives_the_gradients_of_the_function():
    w, x = leaf(W), leaf(RNG.normal(size=(2, 3)))

    def layer(x):
        return mg.tanh(x @ w) * x

    plain = gradients_of(lambda: layer(layer(x)).sum(), w, x)
    once = gradients_of(lambda: mg.checkpoint(layer, mg.checkpoint(layer, x)).sum(), w, x)
    nested = gradients_of(lambda: mg.checkpoint(lambda x: mg.checkpoint(layer, layer(x)), x).sum(), w, x)
    for a, b, c in zip(plain, once, nested, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)


def test_the_inside_of_a_checkpoint_is_freed():
    inside = []

    def f(x):
        middle = mg.exp(x)
        inside.append(weakref.ref(middle._data))
        return mg.sin(middle)

    x = leaf(np.ones(1000))
    y = mg.checkpoint(f, x).sum()
    assert inside[0]() is None
    y.backward()
    assert len(inside) == 2
    assert inside[1]() is None


def test_arguments_and_results_can_be_nested():
    def f(pair, *, scale, name):
        assert name == "given"
        return {"sum": (pair[0] + pair[1]) * scale, "parts": [pair[0] * 2, 7]}

    a, b, s = leaf(2.0), leaf(3.0), leaf(4.0)
    out = mg.checkpoint(f, (a, b), scale=s, name="given")
    assert out["parts"][1] == 7
    (out["sum"] + out["parts"][0]).backward()
    assert (a.grad.item(), b.grad.item(), s.grad.item()) == (6.0, 4.0, 5.0)


def test_a_tensor_used_in_several_ways_receives_every_gradient():
    x = leaf(3.0)
    mg.checkpoint(lambda a, b: a * b * x, x, x).backward()
    assert x.grad.item() == 27.0


def test_a_function_can_read_an_earlier_result_from_outside():
    x = leaf(2.0)
    square = x * x
    mg.checkpoint(lambda y: mg.sin(y * square), x).backward()
    assert x.grad.item() == pytest.approx(3 * 4 * np.cos(8.0))


def test_the_gradient_through_a_checkpoint_has_a_gradient():
    values = RNG.normal(size=3)

    def f(x):
        outside = x * 2
        return mg.checkpoint(lambda y: mg.sin(y) * outside + y * y * y, x).sum()

    assert mg.gradcheck(f, (values,))
    assert mg.gradcheck(lambda x: mg.grad(f)(x) * mg.tensor([1.0, -2.0, 0.5]), (values,))
    assert mg.jvp(f, (values,), (values,))[1].item() == pytest.approx((mg.grad(f)(values) * values).sum().item())


def test_the_second_run_draws_the_same_random_numbers():
    def noisy(x):
        return (x * random.normal(size=4)).sum()

    x = leaf(np.ones(4))
    random.seed(5)
    value = mg.checkpoint(noisy, x)
    after = random.normal(size=2).tolist()
    value.backward()
    random.seed(5)
    drawn = random.normal(size=4).tolist()
    assert x.grad.tolist() == drawn
    assert random.normal(size=2).tolist() == after


def test_a_walk_does_not_change_the_random_state():
    y = mg.checkpoint(lambda x: x * random.normal(), leaf(1.0))
    random.seed(1)
    y.backward()
    drawn = random.normal().item()
    random.seed(1)
    assert random.normal().item() == drawn


def test_a_changed_tensor_from_outside_is_an_error():
    w, x = leaf([2.0, 3.0]), leaf([1.0, 1.0])

    def layer(x):
        return mg.tanh(x * w)

    y = mg.checkpoint(layer, x).sum()
    with mg.no_grad():
        w *= 2
    with pytest.raises(RuntimeError, match=r"shape \(2,\) that layer captures was changed"):
        y.backward()


@pytest.mark.parametrize("kept_on", [True, False])
def test_a_tensor_changed_through_an_old_array_is_an_error(kept_on):
    w, x = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    kept = w.data
    y = mg.checkpoint(lambda x: x * w, x).sum()
    kept[0] = 7.0
    if not kept_on:
        del kept
        w * 1  # takes the array back
    with pytest.raises(RuntimeError, match="was changed between the forward and the backward pass"):
        y.backward()


def test_reading_a_tensor_from_outside_is_not_a_change():
    w, x = leaf([2.0, np.nan]), leaf([1.0, 1.0])
    y = mg.checkpoint(lambda x: x * w, x).sum()
    assert w.data[0] == 2.0
    for create_graph in (False, True):
        x.grad = None
        y.backward(create_graph=create_graph)
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, np.nan])


def test_an_argument_without_requires_grad_has_none_inside():
    seen = []
    mg.checkpoint(lambda x, c: seen.append(c.requires_grad) or x * c, leaf(2.0), mg.tensor(3.0)).backward()
    assert seen == [False, False]


def test_a_changed_argument_keeps_its_old_gradient():
    x = leaf([1.0, 2.0])
    y = mg.checkpoint(lambda x: x * x, x).sum()
    x.data[0] = 100.0
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_function_with_other_results_in_its_second_run_fails():
    runs = []

    def fickle(x):
        runs.append(1)
        return x * len(runs)

    def grow(x):
        runs.append(1)
        return [x * 2] * len(runs)

    with pytest.raises(RuntimeError, match="fickle gave other results when it ran again"):
        mg.checkpoint(fickle, leaf(2.0)).backward()
    runs.clear()
    with pytest.raises(RuntimeError, match="grow gave other results when it ran again"):
        mg.checkpoint(grow, leaf(2.0))[0].backward()


@pytest.mark.parametrize(
    ("first", "again", "alike"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 2e-8], True),
        ([1.0, 2.0], [1.0, 2.0 + 1e-6], False),
        ([-1e6, 1.0], [-1e6, 1.001], True),
        ([1e-9], [2e-9], True),
        ([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.0 + 1e-9], True),
        ([np.inf, 1.0], [np.inf, 1.1], False),
        (np.float32([1.0]), np.float32([1.0001]), True),
        (np.float32([1.0]), np.float64([1.0]), False),
        ([1.0], [1.0, 1.0], False),
        ([1, 2], [1, 3], False),
    ],
)
def test_results_of_the_second_run_may_differ_by_rounding(first, again, alike):
    values = [mg.tensor(first), mg.tensor(again)]
    x = leaf(2.0)
    square, _ = mg.checkpoint(lambda x: (x * x, values.pop(0) * 1), x)
    if alike:
        square.backward()
        assert x.grad.item() == 4.0
    else:
        with pytest.raises(RuntimeError, match="gave other results when it ran again"):
            square.backward()


def test_a_function_that_reads_other_tensors_again_fails():
    a, b = leaf(1.0) * 2, leaf(2.0) * 1
    sources = [a, b]
    y = mg.checkpoint(lambda x: x * sources.pop(0), leaf(3.0))
    with pytest.raises(RuntimeError, match="captured another tensor when it ran again"):
        y.backward()


def test_a_function_can_ask_whether_it_is_recomputed():
    seen = []

    def f(x):
        seen.append((mg.is_checkpointing(), mg.is_recomputing()))
        return x * 2

    mg.checkpoint(f, leaf(1.0)).backward()
    assert seen == [(True, False), (True, True)]
    assert not mg.is_checkpointing()
    assert not mg.is_recomputing()


def test_without_gradients_the_function_runs_once():
    calls = []
    assert mg.checkpoint(lambda x: calls.append(1) or x + 1, mg.tensor(1.0)).item() == 2.0
    with mg.no_grad():
        assert not mg.checkpoint(lambda x: calls.append(1) or x + 1, leaf(1.0)).requires_grad
    assert len(calls) == 2


def test_a_walk_inside_no_grad_recomputes_with_gradients():
    x = leaf(2.0)
    y = mg.checkpoint(lambda x: x * x * x, x)
    with mg.no_grad():
        y.backward()
    assert x.grad.item() == 12.0


def test_a_record_shows_the_inside_of_a_checkpoint():
    x = leaf(0.5)
    with mg.record() as trace:
        mg.checkpoint(lambda x: mg.sin(x) * 2, x).backward()
    assert [step.rule for step in trace.steps] == ["multiply.a", "sin.x"]


def test_a_record_of_only_the_walk_shows_one_step():
    x = leaf(0.5)
    y = mg.checkpoint(lambda x: mg.sin(x) * 2, x)
    with mg.record() as trace:
        y.backward()
    assert [step.rule for step in trace.steps] == ["checkpoint.parts"]
    assert trace.steps[0].contribution == x.grad.item()


def test_a_record_of_only_the_walk_is_not_changed_by_later_writes():
    layer, x, runs = nn.Linear(2, 1), leaf([[1.0, -2.0]]), []

    def count_calls(x):
        runs.append(1)
        return mg.tanh(layer(x))

    y = mg.checkpoint(count_calls, x).sum()
    descent = optim.SGD(layer.parameters(), lr=0.5)
    with mg.record() as trace:
        y.backward()
    received = [each.grad.numpy() for each in (x, layer.weight, layer.bias)]
    descent.step()
    shown = [np.asarray(step.contribution) for step in trace.steps if step.rule == "checkpoint.parts"]
    assert [each.tolist() for each in shown] == [each.tolist() for each in received]
    assert len(runs) == 2


def test_a_walk_that_frees_its_graph_is_recorded():
    x = leaf(0.5)
    y = mg.checkpoint(lambda x: mg.sin(x) * 2, x)
    with mg.record() as trace:
        y.backward(retain_graph=False)
    assert trace.steps[0].contribution == x.grad.item()


def test_nested_checkpoints_can_be_freed_during_the_walk():
    w, x = leaf(W), leaf(RNG.normal(size=3))

    def layer(x):
        return mg.tanh(x @ w)

    def two(x):
        return mg.checkpoint(layer, mg.checkpoint(layer, x))

    def four(x):
        return mg.checkpoint(two, mg.checkpoint(two, x))

    plain = gradients_of(lambda: layer(layer(layer(layer(x)))).sum(), w, x)
    x.grad = w.grad = None
    mg.checkpoint(four, x).sum().backward(retain_graph=False)
    np.testing.assert_allclose(w.grad.numpy(), plain[0], rtol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), plain[1], rtol=1e-12)


def test_a_function_can_read_everything_from_outside():
    w = leaf([2.0, 3.0])
    mg.checkpoint(lambda: mg.sum(w * w)).backward()
    assert w.grad.tolist() == [4.0, 6.0]
    assert mg.checkpoint(lambda: 5) == 5


def test_a_result_can_be_an_argument_or_a_tensor_from_outside():
    x, w = leaf(2.0), leaf(3.0)
    same, outside = mg.checkpoint(lambda x: (x, w), x)
    (same * 5 + outside * 7).backward()
    assert (x.grad.item(), w.grad.item()) == (5.0, 7.0)


def test_a_detached_result_stays_detached():
    x = leaf(2.0)
    cut, kept = mg.checkpoint(lambda x: ((x * 2).detach(), x * 3), x)
    assert (cut.requires_grad, kept.requires_grad) == (False, True)
    (cut * kept).backward()
    assert x.grad.item() == 12.0


def test_a_part_in_no_grad_is_constant_in_both_runs():
    x = leaf(2.0)

    def f(x):
        with mg.no_grad():
            scale = x * 3
        return x * scale

    mg.checkpoint(f, x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.parametrize("momentum", [0.1, None])
def test_running_statistics_count_a_recomputed_batch_once(momentum):
    batch = RNG.normal(size=(5, 2)) + 3
    plain, saved = nn.BatchNorm1d(2, momentum=momentum), nn.BatchNorm1d(2, momentum=momentum)
    plain(leaf(batch)).sum().backward()
    mg.checkpoint(saved, leaf(batch)).sum().backward()
    assert saved.num_batches_tracked.item() == 1
    assert saved.running_mean.tolist() == plain.running_mean.tolist()
    assert saved.running_var.tolist() == plain.running_var.tolist()


def test_retain_graph_false_frees_a_checkpoint_too():
    y = mg.checkpoint(mg.sin, leaf(1.0))
    y.backward(retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_integers_and_complex_numbers_pass_through():
    x = leaf(np.array([1 + 2j, 3 - 1j]))

    def f(x):
        return x * x, mg.argmax(abs(x))

    square, place = mg.checkpoint(f, x)
    assert place.item() == 1
    (square.real.sum() + square.imag.sum()).backward()
    expected = mg.grad(lambda x: (x * x).real.sum() + (x * x).imag.sum())(x.detach())
    assert np.array_equal(x.grad.numpy(), expected.numpy())


@pytest.mark.parametrize(
    ("segments", "runs"), [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1, 1, 1]), (3, [2, 2, 2, 1, 1]), (5, [2, 2, 2, 2, 1])]
)
def test_segments_match_and_all_except_the_last_run_again(segments, runs):
    counts = [0] * 5

    def count_calls(i, f):
        def run(x):
            counts[i] += 1
            return f(x)

        return run

    functions = [count_calls(*each) for each in enumerate([mg.sin, lambda x: x * x, mg.exp, mg.tanh, lambda x: x + 1])]
    x = leaf(RNG.normal(size=4))

    def in_a_row(x):
        for f in functions:
            x = f(x)
        return x

    (expected,) = gradients_of(lambda: in_a_row(x).sum(), x)
    counts[:] = [0] * 5
    (received,) = gradients_of(lambda: mg.checkpoint_sequential(iter(functions), segments, x).sum(), x)
    assert np.array_equal(expected, received)
    assert counts == runs


@pytest.mark.parametrize(
    ("functions", "segments", "sentence"),
    [
        ([mg.sin, mg.cos], 3, "2 functions cannot be cut into 3 segments"),
        ([], 2, "0 functions cannot be cut into 2 segments"),
        ([mg.sin], 0, "checkpoint_sequential: segments must be a whole number of at least 1, got 0"),
    ],
)
def test_zero_or_too_many_segments_are_an_error(functions, segments, sentence):
    with pytest.raises(ValueError, match=sentence):
        mg.checkpoint_sequential(functions, segments, 1.0)


def test_an_empty_list_of_functions_is_one_segment():
    assert mg.checkpoint_sequential([], 1, 3.0) == 3.0


def test_the_layers_of_a_network_can_be_segments():
    random.seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 2))
    x = mg.tensor(RNG.normal(size=(5, 3)))
    plain, saved = [], []
    for run, kept in ((model, plain), (lambda x: mg.checkpoint_sequential(list(model), 2, x), saved)):
        random.seed(3)
        model.zero_grad()
        (run(x) ** 2).sum().backward()
        kept.extend(p.grad.numpy() for p in model.parameters())
    assert all(np.array_equal(a, b) for a, b in zip(plain, saved, strict=True))
