"""Trials of hints: a reader who knows a lesson, a wrong answer and what the lesson says to it looks for the right one.

    python tests/lesson_hints.py dump FOLDER [01 04 ...]
    python tests/lesson_hints.py try FOLDER ID ANSWER           (`-` reads the answer from standard input)
    python tests/lesson_hints.py tries FOLDER < LINES           (each line is {"id": ..., "answer": ...})
    python tests/lesson_hints.py collect FOLDER

`dump` writes for each lesson NN.md, its text with what its cells print and its walks show, and NN.json, a list of wrong
answers: to each question the foreseen ones and some that nobody foresaw, to each exercise its known mistakes and one
line or gap filled wrongly. Right answers are in FOLDER/sealed, which readers must not open. `try` says what the card or
the exercise says, and keeps each try; three are allowed. `collect` writes the tries into `tests/lessons/hints.toml`, in
place of older ones after the same wrong answer.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import math
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "viz"), str(ROOT / "tests")]

import numpy as np  # noqa: E402 - after the paths

import micrograd_plus as mg  # noqa: E402 - as above
from lesson_answers import answer_in_words, plausible_answers, reply_to  # noqa: E402 - as above
from lesson_pages import FOLDED  # noqa: E402 - as above
from micrograd_plus import exercises  # noqa: E402 - as above
from micrograd_plus.exercises.mark import mark  # noqa: E402 - as above
from micrograd_plus.exercises.sandboxed import carry_out  # noqa: E402 - as above

MOST_TRIES = 3
SEED = 11
IN_A_WALK = ("step", "node")
"""Forms of questions that are answered in a walk, and not in words."""
MOST_UNFORESEEN = 2
MOST_PRINTED = 64
"""Values of a walk with more entries are told by their shape."""
TRIALS = ROOT / "tests" / "lessons" / "hints.toml"
BY_RUNNING = ("the-pixel", "pixel-of-the-5")
"""Questions that a program of the reader's answers, and no thinking."""


# Wrong answers -------------------------------------------------------------------------------------------------------


def wrong_answers_to(question: dict[str, Any]) -> list[str]:
    """Return the foreseen wrong answers to a question in words, and some that nobody foresaw."""
    foreseen: dict[str, str] = {}
    for texts, typed, _ in question["wrong"]:
        if typed and typed in texts:
            answer = answer_in_words(question, typed)
            foreseen.setdefault(reply_to(question, answer), answer)
    others = [each for each in plausible_answers(question) if reply_to(question, each) not in ("", *foreseen)]
    return [*foreseen.values(), *others[:MOST_UNFORESEEN]]


def wrong_codes(name: str, starter: str, right: str) -> list[str]:
    """Return wrong answers to an exercise as code: its known mistakes, and the starter with one part filled wrongly."""
    known = [code_of(each.wrong_answer, name) for each in exercises.get_exercise(name).mistakes]
    candidates = [*filter(None, known), *swapped_lines(starter, right), *wrong_gaps(name, starter, right)]
    found: list[str] = []
    for code in candidates:
        if code not in found and is_wrong(name, code):
            found.append(code)
    return found


def code_of(answer: Any, name: str) -> str:
    """Return the source of a known wrong answer under the exercise's name in lessons; empty if it has none."""
    rules = inspect.getclosurevars(answer).nonlocals.get("functions", []) if inspect.isfunction(answer) else []
    if len(rules) == 1:
        answer = rules[0][1]                      # a wrong rule of the museum
    try:
        lines, _ = inspect.findsource(answer.__init__) if inspect.isclass(answer) else inspect.getsourcelines(answer)
        source = textwrap.dedent("".join(lines))     # a class with one edit is alone in its file
    except (OSError, TypeError):
        return ""
    tree = ast.parse(source)
    if len(tree.body) != 1 or not isinstance(tree.body[0], (ast.FunctionDef, ast.ClassDef)):
        return ""
    defined = tree.body[0]
    defined.decorator_list = []
    if ast.get_docstring(defined) is not None:
        del defined.body[0]                       # it says what is wrong
    if isinstance(defined, ast.FunctionDef):
        defined.name = re.sub(r"\W", "_", name)
        if [each.arg for each in defined.args.args] == ["values", "xp"]:
            return ""                             # several rules behind one function
    return ast.unparse(tree)


