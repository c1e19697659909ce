"""Engines and training: the order of the walk, accumulation, and the loop around it.

The mistakes of these exercises are in `mistakes.toml`, most of them as edits of the right answers below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backends import devices
from ...checks import museum
from ...checks.samples import real
from ..compare import Wrong
from ..from_functions import ONLY_ANSWER, function_exercise
from ..mistakes import exhibit_mistake
from ..spec import GROUPS
from .number_walks import (
    graph_in_order,
    own_neuron,
    product,
    scalar_program,
    segments,
    spread_value,
    training_steps,
    weighted_graph,
)  # fmt: skip

np = devices.device("cpu").library
GROUP = GROUPS[5]


# The order ------------------


def draw_graph(rng: Any) -> dict[str, Any]:
    """Draw a graph whose nodes come after their parents. Some nodes have several users, and some have none."""
    inner = [sorted(rng.choice(node, size=2, replace=False).tolist()) for node in range(3, 8)]
    return {"parents": [[], [], [], *inner, [6, 7], [8, 3]], "root": 9}


def reachable(parents: Any, root: int) -> list[int]:
    """Return the nodes from which a root was computed, the latest first."""
    visited, todo = {root}, [root]
    for node in todo:
        new = [parent for parent in parents[node] if parent not in visited]
        todo += dict.fromkeys(new)
        visited |= set(new)
    return sorted(visited, reverse=True)


def judge_order(case: Any, right: dict[str, Any], values: dict[str, Any]) -> Wrong | None:
    """Return None if a list is a possible order of a walk: each node once, and after all nodes that use it."""
    given = values[ONLY_ANSWER].reshape(-1).real
    nodes = np.where(np.isfinite(given), given, -1).astype(int).tolist()
    due = set(right[ONLY_ANSWER].astype(int).tolist())
    arguments = case.request["arguments"]
    if set(nodes) != due or len(nodes) != len(due):
        sentence = (f"nodes in your list: {len(nodes)}; of these in the root's graph: {len(due & set(nodes))}. "
                    "Each node of that graph must be there once, after every node that uses it")  # fmt: skip
        kind = "unused nodes" if set(nodes) > due else "missing nodes" if set(nodes) < due else "order"
        return Wrong("repeated nodes" if set(nodes) == due else kind, sentence, ONLY_ANSWER)
    if nodes[0] != arguments["root"]:
        return Wrong("leaves first", "the walk does not begin at the root", ONLY_ANSWER)
    place = {node: i for i, node in enumerate(nodes)}
    for node in nodes:
        for parent in arguments["parents"][node]:
            if place[parent] < place[node]:
                sentence = f"node {parent} passes on its gradient before node {node}, which uses it, has sent its share"
                return Wrong("too early", sentence, ONLY_ANSWER)
    return None


def only_kind(kind: str) -> Any:
    """Return a function that recognizes a mistake by the only kind of difference, however the nodes are listed."""
    return lambda exercise, wrongs: {wrong.kind for wrong in wrongs} == {kind}


ORDER = function_exercise(
    "engine.order", reachable, kind="engine", group=GROUP, title="the order of the walk",
    prompt="`parents[i]` lists the nodes from which node i was computed. Later nodes have larger numbers. Return "
           "`root` and all nodes from which it was computed, in an order in which each can pass on its gradient. Any "
           "such order is right. One graph is a chain of 3,000 nodes, which is more than Python allows a function to "
           "call itself. If your answer calls itself, only that edge case is lost.",
    inputs=draw_graph, judge=judge_order, result=int,
    edges={"one node is used by all others": {"parents": [[], [0], [0, 1], [0, 2], [0, 3]], "root": 4},
           "the root is a leaf": {"parents": [[], [0]], "root": 0},
           "the graph is a chain of 3,000 nodes": {"parents": [[], *([i] for i in range(2999))], "root": 2999}},
    recognizers={"M3": only_kind("too early"), "M4": only_kind("leaves first"),
                 **{kind: only_kind(kind) for kind in ("unused nodes", "missing nodes", "repeated nodes")}},
)  # fmt: skip


# Accumulation ---------------


def draw_slopes(rng: Any) -> dict[str, Any]:
    """Draw a graph with the local derivative of every edge. One node is both operands of another."""
    parents = [[], [], [0, 1], [2, 2], [0, 3], [4, 2], [5, 1]]
    return {"parents": parents, "slopes": [[float(real()(rng)) for _ in each] for each in parents]}


def backward(parents: Any, slopes: Any) -> Any:
    """Return every gradient, computed from the last node on."""
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += gradient[node] * slope
    return gradient


ACCUMULATE = function_exercise(
    "engine.accumulate", backward, kind="engine", group=GROUP, title="the gradient of every node",
    prompt="`parents[i]` lists the nodes from which node i was computed, and `slopes[i]` the local derivative for each "
           "of them. Nodes are numbered in the order of computation. Return the gradient of the last node with respect "
           "to every node.",
    inputs=draw_slopes,
    edges={"a node is used three times": {"parents": [[], [0, 0], [1, 0]], "slopes": [[], [0.5, 0.7], [1.5, -0.3]]},
           "a node is not used": {"parents": [[], [0], [0]], "slopes": [[], [0.5], [0.7]]}},
)  # fmt: skip


def unbroadcast(x: Any, shape: Any) -> Any:
    """Return the sum over all repeated axes."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


