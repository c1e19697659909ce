"""The catalogue of exercises in six groups: a course from a single slope to a training loop."""

from . import chain, engines, layers, losses, products, shapes

EXERCISES = [
    *chain.EXERCISES, *shapes.EXERCISES, *products.EXERCISES, *losses.EXERCISES, *layers.EXERCISES, *engines.EXERCISES,
]  # fmt: skip
"""Every exercise, in the order of a course."""

__all__ = ["EXERCISES"]
