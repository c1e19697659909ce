"""Programs for quizzes, and everything readable in a quiz page."""

import html
import json
import re
from functools import cache
from typing import Any
from urllib.parse import unquote

import numpy as np

import micrograd_plus as mg
from micrograd_plus_viz import javascript
from micrograd_plus_viz.packing import unpack
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.static_files import text

SEALED = ("right", "hints", "texts", "sealed", "shows", "salt")
"""Hashes and encrypted bytes in a payload."""


def leaf(values: Any, label: str = "") -> Any:
    made = mg.tensor(values, requires_grad=True)
    made.label = label or None
    return made


def curve() -> Any:
    """Return a walk of numbers in which a value is used three times. Digits of gradients occur nowhere else."""
    a, b = leaf(1.7320508, "a"), leaf(-0.3719173, "b")
    with mg.record() as trace:
        c = a * b
        d = mg.tanh(c + a)
        y = d * b + c
        y.backward()
    return trace


def layer() -> Any:
    """Return a walk of arrays: a matrix product, a broadcast bias, an activation, a loss."""
    rng = np.random.default_rng(3)
    x, w, bias = rng.normal(size=(6, 5)), leaf(rng.normal(size=(5, 4)), "w"), leaf(rng.normal(size=4), "bias")
    with mg.record() as trace:
        h = mg.tanh(mg.tensor(x) @ w + bias)
        y = (h * h * 0.37).sum()
        y.backward()
    return trace


def twice() -> Any:
    """Record two walks without clearing the gradient between them."""
    p = leaf(3.0, "p")
    with mg.record() as trace:
        for _ in range(2):
            (p * p).backward()
    return trace


def rounds() -> Any:
    """Record three rounds that train `w`; a hook halves its gradient in the first, and nothing clears it after that."""
    w, x = leaf([0.5, -1.0], "w"), np.array([3.0, 2.0])
    with mg.record() as trace:
        for number in range(3):
            loss = ((w * x).sum() - 1.0) ** 2
            if number == 0:
                hook = w.register_hook(lambda gradient: gradient * 0.5)
            loss.backward()
            if number == 0:
                hook.remove()
                w.grad = None
            w.data -= 0.1 * (number + 1)
    return trace


def inside(packed: str) -> Any:
    return json.loads(unpack(packed))


def readable(quiz: Any) -> str:
    """All that can be read in a quiz without an answer: its text, its payload, its page, its picture and the picture's
    description; no hash, and no sealed byte."""
    bundle = quiz._repr_mimebundle_()
    page = re.sub(r"<script.*?</script>", " ", quiz.document(), flags=re.DOTALL)
    cell = re.sub(r"<script.*?</script>", " ", bundle["text/html"], flags=re.DOTALL)
    pictures = [unquote(text) for text in re.findall(r"image/svg\+xml,([^\"]+)", cell)]
    frame = quiz._mime_()[1].partition("srcdoc")[0]
    outputs = [bundle["text/plain"], repr(quiz), page, re.sub(r'src="[^"]*"', "", cell), frame, *pictures,
            json.dumps(without_seals(quiz.data), ensure_ascii=False)]  # fmt: skip
    return html.unescape("\n".join(outputs)).replace("−", "-")


SHOWN = """(data) => {
  const shown = withoutAnswer(data, data.quiz.question);
  const changes = [...shown.walks, ...shown.early ?? []].flatMap(({ values }) => Object.values(values));
  const { names, called, terms, program, nodes } = shown;
  const texts = JSON.stringify([names, called, terms, program, nodes, data.quiz.question]).replaceAll("()", "");
  return JSON.stringify([texts, ...shown.values.flatMap((value) => (value ? [shapeText(value.shape)] : [])),
    ...shown.labels.map(([, text]) => text ?? ""), ...changes.map(([, text]) => text ?? "")]);
}"""
LETTERS = """class TextEncoder {
  encode(text) { return Uint8Array.from(text, (letter) => letter.charCodeAt(0)); }
}"""


@cache
def page_of_quiz() -> Any:
    """Return a V8 with the code of a quiz page; V8 alone has no TextEncoder."""
    context = javascript._open()
    context.eval("\n".join([LETTERS, *map(text, ["sealed_answers.js", "cells.js", "quiz.js"])]).replace("export ", ""))
    return context


def shown_shapes(quiz: Any) -> set[str]:
    """Return the shapes of all values, labels and texts that a quiz shows while it asks its first question, on its page
    and in its picture."""
    texts = json.loads(page_of_quiz().eval(f"({SHOWN})({json.dumps(quiz.data)})"))
    labels = payload(quiz._seen)["labels"]
    texts += [line for name, value, *_ in labels for line in (name.replace("()", ""), value or "")]
    return {shape for line in texts for shape in re.findall(r"\([\d, ]*\)", line)}


def without_seals(data: Any) -> Any:
    """Return a payload without hashes and encrypted data."""
    if isinstance(data, dict):
        return {name: without_seals(part) for name, part in data.items() if name not in SEALED}
    return [without_seals(part) for part in data] if isinstance(data, list) else data


def digits(number: float) -> str:
    """Return four digits of a number as they are always printed."""
    mantissa = f"{abs(float(number)):.12e}".partition("e")[0].replace(".", "")
    return mantissa[:4]


def holds(text: str, number: float) -> bool:
    """Return whether a text contains a number, truncated to four digits."""
    plain = re.sub(r"(?<=\d)\.(?=\d)", "", text)
    return digits(number) in plain


def numbers_in(text: str) -> set[str]:
    """Return the fractional numbers of a text, to four digits and without signs."""
    found = re.findall(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?|\d+e-\d+", text)
    return {f"{float(number):.4g}" for number in found}
