"""The formula of a rule, spelled by reading its own code on symbols."""

from __future__ import annotations

from typing import Any

from ..application import is_complex
from ..readings import notation, symbols
from ..readings.shapes import is_sequence
from ..readings.symbols import Shape, Symbol
from ..rule import Rule


def symbol_for(rule: Rule, name: str, value: Any) -> Any:
    """What stands for a value in a formula: a symbol for what varies (inputs, results, what was kept, real parameters),
    a named tuple for shapes; whole numbers, flags and absent inputs are as they were."""
    if name.endswith("_shape"):
        return shape_for(name.removesuffix("_shape"), value)
    if is_sequence(value) and any(hasattr(part, "shape") for part in value):
        parts = [Symbol(f"{name}[{i}]") for i in range(len(value))]
        return tuple(parts) if isinstance(value, tuple) else parts
    varies = name in (*rule.op.inputs, *rule.op.outputs, *rule.op.keeps, "out", "upstream") or isinstance(value, float)
    return Symbol(name) if varies and value is not None else value


def shape_for(owner: str, shape: tuple[int, ...] | list[tuple[int, ...]]) -> Any:
    """What stands for the shape of an input, or for those of several parts."""
    if isinstance(shape, list):
        return [Shape(each, f"{owner}[{i}]") for i, each in enumerate(shape)]
    return Shape(shape, owner)


def at_hand(rule: Rule, inputs: list[Any], params: dict[str, Any], out: Any) -> dict[str, Any]:
    """What a rule read that was taken as its operation was applied."""
    named = {**dict(zip(rule.op.inputs, inputs, strict=True)), **params, "out": out}
    return {name: getattr(named[name], "_data", named[name]) for name in rule.reads if name != "xp"}


def expression(rule: Rule, index: int, reads: dict[str, Any], upstream: Any) -> Any:
    """What a rule sends to its `index`-th input, as an expression: for an elementwise operation upstream times the
    local derivative. Where upstream is complex, with the conjugates that the engine takes round a rule. What was not
    recorded stands there by its name."""
    op, adjoint = rule.op, is_complex(upstream)
    named: dict[str, Any] = {name: Symbol(name) for name in (*op.inputs, *op.params, *op.outputs, "out")}
    named |= {name: symbol_for(rule, name, value) for name, value in reads.items()}
    sign = symbol_for(rule, "upstream", upstream)
    if op.kind == "elementwise":
        local = rule({**named, "xp": symbols})
        if isinstance(local, (int, float)):
            return sign if local == 1 else sign * local
        return sign * (symbols.conj(local) if adjoint else local)
    sent = rule({**named, "xp": symbols, "upstream": symbols.conj(sign) if adjoint else sign})
    sent = sent[index] if op.kind == "joining" or len(rule.inputs) > 1 else sent
    return symbols.conj(sent) if adjoint else sent


def formula(rule: Rule, index: int, reads: dict[str, Any], upstream: Any) -> dict[str, str | None]:
    """The formula of what one input receives, in three notations; None where a rule cannot be read on symbols."""
    try:
        sent = expression(rule, index, reads, upstream)
    except TypeError:  # the rule asks for a number, a truth or a loop
        return {"text": None, "latex": None, "mathml": None}
    written = notation.equation("contribution", sent)
    return {"text": written.text, "latex": written.latex, "mathml": written.mathml}
