"""Cases of a rule's exercise: one for each sample of the operation, drawn again, and one for each edge case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..backends import devices
from ..checks.promises import differentiable_inputs
from ..checks.samples import Sample
from ..core.apply import Op
from .compare import TANGENT_TOLERANCE, nudge
from .edge_cases import EDGE_CASES, NOT_FINITE_UPSTREAM, WITH_BROADCASTING, WITH_CONVENTIONS, WITHOUT_A_SLOPE
from .rule_answers import ENGINE
from .sandboxed import carry_out
from .sandboxed.dual import STEP, Dual, from_samples
from .spec import EDGES, PLAIN, SECOND_ORDER, Case

np = devices.device("cpu").library

GRADIENT_HAS_GRADIENT = "the gradient has a gradient"
"""The promise from which samples are excused whose gradient has no gradient."""
MOST_SAMPLES = 6
PROBABILITIES = {"softmax_cross_entropy": "target"}
"""Inputs that the operation calls probabilities: along the last axis they add up to 1."""


class RuleCases:
    """Function that draws the cases of a rule.

    `served` are the inputs that receive a gradient, `reads` the values that the answer may read. `whole` and
    `second_order` are explained in `rule_exercise`. With `one_convention`, only the engine's convention is right.
    """

    def __init__(
        self, op: Op, served: tuple[str, ...], reads: tuple[str, ...], samples: Sequence[Sample], *,
        right: Callable[..., Any], functions: Sequence[str], whole: bool, one_convention: bool, second_order: bool,
    ):  # fmt: skip
        self.op, self.served, self.reads, self.samples = op, served, reads, samples[:MOST_SAMPLES]
        self.right, self.functions = right, functions
        self.whole, self.one_convention, self.second_order = whole, one_convention, second_order
        self.is_local = op.kind == "elementwise" and not whole

    def __call__(self, rng: Any) -> list[Case]:
        """Draw the cases."""
        cases = []
        special = [sample for sample in self.samples if has_chosen_numbers(sample)]
        for sample in self.samples:
            part = EDGES if sample in special and len(special) < len(self.samples) else PLAIN
            about = f"{sample.op.name} is called on {describe_call(sample)}"
            case = self._case(sample.fresh(rng), rng, part, about, conventions=part == EDGES)
            cases += [case] if case is not None else []
        serving = [sample for sample in self.samples if self._answers(sample)]
        for about, change in EDGE_CASES.items():
            if about in WITH_BROADCASTING and not self.whole:
                continue
            drawn = (self._edge_case(sample, about, change, rng) for sample in serving[:3])
            first = next((case for case in drawn if case is not None), None)
            cases += [first] if first is not None else []
        return [*cases, *self._second_order_cases(rng)] if self.second_order else cases

    def small_case(self, sample: Sample) -> Case | None:
        """Return a case of these inputs, with an upstream of one digit."""
        case = self._case(sample, np.random.default_rng(3), PLAIN, "the example of the prompt", conventions=False)
        if case is not None:
            arguments = case.request["arguments"]
            if "upstream" in arguments:
                rounded = one_digit(arguments["upstream"])
                case.request = {**case.request, "arguments": {**arguments, "upstream": rounded}}
            elif "upstream" in case.expects:
                case.expects = {**case.expects, "upstream": one_digit(case.expects["upstream"])}
            case.right_outcome = None
        return case

    def _case(self, sample: Sample, rng: Any, part: str, about: str, *, conventions: bool) -> Case | None:
        """Return one case; None if the call sends nothing to the served inputs, or only nan and infinities."""
        sample = with_probabilities(sample)
        answers = self._answers(sample)
        if len(answers) < (1 if self.op.kind == "variadic" else len(self._present_inputs(sample))) or not answers:
            return None
        values, out = self._values(sample)
        upstream = draw_upstream(out, rng)
        finite, place = None, 0
        if about == NOT_FINITE_UPSTREAM:
            finite, place = upstream, rng.integers(first_part(upstream).size)
            upstream = with_entry(finite, place, np.inf)
        names = self.op.input_names(len(sample.inputs))
        expects: dict[str, Any] = {
            "shapes": {name: tuple(sample.inputs[names.index(name)].shape) for name in answers},
            "unbroadcast": not self.whole,
            "sample": sample,
        }
        if self.is_local:
            expects["upstream"] = upstream
        request = self._request(values, upstream, answers)
        if finite is not None:
            others = [finite, rescale(finite), with_entry(finite, place, 3.0)]
            expects["finite"] = [self._request(values, each, answers) for each in others]
            if self.is_local:
                expects["finite_upstream"] = others
        if conventions and not self.one_convention:
            expects["allows_nan"] = self.op.name in WITHOUT_A_SLOPE
            expects["neighbors"] = partial(self._neighbors, sample, upstream, answers)
        case = Case(part, about, request, **expects)
        return case if self._has_numbers(case) else None

    def _edge_case(self, sample: Sample, about: str, change: Any, rng: Any) -> Case | None:
        """Return the case of a sample with an edge case; None if the operation has no such edge case."""
        with np.errstate(all="ignore"):
            try:
                changed = change(sample.fresh(rng), rng)
                if changed is None:
                    return None
                return self._case(changed, rng, EDGES, about, conventions=about in WITH_CONVENTIONS)
            except (ValueError, TypeError, IndexError, RuntimeError, np.linalg.LinAlgError):
                return None

    def _answers(self, sample: Sample) -> list[str]:
        """Return the names of the inputs that receive a gradient on a call."""
        names = self.op.input_names(len(sample.inputs))
        receiving = [names[place] for place in differentiable_inputs(sample)]
        return receiving if self.op.kind == "variadic" else [name for name in self.served if name in receiving]

    def _present_inputs(self, sample: Sample) -> list[str]:
        """Return the served inputs, without optional ones that the call leaves out."""
        inputs = dict(zip(self.op.inputs, sample.inputs, strict=False))
        return [name for name in self.served if inputs.get(name) is not None]

    def _values(self, sample: Sample) -> tuple[dict[str, Any], Any]:
        """Return the values that a rule may read on a call, by name, and the output."""
        op = self.op
        missing = [None] * (0 if op.kind == "variadic" else len(op.inputs) - len(sample.inputs))
        data, params = [*sample.inputs, *missing], {**op.params, **sample.params}
        with np.errstate(all="ignore"):
            out, residuals = op.compute(ENGINE, data, params)
        values = op.values_by_name(data, params, out, residuals)
        return {name: values[name] for name in self.reads if name != "upstream"}, out

    def _request(self, values: dict[str, Any], upstream: Any, answers: list[str]) -> dict[str, Any]:
        arguments = {**values} if self.is_local else {**values, "upstream": upstream}
        return {"driver": "call", "arguments": arguments, "functions": list(self.functions), "answers": answers}

    def _neighbors(self, sample: Sample, upstream: Any, answers: list[str]) -> list[dict[str, Any]]:
        """Return the same call on inputs moved slightly in six directions.

        In the first two directions, the first of tied entries wins, and then the last.
        """
        rng = np.random.default_rng(0)
        falling = [np.linspace(1, 0.5, v.size).reshape(v.shape) * (-1) ** i if is_finite_array(v) else None
                   for i, v in enumerate(sample.inputs)]  # fmt: skip
        random = [[rng.uniform(0.5, 1, v.shape) * rng.choice([-1.0, 1.0], v.shape) if is_finite_array(v) else None
                   for v in sample.inputs] for _ in range(2)]  # fmt: skip
        requests = []
        for direction in (falling, *random):
            for sign in (1, -1):
                inputs = [v if d is None else v + sign * 1e-8 * np.maximum(1e-3, abs(v)) * d
                          for v, d in zip(sample.inputs, direction, strict=True)]  # fmt: skip
                values, _ = self._values(Sample(self.op, inputs, sample.params, {}))
                requests.append(self._request(values, upstream, answers))
        return requests

    def _has_numbers(self, case: Case) -> bool:
        """Return whether the right answer has finite entries; for a singular matrix, also on neighboring inputs."""
        requests = [case.request]
        if case.part == EDGES and self.op.forward.__module__.endswith(("linalg", "factorisations")):
            rng = np.random.default_rng(0)
            requests += [nudge(case.request, rng), nudge(case.request, rng)]
            requests += case.expects["neighbors"]() if "neighbors" in case.expects else []
        outcomes = [carry_out(self.right, request, ENGINE, check_writes=False) for request in requests]
        case.right_outcome = outcomes[0]
        errors = [outcome["error"] for outcome in outcomes if outcome["error"] is not None]
        if errors and case.part != EDGES:
            raise RuntimeError(f"{self.op.name}: {errors[0]}")
        if len(outcomes) > 2 and not errors and is_undetermined(*(each["values"] for each in outcomes[:3])):
            return False
        return not errors and any(np.any(np.isfinite(value)) for value in outcomes[0]["values"].values())

    # Second order ---------------

    def _second_order_cases(self, rng: Any) -> list[Case]:
        """Return calls on dual numbers, for the samples whose gradient has a gradient."""
        able = [each for each in self.samples
                if GRADIENT_HAS_GRADIENT not in each.excused and not has_chosen_numbers(each)]  # fmt: skip
        cases = [case for sample in able[:3] if (case := self._dual_case(sample.fresh(rng), rng)) is not None]
        if not cases:
            raise ValueError(f"{self.op.name} has no second-order exercise: its gradient does not depend on its inputs")
        return cases

    def _dual_case(self, sample: Sample, rng: Any) -> Case | None:
        """Return a call on dual numbers; None if the right rule's result does not change with the inputs."""
        directions = [rng.uniform(0.5, 1.5, v.shape) * rng.choice([-1.0, 1.0], v.shape) if is_finite_array(v) else None
                      for v in sample.inputs]  # fmt: skip

        def values_at(step: float) -> dict[str, Any]:
            inputs = [v if d is None else v + step * d for v, d in zip(sample.inputs, directions, strict=True)]
            return self._values(Sample(self.op, inputs, sample.params, {}))[0]

        case = self._case(sample, rng, SECOND_ORDER, f"{self.op.name} is called on dual numbers", conventions=False)
        if case is None or isinstance(case.request["arguments"].get("upstream"), tuple):
            return None
        arguments = case.request["arguments"]
        sampled = [values_at(step * STEP) for step in (0, 1, -1, 2, -2)]
        tangents = {name: tangents_of(from_samples(*[each[name] for each in sampled])) for name in sampled[0]}
        if "upstream" in arguments:
            tangents["upstream"] = draw_upstream(arguments["upstream"], rng)
        case.request = {**case.request, "driver": "dual", "arguments": {**arguments, "tangents": tangents}}
        case.right_outcome = carry_out(self.right, case.request, ENGINE)
        sent = case.right_outcome["values"]
        if not sent or any(np.max(np.abs(each), initial=0.0) < 1e3 * TANGENT_TOLERANCE for each in sent.values()):
            return None
        return case


