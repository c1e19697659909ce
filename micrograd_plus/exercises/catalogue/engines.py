"""Engines and training: the order of the walk, what adds up, and the loop around it."""

# ruff: noqa: D102, D103 - a wrong answer is explained by the row of the catalogue beside it

from __future__ import annotations

from typing import Any

from ...backends import devices
from ...checks import museum
from ...checks.samples import real
from ...engine import Value
from ..compare import Wrong
from ..from_functions import function_exercise
from ..mutants import hints
from ..registered import register
from ..rows import ROWS
from ..spec import GROUPS, Mistake

np = devices.device("cpu").library
GROUP = GROUPS[5]


# The order ------------------


def graph(rng: Any) -> dict[str, Any]:
    """A graph in which every node was made from earlier ones, some are used by several, and some by nobody."""
    drawn = [sorted(rng.choice(node, size=2, replace=False).tolist()) for node in range(3, 8)]
    return {"parents": [[], [], [], *drawn, [6, 7], [8, 3]], "root": 9}


def reachable(parents: Any, root: int) -> list[int]:
    """The nodes that a root was made from, the latest first."""
    met, todo = {root}, [root]
    for node in todo:
        new = [parent for parent in parents[node] if parent not in met]
        todo += dict.fromkeys(new)
        met |= set(new)
    return sorted(met, reverse=True)


def along_paths(parents: Any, root: int) -> list[int]:
    """No order at all: each node as soon as somebody reaches it."""
    found: list[int] = []

    def visit(node: int) -> None:
        if node not in found:
            found.append(node)
            for parent in parents[node]:
                visit(parent)

    visit(root)
    return found


def leaves_first(parents: Any, root: int) -> list[int]:
    """The order of the forward."""
    return reachable(parents, root)[::-1]


def in_order(case: Any, right: dict[str, Any], given: dict[str, Any]) -> Wrong | None:
    """Whether a list is an order in which a walk can go: each node once, and after all that use it."""
    name = "the answer"
    nodes, due = given[name].reshape(-1).astype(int).tolist(), set(right[name].astype(int).tolist())
    arguments = case.request["arguments"]
    if set(nodes) != due or len(nodes) != len(due):
        of_them = len(due & set(nodes))
        return Wrong("order", f"{len(nodes)} nodes are listed, {of_them} of those the root is made from", name)
    if nodes[0] != arguments["root"]:
        return Wrong("leaves first", "the walk does not begin at the root", name)
    place = {node: i for i, node in enumerate(nodes)}
    for node in nodes:
        for parent in arguments["parents"][node]:
            if place[parent] < place[node]:
                return Wrong("too early", f"node {parent} passes on before node {node}, its user, has paid in", name)
    return None


def by_kind(row: str, kind: str, thing: Any) -> Mistake:
    """A row that is recognised by the kind of what is wrong, however the nodes are listed."""
    return Mistake(row, ROWS[row][0], hints(row, ""), thing, lambda exercise, wrongs: {w.kind for w in wrongs} ==
    {kind})


register(function_exercise(
    "engine.order", reachable, kind="engine", group=GROUP, title="the order of the walk",
    prompt="`parents[i]` lists the nodes that node i was made from; later nodes have larger numbers. Return the nodes "
           "that "
           "`root` was made from, and itself, in an order in which each can pass its gradient on. Any such order is "
           "right.",
    inputs=graph, judge=in_order,
    edges={"one node is used by everybody": {"parents": [[], [0], [0, 1], [0, 2], [0, 3]], "root": 4},
           "the root is a leaf": {"parents": [[], [0]], "root": 0},
           "the chain is long": {"parents": [[], *([i] for i in range(2999))], "root": 2999}},
    mistakes=[by_kind("M3", "too early", along_paths), by_kind("M4", "leaves first", leaves_first)],
))  # fmt: skip


# What adds up ---------------


def slopes(rng: Any) -> dict[str, Any]:
    """A graph with the local derivative of every edge; one node is both operands of another."""
    parents = [[], [], [0, 1], [2, 2], [0, 3], [4, 2], [5, 1]]
    return {"parents": parents, "slopes": [[float(real()(rng)) for _ in each] for each in parents]}


