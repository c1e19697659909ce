"""What is now `micrograd_plus.transforms.custom`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.custom")