def repeated_axes(x: Any, shape: Any) -> tuple[int, ...]:
    """Return the axes that broadcasting has added or repeated."""
    lead = x.ndim - len(shape)
    return (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1))


UNBROADCAST = function_exercise(
    "engine.unbroadcast", unbroadcast, kind="engine", group=GROUP, title="undo broadcasting",
    prompt="A value of the given shape was broadcast, and `x` arrived at the result. Return what the value receives.",
    inputs=lambda rng: [{"x": real(4, 3)(rng), "shape": (3,)}, {"x": real(4, 3)(rng), "shape": (4, 1)},
                        {"x": real(2, 4, 3)(rng), "shape": (4, 1)}][rng.integers(3)],
    edges={"it became square": {"x": real(3, 3), "shape": (3,)},
           "nothing was broadcast": {"x": real(2, 3), "shape": (2, 3)},
           "it was a single number": {"x": real(2, 3), "shape": ()},
           "an axis of length 1 remains": {"x": real(5, 3), "shape": (5, 1)},
           "an axis had length 1 anyway": {"x": real(2, 1, 3), "shape": (1, 3)}},
    count=8, without=("sum_to_shape",),
)  # fmt: skip


def backward_through_segments(by_state: Any, by_weight: Any) -> Any:
    """Return the gradient of every weight. Each segment passes its gradient on to the one before it."""
    upstream, received = 1.0, []
    for state_slope, weight_slope in zip(reversed(by_state), reversed(by_weight), strict=True):
        received.append(upstream * weight_slope)
        upstream = upstream * state_slope
    return received[::-1]


def last_segment_only(by_state: Any, by_weight: Any) -> Any:
    """Return a wrong answer: the walk ends after the last segment."""
    return [0.0] * (len(by_weight) - 1) + [float(by_weight[-1])]


SEGMENTS = function_exercise(
    "engine.segments", backward_through_segments, kind="engine", group=GROUP, title="a chain in segments",
    prompt="A chain is divided into segments, each of which is computed again in the backward pass. If segment i's "
           "first state grows by a little, its result grows by `by_state[i]` times that; if its weight does, by "
           "`by_weight[i]` times that. The first segment comes first, and the result of the last one is the result of "
           "the chain. Return what each weight receives.",
    inputs={"by_state": lambda rng: [float(real()(rng)) for _ in range(4)],
            "by_weight": lambda rng: [float(real()(rng)) for _ in range(4)]},
    edges={"there is one segment": {"by_state": [0.7], "by_weight": [-1.3]},
           "a slope is 0": {"by_state": [0.5, 0.0, 0.7, 1.2]}},
    mistakes=[exhibit_mistake(museum.find_exhibit("two_checkpoints: cut between segments"), last_segment_only)],
)  # fmt: skip


# A class of scalars ---------


def draw_program(rng: Any) -> dict[str, Any]:
    """Draw a program with paths of unequal length, two values of one number, and a value as both operands."""
    a, b = float(real()(rng)), float(real()(rng))
    return {"lines": [["leaf", a], ["leaf", b], ["leaf", a], ["add", 0, 1], ["add", 1, 2], ["multiply", 0, 1],
                      ["tanh", 3], ["multiply", 6, 4], ["add", 3, 7], ["multiply", 8, 8], ["add", 9, 5],
                      ["add", 10, 4]]}  # fmt: skip


