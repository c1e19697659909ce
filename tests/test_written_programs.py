"""Training programs as users write them: compiled, each has the engine's bits, or is refused with a reason.

Each function below makes one program: it gets `compiled`, which compiles a step (or leaves it as it is), and returns
the call of round i and the state to compare after it.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import pickle
import random
import threading
from collections import Counter, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import leaves

ROUNDS = 6
CALLS = 0
Pair = namedtuple("Pair", "x y")


def parameter(*shape, seed=0):
    return mg.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


def batch(i, rows=8):
    rng = np.random.default_rng(100 + i)
    return mg.tensor(rng.normal(size=(rows, 3))), mg.tensor(rng.normal(size=(rows, 1)))


def error(w, x, y):
    return ((x @ w - y) ** 2).mean()


def descend(w, x, y, rate=0.1):
    w.grad = None
    loss = error(w, x, y)
    loss.backward()
    w.data -= rate * w.grad.data
    return loss


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.second(mg.tanh(self.first(x)))


class Trainer:
    """A network and its optimiser, with a step as a method."""

    def __init__(self, make=lambda p: optim.SGD(p, lr=0.1)):
        self.net = Net()
        self.optimizer = make(self.net.parameters())
        self.count, self.loss, self.scale = 0, None, 1.0

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = ((self.net(x) - y) ** 2).mean() * self.scale
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self):
        return [self.net.state_dict(), [p.grad for p in self.net.parameters()]]


EQUAL, REFUSED = [], {}


def equal(program):
    """Note a program that has the engine's bits."""
    EQUAL.append(program)
    return program


def expect_error(message):
    """Return a decorator for a program that is refused with a message."""

    def note(program):
        REFUSED[program] = message
        return program

    return note


# The same bits --------------------------------------------


@equal
def a_closure_over_the_rate(compiled):
    w = parameter(3, 1)

    def make(rate):
        return compiled(lambda x, y: descend(w, x, y, rate))

    step = make(0.1)
    return lambda i: step(*batch(i)), lambda: w


@equal
def a_decorated_step(compiled):
    w = parameter(3, 1)

    def time_calls(function):
        @functools.wraps(function)
        def call(*args):
            return function(*args)

        return call

    step = compiled(time_calls(lambda x, y: descend(w, x, y)))
    return lambda i: step(*batch(i)), lambda: w


@equal
def a_method_whose_setting_changes(compiled):
    trainer = Trainer(lambda p: optim.Adam(p, lr=0.1))
    step = compiled(trainer.step)

    def call(i):
        trainer.scale = 1.0 if i < 3 else 0.5
        return step(*batch(i))

    return call, trainer.state


@equal
def a_dataclass_that_holds_the_settings(compiled):
    @dataclass
    class Settings:
        w: object
        rate: float = 0.1

    settings = Settings(parameter(3, 1))
    step = compiled(lambda x, y: descend(settings.w, x, y, settings.rate))

    def call(i):
        settings.rate = 0.1 if i < 3 else 0.01
        settings.w = settings.w if i != 4 else parameter(3, 1, seed=1)
        return step(*batch(i))

    return call, lambda: settings.w


@equal
def slots_properties_and_class_attributes(compiled):
    class Line:
        __slots__ = ("_rate", "w")
        factor = 2.0

        def __init__(self):
            self._rate, self.w = 0.1, parameter(3, 1)

        @property
        def rate(self):
            return self._rate * self.factor

        @staticmethod
        def error(w, x, y):
            return error(w, x, y)

        def step(self, x, y):
            return self.error(self.w, x, y) * self.rate

    line = Line()
    step = compiled(line.step)

    def call(i):
        line._rate = 0.1 if i < 3 else 0.3
        Line.factor = 2.0 if i < 5 else 3.0
        return step(*batch(i))

    return call, lambda: 0


@equal
def inherited_and_patched_methods(compiled):
    class Base:
        def __init__(self):
            self.w = parameter(3, 1)

        def step(self, x, y):
            return self.scale_loss(error(self.w, x, y))

    class Line(Base):
        def scale_loss(self, loss):
            return loss * 2.0

        def step(self, x, y):
            return super().step(x, y) + 1.0

    line = Line()
    step = compiled(line.step)

    def call(i):
        if i == 3:
            Line.scale_loss = lambda self, loss: loss * 3.0
        return step(*batch(i))

    return call, lambda: 0


