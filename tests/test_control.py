"""Loops and branches: the same numbers as plain Python, in linear time."""

import tracemalloc
import weakref

import numpy as np
import pytest

import micrograd_plus as mg
from walked import gradients_of, leaf

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3))


# scan -------------------------------------------------------------------------------------------------------


def step(w):
    def forward(carry, x):
        carry = mg.tanh(carry @ w + x)
        return carry, (carry * x).sum()

    return forward


def by_hand(w, carry, xs, reverse=False):
    """Return the result of the same loop, written out."""
    outputs = [None] * xs.shape[0]
    order = range(xs.shape[0])
    for t in reversed(order) if reverse else order:
        carry, outputs[t] = step(w)(carry, xs[t])
    return carry, mg.stack(outputs)


@pytest.mark.parametrize("outputs", ["every", "last"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("checkpoint_every", [None, 1, 3, 7, 100])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_scan_equals_a_loop_with_and_without_checkpoints(length, checkpoint_every, reverse, outputs):
    w, carry, xs = leaf(W), leaf(RNG.normal(size=3)), leaf(RNG.normal(size=(length, 3)))
    weights = mg.tensor(RNG.normal(size=length))

    def loss(run):
        last, made = run()
        return (made * (weights if outputs == "every" else 2.0)).sum() + (last * last).sum()

    def loop():
        last, made = by_hand(w, carry, xs, reverse)
        return last, made if outputs == "every" else made[0 if reverse else -1]

    def run_scan():
        return mg.scan(step(w), carry, xs, reverse=reverse, outputs=outputs, checkpoint_every=checkpoint_every)

    expected = gradients_of(lambda: loss(loop), w, carry, xs)
    received = gradients_of(lambda: loss(run_scan), w, carry, xs)
    assert np.array_equal(run_scan()[1].numpy(), loop()[1].numpy())
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
def test_scan_with_outputs_last_returns_only_the_last_output(checkpoint_every):
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


@pytest.mark.parametrize("checkpoint_every", [None, 1, 5])
@pytest.mark.parametrize("outputs", ["every", "last"])
def test_scan_without_steps_returns_the_carry_and_no_outputs(outputs, checkpoint_every):
    start = leaf(3.0)
    steps = {"outputs": outputs, "checkpoint_every": checkpoint_every}
    carry, made = mg.scan(lambda carry, x: (carry + x, x), start * 2, np.zeros((0,)), **steps)
    carry.backward()
    assert (carry.item(), made, start.grad.item()) == (6.0, None, 2.0)
    assert mg.scan(lambda carry, x: (carry, x), 1.0, length=0, **steps)[1] is None


def test_outputs_may_be_plain_numbers():
    assert mg.scan(lambda carry, x: (carry, 1.5), 0.0, length=2)[1].tolist() == [1.5, 1.5]


def test_a_long_scan_walks_and_each_step_costs_the_same():
    """A quadratic cost would come from a gradient as large as all inputs in every step."""
    xs = leaf(np.ones(20_000))
    total, _ = mg.scan(lambda carry, x: (carry + x, None), 0.0, xs)
    tracemalloc.start()
    total.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(xs.grad.numpy(), np.ones(20_000))
    assert peak < 20_000 * 1_000


def peak_of_scan(length, checkpoint_every):
    """Return the peak memory in bytes of a scan and its walk; each step makes 80 kB."""
    w = leaf(RNG.normal(size=(100, 100)) / 10)

    def forward(carry, x):
        return mg.tanh(mg.sin(carry @ w)), None

    tracemalloc.start()
    carry, _ = mg.scan(forward, np.ones((100, 100)), length=length, checkpoint_every=checkpoint_every)
    carry.sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_of_a_checkpointed_scan_grows_as_a_square_root():
    plain = peak_of_scan(100, None) / peak_of_scan(25, None)
    saved = peak_of_scan(100, 10) / peak_of_scan(25, 5)
    assert plain > 3.5
    assert saved < 2.4
    assert peak_of_scan(100, 10) < 0.35 * peak_of_scan(100, None)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda f: mg.scan(f, 0.0), r"scan: neither xs nor length says how many steps"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), length=4), r"scan: lengths \[3, 4\] differ"),
    (lambda f: mg.scan(f, 0.0, 1.0), r"first axis of xs, and a tensor of shape \(\) has none"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), outputs="all"), "outputs must be 'every' or 'last', got 'all'"),
    (lambda f: mg.scan(f, 0.0, np.ones(3), checkpoint_every=0), "checkpoint_every must be a whole number of at"),
    (lambda f: mg.scan(f, np.ones(2), np.ones((3, 4, 1))), r"went in as \(2,\) and came out as \(4, 2\)"),
])  # fmt: skip
def test_a_wrong_scan_raises_an_error_that_explains(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(lambda carry, x: (carry + x, x))


@pytest.mark.parametrize(
    ("step", "got"), [(lambda c, x: c + x, "Tensor"), (lambda c, x: (c, x, x), "tuple"), (lambda c, x: [c, x], "list")]
)
def test_a_step_that_does_not_return_a_pair_is_refused(step, got):
    with pytest.raises(TypeError, match=rf"scan: f must return \(carry, y\), got {got}"):
        mg.scan(step, 0.0, np.ones(3))


@pytest.mark.parametrize("every", [None, 2])
def test_scan_with_outputs_last_keeps_one_y(every):
    made, kept = [], []

    def step(carry, x):
        kept.append(sum(array() is not None for array in made))
        y = x + carry
        made.append(weakref.ref(y._data))
        return carry + 1, y

    mg.scan(step, np.zeros(2), np.ones((6, 2)), outputs="last", checkpoint_every=every)
    assert max(kept) == (1 if every is None else 2)


# cond and while_loop ----------------------------------------------------------------------------------------


def test_cond_computes_only_the_chosen_branch():
    taken = []

    def branch(name):
        return lambda x: taken.append(name) or x * len(name)

    x = leaf(3.0)
    mg.cond(x > 0, branch("yes"), branch("no"), x).backward()
    assert (taken, x.grad.item()) == (["yes"], 3.0)


@pytest.mark.parametrize(("sign", "received"), [(1.0, (3.0, 2.0)), (-1.0, (1 / 3, 2 / 9))])
def test_both_branches_may_read_tensors_from_outside(sign, received):
    x, w = leaf(2.0 * sign), leaf(3.0)
    mg.cond(x > 0, lambda x: x * w, lambda x: x / w, x).backward()
    assert (x.grad.item(), w.grad.item()) == pytest.approx(received)


def test_no_gradient_leaks_from_the_other_branch():
    safe = mg.grad(lambda x: mg.cond(x == 0, lambda x: x * 0, mg.log, x))
    with np.errstate(all="raise"):
        assert safe(0.0).item() == 0.0


@pytest.mark.parametrize("yes", [True, 1, 0.5, mg.tensor([[True]]), np.bool_(True)])
def test_a_condition_may_be_whatever_is_one_yes_or_no(yes):
    assert mg.cond(yes, lambda: "yes", lambda: "no") == "yes"
    assert mg.while_loop(lambda x: yes if x < 3 else False, lambda x: x + 1, 0.0, 9).item() == 3.0


def test_a_condition_of_several_entries_is_refused():
    with pytest.raises(ValueError, match=r"cond: a condition must be a single boolean, got shape \(2,\).*mg\.where"):
        mg.cond(mg.tensor([1.0, 2.0]) > 0, mg.sin, mg.cos, 1.0)


def test_a_while_loop_has_the_gradient_of_the_steps_it_took():
    def root(x):
        """Newton's iteration for the square root."""
        def better(state):
            return {"guess": (state["guess"] + state["x"] / state["guess"]) / 2, "x": state["x"]}

        def open_scan(state):
            return abs(state["guess"] * state["guess"] - state["x"]) > 1e-12

        return mg.while_loop(open_scan, better, {"guess": x, "x": x}, max_iterations=50)["guess"]

    assert root(2.0).item() == pytest.approx(2**0.5, rel=1e-12)
    assert mg.grad(root)(2.0).item() == pytest.approx(0.5 / 2**0.5, rel=1e-9)


def test_while_loop_sends_gradients_to_captured_tensors():
    start, factor = leaf(2.0), leaf(3.0)
    grow = mg.while_loop(lambda x: x < 100, lambda x: x * factor, start, max_iterations=10)
    grow.backward()
    assert grow.item() == 2.0 * 3**4
    assert (start.grad.item(), factor.grad.item()) == (3.0**4, 2.0 * 4 * 3**3)


def test_loops_and_branches_work_inside_a_checkpoint():
    def grow(start, factor):
        def step(x):
            return mg.cond(x > 10, lambda x: x + factor, lambda x: x * factor, x)

        return mg.while_loop(lambda x: x < 30, step, start, max_iterations=30)

    start, factor = leaf(2.0), leaf(3.0)
    plain = gradients_of(lambda: grow(start, factor), start, factor)
    saved = gradients_of(lambda: mg.checkpoint(lambda start: grow(start, factor), start), start, factor)
    assert [each.item() for each in plain] == [each.item() for each in saved] == [9.0, 16.0]


def test_a_loop_that_is_never_done_is_an_error():
    with pytest.raises(RuntimeError, match="the condition still holds after 5 iterations"):
        mg.while_loop(lambda x: x > 0, lambda x: x + 1, 1.0, max_iterations=5)


def test_a_loop_whose_condition_fails_at_once_takes_no_step():
    assert mg.while_loop(lambda x: x > 5, lambda x: x / 0, 1.0, max_iterations=0).item() == 1.0
