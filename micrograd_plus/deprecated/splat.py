"""What is now `micrograd_plus.extras.splat`."""

from micrograd_plus.deprecated import moved

moved(__name__, "extras.splat")
