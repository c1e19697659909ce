"""An exercise for any rule of the engine by its name, made of the operation's samples and the rule's reason.

    >>> rule_exercise("tanh.x").title
    'the rule of tanh for x'

Nothing is written by hand: the inputs are the samples' draws, drawn again each time; the edges are put into them; the
right answer is the engine's rule; the mistakes are the museum's exhibits of the operation, and those of the catalogue.
"""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..backends import devices
from ..checks.promises import differentiable_inputs
from ..checks.reference import signature, summary
from ..checks.samples import Sample, samples
from ..core.apply import Op
from ..core.composite import ChainRule
from ..core.define import operations
from ..core.rule import Rule, check_rule
from ..tensor import tensor
from .compare import MOVING, nudged
from .edge_cases import EDGES, WITH_CONVENTIONS, WITHOUT_A_SLOPE
from .mark import marked
from .mutants import mistakes_of, wrong_twice
from .rule_answers import ENGINE, adapted, adapted_whole
from .sandboxed import ALL, OWN, carry_out
from .sandboxed.dual import STEP, Moving, following
from .spec import SECOND, Case, Exercise, Mistake, Part
from .words import words_for

np = devices.device("cpu").library

PLAIN = (type(None), bool, int, float, str, slice, type(Ellipsis), np.ndarray)
"""What a request is made of, beside lists, tuples and dictionaries of it."""

PARTS = (
    Part("shape", 1, "the answer has the shape of its input, on every call"),
    Part("plain values", 6, "the numbers are right on ordinary inputs"),
    Part("edges", 3, "and on zeros, ties, huge and tiny numbers, and whatever else can be given"),
)


PARTS_TWICE = (
    PARTS[0],
    Part("plain values", 5, "the numbers are right on ordinary inputs"),
    Part("edges", 2, PARTS[2].sentence),
    Part(SECOND, 2, "what is sent moves as it should where the inputs move: the gradient of the gradient is right"),
)


def rule_exercise(name: str, *, group: str = "numbers and the chain", whole: bool = False, id: str | None = None,
                  title: str | None = None, asks: str | None = None, twice: bool = False) -> Exercise:  # fmt: skip
    """The exercise of the rule (or of several rules) of that name, such as `softmax.x`, `matmul.b`, `maximum.a+b`.

    With `whole` the student undoes broadcasting too: an answer has exactly the shape of its input. `asks` is a
    convention at kinks and ties that is asked for; without one, every one is accepted. With `twice` the rule is read
    on numbers that move as well, so that the gradient of its gradient is seen to be right.
    """
    op, served = found(name)
    rules = [rule for rule in op.rules if set(rule.inputs) & set(served)]
    reads = readable(op, rules)
    if whole and "upstream" not in reads:
        reads = ("upstream", *reads)
    calls = [each for each in samples[op.name] if is_plain(each)]
    if not calls:
        raise ValueError(f"{name} has no sample of plain real numbers, so there is no exercise of it")
    local = op.kind == "elementwise" and not whole
    maker = Maker(op, served, reads, calls, whole=whole, one_convention=asks is not None, twice=twice)
    right = right_answer(op, served, whole)
    maker.right = right
    words = words_for(rules)
    maker.functions = words
    made = Exercise(
        id or name, kind="rule", group=group,
        title=title or f"the rule of {op.name} for {' and '.join(served)}{', twice' if twice else ''}",
        prompt=prompt(op, served, local, whole, reads, words, asks) + (ON_NUMBERS_THAT_MOVE if twice else ""),
        starter=starter(id or name, op, served, reads, local),
        parts=PARTS_TWICE if twice else PARTS, draw=maker, right=right, reads=reads, functions=words,
        mistakes=lambda: [*(m for m in mistakes_of(op, served, rules, whole) if not whole or differs(made, m)),
                          *(wrong_twice(op, served, rules, right) if twice else [])],
        namespace=ENGINE,
    )  # fmt: skip
    return made


def differs(exercise: Exercise, mistake: Mistake) -> bool:
    """Whether a mistake makes a difference to an exercise: to leave broadcasting as it is makes none where there is
    none."""
    cases = exercise.cases(0)
    return not marked(
        exercise, cases, [exercise.run(mistake.wrong_answer, case.request) for case in cases], False
    ).right


