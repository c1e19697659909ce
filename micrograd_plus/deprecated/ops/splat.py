"""What is now `micrograd_plus.ops.extras.splat`."""

from micrograd_plus.deprecated import moved

moved(__name__, "ops.extras.splat")
