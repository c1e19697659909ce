"""Steps of micrograd's Values as programs of floats, and of arrays for a batch."""

from __future__ import annotations

import io
import random
import sys
import threading

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.engine import Value
from micrograd_plus.nn import MLP, Neuron
from micrograd_plus.written import number_page, number_program
from micrograd_plus.written.number_step import trace_numbers


def state_of(values):
    """Return the numbers and gradients of some Values, in every bit."""
    return repr([(value.data, float(value.grad)) for value in values])


def network(sizes=(2, 4, 3, 1)):
    """Return a network, always with the same weights."""
    state = random.getstate()
    random.seed(0)
    model = MLP(sizes[0], list(sizes[1:]))
    random.setstate(state)
    return model


def train(model):
    """Return a step that trains a network on one point, as in micrograd's demo."""

    def step(x, y, target):
        model.zero_grad()
        score = model([Value(x), y])
        loss = (1 + -target * score).relu() + 1e-2 * sum(p * p for p in model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data -= 0.1 * p.grad
        return loss, score.data

    return step


def test_a_network_of_values_has_the_engines_bits():
    ours, theirs = network(), network()
    engine, step, rng = train(ours), mg.compile(train(theirs)), np.random.default_rng(0)
    for _ in range(6):
        x, y, target = rng.normal(size=3).tolist()
        (loss, score), (ours_loss, ours_score) = engine(x, y, target), step(x, y, target)
        assert repr((loss.data, score)) == repr((ours_loss.data, ours_score))
        assert ours_loss.parents == ()
        assert state_of(ours.parameters()) == state_of(theirs.parameters())
    assert step.counts == {"traced": 2, "written": 4}


FUNCTIONS = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - 2 * b, lambda a, b: a / (b * b + 1), lambda a, b: -a,
    lambda a, b: a**2, lambda a, b: (a * a + 0.1) ** b, lambda a, b: a.relu(), lambda a, b: a.tanh() * b,
    lambda a, b: a.exp() * 0.1, lambda a, b: (a * a + 0.1).log(), lambda a, b: a.sigmoid(),
    lambda a, b: (b * b + 0.1).sqrt(), lambda a, b: a.sin() - b.cos(), lambda a, b: 0.0 * a,
    lambda a, b: double_by_hand(a) + (a * a + 1) ** -1,
    lambda a, b: 2.0 ** (a * 0.1) + 1 / (b * b + 2),
]  # fmt: skip


def double_by_hand(a):
    """Return twice a number, by an operation that a student would write."""
    out = Value(a.data * 2, (a,), "double")

    def backward():
        a.grad += 2 * out.grad

    out._backward = backward
    return out


def random_step(seed):
    """Return two Values, and a step of random operations on them and on a number."""
    held = [Value(0.5, label="w"), Value(-1.25, label="b")]

    def step(x):
        rng = random.Random(seed)  # noqa: S311 - nothing is secret
        if seed % 3:
            for value in held:
                value.grad = 0
        values = [*held, held[0] * x]
        for _ in range(rng.randint(2, 9)):
            values.append(rng.choice(FUNCTIONS)(*rng.choices(values, k=2)))
        total = sum(values)
        total.backward()
        if seed % 5 == 0:
            (values[-1] * 2).backward()
        if seed % 2:
            held[0].data = held[0].data - 0.01 * held[0].grad
        return total, values[-1], values[rng.randrange(len(values))].grad

    return held, step


def test_steps_of_random_operations_have_the_engines_bits():
    assert Value is not None
    for seed in [*range(150), 1158, 2365, 2790]:
        (ours, engine), (theirs, step) = random_step(seed), random_step(seed)
        assert len(ours) == 2
        step, rng = mg.compile(step), random.Random(seed)  # noqa: S311 - nothing is secret
        for _ in range(4):
            x = rng.choice([rng.uniform(-2, 2), rng.uniform(-1, 1), 0.0, -0.0])
            assert repr(plain(engine(x))) == repr(plain(step(x))), (seed, x)
            assert state_of(ours) == state_of(theirs), (seed, x)
        assert step.counts["written"] == 2


