"""What is now `micrograd_plus.core.rule`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.rule")