@equal
def an_object_with_a_call(compiled):
    class Step:
        def __init__(self):
            self.w = parameter(3, 1)

        def __call__(self, x, y):
            return descend(self.w, x, y)

    made = Step()
    step = compiled(made)

    def call(i):
        made.w = made.w if i != 3 else parameter(3, 1, seed=4)
        return step(*batch(i))

    return call, lambda: made.w


@equal
def keyword_arguments_defaults_and_partials(compiled):
    w, scale = parameter(3, 1), mg.tensor([2.0])

    def step(factor, x, *, y, rate=0.1, scale=scale):
        return descend(w, x * scale, y, rate * factor)

    step = compiled(functools.partial(step, 0.5))

    def call(i):
        scale[0] = 2.0 + i
        return step(batch(i)[0], y=batch(i)[1], **({"rate": 0.3} if i % 2 else {}))

    return call, lambda: w


@equal
def dictionaries_and_named_tuples_as_arguments(compiled):
    w = parameter(3, 1)

    def step(data):
        return {"loss": error(w, data["pair"].x, data["pair"].y), "pair": Pair(w * 2.0, None), "count": 8}

    step = compiled(step)
    return lambda i: step({"pair": Pair(*batch(i))}), lambda: w


@equal
def a_function_that_reads_a_dictionary(compiled):
    w, settings = parameter(3, 1), {"rate": 0.1, "l2": ([0.5], True)}

    def penalty():
        return (w * w).sum() * settings["l2"][0][0] if settings["l2"][1] else 0.0

    def step(x, y):
        return descend(w, x, y, settings["rate"]) + penalty()

    step = compiled(step)

    def call(i):
        settings["rate"] = 0.1 if i < 3 else 0.2
        settings["l2"][0][0] = 0.5 if i < 5 else 0.25
        return step(*batch(i))

    return call, lambda: w


@equal
def a_list_of_layers_that_grows(compiled):
    weights, names, shapes = [parameter(3, 3)], {"a"}, [mg.tanh]

    def step(x):
        for w in weights:
            x = shapes[0](x @ w)
        return x.sum() * len(names)

    step = compiled(step)

    def call(i):
        if i == 2:
            weights.append(parameter(3, 3, seed=1))
        if i == 4:
            names.clear()
            names.update("bc")
            shapes[0] = mg.sin
        return step(batch(i)[0])

    return call, lambda: 0


@equal
def arrays_that_change_in_place(compiled):
    w, mask, rows, labels = parameter(3, 4), np.ones((3, 4)), np.arange(8), np.zeros(8, int)
    table, large = mg.tensor(np.random.default_rng(0).normal(size=(64, 3))), np.ones(20_000)

    def step():
        scores = table[rows] @ (w * mask * mg.tensor(mask)) * (large[:4] + 1.0)
        return functional.cross_entropy(scores, labels) + mg.where(mask > 0, w, 0.0).sum()

    step = compiled(step)

    def call(i):
        mask[0], rows[:], labels[:] = i, np.arange(8) + i, i % 4
        large[:] = 1.0 if i < 4 else 2.0
        return step()

    return call, lambda: 0


@equal
def state_in_arguments_and_results(compiled):
    def step(w, momentum, x, y):
        w = mg.tensor(w, requires_grad=True)
        loss = error(w, x, y)
        loss.backward()
        momentum = 0.9 * momentum + w.grad
        return (w - 0.1 * momentum).detach(), momentum.detach(), loss.detach()

    step = compiled(step)
    state = [parameter(3, 1).detach(), mg.zeros((3, 1))]

    def call(i):
        state[0], state[1], loss = step(*state, *batch(i))
        return loss

    return call, lambda: state


@equal
def an_early_return_by_a_flag(compiled):
    w = parameter(3, 1)

    def step(x, y, is_training):
        if not is_training:
            return error(w, x, y)
        return descend(w, x, y)

    step = compiled(step)
    return lambda i: step(*batch(i), i % 3 < 2), lambda: w


@equal
def an_error_that_the_step_catches(compiled):
    w = parameter(3, 1)

    def step(x, y):
        try:
            return x @ x
        except ValueError:
            return descend(w, x, y)

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: w


