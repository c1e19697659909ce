"""Rules of students in the engine: a network that reads digits is trained with them, beside the engine's own.

with exercises.plugged({"tanh.x": tanh_x}) as mine:
...                                             every walk uses the rule
exercises.plugged({"tanh.x": tanh_x}).train()       loss and accuracy of each epoch, beside the right rule's
"""

from __future__ import annotations

import contextlib
import html
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from .. import datasets
from ..backends import devices
from ..tensor import Tensor, tensor
from .answer_walks import rule_functions
from .networks import DIGITS, HIDDEN, PIXELS, Network, draw_parameters, network_for
from .notebook import last_reply, right_rules
from .registry import get_exercise
from .spec import Exercise, can_plug
from .texts import wrap_line

np = devices.device("cpu").library

BATCH, RATE = 50, 0.5


class Epoch(NamedTuple):
    """One pass over the training images: the mean loss, and the fraction of test images read rightly after it."""

    loss: float
    accuracy: float


class Run(NamedTuple):
    """One training: its epochs, how often the student's rules ran, and the error that stopped it or None."""

    epochs: list[Epoch]
    calls: dict[str, int]
    stopped: str | None


class plugged:  # noqa: N801 - a context manager in the style of numpy.errstate
    """Context manager that puts rules of a student into the engine.

    Inside it every walk uses these rules; afterwards the engine has its own again, also after an error. Its `train()`
    trains a network on 8 × 8 digits with them, and shows loss and accuracy of each epoch beside the engine's own rules.

    Args:
        rules: ids of exercises whose last answer is right; or a dictionary of ids and rules, which may be wrong.
            Without arguments, all rules that were answered right in this notebook.
    Returns: the context manager.
    Raises: LookupError if there is no answer yet; ValueError if the last answer is wrong, or if it is no rule.
    Example:
        >>> from micrograd_plus import exercises
        >>> def tanh_x(out):
        ...     return 1 - out * out
        >>> with exercises.plugged({"tanh.x": tanh_x}):
        ...     x = mg.tensor(0.5, requires_grad=True)
        ...     mg.tanh(x).backward()
        >>> round(float(x.grad), 4)
        0.7864

    See: `check`, which says whether a rule is right.
    """

    def __init__(self, *rules: str | Mapping[str, Any]):
        chosen = choose_rules(rules)
        self.exercises: dict[str, Exercise] = {}
        self.functions: dict[str, list[Any]] = {}
        self.calls = dict.fromkeys(chosen, 0)
        self._saved: list[tuple[Any, list[Any]]] = []
        for name, rule in chosen.items():
            exercise = get_exercise(name)
            check_can_plug(exercise, rule)
            self.exercises[name] = exercise
            is_local, on_call = exercise.op.kind == "elementwise", partial(self._count_call, name)
            self.functions[name] = rule_functions(exercise.op, exercise.serves, rule, exercise.functions,
                                                  is_local=is_local, on_call=on_call)  # fmt: skip

    def _count_call(self, name: str) -> None:
        self.calls[name] += 1

    def __enter__(self) -> plugged:
        if self._saved:
            raise RuntimeError("these rules are plugged in already; leave the first `with` block before the next")
        try:
            for name, exercise in self.exercises.items():
                op = exercise.op
                self._saved.append((op, list(op.rules)))
                for inputs, function in self.functions[name]:
                    op.add_rule(inputs, function)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        while self._saved:
            op, right = self._saved.pop()
            op.rules = []
            for rule in right:
                op.add_rule(rule.inputs, rule.function)

    def __repr__(self) -> str:
        return f"<rules to plug in: {', '.join(self.exercises)}>"

    def train(self, epochs: int = 8, rate: float = RATE, seed: int = 0) -> Training:
        """Train a network on the digits with these rules, and another with the engine's own.

        The network has 64 inputs, 32 hidden units and 10 outputs. Both runs start from the same weights and see the
        same images in the same order. If a rule raises an error, its run stops there.
        """
        network = network_for(exercise.op.name for exercise in self.exercises.values())
        with self:
            mine = run_training(network, epochs, rate, seed, self.calls)
        return Training(mine, run_training(network, epochs, rate, seed, {}), network, list(self.exercises))


def choose_rules(rules: Sequence[str | Mapping[str, Any]]) -> dict[str, Any]:
    """Return rules by the ids of their exercises; without arguments, all that were answered right."""
    chosen: dict[str, Any] = {}
    for each in rules:
        chosen |= dict(each) if isinstance(each, Mapping) else {each: right_answer_to(each)}
    chosen = chosen if rules else right_rules()
    if not chosen:
        raise LookupError("no rule was answered right yet: answer an exercise such as tanh.x, or pass a dictionary")
    return chosen