def is_wrong(name: str, code: str) -> bool:
    """Return whether code runs as an answer, and is wrong. An error at once is no mistake that needs a hint."""
    try:
        reply = exercises.check(name, compile_answer(code), seed=SEED)
    except (SyntaxError, NameError):
        return False
    return not reply and "it stopped with" not in reply.text


def compile_answer(code: str) -> Any:
    """Return the last function or class that code defines; decorators are left out."""
    tree = ast.parse(code)
    defined = [each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))]
    if not defined:
        raise SyntaxError("the answer must define a function or a class")
    for each in defined:
        each.decorator_list = []
    tree.body = [each for each in tree.body if not isinstance(each, ast.Expr)]      # it prints what the lesson has
    names: dict[str, Any] = {"np": np, "mg": mg, "math": math}
    exec(compile(tree, "<answer>", "exec"), names)  # noqa: S102 - an answer of our own readers
    return names[defined[-1].name]


def swapped_lines(starter: str, right: str) -> Iterator[str]:
    """Yield a right answer with the line that is too many instead of each line for which it could be taken."""
    offered = [line.strip("# ").strip() for line in starter.splitlines() if re.match(r"\s+# \S", line)]
    lines = right.splitlines()
    for extra in [each for each in offered if each not in {line.strip() for line in lines}]:
        for k, line in enumerate(lines):
            if line.strip() and begins_alike(line.strip(), extra):
                indent = line[: len(line) - len(line.lstrip())]
                yield "\n".join([*lines[:k], indent + extra, *lines[k + 1 :]])


def begins_alike(one: str, other: str) -> bool:
    """Return whether two lines assign to the same name, or both return, or are both loops or conditions."""
    return one.split(maxsplit=1)[0] == other.split(maxsplit=1)[0]


def wrong_gaps(name: str, starter: str, right: str) -> Iterator[str]:
    """Yield the starter with its gaps filled rightly, except one that has a parameter or what another gap needs."""
    function = next((each for each in ast.parse(starter).body if isinstance(each, ast.FunctionDef)), None)
    if function is None or "Take the # away" in starter:
        return
    filled = sorted(gaps_of(ast.parse(starter), ast.parse(right)))
    parts = starter.split("...")
    if not filled or len(filled) != len(parts) - 1:
        return
    texts = [text for _, text in filled]
    parameters = [each.arg for each in function.args.args if each.arg != "xp"]
    for k, text in enumerate(texts):
        candidates = dict.fromkeys([*parameters, *texts])
        fillings = [[*texts[:k], other, *texts[k + 1 :]] for other in candidates if other != text]
        codes = ("".join(map("".join, zip(parts, [*each, ""], strict=True))) for each in fillings)
        yield from itertools.islice((code for code in codes if is_wrong(name, code)), 1)