def backward(parents: Any, slopes: Any) -> Any:
    """Every gradient, from the last node on."""
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += gradient[node] * slope
    return gradient


def backward_overwriting(parents: Any, slopes: Any) -> Any:
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] = gradient[node] * slope
    return gradient


def backward_over_sets(parents: Any, slopes: Any) -> Any:
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in dict(zip(parents[node], slopes[node], strict=True)).items():
            gradient[parent] += gradient[node] * slope
    return gradient


def backward_along_paths(parents: Any, slopes: Any) -> Any:
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0

    def visit(node: int) -> None:
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += gradient[node] * slope
        for parent in parents[node]:
            visit(parent)

    visit(len(parents) - 1)
    return gradient


def backward_from_the_leaves(parents: Any, slopes: Any) -> Any:
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in range(len(parents)):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += gradient[node] * slope
    return gradient


def backward_without_upstream(parents: Any, slopes: Any) -> Any:
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += slope
    return gradient


register(function_exercise(
    "engine.accumulate", backward, kind="engine", group=GROUP, title="what arrives at every node",
    prompt="`parents[i]` lists the nodes that node i was made from, and `slopes[i]` the local derivative for each of "
           "them. "
           "Nodes are numbered as they were made. Return the gradient of the last node with respect to every node.",
    inputs=slopes,
    edges={"a node is used three times": {"parents": [[], [0, 0], [1, 0]], "slopes": [[], [0.5, 0.7], [1.5, -0.3]]},
           "a node is used by nobody": {"parents": [[], [0], [0]], "slopes": [[], [0.5], [0.7]]}},
    mistakes=[("M1", backward_overwriting), ("M2", backward_over_sets), ("M3", backward_along_paths),
              ("M4", backward_from_the_leaves), ("M6", backward_without_upstream)],
))  # fmt: skip


