"""What if: the repetition of a record with a change equals the program that was changed."""

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus import nn
from micrograd_plus.engine import Value
from micrograd_plus.tracing import load_trace, what_if

ROUNDS = 4


def train(clears=True, rate=0.1, optimizer=mg.optim.SGD, clips=False, by_hand=False, hook=None):
    """Record a training loop, with or without some of its lines."""
    random = np.random.default_rng(2)
    mg.random.seed(2)
    x, y = mg.tensor(random.normal(size=(5, 2))), mg.tensor(random.normal(size=(5, 1)))
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    if hook is not None:
        net[0].weight.register_hook(hook)
    steps = optimizer(net.parameters(), lr=rate)
    with mg.record() as trace:
        for _ in range(ROUNDS):
            if clears:
                steps.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            if clips:
                for parameter in net.parameters():
                    parameter.grad *= 0.5
            if by_hand:
                with mg.no_grad():
                    for parameter in net.parameters():
                        parameter -= rate * parameter.grad
            else:
                steps.step()
    return trace


def halve(gradient):
    return gradient * 0.5


def check_equal(repeated, truth):
    """Compare all steps, walks and final gradients of two traces."""
    assert len(repeated.steps) == len(truth.steps)
    for one, other in zip(repeated.steps, truth.steps, strict=True):
        for word in ("upstream", "contribution", "after"):
            np.testing.assert_allclose(getattr(one, word), getattr(other, word), rtol=1e-9)
    for one, other in zip(repeated.walks, truth.walks, strict=True):
        for mine, real in zip(one.leaves, other.leaves, strict=True):
            np.testing.assert_allclose(mine.value, real.value, rtol=1e-9)
            np.testing.assert_allclose(mine.after, real.after, rtol=1e-9)
    for node, gradient in truth.gradients.items():
        np.testing.assert_allclose(repeated.gradients[node], gradient, rtol=1e-9)


@pytest.mark.parametrize(("recorded", "change", "changed"), [
    ({}, {"without": "zero_grad"}, {"clears": False}),
    ({}, {"without": "clear"}, {"clears": False}),
    ({}, {"lr": 0.3}, {"rate": 0.3}),
    ({"optimizer": mg.optim.Adam}, {"lr": 0.02}, {"rate": 0.02, "optimizer": mg.optim.Adam}),
    ({"optimizer": mg.optim.Adam}, {"without": "zero_grad"}, {"clears": False, "optimizer": mg.optim.Adam}),
    ({"clips": True}, {"without": "scale"}, {}),
    ({"by_hand": True}, {"lr": 0.3}, {"by_hand": True, "rate": 0.3}),
    ({"by_hand": True}, {"without": "zero_grad"}, {"by_hand": True, "clears": False}),
    ({"hook": halve}, {"without": "halve"}, {}),
    ({"hook": halve}, {"without": "zero_grad"}, {"hook": halve, "clears": False}),
])  # fmt: skip
def test_a_repetition_equals_the_changed_program(recorded, change, changed):
    check_equal(what_if(train(**recorded), **change), train(**changed))


def train_on_parts(rate):
    """Record a loop over the entries of tensors with and without a graph, and the largest of them."""
    w, returns = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([3.0, 4.0])
    steps = mg.optim.SGD([w], lr=rate)
    with mg.record() as trace:
        for _ in range(2):
            steps.zero_grad()
            parts = [entry * entry * back for entry, back in zip(w, returns * 2, strict=True)]
            (largest, *_), (place, *_) = mg.topk(mg.stack(parts), 2)
            (sum(parts) + largest * mg.astype(place, float)).backward()
            steps.step()
    return trace


def test_operations_with_several_results_are_repeated():
    check_equal(what_if(train_on_parts(0.1), lr=0.01), train_on_parts(0.01))


def train_with_clips(clip, clears=True, rate=0.1):
    """Record a loop that clips gradients, one of a parameter that nothing is computed from."""
    w, b, idle = (mg.tensor(x, requires_grad=True) for x in ([1.0, -2.0], [0.5], [3.0]))
    x, target = mg.tensor([[1.0, 2.0], [3.0, -1.0]]), mg.tensor([1.0, 0.0])
    idle.grad = mg.tensor([4.0])
    steps = mg.optim.SGD([w, b], lr=rate, momentum=0.9)
    with mg.record() as trace:
        for _ in range(3):
            if clears:
                steps.zero_grad()
            ((x @ w + b - target) ** 2).mean().backward()
            clip([w, b, idle])
            steps.step()
    return trace


