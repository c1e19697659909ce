"""What is now `micrograd_plus.core.backward`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.backward")