def check_can_plug(exercise: Exercise, rule: Any) -> None:
    """Raise ValueError if an answer cannot replace a rule of the engine."""
    if not callable(rule):
        raise TypeError(f"{exercise.id}: the rule must be a function, got an object of type {type(rule).__name__}")
    if not exercise.serves:
        raise ValueError(f"{exercise.id} asks for no rule of the engine, so there is nothing to plug in")
    if not can_plug(exercise):
        other = exercise.id.removesuffix(".whole")
        raise ValueError(f"{exercise.id} cannot be plugged in: " + (
            f"it multiplies by upstream, and the engine would do that again; plug in an answer to {other}"
            if exercise.is_whole else f"{exercise.op.name} has no rule of its own"))  # fmt: skip


def right_answer_to(exercise: str) -> Any:
    """Return the last answer to an exercise; raise ValueError if it is wrong."""
    reply = last_reply(exercise)
    if not reply.right:
        raise ValueError(f"{exercise}: your last answer is not right yet. To watch a wrong rule train, pass the rule "
                         f"itself: exercises.plugged({{{exercise!r}: rule}})")  # fmt: skip
    return reply.answer


# Training -------------------


def run_training(network: Network, epochs: int, rate: float, seed: int, calls: dict[str, int]) -> Run:
    """Train with the rules that the engine has now."""
    digits, rng, done, stopped = datasets.split_digits(), np.random.default_rng(seed), [], None
    parameters = draw_parameters(rng)
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            for _ in range(epochs):
                losses = train_epoch(network, parameters, digits.train_images, digits.train_labels, rate, rng)
                loss = float(np.mean(list(losses)))
                done.append(Epoch(loss, network.accuracy(parameters, digits.test_images, digits.test_labels)))
    except Exception as error:  # noqa: BLE001 - a student's rule may raise anything
        stopped = f"{type(error).__name__}: {error}"
    return Run(done, dict(calls), stopped)


def train_epoch(
    network: Network, parameters: list[Tensor], images: Any, labels: Any, rate: float, rng: Any
) -> Iterator[float]:
    """Take a step of gradient descent for each batch, and yield its loss."""
    order = rng.permutation(len(images))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        for each in parameters:
            each.grad = None
        loss = network.mean_loss(parameters, images[batch], labels[batch])
        loss.backward()
        for place, each in enumerate(parameters):
            if each.grad is not None:
                parameters[place] = tensor(each.numpy() - rate * each.grad.numpy(), requires_grad=True)
        yield float(loss)


# What is shown --------------