def unbroadcast(x: Any, shape: Any) -> Any:
    """The sum over what was repeated."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


def repeated(x: Any, shape: Any) -> tuple[int, ...]:
    lead = x.ndim - len(shape)
    return (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1))


def along_another(x: Any, shape: Any) -> Any:
    axes = repeated(x, shape)
    return x.sum(axis=tuple(i for i in range(x.ndim) if i not in axes)[: len(axes)])


register(function_exercise(
    "engine.unbroadcast", unbroadcast, kind="engine", group=GROUP, title="broadcasting, undone",
    prompt="A value of the given shape was broadcast, and `x` arrived where it went. Return what the value receives.",
    inputs=lambda rng: [{"x": real(4, 3)(rng), "shape": (3,)}, {"x": real(4, 3)(rng), "shape": (4, 1)},
                        {"x": real(2, 4, 3)(rng), "shape": (4, 1)}][rng.integers(3)],
    edges={"it became square": {"x": real(3, 3), "shape": (3,)},
           "nothing was broadcast": {"x": real(2, 3), "shape": (2, 3)},
           "it was a single number": {"x": real(2, 3), "shape": ()},
           "an axis of length 1 stays": {"x": real(5, 3), "shape": (5, 1)},
           "an axis had length 1 anyway": {"x": real(2, 1, 3), "shape": (1, 3)}},
    mistakes=[("M27", lambda x, shape: x), ("M28", lambda x, shape: x.mean(axis=repeated(x, shape)).reshape(shape)),
              ("M29", lambda x, shape: x.sum(axis=repeated(x, shape))), ("M30", along_another)],
    count=8,
))  # fmt: skip


def through_segments(slopes: Any, weights: Any) -> Any:
    """What arrives behind a segment is handed on to the one before it."""
    upstream, received = 1.0, []
    for slope, weight in zip(reversed(slopes), reversed(weights), strict=True):
        received.append(upstream * weight)
        upstream = upstream * slope
    return received[::-1]


def last_segment_only(slopes: Any, weights: Any) -> Any:
    return [0.0] * (len(weights) - 1) + [float(weights[-1])]


def every_segment_alone(slopes: Any, weights: Any) -> Any:
    return list(weights)


CUT = museum.named("two_checkpoints: cut between segments")

register(function_exercise(
    "engine.segments", through_segments, kind="engine", group=GROUP, title="a chain in segments",
    prompt="A chain is kept in segments, each computed again on the way back. `slopes[i]` is the derivative of segment "
           "i's output by its input, `weights[i]` that by its own weight; the first segment comes first, and the last "
           "one's output is the result. Return what every weight receives.",
    inputs={"slopes": lambda rng: [float(real()(rng)) for _ in range(4)],
            "weights": lambda rng: [float(real()(rng)) for _ in range(4)]},
    edges={"there is one segment": {"slopes": [0.7], "weights": [-1.3]},
           "a slope is 0": {"slopes": [0.5, 0.0, 0.7, 1.2]}},
    mistakes=[Mistake("museum", CUT.name, hints("museum", "", CUT.story), last_segment_only),
              ("M6", every_segment_alone)],
))  # fmt: skip


# A class of numbers ---------


def lines(rng: Any) -> dict[str, Any]:
    """A program in which a value is used twice, and meets itself."""
    a, b = float(real()(rng)), float(real()(rng))
    return {"lines": [["leaf", a], ["leaf", b], ["add", 0, 1], ["multiply", 0, 1], ["add", 2, 3], ["multiply", 2, 3],
                      ["multiply", 5, 5], ["tanh", 4], ["add", 6, 7]]}  # fmt: skip


class Handmade:
    """Numbers with a graph, small enough to be wrong in one place: what the wrong answers below have in common."""

    def __init__(self, data: float, parents: tuple[Any, ...] = (), slopes: tuple[float, ...] = ()):
        self.data, self.parents, self.slopes, self.grad = data, parents, slopes, 0.0

    def made(self, data: float, parents: tuple[Any, ...], slopes: tuple[float, ...]) -> Any:
        """A result."""
        return type(self)(data, parents, slopes)

    def __add__(self, other: Any) -> Any:
        return self.made(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: Any) -> Any:
        return self.made(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self) -> Any:
        """The hyperbolic tangent."""
        y = float(np.tanh(self.data))
        return self.made(y, (self,), (1 - y * y,))

    def order(self) -> list[Any]:
        """Every node after those it was made from."""
        found: list[Any] = []

        def visit(node: Any) -> None:
            if node not in found:
                for parent in node.parents:
                    visit(parent)
                found.append(node)

        visit(self)
        return found

    def send(self) -> None:
        """Send this node's gradient on."""
        for parent, slope in zip(self.parents, self.slopes, strict=True):
            parent.grad += self.grad * slope

    def backward(self) -> None:
        """The walk."""
        self.grad = 1.0
        for node in reversed(self.order()):
            node.send()


class Overwriting(Handmade):
    """M1."""

    def send(self) -> None:
        for parent, slope in zip(self.parents, self.slopes, strict=True):
            parent.grad = self.grad * slope


class OverSets(Handmade):
    """M2."""

    def send(self) -> None:
        for parent, slope in dict(zip(self.parents, self.slopes, strict=True)).items():
            parent.grad += self.grad * slope


class AlongPaths(Handmade):
    """M3."""

    def backward(self) -> None:
        self.grad = 1.0
        self.on()

    def on(self) -> None:
        """Pass on at once, and have the inputs do so."""
        self.send()
        for parent in dict.fromkeys(self.parents):
            parent.on()


class FromTheLeaves(Handmade):
    """M4."""

    def backward(self) -> None:
        self.grad = 1.0
        for node in self.order():
            node.send()


class WithoutUpstream(Handmade):
    """M6."""

    def send(self) -> None:
        for parent, slope in zip(self.parents, self.slopes, strict=True):
            parent.grad += slope


class NeverCleared(Handmade):
    """M5: right the first time."""


