"""Random training programs: the page against the engine's numbers, at every position that its arrow key reaches.

The page runs in a browser. For each position, the values and gradients of all drawn nodes, their accessible names, the
tiles of the event and the sentence are read, and compared with the journal and the steps of the trace. Those are
compared with the engine's own arrays in the same case.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from browser import start_browser
from install_browser import find_browser
from journal_witness import differences, same, states_of
from micrograd_plus.tracing.sentences import gather_changes
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.player import player_source
from micrograd_plus_viz.timeline import load_film
from micrograd_plus_viz.trace_input import normalize, trace_data

from .harness import SAID, SAME
from .journals import loop_of, record_program

MINUS = "−"
CHANGES = {
    "const NEAR = 120;": "const NEAR = 1e9;", "const MOST_LOOKED = 24;": "const MOST_LOOKED = 1;",
    "const isClear = ": "const isClear = true || ",
}  # fmt: skip
"""Parts far outside the view are drawn at once, the event is put in the first good place, and edges lead straight."""
LOAD = "async (code) => { window.lib = await import(`data:text/javascript,${encodeURIComponent(code)}`); }"
VERBS = {
    "keep": "did not change the gradient of",
    "clear": "cleared the gradient of", "drop": "dropped the gradient of",
    "assign": "set the gradient of", "scale": "scaled the gradient of",
    "clip": "clipped the gradient of", "update": "updated", "write": "wrote into", "hook": "changed the gradient of",
    "statistics": "moved", "draw": "drew random numbers",
    "checkpoint": "would drop, without this record, the graph of",
    "recompute": "would compute again, without this record,",
}  # fmt: skip
COMPLEX = rf"(?P<real>\S+) (?P<sign>[+{MINUS}]) (?P<imaginary>\S+)i"
UNNAMED = re.sub(r"\?P<\w+>", "?:", COMPLEX)
NUMBER = rf"(?:\S+?|{UNNAMED}|a \([\d, ]*\) array.*?)"
STOP = r"(?:, a change smaller than these digits show)?\.(?= |$)"
SENTENCE = (
    r"{0}(?:, where the gradients? of .+? arrived,)?(?:, whose gradient a hook changed to (?P<hook>.+?),)?"
    r"(?:, by the walk inside it,)? sends (?P<sent>.+?)(?:, summed over ax[ei]s (?P<axes>[\d, and]+),)? to {1}"
    r"(?P<rest>, the first gradient to arrive there\.|, which had (?P<had>.+?) and now holds (?P<now>NUMBER)STOP|"
    r", which held (?P<held>.+?) before this walk and now holds (?P<now2>NUMBER)STOP|, whose gradient had norm "
    r"(?P<norm>\S+?)(?P<earlier2> before this walk)? and now has norm (?P<norm2>\S+?)STOP)(?P<around>.*)"
).replace("NUMBER", NUMBER).replace("STOP", STOP)
ROUNDING, LARGEST_ROUNDING, DIVERGES = " ≈ 0", 1e-4, 1e10
"""What a caption says of rounding errors, and how large they are in single precision at most. They are larger only in a
program that diverges, to numbers above the last one."""
ANY_SENTENCE = re.compile(SENTENCE.format("(?P<sender>.+?)", "(?P<receiver>.+?)"))
FAILURE = re.compile(r"^ (?:The walk ends here|Before this walk, another could not begin) .*", re.DOTALL)
"""What a sentence says of a walk that failed."""
Finding = tuple[Any, ...]
Cell = tuple[float, float, str]
"""How far down and across a cell of a tile is, and its shade."""


def run(case: int) -> str:
    """Run a program and return whether its page shows the engine's numbers everywhere."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trace, witness, nodes = record_program(case)
        except np.linalg.LinAlgError:  # numbers that are not finite have no factorisation
            return SAID
        ways = {"back": case % 10 == 0, "early": case % 8 == 0}
        found = differences(trace, witness, nodes) or [*page_differences(trace, **ways)]
    return SAME if not found else f"another number: {found[0]}"


