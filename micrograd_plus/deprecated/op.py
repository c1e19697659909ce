"""What is now `micrograd_plus.core.define`."""

from micrograd_plus.deprecated import moved

NAMES = {"constant": "nondifferentiable", "joining": "variadic", "face": "wraps_op", "phrase": "namespace_function"}
moved(__name__, "core.define", **NAMES)