def gaps_of(starter: Any, right: Any) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the place of each gap in a starter, and the code that fills it in a right answer of the same form."""
    if isinstance(starter, ast.Constant) and starter.value is ...:
        yield (starter.lineno, starter.col_offset), ast.unparse(right)
    elif isinstance(starter, ast.AST) and type(starter) is type(right):
        for name in starter._fields:
            yield from gaps_of(getattr(starter, name), getattr(right, name))
    elif isinstance(starter, list) and isinstance(right, list):
        for one, other in zip(starter, right, strict=False):
            yield from gaps_of(one, other)


@cache
def is_right(name: str, code: str) -> bool:
    """Return whether code is a right answer. What is wrong with others is not looked for."""
    try:
        answer = compile_answer(code)
    except (SyntaxError, NameError):
        return False
    exercise = exercises.get_exercise(name)
    cases = exercise.cases(SEED)
    return mark(exercise, cases, [carry_out(answer, case.request) for case in cases], diagnose=False).right


def reply_to_code(name: str, code: str) -> str:
    """Return what a student reads about a wrong answer: the reply and three hints; an empty text if it is right."""
    try:
        reply = exercises.check(name, compile_answer(code), seed=SEED)
    except (SyntaxError, NameError) as error:
        return f"{type(error).__name__}: {error}"
    return "" if reply else "\n".join([reply.text, *(str(reply.hint()) for _ in range(3))])


# What a reader gets --------------------------------------------------------------------------------------------------


def items_of(lesson: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each wrong answer in a lesson with what is said to it, and what judges the next answer."""
    for index, card, questions in lesson.cards:
        for question in questions:
            if question["form"] in IN_A_WALK or question["name"] in BY_RUNNING:
                continue
            shown = {key: question[key] for key in ("say", "note", "choices") if question[key]}
            if card.data.get("picture"):
                shown["picture"] = card.data["picture"]
            for turn, wrong in enumerate(wrong_answers_to(question), start=1):
                item = {"id": f"{lesson.number}/{question['name']}/{turn}", "turn": turn, "cell": index, **shown,
                        "wrong": wrong, "reply": reply_to(question, wrong)}  # fmt: skip
                yield item, {"question": question}
    for index, cell in enumerate(lesson.book.cells):
        for name in re.findall(r"""exercises\.answer\(["']([^"']+)""", cell.source):
            if {"write", "exercise"} & set(cell.metadata.get("tags", [])):
                for turn, wrong in enumerate(wrong_codes(name, cell.source, lesson.solution_of(cell)), start=1):
                    item = {"id": f"{lesson.number}/{name}/{turn}", "turn": turn, "cell": index, "starter": cell.source,
                            "wrong": wrong, "reply": reply_to_code(name, wrong)}  # fmt: skip
                    yield item, {"exercise": name}


