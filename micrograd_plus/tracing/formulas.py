"""The formula of a rule, spelled by reading its own code on symbols."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..backends import arrays, shapes
from ..backends.shapes import is_sequence
from ..core.rule import Contribution, Rule
from ..core.runtime.recorders import ForwardRule
from ..core.variable import is_complex, shape_of
from ..formulas import notation, symbols
from ..formulas.simplified import simplified
from ..formulas.symbols import Expression, Shape, Symbol, evaluate, in_order, replaced
from .sites import ENGINE, kind_of

TEXTBOOK = {"logits": "z", "classes": "y"}
"""What inputs are called where the user's program has no name for them."""

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
"""What was kept in the forward, as it is written in books."""


LETTERS = {
    **{(op, name): letter for op in ("eigh", "eig") for name, letter in (("values", "λ"), ("vectors", "V"))},
    ("qr", "q"): "Q", ("qr", "r"): "R", ("svd", "u"): "U", ("svd", "s"): "σ", ("svd", "vh"): "Vh",
}  # fmt: skip
"""What results are called in books, where the user's program has no name for them."""


class Spelling:
    """How values are spelled in a formula: by names, of which some are shown otherwise, and some as numbers."""

    def __init__(self, shown: dict[str, str] | None = None, constants: dict[str, Any] | None = None):
        self.shown, self.constants = shown or {}, constants or {}
        self.numbers = shown is not None

    def symbol(self, name: str) -> Any:
        """What stands for the value of a name."""
        return self.constants[name] if name in self.constants else Symbol(name, self.shown.get(name))

    def of(self, rule: Rule, name: str, value: Any) -> Any:
        """What stands for a value in a formula: a symbol for what varies (inputs, results, what was kept, real
        parameters), a named tuple for shapes; whole numbers, flags and absent inputs are as they were. Where constants
        are known, so are real parameters."""
        if name.endswith("_shape"):
            owner = name.removesuffix("_shape")
            return shape_for(self.shown.get(owner, owner), value)
        if is_sequence(value) and any(hasattr(part, "shape") for part in value):
            parts = [self.symbol(f"{name}[{i}]") for i in range(len(value))]
            return tuple(parts) if isinstance(value, tuple) else parts
        is_symbol = varies(rule, name) or (isinstance(value, float) and not self.numbers)
        return self.symbol(name) if is_symbol and value is not None else value


BY_LETTER = Spelling()
"""As rules spell them."""

OF_EVERY_RECORD: dict[Any, Any] = {}
"""Formulas of steps that read the same in every record, so that a program that is run again is drawn at once."""
MOST_REMEMBERED = 2000


def shape_for(owner: str, shape: tuple[int, ...] | list[tuple[int, ...]]) -> Any:
    """What stands for the shape of an input, or for those of several parts."""
    if isinstance(shape, list):
        return [Shape(each, f"{owner}[{i}]") for i, each in enumerate(shape)]
    return Shape(shape, owner)


def at_hand(rule: Rule, inputs: list[Any], params: dict[str, Any], out: Any) -> dict[str, Any]:
    """What a rule read that was taken as its operation was applied."""
    named = {**dict(zip(rule.op.inputs, inputs, strict=True)), **params, "out": out}
    return {name: getattr(named[name], "_data", named[name]) for name in rule.reads if name != "xp"}


def expression(rule: Rule, index: int, reads: dict[str, Any], upstream: Any, by: Spelling = BY_LETTER) -> Any:
    """What a rule sends to its `index`-th input, as an expression: for an elementwise operation upstream times the
    local derivative. Where upstream is complex, with the conjugates that the engine takes round a rule. What was not
    recorded stands there by its name."""
    op, adjoint = rule.op, is_complex(upstream) and not isinstance(rule, ForwardRule)
    named: dict[str, Any] = {name: by.symbol(name) for name in (*op.inputs, *op.params, *op.outputs, "out")}
    named |= {name: by.of(rule, name, value) for name, value in reads.items()}
    sign = by.of(rule, "upstream", upstream)
    if op.kind == "elementwise":
        local = rule({**named, "xp": symbols})
        if isinstance(local, (int, float)):
            return sign if local == 1 else sign * local
        return sign * (symbols.conj(local) if adjoint else local)
    sent = rule({**named, "xp": symbols, "upstream": symbols.conj(sign) if adjoint else sign})
    if isinstance(rule, ForwardRule):
        return sent
    sent = sent[index] if op.kind == "variadic" or len(rule.inputs) > 1 else sent
    return symbols.conj(sent) if adjoint else sent


def formula(rule: Rule, index: int, reads: dict[str, Any], upstream: Any) -> dict[str, Any]:
    """The formula of what one input receives, in three notations; None where a rule cannot be read on symbols."""
    try:
        written = notation.equation("contribution", expression(rule, index, reads, upstream))
    except Exception:  # noqa: BLE001 - a rule may be any code at all, and to look at a trace never raises
        return {"text": None, "latex": None, "mathml": None}
    return written._asdict()


