"""Text about a trace: node names, short values, a sentence for each step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from html import unescape
from typing import Any
from unicodedata import east_asian_width

from . import journal
from .digits import MINUS, number
from .trace_input import Trace

MOST_SOURCES = 4
"""How many outputs a sentence names; of more it names two."""


VARIABLE, PART = re.compile(r"[^.\[]+"), re.compile(r"\w+\[\d+\]")
TOTAL = re.compile(r"(?:sum|(?:functools\.)?reduce|(?:math\.)?prod)\(")
"""A call of Python's that makes a value of several operations."""


def single_line(text: str) -> str:
    """Return a text on one line, without the control characters that SVG and HTML forbid."""
    printable = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())


def truncate(text: str, longest: int) -> str:
    """Cut a text to at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def breadth(text: str) -> float:
    """Estimate the width of a line in digits, rounded up."""
    return sum(map(_breadth, text))


@cache
def _breadth(c: str) -> float:
    return 2 if east_asian_width(c) in "WF" else 1.7 if c in "MWmw@%" else 1.4 if c.isupper() else 1


def names(trace: Trace) -> list[str]:
    """Return a name for every node. A constant without a name is called by its value."""
    return [_constant(trace, node) or single_line(node["title"]) for node in trace["nodes"]]


def _constant(trace: Trace, node: Trace) -> str | None:
    """Return the value of a constant as its name; None for any other node."""
    return scalar(trace, node["value"]) if is_constant(trace, node) else None


def is_constant(trace: Trace, node: Trace) -> bool:
    """Return whether a node is a number that the program has no name for. A `Value` that wraps one is called by it."""
    if node["kind"] != "leaf" or node["label"] or scalar(trace, node["value"]) is None:
        return False
    with suppress(ValueError):
        return not node["requires_grad"] or complex(node["name"]) is not None
    return False


def program_names(trace: Trace) -> list[str | None]:
    """Return the name that the program gives to each node's value, or None."""
    return [node["label"] and single_line(node["label"]) for node in trace["nodes"]]


def variables(trace: Trace) -> list[str | None]:
    """Return the variable of the program that each node's value is, or None.

    A tuple has no value: its parts are variables. A sum is one once it is whole, not after each addition.
    """
    called, nodes = program_names(trace), trace["nodes"]
    for node in nodes:
        name = called[node["id"]] or ""
        is_part = node["kind"] == "output" and PART.fullmatch(name)
        if node["value"] is None or not (is_part or VARIABLE.fullmatch(name)):
            called[node["id"]] = None
    for start, end, _ in edges(trace):
        site = nodes[start]["site"]
        is_same = called[start] and called[start] == called[end] and site and site == nodes[end]["site"]
        if is_same and TOTAL.match(site["text"] or "", site["column"] or 0):
            called[start] = None
    return called


def program_terms(trace: Trace) -> list[str | None]:
    """Return what the program writes for each node's value: its name, or the expression that computes it, or None.

    An operation has parentheses, so that a formula can use it.
    """
    return [
        label or (None if node["expression"] is None else factor(single_line(node["expression"])))
        for label, node in zip(program_names(trace), trace["nodes"], strict=True)
    ]


def numbered_terms(trace: Trace) -> list[str | None]:
    """Return what the program writes for each node's value, with the number that the graph gives to equal names."""
    terms = program_terms(trace)
    for i, (term, node) in enumerate(zip(terms, trace["nodes"], strict=True)):
        if term and " #" in node["title"]:
            written, title = single_line(node["label"] or node["expression"]), single_line(node["title"])
            terms[i] = term + title.removeprefix(written) if title.startswith(f"{written} #") else term
    return terms


def factor(expression: str) -> str:
    """Return an expression with parentheses if it is an operation: `(x @ w)`, `(-x)`, but `mg.sin(x * y)`."""
    depth = 0
    for at, letter in enumerate(expression):
        depth += (letter in "([{") - (letter in ")]}")
        is_sign = letter in "+-*/@%<>=&|^~" and (letter, expression[at - 1 : at]) not in (("-", "e"), ("+", "e"))
        if depth == 0 and is_sign:
            return f"({expression})"
    return expression