class Scalar:
    """A number with a graph."""

    def __init__(self, data: float, parents: tuple[Any, ...] = (), slopes: tuple[float, ...] = ()):
        self.data, self.parents, self.slopes, self.grad = data, parents, slopes, 0.0

    def __add__(self, other: Any) -> Any:
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: Any) -> Any:
        return type(self)(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self) -> Any:
        """Return the hyperbolic tangent."""
        y = float(np.tanh(self.data))
        return type(self)(y, (self,), (1 - y * y,))

    def order(self) -> list[Any]:
        """Return every node after the nodes from which it was computed."""
        nodes: list[Any] = []

        def visit(node: Any) -> None:
            if node not in nodes:
                for parent in node.parents:
                    visit(parent)
                nodes.append(node)

        visit(self)
        return nodes

    def backward(self) -> None:
        """Add the gradient of this number to every leaf."""
        for node in self.order():
            if node.parents:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(self.order()):
            for parent, slope in zip(node.parents, node.slopes, strict=True):
                parent.grad += node.grad * slope


def along_paths(node: Scalar) -> Any:
    """Yield a node, and then the nodes along each path to a leaf: a wrong order."""
    yield node
    for parent in dict.fromkeys(node.parents):
        yield from along_paths(parent)


def depth_first(node: Scalar, nodes: list[Any] | None = None) -> list[Any]:
    """Return the nodes depth first, each when it is met: a wrong order."""
    nodes = [] if nodes is None else nodes
    if node not in nodes:
        nodes.append(node)
        for parent in node.parents:
            depth_first(parent, nodes)
    return nodes


def recurse(node: Scalar) -> list[Any]:
    """Send along each path at once, and return nothing: each node sends again what it has sent before."""
    for parent, slope in zip(node.parents, node.slopes, strict=True):
        parent.grad += node.grad * slope
        recurse(parent)
    return []


def recurse_later(node: Scalar) -> list[Any]:
    """Send to all parents, then do the same for each of them, and return nothing: without an order, too."""
    for parent, slope in zip(node.parents, node.slopes, strict=True):
        parent.grad += node.grad * slope
    for parent in node.parents:
        recurse_later(parent)
    return []


VALUE = function_exercise(
    "engine.value", Scalar, kind="engine", group=GROUP, title="a number with a graph", driver="program",
    answers=["values", "gradients"],
    prompt="Write a class of numbers: `Value(data)`, with `data` and `grad`, `+`, `*`, `tanh()` and `backward()`. "
           "`backward` adds to the `grad` of every value from which the number was computed what it contributes. If it "
           "is called a second time, it adds the same again to values that were not cleared, and the inner gradients "
           "of the first call have no effect.",
    example="a, b = Value(2.0), Value(3.0)\nc = a * b + a\nc.backward()\nc.data  # 8.0\na.grad  # 4.0\nb.grad  # 2.0",
    inputs=draw_program,
    edges={"backward is called twice, and leaves are cleared between": {"times": 2, "cleared": True, "wanted": [0, 1]},
           "backward is called twice": {"times": 2, "wanted": [0, 1, 2]},
           "there is only one value": {"lines": [["leaf", 3.0]]},
           "a value is added to itself": {"lines": [["leaf", 3.0], ["add", 0, 0], ["multiply", 1, 1]]}},
    starter='@exercises.answer("engine.value")\nclass Value:\n    """A number with a graph."""\n\n'
            '    def __init__(self, data):\n        self.data, self.grad = data, 0.0\n\n    # YOUR CODE HERE\n\n\n'
            "engine_value = Value\n",
)  # fmt: skip


def save_factors(a: Any, b: Any) -> Any:
    """Return the product, and a backward function that reads copies of the factors."""
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * b, upstream * a)