def text_of(lesson: Any) -> str:
    """Return the text of a lesson as a reader sees it: its cells, what they print, and where it asks."""
    parts: list[str] = []
    asking: dict[int, list[Any]] = {}
    for index, card, questions in lesson.cards:
        asking.setdefault(index, []).append((card, questions))
    for index, cell in enumerate(lesson.cells):
        parts.append(f"[cell {index}]")
        if index in asking:
            for card, questions in asking[index]:
                parts += [text_of_walk(card.data)] if card.mount == "mountQuiz" else []
                parts += [f"QUESTION {each['name']}: {each['say']}" for each in questions]
        elif cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{FOLDED.sub('…', cell.source)}\n```")
            printed = "".join(each.get("text", "") or each.get("data", {}).get("text/plain", "") + "\n"
                              for each in cell.outputs)  # fmt: skip
            parts += [f"```text\n{printed.rstrip()}\n```"] if printed.strip() else []
    return "\n\n".join(parts) + "\n"


def text_of_walk(data: dict[str, Any]) -> str:
    """Return what the graph of a card shows: the value of each node, and what each step of the walk has sent."""
    shown = [f"{name} = {text_of_value(data, node['value'])}"
             for name, node in zip(data["names"], data["nodes"], strict=True)]  # fmt: skip
    arrived = [f"{data['names'][step['from']]} sends to {data['names'][step['to']]}: "
               f"{text_of_value(data, step['contribution'])}" for step in data["steps"]]  # fmt: skip
    return "\n".join(["```text", *shown, *arrived, "```"])


def text_of_value(data: dict[str, Any], place: int | None) -> str:
    """Return a value of a card's data as nested lists in four digits; its shape if it has many entries or none."""
    if place is None:
        return "not shown"
    shape, entries = data["values"][place]["shape"], data["values"][place]["data"]
    if not entries or len(entries) > MOST_PRINTED:
        return f"an array of shape {tuple(shape)}"
    short = [float(f"{each:.4g}") if isinstance(each, float) else each for each in entries]
    return str(np.array(short, dtype=object).reshape(shape).tolist())


def dump(folder: Path, numbers: list[str]) -> None:
    """Write the texts, the wrong answers and, apart from them, what judges the next answers."""
    from lesson_runs import LESSONS, lesson_of

    (folder / "sealed").mkdir(parents=True, exist_ok=True)
    for name in [name for name in LESSONS if not numbers or name[:2] in numbers]:
        lesson = lesson_of(name)
        found = sorted(items_of(lesson), key=lambda pair: (pair[0]["turn"], pair[0]["cell"]))
        items = [item for item, _ in found]
        sealed = {item["id"]: judge | {"wrong": item["wrong"]} for item, judge in found}
        (folder / f"{name[:2]}.md").write_text(text_of(lesson), encoding="utf-8")
        (folder / f"{name[:2]}.json").write_text(json.dumps(items, indent=1, ensure_ascii=False), encoding="utf-8")
        (folder / "sealed" / f"{name[:2]}.json").write_text(json.dumps(sealed), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(items)} wrong answers\n")


def tries_of(folder: Path) -> list[dict[str, Any]]:
    """Return the tries that readers have made, in order."""
    return [json.loads(line) for each in sorted(folder.glob("tries-*.jsonl"))
            for line in each.read_text("utf-8").splitlines()]  # fmt: skip


def attempt(folder: Path, name: str, answer: str) -> str:
    """Keep a reader's answer, and return what the lesson says to it."""
    lesson = name[:2]
    judge = json.loads((folder / "sealed" / f"{lesson}.json").read_text("utf-8"))[name]
    before = [each for each in tries_of(folder) if each["id"] == name]
    if len(before) >= MOST_TRIES or any(each["right"] for each in before):
        return "This one is closed. Go on with the next."
    reply = reply_to(judge["question"], answer) if "question" in judge else reply_to_code(judge["exercise"], answer)
    with (folder / f"tries-{lesson}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": name, "answer": answer, "right": not reply}, ensure_ascii=False) + "\n")
    return reply or "Right. Go on with the next."


def collect(folder: Path) -> None:
    """Write the tries into the table of trials, in place of older ones after the same wrong answer."""
    text = TRIALS.read_text("utf-8")
    trials = {key_of(each): each for each in tomllib.loads(text)["trials"]}
    tries: dict[str, list[str]] = {}
    for each in tries_of(folder):
        tries.setdefault(each["id"], []).append(each["answer"])
    lessons = {each.stem[:2]: each.stem for each in (ROOT / "docs" / "lessons").glob("[0-9][0-9]_*.md")}
    for name, answers in tries.items():
        lesson, asked, _ = name.split("/")
        judge = json.loads((folder / "sealed" / f"{lesson}.json").read_text("utf-8"))[name]
        kind = "question" if "question" in judge else "exercise"
        trial = {"lesson": lessons[lesson], kind: asked, "wrong": judge["wrong"], "tries": answers}
        trials[key_of(trial)] = trial
    head, mark, _ = text.partition("[[trials]]")
    tables = [f"{mark}\n" + "".join(f"{key} = {toml_text(value)}\n" for key, value in each.items())
              for each in sorted(trials.values(), key=lambda trial: trial["lesson"])]  # fmt: skip
    TRIALS.write_text(head + "\n".join(tables), encoding="utf-8")


def key_of(trial: dict[str, Any]) -> tuple[str, ...]:
    """Return what tells a trial from all others: its lesson, its question or exercise, and the wrong answer."""
    return trial["lesson"], trial.get("question", ""), trial.get("exercise", ""), trial["wrong"].strip()


def toml_text(text: str | list[str]) -> str:
    """Return a text, or several, as TOML writes them: code over several lines, everything else in one."""
    if isinstance(text, list):
        return f"[{', '.join(map(toml_text, text))}]"
    return f"'''\n{text.rstrip()}\n'''" if "\n" in text else json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Do what the command line asks for."""
    command, folder, *rest = sys.argv[1:]
    if command == "dump":
        dump(Path(folder), rest)
    elif command == "try":
        name, answer = rest
        sys.stdout.write(attempt(Path(folder), name, sys.stdin.read() if answer == "-" else answer) + "\n")
    elif command == "tries":
        for each in map(json.loads, filter(str.strip, sys.stdin)):
            sys.stdout.write(f"{each['id']}: {attempt(Path(folder), each['id'], each['answer'])}\n")
    else:
        collect(Path(folder))


if __name__ == "__main__":
    main()
