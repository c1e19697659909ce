"""What is now `micrograd_plus.core.pytrees`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.pytrees")