SAVED = function_exercise(
    "engine.saved", save_factors, kind="engine", group=GROUP, title="a product that remembers its factors",
    driver="forward_then_back", answers=["out", "a", "b"],
    prompt="Return the product of the arrays `a` and `b`, and a function that takes upstream and returns what a and b "
           "receive. The caller may overwrite a and b before it calls that function.",
    example="a, b = np.array([2.0]), np.array([3.0])\nout, receive = engine_saved(a, b)\na[:], b[:] = 0, 0\n"
            "out[0]  # 6.0\nreceive(np.array([1.0]))  # ([3.0], [2.0])",
    inputs={"a": real(2, 3), "b": real(2, 3), "upstream": real(2, 3)},
    summary="Return the product and the backward function.",
)  # fmt: skip


def neuron(weights: Any, inputs: Any, bias: Any) -> Any:
    """Return the output of one neuron."""
    total = bias
    for weight, each in zip(weights, inputs, strict=True):
        total = total + weight * each
    return total.tanh()


NEURON = function_exercise(
    "engine.neuron", neuron, kind="engine", group=GROUP, title="a neuron with an unbroken graph",
    driver="graph_sources", answers=["value", "known"],
    prompt="Return tanh(w₁x₁ + w₂x₂ + … + bias) of numbers with a graph, which have `+`, `*`, `.tanh()` and `.data`. "
           "The graph of the result must contain all weights, all inputs and the bias.",
    inputs={"weights": real(3), "inputs": real(3), "bias": 0.4},
)  # fmt: skip


# Steps and loops ------------


def momentum_step(parameter: Any, gradient: Any, state: Any, rate: Any, momentum: Any) -> Any:
    """Return the parameter after a step along a running sum of gradients, and the state."""
    velocity = momentum * state.get("velocity", 0.0) + gradient
    return parameter - rate * velocity, {"velocity": velocity}


def draw_gradients(rng: Any, scale: float = 1) -> list[Any]:
    """Draw the gradients of four steps."""
    return [scale * real(3)(rng) for _ in range(4)]


STEPS = {"parameter": real(3), "gradients": draw_gradients, "rate": 0.2}

MOMENTUM = function_exercise(
    "engine.momentum", momentum_step, kind="engine", group=GROUP, title="a step with momentum", driver="steps",
    prompt="velocity = momentum · velocity + gradient; parameter = parameter − rate · velocity. Return the new "
           "parameter and a dictionary. The next step receives that dictionary as `state`; the first step receives an "
           "empty one. In a reply, `parameter[2, 0]` is an entry of the parameter after the third step.",
    answers=["parameter"],
    example="weight, state = engine_momentum(1.0, 0.5, {}, rate=0.1, momentum=0.9)\nweight  # 0.95\n"
            "weight, state = engine_momentum(weight, 0.5, state, rate=0.1, momentum=0.9)\nweight  # 0.855",
    inputs={**STEPS, "momentum": 0.9},
    edges={"the gradients are huge": {"gradients": lambda rng: draw_gradients(rng, 1e8)},
           "the gradients are 0 from the second on": {"gradients": lambda rng: [real(3)(rng), *[np.zeros(3)] * 3]}},
)  # fmt: skip


def adam_step(parameter: Any, gradient: Any, state: Any, step: Any, rate: Any, beta1: Any, beta2: Any, eps: Any) -> Any:
    """Return the parameter after a step of Adam, and the state."""
    mean = beta1 * state.get("mean", 0.0) + (1 - beta1) * gradient
    square = beta2 * state.get("square", 0.0) + (1 - beta2) * gradient**2
    corrected_mean, corrected_square = mean / (1 - beta1**step), square / (1 - beta2**step)
    parameter = parameter - rate * corrected_mean / (np.sqrt(corrected_square) + eps)
    return parameter, {"mean": mean, "square": square}


ADAM = function_exercise(
    "engine.adam", adam_step, kind="engine", group=GROUP, title="a step of Adam", driver="steps",
    prompt="Keep running means of the gradient and of its square. Correct both for starting at 0. Step by the rate "
           "times the first over the root of the second (plus eps, outside the root). Return the new parameter and a "
           "dictionary. The next step receives that dictionary as `state`; `step` counts from 1. In a reply, "
           "`parameter[2, 0]` is an entry of the parameter after the third step.",
    answers=["parameter"],
    example="rates = {'rate': 0.1, 'beta1': 0.9, 'beta2': 0.99, 'eps': 0.001}\n"
            "weight, state = engine_adam(1.0, 0.5, {}, step=1, **rates)\nweight  # 0.9002\n"
            "weight, state = engine_adam(weight, -1.0, state, step=2, **rates)\nweight  # 0.9367",
    inputs={**STEPS, "beta1": 0.9, "beta2": 0.99, "eps": 1e-3},
    edges={"the gradients are tiny": {"gradients": lambda rng: draw_gradients(rng, 1e-5)},
           "the gradients are 0": {"gradients": [np.zeros(3)] * 3}},
)  # fmt: skip