def scalar(trace: Trace, place: int | None) -> str | None:
    """Return the only number of a value as text, or None if it has several or was not recorded."""
    value = None if place is None else trace["values"][place]
    return number(value["data"][0]) if value and value["data"] and len(value["data"]) == 1 else None


def shape(value: dict[str, Any]) -> str:
    """Return a shape as Python prints it."""
    return str(tuple(value["shape"]))


def not_finite(value: Trace) -> str | None:
    """Return "nan" or "inf" if a value has such an entry, else None. Only the recorded entries of a value that does not
    count them are known."""
    if "nan" in value:
        return "nan" if value["nan"] else "inf" if value["inf"] else None
    data = value["data"] or (value["thumbnail"] or {"data": []})["data"]
    entries = [part for entry in data for part in (entry if isinstance(entry, list) else [entry])]
    names = {entry for entry in entries if isinstance(entry, str)}
    return "nan" if "nan" in names else "inf" if names & {"inf", "-inf"} else None


def norm(value: Trace) -> str | None:
    """Return the norm of an array as text, or None if it is empty.

    Unlike the trace's statistics, it includes entries that are not finite, so that a broken gradient is visible.
    """
    return not_finite(value) or (number(value["statistics"]["norm"]) if value["statistics"] else None)


def in_brief(trace: Trace, place: int | None) -> str:
    """Return a short text for a value: its number, or its shape and norm."""
    if place is None:
        return "a value that was not recorded"
    value = trace["values"][place]
    size = norm(value)
    return scalar(trace, place) or f"a {shape(value)} array" + (f" of norm {size}" if size else "")


def edges(trace: Trace) -> list[tuple[int, int, str]]:
    """Return every edge as (from, to, input name), ordered by node and input."""
    return [(e["node"], n["id"], e["name"]) for n in trace["nodes"] for e in n["inputs"]]


def step_edges(trace: Trace) -> list[tuple[int, int, int]]:
    """Return for every step the edge it uses, the node that sends and the node that receives.

    A backward step goes from an application to its input. A forward step goes from an input to the application, or to
    one of its outputs.
    """
    place = {(to, name): (i, start) for i, (start, to, name) in enumerate(edges(trace))}
    edges_taken = []
    for step in trace["steps"]:
        edge, start = place[step["node"], step["input"]]
        edges_taken.append((edge, step["node"], start) if is_back(trace, step) else (edge, start, step["target"]))
    return edges_taken


def is_back(trace: Trace, step: Trace) -> bool:
    """Return whether a step belongs to a backward walk."""
    return trace["walks"][step["walk"]]["direction"] == "backward"


def output_links(trace: Trace) -> list[list[int]]:
    """Return for every step the edges between an application and its outputs that are passed just before it.

    These edges have no rule. In a backward walk, the values of all outputs pass to the application before its first
    rule; in a forward walk, each result passes on to its output.
    """
    links = edges(trace)
    outputs = [(edge, *link[:2]) for edge, link in enumerate(links) if trace["nodes"][link[1]]["kind"] == "output"]
    passed, at = [], 0
    edges_taken = step_edges(trace)
    while at < len(edges_taken):
        here = trace["steps"][at]["walk"]
        back = is_back(trace, trace["steps"][at])
        stop = next(
            (i for i in range(at, len(edges_taken)) if trace["steps"][i]["walk"] != here), len(edges_taken)
        )
        if not back:
            leads = {link[:2]: edge for edge, link in enumerate(links)}
            goes_on = [(step["node"], step["target"]) for step in trace["steps"][at:stop]]
            passed += [[leads[way]] if way in leads else [] for way in goes_on]
            at = stop
            continue
        arrived = {trace["walks"][here]["root"]} | {end for _, _, end in edges_taken[at:stop]}
        waiting: dict[int, list[int]] = {}
        for edge, start, end in outputs:
            if end in arrived:
                waiting.setdefault(start, []).append(edge)
        passed += [waiting.pop(start, []) for _, start, _ in edges_taken[at:stop]]
        at = stop
    return passed


