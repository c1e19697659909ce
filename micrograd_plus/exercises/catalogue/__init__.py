"""The catalogue of exercises in six groups: a course from a single slope to a training loop."""

from . import chain, course, engines, layers, losses, patients, practice, products, shapes

EXERCISES = course.arrange([
    *chain.EXERCISES, *shapes.EXERCISES, *products.EXERCISES, *losses.EXERCISES, *layers.EXERCISES, *engines.EXERCISES,
    *practice.EXERCISES, *patients.EXERCISES,
])  # fmt: skip
"""Every exercise, in the order of a course."""

__all__ = ["EXERCISES"]
