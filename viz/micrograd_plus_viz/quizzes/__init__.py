"""Quizzes about walks: choice of steps, questions, sealed answers, and the page."""

from .quiz_page import TOLERANCE, Quiz, quiz

__all__ = ["TOLERANCE", "Quiz", "quiz"]
