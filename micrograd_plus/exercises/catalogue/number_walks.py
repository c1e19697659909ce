"""Programs whose gradients are the numbers of an answer, so that a walk can show each number where it arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backends import devices
from ..answer_walks import AnswerProgram
from ..from_functions import ONLY_ANSWER
from ..sandboxed.drivers import drivers

np = devices.device("cpu").library

WalkProgram = Callable[[dict[str, Any], dict[str, Any], Any], AnswerProgram | None]
"""A function of a call's arguments, an answer's values and the answer itself."""
MOST_NODES = 12
TEXTS = {"add": "{} + {}", "multiply": "{} * {}", "subtract": "{} - {}", "negative": "-{}", "tanh": "mg.tanh({})",
         "relu": "mg.relu({})", "exp": "mg.exp({})"}  # fmt: skip
"""The Python code of each operation in a program of numbers."""


def by_hand(code: str, inputs: Sequence[str]) -> WalkProgram:
    """Return the program of an exercise in which a student writes every gradient."""
    result = code.rstrip().rpartition("\n")[2].partition(" = ")[0]

    def program(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
        leaves = {name: arguments[name] for name in inputs}
        return AnswerProgram(f"{code}\n{result}.backward()\n", leaves, values)

    return program


def one_step(code: str, inputs: Sequence[str], step: int, name: str) -> WalkProgram:
    """Return the program of an exercise in which a student predicts a step that sends to `name`."""
    whole = by_hand(code, inputs)

    def program(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram | None:
        made = whole(arguments, {name: values[ONLY_ANSWER]} if ONLY_ANSWER in values else {}, answer)
        return None if made is None else made._replace(step=step)

    return program


def one_input(code: str, name: str, constants: Sequence[str] = ()) -> WalkProgram:
    """Return the program of an exercise that asks what `name` receives when `upstream` arrives at the result."""
    result = code.rstrip().rpartition("\n")[2].partition(" = ")[0]

    def program(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
        source = f"{code}\nloss = mg.sum({result} * upstream)\nloss.backward()\n"
        numbers = {name: values[ONLY_ANSWER]} if ONLY_ANSWER in values else {}
        given = {each: arguments[each] for each in (*constants, "upstream")}
        leaf = arguments[name] if name in arguments else np.ones((len(arguments["upstream"]), len(arguments["x"])))
        return AnswerProgram(source, {name: leaf}, numbers, given)

    return program


def spread_value(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
    """Return the program of `engine.unbroadcast`: a value of some shape is broadcast, and x arrives at the result."""
    x, shape = arguments["x"], arguments["shape"]
    source = "result = value + zeros\nloss = mg.sum(result * x)\nloss.backward()\n"
    numbers = {"value": values[ONLY_ANSWER]} if ONLY_ANSWER in values else {}
    return AnswerProgram(source, {"value": np.ones(shape)}, numbers, {"zeros": np.zeros(x.shape), "x": x})


def product(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
    """Return the program of `engine.saved`."""
    source = "out = a * b\nloss = mg.sum(out * upstream)\nloss.backward()\n"
    leaves = {name: arguments[name] for name in ("a", "b")}
    return AnswerProgram(source, leaves, {name: values[name] for name in leaves if name in values},
                         {"upstream": arguments["upstream"]})  # fmt: skip


def segments(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
    """Return the program of `engine.segments`: each segment adds its weight's share to the chain."""
    by_state, by_weight = arguments["by_state"], arguments["by_weight"]
    lines = [f"c{i} = {state_slope!r} * {f'c{i - 1}' if i else 'start'} + {weight_slope!r} * w{i}"
             for i, (state_slope, weight_slope) in enumerate(zip(by_state, by_weight, strict=True))]  # fmt: skip
    received = np.asarray(values.get(ONLY_ANSWER, ()), float).reshape(-1).tolist()
    leaves = {"start": 1.0, **{f"w{i}": 1.0 for i in range(len(by_weight))}}
    numbers = {f"w{i}": each for i, each in enumerate(received)}
    return AnswerProgram("\n".join([*lines, f"c{len(by_state) - 1}.backward()"]) + "\n", leaves, numbers)


