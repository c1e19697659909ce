"""What is now `micrograd_plus.core.ownership`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.ownership")
