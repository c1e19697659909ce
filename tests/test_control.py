"""Loops, branches and checkpoints: the same numbers as plain Python, in linear time and less memory."""

import tracemalloc
import weakref

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import random

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3))


def leaf(values):
    return mg.tensor(values, requires_grad=True)


def gradients_of(loss, *inputs):
    """The gradients that one walk leaves in these leaves."""
    for each in inputs:
        each.grad = None
    loss().backward()
    return [each.grad.numpy() for each in inputs]


# scan -------------------------------------------------------------------------------------------------------


def step(w):
    def forward(carry, x):
        carry = mg.tanh(carry @ w + x)
        return carry, (carry * x).sum()

    return forward


def by_hand(w, carry, xs, reverse=False):
    """The same loop, written out."""
    outputs = [None] * xs.shape[0]
    order = range(xs.shape[0])
    for t in reversed(order) if reverse else order:
        carry, outputs[t] = step(w)(carry, xs[t])
    return carry, mg.stack(outputs)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("checkpoint_every", [None, 1, 3, 7, 100])
def test_scan_does_what_a_loop_does_with_and_without_checkpoints(reverse, checkpoint_every):
    w, carry, xs = leaf(W), leaf(RNG.normal(size=3)), leaf(RNG.normal(size=(7, 3)))
    weights = mg.tensor(RNG.normal(size=7))

    def loss(run):
        last, outputs = run()
        return (outputs * weights).sum() + (last * last).sum()

    def scanned():
        return mg.scan(step(w), carry, xs, reverse=reverse, checkpoint_every=checkpoint_every)

    expected = gradients_of(lambda: loss(lambda: by_hand(w, carry, xs, reverse)), w, carry, xs)
    received = gradients_of(lambda: loss(scanned), w, carry, xs)
    assert np.array_equal(scanned()[1].numpy(), by_hand(w, carry, xs, reverse)[1].numpy())
    for a, b in zip(expected, received, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("checkpoint_every", [None, 2])
def test_scan_can_be_differentiated_twice(checkpoint_every):
    def loss(w):
        last, outputs = mg.scan(step(w), np.zeros(3), RNG_XS, checkpoint_every=checkpoint_every)
        return (last * outputs.sum()).sum()

    def slope(w):
        return mg.grad(loss)(w) * mg.tensor(W + 2)

    assert mg.gradcheck(slope, (W,), rtol=2e-5)


RNG_XS = RNG.normal(size=(5, 3))


@pytest.mark.parametrize("checkpoint_every", [None, 2])
def test_with_outputs_last_only_the_last_output_is_kept(checkpoint_every):
    every = mg.scan(step(mg.tensor(W)), np.zeros(3), RNG_XS)[1]
    last = mg.scan(step(mg.tensor(W)), np.zeros(3), RNG_XS, outputs="last", checkpoint_every=checkpoint_every)[1]
    assert last.shape == ()
    assert last.item() == every[-1].item()


def test_carry_and_inputs_may_be_nested():
    def forward(carry, x):
        return {"sum": carry["sum"] + x["a"] * x["b"][0], "count": carry["count"] + 1}, (x["a"], carry["sum"])

    a, b = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    carry, (first, sums) = mg.scan(forward, {"sum": 0.0, "count": 0}, {"a": a, "b": [b]})
    carry["sum"].backward()
    assert (carry["sum"].item(), carry["count"].item()) == (32.0, 3)
    assert (first.tolist(), sums.tolist()) == ([1, 2, 3], [0, 4, 14])
    assert (a.grad.tolist(), b.grad.tolist()) == ([4, 5, 6], [1, 2, 3])


def test_without_inputs_scan_takes_a_number_of_steps():
    doubled, nothing = mg.scan(lambda carry, x: (carry * 2, None), 1.0, length=10)
    assert (doubled.item(), nothing) == (1024.0, None)


def test_over_no_steps_the_carry_comes_back_and_there_are_no_outputs():
    carry, outputs = mg.scan(lambda carry, x: (carry + x, x), 3.0, np.zeros((0,)))
    assert (carry.item(), outputs) == (3.0, None)


def test_a_long_scan_walks_and_each_step_costs_the_same():
    """What a quadratic cost would come from: every step's gradient as large as all the inputs."""
    xs = leaf(np.ones(20_000))
    total, _ = mg.scan(lambda carry, x: (carry + x, None), 0.0, xs)
    tracemalloc.start()
    total.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(xs.grad.numpy(), np.ones(20_000))
    assert peak < 20_000 * 1_000


def peak_of_scan(length, checkpoint_every):
    """Bytes at the most while a scan of so many steps, each making 80 kB, runs and is walked back."""
    w = leaf(RNG.normal(size=(100, 100)) / 10)

    def forward(carry, x):
        return mg.tanh(mg.sin(carry @ w)), None

    tracemalloc.start()
    carry, _ = mg.scan(forward, np.ones((100, 100)), length=length, checkpoint_every=checkpoint_every)
    carry.sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_with_checkpoints_memory_grows_as_the_root_of_the_number_of_steps():
    plain = peak_of_scan(100, None) / peak_of_scan(25, None)
    saved = peak_of_scan(100, 10) / peak_of_scan(25, 5)
    assert plain > 3.5
    assert saved < 2.4
    assert peak_of_scan(100, 10) < 0.35 * peak_of_scan(100, None)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda f: mg.scan(f, 0.0), r"scan: neither xs nor length says how many steps"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), length=4), r"scan: lengths \[3, 4\] differ"),
    (lambda f: mg.scan(f, 0.0, 1.0), r"first axis of xs, and a tensor of shape \(\) has none"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), outputs="all"), "outputs is 'every' or 'last', got 'all'"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), checkpoint_every=0), "checkpoint_every is a whole number of at least 1"),
    (lambda f: mg.scan(f, np.ones(2), np.ones((3, 4, 1))), r"went in as \(2,\) and came out as \(4, 2\)"),
])  # fmt: skip
def test_a_wrong_scan_says_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(lambda carry, x: (carry + x, x))