def found(name: str) -> tuple[Op, tuple[str, ...]]:
    """The operation and the inputs that a name speaks of."""
    first, _, inputs = name.partition(".")
    if first not in operations:
        raise KeyError(f"there is no operation {first!r}; micrograd-plus ops lists them all")
    op = operations[first]
    served = tuple(inputs.split("+")) if inputs else ()
    for each in served:
        if not op.has_rule_for(each):
            known = ", ".join(f"{first}.{'+'.join(rule.inputs)}" for rule in op.rules)
            raise KeyError(f"{first} has no rule for {each!r}" + (f"; there are {known}" if known else ""))
    if not served:
        raise KeyError(f"{name} names no input; there are {', '.join(rule.name for rule in op.rules)}")
    shared = next((rule for rule in op.rules if set(served) & set(rule.inputs) and len(rule.inputs) > 1), None)
    if shared is not None and not isinstance(shared, ChainRule) and served != shared.inputs:
        raise KeyError(f"{first} has one rule for {', '.join(shared.inputs)}: the exercise is {shared.name}")
    return op, served


def readable(op: Op, rules: Sequence[Rule]) -> tuple[str, ...]:
    """What these rules of the operation may read: its kind decides."""
    names = ["upstream", "out", *op.inputs, *op.params, *op.residuals, *op.outputs, *(f"{n}_shape" for n in op.inputs)]

    def allowed(name: str, rule: Rule) -> bool:
        probe = Rule(op, rule.inputs, rule.function)
        probe.reads = (name,)
        try:
            check_rule(probe)
        except TypeError:
            return False
        return True

    return tuple(dict.fromkeys(name for name in names if any(allowed(name, rule) for rule in rules)))


def is_plain(sample: Sample) -> bool:
    """Whether a call is of real numbers, and can be written down as plain data."""
    real = all(getattr(value, "dtype", np.dtype(float)).kind != "c" for value in sample.inputs)
    return real and all(plain(value) for value in [*sample.inputs, *sample.params.values()])


def plain(value: Any) -> bool:
    """Whether a value is plain data."""
    if isinstance(value, (list, tuple)):
        return all(map(plain, value))
    return isinstance(value, PLAIN)


# The right answer -----------


def right_answer(op: Op, served: tuple[str, ...], whole: bool) -> Callable[..., Any]:
    """The engine's rules, as one function that is called with everything there is to read."""
    rules = [rule for rule in op.rules if set(rule.inputs) & set(served)]
    if any(isinstance(rule, ChainRule) for rule in rules):
        return by_the_chain_rule(op, served)
    return (adapted_whole if whole else adapted)(op, served, [(rule.inputs, rule.function) for rule in rules])


def by_the_chain_rule(op: Op, served: tuple[str, ...]) -> Callable[..., Any]:
    """Of an operation that is made of others: what the engine's walk sends to its inputs."""

    def answer(named: dict[str, Any], xp: Any) -> Any:
        leaves = {name: tensor(named[name], requires_grad=True) for name in served if named[name] is not None}
        inputs = [leaves.get(name, named[name]) for name in op.inputs]
        op.call_with(inputs, {name: named[name] for name in op.params}).backward(named["upstream"])
        return {name: np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for name, leaf in leaves.items()}

    answer.takes_everything = True
    return answer


# Cases ----------------------


