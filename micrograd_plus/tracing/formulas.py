"""Formulas of rules, derived by running their own code on symbols."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, cast

from ..backends import arrays, shapes
from ..backends.shapes import is_sequence
from ..core.apply import Op
from ..core.rule import Contribution, Rule
from ..core.runtime.recorders import ForwardRule
from ..core.variable import is_complex, shape_of
from ..formulas import notation, symbols
from ..formulas.simplify import simplify
from ..formulas.symbols import Expression, Lengths, Shape, Shapes, Symbol, evaluate, in_order, replace
from .parts import Formula
from .sites import ENGINE, kind_of
from .values import array_of

TEXTBOOK = {"logits": "z", "classes": "y"}
"""Symbols of textbooks for inputs that the user's program has no name for."""

RESIDUALS = {
    ("mean_class_cross_entropy", "weights"): "softmax({logits})",
    ("softmax_cross_entropy", "log_weights"): "log softmax({logits})",
    **{(op, "unit"): "x̂" for op in ("layer_norm", "rms_norm", "batch_norm")},
    **{(op, "scale"): "σ⁻¹" for op in ("layer_norm", "batch_norm")},
    ("rms_norm", "scale"): "rms⁻¹",
    ("max_pool2d", "chosen"): "[{x} = max]",
    ("scaled_dot_product_attention", "weights"): "softmax(scores)",
    **{("lstm_cell", name): letter for name, letter in
       (("enter", "i"), ("forget", "f"), ("candidate", "g"), ("show", "o"), ("squashed", "tanh(c′)"))},
    **{("gru_cell", name): letter for name, letter in
       (("reset", "r"), ("keep", "z"), ("candidate", "n"), ("recalled", "n′"))},
    ("selective_scan", "decay"): "Ā", ("selective_scan", "state"): "h", ("gated_delta_net", "state"): "S",
}
"""Textbook notation for values saved by a forward."""

LETTERS = {
    **{(op, name): letter for op in ("eigh", "eig") for name, letter in (("values", "λ"), ("vectors", "V"))},
    ("qr", "q"): "Q", ("qr", "r"): "R", ("svd", "u"): "U", ("svd", "s"): "σ", ("svd", "vh"): "Vh",
}  # fmt: skip
"""Symbols of textbooks for results that the user's program has no name for."""


class Spelling:
    """How a formula shows values: `shown` gives some names another spelling, and `constants` gives some a number."""

    def __init__(self, shown: dict[str, str] | None = None, constants: dict[str, Any] | None = None):
        self.shown, self.constants = shown or {}, constants or {}
        self.numbers = shown is not None

    def symbol(self, name: str) -> Any:
        """Return the symbol or number that a formula shows for a name."""
        return self.constants[name] if name in self.constants else Symbol(name, self.shown.get(name))

    def of(self, rule: Rule, name: str, value: Any) -> Any:
        """Return the symbol, shape or number that a formula shows for a value.

        Inputs, results, saved values and real parameters become symbols, and shapes become tuples with names. Integers,
        flags and absent inputs stay as they are, and so do real parameters if constants are known.
        """
        if name.endswith("_shape"):
            owner = name.removesuffix("_shape")
            return shape_for(self.shown.get(owner, owner), value)
        if is_sequence(value) and any(hasattr(part, "shape") for part in value):
            parts = [self.symbol(f"{name}[{i}]") for i in range(len(value))]
            return tuple(parts) if isinstance(value, tuple) else parts
        is_symbol = is_symbolic(rule, name) or (isinstance(value, float) and not self.numbers)
        return self.symbol(name) if is_symbol and value is not None else value


BY_LETTER = Spelling()
"""The spelling of the rules' own source."""


class Memory:
    """Formulas that were written before, by the token of a run and by what else they depend on.

    A token represents the signature of a run. A signature can be long: that of `concatenate` has the shape of each
    part. It is hashed once, and not once for each input. With `most` formulas, the memory forgets all.
    """

    def __init__(self, most: float = float("inf")):
        self.most = most
        self._tokens: dict[Any, object] = {}
        self._formulas: dict[Any, Any] = {}

    def token(self, signature: Any) -> object:
        """Return the object that represents a signature: one object for equal signatures."""
        return self._tokens.setdefault(signature, object())

    def recall(self, key: Any, write: Callable[[], Any]) -> Any:
        """Return the formula of a key, which begins with a token; `write` returns a new one."""
        if key not in self._formulas:
            if len(self._formulas) >= self.most:
                self._tokens.clear()
                self._formulas.clear()
            self._formulas[key] = write()
        return self._formulas[key]


SHARED_FORMULAS = Memory(2000)
"""Formulas that are the same in every record, so that a program that runs again is shown at once."""


class Notations(NamedTuple):
    """The formula of a rule in three notations; None if the rule cannot be run on symbols."""

    text: str | None
    latex: str | None
    mathml: str | None


NO_FORMULA = Notations(None, None, None)


def shape_for(owner: str, shape: tuple[int, ...] | list[tuple[int, ...]]) -> Any:
    """Return the symbolic shape of an input, or the list of shapes of its parts."""
    if isinstance(shape, list):
        return Shapes(shape, owner)
    return Shape(shape, owner)


