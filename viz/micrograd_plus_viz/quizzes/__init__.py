"""Walks that ask: what is asked (`choosing`, `questions` and what they draw from), how answers are sealed (`seals`),
and what a page is handed (`parts`, `asking`)."""

from .asking import TOLERANCE, Quiz, quiz

__all__ = ["TOLERANCE", "Quiz", "quiz"]