class Maker:
    """Makes the cases of a rule: one for each sample, drawn again, and one for each edge that the operation has."""

    def __init__(
        self, op: Op, served: tuple[str, ...], reads: tuple[str, ...], calls: Sequence[Sample], *,
        whole: bool, one_convention: bool, twice: bool = False,
    ):  # fmt: skip
        self.op, self.served, self.reads, self.calls = op, served, reads, calls[:6]
        self.whole, self.one_convention, self.twice = whole, one_convention, twice
        self.local = op.kind == "elementwise" and not whole
        self.functions: Sequence[str] = ()
        self.right: Any = None

    def __call__(self, rng: Any) -> list[Case]:
        """Fresh cases."""
        made = []
        special = [sample for sample in self.calls if with_given_numbers(sample)]
        for sample in self.calls:
            part = "edges" if sample in special and len(special) < len(self.calls) else "plain values"
            about = f"{sample.op.name} is called on {shapes_of(sample)}"
            case = self.case(sample.fresh(rng), rng, part, about, conventions=part == "edges")
            made += [case] if case is not None else []
        telling = [sample for sample in self.calls if self.answers(sample)]
        for about, change in EDGES.items():
            for sample in telling[:3]:
                case = self.edge(sample, about, change, rng)
                if case is not None:
                    made.append(case)
                    break
        return [*made, *self.second(rng)] if self.twice else made

    def second(self, rng: Any) -> list[Case]:
        """Calls on numbers that move, by samples whose gradient has a gradient."""
        able = [sample for sample in self.calls if SMOOTH not in sample.excused and not with_given_numbers(sample)]
        made = [moving_case(self, sample.fresh(rng), rng) for sample in able[:3]]
        found = [case for case in made if case is not None]
        if not found:
            raise ValueError(f"nothing of {self.op.name} can be asked a second time: what its rule sends does not move")
        return found

    def edge(self, sample: Sample, about: str, change: Any, rng: Any) -> Case | None:
        """A sample with an edge put into it; None where the operation has no such edge."""
        with np.errstate(all="ignore"):
            try:
                changed = change(sample.fresh(rng), rng)
                if changed is None:
                    return None
                return self.case(changed, rng, "edges", about, conventions=about in WITH_CONVENTIONS)
            except (ValueError, TypeError, IndexError, RuntimeError, np.linalg.LinAlgError):
                return None

    def answers(self, sample: Sample) -> list[str]:
        """The inputs that receive something on a call, by name."""
        names = self.op.input_names(len(sample.inputs))
        given = [names[place] for place in differentiable_inputs(sample)]
        return given if self.op.kind == "variadic" else [name for name in self.served if name in given]

    def case(self, sample: Sample, rng: Any, part: str, about: str, *, conventions: bool) -> Case | None:
        """One case; None where the call has nothing to send to these inputs, or says nothing."""
        answers = self.answers(sample)
        if len(answers) < (1 if self.op.kind == "variadic" else len(self.served_there(sample))) or not answers:
            return None
        named, out = self.named(sample)
        upstream = upstream_of(out, rng)
        broken = None
        if about == "upstream is not finite":
            broken, upstream = upstream, spoilt(upstream, rng)
        names = self.op.input_names(len(sample.inputs))
        expects: dict[str, Any] = {
            "shapes": {name: tuple(sample.inputs[names.index(name)].shape) for name in answers},
            "undo": not self.whole,
            "sample": sample,
        }
        if self.local:
            expects["upstream"] = upstream
        request = self.request(named, upstream, answers)
        if broken is not None:
            others = [broken, scaled(broken)]
            expects["finite"] = [self.request(named, each, answers) for each in others]
            if self.local:
                expects["finite_upstream"] = others
        if conventions and not self.one_convention:
            expects["nan_in_use"] = self.op.name in WITHOUT_A_SLOPE
            expects["neighbours"] = partial(self.neighbours, sample, upstream, answers)
        case = Case(part, about, request, **expects)
        return case if self.says_something(case) else None

    def served_there(self, sample: Sample) -> list[str]:
        """The inputs that are served, but for optional ones that the call leaves out."""
        given = dict(zip(self.op.inputs, sample.inputs, strict=False))
        return [name for name in self.served if given.get(name) is not None]

    def named(self, sample: Sample) -> tuple[dict[str, Any], Any]:
        """What a rule may read on a call, by name, and the output."""
        op = self.op
        missing = [None] * (0 if op.kind == "variadic" else len(op.inputs) - len(sample.inputs))
        data, params = [*sample.inputs, *missing], {**op.params, **sample.params}
        with np.errstate(all="ignore"):
            out, kept = op.compute(ENGINE, data, params)
        everything = op.values_by_name(data, params, out, kept)
        return {name: everything[name] for name in self.reads if name != "upstream"}, out

    def request(self, named: dict[str, Any], upstream: Any, answers: list[str]) -> dict[str, Any]:
        """All that a student's code is given."""
        arguments = {**named} if self.local else {**named, "upstream": upstream}
        return {"driver": "call", "arguments": arguments, "functions": list(self.functions), "answers": answers}

    def neighbours(self, sample: Sample, upstream: Any, answers: list[str]) -> list[dict[str, Any]]:
        """The same call on inputs a little to every side: of tied entries the first wins once, and the last once."""
        rng = np.random.default_rng(0)
        falling = [np.linspace(1, 0.5, v.size).reshape(v.shape) * (-1) ** i if moves(v) else None
                   for i, v in enumerate(sample.inputs)]  # fmt: skip
        drawn = [[rng.uniform(0.5, 1, v.shape) * rng.choice([-1.0, 1.0], v.shape) if moves(v) else None
                  for v in sample.inputs] for _ in range(2)]  # fmt: skip
        made = []
        for way in (falling, *drawn):
            for sign in (1, -1):
                inputs = [v if d is None else v + sign * 1e-8 * np.maximum(1e-3, abs(v)) * d
                          for v, d in zip(sample.inputs, way, strict=True)]  # fmt: skip
                named, _ = self.named(Sample(self.op, inputs, sample.params, {}))
                made.append(self.request(named, upstream, answers))
        return made

    def says_something(self, case: Case) -> bool:
        """Whether the right answer has numbers in it; of a matrix that may be singular, also a last bit beside it."""
        requests = [case.request]
        if case.part == "edges" and self.op.forward.__module__.endswith(("linalg", "factorisations")):
            rng = np.random.default_rng(0)
            requests += [nudged(case.request, rng), nudged(case.request, rng)]
            requests += case.expects["neighbours"]() if "neighbours" in case.expects else []
        outcomes = [carry_out(self.right, request, ENGINE, watched=False) for request in requests]
        case.sent = outcomes[0]
        errors = [outcome["error"] for outcome in outcomes if outcome["error"] is not None]
        if errors and case.part != "edges":
            raise RuntimeError(f"{self.op.name}: {errors[0]}")
        return not errors and any(np.any(np.isfinite(value)) for value in outcomes[0]["values"].values())


