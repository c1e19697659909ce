"""Random programs and every question about them: answers, wrong answers, hints, and what a page reveals."""

import re
from random import Random

import numpy as np

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz.journal import nodes_known_at, walk_states
from micrograd_plus_viz.quizzes import formula_values
from micrograd_plus_viz.quizzes.formula_choices import formula_choices
from micrograd_plus_viz.quizzes.questions import KINDS, NOISE
from micrograd_plus_viz.quizzes.sealed_answers import accepted_bins, bin_of, shape_text
from micrograd_plus_viz.quizzes.step_choice import Chooser
from micrograd_plus_viz.window import load_window
from viz.quizzed import numbers_in, readable, shown_shapes

from .harness import SAID, SAME, dice

PROGRAMS, QUESTIONS = 40, 250
"""How many programs there are, and how many questions about each before the next."""
PAGES = 40
"""One question in this many is also made into a page, which takes longest."""
TOLERANCE = 0.02
UNARY = (mg.tanh, mg.exp, mg.sin, mg.cos, mg.sigmoid, mg.relu, lambda x: x * x, lambda x: x**3, lambda x: -x,
         lambda x: mg.log(x * x + 1.0), lambda x: mg.sqrt(x * x + 0.5), lambda x: x / 2.0)  # fmt: skip
BINARY = (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a / (b * b + 1.0), mg.maximum)
SHAPES = [(), (3,), (2, 3), (2, 1)]
_known: dict[int, tuple] = {}


def record_program(number: int):
    """Return the trace of a random program of scalars or small arrays."""
    rng = dice("questions", number)
    pool = [mg.tensor(rng.normal(size=SHAPES[rng.integers(4)]), requires_grad=True) for _ in range(3)]
    with mg.record() as trace:
        for _ in range(int(rng.integers(3, 9))):
            one, other = (pool[place] for place in rng.integers(len(pool), size=2))
            if rng.integers(2):
                pool.append(UNARY[rng.integers(len(UNARY))](one))
            else:
                pool.append(BINARY[rng.integers(len(BINARY))](one, other))
        if rng.integers(3) == 0:
            w = mg.tensor(rng.normal(size=(3, 2)), requires_grad=True)
            pool.append((pool[-1] + mg.tensor(np.ones((2, 3)))) @ w)
        loss = sum((x * x).sum() for x in pool[-2:])
        loss.backward()
        if rng.integers(4) == 0:
            (loss * 1.0).backward()
        if rng.integers(3) == 0:
            use_gradients([each for each in pool if each.is_leaf and each.grad is not None], rng)
    return trace


def use_gradients(leaves: list, rng) -> None:
    """Compute with gradients, as a penalty or the next round of a loop does: a quiz must not show them before."""
    for each in leaves:
        each.data -= 0.125 * each.grad.data
    kept = mg.tensor(leaves[0].grad.data) * leaves[-1].sum()
    (kept.sum() * float(leaves[0].grad.data.sum()) + (leaves[0] * leaves[0]).sum()).backward()


def run(case: int) -> str:
    """Ask a question of some kind about some step, and check it against the engine's numbers."""
    number, rng = case // QUESTIONS % PROGRAMS, dice("questions", PROGRAMS + case)
    if number not in _known:
        _known.clear()
        trace = record_program(number)
        _known[number] = trace, load_window(trace)[0]
    trace, data = _known[number]
    chooser = Chooser(data, TOLERANCE, (), int(rng.integers(100)))
    at, kind = int(rng.integers(len(trace.steps))), sorted(KINDS)[rng.integers(len(KINDS))]
    question = chooser.question(at, kind)
    if question is None:
        return SAID
    found = check_question(trace, data, question)
    return found or (check_page(trace, question) if case % PAGES == 0 else "") or SAME


def check_page(trace, question) -> str:
    """Check that the page of a question has no numbers of its step or a later one, in any part that can be read.

    Four digits of one entry in many also occur elsewhere by chance, as in a mean.
    """
    at = question.at
    visible = numbers_in(re.sub(r' d="[^"]*"', "", readable(viz.quiz(trace, at + 1, question.kind))))
    earlier = [value for step in trace.steps[:at] for value in (step.contribution, step.after, step.local, step.raw)]
    data, number = load_window(trace)[0], trace.steps[at].walk
    known = nodes_known_at(data, at)
    written = [value_in_walk(data, place) for k in range(number + 1) for place in walk_states(data)[k].values.values()]
    public = entries(*(trace.nodes[i].value for i in known), *earlier, *written, trace.walks[number].seed)
    later = entries(*(node.value for node in trace.nodes if node.id not in known)) - public
    if len(later & visible) > len(later) / 5:
        return f"its page shows {sorted(later & visible)}, which is computed later"
    asked = entries(*(value for step in trace.steps[at:] for value in (step.contribution, step.after))) - public
    return f"its page shows {sorted(asked & visible)}" if len(asked & visible) > len(asked) / 5 else ""


def entries(*values) -> set[str]:
    """Return all entries of some arrays in the form of `numbers_in`, except those of one or two digits, such as 2."""
    found = {f"{abs(float(x)):.4g}" for value in values if value is not None for x in np.ravel(value)}
    return {each for each in found if len(each.partition("e")[0].replace(".", "").strip("0")) > 2}