def parts_of_sentence(said: str, names: list[str]) -> re.Match[str] | None:
    """Return the parts of a step's sentence about two names; None if it is about others.

    A pattern is compiled only for names which themselves have words of a sentence.
    """
    part = ANY_SENTENCE.fullmatch(said)
    if part and [part[each].removeprefix("the number ") for each in ("sender", "receiver")] == names:
        return part
    return re.fullmatch(SENTENCE.format(*(f"(?:the number )?{re.escape(name)}" for name in names)), said)


@cache
def browser_page() -> Any:
    """Return a page of a browser that has the player's code and `pageStates`."""
    page = start_browser(find_browser()).new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.set_content("<!doctype html><body></body>")
    page.evaluate(LOAD, prepared_source())
    page.evaluate("(code) => { eval(code); }", Path(__file__).with_name("page_states.js").read_text(encoding="utf-8"))
    return page


def prepared_source() -> str:
    """Return the player's code with the `CHANGES`."""
    source = player_source()
    for written, instead in CHANGES.items():
        assert written in source
        source = source.replace(written, instead)
    return source


def page_differences(trace: Any, back: bool = False, early: bool = False) -> Iterator[Finding]:
    """Yield where the page of a trace shows something else than its journal and its steps say."""
    film = load_film(trace)
    data = payload(film if film is not None else normalize(trace_data(trace)))
    seen = json.loads(browser_page().evaluate("(args) => window.pageStates(...args)", [json.dumps(data), back, early]))
    for at, *other in seen["otherwise"]:
        yield "on the way back", at, *other
    truth = Truth(trace, data) if film is None else FilmTruth(trace, data)
    shown: dict[str, Any] = {}
    for state in seen["states"]:
        for node in state["gone"]:
            del shown[node]
        shown |= state["nodes"]
        truth.kept.append(state)
        for found in truth.check(state, shown):
            yield state["counter"], state["moment"], *found