SMOOTH = "the gradient has a gradient"
"""The promise from which samples are excused that have none."""
ON_NUMBERS_THAT_MOVE = (
    "\nYour rule is also read on numbers that move, to see the gradient of its gradient: what passes through `float`, "
    "`.item()` or an array of zeros on its way stands still."
)


def moving_case(maker: Maker, sample: Sample, rng: Any) -> Case | None:
    """A call of a rule on inputs that move; None where nothing that it sends moves with them."""
    ways = [rng.uniform(0.5, 1.5, v.shape) * rng.choice([-1.0, 1.0], v.shape) if moves(v) else None
            for v in sample.inputs]  # fmt: skip

    def named(step: float) -> dict[str, Any]:
        inputs = [v if way is None else v + step * way for v, way in zip(sample.inputs, ways, strict=True)]
        return maker.named(Sample(maker.op, inputs, sample.params, {}))[0]

    case = maker.case(sample, rng, SECOND, f"{maker.op.name} is read on numbers that move", conventions=False)
    if case is None or isinstance(case.request["arguments"].get("upstream"), tuple):
        return None
    given = case.request["arguments"]
    near = [named(step * STEP) for step in (0, 1, -1, 2, -2)]
    along = {name: along_of(following(*[each[name] for each in near])) for name in near[0]}
    if "upstream" in given:
        along["upstream"] = upstream_of(given["upstream"], rng)
    case.request = {**case.request, "driver": "moving", "arguments": {**given, "along": along}}
    case.sent = carry_out(maker.right, case.request, ENGINE)
    sent = case.sent["values"]
    still = not sent or any(np.max(np.abs(each), initial=0.0) < 1e3 * MOVING for each in sent.values())
    return None if still else case


