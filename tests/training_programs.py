"""Random training programs, run under a recorder, with a witness of what the engine's leaves hold."""

import contextlib
from collections import ChainMap

import numpy as np

import micrograd_plus as mg
from journal_witness import WalkCounter, Witness, WitnessOfValues
from micrograd_plus import nn
from micrograd_plus.core.runtime.recorders import record_to
from micrograd_plus.engine import Value


class Program:
    """One random training program. `run` records it and returns the trace and the witness."""

    witness = Witness
    shapes = ((), (3,), (2, 3), (1, 3))

    def __init__(self, seed):
        self.seed, self.random = seed, np.random.default_rng(seed)
        shapes = [self.shapes[self.random.integers(4)] for _ in range(self.random.integers(2, 5))]
        self.leaves = {f"p{i}": mg.tensor(self.entries(shape), requires_grad=True) for i, shape in enumerate(shapes)}
        self.results = {}
        self.handles, self.second_runs, self.walks = [], [], WalkCounter()
        if self.chance(0.2):
            next(iter(self.leaves.values())).grad = self.random.normal(size=shapes[0])
        names = list(self.leaves.values())
        half = max(1, len(names) // 2)
        self.optimizers = [mg.optim.SGD(names[:half], lr=0.1, momentum=0.5 * self.chance(0.3))]
        if names[half:]:
            self.optimizers.append(self.second_optimizer(names[half:]))

    def entries(self, shape):
        """Return random entries for a leaf."""
        return self.random.normal(size=shape)

    def second_optimizer(self, parameters):
        return mg.optim.Adam(parameters, lr=0.05)

    @property
    def watchlist(self):
        """The values whose states the journal must know, by name: the leaves, and results that keep gradients."""
        return ChainMap(self.leaves, self.results)

    def keep(self, result):
        """Follow a result, which keeps its gradient. Return it."""
        if result.requires_grad:
            self.results[f"r{len(self.results)}"] = result.retain_grad()
        return result

    def chance(self, share):
        return self.random.random() < share

    def leaf(self):
        return self.leaves[list(self.leaves)[self.random.integers(len(self.leaves))]]

    def run(self):
        with mg.record() as trace:
            witness = self.witness(trace.source.history.recorder, self.watchlist)
            with record_to(witness):
                self.rounds()
            witness.main.look_for_writes()
            witness.look(len(witness.main.changes))
        return trace, witness

    def run_without_record(self):
        """Run the program without a record."""
        with record_to(self.walks):
            self.rounds()

    def rounds(self):
        """Run all rounds, or those up to a deliberate error."""
        try:
            for _ in range(self.random.integers(1, 6)):
                self.round()
        except (RuntimeError, ValueError, TypeError) as error:
            if "deliberate" not in str(error):
                raise

    def node_of(self, leaf):
        """Return what identifies a leaf in a trace."""
        return leaf.node

    # One round --------------------------------------------

    def round(self):
        if self.chance(0.3):
            self.change_something()
        if self.chance(0.8):
            self.clear()
        loss = self.forward()
        self.backward(loss)
        for _ in range(self.random.integers(0, 3)):
            self.change_something()
        for optimizer in self.optimizers:
            if self.chance(0.7):
                optimizer.step()
        while self.handles and self.chance(0.5):
            self.handles.pop().remove()

    def clear(self):
        kind = self.random.integers(4)
        if kind < 2:
            for optimizer in self.optimizers:
                optimizer.zero_grad(set_to_none=bool(kind))
        elif kind == 2:
            self.leaf().grad = None
        else:
            leaf = self.leaf()
            leaf.grad = mg.zeros(leaf.shape)

    def forward(self):
        values = list(self.leaves.values())
        self.random.shuffle(values)
        total = values[0]
        for value in [*values[1:], *(self.leaf() for _ in range(self.random.integers(3)))]:
            other = self.vary(value)
            total = (total * other, total + mg.sin(other), mg.tanh(total) - other)[self.random.integers(3)]
            self.register_hooks(total)
        if total.node is None:
            total = total * self.leaf()
        return (total * total).sum()

    def vary(self, value):
        """Return a value itself, or something computed from it."""
        kind = self.random.integers(9)
        if kind == 1:
            with mg.no_grad():
                return value * 2.0
        ways = {0: value.detach, 2: lambda: self.checkpoint(value),
                3: lambda: mg.nn.functional.dropout(value, 0.5), 4: lambda: value + value}
        return ways.get(int(kind), lambda: value)()

    def checkpoint(self, value):
        """Return what a checkpoint computes from a value. Its function may read a leaf, hold another checkpoint, or
        have two results."""
        leaf, kind = self.leaf(), self.random.integers(4)
        if kind == 0:
            return mg.checkpoint(self.watch(mg.tanh, 1), value)
        if kind == 1:
            return mg.checkpoint(self.watch(lambda x: mg.sin(x) * leaf.sum(), 3), value)
        if kind == 2:
            return mg.checkpoint(self.watch(lambda x: mg.checkpoint(self.watch(mg.tanh, 1), mg.sin(x)), 2), value)
        one, other = mg.checkpoint(self.watch(lambda x: (mg.tanh(x), mg.sin(x)), 2), value)
        return one * other

    def watch(self, f, size):
        """Return a function that notes when a checkpoint runs it again, and how many values it computes."""

        def run(x):
            if mg.is_recomputing():
                self.second_runs.append((self.walks.count, size))
            return f(x)

        return run

    def register_hooks(self, total):
        if self.chance(0.1) and total.requires_grad:
            self.handles.append(total.register_hook(lambda gradient: gradient * 2))
        if self.chance(0.1):
            self.handles.append(self.leaf().register_hook(lambda gradient: gradient * 100))
        if self.chance(0.05):
            self.handles.append(self.leaf().register_post_accumulate_grad_hook(move))

    def backward(self, loss):
        kind = self.random.integers(9)
        if kind == 0:
            loss.backward()
            loss.backward()
        elif kind == 1:
            gradients = loss.gradients(create_graph=True)
            squares = [(gradient * gradient).sum() for gradient in gradients.values()]
            sum(squares[1:], squares[0]).backward() if squares[0].requires_grad else None
        elif kind == 2:
            loss.gradients()
        elif kind == 3:
            handle = self.leaf().register_hook(fail)
            try:
                loss.backward()
            except ValueError:
                if self.chance(0.3):
                    raise
            finally:
                handle.remove()
        elif kind == 4:
            loss.backward(create_graph=True)
        elif kind == 5:
            frozen = self.leaf().requires_grad_(False)
            loss.backward()
            frozen.requires_grad_(True)
        else:
            loss.backward()

    def change_something(self):
        if self.results and self.chance(0.4):
            self.change_result()
            return
        leaf, number = self.leaf(), float(self.random.normal())
        if self.chance(0.5):
            VALUE_CHANGES[self.random.integers(len(VALUE_CHANGES))](leaf, number)
        elif self.chance(0.3):
            parameters = list(self.leaves.values())
            reals = [parameter for parameter in parameters if parameter.dtype.kind != "c"]
            clips = [lambda: mg.nn.utils.clip_grad_norm_(parameters, 0.5),
                     lambda: mg.nn.utils.clip_grad_value_(reals, 0.1)]
            clips[self.random.integers(2)]()
        elif leaf.grad is not None and leaf.grad.is_leaf:
            GRADIENT_CHANGES[self.random.integers(len(GRADIENT_CHANGES))](leaf, number)

    def change_result(self):
        """Change the gradient that one of the latest results keeps, or set one."""
        latest = [*self.results.values()][-3:]
        result, number = latest[self.random.integers(len(latest))], float(self.random.normal())
        if self.chance(0.3):
            result.grad = None
        elif result.grad is None or not result.grad.is_leaf:
            set_gradient(result, number)
        else:
            GRADIENT_CHANGES[self.random.integers(len(GRADIENT_CHANGES))](result, number)


class Loop(Program):
    """A random training loop: each round does the same, with the numbers that the round before has left."""

    def round(self):
        self.random = np.random.default_rng([self.seed, 1])
        super().round()


class Rivals(Program):
    """A random training program with several walks in each round, as of a generator and a discriminator: each optimiser
    steps after walks of its own, values and gradients change between the walks, and a walk may go through what another
    one went through, checkpoints included."""

    def round(self):
        shared = self.keep(self.forward()) if self.chance(0.6) else None
        for optimizer in self.optimizers * int(self.random.integers(1, 3)):
            if self.chance(0.7):
                optimizer.zero_grad(set_to_none=self.chance(0.7))
            loss = self.forward()
            if shared is not None and self.chance(0.7):
                loss = loss + mg.tanh(shared)
            self.backward(loss)
            for _ in range(self.random.integers(0, 3)):
                self.change_something()
            if self.chance(0.8):
                optimizer.step()
        while self.handles and self.chance(0.5):
            self.handles.pop().remove()


class States(Program):
    """A random training program with a state that each round reads and leaves to the next without its graph, as a
    recurrent network that learns from one part of a text after another."""

    def __init__(self, seed):
        super().__init__(seed)
        self.state = mg.tensor(np.zeros((2, 3)))

    def forward(self):
        state = self.state.detach()
        for value in self.leaves.values():
            state = mg.tanh(state + self.vary(value))
            self.register_hooks(state)
        if state.node is None:
            state = state * self.leaf()
        self.state = state.detach() if self.chance(0.5) else state
        return (state * state).sum()


class Arrays(Program):
    """A random training program of arrays with up to four axes, some of them complex: parts of arrays, operations with
    several results, lists that change after they were joined, and results that keep their gradients."""

    shapes = ((2, 3, 2), (2, 1, 2, 3), (3, 3), (5, 2, 2))

    def entries(self, shape):
        real = super().entries(shape)
        return real + 1j * super().entries(shape) if self.chance(0.2) else real

    def second_optimizer(self, parameters):
        return mg.optim.SGD(parameters, lr=0.05)

    def forward(self):
        total = norm(self.leaf())
        for _ in range(self.random.integers(2, 4)):
            value = self.vary(self.leaf())
            if self.chance(0.4):
                value = self.keep(value * 2.0)
            term = WAYS[self.random.integers(len(WAYS))](value)
            self.register_hooks(term)
            total = total + norm(term)
        return total


class Layers(Program):
    """A random training program of a small network: layers with buffers and masks, tied weights, results that are
    written into, results that keep their gradients, and operations that fail."""

    def __init__(self, seed):
        super().__init__(seed)
        last = nn.Linear(2, 2)
        self.net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Tanh(), nn.Dropout(0.3), last)
        if self.chance(0.3):
            self.net.append(last)
        self.leaves = {f"p{i}": parameter for i, parameter in enumerate(self.net.parameters())}
        parameters = list(self.leaves.values())
        self.optimizers = [mg.optim.SGD(parameters[:4], lr=0.1, momentum=0.9), mg.optim.AdamW(parameters[4:], lr=0.05)]
        self.data, self.labels = self.random.normal(size=(4, 3)), self.random.integers(0, 2, 4)

    def forward(self):
        out = self.net(mg.tensor(self.data))
        if self.chance(0.3):
            out.retain_grad()
        if self.chance(0.3):
            out += self.vary(self.net[0].weight.sum())
        if self.chance(0.2):
            out[0] = out[1] * 2.0
        self.register_hooks(out)
        if self.chance(0.2):
            with contextlib.suppress(ValueError):
                out @ self.data
        if self.chance(0.5):
            return nn.functional.cross_entropy(out, mg.tensor(self.labels))
        return (out * out).mean() + 0.1 * self.net[0].weight.sum()