class Truth:
    """What the page of a trace must show at each position, from the journal and the steps."""

    def __init__(self, trace: Any, data: Any):
        self.trace, self.data, self.names = trace, data, data["names"]
        self.states = list(states_of(trace))
        self.at = {(entry.kind, entry.walk): place + 1 for place, entry in enumerate(trace.journal)
                   if entry.walk is not None}  # fmt: skip
        self.returned: dict[tuple[int, int], Any] = {}
        walk = 0
        for entry in trace.journal:
            walk = entry.walk if entry.kind == "begin" else walk
            if entry.kind == "return":
                self.returned[walk, entry.node] = entry.after
        self.several = {node for output in trace.nodes if output.kind == "output" for _, node in output.inputs}
        self.order = {node.id: node.id for node in trace.nodes}
        self.hooked = self._hooked_steps()
        self.right: set[tuple[int, ...]] = set()
        """What has been compared: a node as it is shown, its gradient, and its values, all of which stay alive."""
        self.kept: list[Any] = []
        self.memory: dict[tuple[int, int], dict[int, Any]] = {}

    # What nodes hold --------------------------------------

    def gradients(self, walk: int, done: int) -> dict[int, Any]:
        """Return what each node holds in a walk after `done` steps of the trace."""
        key = walk, done
        if key in self.memory:
            return self.memory[key]
        each = self.trace.walks[walk]
        if done <= each.first:
            began = self.states[self.at["begin", walk]][1]  # a result begins empty, also if it keeps a gradient
            held = {node: began[node] for node in began if self.keeps(node)} | {each.root: each.seed}
        else:
            step = self.trace.steps[done - 1]
            held = dict(self.gradients(walk, done - 1))
            if step.upstream is not None:
                held[step.node] = step.upstream
            held[step.target] = step.after
            if done == each.first + each.steps and each.error is None:
                ended = self.states[self.at["end", walk]][1]
                for leaf in each.leaves:
                    held[leaf.node] = self.returned.get((walk, leaf.node), ended.get(leaf.node))
        self.memory[key] = held
        return held

    def keeps(self, node: int) -> bool:
        """Return whether a node shows from one walk to the next what it holds."""
        return self.trace.nodes[node].kind == "leaf" or self.trace.nodes[node].cut is not None

    def values(self, walk: int, done: int) -> list[dict[int, Any]]:
        """Return what leaves may have as values: what they had as the walk began, and behind it, as it ended."""
        each = self.trace.walks[walk]
        over = done == each.first + each.steps and ("end", walk) in self.at
        return [self.states[self.at[word, walk]][0] for word in ("begin", *["end"] * over)]

    def walk_of(self, done: int) -> int:
        return self.trace.steps[max(0, done - 1)].walk if self.trace.steps else 0

    # A position -------------------------------------------

    def check(self, state: Any, shown: Any) -> Iterator[Finding]:
        """Yield what is wrong at a position."""
        if early := re.match(r"value (\d+) of", state["counter"]):
            made = [node.id for node in self.trace.nodes if node.kind != "leaf"]
            yield from self.check_early(shown, made[max(0, int(early[1]) - 1)])
            return
        done = min(int(state["counter"].split(" / ")[0]), len(self.trace.steps))
        if not self.trace.walks:
            yield from self.check_nodes(shown, [self.states[-1][0]], self.states[-1][1])
            return
        walk = self.walk_of(done)
        yield from self.check_nodes(shown, self.values(walk, done), self.gradients(walk, done))
        if done and state["counter"].startswith(f"{done} "):
            yield from self.check_event(state["event"], self.trace.steps[done - 1])
            yield from self.check_sentence(state["said"], done)

    def place_computing(self, node: int) -> int:
        """Return the place in the journal at which a node is computed."""
        return next(place for place, entry in enumerate(self.trace.journal)
                    if entry.kind == "compute" and entry.first <= node < entry.first + entry.count)  # fmt: skip

    def check_early(self, shown: Any, node: int) -> Iterator[Finding]:
        """Yield what is wrong as a value is computed: leaves and kept gradients are what they were then."""
        values, gradients = self.states[self.place_computing(node)]
        yield from self.check_nodes(shown, [values], gradients)

    def check_nodes(self, shown: Any, values: list[dict[int, Any]], gradients: dict[int, Any]) -> Iterator[Finding]:
        """Yield the nodes whose value or gradient is wrong."""
        for place, node in shown.items():
            i = self.order[int(place)]
            is_leaf = self.trace.nodes[i].kind == "leaf"
            wanted = [each.get(i, self.trace.nodes[i].value) if is_leaf else self.trace.nodes[i].value
                      for each in values]  # fmt: skip
            held = None if i in self.several else gradients.get(i)
            known = id(node), id(held), *map(id, wanted)
            if known in self.right:
                continue
            self.right.add(known)
            held = array(held)
            if not node["unborn"] and not any(
                shows_value(node, array(value)) for value in wanted
            ):
                yield "value", self.names[int(place)], node["lines"], node["tiles"][0], wanted
            if not shows_gradient(node, held):
                yield "gradient", self.names[int(place)], node["lines"], node["tiles"][1], held
            if not says_gradient(node["label"], held):
                yield "accessible name", node["label"], held

    def check_event(self, event: Any, step: Any) -> Iterator[Finding]:
        """Yield the tiles of the event that show other numbers than the step."""
        words = [word for word, _ in event]
        if "contribution" not in words or (step.accumulates and "after" not in words):
            yield "event", words
        for word, tile in event:
            if word in ("upstream", "raw", "contribution", "before", "after") or word.startswith("upstream["):
                held = array(step.reads[word] if word in step.reads else getattr(step, word))
                if not shows_tile(tile, held):
                    yield "event", word, tile, held

    # Sentences --------------------------------------------

    def _hooked_steps(self) -> dict[int, Any]:
        """Return the steps whose sender's gradient a hook has changed, each with the gradient."""
        found, hooks, done = {}, {}, 0
        for entry in self.trace.journal:
            if entry.kind == "begin":
                hooks = {}
            elif entry.kind == "hook" and not same(entry.before, entry.after):
                hooks[entry.node] = entry.after
            elif entry.kind == "arrive":
                for step in self.trace.steps[done : done + entry.count]:
                    if step.node in hooks:
                        found[step.index] = hooks.pop(step.node)
                done += entry.count
        return found

    def check_sentence(self, said: str, done: int) -> Iterator[Finding]:
        """Yield which part of a step's sentence says something else than happened."""
        step, place = self.trace.steps[done - 1], self.place_of()
        count = len(self.trace.walks)
        start = f"Step {done} of {len(self.trace.steps)}{f', walk {step.walk + 1} of {count}' if count > 1 else ''}. "
        names = [self.names[place[node]] for node in (step.node, step.target)]
        part = parts_of_sentence(said.removeprefix(start), names) if said.startswith(start) else None
        if part is None:
            yield "sentence", said, start, names
            return
        for word, held in (("sent", step.contribution), ("had", step.before), ("held", step.before),
                           ("now", step.after), ("now2", step.after), ("hook", self.hooked.get(done - 1))):  # fmt: skip
            if part[word] is not None and not is_brief(part[word], array(held)):
                yield "sentence", word, said, held
        for word, held in (("norm", step.before), ("norm2", step.after)):
            if part[word] is not None and not is_near(part[word], np.linalg.norm(abs(array(held)))):
                yield "sentence", word, said, held
        told = {
            "hook": part["hook"] is not None, "first": "the first gradient" in part["rest"],
            "earlier": part["held"] is not None or part["earlier2"] is not None,
            "axes": [int(x) for x in re.findall(r"\d+", part["axes"] or "")],
        }  # fmt: skip
        is_so = {
            "hook": done - 1 in self.hooked, "first": step.before is None, "earlier": self.is_held_before(step),
            "axes": [*step.summed_axes],
        }  # fmt: skip
        if told != is_so:
            yield "sentence", said, is_so
        yield from self.check_around(part["around"], done)

    def is_held_before(self, step: Any) -> bool:
        """Return whether a step adds to what its receiver held before the walk."""
        steps = self.trace.steps[self.trace.walks[step.walk].first : step.index]
        began = self.states[self.at["begin", step.walk]][1].get(step.target)
        is_zero = hasattr(self.trace.source.outline.keys[step.target], "made_by") and not began  # as if none were held
        is_held = began is not None and not is_zero and self.keeps(step.target)
        is_added = is_held and (step.walk, step.target) not in self.returned
        return is_added and not any(other.target == step.target for other in steps)

    def place_of(self) -> dict[int, int]:
        """Return the place of each node on the page."""
        return {node: place for place, node in self.order.items()}

    def name_of(self, node: int) -> str:
        """Return what the page calls a node of the trace."""
        return self.names[self.place_of()[node]]

    def check_around(self, text: str, done: int) -> Iterator[Finding]:
        """Yield what a sentence says wrongly about what happened around a walk."""
        step, each = self.trace.steps[done - 1], self.trace.walks[self.trace.steps[done - 1].walk]
        journal, wanted = self.trace.journal, []
        with_steps = [number for number, walk in enumerate(self.trace.walks) if walk.steps]
        if done - 1 == each.first:
            earlier = [number for number in with_steps if number < step.walk]
            since = self.at["end", earlier[-1]] if earlier else 0
            entries = [entry for entry in journal[since : self.at["begin", step.walk]] if entry.kind != "hook"]
            wanted.append(("Before this walk", entries))
        wanted.append(("Before this step", self.second_runs_before(step.index)))
        if done == each.first + each.steps:
            inside = journal[self.at["begin", step.walk] : self.at["end", step.walk]]
            hooks = [entry for entry in inside
                     if entry.kind in ("hook", "drop") and self.trace.nodes[entry.node].kind == "leaf"]
            wanted.append(("At the end of the walk", hooks))
        if done == len(self.trace.steps):
            wanted.append(("Afterwards", journal[self.at["end", step.walk] :]))
        for lead, entries in wanted:
            groups = [*group_by_clause(entries)]
            if not groups:
                continue
            if not text.startswith(f" {lead}, "):
                yield "sentence", lead, text, [clause(group) for group in groups]
                return
            text = text[len(f" {lead}, ") :]
            for k, group in enumerate(groups):
                rest = self.after_clause(text, group)
                end = "." if k + 1 == len(groups) else "; "
                if rest is None or not rest.startswith(end):
                    yield "sentence", lead, text, clause(group), [(e.kind, e.before, e.after) for e in group]
                    return
                text = rest[len(end) :]
        if FAILURE.sub("", text):
            yield "sentence", "says too much", text

    def second_runs_before(self, number: int) -> list[Any]:
        """Return what a checkpoint would compute again right before a step."""
        journal = self.trace.journal
        at = next(at for at, entry in enumerate(journal) if entry.kind == "arrive" and number in entry.numbers)
        if journal[at].first != number:
            return []
        return [*takewhile(lambda entry: entry.kind == "recompute", journal[at - 1 :: -1])][::-1]

    def after_clause(self, text: str, group: list[Any]) -> str | None:
        """Return what follows a clause about some changes; None if the clause is another one."""
        if group[0].kind == "draw":
            told = clause(group)
            return text[len(told) :] if text.lower().startswith(told.lower()) else None
        names = [entry.name or "a value" if entry.node is None else self.name_of(entry.node) for entry in group]
        names = [*dict.fromkeys(f"{name}.grad" if (entry.kind, entry.of) == ("write", "gradient") else name
                                for name, entry in zip(names, group, strict=True))]  # fmt: skip
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        is_programs = clause(group).startswith("the program ") and group[0].kind in ("scale", "write") and group[0].by
        start = f"{clause(group)} {', '.join(names[:3])}{more}{f' by {group[0].by}' if is_programs else ''}"
        if not text.lower().startswith(start.lower()):
            return None
        text = text[len(start) :]
        first, last = array(group[0].before), array(group[-1].after)
        is_kept = kind_in_words(group[0]) == "keep"
        if len(group) > 1 or group[0].kind == "clear" or is_kept or first is None or last is None:
            return text
        array_in_brief = r"a \([\d, ]*\) array(?: of norm [^\s;]+)?"
        numbers = re.match(rf", from ({UNNAMED}|\S+|{array_in_brief}) to ({array_in_brief}|{UNNAMED}|[^\s;]+?)"
                           r"(?=;|\.$|\. |$)", text)  # fmt: skip
        if numbers is None or not is_brief(numbers[1], first) or not is_brief(numbers[2].rstrip("."), last):
            return None
        return text[len(numbers[0].rstrip(".")) :]


