"""What is now `micrograd_plus.checks.samples`."""

from micrograd_plus.deprecated import moved

moved(__name__, "checks.samples")
