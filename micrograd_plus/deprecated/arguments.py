"""What is now `micrograd_plus.core.arguments`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.arguments")