class Training:
    """The result of `plugged.train`: both runs as a table, and in a notebook as curves."""

    def __init__(self, mine: Run, right: Run, network: Network, rules: list[str]):
        self.mine, self.right, self.network, self.rules = mine, right, network, rules

    def __repr__(self) -> str:
        return "\n".join([self.headline, *self.table(), *wrap_line(self.verdict)])

    @property
    def headline(self) -> str:
        """The network and the number of calls of each rule."""
        ran = ", ".join(f"{name} {count:,} times" for name, count in self.mine.calls.items())
        return "\n".join(wrap_line(f"A network of {PIXELS}, {HIDDEN} and {DIGITS} units with {self.network.activation} "
                                   f"reads digits. Your rules ran: {ran}."))  # fmt: skip

    def table(self) -> list[str]:
        """Return the epochs as lines of text."""
        lines = ["epoch  loss with yours, with the engine's   read rightly with yours, with the engine's"]
        for number, right in enumerate(self.right.epochs):
            mine = self.mine.epochs[number] if number < len(self.mine.epochs) else None
            loss, accuracy = ("stopped", "") if mine is None else (f"{mine.loss:.3f}", f"{100 * mine.accuracy:.1f} %")
            lines.append(f"{number + 1:>5}  {loss:>15}  {right.loss:>17.3f}   {accuracy:>23}  "
                         f"{100 * right.accuracy:>14.1f} %")  # fmt: skip
        return lines

    @property
    def verdict(self) -> str:
        """What the two runs show, in a sentence or two."""
        unused = [name for name, count in self.mine.calls.items() if not count]
        if self.mine.stopped:
            return f"Your run stopped: {self.mine.stopped}"
        if len(unused) == len(self.mine.calls):
            return f"This network does not use {', '.join(unused)}, so both runs are the same."
        last, right = self.mine.epochs[-1], self.right.epochs[-1]
        same = all(abs(a.loss - b.loss) <= 1e-6 * abs(b.loss) for a, b in zip(self.mine.epochs, self.right.epochs,
                                                                             strict=True))  # fmt: skip
        if same:
            return "Your rules train exactly as the engine's own do."
        if not np.isfinite(last.loss):
            return "With your rules the loss is not finite any more."
        if last.accuracy > right.accuracy - 0.02:
            return ("Your rules give other numbers, and the network learns all the same: a falling loss does not prove "
                    "a rule.")  # fmt: skip
        return (f"With your rules the network reads {100 * last.accuracy:.1f} % of the test images rightly, with the "
                f"engine's own {100 * right.accuracy:.1f} %.")  # fmt: skip

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show the curves above the sentences in a notebook, and the table for everyone who wants numbers."""
        table = html.escape("\n".join(self.table()))
        page = (f"<p>{html.escape(' '.join(self.headline.split()))}</p>{self.picture()}"
                f"<p><b>{html.escape(self.verdict)}</b></p>"
                f"<details><summary>Every epoch</summary><pre>{table}</pre></details>")  # fmt: skip
        return {"text/plain": repr(self), "text/html": page}

    def picture(self) -> str:
        """Return both curves as SVG: the loss and the accuracy of each epoch, yours solid, the engine's dashed."""
        losses = [[each.loss for each in run.epochs] for run in (self.mine, self.right)]
        accuracies = [[100 * each.accuracy for each in run.epochs] for run in (self.mine, self.right)]
        finite = [x for line in losses for x in line if np.isfinite(x)]
        top = min(max([*finite, 1e-9]), 3 * max([x for x in losses[1] if np.isfinite(x)], default=1.0))
        panels = [panel(0, "loss", losses, top, "{:.2g}"), panel(330, "test images read rightly, %", accuracies, 100.0,
                                                                 "{:.0f}")]  # fmt: skip
        alt = html.escape(f"Loss and accuracy of {len(self.right.epochs)} epochs. {self.verdict}", quote=True)
        return (f'<svg role="img" aria-label="{alt}" viewBox="0 0 650 210" width="650" style="max-width:100%;'
                f'font:12px system-ui,sans-serif" fill="currentColor">{"".join(panels)}</svg>')  # fmt: skip


LEFT, TOP, WIDE, HIGH = 40, 26, 250, 140
COLOURS = ("#b3261e", "#00588c")


def panel(x: int, title: str, lines: list[list[float]], top: float, form: str) -> str:
    """Return one diagram with two lines."""
    count = max(2, *map(len, lines))
    parts = [f'<text x="{x + LEFT}" y="14" font-weight="600">{title}</text>',
             f'<path d="M{x + LEFT},{TOP}v{HIGH}h{WIDE}" fill="none" stroke="currentColor" opacity=".5"/>',
             f'<text x="{x + LEFT - 5}" y="{TOP + 5}" text-anchor="end">{form.format(top)}</text>',
             f'<text x="{x + LEFT - 5}" y="{TOP + HIGH}" text-anchor="end">0</text>',
             f'<text x="{x + LEFT}" y="{TOP + HIGH + 16}">epoch 1</text>',
             f'<text x="{x + LEFT + WIDE}" y="{TOP + HIGH + 16}" text-anchor="end">{max(map(len, lines))}</text>']
    for number, (line, name) in enumerate(zip(lines, ("yours", "the engine’s"), strict=True)):
        spots = [(x + LEFT + WIDE * place / (count - 1), TOP + HIGH * (1 - min(max(value / top, 0), 1)))
                 for place, value in enumerate(line) if np.isfinite(value)]  # fmt: skip
        dashes = ' stroke-dasharray="6 4"' if number else ""
        path = "L".join(f"{a:.1f},{b:.1f}" for a, b in spots)
        look = f'stroke="{COLOURS[number]}" fill="none" stroke-width="2.5"{dashes}'
        key = x + LEFT + 100 * number
        parts.append(f'<path d="M{path}" {look}/>' if spots else "")
        parts.append(f'<path d="M{key},{TOP + HIGH + 32}h24" {look}/>'
                     f'<text x="{key + 30}" y="{TOP + HIGH + 36}">{name}</text>')  # fmt: skip
    return "".join(parts)


__all__ = ["Training", "plugged"]