def weighted_graph(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram | None:
    """Return the program of `engine.accumulate`: each node is the weighted sum of its parents."""
    parents, slopes = arguments["parents"], arguments["slopes"]
    received = np.asarray(values.get(ONLY_ANSWER, ()), float).reshape(-1).tolist()
    lines = [f"n{i} = {' + '.join(f'{slope!r} * n{each}' for each, slope in zip(parents[i], slopes[i], strict=True))}"
             for i in range(len(parents)) if parents[i]]  # fmt: skip
    leaves = {f"n{i}": 1.0 for i, each in enumerate(parents) if not each}
    numbers = {f"n{i}": each for i, each in enumerate(received)} if len(received) == len(parents) else {}
    return AnswerProgram("\n".join([*lines, f"n{len(parents) - 1}.backward()"]) + "\n", leaves, numbers)


def graph_in_order(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram | None:
    """Return the program of `engine.order`, with what each node would receive in the student's order."""
    parents, root = arguments["parents"], arguments["root"]
    order = np.asarray(values.get(ONLY_ANSWER, ()), float).reshape(-1).astype(int).tolist()
    if len(parents) > MOST_NODES:
        return None
    arrived = dict.fromkeys(range(len(parents)), 0.0)
    arrived[root] = 1.0
    for node in order:
        for parent in parents[node] if 0 <= node < len(parents) else ():
            arrived[parent] += arrived[node]
    lines = [f"n{i} = {' + '.join(f'n{each}' for each in parents[i])}" if len(parents[i]) > 1 else
             f"n{i} = 1.0 * n{parents[i][0]}" for i in range(len(parents)) if parents[i]]  # fmt: skip
    leaves = {f"n{i}": 1.0 for i, each in enumerate(parents) if not each}
    numbers = {f"n{i}": each for i, each in arrived.items() if i != root} if order else {}
    return AnswerProgram("\n".join([*lines, f"n{root}.backward()"]) + "\n", leaves, numbers)


def scalar_program(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
    """Return the program of `engine.value`, whose numbers are the gradients that the student's class computes."""
    lines, leaves = [], {}
    for place, (name, *operands) in enumerate(arguments["lines"]):
        if name == "leaf":
            leaves[f"v{place}"] = operands[0]
        else:
            lines.append(f"v{place} = {TEXTS[name].format(*(f'v{each}' for each in operands))}")
    last = len(arguments["lines"]) - 1
    lines += [f"v{last}.backward()"] * arguments.get("times", 1)
    wanted = arguments.get("wanted", range(last + 1))
    gradients = dict(zip(wanted, np.asarray(values.get("gradients", ()), float).tolist(), strict=False))
    if arguments.get("cleared"):
        lines = lines[: len(lines) - arguments["times"] + 1]
    return AnswerProgram("\n".join(lines) + "\n", leaves, {f"v{place}": each for place, each in gradients.items()})


def own_neuron(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram:
    """Return the program of `engine.neuron`: the student's own function, called with tensors."""
    leaves = {f"{name}{i}": each for name in ("weights", "inputs") for i, each in enumerate(arguments[name])}
    listed = {name: ", ".join(each for each in leaves if each.startswith(name)) for name in ("weights", "inputs")}
    source = (f"weights, inputs = [{listed['weights']}], [{listed['inputs']}]\n"
              "out = neuron(weights=weights, inputs=inputs, bias=bias)\nout.backward()\n")  # fmt: skip
    known = np.asarray(values.get("known", ()), float).tolist()
    sources = sorted([*leaves, "bias"])
    lost = [name for name, each in zip(sources, known, strict=False) if not each]
    remark = f"The graph does not contain {', '.join(lost)}." if lost else ""
    return AnswerProgram(source, {**leaves, "bias": arguments["bias"]}, {}, {"neuron": answer}, remark)


def training_steps(arguments: dict[str, Any], values: dict[str, Any], answer: Any) -> AnswerProgram | None:
    """Return the steps of a training loop up to the first whose gradient or weight is wrong, at most two of them."""
    x, y, rate = arguments["x"], arguments["y"], arguments["rate"]
    calls = observed_calls(arguments, answer)
    weight, wrong = np.array(arguments["weight"], float), len(calls)
    remark = ""
    for number, (at, _, after) in enumerate(calls):
        gradient = 2 / len(x) * (x.T @ (x @ weight - y))
        if not np.allclose(at, weight):
            wrong, remark = number, f"Your loop computes gradient {number + 1} at other weights: look at the update."
            break
        if not np.allclose(after, gradient):
            wrong = number
            break
        weight = weight - rate * gradient
    if not calls:
        return None
    shown = range(max(0, min(wrong, len(calls) - 1) - 1), min(wrong, len(calls) - 1) + 1)
    lines, leaves, numbers = [], {}, {}
    for number in shown:
        name = f"weight_{number + 1}"
        leaves[name], numbers[name] = calls[number][0], calls[number][2]
        error, loss = f"error_{number + 1}", f"loss_{number + 1}"
        lines += [f"{error} = mg.sum(x * {name}, axis=1) - y", f"{loss} = mg.mean({error} ** 2.0)"]
        lines.append(f"{loss}.backward()")
    return AnswerProgram("\n".join(lines) + "\n", leaves, numbers, {"x": x, "y": y}, remark or (
        "Your gradients are right. Look at what your loop does after the last one."))  # fmt: skip


def observed_calls(arguments: dict[str, Any], answer: Any) -> list[tuple[Any, Any, Any]]:
    """Run a training loop, and return the weight, and the gradient before and after, of each call of `backward`."""
    calls: list[tuple[Any, Any, Any]] = []

    def watch(loop_backward: Any) -> Any:
        def backward(weight: Any, gradient: Any) -> Any:
            before = np.array(gradient, float)
            returned = loop_backward(weight, gradient)
            calls.append((np.array(weight, float), before, np.array(returned, float)))
            return returned

        return backward

    drivers["training"](answer, {**arguments, "watch": watch}, None)
    return calls


__all__ = [
    "by_hand", "graph_in_order", "one_input", "one_step", "own_neuron", "product", "scalar_program", "segments",
    "spread_value", "training_steps", "weighted_graph",
]  # fmt: skip