def train(weight: Any, backward: Any, rate: Any, steps: Any) -> Any:
    """Return the weight after some steps of gradient descent. The gradient is cleared before each step."""
    for _ in range(steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
    return weight


TRAINING = function_exercise(
    "engine.training", train, kind="engine", group=GROUP, title="a training loop", driver="training",
    prompt="`backward(weight, gradient)` adds the gradient of the loss at `weight` to the array `gradient`, and "
           "returns it. Take `steps` steps of gradient descent with the given rate, starting from `weight`, and return "
           "the weight.",
    example="def backward(weight, gradient):\n    gradient += 2 * (weight - 3)\n    return gradient\n\n"
            "engine_training(np.array([1.0]), backward, rate=0.25, steps=2)  # [2.5]",
    inputs={"weight": real(3), "x": real(5, 3), "y": real(5), "rate": 0.05, "steps": 4},
    edges={"there is no step": {"steps": 0}, "there is one step": {"steps": 1}},
    summary="Run gradient descent.",
)  # fmt: skip


def clip_gradients(gradients: Any, most: Any) -> Any:
    """Return gradients whose norm, of all together, is at most `most`."""
    norm = np.sqrt(sum(np.sum(each * each) for each in gradients))
    factor = most / norm if norm > most else 1.0
    return [each * factor for each in gradients]


CLIP = function_exercise(
    "engine.clip", clip_gradients, kind="engine", group=GROUP, title="gradients clipped by their norm",
    answers=["gradients[0]", "gradients[1]"],
    prompt="`gradients` is a list of two arrays. Their norm is the root of the sum of the squares of all entries of "
           "both. If it is larger than `most`, multiply both by one number, so that it becomes `most`. If it is not, "
           "return them as they are.",
    example="engine_clip([np.array([3.0]), np.array([0.0, 4.0])], most=1.0)  # [0.6], [0.0, 0.8]\n"
            "engine_clip([np.array([3.0]), np.array([0.0, 4.0])], most=9.0)  # [3.0], [0.0, 4.0]",
    inputs={"gradients": lambda rng: [real(3)(rng), real(2, 2)(rng)], "most": 0.5},
    edges={"the gradients are short": {"most": 100.0},
           "the norm is below `most`, and its square above":
               {"gradients": [np.array([0.0, 1.2, 0.0]), np.array([[1.6, 0.0], [0.0, 0.0]])], "most": 3.0},
           "the norm is above `most`, and its square below":
               {"gradients": [np.array([0.3, 0.0, 0.0]), np.array([[0.0, 0.0], [0.4, 0.0]])], "most": 0.4},
           "all gradients are 0": {"gradients": lambda rng: [np.zeros(3), np.zeros((2, 2))]},
           "the gradients are huge": {"gradients": lambda rng: [1e8 * real(3)(rng), 1e8 * real(2, 2)(rng)]}},
)  # fmt: skip


# Checking -------------------


def differences(f: Any, x: Any, upstream: Any, h: Any) -> Any:
    """Return a gradient by central differences, weighted by upstream."""
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slope[place] = np.sum(upstream * (f(x + step) - f(x - step))) / (2 * h)
    return slope


DIFFERENCES = function_exercise(
    "engine.differences", differences, kind="engine", group=GROUP, title="a gradient by differences",
    driver="with_function",
    prompt="Return the gradient of (upstream * f(x)).sum() with respect to x, by differences with a step h to both "
           "sides, one entry of x after the other.",
    example="x, upstream = np.array([1.0, 3.0]), np.array([1.0, 10.0])\n"
            "engine_differences(lambda x: x * x, x, upstream, h=0.001)  # [2.0, 60.0]",
    inputs=lambda rng: {"f": ["cube", "wave", "bend"][rng.integers(3)], "x": real(2, 3)(rng), "h": 1e-3,
                        "upstream": real(2, 3)(rng)},
    edges={"f has fewer outputs than inputs": {"f": "rows", "upstream": real(2)},
           "there are no axes": {"x": lambda rng: np.asarray(real()(rng)), "upstream": real()}},
)  # fmt: skip


def verdict(gradient: Any, left: Any, right: Any) -> bool:
    """Return whether a gradient is between the slopes of both sides, up to their largest entry times 1e-4."""
    if gradient.shape != left.shape or not np.all(np.isfinite(gradient)):
        return False
    slack = 1e-4 * max(np.max(np.abs(left)), np.max(np.abs(right)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= low - slack) & (gradient <= high + slack)))