def check_question(trace, data, question) -> str:
    """Return what is wrong with a question, or an empty text."""
    if not question.right:
        return f"{question.kind}: it has no right answer"
    wrong = {answer for answers, _ in question.hints for answer in answers}
    if wrong & set(question.right):
        return f"{question.kind}: a hint for the right answer"
    if question.choices and not all(0 <= int(right) < len(question.choices) for right in question.right) and (
            question.form != "node"):  # fmt: skip
        return f"{question.kind}: the right choice is not among the choices"
    texts = [str(choice.get("text", choice)) + str(choice.get("formula", "")) for choice in question.choices]
    if len(set(texts)) != len(texts):
        return f"{question.kind}: two choices are equal: {texts}"
    checks = {"gradient": check_gradient, "shape": check_shape, "formula": check_formula, "picture": check_picture,
              "cell": check_cell}  # fmt: skip
    return checks.get(question.kind, lambda *_: "")(trace, data, question)


def check_gradient(trace, data, question) -> str:
    """Check that the engine's number is taken, and that numbers next to it are not."""
    after = np.asarray(trace.steps[question.at].after)
    if question.form != "number":
        return ""
    if not any(bin_of(float(x), TOLERANCE) in question.right for x in after.ravel()):
        return f"the engine's gradient {after} is not taken"
    far = [bin_of(float(x) * by, TOLERANCE) for x in after.ravel() if x for by in (1.25, 0.8, -1.0)]
    near = {each for x in after.ravel() for each in accepted_bins(float(x), TOLERANCE, NOISE)}
    return "a number that is far off is taken" if set(question.right) & (set(far) - near) else ""


def check_shape(trace, data, question) -> str:
    """Check the shape, and that nothing on the page or in its picture shows it."""
    step = trace.steps[question.at]
    shape = np.shape(step.raw if step.summed_axes else step.after)
    if question.right != [shape_text(shape)]:
        return f"the shape {shape} is not taken"
    return f"the page shows {shape}" if str(shape) in shown_shapes(viz.quiz(trace, question.at + 1, "shape")) else ""


def check_formula(trace, data, question) -> str:
    """Compute all formulas with the numbers of the step, and with others: the right one gives what the engine sent, and
    no other one gives the same in both."""
    step = trace.steps[question.at]
    changed = walk_states(data)[step.walk].values
    values = {at: value_in_walk(data, changed[at]) if at in changed else trace.nodes[at].value
              for _, at in trace.nodes[step.node].inputs}  # fmt: skip
    names = {name: np.asarray(values[at], dtype=float) for name, at in trace.nodes[step.node].inputs}
    names |= {"out": np.asarray(trace.nodes[step.node].value, dtype=float),
              "upstream": np.asarray(step.upstream, dtype=float)}  # fmt: skip
    choices = formula_choices(data, data["steps"][question.at], Random(question.at))  # noqa: S311 - no secret
    results = [formula_value(tree, names) for tree in choices.trees]
    sent = np.asarray(step.contribution, dtype=float)
    if results[choices.right] is not None and not same(results[choices.right], sent):
        return f"the right formula gives {results[choices.right]}, the engine {sent}: {choices.shown[choices.right]}"
    moved = {name: value * 1.1 if name == "upstream" else value for name, value in names.items()}
    others = [formula_value(tree, moved) for tree in choices.trees]
    for k, (one, other) in enumerate(zip(results, others, strict=True)):
        if k != choices.right and same(one, sent) and same(other, others[choices.right]) and not is_special(names):
            texts = [text for _, text in choices.shown]
            return f"a wrong formula gives the right numbers: {texts[k]} for {texts[choices.right]}"
    return ""


def value_in_walk(data, place: int):
    """Return a value that the program has written into a leaf before a walk."""
    return np.reshape(data["values"][place]["data"], data["values"][place]["shape"])


def is_special(names) -> bool:
    """Return whether numbers are such that different formulas can give the same: 0, 1, 2, or equal ones."""
    flat = np.abs(np.concatenate([np.ravel(value) for value in names.values()]))
    return bool(np.any(np.isin(flat, [0.0, 1.0, 2.0]))) or len(set(flat)) < len(flat)


def formula_value(tree, names):
    """Return the value of a formula; None if it cannot be computed."""
    try:
        return formula_values.value_of(tree, names)
    except formula_values.UnknownFormulaError:
        return None


def same(one, other) -> bool:
    """Return whether two results have the same entries. A formula leaves out which axes of length 1 are kept."""
    return one is not None and other is not None and np.size(one) == np.size(other) and np.allclose(
        np.ravel(one), np.ravel(other), rtol=1e-6, equal_nan=True)  # fmt: skip


def check_cell(trace, data, question) -> str:
    """Check that the entry to press is the one that gets the most."""
    sizes = np.abs(np.asarray(trace.steps[question.at].contribution))
    place = tuple(int(each) for each in question.right[0].split(","))
    return "" if sizes[place] == sizes.max() and np.sum(sizes == sizes.max()) == 1 else f"{place} does not get the most"


def check_picture(trace, data, question) -> str:
    """Check that four pictures differ."""
    pictures = [(choice["picture"]["rows"], *choice["picture"]["levels"]) for choice in question.choices]
    return "" if len(set(pictures)) == len(pictures) else "two pictures are equal"
