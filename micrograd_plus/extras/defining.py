"""Decorators that define operations, as users import them: `@mg.elementwise`.

A rule of a user may call any operation: `xp.digamma(x)`. To import this module imports all of `extras` first.
"""

from ..core.composite import composite
from ..core.define import elementwise, linear, multilinear, nondifferentiable, op, variadic

__all__ = ["composite", "elementwise", "linear", "multilinear", "nondifferentiable", "op", "variadic"]