def is_undetermined(*results: dict[str, Any]) -> bool:
    """Return whether the last bit of the inputs changes the first digits of a result: nothing about it is right."""
    first, *others = results
    with np.errstate(all="ignore"):
        return any(np.max(np.abs(other[name] - value)) > 1e-3 * np.max(np.abs(value))
                   for name, value in first.items() for other in others if value.size)  # fmt: skip


def tangents_of(data: Any) -> Any:
    """Return the tangents in nested data, array by array; None for everything else."""
    if isinstance(data, (list, tuple)):
        return [tangents_of(each) for each in data]
    return data.tangent if isinstance(data, Dual) else None


def has_chosen_numbers(sample: Sample) -> bool:
    """Return whether a sample's numbers were chosen by hand, for something special about them, and not drawn."""
    return any(isinstance(value, list) and is_finite_array(np.array(value)) for value in sample.draws)


def with_probabilities(sample: Sample) -> Sample:
    """Return the sample with rows that add up to 1 in each input that holds probabilities."""
    place = list(sample.op.inputs).index(PROBABILITIES[sample.op.name]) if sample.op.name in PROBABILITIES else None
    if place is None:
        return sample
    weights = np.abs(sample.inputs[place])
    totals = weights.sum(axis=-1, keepdims=True)
    rows = np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 1 / weights.shape[-1])
    inputs = [rows if i == place else value for i, value in enumerate(sample.inputs)]
    return Sample(sample.op, inputs, sample.params, sample.excused)