register(function_exercise(
    "engine.value", Value, kind="engine", group=GROUP, title="a number with a graph", driver="program",
    answers=["values", "gradients"],
    prompt="Write a class of numbers: `Value(data)`, with `data` and `grad`, `+`, `*`, `tanh()` and `backward()`, "
           "which puts "
           "into `grad` of every value it was made from what that contributes. Called again, it adds the same again to "
           "values that were not cleared, and is not confused by what it left inside.",
    inputs=lines,
    edges={"backward is called twice, and leaves are cleared between": {"times": 2, "cleared": True, "wanted": [0, 1]},
           "there is one value only": {"lines": [["leaf", 3.0]]},
           "a value is added to itself": {"lines": [["leaf", 3.0], ["add", 0, 0], ["multiply", 1, 1]]}},
    mistakes=[("M1", Overwriting), ("M2", OverSets), ("M3", AlongPaths), ("M4", FromTheLeaves), ("M6", WithoutUpstream),
              ("M5", NeverCleared)],
    starter='@exercises.answer("engine.value")\nclass Value:\n    """A number with a graph."""\n\n'
            '    def __init__(self, data):\n        self.data, self.grad = data, 0.0\n\n    # YOUR CODE HERE\n\n\n'
            "engine_value = Value\n",
))  # fmt: skip


def saved(a: Any, b: Any) -> Any:
    """The product, and the way back with the numbers of the forward."""
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * b, upstream * a)


def looked_up_late(a: Any, b: Any) -> Any:
    return a * b, lambda upstream: (upstream * b, upstream * a)


def own_factors(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * a, upstream * b)


register(function_exercise(
    "engine.saved", saved, kind="engine", group=GROUP, title="a product that remembers its factors",
    driver="forward_then_back", answers=["out", "a", "b"],
    prompt="Return the product of the arrays `a` and `b`, and a function that takes upstream to what a and b receive. "
           "Whoever called you may write into a and b before the walk comes by.",
    inputs={"a": real(2, 3), "b": real(2, 3), "upstream": real(2, 3)},
    mistakes=[("M7", looked_up_late), ("M14", own_factors)],
    starter='@exercises.answer("engine.saved")\ndef engine_saved(a, b):\n    """The product, and the way back."""\n'
            "    # YOUR CODE HERE\n    raise NotImplementedError\n",
))  # fmt: skip


def neuron(weights: Any, inputs: Any, bias: Any) -> Any:
    """One neuron."""
    total = bias
    for weight, each in zip(weights, inputs, strict=True):
        total = total + weight * each
    return total.tanh()


def cut(weights: Any, inputs: Any, bias: Any) -> Any:
    total = bias
    for weight, each in zip(weights, inputs, strict=True):
        total = total + weight.data * each
    return total.tanh()


def biased_away(weights: Any, inputs: Any, bias: Any) -> Any:
    total = weights[0] * inputs[0]
    for weight, each in zip(weights[1:], inputs[1:], strict=True):
        total = total + weight * each
    return (total + bias.data).tanh()


register(function_exercise(
    "engine.neuron", neuron, kind="engine", group=GROUP, title="a neuron whose graph holds together",
    driver="graph_kept", answers=["value", "known"],
    prompt="Return tanh(w₁x₁ + w₂x₂ + … + bias) of numbers with a graph: they have `+`, `*`, `.tanh()` and `.data`. "
           "The result has to know all of weights, inputs and bias.",
    inputs={"weights": real(3), "inputs": real(3), "bias": 0.4},
    mistakes=[("M8", cut), ("M8", biased_away)],
))  # fmt: skip


# Steps and loops ------------


def momentum(parameter: Any, gradient: Any, state: Any, rate: Any, momentum: Any) -> Any:
    """A step along a running sum of gradients."""
    velocity = momentum * state.get("velocity", 0.0) + gradient
    return parameter - rate * velocity, {"velocity": velocity}


def without_memory(parameter: Any, gradient: Any, state: Any, rate: Any, momentum: Any) -> Any:
    return parameter - rate * gradient, {}