@pytest.mark.parametrize("clip", [
    lambda parameters: nn.utils.clip_grad_norm_(parameters, 2.0),
    lambda parameters: nn.utils.clip_grad_norm_(parameters, 0.5, norm_type=np.inf),
    lambda parameters: nn.utils.clip_grad_value_(parameters, 1.5),
])  # fmt: skip
def test_gradients_are_clipped_again_by_what_they_would_be(clip):
    check_equal(what_if(train_with_clips(clip), without="zero_grad"), train_with_clips(clip, clears=False))
    check_equal(what_if(train_with_clips(clip), lr=0.01), train_with_clips(clip, rate=0.01))
    check_equal(what_if(train_with_clips(clip), without="clip"), train_with_clips(lambda _: None))


def train_by_rule(change, clears=True):
    """Record a loop whose weights change by a rule of the program's own."""
    w = mg.tensor([1.0, -2.0], requires_grad=True)
    with mg.record() as trace:
        for _ in range(3):
            if clears:
                w.grad = None
            (w * w * [1.0, 3.0]).sum().backward()
            change(w)
    return trace


def train_with_a_dead_neuron(clears=True, rate=0.1):
    """Record two rounds in which the first parameter is 0 at first, and so has no gradient but 0 in the first."""
    a, b = Value(0.0), Value(2.0)
    with mg.record() as trace:
        for step in (1.0, 0.5):
            for p in (a, b) if clears else ():
                p.grad = 0
            (a * b * (b - b) + b * b).backward()
            for p in (a, b):
                p.data -= rate * step * p.grad
    return trace, a, b


def test_a_gradient_of_zero_does_not_hide_a_learning_rate():
    trace, *_ = train_with_a_dead_neuron()
    _, *_, b = train_with_a_dead_neuron(clears=False)
    repeated = what_if(trace, without="clear")
    node = next(node.id for node in trace.nodes if node.label == "b")
    assert repeated.gradients[node] == b.grad


def halve_then_descend(w):
    w.grad = w.grad / 2
    w.data = w.data - 0.1 * w.grad.data


def test_what_a_record_does_not_explain_is_refused_once_numbers_differ():
    halved = train_by_rule(halve_then_descend)
    check_equal(what_if(halved, without="clear"), train_by_rule(halve_then_descend, clears=False))
    signed = train_by_rule(lambda w: w.assign(w.numpy() - 0.1 * np.sign(w.grad.numpy())))
    with pytest.raises(ValueError, match=r"does not say what assign \(line \d+\) would make of w, now that other"):
        what_if(signed, without="clear")
    check_equal(what_if(signed, without=lambda entry: entry is signed.journal[-1]), signed)
    w = mg.tensor([1.0, -2.0], requires_grad=True)
    w.register_hook(lambda gradient: mg.clip(gradient, min=-3.0, max=3.0))
    steps = mg.optim.SGD([w], lr=0.1)
    with mg.record() as trace:
        for _ in range(2):
            steps.zero_grad()
            (w * w).sum().backward()
            steps.step()
    with pytest.raises(ValueError, match="would make of the gradient of w"):
        what_if(trace, lr=0.01)


def test_the_journal_says_what_would_have_happened():
    repeated = what_if(train(), without=lambda entry: entry.kind == "clear", lr=0.5)
    assert {entry.kind for entry in repeated.journal} == {"compute", "begin", "arrive", "accumulate", "end", "update"}
    assert {entry.by for entry in repeated.journal if entry.kind == "update"} == {"SGD(lr=0.5)"}
    loaded = load_trace(repeated.to_json())
    assert len(loaded.journal) == len(repeated.journal)
    assert "in all, the walk has changed the .grad of" in repeated.summary() or len(repeated.steps) > 20


def test_numbers_drawn_at_random_stay_the_same():
    x = mg.tensor(np.ones(50), requires_grad=True)
    steps = mg.optim.SGD([x], lr=0.1)
    with mg.record() as trace:
        for _ in range(2):
            nn.functional.dropout(x, 0.5).sum().backward()
            steps.step()
    repeated = what_if(trace, lr=0.2)
    np.testing.assert_array_equal(repeated.steps[0].contribution, trace.steps[0].contribution)


def test_one_entry_is_left_out_by_its_number():
    trace = train()
    at = next(at for at, entry in enumerate(trace.journal) if entry.kind == "clear" and entry.before is not None)
    node = trace.journal[at].node
    repeated = what_if(trace, without=at)
    held = {leaf.node: leaf.before for leaf in repeated.walks[1].leaves}
    assert [each for each, before in held.items() if before is not None] == [node]


def test_replacing_is_the_replay_of_that_name():
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        (x * x).backward()
    assert what_if(trace, add=False).gradients[0].item() == 3.0


