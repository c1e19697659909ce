"""A walk that asks: a step is hidden until its question is answered, or a wrong rule is to be found.

The page holds the walk up to the question. Answers stand in it as salted hashes alone; what comes after, the next
question too, is sealed with a key that the right answer opens, and unless it is told otherwise "show me" as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from .. import formula, layout, notebook, page, picture, words
from ..groups import MOST_DRAWN
from ..live import quiz_widget
from ..payload import packed, payload
from ..player import in_script, one_line, player_source, squeezed_player
from ..source import Trace
from ..window import MOST_STEPS, shown
from .choosing import MIX, Chooser
from .parts import before, parts_of, steps_at
from .planting import planted
from .questions import KINDS, Question
from .seals import digest, key_of, name_of, sealed, wrapped

TOLERANCE = 0.02
WRONG_RULE = "wrong rule"
GIVEN_UP = "show me"
BOOT = (
    'const data = await unpack(document.getElementById("data").textContent);'
    'const player = mountQuiz(document.getElementById("walk"), data);'
    f"{page.FITS_ITS_FRAME}"
    "if (window === top) player.focus();"
)
BOOT_IN_A_CELL = notebook.BOOT.replace("mount, unpack", "mountQuiz, unpack").replace("mount(host", "mountQuiz(host")
TO_WORK_OUT = ("gradient", "shape", "sign", "formula", "picture")
"""Kinds of question beside which the numbers stand that are known already."""
TRUST = "<p><small>{summary} Trust this notebook to answer.</small></p>"


class Quiz:
    """Questions about a walk, for a notebook; `save` writes them on a page of their own, `widget` keeps the score.

    `data` is all that a page is handed, `count` how many questions there are; `title` and `said` tell it in words.
    """

    def __init__(self, data: dict[str, Any], seen: Trace, title: str, said: str) -> None:
        self.data, self.count, self._seen = data, data["quiz"]["count"], seen
        self.title, self.said = words.spaced(title), words.spaced(said)

    def __repr__(self) -> str:
        return self.said

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.said, "text/html": self._html()}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", notebook.in_frame(self.document(), self.title)

    def _html(self) -> str:
        """The quiz in one line of HTML; where scripts are not run, a picture of the walk so far."""
        data, name = packed(self.data)
        code = in_script(BOOT_IN_A_CELL.replace("ID", name))
        return (
            f'<div data-mgp="{name}">{self._fallback()}'
            f'<script type="application/octet-stream">{squeezed_player(with_quiz=True)}</script>'
            f'<script type="application/octet-stream">{data}</script></div>'
            f'<script type="module">{code}</script>'
        ).replace("\n", " ")

    def _fallback(self) -> str:
        still = ""
        if len(self._seen["nodes"]) <= MOST_DRAWN:
            still = notebook.image(picture.still(self._seen, layout.placed(self._seen)), picture.alt(self._seen))
        return still + TRUST.format(summary=escape(words.spaced(self.said)))

    def document(self, title: str | None = None) -> str:
        """The quiz on one page of its own."""
        kept = f'<script type="application/octet-stream" id="data">{packed(self.data)[0]}</script>\n'
        code = in_script(one_line(player_source(with_quiz=True) + BOOT))
        return page.around(title or self.title, code, kept, '<div id="walk"></div>')

    def save(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """Write the page, whose suffix is .html, and return its path."""
        path = Path(path)
        if path.suffix.lower() != ".html":
            raise ValueError(f"a quiz is saved as .html, not as {path.name!r}")
        path.write_text(self.document(title), encoding="utf-8")
        return path

    def widget(self) -> Any:
        """A live widget, whose `score` says what was answered: at once, later, shown, and of how many."""
        return quiz_widget(packed(self.data)[0])


def quiz(
    trace: Any,
    step: int | Sequence[int] | None = None,
    kind: str | Sequence[str] | None = None,
    *,
    find: str | None = None,
    rule: Any = None,
    candidates: Sequence[Mapping[str, Any]] = (),
    questions: int = 5,
    tolerance: float = TOLERANCE,
    show_me: bool = True,
    seed: int = 0,
    start: int = 0,
) -> Quiz:
    """Questions about a walk; `viz.quiz` says the rest."""
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance is {tolerance!r}, but has to be a part of a number's size, between 0 and 1")
    if questions < 1:
        raise ValueError(f"questions is {questions!r}, but a quiz has at least one")
    if find is not None:
        if find != WRONG_RULE:
            raise ValueError(f"what can be found is {WRONG_RULE!r}, not {find!r}")
        if step is not None or kind is not None:
            raise ValueError(f"with find={WRONG_RULE!r} the whole walk is shown: neither step nor kind is asked for")
        return _finding(trace, rule, show_me, seed)
    if rule is not None:
        raise ValueError(f"a rule is planted with find={WRONG_RULE!r}")
    kinds = _kinds(kind)
    numbers = sorted(set(_listed(step)))
    if numbers and numbers[0] > start + MOST_STEPS and isinstance(numbers[0], int):
        start = numbers[0] - 1
    trace, note = shown(trace, start)
    chooser = Chooser(trace, tolerance, _checked(candidates), seed)
    if numbers:
        made = chooser.about(steps_at(trace, numbers), kinds)
    else:
        made = chooser.handful(questions, kinds)
    if not made:
        raise ValueError(
            "there is nothing to ask: no step of this walk " + (
                f"can be asked for {kinds[0]!r}" if len(kinds) == 1 and trace["steps"] else "was recorded")
        )  # fmt: skip
    return _asking(trace, note, made, show_me)


def _kinds(kind: Any) -> Sequence[str]:
    """What may be asked; ValueError for what cannot."""
    kinds = _listed(kind) or MIX
    for each in kinds:
        if each not in KINDS:
            raise ValueError(f"what can be asked of a step is {', '.join(KINDS)}, not {each!r}")
    return kinds


def _listed(given: Any) -> list[Any]:
    """None, one or several, as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple, range, set)) else [given]


