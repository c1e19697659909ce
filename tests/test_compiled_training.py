"""Training programs as users write them: compiled, each has the engine's bits."""

from __future__ import annotations

import contextlib
import copy
import functools
import pickle
import threading
from collections import OrderedDict, defaultdict, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import micrograd_plus as mg
from compiled_programs import Net, Trainer, assert_equal, batch, descend, error, parameter
from micrograd_plus import nn, optim

Pair = namedtuple("Pair", "x y")

EQUAL = []


def equal(program):
    """Note a program that has the engine's bits."""
    EQUAL.append(program)
    return program


@equal
def dictionaries_and_named_tuples_as_arguments(compiled):
    w = parameter(3, 1)

    def step(data):
        return {"loss": error(w, data["pair"].x, data["pair"].y), "pair": Pair(w * 2.0, None), "count": 8}

    step = compiled(step)
    return lambda i: step({"pair": Pair(*batch(i))}), lambda: w


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
def arguments_that_no_key_can_hold_or_that_want_gradients(compiled):
    w = parameter(3, 1)
    by_object = compiled(lambda pair: error(w, pair.x, pair.y))
    by_parameter = compiled(lambda w, x: (x @ w).sum())

    def call(i):
        x, y = batch(i)
        return by_object(SimpleNamespace(x=x, y=y)).detach(), by_parameter(w, x).detach()

    return call, lambda: w


@equal
def a_mean_of_many_entries(compiled):
    w = parameter(3, 1)
    step = compiled(lambda x, y: descend(w, x, y))
    return lambda i: step(*batch(i, rows=5000)), lambda: w


@equal
def batches_with_weights_and_without(compiled):
    trainer = Trainer()

    def step(data):
        trainer.optimizer.zero_grad()
        loss = ((trainer.net(data["x"]) - data["y"]) ** 2 * data.get("weight", 1.0)).mean()
        loss.backward()
        trainer.optimizer.step()
        return {"loss": loss, "rows": len(data["x"])}

    step = compiled(step)

    def call(i):
        x, y = batch(i)
        return step({"x": x, "y": y, "weight": mg.tensor(np.ones((8, 1)))} if i % 2 else {"x": x, "y": y})

    return call, trainer.state


@equal
def a_copy_of_the_network_that_adapts(compiled):
    trainer = Trainer()

    def step(x, y):
        fast = copy.deepcopy(trainer.net)
        inner = optim.SGD(fast.parameters(), lr=0.1)
        for _ in range(2):
            inner.zero_grad()
            loss = ((fast(x) - y) ** 2).mean()
            loss.backward()
            inner.step()
        for p, adapted in zip(trainer.net.parameters(), fast.parameters(), strict=True):
            p.grad = adapted.grad
        trainer.optimizer.step()
        return loss

    step = compiled(step)
    return lambda i: step(*batch(i)), trainer.state


@equal
def a_penalty_on_gradients_of_the_input(compiled):
    trainer = Trainer(lambda p: optim.Adam(p, lr=0.1))

    def step(x, other, share):
        mixed = (share * x + (1 - share) * other).detach().requires_grad_(True)
        trainer.net(mixed).sum().backward(create_graph=True)
        penalty = ((mg.sqrt((mixed.grad**2).sum(axis=1)) - 1) ** 2).mean()
        trainer.optimizer.zero_grad()
        loss = trainer.net(other).mean() - trainer.net(x).mean() + 10 * penalty
        loss.backward()
        trainer.optimizer.step()
        return loss

    step = compiled(step)
    return lambda i: step(batch(i)[0], batch(i + 9)[0], mg.tensor(np.linspace(0, 1, 8)[:, None])), trainer.state


@equal
def an_autoencoder_that_draws(compiled):
    trainer = Trainer()
    encode = parameter(3, 6, seed=1)
    both = optim.Adam([encode, *trainer.net.parameters()], lr=0.1)

    def step(x, beta=1.0):
        mean, log_variance = (x @ encode)[:, :3], (x @ encode)[:, 3:]
        z = mean + mg.exp(0.5 * log_variance) * mg.random.randn(*mean.shape)
        divergence = -0.5 * (1 + log_variance - mean**2 - mg.exp(log_variance)).sum(axis=1).mean()
        both.zero_grad()
        loss = (trainer.net(z) ** 2).mean()
        (loss + beta * divergence).backward()
        both.step()
        return {"loss": loss, "divergence": divergence}

    step = compiled(step)
    return lambda i: step(batch(i)[0], beta=min(1.0, i / 4)), lambda: [trainer.state(), encode]


@equal
def a_module_makes_its_table_at_first_use(compiled):
    class Positions(nn.Module):
        def __init__(self):
            self.scale = nn.Parameter(2.0)

        @functools.cached_property
        def table(self):
            return mg.tensor(np.arange(3.0))

        def forward(self, x):
            return x * self.table * self.scale

    net = Positions()
    step = compiled(lambda x: net(x).sum())
    return lambda i: step(batch(i)[0]), net.state_dict


@equal
def a_draw_of_one_number_and_a_rate_beside_arrays(compiled):
    w = mg.tensor(np.ones(3, "float32"), requires_grad=True)

    def step(x, rate, bound):
        w.grad = None
        kept = (mg.rand(8, 3) > rate) / (1.0 - rate) * mg.rand(())
        y = x.astype("float32") * w
        loss = (mg.clip(y, -bound, bound) * kept + mg.where(y > bound, y, bound) + (y >= rate)).sum()
        loss.backward()
        w.data -= 0.01 * w.grad.data
        return loss

    step = compiled(step)
    return lambda i: step(batch(i)[0], 0.1 + 0.1 * i, 0.5 + i), lambda: [w, w.grad]


@equal
def a_dictionary_that_keeps_its_type(compiled):
    step = compiled(lambda x: OrderedDict(mean=x.mean(), parts=defaultdict(list, {"sum": [x.sum()]})))

    def call(i):
        found = step(batch(i)[0])
        found["parts"]["none"].append(found["mean"])
        found.move_to_end("mean")
        return list(found.items())

    return call, lambda: 0


@pytest.mark.parametrize("program", EQUAL, ids=lambda program: program.__name__)
def test_a_compiled_program_has_the_engines_bits(program):
    assert_equal(program)