def upstreams(step: Trace) -> dict[str, int | None]:
    """Return the upstream values that a rule read, by name: one for each output that received a value."""
    several = {name: place for name, place in step["reads"].items() if name.startswith("upstream[")}
    return several or {"upstream": step["upstream"]}


def sentences(trace: Trace) -> list[str]:
    """Return a complete sentence for every step, for captions, screen readers and quizzes."""
    node_names, count, at = names(trace), trace["total"], trace["first"]
    links, result = edges(trace), []
    walks = trace["walks"]
    differ = len({walk["direction"] for walk in walks}) > 1
    changed_by_hook = _steps_after_hook(trace)
    around = _changes_around_steps(trace, node_names)
    for step, (_, start, end), passed in zip(trace["steps"], step_edges(trace), output_links(trace), strict=True):
        back = is_back(trace, step)
        word = "gradient" if back else "tangent"
        sender = node_names[start] + (_arrival_phrase(node_names, [links[edge] for edge in passed]) if back else "")
        if len(result) in changed_by_hook:
            sender += f", whose gradient a hook changed to {in_brief(trace, step['upstream'])},"
        if is_walk(trace["rules"][step["rule"]]):
            sender += ", by the walk inside it,"
        summed = f", summed over {axes(step)}," if step["summed_axes"] else ""
        accumulator = (
            _accumulator_phrase(trace, step, word) if step["accumulates"] else f", the first {word} to arrive there."
        )
        contribution = in_brief(trace, step["contribution"])
        receiver = "the number " * is_constant(trace, trace["nodes"][end]) + node_names[end]
        walk = f", walk {step['walk'] + 1} of {len(walks)}" if len(walks) > 1 else ""
        walk += f", {walks[step['walk']]['direction']}" if differ else ""
        number = at + len(result) + 1
        result.append(
            f"Step {number} of {count}{walk}. {sender} sends {contribution}{summed} to {receiver}{accumulator}"
            f"{around.get(len(result), '')}"
        )
    return result


def is_walk(rule: Trace) -> bool:
    """Return whether an operation has no rule, so that the walk inside it computes the gradient."""
    return list(rule.get("reads", ())) == ["upstream", "inside"]


def _steps_after_hook(trace: Trace) -> set[int]:
    """Return the steps before which a hook changed the sender's gradient: it sends another one than it had."""
    steps: set[int] = set()
    arrived: dict[int, int | None] = {}
    number = None
    for i, (step, (_, start, end)) in enumerate(zip(trace["steps"], step_edges(trace), strict=True)):
        if step["walk"] != number:
            number, walk = step["walk"], trace["walks"][step["walk"]]
            arrived = {} if walk["root"] is None else {walk["root"]: walk["seed"]}
        if is_back(trace, step):
            places = arrived.get(start), step["upstream"]
            if None not in places and values_differ(trace, *places):
                steps.add(i)
            arrived[start], arrived[end] = step["upstream"], step["after"]
    return steps


def values_differ(trace: Trace, one: int | None, other: int | None) -> bool:
    """Return whether two values differ by more than rounding."""
    if one == other or one is None or other is None:
        return one != other
    a, b = (trace["values"][place]["data"] for place in (one, other))
    if not a or not b or len(a) != len(b):
        return trace["values"][one]["statistics"] != trace["values"][other]["statistics"]
    return any(
        x != y and not (isinstance(x, float) and isinstance(y, float) and abs(x - y) <= 1e-12 * max(abs(x), abs(y)))
        for x, y in zip(a, b, strict=True)
    )


def _arrival_phrase(node_names: list[str], passed: list[tuple[int, int, str]]) -> str:
    """Return a phrase about the outputs whose gradients passed to the sender before a step."""
    if not passed:
        return ""
    sources = [node_names[end] for _, end, _ in passed]
    if len(sources) > MOST_SOURCES:
        sources = [*sources[:2], f"{len(sources) - 2} other outputs"]
    return f", where the gradient{'s' * (len(passed) > 1)} of {join_words(sources)} arrived,"


