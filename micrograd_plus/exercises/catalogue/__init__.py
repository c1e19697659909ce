"""The exercises that come along, in six groups: a course from a single slope to a training loop."""

from . import chain, engines, layers, losses, products, shapes

__all__ = ["chain", "engines", "layers", "losses", "products", "shapes"]
