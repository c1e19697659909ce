"""Answers to the questions of lessons: what a reader does to give one, and what a card says to it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from lesson_pages import bin_of, three_digits

TYPED = ("number", "whole", "numbers", "shape")
GROUPED = re.compile(r"[1-9]\d{0,2}(?:[ ,]\d{3})+")
"""A whole number with its digits in groups of three."""
NONSENSE = ("word", "nan", "...", "(1, 2, 3, 4, 5, 6)", "")


def wrong_tries(question: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield wrong answers with a part of what the card must say: named mistakes, and for a text box also nonsense."""
    for texts, typed, hint in question["wrong"]:
        listed = [text for text in texts if question["form"] != "node" or int(text) in question["nodes"]]
        if listed:                        # other nodes are answers in the graph
            yield action_of(question, typed if typed in listed else listed[0]), hint.replace("`", "")
    if question["form"] in TYPED:
        yield from (({"type": text}, " ") for text in NONSENSE)


def right_tries(question: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return the right answer in each of its spellings."""
    form, exact, right = question["form"], question["exact"], question["right"]
    actions = [action_of(question, right[len(right) // 2])]
    if form == "number" and exact is not None and math.isfinite(exact):
        fraction = Fraction(exact).limit_denominator(1000)
        texts = [repr(exact), f"{exact:.5g}", f"{exact:.4f}0".replace(".", ",") if abs(exact) > 1 else repr(exact)]
        texts += [f"{fraction.numerator}/{fraction.denominator}"] if abs(fraction - exact) <= 1e-3 * abs(exact) else []
        actions += [{"type": text} for text in texts]
    if form == "numbers":
        actions += [{"type": str(exact)}, {"type": " ".join(map(str, exact))}]
    if form == "shape" and right[0]:
        actions += [{"type": right[0].replace(",", by)} for by in (" × ", "x", ", ")] + [{"type": f"[{right[0]}]"}]
    return [(action, "✓") for action in actions]


def action_of(question: dict[str, Any], answer: str) -> dict[str, Any]:
    """Return what a reader does to give an answer, which is the text that the page looks up."""
    form = question["form"]
    if form in ("one", "choice"):
        return {"press": int(answer)}
    if form == "node":
        return {"press": question["nodes"].index(int(answer))}
    if form == "several":
        return {"toggle": [int(each) for each in answer.split(",") if each]}
    if form == "step":
        return {"mark": int(answer)}
    if form in ("cell", "cells"):
        indices = [list(map(int, each.split(","))) for each in answer.split(";")]
        places = [at[0] * question["shape"][1] + at[1] if len(at) > 1 else at[0] for at in indices]
        return {"cell": places[0]} if form == "cell" else {"cells": places}
    if form == "shape":
        return {"type": f"({answer}{',' * (',' not in answer and bool(answer))})"}
    if form == "numbers":
        return {"type": answer.replace(" ", ", ")}
    if form == "number" and answer[0] in "+-" and "inf" not in answer:
        return {"type": f"{answer[0]}{math.exp((int(answer[1:]) + 0.5) * question['width'])!r}"}
    return {"type": answer}


# Answers in words ----------------------------------------------------------------------------------------------------


def lookup_text(question: dict[str, Any], answer: str) -> str | None:
    """Return the text under which a card looks up an answer that a reader wrote down, or None if it is no answer.

    Entries of a picture are written as `[0, 1]`, several with spaces between them; several choices with ` and `.
    """
    form, answer = question["form"], answer.strip().replace("−", "-")
    if form in ("one", "choice", "several"):
        choices = [each.replace("`", "") for each in question["choices"]]
        parts = answer.replace("`", "").split(" and ") if form == "several" else [answer.replace("`", "")]
        chosen = [choices.index(each.strip()) for each in parts if each.strip() in choices]
        return ",".join(map(str, sorted(chosen))) if len(chosen) == len(parts) else None
    if form in ("shape", "cell", "cells"):
        places = re.findall(r"[(\[]([\d,\s]*)[)\]]", answer)
        texts = [",".join(re.findall(r"\d+", each)) for each in places]
        if form == "cells":
            return ";".join(sorted(texts, key=lambda text: [int(each) for each in text.split(",")])) if texts else None
        return texts[0] if len(texts) == 1 else None
    if form == "number" and GROUPED.fullmatch(answer):
        answer = re.sub(r"\D", "", answer)
    try:
        numbers = [float(Fraction(each)) for each in re.split(r"[,\s]+", answer.strip("[]() "))]
    except (ValueError, ZeroDivisionError):
        return None
    if form == "numbers":
        return " ".join(map(three_digits, numbers))
    if len(numbers) != 1:
        return None
    return bin_of(numbers[0], question["width"]) if question["width"] else f"{numbers[0]:g}"


def reply_to(question: dict[str, Any], answer: str) -> str:
    """Return what a card says to a wrong answer, or an empty text if the answer is right."""
    text = lookup_text(question, answer)
    if text is None:
        return f"That is not a valid answer. {question['note'] or ''}".strip()
    if text in question["right"]:
        return ""
    hint = next((hint for texts, _, hint in question["wrong"] if text in texts), question["plain"])
    return f"Not right. {hint}"


def answer_in_words(question: dict[str, Any], text: str) -> str:
    """Return the shortest answer that a card looks up under a text."""
    form = question["form"]
    if form in ("one", "choice", "several"):
        return " and ".join(question["choices"][int(each)] for each in text.split(",") if each)
    if form == "cells":
        return " ".join(f"[{each.replace(',', ', ')}]" for each in text.split(";"))
    if form == "cell":
        return f"[{text.replace(',', ', ')}]"
    if form == "shape":
        return f"({text.replace(',', ', ')}{',' * (',' not in text)})"
    if form == "numbers":
        return ", ".join(f"{float(each):g}" for each in text.split())
    if form == "number" and text[0] in "+-" and "inf" not in text:
        exact = float(action_of(question, text)["type"])
        spellings = [f"{float(f'{exact:.{digits}g}'):g}" for digits in range(1, 7)]
        return next((each for each in spellings if bin_of(float(each), question["width"]) == text), repr(exact))
    return text


def plausible_answers(question: dict[str, Any]) -> Iterator[str]:
    """Yield wrong answers that nobody foresaw: a lost sign, a factor or a term too much, turned axes, a neighbour."""
    words = answer_in_words(question, question["right"][len(question["right"]) // 2])
    if question["form"] == "number":
        right = float(words)
        yield from (f"{each:g}" for each in (0 - right, 2 * right, right + 1, right / 2))
    elif question["form"] == "numbers":
        right = [float(each) for each in words.split(", ")]
        yield ", ".join(f"{0 - each:g}" for each in right)
        yield ", ".join(f"{each:g}" for each in right[::-1])
    elif question["form"] == "shape":
        shape = question["right"][0].split(",")
        yield answer_in_words(question, ",".join(shape[::-1]))
        yield answer_in_words(question, ",".join(shape[:-1]))
    elif question["form"] == "cell":
        *row, column = map(int, question["right"][0].split(","))
        yield str([*row, column - 1 if column else column + 1])
    elif question["form"] == "several":
        chosen = question["right"][0].split(",")
        if len(chosen) > 1:
            yield answer_in_words(question, ",".join(chosen[:-1]))
    elif question["form"] in ("one", "choice"):
        yield from question["choices"]