def _accumulator_phrase(trace: Trace, step: Trace, word: str) -> str:
    """Return a phrase about the receiver's value before and after, also if it was there before the walk."""
    before, after = (None if step[k] is None else trace["values"][step[k]] for k in ("before", "after"))
    earlier = " before this walk" if is_held_before(trace, step) else ""
    if before and after and scalar(trace, step["after"]) is None and norm(before) and norm(after):
        had, has = f"norm {norm(before)}", f"norm {norm(after)}"
        lead, now = f"whose {word} had", "now has"
    else:
        had, has = in_brief(trace, step["before"]), in_brief(trace, step["after"])
        lead, now = f"which {'held' if earlier else 'had'}", "now holds"
    # Digits that repeat would say that the step adds nothing.
    hides_change = had == has and before and after and _size(before) != _size(after)
    return f", {lead} {had}{earlier} and {now} {has}{', a change smaller than these digits show' * bool(hides_change)}."


def _size(value: Trace) -> float | str | None:
    """Return the number or the norm of a value that is finite."""
    if not_finite(value) or not value["statistics"]:
        return None
    return value["data"][0] if value["data"] and len(value["data"]) == 1 else value["statistics"]["norm"]


def is_held_before(trace: Trace, step: Trace) -> bool:
    """Return whether what a step adds to is what its receiver held when the walk began."""
    if not step["earlier"]:
        return False
    return not any(
        other["walk"] == step["walk"] and other["target"] == step["target"] for other in
        trace["steps"][trace["walks"][step["walk"]]["first"] - trace["first"] : step["index"] - trace["first"]]
        if trace["walks"][step["walk"]]["first"] >= trace["first"]
    )


def _changes_around_steps(trace: Trace, node_names: list[str]) -> dict[int, str]:
    """Return sentences about what the program did around the walks, and what a checkpoint would do in them, by the
    index of the step that they follow."""
    around: dict[int, str] = {}

    def tell(index: int, lead: str, entries: list[Trace]) -> None:
        brief, differ = partial(in_brief, trace), partial(values_differ, trace)
        clauses = [*journal.sentences(trace, entries, node_names, brief, differ)]
        if clauses:
            around[index] = f"{around.get(index, '')} {lead} {'; '.join(clauses)}."

    steps = trace["steps"]
    second_runs = dict(journal.second_runs(trace))
    for of, state in journal.walk_states(trace).items():
        of_walk = [i for i, step in enumerate(steps) if step["walk"] == of]
        if of_walk:
            tell(of_walk[0], "Before this walk,", state.before)
        for i in of_walk:
            tell(i, "Before this step,", second_runs.get(steps[i]["index"], []))
        whole = trace["walks"][of]["first"] + trace["walks"][of]["steps"] if trace["walks"] else 0
        if of_walk and steps[of_walk[-1]]["index"] + 1 == whole:
            tell(of_walk[-1], "At the end of the walk,", state.at_end)
    for at, error in _errors_before_end(trace, node_names):
        around[at] = f"{around.get(at, '')} {error}"
    if steps and trace["first"] + len(steps) == trace["total"] and not trace.get("has_moments"):
        tell(len(steps) - 1, "Afterwards,", journal.last_changes(trace))
    return around


