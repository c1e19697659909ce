"""Evidence against a wrong rule: both formulas, and gradients that differ."""

from __future__ import annotations

from typing import Any

from ...backends import devices
from ...core.rule import Rule
from ...tracing.formulas import RuleRun, formula_of_rule
from ...transforms.reverse import grad
from .. import promises as check
from ..samples import Sample
from .exhibit import SECOND, Exhibit, replaced_rules

np = devices.device("cpu").library


class Evidence:
    """Evidence against a wrong rule: a sample, one of its inputs, both gradients, and a sentence on the difference.

    If the wrong rule fails, `wrong` is None and `sentence` is the error."""

    __slots__ = ("input", "right", "sample", "sentence", "wrong")

    def __init__(self, sample: Sample, name: str, right: Any, wrong: Any, sentence: str):
        self.sample, self.input, self.right, self.wrong, self.sentence = sample, name, right, wrong, sentence


@np.errstate(all="ignore")
def evidence(exhibit: Exhibit) -> Evidence:
    """Return the first sample on which the exhibit breaks its promise, with the gradients of its inputs."""
    sample = telling_sample(exhibit)
    right = input_gradients(exhibit, sample)
    try:
        with replaced_rules(exhibit):
            wrong = input_gradients(exhibit, sample)
    except (RuntimeError, ValueError, IndexError) as error:
        served = next(iter(exhibit.rules))[0]
        return Evidence(sample, served, right.get(served), None, refusal(error))
    name = next(name for name in right if not equal(right[name], wrong[name]))
    return Evidence(sample, name, right[name], wrong[name], difference(right[name], wrong[name]))


@np.errstate(all="ignore")
def telling_sample(exhibit: Exhibit) -> Sample:
    """Return the first real sample that breaks the promise; raise LookupError if there is none."""
    keep = check.promises[exhibit.promise]
    with replaced_rules(exhibit):
        for sample in exhibit.samples:
            if _is_complex(sample) or exhibit.promise in sample.excused:
                continue
            try:
                keep(sample)
            except Exception:  # noqa: BLE001 - a wrong rule may raise anything
                return sample
    raise LookupError(f"no sample gives {exhibit.title!r} away")


def input_gradients(exhibit: Exhibit, sample: Sample) -> dict[str, Any]:
    """Return the gradient of each input, by name; second gradients if only they are wrong."""
    places = check.differentiable_inputs(sample)
    names = [sample.op.input_names(len(sample.inputs))[place] for place in places]
    if exhibit.promise != SECOND:
        return dict(zip(names, check.gradients(sample), strict=True))
    twice = grad(check.gradient_sum(sample), tuple(range(len(places))))(*[sample.inputs[place] for place in places])
    return {name: each.numpy() for name, each in zip(names, twice, strict=True)}


def _is_complex(sample: Sample) -> bool:
    return any(getattr(value, "dtype", np.dtype(float)).kind == "c" for value in sample.inputs)


def refusal(error: Exception) -> str:
    """Return the engine's message for a contribution that does not fit; for other errors, whose text is NumPy's, only
    the type."""
    said = str(error).partition(";")[0]
    return said if "returned shape" in said else f"it cannot be applied: {type(error).__name__}"


def equal(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal up to rounding."""
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-11)


# Differences -----------------


def difference(right: Any, wrong: Any) -> str:
    """Describe in a sentence how the entries of a wrong gradient differ from the right ones."""
    if wrong.shape != right.shape:
        return f"the shape is {wrong.shape} for {right.shape}"
    if not np.all(np.isfinite(wrong)):
        return f"{np.sum(~np.isfinite(wrong))} of {wrong.size} entries are no numbers"
    if right.ndim == 2 and equal(right.T, wrong):
        return "it is the transpose of the right one"
    apart = ~np.isclose(wrong, right, rtol=1e-9, atol=1e-11)
    count = f"{np.sum(apart)} of {wrong.size} entries differ" if wrong.size > 1 else "the one entry differs"
    if np.all(np.isclose(wrong[apart], 0)):
        return f"{count}: 0 arrives where something is due"
    if np.all(np.isclose(right[apart], 0)):
        return f"{count}: something arrives where 0 is due"
    ratios = wrong[right != 0] / right[right != 0]
    if np.ptp(ratios) < 1e-6 and np.all(wrong[right == 0] == 0):
        return f"every entry is {number(ratios[0])} times the right one"
    share = np.max(np.abs(wrong - right)) / np.max(np.abs(right))
    return f"{count}, by up to {number(share)} times the largest right one"


def number(value: float) -> str:
    """Format a number with three digits and a typographic minus sign."""
    return f"{value + 0.0:.3g}".replace("-", "−")


# The formulas ---------------

NO_FORMULA = {"text": None, "latex": None, "mathml": None}


def formulas(exhibit: Exhibit) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the right and the wrong formula of each input whose contribution differs, in three notations.

    A formula is None if the rule does not exist or cannot be evaluated on symbols."""
    sample = telling_sample(exhibit)
    right = _by_input(exhibit.right_rules(), sample)
    wrong = _by_input(exhibit.wrong_rules(), sample)
    return {
        name: (right.get(name, NO_FORMULA), formula)
        for name, formula in wrong.items()
        if formula["text"] is None or formula != right.get(name)
    }


def _by_input(rules: list[Rule], sample: Sample) -> dict[str, dict[str, Any]]:
    """Return the formulas of rules by input; inputs that the sample omits have none."""
    given = dict(zip(sample.op.inputs, sample.inputs, strict=False))
    served = [(rule, place, name) for rule in rules for place, name in enumerate(rule.inputs)]
    left_out = {name for name, value in given.items() if value is None}
    return {name: _formula(rule, place, sample) for rule, place, name in served if name not in left_out}


def _formula(rule: Rule, place: int, sample: Sample) -> dict[str, Any]:
    """Return the formula of one rule, evaluated on symbols for the values of a sample."""
    op = rule.op
    if sample.op is not op:  # a whole program shows it
        return NO_FORMULA
    params = {**op.params, **sample.params}
    missing = [None] * (0 if op.kind == "variadic" else len(op.inputs) - len(sample.inputs))
    data = [*sample.inputs, *missing]
    out, kept = op.compute(devices.device("cpu").namespace, data, params)
    named = op.values_by_name(data, params, out, kept)
    upstream = tuple(part * 0 for part in out) if op.outputs else out * 0
    reads = {name: named[name] for name in rule.reads if name not in ("xp", "upstream")}
    try:
        return formula_of_rule(RuleRun(rule, reads, upstream), place)._asdict()
    except (AttributeError, ValueError, IndexError):  # it calls methods of arrays, not functions of a namespace
        return NO_FORMULA
