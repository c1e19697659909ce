"""Details of a step below its graph: the source line, the rule with its formula, the numbers."""

from __future__ import annotations

import re
from html import escape
from operator import add, mul

from .. import cells, formula, letters, walks, words
from ..graph_picture import coord
from ..trace_input import Trace
from . import formula_svg, value_cards
from .value_cards import Block

TWO_COLUMNS = 700.0
"""From this width, formula and numbers are side by side."""
TITLE = 12.5
MOST_STARTS = 6
"""Number of nodes whose start values a picture shows."""


class StepDetails:
    """Blocks of SVG with the details of each step of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.links, self.node_names = trace, words.edges(trace), words.names(trace)
        self.program_names, self.terms = words.program_names(trace), words.program_terms(trace)

    def line(self, node: int, room: float) -> Block | None:
        """Return the student's source line with the step's expression highlighted."""
        site = self.trace["nodes"][node]["site"]
        if not site or not site["text"]:
            return None
        head = "Your line"
        where = letters.clip_to_width(words.single_line(f"{site['file']}, line {site['line']}"), TITLE, room * 0.45)
        left = letters.width(head, TITLE, bold=True) + 8
        svg = value_cards.text(head, 0, 13, "title") + value_cards.text(where, left, 13, "soft")
        left += letters.width(where, TITLE) + 14
        text, column, stop = site["text"], site["column"], site["end_column"]
        indent = len(text) - len(text.lstrip())
        if column is None or site["end_line"] != site["line"]:
            parts = ["", text.strip(), ""]
        else:
            parts = [text[indent:column], text[column:stop], text[stop:].rstrip()]
        for k, part in enumerate(parts):
            content = letters.clip_to_width(
                "".join(c if c.isprintable() else " " for c in part), 13, max(0.0, room - left)
            )
            wide = letters.width(content, 13)
            if k == 1 and column is not None:
                svg += (
                    f'<rect class="mark" x="{coord(left - 1)}" y="0" width="{coord(wide + 2)}" height="18" rx="2"/>'
                )
            svg += (
                f'<text xml:space="preserve" x="{coord(left)}" y="13" font-size="13"'
                f"{letters.fixed_width(content, 13)}>{escape(content)}</text>"
            )
            left += wide
        return Block(left, 20, svg)

    def start(self, room: float) -> Block | None:
        """Return the values at the start of the first walk."""
        walk = walks.walk_at(self.trace, 0)
        places = walks.values_at_start(self.trace)[0]
        begins = [(node, self._value(place)) for node, place in places.items() if place is not None]
        if not begins:
            return None
        title = value_cards.text_lines([f"The {walk.word} that the walk starts with"], "title", TITLE)
        largest = value_cards.largest_of([value for _, value in begins])
        return value_cards.stack([title, value_cards.flow([value_cards.card(self.node_names[node], value, largest)
                                                    for node, value in begins[:MOST_STARTS]], room)], gap=4)

    def _value(self, place: int | None) -> Trace | None:
        return None if place is None else cells.page_value(self.trace["values"][place])

    def step(self, step: Trace, to: int, room: float) -> Block:
        """Return the rule and its formula, with the numbers beside or below it."""
        if room < TWO_COLUMNS:
            return value_cards.stack([self._rule(step, room), self._numbers(step, to, room)], gap=10)
        left = max(320.0, 0.36 * room)
        numbers = self._numbers(step, to, room - left - 24)
        rule = self._rule(step, left)
        return Block(room, max(rule.height, numbers.height), rule.at(0, 0) + numbers.at(left + 24, 0))

    def _rule(self, step: Trace, room: float) -> Block:
        """Return the rule's name and its formula, with symbols and with numbers."""
        rule = self.trace["rules"][step["rule"]]
        head = letters.width("The rule", TITLE, bold=True) + 8
        about = letters.clip_to_width(words.single_line(f"{step['rule']}, {rule['kind']}"), TITLE, room - head)
        blocks = [
            Block(room, 20, value_cards.text("The rule", 0, 13, "title") + value_cards.text(about, head, 13, "soft"))
        ]
        general = formula.step_with_symbols(self.trace, step)
        if general:
            for markup, size in ((general, 16.0), (formula.with_numbers(self.trace, step), 13.5)):
                if markup:
                    box = formula_svg.paragraphs(markup, size, room, self.names(step, general))
                    blocks.append(Block(box.width, box.up + box.down, box.to_svg(0, box.up)))
        elif rule["text"]:
            blocks.append(value_cards.text_lines(letters.wrap(words.single_line(rule["text"]), 13, room), "", 13))
        return value_cards.stack(blocks, gap=5)

    def names(self, step: Trace, general: str) -> dict[str, str]:
        """Return the program's names for the rule's symbols, if the formula does not use them."""
        named = re.findall(r'data-name="([^"]+)"[^>]*>([^<]+)', general)
        if any(name != cards and name not in ("upstream", "contribution", "raw", "local") for name, cards in named):
            return {}
        result = {}
        for start, end, name in self.links:
            node_names = self.terms[start] or (self.node_names[start] if name in self.program_names else None)
            if end == step["node"] and node_names and node_names != name:
                result[name] = node_names
        return result

    def _numbers(self, step: Trace, to: int, room: float) -> Block:
        """Return upstream, local and contribution, then the receiver's value before and after."""
        value = {word: self._value(step[word]) for word in ("local", "raw", "contribution", "before", "after")}
        arrived = {name: self._value(place) for name, place in words.upstreams(step).items()}
        largest = value_cards.largest_of(
            [*arrived.values(), *(value[k] for k in ("before", "contribution", "after", "raw"))]
        )
        cards = [value_cards.card(name, each, largest) for name, each in arrived.items()]
        if value["local"]:
            times = (
                "× conj"
                if value_cards.is_complex(value["local"]) and value_cards.is_complex(arrived.get("upstream"))
                else "×"
            )
            cards.append(
                value_cards.with_sign(
                    times, value_cards.card("local", value["local"], value_cards.largest_of([value["local"]]))
                )
            )
        else:
            cards += [value_cards.with_sign(",", each) for each in self._arrays_read(step)]
        first = "raw" if step["summed_axes"] else "contribution"
        factors = (arrived.get("upstream"), value["local"])
        equal = value_cards.result_sign(mul, *factors, value[first]) if value["local"] else "→"
        cards.append(value_cards.with_sign(equal, value_cards.card(first, value[first], largest)))
        if step["summed_axes"]:
            over = f"∑ over {words.axes(step)} {value_cards.equality_sign(value['raw'], value['contribution'])}"
            cards.append(value_cards.with_sign(over, value_cards.card("contribution", value["contribution"], largest)))
        head = value_cards.text_lines(["The numbers"], "title", TITLE)
        holds = value_cards.text_lines(
            [letters.clip_to_width(f"What {self.node_names[to]} holds", TITLE, room, bold=True)], "title", TITLE
        )
        blocks = [head, value_cards.flow(cards, room), holds, self._accumulation(step, value, largest, room)]
        strip = value_cards.scale(largest)
        return value_cards.stack([*blocks, *([strip] if strip else [])], gap=4)

    def _arrays_read(self, step: Trace) -> list[Block]:
        """Return the arrays that the rule read, by the program's names."""
        inputs = {name: start for start, end, name in self.links if end == step["node"]}
        cards = []
        for name, place in step["reads"].items():
            value = self._value(place)
            weighs = name in inputs or name == "out" or value is None or not value_cards.is_scalar(value)
            if weighs and not name.startswith("upstream["):
                node_names = self.terms[inputs[name]] if name in inputs else None
                title = f"{node_names} ({name})" if node_names else "out, the result" if name == "out" else name
                cards.append(value_cards.card(title, value, value_cards.largest_of([value])))
        return cards

    def _accumulation(self, step: Trace, value: dict[str, Trace | None], largest: float, room: float) -> Block:
        """Return before + contribution = after."""
        contribution = value["contribution"]
        if not step["accumulates"]:
            if contribution is not None and not value_cards.is_scalar(contribution):
                return value_cards.text_lines(["before: nothing yet. after: the contribution."])
            had = value_cards.card("before", None, 0.0)
            had = Block(had.width, had.height, had.markup.replace("not recorded", "nothing yet"))
        else:
            word = "before, held before this walk" if words.is_held_before(self.trace, step) else "before"
            had = value_cards.card(word, value["before"], largest)
        equal = (
            value_cards.result_sign(add, value["before"], contribution, value["after"]) if step["accumulates"] else "="
        )
        added = value_cards.with_sign("+", value_cards.card("contribution", contribution, largest))
        return value_cards.flow(
            [had, added, value_cards.with_sign(equal, value_cards.card("after", value["after"], largest))], room
        )
