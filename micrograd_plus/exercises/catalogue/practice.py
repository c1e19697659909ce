"""Rules and pieces of an engine with gaps or in shuffled lines, which come before those that a student writes alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from ..from_rules import rule_exercise
from ..spec import GROUPS, Exercise
from . import chain, engines


def with_gaps(base: Exercise, body: str, title: str) -> Exercise:
    """Return an exercise in which a student replaces the dots of a body by code."""
    return with_starter(base, f"{base.id}.gaps", "gaps", title, body,
                        "Replace the dots (`...`) by code. Everything else is right.")  # fmt: skip


def in_lines(base: Exercise, lines: Sequence[str], title: str) -> Exercise:
    """Return an exercise in which a student puts lines in order, one of which is too many."""
    body = ["# Take the # away from the lines that you need, and put them in order. One is too many.",
            *(f"# {line}" for line in lines), "raise NotImplementedError"]  # fmt: skip
    return with_starter(base, f"{base.id}.lines", "lines", title, "\n".join(body),
                        "The lines are shuffled, and one of them is too many. Put them in order.")  # fmt: skip


def with_starter(base: Exercise, name: str, kind: str, title: str, body: str, task: str) -> Exercise:
    """Return an exercise with another starter: its cases, marks and mistakes are those of `base`."""
    exercise = copy.copy(base)
    exercise.id, exercise.kind, exercise.title = name, kind, title
    called = exercise.function_name
    exercise.prompt = lambda: f"{task}\n\n{base.prompt.replace(f'{base.function_name}(', f'{called}(')}"
    head = base.starter.replace(f'"{base.id}"', f'"{name}"').replace(f"def {base.function_name}(", f"def {called}(")
    definition = head.partition("    # After a try")[0]
    imports = "import numpy as np\n\n\n" if "np." in body.replace("xp.", "") else ""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    exercise.starter = f"{imports}{definition}{indented}"
    return exercise


NEURON_BY_HAND = next(each for each in chain.EXERCISES if each.id == "neuron.predict")

EXERCISES = [
    with_gaps(rule_exercise("tanh.x", group=GROUPS[0]), "return 1 - ... * ...", "the rule of tanh, with two gaps"),
    in_lines(NEURON_BY_HAND, [
        "return at_s * x",
        "at_s = 1 - y * y",
        "return at_s * w",
        "y = np.tanh(s)",
        "s = w * x + b",
    ], "the gradient of w in a neuron, from shuffled lines"),
    with_gaps(
        engines.ACCUMULATE, """\
gradient = [0.0] * len(parents)
gradient[-1] = ...
for node in ...:
    for parent, slope in zip(parents[node], slopes[node], strict=True):
        gradient[parent] += ...
return gradient""", "the gradient of every node, with three gaps",
    ),
    with_gaps(
        engines.UNBROADCAST, """\
added = x.ndim - len(shape)
x = x.sum(axis=tuple(range(...)))
repeated = tuple(i for i, length in enumerate(shape) if length == 1 and x.shape[i] > 1)
return x.sum(axis=..., keepdims=...)""", "undo broadcasting, with three gaps",
    ),
    with_gaps(
        rule_exercise("softmax.x", group=GROUPS[4]), """\
share = upstream * ...
total = xp.sum(share, axis=axis, keepdims=...)
return out * (upstream - ...)""", "the rule of softmax, with three gaps",
    ),
    with_gaps(
        engines.MOMENTUM, """\
velocity = momentum * state.get("velocity", 0.0) + ...
parameter = parameter - rate * ...
return parameter, {"velocity": ...}""", "a step with momentum, with three gaps",
    ),
    in_lines(rule_exercise("max.x", group=GROUPS[1]), [
        "return share * wins / winners",
        "wins = x == largest",
        "return share * wins",
        "share = xp.unreduce(upstream, x_shape, axis, keepdims)",
        "winners = xp.sum(wins, axis=axis, keepdims=True)",
        "largest = xp.unreduce(out, x_shape, axis, keepdims)",
    ], "the rule of max, from shuffled lines"),
    with_gaps(rule_exercise("matmul.a", group=GROUPS[2]), "return xp.matmul(..., xp.mT(...))",
              "the rule of a product, with two gaps"),
    in_lines(rule_exercise("embedding.weight", group=GROUPS[2]), [
        "if padding_idx is not None: gradient[padding_idx] = 0",
        "gradient[indices] += upstream",
        "return gradient",
        "np.add.at(gradient, indices, upstream)",
        "gradient = np.zeros(weight.shape)",
    ], "the rule of a table, from shuffled lines"),
    in_lines(rule_exercise("mean_class_cross_entropy.logits", group=GROUPS[3]), [
        "return upstream * (p - y) / len(logits)",
        "y = xp.one_hot(classes, logits.shape[-1])",
        "e = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))",
        "return upstream * (p - y)",
        "p = e / xp.sum(e, axis=-1, keepdims=True)",
    ], "the rule of cross-entropy, from shuffled lines"),
    with_gaps(
        rule_exercise("layer_norm.x", group=GROUPS[4]), """\
