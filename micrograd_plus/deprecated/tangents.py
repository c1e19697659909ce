"""What is now `micrograd_plus.transforms.forward`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.forward")