def test_a_step_that_does_not_return_a_pair_is_refused():
    with pytest.raises(TypeError, match=r"scan: f returns \(carry, y\), got Tensor"):
        mg.scan(lambda carry, x: carry + x, 0.0, np.ones(3))


# cond and while_loop ----------------------------------------------------------------------------------------


def test_cond_computes_only_the_branch_that_is_taken():
    taken = []

    def branch(name):
        return lambda x: taken.append(name) or x * len(name)

    x = leaf(3.0)
    mg.cond(x > 0, branch("yes"), branch("no"), x).backward()
    assert (taken, x.grad.item()) == (["yes"], 3.0)


def test_nothing_leaks_from_the_branch_that_is_not_taken():
    safe = mg.grad(lambda x: mg.cond(x == 0, lambda x: x * 0, mg.log, x))
    with np.errstate(all="raise"):
        assert safe(0.0).item() == 0.0


def test_a_condition_of_several_entries_is_refused():
    with pytest.raises(ValueError, match=r"cond: a condition is one yes or no, got shape \(2,\).*mg\.where"):
        mg.cond(mg.tensor([1.0, 2.0]) > 0, mg.sin, mg.cos, 1.0)


def test_a_while_loop_has_the_gradient_of_the_steps_it_took():
    def root(x):
        """Newton's iteration for the square root."""
        def better(state):
            return {"guess": (state["guess"] + state["x"] / state["guess"]) / 2, "x": state["x"]}

        def unfinished(state):
            return abs(state["guess"] * state["guess"] - state["x"]) > 1e-12

        return mg.while_loop(unfinished, better, {"guess": x, "x": x}, max_iterations=50)["guess"]

    assert root(2.0).item() == pytest.approx(2**0.5, rel=1e-12)
    assert mg.grad(root)(2.0).item() == pytest.approx(0.5 / 2**0.5, rel=1e-9)


def test_a_loop_that_is_never_done_is_an_error():
    with pytest.raises(RuntimeError, match="the condition still holds after 5 iterations"):
        mg.while_loop(lambda x: x > 0, lambda x: x + 1, 1.0, max_iterations=5)


def test_a_loop_whose_condition_fails_at_once_takes_no_step():
    assert mg.while_loop(lambda x: x > 5, lambda x: x / 0, 1.0, max_iterations=0).item() == 1.0


# checkpoint -------------------------------------------------------------------------------------------------


def test_a_checkpoint_gives_the_very_gradients_of_the_function():
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


def test_arguments_and_results_may_be_nested():
    def f(pair, *, scale, name):
        assert name == "given"
        return {"sum": (pair[0] + pair[1]) * scale, "parts": [pair[0] * 2, 7]}

    a, b, s = leaf(2.0), leaf(3.0), leaf(4.0)
    out = mg.checkpoint(f, (a, b), scale=s, name="given")
    assert out["parts"][1] == 7
    (out["sum"] + out["parts"][0]).backward()
    assert (a.grad.item(), b.grad.item(), s.grad.item()) == (6.0, 4.0, 5.0)


