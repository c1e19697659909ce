"""Quiz pages: a step is hidden until its question is answered, or a wrong rule must be found.

The page holds the walk up to the question. Answers are stored only as salted hashes. Everything that follows, including
the next question, is encrypted with a key that the right answer unlocks, and by default "Show me" as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from .. import formula, notebook, words
from ..live_widgets import quiz_widget
from ..payload import compress, payload
from ..player import compressed_player, one_line, player_source
from ..trace_input import Trace
from ..window import MOST_STEPS, load_window
from .cards import check_texts, check_tolerance, flatten, is_number
from .output import SealedOutput
from .payload_parts import before, is_name_of_step, numbers_of_steps, split_payload, steps_at
from .planted_mistakes import plant
from .questions import KINDS, Question
from .sealed_answers import hash_of, key_of, name_of, seal, wrap_key
from .step_choice import MIX, Chooser

TOLERANCE = 0.02
WRONG_RULE = "wrong rule"
GIVEN_UP = "show me"
CHOICES_OF_A_POLL = 5
TO_WORK_OUT = ("gradient", "shape", "sign", "formula", "picture", "cell")
"""Kinds of question that show the known numbers beside them."""


class Quiz(SealedOutput):
    """Quiz about a walk for a notebook; `save` writes a page, `widget` keeps the score.

    `data` is the content of the page, `count` the number of questions, `title` and `summary` describe the quiz.
    """

    mount = "mountQuiz"

    def __init__(self, data: dict[str, Any], seen: Trace, title: str, summary: str) -> None:
        super().__init__(data, title, summary)
        self.count, self._seen = data["quiz"]["count"], seen

    def code(self) -> str:
        """Return the code of a page as one line."""
        return one_line(player_source(with_quiz=True))

    def packed_code(self) -> str:
        """Return the code as a packed function body that returns its entry points."""
        return compressed_player(with_quiz=True)

    def still(self) -> str:
        """Return a picture of the walk up to the question, if its graph is small."""
        return notebook.still(payload(self._seen))

    def widget(self) -> Any:
        """Return a live widget whose `score` counts answers right at once, right later, shown, and all."""
        return quiz_widget(compress(self.data)[0])


def quiz(
    trace: Any,
    step: int | str | tuple[str, str] | Sequence[Any] | None = None,
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
    say: str = "",
    why: str = "",
    entry: int | tuple[int, ...] | None = None,
) -> Quiz:
    """Return questions about a walk; see `viz.quiz`."""
    check_tolerance(tolerance)
    if not hasattr(questions, "__index__") or questions < 1:
        raise ValueError(f"questions must be a whole number of at least 1, got {questions!r}")
    if find is not None:
        if find != WRONG_RULE:
            raise ValueError(f"find must be {WRONG_RULE!r}, got {find!r}")
        if step is not None or kind is not None:
            raise ValueError(f"with find={WRONG_RULE!r} the whole walk is shown, so step and kind cannot be used")
        if say or why or entry is not None or candidates:
            raise ValueError(f"with find={WRONG_RULE!r} the quiz asks for a step in its own words, so say, why, entry "
                             "and candidates cannot be used")  # fmt: skip
        return _build_search(trace, rule, show_me, seed)
    if rule is not None:
        raise ValueError(f"rule needs find={WRONG_RULE!r}")
    kinds = _kinds(kind, ABOUT_ENTRIES if entry is not None else MIX)
    check_texts(say=say, why=why)
    trace, numbers = numbers_of_steps(trace, [step] if is_name_of_step(step) else _as_list(step))
    if numbers and isinstance(numbers[0], int) and numbers[0] > start + MOST_STEPS:
        start = numbers[0] - 1
    trace, note = load_window(trace, start)
    chooser = Chooser(trace, tolerance, _check_candidates(candidates), seed, _as_entry(entry))
    chosen = _choose(chooser, numbers, questions, kinds)
    if say or why or entry is not None:
        _word(chosen, numbers, say, why)
    return _build_quiz(trace, note, chosen, show_me)


ABOUT_ENTRIES = ("gradient", "cell")
"""The kinds of question that can ask for an entry."""


def _as_entry(entry: Any) -> tuple[int, ...] | None:
    """Return the index of an entry as a tuple, or raise TypeError."""
    if entry is None:
        return None
    places = tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)
    if any(isinstance(each, bool) or not hasattr(each, "__index__") for each in places):
        raise TypeError(f"entry must be an index, or a tuple of indices such as (1, 0), got {entry!r}")
    return tuple(each.__index__() for each in places)


def _choose(chooser: Chooser, numbers: list[int], questions: int, kinds: Sequence[str]) -> list[Question]:
    """Return questions about these steps, or about a few that the chooser selects; ValueError if there are none."""
    if numbers:
        return chooser.about(steps_at(chooser.trace, numbers), kinds)
    chosen = chooser.handful(questions, kinds)
    if not chosen:
        has_steps = len(kinds) == 1 and chooser.trace["steps"]
        what = f"supports kind {kinds[0]!r}" if has_steps else "was recorded"
        raise ValueError(f"no question is possible: no step of this walk {what}")
    return chosen


def _word(chosen: list[Question], numbers: list[int], say: str, why: str) -> None:
    """Give a question the words of its author."""
    if len(numbers) != 1:
        raise ValueError("say, why and entry are about one question, so they need the step that it asks about")
    if say:
        chosen[0].say, chosen[0].is_authors = say, True
    if why:
        chosen[0].reveal = f"{chosen[0].reveal} {why}"


def _kinds(kind: Any, usual: Sequence[str]) -> Sequence[str]:
    """Return kinds of question, or raise ValueError for an unknown one, and for one that asks for no entry."""
    kinds = _as_list(kind) or usual
    for each in kinds:
        if each not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {each!r}")
        if usual is ABOUT_ENTRIES and each not in ABOUT_ENTRIES:
            raise ValueError(f"entry needs kind {' or '.join(map(repr, ABOUT_ENTRIES))}, got {each!r}")
    return kinds


def _as_list(value: Any) -> list[Any]:
    """Return None, one value or several values as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, range, set)) else [value]