class Scalars(Program):
    """A random training program of `Value`s, as in micrograd."""

    witness = WitnessOfValues

    def __init__(self, seed):
        super().__init__(seed)
        self.leaves = {f"p{i}": Value(float(self.random.normal())) for i in range(self.random.integers(2, 6))}
        if self.chance(0.3):
            self.leaf().grad = float(self.random.normal())
        self.made = []

    def node_of(self, leaf):
        return leaf

    def round(self):
        if self.chance(0.3):
            self.change_something()
        loss = self.forward()
        if self.chance(0.8):
            for value in [*self.leaves.values(), *(self.made if self.chance(0.3) else [])]:
                value.grad = 0
        self.backward(loss)
        for _ in range(self.random.integers(0, 3)):
            self.change_something()
        for value in self.leaves.values() if self.chance(0.8) else ():
            value.data -= 0.05 * value.grad

    def forward(self):
        values, self.made = list(self.leaves.values()), []
        self.random.shuffle(values)
        total = values[0]
        for value in [*values[1:], *(self.leaf() for _ in range(self.random.integers(4)))]:
            other = (value, value.tanh(), value.relu(), value * value, value**3, 2.0 - value)[self.random.integers(6)]
            if self.chance(0.1):
                with mg.no_grad():
                    other = other * 2.0
            total = (total * other, total + other, total - other, total / (other * other + 1.0), total + total)[
                self.random.integers(5)]  # fmt: skip
            self.made.append(total)
        self.results |= {f"r{len(self.results) + i}": value for i, value in enumerate(self.made)}
        return total * total

    def backward(self, loss):
        kind = self.random.integers(6)
        if kind == 0:
            loss.backward()
            loss.backward()
        elif kind == 1:
            loss.grad = 1.0
            loss._backward()
        elif kind == 2:
            self.leaf().data += 1.0  # some rule may have to read what it was
            with contextlib.suppress(RuntimeError):
                loss.backward()
        else:
            loss.backward()

    def change_something(self):
        leaf, number = self.leaf(), float(self.random.normal())
        if self.made and self.chance(0.2):
            self.made[self.random.integers(len(self.made))].grad = number
        elif self.chance(0.3):
            leaf.data = number
        elif self.chance(0.5):
            leaf.grad *= 0.5
        else:
            leaf.grad = number


