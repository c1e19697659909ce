"""Rules of a trace, and the formula of each step in the names of the user's program."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from ..core.rule import Rule as CoreRule
from ..core.runtime.recorders import Push
from ..core.variable import is_complex
from . import formulas
from .events import AppliedRule
from .history import History
from .names import NodeNames
from .outline import Number, Outline
from .parts import Formula, Rule
from .sites import rule_source
from .values import array_of, first_upstream, is_per_output


class RuleTable(NamedTuple):
    """The rules of a record by name, and the name of the rule of each step."""

    rules: dict[str, Rule]
    names: list[str]


class Rules:
    """The rules that were applied in a record, and the formulas of its steps."""

    def __init__(self, history: History, outline: Outline, names: NodeNames):
        self.history, self.outline, self.names = history, outline, names
        self._formulas: dict[Any, Any] = {}

    def reads(self, step: AppliedRule) -> dict[str, Any]:
        """Return the values that a rule read. If it was applied in the forward, it read the inputs and the result."""
        rule, application = step.contribution.rule, self.outline.application(step.node)
        if not rule.in_forward or application is None:
            return step.contribution.reads
        out = array_of(self.outline.value(step.node))
        return formulas.reads_of_application(rule, list(application.arrays), application.params, out)

    def _upstream(self, step: AppliedRule) -> Any:
        """Return the upstream for a formula: for several outputs a list of that many."""
        upstream = first_upstream(step.upstream)
        if not step.node.op.outputs or isinstance(step.contribution, Push):
            return upstream
        application = self.outline.application(step.node)
        if application is not None:
            return [upstream] * len(application.result)
        return [upstream] * (len(step.upstream) if is_per_output(step.upstream) else 1)

    @cached_property
    def table(self) -> RuleTable:
        """The rules, and the name of the rule of each step.

        A rule applied with other parameters can have another formula. Comparing signatures is a thousand times faster
        than writing a formula, so each formula is written once.
        """
        rules: dict[str, Rule] = {}
        names: dict[Any, str] = {}
        have_one_formula: dict[CoreRule, bool] = {}
        name_of_step: list[str] = []
        for step in self.history.steps:
            rule, index = step.contribution.rule, step.contribution.index
            if rule not in have_one_formula:
                have_one_formula[rule] = formulas.has_one_formula(rule)
            if have_one_formula[rule]:
                signature: Any = rule, index, is_complex(step.upstream)
            else:
                signature = formulas.rule_signature(rule, index, self.reads(step), self._upstream(step))
            if signature not in names:
                names[signature] = self._add_rule(rules, step)
            name_of_step.append(names[signature])
        return RuleTable(rules, name_of_step)

    def _add_rule(self, rules: dict[str, Rule], step: AppliedRule) -> str:
        """Return the name of a step's rule, and add the rule under that name if it is new."""
        rule, op = step.contribution.rule, step.contribution.rule.op
        name, index = _input_of_rule(step)
        use = rule, index, self.reads(step), self._upstream(step)
        signature = None, *formulas.step_signature(*use, {}, {}, step.contribution)
        notations, source = self._remember(
            rule, use[2], signature, lambda: (formulas.formula_of_rule(*use), rule_source(rule.function))
        )
        key = base = f"{op.name}.{name}{' (forward)' if isinstance(step.contribution, Push) else ''}"
        number = 1
        while key in rules and rules[key].latex != notations.latex:
            number += 1
            key = f"{base}#{number}"
        if key not in rules:
            reads = tuple(read for read in rule.reads if read != "xp")
            rules[key] = Rule(
                op=op.name, input=name, kind=op.kind, reason=rule.reason,
                reads=("upstream", *reads) if op.kind == "elementwise" else reads,
                source=source.text, file=source.file, line=source.line,
                text=notations.text, latex=notations.latex, mathml=notations.mathml,
            )  # fmt: skip
        return key

    def formula(self, index: int) -> Formula | None:
        """Return the formula of a step in the names of the user's program; None if its rule has none."""
        if self.table.rules[self.table.names[index]].text is None:
            return None
        step = self.history.steps[index]
        rule, reads = step.contribution.rule, self.reads(step)
        symbols, constants = self._spelling(step)
        _, place = _input_of_rule(step)
        use = rule, place, reads, self._upstream(step), symbols, constants, step.contribution
        return self._remember(rule, reads, formulas.step_signature(*use), lambda: formulas.formula_of_step(*use))

    def _remember(self, rule: CoreRule, reads: dict[str, Any], signature: Any, write: Callable[[], Any]) -> Any:
        """Return the formula of a signature: one written before, in this record or in any, or what `write` returns."""
        shared = formulas.is_same_in_every_record(rule, reads)
        memory = formulas.SHARED_FORMULAS if shared else self._formulas
        if signature not in memory:
            if shared and len(memory) >= formulas.MOST_SHARED:
                memory.clear()
            memory[signature] = write()
        return memory[signature]

    def _spelling(self, step: AppliedRule) -> tuple[dict[str, str], dict[str, Any]]:
        """Return how a step's formula spells what its rule read: symbols by name, and constants by name.

        The symbols are the user's names. An operation's own letter serves for a value without a name, if no value of
        the user's has that name.
        """
        symbols: dict[str, str] = {}
        constants: dict[str, Any] = {}
        for name, parent in self.outline.inputs(step.node):
            if isinstance(parent, Number):
                constants[name] = array_of(parent)
                continue
            node = self.outline.ids.get(id(parent))
            if node is not None and (symbol := self.names.symbol_in_formula(name, node)):
                symbols[name] = symbol
        if symbol := self.names.symbol_in_formula("out", self.outline.ids[id(step.node)]):
            symbols["out"] = symbol
        return symbols, constants


def _input_of_rule(step: AppliedRule) -> tuple[str, int]:
    """Return the name of the input that a rule serves, and its index: among the parts of a list, or the rule's
    inputs."""
    rule, index = step.contribution.rule, step.contribution.index
    if rule.op.kind == "variadic":
        return rule.inputs[0], index
    name = rule.op.inputs[index]
    return name, rule.inputs.index(name)