def is_finite_array(value: Any) -> bool:
    """Return whether an input is an array of finite floats."""
    return hasattr(value, "dtype") and value.dtype.kind == "f" and bool(np.all(np.isfinite(value)))


def draw_upstream(out: Any, rng: Any) -> Any:
    """Draw an upstream gradient for an output, with entries of both signs and a mean that is not 0."""
    if isinstance(out, tuple):
        return tuple(draw_upstream(part, rng) for part in out)
    shape = np.shape(out)
    signs = np.where(rng.random(shape) < 1 / 3, -1.0, 1.0)
    if signs.size > 1 and np.all(signs == signs.flat[0]):
        signs.flat[rng.integers(signs.size)] *= -1
    return np.asarray(rng.uniform(0.3, 1.7, shape) * signs)


def one_digit(upstream: Any) -> Any:
    """Return an upstream gradient rounded to one digit after the point."""
    return tuple(map(one_digit, upstream)) if isinstance(upstream, tuple) else np.round(upstream, 1)


def rescale(upstream: Any) -> Any:
    """Return another upstream gradient, which differs in every entry."""
    return tuple(map(rescale, upstream)) if isinstance(upstream, tuple) else upstream * 1.7 + 0.3


def first_part(upstream: Any) -> Any:
    """Return an upstream gradient, or its first part if the operation has several outputs."""
    return upstream[0] if isinstance(upstream, tuple) else upstream


def with_entry(upstream: Any, place: int, number: float) -> Any:
    """Return an upstream gradient whose entry at a place, of its first part if it has several, is another number."""
    if isinstance(upstream, tuple):
        return (with_entry(upstream[0], place, number), *upstream[1:])
    changed = upstream.copy()
    changed.reshape(-1)[place] = number
    return changed


def describe_call(sample: Sample) -> str:
    """Return the shapes of a call's arrays, and its parameters."""
    shapes = [str(tuple(v.shape)) if hasattr(v, "shape") else repr(v) for v in sample.inputs if v is not None]
    return ", ".join([*shapes, *(f"{name}={value!r}" for name, value in sample.params.items())])[:160]