def scale_gradient(leaf, number):
    leaf.grad *= 0.5


def set_gradient(leaf, number):
    leaf.grad = np.full(leaf.shape, number)


def write_into_gradient(leaf, number):
    leaf.grad[...] = number


def write_into_array_of_gradient(leaf, number):
    leaf.grad.data[...] = number


def descend(leaf, number):
    if leaf.grad is not None:
        with mg.no_grad():
            leaf -= 0.1 * leaf.grad


def descend_by_array(leaf, number):
    if leaf.grad is not None:
        leaf.data -= 0.1 * leaf.grad.numpy()


def write_into_array(leaf, number):
    leaf.data[...] = number


def write_entries(leaf, number):
    with mg.no_grad():
        leaf[...] = number


def assign(leaf, number):
    leaf.assign(np.full(leaf.shape, number))


def write_into_array_later(leaf, number):
    held = leaf.data
    _ = leaf * 2.0
    held[...] = number


# Ways of arrays -----------------------------------------


def norm(value):
    """Return the sum of the squares of a value's entries, a real number."""
    return mg.real(value * mg.conj(value)).sum()


def first_part(value):
    return value[0] * value[..., -1:]


def turned_part(value):
    return value[::-1, None].swapaxes(0, -1)


def chosen_rows(value):
    return value[[0, 1, 0]]