@equal
def a_smaller_batch_at_the_end_of_an_epoch(compiled):
    w = parameter(3, 1)

    def step(x, y):
        assert x.shape[1] == 3
        return descend(w, x, y) + x[: len(x) // 2].sum()

    step = compiled(step)
    return lambda i: step(*batch(i, rows=5 if i % 3 == 2 else 8)), lambda: w


@equal
def training_and_evaluation_take_turns(compiled):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
    adam = optim.Adam(net.parameters(), lr=0.1)

    def step(x, y):
        adam.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        if net.training:
            loss.backward()
            adam.step()
        return loss

    step = compiled(step)

    def call(i):
        net.train(i % 3 < 2)
        return step(*batch(i))

    return call, net.state_dict


@equal
def evaluation_inside_the_step(compiled):
    trainer = Trainer()

    def step(x, y):
        loss = trainer.step(x, y)
        trainer.net.eval()
        with mg.no_grad():
            after = ((trainer.net(x) - y) ** 2).mean()
        trainer.net.train()
        return loss, after

    step = compiled(step)
    return lambda i: step(*batch(i)), trainer.state


@equal
def a_network_and_its_optimiser_as_arguments(compiled):
    trainers = [Trainer(), Trainer()]

    def step(net, optimizer, x, y):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    step = compiled(step)

    def call(i):
        trainer = trainers[i % 2]
        trainer.net.train(i < 4)
        return step(trainer.net, trainer.optimizer, *batch(i))

    return call, lambda: [trainer.state() for trainer in trainers]


@equal
def a_schedule_outside_and_a_rate_by_hand(compiled):
    trainer = Trainer(lambda p: optim.Adam(p, lr=0.1))
    schedule = optim.lr_scheduler.StepLR(trainer.optimizer, 2, 0.5)
    step = compiled(trainer.step)

    def call(i):
        loss = step(*batch(i))
        schedule.step()
        if i == 4:
            trainer.optimizer.param_groups[0]["lr"] = 0.05
        return loss

    return call, trainer.state


@equal
def gradient_accumulation(compiled):
    trainer = Trainer()

    def step(x, y, is_last):
        loss = ((trainer.net(x) - y) ** 2).mean() / 2
        loss.backward()
        if is_last:
            trainer.optimizer.step()
            trainer.optimizer.zero_grad()
        return loss

    step = compiled(step)
    return lambda i: step(*batch(i), i % 2 == 1), trainer.state


@equal
def clipping_averages_and_a_penalty(compiled):
    trainer = Trainer()
    average = copy.deepcopy(trainer.net)

    def step(x, y):
        trainer.optimizer.zero_grad()
        loss = ((trainer.net(x) - y) ** 2).mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(trainer.net.parameters(), 0.5)
        nn.utils.clip_grad_value_(trainer.net.parameters(), 0.2)
        trainer.optimizer.step()
        for mean, p in zip(average.parameters(), trainer.net.parameters(), strict=True):
            mean.assign(0.9 * mean.detach() + 0.1 * p.detach())
        return loss, norm

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: [trainer.state(), average.state_dict()]


@equal
def two_networks_against_each_other(compiled):
    maker, critic = nn.Linear(2, 3), Net()
    makers, critics = (optim.Adam(net.parameters(), lr=0.1) for net in (maker, critic))

    def step(x):
        made = maker(mg.random.normal(size=(8, 2)))
        critics.zero_grad()
        loss = (critic(made.detach()) - critic(x)).mean()
        loss.backward()
        critics.step()
        makers.zero_grad()
        other = -critic(made).mean()
        other.backward()
        makers.step()
        return loss, other

    step = compiled(step)
    return lambda i: step(batch(i)[0]), lambda: [maker.state_dict(), critic.state_dict()]


@equal
def a_layer_freezes_and_a_group_comes(compiled):
    trainer, extra = Trainer(), parameter(1, seed=3)

    def step(x, y):
        trainer.optimizer.zero_grad()
        loss = ((trainer.net(x) + extra - y) ** 2).mean()
        loss.backward()
        trainer.optimizer.step()
        return loss

    step = compiled(step)

    def call(i):
        trainer.net.first.weight.requires_grad = i != 3
        if i == 4:
            trainer.optimizer.add_param_group({"params": [extra], "lr": 0.01})
        return step(*batch(i))

    return call, lambda: [trainer.state(), extra]


@equal
def a_checkpoint_in_between(compiled):
    trainer, kept = Trainer(lambda p: optim.Adam(p, lr=0.1)), []
    step = compiled(trainer.step)

    def call(i):
        if i == 2:
            kept.extend(copy.deepcopy([trainer.net.state_dict(), trainer.optimizer.state_dict()]))
        if i == 4:
            trainer.net.load_state_dict(kept[0])
            trainer.optimizer.load_state_dict(kept[1])
        return step(*batch(i))

    return call, lambda: [trainer.state(), trainer.optimizer.state_dict()]


@equal
def values_are_replaced_between_calls(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: descend(w, x, y))

    def call(i):
        if i == 3:
            w.data = np.ones((3, 1))
        if i == 4:
            w.data[0] = 5.0
        if i == 5:
            w.data = np.asfortranarray(np.ones((3, 1)))
        return step(*batch(i))

    return call, lambda: w


@equal
def four_threads(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: error(w, x, y))

    def call(i):
        found = {}
        threads = [threading.Thread(target=lambda k=k: found.update({k: step(*batch(k))})) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[k] for k in range(4)]

    return call, lambda: w


@equal
def copies_and_pickles(compiled):
    net = Net()
    net.fast, nets = compiled(net.forward), [net]
    with contextlib.suppress(pickle.PicklingError, AttributeError):
        pickle.loads(pickle.dumps(net.fast))  # noqa: S301 - our own

    def call(i):
        if i == 3:
            nets.append(copy.deepcopy(net))
            nets[-1].second.bias.data = nets[-1].second.bias.data + 1.0
        return nets[-1].fast(batch(i)[0]).detach()

    return call, lambda: 0


@equal
def a_compiled_step_in_another_and_a_new_one_each_time(compiled):
    trainer = Trainer()
    loss_of = compiled(lambda x, y: ((trainer.net(x) - y) ** 2).mean())

    def step(x, y):
        trainer.optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        trainer.optimizer.step()
        return loss

    step = compiled(step)
    return lambda i: (step(*batch(i)), compiled(lambda x: x * 2.0)(batch(i)[0])), trainer.state


@equal
def errors_and_interrupts_inside(compiled):
    w, interrupts = parameter(3, 1), {0: KeyboardInterrupt, 3: KeyError}

    def step(x, y, kind):
        loss = descend(w, x, y)
        if kind is not None:
            raise kind
        return loss

    step = compiled(step)

    def call(i):
        try:
            return step(*batch(i), interrupts.get(i))
        except (KeyboardInterrupt, KeyError):
            return None

    return call, lambda: [w, w.grad]


@equal
def a_wrong_shape_in_between(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: descend(w, x, y))

    def call(i):
        x, y = batch(i)
        try:
            return step(x[:, :2] if i == 3 else x, y)
        except ValueError as problem:
            return str(problem)

    return call, lambda: w


@equal
def arrays_indices_and_draws(compiled):
    w, inputs, rng = parameter(3, 1), mg.tensor(np.random.default_rng(0).normal(size=(64, 3))), np.random.default_rng(3)

    def step(rows, start, noise):
        x = mg.tensor((noise - noise.mean(axis=0)) / noise.std(axis=0))
        chosen = inputs[rows] + inputs[start : start + 8] + x
        return descend(w, chosen + mg.random.normal(size=3, rng=rng), mg.random.normal(size=(8, 1)))

    step = compiled(step)

    def call(i):
        if i == 4:
            mg.random.seed(8)
        mine = np.random.default_rng(i)
        return step(mine.integers(0, 64, 8), 8 * (i % 2), mine.normal(size=(8, 3)))

    return call, lambda: [w, rng.bit_generator.state["state"]["state"]]


@equal
def numbers_as_arguments_and_results(compiled):
    w = parameter(3, 1)

    def step(x, rate, other, times):
        for _ in range(times):
            w.data = w.data - rate * other
        return (x @ w).sum(), rate * 2, w.data, w.detach()

    step = compiled(step)

    def call(i):
        found = step(batch(i)[0], 0.1 * i, np.float64(0.5 * i), 1 + i % 2)
        return [*found, *(type(x).__name__ for x in found)]

    return call, lambda: w


@equal
def shared_weights_and_an_epoch_in_a_step(compiled):
    first, last, batches = nn.Linear(3, 3), nn.Linear(3, 3), [batch(i) for i in range(3)]
    last.weight = first.weight
    sgd = optim.SGD([*first.parameters(), last.bias], lr=0.1)

    def step():
        total = mg.tensor(0.0)
        for x, y in batches:
            sgd.zero_grad()
            loss = ((last(mg.tanh(first(x))) - y) ** 2).mean()
            loss.backward()
            sgd.step()
            total = total + loss.detach()
        return total

    step = compiled(step)

    def call(i):
        batches[1] = batches[1] if i != 4 else batch(9)
        return step()

    return call, lambda: [first.state_dict(), last.state_dict()]


@equal
def tables_that_are_made_once(compiled):
    w, made = parameter(3, 1), {}

    @functools.lru_cache
    def ramp(count):
        return mg.arange(count).astype(float).reshape(count, 1)

    def step(x, y):
        if "ones" not in made:
            made["ones"] = mg.ones((8, 1)) * 3.0
        return descend(w, x, y * ramp(8) * made["ones"])

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: [w, made]


@equal
def hooks_and_recordings_inside(compiled):
    w = parameter(3, 1)

    def step(x, y):
        w.grad = None
        out = x @ w
        out.register_hook(lambda g: g * 2.0)
        out.retain_grad()
        with mg.record():
            loss = ((out - y) ** 2).mean()
            loss.backward(retain_graph=True)
        (out * 0.5).sum().backward()
        return loss, out.grad

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: w.grad


@equal
def weights_change_places(compiled):
    w, v, best = parameter(3, 1), parameter(3, 1, seed=2), mg.tensor(np.inf)
    row = w.detach()[0]

    def step(x, y):
        w.data, v.data = v.data, w.data
        loss = error(w, x, y)
        best.assign(mg.minimum(best, loss))
        return loss, row * 1.0

    step = compiled(step)
    return lambda i: step(*batch(i)), lambda: [w, v, best]


@equal
def arguments_that_no_key_can_hold_or_that_want_gradients(compiled):
    w = parameter(3, 1)
    by_object = compiled(lambda pair: error(w, pair.x, pair.y))
    by_parameter = compiled(lambda w, x: (x @ w).sum())

    def call(i):
        x, y = batch(i)
        return by_object(SimpleNamespace(x=x, y=y)).detach(), by_parameter(w, x).detach()

    return call, lambda: w


# Refused --------------------------------------------------


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


@expect_error(r"test_written_programs.py:\d+ changes requires_grad while .* Change it before the call")
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


REFUSED[step_that_also(lambda loss: mg.random.seed(1))] = (
    r"^mg.compile: tests/test_written_programs.py:\d+ seeds random numbers while .*Seed them before the call"
)
ASKS = r"^mg.compile: tests/test_written_programs.py:\d+ asks for .* while the step is written out; .*Use mg\.where"
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


@expect_error(r"^backward\(\) of a tensor that depends on nothing .* compute outside no_grad and mg\.compile$")
def backward_after_the_step(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: error(w, x, y))
    return lambda i: step(*batch(i)).backward(), lambda: w.grad


# The tests ------------------------------------------------


def bits(x):
    """Return values that are equal for structures whose arrays and numbers are equal in every bit."""
    found = []
    for leaf in leaves(x):
        data = getattr(leaf, "_data", leaf)
        is_array = isinstance(data, (np.ndarray, np.generic))
        found.append((data.dtype.str, data.shape, data.tobytes()) if is_array else repr(data))
    return found


def run(program, compiled):
    """Return the bits of the results and of the state of a program after each call."""
    mg.random.seed(5)
    call, state = program(compiled)
    return [(bits(call(i)), bits(state())) for i in range(ROUNDS)]


@pytest.mark.parametrize("program", EQUAL, ids=lambda program: program.__name__)
def test_a_compiled_program_has_the_engines_bits(program):
    steps = []

    def compile_step(function):
        steps.append(mg.compile(function))
        return steps[-1]

    assert run(program, compile_step) == run(program, lambda function: function)
    assert sum(step.counts.get("traced", 0) + step.counts.get("engine", 0) for step in steps)


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_a_program_that_cannot_be_compiled_is_refused_with_a_reason(program):
    with pytest.raises((TypeError, RuntimeError), match=REFUSED[program]):
        run(program, mg.compile)


def test_a_place_that_keeps_changing_is_named():
    settings = {"epoch": 0}
    step = mg.compile(lambda x: x * float(settings["epoch"]))
    for settings["epoch"] in range(8):
        step(mg.tensor([1.0]))
    settings["epoch"] = 8
    with pytest.warns(UserWarning, match=r"has 9 programs: settings\['epoch'\] keeps changing; make it an argument"):
        step(mg.tensor([1.0]))