def plain(results):
    """Return floats in place of Values."""
    return [float(getattr(each, "data", each)) for each in results]


def test_a_zero_is_dropped_only_where_its_sign_is_hidden(monkeypatch):
    def difference():
        a, b = Value(2.0), Value(-0.0)

        def step():
            a.grad = b.grad = 0
            (a * b).backward()
            return a.grad

        return repr(step()) != repr(trace_numbers(step, (), {}, "step")[1].function(*[a.data, b.data][:2])[0])

    assert not difference()
    monkeypatch.setattr(number_page.Number, "hides_sign", property(lambda self: True, lambda self, value: None))
    assert difference()


def test_gradients_that_are_there_and_other_values_as_arguments():
    w = Value(3.0)

    def step(x, rate):
        loss = (w * x) ** 2
        loss.backward()
        w.data -= rate * w.grad
        return loss

    compiled, expected = mg.compile(step), []
    for run in (step, compiled):
        w.data, w.grad, x = 3.0, 0.25, Value(0.5)
        found = [(run(x, 0.1 * i).data, w.data, w.grad, x.grad) for i in range(5)]
        expected.append(repr(found))
    assert expected[0] == expected[1]
    assert compiled.counts == {"traced": 2, "written": 3}
    other = Value(-1.0)
    assert compiled(other, 0.0).data == (w.data * -1.0) ** 2
    assert compiled.counts["written"] == 4
    compiled(other * 1.0, 0.0)
    assert compiled.counts["engine"] == 1


# The text -------------------------------------------------


def test_the_text_has_the_users_names_and_lines_and_needs_math_alone():
    w, b = Value(0.5, label="w"), Value(-0.25, label="b")

    def step(x, target):
        w.grad = b.grad = 0
        guess = (w * x + b).tanh()
        loss = (guess - target) ** 2
        loss.backward()
        w.data -= 0.1 * w.grad
        return loss

    program = mg.written_out(step, 2.0, 1.0)
    source = program.source
    assert "def step(x, target, w, b):" in source
    assert "# guess = (w * x + b).tanh()  " in source
    assert "guess = math.tanh(b + w * x)" in source or "guess = math.tanh(w * x + b)" in source
    assert "# back through multiply: guess = (w * x + b).tanh()  " in source
    assert "to_w = 0 + " in source
    assert "new_w = w - 0.1 * to_w" in source
    space = {}
    exec(source, space)  # noqa: S102 - the text of a program of this test
    w.data = 0.5
    loss = step(2.0, 1.0)
    assert space["step"](2.0, 1.0, 0.5, -0.25) == (loss.data, w.data, w.grad, b.grad)


def test_a_long_sum_is_broken_into_lines():
    neuron = network((40, 1)).layers[0].neurons[0]
    source = mg.written_out(lambda x: neuron([x] * 40), 1.5).source
    assert max(map(len, source.splitlines()[5:])) <= number_program.LINE
    assert "".join(source.split()).count("*x") == 40
    assert isinstance(neuron, Neuron)


# What no program can repeat -------------------------------


@pytest.mark.parametrize("ask", [
    lambda v: v if v.data > 0 else -v, lambda v: v * float(v.data), lambda v: v * int(v.data), lambda v: v * float(v),
    lambda v: [v for _ in range(v.data)], lambda v: (str(v.data), v)[1], lambda v: max(v.data, 0.0),
])  # fmt: skip
def test_asking_for_a_number_of_a_value_is_an_error(ask):
    w = Value(2.0)
    step = mg.compile(lambda x: ask(w * x))
    with pytest.raises(TypeError, match=r"test_written_values.py:\d+ asks .*relu\(\), or return the Value"):
        step(1.5)
    assert type(Value.__dict__["_data"]) is type(number_page.DATA)
    assert (w * 2).data == 4.0