def uphill(parameter: Any, gradient: Any, state: Any, rate: Any, momentum: Any) -> Any:
    velocity = momentum * state.get("velocity", 0.0) + gradient
    return parameter + rate * velocity, {"velocity": velocity}


FORGETFUL = (
    "Does the second step know anything of the first?", "The state that a step returns is not used by the next.",
    "Read the running numbers out of `state`, and return them in the new one.",
)  # fmt: skip
UPHILL = (
    "Does the loss fall or rise?", "The step goes along the gradient, where it should go against it.",
    "The gradient points uphill: subtract.",
)  # fmt: skip
STEPS = {"parameter": real(3), "gradients": lambda rng: [real(3)(rng) for _ in range(4)], "rate": 0.1}

register(function_exercise(
    "engine.momentum", momentum, kind="engine", group=GROUP, title="a step with momentum", driver="steps",
    prompt="velocity = momentum · velocity + gradient; parameter = parameter − rate · velocity. Return the new "
           "parameter "
           "and a dictionary, which the next step is given as `state`; the first is given an empty one.",
    inputs={**STEPS, "momentum": 0.9},
    edges={"the gradients are huge": {"gradients": lambda rng: [1e8 * real(3)(rng) for _ in range(4)]},
           "the gradients are 0 from the second on": {"gradients": lambda rng: [real(3)(rng), *[np.zeros(3)] * 3]}},
    mistakes=[Mistake("state", "the state is forgotten", FORGETFUL, without_memory),
              Mistake("uphill", "the step goes uphill", UPHILL, uphill)],
))  # fmt: skip


def adam(parameter: Any, gradient: Any, state: Any, step: Any, rate: Any, beta1: Any, beta2: Any, eps: Any) -> Any:
    """Adam, with both of its corrections."""
    mean = beta1 * state.get("mean", 0.0) + (1 - beta1) * gradient
    square = beta2 * state.get("square", 0.0) + (1 - beta2) * gradient**2
    root = np.sqrt(square / (1 - beta2**step))
    return parameter - rate * mean / (1 - beta1**step) / (root + eps), {"mean": mean, "square": square}


def uncorrected(parameter: Any, gradient: Any, state: Any, rate: Any, beta1: Any, beta2: Any, eps: Any) -> Any:
    mean = beta1 * state.get("mean", 0.0) + (1 - beta1) * gradient
    square = beta2 * state.get("square", 0.0) + (1 - beta2) * gradient**2
    return parameter - rate * mean / (np.sqrt(square) + eps), {"mean": mean, "square": square}


def without_the_root(
    parameter: Any, gradient: Any, state: Any, step: Any, rate: Any, beta1: Any, beta2: Any, eps: Any
) -> Any:
    mean = beta1 * state.get("mean", 0.0) + (1 - beta1) * gradient
    square = beta2 * state.get("square", 0.0) + (1 - beta2) * gradient**2
    return parameter - rate * mean / (1 - beta1**step) / (square / (1 - beta2**step) + eps), {"mean": mean, "square":
    square}


def forgetful_adam(parameter: Any, gradient: Any, step: Any, rate: Any, beta1: Any, beta2: Any, eps: Any) -> Any:
    return adam(parameter, gradient, {}, step, rate, beta1, beta2, eps)


register(function_exercise(
    "engine.adam", adam, kind="engine", group=GROUP, title="a step of Adam", driver="steps",
    prompt="Keep running means of the gradient and of its square, correct both for having begun at 0, and step by the "
           "rate "
           "times the one over the root of the other (plus eps, outside the root). Return the new parameter and a "
           "dictionary, "
           "which the next step is given as `state`; `step` counts from 1.",
    inputs={**STEPS, "beta1": 0.9, "beta2": 0.99, "eps": 1e-3},
    edges={"the gradients are tiny": {"gradients": lambda rng: [1e-5 * real(3)(rng) for _ in range(4)]},
           "the gradients are 0": {"gradients": [np.zeros(3)] * 3}},
    mistakes=[
        Mistake("state", "the state is forgotten", FORGETFUL, forgetful_adam),
        Mistake("correction", "the means are not corrected for having begun at 0", (
            "How large is the first step, and how large should it be?",
            "A running mean that begins at 0 is too small at first.",
            "Divide each mean by what is missing: one minus its factor to the power of the step.",
        ), uncorrected),
        Mistake("root", "the root of the squares is not taken", (
            "Ten times the gradient: how much larger should the step be?",
            "The mean of the squares is divided by as it is.",
            "Take its root, so that the size of the gradients cancels.",
        ), without_the_root),
    ],
))  # fmt: skip


