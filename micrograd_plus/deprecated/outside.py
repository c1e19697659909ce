"""What is now `micrograd_plus.transforms.captures`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.captures")
