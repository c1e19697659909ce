"""What is now `micrograd_plus.checks.promises`."""

from micrograd_plus.deprecated import moved

moved(__name__, "checks.promises")