def test_a_number_that_changes_between_calls_is_named_with_its_line():
    w, file = Value(2.0), io.BytesIO()  # whose changes are not seen

    def step():
        file.write(b"a")
        return w * (1 + file.tell())

    compiled = mg.compile(step)
    compiled()
    with pytest.raises(TypeError, match=r"wrote different programs, at return w \* "):
        compiled()


def helper(x):
    """Return a square, through a Value that only this function names."""
    return (Value(x) * Value(x)).data


def test_values_that_the_step_does_not_name_are_an_error():
    step = mg.compile(lambda x: helper(2.0) * x)
    with pytest.raises(TypeError, match="pass the network as an argument"):
        step(mg.tensor([1.0, 2.0]))
    assert helper(2.0) == 4.0


def test_values_and_tensors_in_one_step_are_an_error():
    w = Value(2.0)
    step = mg.compile(lambda x: (w * 2.0, x * 2.0))
    with pytest.raises(TypeError, match="compile each part alone"):
        step(mg.tensor([1.0, 2.0]))


def test_another_network_in_the_same_list_is_traced_again():
    models = [network(), network((2, 1))]

    def step(x):
        return models[0]([x, 1.0])

    compiled = mg.compile(step)
    assert isinstance(models[0], MLP)
    for _ in range(3):
        compiled(0.5)
    models.reverse()
    assert repr(compiled(0.5).data) == repr(step(0.5).data)
    models[0].layers[0].neurons[0].b = Value(7.0)
    for _ in range(3):
        assert repr(compiled(0.5).data) == repr(step(0.5).data)


def test_a_recorded_call_of_values_runs_by_the_engine():
    w = Value(2.0)

    def step(x):
        w.grad = 0
        (w * x).backward()

    compiled = mg.compile(step)
    for _ in range(3):
        compiled(1.5)
    with mg.record() as trace:
        compiled(1.5)
    assert [each.rule for each in trace] == ["multiply.a", "multiply.b"]
    assert compiled.counts["engine: record()"] == 1


# Batches --------------------------------------------------


def examples():
    """Return a network, and a step for one example that is compiled for batches."""
    model = network()

    def step(point, target):
        score = model(point)
        loss = (1 + -target * score).relu() * 0.1 + (score * 0.1).tanh() ** 2
        loss.backward()
        return loss, {"score": score.data}

    return model, step


def test_a_batch_adds_up_the_gradients_of_its_examples():
    (ours, step), (theirs, batch) = examples(), examples()
    batch, rng = mg.compile(batch=True)(batch), np.random.default_rng(0)
    for count in (7, 1, 30):
        points, targets = rng.normal(size=(count, 2)), rng.choice([-1.0, 1.0], size=count)
        expected = [step(point, target) for point, target in zip(points.tolist(), targets.tolist(), strict=True)]
        losses, found = batch(points, targets)
        np.testing.assert_allclose(losses, [loss.data for loss, _ in expected], rtol=1e-13)
        np.testing.assert_allclose(found["score"], [each["score"] for _, each in expected], rtol=1e-13)
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert b.grad == pytest.approx(a.grad, rel=1e-12, abs=1e-14)
    assert len(batch.programs) == 1
    assert ".dot(" in batch.source
    assert "np.maximum(" in batch.source


def test_what_a_batch_cannot_do_is_an_error():
    w = Value(2.0)

    def update(x):
        w.data = w.data + x

    def forget(x):
        w.grad = 0
        (w * x).backward()

    for step in (update, forget):
        with pytest.raises(TypeError, match="Set gradients to 0 before the call"):
            mg.compile(step, batch=True)([1.0, 2.0])
    assert (w.data, w.grad) == (2.0, 0)
    good = mg.compile(lambda x, y: w * x * y, batch=True)
    with pytest.raises(ValueError, match=r"rows are the examples.*\(2,\), \(3,\)"):
        good([1.0, 2.0], [1.0, 2.0, 3.0])
    assert good([1.0, 2.0], [3.0, 4.0]).tolist() == [6.0, 16.0]
    w.data = 1.0
    assert good([1.0, 2.0], [3.0, 4.0]).tolist() == [3.0, 8.0]
    with pytest.raises(TypeError, match="NumPy has no erf"):
        number_program.NumberText.call(_BATCH_TEXT, "erf")