def beside(slope: Any, gradient: Any, size: float = 1.0) -> dict[str, Any]:
    """Return a gradient and the slopes of both sides, which are about equal."""
    return {"gradient": gradient, "left": size * slope * (1 - 1e-6), "right": size * slope * (1 + 1e-6)}


def beside_kink(slope: Any) -> dict[str, Any]:
    """Return a gradient whose first entry is between two different slopes."""
    inputs = beside(slope, np.array([0.3 * slope[0], *slope[1:]]))
    return inputs | {"left": np.array([0.1 * slope[0], *inputs["left"][1:]])}


GRADIENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "the gradient is right": lambda slope: beside(slope, slope),
    "the gradient is a few percent off": lambda slope: beside(slope, 1.03 * slope),
    "gradients are tiny": lambda slope: beside(slope, 2e-7 * slope, 1e-7),
    "gradients are huge": lambda slope: beside(slope, 1e7 * slope * (1 + 3e-6), 1e7),
    "an entry is nan": lambda slope: beside(slope, np.array([np.nan, *slope[1:]])),
    "the gradient is a column": lambda slope: beside(np.full(4, slope[0]), np.full((4, 1), slope[0])),
    "one entry is wrong": lambda slope: beside(slope, slope * np.array([1.0, 1.0, 1.05, 1.0])),
    "two errors cancel": lambda slope: beside(slope, slope + np.array([0.1, 0.0, -0.1, 0.0])),
    "an entry is just outside, by less than the slack": lambda slope: beside(slope, slope * (1 + 1e-5)),
    "there is a kink": beside_kink,
}
"""The cases of `engine.compare`, as functions of random slopes. The slopes of the column are equal, so that comparing
it without a look at its shape goes unnoticed."""


def draw_gradient(about: str) -> Any:
    """Return a function that draws a gradient and the slopes of both sides."""
    return lambda inputs, rng: GRADIENTS[about](real(4)(rng))


def judge_verdict(case: Any, right: dict[str, Any], values: dict[str, Any]) -> Wrong | None:
    """Return None if the answer is the right one of yes and no."""
    value = values[ONLY_ANSWER]
    if value.shape != ():
        return Wrong("shape", f"the answer must be one yes or no, got the shape {value.shape}", ONLY_ANSWER)
    return None if bool(value) == bool(right[ONLY_ANSWER]) else Wrong("verdict", "the verdict is wrong", ONLY_ANSWER)


COMPARE = function_exercise(
    "engine.compare", verdict, kind="engine", group=GROUP, title="is this gradient right?",
    prompt="`left` and `right` are the slopes of differences to either side. Return whether `gradient` is right: it "
           "has the same shape, and every entry is between the two slopes, give or take 1e-4 times the largest slope.",
    inputs=lambda rng: GRADIENTS[["there is a kink", "one entry is wrong"][rng.integers(2)]](real(4)(rng)),
    judge=judge_verdict, count=12, result=bool, edges={about: draw_gradient(about) for about in GRADIENTS},
)  # fmt: skip

WALKS = {
    ORDER: graph_in_order, ACCUMULATE: weighted_graph, UNBROADCAST: spread_value, SEGMENTS: segments,
    VALUE: scalar_program, SAVED: product, NEURON: own_neuron, TRAINING: training_steps,
}  # fmt: skip
for exercise, program in WALKS.items():
    exercise.walk_program = program

EXERCISES = [
    ORDER, ACCUMULATE, UNBROADCAST, SEGMENTS, VALUE, SAVED, NEURON, TRAINING, MOMENTUM, ADAM, CLIP,
    DIFFERENCES, COMPARE,
]  # fmt: skip