class FilmTruth(Truth):
    """What the page of a training loop must show at each moment of each round."""

    def __init__(self, trace: Any, data: Any):
        super().__init__(trace, data)
        loop, self.ranges, self.orders = loop_of(trace)
        self.computed = {at for at, node in enumerate(loop["nodes"]) if node["kind"] != "leaf"}
        self.reached = [0]
        """Places in the journal that the last moment may have been at: the state can be the same at several."""

    def check(self, state: Any, shown: Any) -> Iterator[Finding]:
        label, at = state["moment"]
        number = int(re.match(r"Round (\d+):", label)[1]) - 1
        self.order = dict(enumerate(self.orders[number]))
        self.names = self.names_in(number)
        start, _ = self.ranges[number]
        if not state["readout"].startswith(f"Round {number + 1} of {len(self.ranges)}"):
            yield "readout", state["readout"]
        moments = self.data["film"]["moments"][number]
        words = [*(each["word"] for each in moments["before"][: moments["forward"]]), "forward",
                 *(each["word"] for each in moments["before"][moments["forward"] :]), "backward",
                 *(each["word"] for each in moments["after"])]  # fmt: skip
        if at == moments["forward"]:
            made = [node for node in self.orders[number] if node in self.computed]
            computed = self.place_computing(min(made))
            self.reached = sorted({max(each, computed) for each in self.reached})
            early = int(re.match(r"value (\d+) of", state["counter"])[1])
            yield from self.check_early(shown, made[max(0, early - 1)])
        elif at == 1 + len(moments["before"]):
            done = int(state["counter"].split(" / ")[0])
            walk = self.trace.steps[start if done == start else done - 1].walk
            yield from self.check_nodes(shown, self.values(walk, done), self.gradients(walk, done))
            if done > start:
                yield from self.check_event(state["event"], self.trace.steps[done - 1])
                yield from self.check_sentence(state["said"], done)
        else:
            yield from self.check_moment(state, shown, words[at])

    def names_in(self, number: int) -> list[str]:
        """Return the names of the nodes of a round: those of the first, and what differs."""
        names = [*self.data["names"]]
        for path, of_rounds in self.data["film"]["columns"]:
            if path[0] == "names":
                names[path[1]] = of_rounds[number]
        return names

    def name_of(self, node: int) -> str:
        if node in (place := self.place_of()):
            return self.names[place[node]]
        found = ((number, order.index(node)) for number, order in enumerate(self.orders) if node in order)
        number, at = next(found, (None, None))
        return self.trace.nodes[node].title if number is None else f"{self.names_in(number)[at]} of round {number + 1}"

    def check_moment(self, state: Any, shown: Any, word: str) -> Iterator[Finding]:
        """Yield what is wrong at a change: it must be the next one in the journal."""
        first: list[Finding] = []
        reached: set[int] = set()
        for since in self.reached:
            for place in self.find_places(state["said"], since):
                values, gradients = self.states[place]
                wrong = [*self.check_nodes(shown, [values], gradients)]
                first = first or [(place, *each) for each in wrong[:1]]
                if not wrong:
                    reached.add(place)
                elif reached:
                    break
        if reached:
            self.reached = sorted(reached)
        else:
            yield "moment", state["said"], word, *first

    def find_places(self, text: str, since: int) -> Iterator[int]:
        """Yield the places of the journal up to which a moment's sentence may tell what changed since another place."""
        for place in range(since + 1, len(self.states)):
            if self.trace.journal[place - 1].kind in VERBS:
                groups = self.run_up_to(place, since), self.trace.journal[since:place]
                if any(group and self.is_said(text, group) for group in groups):
                    yield place

    def is_said(self, text: str | None, group: list[Any]) -> bool:
        """Return whether a text says some changes and nothing else, each clause after the one before."""
        for part in group_by_clause(group):
            text = None if text is None else self.after_clause(text.removeprefix("; "), part)
        return text == "."

    def run_up_to(self, place: int, since: int) -> list[Any]:
        """Return the alike changes between two places of the journal, whatever was computed between them."""
        last, group = self.trace.journal[place - 1], []
        for entry in self.trace.journal[since:place][::-1]:
            if entry.kind == "compute":
                continue
            if (entry.kind, entry.by) != (last.kind, last.by):
                break
            group.insert(0, entry)
        return [entry for entry in group if not (entry.kind == "clear" and entry.before is None)]

    def check_around(self, text: str, done: int) -> Iterator[Finding]:
        """Between rounds, moments say what happened; between the walks of a round, sentences do."""
        return iter(())


