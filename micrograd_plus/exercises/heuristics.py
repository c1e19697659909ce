"""Signs: what a difference alone says about the mistake behind it, where no known wrong answer agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .spec import Case, Mistake

TURNED = Mistake("sign", "the sign is turned", (
    "Compare one entry of yours with what a small step of the input does to the output: do they point the same way?",
    "Every entry has the right size and the wrong sign.",
    "Look for a minus that was lost, or for a difference taken the other way round.",
))  # fmt: skip
HALF = Mistake("half", "a factor 2 is missing", (
    "Divide your answer by the right one in one place you can compute by hand.",
    "The ratio is one half everywhere: which power was differentiated, or which of two equal uses was counted once?",
    "What is squared brings down a 2, and what is used twice receives twice.",
))  # fmt: skip
TWICE = Mistake("twice", "a factor 2 too many", (
    "Divide your answer by the right one in one place you can compute by hand.",
    "The ratio is two everywhere: was something counted twice, or is there a ½ in the forward?",
    "Look for a contribution that is added once more, or for a ½ that the derivative of a square cancels.",
))  # fmt: skip
FACTOR = Mistake("factor", "one number too many or too few as a factor", (
    "Your answer differs from the right one by the same factor everywhere. Which number of the call is it?",
    "Compare the factor with the lengths of the axes, with their product, and with the parameters.",
    "A mean divides by how many entries went into it, a sum does not; a scale used going forward is used going back.",
))  # fmt: skip
LYING = Mistake("transpose", "the answer lies on its side", (
    "Write the three shapes under the three letters.",
    "Your answer is the transpose of the right one.",
    "Swap the two factors, or the last two axes; a shape alone cannot tell on a square.",
))  # fmt: skip
TIES = Mistake("M26", "ties count more than once", (
    "Add up what you handed out for one maximum. Is it more than came in?",
    "Where several entries tie, the gradient that arrived is shared among them; you hand out the whole to each.",
    "Divide by how many tie, or give all to one of them.",
))  # fmt: skip
UNCUT = Mistake("shape", "the answer has another shape than its input", (
    "How many numbers has the input? How many did you send back?",
    "A gradient has exactly the shape of what it belongs to: compare the two shapes axis by axis.",
    "Repeated axes are summed, summed ones are put back with length 1 and repeated, and what was cut off is 0.",
))  # fmt: skip
TURNED_ROUND = Mistake("axes", "the axes stand in another order", (
    "Write the input's shape under the shape of your answer. Which axis of one is which of the other?",
    "Your answer has as many numbers as the input, and its axes in another order.",
    "Put 0, 1, 2 … into a small array, let it go forward, and see what brings every number back to its place.",
))  # fmt: skip
REFUSED = Mistake("refused", "what came is no answer", (
    "Read the sentence about the first part: what did your code ask for, or give back?",
    "A rule is given what its parameters are called, and of that only what it may read; it gives back arrays.",
    "Compare the names of your parameters with those of the exercise, and see that every way through the code returns.",
))  # fmt: skip
RAISED = Mistake("raised", "the code cannot run on this call", (
    "Read the error first: which line, and which two shapes or names?",
    "Print the shapes of what your code is given, on this call and on one that works.",
    "Write the shapes of both operands under that line, and see which axis has to move, or to come back.",
))  # fmt: skip
NOT_FINITE = Mistake("M85", "numbers too large, too small or 0 are not survived", (
    "Which of your intermediate results is the first that is no number?",
    "Put the numbers of this case in by hand: an exponential of something large, a division by 0, 0 times infinity.",
    "Take the largest out before an exponential, and never divide a product by its own factor.",
))  # fmt: skip

GENERIC = (TURNED, HALF, TWICE, FACTOR, LYING, TIES, UNCUT, TURNED_ROUND, REFUSED, RAISED, NOT_FINITE)
FIRST_OF_ALL = {"refused": REFUSED, "raised": RAISED, "shape": UNCUT, "nan": NOT_FINITE}
"""What is looked at first where differences are of several kinds: an answer, then its shape, then its numbers."""


def read_from(wrongs: Sequence[Any], cases: Sequence[Case]) -> Mistake | None:
    """The mistake that the differences of all cases point to; None where they point to none."""
    kinds = {wrong.kind for wrong in wrongs}
    if kinds <= {"ratio"}:
        ratios = [wrong.ratio for wrong in wrongs]
        if all(abs(ratio + 1) < 1e-6 for ratio in ratios):
            return TURNED
        if all(abs(ratio - 0.5) < 1e-6 for ratio in ratios):
            return HALF
        return TWICE if all(abs(ratio - 2) < 1e-6 for ratio in ratios) else FACTOR
    if kinds == {"transpose"}:
        return LYING
    if kinds == {"ties"}:
        return TIES
    if kinds == {"shape"} and all(wrong.entry and sorted(wrong.entry[0]) == sorted(wrong.entry[1]) for wrong in wrongs):
        return TURNED_ROUND
    return next((mistake for kind, mistake in FIRST_OF_ALL.items() if kind in kinds), None)
