"""Quizzes about walks: choice of steps, questions, sealed answers, and the page. Question cards without a walk."""

from .cards import Card, Progress, ask
from .quiz_page import TOLERANCE, Quiz, quiz

__all__ = ["TOLERANCE", "Card", "Progress", "Quiz", "ask", "quiz"]
