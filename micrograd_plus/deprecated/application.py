"""What is now `micrograd_plus.core.operation`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.operation")
