"""What is now `micrograd_plus.transforms.control`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.control")