# Texts ----------------------------------------------------------------------------------------------------------------


def group_by_clause(entries: Any) -> Iterator[list[Any]]:
    """Yield the changes that one clause tells."""
    changes = [entry for entry in entries if entry.kind in VERBS
               and not (entry.kind == "clear" and entry.before is None)]  # fmt: skip
    for group in gather_changes(changes):
        alike: dict[Any, list[Any]] = {}
        for entry in group:
            alike.setdefault((kind_in_words(entry), entry.by), []).append(entry)
        yield from alike.values()


def kind_in_words(entry: Any) -> str:
    """Return the kind of a change; `keep` for a clipping that a gradient was too small for."""
    before, after = array(entry.before), array(entry.after)
    is_kept = entry.kind == "clip" and np.allclose(before, after, rtol=1e-12, atol=0, equal_nan=True)
    return "keep" if is_kept else entry.kind


def clause(group: list[Any]) -> str:
    """Return the words before the names in a clause about some changes."""
    kind, by = (kind_in_words(group[0]), group[0].by) if group else ("clear", None)
    subject = f"the hook {by}" if kind == "hook" else by if by and by[0].isidentifier() else "the program"
    return f"{subject} {VERBS[kind]}"


def array(value: Any) -> np.ndarray | None:
    """Return a value as an array; None for None."""
    return None if value is None else np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def read(text: str) -> float:
    """Return a printed number."""
    text = text.replace(MINUS, "-").lstrip("±≈").removeprefix("up to ")
    return float(text.replace("True", "1").replace("False", "0"))


