"""What is now `micrograd_plus.tensor.values`."""

from micrograd_plus.deprecated import moved

moved(__name__, "tensor.values")
