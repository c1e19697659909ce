"""What is now `micrograd_plus.core.composite`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.composite")