over = xp.last_axes(axes)
mean = lambda values: xp.mean(values, axis=over, keepdims=True)
centred = x - mean(x)
scale = 1 / xp.sqrt(mean(centred * centred) + eps)
unit = centred * scale
arrived = upstream if weight is None else upstream * weight
return scale * (arrived - ... - unit * ...)""", "the rule of layer normalisation, with two gaps",
    ),
    in_lines(rule_exercise("rms_norm.x", group=GROUPS[4]), [
        "arrived = arrived - xp.mean(arrived, axis=over, keepdims=True)",
        "over = xp.last_axes(axes)",
        "return scale * (arrived - unit * along)",
        "along = xp.mean(arrived * unit, axis=over, keepdims=True)",
        "scale = 1 / xp.sqrt(xp.mean(x * x, axis=over, keepdims=True) + eps)",
        "arrived = upstream if weight is None else upstream * weight",
        "unit = x * scale",
    ], "the rule of RMS normalisation, from shuffled lines"),
    with_gaps(
        rule_exercise("scaled_dot_product_attention.query+key+value+bias", group=GROUPS[4]), """\
scale = query.shape[-1] ** -0.5 if scale is None else scale
scores = xp.matmul(query, xp.mT(key)) * scale + (0.0 if bias is None else bias)
top = xp.max(scores, axis=-1, keepdims=True)
e = xp.exp(scores - xp.where(xp.isfinite(top), top, 0.0))
total = xp.sum(e, axis=-1, keepdims=True)
weights = e / xp.where(total == 0, 1.0, total)
arrived = xp.matmul(..., xp.mT(value))
sent = weights * (arrived - xp.sum(weights * arrived, axis=-1, keepdims=True))
to_query, to_key = xp.matmul(sent, ...) * scale, xp.matmul(xp.mT(sent), ...) * scale
contributions = to_query, to_key, xp.matmul(xp.mT(...), upstream), sent
return contributions[:3] if bias is None else contributions""", "the rule of attention, with four gaps",
    ),
    in_lines(rule_exercise("masked_softmax.x", group=GROUPS[4]), [
        "return out * beyond",
        "total = xp.sum(share, axis=axis, keepdims=True)",
        "return out * upstream",
        "share = out * upstream",
        "beyond = upstream - total",
    ], "the rule of a masked softmax, from shuffled lines"),
    with_gaps(
        rule_exercise("rnn.drive+weight+start", group=GROUPS[4]), """\
slope = 1 - out * out if nonlinearity == "tanh" else out > 0
later, to_drive = xp.zeros_like(out[-1]), []
for time in reversed(range(len(out))):
    later = ... * (upstream[time] + ...)
    to_drive = [later, *to_drive]
to_drive = xp.stack(to_drive)
to_weight = xp.matmul(xp.mT(xp.rows(to_drive[1:])), xp.rows(...))
if start is None:
    return to_drive, to_weight, None
first = xp.broadcast_to(start, to_drive[0].shape)
to_weight = to_weight + xp.matmul(xp.mT(xp.rows(to_drive[:1])), xp.rows(first))
return to_drive, to_weight, xp.sum_to_shape(xp.matmul(to_drive[0], ...), start.shape)""",
        "the rule of a recurrent network, with four gaps",
    ),
    in_lines(engines.ORDER, [
        "    visited |= set(new)",
        "return todo",
        "visited, todo = {root}, [root]",
        "    todo += dict.fromkeys(new)",
        "return sorted(visited, reverse=True)",
        "for node in todo:",
        "    new = [parent for parent in parents[node] if parent not in visited]",
    ], "the order of the walk, from shuffled lines"),
    in_lines(engines.SEGMENTS, [
        "    upstream = upstream * state_slope",
        "return received",
        "upstream, received = 1.0, []",
        "return received[::-1]",
        "for state_slope, weight_slope in zip(reversed(by_state), reversed(by_weight)):",
        "    received.append(upstream * weight_slope)",
    ], "a chain in segments, from shuffled lines"),
    in_lines(engines.SAVED, [
        "    return upstream * b, upstream * a",
        "return a * b, receive",
        "a, b = a.copy(), b.copy()",
        "    return upstream * a, upstream * b",
        "def receive(upstream):",
    ], "a product that remembers its factors, from shuffled lines"),
    with_gaps(
        engines.DIFFERENCES, """\
slope = np.zeros_like(x)
for place in np.ndindex(x.shape):
    step = np.zeros_like(x)
    step[place] = ...
    slope[place] = np.sum(... * (f(x + step) - f(...))) / (...)
return slope""", "a gradient by differences, with four gaps",
    ),
    in_lines(engines.COMPARE, [
        "return bool(np.all((gradient >= low - slack) & (gradient <= high + slack)))",
        "low, high = np.minimum(left, right), np.maximum(left, right)",
        "return not np.any((gradient < low - slack) | (gradient > high + slack))",
        "slack = 1e-4 * max(np.max(np.abs(left)), np.max(np.abs(right)))",
        "if gradient.shape != left.shape: return False",
    ], "a verdict on a gradient, from shuffled lines"),
    in_lines(engines.NEURON, [
        "    total = total + weight * each",
        "return total.tanh()",
        "total = bias.data",
        "for weight, each in zip(weights, inputs):",
        "total = bias",
    ], "a neuron with an unbroken graph, from shuffled lines"),
    in_lines(engines.TRAINING, [
        "    weight = weight - rate * gradient",
        "return weight",
        "    gradient = backward(weight, gradient)",
        "    weight = weight + rate * gradient",
        "for _ in range(steps):",
        "    gradient = np.zeros_like(weight)",
    ], "a training loop, from shuffled lines"),
    in_lines(engines.MOMENTUM, [
        'return parameter, {"velocity": velocity}',
        "velocity = momentum * before + gradient",
        "parameter = parameter - rate * gradient",
        'before = state.get("velocity", 0.0)',
        "parameter = parameter - rate * velocity",
    ], "a step with momentum, from shuffled lines"),
]  # fmt: skip