def stack_parts(value):
    parts = [value, value * 2.0]
    whole = mg.stack(parts, axis=1)
    parts[0] = whole
    return whole


def join_parts(value):
    parts = [value, mg.sin(value), value]
    whole = mg.concatenate(parts)
    parts.clear()
    return whole


def each_row(value):
    total = 0.0
    for row in value:
        total = total + row * row
    return total


def unstack_entries(value):
    first, second, *_ = mg.unstack(value, axis=-1)
    return first * second


def split(value):
    first, second = mg.split(value, [1])
    return mg.sin(first) * second


def largest(value):
    entries, _ = mg.topk(mg.real(value).reshape(-1), 3)
    return entries


def regular(value):
    """Return matrices from a part of an array, which no entries can make singular."""
    return mg.sin(mg.real(value)[..., :2, :2]) + 3.0 * np.eye(2)


def factors(value):
    q, r = mg.linalg.qr(regular(value))
    return q @ mg.sin(r)


def triangle(value):
    return mg.linalg.qr(regular(value))[1]


def product(value):
    return value @ value.mT


WAYS = [first_part, turned_part, chosen_rows, stack_parts, join_parts, each_row, unstack_entries, split, largest,
        factors, triangle, product]  # fmt: skip

# Changes ------------------------------------------------

VALUE_CHANGES = [descend, descend_by_array, write_into_array, write_entries, assign, write_into_array_later]
GRADIENT_CHANGES = [scale_gradient, set_gradient, write_into_gradient, write_into_array_of_gradient]


def move(leaf):
    leaf.assign(leaf.numpy() - 0.1 * leaf.grad.numpy())


def fail(gradient):
    raise ValueError("deliberate")


KINDS = (Program, Layers, Scalars, Rivals, Arrays, States)
FAMILIES = [family for kind in KINDS for family in (kind, type(f"{kind.__name__}Loop", (Loop, kind), {}))]
"""Kinds of programs, which take turns: rounds that differ, and rounds that do the same."""


def make_program(case):
    """Return a random training program, which draws the same random numbers each time."""
    mg.random.seed(case)
    return FAMILIES[case % len(FAMILIES)](case)