def train(weight: Any, backward: Any, rate: Any, steps: Any) -> Any:
    """Cleared, walked, stepped."""
    for _ in range(steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
    return weight


def never_cleared(weight: Any, backward: Any, rate: Any, steps: Any) -> Any:
    gradient = np.zeros_like(weight)
    for _ in range(steps):
        gradient = backward(weight, gradient)
        weight = weight - rate * gradient
    return weight


def trained_uphill(weight: Any, backward: Any, rate: Any, steps: Any) -> Any:
    for _ in range(steps):
        weight = weight + rate * backward(weight, np.zeros_like(weight))
    return weight


def on_old_gradients(weight: Any, backward: Any, rate: Any, steps: Any) -> Any:
    gradient = backward(weight, np.zeros_like(weight))
    for _ in range(steps):
        weight = weight - rate * gradient
    return weight


register(function_exercise(
    "engine.training", train, kind="engine", group=GROUP, title="a training loop", driver="walk_once",
    prompt="`backward(weight, gradient)` adds the gradient of the loss at `weight` to the array `gradient`, and "
           "returns it. "
           "Take so many `steps` of gradient descent with the given rate, from `weight` on, and return the weight.",
    inputs={"weight": real(3), "x": real(5, 3), "y": real(5), "rate": 0.05, "steps": 4},
    edges={"no step is taken": {"steps": 0}, "one step is taken": {"steps": 1}},
    mistakes=[("M5", never_cleared), Mistake("uphill", "the step goes uphill", UPHILL, trained_uphill),
              Mistake("old gradients", "every step uses the first gradient", (
                  "How often is the gradient computed?",
                  "The weight moves, and the gradient stays that of where it began.",
                  "Walk back once for every step.",
              ), on_old_gradients)],
    starter='@exercises.answer("engine.training")\ndef engine_training(weight, backward, rate, steps):\n'
            '    """Gradient descent."""\n    # YOUR CODE HERE\n    raise NotImplementedError\n',
))  # fmt: skip


# Checking -------------------


def differences(f: Any, x: Any, upstream: Any, h: Any) -> Any:
    """Centred differences, weighted by upstream."""
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream * (f(x + step) - f(x - step))) / (2 * h)
    return slope


def one_sided(f: Any, x: Any, upstream: Any, h: Any) -> Any:
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream * (f(x + step) - f(x))) / h
    return slope


def in_single_precision(f: Any, x: Any, upstream: Any, h: Any) -> Any:
    x, h = x.astype("f4"), np.float32(h)
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream.astype("f4") * (f(x + step) - f(x - step))) / (2 * h)
    return slope


def with_ones(f: Any, x: Any, upstream: Any, h: Any) -> Any:
    return differences(f, x, np.ones_like(upstream), h)


register(function_exercise(
    "engine.differences", differences, kind="engine", group=GROUP, title="a gradient by differences",
    driver="with_function",
    prompt="Return the gradient of (upstream * f(x)).sum() by x, by differences of step h taken to both sides, one "
           "entry of "
           "x after the other.",
    inputs=lambda rng: {"f": ["cube", "wave", "bend"][rng.integers(3)], "x": real(2, 3)(rng), "h": 1e-3,
                        "upstream": real(2, 3)(rng)},
    edges={"f has fewer outputs than inputs": {"f": "rows", "upstream": real(2)},
           "there are no axes": {"x": real(), "upstream": real()}},
    mistakes=[("M87", one_sided), ("M86", in_single_precision), ("M90", with_ones)],
    starter='@exercises.answer("engine.differences")\ndef engine_differences(f, x, upstream, h):\n'
            '    """A gradient by differences."""\n    # YOUR CODE HERE\n    raise NotImplementedError\n',
))  # fmt: skip