def reads_of_application(rule: Rule, inputs: list[Any], params: dict[str, Any], out: Any) -> dict[str, Any]:
    """Return the values, by name, that a rule applied in the forward has read."""
    named = {**dict(zip(rule.op.inputs, inputs, strict=True)), **params, "out": out}
    return {name: array_of(named[name]) for name in rule.reads if name != "xp"}


class RuleRun:
    """One run of a rule on values that were recorded, as expressions. It serves one or more inputs: the rule of
    `concatenate` runs once for all parts. What their formulas share is computed once.

    A value that was not recorded appears by name.
    """

    def __init__(self, rule: Rule, reads: dict[str, Any], upstream: Any, by: Spelling = BY_LETTER):
        self.rule, self.reads, self.upstream, self.by = rule, reads, upstream, by
        self.is_adjoint = is_complex(upstream) and not isinstance(rule, ForwardRule)

    @cached_property
    def result(self) -> Any:
        """What the rule returns for symbols; for an elementwise operation that is upstream times the local derivative.
        If upstream is complex, it has the conjugates that the engine takes."""
        rule, op, by = self.rule, self.rule.op, self.by
        named: dict[str, Any] = {name: by.symbol(name) for name in (*op.inputs, *op.params, *op.outputs, "out")}
        named |= {name: by.of(rule, name, value) for name, value in self.reads.items()}
        arrived = by.of(rule, "upstream", self.upstream)
        if op.kind != "elementwise":
            upstream = symbols.conj(arrived) if self.is_adjoint else arrived
            return rule({**named, "xp": symbols, "upstream": upstream})
        local = rule({**named, "xp": symbols})
        if isinstance(local, (int, float)):
            return arrived if local == 1 else arrived * local
        return arrived * (symbols.conj(local) if self.is_adjoint else local)

    @cached_property
    def result_with_lengths(self) -> Any:
        """The result with numbers for the functions of shapes in it."""
        return evaluate_shapes(self.result, {**self.reads, "upstream": self.upstream})

    def contribution(self, index: int, *, with_lengths: bool = False) -> Any:
        """Return what the rule sends to its input number `index`, as an expression."""
        rule, op = self.rule, self.rule.op
        sent = self.result_with_lengths if with_lengths else self.result
        if op.kind == "elementwise" or isinstance(rule, ForwardRule):
            return sent
        sent = sent[index] if op.kind == "variadic" or len(rule.inputs) > 1 else sent
        return symbols.conj(sent) if self.is_adjoint else sent

    @cached_property
    def is_real(self) -> bool:
        """Whether no value is complex."""
        read = (*self.reads.values(), self.upstream)
        return not any(is_complex(part) for value in read for part in (value if is_sequence(value) else [value]))

    @cached_property
    def is_flat(self) -> bool:
        """Whether all values have at most two axes."""
        return all(getattr(value, "ndim", 0) <= 2 for value in (*self.reads.values(), self.upstream))

    @cached_property
    def is_same_in_every_record(self) -> bool:
        """Whether the formulas of the run are the same in every record of this process.

        They are if the rule is the engine's and reads only its arguments, and none of these is an array whose numbers a
        formula can show.
        """
        function = self.rule.function
        others = [value for name, value in self.reads.items() if not is_symbolic(self.rule, name)]
        parts = [part for value in others for part in (value if is_sequence(value) else [value])]
        is_engine_rule = kind_of(function.__code__) == ENGINE and function.__closure__ is None
        return is_engine_rule and not any(hasattr(part, "shape") for part in parts)

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        """A tuple that is equal for two runs if their formulas are: names, shapes, and the numbers in them."""
        rule, by = self.rule, self.by
        if by is BY_LETTER:
            kinds = ((name, _kind_in_rule(value, rule, name)) for name, value in self.reads.items())
            return rule, rule.function, _kind_in_rule(self.upstream), *kinds
        names = *by.shown.items(), *((name, repr(value)) for name, value in by.constants.items())
        read = tuple((name, _kind_in_step(value, is_symbolic(rule, name))) for name, value in self.reads.items())
        return rule, rule.function, names, read, _kind_in_step(self.upstream)


def formula_of_rule(run: RuleRun, index: int) -> Notations:
    """Return the formula of what one input receives, in the rule's own letters."""
    if isinstance(run.rule, ForwardRule) and not run.rule.has_formula:
        return NO_FORMULA
    try:
        equation = notation.equation("contribution", run.contribution(index))
    except Exception:  # noqa: BLE001 - a rule may be any code at all, and to look at a trace never raises
        return NO_FORMULA
    return Notations(**equation._asdict())


def spelling_of_step(op: Op, shown: dict[str, str], constants: dict[str, Any]) -> Spelling:
    """Return the spelling of an operation's values in the names of the user's program, and in symbols of textbooks for
    those without a name."""
    shown = {name: TEXTBOOK[name] for name in op.inputs if name in TEXTBOOK} | shown
    shown = {name: LETTERS[op.name, name] for name in op.outputs if (op.name, name) in LETTERS} | shown
    shown |= {
        name: RESIDUALS[op.name, name].format(**{each: shown.get(each, each) for each in op.inputs})
        for name in op.residuals
        if (op.name, name) in RESIDUALS
    }
    return Spelling(shown, constants)