def along_of(found: Any) -> Any:
    """How fast plain data moves, array by array; None for what does not."""
    if isinstance(found, (list, tuple)):
        return [along_of(each) for each in found]
    return found.moves if isinstance(found, Moving) else None


def with_given_numbers(sample: Sample) -> bool:
    """Whether a sample's numbers were chosen, for something special about them, and not drawn."""
    return any(isinstance(value, list) and moves(np.array(value)) for value in sample.draws)


def moves(value: Any) -> bool:
    """Whether an input is an array of real numbers that are not counted."""
    return hasattr(value, "dtype") and value.dtype.kind == "f" and bool(np.all(np.isfinite(value)))


def upstream_of(out: Any, rng: Any) -> Any:
    """An upstream of both signs, not of mean 0; zeros for outputs that have no gradient."""
    if isinstance(out, tuple):
        return tuple(upstream_of(part, rng) for part in out)
    shape = np.shape(out)
    signs = np.where(rng.random(shape) < 1 / 3, -1.0, 1.0)
    if signs.size > 1 and np.all(signs == signs.flat[0]):
        signs.flat[rng.integers(signs.size)] *= -1
    return np.asarray(rng.uniform(0.3, 1.7, shape) * signs)


def scaled(upstream: Any) -> Any:
    """Another upstream, different everywhere."""
    return tuple(map(scaled, upstream)) if isinstance(upstream, tuple) else upstream * 1.7 + 0.3


def spoilt(upstream: Any, rng: Any) -> Any:
    """An upstream with one entry that is infinite."""
    if isinstance(upstream, tuple):
        return (spoilt(upstream[0], rng), *upstream[1:])
    there = upstream.copy()
    there.reshape(-1)[rng.integers(there.size)] = np.inf
    return there


def shapes_of(sample: Sample) -> str:
    """A call in words: the shapes of its arrays, and what it is told besides."""
    shown = [str(tuple(v.shape)) if hasattr(v, "shape") else repr(v) for v in sample.inputs if v is not None]
    return ", ".join([*shown, *(f"{name}={value!r}" for name, value in sample.params.items())])[:160]


# Texts ----------------------


def prompt(
    op: Op, served: tuple[str, ...], local: bool, whole: bool, reads: Sequence[str], words: Sequence[str], asks: Any
) -> str:
    """What is asked, from what the operation says of itself."""
    what = "the local derivative" if local else "what upstream becomes on its way"
    to = " and ".join(f"`{name}`" for name in served)
    lines = [f"`{signature(op)}`", "", summary(op), "", f"Write {what} for {to}."]
    if local:
        lines.append("The engine multiplies it by upstream, and undoes broadcasting.")
    elif whole:
        lines.append("What you return has exactly the shape of its input: undo broadcasting yourself.")
    else:
        lines.append("What you return has the shape of its input, or one that broadcasting made of it.")
    if len(served) > 1:
        lines.append(f"Return one for each, in this order: {', '.join(served)}.")
    lines.append(f"Your function may read, by the names of its parameters: {', '.join(['xp', *reads])}.")
    missing = ", ".join(sorted(ALL.keys() - set(words)))
    lines.append(f"`xp` has NumPy's functions, and {', '.join(each.__name__ for each in OWN)}"
                 f"{f'; all but {missing}' if missing else ''}.")  # fmt: skip
    lines.append(f"At kinks and ties: {asks}." if asks else "Any convention at kinks and ties is right.")
    return "\n".join(lines).strip()


def starter(id: str, op: Op, served: tuple[str, ...], reads: Sequence[str], local: bool) -> str:
    """The code that a student begins with; it answers nothing."""
    name = id.replace(".", "_").replace("+", "_and_").replace("-", "_")
    first = [each for each in ("upstream", *op.inputs, "out", *op.params) if each in reads]
    what = "The local derivative" if local else "What upstream becomes"
    return (
        f'@exercises.answer("{id}")\n'
        f"def {name}({', '.join(['xp', *first])}):\n"
        f'    """{what}, for {" and ".join(served)}."""\n'
        f"    # YOUR CODE HERE\n"
        f"    raise NotImplementedError\n"
    )


__all__ = ["Maker", "rule_exercise"]
