"""What is now `micrograd_plus.core.errors`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.errors")
