"""What is now `micrograd_plus.ops.extras.quantisation`."""

from micrograd_plus.deprecated import moved

moved(__name__, "ops.extras.quantisation")