def test_networks_of_a_users_classes_are_found():
    class Neuron:
        def __init__(self, *weights):
            self.weights, self.bias = list(map(Value, weights)), Value(0.0)

        def __call__(self, x):
            return sum((w * part for w, part in zip(self.weights, x, strict=True)), self.bias).tanh()

    class Network:
        def __init__(self):
            self.layers = [[Neuron(0.5, -0.25), Neuron(0.75, 1.0)], [Neuron(1.0, -1.0)]]

        def __call__(self, x):
            for layer in self.layers:
                x = [neuron(x) for neuron in layer]
            return x[0]

    def step(a, b, network):
        out = network([a, b])
        out.backward()
        network.layers[0][1].weights[0].data -= 0.5 * network.layers[0][1].weights[0].grad
        return out

    ours, theirs = Network(), Network()
    by_name = mg.compile(lambda a, b: step(a, b, theirs))
    for i in range(5):
        if i == 4:
            for each in (ours, theirs):
                each.layers[1][0].weights[0] = Value(0.125)
        assert step(0.5, i / 4, ours).data == by_name(0.5, i / 4).data
    assert by_name.counts == {"traced": 3, "written": 2}
    as_argument = mg.compile(step)
    assert [as_argument(0.5, 1.0, theirs).data for _ in range(3)] == [step(0.5, 1.0, ours).data for _ in range(3)]
    assert as_argument.counts == {"traced": 2, "written": 1}


def test_a_batch_is_written_again_when_what_it_finds_has_changed():
    w, settings, seen = Value(2.0), {"scale": 1.0}, []

    def step(x):
        loss = w * x * settings["scale"]
        loss.backward()
        return loss

    batch = mg.compile(step, batch=True)
    for scale in (1.0, 3.0):
        settings["scale"] = scale
        for _ in range(2):
            w.grad = 0
            assert batch([1.0, 2.0]).tolist() == [2.0 * scale, 4.0 * scale]
            assert w.grad == 3.0 * scale
    assert batch.counts == {"traced": 4, "written": 4}
    with mg.record() as trace:
        w.grad = 0
        assert batch([1.0, 2.0]).tolist() == [6.0, 12.0]
    assert len(trace.nodes) > 2
    assert w.grad == 9.0
    assert batch.counts["engine: record()"] == 1
    counting = mg.compile(lambda x: (w * x, seen.append(x))[0], batch=True)
    with pytest.raises(TypeError, match="the step changes seen: its length from 0 to 2"):
        counting([1.0, 2.0])
    for scale in range(4, 10):
        settings["scale"] = scale
        batch([1.0, 2.0])
    settings["scale"] = 10
    with pytest.warns(UserWarning, match=r"has 9 programs: settings\['scale'\] keeps changing; make it an argument"):
        batch([1.0, 2.0])


class _BATCH_TEXT:  # noqa: N801 - stands for a text of a batch
    is_batch = True


def test_values_are_themselves_again_after_a_trace():
    before = dict(vars(Value))
    w = Value(2.0)
    mg.written_out(lambda x: w * x, 1.5)
    assert dict(vars(Value)) == before
    assert sys.modules["micrograd_plus.engine"].floats is mg.backends.floats


def test_values_of_other_threads_stay_plain_while_a_step_is_traced():
    found, is_over = [], threading.Event()

    def compute():
        while not is_over.is_set():
            a = Value(0.5)
            out = (a * 3.0).tanh() ** 2
            out.backward()
            found.append((type(out.data), type(a.grad), out.data, a.grad))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        model = network()
        for _ in range(5):
            mg.written_out(train(model), 0.5, -0.5, 1.0)
    finally:
        is_over.set()
        thread.join()
    assert len(found) > 5
    assert len(set(found)) == 1
    assert found[0][:2] == (float, float)
