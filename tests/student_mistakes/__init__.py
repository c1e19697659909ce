"""Plausible mistakes of students, as data: an exercise, a wrong answer, and a pattern for its right name."""

import ast
import builtins
from pathlib import Path

import numpy as np

from micrograd_plus.exercises.sandboxed import namespace

from . import blocks, held_out_longer, later_longer, list_a, list_b, list_c, list_d, longer

FOLDER = Path(__file__).parent


def read_one_line(path):
    """Return the mistakes of a file of expressions. Free names of an expression are the answer's parameters."""
    mistakes, exercise = [], ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            exercise = line.strip("[]")
        elif " ## " in line and not line.startswith("#"):
            code, pattern, what = (part.strip() for part in line.split(" ## "))
            mistakes.append((exercise, compile_answer(code), pattern, what, code))
    return mistakes


def compile_answer(code):
    """Return the function that an expression stands for."""
    tree = ast.parse(code, mode="eval")
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    read -= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own = {"np": np, "undo": namespace.sum_to_shape, "repeat": namespace.unreduce}
    names = sorted(name for name in read if name not in own and not hasattr(builtins, name) or name in ("min", "max"))
    return eval(f"lambda {', '.join(names)}: {code}", own)  # our own text


def load_mistakes():
    """Return every mistake: its exercise, the answer, a pattern for its name, what went wrong, and its code."""
    return read_one_line(FOLDER / "one_line.txt") + [(*each, "") for each in longer.MISTAKES]


def load_held_out():
    """Return the mistakes that were written before the table of mistakes and the edits were read."""
    one_line = [each for name in ("held_out.txt", "later.txt") for each in read_one_line(FOLDER / name)]
    several_lines = (*held_out_longer.MISTAKES, *later_longer.MISTAKES, *blocks.MISTAKES)
    return one_line + [(*each, "") for each in several_lines]


def load_lists():
    """Return the mistakes of four lists in the students' own style, of which three were first tried when all was done.

    When first tried, 101 of 118 of the second list, 63 of 73 of the third and 234 of 259 of the fourth got a right name
    (86, 86 and 90 %), and 1, 3 and 10 a wrong one.
    """
    return [(*each, "") for made in (list_a, list_b, list_c, list_d) for each in made.MISTAKES]
