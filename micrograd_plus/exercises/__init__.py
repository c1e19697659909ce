"""Exercises on gradient rules, pieces of an engine and gradients by hand, checked at once on newly drawn inputs.

from micrograd_plus import exercises

@exercises.answer("softmax.x")
def softmax_x(xp, upstream, out, axis):
return ...

exercises.hint()
"""

from .authoring import NotProved, define
from .capstone import plugged
from .notebook import answer, ask, check, hint, inputs, progress, score, walk
from .prompts import xp
from .question import candidates
from .quizzes import quiz
from .registry import get_exercise, list_exercises, wrong_answer
from .student_key import identify

__all__ = [
    "NotProved", "answer", "ask", "candidates", "check", "define", "get_exercise", "hint", "identify", "inputs",
    "list_exercises", "plugged", "progress", "quiz", "score", "walk", "wrong_answer", "xp",
]  # fmt: skip
