"""A walk worked out on paper, as Markdown or LaTeX: the values, then every step with its formula and its numbers.

Every equation holds as it is printed: where a digit was left out stands ≈. What the record says is text, never markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from operator import add

from .. import cells, formula, words
from ..payload import failure
from ..source import Trace
from ..walks import left_behind, starts, walks_of
from . import cards, latex
from .told import Telling

MOST_STEPS = 100
"""A solution has at most so many steps; it says which are left out."""
MOST_VALUES = 150


class Markdown:
    """Text for JupyterLab, GitHub and other readers of Markdown with mathematics."""

    head = tail = ""

    def text(self, said: str) -> str:
        """Plain words."""
        escaped = re.sub(r"([\\`*_{}#|~])", r"\\\1", escape(words.spaced(said), quote=False))
        return escaped.translate({ord(sign): f"&#{ord(sign)};" for sign in "[]$"})

    def title(self, said: str, level: int) -> str:
        """A heading."""
        return f"{'#' * level} {self.text(said)}"

    def formula(self, *codes: str) -> str:
        """Formulas on lines of their own."""
        return "\n".join(f"$$\n{code}\n$$" for code in codes)

    def inline(self, code: str) -> str:
        """A formula within a line."""
        return f"${code}$"

    def code(self, said: str) -> str:
        """A line of the program."""
        fence = "`" * (1 + max(map(len, re.findall("`+", said)), default=0))
        return f"{fence} {said} {fence}" if "`" in said else f"`{said}`"

    def table(self, heads: list[str], rows: list[list[str]]) -> str:
        """Rows of cells, which are written already."""
        lines = [heads, ["---"] * len(heads), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Tex:
    """A LaTeX document."""

    head = (
        "\\documentclass{article}\n\\usepackage[a4paper,margin=25mm]{geometry}\n\\usepackage{amsmath,amssymb,longtable}\n"
        "\\usepackage{iftex}\n\\ifPDFTeX\\usepackage[utf8]{inputenc}\\usepackage[T1]{fontenc}\\else"
        "\\usepackage{fontspec}\\fi\n\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{6pt}\n\\begin{document}\n"
    )
    tail = "\n\\end{document}\n"

    def text(self, said: str) -> str:
        """Plain words; signs of mathematics in mathematics."""
        parts = re.split(f"([{''.join(latex.GREEK)}≈×∂→−≠≤≥√∑∞])", words.spaced(said))
        signs = latex.SIGNS | {letter: rf"\{name}" for letter, name in latex.GREEK.items()}
        return "".join(f"${signs[part]}$" if k % 2 else latex.words(part).replace("<", "\\textless{}").replace(
            ">", "\\textgreater{}").replace("|", "\\textbar{}") for k, part in enumerate(parts))  # fmt: skip

    def title(self, said: str, level: int) -> str:
        """A heading."""
        kind = ("section", "subsection", "subsubsection")[level - 1]
        return rf"\{kind}*{{{self.text(said)}}}"

    def formula(self, *codes: str) -> str:
        """Formulas on lines of their own."""
        return "\n".join(f"\\[\n{code}\n\\]" for code in codes)

    def inline(self, code: str) -> str:
        """A formula within a line."""
        return f"${code}$"

    def code(self, said: str) -> str:
        """A line of the program."""
        return rf"\texttt{{{self.text(said)}}}"

    def table(self, heads: list[str], rows: list[list[str]]) -> str:
        """Rows of cells, which are written already."""
        lines = "\n".join(f"{' & '.join(row)} \\\\" for row in rows)
        columns = "l" * len(heads)
        return f"\\begin{{longtable}}{{{columns}}}\n{' & '.join(heads)} \\\\ \\hline\n{lines}\n\\end{{longtable}}"


def written(trace: Trace, suffix: str, title: str | None = None, steps: Iterable[int] | None = None) -> str:
    """The walk worked out, as `.md` or `.tex`; of a long one some steps, and a sentence about the others."""
    marks = Tex() if suffix == ".tex" else Markdown()
    first, count = trace["first"], len(trace["steps"])
    chosen = sorted(set(range(first + 1, first + count + 1) if steps is None else steps) - {first})
    if unknown := [k for k in chosen if not first < k <= first + count]:
        raise ValueError(f"there is no step {unknown[0]}: steps are numbered {first + 1} to {first + count}")
    paper = _Paper(trace, marks)
    shown = chosen[:MOST_STEPS]
    parts = [marks.title(title or "A walk, worked out", 1), marks.text(words.summary(trace) + ".")]
    parts += [marks.title("The values", 2), *paper.values([k - first - 1 for k in shown])]
    for number, walk in enumerate(walks := walks_of(trace)):
        here = [k for k in shown if walk.at < k - first <= walk.stop]
        if here or not shown:
            of = f", {number + 1} of {len(walks)}" if len(walks) > 1 else ""
            parts += [marks.title(f"The walk {walk.way}{of}", 2), *paper.start(number)]
        for k in here:
            parts += paper.step(k - first - 1)
    parts += paper.cut(shown, trace["total"])
    if (error := failure(trace)) and shown[-1:] == [first + count]:
        parts += [marks.title("Here it ends", 2), marks.text(f"{error['say']} {error['kind']}: {error['text']}")]
    if shown[-1:] == [trace["total"]]:
        parts += paper.end()
    return marks.head + "\n\n".join(parts) + ("\n" if not marks.tail else marks.tail)


class _Paper:
    """A trace and the marks it is written down with."""

    def __init__(self, trace: Trace, marks: Markdown | Tex) -> None:
        self.trace, self.marks = trace, marks
        self.telling = Telling(trace)
        self.sentences, self.ways = words.sentences(trace), words.ways(trace)

    def values(self, steps: list[int]) -> list[str]:
        """A table of the nodes that the steps concern: what each is made of, and its value."""
        concerned = {node for i in steps for node in self.ways[i][1:]}
        whole = len(steps) == len(self.trace["steps"]) and len(self.trace["nodes"]) <= MOST_VALUES
        nodes = [node for node in self.trace["nodes"] if whole or node["id"] in concerned]
        rows = [[self.marks.text(self.telling.called[node["id"]]), self._made(node), self._brief(node["value"])]
                for node in nodes]  # fmt: skip
        return [self.marks.table(["name", "made of", "value"], rows)]

    def _made(self, node: Trace) -> str:
        if node["kind"] == "leaf":
            return "an input" if node["requires_grad"] else "a constant"
        inputs = [self.telling.called[each["node"]] for each in node["inputs"]]
        called = node.get("called") or node["op"] or node["kind"]
        return self.marks.text(f"{called} of {words.listed(inputs)}" if inputs else called)

    def start(self, number: int) -> list[str]:
        """What a walk starts with."""
        walk, begins = walks_of(self.trace)[number], starts(self.trace)[number]
        at = [walk.root] if walk.direction == "backward" else sorted(begins)
        return [self.marks.text(f"It starts at {self.telling.called[node]}, whose {walk.word} is")
                + f" {self._brief(begins[node])}." for node in at
                if node is not None and begins.get(node) is not None]  # fmt: skip

    def step(self, i: int) -> list[str]:
        """A step: its sentence, the line it comes from, its formula, the same with numbers, what adds up."""
        step, marks = self.trace["steps"][i], self.marks
        sentence = self.sentences[i]
        head, _, rest = sentence.partition(". ")
        parts = [marks.title(head, 3), marks.text(rest)]
        site = self.trace["nodes"][step["node"]]["site"]
        if site and site["text"]:
            place = marks.text(f"{site['file']}, line {site['line']}:")
            parts.append(f"{place} {marks.code(words.spaced(site['text']))}")
        general = formula.of_step(self.trace, step)
        if general:
            names = self.telling.names(step, general)
            parts.append(marks.formula(*latex.formulas(general, names)))
            filled = formula.with_numbers(self.trace, step)
            if filled:
                parts.append(marks.formula(*latex.formulas(filled, names)))
        return [*parts, *self._held(i)]

    def _held(self, i: int) -> list[str]:
        """before + contribution = after, where something was there before."""
        step = self.trace["steps"][i]
        if not step["accumulates"]:
            return []
        before, sent, after = (self._value(step[word]) for word in ("before", "contribution", "after"))
        to = self.telling.called[self.ways[i][2]]
        had, added = self._symbol(before, "before"), self._symbol(sent, "contribution")
        if sent and cards.is_scalar(sent) and (cards.is_complex(sent) or added.startswith("-")):
            added = rf"\left( {added} \right)"
        equal = latex.SIGNS.get(cards.makes(add, before, sent, after), "=")
        added = f"{had} + {added} {equal} {self._symbol(after, 'after')}"
        return [self.marks.text(f"What {to} had, and what arrives:"), self.marks.formula(added)]

    def cut(self, shown: list[int], count: int) -> list[str]:
        """The sentence about steps that are left out."""
        left = count - len(shown)
        if not left:
            return []
        following = (shown[-1] if shown else 0) + 1
        until = min(count, following + MOST_STEPS - 1) + 1
        more = f"; steps=range({following}, {until}) has the next ones" if following <= count else ""
        return [self.marks.text(f"Of {count} steps, {len(shown)} are worked out here{more}.")]

    def end(self) -> list[str]:
        """What the walk leaves behind."""
        word, left = left_behind(self.trace)
        rows = [[self.marks.text(self.telling.called[node]), self._brief(place)]
                for node, place in left if place is not None]  # fmt: skip
        title = self.marks.title(f"Every {word} it leaves behind", 2)
        return [title, self.marks.table(["name", word], rows)] if rows else []

    def _value(self, place: int | None) -> Trace | None:
        return None if place is None else cells.one(self.trace["values"][place])

    def _symbol(self, value: Trace | None, name: str) -> str:
        """A value in a formula: a number, a matrix, or its name with its shape below."""
        return rf"\text{{{name}}}" if value is None else latex.element(formula.symbol(value, name, 3))

    def _brief(self, place: int | None) -> str:
        """A value in a table: its number, few numbers in brackets, or its shape and its norm."""
        value = self._value(place)
        if value and value["data"] and len(value["data"]) <= 12 and len(value["shape"]) <= 2:
            return self.marks.inline(latex.element(formula.symbol(value, "", 12)))
        return self.marks.text(words.in_brief(self.trace, place))
