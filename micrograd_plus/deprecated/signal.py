"""What is now `micrograd_plus.extras.signal`."""

from micrograd_plus.deprecated import moved

moved(__name__, "extras.signal")