def test_requests_that_cannot_be_met_say_why(tmp_path):
    trace = train()
    with pytest.raises(ValueError, match="say what to leave out"):
        what_if(trace)
    with pytest.raises(ValueError, match=r"nothing to leave out; the journal has SGD\(lr=0.1\), zero_grad"):
        what_if(trace, without="hook")
    with pytest.raises(ValueError, match="entry 0 is no change"):
        what_if(trace, without=0)
    with pytest.raises(ValueError, match="one change at a time"):
        what_if(trace, lr=0.1, add=False)
    with pytest.raises(ValueError, match="a file does not have the program's operations"):
        what_if(load_trace(trace.to_json()), lr=0.1)
    x = mg.tensor(np.ones(50), requires_grad=True)
    moving = mg.optim.SGD([x], lr=0.1, momentum=0.9)
    (x * x).sum().backward()
    moving.step()
    with mg.record() as late:
        for _ in range(2):
            x.grad = None
            (x * x).sum().backward()
            moving.step()
    with pytest.raises(ValueError, match="cannot be repeated from its record: step"):
        what_if(late, without="clear")
    with mg.record() as once:
        x.grad = None
        (x * x).sum().backward()
        moving.step()
    with pytest.raises(ValueError, match=r"record: SGD\(lr=0.1\) would give other numbers to x"):
        what_if(once, without="clear")
    with mg.record() as plain:
        (x * 2.0).sum().backward()
        x.grad = None
    with pytest.raises(ValueError, match="no update with a learning rate"):
        what_if(plain, lr=0.1)


def train_values(clears=True, lr=0.05):
    """Record three rounds of micrograd, and return the trace and its two numbers."""
    a, b = Value(2.0), Value(-1.0)
    b.grad = 0.5
    with mg.record() as trace:
        for _ in range(3):
            for p in (a, b) if clears else ():
                p.grad = 0
            loss = (a * b - 3) ** 2 + a.tanh()
            loss.backward()
            for p in (a, b):
                p.data -= lr * p.grad
    return trace, a, b


@pytest.mark.parametrize(("change", "program"), [
    ({"without": "clear"}, {"clears": False}), ({"without": ".grad ="}, {"clears": False}),
    ({"lr": 0.02}, {"lr": 0.02}),
])  # fmt: skip
def test_what_if_of_micrograds_values_equals_another_run(change, program):
    repeated = what_if(train_values()[0], **change)
    other, *values = train_values(**program)
    check_equal(repeated, other)
    written = {entry.node: entry.after for entry in repeated.journal if entry.kind == "write"}
    assert [written[0], written[1]] == pytest.approx([value.data for value in values])


def test_what_if_cannot_repeat_values_of_a_handwritten_operation():
    a = Value(2.0)
    with mg.record() as trace:
        a.grad = 0
        b = Value(4.0, (a,), "square")
        b._backward = lambda: None
        with mg.no_grad():
            c = a * 2.0
        (b * c).backward()
    with pytest.raises(ValueError, match="computed under no_grad"):
        what_if(trace, without="clear")


def test_a_comparison_says_which_gradients_differ_after_equal_steps():
    w, v = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([3.0, 1.0], requires_grad=True)
    w.register_hook(lambda gradient: gradient * 10)
    with mg.record() as trace:
        (w * v).sum().backward()
    without = mg.tracing.what_if(trace, without="hook")
    said = repr(viz.compare(trace, without))
    assert said == "Both walks are the same, step by step: 3. Afterwards, the gradients of w differ."
    assert repr(viz.compare(trace, trace)) == "Both walks are the same, step by step: 3."


def test_a_difference_of_arrays_has_their_norms():
    w = mg.tensor([3.0, 4.0], requires_grad=True)
    with mg.record() as trace:
        y = w * 2.0
        y.register_hook(lambda gradient: gradient * 3)
        y.sum().backward()
    without = mg.tracing.what_if(trace, without="hook")
    said = repr(mg.tracing.compare(trace, without))
    assert said.endswith("differs in upstream: a (2,) array of norm 4.243 and a (2,) array of norm 1.414")


def test_a_repetition_drops_the_gradient_of_a_frozen_leaf_too():
    def run(clears):
        w, v = (mg.tensor(number, requires_grad=True) for number in (2.0, 3.0))
        optimizer = mg.optim.SGD([w, v], lr=0.1)
        with mg.record() as trace:
            for number in range(3):
                product = w * v * w
                w.requires_grad = number != 1
                product.backward()
                w.requires_grad = True
                optimizer.step()
                if clears:
                    optimizer.zero_grad()
        return trace, [w.item(), v.item()]

    repeated = what_if(run(True)[0], without="zero_grad")
    last = {entry.node: entry.after for entry in repeated.journal if entry.kind == "update"}
    assert list(last.values()) == pytest.approx(run(False)[1])
    assert "requires_grad=False drops the gradient of w\n" in str(repeated)
