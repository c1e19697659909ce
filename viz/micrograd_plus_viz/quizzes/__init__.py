"""Walks that ask: what is asked (`choosing`, `questions` and what they draw from), how answers are sealed (`seals`),
and what a page is handed (`parts`, `quiz`)."""

from .quiz import TOLERANCE, Quiz, quiz

__all__ = ["TOLERANCE", "Quiz", "quiz"]
