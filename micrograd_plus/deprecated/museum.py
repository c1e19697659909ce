"""What is now `micrograd_plus.checks.museum`."""

from micrograd_plus.deprecated import moved

moved(__name__, "checks.museum")