def _checked(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Candidates, each of which has an answer and a hint."""
    for each in candidates:
        if not isinstance(each, Mapping) or not {"answer", "hint"} <= set(each):
            raise ValueError(f"a candidate is a dictionary with an answer and a hint, and perhaps a step; got {each!r}")
    return list(candidates)


# Questions, and what their answers open ----


def _asking(trace: Trace, note: str | None, made: list[Question], show_me: bool) -> Quiz:
    """The quiz that asks these questions one after the other."""
    parts = parts_of(trace, note, [question.at for question in made])
    secret = digest(json.dumps([parts, [vars(question) for question in made]], sort_keys=True, default=str))
    keys = [key_of(secret, "key", k) for k in range(len(made))]
    asked = [_asked(trace, question, secret, k, keys[k], show_me) for k, question in enumerate(made)]
    for part, question, each in zip(parts, made, asked, strict=False):
        known = part.pop("known")
        each["knows"] = known if question.kind in TO_WORK_OUT else None
    opened = [{"part": part, "told": question.told} for part, question in zip(parts[1:], made, strict=True)]
    for k, each in enumerate(asked[1:]):
        opened[k]["question"] = each
    kept = [sealed(key, each) for key, each in zip(keys, opened, strict=True)]
    data = parts[0] | {"quiz": {"count": len(made), "question": asked[0], "sealed": kept}}
    title = f"Quiz: {words.counted_as(len(made), 'question')} about {_walk(trace)}"
    return Quiz(data, before(trace, made[0].at), title, f"{title}. {_numbered(trace, made[0])}: {made[0].say}")


def _walk(trace: Trace) -> str:
    """What is asked about: `a backward walk: 4 nodes, 3 steps`, or `2 walks: ...`."""
    summary = words.summary(trace)
    return summary if summary[0].isdigit() else f"a {summary[0].lower()}{summary[1:]}"


def _numbered(trace: Trace, question: Question) -> str:
    return f"Step {question.at + 1 + trace['first']} of {trace['total']}"


def _asked(trace: Trace, question: Question, secret: str, k: int, key: bytes, show_me: bool) -> dict[str, Any]:
    """A question as a page is handed it."""
    salt = digest(secret, "salt", k)[:16]
    edge, start, end = words.ways(trace)[question.at]
    step = trace["steps"][question.at]
    lit = {"edge": edge, "from": start, "to": end, "passed": words.passages(trace)[question.at], "accumulates": False,
           "node": step["node"], "back": words.is_back(trace, step)}  # fmt: skip
    return {
        "kind": question.kind, "form": question.form, "say": f"{_numbered(trace, question)}. {question.say}",
        "choices": [_choice(each) for each in question.choices], "note": question.note, "plain": question.plain,
        "width": question.width, "lit": lit if question.lit else None, "salt": salt,
        "right": {name_of(salt, answer): wrapped(salt, answer, key) for answer in question.right},
        "shows": wrapped(salt, GIVEN_UP, key) if show_me else None,
        **_hints(salt, secret, k, question.hints),
    }  # fmt: skip


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    return choice if "text" not in choice else choice | {"text": words.spaced(choice["text"])}


def _hints(salt: str, secret: str, k: int, hints: list[tuple[list[str], str]]) -> dict[str, Any]:
    """Sealed sentences, and which of them wrong answers open."""
    opens, texts = {}, []
    for i, (answers, text) in enumerate(hints):
        key = key_of(secret, "hint", k, i)
        texts.append(sealed(key, words.spaced(text)))
        opens |= {name_of(salt, answer): [i, wrapped(salt, answer, key)] for answer in answers}
    return {"hints": opens, "texts": texts}


# A wrong rule to find --------


def _finding(trace: Any, rule: Any, show_me: bool, seed: int) -> Quiz:
    """The quiz in which the first wrong step is to be marked."""
    found = planted(trace, rule, seed)
    wrong, note = shown(found.trace, max(0, found.first - MOST_STEPS // 2) if found.first >= MOST_STEPS else 0)
    whole = payload(wrong, note)
    hidden = {name: {"text": None, "source": None, "file": None, "line": None, "kind": told["kind"], "reason": None}
              for name, told in whole["rules"].items()}  # fmt: skip
    plain = [each | {"formula": None, "numbers": None, "reads": _at_hand(whole, each)} for each in whole["steps"]]
    number = found.first + 1
    secret = digest(json.dumps(whole, sort_keys=True), found.told, number)
    salt, key = digest(secret, "salt")[:16], key_of(secret, "key")
    at = found.first - wrong["first"]
    told = {"told": f"Step {number} is the first wrong one. {found.told}", "step": at + 1,
            "formula": formula.of_step(wrong, wrong["steps"][at])}  # fmt: skip
    later = [str(each + 1) for each in found.later]
    question = {
        "form": "step", "salt": salt, "right": {name_of(salt, str(number)): wrapped(salt, str(number), key)},
        "say": "One rule is wrong. Mark the first wrong step.",
        "plain": "That step is right: it follows from what it was handed. Go on, or back.",
        "shows": wrapped(salt, GIVEN_UP, key) if show_me else None,
        **_hints(salt, secret, 0, [(later, "That step is wrong, but an earlier one is wrong too.")]),
    }
    data = whole | {
        "steps": plain, "rules": hidden, "formulas": [], "insides": {}, "besides": "Values at hand",
        "quiz": {"count": 1, "question": question, "sealed": [sealed(key, told)]},
    }  # fmt: skip
    title = f"Quiz: {_walk(wrong)}"
    return Quiz(data, before(wrong, 0), title, f"{title}. {question['say']}")


def _at_hand(whole: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """What any rule may read: the inputs and the result. What the wrong one did read would tell which it is."""
    inputs = {name: whole["nodes"][start]["value"] for start, end, name in whole["edges"] if end == step["node"]}
    return inputs | {"out": whole["nodes"][step["node"]]["value"]}