def parts_of(text: str, x: complex) -> Iterator[tuple[str, float]]:
    """Yield a number, or the two parts of a complex one, each as it is printed and as it is."""
    if not np.iscomplexobj(x):
        yield text, x
        return
    printed = re.fullmatch(COMPLEX, text)
    yield printed["real"] if printed else "", x.real
    yield printed["sign"].replace("+", "") + printed["imaginary"] if printed else "", x.imag


def is_near(text: str, x: complex, digits: int = 4) -> bool:
    """Return whether a printed number is `x`, rounded to some digits."""
    if np.iscomplexobj(x):
        return all(is_near(*part, digits) for part in parts_of(text, x))
    try:
        shown = read(text)
    except ValueError:
        return False
    return same(shown, float(x)) or abs(shown - x) <= 0.501 * 10.0 ** (1 - digits) * abs(x)


def is_near_in_node(text: str, x: complex) -> bool:
    """Return the same for a number in a node, which has two digits if there is no room for more."""
    if np.iscomplexobj(x):
        return all(is_near_in_node(*part) for part in parts_of(text, x))
    text = text.replace("≈", "")
    is_short = len(re.sub(r"e.*|\D", "", text).strip("0")) <= 2
    # The scale of a picture is rounded to three digits before it is rounded to two.
    return is_near(text, x, 2 if is_short else 4) or (is_short and is_near(text, float(f"{x:.2e}"), 2))