def _check_candidates(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the candidates, or raise ValueError if one has no answer or hint."""
    if isinstance(candidates, (Mapping, str)) or not isinstance(candidates, Iterable):
        raise TypeError(f"candidates must be a list of dictionaries, got {candidates!r}")
    for each in candidates:
        if not isinstance(each, Mapping) or not {"answer", "hint"} <= set(each):
            raise ValueError(
                f"a candidate must be a dictionary with an answer, a hint and optionally a step, got {each!r}"
            )
        if not all(is_number(x) or isinstance(x, complex) for x in flatten(each["answer"])):
            raise TypeError(f"the answer of a candidate must be a number or an array, got {each['answer']!r}")
    return list(candidates)


# Questions, and the parts that answers unlock


def _build_quiz(trace: Trace, note: str | None, chosen: list[Question], show_me: bool) -> Quiz:
    """Return a quiz with these questions in order."""
    parts = split_payload(trace, note, [question.at for question in chosen])
    secret = hash_of(json.dumps([parts, [vars(question) for question in chosen]], sort_keys=True, default=str))
    keys = [key_of(secret, "key", k) for k in range(len(chosen))]
    questions = [_question_data(trace, question, secret, k, keys[k], show_me) for k, question in enumerate(chosen)]
    for part, question, each in zip(parts, chosen, questions, strict=False):
        known_values = part.pop("known")
        each["knows"] = known_values if question.kind in TO_WORK_OUT else None
    opened = [{"part": part, "reveal": question.reveal} for part, question in zip(parts[1:], chosen, strict=True)]
    for k, each in enumerate(questions[1:]):
        opened[k]["question"] = each
    sealed_parts = [seal(key, each) for key, each in zip(keys, opened, strict=True)]
    data = parts[0] | {"quiz": {"count": len(chosen), "question": questions[0], "sealed": sealed_parts}}
    title = f"Quiz: {words.pluralize(len(chosen), 'question')} about {_walk(trace)}"
    seen = before(trace, chosen[0].at, chosen[0].hides)
    made = Quiz(data, seen, title, f"{title}. {_step_title(trace, chosen[0])}: {chosen[0].say}")
    if any(question.named for question in chosen):
        polls = [question.as_poll(CHOICES_OF_A_POLL) if question.named else question for question in chosen]
        made.as_poll = partial(_build_quiz, trace, note, polls, show_me)
    return made


def _walk(trace: Trace) -> str:
    """Return a description of a walk for a title: `a backward walk: 4 nodes, 3 steps`, or `2 walks: ...`."""
    summary = words.summary(trace)
    return summary if summary[0].isdigit() else f"a {summary[0].lower()}{summary[1:]}"


def _step_title(trace: Trace, question: Question) -> str:
    return f"Step {question.at + 1 + trace['first']} of {trace['total']}"


def _question_data(trace: Trace, question: Question, secret: str, k: int, key: bytes, show_me: bool) -> dict[str, Any]:
    """Return a question as the page holds it."""
    salt = hash_of(secret, "salt", k)[:16]
    edge, start, end = words.step_edges(trace)[question.at]
    step = trace["steps"][question.at]
    links = words.output_links(trace)[question.at]
    lit = {"edge": edge, "from": start, "to": end, "passed": links, "accumulates": False,
           "node": step["node"], "back": words.is_back(trace, step)}  # fmt: skip
    return {
        "kind": question.kind, "form": question.form,
        "say": question.say if question.is_authors else f"{_step_title(trace, question)}. {question.say}",
        "choices": [_choice(each) for each in question.choices], "note": question.note, "plain": question.plain,
        "hides": None if question.hides is None else name_of(salt, question.hides),
        "width": question.width, "lit": lit if question.lit else None, "salt": salt,
        "right": {name_of(salt, answer): wrap_key(salt, answer, key) for answer in question.right},
        "shows": wrap_key(salt, GIVEN_UP, key) if show_me else None,
        **_hints(salt, secret, k, question.hints),
    }  # fmt: skip


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    return choice if "text" not in choice else choice | {"text": words.single_line(choice["text"])}


def _hints(salt: str, secret: str, k: int, hints: list[tuple[list[str], str]]) -> dict[str, Any]:
    """Return sealed hints, and the wrong answers that unlock them."""
    opens, texts = {}, []
    for i, (answers, text) in enumerate(hints):
        key = key_of(secret, "hint", k, i)
        texts.append(seal(key, words.single_line(text)))
        opens |= {name_of(salt, answer): [i, wrap_key(salt, answer, key)] for answer in answers}
    return {"hints": opens, "texts": texts}


# A wrong rule to find --------


def _build_search(trace: Any, rule: Any, show_me: bool, seed: int) -> Quiz:
    """Return a quiz about the first wrong step."""
    planted = plant(trace, rule, seed)
    wrong, note = load_window(
        planted.trace, max(0, planted.first - MOST_STEPS // 2) if planted.first >= MOST_STEPS else 0
    )
    full = payload(wrong, note)
    hidden = {name: {"text": None, "source": None, "file": None, "line": None, "kind": reveal["kind"], "reason": None}
              for name, reveal in full["rules"].items()}  # fmt: skip
    plain = [
        {name: part for name, part in each.items() if name != "product" or part == ""}
        | {"formula": None, "numbers": None, "reads": _at_hand(full, each)}
        for each in full["steps"]
    ]
    number = planted.first + 1
    secret = hash_of(json.dumps(full, sort_keys=True), planted.reveal, number)
    salt, key = hash_of(secret, "salt")[:16], key_of(secret, "key")
    at = planted.first - wrong["first"]
    reveal = {"reveal": f"Step {number} is the first wrong one. {planted.reveal}", "step": at + 1,
            "formula": formula.step_with_symbols(wrong, wrong["steps"][at])}  # fmt: skip
    later = [str(each + 1) for each in planted.later]
    question = {
        "form": "step", "salt": salt, "right": {name_of(salt, str(number)): wrap_key(salt, str(number), key)},
        "say": "One rule is wrong. Mark the first wrong step.",
        "plain": "That step is right: its result follows from its input. Try a step before or after it.",
        "shows": wrap_key(salt, GIVEN_UP, key) if show_me else None,
        **_hints(salt, secret, 0, [(later, "That step is wrong, but an earlier step is wrong too.")]),
    }
    data = full | {
        "steps": plain, "rules": hidden, "formulas": [], "insides": {}, "besides": "Known values",
        "quiz": {"count": 1, "question": question, "sealed": [seal(key, reveal)]},
    }  # fmt: skip
    title = f"Quiz: {_walk(wrong)}"
    return Quiz(data, before(wrong, 0), title, f"{title}. {question['say']}")


def _at_hand(full: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Return the values that any rule may read: inputs and result. The values that were read would reveal the wrong
    rule."""
    inputs = {name: full["nodes"][start]["value"] for start, end, name in full["edges"] if end == step["node"]}
    return inputs | {"out": full["nodes"][step["node"]]["value"]}