def verdict(gradient: Any, left: Any, right: Any) -> bool:
    """Shapes first; then between the slopes of both sides, beside the largest of them."""
    if gradient.shape != left.shape or not np.all(np.isfinite(gradient)):
        return False
    slack = 1e-4 * max(np.max(np.abs(left)), np.max(np.abs(right)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= low - slack) & (gradient <= high + slack)))


def absolute(gradient: Any, left: Any, right: Any) -> bool:
    low, high = np.minimum(left, right), np.maximum(left, right)
    same = gradient.shape == left.shape and bool(np.all(np.isfinite(gradient)))
    return same and bool(np.all((gradient >= low - 1e-4) & (gradient <= high + 1e-4)))


def nan_is_fine(gradient: Any, left: Any, right: Any) -> bool:
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * max(np.max(np.abs(left)), np.max(np.abs(right)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    return not bool(np.any((gradient < low - slack) | (gradient > high + slack)))


def any_shape(gradient: Any, left: Any, right: Any) -> bool:
    return verdict(np.broadcast_to(gradient.reshape(-1)[: left.size], left.shape), left, right)


def middle_only(gradient: Any, left: Any, right: Any) -> bool:
    middle = (left + right) / 2
    return verdict(gradient, middle, middle)


def to_be_judged(kind: str) -> Any:
    """A gradient beside the slopes to both sides: right, or wrong in the given way."""

    def draw(given: Any, rng: Any) -> dict[str, Any]:
        slope = real(4)(rng)
        left, right, gradient = slope * (1 - 1e-6), slope * (1 + 1e-6), slope
        if kind == "a few percent off":
            gradient = slope * 1.03
        elif kind == "tiny":
            left, right, gradient = 1e-7 * left, 1e-7 * right, 2e-7 * slope
        elif kind == "huge":
            left, right, gradient = 1e7 * left, 1e7 * right, 1e7 * slope * (1 + 3e-6)
        elif kind == "nan":
            gradient = np.array([np.nan, *slope[1:]])
        elif kind == "column":
            gradient = slope[:, None]
        elif kind == "kink":
            left, gradient = np.array([0.0, *left[1:]]), np.array([0.3 * slope[0], *slope[1:]])
        return {"gradient": gradient, "left": left, "right": right}

    return draw


def same_verdict(case: Any, right: dict[str, Any], given: dict[str, Any]) -> Wrong | None:
    """Whether yes or no was answered, and which; the case says what was judged."""
    name = "the answer"
    if given[name].shape != ():
        return Wrong("shape", f"the shape is {given[name].shape}, and one yes or no is asked for", name)
    return None if bool(given[name]) == bool(right[name]) else Wrong("verdict", "the verdict is wrong", name)


register(function_exercise(
    "engine.compare", verdict, kind="engine", group=GROUP, title="is this gradient right?",
    prompt="`left` and `right` are the slopes of differences taken to either side. Return whether `gradient` is "
           "right: of the "
           "same shape, and in every entry between the two, give or take 1e-4 of the largest of them.",
    inputs=lambda rng: to_be_judged("right" if rng.integers(2) else "a few percent off")({}, rng), judge=same_verdict,
    edges={"the gradient is right": to_be_judged("right"), "it is a few percent off": to_be_judged("a few percent off"),
           "gradients are tiny": to_be_judged("tiny"), "gradients are huge": to_be_judged("huge"),
           "an entry is no number": to_be_judged("nan"), "a column is beside a row": to_be_judged("column"),
           "there is a kink": to_be_judged("kink")},
    mistakes=[("M88", absolute), ("M89", nan_is_fine), ("M91", any_shape), ("M92", middle_only)],
))  # fmt: skip

