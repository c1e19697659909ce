"""What is now `micrograd_plus.core.variable`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.variable")