def _errors_before_end(trace: Trace, node_names: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the errors of walks after which the program went on, each with the index of a step: the last one of the
    walk, or the next one of another if the walk could not begin. The page ends with the error of the last walk."""
    steps = trace["steps"]
    for at, walk in enumerate(trace["walks"][:-1]):
        if (error := walk["error"]) is None:
            continue
        where = "" if error["node"] is None else f" at {node_names[error['node']]}"
        why = f"{error['kind']}: {single_line(error['text'])}".rstrip(".")
        of_walk = [i for i, step in enumerate(steps) if step["walk"] == at]
        later = [i for i, step in enumerate(steps) if step["walk"] > at]
        if of_walk and steps[of_walk[-1]]["index"] + 1 == walk["first"] + walk["steps"]:
            yield of_walk[-1], f"The walk ends here{where}: {why}."
        elif later and not walk["steps"] and _begins_walk(trace, steps[later[0]]):
            yield later[0], f"Before this walk, another could not begin{where}: {why}."


def _begins_walk(trace: Trace, step: Trace) -> bool:
    return step["index"] == trace["walks"][step["walk"]]["first"]


def axes(step: Trace) -> str:
    """Return the axes that a step sums, for a sentence."""
    summed = step["summed_axes"]
    return ("axis " if len(summed) == 1 else "axes ") + join_words([str(axis) for axis in summed])


def join_words(texts: list[str]) -> str:
    """Join texts as in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def summed_sentence(trace: Trace, step: Trace) -> str:
    """Return a sentence about the axes that were summed."""
    raw, contribution = (
        shape(trace["values"][step[k]]) if step[k] is not None else "unknown" for k in ("raw", "contribution")
    )
    return (
        f"Broadcasting repeated the input along {axes(step)}, so raw, of shape {raw}, is summed there: "
        f"the contribution has shape {contribution}."
    )


def summary(trace: Trace) -> str:
    """Return one line about the trace: nodes, steps, and the value of the root."""
    walk = trace["walk"]
    nodes = pluralize(trace["part"]["of_nodes"] if trace["part"] else len(trace["nodes"]), "node")
    steps = pluralize(trace["total"], "step")
    walks = trace["walks"]
    if walk["root"] is None and not trace["steps"]:
        return f"Program without a walk: {nodes}"
    end = ""
    if walk["root"] is not None and len(walks) == 1:
        end = f", {names(trace)[walk['root']]} = {in_brief(trace, trace['nodes'][walk['root']]['value'])}"
    ways = join_words(list(dict.fromkeys(each["direction"] for each in walks)))
    kind = f"{len(walks)} walks {ways}" if len(walks) > 1 else f"{walk['direction'].capitalize()} walk"
    return f"{kind}: {nodes}, {steps}{end}"


def walk_error(trace: Trace) -> Trace | None:
    """Return the error that ended the last visible walk or the program, or None."""
    if trace["first"] + len(trace["steps"]) != trace["total"]:
        return None
    return (trace["walks"][-1]["error"] if trace["walks"] else None) or trace["error"]


def pluralize(count: int, word: str) -> str:
    """Return a count with its noun: `1 node`, `2 nodes`."""
    return f"{count} {word}{'s' * (count != 1)}"


def names_of_symbols(trace: Trace, step: Trace, formula: str) -> dict[str, str]:
    """Return the names of inputs, as the program or the graph has them, for symbols of a step's formula.

    These are the symbols that the formula spells as the rule does, and those whose names the graph numbers. An input
    has its name in the graph if it is a leaf, or if the rule has only a letter for it; the name of a constant is its
    number.
    """
    shown = {name: unescape(text) for name, text in re.findall(r'data-name="([^"]+)"[^>]*>([^<]+)', formula)}
    terms, node_names, known = numbered_terms(trace), names(trace), program_names(trace)

    def name_of(start: int, name: str) -> str:
        constant = _constant(trace, trace["nodes"][start])
        if term := terms[start] or constant:
            return f"({term})" if constant and term.startswith(MINUS) else term
        is_leaf = trace["nodes"][start]["kind"] == "leaf"
        return name if len(name) > 2 and name not in known and not is_leaf else node_names[start]

    inputs = [*((start, name) for start, end, name in edges(trace) if end == step["node"]), (step["node"], "out")]
    return {
        name: name_of(start, name) for start, name in inputs
        if (name == shown.get(name) and name != "out") or (terms[start] or "").startswith(f"{shown.get(name)} #")
    }  # fmt: skip


def written_symbol(name: str, shown: str, names_of_inputs: Mapping[str, str]) -> str:
    """Return a symbol of a formula with the program's name in place of the rule's, or with its number in the graph."""
    called = names_of_inputs.get(name, shown)
    return called if shown == name or called.startswith(f"{shown} #") else shown


def graph_alt(trace: Trace) -> str:
    """Return alternative text for the graph."""
    leaves = sum(n["kind"] == "leaf" for n in trace["nodes"])
    results = len(trace["nodes"]) - leaves
    return f"Graph of a program with {leaves} leaves, {results} results and {len(edges(trace))} edges"
