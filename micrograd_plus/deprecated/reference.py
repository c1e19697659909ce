"""What is now `micrograd_plus.checks.reference`."""

from micrograd_plus.deprecated import moved

moved(__name__, "checks.reference")
