"""What a picture says of a step below its graph: the line of the program, the rule with its formula, the numbers."""

from __future__ import annotations

import re
from html import escape
from operator import add, mul

from .. import cells, formula, letters, walks, words
from ..picture import near
from ..source import Trace
from . import cards, typeset
from .cards import Block

TWO_COLUMNS = 700.0
"""From so much room on formula and numbers stand beside each other."""
TITLE = 12.5
MOST_STARTS = 6
"""Of so many nodes a picture of the start says what they hold."""


class Telling:
    """A trace, of which steps are told in blocks."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.links, self.called = trace, words.edges(trace), words.names(trace)
        self.students = words.students(trace)

    def line(self, node: int, room: float) -> Block | None:
        """The student's line, the expression of the step marked in it."""
        site = self.trace["nodes"][node]["site"]
        if not site or not site["text"]:
            return None
        head = "Your line"
        where = letters.clipped(words.spaced(f"{site['file']}, line {site['line']}"), TITLE, room * 0.45)
        left = letters.width(head, TITLE, bold=True) + 8
        drawn = cards.text(head, 0, 13, "title") + cards.text(where, left, 13, "soft")
        left += letters.width(where, TITLE) + 14
        text, column, stop = site["text"], site["column"], site["end_column"]
        indent = len(text) - len(text.lstrip())
        if column is None or site["end_line"] != site["line"]:
            parts = ["", text.strip(), ""]
        else:
            parts = [text[indent:column], text[column:stop], text[stop:].rstrip()]
        for k, part in enumerate(parts):
            said = letters.clipped("".join(c if c.isprintable() else " " for c in part), 13, max(0.0, room - left))
            wide = letters.width(said, 13)
            if k == 1 and column is not None:
                drawn += f'<rect class="mark" x="{near(left - 1)}" y="0" width="{near(wide + 2)}" height="18" rx="2"/>'
            drawn += (
                f'<text xml:space="preserve" x="{near(left)}" y="13" font-size="13"'
                f"{letters.held(said, 13)}>{escape(said)}</text>"
            )
            left += wide
        return Block(left, 20, drawn)

    def start(self, room: float) -> Block | None:
        """What nodes hold as the first walk starts."""
        walk = walks.walk_at(self.trace, 0)
        places = walks.starts(self.trace)[0]
        begins = [(node, self._value(place)) for node, place in places.items() if place is not None]
        if not begins:
            return None
        title = cards.said([f"The {walk.word} that the walk starts with"], "title", TITLE)
        largest = cards.largest_of([value for _, value in begins])
        return cards.stacked([title, cards.flowing([cards.card(self.called[node], value, largest)
                                                    for node, value in begins[:MOST_STARTS]], room)], gap=4)

    def _value(self, place: int | None) -> Trace | None:
        return None if place is None else cells.one(self.trace["values"][place])

    def step(self, step: Trace, to: int, room: float) -> Block:
        """The rule with its formula at the left, the numbers at the right; below each other where it is narrow."""
        if room < TWO_COLUMNS:
            return cards.stacked([self._rule(step, room), self._numbers(step, to, room)], gap=10)
        left = max(320.0, 0.36 * room)
        numbers = self._numbers(step, to, room - left - 24)
        rule = self._rule(step, left)
        return Block(room, max(rule.height, numbers.height), rule.at(0, 0) + numbers.at(left + 24, 0))

    def _rule(self, step: Trace, room: float) -> Block:
        """The rule's name, its formula, and the same with numbers."""
        rule = self.trace["rules"][step["rule"]]
        head = letters.width("The rule", TITLE, bold=True) + 8
        about = letters.clipped(words.spaced(f"{step['rule']}, {rule['kind']}"), TITLE, room - head)
        blocks = [Block(room, 20, cards.text("The rule", 0, 13, "title") + cards.text(about, head, 13, "soft"))]
        general = formula.of_step(self.trace, step)
        if general:
            for markup, size in ((general, 16.0), (formula.with_numbers(self.trace, step), 13.5)):
                if markup:
                    box = typeset.paragraphs(markup, size, room, self.names(step, general))
                    blocks.append(Block(box.width, box.up + box.down, box.drawn(0, box.up)))
        elif rule["text"]:
            blocks.append(cards.said(letters.wrapped(words.spaced(rule["text"]), 13, room), "", 13))
        return cards.stacked(blocks, gap=5)

    def names(self, step: Trace, general: str) -> dict[str, str]:
        """What the program calls what the rule has letters for, where its formula does not say that itself."""
        named = re.findall(r'data-name="([^"]+)"[^>]*>([^<]+)', general)
        if any(name != shown and name not in ("upstream", "contribution", "raw", "local") for name, shown in named):
            return {}
        found = {}
        for start, end, name in self.links:
            called = self.students[start] or (self.called[start] if name in self.students else None)
            if end == step["node"] and called and called != name:
                found[name] = called
        return found

    def _numbers(self, step: Trace, to: int, room: float) -> Block:
        """upstream, local and what is sent; then what the receiver had and has."""
        value = {word: self._value(step[word]) for word in ("local", "raw", "contribution", "before", "after")}
        arrived = {name: self._value(place) for name, place in words.upstreams(step).items()}
        largest = cards.largest_of([*arrived.values(), *(value[k] for k in ("before", "contribution", "after", "raw"))])
        shown = [cards.card(name, each, largest) for name, each in arrived.items()]
        if value["local"]:
            times = "× conj" if cards.is_complex(value["local"]) and cards.is_complex(arrived.get("upstream")) else "×"
            shown.append(cards.sign(times, cards.card("local", value["local"], cards.largest_of([value["local"]]))))
        else:
            shown += [cards.sign(",", each) for each in self._read(step)]
        first = "raw" if step["summed_axes"] else "contribution"
        factors = (arrived.get("upstream"), value["local"])
        equal = cards.makes(mul, *factors, value[first]) if value["local"] else "→"
        shown.append(cards.sign(equal, cards.card(first, value[first], largest)))
        if step["summed_axes"]:
            over = f"∑ over {words.axes(step)} {cards.equals(value['raw'], value['contribution'])}"
            shown.append(cards.sign(over, cards.card("contribution", value["contribution"], largest)))
        head = cards.said(["The numbers"], "title", TITLE)
        holds = cards.said([letters.clipped(f"What {self.called[to]} holds", TITLE, room, bold=True)], "title", TITLE)
        blocks = [head, cards.flowing(shown, room), holds, self._held(step, value, largest, room)]
        strip = cards.scale(largest)
        return cards.stacked([*blocks, *([strip] if strip else [])], gap=4)

    def _read(self, step: Trace) -> list[Block]:
        """The arrays that the rule read, by the names that the program has for them."""
        inputs = {name: start for start, end, name in self.links if end == step["node"]}
        shown = []
        for name, place in step["reads"].items():
            value = self._value(place)
            weighs = name in inputs or name == "out" or value is None or not cards.is_scalar(value)
            if weighs and not name.startswith("upstream["):
                called = self.students[inputs[name]] if name in inputs else None
                title = f"{called} ({name})" if called else "out, the result" if name == "out" else name
                shown.append(cards.card(title, value, cards.largest_of([value])))
        return shown

    def _held(self, step: Trace, value: dict[str, Trace | None], largest: float, room: float) -> Block:
        """before + contribution = after."""
        sent = value["contribution"]
        if not step["accumulates"]:
            if sent is not None and not cards.is_scalar(sent):
                return cards.said(["before: nothing yet. after: the contribution itself."])
            had = cards.card("before", None, 0.0)
            had = Block(had.width, had.height, had.markup.replace("not recorded", "nothing yet"))
        else:
            word = "before, from an earlier walk" if step.get("earlier") else "before"
            had = cards.card(word, value["before"], largest)
        equal = cards.makes(add, value["before"], sent, value["after"]) if step["accumulates"] else "="
        added = cards.sign("+", cards.card("contribution", sent, largest))
        return cards.flowing([had, added, cards.sign(equal, cards.card("after", value["after"], largest))], room)