def is_brief(text: str, held: np.ndarray | None) -> bool:
    """Return whether a value in a few words is an array: its number, or its shape and norm."""
    if held is None:
        return False
    if held.size == 1:
        return is_near(text, held.item())
    found = re.fullmatch(r"a (\([\d, ]*\)) array(?: of norm (\S+))?", text)
    if found is None or found[1] != str(held.shape):
        return False
    if not np.isfinite(held).all():
        return found[2] == ("nan" if np.isnan(abs(held)).any() else "inf")
    return found[2] is not None and is_near(found[2], np.linalg.norm(abs(held)))


def shows_tile(tile: Any, held: np.ndarray | None) -> bool:
    """Return whether a tile shows an array: its number, its digits, or the shades of its entries."""
    if tile is None:
        return False
    kinds = tile["kind"].split()
    if held is None:
        return "empty" in kinds or "none" in kinds
    if "number" in kinds:
        return held.size == 1 and is_near(tile["texts"][0], held.item())
    if "digits" in kinds:
        texts = tile["texts"]
        return len(texts) == held.size and all(map(is_near, texts, held.ravel(), [3] * held.size))
    cells = [(float(y), float(x), shade) for shade, d in tile["paths"]
             for x, y in re.findall(r"M([\d.]+),([\d.]+)h", d)]  # fmt: skip
    if not cells or len(cells) > held.size:
        return len(cells) == held.size
    if len(cells) != held.size:
        return any(all(map(is_shade, [shade for *_, shade in sorted(cells)], coarse.ravel()))
                   for coarse in coarsen(held, cells))  # fmt: skip
    return all(map(is_shade, [shade for *_, shade in in_order_of_entries(cells, held.shape)], held.ravel()))


def coarsen(held: np.ndarray, cells: list[Cell]) -> Iterator[np.ndarray]:
    """Yield the entries that as many cells show, row by row: of each block the largest. Slices are beside each other,
    or below each other."""
    high, across = (len({cell[axis] for cell in cells}) for axis in (0, 1))
    rows, columns = (1, 1, *held.shape)[-2:]
    slices = held.size // (rows * columns)
    for shape in {(slices, rows, columns), (1, slices * rows, columns)}:
        if high * across == len(cells) and across % shape[0] == 0:
            wide = across // shape[0]
            coarse = np.zeros((high, shape[0], wide), held.dtype)
            for (of, row, column), entry in np.ndenumerate(held.reshape(shape)):
                at = row * high // shape[1], of, column * wide // columns
                if np.isnan(abs(entry)) or abs(entry) > abs(coarse[at]):
                    coarse[at] = entry
            yield coarse


