"""Rules of a trace, and the formula of each step in the names of the user's program."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from ..core.rule import Rule as CoreRule
from ..core.runtime.recorders import Push
from ..core.variable import is_complex
from . import formulas
from .events import AppliedRule
from .formulas import BY_LETTER, Memory, RuleRun, Spelling
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


class LastRun(NamedTuple):
    """The last run of a rule, what it was made from, and the memory of its formulas."""

    source: tuple[Any, ...]
    run: RuleRun
    memory: Memory
    token: object


class Rules:
    """The rules that were applied in a record, and the formulas of its steps."""

    def __init__(self, history: History, outline: Outline, names: NodeNames):
        self.history, self.outline, self.names = history, outline, names
        self._formulas = Memory()
        self._last_runs: dict[bool, LastRun] = {}
        self._last_spelling: tuple[Any, Spelling] = None, BY_LETTER

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

    def _run(self, step: AppliedRule, *, by_letter: bool = False) -> LastRun:
        """Return the run of the rule that a step belongs to: the last one, for the next step of the same run."""
        rule, reads = step.contribution.rule, step.contribution.reads
        source = step.node, rule, reads, step.upstream
        last = self._last_runs.get(by_letter)
        if last is None or any(one is not other for one, other in zip(last.source, source, strict=True)):
            by = BY_LETTER if by_letter else self._spelling(step.node)
            run = RuleRun(rule, self.reads(step), self._upstream(step), by)
            memory = formulas.SHARED_FORMULAS if run.is_same_in_every_record else self._formulas
            last = self._last_runs[by_letter] = LastRun(source, run, memory, memory.token(run.signature))
        return last

    @cached_property
    def table(self) -> RuleTable:
        """The rules, and the name of the rule of each step.

        A rule applied with other parameters can have another formula. Comparing signatures is a thousand times faster
        than writing a formula, so each formula is written once.
        """
        rules: dict[str, Rule] = {}
        known: dict[str, dict[str | None, str]] = {}
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
                signature = self._run(step, by_letter=True).token, index
            if signature not in names:
                names[signature] = self._add_rule(rules, known, step)
            name_of_step.append(names[signature])
        return RuleTable(rules, name_of_step)

    def _add_rule(self, rules: dict[str, Rule], known: dict[str, dict[str | None, str]], step: AppliedRule) -> str:
        """Return the name of a step's rule, and add the rule if it is new. `known` has the names by formula, for each
        input of an operation."""
        rule, op = step.contribution.rule, step.contribution.rule.op
        name, index = _input_of_rule(step)
        _, run, memory, token = self._run(step, by_letter=True)
        notations, source = memory.recall(
            (token, index), lambda: (formulas.formula_of_rule(run, index), rule_source(rule.function))
        )
        base = f"{op.name}.{name}{' (forward)' if isinstance(step.contribution, Push) else ''}"
        keys = known.setdefault(base, {})
        if notations.latex not in keys:
            key = keys[notations.latex] = f"{base}#{len(keys) + 1}" if keys else base
            reads = tuple(read for read in rule.reads if read != "xp")
            rules[key] = Rule(
                op=op.name, input=name, kind=op.kind, reason=rule.reason,
                reads=("upstream", *reads) if op.kind == "elementwise" else reads,
                source=source.text, file=source.file, line=source.line,
                text=notations.text, latex=notations.latex, mathml=notations.mathml,
            )  # fmt: skip
        return keys[notations.latex]

    def formula(self, index: int) -> Formula | None:
        """Return the formula of a step in the names of the user's program; None if its rule has none."""
        if self.table.rules[self.table.names[index]].text is None:
            return None
        step = self.history.steps[index]
        _, place = _input_of_rule(step)
        _, run, memory, token = self._run(step)
        key = token, place, formulas.kind_of_contribution(step.contribution)
        return memory.recall(key, lambda: formulas.formula_of_step(run, place, step.contribution))

    def _spelling(self, node: Any) -> Spelling:
        """Return how the formulas of a node's steps spell what the rules read: the last spelling, for the same node.

        The symbols are the user's names. An operation's own letter serves for a value without a name, if no value of
        the user's has that name.
        """
        last, spelling = self._last_spelling
        if last is node:
            return spelling
        symbols: dict[str, str] = {}
        constants: dict[str, Any] = {}
        for name, parent in self.outline.inputs(node):
            if isinstance(parent, Number):
                constants[name] = array_of(parent)
                continue
            number = self.outline.ids.get(id(parent))
            if number is not None and (symbol := self.names.symbol_in_formula(name, number)):
                symbols[name] = symbol
        if symbol := self.names.symbol_in_formula("out", self.outline.ids[id(node)]):
            symbols["out"] = symbol
        spelling = formulas.spelling_of_step(node.op, symbols, constants)
        self._last_spelling = node, spelling
        return spelling


def _input_of_rule(step: AppliedRule) -> tuple[str, int]:
    """Return the name of the input that a rule serves, and its index: among the parts of a list, or the rule's
    inputs."""
    rule, index = step.contribution.rule, step.contribution.index
    if rule.op.kind == "variadic":
        return rule.inputs[0], index
    name = rule.op.inputs[index]
    return name, rule.inputs.index(name)
