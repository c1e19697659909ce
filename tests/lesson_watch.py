"""Code that a lesson's kernel runs before its first cell. It notes questions and their answers, and forbids a network.

The texts of the answers are those that a page looks up, so a test can type them. `tell` writes everything to a file.
"""

import json
import socket
import sys
from pathlib import Path

from micrograd_plus.exercises import notebook as answers_in_code
from micrograd_plus_viz.quizzes import cards, quiz_page
from micrograd_plus_viz.quizzes.sealed_answers import name_of

questions = []
"""The questions in order, each with a salt that its page has too."""


def watch_cards(make):
    """Return `card_data` that notes its answers."""

    def card_data(say, why, answers, hints, show_me):
        """Note a card without a walk."""
        data = make(say, why, answers, hints, show_me)
        taken, wrong = set(answers.right_texts()), []
        for answer, hint in hints.items():
            typed = answers.typed_text(answer)
            wrong.append([[each for each in answers.texts(answer) if each not in taken], typed, hint])
            taken.update(answers.texts(answer))
        exact = answers.right if answers.form == "number" else None
        exact = [float(each) for each in cards.flatten(answers.right)] if answers.form == "numbers" else exact
        questions.append({"salt": data["salt"], "kind": answers.form, "form": answers.form, "say": say, "why": why,
                          "right": answers.right_texts(), "exact": exact, "wrong": wrong, "width": data["width"],
                          "choices": data["choices"], "shape": (data["picture"] or {}).get("shape"),
                          "note": data["note"], "plain": data["plain"]})  # fmt: skip
        return data

    return card_data


def watch_quizzes(make):
    """Return `_question_data` that notes its answers."""

    def question_data(trace, question, secret, k, key, show_me):
        """Note a question about a walk."""
        data = make(trace, question, secret, k, key, show_me)
        wrong = [[texts, texts[len(texts) // 2], hint] for texts, hint in question.hints]
        questions.append({"salt": data["salt"], "kind": question.kind, "form": question.form, "say": data["say"],
                          "why": question.reveal, "right": question.right, "exact": None, "wrong": wrong,
                          "width": question.width, "choices": [each.get("text", "") for each in question.choices],
                          "shape": None, "nodes": [each.get("node") for each in question.choices],
                          "note": data["note"], "plain": data["plain"]})  # fmt: skip
        return data

    return question_data


def watch_searches(build):
    """Return `_build_search` that notes which step is the first wrong one."""

    def build_search(*args):
        """Note a search for a wrong rule."""
        quiz = build(*args)
        question, steps = quiz.data["quiz"]["question"], range(1, len(quiz.data["steps"]) + 1)
        named = {name_of(question["salt"], str(number)): str(number) for number in steps}
        right = [named[name] for name in question["right"] if name in named]
        later = [named[name] for name in question["hints"] if name in named][:2]
        wrong = [[[each], each, "That step is wrong, but an earlier step is wrong too."] for each in later]
        questions.append({"salt": question["salt"], "kind": "wrong rule", "form": "step", "say": question["say"],
                          "why": "", "rule": args[1] if isinstance(args[1], str) else "", "right": right,
                          "exact": None, "wrong": wrong, "width": None, "choices": [], "shape": None,
                          "note": "The number of a step.", "plain": question["plain"]})  # fmt: skip
        return quiz

    return build_search


def refuse(*_, **__):
    """Raise OSError: a lesson needs no network."""
    raise OSError("a lesson asked for the network")


def peak_memory():
    """Return the most bytes of memory that this process has used. On Linux, `getrusage` would count the parent, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def tell(place):
    """Write the questions, the replies to exercises, the packages and the memory of this kernel to a file."""
    replies = {name: reply.right for name, reply in answers_in_code._replies.items() if name}
    kinds = {name: reply.exercise.kind for name, reply in answers_in_code._replies.items() if name}
    packages = sorted({name.partition(".")[0] for name in sys.modules})
    megabytes = peak_memory() / (1 << 20)
    with Path(place).open("w", encoding="utf-8") as file:
        json.dump({"questions": questions, "replies": replies, "kinds": kinds, "packages": packages,
                   "megabytes": megabytes}, file)  # fmt: skip


cards.card_data = watch_cards(cards.card_data)
quiz_page._build_search = watch_searches(quiz_page._build_search)
quiz_page._question_data = watch_quizzes(quiz_page._question_data)
socket.create_connection = socket.getaddrinfo = refuse
