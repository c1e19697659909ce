"""Programs that no compiled step can repeat: each is refused with a reason."""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections import Counter, deque

import numpy as np
import pytest

import micrograd_plus as mg
from compiled_programs import ROUNDS, Net, Trainer, batch, descend, error, parameter, run
from micrograd_plus import optim

CALLS = 0
REFUSED = {}


def expect_error(message):
    """Return a decorator for a program that is refused with a message."""

    def note(program):
        REFUSED[program] = message
        return program

    return note


def step_that_also(action):
    """Return a program whose step does something besides its arithmetic."""

    def program(compiled):
        w = parameter(3, 1)

        def step(x, y):
            loss = error(w, x, y)
            action(loss)
            return loss

        step = compiled(step)
        return lambda i: step(*batch(i)), lambda: w

    return program


@expect_error(r"^mg.compile: the step changes seen: its length from 1 to 2\. .* store it after the call$")
def a_list_of_losses(compiled):
    seen = []
    return step_that_also(lambda loss: seen.append(loss))(compiled)  # noqa: PLW0108 - a lambda that names the list


@expect_error(r"the step changes the list of action: its length from 1 to 2")
def the_append_of_a_list(compiled):
    return step_that_also([].append)(compiled)


@expect_error(r"changes history: its length|changes history\[0\]: it is another")
def a_queue_of_losses(compiled):
    history = deque([0.0, 0.0], maxlen=2)

    def step(x):
        history.append((x * x).sum())
        return x.sum()

    step = compiled(step)
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"the step changes self\.count: 1 to 2\. Its program repeats what happens to tensors, and nothing else\.")
def a_counter_of_a_method(compiled):
    class Counting(Trainer):
        def step(self, x, y):
            self.count += 1
            return super().step(x, y)

    trainer = Counting()
    step = compiled(trainer.step)
    return lambda i: step(*batch(i)), lambda: trainer.count


@expect_error(r"changes CALLS: 1 to 2")
def a_global_counter(compiled):
    global CALLS  # noqa: PLW0603 - this is what the program does
    CALLS = 0
    w = parameter(3, 1)

    def step(x, y):
        global CALLS  # noqa: PLW0603 - this is what the program does
        CALLS += 1
        return descend(w, x, y, 0.1 * min(1.0, CALLS / 3))

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: w


@expect_error(r"changes counts\['calls'\]: 1 to 2")
def a_counter_in_a_dictionary(compiled):
    counts = Counter(calls=0)

    def count(_):
        counts["calls"] += 1

    return step_that_also(count)(compiled)


@expect_error(r"changes total\[0\]: 1 to 2")
def a_counter_that_a_decorator_keeps(compiled):
    w, total = parameter(3, 1), [0]

    def count_calls(function):
        @functools.wraps(function)
        def call(*args):
            total[0] += 1
            return function(*args)

        return call

    step = compiled(count_calls(lambda x, y: error(w, x, y)))
    return lambda i: step(*batch(i)), lambda: 0


@expect_error(r"changes Net\.count: 1 to 2|changes net\.count")
def a_counter_of_a_module(compiled):
    class Counting(Net):
        def forward(self, x):
            self.count += 1
            return super().forward(x)

    net = Counting()
    net.count = 0
    step = compiled(lambda x: net(x).sum())
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"changes shapes: its length from 1 to 2")
def a_hook_of_a_module_that_collects(compiled):
    net, shapes = Net(), []
    net.first.register_forward_hook(lambda module, args, out: shapes.append(out.shape))
    step = compiled(lambda x: net(x).sum())
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"changes seen: its length")
def a_default_that_collects(compiled):
    def step(x, seen=[]):  # noqa: B006 - this is what the program does
        seen.append(1)
        return x.sum() * len(seen)

    step = compiled(step)
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(
    r"changes self\.loss: it is another tensor or object afterwards\. .*Write self\.loss\.assign\(\.\.\.\) into"
)
def a_loss_in_an_attribute(compiled):
    class Keeping(Trainer):
        def step(self, x, y):
            self.loss = super().step(x, y)

    trainer = Keeping()
    step = compiled(trainer.step)
    return lambda i: step(*batch(i)), lambda: trainer.loss


@expect_error(r"changes state\['momentum'\]: it is another .*Write state\['momentum'\]\.assign\(")
def momentum_in_a_dictionary(compiled):
    w, state = parameter(3, 1), {"momentum": mg.zeros((3, 1))}

    def step(x, y):
        w.grad = None
        error(w, x, y).backward()
        state["momentum"] = 0.9 * state["momentum"] + w.grad
        w.data -= 0.1 * state["momentum"].data

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: w


@expect_error(r"changes average: it is another .*average\.assign")
def a_running_mean(compiled):
    average = mg.tensor(0.0)

    def step(x, y):
        nonlocal average
        average = 0.9 * average + 0.1 * x.sum()
        return average * 1.0

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: 0


@expect_error(r"changes a setting of sgd")
def a_rate_that_the_step_sets(compiled):
    w = parameter(3, 1)
    sgd = optim.SGD([w], lr=0.1)

    def step(x, y):
        sgd.zero_grad()
        error(w, x, y).backward()
        sgd.step()
        sgd.param_groups[0]["lr"] *= 0.5

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: w


@expect_error(r"test_compiled_refusals.py:\d+ changes requires_grad while .* Change it before the call")
def a_layer_that_freezes_inside(compiled):
    net = Net()

    def step(x, is_frozen):
        net.first.weight.requires_grad = not is_frozen
        return net(x).sum()

    step = compiled(step)
    return lambda i: step(batch(i)[0], True), lambda: 0