def formula_of_step(run: RuleRun, index: int, contribution: Contribution) -> Formula | None:
    """Return the formula of one step with known numbers put in and with the sum over broadcast axes. None if the rule
    cannot be run on symbols."""
    raw = contribution.raw
    flat, real = run.is_flat and getattr(raw, "ndim", 0) <= 2, run.is_real and not is_complex(raw)
    try:
        sent = simplify(run.contribution(index, with_lengths=True), matrices=flat, real=real)
        if contribution.summed_axes:
            sent = sum_over_axes(sent, contribution)
        if is_complex(raw) and not is_complex(contribution.value):
            sent = symbols.real(sent)
        if isinstance(run.rule, ForwardRule) and shape_of(raw) != shape_of(contribution.value):
            sent = symbols.broadcast(sent)
        return Formula(**notation.equation("contribution", sent)._asdict())
    except Exception:  # noqa: BLE001 - as above
        return None


def evaluate_shapes(sent: Any, reads: dict[str, Any]) -> Any:
    """Replace functions of shapes by their numbers, which an application knows, and `rows` by the reshape that it
    means."""
    results: dict[int, Any] = {}

    def result_of(part: Any) -> Any:
        return results[id(part)]

    for part in in_order(sent):
        results[id(part)] = part
        if isinstance(part, Expression):
            args = replace(part.args, result_of)
            params = {name: replace(param, result_of) for name, param in part.params.items()}
            results[id(part)] = type(part)(part.function, args, params)
            with suppress(KeyError, TypeError, AttributeError):
                if part.function in shapes.__all__:
                    known = evaluate(part, arrays, reads)
                    results[id(part)] = Lengths(cast("Any", known)) if type(known) is tuple else known
                elif part.function == "rows":
                    results[id(part)] = _rows(args[0], evaluate(part.args[0], arrays, reads))
                elif part.function == "sum_outer" or _shares_one_matrix(part):
                    pairs = zip(args[:2], part.args[:2], strict=True)
                    a, b = (_rows(x, evaluate(y, arrays, reads)) for x, y in pairs)
                    results[id(part)] = symbols.mT(a) @ b
    return replace(sent, result_of)


def _shares_one_matrix(part: Expression) -> bool:
    """Return whether a product of rows is the gradient of one matrix, so that all rows are contracted at once."""
    return part.function == "contract_rows" and len(part.args[2]) == 2


def _rows(x: Any, value: Any) -> Any:
    """Return the expression of an array as the matrix of its rows."""
    return x if value.ndim == 2 else symbols.reshape(x, (-1, value.shape[-1]))


def sum_over_axes(sent: Any, contribution: Contribution) -> Any:
    """Return the sum of an expression over the broadcast axes: over all of them, the sum of all entries."""
    axes = contribution.summed_axes
    if len(axes) == len(getattr(contribution.raw, "shape", axes)):
        return symbols.sum(sent)
    return symbols.sum(sent, axis=axes[0] if len(axes) == 1 else axes)


def has_one_formula(rule: Rule) -> bool:
    """Return whether a rule's formula is always the same: it reads neither parameters, shapes nor lists."""
    op = rule.op
    if op.kind == "variadic" or op.outputs:
        return False
    return not set(rule.reads) - {"xp", "upstream", "out", *op.inputs, *op.residuals} and not op.optional


def _kind_in_rule(value: Any, rule: Rule | None = None, name: str = "") -> Any:
    """Return the properties of a value that a rule's formula shows."""
    if is_sequence(value) and any(hasattr(part, "shape") for part in value):
        return type(value), len(value)
    if hasattr(value, "shape"):
        return is_complex(value) if rule is None or is_symbolic(rule, name) else (is_complex(value), id(value))
    if isinstance(value, float) or (rule is not None and name in rule.op.inputs and value is not None):
        return float
    return repr(value)


def kind_of_contribution(contribution: Contribution) -> Any:
    """Return the properties of a contribution that its formula shows."""
    raw, value = contribution.raw, contribution.value
    return _kind_in_step(raw), shape_of(value), is_complex(value), contribution.summed_axes


def is_symbolic(rule: Rule, name: str) -> bool:
    """Return whether a formula has a symbol for a rule's argument of this name."""
    return name in (*rule.op.inputs, *rule.op.outputs, *rule.op.residuals, "out", "upstream")


def _kind_in_step(value: Any, symbolic: bool = True) -> Any:
    """Return the properties of a value that a step's formula shows: the shape if it is symbolic, otherwise all."""
    if is_sequence(value):
        return type(value), *(_kind_in_step(part, symbolic) for part in value)
    if hasattr(value, "shape"):
        return tuple(value.shape), is_complex(value), None if symbolic else id(value)
    return (type(value), is_complex(value)) if symbolic and value is not None else repr(value)