def in_order_of_entries(cells: list[Cell], shape: tuple[int, ...]) -> list[Cell]:
    """Return the cells of an array of some shape in the order of its entries. Its slices are beside and below each
    other."""
    rows, columns = (1, 1, *shape)[-2:]
    downs, acrosses = ({at: k for k, at in enumerate(sorted({cell[axis] for cell in cells}))} for axis in (0, 1))

    def place(cell: Cell) -> tuple[int, ...]:
        (line, row), (block, column) = divmod(downs[cell[0]], rows), divmod(acrosses[cell[1]], columns)
        return line, block, row, column

    return sorted(cells, key=place)


def is_shade(shade: str, x: complex) -> bool:
    if np.iscomplexobj(x):  # has no sign
        kind, x = "c", abs(x)
    else:
        kind = "n" if x < 0 else "p"
    if np.isinf(x):
        return shade == ("n5" if x < 0 else "p5")
    return shade[0] == ("o" if np.isnan(x) else "h" if x == 0 else kind) and shade[1:] != "5"


def shows_caption(text: str, held: np.ndarray) -> bool:
    """Return whether a caption has the scale of an array."""
    if not np.isfinite(held).all():
        nan, infinite = np.isnan(abs(held)).sum(), np.isinf(held).sum()
        if nan and infinite:
            mixed = f"{nan} nan, {infinite} inf"
            return text in (f"{mixed} of {held.size}", mixed, f"{nan} nan …")
        word = "nan" if nan else "inf"
        return text in (f"{nan + infinite} of {held.size} {'is' if nan + infinite == 1 else 'are'} {word}", word)
    most = abs(held).max(initial=0)
    if text.endswith(ROUNDING):
        is_small = 0 < most < LARGEST_ROUNDING or most > DIVERGES
        return is_small and shows_caption(text.removesuffix(ROUNDING), held)
    start = "up to " if np.iscomplexobj(held) else "±"
    is_right = is_near(text, most, 3) or is_near_in_node(text, most)
    return text == "0" if most == 0 else text.startswith(start) and is_right


def shows_value(node: Any, value: np.ndarray | None) -> bool:
    """Return whether a node shows a value."""
    (_, line, _), (tile, _) = node["lines"], node["tiles"]
    if value is None:
        return not line
    if value.size == 1 and tile is None:
        return line in ("", "…", None) or is_near_in_node(line, value.item())
    if tile is not None:
        caption = (line or "").removeprefix(str(value.shape)).lstrip(" ")
        if line and line != str(value.shape) and not shows_caption(caption, value):
            return False
        return shows_tile(tile, value)
    if line in ("has nan", "has inf"):
        return line.endswith("nan" if np.isnan(abs(value)).any() else "inf") and not np.isfinite(value).all()
    return not line or line.startswith(str(value.shape))


def shows_gradient(node: Any, held: np.ndarray | None) -> bool:
    """Return whether a node shows a gradient, or none."""
    (*_, line), (_, tile) = node["lines"], node["tiles"]
    if tile is not None and not shows_tile(tile, held):
        return False
    if line == "…":
        return held is not None
    if line and re.match(r"[≈±−\d]|nan|inf|up to", line):  # in a narrow node, without its word
        line = f"grad {line}"
    if not line or not re.match(r"grad |\|grad\| ", line):
        return held is None or (tile is not None and not line) or not node["lines"][1]
    return held is not None and says_number(line, held, is_near_in_node)


def says_number(text: str, held: np.ndarray, is_number: Callable[[str, float], bool] = is_near) -> bool:
    """Return whether "grad 3", "grad ±3" or "|grad| 3" says an array."""
    word, _, number = text.partition(" ")
    if word == "grad":
        return is_number(number, held.item()) if held.size == 1 else shows_caption(number, held)
    if not np.isfinite(held).all():
        return number == ("nan" if np.isnan(abs(held)).any() else "inf")
    return held.size > 1 and is_number(number, np.linalg.norm(abs(held)))


def says_gradient(label: str, held: np.ndarray | None) -> bool:
    """Return whether the accessible name of a node says its gradient, or none."""
    found = re.search(r", ((?:grad|\|grad\|) [^,]+)(?:, |$)", label)
    return held is None if found is None else held is not None and says_number(found[1], held)