def test_a_tensor_given_twice_or_also_read_from_outside_receives_all():
    x = leaf(3.0)
    mg.checkpoint(lambda a, b: a * b * x, x, x).backward()
    assert x.grad.item() == 27.0


def test_a_result_computed_before_may_be_read_from_outside():
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


def test_random_numbers_are_drawn_again_as_they_were_and_the_draws_after_go_on():
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


def test_a_walk_back_leaves_the_random_state_where_it_was():
    y = mg.checkpoint(lambda x: x * random.normal(), leaf(1.0))
    random.seed(1)
    y.backward()
    drawn = random.normal().item()
    random.seed(1)
    assert random.normal().item() == drawn


def test_a_tensor_from_outside_that_changed_in_between_is_an_error():
    w, x = leaf([2.0, 3.0]), leaf([1.0, 1.0])

    def layer(x):
        return mg.tanh(x * w)

    y = mg.checkpoint(layer, x).sum()
    with mg.no_grad():
        w *= 2
    with pytest.raises(RuntimeError, match=r"shape \(2,\) that layer reads from outside was changed.*version 0, now 1"):
        y.backward()


def test_looking_at_a_tensor_from_outside_is_no_change():
    w, x = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    y = mg.checkpoint(lambda x: x * w, x).sum()
    assert w.data[0] == 2.0
    y.backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_an_argument_that_changed_in_between_gives_the_gradient_of_what_it_was():
    x = leaf([1.0, 2.0])
    y = mg.checkpoint(lambda x: x * x, x).sum()
    x.data[0] = 100.0
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_function_that_does_something_else_the_second_time_is_refused():
    runs = []

    def fickle(x):
        runs.append(1)
        return x * len(runs)

    with pytest.raises(RuntimeError, match="fickle gave other results as it ran again"):
        mg.checkpoint(fickle, leaf(2.0)).backward()


def test_a_function_that_reads_something_else_the_second_time_is_refused():
    a, b = leaf(1.0) * 2, leaf(2.0) * 1
    sources = [a, b]
    y = mg.checkpoint(lambda x: x * sources.pop(0), leaf(3.0))
    with pytest.raises(RuntimeError, match="read another tensor from outside as it ran again"):
        y.backward()


def test_a_function_knows_that_it_runs_under_a_checkpoint_and_that_it_runs_again():
    seen = []

    def f(x):
        seen.append((mg.is_checkpointing(), mg.is_recomputing()))
        return x * 2

    mg.checkpoint(f, leaf(1.0)).backward()
    assert seen == [(True, False), (True, True)]
    assert not mg.is_checkpointing()
    assert not mg.is_recomputing()


def test_where_no_gradient_is_wanted_the_function_runs_once():
    calls = []
    assert mg.checkpoint(lambda x: calls.append(1) or x + 1, mg.tensor(1.0)).item() == 2.0
    with mg.no_grad():
        assert not mg.checkpoint(lambda x: calls.append(1) or x + 1, leaf(1.0)).requires_grad
    assert len(calls) == 2


def test_in_a_record_the_inside_of_a_checkpoint_can_be_seen():
    x = leaf(0.5)
    with mg.record() as trace:
        mg.checkpoint(lambda x: mg.sin(x) * 2, x).backward()
    assert [step.rule for step in trace.steps] == ["multiply.a", "sin.x"]


def test_a_record_of_the_walk_alone_shows_the_checkpoint_as_one_step():
    x = leaf(0.5)
    y = mg.checkpoint(lambda x: mg.sin(x) * 2, x)
    with mg.record() as trace:
        y.backward()
    assert [step.rule for step in trace.steps] == ["checkpoint.parts"]
    assert trace.steps[0].contribution == x.grad.item()


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


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_functions_in_segments_do_what_they_do_in_a_row(segments):
    functions = [mg.sin, lambda x: x * x, mg.exp, mg.tanh, lambda x: x + 1]
    x = leaf(RNG.normal(size=4))

    def in_a_row(x):
        for f in functions:
            x = f(x)
        return x

    (expected,) = gradients_of(lambda: in_a_row(x).sum(), x)
    (received,) = gradients_of(lambda: mg.checkpoint_sequential(functions, segments, x).sum(), x)
    assert np.array_equal(expected, received)


def test_too_many_segments_are_refused():
    with pytest.raises(ValueError, match="2 functions cannot be cut into 3 segments"):
        mg.checkpoint_sequential([mg.sin, mg.cos], 3, 1.0)


def test_the_layers_of_a_network_can_be_cut_into_segments():
    nn = mg.nn
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