@expect_error(r"finds the iterator batches, whose next value no program can ask for; take the value before the call")
def an_iterator_of_batches(compiled):
    w, batches = parameter(3, 1), iter([batch(i) for i in range(ROUNDS)])
    step = compiled(lambda: descend(w, *next(batches)))
    return lambda i: step(), lambda: w


@expect_error(r"finds the iterator argument 1")
def an_iterator_as_argument(compiled):
    w, batches = parameter(3, 1), (batch(i) for i in range(ROUNDS))
    step = compiled(lambda source: descend(w, *next(source)))
    return lambda i: step(batches), lambda: w


@expect_error(r"the second call of the step found another rng than the first")
def a_new_generator_at_each_call(compiled):
    step = compiled(lambda x: x + mg.random.normal(size=3, rng=np.random.default_rng(3)))
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"the step draws from Python's random numbers, .* Use mg\.random, whose draws become part of the program")
def pythons_random_numbers(compiled):
    step = compiled(lambda x: x * (2.0 if random.random() < 2.0 else 1.0))  # noqa: S311 - no secret
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"the step draws from NumPy's random numbers")
def numpys_random_numbers(compiled):
    step = compiled(lambda x: x * (2.0 if np.random.rand() < 2.0 else 1.0))  # noqa: NPY002 - what users write
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"the step draws from rng")
def draws_of_a_generator_of_numpy(compiled):
    rng = np.random.default_rng(0)
    step = compiled(lambda x: x + mg.tensor(rng.normal(size=3)))
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"the step changes count: its entries\. .* Return the new value and store it after the call$")
def a_counter_in_an_array(compiled):
    count = np.array(0)

    def step(x):
        count[()] += 1
        return x * 2

    step = compiled(step)
    return lambda i: step(batch(i)[0]), count.copy


@expect_error(r"test_compiled_refusals.py:\d+ asks for a number of a tensor")
def a_loss_written_into_an_array(compiled):
    losses = np.zeros(8)

    def step(x):
        losses[0] = x.mean().data  # NumPy answers with an error of its own
        return x * 2

    step = compiled(step)
    return lambda i: step(batch(i)[0]), losses.copy


@expect_error(r"test_compiled_refusals.py:\d+ writes into an array from outside .* Keep these numbers in a tensor")
def momentum_in_an_array(compiled):
    w, velocity = parameter(3, 1), np.zeros((3, 1))

    def step(x, y):
        loss = descend(w, x, y)
        np.multiply(w.data, 0.9, out=velocity)
        return loss

    step = compiled(step)
    return lambda i: step(*batch(i)), velocity.copy


@expect_error(r"finds rates, with 5,000 entries, which each call would have to compare; pass what the step needs")
def a_very_long_list(compiled):
    rates = [0.1] * 5000
    step = compiled(lambda x: x * rates[7])
    return lambda i: step(batch(i)[0]), lambda: 0


REFUSED[step_that_also(lambda loss: mg.random.seed(1))] = (
    r"^mg.compile: tests/test_compiled_refusals.py:\d+ seeds random numbers while .*Seed them before the call"
)
ASKS = r"^mg.compile: tests/test_compiled_refusals.py:\d+ asks for .* while the step is written out; .*Use mg\.where"
REFUSED[step_that_also(lambda loss: f"{loss:.3f}")] = ASKS
REFUSED[step_that_also(lambda loss: np.isfinite(loss.item()))] = ASKS


@expect_error(ASKS)
def an_error_of_ours_that_the_step_catches(compiled):
    def step(x):
        try:
            scale = x.sum().item()
        except TypeError:
            scale = 1.0
        return x * scale

    step = compiled(step)
    return lambda i: step(batch(i)[0]), lambda: 0


@expect_error(r"asks about a float among the arguments, or a setting, while .* Pass it as an int or a bool")
def a_branch_on_a_float(compiled):
    step = compiled(lambda x, rate: x * (rate if rate > 0.1 else 1.0))
    return lambda i: step(batch(i)[0], 0.05 * i), lambda: 0


@dataclasses.dataclass
class Summary:
    loss: object


@expect_error(r"the step returns a new Summary, .* Return tensors, arrays and numbers, also in lists, tuples")
def an_object_that_is_equal_at_the_first_two_calls(compiled):
    step = compiled(lambda x: Summary(x.sum()))
    return lambda i: step(mg.ones(1) if i < 2 else mg.zeros(1)).loss, lambda: 0


@expect_error(r"the step returns a new generator, which its program could not make")
def a_function_that_yields(compiled):
    def step(x):
        yield x * 2.0

    step = compiled(step)
    return lambda i: list(step(batch(i)[0])), lambda: 0


@expect_error(r"needs the number p itself, .* Let the step find it as a variable")
def an_exponent_as_an_argument(compiled):
    step = compiled(lambda x, p: mg.abs(x) ** p)
    return lambda i: step(batch(i)[0], 0.25), lambda: 0


@expect_error(r"needs a number itself that comes from an argument or a draw, .* compute with a tensor instead$")
def a_function_of_math_of_an_argument(compiled):
    step = compiled(lambda x, p: x * math.exp(-p))
    return lambda i: step(batch(i)[0], 0.25), lambda: 0


@expect_error(r"needs the number p itself, .* Let the step find it as a variable")
def a_rounded_argument(compiled):
    step = compiled(lambda x, p: x * round(p, 1))
    return lambda i: step(batch(i)[0], 0.25), lambda: 0


@expect_error(r"^backward\(\) of a tensor that depends on nothing .* compute outside no_grad and mg\.compile$")
def backward_after_the_step(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: error(w, x, y))
    return lambda i: step(*batch(i)).backward(), lambda: w.grad


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_a_program_that_cannot_be_compiled_is_refused_with_a_reason(program):
    with pytest.raises((TypeError, RuntimeError), match=REFUSED[program]):
        run(program, mg.compile)
