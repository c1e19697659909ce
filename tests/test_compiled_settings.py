"""Steps whose settings change between calls: compiled, each has the engine's bits."""

from __future__ import annotations

import functools
import operator
import os
import threading
import weakref
from argparse import Namespace
from collections import ChainMap
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import pytest

import micrograd_plus as mg
from compiled_programs import Trainer, assert_equal, batch, descend, error, parameter
from micrograd_plus import nn, optim
from micrograd_plus.nn import functional

EQUAL = []


def equal(program):
    """Note a program that has the engine's bits."""
    EQUAL.append(program)
    return program


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


# A number that the step finds somewhere, and that changes there ------


def setting(make):
    """Note a program whose step multiplies by a number. `make` returns how it is read, and how it becomes 3."""

    def program(compiled):
        read, change = make()
        step = compiled(lambda x: x * read())

        def call(i):
            if i == 3:
                change()
            return step(batch(i)[0])

        return call, lambda: 0

    program.__name__ = make.__name__
    return equal(program)


class Line:
    """An object with a number of its class."""

    scale = 1.0

    def __init__(self):
        self.mine = 1.0

    def __mul__(self, x):
        return self.mine * x

    def read(self):
        return self.scale


@setting
def options_of_a_command():
    options = Namespace(scale=1.0)
    return lambda: options.scale, lambda: setattr(options, "scale", 3.0)


@setting
def a_long_list():
    numbers = [1.0] * 300
    return lambda: numbers[7], lambda: numbers.__setitem__(7, 3.0)


@setting
def a_long_dictionary():
    numbers = dict.fromkeys(range(300), 1.0)
    return lambda: numbers[7], lambda: numbers.update({7: 3.0})


@setting
def a_long_array():
    numbers = np.ones(9999)
    return lambda: float(numbers[77]), lambda: numbers.__setitem__(77, 3.0)


@setting
def a_row_of_bytes():
    numbers = bytearray([1, 2])
    return lambda: float(numbers[0]), lambda: numbers.__setitem__(0, 3)


@setting
def an_attribute_by_its_name():
    line = Line()
    return lambda: getattr(line, "mi" + "ne"), lambda: setattr(line, "mine", 3.0)


@setting
def all_attributes():
    line = Line()
    return lambda: vars(line)["mine"], lambda: setattr(line, "mine", 3.0)


@setting
def an_attribute_by_a_getter():
    line, read = Line(), operator.attrgetter("mine")
    return lambda: read(line), lambda: setattr(line, "mine", 3.0)


@setting
def an_attribute_by_an_operator():
    line = Line()
    return lambda: line * 1.0, lambda: setattr(line, "mine", 3.0)


@setting
def an_attribute_behind_a_weak_reference():
    line = Line()
    here = weakref.ref(line)
    return lambda: here().mine, lambda: setattr(line, "mine", 3.0)


@setting
def an_attribute_of_the_class_and_then_of_the_object():
    line = Line()
    return lambda: line.scale, lambda: setattr(line, "scale", 3.0)


@setting
def a_method_of_the_class_and_then_of_the_object():
    line = Line()
    return line.read, lambda: setattr(line, "read", lambda: 3.0)


@setting
def an_attribute_that_an_object_looks_up():
    class Options:
        def __init__(self):
            self.known = {"scale": 1.0}

        def __getattr__(self, name):
            return self.known[name]

    options = Options()
    return lambda: options.scale, lambda: options.known.update(scale=3.0)


@setting
def an_object_that_the_step_makes():
    class Scale:
        def __init__(self):
            self.number = numbers[0]

    numbers = [1.0]
    return lambda: Scale().number, lambda: numbers.__setitem__(0, 3.0)


@setting
def a_setting_of_a_thread():
    here = threading.local()
    here.scale = 1.0
    return lambda: here.scale, lambda: setattr(here, "scale", 3.0)


@setting
def a_context_variable():
    scale = ContextVar("scale", default=1.0)
    return scale.get, lambda: scale.set(3.0)


@setting
def a_variable_of_the_environment():
    os.environ["SCALE"] = "1"
    return lambda: float(os.environ["SCALE"]), lambda: os.environ.update(SCALE="3")


@setting
def a_dictionary_above_another():
    above = {}
    numbers = ChainMap(above, {"scale": 1.0})
    return lambda: numbers["scale"], lambda: above.update(scale=3.0)


@setting
def an_equal_number_and_then_another():
    numbers = {"scale": (1.0, np.float64(1.0))}

    def read():
        return numbers["scale"][0] * numbers["scale"][1]

    return read, lambda: numbers.update(scale=(1.0, np.float64(3.0)))


@setting
def a_variable_by_its_name():
    globals()["scale"] = 1.0
    return lambda: globals()["scale"], lambda: globals().update(scale=3.0)


@setting
def a_function_of_a_module():
    class Net(nn.Module):
        def __init__(self):
            self.activate = mg.tanh

        def forward(self):
            return self.activate(mg.tensor(1.0))

    net = Net()
    return net, lambda: setattr(net, "activate", mg.exp)


@setting
def a_private_list_of_a_module():
    class Net(nn.Module):
        scale = 1.0

        def __init__(self):
            self._numbers = [1.0]

        def forward(self):
            return self._numbers[0] * self.scale

    net = Net()
    return net, lambda: net._numbers.__setitem__(0, 3.0)


@equal
def an_optimiser_of_the_users(compiled):
    class Descent(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.1})
            self.scale = 1.0

        def new_values(self, values, gradient, state, group):
            state["steps"] = state.get("steps", 0) + 1
            return values - self.scale / state["steps"] * gradient

    trainer = Trainer(Descent)
    step = compiled(trainer.step)

    def call(i):
        trainer.optimizer.scale = 1.0 if i < 3 else 0.1
        return step(*batch(i))

    return call, trainer.state


@pytest.mark.parametrize("program", EQUAL, ids=lambda program: program.__name__)
def test_a_compiled_program_has_the_engines_bits(program):
    assert_equal(program)


def test_a_setting_that_is_set_to_an_equal_number_is_no_other_program():
    settings = {"scale": 0.5}
    step = mg.compile(lambda x: x * settings["scale"])
    for i in range(6):
        settings["scale"] = float(f"0.5{'0' * i}")
        step(mg.tensor([1.0]))
    assert step.counts == {"traced": 2, "written": 4}


def test_a_place_that_keeps_changing_is_named():
    settings = {"epoch": 0}
    step = mg.compile(lambda x: x * float(settings["epoch"]))
    for settings["epoch"] in range(8):
        step(mg.tensor([1.0]))
    settings["epoch"] = 8
    with pytest.warns(UserWarning, match=r"has 9 programs: settings\['epoch'\] keeps changing; make it an argument"):
        step(mg.tensor([1.0]))