def applied(
    rule: Rule, index: int, reads: dict[str, Any], upstream: Any, shown: dict[str, str], constants: dict[str, Any],
    contribution: Contribution,
) -> dict[str, Any] | None:  # fmt: skip
    """The formula of one step: in the names of the user's program, with the numbers that were known, and with the sum
    along axes that broadcasting had repeated. None where a rule cannot be read on symbols."""
    op = rule.op
    shown = {name: TEXTBOOK[name] for name in op.inputs if name in TEXTBOOK} | shown
    shown = {name: LETTERS[op.name, name] for name in op.outputs if (op.name, name) in LETTERS} | shown
    shown |= {
        name: RESIDUALS[op.name, name].format(**{each: shown.get(each, each) for each in op.inputs})
        for name in op.residuals
        if (op.name, name) in RESIDUALS
    }
    read = (contribution.raw, *reads.values(), upstream)
    each = [part for value in read for part in (value if is_sequence(value) else [value])]
    real = not any(map(is_complex, each))
    flat = all(getattr(value, "ndim", 0) <= 2 for value in read)
    try:
        sent = expression(rule, index, reads, upstream, Spelling(shown, constants))
        sent = simplified(with_shapes(sent, {**reads, "upstream": upstream}), matrices=flat, real=real)
        if contribution.summed_axes:
            sent = added_up(sent, contribution)
        if isinstance(rule, ForwardRule) and shape_of(contribution.raw) != shape_of(contribution.value):
            sent = symbols.broadcast(sent)
        return notation.equation("contribution", sent)._asdict()
    except Exception:  # noqa: BLE001 - as above
        return None


def with_shapes(sent: Any, reads: dict[str, Any]) -> Any:
    """The expression with numbers in the places of functions of shapes alone, since an application knows what those
    come to; and with what it means to take the rows of an array."""
    made: dict[int, Any] = {}

    def of(part: Any) -> Any:
        return made[id(part)]

    for whole in in_order(sent):
        made[id(whole)] = whole
        if isinstance(whole, Expression):
            args = replaced(whole.args, of)
            params = {name: replaced(param, of) for name, param in whole.params.items()}
            made[id(whole)] = type(whole)(whole.function, args, params)
            with suppress(KeyError, TypeError, AttributeError):
                if whole.function in shapes.__all__:
                    made[id(whole)] = evaluate(whole, arrays, reads)
                elif whole.function == "rows":
                    made[id(whole)] = _rows(args[0], evaluate(whole.args[0], arrays, reads))
                elif whole.function == "sum_outer":
                    a, b = (_rows(x, evaluate(y, arrays, reads)) for x, y in zip(args, whole.args, strict=True))
                    made[id(whole)] = symbols.mT(a) @ b
    return replaced(sent, of)


def _rows(x: Any, value: Any) -> Any:
    """An array as the matrix of its rows."""
    return x if value.ndim == 2 else symbols.reshape(x, (-1, value.shape[-1]))


def added_up(sent: Any, contribution: Contribution) -> Any:
    """The sum along the axes that broadcasting had repeated; along all of them, it is the sum of all entries."""
    axes = contribution.summed_axes
    if len(axes) == len(getattr(contribution.raw, "shape", axes)):
        return symbols.sum(sent)
    return symbols.sum(sent, axis=axes[0] if len(axes) == 1 else axes)


def says_all(rule: Rule) -> bool:
    """Whether the formula of a rule is always the same: it reads neither parameters, shapes nor lists."""
    op = rule.op
    if op.kind == "variadic" or op.outputs:
        return False
    return not set(rule.reads) - {"xp", "upstream", "out", *op.inputs, *op.residuals} and not op.optional


def signature(rule: Rule, index: int, reads: dict[str, Any], upstream: Any) -> tuple[Any, ...]:
    """What decides how a rule's formula reads, to be compared."""
    return rule, index, _kind(upstream), *((name, _kind(value, rule, name)) for name, value in reads.items())


def _kind(value: Any, rule: Rule | None = None, name: str = "") -> Any:
    """What of a value can be seen in a formula."""
    if is_sequence(value) and any(hasattr(part, "shape") for part in value):
        return type(value), len(value)
    if hasattr(value, "shape"):
        return is_complex(value) if rule is None or name in rule.op.inputs else (is_complex(value), id(value))
    if isinstance(value, float) or (rule is not None and name in rule.op.inputs and value is not None):
        return float
    return repr(value)


def signature_of_step(
    rule: Rule, index: int, reads: dict[str, Any], upstream: Any, shown: dict[str, str], constants: dict[str, Any],
    contribution: Contribution,
) -> tuple[Any, ...]:  # fmt: skip
    """What decides how the formula of one step reads, to be compared: names, shapes, and every number written in it."""
    spelled = *shown.items(), *((name, repr(value)) for name, value in constants.items())
    read = tuple((name, _form(value, varies(rule, name))) for name, value in reads.items())
    sent = _form(contribution.raw), shape_of(contribution.value), contribution.summed_axes
    return rule, rule.function, index, spelled, read, _form(upstream), sent


def varies(rule: Rule, name: str) -> bool:
    """Whether a formula has a symbol for what a rule reads under this name."""
    return name in (*rule.op.inputs, *rule.op.outputs, *rule.op.residuals, "out", "upstream")


def _form(value: Any, varies: bool = True) -> Any:
    """What of a value can be seen in the formula of a step: of what varies the shape; else it may be all of it."""
    if is_sequence(value):
        return type(value), *(_form(part, varies) for part in value)
    if hasattr(value, "shape"):
        return tuple(value.shape), is_complex(value), None if varies else id(value)
    return (type(value), is_complex(value)) if varies and value is not None else repr(value)


def is_of_every_record(rule: Rule, reads: dict[str, Any]) -> bool:
    """Whether a step's formula reads the same in every record of this process: a rule of the engine reads nothing but
    what it is handed, and nothing of that is an array whose numbers the formula may hold."""
    function, others = rule.function, [value for name, value in reads.items() if not varies(rule, name)]
    parts = [part for value in others for part in (value if is_sequence(value) else [value])]
    own = kind_of(function.__code__) == ENGINE and function.__closure__ is None
    return own and not any(hasattr(part, "shape") for part in parts)
