"""Worked solutions as Markdown or LaTeX: the values, then every step with its formula and numbers.

Each equation is true as printed, with ≈ if a number is rounded. Text from the trace is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from operator import add

from .. import cells, formula, words
from ..payload import failure
from ..trace_input import Trace
from ..walks import final_values, values_at_start, walks_of
from . import equations, formula_latex

MOST_STEPS = 100
"""Maximum number of steps in a solution, which lists the omitted ones."""
MOST_VALUES = 150


class Markdown:
    """Markdown with mathematics, as JupyterLab and GitHub read it."""

    head = tail = ""

    def text(self, text: str) -> str:
        """Return plain text."""
        escaped = re.sub(r"([\\`*_{}#|~])", r"\\\1", escape(words.single_line(text), quote=False))
        return escaped.translate({ord(sign): f"&#{ord(sign)};" for sign in "[]$"})

    def title(self, text: str, level: int) -> str:
        """Return a heading."""
        return f"{'#' * level} {self.text(text)}"

    def formula(self, *codes: str) -> str:
        """Return displayed formulas."""
        return "\n".join(f"$$\n{code}\n$$" for code in codes)

    def inline(self, code: str) -> str:
        """Return an inline formula."""
        return f"${code}$"

    def code(self, text: str) -> str:
        """Return a source line."""
        fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"

    def table(self, heads: list[str], rows: list[list[str]]) -> str:
        """Return a table of cells that are already formatted."""
        lines = [heads, ["---"] * len(heads), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Tex:
    """LaTeX document."""

    head = (
        "\\documentclass{article}\n\\usepackage[a4paper,margin=25mm]{geometry}\n\\usepackage{amsmath,amssymb,longtable}\n"
        "\\usepackage{iftex}\n\\ifPDFTeX\\usepackage[utf8]{inputenc}\\usepackage[T1]{fontenc}\\else"
        "\\usepackage{fontspec}\\fi\n\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{6pt}\n\\begin{document}\n"
    )
    tail = "\n\\end{document}\n"

    def text(self, text: str) -> str:
        """Return plain text, with mathematical signs in math mode."""
        parts = re.split(f"([{''.join(formula_latex.GREEK)}≈×∂→−≠≤≥√∑∞])", words.single_line(text))
        signs = formula_latex.SIGNS | {letter: rf"\{name}" for letter, name in formula_latex.GREEK.items()}
        return "".join(f"${signs[part]}$" if k % 2 else formula_latex.words(part).replace("<", "\\textless{}").replace(
            ">", "\\textgreater{}").replace("|", "\\textbar{}") for k, part in enumerate(parts))  # fmt: skip

    def title(self, text: str, level: int) -> str:
        """Return a heading."""
        kind = ("section", "subsection", "subsubsection")[level - 1]
        return rf"\{kind}*{{{self.text(text)}}}"

    def formula(self, *codes: str) -> str:
        """Return displayed formulas."""
        return "\n".join(f"\\[\n{code}\n\\]" for code in codes)

    def inline(self, code: str) -> str:
        """Return an inline formula."""
        return f"${code}$"

    def code(self, text: str) -> str:
        """Return a source line."""
        return rf"\texttt{{{self.text(text)}}}"

    def table(self, heads: list[str], rows: list[list[str]]) -> str:
        """Return a table of cells that are already formatted."""
        lines = "\n".join(f"{' & '.join(row)} \\\\" for row in rows)
        columns = "l" * len(heads)
        return f"\\begin{{longtable}}{{{columns}}}\n{' & '.join(heads)} \\\\ \\hline\n{lines}\n\\end{{longtable}}"


def write_solution(trace: Trace, suffix: str, title: str | None = None, steps: Iterable[int] | None = None) -> str:
    """Return the worked solution of a walk as `.md` or `.tex`, with a sentence about omitted steps."""
    marks = Tex() if suffix == ".tex" else Markdown()
    first, count = trace["first"], len(trace["steps"])
    chosen = sorted(set(range(first + 1, first + count + 1) if steps is None else steps) - {first})
    if unknown := [k for k in chosen if not first < k <= first + count]:
        raise ValueError(f"there is no step {unknown[0]}: steps are numbered {first + 1} to {first + count}")
    paper = _Paper(trace, marks)
    included = chosen[:MOST_STEPS]
    parts = [marks.title(title or "A walk, worked out", 1), marks.text(words.summary(trace) + ".")]
    parts += [marks.title("The values", 2), *paper.values([k - first - 1 for k in included])]
    for number, walk in enumerate(walks := walks_of(trace)):
        here = [k for k in included if walk.at < k - first <= walk.stop]
        if here or not included:
            of = f", {number + 1} of {len(walks)}" if len(walks) > 1 else ""
            parts += [marks.title(f"The walk {walk.way}{of}", 2), *paper.start(number)]
        for k in here:
            parts += paper.step(k - first - 1)
    parts += paper.omitted_steps(included, trace["total"])
    if (error := failure(trace)) and included[-1:] == [first + count]:
        parts += [marks.title("Here it ends", 2), marks.text(f"{error['say']} {error['kind']}: {error['text']}")]
    if included[-1:] == [trace["total"]]:
        parts += paper.end()
    return marks.head + "\n\n".join(parts) + ("\n" if not marks.tail else marks.tail)


class _Paper:
    """Trace with the markup of its solution."""

    def __init__(self, trace: Trace, marks: Markdown | Tex) -> None:
        self.trace, self.marks = trace, marks
        self.node_names = words.names(trace)
        self.sentences, self.step_edges = words.sentences(trace), words.step_edges(trace)

    def values(self, steps: list[int]) -> list[str]:
        """Return a table of the nodes in some steps: their inputs and their values."""
        shown_nodes = {node for i in steps for node in self.step_edges[i][1:]}
        shows_all = len(steps) == len(self.trace["steps"]) and len(self.trace["nodes"]) <= MOST_VALUES
        nodes = [node for node in self.trace["nodes"] if shows_all or node["id"] in shown_nodes]
        names = self.node_names
        rows = [[self.marks.text(names[node["id"]]), self._expression(node), self._brief(node["value"])]
                for node in nodes]  # fmt: skip
        return [self.marks.table(["name", "made of", "value"], rows)]

    def _expression(self, node: Trace) -> str:
        if node["kind"] == "leaf":
            return "an input" if node["requires_grad"] else "a constant"
        inputs = [self.node_names[each["node"]] for each in node["inputs"]]
        node_names = node["called"] or node["op"] or node["kind"]
        return self.marks.text(f"{node_names} of {words.join_words(inputs)}" if inputs else node_names)

    def start(self, number: int) -> list[str]:
        """Return the start of a walk."""
        walk, begins = walks_of(self.trace)[number], values_at_start(self.trace)[number]
        at = [walk.root] if walk.direction == "backward" else sorted(begins)
        return [self.marks.text(f"It starts at {self.node_names[node]}, whose {walk.word} is")
                + f" {self._brief(begins[node])}." for node in at
                if node is not None and begins.get(node) is not None]  # fmt: skip

    def step(self, i: int) -> list[str]:
        """Return a step: its sentence, source line, formula, numbers and sum."""
        step, marks = self.trace["steps"][i], self.marks
        sentence = self.sentences[i]
        head, _, rest = sentence.partition(". ")
        parts = [marks.title(head, 3), marks.text(rest)]
        site = self.trace["nodes"][step["node"]]["site"]
        if site and site["text"]:
            place = marks.text(f"{site['file']}, line {site['line']}:")
            parts.append(f"{place} {marks.code(words.single_line(site['text']))}")
        general = formula.step_with_symbols(self.trace, step)
        if general:
            names = words.names_of_symbols(self.trace, step, general)
            parts.append(marks.formula(*formula_latex.formulas(general, names)))
            filled = formula.with_numbers(self.trace, step)
            if filled:
                parts.append(marks.formula(*formula_latex.formulas(filled, names)))
        return [*parts, *self._accumulation(i)]

    def _accumulation(self, i: int) -> list[str]:
        """Return before + contribution = after, if there was an earlier value."""
        step = self.trace["steps"][i]
        if not step["accumulates"]:
            return []
        before, contribution, after = (self._value(step[word]) for word in ("before", "contribution", "after"))
        to = self.node_names[self.step_edges[i][2]]
        had, added = self._symbol(before, "before"), self._symbol(contribution, "contribution")
        if (
            contribution
            and equations.is_scalar(contribution)
            and (equations.is_complex(contribution) or added.startswith("-"))
        ):
            added = rf"\left( {added} \right)"
        equal = formula_latex.SIGNS.get(equations.result_sign(add, before, contribution, after), "=")
        added = f"{had} + {added} {equal} {self._symbol(after, 'after')}"
        return [self.marks.text(f"What {to} had, plus what arrives:"), self.marks.formula(added)]

    def omitted_steps(self, included: list[int], count: int) -> list[str]:
        """Return a sentence about omitted steps."""
        left = count - len(included)
        if not left:
            return []
        following = (included[-1] if included else 0) + 1
        until = min(count, following + MOST_STEPS - 1) + 1
        more = f"; steps=range({following}, {until}) has the next ones" if following <= count else ""
        return [self.marks.text(f"{len(included)} of {count} steps are worked out here{more}.")]

    def end(self) -> list[str]:
        """Return the results of the walk."""
        word, left = final_values(self.trace)
        rows = [[self.marks.text(self.node_names[node]), self._brief(place)]
                for node, place in left if place is not None]  # fmt: skip
        title = self.marks.title(f"Every {word} it leaves", 2)
        return [title, self.marks.table(["name", word], rows)] if rows else []

    def _value(self, place: int | None) -> Trace | None:
        return None if place is None else cells.page_value(self.trace["values"][place])

    def _symbol(self, value: Trace | None, name: str) -> str:
        """Return a value in a formula: a number, a matrix, or its name with the shape below."""
        return rf"\text{{{name}}}" if value is None else formula_latex.element(formula.value_element(value, name, 3))

    def _brief(self, place: int | None) -> str:
        """Return a value in a table: its number, a few numbers in brackets, or its shape and norm."""
        value = self._value(place)
        if value and value["data"] and len(value["data"]) <= 12 and len(value["shape"]) <= 2:
            return self.marks.inline(formula_latex.element(formula.value_element(value, "", 12)))
        return self.marks.text(words.in_brief(self.trace, place))
