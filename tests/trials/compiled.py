"""Compiled steps between random changes of what they find: the same bits as by the engine, and no refusal."""

from __future__ import annotations

from typing import Any

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.pytrees import map_leaves
from written_steps import KINDS, SCHEDULES, all_same

from .harness import SAME, dice
from .training import OPTIMISERS, networks

CALLS = 16
"""Calls of one case, with changes in between."""


class World:
    """A step and what it finds: leaves in a list, arrays that two tensors share, a network, an optimiser, numbers."""

    scale = 0.5

    def __init__(self, case: int):
        self.rng = dice("compiled", case)
        mg.random.seed(case)
        draw = self.rng.normal
        self.leaves = [mg.tensor(draw(size=s), requires_grad=True) for s in [(4,), (1, 4), (4, 4)]]
        self.table = mg.tensor(draw(size=(1, 4)))
        self.alias = self.leaves[int(self.rng.integers(3))].detach()
        self.net = networks()[self.rng.integers(4)]()
        self.optimiser = OPTIMISERS[self.rng.integers(len(OPTIMISERS))]([*self.net.parameters(), *self.leaves])
        self.schedule = SCHEDULES[self.rng.integers(4)](self.optimiser) if self.rng.integers(2) else None
        self.choices = self.rng.integers(0, len(KINDS), size=self.rng.integers(1, 5)).tolist()
        self.forgets, self.writes = self.rng.integers(0, 2, size=2).tolist()
        self.handles: list[Any] = []

    def step(self, x: Any, rate: float) -> Any:
        """Compute, walk back and update: branches on shapes, writes through views and `.data`, several results."""
        if self.forgets:
            self.optimiser.zero_grad()
        value = x @ self.leaves[2] if x.shape[0] % 2 else mg.tanh(x)
        for choice in self.choices:
            value = KINDS[choice](value, self.leaves[choice % 2])
            for _ in range(value.shape[0] % 3):
                value = mg.sin(value) * self.scale + self.table
        loss = (self.net(value) ** 2).mean() * rate + (self.leaves[0] * self.leaves[0]).sum() + self.alias.sum()
        loss.backward()
        self.optimiser.step()
        if self.schedule is not None:
            self.schedule.step()
        if self.writes:
            self.table.data[0, 1:3] *= 0.5
            self.table.data = self.table.data + 0.25
        return loss, [value.detach(), *(leaf.grad for leaf in self.leaves)]

    def state(self) -> Any:
        """Return everything that the step may change."""
        states = [dict(self.optimiser.state[tensor]) for tensor in self.optimiser.parameters()]
        return [self.leaves, [leaf.grad for leaf in self.leaves], self.table, self.net.state_dict(), states]


def copy_of(x: Any) -> Any:
    """Return the numbers of a tensor or array as they are now; anything else as it is."""
    return np.array(getattr(x, "_data", x), order="K") if hasattr(x, "dtype") else x


def leaf_of(world: World) -> Any:
    """Return one of the leaves."""
    return world.leaves[int(world.rng.integers(3))]


def hold_other_weights(world: World) -> None:
    """Give a layer another parameter."""
    layer = next(each for each in world.net.modules() if hasattr(each, "weight"))
    layer.weight = nn.Parameter(layer.weight.numpy() * 0.5)


def forget_handle(world: World) -> None:
    """Remove a hook."""
    if world.handles:
        world.handles.pop().remove()


CHANGES = [
    lambda world: world.net.eval(), lambda world: world.net.train(), forget_handle, forget_handle, hold_other_weights,
    lambda world: setattr(leaf_of(world), "grad", None), lambda world: leaf_of(world).requires_grad_(False),
    lambda world: leaf_of(world).requires_grad_(True), lambda world: leaf_of(world).assign(leaf_of(world).sum()),
    lambda world: world.optimiser.param_groups[0].update(lr=float(world.rng.uniform(1e-3, 1e-2))),
    lambda world: world.optimiser.param_groups[0].update(weight_decay=0.01),
    lambda world: world.optimiser.param_groups[0]["params"].reverse(),
    lambda world: world.optimiser.param_groups[0].update(params=world.leaves[:1]),
    lambda world: setattr(world, "optimiser", optim.SGD(world.leaves, lr=1e-3)),
    lambda world: world.leaves.__setitem__(0, mg.tensor(world.rng.normal(size=4), requires_grad=True)),
    lambda world: setattr(world, "table", mg.tensor(np.ones((1, 4)))), lambda world: world.table.assign(2.0),
    lambda world: setattr(world, "scale", float(world.rng.uniform())), lambda world: world.choices.append(1),
    lambda world: world.handles.append(world.net[0].register_forward_hook(lambda module, args, out: out * 0.5)),
    lambda world: world.handles.append(world.net.register_forward_pre_hook(lambda module, args: args[0] * 2.0)),
    lambda world: setattr(world, "forgets", 1 - world.forgets), lambda world: delattr(world, "scale"),
]  # fmt: skip


def run_calls(case: int, is_compiled: bool) -> tuple[list[Any], str]:
    """Return what a case's calls return and leave behind, and the refusal that ended them."""
    world, found = World(case), []
    step = mg.compile(world.step) if is_compiled else world.step
    for _ in range(CALLS):
        x = mg.tensor(world.rng.normal(size=(int(world.rng.choice([2] * 9 + [3])), 4)))
        try:
            result: Any = step(x, float(world.rng.uniform()))
        except Exception as error:  # noqa: BLE001 - the engine's errors are results, compared by their kinds
            if str(error).startswith("mg.compile: "):
                return found, str(error)
            result = type(error).__name__
        found.append(map_leaves([result, world.state()], copy_of))
        if world.rng.uniform() < 0.2:
            try:
                CHANGES[world.rng.integers(len(CHANGES))](world)
            except AttributeError:  # the class's own number, which an object cannot lose
                continue
    return found, ""


def run(case: int) -> str:
    """Return what came of one case."""
    with np.errstate(all="ignore"):
        (by_engine, _), (compiled, refusal) = (run_calls(case, is_compiled) for is_compiled in (False, True))
    for i, (a, b) in enumerate(zip(by_engine, compiled, strict=False)):
        if not all_same(a, b):
            return f"call {i + 1} differs"
    return f"refused: {refusal}" if refusal else SAME
